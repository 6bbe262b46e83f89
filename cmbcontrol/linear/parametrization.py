"""Local parametrizations: kinds of independent coordinates (Spencer, chapter 2).

`CoordinatePartitioning`
    y are some of the coordinates, chosen by pivoted QR or by name (generalized coordinate partitioning).
`TangentSpace`
    y are coordinates on the tangent plane at the base point, from a singular value decomposition.
`LinearParametrization`
    y = R (q [-] qbar) with a constant matrix given by the user (eq. 2.33).
`NonlinearParametrization`
    R(q, y) = 0 with functions given by the user (eq. 2.20).

`at(plant, q0)` makes a `chart.Chart` of each at a base point, and `Chart.reparametrize(q)` the next chart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..dynamics.differences import slope
from ..errors import InputError, InputTypeError, ModelError, ParametrizationError
from ..model.plant import Plant
from .chart import (
    ITERATIONS,
    RENEWAL,
    BasePoint,
    Chart,
    ChartPoint,
    Parametrization,
    base_point,
    independent_coordinates,
    listed_values,
    rate_map,
    require_count,
    rounded,
)
from .right_jacobian import inverse_right_jacobian, rate_gradient

__all__ = [
    "CoordinatePartitioning",
    "LinearParametrization",
    "NonlinearParametrization",
    "Parametrization",
    "TangentSpace",
    "as_parametrization",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CoordinatePartitioning:
    """Parametrization by some of the coordinates (generalized coordinate partitioning, section 2.3.3, remark 2).

    Parameters
    ----------
    names : sequence of str, optional
        Velocity coordinates, as many as there are degrees of freedom. By default they are chosen at each base point by
        pivoted QR of A: the pivots are the dependent ones.
    threshold : float
        A new chart is due where the conditioning is below this share of that at the base point.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> CoordinatePartitioning().at(plant, plant.assemble(left=2.1, right=1.0)).names
    ('elbow_left', 'right')
    """

    names: Sequence[str] | None = None
    threshold: float = RENEWAL

    def __post_init__(self) -> None:
        _require_threshold(self.threshold)
        if self.names is not None:
            _check.names((self.names,) if isinstance(self.names, str) else self.names, "names of coordinates")

    def at(self, plant: Plant, q0: ArrayLike, *, rank: int | None = None, y0: Array | None = None) -> Chart:
        """Chart at a base point."""
        q0, base = base_point(plant, q0, rank)
        if self.names is None:
            chosen = independent_coordinates(base.A)
        else:
            names = (self.names,) if isinstance(self.names, str) else tuple(self.names)
            chosen = [plant.index(name) for name in names]
            require_count(plant, base, len(chosen), names)
            for name in names:
                if names.count(name) > 1:
                    raise InputError(f"the coordinate {name!r} is given {names.count(name)} times")
        names = tuple(plant.velocity_names[k] for k in chosen)
        return _LinearChart(self, plant, q0, base, np.eye(plant.nv)[chosen], names)


@dataclass(frozen=True)
class TangentSpace:
    """Parametrization by coordinates on the tangent plane at the base point (tangent space; Spencer, eqs. 3.1-3.2).

    The rows of R are the right singular vectors of A that belong to the singular value zero, with
    lengths counted in sizes of the machine.

    Parameters
    ----------
    threshold : float
        A new chart is due where the conditioning is below this share of that at the base point.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> point = TangentSpace().at(plant, plant.assemble(left=2.1, right=1.0)).base
    >>> np.allclose(point.K, point.V.T)
    True
    """

    threshold: float = RENEWAL

    def __post_init__(self) -> None:
        _require_threshold(self.threshold)

    def at(self, plant: Plant, q0: ArrayLike, *, rank: int | None = None, y0: Array | None = None) -> Chart:
        """Chart at a base point."""
        q0, base = base_point(plant, q0, rank)
        R = np.linalg.svd(base.A)[2][base.rank :] / base.length
        return _LinearChart(self, plant, q0, base, R, _names(None, base.dof))


@dataclass(frozen=True, eq=False)
class LinearParametrization:
    """Parametrization y = R (q [-] qbar) with a constant matrix (Spencer, eqs. 2.32-2.33).

    Parameters
    ----------
    R : array_like, shape (dof, nv)
    names : sequence of str, optional
        Names of y; defaults to y1, y2, ...
    threshold : float
        A new chart is due where the conditioning is below this share of that at the base point.

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
    threshold: float = RENEWAL

    def __post_init__(self) -> None:
        _require_threshold(self.threshold)
        R = _check.numbers(self.R, "R", "a matrix of numbers (degrees of freedom x velocity coordinates)")
        _check.matrix(
            R, (*R.shape[:1], R.shape[-1] if R.ndim == 2 else 0), "R (degrees of freedom x velocity coordinates)"
        )
        if self.names is not None and len(_names(self.names, len(R))) != len(R):
            raise InputError(f"names must be {len(R)}, one for each row of R, got {self.names}")

    def at(self, plant: Plant, q0: ArrayLike, *, rank: int | None = None, y0: Array | None = None) -> Chart:
        """Chart at a base point."""
        q0, base = base_point(plant, q0, rank)
        R = _check.matrix(self.R, (*np.shape(self.R)[:1], plant.nv), "R (degrees of freedom x velocity coordinates)")
        names = _names(self.names, len(R))
        require_count(plant, base, len(R), names)
        return _LinearChart(self, plant, q0, base, R, names)


