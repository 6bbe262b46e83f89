"""Starts at singular configurations: against closed forms."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.plants.n_four_bar import configuration as chain_configuration
from cmbcontrol.plants.n_four_bar import rate as chain_rate

pytestmark = pytest.mark.nojit_slow  # whole runs


@pytest.mark.parametrize("branch", [None, 0])
def test_start_at_a_singular_pose_is_as_exact_as_the_method(branch):
    """The level rhomb falls as th'' = -2 g cos th / (5/3): from th = 0 with 1 rad/s and from rest."""
    from scipy.integrate import solve_ivp

    plant = plants.n_four_bar(1)
    for speed in (1.3, 0.0):
        exact = solve_ivp(
            lambda t, x: [x[1], -1.2 * 9.81 * np.cos(x[0])],
            (0, 0.15),
            [0.0, speed],
            rtol=1e-13,
            atol=1e-14,
            method="DOP853",
        ).y[:, -1]
        run = cmb.simulate(plant, q0=chain_configuration(1, 0.0), v0=chain_rate(1, speed), t_end=0.15, branch=branch)
        assert run.q.values[-1] == pytest.approx(exact[0] * np.array([1.0, -1.0, 1.0]), abs=2e-11)
        assert run.v.values[-1] == pytest.approx(exact[1] * np.array([1.0, -1.0, 1.0]), abs=2e-10)


def test_start_at_rest_on_another_branch():
    """Folded, bar1 and the coupler are one pendulum: th'' = -3/2 g cos th."""
    plant = plants.n_four_bar(1)
    run = cmb.simulate(plant, q0=chain_configuration(1, 0.0), t_end=0.3, branch=[0.0, -1.0, -1.0])
    assert np.abs(run.q.values[:, 0]).max() < 1e-12
    energy = 0.5 * (2.0 / 3.0) * run.v.values[:, 2] ** 2 + 9.81 * np.sin(run.q.values[:, 2])
    assert np.abs(energy).max() < 1e-9 and run.q.values[-1, 2] < -0.5


@pytest.mark.parametrize("n", [2, 5, 6, 8, 10])
@pytest.mark.parametrize("angle", [0.0, np.pi])
@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_flat_chains_of_many_loops_fall_as_one_bar(n, angle, speed):
    """I th'' = -g G cos th with I = (n + 1) / 3 + n, G = (n + 1) / 2 + n; bars at pi are their mirror images."""
    from scipy.integrate import solve_ivp

    plant = plants.n_four_bar(n)
    ratio = ((n + 1) / 2.0 + n) / ((n + 1) / 3.0 + n)
    settings = {"rtol": 1e-13, "atol": 1e-14, "method": "DOP853"}
    fall = solve_ivp(lambda t, x: [x[1], -9.81 * ratio * np.cos(x[0])], (0, 0.3), [angle, speed], **settings)
    exact = fall.y[:, -1]
    run = cmb.simulate(plant, None, plant.assemble(bar0=angle), chain_rate(n, speed) if speed else None, t_end=0.3)
    assert run.q.values[-1, 0] == pytest.approx(exact[0], abs=1e-9)
    turned = run.q.values - run.q.values[0]
    assert np.abs(turned - turned[:, :1] * chain_rate(n, 1.0)).max() < 1e-9
