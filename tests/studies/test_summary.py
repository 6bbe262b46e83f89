"""A study in words: quantiles that a judge counts, units, the worst run, what is within limits."""

import numpy as np
import pytest

from cmbcontrol.studies import study
from cmbcontrol.studies.summary import measure_lines, yield_line


def force(x):
    if x > 100.0:
        raise ValueError("too far")
    return {"force": 3e5 * x, "never": np.nan}


@pytest.fixture(scope="module")
def found():
    """x = 1, 2, ..., 21 in units of 0.1, and one that fails."""
    return study(force, {"x": [*(0.1 * np.arange(1, 22)), 200.0]}, measure_units={"force": "N"})


def test_numbers_of_a_measure(found):
    """Of 21 equal steps the quantiles are the second, the middle one, and the second but one."""
    (line,) = measure_lines(found, worst=2)
    assert (line.name, line.unit, line.runs) == ("force", "N", [20, 19])
    assert line.numbers == ("60,000", "330,000", "600,000", "630,000")


def test_the_text(found):
    assert repr(found) == "<Study of 22 runs: 22 done, 1 failed>"
    text = str(found)
    assert "study of 22 runs, 22 done, 1 of them failed" in text and "    21  completed" in text
    assert "  force: median 330,000, 5 to 95 % 60,000 to 600,000, largest 630,000 N (run 20)" in text
    assert "never" not in text


def test_runs_that_failed_count_as_outside(found):
    told = yield_line(found, {"force": (0.0, 345_000.0)})
    assert told.startswith("within limits (force from 0 to 345,000): 50.0% of the runs (95 % confidence: ")
