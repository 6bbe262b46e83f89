"""A plant given by functions of plain coordinates, such as those of a textbook."""

from __future__ import annotations

import contextlib
import math
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import BLURRED, DEPENDENT
from ..errors import ModelError
from ..kernels import constrained, split
from . import diagnosis
from .base import PlantBase
from .elements import Coupling, Joint, Loop
from .terms import FAILED, RANK_TOLERANCE, Terms

__all__ = ["FunctionPlant"]

Array = NDArray[np.float64]
Matrix = ArrayLike | Callable[[Array], ArrayLike]
# of a row's size: no gradient is wrong by about one; a gradient is right to the differences of Phi, 1e-10, or to those
# by which the user found A, 1e-5
_GRADIENT = 1e-3
_STEP = 1e-3  # rad, or of the size: differences of order 4 are then right to 1e-12, and round to 1e-13
_ROUNDING = float(np.finfo(float).eps)


class _Split(NamedTuple):
    """Rows of A in mass (or Euclidean) coordinates, factored; see `kernels.split`."""

    root: split.Root
    rows: split.Rows
    rank: int

    def admissible(self, v: Array) -> Array:
        """What is left of v when its part along the rows is removed."""
        z = np.tril(self.root.L).T @ v
        split.to_head(self.rows, self.rank, z)
        z[: self.rank] = 0.0
        split.to_space(self.rows, self.rank, z)
        split.backward(self.root, z)
        return z


@dataclass(frozen=True, eq=False)
class _Coupled:
    """The functions of the loops with one linear row more."""

    of: Mapping[str, Callable]
    row: Array  # (1, nv)
    offset: float
    count: int  # rows without it

    def Phi(self, q: Array) -> Array:
        return np.append(self.of["Phi"](q), self.row @ q - self.offset)

    def A(self, q: Array) -> Array:
        return np.append(np.reshape(self.of["A"](q), (self.count, self.row.size)), self.row, axis=0)

    def Adot_v(self, q: Array, v: Array) -> Array:
        return np.append(self.of["Adot_v"](q, v), 0.0)


@dataclass(frozen=True, eq=False)
class _Selected:
    """The functions of some rows of the loops."""

    of: Mapping[str, Callable]
    rows: NDArray[np.int64]

    def Phi(self, q: Array) -> Array:
        return np.asarray(self.of["Phi"](q), dtype=np.float64)[self.rows]

    def A(self, q: Array) -> Array:
        return np.asarray(self.of["A"](q), dtype=np.float64).reshape(-1, q.size)[self.rows]

    def Adot_v(self, q: Array, v: Array) -> Array:
        return np.asarray(self.of["Adot_v"](q, v), dtype=np.float64)[self.rows]


_OF_LOOPS = ("Phi", "A", "Adot_v")


