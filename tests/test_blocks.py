"""Each block around a law against its closed form."""

import numpy as np
import pytest
from machines import largest

from cmbcontrol import Constant, Sine, plants, simulate
from cmbcontrol.controllers import (
    Controller,
    Delay,
    DriveFriction,
    Encoder,
    FilteredDifference,
    FirstOrderActuator,
    ForwardKinematics,
    FrictionCompensation,
    ProjectedInverseDynamics,
    RateLimit,
    Saturation,
    SensorBlock,
    WithModel,
)
from cmbcontrol.errors import ActuationError
from cmbcontrol.model.elements import Actuator, Body, Free, Prismatic, Revolute
from cmbcontrol.model.mechanism import Mechanism

T = 1e-3


class Asks(Controller):
    """A sampled law (or a continuous one) that asks for a function of time."""

    def __init__(self, plant, asks, period=T):
        self.plant, self.asks, self.period = plant, asks, period

    def effort(self, t, terms, state):
        return np.asarray(self.asks(t), dtype=float)


class Told(Controller):
    """A sampled law that keeps what it is told."""

    def __init__(self, plant, period=T):
        self.plant, self.period, self.heard = plant, period, []

    def effort(self, t, terms, state):
        self.heard.append((t, terms.q.copy(), terms.v.copy()))
        return np.zeros(self.plant.nu)


def rotor(period=T, **kind):
    """One joint without weight: 2 kg m2, so that dv/dt = u/2."""
    rod = Body.planar("rod", 1.0, 0.0, 2.0)
    joint = Revolute("axis", "ground", "rod", axis=(0, 0, 1))
    return Mechanism("rotor", [rod], [joint], actuators=[Actuator("axis", **kind)], gravity=(0, 0, 0))


def samples(plant, law, count, q=None, v=None):
    """Efforts and states of a sampled law at samples of a machine that is held fast."""
    terms = plant.terms(plant.neutral() if q is None else q, np.zeros(plant.nv) if v is None else v)
    state, out = law.start(plant), []
    for k in range(count):
        found = law.evaluate(k * T, terms, state)
        out.append(found.effort)
        state = found.state
    return np.array(out)


# -- saturation ------------------------------------------------------------------------------------------


def test_saturation_takes_the_limits_of_the_plant():
    plant = plants.five_bar(effort=40.0)
    law = Asks(plant, lambda t: [100.0 * np.sin(50.0 * t), 30.0]) | Saturation()
    u = samples(plant, law, 100)
    assert u.max() == 40.0
    assert u.min() == -40.0
    inside = np.abs(u[:, 0]) < 40.0
    assert inside.any()
    assert u[inside, 0] == pytest.approx(100.0 * np.sin(50.0 * T * np.arange(100))[inside])
    assert largest(u[:, 1] - 30.0) == 0.0


@pytest.mark.parametrize(
    ("limits", "cut"), [(5.0, [5.0, -5.0]), ([5.0, 7.0], [5.0, -7.0]), ({"right": 3.0}, [50.0, -3.0])]
)
def test_limits_of_any_form(limits, cut):
    plant = plants.five_bar()
    law = [50.0, -60.0] | Saturation(limits, plant=plant)
    assert law(0.0, plant.terms(plant.assemble(), np.zeros(4)), np.zeros(0)) == pytest.approx(cut)


