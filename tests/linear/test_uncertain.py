"""Uncertain linear models against closed forms, and against machines built anew; weights of delays against proofs."""

from fractions import Fraction as Exact

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants, trim
from cmbcontrol.design.family import with_payload
from cmbcontrol.errors import EquilibriumError, InputError, InputTypeError
from cmbcontrol.linear import uncertain_model
from cmbcontrol.linear.uncertain import delay_weight
from tests.fixtures import refuses
from tests.robustness.uncertain import needed

JOINTS = ("left", "right")
GRAVITY = (0.0, -9.81, 0.0)


def oscillator(mass=2.0, stiffness=50.0, damping=3.0, limit=np.inf):
    """A mass on a spring that hangs from the ground along y, with a motor."""
    body = cmb.Body.planar("load", mass, (0.0, 0.0), 0.1)
    joint = cmb.Prismatic("y", "ground", "load", axis=(0.0, 1.0, 0.0), damping=damping)
    springs, motor = [cmb.JointSpring("s", "y", stiffness, rest=0.2)], cmb.Actuator("y", effort=limit)
    return cmb.Mechanism("oscillator", [body], [joint], springs=springs, actuators=[motor], gravity=GRAVITY)


def five_bar():
    plant = plants.five_bar()
    return plant, trim(plant, plant.assemble(left=2.1, right=1.0))


def drawn(model, count, seed=0):
    """Random values of the parameters."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield {p.name: float(rng.uniform(p.low, p.high)) for p in model.parameters}


def assert_like(found, truth, rtol=1e-12):
    for mine, theirs in zip(found, truth, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=rtol * max(np.abs(theirs).max(initial=0.0), 1e-300))


@pytest.mark.smoke
def test_mass_spring_and_damper_each_once():
    """m y'' = -k y - d y' + u: the fewest repetitions there are, and the matrices of the closed form."""
    plant = oscillator()
    intervals = {"load_mass": (1.0, 4.0), "spring_s_stiffness": (40.0, 90.0), "damping_y": 0.5}
    model = uncertain_model(plant, trim(plant, [0.1]), intervals)
    assert model.structure == [(name, 1) for name in intervals]
    assert model.parameters[2][2:] == (1.5, 4.5)
    assert model.remainder < 1e-14
    for values in drawn(model, 20):
        m, k, d = values.values()
        assert_like(model.at(values), ([[0, 1], [-k / m, -d / m]], [[0], [1 / m]], [[1, 0]], [[0]]))
    np.testing.assert_allclose(model.nominal.A, model.A, rtol=1e-13)
    assert "exact" in str(model) and "load_mass 1 to 4 kg, repeated 1 times" in str(model)


@pytest.mark.parametrize("coordinates", [JOINTS, ("left", "elbow_left"), np.eye(4)[[0, 2]] + 0.3])
def test_a_closed_chain_with_products_is_exact(coordinates):
    """Mass, gravity and the place of another centre of mass at once: statics make products of them."""
    plant, point = five_bar()
    intervals = {"left_upper_mass": (2.0, 6.0), "gravity_y": (-12.0, -5.0), "right_upper_com_x": (0.4, 0.9),
                 "right_lower_inertia_zz": 0.3, "damping_left": (0.0, 2.0)}  # fmt: skip
    model = uncertain_model(plant, point, intervals, coordinates=coordinates)
    assert model.remainder < 1e-13
    for values in drawn(model, 10):
        machine = plant.with_parameters(values)
        lin = cmb.linearize(machine, trim(machine, point.q, preload=point.u), coordinates=coordinates)
        assert_like(model.at(values), (lin.A, lin.B, lin.C, lin.D))


