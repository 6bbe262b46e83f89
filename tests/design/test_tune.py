"""Gains by simulation: known minima, seeds, failures, interruptions."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol.design import Range, error_cost, tune
from tests.fixtures import step_run


@pytest.mark.nojit_slow
def test_best_damping_ratio_for_the_squared_error_is_one_half(pendulum):
    """Closed form: the integral of e^2 of a step is (1 + 4 z^2) / (4 z w), smallest at z = 1/2."""
    found = tune(
        lambda damping_ratio: step_run(pendulum, damping_ratio),
        {"damping_ratio": Range(0.3, 1.0, log=True)},
        error_cost("ISE"),
        tolerance=5e-3,
        max_evaluations=40,
    )
    assert found.complete and found.gains["damping_ratio"] == pytest.approx(0.5, abs=0.02)
    assert found.cost == pytest.approx(0.25 * 2.0 / (4.0 * 0.5 * 6.0), rel=0.02)
    assert found.run is not None and found.failures == 0
    assert (np.diff(found.data["best"]) <= 0.0).all() and found.data["best"][-1] == found.cost


def fake(x, y=0.0):
    """A run that is there at once; the cost is in the test."""
    fake.at = (x, y)
    return fake.run


@pytest.fixture
def quick(pendulum):
    fake.run = cmb.simulate(pendulum, q0=pendulum.assemble(angle=0.1), t_end=0.01, output_times=0.01)
    return fake


def bowl(run):
    x, y = fake.at
    return (x - 3.0) ** 2 + 10.0 * (y - 0.2) ** 2 + 1.0


BOUNDS = {"x": Range(1.0, 10.0, log=True, unit="1/s"), "y": (-1.0, 1.0)}


@pytest.mark.parametrize(
    "method", ["nelder-mead", "powell", "cobyqa", "differential-evolution", "dual-annealing", "direct"]
)
def test_every_method_finds_the_minimum_and_repeats_itself(quick, method):
    options = {"method": method, "max_evaluations": 600, "tolerance": 1e-4, "seed": 3}
    first, second = (tune(quick, BOUNDS, bowl, **options) for _ in range(2))
    assert first.gains["x"] == pytest.approx(3.0, abs=0.05) and first.gains["y"] == pytest.approx(0.2, abs=0.05)
    assert first.data.equals(second.data)
    inside = first.data["gains"]
    assert (inside >= first.data["low"]).all() and (inside <= first.data["high"]).all()


def test_seed_decides_random_searches(quick):
    runs = [tune(quick, BOUNDS, bowl, method="differential-evolution", max_evaluations=40, seed=s) for s in (1, 2)]
    assert not runs[0].data.equals(runs[1].data) and runs[0].evaluations == 40
    assert "largest number of 40 runs" in runs[0].message


def test_failed_runs_are_counted_and_do_not_end_the_search(quick, pendulum):
    def make(x, y):
        if x > 4.0:
            raise cmb.errors.SimulationError("it fell over")
        return fake(x, y)

    def cost(run):
        return np.inf if fake.at[1] > 0.9 else bowl(run)

    found = tune(make, BOUNDS, cost, method="differential-evolution", max_evaluations=150, start={"x": 9.0, "y": 0.95})
    assert found.failures > 10 and "it fell over" in found.data["failure"].values
    assert found.gains["x"] == pytest.approx(3.0, abs=0.3)
    assert found.data["failed"][0] and found.data["cost"][0] == 1e6 and np.isfinite(found.data["cost"]).all()
    none = tune(lambda x, y: make(9.0, y), BOUNDS, cost, max_evaluations=5)
    assert none.run is None and none.cost == np.inf and "Every run failed" in none.message and str(none)


def test_interruption_keeps_what_was_computed(quick):
    def cost(run):
        cost.calls += 1
        if cost.calls == 7:
            raise KeyboardInterrupt
        return bowl(run)

    cost.calls = 0
    with pytest.raises(cmb.Interrupted, match="after 6 runs") as caught:
        tune(quick, BOUNDS, cost)
    found = caught.value.partial
    assert not found.complete and found.evaluations == 6 and "interrupted" in found.message
    assert np.isfinite(found.cost) and set(found.gains) == {"x", "y"}


def test_interruption_inside_a_run_is_no_failure(quick):
    def make(x, y):
        raise cmb.Interrupted("the run was interrupted")

    with pytest.raises(cmb.Interrupted) as caught:
        tune(make, BOUNDS, bowl)
    found = caught.value.partial
    assert not found.complete and found.evaluations == 0 and np.isnan(found.gains["x"]) and str(found)


def test_progress_is_told(quick, capsys):
    told = []
    tune(quick, BOUNDS, bowl, max_evaluations=10, progress=told.append)
    assert told == [pytest.approx((i + 1) / 10) for i in range(10)]
    tune(quick, BOUNDS, bowl, max_evaluations=3, progress=True)


def test_tune_refuses(quick):
    with pytest.raises(ValueError, match="low bound must be below"):
        tune(quick, {"x": (2.0, 1.0)}, bowl)
    with pytest.raises(ValueError, match="logarithmic"):
        Range(0.0, 1.0, log=True)
    with pytest.raises(ValueError, match="not within its bounds"):
        tune(quick, BOUNDS, bowl, start={"x": 20.0})
    with pytest.raises(ValueError, match="did you mean 'nelder-mead'"):
        tune(quick, BOUNDS, bowl, method="neldermead")
    with pytest.raises(TypeError, match="make must return a run"):
        tune(lambda x, y: 3.0, BOUNDS, bowl)
    with pytest.raises(TypeError, match="Range or"):
        tune(quick, {"x": 3.0}, bowl)
    with pytest.raises(ZeroDivisionError):
        tune(quick, BOUNDS, lambda run: 1 / 0)
    with pytest.raises(ValueError, match="whole number"):
        tune(quick, BOUNDS, bowl, max_evaluations=0)
