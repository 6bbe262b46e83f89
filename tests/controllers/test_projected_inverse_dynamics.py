"""Motion control: the error obeys e'' + G_D e' + G_P e = 0 (Aghili, Theorem 4), with the smallest efforts."""

import functools
from dataclasses import replace

import cvxpy
import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import closed_loop_equilibrium, controllers, linearize_closed_loop, plants
from cmbcontrol.controllers import Coordinates, PointTask, ProjectedInverseDynamics, WithModel
from cmbcontrol.controllers.projected_inverse_dynamics import largest_scale
from cmbcontrol.dynamics.forces import motor_effort
from tests.fixtures import accelerated, open_arm, random_terms


def tracking(plant, **options):
    """A law that tracks sines on the five-bar's two motors."""
    reference = cmb.Sine([2.1, 1.0], [0.3, 0.2], [0.5, 0.7])
    return controllers.ProjectedInverseDynamics(plant, ("left", "right"), reference, **options)


def start(plant, offset=0.05):
    """A start off the reference, with its velocity on the loops."""
    return plant.assemble(left=2.1 + offset, right=1.0 - offset)


class TestTracking:
    @pytest.mark.nojit_slow
    def test_the_error_decays_as_the_gains_say(self):
        plant = plants.five_bar()
        law = tracking(plant, kp=[40.0, 40.0], kd=[14.0, 14.0])  # poles -4 and -10
        run = cmb.simulate(plant, law, start(plant), t_end=3.0, rtol=1e-9, atol=1e-9)
        error = (run.reference.values - run.q.values[:, [0, 2]])[:, 0]
        late = (run.time > 1.5) & (run.time < 2.8)
        slope = np.polyfit(run.time[late], np.log(np.abs(error[late])), 1)[0]
        assert slope == pytest.approx(-4.0, rel=0.01)
        assert run.max_drift < 1e-12
        assert run.max_energy_error < 1e-6
        assert np.abs(run.constraint_power.values).max() < 1e-9

    def test_theorem_4_exactly(self):
        plant = plants.five_bar()
        law = tracking(plant, bandwidth=8.0, damping_ratio=0.7)
        run = cmb.simulate(plant, law, start(plant), t_end=1.0, rtol=1e-10, atol=1e-10)
        e0 = run.reference.values[0, 0] - run.q.values[0, 0]
        de0 = law.reference(0.0)[1][0] - run.v.values[0, 0]
        w, z, t = 8.0, 0.7, run.time
        wd = w * np.sqrt(1 - z * z)
        exact = np.exp(-z * w * t) * (e0 * np.cos(wd * t) + (de0 + z * w * e0) / wd * np.sin(wd * t))
        assert np.abs(run.reference.values[:, 0] - run.q.values[:, 0] - exact).max() < 1e-8

    @pytest.mark.nojit_slow
    def test_sampled_at_one_kilohertz(self):
        plant = plants.five_bar()
        law = tracking(plant, bandwidth=8.0, period=1e-3)
        run = cmb.simulate(plant, law, start(plant), t_end=0.5, rtol=1e-8, atol=1e-8)
        assert np.abs(np.diff(run.u.values, axis=0)).max() < 5.0
        error = run.reference.values - run.q.values[:, [0, 2]]
        assert np.abs(error[-1]).max() < 0.25 * np.abs(error[0]).max()
        assert run.max_energy_error < 1e-8

    def test_redundant_closure_needs_the_same_torque(self):
        q = start(plants.five_bar())
        efforts = []
        for closure in ("line", "revolute"):
            plant = plants.five_bar(closure=closure)
            law = tracking(plant, bandwidth=8.0)
            efforts.append(law(0.0, plant.terms(q, np.zeros(4)), law.start(plant)))
        assert efforts[0] == pytest.approx(efforts[1], abs=1e-9)


