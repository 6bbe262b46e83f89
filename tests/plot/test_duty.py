"""Efforts over speeds: the run, its RMS point, the limits that are in sight."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plot
from cmbcontrol.errors import InputError

from ..sim.test_motor_duty import FASTEST, A, turned


def drawn(ax, label):
    return [np.array(line.get_data()) for line in ax.lines if line.get_label() == label]


def test_limits_are_a_box_about_the_run():
    run = turned(effort=40.0, continuous=25.0, speed=60.0)
    figure = plot.effort_over_speed(run)
    (ax,) = figure.axes
    ((speed, effort),) = drawn(ax, "run")
    assert (speed / FASTEST) ** 2 + (effort / A) ** 2 == pytest.approx(np.ones(run.time.size), rel=1e-6)
    (point,) = drawn(ax, "RMS")
    assert point.ravel() == pytest.approx(np.array([FASTEST, A]) / np.sqrt(2.0), rel=1e-6)
    assert {tuple(map(tuple, line)) for line in drawn(ax, "limit")} == {
        ((-60.0, 60.0), (-40.0, -40.0)),
        ((-60.0, 60.0), (40.0, 40.0)),
        ((-60.0, -60.0), (-40.0, 40.0)),
        ((60.0, 60.0), (-40.0, 40.0)),
    }
    assert sorted(line[1, 0] for line in drawn(ax, "continuous")) == [-25.0, 25.0]
    assert (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) == ("motor", "speed (rad/s)", "effort (N m)")
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["run", "RMS", "limit", "continuous"]


def test_far_limits_are_told():
    (ax,) = plot.effort_over_speed(turned(effort=4000.0, continuous=1000.0, speed=5000.0)).axes
    assert ax.get_title() == "motor\nlimit 4000 N m, continuous 1000 N m, at most 5000 rad/s"
    assert not drawn(ax, "limit") and not drawn(ax, "continuous")
    (ax,) = plot.effort_over_speed(turned(speed=60.0)).axes  # no limit of effort: lines from end to end
    assert sorted(line[0, 0] for line in drawn(ax, "limit")) == [-60.0, 60.0]


def test_refusals():
    run = turned()
    with pytest.raises(InputError, match="does not hold its plant"):
        plot.effort_over_speed(cmb.Simulation(run.data))
    with pytest.raises(InputError, match="names none"):
        plot.effort_over_speed(run, motors=[])
    with pytest.raises(InputError, match="motr"):
        plot.effort_over_speed(run, motors=["motr"])
    rod = cmb.Body.rod("rod", mass=1.0, length=1.0)
    free = cmb.Mechanism("rod", [rod], [cmb.Revolute("pivot", "ground", "rod")])
    with pytest.raises(InputError, match="rod has no motors"):
        plot.effort_over_speed(cmb.simulate(free, q0=[0.1], t_end=0.1))
