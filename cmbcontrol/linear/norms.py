"""Norms of linear systems: H-infinity and H2, growth of poles; and the frequency responses they are found from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .balancing import balanced, bilinear
from .controllability import slowest_decay

__all__ = [
    "Response",
    "border_unit",
    "frequency_grid",
    "growth",
    "h2_norm",
    "hinf_norm",
    "largest_gain",
    "largest_gains",
    "local_maxima",
    "response",
    "spectral_abscissa",
]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_AXIS = 1e-3  # of an eigenvalue: real over absolute value, below which it may be one on the imaginary axis
_ROUNDING = 1e-12  # of the largest eigenvalue of a Hamiltonian matrix: what rounding may move another one by
_ACCURACY = 1e-9  # relative, to which the largest gain is found
_STEPS = 50  # levels that are tried; a handful is usual
_NARROWINGS = 14  # of the bracket of a peak, each to less than half: heights are then right to 1e-9 of their bump
_RATIO = 1.6  # of two frequencies of the grid, at most, where poles are not nearer
_WIDTHS = np.array([-3.0, -1.0, -0.3, 0.0, 0.3, 1.0, 3.0])  # about a resonance, in units of its half width


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

        i omega is an eigenvalue of a Hamiltonian matrix there. Eigenvalues near the axis count, too, and those that
        rounding may have moved: a few frequencies too many cost less than one that is missed.
        """
        A, B, C, D = self[:4]
        n = len(A)
        feed = np.linalg.solve(level**2 * np.eye(D.shape[1]) - D.T @ D, np.hstack([D.T @ C, B.T]))
        H = np.empty((2 * n, 2 * n))
        H[:n, :n] = A + B @ feed[:, :n]
        H[:n, n:] = B @ feed[:, n:]
        H[n:, :n] = -C.T @ (C + D @ feed[:, :n])
        H[n:, n:] = -H[:n, :n].T
        values = np.linalg.eigvals(H)
        near = np.abs(values.real) <= _AXIS * np.abs(values) + _ROUNDING * np.abs(values).max(initial=0.0)
        return np.unique(np.abs(values[near].imag))

    def gains(self, omega: Array) -> Array:
        """Largest singular values (frequencies,) at s = i omega, which may be infinite."""
        return largest_gains(self(omega))

    def grid(self) -> Array:
        """Frequencies among which each peak has one of its own: about each pole, by its damping, and in between.

        The ends 0 and inf are among them.
        """
        return frequency_grid(np.linalg.eigvals(self.A))

    def peaks(self, share: float = 0.0) -> tuple[Array, Array]:
        """Frequencies of the local maxima of the largest singular value, and their heights, highest first.

        Maxima of the grid are refined by narrowing their brackets; those below a share of the highest are left out.
        """
        omega = self.grid()
        low, at, high, size = local_maxima(omega, self.gains(omega), share)
        for _ in range(_NARROWINGS):
            inner = np.stack([_between(low, at, f) for f in (0.5, 0.8)] + [_between(at, high, f) for f in (0.2, 0.5)])
            values = self.gains(inner.ravel()).reshape(inner.shape)
            every = np.stack([low, inner[0], inner[1], at, inner[2], inner[3], high])
            best = 1 + np.argmax(np.stack([values[0], values[1], size, values[2], values[3]]), axis=0)
            each = np.arange(len(at))
            low, at, high = every[best - 1, each], every[best, each], every[best + 1, each]
            size = np.maximum(size, values.max(axis=0))
        order = np.argsort(-size, kind="stable")
        return at[order], size[order]

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


def spectral_abscissa(A: Array, period: float | None = None) -> float:
    """Largest real part of the eigenvalues; in sampled time the spectral radius.

    Examples
    --------
    >>> spectral_abscissa(np.array([[0.0, 1.0], [-2.0, -2.0]]))
    -1.0
    """
    values = np.linalg.eigvals(A)
    return float(np.abs(values).max(initial=0.0)) if period is not None else float(values.real.max(initial=-np.inf))


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


def frequency_grid(poles: Complex) -> Array:
    """Frequencies about each pole, by its damping, and between them at ratios of 1.6; with 0 and inf, increasing."""
    size, width = np.abs(poles), np.abs(poles.real)
    about = np.abs(poles.imag)[:, None] + width[:, None] * _WIDTHS
    resonance = np.sqrt(np.maximum(poles.imag**2 - poles.real**2, 0.0))
    sizes = size[size > 0.0]
    if not sizes.size:
        return np.array([0.0, np.inf])
    low, high = 0.1 * sizes.min(), 10.0 * sizes.max()
    between = np.geomspace(low, high, 2 + int(np.log(high / low) / np.log(_RATIO)))
    found = np.concatenate([about.ravel(), resonance, size, between, [0.0, np.inf]])
    return np.unique(found[found >= 0.0])


