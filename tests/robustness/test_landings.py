"""Random machines that land on contacts and stops; `landings` looks at more of them."""

import pytest

from . import landings


@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", [0, 2, 3, 4, 5, 6, 8, 9])
def test_random_machines_land(seed):
    outcome, words = landings.run_trial(seed)
    assert outcome in ("ok", "painleve"), words


def test_the_table_counts_outcomes(capsys):
    assert landings.main(["--count", "1", "--seed", "3", "--jobs", "1"]) == 0
    assert "all" in capsys.readouterr().out
