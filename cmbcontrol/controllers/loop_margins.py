"""Gain, phase and delay margins of a loop: a channel at a time, and all at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputError
from ..linear.balancing import balanced, bilinear
from ..linear.controllability import reached
from ..linear.invariant_subspaces import decoupled

__all__ = [
    "BrokenLoop",
    "LoopMargins",
    "Margins",
    "Response",
    "bandwidth",
    "border_unit",
    "growth",
    "largest_mu",
    "loop_margins",
    "mu",
    "response",
    "sampled_delay",
]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Sampled = tuple[Array, Complex]  # frequencies, and the responses there
Later = Callable[[int, float], "BrokenLoop"]

_AXIS = 1e-3  # of an eigenvalue: real over absolute value, below which it may be one on the imaginary axis
_LEVEL = 1e-8  # relative, to which largest values over all frequencies are found
_MOST = 200  # parts of the axis that are looked at; a handful is usual

# Of the size of a balanced A (of 1 in sampled time): poles this near to the border of stability may stand on it.
# Double ones, as of a free motion, are found to 1e-8.
_BORDER = 1e-7
_HIDDEN = 1e-7  # of where a loop is broken: what it sees, or moves, of a mode on the border that is no part of it


class LoopMargins(NamedTuple):
    """Margins of one channel, with the others closed.

    Attributes
    ----------
    channel : str
    gain_up, gain_down : float
        Change of the gain that brings the loop to the border of stability, dB: upwards (inf where there is none)
        and downwards (-inf).
    gain_frequency : float
        Frequency of the nearer of the two, rad/s (nan where there is neither).
    phase : float
        Change of phase that does so, deg (inf where the gain never is 1); negative where the loop is not stable.
    phase_frequency : float
        Frequency of this change, rad/s.
    delay : float
        Additional delay that does so, s (inf where no delay does): in a sampled loop, of all that is held, or read. Nan
        where the loop is not stable.
    modulus : float
        Smallest distance of L from -1, the inverse of the largest sensitivity.
    modulus_frequency : float
        Frequency of this distance, rad/s.
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
        Name of the loop, and the place where it is broken: the plant's "input" or "output".
    loops : tuple of LoopMargins
    disk : float
        Disk margin alpha: all channels may vary at once, each by any complex factor (1 + alpha d/2)/(1 - alpha d/2)
        with abs(d) < 1.
    disk_gain : float
        Gain that all channels may gain or lose at once, each on its own, dB.
    disk_phase : float
        Phase that all channels may gain or lose at once, each on its own, deg.
    disk_frequency : float
        Frequency at which the disk margin is smallest, rad/s.
    stable : bool
        Whether the loop is stable. If it is not, gains and phases are the changes that bring it to the border, and the
        disk margin is 0.
    outside : tuple of complex
        Poles on the border of stability that are no part of the loop where it is broken, 1/s, or per sample: of a
        position on which nothing depends, say.
    """

    name: str
    at: str
    loops: tuple[LoopMargins, ...]
    disk: float
    disk_gain: float
    disk_phase: float
    disk_frequency: float
    stable: bool = True
    outside: tuple[complex, ...] = ()

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
        if self.outside:
            poles = ", ".join(_shown(x) for x in self.outside)
            lines.append(f"  on the border of stability, but no part of the loop: poles at {poles}")
        if not self.stable:
            lines.append("  the loop is not stable: the values are the changes that bring it to the border")
            return "\n".join(lines)
        lines.append(
            f"  all at once: gain +-{self.disk_gain:.2f} dB or phase +-{self.disk_phase:.2f} deg each (disk margin "
            f"{self.disk:.3f} at {self.disk_frequency:.4g} rad/s)"
        )
        return "\n".join(lines)


def _shown(pole: complex) -> str:
    return f"{pole:.6g}" if pole.imag else f"{pole.real:.6g}"


class BrokenLoop(NamedTuple):
    """A closed loop dx/dt = A x (or x(k+1) = A x) with signals where it is broken: L = -exit (s - opened)^-1 entry.

    Attributes
    ----------
    name, at : str
        Name of the loop, and the place where it is broken.
    dt : float
        Sample time, s; 0 in continuous time.
    A : ndarray, shape (n, n)
        Matrix of the closed loop.
    entry : ndarray, shape (n, k)
        Columns by which the signals enter.
    exit : ndarray, shape (k, n)
        Rows by which they return, with the sign that they enter with.
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
        """Matrix A of the open loop."""
        return self.A - self.entry @ self.exit

    def only(self, channel: str) -> BrokenLoop:
        """Loop broken at one channel, with the others closed."""
        _check.one_of(channel, self.channels, f"channel at the plant {self.at}")
        k = [self.channels.index(channel)]
        return self._replace(entry=self.entry[:, k], exit=self.exit[k], channels=(channel,))

    @property
    def border(self) -> float:
        """Distance from the border of stability, as `growth`, up to which a pole counts as on it."""
        if self.dt or not len(self.A):
            return _BORDER
        return _BORDER * float(np.linalg.norm(balanced(self.A, self.entry, self.exit)[0], 2))

    def without_hidden(self) -> tuple[BrokenLoop, Complex]:
        """Loop without modes on the border of stability that are no part of it where it is broken; and their poles.

        Modes on the border, or beyond, are split off (ordered Schur form, and a Sylvester equation); those that are
        observable at `exit` and controllable from `entry` stay.
        """
        from scipy.linalg import schur

        A, entry, exit = balanced(self.A, self.entry, self.exit)
        border = self.border
        if not (growth(np.linalg.eigvals(A), self.dt) >= -border).any():
            return self, np.zeros(0, dtype=complex)

        def on_border(x: complex, y: float = 0.0) -> bool:
            return bool(growth(np.array(x + 1j * y), self.dt) >= -border)

        T, Q, n = schur(A, sort=on_border)
        parts = decoupled(T, Q, n)
        group, rest = parts.T, parts.T_rest
        E_group, E_rest, F_group, F_rest = parts.Y @ entry, parts.Y_rest @ entry, exit @ parts.X, exit @ parts.X_rest
        E, F = Q.T @ entry, exit @ Q
        seen, moved = np.abs(F).max(axis=1, keepdims=True), np.abs(E).max(axis=0)[:, None]  # of all modes
        for dual in (False, True):  # what is seen; then, of that, what is moved
            rows, at, unit = (E_group.T, group.T, moved) if dual else (F_group, group, seen)
            kept = reached(rows / np.maximum(unit, 1e-300), at, _HIDDEN)
            group, E_group, F_group = kept.T @ group @ kept, kept.T @ E_group, F_group @ kept
        if len(group) == n:
            return self, np.zeros(0, dtype=complex)
        hidden = list(np.linalg.eigvals(T[:n, :n]).astype(complex))
        for value in np.linalg.eigvals(group) if len(group) else ():
            hidden.pop(int(np.argmin(np.abs(np.array(hidden) - value))))
        k, m = len(group), len(rest)
        A = np.block([[group, np.zeros((k, m))], [np.zeros((m, k)), rest]])
        entry, exit = np.vstack([E_group, E_rest]), np.hstack([F_group, F_rest])
        return self._replace(A=A, entry=entry, exit=exit), np.array(hidden)

    def sensitivity(self) -> Response:
        """Sensitivity S = (1 + L)^-1 = 1 + exit (s - A)^-1 entry, which has the poles of the closed loop alone."""
        return response(self.A, self.entry, self.exit, np.eye(len(self.channels)), self.dt)


