"""Accuracy through singular configurations: the default run against exact motions, symmetry and energy."""

import importlib

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol._progress import Reporter
from cmbcontrol.controllers import Controller
from cmbcontrol.controllers.controller import as_controller
from cmbcontrol.kernels import motion, passages, runge_kutta
from cmbcontrol.model.terms import RANK_TOLERANCE
from cmbcontrol.papers.methods import settings, verner65
from cmbcontrol.sim.control import Control
from cmbcontrol.sim.engine import Engine
from cmbcontrol.sim.run import IntegratorState, Run
from cmbcontrol.sim.tableaux import tableau

pytestmark = pytest.mark.nojit_slow  # whole runs

five_bar, parallelogram = (importlib.import_module(f"cmbcontrol.plants.{n}") for n in ("five_bar", "parallelogram"))

PASSAGES = (0.6508151, 1.8537910, 3.9097805)  # of Spencer's second example, s


def asymmetry(run):
    """How far the five-bar is from mirror symmetry over time, rad."""
    q = run.q.values
    left, right = q[:, 0] + q[:, 2] - np.pi, q.sum(axis=1) - np.pi
    return np.maximum(np.abs(left), np.abs(right))


def start_near(plant, turned=0.0):
    """Spencer's second start, with both driven links turned the same way: not symmetric any more."""
    q = five_bar.pose(plant, "second")
    return plant.close(q + np.array([turned, 0.0, turned, 0.0]), accuracy=1e-16)


def engine(plant, q, v):
    """Of a run with projection at default tolerances, and its first state."""
    options = motion.Options(
        1e-11, 1e-11, np.inf, 1000, 1.0, RANK_TOLERANCE, plant.generic_rank(q), 1.0, 1e-15, 1e-4
    )  # fmt: skip
    x = np.concatenate([q, v, [0.0, 0.0]])
    run = Run(plant, Control(plant, as_controller(None, plant)), options, "dop853", 1.0, 1000, Reporter(False, ""))
    return Engine(run, IntegratorState(0.0, x, 1e-3)), x


class TestFiveBar:
    @pytest.mark.parametrize("case", ["singular", "second"])
    def test_symmetry_and_energy(self, case):
        """Rounding alone leaves some 2e-6 rad at 5 s: see `test_what_passages_do_to_a_perturbation`."""
        plant = plants.five_bar()
        run = cmb.simulate(plant, q0=five_bar.pose(plant, case), t_end=5.0, output_times=0.002)
        assert asymmetry(run).max() < 3e-5
        assert asymmetry(run)[run.time < 2.7].max() < 1e-9
        assert run.max_energy_error < 1e-8
        assert run.max_drift < 1e-14
        times = [e["time"] for e in run.events()]
        assert times == pytest.approx((0.0, 2.82536846) if case == "singular" else PASSAGES, abs=2e-6)

    def test_what_passages_do_to_a_perturbation(self):
        """A turn of 1e-13 rad grows some thousandfold a swing, whatever is done about rounding."""
        plant = plants.five_bar()
        run = cmb.simulate(plant, q0=start_near(plant, 1e-12), t_end=3.85, output_times=[0.6, 1.8, 3.8])
        grown = asymmetry(run) / 2.4e-12
        assert grown[0] < 4.0
        assert 2e3 < grown[1] < 2e4
        assert 2e6 < grown[2] < 2e7

    @pytest.mark.parametrize("turned", [-4e-16, 4e-16, 1e-14, 1e-13])
    def test_passages_of_starts_that_are_nearly_symmetric(self, turned):
        plant = plants.five_bar()
        run = cmb.simulate(plant, q0=start_near(plant, turned), t_end=4.2, output_times=0.02)
        assert [e["time"] for e in run.events()] == pytest.approx(PASSAGES, abs=1e-5)
        assert run.max_energy_error < 1e-7
        assert asymmetry(run).max() < 1e-3

    @pytest.mark.nojit_slow
    @pytest.mark.parametrize("end", [PASSAGES[0] - 1e-3, PASSAGES[0], PASSAGES[0] + 1e-9, PASSAGES[0] + 1e-4, 0.66])
    def test_runs_may_end_anywhere_near_the_pose(self, end):
        plant = plants.five_bar()
        run = cmb.simulate(plant, q0=five_bar.pose(plant, "second"), t_end=end, output_times=[end])
        assert run.time[-1] == end and run.max_energy_error < 1e-6
        assert asymmetry(run).max() < 1e-9

    @pytest.mark.parametrize(("method", "tolerance"), [("dop853", 1e-7), ("verner65", 1e-9)])
    def test_other_methods_and_tolerances(self, method, tolerance):
        plant = plants.five_bar()
        q0 = five_bar.pose(plant, "second")
        run = cmb.simulate(
            plant, q0=q0, t_end=4.2, rtol=tolerance, atol=tolerance, output_times=0.02, **settings(method=method)
        )
        assert [e["time"] for e in run.events()] == pytest.approx(PASSAGES, abs=1e-4)
        assert asymmetry(run).max() < 1e-4

    def test_output_within_the_step_across(self):
        plant = plants.five_bar()
        q0 = five_bar.pose(plant, "second")
        times = np.linspace(0.63, 0.68, 201)
        run = cmb.simulate(plant, q0=q0, t_end=0.7, output_times=times)
        fine = cmb.simulate(plant, q0=q0, t_end=0.7, output_times=times, **settings(max_step=3e-3))
        away = np.abs(times - PASSAGES[0]) > 1e-3  # nearer, closing the loops divides by the distance
        assert np.abs(run.q.values - fine.q.values)[away].max() < 1e-9
        assert np.abs(run.v.values - fine.v.values)[away].max() < 1e-7


