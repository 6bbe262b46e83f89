"""Runs through singular configurations: exact motions, symmetry, energy; near misses and poor conditioning."""

import importlib

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol._jit import JIT_ENABLED
from cmbcontrol.controllers import Controller
from cmbcontrol.kernels import passages
from cmbcontrol.papers.methods import settings
from tests.fixtures import near_miss, symmetric_passages, symmetric_return

five_bar, parallelogram = (importlib.import_module(f"cmbcontrol.plants.{n}") for n in ("five_bar", "parallelogram"))
PASSAGES = symmetric_passages()  # of Spencer's second example, s, by quadrature


def asymmetry(run):
    """How far the five-bar is from mirror symmetry over time, rad."""
    q = run.q.values
    left, right = q[:, 0] + q[:, 2] - np.pi, q.sum(axis=1) - np.pi
    return np.maximum(np.abs(left), np.abs(right))


def start_near(plant, turned=0.0):
    """Spencer's second start, with both driven links turned the same way: not symmetric any more."""
    q = five_bar.configuration(plant, "second")
    return plant.close(q + np.array([turned, 0.0, turned, 0.0]), accuracy=1e-16)


@pytest.mark.nojit_slow
class TestFiveBar:
    @pytest.mark.parametrize("case", ["singular", "second"])
    def test_symmetry_and_energy(self, case):
        """Rounding alone leaves some 2e-6 rad at 5 s: see `test_what_passages_do_to_a_perturbation`."""
        plant = plants.five_bar()
        run = cmb.simulate(plant, q0=five_bar.configuration(plant, case), t_end=5.0, output_times=0.002)
        assert asymmetry(run).max() < 3e-5
        assert asymmetry(run)[run.time < 2.7].max() < 1e-9
        assert run.max_energy_error < 1e-8
        assert run.max_drift < 1e-14
        times = [e["time"] for e in run.events()]
        assert times == pytest.approx((0.0, symmetric_return()) if case == "singular" else PASSAGES, abs=2e-6)

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
        run = cmb.simulate(plant, q0=five_bar.configuration(plant, "second"), t_end=end, output_times=[end])
        assert run.time[-1] == end and run.max_energy_error < 1e-6
        assert asymmetry(run).max() < 1e-9

    @pytest.mark.parametrize(("method", "tolerance"), [("dop853", 1e-7), ("verner65", 1e-9)])
    def test_other_methods_and_tolerances(self, method, tolerance):
        plant = plants.five_bar()
        q0 = five_bar.configuration(plant, "second")
        run = cmb.simulate(
            plant, q0=q0, t_end=4.2, rtol=tolerance, atol=tolerance, output_times=0.02, **settings(method=method)
        )
        assert [e["time"] for e in run.events()] == pytest.approx(PASSAGES, abs=1e-4)
        assert asymmetry(run).max() < 1e-4

    def test_output_within_the_step_across(self):
        plant = plants.five_bar()
        q0 = five_bar.configuration(plant, "second")
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
        """From 60 degrees the linkage passes its flat configurations 24 times in 20 s."""
        plant = plants.parallelogram()
        chosen = {} if tolerance is None else {"rtol": tolerance, "atol": tolerance}
        start = parallelogram.configuration(np.radians(degrees))
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


@pytest.mark.nojit_slow
@pytest.mark.parametrize("tolerance", [1e-6, 1e-8])
@pytest.mark.first(1)
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


@pytest.mark.nojit_slow
class TestPieces:
    def test_plan(self):
        gap = 0.47
        assert passages.plan(0.047, gap, 0.2, 0.05, 1.0) == (pytest.approx(0.1), True)
        step, across = passages.plan(0.08, gap, 0.1, 0.05, 1.0)  # as near as the next one needs
        assert not across and 0.08 - step == pytest.approx(gap * 0.1)
        step, across = passages.plan(0.047, gap, 0.2, 0.05, 0.06)  # no room for it: the step after this one fits
        assert not across and (0.047 - step) / gap == pytest.approx(0.06 - step)
        assert passages.plan(0.047, gap, 0.2, 0.05, 0.048) == (0.048, True)  # the end is just beyond
        assert passages.plan(0.047, gap, 0.2, 0.05, 0.04) == (0.2, False)  # and here before the configuration
        assert passages.plan(np.inf, gap, 0.2, 0.5, 1.0) == (0.2, False)


