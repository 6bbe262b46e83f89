"""Values and questions by name."""

import numpy as np
import pytest

from cmbcontrol.model.elements import Body, Coupling, Free, Point, Revolute, Spherical
from cmbcontrol.model.mechanism import Mechanism
from tests.fixtures import WRIST, refuses, robot

NAN, INF = float("nan"), float("inf")


# -- questions to a machine -------------------------------------------------------------------------


def test_unknown_names_in_questions():
    plant, q = robot(), np.zeros(2)
    refuses(lambda: plant.pose(q, "hnad"), "'hnad'", "did you mean 'hand'", kind=ValueError)
    refuses(lambda: plant.index("wirst"), "'wirst'", "did you mean 'wrist'", kind=ValueError)
    refuses(lambda: plant.pack({"wirst": 1.0}), "'wirst'", "did you mean 'wrist'", kind=ValueError)
    refuses(lambda: plant.pack({"wrist": NAN}), "'wrist'", kind=ValueError)
    refuses(lambda: plant.close(q, metric="masss"), "'masss'", "did you mean 'mass'", kind=ValueError)
    refuses(lambda: plant.project_velocity(q, q, metric="m"), "'m'", kind=ValueError)
    refuses(lambda: plant.point(q, "hand", (1, 2)), "point", kind=ValueError)
    with pytest.raises(TypeError):
        plant.close(q, metrik="mass")


def test_a_position_of_a_joint_with_several_axes_has_no_rate():
    plant = robot(joints=[Spherical("shoulder", "ground", "arm"), WRIST])
    refuses(lambda: plant.velocity_of([1]), "'shoulder_qx'", "several axes", kind=ValueError)
    assert plant.velocity_of([4]) == [3]


# -- springs and names -------------------------------------------------------------------------------------


def test_names_that_fall_together_with_their_suffixes():
    rail = Coupling("a_x", {"shoulder": 1.0})
    both = {"loops": [Point("a", "ground", "hand"), rail]}
    refuses(lambda: robot(**both), "'a'", "'a_x'", "rename")
    joints = [Revolute("tip_x", "ground", "arm"), WRIST]
    refuses(
        lambda: robot(joints=joints, loops=[Point("tip", "ground", "hand")]), "coordinate 'tip_x'", "constraint 'tip'"
    )
    joints = [Revolute("left", "ground", "arm"), Revolute("left_rate", "arm", "hand")]
    refuses(lambda: robot(joints=joints), "rate of the coordinate 'left'", "'left_rate'")


def test_values_by_name_give_an_attitude():
    body = Body("body", 1.0, (0.3, 0, 0), (0.1, 0.2, 0.25))
    plant = Mechanism("free", [body], [Free("free", "ground", "body")])
    q = plant.configuration({"free_qx": 1.0, "free_x": 3.0})
    np.testing.assert_allclose(q, [np.sqrt(0.5), np.sqrt(0.5), 0, 0, 3, 0, 0], atol=1e-15)
    with pytest.raises(ValueError, match="joint 'free'"):
        plant.pack({"free_qw": 0.0})
