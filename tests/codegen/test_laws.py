"""Exported laws, sample after sample, against the Python objects that they were written as."""

import numpy as np
import pytest

from cmbcontrol import (
    CamProfile,
    Constant,
    ElectronicCam,
    InverseMotion,
    JerkLimited,
    Joined,
    Quintic,
    Sine,
    Spline,
    linearize,
    plants,
    trim,
)
from cmbcontrol.codegen import export
from cmbcontrol.codegen.selftest import differences, states
from cmbcontrol.controllers import (
    PID,
    Cascade,
    ConstrainedActuation,
    ConstraintForcePI,
    Controller,
    Delay,
    DriveFriction,
    ElectricDrive,
    Encoder,
    Evaluation,
    Filter,
    FilteredDifference,
    ForwardKinematics,
    FrictionCompensation,
    GainScheduled,
    GravityPD,
    HybridMotionForce,
    Impedance,
    LeadLag,
    LowPass,
    Notch,
    OutputFeedback,
    PassiveJoints,
    PointTask,
    ProjectedInverseDynamics,
    RateLimit,
    Saturation,
    WithModel,
    traced,
)  # fmt: skip
from cmbcontrol.controllers.gravity_compensation import driven_coordinates
from cmbcontrol.errors import InputError, InputTypeError
from cmbcontrol.model.actuation import actuation_at

from ..controllers.test_traced import heavier
from ..fixtures import actuated_five_bar, force_motion, force_start, toggle_press
from ..seeds import many
from ..whole.test_examples import example
from .test_entries import ACCURACY, NAMED, worst

NEAR_SINGULAR = 3  # a status


def motion(plant, q, **options):
    names = driven_coordinates(plant)
    way = Sine(q[[plant.position_names.index(n) for n in names]], 0.1, 1.0)
    return ProjectedInverseDynamics(plant, names, way, **{"bandwidth": 8.0, "period": 1e-3} | options)


def chain(plant, q):
    front = Encoder(noise=1e-4) | FilteredDifference(0.01)
    behind = Saturation(1e4) | RateLimit(1e7) | Delay(1e-3) | DriveFriction(coulomb=1.0)
    return front | motion(plant, q) | FrictionCompensation(DriveFriction(coulomb=2.0, breakaway=3.0)) | behind


def start(name):
    plant, q, _ = plants.catalogue[name].start()
    return plant, plant.assemble(left=2.1, right=1.0) if name == "five-bar" else q


def solvable(plant, terms):
    """How well the coordinates of the law tell the motion, and its motors reach it: 0 at a singular configuration."""
    rows = [plant.velocity_names.index(n) for n in driven_coordinates(plant)]
    told = np.linalg.svd(terms.unit_motions[rows], compute_uv=False)[-1]
    return float(told * actuation_at(terms).margin)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", NAMED)
@pytest.mark.first(1)
def test_named_plants(in_c, name):
    """States of one seed: of some others, more are refused, since their walk stays near a singular configuration."""
    plant, q = start(name)
    count = 200 if name == NAMED[0] else many(500)
    found = in_c(plant, q, functions=["forward"], law=chain(plant, q))
    entry, largest, refused = found.entries["law"], 0.0, 0
    regular = solvable(plant, found.machine.terms)
    for state in states(found.machine, count, 1, False):
        case = entry.case(state)
        status, y = found.call("law", *case.inputs)
        if status:
            refused += 1
            assert status == NEAR_SINGULAR
            assert solvable(plant, state.terms) < 1e-4 + 0.01 * regular
            continue
        largest = max(largest, max(differences(entry, case, list(vars(y).values()))) / state.blur)
    assert largest < ACCURACY
    assert refused <= 0.02 * count


