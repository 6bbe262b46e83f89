"""Rest on contacts and against end stops, against closed forms and runs with the efforts held."""

import numpy as np
import pytest

from cmbcontrol import (
    Actuator,
    Body,
    Contact,
    Coupling,
    Distance,
    Frame,
    Free,
    JointSpring,
    Mechanism,
    Planar,
    Point,
    PointOnPlane,
    Prismatic,
    Revolute,
    linearize,
    plants,
    simulate,
    trim,
)
from cmbcontrol.errors import ContactWarning, EquilibriumError, InputError, InputTypeError
from cmbcontrol.plants.biped import SOLES, stand
from tests.fixtures import refuses

G = 9.81
UP = (0.0, 1.0, 0.0)
DOWN = (0.0, -9.81, 0.0)


def rod(limits=(-0.5, 1.0), **parts):
    """A rod of 2 kg and 1 m on a joint, level at 0."""
    joint = Revolute("angle", "ground", "rod", limits=limits)
    return Mechanism("rod", [Body.rod("rod", 2.0, 1.0)], [joint], gravity=DOWN, **parts)


def stays(plant, point, contacts=(), t_end=1.0):
    """A run with the efforts held: nothing moves, and no contact opens."""
    run = simulate(plant, point.u, point.q, t_end=t_end, switches=contacts)
    kinds = [event["kind"].split()[0] for event in run.events()]
    assert np.abs(run.q.values - point.q).max() < 1e-9
    assert not {"released", "impact", "slides"} & set(kinds)


# -- stops ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "rests"),
    [(0.2, "lower"), (-0.4, "lower"), (-0.5, "lower"), (1.0, "lower")],
    ids=["between", "below the level", "on the stop", "on the other one, which would have to pull"],
)
def test_a_rod_falls_on_its_stop(start, rests):
    plant = rod()
    point = trim(plant, [start], free="all", stable=True, limits="hold")
    assert point.report.carrying == (f"angle_{rests}_stop",)
    np.testing.assert_allclose(point.q, -0.5, atol=1e-12)
    push = {c.name: c.push for c in point.report.contacts}
    np.testing.assert_allclose(push[f"angle_{rests}_stop"], 2.0 * G * 0.5 * np.cos(0.5), rtol=1e-12)  # m g l / 2 cos
    assert "contact angle_lower_stop pushes with 8.609 N m" in str(point) and "open: angle_upper_stop" in str(point)
    stays(plant, point)


def test_the_nearest_equilibrium_is_found_within_the_stops():
    """Upright is one, stable or not; where it is beyond a stop that would have to pull, the rod falls on the other."""
    up = trim(rod((-0.5, 2.0)), [1.2], free="all", limits="hold")
    np.testing.assert_allclose(up.q, np.pi / 2, atol=1e-12)
    assert up.report.carrying == ()
    assert trim(rod(), [0.8], free="all", limits="hold").report.carrying == ("angle_lower_stop",)


def test_limits_that_stop_nothing_are_as_before():
    with pytest.raises(EquilibriumError, match=r"outside its limits.*limits='hold'"):
        trim(rod(), [0.2], free="all", stable=True)
    motor = rod(actuators=[Actuator("angle")])
    at_stop = trim(motor, [-0.5])
    assert at_stop.report.contacts == () and at_stop.plant is motor
    np.testing.assert_allclose(at_stop.u, 2.0 * G * 0.5 * np.cos(0.5))
    np.testing.assert_array_equal(trim(motor, [-0.5], limits="hold").u, 0.0)  # the stop carries


def test_a_stop_that_would_have_to_pull_is_told():
    with pytest.raises(EquilibriumError, match=r"'angle_upper_stop' would have to pull with 5.3 N m"):
        trim(rod(), [1.0], limits="hold")
    with pytest.raises(InputError, match=r"q has angle = 1.1 rad, beyond its upper limit of 1 rad"):
        trim(rod(), [1.1], limits="hold")


def test_a_motor_that_presses_on_its_stop():
    """The stop takes what the motor gives beyond the weight."""
    motor = rod(actuators=[Actuator("angle", effort=30.0)])
    held = trim(motor, [1.0], u=20.0, limits="hold")
    (lower, upper) = held.report.contacts
    np.testing.assert_allclose(upper.push, 20.0 - G * np.cos(1.0), rtol=1e-12)
    assert lower.state == "open" and lower.gap == 1.5
    stays(motor, held)
    with pytest.raises(EquilibriumError, match=r"would have to pull with 0.3004 N m"):
        trim(motor, [1.0], u=5.0, limits="hold")


