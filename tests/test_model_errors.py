"""Bad descriptions are refused with a message that names the culprit and says what to do."""

import dataclasses
import re

import numpy as np
import pytest

from cmbcontrol import _check
from cmbcontrol.errors import AssemblyError, CmbError, ModelError
from cmbcontrol.model.elements import (
    Actuator,
    Body,
    Coupling,
    Cylindrical,
    Distance,
    Fixed,
    Frame,
    Free,
    Helical,
    Joint,
    JointSpring,
    Planar,
    Point,
    PointOnLine,
    PointOnPlane,
    PointSpring,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
    Weld,
)
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants.five_bar import five_bar

NAN, INF = float("nan"), float("inf")
ENDS = ("ground", "arm")
JOINTS = (Revolute, Prismatic, Helical, Cylindrical, Universal, Planar, Spherical, Free, Fixed)
LOOPS = (Point, PointOnLine, PointOnPlane, Distance, Weld)

arm = Body.planar("arm", 1.0, 0.5, 0.1)
hand = Body.planar("hand", 1.0, 0.5, 0.1)
shoulder = Revolute("shoulder", "ground", "arm")
wrist = Revolute("wrist", "arm", "hand", frame=Frame((1, 0, 0)))


def build(**parts):
    """An arm and a hand, with some parts replaced."""
    return Mechanism(**{"name": "robot", "bodies": [arm, hand], "joints": [shoulder, wrist], **parts})


def refuses(make, *words, kind=ModelError):
    """The call raises `kind`, and the message contains all the words."""
    with pytest.raises(kind) as caught:
        make()
    message = str(caught.value)
    for word in words:
        assert word in message, message
    return caught.value


def test_errors_are_value_errors_of_one_family():
    assert issubclass(ModelError, (CmbError,)) and issubclass(ModelError, ValueError)
    assert issubclass(AssemblyError, (CmbError,)) and issubclass(AssemblyError, ValueError)


def test_the_reference_machine_is_accepted():
    assert build().nv == 2


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
        lambda: build(name=name),
    ]
    for make in makers:
        refuses(make, "name", kind=ValueError)


@pytest.mark.parametrize(
    ("parts", "culprit"),
    [
        ({"bodies": [arm, hand, arm]}, "'arm'"),
        ({"joints": [shoulder, wrist, Revolute("wrist", "arm", "hand")]}, "'wrist'"),
        ({"loops": [Point("tip", *ENDS), Point("tip", *ENDS)]}, "'tip'"),
        ({"loops": [Revolute("wrist", "ground", "hand")]}, "'wrist'"),
        ({"springs": [JointSpring("s", "wrist"), JointSpring("s", "shoulder")]}, "'s'"),
        ({"actuators": [Actuator("wrist"), Actuator("wrist")]}, "'wrist'"),
    ],
)
def test_names_must_be_unique(parts, culprit):
    refuses(lambda: build(**parts), culprit, "robot")


def test_coordinates_must_have_different_names():
    joints = [Universal("wrist", "ground", "arm"), Revolute("wrist_1", "arm", "hand")]
    refuses(lambda: build(joints=joints), "'wrist_1'", "rename")


def test_ground_is_not_a_name_for_a_body():
    joints = [Revolute("one", "arm", "ground"), wrist]
    refuses(lambda: build(bodies=[arm, hand, Body("ground", 1.0)], joints=joints), "ground")


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"joints": [Revolute("shoulder", "grund", "arm"), wrist]}, ("'shoulder'", "'grund'", "'ground'")),
        ({"joints": [shoulder, Revolute("wrist", "arn", "hand")]}, ("'wrist'", "'arn'", "'arm'")),
        ({"joints": [shoulder, Revolute("wrist", "arm", "hnad")]}, ("'wrist'", "'hnad'", "'hand'")),
        ({"loops": [Point("tip", "ground", "hadn")]}, ("'tip'", "'hadn'", "'hand'")),
        ({"loops": [Revolute("tip", "ground", "hadn")]}, ("'tip'", "'hadn'", "'hand'")),
        ({"loops": [Coupling("gear", {"sholder": 1.0})]}, ("'gear'", "'sholder'", "'shoulder'")),
        ({"springs": [JointSpring("coil", "wirst")]}, ("'coil'", "'wirst'", "'wrist'")),
        ({"springs": [PointSpring("rubber", "ground", "hadn")]}, ("'rubber'", "'hadn'", "'hand'")),
        ({"actuators": [Actuator("wirst", "motor")]}, ("'motor'", "'wirst'", "'wrist'")),
    ],
)
def test_unknown_names_are_answered_with_the_nearest_known_one(parts, words):
    refuses(lambda: build(**parts), *words, "did you mean")


