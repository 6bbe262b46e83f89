"""Laws with symbols and with numbers say the same, and so do their runs."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

import cmbcontrol as cmb
import cmbcontrol.trace.code as trace_code
from cmbcontrol import (
    CamProfile,
    Constant,
    JerkLimited,
    Joined,
    Quintic,
    Sine,
    Spline,
    design,
    linearize,
    plants,
    simulate,
    trim,
)
from cmbcontrol._jit import JIT_ENABLED, execute, kernel
from cmbcontrol.controllers import (
    PID,
    Cascade,
    ConstrainedActuation,
    ConstraintForcePI,
    Coordinates,
    Delay,
    DriveFriction,
    Encoder,
    Evaluation,
    Filter,
    FilteredDifference,
    FirstOrderActuator,
    ForwardKinematics,
    FrictionCompensation,
    GainScheduled,
    GravityPD,
    HybridMotionForce,
    Impedance,
    LeadLag,
    LowPass,
    MotionObserver,
    Notch,
    ObserverFeedback,
    OutputFeedback,
    PassiveJoints,
    PointTask,
    PoseTask,
    ProjectedInverseDynamics,
    RateLimit,
    Saturation,
    WithModel,
)  # fmt: skip
from cmbcontrol.controllers.controller import Controller, FunctionController, as_controller, regular_terms
from cmbcontrol.controllers.references import over_times
from cmbcontrol.controllers.traced import NotCompiled, compiled_law, drive_code, is_own, law_code, parts_of
from cmbcontrol.dynamics.forces import measured_force
from cmbcontrol.errors import ActuationError, SimulationError, SpeedWarning
from cmbcontrol.model.actuation import actuation_at
from cmbcontrol.model.terms import independent_rows as rows

from ..fixtures import FORCE_ROWS, actuated_five_bar, force_motion, force_start, open_arm
from ..seeds import many, rotating
from ..trace.test_functions import random_machine

pytestmark = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")


@pytest.fixture(autouse=True)
def generated(monkeypatch):
    """Whatever the environment says."""
    monkeypatch.setattr(trace_code, "CHOICE", "generated")


PERIOD = 1e-3
WAY = Sine([2.1, 1.0], [0.1, 0.2], 1.0)
DRIVES = ("left", "right")


@kernel
def run_code(address, p, x, y):
    return execute(address, p, x, y)


def five_bar(**options):
    plant = plants.five_bar(effort=40.0, **options)
    return plant, plant.assemble(left=2.1, right=1.0)


def heavier(plant):
    bodies = [replace(body, mass=1.2 * body.mass) for body in plant.bodies]
    options = {"actuators": plant.actuators, "gravity": plant.gravity}
    return cmb.Mechanism(plant.name, bodies, plant.joints, plant.loops, **options)


def motion(plant, way=WAY, **options):
    return ProjectedInverseDynamics(plant, DRIVES, way, **{"bandwidth": 8.0, "period": PERIOD} | options)


def differences(plant, q0, controller, count=12, seed=0):
    """Errors of the code, part of the largest number at that state, and how often it was not to be trusted."""
    controller = as_controller(controller, plant)
    code = law_code(plant, controller, q0)
    assert not isinstance(code, str), code
    rng, errors, left = np.random.default_rng(seed), [], 0
    start = np.asarray(controller.start(plant))
    for i in range(count):
        q = (
            plant.close(plant.integrate(q0, 0.05 * rng.standard_normal(plant.nv) * plant.displacement_scale))
            if i
            else q0
        )
        v, t = plant.project_velocity(q, rng.standard_normal(plant.nv) * plant.size / plant.unit_lengths), i * PERIOD
        state = start + (0.1 * rng.standard_normal(start.size) if i else 0.0)
        held = 10.0 * rng.standard_normal(plant.nu if controller.measures_force else 0)
        x = np.concatenate([[t], q, v, state, held, *(over_times(f, np.array([t]))[0] for f, _ in code.signals)])
        y = np.zeros(plant.nu + start.size + len(code.report))
        if run_code(code.address, code.p, x, y) != 0:
            left += 1
            continue
        terms = plant.terms(q, v, t)
        said = controller.evaluate(t, measured_force(terms, held) if held.size else terms, state.copy())
        report = np.concatenate([q, v, state, held]) if code.told else list(said.reported().values())
        assert code.told or tuple(said.reported()) == code.report
        wanted = np.concatenate([said.effort, state if said.state is None else said.state, report])
        errors.append(np.abs(y - wanted).max() / np.abs(wanted).max())
    return np.array(errors), left


LAWS = {
    "plain": lambda plant: motion(plant),
    "gains": lambda plant: motion(plant, bandwidth=None, kp=[[64.0, 1.0], [2.0, 50.0]], kd=[16.0, 12.0]),
    "weight": lambda plant: motion(plant, weight=[1.0, 4.0]),
    "scale": lambda plant: motion(plant, saturation="scale"),
    "clip": lambda plant: motion(plant, saturation="clip", limits=[30.0, 70.0]),
    "one free": lambda plant: ProjectedInverseDynamics(
        plant, Coordinates(plant, "left"), Sine([2.1], [0.1], 1.0), bandwidth=8.0, period=PERIOD),
    "other coordinates": lambda plant: ProjectedInverseDynamics(
        plant, ("left", "elbow_left"), Constant([2.1, -1.0]), bandwidth=8.0, period=PERIOD),
    "point": lambda plant: ProjectedInverseDynamics(
        plant, PointTask(plant, "left_upper", point=(1.5, 0.0, 0.0), axes="xy"), Quintic([0.5, 1.9], [0.6, 1.8], 1.0),
        bandwidth=8.0, period=PERIOD),
    "gravity": lambda plant: GravityPD(plant, Constant([2.1, 1.0]), kp=100.0, kd=20.0, period=PERIOD),
    "cascade": lambda plant: (
        Cascade(plant, WAY, position_gain=9.0, velocity_gain=[40.0, 30.0], integral_time=[0.1, np.inf],
                velocity_limit=2.0, period=PERIOD)
        | Notch(80.0, 9.0) | LowPass({"left": 200.0}, order=3) | Saturation()),
    "PID": lambda plant: (
        PID(plant, WAY, kp=90.0, ki=[30.0, 0.0], kd=20.0, derivative_time=[0.01, 0.0], set_point_weight=0.5,
            period=PERIOD)
        | LeadLag(10.0, 90.0) | Filter({"num": [1.0, 9.0], "den": [1.0, 0.0]}) | Saturation()),
    "gain scheduled": lambda plant: GainScheduled(
        [[PID(plant, WAY, kp=90.0 + 9.0 * i + j, ki=30.0, kd=20.0, period=PERIOD) for j in range(2)] for i in range(3)],
        {"left": [1.9, 2.1, 2.3], "right": [0.8, 1.2]}, interpolation="cubic"),
    "impedance": lambda plant: Impedance(
        plant, PointTask(plant, "left_upper", point=(1.5, 0.0, 0.0), axes="x"), Constant([0.5]), stiffness=300.0,
        damping=30.0, null_damping=1.0, period=PERIOD),
    "impedance with inertia": lambda plant: Impedance(
        plant, PointTask(plant, "left_upper", point=(1.5, 0.0, 0.0), axes="xy"), Constant([0.5, 1.9]),
        stiffness=[[300.0, 10.0], [10.0, 200.0]], damping=30.0, inertia=[[3.0, 0.1], [0.1, 2.0]], period=PERIOD),
    "passive joints": lambda plant: PassiveJoints(motion(plant)),
    "passive joints, weight": lambda plant: PassiveJoints(motion(plant), weight=[1.0, 2.0, 3.0, 4.0]),
    "limits": lambda plant: ConstrainedActuation(motion(plant), limits=500.0),
    "limits on one side": lambda plant: ConstrainedActuation(
        motion(plant), limits=[[-np.inf, -400.0], [500.0, 300.0]], slack="scale", metric=np.eye(4)),
    "with model": lambda plant: WithModel(heavier(plant), motion(plant)),
    "spline": lambda plant: motion(plant, Spline([0.0, 0.01, 0.5], [[2.1, 1.0], [2.0, 1.1], [2.2, 0.9]])),
    "chain": lambda plant: (
        Encoder(bits=14, noise=1e-4, velocity_noise=1e-3) | FilteredDifference(0.01) | motion(plant)
        | FrictionCompensation(DriveFriction(coulomb=2.0, viscous=0.5, breakaway=3.0)) | Saturation()
        | RateLimit(1e4) | Delay(1.3e-3)),
    "forward kinematics": lambda plant: (
        Encoder(noise={"left": 1e-3, "right": 1e-3}) | ForwardKinematics(DRIVES) | motion(plant)),
}  # fmt: skip


@pytest.mark.parametrize("name", LAWS)
def test_law(name):
    plant, q0 = five_bar()
    errors, left = differences(plant, q0, LAWS[name](plant))
    assert errors.max() < 1e-11  # of a configuration 0.05 times its span away, over the conditioning of the loops
    assert left <= 2


@pytest.mark.parametrize("name", LAWS)
def test_reports_have_units(name):
    """Every number but residuals of levels, which may mix them."""
    plant, q0 = five_bar()
    law = as_controller(LAWS[name](plant), plant)
    numbers = law.evaluate(0.0, plant.terms(q0, np.zeros(plant.nv)), np.asarray(law.start(plant))).reported()
    units = law.report_units()
    assert [n for n in numbers if not units.get(n) and not n.startswith("level_")] == []
    of_error = "m" if name == "point" else "rad"
    assert all(units[n] == of_error for n in numbers if n.endswith("_error") and "rate" not in n)


def test_state_feedback():
    plant, q0 = five_bar()
    found = design.lqr(
        linearize(plant, trim(plant, q0)), Q=np.eye(5), R=1e-2 * np.eye(2), integral="left", period=PERIOD
    )
    errors, left = differences(plant, q0, getattr(found, "controller", found))
    assert errors.max() < 1e-11
    assert left == 0


@pytest.mark.parametrize("kind", ["predictor", "current"])
def test_observers(kind):
    plant, q0 = five_bar()
    lin, outputs = linearize(plant, trim(plant, q0), coordinates=DRIVES), ("elbow_left", "right")
    feedback = design.lqr(lin, Q={"left": 400.0, "right": 400.0}, R=0.01, period=PERIOD)
    L = design.kalman(lin, outputs, effort_noise=1.0, measurement_noise=1e-6, period=PERIOD)
    controller = ObserverFeedback(feedback, L, outputs, kind=kind)
    errors, left = differences(plant, q0, controller)
    assert errors.max() < 1e-11
    assert left == 0


def test_output_feedback():
    plant, q0 = five_bar()
    lin = linearize(plant, trim(plant, q0), coordinates=DRIVES)
    lead = {"A": [[0.6, 0.0], [0.0, 0.7]], "B": np.eye(2), "C": [[-90.0, 0.0], [5.0, -60.0]], "D": 300.0 * np.eye(2)}
    controller = OutputFeedback(lin, lead | {"dt": PERIOD}, ("elbow_left", "right"))
    errors, left = differences(plant, q0, controller)
    assert errors.max() < 1e-11
    assert left == 0
    assert law_code(plant, controller, q0) is not None


FORCES = {
    "constant": {"desired": [20.0, -10.0]},
    "of time": {"desired": lambda t: [20.0 * np.sin(3.0 * t), 5.0], "filter_time": 0.01},
    "limited": {"desired": np.array([20.0, -10.0]), "integral_limit": [0.05, 2.0]},
    "weighted": {"desired": [20.0, -10.0], "weight": [1.0, 2.0, 3.0, 4.0]},
}


def force_law(plant, desired, **options):
    return ConstraintForcePI(plant, desired, FORCE_ROWS["five-bar"], kp=0.2, ki=20.0, period=PERIOD, **options)


@pytest.mark.parametrize("name", FORCES)
def test_force_laws(name):
    plant = actuated_five_bar()
    q0, _ = force_start(plant)
    force = force_law(plant, **FORCES[name])
    for controller in (force, HybridMotionForce(force_motion(plant, period=PERIOD), force)):
        errors, left = differences(plant, q0, controller)
        assert law_code(plant, controller, q0).told
        assert errors.max() < 1e-11
        assert left == 0


@pytest.mark.parametrize("name", FORCES)
def test_runs_with_force_laws(name, monkeypatch):
    """The same run by code and by Python, with its report, which Python tells afterwards."""
    plant = actuated_five_bar()
    law = HybridMotionForce(force_motion(plant, period=PERIOD), force_law(plant, **FORCES[name])) | Saturation(200.0)
    runs = [simulate(plant, law, *force_start(plant), t_end=0.3, output_times=0.05)]
    monkeypatch.setattr(trace_code, "CHOICE", "kernels")
    runs.append(simulate(plant, law, *force_start(plant), t_end=0.3, output_times=0.05))
    assert runs[0].data.attrs["samples_by_code"] >= 298
    assert runs[1].data.attrs["samples_by_code"] == 0
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-10)
    reports = [run.report.values for run in runs]
    np.testing.assert_allclose(*reports, rtol=1e-6, atol=1e-6)  # N


OBSERVERS = {
    "as many joints": (("left", "elbow_right"), {}),
    "more joints": (("left", "right", "elbow_right"), {"limits": 30.0}),
    "no disturbance": (("left", "right"), {"disturbance": False, "velocity": [0.1, 0.0, 0.0, 0.0]}),
}


@pytest.mark.parametrize("name", OBSERVERS)
@pytest.mark.first(1)
def test_runs_with_motion_observers(name, monkeypatch):
    """All samples but the first, for which Python assembles the machine, with a model that is heavier."""
    plant, q0 = five_bar()
    outputs, options = OBSERVERS[name]
    observed = MotionObserver(motion(heavier(plant), Sine([2.1, 1.0], [0.3, 0.2], 1.0)), outputs, 60.0, **options)
    assert not isinstance(law_code(plant, observed, q0), str)
    chain = Encoder(bits=14) | observed | Delay(1.3e-3)
    runs = [simulate(plant, chain, q0, t_end=0.3, output_times=0.01)]
    monkeypatch.setattr(trace_code, "CHOICE", "kernels")
    runs.append(simulate(plant, chain, q0, t_end=0.3, output_times=0.01))
    assert [run.data.attrs["samples_by_code"] for run in runs] == [299, 0]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-11)
    np.testing.assert_allclose(runs[0].u, runs[1].u, atol=1e-9)
    np.testing.assert_allclose(runs[0].report, runs[1].report, atol=1e-10)


@pytest.mark.parametrize("name", ["loader", "three-rrr"])
def test_motion_observers_of_other_machines(name):
    plant, q0, _ = plants.catalogue[name].start()
    names = [n for n in plant.actuator_names if n in plant.position_names]
    way = Constant(q0[[plant.position_names.index(n) for n in names]])
    motors = ProjectedInverseDynamics(plant, names, way, bandwidth=8.0, period=PERIOD)
    run = simulate(plant, MotionObserver(motors, names, 60.0), q0, t_end=0.05)
    assert run.data.attrs["samples_by_code"] == 49
    assert abs(run.report.values).max() < 1e-6


def test_a_law_that_begins_with_something_of_its_own():
    """It cannot be traced as at its first sample, and is as at its second; Python takes the first one."""
    plant, q0 = five_bar()

    @compiled_law
    class Remembering(Controller):
        period = PERIOD

        def start(self, plant):
            return np.zeros(1)

        def evaluate(self, t, terms, state):
            if state[0] == 0.0:
                return Evaluation(np.zeros(2), np.array([float(terms.q[0])]))
            return Evaluation(-100.0 * (terms.q[0] - state[0]) * np.ones(2), state)

    run = simulate(plant, Remembering(), q0, t_end=0.05)
    assert run.data.attrs["samples_by_code"] == 49


@pytest.mark.filterwarnings("ignore:.*has code, which has left:cmbcontrol.errors.SpeedWarning")
def test_a_law_that_compares_numbers():
    """Equality is decided by numbers, and Python decides where it would be decided otherwise."""
    plant, q0 = five_bar()

    @compiled_law
    class Counting(Controller):
        period = PERIOD

        def start(self, plant):
            return np.zeros(1)

        def evaluate(self, t, terms, state):
            effort = np.array([1.0, 2.0]) if state[0] == 0.0 else np.array([3.0, 4.0])
            return Evaluation(effort if state[0] != 20.0 else np.zeros(2), state + 1.0)

    run = simulate(plant, Counting(), q0, t_end=0.03, output_times=PERIOD)
    assert 0 < run.data.attrs["samples_by_code"] < 30
    wanted = np.array([[1.0, 2.0], *[[3.0, 4.0]] * 19, [0.0, 0.0], *[[3.0, 4.0]] * 9, [3.0, 4.0]])
    np.testing.assert_array_equal(run.u.values, wanted[: len(run.u)])


def test_a_force_that_redundant_rows_share_is_left_to_python():
    plant = actuated_five_bar(closure="revolute")
    q0, _ = force_start(plant)
    force = ConstraintForcePI(plant, [5.0], ["tip_x"], kp=0.2, ki=20.0, period=PERIOD)
    assert len(plant.row_names) > plant.generic_rank(q0)
    assert "redundant rows" in law_code(plant, force, q0)


@pytest.mark.parametrize("name", ["delta", "loader", "stewart", "three-rrr"])
def test_other_machines(name):
    plant, q0, _ = plants.catalogue[name].start()
    names = [n for n in plant.actuator_names if n in plant.position_names]
    if len(names) < plant.nu:
        from cmbcontrol.controllers.gravity_compensation import driven_coordinates

        names = list(driven_coordinates(plant))
    way = Constant(q0[[plant.position_names.index(n) for n in names]])
    errors, left = differences(plant, q0, ProjectedInverseDynamics(plant, names, way, bandwidth=8.0, period=PERIOD), 4)
    assert errors.max() < 1e-10
    assert left == 0


@pytest.mark.parametrize("weight", [None, "unequal"])
def test_more_motors_than_freedoms(weight):
    plant, q0, _ = plants.catalogue["two-arms"].start()
    names = ("left_shoulder", "left_elbow", "left_wrist")
    way = Constant(q0[[plant.position_names.index(n) for n in names]])
    inside = ProjectedInverseDynamics(plant, names, way, bandwidth=8.0, period=PERIOD)
    passive = PassiveJoints(inside, weight=None if weight is None else np.linspace(1.0, 3.0, plant.nv))
    errors, left = differences(plant, q0, passive, 6)
    assert errors.max() < 1e-11
    assert left == 0
    nominal = np.linspace(-1.0, 2.0, plant.nu)
    metric = None if weight is None else np.diag(np.linspace(1.0, 3.0, plant.nu)) + 0.1
    limited = ConstrainedActuation(inside, limits=5e3, nominal=nominal, weight=metric)
    errors, left = differences(plant, q0, limited, 6)
    assert errors.max() < 1e-9  # a program is solved to this
    assert left == 0


def test_passive_joints_that_lose_control_are_left_to_python():
    """On the way to where the motors lose control: code goes on until it may be near, and never takes what is lost."""
    plant, q0 = five_bar()
    path = [plant.assemble(left=2.1 - x, right=1.0 + x) for x in np.linspace(0.0, 1.1, 40)]
    margins, least = np.array([actuation_at(plant.terms(q, np.zeros(plant.nv))).margin for q in path]), 0.3
    code = law_code(plant, PassiveJoints(motion(plant), margin=least), q0)
    taken = []
    for q in path:
        x = np.concatenate([[0.0], q, np.zeros(plant.nv), *(over_times(f, np.zeros(1))[0] for f, _ in code.signals)])
        taken.append(run_code(code.address, code.p, x, np.zeros(plant.nu + len(code.report))) == 0)
    assert not any(margins[taken] < least)
    assert all(np.array(taken)[margins > 1.001 * np.sqrt(2.0) * least])  # a sum of two inverse squares guards
    assert 0 < sum(taken) < len(path)


def test_pose_in_space():
    plant, q0, _ = plants.catalogue["stewart"].start()
    task = PoseTask(plant, "platform")
    there = task.value(plant.terms(q0, np.zeros(plant.nv)))
    way = Quintic(there, there + np.array([0.05, 0.02, -0.03, 0.1, -0.2, 0.3]), 0.01)
    errors, left = differences(plant, q0, ProjectedInverseDynamics(plant, task, way, bandwidth=8.0, period=PERIOD), 6)
    assert errors.max() < 1e-10
    assert left == 0


def check_random(seeds):
    """Machines whose motors reach every motion, under a law in coordinates of their own."""
    checked = 0
    for seed in seeds:
        found = random_machine(seed)
        if found is None:
            continue
        plant, q = found
        terms = plant.terms(q, np.zeros(plant.nv))
        single = [n for n in plant.velocity_names if n in plant.position_names]
        if terms.rank != plant.generic_rank(q) or not terms.dof or not actuation_at(terms).margin > 0.05:
            continue
        regular = regular_terms(plant)
        if regular is not None and regular.dof != terms.dof:
            continue  # another mobility where the machine is assembled: a law is checked there
        rows = [plant.velocity_names.index(n) for n in single]
        if len(single) < terms.dof or np.linalg.matrix_rank(terms.Z[rows], 1e-3) < terms.dof:
            continue
        order = np.linalg.qr(terms.Z[rows].T @ np.eye(len(rows)))[1]
        chosen = [single[i] for i in np.argsort(-np.abs(order).max(axis=0))[: terms.dof]]
        way = Constant(q[[plant.position_names.index(n) for n in chosen]])
        try:
            controller = ProjectedInverseDynamics(plant, chosen, way, bandwidth=8.0, period=PERIOD)
            controller.evaluate(0.0, plant.terms(q, np.zeros(plant.nv)), np.zeros(0))
        except ActuationError:
            continue
        if isinstance(law_code(plant, controller, q), str):
            continue  # too near to a singular configuration, or rows that are
        v = plant.project_velocity(
            q, np.random.default_rng(0).standard_normal(plant.nv) * plant.size / plant.unit_lengths
        )
        moving = plant.terms(q, v)
        if np.abs(moving.A @ moving.Cv + moving.b).max(initial=0.0) > 1e-9 * np.abs(moving.b).max(initial=0.0):
            continue  # redundant rows that contradict each other at this velocity
        errors, _ = differences(plant, q, controller, 1)
        assert errors.max(initial=0.0) < 1e-8, seed  # 2500 times rounding, for the loops and for the motors
        checked += errors.size
        passive = PassiveJoints(controller)
        if not isinstance(law_code(plant, passive, q), str):
            errors, _ = differences(plant, q, passive, 1)
            assert errors.max(initial=0.0) < 1e-8, seed
    return checked


@pytest.mark.slow
def test_random_machines():
    assert check_random(range(many(60))) >= many(5)


# -- runs --------------------------------------------------------------------------------------------------------------


def both(monkeypatch, plant, controller, q0, t_end=0.3):
    runs = []
    for how in ("kernels", "generated"):
        monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", how)
        run = simulate(plant, controller, q0, t_end=t_end)
        run.data  # noqa: B018  # looked at while the choice holds
        runs.append(run)
    return runs


RUNS = {
    "sampled": lambda plant: motion(plant),
    "delayed": lambda plant: motion(plant) | Saturation() | Delay([1.3e-3, 2e-3]),
    "switched on": lambda plant: motion(plant) | Delay(2.5e-3, initial=0.0),
    "sensors": LAWS["chain"],
    "friction": lambda plant: motion(plant) | Delay(PERIOD) | DriveFriction(coulomb=2.0, breakaway=3.0),
    "actuators": lambda plant: motion(plant) | FirstOrderActuator(5e-3) | DriveFriction(coulomb=2.0),
    "continuous": lambda plant: motion(plant, period=None),
    "continuous, constant": lambda plant: motion(plant, Constant([2.0, 1.1]), period=None),
    "continuous chain": lambda plant: motion(plant, period=None) | Saturation() | FirstOrderActuator(5e-3),
    "passive": lambda plant: PassiveJoints(motion(plant)),
    "passive, continuous": lambda plant: PassiveJoints(motion(plant, period=None), weight=[1.0, 2.0, 3.0, 4.0]),
    "limits": lambda plant: ConstrainedActuation(motion(plant, Sine([2.1, 1.0], [0.2, 0.1], 1.5)), limits=80.0),
    "damped": lambda plant: motion(plant, damped=0.1),
}


@pytest.mark.filterwarnings(
    "ignore:.*has code, which has left:cmbcontrol.errors.SpeedWarning"
)  # where limits are active
@pytest.mark.first(4)
@pytest.mark.parametrize("name", RUNS)
def test_runs(monkeypatch, name):
    plant, q0 = five_bar()
    kernels, generated = both(monkeypatch, plant, RUNS[name](plant), q0)
    for key in ("q", "v", "u", "command", "error", "report"):
        if key in kernels.data:
            expected = kernels.data[key].values
            np.testing.assert_allclose(
                generated.data[key].values,
                expected,
                rtol=0.0,
                atol=1e-9 * max(np.abs(expected).max(), 1.0),
                err_msg=key,
            )
    assert kernels.data.attrs["samples_by_code"] == kernels.data.attrs["evaluations_by_code"] == 0
    samples = round(0.3 / PERIOD) + 1 if "continuous" not in name else 0
    by_code = generated.data.attrs["samples_by_code"]
    if name == "limits":  # which are active at times, when Python takes the sample
        assert 30 < by_code < 270
        assert np.abs(generated.command.values).max() > 80.0 - 1e-6
    else:
        assert by_code in (samples, samples - 1)
    assert generated.data.attrs["evaluations_by_code"] > 0.85 * generated.data.attrs["evaluations"]


def test_excavator_like_chain_with_encoders_only_on_the_drives(monkeypatch):
    plant, q0 = five_bar()
    front = FilteredDifference(cutoff_hz=200.0) | ForwardKinematics(DRIVES)
    chain = Encoder(noise=dict.fromkeys(DRIVES, 1e-4), seed=3) | front | motion(plant) | Saturation() | Delay(PERIOD)
    kernels, generated = both(monkeypatch, plant, chain, q0)
    np.testing.assert_allclose(generated.q, kernels.q, atol=1e-9)
    assert generated.data.attrs["samples_by_code"] >= 300


def test_where_code_is_not_trusted_python_takes_the_sample(monkeypatch):
    class Switching(Controller):
        traced = True
        period = PERIOD

        def evaluate(self, t, terms, state):
            if t > 0.0505:  # decided as at the start
                return Evaluation([-31.0, 33.0], report={"side": 1.0})
            return Evaluation([-31.5, 32.9], report={"side": 0.0})

    plant, q0 = five_bar()
    kernels, generated = both(monkeypatch, plant, Switching(), q0, t_end=0.1)
    np.testing.assert_allclose(generated.u, kernels.u)
    np.testing.assert_array_equal(generated.report, kernels.report)
    assert generated.data.attrs["samples_by_code"] == 51


def test_reference_of_the_user_that_fails_on_the_way(monkeypatch):
    def way(t):
        if t > 0.05:
            raise ZeroDivisionError("no more")
        return np.array([2.1, 1.0]), np.zeros(2), np.zeros(2)

    plant, q0 = five_bar()
    for period in (PERIOD, None):
        monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", "generated")
        with pytest.raises(SimulationError, match="no more") as failure:
            simulate(plant, motion(plant, way, period=period), q0, t_end=0.1)
        assert 0.045 < float(failure.value.partial.time[-1]) <= 0.0511


def test_own_laws():
    plant, q0 = five_bar()

    @compiled_law
    def damping(t, terms, state):
        return -2.0 * terms.B.T @ terms.v + np.sin(t)

    @compiled_law
    class Integral(Controller):
        period = PERIOD

        def __init__(self, gain):
            self.gain = gain

        def start(self, plant):
            return [0.0]

        def evaluate(self, t, terms, state):
            error = 2.0 - terms.q[0]
            u = np.clip(np.concatenate([[40.0 * error + state[0]], np.zeros(1)]), -9.0, 9.0)
            return Evaluation(u, state + self.period * self.gain * error, report={"error": error})

    class Unmarked(Integral):
        traced = False

    from cmbcontrol.controllers.controller import FunctionController

    for own in (FunctionController(damping, period=PERIOD), Integral(10.0)):
        errors, left = differences(plant, q0, own)
        assert errors.max() < 1e-14
        assert left == 0
    assert law_code(plant, Integral(10.0), q0).address == law_code(plant, Integral(20.0), q0).address
    assert "mark it" in law_code(plant, Unmarked(10.0), q0)
    assert "mark it" in law_code(plant, FunctionController(lambda t, terms, state: terms.q[:2], period=PERIOD), q0)


def test_one_structure_is_compiled_once_and_numbers_are_inputs():
    plant, q0 = five_bar()
    heavy = heavier(plant)
    first = law_code(plant, motion(plant) | Saturation(35.0), q0)
    second = law_code(heavy, motion(heavy, Sine([2.0, 1.1], [0.3, 0.1], 2.0), bandwidth=9.0) | Saturation(30.0), q0)
    assert first.address == second.address
    assert first.p.shape == second.p.shape
    assert (first.p != second.p).any()
    assert law_code(plant, motion(plant, period=2e-3), q0).address == law_code(plant, motion(plant), q0).address


def test_functions_of_time_are_found_again_in_a_law_of_the_same_structure():
    plant, q0 = five_bar()
    ways = [lambda t, c=c: (np.array([c, 1.0]), np.zeros(2), np.zeros(2)) for c in (2.0, 2.2)]
    codes = [law_code(plant, motion(plant, way), q0) for way in ways]
    assert codes[0].address == codes[1].address
    assert [code.signals[0][0] for code in codes] == ways
    assert not is_own(ways[0])
    assert is_own(WAY)


@pytest.mark.parametrize("controller", [
    lambda plant: PassiveJoints(motion(plant), epsilon=1e-3),
    lambda plant: motion(plant, consistent=True),
])  # fmt: skip
def test_what_cannot_be_traced_says_why(controller):
    plant, q0 = five_bar()
    why = law_code(plant, controller(plant), q0)
    assert isinstance(why, str)
    assert "cannot be traced" in why


def test_drives_without_code_say_why():
    plant, q0 = five_bar()

    class Unmarked(cmb.controllers.Drive):
        def evaluate(self, t, terms, command, state):
            return Evaluation(command)

    assert "mark it" in drive_code(plant, Unmarked(), q0)


def test_runs_can_be_pickled():
    plant, q0 = five_bar()
    run = simulate(plant, motion(plant) | Saturation(), q0, t_end=0.05)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(run)).u, run.u)


@compiled_law
class Listed(Controller):
    """An integral law as the pages show it: efforts as a list."""

    period = PERIOD

    def __init__(self, gain):
        self.gain = gain

    def start(self, plant):
        return [0.0]

    def evaluate(self, t, terms, state):
        e = 2.0 - terms.q[0]
        u = np.clip(40.0 * e + state[0], -80.0, 80.0)
        return Evaluation([u, 0.0], [state[0] + self.period * self.gain * e])


@compiled_law
class Follower(Controller):
    """A reference of the class, or of the object."""

    period, coordinates, reference = PERIOD, ("left",), Sine([2.1], [0.1], 0.5)

    def evaluate(self, t, terms, state):
        r, rate, _ = self.reference(t)
        return Evaluation([40.0 * (r[0] - terms.q[0]) + 5.0 * (rate[0] - terms.v[0]), 0.0])


OWN = {
    "list": lambda plant: Listed(10.0),
    "list in a chain": lambda plant: Listed(10.0) | Saturation(30.0, plant=plant) | RateLimit(1e3, plant=plant),
    "list before a drive": lambda plant: Listed(10.0) | Saturation(plant=plant) | FirstOrderActuator(2e-3),
    "list behind sensors": lambda plant: (
        Encoder(bits=16, plant=plant) | FilteredDifference(0.01, plant=plant) | Listed(10.0) | Delay(PERIOD)),
    "reference": lambda plant: Follower(),
    "other reference": lambda plant: Follower().with_reference(Quintic([2.1], [2.0], 0.2)) | Saturation(plant=plant),
}  # fmt: skip


@pytest.mark.parametrize("which", OWN)
def test_own_laws_in_chains(monkeypatch, which):
    """Compiled, and the run that Python makes; a reference is followed as by laws of this package."""
    plant, q0 = five_bar()
    kernels, generated = both(monkeypatch, plant, OWN[which](plant), q0, t_end=0.1)
    assert generated.data.attrs["law_code"] == "generated"
    assert generated.data.attrs["samples_by_code"] >= 99
    np.testing.assert_allclose(generated.u, kernels.u, atol=1e-9)
    np.testing.assert_allclose(generated.q, kernels.q, atol=1e-12)
    if "reference" in which:
        np.testing.assert_allclose(generated.reference, kernels.reference)


def test_a_class_of_the_same_name_has_its_own_code():
    """As where a cell of a notebook is changed and run again."""
    plant, q0 = five_bar()

    def made(factor, period):
        @compiled_law
        class Again(Controller):
            gain = factor

            def effort(self, t, terms, state):
                return [self.gain * factor * terms.v[0], 0.0]

        Again.period = period
        return Again()

    codes = [law_code(plant, made(*given), q0) for given in ((2.0, PERIOD), (3.0, PERIOD))]
    assert codes[0].address != codes[1].address
    for code, factor in zip(codes, (4.0, 9.0), strict=True):
        x, y = np.concatenate([[0.0], q0, [1.0, 0.0, 0.0, 0.0]]), np.zeros(2)
        assert run_code(code.address, code.p, x, y) == 0
        assert y[0] == pytest.approx(factor)


def written(terms):
    u = np.zeros(2)
    u[0] = terms.q[0]
    return u


@pytest.mark.parametrize(("effort", "words"), [
    (lambda self, t, terms: [math.sin(terms.q[0]), 0.0], ("numpy's functions", "math.sin(terms.q[0])")),
    (lambda self, t, terms: written(terms), ("array of floats", "u[0] = terms.q[0]")),
    (lambda self, t, terms: [self.way(t + 0.1), 0.0], ("'way' is asked for something else", "self.way(t + 0.1)")),
    (lambda self, t, terms: [self.way.centre, 0.0], ("'way' is a function of time", "'centre'")),
    (lambda self, t, terms: [1.0 if terms.v[0] else 2.0, 0.0], ("asked whether it is true",)),
    (lambda self, t, terms: [0.0] * int(2 * terms.q[0] / terms.q[0]), ("whole one",)),
])  # fmt: skip
def test_what_of_an_own_law_cannot_be_compiled_is_said(effort, words):
    """In a warning of the run, by the line of the user; and exported code is refused with the same words."""
    plant, q0 = five_bar()

    @compiled_law
    class Mine(Controller):
        period = PERIOD

        def __init__(self):
            self.way = lambda t: 0.3 * t

        def effort(self, t, terms, state):
            return effort(self, t, terms)

    why = law_code(plant, Mine(), q0)
    assert isinstance(why, NotCompiled)
    for word in (*words, "test_traced.py"):
        assert word in why
    assert "Scalar" not in why and "_Unknown" not in why
    if "centre" not in why:
        with pytest.warns(SpeedWarning, match="runs in Python"):
            simulate(plant, Mine(), q0, t_end=0.01)


def test_samples_that_code_leaves_to_python_are_told():
    """Where most of them are: a comparison that is decided at the start and never again."""

    @compiled_law
    class Once(Controller):
        period = PERIOD

        def effort(self, t, terms, state):
            return [1.0 if t < 0.01 else 2.0, 0.0]

    plant, q0 = five_bar()
    with pytest.warns(SpeedWarning, match=r"left 90 of 100 samples .*where_less"):
        run = simulate(plant, Once(), q0, t_end=0.1)
    assert run.data.attrs["samples_by_code"] == 10
    simulate(plant, Once(), q0, t_end=0.015)


def test_what_is_left_to_python_on_purpose_is_silent():
    plant, q0 = five_bar()
    run = simulate(plant, FunctionController(lambda t, terms, state: [0.0, 0.0], period=PERIOD), q0, t_end=0.01)
    assert "mark it with @compiled_law" in run.data.attrs["law_code"]


@pytest.mark.parametrize("damped", [0.01, 0.5, 0.99])
@pytest.mark.parametrize("axes", ["x", "xy"])
def test_damped_tasks_are_compiled(axes, damped):
    plant, q0 = five_bar()
    goal = [0.5, 1.9][: len(axes)]
    task = PointTask(plant, "left_upper", point=(1.5, 0.0, 0.0), axes=axes)
    made = ProjectedInverseDynamics(plant, task, Constant(goal), bandwidth=8.0, period=PERIOD, damped=damped)
    errors, left = differences(plant, q0, made)
    assert errors.max() < 1e-10
    assert left == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["three-rrr", "stewart", "delta"])
def test_damped_tasks_and_impedances_of_more_values_are_compiled(name):
    """Singular values by rotations that are a straight line of operations."""
    plant, task = {
        "three-rrr": lambda p: (p, PoseTask(p, "platform", axes=("x", "y", "rz"))),
        "stewart": lambda p: (p, PoseTask(p, "platform")),
        "delta": lambda p: (p, PointTask(p, "platform")),
    }[name](plants.catalogue[name].factory())
    q0 = plants.catalogue[name].initial(plant)[0]
    goal = Constant(task.value(plant.terms(q0, np.zeros(plant.nv))))
    for made in (
        ProjectedInverseDynamics(plant, task, goal, bandwidth=8.0, period=PERIOD, damped=0.6),
        Impedance(plant, task, goal, 300.0, 30.0, period=PERIOD),
    ):
        errors, left = differences(plant, q0, made)
        assert errors.max() < 1e-9
        assert left <= 2


def test_an_impedance_is_compiled_where_an_arm_is_straight():
    """The code is trusted at the singular configuration itself, and says there what Python says."""
    plant = open_arm(2)
    task = PointTask(plant, "link1", (0.25, 0.0, 0.0), axes=("x", "y"))
    law = Impedance(plant, task, Constant([0.9, 0.1]), 500.0, 50.0, period=PERIOD)
    code = law_code(plant, law, np.array([0.3, 0.5]))
    for bend in (0.0, 1e-9, 1e-4, 0.1, 0.5):
        for v in (np.zeros(2), np.array([1.0, -3.0])):
            q, y = np.array([0.2, bend]), np.zeros(2)
            signals = over_times(code.signals[0][0], np.zeros(1))[0]
            assert run_code(code.address, code.p, np.concatenate([[0.0], q, v, signals]), y) == 0
            np.testing.assert_allclose(y, law(0.0, plant.terms(q, v), np.zeros(0)), rtol=1e-10, atol=1e-10)


def parallelogram(seed):
    """Bars of one length between the ground and a plate: one degree of freedom, and all but two rows redundant."""
    rng = np.random.default_rng(seed)
    count, length, angle = 3 + seed % 3, float(rng.uniform(0.4, 0.8)), float(rng.uniform(0.6, 1.2))
    x = [0.0, *np.sort(rng.uniform(0.3, 1.5, count - 1)).tolist()]
    y = [0.0, *rng.uniform(-0.2, 0.2, count - 1).tolist()]
    bodies = [cmb.Body.rod(f"bar{i}", 1.0 + i, length) for i in range(count)]
    bodies.append(cmb.Body("plate", 4.0, (0.5 * x[-1], 0.0, 0.0), (0.3, 0.3, 0.3)))
    joints = [cmb.Revolute(f"j{i}", "ground", f"bar{i}", frame=cmb.Frame((x[i], y[i], 0.0))) for i in range(count)]
    joints.append(cmb.Revolute("top", "bar0", "plate", frame=cmb.Frame((length, 0.0, 0.0))))
    ends = [((length, 0.0, 0.0), (x[i], y[i], 0.0)) for i in range(count)]
    if seed % 2:
        pins = [cmb.Point(f"pin{i}", f"bar{i}", "plate", *ends[i]) for i in range(1, count)]
    else:
        frames = [{"frame": cmb.Frame(a), "child_frame": cmb.Frame(b)} for a, b in ends]
        pins = [cmb.Revolute(f"pin{i}", f"bar{i}", "plate", **frames[i]) for i in range(1, count)]
    motors = [cmb.Actuator("j0"), cmb.Actuator("j1")]
    plant = cmb.Mechanism("parallelogram", bodies, joints, pins, actuators=motors, gravity=(0.0, -9.81, 0.0))
    return plant, plant.assemble(guess={f"j{i}": angle for i in range(count)} | {"top": -angle})


def noisy(seed):
    plant, q0 = parallelogram(seed)
    own = ProjectedInverseDynamics(plant, "j0", Constant(q0[:1]), bandwidth=6.0, period=PERIOD)
    noise = 10.0 ** np.random.default_rng([seed, 2]).uniform(-5.0, -3.0)
    return plant, q0, Encoder(noise=noise, velocity_noise=10.0 * noise, seed=seed) | own


@pytest.mark.parametrize("seed", range(8))
def test_noise_on_redundant_rows(seed):
    """Off the loops redundant rows do not agree: code and Python take the same ones."""
    plant, q0, chain = noisy(seed)
    assert sum(plant.diagnose(q0).redundant.values()) > 1
    errors, left = differences(plant, q0, chain, seed=seed)
    assert errors.max() < 1e-11
    assert left < 4


@pytest.mark.rotates
def test_noise_on_redundant_rows_of_many_machines(monkeypatch):
    """Where a row has lost nine tenths of its size Python takes another one, and code still has it: the noise is seen.

    Velocities are read to 1e-2, their squares to 2e-2, and a row of a tenth of the size of others makes 0.2 of that.
    """
    taken = []
    monkeypatch.setattr("cmbcontrol.model.terms.independent_rows", lambda terms: taken.append(rows(terms)) or taken[-1])
    for seed in rotating(100):
        plant, q0, chain = noisy(seed)
        taken.clear()
        errors, left = differences(plant, q0, chain, count=5, seed=seed)
        assert left or len(taken) == len(errors) == 5, seed
        others = np.array([each != taken[0] for each in taken[: len(errors)]], dtype=bool)
        assert left or errors[~others].max(initial=0.0) < 1e-10, seed
        assert errors.max(initial=0.0) < 0.2, seed


def test_rows_that_agree_are_all_kept():
    """On the loops nothing is left out, and laws say what they have said, to the last bit."""
    plant, q0 = parallelogram(4)
    v = plant.project_velocity(q0, np.ones(plant.nv))
    terms = plant.terms(q0, v)
    assert terms.of_independent_rows() is terms
    off = plant.terms(q0 + 1e-4 * np.arange(plant.nq), v, cap=terms.rank).of_independent_rows()
    assert len(off.A) == len(off.b) == len(off.phi) == len(off.row_names) == terms.rank


def test_laws_of_one_structure_may_follow_references_of_other_pieces(plant):
    """Signals are found by their places among the parts of a law, whatever its reference is made of, and has kept."""
    motions = [
        WAY,
        JerkLimited([2.1, 1.0], [2.2, 0.9], 1.0, 4.0, 40.0),
        Joined([CamProfile([0.0, 0.1], [[2.1, 1.0], [2.2, 0.9]], "modified trapezoid"), 0.1]),
    ]
    q0 = plant.assemble(left=2.1, right=1.0)
    for way in motions:
        law = motion(plant, way)
        count = len(parts_of(law))
        assert count == len(parts_of(motion(plant)))
        law(0.0, plant.terms(q0, np.zeros(plant.nv)), law.start(plant))
        assert len(parts_of(law)) == count
        (signal,) = law_code(plant, law, q0).signals
        assert signal == (way, 6)
