"""Loads that act during a run: numbers, functions of time and points, which the law is told or not."""

import numpy as np
import pytest
from scipy.integrate import quad

import cmbcontrol as cmb
from cmbcontrol import Actuator, Body, Load, Mechanism, Prismatic, plants
from cmbcontrol.controllers import ProjectedInverseDynamics, WithModel
from cmbcontrol.trace.code import why_not
from tests.fixtures import refuses

MASS = 2.0


def cart(*actuators):
    """A mass on a rail, with a load along it."""
    rail = Prismatic("x", "ground", "cart", axis=(1, 0, 0))
    body = Body("cart", MASS, (0, 0, 0), np.eye(3))
    return Mechanism("cart", [body], [rail], actuators=actuators, loads=[Load("push", "cart")])


def moved(force, t):
    """Velocity and position of the mass from rest under a force."""
    kinks = [0.2, 0.5, 0.7, 0.70001]
    velocity = quad(force, 0.0, t, points=kinks, epsabs=1e-14)[0] / MASS
    return velocity, quad(lambda s: (t - s) * force(s), 0.0, t, points=kinks, epsabs=1e-14)[0] / MASS


def smooth(t):
    return 3.0 * np.sin(5.0 * t) + 1.0


TIMES, VALUES = [0.2, 0.5, 0.5, 0.7, 0.70001], [0.0, 4.0, -3.0, -3.0, 1.0]


def kinked(t):
    return np.interp(t, TIMES, VALUES)


@pytest.mark.parametrize("method", ["dop853", "rk4", "radau", "rodas5p"])
@pytest.mark.parametrize("code", ["code", "kernels"])
def test_a_mass_under_a_load_that_changes(method, code, monkeypatch):
    if code == "kernels":
        monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", "kernels")
    if method in ("radau", "rodas5p"):
        refuses(
            lambda: cmb.simulate(cart(), q0=[0.0], t_end=1.0, method=method, loads={"push_fx": smooth}),
            "change in time",
            method,
            kind=TypeError,
        )
        return
    options = {"method": cmb.Integrator(method, step=1e-3)} if method == "rk4" else {"method": method}
    for force, load in ((smooth, smooth), (kinked, (TIMES, VALUES))):
        run = cmb.simulate(cart(), q0=[0.0], t_end=1.0, loads={"push_fx": load}, **options)
        velocity, position = moved(force, 1.0)
        assert float(run.v[-1, 0]) == pytest.approx(velocity, abs=1e-10)
        assert float(run.q[-1, 0]) == pytest.approx(position, abs=1e-10)
        assert run.max_energy_error < 1e-9
        np.testing.assert_allclose(
            run.data.loads.sel(load_component="push_fx"), [force(t) for t in run.time], atol=1e-12
        )
        assert not run.data.loads.sel(load_component=["push_fy", "push_mz"]).any()
        assert float(run.data.load_work[-1]) == pytest.approx(0.5 * MASS * velocity**2, abs=1e-9)


def test_numbers_are_those_of_with_loads():
    plant = plants.five_bar().with_parts(loads=[Load("pull", "left_upper")])
    q = plant.assemble(left=2.1, right=1.0)
    for method in ("dop853", "radau"):
        run = cmb.simulate(plant, q0=q, t_end=0.3, loads={"pull": (3.0, -4.0, 0.0), "pull_mz": 0.2}, method=method)
        other = cmb.simulate(
            plant.with_loads({"pull": (3.0, -4.0, 0.0, 0.0, 0.0, 0.2)}), q0=q, t_end=0.3, method=method
        )
        np.testing.assert_array_equal(run.q, other.q)


def test_forces_that_turn_with_time_on_a_closed_machine():
    """By generated code and by kernels, through the same motion; with the energy that the load brings in."""
    plant = plants.five_bar().with_parts(loads=[Load("pull", "left_upper", cmb.Frame((0.5, 0, 0)))])
    q = plant.assemble(left=2.1, right=1.0)

    def pull(t):
        return [20.0 * np.cos(9.0 * t), 20.0 * np.sin(9.0 * t), 0.0]

    run = cmb.simulate(plant, q0=q, t_end=1.0, loads={"pull": pull})
    free = cmb.simulate(plant, q0=q, t_end=1.0)
    assert np.abs(run.q - free.q).max() > 0.05
    assert run.data.attrs["evaluations_by_code"] > 0 or why_not()
    assert run.max_energy_error < 1e-8
    states = zip(run.data.time.values, run.data.q.values, run.data.v.values, strict=True)
    powers = [v @ plant.load_matrix(q)[:, :3] @ pull(t) for t, q, v in states]
    np.testing.assert_allclose(run.data.load_power, powers, atol=1e-10)


