"""What the motors reach of the motions that the loops leave free."""

import numpy as np
import pytest
import scipy.linalg

from cmbcontrol.model.elements import Actuator, Body, Point, Revolute, Weld
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants.five_bar import five_bar
from tests.fixtures import closed_machine

SINGULAR = np.array([np.pi, -np.pi, 0.0, np.pi])


def actuated(*joints):
    plant = five_bar()
    return Mechanism("five-bar", plant.bodies, plant.joints, plant.loops, actuators=[Actuator(j) for j in joints])


@pytest.mark.parametrize(
    ("motors", "verdict", "rank"),
    [
        ((), "under-actuated", 0),
        (("left",), "under-actuated", 1),
        (("left", "right"), "fully-actuated", 2),
        (("elbow_left", "elbow_right"), "fully-actuated", 2),
        (("left", "elbow_left", "right"), "over-actuated", 2),
        (("left", "elbow_left", "right", "elbow_right"), "over-actuated", 2),
    ],
)
def test_actuation_verdicts_of_the_five_bar(motors, verdict, rank):
    plant = actuated(*motors)
    found = plant.diagnose(plant.assemble(left=2.1, right=1.0)).actuation
    assert (found.verdict, found.rank, found.dof) == (verdict, rank, 2)
    assert found.complete == (rank == 2)
    assert (found.margin > 0.1) == (rank == 2)


def test_two_motors_that_reach_one_freedom():
    plant, q = closed_machine(2, (Weld,), bodies=2, kinds=(Revolute,))
    plant = Mechanism("pair", plant.bodies, plant.joints, actuators=[Actuator("joint0"), Actuator("joint0", "other")])
    found = plant.diagnose(q).actuation
    assert (found.verdict, found.rank, found.margin) == ("under-actuated", 1, pytest.approx(0.0, abs=1e-12))


def test_five_bar_gains_a_freedom_that_its_motors_do_not_reach_at_the_singular_pose():
    found = five_bar().diagnose(SINGULAR).actuation
    assert (found.verdict, found.rank, found.dof) == ("under-actuated", 2, 3)


def test_margin_is_the_cosine_of_the_largest_angle_between_motions_and_motors():
    """By scipy's angles between the admissible velocities and the motors' forces, a radian counted as the size."""
    plant = five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    t = plant.terms(q, np.zeros(4))
    motions = scipy.linalg.null_space(t.A / t.unit_lengths)
    angles = scipy.linalg.subspace_angles(motions, t.B / t.unit_lengths[:, None])
    assert plant.diagnose(q).actuation.margin == pytest.approx(np.cos(angles.max()), rel=1e-9)


def test_a_locked_machine_is_fully_actuated():
    rod = Body.planar("rod", 1.0, 0.5, 0.1)
    plant = Mechanism(
        "locked", [rod], [Revolute("pivot", "ground", "rod")], [Point("pin", "ground", "rod", (1, 0, 0), (1, 0, 0))]
    )
    found = plant.diagnose(np.zeros(1))
    assert (found.dof, found.actuation.verdict, found.actuation.complete) == (0, "fully-actuated", True)