class Response(NamedTuple):
    """Frequency response C (s - A)^-1 B + D, stable, in continuous time, on the imaginary axis; see `response`."""

    A: Array
    B: Array
    C: Array
    D: Array
    dt: float = 0.0

    def frequency(self, w: float) -> float:
        """Frequency of the loop itself, rad/s, that the frequency w here stands for."""
        return float(2.0 / self.dt * np.arctan(0.5 * w * self.dt)) if self.dt else float(w)

    def __call__(self, omega: Array) -> Complex:
        """Responses (frequencies, k, k) at s = i omega, which may be infinite."""
        return self.with_slope(omega, False)[0]

    def with_slope(self, omega: Array, slope: bool = True) -> tuple[Complex, Complex]:
        """Responses (frequencies, k, k) at s = i omega, and with `slope` their derivatives by omega."""
        n = len(self.A)
        shifted = np.empty((len(omega), n * n), dtype=complex)
        shifted[:] = -self.A.ravel()
        finite = omega < np.inf
        shifted[:, :: n + 1] += 1j * np.where(finite, omega, 0.0)[:, None]
        shifted = shifted.reshape(-1, n, n)
        X = np.linalg.solve(shifted, self.B)
        found = self.C @ X * finite[:, None, None] + self.D
        return found, -1j * self.C @ np.linalg.solve(shifted, X) if slope else found

    def channel(self, k: int) -> Response:
        """Response from and to one channel."""
        return self._replace(B=self.B[:, [k]], C=self.C[[k]], D=self.D[[k]][:, [k]])

    def minus(self, x: float) -> Response:
        """Response less x times the identity."""
        return self._replace(D=self.D - x * np.eye(len(self.D)))

    def scaled(self, log_d: Array) -> Response:
        """Response D X D^-1 with a diagonal scaling D = exp(log_d)."""
        d = np.exp(log_d)
        return self._replace(B=self.B / d, C=d[:, None] * self.C, D=d[:, None] * self.D / d)

    def crossings(self, level: float) -> Array:
        """Frequencies at which a singular value may be at a level, increasing; see Boyd, Balakrishnan, Kabamba (1989).

        i omega is an eigenvalue of a Hamiltonian matrix there. Eigenvalues near the axis count, too: a few frequencies
        too many cost less than one that is missed.
        """
        A, B, C, D = self[:4]
        n = len(A)
        feed = np.linalg.solve(level**2 * np.eye(len(D)) - D.T @ D, np.hstack([D.T @ C, B.T]))
        H = np.empty((2 * n, 2 * n))
        H[:n, :n] = A + B @ feed[:, :n]
        H[:n, n:] = B @ feed[:, n:]
        H[n:, :n] = -C.T @ (C + D @ feed[:, :n])
        H[n:, n:] = -H[:n, :n].T
        values = np.linalg.eigvals(H)
        near = np.abs(values.real) < _AXIS * np.abs(values)
        return np.unique(np.abs(values[near].imag))

    def turning(self) -> tuple[Array, Array]:
        """Frequencies > 0 at which the response of one channel is real, and at which it has the real part 1/2.

        S(s) - S(-s) = 2 s C (s^2 - A^2)^-1 B is zero at the former, S(s) + S(-s) - 1 = 2 C A (s^2 - A^2)^-1 B + 2 D - 1
        at the latter: zeros s^2 = -omega^2 of two systems with the poles of A^2.
        """
        A, B, C, D = self[:4]
        squared, found = A @ A, []
        for readout, constant in ((C, 0.0), (2.0 * C @ A, 2.0 * D[0, 0] - 1.0)):
            values = _zeros(squared, B, readout, constant)
            values = values[(values.real < 0.0) & (np.abs(values.imag) < _AXIS * np.abs(values))]
            found.append(np.sqrt(-values.real))
        return found[0], found[1]


