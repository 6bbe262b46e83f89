"""Linear models of the planar machines from Pinocchio's derivatives of the constrained dynamics."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

import numpy as np

from . import planar
from .planar import GROUND, ORDER_8, TURN, Array, Machine

SETTINGS = {
    "model": "a joint a link, one CONTACT_3D a loop, no corrector (Kp = Kd = 0); springs are joint torques",
    "analytic": "computeConstraintDynamicsDerivatives after constraintDynamics; proximal mu 1e-12, up to 20 iterations",
    "differences": "constraintDynamics differenced with order 8 in independent coordinates at closed configurations",
    "poles": "of [0 1; da/dq da/dv] in all coordinates: those of the machine, and zeros for what the loops hold",
}


def available() -> bool:
    """Tell whether Pinocchio can be imported."""
    return find_spec("pinocchio") is not None


def version() -> str:
    """Return the version."""
    import pinocchio as pin

    return str(pin.__version__)


def poles(machine: Machine, q: Array) -> dict[str, Array]:
    """Return all poles in joint coordinates, and those of the motion that the loops allow."""
    closed = Closed(machine)
    in_q, in_v = closed.derivatives(q)
    n = len(q)
    full = np.block([[np.zeros((n, n)), np.eye(n)], [in_q, in_v]])
    return {
        "computeConstraintDynamicsDerivatives": np.linalg.eigvals(full),
        "differences of constraintDynamics": np.linalg.eigvals(by_differences(closed, q)),
    }


class Closed:
    """A machine with its loops as rigid point contacts."""

    def __init__(self, machine: Machine):
        import pinocchio as pin

        self.machine, self.model = machine, pin.Model()
        self.model.gravity.linear = np.array([0.0, -planar.GRAVITY, 0.0])
        joints = {TURN: pin.JointModelRZ, planar.SLIDE_X: pin.JointModelPX, planar.SLIDE_Y: pin.JointModelPY}
        ids = [0]
        for link in machine.links:
            parent = ids[link.parent + 1]
            joint = self.model.addJoint(parent, joints[link.joint](), _shift(*link.pivot), link.name)
            spin = link.inertia * np.diag([1e-3, 1.0, 1.0])
            body = pin.Inertia(link.mass, np.array([link.com, 0.0, 0.0]), spin)
            self.model.appendBodyToJoint(joint, body, pin.SE3.Identity())
            ids.append(joint)
        self.data = self.model.createData()
        self.loops, self.work = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for loop in machine.loops:
            # the moving link comes first: joint 1 must not be the ground
            ends = sorted(
                [(loop.one, loop.point_one), (loop.other, loop.point_other)], key=lambda end: end[0] == GROUND
            )
            sides = [x for link, point in ends for x in (ids[link + 1], _shift(*point))]
            contact = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, *sides, pin.LOCAL)
            contact.m_baumgarte_parameters.Kp = contact.m_baumgarte_parameters.Kd = 0.0
            self.loops.append(contact)
            self.work.append(contact.createData())
        pin.initConstraintDynamics(self.model, self.data, self.loops, self.work)
        self.proximal = pin.ProximalSettings(1e-14, 1e-12, 20)
        self.stiffness, self.rest, self.damping = (
            np.array([getattr(link, key) for link in machine.links]) for key in ("stiffness", "rest", "damping")
        )

    def acceleration(self, q: Array, v: Array) -> Array:
        """Constrained forward dynamics with the springs."""
        import pinocchio as pin

        torque = -self.stiffness * (q - self.rest) - self.damping * v
        return pin.constraintDynamics(self.model, self.data, q, v, torque, self.loops, self.work, self.proximal).copy()

    def derivatives(self, q: Array) -> tuple[Array, Array]:
        """Derivatives of the acceleration at rest by q and v, analytic."""
        import pinocchio as pin

        self.acceleration(q, np.zeros(len(q)))
        found = pin.computeConstraintDynamicsDerivatives(self.model, self.data, self.loops, self.work, self.proximal)
        in_q, in_v, in_torque = (np.array(x) for x in found[:3])
        return in_q - in_torque * self.stiffness, in_v - in_torque * self.damping


def by_differences(closed: Closed, q: Array, step: float = 0.01) -> Array:
    """State matrix in independent coordinates, by differences of the closed machine's acceleration."""
    machine, y = closed.machine, planar.independent(closed.machine, q)
    n, tangent = len(y), planar.tangent(closed.machine, q, y)

    def acceleration(dy: Array, rate: Array) -> Array:
        near = q.copy()
        near[y] += dy
        near = planar.closed(machine, near, y)
        # at rest the rate enters at first order only: quadratic terms vanish in central differences
        return closed.acceleration(near, tangent @ rate)[y]

    rest, A = np.zeros(n), np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    for k, e in enumerate(step * np.eye(n)):
        for i, w in ORDER_8:
            A[n:, k] += w / step * (acceleration(i * e, rest) - acceleration(-i * e, rest))
            A[n:, n + k] += w / step * (acceleration(rest, i * e) - acceleration(rest, -i * e))
    return A