@pytest.mark.nojit_slow
class TestDeFalco:
    @pytest.mark.parametrize("degrees", [60.0, -30.0])
    @pytest.mark.parametrize(("tolerance", "allowed"), [(1e-6, 1e-5), (1e-8, 1e-7), (1e-10, 1e-9), (None, 1e-9)])
    def test_against_the_quadrature(self, degrees, tolerance, allowed):
        """From 60 degrees the linkage passes its flat poses 24 times in 20 s."""
        plant = plants.parallelogram()
        chosen = {} if tolerance is None else {"rtol": tolerance, "atol": tolerance}
        start = parallelogram.pose(np.radians(degrees))
        run = cmb.simulate(plant, q0=start, t_end=20.0, output_times=0.05, **settings(**chosen))
        exact = solve_ivp(
            lambda t, y: [y[1], -34.335 / 3.05 * np.cos(y[0])],
            (0.0, 20.0),
            [np.radians(degrees), 0.0],
            method="DOP853",
            rtol=3e-14,
            atol=1e-14,
            t_eval=run.time,
        ).y[0]
        q = run.q.values
        assert np.abs(q[:, [2, 5, 8]] - exact[:, None]).max() < allowed
        assert np.abs(q[:, 11]).max() < 1e-10  # the coupler stays level
        assert max(float(np.sum(plant.residual(x) ** 2)) for x in q) < 1e-24
        assert run.data.attrs["evaluations"] <= 50_000
        assert len(run.events()) == (24 if degrees > 0.0 else 0)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-8])
def test_energy_of_the_interpreted_loop(tolerance):
    """A law in continuous time on a plant given by functions, through three singular configurations."""
    plant = plants.slider_crank()
    q0 = plant.close([1.2, -2.4])
    v0 = plant.project_velocity(q0, [3.0, -6.0])
    run = cmb.simulate(
        plant, lambda t, terms, state: [2.0 * np.cos(t)], q0, v0, t_end=2.5, rtol=tolerance, atol=tolerance
    )
    assert sum(e["kind"] == "singular passage" for e in run.events()) >= 3
    assert run.max_energy_error < 20.0 * tolerance
    assert np.abs(run.q.values @ [2.0, 1.0]).max() < 1e-10  # the slider slides all the time


