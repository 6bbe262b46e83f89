"""Machines whose motors reach none of their degrees of freedom, or not all: every law says so, or leaves these alone.

A shaft turns in two bearings, one of them on an arm whose hinge has the motor: the arm cannot move, the shaft spins
freely, and Z'B is rounding.
"""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import controllers
from cmbcontrol.controllers import MotionLaw
from cmbcontrol.dynamics.forces import motor_effort

pytestmark = pytest.mark.nojit_slow

SEEDS = range(50)


def shaft(seed, size=1.0, gear=1.0, more=(), gravity=9.81):
    """The machine, and its configuration; the shaft's centre of mass is off its axis."""
    rng = np.random.default_rng(seed)
    axis, place = rng.standard_normal(3), rng.uniform(-size, size, 3)
    bearing = cmb.Frame.turned(rng.standard_normal(3), 0.8, rng.uniform(-size, size, 3))
    inertia = 0.1 * size**2 * np.array([1.0, 1.0, 0.5])
    bodies = [
        cmb.Body("arm", 1.0, (0.3 * size, 0.1 * size, 0.0), inertia),
        cmb.Body("shaft", 1.0, (0.05 * size, 0.0, 0.1 * size), inertia),
    ]
    tree = [
        cmb.Revolute("hinge", "ground", "arm", axis=axis, frame=cmb.Frame(place)),
        cmb.Revolute("spin", "arm", "shaft", frame=bearing),
    ]
    q = np.array([0.4, 0.7])
    away = cmb.Frame((0.0, 0.0, 0.5 * size))
    at = cmb.Mechanism("tree", bodies, tree).pose(q, "shaft")
    far = cmb.Revolute("far_bearing", "ground", "shaft", frame=at @ away, child_frame=away)
    motors = [cmb.Actuator("hinge", gear=gear), *more]
    pull = (0.0, 0.0, -gravity * size)
    return cmb.Mechanism("shaft in two bearings", bodies, tree, [far], actuators=motors, gravity=pull), q


class Rest(MotionLaw):
    """A motion law that wants the shaft to speed up."""

    def __init__(self, plant):
        self.plant = plant

    def desired_acceleration(self, t, terms):
        return terms.Cv + terms.Z @ np.ones(terms.dof)


def bounded(u, terms):
    """Efforts are of the order of the forces at hand, or less."""
    return np.abs(u).max(initial=0.0) <= 1e3 * (np.abs(terms.h).max() + np.abs(terms.M).max())


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
def test_no_effort_is_found_for_what_no_motor_reaches(size):
    for seed in SEEDS if size == 1.0 else SEEDS[:10]:
        plant, q = shaft(seed, size)
        terms = plant.terms(q, [0.0, 0.0])
        assert terms.dof == 1
        assert plant.diagnose(q).actuation.rank == cmb.actuation(plant, q).rank == 0
        for at in (q, np.add(q, [0.0, 1.1])):
            with pytest.raises(cmb.errors.ActuationError, match="reach 0 of 1 degrees of freedom"):
                cmb.inverse_dynamics(plant, at, [0.0, 0.0], [0.0, 1.0])
        nearest = motor_effort(terms, [0.0, 1.0], strict=False)
        assert (nearest.u == 0.0).all()
        with pytest.raises(cmb.errors.EquilibriumError, match="cannot hold"):
            cmb.trim(plant, q)


def laws(plant, q):
    """How to make each law; most refuse the machine."""
    reference = cmb.Constant([q[1] + 0.1])
    task, projected = controllers.Coordinates(plant, ["spin"]), controllers.ProjectedInverseDynamics
    yield "projected", lambda: projected(plant, "spin", reference, bandwidth=5.0)
    yield "consistent", lambda: projected(plant, task, reference, bandwidth=5.0, consistent=True)
    yield "impedance", lambda: controllers.Impedance(plant, "spin", reference, 20.0, 5.0)
    yield "gravity", lambda: controllers.GravityPD(plant, reference, coordinates=["spin"], kp=20.0, kd=5.0)
    yield "force", lambda: controllers.ConstraintForcePI(plant, [1.0], ["far_bearing_z"])
    yield "whole force", lambda: controllers.ConstraintForcePI(plant, [1.0, 0.0])
    yield "passive", lambda: controllers.PassiveJoints(Rest(plant))
    yield "limited", lambda: controllers.ConstrainedActuation(Rest(plant), limits=1e30)
    yield "unlimited", lambda: controllers.ConstrainedActuation(Rest(plant))


