"""What is watched between two changes of the loops: functions whose crossing of zero, upwards, ends a part of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dynamics.impact import nearest
from ..model.plant import Plant
from .events import looks

__all__ = ["Guard", "Watcher"]

Array = NDArray[np.float64]
State = Callable[[float], Array]
Effort = Callable[[float, Array], Array]

_HALVINGS = 30
_INSTANT = 1e-9  # of a run: a function that has crossed zero may hang about it for so long


@dataclass(eq=False)
class Guard:
    """One function that is watched.

    Attributes
    ----------
    value : callable
        (moment) -> float.
    cause : object
        What happens when it crosses zero.
    tolerance : float
        Values up to it count as zero.
    armed : bool
        Whether a value above zero is a crossing: the function has been below since the last one.
    last : float
        Time of the last crossing, s.
    """

    value: Callable[[Moment], float]
    cause: Any
    tolerance: float = 0.0
    armed: bool = False
    last: float = -np.inf

    def look(self, t: float, value: float, instant: float) -> None:
        """Arm it where it is below zero, and not just by rounding after a crossing."""
        self.armed = self.armed or (value < 0.0 and t - self.last > instant)


class Moment:
    """A state on the way, and the forces there, found when they are asked for."""

    def __init__(self, plant: Plant, t: float, x: Array, effort: Effort) -> None:
        self.plant, self.t, self.x, self._effort = plant, t, x, effort
        self.q, self.v = x[: plant.nq].copy(), x[plant.nq : plant.nq + plant.nv].copy()  # conditions may write
        self._lam: Array | None = None

    def multipliers(self, loop: str) -> Array:
        """The smallest multipliers (rows,) of a loop."""
        if self._lam is None:
            terms = self.plant.terms(self.q, self.v, self.t)
            u = self._effort(self.t, self.x)
            self._lam = nearest(terms, np.arange(terms.b.size), terms.B @ u - terms.h, -terms.b)[1]
        return self._lam[self.plant.row_slices[loop]]


class Watcher:
    """The guards of a part of a run; see `run.Watch`."""

    def __init__(self, plant: Plant, guards: list[Guard], duration: float) -> None:
        self.plant, self.guards, self.duration = plant, guards, duration
        self.fired: list[Guard] = []
        self._first = True

    def crossing(self, T: Array, X: Array, state: State, effort: Effort) -> float | None:
        """The first time at which a guard crosses zero; `fired` are those that do so then."""
        if not self.guards:
            return None

        def look(t: float, x: Array | None = None) -> Moment:
            return Moment(self.plant, t, state(t) if x is None else x, effort)

        before, values = float(T[0]), self._values(look(float(T[0]), X[0]))
        found = self._crossed(before, values, lambda guard: before)
        if found is not None:
            return found
        for t0, t1, x1 in zip(T[:-1], T[1:], X[1:], strict=True):
            points, self._first = looks(t0, t1, self._first, self.duration), False
            for t in points:
                values = self._values(look(t, x1 if t == t1 else None))
                found = self._crossed(t, values, lambda guard, a=before, b=t: self._root(guard, look, a, b))
                if found is not None:
                    return found
                before = t
        return None

    def _values(self, moment: Moment) -> list[float]:
        return [guard.value(moment) for guard in self.guards]

    def _crossed(self, t: float, values: list[float], when: Callable[[Guard], float]) -> float | None:
        """Arm the guards below zero; the time of the first one above, if any."""
        above = [g for g, value in zip(self.guards, values, strict=True) if g.armed and value > g.tolerance]
        if not above:
            for guard, value in zip(self.guards, values, strict=True):
                guard.look(t, value, _INSTANT * self.duration)
            return None
        times = {guard: when(guard) for guard in above}
        first = min(times.values())
        self.fired = [guard for guard, at in times.items() if at - first <= 1e-12 * self.duration]
        return first

    def _root(self, guard: Guard, look: Callable[[float], Moment], a: float, b: float) -> float:
        """The crossing between a and b."""
        from scipy.optimize import brentq

        def value(t: float) -> float:
            return guard.value(look(t))

        low = a
        for k in range(1, _HALVINGS):  # from zero, a function may go down first
            if value(low) < 0.0:
                break
            low = a + (b - a) * 0.5**k
        else:
            return a
        if not value(b) > 0.0:  # the end of a step and its dense output differ by rounding
            return b
        return float(brentq(value, low, b, xtol=1e-16 * self.duration, rtol=1e-15, maxiter=200))