class TestPieces:
    def test_rates_do_not_depend_on_how_the_loops_are_written(self):
        """Off the loops a row along axes of body a and one along axes of body b differ in first order."""
        plant = plants.five_bar()
        (tip,) = plant.loops
        swapped = cmb.Mechanism(
            "swapped",
            plant.bodies,
            plant.joints,
            [cmb.PointOnLine("tip", tip.b, tip.a, tip.point_b, tip.point_a)],
            gravity=(0.0, -9.81, 0.0),
        )
        q = five_bar.pose(plant, "asymmetric") + 1e-6 * np.array([1.0, -2.0, 0.5, 3.0])
        v = plant.project_velocity(q, [1.0, 2.0, 3.0, 4.0])
        rates = []
        for machine in (plant, swapped):
            stands, x = engine(machine, q, v)
            rates.append(stands.derivative(0.0, x))
        assert np.abs(rates[0] - rates[1]).max() < 1e-9

    def test_the_digits_that_a_state_cannot_hold_are_kept(self):
        x, low = np.array([np.pi, 1.0]), np.zeros(2)
        K, one = np.array([[1.0, -1.0]]), np.ones(1)
        for _ in range(1000):
            out, lost = np.empty(2), np.empty(2)
            runge_kutta.step_from(x, low, K, one, 1, 1e-17, out, lost)
            x, low = out, lost
        assert x + low == pytest.approx([np.pi + 1e-14, 1.0 - 1e-14], abs=1e-15)
        assert (x - [np.pi, 1.0] + low) == pytest.approx([1e-14, -1e-14], rel=1e-6)

    @pytest.mark.parametrize("method", ["dop853", "verner65"])
    def test_a_step_across_has_no_stage_near_the_pose(self, method):
        method = verner65() if method == "verner65" else tableau(method)
        gap = runge_kutta.widest_gap(method)
        assert np.abs(np.concatenate([method.c, method.c_extra]) - gap).min() > 0.1

    def test_plan(self):
        gap = 0.47
        assert passages.plan(0.047, gap, 0.2, 0.05, 1.0) == (pytest.approx(0.1), True)
        step, across = passages.plan(0.08, gap, 0.1, 0.05, 1.0)  # as near as the next one needs
        assert not across and 0.08 - step == pytest.approx(gap * 0.1)
        step, across = passages.plan(0.047, gap, 0.2, 0.05, 0.06)  # no room for it: the step after this one fits
        assert not across and (0.047 - step) / gap == pytest.approx(0.06 - step)
        assert passages.plan(0.047, gap, 0.2, 0.05, 0.048) == (0.048, True)  # the end is just beyond
        assert passages.plan(0.047, gap, 0.2, 0.05, 0.04) == (0.2, False)  # and here before the pose
        assert passages.plan(np.inf, gap, 0.2, 0.5, 1.0) == (0.2, False)


class Idle(Controller):
    """A sampled law that does nothing: it only makes the steps short."""

    def __init__(self, period):
        self.period = period

    def effort(self, t, terms, state):
        return [0.0, 0.0]


class TestShortSteps:
    """Spencer's second example where samples or a limit put the stages next to the singular configuration."""

    def passes(self, t_end, law=None, **options):
        plant = plants.five_bar()
        run = cmb.simulate(
            plant, law, five_bar.pose(plant, "second"), t_end=t_end, **settings(max_steps=20_000, **options)
        )
        expected = [t for t in (0.6508151, 1.8537910, 3.9097805) if t < t_end]
        assert [event["time"] for event in run.events()] == pytest.approx(expected, abs=1e-5)
        assert run.max_energy_error < 1e-8
        assert np.abs(run.q.values[:, 0] + run.q.values[:, 2] - np.pi).max() < 1e-3

    @pytest.mark.parametrize("period", [1e-3, 4e-3, 2e-2, 5e-2])
    def test_samples(self, period):
        self.passes(2.0 if period < 2e-3 else 5.0, Idle(period))

    @pytest.mark.parametrize("max_step", [1e-3, 2e-3, 4e-3, 8e-3])
    def test_limits(self, max_step):
        self.passes(5.0, max_step=max_step)

    @pytest.mark.parametrize("max_step", [4e-3, np.inf])
    def test_laws_in_continuous_time(self, max_step):
        self.passes(2.0, lambda t, terms, state: [0.0, 0.0], max_step=max_step)

    def test_a_formulation_by_name_with_samples(self):
        self.passes(2.0, Idle(4e-3), formulation="aghili")

    def test_a_small_tolerance(self):
        self.passes(5.0, rtol=1e-13, atol=1e-13)
