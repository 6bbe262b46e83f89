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
AT_TIP = cmb.Frame((1.5, 0.0, 0.0))


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
@pytest.mark.filterwarnings("ignore::cmbcontrol.errors.SpeedWarning")
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


@pytest.mark.nojit_slow
@pytest.mark.parametrize("period", [None, 5e-4])
@pytest.mark.filterwarnings("ignore::cmbcontrol.errors.SpeedWarning")
def test_a_law_is_told_what_is_measured(period, monkeypatch):
    """All of the loads, or some of their components: what it is told it cancels."""
    plant = plants.five_bar().with_parts(loads=[Load("a", "left_upper", AT_TIP), Load("b", "right_upper", AT_TIP)])
    law = ProjectedInverseDynamics(plant, ("left", "right"), cmb.Constant([2.1, 1.0]), bandwidth=8.0, period=period)
    q0 = plant.assemble(left=2.1, right=1.0)
    loads = {"a": lambda t: [9.0 * np.sin(6.0 * t), 4.0, 0.0], "b_fy": -5.0, "b_fx": lambda t: 3.0 * t}

    def error(told):
        run = cmb.simulate(plant, law, q0, t_end=0.6, loads=loads, told=told)
        if period is not None and not why_not():
            assert run.data.attrs["samples_by_code"] > 1100
        return float(np.abs(run.error.values).max())

    none, some, every, named = error(False), error(["a", "b_fy"]), error(True), error(["a", "b"])
    assert none > 3.0 * some > 30.0 * every
    assert named == pytest.approx(every, abs=1e-10) and every < (1e-9 if period is None else 2e-4)
    if period is not None:
        monkeypatch.setattr("cmbcontrol.sim.control.Control.generate", lambda *_: None)
        python = cmb.simulate(plant, law, q0, t_end=0.6, loads=loads, told=["a", "b_fy"])
        assert float(np.abs(python.error.values).max()) == pytest.approx(some, abs=1e-10)
    refuses(lambda: error(["c"]), "'c'", "told", kind=ValueError)


# -- prescribed motions ------------------------------------------------------------------------------------------------


def driven_five_bar(**options):
    """A five-bar whose left crank is moved, and whose right one is free or has a motor."""
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    motion = cmb.JointMotion("drive", "left", position=q0[0], **options)
    motors = [motor for motor in plant.actuators if motor.name == "right"]
    return plant.with_parts(actuators=motors).with_loops(motion), q0


def swing(t):
    return 2.1 + 0.3 * np.sin(4.0 * t) ** 2


@pytest.mark.nojit_slow
@pytest.mark.parametrize("stabilisation", ["projection", "all-at-once", "baumgarte", "none"])
@pytest.mark.parametrize("method", ["dop853", "rk4"])
def test_every_way_of_stepping_follows_a_motion(method, stabilisation):
    plant, q0 = driven_five_bar()
    given = cmb.Integrator(method, step=1e-3) if method == "rk4" else method
    run = cmb.simulate(plant, None, q0, t_end=0.5, motions={"drive": swing}, method=given, stabilisation=stabilisation)
    loose = 1e-6 if stabilisation in ("baumgarte", "none") else 1e-11
    assert np.abs(run.q.values[:, 0] - swing(run.time)).max() < loose
    assert np.abs(run.motions.values[:, 0] - swing(run.time)).max() < 1e-15
    best = cmb.simulate(plant, None, q0, t_end=0.5, motions={"drive": swing}, rtol=1e-13, atol=1e-13)
    assert np.abs(run.q.values - best.q.values).max() < (1e-5 if stabilisation == "none" else 1e-6)
    size = np.abs(run.motion_work.values).max()
    assert size > 1.0 and run.max_energy_error < (1e-5 if loose > 1e-7 else 1e-7) * size


def test_methods_in_independent_coordinates_refuse_a_motion_that_moves():
    plant, q0 = driven_five_bar()
    for method in ("radau", "sdirk4"):
        refuses(
            lambda method=method: cmb.simulate(plant, None, q0, t_end=0.1, method=method, motions={"drive": swing}),
            "motions", method, kind=TypeError,
        )  # fmt: skip
        held = cmb.simulate(plant, None, q0, t_end=0.1, method=method)  # one that stands is a lock
        assert np.abs(held.q.values[:, 0] - q0[0]).max() < 1e-12


