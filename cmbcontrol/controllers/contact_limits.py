"""Limits of contact forces: forces that only push, and friction cones, as maps of the multipliers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, InputTypeError
from ..model.plant import Plant
from ..model.terms import Terms

__all__ = ["Cone", "ContactLimits", "Unilateral", "contact_limits"]

Array = NDArray[np.float64]


@_check.knows_its_keywords
@dataclass(frozen=True)
class Unilateral:
    """A contact force, or a combination of them, that stays above a minimum: sum of c_i (-lam_i) >= minimum.

    Attributes
    ----------
    force : str, or mapping of str to float
        A row of the constraints, or a constraint of one row; or several with their coefficients. -lam pushes body b
        along the row. Coefficients of -1 with a negative minimum bound a force from above; a normal force of
        coefficient d and a moment of coefficients 1 and -1 keep the centre of pressure within d of the middle of a flat
        contact.
    minimum : float
        Preload, N (N m for rows in radians); 0 for a contact that must only not pull.

    Examples
    --------
    >>> Unilateral("foot_normal", minimum=20.0)
    Unilateral(force='foot_normal', minimum=20.0)
    """

    force: str | Mapping[str, float]
    minimum: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.force, (str, Mapping)):
            raise InputTypeError(
                f"force of a Unilateral must be a row or constraint, or numbers by row, got {self.force!r}"
            )
        _check.number(self.minimum, f"the minimum of the contact force {self.force!r}")


@_check.knows_its_keywords
@dataclass(frozen=True)
class Cone:
    """A contact that neither pulls nor slips: |tangential| <= mu * normal (Coulomb), a second-order cone.

    Attributes
    ----------
    contact : str
        A constraint, with `normal` in its rows; or the row of the normal force, with the rows `tangential`.
    mu : float or sequence of float
        Coefficient of friction; one for each tangential row makes the cone elliptic. A row in radians takes one in
        metres, of torsional friction (soft fingers).
    normal : array_like, optional
        Direction in the rows of the constraint that are forces, in their order: x, y, z of the frame on body a, for a
        `Point` and for joints. It points out of the surface of body a: the contact pushes body b along it.
    tangential : sequence of str
        Rows of the tangential forces.
    minimum : float
        Smallest normal force, N.

    Examples
    --------
    >>> Cone("grasp", mu=0.5, normal=(1.0, 0.0, 0.0))
    Cone(contact='grasp', mu=0.5, normal=(1.0, 0.0, 0.0), tangential=(), minimum=0.0)
    >>> Cone("grasp_x", mu=(0.5, 0.01), tangential=("grasp_y", "grasp_twist"), minimum=5.0).mu
    (0.5, 0.01)
    """

    contact: str
    mu: float | Sequence[float]
    normal: ArrayLike | None = None
    tangential: Sequence[str] = ()
    minimum: float = 0.0

    def __post_init__(self) -> None:
        what = f"the cone at {_check.text(self.contact, 'contact of a Cone')!r}"
        mu = _check.numbers(self.mu, f"mu of {what}")
        if mu.ndim > 1 or not (np.isfinite(mu).all() and mu.min(initial=1.0) > 0.0):
            raise InputError(f"mu of {what} must be > 0, one number or one for each tangential row, got {self.mu!r}")
        _check.number(self.minimum, f"the minimum of {what}")
        if self.normal is not None:
            normal = _check.numbers(self.normal, f"the normal of {what}")
            if normal.ndim != 1 or not np.isfinite(normal).all():
                raise InputError(f"the normal of {what} must be a finite vector, got {self.normal!r}")


class ContactLimits(NamedTuple):
    """Limits on the contact forces p = -lam, shape (rows,): F p >= minimum, and each block of G p in a cone."""

    F: Array  # (k, rows)
    minimum: Array  # (k,)
    G: Array  # first row of a block: the normal force; others: tangential forces over their mu
    cones: tuple[int, ...]  # rows of each block
    normals: Array  # (contacts, rows) forces that are normal forces, for reports

    def __bool__(self) -> bool:
        return bool(len(self.F) or self.cones)

    def at(self, terms: Terms, row_names: tuple[str, ...]) -> ContactLimits:
        """Limits in the rows that act at a state; contacts that do not act have none."""
        if terms.row_names == row_names:
            return self
        F, G, normals = (terms.in_present_rows(x, row_names) for x in (self.F, self.G, self.normals))
        return self._replace(F=F, minimum=np.where(F.any(axis=1), self.minimum, 0.0), G=G, normals=normals)


def contact_limits(
    plant: Plant, unilateral: Iterable[str | Unilateral] | Mapping, cones: Iterable[Cone]
) -> ContactLimits:
    """Limits as matrices, from limits of contacts that are given by name, checked."""
    if not isinstance(unilateral, str | Unilateral | Mapping):
        unilateral = _check.sequence(unilateral, "unilateral", "rows, constraints or Unilateral(...)")
    if isinstance(unilateral, str | Unilateral):
        unilateral = (unilateral,)
    if isinstance(unilateral, Mapping):
        unilateral = [Unilateral(name, minimum) for name, minimum in unilateral.items()]
    if isinstance(cones, Cone):
        cones = (cones,)
    F, minimum, blocks = [], [], []
    for item in unilateral:
        limit = Unilateral(item) if isinstance(item, str) else item
        if not isinstance(limit, Unilateral):
            raise InputTypeError(f"unilateral must be names of rows or constraints, or Unilateral(...), got {item!r}")
        F.append(_combination(plant, limit.force))
        minimum.append(_check.number(limit.minimum, f"the minimum of the contact force {limit.force!r}"))
    for cone in cones:
        if not isinstance(cone, Cone):
            raise InputTypeError(f"cones must be Cone(...), got {cone!r}")
        blocks.append(_block(plant, cone))
        if least := _check.number(cone.minimum, f"the minimum of the contact {cone.contact!r}"):
            F.append(blocks[-1][0])
            minimum.append(least)
    rows = len(plant.row_names)
    return ContactLimits(
        np.array(F).reshape(len(F), rows),
        np.array(minimum, dtype=np.float64),
        np.concatenate([np.zeros((0, rows)), *blocks]),
        tuple(len(block) for block in blocks),
        np.array([*F, *(block[0] for block in blocks)]).reshape(len(F) + len(blocks), rows),
    )


def _row(plant: Plant, name: str) -> int:
    """Index of a row, or of the row of a constraint that has just one."""
    if name in plant.row_names:
        return plant.row_names.index(name)
    rows = plant.row_slices.get(name) if isinstance(name, str) else None
    if rows is None:
        names = (*plant.row_names, *plant.row_slices)
        raise InputError(f"contacts: {_check.unknown(name, names, 'row or constraint')}")
    if rows.stop - rows.start != 1:
        raise InputError(
            f"constraint {name!r} has several rows; name one of {', '.join(plant.row_names[rows])}, or use Cone"
        )
    return rows.start


def _combination(plant: Plant, force: str | Mapping[str, float]) -> Array:
    """Coefficients (rows,) of the contact forces p = -lam in a combination by name."""
    row = np.zeros(len(plant.row_names))
    for name, c in force.items() if isinstance(force, Mapping) else ((force, 1.0),):
        row[_row(plant, name)] += _check.number(c, f"the coefficient of {name!r}")
    if not row.any():
        raise InputError(f"the combination of contact forces {force!r} is empty")
    return row


def _block(plant: Plant, cone: Cone) -> Array:
    """Rows of a cone on p = -lam: the normal force, then tangential forces over their coefficient of friction."""
    if (cone.normal is None) == (not len(cone.tangential)):
        raise InputTypeError(
            f"cone at {cone.contact!r}: give either the constraint and its normal=, or a row and tangential= rows"
        )
    if cone.normal is None:
        names = (cone.contact, *cone.tangential)
        block = np.array([_combination(plant, name) for name in names])
        if len({_row(plant, name) for name in names}) < len(names):
            raise InputError(f"cone at {cone.contact!r}: the rows {', '.join(names)} are not all different")
    else:
        block = _turned(plant, cone)
    mu = _check.numbers(cone.mu, f"mu of the cone at {cone.contact!r}")
    if mu.ndim > 1 or mu.size not in (1, len(block) - 1) or not (np.isfinite(mu).all() and mu.min() > 0.0):
        raise InputError(
            f"cone at {cone.contact!r}: mu must be > 0, one number or {len(block) - 1}, got {cone.mu!r}. A contact "
            "without friction has no tangential rows: use unilateral"
        )
    block[1:] /= np.broadcast_to(mu, len(block) - 1)[:, None]
    return block


def _turned(plant: Plant, cone: Cone) -> Array:
    """Directions along and across the normal of a cone, in the rows of its constraint that are forces."""
    if cone.contact not in plant.row_slices:
        raise InputError(_check.unknown(cone.contact, plant.row_slices, "constraint"))
    span = plant.row_slices[cone.contact]
    units = plant.row_units
    rows = [i for i in range(span.start, span.stop) if units[i] != "rad"]
    if len(rows) < 2:
        raise InputError(
            f"cone at {cone.contact!r}: a constraint with {len(rows)} rows of force has no tangential force; use "
            "unilateral"
        )
    names = [plant.row_names[i] for i in rows]
    normal = _check.vector(cone.normal, len(rows), f"the normal of the cone at {cone.contact!r}", names)
    length = float(np.linalg.norm(normal))
    if length == 0.0:
        raise InputError(f"cone at {cone.contact!r}: the normal is zero")
    across = np.linalg.svd(normal[None])[2][1:]
    block = np.zeros((len(rows), len(plant.row_names)))
    block[:, rows] = np.concatenate([normal[None] / length, across])
    return block
