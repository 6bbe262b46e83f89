"""Cams: against closed forms, couplings, differences, and tables."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cmbcontrol as cmb
from cmbcontrol import Body, Cam, Contact, Coupling, JointMotion, JointSpring, Mechanism, Prismatic, Revolute
from cmbcontrol.trace.code import why_not
from tests.fixtures import closed_machine, force_elements, linear_coordinates, refuses, slope, springs, tree_parts

INERTIA, MASS, G, STIFFNESS = 0.02, 0.7, 9.81, 900.0
REST = -0.05


def lifted(profile, *loops, **options):
    """A shaft with a cam that lifts a valve against a spring and its weight; z is up."""
    shaft, valve = (Body(name, m, (0, 0, 0), INERTIA * np.eye(3)) for name, m in (("shaft", 1.0), ("valve", MASS)))
    joints = [
        Revolute("shaft", "ground", "shaft", axis=(0, 0, 1)),
        Prismatic("valve", "ground", "valve", axis=(0, 0, 1)),
    ]
    springs = [JointSpring("spring", "valve", STIFFNESS, REST)]
    cam = Cam("cam", "valve", "shaft", profile, **options)
    return Mechanism("cam", [shaft, valve], joints, [cam, *loops], springs, gravity=(0, 0, -G))


ECCENTRIC = 0.02


def eccentric(angle):
    return ECCENTRIC * (1.0 - np.cos(angle))


@pytest.mark.parametrize("code", ["code", "kernels"])
def test_a_shaft_that_a_follower_brakes(code, monkeypatch):
    """Lagrange's equation of one coordinate: (I + m f'^2) x'' + m f' f'' x'^2 + (k (f - r) + m g) f' = 0."""
    if code == "kernels":
        monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", "kernels")
    run = cmb.simulate(lifted(eccentric), None, [0.0, 0.0], [25.0, 0.0], t_end=2.0)

    def rate(t, y):
        f, first, second = eccentric(y[0]), ECCENTRIC * np.sin(y[0]), ECCENTRIC * np.cos(y[0])
        force = MASS * first * second * y[1] ** 2 + (STIFFNESS * (f - REST) + MASS * G) * first
        return [y[1], -force / (INERTIA + MASS * first**2)]

    judge = solve_ivp(rate, (0.0, 2.0), [0.0, 25.0], method="DOP853", rtol=1e-13, atol=1e-13, t_eval=run.time).y
    assert np.abs(run.q.values[:, 0] - judge[0]).max() < 1e-8 * judge[0, -1]
    assert np.abs(run.q.values[:, 1] - eccentric(run.q.values[:, 0])).max() < 1e-14
    assert run.max_energy_error < 1e-9 * run.energy.values[0]
    assert run.data.attrs["machine_code"].startswith("generated" if code == "code" and not why_not() else "none")


def test_the_torque_of_a_shaft_that_is_driven():
    speed = 40.0
    plant = lifted(eccentric, JointMotion("drive", "shaft", velocity=speed))
    run = cmb.simulate(plant, None, [0.0, 0.0], t_end=0.5)
    x = speed * run.time
    f, first, second = eccentric(x), ECCENTRIC * np.sin(x), ECCENTRIC * np.cos(x)
    push = MASS * (second * speed**2 + G) + STIFFNESS * (f - REST)
    np.testing.assert_allclose(run.motion_effort.values[:, 0], first * push, atol=1e-9)
    np.testing.assert_allclose(-run.multipliers.sel(row="cam"), push, rtol=1e-9)


def test_a_follower_that_jumps():
    """Where the cam would have to pull, its follower leaves it; it lands later, and loses energy."""
    speed = 160.0
    plant = lifted(eccentric, JointMotion("drive", "shaft", velocity=speed))
    run = cmb.simulate(plant, None, [0.0, 0.0], t_end=0.15, switches=[Contact("cam")], output_times=1e-4)
    kinds = [event["kind"] for event in run.events()]
    assert "released cam" in kinds and "impact cam" in kinds
    gap = run.q.values[:, 1] - eccentric(speed * run.time)
    assert gap.min() > -1e-9 and gap.max() > 1e-3
    (leaves,) = [event["time"] for event in run.events() if event["kind"] == "released cam"][:1]
    push = [
        MASS * (ECCENTRIC * np.cos(speed * t) * speed**2 + G) + STIFFNESS * (eccentric(speed * t) - REST)
        for t in (leaves, 0.0)
    ]
    assert abs(push[0]) < 1e-6 * push[1]
    assert run.impact_loss.values[-1] > 0.1 and run.max_energy_error < 1e-8 * run.motion_work.values.max()


def test_the_frequency_of_a_cam_in_its_valley():
    """At the lowest point the stiffness is f'' times the force, whatever the mass of the follower."""
    plant = lifted(eccentric)
    point = cmb.trim(plant, [0.0, 0.0])
    found = np.abs(cmb.linearize(plant, point, coordinates=["shaft"]).poles())
    assert found == pytest.approx(np.sqrt(ECCENTRIC * (MASS * G - STIFFNESS * REST) / INERTIA), rel=1e-12)