def test_springs_and_drives_need_a_coordinate_that_is_a_number():
    joints = [Spherical("shoulder", "ground", "arm"), wrist]
    refuses(lambda: build(joints=joints, actuators=[Actuator("shoulder_wx")]), "'shoulder_wx'", "known: 'wrist'")
    refuses(lambda: build(joints=joints, springs=[JointSpring("coil", "shoulder_qx")]), "'coil'", "'shoulder_qx'")
    refuses(lambda: build(joints=joints, loops=[Coupling("gear", {"shoulder": 1.0})]), "'gear'", "'shoulder'")


def test_an_actuator_needs_a_cut_joint_of_one_axis():
    loop = Spherical("ball", "ground", "hand")
    refuses(lambda: build(loops=[loop], actuators=[Actuator("ball")]), "'ball'", "joint coordinate to drive")


# -- topology -------------------------------------------------------------------------------------


def test_a_body_needs_a_joint():
    refuses(lambda: build(joints=[shoulder]), "'hand'", "Free")


def test_a_body_has_one_joint():
    other = Revolute("other", "ground", "hand")
    refuses(lambda: build(joints=[shoulder, wrist, other]), "'hand'", "'wrist'", "'other'", "loops")


def test_the_ground_carries_and_is_not_carried():
    refuses(lambda: build(joints=[Revolute("shoulder", "arm", "ground"), wrist]), "'shoulder'", "exchange")


def test_bodies_must_be_connected_to_the_ground():
    joints = [Revolute("one", "hand", "arm"), Revolute("two", "arm", "hand")]
    refuses(lambda: build(joints=joints), "'arm'", "'hand'", "not connected")


@pytest.mark.parametrize("kind", JOINTS)
def test_a_joint_connects_two_bodies(kind):
    more = {"pitch": 0.1} if kind is Helical else {}
    refuses(lambda: kind("joint", "arm", "arm", **more), "'joint'", "'arm'", "itself")


@pytest.mark.parametrize("kind", LOOPS)
def test_a_loop_connects_two_bodies(kind):
    more = {"length": 1.0} if kind is Distance else {}
    refuses(lambda: kind("loop", "arm", "arm", **more), "'loop'", "'arm'", "itself")
    refuses(lambda: PointSpring("spring", "arm", "arm"), "'spring'", "'arm'", "itself")


def test_a_cut_free_joint_holds_nothing():
    refuses(lambda: build(loops=[Free("nothing", "ground", "hand")]), "'nothing'", "leave it out")


def test_the_base_classes_are_no_parts():
    refuses(lambda: Joint("joint", *ENDS), "'joint'", "Revolute")
    for part in ({"bodies": ["arm"]}, {"joints": [arm]}, {"loops": [arm]}, {"springs": [arm]}, {"actuators": [arm]}):
        refuses(lambda part=part: build(**part), "robot", kind=TypeError)


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


@pytest.mark.parametrize(
    ("parts", "coordinate"),
    [
        ({"bodies": [arm, Body("hand")]}, "'wrist'"),
        ({"bodies": [Body("arm"), Body("hand")]}, "'"),
        ({"bodies": [arm, Body("hand", 1.0)]}, "'wrist'"),  # a point mass on the axis
        ({"bodies": [arm, Body("hand", 1.0)], "joints": [shoulder, Spherical("wrist", "arm", "hand")]}, "'wrist_w"),
        (
            {"bodies": [arm, Body.rod("hand", 1.0, 1.0)], "joints": [shoulder, Free("wrist", "arm", "hand")]},
            "'wrist_wx'",
        ),
    ],
)
def test_every_coordinate_needs_inertia_to_move(parts, coordinate):
    refuses(lambda: build(**parts), coordinate, "no inertia", "robot")


def test_a_massless_body_may_be_carried_along():
    joints = [shoulder, Fixed("wrist", "arm", "hand")]
    assert build(bodies=[arm, Body("hand")], joints=joints).nv == 1


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


@pytest.mark.parametrize("gravity", [(0, -9.81), (0, NAN, 0), "down"], ids=str)
def test_gravity_is_a_vector(gravity):
    refuses(lambda: build(gravity=gravity), "gravity", kind=(ValueError, TypeError))


@pytest.mark.parametrize("kind", [*JOINTS, *LOOPS, Body, JointSpring, PointSpring, Mechanism])
def test_unknown_keywords_are_type_errors(kind):
    refuses(lambda: kind("part", *ENDS, colour="red"), "colour", kind=TypeError)