def test_the_payload_of_a_machine_that_is_made_by_a_function():
    plant, point = five_bar()

    def loaded(values):
        return with_payload(plant, "left_upper", values["load"], (1.5, 0.0, 0.0))

    model = uncertain_model(plant, point, {"load": (0.0, 4.0)}, coordinates=JOINTS, machine=loaded)
    assert model.remainder < 1e-13
    assert model.structure == [("load", 2)]  # a point mass that moves in two directions
    for x in (0.0, 1.0, 4.0):
        machine = loaded({"load": x})
        assert_like([model.at({"load": x}).A], [cmb.linearize(machine, trim(machine, point.q), coordinates=JOINTS).A])
    assert model.machine({"load": 1.0}).bodies[1].mass == pytest.approx(plant.bodies[1].mass + 1.0)


@pytest.mark.parametrize(
    ("intervals", "outputs"),
    [
        ({"elbow_left_frame_x": 0.03, "left_upper_mass": 0.2}, None),
        ({"left_upper_mass": 0.3, "left_upper_com_x": 0.1}, None),
        ({"left_upper_mass": 0.3}, ["left", "loop_force"]),
    ],
    ids=["length", "mass and its centre", "forces"],
)
def test_what_is_left_is_told_and_covers_the_machine(intervals, outputs):
    plant, point = five_bar()
    model = uncertain_model(plant, point, intervals, coordinates=JOINTS, outputs=outputs)
    assert model.blocks[-1].name == "remainder" and "approximate" in str(model)
    assert 1e-9 < model.remainder < 1e-2
    largest = 0.0
    for values in drawn(model, 50):
        norm, off = needed(model, values, model.linear(values))
        assert off < 1e-10
        largest = max(largest, norm)
    assert 0.1 < largest <= 1.0  # and it is not far too large


def test_a_length_closes_the_loops_with_the_other_coordinates():
    plant, point = five_bar()
    model = uncertain_model(plant, point, {"elbow_left_frame_x": 0.03}, coordinates=JOINTS)
    value = model.parameters[0].high
    q = model.linear({"elbow_left_frame_x": value}).point.q
    np.testing.assert_allclose(q[[0, 2]], point.q[[0, 2]], atol=1e-13)
    assert plant.with_parameters({"elbow_left_frame_x": value}).closure_error(q) < 1e-13 < abs(q - point.q).max()


def test_given_efforts_are_held_and_free_coordinates_find_their_rest():
    """A heavier mass hangs lower: of a spring that stiffens, its slope is another one there."""
    plant = oscillator().with_parts(springs=[], forces=[cmb.JointForce("s", "y", lambda x, v: 40.0 * x + 30.0 * x**3)])
    rest = trim(plant, [0.0], u=0.0, free="all")
    model = uncertain_model(plant, rest, {"load_mass": (1.9, 2.1)})
    for m in (1.9, 2.03):
        lin = model.linear({"load_mass": m})
        y = lin.point.q[0]
        assert 40.0 * y + 30.0 * y**3 == pytest.approx(-9.81 * m, rel=1e-9)
        assert lin.A[1, 0] == pytest.approx(-(40.0 + 90.0 * y * y) / m, rel=1e-9)
        assert needed(model, {"load_mass": m}, lin)[0] <= 1.0
        assert model.at({"load_mass": m}).A[1, 0] == pytest.approx(lin.A[1, 0], rel=2.0 * model.remainder)


def test_a_machine_that_rolls():
    """A wheel that stands has ten states: positions without a rate among them."""
    bodies = [cmb.Body("ring", 0.01, inertia=(0.001,) * 3), cmb.Body("disc", 2.0, inertia=(0.045, 0.09, 0.045))]
    joints = [cmb.Free("ring", "ground", "ring"), cmb.Revolute("spin", "ring", "disc", axis=(0, 1, 0))]
    rim = cmb.Wheel("rim", "ground", "disc", axis=(0, 1, 0), radius=0.3)
    wheel = cmb.Mechanism("wheel", bodies, joints, [rim], actuators=[cmb.Actuator("spin")])
    q = wheel.neutral()
    q[6] = 0.3
    point = trim(wheel, q)
    names = cmb.linearize(wheel, point).states[6:]
    coordinates = [name.removesuffix("_rate") for name in names]
    model = uncertain_model(wheel, point, {"disc_mass": 0.2, "gravity_z": 0.1}, coordinates=coordinates)
    assert model.remainder < 1e-13
    for values in drawn(model, 5):
        machine = wheel.with_parameters(values)
        lin = cmb.linearize(machine, trim(machine, q), coordinates=coordinates)
        assert model.states == lin.states
        assert_like(model.at(values), (lin.A, lin.B, lin.C, lin.D), 1e-11)