def test_wrong_limits():
    plant = plants.five_bar()
    law = Asks(plant, lambda t: [0.0, 0.0])
    with pytest.raises(ValueError, match="did you mean 'left'"):
        law | Saturation({"lefft": 1.0})
    with pytest.raises(ValueError, match=r"number >= 0 or one for each motor, got -1"):
        law | Saturation(-1.0)
    with pytest.raises(ValueError, match=r"one entry for each motor \(left, right\), got shape \(3,\)"):
        law | Saturation([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"Saturation needs the plant for its effort limits, and <lambda> has none.*"):
        (lambda t, terms, state: np.zeros(2)) | Saturation()
    late = (lambda t, terms, state: np.zeros(2)) | Saturation([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="limits of Saturation must have one entry for each motor"):
        late.start(plant)


# -- rate limit and actuator --------------------------------------------------------------------------------


def test_the_slope_of_a_rate_limit():
    plant = rotor()
    law = Asks(plant, lambda t: [1.0 if t > 0.0095 else 0.0]) | RateLimit(50.0)
    u = samples(plant, law, 60)[:, 0]
    assert largest(u[:10]) == 0.0
    assert u[10:30] == pytest.approx(0.05 * np.arange(1, 21))
    assert largest(u[30:] - 1.0) < 1e-12
    # a signal that is slow enough passes
    slow = Asks(plant, lambda t: [np.sin(40.0 * t)]) | RateLimit(41.0)
    assert samples(plant, slow, 60)[:, 0] == pytest.approx(np.sin(40.0 * T * np.arange(60)))


def test_a_rate_limit_in_continuous_time():
    """A large step: a ramp, and the last bit, where the rate no longer matters, exponential."""
    plant, rate, tau = rotor(), 50.0, 0.01
    law = Asks(plant, lambda t: [1.0], None) | RateLimit(rate, time_constant=tau)
    run = simulate(plant, law, [0.0], t_end=0.05, output_times=1e-3)
    t = run.time
    turn = (1.0 - rate * tau) / rate  # from here on 1 - u = rate tau exp(-(t - turn) / tau)
    truth = np.where(t < turn, rate * t, 1.0 - rate * tau * np.exp(-(t - turn) / tau))
    assert largest(run.u.values[:, 0] - truth) < 2e-6
    with pytest.raises(ValueError, match=r"continuous time here, where it needs a time constant"):
        Asks(plant, lambda t: [1.0], None) | RateLimit(50.0)
    with pytest.raises(ValueError, match=r"the rate of RateLimit must be > 0"):
        Asks(plant, lambda t: [1.0]) | RateLimit(0.0)


@pytest.mark.parametrize("period", [None, 0.05])
def test_step_response_of_an_actuator(period):
    """1 - exp(-t/tau) in continuous time, behind the hold as well; its integral is twice the velocity."""
    plant, tau = rotor(), 0.03
    law = Asks(plant, lambda t: [1.0], period) | FirstOrderActuator(tau, initial=-0.5)
    run = simulate(plant, law, [0.0], t_end=0.2, output_times=0.01)
    t = run.time
    assert largest(run.u.values[:, 0] - (1.0 - 1.5 * np.exp(-t / tau))) < 1e-9
    assert largest(run.v.values[:, 0] - 0.5 * (t - 1.5 * tau * (1.0 - np.exp(-t / tau)))) < 1e-9
    assert (run.command.values == 1.0).all()


@pytest.mark.parametrize("period", [None, 0.01])
def test_a_run_tells_the_command_from_what_friction_leaves_of_it(period):
    plant = rotor()
    friction = DriveFriction(coulomb=0.4, viscous=0.1)
    law = Asks(plant, lambda t: [1.0 + np.sin(20.0 * np.floor(100.0 * t + 1e-6))], period) | friction
    run = simulate(plant, law, [0.0], t_end=0.2, output_times=0.01, rtol=1e-6, atol=1e-6)
    assert largest(run.command.values - run.u.values - friction.force(run.v.values)) < 1e-12
    asked = 1.0 + np.sin(20.0 * np.round(100.0 * run.time))
    assert largest((run.command.values[:, 0] - asked)[:-1]) < 1e-9  # no sample at the end
    assert largest(run.actuator_power.values - run.u.values[:, 0] * run.v.values[:, 0]) < 1e-12
    assert run.max_energy_error < 1e-4  # of what acts, not of what was asked
    assert run.command.attrs["units"] == run.u.attrs["units"] == "N or N m"


def test_time_constants_by_motor():
    plant = plants.five_bar()
    law = Asks(plant, lambda t: [1.0, 1.0], None) | FirstOrderActuator(
        {"left": 0.1, "right": 0.2}, initial={"left": 0.5}
    )
    terms = plant.terms(plant.assemble(), np.zeros(4))
    assert law.start(plant) == pytest.approx([0.5, 0.0])
    assert law.evaluate(0.0, terms, law.start(plant)).state == pytest.approx([5.0, 5.0])
    assert law.state_names(plant) == ["left_actuator", "right_actuator"]
    with pytest.raises(ValueError, match=r"must be > 0 and finite for each motor, got \[0.1, 0.0\]"):
        Asks(plant, lambda t: [1.0, 1.0]) | FirstOrderActuator({"left": 0.1})


# -- delay -----------------------------------------------------------------------------------------------


def test_a_delay_of_one_period_shifts():
    plant = rotor()
    asks = Asks(plant, lambda t: [np.sin(300.0 * t)])
    law = asks | Delay(T, initial=0.0)
    grid = T * (np.arange(30) + 0.5)
    run = simulate(plant, law, [0.0], t_end=0.03, output_times=grid)
    prompt = simulate(plant, asks, [0.0], t_end=0.03, output_times=grid)
    assert run.u.values[0, 0] == 0.0
    assert largest(run.u.values[1:] - prompt.u.values[:-1]) == 0.0
    assert largest(prompt.u.values) > 0.9


def test_delays_add_up():
    plant = plants.five_bar()
    law = Asks(plant, lambda t: [1.0, 1.0]) | Delay(2e-4) | Saturation(0.5) | Delay({"right": 1.1e-3}, 0.0)
    assert law.delay == pytest.approx([2e-4, 1.3e-3])
    run = simulate(plant, law, plant.assemble(left=2.1, right=1.0), t_end=2e-3, output_times=1e-4)
    t = run.time
    assert run.u.values[:, 0] == pytest.approx(np.where(t > 1.9e-4, 0.5, 0.0))
    assert run.u.values[:, 1] == pytest.approx(np.where(t > 1.29e-3, 0.5, 0.0))
    with pytest.raises(ValueError, match=r"continuous time, where a delay has no finite number of states.*period"):
        Asks(plant, lambda t: [1.0, 1.0], None) | Delay(1e-3)
    with pytest.raises(ValueError, match="must be finite"):
        Asks(plant, lambda t: [1.0, 1.0]) | Delay(np.inf)


def test_what_acts_before_the_first_effort_arrives():
    plant = plants.five_bar()
    law = Asks(plant, lambda t: [1.0 + 1e3 * t, 4.0])
    assert (law | Delay(T)).initial_effort is None  # that of the first sample
    named = law | Delay(2.5e-3, {"left": -2.0}) | Delay(T)
    assert named.initial_effort.tolist() == [-2.0, 0.0]
    run = simulate(plant, named, plant.assemble(left=2.1, right=1.0), t_end=5e-3, output_times=T)
    assert run.u.values.tolist() == [[-2.0, 0.0]] * 4 + [[1.0, 4.0], [2.0, 4.0]]
    around = WithModel(plants.five_bar(), named)
    assert around.initial_effort.tolist() == [-2.0, 0.0]
    with pytest.raises(ValueError, match="both say what acts before the first effort arrives"):
        law | Delay(T, 0.0) | Delay(T, 0.0)
    with pytest.raises(ValueError, match="must be finite, a number or one for each motor, or 'hold'"):
        law | Delay(T, np.nan)
    with pytest.raises(ValueError, match="initial efforts of a Delay must have one entry for each motor"):
        law | Delay(T, [0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="did you mean 'hold'"):
        law | Delay(T, "holds")


# -- friction of the drives ------------------------------------------------------------------------------------


def test_the_friction_curve():
    friction = DriveFriction(coulomb=2.0, viscous=0.5, breakaway=3.0, stribeck_velocity=0.2, width=1e-3)
    w = np.array([0.2, -0.2, 1.0, 1e-4, 0.0])
    truth = np.array([2.0 + np.exp(-1.0) + 0.1, -(2.0 + np.exp(-1.0) + 0.1), 2.5 + np.exp(-25.0), 0.0, 0.0])
    truth[3] = (2.0 + np.exp(-2.5e-7)) * np.tanh(0.1) + 5e-5
    assert friction.force(w) == pytest.approx(truth, rel=1e-12)
    # odd, and against the motion
    grid = np.linspace(-3.0, 3.0, 61)
    assert largest(friction.force(grid) + friction.force(-grid)) == 0.0
    assert (friction.force(grid) * grid >= 0.0).all()


def test_friction_brakes_a_rotor():
    """Coulomb friction alone, far above its width: v falls by F t / I."""
    plant = rotor()
    run = simulate(plant, [0.0] | DriveFriction(3.0), [0.0], [2.0], t_end=1.0, output_times=0.1)
    assert largest(run.v.values[:, 0] - (2.0 - 1.5 * run.time)) < 1e-9
    # it acts at the motor: with a gear it is as much larger at the joint
    geared = rotor(gear=4.0)
    run = simulate(geared, [0.0] | DriveFriction(0.0, viscous=0.1), [0.0], [2.0], t_end=1.0, output_times=0.1)
    assert largest(run.v.values[:, 0] - 2.0 * np.exp(-0.1 * 16.0 / 2.0 * run.time)) < 1e-9


@pytest.mark.parametrize("fraction", [1.0, 0.5])
def test_compensated_friction_cancels(fraction):
    plant = plants.five_bar()
    law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.0, 1.2]), bandwidth=8.0)
    friction = DriveFriction({"left": 5.0, "right": 3.0}, viscous=2.0, breakaway=[6.0, 3.0], width=0.05)
    q = plant.assemble(left=2.1, right=1.0)
    runs = [
        simulate(plant, x, q, t_end=0.4, output_times=0.1, rtol=1e-9, atol=1e-9)
        for x in (law, law | FrictionCompensation(friction, fraction=fraction) | friction, law | friction)
    ]
    error, whole = (largest(run.q.values - runs[0].q.values) for run in runs[1:])
    assert whole > 1e-3
    assert error < 1e-8 if fraction == 1.0 else 1e-4 < error < whole


