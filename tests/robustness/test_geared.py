"""Random machines with gears against their twins without; `geared` looks at more of them."""

import pytest

from tests.seeds import rotating

from . import geared

# Seeds that found something, each with what it was.
PINNED = {
    7: "branches were listed in the order of the rotors",
    1088: "of nearest configurations, distances were equal to rounding, and coordinates to its root",
    25524216200029: "the search for a nearest configuration ended as flat as rounding of the distance lets it be",
    9: "the last link of an arm was taken for a rotor of its differential",
}


def require_good(seeds):
    found = [(seed, *answer) for seed in seeds for answer in geared.run_trial(seed)]
    assert not [answer for answer in found if answer[2] != "ok"]
    assert len(found) > 2 * len(list(seeds))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("kind", range(len(geared.KINDS)), ids=geared.KINDS)
@pytest.mark.first(1)
def test_machines_with_gears_have_the_answers_of_their_twins(kind):
    require_good(range(kind + 100, kind + 100 + 2 * len(geared.KINDS), len(geared.KINDS)))


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_machines_that_found_something():
    require_good(list(PINNED))


@pytest.mark.nojit_slow
@pytest.mark.slow
@pytest.mark.rotates
def test_more_machines_with_gears():
    require_good(rotating(60))


def test_the_table_counts_outcomes(capsys):
    assert geared.main(["--count", "4", "--jobs", "1"]) == 0
    assert "all" in capsys.readouterr().out
