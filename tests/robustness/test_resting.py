"""Random machines at rest on contacts and stops; `resting` looks at more of them."""

import pytest

from . import resting


@pytest.mark.first(4)
@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", [0, 1, 3, 4, 5, 7, 8, 9, 11, 13, 14, 15, 22, 28])
def test_random_machines_rest(seed):
    outcome, words = resting.run_trial(seed)
    assert outcome in ("ok", "refused"), words


@pytest.mark.first(1)
@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", [448, 474, 496])
def test_feet_that_rest_by_pushing_against_each_other(seed):
    """The smallest forces are outside of cones; runs slid, crept, or told Painleve's paradox at the start."""
    outcome, words = resting.run_trial(seed)
    assert outcome == "ok", words


@pytest.mark.slow
@pytest.mark.parametrize("seed", [114, 182, 218, 460])
def test_more_feet_that_rest_by_pushing_against_each_other(seed):
    outcome, words = resting.run_trial(seed)
    assert outcome == "ok", words


def test_the_table_counts_outcomes(capsys):
    assert resting.main(["--count", "1", "--seed", "3", "--jobs", "1"]) == 0
    assert "all" in capsys.readouterr().out