def growth(values: NDArray[Any], dt: float) -> Array:
    """Distances of poles beyond the border of stability: real parts; in sampled time absolute values less 1."""
    return np.abs(values) - 1.0 if dt else values.real


def border_unit(values: Complex, dt: float) -> float:
    """Unit of distances from the border of stability: the size of the largest pole; 1 in sampled time."""
    return 1.0 if dt else float(np.abs(values).max(initial=0.0))


def _zeros(A: Array, B: Array, C: Array, D: float) -> Complex:
    """Zeros of C (s - A)^-1 B + D, one channel."""
    if abs(D) > 0.1:  # the direct way is well conditioned
        return np.linalg.eigvals(A - B @ C / D)
    from scipy.linalg import eigvals

    pencil = np.block([[A, B], [C, np.array([[D]])]])
    values = eigvals(pencil, np.diag([1.0] * len(A) + [0.0]), check_finite=False)
    return values[np.isfinite(values)]


def response(A: Array, B: Array, C: Array, D: Array, dt: float) -> Response:
    """Response C (s - A)^-1 B + D of a stable system, balanced; a sampled one is brought to continuous time.

    This uses s = 2/dt (z - 1)/(z + 1): the response at a frequency w is exactly that of the result at
    2/dt tan(w dt/2).
    """
    n = len(A)
    if dt:
        A, B, C, D = bilinear(A, B, C, D, dt)
    if not n:
        return Response(A, B, C, D, dt)
    return Response(*balanced(A, B, C), D, dt)


