"""Blocks whose states are the efforts that they hand on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..model.plant import Plant
from ..model.terms import Terms
from .chain import EffortBlock, Setting, of_motors, require_one_each

__all__ = ["LaggingEffort", "bound_initial"]

Array = NDArray[np.float64]


class LaggingEffort(EffortBlock):
    """Base class of blocks whose efforts lag behind those asked for: one state for each motor, from `initial` on."""

    initial: ArrayLike | Mapping[str, float]

    def start(self, plant: Plant) -> Array:
        require_one_each(np.asarray(self.initial), plant, f"the initial efforts of {type(self).__name__}")
        return np.broadcast_to(self.initial, (plant.nu,)).astype(np.float64)  # type: ignore[arg-type]

    def count(self, terms: Terms) -> int:
        return terms.B.shape[1]


def bound_initial(block: Any, setting: Setting) -> Array:
    """Efforts at the start of a block with `initial`, of any sign, in the order of the motors, checked: (nu,) or ()."""
    what = f"the initial efforts of {type(block).__name__}"
    x = of_motors(block.initial, setting, block, what)
    return _check.vector(np.atleast_1d(x), x.size, what) if x.ndim else np.asarray(_check.number(float(x), what))
