"""Exported functions against the package's kernels: on named plants, on random machines, and where they refuse."""

import ctypes

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.codegen.entries import FUNCTIONS, Argument, ExportedFunction, FunctionCase
from cmbcontrol.codegen.selftest import differences, states
from cmbcontrol.dynamics.forces import motor_effort
from cmbcontrol.errors import CmbError
from cmbcontrol.plants.five_bar import configuration

from ..seeds import many, rotating
from ..trace.test_functions import random_machine

NAMED = ("five-bar", "loader", "delta", "stewart")
ACCURACY = 1e-12


def worst(found, count, seed=1):
    """Largest error of each function, in its scale."""
    machine = found.machine
    largest = dict.fromkeys(found.entries, 0.0)
    for state in states(machine, count, seed, "inverse" in found.entries):
        for name, entry in found.entries.items():
            case = entry.case(state)
            status, y = found.call(name, *case.inputs)
            assert status == 0, (name, status)
            largest[name] = max(largest[name], max(differences(entry, case, list(vars(y).values()))) / state.blur)
    return largest


def compare_named(in_c, name, count, seed=1):
    plant, q, _ = plants.catalogue[name].start()
    found = in_c(plant, q)
    assert list(found.entries) == ["terms", "forward", "inverse", "close", "project_velocity"]
    assert max(worst(found, count, seed).values()) < ACCURACY


@pytest.mark.nojit_slow
def test_a_named_plant(in_c):
    compare_named(in_c, NAMED[0], 200)


@pytest.mark.rotates
@pytest.mark.parametrize("name", NAMED)
def test_named_plants(in_c, name):
    compare_named(in_c, name, many(200), rotating(1)[0])


@pytest.mark.nojit_slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("loader", {"closure": "revolute"}),  # redundant rows
        ("delta", {"joints": "universal"}),
        ("two-arms", {}),  # more motors than degrees of freedom
        ("bricard", {}),
        ("governor", {}),  # springs and dampers, no loop, no motor
        ("andrews", {}),
    ],
)
@pytest.mark.first(1)
def test_redundant_rows_many_motors_and_springs(in_c, name, options):
    plant, q, _ = plants.catalogue[name].start(**options)
    assert max(worst(in_c(plant, q, level="-O0"), 30).values()) < ACCURACY


@pytest.mark.nojit_slow
def test_motions_and_cams(in_c):
    """A machine with a prescribed motion that moves, and a lever that follows a cam on its other crank."""
    lever = cmb.Body.planar("lever", 0.5, 0.3, 0.02)
    cam = cmb.Cam("cam", "lever", "right", lambda x: 0.2 * np.sin(x) ** 2 - 0.1)
    plain = plants.five_bar()
    tip = plain.point(plain.assemble(left=2.1, right=1.0), "left_upper", (0.7, 0.1, 0.0))
    winch = {"position": float(np.linalg.norm(tip)), "velocity": 0.3, "acceleration": -0.2}
    plant = plain.with_parts(
        bodies=[*plain.bodies, lever],
        joints=[*plain.joints, cmb.Revolute("lever", "ground", "lever")],
        loops=[
            *plain.loops,
            cam,
            cmb.DistanceMotion("winch", "ground", "left_upper", point_b=(0.7, 0.1, 0.0), **winch),
        ],
    )
    q = plant.assemble(guess=[2.1, -1.3, 1.0, 1.3, 0.0])
    found = in_c(plant, q, functions=("terms", "forward", "close", "project_velocity"))
    assert max(worst(found, 50).values()) < ACCURACY
    names = [number.name for number in found.machine.table.numbers]
    assert "motion_winch_length_velocity" in names and "row_constant_0" in names


