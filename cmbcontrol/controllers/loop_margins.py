"""How much gain, phase and delay a loop bears: a channel at a time, and all at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError

__all__ = ["BrokenLoop", "LoopMargins", "Margins", "largest_mu", "loop_margins"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


class LoopMargins(NamedTuple):
    """Margins of one channel, with the others closed.

    Attributes
    ----------
    channel : str
    gain_up, gain_down : float
        Change of the gain that brings the loop to the border of stability, dB: upwards (inf where there is none)
        and downwards (-inf).
    gain_frequency : float
        Of the nearer of the two, rad/s (nan where there is neither).
    phase : float
        Change of phase that does, deg (inf where the gain never is 1).
    phase_frequency : float
        rad/s.
    delay : float
        Additional delay that does, s.
    modulus : float
        Smallest distance of L from -1, the inverse of the largest sensitivity.
    modulus_frequency : float
        rad/s.
    """

    channel: str
    gain_up: float
    gain_down: float
    gain_frequency: float
    phase: float
    phase_frequency: float
    delay: float
    modulus: float
    modulus_frequency: float


@dataclass(frozen=True)
class Margins:
    """Margins of a closed loop: a channel at a time, and all at once.

    Attributes
    ----------
    name, at : str
        Of the loop, and the place where it is broken: the plant's "input" or "output".
    loops : tuple of LoopMargins
    disk : float
        Disk margin alpha: all channels may vary at once, each by any complex factor (1 + alpha d/2)/(1 - alpha d/2)
        with abs(d) < 1.
    disk_gain : float
        Gain that all channels may gain or lose at once, each on its own, dB.
    disk_phase : float
        The same of phase, deg.
    disk_frequency : float
        Where it is smallest, rad/s.
    """

    name: str
    at: str
    loops: tuple[LoopMargins, ...]
    disk: float
    disk_gain: float
    disk_phase: float
    disk_frequency: float

    def __str__(self) -> str:
        lines = [
            f"margins of {self.name}, at the plant {self.at}",
            "  channel           gain [dB]          phase [deg]  at [rad/s]  delay [s]  modulus  at [rad/s]",
        ]
        for x in self.loops:
            lines.append(
                f"  {x.channel:<16}  {x.gain_down:7.2f} {x.gain_up:+7.2f}    {x.phase:9.2f}    {x.phase_frequency:8.4g}"
                f"  {x.delay:9.3g}  {x.modulus:7.3f}  {x.modulus_frequency:8.4g}"
            )
        lines.append(
            f"  all at once: gain +-{self.disk_gain:.2f} dB or phase +-{self.disk_phase:.2f} deg each (disk margin "
            f"{self.disk:.3f} at {self.disk_frequency:.4g} rad/s)"
        )
        return "\n".join(lines)


class BrokenLoop(NamedTuple):
    """A closed loop dx/dt = A x (or x(k+1) = A x), and where it is broken open: L = -exit (s - opened)^-1 entry.

    Attributes
    ----------
    name, at : str
        Of the loop, and the place where it is broken.
    dt : float
        Sample time, s; 0 in continuous time.
    A : ndarray, shape (n, n)
        Of the loop while it is closed.
    entry : ndarray, shape (n, k)
        Where the signals enter.
    exit : ndarray, shape (k, n)
        Where they return, with the sign that they enter with.
    channels : tuple of str
    """

    name: str
    at: str
    dt: float
    A: Array
    entry: Array
    exit: Array
    channels: tuple[str, ...]

    @property
    def opened(self) -> Array:
        """A of the open loop."""
        return self.A - self.entry @ self.exit

    def only(self, channel: str) -> BrokenLoop:
        """Broken at one channel, with the others closed."""
        _check.one_of(channel, self.channels, f"channel at the plant {self.at}")
        k = [self.channels.index(channel)]
        return self._replace(entry=self.entry[:, k], exit=self.exit[k], channels=(channel,))

    def sensitivity(self, omega: Array) -> Complex:
        """S = (1 + L)^-1 (frequencies, k, k), which has the poles of the closed loop alone."""
        s = np.exp(1j * omega * self.dt) if self.dt else 1j * omega
        shifted = s[:, None, None] * np.eye(len(self.A)) - self.A
        return np.eye(len(self.channels)) + self.exit @ np.linalg.solve(shifted, self.entry.astype(complex)[None])


def loop_margins(loop: BrokenLoop, omega: ArrayLike | None = None) -> Margins:
    """Margins of a stable loop at the place where it is broken: a channel at a time, and all at once."""
    omega = _frequencies(loop) if omega is None else _increasing(omega)
    S = loop.sensitivity(omega)
    margins = [_channel_margins(loop, k, S[:, k, k], omega) for k in range(len(loop.channels))]
    worst, where = largest_mu(S - 0.5 * np.eye(len(loop.channels)))
    alpha = 1.0 / worst
    gain = 20.0 * np.log10((2.0 + alpha) / (2.0 - alpha)) if alpha < 2.0 else np.inf
    phase = float(np.degrees(2.0 * np.arctan(0.5 * alpha)))
    return Margins(loop.name, loop.at, tuple(margins), alpha, float(gain), phase, float(omega[where]))


def _increasing(omega: ArrayLike) -> Array:
    omega = _check.numbers(omega, "omega")
    omega = _check.vector(omega, omega.size, "omega")
    if omega.size < 2 or omega[0] <= 0.0 or np.any(np.diff(omega) <= 0.0):
        raise InputError("omega must be at least two frequencies > 0 that increase, rad/s")
    return omega


def _loop_of(S: Complex) -> Complex:
    """L = 1/S - 1; huge at poles of L."""
    return 1.0 / np.where(np.abs(S) < 1e-300, 1e-300, S) - 1.0


def _frequencies(loop: BrokenLoop) -> Array:
    """A grid around all poles, open and closed, dense at resonances."""
    values = np.concatenate([np.linalg.eigvals(loop.opened), np.linalg.eigvals(loop.A)]).astype(complex)
    if loop.dt:
        values = np.log(values[np.abs(values) > 1e-12]) / loop.dt
    size = np.abs(values)
    size = size[size > 1e-6 * size.max(initial=0.0)]
    low, high = (0.01 * size.min(), 100.0 * size.max()) if size.size else (1e-2, 1e2)
    if loop.dt:
        low, high = min(low, 0.01 * np.pi / loop.dt), np.pi / loop.dt * (1.0 - 1e-9)
    grid = [np.geomspace(low, high, 2000)]
    for value in values[values.imag > 1e-9 * np.abs(values)]:
        width = max(abs(value.real), 1e-4 * value.imag)
        grid.append(value.imag + width * np.linspace(-5.0, 5.0, 100))
    omega = np.unique(np.concatenate(grid))
    return omega[(omega >= low) & (omega <= high)]


def _channel_margins(loop: BrokenLoop, k: int, S: Complex, omega: Array) -> LoopMargins:
    """Classical margins of channel k, whose loop with the others closed is 1 / S_kk - 1."""
    import control

    def sensitivity(w: Array) -> Complex:
        return loop.sensitivity(w)[:, k, k]

    response = control.frd(_loop_of(S), omega)
    _, phase, _, w_gain, w_phase, w_modulus = control.stability_margins(response, returnall=True)
    # at the ends of the axis L is real, and poles may cross there: python-control looks in between
    w_gain = np.concatenate([[0.0], w_gain, [np.pi / loop.dt] if loop.dt else []])
    real = _loop_of(sensitivity(w_gain))
    # the splines between the frequencies go astray near undamped poles: keep what L itself confirms
    true = (np.abs(real.imag) < 1e-2 * np.abs(real)) & (real.real < 0.0) & (np.abs(real) < 1e8)
    gain, w_gain = -20.0 * np.log10(np.abs(real[true])), w_gain[true]
    true = np.abs(np.abs(_loop_of(sensitivity(w_phase))) - 1.0) < 1e-2
    phase, w_phase = phase[true], w_phase[true]
    w_modulus = np.append(w_modulus, omega)
    size = np.abs(np.append(sensitivity(w_modulus[: -omega.size]), S))
    nearest = int(np.argmax(size))
    i, j = (int(np.argmin(np.abs(x))) if x.size else None for x in (gain, phase))
    return LoopMargins(
        channel=loop.channels[k],
        gain_up=float(gain[gain > 0.0].min(initial=np.inf)),
        gain_down=float(gain[gain < 0.0].max(initial=-np.inf)),
        gain_frequency=float("nan") if i is None else float(w_gain[i]),
        phase=float("inf") if j is None else float(abs(phase[j])),
        phase_frequency=float("nan") if j is None else float(w_phase[j]),
        delay=float((np.radians(phase % 360.0) / w_phase).min(initial=np.inf)),
        modulus=float(1.0 / size[nearest]),
        modulus_frequency=float(w_modulus[nearest]),
    )


def largest_mu(X: Complex) -> tuple[float, int]:
    """Largest upper bound of mu over frequencies, X (frequencies, n, n), and where; for full complex scalars.

    Bounds that the Perron vectors of abs(X) give show which frequencies are worth the minimization.
    """
    if X.shape[1] == 1:
        size = np.abs(X[:, 0, 0])
        return float(size.max()), int(size.argmax())
    scalings = _perron_scalings(np.abs(X))
    bounds = np.linalg.norm(X * np.exp(scalings[:, :, None] - scalings[:, None, :]), 2, axis=(1, 2))
    best, where = 0.0, 0
    for k in np.argsort(-bounds):
        if bounds[k] <= best * (1.0 + 1e-6):
            break
        optimum = _mu(X[k], scalings[k])
        if optimum > best:
            best, where = optimum, int(k)
    return best, where


def _perron_scalings(size: Array) -> Array:
    """log d (frequencies, n) that balances the Perron vectors of matrices with entries >= 0."""
    size = size + 1e-12 * size.max(axis=(1, 2), keepdims=True)
    right, left = np.ones(size.shape[:2]), np.ones(size.shape[:2])
    for _ in range(30):
        right, left = np.einsum("fij,fj->fi", size, right), np.einsum("fji,fj->fi", size, left)
        right, left = right / right.max(axis=1, keepdims=True), left / left.max(axis=1, keepdims=True)
    return 0.5 * np.log(left / right)


def _mu(X: Complex, start: Array) -> float:
    """Smallest largest singular value of exp(d) X exp(-d), convex in d."""
    from scipy.optimize import minimize

    def log_norm(d: Array) -> tuple[float, Array]:
        U, sigma, Vh = np.linalg.svd(X * np.exp(d[:, None] - d))
        return float(np.log(sigma[0])), np.abs(U[:, 0]) ** 2 - np.abs(Vh[0]) ** 2

    optimum = minimize(log_norm, start, jac=True, method="BFGS", options={"gtol": 1e-7})
    return float(np.exp(min(optimum.fun, log_norm(start)[0])))
