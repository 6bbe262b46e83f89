"""The program behind `ConstrainedActuation`: the equations of motion and the contacts as maps of the efforts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import linear_algebra
from ..model.terms import Terms
from .conic_solver import Program, span
from .contact_limits import ContactLimits
from .decoupling import split_range

__all__ = [
    "UNFELT",
    "EffortProblem",
    "ScaledProgram",
    "at_part",
    "effort_problem",
    "missing_force",
    "reachable_part",
    "relaxed",
    "row_unit",
    "unmet_motion",
]

Array = NDArray[np.float64]

UNFELT = 1e-7  # part of the largest effect of motors that is none


class EffortProblem(NamedTuple):
    """R u = n produces the desired acceleration, R u = hold free rolling; contacts: F u + f >= 0, G u + g in cones."""

    R: Array
    n: Array
    hold: Array
    F: Array
    f: Array
    G: Array
    g: Array
    rounding: float  # of n

    @property
    def finite(self) -> bool:
        """Whether all numbers are."""
        return math.isfinite(sum(float(x.sum()) for x in self[:-1]))


class ScaledProgram(NamedTuple):
    """A program, the units of its efforts and of its motion, and whether the motion leaves no choice of them."""

    program: Program
    unit: Array
    size: float
    unique: bool


def effort_problem(
    terms: Terms, desired: Array, metric: Array | None, limits: ContactLimits, scaling: bool, reached: bool
) -> EffortProblem:
    """The equations of motion at a state as maps of u; with `reached` the motors are known to reach every motion.

    a(u) = c + Z M_Z^-1 Z'(B u - h - M c) with M_Z = Z'M Z. |R u - n| is the size of the slack in the metric: M_Z = C C'
    makes C' M_Z^-1 Z' the first factor for the kinetic energy, Q Z M_Z^-1 Z' is that for a metric Q'Q.
    """
    Z, M, B, nu = terms.Z, terms.M, terms.B, terms.B.shape[1]
    c = terms.Cv if limits or scaling else np.zeros(len(M))  # `hold` is not looked at else
    inertia = Z.T @ M @ Z
    along = Z.T @ B
    if not reached:  # rounding of motors that reach nothing is nothing
        motions = terms.unit_motions
        X, _, scale = linear_algebra.motor_reach(motions, B, terms.reach)
        U, sigma, Vt = split_range(X, scale)
        along = (terms.reach[:, None] ** 2 * Z).T @ motions @ (U * sigma) @ Vt
    weight = terms.force_scale * np.linalg.norm(terms.reach[:, None] * Z, axis=0)  # of the machine, along each motion
    force = np.column_stack([M @ desired, M @ c, terms.h])
    x = np.linalg.solve(inertia, np.column_stack([along, Z.T @ force, weight]))
    measured = (np.linalg.cholesky(inertia).T if metric is None else metric @ Z) @ x
    R, (moved, rolling, held, weight) = measured[:, :nu], measured[:, nu:].T
    rounding = 1e-12 * float(sum(np.abs(part).max(initial=0.0) for part in (moved, held, weight)))
    # contact forces p = -lam = A+' (M a + h - B u)
    pushed = np.concatenate([limits.F, limits.G]) @ terms.A_pinv.T if limits else np.zeros((0, c.size))
    slope = pushed @ (M @ (Z @ x[:, :nu]) - B)
    offset = pushed @ (M @ (c - Z @ (x[:, nu + 1] + x[:, nu + 2])) + terms.h)
    k = len(limits.F)
    contacts = slope[:k], offset[:k] - limits.minimum, slope[k:], offset[k:]
    return EffortProblem(R, moved + held, rolling + held, *contacts, rounding)


def missing_force(linear: Array, conic: Array, cones: tuple[int, ...]) -> float:
    """The largest force that is missing for linear >= 0 and for the cones."""
    worst, first = -float(linear.min(initial=0.0)) if linear.size else 0.0, 0
    for size in cones:
        across = float(np.linalg.norm(conic[first + 1 : first + size]))
        worst, first = max(worst, across - float(conic[first])), first + size
    return worst


def unmet_motion(program: Program, x: Array) -> float:
    """What efforts leave of the motion of a program, as a part of its needs."""
    return float(np.abs(program.R @ x - program.n).max(initial=0.0)) / span(program.n)


def relaxed(program: Program, missing: float, cones: tuple[int, ...]) -> Program:
    """The program with contacts that may miss so much."""
    g = program.g.copy()
    g[np.cumsum([0, *cones[:-1]], dtype=int)[: len(cones)]] += missing
    return program._replace(f=program.f + missing, g=g)


def at_part(program: Program, part: float) -> Program:
    """The program for a part of the desired acceleration, the last unknown, from now on given."""
    R = program.R.copy()
    R[:, -1] = 0.0
    return program._replace(R=R, n=program.n - program.R[:, -1] * part)


def row_unit(slope: Array, offset: Array, far: float) -> float:
    """What to divide rows by, so that what can be changed is of the order of one, and the rest at most `far`."""
    reach, need = math.sqrt(np.vdot(slope, slope)), float(np.abs(offset).max(initial=0.0))
    return max(reach, need / far) or 1.0


def reachable_part(R: Array, n: Array, rows: int) -> tuple[Array, Array, bool]:
    """The part of R x = n that x can reach, as so many orthogonal rows, and whether it leaves no choice of x.

    What x cannot reach is the same for all x.
    """
    U, sigma, V = np.linalg.svd(R, full_matrices=False)
    kept = int(np.count_nonzero(sigma > UNFELT * sigma[0])) if sigma.size else 0
    reached, need = np.zeros((rows, R.shape[1])), np.zeros(rows)
    reached[:kept], need[:kept] = sigma[:kept, None] * V[:kept], n @ U[:, :kept]
    return reached, need, kept == R.shape[1] and (kept == 0 or bool(sigma[-1] > 1e-2 * sigma[0]))
