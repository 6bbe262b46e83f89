"""Which samples are shown, and how fast."""

import numpy as np
import pytest

from cmbcontrol.viewer.sampling import chosen, rows_of_curves, rows_of_motion, speed_of


@pytest.mark.parametrize(
    ("span", "speed"),
    [(0.0, 1.0), (1.0, 1.0), (60.0, 1.0), (0.9, 0.2), (0.4, 0.2), (3e-6, 1e-6), (61.0, 2.0), (600.0, 10.0), (1e6, 2e4)],
)
def test_speed(span, speed):
    assert speed_of(span) == pytest.approx(speed)


@pytest.mark.parametrize("span", np.geomspace(1e-6, 1e7, 40))
def test_no_run_is_too_short_or_too_long_to_watch(span):
    assert 1.0 <= span / speed_of(span) <= 60.0


def test_all_samples_are_taken_where_they_are_few():
    times = np.linspace(0.0, 2.0, 51)
    assert rows_of_motion(times, 5, np.zeros(0)).tolist() == list(range(51))
    assert rows_of_motion(times[:1], 5, np.zeros(0)).tolist() == [0]


def test_sixty_pictures_a_second():
    rows = rows_of_motion(np.linspace(0.0, 10.0, 10001), 10, np.zeros(0))
    assert len(rows) == 601 and rows[0] == 0 and rows[-1] == 10000
    assert np.diff(rows).max() <= 17


def test_samples_beside_events_stay():
    times = np.linspace(0.0, 10.0, 10001)
    rows = set(rows_of_motion(times, 10, np.array([3.0004, 7.7777])).tolist())
    assert {3000, 3001, 7777, 7778} <= rows
    assert {3000, 3001} <= set(rows_of_curves(times, 10**6, np.array([3.0004])).tolist())


def test_bounds():
    """Of machines with many bodies, of runs with many signals, of runs that chatter."""
    times = np.linspace(0.0, 60.0, 60001)
    assert len(rows_of_motion(times, 1, np.zeros(0))) <= 3601
    assert len(rows_of_motion(times, 1000, np.zeros(0))) <= 201
    assert len(rows_of_curves(times, 1, np.zeros(0))) <= 2001
    assert len(chosen(times, 100, times[::7])) <= 210


def test_uneven_samples():
    times = np.concatenate([np.linspace(0.0, 0.1, 1000), np.linspace(0.11, 10.0, 20)])
    rows = chosen(times, 100, np.zeros(0))
    assert set(range(1000, 1020)) <= set(rows.tolist()) and len(rows) < 130
