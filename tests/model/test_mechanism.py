"""The machine as a whole: names, states, loops taken away and added, and what is refused by name."""

import dataclasses
import pickle

import numpy as np
import pytest

from cmbcontrol import _check, forward_dynamics, plants, simulate
from cmbcontrol.dynamics.derivatives import derivatives
from cmbcontrol.errors import ModelError
from cmbcontrol.model.elements import (
    Actuator,
    Body,
    Coupling,
    Distance,
    Frame,
    JointSpring,
    Point,
    PointOnLine,
    PointOnPlane,
    PointSpring,
    Revolute,
    Spherical,
    Universal,
    Weld,
    rotation_to,
)
from cmbcontrol.model.mechanism import Mechanism
from tests.fixtures import ARM, HAND, JOINTS, SHOULDER, WRIST, random_state, refuses, robot, tilted

NAN, INF = float("nan"), float("inf")
ENDS = ("ground", "arm")
LOOP_PARTS = (Point, PointOnLine, PointOnPlane, Distance, Weld)


def test_the_reference_machine_is_accepted():
    assert robot().nv == 2


# -- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", " ", "a.b", "a,b", None, 3])
def test_names_must_be_usable(name):
    makers = [
        lambda: Body(name, 1.0),
        lambda: Revolute(name, *ENDS),
        lambda: Point(name, *ENDS),
        lambda: Coupling(name, {"shoulder": 1.0}),
        lambda: JointSpring(name, "shoulder"),
        lambda: PointSpring(name, *ENDS),
        lambda: Actuator(name),
        lambda: robot(name=name),
    ]
    for make in makers:
        refuses(make, "name", kind=ValueError)


@pytest.mark.parametrize(
    ("parts", "culprit"),
    [
        ({"bodies": [ARM, HAND, ARM]}, "'arm'"),
        ({"joints": [SHOULDER, WRIST, Revolute("wrist", "arm", "hand")]}, "'wrist'"),
        ({"loops": [Point("tip", *ENDS), Point("tip", *ENDS)]}, "'tip'"),
        ({"loops": [Revolute("wrist", "ground", "hand")]}, "'wrist'"),
        ({"springs": [JointSpring("s", "wrist"), JointSpring("s", "shoulder")]}, "'s'"),
        ({"actuators": [Actuator("wrist"), Actuator("wrist")]}, "'wrist'"),
    ],
)
def test_names_must_be_unique(parts, culprit):
    refuses(lambda: robot(**parts), culprit, "robot")


def test_coordinates_must_have_different_names():
    joints = [Universal("wrist", "ground", "arm"), Revolute("wrist_1", "arm", "hand")]
    refuses(lambda: robot(joints=joints), "'wrist_1'", "rename")


def test_ground_is_not_a_name_for_a_body():
    joints = [Revolute("one", "arm", "ground"), WRIST]
    refuses(lambda: robot(bodies=[ARM, HAND, Body("ground", 1.0)], joints=joints), "ground")


# -- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("gravity", [(0, -9.81), (0, NAN, 0), "down"], ids=str)
def test_gravity_is_a_vector(gravity):
    refuses(lambda: robot(gravity=gravity), "gravity", kind=(ValueError, TypeError))


@pytest.mark.parametrize("kind", [*JOINTS, *LOOP_PARTS, Body, JointSpring, PointSpring, Mechanism])
def test_unknown_keywords_are_type_errors(kind):
    refuses(lambda: kind("part", *ENDS, colour="red"), "colour", kind=TypeError)


# -- what is built stays as it is -------------------------------------------------------------------


def test_later_changes_of_the_callers_arrays_do_not_reach_the_machine():
    com, gravity, bodies = np.array([0.5, 0.0, 0.0]), np.array([0.0, -9.81, 0.0]), [ARM, HAND]
    body = Body("arm", 1.0, com)
    plant = robot(bodies=bodies, gravity=gravity)
    before = plant.terms(np.array([0.3, 0.2]), np.zeros(2)).h
    com[:], gravity[:] = 7.0, 7.0
    bodies.clear()
    assert body.com[0] == 0.5
    np.testing.assert_array_equal(plant.terms(np.array([0.3, 0.2]), np.zeros(2)).h, before)