# -- what is built stays as it is -------------------------------------------------------------------


def test_parts_and_mechanism_are_frozen():
    plant = build()
    refuses(lambda: setattr(plant, "gravity", (0, 0, 0)), "robot", "frozen", "gravity", kind=AttributeError)
    for part in (arm, shoulder, Frame(), Point("p", *ENDS), Actuator("wrist")):
        with pytest.raises(AttributeError):
            part.name = "other"
    for array in (arm.com, arm.inertia, shoulder.axis, plant.gravity, plant.effort, plant.limits, plant.arrays.links):
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


def test_later_changes_of_the_callers_arrays_do_not_reach_the_machine():
    com, gravity, bodies = np.array([0.5, 0.0, 0.0]), np.array([0.0, -9.81, 0.0]), [arm, hand]
    body = Body("arm", 1.0, com)
    plant = build(bodies=bodies, gravity=gravity)
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
    plant, good = build(), np.zeros(2)
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
    refuses(lambda: build().terms([1.0], [0.0, 0.0]), "(2,)", "shoulder, wrist", "(1,)", kind=ValueError)
    refuses(lambda: build().terms([1.0, NAN], [0.0, 0.0]), "wrist = nan", kind=ValueError)


def test_unknown_names_in_questions():
    plant, q = build(), np.zeros(2)
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
    plant = build(joints=[Spherical("shoulder", "ground", "arm"), wrist])
    refuses(lambda: plant.velocity_of([1]), "'shoulder_qx'", "several axes", kind=ValueError)
    assert plant.velocity_of([4]) == [3]


def test_plain_lists_integers_and_foreign_memory_layouts_are_accepted():
    plant = build()
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


def test_assembly_of_unknown_joints():
    plant = five_bar()
    refuses(lambda: plant.assemble(lefft=1.0), "'lefft'", "did you mean 'left'", kind=ValueError)
    refuses(lambda: plant.assemble(guess={"rihgt": 1.0}), "'rihgt'", "did you mean 'right'", kind=ValueError)
    refuses(lambda: plant.assemble(left=NAN), "'left'", kind=ValueError)
    refuses(lambda: plant.assemble(left="up"), "'left'", kind=TypeError)
    refuses(lambda: plant.assemble(guess=np.zeros(3)), "(4,)", kind=ValueError)


