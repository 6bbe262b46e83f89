"""The linear model of a plant under a law: against the derivative of what the simulation does."""

import control as ct
import numpy as np
import pytest
from scipy.linalg import expm

from cmbcontrol import (
    Constant,
    OperatingPoint,
    Quintic,
    Sine,
    closed_loop_equilibrium,
    linearize,
    linearize_closed_loop,
    margins,
    plants,
    simulate,
    trim,
)
from cmbcontrol.controllers import (
    ConstraintForcePI,
    Controller,
    Delay,
    Drive,
    DriveFriction,
    Encoder,
    Evaluation,
    FilteredDifference,
    FirstOrderActuator,
    HybridMotionForce,
    ProjectedInverseDynamics,
    RateLimit,
    WithModel,
)
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.errors import EquilibriumError
from cmbcontrol.linear.signals import Wrench
from cmbcontrol.model.elements import Body, Frame
from cmbcontrol.model.mechanism import Mechanism
from tests.fixtures import GAINS, IntegralLaw, actuated_pendulum, five_bar, five_bar_law, jacobian, largest, matched

POLES = np.array([-10.0, -7.5, -6.4, -4.0])


class Late(Controller):
    """A sampled law whose efforts come one period late, as a state of its own."""

    def __init__(self, law):
        self.law, self.period, self.reference, self.coordinates = law, law.period, law.reference, law.coordinates

    def start(self, plant):
        return np.zeros(plant.nu)

    def evaluate(self, t, terms, state):
        return Evaluation(self._effort(t, terms, state), self._update(t, terms, state))

    def _effort(self, t, terms, state):
        return state

    def _moved(self, t, terms, state):
        return self._derivative(t, terms, state) if self.period is None else self._update(t, terms, state)

    def _update(self, t, terms, state):
        return self.law(t, terms, np.zeros(0))


def on_the_manifold(plant, q0, names, x):
    """(q, v) with named coordinates that deviate by x, by assembly: no code in common with the library's charts."""
    n = len(names)
    index = [plant.position_names.index(name) for name in names]
    rows = [plant.index(name) for name in names]
    q = plant.assemble(guess=q0, **{name: q0[i] + d for name, i, d in zip(names, index, x[:n], strict=True)})
    stacked = np.vstack([np.eye(plant.nv)[rows], plant.jacobian(q)])
    v = np.linalg.lstsq(stacked, np.concatenate([x[n:], np.zeros(len(stacked) - n)]), rcond=None)[0]
    return q, v


def vector_field(plant, law, q0, names, c0=(), rates0=None):
    """Closed-loop dx/dt of deviations x = (y, dy/dt, c), nonlinear."""
    n, c0 = len(names), np.asarray(c0, dtype=float)
    rates0 = np.zeros(n) if rates0 is None else rates0
    rows = [plant.index(name) for name in names]

    def field(x):
        q, v = on_the_manifold(plant, q0, names, np.concatenate([x[:n], rates0 + x[n : 2 * n]]))
        terms, c = plant.terms(q, v), c0 + x[2 * n :]
        a = forward_dynamics(plant, q, v, law(0.0, terms, c))
        moved = law.evaluate(0.0, terms, c).state if c.size else []
        return np.concatenate([v[rows], a[rows], moved])

    return field


# -- eigenvalues of the exact model ------------------------------------------------------------------------


def test_poles_are_those_asked_for():
    """Theorem 4: the error obeys e'' + G_D e' + G_P e = 0."""
    plant = plants.five_bar()
    loop = linearize_closed_loop(plant, five_bar_law(plant))
    assert loop.states == ("left", "right", "left_rate", "right_rate")
    assert matched(loop.poles(), POLES) < 1e-8
    assert loop.stable
    assert largest(loop.drift) < 1e-10
    assert loop.rest.point.q[[0, 2]] == pytest.approx([2.1, 1.0], abs=1e-12)
    assert loop.dt == 0.0
    assert matched(loop.to_ss().poles(), POLES) < 1e-8


