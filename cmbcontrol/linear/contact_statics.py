"""Efforts and constraint forces of a machine that rests on contacts: least efforts, then the smallest forces.

At rest h + A' lam = B u. Where rows are redundant, as those of heel and toe, lam is a choice as u is, and the contacts
limit both at once: each pushes, within its cone. With u = value + L x, x in newtons at the joints and lam in newtons,
all solutions are z0 + N y, and the limits are half spaces and second-order cones of y.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._tolerance import UNREACHED, null_space, pinv
from ..errors import EquilibriumError
from ..kernels.conic import CONTRADICTION, FOUND, missing_force, nearest_point
from ..model.plant import Plant
from ..model.terms import Terms
from ..model.units import effort_units, in_unit, row_force_units
from .static_efforts import Efforts, smallest_efforts
from .statics import multipliers

__all__ = ["ClosedContact", "ContactStatics", "Loads"]

Array = NDArray[np.float64]

# Of the largest force. What misses a limit by less keeps it: efforts and multipliers are as exact as rounding over the
# conditioning of the rows.
EXACT = 1e-9
# A contact that can push with no more than this carries nothing: a solution on the border of a cone is as exact as the
# root of what the cone is kept to, 1e-12.
BORDER = 1e-6
# Of slopes of limits, which are of the order of one: what is less is rounding, which must not be used to keep a limit.
_UNFELT = 1e-7
# Weight of multipliers beside efforts, the root of 1e-8 in the cost. Each round takes the multipliers from those of the
# round before, which leaves 1e-8 of what they had moved the efforts by: a second one is exact.
_BESIDE, _ROUNDS = 1e-4, 6
_TOLD = 4  # limits that are missed, in a message
_SMALL = 1e-5  # weight of what does not matter beside a force that is missing, as in `kernels.effort_limits`


class ClosedContact(NamedTuple):
    """Closed contact among the rows of the plant that acts.

    Attributes
    ----------
    name : str
    normal : ndarray, shape (rows,)
        Direction of the contact: it pushes with -normal . lam.
    tangents : ndarray, shape (k, rows)
        Directions in which it sticks.
    friction : float
        Coefficient; infinite for a point that sticks at any force.
    rows : ndarray of int
        Rows that belong to the contact.
    """

    name: str
    normal: Array
    tangents: Array
    friction: float
    rows: NDArray[np.int64]


class Loads(NamedTuple):
    """Efforts, multipliers, and the force by which they miss limits, N."""

    u: Array
    lam: Array
    missing: float


class ContactStatics:
    """Equations of a machine at rest, with the limits of motors and contacts.

    Parameters
    ----------
    plant : Plant
        Plant with the contacts that act.
    terms : Terms
        Equations of motion at rest.
    efforts : Efforts
        Given and unknown efforts; its `rows` are those of `plant`.
    touches : sequence of Touch
    """

    def __init__(self, plant: Plant, terms: Terms, efforts: Efforts, touches: Sequence[ClosedContact]) -> None:
        self.plant, self.terms, self.efforts, self.touches = plant, terms, efforts, touches
        unknown, n, rows = efforts.unknown, int(efforts.unknown.sum()), len(plant.row_names)
        B = terms.B[:, unknown] / terms.unit_lengths[:, None]
        pushes = np.linalg.norm(B @ efforts.root, axis=0)
        self.unit = 1.0 / np.where(pushes > 0.0, pushes, 1.0)  # of x, for a newton
        self.root = efforts.root * self.unit
        A = terms.row_scale[:, None] * terms.A / terms.unit_lengths
        self.force = self._largest_force()
        E, f = np.hstack([B @ self.root, -A.T]), (terms.h - terms.B @ efforts.value) / terms.unit_lengths
        exact = efforts.row_low == efforts.row_high
        prescribed = np.array(efforts.rows, dtype=int)
        for row, value in zip(prescribed[exact], efforts.row_low[exact], strict=True):
            E = np.vstack([E, np.eye(n + rows)[n + row]])
            f = np.append(f, value / terms.row_scale[row])
        self.z = pinv(E, 1.0, UNREACHED) @ f / self.force
        unmet = np.abs(E @ self.z - f / self.force)[len(terms.h) :]  # of prescribed multipliers
        self.unmet = float(unmet.max(initial=0.0)) * self.force
        self.N = null_space(E, 1.0, UNREACHED)
        self.C, self.c = self._half_spaces(B, prescribed[~exact], efforts.row_low[~exact], efforts.row_high[~exact])
        self.G, self.cones = self._cones()
        self._heads = np.cumsum([0, *self.cones[:-1]], dtype=int)[: self.cones.size]  # rows of G
        limited = np.vstack([np.eye(n, n + rows), self.C, self.G]) @ self.N
        _, sigma, Vt = np.linalg.svd(limited)
        self.N = self.N @ Vt[: int(np.count_nonzero(sigma > _UNFELT))].T  # what nothing feels stays the smallest

    def _largest_force(self) -> float:
        """Largest force at hand, N, by which others are scaled."""
        terms, efforts = self.terms, self.efforts
        u = np.abs(efforts.value) + np.abs(smallest_efforts(terms, efforts))
        forces = (np.abs(terms.h) + np.abs(terms.B) @ u) / terms.unit_lengths
        return float(forces.max(initial=0.0)) + terms.force_scale or 1.0

    def _half_spaces(self, B: Array, rows: Array, low: Array, high: Array) -> tuple[Array, Array]:
        """Half spaces C z >= c: efforts within their limits, prescribed multipliers, and contacts without a cone."""
        n, m = self.root.shape[0], len(self.plant.row_names)
        C, c = [], []
        value, unknown = self.efforts.value, np.flatnonzero(self.efforts.unknown)
        strength = np.linalg.norm(B, axis=0)  # N for a unit of effort
        for i, k in enumerate(unknown):
            row = np.append((strength[i] or 1.0) * self.root[i], np.zeros(m))
            for sign, limit in ((1.0, self.efforts.low[k]), (-1.0, -self.efforts.high[k])):
                if np.isfinite(limit):
                    C.append(sign * row)
                    c.append((strength[i] or 1.0) * (limit - sign * value[k]))
        for k, *limits in zip(rows, low, high, strict=True):
            for sign, limit in zip((1.0, -1.0), limits, strict=True):
                if np.isfinite(limit):
                    C.append(sign * np.eye(n + m)[n + k])
                    c.append(sign * limit / self.terms.row_scale[k])
        self._first = len(C)  # of the contacts
        for touch in self.touches:
            head, tails = self._along(touch)
            if not np.isfinite(touch.friction) or not len(tails):
                C.append(head)
            elif len(tails) == 1:  # a plane cone is two half spaces
                C += [head + tails[0], head - tails[0]]
        c += [0.0] * (len(C) - len(c))
        return np.array(C).reshape(len(C), n + m), np.array(c) / self.force

    def _along(self, touch: ClosedContact) -> tuple[Array, Array]:
        """Push of a contact, and its friction over the coefficient, as rows of z."""
        none = np.zeros(self.root.shape[1])
        mu = touch.friction if np.isfinite(touch.friction) else 1.0
        head = np.append(none, -touch.normal)
        return head, np.array([np.append(none, -t / mu) for t in touch.tangents]).reshape(-1, head.size)

    def _cones(self) -> tuple[Array, NDArray[np.int64]]:
        blocks = [np.vstack(self._along(t)) for t in self.touches if np.isfinite(t.friction) and len(t.tangents) > 1]
        whole = np.concatenate([np.zeros((0, self.N.shape[0])), *blocks])
        return whole, np.array([len(block) for block in blocks], dtype=np.int64)

    # -- solutions --------------------------------------------------------------------------------

    def smallest(self) -> Loads:
        """Least efforts, then the smallest multipliers, without regard to limits and contacts."""
        u = smallest_efforts(self.terms, self.efforts)
        lam = multipliers(self.terms, u)
        x = np.linalg.solve(self.efforts.root, (u - self.efforts.value)[self.efforts.unknown]) / self.unit
        return Loads(u, lam, self._missing(np.append(x, lam / self.terms.row_scale) / self.force))

    def solve(self) -> Loads:
        """Least efforts, then the smallest multipliers, within limits if there are such.

        If there are none, those that miss the limits by the least force, which is then `missing`.

        Raises
        ------
        EquilibriumError
            Where the solver does not find out whether there are such.
        """
        smallest = self.smallest()
        if not self.efforts.rows and smallest.missing <= EXACT * self.force:
            return smallest._replace(missing=0.0)
        if self.unmet > EXACT * self.force:
            return self._loads(self.z, self.unmet)
        status, z = self._least_efforts(0.0)
        if status == FOUND:
            return self._loads(self._least_multipliers(z), 0.0)
        told, nearest = self._least_missing()
        missing = self._missing(nearest)
        if missing <= EXACT * self.force:  # on the border of what can be
            again, z = self._least_efforts(2.0 * EXACT)
            return self._loads(z if again == FOUND else nearest, 0.0)
        if told == FOUND or status == CONTRADICTION:
            return self._loads(nearest, missing)
        raise EquilibriumError(
            f"whether the contacts of {self.plant.name!r} can hold it at q = {np.round(self.terms.q, 6).tolist()} was "
            "not found: its limits are almost dependent there. Choose another configuration, or fewer contacts."
        )

    def can_push(self, touch: ClosedContact, loads: Loads) -> float:
        """Largest push of a contact with these efforts, up to the largest force, N."""
        x = np.linalg.solve(self.efforts.root, (loads.u - self.efforts.value)[self.efforts.unknown]) / self.unit
        z = np.append(x, loads.lam / self.terms.row_scale) / self.force
        N, head = self._of_multipliers(), self._along(touch)[0]
        if not N.shape[1]:
            return float(head @ z) * self.force
        T = np.vstack([head @ N, _BESIDE * N])
        y = self._nearest(T, np.append(1.0 - head @ z, -_BESIDE * z), z, N, EXACT)[1]
        return float(head @ (z + N @ y)) * self.force

    def _loads(self, z: Array, missing: float) -> Loads:
        z, n = self.force * z, self.unit.size
        u = self.efforts.value.copy()
        u[self.efforts.unknown] += self.root @ z[:n]
        if missing == 0.0:
            u[self.efforts.unknown] = np.clip(u, self.efforts.low, self.efforts.high)[self.efforts.unknown]
        return Loads(u, self.terms.row_scale * z[n:], missing)

    def _missing(self, z: Array) -> float:
        return float(missing_force(self.C @ z - self.c, self.G @ z, self.cones)) * self.force

    def _nearest(self, T: Array, d: Array, z: Array, N: Array, slack: float) -> tuple[int, Array]:
        """Smallest y by |T y - d|^2 with z + N y within limits, which may be missed by `slack`; and the status."""
        if not N.shape[1]:
            return (FOUND if self._missing(z) <= max(slack, EXACT) * self.force else CONTRADICTION), np.zeros(0)
        g = self.G @ z
        g[self._heads] += slack
        return _point(T, d, _felt(self.C @ N), self.c - self.C @ z - slack, _felt(self.G @ N), g, self.cones)

    def _least_efforts(self, slack: float) -> tuple[int, Array]:
        """Solution z with the least efforts, and the status; multipliers count less in each round."""
        n = self.unit.size
        weight = np.append(self.unit / self.unit.max(initial=1e-300), np.full(self.N.shape[0] - n, _BESIDE))
        T, aim, z, status = weight[:, None] * self.N, np.zeros(self.N.shape[0]), self.z, FOUND
        for _ in range(_ROUNDS):
            status, y = self._nearest(T, weight * (aim - self.z), self.z, self.N, slack)
            before, z = z, self.z + self.N @ y
            if status != FOUND or np.abs(z - before)[:n].max(initial=0.0) <= EXACT * np.abs(z[:n]).max(initial=0.0):
                break
            aim = np.append(np.zeros(n), z[n:])
        return status, z

    def _of_multipliers(self) -> Array:
        """Basis of the changes of z that leave the efforts as they are."""
        n = self.unit.size
        return self.N @ null_space(self.N[:n], 1.0, UNREACHED) if n else self.N

    def _least_multipliers(self, z: Array) -> Array:
        """Solution z with the smallest multipliers for the efforts of z."""
        N = self._of_multipliers()
        status, y = self._nearest(N, -z, z, N, EXACT * _SMALL)
        return z + N @ y if status == FOUND else z

    def _least_missing(self) -> tuple[int, Array]:
        """Solution z that misses limits by the least force e (the least of e + e^2 / 2), and the status."""
        count = self.N.shape[1]
        T = np.zeros((self.N.shape[0] + 1, count + 1))
        T[:-1, :count], T[-1, -1] = _SMALL * self.N, 1.0
        d = np.append(-_SMALL * self.z, -1.0)
        more = np.zeros(self.G.shape[0])
        more[self._heads] = 1.0
        C = np.block([[_felt(self.C @ self.N), np.ones((len(self.C), 1))], [np.zeros((1, count)), np.ones((1, 1))]])
        c, G = np.append(self.c - self.C @ self.z, 0.0), np.column_stack([_felt(self.G @ self.N), more])
        status, y = _point(T, d, C, c, G, self.G @ self.z, self.cones)
        return status, self.z + self.N @ y[:count]

    # -- what they say ----------------------------------------------------------------------------

    def pushes(self, lam: Array) -> Array:
        """Pushes of the contacts, N (N m)."""
        return np.array([-touch.normal @ lam for touch in self.touches])

    def frictions(self, lam: Array) -> Array:
        """Friction forces of the contacts, N."""
        return np.array([float(np.linalg.norm(touch.tangents @ lam)) for touch in self.touches])

    def worst(self, lam: Array) -> tuple[ClosedContact | None, bool]:
        """Contact that pulls most, or else needs most more friction than it has; and whether it pulls."""
        scale = np.array([np.abs(t.normal * self.terms.row_scale).max() for t in self.touches])
        pushes, frictions = self.pushes(lam) / scale, self.frictions(lam) / scale
        if not len(pushes):
            return None, False
        if pushes.min() < -EXACT * self.force:
            return self.touches[int(pushes.argmin())], True
        slip = frictions - np.array([t.friction for t in self.touches]) * np.maximum(pushes, EXACT * self.force)
        k = int(slip.argmax())
        return (self.touches[k], False) if slip[k] > 0.0 else (None, False)

    def reason(self, loads: Loads) -> str:
        """Text with the limits that the nearest possible forces miss."""
        said, units, close = [], row_force_units(self.plant), 0.5 * loads.missing
        for touch, push, friction in zip(self.touches, self.pushes(loads.lam), self.frictions(loads.lam), strict=True):
            row = int(np.abs(touch.normal).argmax())
            unit, scale = units[row], float(self.terms.row_scale[row])
            pulls = push / scale < -close
            slips = len(touch.tangents) and np.isfinite(touch.friction) and friction / touch.friction - push > close
            if pulls or (slips and push < 0.0):
                said.append(f"{touch.name!r} would have to pull with {in_unit(-push, unit)}")
            elif slips:
                said.append(
                    f"{touch.name!r} would have to hold {in_unit(friction, unit)} by friction of {touch.friction:.4g} "
                    f"times its push of {in_unit(push, unit)}"
                )
        for k in np.flatnonzero(self.efforts.unknown):
            if not self.efforts.low[k] <= loads.u[k] <= self.efforts.high[k]:
                unit, limits = effort_units(self.plant)[k], (self.efforts.low[k], self.efforts.high[k])
                over = in_unit(loads.u[k], unit)
                said.append(
                    f"actuator {self.plant.actuator_names[k]!r} would have to give {over}, beyond its "
                    f"{limits[0]:.4g} to {limits[1]:.4g} {unit}".rstrip()
                )
        for row, low, high in zip(self.efforts.rows, self.efforts.row_low, self.efforts.row_high, strict=True):
            if not low - 1e-9 * self.force <= loads.lam[row] <= high + 1e-9 * self.force:
                said.append(f"{self.plant.row_names[row]!r} would be {in_unit(loads.lam[row], units[row])}")
        more = f", and {len(said) - _TOLD} more" if len(said) > _TOLD else ""
        return ", and ".join(said[:_TOLD]) + more


def _felt(rows: Array) -> Array:
    """Slopes of limits, with those that are rounding set to zero."""
    return np.where(np.linalg.norm(rows, axis=1)[:, None] > _UNFELT, rows, 0.0)


def _point(T: Array, d: Array, C: Array, c: Array, G: Array, g: Array, cones: NDArray[np.int64]) -> tuple[int, Array]:
    """Smallest y by |T y - d|^2 with C y >= c and G y + g in cones; and the status of the kernel."""
    y, plain = np.zeros(T.shape[1]), np.ascontiguousarray
    E, e = np.zeros((0, y.size)), np.zeros(0)
    return nearest_point(plain(T), plain(d), E, e, plain(C), plain(c), plain(G), plain(g), cones, y), y
