"""Gains of drives from the crossover and the phase margin of their loops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..controllers.chain import Chain
from ..controllers.closed_loop import ClosedLoop, linearize_closed_loop
from ..controllers.loop_margins import Margins
from ..controllers.motor_loop import MotorLoop
from ..controllers.references import Constant
from ..controllers.resting import closed_loop_equilibrium
from ..errors import DesignError, InputError, InputTypeError
from ..linear.operating import OperatingPoint, trim
from ..model.plant import Plant

__all__ = ["TunedLoops", "symmetrical_optimum", "tune_loops"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_CLASSIC = float(np.degrees(np.arcsin(0.6)))  # degrees, of Tn = 4 T: 36.87
_ROUNDS = 60  # in which loops that act on one another have to settle
_SETTLED = 1e-10  # relative change of the gains, above what linear models by differences leave


class TunedLoops(NamedTuple):
    """Law with gains found for its loops, and what they give.

    Attributes
    ----------
    law : Controller
        The law, or its chain, with these gains.
    gains : dict of str to ndarray, shape (k,)
        Gains by the names of the law's arguments.
    loop : ClosedLoop
        Linear model of the plant with the law.
    margins : Margins
        Margins at the motors, from that model.
    """

    law: Any
    gains: dict[str, Array]
    loop: ClosedLoop
    margins: Margins

    def __str__(self) -> str:
        law = _motor_loop(self.law)
        lines = [f"gains of {self.loop.name}"]
        for name, values in self.gains.items():
            listed = ", ".join(f"{c} {x:.6g}" for c, x in zip(law.coordinates, values, strict=True))
            lines.append(f"  {name:<16}  {listed}")
        return "\n".join([*lines, str(self.margins)])


def tune_loops(
    plant: Plant,
    law: Any,
    point: OperatingPoint | ArrayLike | Mapping[str, float] | None = None,
    *,
    crossover: ArrayLike,
    phase_margin: ArrayLike,
) -> TunedLoops:
    """Gains of a `Cascade` or `PID` with which the loop of each motor crosses 1 at a frequency, with a phase margin.

    Each loop is opened at its motor while the others are closed, in the linear model of the plant with all that stands
    in the chain: sampling, hold, delays, lags, filters and sensors count exactly, but for steps and noise of encoders.

    Parameters
    ----------
    plant : Plant
        Machine for which the gains are found: without Coulomb friction, say, which ties it down at rest.
    law : Cascade, PID or Chain
        The law, alone or in its chain; what gains it has does not matter.
    point : OperatingPoint, array_like (nq,) or mapping, optional
        Where the machine is; defaults to the configuration ``at`` of the law.
    crossover : float or array_like (k,)
        Frequency at which each loop's gain is 1, rad/s.
    phase_margin : float or array_like (k,)
        Degrees.

    Returns
    -------
    TunedLoops

    Raises
    ------
    InputError
        Where no gains of such a law give these margins.
    DesignError
        Where loops that act on one another do not settle, and where the machine is not stable with the gains.

    Notes
    -----
    A `Cascade` gets a position gain of a quarter of the crossover, a `PID` Ti = 4 Td; what is left is found from the
    response of the loop at the crossover.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.controllers import Cascade, Delay
    >>> plant = plants.five_bar()
    >>> q0 = plant.assemble(left=2.1, right=1.0)
    >>> chain = Cascade(plant, Constant([2.1, 1.0]), at=q0, period=1e-3) | Delay(1e-3)
    >>> tuned = tune_loops(plant, chain, q0, crossover=40.0, phase_margin=50.0)
    >>> [(x.channel, round(x.phase, 6), round(x.phase_frequency, 6)) for x in tuned.margins.loops]
    [('left', 50.0, 40.0), ('right', 50.0, 40.0)]
    """
    _check.plant(plant)
    inner = _motor_loop(law)
    k = len(inner.coordinates)
    w = _check.each(crossover, k, "the crossover, rad/s,")
    margins = _check.each(phase_margin, k, "the phase margin, degrees,")
    if (margins >= 180.0).any():
        raise InputError(f"the phase margin must be below 180 degrees, got {margins.tolist()}")
    if inner.period is not None and (w >= np.pi / inner.period).any():
        raise InputError(
            f"a loop sampled each {inner.period:g} s cannot cross at {w.max():g} rad/s: beyond "
            f"{np.pi / inner.period:.4g} rad/s its samples do not tell frequencies apart"
        )
    if point is None:
        point = plant.assemble() if inner.at is None else inner.at
    trial = _Trial(plant, law, inner, trim(plant, point.q if isinstance(point, OperatingPoint) else point))
    integral = 1.0 / (1j * w) if inner.period is None else inner.period / np.expm1(1j * w * inner.period)

    def gains_of(i: int, others: Gains | None) -> dict[str, float]:
        return inner.gains_for(trial.responses(i, w[i], others), integral[i], w[i], np.radians(margins[i]))

    found: Gains = [gains_of(i, None) for i in range(k)]  # for loops that do not know of each other
    for _ in range(_ROUNDS):
        before, change = found, 0.0
        for i in range(k if k > 1 else 0):
            found = [*found[:i], gains_of(i, found), *found[i + 1 :]]
            change = max(
                change, *(abs(found[i][n] / before[i][n] - 1.0) for n in found[i] if np.isfinite(before[i][n]))
            )
        if change <= _SETTLED:
            break
    else:
        raise DesignError(
            f"the loops of {', '.join(inner.coordinates)} act on one another, and their gains do not settle: they "
            f"still change by {100.0 * change:.2g} % a round. Let them cross further apart, or lower"
        )
    gains = {name: np.array([x[name] for x in found]) for name in found[0]}
    loop = trial.loop(gains)
    if not loop.stable:
        raise DesignError(
            f"{loop.name} is not stable with the gains that give these margins: its poles reach "
            f"{loop.continuous_poles().real.max():.4g} 1/s. Other frequencies than the crossover decide there, of a "
            "resonance, say: cross lower, or take it out with a Notch"
        )
    return TunedLoops(_with_law(law, inner.with_gains(**gains)), gains, loop, loop.margins())


Gains = list[dict[str, float]]  # of each coordinate, by name


def _motor_loop(law: Any) -> MotorLoop:
    """The law whose gains are looked for; refuses others."""
    inner = law.law if isinstance(law, Chain) else law
    if not isinstance(inner, MotorLoop):
        raise InputTypeError(f"tune_loops finds the gains of a Cascade or a PID, alone or in a chain, got {law!r}")
    return inner


def _with_law(law: Any, inner: MotorLoop) -> Any:
    """The law, or its chain, with another one inside."""
    return law._around(inner) if isinstance(law, Chain) else inner


class _Trial:
    """Loops of a plant at rest under a law with gains that are tried."""

    def __init__(self, plant: Plant, law: Any, inner: MotorLoop, point: OperatingPoint) -> None:
        self.plant, self.inner = plant, inner
        self.law = Chain(*(x for x in law.parts if not getattr(x, "rough", False))) if isinstance(law, Chain) else law
        terms = plant.terms(point.q, np.zeros(plant.nv))
        self._reference, u = Constant(inner.task.value(terms)), point.u
        if isinstance(self.law, Chain):  # what comes through filters at rest
            through = np.eye(plant.nu)
            for block in (*self.law.blocks, *getattr(self.law.drive, "blocks", ())):
                through = np.stack([block.at_rest(x) for x in through.T], axis=1)
            u = np.asarray(np.linalg.lstsq(through, u, rcond=None)[0], dtype=np.float64)
        self._efforts = u
        begin = {name: 1.0 for name in inner.no_gains} | inner.trials[-1]
        self._rest = closed_loop_equilibrium(plant, self._law(begin), point)

    def _law(self, gains: Mapping[str, ArrayLike]) -> Any:
        inner = self.inner.with_gains(**gains).with_reference(self._reference).holding(self._efforts)
        return _with_law(self.law, inner)

    def loop(self, gains: Mapping[str, ArrayLike]) -> ClosedLoop:
        """Linear model with gains."""
        return linearize_closed_loop(self.plant, self._law(gains), self._rest, find_equilibrium=False)

    def responses(self, i: int, w: float, others: Gains | None = None) -> Complex:
        """Responses (trials,) at a frequency of the loop of one motor, opened there, with the gains of each trial."""
        none = self.inner.no_gains
        rows = [none] * len(self.inner.coordinates) if others is None else others
        found = []
        for trial in self.inner.trials:
            tried = [*rows[:i], none | trial, *rows[i + 1 :]]
            loop = self.loop({name: np.array([x[name] for x in tried]) for name in none})
            found.append(loop.response(self.inner.motors[i], w))
        return np.array(found)


def symmetrical_optimum(inertia: float, lag: float, phase_margin: float = _CLASSIC) -> dict[str, float]:
    """Gains of a velocity loop on an inertia by the symmetrical optimum (Kessler, 1958).

    A PI controller Kp (1 + 1/(Tn s)) meets an inertia 1/(J s) behind a lag 1/(1 + T s), in which current loop, hold and
    delays are put together. Crossing 1 at the middle of the corners 1/Tn and 1/T gives the largest phase margin.

    Parameters
    ----------
    inertia : float
        J that the motor moves: effort by acceleration of the coordinate, kg m2 or kg; of a machine at rest
        ``1 / model.B[row of the rate, motor]``.
    lag : float
        T, s: time constants and delays added up.
    phase_margin : float
        Degrees; defaults to that of the ratio Tn = 4 T.

    Returns
    -------
    dict
        ``velocity_gain`` and ``integral_time`` for a `Cascade`, and the ``crossover`` that they promise, rad/s.

    Examples
    --------
    >>> {name: round(x, 6) for name, x in symmetrical_optimum(inertia=2.0, lag=0.005).items()}
    {'velocity_gain': 200.0, 'integral_time': 0.02, 'crossover': 100.0}
    """
    J, T = _check.positive(inertia, "inertia"), _check.positive(lag, "lag")
    phase = np.radians(_check.positive(phase_margin, "phase_margin"))
    if phase >= 0.5 * np.pi:
        raise InputError(f"a PI loop on an inertia has a phase margin below 90 degrees, got {phase_margin:g}")
    ratio = float((1.0 + np.sin(phase)) / np.cos(phase))  # of the crossover to 1/Tn, and of 1/T to the crossover
    return {"velocity_gain": J / (ratio * T), "integral_time": ratio**2 * T, "crossover": 1.0 / (ratio * T)}