@pytest.mark.parametrize("options", [{"closure": "revolute"}, {"closure": "point"}])
def test_redundant_rows_change_nothing(options):
    plant = plants.five_bar(**options)
    twin = linearize_closed_loop(plants.five_bar(), five_bar_law(plants.five_bar()))
    loop = linearize_closed_loop(plant, five_bar_law(plant))
    assert largest(loop.A - twin.A) < 1e-7
    assert largest(loop.B - twin.B) < 1e-8


def machine(name):
    """A plant with a law for its catalogue coordinates and distinct poles, and where to start."""
    entry = plants.catalogue[name]
    plant, q, _ = entry.start()
    names = entry.study.coordinates
    at = [q[plant.position_names.index(n)] for n in names]
    slow, fast = 4.0 + np.arange(len(names)), 12.0 + 0.5 * np.arange(len(names))
    law = ProjectedInverseDynamics(plant, names, Constant(at), kp=slow * fast, kd=slow + fast)
    return plant, law, q, -np.concatenate([slow, fast])


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", ["slider-crank", "delta", "stewart", "three-rrr"])
def test_poles_of_other_machines(name):
    plant, law, q, poles = machine(name)
    loop = linearize_closed_loop(plant, law, q)
    assert matched(loop.poles(), poles) < 1e-8


# -- a plant that is not the model --------------------------------------------------------------------------


def test_eigenvalues_with_payload_error(loaded):
    plant, law = loaded
    loop = linearize_closed_loop(plant, law)
    truth = jacobian(vector_field(plant, law, loop.point.q, ("left", "right")), 4)
    assert largest(loop.A - truth) < 1e-7 * largest(truth)
    assert matched(loop.poles(), np.linalg.eigvals(truth)) < 1e-6
    assert matched(loop.poles(), POLES) > 0.1


def test_a_moving_state(loaded):
    """Not at rest: the affine model of the loop, and what its states do."""
    plant, law = loaded
    q = plant.assemble(left=2.0, right=1.2)
    _, v = on_the_manifold(plant, q, ("left", "right"), np.array([0.0, 0.0, 1.0, -2.0]))
    at = OperatingPoint.at(plant, q, 0.0, v)
    loop = linearize_closed_loop(plant, law, at, find_equilibrium=False)
    field = vector_field(plant, law, q, ("left", "right"), rates0=np.array([1.0, -2.0]))
    assert loop.drift == pytest.approx(field(np.zeros(4)), abs=1e-9)
    truth = jacobian(field, 4)
    assert largest(loop.A - truth) < 1e-8 * largest(truth)
    assert loop.point.u == pytest.approx(law(0.0, plant.terms(q, v), None))


def test_a_law_with_states(loaded):
    """Integral action removes the error; the states of the law are states of the loop."""
    plant, inner = loaded
    law = IntegralLaw(inner, 200.0)
    rest = closed_loop_equilibrium(plant, law)
    assert rest.point.q[[0, 2]] == pytest.approx([2.1, 1.0], abs=1e-10)
    assert rest.point.u == pytest.approx(trim(plant, rest.point.q).u, abs=1e-7)
    loop = linearize_closed_loop(plant, law, rest)
    assert loop.states[4:] == ("law_1", "law_2")
    truth = jacobian(vector_field(plant, law, rest.point.q, ("left", "right"), rest.state), 6)
    assert largest(loop.A - truth) < 1e-8 * largest(truth)
    assert loop.stable


def test_a_small_step_of_the_reference(loaded):
    """The nonlinear run against the linear model, both from rest."""
    plant, law = loaded
    loop = linearize_closed_loop(plant, law, outputs=("left", "right"))
    step, times = np.array([1e-3, -2e-3]), np.linspace(0.0, 1.0, 11)
    after = WithModel(law.model, law.law)
    after = after.with_reference(Constant(np.array([2.1, 1.0]) + step))
    run = simulate(plant, after, loop.point.q, t_end=1.0, output_times=times, rtol=1e-9, atol=1e-12)
    w = np.zeros((len(loop.inputs), times.size))
    w[2:4] = step[:, None]
    response = ct.forced_response(loop.to_ss(), times, w)
    moved = run.q.values[:, [0, 2]].T - loop.point.q[[0, 2], None]
    assert largest(moved) > 5e-4
    assert largest(response.outputs - moved) < 1e-7


