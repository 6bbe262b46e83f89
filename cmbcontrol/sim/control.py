"""Control of the plant during a run: a law, sampled or not, its delays, and the drives behind it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._jit import plain
from ..controllers.controller import (
    ConstantEffort,
    Controller,
    Evaluation,
    evaluated,
    require_tracking,
    start_of,
)
from ..controllers.references import over_times
from ..controllers.traced import LawCode, NotCompiled, drive_code, law_code, untraceable
from ..dynamics.forces import measured_force
from ..errors import InputError, InputTypeError, SpeedWarning
from ..kernels import sampling
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.code import Code
from .acting import Acting
from .failures import LawFailed, is_of_user

__all__ = ["Control", "after"]

Array = NDArray[np.float64]

_BLOCK = 256  # samples for which functions of time are evaluated at once


class Control:
    """A law during a run, with its samples, delays and drives.

    In continuous time the states of the law are integrated with those of the plant. In sampled time its efforts are
    held, from when they arrive; where there is a drive behind it, the states of the drive are integrated.
    A law may write into the terms that it is given: callers pass a copy.

    Attributes
    ----------
    law : Controller
    period : float or None
    drive : object or None
    state : ndarray
        States of a sampled law, as of the last sample.
    command : ndarray, shape (nu,)
        Efforts that are held at present.
    sampled : kernels.sampling.Sampled
        A sampled law as the time loop takes it; its arrays are those of this object.
    code : LawCode or str
        Generated code of a sampled law, or the reason why there is none.
    reports : list of (float, mapping)
        Reports of the law, at the samples that are the latest at one of the `times` (at all samples without these).
    """

    def __init__(self, plant: Plant, law: Controller, times: Array | None = None, acting: Acting | None = None) -> None:
        self.law, self.motors, self._plant = law, plant.actuator_names, plant
        self.acting = Acting(plant) if acting is None else acting
        self.period = law.period
        self.state = start_of(law, plant)
        self.delay = _delays(law, plant, self.period)
        self._initial = _initial_effort(law, plant)
        self.drive = _drive(law, self.period)
        self.measures_force = law.measures_force
        self._reported: list[tuple[float, Mapping[str, float]]] = []
        self.command = np.zeros(plant.nu)
        if isinstance(law, ConstantEffort):
            self.command = law.u
        self._efforts = f"the efforts of {type(law).__name__}"
        shown = () if self.period is None or times is None else _latest(times, self.period)
        self._shows_all = times is None
        initial = np.full(plant.nu, np.nan) if self._initial is None else self._initial
        if not self.delay.any():
            initial = np.full(plant.nu, np.nan)
        if self.period is not None:
            self.state = np.array(self.state)
        self.sampled = sampling.held(
            float(self.period or 0.0), self.state, self.delay, initial, self.command, np.array(shown, dtype=np.int64)
        )
        self._code_of: Plant | None = None
        self.code: LawCode | str = "it works in continuous time" if self.period is None else "nobody has asked for it"
        self._start_of_drive = start_of(self.drive, plant) if self.drive is not None else np.zeros(0)

    @property
    def asked(self) -> bool:
        """Whether the time loop asks this object for efforts; else they are set from outside."""
        return True

    @property
    def holds(self) -> bool:
        """Whether the efforts are constant from one of the times `next` to the following one."""
        return self.drive is None and (self.period is not None or isinstance(self.law, ConstantEffort))

    @property
    def _driven_by(self) -> Any:
        """Controller or drive that determines the efforts at the joints."""
        return self.law if self.drive is None else self.drive

    @property
    def integrated(self) -> Array:
        """Initial values of the states integrated with the plant: of a law in continuous time, or of the drive."""
        return self.state.copy() if self.period is None else self._start_of_drive

    def first(self, terms: Terms) -> Array:
        """Efforts that the law asks for at the start; a law that does not fit the plant fails here, by its own error.

        Raises
        ------
        LawFailed
            If what fails is a function of the user.
        """
        own = terms.copied()  # a law may write into what it is given
        try:
            u = self._law_effort(0.0, terms, self.state)
        except Exception as error:
            if is_of_user(error):
                raise LawFailed(self.law, 0.0) from error
            raise
        require_tracking(self.law, 0.0, self.acting.as_told(own))
        return u

    # -- in sampled time --------------------------------------------------------------------------

    @property
    def next(self) -> float:
        """Time at which the held efforts may change next, s."""
        return np.inf if self.period is None else plain(sampling.next_change)(self.sampled)

    def refresh(self, t: float, terms: Callable[[], Terms], c: Array) -> None:
        """Take a sample and apply delayed efforts, if they are due at t."""
        if self.period is not None:
            if t >= self.sampled.count[sampling.SAMPLES] * self.period:
                self._sample(t, terms(), c)
            plain(sampling.arrive)(self.sampled, t)

    def _sample(self, t: float, terms: Terms, c: Array) -> None:
        """Evaluate the law at a sample, and queue its efforts until their delay is over."""
        law = self.sampled
        k, row = int(law.count[sampling.SAMPLES]), int(law.count[sampling.SHOWN])
        if self.measures_force and k > 0:
            terms = measured_force(terms, self.effort(t, terms, c))
        shown = row < law.shown.size and law.shown[row] == k
        try:
            evaluation = evaluated(self.law, t, self.acting.as_told(terms), self.state.copy())
            u = self._checked(evaluation.effort, t, self._efforts)
            if shown or self._shows_all:
                self._reported.append((t, evaluation.reported()))
            if evaluation.state is not None:
                self.state[:] = self._state(evaluation.state, self.state.size, t, "next state", self.law)
        except Exception as error:
            raise LawFailed(self.law, t) from error
        if shown:
            law.reports[row, 0] = np.nan  # it is in the list
            law.count[sampling.SHOWN] = row + 1
        plain(sampling.take)(law, u)

    @property
    def reports(self) -> list[tuple[float, Mapping[str, float]]]:
        """Reports of the law as (time, quantities by name), in the order of time."""
        if isinstance(self.code, str):
            return self._reported
        by_code = self.sampled.reports[: self.sampled.count[sampling.SHOWN]]
        rows = [(float(x[0]), self._told(float(x[0]), x[1:])) for x in by_code[~np.isnan(by_code[:, 0])]]
        return sorted([*self._reported, *rows], key=lambda report: report[0]) if rows else self._reported

    def _told(self, t: float, x: Array) -> Mapping[str, float]:
        """Report of a sample that generated code took, as it recorded it, or evaluated again from the states."""
        code, plant = self.code, self._code_of
        if not code.told:  # type: ignore[union-attr]
            return dict(zip(code.report, x.tolist(), strict=True))  # type: ignore[union-attr]
        q, v, state, u = np.split(x, np.cumsum([plant.nq, plant.nv, self.state.size]))
        terms = plant.terms(q, v, t)  # type: ignore[union-attr]
        terms = measured_force(terms, u) if self.measures_force else terms
        try:
            return evaluated(self.law, t, terms, state).reported()
        except Exception as error:
            raise LawFailed(self.law, t) from error

    def generate(self, plant: Plant, q: Array, code: Code | None) -> None:
        """Let generated code take the samples from the configuration q on, where the law can be compiled."""
        if self.period is None:
            return
        told = self.acting.told_plant(plant)
        if not isinstance(self.code, str):
            if told is self._code_of:
                return
            self._reported, self.sampled = self.reports, self.sampled._replace(address=0)  # constraints have changed
            self.sampled.reports[:, 0] = np.nan
        self._code_of = told
        if self._shows_all or untraceable(self.law):
            self.code = untraceable(self.law) or "Python is asked for more than the efforts"
            return
        if self.measures_force and self.drive is not None:
            self.code = NotCompiled(
                f"{self.law.name} measures the constraint force, which the drive behind the held efforts changes; put "
                "blocks of the machine into the plant, or leave them out"
            )
            return
        if self.measures_force and told is not plant:
            self.code = NotCompiled(
                f"{self.law.name} measures a force that loads or end stops change, which it is not told; tell it the "
                "loads (told=True), or leave it at that"
            )
            return
        self.code = law_code(told, self.law, q, code if told is plant else None)
        if isinstance(self.code, str):
            return
        law, size = self.sampled, sum(size for _, size in self.code.signals)
        inputs = 1 + plant.nq + plant.nv + self.state.size + plant.nu * self.measures_force + size
        self.sampled = law._replace(
            address=self.code.address,
            measures=self.measures_force,
            p=self._moving_numbers(told, self.code.p),
            given=np.zeros(inputs),
            found=np.zeros(plant.nu + self.state.size + len(self.code.report)),
            signals=np.zeros((_BLOCK, size)),
            reports=np.full((law.shown.size, 1 + len(self.code.report)), np.nan),
        )
        self.sampled.count[sampling.FIRST] = self.sampled.count[sampling.ROWS] = 0

    def _moving_numbers(self, told: Plant, p: Array) -> Array:
        """Numbers of a law's code, those of the machine first; loads and motions among them are updated in time."""
        if not self.acting.tells:
            return p
        return self.acting.follow(p, told.arrays, told=True)  # type: ignore[attr-defined]

    def leave_to_python(self, why: str) -> None:
        """Keep the reason why samples are not taken by generated code."""
        if isinstance(self.code, str):
            self.code = why

    def drive_code(self, plant: Plant, q: Array, code: Code) -> LawCode | str:
        """Generated code of the machine with its continuous law or its drive; or the reason why there is none."""
        if why := untraceable(self._driven_by):
            return why
        if self.measures_force and self.drive is None:
            return NotCompiled(
                f"{self.law.name} measures the constraint force in continuous time, where it answers the efforts; give "
                "the law a period"
            )
        if self.acting.given and self.drive is None:
            return NotCompiled(
                f"{self.law.name} in continuous time is not told the loads that act; give the law a period"
            )
        return drive_code(plant, self._driven_by, q, code)

    def warn(self, whys: Iterable[str], stacklevel: int) -> None:
        """Warn of a law that runs in Python though it is made to be compiled; `whys` are reasons by part of the run."""
        told = list(dict.fromkeys(str(why) for why in whys if isinstance(why, NotCompiled)))
        taken, by_code = (int(self.sampled.count[i]) for i in (sampling.SAMPLES, sampling.BY_CODE))
        if not told and not isinstance(self.code, str) and taken - by_code > by_code:
            told.append(
                f"{self.law.name} has code, which has left {taken - by_code} of {taken} samples to it: comparisons are "
                "decided otherwise than at the start, where it was traced (where_less(a, b, x, y) does for an if), or "
                "motors and coordinates hardly tell the motion"
            )
        for why in told:
            warnings.warn(
                f"a law runs in Python, which takes 20 to 200 times as long as compiled code: {why}. The results are "
                'the same; docs/simulation.md, "Laws", says what is compiled',
                SpeedWarning,
                stacklevel=stacklevel + 1,
            )

    def evaluate_signals(self) -> None:
        """Evaluate functions of time at the next samples for generated code; if one fails, up to that sample."""
        law = self.sampled
        first = int(law.count[sampling.SAMPLES])
        law.count[sampling.FIRST], law.count[sampling.ROWS] = first, 0
        times = (first + np.arange(_BLOCK)) * self.period  # type: ignore[operator]
        try:
            parts = [over_times(function, times) for function, _ in self.code.signals]  # type: ignore[union-attr]
            law.signals[:] = np.hstack(parts)
            law.count[sampling.ROWS] = _BLOCK
        except Exception:
            self._evaluate_one_by_one(times)

    def _evaluate_one_by_one(self, times: Array) -> None:
        """Evaluate functions of time at samples one after the other, up to the one at which a function fails."""
        law = self.sampled
        for row, t in enumerate(times):
            try:
                parts = [over_times(function, np.array([t]))[0] for function, _ in self.code.signals]  # type: ignore[union-attr]
                law.signals[row] = np.concatenate(parts)
            except Exception:  # a function of the user, which the law meets there
                return
            law.count[sampling.ROWS] = row + 1

    # -- at any time ------------------------------------------------------------------------------

    def effort(self, t: float, terms: Terms, c: Array) -> Array:
        """Efforts at the joints, from the integrated states c and the efforts held at present."""
        if self.holds:
            return self.command
        try:
            if self.drive is None:
                return self._law_effort(t, terms, c)
            return self._driven(t, terms, c, self.command)[0]
        except Exception as error:
            raise LawFailed(self._driven_by, t) from error

    def moved(self, t: float, terms: Terms, c: Array) -> tuple[Array, Array]:
        """Efforts at the joints, and the rates of the integrated states."""
        if not c.size:
            return self.effort(t, terms, c), c
        try:
            if self.drive is not None:
                u, evaluation = self._driven(t, terms, c, self.command)
            else:
                u, evaluation = self._evaluated(t, terms, c)
            if evaluation.state is None:
                return u, np.zeros(c.size)
            return u, self._state(evaluation.state, c.size, t, "rate of the state", self._driven_by)
        except Exception as error:
            raise LawFailed(self._driven_by, t) from error

    def shown(self, t: float, terms: Terms, c: Array, held: Array) -> tuple[Array, Array, Evaluation | None]:
        """Efforts at the joints, efforts asked of the motors, and a continuous law's evaluation, if not held.

        `held` are the efforts that a sampled law holds then.
        """
        try:
            if self.drive is not None:
                return self._driven(t, terms, c, held)[0], held, None
            u, evaluation = self._evaluated(t, terms, c)
            command = u if evaluation.command is None else self._checked(evaluation.command, t, "the command")
            return u, command, evaluation
        except Exception as error:
            raise LawFailed(self._driven_by, t) from error

    def reported(self, t: float, evaluation: Evaluation) -> dict[str, float]:
        """Report of a law in continuous time, by the names of its quantities."""
        try:
            return evaluation.reported()
        except Exception as error:
            raise LawFailed(self.law, t) from error

    def _evaluated(self, t: float, terms: Terms, c: Array) -> tuple[Array, Evaluation]:
        """Efforts and evaluation of a law in continuous time; one that measures force gets that of these efforts."""
        if self.measures_force:
            u = self._law_effort(t, terms, c)
            return u, evaluated(self.law, t, self.acting.as_told(measured_force(terms, u)), c.copy())
        evaluation = evaluated(self.law, t, self.acting.as_told(terms), c.copy())
        return self._checked(evaluation.effort, t, self._efforts).copy(), evaluation

    def _driven(self, t: float, terms: Terms, c: Array, command: Array) -> tuple[Array, Evaluation]:
        """Efforts behind the drive, and the evaluation of the drive."""
        evaluation = self.drive.evaluate(t, terms, command.copy(), c.copy())
        return self._checked(evaluation.effort, t, f"the efforts of {type(self.drive).__name__}"), evaluation

    def _law_effort(self, t: float, terms: Terms, state: Array) -> Array:
        """Efforts of the law, checked, as a copy."""
        terms = self.acting.as_told(terms)
        return self._checked(self.law.effort(t, terms, state.copy()), t, self._efforts).copy()

    @staticmethod
    def _state(x: ArrayLike, n: int, t: float, what: str, of: Any) -> Array:
        """States of a law or drive, checked to be n real numbers; they may be infinite (the run ends then)."""
        what = f"the {what} of {type(of).__name__} (t = {t:.6g} s)"
        values = np.atleast_1d(_check.numbers(x, what, f"{n} numbers"))
        if values.shape != (n,):
            raise InputError(f"{what} must have shape ({n},), as what start(plant) returned, got shape {values.shape}")
        return values

    def _checked(self, u: ArrayLike, t: float, what: str) -> Array:
        if u is None:
            raise InputTypeError(f"{what} must be {len(self.motors)} numbers, got None; is a return missing?")
        try:
            return _check.vector(u, len(self.motors), what, self.motors)
        except ValueError as error:
            raise InputError(f"{error} (t = {t:.6g} s)") from None


