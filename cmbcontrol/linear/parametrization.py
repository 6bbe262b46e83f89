"""Local parametrizations of the manifold of the closed loops (Spencer, chapter 2).

Independent coordinates y belong to configurations through R(q, y) = 0 (eq. 2.25). Near a base point the loops
and R together determine q: q = Psi(y), found by Newton's method on (2.23). The kinds:

`CoordinatePartitioning`
    y are some of the coordinates, chosen by pivoted QR or by name (generalized coordinate partitioning).
`TangentSpace`
    y are coordinates on the tangent plane at the base point, from a singular value decomposition.
`LinearParametrization`
    y = R (q [-] qbar) with a constant matrix of yours (eq. 2.33).
`NonlinearParametrization`
    R(q, y) = 0 with functions of yours (eq. 2.20).

Each is a recipe; `at(plant, q0)` makes a `Chart` of it at a base point, and `Chart.reparametrize(q)` the next.

Velocities. The independent velocities are y_v = V v with V = R constant for the first three, so that
dy_v/dt = R a exactly, and V = -(D2R)^-1 D1R for the last, so that y_v = dy/dt (eq. 2.26). On joints with
several axes that do not commute (planar, spherical, free) the rate of y = R (q [-] qbar) is
dy/dt = R J_r^-1 v with the inverse right Jacobian of q [-] qbar; it is y_v at the base point and, for
one-axis joints, everywhere.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import INDEPENDENT
from ..dynamics.differences import slope
from ..errors import ModelError, ParametrizationError, SingularConfigurationError
from ..model.plant import Plant
from .at_rest import require_closed, require_holonomic
from .right_jacobian import angle_factor, group_joints, inverse_right_jacobian, rate_gradient

__all__ = [
    "Chart",
    "CoordinatePartitioning",
    "LinearParametrization",
    "NonlinearParametrization",
    "Parametrization",
    "Pose",
    "TangentSpace",
    "as_parametrization",
]

Array = NDArray[np.float64]

_SINGULAR = 1e-8  # smallest over largest constraint gradient, below which a pose counts as singular
_RENEW = 0.4  # a chart is worn where its conditioning has fallen to this share of that at its base
_TOLERANCE = 1e-13  # of Psi, in radians or sizes of the machine
_EPSILON = 1e-15  # rounding of the residuals, in the same units
_ROUNDING = 1e-9  # steps below it that do not shrink are rounding (machines far from the origin)
_SLOW = 0.05  # contraction rate above which the matrix of the iteration is made anew
_ITERATIONS = 30


class Pose(NamedTuple):
    """A point of the manifold in a chart.

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
        Of [D1R; A] with independent rows of A, in comparable units.
    sign : float
        Of its determinant; it does not change within a chart.
    conditioning : float
        Of [D1R; A] in comparable units: 1 best, 0 where the chart ends.
    iterations : int
        Steps of Newton's method that led here.
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
    """A recipe for independent coordinates."""

    def at(self, plant: Plant, q0: ArrayLike, *, rank: int | None = None, y0: Array | None = None) -> Chart:
        """The chart at a base point; `rank` of A near it, and a first guess of y, where they are known."""


