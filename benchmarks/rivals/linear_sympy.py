"""Linear models of the planar machines from SymPy's symbolic mechanics, with dependent coordinates."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from . import planar
from .planar import GROUND, TURN, Array, Machine

SETTINGS = {
    "model": "the same links, joints and springs as symbols; each loop is two configuration constraints",
    "Kane": "KanesMethod with dependent coordinates and speeds, then linearize(A_and_B=True) at the equilibrium",
    "Lagrange": "LagrangesMethod with the loops as hol_coneqs, multipliers at rest, then the same",
    "linear_solver": "LU is the default of linearize, CRAMER the alternative",
}


def available() -> bool:
    """Tell whether SymPy can be imported."""
    return find_spec("sympy") is not None


def version() -> str:
    """Return the version."""
    import sympy

    return str(sympy.__version__)


def poles(machine: Machine, q: Array) -> dict[str, Array]:
    """Return eigenvalues by each method; nan where it fails."""
    y = planar.independent(machine, q)
    ways = {
        "KanesMethod, linear_solver=LU (default)": lambda: by_kane(machine, q, y, solver="LU"),
        "KanesMethod, linear_solver=CRAMER": lambda: by_kane(machine, q, y),
        "LagrangesMethod, linear_solver=CRAMER": lambda: by_lagrange(machine, q, y),
    }
    return {way: _eigenvalues(A) for way, A in ways.items()}


def _eigenvalues(A: Callable[[], Array]) -> Array:
    found = A()
    return np.linalg.eigvals(found) if np.isfinite(found).all() else np.full(len(found), np.nan)


class Symbolic:
    """Frames, points, bodies and loads of a machine."""

    def __init__(self, machine: Machine, twice: bool = False, speeds: bool = True):
        import sympy
        from sympy.physics import mechanics as me

        self.machine, n = machine, len(machine.links)
        self.q = me.dynamicsymbols(f"q:{n}")
        self.rates = [x.diff(me.dynamicsymbols._t) for x in self.q]
        self.u = me.dynamicsymbols(f"u:{n}") if speeds else self.rates
        self.N, self.O = me.ReferenceFrame("N"), me.Point("O")
        self.O.set_vel(self.N, 0)
        self.frames, self.origins = [], []
        self.bodies, self.loads, self.energy = [], [], sympy.S.Zero
        for i, link in enumerate(machine.links):
            self._add(i, link)
        self.loops = [row for loop in machine.loops for row in self._closed(loop)] * (1 + twice)

    def _add(self, i: int, link: planar.Link) -> None:
        import sympy
        from sympy.physics import mechanics as me

        N, base, turning = self.N, self._frame(link.parent), link.joint == TURN
        at = self._origin(link.parent).locatenew(f"P{i}", link.pivot[0] * base.x + link.pivot[1] * base.y)
        frame = base
        if turning:
            frame = base.orientnew(f"F{i}", "Axis", (self.q[i], base.z))
            frame.set_ang_vel(base, self.u[i] * base.z)
        else:
            at = at.locatenew(f"S{i}", self.q[i] * (base.x if link.joint == planar.SLIDE_X else base.y))
        self.frames.append(frame)
        self.origins.append(at)
        self.energy += link.stiffness * (self.q[i] - link.rest) ** 2 / 2
        if link.stiffness or link.damping:
            self._set_velocity(at)
            self.loads += self._joint_loads(i, -link.stiffness * (self.q[i] - link.rest))
            self.loads += self.drag(i, link)
        if link.mass:
            centre = at.locatenew(f"C{i}", link.com * frame.x)
            self._set_velocity(centre)
            inertia = me.inertia(frame, 0, 0, link.inertia)
            self.bodies.append(me.RigidBody(f"B{i}", centre, frame, sympy.Float(link.mass), (inertia, centre)))
            self.loads.append((centre, -link.mass * planar.GRAVITY * N.y))
            self.energy += link.mass * planar.GRAVITY * centre.pos_from(self.O).dot(N.y)

    def drag(self, i: int, link: planar.Link) -> list[Any]:
        """Friction of a joint as loads."""
        return self._joint_loads(i, -link.damping * self.u[i])

    def _joint_loads(self, i: int, force: Any) -> list[Any]:
        link = self.machine.links[i]
        base = self._frame(link.parent)
        if link.joint != TURN:
            return [(self.origins[i], force * (base.x if link.joint == planar.SLIDE_X else base.y))]
        return [(self.frames[i], force * self.N.z), (base, -force * self.N.z)]

    def _set_velocity(self, point: Any) -> None:
        speeds = dict(zip(self.rates, self.u, strict=True))
        velocity = point.pos_from(self.O).express(self.N).dt(self.N).subs(speeds)
        point.set_vel(self.N, velocity)

    def _frame(self, link: int) -> Any:
        return self.N if link == GROUND else self.frames[link]

    def _origin(self, link: int) -> Any:
        return self.O if link == GROUND else self.origins[link]

    def _closed(self, loop: planar.Loop) -> list[Any]:
        ends = []
        for link, (x, y) in ((loop.one, loop.point_one), (loop.other, loop.point_other)):
            frame = self._frame(link)
            ends.append(self._origin(link).pos_from(self.O) + x * frame.x + y * frame.y)
        gap = (ends[0] - ends[1]).express(self.N)
        return [gap.dot(self.N.x), gap.dot(self.N.y)]

    def split(self, y: list[int], of: list[Any]) -> tuple[list[Any], list[Any]]:
        """Independent and dependent ones."""
        return [of[k] for k in y], [x for k, x in enumerate(of) if k not in y]


def by_kane(machine: Machine, q: Array, y: list[int], twice: bool = False, solver: str = "CRAMER") -> Array:
    """State matrix by Kane's method; `twice` writes each loop twice."""
    from sympy.physics import mechanics as me

    model = Symbolic(machine, twice)
    time = me.dynamicsymbols._t
    speeds = dict(zip(model.rates, model.u, strict=True))
    (q_ind, q_dep), (u_ind, u_dep) = model.split(y, model.q), model.split(y, model.u)
    kane = me.KanesMethod(
        model.N,
        q_ind=q_ind,
        u_ind=u_ind,
        kd_eqs=[rate - u for rate, u in zip(model.rates, model.u, strict=True)],
        q_dependent=q_dep,
        u_dependent=u_dep,
        configuration_constraints=model.loops,
        velocity_constraints=[row.diff(time).subs(speeds) for row in model.loops],
        constraint_solver=solver,
    )
    kane.kanes_equations(model.bodies, model.loads)
    rest = dict.fromkeys(model.u, 0.0) | {u.diff(time): 0.0 for u in model.u} | dict.fromkeys(model.rates, 0.0)
    point = dict(zip(model.q, map(float, q), strict=True)) | rest
    A = kane.linearize(A_and_B=True, op_point=point, linear_solver=solver)[0]
    return np.array(A.evalf(), dtype=float)


