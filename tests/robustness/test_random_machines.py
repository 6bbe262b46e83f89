"""Random machines: regular ones run and are right, locked and singular ones are told; see `random_machines`."""

import pytest

from tests.seeds import rotating

from . import machines, random_machines, workers
from .trial import OUTCOMES, Trial, in_words, run_trial

EACH = 15  # machines of a test
# Seeds that found something, each with what it was.
PINNED: dict[int, str] = {
    902669: "passes a configuration at which the mass matrix is not positive definite, which an event of it is",
    10635279600296: "bearings in line, whose rows all vanish: what rounding leaves of the weights was a curvature",
    12584916100030: "just beyond a singular configuration; by generated code its closeness is that of other rows",
}


@pytest.fixture(scope="module")
def compiled():
    random_machines.warm()


def groups(seeds):
    return [seeds[i : i + EACH] for i in range(0, len(seeds), EACH)]


def require_good(seeds):
    trials = random_machines.run(seeds, jobs=1)
    lines = [line for trial in trials for line in random_machines.finding_lines(trial)]
    assert not lines, "\n".join(lines)
    assert {t.outcome for t in trials} <= {"ok", "told", "undecided"}
    assert sum(t.outcome == "undecided" for t in trials) <= 0.3 * len(trials)


@pytest.mark.nojit_slow
def test_random_machines(compiled):
    require_good(range(EACH))


@pytest.mark.nojit_slow
@pytest.mark.rotates
@pytest.mark.parametrize("seeds", groups(rotating(300)), ids=lambda s: f"{s.start}-{s.stop - 1}")
def test_random_machines_of_this_commit(compiled, seeds):
    require_good(seeds)


@pytest.mark.nojit_slow
@pytest.mark.slow
def test_machines_that_found_something(compiled):
    require_good(list(PINNED))


def spin(x):
    while x:
        pass
    return "done"


def test_what_hangs_is_killed_and_the_rest_goes_on():
    found = dict(workers.each(spin, [0, 1, 0], jobs=1, limit=0.2))
    assert found == {0: "done", 1: workers.Failed("killed", "used 0.2 s of CPU time")}


def test_what_raises_is_told_and_the_rest_goes_on():
    found = dict(workers.each(bin, [1, "x", 2], jobs=1))
    assert found[1] == "0b1" and found[2] == "0b10"
    assert found["x"].outcome == "unhandled" and "TypeError" in found["x"].text


@pytest.mark.smoke
def test_the_table_tells_outcomes_by_class():
    trial = Trial(3, machines.kind_of(3), "regular")
    trial.add("assemble", "wrong", "far")
    text = random_machines.table([trial, run_trial(0)])
    assert "assemble: wrong" in text and "general" in text and OUTCOMES[0] in text


def test_errors_from_inside_are_told_apart_from_words_of_the_package():
    from cmbcontrol import Frame
    from cmbcontrol.errors import ModelError

    try:
        Frame((1, 2))
    except (ModelError, ValueError) as error:
        assert in_words(error)
    try:
        [][1]
    except IndexError as error:
        assert not in_words(error)