@pytest.mark.nojit_slow
@pytest.mark.parametrize("code", ["code", "kernels"])
def test_laws_know_the_motion(code, monkeypatch):
    """A law that commands accelerations cancels what the motion does, in samples and in continuous time."""
    if code == "kernels":
        monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", "kernels")
    plant, q0 = driven_five_bar()
    way = cmb.Sine([1.0], [0.2], 1.0)
    for period in (None, 2e-4):
        v0 = plant.project_velocity(q0, np.array([0.0, 0.0, 1.0, 0.0]))  # the motion begins at rest
        v0 *= 0.4 * np.pi / v0[2]
        law = ProjectedInverseDynamics(plant, ("right",), way, bandwidth=20.0, period=period)
        run = cmb.simulate(plant, law, q0, v0, t_end=0.4, motions={"drive": swing})
        late = run.time > 0.3
        error = np.abs(run.error.values[late]).max()
        assert error < (1e-9 if period is None else 3e-5)
        if period is not None and code == "code" and not why_not():
            assert run.data.attrs["samples_by_code"] > 1900
            shown = float(run.error.values[-1, 0])
            monkeypatch.setattr("cmbcontrol.sim.control.Control.generate", lambda *_: None)
            told = cmb.simulate(plant, law, q0, v0, t_end=0.4, motions={"drive": swing})
            assert told.data.attrs["samples_by_code"] == 0
            assert float(told.error.values[-1, 0]) == pytest.approx(shown, abs=1e-10)


def test_a_ball_on_a_table_that_rises():
    """Of a driven table only the velocity V counts: after an impact the ball has V + e (V - v)."""
    ball, table = Body("ball", MASS, (0, 0, 0), 0.1 * np.eye(3)), Body("table", 5.0, (0, 0, 0), np.eye(3))
    joints = [Prismatic("rise", "ground", "table", axis=(0, 0, 1)), Prismatic("z", "ground", "ball", axis=(0, 0, 1))]
    floor = cmb.PointOnPlane("floor", "table", "ball")
    speed, e, g = 0.7, 0.6, 9.81
    plant = Mechanism("bounce", [ball, table], joints, [floor, cmb.JointMotion("lift", "rise", velocity=speed)])
    run = cmb.simulate(plant, None, [0.0, 1.0], [speed, 0.0], t_end=0.8, switches=[cmb.Contact("floor", restitution=e)])
    hit = (np.sqrt(speed**2 + 2.0 * g) - speed) / g
    (event,) = (x for x in run.events() if x["kind"].startswith("impact"))
    assert event["time"] == pytest.approx(hit, abs=1e-9)
    closing = speed + g * hit
    assert event["loss"] == pytest.approx(0.5 * MASS * (1.0 - e * e) * closing**2, rel=1e-8)
    after = run.time > hit
    s = run.time[after] - hit
    height = 1.0 - 0.5 * g * hit**2 + (speed + e * closing) * s - 0.5 * g * s * s
    np.testing.assert_allclose(run.q.values[after, 1], height, atol=1e-8)
    assert run.max_energy_error < 1e-8
    pushed = MASS * (1.0 + e) * closing * speed  # the impulse at the speed of the table
    assert np.ptp(run.motion_work.values) == pytest.approx(pushed + 5.0 * g * speed * 0.8, rel=1e-8)


def test_a_motion_that_is_let_go_and_taken_again():
    plant, q0 = driven_five_bar(velocity=0.4)
    run = cmb.simulate(plant, None, q0, t_end=0.3, switches=[cmb.Release("drive", at=0.1)])
    before, after = run.time < 0.1, run.time > 0.1
    np.testing.assert_allclose(run.q.values[before, 0], 2.1 + 0.4 * run.time[before], atol=1e-12)
    assert np.abs(run.motion_effort.values[after]).max() == 0.0 and np.abs(run.motion_effort.values[before]).min() > 0.1
    assert run.max_energy_error < 1e-9


