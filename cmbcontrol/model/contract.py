"""Functions that a plant must and may have: calls of them, and checks of their results."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import metres, spans
from ..errors import InputTypeError, ModelError
from . import declared
from .names import Names

if TYPE_CHECKING:
    from .elements import Motion

__all__ = ["OF_ROWS", "Contract"]

Array = NDArray[np.float64]

# What a plant must know, by the symbols of the papers, and may know.
MUST, MAY = ("M", "h", "Phi", "A", "Adot_v"), ("B", "potential")
OF_ROWS, OF_V = ("Phi", "A", "Adot_v"), ("h", "Adot_v")  # of the rows; of velocities, too


class Contract(Names):
    """Base of all plants: five required functions of plain coordinates, checked; see `Plant`."""

    _is_plant = True  # for `_check.plant`

    source: str
    size: float
    row_scale: Array
    unit_lengths: Array
    force_scale: float
    effort: Array
    limits: Array
    absent: frozenset[str] = frozenset()
    motions: tuple[Motion, ...] = ()
    motion_names: tuple[str, ...] = ()
    motion_units: tuple[str, ...] = ()
    sketch: Callable[[Array], Sequence[ArrayLike]] | None = None  # what pictures show, lines (points, 2) or (points, 3)

    def __init__(
        self,
        name: str,
        coordinates: Sequence[str],
        *,
        actuators: Sequence[str] = (),
        rows: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
        neutral: ArrayLike | None = None,
        units: Sequence[str] | None = None,
        row_units: Sequence[str] | None = None,
        limits: Mapping[str, tuple[float, float]] | None = None,
        effort: ArrayLike | None = None,
        size: float = 1.0,
        source: str = "",
    ) -> None:
        self.name = _check.name(name, "plant")
        for key in (*MUST, *MAY):
            if hasattr(self, key) and not callable(getattr(self, key)):
                raise InputTypeError(
                    f"plant {self.name!r}: {key} must be a method of the class {type(self).__name__}, not a value; "
                    f"define {key}(q{', v' if key in OF_V else ''}), or give the value another name"
                )
        missing = [key for key in MUST if not self._knows(key)]
        if missing:
            raise InputTypeError(
                f"plant {self.name!r}: the class {type(self).__name__} must define {', '.join(missing)}; a plant needs "
                "M(q), h(q, v), Phi(q), A(q) and Adot_v(q, v)"
            )
        self.source = _check.text(source, f"plant {self.name!r}: source")
        self.size = _check.positive(size, "the size of a plant")
        self.position_names = self.velocity_names = declared.names(coordinates, "coordinate", self.name)
        self.actuator_names = declared.names(actuators, "actuator", self.name)
        self.position_units = declared.units(units, self.nq, "1", "units", self.name)
        self.velocity_units = tuple(f"{u}/s" for u in self.position_units)
        self.paired = tuple((i, i) for i in range(self.nq))
        self._neutral = np.zeros(self.nq) if neutral is None else _check.vector(neutral, self.nq, "neutral").copy()
        self.limits = declared.limit_array({} if limits is None else limits, self.position_names, self.name)
        self.effort = declared.efforts(effort, self.nu, self.name)
        count = np.size(self._call("Phi", self._neutral))
        self.row_slices, self.row_names = declared.row_names(rows, count, self.name)
        self.row_units = declared.units(row_units, count, "m", "row_units", self.name)
        self.row_scale, self.unit_lengths = metres(self.row_units, self.size), metres(self.position_units, self.size)
        self._require_distinct_signals()
        self._freeze_arrays()
        self._check_declared()
        self.force_scale = self._force_scale()
        self._frozen = True

    @property
    def displacement_scale(self) -> Array:
        """Large motion of each velocity coordinate (nv,): a radian, or the size of the machine."""
        return self.size / self.unit_lengths

    @property
    def position_scale(self) -> Array:
        """Large motion of each position coordinate (nq,): a radian, or the size; 1 for entries of quaternions."""
        return spans(self.position_units, self.size)

    # -- what the plant knows ---------------------------------------------------------------------

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Mass matrix M(q) (nv, nv), symmetric and positive definite."""
        return self._value("M", self._position(q))

    def bias_forces(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Bias forces h(q, v) (nv,), on the left side: Coriolis, centrifugal, gravity, spring and friction forces."""
        return self._value("h", self._position(q), _check.vector(v, self.nv, "v", self.velocity_names))

    def residual(self, q: ArrayLike) -> Array:
        """Residual Phi(q) (rows,) of the constraints, metres and radians: zero where the loops are closed."""
        return self._value("Phi", self._position(q))

    def jacobian(self, q: ArrayLike) -> Array:
        """Constraint Jacobian A(q) (rows, nv): the constraints allow velocities with A v = 0."""
        return self._value("A", self._position(q))

    def bias_acceleration(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Bias acceleration (dA/dt) v (rows,): the second rate of the constraints without A dv/dt."""
        return self._value("Adot_v", self._position(q), _check.vector(v, self.nv, "v", self.velocity_names))

    def actuation_matrix(self, q: ArrayLike) -> Array:
        """Drive matrix B(q) (nv, nu): joint forces of a unit of each actuator."""
        return self._value("B", self._position(q))

    def potential_energy(self, q: ArrayLike) -> float:
        """Potential energy, J; nan where the plant does not know it."""
        return float(self._value("potential", self._position(q))) if self._knows("potential") else math.nan

    def _knows(self, key: str) -> bool:
        return callable(getattr(self, key, None))

    def _function(self, key: str) -> Callable:
        return getattr(self, key)

    def _unit_forces(self) -> Array:
        """Drive matrix B (nv, nu) where each actuator acts on the coordinate of its name."""
        B = np.zeros((self.nv, self.nu))
        for k, coordinate in enumerate(self.actuator_names):
            B[self.index(coordinate), k] = 1.0
        return B

    def _call(self, key: str, *state: Array) -> Array:
        """Value of one of the plant's functions at a state, as a new array."""
        try:
            return _check.numbers(self._function(key)(*(x.copy() for x in state)), key)
        except Exception as error:
            given = "q" if len(state) == 1 else "q, v"
            listed = ", ".join(str(x.tolist()) for x in state)
            said = f"{type(error).__name__}: {error}"
            raise ModelError(f"plant {self.name!r}: {key}({given}) failed at {listed}: {said}") from error

    def _value(self, key: str, *state: Array) -> Array:
        """Value of one of the plant's functions at a state; raises an error for wrong shapes or values not finite."""
        if key == "B" and not self._knows("B"):
            return self._unit_forces()
        value, rows = self._call(key, *state), len(self.row_names)
        shape: tuple[int, ...] = {
            "M": (self.nv, self.nv), "h": (self.nv,), "B": (self.nv, self.nu), "potential": (),
            "Phi": (rows,), "A": (rows, self.nv), "Adot_v": (rows,),
        }[key]  # fmt: skip
        if value.shape != shape:
            raise ModelError(
                f"plant {self.name!r}: {key} must return shape {shape}, got {value.shape} "
                f"({self.nv} coordinates, {rows} rows, {self.nu} actuators)"
            )
        flat = value.reshape(-1)
        if not math.isfinite(flat.dot(flat)) and not np.isfinite(flat).all():
            listed = ", ".join(str(x.tolist()) for x in state)
            raise ModelError(f"plant {self.name!r}: {key} is not finite at {listed}: {value.tolist()}")
        return value

    def _check_declared(self) -> None:
        """Check the shapes of all functions, and the mass matrix, at the neutral configuration."""
        q, v = self.neutral(), np.zeros(self.nv)
        for key in (*MUST, *MAY):
            if key != "potential" or self._knows(key):
                self._value(key, *((q, v) if key in OF_V else (q,)))
        M = self._value("M", q)
        if np.abs(M - M.T).max(initial=0.0) > 1e-9 * np.abs(M).max(initial=0.0):
            raise ModelError(f"plant {self.name!r}: M must be symmetric, got {M.tolist()} at q = {q.tolist()}")
        if self.nv and np.linalg.eigvalsh(M)[0] <= 0.0:
            raise ModelError(f"plant {self.name!r}: M must be positive definite, got {M.tolist()} at q = {q.tolist()}")

    def _force_scale(self) -> float:
        """Largest joint force at rest, N, at the neutral configuration and some about it."""
        rng, rest = np.random.default_rng(0), np.zeros(self.nv)
        at = [self._neutral, *(self._neutral + self.displacement_scale * rng.uniform(-1.0, 1.0, (4, self.nv)))]
        forces = []
        for q in at:
            with contextlib.suppress(ModelError), np.errstate(all="ignore"):  # it need not be defined everywhere
                forces.append(float(np.abs(self._value("h", q, rest) / self.unit_lengths).max(initial=0.0)))
        return max(forces, default=0.0)

    def neutral(self) -> Array:
        """Configuration from which assembly starts by default (nq,)."""
        return self._neutral.copy()

    # -- from process to process ------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_modes"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._freeze_arrays()  # which pickle does not know

    def _freeze_arrays(self) -> None:
        for array in (self.limits, self.effort, self.row_scale, self.unit_lengths, self._neutral):
            array.setflags(write=False)