class TestArguments:
    def test_under_actuated_plant(self):
        base = plants.five_bar()
        plant = cmb.Mechanism(
            "one-motor", base.bodies, base.joints, base.loops, actuators=[cmb.Actuator("left")], gravity=base.gravity
        )
        with pytest.raises(cmb.errors.ActuationError, match=r"under-actuated.*1 of 2"):
            tracking(plant, bandwidth=8.0)

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            (dict(), TypeError, "either bandwidth"),
            (dict(bandwidth=8.0, kp=1.0), TypeError, "either bandwidth"),
            (dict(kp=1.0), TypeError, "go together"),
            (dict(bandwidth=-1.0), ValueError, "> 0"),
            (dict(bandwidth=8.0, period=0.0), ValueError, "period"),
            (dict(bandwidth=8.0, gain=1.0), TypeError, "gain"),
        ],
    )
    def test_bad_gains(self, options, error, message):
        with pytest.raises(error, match=message):
            tracking(plants.five_bar(), **options)

    def test_bad_coordinates_and_references(self):
        plant = plants.five_bar()
        make = controllers.ProjectedInverseDynamics
        with pytest.raises(ValueError, match="did you mean 'left'"):
            make(plant, ("lefft", "right"), cmb.Constant([1.0, 1.0]), bandwidth=8.0)
        with pytest.raises(ValueError, match="2 degrees of freedom"):
            make(plant, ("left",), cmb.Constant([1.0]), bandwidth=8.0)
        with pytest.raises(ValueError, match=r"shape \(2,\)"):
            make(plant, ("left", "right"), cmb.Constant([1.0]), bandwidth=8.0)
        with pytest.raises(TypeError, match="callable"):
            make(plant, ("left", "right"), [1.0, 2.0], bandwidth=8.0)
        with pytest.raises(ValueError, match="all different"):
            make(plant, ("left", "left"), cmb.Constant([1.0, 1.0]), bandwidth=8.0)

    def test_another_plant(self):
        law = tracking(plants.five_bar(), bandwidth=8.0)
        with pytest.raises(ValueError, match="was made for"):
            law.start(plants.parallel_four_bar())


MACHINES = ("five-bar", "slider-crank", "delta", "stewart")


def studied(name, off=0.0, **options):
    """A plant of the catalogue, a law for its study, and a start that is `off` amplitudes beside the reference."""
    entry = plants.catalogue[name]
    plant, q, v = entry.start()
    study = entry.study
    reference = cmb.Sine(study.centre, study.amplitude, study.frequency_hz, study.phase)
    law = ProjectedInverseDynamics(plant, study.coordinates, reference, **({"bandwidth": 8.0} | options))
    wanted = reference(0.0)[0] + off * np.array(study.amplitude) * (1.0 + 0.3 * np.arange(len(study.coordinates)))
    q = plant.assemble(guess=q, **dict(zip(study.coordinates, wanted, strict=True)))
    return plant, law, q, v


def errors(plant, law, run):
    """e, e' and e'' (times, k) of a run, from its positions, velocities and accelerations."""
    i = [plant.position_names.index(n) for n in law.coordinates]
    j = [plant.velocity_names.index(n) for n in law.coordinates]
    wanted = [np.array(x) for x in zip(*(law.reference(t) for t in run.time), strict=True)]
    return wanted[0] - run.q.values[:, i], wanted[1] - run.v.values[:, j], wanted[2] - run.a.values[:, j]


def decay(t, e0, rate0, w, z):
    """The solution of e'' + 2 z w e' + w^2 e = 0, z < 1."""
    wd = w * np.sqrt(1.0 - z * z)
    swing = e0 * np.cos(wd * t)[:, None] + (rate0 + z * w * e0) / wd * np.sin(wd * t)[:, None]
    return np.exp(-z * w * t)[:, None] * swing