class Idle(Controller):
    """A sampled law that does nothing: it only makes the steps short."""

    def __init__(self, period):
        self.period = period

    def effort(self, t, terms, state):
        return [0.0, 0.0]


@pytest.mark.nojit_slow
class TestShortSteps:
    """Spencer's second example where samples or a limit put the stages next to the singular configuration."""

    def passes(self, t_end, law=None, **options):
        plant = plants.five_bar()
        run = cmb.simulate(
            plant, law, five_bar.configuration(plant, "second"), t_end=t_end, **settings(max_steps=20_000, **options)
        )
        expected = [t for t in PASSAGES if t < t_end]
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


@pytest.mark.parametrize("closure", ["functions", "parts"])
def test_a_single_row_that_vanishes_is_a_singular_pose(closure):
    """Aghili's slider-crank is singular at q1 = pi/2, where its only row vanishes."""
    if closure == "functions":
        plant = plants.slider_crank()
    else:
        z = (0, 0, 1)
        links = [cmb.Body(n, 1.0, (1.0, 0, 0)) for n in ("crank", "rod")]
        joints = [
            cmb.Revolute("q1", "ground", "crank", axis=z),
            cmb.Revolute("q2", "crank", "rod", axis=z, frame=cmb.Frame((1.0, 0, 0))),
        ]
        loop = cmb.PointOnPlane("slider", "ground", "rod", (0, 0, 0), (1.0, 0, 0), (0, 1, 0))
        plant = cmb.Mechanism("slider-crank", links, joints, [loop], gravity=(0, -9.81, 0))
    q0 = plant.close([1.2, -2.4])
    v0 = plant.project_velocity(q0, [2.0, -4.0])
    run = cmb.simulate(plant, None, q0, v0, t_end=0.4, output_times=0.01)
    assert run.max_drift < 1e-10
    assert [e["kind"] for e in run.events()] == ["singular passage"]
    assert run.q.values[-1, 0] > np.pi / 2
    assert run.q.values[-1, 1] == pytest.approx(-2.0 * run.q.values[-1, 0], abs=1e-5)
    assert run.max_energy_error < 1e-5


@pytest.mark.nojit_slow
@pytest.mark.parametrize(("gap", "passes"), [(0.0, True), (1e-13, True), (1e-6, False), (-1e-6, False)])
def test_a_near_miss_is_no_passage(gap, passes):
    """A four-bar with a coupler longer by `gap` cannot change branch: it passes flat by about sqrt(gap)."""
    plant, q0, v0 = near_miss(gap)
    run = cmb.simulate(plant, None, q0, v0, t_end=1.0)
    stepped = cmb.simulate(plant, None, q0, v0, t_end=1.0, **settings(pass_within=0.0))
    through = np.cos(run.q.values[-1, :2].sum()) > 0.999  # the coupler stays parallel to the base
    assert through == passes
    if not passes:
        assert np.abs(run.q.values - stepped.q.values).max() < 1e-6


def two_four_bars(ratio):
    """Two machines on one ground, the second `ratio` times lighter: rows that differ so much are near at all times."""
    bodies, joints, loops, lengths = [], [], [], (1.0, 2.0, 1.0)  # parallelograms, which fold flat
    for k, mass in enumerate((1.0, 1.0 / ratio)):
        for i, length in enumerate(lengths):
            bodies.append(cmb.Body.planar(f"bar_{k}{i}", mass, 0.5 * length, mass * length**2 / 12.0))
            before, place = (f"bar_{k}{i - 1}", lengths[i - 1]) if i else ("ground", 4.0 * k)
            frame = cmb.Frame((place, 0.0, 0.0))
            joints.append(cmb.Revolute(f"joint_{k}{i}", before, bodies[-1].name, axis=(0, 0, 1), frame=frame))
        loops.append(cmb.PointOnLine(f"tip_{k}", "ground", bodies[-1].name, (4.0 * k + 2.0, 0, 0), (1.0, 0, 0)))
    return cmb.Mechanism("two four-bars", bodies, joints, loops, gravity=(0.0, 0.0, 0.0))


