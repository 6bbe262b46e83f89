"""Random chains of laws and blocks; `chains` looks at more of them."""

import pytest

from tests import seeds

from . import chains

# Seeds that found something, each with what it was.
PINNED = {
    104: "at rest under an observer whose states are zero: what they change by was compared with them",
    179: "readings that are kept and filtered: scales of 1e53 between parts of which one does not hear the other",
}


def require_good(cases):
    found = {seed: chains.run_trial(seed) for seed in cases}
    assert not {seed: answer for seed, answer in found.items() if answer[0] != "ok"}


@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", [3, 8])
@pytest.mark.first(1)
def test_random_chains(seed):
    require_good([seed])


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_chains_that_found_something():
    require_good(PINNED)


@pytest.mark.slow
@pytest.mark.rotates
@pytest.mark.nojit_slow
@pytest.mark.parametrize("group", range(2))
def test_chains_of_this_commit(group):
    require_good(seeds.rotating(10)[group::2])