class TestTheorem4:
    @pytest.mark.parametrize("name", MACHINES)
    @pytest.mark.nojit_slow
    def test_in_simulation(self, name):
        plant, law, q, v = studied(name, off=0.5, bandwidth=8.0, damping_ratio=0.7)
        run = cmb.simulate(plant, law, q, v, t_end=0.4, output_times=0.02, rtol=1e-9, atol=1e-9)
        e, rate, second = errors(plant, law, run)
        scale = np.abs(e[0]).max()
        assert np.abs(e - decay(run.time, e[0], rate[0], 8.0, 0.7)).max() < 1e-6 * scale
        assert np.abs(second + 11.2 * rate + 64.0 * e).max() < 1e-6 * 64.0 * scale

    @pytest.mark.nojit_slow
    def test_with_full_gain_matrices(self):
        kp, kd = np.array([[40.0, 6.0], [2.0, 30.0]]), np.array([[12.0, 1.0], [-1.0, 10.0]])
        plant, law, q, _ = studied("five-bar", off=0.3, bandwidth=None, kp=kp, kd=kd)
        run = cmb.simulate(plant, law, q, t_end=0.5, output_times=0.05, rtol=1e-9, atol=1e-9)
        e, rate, second = errors(plant, law, run)
        system = np.block([[np.zeros((2, 2)), np.eye(2)], [-kp, -kd]])
        values, vectors = np.linalg.eig(system)
        start = np.linalg.solve(vectors, np.concatenate([e[0], rate[0]]))
        exact = (vectors @ (np.exp(np.outer(values, run.time)) * start[:, None])).real[:2].T
        assert np.abs(e - exact).max() < 1e-6 * np.abs(e[0]).max()
        assert np.abs(second + rate @ kd.T + e @ kp.T).max() < 1e-6 * 40.0 * np.abs(e[0]).max()

    @pytest.mark.parametrize("name", MACHINES)
    @pytest.mark.nojit_slow
    def test_sampled_at_one_kilohertz_as_the_sampled_theory_says(self, name):
        """The linear model of the sampled loop gives the error to rounding; what is left falls with its square.

        The odd part of two runs from either side of the reference has no even terms, so that the remainder is of the
        third order: relative to the start, of the order of its square.
        """
        entry = plants.catalogue[name]
        plant, q0, v0 = entry.start()
        names = entry.study.coordinates
        hold = cmb.Constant([q0[plant.position_names.index(n)] for n in names])
        law = ProjectedInverseDynamics(plant, names, hold, bandwidth=8.0, damping_ratio=0.7, period=1e-3)
        loop = linearize_closed_loop(plant, law, q0)
        k, size = len(names), 1e-4
        push = size * np.array(entry.study.amplitude) * (1.0 + 0.3 * np.arange(k))
        runs = []
        for side in (1.0, -1.0):
            at = dict(zip(names, hold.position + side * push, strict=True))
            q = plant.assemble(guess=q0, **at)
            run = cmb.simulate(plant, law, q, v0, t_end=0.03, output_times=1e-3, rtol=1e-12, atol=1e-14)
            runs.append(errors(plant, law, run)[0])
        odd = 0.5 * (runs[1] - runs[0])  # of y - y_d
        state = np.concatenate([push, np.zeros(k)])
        for wanted in odd:
            assert np.abs(wanted - state[:k]).max() < 1e-6 * np.abs(push).max()
            state = loop.A @ state
        # and this theory is as far from the continuous one as half a sample of delay
        poles = loop.continuous_poles()
        exact = -5.6 + 8.0 * np.sqrt(1.0 - 0.49) * np.array([-1j, 1j])
        assert max(np.abs(poles - p).min() for p in exact) < 8.0**2 * 1e-3

    @pytest.mark.nojit_slow
    def test_sampled_runs_approach_the_continuous_equation_with_the_period(self):
        distance = []
        for period in (4e-3, 2e-3, 1e-3):
            plant, law, q, v = studied("five-bar", off=0.3, damping_ratio=0.7, period=period)
            run = cmb.simulate(plant, law, q, v, t_end=0.4, output_times=0.02, rtol=1e-9, atol=1e-9)
            e, rate, _ = errors(plant, law, run)
            distance.append(np.abs(e - decay(run.time, e[0], rate[0], 8.0, 0.7)).max())
        assert distance[0] / distance[1] == pytest.approx(2.0, abs=0.05)
        assert distance[1] / distance[2] == pytest.approx(2.0, abs=0.05)
        assert distance[2] < 8.0 * 1e-3 * np.abs(e[0]).max()

    def test_redundant_rows_change_nothing(self):
        efforts = []
        for closure in ("line", "revolute"):
            plant = plants.five_bar(closure=closure)
            reference = cmb.Sine([2.1, 1.0], [0.3, 0.2], [0.5, 0.7])
            law = ProjectedInverseDynamics(plant, ("left", "right"), reference, bandwidth=8.0)
            terms = random_terms(plant, plant.assemble(left=2.15, right=0.95))
            efforts.append(law(0.3, terms, law.start(plant)))
        assert efforts[0] == pytest.approx(efforts[1], abs=1e-9)

    @pytest.mark.parametrize("name", [*MACHINES, "two-arms", "three-rrr", "loader"])
    def test_the_force_is_that_of_the_paper(self, name):
        """B u is h_parallel + P M u_p in the admissible directions, and u_p satisfies the loops."""
        plant, law, q, _ = studied(name, off=0.2)
        terms = random_terms(plant, q)
        u_p = law.desired_acceleration(0.3, terms)
        assert terms.A @ u_p == pytest.approx(-terms.b, abs=1e-9 * (1.0 + np.abs(terms.b).max()))
        f = terms.B @ law(0.3, terms, law.start(plant))
        wanted = terms.P @ (terms.h + terms.M @ u_p)
        assert terms.P @ f == pytest.approx(wanted, abs=1e-9 * np.abs(wanted).max())


