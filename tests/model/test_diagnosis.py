"""Mobility: true freedom, redundant rows, singular configurations, unique multipliers, and the table of it."""

import numpy as np
import pytest

from cmbcontrol.errors import AssemblyError
from cmbcontrol.model.elements import Actuator, Body, Cylindrical, Distance, Frame, Free, Point, Revolute, Spherical
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants.five_bar import five_bar
from tests.fixtures import actuators, again, close_parts, closed_machine, refuses, springs, tree_parts

CLOSURES = {"line": 0, "point": 1, "revolute": 3}
every_closure = pytest.mark.parametrize("closure", CLOSURES)
SINGULAR = np.array([np.pi, -np.pi, 0.0, np.pi])


@every_closure
def test_five_bar_has_two_freedoms_however_it_is_closed(closure):
    plant = five_bar(closure=closure)
    found = plant.diagnose(plant.assemble(left=2.1, right=1.0))
    assert (found.rows, found.rank, found.generic_rank, found.dof) == (2 + CLOSURES[closure], 2, 2, 2)
    assert not found.singular
    assert found.redundant == {"tip": CLOSURES[closure]}
    assert found.residuals["tip"] < 1e-14
    assert 0.1 < found.conditioning <= 1.0


@every_closure
def test_five_bar_at_its_singular_pose(closure):
    plant = five_bar(closure=closure)
    assert plant.closure_error(SINGULAR) < 1e-15
    found = plant.diagnose(SINGULAR)
    assert found.singular
    assert (found.rank, found.generic_rank, found.dof) == (1, 2, 3)
    assert found.conditioning == 0.0
    assert "singular" in str(found)


@every_closure
def test_which_multipliers_the_motion_determines(closure):
    plant = five_bar(closure=closure)
    unique = plant.diagnose(plant.assemble(left=2.1, right=1.0)).unique_multipliers
    assert unique == {row: row in ("tip_x", "tip_y") for row in plant.row_names}  # the force in the plane of motion


def test_a_loop_written_twice_shares_its_multipliers_and_is_counted_where_it_comes_last():
    plant = five_bar()
    both = Mechanism("twice", plant.bodies, plant.joints, [*plant.loops, again(plant.loops[0])])
    found = both.diagnose(plant.assemble(left=2.1, right=1.0))
    assert found.redundant == {"tip": 0, "tip_again": 2}
    assert not any(found.unique_multipliers.values())
    assert "not unique in tip_x, tip_y, tip_again_x, tip_again_y" in str(found)


@pytest.mark.parametrize("seed", range(4))
def test_random_machines_have_as_many_freedoms_as_coordinates_less_rows(seed):
    plant, q = closed_machine(seed, (Cylindrical, Distance))
    found = plant.diagnose(q)
    assert found.dof == plant.nv - 5
    assert not found.singular
    assert set(found.redundant.values()) == {0}
    assert all(found.unique_multipliers.values())
    twice, q = closed_machine(seed, (Cylindrical, Distance), twice=True)
    found = twice.diagnose(q)
    assert found.dof == twice.nv - 5
    assert sum(found.redundant.values()) == 5


def test_a_flat_parallelogram_is_singular_and_a_bent_one_is_not():
    bodies = [Body.planar(n, 1.0, 0.5, 0.1) for n in ("a", "b", "c")]
    joints = [
        Revolute("left", "ground", "a"),
        Revolute("knee", "a", "b", frame=Frame((1, 0, 0))),
        Revolute("elbow", "b", "c", frame=Frame((2, 0, 0))),
    ]
    plant = Mechanism("bars", bodies, joints, [Point("foot", "ground", "c", (2, 0, 0), (1, 0, 0))])
    bent = np.array([0.8, -0.8, 0.8 - np.pi])
    assert plant.closure_error(bent) < 1e-15
    assert not plant.diagnose(bent).singular
    assert plant.diagnose(bent).dof == 1
    flat = np.array([0.0, 0.0, -np.pi])
    assert plant.closure_error(flat) < 1e-15
    found = plant.diagnose(flat)
    assert (found.singular, found.rank, found.generic_rank, found.dof) == (True, 1, 2, 2)


def test_conditioning_falls_towards_a_singular_pose():
    plant = five_bar()
    values = []
    for d in (0.5, 0.1, 0.01):
        q = plant.assemble(guess=SINGULAR + np.array([0.0, d, 0.0, -d]), left=np.pi - d, right=d)
        values.append(plant.diagnose(q).conditioning)
    assert values[0] > values[1] > values[2] > 0.0


@every_closure
def test_the_table_names_everything(closure):
    plant = five_bar(closure=closure, effort=40.0)
    text = str(plant)
    for name in ("five-bar", "left", "elbow_left", "right", "elbow_right", "tip", "Revolute", "left_upper", "limit 40"):
        assert name in text
    assert "true degrees of freedom 2" in text
    assert "fully-actuated" in text
    assert ("redundant]" in text) == (CLOSURES[closure] > 0)


def test_the_table_of_a_random_machine():
    parts = tree_parts(3, 9)
    parts["springs"], parts["actuators"] = springs(parts, 3), actuators(parts, 3)
    plant, _ = close_parts(parts, 3, (Spherical,))
    text = str(plant)
    assert len(plant.springs) > 5 and len(plant.actuators) > 5
    for part in (*plant.joints, *plant.loops, *plant.actuators, *plant.springs):
        assert part.name in text


def test_the_table_of_a_machine_that_cannot_be_assembled():
    rod = Body.planar("rod", 1.0, 0.5, 0.1)
    far = Point("far", "ground", "rod", (5, 0, 0))
    text = str(Mechanism("broken", [rod], [Revolute("pivot", "ground", "rod")], [far]))
    assert "far" in text
    assert "could not be closed" in text


def test_repr_is_one_line():
    assert repr(five_bar()) == "<Mechanism 'five-bar': 4 bodies, 4 coordinates, 2 rows>"


def test_diagnosis_of_a_free_body():
    body = Body("body", 1.0, inertia=(1.0, 1.0, 1.0))
    plant = Mechanism("free", [body], [Free("free", "ground", "body")])
    found = plant.diagnose(plant.neutral())
    assert (found.rows, found.rank, found.dof, found.conditioning) == (0, 0, 6, 1.0)
    assert found.redundant == {}


def test_open_loops_are_not_diagnosed():
    plant = five_bar()
    refuses(lambda: plant.diagnose(np.zeros(4)), "'tip' open by", "plant.assemble(", kind=AssemblyError)
    words = ("Joints that the mapping does not name are at 0", "plant.assemble(left=2.1)")
    refuses(lambda: plant.diagnose({"left": 2.1}), *words, kind=AssemblyError)
    q = plant.assemble(left=2.1, right=1.0)
    assert plant.diagnose(dict(zip(plant.position_names, q, strict=True))).dof == 2


def test_the_table_has_gravity_limits_and_units():
    joint = Revolute("pivot", "ground", "rod", limits=(-0.5, 1.0))
    plant = Mechanism("arm", [Body.rod("rod", 1.0, 1.0)], [joint], actuators=[Actuator("pivot", effort=40.0)])
    for words in ("gravity (0, 0, -9.81) m/s2", "[pivot, -0.5 to 1 rad]", "[limit 40 N m]"):
        assert words in str(plant)