def fingers(rest=0.06):
    """A gripper whose fingers are coupled and open by a spring."""
    bodies = [Body("palm", 1.0, (0.2, 0, 0), (0.01,) * 3)]
    bodies += [Body(n, 0.1, (0, 0.01, 0), (1e-4,) * 3) for n in ("left", "right")]
    joints = [
        Prismatic(n, "palm", n, axis=(0, s, 0), frame=Frame((0.4, 0, 0)), limits=(0.0, 0.04))
        for n, s in (("left", 1), ("right", -1))
    ]
    return Mechanism(
        "gripper",
        bodies,
        [Revolute("wrist", "ground", "palm", axis=(1, 0, 0)), *joints],
        [Coupling("mimic", {"left": 1.0, "right": -1.0})],
        springs=[JointSpring("opener", "left", 50.0, rest)],
        actuators=[Actuator("left", effort=20.0), Actuator("wrist")],
    )


def test_a_gripper_that_closes_on_redundant_stops():
    """Both fingers are on their stops, and the coupling: together they take the motor less the spring."""
    plant = fingers()
    q = plant.assemble(left=0.02, wrist=0.0)
    shut = trim(plant, q, u={"left": -10.0}, hold=("wrist",), stable=True, limits="hold")
    np.testing.assert_allclose(shut.q[plant.position_names.index("left")], 0.0, atol=1e-15)
    pushes = {c.name: c.push for c in shut.report.contacts}
    np.testing.assert_allclose(pushes["left_lower_stop"] + pushes["right_lower_stop"], 10.0 - 50.0 * 0.06, rtol=1e-12)
    stays(plant, shut)
    wide = trim(plant, q, u={"left": -1.0}, hold=("wrist",), stable=True, limits="hold")
    np.testing.assert_allclose(wide.q[plant.position_names.index("left")], 0.04, atol=1e-15)
    assert sum(c.push for c in wide.report.contacts) == pytest.approx(50.0 * 0.02 - 1.0)


def test_machines_of_the_catalogue_rest_on_their_cylinders():
    for plant, stop in ((plants.loader(), "lift_lower_stop"), (plants.excavator(), "arm_cylinder_lower_stop")):
        q = plants.catalogue[plant.name].start()[1]
        point = trim(plant, q, u=0.0, free="all", stable=True, limits="hold")
        assert point.report.carrying == (stop,)
        stays(plant, point, t_end=0.1)


# -- contacts ------------------------------------------------------------------------------------------------


def ladder(angle, mu, length=4.0):
    """A ladder of 10 kg from a rough floor to a smooth wall, by its angle above the floor; and its contacts."""
    body = Body.rod("ladder", 10.0, length)
    foot = PointOnPlane("foot", "ground", "ladder", normal=UP)
    top = PointOnPlane("top", "ground", "ladder", (length, 0, 0), (length, 0, 0), normal=(-1, 0, 0))
    plant = Mechanism("ladder", [body], [Planar("base", "ground", "ladder")], [foot, top], gravity=DOWN)
    q = plant.pack({"base_x": length * (1.0 - np.cos(angle)), "base_angle": angle})
    return plant, q, [Contact("foot", friction=mu), Contact("top")]


@pytest.mark.parametrize("angle", [0.7, 1.0, 1.4])
def test_a_ladder_leans_while_its_friction_lasts(angle):
    """Moments about the foot: N_top = m g / (2 tan a) is the friction, and m g the push, of the foot."""
    needed = 0.5 / np.tan(angle)
    plant, q, contacts = ladder(angle, 1.01 * needed)
    point = trim(plant, q, contacts=contacts)
    foot, top = point.report.contacts
    np.testing.assert_allclose(
        [foot.push, foot.friction, top.push], 10.0 * G * np.array([1.0, needed, needed]), rtol=1e-9
    )
    assert foot.use == pytest.approx(1.0 / 1.01) and not point.on_border
    stays(plant, point, contacts)
    plant, q, contacts = ladder(angle, 0.99 * needed)
    with pytest.raises(EquilibriumError, match="'foot' would have to hold"):
        trim(plant, q, contacts=contacts)