class TestSmallestEffort:
    @pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
    @pytest.mark.parametrize("name", ["two-arms", "stewart", "particle", "slider-crank", "delta"])
    def test_against_cvxpy(self, name, weighted):
        plant, law, q, _ = studied(name, off=0.3)
        if name == "slider-crank":
            plant = plants.slider_crank(actuated=("q1", "q2"))
        rng = np.random.default_rng(1)
        root = rng.standard_normal((plant.nu, plant.nu)) + 3.0 * np.eye(plant.nu) if weighted else np.eye(plant.nu)
        W = root @ root.T
        law = ProjectedInverseDynamics(plant, law.coordinates, law.reference, bandwidth=8.0, weight=W)
        terms = random_terms(plant, q)
        found = law(0.3, terms, law.start(plant))
        need = terms.Z.T @ (terms.M @ law.desired_acceleration(0.3, terms) + terms.h)
        u = cvxpy.Variable(plant.nu)
        problem = cvxpy.Problem(
            cvxpy.Minimize(cvxpy.sum_squares(np.linalg.inv(root) @ u)), [terms.Z.T @ terms.B @ u == need]
        )
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
        assert found == pytest.approx(u.value, abs=1e-6 * np.abs(found).max())

    def test_every_other_effort_for_the_same_motion_is_larger(self):
        plant, law, q, _ = studied("two-arms", off=0.3)
        terms = random_terms(plant, q)
        u = law(0.3, terms, law.start(plant))
        none = np.linalg.svd(terms.Z.T @ terms.B)[2][terms.dof :]
        assert len(none) == 3
        for other in np.random.default_rng(0).standard_normal((20, 3)) @ none:
            assert accelerated(terms, u + other) == pytest.approx(accelerated(terms, u), abs=1e-9)
            assert np.linalg.norm(u + other) > np.linalg.norm(u)

    def test_nearest_efforts_where_motors_are_missing(self):
        """The same as a pseudoinverse; the verdict and what is missing are found when they are asked for."""
        plant = plants.slider_crank(actuated=())
        q = plant.assemble(guess={"q1": 0.5, "q2": -1.0}, q1=0.5)
        terms = plant.terms(q, np.zeros(2))
        found = motor_effort(terms, np.zeros(2), strict=False)
        assert found.u.shape == (0,) and found.actuation.verdict == "under-actuated"
        assert found.residual == pytest.approx(terms.P @ terms.h)
        with pytest.raises(cmb.errors.ActuationError, match="0 of 1 degrees of freedom"):
            motor_effort(terms, np.zeros(2))

    def test_a_weight_must_be_symmetric(self):
        terms = random_terms(plants.five_bar(), plants.five_bar().assemble(left=2.1, right=1.0))
        with pytest.raises(ValueError, match="symmetric"):
            motor_effort(terms, np.zeros(4), [[1.0, 0.5], [0.0, 1.0]])


def tip(plant, axes="xy"):
    return PointTask(plant, "left_upper", (1.5, 0.0, 0.0), axes=axes)


