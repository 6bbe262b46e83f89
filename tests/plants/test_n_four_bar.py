"""The row of four-bars: exact motion."""

import numpy as np
import pytest

from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.plants import catalogue, n_four_bar
from cmbcontrol.plants.n_four_bar import configuration as n_four_bar_configuration
from cmbcontrol.plants.n_four_bar import rate as n_four_bar_rate


@pytest.mark.parametrize("n", [1, 2, 10])
def test_n_four_bar_exact(n):
    plant, q0, v0 = catalogue["n-four-bar"].start(n=n)
    assert (plant.nv, len(plant.row_names)) == (2 * n + 1, 2 * n)
    assert plant.point(q0, "bar0", (1, 0, 0)) == pytest.approx([0.0, 1.0, 0.0], abs=1e-15)
    assert v0[0] == -1.0
    I, G = (n + 1) / 3 + n, 9.81 * ((n + 1) / 2 + n)
    rng = np.random.default_rng(n)
    for _ in range(4):
        angle, speed = rng.uniform(-3.0, 3.0), rng.standard_normal()
        q, v = n_four_bar_configuration(n, angle), n_four_bar_rate(n, speed)
        terms = plant.terms(q, v)
        assert terms.kinetic == pytest.approx(0.5 * I * speed**2, rel=1e-12)
        vdot = forward_dynamics(plant, q, v, [2.0])
        assert vdot == pytest.approx(n_four_bar_configuration(n, (2.0 - G * np.cos(angle)) / I), abs=1e-10)
    flat = plant.diagnose(n_four_bar_configuration(n, 0.0))
    assert (flat.dof, flat.generic_rank) == (n + 1, 2 * n)


@pytest.mark.parametrize("n", [0, -1, 2.5, "2"])
def test_n_four_bar_refuses(n):
    with pytest.raises((TypeError, ValueError), match="whole number"):
        n_four_bar(n)
