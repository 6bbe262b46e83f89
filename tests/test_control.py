"""Projected inverse dynamics: the error obeys e'' + G_D e' + G_P e = 0 (Aghili, Theorem 4)."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import controllers, plants
from cmbcontrol.controllers import Controller, Evaluation


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


class TestRefusals:
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


class TestProtocol:
    def test_a_plain_class_with_a_continuous_state(self):
        class Integrator(Controller):
            """Torque that grows with the integral of the angle."""

            def start(self, plant):
                return np.zeros(1)

            def _derivative(self, t, terms, state):
                return [terms.q[0]]

            def evaluate(self, t, terms, state):
                return Evaluation(self._effort(t, terms, state), self._derivative(t, terms, state))

            def _effort(self, t, terms, state):
                return [-5.0 * terms.q[0] - 2.0 * terms.v[0] - 3.0 * state[0]]

        rod = cmb.Body.rod("rod", 1.0, 1.0)
        plant = cmb.Mechanism(
            "arm", [rod], [cmb.Revolute("a", "ground", "rod")], actuators=[cmb.Actuator("a")], gravity=(0, 0, 0)
        )
        run = cmb.simulate(plant, Integrator(), [0.5], t_end=2.0, rtol=1e-10, atol=1e-10)
        inertia = 1.0 / 3.0
        system = np.array([[0, 1, 0], [-5 / inertia, -2 / inertia, -3 / inertia], [1, 0, 0]])
        w, U = np.linalg.eig(system)
        exact = (U @ np.diag(np.exp(w * 2.0)) @ np.linalg.solve(U, [0.5, 0, 0])).real[0]
        assert run.q.values[-1, 0] == pytest.approx(exact, abs=1e-8)

    def test_a_sampled_class_with_state_is_called_once_a_period(self):
        class Counter(Controller):
            period = 0.01
            calls = 0

            def start(self, plant):
                return np.zeros(1)

            def _update(self, t, terms, state):
                return state + 1.0

            def evaluate(self, t, terms, state):
                return Evaluation(self._effort(t, terms, state), self._update(t, terms, state))

            def _effort(self, t, terms, state):
                type(self).calls += 1
                return [state[0]]

        rod = cmb.Body.rod("rod", 1.0, 1.0)
        plant = cmb.Mechanism(
            "arm", [rod], [cmb.Revolute("a", "ground", "rod")], actuators=[cmb.Actuator("a")], gravity=(0, 0, 0)
        )
        run = cmb.simulate(plant, Counter(), [0.0], t_end=0.1, output_times=[0.005, 0.015, 0.095])
        assert run.u.values[:, 0].tolist() == [0.0, 1.0, 9.0]
        assert Counter.calls == 11  # ten periods, and the look at the start


class TestReferences:
    @pytest.mark.parametrize(
        "reference",
        [
            cmb.Constant([1.0, 2.0]),
            cmb.Sine([1.0, 2.0], [0.1, 0.2], 0.7, [0.0, 1.0]),
            cmb.Quintic([0.0, 1.0], [1.0, -1.0], duration=2.0),
            cmb.Spline([0.0, 1.0, 2.0, 3.0], [[0.0, 1.0], [1.0, 0.0], [0.5, 2.0], [0.0, 0.0]]),
        ],
        ids=lambda r: type(r).__name__,
    )
    def test_rates_are_derivatives(self, reference):
        for t in (0.3, 0.9, 1.7):
            h = 1e-5
            (a, da, _), (b, db, _) = reference(t - h), reference(t + h)
            _, rate, acceleration = reference(t)
            assert (b - a) / (2 * h) == pytest.approx(rate, abs=1e-6)
            assert (db - da) / (2 * h) == pytest.approx(acceleration, abs=1e-5)

    def test_quintic_rests_at_both_ends(self):
        r = cmb.Quintic([0.0], [1.0], duration=2.0, begin=1.0)
        for t, x in ((0.0, 0.0), (1.0, 0.0), (3.0, 1.0), (9.0, 1.0)):
            assert [float(part[0]) for part in r(t)] == [x, 0.0, 0.0]

    def test_bad_references(self):
        with pytest.raises(ValueError, match="contradict"):
            cmb.Sine([1.0, 2.0], [1.0, 2.0, 3.0], 1.0)
        with pytest.raises(ValueError, match="duration"):
            cmb.Quintic([0.0], [1.0], duration=0.0)
        with pytest.raises(ValueError, match="must increase"):
            cmb.Spline([0.0, 0.0], [[1.0], [2.0]])
        with pytest.raises(ValueError, match="finite"):
            cmb.Constant([np.nan])