def test_numbers_are_a_law():
    plant = plants.five_bar()
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    loop = linearize_closed_loop(plant, point.u, point, coordinates=("left", "right"))
    assert largest(loop.A - linearize(plant, point, coordinates=("left", "right")).A) < 1e-9
    assert loop.inputs == ("left_disturbance", "right_disturbance")
    hanging = closed_loop_equilibrium(plant, None, plant.assemble(guess={"left": -2.0, "right": -1.0}))
    assert hanging.point.residuals.balance < 1e-9


# -- sampled laws -------------------------------------------------------------------------------------------


def test_sampled_poles_of_a_double_integrator():
    """Without weight the linear plant is y'' = w, and the hold is exact: z^2 - (2 - G_D T - G_P T^2/2) z + ... = 0."""
    plain = plants.five_bar()
    plant = Mechanism(
        "weightless", plain.bodies, plain.joints, plain.loops, actuators=plain.actuators, gravity=(0, 0, 0)
    )
    T = 1e-3
    loop = linearize_closed_loop(plant, five_bar_law(plant, period=T))
    truth = np.concatenate(
        [
            np.roots([1.0, -(2.0 - kd * T - 0.5 * kp * T * T), 1.0 - kd * T + 0.5 * kp * T * T])
            for kp, kd in zip(GAINS["kp"], GAINS["kd"], strict=True)
        ]
    )
    assert matched(loop.poles(), truth) < 1e-11
    assert loop.dt == T
    assert loop.to_ss().dt == T


def test_sampled_poles_tend_to_continuous_ones():
    plant = plants.five_bar()
    errors = [
        matched(linearize_closed_loop(plant, five_bar_law(plant, period=T)).continuous_poles(), POLES)
        for T in (2e-4, 1e-4)
    ]
    assert errors[0] < 0.05
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.05)


def period_map(plant, law, q0, names, c0, T):
    """x and c after one period of `simulate`, in deviations."""
    n = len(names)
    index, rows = [plant.position_names.index(x) for x in names], [plant.index(x) for x in names]

    def step(x):
        q, v = on_the_manifold(plant, q0, names, x[: 2 * n])
        c = c0 + x[2 * n :]
        run = simulate(plant, law(0.0, plant.terms(q, v), c), q, v, t_end=T, output_times=[T], rtol=1e-12, atol=1e-12)
        moved = law.evaluate(0.0, plant.terms(q, v), c).state - c0 if c.size else []
        return np.concatenate([run.q.values[0][index] - q0[index], run.v.values[0][rows], moved])

    return step


@pytest.mark.nojit_slow
def test_one_period_of_simulate(loaded):
    """The sampled loop is the derivative of what the simulation does in a period."""
    plant, inner = loaded
    T = 1e-3
    inner = WithModel(inner.model, five_bar_law(inner.model, period=T))
    law = IntegralLaw(inner, 200.0, T)
    loop = linearize_closed_loop(plant, law)
    truth = jacobian(period_map(plant, law, loop.point.q, ("left", "right"), loop.rest.state, T), 6)
    assert largest(loop.A - truth) < 1e-8
    assert matched(loop.poles(), np.linalg.eigvals(truth)) < 1e-8


def test_a_delay_of_one_period_is_a_law_that_is_late():
    plant, T = plants.five_bar(), 5e-3
    late = linearize_closed_loop(plant, Late(five_bar_law(plant, period=T)))
    loop = linearize_closed_loop(plant, five_bar_law(plant, period=T), delay=T)
    assert loop.states[4:] == ("left_effort[k-1]", "right_effort[k-1]")
    assert loop.state_units[4:] == ("N m", "N m")
    assert matched(loop.poles(), late.poles()) < 1e-9


def test_a_delay_that_is_no_whole_period():
    """Half a period late: two half steps, the first with the effort before."""
    plant, T = plants.five_bar(), 5e-3
    loop = linearize_closed_loop(plant, five_bar_law(plant, period=T), delay={"left": 0.5 * T, "right": 0.5 * T})
    continuous = linearize_closed_loop(plant, five_bar_law(plant))
    A, B = continuous.plant.A, continuous.plant.B
    F = np.linalg.lstsq(B, continuous.A - A, rcond=None)[0]
    half = expm(0.5 * T * np.block([[A, B], [np.zeros((2, 6))]]))
    a, b = half[:4, :4], half[:4, 4:]
    truth = np.block([[a @ a + b @ F, a @ b], [F, np.zeros((2, 2))]])
    assert matched(loop.poles(), np.linalg.eigvals(truth)) < 1e-9


