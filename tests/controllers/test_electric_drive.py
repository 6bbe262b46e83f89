"""Electric drives: limits of current and voltage, gears, the lag of the current loop."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Actuator, Body, Mechanism, Revolute, plants
from cmbcontrol._jit import JIT_ENABLED
from cmbcontrol.controllers import ElectricDrive, FunctionController, ProjectedInverseDynamics
from tests.fixtures import refuses

J, KT, N, OHM, VOLT, AMP = 0.4, 0.08, 60.0, 0.5, 48.0, 12.0


def wheel():
    body = Body("wheel", 1.0, (0, 0, 0), (J, J, J))
    return Mechanism(
        "wheel", [body], [Revolute("spin", "ground", "wheel")], actuators=[Actuator("spin")], gravity=(0, 0, 0)
    )


def held(value, period=None):
    return FunctionController(lambda t, terms, state: [value], period=period)


@pytest.mark.parametrize("period", [None, 0.01])
def test_a_wheel_speeds_up_to_what_the_bus_allows(period):
    """At the largest current first, then exponentially to the speed without load."""
    drive = ElectricDrive(KT, N, AMP, OHM, VOLT)
    run = cmb.simulate(wheel(), held(1e3, period) | drive, [0.0], t_end=2.0, output_times=0.01)
    a = KT * N * AMP / J
    corner = (VOLT - OHM * AMP) / (KT * N)  # speed at which the voltage begins to limit
    free, tau = VOLT / (KT * N), J * OHM / (KT * N) ** 2
    v = run.v.values[:, 0]
    begin = corner / a
    expected = np.where(run.time < begin, a * run.time, free - (free - corner) * np.exp(-(run.time - begin) / tau))
    np.testing.assert_allclose(v, expected, atol=1e-7)


def test_efficiency_of_the_gear():
    """Less comes out where the motor drives, and a driven motor brakes more."""
    drive = ElectricDrive(KT, N, efficiency=0.8)
    plant = wheel()
    for w, factor in ((2.0, 0.8), (-2.0, 1.0 / 0.8)):
        run = cmb.simulate(plant, held(3.0) | drive, [0.0], [w], t_end=0.1)
        assert float(run.u[0, 0]) == pytest.approx(3.0 * factor)
        assert float(run.v[-1, 0]) == pytest.approx(w + 3.0 * factor / J * 0.1, rel=1e-9)


def test_the_current_loop_lags():
    drive = ElectricDrive(KT, N, AMP, time_constant=0.02)
    run = cmb.simulate(wheel(), held(10.0, 1e-3) | drive, [0.0], t_end=0.1, output_times=0.01)
    np.testing.assert_allclose(run.u[:, 0], 10.0 * (1.0 - np.exp(-run.time / 0.02)), atol=1e-6)


def test_several_motors_by_name():
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    named = {"left": 0.1, "right": 0.2}
    drive = ElectricDrive(named, 50.0, {"left": 4.0, "right": 5.0}, plant=plant)
    run = cmb.simulate(plant, FunctionController(lambda t, terms, state: [90.0, -90.0]) | drive, q, t_end=0.05)
    np.testing.assert_allclose(run.u[-1], [20.0, -50.0])


@pytest.mark.parametrize(("options", "words"), [
    ({"torque_constant": 0.0}, ("torque_constant",)),
    ({"torque_constant": -1.0}, ("torque_constant",)),
    ({"torque_constant": 1.0, "gear": np.inf}, ("gear", "finite")),
    ({"torque_constant": 1.0, "efficiency": 1.2}, ("efficiency", "at most 1")),
    ({"torque_constant": 1.0, "resistance": 1.0}, ("voltage=",)),
    ({"torque_constant": 1.0, "current": 0.0}, ("current",)),
    ({"torque_constant": 1.0, "width": 0.0}, ("width",)),
])  # fmt: skip
def test_wrong_numbers_are_told(options, words):
    refuses(lambda: held(1.0) | ElectricDrive(**options, plant=wheel()), *words, kind=ValueError)


OPTIONS = {
    "time_constant": (0.0, 2e-3, {"left": 1e-3, "right": 3e-3}),
    "efficiency": (1.0, 0.95, {"left": 1.0, "right": 0.8}),
    "current": (np.inf, 12.0, {"left": 12.0, "right": 20.0}),
    "resistance": (0.0, 0.5, {"left": 0.5, "right": 0.0}),
}


@pytest.mark.first(3)
@pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")
@pytest.mark.parametrize("seed", range(12))
def test_drives_of_all_kinds_are_compiled(monkeypatch, seed):
    """Whatever numbers a drive has, its run is by code, and the one that Python makes."""
    rng = np.random.default_rng(seed)
    given = {name: values[rng.integers(3)] for name, values in OPTIONS.items()}
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    law = ProjectedInverseDynamics(plant, ("left", "right"), cmb.Sine([2.1, 1.0], [0.2, 0.1], 0.5), bandwidth=8.0,
                                   period=1e-3 if seed % 3 else None)  # fmt: skip
    chain = law | ElectricDrive(2.5, voltage=200.0, **given)
    runs = []
    for choice in ("generated", "kernels"):
        monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", choice)
        runs.append(cmb.simulate(plant, chain, q, t_end=0.03))
    assert runs[0].data.attrs["law_code"] == "generated"
    assert runs[0].data.attrs["evaluations_by_code"] > 0.9 * runs[0].data.attrs["evaluations"]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-7)
    np.testing.assert_allclose(runs[0].u, runs[1].u, atol=1e-3)