def test_every_law_refuses_or_leaves_alone_what_no_motor_reaches():
    refused = set()
    for seed in SEEDS:
        plant, q = shaft(seed)
        terms = plant.terms(q, [0.0, 0.3])
        for name, make in laws(plant, q):
            try:
                law = make()
                u = law(0.0, terms, law.start(plant))
            except cmb.errors.ActuationError:
                refused.add(name)
                continue
            assert bounded(u, terms), (name, seed, u)
    assert refused == {"projected", "consistent", "impedance", "gravity", "passive", "force"}


def test_a_freedom_that_is_reached_keeps_its_efforts_beside_one_that_is_not():
    """A second motor on the shaft's bearing: all is reached, and the one at the hinge gives what it likes."""
    for seed in SEEDS:
        plant, q = shaft(seed, more=[cmb.Actuator("spin", name="bearing")])
        terms = plant.terms(q, [0.0, 0.0])
        u = cmb.inverse_dynamics(plant, q, [0.0, 0.0], [0.0, 1.0]).u
        assert bounded(u, terms) and abs(u[0]) <= 1e-9 * abs(u[1])
        law = controllers.HybridMotionForce(
            controllers.ProjectedInverseDynamics(plant, "spin", cmb.Constant([q[1]]), bandwidth=5.0),
            controllers.ConstraintForcePI(plant, [1.0, 0.0]),
        )
        assert bounded(law(0.0, terms, law.start(plant)), terms)
        assert len(cmb.linear.preload_directions(plant, cmb.trim(plant, q))) == 1


def test_a_torque_across_all_axes_moves_nothing():
    """Two links in a turned plane, and torques on them about axes in this plane: B itself is rounding."""
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        plane = cmb.Frame.turned(rng.standard_normal(3), rng.uniform(-3.0, 3.0), rng.uniform(-1.0, 1.0, 3))
        across = [plane.R @ [*rng.standard_normal(2), 0.0] for _ in range(2)]
        bodies = [cmb.Body(name, 1.0, (0.5, 0.0, 0.0), (0.1, 0.1, 0.1)) for name in ("a", "b")]
        tree = [
            cmb.Revolute("a", "ground", "a", frame=plane),
            cmb.Revolute("b", "a", "b", frame=cmb.Frame((1.0, 0.0, 0.0))),
        ]
        motors = [
            cmb.Actuator(f"motor_{body}", bodies=("ground", body), axis=axis)
            for body, axis in zip("ab", across, strict=True)
        ]
        plant = cmb.Mechanism("links", bodies, tree, actuators=motors, gravity=(1.0, -9.0, 2.0))
        q = rng.uniform(-1.0, 1.0, 2)
        assert (plant.terms(q, [0.0, 0.0]).B == 0.0).all()
        assert plant.diagnose(q).actuation.rank == 0
        with pytest.raises(cmb.errors.ActuationError, match="reach 0 of 2 degrees of freedom"):
            cmb.inverse_dynamics(plant, q, [0.0, 0.0], [0.0, 0.0])
        with pytest.raises(cmb.errors.EquilibriumError, match="cannot hold"):
            cmb.trim(plant, q)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
def test_a_machine_without_any_force_rests_everywhere(size):
    """Its stiffness is rounding: neither unstable, nor unsymmetric, nor what drives a joint."""
    for seed in SEEDS[:4]:
        plant, q = shaft(seed, size, gravity=0.0)
        point = cmb.trim(plant, q, free="all", stable=True)
        assert point.report.family == 1 and (point.u == 0.0).all()
        lin = cmb.linearize(plant, point)
        assert lin.undamped_modes().eigenvalue.values.tolist() == [0j]
        with pytest.raises(ValueError, match="cannot be driven independently"):
            cmb.linearize(plant, point, inputs=["hinge_acceleration"])