def tracking(plant, period=None):
    target = cmb.Constant([2.0, 1.1])
    return ProjectedInverseDynamics(plant, ("left", "right"), target, bandwidth=12.0, damping_ratio=1.0, period=period)


@pytest.mark.parametrize("law", ["sampled", "continuous"])
@pytest.mark.parametrize("load", ["number", "function"])
def test_the_law_is_not_told(law, load):
    """As if the machine were one that the law does not know."""
    plant = plants.five_bar().with_parts(loads=[Load("pull", "left_upper")])
    q, force = plant.assemble(left=2.1, right=1.0), np.array([8.0, -15.0, 0.0])
    loads = {"pull": force if load == "number" else lambda t: force}
    period = 0.01 if law == "sampled" else None
    run = cmb.simulate(plant, tracking(plant, period), q, t_end=0.4, loads=loads)
    pulled = plant.with_loads({"pull": force})
    other = cmb.simulate(pulled, WithModel(plant, tracking(plant, period)), q, t_end=0.4)
    told = cmb.simulate(pulled, tracking(pulled, period), q, t_end=0.4)
    np.testing.assert_allclose(run.q, other.q, atol=1e-9)
    assert np.abs(run.q - told.q).max() > 1e-4
    assert run.max_energy_error < 1e-8


def test_wrong_loads_are_told():
    plant, q = cart(Actuator("x")), [0.0]

    def run(**loads):
        return cmb.simulate(plant, None, q, t_end=0.5, loads=loads)

    refuses(lambda: run(pusch=1.0), "'pusch'", "did you mean 'push'", kind=ValueError)
    refuses(lambda: run(push=(1.0, 2.0)), "push", kind=ValueError)
    refuses(lambda: run(push_fx=([0.0, 1.0], [1.0])), "push_fx", "times", kind=ValueError)
    refuses(lambda: run(push_fx=([1.0, 0.0], [1.0, 2.0])), "increase", kind=ValueError)
    refuses(
        lambda: cmb.simulate(plants.particle_on_circle(), q0=[1.0, 0.0], t_end=1.0, loads={"x": 1.0}),
        "functions",
        kind=TypeError,
    )
    for wrong in (lambda t: [1.0, 2.0], lambda t: "one", lambda t: np.nan, lambda t: 1.0 / 0.0):
        with pytest.raises((cmb.CmbError, ZeroDivisionError)) as caught:
            run(push_fx=wrong)
        assert "t = " in str(caught.value) or "push_fx" in str(caught.value), caught.value


def test_a_function_that_fails_later_keeps_what_was_computed():
    def breaks(t):
        if t > 0.3:
            raise RuntimeError("the wind stops")
        return 1.0

    with pytest.raises(cmb.errors.SimulationError, match="breaks") as caught:
        cmb.simulate(cart(), q0=[0.0], t_end=1.0, loads={"push_fx": breaks})
    assert 0.25 < caught.value.partial.time[-1] <= 0.3


def test_loads_of_a_stepper():
    """Held during steps; the same to rounding as a load of points, and copies that go on alone."""
    plant = plants.five_bar().with_parts(loads=[Load("pull", "left_upper")])
    q, u = plant.assemble(left=2.1, right=1.0), [0.5, -0.2]
    stepper = cmb.Stepper(plant, q, method="dop853")
    stepper.step(u, 0.1)
    stepper.step(u, 0.1, loads={"pull": (30.0, 0.0, 0.0)})
    other = stepper.copy()
    state = stepper.step(u, 0.1, loads={"pull_fy": -20.0})
    assert other.step(u, 0.1, loads={"pull": (0.0, 0.0, 0.0)}).load_work != state.load_work
    forces = [[0, 0], [0, 0], [30, 0], [30, 0], [30, -20], [30, -20]]
    points = [0.0, 0.1, 0.1, 0.2, 0.2, 0.3], [[*f, 0.0] for f in forces]
    run = cmb.simulate(plant, u, q, t_end=0.3, loads={"pull": points})
    np.testing.assert_allclose(state.q, run.q[-1], atol=1e-10)
    assert state.load_work == pytest.approx(float(run.data.load_work[-1]), abs=1e-9)
    alone = cmb.simulate(
        plant,
        u,
        q,
        t_end=0.3,
        loads={"pull": ([0.0, 0.1, 0.1, 0.2, 0.2], [[*f, 0.0] for f in forces[:4]] + [[0.0] * 3])},
    )
    np.testing.assert_allclose(other.state.q, alone.q[-1], atol=1e-10)
    refuses(lambda: stepper.step(u, 0.1, loads={"pall": 1.0}), "'pall'", kind=ValueError)
    refuses(lambda: cmb.Stepper(plants.five_bar(), q).step(u, 0.1, loads={"x": 1.0}), "has no loads", kind=ValueError)
