"""Laws with free gains as gains of generalized plants, against closed loops that are linearized one by one."""

import functools

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, plants
from cmbcontrol.controllers import PID, Cascade, FirstOrderActuator, LowPass, Saturation
from cmbcontrol.controllers.closed_loop import linearize_closed_loop
from cmbcontrol.design import Range, with_payload
from cmbcontrol.design.tunable_loops import TunableLoops
from cmbcontrol.errors import InputTypeError
from cmbcontrol.linear.norms import hinf_norm
from tests.fixtures import refuses

TO, DRIVEN = Constant([2.1, 1.0]), ("left", "right")


@functools.cache
def five_bar():
    return plants.five_bar()


@functools.cache
def machines():
    plant = five_bar()
    return {
        "empty": (plant, plant.assemble(left=1.9, right=1.2)),
        "loaded": (with_payload(plant, "left_upper", 4.0, (1.5, 0.0, 0.0)), plant.assemble(left=2.6, right=0.5)),
    }


GAINS = {"kp": Range(10.0, 5e3, log=True), "ki": Range(1.0, 5e3, log=True), "kd": Range(1.0, 1e3, log=True)}
AT = {"kp": 900.0, "ki": 700.0, "kd": 120.0}


def pid(kp, ki, kd, period=2e-3, **options):
    return PID(five_bar(), TO, kp=kp, ki=ki, kd=kd, coordinates=DRIVEN, period=period, **options)


LAWS = {
    "sampled, drive, delay": (lambda **x: pid(**x) | Saturation(900.0) | FirstOrderActuator(2e-3), 1e-3),
    "continuous, feedforward": (lambda **x: pid(**x, period=None, derivative_time=0.01) | LowPass(60.0), 0.0),
    "sampled, filter": (lambda **x: pid(**x, feedforward="none") | LowPass(60.0, order=2), 2.5e-3),
}


def loops_of(name):
    law, delay = LAWS[name]
    return TunableLoops(machines(), law, GAINS, delay)


def linearized(loops, k, values, delay):
    case = loops.cases[k]
    law = loops.held(case.plant, case.q, values)
    return linearize_closed_loop(case.plant, law, case.q, coordinates=DRIVEN, delay=delay or None)


@pytest.mark.parametrize("name", LAWS)
def test_closed_they_are_the_loops_of_the_machines(name):
    """Poles, sensitivities at the motors, errors under references: at other gains than those it was set up with."""
    loops, delay = loops_of(name), LAWS[name][1]
    K = loops.gains(loops.theta(AT))
    for k, case in enumerate(loops.cases):
        loop = linearized(loops, k, AT, delay)
        A = loops.generalized(case, ["command"], ["load"]).closed(K[k]).A
        found, expected = (np.sort_complex(np.linalg.eigvals(x)) for x in (A, loop.A))
        np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())
        disk = loops.generalized(case, ["command"], ["disk"]).closed(K[k])
        scale = np.diag(case.unit_efforts)
        B, C = disk.B @ np.linalg.inv(scale), scale @ disk.C  # in N m again, as margins are
        norm = hinf_norm(disk.A, B, C, loop.dt or None, scale @ disk.D @ np.linalg.inv(scale))
        margin = loop.margins().disk  # by scalings that are best, of which these units are some
        assert norm >= (1.0 / margin) * (1.0 - 1e-6) and norm < 3.0 / margin
        follow = loops.generalized(case, ["reference"], ["error", "output"]).closed(K[k])
        outputs = [loop.outputs.index(n) for n in DRIVEN]
        references = [loop.inputs.index(f"{n}_ref") for n in DRIVEN]
        for omega in (0.3, 9.0, 80.0):
            z = np.exp(1j * omega * loop.dt) if loop.dt else 1j * omega
            of_loop = _response(loop.A, loop.B, loop.C, loop.D, z)[np.ix_(outputs, references)]
            own = _response(follow.A, follow.B, follow.C, follow.D, z)
            np.testing.assert_allclose(own[2:], of_loop, atol=1e-6 * np.abs(of_loop).max())
            np.testing.assert_allclose(own[:2], np.eye(2) - of_loop, atol=1e-6 * np.abs(of_loop).max())


def _response(A, B, C, D, z):
    return C @ np.linalg.solve(z * np.eye(len(A)) - A, B) + D


@pytest.mark.parametrize("name", LAWS)
def test_slopes_by_the_gains(name):
    loops = loops_of(name)
    theta, step = loops.theta(AT), 1e-4
    slopes = loops.derivatives(theta)
    for i, e in enumerate(np.eye(3)):
        ends = loops.gains(theta + step * e), loops.gains(theta - step * e)
        for k in range(2):
            difference = (ends[0][k] - ends[1][k]) / (2.0 * step)
            np.testing.assert_allclose(slopes[k][i], difference, atol=1e-6 * np.abs(difference).max())


def test_laws_that_are_not_affine_in_their_gains():
    """A cascade has products of gains, and a filter poles: their matrices are found anew."""

    def law(position_gain, velocity_gain, cutoff):
        made = Cascade(five_bar(), TO, position_gain=position_gain, velocity_gain=velocity_gain, integral_time=0.2,
                       coordinates=DRIVEN, period=2e-3, feedforward="none")  # fmt: skip
        return made | LowPass(cutoff)

    ranges = {"position_gain": (2.0, 20.0), "velocity_gain": (20.0, 200.0), "cutoff": (20.0, 100.0)}
    loops = TunableLoops(machines(), law, {name: Range(*r) for name, r in ranges.items()})
    values = {"position_gain": 7.0, "velocity_gain": 90.0, "cutoff": 45.0}
    theta = loops.theta(values)
    assert loops._anew
    for k, case in enumerate(loops.cases):
        loop = linearized(loops, k, values, 0.0)
        A = loops.generalized(case, ["command"], ["load"]).closed(loops.gains(theta)[k]).A
        np.testing.assert_allclose(
            np.sort_complex(np.linalg.eigvals(A)), np.sort_complex(np.linalg.eigvals(loop.A)), atol=1e-6
        )
    slopes, step = loops.derivatives(theta), 1e-3
    for i, e in enumerate(np.eye(3)):
        difference = (loops.gains(theta + step * e)[0] - loops.gains(theta - step * e)[0]) / (2.0 * step)
        np.testing.assert_allclose(slopes[0][i], difference, atol=1e-4 * np.abs(difference).max())


def test_gains_stay_within_their_ranges():
    loops = loops_of("sampled, filter")
    assert loops.values(np.full(3, -99.0)) == pytest.approx({"kp": 10.0, "ki": 1.0, "kd": 1.0})
    assert loops.values(np.full(3, 99.0)) == pytest.approx({"kp": 5e3, "ki": 5e3, "kd": 1e3})
    assert loops.values(loops.theta(AT)) == pytest.approx(AT, rel=1e-9)


def test_what_is_refused():
    def bare(kp):
        return cmb.controllers.FunctionController(lambda t, terms, state: [kp, 0.0])

    one = {"kp": Range(1.0, 2.0)}
    refuses(lambda: TunableLoops(machines(), bare, one), "coordinates and a reference", kind=InputTypeError)
    refuses(lambda: TunableLoops(machines(), lambda kp: 3.0, one), "must return a controller", kind=InputTypeError)
