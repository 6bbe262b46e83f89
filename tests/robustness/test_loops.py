"""Loops of random machines, of which nothing proven is wrong: a few seeds; more by the command of the module."""

import pytest

from . import loops


@pytest.mark.slow
@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", [10, 12, 14])
def test_what_is_proven_is_true(seed):
    outcome, words = loops.run_trial(seed)
    assert outcome in ("certified", "not certified"), words
    assert "gain" in words