# -- chains -----------------------------------------------------------------------------------------------


@pytest.mark.nojit_slow
def test_a_chain_in_continuous_time(loaded):
    """Actuators, friction and a rate limit are states and slopes of the loop."""
    plant, inner = loaded
    friction = DriveFriction(0.5, viscous=2.0, width=1.0)
    law = IntegralLaw(inner, 200.0) | FirstOrderActuator([0.01, 0.02]) | RateLimit(1e4, 0.005) | friction
    rest = closed_loop_equilibrium(plant, law)
    assert rest.point.q[[0, 2]] == pytest.approx([2.1, 1.0], abs=1e-9)
    assert rest.state[2:4] == pytest.approx(rest.point.u, abs=1e-8)
    loop = linearize_closed_loop(plant, law, rest)
    assert loop.states[4:] == ("law_1", "law_2", "left_actuator", "right_actuator", "left_limited", "right_limited")
    truth = jacobian(vector_field(plant, law, rest.point.q, ("left", "right"), rest.state), 10)
    assert largest(loop.A - truth) < 1e-8 * largest(truth)
    assert loop.name.endswith("IntegralLaw | FirstOrderActuator | RateLimit | DriveFriction")
    assert loop.stable
    assert margins(plant, law, rest).disk < margins(plant, IntegralLaw(inner, 200.0)).disk


class Driven(Controller):
    """A command that is held, and behind it a drive with another start."""

    class Begun(Drive):
        def __init__(self, drive, start):
            self.of, self.begin = drive, start

        def start(self, plant):
            return self.begin

        def evaluate(self, t, terms, command, state):
            return self.of.evaluate(t, terms, command, state)

    def __init__(self, drive, command, start, period):
        self.drive, self.command, self.period = self.Begun(drive, start), command, period

    def effort(self, t, terms, state):
        return self.command


def chain_map(plant, law, rest, names, T):
    """x, drive states and law states after one period of `simulate`, in deviations."""
    n, m = len(names), rest.drive.size
    index, rows = [plant.position_names.index(x) for x in names], [plant.index(x) for x in names]
    friction = law.drive.blocks[-1].force

    def step(x):
        q, v = on_the_manifold(plant, rest.point.q, names, x[: 2 * n])
        d, c = rest.drive + x[2 * n : 2 * n + m], rest.state + x[2 * n + m :]
        terms = plant.terms(q, v)
        held = Driven(law.drive, law(0.0, terms, c), d, T)
        run = simulate(plant, held, q, v, t_end=T, output_times=[T], rtol=1e-12, atol=1e-12)
        q1, v1, u1 = (x.values[0] for x in (run.q, run.v, run.u))
        d1 = u1 + friction(plant.terms(q1, v1).B.T @ v1)  # the actuator's state, before the friction
        return np.concatenate(
            [q1[index] - rest.point.q[index], v1[rows], d1 - rest.drive, law.evaluate(0.0, terms, c).state - rest.state]
        )

    return step


@pytest.mark.nojit_slow
def test_one_period_of_a_chain(loaded):
    """Sampled law, sensors, and drives behind the hold: the derivative of what the simulation does in a period."""
    plant, inner = loaded
    T = 2e-3
    inner = WithModel(inner.model, five_bar_law(inner.model, period=T))
    law = (
        FilteredDifference(0.004, plant=plant)
        | IntegralLaw(inner, 200.0, T)
        | RateLimit(1e7)
        | FirstOrderActuator([0.004, 0.01])
        | DriveFriction(0.5, viscous=2.0, width=1.0)
    )
    loop = linearize_closed_loop(plant, law)
    assert loop.rest.drive == pytest.approx(loop.point.u, abs=1e-8)
    assert loop.states[4:6] == ("left_actuator", "right_actuator")
    assert loop.state_units[4:6] == ("N m", "N m")
    assert loop.states[-4:] == ("law_1", "law_2", "left_limited", "right_limited")
    step = chain_map(plant, law, loop.rest, ("left", "right"), T)
    truth = jacobian(step, len(loop.A))
    assert largest(loop.A - truth) < 1e-8 * max(1.0, largest(truth))
    assert matched(loop.poles(), np.linalg.eigvals(truth)) < 1e-5
    assert loop.stable
    found = loop.margins()
    assert [x.channel for x in found.loops] == ["left", "right"]
    assert len(loop.margins("output").loops) == 4