class TestSaturation:
    def law(self, effort, saturation, **options):
        plant = plants.five_bar(effort=effort)
        reference = cmb.Constant([1.6, 1.3])
        law = ProjectedInverseDynamics(plant, tip(plant), reference, bandwidth=8.0, saturation=saturation, **options)
        return plant, law, random_terms(plant, plant.assemble(left=2.1, right=1.0))

    def test_scaling_keeps_the_direction(self):
        _, law, terms = self.law(60.0, "scale")
        _, free, _ = self.law(60.0, None)
        u = law(0.0, terms, np.zeros(0))
        s = law.evaluate(0.0, terms, np.zeros(0)).reported()["scale"]
        assert 0.0 < s < 1.0
        assert np.abs(u).max() == pytest.approx(60.0) and np.abs(free(0.0, terms, np.zeros(0))).max() > 100.0
        now = law.task.motion(law.reference(0.0), terms)
        wanted = now.free + law.kd @ now.rate + law.kp @ now.e
        assert now.J @ accelerated(terms, u) + now.bias == pytest.approx(s * wanted, abs=1e-8)
        assert free.evaluate(0.0, terms, np.zeros(0)).reported().keys() == {"tracking_error"}

    def test_nothing_happens_within_the_limits(self):
        _, law, terms = self.law(1e4, "scale")
        _, free, _ = self.law(1e4, None)
        assert law(0.0, terms, np.zeros(0)) == pytest.approx(free(0.0, terms, np.zeros(0)), abs=0.0)
        assert law.evaluate(0.0, terms, np.zeros(0)).reported()["scale"] == 1.0

    def test_where_holding_is_too_much_each_motor_does_what_it_can(self):
        _, law, terms = self.law(5.0, "scale")
        assert np.abs(law(0.0, terms, np.zeros(0))) == pytest.approx([5.0, 5.0])
        assert law.evaluate(0.0, terms, np.zeros(0)).reported()["scale"] == 0.0

    def test_clipping(self):
        _, law, terms = self.law(60.0, "clip")
        _, free, _ = self.law(60.0, None)
        asked = free(0.0, terms, np.zeros(0))
        assert law(0.0, terms, np.zeros(0)) == pytest.approx(np.clip(asked, -60.0, 60.0))
        assert law.evaluate(0.0, terms, np.zeros(0)).reported()["scale"] == pytest.approx(60.0 / np.abs(asked).max())

    def test_limits_of_ones_own(self):
        _, law, terms = self.law(np.inf, "clip", limits=[30.0, np.inf])
        u = law(0.0, terms, np.zeros(0))
        assert abs(u[0]) <= 30.0

    def test_refusals(self):
        with pytest.raises(ValueError, match="no motor of 'five-bar' has a limit"):
            self.law(np.inf, "scale")
        with pytest.raises(ValueError, match="did you mean 'clip'"):
            self.law(5.0, "clipp")
        with pytest.raises(TypeError, match="limits are for saturation"):
            self.law(5.0, None, limits=[1.0, 1.0])
        with pytest.raises(ValueError, match="limits must be 2 numbers > 0"):
            self.law(5.0, "clip", limits=[1.0, -1.0])


