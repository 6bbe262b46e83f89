"""Responses of a closed loop: sensitivities over frequency, steps of references and disturbances, noise of sensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..controllers.closed_loop import ClosedLoop
from ..controllers.loop_margins import BrokenLoop, largest_mu
from ..errors import InputError
from ..linear.norms import Response, growth, h2_norm, response
from ..linear.sampled import zero_order_hold

__all__ = [
    "NoiseGain",
    "Sensitivities",
    "StepResponse",
    "followed",
    "noise_curves",
    "noise_gains",
    "ratio_of_units",
    "sensitivities",
    "step_response",
]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_POINTS = 600  # frequencies, and times in continuous time
_MOST = 990  # frequencies with those beside poles: more are too many for marks on curves of matplotlib
_SAMPLES = 20_000  # of a sampled loop, at most
_DECAYS = 14.0  # time constants of the slowest mode after which nothing moves, to 1e-6
_SETTLED = 0.02  # of the change: the settling time is the last at which more is left
_SHOWN = 2.5  # settling times of a response that is shown
_RINGS = 0.3  # damping ratio below which a pole has a peak
_BESIDE = (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3)  # relative distances from a pole at which the response is computed, too


class Sensitivities(NamedTuple):
    """Loop transfer of one motor with the others closed, and its sensitivities.

    Attributes
    ----------
    motor : str
    omega : ndarray, shape (f,)
        rad/s.
    L, S, T : ndarray, shape (f,)
        Complex: the loop transfer, S = 1 / (1 + L) and T = L / (1 + L).
    """

    motor: str
    omega: Array
    L: Complex
    S: Complex
    T: Complex


def sensitivities(loop: ClosedLoop, motor: str, omega: Array | None = None) -> Sensitivities:
    """Loop transfer and sensitivities at one motor, the others closed, exact in sampled time, too.

    Parameters
    ----------
    loop : ClosedLoop
    motor : str
    omega : ndarray, optional
        rad/s; a range around all poles, in sampled time up to half the sample frequency, unless given.
    """
    S = loop.sensitivity(motor)
    omega = _frequencies(loop) if omega is None else np.asarray(omega, dtype=float)
    values = S(_warped(S, omega))[:, 0, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        L = 1.0 / values - 1.0
    return Sensitivities(motor, omega, L, values, 1.0 - values)


def _warped(S: Response, omega: Array) -> Array:
    """Frequencies of a response in continuous time that stand for those of the loop."""
    return 2.0 / S.dt * np.tan(0.5 * omega * S.dt) if S.dt else omega


def _frequencies(loop: ClosedLoop) -> Array:
    """Frequencies around all poles, of the plant and of the loop; denser beside those that hardly decay."""
    poles = np.concatenate([loop.plant.poles(), loop.continuous_poles()])
    sizes = np.abs(poles[np.isfinite(poles)])
    sizes = sizes[sizes > 1e-6 * sizes.max(initial=1e-300)]
    low, high = (0.05 * sizes.min(), 20.0 * sizes.max()) if sizes.size else (0.1, 10.0)
    last = np.pi / loop.dt * (1.0 - 1e-6) if loop.dt else np.inf
    low, high = max(min(low, 0.05 * last), 1e-6 * high), min(high, last)
    ringing = np.unique(np.abs(poles[np.isfinite(poles) & (np.abs(poles.real) < _RINGS * np.abs(poles))]).round(12))
    near = [w * (1.0 + sign * x) for x in _BESIDE for w in ringing for sign in (-1.0, 1.0)]
    omega = np.unique(np.concatenate([np.geomspace(low, high, _POINTS), near[: _MOST - _POINTS]]))
    return omega[(omega >= low) & (omega <= high)]


# -- steps ---------------------------------------------------------------------------------------------------


class StepResponse(NamedTuple):
    """Response to a unit step of one input, in deviations from where the loop rests.

    Attributes
    ----------
    input, unit : str
        Name of the input and its unit.
    outputs, output_units : tuple of str
    time : ndarray, shape (t,)
        s; the samples of a sampled loop.
    values : ndarray, shape (t, outputs)
    final, peak : ndarray, shape (outputs,)
        Value at rest, and the value that is largest by size.
    rise, settling, overshoot : ndarray, shape (outputs,)
        Time from 10 to 90 % of the final value and time after which it stays within 2 %, s, and overshoot, % of the
        final value; nan for an output whose final value is zero, or so small beside the others that it is not settled.
    """

    input: str
    unit: str
    outputs: tuple[str, ...]
    output_units: tuple[str, ...]
    time: Array
    values: Array
    final: Array
    peak: Array
    rise: Array
    settling: Array
    overshoot: Array


def followed(loop: ClosedLoop) -> list[str]:
    """Coordinates that are outputs of the loop and have a reference."""
    names = [name.removesuffix("_ref") for name in loop.inputs if name.endswith("_ref")]
    return [name for name in names if name in loop.outputs and f"{name}_rate_ref" in loop.inputs]


def step_response(loop: ClosedLoop, input: str, outputs: Sequence[str]) -> StepResponse:
    """Response of outputs to a unit step of an input, until they have settled; exact at the times that it has.

    Raises
    ------
    ValueError
        Where a mode that the input moves and the outputs show does not decay, and for unknown names.
    """
    import control

    _check.one_of(input, loop.inputs, "input")
    names = tuple(_check.names(outputs, "outputs", loop.outputs, "output"))
    j, rows = loop.inputs.index(input), [loop.outputs.index(name) for name in names]
    way = BrokenLoop(loop.name, "", loop.dt, loop.A, loop.B[:, [j]], loop.C[rows], ()).without_hidden()[0]
    A, B, C, D = way.A, way.entry, way.exit, loop.D[rows][:, [j]]
    poles = np.linalg.eigvals(A)
    if not (growth(poles, loop.dt) < 0.0).all():
        raise InputError(f"{loop.name} does not come to rest after a step of {input}: it is not stable")
    n = len(A)
    at_rest = np.linalg.solve(np.eye(n) - A if loop.dt else -A, B) if n else B
    final = (C @ at_rest + D)[:, 0]
    decays = -np.log(np.maximum(np.abs(poles), 1e-300)) / loop.dt if loop.dt else -poles.real
    length = _DECAYS / decays.min() if n else 1.0
    for _ in range(8):  # modes that decay slowly but hardly take part would make the picture too long
        time, values = _stepped(A, B, C, D, loop.dt, length)
        left = np.abs(values - final).max(axis=1) > _SETTLED * max(np.abs(values).max(), np.abs(final).max())
        settled = time[np.flatnonzero(left)[-1]] if left.any() else 0.0
        if _SHOWN * settled > 0.5 * length or (loop.dt and length <= 8.0 * loop.dt):
            break
        length = max(_SHOWN * settled, 0.05 * length)
    found = {"RiseTime": [], "SettlingTime": [], "Overshoot": []}
    for y, end in zip(values.T, final, strict=True):
        known = abs(end) > 1e-9 * np.abs(y).max(initial=0.0) and abs(y[-1] - end) < _SETTLED * abs(end)
        info = control.step_info(y, T=time, yfinal=end, SettlingTimeThreshold=_SETTLED) if known else {}
        for key, column in found.items():
            column.append(float(info.get(key, np.nan)))
    peak = values[np.abs(values).argmax(axis=0), np.arange(len(names))]
    units = tuple(loop.output_units[i] for i in rows)
    metrics = [np.array(column) for column in found.values()]
    return StepResponse(input, loop.input_units[j], names, units, time, values, final, peak, *metrics)


def _stepped(A: Array, B: Array, C: Array, D: Array, dt: float, length: float) -> tuple[Array, Array]:
    """Times, and outputs (t, outputs) after a unit step at time zero."""
    if not dt:
        time = np.linspace(0.0, length, _POINTS + 1)
        hold = zero_order_hold(A, B, time[1])
        A, B = hold.A, hold.B
    else:
        time = dt * np.arange(min(int(np.ceil(length / dt)) + 2, _SAMPLES))
    x, values = np.zeros(len(A)), np.empty((time.size, len(C)))
    for k in range(time.size):
        values[k] = C @ x + D[:, 0]
        x = A @ x + B[:, 0]
    return time, values


def ratio_of_units(unit: str, over: str) -> str:
    """Unit of a gain.

    Examples
    --------
    >>> ratio_of_units("N m", "rad/s"), ratio_of_units("rad", "N")
    ('N m/(rad/s)', 'rad/N')
    """
    return f"{unit}/({over})" if set(over) & set(" /") else f"{unit}/{over}" if over else unit


# -- noise ---------------------------------------------------------------------------------------------------


class NoiseGain(NamedTuple):
    """What noise of one reading does to the effort of one motor.

    Attributes
    ----------
    reading, motor, unit : str
        State of the plant that is measured, motor, unit of the gain.
    rms : float
        RMS of the effort over that of white noise, drawn anew at each sample; infinite in continuous time where the
        effort follows noise of any frequency.
    peak, frequency : float
        Largest gain over all frequencies, and where it is, rad/s.
    """

    reading: str
    motor: str
    unit: str
    rms: float
    peak: float
    frequency: float


def noise_gains(loop: ClosedLoop) -> list[NoiseGain]:
    """Noise from each state of the plant, as the law gets it, to the efforts that the law asks for; without those of 0.

    In continuous time the RMS is that for white noise of unit density, 1/sqrt(Hz) on both sides: the H2 norm.
    """
    A, B, C, D = loop.noise_system()
    found = []
    omega = np.append(0.0, _frequencies(loop))
    units = dict(zip(loop.outputs, loop.output_units, strict=True))
    size = np.abs(response(A, B, C, D, loop.dt)(np.array([0.0, 1.0, 1e3]))).max(initial=0.0)
    for i, motor in enumerate(loop.motors):
        for j, reading in enumerate(loop.plant.states):
            way = BrokenLoop(loop.name, "", loop.dt, A, B[:, [j]], C[[i]], ()).without_hidden()[0]
            R = response(way.A, way.entry, way.exit, D[[i]][:, [j]], loop.dt)
            values = R(_warped(R, omega))
            if np.abs(values).max() <= 1e-12 * size:
                continue
            peak, at = largest_mu(R, (_warped(R, omega), values))
            direct = float(D[i, j])
            rms = np.hypot(h2_norm(way.A, way.entry, way.exit, loop.dt or None), direct) if len(way.A) else abs(direct)
            rms = float(rms) if loop.dt or not direct else np.inf
            unit = ratio_of_units(units.get(f"{motor}_effort", ""), loop.plant.state_units[j])
            found.append(NoiseGain(reading, motor, unit, rms, peak, R.frequency(at)))
    return found


def noise_curves(loop: ClosedLoop) -> tuple[Array, dict[str, dict[str, Array]]]:
    """Gains from all readings of one unit together to the effort of each motor, over frequency.

    Returns
    -------
    omega : ndarray, shape (f,)
        rad/s.
    gains : dict of label to dict of motor to ndarray, shape (f,)
        Root of the sum of the squares of the gains from the readings of one unit.
    """
    A, B, C, D = loop.noise_system()
    omega, X = _frequencies(loop), response(A, B, C, D, loop.dt)
    squares = np.abs(X(_warped(X, omega))) ** 2
    efforts = dict(zip(loop.outputs, loop.output_units, strict=True))
    found: dict[str, dict[str, Array]] = {}
    for i, motor in enumerate(loop.motors):
        for unit in dict.fromkeys(loop.plant.state_units):
            gains = np.sqrt(squares[:, i, [u == unit for u in loop.plant.state_units]].sum(axis=1))
            if gains.any():
                label = f"{efforts.get(f'{motor}_effort', 'effort')} per {unit or 'state'}"
                found.setdefault(label, {})[motor] = gains
    return omega, found
