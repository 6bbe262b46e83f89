"""Contacts: constraints that push and never pull, and the constraints that hold them while they stick or slide."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..characteristics import Friction
from ..errors import InputError
from .dry_friction import across
from .elements import LoopPart, PointOnLine, PointOnPlane

__all__ = ["BEYOND", "TOUCH", "Contact", "Hold", "OfConstraint", "hold_of"]

Array = NDArray[np.float64]

TOUCH = 1e-9  # of the size of the machine: contacts with a smaller gap touch
BEYOND = 1e-6  # of the size: a start further beyond a contact, or an end stop, is refused


class OfConstraint:
    """Base of specifications that refer to one constraint, by its name."""

    name: str

    @property
    def label(self) -> str:
        """Text that names it in messages."""
        return f"{type(self).__name__}({self.name!r})"

    @property
    def constraint(self) -> str:
        """Name of the constraint that changes."""
        return self.name


@_check.knows_its_keywords
@dataclass(frozen=True, eq=False)
class Contact(OfConstraint):
    """Constraint that pushes and never pulls: a foot on the floor, an end stop, a rope.

    It is open where its gap is positive. When the gap closes, the velocity jumps: along the row the approach is
    turned round, times `restitution` (Newton); across it, a `Point` sticks where it lands and a `PointOnPlane` slides
    freely. A contact that rebounds slower than `rest_speed` stays closed: the event ``engaged <name>`` has the time at
    which the omitted rebounds would have ended. The contact opens when its force would have to pull.

    Parameters
    ----------
    name : str
        A constraint of the plant with one row (`PointOnPlane`, `Distance`, `Coupling`, a row of functions), or a
        `Point`. For a constraint with one row, the gap is its residual phi.
    normal : array_like, shape (3,), optional
        For a `Point`: direction from body a to body b, in the axes of body a; defaults to (0, 0, 1).
    side : {1, -1}
        The side on which the contact is open: -1 where phi < 0, as for a rope (a `Distance` that may be shorter) or an
        upper end stop.
    restitution : float
        Coefficient of restitution, from 0 to 1.
    rest_speed : float
        m/s (or rad/s); at least 1e-5 of the size of the machine a second.
    friction : float or Friction, optional
        For a `Point` or a `PointOnPlane`: coefficient, or a `Friction` with coefficients in place of forces and rates
        in m/s. It sticks until this needs a force outside the cone of static friction, then it slides against friction
        in proportion to its push, exactly, until it comes to rest; events ``slides <name>`` and ``sticks <name>``
        report it. Impacts stick or slide likewise. Without it a `Point` sticks whatever this takes, and a
        `PointOnPlane` slides freely.

    Notes
    -----
    A point that sticks can jam: closed it would have to pull, open it would sink in (Painleve's paradox). It then stays
    closed until it pushes again, and the run reports an event ``jammed <name>``. Where friction leaves no motion
    of a point that slides, or more than one, the run ends with status PAINLEVE.

    With several contacts at once those take part that push, where none of the others sinks in: the complementarity
    problem of the velocities, and then that of the accelerations. Rigid bodies leave open how they share an impulse;
    ``impacts=`` of `simulate` chooses.

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
        """Friction of the contact, with coefficients in place of forces; None where there is none."""
        return (
            self.friction if self.friction is None or isinstance(self.friction, Friction) else Friction(self.friction)
        )

    def direction(self, constraint: LoopPart | None, rows: int) -> Array:
        """Opening direction n among the constraint's rows (rows,): gap = n . phi, push = -n . lam."""
        rubs = constraint is not None and constraint.may_rub
        if rows == 1:
            if self.normal is not None:
                raise InputError(f"{self.label}: a constraint with one row has its own normal; leave it out")
            if self.friction is not None and not rubs:
                raise InputError(
                    f"{self.label}: friction is that of a Point or a PointOnPlane, and the constraint is a "
                    f"{type(constraint).__name__}"
                )
            return np.array([float(self.side)])
        if not rubs:
            raise InputError(
                f"{self.label}: the constraint has {rows} rows; a contact is a constraint with one row, such as "
                "PointOnPlane, or a Point"
            )
        normal = np.array([0.0, 0.0, 1.0]) if self.normal is None else np.asarray(self.normal)
        return self.side * normal


class Hold(NamedTuple):
    """Constraints that hold a closed contact while it sticks, and while it slides.

    Attributes
    ----------
    sticking, sliding : frozenset of str
        Constraints that hold while it sticks, and while it slides; the same set where it can do only one of both.
    normal : ndarray, shape (rows,)
        Its opening direction among the rows of `sticking`, in the order of the machine.
    tangents : ndarray, shape (k, rows)
        Directions in which it sticks.
    beside : PointOnPlane or PointOnLine, or None
        The constraint among them that the machine does not have.
    plane : PointOnPlane, or None
        The constraint of a point that slides, among the two.
    side : int
        Side of that plane on which the contact is open.
    """

    sticking: frozenset[str]
    sliding: frozenset[str]
    normal: Array
    tangents: Array
    beside: PointOnPlane | PointOnLine | None = None
    plane: PointOnPlane | None = None
    side: int = 1


def hold_of(contact: Contact, part: Any, rows: int) -> Hold:
    """Constraints that hold a closed contact at a constraint `part` with so many rows.

    Examples
    --------
    >>> from cmbcontrol import Point
    >>> sorted(hold_of(Contact("foot", friction=0.5), Point("foot", "ground", "leg"), 3).sliding)
    ['foot_sliding']
    """
    normal, name = contact.direction(part, rows), contact.name
    own = frozenset([name])
    if contact.friction is None:
        return Hold(own, own, normal, across(normal))
    if rows > 1:  # a Point
        plane = PointOnPlane(f"{name}_sliding", part.a, part.b, part.point_a, part.point_b, normal)
        return Hold(own, frozenset([plane.name]), normal, across(normal), plane, plane)
    line = PointOnLine(f"{name}_sticking", part.a, part.b, part.point_a, part.point_b, part.normal)
    normal = np.array([float(contact.side), 0.0, 0.0])
    return Hold(own | {line.name}, own, normal, np.eye(3)[1:], line, part, contact.side)
