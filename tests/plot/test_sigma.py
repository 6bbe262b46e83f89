"""Singular values over frequency."""

import control
import numpy as np
import pytest

from cmbcontrol import Constant, linearize, linearize_closed_loop, plants, plot, trim
from cmbcontrol.controllers import PID
from cmbcontrol.design import uncertain_loop
from cmbcontrol.linear import uncertain_model
from cmbcontrol.plot.figure import narrow
from cmbcontrol.plot.sigma import sigma
from tests.fixtures import drawn_curve
from tests.whole.test_labels import faults

DRIVEN = ("left", "right")
EFFORTS = ["left_disturbance", "right_disturbance"]
INTERVALS = {"left_upper_mass": (2.0, 8.0), "damping_left": (0.0, 2.0)}


@pytest.fixture(scope="module")
def lin():
    plant = plants.five_bar()
    return linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=DRIVEN)


@pytest.fixture(scope="module")
def loop():
    plant = plants.five_bar()
    model = uncertain_model(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), INTERVALS, coordinates=DRIVEN)
    law = PID(plant, Constant([2.1, 1.0]), kp=900.0, ki=300.0, kd=60.0, coordinates=DRIVEN, period=2e-3)
    return uncertain_loop(model, law, delay=1e-3, efforts={"left": 0.2, "right": 0.2})


@pytest.fixture(scope="module")
def worst(loop):
    return loop.worst_case_gain(EFFORTS, DRIVEN, tolerance=1e-2)


def test_singular_values_of_a_diagonal_system_are_its_gains():
    """1/(s + 1) and 5/(s + 10): the first is larger below, and the second above, sqrt(75/24) rad/s."""
    A, B, C = np.diag([-1.0, -10.0]), np.eye(2), np.diag([1.0, 5.0])
    system = control.ss(A, B, C, np.zeros((2, 2)))
    omega = np.geomspace(0.01, 1e3, 30)
    gains = np.array([1.0 / np.abs(1j * omega + 1.0), 5.0 / np.abs(1j * omega + 10.0)])
    ax = sigma(system, omega=omega).axes[0]
    np.testing.assert_allclose(drawn_curve(ax, "largest"), [omega, gains.max(axis=0)], rtol=1e-12)
    np.testing.assert_allclose(drawn_curve(ax, "smallest"), [omega, gains.min(axis=0)], rtol=1e-12)
    looks = {line.get_label(): line.get_linestyle() for line in ax.lines}
    assert looks == {"largest": "-", "smallest": "--"}  # told apart without colours
    assert ax.get_ylabel() == "singular values" and ax.get_xlabel() == "frequency (rad/s)"  # units are not known
    ax = sigma(system, omega=omega, dB=True).axes[0]
    np.testing.assert_allclose(drawn_curve(ax, "largest")[1], 20.0 * np.log10(gains.max(axis=0)), atol=1e-12)
    assert ax.get_ylabel() == "singular values (dB)" and ax.get_yscale() == "linear"


def test_linear_models_have_units(lin):
    ax = sigma(lin, lin.inputs, DRIVEN).axes[0]
    assert ax.get_ylabel() == "singular values (rad/(N m))"
    omega, largest = drawn_curve(ax, "largest")
    some = [0, 150, len(omega) - 1]
    known = lin.frequency_response(omega[some]).frdata[: len(DRIVEN)]
    np.testing.assert_allclose(largest[some], [np.linalg.norm(known[:, :, k], 2) for k in range(3)], rtol=1e-9)
    one = sigma(lin, "left_effort", "left", dB=True).axes[0]
    assert one.get_ylabel() == "gain (dB of 1 rad/(N m))"
    assert [t.get_text() for t in one.get_legend().get_texts()] == ["left_effort to left"]
    states = linearize(lin.point.plant, lin.point, coordinates=DRIVEN, outputs=("left", "left_rate"))
    assert sigma(states).axes[0].get_ylabel() == "singular values (in the units of the signals)"


