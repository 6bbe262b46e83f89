"""The rank nearly everywhere: crossing branches, and the rank at nearby configurations."""

import numpy as np
import pytest

from cmbcontrol.kernels import constrained
from cmbcontrol.model.elements import Revolute
from tests.fixtures import admissible_state, bead, closed_machine


def test_generic_rank_of_crossing_branches():
    """(y - x)(y + x) = 0 at the origin, and a cusp."""
    cross = bead(
        Phi=lambda q: [q[1] ** 2 - q[0] ** 2],
        A=lambda q: [[-2.0 * q[0], 2.0 * q[1]]],
        Adot_v=lambda q, v: [2.0 * v[1] ** 2 - 2.0 * v[0] ** 2],
    )
    assert cross.terms([0.0, 0.0], [0.0, 0.0]).rank == 0
    assert cross.generic_rank([0.0, 0.0]) == 1


@pytest.mark.parametrize("seed", range(3))
def test_generic_rank_is_the_rank_at_nearby_poses(seed):
    plant, q = closed_machine(seed, (Revolute,))
    q, v = admissible_state(plant, q, seed)
    near = plant.close(plant.integrate(q, 1e-3 * v))
    assert plant.generic_rank(q) == plant.terms(near, v).rank == plant.terms(q, v).rank
    _, rank = constrained.forward_dynamics(plant.arrays, q, v, np.zeros(0), 1e-10, constrained.new_work(plant.arrays))
    assert rank == plant.generic_rank(q)
