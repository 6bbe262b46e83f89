"""Optimization programs of `ConstrainedActuation` that are made from others, and the residual of their motion."""

from __future__ import annotations

import numpy as np

from ..kernels import effort_limits
from ..kernels.task_levels import Stage
from .conic_solver import ConvexProgram

__all__ = ["at_part", "of_stage", "relaxed", "unmet_motion"]


def unmet_motion(program: ConvexProgram, x: np.ndarray) -> float:
    """Residual of the motion that efforts x leave in a program, as a part of the motion that it needs."""
    return effort_limits.unmet_motion(program.R, program.n, x)


def relaxed(program: ConvexProgram, missing: float, cones: tuple[int, ...]) -> ConvexProgram:
    """The program with the limits of its contacts relaxed by `missing`, in its unit of force."""
    g = program.g.copy()
    g[np.cumsum([0, *cones[:-1]], dtype=int)[: len(cones)]] += missing
    return program._replace(f=program.f + missing, g=g)


def at_part(program: ConvexProgram, part: float) -> ConvexProgram:
    """The program with its last unknown, the part of the desired acceleration, fixed at `part`."""
    R = program.R.copy()
    R[:, -1] = 0.0
    return program._replace(R=R, n=program.n - program.R[:, -1] * part)


def of_stage(stage: Stage) -> ConvexProgram:
    """The program of one level of tasks: its least squares stand in place of the efforts, and it has no motion."""
    n, none, within = len(stage.d), np.zeros(0), stage.within
    motion = np.zeros((1, n)), np.zeros(1)
    return ConvexProgram(stage.T, stage.d, *motion, none, none, within.C, -within.b, within.G, within.g)