@pytest.mark.rotates
def test_random_machines(in_c):
    """A dozen, of which some have redundant rows; some seeds are singular wherever the machine goes."""
    done, enough = 0, many(12)
    for seed in rotating(30):
        found = random_machine(seed)
        if found is None or not found[0].nv:
            continue
        try:
            compiled = in_c(*found, overwrite=True, prefix=f"machine_{seed}", level="-O0")
            largest = max(worst(compiled, 5, seed).values())
        except CmbError:
            continue
        assert largest < ACCURACY, seed
        done += 1
        if done == enough:
            return
    pytest.fail(f"only {done} machines")


def test_motors_that_move_nothing(in_c):
    """A motor that turns a body, which slides only and is welded to the ground besides: no effort does anything."""
    slide = cmb.Prismatic("slide", "ground", "block", axis=(0.0, 0.0, 1.0))
    motor = cmb.Actuator("motor", bodies=("ground", "block"), axis=(1.0, 0.0, 0.0))
    weld = cmb.Weld("weld", "ground", "block")
    machine = cmb.Mechanism("welded", [cmb.Body("block", mass=2.0)], [slide], loops=[weld], actuators=[motor])
    found = in_c(machine, np.zeros(1), functions=("forward", "inverse"))
    assert max(worst(found, 5).values()) < ACCURACY
    status, y = found.call("inverse", np.zeros(1), np.zeros(1), np.zeros(1))
    assert status == 0 and y.u == 0.0
    assert np.abs(vars(y)["lambda"]).max() == pytest.approx(2.0 * 9.81, rel=1e-3)  # the weld carries the block


def test_public_functions_say_the_same(in_c):
    plant = plants.two_arms()
    _, q, v = plants.catalogue["two-arms"].start()
    found, u = in_c(plant, q), np.linspace(-5.0, 5.0, plant.nu)
    v = plant.project_velocity(q, np.linspace(-1.0, 1.0, plant.nv))
    status, y = found.call("forward", q, v, u)
    a = cmb.forward_dynamics(plant, q, v, u)
    assert status == 0
    np.testing.assert_allclose(y.a, a, rtol=1e-11, atol=1e-11 * np.abs(a).max())
    force = cmb.constraint_force(plant, q, v, u).force
    np.testing.assert_allclose(plant.terms(q, v).A.T @ getattr(y, "lambda"), force, atol=1e-11 * np.abs(force).max())
    effort = cmb.inverse_dynamics(plant, q, v, a)
    status, y = found.call("inverse", q, v, a)
    assert status == 0
    np.testing.assert_allclose(y.u, effort.u, rtol=1e-11, atol=1e-11 * np.abs(effort.u).max())


def test_weights_of_motors_are_numbers_of_the_machine(in_c):
    plant, q, _ = plants.catalogue["two-arms"].start()
    found = in_c(plant, q, functions=["inverse"])
    weights = np.linspace(1.0, 3.0, plant.nu)
    for name, weight in zip(plant.actuator_names, weights, strict=True):
        found.p[list(found.made.parameters).index(f"weight_{name}")] = weight
    terms = plant.terms(q, np.zeros(plant.nv))
    _, y = found.call("inverse", q, np.zeros(plant.nv), np.zeros(plant.nv))
    expected = motor_effort(terms, np.zeros(plant.nv), weights).u
    np.testing.assert_allclose(y.u, expected, atol=1e-11 * np.abs(expected).max())
    assert np.abs(expected - motor_effort(terms, np.zeros(plant.nv)).u).max() > 1e-2 * np.abs(expected).max()


def test_steps_close_the_loops(in_c):
    plant, q, _ = plants.catalogue["loader"].start()
    found = in_c(plant, q, functions=["close"])
    at = plant.integrate(q, 0.02 * np.linspace(-1.0, 1.0, plant.nv))
    residuals = []
    for _ in range(5):
        status, y = found.call("close", at)
        assert status == 0
        at = y.q_next
        residuals.append(float(y.residual[0]))
    assert residuals[0] > 1e-3 and residuals[1] < residuals[0] / 10.0
    assert plant.closure_error(at) < 1e-14 * plant.size


