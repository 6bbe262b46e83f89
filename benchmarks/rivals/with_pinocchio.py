"""Both machines in Pinocchio: a tree of revolute joints with rigid point constraints at the cuts."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from . import common
from .common import Array, Evaluation, Machine, Run

FIRST_LCABA = 12

SETTINGS = {
    "model": "JointModelRZ per rod, one CONTACT_3D RigidConstraintModel per cut; its third "
    "row is redundant in the plane, so mu must be positive (the default mu = 0 gives nan)",
    "forward dynamics": "constraintDynamics with ProximalSettings(mu=1e-12, max_iter=1): one "
    f"factorisation, off by about 1e-12; for N >= {FIRST_LCABA} lcaba (linear in N) with mu=1e-5, "
    "max_iter=3, off by about 1e-7",
    "simulation": "scipy DOP853 around constraintDynamics with its own Baumgarte corrector; not "
    "lcaba, whose corrector had no effect on point constraints: its runs drift and fail at the "
    "singular configurations",
    "five-bar regular": "mu=1e-6, max_iter=20, Baumgarte 10/s",
    "five-bar second and N four-bar": "mu=1e-6, max_iter=20, Baumgarte 30/s: the iterated proximal step "
    "damps the passage through the singular configuration; found by scanning against the known motion, with "
    "one iteration the energy drifts by joules or the branch is lost",
    "five-bar singular": "mu=1e-14, max_iter=1, Baumgarte 10/s: the rank is lost only at the start itself",
}


class Closed(NamedTuple):
    """A Pinocchio model with its constraints and their work spaces."""

    model: Any
    data: Any
    constraints: Any
    workspaces: Any


def available() -> bool:
    """Tell whether Pinocchio can be imported."""
    return find_spec("pinocchio") is not None


def version() -> str:
    """Return Pinocchio's version."""
    import pinocchio as pin

    return str(pin.__version__)


def forward_dynamics(machine: Machine) -> Evaluation:
    """Return one constrained forward dynamics at the fixed regular state."""
    import pinocchio as pin

    q, v, torque = common.regular_state(machine)
    closed = _build(machine)
    if len(closed.constraints) >= FIRST_LCABA:
        pin.computeJointMinimalOrdering(closed.model, closed.data, closed.constraints)
        call, proximal = pin.lcaba, pin.ProximalSettings(1e-12, 1e-5, 3)
    else:
        pin.initConstraintDynamics(closed.model, closed.data, closed.constraints, closed.workspaces)
        call, proximal = pin.constraintDynamics, pin.ProximalSettings(1e-12, 1e-12, 1)
    return common.evaluation(
        call, closed.model, closed.data, q, v, torque, closed.constraints, closed.workspaces, proximal
    )


def derivatives(machine: Machine) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return one constrained forward dynamics, and the same with its analytic derivatives, at the regular state.

    To be timed: between two moving bodies the derivatives of point contacts are wrong (see ``linear_pinocchio``).
    """
    import pinocchio as pin

    q, v, torque = common.regular_state(machine)
    closed = _build(machine)
    pin.initConstraintDynamics(*closed)
    loops = closed.constraints, closed.workspaces, pin.ProximalSettings(1e-12, 1e-12, 1)

    def dynamics() -> Any:
        return pin.constraintDynamics(closed.model, closed.data, q, v, torque, *loops)

    def slopes() -> Any:
        dynamics()
        return pin.computeConstraintDynamicsDerivatives(closed.model, closed.data, *loops)

    return dynamics, slopes


def simulate(machine: Machine, start: str, t_end: float, **accuracy: float) -> Run:
    """Integrate from a named start at rest or in motion and measure the run.

    Parameters
    ----------
    machine, start, t_end
        See `common`.
    **accuracy
        `rtol` of DOP853 (also its atol), `baumgarte` in 1/s, `mu` and `iterations` of the proximal solver;
        what is left out comes from `defaults`.
    """
    chosen = defaults(machine, start) | accuracy
    q, v = common.initial_state(machine, start)
    rate = _rate(machine, chosen["baumgarte"], chosen["mu"], int(chosen["iterations"]))
    times, size = common.output_times(t_end), len(q)

    def run(until: float) -> Any:
        return solve_ivp(
            rate,
            (0.0, until),
            np.concatenate([q, v]),
            method="DOP853",
            t_eval=times[times <= until],
            rtol=chosen["rtol"],
            atol=chosen["rtol"],
        )

    run(common.OUTPUT_STEP)
    wall, done = common.timed(lambda: run(t_end))
    states = done.y[:size].T, done.y[size:].T
    return common.assess(machine, start, t_end, done.t, states, wall, done.nfev)


def defaults(machine: Machine, start: str) -> dict[str, float]:
    """Return the accuracy settings found best for a start."""
    if start == "singular":
        return {"rtol": 1e-10, "baumgarte": 10.0, "mu": 1e-14, "iterations": 1}
    baumgarte = 10.0 if start == "regular" else 30.0
    return {"rtol": 1e-10, "baumgarte": baumgarte, "mu": 1e-6, "iterations": 20}


def ladder(machine: Machine, start: str) -> list[dict[str, float]]:
    """Return accuracy settings from coarse to fine."""
    return [{"rtol": 10.0**-k} for k in (5, 6, 7, 8, 9, 10, 11, 12)]


def _build(machine: Machine, baumgarte: float = 0.0) -> Closed:
    import pinocchio as pin

    rods = common.tree(machine)
    model = pin.Model()
    model.gravity.linear = np.array([0.0, -common.GRAVITY, 0.0])
    joints: list[int] = []
    for rod, parent in enumerate(rods.parent):
        place = _shift(*rods.pivot[rod])
        joint = model.addJoint(joints[parent] if parent >= 0 else 0, pin.JointModelRZ(), place, f"rod{rod}")
        spin = rods.inertia[rod] * np.diag([1e-3, 1.0, 1.0])
        body = pin.Inertia(rods.mass[rod], np.array([rods.length[rod] / 2, 0.0, 0.0]), spin)
        model.appendBodyToJoint(joint, body, pin.SE3.Identity())
        joints.append(joint)
    constraints, workspaces = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for one, other in rods.loops:
        ends = joints[one], _shift(rods.length[one], 0.0), joints[other], _shift(rods.length[other], 0.0)
        cut = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, *ends, pin.LOCAL_WORLD_ALIGNED)
        cut.m_baumgarte_parameters.Kp = baumgarte**2
        cut.m_baumgarte_parameters.Kd = 2.0 * baumgarte
        constraints.append(cut)
        workspaces.append(cut.createData())
    return Closed(model, model.createData(), constraints, workspaces)


def _shift(x: float, y: float) -> Any:
    import pinocchio as pin

    return pin.SE3(np.eye(3), np.array([x, y, 0.0]))


def _rate(machine: Machine, baumgarte: float, mu: float, iterations: int) -> Callable[[float, Array], Array]:
    """Return the right-hand side of the passive motion for the integrator."""
    import pinocchio as pin

    model, data, constraints, workspaces = _build(machine, baumgarte)
    pin.initConstraintDynamics(model, data, constraints, workspaces)
    proximal, solve = pin.ProximalSettings(1e-12, mu, iterations), pin.constraintDynamics
    size, torque = model.nv, np.zeros(model.nv)

    def rate(_t: float, y: Array) -> Array:
        out = np.empty(2 * size)
        out[:size] = v = y[size:]
        out[size:] = solve(model, data, y[:size], v, torque, constraints, workspaces, proximal)
        return out

    return rate
