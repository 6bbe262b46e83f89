"""Root loci: motion of eigenvalues with a parameter of the machine or of its controller."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, InputTypeError
from .model import LinearModel

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

__all__ = ["RootLocus", "root_locus"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_DEEPEST = 14  # a step of the parameter is halved so often at most
_AXIS = 1e-9  # eigenvalues count as on the border this near to it, relative to their size


class RootLocus:
    """Eigenvalues over a parameter, followed from value to value.

    Attributes
    ----------
    data : xarray.Dataset
        Dimensions parameter (the given values, and others between them where branches come close), branch (0, 1,
        ...) and crossing. Variables: ``eigenvalue`` (parameter, branch), 1/s, or without unit for sampled systems;
        ``given`` (parameter), whether the value is one of those given; ``frequency`` (rad/s) and ``damping``
        (parameter, branch) of the equivalent continuous eigenvalue; ``crossing_value``, ``crossing_eigenvalue``,
        ``crossing_frequency``, ``crossing_branch``, ``crossing_direction`` (crossing): where a branch crosses
        the border, outwards (1) or inwards (-1), or leaves it or arrives on it. The attrs hold ``period`` (s, 0 in
        continuous time) and the damping ``ratio`` of the border.

    Notes
    -----
    ``locus.eigenvalue`` is short for ``locus.data["eigenvalue"]``. Of complex pairs the upper crossing is listed.
    """

    def __init__(self, data: xarray.Dataset) -> None:
        self.data = data

    def __getattr__(self, name: str) -> xarray.DataArray:
        if name.startswith("_") or name == "data" or name not in self.data:
            known = ", ".join(map(str, self.data.data_vars)) if "data" in self.__dict__ else ""
            raise AttributeError(f"a root locus has no {name!r} (variables: {known})")
        return self.data[name]

    @property
    def values(self) -> Array:
        """Values of the parameter, including those between the given ones."""
        return self.data["parameter"].values

    @property
    def stable(self) -> NDArray[np.bool_]:
        """Whether all eigenvalues are inside the border, by value of the parameter."""
        return (_sides(self.data["eigenvalue"].values, self._border) < 0).all(axis=1)

    @property
    def _border(self) -> _Border:
        return _Border(float(self.data.attrs["period"]), float(self.data.attrs["ratio"]))

    def plot(self, **options: Any) -> Figure:
        """Draw the branches in the complex plane; see `cmbcontrol.plot.root_locus`."""
        from ..plot import root_locus

        return root_locus(self, **options)

    def __str__(self) -> str:
        d, border = self.data, self._border
        name, unit = d.attrs["parameter"], d.attrs["unit"]
        values = self.values
        lines = [
            f"root locus over {name}, {values[0]:.6g} to {values[-1]:.6g}{f' {unit}' if unit else ''}: "
            f"{d.sizes['branch']} branches, {len(values)} values",
            f"  inside the {border.name} at {np.count_nonzero(self.stable)} of them",
        ]
        if d.sizes["crossing"]:
            lines.append(f"  {name:<16}  direction  eigenvalue                    frequency [rad/s]")
        columns = ("crossing_value", "crossing_direction", "crossing_eigenvalue", "crossing_frequency")
        for p, direction, s, frequency in zip(*(d[c].values for c in columns), strict=True):
            way = "outwards" if direction > 0 else "inwards"
            text = f"{s.real + 0.0: .6g} +- {s.imag:.6g}j" if s.imag else f"{s.real + 0.0: .6g}"
            lines.append(f"  {p:<16.9g}  {way:<9}  {text:<28}  {frequency:.6g}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        d = self.data
        return (
            f"<RootLocus over {d.attrs['parameter']!r}: {d.sizes['parameter']} values, {d.sizes['branch']} branches, "
            f"{d.sizes['crossing']} crossings>"
        )


class _Border(NamedTuple):
    """Border that separates what is stable (or damped enough) from what is not."""

    period: float
    ratio: float

    @property
    def name(self) -> str:
        """Name of the border."""
        if self.ratio:
            return f"line of damping ratio {self.ratio:g}"
        return "unit circle" if self.period else "imaginary axis"

    def continuous(self, values: Complex) -> Complex:
        """Equivalent continuous eigenvalues s, 1/s: z = exp(s T)."""
        if not self.period:
            return values
        small = np.abs(values) < 1e-300
        return np.log(np.where(small, 1e-300, values)) / self.period

    def outside(self, values: Complex) -> Array:
        """Distance of eigenvalues beyond the border: Re s + ratio |s|, 1/s; negative inside."""
        s = self.continuous(values)
        return s.real + self.ratio * np.abs(s)


def root_locus(
    make: Callable[[float], Any],
    values: ArrayLike,
    *,
    parameter: str = "parameter",
    unit: str = "",
    period: float | None = None,
    ratio: float = 0.0,
    refine: bool = True,
) -> RootLocus:
    """Eigenvalues over a parameter of the plant or of the controller, with the values where they leave the stable side.

    Parameters
    ----------
    make : callable
        value -> `LinearModel`, `control.StateSpace` or square matrix; of a feedback system, closed.
    values : array_like, shape (k,)
        Values of the parameter, rising or falling, at least two.
    parameter, unit : str
        Name and unit of the parameter, for labels.
    period : float, optional
        Sample time of matrices in sampled time, s; a `control.StateSpace` has its own.
    ratio : float
        Damping ratio of the border: 0 is the imaginary axis, or the unit circle in sampled time.
    refine : bool
        Call `make` between the given values too, where branches come close to each other.

    Returns
    -------
    RootLocus

    Raises
    ------
    TypeError, ValueError
        Where `make` returns something else, another number of eigenvalues, numbers that are not finite, or
        another sample time; the message says at which value.

    Notes
    -----
    From one value to the next the eigenvalues are assigned so that the sum of the distances to where the branches
    were heading is smallest. Steps are halved, down to 1/16384, where a branch misses that place by more than a third
    of the distance to its neighbour, and where two pass each other closely: they may cross, or turn away. Where two
    meet, either continuation is right. Crossings are located by Brent's method on `make`, to 1e-12 of the step. What
    leaves and returns between two values is not found.

    Examples
    --------
    >>> locus = root_locus(lambda k: [[0.0, 1.0], [-4.0, 2.0 - k]], [0.0, 1.0, 3.0], parameter="damping")
    >>> float(locus.crossing_value[0]), float(locus.crossing_frequency[0])
    (2.0, 2.0)
    """
    parameter, unit = _check.text(parameter, "parameter"), _check.text(unit, "unit")
    refine = _check.flag(refine, "refine")
    values = _check.numbers(values, "values")
    values = _check.vector(values, values.size, "values")
    steps = np.diff(values)
    if len(values) < 2 or not ((steps > 0.0).all() or (steps < 0.0).all()):
        raise InputError(f"values must rise or fall and be two at least, got {values.tolist()[:8]}")
    if not callable(make):
        raise InputTypeError(f"make must be a function of the parameter, got {type(make).__name__}")
    if not 0.0 <= _check.number(ratio, "ratio") < 1.0:
        raise InputError(f"ratio must be a damping ratio from 0 to below 1, got {ratio}")
    source = _Source(make, parameter, None if period is None else _check.positive(period, "period"))
    track = _Track(source, values, refine)
    border = _Border(source.period or 0.0, float(ratio))
    return RootLocus(_labelled(track, border, _crossings(track, source, border), parameter, unit))


class _Source:
    """Function value -> eigenvalues, by real, then by imaginary part; checked."""

    def __init__(self, make: Callable[[float], Any], parameter: str, period: float | None) -> None:
        self._make, self._parameter = make, parameter
        self.period, self._given = period, period
        self._count: int | None = None

    def __call__(self, value: float) -> Complex:
        made = self._make(float(value))
        A, period = self._matrix(made, value)
        where = f"at {self._parameter} = {value:.9g}"
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            raise InputError(f"make must return square matrices, got shape {A.shape} {where}")
        if not np.isfinite(A).all():
            raise InputError(f"make returned numbers that are not finite {where}")
        if self._count is None:
            self._count, self.period = len(A), period
        if len(A) != self._count:
            raise InputError(
                f"make returned {len(A)} eigenvalues {where} and {self._count} before; a root locus needs as many "
                "everywhere. Choose the coordinates (and delays) of the model yourself."
            )
        if period != self.period:
            raise InputError(f"make returned a sample time of {period} s {where} and {self.period} s before")
        return np.sort_complex(np.linalg.eigvals(A).astype(complex))

    def _matrix(self, made: Any, value: float) -> tuple[Array, float | None]:
        """Matrix of a system, and its sample time."""
        if isinstance(made, LinearModel):
            return made.A, self._given
        if hasattr(made, "A") and hasattr(made, "dt"):  # control.StateSpace
            if made.dt is True:
                if self._given is None:
                    raise InputError("the system is in sampled time without a sample time; give period=")
                return np.asarray(made.A), self._given
            return np.asarray(made.A), float(made.dt) if made.dt else self._given
        try:
            return np.asarray(made, dtype=np.float64), self._given
        except (TypeError, ValueError) as error:
            raise InputTypeError(
                f"make must return a LinearModel, a control.StateSpace or a square matrix, got {type(made).__name__} "
                f"at {self._parameter} = {value:.9g}"
            ) from error


class _Track:
    """Track of the branches over the parameter.

    Attributes
    ----------
    values : list of float
    rows : list of ndarray, shape (n,)
        Eigenvalues by branch.
    given : list of bool
    """

    def __init__(self, source: _Source, values: Array, refine: bool) -> None:
        self._source = source
        self.values, self.rows, self.given = [float(values[0])], [source(values[0])], [True]
        for value in values[1:]:
            self._advance(float(value), source(value), _DEEPEST if refine else 0, True)

    def _advance(self, value: float, eigenvalues: Complex, depth: int, given: bool) -> None:
        """Follow the branches to a value of the parameter, with values between where they come close."""
        row, sure = self._assigned(value, eigenvalues)
        if not sure and depth > 0:
            middle = 0.5 * (self.values[-1] + value)
            self._advance(middle, self._source(middle), depth - 1, False)
            self._advance(value, eigenvalues, depth - 1, given)
            return
        self.values.append(value)
        self.rows.append(row)
        self.given.append(given)

    def _assigned(self, value: float, eigenvalues: Complex) -> tuple[Complex, bool]:
        """Eigenvalues in the order of the branches, and whether that order is certain."""
        heading, last = self._heading(value), self.rows[-1]
        row = eigenvalues[_nearest(heading, eigenvalues)]
        i, k = np.triu_indices(len(row), 1)
        apart = np.maximum(np.abs(last[i] - last[k]), np.abs(row[i] - row[k])) > 1e-6 * (1.0 + np.abs(row[i]))
        i, k = i[apart], k[apart]  # branches that coincide need not be told apart
        start, end, missed = last[i] - last[k], row[i] - row[k], np.abs(row - heading)
        # a branch may miss its place by a third of the distance to its neighbour, and two may come as near to each
        # other as a third of what they move past each other: nearer, they may meet, cross or turn away
        sure = np.maximum(missed[i], missed[k]) <= np.abs(end) / 3.0
        sure &= _least_distance(start, end) >= np.abs(end - start) / 3.0
        return row, bool(sure.all())

    def _heading(self, value: float) -> Complex:
        """Expected places of the branches at a value, if they go on as before."""
        if len(self.values) < 2:
            return self.rows[-1]
        ahead = (value - self.values[-1]) / (self.values[-1] - self.values[-2])
        return self.rows[-1] + min(ahead, 2.0) * (self.rows[-1] - self.rows[-2])


def _least_distance(start: Complex, end: Complex) -> Array:
    """Distance of the straight lines from `start` to `end` from zero."""
    along = end - start
    length = np.maximum(np.abs(along) ** 2, 1e-300)
    return np.abs(start + np.clip(-(start * along.conj()).real / length, 0.0, 1.0) * along)


def _nearest(places: Complex, eigenvalues: Complex) -> NDArray[np.int64]:
    """Index of the eigenvalue for each place, so that the sum of the distances is smallest."""
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(np.abs(places[:, None] - eigenvalues))[1]


# -- crossings --------------------------------------------------------------------------------------------


class _Crossing(NamedTuple):
    value: float
    eigenvalue: complex
    branch: int
    direction: int


def _sides(values: Complex, border: _Border) -> NDArray[np.int64]:
    """Sides of the border: 1 outside, -1 inside, 0 on it."""
    out = border.outside(values)
    on = np.abs(out) <= _AXIS * (np.abs(border.continuous(values)) + _AXIS)
    return np.where(on, 0, np.sign(out)).astype(np.int64)


def _crossings(track: _Track, source: _Source, border: _Border) -> list[_Crossing]:
    """Crossings of the border by branches, with arrivals on it and departures, in the order of the parameter."""
    rows = np.array(track.rows)
    sides = _sides(rows, border)
    crossings = []
    for branch, side in enumerate(sides.T):
        i = 0
        for k in range(1, len(side)):
            if side[k] == side[i]:
                i = k
            elif side[k] == 0 and k + 1 < len(side) and side[k + 1] == -side[i]:
                continue  # a single value exactly on the border, between the two sides
            else:
                crossings.append(_crossing(track, source, border, branch, i, k))
                i = k
    upper = [c for c in crossings if c.eigenvalue.imag >= 0.0]
    order = np.sign(track.values[-1] - track.values[0])
    return sorted(upper, key=lambda c: (order * c.value, c.branch))


def _crossing(track: _Track, source: _Source, border: _Border, branch: int, i: int, k: int) -> _Crossing:
    """Crossing between the i-th and the k-th value, at which a branch changes sides."""
    from scipy.optimize import brentq

    a, b = track.values[i], track.values[k]
    start, end = track.rows[i], track.rows[k]

    def branch_value(fraction: float) -> Complex:
        """Eigenvalue of the branch at a fraction of the step."""
        if fraction in (0.0, 1.0):
            return (start, end)[int(fraction)][branch : branch + 1]
        places = start + fraction * (end - start)
        eigenvalues = source(a + fraction * (b - a))
        return eigenvalues[_nearest(places, eigenvalues)][branch : branch + 1]

    before, after = (int(_sides(row[branch : branch + 1], border)[0]) for row in (start, end))

    def outside(fraction: float) -> float:
        return float(border.outside(branch_value(fraction))[0])

    if before * after < 0:
        fraction = float(brentq(outside, 0.0, 1.0, xtol=1e-14, rtol=1e-12))
    else:
        fraction = _departure(lambda f: int(_sides(branch_value(f), border)[0]), outside, before)
    value = branch_value(fraction)[0]
    change = abs(end[branch] - start[branch])  # where a pair meets, its eigenvalues have half the digits
    on_axis = not border.period and not border.ratio
    value = complex(0.0 if on_axis else value.real, 0.0 if abs(value.imag) < 1e-4 * change else value.imag)
    return _Crossing(a + fraction * (b - a), value, branch, int(np.sign(after - before)))


def _departure(side: Callable[[float], int], outside: Callable[[float], float], before: int) -> float:
    """Fraction of a step at which a branch that lies on the border leaves it: bisection, then a secant.

    The bisection ends where rounding no longer hides that the branch is off the border, the secant leads back to it.
    """
    low, high = 0.0, 1.0
    while high - low > 1e-12:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if side(middle) == before else (low, middle)
    near, away = (high, high + 1e-6) if before == 0 else (low, low - 1e-6)
    if not 0.0 <= away <= 1.0:
        return near
    g, g_away = outside(near), outside(away)
    return float(np.clip(near - g * (away - near) / (g_away - g), 0.0, 1.0)) if g_away != g else near


# -- labels -----------------------------------------------------------------------------------------------


def _labelled(track: _Track, border: _Border, crossings: list[_Crossing], parameter: str, unit: str) -> xarray.Dataset:
    import xarray

    rows = np.array(track.rows)
    s = border.continuous(rows)
    size = np.abs(s)
    damping = np.where(size > 0.0, -s.real / np.where(size > 0.0, size, 1.0), 0.0)
    at = np.array([c.eigenvalue for c in crossings], dtype=complex)
    rate = "1" if border.period else "1/s"
    grid, point = ("parameter", "branch"), ("crossing",)
    columns = {
        "eigenvalue": (grid, rows, rate, "eigenvalue"),
        "frequency": (grid, size, "rad/s", "natural frequency"),
        "damping": (grid, damping, "1", "damping ratio"),
        "given": (("parameter",), np.array(track.given), "", "whether the value was given"),
        "crossing_value": (point, np.array([c.value for c in crossings], dtype=float), unit, parameter),
        "crossing_eigenvalue": (point, at, rate, "eigenvalue on the border"),
        "crossing_frequency": (point, np.abs(border.continuous(at)), "rad/s", "natural frequency on the border"),
        "crossing_branch": (point, np.array([c.branch for c in crossings], dtype=int), "1", "branch"),
        "crossing_direction": (point, np.array([c.direction for c in crossings], dtype=int), "1", "1 is outwards"),
    }
    coords = {
        "parameter": ("parameter", np.array(track.values), {"units": unit, "long_name": parameter}),
        "branch": ("branch", np.arange(rows.shape[1])),
    }
    variables = {k: (dims, x, {"units": u, "long_name": what}) for k, (dims, x, u, what) in columns.items()}
    attrs = {"parameter": parameter, "unit": unit, "period": border.period, "ratio": border.ratio}
    return xarray.Dataset(variables, coords, attrs)
