"""Derivatives of a law, which is evaluated at states along the manifold, so that it may be any Python code.

The law is continuous or sampled, may have states of its own, and may hold another model than the plant. Where generated
code of it is requested, derivatives are exact.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._tolerance import ROUNDING, spans
from ..dynamics.differences import ORDER_8
from ..dynamics.forces import measured_force
from ..errors import CmbError, InputError, InputTypeError
from ..linear.model import LinearModel
from ..model.plant import Plant
from ..model.terms import Terms
from .chain import names_of_states
from .controller import Controller, Drive, Evaluation, as_controller, evaluated, moved, start_of
from .law_slopes import slopes_of

__all__ = ["FrozenLaw", "Gains", "HeldCommand", "Ways", "law_gains", "state_sizes", "unit_efforts"]

Array = NDArray[np.float64]

# Of the differences, in radians or sizes of the machine (or a large change of what else varies). The last ones are for
# what is smooth over a short way only: a velocity that is a difference of positions a millisecond apart, friction that
# turns within a millimetre a second.
_STEPS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
_SMOOTH = 1e-6  # agreement of the differences with those of half the step, relative
_CORNER = 1e-3  # jump of the slope, relative
_LIMITED = 12  # tenths, down to which changes are looked at that limits do not cut off
_FELT = 1e-10  # of a unit: a state that changes efforts by less does not act on them


class FrozenLaw:
    """A law at a frozen time, as a function of the plant's state, of its own states and of signals of its reference.

    The states are those of the law itself; where it is sampled and measures the constraint force, the efforts that
    acted before the sample (the force depends on them); and those of the drive behind its held efforts.

    Attributes
    ----------
    period : float or None
    start : ndarray, shape (n,)
        Initial states.
    free : ndarray of int
        States that change at all; the others are constants of the law.
    sampled : ndarray of bool, as many as free
        Mask of the free states that have a next value; the others have a rate.
    reference : tuple of ndarray, or None
        Position, velocity and acceleration, (k,) each, where the law has a reference that can be replaced.
    slopes : LawSlopes or None
        Exact derivatives, where a configuration `trace_at` is given and the law can be traced there.
    """

    def __init__(
        self, plant: Plant, law: Any, t: float, *, with_drive: bool = True, trace_at: Array | None = None
    ) -> None:
        self.plant, self.law, self.t = plant, as_controller(law, plant), t
        self.name = self.law.name
        if self.law.rough:
            raise InputError(
                f"{self.name} reads positions in steps or with noise, which cannot be linearized. Take the sensors "
                "from the chain for the linear model: chain.without(Encoder)."
            )
        self.period, self.measures_force = self.law.period, self.law.measures_force
        self.drive = self.law.drive if with_drive and self.period is not None else None
        own, driven = start_of(self.law, plant), np.zeros(0) if self.drive is None else start_of(self.drive, plant)
        before = np.zeros(plant.nu if self.measures_force and self.period is not None else 0)
        self.start = np.concatenate([own, before, driven])
        self._ends = (own.size, own.size + before.size)
        self.free = np.arange(self.start.size)
        self.sampled = (self.free < self._ends[1]) & (self.period is not None)
        self.reference = self._find_reference()
        plain = trace_at is not None and not self.measures_force and self.drive is None
        self.slopes = slopes_of(plant, self.law, t, trace_at) if plain else None

    def without_drive(self, trace_at: Array | None) -> FrozenLaw:
        """The law alone, without the drive behind its held efforts."""
        return (
            self if self.drive is None else FrozenLaw(self.plant, self.law, self.t, with_drive=False, trace_at=trace_at)
        )

    @property
    def moves(self) -> bool:
        """Whether any state changes."""
        return self.free.size > 0

    @property
    def state_names(self) -> list[str]:
        """Names of the free states."""
        own = names_of_states(self.law, self.plant)
        before = [f"{n}_effort_before" for n in self.plant.actuator_names[: self._ends[1] - self._ends[0]]]
        driven = [] if self.drive is None else names_of_states(self.drive, self.plant, "drive")
        return [[*own, *before, *driven][i] for i in self.free]

    def split(self, state: Array) -> tuple[Array, Array, Array]:
        """States of the law itself, efforts before the sample, states of the drive."""
        first, second = self._ends
        return state[:first], state[first:second], state[second:]

    @property
    def coordinates(self) -> tuple[str, ...] | None:
        """Coordinates of the plant that the law controls, if they belong to its reference; else None."""
        names, plant = self.law.coordinates, self.plant
        if not isinstance(names, (tuple, list)) or not set(names) <= {*plant.velocity_names} & {*plant.position_names}:
            return None
        return tuple(names) if self.reference is None or self.reference[0].size == len(names) else None

    @property
    def signals(self) -> tuple[tuple[str, str], ...]:
        """Name and unit of each value of the reference."""
        if self.reference is None:
            return ()
        k = self.reference[0].size
        names, units = self.law.coordinates, None if self.law.task is None else self.law.task.units
        if not isinstance(names, (tuple, list)) or len(names) != k:
            return tuple((f"y{i + 1}", "") for i in range(k))
        units_of = dict(zip(self.plant.position_names, self.plant.position_units, strict=True))
        units = units if units is not None and len(units) == k else [units_of.get(n, "") for n in names]
        return tuple(zip(names, units, strict=True))

    def _find_reference(self) -> tuple[Array, Array, Array] | None:
        """Position, velocity and acceleration of the law's reference at t; None where it has no such reference."""
        if self.law.reference is None:
            return None
        parts = tuple(np.asarray(x, dtype=np.float64) for x in self.law.reference(self.t))
        same = len(parts) == 3 and parts[0].ndim == 1 and len({x.shape for x in parts}) == 1
        return parts if same else None  # type: ignore[return-value]

    def __call__(
        self, terms: Terms, state: Array, shift: Array | None = None, acting: Array | None = None
    ) -> tuple[Array, Array]:
        """Efforts u (nu,), and rates or next values of the free states.

        The signals of the reference may be shifted. A measured force is that under the efforts of the law itself, or
        under those given as `acting`.
        """
        law = self.law if shift is None else self._shifted(shift)
        own, before, driven = self.split(state)
        sampled_force = self.measures_force and self.period is not None
        measured = measured_force(terms, before) if sampled_force else terms
        evaluation = evaluated(law, self.t, measured, own)
        command = u = self._efforts(evaluation.effort, self.name)
        driving = None
        if self.drive is not None:
            driving = self.drive.evaluate(self.t, terms, command, driven)
            u = self._efforts(driving.effort, f"the drive of {self.name}")
        acting = u if acting is None else acting
        if self.measures_force and not sampled_force and own.size:
            evaluation = evaluated(law, self.t, measured_force(terms, acting), own)
        sampled = self.period is not None
        states = [_check.vector(moved(evaluation, own, sampled), own.size, f"the states of {self.name}")]
        states.append(acting if sampled_force else before)
        if driving is not None:
            states.append(
                _check.vector(moved(driving, driven, False), driven.size, f"the states of the drive of {self.name}")
            )
        return u, np.concatenate(states)

    def _efforts(self, u: Any, what: str) -> Array:
        return _check.vector(u, self.plant.nu, f"the efforts of {what}", self.plant.actuator_names)

    def still(self, state: Array, moved: Array) -> Array:
        """Changes of the free states: their steps to the next sample, or their rates."""
        return moved - np.where(self.sampled, state[self.free], 0.0)

    def _shifted(self, shift: Array) -> Any:
        """Shallow copy of the law whose reference is shifted by constants (3 k,); the law itself is left alone."""
        position, velocity, acceleration = (
            x + d
            for x, d in zip(self.reference, np.split(shift, 3), strict=True)  # type: ignore[arg-type]
        )
        return self.law.with_reference(lambda t: (position, velocity, acceleration))