def after(times: Array, t_end: float) -> Array:
    """Output times, later by a rounding: so one that is a sample time but for rounding shows this sample."""
    return times + 1e-12 * t_end


def _latest(times: Array, period: float) -> list[int]:
    """Indices of the samples that are the latest ones at some times, in order."""
    k = np.floor(times / period)
    k += (k + 1.0) * period <= times  # the quotient is rounded; sample k is at k times the period
    k -= k * period > times
    return sorted({int(number) for number in k})


def _delays(law: Any, plant: Plant, period: float | None) -> Array:
    """Delay of each motor (nu,), s."""
    given = law.delay
    if given is None or (np.ndim(given) == 0 and given == 0.0):
        return np.zeros(plant.nu)
    name = law.name
    delay = _check.vector(np.broadcast_to(given, (plant.nu,)), plant.nu, f"the delay of {name}", plant.actuator_names)
    if delay.min(initial=0.0) < 0.0:
        raise InputError(f"the delay of {name} must be >= 0 s, got {delay.tolist()}")
    if period is None and delay.any():
        raise InputError(
            f"{name} has a delay of {delay.max():g} s and no period; in continuous time a delay is not simulated. Give "
            "the law a period."
        )
    return delay


def _initial_effort(law: Any, plant: Plant) -> Array | None:
    """Efforts until the first effort of a delayed law arrives; None for those of the first sample."""
    given = law.initial_effort
    if given is None:
        return None
    what = f"the initial effort of {type(law).__name__}"
    return _check.vector(np.broadcast_to(given, (plant.nu,)), plant.nu, what, plant.actuator_names).copy()


def _drive(law: Any, period: float | None) -> Any:
    """Drive between the held efforts and the joints; None if the law has none."""
    drive = law.drive
    if drive is not None and period is None:
        raise InputError(
            f"{type(law).__name__} has a drive and no period; in continuous time the drive is part of the law itself"
        )
    return drive