class TestWithTheOtherTools:
    def test_the_linear_model_of_a_loop_with_a_task(self):
        plant = plants.five_bar()
        q = plant.assemble(left=2.1, right=1.0)
        goal = cmb.Constant(tip(plant).value(plant.terms(q, np.zeros(4))))
        law = ProjectedInverseDynamics(plant, tip(plant), goal, kp=[40.0, 80.0], kd=[14.0, 18.0])
        loop = linearize_closed_loop(plant, law, q)
        assert loop.poles().real == pytest.approx([-10.0, -10.0, -8.0, -4.0], abs=1e-6)
        assert loop.point.q == pytest.approx(q, abs=1e-9)
        # what the reference does: the tip follows it with unit gain
        moved = -np.linalg.solve(loop.A, loop.B[:, 2:4])
        tip_rows = (tip(plant).jacobian(plant.terms(q, np.zeros(4))) @ loop.plant.K) @ moved[:2]
        assert tip_rows == pytest.approx(np.eye(2), abs=1e-6)

    def test_a_sampled_task(self):
        plant = plants.five_bar()
        q = plant.assemble(left=2.1, right=1.0)
        goal = cmb.Constant(tip(plant).value(plant.terms(q, np.zeros(4))))
        law = ProjectedInverseDynamics(plant, tip(plant), goal, kp=[40.0, 80.0], kd=[14.0, 18.0], period=1e-3)
        poles = linearize_closed_loop(plant, law, q).continuous_poles()
        assert poles == pytest.approx([-10.0, -10.0, -8.0, -4.0], abs=0.3)

    def test_a_wrong_model(self):
        """The task of the model is computed with the model: a tip that is thought 10 cm too far out stops short."""
        plant = plants.five_bar()
        task = PointTask(plant, "left_upper", (1.6, 0.0, 0.0), axes="xy")
        q = plant.assemble(left=2.1, right=1.0)
        goal = tip(plant).value(plant.terms(q, np.zeros(4)))
        law = WithModel(plant, ProjectedInverseDynamics(plant, task, cmb.Constant(goal), bandwidth=8.0))
        rest = closed_loop_equilibrium(plant, law, q).point
        found = plant.terms(rest.q, np.zeros(4))
        assert task.value(found) == pytest.approx(goal, abs=1e-9)
        assert np.linalg.norm(tip(plant).value(found) - goal) == pytest.approx(0.1, abs=1e-9)

    @pytest.mark.nojit_slow
    def test_a_run_keeps_the_reference_of_a_task(self):
        plant = plants.five_bar()
        q = plant.assemble(left=2.1, right=1.0)
        law = ProjectedInverseDynamics(plant, tip(plant), cmb.Constant([0.55, 1.9]), bandwidth=8.0)
        run = cmb.simulate(plant, law, q, t_end=0.1, output_times=0.05)
        assert run.data["controlled"].values.tolist() == ["left_upper_x", "left_upper_y"]
        assert run.report.sel(quantity="tracking_error").values[0] == pytest.approx(
            np.linalg.norm(law.error(0.0, plant.terms(q, np.zeros(4)))[0])
        )


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            (dict(posture=lambda t, terms: terms.v), ValueError, "nothing free"),
            (dict(posture_damping=-1.0), ValueError, "posture_damping"),
            (dict(damped=0.0), ValueError, "damped"),
            (dict(damped=1.0), ValueError, "below 1"),
            (dict(posture=3.0), TypeError, "posture must be"),
            (dict(posture=(1, 2, 3)), TypeError, "got 3 items"),
            (dict(posture=lambda t, terms: terms.v, posture_damping=1.0), TypeError, "one of them"),
        ],
    )
    def test_bad_options(self, options, error, message):
        plant = plants.five_bar()
        with pytest.raises(error, match=message):
            ProjectedInverseDynamics(plant, tip(plant), cmb.Constant([0.5, 1.9]), bandwidth=8.0, **options)

    def test_too_many_or_too_few_values(self):
        plant = plants.five_bar()
        with pytest.raises(ValueError, match="consistent=True"):
            ProjectedInverseDynamics(plant, plant.velocity_names, cmb.Constant(np.zeros(4)), bandwidth=8.0)
        with pytest.raises(ValueError, match=r"2 degrees of freedom.*Coordinates"):
            ProjectedInverseDynamics(plant, ["left"], cmb.Constant([1.0]), bandwidth=8.0)
        ProjectedInverseDynamics(plant, Coordinates(plant, "left"), cmb.Constant([1.0]), bandwidth=8.0)

    def test_what_is_no_task(self):
        plant = plants.five_bar()
        with pytest.raises(TypeError, match="neither names of coordinates nor a task"):
            ProjectedInverseDynamics(plant, 3.0, cmb.Constant([1.0]), bandwidth=8.0)

    def test_a_posture_that_returns_something_else(self):
        plant = plants.five_bar()
        law = ProjectedInverseDynamics(
            plant, Coordinates(plant, "left"), cmb.Constant([1.0]), bandwidth=8.0, posture=lambda t, terms: [1.0]
        )
        with pytest.raises(ValueError, match="acceleration of the posture"):
            law(0.0, plant.terms(plant.assemble(left=2.1, right=1.0), np.zeros(4)), np.zeros(0))


def slider_crank(k=1.0):
    """A crank of 0.1 m, a rod of 0.3 m and a ram; `k` is the unit of length."""
    bodies = [
        cmb.Body("crank", 5.0, (0.05 * k, 0, 0), (0.1 * k * k,) * 3),
        cmb.Body("rod", 3.0, (0.15 * k, 0, 0), (0.1 * k * k,) * 3),
        cmb.Body("ram", 50.0, inertia=(1.0 * k * k,) * 3),
    ]
    joints = [
        cmb.Revolute("crank", "ground", "crank"),
        cmb.Revolute("rod", "crank", "rod", frame=cmb.Frame((0.1 * k, 0, 0))),
        cmb.Prismatic("ram", "ground", "ram", axis=(1, 0, 0)),
    ]
    pin = cmb.PointOnLine("pin", "ram", "rod", (0, 0, 0), (0.3 * k, 0, 0))
    return cmb.Mechanism(
        "slider-crank", bodies, joints, [pin], actuators=[cmb.Actuator("crank")], gravity=(0, -9.81 * k, 0)
    )


ANGLES = np.geomspace(1e-9, 0.5, 30)


