"""Structured tuning of random problems: default starts against twenty; `structures` looks at more of them."""

import pytest

from tests.seeds import rotating

from . import structures


def require_good(seeds):
    """Nothing is wrong anywhere, and at most one in ten is worse, and one more."""
    found = {seed: structures.run_trial(seed) for seed in seeds}
    assert not [(seed, words) for seed, words in found.items() if words.startswith("wrong")]
    worse = [seed for seed, words in found.items() if words == "worse"]
    assert len(worse) <= 1 + len(found) // 10, worse
    return set(found.values())


@pytest.mark.nojit_slow
def test_the_default_starts_are_enough():
    assert "same" in require_good(range(1, 5))


@pytest.mark.slow
@pytest.mark.nojit_slow
@pytest.mark.rotates
def test_the_default_starts_are_enough_for_more_problems():
    assert "same" in require_good(rotating(30))