@pytest.mark.smoke
def test_fixed_system_and_uncertainty_in_python_control():
    plant, point = five_bar()
    model = uncertain_model(plant, point, {"left_upper_mass": (2.0, 6.0), "gravity_y": 0.1}, coordinates=JOINTS)
    system = model.to_ss()
    assert system.input_labels[-2:] == ["left_effort", "right_effort"] and system.output_labels[-2:] == [
        "left",
        "right",
    ]
    values = {"left_upper_mass": 5.0, "gravity_y": -9.0}
    Delta = np.diag(np.repeat(model.normalised(values), [n for _, n in model.structure]))
    k = len(Delta)
    back = Delta @ np.linalg.inv(np.eye(k) - system.D[:k, :k] @ Delta)
    assert_like([system.A + system.B[:, :k] @ back @ system.C[:k]], [model.at(values).A])


def test_weights_on_inputs():
    """The model with a weight: from w to z it has W(s) times the input, and at zero it is the model without."""
    plant, point = five_bar()
    model = uncertain_model(plant, point, {"left_upper_mass": (2.0, 6.0)}, coordinates=JOINTS)
    late = model.with_delays({"right_effort": 0.01}, order=3).with_input_uncertainty({"left_effort": 0.2})
    assert [b.name for b in late.blocks] == ["left_upper_mass", "right_effort_dynamics", "left_effort_dynamics"]
    system, s = late.to_ss(), 1j * 70.0
    response = system(s)
    z, u = (system.find_output(f"z_{name}_dynamics_1") for name in ("right_effort", "left_effort")), system.find_input
    first, second = z
    assert response[first, u("right_effort")] == pytest.approx(delay_weight(0.01, 3)(s), rel=1e-12)
    assert response[second, u("left_effort")] == pytest.approx(0.2)
    w = system.find_input("w_right_effort_dynamics_1")
    np.testing.assert_allclose(response[-2:, w], response[-2:, u("right_effort")], rtol=1e-12)
    assert abs(response[[first, second], w]).max() == 0.0
    values = {"left_upper_mass": 3.0}
    np.testing.assert_allclose(late.at(values).A[:4, :4], model.at(values).A, rtol=1e-12)


# -- weights cover delays ----------------------------------------------------------------------------------


def squares(order):
    """|W|^2 / 4 as two polynomials in y = x^2 with x = omega T / 2, lowest power first, exact."""
    if order == 1:
        return [0, 1], [1, Exact(1, 3)]
    b2 = (Exact(2000, 2363)) ** 2

    def factor(zeta):
        return [1, (4 * Exact(zeta) ** 2 - 2) * b2, b2 * b2]

    return times([0, 1], factor("0.838")), times([1, 1], factor("0.685"))