def test_compensation_at_the_reference():
    """On the path itself both velocities agree."""
    plant = plants.five_bar()
    reference = Sine([2.1, 1.0], [0.1, 0.2], 1.0)
    law = ProjectedInverseDynamics(plant, ("left", "right"), reference, bandwidth=8.0, period=T)
    friction = DriveFriction(1.0, viscous=[2.0, 3.0])
    by = {v: law | FrictionCompensation(friction, velocity=v) for v in ("measured", "reference")}
    q = plant.assemble(left=2.1, right=1.0)
    y_rate = reference(0.0)[1]
    Z = plant.terms(q, np.zeros(4)).Z
    terms = plant.terms(q, Z @ np.linalg.solve(Z[[0, 2]], y_rate))
    u = [by[v](0.0, terms, np.zeros(0)) for v in ("measured", "reference")]
    assert u[0] == pytest.approx(u[1], rel=1e-12)
    assert u[0] - law(0.0, terms, np.zeros(0)) == pytest.approx(friction.force(y_rate))
    resting = plant.terms(q, np.zeros(4))
    assert by["reference"](0.0, resting, np.zeros(0)) - law(0.0, resting, np.zeros(0)) == pytest.approx(
        friction.force(y_rate)
    )
    # another reference reaches the compensation
    by["reference"] = by["reference"].with_reference(Constant([2.1, 1.0]))
    plain = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
    assert by["reference"](0.0, resting, np.zeros(0)) == pytest.approx(plain(0.0, resting, None))
    assert law.reference is reference
    with pytest.raises(ValueError, match=r"Asks has no reference in coordinates of the plant"):
        Asks(plant, lambda t: [0.0, 0.0]) | FrictionCompensation(friction, "reference")


