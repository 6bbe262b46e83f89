"""Events of one's own, and joint limits."""

import warnings

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import Controller
from cmbcontrol.papers.methods import settings

METHODS = {"auto": {}, "dop853": {}, "verner65": {}, "rk4": {"step": 2e-3}, "scipy-rk45": {}, "radau": {}, "rodas4": {}}


@pytest.fixture(scope="module")
def plant():
    return plants.five_bar()


@pytest.fixture(scope="module")
def q0(plant):
    return plant.assemble(left=2.1, right=1.0)


def level(t, q, v):
    return q[0] - 2.5


def times(run, kind):
    return [event["time"] for event in run.events() if event["kind"] == kind]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.first(1)
def test_a_crossing_is_found_and_changes_nothing(plant, q0, method):
    alone = cmb.simulate(plant, q0=q0, t_end=1.0, **settings(method=method, **METHODS[method]))
    run = cmb.simulate(plant, q0=q0, t_end=1.0, events=[level], **settings(method=method, **METHODS[method]))
    assert np.array_equal(run.q, alone.q) and run.status == cmb.Status.COMPLETED
    (when,) = times(run, "level")
    there = run.data["event_q"].values[0]
    assert abs(there[0] - 2.5) < 1e-9
    exact = cmb.simulate(plant, q0=q0, t_end=1.0, output_times=[when])
    assert abs(float(exact.q[0, 0]) - 2.5) < 1e-5


@pytest.mark.parametrize("method", METHODS)
def test_a_terminal_event_ends_the_run_there(plant, q0, method):
    run = cmb.simulate(
        plant, q0=q0, t_end=1.0, events=cmb.Event(level, terminal=True), **settings(method=method, **METHODS[method])
    )
    assert run.status == cmb.Status.EVENT and run.message == "The event 'level' ended the run."
    assert times(run, "level") == [run.time[-1]]
    assert abs(float(run.q[-1, 0]) - 2.5) < 1e-8


def test_directions(plant, q0):
    watched = [cmb.Event(level, f"level {d}", direction=d) for d in (-1, 0, 1)]
    run = cmb.simulate(plant, q0=q0, t_end=4.0, events=watched)
    up, down, both = (times(run, f"level {d}") for d in (1, -1, 0))
    assert up and down and sorted([*up, *down]) == both


def test_functions_with_the_attributes_that_scipy_knows(plant, q0):
    def touch(t, q, v):
        return q[0] - 2.5

    touch.terminal, touch.direction = True, 1.0
    run = cmb.simulate(plant, q0=q0, t_end=4.0, events=[touch])
    assert run.status == cmb.Status.EVENT and times(run, "touch") == [run.time[-1]]


def test_the_first_step_from_a_singular_pose_is_looked_at(plant):
    q = plant.assemble(left=np.pi, right=0.0)
    off = cmb.Event(lambda t, q, v: q[0] - np.pi - 1e-3, "off")
    run = cmb.simulate(plant, q0=q, t_end=1.0, events=[off])
    (when,) = times(run, "off")
    assert 0.0 < when < 0.1
    ended = cmb.simulate(plant, q0=q, t_end=1.0, events=[cmb.Event(off.function, "off", terminal=True)])
    assert ended.time[-1] == when and abs(float(ended.q[-1, 0]) - np.pi - 1e-3) < 1e-9


def test_the_name_of_an_event_says_nothing_of_singular_poses(plant, q0):
    run = cmb.simulate(plant, q0=q0, t_end=1.0, events=[cmb.Event(level, "singular passage")])
    assert times(run, "singular passage") and run.singularities() == []


def test_events_while_loops_change(plant, q0):
    release = cmb.Release(plant.loops[0].name, at=0.3)
    run = cmb.simulate(plant, q0=q0, t_end=1.0, switches=release, events=[cmb.Event(lambda t, q, v: t - 0.5, "later")])
    assert times(run, "later") == [pytest.approx(0.5, abs=1e-12)]


def test_nothing_else_ends_a_step_that_is_taken_again_up_to_a_terminal_event(plant, q0):
    """The run ended at the condition of a switch that only that step has shown, and told the event as its end."""
    seen = []

    def late(t, q, v):
        seen.append(t)
        return t - 0.2

    def noisy(t, q, v):  # crosses zero before the event as soon as that has been found
        return t - 0.19 if max(seen, default=0.0) > 0.2 and t < 0.2 else -1.0

    event, release = cmb.Event(late, terminal=True), cmb.Release(plant.loops[0].name, when=noisy)
    run = cmb.simulate(plant, q0=q0, t_end=0.5, events=[event], switches=release)
    assert run.time[-1] == pytest.approx(0.2, abs=1e-12) and times(run, "late") == [run.time[-1]]


def test_an_event_under_a_sampled_law_with_many_short_steps(plant, q0):
    class Law(Controller):
        period = 1e-3

        def effort(self, t, terms, state):
            return 0.1 * np.sin(t) * np.ones(2)

    run = cmb.simulate(plant, Law(), q0, t_end=0.6, events=[level])
    (when,) = times(run, "level")
    assert abs(run.data["event_q"].values[0, 0] - 2.5) < 1e-9 and 0.2 < when < 0.6


@pytest.mark.parametrize(
    ("events", "kind", "says"),
    [
        ([3.0], TypeError, "needs a function"),
        ([cmb.Event(level), cmb.Event(level)], ValueError, "'level' stands for several"),
        (7, TypeError, "events"),
    ],
)
def test_what_is_no_event_is_refused(plant, q0, events, kind, says):
    with pytest.raises(kind, match=says):
        cmb.simulate(plant, q0=q0, t_end=1.0, events=events)