def bandwidth(T: Response) -> float:
    """Frequency at which the response of one channel is first 3 dB below that at rest, rad/s; inf if it never is."""
    level = float(np.abs(T(np.zeros(1))[0, 0, 0])) * np.sqrt(0.5)
    omega = T.crossings(level)
    size = np.abs(T(omega * (1.0 + 1e-6))[:, 0, 0])
    below = omega[size < level]
    return T.frequency(below[0]) if below.size else np.inf


def loop_margins(loop: BrokenLoop, later: Later | None = None) -> Margins:
    """Margins of a loop at the place where it is broken: a channel at a time, and all at once.

    No grid of frequencies is used: those of margins are eigenvalues, and for largest values it is shown that no
    frequency has a larger one.

    Parameters
    ----------
    loop : BrokenLoop
    later : callable, optional
        For a sampled loop: (channel, part of a period in s) -> the loop with the signal of that channel delayed by it.

    Raises
    ------
    ValueError
        For a loop with an unstable mode that is no part of it, and one on the border of stability.
    """
    whole, (loop, outside) = loop, loop.without_hidden()
    border = loop.border
    fastest = float(growth(np.linalg.eigvals(loop.A), loop.dt).max(initial=-np.inf))
    for pole in outside[growth(outside, loop.dt) > border]:
        raise InputError(
            f"{loop.name} has no margins at the plant {loop.at}: it is not stable, with a pole at {_shown(pole)} that "
            "is no part of the loop there, so that no change of it helps. See linearize_closed_loop(...)."
        )
    if abs(fastest) < 1e-3 * border:
        raise InputError(
            f"{loop.name} stands on the border of stability already: it is not stable, and all its margins are zero. "
            "See linearize_closed_loop(...)."
        )
    stable = fastest < 0.0
    S, k = loop.sensitivity(), len(loop.channels)
    poles = np.linalg.eigvals(S.A)
    omega = np.unique([0.0, np.inf, *np.abs(poles), *np.abs(poles.imag)])
    near = omega, S(omega)
    gains, phases = _turning(S)
    margins = [_channel_margins(loop, S, i, near, gains[i], phases[i], stable) for i in range(k)]
    if loop.dt and later is not None and stable:
        margins = [one._replace(delay=sampled_delay(whole, i, later)) for i, one in enumerate(margins)]
    listed = tuple(complex(x) for x in outside)
    if not stable:
        return Margins(loop.name, loop.at, tuple(margins), 0.0, 0.0, 0.0, float("nan"), False, listed)
    worst, at = largest_mu(S.minus(0.5), (omega, near[1] - 0.5 * np.eye(k)))
    alpha = 1.0 / worst
    gain = 20.0 * np.log10((2.0 + alpha) / (2.0 - alpha)) if alpha < 2.0 else np.inf
    phase = float(np.degrees(2.0 * np.arctan(0.5 * alpha)))
    return Margins(loop.name, loop.at, tuple(margins), alpha, float(gain), phase, S.frequency(at), True, listed)


