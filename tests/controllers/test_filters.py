"""Filters of efforts against their transfer functions, whose answers to held efforts are known in closed form."""

import functools
import json

import control
import mpmath
import numpy as np
import pytest
from scipy import signal

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import (
    DriveFriction,
    Filter,
    LeadLag,
    LowPass,
    Notch,
    Saturation,
    compiled_law,
    law_from_dict,
    law_to_dict,
)
from cmbcontrol.controllers.controller import Controller, Evaluation
from cmbcontrol.errors import InputError, InputTypeError
from tests.fixtures import PERIOD, Asks, refuses, sampled_efforts

W = 2.0 * np.pi
refuses_input = functools.partial(refuses, kind=InputError)


def butterworth(cutoff, order):
    return signal.butter(order, W * cutoff, analog=True, output="zpk")


def notch(frequency, width, depth):
    w, b = W * frequency, W * width
    return np.roots([1.0, 10.0 ** (-depth / 20.0) * b, w * w]), np.roots([1.0, b, w * w]), 1.0


# block, and its zeros, poles and gain
FILTERS = {
    "low pass": (LowPass(50.0), butterworth(50.0, 1)),
    "low pass of order 2": (LowPass(120.0, order=2), butterworth(120.0, 2)),
    "low pass of order 5": (LowPass(200.0, order=5), butterworth(200.0, 5)),
    "low pass of order 8": (LowPass(400.0, order=8), butterworth(400.0, 8)),
    "slow low pass": (LowPass(1e-3), butterworth(1e-3, 1)),
    "notch": (Notch(85.0, 20.0, 30.0), notch(85.0, 20.0, 30.0)),
    "whole notch": (Notch(85.0, 5.0, np.inf), notch(85.0, 5.0, np.inf)),
    "broad notch": (Notch(10.0, 50.0), notch(10.0, 50.0, 40.0)),
    "lead": (LeadLag(10.0, 100.0, 2.0), ([-10.0], [-100.0], 20.0)),
    "lag": (LeadLag(100.0, 10.0), ([-100.0], [-10.0], 0.1)),
    "lead with a phase": (LeadLag.with_phase(40.0, 60.0), None),
    "transfer function": (
        Filter(control.TransferFunction([1.0, 20.0, 3.0], [1.0, 5.0, 300.0, 40.0])),
        (np.roots([1.0, 20.0, 3.0]), np.roots([1.0, 5.0, 300.0, 40.0]), 1.0),
    ),
    "PI": (Filter({"num": [2.0, 20.0], "den": [1.0, 0.0]}), ([-10.0], [0.0], 2.0)),
    "state space": (
        Filter(control.ss([[0.0, 1.0], [-900.0, -12.0]], [[0.0], [900.0]], [[1.0, 0.0]], [[0.0]])),
        ([], np.roots([1.0, 12.0, 900.0]), 900.0),
    ),
    "of scipy": (Filter(signal.lti([3.0, 1.0], [1.0, 2.0])), ([-1.0 / 3.0], [-2.0], 3.0)),
    "fast": (Filter({"num": [1e5], "den": [1.0, 1e5]}), ([], [-1e5], 1e5)),
}


def step_responses(zpk, times):
    """Answers to a step at some times, by partial fractions with 40 digits."""
    with mpmath.workdps(40):
        zeros, poles, gain = ([mpmath.mpmathify(complex(x)) for x in np.atleast_1d(part)] for part in zpk)

        def top(s):
            return gain[0] * mpmath.fprod([s - z for z in zeros])

        all_poles, found = [*poles, mpmath.mpf(0)], []
        for t in times:
            y = gain[0] if t == 0.0 and len(zeros) == len(poles) else mpmath.mpf(0)
            if t > 0.0 and all_poles.count(0) == 1:
                for i, p in enumerate(all_poles):
                    rest = mpmath.fprod([p - x for j, x in enumerate(all_poles) if j != i])
                    y += top(p) / rest * mpmath.exp(p * mpmath.mpf(float(t)))
            elif t > 0.0:  # an integral, (g s + h)/s
                y = gain[0] * (1 - zeros[0] * mpmath.mpf(float(t)))
            found.append(float(mpmath.re(y)))
        return np.array(found)