def test_an_undamped_pole_is_a_peak_and_no_gap():
    """1/(s^2 + w^2) beside w, at w (1 + d): 1/(w^2 d (2 + d)), with the nearest d of 2e-3."""
    w = 3.0
    ax = sigma(control.tf([1.0], [1.0, 0.0, w * w])).axes[0]
    (line,) = ax.lines
    x, y = np.array(line.get_data())
    k = np.nanargmax(y)
    d = x[k] / w - 1.0
    assert abs(d) == pytest.approx(2e-3, rel=1e-6) and y[k] == pytest.approx(abs(1.0 / (w * w * d * (2.0 + d))))
    assert np.isfinite(y).all() and x[0] < 0.5 * w < 5.0 * w < x[-1]


def test_a_sampled_system_ends_at_half_of_its_sampling():
    """0.5/(z - 0.5) with 0.1 s: 1 at rest, and 0.5/1.5 at the end."""
    system = control.tf([0.5], [1.0, -0.5], 0.1)
    (line,) = sigma(system).axes[0].lines
    x, y = np.array(line.get_data())
    assert x[-1] == pytest.approx(np.pi / 0.1) and y[-1] == pytest.approx(1.0 / 3.0)
    assert y[0] == pytest.approx(1.0, abs=1e-2)
    with pytest.raises(ValueError, match=r"0\.1 s a sample end at 31\.4159 rad/s, got 40"):
        sigma(system, omega=[1.0, 40.0])


def test_closed_loops_from_any_signal_that_enters_them(lin):
    """Complementary sensitivity at both motors against python-control's loop transfer."""
    plant = lin.point.plant
    law = PID(plant, Constant([2.1, 1.0]), kp=900.0, ki=300.0, kd=120.0, coordinates=DRIVEN)
    loop = linearize_closed_loop(plant, law, lin.point.q, coordinates=DRIVEN)
    omega = np.geomspace(0.1, 300.0, 7)
    ax = sigma(loop, ["left_command", "right_command"], ["left_effort", "right_effort"], omega).axes[0]
    assert ax.get_ylabel() == "singular values (1)"
    L = loop.loop()(1j * omega)
    T = np.array([np.linalg.solve(np.eye(2) + L[:, :, k], L[:, :, k]) for k in range(7)])
    np.testing.assert_allclose(drawn_curve(ax, "largest")[1], np.linalg.norm(T, 2, axis=(1, 2)), rtol=1e-7)
    with pytest.raises(ValueError, match="did you mean 'left_command'"):
        sigma(loop, "left_comand", "left")


def test_machines_of_an_uncertain_loop_are_those_that_are_built_anew(loop, worst):
    omega = np.geomspace(0.1, 1000.0, 9)
    ax = sigma(loop, EFFORTS, DRIVEN, omega, machines=3, seed=4, worst=worst).axes[0]
    bundle = [line for line in ax.lines if line.get_color() == "#B8B8B8" and len(line.get_xdata()) == 9]
    assert len(bundle) == 3
    drawn = [("middle of the intervals", {})]
    rng = np.random.default_rng(4)
    for line in bundle:
        x = rng.uniform(-1.0, 1.0, 2)
        values = {name: np.interp(d, [-1.0, 1.0], ends) for d, (name, ends) in zip(x, INTERVALS.items(), strict=True)}
        drawn.append((line, values))
    for line, values in drawn:
        machine = loop.model.machine(values)
        made = linearize_closed_loop(machine, loop.law, loop.nominal.point.q, coordinates=DRIVEN, delay=1e-3)
        rows, columns = [made.outputs.index(x) for x in DRIVEN], [made.inputs.index(x) for x in EFFORTS]
        X = made.to_ss()(np.exp(1j * omega * 2e-3))[np.ix_(rows, columns)]
        known = [np.linalg.norm(X[:, :, k], 2) for k in range(9)]
        y = drawn_curve(ax, line)[1] if isinstance(line, str) else np.array(line.get_ydata())
        # loops that are built anew differ by what three Gauss points in a period leave, 1e-6
        np.testing.assert_allclose(y, known, rtol=1e-5, atol=1e-6 * max(known))


