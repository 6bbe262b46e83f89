"""What a machine looks like at a pose."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants, plot
from cmbcontrol.plants import catalogue
from cmbcontrol.plot.geometry import sketcher
from tests.fixtures import animation_frames, wire_bead


@pytest.mark.parametrize("name", ["particle", "slider-crank"])
def test_sketch_shows_the_machine(name):
    plant, q, _ = catalogue[name].start()
    lines = [np.asarray(line) for line in plant.sketch(q)]
    assert all(line.shape[1] == 2 for line in lines)
    assert np.linalg.norm(lines[-1][1] - lines[-1][0]) == pytest.approx(1.0, abs=1e-15)  # radius, or connecting rod
    if name == "slider-crank":
        assert abs(lines[-1][1][1]) < 1e-15  # the slider is level with the pivot


@pytest.mark.parametrize(
    ("axis", "gravity", "plane"),
    [((0, 0, 1), (0, -9.81, 0), (0, 1)), ((0, 1, 0), (0, 0, -9.81), (0, 2)), ((-1, 0, 0), (0, 0, 0), (1, 2))],
)
def test_the_plane_of_motion_is_found(axis, gravity, plane):
    arm = cmb.Body("arm", 1.0, (0.1, 0.2, 0.3), (0.1, 0.1, 0.1))
    plant = cmb.Mechanism("arm", [arm], [cmb.Revolute("pivot", "ground", "arm", axis=axis)], gravity=gravity)
    assert sketcher(plant).plane == plane
    (ax,) = plot.mechanism(plant, [0.3]).axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == tuple(f"{'xyz'[k]} (m)" for k in plane)


def test_slides_alone_move_in_the_plane_of_gravity():
    block = cmb.Body("block", 1.0, inertia=(0.1, 0.1, 0.1))
    plant = cmb.Mechanism("slide", [block], [cmb.Prismatic("x", "ground", "block", axis=(1, 0, 0))])
    assert sketcher(plant).plane == (0, 2)


def test_massless_carriers_are_not_drawn():
    plant = plants.pendulum()
    pose = sketcher(plant).at(plant.assemble(angle=-np.pi / 2))
    assert len(pose.bodies) == 1 and len(pose.joints) == len(pose.sliders) == 0
    np.testing.assert_allclose(pose.bodies[0], [[0, 0, 0], [0, -1, 0]], atol=1e-12)  # a rod to its far end
    np.testing.assert_allclose(pose.loops, [[0, 0, 0]], atol=1e-12)
    np.testing.assert_array_equal(pose.ground, [[0, 0, 0]])


def test_all_parts_have_a_shape():
    corners = [(np.cos(a), np.sin(a), 0.0) for a in (0.0, 2.1, 4.2)]
    plate = cmb.Body("plate", 3.0, (0.0, 0.0, 0.1), (0.1, 0.1, 0.2))
    legs = [cmb.Distance(f"leg{i}", "ground", "plate", np.multiply(2, c), c, 1.6) for i, c in enumerate(corners)]
    spring = cmb.PointSpring("spring", "ground", "plate", (0, 0, 0), (0, 0, 0.1), stiffness=10.0, rest=1.0)
    plant = cmb.Mechanism("tripod", [plate], [cmb.Free("plate", "ground", "plate")], legs, [spring])
    q = plant.assemble(guess={"plate_z": 1.2})
    shape = sketcher(plant).at(q)
    assert len(shape.rods) == 3 and len(shape.springs) == 1 and len(shape.loops) == 6
    np.testing.assert_allclose([np.linalg.norm(a - b) for a, b in shape.rods], 1.6)
    assert_drawable(plant, q)


def assert_drawable(plant, q):
    """The figure can be rendered."""
    plot.mechanism(plant, q).draw_without_rendering()


def test_guides_of_slides_and_of_points_on_lines():
    crank, rod = cmb.Body.rod("crank", 1.0, 0.3), cmb.Body.rod("rod", 1.0, 0.8)
    block = cmb.Body("block", 2.0, inertia=(0.01, 0.01, 0.01))
    joints = [
        cmb.Revolute("crank", "ground", "crank"),
        cmb.Revolute("elbow", "crank", "rod", frame=cmb.Frame((0.3, 0, 0))),
    ]
    slide = cmb.Prismatic("slide", "ground", "block", axis=(1, 0, 0))
    pin = cmb.PointOnLine("pin", "block", "rod", (0, 0, 0), (0.8, 0, 0))
    with_block = cmb.Mechanism("press", [crank, rod, block], [*joints, slide], [pin], gravity=(0, -9.81, 0))
    guide = cmb.PointOnLine("guide", "ground", "rod", (0, 0, 0), (0.8, 0, 0), axis=(1, 0, 0))
    plane = cmb.PointOnPlane("guide", "ground", "rod", (0, 0, 0), (0.8, 0, 0), normal=(0, 1, 0))
    alone = [cmb.Mechanism("press", [crank, rod], joints, [g], gravity=(0, -9.81, 0)) for g in (guide, plane)]
    for plant, q in [(with_block, (0.0, 0.0, 1.1)), *((p, (0.0, 0.0)) for p in alone)]:
        shape = sketcher(plant).at(np.array(q))
        assert len(shape.guides) == len(shape.sliders) == 1
        np.testing.assert_allclose(shape.guides[0][:, 1:], 0.0, atol=1e-15)
        np.testing.assert_allclose(shape.sliders, [[1.1, 0.0, 0.0]])
        assert shape.guides[0][:, 0].min() < 0.0 and shape.guides[0][:, 0].max() > 1.1
        assert_drawable(plant, q)


def test_a_body_is_more_than_its_joints():
    """A centre of mass beside the line of the joints makes the body an area."""
    plant, q0, _ = plants.catalogue["andrews"].start()
    shapes = dict(zip(("K1", "K2", "K3", "K4", "K5", "K6", "K7"), sketcher(plant).at(q0).bodies, strict=True))
    assert {k: len(line) for k, line in shapes.items()} == dict(K1=2, K2=2, K3=4, K4=2, K5=4, K6=2, K7=4)
    assert len(plot.mechanism(plant, q0).axes[0].patches) == 3


def test_plants_given_by_functions_may_have_a_sketch(tmp_path):
    plant, q0, v0 = plants.catalogue["slider-crank"].start()
    assert_drawable(plant, q0)
    np.testing.assert_allclose(sketcher(plant).at(q0).bodies[1][-1], [2.0 * np.cos(0.6), 0.0, 0.0], atol=1e-12)
    run = cmb.simulate(plant, q0=q0, v0=v0, t_end=0.1, output_times=0.02)
    assert animation_frames(run.animate(tmp_path / "a.gif")) == 3
    assert sketcher(wire_bead(sketch=lambda q: [[[0.0, 0.0, 0.0], [*q, 1.0]]])).plane is None


def test_plants_without_a_sketch_say_so():
    with pytest.raises(cmb.errors.ModelError, match=r"'bead' is given by functions.*sketch="):
        plot.mechanism(wire_bead(), [0.0, 0.0])
    with pytest.raises(cmb.errors.ModelError, match=r"sketch\(q\) must return lines.*\(2,\)"):
        plot.mechanism(wire_bead(sketch=lambda q: [q]), [0.0, 0.0])
