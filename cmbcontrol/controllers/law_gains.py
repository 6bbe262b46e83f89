"""A law to first order: asked at states along the manifold, so that it may be any Python code.

Continuous or sampled, with states of its own; and it may hold another model than the plant.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..dynamics.differences import ORDER_8
from ..errors import CmbError
from ..linear.at_rest import coordinate_lengths
from ..linear.model import LinearModel
from ..model.base import PlantBase
from ..model.terms import Terms
from .protocol import as_controller, optional, period_of, start_of

__all__ = ["AskedLaw", "Gains", "law_gains"]

Array = NDArray[np.float64]

_STEPS = (1e-2, 1e-3, 1e-4)  # of the differences, in radians or sizes of the machine
_SMOOTH = 1e-6  # agreement of the differences with those of half the step, relative
_CORNER = 1e-3  # jump of the slope, relative


class AskedLaw:
    """A law at a frozen time: u and what becomes of its states, by the plant's state and by signals of its reference.

    Attributes
    ----------
    period : float or None
    start : ndarray, shape (n,)
        Initial states of the law.
    moves : bool
        Whether the states change at all; else they are constants of the law.
    reference : tuple of ndarray, or None
        Position, velocity and acceleration, (k,) each, where the law has a reference that can be replaced.
    """

    def __init__(self, plant: PlantBase, law: Any, t: float) -> None:
        self.plant, self.law, self.t = plant, as_controller(law, plant), t
        self.name = type(self.law).__name__
        self.period = period_of(self.law)
        self.start = start_of(self.law, plant)
        self.moves = self.start.size > 0 and optional(self.law, self._motion) is not None
        self.reference = self._find_reference()

    @property
    def _motion(self) -> str:
        return "derivative" if self.period is None else "update"

    @property
    def coordinates(self) -> tuple[str, ...] | None:
        """The coordinates that the law controls, where it says so, and they belong to its reference."""
        names, plant = getattr(self.law, "coordinates", None), self.plant
        if not isinstance(names, (tuple, list)) or not set(names) <= {*plant.velocity_names} & {*plant.position_names}:
            return None
        return tuple(names) if self.reference is None or self.reference[0].size == len(names) else None

    def _find_reference(self) -> tuple[Array, Array, Array] | None:
        """What the law's attribute ``reference`` says at t, where it is a reference."""
        reference = getattr(self.law, "reference", None)
        if not callable(reference):
            return None
        try:
            copy.copy(self.law).reference = reference
        except (AttributeError, TypeError):  # it cannot be replaced
            return None
        parts = tuple(np.asarray(x, dtype=np.float64) for x in reference(self.t))
        same = len(parts) == 3 and parts[0].ndim == 1 and len({x.shape for x in parts}) == 1
        return parts if same else None  # type: ignore[return-value]

    def __call__(self, terms: Terms, state: Array, shift: Array | None = None) -> tuple[Array, Array]:
        """(u, rate or next value of the states), with the signals of the reference shifted."""
        law = self.law if shift is None else self._shifted(shift)
        motors = self.plant.actuator_names
        u = _check.vector(law(self.t, terms, state), len(motors), f"the efforts of {self.name}", motors)
        if not self.moves:
            return u, np.zeros(0)
        moved = np.atleast_1d(np.asarray(optional(law, self._motion)(self.t, terms, state), dtype=np.float64))
        return u, _check.vector(moved, state.size, f"{self._motion} of {self.name}")

    def _shifted(self, shift: Array) -> Any:
        """The law with another reference: a shallow copy, so that the law itself is left alone."""
        position, velocity, acceleration = (
            x + d
            for x, d in zip(self.reference, np.split(shift, 3), strict=True)  # type: ignore[arg-type]
        )
        other = copy.copy(self.law)
        other.reference = lambda t: (position, velocity, acceleration)
        return other


class Gains(NamedTuple):
    """u and the rate (or next value) of the law's states c to first order, in x = (y, y_v), c and the reference r."""

    u_x: Array
    u_c: Array
    u_r: Array
    c_x: Array
    c_c: Array
    c_r: Array


