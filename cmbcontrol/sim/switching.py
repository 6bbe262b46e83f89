"""What may change the constraints of a plant during a run: grasp, let go, lock a joint, touch down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..characteristics import Friction
from ..errors import InputError, InputTypeError
from ..model.elements import Constraint, Joint, Point, PointOnPlane

__all__ = ["Contact", "Engage", "Lock", "Release", "Switch", "Unlock", "listed_switches"]

Array = NDArray[np.float64]
When = Callable[[float, Array, Array], float]


class _OfConstraint:
    """What is said of one constraint, by its name."""

    name: str

    @property
    def label(self) -> str:
        """As in messages."""
        return f"{type(self).__name__}({self.name!r})"

    @property
    def constraint(self) -> str:
        """Name of the constraint that changes."""
        return self.name


@dataclass(frozen=True, eq=False)
class Switch(_OfConstraint):
    """A change of one constraint, at a time or each time a condition comes true.

    Attributes
    ----------
    name : str
        Of the constraint, or of the joint that is locked.
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
        """One way, and only one, to say when; conditions are functions."""
        given = [key for key, value in ways.items() if value is not None]
        listed = " or ".join(f"{key}=" for key in ways)
        if len(given) != 1:
            raise InputTypeError(f"{self.label} needs one of {listed}, got {' and '.join(given) or 'none'}")
        if given[0] != "at" and not callable(ways[given[0]]):
            raise InputTypeError(f"{given[0]}= of {self.label} must be a function, got {ways[given[0]]!r}")


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
        Hold what is found: the constraint is made again so that it is closed at that instant; what it holds on body b
        stays, its place on body a moves. Else it has to be closed by then.
    within : float
        How far the constraint may be open without `capture`, m (rad times the size of the machine). The gap is then
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
        where it is more than 50 N. Multipliers are the smallest ones; -lam pushes body b along the row.

    Examples
    --------
    >>> Release("magnet", force=lambda lam: abs(lam[0]) - 50.0).label
    "Release('magnet')"
    """

    force: Callable[[Array], float] | None = None

    def _require_one(self, ways: dict[str, Any]) -> None:
        super()._require_one(ways | {"force": self.force})


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


@dataclass(frozen=True, eq=False)
class Unlock(Lock):
    """Let a locked joint go. A joint whose first switch is this one is locked at the start."""


@dataclass(frozen=True, eq=False)
class Contact(_OfConstraint):
    """A constraint that pushes and never pulls: a foot on the floor, an end stop, a rope.

    It is open where its gap is positive. When the gap closes, the velocity jumps: along the row the approach is
    turned round, times `restitution` (Newton); across it, a `Point` sticks where it lands and a `PointOnPlane` slides
    freely. What rebounds slower than `rest_speed` stays: the event ``engaged <name>`` tells when the rebounds that are
    left out would have come to their end. The contact opens when its force would have to pull.

    Parameters
    ----------
    name : str
        A constraint of the plant with one row (`PointOnPlane`, `Distance`, `Coupling`, a row of functions), or a
        `Point`. Of a constraint with one row, the gap is its residual phi.
    normal : array_like, shape (3,), optional
        Of a `Point`: from body a to body b, in the axes of body a; defaults to (0, 0, 1).
    side : {1, -1}
        The side on which the contact is open: -1 where phi < 0, as for a rope (a `Distance` that may be shorter) or an
        upper end stop.
    restitution : float
        From 0 to 1.
    rest_speed : float
        m/s (or rad/s); at least 1e-5 of the size of the machine a second.
    friction : float or Friction, optional
        Of a `Point` or a `PointOnPlane`: coefficient, or a `Friction` with coefficients in place of forces and rates in
        m/s. It sticks until this needs a force outside the cone of static friction, then it slides against friction in
        proportion to its push, exactly, until it comes to rest; events ``slides <name>`` and ``sticks <name>`` tell so.
        Impacts stick or slide likewise. Without it a `Point` sticks whatever this takes, and a `PointOnPlane` slides
        freely.

    Notes
    -----
    A point that sticks can jam: closed it would have to pull, open it would sink in (Painleve's paradox). It then stays
    closed until it pushes again, and the run tells so, as an event ``jammed <name>``. Where friction leaves no motion
    of a point that slides, or more than one, the run ends with status PAINLEVE.

    With several contacts at once those take part that push, where none of the others sinks in: the complementarity
    problem of the velocities, and then that of the accelerations.

    Examples
    --------
    >>> Contact("foot", restitution=0.3).label
    "Contact('foot')"
    """

    name: str
    _: KW_ONLY
    normal: ArrayLike | None = None
    side: int = 1
    restitution: float = 0.0
    rest_speed: float = 1e-3
    friction: float | Friction | None = None

    def __post_init__(self) -> None:
        _check.name(self.name, "constraint")
        if isinstance(self.side, bool) or self.side not in (1, -1):
            raise InputError(f"side= of {self.label} must be 1 or -1, got {self.side!r}")
        e = _check.positive(self.restitution, f"the restitution of {self.label}", zero=True)
        if e > 1.0:
            raise InputError(f"the restitution of {self.label} must be from 0 to 1, got {e}")
        _check.positive(self.rest_speed, f"the rest_speed of {self.label}")
        if self.friction is not None and not isinstance(self.friction, Friction):
            _check.positive(self.friction, f"the friction of {self.label}", zero=True)
        if self.normal is not None:
            n = _check.vector(self.normal, 3, f"the normal of {self.label}")
            length = float(np.linalg.norm(n))
            if length == 0.0:
                raise InputError(f"the normal of {self.label} must not be zero; give a direction such as (0, 0, 1)")
            object.__setattr__(self, "normal", n / length)

    @property
    def law(self) -> Friction | None:
        """Its friction, with coefficients in place of forces; None where there is none."""
        return (
            self.friction if self.friction is None or isinstance(self.friction, Friction) else Friction(self.friction)
        )

    def direction(self, constraint: Joint | Constraint | Any, rows: int) -> Array:
        """The opening direction n among the constraint's rows, shape (rows,): gap = n . phi, push = -n . lam."""
        if rows == 1:
            if self.normal is not None:
                raise InputError(f"{self.label}: a constraint with one row has its own normal; leave it out")
            if self.friction is not None and not isinstance(constraint, PointOnPlane):
                raise InputError(
                    f"{self.label}: friction is that of a Point or a PointOnPlane, and the constraint is a "
                    f"{type(constraint).__name__}"
                )
            return np.array([float(self.side)])
        if not isinstance(constraint, Point):
            raise InputError(
                f"{self.label}: the constraint has {rows} rows; a contact is a constraint with one row, such as "
                "PointOnPlane, or a Point"
            )
        normal = np.array([0.0, 0.0, 1.0]) if self.normal is None else np.asarray(self.normal)
        return self.side * normal


def listed_switches(switches: Any) -> list[Switch | Contact]:
    """The switches, one or several, as a list."""
    if isinstance(switches, (Switch, Contact)):
        return [switches]
    return list(_check.sequence(switches, "switches", "Lock(...), Contact(...) and so on"))
