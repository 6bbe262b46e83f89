"""Names, units and values by name of a plant's coordinates, motors and rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, InputTypeError, ModelError

__all__ = ["Names"]

Array = NDArray[np.float64]


class Names:
    """Names of a plant's coordinates, motors and rows. It is frozen once it is built."""

    name: str
    position_names: tuple[str, ...]
    velocity_names: tuple[str, ...]
    actuator_names: tuple[str, ...]
    row_names: tuple[str, ...]
    position_units: tuple[str, ...]
    velocity_units: tuple[str, ...]
    row_units: tuple[str, ...]
    row_slices: Mapping[str, slice]
    paired: tuple[tuple[int, int], ...]
    loops: tuple = ()
    configurations: Mapping[str, Mapping[str, float]] = MappingProxyType({})

    def __setattr__(self, key: str, value: object) -> None:
        if getattr(self, "_frozen", False):
            raise AttributeError(
                f"plant {self.name!r} is frozen; build a new one to change {key!r} (a plant of your own sets it before "
                "it calls super().__init__)"
            )
        super().__setattr__(key, value)

    def __copy__(self) -> Self:
        """Return the plant itself: it is frozen."""
        return self

    def __deepcopy__(self, memo: dict) -> Self:
        return self

    @property
    def nq(self) -> int:
        """Number of position coordinates."""
        return len(self.position_names)

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return len(self.velocity_names)

    @property
    def nu(self) -> int:
        """Number of actuators."""
        return len(self.actuator_names)

    def index(self, coordinate: str) -> int:
        """Index of a velocity coordinate by name.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plants.five_bar().index("right")
        2
        """
        _check.one_of(coordinate, self.velocity_names, "coordinate")
        return self.velocity_names.index(coordinate)

    def _require_distinct_signals(self) -> None:
        """Raise an error for equal names, such as a row "a_x" of a constraint "a" and a constraint "a_x"."""
        cut = [loop.name for loop in self.loops if len(loop.velocity_units) == 1]
        signals = [(n, f"the coordinate {n!r}") for n in dict.fromkeys((*self.velocity_names, *cut))]
        signals += [(f"{n}_rate", f"the rate of {what}") for n, what in signals]
        constraint_of = {
            i: name for name, rows in self.row_slices.items() for i in range(*rows.indices(len(self.row_names)))
        }
        signals += [(n, f"a row of the constraint {constraint_of[i]!r}") for i, n in enumerate(self.row_names)]
        owner: dict[str, str] = {}
        for signal, what in signals:
            if signal in owner:
                raise ModelError(f"{self.name!r}: {owner[signal]} and {what} are both called {signal!r}; rename one")
            owner[signal] = what

    def velocity_of(self, positions: Sequence[int] | NDArray[np.integer]) -> list[int]:
        """Indices of the velocity coordinates that belong to position coordinates (one-to-one ones only)."""
        pairs = dict(self.paired)
        positions = [_check.count(i, "positions", 0) for i in _check.sequence(positions, "positions", "numbers")]
        for i in positions:
            if i >= self.nq:
                raise InputError(f"positions must be below {self.nq}, got {i}")
            if i not in pairs:
                raise InputError(
                    f"coordinate {self.position_names[i]!r} is part of a joint with several axes and has no rate "
                    "of its own; fix a one-axis joint instead"
                )
        return [pairs[int(i)] for i in positions]

    def pack(self, values: Mapping[str, float], base: ArrayLike | None = None) -> Array:
        """Configuration from joint values by name; other coordinates from `base` (default: neutral).

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plants.five_bar().pack({"right": 0.5})
        array([0. , 0. , 0.5, 0. ])
        """
        q = self.neutral() if base is None else self._position(base, "base").copy()
        for key, value in _check.mapping(values, "values", "coordinates to numbers").items():
            if key not in self.position_names:
                raise InputError(_check.unknown(key, self.position_names, "joint coordinate"))
            q[self.position_names.index(key)] = _check.number(value, f"the value of {key!r}")
        return self._position(q)

    def configuration(self, q: ArrayLike | Mapping[str, float] | str) -> Array:
        """Configuration as a checked vector, from an array, from values by name, or by the name of a configuration.

        Quaternions of any length but zero are brought to length one: only their direction is an attitude. The names
        are those of `configurations`; a configuration that has a name has closed loops.

        Raises
        ------
        ValueError
            If `q` has a wrong shape or name, is not finite, or has a quaternion of length zero.
        AssemblyError
            If the loops cannot be closed at a configuration that has a name.

        Examples
        --------
        >>> from cmbcontrol import Body, Mechanism, Spherical
        >>> top = Mechanism("top", [Body("top", 1.0, inertia=(1, 1, 1))], [Spherical("tip", "ground", "top")])
        >>> top.configuration([3.0, 0.0, 0.0, 4.0])
        array([0.6, 0. , 0. , 0.8])
        """
        if not isinstance(q, Mapping):
            return self._position(q)
        try:
            return self.pack(q)
        except ValueError as error:
            raise InputError(f"q: {error}") from None

    def _position(self, q: ArrayLike | str, what: str = "q") -> Array:
        """Configuration as a checked vector, from the argument of any method."""
        if isinstance(q, str):
            return self._named(q, what)
        if type(q) is dict:
            raise InputTypeError(
                f"{what} must be {self.nq} numbers, got a dict; plant.assemble(joint=value, ...) closes the loops with "
                "such values, plant.configuration(...) leaves all other joints at 0"
            )
        return _check.vector(q, self.nq, what, self.position_names)