def four_bar_state(plant, angles, rates):
    """Both parallelograms: cranks at given angles, the couplers level."""
    q = np.concatenate([[a, -a, a - np.pi] for a in angles])
    v = np.concatenate([[w, -w, w] for w in rates])
    assert plant.closure_error(q) < 1e-12
    return q, v


def as_functions(plant, looked):
    """The same machine given by functions; configurations at which its loops are asked for alone go to `looked`."""
    rest = np.zeros(plant.nv)

    def at(q, v=rest):
        return plant.terms(q, v)

    def jacobian(q):
        looked.append(q.copy())
        return at(q).A

    return cmb.FunctionPlant(
        "twin", plant.velocity_names, M=lambda q: at(q).M, h=lambda q, v: at(q, v).h, Phi=lambda q: at(q).phi,
        A=jacobian, Adot_v=lambda q, v: at(q, v).b, B=at(plant.neutral()).B, actuators=plant.actuator_names,
        size=plant.size,
    )  # fmt: skip


@pytest.mark.nojit_slow
@pytest.mark.parametrize("rates", [(0.0, 0.0), (1e-9, 1e-9), (0.5, -0.7)], ids=["at rest", "slow", "moving"])
def test_the_search_for_singular_poses_costs_little_where_all_poses_are_near_one(rates):
    """At rest, rounding makes a minimum of every third look; each took 168 more."""
    looked = []
    plant = two_four_bars(1e4)
    q, v = four_bar_state(plant, (1.0, 1.2), rates)
    run = cmb.simulate(as_functions(plant, looked), q0=q, v0=v, t_end=0.1, output_times=0.1, **settings(max_step=2e-3))
    assert run.conditioning.values.max() < 0.1
    assert run.events() == []
    assert len(looked) < 3.0 * int(run.data.attrs["evaluations"])


def test_a_passage_of_the_lighter_machine_is_found():
    """Where the conditioning is poor at all times, and hides it until it is near."""
    plant = two_four_bars(400.0)
    q, v = four_bar_state(plant, (1.0, 0.5), (0.2, -1.0))
    run = cmb.simulate(plant, q0=q, v0=v, t_end=1.0)
    assert run.conditioning.values.max() < 0.05
    (event,) = run.events()
    assert event["kind"] == "singular passage" and event["rank"] == 3
    assert event["time"] == pytest.approx(0.5, abs=1e-6)  # a parallelogram without weight turns evenly


@pytest.mark.nojit_slow
@pytest.mark.skipif(not JIT_ENABLED, reason="code is generated where kernels are compiled")
class TestLongChains:
    """Flat configurations of many loops at once, which generated code goes through by itself."""

    @pytest.mark.first(1)
    @pytest.mark.parametrize("n", [15, 40, 75])
    def test_through_flat_configurations(self, n):
        plant, q, v = plants.catalogue["n-four-bar"].start(n=n)
        run = cmb.simulate(plant, None, q, v, t_end=3.0, limits="ignore")
        gain = 9.81 * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
        exact = solve_ivp(
            lambda t, y: [y[1], -gain * np.cos(y[0])],
            (0.0, 3.0),
            [0.5 * np.pi, -1.0],
            method="DOP853",
            rtol=1e-13,
            atol=1e-13,
            t_eval=run.time,
        ).y[0]
        assert np.abs(run.q.values[:, ::2] - exact[:, None]).max() < 1e-8
        crossings = np.count_nonzero(np.diff(np.sign(np.sin(exact))))
        assert [e["kind"] for e in run.events()] == ["singular passage"] * crossings
        counts = run.data.attrs
        if counts["machine_code"] == "generated":
            assert counts["evaluations"] - counts["evaluations_by_code"] <= 3
        assert counts["evaluations"] < 2000

    def test_kept_rows_that_are_worse_there(self):
        """Where rows are redundant the kernels choose among them: what is left out would be open by more."""
        plant = plants.parallelogram()
        run = cmb.simulate(plant, None, parallelogram.configuration(np.radians(60.0)), t_end=3.0, output_times=1e-3)
        # a part of rounding over the distance to the configuration is left; rows that were kept left 5e-13
        assert max(np.abs(plant.residual(q)).max() for q in run.q.values) < 1e-13