class Chart(ABC):
    """Independent coordinates near a base point; immutable.

    Attributes
    ----------
    plant : Plant
    parametrization : Parametrization
        What it was made of.
    q0, y0 : ndarray, shape (nq,) and (dof,)
        Base point.
    dof, rank : int
        Freedoms, and independent rows of A.
    names : tuple of str
        Of y.
    rows : ndarray of int, shape (rank,)
        Rows of A that are independent here; the others, redundant, hold on the manifold by themselves.
    base : Pose
        The base point as a pose.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> q0 = plant.assemble(left=2.1, right=1.0)
    >>> chart = TangentSpace().at(plant, q0)
    >>> pose = chart.solve(chart.y0 + [0.1, 0.0])
    >>> plant.closure_error(pose.q) < 1e-12, chart.coordinates(pose.q).round(12)
    (True, array([0.1, 0. ]))
    """

    def __init__(
        self, parametrization: Parametrization, plant: Plant, q0: Array, base: _Base, names: tuple[str, ...]
    ) -> None:
        self.parametrization, self.plant, self.q0, self.names = parametrization, plant, q0, names
        self.rank, self.rows, self.dof = base.rank, base.rows, base.dof
        self._base, self._length, self._joints = base, base.length, group_joints(plant)
        self._worn = float(getattr(parametrization, "threshold", _RENEW))

    def _start(self, y0: Array) -> None:
        """Set the base pose, once R is known; refuses coordinates that are not independent there."""
        self.y0 = y0
        D1 = self._gradients(self.q0, y0)[0]
        self.units = np.linalg.norm(D1 * self._length, axis=1)  # what counts as one in each y
        if not self.units.all():
            raise self._dependent(self.q0)
        self.base = self.pose(self.q0, y0)
        if not self.base.conditioning > INDEPENDENT:
            raise self._dependent(self.q0, self.base.conditioning)

    # -- what each kind says in its own way -------------------------------------------------------------

    @abstractmethod
    def _residual(self, q: Array, y: Array) -> Array:
        """R(q, y) (dof,)."""

    @abstractmethod
    def _gradients(self, q: Array, y: Array) -> tuple[Array, Array | None]:
        """D1R (dof, nv), for q [+] eps, and D2R (dof, dof); None stands for D2R = -1."""

    @abstractmethod
    def coordinates(self, q: Array, near: Array | None = None) -> Array:
        """y (dof,) of a configuration; from a guess where R is nonlinear in y."""

    @abstractmethod
    def velocity_map(self, W: Array) -> Array:
        """V (dof, nv) with y_v = V v, where dy/dt = W v."""

    @abstractmethod
    def slope_W(self, pose: Pose, x: Array) -> Array:
        """d(W x)/dy (dof, dof) along the manifold at constant x (nv,)."""

    def slope_V(self, pose: Pose, x: Array) -> Array:
        """d(V x)/dy (dof, dof) along the manifold at constant x (nv,); zero where V is constant."""
        return np.zeros((self.dof, self.dof))

    def bias(self, q: Array, y: Array, v: Array) -> Array:
        """(dV/dt) v (dof,), so that dy_v/dt = V a + bias; zero where V is constant."""
        return np.zeros(self.dof)

    def slope_bias(self, pose: Pose, v: Array, dq: Array, dv: Array) -> Array:
        """Change of the bias (dof, n) along n directions of the state, dq = T dy (or zero) and dv, (nv, n) each."""
        return np.zeros((self.dof, dq.shape[1]))

    # -- maps -----------------------------------------------------------------------------------------

    def rates(self, q: ArrayLike, v: ArrayLike, y: Array | None = None) -> Array:
        """Independent velocities y_v (dof,) of a velocity v (nv,)."""
        q = self.plant.configuration(q)
        v = _check.vector(v, self.plant.nv, "v", self.plant.velocity_names)
        y = self.coordinates(q) if y is None else y
        return self.velocity_map(_rate_map(*self._gradients(q, y))) @ v

    def pose(self, q: ArrayLike, y: Array | None = None, iterations: int = 0) -> Pose:
        """The pose of a configuration on the manifold, with D Psi and K there (eqs. 2.29, 2.44)."""
        q = self.plant.configuration(q)
        y = self.coordinates(q) if y is None else y
        D1, D2 = self._gradients(q, y)
        if D2 is not None:
            self._require_parameters(q, D2)
        inverse, sign, conditioning = _inverse(self._matrix(q, D1))
        if sign == 0.0:
            raise self._dependent(q)
        T = self._length[:, None] * inverse[:, : self.dof] / self.units
        W = _rate_map(D1, D2)
        T = T if D2 is None else -T @ D2
        V = self.velocity_map(W)
        if V is W:
            return Pose(q, y, T, T, W, V, inverse, sign, conditioning, iterations)
        # y_v is not dy/dt: it has to determine the velocity, too
        turned, sign_v, conditioning_v = _inverse(V @ T * (self.units / self.units[:, None]))
        if sign_v == 0.0:
            raise self._dependent(q)
        K = T @ (turned * (self.units[:, None] / self.units))
        conditioning *= conditioning_v * angle_factor(self._joints, self.plant.difference(self.q0, q))
        return Pose(q, y, T, K, W, V, inverse, sign * sign_v, conditioning, iterations)

    def solve(self, y: ArrayLike, near: Pose | None = None) -> Pose:
        """Psi(y): the pose whose independent coordinates are y (section 2.3.1).

        Newton's method on R(q, y) = 0, phi(q) = 0 (eq. 2.23). The matrix of the nearby pose is kept while the
        iteration contracts fast. It ends where rho / (1 - rho) |dx| is below 1e-13 (radians, or sizes of the
        machine) with the contraction rate rho estimated from the steps, or where these are down to rounding.

        Parameters
        ----------
        y : array_like, shape (dof,)
        near : Pose, optional
            Where to start; the base point unless given.

        Raises
        ------
        ParametrizationError
            Where the iteration does not contract, or the pose lies beyond where the chart ends.
        """
        y = _check.vector(y, self.dof, "y", self.names)
        near = self.base if near is None else near
        plant, length = self.plant, self._length
        q, inverse = plant.integrate(near.q, near.T @ (y - near.y)), near.inverse
        first = before = rate = np.inf
        noise = _EPSILON * float(np.linalg.norm(inverse))
        since = 0  # steps with this matrix
        for count in range(1, _ITERATIONS + 1):
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
            f"Psi(y) of {plant.name!r} was not found at y = {_listed(self.names, y)}: after {count} steps the last "
            f"is {size:.2e} (contraction rate {rate:.2g}, loops open by {plant.closure_error(q):.1e} m). The chart is "
            f"that of y = {_listed(self.names, self.y0)}; reparametrize nearer to the pose."
        )

    # -- the range of the chart -------------------------------------------------------------------------

    def worn(self, pose: Pose) -> bool:
        """True where a new chart is due: the conditioning has fallen to the threshold times that at the base."""
        return pose.conditioning < self._worn * self.base.conditioning

    def reparametrize(self, q: ArrayLike, y: Array | None = None) -> Chart:
        """The chart of the same kind at another base point; `y`, a guess of its coordinates where R is nonlinear.

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
        """[D1R; A] (nv, nv) in comparable units (eq. 2.28)."""
        A = self.plant.jacobian(q)[self.rows]
        return np.concatenate([D1 / self.units[:, None], self._base.factor[:, None] * A]) * self._length

    def _checked(self, q: Array, y: Array, count: int) -> Pose:
        """The pose found by the iteration; refuses one on the other side of the end of the chart."""
        pose = self.pose(q, y, count)
        if pose.sign != self.base.sign or pose.conditioning < INDEPENDENT:
            raise ParametrizationError(
                f"y = {_listed(self.names, y)} of {self.plant.name!r} lies beyond where its chart ends: the "
                f"determinant of [D1R; A] passes through zero (Spencer, 2.28; conditioning {pose.conditioning:.1e}, "
                f"{self.base.conditioning:.2g} at its base). Reparametrize nearer to the pose.",
                pose.conditioning,
            )
        return pose

    def _require_parameters(self, q: Array, D2: Array) -> None:
        """Condition (2.27)."""
        values = np.linalg.svd(D2, compute_uv=False)
        if values.size and not values[-1] > 1e-10 * max(values[0], 1e-300):
            raise ParametrizationError(
                f"R(q, y) of {self.plant.name!r} does not determine y at q = {_rounded(q)}: D2R has the singular "
                f"values {_rounded(values)} (Spencer, condition 2.27: its determinant must not vanish)"
            )

    def _dependent(self, q: Array, conditioning: float = 0.0) -> ParametrizationError:
        """Condition (2.28) fails: say which coordinates, and which would do."""
        A = self._base.factor[:, None] * self.plant.jacobian(q)[self.rows] * self._length
        auto = ", ".join(repr(self.plant.velocity_names[k]) for k in _independent(A))
        return ParametrizationError(
            f"the coordinates {', '.join(map(repr, self.names))} of {self.plant.name!r} are not independent at "
            f"q = {_rounded(q)}: [D1R; A] has conditioning {conditioning:.1e}, 1 is best (Spencer, 2.28). "
            f"Independent here are {auto}.",
            conditioning,
        )


# -- kinds ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CoordinatePartitioning:
    """Some of the coordinates are independent (generalized coordinate partitioning, section 2.3.3, remark 2).

    Parameters
    ----------
    names : sequence of str, optional
        Velocity coordinates, as many as there are degrees of freedom. Chosen at each base point by pivoted QR of A
        unless given: the pivots are the dependent ones.
    threshold : float
        Share of the conditioning at the base below which the chart is worn.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> CoordinatePartitioning().at(plant, plant.assemble(left=2.1, right=1.0)).names
    ('elbow_left', 'right')
    """

    names: Sequence[str] | None = None
    threshold: float = _RENEW

    def __post_init__(self) -> None:
        _require_threshold(self.threshold)
        if self.names is not None:
            _check.names((self.names,) if isinstance(self.names, str) else self.names, "names of coordinates")

    def at(self, plant: Plant, q0: ArrayLike, *, rank: int | None = None, y0: Array | None = None) -> Chart:
        """The chart at a base point."""
        q0, base = _base(plant, q0, rank)
        if self.names is None:
            chosen = _independent(base.A)
        else:
            names = (self.names,) if isinstance(self.names, str) else tuple(self.names)
            chosen = [plant.index(name) for name in names]
            _require_count(plant, base, len(chosen), names)
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"the coordinate {name!r} is given {names.count(name)} times")
        names = tuple(plant.velocity_names[k] for k in chosen)
        return _LinearChart(self, plant, q0, base, np.eye(plant.nv)[chosen], names)


@dataclass(frozen=True)
class TangentSpace:
    """Coordinates on the tangent plane at the base point (tangent space method; Spencer, eqs. 3.1-3.2).

    The rows of R are the right singular vectors of A that belong to the singular value zero, with
    lengths counted in sizes of the machine.

    Parameters
    ----------
    threshold : float
        Share of the conditioning at the base below which the chart is worn.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> pose = TangentSpace().at(plant, plant.assemble(left=2.1, right=1.0)).base
    >>> np.allclose(pose.K, pose.V.T)
    True
    """

    threshold: float = _RENEW

    def __post_init__(self) -> None:
        _require_threshold(self.threshold)

    def at(self, plant: Plant, q0: ArrayLike, *, rank: int | None = None, y0: Array | None = None) -> Chart:
        """The chart at a base point."""
        q0, base = _base(plant, q0, rank)
        R = np.linalg.svd(base.A)[2][base.rank :] / base.length
        return _LinearChart(self, plant, q0, base, R, _names(None, base.dof))


@dataclass(frozen=True, eq=False)
class LinearParametrization:
    """y = R (q [-] qbar) with a constant matrix (Spencer, eqs. 2.32-2.33).

    Parameters
    ----------
    R : array_like, shape (dof, nv)
    names : sequence of str, optional
        Of y; y1, y2, ... unless given.
    threshold : float
        Share of the conditioning at the base below which the chart is worn.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> mean = LinearParametrization([[0.5, 0, 0.5, 0], [1, 0, -1, 0]], names=("mean", "gap"))
    >>> mean.at(plant, plant.assemble(left=2.1, right=1.0)).base.conditioning > 0.05
    True
    """

    R: ArrayLike
    names: Sequence[str] | None = None
    threshold: float = _RENEW

    def __post_init__(self) -> None:
        _require_threshold(self.threshold)
        R = _check.numbers(self.R, "R", "a matrix of numbers (degrees of freedom x velocity coordinates)")
        _check.matrix(
            R, (*R.shape[:1], R.shape[-1] if R.ndim == 2 else 0), "R (degrees of freedom x velocity coordinates)"
        )
        if self.names is not None and len(_names(self.names, len(R))) != len(R):
            raise ValueError(f"names must be {len(R)}, one for each row of R, got {self.names}")

    def at(self, plant: Plant, q0: ArrayLike, *, rank: int | None = None, y0: Array | None = None) -> Chart:
        """The chart at a base point."""
        q0, base = _base(plant, q0, rank)
        R = _check.matrix(self.R, (*np.shape(self.R)[:1], plant.nv), "R (degrees of freedom x velocity coordinates)")
        names = _names(self.names, len(R))
        _require_count(plant, base, len(R), names)
        return _LinearChart(self, plant, q0, base, R, names)


@dataclass(frozen=True, eq=False)
class _Explicit:
    """R(q, y) = function(q) - y, with its derivatives."""

    function: Callable[[Array], ArrayLike]
    jacobian: Callable[[Array], ArrayLike]

    def R(self, q: Array, y: Array) -> Array:
        return np.asarray(self.function(q)) - y

    def D1R(self, q: Array, y: Array) -> ArrayLike:
        return self.jacobian(q)

    def D2R(self, q: Array, y: Array) -> Array:
        return -np.eye(y.size)


@dataclass(frozen=True, eq=False)
class NonlinearParametrization:
    """R(q, y) = 0 with functions of yours (Spencer, eqs. 2.20-2.31); y is not tied to a base point.

    Parameters
    ----------
    R : callable, (q, y) -> (dof,)
    D1R : callable, (q, y) -> (dof, nv)
        Derivative of R(q [+] eps, y) by eps: dR/dt = D1R v at constant y.
    D2R : callable, (q, y) -> (dof, dof)
    y0 : array_like, shape (dof,), optional
        Where the search for y with R(q0, y) = 0 starts; zero unless given.
    names : sequence of str, optional
        Of y; y1, y2, ... unless given.
    threshold : float
        Share of the conditioning at the base below which the chart is worn.

    Notes
    -----
    The derivatives are compared with differences of R where the first chart is made. dV/dt v, the second
    derivative that accelerations need, is taken by central differences of order 8 along the motion.

    Examples
    --------
    The tip of a five-bar as independent coordinates:

    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> def tip(q):
    ...     a, b = q[0], q[0] + q[1]
    ...     return np.array([np.cos(a) + 1.5 * np.cos(b), np.sin(a) + 1.5 * np.sin(b)])
    >>> def jacobian(q):
    ...     (x, y), b = tip(q), q[0] + q[1]
    ...     return np.array([[-y, -1.5 * np.sin(b), 0, 0], [x, 1.5 * np.cos(b), 0, 0]])
    >>> chart = NonlinearParametrization.of(tip, jacobian).at(plant, plant.assemble(left=2.1, right=1.0))
    >>> moved = chart.solve(chart.y0 + [0.0, 0.1]).q
    >>> (tip(moved) - tip(chart.q0)).round(12)
    array([0. , 0.1])
    """

    R: Callable[[Array, Array], ArrayLike]
    D1R: Callable[[Array, Array], ArrayLike]
    D2R: Callable[[Array, Array], ArrayLike]
    y0: ArrayLike | None = None
    names: Sequence[str] | None = None
    threshold: float = _RENEW

    def __post_init__(self) -> None:
        _require_threshold(self.threshold)
        for key in ("R", "D1R", "D2R"):
            _check.function(getattr(self, key), key, "(q, y) -> array")
        if self.y0 is not None:
            y0 = _check.numbers(self.y0, "y0")
            _check.vector(y0, y0.shape[0] if y0.ndim else 1, "y0")
        if self.names is not None:
            _names(self.names, 0)

    @classmethod
    def of(
        cls,
        function: Callable[[Array], ArrayLike],
        jacobian: Callable[[Array], ArrayLike],
        names: Sequence[str] | None = None,
    ) -> NonlinearParametrization:
        """y = function(q), with its derivative by q [+] eps: R = function(q) - y."""
        given = _Explicit(function, jacobian)
        return cls(given.R, given.D1R, given.D2R, None, names)

    def at(self, plant: Plant, q0: ArrayLike, *, rank: int | None = None, y0: Array | None = None) -> Chart:
        """The chart at a base point."""
        first = rank is None
        q0, base = _base(plant, q0, rank)
        names = _names(self.names, base.dof)
        _require_count(plant, base, len(names), names)
        chart = _NonlinearChart(self, plant, q0, base, names)
        given = self.y0 if y0 is None else y0
        guess = np.zeros(base.dof) if given is None else _check.vector(given, base.dof, "y0", names)
        y = chart.coordinates(q0, guess)
        if first:
            chart.check_derivatives(y)
        chart._start(y)
        return chart


def as_parametrization(given: Any, coordinates: Any = None) -> Parametrization:
    """A parametrization from its name, an object, or coordinates by name or matrix.

    Parameters
    ----------
    given : {"partitioning", "tangent"}, Parametrization or None
    coordinates : sequence of str, or array_like, shape (dof, nv), optional
        Independent coordinates by name, or a matrix R.
    """
    if coordinates is not None:
        if given not in (None, "partitioning"):
            raise TypeError("give either coordinates= or parametrization=, not both")
        listed = (coordinates,) if isinstance(coordinates, str) else coordinates
        _check.sequence(listed, "coordinates", "names, or a matrix R")
        if all(isinstance(name, str) for name in listed):
            return CoordinatePartitioning(tuple(listed))
        return LinearParametrization(listed)
    if given is None or isinstance(given, str):
        kinds = {"partitioning": CoordinatePartitioning, "tangent": TangentSpace}
        return kinds[_check.one_of("tangent" if given is None else given, kinds, "parametrization")]()
    if not isinstance(given, Parametrization):
        raise TypeError(f"parametrization must be a name or an object with at(plant, q0), got {given!r}")
    return given


class _LinearChart(Chart):
    """y = R (q [-] q0)."""

    def __init__(self, parametrization, plant: Plant, q0: Array, base: _Base, R: Array, names) -> None:
        super().__init__(parametrization, plant, q0, base, names)
        self.R = R
        self._start(np.zeros(len(R)))

    def _residual(self, q: Array, y: Array) -> Array:
        return self.R @ self.plant.difference(self.q0, q) - y

    def _gradients(self, q: Array, y: Array) -> tuple[Array, None]:
        D1 = self.R
        if self._joints:
            D1 = D1 @ inverse_right_jacobian(self._joints, self.plant.difference(self.q0, q))
        return D1, None

    def coordinates(self, q: Array, near: Array | None = None) -> Array:
        """y = R (q [-] q0) (eq. 2.33)."""
        return self.R @ self.plant.difference(self.q0, q)

    def velocity_map(self, W: Array) -> Array:
        """R."""
        return self.R if self._joints else W

    def slope_W(self, pose: Pose, x: Array) -> Array:
        """W = R J_r^-1(q [-] q0)."""
        if not self._joints:
            return np.zeros((self.dof, self.dof))
        delta = self.plant.difference(self.q0, pose.q)
        bent = rate_gradient(self._joints, delta, x)
        return self.R @ bent @ inverse_right_jacobian(self._joints, delta) @ pose.T


class _NonlinearChart(Chart):
    """R(q, y) = 0."""

    def __init__(self, parametrization: NonlinearParametrization, plant, q0: Array, base: _Base, names) -> None:
        super().__init__(parametrization, plant, q0, base, names)
        self._joints = ()  # y does not depend on the base point

    def _call(self, key: str, q: Array, y: Array, shape: tuple[int, ...]) -> Array:
        """What a function returns, checked."""
        value = np.asarray(getattr(self.parametrization, key)(q, y), dtype=np.float64)
        if value.shape != shape:
            raise ModelError(
                f"{key}(q, y) for {self.plant.name!r} must return shape {shape}, got {value.shape}: the machine has "
                f"{self.dof} degrees of freedom and {self.plant.nv} velocity coordinates here"
            )
        if not np.isfinite(value).all():
            raise ModelError(
                f"{key}(q, y) for {self.plant.name!r} is not finite at q = {_rounded(q)}, y = {_rounded(y)}"
            )
        return value

    def _residual(self, q: Array, y: Array) -> Array:
        return self._call("R", q, y, (self.dof,))

    def _gradients(self, q: Array, y: Array) -> tuple[Array, Array]:
        return self._call("D1R", q, y, (self.dof, self.plant.nv)), self._call("D2R", q, y, (self.dof, self.dof))

    def coordinates(self, q: Array, near: Array | None = None) -> Array:
        """The y with R(q, y) = 0, by Newton's method from a guess; from the base point unless given."""
        y = (self.y0 if near is None else near).copy()
        for _ in range(_ITERATIONS):
            D2 = self._call("D2R", q, y, (self.dof, self.dof))
            self._require_parameters(q, D2)
            step = np.linalg.solve(D2, -self._residual(q, y))
            y = y + step
            if np.abs(step).max(initial=0.0) <= 1e-14 * max(1.0, float(np.abs(y).max(initial=0.0))):
                return y
        left = float(np.abs(self._residual(q, y)).max(initial=0.0))
        if left > 1e-12 * max(1.0, float(np.abs(y).max(initial=0.0))):
            raise ParametrizationError(
                f"no y with R(q, y) = 0 was found for {self.plant.name!r} at q = {_rounded(q)}: {left:.1e} is left at "
                f"y = {_listed(self.names, y)}. Give y0= near it."
            )
        return y

    def velocity_map(self, W: Array) -> Array:
        """-(D2R)^-1 D1R, so that y_v = dy/dt (eq. 2.26)."""
        return W

    def _map(self, q: Array, y: Array) -> Array:
        """W = V = -(D2R)^-1 D1R."""
        return _rate_map(*self._gradients(q, y))

    def bias(self, q: Array, y: Array, v: Array) -> Array:
        """(dV/dt) v, by central differences of order 8 along the motion."""
        speed = float(np.linalg.norm(v / self._length))
        if speed == 0.0:
            return np.zeros(self.dof)
        rates = self._map(q, y) @ v
        return slope(lambda s: self._map(self.plant.integrate(q, s * v), y + s * rates) @ v, 1e-2 / speed)

    def slope_W(self, pose: Pose, x: Array) -> Array:
        """By central differences of order 8."""

        def turned(k: int, s: float) -> Array:
            y = pose.y.copy()
            y[k] += s
            return self._map(self.plant.integrate(pose.q, s * pose.T[:, k]), y) @ x

        return _columns(turned, self.dof, 1e-2 * self.units)

    def slope_V(self, pose: Pose, x: Array) -> Array:
        """As for W."""
        return self.slope_W(pose, x)

    def slope_bias(self, pose: Pose, v: Array, dq: Array, dv: Array) -> Array:
        """By central differences of order 8."""
        speed = max(1.0, float(np.linalg.norm(v / self._length)))
        sizes = np.linalg.norm(np.vstack([dq, dv / speed]) / np.tile(self._length, 2)[:, None], axis=0)
        dy = pose.W @ dq

        def bent(k: int, s: float) -> Array:
            return self.bias(self.plant.integrate(pose.q, s * dq[:, k]), pose.y + s * dy[:, k], v + s * dv[:, k])

        return _columns(bent, self.dof, 1e-2 / np.maximum(sizes, 1e-300))

    def check_derivatives(self, y: Array) -> None:
        """Compare D1R and D2R with differences of R at the base point; refuses those that disagree."""
        D1, D2 = self._gradients(self.q0, y)
        axes, own = np.eye(self.plant.nv), np.eye(self.dof)
        by_q = _columns(
            lambda k, s: self._residual(self.plant.integrate(self.q0, s * axes[k]), y), self.dof, 1e-3 * self._length
        )
        by_y = _columns(lambda k, s: self._residual(self.q0, y + s * own[k]), self.dof, np.full(self.dof, 1e-3))
        for key, given, found in (("D1R", D1, by_q), ("D2R", D2, by_y)):
            error = float(np.abs(given - found).max(initial=0.0))
            if error > 1e-6 * max(1.0, float(np.abs(found).max(initial=0.0))):
                i, k = np.unravel_index(int(np.abs(given - found).argmax()), given.shape)
                raise ModelError(
                    f"{key}(q, y) for {self.plant.name!r} disagrees with differences of R by {error:.1e}: entry "
                    f"({i}, {k}) is {given[i, k]:.6g}, differences give {found[i, k]:.6g}"
                )