@pytest.mark.nojit_slow
@pytest.mark.parametrize("make", [
    lambda plant, q: motion(plant, q, saturation="scale", limits=[40.0, 50.0]),
    lambda plant, q: GravityPD(plant, Constant([2.0, 1.1]), kp=100.0, kd=20.0, period=2e-3),
    lambda plant, q: Cascade(plant, Sine([2.1, 1.0], 0.1, 1.0), position_gain=9.0, velocity_gain=40.0,
                             integral_time=0.1, at=q, period=1e-3)
                     | Notch(80.0, 9.0) | LowPass(200.0, order=3) | Saturation(60.0),
    lambda plant, q: PID(plant, Constant([2.0, 1.1]), kp=90.0, ki=30.0, kd=20.0, derivative_time=0.01, period=1e-3)
                     | LeadLag(10.0, 90.0) | Filter({"num": [1.0, 9.0], "den": [1.0, 0.0]}) | Saturation(60.0),
    lambda plant, q: GainScheduled([PID(plant, Constant([2.0, 1.1]), kp=k, ki=30.0, kd=20.0, period=1e-3)
                                    for k in (80.0, 120.0)], {"left": [1.9, 2.3]}) | Saturation(60.0),
    lambda plant, q: OutputFeedback(
        linearize(plant, trim(plant, q), coordinates=("left", "right")),
        {"A": [[0.9]], "B": [[1.0, 0.5]], "C": [[-12.0], [2.0]], "D": [[40.0, 0.0], [0.0, 30.0]], "dt": 1e-3},
    ) | Saturation(60.0),
    lambda plant, q: Impedance(plant, PointTask(plant, "left_upper", point=(1.5, 0.0, 0.0), axes="xy"),
                               Constant([0.5, 1.9]), stiffness=300.0, damping=30.0, period=1e-3),
    lambda plant, q: ForwardKinematics(("left", "right")) | motion(plant, q) | Saturation(45.0),
    lambda plant, q: PassiveJoints(motion(plant, q), margin=1e-4, weight=[1.0, 2.0, 3.0, 4.0]),
])  # fmt: skip
def test_other_laws(in_c, make):
    plant, q = start("five-bar")
    assert worst(in_c(plant, q, functions=["forward"], law=make(plant, q)), 100)["law"] < ACCURACY


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_the_cascade_of_a_press(in_c):
    """A motion that is asked of the ram, gains by crossover and margin, a notch and limits: the example of the docs."""
    names = example("ex18_servo_press")
    found = in_c(names["press"], names["motor"].q0, functions=["forward"], law=names["tuned"].law)
    assert worst(found, 100)["law"] < ACCURACY


def test_samples_one_after_the_other(in_c):
    plant, q = start("five-bar")
    law = chain(plant, q).without(Encoder)
    found = in_c(plant, q, functions=["forward"], law=law)
    state, own = law.start(plant), law.start(plant)
    for k in range(50):
        t, at = 1e-3 * k, plant.close(plant.integrate(q, 1e-3 * k * np.array([1.0, -0.5, 0.3, 0.2])))
        v = plant.project_velocity(at, np.array([0.3, 0.2, 0.1, -0.4]))
        said = law.evaluate(t, plant.terms(at, v, t), own)
        way = np.concatenate(law.reference(t))
        status, y = found.call("law", [t], at, v, state, way)
        assert status == 0
        np.testing.assert_allclose(y.u, said.effort, rtol=1e-11)
        np.testing.assert_allclose(y.state_next, said.state, rtol=1e-11, atol=1e-12)
        state, own = y.state_next, said.state
    assert found.made.parameters["law_projected_inverse_dynamics_kp_0_0"] == 64.0
    found.p[list(found.made.parameters).index("law_saturation_limits")] = 5.0
    assert np.abs(found.call("law", [t], at, v, state, way)[1].u).max() <= 5.0


@pytest.mark.parametrize(("make", "error", "text"), [
    (lambda plant, q: motion(plant, q, period=None), InputError, "continuous time"),
    (lambda plant, q: ConstrainedActuation(motion(plant, q), limits=1e3), InputTypeError, "cannot be written as C"),
    (lambda plant, q: WithModel(heavier(plant), motion(plant, q)), InputError, "as the law knows it"),
])  # fmt: skip
def test_refusals(tmp_path, make, error, text):
    plant, q = start("five-bar")
    with pytest.raises(error, match=text):
        export(plant, tmp_path, q, functions=["forward"], law=make(plant, q))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("alone", [True, False])
def test_force_laws(in_c, alone):
    """They are told the efforts at present; their report needs Python, and is left out."""
    plant = actuated_five_bar()
    q, _ = force_start(plant)
    law = ConstraintForcePI(plant, lambda t: [20.0 + t, -10.0], ["tip_x", "tip_y"], kp=0.2, ki=20.0, period=1e-3)
    if not alone:
        law = HybridMotionForce(force_motion(plant, period=1e-3), law)
    found = in_c(plant, q, functions=["forward"], law=law)
    entry = found.entries["law"]
    assert any(argument.name.startswith("signal_") for argument in entry.inputs)
    assert {argument.name: argument.size for argument in entry.outputs}["report"] == 0
    assert "u_held" in [argument.name for argument in entry.inputs]
    assert worst(found, 100)["law"] < ACCURACY


@traced.compiled_law
class Own(Controller):
    """A law of a user: efforts as a list, a reference of the class, a state."""

    period, coordinates, reference = 1e-3, ("left",), Sine([2.1], [0.1], 0.5)

    def __init__(self, gain):
        self.gain = gain

    def start(self, plant):
        return [0.0]

    def evaluate(self, t, terms, state):
        position, velocity, _ = self.reference(t)
        e = position[0] - terms.q[0]
        u = self.gain * e + 5.0 * (velocity[0] - terms.v[0]) + state[0]
        return Evaluation([np.clip(u, -60.0, 60.0), -0.1 * terms.v[2]], [state[0] + self.period * e])