def local_maxima(omega: Array, size: Array, share: float = 0.0) -> tuple[Array, Array, Array, Array]:
    """Brackets (low, at, high) of the local maxima of sizes over a grid, and their sizes, from a share of the largest.

    Inf has a bracket of its own, and bounds no other one.
    """
    padded = np.concatenate([[-np.inf], size, [-np.inf]])
    k = np.flatnonzero((size >= padded[:-2]) & (size > padded[2:]) & (size >= share * size.max()))
    at, last = omega[k], omega[np.isfinite(omega)].max()
    low = np.where(np.isinf(at), at, omega[np.maximum(k - 1, 0)])
    high = np.where(np.isinf(at), at, np.minimum(omega[np.minimum(k + 1, len(omega) - 1)], last))
    return low, at, high, size[k]


def _between(low: Array, high: Array, f: float) -> Array:
    """Frequencies in brackets, some of which are both ends at inf."""
    return low + np.subtract(high, low, out=np.zeros_like(low), where=np.isfinite(high)) * f


def largest_gains(X: Complex) -> Array:
    """Largest singular values (frequencies,) of matrices (frequencies, p, m)."""
    if min(X.shape[1:]) == 1:
        return np.linalg.norm(X.reshape(len(X), -1), axis=1)
    return np.linalg.svd(X, compute_uv=False)[:, 0]


def largest_gain(X: Response) -> tuple[float, float]:
    """Largest singular value of a stable response over all frequencies, to 1e-9, and its frequency omega.

    Peaks about all poles come first. Then frequencies at which a singular value is 1e-9 above the highest are
    eigenvalues of a Hamiltonian matrix (Bruinsma and Steinbuch, 1990): between any two of them it is either higher,
    which is tried, or lower. So no second peak is missed, however near its height is. The result is a response at some
    frequency in any case.

    Examples
    --------
    >>> G = response(np.array([[-2.0]]), np.array([[1.0]]), np.array([[3.0]]), np.zeros((1, 1)), 0.0)
    >>> largest_gain(G)
    (1.5, 0.0)
    """
    if not len(X.A):
        return float(np.linalg.norm(X.D, 2)) if X.D.size else 0.0, 0.0
    omega, size = X.peaks(1.0 - 1e-2)
    best, where = float(size[0]), float(omega[0])
    for _ in range(_STEPS):
        level = best * (1.0 + _ACCURACY)
        if level == 0.0:
            break
        there = X.crossings(level)
        if not there.size:
            break
        between = np.concatenate([0.5 * (there[1:] + there[:-1]), np.sqrt(there[1:] * there[:-1])])
        looked = np.unique(np.concatenate([there, between]))
        size = X.gains(looked)
        k = int(size.argmax())
        if size[k] <= level:
            break
        best, where = float(size[k]), float(looked[k])
    return best, where


def h2_norm(A: Array, B: Array, C: Array, period: float | None = None) -> float:
    """H2 norm, sqrt(trace C W C') with the Gramian W; infinite where A is not stable.

    Examples
    --------
    >>> h2_norm(np.array([[-2.0]]), np.array([[1.0]]), np.array([[3.0]]))
    1.5
    """
    from scipy.linalg import solve_continuous_lyapunov, solve_discrete_lyapunov

    if not _stable(A, period):
        return np.inf
    W = solve_continuous_lyapunov(A, -B @ B.T) if period is None else solve_discrete_lyapunov(A, B @ B.T)
    return float(np.sqrt(max(np.trace(C @ W @ C.T), 0.0)))


def hinf_norm(A: Array, B: Array, C: Array, period: float | None = None, D: Array | None = None) -> float:
    """H-infinity norm, the largest singular value over all frequencies, to 1e-9; infinite where A is not stable.

    See `largest_gain`. In sampled time it is that of the continuous system with s = 2 (z - 1) / (z + 1), which has the
    same values.

    Examples
    --------
    >>> round(hinf_norm(np.array([[-2.0]]), np.array([[1.0]]), np.array([[3.0]])), 6)
    1.5
    """
    if not _stable(A, period):
        return np.inf
    D = np.zeros((len(C), B.shape[1])) if D is None else D
    return largest_gain(response(A, B, C, D, 0.0 if period is None else 1.0))[0]


def _stable(A: Array, period: float | None) -> bool:
    return not len(A) or slowest_decay(np.linalg.eigvals(A), period) > 0.0