@pytest.mark.nojit_slow
def test_poles_of_an_actuator_behind_the_hold():
    """To 1e-9; and the lag is a factor of the loop transfer."""
    plant, T = plants.five_bar(), 2e-3
    law = five_bar_law(plant, period=T) | FirstOrderActuator([0.004, 0.01]) | DriveFriction(viscous=2.0)
    loop = linearize_closed_loop(plant, law)
    truth = jacobian(chain_map(plant, law, loop.rest, ("left", "right"), T), 6)
    assert matched(loop.poles(), np.linalg.eigvals(truth)) < 1e-9
    s = 2j
    plain = linearize_closed_loop(plant, five_bar_law(plant, period=T) | DriveFriction(viscous=2.0)).loop()(
        np.exp(s * T)
    )
    ratio = np.linalg.solve(plain, loop.loop()(np.exp(s * T)))
    assert largest(np.abs(ratio - np.diag(1.0 / (1.0 + s * np.array([0.004, 0.01]))))) < 1e-4


def test_a_delay_in_the_chain():
    plant, T = plants.five_bar(), 5e-3
    law = five_bar_law(plant, period=T)
    loop = linearize_closed_loop(plant, law | Delay(0.3 * T) | Delay({"left": 0.2 * T}))
    truth = linearize_closed_loop(plant, law, delay=[0.5 * T, 0.3 * T])
    assert largest(loop.A - truth.A) == 0.0
    assert margins(plant, law | Delay(T)).disk == margins(plant, law, delay=T).disk
    with pytest.raises(ValueError, match=r"has a delay of its own, 0.005 s, so that delay= would be a second one"):
        linearize_closed_loop(plant, law | Delay(T), delay=T)
    with pytest.raises(ValueError, match=r"reads positions in steps or with noise.*chain.without\(Encoder\)"):
        linearize_closed_loop(plant, Encoder(0.01) | law, plant.assemble(left=2.1, right=1.0), find_equilibrium=False)
    without = (Encoder(0.01) | law | Delay(T)).without(Encoder)
    assert (
        matched(
            linearize_closed_loop(plant, without).poles(),
            linearize_closed_loop(plant, law, delay=T).poles(),
        )
        < 1e-12
    )


# -- laws that measure the constraint force -------------------------------------------------------------------


class Presses(Controller):
    """Tracking, and filtered constraint forces of the driven joints added to the efforts."""

    measures_force = True

    def __init__(self, plant, period=None):
        self.motion, self.period = five_bar_law(plant), period

    def start(self, plant):
        return np.zeros(2)

    def evaluate(self, t, terms, state):
        return Evaluation(self._effort(t, terms, state), self._moved(t, terms, state))

    def _effort(self, t, terms, state):
        return self.motion(t, terms, state) + state

    def _derivative(self, t, terms, state):
        force = np.zeros(4) if terms.force is None else terms.force
        return 2e-2 * (force[[0, 2]] - np.array([3.0, -4.0])) - 3.0 * state

    def _moved(self, t, terms, state):
        return self._derivative(t, terms, state) if self.period is None else self._update(t, terms, state)

    def _update(self, t, terms, state):
        return state + self.period * self._derivative(t, terms, state)


