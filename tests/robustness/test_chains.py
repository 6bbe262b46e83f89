"""Random chains of laws and blocks; `chains` looks at more of them."""

import pytest

from tests import seeds

from . import chains


def require_good(cases):
    found = {seed: chains.run_trial(seed) for seed in cases}
    assert not {seed: answer for seed, answer in found.items() if answer[0] != "ok"}


@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", [3, 8])
@pytest.mark.first(1)
def test_random_chains(seed):
    require_good([seed])


@pytest.mark.slow
@pytest.mark.rotates
@pytest.mark.nojit_slow
@pytest.mark.parametrize("group", range(2))
def test_chains_of_this_commit(group):
    require_good(seeds.rotating(10)[group::2])
