"""The IFToMM benchmarks: exact solutions against other integrators, and what the runs must show."""

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cmbcontrol as cmb
from cmbcontrol import papers, plants
from cmbcontrol.papers import iftomm, measure
from cmbcontrol.papers.methods import settings
from cmbcontrol.plants.n_four_bar import GRAVITY
from tests.fixtures import saved_and_drawn

A_FEW = np.linspace(0.0, 10.0, 41)


# -- exact solutions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1.0, 0.3])
def test_the_pendulum_solves_its_equation(length):
    judge = solve_ivp(
        lambda t, y: [y[1], -GRAVITY / length * np.sin(y[0])], (0, 10), [-np.pi / 2, 0.0], "DOP853", A_FEW,
        rtol=1e-13, atol=1e-13,
    ).y[0]  # fmt: skip
    expected = length * np.stack([np.sin(judge), -np.cos(judge)], axis=1)
    assert np.abs(iftomm.pendulum_motion(A_FEW, length) - expected).max() < 1e-10


def test_the_pendulum_after_two_thousand_seconds():
    """In 40 digits: the period is 4 K(1/2) sqrt(L/g)."""
    with mp.workdps(40):
        u = mp.sqrt(mp.mpf(str(GRAVITY))) * 2000
        half = -mp.ellipfun("cd", u, m=mp.mpf(1) / 2) / mp.sqrt(2)
        expected = [float(2 * half * mp.sqrt(1 - half**2)), float(2 * half**2 - 1)]
    assert iftomm.pendulum_motion(np.array([2000.0]))[0] == pytest.approx(expected, abs=2e-12)


@pytest.mark.parametrize("n", [1, 2, 40])
def test_the_four_bars_solve_their_equation(n):
    inertia, gravity = (n + 1) / 3 + n, (n + 1) / 2 + n
    judge = solve_ivp(
        lambda t, y: [y[1], -gravity * GRAVITY * np.cos(y[0]) / inertia], (0, 10), [np.pi / 2, -1.0], "DOP853", A_FEW,
        rtol=1e-13, atol=1e-13,
    )  # fmt: skip
    top, speed = iftomm.four_bar_motion(n, A_FEW)
    assert np.abs(top - np.stack([np.cos(judge.y[0]), np.sin(judge.y[0])], axis=1)).max() < 2e-9
    assert np.abs(speed - judge.y[1]).max() < 2e-9
    assert iftomm.four_bar_motion(n, np.array([0.0]))[0][0] == pytest.approx([0.0, 1.0], abs=1e-15)


def test_the_four_bars_are_flat_when_told():
    times = iftomm.flat_times(2, 20.0)
    top, speed = iftomm.four_bar_motion(2, times)
    assert len(times) == 20 and np.all(np.diff(times) > 0.1)
    assert np.abs(top[:, 1]).max() < 1e-12 and np.all(top[::2, 0] > 0) and np.all(top[1::2, 0] < 0)
    # flat at the height of the pivots: the speed follows from the energy, 1 + 2 (9.81 G / I)
    assert speed**2 == pytest.approx(1.0 + 2.0 * GRAVITY * 3.5 / 3.0, rel=1e-12)
    assert len(iftomm.flat_times(2, times[7] + 1e-9)) == 8


# -- runs -------------------------------------------------------------------------------------------------------------


def test_the_point_pendulum():
    """The point mass as a mechanism, as functions, and as the closed form of its exact motion."""
    plant = iftomm.point_pendulum(2.0, 0.5)
    found = plant.diagnose(plant.assemble(y=0.1))
    assert (found.rows, found.rank, found.dof) == (1, 1, 1) and plant.closure_error([-0.5, 0.0]) < 1e-16
    one = iftomm.pendulum_problem(1.0, 10).measure("mechanism")
    two = iftomm.pendulum_problem(1.0, 10, plants.particle_on_circle()).measure("functions", rtol=1e-9, atol=1e-9)
    assert one.finished and one.largest < 1e-10 and two.largest < 1e-7
    assert one.run.max_energy_error < 5e-5  # the limit that others name


@pytest.mark.nojit_slow
def test_four_bars_pass_their_flat_poses():
    run = iftomm.four_bar_problem(2, 10.0).measure("default")
    assert run.largest < 1e-8 and run.run.max_energy_error < 1e-8
    times = [event["time"] for event in run.run.events()]
    assert times == pytest.approx(iftomm.flat_times(2, 10.0).tolist(), abs=1e-8)
    assert {event["rank"] for event in run.run.events()} == {2}  # 5 coordinates: 3 degrees of freedom there