class HeldCommand(Controller):
    """A drive as a law in continuous time, whose last states are the command that is held."""

    def __init__(self, held: Drive) -> None:
        self.held = held

    @property
    def name(self) -> str:  # type: ignore[override]
        return "drive"

    def start(self, plant: Plant) -> Array:
        """Initial states of the drive, with a command of zero."""
        return np.concatenate([start_of(self.held, plant), np.zeros(plant.nu)])

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        """Efforts of the drive, and rates of its states; the command is held."""
        own, command = np.split(state, [state.size - terms.B.shape[1]])
        evaluation = self.held.evaluate(t, terms, command, own)
        return Evaluation(evaluation.effort, np.concatenate([moved(evaluation, own, False), np.zeros(command.size)]))


class Gains(NamedTuple):
    """Derivatives of the efforts u, and of the rates (or next values) of the law's free states c.

    By x = (y, y_v), c and the reference r; and, where the law measures the constraint force, by the efforts u that act.
    """

    u_x: Array
    u_c: Array
    u_r: Array
    c_x: Array
    c_c: Array
    c_r: Array
    c_u: Array

    def changing(self, law: FrozenLaw) -> NDArray[np.bool_]:
        """Which of the law's states change with anything; an integral without a gain is a constant.

        Differences of a next value that is the state itself have a slope of one, to rounding.
        """
        own = self.c_c - np.diag(law.sampled.astype(float))
        own[np.diag_indices_from(own)] *= np.abs(own.diagonal()) > ROUNDING
        return np.asarray(np.hstack([self.c_x, own, self.c_r, self.c_u]).any(axis=1))

    def of_states(self, some: NDArray[np.bool_]) -> Gains:
        """Those of some of the law's states, where the others are constants."""
        c_x, c_r, c_u = self.c_x[some], self.c_r[some], self.c_u[some]
        return Gains(self.u_x, self.u_c[:, some], self.u_r, c_x, self.c_c[np.ix_(some, some)], c_r, c_u)


