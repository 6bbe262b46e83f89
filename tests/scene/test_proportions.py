"""How thick and how high parts are."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.scene.attachments import held_together
from cmbcontrol.scene.proportions import Proportions, bar
from tests.fixtures import largest


@pytest.mark.parametrize("size", [1e-3, 1.0, 100.0])
def test_proportions_grow_with_the_machine(size):
    rods = [cmb.Body.rod(f"rod{i}", 1.0, size) for i in range(2)]
    joints = [
        cmb.Revolute("shoulder", "ground", "rod0"),
        cmb.Revolute("elbow", "rod0", "rod1", frame=cmb.Frame((size, 0, 0))),
    ]
    of = Proportions(cmb.Mechanism("arm", rods, joints, gravity=(0, -9.81, 0)))
    assert of.length == pytest.approx(size) and of.extent == pytest.approx(2.0 * size)
    assert of.width == pytest.approx(0.11 * size)


@pytest.mark.slow
def test_links_of_many_stay_visible_and_slim():
    of = Proportions(plants.n_four_bar(60))
    assert 0.2 < of.width <= 0.3  # of links of 1 m
    assert of.width_of("bar0") <= 0.3


def test_bodies_that_are_held_together_lie_in_different_layers():
    plant = plants.n_four_bar(5)
    of = Proportions(plant)
    for a, b in held_together(plant):
        if a in of.spans and b in of.spans:
            (low_a, high_a), (low_b, high_b) = of.spans[a], of.spans[b]
            assert low_a > high_b or low_b > high_a
    heights = list(of.heights.values())
    assert len(set(heights)) == len(heights)  # no two surfaces in one plane
    assert abs(np.mean([max(heights), min(heights)])) < 2.0 * of.thickness


def test_barrel_and_rod_share_a_layer():
    of = Proportions(plants.excavator())
    assert of.pistons["boom_cylinder_barrel"] == "barrel" and of.pistons["boom_cylinder_rod"] == "rod"
    assert abs(of.heights["boom_cylinder_barrel"] - of.heights["boom_cylinder_rod"]) < 0.3 * of.thickness


def test_diameters_are_those_of_the_cylinder():
    boom = cmb.Body.rod("boom", 100.0, 3.0)
    lift = cmb.Cylinder("lift", "ground", "boom", (1, -1, 0), (1.8, 0, 0), stroke=(1.2, 2.3), bore=0.3, rod=0.2)
    plant = cmb.Mechanism("crane", [boom], [cmb.Revolute("boom", "ground", "boom")], cylinders=[lift])
    of = Proportions(plant)
    assert (of.piston_radius("lift_barrel"), of.piston_radius("lift_rod")) == (0.15, 0.1)


def test_bars_end_at_their_outer_points():
    body = cmb.Body("b", 1.0, (0.5, 0.5, 0.0), (0.1, 0.1, 0.1))
    a, b = bar(body, np.array([[0.2, 0.2, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), 1.0)
    assert sorted([a.tolist(), b.tolist()]) == [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]


def test_a_bar_with_one_joint_ends_where_its_inertia_says():
    rod = cmb.Body.rod("rod", 2.0, 1.6)
    _, end = bar(rod, np.zeros((1, 3)), 1.0)
    assert largest(end - [1.6, 0, 0]) < 1e-12
    point = cmb.Body("mass", 1.0, (0.0, 0.7, 0.0))
    assert largest(bar(point, np.zeros((1, 3)), 1.0)[1] - [0.0, 0.7, 0.0]) < 1e-12


def test_what_is_no_bar():
    aside = cmb.Body("b", 1.0, (0.5, 0.4, 0.0), (0.1, 0.1, 0.1))
    assert bar(aside, np.array([[0.0, 0, 0], [1.0, 0, 0]]), 1.0) is None  # its centre is off the line
    corner = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.0, 1.0, 0]])
    assert bar(aside, corner, 1.0) is None
    assert bar(cmb.Body("b", 1.0), np.zeros((1, 3)), 1.0) is None  # a joint at its centre


def test_joints_of_thin_shapes_are_thin():
    def arm(*shapes):
        body = cmb.Body("rod", 1.0, (0.5, 0, 0), (0.0, 0.1, 0.1), shapes)
        return Proportions(cmb.Mechanism("arm", [body], [cmb.Revolute("pivot", "ground", "rod")]))

    thin, plain = arm(cmb.shapes.Rod((0, 0, 0), (1, 0, 0), 0.005)), arm()
    assert thin.width_at("ground", "rod") == pytest.approx(0.6 * plain.width)
    np.testing.assert_allclose(thin.spans["rod"], (-0.005, 0.005), atol=1e-9)