@pytest.mark.nojit_slow
def test_the_energy_projection_shows_the_energy_of_the_run():
    """Between steps, too, and where the energy is not zero."""
    run = iftomm.four_bar_problem(2, 2.0).simulate(**settings(energy=True))
    assert run.energy.values[0] == pytest.approx(3.5 * GRAVITY + 1.5) and run.max_energy_error < 1e-7


@pytest.mark.nojit_slow
def test_bricard_follows_the_published_curve():
    run = iftomm.bricard_problem().measure("default")
    assert run.largest < 5.01e-7  # half a unit of the last printed digit
    assert len(run.problem.times) == 50 and not np.isclose(run.problem.times, 1.19992, atol=1e-4).any()


def test_cases_are_told():
    told = []
    problem = iftomm.pendulum_problem(0.1, 2)
    cases = measure.sweep(problem, ("dop853", "verner65"), (1e-4, 1e-6))
    runs = measure.measure_all(cases, told.append, "all")
    assert told == [0.25, 0.5, 0.75, 1.0] and [run.label for run in runs] == ["dop853"] * 2 + ["verner65"] * 2
    assert runs[1].largest < runs[0].largest or runs[0].largest < 1e-9
    figure = measure.work_precision({"left": runs[:2], "right": runs[2:]}, "error (m)")
    axes = figure.axes
    assert [ax.get_title(loc="left") for ax in axes] == ["left", "right"] and axes[0].get_xscale() == "log"
    shown = {text.get_text() for text in axes[-1].get_legend().get_texts()}
    assert shown == {"dop853", "verner65"}  # those of other panels, too


# -- reports ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_a02_quick(tmp_path):
    data = saved_and_drawn(papers.run("iftomm-a02", quick=True), tmp_path)
    assert max(data["error"].values()) < 1e-8 and set(data["passages"].values()) == {10}


@pytest.mark.slow
@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", ["iftomm-a01", "iftomm-a03", "iftomm-a04", "iftomm-a05"])
def test_quick_reports(name, tmp_path, monkeypatch):
    """With all their runs, but coarse ones, and of the pendulum 2 s: what is judged here is the report."""
    to, sweep, pendulum = iftomm._to, iftomm.sweep, iftomm.pendulum_problem
    monkeypatch.setattr(iftomm, "_to", lambda tolerance: to(max(tolerance, 1e-4)))
    monkeypatch.setattr(iftomm, "sweep", lambda *args: sweep(*args[:2], args[2][:1]))
    monkeypatch.setattr(iftomm, "pendulum_problem", lambda t_end, *args: pendulum(0.2 * t_end, *args))
    saved_and_drawn(papers.run(name, quick=True), tmp_path)


@pytest.mark.nojit_slow
def test_andrews_to_thirty_digits():
    problem, given = iftomm.squeezer_problem()
    values, relative = iftomm._end_values(problem.measure("default"), given)
    assert len(values) == 27 and relative["positions"] < 1e-11
    assert max(relative["velocities"], relative["accelerations"], relative["multipliers"]) < 1e-9
    # the published digits are the worse ones
    assert sum(ours < theirs for *_, ours, theirs in values) == 27


# -- what must be shown -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.nojit_slow
@pytest.mark.parametrize("n", [2, 10, 40])
def test_n_four_bars_for_twenty_seconds(n):
    run = iftomm.four_bar_problem(n, 20.0).measure("default")
    assert run.largest < 1e-7 and run.run.max_energy_error < 1e-7 and run.run.max_drift < 1e-12
    assert len(run.run.events()) == len(iftomm.flat_times(n, 20.0)) == 20


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_bricard_keeps_its_energy_for_a_hundred_seconds():
    plant, q0, v0 = plants.catalogue["bricard"].start()
    run = cmb.simulate(plant, None, q0, v0, t_end=100.0, output_times=0.01)
    assert run.max_energy_error < 1e-9 and run.max_drift < 1e-12


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_the_pendulum_for_a_hundred_seconds():
    run = iftomm.pendulum_problem(100.0).measure("default")
    assert run.largest < 1e-8 and run.run.max_energy_error < 1e-8


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_the_governor_for_ten_seconds():
    problem = iftomm.governor_problem(10.0)
    explicit, implicit = problem.measure("default"), problem.measure("radau", method="radau", rtol=1e-5, atol=1e-5)
    assert explicit.largest < 1e-11 and implicit.largest < 1e-4
    assert 20 * implicit.cost < explicit.cost
    points = measure.curve("iftomm_a05_s.csv")
    at = np.round(100 * points[:, 0]).astype(int)
    assert np.abs(problem.observe(explicit.run)[at, 0] - points[:, 1]).max() < 1.3e-6
