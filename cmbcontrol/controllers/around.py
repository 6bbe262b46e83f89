"""What a controller around another one hands on: sample time, reference, delay and more."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..model.plant import Plant
from ..model.terms import Terms
from .protocol import optional, period_of, start_of
from .references import Reference

__all__ = ["AroundLaw", "AroundMotion"]

Array = NDArray[np.float64]


class AroundLaw:
    """A controller around another one, its attribute ``law``. Subclasses change what they change."""

    inner: ClassVar[str] = "law"  # the attribute

    @property
    def _inner(self) -> Any:
        return getattr(self, self.inner)

    def _take(self, law: Any) -> None:
        """Another inner law in place of the present one."""
        setattr(self, self.inner, law)

    @property
    def name(self) -> str:
        """The name of both."""
        law = self._inner
        own = getattr(law, "name", None) or getattr(law, "__name__", None)
        return f"{type(self).__name__}({own if isinstance(own, str) else type(law).__name__})"

    @property
    def period(self) -> float | None:
        """Sample time of the inner law, s; None in continuous time."""
        return period_of(self._inner)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """What the inner law controls, where it says so."""
        return self._inner.coordinates

    @property
    def task(self) -> Any:
        """What the inner law controls, as a task, where it has one."""
        return self._inner.task

    @property
    def reference(self) -> Reference:
        """What is followed. A new one goes to a copy of the inner law, which may be in use elsewhere."""
        return self._inner.reference

    @reference.setter
    def reference(self, reference: Reference) -> None:
        law = copy.copy(self._inner)
        law.reference = reference
        self._take(law)

    @property
    def error(self) -> Callable[[float, Terms], tuple[Array, Array]]:
        """How far the inner law is from its reference, (t, terms) -> (e, rate), where it says so."""
        return self._inner.error

    @property
    def measures_force(self) -> bool:
        """Whether the inner law does."""
        return bool(getattr(self._inner, "measures_force", False))

    @property
    def rough(self) -> bool:
        """Whether the inner law reads positions in steps or with noise."""
        return bool(getattr(self._inner, "rough", False))

    @property
    def delay(self) -> ArrayLike | None:
        """Of the inner law, s."""
        return getattr(self._inner, "delay", None)

    @property
    def initial_effort(self) -> ArrayLike | None:
        """Before the first effort of the inner law arrives, N or N m; None for that of the first sample."""
        return getattr(self._inner, "initial_effort", None)

    @property
    def drive(self) -> Any:
        """Behind the held efforts of the inner law."""
        return getattr(self._inner, "drive", None)


class AroundMotion(AroundLaw):
    """A controller around a motion law, its attribute ``motion``."""

    inner = "motion"

    def __init__(self, motion: Any) -> None:
        if not callable(getattr(motion, "wanted_acceleration", None)) or not hasattr(motion, "plant"):
            raise TypeError(
                "motion must be a motion law, with `plant` and `wanted_acceleration(t, terms)`, such as "
                f"ProjectedInverseDynamics(...), got {motion!r}"
            )
        self.motion = motion
        self.plant: Plant = motion.plant

    def start(self, plant: Plant) -> Array:
        """Initial states of the motion law; refuses a plant that it does not fit."""
        return start_of(self.motion, plant)

    def wanted_acceleration(self, t: float, terms: Terms) -> Array:
        """Of the motion law, shape (nv,)."""
        return self.motion.wanted_acceleration(t, terms)

    def _report_of_motion(self, t: float, terms: Terms, state: Array) -> dict[str, float]:
        """What the motion law reports, where it does."""
        report = optional(self.motion, "report")
        return {} if report is None else dict(report(t, terms, state))
