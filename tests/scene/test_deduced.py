"""Shapes of bodies that were given none."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.model.elements import Ball, Box, Plate, Rod
from cmbcontrol.scene.deduced import deduced_shapes
from cmbcontrol.scene.proportions import Proportions


def shapes_of(plant, name):
    return deduced_shapes(next(b for b in plant.bodies if b.name == name), Proportions(plant))


def volume_and_inertia(shape):
    """Of a closed surface, about its centre: by tetrahedra from the origin."""
    vertices, faces, _ = shape.triangles()
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    v = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    centre = (v[:, None] * (a + b + c)).sum(axis=0) / (4.0 * v.sum())
    a, b, c = a - centre, b - centre, c - centre
    v = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    s = a + b + c
    second = sum(np.einsum("n,ni,nj->ij", v, x, x) for x in (a, b, c, s)) / 20.0
    return v.sum(), centre, np.trace(second) * np.eye(3) - second


def one_body(body, joint=None):
    joint = cmb.Free("free", "ground", body.name) if joint is None else joint
    return cmb.Mechanism("one", [body], [joint], gravity=(0, 0, 0))


def test_a_body_that_nothing_is_attached_to_is_the_box_of_its_inertia():
    turn = cmb.Frame.turned((1, 2, 3), 0.7).R
    mass, sides = 2.0, np.array([0.3, 0.5, 0.8])
    inertia = turn @ np.diag(mass / 12.0 * ((sides**2).sum() - sides**2)) @ turn.T
    (box,) = shapes_of(one_body(cmb.Body("box", mass, (0.1, 0.2, 0.3), inertia)), "box")
    assert isinstance(box, Box)
    volume, centre, found = volume_and_inertia(box)
    assert volume == pytest.approx(sides.prod())
    np.testing.assert_allclose(centre, [0.1, 0.2, 0.3], atol=1e-12)
    np.testing.assert_allclose(found / volume * mass, inertia, atol=1e-12)


def test_a_wheel_about_its_axle_is_the_disc_of_its_inertia():
    wheel = cmb.Body("wheel", 3.0, inertia=(0.0325, 0.06, 0.0325))  # radius 0.2 m, 0.1 m wide
    axle = cmb.Revolute("axle", "carrier", "wheel", axis=(0, 1, 0))
    carrier = cmb.Body("carrier", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    plant = cmb.Mechanism("wheel", [carrier, wheel], [cmb.Free("free", "ground", "carrier"), axle])
    (disc,) = shapes_of(plant, "wheel")
    assert isinstance(disc, Rod) and disc.radius == pytest.approx(0.2)
    np.testing.assert_allclose(np.abs(np.subtract(disc.end, disc.start)), [0.0, 0.1, 0.0], atol=1e-12)


def test_point_masses_are_balls_and_nothing_is_nothing():
    rod = cmb.Body.rod("rod", 1.0, 1.0)
    joints = [cmb.Revolute("pivot", "ground", "rod"), cmb.Fixed("end", "rod", "point", frame=cmb.Frame((1, 0, 0)))]
    (ball,) = shapes_of(cmb.Mechanism("pendulum", [rod, cmb.Body("point", 1.0)], joints), "point")
    assert isinstance(ball, Ball)
    (block,) = shapes_of(one_body(cmb.Body("point", 1.0), cmb.Prismatic("s", "ground", "point")), "point")
    assert isinstance(block, Box)
    arm = cmb.Body.rod("arm", 1.0, 1.0)
    tool = cmb.Body("tool")
    joints = [cmb.Revolute("pivot", "ground", "arm"), cmb.Fixed("hand", "arm", "tool", frame=cmb.Frame((1, 0, 0)))]
    assert shapes_of(cmb.Mechanism("arm", [arm, tool], joints), "tool") == []


def test_bars_in_a_plane_contain_their_pins_and_are_round_about_them():
    plant = plants.five_bar()
    (shape,) = shapes_of(plant, "left_upper")
    assert isinstance(shape, Plate)
    vertices, width = shape.triangles().vertices, Proportions(plant).width
    hull = ConvexHull(vertices[:, :2])
    pins = np.array([[0.0, 0.0], [1.5, 0.0]])
    inside = hull.equations[:, :2] @ pins.T + hull.equations[:, 2:]
    assert inside.max() < -0.49 * width  # polygons of circles are 0.9 % inside
    assert np.ptp(vertices[:, 0]) == pytest.approx(1.5 + width) and np.ptp(vertices[:, 1]) == pytest.approx(width)


def test_plates_are_hulls_of_discs_about_their_points():
    platform = plants.three_rrr()
    of = Proportions(platform)
    (shape,) = shapes_of(platform, "platform")
    flat = shape.triangles().vertices[:, :2]
    hull = ConvexHull(flat)
    points = of.points["platform"][:, :2]
    off = (hull.equations[:, :2] @ points.T + hull.equations[:, 2:]).max(axis=0)
    np.testing.assert_allclose(off, -0.5 * of.width_of("platform"), rtol=0.02)


def test_a_center_of_mass_aside_makes_a_plate():
    plant, _, _ = plants.catalogue["andrews"].start()
    # K3, K5 and K7 have their centres beside the line of their joints
    count = {name: len(shapes_of(plant, name)[0].outline) for name in ("K1", "K3", "K5", "K7")}
    of = Proportions(plant)
    assert "K1" in of.bars and not {"K3", "K5", "K7"} & set(of.bars)
    assert all(n >= 24 for n in count.values())


def test_held_objects_have_the_width_of_their_inertia():
    length, broad, mass = 0.4, 0.2, 6.0
    box = cmb.Body.planar("object", mass, 0.0, mass * (length**2 + broad**2) / 12.0)
    hands = [cmb.Body.rod(f"hand{i}", 1.0, 0.3) for i in range(2)]
    joints = [
        cmb.Revolute("wrist0", "ground", "hand0", frame=cmb.Frame((-0.5, 0, 0))),
        cmb.Fixed("grip0", "hand0", "object", frame=cmb.Frame((0.3, 0, 0)), child_frame=cmb.Frame((-0.2, 0, 0))),
        cmb.Revolute("wrist1", "ground", "hand1", frame=cmb.Frame((0.5, 0, 0))),
    ]
    hand = cmb.Frame.turned((0, 0, 1), np.pi, (0.2, 0, 0))
    weld = cmb.Weld("grip1", "object", "hand1", hand, cmb.Frame((0.3, 0, 0)))
    plant = cmb.Mechanism("hands", [*hands, box], joints, [weld], gravity=(0, -9.81, 0))
    (shape,) = shapes_of(plant, "object")
    assert isinstance(shape, Box)
    np.testing.assert_allclose(np.asarray(shape.size)[:2], [length, broad])
    hinged = [*joints[:1], cmb.Revolute("grip0", "hand0", "object", child_frame=cmb.Frame((-0.2, 0, 0))), joints[2]]
    link = cmb.Mechanism("hands", [*hands, box], hinged, [weld], gravity=(0, -9.81, 0))
    assert isinstance(shapes_of(link, "object")[0], Plate)  # what turns about a pin is a link


def test_bars_in_space_are_round_and_stars_go_through_the_middle():
    (rod,) = shapes_of(plants.bricard(), "rod1")
    assert isinstance(rod, Rod) and rod.rounded
    corners = [(1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0), (-1.0, -1.0, -1.0)]
    star = cmb.Body("star", 1.0, inertia=(0.3, 0.3, 0.3))
    legs = [cmb.Distance(f"leg{i}", "ground", "star", np.multiply(2, c), c, 1.5) for i, c in enumerate(corners)]
    plant = cmb.Mechanism("star", [star], [cmb.Free("free", "ground", "star")], legs)
    arms = shapes_of(plant, "star")
    assert len(arms) == 4 and all(isinstance(arm, Rod) for arm in arms)
    np.testing.assert_allclose([arm.end for arm in arms], corners)


def test_wheels_have_the_radius_with_which_they_roll():
    wheel = cmb.Body("wheel", 1.0, inertia=(0.005, 0.01, 0.005))
    loops = [cmb.Wheel("roll", "ground", "wheel", (0, 0, 0), (0, 0, 0.1), axis=(0, 1, 0), radius=0.25, tube=0.05)]
    plant = cmb.Mechanism("wheel", [wheel], [cmb.Free("free", "ground", "wheel")], loops)
    disc = shapes_of(plant, "wheel")[0]
    assert isinstance(disc, Rod) and disc.radius == pytest.approx(0.3)
    np.testing.assert_allclose(0.5 * np.add(disc.start, disc.end), [0, 0, 0.1])


@pytest.mark.parametrize("angle", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -1)])
def test_a_cam_touches_what_it_lifts(angle, axis):
    """The disc reaches, towards the follower, a constant and the lift: at every angle."""
    shaft = cmb.Body("shaft", 0.5, inertia=(2e-4, 2e-4, 2e-4))
    follower = cmb.Body("follower", 0.1, (0.0, 0.03, 0.0), (1e-5, 1e-5, 1e-5))

    def profile(x):
        return 0.004 * (1.0 - np.cos(x)) + 0.002 * np.sin(2.0 * x)

    joints = [
        cmb.Revolute("shaft", "ground", "shaft", axis=axis),
        cmb.Prismatic("lift", "ground", "follower", axis=(0.6, 0.8, 0)),
    ]
    plant = cmb.Mechanism("cam", [shaft, follower], joints, [cmb.Cam("cam", "lift", "shaft", profile)])
    (cam,) = shapes_of(plant, "shaft")
    assert isinstance(cam, Plate)
    R = plant.pose(plant.assemble(shaft=angle), "shaft").R
    corners = cam.triangles().vertices @ R.T
    ahead = np.array([0.6, 0.8, 0.0])
    along, aside = corners @ ahead, corners @ [-0.8, 0.6, 0.0]
    order = np.argsort(np.arctan2(aside, along))
    reach = np.interp(0.0, np.arctan2(aside, along)[order], np.hypot(along, aside)[order])
    lowest = min(profile(x) for x in np.linspace(0, 2 * np.pi, 721))
    base = 0.8 * np.sqrt(2.0 * 2e-4 / 0.5)
    assert reach == pytest.approx(base + profile(angle) - lowest, abs=2e-4)