def efforts(t):
    return np.array([np.sin(40.0 * t) + (t > 0.012), 3.0 * np.cos(300.0 * t)])


@pytest.mark.parametrize("name", FILTERS)
def test_samples_are_those_of_held_efforts(name):
    block, zpk = FILTERS[name]
    if zpk is None:
        zpk = [-block.zero], [-block.pole], block.gain * block.pole / block.zero
    plant, count = plants.five_bar(), 60
    found = sampled_efforts(plant, Asks(efforts, plant=plant) | block, count)
    times = PERIOD * np.arange(count)
    u, steps = np.array([efforts(t) for t in times]), step_responses(zpk, times)
    changes = np.diff(u, axis=0, prepend=0.0)
    wanted = np.array([steps[: k + 1][::-1] @ changes[: k + 1] for k in range(count)])
    # of what all of a held effort would give: a deep notch, say, cancels most of it
    assert np.abs(found - wanted).max() < 1e-12 * max(np.abs(wanted).max(), np.abs(u).max() * np.abs(steps).max())


@compiled_law
class Signals(Controller):
    """Efforts that are known functions of time, with a state, which is compiled."""

    def __init__(self, plant, period):
        self.plant, self.period, self.asks = plant, period, efforts

    def evaluate(self, t, terms, state):
        return Evaluation(self.asks(t))


@pytest.mark.parametrize("name", ["low pass of order 2", "notch", "lead", "PI"])
def test_in_a_run_in_the_controller_and_in_the_machine(name):
    """Behind the held efforts a filter is continuous: its values at the samples are the same ones."""
    block, _ = FILTERS[name]
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    known = sampled_efforts(plant, Asks(efforts, plant=plant) | block, 21)
    law = Signals(plant, PERIOD)
    times = {"t_end": 0.02, "output_times": PERIOD}
    in_controller = cmb.simulate(plant, law | block, q0, **times)
    assert in_controller.data.attrs["samples_by_code"] >= 20
    assert np.abs(in_controller.u.values[:20] - known[:20]).max() < 1e-12 * np.abs(known).max()


@pytest.mark.parametrize("name", ["low pass of order 2", "notch", "lead", "PI"])
def test_behind_the_held_efforts_a_filter_is_continuous(name):
    """There it has at the samples what it has in the controller: it is discretised exactly."""
    block, _ = FILTERS[name]
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    known = sampled_efforts(plant, Asks(efforts, plant=plant) | block, 21)
    follows = DriveFriction(coulomb=0.0)  # a part of the machine, which hands efforts on
    run = cmb.simulate(plant, Signals(plant, PERIOD) | follows | block, q0, t_end=0.02, output_times=PERIOD)
    assert np.abs(run.u.values[:20] - known[:20]).max() < 1e-9 * np.abs(known).max()


@pytest.mark.parametrize("name", ["low pass of order 5", "notch", "lead", "transfer function", "PI"])
def test_frequency_responses_of_linear_models(name):
    """The loop of a plant with a filter is that without it times the filter, in continuous time."""
    block, (zeros, poles, gain) = FILTERS[name]
    plant = plants.five_bar().with_parts(gravity=(0.0, 0.0, 0.0))
    q0 = plant.assemble(left=2.1, right=1.0)
    law = cmb.controllers.PID(plant, cmb.Constant([2.1, 1.0]), kp=[300.0, 200.0], kd=[20.0, 30.0], at=q0)
    point = cmb.trim(plant, q0)
    options = {"find_equilibrium": False, "coordinates": ("left", "right")}
    plain, filtered = (
        cmb.controllers.closed_loop.linearize_closed_loop(plant, x, point, **options)._broken("input")
        for x in (law, law | Filter({"num": [1.0], "den": [1.0]}) | block)
    )
    for w in (1.0, 30.0, 500.0):
        at = [
            loop.exit @ np.linalg.solve(1j * w * np.eye(len(loop.A)) - loop.opened, loop.entry)
            for loop in (plain, filtered)
        ]
        factor = gain * np.prod(1j * w - np.array(zeros)) / np.prod(1j * w - np.array(poles))
        np.testing.assert_allclose(at[1], factor * at[0], atol=1e-8 * np.abs(at[0]).max() * max(abs(factor), 1e-3))


