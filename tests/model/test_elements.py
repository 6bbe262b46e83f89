"""Parts of a machine: frames and axes to rounding, and what is refused by name."""

import dataclasses
import itertools

import numpy as np
import pytest

from cmbcontrol.model.elements import (
    Actuator,
    Body,
    Coupling,
    Cylindrical,
    Distance,
    Frame,
    Free,
    Helical,
    Joint,
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
from tests.fixtures import ARM, JOINTS, SHOULDER, refuses, robot, tilted

NAN, INF = float("nan"), float("inf")
ENDS = ("ground", "arm")
LOOP_PARTS = (Point, PointOnLine, PointOnPlane, Distance, Weld)


# -- topology -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", JOINTS)
def test_a_joint_connects_two_bodies(kind):
    more = {"pitch": 0.1} if kind is Helical else {}
    refuses(lambda: kind("joint", "arm", "arm", **more), "'joint'", "'arm'", "itself")


@pytest.mark.parametrize("kind", LOOP_PARTS)
def test_a_loop_connects_two_bodies(kind):
    more = {"length": 1.0} if kind is Distance else {}
    refuses(lambda: kind("loop", "arm", "arm", **more), "'loop'", "'arm'", "itself")
    refuses(lambda: PointSpring("spring", "arm", "arm"), "'spring'", "'arm'", "itself")


def test_a_cut_free_joint_holds_nothing():
    refuses(lambda: robot(loops=[Free("nothing", "ground", "hand")]), "'nothing'", "leave it out")


def test_the_base_classes_are_no_parts():
    refuses(lambda: Joint("joint", *ENDS), "'joint'", "Revolute")
    for part in ({"bodies": ["arm"]}, {"joints": [ARM]}, {"loops": [ARM]}, {"springs": [ARM]}, {"actuators": [ARM]}):
        refuses(lambda part=part: robot(**part), "robot", kind=TypeError)


# -- physics --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mass", "inertia", "words"),
    [
        (-1.0, (0, 0, 0), ("negative", "-1.0 kg")),
        (0.0, (1, 1, 1), ("without mass",)),
        (1.0, (1, 1, 2.1), ("sum of the other two", "Body.planar")),
        (1.0, (-1, 1, 1), ("negative",)),
        (1.0, [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], ("symmetric",)),
        (1.0, [[1, 2, 0], [2, 1, 0], [0, 0, 1]], ("negative",)),
    ],
)
def test_inertia_must_be_possible(mass, inertia, words):
    refuses(lambda: Body("stone", mass, inertia=inertia), "'stone'", *words)


def test_limits_of_the_possible_inertia_are_accepted():
    assert Body("disc", 1.0, inertia=(1, 1, 2)).mass == 1.0
    assert Body("point", 1.0).mass == 1.0
    assert Body("nothing").mass == 0.0
    assert Body.rod("needle", 1.0, 2.0).inertia[0, 0] == 0.0


# -- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: Frame((1, 2)),
        lambda: Frame((1, 2, NAN)),
        lambda: Frame((1, 2, "x")),
        lambda: Frame(R=np.ones((2, 2))),
        lambda: Frame(R=np.full((3, 3), INF)),
        lambda: Frame.turned((0, 0, 0), 1.0),
        lambda: Frame.turned((0, 0, 1), NAN),
    ],
)
def test_frames_are_checked(make):
    refuses(make, "of a ", kind=(ValueError, TypeError))


def test_frames_turn_and_do_not_mirror_or_stretch():
    for R in (np.diag([1, 1, -1]), 2.0 * np.eye(3), np.ones((3, 3))):
        refuses(lambda R=R: Frame(R=R), "orthogonal", "Frame.turned")


BAD_NUMBERS = [
    lambda x: Body("culprit", x),
    lambda x: Body("culprit", 1.0, (0, x, 0)),
    lambda x: Body("culprit", 1.0, inertia=(x, 1, 1)),
    lambda x: Revolute("culprit", *ENDS, axis=(0, x, 1)),
    lambda x: Universal("culprit", *ENDS, second_axis=(0, x, 0)),
    lambda x: Helical("culprit", *ENDS, pitch=x),
    lambda x: Revolute("culprit", *ENDS, damping=x),
    lambda x: Universal("culprit", *ENDS, damping=(0.1, x)),
    lambda x: Revolute("culprit", *ENDS, armature=x),
    lambda x: Revolute("culprit", *ENDS, limits=(x, 1.0)),
    lambda x: Point("culprit", *ENDS, (x, 0, 0)),
    lambda x: PointOnLine("culprit", *ENDS, axis=(0, x, 1)),
    lambda x: PointOnPlane("culprit", *ENDS, normal=(0, x, 1)),
    lambda x: Distance("culprit", *ENDS, length=x),
    lambda x: Coupling("culprit", {"shoulder": x}),
    lambda x: Coupling("culprit", {"shoulder": 1.0}, x),
    lambda x: JointSpring("culprit", "wrist", x),
    lambda x: JointSpring("culprit", "wrist", rest=x),
    lambda x: PointSpring("culprit", *ENDS, damping=x),
    lambda x: PointSpring("culprit", *ENDS, point_b=(0, x, 0)),
    lambda x: Actuator("culprit", gear=x),
    lambda x: Actuator("culprit", effort=x),
]


