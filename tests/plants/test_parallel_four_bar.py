"""The parallel four-bar of two degrees of freedom."""

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.plants.parallel_four_bar import L1, L2
from cmbcontrol.plants.parallel_four_bar import configuration as parallel_configuration


@pytest.mark.parametrize(("q1", "q2"), [(2.0, 0.5), (1.0, -0.8), (-2.0, 2.7)])
def test_parallel_four_bar(q1, q2):
    plant = plants.parallel_four_bar()
    q = parallel_configuration(q1, q2)
    x, y = (
        L2 * f(q2) + L1 * f(q2 + q[2]) + L2 * f(q2 + q[2] + q[3]) - L1 * f(q1) for f in (np.cos, np.sin)
    )  # Spencer's g
    assert abs(x) < 1e-15 and abs(y) < 1e-15 and plant.closure_error(q) < 1e-15
    Z = plant.terms(q, np.zeros(4)).Z
    K = Z @ np.linalg.inv(Z[:2])
    assert pytest.approx(np.array([[1, 0], [0, 1], [1, -1], [-1, 1]]), abs=1e-13) == K
    v = K @ [1.3, -0.4]
    vdot = forward_dynamics(plant, q, v, [1.0, 2.0])
    assert vdot == pytest.approx(K @ vdot[:2], abs=1e-10)  # K is constant
    assert plant.assemble(guess=q + 0.1, q1=q1, q2=q2) == pytest.approx(q, abs=1e-12)


def test_parallel_four_bar_flat():
    found = plants.parallel_four_bar().diagnose(parallel_configuration(1.0, 1.0))
    assert (found.rank, found.generic_rank, found.singular) == (1, 2, True)
