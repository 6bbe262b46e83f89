"""Tasks in levels: against lexicographic quadratic programs, degenerate levels, weights, and legged machines in runs."""

import warnings

import cvxpy as cp
import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import (
    CentreOfMass,
    Cone,
    ConstrainedActuation,
    Coordinates,
    HierarchicalInverseDynamics,
    PointTask,
    PoseTask,
    TaskLevels,
    Tracking,
)
from cmbcontrol.controllers.constrained_actuation import ActuationStatus
from tests.fixtures import largest, stance
from tests.seeds import many

OPTIMAL, DEGRADED, CONTACT_LOST, SOLVER_FAILED = ActuationStatus


# -- a judge: the same question level by level, with all accelerations, efforts and forces as unknowns -------------


class Judge:
    """The smallest |J_k a - target_k| with the levels above where they are, from M, h, B, A, b alone."""

    def __init__(self, terms, plant, levels, mu):
        self.terms, self.plant, self.mu = terms, plant, mu
        self.parts = list(
            zip(np.split(levels.J, levels.ends)[:-1], np.split(levels.target, levels.ends)[:-1], strict=True)
        )

    def least(self, k, found):
        """Of level k, where the ones above it have what an acceleration gives them; None where no solver tells."""
        terms, plant = self.terms, self.plant
        a, p, u = cp.Variable(plant.nv), cp.Variable(len(terms.b)), cp.Variable(plant.nu)
        held = [terms.M @ a + terms.h == terms.B @ u + terms.A.T @ p, terms.A @ a == -terms.b, cp.abs(u) <= plant.effort]
        for rows in plant.row_slices.values():
            x, y, z = (p[rows.start + i] for i in range(3))
            held.append(cp.norm(cp.hstack([x, z])) <= self.mu * y)
        for J, _ in self.parts[:k]:
            if len(J):
                # rows that say the same again are one equation: those of an orthogonal basis
                U, s, Vt = np.linalg.svd(J, full_matrices=False)
                kept = s > 1e-9 * max(s.max(), 1e-9)
                held.append(Vt[kept] @ a == Vt[kept] @ found)
        J, target = self.parts[k]
        if not len(J):
            return 0.0
        problem = cp.Problem(cp.Minimize(cp.norm(J @ a - target)), held)
        with warnings.catch_warnings():  # that it is not as exact as it is asked to be
            warnings.simplefilter("ignore", UserWarning)
            try:
                problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
            except cp.SolverError:
                return None
        return problem.value if problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE) else None


def random_levels(plant, terms, rng):
    """Three to four levels: a pose, rows of every kind, and what is degenerate."""
    nv, count, blocks = plant.nv, rng.integers(2, 5), []
    trunk = PoseTask(plant, "trunk").jacobian(terms)
    for _ in range(count):
        kind = rng.integers(7)
        if kind == 0:
            J = trunk[rng.choice(6, rng.integers(1, 4), replace=False)]
        elif kind == 1:
            J = np.eye(nv)[rng.choice(nv, rng.integers(1, nv + 1), replace=False)]
        elif kind == 2:
            J = rng.standard_normal((rng.integers(1, 4), nv))
        elif kind == 3:  # more rows than there are motions, of a low rank
            J = rng.standard_normal((6, 2)) @ rng.standard_normal((2, nv))
        elif kind == 4:  # no motion at all: contacts hold, or nothing is asked
            J = terms.A[rng.choice(len(terms.A), 2)] if rng.random() < 0.5 else np.zeros((2, nv))
        elif kind == 5 and blocks:  # a level above once more, with another target
            J = blocks[-1][0].copy()
        else:
            J = np.zeros((0, nv))
        blocks.append((J, rng.uniform(0.1, 20.0) * rng.standard_normal(len(J))))
    J, target = (np.concatenate(x) for x in zip(*blocks, strict=True))
    ends = np.cumsum([len(x) for _, x in blocks])
    return TaskLevels(J, target, ends, -2.0 * terms.v)


def of_random_tasks(plant, **options):
    """A law with levels, whose own tasks are not asked."""
    any_task = Tracking(Coordinates(plant, plant.actuator_names[0]), cmb.Constant([0.0]), bandwidth=1.0)
    return ConstrainedActuation(HierarchicalInverseDynamics(plant, [any_task]), **options)


def judged(seed, solver="direct"):
    """What a law has found at a stance, and by how much each level is off, relative to what it asks."""
    plant, q, rng = stance(seed)
    mu = rng.uniform(0.3, 1.0)
    cones = [Cone(name, mu, normal=(0.0, 1.0, 0.0)) for name in plant.row_slices]
    terms = plant.terms(q, plant.project_velocity(q, 0.3 * rng.standard_normal(plant.nv)))
    levels = random_levels(plant, terms, rng)
    found = of_random_tasks(plant, cones=cones, solver=solver).solve(terms, levels)
    judge, off = Judge(terms, plant, levels, mu), []
    if found.status in (OPTIMAL, DEGRADED):
        assert found.violation <= 1e-6 * (1.0 + largest(found.multipliers)), seed
        for k, residual in enumerate(found.level_residuals):
            least = judge.least(k, found.acceleration)
            if least is not None and np.isfinite(least):
                off.append((residual - least) / (1.0 + np.linalg.norm(judge.parts[k][1])))
    return found, off


def require_least_residuals(seeds):
    statuses, told, asked = [], 0, 0
    for seed in seeds:
        found, off = judged(seed)
        assert found.status != SOLVER_FAILED, seed
        assert np.abs(off).max(initial=0.0) <= 1e-6, (seed, off)
        statuses.append(found.status)
        told += len(off)
        asked += len(found.level_residuals) * (found.status in (OPTIMAL, DEGRADED))
    assert told >= 0.9 * asked  # the judge fails where limits leave nothing inside
    return statuses
