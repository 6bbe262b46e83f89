"""Random chains at their limits against an ideal limited loop; `windup` looks at more of them."""

import pytest

from tests.seeds import rotating

from . import windup


def require_good(seeds):
    found = [(seed, *answer) for seed in seeds for answer in windup.run_trial(seed)]
    assert not [answer for answer in found if answer[2] != "ok"]
    assert found


@pytest.mark.nojit_slow
def test_chains_do_not_wind_up():
    require_good(range(4))


@pytest.mark.nojit_slow
def test_the_judge_sees_windup():
    """Without help the judge's own loop overshoots by far more, where it has an integral of weight."""
    case = windup.drawn(0)
    goal = case.limit / case.mass * (8.0 / case.crossover) ** 2
    assert windup.ideal(case, goal, winds=True) > windup.ideal(case, goal) + 10.0 * windup.LITTLE


@pytest.mark.nojit_slow
def test_a_filter_that_integrates_before_a_high_gain_is_held():
    """Of what limits cut off, a lead of the gain 100 leaves it little to follow: seeds of `windup`."""
    require_good([102, 272, 328])


@pytest.mark.slow
@pytest.mark.nojit_slow
@pytest.mark.rotates
def test_more_chains_do_not_wind_up():
    require_good(rotating(25))
