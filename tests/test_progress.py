"""How far a computation has come is told to nobody, a function, or a bar."""

import pytest
from rich.console import Console

from cmbcontrol._progress import Reporter, Tally, bars


def test_a_function_is_told_the_fraction():
    told = []
    with Reporter(told.append, "run") as report:
        report.update(0.25)
        report.update(1.0, {"runs": 3})
    assert told == [0.25, 1.0]


def test_what_is_finished_is_kept_before_the_fraction_is_told():
    class Keeps:
        def __init__(self):
            self.heard = []

        def keep(self, done):
            self.heard.append(done)

        def __call__(self, fraction):
            self.heard.append(fraction)

    keeps = Keeps()
    report = Reporter(keeps, "run")
    report.update(0.5)
    report.update(1.0, {"runs": 3}, {"runs": 4})
    assert keeps.heard == [0.5, ({"runs": 3}, {"runs": 4}), 1.0]


def test_a_bar_is_started_moved_and_stopped():
    with Reporter(True, "run") as report:
        report.update(0.4)
        (task,) = report._bars.tasks
        assert (task.description, task.total, task.completed) == ("run", 1.0, 0.4)
    assert report._bars.finished is False and not report._bars.live.is_started


def drawn(count, *fractions):
    """Text of a bar on a terminal of 80 columns at a fraction, a second after each of those before."""
    shown = bars(terminal=True)
    clock = iter(range(100))
    shown.get_time = lambda: now
    now = next(clock)
    step = Tally(shown, "study")
    if count is not None:
        step.expect(count)
    shown.start_task(0)
    for fraction in fractions:
        now = next(clock)
        step(fraction)
    console = Console(width=80, force_terminal=True, color_system=None)
    with console.capture() as text:
        console.print(shown.make_tasks_table(shown.tasks))
    (line,) = text.get().splitlines()
    return line


def test_a_bar_counts_and_tells_the_time_left():
    """A tenth in each second leaves seven seconds after three of them."""
    line = drawn(40, 0.0, 0.1, 0.2, 0.3)
    assert line.startswith("study ") and " 12 of 40 " in line and line.rstrip().endswith("0:00:07 left")
    assert "left" not in drawn(40, 0.0)  # nothing is measured yet
    assert " 30 % " in drawn(None, 0.0, 0.1, 0.2, 0.3)


def test_nothing_is_drawn_where_there_is_no_terminal(capfd):
    with Reporter(True, "run", 4) as report:
        report.update(0.5)
    assert capfd.readouterr() == ("", "")


def test_who_counts_is_told_the_count():
    class Counts:
        def expect(self, count):
            self.count = count

        def __call__(self, fraction):
            self.fraction = fraction

    counts = Counts()
    Reporter(counts, "study", 12).update(0.5)
    assert (counts.count, counts.fraction) == (12, 0.5)


@pytest.mark.parametrize("progress", [None, 1, "yes"])
def test_what_is_neither(progress):
    with pytest.raises(TypeError, match="progress must be True, False or a function of the fraction"):
        Reporter(progress, "run")