def test_wrong_friction():
    law = Asks(rotor(), lambda t: [0.0])
    with pytest.raises(ValueError, match=r"breakaway friction 1.0 of DriveFriction must not be below its coulomb"):
        law | DriveFriction(2.0, breakaway=1.0)
    with pytest.raises(ValueError, match="the width of DriveFriction must be > 0"):
        DriveFriction(2.0, width=0.0)
    with pytest.raises(TypeError, match=r"must be a DriveFriction, got 2\.0"):
        FrictionCompensation(2.0)
    with pytest.raises(ValueError, match="did you mean 'measured'"):
        FrictionCompensation(DriveFriction(1.0), "mesured")


# -- encoders ----------------------------------------------------------------------------------------------


def test_rounding_is_within_half_a_step():
    plant = plants.five_bar()
    told = Told(plant)
    law = Encoder(bits={"left": 10, "right": 12}, resolution={"elbow_left": 0.01}) | told
    rng, step = np.random.default_rng(1), np.array([2 * np.pi / 1024, 0.01, 2 * np.pi / 4096, 0.0])
    errors = []
    for _ in range(40):
        q = plant.assemble(left=2.1, right=1.0) + 0.01 * rng.standard_normal(4)
        law(0.0, plant.terms(q, np.ones(4)), np.zeros(0))
        read = told.heard[-1][1]
        assert largest(np.remainder(read[:3] + 1e-9, step[:3])) < 2e-9
        errors.append(np.abs(read - q))
        assert told.heard[-1][2] == pytest.approx(np.ones(4))
    worst = np.max(errors, axis=0)
    assert (worst <= 0.5 * step * (1 + 1e-9)).all()
    assert (worst[:3] > 0.4 * step[:3]).all()


