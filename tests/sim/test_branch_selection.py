"""The branch that is taken at a singular configuration, and the ways to choose it."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import Controller, Evaluation
from cmbcontrol.papers.methods import settings
from cmbcontrol.plants.five_bar import configuration as five_bar_configuration
from cmbcontrol.plants.n_four_bar import configuration as chain_configuration
from cmbcontrol.plants.n_four_bar import rate as chain_rate
from tests.fixtures import without_gravity

pytestmark = pytest.mark.nojit_slow  # whole runs
FLAT = np.pi / 2.0


@pytest.mark.nojit_slow
def test_rhomb_stays_on_its_branch_and_is_steered_to_the_other():
    """Kinetic energy 5/6 W^2 level, 1/3 W^2 folded: steered, it turns sqrt(5/2) times as fast."""
    plant = without_gravity(plants.n_four_bar(1))
    q, v = chain_configuration(1, 1.0), chain_rate(1, 1.0)
    run = cmb.simulate(plant, q0=q, v0=v, t_end=8.0, **settings(max_step=1.0))
    assert np.abs(run.v.values - [1.0, -1.0, 1.0]).max() < 1e-8
    fold = [1.0, 0.0, 0.0]  # at pi, the second bar stays
    steered = cmb.simulate(plant, q0=q, v0=v, t_end=4.0, branch={1: fold})
    (met,) = steered.singularities()
    assert met.time == pytest.approx(np.pi - 1.0, abs=1e-9) and met.configuration.branch_of(fold) == met.taken
    after = steered.time > met.time
    assert np.abs(steered.v.values[after] - np.sqrt(2.5) * np.array(fold)).max() < 1e-8
    assert np.abs(steered.q.values[after, 2] - np.pi).max() < 1e-9
    assert steered.max_energy_error < 1e-10


@pytest.mark.nojit_slow
@pytest.mark.slow
def test_ways_to_choose_are_the_same():
    plant = plants.slider_crank()

    def at_first(pose, t, v):
        return pose.branch_of([-1.0, 0.0]) if t < 0.5 else None

    start = {"q0": [1.2, -2.4], "v0": [2.0, -4.0], "t_end": 0.8}
    runs = [cmb.simulate(plant, branch=b, **settings(**start)) for b in (at_first, {1: 0}, {1: [1.0, 0.0]})]
    for run in runs:
        assert run.singularities()[0].taken == 0
        assert np.abs(run.q.values[-1, 1] + np.pi) < 1e-9  # folded
        assert run.q.values[-1] == pytest.approx(runs[0].q.values[-1], abs=1e-10)
        assert run.max_energy_error < 1e-8
    kept = cmb.simulate(plant, branch=lambda pose, t, v: None, **settings(**start))
    plain = cmb.simulate(plant, **settings(**start))
    assert kept.q.values[-1] == pytest.approx(plain.q.values[-1], abs=1e-8)
    assert kept.singularities()[0].taken == 1
    back = cmb.simulate(plant, branch={1: [-1.0, 0.0]}, **settings(**start))
    assert back.q.values[-1, 0] < FLAT  # a direction has its own sense


class Torque(Controller):
    """A law in continuous time."""

    period = None

    def start(self, plant):
        return np.zeros(0)

    def evaluate(self, t, terms, state):
        return Evaluation(self._effort(t, terms, state), self._derivative(t, terms, state))

    def _effort(self, t, terms, state):
        return np.array([0.3 * np.cos(terms.q[0])])

    def _derivative(self, t, terms, state):
        return np.zeros(0)


@pytest.mark.nojit_slow
def test_laws_in_continuous_time_and_samples_are_steered_too():
    plant = plants.n_four_bar(1)
    q, v = chain_configuration(1, 0.3), chain_rate(1, -1.0)
    run = cmb.simulate(plant, Torque(), q, v, t_end=0.4, branch={1: [0.0, -1.0, -1.0]})
    assert run.singularities()[0].taken == 1
    assert np.abs(run.q.values[run.time > 0.35, 0]).max() < 1e-9
    assert run.max_energy_error < 1e-9


@pytest.mark.parametrize(
    ("branch", "error", "says"),
    [
        (True, TypeError, "branch= takes"),
        ("0", TypeError, "branch= takes"),
        ({"a": 1}, ValueError, "number of a passage"),
        ({1: 7}, cmb.errors.SimulationError, "no branch 7"),
        ([1.0, 2.0, 3.0], cmb.errors.SimulationError, r"shape \(2,\)"),
        (lambda pose, t, v: 1 / 0, cmb.errors.SimulationError, "ZeroDivisionError"),
    ],
)
def test_choices_that_say_nothing_are_refused(branch, error, says):
    with pytest.raises(error, match=says):
        cmb.simulate(plants.slider_crank(), q0=[1.2, -2.4], v0=[2.0, -4.0], t_end=0.5, branch=branch)


def test_methods_that_end_at_singular_poses_cannot_be_steered():
    with pytest.raises(TypeError, match="branch= steers runs that pass singular configurations"):
        cmb.simulate(
            plants.five_bar(),
            q0=five_bar_configuration(plants.five_bar(), "second"),
            t_end=1.0,
            method="radau",
            branch=0,
        )


def test_a_branch_that_nothing_moves_along_is_refused():
    """At rest without efforts there is nothing to follow it with; unless a branch is asked for, the run waits there."""
    crank, start = plants.slider_crank(), [np.pi / 2, -np.pi]

    def later(t, terms, state):
        return [float(t > 0.05)]

    with pytest.raises(cmb.errors.SimulationError, match="nothing moves there under the first efforts"):
        cmb.simulate(crank, later, start, t_end=0.1, branch=1)
    run = cmb.simulate(crank, later, start, t_end=0.1, output_times=0.05)
    # The last step of the wait may reach beyond 0.05 s; it is as accurate as the run (5e-9). The effort moves 1e-3.
    assert np.abs(run.q.values[1] - start).max() < 1e-7 < 1e-4 < np.abs(run.q.values[2] - start).max()