def test_a_law_that_measures_the_force():
    """The force answers the efforts at once: its share is in the loop, and in the loop transfer."""
    plant = five_bar(0.2)
    law = Presses(plants.five_bar())
    loop = linearize_closed_loop(plant, law)

    class Closed(Controller):
        """The same law with the force computed where it is needed."""

        coordinates = ("left", "right")

        def evaluate(self, t, terms, state):
            return Evaluation(self._effort(t, terms, state), self._derivative(t, terms, state))

        def _effort(self, t, terms, state):
            return law(t, terms, state)

        def _derivative(self, t, terms, state):
            f = terms.B @ law(t, terms, state)
            force = f - terms.h - terms.M @ forward_dynamics(plant, terms.q, terms.v, law(t, terms, state))
            return law.evaluate(t, terms.with_force(force), state).state

    truth = jacobian(vector_field(plant, Closed(), loop.point.q, ("left", "right"), loop.rest.state), 6)
    assert largest(loop.A - truth) < 1e-8 * largest(truth)
    assert largest(loop.drift) < 1e-9
    # 1 + L is the closed over the open characteristic polynomial
    L, s = loop.loop(), 3j
    closed, opened = (np.linalg.det(s * np.eye(len(A)) - A) for A in (loop.A, L.A))
    assert abs(np.linalg.det(np.eye(2) + L(s)) - closed / opened) < 1e-8 * abs(closed / opened)
    # opened, the law's states no longer feel their own efforts
    assert largest(L.A[4:, 4:] + 3.0 * np.eye(2)) < 1e-6
    assert largest(loop.A[4:, 4:] + 3.0 * np.eye(2)) > 1e-3


@pytest.mark.nojit_slow
def test_a_sampled_law_that_measures_the_force():
    """The force is that of the effort before: states of the loop; as the simulation has it, sample by sample."""
    plant, T = five_bar(0.2), 5e-3
    law = Presses(plants.five_bar(), T)
    loop = linearize_closed_loop(plant, law)
    assert loop.states[4:] == ("law_1", "law_2", "left_effort_before", "right_effort_before")
    rest, names = loop.rest, ("left", "right")

    def field(x):
        q, v = on_the_manifold(plant, rest.point.q, names, x[:4])
        c, before = rest.state + x[4:6], rest.point.u + x[6:]
        terms = plant.terms(q, v)
        u = law(0.0, terms, c)
        f = terms.B @ before
        force = f - terms.h - terms.M @ forward_dynamics(plant, q, v, before)
        run = simulate(plant, u, q, v, t_end=T, output_times=[T], rtol=1e-12, atol=1e-12)
        q1, v1 = run.q.values[0], run.v.values[0]
        c1 = law.evaluate(0.0, terms.with_force(force), c).state
        return np.concatenate([q1[[0, 2]] - rest.point.q[[0, 2]], v1[[0, 2]], c1 - rest.state, u - rest.point.u])

    truth = jacobian(field, 8)
    assert largest(loop.A - truth) < 1e-8 * max(1.0, largest(truth))
    # a disturbance is felt by the measured force one sample later
    assert loop.B[6:8, :2] == pytest.approx(np.eye(2))
    with pytest.raises(ValueError, match=r"measures the constraint force, and how that answers a delay of a period"):
        linearize_closed_loop(plant, law, delay=T)
    with pytest.raises(ValueError, match=r"how that answers a drive between"):
        linearize_closed_loop(plant, law | FirstOrderActuator(0.01))
    with pytest.raises(ValueError, match=r"how that answers wrenches"):
        linearize_closed_loop(plant, law, disturbances="left_upper_wrench")


@pytest.mark.nojit_slow
@pytest.mark.parametrize("period", [None, 2e-3])
def test_poles_of_motion_and_force(period):
    """Two arms on one object: motion poles as asked for, and those that the force law promises (Aghili, eqs. 52-54)."""
    plant = plants.two_arms()
    entry = plants.catalogue["two-arms"]
    q, names = entry.initial(plant)[0], entry.study.coordinates
    at = Constant([q[plant.position_names.index(n)] for n in names])
    gains = {"kp": [40.0, 48.0, 72.0], "kd": [14.0, 14.0, 17.0], "period": period}
    force = ConstraintForcePI(plant, [50.0], ["grasp_fx"], kp=0.5, ki=20.0, frame="object", on="a", period=period)
    loop = linearize_closed_loop(
        plant, HybridMotionForce(ProjectedInverseDynamics(plant, names, at, **gains), force), q
    )
    found = loop.poles()
    if period is None:
        assert matched(found, [-4.0, -10.0, -6.0, -8.0, -8.0, -9.0, force.error_poles[0, 0]]) < 1e-6
        return
    for pole in force.error_poles[0]:  # exactly, though the motors hold their efforts while the arms move
        assert np.abs(found - pole).min() < 1e-8
    slow = np.sort(loop.continuous_poles()[np.abs(loop.continuous_poles().imag) < 100.0].real)
    assert slow[np.isfinite(slow)][-1] == pytest.approx(-4.0, abs=0.05)
    assert loop.stable
    assert sum(name.endswith("_effort_before") for name in loop.states) == 6