@pytest.mark.parametrize("make", BAD_NUMBERS)
@pytest.mark.parametrize("value", [NAN, "much", None], ids=str)
def test_numbers_must_be_numbers(make, value):
    refuses(lambda: make(value), "'culprit'", kind=(ValueError, TypeError))


BAD_SHAPES = [
    lambda: Body("culprit", 1.0, (0, 0)),
    lambda: Body("culprit", 1.0, inertia=(1, 1)),
    lambda: Body("culprit", 1.0, inertia=np.eye(2)),
    lambda: Body("culprit", 1.0, inertia=[[1, 2], [3]]),
    lambda: Revolute("culprit", *ENDS, axis=(0, 1)),
    lambda: Universal("culprit", *ENDS, damping=(0.1, 0.1, 0.1)),
    lambda: Revolute("culprit", *ENDS, limits=(0.0, 0.5, 1.0)),
    lambda: Revolute("culprit", *ENDS, limits=3.0),
    lambda: Point("culprit", *ENDS, (0, 0)),
    lambda: PointOnLine("culprit", *ENDS, axis=(0, 0, 0, 1)),
    lambda: PointSpring("culprit", *ENDS, (0, 0)),
]


@pytest.mark.parametrize("make", BAD_SHAPES)
def test_shapes_must_fit(make):
    refuses(make, "'culprit'", kind=(ValueError, TypeError))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Revolute("culprit", *ENDS, axis=(0, 0, 0)), ("zero",)),
        (lambda: PointOnLine("culprit", *ENDS, axis=(0, 0, 0)), ("zero",)),
        (lambda: PointOnPlane("culprit", *ENDS, normal=(0, 0, 0)), ("zero",)),
        (lambda: Universal("culprit", *ENDS, axis=(1, 0, 0), second_axis=(1, 1, 0)), ("perpendicular",)),
        (lambda: Helical("culprit", *ENDS), ("pitch", "Revolute")),
        (lambda: Revolute("culprit", *ENDS, damping=-0.1), ("damping",)),
        (lambda: Revolute("culprit", *ENDS, armature=-0.1), ("armature",)),
        (lambda: Spherical("culprit", *ENDS, armature=0.1), ("armature", "Spherical", "bodies of their own")),
        (lambda: Revolute("culprit", *ENDS, limits=(1.0, -1.0)), ("lower limit", "1.0", "-1.0")),
        (lambda: Universal("culprit", *ENDS, limits=(-1.0, 1.0)), ("suffix",)),
        (lambda: Universal("culprit", *ENDS, limits={"3": (-1.0, 1.0)}), ("'3'",)),
        (lambda: Cylindrical("culprit", *ENDS, limits={"travle": (-1.0, 1.0)}), ("did you mean 'travel'",)),
        (lambda: Distance("culprit", *ENDS), ("length", "> 0")),
        (lambda: Distance("culprit", *ENDS, length=-1.0), ("length", "> 0")),
        (lambda: Coupling("culprit", {}), ("no coefficient",)),
        (lambda: Coupling("culprit", {"shoulder": 0.0}), ("no coefficient",)),
        (lambda: Actuator("culprit", gear=0.0), ("gear", "zero")),
        (lambda: Actuator("culprit", effort=0.0), ("effort", "> 0")),
        (lambda: Actuator("culprit", effort=-1.0), ("effort", "> 0")),
    ],
)
def test_values_without_sense_are_refused(make, words):
    refuses(make, "'culprit'", *words, kind=ValueError)


@pytest.mark.parametrize("key", ["frame", "child_frame"])
def test_joint_frames_must_be_frames(key):
    refuses(lambda: Revolute("culprit", *ENDS, **{key: (1, 0, 0)}), "'culprit'", key, kind=TypeError)


@pytest.mark.parametrize("key", ["frame_a", "frame_b"])
def test_weld_frames_must_be_frames(key):
    refuses(lambda: Weld("culprit", *ENDS, **{key: (1, 0, 0)}), "'culprit'", key, kind=TypeError)


# -- what is built stays as it is -------------------------------------------------------------------


def test_parts_and_mechanism_are_frozen():
    plant = robot()
    refuses(lambda: setattr(plant, "gravity", (0, 0, 0)), "robot", "frozen", "gravity", kind=AttributeError)
    for part in (ARM, SHOULDER, Frame(), Point("p", *ENDS), Actuator("wrist")):
        with pytest.raises(AttributeError):
            part.name = "other"
    for array in (ARM.com, ARM.inertia, SHOULDER.axis, plant.gravity, plant.effort, plant.limits, plant.arrays.links):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("kind", JOINTS)
