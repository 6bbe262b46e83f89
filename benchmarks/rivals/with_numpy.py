"""Both machines by hand with numpy and scipy: absolute angles, null space of the closure rows."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from . import common
from .common import Array, Evaluation, Machine, Run

SETTINGS = {
    "model": "absolute rod angles; mass matrix, forces, closure rows A and A dv/dt = b written out by hand",
    "forward dynamics": "null space of A by pivoted QR (LAPACK dgeqp3 through scipy), rank cut at "
    "|R_kk| <= rank_tol, reduced mass matrix by Cholesky; the same results as with an SVD, at N = 40 "
    "in a fifth of its time",
    "simulation": "scipy DOP853 with Baumgarte",
    "five-bar regular": "Baumgarte 10/s, rank_tol 1e-4",
    "five-bar second and N four-bar": "Baumgarte 30/s, rank_tol 1e-4: found by scanning against the "
    "known motion; with 1e-9 the five-bar leaves it at the singular configuration",
    "five-bar singular": "Baumgarte 10/s, rank_tol 1e-9: the rank is lost only at the start itself",
}


def available() -> bool:
    """Tell whether numpy and scipy can be imported."""
    return find_spec("numpy") is not None and find_spec("scipy") is not None


def version() -> str:
    """Return the versions of numpy and scipy."""
    import scipy

    return f"{np.__version__}, scipy {scipy.__version__}"


def forward_dynamics(machine: Machine) -> Evaluation:
    """Return one constrained forward dynamics at the fixed regular state."""
    q, v, torque = common.regular_state(machine)
    rods = Rods(machine)
    angle, rate = common.absolute(rods.tree, q), common.absolute(rods.tree, v)
    if any(torque[rod] for rod, parent in enumerate(rods.tree.parent) if parent >= 0):
        raise ValueError("only joints on the ground are driven")
    return common.evaluation(rods.acceleration, angle, rate, torque, 0.0, 1e-4, read=rods.relative)


def simulate(machine: Machine, start: str, t_end: float, **accuracy: float) -> Run:
    """Integrate from a named start and measure the run.

    Parameters
    ----------
    machine, start, t_end
        See `common`.
    **accuracy
        `rtol` of DOP853 (also its atol), `baumgarte` in 1/s and `rank_tol`; what is left out comes from
        `defaults`.
    """
    chosen = defaults(machine, start) | accuracy
    rods, still = Rods(machine), 0.0
    state = np.concatenate([common.absolute(rods.tree, x) for x in common.initial_state(machine, start)])
    times, size = common.output_times(t_end), len(state) // 2

    def rate(_t: float, y: Array) -> Array:
        v = y[size:]
        a = rods.acceleration(y[:size], v, still, chosen["baumgarte"], chosen["rank_tol"])
        return np.concatenate((v, a))

    def run(until: float) -> Any:
        options = {"t_eval": times[times <= until], "rtol": chosen["rtol"], "atol": chosen["rtol"]}
        return solve_ivp(rate, (0.0, until), state, method="DOP853", **options)

    run(common.OUTPUT_STEP)
    wall, done = common.timed(lambda: run(t_end))
    states = rods.relative(done.y[:size].T), rods.relative(done.y[size:].T)
    return common.assess(machine, start, t_end, done.t, states, wall, done.nfev)


def defaults(machine: Machine, start: str) -> dict[str, float]:
    """Return the accuracy settings found best for a start."""
    if start == "singular":
        return {"rtol": 1e-10, "baumgarte": 10.0, "rank_tol": 1e-9}
    return {"rtol": 1e-10, "baumgarte": 10.0 if start == "regular" else 30.0, "rank_tol": 1e-4}


def ladder(machine: Machine, start: str) -> list[dict[str, float]]:
    """Return accuracy settings from coarse to fine."""
    return [{"rtol": 10.0**-k} for k in (5, 6, 7, 8, 9, 10, 11, 12)]


class Rods:
    """The equations of motion of pairs of rods on the ground with joined ends, in absolute angles.

    Parameters
    ----------
    machine
        One of the two machines; a rod may carry at most one other rod at its end.
    """

    def __init__(self, machine: Machine) -> None:
        self.tree = common.tree(machine)
        parent = np.array(self.tree.parent)
        length, mass, inertia = (np.array(x) for x in (self.tree.length, self.tree.mass, self.tree.inertia))
        self.outer = np.flatnonzero(parent >= 0)
        self.inner = parent[self.outer]
        diagonal, moment = inertia + mass * length**2 / 4, mass * length / 2
        diagonal[self.inner] += mass[self.outer] * length[self.inner] ** 2
        moment[self.inner] += mass[self.outer] * length[self.inner]
        self.coupling = mass[self.outer] * length[self.inner] * length[self.outer] / 2
        self.weight, self.mass = -common.GRAVITY * moment, np.diag(diagonal)
        self._lay_loops(parent, length)

    def _lay_loops(self, parent: Array, length: Array) -> None:
        """Store the signed lengths along each loop and the distance of its ground pivots."""
        size, loops = len(parent), self.tree.loops
        self.span, self.offset = np.zeros((len(loops), size)), np.zeros(len(loops))
        for row, pair in enumerate(loops):
            for sign, tip in zip((1.0, -1.0), pair, strict=True):
                inner = parent[tip]
                path = [tip] if inner < 0 else [tip, inner]
                self.span[row, path] = sign * length[path]
                self.offset[row] += sign * self.tree.pivot[path[-1]][0]
        self.jacobian = np.zeros((2 * len(loops), size))
        self.square = np.zeros((size, size))

    def relative(self, x: Array) -> Array:
        """Turn absolute angles, rates or accelerations into joint ones."""
        out = np.array(x, dtype=float)
        out[..., self.outer] -= x[..., self.inner]
        return out

    def acceleration(
        self, angle: Array, rate: Array, torque: Array | float, baumgarte: float, rank_tol: float
    ) -> Array:
        """Return the constrained accelerations of the absolute angles."""
        sine, cosine, rate2 = np.sin(angle), np.cos(angle), rate * rate
        inner, outer = self.inner, self.outer
        between = angle[inner] - angle[outer]
        mass, pull = self.mass, self.coupling * np.sin(between)
        mass[inner, outer] = mass[outer, inner] = self.coupling * np.cos(between)
        force = self.weight * cosine + torque
        force[inner] -= pull * rate2[outer]
        force[outer] += pull * rate2[inner]
        a = self.jacobian
        a[0::2], a[1::2] = -self.span * sine, self.span * cosine
        b = np.empty(len(a))
        b[0::2], b[1::2] = self.span @ (cosine * rate2), self.span @ (sine * rate2)
        if baumgarte:
            gap = np.empty(len(a))
            gap[0::2], gap[1::2] = self.offset + self.span @ cosine, self.span @ sine
            b -= 2.0 * baumgarte * (a @ rate) + baumgarte**2 * gap
        return self._solve(force, b, rank_tol)

    def _solve(self, force: Array, b: Array, rank_tol: float) -> Array:
        """Solve M a + A' lambda = force, A a = b in the range and the null space of the rows of A."""
        from scipy.linalg import lapack

        factor, order, tau, _, _ = lapack.dgeqp3(self.jacobian.T)
        rank = len(b)
        while rank and abs(factor[rank - 1, rank - 1]) <= rank_tol:
            rank -= 1
        self.square[:, : len(b)] = factor
        basis = lapack.dorgqr(self.square, tau)[0]
        range_part = lapack.dtrtrs(factor[:rank, :rank], b[order[:rank] - 1], trans=1)[0]
        particular, null = basis[:, :rank] @ range_part, basis[:, rank:]
        reduced = null.T @ self.mass @ null
        free = lapack.dposv(reduced, null.T @ (force - self.mass @ particular))[1]
        return particular + null @ free