def by_lagrange(machine: Machine, q: Array, y: list[int]) -> Array:
    """State matrix by Lagrange's equations with multipliers."""
    import sympy
    from sympy.physics import mechanics as me

    model = Symbolic(machine, speeds=False)
    drag = [load for k, link in enumerate(machine.links) if link.damping for load in model.drag(k, link)]
    lagrangian = sum(body.kinetic_energy(model.N) for body in model.bodies) - model.energy
    lagrange = me.LagrangesMethod(lagrangian, model.q, hol_coneqs=model.loops, forcelist=drag, frame=model.N)
    equations = lagrange.form_lagranges_equations()
    rest = dict.fromkeys(model.rates, 0.0) | {rate.diff(me.dynamicsymbols._t): 0.0 for rate in model.rates}
    point = rest | dict(zip(model.q, map(float, q), strict=True))
    at_rest = me.msubs(sympy.Matrix(equations), point)
    pull = np.array(at_rest.jacobian(lagrange.lam_vec), dtype=float)
    load = np.array(me.msubs(at_rest, dict.fromkeys(lagrange.lam_vec, 0.0)), dtype=float).ravel()
    point |= dict(zip(lagrange.lam_vec, map(float, np.linalg.lstsq(pull, -load)[0]), strict=True))
    (q_ind, q_dep), (v_ind, v_dep) = model.split(y, model.q), model.split(y, model.rates)
    A = lagrange.linearize(
        q_ind=q_ind, qd_ind=v_ind, q_dep=q_dep, qd_dep=v_dep, linear_solver="CRAMER", A_and_B=True, op_point=point
    )[0]
    return np.array(A.evalf(), dtype=float)