@dataclass(frozen=True, eq=False)
class _Explicit:
    """Function R(q, y) = function(q) - y, with its derivatives."""

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
    """Parametrization R(q, y) = 0 by functions of the user (Spencer, eqs. 2.20-2.31); y is not tied to a base point.

    Parameters
    ----------
    R : callable, (q, y) -> (dof,)
    D1R : callable, (q, y) -> (dof, nv)
        Derivative of R(q [+] eps, y) by eps: dR/dt = D1R v at constant y.
    D2R : callable, (q, y) -> (dof, dof)
    y0 : array_like, shape (dof,), optional
        Start of the search for y with R(q0, y) = 0; defaults to zero.
    names : sequence of str, optional
        Names of y; defaults to y1, y2, ...
    threshold : float
        A new chart is due where the conditioning is below this share of that at the base point.

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
    threshold: float = RENEWAL

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
        """Make a parametrization y = function(q) from its derivative by eps of q [+] eps: R = function(q) - y."""
        given = _Explicit(function, jacobian)
        return cls(given.R, given.D1R, given.D2R, None, names)

    def at(self, plant: Plant, q0: ArrayLike, *, rank: int | None = None, y0: Array | None = None) -> Chart:
        """Chart at a base point."""
        first = rank is None
        q0, base = base_point(plant, q0, rank)
        names = _names(self.names, base.dof)
        require_count(plant, base, len(names), names)
        chart = _NonlinearChart(self, plant, q0, base, names)
        given = self.y0 if y0 is None else y0
        guess = np.zeros(base.dof) if given is None else _check.vector(given, base.dof, "y0", names)
        y = chart.coordinates(q0, guess)
        if first:
            chart.check_derivatives(y)
        chart._start(y)
        return chart


def as_parametrization(given: Any, coordinates: Any = None) -> Parametrization:
    """Make a parametrization from its name, an object, or coordinates by name or matrix.

    Parameters
    ----------
    given : {"partitioning", "tangent"}, Parametrization or None
    coordinates : sequence of str, or array_like, shape (dof, nv), optional
        Independent coordinates by name, or a matrix R.
    """
    if coordinates is not None:
        if given not in (None, "partitioning"):
            raise InputTypeError("give either coordinates= or parametrization=, not both")
        listed = (coordinates,) if isinstance(coordinates, str) else coordinates
        _check.sequence(listed, "coordinates", "names, or a matrix R")
        if all(isinstance(name, str) for name in listed):
            return CoordinatePartitioning(tuple(listed))
        return LinearParametrization(listed)
    if given is None or isinstance(given, str):
        kinds = {"partitioning": CoordinatePartitioning, "tangent": TangentSpace}
        return kinds[_check.one_of("tangent" if given is None else given, kinds, "parametrization")]()
    if not isinstance(given, Parametrization):
        raise InputTypeError(f"parametrization must be a name or an object with at(plant, q0), got {given!r}")
    return given


# -- their charts -----------------------------------------------------------------------------------------


class _LinearChart(Chart):
    """Chart with y = R (q [-] q0)."""

    def __init__(self, parametrization, plant: Plant, q0: Array, base: BasePoint, R: Array, names) -> None:
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
        """Coordinates y = R (q [-] q0) of a configuration (eq. 2.33)."""
        return self.R @ self.plant.difference(self.q0, q)

    def velocity_map(self, W: Array) -> Array:
        """Matrix R, which is V here."""
        return self.R if self._joints else W

    def slope_W(self, point: ChartPoint, x: Array) -> Array:
        """Gradient d(W x)/dy (dof, dof), with W = R J_r^-1(q [-] q0)."""
        if not self._joints:
            return np.zeros((self.dof, self.dof))
        delta = self.plant.difference(self.q0, point.q)
        gradient = rate_gradient(self._joints, delta, x)
        return self.R @ gradient @ inverse_right_jacobian(self._joints, delta) @ point.T


class _NonlinearChart(Chart):
    """Chart with R(q, y) = 0."""

    def __init__(self, parametrization: NonlinearParametrization, plant, q0: Array, base: BasePoint, names) -> None:
        super().__init__(parametrization, plant, q0, base, names)
        self._joints = ()  # y does not depend on the base point

    def _call(self, key: str, q: Array, y: Array, shape: tuple[int, ...]) -> Array:
        """Value of a function of the user, checked."""
        value = np.asarray(getattr(self.parametrization, key)(q, y), dtype=np.float64)
        if value.shape != shape:
            raise ModelError(
                f"{key}(q, y) for {self.plant.name!r} must return shape {shape}, got {value.shape}: the machine has "
                f"{self.dof} degrees of freedom and {self.plant.nv} velocity coordinates there"
            )
        if not np.isfinite(value).all():
            raise ModelError(f"{key}(q, y) for {self.plant.name!r} is not finite at q = {rounded(q)}, y = {rounded(y)}")
        return value

    def _residual(self, q: Array, y: Array) -> Array:
        return self._call("R", q, y, (self.dof,))

    def _gradients(self, q: Array, y: Array) -> tuple[Array, Array]:
        return self._call("D1R", q, y, (self.dof, self.plant.nv)), self._call("D2R", q, y, (self.dof, self.dof))

    def coordinates(self, q: Array, near: Array | None = None) -> Array:
        """Coordinates y with R(q, y) = 0, by Newton's method from a guess; defaults to the base point."""
        y = (self.y0 if near is None else near).copy()
        for _ in range(ITERATIONS):
            D2 = self._call("D2R", q, y, (self.dof, self.dof))
            self._require_parameters(q, D2)
            step = np.linalg.solve(D2, -self._residual(q, y))
            y = y + step
            if np.abs(step).max(initial=0.0) <= 1e-14 * max(1.0, float(np.abs(y).max(initial=0.0))):
                return y
        left = float(np.abs(self._residual(q, y)).max(initial=0.0))
        if left > 1e-12 * max(1.0, float(np.abs(y).max(initial=0.0))):
            raise ParametrizationError(
                f"no y with R(q, y) = 0 was found for {self.plant.name!r} at q = {rounded(q)}: {left:.1e} is left at "
                f"y = {listed_values(self.names, y)}. Give y0= near it."
            )
        return y

    def velocity_map(self, W: Array) -> Array:
        """Matrix V = W = -(D2R)^-1 D1R, so that y_v = dy/dt (eq. 2.26)."""
        return W

    def _map(self, q: Array, y: Array) -> Array:
        """Matrix W = V = -(D2R)^-1 D1R."""
        return rate_map(*self._gradients(q, y))

    def bias(self, q: Array, y: Array, v: Array) -> Array:
        """Term (dV/dt) v, by central differences of order 8 along the motion."""
        speed = float(np.linalg.norm(v / self._length))
        if speed == 0.0:
            return np.zeros(self.dof)
        rates = self._map(q, y) @ v
        return slope(lambda s: self._map(self.plant.integrate(q, s * v), y + s * rates) @ v, 1e-2 / speed)

    def slope_W(self, point: ChartPoint, x: Array) -> Array:
        """Gradient d(W x)/dy (dof, dof), by central differences of order 8."""

        def perturbed(k: int, s: float) -> Array:
            y = point.y.copy()
            y[k] += s
            return self._map(self.plant.integrate(point.q, s * point.T[:, k]), y) @ x

        return _columns(perturbed, self.dof, 1e-2 * self.units)

    def slope_V(self, point: ChartPoint, x: Array) -> Array:
        """Gradient d(V x)/dy (dof, dof), which is that of W here."""
        return self.slope_W(point, x)

    def slope_bias(self, point: ChartPoint, v: Array, dq: Array, dv: Array) -> Array:
        """Change of the bias along directions of the state, by central differences of order 8."""
        speed = max(1.0, float(np.linalg.norm(v / self._length)))
        sizes = np.linalg.norm(np.vstack([dq, dv / speed]) / np.tile(self._length, 2)[:, None], axis=0)
        dy = point.W @ dq

        def perturbed(k: int, s: float) -> Array:
            return self.bias(self.plant.integrate(point.q, s * dq[:, k]), point.y + s * dy[:, k], v + s * dv[:, k])

        return _columns(perturbed, self.dof, 1e-2 / np.maximum(sizes, 1e-300))

    def check_derivatives(self, y: Array) -> None:
        """Compare D1R and D2R with differences of R at the base point; raise an error where they disagree."""
        D1, D2 = self._gradients(self.q0, y)
        axes, own = np.eye(self.plant.nv), np.eye(self.dof)
        by_q = _columns(
            lambda k, s: self._residual(self.plant.integrate(self.q0, s * axes[k]), y), self.dof, 1e-3 * self._length
        )
        by_y = _columns(lambda k, s: self._residual(self.q0, y + s * own[k]), self.dof, np.full(self.dof, 1e-3))
        for key, given, differences in (("D1R", D1, by_q), ("D2R", D2, by_y)):
            error = float(np.abs(given - differences).max(initial=0.0))
            if error > 1e-6 * max(1.0, float(np.abs(differences).max(initial=0.0))):
                i, k = np.unravel_index(int(np.abs(given - differences).argmax()), given.shape)
                raise ModelError(
                    f"{key}(q, y) for {self.plant.name!r} disagrees with differences of R by {error:.1e}: entry "
                    f"({i}, {k}) is {given[i, k]:.6g}, differences give {differences[i, k]:.6g}"
                )


def _require_threshold(threshold: float) -> None:
    """Raise an error unless a threshold is a number from 0 to 1."""
    if _check.positive(threshold, "threshold", zero=True) > 1.0:
        raise InputError(f"threshold is a share, at most 1, got {threshold}")


def _names(given: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """Names of y, as given or y1, y2, ..."""
    if given is None:
        return tuple(f"y{i + 1}" for i in range(count))
    listed = _check.names((given,) if isinstance(given, str) else given, "names of coordinates")
    return tuple(_check.name(n, "coordinate") for n in listed)


def _columns(function: Callable[[int, float], Array], rows: int, steps: Array) -> Array:
    """Derivatives of function(k, s) by s at zero, one column (rows,) for each k."""
    out = np.empty((rows, steps.size))
    for k, step in enumerate(steps):
        out[:, k] = slope(lambda s, k=k: function(k, s), step)
    return out
