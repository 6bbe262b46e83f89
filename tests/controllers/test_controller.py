"""The contract of controllers: plain classes with states, continuous and sampled."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import Controller, Evaluation


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


def test_a_law_may_have_a_name_of_its_own():
    class Plain(Controller):
        def effort(self, t, terms, state):
            return np.zeros(terms.B.shape[1])

    class Named(Plain):
        name = "damper"

    law = Plain()
    assert law.name == "Plain" and Named().name == "damper"
    law.name = "brake"
    assert law.name == "brake" and Plain().name == "Plain"
    run = cmb.simulate(plants.five_bar(), law, plants.five_bar().assemble(left=2.1, right=1.0), t_end=0.01)
    assert run.data.attrs["controller"] == "brake"
