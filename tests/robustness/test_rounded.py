"""Random machines with redundant rows whose numbers are rounded; `rounded` looks at more of them."""

import pytest

from . import rounded

# Seeds and digits that found something, each with what it was.
PINNED = {
    (17, 12): "singular values just above rounding: closing wandered along them",
    (19, 5): "levers that are rounding, of shafts in line, were taken for the size of a loop",
    (59, 9): "closed exactly on another branch, where the machine is locked",
    (92, 6): "the pitch of a screw was changed by as much as a radian",
    (1125, 4): "loops that are locked, and close nowhere with their digits",
    (700978, 8): "three bars that are locked where they are not parallel, and an arm that moves there",
    (700042, 8): "a twist of axes that holds on one branch only, beside a cylindrical joint",
    (800765, 12): "closed to 8e-13, and moved along gradients that are rounding",
    (800914, 8): "of a size of micrometres, entries of quaternions counted as lengths",
    (801016, 11): "the same: closed by less than a run needs",
    (195, 10): "a free arm took all of the way to the next configuration",
}


def require_good(cases):
    found = {case: rounded.run_trial(case) for case in cases}
    bad = {case: answer for case, answer in found.items() if answer[0] not in ("ok", "warned", "not asked")}
    assert not bad
    assert sum(outcome == "ok" for outcome, _ in found.values()) >= 0.6 * len(cases)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("group", range(4))
@pytest.mark.first(1)
def test_rounded_machines(group):
    require_good(rounded.cases(24)[group::4])


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_machines_that_found_something():
    require_good(list(PINNED))


@pytest.mark.nojit_slow
@pytest.mark.slow
@pytest.mark.parametrize("group", range(4))
def test_more_rounded_machines(group):
    require_good(rounded.cases(40, 1000)[group::4])


def test_the_table_counts_outcomes(capsys):
    assert rounded.main(["--count", "2", "--jobs", "1"]) == 0
    assert "all" in capsys.readouterr().out
