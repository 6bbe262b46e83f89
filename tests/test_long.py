"""Long runs: what a few seconds do not show."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.plants.n_four_bar import start as n_four_bar_start

pytestmark = pytest.mark.slow


def test_bricard_for_a_hundred_seconds():
    plant, q0, v0 = plants.catalogue["bricard"].start()
    run = cmb.simulate(plant, None, q0, v0, t_end=100.0)
    assert run.max_energy_error < 1e-7
    assert run.max_drift < 1e-12


def test_forty_four_bars_for_twenty_seconds():
    plant = plants.n_four_bar(40)
    q0, v0 = n_four_bar_start(plant)
    run = cmb.simulate(plant, None, q0, v0, t_end=20.0)
    inertia, gravity = 41 / 3 + 40, 41 / 2 + 40
    exact = solve_ivp(
        lambda t, y: [y[1], -gravity * 9.81 * np.cos(y[0]) / inertia],
        (0, 20),
        [np.pi / 2, -1.0],
        method="DOP853",
        rtol=1e-13,
        atol=1e-13,
        t_eval=run.time,
    ).y[0]
    angle = run.q.values[:, 0]
    assert np.hypot(np.cos(angle) - np.cos(exact), np.sin(angle) - np.sin(exact)).max() < 1e-5


@pytest.mark.parametrize("seed", range(20))
def test_the_five_bar_from_random_starts(seed):
    plant = plants.five_bar()
    rng = np.random.default_rng(seed)
    while True:
        try:
            q0 = plant.assemble(left=rng.uniform(0.5, 2.6), right=rng.uniform(0.5, 2.6))
            break
        except cmb.AssemblyError:
            continue
    v0 = plant.project_velocity(q0, rng.standard_normal(4))
    run = cmb.simulate(plant, None, q0, v0, t_end=10.0)
    assert run.max_drift < 1e-12
    assert run.max_energy_error < 1e-6
