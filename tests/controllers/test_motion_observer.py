"""The observer on the manifold: poles, estimates, chains."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, linearize_closed_loop
from cmbcontrol.controllers import Delay, Encoder, MotionObserver, ProjectedInverseDynamics
from cmbcontrol.design import with_payload
from cmbcontrol.errors import ActuationError
from cmbcontrol.papers.methods import settings

NAMES = ("left", "right")


@pytest.mark.parametrize("disturbance", [True, False])
def test_gains_of_the_motion_observer_place_equal_poles(plant, disturbance):
    law = ProjectedInverseDynamics(plant, NAMES, Constant([2.1, 1.0]), bandwidth=8.0, period=0.01)
    found = MotionObserver(law, NAMES, bandwidth=50.0, disturbance=disturbance)
    z, n = np.exp(-0.5), 3 if disturbance else 2
    F = np.array([[1.0, 1.0, 0.5], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])[:n, :n]
    G, H = np.array(found.gains)[:n, None], np.eye(1, n)
    assert np.allclose(np.poly(F @ (np.eye(n) - G @ H)), np.poly([z] * n), atol=1e-12)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("load", [0.0, 1.0])
def test_motion_observer_finds_the_velocity(plant, load):
    """From a wrong first velocity, and with a payload that it does not know."""
    machine = with_payload(plant, "left_upper", load, (1.5, 0.0, 0.0)) if load else plant
    path = cmb.Sine([2.1, 1.0], [0.3, 0.3], 0.5)
    law = ProjectedInverseDynamics(plant, NAMES, path, bandwidth=8.0, period=5e-3)
    observed = MotionObserver(law, NAMES, bandwidth=60.0)
    q0 = plant.assemble(left=2.1, right=1.0)
    v0 = np.linalg.solve(np.vstack([np.eye(4)[[0, 2]], plant.jacobian(q0)]), np.append(path(0.0)[1], np.zeros(2)))
    options = {"t_end": 0.8, "output_times": 5e-3, "rtol": 1e-8, "atol": 1e-8}
    run = cmb.simulate(machine, observed, q0, v0, **settings(**options))
    off = np.abs(run.report.sel(quantity=[f"{n}_rate_error" for n in plant.velocity_names]).values).max(axis=1)
    assert off[0] > 0.5  # the first estimate is at rest
    assert off[run.time > 0.3].max() < (0.15 if load else 2e-3)
    if not load:
        direct = cmb.simulate(machine, law, q0, v0, **settings(**options))
        assert np.abs(run.q.values - direct.q.values)[-1].max() < 5e-3


@pytest.mark.nojit_slow
@pytest.mark.slow
def test_motion_observer_without_disturbance_keeps_an_error_under_a_load(plant):
    machine = with_payload(plant, "left_upper", 1.0, (1.5, 0.0, 0.0))
    law = ProjectedInverseDynamics(plant, NAMES, Constant([2.1, 1.0]), bandwidth=8.0, period=5e-3)
    left = {}
    for disturbance in (True, False):
        observed = MotionObserver(law, NAMES, bandwidth=60.0, disturbance=disturbance)
        run = cmb.simulate(machine, observed, plant.assemble(left=2.1, right=1.0), t_end=2.0, rtol=1e-7, atol=1e-7)
        left[disturbance] = abs(float(run.report.sel(quantity="left_rate_error")[-1]))
    assert left[True] < 1e-3 < left[False]


@pytest.mark.nojit_slow
def test_motion_observer_loop_is_stable_and_stands_in_chains(plant):
    law = ProjectedInverseDynamics(plant, NAMES, Constant([2.1, 1.0]), bandwidth=8.0, period=5e-3)
    chain = Encoder(bits=14) | MotionObserver(law, ("left", "elbow_right"), 60.0, limits=80.0) | Delay(1e-3)
    run = cmb.simulate(plant, chain, plant.assemble(left=2.15, right=0.95), t_end=0.6, rtol=1e-6, atol=1e-6)
    assert np.abs(run.q.values[-1, [0, 2]] - [2.1, 1.0]).max() < 0.02
    with pytest.raises(ValueError, match="give ProjectedInverseDynamics a period"):
        MotionObserver(ProjectedInverseDynamics(plant, NAMES, Constant([2.1, 1.0]), bandwidth=8.0), NAMES, 60.0)
    with pytest.raises(ValueError, match="joint to measure"):
        MotionObserver(law, ("tip",), 60.0)
    with pytest.raises(ActuationError, match="do not determine"):
        few = MotionObserver(law, ("left",), 60.0)
        cmb.simulate(plant, few, plant.assemble(left=2.1, right=1.0), t_end=0.02)


@pytest.mark.nojit_slow
def test_linearized_motion_observer_forgets_at_its_bandwidth(plant):
    law = ProjectedInverseDynamics(plant, NAMES, Constant([2.1, 1.0]), bandwidth=8.0, period=5e-3)
    found = linearize_closed_loop(plant, MotionObserver(law, NAMES, 40.0, disturbance=False))
    values = np.abs(found.poles())
    assert found.stable
    near = values[(values > 0.7) & (values < 0.9)]
    assert near.size == 4 and abs(near.prod() ** 0.25 - np.exp(-0.2)) < 5e-3  # 2 equal poles of each degree of freedom
