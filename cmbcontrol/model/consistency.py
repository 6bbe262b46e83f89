"""Consistency checks of the functions of a plant, by finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, ModelError

if TYPE_CHECKING:
    from .plant import Plant

__all__ = ["check_derivatives", "rolling_rows"]

Array = NDArray[np.float64]

# of a row's size: no gradient is wrong by about one; a gradient is right to the differences of Phi, 1e-10, or to those
# by which the user found A, 1e-5
_GRADIENT = 1e-3
_STEP = 1e-3  # rad, or of the size: differences of order 4 are then right to 1e-12, and round to 1e-13
_ROUNDING = float(np.finfo(float).eps)


def check_derivatives(plant: Plant, q: ArrayLike, v: ArrayLike, tolerance: float) -> None:
    """Raise an error where functions of a plant disagree with differences of others; `Plant.check_derivatives`."""
    tolerance = _check.positive(tolerance, "tolerance")
    q = _check.vector(q, plant.nq, "q", plant.position_names)
    v = _check.vector(v, plant.nv, "v", plant.velocity_names)
    if plant.position_names != plant.velocity_names:
        raise InputError(f"plant {plant.name!r}: differences need plain coordinates, with v = dq/dt")
    rest = np.zeros(plant.nv)
    # Differences step through configurations, so that no speed and no unit matters.
    displacement, row = plant.displacement_scale, plant.row_scale / plant.size
    fastest = float((np.abs(v) / displacement).max(initial=0.0)) or 1.0  # 1/s

    def compare(key: str, what: str, given: Array, expected: Array, weight: Array) -> None:
        error, largest = (float(np.abs(weight * x).max(initial=0.0)) for x in (given - expected, expected))
        if error > tolerance * max(1.0, largest):
            raise ModelError(
                f"plant {plant.name!r}: {key} disagrees with {what} by {np.abs(given - expected).max():.3e} at "
                f"q = {q.tolist()}, v = {v.tolist()}: it returns {given.tolist()}, differences give {expected.tolist()}"
            )

    def along_v(key: str) -> Array:
        return _slope(lambda s: plant._value(key, q + s * v), _STEP / fastest)

    gradient = _gradient(lambda x: plant._value("Phi", x), q, _STEP * displacement)
    compare("A", "the gradient of Phi", plant._value("A", q), gradient, np.outer(row, displacement))
    compare("Adot_v", "the rate of A along v", plant._value("Adot_v", q, v), along_v("A") @ v, row / fastest**2)
    force = plant._value("h", q, rest)
    largest = float(np.abs(displacement * force).max(initial=0.0))
    unseen = 1e2 * _ROUNDING / tolerance  # of what a difference is taken of: below it, rounding is all that is left
    M, even = plant._value("M", q), 0.5 * (plant._value("h", q, v) + plant._value("h", q, -v)) - force
    coriolis = along_v("M") @ v - _gradient(lambda x: 0.5 * v @ plant._value("M", x) @ v, q, _STEP * displacement)
    moving = float(np.abs(M * np.outer(displacement, displacement)).max(initial=0.0)) * fastest**2
    compare("h", "the Coriolis forces that follow from M", even, coriolis, displacement / max(moving, unseen * largest))
    if plant._knows("potential"):
        slope = _gradient(lambda x: plant._value("potential", x), q, _STEP * displacement)
        energy = abs(float(plant._value("potential", q)))
        weight = displacement / (max(largest, unseen * energy / _STEP) or 1.0)
        compare("h", "the gradient of the potential, at rest,", force, slope, weight)


def rolling_rows(plant: Plant, q: Array) -> tuple[str, ...]:
    """Names of rows that are no gradient of Phi, as those of rolling; see `Plant.rolling_rows`."""
    length = plant.displacement_scale
    # a row may be a gradient, or vanish, at one configuration by chance
    near = 1e-2 * length * np.random.default_rng(0).standard_normal((2, plant.nq))
    off, scale, steps = np.zeros(len(plant.row_names)), np.zeros(len(plant.row_names)), np.full(plant.nq, _STEP)
    for x in (q, q + near[0], q + near[1]):
        given = plant._value("A", x) * length
        gradient = _gradient(lambda s, x=x: plant._value("Phi", x + length * s), np.zeros(plant.nq), steps)
        off = np.maximum(off, np.abs(given - gradient).max(axis=1, initial=0.0))
        scale = np.maximum(scale, np.abs(given).max(axis=1, initial=0.0))
    return tuple(n for n, wrong in zip(plant.row_names, off > _GRADIENT * scale, strict=True) if wrong)


def _gradient(function: Callable[[Array], Array], q: Array, steps: Array) -> Array:
    """Gradient (outputs, nq) by central differences of order 4."""
    columns = [_slope(lambda s, e=e: function(q + s * e), h) for e, h in zip(np.eye(q.size), steps, strict=True)]
    return np.stack(columns, axis=-1)


def _slope(function: Callable[[float], Array], step: float) -> Array:
    """Derivative at zero by central differences of order 4."""
    near, far = function(step) - function(-step), function(2.0 * step) - function(-2.0 * step)
    return (8.0 * near - far) / (12.0 * step)
