"""Curve of equilibria along a parameter: its equations, predictor and corrector.

Equilibria are a curve in x = (motions of the free coordinates, parameter p). Motions are measured in radians and
sizes of the machine, the parameter in units of its range. A point is predicted along the tangent, and
corrected by Newton's method with the smallest corrections (Allgower and Georg, Numerical Continuation
Methods, 1990, chapters 2 and 3).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import UNREACHED, pinv
from ..errors import AssemblyError, EquilibriumError, InputError, InputTypeError, ModelError, SingularConfigurationError
from ..model.plant import Plant
from ..model.units import effort_units
from .equilibrium_solver import Balance, close_with
from .operating import OperatingPoint, point_of, starting_configuration, trim
from .static_efforts import Efforts, EffortValues, require_limits, static_efforts
from .statics import outside_limits, require_closed, require_holonomic, static_derivatives

__all__ = ["BranchLost", "Curve", "CurvePoint", "Family", "between", "distance", "family_of", "heading"]

Array = NDArray[np.float64]


# -- the parameter ------------------------------------------------------------------------------------------


class Family(NamedTuple):
    """Parameter of a branch, and the plant at each of its values."""

    make: Callable[[float], Plant]
    effort: int | None
    coordinate: int | None  # position
    label: str
    unit: str


def family_of(
    plant: Plant | Callable[[float], Plant],
    effort: str | None,
    coordinate: str | None,
    start: float,
    name: str | None,
    unit: str,
) -> Family:
    """Parameter from the arguments of `continue_equilibria`, checked."""
    if isinstance(plant, Plant):
        if name is not None or unit:
            raise InputError("name= and unit= are for a function value -> plant; this parameter has its own")
        if (effort is None) == (coordinate is None):
            raise InputError(
                "the parameter: give one of effort= (an actuator) and coordinate= (a position), or, in place of the "
                "plant, a function value -> plant"
            )
        if effort is not None:
            _check.one_of(effort, plant.actuator_names, "actuator")
            k = plant.actuator_names.index(effort)
            return Family(_ConstantPlant(plant), k, None, effort, effort_units(plant)[k])
        _check.one_of(coordinate, plant.position_names, "position coordinate")
        i = plant.position_names.index(coordinate)
        plant.velocity_of([i])
        return Family(_ConstantPlant(plant), None, i, coordinate, plant.position_units[i])
    if not callable(plant):
        raise InputTypeError(f"plant must be a plant or a function value -> plant, got {type(plant).__name__}")
    if effort is not None or coordinate is not None:
        raise InputError(
            "with a function value -> plant, its value is the parameter; leave out effort= and coordinate="
        )
    label = name or getattr(plant, "__name__", "parameter").strip("<>")
    return Family(_PlantFactory(plant, start), None, None, label, unit)


@dataclass(frozen=True)
class _ConstantPlant:
    """Function value -> plant that returns one plant at all values of the parameter."""

    plant: Plant

    def __call__(self, p: float) -> Plant:
        return self.plant


class _PlantFactory:
    """Function value -> plant that keeps its last plants. It refuses plants with other coordinates, motors or rows."""

    def __init__(self, make: Callable[[float], Plant], start: float) -> None:
        self.make, self.start, self.first_plant = make, start, make(start)
        if not isinstance(self.first_plant, Plant):
            raise InputTypeError(f"the function must return a plant, got {type(self.first_plant).__name__} at {start}")
        self.kept: dict[float, Plant] = {}

    def __call__(self, p: float) -> Plant:
        plant = self.kept.get(p)
        if plant is None:
            plant = self.make(p)
            for what in ("position_names", "velocity_names", "actuator_names", "row_names"):
                expected, names = getattr(self.first_plant, what), getattr(plant, what)
                if names != expected:
                    raise InputError(
                        f"the plants along the parameter must have the same {what}: {expected} at {self.start:.6g}, "
                        f"{names} at {p:.6g}"
                    )
            while len(self.kept) > 8:
                self.kept.pop(next(iter(self.kept)), None)
            self.kept[p] = plant
        return plant


# -- the curve ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CurvePoint:
    """Equilibrium (or a guess) with the equations to first order in x: dq = X dx, dp = P dx, dr = J dx.

    Attributes
    ----------
    frame : ndarray, shape (nv, n)
        Motions of the free coordinates, orthonormal in radians and sizes of the machine.
    tangent : ndarray
        Tangent of the branch in x, of unit length.
    """

    q: Array
    p: float
    balance: Balance
    frame: Array
    X: Array
    P: Array
    J: Array
    tangent: Array

    def project(self, direction: tuple[Array, float]) -> Array:
        """Coordinates x of a direction (dq in radians and sizes, dp in ranges)."""
        x = self.frame.T @ direction[0]
        return x if self.X.shape[1] == x.size else np.append(x, direction[1])

    def direction(self, x: Array) -> tuple[Array, float]:
        """Direction (dq in radians and sizes, dp in ranges) with coordinates x."""
        n = self.frame.shape[1]
        return self.frame @ x[:n], float(x[n]) if x.size > n else 0.0

    @property
    def heading(self) -> tuple[Array, float]:
        """Tangent as a direction (dq in radians and sizes, dp in ranges)."""
        return self.direction(self.tangent)


class BranchLost(Exception):
    """Raised where the corrector does not converge to a point of the branch."""


class Curve:
    """Curve of the equations Y'Z'(h - B u) = 0 on the closed loops, in x."""

    bounds: tuple[float, float]
    step: float
    max_points: int
    tolerance: float

    def __init__(
        self,
        family: Family,
        start: float,
        stop: float,
        u: EffortValues | float | None,
        preload: EffortValues | float | None,
        weight: ArrayLike | None,
        free: str | Collection[str],
        hold: Collection[str] | None,
        q: ArrayLike | Mapping[str, float],
    ) -> None:
        self.family, self.start, self.stop, self.range = family, start, stop, abs(stop - start)
        plant = self.plant = family.make(start)
        self.options: dict[str, Any] = {"preload": preload, "weight": weight}
        free = () if hold is not None and free == "all" else free
        self.free = starting_configuration(plant, plant.configuration(q), free, hold)[1]
        self.unprescribed = self.free.copy()
        self.u = u
        if family.effort is not None:
            for p in (start, stop):  # a wider range ends at the actuator's limit
                require_limits(plant, np.where(np.arange(plant.nu) == family.effort, p, 0.0))
            self.u = self._named(u)
        if family.coordinate is not None:
            k = plant.velocity_of([family.coordinate])[0]
            self.free[k], self.unprescribed[k] = True, False
        if not self.free.any():
            raise InputError("no coordinate is free to move; name some with free=, or fewer with hold=")
        if family.coordinate is not None and not Efforts.of(plant, u, preload, weight).unknown.any():
            raise InputError(
                f"no motor can hold {family.label!r}: all efforts are given. Leave some out of u=, or choose an effort "
                "as the parameter"
            )

    def _named(self, u: EffortValues | float | None) -> dict[str, Any]:
        """Given efforts by the names of the actuators."""
        if u is None or isinstance(u, Mapping):
            return dict(u or {})
        full = np.broadcast_to(np.asarray(u, dtype=np.float64), self.plant.nu) if np.ndim(u) == 0 else u
        full = _check.vector(full, self.plant.nu, "u", self.plant.actuator_names)
        return dict(zip(self.plant.actuator_names, full.tolist(), strict=True))

    def plant_at(self, p: float) -> Plant:
        """Plant at a value of the parameter; BranchLost where it does not exist, beyond the range."""
        try:
            return self.family.make(p)
        except Exception as error:
            if not self.bounds[0] <= p <= self.bounds[1]:
                raise BranchLost from error
            raise RuntimeError(f"the plant cannot be built at {p:.6g}: {error}") from error

    def efforts(self, plant: Plant, p: float) -> Efforts:
        """Given and unknown efforts at a value of the parameter."""
        k = self.family.effort
        if k is None:
            return Efforts.of(plant, self.u, **self.options)
        limit = plant.effort[k]
        efforts = Efforts.of(plant, {**self.u, self.family.label: float(np.clip(p, -limit, limit))}, **self.options)
        efforts.value[k] = p  # steps may lead a little beyond the limit
        return efforts

    # -- points -------------------------------------------------------------------------------------------

    def first(self, q: ArrayLike | Mapping[str, float]) -> CurvePoint:
        """Equilibrium at the start, with the tangent towards the stop."""
        plant, family = self.plant, self.family
        q = plant.configuration(q)
        motors = self.u if family.effort is None else {**self.u, family.label: self.start}
        if family.coordinate is not None and q[family.coordinate] != self.start:
            keep = {plant.position_names[i]: q[i] for i, k in plant.paired if not self.free[k]}
            q = plant.assemble(guess=q, **{**keep, family.label: self.start})
        require_closed(plant, q)
        require_holonomic(plant, q)
        names = tuple(n for n, m in zip(plant.velocity_names, self.unprescribed, strict=True) if m)
        point = trim(plant, q, u=motors, free=names, tolerance=self.tolerance, **self.options)
        node = self.node(point.q, self.start, None)
        ahead = node.P * np.sign(self.stop - self.start)
        tangent = _tangent(node, ahead)
        if tangent is None:  # a fold: either way
            directions = node.balance.null_motions(node.J)
            tangent = directions.T[-1]
            if directions.shape[1] > 1:
                raise EquilibriumError(
                    f"{plant.name!r} has no equilibrium beside {family.label} = {self.start:.6g}: it has a family "
                    "of equilibria there, and none at other values. Hold more coordinates, give the other efforts, or "
                    "choose another parameter."
                )
        return _with_tangent(node, tangent)

    def node(self, q: Array, p: float, heading: tuple[Array, float] | None) -> CurvePoint:
        """Node with the equations at the nearest configuration with closed loops."""
        family = self.family
        plant = self.plant_at(p)
        q = close_with(plant, q, self.free)
        if family.coordinate is not None:
            p = float(q[family.coordinate])
        balance = Balance(plant, q, self.efforts(plant, p), self.free)
        if not np.isfinite(balance.relative):
            raise BranchLost
        length = plant.displacement_scale
        frame = np.linalg.qr(balance.motions / length[:, None])[0]
        F = length[:, None] * frame
        X, P = F, np.zeros(F.shape[1])
        force = balance.Y.T @ balance.local.Z.T  # from generalized forces to equations
        J = force @ balance.local.force_q @ F
        if family.coordinate is not None:
            P = F[plant.velocity_of([family.coordinate])[0]]
        else:
            shift, change = self._change(plant, balance, p, length)
            X = np.column_stack([X, shift * self.range])
            P = np.append(P, self.range)
            J = np.column_stack([J, force @ (balance.local.force_q @ shift + change) * self.range])
        node = CurvePoint(q, p, balance, frame, X, P, J, np.zeros(P.size))
        if heading is None:
            return node
        tangent = _tangent(node, node.project(heading))
        if tangent is None:
            raise BranchLost
        return _with_tangent(node, tangent)

    def _change(self, plant: Plant, balance: Balance, p: float, length: Array) -> tuple[Array, Array]:
        """Derivatives by the parameter: of the closed configuration, and of h + A' lam - B u at a fixed one."""
        shift = np.zeros(plant.nv)
        if self.family.effort is not None:
            return shift, -balance.local.B[:, self.family.effort]
        h = 1e-5 * self.range
        p = float(np.clip(p, self.bounds[0] + 2.0 * h, self.bounds[1] - 2.0 * h))  # plants may not exist beyond
        sides = [self._force(balance, p + s * h) for s in (1.0, -1.0, 2.0, -2.0)]
        phi, force = ((8.0 * (a - b) - (c - d)) / (12.0 * h) for a, b, c, d in zip(*sides, strict=True))
        if np.any(phi != 0.0):
            rows = plant.row_scale[:, None] * balance.local.A[:, self.free] * length[self.free]
            shift[self.free] = length[self.free] * (pinv(rows, plant.size, UNREACHED) @ (-plant.row_scale * phi))
        return shift, force

    def _force(self, balance: Balance, p: float) -> tuple[Array, Array]:
        """Residual of the loops and force at rest, of the plant at another value of the parameter."""
        terms = self.plant_at(p).terms(balance.q, np.zeros(balance.plant.nv))
        return terms.phi, terms.h + terms.A.T @ balance.lam - terms.B @ balance.u

    def correct(
        self,
        q: Array,
        p: float,
        heading: tuple[Array, float],
        value: float | None = None,
        across: tuple[Array, float] | None = None,
    ) -> CurvePoint:
        """Correct a point by Newton's method with the smallest steps; at fixed parameter, or without steps `across`.

        Raises
        ------
        BranchLost
            Where it does not converge.
        """
        best, residual = None, np.inf
        for _ in range(12):
            node = self.node(q, p, heading)
            off = 0.0 if value is None else value - node.p
            error = node.balance.relative + abs(off) / self.range
            if not error < residual:
                break
            best, residual = node, error
            if error < 1e-15:
                break
            rows, rhs = node.J, -node.balance.r
            unit = max(float(np.abs(node.J).max(initial=0.0)), 1e-300)
            if value is not None:
                rows, rhs = np.vstack([rows, unit * node.P / self.range]), np.append(rhs, unit * off / self.range)
            if across is not None:
                rows, rhs = np.vstack([rows, unit * node.project(across)]), np.append(rhs, 0.0)
            dx = np.linalg.lstsq(rows, rhs, rcond=1e-12)[0]
            if np.linalg.norm(dx) > 2.0:
                break
            q, p = node.balance.plant.integrate(node.q, node.X @ dx), node.p + float(node.P @ dx)
        if best is None or best.balance.relative > self.tolerance or (value is not None and residual > 1e-9):
            raise BranchLost
        return best

    def ahead(self, base: CurvePoint, s: float, value: float | None = None) -> CurvePoint:
        """Point of the branch after a step s, or where the parameter has a value."""
        if s == 0.0:
            return base
        x = s * base.tangent
        q, p = base.balance.plant.integrate(base.q, base.X @ x), base.p + float(base.P @ x)
        try:
            return self.correct(q, p if value is None else value, base.heading, value)
        except (AssemblyError, ModelError, EquilibriumError, SingularConfigurationError) as error:
            raise BranchLost from error

    def beside(self, node: CurvePoint, along: tuple[Array, float], sign: float) -> CurvePoint | None:
        """Point of the other branch through a branch point, with its tangent away from it; None if none is found.

        `along` is the direction of the branch that is known.
        """
        N = np.linalg.svd(node.J)[2][-2:].T
        c = N.T @ node.project(along)  # the null space is spanned by the tangents of both branches
        across = N @ np.array([-c[1], c[0]])
        across *= sign * np.sign(across[np.argmax(np.abs(across))]) / np.linalg.norm(across)
        for s in (0.5 * self.step, 0.1 * self.step, 0.02 * self.step):
            x = s * across
            side = node.direction(across)
            q, p = node.balance.plant.integrate(node.q, node.X @ x), node.p + float(node.P @ x)
            try:
                second = self.correct(q, p, side, across=side)
                return self.node(second.q, second.p, heading(self, node, second))
            except (BranchLost, AssemblyError, ModelError, EquilibriumError, SingularConfigurationError):
                continue
        return None

    # -- results at a point ----------------------------------------------------------------------------------

    def point(self, node: CurvePoint) -> OperatingPoint:
        """Operating point of a node, with efforts within the limits; EquilibriumError where there are none."""
        balance = node.balance
        return point_of(balance.plant, balance.terms, static_efforts(balance.plant, balance.terms, balance.efforts))

    def limit(self, node: CurvePoint) -> str | None:
        """Text with the joint or actuator limit that a point violates; None if there is none."""
        plant, q = node.balance.plant, node.q
        outside = outside_limits(plant, q)
        if outside.any():
            i = int(np.argmax(outside))
            return f"joint limit of {plant.position_names[i]!r}, {plant.limits[i].tolist()}"
        try:
            require_limits(plant, self.point(node).u)
        except EquilibriumError as error:
            return f"at {node.p:.6g}: {error}"
        return None

    def stability(self, node: CurvePoint, point: OperatingPoint) -> tuple[Array, NDArray[np.complex128]]:
        """Stiffnesses and eigenvalues of the motions that leave the held coordinates in place."""
        balance = node.balance
        local = balance.local
        if not np.array_equal(point.u, balance.u):
            local = static_derivatives(balance.plant, node.q, point.lam, point.u)
        F = local.Z @ balance.free_basis(self.unprescribed)
        K, D = F.T @ local.force_q @ F, F.T @ local.force_v @ F
        n = K.shape[0]
        poles = np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [-K, -D]]))
        return np.sort(np.linalg.eigvals(K).real), np.sort_complex(poles.astype(complex))