class FunctionPlant(PlantBase):
    """M(q) dv/dt + h(q, v) = B(q) u - A(q)' lam with Phi(q) = 0, all given as Python functions.

    Coordinates are plain numbers: nq = nv, v = dq/dt, and q moves by addition.

    Parameters
    ----------
    name : str
    coordinates : sequence of str
        Names of the nv coordinates.
    M : callable, q -> (nv, nv)
        Mass matrix, symmetric and positive definite.
    h : callable, (q, v) -> (nv,)
        Coriolis, centrifugal, gravity, spring and friction forces, on the left hand side.
    Phi : callable, q -> (rows,)
        Residual of the loops.
    A : callable, q -> (rows, nv)
        Its Jacobian.
    Adot_v : callable, (q, v) -> (rows,)
        (dA/dt) v.
    B : callable or array_like, optional
        Forces of a unit of each actuator, (nv, nu) or q -> (nv, nu). Unless given, the actuators are
        names of coordinates and act on them.
    actuators : sequence of str
        Names of the nu actuators.
    rows : sequence of str, or mapping of loop name to names of its rows, optional
        A sequence names the rows of a single loop, ``"loop"``.
    potential : callable, q -> float, optional
        Potential energy, J. Without it the energy of the plant is unknown (NaN).
    neutral : array_like, shape (nv,), optional
        A configuration at which all functions are defined, zero unless told. Assembly starts here.
    units : sequence of str, optional
        Of the coordinates: ``"rad"``, ``"m"`` or ``"1"`` (the default).
    row_units : sequence of str, optional
        Of the rows, ``"m"`` unless told.
    limits : mapping of coordinate name to (float, float)
        Ranges used in assembly.
    effort : array_like, shape (nu,), optional
        Largest motor efforts.
    size : float
        Characteristic length, metres: how far a coordinate that is no angle may be from the closed pose.
    sketch : callable, optional
        q -> lines of shape (points, 2) or (points, 3), metres: what pictures and animations show.
    source : str
        Where the plant is from.

    Raises
    ------
    ModelError
        Where a function does not return what it should; the message names it.

    Notes
    -----
    Sign convention as in `Mechanism` (Aghili, eq. 19). Rank is decided in the metric of M; rows should be
    in metres (or radians times `size`), so that they compare. The plant can be pickled if its functions can: those
    from the top level of a module, and methods of objects that can be pickled; not lambdas.

    Examples
    --------
    >>> bead = FunctionPlant(
    ...     "bead",
    ...     ("x", "y"),
    ...     M=lambda q: 2.0 * np.eye(2),
    ...     h=lambda q, v: [0.0, 2.0 * 9.81],
    ...     Phi=lambda q: [q[1] - q[0]],
    ...     A=lambda q: [[-1.0, 1.0]],
    ...     Adot_v=lambda q, v: [0.0],
    ...     actuators=("x",),
    ...     units=("m", "m"),
    ... )
    >>> bead.assemble(x=0.5)
    array([0.5, 0.5])
    """

    sketch: Callable[[Array], Sequence[ArrayLike]] | None = None

    def __init__(
        self,
        name: str,
        coordinates: Sequence[str],
        M: Callable[[Array], ArrayLike],
        h: Callable[[Array, Array], ArrayLike],
        Phi: Callable[[Array], ArrayLike],
        A: Callable[[Array], ArrayLike],
        Adot_v: Callable[[Array, Array], ArrayLike],
        *,
        B: Matrix | None = None,
        actuators: Sequence[str] = (),
        rows: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
        potential: Callable[[Array], float] | None = None,
        neutral: ArrayLike | None = None,
        units: Sequence[str] | None = None,
        row_units: Sequence[str] | None = None,
        limits: Mapping[str, tuple[float, float]] | None = None,
        effort: ArrayLike | None = None,
        size: float = 1.0,
        sketch: Callable[[Array], Sequence[ArrayLike]] | None = None,
        source: str = "",
    ) -> None:
        self.name = _check.name(name, "plant")
        self.source = _check.text(source, f"plant {self.name!r}: source")
        self.size = _check.positive(size, "the size of a plant")
        self.position_names = self.velocity_names = self._names(coordinates, "coordinate")
        self.actuator_names = self._names(actuators, "actuator")
        self.position_units = self._units(units, self.nq, "1", "units")
        self.velocity_units = tuple(f"{u}/s" for u in self.position_units)
        self.paired = tuple((i, i) for i in range(self.nq))
        self._neutral = np.zeros(self.nq) if neutral is None else _check.vector(neutral, self.nq, "neutral").copy()
        self.limits = self._limit_array({} if limits is None else limits)
        self.effort = self._effort_array(effort)

        self._functions = {"M": M, "h": h, "Phi": Phi, "A": A, "Adot_v": Adot_v}
        if potential is not None:
            self._functions["potential"] = potential
        if sketch is not None:
            self.sketch = sketch
        for key, function in (self._functions | ({} if sketch is None else {"sketch": sketch})).items():
            if not callable(function):
                raise TypeError(f"plant {self.name!r}: {key} must be a function, got {function!r}")
        count = np.size(self._call("Phi", self._neutral))
        self.row_slices, self.row_names = self._row_names(rows, count)
        self.row_units = self._units(row_units, count, "m", "row_units")
        self.row_scale = np.array([self.size if unit == "rad" else 1.0 for unit in self.row_units])
        self.reach = np.array([self.size if unit == "rad" else 1.0 for unit in self.position_units])
        self._shapes = {
            "M": (self.nv, self.nv),
            "h": (self.nv,),
            "potential": (),
            "B": (self.nv, self.nu),
            **self._row_shapes(count),
        }
        self._constant_B = self._drive(B)
        self._require_distinct_signals()
        for array in (self.limits, self.effort, self.row_scale, self.reach, self._neutral):
            array.setflags(write=False)
        self._check_functions()
        self.force_scale = self._force_scale()
        self._frozen = True

    # -- what the user gave -----------------------------------------------------------------------

    def _names(self, names: Sequence[str], what: str) -> tuple[str, ...]:
        """Checked, distinct names."""
        if isinstance(names, str):
            raise TypeError(f"plant {self.name!r}: the {what}s must be a sequence of names, got the string {names!r}")
        listed = _check.sequence(names, f"plant {self.name!r}: the {what}s", "names")
        for n in listed:
            _check.name(n, what)
            if listed.count(n) > 1:
                raise ModelError(f"plant {self.name!r}: {listed.count(n)} {what}s are called {n!r}; rename one")
        return listed

    def _units(self, units: Sequence[str] | None, count: int, default: str, what: str) -> tuple[str, ...]:
        given = (default,) * count if units is None else units
        listed = tuple(_check.text(u, what) for u in _check.sequence(given, f"plant {self.name!r}: {what}", "units"))
        if len(listed) != count:
            raise ModelError(f"plant {self.name!r}: {what} must have {count} entries, got {listed}")
        return listed

    def _limit_array(self, limits: Mapping[str, tuple[float, float]]) -> Array:
        array = np.tile([-np.inf, np.inf], (self.nq, 1))
        for coordinate, ends in _check.mapping(limits, f"plant {self.name!r}: limits", "coordinates to pairs").items():
            low, high = _check.pair(ends, f"plant {self.name!r}: limits of {coordinate!r}", infinite=True)
            if not low < high:
                raise ModelError(
                    f"plant {self.name!r}: the lower limit {low} of {coordinate!r} must be below the upper limit {high}"
                )
            known = _check.one_of(coordinate, self.position_names, "coordinate", "limits")
            array[self.index(known)] = low, high
        return array

    def _effort_array(self, effort: ArrayLike | None) -> Array:
        array = np.full(self.nu, np.inf) if effort is None else _check.numbers(effort, f"plant {self.name!r}: effort")
        if array.shape != (self.nu,) or not np.all(array > 0.0):
            raise ModelError(
                f"plant {self.name!r}: effort must have {self.nu} entries > 0, one an actuator, got {array.tolist()}"
            )
        return array

    def _row_names(self, rows, count: int) -> tuple[dict[str, slice], tuple[str, ...]]:
        """Slices by loop, and names of rows."""
        if rows is None:
            rows = ("loop",) if count == 1 else tuple(f"loop_{i + 1}" for i in range(count))
        loops = rows if isinstance(rows, Mapping) else {"loop": rows}
        slices, names = {}, []
        for loop, labels in loops.items():
            _check.name(loop, "loop")
            slices[loop] = slice(len(names), len(names) + len(self._names(labels, "row")))
            names += labels
        names = self._names(names, "row")
        if len(names) != count:
            raise ModelError(f"plant {self.name!r}: Phi(q) has {count} rows, but {len(names)} are named: {list(names)}")
        return slices, names

    def _drive(self, B: Matrix | None) -> Array | None:
        """B where it is constant."""
        if callable(B):
            self._functions["B"] = B
            return None
        if B is None:
            constant = np.zeros((self.nv, self.nu))
            for k, coordinate in enumerate(self.actuator_names):
                constant[self.index(coordinate), k] = 1.0
        else:
            constant = _check.matrix(B, (self.nv, self.nu), f"B of plant {self.name!r} (coordinates x actuators)")
        return constant

    def _B(self, q: Array) -> Array:
        return self._value("B", q) if self._constant_B is None else self._constant_B.copy()

    def _call(self, key: str, *state: Array) -> Array:
        """What a function returns, as a new array."""
        try:
            return _check.numbers(self._functions[key](*(x.copy() for x in state)), key)
        except Exception as error:
            given = "q" if len(state) == 1 else "q, v"
            listed = ", ".join(str(x.tolist()) for x in state)
            said = f"{type(error).__name__}: {error}"
            raise ModelError(f"plant {self.name!r}: {key}({given}) failed at {listed}: {said}") from error

    def _value(self, key: str, *state: Array) -> Array:
        """What a function returns; refuses wrong shapes, and values that are not finite."""
        value = self._call(key, *state)
        if value.shape != self._shapes[key]:
            raise ModelError(
                f"plant {self.name!r}: {key} must return shape {self._shapes[key]}, got {value.shape} "
                f"({self.nv} coordinates, {len(self.row_names)} rows, {self.nu} actuators)"
            )
        flat = value.reshape(-1)
        if not math.isfinite(flat.dot(flat)) and not np.isfinite(flat).all():
            listed = ", ".join(str(x.tolist()) for x in state)
            raise ModelError(f"plant {self.name!r}: {key} is not finite at {listed}: {value.tolist()}")
        return value

    def _check_functions(self) -> None:
        """Shapes of all functions, and a sound mass matrix, at the neutral configuration."""
        q, v = self.neutral(), np.zeros(self.nv)
        for key in self._functions:
            self._value(key, *((q, v) if key in ("h", "Adot_v") else (q,)))
        M = self._value("M", q)
        if np.abs(M - M.T).max(initial=0.0) > 1e-9 * np.abs(M).max(initial=0.0):
            raise ModelError(f"plant {self.name!r}: M must be symmetric, got {M.tolist()} at q = {q.tolist()}")
        if self.nv and np.linalg.eigvalsh(M)[0] <= 0.0:
            raise ModelError(f"plant {self.name!r}: M must be positive definite, got {M.tolist()} at q = {q.tolist()}")

    def _force_scale(self) -> float:
        """The largest joint force at rest, in newtons, at the neutral configuration and some about it."""
        rng, rest = np.random.default_rng(0), np.zeros(self.nv)
        at = [self._neutral, *(self._neutral + self.size / self.reach * rng.uniform(-1.0, 1.0, (4, self.nv)))]
        found = []
        for q in at:
            with contextlib.suppress(ModelError), np.errstate(all="ignore"):  # functions need not be defined everywhere
                found.append(float(np.abs(self._value("h", q, rest) / self.reach).max(initial=0.0)))
        return max(found, default=0.0)

    def check_derivatives(self, q: ArrayLike, v: ArrayLike, *, tolerance: float = 1e-6) -> None:
        """Compare the functions with each other through finite differences.

        A with the gradient of Phi, Adot_v with the rate of A, the part of h that is even in v with
        the Coriolis forces that follow from M, and h at rest with the gradient of the potential.

        Parameters
        ----------
        q, v : array_like, shape (nv,)
            A generic state, near which all functions are smooth.
        tolerance : float
            Largest error, relative to what is differentiated: of A and Adot_v to the largest entry, and at least to
            what moves a row by the size of the plant a radian; of forces to the kinetic and the potential energy a
            radian (or size, for a coordinate in metres).

        Raises
        ------
        ModelError
            Names the function that disagrees, and how much.
        """
        tolerance = _check.positive(tolerance, "tolerance")
        q = _check.vector(q, self.nq, "q", self.position_names)
        v = _check.vector(v, self.nv, "v", self.velocity_names)
        rest = np.zeros(self.nv)
        # Differences step through configurations, so that no speed and no unit matters.
        reach = np.array([self.size if unit == "m" else 1.0 for unit in self.position_units])
        row = np.array([1.0 / self.size if unit == "m" else 1.0 for unit in self.row_units])
        fastest = float((np.abs(v) / reach).max(initial=0.0)) or 1.0  # 1/s

        def compare(key: str, what: str, given: Array, found: Array, weight: Array) -> None:
            error, largest = (float(np.abs(weight * x).max(initial=0.0)) for x in (given - found, found))
            if error > tolerance * max(1.0, largest):
                raise ModelError(
                    f"plant {self.name!r}: {key} disagrees with {what} by {np.abs(given - found).max():.3e} at q = "
                    f"{q.tolist()}, v = {v.tolist()}: it returns {given.tolist()}, differences give {found.tolist()}"
                )

        def along_v(key: str) -> Array:
            return _slope(lambda s: self._value(key, q + s * v), _STEP / fastest)

        gradient = _gradient(lambda x: self._value("Phi", x), q, _STEP * reach)
        compare("A", "the gradient of Phi", self._value("A", q), gradient, np.outer(row, reach))
        compare("Adot_v", "the rate of A along v", self._value("Adot_v", q, v), along_v("A") @ v, row / fastest**2)
        force = self._value("h", q, rest)
        largest = float(np.abs(reach * force).max(initial=0.0))
        unseen = 1e2 * _ROUNDING / tolerance  # of what a difference is taken of: below it, rounding is all that is left
        M, even = self._value("M", q), 0.5 * (self._value("h", q, v) + self._value("h", q, -v)) - force
        coriolis = along_v("M") @ v - _gradient(lambda x: 0.5 * v @ self._value("M", x) @ v, q, _STEP * reach)
        moving = float(np.abs(M * np.outer(reach, reach)).max(initial=0.0)) * fastest**2
        compare("h", "the Coriolis forces that follow from M", even, coriolis, reach / max(moving, unseen * largest))
        if "potential" in self._functions:
            slope = _gradient(lambda x: self._value("potential", x), q, _STEP * reach)
            energy = abs(float(self._value("potential", q)))
            weight = reach / (max(largest, unseen * energy / _STEP) or 1.0)
            compare("h", "the gradient of the potential, at rest,", force, slope, weight)

    # -- coordinates ------------------------------------------------------------------------------

    def neutral(self) -> Array:
        """The configuration from which assembly starts unless told otherwise."""
        return self._neutral.copy()

    def integrate(self, q: ArrayLike, dq: ArrayLike) -> Array:
        """q + dq."""
        q = _check.vector(q, self.nq, "q", self.position_names)
        return q + _check.vector(dq, self.nv, "dq", self.velocity_names)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """q1 - q0."""
        q0 = _check.vector(q0, self.nq, "q0", self.position_names)
        return _check.vector(q1, self.nq, "q1", self.position_names) - q0

    def position_rate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """dq/dt, which is v."""
        _check.vector(q, self.nq, "q", self.position_names)
        return _check.vector(v, self.nv, "v", self.velocity_names).copy()

    # -- loops ------------------------------------------------------------------------------------

    def residual(self, q: ArrayLike) -> Array:
        """Residual Phi(q) (rows,) of the loops."""
        return self._value("Phi", _check.vector(q, self.nq, "q", self.position_names))

    def jacobian(self, q: ArrayLike) -> Array:
        """Constraint Jacobian A (rows, nv)."""
        return self._value("A", _check.vector(q, self.nq, "q", self.position_names))

    def rolling_rows(self, q: ArrayLike) -> tuple[str, ...]:
        """Rows that bind velocities and no positions: rows of A that are not the gradient of Phi at q and near it.

        Rolling wheels, blades, knife edges: Phi = 0 and A(q) v = 0. The machine then has more positions than
        2 dof states can tell. `simulate` takes such rows, and `underlying_ode` linearizes them.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plants.slider_crank().rolling_rows([1.2, -2.4])
        ()
        """
        q = _check.vector(q, self.nq, "q", self.position_names)
        length = np.array([1.0 if unit == "rad" else self.size for unit in self.position_units])
        # a row may be a gradient, or vanish, at one pose by chance
        near = 1e-2 * length * np.random.default_rng(0).standard_normal((2, self.nq))
        off, scale, steps = np.zeros(len(self.row_names)), np.zeros(len(self.row_names)), np.full(self.nq, _STEP)
        for x in (q, q + near[0], q + near[1]):
            given = self._value("A", x) * length
            found = _gradient(lambda s, x=x: self._value("Phi", x + length * s), np.zeros(self.nq), steps)
            off = np.maximum(off, np.abs(given - found).max(axis=1, initial=0.0))
            scale = np.maximum(scale, np.abs(given).max(axis=1, initial=0.0))
        return tuple(n for n, wrong in zip(self.row_names, off > _GRADIENT * scale, strict=True) if wrong)

    def with_loops(self, *loops: Joint | Loop | Coupling) -> FunctionPlant:
        """The same plant with more couplings; one that has the name of a present coupling or loop takes its place.

        Functions have no bodies to close another kind of loop between.

        Examples
        --------
        >>> from cmbcontrol import Coupling, plants
        >>> plants.particle_on_circle().with_loops(Coupling("level", {"q2": 1.0}, offset=0.5)).row_names
        ('circle', 'level')
        """
        plant = self.without(*(loop.name for loop in loops if getattr(loop, "name", None) in self.row_slices))
        for loop in loops:
            plant = plant._coupled(loop)
        return plant

    def _coupled(self, loop: Any) -> FunctionPlant:
        """With one coupling more."""
        if not isinstance(loop, Coupling):
            raise TypeError(
                f"plant {self.name!r} is given by functions and has no bodies: only a Coupling of its coordinates can "
                f"be added, got {loop!r}"
            )
        row = np.zeros((1, self.nq))
        for coordinate, c in loop.coefficients.items():
            row[0, self.index(coordinate)] = c
        last = next(iter(loop.coefficients))
        count = len(self.row_names)
        scale = np.append(self.row_scale, 1.0 / np.linalg.norm(row[0] / self.reach))
        scale.setflags(write=False)
        if loop.name in self.row_names:
            raise ModelError(f"plant {self.name!r} has a row called {loop.name!r} already; rename the coupling")
        coupled = _Coupled({name: self._functions[name] for name in _OF_LOOPS}, row, loop.offset, count)
        mode = object.__new__(type(self))
        vars(mode).update(
            vars(self),
            row_names=(*self.row_names, loop.name),
            row_units=(*self.row_units, self.position_units[self.index(last)]),
            row_slices={**self.row_slices, loop.name: slice(count, count + 1)},
            row_scale=scale,
            _functions=self._functions | {name: getattr(coupled, name) for name in _OF_LOOPS},
            _shapes=self._shapes | self._row_shapes(count + 1),
        )
        vars(mode).pop("_modes", None)
        return mode

    def _row_shapes(self, count: int) -> dict[str, tuple[int, ...]]:
        return {"Phi": (count,), "A": (count, self.nv), "Adot_v": (count,)}

    def _of_rows(self, kept: Sequence[str], rows: NDArray[np.int64]) -> dict[str, Any]:
        selected = _Selected({name: self._functions[name] for name in _OF_LOOPS}, rows)
        return {
            "_functions": self._functions | {name: getattr(selected, name) for name in _OF_LOOPS},
            "_shapes": self._shapes | self._row_shapes(rows.size),
        }

    def _split(self, M: Array, A: Array, cap: int | None = None, tolerance: float = DEPENDENT) -> _Split:
        """The split that decides the rank, as for a `Mechanism`."""
        n = A.shape[1]
        root, rows = split.new_root(n), split.new_rows(*A.shape)
        rank = constrained.mass_split(
            M, A, self.row_scale, self.reach, 1.0, tolerance, n if cap is None else cap, root, rows
        )
        return _Split(root, rows, rank)

    def _metric(self, q: Array, metric: str) -> Array:
        """M, or the identity."""
        name = _check.one_of(metric, ("mass", "euclidean"), "metric")
        return np.eye(self.nv) if name == "euclidean" else self._value("M", q)

    def project_velocity(self, q: ArrayLike, v: ArrayLike, *, metric: str = "mass") -> Array:
        """The velocity nearest to v that the loops allow, in the metric of M or the Euclidean one.

        Within rounding of a singular configuration (1e-8), gradients that nearly vanish do not count.
        """
        q = _check.vector(q, self.nq, "q", self.position_names)
        v = _check.vector(v, self.nv, "v", self.velocity_names)
        found = self._split(self._metric(q, metric), self.jacobian(q), tolerance=BLURRED)
        if found.rank == FAILED:
            raise self._bad_mass(q)
        return found.admissible(v)

    # -- equations of motion ----------------------------------------------------------------------

    def _mass(self, q: Array) -> Array:
        return self._value("M", q)

    def terms(
        self,
        q: ArrayLike,
        v: ArrayLike,
        t: float = 0.0,
        *,
        project: bool = False,
        close: bool = False,
        cap: int | None = None,
        check: bool = True,
    ) -> Terms:
        """Everything the equations of motion say at one state, in one record; see `Mechanism.terms`.

        Raises
        ------
        ModelError
            Where the mass matrix is not positive definite, or a function fails.
        """
        t = _check.number(t, "t")
        project, close = _check.flag(project, "project"), _check.flag(close, "close")
        if cap is not None:
            cap = _check.count(cap, "cap", 0)
        q = _check.vector(q, self.nq, "q", self.position_names)
        v = _check.vector(v, self.nv, "v", self.velocity_names)
        if close:
            q = self._closer(q)
        M, A = self._value("M", q), self._value("A", q)
        found = self._split(M, A, cap)
        if found.rank == FAILED and check:
            raise self._bad_mass(q)
        if project and found.rank != FAILED:
            v = found.admissible(v)
        potential = float(self._value("potential", q)) if "potential" in self._functions else math.nan
        h, phi, b = self._value("h", q, v), self._value("Phi", q), self._value("Adot_v", q, v)
        rows = self.row_scale, self.reach, self.force_scale, None, self.row_names, self.absent
        return Terms(
            t, q.copy(), v.copy(), M, h, phi, A, b, self._B(q), potential, found.rows.pivots, found.rank, *rows
        )

    def _closer(self, q: Array) -> Array:
        """One Newton step towards the loops, in the Euclidean metric."""
        off = self.row_scale * self._value("Phi", q)
        if not np.abs(off).max(initial=0.0) > 8e-15 * self.size:
            return q
        A = self.row_scale[:, None] * self._value("A", q)
        closer = q - np.linalg.lstsq(A, off, rcond=RANK_TOLERANCE)[0]
        return closer if self.closure_error(closer) < self.closure_error(q) else q

    # -- from process to process ------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        for key, function in {**self._functions, "sketch": self.sketch}.items():
            try:
                pickle.dumps(function)
            except Exception as error:  # whatever the object of a user raises
                raise ModelError(
                    f"plant {self.name!r} cannot be pickled, for its function {key} cannot: {error}. Define it at the "
                    "top level of a module, or build the plant anew in each process."
                ) from error
        return {name: value for name, value in vars(self).items() if name != "_modes"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        for array in (
            self.limits,
            self.effort,
            self.row_scale,
            self.reach,
            self._neutral,
        ):  # which pickle does not know
            array.setflags(write=False)

    # -- printing ---------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<FunctionPlant {self.name!r}: {self.nv} coordinates, {len(self.row_names)} rows>"

    def part_lines(self, found: diagnosis.Diagnosis | None) -> list[str]:
        """The parts of the plant, a line each, for the mobility table."""
        lines = [f"{self.name}: given by functions, {self.nv} coordinates, {len(self.row_names)} loop rows"]
        for name, unit in zip(self.position_names, self.position_units, strict=True):
            lines.append(f"  coordinate {name:<12} [{unit}]")
        for loop, rows in self.row_slices.items():
            lines.append(diagnosis.loop_line(self, found, loop, "functions", ", ".join(self.row_names[rows])))
        for name, effort in zip(self.actuator_names, self.effort, strict=True):
            lines.append(diagnosis.motor_line(name, "", float(effort)))
        return lines


def _gradient(function: Callable[[Array], Array], q: Array, steps: Array) -> Array:
    """Gradient (outputs, nq) by central differences of order 4."""
    columns = [_slope(lambda s, e=e: function(q + s * e), h) for e, h in zip(np.eye(q.size), steps, strict=True)]
    return np.stack(columns, axis=-1)


def _slope(function: Callable[[float], Array], step: float) -> Array:
    """Derivative at zero by central differences of order 4."""
    near, far = function(step) - function(-step), function(2.0 * step) - function(-2.0 * step)
    return (8.0 * near - far) / (12.0 * step)