# -- questions to a machine -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "q", [np.zeros(1), np.zeros(3), np.zeros((2, 1)), 0.0, [], [0.0, NAN], [0.0, INF], ["a", "b"], None]
)
def test_states_are_checked(q):
    plant, good = robot(), np.zeros(2)
    calls = [
        lambda: plant.terms(q, good),
        lambda: plant.terms(good, q),
        lambda: plant.integrate(q, good),
        lambda: plant.integrate(good, q),
        lambda: plant.difference(q, good),
        lambda: plant.difference(good, q),
        lambda: plant.position_rate(q, good),
        lambda: plant.position_rate(good, q),
        lambda: plant.link_poses(q),
        lambda: plant.pose(q, "arm"),
        lambda: plant.residual(q),
        lambda: plant.jacobian(q),
        lambda: plant.close(q),
        lambda: plant.project_velocity(q, good),
        lambda: plant.project_velocity(good, q),
        lambda: plant.diagnose(q),
        lambda: plant.generic_rank(q),
    ]
    for call in calls:
        with pytest.raises((ValueError, TypeError)):
            call()


def test_a_bad_state_is_shown_with_the_names_of_its_entries():
    refuses(lambda: robot().terms([1.0], [0.0, 0.0]), "(2,)", "shoulder, wrist", "(1,)", kind=ValueError)
    refuses(lambda: robot().terms([1.0, NAN], [0.0, 0.0]), "wrist = nan", kind=ValueError)


def test_plain_lists_integers_and_foreign_memory_layouts_are_accepted():
    plant = robot()
    expected = plant.terms(np.array([1.0, 2.0]), np.array([0.0, 3.0])).h
    np.testing.assert_array_equal(plant.terms([1, 2], (0, 3)).h, expected)
    spread = np.array([1.0, 9.0, 2.0, 9.0])[::2]
    np.testing.assert_array_equal(plant.terms(spread, np.array([0, 3], dtype=np.float32)).h, expected)
    backwards = np.array([1.0, 2.0]).astype(">f8")
    np.testing.assert_array_equal(plant.terms(backwards, [0.0, 3.0]).h, expected)


def test_read_only_arrays_are_copied_for_the_kernels():
    locked = np.array([1.0, 2.0])
    locked.setflags(write=False)
    assert _check.vector(locked, 2, "q").flags.writeable


# -- assembly -------------------------------------------------------------------------------------


def test_torque_between_bodies_that_do_not_exist():
    rod, pivot = Body.rod("rod", 1.0, 1.0), Revolute("pivot", "ground", "rod")
    with pytest.raises(ModelError, match="did you mean 'rod'"):
        Mechanism("arm", [rod], [pivot], actuators=[Actuator("m", bodies=("ground", "rodd"))])
    with pytest.raises(ModelError, match="two different bodies"):
        Actuator("m", bodies=("rod", "rod"))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("tilt", [0.0, 1e-12, 1e-9, 2e-6, 1e-4, 1e-3])
def test_a_four_bar_turns_about_any_axis_near_minus_z(tilt):
    """Links across the axis, so that it closes; the energy is judged by the rods alone."""
    axis = tilted(tilt, 0.3)
    place = Frame(R=rotation_to(axis))
    along = np.cross(place.R @ (0, 1, 0), axis)
    lengths = {"a": 1.0, "b": 2.0, "c": 1.5}
    bodies = [Body(n, 1.0, 0.5 * L * along, (0.1, 0.1, 0.1)) for n, L in lengths.items()]
    joints = [
        Revolute("a", "ground", "a", axis=axis),
        Revolute("b", "a", "b", frame=Frame(1.0 * along), axis=axis),
        Revolute("c", "b", "c", frame=Frame(2.0 * along), axis=axis),
    ]
    pin = Revolute("d", "ground", "c", frame=Frame(1.8 * along), child_frame=Frame(1.5 * along), axis=axis)
    plant = Mechanism("four-bar", bodies, joints, [pin], gravity=(0.0, -9.81, 0.0))
    q = plant.assemble(a=-1.0)
    assert plant.closure_error(q) < 1e-14
    run = simulate(plant, q0=q, t_end=0.5)

    def energy(i):
        total, angle, rate, p = 0.0, 0.0, 0.0, np.zeros(3)
        v = np.zeros(3)
        for k, L in enumerate(lengths.values()):
            angle, rate = angle + run.q.values[i, k], rate + run.v.values[i, k]
            rod = Frame.turned(axis, angle).R @ along
            speed = rate * np.cross(axis, rod)
            middle, v_middle = p + 0.5 * L * rod, v + 0.5 * L * speed
            total += 0.5 * v_middle @ v_middle + 0.05 * rate**2 + 9.81 * middle[1]
            p, v = p + L * rod, v + L * speed
        return total

    assert energy(-1) == pytest.approx(energy(0), abs=1e-10)