def test_motors_by_name_and_all_at_once():
    plant = plants.five_bar()
    law = Asks(efforts, plant=plant)
    whole = sampled_efforts(plant, law, 30)
    one = sampled_efforts(plant, law | LowPass({"right": 50.0}), 30)
    assert np.array_equal(one[:, 0], whole[:, 0])
    both = sampled_efforts(plant, law | LowPass([80.0, 50.0]), 30)
    np.testing.assert_allclose(both[:, 1], one[:, 1], atol=1e-14)
    first = Filter({"left": {"num": [W * 80.0], "den": [1.0, W * 80.0]}, "right": LowPassed(50.0)})
    np.testing.assert_allclose(sampled_efforts(plant, law | first, 30), both, atol=1e-13)
    crossed = {
        "A": -W * np.diag([50.0, 80.0]),
        "B": W * np.diag([50.0, 80.0]),
        "C": np.eye(2)[::-1],
        "D": np.zeros((2, 2)),
    }
    swapped = sampled_efforts(plant, Asks(lambda t: efforts(t)[::-1], plant=plant) | Filter(crossed), 30)
    np.testing.assert_allclose(swapped, both, atol=1e-13)


def LowPassed(cutoff):
    return control.TransferFunction([W * cutoff], [1.0, W * cutoff])


def test_systems_in_sampled_time():
    plant = plants.five_bar()
    law = Asks(efforts, plant=plant)
    exact = control.c2d(control.ss(LowPassed(60.0)), PERIOD, "zoh")
    found = sampled_efforts(plant, law | Filter(exact), 40)
    np.testing.assert_allclose(found, sampled_efforts(plant, law | LowPass(60.0), 40), atol=1e-13)
    refuses_input(lambda: law | Filter(control.c2d(control.ss(LowPassed(60.0)), 2e-3, "zoh")), "0.002 s", "0.001 s")
    refuses_input(lambda: Asks(efforts, period=None, plant=plant) | Filter(exact), "continuous time")
    refuses_input(lambda: Filter(control.TransferFunction([1.0], [1.0, 0.5], True)), "without a sample time")


def test_initial_efforts_are_those_of_a_filter_at_rest():
    plant = plants.five_bar()
    law = Asks(lambda t: [3.0, -2.0], plant=plant)
    for block in (LowPass(20.0, order=3, initial=[3.0, -2.0]), Notch(40.0, 9.0, initial=[3.0, -2.0])):
        np.testing.assert_allclose(sampled_efforts(plant, law | block, 20), [[3.0, -2.0]] * 20, rtol=1e-12)
    chain = law | Filter({"num": [1.0], "den": [1.0, 0.0]}, initial=1.0)
    refuses_input(lambda: chain.start(plant), "integrates", "initial")


@pytest.mark.parametrize("system", [
    {"num": [2.0, 20.0], "den": [1.0, 0.0]},                        # answers at once
    {"num": [40.0], "den": [1.0, 0.0]},                             # answers late
    {"num": [1.0, 12.0, 20.0], "den": [1.0, 8.0, 0.0]},
    {"num": [-1.0, 20.0], "den": [1.0, 0.0]},                       # with a zero that does not decay
    {"num": [1.0, 30.0], "den": [1.0, -2.0]},                       # not stable
])  # fmt: skip
def test_filters_that_integrate_do_not_wind_up(system):
    """However long the effort has been at a limit, it leaves it in the same way: 4 s and 8 s of waiting are alike."""
    plant, found = plants.five_bar(), []
    for wait in (4000, 8000):
        law = Asks(lambda t, wait=wait: [1.0 if t < (wait - 0.5) * PERIOD else -1.0, 0.0], plant=plant)
        u = sampled_efforts(plant, law | Filter(system) | Saturation(1.5), wait + 900)[:, 0]
        assert abs(u[wait - 1]) == 1.5
        assert u[-1] == -u[wait - 1]
        found.append(u[wait:])
    assert np.abs(found[1] - found[0]).max() < 1e-2 * 1.5  # exp(-4 s * 2/s) of what still moves is left


