"""From parts to kernels: what does not fit together is refused by name."""

import pytest

from cmbcontrol.model.elements import (
    Actuator,
    Body,
    Coupling,
    Fixed,
    Free,
    JointSpring,
    Point,
    PointSpring,
    Revolute,
    Spherical,
)
from tests.fixtures import ARM, SHOULDER, WRIST, refuses, robot

# -- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"joints": [Revolute("shoulder", "grund", "arm"), WRIST]}, ("'shoulder'", "'grund'", "'ground'")),
        ({"joints": [SHOULDER, Revolute("wrist", "arn", "hand")]}, ("'wrist'", "'arn'", "'arm'")),
        ({"joints": [SHOULDER, Revolute("wrist", "arm", "hnad")]}, ("'wrist'", "'hnad'", "'hand'")),
        ({"loops": [Point("tip", "ground", "hadn")]}, ("'tip'", "'hadn'", "'hand'")),
        ({"loops": [Revolute("tip", "ground", "hadn")]}, ("'tip'", "'hadn'", "'hand'")),
        ({"loops": [Coupling("gear", {"sholder": 1.0})]}, ("'gear'", "'sholder'", "'shoulder'")),
        ({"springs": [JointSpring("coil", "wirst")]}, ("'coil'", "'wirst'", "'wrist'")),
        ({"springs": [PointSpring("rubber", "ground", "hadn")]}, ("'rubber'", "'hadn'", "'hand'")),
        ({"actuators": [Actuator("wirst", "motor")]}, ("'motor'", "'wirst'", "'wrist'")),
    ],
)
def test_unknown_names_are_answered_with_the_nearest_known_one(parts, words):
    refuses(lambda: robot(**parts), *words, "did you mean")


def test_springs_and_drives_need_a_coordinate_that_is_a_number():
    joints = [Spherical("shoulder", "ground", "arm"), WRIST]
    refuses(lambda: robot(joints=joints, actuators=[Actuator("shoulder_wx")]), "'shoulder_wx'", "known: 'wrist'")
    refuses(lambda: robot(joints=joints, springs=[JointSpring("coil", "shoulder_qx")]), "'coil'", "'shoulder_qx'")
    refuses(lambda: robot(joints=joints, loops=[Coupling("gear", {"shoulder": 1.0})]), "'gear'", "'shoulder'")


def test_an_actuator_needs_a_cut_joint_of_one_axis():
    loop = Spherical("ball", "ground", "hand")
    refuses(lambda: robot(loops=[loop], actuators=[Actuator("ball")]), "'ball'", "joint coordinate to drive")


# -- topology -------------------------------------------------------------------------------------


def test_a_body_needs_a_joint():
    refuses(lambda: robot(joints=[SHOULDER]), "'hand'", "Free")


def test_a_body_has_one_joint():
    other = Revolute("other", "ground", "hand")
    refuses(lambda: robot(joints=[SHOULDER, WRIST, other]), "'hand'", "'wrist'", "'other'", "loops")


def test_the_ground_carries_and_is_not_carried():
    refuses(lambda: robot(joints=[Revolute("shoulder", "arm", "ground"), WRIST]), "'shoulder'", "exchange")


def test_bodies_must_be_connected_to_the_ground():
    joints = [Revolute("one", "hand", "arm"), Revolute("two", "arm", "hand")]
    refuses(lambda: robot(joints=joints), "'arm'", "'hand'", "not connected")


# -- physics --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "coordinate"),
    [
        ({"bodies": [ARM, Body("hand")]}, "'wrist'"),
        ({"bodies": [Body("arm"), Body("hand")]}, "'"),
        ({"bodies": [ARM, Body("hand", 1.0)]}, "'wrist'"),  # a point mass on the axis
        ({"bodies": [ARM, Body("hand", 1.0)], "joints": [SHOULDER, Spherical("wrist", "arm", "hand")]}, "'wrist_w"),
        (
            {"bodies": [ARM, Body.rod("hand", 1.0, 1.0)], "joints": [SHOULDER, Free("wrist", "arm", "hand")]},
            "'wrist_wx'",
        ),
    ],
)
def test_every_coordinate_needs_inertia_to_move(parts, coordinate):
    refuses(lambda: robot(**parts), coordinate, "no inertia", "robot")


def test_a_massless_body_may_be_carried_along():
    joints = [SHOULDER, Fixed("wrist", "arm", "hand")]
    assert robot(bodies=[ARM, Body("hand")], joints=joints).nv == 1