class Ways(NamedTuple):
    """A state, and the directions that lead from it along the manifold.

    Attributes
    ----------
    q, v : ndarray, shape (nq,) and (nv,)
    K, N : ndarray, shape (nv, dof)
        Changes of q, and of v, with the independent coordinates; K is the change of v with their rates, too.
    names : tuple of str
        Names of the coordinates, and of their rates.
    """

    q: Array
    v: Array
    K: Array
    N: Array
    names: tuple[str, ...]

    @classmethod
    def of(cls, model: LinearModel) -> Ways:
        """Directions of the states of a linear model, from its operating point."""
        return cls(model.point.q, model.point.v, model.K, model.N, model.states)


def law_gains(law: FrozenLaw, ways: Ways, state: Array, *, whole: bool = True) -> Gains:
    """Derivatives of a law along the manifold, by code or by differences of order 8; only by y, c, u unless `whole`."""
    plant, nu = law.plant, law.plant.nu
    q, v, K, N, names = ways
    length, dof = plant.displacement_scale, K.shape[1]
    terms = plant.terms(q, v, law.t)
    u, rates = law(terms, state)
    acting = u if law.measures_force else None
    centre = np.concatenate([u, rates])
    columns: list[_Slope] = []

    def along(answer: Callable[[float], tuple[Array, Array]], scale: float, what: str, **way: Array) -> None:
        exact = None if law.slopes is None else law.slopes.along(q, v, state, _STEPS[0] * scale, **way)
        columns.append(_Slope(lambda s: np.concatenate(answer(s)), centre, scale, what, exact))

    def moving(dq: Array, dv: Array, what: str) -> None:
        scale = 1.0 / max(float(np.abs((dq if dq.any() else dv) / length).max(initial=0.0)), 1e-12)
        along(lambda s: law(_terms_along(law, q, v, dq, dv, s), state, None, acting), scale, what, dq=dq, dv=dv)

    for name, dq, dv in zip(names[:dof], K.T, N.T, strict=True):
        moving(dq, dv, name)
    for name, dv in zip(names[dof:], K.T, strict=True) if whole else ():
        moving(np.zeros(plant.nv), dv, name)
    n = len(columns)
    unit = unit_efforts(terms)
    sizes = state_sizes(law, terms, state, u, unit)
    for i, e, size in zip(law.free, np.eye(state.size)[law.free], sizes, strict=True):
        along(lambda s, e=e: law(terms, state + s * e, None, acting), size, f"its state {i + 1}", dstate=e)
    m = len(columns)
    units = np.tile(spans([unit for _, unit in law.signals], plant.size), 3)
    for e in np.eye(3 * law.reference[0].size) if whole and law.reference is not None else ():
        along(lambda s, e=e: law(terms, state, s * e, acting), float(e @ units), "its reference", dreference=e)
    r = len(columns)
    for e, size in zip(np.eye(nu), np.maximum(np.abs(u), unit), strict=True) if acting is not None else ():
        along(lambda s, e=e: law(terms, state, None, acting + s * e), size, "the constraint force")
    # how large each answer is: at the state itself, and what it becomes along the ways
    floor = np.concatenate([unit, np.full(rates.size, ROUNDING)])
    large = np.max([floor, np.abs(centre), *(np.abs(x.slope) * x.scale for x in columns)], axis=0)
    answers = [*(f"the effort of {x!r}" for x in plant.actuator_names), *(f"state {i + 1}" for i in law.free)]
    J = np.array([x.settled(large, law.name, answers) for x in columns]).reshape(len(columns), centre.size).T
    c_u = J[nu:, r:] if acting is not None else np.zeros((law.free.size, nu))
    return Gains(J[:nu, :n], J[:nu, n:m], J[:nu, m:r], J[nu:, :n], J[nu:, n:m], J[nu:, m:r], c_u)


