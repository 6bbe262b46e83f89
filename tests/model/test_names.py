"""Values and questions by name."""

import pickle

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
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


# -- configurations that have names ------------------------------------------------------------------------


def named():
    return plants.five_bar().with_configurations({"home": {"left": 2.1, "right": 1.0}, "flat": [0.0] * 4})


def test_a_name_stands_wherever_a_configuration_may():
    plant = named()
    q = plant.assemble(left=2.1, right=1.0)
    assert np.array_equal(plant.configuration("home"), q)
    assert np.array_equal(plant.mass_matrix("home"), plant.mass_matrix(q))
    assert np.array_equal(plant.pose("home", "left_upper").p, plant.pose(q, "left_upper").p)
    assert plant.diagnose("home").dof == 2
    assert cmb.trim(plant, "home").u == pytest.approx(cmb.trim(plant, q).u)
    run = cmb.simulate(plant, q0="home", t_end=0.05)
    assert np.array_equal(run.data["q"].values[0], q)
    plant.configuration("home")[:] = 0.0  # a copy
    assert np.array_equal(plant.configuration("home"), q)


def test_a_configuration_that_is_whole_and_closed_is_kept_to_the_last_bit():
    plant = plants.stewart()
    q = plants.catalogue["stewart"].initial(plant)[0]
    again = pickle.loads(pickle.dumps(plant.with_configurations({"home": q})))
    assert np.array_equal(again.configuration("home"), plant.configuration(q))


def test_an_open_one_is_closed_nearby():
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    rounded = plant.with_configurations({"drawn": q.round(2)}).configuration("drawn")
    assert plant.closure_error(rounded) < 1e-12 and np.abs(rounded - q).max() < 0.02


def test_configurations_follow_a_machine_that_changes():
    plant = named()
    assert plant.without("tip").configuration("home") == pytest.approx([2.1, 0.0, 1.0, 0.0])
    changed = plant.with_parts(gravity=(0, 0, 0)).with_loads({})
    assert changed.configuration("home") == pytest.approx(plant.configuration("home"))
    added = plant.without("tip").with_configurations({"other": {"left": 1.0}})
    assert set(added.configurations) == {"home", "flat", "other"}
    assert set(pickle.loads(pickle.dumps(added)).configurations) == {"home", "flat", "other"}
    with pytest.raises(AttributeError):
        plant.configurations = {}
    with pytest.raises(TypeError):
        plant.configurations["home"]["left"] = 1.0


@pytest.mark.parametrize(
    "given, words",
    [
        ({"home": {"lefft": 1.0}}, ["'home'", "'lefft'", "did you mean 'left'"]),
        ({"home": {"left": "up"}}, ["'left'", "'home'", "'up'"]),
        ({"home": {"left": NAN}}, ["'left'", "'home'"]),
        ({"home": [1.0, 2.0]}, ["'home'", "(4,)"]),
        ({3: {"left": 1.0}}, ["3"]),
        ([1.0], ["values"]),
    ],
)
def test_configurations_that_are_none(given, words):
    refuses(lambda: plants.five_bar().with_configurations(given), *words, kind=(ValueError, TypeError))


def test_names_that_are_not_there():
    refuses(lambda: named().terms("hme", [0.0] * 4), "'hme'", "did you mean 'home'", kind=ValueError)
    refuses(
        lambda: plants.five_bar().diagnose("home"),
        "'home'",
        "no configuration of 'five-bar' has a name",
        kind=TypeError,
    )
    far = Point("far", "ground", "hand", point_a=(50.0, 0.0, 0.0))
    impossible = robot(loops=[far], configurations={"far": {"wrist": 0.5}})
    with pytest.raises(cmb.errors.AssemblyError):
        impossible.configuration("far")