def ball():
    """A body on a ball joint, held by a rod."""
    body = Body("body", 1.0, (0.3, 0, 0), (0.1, 0.2, 0.25))
    rod = Distance("rod", "ground", "body", (0, 0, 2), (0.5, 0.1, 0), 2.0)
    return Mechanism("ball", [body], [Spherical("socket", "ground", "body")], [rod])


@pytest.mark.nojit_slow
@pytest.mark.parametrize("length", [1.0 + 1e-8, 1.001, 2.0, 100.0, 0.5, 1e-6])
def test_a_quaternion_of_any_length_is_its_attitude(length):
    plant, v = ball(), np.array([1.0, 1.0, 1.0])
    q = plant.close([0.9, 0.3, -0.2, 0.1])
    v = plant.project_velocity(q, v)
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(plant.configuration(length * q), q, atol=1e-15)
    np.testing.assert_allclose(plant.terms(length * q, v).q, q, atol=1e-15)
    for move in (plant.integrate, plant.position_rate):
        np.testing.assert_allclose(move(length * q, 0.1 * v), move(q, 0.1 * v), atol=1e-15)
    np.testing.assert_allclose(plant.difference(length * q, plant.integrate(q, 0.1 * v)), 0.1 * v, atol=1e-14)
    np.testing.assert_allclose(forward_dynamics(plant, length * q, v), forward_dynamics(plant, q, v), rtol=1e-12)
    np.testing.assert_allclose(plant.assemble(guess=length * q), q, atol=1e-14)
    run, unit = (simulate(plant, q0=k * q, v0=v, t_end=0.3) for k in (length, 1.0))
    np.testing.assert_allclose(run.q.values, unit.q.values, atol=1e-10)
    assert run.max_energy_error < 1e-9


def test_states_of_a_run_keep_their_digits():
    """What is of length one but for rounding is not touched."""
    plant = ball()
    q = plant.close([0.9, 0.3, -0.2, 0.1]) * (1.0 + 2e-16)
    np.testing.assert_array_equal(plant.terms(q, np.zeros(3)).q, q)


ENTRIES = {
    "configuration": lambda plant, q, v: plant.configuration(q),
    "terms": lambda plant, q, v: plant.terms(q, v),
    "pose": lambda plant, q, v: plant.pose(q, "body"),
    "residual": lambda plant, q, v: plant.residual(q),
    "close": lambda plant, q, v: plant.close(q),
    "assemble": lambda plant, q, v: plant.assemble(guess=q),
    "integrate": lambda plant, q, v: plant.integrate(q, v),
    "difference": lambda plant, q, v: plant.difference(plant.neutral(), q),
    "position_rate": lambda plant, q, v: plant.position_rate(q, v),
    "project_velocity": lambda plant, q, v: plant.project_velocity(q, v),
    "diagnose": lambda plant, q, v: plant.diagnose(q),
    "forward_dynamics": forward_dynamics,
    "derivatives": lambda plant, q, v: derivatives(plant, q, v, a=v, lam=np.zeros(1)),
    "simulate": lambda plant, q, v: simulate(plant, q0=q, v0=v, t_end=0.1),
}


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_a_zero_quaternion_is_no_attitude(entry):
    with pytest.raises(ValueError, match=r"length zero at joint 'socket'.*\(1, 0, 0, 0\)"):
        entry(ball(), np.zeros(4), np.zeros(3))


