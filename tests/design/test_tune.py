"""Gains by simulation: known minima, seeds, failures, interruptions."""

from functools import cache

import numpy as np
import pytest
from joblib.externals import loky

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


@cache
def swing():
    rod, pivot = cmb.Body.rod("rod", mass=1.0, length=1.0), cmb.Revolute("angle", "ground", "rod", axis=(0, 1, 0))
    return cmb.Mechanism("swing", [rod], [pivot], actuators=[cmb.Actuator("angle")])


def at_rest(x, offset=0.0, y=0.0):
    """A run that keeps what it was given: its start, in place of a motion."""
    if x > 9.0:
        raise cmb.errors.SimulationError("it fell over")
    return {"plant": swing(), "q0": [x - offset], "v0": [y], "t_end": 1e-3, "output_times": 1e-3}


def squared(run):
    """(x - 3 - offset)^2 + 10 (y - 0.2)^2."""
    return (float(run.q.values[0, 0]) - 3.0) ** 2 + 10.0 * (float(run.v.values[0, 0]) - 0.2) ** 2


def position(run):
    return float(run.q.values[0, 0])


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
    assert capsys.readouterr() == ("", "")  # no terminal


def test_progress_counts_the_runs(quick):
    class Counts:
        def expect(self, count):
            self.count = count

        def __call__(self, fraction):
            self.fraction = fraction

    counts = Counts()
    tune(quick, BOUNDS, bowl, max_evaluations=10, progress=counts)
    assert (counts.count, counts.fraction) == (10, 1.0)


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


# -- several cases, constraints, processes ------------------------------------------------------------------------


@pytest.mark.parametrize(("combine", "best"), [("worst", 2.0), ("mean", 5.0 / 3.0)])
def test_one_gain_for_several_cases(combine, best):
    """The centre of the interval for the worst case, the mean of the offsets for the mean."""
    cases = {"offset": [-3.0, -1.0, 0.0]} if combine == "mean" else {"offset": [-3.0, 1.0]}
    found = tune(at_rest, {"x": (0.0, 8.0)}, squared, cases=cases, combine=combine, tolerance=1e-5)
    assert found.gains["x"] == pytest.approx(best, abs=1e-3)
    worst = max((best - 3.0 - offset) ** 2 for offset in cases["offset"])
    assert combine == "mean" or found.cost == pytest.approx(worst + 0.4, rel=1e-2)
    assert found.run is not None


@pytest.mark.parametrize("method", ["nelder-mead", "cobyqa", "differential-evolution", "optuna"])
def test_constraints_on_measures(method):
    constraints = {"position": (position, -np.inf, 2.0)}
    found = tune(at_rest, {"x": (0.0, 8.0)}, squared, constraints=constraints, method=method, tolerance=1e-5,
                 max_evaluations=120)  # fmt: skip
    assert found.gains["x"] == pytest.approx(2.0, abs=0.05) and found.gains["x"] <= 2.0
    outside = found.data["gains"].values[:, 0] > 2.0
    assert ((found.data["violation"].values > 0.0) == outside).all()
    impossible = tune(at_rest, {"x": (5.0, 8.0)}, squared, constraints=constraints, method=method, max_evaluations=20)
    assert impossible.run is None and "No gains keep the constraints" in impossible.message


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_measure_without_a_number_keeps_no_constraint(number):
    """Not with one bound at infinity either."""

    def beyond_two(run):
        return number if position(run) > 2.0 else 1.0

    constraints = {"number": (beyond_two, 0.0, np.inf)}
    found = tune(at_rest, {"x": (0.0, 8.0)}, squared, constraints=constraints, max_evaluations=40)
    outside = found.data["gains"].values[:, 0] > 2.0
    assert outside.any() and found.gains["x"] <= 2.0
    assert ((found.data["violation"].values > 0.0) == outside).all()


@pytest.fixture(scope="module")
def one_pool():
    """Two processes for all tunings, since each takes seconds to begin; tests of studies begin and end them."""

    class Kept(loky.ProcessPoolExecutor):
        def shutdown(self, *_, **__):
            pass

    made = []

    def pool(**options):
        made[:] = made or [Kept(**options)]
        return made[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loky, "ProcessPoolExecutor", pool)
        yield
    for one in made:
        super(Kept, one).shutdown(wait=True, kill_workers=True)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["nelder-mead", "differential-evolution", "optuna"])
def test_the_same_in_processes(method, one_pool):
    """To the last bit, and the run of the best gains is there, too."""
    options = {
        "cases": {"offset": (-1.0, 1.0)}, "runs": 3, "method": method, "max_evaluations": 30, "seed": 5,
        "constraints": {"position": (position, 0.0, 4.0)},
    }  # fmt: skip
    here, there = (tune(at_rest, {"x": (0.0, 10.0), "y": (-1.0, 1.0)}, squared, workers=n, **options) for n in (1, 2))
    assert here.data.equals(there.data)
    assert here.gains == there.gains and here.message == there.message
    np.testing.assert_array_equal(here.run.q.values, there.run.q.values)


def test_optuna_finds_the_minimum_and_repeats_itself():
    options = {"method": "optuna", "max_evaluations": 80, "seed": 1}
    first, second = (tune(at_rest, {"x": (0.0, 8.0), "y": (-1.0, 1.0)}, squared, **options) for _ in range(2))
    assert first.data.equals(second.data)
    assert first.gains["x"] == pytest.approx(3.0, abs=0.3) and first.gains["y"] == pytest.approx(0.2, abs=0.15)


@pytest.mark.slow
def test_failures_and_mistakes_in_processes(one_pool):
    found = tune(at_rest, {"x": (8.0, 10.0)}, squared, workers=2, max_evaluations=8, start={"x": 9.5})
    assert found.failures > 0 and "it fell over" in found.data["failure"].values
    with pytest.raises(ValueError, match="TypeError: "):
        tune(at_rest, {"z": (0.0, 1.0), "x": (0.0, 1.0)}, squared, workers=2, max_evaluations=4)


def test_cases_and_constraints_that_make_no_sense():
    with pytest.raises(ValueError, match="'x' is a gain and varies"):
        tune(at_rest, {"x": (0.0, 1.0)}, squared, cases={"x": [1.0]})
    with pytest.raises(TypeError, match="runs= is needed"):
        tune(at_rest, {"x": (0.0, 1.0)}, squared, cases={"offset": (0.0, 1.0)})
    with pytest.raises(TypeError, match="constraint 'position' must be"):
        tune(at_rest, {"x": (0.0, 1.0)}, squared, constraints={"position": position})
    with pytest.raises(ValueError, match="low <= high"):
        tune(at_rest, {"x": (0.0, 1.0)}, squared, constraints={"position": (position, 1.0, 0.0)})
    with pytest.raises(ValueError, match="combine"):
        tune(at_rest, {"x": (0.0, 1.0)}, squared, combine="worse")
