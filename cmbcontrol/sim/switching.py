"""Switches that change the constraints of a plant during a run: grasp, let go, lock a joint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputTypeError
from ..model.contacts import Contact, OfConstraint

__all__ = ["IMPACTS", "Engage", "Lock", "Release", "Switch", "Unlock", "listed_switches"]

IMPACTS = "simultaneous", "sequential"  # of several contacts at one instant

Array = NDArray[np.float64]
When = Callable[[float, Array, Array], float]


@dataclass(frozen=True, eq=False)
class Switch(OfConstraint):
    """Change of one constraint, at a time or each time a condition comes true.

    Attributes
    ----------
    name : str
        Name of the constraint, or of the joint that is locked.
    at : float, optional
        Time, s, from 0.
    when : callable, optional
        (t, q, v) -> float: the change happens when it crosses zero upwards.
    """

    name: str
    _: KW_ONLY
    at: float | None = None
    when: When | None = None

    def __post_init__(self) -> None:
        _check.name(self.name, "constraint or joint")
        self._require_one({"at": self.at, "when": self.when})
        if self.at is not None:
            object.__setattr__(self, "at", _check.positive(self.at, f"the time of {self.label}", zero=True))

    def _require_one(self, ways: dict[str, Any]) -> None:
        """Raise an error unless exactly one way is given to time the switch, and conditions are functions."""
        given = [key for key, value in ways.items() if value is not None]
        listed = " or ".join(f"{key}=" for key in ways)
        if len(given) != 1:
            raise InputTypeError(f"{self.label} needs one of {listed}, got {' and '.join(given) or 'none'}")
        if given[0] != "at" and not callable(ways[given[0]]):
            raise InputTypeError(f"{given[0]}= of {self.label} must be a function, got {ways[given[0]]!r}")


@_check.knows_its_keywords
@dataclass(frozen=True, eq=False)
class Engage(Switch):
    """Switch a constraint on: the velocity jumps to the nearest one that it allows (`impact`, without restitution).

    A constraint whose first switch is this one is off at the start.

    Parameters
    ----------
    name : str
        A constraint of the plant.
    at, when
        See `Switch`; exactly one.
    capture : bool
        Grasp the body where it is: the constraint is made again to be closed at that instant; its place on body b
        stays, that on body a moves. Else it has to be closed by then.
    within : float
        Largest opening of the constraint without `capture`, m (rad times the size of the machine). The gap is then
        closed by the smallest displacement in the metric of M.

    Examples
    --------
    >>> Engage("grasp", at=1.0, capture=True).label
    "Engage('grasp')"
    """

    capture: bool = False
    within: float = 1e-6

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.flag(self.capture, f"capture= of {self.label}")
        object.__setattr__(self, "within", _check.positive(self.within, f"within= of {self.label}"))


@_check.knows_its_keywords
@dataclass(frozen=True, eq=False)
class Release(Switch):
    """Switch a constraint off. A constraint whose first switch is this one is on at the start.

    Parameters
    ----------
    name : str
        A constraint of the plant.
    at, when
        See `Switch`.
    force : callable, optional
        In place of at and when: multipliers (rows,) of the constraint -> float. The constraint lets go when it crosses
        zero upwards, as ``lambda lam: lam[0]`` where a force changes its sign, or ``lambda lam: abs(lam[0]) - 50.0``
        where it is more than 50 N. Multipliers are the smallest ones, but where contacts keep their cones by others;
        -lam pushes body b along the row.

    Examples
    --------
    >>> Release("magnet", force=lambda lam: abs(lam[0]) - 50.0).label
    "Release('magnet')"
    """

    force: Callable[[Array], float] | None = None

    def _require_one(self, ways: dict[str, Any]) -> None:
        super()._require_one(ways | {"force": self.force})


@_check.knows_its_keywords
@dataclass(frozen=True, eq=False)
class Lock(Switch):
    """Hold a joint, or one coordinate, where it stands: a brake that closes.

    Parameters
    ----------
    name : str
        A joint of any kind, or one coordinate of a cylindrical or universal joint. The constraint is called
        ``lock_<name>``.
    at, when
        See `Switch`.

    Examples
    --------
    >>> Lock("elbow", at=0.5).constraint
    'lock_elbow'
    """

    @property
    def constraint(self) -> str:
        return f"lock_{self.name}"


@_check.knows_its_keywords
@dataclass(frozen=True, eq=False)
class Unlock(Lock):
    """Let a locked joint go. A joint whose first switch is this one is locked at the start."""


def listed_switches(switches: Any) -> list[Switch | Contact]:
    """Switches and contacts as a list, from one or several."""
    if isinstance(switches, (Switch, Contact)):
        return [switches]
    return list(_check.sequence(switches, "switches", "Lock(...), Contact(...) and so on"))