def test_without_is_the_machine_built_without():
    plant = plants.stewart()
    fewer = plant.without("ball3", "ball5")
    built = Mechanism(
        plant.name, plant.bodies, plant.joints, [x for x in plant.loops if x.name not in ("ball3", "ball5")],
        plant.springs, plant.actuators, plant.gravity,
    )  # fmt: skip
    assert fewer.row_names == built.row_names and dict(fewer.row_slices) == dict(built.row_slices)
    assert fewer.row_units == built.row_units and [x.name for x in fewer.loops] == ["ball2", "ball4", "ball6"]
    q, v = random_state(plant, 3)
    one, two = fewer.terms(q, v), built.terms(q, v)
    for what in ("M", "h", "phi", "A", "b", "B"):
        assert np.array_equal(getattr(one, what), getattr(two, what))
    assert fewer.size == plant.size and fewer.name == plant.name
    assert plant.without() is plant and plant.row_names != fewer.row_names
    assert fewer.without("ball2").row_names == plant.without("ball2", "ball3", "ball5").row_names


def test_modes_can_be_pickled_and_are_frozen():
    plant = plants.stewart().without("ball3")
    back = pickle.loads(pickle.dumps(plant))
    assert back.row_names == plant.row_names and back.size == plant.size
    with pytest.raises(AttributeError, match="frozen"):
        plant.name = "other"


def test_with_loops_adds_and_replaces():
    plant = plants.five_bar()
    belt = Coupling("belt", {"left": 1.0, "right": 1.0}, 3.1)
    more = plant.with_loops(belt)
    assert more.row_names == (*plant.row_names, "belt")
    assert more.with_loops(Coupling("belt", {"left": 1.0}, 2.0)).row_names == more.row_names
    q = more.assemble(left=2.1)
    assert q[0] + q[2] == pytest.approx(3.1, abs=1e-12)
    with pytest.raises(TypeError, match="not a constraint"):
        plant.with_loops("belt")


def test_modes_refuse():
    with pytest.raises(ValueError, match="did you mean 'tip'"):
        plants.five_bar().without("tp")
    rods = [Body.rod("a", 1.0, 1.0), Body.rod("b", 1.0, 1.0)]
    joints = [Revolute("a", "ground", "a"), Revolute("b", "a", "b", frame=Frame((1, 0, 0)))]
    cut = Revolute("cut", "ground", "b", frame=Frame((1, 0, 0)), child_frame=Frame((1, 0, 0)))
    driven = Mechanism("driven", rods, joints, [cut], actuators=[Actuator("cut")])
    with pytest.raises(ValueError, match="motor 'cut' drives the cut joint"):
        driven.without("cut")


def test_friction_and_limits_of_cut_joints_are_refused_for_they_would_be_ignored():
    far = Revolute("pin", "ground", "hand", frame=Frame((1, 1, 0)), child_frame=Frame((1, 0, 0)))
    assert robot(loops=[far]).row_slices
    for option in ({"damping": 0.3}, {"limits": (-1.0, 1.0)}):
        cut = dataclasses.replace(far, **option)
        (word,) = option
        refuses(lambda cut=cut: robot(loops=[cut]), f"{word} has no effect", "'pin'", "cut another joint")
        refuses(lambda cut=cut: robot(loops=[far]).with_loops(cut), f"{word} has no effect", "'pin'")


def test_parts_in_the_wrong_place_are_named_in_short():
    refuses(lambda: robot(springs=[Actuator("shoulder")]), "is not a spring", "actuators=", kind=TypeError)
    refuses(lambda: robot(actuators=["shoulder"]), "'shoulder' is not an actuator", kind=TypeError)
    refuses(lambda: robot(bodies=[ARM, ARM, HAND]), "2 bodies are called 'arm'")
    refuses(lambda: robot(joints=[SHOULDER, SHOULDER]), "2 joints or constraints are called 'shoulder'")
    refuses(lambda: robot(bodies={"arm": ARM, "hand": HAND}), "got a mapping of 2 entries", kind=TypeError)
    refuses(lambda: robot(bodies=ARM), "got a Body, 'arm'", kind=TypeError)


def test_a_dict_is_no_state_but_the_message_says_how_it_becomes_one():
    refuses(lambda: robot().terms({"wrist": 0.5}, [0.0, 0.0]), "got a dict", "plant.assemble(", kind=TypeError)
