"""Rate limits, sampled and continuous."""

import numpy as np
import pytest

from cmbcontrol import simulate
from cmbcontrol.controllers import RateLimit
from tests.fixtures import PERIOD, Asks, largest, rotor, sampled_efforts


def test_the_slope_of_a_rate_limit():
    plant = rotor()
    law = Asks(lambda t: [1.0 if t > 0.0095 else 0.0], plant=plant) | RateLimit(50.0)
    u = sampled_efforts(plant, law, 60)[:, 0]
    assert largest(u[:10]) == 0.0
    assert u[10:30] == pytest.approx(0.05 * np.arange(1, 21))
    assert largest(u[30:] - 1.0) < 1e-12
    # a signal that is slow enough passes
    slow = Asks(lambda t: [np.sin(40.0 * t)], plant=plant) | RateLimit(41.0)
    assert sampled_efforts(plant, slow, 60)[:, 0] == pytest.approx(np.sin(40.0 * PERIOD * np.arange(60)))


def test_a_rate_limit_in_continuous_time():
    """A large step: a ramp, and the last bit, where the rate no longer matters, exponential."""
    plant, rate, tau = rotor(), 50.0, 0.01
    law = Asks(lambda t: [1.0], None, plant=plant) | RateLimit(rate, time_constant=tau)
    run = simulate(plant, law, [0.0], t_end=0.05, output_times=1e-3)
    t = run.time
    turn = (1.0 - rate * tau) / rate  # from here on 1 - u = rate tau exp(-(t - turn) / tau)
    truth = np.where(t < turn, rate * t, 1.0 - rate * tau * np.exp(-(t - turn) / tau))
    assert largest(run.u.values[:, 0] - truth) < 2e-6
    with pytest.raises(ValueError, match=r"continuous time here, where it needs a time constant"):
        Asks(lambda t: [1.0], None, plant=plant) | RateLimit(50.0)
    with pytest.raises(ValueError, match=r"the rate of RateLimit must be > 0"):
        Asks(lambda t: [1.0], plant=plant) | RateLimit(0.0)