@pytest.mark.parametrize("wrong", [{"direction": 2}, {"direction": True}, {"terminal": "yes"}, {"name": 3}])
def test_wrong_words_of_an_event(wrong):
    with pytest.raises((TypeError, ValueError), match="event"):
        cmb.Event(level, **wrong)


def test_a_function_that_fails(plant, q0):
    def late(t, q, v):
        if t > 0.5:
            raise KeyError("gone")
        return 1.0

    with pytest.raises(cmb.errors.EventError, match="'now' failed at t = 0 s: ZeroDivisionError"):
        cmb.simulate(plant, q0=q0, t_end=1.0, events=[cmb.Event(lambda t, q, v: 1 / 0, "now")])
    with pytest.raises(cmb.errors.SimulationError, match=r"'late' failed at t = 0\.5.*KeyError") as caught:
        cmb.simulate(plant, q0=q0, t_end=1.0, events=[late])
    assert 0.3 < caught.value.partial.time[-1] <= 0.6


def pendulum(limits, name="swing"):
    bar = cmb.Body.planar("bar", 1.0, 0.5, 0.1)
    joint = cmb.Revolute(name, "ground", "bar", axis=(0, 0, 1), limits=limits)
    return cmb.Mechanism("pendulum", [bar], [joint], [], gravity=(0.0, -9.81, 0.0))


def test_a_limit_that_is_passed_is_told_once_and_each_crossing_is_noted():
    plant = pendulum((-1.7, np.inf))
    with pytest.warns(
        cmb.errors.LimitWarning, match=r"lower limit of 'swing', -1.7 rad, is passed at t = 0\.\d+ s"
    ) as told:
        run = cmb.simulate(plant, q0=[0.0], t_end=5.0, limits="warn")
    assert len(told) == 1 and told[0].filename == __file__
    crossings = times(run, "lower limit swing")
    assert len(crossings) >= 2 and run.status == cmb.Status.COMPLETED
    inward = cmb.Event(lambda t, q, v: q[0] + 1.7, "twin", direction=-1)
    twin = cmb.simulate(plant, q0=[0.0], t_end=5.0, limits="ignore", events=[inward])
    assert crossings == pytest.approx(times(twin, "twin"), abs=1e-8)


def test_limits_end_a_run_or_are_ignored():
    plant = pendulum((-1.7, np.inf))
    with pytest.warns(cmb.errors.LimitWarning, match="and the run ended there, as limits='stop' asks"):
        run = cmb.simulate(plant, q0=[0.0], t_end=5.0, limits="stop")
    assert run.status == cmb.Status.EVENT and run.message == "The lower limit of 'swing', -1.7 rad, ended the run."
    assert abs(float(run.q[-1, 0]) + 1.7) < 1e-8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cmb.simulate(plant, q0=[0.0], t_end=5.0, limits="ignore").events() == []
    with pytest.raises(ValueError, match="limits"):
        cmb.simulate(plant, q0=[0.0], t_end=5.0, limits="bounce")


def test_a_step_that_goes_beyond_and_comes_back_is_seen():
    """The largest swing is 1e-6 beyond the limit: no step needs to end there."""
    free = cmb.simulate(pendulum(None), q0=[0.0], t_end=2.0, output_times=1e-4)
    lowest = float(free.q.min())
    with pytest.warns(cmb.errors.LimitWarning):
        run = cmb.simulate(pendulum((lowest + 1e-6, np.inf)), q0=[0.0], t_end=2.0, limits="warn")
    assert len(times(run, "lower limit swing")) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cmb.simulate(pendulum((lowest - 1e-6, np.inf)), q0=[0.0], t_end=2.0, limits="warn")


def test_starts_at_and_beyond_a_limit():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cmb.simulate(pendulum((-np.inf, 0.0)), q0=[0.0], t_end=1.0, limits="warn")  # it swings away from it
    with pytest.warns(cmb.errors.LimitWarning, match=r"lower limit .* at t = 1\.\d+e-05 s"):  # 1e-9 rad
        cmb.simulate(pendulum((0.0, np.inf)), q0=[0.0], t_end=1.0, limits="warn")
    with pytest.warns(cmb.errors.LimitWarning, match="at t = 0 s"):
        cmb.simulate(pendulum((0.5, np.inf)), q0=[0.0], t_end=1.0, limits="warn")
    with pytest.raises(ValueError, match=r"q0 is beyond the lower limit of 'swing', 0\.5 rad, already"):
        cmb.simulate(pendulum((0.5, np.inf)), q0=[0.0], t_end=1.0, limits="stop")


@pytest.mark.parametrize("method", ["rk4", "scipy-rk45", "radau"])
def test_limits_with_other_methods(method):
    with pytest.warns(cmb.errors.LimitWarning):
        run = cmb.simulate(
            pendulum((-1.7, np.inf)), q0=[0.0], t_end=1.0, limits="warn", **settings(method=method, **METHODS[method])
        )
    assert len(times(run, "lower limit swing")) == 1


def test_an_event_that_is_true_or_false_learns_what_crosses_zero():
    plant = plants.five_bar()
    with pytest.raises(cmb.errors.EventError, match=r"returned False; return a signed number .* such as t - 0\.2"):
        cmb.simulate(plant, None, plant.assemble(left=2.1, right=1.0), t_end=0.1, events=[lambda t, q, v: t > 0.05])