def unit_efforts(terms: Terms) -> Array:
    """Efforts (nu,) that are large for this machine: they hold its weight, or move it by its size (a radian) in 1 s."""
    pushes = np.linalg.norm(terms.B / terms.unit_lengths[:, None], axis=0)  # N
    inertia = float(np.abs(terms.M / np.outer(terms.unit_lengths, terms.unit_lengths)).max(initial=0.0))  # kg
    size = float(terms.unit_lengths.max(initial=0.0))  # m
    return (terms.force_scale + inertia * size) / np.where(pushes > 0.0, pushes, 1.0)


def state_sizes(law: FrozenLaw, terms: Terms, state: Array, u: Array, unit: Array) -> Array:
    """Large changes of the free states of a law: those that change efforts by a unit or to a limit; else 1 or more."""
    sizes = np.maximum(1.0, np.abs(state[law.free]))
    for k, e in enumerate(np.eye(state.size)[law.free]):
        with contextlib.suppress(CmbError):  # a law need not bear any change of a state
            size, answer = sizes[k], _answer(law, terms, state, sizes[k] * e, u, unit)
            for _ in range(_LIMITED):
                smaller = _answer(law, terms, state, 0.1 * size * e, u, unit)
                if smaller <= 0.2 * answer:  # in proportion: no limit cuts it off
                    break
                size, answer = 0.1 * size, smaller
            if answer > _FELT:
                sizes[k] = size / (answer if size == sizes[k] else max(answer, 1.0))
    return np.maximum(sizes, np.abs(state[law.free]))


def _answer(law: FrozenLaw, terms: Terms, state: Array, change: Array, u: Array, unit: Array) -> float:
    """How much efforts change with the states of a law, in units."""
    return float((np.abs(law(terms, state + change, None, u)[0] - u) / unit).max(initial=0.0))


