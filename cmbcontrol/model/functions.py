"""Plant given by functions of plain coordinates, such as those of a textbook."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputTypeError, ModelError
from .plant import Plant

__all__ = ["FunctionPlant"]

Array = NDArray[np.float64]
Matrix = ArrayLike | Callable[[Array], ArrayLike]


class FunctionPlant(Plant):
    """Plant M(q) dv/dt + h(q, v) = B(q) u - A(q)' lam with Phi(q) = 0, all given as Python functions.

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
        Jacobian of Phi.
    Adot_v : callable, (q, v) -> (rows,)
        (dA/dt) v.
    B : callable or array_like, optional
        Forces per unit of each actuator, (nv, nu) or q -> (nv, nu). By default, the actuators are
        names of coordinates and act on them.
    actuators : sequence of str
        Names of the nu actuators.
    rows : sequence of str, or mapping of loop name to names of its rows, optional
        A sequence names the rows of a single loop, ``"loop"``.
    potential : callable, q -> float, optional
        Potential energy, J. Without it the energy of the plant is unknown (NaN).
    neutral : array_like, shape (nv,), optional
        A configuration at which all functions are defined, zero by default. Assembly starts here.
    units : sequence of str, optional
        Units of the coordinates: ``"rad"``, ``"m"`` or ``"1"`` (the default).
    row_units : sequence of str, optional
        Units of the rows; defaults to ``"m"``.
    limits : mapping of coordinate name to (float, float)
        Ranges used in assembly.
    effort : array_like, shape (nu,), optional
        Largest motor efforts.
    size : float
        Characteristic length, metres: how far a coordinate that is no angle may be from the closed configuration.
    sketch : callable, optional
        q -> lines of shape (points, 2) or (points, 3), metres: what pictures and animations show.
    source : str
        Reference from which the plant is taken.

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

    @_check.knows_its_keywords
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
        name = _check.name(name, "plant")
        self._functions = {"M": M, "h": h, "Phi": Phi, "A": A, "Adot_v": Adot_v}
        if potential is not None:
            self._functions["potential"] = potential
        if callable(B):
            self._functions["B"] = B
        if sketch is not None:
            self.sketch = sketch
        for key, function in (self._functions | ({} if sketch is None else {"sketch": sketch})).items():
            if not callable(function):
                raise InputTypeError(f"plant {name!r}: {key} must be a function, got {function!r}")
        self._drive = B  # checked where the coordinates are known
        self._constant_B: Array | None = None
        super().__init__(
            name, coordinates, actuators=actuators, rows=rows, neutral=neutral, units=units, row_units=row_units,
            limits=limits, effort=effort, size=size, source=source,
        )  # fmt: skip

    def _knows(self, key: str) -> bool:
        return key in self._functions

    def _function(self, key: str) -> Callable:
        return self._functions[key]

    def _value(self, key: str, *state: Array) -> Array:
        if key != "B" or self._knows("B"):
            return super()._value(key, *state)
        if self._constant_B is None:  # at the first call, which is one of the checks: the plant is not frozen yet
            what = f"B of plant {self.name!r} (coordinates x actuators)"
            given = self._drive
            self._constant_B = self._unit_forces() if given is None else _check.matrix(given, (self.nv, self.nu), what)
        return self._constant_B.copy()

    def __getstate__(self) -> dict[str, Any]:
        for key, function in {**self._functions, "sketch": self.sketch}.items():
            try:
                pickle.dumps(function)
            except Exception as error:  # whatever the object of a user raises
                raise ModelError(
                    f"plant {self.name!r} cannot be pickled, for its function {key} cannot: {error}. Define it at the "
                    "top level of a module, or build the plant anew in each process."
                ) from error
        return super().__getstate__()
