"""The equations of motion from what a plant knows: projections, redundant rows, rows that vanish."""

import math

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.dynamics.acceleration import acceleration
from cmbcontrol.model.functions import FunctionPlant
from cmbcontrol.papers.formulations import FORMULATIONS, NamedFormulation
from tests.fixtures import BEAD, bead, bead_twice


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_duplicated_rows_change_nothing(formulation):
    q, v = np.array([0.7, 0.49]), np.array([1.0, 1.4])
    once, more = bead().terms(q, v), bead_twice(3).terms(q, v)
    assert (once.rank, more.rank, more.A.shape) == (1, 1, (3, 2))
    f = np.array([1.0, -2.0])
    expected = acceleration(once, f)
    inverse = "svd" if formulation in ("lagrange", "augmented") else None  # they need independent rows
    found = acceleration(more, f, formulation=NamedFormulation(formulation, pseudoinverse=inverse))
    assert found == pytest.approx(expected, rel=1e-12)
    found = bead_twice(3).diagnose(q)
    assert found.redundant == {"loop": 2} and not any(found.unique_multipliers.values())


@pytest.mark.parametrize("metric", ["mass", "euclidean"])
@pytest.mark.parametrize("times", [1, 2])
def test_projections(metric, times):
    """Closing moves across the loop in the metric: M (q - q0) is a combination of the rows."""
    heavy = np.array([[5.0, 1.0], [1.0, 2.0]])
    plant = bead_twice(times, M=lambda q: heavy)
    W = heavy if metric == "mass" else np.eye(2)
    start = np.array([0.7, 0.49 + 1e-7])
    q = plant.close(start, metric=metric)
    assert plant.closure_error(q) < 1e-14
    tangent = np.array([1.0, 2.0 * q[0]])
    assert abs(tangent @ W @ (q - start)) < 1e-13
    v0 = np.array([1.0, -3.0])
    v = plant.project_velocity(q, v0, metric=metric)
    assert np.abs(plant.jacobian(q) @ v).max() < 1e-13
    assert abs(tangent @ W @ (v - v0)) < 1e-12
    if metric == "mass":
        assert plant.terms(q, v0, project=True).v == pytest.approx(v, abs=1e-14)


def test_singular_pose_where_all_gradients_vanish():
    """Rounding errors are no row: rank 0 at the configuration, 1 nearby."""
    plant = plants.slider_crank()
    found = plant.diagnose([0.5 * np.pi, -np.pi])
    assert (found.rank, found.generic_rank, found.dof, found.singular) == (0, 1, 2, True)


def test_unknown_energy_is_not_a_number():
    functions = {k: v for k, v in BEAD.items() if k != "potential"}
    terms = FunctionPlant("bead", **functions).terms([0.0, 0.0], [1.0, 0.0])
    assert math.isnan(terms.potential) and math.isnan(terms.energy) and terms.kinetic == 1.0