def _terms_along(law: FrozenLaw, q: Array, v: Array, dq: Array, dv: Array, s: float) -> Terms:
    """Equations of motion at a state on the manifold, a step s along (dq, dv) from (q, v)."""
    plant = law.plant
    q_moved = plant.close(plant.integrate(q, s * dq)) if dq.any() else q
    v_moved = v + s * dv
    return plant.terms(q_moved, v_moved, law.t, project=bool(v_moved.any()))


class _Slope:
    """Slope of a function at zero: exact, or by central differences of order 8 with a step that is checked.

    Parameters
    ----------
    function : callable
    centre : ndarray
        Value of the function at zero.
    scale : float
        Large change of its argument.
    what : str
        Name of the argument, for messages.
    exact : ndarray, optional
    """

    def __init__(
        self, function: Callable[[float], Array], centre: Array, scale: float, what: str, exact: Array | None
    ) -> None:
        self.function, self.centre, self.scale, self.what, self.exact = function, centre, scale, what, exact
        self._steps = iter(_STEPS)
        self._failed: Exception | None = None
        if exact is not None:
            self.slope = exact
        elif not self._next():
            raise self._failed  # type: ignore[misc]

    def _next(self) -> bool:
        """Take differences with the next smaller step at which the function has values; False where there is none."""
        for h in (step * self.scale for step in self._steps):
            try:
                values = {k: self.function(0.5 * k * h) for k in (1, -1, 2, -2, 3, -3, 4, -4, 6, -6, 8, -8)}
            except (InputError, InputTypeError):  # a mistake in a call, which another try does not mend
                raise
            except CmbError as failed:  # the manifold, or what the law can do, ends nearby
                self._failed = failed
                continue
            wide, fine = (
                np.sum([w / (0.5 * m * h) * (values[k * m] - values[-k * m]) for k, w in ORDER_8], axis=0)
                for m in (2, 1)
            )
            twice = 2.0 * self.centre
            near, far = (values[k] + values[-k] - twice for k in (1, 2))
            self.step, self.slope, self.gap = h, fine, wide - fine
            self.curvature = (4.0 * near - far) / h
            self.sides = np.array([self.centre - values[-1], values[1] - self.centre]) / (0.5 * h)
            return True
        return False

    def settled(self, large: Array, name: str, answers: list[str]) -> Array:
        """Slope on which half the step, and both sides, agree.

        The part that a central difference does not see, f(h) + f(-h) - 2 f(0), must fall with the square of the step:
        at a corner it falls with the step itself. All is relative to the size `large` of the answers, so that units and
        masses do not matter, and slopes that vanish are not compared with their rounding.

        Raises
        ------
        ValueError
            Where they agree at no step.
        """
        if self.exact is not None:
            return self.exact
        while True:
            size, noise = np.abs(self.slope / large).max(initial=0.0), ROUNDING / self.step
            gap, jump = np.abs(self.gap / large), np.abs(self.curvature / large)
            if (gap <= _SMOOTH * size + noise).all() and (jump <= _CORNER * size + 10.0 * noise).all():
                return self.slope
            worst = int(np.argmax(np.maximum(gap, jump)))
            if not self._next():
                break
        before, after = self.sides[:, worst]
        what = f"the law {name} along {self.what} is not smooth here: "
        if abs(self.gap[worst]) <= _CORNER * max(abs(before), abs(after)):  # each side has a slope
            raise InputError(
                f"{what}the slope of {answers[worst]} is {before:.6g} on one side and {after:.6g} on the other. "
                "Is it saturated, or does it switch at this state? Choose another point, or a smooth form of it."
            )
        raise InputError(
            f"{what}{answers[worst]} jumps or scatters: differences over {self.step:.3g} and over half of that give "
            f"slopes that are {abs(self.gap[worst]):.3g} apart. Does the law switch at this state, iterate with a "
            "loose tolerance, or use random numbers?"
        )
