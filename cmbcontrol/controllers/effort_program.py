"""Programs of `ConstrainedActuation`, one made from another."""

from __future__ import annotations

import numpy as np

from ..kernels import effort_limits
from ..kernels.task_levels import Stage
from .conic_solver import Program

__all__ = ["at_part", "of_stage", "relaxed", "unmet_motion"]


def unmet_motion(program: Program, x: np.ndarray) -> float:
    """What efforts leave of the motion of a program, as a part of its needs."""
    return effort_limits.unmet_motion(program.R, program.n, x)


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


def of_stage(stage: Stage) -> Program:
    """The program of one level, whose least squares stand for efforts; of a motion it has none."""
    n, none, within = len(stage.d), np.zeros(0), stage.within
    motion = np.zeros((1, n)), np.zeros(1)
    return Program(stage.T, stage.d, *motion, none, none, within.C, -within.b, within.G, within.g)