# -- the base point -------------------------------------------------------------------------------------


class _Base(NamedTuple):
    """What the loops say at a base point."""

    A: Array  # (rank, nv), independent rows in comparable units
    rows: NDArray[np.int64]
    factor: Array  # (rank,) brings those rows to sizes of the machine
    length: Array  # (nv,) what counts as one in each velocity coordinate
    rank: int
    dof: int


def _require_threshold(threshold: float) -> None:
    """A share."""
    if _check.positive(threshold, "threshold", zero=True) > 1.0:
        raise ValueError(f"threshold is a share, at most 1, got {threshold}")


def _base(plant: Plant, q0: ArrayLike, rank: int | None) -> tuple[Array, _Base]:
    """Independent rows of A at a base point; refuses open loops and singular configurations."""
    from scipy.linalg import qr

    _check.plant(plant)
    q0 = plant.configuration(q0).copy()
    require_closed(plant, q0)
    terms = plant.terms(q0, np.zeros(plant.nv))
    if rank is None:  # the first chart, not one that follows another
        require_holonomic(plant, q0)
        rank = plant.generic_rank(q0)
    found = float(terms.pivots[rank - 1] / terms.pivots[0]) if rank and terms.pivots[0] > 0.0 else float(rank == 0)
    if terms.rank < rank or found < _SINGULAR:
        raise SingularConfigurationError(
            f"{plant.name!r} is at a singular configuration, q = {_rounded(q0)}: its loops hold {terms.rank} degrees "
            "of freedom "
            f"here and "
            f"{rank} nearby (smallest over largest constraint gradient {found:.1e}), so that no coordinates are "
            "independent. Choose another pose; see plant.diagnose(q)."
        )
    length = plant.spans
    scale = plant.row_scale / plant.size
    A = scale[:, None] * terms.A * length
    rows = np.sort(qr(A.T, mode="r", pivoting=True)[1][:rank]) if rank else np.zeros(0, np.int64)
    return q0, _Base(A[rows], rows, scale[rows], length, rank, plant.nv - rank)