# -- signals ---------------------------------------------------------------------------------------------


def test_reference_signals_track_perfectly():
    """With the exact model y = r: position, velocity and acceleration of the reference together give 1."""
    plant = plants.five_bar()
    loop = linearize_closed_loop(plant, five_bar_law(plant), outputs=("left", "right"))
    assert loop.inputs[2:5] == ("left_ref", "right_ref", "left_rate_ref")
    assert loop.input_units[2:] == ("rad", "rad", "rad/s", "rad/s", "rad/s2", "rad/s2")
    for w in (0.3, 5.0, 80.0):
        G = loop.to_ss()(1j * w)
        assert largest(np.abs(G[:, 2:4] + 1j * w * G[:, 4:6] - w * w * G[:, 6:8] - np.eye(2))) < 1e-9


@pytest.mark.nojit_slow
def test_disturbances_and_outputs():
    """Multipliers see the efforts at once; a constant torque shifts the rest by the inverse stiffness."""
    plant = plants.five_bar()
    loop = linearize_closed_loop(plant, five_bar_law(plant), outputs=("left", "tip_force", "right_effort"))
    assert loop.outputs == ("left", "tip_x", "tip_y", "right_effort")
    assert loop.output_units == ("rad", "N", "N", "N m")
    model = linearize(plant, loop.point, coordinates=("left", "right"), outputs=("tip_force",))
    assert largest(loop.D[1:3, :2] - model.D) < 1e-8
    gain = loop.to_ss().dcgain()[:, :2]
    push = np.array([1e-4, -2e-4])

    class Pushed(Controller):
        coordinates = ("left", "right")

        def effort(self, t, terms, state):
            return five_bar_law(plant)(t, terms, state) + push

    moved = closed_loop_equilibrium(plant, Pushed(), loop.rest)
    assert moved.point.q[0] - loop.point.q[0] == pytest.approx(gain[0] @ push, rel=1e-4)
    assert moved.point.lam - loop.point.lam == pytest.approx(gain[1:3] @ push, rel=1e-3, abs=1e-9)


def test_outside_forces():
    """A wrench at a body: the loop gives way by the inverse stiffness, as the rest of the loaded machine says."""
    plant = plants.five_bar()
    tip = Wrench("left_upper", Frame((1.5, 0.0, 0.0)), "tip")
    loop = linearize_closed_loop(plant, five_bar_law(plant), outputs=("left", "right"), disturbances=tip)
    assert loop.inputs[2:8] == tip.signals
    assert loop.input_units[2:8] == ("N m",) * 3 + ("N",) * 3
    weight = 1e-4  # kg, a point mass at the tip
    bodies = [
        Body.planar("left_upper", 3.0 + weight, (2.25 + 1.5 * weight) / (3.0 + weight), 2.0)
        if b.name == "left_upper"
        else b
        for b in plant.bodies
    ]
    heavy = Mechanism(plant.name, bodies, plant.joints, plant.loops, actuators=plant.actuators, gravity=plant.gravity)
    moved = closed_loop_equilibrium(heavy, WithModel(plant, five_bar_law(plant)))
    found = loop.to_ss().dcgain()[:, loop.inputs.index("tip_fy")] * -9.81 * weight
    assert moved.point.q[[0, 2]] - loop.point.q[[0, 2]] == pytest.approx(found, rel=1e-3)
    with pytest.raises(ValueError, match="a disturbance is a load of the plant, a Wrench"):
        linearize_closed_loop(plant, five_bar_law(plant), disturbances="left_acceleration")


