"""What rows carry: the smallest multipliers, also where rows are redundant."""

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.kernels import constrained
from cmbcontrol.model.terms import RANK_TOLERANCE

MACHINES = {
    "five_bar": (plants.five_bar, {"left": 2.1, "right": 1.0}),
    "bricard": (plants.bricard, {}),
    "n_four_bar": (lambda: plants.n_four_bar(4), {}),
    "parallelogram": (plants.parallelogram, {"link1_angle": 1.0}),
    "stewart": (plants.stewart, {}),
}


@pytest.mark.parametrize("name", MACHINES)
def test_smallest_multipliers(name):
    """Against the pseudoinverse: M vdot + A' lam = B u - h."""
    made, values = MACHINES[name]
    plant, rng = made(), np.random.default_rng(3)
    q = plant.assemble(**values)
    for _ in range(5):
        v = plant.project_velocity(q, rng.standard_normal(plant.nv))
        u = rng.standard_normal(plant.nu)
        terms, work = plant.terms(q, v), constrained.new_work(plant.arrays)
        lam, vdot = np.empty(len(plant.row_names)), np.empty(plant.nv)
        rank = constrained.carried(plant.arrays, q, v, u, RANK_TOLERANCE, plant.nv, work, lam)
        again = constrained.acceleration(plant.arrays, q, v, u, RANK_TOLERANCE, plant.nv, work, vdot)
        assert rank == again == terms.rank
        force = terms.B @ u - terms.h - terms.M @ vdot
        wanted = np.linalg.pinv(terms.A.T, rcond=1e-9) @ force
        np.testing.assert_allclose(lam, wanted, atol=1e-9 * np.abs(wanted).max())
        np.testing.assert_allclose(terms.A.T @ lam, force, atol=1e-9 * np.abs(wanted).max())


def test_motion_of_rows():
    plant = plants.bricard()
    q = plant.integrate(plant.assemble(), 0.1 * np.ones(plant.nv))  # open
    v, rate, work = np.linspace(-1.0, 1.0, plant.nv), np.empty(len(plant.row_names)), constrained.new_work(plant.arrays)
    constrained.row_motion(plant.arrays, q, v, work, rate)
    np.testing.assert_allclose(work.phi, plant.residual(q), atol=1e-15)
    np.testing.assert_allclose(rate, plant.jacobian(q) @ v, atol=1e-14)
