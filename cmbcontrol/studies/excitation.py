"""Excitation of a closed loop: sums of sines that fit into a record, and the law that lets them into the loop."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arguments import KeepsArguments
from ..controllers.around import AroundLaw
from ..controllers.controller import Controller, Drive, Evaluation, evaluated
from ..controllers.references import Reference, at_time
from ..errors import InputError
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.symbols import numbers_of

__all__ = ["BegunDrive", "Excitation", "ExcitedLaw", "ShiftedReference", "Tones", "multisine_record", "sine_record"]

Array = NDArray[np.float64]

_LEAST = 64  # points of a record in continuous time: harmonics up to the 32nd are told apart
_FOLD = 8  # points for each period of the highest frequency: harmonics up to the 7th are not taken for others


@dataclass(frozen=True)
class Excitation:
    """One period of an excitation, and the points at which it is measured.

    Attributes
    ----------
    lines : ndarray of int, shape (k,)
        Excited lines: whole periods within the record.
    phases : ndarray, shape (k,)
        rad, of sines.
    points : int
        Points of a record, evenly spaced.
    spacing : float
        s; the sample time where the law is sampled.
    """

    lines: NDArray[np.int64]
    phases: Array
    points: int
    spacing: float

    @property
    def length(self) -> float:
        """Length of the record, s."""
        return self.points * self.spacing

    @property
    def omega(self) -> Array:
        """Excited frequencies (k,), rad/s."""
        return np.asarray(2.0 * np.pi * self.lines / self.length, dtype=np.float64)


class Tones(KeepsArguments):
    """Sum of sines, amplitude sin(omega t + phase), as a function of time."""

    def __init__(self, omega: Array, amplitude: Array, phase: Array) -> None:
        self.omega, self.amplitude, self.phase = omega, amplitude, phase

    def __call__(self, t: float) -> Array:
        return np.sin(t * self.omega + self.phase).dot(self.amplitude)

    def over(self, times: Array) -> Array:
        """Values, a row (1,) for each time."""
        return np.sin(times[:, None] * self.omega + self.phase) @ self.amplitude[:, None]


class ShiftedReference(KeepsArguments):
    """Reference that stands at what it says at time zero, with an excitation on one of its signals."""

    def __init__(self, reference: Reference, signal: int, tones: Tones) -> None:
        self.still = np.concatenate([np.asarray(x, dtype=np.float64) for x in reference(0.0)])
        self.signal, self.tones = signal, tones

    def __call__(self, t: float) -> tuple[Array, Array, Array]:
        values, k = self.still.copy(), self.still.size // 3
        values[self.signal] += self.tones(t)
        return values[:k], values[k : 2 * k], values[2 * k :]

    def over(self, times: Array) -> Array:
        """Position, velocity and acceleration, a row (3 k,) for each time."""
        values = np.tile(self.still, (len(times), 1))
        values[:, self.signal] += self.tones.over(times)[:, 0]
        return values


class ExcitedLaw(AroundLaw):
    """A law that begins at rest, with an excitation of its commands or of what it reads, and a report of its efforts.

    Parameters
    ----------
    law : Controller
    start : ndarray, shape (n,)
        States at rest.
    held : ndarray, shape (nu,)
        Efforts that act until the first one arrives, where there is a delay.
    drive : Drive or None
    motors : tuple of str
    tones : Tones, optional
    command : ndarray, shape (nu,), optional
        What one unit of the excitation adds to the efforts.
    plant : Plant, optional
        The machine, whose state is read with an error ...
    reading : tuple of ndarray, shape (nv,) each, optional
        ... of positions and of velocities, for one unit of the excitation.
    """

    def __init__(
        self,
        law: Controller,
        start: Array,
        held: Array,
        drive: Drive | None,
        motors: tuple[str, ...],
        tones: Tones | None = None,
        command: Array | None = None,
        plant: Plant | None = None,
        reading: tuple[Array, Array] | None = None,
    ) -> None:
        self.law, self.initial, self.held, self.begun_drive, self.motors = law, start, held, drive, motors
        self.tones, self.command, self.machine, self.reading = tones, command, plant, reading

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.law.name

    @property
    def drive(self) -> Drive | None:  # type: ignore[override]
        """Drive of the law, which begins at rest."""
        return self.begun_drive

    @property
    def initial_effort(self) -> ArrayLike | None:  # type: ignore[override]
        """Efforts at rest, where the law has a delay."""
        return None if self.law.delay is None else self.held

    def start(self, plant: Plant) -> Array:
        """States of the law at rest."""
        return self.initial

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        added: Any = None if self.tones is None else at_time(self.tones, t)
        if self.reading is not None:
            machine: Any = self.machine
            q = machine.integrate(terms.q, self.reading[0] * added)
            read = machine.as_at(terms).terms(q, terms.v + self.reading[1] * added, terms.t, cap=terms.rank)
            force, terms = terms.force, read.of_independent_rows()
            terms = terms if force is None else terms.with_force(force)
        said = evaluated(self.law, t, terms, state)
        effort = numbers_of(said.effort)
        report = {f"{name}_effort": effort[i] for i, name in enumerate(self.motors)}
        effort = effort if self.command is None else effort + self.command * added
        return Evaluation(effort, said.state, report, said.command)


class BegunDrive(Drive):
    """Drive of a law that begins at rest."""

    def __init__(self, drive: Drive, state: Array) -> None:
        self.drive, self.state = drive, state

    def start(self, plant: Plant) -> Array:
        return self.state

    def evaluate(self, t: float, terms: Terms, command: Array, state: Array) -> Evaluation:
        return self.drive.evaluate(t, terms, command, state)


def sine_record(omega: float, period: float | None) -> Excitation:
    """Record of one sine: a period of it, or whole periods of it in whole samples."""
    zero = np.zeros(1)
    if period is None:
        return Excitation(np.array([1]), zero, _LEAST, 2.0 * np.pi / omega / _LEAST)
    part = omega * period / (2.0 * np.pi)
    _require_below_nyquist(omega, part, period)
    fits = Fraction(part).limit_denominator(max(4 * _LEAST, round(1.0 / part)))  # to 1/500 or better
    times = -(-_FOLD // fits.denominator)  # so that a record has points for lines beside the one of the sine
    return Excitation(np.array([fits.numerator * times]), zero, fits.denominator * times, period)


def multisine_record(omega: Array, period: float | None, phases: str, seed: int) -> Excitation:
    """Record of a multisine, whose first line is the lowest frequency.

    It has odd lines alone: even ones, and odd ones that are left out, show what is not linear. ``phases`` are
    "schroeder", "random", or "chirp": all odd lines up to the highest frequency, one after the other within half a
    record, and backwards with the other sign in the second half.
    """
    low = float(omega.min())
    lines = np.unique(2 * np.round((omega / low - 1.0) / 2.0).astype(np.int64) + 1)
    lines = np.arange(1, lines[-1] + 1, 2) if phases == "chirp" else lines
    points, spacing = _points_of(low, int(lines[-1]), period)
    if period is not None:
        _require_below_nyquist(float(omega.max()), lines[-1] / points, period)
    k = np.arange(lines.size)
    if phases == "random":
        angles = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, lines.size)
    else:  # the group delay grows evenly: Schroeder (1970), and a sweep that has half a record for all lines
        angles = -np.pi * k * (k + (phases == "schroeder")) / lines.size
    return Excitation(lines, angles, points, spacing)


def _points_of(lowest: float, line: int, period: float | None) -> tuple[int, float]:
    """Points of a record of a lowest frequency, and their spacing."""
    length = 2.0 * np.pi / lowest
    if period is not None:
        return max(round(length / period), 2), period
    points = 1 << int(np.ceil(np.log2(max(_LEAST, _FOLD * line))))
    return points, length / points


def _require_below_nyquist(omega: float, part: float, period: float) -> None:
    if part >= 0.5:
        raise InputError(
            f"{omega:.6g} rad/s is not below half the sampling frequency, {np.pi / period:.6g} rad/s (sample time "
            f"{period:g} s); leave such frequencies out"
        )
