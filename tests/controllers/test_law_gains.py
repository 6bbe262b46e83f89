"""Gains of laws: known derivatives are found, and a law with a corner has none."""

import numpy as np
import pytest

from cmbcontrol import (
    Actuator,
    Body,
    Constant,
    Frame,
    FunctionPlant,
    JointForce,
    Mechanism,
    OperatingPoint,
    PointOnLine,
    Prismatic,
    Revolute,
    characteristics,
    design,
    linearize,
    linearize_closed_loop,
    plants,
    trim,
)
from cmbcontrol.controllers import (
    Controller,
    Evaluation,
    FilteredDifference,
    ObserverFeedback,
    ProjectedInverseDynamics,
)
from cmbcontrol.controllers.law_gains import FrozenLaw, Ways, law_gains
from tests.fixtures import actuated_pendulum


def test_a_law_with_a_corner():
    plant = actuated_pendulum()

    def law(t, terms, state):
        return np.array([np.clip(30.0 * (1.2 - terms.q[0]), -2.0, 4.905 * np.cos(1.2)) - 3.0 * np.abs(terms.v[0])])

    for angle, name in ((1.0, "pivot_rate"), (1.2 - 4.905 * np.cos(1.2) / 30.0, "pivot")):
        with pytest.raises(ValueError, match=rf"law law along {name} is not smooth here: the slope of .*saturated"):
            linearize_closed_loop(plant, law, OperatingPoint.at(plant, [angle]), find_equilibrium=False)


class Mixed(Controller):
    """u = sin(q) K - 3 v + c^2 / 2, dc/dt = c q - v: a law whose derivatives are known."""

    def __init__(self, K):
        self.K = K

    def start(self, plant):
        return np.array([0.4])

    def evaluate(self, t, terms, state):
        q, v = terms.q[[0, 2]], terms.v[[0, 2]]
        return Evaluation(self.K @ np.sin(q) - 3.0 * v + 0.5 * state**2, state * q[0] - v[1])


def test_gains_of_a_law_with_known_derivatives():
    """In the coordinates `left` and `right` of the five-bar, which are its states y."""
    plant = plants.five_bar()
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    K = np.array([[2.0, -1.0], [0.5, 4.0]])
    law = FrozenLaw(plant, Mixed(K), 0.0)
    found = law_gains(law, Ways.of(linearize(plant, point, coordinates=("left", "right"))), law.start)
    c, q = 0.4, np.array([2.1, 1.0])
    np.testing.assert_allclose(found.u_x, np.hstack([K * np.cos(q), -3.0 * np.eye(2)]), atol=1e-9)
    np.testing.assert_allclose(found.u_c, [[c], [c]], atol=1e-10)
    np.testing.assert_allclose(found.c_x, [[c, 0.0, 0.0, -1.0]], atol=1e-9)
    np.testing.assert_allclose(found.c_c, [[q[0]]], atol=1e-10)
    assert found.u_r.shape == (2, 0) and found.c_u.tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("feedforward", ["linear", "inverse-dynamics"])
def test_a_slope_that_vanishes_where_the_effort_does(feedforward):
    """LQG on a cart that balances two rods: efforts are zero, and even in the rate of the reference."""
    plant = Mechanism(
        "cart",
        [
            Body.planar("cart", 1.9, (0, 0), 0.5),
            Body.planar("A", 0.7, (0.31, 0.01), 0.03),
            Body.planar("B", 0.5, (0.22, -0.02), 0.012),
            Body.planar("plate", 0.9, (0.13, 0.08), 0.006),
        ],
        [
            Prismatic("x", "ground", "cart", axis=(1, 0, 0)),
            Revolute("a", "cart", "A", frame=Frame((-0.1, 0.05, 0))),
            Revolute("b", "cart", "B", frame=Frame((0.15, 0.05, 0))),
            Revolute("p", "A", "plate", frame=Frame((0.6, 0, 0))),
        ],
        [PointOnLine("tip", "plate", "B", (0.27, 0, 0), (0.5, 0, 0))],
        actuators=[Actuator("x")],
        gravity=(0, -9.81, 0),
    )
    point = trim(plant, plant.assemble(x=0.0, a=1.6, guess={"b": 1.5, "p": -1.6}), u=0, hold=("x",))
    model = linearize(plant, point, coordinates=("x", "a"))
    L = design.kalman(model, ("x", "a"), effort_noise=2.0, state_noise=0.01, measurement_noise=1e-4)
    feedback = design.lqr(model, 1.0, 1.0, feedforward=feedforward)
    require_separated(plant, model, point, feedback, L, ("x", "a"))


