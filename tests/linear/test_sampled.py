"""Sampled and delayed models: exact by other routes, named, and true to the machine."""

import dataclasses

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.signal import cont2discrete

import cmbcontrol as cmb
from cmbcontrol import linearize, plants, trim
from cmbcontrol.controllers import Controller, Evaluation
from cmbcontrol.linear.sampled import zero_order_hold
from cmbcontrol.plants.five_bar import configuration
from tests.fixtures import largest

ct = pytest.importorskip("control")


@pytest.fixture(scope="module")
def arm():
    """The five-bar in a configuration that its motors hold, with a multiplier among the outputs (D is not zero)."""
    plant = plants.five_bar()
    point = trim(plant, configuration(plant))
    return linearize(plant, point, coordinates=("left", "right"), outputs=("left", "right", "tip_y"))


def systems():
    rng = np.random.default_rng(0)
    stable = rng.standard_normal((4, 4)) - 3.0 * np.eye(4)
    integrators = np.array([[0.0, 1.0], [0.0, 0.0]])
    nothing = np.zeros((3, 3))
    for A in (stable, -stable, integrators, nothing):
        yield A, rng.standard_normal((len(A), 2))


# -- exact -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", range(4))
def test_without_delay_it_is_the_zero_order_hold_of_scipy(index):
    A, B = list(systems())[index]
    n = len(A)
    Ad, Bd = cont2discrete((A, B, np.eye(n), np.zeros((n, 2))), 0.37)[:2]
    hold = zero_order_hold(A, B, 0.37)
    np.testing.assert_allclose(hold.A, Ad, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(hold.B, Bd, rtol=1e-12, atol=1e-13)
    assert not hold.B_before.any() and not hold.whole.any() and not hold.past.any()


@pytest.mark.parametrize("delays", [(0.0, 0.1), (0.2, 0.25), (0.05, 0.6), (0.4, 0.33)])
def test_delays_against_steps_that_divide_them(arm, delays):
    """Forty small steps a period, with the inputs moved by the delay; outputs at the instants of sampling."""
    period, fine, steps = 0.2, 0.005, 14
    system = arm.sampled(period, delays)
    rng = np.random.default_rng(1)
    u, x0 = rng.standard_normal((2, steps)), 0.1 * rng.standard_normal(4)
    start = np.concatenate([x0, np.zeros(system.nstates - 4)])
    response = ct.forced_response(system, np.arange(steps) * period, u, start)
    small = cont2discrete((arm.A, arm.B, arm.C, arm.D), fine)
    x, y = x0, []
    for k in range(steps * round(period / fine)):
        late = [round((k * fine - d) / fine) for d in delays]  # in small steps, since the sample 0
        now = [u[i, j // round(period / fine)] if j >= 0 else 0.0 for i, j in enumerate(late)]
        if k % round(period / fine) == 0:
            y.append(arm.C @ x + arm.D @ now)
        x = small[0] @ x + small[1] @ now
    np.testing.assert_allclose(response.outputs, np.array(y).T, rtol=1e-9, atol=1e-9)


def test_fraction_of_a_period_by_integration():
    """A delay that no step divides, by an adaptive integrator from switch to switch."""
    A, B = next(systems())
    period, delay, x = 0.3, 0.3 * np.pi, np.array([0.3, -0.1, 0.2, 0.4])
    hold = zero_order_hold(A, B, period, [delay, delay])
    assert (hold.whole == 3).all() and (hold.past == 4).all()
    u = np.random.default_rng(2).standard_normal((2, 2))  # u(k-4), u(k-3)
    switch, now = delay - 3 * period, x
    for span, held in (((0.0, switch), u[0]), ((switch, period), u[1])):
        push = B @ held
        now = solve_ivp(lambda t, x, push=push: A @ x + push, span, now, rtol=1e-11, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(hold.A @ x + hold.B @ u[1] + hold.B_before @ u[0], now, rtol=1e-8)


def test_delays_next_to_whole_periods_are_whole():
    A, B = next(systems())
    for delay, whole in ((0.3, 3), (0.1 + 0.2, 3), (0.1 * 3, 3), (0.7, 7)):
        hold = zero_order_hold(A, B, 0.1, delay)
        assert list(hold.whole) == list(hold.past) == [whole] * 2


def test_drift_is_an_input_that_is_one(arm):
    """dx/dt = drift + A x, step by step, against the exact solution."""
    drift = np.array([0.1, -0.3, 2.0, 0.7])
    moving = dataclasses.replace(arm, drift=drift)
    system = moving.sampled(0.05, 0.02, drift=True)
    assert system.input_labels == ["left_effort", "right_effort", "drift"]
    x = np.zeros(system.nstates)
    for _ in range(10):
        x = system.A @ x + system.B @ [0.0, 0.0, 1.0]
    truth = np.linalg.solve(arm.A, (ct.ss(arm.A, drift[:, None], np.eye(4), 0).sample(0.5).A - np.eye(4)) @ drift)
    np.testing.assert_allclose(x[:4], truth, rtol=1e-10)
    assert moving.sampled(0.05).input_labels == ["left_effort", "right_effort"]
    assert moving.to_ss(drift=True).B[:, 2] == pytest.approx(drift)
    assert moving.delayed(0.1, 2, drift=True).input_labels == ["left_effort", "right_effort", "drift"]
    named = dataclasses.replace(moving, inputs=("left", "drift"))
    with pytest.raises(ValueError, match="an actuator of 'five-bar' is called 'drift'"):
        named.sampled(0.05, drift=True)


# -- names and what is refused ---------------------------------------------------------------------------------


def test_names(arm):
    system = arm.sampled(0.01, {"right": 0.025})
    assert isinstance(system, ct.StateSpace)
    assert system.dt == 0.01 and system.name == "five-bar"
    assert system.state_labels[:4] == list(arm.states)
    assert system.state_labels[4:] == ["right_effort[k-1]", "right_effort[k-2]", "right_effort[k-3]"]
    assert system.output_labels == ["left", "right", "tip_y"]
    assert arm.sampled(0.01, name="digital").name == "digital"
    assert arm.sampled(0.01).nstates == 4
    loop = ct.interconnect(
        [system, ct.ss([], [], [], [[-1.0]], 0.01, name="law", inputs=["e"], outputs=["u"])],
        connections=[["law.e", "five-bar.right"], ["five-bar.right_effort", "law.u"]],
        inplist=["five-bar.left_effort"],
        outlist=["five-bar.left"],
        check_unused=False,
    )
    assert loop.nstates == 7 and "five-bar_right_effort[k-3]" in loop.state_labels


@pytest.mark.parametrize(
    ("period", "delay", "message"),
    [
        (0.0, 0.0, "period must be > 0"),
        (0.01, -0.1, "delay must be >= 0, got -0.1"),
        (0.01, [0.0, 0.1, 0.2], r"delay must have shape \(2,\) \(in the order left_effort, right_effort\)"),
        (0.01, {"lefft": 0.1}, "no input 'lefft'"),
        (0.01, np.nan, "delay must be finite"),
        (1e-5, 2.0, "lasts 200000 periods .* both in seconds"),
    ],
)
def test_what_sampling_refuses(arm, period, delay, message):
    with pytest.raises(ValueError, match=message):
        arm.sampled(period, delay)


def test_machine_without_motors_is_sampled(arm):
    lin = dataclasses.replace(arm, inputs=(), input_units=(), B=arm.B[:, :0], D=arm.D[:, :0])
    system = lin.sampled(0.1)
    np.testing.assert_allclose(system.A, zero_order_hold(arm.A, arm.B, 0.1).A)
    assert system.ninputs == 0


# -- the machine itself ------------------------------------------------------------------------------------------


class LateFeedback(Controller):
    """u = u0 - K x of the sample before: computing takes a whole period."""

    def __init__(self, lin, gain, period):
        self.lin, self.gain, self.period = lin, gain, period
        self.seen = [lin.coordinates.index(n) for n in lin.states[: lin.dof]]

    def start(self, plant):
        return np.zeros(len(self.lin.inputs))

    def evaluate(self, t, terms, state):
        return Evaluation(self._effort(t, terms, state), self._update(t, terms, state))

    def _effort(self, t, terms, state):
        return self.lin.point.u + state

    def _update(self, t, terms, state):
        x = np.concatenate([(terms.q - self.lin.point.q)[self.seen], terms.v[self.seen]])
        return -self.gain @ np.concatenate([x, state])


def test_small_deviations_of_the_machine_under_a_sampled_law(arm):
    """LQR on the sampled model with its delay, then the nonlinear closed loop: what is left is of second order."""
    period, plant, point = 0.04, arm.point.plant, arm.point
    system = arm.sampled(period, period)
    gain, _, poles = ct.dlqr(system, np.diag([1e3, 1e3, 10, 10, 0, 0]), 0.01 * np.eye(2))
    assert np.abs(poles).max() < 1.0
    closed = system.A - system.B @ gain
    errors = []
    for size in (2e-3, 1e-3):
        q = plant.assemble(left=point.q[0] + size, right=point.q[2] - 0.5 * size, guess=point.q)
        run = cmb.simulate(plant, LateFeedback(arm, gain, period), q, t_end=1.0, output_times=period)
        found = np.hstack([run.q.values[:, [0, 2]] - point.q[[0, 2]], run.v.values[:, [0, 2]]])
        x, predicted = np.concatenate([found[0], [0.0, 0.0]]), []
        for _ in run.time:
            predicted.append(x[:4])
            x = closed @ x
        errors.append(largest(found - predicted) / size)
        assert largest(found[-1]) < 0.2 * largest(found)
    assert errors[0] < 0.05
    assert errors[1] == pytest.approx(0.5 * errors[0], rel=0.1)


# -- Pade, and the frequency domain ----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 5, 10])
def test_pade_is_good_up_to_its_frequency(arm, order):
    delay = np.array([0.05, 0.0])
    system = arm.delayed(delay, order)
    assert system.state_labels[4:] == [f"left_effort_delay{j + 1}" for j in range(order)]
    omega = np.array([0.1, 0.5, 1.0]) * order / delay[0] / 2.0
    truth = np.stack([(arm.C @ np.linalg.solve(1j * w * np.eye(4) - arm.A, arm.B) + arm.D) for w in omega], axis=2)
    truth = truth * np.exp(-1j * omega * delay[:, None])
    found = system(1j * omega)
    assert largest(np.abs(found[:, :, 0] / truth[:, :, 0]) - 1.0) < 1e-9  # the gain is that without delay
    worst = [largest(found[:, :, k] / truth[:, :, k] - 1.0) for k in range(3)]
    assert worst[0] < 2e-4 and worst[2] < 0.1


def test_frequency_response_with_exact_delays(arm):
    omega = np.array([0.3, 3.0, 30.0])
    plain, late = arm.frequency_response(omega), arm.frequency_response(omega, {"right": 0.1})
    np.testing.assert_allclose(late.complex[:, 0], plain.complex[:, 0])
    np.testing.assert_allclose(late.complex[:, 1], plain.complex[:, 1] * np.exp(-0.1j * omega), rtol=1e-12)
    assert late.input_labels == ["left_effort", "right_effort"] and late.output_labels == list(arm.outputs)
    alone = linearize(arm.point.plant, arm.point, inputs=("left",), outputs=("left",))
    ratio = alone.frequency_response(omega, 0.2).frdata / alone.frequency_response(omega).frdata
    np.testing.assert_allclose(ratio[0, 0], np.exp(-0.2j * omega), rtol=1e-12)


def test_sampling_is_a_delay_of_half_a_period(arm):
    """Of a hold, at low frequencies: the sampled model with a delay lags by delay + period / 2."""
    period, delay, omega = 0.01, 0.023, 2.0
    found = arm.sampled(period, delay)(np.exp(1j * omega * period))[0, 0]
    truth = arm.frequency_response([1.0, omega, 3.0], delay + 0.5 * period).complex[0, 0, 1]
    assert found == pytest.approx(truth, rel=2e-4)


def test_orders_of_pade(arm):
    for order in (0, 11, 2.5):
        with pytest.raises(ValueError, match="whole number from 1 to 10"):
            arm.delayed(0.1, order)
    assert arm.delayed(0.0).nstates == 4


# -- python-control ---------------------------------------------------------------------------------------------------


def test_python_control_keeps_the_names(arm):
    import matplotlib

    matplotlib.use("Agg")
    lin = linearize(arm.point.plant, arm.point, coordinates=("left", "right"))
    system = lin.to_ss()
    gain, _, poles = ct.lqr(system, np.diag([100.0, 100.0, 1.0, 1.0]), 0.01 * np.eye(2))
    assert poles.real.max() < 0.0
    full = ct.ss(lin.A, lin.B, np.eye(4), 0, name="arm", inputs=lin.inputs, outputs=lin.states)
    _, closed = ct.create_statefbk_iosystem(full, gain)
    assert set(lin.states) <= set(closed.output_labels)
    np.testing.assert_allclose(np.sort_complex(closed.poles()), np.sort_complex(poles), rtol=1e-6)
    A = lin.A - lin.B @ gain
    step = ct.step_response(ct.ss(A, lin.B, lin.C, 0, inputs=lin.inputs, outputs=lin.outputs), 3.0)
    assert step.output_labels == ["left", "right"]
    assert step.input_labels == ["left_effort", "right_effort"]
    settled = -lin.C @ np.linalg.solve(A, lin.B)
    np.testing.assert_allclose(step.outputs[:, :, -1], settled, rtol=0.02, atol=2e-3 * largest(settled))
    drawn = ct.bode_plot(system)
    texts = " ".join(t.get_text() for t in drawn.figure.findobj(matplotlib.text.Text))
    assert "left" in texts and "right" in texts and system.name in texts
    matplotlib.pyplot.close("all")
