"""How far a computation has come is told to nobody, a function, or a bar."""

import pytest

from cmbcontrol._progress import Reporter


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
        (task,) = report._bar.tasks
        assert (task.description, task.total, task.completed) == ("run", 1.0, 0.4)
    assert report._bar.finished is False and not report._bar.live.is_started


@pytest.mark.parametrize("progress", [None, 1, "yes"])
def test_what_is_neither(progress):
    with pytest.raises(TypeError, match="progress must be True, False or a function of the fraction"):
        Reporter(progress, "run")