@pytest.mark.nojit_slow
def test_a_stepper_goes_the_same_way():
    plant, q0 = driven_five_bar()
    stepper = cmb.Stepper(plant, q0, t_end=0.3, motions={"drive": swing})
    for _ in range(300):
        state = stepper.step([1.5], 1e-3)
    run = cmb.simulate(plant, [1.5], q0, t_end=0.3, motions={"drive": swing}, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(state.q, run.q.values[-1], atol=1e-9)
    assert state.motion_work == pytest.approx(float(run.motion_work[-1]), abs=1e-8)
    assert state.q[0] == pytest.approx(swing(0.3), abs=1e-12)
    copied = stepper.copy()
    ends = [machine.step([1.5], 0.01) for machine in (stepper, copied)]
    np.testing.assert_array_equal(ends[0].q, ends[1].q)


def test_a_spline_ends_steps_at_its_knots():
    plant, q0 = driven_five_bar()
    path = cmb.Spline([0.0, 0.1, 0.25, 0.4], [[2.1], [2.3], [2.0], [2.2]])
    run = cmb.simulate(plant, None, q0, t_end=0.4, motions={"drive": path})
    assert np.abs(run.q.values[:, 0] - [path(t)[0][0] for t in run.time]).max() < 1e-12
    assert run.max_energy_error < 1e-8 * np.abs(run.motion_work.values).max()


def test_a_crank_that_is_driven_through_flat_configurations():
    """A parallelogram whose crank turns: the coupler stays level through both flat configurations."""
    bars = [Body.planar(name, 1.0, 0.5, 0.1) for name in ("crank", "coupler", "rocker")]
    joints = [
        cmb.Revolute("crank", "ground", "crank"),
        cmb.Revolute("knee", "crank", "coupler", frame=cmb.Frame((1, 0, 0))),
        cmb.Revolute("rocker", "ground", "rocker", frame=cmb.Frame((2, 0, 0))),
    ]
    pin = cmb.Point("pin", "coupler", "rocker", (2, 0, 0), (1, 0, 0))
    motion = cmb.JointMotion("drive", "crank", position=1.0, velocity=2.0)
    plant = Mechanism("parallelogram", bars, joints, [pin, motion], gravity=(0, -9.81, 0))
    run = cmb.simulate(plant, None, [1.0, -1.0, 1.0], t_end=4.0)
    np.testing.assert_allclose(run.q.values, (1.0 + 2.0 * run.time)[:, None] * [1, -1, 1], atol=1e-8)
    met = [event for event in run.events() if "singular" in event["kind"]]
    assert len(met) == 2 and all(passage.configuration.singular for passage in run.singularities())
    assert run.max_energy_error < 1e-7
    flat = [np.pi, -np.pi, np.pi]
    refuses(
        lambda: cmb.simulate(plant, None, flat, t_end=0.1, motions={"drive": (np.pi, 2.0, 0.0)}),
        "singular configuration", "before or behind", kind=cmb.errors.SingularConfigurationError,
    )  # fmt: skip


def test_motions_are_refused_by_name():
    plant, q0 = driven_five_bar()

    def run(**options):
        return cmb.simulate(plant, None, q0, t_end=0.1, **options)

    refuses(lambda: run(motions={"drives": swing}), "'drives'", "drive", kind=ValueError)
    refuses(lambda: run(motions=3.0), "motions", kind=TypeError)
    refuses(lambda: run(motions={"drive": swing}, branch=0), "branch=", kind=TypeError)
    still = cmb.Stabilisation(energy=True)
    refuses(lambda: run(motions={"drive": swing}, stabilisation=still), "energy", kind=TypeError)
    refuses(
        lambda: cmb.simulate(plants.particle_on_circle(), t_end=0.1, motions={"x": 1.0}), "Mechanism", kind=TypeError
    )

    def breaks(t):
        return (2.1 + t, 1.0, 0.0) if t < 0.05 else ("far", 0.0, 0.0)

    failed = refuses(lambda: run(motions={"drive": breaks}), "drive", "0.05", kind=cmb.errors.SimulationError)
    assert failed.partial.time[-1] < 0.06
    pose = plant.with_loops(cmb.PointMotion("hand", "ground", "left_upper"))
    refuses(
        lambda: cmb.simulate(pose, None, q0, t_end=0.1, motions={"hand": (0.0, 0.0, 0.0), "hand_x": 1.0}),
        "'hand_x'", "twice", kind=ValueError,
    )  # fmt: skip