def test_assembly_out_of_reach_says_by_how_much_each_loop_stays_open():
    rod = Body.planar("rod", 1.0, 0.5, 0.1)
    far = Point("far", "ground", "rod", (5.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    near = PointOnPlane("near", "ground", "rod")
    plant = Mechanism("robot", [rod], [Revolute("pivot", "ground", "rod")], [near, far])
    error = refuses(lambda: plant.assemble(), "'far' open by 4.000e+00 m", kind=AssemblyError)
    assert "'near'" not in str(error)
    assert error.residuals["near"] < 1e-12
    assert error.residuals["far"] == pytest.approx(4.0, rel=1e-6)
    np.testing.assert_allclose(np.cos(error.q), 1.0, atol=1e-6)  # stretched towards the target
    error = refuses(lambda: plant.assemble(pivot=np.pi), "pivot = 3.14159", "6.000e+00", kind=AssemblyError)
    assert error.q[0] == np.pi


def test_assembly_beyond_the_limits_names_the_joint():
    rod = Body.planar("rod", 1.0, 0.5, 0.1)
    up = Point("up", "ground", "rod", (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
    for limits, text in (((-0.5, 0.5), "[-0.5, 0.5]"), ((2.0, 3.0), "[2, 3]")):
        plant = Mechanism("robot", [rod], [Revolute("pivot", "ground", "rod", limits=limits)], [up])
        refuses(plant.assemble, "pivot = 1.5708", text, "limits", kind=AssemblyError)
    plant = Mechanism("robot", [rod], [Revolute("pivot", "ground", "rod", limits=(-0.5, 0.5))])
    refuses(lambda: plant.assemble(pivot=0.7), "pivot = 0.7", "[-0.5, 0.5]", "limits", kind=AssemblyError)


def test_messages_say_what_to_do():
    error = refuses(
        lambda: five_bar().assemble(left=0.0, elbow_left=0.0, right=3.0, elbow_right=0.0), kind=AssemblyError
    )
    assert re.search(r"guess|[Ff]ix fewer|reach", str(error))
    assert set(error.residuals) == {"tip"}


def test_torque_between_bodies_that_do_not_exist():
    rod, pivot = Body.rod("rod", 1.0, 1.0), Revolute("pivot", "ground", "rod")
    with pytest.raises(ModelError, match="did you mean 'rod'"):
        Mechanism("arm", [rod], [pivot], actuators=[Actuator("m", bodies=("ground", "rodd"))])
    with pytest.raises(ModelError, match="two different bodies"):
        Actuator("m", bodies=("rod", "rod"))


# -- numbers are numbers ------------------------------------------------------------------------------

NO_NUMBERS = {
    "text": "12",
    "texts": ["1", "2"],
    "complex": np.array([1.0 + 1.0j, 2.0]),
    "complex, real in truth": np.array([1.0 + 0.0j, 2.0]),
    "truth values": np.array([True, False]),
    "a truth value among numbers": [1.0, True],
    "objects": np.array([1.0, None]),
    "None": None,
    "masked": np.ma.masked_array([1.0, 2.0], mask=[True, False]),
    "ragged": [[1.0], 2.0],
    "dates": np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"),
}


@pytest.mark.parametrize("what", NO_NUMBERS)
def test_what_is_no_number_is_none(what):
    refuses(lambda: _check.vector(NO_NUMBERS[what], 2, "q"), "q must be 2 numbers", kind=TypeError)
    refuses(lambda: _check.gain(NO_NUMBERS[what], 2, "kp"), "kp must be a number", kind=TypeError)


@pytest.mark.parametrize(
    "x", [[1, 2], (1.0, 2), np.array([1, 2], dtype=np.int8), np.float32([1, 2]), range(1, 3), np.array([1.0, 2.0])[::1]]
)
def test_all_kinds_of_numbers_are_numbers(x):
    found = _check.vector(x, 2, "q")
    assert found.dtype == np.float64 and found.tolist() == [1.0, 2.0] and found.flags.carray


def test_vectors_are_handed_on_and_read_only_ones_copied():
    x = np.array([1.0, 2.0])
    assert _check.vector(x, 2, "q") is x
    x.setflags(write=False)
    assert _check.vector(x, 2, "q").flags.writeable
    M = np.eye(2)
    M.setflags(write=False)
    assert _check.matrix(M, (2, 2), "M").flags.writeable


@pytest.mark.parametrize(
    "x",
    ["1.0", b"1", True, np.True_, None, 1j, np.complex128(1.0), np.array("1"), [1.0], np.ones(1), np.ma.masked, {}],
)
def test_single_numbers(x):
    assert [_check.number(y, "mass") for y in (1, 1.0, np.int8(1), np.float32(1), np.array(1.0))] == [1.0] * 5
    refuses(lambda: _check.number(x, "mass"), "mass must be a number", kind=TypeError)


def test_whole_numbers_and_truth_values():
    assert _check.count(np.int32(3), "n") == 3 and _check.flag(np.True_, "f") is True and _check.flag(0, "f") is False
    refuses(lambda: _check.count(2.5, "n"), "n must be a whole number >= 1, got 2.5", kind=ValueError)
    refuses(lambda: _check.count(True, "n"), "n must be a whole number", kind=TypeError)
    refuses(lambda: _check.count(11, "n", 1, 10), "from 1 to 10, got 11", kind=ValueError)
    refuses(lambda: _check.flag("no", "f"), "f must be True or False, got 'no'", kind=TypeError)


# -- springs and names -------------------------------------------------------------------------------------


def test_dampers_of_springs_take_energy():
    refuses(lambda: JointSpring("s", "shoulder", damping=-0.1), "damping of spring 's'", "-0.1", kind=ValueError)
    refuses(lambda: PointSpring("s", "ground", "arm", damping=-0.1), "damping of spring 's'", kind=ValueError)
    assert JointSpring("s", "shoulder", stiffness=-3.0).stiffness == -3.0  # as near a dead centre


def test_names_that_fall_together_with_their_suffixes():
    rail = Coupling("a_x", {"shoulder": 1.0})
    both = {"loops": [Point("a", "ground", "hand"), rail]}
    refuses(lambda: build(**both), "'a'", "'a_x'", "rename")
    joints = [Revolute("tip_x", "ground", "arm"), wrist]
    refuses(
        lambda: build(joints=joints, loops=[Point("tip", "ground", "hand")]), "coordinate 'tip_x'", "constraint 'tip'"
    )
    joints = [Revolute("left", "ground", "arm"), Revolute("left_rate", "arm", "hand")]
    refuses(lambda: build(joints=joints), "rate of the coordinate 'left'", "'left_rate'")