def test_linear_models(in_c):
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    found = in_c(plant, q, functions=["linear"], coordinates=("left", "right"))
    assert worst(found, 50)["linear"] < ACCURACY
    point = cmb.trim(plant, q)
    model = cmb.linearize(plant, point, coordinates=("left", "right"))
    status, y = found.call("linear", point.q, np.zeros(4), point.u)
    assert status == 0
    np.testing.assert_allclose(y.A.reshape(4, 4), model.A, atol=1e-11)
    np.testing.assert_allclose(y.B.reshape(4, 2), model.B, atol=1e-11)


def test_other_numbers_of_one_structure(in_c):
    """A machine of 1 kg, whose mass is a number all the same, becomes one of 2.5 kg on the moon."""
    found = in_c(rod(1.0, 9.81), functions=["forward"])
    heavy = rod(2.5, 1.62)
    names = list(found.made.parameters)
    found.p[names.index("rod_mass")] = 2.5
    found.p[names.index("gravity_y")] = -1.62
    _, y = found.call("forward", [0.3], [0.7], [0.2])
    np.testing.assert_allclose(y.a, cmb.forward_dynamics(heavy, [0.3], [0.7], [0.2]), rtol=1e-13)


def rod(mass, gravity):
    body = cmb.Body("rod", mass, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    joint = cmb.Revolute("pivot", "ground", "rod", axis=(0, 0, 1))
    return cmb.Mechanism("rod", [body], [joint], actuators=[cmb.Actuator("pivot")], gravity=(0.0, -gravity, 0.0))


# -- where functions refuse ----------------------------------------------------------------------------------


def test_singular_configurations_are_refused(in_c):
    plant = plants.five_bar()
    found = in_c(plant, configuration(plant, "singular"))  # rows are chosen nearby
    for name, status in (("forward", 3), ("inverse", 5), ("close", 3), ("project_velocity", 3), ("terms", 0)):
        inputs = [np.zeros(a.size) for a in found.entries[name].inputs]
        inputs[0] = configuration(plant, "singular")
        got, y = found.call(name, *inputs)
        assert got == status, name
        first = next(iter(vars(y).values()))
        assert np.isnan(first).all() == (status != 0)
        if status == 3:
            assert 0.0 <= y.closeness[0] < 1e-6


def test_the_threshold_is_a_number_of_the_machine(in_c):
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    found = in_c(plant, q, functions=["forward"])
    given = q, np.zeros(4), np.zeros(2)
    status, y = found.call("forward", *given)
    assert status == 0 and 0.1 < y.closeness[0] <= 1.0
    found.p[list(found.made.parameters).index("clear")] = 1.1 * y.closeness[0]
    status, again = found.call("forward", *given)
    assert status == 3 and again.closeness == y.closeness and np.isnan(again.a).all()


def test_motors_that_lose_a_motion(in_c):
    """A slider-crank driven at the slider, at its dead point: cylinder and crank in one line."""
    crank = cmb.Body("crank", 1.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    block = cmb.Body("block", 2.0)
    turn = cmb.Revolute("turn", "ground", "crank", axis=(0, 0, 1))
    slide = cmb.Prismatic("slide", "ground", "block", axis=(1, 0, 0))
    link = cmb.Distance("link", "crank", "block", point_a=(1, 0, 0), point_b=(0, 0, 0), length=2.0)
    plant = cmb.Mechanism("press", [crank, block], [turn, slide], [link], actuators=[cmb.Actuator("slide")])
    found = in_c(plant, plant.assemble(guess=[1.0, 2.2], turn=1.0), functions=["inverse"])
    assert found.call("inverse", plant.assemble(guess=[1.0, 2.2], turn=1.0), np.zeros(2), np.zeros(2))[0] == 0
    status, y = found.call("inverse", [0.0, 3.0], np.zeros(2), np.zeros(2))
    assert status == 5 and np.isnan(y.u).all() and y.actuation[0] < 1e-6


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_inputs_that_are_not_finite(in_c, bad):
    plant = plants.pendulum()
    found = in_c(plant)
    for name, entry in found.entries.items():
        for k in range(len(entry.inputs)):
            inputs = [np.zeros(a.size) for a in entry.inputs]
            inputs[0] = found.machine.q.copy()
            inputs[k][-1] = bad
            status, y = found.call(name, *inputs)
            assert status == 1
            assert all(np.isnan(x).all() for x in vars(y).values())


def test_results_that_are_not_finite(in_c):
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    found = in_c(plant, q, functions=["forward"])
    status, y = found.call("forward", q, np.full(4, 1e200), np.zeros(2))
    assert status == 1 and np.isnan(y.a).all()


def test_steps_too_long_for_what_was_traced(in_c):
    plant, q, _ = plants.catalogue["stewart"].start(carrier="free")
    found = in_c(plant, q, functions=["close"])
    platform, _ = plant.quaternions[0]
    turned = np.array([name.startswith(platform) and unit == "rad/s" for name, unit in
                       zip(plant.velocity_names, plant.velocity_units, strict=True)])  # fmt: skip
    status, y = found.call("close", plant.integrate(q, 0.9 * turned))
    assert status == 2 and np.isnan(y.q_next).all()


def test_outputs_may_take_the_place_of_inputs(in_c):
    plant, q, _ = plants.catalogue["loader"].start()
    found, v = in_c(plant, q, functions=["project_velocity"]), np.linspace(-1.0, 1.0, plant.nv)
    expected = found.call("project_velocity", q, v)[1].v_next
    pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (found.p, q, v, v, np.empty(1))]
    assert found.library.loader_project_velocity(*pointers) == 0
    np.testing.assert_array_equal(v, expected)


# -- one function more ---------------------------------------------------------------------------------------


def integral_law(machine):
    """u = gain (r - angle) + z, where z grows by rate * period * (r - angle)."""
    at = machine.tracing()
    q, r, z, period = at.inputs(machine.q, np.ones(1), np.zeros(1), np.ones(1))
    gain = machine.table.symbol(at.graph, "law_gain", 8.0, "N m/rad")
    rate = machine.table.symbol(at.graph, "law_rate", 2.0, "N m/(rad s)")
    error = r[0] - q[0]
    traced = at.finished([period[0], gain * error + z[0], z[0] + rate * period[0] * error])

    def case(state):
        angle, step = state.terms.q[0], 0.01
        u, after = 8.0 * (1.0 - angle) + 0.5, 0.5 + 2.0 * step * (1.0 - angle)
        return FunctionCase((state.terms.q, [1.0], [0.5], [step]), (u, after), (1.0, 1.0))

    state = Argument("z", 1, "state of the law, N m")
    inputs = *machine.arguments("q"), Argument("r", 1, "reference, rad"), state, Argument("period", 1, "s")
    outputs = *machine.arguments("u"), Argument("z_next", 1, "state of the law at the next sample, N m")
    return ExportedFunction("law", "A law with integral action.", traced, ("MASS_MATRIX",), inputs, outputs, case)


def test_a_law_with_a_state_is_one_entry_more(in_c, monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "law", integral_law)
    found = in_c(rod(1.0, 9.81), functions=["forward", "law"])
    assert worst(found, 20)["law"] < ACCURACY
    z = np.zeros(1)
    for _ in range(3):
        status, y = found.call("law", [0.4], [1.0], z, [0.1])
        z = y.z_next
    assert status == 0 and z[0] == pytest.approx(3 * 2.0 * 0.1 * 0.6)
    found.p[list(found.made.parameters).index("law_gain")] = 1.0
    assert found.call("law", [0.4], [1.0], [0.0], [0.1])[1].u[0] == pytest.approx(0.6)
    assert found.call("law", [0.4], [1.0], [0.0], [0.0])[0] == 4  # refuses where its margin is not above zero