def _independent(A: Array) -> list[int]:
    """Coordinates that pivoted QR of A, independent rows in comparable units, leaves independent."""
    from scipy.linalg import qr

    rank, nv = A.shape
    return sorted(int(k) for k in qr(A, mode="r", pivoting=True)[1][rank:]) if rank else list(range(nv))


def _require_count(plant: Plant, base: _Base, count: int, names: Sequence[str]) -> None:
    """As many coordinates as degrees of freedom."""
    if count != base.dof:
        auto = ", ".join(repr(plant.velocity_names[k]) for k in _independent(base.A))
        raise ParametrizationError(
            f"{plant.name!r} has {base.dof} degrees of freedom ({plant.nv} coordinates less {base.rank} independent "
            "rows), "
            f"got {count} coordinates: {', '.join(map(repr, names)) or 'none'}. Independent are {auto or 'none'}."
        )


def _names(given: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """Names of y."""
    if given is None:
        return tuple(f"y{i + 1}" for i in range(count))
    listed = _check.names((given,) if isinstance(given, str) else given, "names of coordinates")
    return tuple(_check.name(n, "coordinate") for n in listed)


def _rate_map(D1: Array, D2: Array | None) -> Array:
    """W = -(D2R)^-1 D1R (in the text after eq. 2.31)."""
    return D1 if D2 is None else -np.linalg.solve(D2, D1)


def _inverse(J: Array) -> tuple[Array, float, float]:
    """Inverse, sign of the determinant (0 where it vanishes), and n / (|J| |J^-1|): 1 at best, 0 where singular."""
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


def _columns(function: Callable[[int, float], Array], rows: int, steps: Array) -> Array:
    """Derivatives of function(k, s) by s at zero, one column (rows,) for each k."""
    out = np.empty((rows, steps.size))
    for k, step in enumerate(steps):
        out[:, k] = slope(lambda s, k=k: function(k, s), step)
    return out


def _listed(names: Sequence[str], y: Array) -> str:
    return ", ".join(f"{n} {value:.6g}" for n, value in zip(names, y, strict=True)) or "none"


def _rounded(x: Array) -> str:
    return str([float(f"{value:.6g}") for value in x])