def _with_tangent(node: CurvePoint, tangent: Array) -> CurvePoint:
    return replace(node, tangent=tangent / np.linalg.norm(tangent))


def _tangent(node: CurvePoint, along: Array) -> Array | None:
    """Unit vector x with J x = 0 nearest to a direction; None where the direction is orthogonal to all such x."""
    N = node.balance.null_motions(node.J)
    t = N @ (N.T @ along)
    size = float(np.linalg.norm(t))
    return t / size if size > 1e-6 * np.linalg.norm(along) else None


def distance(curve: Curve, a: CurvePoint, b: CurvePoint) -> float:
    """Distance between two points, as arclength measures it."""
    way, along = heading(curve, a, b)
    return float(np.hypot(np.linalg.norm(way), along if curve.family.coordinate is None else 0.0))


def heading(curve: Curve, a: CurvePoint, b: CurvePoint) -> tuple[Array, float]:
    """Direction from one point to another (dq in radians and sizes, dp in ranges)."""
    plant = a.balance.plant
    return plant.difference(a.q, b.q) / plant.displacement_scale, (b.p - a.p) / curve.range


def between(curve: Curve, a: CurvePoint, b: CurvePoint, value: float) -> CurvePoint:
    """Point between two others where the parameter has this value."""
    share = (value - a.p) / (b.p - a.p) if b.p != a.p else 0.0
    plant = a.balance.plant
    q = plant.integrate(a.q, share * plant.difference(a.q, b.q))
    return curve.correct(q, value, (a if share < 0.5 else b).heading, value=value)