def test_a_straight_cam_is_a_coupling():
    cam, gear = lifted(lambda x: 0.03 * x), lifted(lambda x: 0.0 * x)
    gear = gear.without("cam").with_loops(Coupling("gear", {"valve": 1.0, "shaft": -0.03}))
    runs = [cmb.simulate(plant, None, [0.0, 0.0], [20.0, 0.6], t_end=0.5) for plant in (cam, gear)]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-11)
    np.testing.assert_allclose(runs[0].multipliers.values[:, 0], runs[1].multipliers.values[:, 0], atol=1e-8)


@pytest.mark.nojit_slow
def test_points_over_a_turn_are_a_periodic_curve():
    angles = np.linspace(-1.0, 2.0 * np.pi - 1.0, 60)
    cam = Cam("cam", "valve", "shaft", (angles, eccentric(angles)))
    for x in (-30.0, -1.0, 0.0, 1.3, 7.7, 100.0):
        assert float(cam.lift(x)) == pytest.approx(eccentric(x), abs=1e-6)
    assert cam.lift(angles[7]) == pytest.approx(eccentric(angles[7]), abs=1e-15)
    runs = [
        cmb.simulate(lifted(profile), None, [0.0, 0.0], [25.0, 0.0], t_end=1.0)
        for profile in (eccentric, (angles, eccentric(angles)))
    ]
    assert np.abs(runs[0].q.values - runs[1].q.values).max() < 2e-4
    assert runs[1].max_energy_error < 1e-8


@pytest.mark.parametrize("seed", range(6))
def test_any_machine_with_a_cam(seed):
    """Rows and forces against differences, at states with velocity; code and kernels agree on the way."""
    parts = tree_parts(seed, 6)
    more = {"springs": springs(parts, seed), "forces": force_elements(parts, seed)}
    plant, q = closed_machine(seed, (), **more)
    rng = np.random.default_rng([seed, 71])
    follower, cam = rng.choice(linear_coordinates({"joints": plant.joints}), 2, replace=False)

    def profile(x):
        return 0.3 * np.sin(x) + 0.2 * x + 0.1 * np.cos(2.0 * x) ** 3

    at = [q[plant.position_names.index(name)] for name in (follower, cam)]
    plant = plant.with_loops(Cam("cam", str(follower), str(cam), profile, offset=float(at[0] - profile(at[1]))))
    v = plant.project_velocity(q, rng.uniform(-1.0, 1.0, plant.nv))
    assert plant.closure_error(q) < 1e-14 and np.abs(plant.jacobian(q) @ v).max() < 1e-13
    partials = cmb.dynamics.derivatives(plant, q, v, np.zeros(plant.nu))

    def balance(delta, dv):
        terms = plant.terms(plant.integrate(q, delta), v + dv)
        force = terms.M @ partials.a + terms.h + terms.A.T @ partials.lam
        return np.concatenate([force, terms.A @ partials.a + terms.b, terms.A @ (v + dv)])

    n = plant.nv
    for k in range(n):
        e = np.eye(n)[k]
        by_q = slope(lambda d, e=e: balance(d * e, 0.0 * e), 3e-3)
        by_v = slope(lambda d, e=e: balance(0.0 * e, d * e), 3e-3)
        size = 1.0 + np.abs(by_q).max() + np.abs(by_v).max()
        found = np.concatenate([partials.force_q, partials.accel_q, partials.rate_q])[:, k]
        np.testing.assert_allclose(found, by_q, atol=1e-7 * size)
        found = np.concatenate([partials.force_v, partials.accel_v])[:, k]
        np.testing.assert_allclose(found, by_v[: n + 1], atol=1e-7 * size)

    def lift(t):
        moved = plant.integrate(q, v * t + 0.5 * partials.a * t * t)
        return plant.residual(moved)

    fast = max(1.0, np.abs(v).max(), np.sqrt(np.abs(partials.a).max()))
    second = slope(lambda t: slope(lambda s: lift(t + s), 3e-3 / fast), 3e-3 / fast)
    assert np.abs(second).max() < 1e-7 * fast**2


def test_a_cam_is_captured_where_it_stands():
    plant = lifted(eccentric)
    held = cmb.simulate(
        plant, None, [0.5, 0.1], [10.0, 0.0], t_end=0.1, switches=[cmb.Engage("cam", at=0.05, capture=True)]
    )
    after = held.time > 0.05
    offset = held.q.values[after, 1] - eccentric(held.q.values[after, 0])
    assert np.ptp(offset) < 1e-12 and abs(offset[0]) > 1e-3


def test_bad_cams_are_refused_by_name():
    refuses(lambda: Cam("cam", "shaft", "shaft", eccentric), "'cam'", "'shaft'", "give two")
    refuses(lambda: Cam("cam", "valve", "shaft", 3.0), "'cam'", "angles, lifts", kind=TypeError)
    angles = np.linspace(0.0, 6.0, 9)
    refuses(lambda: Cam("cam", "valve", "shaft", (angles, np.cos(angles))), "'cam'", "one turn", "6")
    refuses(lambda: Cam("cam", "valve", "shaft", (angles[::-1], angles)), "angles", "increase", kind=ValueError)
    refuses(lambda: Cam("cam", "valve", "shaft", (angles, angles[1:])), "lifts", kind=ValueError)
    refuses(lambda: lifted(lambda x: 0.1 if x > 0 else 0.0), "'cam'", "comparison")
    refuses(lambda: lifted(eccentric, Cam("other", "valve", "wheel", eccentric)), "'wheel'", "shaft")