def test_integrals_before_a_filter_wait_for_the_limits_behind_it():
    """What a limit cuts off is told in efforts of the law, so that a gain in between does not matter."""
    plant = plants.five_bar()
    terms = plant.terms(plant.assemble(left=2.1, right=1.0), np.zeros(4))
    law = cmb.controllers.PID(plant, cmb.Constant([9.0, 1.0]), kp=10.0, ki=5.0, feedforward="none", period=PERIOD)
    for gain in (4.0, -4.0):
        chain = law | LeadLag(20.0, 30.0, abs(gain)) | Filter({"num": [np.sign(gain)], "den": [1.0]}) | Saturation(30.0)
        state = chain.start(plant)
        for k in range(50):
            state = chain.evaluate(k * PERIOD, terms, state).state
        assert state[0] <= PERIOD * 5.0 * 6.9 * (1.0 + 1e-12)  # of the first sample, before which it is zero
        assert chain._cuts(0.0, terms, *_passed(chain, terms, state))[0][0].lost[0] < 0.0


def _passed(chain, terms, state):
    """Efforts after each part of the chain, and the states of the blocks."""
    own = chain.law.evaluate(0.0, terms, state[:2])
    states = [state[2:4], state[4:4], state[4:4]]
    return chain._series.stages(0.0, terms, own.effort, states), states


def test_files_and_refusals():
    plant = plants.five_bar()
    blocks = [Filter(LowPassed(30.0)), LowPass({"left": 40.0}, order=3), Notch(85.0, 9.0, 30.0), LeadLag(3.0, 9.0)]
    chain = Asks(efforts, plant=plant)
    for block in blocks:
        again = law_from_dict(json.loads(json.dumps(law_to_dict(block, plant))), plant)
        np.testing.assert_array_equal(
            sampled_efforts(plant, chain | again, 9), sampled_efforts(plant, chain | block, 9)
        )
    refuses_input(lambda: Filter({"num": [1.0, 0.0], "den": [1.0]}), "improper", "degree 1")
    refuses_input(lambda: Filter(3.0), "TransferFunction", kind=InputTypeError)
    refuses_input(lambda: chain | Filter({"lefft": LowPassed(3.0)}), "did you mean 'left'")
    refuses_input(
        lambda: chain | Filter({"A": [[-1.0]], "B": [[1.0, 0.0, 0.0]], "C": [[1.0]], "D": [[0.0] * 3]}), "3 inputs"
    )
    refuses_input(lambda: LowPass(0.0), "cutoff_hz of LowPass", "> 0")
    refuses_input(lambda: LowPass(10.0, order=9), "order of LowPass")
    refuses_input(lambda: LeadLag.with_phase(95.0, 10.0), "less than 90 degrees")
    refuses_input(lambda: chain | Notch({"left": 9.0}, {"right": 3.0}), "same motors")
    refuses_input(lambda: [1.0, 2.0] | LowPass(10.0), "needs the plant")


def test_leads_and_lags_have_the_phase_they_promise():
    for phase in (-60.0, -5.0, 30.0, 80.0):
        made = LeadLag.with_phase(phase, 40.0)
        response = made.gain * (1.0 + 40.0j / made.zero) / (1.0 + 40.0j / made.pole)
        assert abs(response) == pytest.approx(1.0, rel=1e-12)
        assert np.degrees(np.angle(response)) == pytest.approx(phase, rel=1e-12)
