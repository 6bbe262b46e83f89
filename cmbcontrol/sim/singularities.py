"""Singular configurations that a run met, and the rank along it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..dynamics.nearest_singular import nearest_singular_configuration
from ..dynamics.singular import Branch, SingularConfiguration, singular_configuration
from ..errors import AssemblyError, InputError, SingularConfigurationError
from ..model.plant import Plant

if TYPE_CHECKING:
    import xarray

__all__ = ["SingularityEvent", "hysteresis_rank", "singularities"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SingularityEvent:
    """Singular configuration that a run met; see `Simulation.singularities`.

    Data of the exact configuration are computed when they are first read.

    Attributes
    ----------
    plant : Plant
    time : float
        s.
    kind : str
        ``"singular passage"``, ``"singular start"``, or ``"near-singular passage"`` where the motion misses the
        configuration.
    q : ndarray, shape (nq,)
        Configuration on the path of the run; ``configuration.q`` is exact.
    v, v_after : ndarray, shape (nv,)
        Velocity before and after: they differ where a branch was chosen.
    conditioning : float
        Smallest over largest constraint gradient at q.
    rank : int
        Independent rows at the configuration.
    """

    plant: Plant
    time: float
    kind: str
    q: Array
    v: Array
    v_after: Array
    conditioning: float
    rank: int

    @cached_property
    def configuration(self) -> SingularConfiguration | None:
        """Exact configuration with its analysis; None where the run only passed near one."""
        if self.kind.startswith("near"):
            return None
        try:
            if not self.plant.motions:
                q = nearest_singular_configuration(self.plant, self.q, within=1e-3)
                return singular_configuration(self.plant, q)
            return self._with_motions_held()
        except (AssemblyError, SingularConfigurationError):
            return None

    def _with_motions_held(self) -> SingularConfiguration:
        """Singular configuration with motions held: that of the loops alone, or else one to the accuracy of the run."""
        motions = [motion.name for motion in self.plant.motions if motion.name in self.plant.row_slices]
        try:
            q = nearest_singular_configuration(self.plant.without(*motions), self.q, within=1e-3)
        except SingularConfigurationError:
            return singular_configuration(self.plant.standing(self.q), self.q, tolerance=1e-3)
        return singular_configuration(self.plant.standing(q), q)

    @cached_property
    def taken(self) -> int | None:
        """Index of the branch on which the run went on; None where that is not known, as at rest."""
        configuration = self.configuration
        if configuration is None or not configuration.few or not configuration.moves(self.v_after):
            return None
        ahead = self.v_after / configuration.speed(self.v_after)
        off = [min(configuration.speed(ahead - d), configuration.speed(ahead + d)) for d in self._toward(ahead)]
        best = int(np.argmin(off)) if off else -1
        return best if off and off[best] < 1e-3 else None  # a path is as exact as its steps

    def _toward(self, v: Array) -> list[Array]:
        return [self.configuration.toward(i, v) for i in range(len(self.branches))]  # type: ignore[union-attr]

    @property
    def lost_rows(self) -> tuple[dict[str, float], ...]:
        """Names and weights of the rows that vanish; see `SingularConfiguration`."""
        return self.configuration.lost_rows if self.configuration else ()

    @property
    def new_motions(self) -> Array:
        """Freedoms (nv, k) that the machine has here only, beside those of the branch it took."""
        if self.configuration is None:
            return np.zeros((len(self.v), 0))
        if self.taken is None:
            return self.configuration.new_motions
        return replace(self.configuration, v=self.configuration.toward(self.taken, self.v_after)).new_motions

    @property
    def branches(self) -> tuple[Branch, ...]:
        """Branches on which the machine can go on."""
        return self.configuration.branches if self.configuration else ()

    @property
    def locked(self) -> bool:
        """Whether no motion leads on from the configuration."""
        return self.configuration is not None and self.configuration.locked

    def __str__(self) -> str:
        text = f"t = {self.time:.9g} s: {self.kind}, conditioning {self.conditioning:.2g}. "
        if self.configuration is None:
            return text + "The motion misses the singular configuration."
        went = "" if self.taken is None else f" The run went on on branch {self.taken}."
        return text + (str(self.configuration) if self.configuration.few else self.configuration.outline) + went


def singularities(plant: Plant, data: xarray.Dataset) -> list[SingularityEvent]:
    """Singular configurations in the data of a run; see `Simulation.singularities`."""
    names = ("time", "kind", "q", "v", "v_after", "conditioning", "rank")
    events = []
    for t, kind, q, v, after, c, rank in zip(*(data[f"event_{name}"].values for name in names), strict=True):
        if "singular" in str(kind) and np.isfinite(c):  # events of a user may have any name, and no conditioning
            q, v, after = (np.array(x, dtype=np.float64) for x in (q, v, after))
            events.append(SingularityEvent(plant, float(t), str(kind), q, v, after, float(c), int(rank)))
    return events


def hysteresis_rank(ratios: ArrayLike, low: float, high: float) -> NDArray[np.int64]:
    """Rank along a trajectory: a row that is lost below `low` counts again only above `high`.

    Parameters
    ----------
    ratios : array_like, shape (times, rows)
        Constraint gradients over the largest, largest first.
    low, high : float
        Between them the rank stays what it was; at first, rows above `low` count.

    Examples
    --------
    >>> hysteresis_rank([[1.0, 0.5], [1.0, 0.02], [1.0, 0.005], [1.0, 0.02], [1.0, 0.2]], 0.01, 0.1)
    array([2, 2, 1, 1, 2])
    """
    ratios = np.asarray(ratios, dtype=np.float64)
    if ratios.ndim != 2:
        raise InputError(f"ratios must have shape (times, rows), got {ratios.shape}")
    low, high = _check.positive(low, "low", zero=True), _check.positive(high, "high", zero=True)
    if low > high:
        raise InputError(f"low must not be above high, got {low} and {high}")
    most, least = (ratios > low).sum(axis=1), (ratios > high).sum(axis=1)
    rank = most.copy()
    for i in range(1, len(rank)):
        rank[i] = min(max(rank[i - 1], least[i]), most[i])
    return rank
