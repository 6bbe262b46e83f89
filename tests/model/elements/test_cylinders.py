"""Cylinders: the machine that they stand for, and a lever by hand."""

import math
import pickle

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Body, Cylinder, Frame, Load, Mechanism, Revolute
from tests.fixtures import refuses

G, LENGTH, MASS = 9.81, 3.0, 400.0


def lever(**options):
    """A boom on a pin at the origin, lifted by a cylinder from (0.5, -0.8) to a point 1.4 m along it."""
    given = {"stroke": (0.9, 1.6), "bore": 0.12, "rod": 0.07} | options
    lift = Cylinder("lift", "ground", "boom", (0.5, -0.8, 0.0), (1.4, 0.0, 0.0), **given)
    boom = Body.planar("boom", MASS, LENGTH / 2.0, MASS * LENGTH**2 / 12.0)
    tip = Load("tip", "boom", Frame((LENGTH, 0.0, 0.0)), force=(0.0, -2000.0, 0.0))
    joints = [Revolute("pivot", "ground", "boom")]
    return Mechanism("lever", [boom], joints, cylinders=[lift], gravity=(0, -G, 0), loads=[tip])


def test_what_it_stands_for():
    plant = lever()
    assert [b.name for b in plant.bodies] == ["boom", "lift_barrel", "lift_rod"]
    assert plant.position_names == ("pivot", "lift_pin", "lift")
    assert plant.actuator_names == ("lift",) and plant.row_names == ("lift_end_x", "lift_end_y")
    assert lever(motor=False).actuator_names == ()
    q = plant.assemble(pivot=0.3)
    found = plant.diagnose(q)
    assert (found.dof, sum(found.redundant.values())) == (1, 0)
    pin = np.array([0.5, -0.8])
    end = 1.4 * np.array([np.cos(0.3), np.sin(0.3)])
    assert q[2] == pytest.approx(np.linalg.norm(end - pin), abs=1e-12)
    assert np.tan(q[1]) == pytest.approx(np.divide(*(end - pin)[::-1]), abs=1e-9)


def test_the_force_that_holds_a_lever():
    """Moments about the pivot, with the weights of barrel and rod where they are."""
    plant = lever(mass=(30.0, 20.0))
    q = plant.assemble(pivot=0.3)
    point = cmb.trim(plant, q)
    along = plant.point(q, "lift_rod") - np.array([0.5, -0.8, 0.0])
    along /= np.linalg.norm(along)

    def work(body):
        """Of the weight, per radian of the boom, by differences."""
        ahead, behind = (plant.close(plant.assemble(pivot=0.3 + s)) for s in (1e-5, -1e-5))
        centre = plant.bodies[[b.name for b in plant.bodies].index(body)].com
        rise = (plant.point(ahead, body, centre) - plant.point(behind, body, centre))[1] / 2e-5
        return -rise * G * {"boom": MASS, "lift_barrel": 30.0, "lift_rod": 20.0}[body]

    loads = sum(work(body.name) for body in plant.bodies) - 2000.0 * LENGTH * np.cos(0.3)
    end = plant.point(q, "lift_rod")
    arm = np.cross(end, along)[2]
    assert point.u[0] == pytest.approx(-loads / arm, rel=1e-8)


def test_areas_masses_and_effort():
    lift = Cylinder("lift", "ground", "boom", stroke=(0.9, 1.6), bore=0.12, rod=0.07, pressure=2e7)
    assert lift.area == pytest.approx(math.pi * 0.06**2)
    assert lift.rod_area == pytest.approx(math.pi * (0.06**2 - 0.035**2))
    assert lift.effort == pytest.approx(2e7 * lift.rod_area) == lift.actuators[0].effort
    steel = 7850.0 * math.pi / 4.0 * 0.9
    assert lift.mass == pytest.approx((steel * 0.44 * 0.12**2, steel * 0.07**2))


def test_in_space():
    """A plate on a pin with a cylinder whose ends are balls: one degree of freedom, and it holds."""
    plate = Body("plate", 50.0, (0.5, 0.1, 0.0), (2.0, 5.0, 6.0))
    given = {"stroke": (0.8, 1.4), "mass": (5.0, 3.0), "axis": None}
    lift = Cylinder("lift", "ground", "plate", (0.4, 0.3, -0.9), (0.8, 0.5, 0.1), **given)
    plant = Mechanism("flap", [plate], [Revolute("hinge", "ground", "plate", axis=(0, -1, 0))], cylinders=[lift])
    q = plant.assemble(hinge=0.2)
    assert plant.diagnose(q).dof == 1
    point = cmb.trim(plant, q)
    assert point.u[0] > 0.0
    run = cmb.simulate(plant, point.u, q, t_end=1.0)
    assert np.abs(run.q - point.q).max() < 1e-9


def test_copies_know_their_cylinders():
    plant = lever()
    for other in (pickle.loads(pickle.dumps(plant)), plant.with_parts(gravity=(0, 0, 0)), plant.with_loads({})):
        assert [c.name for c in other.cylinders] == ["lift"]
        assert other.position_names == plant.position_names


@pytest.mark.parametrize(("options", "words"), [
    ({"stroke": (1.6, 0.9)}, ("stroke", "retracted")),
    ({"stroke": (0.0, 0.9)}, ("stroke", "0 < retracted")),
    ({"stroke": (0.5, 1.6)}, ("leave the barrel", "twice")),
    ({"rod": 0.2}, ("does not fit",)),
    ({"bore": -0.1}, ("bore of cylinder 'lift'",)),
    ({"bore": None}, ("mass=(barrel, rod)",)),
    ({"bore": None, "rod": None, "mass": (1.0, 1.0), "pressure": 1e7}, ("pressure", "bore=")),
    ({"mass": (1.0, -1.0)}, ("mass of cylinder 'lift'", "above zero")),
    ({"damping": -1.0}, ("damping",)),
    ({"pressure": 0.0}, ("pressure of cylinder 'lift'",)),
    ({"axis": (0, 0, 0)}, ("axis of cylinder 'lift'",)),
])  # fmt: skip
def test_wrong_ones_are_told(options, words):
    refuses(lambda: lever(**options), *words, kind=ValueError)


def test_other_mistakes():
    refuses(lambda: Cylinder("lift", "boom", "boom", stroke=(1.0, 1.5), mass=(1, 1)), "itself")
    refuses(lambda: Mechanism("m", [], [], cylinders=["lift"]), "not a cylinder", kind=TypeError)
    bare = Cylinder("lift", "ground", "boom", stroke=(1.0, 1.5), mass=(1, 1))
    refuses(lambda: bare.area, "no bore", kind=ValueError)
