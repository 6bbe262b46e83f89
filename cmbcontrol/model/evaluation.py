"""Equations of motion of a plant at one state, from the functions that it has."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._tolerance import BLURRED, DEPENDENT
from ..errors import InputError
from ..kernels import constrained, split
from .terms import FAILED, RANK_TOLERANCE, Terms

if TYPE_CHECKING:
    from .plant import Plant

__all__ = ["admissible_velocity", "require_followed", "require_motions_followed", "terms"]

Array = NDArray[np.float64]

_MISSED = 1e-9  # of the largest rate or acceleration of a row: more is no rounding


class _Split(NamedTuple):
    """Factored rows of A in mass (or Euclidean) coordinates; see `kernels.split`."""

    root: split.Root
    rows: split.Rows
    rank: int

    def admissible(self, v: Array) -> Array:
        """Velocity v without its part along the rows."""
        z = np.empty(v.size)
        split.transposed_product(self.root, v, z)
        split.to_head(self.rows, self.rank, z)
        z[: self.rank] = 0.0
        split.to_space(self.rows, self.rank, z)
        split.backward(self.root, z)
        return z


def _split(plant: Plant, M: Array, A: Array, cap: int | None = None, tolerance: float = DEPENDENT) -> _Split:
    """Split that decides the rank, as for a `Mechanism`."""
    n = A.shape[1]
    root, rows = split.new_root(n), split.new_rows(*A.shape)
    rank = constrained.mass_split(
        M, A, plant.row_scale, plant.unit_lengths, 1.0, tolerance, n if cap is None else cap, root, rows
    )
    return _Split(root, rows, rank)


def admissible_velocity(plant: Plant, q: Array, v: Array, metric: str) -> Array:
    """Nearest velocity that the loops allow; see `Plant.project_velocity`."""
    M = plant._value("M", q) if metric == "mass" else np.eye(plant.nv)
    split = _split(plant, M, plant._value("A", q), tolerance=BLURRED)
    if split.rank == FAILED:
        raise plant._bad_mass(q)
    return split.admissible(v)


def terms(
    plant: Plant, q: Array, v: Array, t: float, project: bool, close: bool, cap: int | None, check: bool
) -> Terms:
    """Terms of a plant at a state, see `Plant.terms`."""
    if close:
        q = _closer(plant, q)
    M, A = plant._value("M", q), plant._value("A", q)
    split = _split(plant, M, A, cap)
    if split.rank == FAILED and check:
        raise plant._bad_mass(q)
    if project and split.rank != FAILED:
        v = split.admissible(v)
    potential = float(plant._value("potential", q)) if plant._knows("potential") else math.nan
    h, phi, b = plant._value("h", q, v), plant._value("Phi", q), plant._value("Adot_v", q, v)
    rows = plant.row_scale, plant.unit_lengths, plant.force_scale, None, plant.row_names, plant.absent
    return Terms(
        t, q.copy(), v.copy(), M, h, phi, A, b, plant._value("B", q), potential, split.rows.pivots, split.rank, *rows
    )


def _closer(plant: Plant, q: Array) -> Array:
    """Configuration after one Newton step towards closed loops, in the Euclidean metric."""
    off = plant.row_scale * plant._value("Phi", q)
    if not np.abs(off).max(initial=0.0) > 8e-15 * plant.size:
        return q
    A = plant.row_scale[:, None] * plant._value("A", q)
    closer = q - np.linalg.lstsq(A, off, rcond=RANK_TOLERANCE)[0]
    return closer if plant.closure_error(closer) < plant.closure_error(q) else q


def require_followed(plant: Plant, terms: Terms) -> None:
    """Raise an error for prescribed motions that contradict each other or the loops.

    Parameters
    ----------
    plant : Plant
    terms : Terms
        At a velocity that has been projected. The acceleration is checked where no rank is lost; at a singular
        configuration most velocities have none.

    Raises
    ------
    InputError
    """
    if not (plant.moving and plant.target_rows.any()):  # in a mode they may be absent
        return
    scale, A, v = terms.row_scale, np.abs(terms.A), np.abs(terms.v)
    missed = scale * np.abs(terms.row_rate)
    size, what, unit = float((scale * np.maximum(A @ v, np.abs(plant.row_rates))).max()), "velocity", "m/s"
    if missed.max() <= _MISSED * size and terms.rank >= plant.generic_rank(terms.q):
        a, *_ = constrained.gauss_acceleration(
            terms.M, terms.A, scale, terms.unit_lengths, -terms.h, -terms.b, RANK_TOLERANCE, terms.rank
        )
        missed = scale * np.abs(terms.A @ a + terms.b)
        # what turns and falls at all: these may cancel in every row
        turning = float((v * terms.unit_lengths).max()) ** 2 / plant.size
        falling = float((np.abs(np.linalg.solve(terms.M, terms.h)) * terms.unit_lengths).max())
        rows = float((scale * (A @ np.abs(a) + np.abs(terms.b))).max())
        size, what, unit = rows + turning + falling, "acceleration", "m/s2"
    if missed.max() > _MISSED * size:
        worst = plant.row_names[int(missed.argmax())]
        raise InputError(
            f"no {what} of {plant.name!r} follows its motions from this start: row {worst!r} would be missed by "
            f"{missed.max():.3e} {unit}. Motions contradict each other or the loops there (as at a dead centre, or "
            "where more is prescribed than can move): leave one of them out, or start elsewhere"
        )


def require_motions_followed(plant: Plant, q: ArrayLike, v: ArrayLike | None = None) -> None:
    """Check `require_followed` at a state, at its projected velocity; without moving motions it costs nothing."""
    if plant.moving and plant.target_rows.any():
        v = np.zeros(plant.nv) if v is None else v
        require_followed(plant, plant.terms(q, plant.project_velocity(q, v)))