@pytest.mark.nojit_slow
@pytest.mark.parametrize("chained", [False, True])
def test_laws_of_a_user(in_c, chained):
    """With the reference as an input, as for laws of this package, and with their numbers by name."""
    plant, q = start("five-bar")
    law = Own(40.0) | Saturation(20.0, plant=plant) | Delay(1e-3) if chained else Own(40.0)
    found = in_c(plant, q, functions=["forward"], law=law)
    assert {argument.name: argument.size for argument in found.entries["law"].inputs}["reference"] == 3
    assert found.made.parameters["law_own_gain"] == 40.0
    assert worst(found, 100)["law"] < ACCURACY


@pytest.mark.nojit_slow
@pytest.mark.parametrize("where", ["saturation", "drive"])
def test_integrals_know_later_limits_in_c(in_c, where):
    plant, q = start("five-bar")
    law = motion(plant, q, integral=4.0)
    block = Saturation([20.0, 30.0]) if where == "saturation" else ElectricDrive(1.0, current=25.0)
    found = in_c(plant, q, functions=["forward"], law=law | block)
    assert worst(found, 100)["law"] < ACCURACY


MOTIONS = {
    "limited": lambda plant, q: JerkLimited([2.1, 1.0], [2.5, 0.9], [1.0, 2.0], 4.0, [40.0, 90.0], 0.1),
    "joined": lambda plant, q: Joined(
        [
            CamProfile([0.0, 0.4], [[2.1, 1.0], [2.4, 0.8]], "modified trapezoid"),
            0.1,
            Quintic([2.4, 0.8], [2.1, 1.0], 0.5),
        ],
        periodic=True,
    ),
    "spline": lambda plant, q: Spline(
        [0.0, 0.2, 0.5, 1.0], [[2.1, 1.0], [2.4, 0.8], [2.4, 0.9], [2.1, 1.0]], monotone=True
    ),
    "turning": lambda plant, q: Spline([0.0, 0.2, 1.0], [[0.0, 0.0], [1.0, -1.0], [6.0, -6.0]], periodic=True),
    "sine": lambda plant, q: Sine([2.1, 1.0], [0.1, 0.2], [1.0, 2.5], [0.0, 0.3]),
    "electronic cam": lambda plant, q: ElectronicCam(
        CamProfile([0.0, 2.0, 4.0], [[2.1, 1.0], [2.4, 0.8], [2.1, 1.0]], periodic=True),
        JerkLimited([0.0], [20.0], 12.0, 40.0, 400.0),
    ),
    "press": lambda plant, q: InverseMotion(
        plant, "ram", CamProfile([0.0, 0.5, 0.7, 1.2], [0.14, 0.004, 0.004, 0.14], periodic=True), "crank", start=q
    ),
}


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", MOTIONS)
@pytest.mark.first(2)
def test_motions_in_c_say_what_they_say_here(in_c, name):
    """To 1e-12 of the largest position, velocity and acceleration; where pieces meet, and cycles later, too."""
    plant, q = toggle_press() if name == "press" else start("five-bar")
    motion = MOTIONS[name](plant, q)
    law = ProjectedInverseDynamics(
        plant, "crank" if name == "press" else ("left", "right"), motion, bandwidth=8.0, period=1e-3
    )
    found = in_c(plant, q, functions=["forward"], law=law)
    assert found.made.functions[-2:] == (f"{found.prefix}_law", f"{found.prefix}_reference")
    parts = (motion.master if name == "electronic cam" else motion)._parts
    meet = [part.begins[np.isfinite(part.begins)] for part in parts]
    times = np.concatenate([*meet, np.random.default_rng(0).uniform(-0.5, 4.0, 200)])
    expected = motion.over(times)
    scales = np.repeat(np.abs(expected).reshape(len(times), 3, -1).max(axis=(0, 2)), motion.size)
    for t, row in zip(times, expected, strict=True):
        status, y = found.call("reference", [t])
        assert status == 0
        assert (np.abs(y.reference - row) <= 1e-12 * scales).all(), t


@pytest.mark.nojit_slow
def test_efforts_of_a_motion_are_functions_too(in_c):
    """What a cascade computes with the model along its reference, a table of it to 1e-9 of the largest effort."""
    plant, q = toggle_press()
    motion = MOTIONS["press"](plant, q)
    law = Cascade(
        plant, motion, position_gain=9.0, velocity_gain=40.0, coordinates=("crank",), at=motion.q0, period=1e-3
    )
    found = in_c(plant, motion.q0, functions=["forward"], law=law)
    assert [name.removeprefix(f"{found.prefix}_") for name in found.made.functions[-2:]] == ["reference", "signal_2"]
    times = np.random.default_rng(0).uniform(-0.5, 4.0, 200)
    expected = np.array([law._ahead(t) for t in times])
    given = [found.call("signal_2", [t]) for t in times]
    assert not any(status for status, _ in given)
    made = np.array([y.signal_2 for _, y in given])
    assert np.abs(made - expected).max() <= 2e-9 * np.abs(expected).max()