def sampled_delay(loop: BrokenLoop, channel: int, later: Later) -> float:
    """Additional delay of a channel at which a sampled loop is no longer stable, s; inf where there is none.

    A delay of a part f of a period changes what a sample does, a delay of d whole periods is a factor z^-d. With the
    part f, where the loop has size 1, at z = exp(i w T), its phase is short of -180 deg by phi: it bears fewer whole
    periods than H(f) = min phi / (w T). So the first delay at which it is lost is d T + f with the smallest d >= H(f),
    and the smallest f of those. H ends, at f = T, one below where it begins.
    """
    from scipy.optimize import brentq

    T = loop.dt

    def periods(f: float) -> tuple[float, float]:
        """Number of periods H(f), and the highest frequency at which the loop has size 1."""
        one = (later(channel, f) if f else loop).only(loop.channels[channel]).without_hidden()[0]
        S = one.sensitivity()
        w, values = _turning(S)[1][0]
        L = _loop_of(values)
        true = np.abs(np.abs(L) - 1.0) < 1e-6
        angles, w = np.angle(-L[true]) % (2.0 * np.pi), np.array([S.frequency(x) for x in w[true]])
        return float((angles / (w * T)).min(initial=np.inf)), float(w.max(initial=0.0))

    def grows(f: float) -> float:
        """Growth of the loop with a delay of a part f of a period, below zero while it is stable."""
        one = later(channel, f).without_hidden()[0]
        return float(growth(np.linalg.eigvals(one.A), T).max(initial=-1.0))

    first, highest = periods(0.0)
    # between these, the phase that the part of a period takes turns by less than an eighth of a turn at the highest
    # frequency; where the loop never has size 1, it may between the samples
    parts = np.linspace(0.0, T, 1 + (1 + int(4.0 * highest * T / np.pi) if highest else 8))
    lost = next((j for j in range(1, len(parts)) if grows(parts[j]) >= 0.0), None)
    if lost is not None:
        return float(brentq(grows, parts[lost - 1], parts[lost], xtol=1e-11 * T))
    left = np.array([first, *(periods(f)[0] for f in parts[1:-1]), first - 1.0])
    if not np.isfinite(left).any():
        return np.inf
    d = np.ceil(left[np.isfinite(left)].min())
    j = int(np.argmax(left <= d))
    if j == 0:
        return d * T
    if not np.isfinite(left[j - 1]):
        return d * T + float(parts[j])

    def beyond(f: float) -> float:
        return left[j] - d if f == parts[j] else (left[j - 1] if f == parts[j - 1] else periods(f)[0]) - d

    return float(d * T + brentq(beyond, parts[j - 1], parts[j], xtol=1e-11 * T))


