"""Base classes of controllers around another one, whose sample time, reference, delay and more they hand on."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputTypeError
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.symbols import numbers_of
from .controller import Controller, Cut, Drive, MotionLaw, evaluated, start_of
from .references import Reference

__all__ = ["AroundLaw", "AroundMotion"]

Array = NDArray[np.float64]


class AroundLaw(Controller, abstract=True):
    """Base class of controllers around another one, the attribute ``law``, whose members act unless overridden."""

    inner: ClassVar[str] = "law"  # the attribute

    @property
    def _inner(self) -> Controller:
        return getattr(self, self.inner)

    def _around(self, law: Controller) -> Self:
        """Copy of this controller with another one inside."""
        other = copy.copy(self)
        setattr(other, self.inner, law)
        return other

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{type(self).__name__}({self._inner.name})"

    @property
    def period(self) -> float | None:  # type: ignore[override]
        """Sample time of the inner law, s; None in continuous time."""
        return self._inner.period

    @property
    def coordinates(self) -> Sequence[str] | None:  # type: ignore[override]
        """Names of the coordinates that the inner law controls; None where it names none."""
        return self._inner.coordinates

    @property
    def task(self) -> Any:
        """Task that the inner law controls; None where it has none."""
        return self._inner.task

    @property
    def reference(self) -> Reference | None:  # type: ignore[override]
        """Reference that the inner law follows; `with_reference` gives a copy with another one."""
        return self._inner.reference

    def with_reference(self, reference: Reference) -> Self:
        return self._around(self._inner.with_reference(reference))

    def error(self, t: float, terms: Terms) -> tuple[Array, Array] | None:
        return self._inner.error(t, terms)

    def report_units(self) -> Mapping[str, str]:
        """Units of the report of the inner law."""
        return self._inner.report_units()

    _own_states = 0  # states before those of the inner law

    @property
    def integrates(self) -> bool:  # type: ignore[override]
        """Whether the inner law has integrals of errors."""
        return self._inner.integrates

    def anti_windup(self, t: float, terms: Terms, state: Array, after: Array, cut: Cut) -> ArrayLike:
        """Rates or next values of the states under limits, as the inner law holds its own."""
        own = self._own_states
        inner = self._inner.anti_windup(t, terms, state[own:], after[own:], cut)
        return np.concatenate([after[:own], numbers_of(inner)]) if own else inner

    @property
    def measures_force(self) -> bool:  # type: ignore[override]
        """Whether the inner law measures the constraint force."""
        return self._inner.measures_force

    @property
    def rough(self) -> bool:  # type: ignore[override]
        """Whether the inner law reads positions in steps or with noise."""
        return self._inner.rough

    @property
    def delay(self) -> ArrayLike | None:  # type: ignore[override]
        """Delay of the inner law from a sample to when the motors feel its effort, s."""
        return self._inner.delay

    @property
    def initial_effort(self) -> ArrayLike | None:  # type: ignore[override]
        """Efforts until the first one of the inner law arrives, N or N m; None for that of the first sample."""
        return self._inner.initial_effort

    @property
    def drive(self) -> Drive | None:  # type: ignore[override]
        """Drive behind the held efforts of the inner law; None where it has none."""
        return self._inner.drive


class AroundMotion(AroundLaw, MotionLaw, abstract=True):
    """Base class of controllers around a motion law, the attribute ``motion``."""

    inner = "motion"

    def __init__(self, motion: MotionLaw) -> None:
        inside = motion._inner if isinstance(motion, AroundLaw) else motion
        if not isinstance(motion, MotionLaw) or not isinstance(inside, MotionLaw):
            raise InputTypeError(
                "motion must be a motion law, a MotionLaw with `plant` and `desired_acceleration(t, terms)`, such as "
                f"ProjectedInverseDynamics(...), got {motion!r}"
            )
        self.motion = motion
        self.plant: Plant = motion.plant

    def start(self, plant: Plant) -> Array:
        """Initial states of the motion law; refuses a plant that it does not fit."""
        return start_of(self.motion, plant)

    def desired_acceleration(self, t: float, terms: Terms) -> Array:
        """Acceleration (nv,) of all coordinates that the motion law wants."""
        return self.motion.desired_acceleration(t, terms)

    def _report_of_motion(self, t: float, terms: Terms, state: Array) -> Mapping[str, float]:
        """Report of the motion law at an instant, as numbers."""
        return evaluated(self.motion, t, terms, state).reported()