def law_gains(law: AskedLaw, model: LinearModel, state: Array, *, whole: bool = True) -> Gains:
    """Derivatives of a law by differences of order 8 along the manifold; only in y and c unless `whole`."""
    plant, point, nu = law.plant, model.point, law.plant.nu
    q, v, length = point.q, point.v, coordinate_lengths(law.plant)
    here = plant.terms(q, v, law.t)
    columns: list[Array] = []

    def along(answer: Callable[[float], tuple[Array, Array]], scale: float, what: str) -> None:
        columns.append(_derivative(lambda s: np.concatenate(answer(s)), scale, f"the law {law.name} along {what}"))

    def moving(dq: Array, dv: Array, what: str) -> None:
        scale = 1.0 / max(float(np.abs((dq if dq.any() else dv) / length).max(initial=0.0)), 1e-12)
        along(lambda s: law(_terms_along(law, q, v, dq, dv, s), state), scale, what)

    for name, dq, dv in zip(model.states, model.K.T, model.N.T, strict=False):
        moving(dq, dv, name)
    for name, dv in zip(model.states[model.dof :], model.K.T, strict=True):
        if whole:
            moving(np.zeros(plant.nv), dv, name)
    n = len(columns)
    for i, e in enumerate(np.eye(state.size) if law.moves else ()):
        along(lambda s, e=e: law(here, state + s * e), max(1.0, abs(state[i])), f"its state {i + 1}")
    m = len(columns)
    for e in np.eye(3 * law.reference[0].size) if whole and law.reference is not None else ():
        along(lambda s, e=e: law(here, state, s * e), 1.0, "its reference")
    J = np.array(columns).reshape(len(columns), nu + state.size * law.moves).T
    return Gains(J[:nu, :n], J[:nu, n:m], J[:nu, m:], J[nu:, :n], J[nu:, n:m], J[nu:, m:])


def _terms_along(law: AskedLaw, q: Array, v: Array, dq: Array, dv: Array, s: float) -> Terms:
    """Terms at a state on the manifold that starts out from (q, v) along (dq, dv)."""
    plant = law.plant
    there = plant.close(plant.integrate(q, s * dq)) if dq.any() else q
    moved = v + s * dv
    return plant.terms(there, moved, law.t, project=bool(moved.any()))


def _derivative(function: Callable[[float], Array], scale: float, what: str) -> Array:
    """Slope at zero by central differences of order 8, with a step at which it can be believed.

    Half the step must give the same slope; and what a central difference does not see, f(h) + f(-h) - 2 f(0), must
    fall with the square of the step: with the step itself it falls at a corner.

    Raises
    ------
    ValueError
        Where no step does.
    """
    error: Exception | None = None
    sides = np.zeros(2)
    here = function(0.0)
    for h in (step * scale for step in _STEPS):
        try:
            values = {k: function(0.5 * k * h) for k in (1, -1, 2, -2, 3, -3, 4, -4, 6, -6, 8, -8)}
        except CmbError as failed:  # the manifold, or what the law can do, ends nearby
            error = failed
            continue
        wide, fine = (sum(w / (0.5 * m * h) * (values[k * m] - values[-k * m]) for k, w in ORDER_8) for m in (2, 1))
        bent = (4.0 * (values[1] + values[-1] - 2.0 * here) - (values[2] + values[-2] - 2.0 * here)) / h
        size, noise = np.abs(fine).max(initial=0.0), 1e-12 / h * np.abs(here).max(initial=0.0)
        if (
            np.abs(wide - fine).max(initial=0.0) <= _SMOOTH * size + noise
            and np.abs(bent).max(initial=0.0) <= _CORNER * size + 10.0 * noise
        ):
            return fine
        k = int(np.argmax(np.abs(bent)))
        sides = np.array([(here - values[-1])[k], (values[1] - here)[k]]) / (0.5 * h)
    if error is not None and not sides.any():
        raise error
    raise ValueError(
        f"{what} is not smooth here: its slope is {sides[0]:.6g} on one side and {sides[1]:.6g} on the other. Is it "
        "saturated, or does it switch at this state? Choose another point, or a smooth form of it."
    )