def _turning(S: Response) -> tuple[list[tuple[Array, Complex]], list[tuple[Array, Complex]]]:
    """Frequencies at which each channel is real, and at which its loop has size 1; with its responses there.

    The ends of the axis are among the former: poles may cross there, too.
    """
    k, ends = len(S.D), [0.0, np.inf] if S.dt else [0.0]
    found = [x for i in range(k) for x in S.channel(i).turning()]
    sizes = [len(x) for x in found]
    omega, channel = np.concatenate(found), np.repeat(np.arange(2 * k) // 2, sizes)
    real, each = np.repeat(np.arange(2 * k) % 2 == 0, sizes), np.arange(len(omega))
    for _ in range(2):  # squares have lost half of the digits of what is slow beside the fastest pole
        values, slopes = (x[each, channel, channel] for x in S.with_slope(omega))
        off, slope = np.where(real, values.imag, values.real - 0.5), np.where(real, slopes.imag, slopes.real)
        omega = omega - np.clip(off / np.where(slope == 0.0, np.inf, slope), -0.1 * omega, 0.1 * omega)
    values = S(np.concatenate([omega, ends]))
    parts = np.split(omega, np.cumsum(sizes)[:-1])
    own = [values[: len(omega), i, i] for i in range(k)]
    told = [np.split(own[j // 2], np.cumsum(sizes)[:-1])[j] for j in range(2 * k)]
    at_ends = values[len(omega) :]
    gains = [(np.append(parts[2 * i], ends), np.append(told[2 * i], at_ends[:, i, i])) for i in range(k)]
    return gains, [(parts[2 * i + 1], told[2 * i + 1]) for i in range(k)]


def _loop_of(S: Complex) -> Complex:
    """Loop transfer L = 1/S - 1 from a sensitivity; huge at poles of L."""
    return 1.0 / np.where(np.abs(S) < 1e-300, 1e-300, S) - 1.0


def _channel_margins(
    loop: BrokenLoop, S: Response, k: int, near: Sampled, gains: Sampled, phases: Sampled, stable: bool
) -> LoopMargins:
    """Classical margins of channel k, whose loop with the others closed is 1 / S_kk - 1."""
    w_gain, L = gains[0], _loop_of(gains[1])
    # what is grazed only, or lost in rounding, is not kept; nor are integrators, where L is infinite
    true = (np.abs(L.imag) < 1e-6 * np.abs(L)) & (L.real < 0.0) & (np.abs(L) > 1e-10) & (np.abs(L) < 1e8)
    gain, w_gain = -20.0 * np.log10(np.abs(L[true])), w_gain[true]
    L = _loop_of(phases[1])
    true = np.abs(np.abs(L) - 1.0) < 1e-6
    phase, w_phase = np.degrees(np.angle(-L[true])), phases[0][true]
    size, w_modulus = largest_mu(S.channel(k), (near[0], near[1][:, k : k + 1, k : k + 1]))
    i, j = (int(np.argmin(np.abs(x))) if x.size else None for x in (gain, phase))
    frequencies = np.array([S.frequency(w) for w in w_phase])
    return LoopMargins(
        channel=loop.channels[k],
        gain_up=float(gain[gain > 0.0].min(initial=np.inf)),
        gain_down=float(gain[gain < 0.0].max(initial=-np.inf)),
        gain_frequency=float("nan") if i is None else S.frequency(w_gain[i]),
        phase=float("inf") if j is None else float(abs(phase[j])) * (1.0 if stable else -1.0),
        phase_frequency=float("nan") if j is None else float(frequencies[j]),
        delay=float((np.radians(phase % 360.0) / frequencies).min(initial=np.inf)) if stable else float("nan"),
        modulus=float(1.0 / size),
        modulus_frequency=S.frequency(w_modulus),
    )


def largest_mu(X: Response, near: Sampled) -> tuple[float, float]:
    """Largest upper bound of mu over all frequencies, and its frequency; for full complex scalars.

    Scalings that are best at one frequency bound mu at all others, too: `Response.crossings` gives the frequencies at
    which the singular values that they leave reach the largest bound found. In between, other frequencies are tried,
    each with its own scalings, until they have bounded mu everywhere.

    Parameters
    ----------
    X : Response
    near : (ndarray, ndarray)
        Frequencies to begin with, and the responses there.
    """
    best, where, log_d = _largest_of(*near, 0.0)
    parts = [(0.0, np.inf, log_d)]
    for _ in range(_MOST):
        if not parts:
            break
        low, high, scaling = parts.pop()
        level = best * (1.0 + _LEVEL)
        inside = X.scaled(scaling).crossings(level)
        ends = np.array([low, *inside[(inside > low) & (inside < high)], high])
        middle = 0.5 * (ends[:-1] + np.where(np.isfinite(ends[1:]), ends[1:], 3.0 * ends[:-1] + 1.0))
        responses = X(middle)
        above = _norms(responses * np.exp(scaling[:, None] - scaling)) > level
        if not above.any():
            continue
        found, at, own = _largest_of(middle[above], responses[above], level)
        if found > level:
            best, where, parts = found, at, [(0.0, np.inf, own)]  # all anew, at a higher level
            continue
        for k in np.flatnonzero(above):
            parts.append((float(ends[k]), float(ends[k + 1]), mu(responses[k])[1]))
    return best, where


def _largest_of(omega: Array, responses: Complex, least: float) -> tuple[float, float, Array]:
    """Largest mu at some frequencies, the frequency, and its scalings; `least` where none is larger.

    Bounds by the Perron vectors of abs(X) show which frequencies need the minimization.
    """
    if responses.shape[1] == 1:
        sizes = np.abs(responses[:, 0, 0])
        k = int(sizes.argmax())
        return max(float(sizes[k]), least), float(omega[k]), np.zeros(1)
    scalings = _perron_scalings(np.abs(responses))
    bounds = _norms(responses * np.exp(scalings[:, :, None] - scalings[:, None, :]))
    order = np.argsort(-bounds, kind="stable")
    best, where, log_d = least, float(omega[order[0]]), scalings[order[0]]
    for k in order:
        if bounds[k] <= best:
            break
        value, scaling = mu(responses[k], scalings[k])
        if value > best:
            best, where, log_d = value, float(omega[k]), scaling
    return best, where, log_d


def _norms(X: Complex) -> Array:
    """Largest singular values (frequencies,) of matrices (frequencies, k, k)."""
    return np.abs(X[:, 0, 0]) if X.shape[1] == 1 else np.linalg.svd(X, compute_uv=False)[:, 0]


def _perron_scalings(size: Array) -> Array:
    """Scalings log d (frequencies, n) that balance the Perron vectors of matrices with entries >= 0.

    Of two channels it is the best one: the product of both singular values is abs(det X), whatever d is, so that the
    larger one is smallest where the sum of their squares is, which is that of all entries: where both entries beside
    the diagonal are of one size.
    """
    n = size.shape[1]
    size = size + 1e-12 * np.maximum(size.max(axis=(1, 2), keepdims=True), 1e-300)
    if n == 2:
        return np.stack([np.zeros(len(size)), 0.5 * np.log(size[:, 0, 1] / size[:, 1, 0])], axis=1)
    right, left = np.ones(size.shape[:2]), np.ones(size.shape[:2])
    for _ in range(30):
        right, left = np.einsum("fij,fj->fi", size, right), np.einsum("fji,fj->fi", size, left)
        right, left = right / right.max(axis=1, keepdims=True), left / left.max(axis=1, keepdims=True)
    return 0.5 * np.log(left / right)


def mu(X: Complex, start: Array | None = None) -> tuple[float, Array]:
    """Upper bound of mu, the smallest largest singular value of exp(d) X exp(-d), convex in d, and that d."""
    start = _perron_scalings(np.abs(X)[None])[0] if start is None else start
    if len(X) <= 2:
        return float(_norms((X * np.exp(start[:, None] - start))[None])[0]), start

    def log_norm(d: Array) -> tuple[float, Array]:
        U, sigma, Vh = np.linalg.svd(X * np.exp(d[:, None] - d))
        return float(np.log(max(sigma[0], 1e-300))), np.abs(U[:, 0]) ** 2 - np.abs(Vh[0]) ** 2

    first = log_norm(start)[0]
    from scipy.optimize import minimize

    optimum = minimize(log_norm, start, jac=True, method="BFGS", options={"gtol": 1e-7})
    return (float(np.exp(optimum.fun)), optimum.x) if optimum.fun < first else (float(np.exp(first)), start)
