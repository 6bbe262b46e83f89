"""Generalized plants: a system with disturbances and controls in, performance and measurements out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputError

if TYPE_CHECKING:
    import control

__all__ = ["GeneralizedPlant", "Realisation"]

Array = NDArray[np.float64]

_POSED = 1e-12  # relative: eigenvalues of K D22 so near to 1 leave the loop without a solution


class Realisation(NamedTuple):
    """Matrices of x' = A x + B w, z = C x + D w, or x(k+1) = A x + B w with a sample time dt > 0."""

    A: Array
    B: Array
    C: Array
    D: Array
    dt: float = 0.0


@dataclass(frozen=True, eq=False)
class GeneralizedPlant:
    """Plant x' = A x + B1 w + B2 u, z = C1 x + D11 w + D12 u, y = C2 x + D21 w + D22 u.

    Disturbances w and performance z are what goals are about; a controller u = K y closes the loop, with a positive
    sign.

    Parameters
    ----------
    A : array, shape (n, n)
    B1, B2 : array, shape (n, disturbances), (n, controls)
    C1, C2 : array, shape (performance, n), (measurements, n)
    D11, D12, D21, D22 : array, optional
        Direct ways; zero unless given.
    dt : float
        Sample time, s; 0 in continuous time.

    Raises
    ------
    ValueError
        For matrices that do not fit together.

    Examples
    --------
    >>> P = GeneralizedPlant([[0.0]], [[1.0]], [[1.0]], [[1.0]], [[1.0]])
    >>> P.closed(np.array([[-2.0]])).A
    array([[-2.]])
    """

    A: Array
    B1: Array
    B2: Array
    C1: Array
    C2: Array
    D11: Array = None  # type: ignore[assignment]  # zero; an array from then on
    D12: Array = None  # type: ignore[assignment]  # zero; an array from then on
    D21: Array = None  # type: ignore[assignment]  # zero; an array from then on
    D22: Array = None  # type: ignore[assignment]  # zero; an array from then on
    dt: float = 0.0

    def __post_init__(self) -> None:
        n, set_ = len(np.atleast_2d(self.A)), object.__setattr__
        m1, m2 = np.shape(self.B1)[-1], np.shape(self.B2)[-1]
        p1, p2 = len(np.asarray(self.C1)), len(np.asarray(self.C2))
        shapes = {"A": (n, n), "B1": (n, m1), "B2": (n, m2), "C1": (p1, n), "C2": (p2, n)}
        shapes |= {"D11": (p1, m1), "D12": (p1, m2), "D21": (p2, m1), "D22": (p2, m2)}
        for name, shape in shapes.items():
            given = getattr(self, name)
            value = np.zeros(shape) if given is None else np.array(given, dtype=np.float64).reshape(np.shape(given))
            if value.shape != shape:
                raise InputError(f"{name} of a generalized plant must have the shape {shape}, got {value.shape}")
            if not np.isfinite(value).all():
                raise InputError(f"{name} of a generalized plant has entries that are not finite")
            set_(self, name, value)
        set_(self, "dt", _check.number(self.dt, "dt"))
        if self.dt < 0.0:
            raise InputError(f"dt must be a sample time, or 0 in continuous time, got {self.dt}")

    @classmethod
    def from_ss(cls, P: control.StateSpace, measurements: int, controls: int) -> GeneralizedPlant:
        """Plant of a python-control system whose last outputs are measurements, and last inputs controls."""
        p, m = P.noutputs - measurements, P.ninputs - controls
        if not (measurements >= 0 and controls >= 0 and p >= 0 and m >= 0):
            raise InputError(
                f"{measurements} measurements and {controls} controls are not among the {P.noutputs} outputs and "
                f"{P.ninputs} inputs of this system"
            )
        if P.dt is True:
            raise InputError("this system has no sample time (dt is True): give it one, in s")
        A, B, C, D = (np.asarray(x, dtype=np.float64) for x in (P.A, P.B, P.C, P.D))
        direct = D[:p, :m], D[:p, m:], D[p:, :m], D[p:, m:]
        return cls(A, B[:, :m], B[:, m:], C[:p], C[p:], *direct, float(P.dt or 0.0))

    def to_ss(self) -> control.StateSpace:
        """System of python-control with inputs (w, u) and outputs (z, y)."""
        import control

        return control.ss(
            self.A,
            np.hstack([self.B1, self.B2]),
            np.vstack([self.C1, self.C2]),
            np.block([[self.D11, self.D12], [self.D21, self.D22]]),
            self.dt,
        )

    def with_order(self, order: int) -> GeneralizedPlant:
        """Plant whose static controllers are those of an order for this plant.

        Its controls are (u, x_K') and its measurements (y, x_K): the static gain is [[D_K, C_K], [B_K, A_K]].
        """
        order = _check.count(order, "order", 0)

        def padded(X: Array, rows: int, columns: int, eye: bool = False) -> Array:
            out = np.zeros((len(X) + rows, X.shape[1] + columns))
            out[: len(X), : X.shape[1]] = X
            if eye:
                out[len(X) :, X.shape[1] :] = np.eye(rows, columns)
            return out

        k = order
        return GeneralizedPlant(
            padded(self.A, k, k),
            padded(self.B1, k, 0),
            padded(self.B2, k, k, eye=True),
            padded(self.C1, 0, k),
            padded(self.C2, k, k, eye=True),
            self.D11,
            padded(self.D12, 0, k),
            padded(self.D21, k, 0),
            padded(self.D22, k, k),
            self.dt,
        )

    def channel(self, inputs: Any = slice(None), outputs: Any = slice(None)) -> GeneralizedPlant:
        """Plant with some of the disturbances and performance outputs only, by their indices."""
        i, o = inputs, outputs
        parts = self.A, self.B1[:, i], self.B2, self.C1[o], self.C2, self.D11[o][:, i], self.D12[o], self.D21[:, i]
        return GeneralizedPlant(*parts, self.D22, self.dt)

    def closed(self, K: Array | control.StateSpace) -> Realisation:
        """Closed loop from w to z with u = K y, a gain or a python-control system: the lower LFT.

        Raises
        ------
        ValueError
            Where K does not fit, or the loop has no solution: 1 - K D22 is singular.
        """
        if not isinstance(K, np.ndarray) and hasattr(K, "A"):
            S = np.block([[K.D, K.C], [K.B, K.A]])
            return self.with_order(len(K.A)).closed(S)
        K = np.asarray(K, dtype=np.float64)
        shape = self.B2.shape[1], len(self.C2)
        if K.shape != shape:
            raise InputError(f"the gain must have the shape {shape} (controls, measurements), got {K.shape}")
        at_once = np.flatnonzero(self.D22.any(axis=0))  # controls that are measured at once; not states of a controller
        N = K
        if at_once.size:
            around = K[at_once] @ self.D22[:, at_once]
            loop, gains = np.eye(len(at_once)) - around, np.linalg.eigvals(around)  # which units do not change
            if (np.abs(1.0 - gains) <= _POSED * np.maximum(1.0, np.abs(gains))).any():
                raise InputError("the loop has no solution: 1 - K D22 is singular. Change the gain, or remove D22.")
            N = K + K @ self.D22[:, at_once] @ np.linalg.solve(loop, K[at_once])
        return Realisation(
            self.A + self.B2 @ N @ self.C2,
            self.B1 + self.B2 @ N @ self.D21,
            self.C1 + self.D12 @ N @ self.C2,
            self.D11 + self.D12 @ N @ self.D21,
            self.dt,
        )

    def weighted(self, num: tuple[float, float], den: tuple[float, float], first: int = 0) -> GeneralizedPlant:
        """Plant whose outputs are weighed by (num[0] s + num[1]) / (den[0] s + den[1]), each by one of its own.

        In sampled time by s = 2/dt (z - 1)/(z + 1). Outputs before the `first` one are left as they are.
        """
        (a, b), (c, d), p = num, den, len(self.C1) - first
        if self.dt:
            f = 2.0 / self.dt
            (a, b), (c, d) = (a * f + b, b - a * f), (c * f + d, d - c * f)
        # W = direct + readout / (q - pole), for q = s or z
        direct, pole = a / c, -d / c
        readout = (b - direct * d) / c
        n, I = len(self.A), np.eye(p)
        through = np.concatenate([np.ones(first), np.full(p, direct)])[:, None]
        return replace(
            self,
            A=np.block([[self.A, np.zeros((n, p))], [self.C1[first:], pole * I]]),
            B1=np.vstack([self.B1, self.D11[first:]]),
            B2=np.vstack([self.B2, self.D12[first:]]),
            C1=np.hstack([through * self.C1, np.vstack([np.zeros((first, p)), readout * I])]),
            C2=np.hstack([self.C2, np.zeros((len(self.C2), p))]),
            D11=through * self.D11,
            D12=through * self.D12,
        )