def times(a, b):
    c = [Exact(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            c[i + j] += x * y
    return c


def minus(a, b):
    return [(a[i] if i < len(a) else 0) - (b[i] if i < len(b) else 0) for i in range(max(len(a), len(b)))]


def positive_between(p, low, high):
    """Whether a polynomial has no root in an interval (high may be infinite), and is above zero in it."""
    coefficients = [float(x) for x in p]
    roots = np.roots(coefficients[::-1])
    real = roots[np.abs(roots.imag) < 1e-9 * (1.0 + np.abs(roots))].real
    inside = real[(real > low) & (real < high)]
    at = low + 0.5 * (min(high, low + 2.0) - low)
    return not inside.size and np.polyval(coefficients[::-1], at) > 0.0


@pytest.mark.parametrize("order", [1, 3])
def test_the_weight_covers_every_delay(order):
    """2 |sin x| up to x = pi / 2 by its series, whose terms alternate and fall there, and 2 beyond, by polynomials."""
    above, below = squares(order)
    T = 0.02
    for omega in (1.0, 40.0, 300.0, 1e5):  # the weight is the one of the proof
        y = Exact(omega * T / 2.0) ** 2
        square = sum(c * y**i for i, c in enumerate(above)) / sum(c * y**i for i, c in enumerate(below))
        assert abs(delay_weight(T, order)(1j * omega)) == pytest.approx(2.0 * float(square) ** 0.5, rel=1e-12)
    series = [0, 1, -Exact(1, 3), Exact(2, 45), -Exact(1, 315), Exact(2, 14175)]  # sin^2 x in y, rounded up
    gap = minus(above, times(below, series))
    first = next(i for i, x in enumerate(gap) if x)
    assert positive_between(gap[first:], 0.0, (np.pi / 2.0) ** 2)
    assert positive_between(minus(above, below), (np.pi / 2.0) ** 2, np.inf)
    x = np.linspace(1e-3, 50.0, 20001)
    assert (abs(delay_weight(2.0, order)(1j * x)) >= abs(np.exp(-2j * x) - 1.0) * (1.0 - 1e-12)).all()


def test_the_usual_weight_does_not_cover_a_delay():
    x = np.linspace(0.1, 3.0, 300)
    assert (2.0 * x / np.sqrt(1.0 + x * x) / (2.0 * np.sin(np.minimum(x, np.pi / 2.0)))).min() < 0.83


# -- what cannot be ----------------------------------------------------------------------------------------


def test_what_is_refused_names_the_culprit():
    plant, point = five_bar()
    for intervals, words in [
        ({"left_upper_mas": 0.1}, ("left_upper_mas", "did you mean")),
        ({"left_upper_mass": (6.0, 2.0)}, ("left_upper_mass", "low < high")),
        ({"damping_left": 0.1}, ("damping_left", "zero", "(low, high)")),
        ({}, ("at least one",)),
        ({"left_upper_mass": (-1.0, 2.0)}, ("left_upper_mass = -1 kg", "Narrow the intervals")),
        ({"elbow_left_frame_x": (0.2, 1.8)}, ("elbow_left_frame_x = 1.8 m", "loop")),
    ]:
        refuses(lambda intervals=intervals: uncertain_model(plant, point, intervals), *words, kind=InputError)
    weak = oscillator(limit=30.0)
    refuses(
        lambda: uncertain_model(weak, trim(weak, [0.1]), {"load_mass": (1.0, 9.0)}),
        "load_mass = 5 kg", "limit", kind=InputError,
    )  # fmt: skip
    model = uncertain_model(plant, point, {"left_upper_mass": (2.0, 6.0)})
    refuses(lambda: model.at({"left_upper_mass": 7.0}), "2 to 6 kg", "7", kind=InputError)
    refuses(lambda: model.at({"right_upper_mass": 7.0}), "right_upper_mass", kind=InputError)
    refuses(lambda: model.with_input_uncertainty({"left": 0.1}), "left_effort", kind=InputError)
    refuses(lambda: model.with_delays({"left_effort": -0.1}), "> 0", kind=InputError)
    refuses(lambda: delay_weight(0.1, 2), "1 or 3", kind=InputError)
    falling = cmb.OperatingPoint.at(plant, point.q)
    refuses(lambda: uncertain_model(plant, falling, {"gravity_y": 0.1}), "equilibrium", kind=EquilibriumError)
    function = plants.slider_crank()
    at = trim(function, function.assemble())
    refuses(lambda: uncertain_model(function, at, {"mass": (1.0, 2.0)}), "machine=", kind=InputTypeError)
