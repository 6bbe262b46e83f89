"""Random laws of a user, compiled and not; `own_laws` looks at more of them."""

import pytest

from cmbcontrol._jit import JIT_ENABLED

from ..seeds import rotating
from . import own_laws

pytestmark = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")


def require_good(seeds):
    bad = {seed: found for seed in seeds if (found := own_laws.run_trial(seed))[0] != "ok"}
    assert not bad


def test_random_laws_of_a_user():
    require_good(range(5))


@pytest.mark.rotates
def test_more_random_laws_of_a_user():
    require_good(rotating(60))


def test_the_table_counts_outcomes(capsys):
    assert own_laws.main(["--count", "1"]) == 0
    assert "all" in capsys.readouterr().out