def test_a_ladder_that_slips_comes_to_lie():
    plant, q, contacts = ladder(0.7, 0.3)
    end = PointOnPlane("end", "ground", "ladder", point_b=(4.0, 0, 0), normal=UP)
    plant, contacts = plant.with_loops(end), [*contacts, Contact("end", friction=0.3)]
    point = trim(plant, q, contacts=contacts, free="all", stable=True)
    np.testing.assert_allclose(point.q[1:], 0.0, atol=1e-12)
    np.testing.assert_allclose([point.report.contacts[k].push for k in (0, 2)], 5.0 * G, rtol=1e-9)
    stays(plant, point, contacts)


def box(half=0.2, mu=0.6, slope=0.0, **more):
    """A box of 2 kg on a slope, and the contacts of its four corners."""
    up = np.array([-np.sin(slope), np.cos(slope), 0.0])
    corners = [(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0)]
    loops = [Point(f"corner{i}", "ground", "box", (0, 0, 0), corner) for i, corner in enumerate(corners)]
    body = Body("box", 2.0, (0, 0, 0), (0.05,) * 3)
    plant = Mechanism("box", [body], [Planar("base", "ground", "box")], loops, gravity=DOWN)
    return plant, [Contact(loop.name, normal=up, friction=mu, **more) for loop in loops]


@pytest.mark.parametrize(("turned", "on"), [(0.3, (0, 1)), (-0.7, (0, 1)), (0.9, (0, 3)), (2.0, (0, 3))])
def test_a_box_falls_on_a_face(turned, on):
    plant, contacts = box()
    q = np.array([0.3, 1.0, turned])
    point = trim(plant, q, contacts=contacts, free="all", stable=True)
    assert point.report.carrying == tuple(f"corner{i}" for i in on)
    np.testing.assert_allclose(point.q[1], 0.2, atol=1e-12)
    np.testing.assert_allclose([c.push for c in point.report.contacts if c.acts], G, rtol=1e-9)
    assert not linearize(point.plant, point, inputs=()).states  # friction and two corners hold it
    stays(plant, point, contacts)


def test_what_starts_on_a_slope_sticks_and_what_falls_on_it_slides_on():
    plant, contacts = box(slope=0.3)
    lying = np.array([-0.2 * np.sin(0.3), 0.2 * np.cos(0.3), 0.3])
    point = trim(plant, lying, contacts=contacts)
    forces = np.array([[c.push, c.friction] for c in point.report.contacts if c.acts])
    np.testing.assert_allclose(forces.sum(axis=0), 2.0 * G * np.array([np.cos(0.3), np.sin(0.3)]), rtol=1e-9)
    stays(plant, point, contacts)
    plant, contacts = box(slope=0.6, mu=0.3)
    lying = np.array([-0.2 * np.sin(0.6), 0.2 * np.cos(0.6), 0.6])
    with pytest.raises(EquilibriumError, match=r"by friction of 0.3 times its push"):
        trim(plant, lying, contacts=contacts)


def test_a_rope_holds_and_a_slack_one_does_not():
    body = Body("weight", 3.0, (0, 0, 0), (0.1,) * 3)
    rope = Distance("rope", "ground", "weight", length=2.0)
    plant = Mechanism("weight", [body], [Prismatic("height", "ground", "weight", axis=UP)], [rope], gravity=DOWN)
    taut = Contact("rope", side=-1)
    point = trim(plant, [-0.5], contacts=taut, free="all", stable=True)
    np.testing.assert_allclose([point.q[0], point.report.contacts[0].push], [-2.0, 3.0 * G], rtol=1e-12)
    with pytest.raises(EquilibriumError, match="the actuators cannot hold 'weight'"):
        trim(plant, [-0.5], contacts=taut)


def test_a_block_in_space_rests_on_a_corner_plane_without_friction():
    """Four frictionless corners on a level floor: each may carry a quarter; the smallest multipliers are that."""
    corners = [(x, y, -0.1) for x in (-0.3, 0.3) for y in (-0.2, 0.2)]
    loops = [PointOnPlane(f"foot{i}", "ground", "block", point_b=c, normal=(0, 0, 1)) for i, c in enumerate(corners)]
    plant = Mechanism("block", [Body("block", 4.0, (0, 0, 0), (0.1,) * 3)], [Free("base", "ground", "block")], loops)
    contacts = [Contact(loop.name) for loop in loops]
    q = plant.neutral()
    q[plant.position_names.index("base_z")] = 0.1
    point = trim(plant, q, contacts=contacts)
    np.testing.assert_allclose([c.push for c in point.report.contacts], G, rtol=1e-9)
    assert all(np.isnan(c.use) for c in point.report.contacts)