def test_parts_can_be_copied_with_changes(kind):
    more = {"pitch": 0.1} if kind is Helical else {}
    limits = {kind.position_suffixes[-1]: (-2.0, 3.0)} if kind.position_suffixes else None
    other = dataclasses.replace(kind("joint", *ENDS, limits=limits, damping=0.5, **more), name="other")
    assert other.name == "other"
    assert list(other.damping) == [0.5] * len(kind.velocity_suffixes)
    if limits:
        np.testing.assert_array_equal(other.limits[-1], [-2.0, 3.0])


# -- springs and names -------------------------------------------------------------------------------------


def test_dampers_of_springs_take_energy():
    refuses(lambda: JointSpring("s", "shoulder", damping=-0.1), "damping of spring 's'", "-0.1", kind=ValueError)
    refuses(lambda: PointSpring("s", "ground", "arm", damping=-0.1), "damping of spring 's'", kind=ValueError)
    assert JointSpring("s", "shoulder", stiffness=-3.0).stiffness == -3.0  # as near a dead centre


TILTS = (0.0, 1e-300, 1e-160, 1e-17, 1e-12, 1e-9, 1e-7, 1.5e-6, 2e-6, 1e-4, 1e-3, 0.1, 1.0)


def off_orthogonal(R):
    return float(np.abs(R.T @ R - np.eye(3)).max())


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["near z", "near -z"])
@pytest.mark.parametrize("tilt", TILTS)
def test_the_rotation_to_an_axis_is_exact(tilt, sign):
    for angle in np.linspace(0.1, 6.3, 21):
        axis = tilted(tilt, angle, sign)
        R = rotation_to(axis)
        assert off_orthogonal(R) < 1e-15
        assert np.linalg.det(R) == pytest.approx(1.0, abs=2e-15)
        np.testing.assert_array_equal(R[:, 2], axis)
        # the shortest one: its axis is perpendicular to z
        assert abs(R[1, 0] - R[0, 1]) < 1e-15


def test_the_rotation_to_an_axis_is_continuous_around_minus_z():
    """At -z itself the direction of the half turn is open; beside it, it follows the tilt."""
    turns = [rotation_to(tilted(1e-9, angle)) for angle in np.linspace(0.0, 2.0 * np.pi, 1001)]
    assert max(np.abs(a - b).max() for a, b in itertools.pairwise(turns)) < 0.02
    np.testing.assert_allclose(rotation_to(tilted(1e-3, 1.0)), rotation_to(tilted(1e-9, 1.0)), atol=2e-3)


@pytest.mark.parametrize("digits", [7, 9, 12])
def test_a_rotation_given_with_few_digits_is_made_orthogonal(digits):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        exact = Frame.turned(rng.standard_normal(3), rng.uniform(-3.0, 3.0)).R
        R = Frame(R=exact.round(digits)).R
        assert off_orthogonal(R) < 1e-15
        np.testing.assert_allclose(R, exact, atol=2.0 * 10.0**-digits)


def test_an_orthogonal_matrix_is_taken_as_it_is():
    for R in (np.eye(3), np.diag([1.0, -1.0, -1.0]), np.roll(np.eye(3), 1, axis=0)):
        np.testing.assert_array_equal(Frame(R=R).R, R)


def test_products_of_frames_do_not_drift():
    step, product = Frame.turned((1, 2, 3), 0.7, (0.1, 0.0, 0.0)), Frame()
    for _ in range(3000):
        product = product @ step
    assert off_orthogonal(product.R) < 1e-15
    assert off_orthogonal((product.inverse() @ product).R) < 1e-15


def test_the_axes_of_a_universal_joint_are_made_perpendicular():
    joint = Universal("u", "ground", "b", axis=(1, 0, 0), second_axis=(5e-10, 1, 0))
    assert abs(joint.axis @ joint.second_axis) < 1e-16


def test_what_a_plane_needs_is_said():
    assert Body.planar("boom", 1.0, (2.6, 0.45), 0.2).com.tolist() == [2.6, 0.45, 0.0]
    assert Body.planar("boom", 1.0, 2.6, 0.2).com.tolist() == [2.6, 0.0, 0.0]
    for make in (
        lambda: Frame((1.0, 2.0)),
        lambda: Body("boom", 1.0, (2.6, 0.45)),
        lambda: Point("tip", "ground", "boom", (1.0, 2.0)),
        lambda: PointSpring("rope", "ground", "boom", (1.0, 2.0)),
    ):
        refuses(make, "in a plane give (x, y, 0)", kind=ValueError)
    refuses(lambda: Body("boom", 1.0, inertia=4.0), "(3, 3), or (3,) for its diagonal, got shape ()", kind=ValueError)
    refuses(lambda: Revolute("a", "ground", "boom", axis="x"), "direction such as (1, 0, 0), got 'x'", kind=TypeError)


@pytest.mark.parametrize("kind", JOINTS)
def test_joints_name_all_their_arguments(kind):
    """help(Revolute) says where its frames are."""
    for field in dataclasses.fields(kind)[3:]:
        refused = field.name == "armature" and kind.position_suffixes != kind.velocity_suffixes
        assert (f"`{field.name}`" in kind.__doc__) is not refused, field.name