def require_separated(plant, model, point, feedback, L, outputs):
    """Poles of LQG are those of A - B K and of A - L C."""
    C = np.eye(len(model.A))[[model.states.index(name) for name in outputs]]
    own = [np.linalg.eigvals(model.A - model.B @ feedback.K), np.linalg.eigvals(model.A - L @ C)]
    for find in (True, False):
        law = ObserverFeedback(feedback, L, outputs)
        loop = linearize_closed_loop(
            plant, law, point, find_equilibrium=find, coordinates=model.states[: len(C.T) // 2]
        )
        left = list(loop.poles())
        for pole in np.concatenate(own):
            at = int(np.argmin(np.abs(np.array(left) - pole)))
            assert abs(left.pop(at) - pole) < 1e-6 * max(1.0, abs(pole))


@pytest.mark.first(2)
@pytest.mark.parametrize("feedforward", ["linear", "inverse-dynamics", "none"])
@pytest.mark.parametrize("side", [-1, 1])
def test_a_plant_of_functions_of_which_one_body_is_measured(side, feedforward):
    """An overhead crane, and a load balanced on it, seen by the cart alone."""
    length = 0.9
    plant = FunctionPlant(
        "crane",
        ("X", "Y", "x", "y", "z"),
        M=lambda q: np.diag([3.5, 3.0, 1.2, 1.2, 1.2]),
        h=lambda q, v: [1.1 * v[0], 0.7 * v[1], 0, 0, 1.2 * 9.81],
        Phi=lambda q: [((q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 + q[4] ** 2 - length**2) / (2 * length)],
        A=lambda q: [np.array([q[0] - q[2], q[1] - q[3], q[2] - q[0], q[3] - q[1], q[4]]) / length],
        Adot_v=lambda q, v: [((v[2] - v[0]) ** 2 + (v[3] - v[1]) ** 2 + v[4] ** 2) / length],
        actuators=("X", "Y"),
        units=("m",) * 5,
        neutral=[0, 0, 0, 0, side * length],
    )
    point = trim(plant, [0, 0, 0, 0, side * length])
    model = linearize(plant, point, coordinates=("X", "Y", "x", "y"))
    feedback = design.lqr(model, 1.0, 1.0, feedforward=feedforward)
    L = design.kalman(model, ("X", "Y"), effort_noise=1.0, state_noise=0.01, measurement_noise=1e-4)
    require_separated(plant, model, point, feedback, L, ("X", "Y"))


@pytest.mark.parametrize("width", [0.1, 2e-3])
def test_friction_that_turns_within_millimetres_a_second(width):
    """Behind differences of positions a millisecond apart, it is smooth over micrometres only."""
    plant = Mechanism(
        "arm",
        [Body("arm", 1.0, (1.0, 0, 0), (0.1,) * 3)],
        [Revolute("arm", "ground", "arm")],
        actuators=[Actuator("arm")],
        gravity=(0, -9.81, 0),
        forces=[JointForce("f", "arm", characteristics.Friction(1.0, transition_rate=width))],
    )
    law = ProjectedInverseDynamics(plant, "arm", Constant([0.3]), bandwidth=40.0, period=1e-3)
    chain = FilteredDifference(cutoff_hz=600.0) | law
    loop = linearize_closed_loop(plant, chain, plant.assemble(arm=0.3))
    # u = M a + h with M = 1.1 kg m2 and h = tanh(v / width) + m g cos(q), v = (1 - a) (q - last) / T + a filtered
    kept = np.exp(-1e-3 * 2.0 * np.pi * 600.0)
    assert kept == pytest.approx(np.exp(-1e-3 / chain.sensors[0].time_constant))
    rate = 1.1 * 2.0 * 40.0 - 1.0 / width
    gains = loop._parts.gains
    last, filtered = (loop.rest.state.size - 2, loop.rest.state.size - 1)
    assert -gains.u_c[0, filtered] == pytest.approx(kept * rate, rel=1e-6)
    assert gains.u_c[0, last] == pytest.approx((1.0 - kept) / 1e-3 * rate, rel=1e-6)


def test_random_numbers_are_told():
    rng = np.random.default_rng(0)

    def law(t, terms, state):
        return [-3.0 * terms.q[0] + 1e-3 * rng.standard_normal()]

    with pytest.raises(
        ValueError, match=r"the effort of 'pivot' jumps or scatters: differences over .*loose tolerance"
    ):
        linearize_closed_loop(actuated_pendulum(), law, [-0.5 * np.pi], find_equilibrium=False)