# -- borders -------------------------------------------------------------------------------------------------


def test_a_contact_that_touches_and_carries_nothing():
    """A hanging rod whose stop is where it hangs: the model is that without the stop, and says so."""
    plant = rod((-np.pi / 2, 1.0))
    point = trim(plant, [-np.pi / 2], limits="hold")
    assert point.on_border == ("angle_lower_stop",) and point.report.carrying == ()
    assert "angle_lower_stop touches and carries nothing" in str(point)
    with pytest.warns(ContactWarning, match="on the border of 'angle_lower_stop'"):
        model = linearize(point.plant, point, inputs=())
    np.testing.assert_allclose(abs(model.poles().imag), np.sqrt(1.5 * G), rtol=1e-9)
    assert "on the border of angle_lower_stop" in str(model)


def test_a_foot_that_slips_next():
    plant, q, contacts = ladder(1.0, 0.5 / np.tan(1.0))
    point = trim(plant, q, contacts=contacts)
    assert point.on_border == ("foot",) and point.report.carrying == ("foot", "top")


def test_redundant_corners_that_could_push():
    """A table with its weight near one leg: the smallest multipliers leave the opposite one out, which still could."""
    corners = [(x, y, 0.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    loops = [PointOnPlane(f"leg{i}", "ground", "top", point_b=c, normal=(0, 0, 1)) for i, c in enumerate(corners)]
    body = Body("top", 4.0, (0.7, 0.7, 0.3), (0.5,) * 3)
    plant = Mechanism("table", [body], [Free("base", "ground", "top")], loops)
    point = trim(plant, plant.neutral(), contacts=[Contact(loop.name) for loop in loops])
    pushes = np.array([c.push for c in point.report.contacts])
    # leg0 is at zero: leg1 + leg3 = leg2 + leg3 = 1.7 / 2 of the weight
    np.testing.assert_allclose(pushes / (4.0 * G), [0.0, 0.15, 0.15, 0.7], atol=1e-9)
    assert point.report.contacts[0].state == "shares" and len(point.plant.row_names) == 4


# -- models and machines --------------------------------------------------------------------------------------


def on_one_foot(plant):
    """The biped with its right foot 1 cm above the ground."""
    q, right = stand(plant, 0.75), [n.endswith("_right") for n in plant.position_names]
    q[right] = stand(plant, 0.74)[right]
    return q


def test_the_linear_model_has_the_contacts_that_act():
    plant = plants.biped()
    feet = [Contact(name, normal=UP, friction=0.8) for name in SOLES]
    both = trim(plant, stand(plant, 0.75), contacts=feet)
    assert both.plant is plant and linearize(both.plant, both).dof == 3
    np.testing.assert_allclose(
        linearize(plant, both).poles(), linearize(plant, trim(plant, stand(plant, 0.75))).poles(), rtol=1e-9
    )
    stays(plant, both, feet)
    # on the left foot alone, the right one 1 cm above the ground: two rows less, and two contacts that are open
    one = trim(plant, on_one_foot(plant), contacts=feet)
    assert one.report.carrying == ("heel_left", "toe_left") and linearize(one.plant, one).dof == 6
    assert sum(c.push for c in one.report.contacts) == pytest.approx(G * sum(body.mass for body in plant.bodies))
    np.testing.assert_allclose([c.gap for c in one.report.contacts[2:]], 0.01, atol=1e-9)
    with pytest.raises(InputError, match=r"take point.plant"):
        one = trim(rod(), [-0.5], limits="hold")
        linearize(rod(), one)


def test_wrong_arguments():
    plant = plants.biped()
    q = stand(plant, 0.75)
    refuses(lambda: trim(plant, q, contacts=["heel_left"]), "contacts must be Contact", kind=InputTypeError)
    refuses(lambda: trim(plant, q, contacts=Contact("heel")), "there is no constraint 'heel'", kind=InputError)
    refuses(lambda: trim(plant, q, limits="warn"), "limits", "'stop' or 'hold'", kind=InputError)
    low, feet = stand(plant, 0.75, above=-0.01), [Contact(n, normal=UP) for n in SOLES]
    refuses(lambda: trim(plant, low, contacts=feet), "closed by 0.01 m too far", kind=InputError)
    given = {"contacts": feet, "preload": {"heel_right_x": 1.0}}
    refuses(
        lambda: trim(plant, on_one_foot(plant), **given), "'heel_right_x', and its contact is open", kind=InputError
    )
