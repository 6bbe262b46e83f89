"""Starts at and beside singular configurations run as from regular ones; see `singular_starts`."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from tests.seeds import rotating

from . import judge, singular_starts, workers

CASES = {case.name: i for i, case in enumerate(singular_starts.cases())}
FAST = ("five-bar tip line +1", "five-bar tip revolute -1", "n-four-bar 1 at 0", "n-four-bar 2 at 3",
        "parallelogram cartesian at 0", "slider-crank sliding", "slider-crank folded", "leg standing at 0")  # fmt: skip
OFFSETS = (0.0, 1e-16, -1e-13, -4e-12, 1e-10, 8e-10, -5e-9, 1.4e-8, -1e-7, 6e-7, 1e-5, -1e-4, -1e-2)
SPEEDS = (1e-3, 0.0, 1.0)
EACH = 8  # starts of a case: 300 in all


def require_good(items):
    bad = []
    for item, (outcome, message) in workers.each(singular_starts.run_start, items, jobs=1):
        if outcome != "ok":
            bad.append(singular_starts.told(item, outcome, message))
    assert not bad, f"{len(bad)} of {len(items)}:\n" + "\n".join(bad)


def prepared(index, speeds):
    """Compiled, and tabulated, before the processes start."""
    singular_starts.reduced(index)
    for speed in speeds:
        singular_starts.usual(index, speed, 1.0)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", FAST)
@pytest.mark.first(1)
def test_starts_beside_singular_poses(name):
    prepared(CASES[name], SPEEDS)
    items = [(CASES[name], s, SPEEDS[i % 3], "given", 1.0) for i, s in enumerate(OFFSETS)]
    require_good([*items, *((CASES[name], s, 0.0, "assembled", 1.0) for s in (0.0, 3e-8))])


@pytest.mark.nojit_slow
@pytest.mark.rotates
@pytest.mark.parametrize("name", CASES)
def test_starts_of_this_commit(name):
    """Of each case some out of all offsets, speeds and ways to start."""
    seed = rotating(1)[0]
    prepared(CASES[name], singular_starts.SPEEDS)
    every = [item for item in singular_starts.items(seed=seed) if item[0] == CASES[name]]
    drawn = np.random.default_rng(seed + CASES[name]).permutation(len(every))[: len(rotating(EACH))]
    require_good([every[i] for i in drawn])


@pytest.mark.nojit_slow
@pytest.mark.slow
@pytest.mark.parametrize("name", ["five-bar tip line +1", "n-four-bar 1 at 0", "slider-crank sliding"])
def test_longer_runs_from_beside_singular_poses(name):
    prepared(CASES[name], ())
    require_good([(CASES[name], s, 0.0, "given", 5.0) for s in OFFSETS])


@pytest.mark.parametrize(
    ("make", "values"),
    [
        (plants.five_bar, {"left": np.pi, "right": 0.0}),
        (lambda: plants.n_four_bar(1), {"bar0": np.pi}),
        (plants.slider_crank, {"q1": np.pi / 2}),
    ],
    ids=["five-bar", "n-four-bar", "slider-crank"],
)
def test_assembled_at_a_singular_pose_a_run_starts(make, values):
    plant = make()
    q = plant.assemble(**values)
    assert plant.diagnose(q).singular
    run = cmb.simulate(plant, None, q, t_end=1.0)
    assert abs(run.max_energy_error) < 1e-7


@pytest.mark.parametrize("name", CASES)
def test_the_curves_are_closed_and_their_rates_admissible(name):
    case = singular_starts.cases()[CASES[name]]
    plant = case.make()
    for s in (0.0, 1e-9, -1e-3, 0.5):
        q, v = case.pose(s), case.rate(s)
        assert plant.closure_error(q) < 5e-16 * plant.size * 4
        assert np.abs(plant.jacobian(q) @ v).max() < 1e-14
        if not isinstance(plant, cmb.FunctionPlant):
            m = singular_starts.described(plant)
            assert float(np.abs(judge.residual(m, q)).max()) < 1e-15


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_a_regular_start_follows_the_exact_motion():
    """What is asked beside singular configurations is fulfilled away from them: the reduced equations are right."""
    for name in FAST:
        prepared(CASES[name], (0.0,))
        assert singular_starts.run_start((CASES[name], 0.3, 0.0, "given", 1.0)) == ("ok", "")