@functools.cache
def beside_the_dead_centre(k):
    """The slider-crank at rest: what a law is told of it, by the angle of the crank."""
    plant = slider_crank(k)
    poses = {angle: plant.assemble(crank=angle, guess={"ram": 0.39 * k}) for angle in (0.0, *ANGLES.tolist())}
    return plant, {angle: plant.terms(q, np.zeros(3)) for angle, q in poses.items()}


class TestDamped:
    """Where a task loses its rank, efforts stay below those of the threshold and fall off beyond it."""

    @pytest.mark.parametrize("k", [1.0, 1e-3, 1e3])
    @pytest.mark.parametrize("damped", [0.01, 0.1, 0.5])
    def test_one_value_at_a_dead_centre(self, damped, k):
        plant, terms = beside_the_dead_centre(k)
        law = ProjectedInverseDynamics(plant, "ram", cmb.Constant([0.38 * k]), bandwidth=40.0, damped=damped)
        exact = ProjectedInverseDynamics(plant, "ram", cmb.Constant([0.38 * k]), bandwidth=40.0)

        def effort(made, crank):
            return made(0.0, terms[crank], made.start(plant))[0]

        weight = effort(ProjectedInverseDynamics(plant, "crank", cmb.Constant([0.0]), bandwidth=1e-9), 0.0)
        efforts = np.array([effort(law, angle) - weight for angle in ANGLES.tolist()])
        away = effort(exact, ANGLES[-1]) - weight
        assert np.abs(efforts).max() < 3.0 * abs(away) / damped
        assert np.abs(efforts[0]) < 1e-5 * abs(away) / damped
        if damped == 0.01:  # away from the dead centre the law is the exact one
            assert effort(law, ANGLES[-1]) == pytest.approx(effort(exact, ANGLES[-1]), rel=1e-12)

    def test_a_value_of_an_open_arm(self):
        """The tip of a stretched arm along itself, which loses all of its motion without loops."""
        plant = open_arm(2)
        task = controllers.FunctionTask(plant, lambda q: [0.5 * (np.cos(q[0]) + np.cos(q[0] + q[1]))], units=["m"])
        law = ProjectedInverseDynamics(plant, task, cmb.Constant([0.9]), bandwidth=10.0, damped=0.05)
        efforts = [law(0.0, plant.terms([x, -x], np.zeros(2)), law.start(plant)) for x in np.geomspace(1e-8, 0.3, 40)]
        assert np.abs(efforts).max() < 1e3
        assert np.abs(efforts[0] - efforts[1]).max() < 1e-3

    def test_two_values_that_vanish_together(self):
        plant = slider_crank()
        both = cmb.Mechanism(
            "pair",
            [replace(b, name=b.name + n) for n in "ab" for b in plant.bodies],
            [
                replace(j, name=j.name + n, child=j.child + n, parent=j.parent + n * (j.parent != "ground"))
                for n in "ab"
                for j in plant.joints
            ],
            [replace(c, name=c.name + n, a=c.a + n, b=c.b + n) for n in "ab" for c in plant.loops],
            actuators=[cmb.Actuator("cranka"), cmb.Actuator("crankb")],
            gravity=plant.gravity,
        )
        law = ProjectedInverseDynamics(both, ("rama", "ramb"), cmb.Constant([0.38] * 2), bandwidth=40.0, damped=0.1)
        for x in (0.3, 1e-2, 1e-4, 1e-6):
            q = both.assemble(cranka=x, crankb=x, guess={"rama": 0.39, "ramb": 0.39})
            assert np.abs(law(0.0, both.terms(q, np.zeros(6)), law.start(both))).max() < 5e3


@pytest.mark.parametrize(
    ("hold", "more", "limits", "expected"),
    [
        ([1.0, 2.0], [4.0, -8.0], [3.0, 4.0], 0.5),
        ([1.0, 2.0], [4.0, -8.0], [np.inf, np.inf], 1.0),
        ([1.0, 2.0], [4.0, 0.0], [3.0, 1.0], 0.0),  # not even at rest
        ([5.0, 0.0], [-8.0, 1.0], [3.0, 2.0], 1.0),  # beyond the limit at rest, within it all the way
        ([5.0, 0.0], [-1.0, 1.0], [3.0, 2.0], 0.0),
        ([0.0, 0.0], [0.0, 0.0], [3.0, 2.0], 1.0),
    ],
)
def test_the_largest_scale_within_limits(hold, more, limits, expected):
    assert largest_scale(np.array(hold), np.array(more), np.array(limits)) == expected
