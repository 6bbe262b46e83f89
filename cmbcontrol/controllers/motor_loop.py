"""Loops of drives: each motor follows the reference of one coordinate, with the efforts of the motion ahead."""

from __future__ import annotations

import copy
import inspect
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError
from ..model.plant import Plant
from ..model.terms import Terms
from .controller import Controller, Cut, Evaluation, require_same_signals, waiting
from .gravity_compensation import driven_coordinates
from .reference_efforts import ReferenceEfforts
from .references import Reference, at_time, require_reference
from .tasks import Coordinates

__all__ = ["FEEDFORWARDS", "MotorLoop"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

FEEDFORWARDS = ("inverse-dynamics", "none")


class MotorLoop(Controller, abstract=True):
    """Base class of laws in which each motor follows one coordinate of its own.

    Its states begin with the integrals, efforts (k,) that wait where they would push further against a limit.
    """

    plant: Plant
    reference: Reference
    coordinates: Sequence[str]
    ki: Array  # (k,) what an error integrates to, effort a second by unit of the error

    def _set_up(
        self,
        plant: Plant,
        reference: Reference,
        coordinates: Sequence[str] | None,
        motors: Sequence[str] | None,
        feedforward: str,
        at: ArrayLike | None,
        period: float | None,
    ) -> None:
        """Set what all these laws have; each coordinate has the motor at the same place of `motors`."""
        _check.plant(plant)
        title = type(self).__name__
        self.plant = plant
        self.task = Coordinates(plant, driven_coordinates(plant) if coordinates is None else coordinates)
        self.coordinates = self.task.names
        if not self.coordinates:
            raise InputError(f"{title} needs coordinates, got none")
        motors = (motors,) if isinstance(motors, str) else motors
        self.motors = _motors_of(self.task) if motors is None else motors
        self.motors = _check.names(self.motors, "motors", plant.actuator_names, "motor")
        if len(self.motors) != len(self.coordinates):
            raise InputError(
                f"{title} has one motor for each coordinate, got the motors {', '.join(self.motors)} for "
                f"{', '.join(self.coordinates)}"
            )
        self._of_motors = np.array([plant.actuator_names.index(name) for name in self.motors], dtype=np.int64)
        self._spread = np.eye(plant.nu)[:, self._of_motors]
        self.feedforward = _check.one_of(feedforward, FEEDFORWARDS, "feedforward")
        self.at = at
        self.period = None if period is None else _check.positive(period, "period")
        require_reference(reference, self.coordinates)
        self.reference = reference
        self._prepare()

    def _prepare(self) -> None:
        """Set up the feedforward for the model and the reference."""
        ahead = ReferenceEfforts(self.task, self.at) if self.feedforward != "none" else None
        self._ahead = None if ahead is None else ahead.along(self.reference)

    def _each(self, given: ArrayLike, what: str) -> Array:
        """Values (k,) of a parameter, of any sign: a number for each coordinate, or one for all."""
        x, k = _check.numbers(given, f"the {what} of {type(self).__name__}"), len(self.coordinates)
        if x.shape not in ((), (k,)) or not np.isfinite(x).all():
            raise InputError(
                f"the {what} of {type(self).__name__} must be a finite number, or one for each of "
                f"{', '.join(self.coordinates)}, got {x.tolist()}"
            )
        return np.broadcast_to(x, (k,)).copy()

    def _each_positive(self, given: ArrayLike, what: str, zero: bool = True, infinite: bool = False) -> Array:
        """Values (k,) of a parameter >= 0."""
        x, k = _check.numbers(given, f"the {what} of {type(self).__name__}"), len(self.coordinates)
        fits = x.shape in ((), (k,)) and not np.isnan(x).any() and (infinite or np.isfinite(x).all())
        if not fits or (x < 0.0).any() or not (zero or x.all()):
            raise InputError(
                f"the {what} of {type(self).__name__} must be a number {'>=' if zero else '>'} 0, or one for each of "
                f"{', '.join(self.coordinates)}, got {x.tolist()}"
            )
        return np.broadcast_to(x, (k,)).copy()

    # -- what a controller has ----------------------------------------------------------------------------

    def with_model(self, model: Plant) -> Self:
        """Copy of the law with the feedforward of another model."""
        require_same_signals(self.plant, model)
        law = copy.copy(self)
        law.plant, law.task = model, Coordinates(model, self.coordinates)
        law._prepare()
        return law

    def with_reference(self, reference: Reference) -> Self:
        law = super().with_reference(reference)
        if law._ahead is not None:
            law._ahead = law._ahead.efforts.along(reference)
        return law

    def start(self, plant: Plant) -> Array:
        """Initial states, zero; refuses a plant with other coordinates or motors than the model."""
        require_same_signals(self.plant, plant)
        return np.zeros(len(self.state_names(plant)))

    def state_names(self, plant: Plant) -> list[str]:
        """Names of the states: the integrals, and those of filters."""
        return [f"{name}_integral" for name in self.motors]

    @property
    def integrates(self) -> bool:  # type: ignore[override]
        """Whether errors are integrated."""
        return bool(np.any(self.ki))

    def error(self, t: float, terms: Terms) -> tuple[Array, Array]:
        """Error e = y_d - y and its rate, shape (k,) each."""
        position, velocity, _ = at_time(self.reference, t)
        return position - self.task.value(terms), velocity - self.task.jacobian(terms) @ terms.v

    def anti_windup(self, t: float, terms: Terms, state: Array, after: Array, cut: Cut) -> Array:
        """Integrals held where they would push an effort further against a limit behind the law."""
        k = len(self.coordinates)
        of_motors = Cut(cut.lost[self._of_motors], cut.given[self._of_motors])
        integrals = waiting(state[:k], after[:k], self.period is not None, of_motors)
        return np.concatenate([integrals, after[k:]]) if len(state) > k else integrals

    # -- the law --------------------------------------------------------------------------------------------

    @abstractmethod
    def _loops(
        self, desired: tuple[Array, Array], actual: tuple[Array, Array], state: Array
    ) -> tuple[Array, Array, Array, dict[str, Any]]:
        """Efforts (k,), rates of the integrals (k,), rates or next values of other states, and the report."""

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        """Efforts, rates or next values of the states, and what the loops ask of one another."""
        position, velocity, _ = at_time(self.reference, t)
        actual = self.task.value(terms), self.task.jacobian(terms) @ terms.v
        u, rate, others, report = self._loops((position, velocity), actual, state)
        k = len(self.coordinates)
        integrals = rate if self.period is None else state[:k] + self.period * rate
        effort = self._spread @ u
        if self._ahead is not None:
            effort = effort + at_time(self._ahead, t)
        if self._held is not None:
            effort = effort + self._held
        return Evaluation(effort, np.concatenate([integrals, others]) if len(state) > k else integrals, report)

    def holding(self, efforts: Array) -> Self:
        """Copy of the law that adds constant efforts (nu,) in place of those of the reference."""
        law = copy.copy(self)
        law._ahead, law._held = None, efforts
        return law

    _held: Array | None = None

    def __repr__(self) -> str:
        pairs = zip(self.coordinates, self.motors, strict=True)
        listed = ", ".join(name if name == motor else f"{name} by {motor}" for name, motor in pairs)
        time = "" if self.period is None else f", {self.period:g} s a sample"
        return f"<{type(self).__name__} of {self.plant.name!r}: {listed}{time}>"

    # -- its gains ------------------------------------------------------------------------------------------

    def with_gains(self, **gains: ArrayLike) -> Self:
        """Copy of the law with other gains, by the names of its arguments."""
        given = inspect.signature(type(self)).bind(*self._arguments[0], **self._arguments[1]).arguments
        law = type(self)(**given | {"plant": self.plant, "reference": self.reference} | gains)
        law._ahead, law._held = self._ahead, self._held  # the same motion
        return law

    no_gains: ClassVar[dict[str, float]]  # of a loop that does nothing
    trials: ClassVar[tuple[dict[str, float], ...]]  # gains of one coordinate, beside these, with which a loop is tried

    @abstractmethod
    def gains_for(self, tried: Complex, integral: complex, crossover: float, margin: float) -> dict[str, float]:
        """Gains of one coordinate for a loop that crosses 1 with a phase margin.

        Parameters
        ----------
        tried : ndarray, shape (trials,)
            Responses of the loop at the crossover, where it is opened at the motor, with the gains of each trial.
        integral : complex
            Response of an integral there.
        crossover, margin : float
            Frequency, rad/s, and phase margin, rad.

        Raises
        ------
        InputError
            Where no gains do so.
        """


def _motors_of(task: Coordinates) -> list[str]:
    """Motors that drive coordinates, each alone, in their order; from the plant's B at an assembled configuration."""
    plant = task.plant
    terms = plant.terms(plant.assemble(), np.zeros(plant.nv))
    found = []
    for name, efforts in zip(task.names, task.jacobian(terms) @ terms.B, strict=True):
        alone = [j for j in np.flatnonzero(efforts) if np.count_nonzero(terms.B[:, j]) == 1]
        if len(alone) != 1:
            raise InputError(
                f"{'several motors drive' if alone else 'no motor drives'} the coordinate {name!r} of {plant.name!r} "
                f"alone; say which one moves it: motors=(...), of {', '.join(plant.actuator_names)}"
            )
        found.append(plant.actuator_names[alone[0]])
    return found