def test_sampled_outputs_see_the_effort_that_acts():
    plant, T = plants.five_bar(), 5e-3
    prompt = linearize_closed_loop(plant, five_bar_law(plant, period=T), outputs=("tip_x",))
    late = linearize_closed_loop(plant, five_bar_law(plant, period=T), outputs=("tip_x",), delay=T)
    D = linearize(plant, prompt.point, coordinates=("left", "right"), outputs=("tip_x",)).D
    assert largest(late.C[0, 4:] - D[0]) < 1e-8
    assert largest(prompt.D[0, :2] - D[0]) < 1e-8
    assert largest(late.D[0, 2:]) == 0.0


# -- words --------------------------------------------------------------------------------------------------


@pytest.mark.nojit_slow
def test_what_is_refused():
    plant = plants.five_bar()
    moving = ProjectedInverseDynamics(plant, ("left", "right"), Sine([2.1, 1.0], [0.1, 0.1], 0.5), bandwidth=8.0)
    with pytest.raises(
        EquilibriumError, match=r"reference of ProjectedInverseDynamics moves at t = 0 s.*find_equilibrium=False"
    ):
        linearize_closed_loop(plant, moving)
    arrives = Quintic([2.0, 1.1], [2.1, 1.0], duration=1.0)
    law = ProjectedInverseDynamics(plant, ("left", "right"), arrives, bandwidth=8.0, damping_ratio=0.7)
    assert linearize_closed_loop(plant, law, t=2.0).point.q[0] == pytest.approx(2.1)
    with pytest.raises(ValueError, match=r"continuous time.*period"):
        linearize_closed_loop(plant, five_bar_law(plant), delay=1e-3)
    with pytest.raises(ValueError, match=r"not stable.*pole at"):
        margins(plant, trim(plant, plant.assemble(left=2.1, right=1.0)).u, plant.assemble(left=2.1, right=1.0))
    with pytest.raises(ValueError, match="did you mean 'left'"):
        linearize_closed_loop(plant, five_bar_law(plant), outputs=("lefft",))
    with pytest.raises(ValueError, match="did you mean 'input'"):
        linearize_closed_loop(plant, five_bar_law(plant)).loop("inputs")
    with pytest.raises(ValueError, match="did you mean 'left'"):
        linearize_closed_loop(plant, five_bar_law(plant)).loop("input", "lefft")
    with pytest.raises(TypeError, match="colour"):
        linearize_closed_loop(plant, five_bar_law(plant), colour="red")
    with pytest.raises(EquilibriumError, match="comes to no rest under"):
        closed_loop_equilibrium(actuated_pendulum(), [8.0], [0.3])


def test_in_words():
    plant = plants.five_bar()
    text = str(linearize_closed_loop(plant, five_bar_law(plant, period=1e-3), delay=1e-3))
    assert "five-bar with ProjectedInverseDynamics, 6 states, 0.001 s a sample" in text
    assert "left_effort[k-1] [N m]" in text
    assert "pole [1/s]" in text


# -- ways into the loop -------------------------------------------------------------------------------------


def test_entrances_are_the_inputs_and_places_inside():
    plant = plants.five_bar()
    loop = linearize_closed_loop(plant, five_bar_law(plant))
    for k, name in enumerate(loop.inputs):
        way = loop.entrance(name)
        assert np.array_equal(way.B, loop.B[:, k]) and np.array_equal(way.D, loop.D[:, k])
        assert way.unit == loop.input_units[k]
    # in continuous time a command acts as an effort at the motor does; a reading that is wrong acts as the reference
    # with the other sign does, as far as the law looks at their difference alone
    assert pytest.approx(loop.entrance("left_disturbance").B, rel=1e-12) == loop.entrance("left_command").B
    read, told = loop.entrance("left_rate_measurement"), loop.entrance("left_rate_ref")
    assert pytest.approx(-told.B, rel=1e-6, abs=1e-6 * np.abs(told.B).max()) == read.B
    assert read.effort == pytest.approx(-told.effort, rel=1e-6) and read.unit == "rad/s"
    with pytest.raises(ValueError, match="signal that enters the loop"):
        loop.entrance("left_effort")
