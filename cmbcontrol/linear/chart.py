"""Charts of the manifold of the closed loops (Spencer, section 2.3): q = Psi(y), with its derivative.

Independent coordinates y belong to configurations through R(q, y) = 0 (eq. 2.25). Near a base point the loops
and R together determine q: q = Psi(y), found by Newton's method on (2.23). The kinds of R are in
`parametrization`.

Velocities. The independent velocities are y_v = V v. With a constant R, V = R, so that dy_v/dt = R a exactly. With
R(q, y) = 0, V = -(D2R)^-1 D1R, so that y_v = dy/dt (eq. 2.26). On joints with several axes that do not commute
(planar, spherical, free) the rate of y = R (q [-] qbar) is dy/dt = R J_r^-1 v with the inverse right Jacobian of
q [-] qbar. It is y_v at the base point and, for one-axis joints, everywhere.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import INDEPENDENT
from ..errors import ParametrizationError, SingularConfigurationError
from ..model.plant import Plant
from .right_jacobian import angle_factor, group_joints
from .statics import require_closed, require_holonomic

__all__ = [
    "ITERATIONS",
    "RENEWAL",
    "BasePoint",
    "Chart",
    "ChartPoint",
    "Parametrization",
    "base_point",
    "independent_coordinates",
    "listed_values",
    "rate_map",
    "require_count",
    "rounded",
]

Array = NDArray[np.float64]

_SINGULAR = 1e-8  # smallest over largest constraint gradient, below which a configuration counts as singular
RENEWAL = 0.4  # a new chart is due where the conditioning has fallen to this share of that at the base point
_TOLERANCE = 1e-13  # of Psi, in radians or sizes of the machine
_EPSILON = 1e-15  # rounding of the residuals, in the same units
_ROUNDING = 1e-9  # steps below it that do not shrink are rounding (machines far from the origin)
_SLOW = 0.05  # contraction rate above which the matrix of the iteration is made anew
ITERATIONS = 30  # Newton's method contracts to rounding in some five where it does at all


class ChartPoint(NamedTuple):
    """Point of the manifold in a chart.

    Attributes
    ----------
    q, y : ndarray, shape (nq,) and (dof,)
    T : ndarray, shape (nv, dof)
        D Psi (eqs. 2.29, 2.44): a change dy moves q by q [+] T dy.
    K : ndarray, shape (nv, dof)
        v = K y_v: V K = 1, A K = 0. Equal to T but for joints that do not commute.
    W : ndarray, shape (dof, nv)
        dy/dt = W v, W = -(D2R)^-1 D1R (in the text after eq. 2.31).
    V : ndarray, shape (dof, nv)
        y_v = V v.
    inverse : ndarray, shape (nv, nv)
        Inverse of [D1R; A] with independent rows of A, in comparable units.
    sign : float
        Sign of the determinant; it does not change within a chart.
    conditioning : float
        Conditioning of [D1R; A] in comparable units: 1 best, 0 where the chart ends.
    iterations : int
        Steps of Newton's method.
    """

    q: Array
    y: Array
    T: Array
    K: Array
    W: Array
    V: Array
    inverse: Array
    sign: float
    conditioning: float
    iterations: int


@runtime_checkable
class Parametrization(Protocol):
    """Kind of independent coordinates, from which charts are made."""

    def at(self, plant: Plant, q0: ArrayLike, *, rank: int | None = None, y0: Array | None = None) -> Chart:
        """Chart at a base point; `rank` of A near it, and a first guess of y, where they are known."""


class Chart(ABC):
    """Chart: independent coordinates near a base point; immutable.

    Attributes
    ----------
    plant : Plant
    parametrization : Parametrization
        The parametrization that made this chart.
    q0, y0 : ndarray, shape (nq,) and (dof,)
        Base point.
    dof, rank : int
        Freedoms, and independent rows of A.
    names : tuple of str
        Names of the coordinates y.
    rows : ndarray of int, shape (rank,)
        Rows of A that are independent near the base point; the others are redundant and hold on the manifold.
    base : ChartPoint
        The base point.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol.linear import TangentSpace
    >>> plant = plants.five_bar()
    >>> q0 = plant.assemble(left=2.1, right=1.0)
    >>> chart = TangentSpace().at(plant, q0)
    >>> point = chart.solve(chart.y0 + [0.1, 0.0])
    >>> plant.closure_error(point.q) < 1e-12, chart.coordinates(point.q).round(12)
    (True, array([0.1, 0. ]))
    """

    def __init__(
        self, parametrization: Parametrization, plant: Plant, q0: Array, base: BasePoint, names: tuple[str, ...]
    ) -> None:
        self.parametrization, self.plant, self.q0, self.names = parametrization, plant, q0, names
        self.rank, self.rows, self.dof = base.rank, base.rows, base.dof
        self._base, self._length, self._joints = base, base.length, group_joints(plant)
        self._renewal = float(getattr(parametrization, "threshold", RENEWAL))

    def _start(self, y0: Array) -> None:
        """Set the base point, once R is known; raise an error for coordinates that are dependent there."""
        self.y0 = y0
        D1 = self._gradients(self.q0, y0)[0]
        self.units = np.linalg.norm(D1 * self._length, axis=1)  # what counts as one in each y
        if not self.units.all():
            raise self._dependent(self.q0)
        self.base = self.point(self.q0, y0)
        if not self.base.conditioning > INDEPENDENT:
            raise self._dependent(self.q0, self.base.conditioning)

    # -- what each kind defines -------------------------------------------------------------

    @abstractmethod
    def _residual(self, q: Array, y: Array) -> Array:
        """Residual R(q, y) (dof,) that defines the coordinates."""

    @abstractmethod
    def _gradients(self, q: Array, y: Array) -> tuple[Array, Array | None]:
        """Gradients D1R (dof, nv), for q [+] eps, and D2R (dof, dof); None stands for D2R = -1."""

    @abstractmethod
    def coordinates(self, q: Array, near: Array | None = None) -> Array:
        """Coordinates y (dof,) of a configuration; from a guess where R is nonlinear in y."""

    @abstractmethod
    def velocity_map(self, W: Array) -> Array:
        """Matrix V (dof, nv) of y_v = V v, where dy/dt = W v."""

    @abstractmethod
    def slope_W(self, point: ChartPoint, x: Array) -> Array:
        """Gradient d(W x)/dy (dof, dof) along the manifold at constant x (nv,)."""

    def slope_V(self, point: ChartPoint, x: Array) -> Array:
        """Gradient d(V x)/dy (dof, dof) along the manifold at constant x (nv,); zero where V is constant."""
        return np.zeros((self.dof, self.dof))

    def bias(self, q: Array, y: Array, v: Array) -> Array:
        """Term (dV/dt) v (dof,) of dy_v/dt = V a + bias; zero where V is constant."""
        return np.zeros(self.dof)

    def slope_bias(self, point: ChartPoint, v: Array, dq: Array, dv: Array) -> Array:
        """Change of the bias (dof, n) along n directions of the state, dq = T dy (or zero) and dv, (nv, n) each."""
        return np.zeros((self.dof, dq.shape[1]))

    # -- maps -----------------------------------------------------------------------------------------

    def rates(self, q: ArrayLike, v: ArrayLike, y: Array | None = None) -> Array:
        """Independent velocities y_v (dof,) of a velocity v (nv,)."""
        q = self.plant.configuration(q)
        v = _check.vector(v, self.plant.nv, "v", self.plant.velocity_names)
        y = self.coordinates(q) if y is None else y
        return self.velocity_map(rate_map(*self._gradients(q, y))) @ v

    def point(self, q: ArrayLike, y: Array | None = None, iterations: int = 0) -> ChartPoint:
        """Point of a configuration on the manifold, with D Psi and K there (eqs. 2.29, 2.44)."""
        q = self.plant.configuration(q)
        y = self.coordinates(q) if y is None else y
        D1, D2 = self._gradients(q, y)
        if D2 is not None:
            self._require_parameters(q, D2)
        inverse, sign, conditioning = _inverse(self._matrix(q, D1))
        if sign == 0.0:
            raise self._dependent(q)
        T = self._length[:, None] * inverse[:, : self.dof] / self.units
        W = rate_map(D1, D2)
        T = T if D2 is None else -T @ D2
        V = self.velocity_map(W)
        if V is W:
            return ChartPoint(q, y, T, T, W, V, inverse, sign, conditioning, iterations)
        # y_v is not dy/dt: it has to determine the velocity, too
        turned, sign_v, conditioning_v = _inverse(V @ T * (self.units / self.units[:, None]))
        if sign_v == 0.0:
            raise self._dependent(q)
        K = T @ (turned * (self.units[:, None] / self.units))
        conditioning *= conditioning_v * angle_factor(self._joints, self.plant.difference(self.q0, q))
        return ChartPoint(q, y, T, K, W, V, inverse, sign * sign_v, conditioning, iterations)

    def solve(self, y: ArrayLike, near: ChartPoint | None = None) -> ChartPoint:
        """Point Psi(y): the configuration whose independent coordinates are y (section 2.3.1).

        Newton's method on R(q, y) = 0, phi(q) = 0 (eq. 2.23). The matrix of the nearby point is kept while the
        iteration contracts fast. It ends where rho / (1 - rho) |dx| is below 1e-13 (radians, or sizes of the
        machine) with the contraction rate rho estimated from the steps, or where these are down to rounding.

        Parameters
        ----------
        y : array_like, shape (dof,)
        near : ChartPoint, optional
            Start of the iteration; defaults to the base point.

        Raises
        ------
        ParametrizationError
            Where the iteration does not contract, or the point lies beyond the end of the chart.
        """
        y = _check.vector(y, self.dof, "y", self.names)
        near = self.base if near is None else near
        plant, length = self.plant, self._length
        q, inverse = plant.integrate(near.q, near.T @ (y - near.y)), near.inverse
        first = before = rate = np.inf
        noise = _EPSILON * float(np.linalg.norm(inverse))
        since = 0  # steps with this matrix
        for count in range(1, ITERATIONS + 1):
            step = -inverse @ np.concatenate([self._residual(q, y) / self.units, self._open(q)])
            size = math.sqrt(step @ step)
            if not size < 2.0:
                break
            q = plant.integrate(q, length * step)
            first = size if since == 0 else first
            since += 1
            rate = (size / first) ** (1.0 / since) if first > 0.0 else 0.0
            small = since > 1 and rate < 1.0 and rate / (1.0 - rate) * size <= _TOLERANCE
            if small or size <= noise or before <= size <= _ROUNDING:
                return self._checked(q, y, count)
            if size > _SLOW * before or (count == 1 and size > 1e-2):
                inverse, sign, _ = _inverse(self._matrix(q, self._gradients(q, y)[0]))
                if sign == 0.0:
                    break
                noise, since = _EPSILON * float(np.linalg.norm(inverse)), 0
            before = size
        raise ParametrizationError(
            f"Psi(y) of {plant.name!r} was not found at y = {listed_values(self.names, y)}: after {count} steps the "
            f"last is {size:.2e} (contraction rate {rate:.2g}, loops open by {plant.closure_error(q):.1e} m). The base "
            f"of the chart is y = {listed_values(self.names, self.y0)}; reparametrize nearer to y."
        )

    # -- the range of the chart -------------------------------------------------------------------------

    def needs_renewal(self, point: ChartPoint) -> bool:
        """Whether a new chart is due: the conditioning has fallen to the threshold times that at the base point."""
        return point.conditioning < self._renewal * self.base.conditioning

    def reparametrize(self, q: ArrayLike, y: Array | None = None) -> Chart:
        """Chart of the same kind at another base point; `y` is a guess of its coordinates where R is nonlinear.

        Raises
        ------
        SingularConfigurationError
        ParametrizationError
            Where given coordinates are not independent.
        """
        return self.parametrization.at(self.plant, q, rank=self.rank, y0=self.y0 if y is None else y)

    # -- pieces -----------------------------------------------------------------------------------------

    def _open(self, q: Array) -> Array:
        """Residuals of the independent rows, in sizes of the machine."""
        return self.plant.residual(q)[self.rows] * self._base.factor

    def _matrix(self, q: Array, D1: Array) -> Array:
        """Matrix [D1R; A] (nv, nv) in comparable units (eq. 2.28)."""
        A = self.plant.jacobian(q)[self.rows]
        return np.concatenate([D1 / self.units[:, None], self._base.factor[:, None] * A]) * self._length

    def _checked(self, q: Array, y: Array, count: int) -> ChartPoint:
        """Result of the iteration as a point; raises an error for one beyond the end of the chart."""
        point = self.point(q, y, count)
        if point.sign != self.base.sign or point.conditioning < INDEPENDENT:
            raise ParametrizationError(
                f"y = {listed_values(self.names, y)} of {self.plant.name!r} lies beyond where its chart ends: the "
                f"determinant of [D1R; A] passes through zero (Spencer, 2.28; conditioning {point.conditioning:.1e}, "
                f"{self.base.conditioning:.2g} at its base). Reparametrize nearer to y.",
                point.conditioning,
            )
        return point

    def _require_parameters(self, q: Array, D2: Array) -> None:
        """Raise an error unless D2R is regular, condition (2.27)."""
        values = np.linalg.svd(D2, compute_uv=False)
        if values.size and not values[-1] > 1e-10 * max(values[0], 1e-300):
            raise ParametrizationError(
                f"R(q, y) of {self.plant.name!r} does not determine y at q = {rounded(q)}: D2R has the singular "
                f"values {rounded(values)} (Spencer, condition 2.27: its determinant must not vanish)"
            )

    def _dependent(self, q: Array, conditioning: float = 0.0) -> ParametrizationError:
        """Error for coordinates that fail condition (2.28), with their names and independent ones in their place."""
        A = self._base.factor[:, None] * self.plant.jacobian(q)[self.rows] * self._length
        auto = ", ".join(repr(self.plant.velocity_names[k]) for k in independent_coordinates(A))
        return ParametrizationError(
            f"the coordinates {', '.join(map(repr, self.names))} of {self.plant.name!r} are not independent at "
            f"q = {rounded(q)}: [D1R; A] has conditioning {conditioning:.1e}, 1 is best (Spencer, 2.28). "
            f"Independent there are {auto}.",
            conditioning,
        )


# -- the base point -------------------------------------------------------------------------------------


class BasePoint(NamedTuple):
    """Constraints at a base point."""

    A: Array  # (rank, nv), independent rows in comparable units
    rows: NDArray[np.int64]
    factor: Array  # (rank,) brings those rows to sizes of the machine
    length: Array  # (nv,) what counts as one in each velocity coordinate
    rank: int
    dof: int


def base_point(plant: Plant, q0: ArrayLike, rank: int | None) -> tuple[Array, BasePoint]:
    """Independent rows of A at a base point; raises an error for open loops and singular configurations."""
    from scipy.linalg import qr

    _check.plant(plant)
    q0 = plant.configuration(q0).copy()
    require_closed(plant, q0)
    terms = plant.terms(q0, np.zeros(plant.nv))
    if rank is None:  # the first chart, not one that follows another
        require_holonomic(plant, q0)
        rank = plant.generic_rank(q0)
    gap = float(terms.pivots[rank - 1] / terms.pivots[0]) if rank and terms.pivots[0] > 0.0 else float(rank == 0)
    if terms.rank < rank or gap < _SINGULAR:
        raise SingularConfigurationError(
            f"{plant.name!r} is at a singular configuration, q = {rounded(q0)}: its constraints have rank "
            f"{terms.rank} there and {rank} nearby (smallest over largest constraint gradient {gap:.1e}), so that no "
            "coordinates are independent. Choose another configuration; see plant.diagnose(q)."
        )
    length = plant.displacement_scale
    scale = plant.row_scale / plant.size
    A = scale[:, None] * terms.A * length
    rows = np.sort(qr(A.T, mode="r", pivoting=True)[1][:rank]) if rank else np.zeros(0, np.int64)
    return q0, BasePoint(A[rows], rows, scale[rows], length, rank, plant.nv - rank)


def independent_coordinates(A: Array) -> list[int]:
    """Indices of the coordinates that pivoted QR of A (independent rows, comparable units) leaves independent."""
    from scipy.linalg import qr

    rank, nv = A.shape
    return sorted(int(k) for k in qr(A, mode="r", pivoting=True)[1][rank:]) if rank else list(range(nv))


def require_count(plant: Plant, base: BasePoint, count: int, names: Sequence[str]) -> None:
    """Raise an error unless there are as many coordinates as degrees of freedom."""
    if count != base.dof:
        auto = ", ".join(repr(plant.velocity_names[k]) for k in independent_coordinates(base.A))
        raise ParametrizationError(
            f"{plant.name!r} has {base.dof} degrees of freedom ({plant.nv} coordinates less {base.rank} independent "
            "rows), "
            f"got {count} coordinates: {', '.join(map(repr, names)) or 'none'}. Independent are {auto or 'none'}."
        )


def rate_map(D1: Array, D2: Array | None) -> Array:
    """Matrix W = -(D2R)^-1 D1R (in the text after eq. 2.31)."""
    return D1 if D2 is None else -np.linalg.solve(D2, D1)


def _inverse(J: Array) -> tuple[Array, float, float]:
    """Inverse, sign of the determinant (0 if it vanishes), and n / (|J| |J^-1|): 1 at best, 0 where singular."""
    from scipy.linalg.lapack import dgetrf, dgetri

    if J.size == 0:
        return J, 1.0, 1.0
    factors, pivots, failed = dgetrf(J)
    if failed:
        return J, 0.0, 0.0
    swaps = int(np.count_nonzero(pivots != np.arange(pivots.size)))
    negative = int(np.count_nonzero(factors.diagonal() < 0.0))
    inverse, failed = dgetri(factors, pivots)
    conditioning = len(J) / float(np.linalg.norm(J) * np.linalg.norm(inverse))
    if failed or not conditioning > 0.0:
        return J, 0.0, 0.0
    return inverse, 1.0 - 2.0 * ((swaps + negative) % 2), conditioning


def listed_values(names: Sequence[str], y: Array) -> str:
    """Text of coordinates with their values, for messages."""
    return ", ".join(f"{n} {value:.6g}" for n, value in zip(names, y, strict=True)) or "none"


def rounded(x: Array) -> str:
    """Text of numbers with six digits each, for messages."""
    return str([float(f"{value:.6g}") for value in x])