# -- the analytic derivatives against differences, in space ------------------------------------------------------


def derivative_errors() -> Iterable[tuple[str, ...]]:
    """Yield type and frame of a contact, what its other side is, and the errors of the derivatives, relative.

    Two arms of seven and eight joints with random links, at a random closed configuration at rest, under random
    torques.
    """
    import pinocchio as pin

    for kind in ("CONTACT_3D", "CONTACT_6D"):
        for frame in ("LOCAL", "LOCAL_WORLD_ALIGNED"):
            for other in ("world", "moving body"):
                contact = getattr(pin.ContactType, kind), getattr(pin, frame), other == "world"
                by_q, along = _derivative_error(np.random.default_rng(0), *contact)
                yield kind, frame, other, f"{by_q:.0e}", f"{along:.0e}"


def _derivative_error(rng: np.random.Generator, kind: Any, frame: Any, world: bool) -> tuple[float, float]:
    """Largest error of da/dq, and of da/dq along the motions that the contact allows, over the largest da/dq."""
    import pinocchio as pin

    model = pin.Model()
    tips = [_arm(model, rng, joints) for joints in (7, 8)]
    data, n = model.createData(), model.nv
    q, torque = rng.uniform(-1.0, 1.0, n), rng.uniform(-5.0, 5.0, n)
    pin.forwardKinematics(model, data, q)
    near = pin.SE3(np.eye(3), rng.uniform(-0.3, 0.3, 3))
    at = data.oMi[tips[0]] * near
    other = (0, at) if world else (tips[1], data.oMi[tips[1]].inverse() * at)
    contact = pin.RigidConstraintModel(kind, model, tips[0], near, *other, frame)
    contact.m_baumgarte_parameters.Kp = contact.m_baumgarte_parameters.Kd = 0.0
    loops, work = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    loops.append(contact)
    work.append(contact.createData())
    pin.initConstraintDynamics(model, data, loops, work)
    proximal = pin.ProximalSettings(1e-14, 1e-12, 20)

    def acceleration(at: Array) -> Array:
        return pin.constraintDynamics(model, data, at, np.zeros(n), torque, loops, work, proximal).copy()

    step, sides = 3e-3, [(k, s, w) for k, w in ORDER_8 for s in (1, -1)]
    slopes = [sum(s * w * acceleration(q + s * k * step * e) for k, s, w in sides) / step for e in np.eye(n)]
    exact = np.array(slopes).T
    acceleration(q)
    found = pin.computeConstraintDynamicsDerivatives(model, data, loops, work, proximal)[0].copy()
    A = pin.getConstraintJacobian(model, data, contact, work[0])
    allowed = np.linalg.svd(A)[2][len(A) :].T
    off, size = found - exact, np.abs(exact).max()
    return np.abs(off).max() / size, np.abs(off @ allowed).max() / size


def _arm(model: Any, rng: np.random.Generator, joints: int) -> int:
    """Add an arm of random links, its axes along x, y, z in turn; returns its last joint."""
    import pinocchio as pin

    kinds, parent = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ), 0
    for k in range(joints):
        place = pin.SE3(np.eye(3), rng.uniform(-0.5, 0.5, 3))
        parent = model.addJoint(parent, kinds[k % 3](), place, f"joint{model.njoints}")
        body = pin.Inertia(1.3, rng.uniform(-0.3, 0.3, 3), np.diag([0.10, 0.12, 0.14]))
        model.appendBodyToJoint(parent, body, pin.SE3.Identity())
    return parent


def _shift(x: float, y: float) -> Any:
    import pinocchio as pin

    return pin.SE3(np.eye(3), np.array([x, y, 0.0]))
