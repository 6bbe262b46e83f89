"""One step of collocation with projected nodes, as it leads away from a singular configuration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import AssemblyError, ModelError
from ..kernels import motion, runge_kutta
from ..kernels.layout import WORKS
from .engine import Engine, NotFinite
from .path import NODES, coefficients

__all__ = ["AWAY", "KNOWN", "UNKNOWN", "Collocation", "Path", "collocated"]

Array = NDArray[np.float64]

AWAY = 0.03  # rad or sizes: how far the first step leads away from a singular configuration
_DEPTH = 6  # images that are combined: as many directions as a node may be turned into
_HOPELESS = 12  # iterations after which changes that are still rough say that a step is too long
_ROUGH = 1e-4  # change from which on iterates tell the defect


class Collocation:
    """Collocation at nodes c of a step, as fractions of it; the last is its end.

    Where the rate at the start is known, the start is the first node, and the others those of Lobatto's rule (Lobatto
    IIIA with 4 stages, order 6). Where it is not, the nodes keep away from the start, and its rate follows from theirs:
    then six are needed for the same order.
    """

    def __init__(self, c: Array) -> None:
        powers = np.arange(c.size)
        self.c = c
        self.inverse = np.linalg.inv(c[:, None] ** powers)
        self.A = (c[:, None] ** (powers + 1) / (powers + 1)) @ self.inverse
        k = int(np.argmax(np.diff(c)))
        self.between = 0.5 * (c[k] + c[k + 1])  # where the defect is looked at

    def at(self, s: float) -> Array:
        """Weights of the rates at the nodes whose sum is the rate at a fraction s of the step."""
        return s ** np.arange(self.c.size) @ self.inverse


KNOWN = Collocation(np.array([0.0, 0.5 - np.sqrt(0.05), 0.5 + np.sqrt(0.05), 1.0]))
UNKNOWN = Collocation(np.linspace(0.25, 1.0, 6))


class Path(NamedTuple):
    """Result of a step of collocation: times and states at its start and its nodes, and its dense coefficients."""

    times: Array
    values: Array
    F: Array


def collocated(
    engine: Engine, nodes: Collocation, t: float, x: Array, rate: Array, h: float, most: float
) -> tuple[float, Path | None]:
    """Defect of a step of collocation, and the step; None in place of the step if the defect is above `most`."""
    c, A, plant = nodes.c, nodes.A, engine.plant
    nq, n = engine.nq, engine.nq + engine.nv
    first = int(c[0] == 0.0)
    K = np.tile(rate, (c.size, 1))
    X = np.tile(x, (c.size, 1))
    # from rest, rates grow linearly: a constant one would leave all nodes at the configuration
    K[:, :nq] += (c * h)[:, None] * plant.position_rate(x[:nq].copy(), rate[nq:n].copy())
    weights = _weights(engine, x, h)
    last, mixed = np.inf, _Mixed()
    try:
        for count in range(60):
            Y = x + h * A @ K
            if not (np.abs(Y) < motion.HUGE).all():
                break
            new = np.array([*[x] * first, *(engine.project(np.ascontiguousarray(y)) for y in Y[first:])])
            change = float((weights * np.abs(new - X)).max())
            X = new
            before, rough = K[first:].copy(), change > _ROUGH
            K[first:] = [engine.derivative(t + s * h, y) for s, y in zip(c[first:], X[first:], strict=True)]
            done = change < 1e-14 or (change < 0.1 * most and change >= 0.5 * last)
            slow, last = change > 0.1 * last, change
            if rough and count > _HOPELESS:
                break
            if rough or (slow and not done):
                K[first:] = mixed(before, K[first:], weights)
                continue
            path = _path_of(nodes, t, x, X, K, h)
            between = np.empty(x.size)
            runge_kutta.interpolate(x, path.F, nodes.between, between)
            rate_between = engine.derivative(t + nodes.between * h, engine.project(between))
            defect = h * float((weights * np.abs(nodes.at(nodes.between) @ K - rate_between)).max())
            if defect > most and (done or change < 0.1 * defect):  # going on would not help
                return defect, None
            if done:
                X[-1, nq:n] *= engine.speed_factor(X[-1])  # rounding at the start, which is none of the energy
                return defect, _path_of(nodes, t, x, X, K, h)
    except (AssemblyError, ModelError, NotFinite):
        pass
    return most, None


class _Mixed:
    """Anderson acceleration of a fixed-point iteration: the combination of the last images whose changes are least.

    From rest, a node that is turned on the cone of directions by an angle gets an acceleration that is turned by more:
    plain iteration runs away.
    """

    def __init__(self) -> None:
        self.images: list[Array] = []
        self.changes: list[Array] = []

    def __call__(self, K: Array, image: Array, weights: Array) -> Array:
        """Next iterate, from the present one K (nodes, nx) and its image."""
        self.images = [*self.images[-_DEPTH:], image.copy()]
        self.changes = [*self.changes[-_DEPTH:], (weights * (image - K)).ravel()]
        if len(self.images) == 1:
            return image
        rises = np.diff(self.changes, axis=0).T
        parts = np.linalg.lstsq(rises, self.changes[-1], rcond=1e-10)[0]
        return image - np.tensordot(parts, np.diff(self.images, axis=0), 1)


def _weights(engine: Engine, x: Array, h: float) -> Array:
    """Weights (nx,) that make components of a state comparable: by spans, and for velocities by spans over time."""
    plant, n = engine.plant, engine.nq + engine.nv
    weights = np.zeros(x.size)  # work and losses follow from the rest
    weights[: engine.nq] = 1.0 / plant.position_scale
    weights[engine.nq : n] = plant.unit_lengths / plant.size * (h / AWAY)
    weights[n + WORKS :] = 1.0 / (1.0 + np.abs(x[n + WORKS :]))
    return weights


def _path_of(nodes: Collocation, t: float, x: Array, X: Array, K: Array, h: float) -> Path:
    """Path of a step from the polynomial of collocation, whose dense coefficients are read off at seven points."""
    s = NODES
    powers = np.arange(1, nodes.c.size + 1)
    integrals = (s[:, None] ** powers / powers) @ nodes.inverse
    values = x + h * integrals @ K
    values[-1] = X[-1]
    F = coefficients(x, values)
    first = int(nodes.c[0] == 0.0)
    return Path(t + h * np.append(0.0, nodes.c[first:]), np.vstack([x, X[first:]]), F)