def test_noise_is_a_function_of_seed_and_sample():
    plant, told = rotor(), Told(rotor())
    law = Encoder(noise=1e-3, velocity_noise=1e-2, seed=3) | told
    terms = plant.terms([0.5], [0.1])
    for k in (0, 7, 0, 7 + 1e-9, 8):
        law(k * T, terms, np.zeros(0))
    (_, q0, v0), (_, q7, _), again, near, other = told.heard
    assert again[1] == q0
    assert again[2] == v0
    assert near[1] == q7 != q0
    assert other[1] != q7
    (Encoder(noise=1e-3, seed=4) | told)(0.0, terms, np.zeros(0))
    assert told.heard[-1][1] != q0
    for k in range(2000):
        law(k * T, terms, np.zeros(0))
    q, v = (np.array([h[i][0] for h in told.heard[-2000:]]) for i in (1, 2))
    assert np.std(q - 0.5) == pytest.approx(1e-3, rel=0.05)
    assert np.std(v - 0.1) == pytest.approx(1e-2, rel=0.05)
    assert abs(np.mean(q - 0.5)) < 1e-4
    assert abs(np.corrcoef(q[1:], q[:-1])[0, 1]) < 0.06


def test_noise_on_a_joint_of_several_axes():
    """A rotation vector of the size asked for; the quaternion stays one."""
    body = Body("body", 1.0, np.zeros(3), np.eye(3))
    plant = Mechanism("free", [body], [Free("float", "ground", "body")])
    names = plant.velocity_names
    told = Told(plant)
    law = Encoder(noise=dict.fromkeys(names[:3], 0.01)) | told
    q = plant.integrate(plant.neutral(), np.arange(1.0, 7.0))
    law(0.0, plant.terms(q, np.zeros(6)), np.zeros(0))
    change = plant.difference(q, told.heard[-1][1])
    assert np.count_nonzero(np.abs(change) > 1e-5) == 3
    assert largest(change) < 0.05
    qw = plant.position_names.index(next(n for n in plant.position_names if n.endswith("_qw")))
    assert np.linalg.norm(told.heard[-1][1][qw : qw + 4]) == pytest.approx(1.0, abs=1e-14)
    with pytest.raises(ValueError, match="belongs to a joint of several axes and is not read by itself"):
        Encoder(resolution={plant.position_names[qw]: 0.1}) | told


def test_wrong_encoders():
    slide = Mechanism(
        "slide", [Body("b", 1.0, np.zeros(3), np.eye(3))], [Prismatic("x", "ground", "b", axis=(1, 0, 0))]
    )
    law = Told(slide)
    with pytest.raises(ValueError, match=r"bits count the steps of a turn, and the coordinate 'x' is in m"):
        Encoder(bits={"x": 10}) | law
    with pytest.raises(ValueError, match="whole number from 1 to 52, got 0"):
        Encoder(bits=0) | Told(rotor())
    with pytest.raises(ValueError, match="both bits and a resolution"):
        Encoder(0.1, bits=10) | Told(rotor())
    with pytest.raises(ValueError, match="finite and >= 0"):
        Encoder(-0.1) | law
    with pytest.raises(ValueError, match=r"whole number >= 0, got 0\.5"):
        Encoder(0.1, seed=0.5)
    with pytest.raises(ValueError, match=r"no coordinate 'axs'; did you mean 'axis'"):
        Encoder({"axs": 0.1}) | Told(rotor())
    with pytest.raises(
        ValueError, match=r"read at samples, and the law Asks works in continuous time: give it a period"
    ):
        Encoder(0.1) | Asks(slide, lambda t: [], None)


