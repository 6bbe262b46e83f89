"""Plant in symbols, as traced laws get it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .elimination import largest
from .functions import Tracing
from .kernels import centroidal, forces, frames, tree
from .numbers import empty
from .symbols import NotTraceable, Symbols
from .terms import TracedTerms

__all__ = ["TracedPlant"]


class TracedPlant:
    """Plant in symbols for a law that is traced: names are unchanged, functions of the state return symbols."""

    def __init__(self, plant: Any, at: Tracing) -> None:
        self._plant, self._at = plant, at
        self._known: tuple[Any, TracedTerms] | None = None

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._plant, name)
        if callable(found) and name not in ("require_known",):
            raise NotTraceable(
                f"plant.{name}(...) has no code; terms(q, v), close, integrate, difference and link_poses have"
            )
        if isinstance(found, float) or (isinstance(found, np.ndarray) and found.dtype.kind == "f"):
            if name in ("unit_lengths", "row_scale"):
                return Symbols({"unit_lengths": self._at.model.unit_lengths, "row_scale": self._at.model.scale}[name])
            raise NotTraceable(f"plant.{name} has no code; keep it as a number of the law")
        return found

    def as_at(self, terms: Any) -> TracedPlant:
        return self

    def terms(
        self, q: Any, v: Any, t: Any = 0.0, project: bool = False, close: bool = False, cap: int | None = None
    ) -> TracedTerms:
        if close:
            raise NotTraceable("plant.terms(..., close=True) has no code; close(q) has")
        if not project:
            return TracedTerms(self._at, self, t, q, v)
        return self._at_rest(q).moving(t, self.project_velocity(q, v))

    def difference(self, q0: Any, q1: Any) -> Symbols:
        made = empty(self._plant.nv)
        tree.local_difference(self._at.model.links, np.asarray(q0, object), np.asarray(q1, object), made)
        return Symbols(made)

    def integrate(self, q: Any, change: Any) -> Symbols:
        made = empty(self._plant.nq)
        tree.retract(self._at.model.links, np.asarray(q, object), np.asarray(change, object), made)
        return Symbols(made)

    def link_poses(self, q: Any) -> tuple[Symbols, Symbols]:
        n = len(self._at.model.links)
        R, p = empty((n, 3, 3)), empty((n, 3))
        tree.link_poses(self._at.model.links, np.asarray(q, object), R, p)
        return Symbols(R), Symbols(p)

    def frame_motion(self, q: Any, v: Any, side: Any, frame: Any, other: Any) -> tuple[Any, ...]:
        moved = frames.frame_motion(self._at.model.links, *self.link_poses(q), v, side, *frame, *other)
        return tuple(map(Symbols, moved))

    def centroidal_motion(self, q: Any, v: Any, links: Any) -> tuple[Any, ...]:
        mass, *moved = centroidal.centroidal_motion(links, *self.link_poses(q), v)
        return mass, *map(Symbols, moved)

    def row_wrenches(self, q: Any) -> Any:
        raise NotTraceable("a component of the constraint force on a body has no code; multipliers of rows have")

    def reclosed(self, q: Any) -> Any:
        """Configuration q itself; a guard of the code fails where its loops are not closed."""
        self.require_closed(q)
        return q

    def closed_with(self, q: Any, v: Any, columns: Sequence[int]) -> tuple[Symbols, Symbols]:
        """Nearest closed configuration and velocity with some independent coordinates held, by Newton's method.

        Sensors that are off by a hundredth of the machine are closed to 1e-12 by three steps; a guard of the code fails
        elsewhere.
        """
        for _ in range(3):
            q = self.integrate(q, self._at_rest(q).step_onto_loops(columns))
        self.require_closed(q)
        K, own = Symbols(self._at_rest(q).chart(columns).K), v[list(columns)]
        if not len(self._at.model.targets):
            return q, K @ own
        moved = self.project_velocity(q, np.zeros(self._plant.nv))  # what motions prescribe
        return q, moved + K @ (own - moved[list(columns)])

    def close(self, q: Any) -> Symbols:
        """Nearest configuration with closed loops, in the metric of M, by Newton's method.

        Loops that are open by a hundredth of the machine are closed to 1e-12 by three steps; a guard of the code fails
        elsewhere.
        """
        for _ in range(3):
            q = self.integrate(q, self._at_rest(q).nearest_step_onto_loops())
        self.require_closed(q)
        return q

    def project_velocity(self, q: Any, v: Any) -> Symbols:
        """Nearest velocity that the loops allow, in the metric of M."""
        return self._at_rest(q).admissible_velocity(v)

    def load_matrix(self, q: Any) -> Symbols:
        """Joint forces of a unit of each component of the loads, (nv, 6 loads)."""
        model, nv = self._at.model, self._plant.nv
        n = len(model.links)
        R, p, S, W = empty((n, 3, 3)), empty((n, 3)), empty((nv, 6)), empty((nv, 6 * len(model.loads)))
        tree.link_poses(model.links, np.asarray(q, object), R, p)
        tree.joint_screws(model.links, R, p, S)
        forces.load_matrix(model, R, p, S, W, empty(nv))
        return Symbols(W)

    def require_closed(self, q: Any) -> None:
        """Add a guard that the loops are closed at a configuration."""
        phi = self._at_rest(q).phi
        open_by = largest([abs(s * x) for s, x in zip(self._at.model.scale, phi, strict=True)])
        if not isinstance(open_by, float):
            self._at.graph.require_less(open_by, 1e-12 * self._at.model.size)

    def _at_rest(self, q: Any) -> TracedTerms:
        """Terms at a configuration at rest; the last ones are kept, since a law asks for several things there."""
        if self._known is None or self._known[0] is not q:
            self._known = q, TracedTerms(self._at, self, 0.0, q, np.zeros(self._plant.nv))
        return self._known[1]
