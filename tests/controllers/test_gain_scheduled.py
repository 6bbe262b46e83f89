"""Laws blended over a grid: weights against interpolation of scipy, gains, signals, linear models, what is refused."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, RegularGridInterpolator

import cmbcontrol as cmb
from cmbcontrol import Constant, Sine
from cmbcontrol.controllers import PID, GainScheduled, Saturation, StateFeedback
from cmbcontrol.controllers.closed_loop import linearize_closed_loop
from cmbcontrol.controllers.traced import law_code
from cmbcontrol.errors import InputError, InputTypeError
from tests.fixtures import PERIOD, refuses

WAY = Sine([2.3, 0.8], [0.3, 0.3], 0.5)
LEFT, RIGHT = np.array([1.9, 2.2, 2.7]), np.array([0.4, 0.9, 1.1, 1.2])


def gains(i, j):
    return 100.0 + 30.0 * i + 7.0 * j * j, 20.0 + i * j


def pid(plant, i, j, reference=WAY, **options):
    kp, kd = gains(i, j)
    given = {"coordinates": ("left", "right"), "period": PERIOD, "ki": 5.0 * kp, "feedforward": "none"} | options
    return PID(plant, reference, kp=kp, kd=kd, **given)


def table(plant, **options):
    return [[pid(plant, i, j, **options) for j in range(4)] for i in range(3)]


OVER = {"left": LEFT, "right": RIGHT}


def test_linear_gains_are_those_of_a_lookup_table(plant):
    """A PID is linear in its gains: the blend is one with gains interpolated, by another interpolation."""
    law = GainScheduled(table(plant), OVER)
    of_kp, of_kd = (RegularGridInterpolator((LEFT, RIGHT), [[gains(i, j)[k] for j in range(4)] for i in range(3)])
                    for k in range(2))  # fmt: skip
    rng = np.random.default_rng(0)
    for _ in range(20):
        q = plant.assemble(left=rng.uniform(1.9, 2.7), right=rng.uniform(0.4, 1.2))
        terms = plant.terms(q, plant.project_velocity(q, rng.standard_normal(4)))
        at = q[[0, 2]]
        kp, kd = float(of_kp(at)[0]), float(of_kd(at)[0])
        one = PID(plant, WAY, kp=kp, ki=5.0 * kp, kd=kd, coordinates=("left", "right"), period=PERIOD,
                  feedforward="none")  # fmt: skip
        found, expected = (x.evaluate(0.3, terms, np.array([3.0, -2.0])) for x in (law, one))
        np.testing.assert_allclose(found.effort, expected.effort, rtol=1e-12)
        np.testing.assert_allclose(found.state, expected.state, rtol=1e-12)
        assert found.reported().keys() == expected.reported().keys()


@pytest.mark.parametrize("interpolation", ["linear", "cubic"])
def test_weights(plant, interpolation):
    """One where a grid point is, of sum one everywhere, held outside; cubic ones as scipy's spline."""
    law = GainScheduled(table(plant)[0], {"right": RIGHT}, interpolation=interpolation)
    values = np.random.default_rng(1).standard_normal(4)

    def at(x):
        q = plant.assemble(left=2.2, right=x)
        return law.weights(0.0, plant.terms(q, np.zeros(4)))

    for k, x in enumerate(RIGHT):
        np.testing.assert_allclose(at(x), np.eye(4)[k], atol=1e-12)
    for x in (0.5, 0.77, 1.15):
        expected = CubicSpline(RIGHT, values)(x) if interpolation == "cubic" else np.interp(x, RIGHT, values)
        np.testing.assert_allclose(at(x) @ values, expected, rtol=1e-12)
        assert at(x).sum() == pytest.approx(1.0, abs=1e-13)
    np.testing.assert_allclose(at(0.3), [1.0, 0.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(at(1.3), [0.0, 0.0, 0.0, 1.0], atol=1e-12)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("options", [{}, {"by": "reference", "interpolation": "cubic"}])
def test_code_does_what_python_does(plant, options, monkeypatch):
    chain = GainScheduled(table(plant, feedforward="inverse-dynamics"), OVER, **options) | Saturation(300.0)
    q0 = plant.assemble(left=2.3, right=0.8)
    assert not isinstance(law_code(plant, chain, q0), str)
    runs = [cmb.simulate(plant, chain, q0, t_end=0.1)]
    monkeypatch.setattr(cmb.trace.code, "CHOICE", "kernels")
    runs.append(cmb.simulate(plant, chain, q0, t_end=0.1))
    np.testing.assert_allclose(runs[0].u.values, runs[1].u.values, rtol=1e-9, atol=1e-9)


def test_one_reference_is_computed_once_for_all(plant, monkeypatch):
    """Efforts of the motion, of laws that have other gains only, are one signal of the code."""
    first = pid(plant, 0, 0, feedforward="inverse-dynamics")
    law = GainScheduled([first, first.with_gains(kp=200.0)], {"left": [1.9, 2.7]})
    code = law_code(plant, law, plant.assemble(left=2.3, right=0.8))
    assert len(code.signals) == 2  # the reference, and its efforts
    again = law_code(plant, law.with_reference(Sine([2.3, 0.8], 0.1, 1.0)), plant.assemble(left=2.3, right=0.8))
    assert len(again.signals) == 2


def test_a_load_that_is_known(plant):
    law = GainScheduled([pid(plant, 0, 0), pid(plant, 2, 3)], {"load": [0.0, 4.0]}, signals={"load": lambda t: 2.0 * t})
    terms = plant.terms(plant.assemble(left=2.3, right=0.8), np.zeros(4))
    np.testing.assert_allclose(law.weights(0.5, terms), [0.75, 0.25])
    np.testing.assert_allclose(law.held({"load": 3.0}).weights(0.5, terms), [0.25, 0.75])
    np.testing.assert_allclose(law.frozen({"load": 1.0}).weights(9.0, terms), [0.75, 0.25])
    spline = GainScheduled(law.laws, {"load": [0.0, 4.0]}, signals={"load": cmb.Quintic([0.0], [4.0], 1.0)})
    np.testing.assert_allclose(spline.weights(0.5, terms), [0.5, 0.5])
    run = cmb.simulate(plant, law, plant.assemble(left=2.3, right=0.8), t_end=0.05)
    assert run.q.time.values[-1] == 0.05


def test_hidden_coupling_is_in_the_linear_model(plant):
    """Where springs hold a machine aside of its reference, a gain that moves with it is a stiffness of its own.

    Of springs k(q) (r - q), linear in q, the derivative is -k + k' (r - q): checked in the columns of the loop.
    """
    to, axis = Constant([2.1, 1.0]), np.array([1.9, 2.6])
    made = [PID(plant, to, kp=k, kd=9.0, coordinates=("left", "right"), feedforward="none") for k in (250.0, 600.0)]
    law, slope = GainScheduled(made, {"left": axis}), 350.0 / 0.7
    driven = ("left", "right")
    loop = linearize_closed_loop(plant, law, plant.assemble(left=2.1, right=1.0), coordinates=driven)
    point = loop.point
    frozen = law.frozen({"left": float(point.q[0])})
    apart = linearize_closed_loop(plant, frozen, point.q, coordinates=driven)
    error = np.array([2.1, 1.0]) - point.q[[0, 2]]
    expected = loop.plant.B @ np.outer(slope * error, [1.0, 0.0])
    change = loop.A[: len(expected)] - apart.A[: len(expected)]
    np.testing.assert_allclose(change[:, :2], expected, atol=1e-6 * np.abs(expected).max())
    assert np.abs(expected).max() > 1.0


def test_integrals_wait_and_do_not_jump(plant):
    """The integral of a PID is an effort: it stays what it is where gains change."""
    law = GainScheduled(table(plant), OVER)
    q = plant.assemble(left=2.3, right=0.8)
    state = np.array([30.0, -20.0])
    terms = plant.terms(q, np.zeros(4))
    for weights in (np.eye(12)[0], np.eye(12)[7]):
        u = law.frozen(weights).evaluate(0.0, terms, state).effort
        p = law.frozen(weights).evaluate(0.0, terms, np.zeros(2)).effort
        np.testing.assert_allclose(u - p, state, rtol=1e-12)
    chain = law | Saturation(1e-3)
    state = chain.start(plant)
    for k in range(20):
        state = chain.evaluate(k * PERIOD, terms, state).state
    assert np.abs(state).max() == 0.0  # it waits from the first sample on


def test_what_is_refused(plant):
    one, other = pid(plant, 0, 0), pid(plant, 1, 1)
    refuses(lambda: GainScheduled([one, other | Saturation()], {"left": [1.0, 2.0]}), "is a chain", kind=InputTypeError)
    refuses(lambda: GainScheduled([one], {"left": [1.0, 2.0]}), "1 for 2 values", kind=InputError)
    refuses(lambda: GainScheduled([one, other], {"left": [2.0, 1.0]}), "growing", kind=InputError)
    refuses(lambda: GainScheduled([one, other], {"lefft": [1.0, 2.0]}), "did you mean 'left'", kind=InputError)
    refuses(lambda: GainScheduled([one, other], {"load": [1.0, 2.0]}), "no coordinate 'load'", kind=InputError)
    refuses(
        lambda: GainScheduled([one, pid(plant, 0, 0, period=2e-3)], {"left": [1.0, 2.0]}),
        "same period",
        kind=InputError,
    )
    feedback = StateFeedback(
        cmb.linearize(plant, cmb.trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=("left", "right")),
        np.zeros((2, 4)), period=PERIOD,
    )  # fmt: skip
    refuses(lambda: GainScheduled([one, feedback], {"left": [1.0, 2.0]}), "other states", kind=InputError)
    refuses(lambda: GainScheduled([one, other], {}), "one to three axes", kind=InputError)
    refuses(
        lambda: GainScheduled([one, other], {"left": [1.0, 2.0]}).frozen({"right": 1.0}), "no value", kind=InputError
    )
