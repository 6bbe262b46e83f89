"""Derivatives of a law by generated code: exact, and a hundred times faster than differences, once it is compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.generated import evaluate
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..trace.code import enabled
from .controller import Controller
from .references import over_times
from .traced import LawCode, slope_code

__all__ = ["LawSlopes", "slopes_of"]

Array = NDArray[np.float64]


class LawSlopes:
    """Derivatives of a law by the state, by its own states and by its reference, at a frozen time.

    Parameters
    ----------
    plant : Mechanism
    law : Controller
    code : LawCode
        Code from `traced.slope_code`.
    t : float
        Time, s.
    """

    def __init__(self, plant: Mechanism, law: Controller, code: LawCode, t: float) -> None:
        self._plant, self._code, self._t = plant, code, t
        told = [over_times(function, np.array([t]))[0] for function, _ in code.signals]
        self._signals = np.concatenate([np.zeros(0), *told])
        starts = np.cumsum([0, *(size for _, size in code.signals)])
        owners = [getattr(function, "__self__", function) for function, _ in code.signals]
        mine = [i for i, owner in enumerate(owners) if law.reference is not None and owner is law.reference]
        # what follows from the reference beside the code, as efforts of its motion, has no derivative in the code
        alone = len(mine) == 1 and all(getattr(owner, "reference", None) is not law.reference for owner in owners)
        self._reference = slice(int(starts[mine[0]]), int(starts[mine[0] + 1])) if alone else None

    def along(
        self, q: Array, v: Array, state: Array, reach: float, *, dq: Array | None = None, dv: Array | None = None,
        dstate: Array | None = None, dreference: Array | None = None,
    ) -> Array | None:  # fmt: skip
        """Derivatives (nu + n,) of the efforts, and of rates or next values of the states, along a direction.

        None where a comparison is decided otherwise within a step `reach` along it, or the code is not exact there.

        Parameters
        ----------
        dq, dv : ndarray, shape (nv,), optional
            Direction on the manifold: velocities as they change q, and changes of v.
        dstate, dreference : ndarray, optional
        """
        plant, size = self._plant, plant_size(self._plant) + state.size + self._signals.size
        x = np.zeros(1 + 2 * size)
        here, way = x[1 : 1 + size], x[1 + size :]
        here[: plant.nq], here[plant.nq : plant.nq + plant.nv] = q, v
        n = plant_size(plant)
        here[n : n + state.size], here[n + state.size :] = state, self._signals
        x[0] = self._t
        if dq is not None:
            way[: plant.nq] = plant.position_rate(q, dq)
        if dv is not None:
            way[plant.nq : n] = dv
        if dstate is not None:
            way[n : n + state.size] = dstate
        if dreference is not None:
            if self._reference is None or self._signals[self._reference].size != dreference.size:
                return None
            way[n + state.size :][self._reference] = dreference
        answer = plant.nu + state.size
        y = np.empty(2 * answer + 1)
        held = evaluate(self._code.address, self._code.p, x, y)
        if not held or not np.isfinite(y[:-1]).all() or not y[-1] > reach:
            return None
        return y[answer:-1]


def plant_size(plant: Plant) -> int:
    """Number of positions and velocities of a plant, nq + nv."""
    return plant.nq + plant.nv


def slopes_of(plant: Plant, law: Controller, t: float, sample: Array) -> LawSlopes | None:
    """Slopes of a law by code that is traced at a sample, a closed configuration; None where there is no such code."""
    if not isinstance(plant, Mechanism) or not enabled() or plant.motions:
        return None
    code = slope_code(plant, law, sample)
    return None if isinstance(code, str) else LawSlopes(plant, law, code, t)