def test_the_worst_one_reaches_its_gain_below_the_proven_bound(loop, worst):
    figure = sigma(loop, EFFORTS, DRIVEN, machines=8, worst=worst, limit=2.0 * worst.upper)
    ax = figure.axes[0]
    omega, y = drawn_curve(ax, "worst one found")
    at = np.flatnonzero(omega == worst.worst_frequency)
    assert at.size == 1 and y[at[0]] == pytest.approx(worst.lower, rel=1e-6)
    (bound,) = [line for line in ax.lines if str(line.get_label()).startswith("proven for all")]
    assert bound.get_ydata()[0] == worst.upper and bound.get_label() == f"proven for all: {worst.upper:.3g}"
    curves = [np.array(line.get_ydata()) for line in ax.lines if len(line.get_xdata()) == len(omega)]
    below = [c for c in curves if not np.allclose(c, 2.0 * worst.upper)]  # without the limit
    assert len(below) == 10 and max(c.max() for c in below) <= worst.upper
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "8 random machines",
        "middle of the intervals",
        "worst one found",
        f"proven for all: {worst.upper:.3g}",
        "forbidden",
    ]
    assert faults(figure) == ([], [])
    with narrow():
        assert faults(sigma(loop, EFFORTS, DRIVEN, machines=2, worst=worst, limit=2.0 * worst.upper)) == ([], [])


def test_a_loop_that_is_not_proven_has_no_bound(lin):
    """An integral so fast that heavy machines within the interval are not held: no bound is drawn, and that is said."""
    plant = lin.point.plant
    model = uncertain_model(plant, lin.point, {"left_upper_mass": (0.5, 20.0)}, coordinates=DRIVEN)
    law = PID(plant, Constant([2.1, 1.0]), kp=900.0, ki=3000.0, kd=60.0, coordinates=DRIVEN)
    uncertain = uncertain_loop(model, law)
    assert not uncertain.robust_stability(1e-2).certified
    ax = sigma(uncertain, EFFORTS, DRIVEN, machines=2).axes[0]
    assert ax.get_title() == "not proven to be stable for all: no bound of the gain"
    assert not any(str(line.get_label()).startswith("proven") for line in ax.lines)


def test_limits_are_shaded_above(lin):
    """A number, and a system: 0.05 (s + 1)/(s + 10) at its own frequencies."""
    omega = np.geomspace(0.1, 100.0, 21)
    limit = control.tf([0.05, 0.05], [1.0, 10.0])
    for given, known in ((0.2, np.full(21, 0.2)), (limit, 0.05 * np.abs(1j * omega + 1.0) / np.abs(1j * omega + 10.0))):
        ax = sigma(lin, outputs=DRIVEN, omega=omega, limit=given).axes[0]
        (area,) = ax.collections
        (path,) = area.get_paths()
        for w, level in zip(omega, known, strict=True):
            low = path.vertices[np.isclose(path.vertices[:, 0], w), 1].min()
            assert low == pytest.approx(level, rel=1e-9)
        assert ax.get_ylim()[0] < known.min() and ax.get_ylim()[1] > known.max()
        assert ax.get_legend().get_texts()[-1].get_text() == "forbidden"


def test_what_has_no_singular_values(lin, worst):
    with pytest.raises(TypeError, match="LinearModel, a ClosedLoop, an UncertainLoop"):
        sigma(np.eye(2))
    with pytest.raises(ValueError, match="worst= is for an uncertain loop"):
        sigma(lin, worst=worst)
    with pytest.raises(ValueError, match="limit"):
        sigma(lin, limit=-1.0)
    with pytest.raises(ValueError, match="names none"):
        sigma(lin, outputs=())
    with pytest.raises(TypeError, match=r"what must be a control\.StateSpace"):
        sigma(control.frd([1.0, 2.0], [1.0, 2.0]))
    assert plot.sigma is sigma


def test_frequency_zero_and_limits_without_end():
    """1/(s + 1) below 2/s, which is beyond all axes at rest: the rest is drawn, and nothing warns."""
    omega = np.array([0.0, 0.1, 1.0, 10.0])
    ax = sigma(control.tf([1.0], [1.0, 1.0]), omega=omega, limit=control.tf([2.0], [1.0, 0.0])).axes[0]
    assert ax.get_xlim() == (0.1, 10.0) and len(ax.collections) == 1
    (curve,) = [line for line in ax.lines if line.get_color() == "#0072B2"]
    np.testing.assert_allclose(curve.get_ydata(), 1.0 / np.sqrt(1.0 + omega**2), rtol=1e-12)


def test_a_gain_without_states():
    (line,) = sigma(control.ss([], [], [], [[3.0]])).axes[0].lines
    np.testing.assert_allclose(line.get_ydata(), 3.0)