# -- velocity from positions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [0.0, 0.004])
def test_the_filter_at_a_sine(tau):
    """After its transients the velocity of a sine is H(exp(j w T)) times its position."""
    plant, told, w = rotor(), Told(rotor()), 120.0
    law = FilteredDifference(tau) | told
    state = law.start(plant)
    t = T * np.arange(400)
    for x in t:
        terms = plant.terms([np.sin(w * x)], [w * np.cos(w * x)])
        state = law.evaluate(x, terms, state).state
    v = np.array([h[2][0] for h in told.heard])
    z, a = np.exp(1j * w * T), np.exp(-T / tau) if tau else 0.0
    H = (1.0 - a) / T * (1.0 - 1.0 / z) / (1.0 - a / z)
    assert v[100:] == pytest.approx((H * np.exp(1j * w * t)).imag[100:], abs=1e-8)
    assert v[0] == w  # the first velocity is taken as it is told


def test_differences_on_joints_of_several_axes():
    """A body that turns steadily about its own axis: the difference is its angular velocity."""
    plant = Mechanism("free", [Body("b", 1.0, np.zeros(3), np.eye(3))], [Free("float", "ground", "b")])
    told, rate = Told(plant), np.array([0.3, -2.0, 1.0, 0.5, 0.1, -0.4])
    law = FilteredDifference(0.002) | told
    state, q = law.start(plant), plant.integrate(plant.neutral(), np.arange(6.0))
    for k in range(30):
        terms = plant.terms(q, rate if k == 0 else np.zeros(6))
        law(k * T, terms, state)
        state = law.evaluate(k * T, terms, state).state
        q = plant.integrate(q, T * rate)
    assert told.heard[-1][2] == pytest.approx(rate, abs=1e-10)


def test_cutoff_and_time_constant():
    assert FilteredDifference(cutoff=50.0).time_constant == pytest.approx(1.0 / (100.0 * np.pi))
    for wrong in ({}, {"time_constant": 0.1, "cutoff": 3.0}):
        with pytest.raises(TypeError, match="either a time_constant"):
            FilteredDifference(**wrong)
    with pytest.raises(ValueError, match="must be > 0"):
        FilteredDifference(cutoff=0.0)
    with pytest.raises(ValueError, match="must be >= 0"):
        FilteredDifference(-1.0)


def test_forward_kinematics_closes_the_loops():
    """Two encoders on the motors tell the whole state."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    v = plant.project_velocity(q, [0.3, 0.0, -0.2, 0.0])
    told = Told(plant)
    terms = plant.terms(q + np.array([0.0, 0.03, 0.0, -0.05]), v + np.array([0.0, 1.0, 0.0, 2.0]))
    (ForwardKinematics(("left", "right")) | told)(0.0, terms, np.zeros(0))
    assert told.heard[0][1] == pytest.approx(q, abs=1e-12)
    assert told.heard[0][2] == pytest.approx(v, abs=1e-12)
    rough = Encoder(bits=8) | ForwardKinematics(("left", "right")) | told
    rough(0.0, terms, np.zeros(0))
    assert plant.closure_error(told.heard[1][1]) < 1e-12
    assert 1e-4 < largest(told.heard[1][1] - q) < 0.05
    with pytest.raises(ActuationError, match=r"\('left',\) do not determine the motion.*2 degrees of freedom"):
        (ForwardKinematics("left") | told)(0.0, terms, np.zeros(0))
    with pytest.raises(ValueError, match="did you mean 'left'"):
        ForwardKinematics(("lefft", "right")) | told


def test_a_block_of_your_own():
    class Biased(SensorBlock):
        def measured(self, t, q, v, state):
            return q + 0.1, v

    told = Told(rotor())
    (Biased() | told)(0.0, rotor().terms([0.5], [0.0]), np.zeros(0))
    assert told.heard[0][1] == 0.6
