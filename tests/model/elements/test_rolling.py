"""Wheels, balls and blades: against closed forms, and of any pose against differences."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cmbcontrol as cmb
from cmbcontrol import Body, Frame, Free, JointMotion, KnifeEdge, Mechanism, Planar, Revolute, RollingBall, Wheel
from cmbcontrol.model.parameters import parameters
from cmbcontrol.trace.code import why_not
from tests.fixtures import frame, refuses, slope

G = 9.81


def disc_body(mass=2.0, radius=0.3, name="disc"):
    """A thin disc whose axle is y."""
    across = mass * radius**2 / 4.0
    return Body(name, mass, (0, 0, 0), (across, 2.0 * across, across))


def rolling_disc(radius=0.3, tube=0.0, **options):
    """In a light ring that does not spin with it, so that steady motions are steady in its coordinates."""
    ring = Body("ring", 1e-3, (0, 0, 0), 1e-6 * np.eye(3))
    joints = [Free("ring", "ground", "ring"), Revolute("spin", "ring", "disc", axis=(0, 1, 0))]
    wheel = Wheel("rim", "ground", "disc", axis=(0, 1, 0), radius=radius, tube=tube)
    return Mechanism("disc", [ring, disc_body(radius=radius)], joints, [wheel], **options)


def state_of_disc(plant, lean, turn, spin, radius=0.3):
    """Leaning by an angle about its forward direction x, with a rate of turning about the vertical, and one of spin."""
    q = plant.neutral()
    q[:4] = np.cos(0.5 * lean), np.sin(0.5 * lean), 0.0, 0.0
    q[6] = radius * np.cos(lean)
    R = plant.pose(q, "ring").R
    ring = R.T @ [0.0, 0.0, turn]
    w = R @ (ring + np.array([0.0, spin, 0.0]))
    lever = R @ [0.0, 0.0, radius]  # from the point that touches to the centre
    v = np.concatenate([ring, R.T @ np.cross(w, lever), [spin]])
    return q, v


# -- closed forms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["code", "kernels"])
def test_chaplygins_sleigh(code, monkeypatch):
    """A blade at a distance a behind the centre of mass: u' = a w^2, (I + m a^2) w' = -m a u w."""
    if code == "kernels":
        monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", "kernels")
    mass, inertia, a = 1.7, 0.4, 0.35
    sleigh = Body("sleigh", mass, (a, 0, 0), (0.2, 0.2, inertia))
    edge = KnifeEdge("edge", "ground", "sleigh", across=(0, 1, 0))
    way = Planar("way", "ground", "sleigh", axis=(0, 0, 1))
    plant = Mechanism("sleigh", [sleigh], [way], [edge], gravity=(0, 0, 0))
    v0 = plant.project_velocity(plant.neutral(), [0.3, 0.0, 2.0])
    run = cmb.simulate(plant, None, plant.neutral(), v0, t_end=6.0)

    def rate(t, y):
        u, w = y
        return [a * w * w, -mass * a * u * w / (inertia + mass * a * a)]

    judge = solve_ivp(rate, (0.0, 6.0), [v0[0], v0[2]], method="DOP853", rtol=1e-13, atol=1e-13, t_eval=run.time).y
    assert np.abs(run.v.values[:, 0] - judge[0]).max() < 1e-8
    assert np.abs(run.v.values[:, 2] - judge[1]).max() < 1e-8
    assert np.abs(run.v.values[:, 1]).max() < 1e-13
    assert run.max_energy_error < 1e-9 * run.energy.values[0]
    assert run.data.attrs["machine_code"].startswith("generated" if code == "code" and not why_not() else "none")


@pytest.mark.parametrize(("lean", "turn"), [(0.3, 2.0), (-0.5, 1.2), (1.1, 4.0)])
def test_a_disc_turns_steadily(lean, turn, radius=0.3, mass=2.0):
    """The spin for which weight and centrifugal force have the moment that turns the angular momentum; it stays so."""
    plant = rolling_disc(radius)
    inertia = np.diag(disc_body(mass, radius).inertia)

    def moment(spin):
        """Of the forces that the motion needs, less the rate of the angular momentum, forward."""
        q, v = state_of_disc(plant, lean, turn, spin, radius)
        R = plant.pose(q, "ring").R
        w = R @ (v[:3] + np.array([0.0, spin, 0.0]))
        lever = R @ [0.0, 0.0, radius]
        up = np.array([0.0, 0.0, turn])
        force = mass * np.cross(up, np.cross(w, lever)) + [0.0, 0.0, mass * G]
        momentum = R @ (inertia * (R.T @ w))
        return (np.cross(-lever, force) - np.cross(up, momentum)) @ R[:, 0]

    spin = -moment(0.0) / (moment(1.0) - moment(0.0))
    q, v = state_of_disc(plant, lean, turn, spin, radius)
    run = cmb.simulate(plant, None, q, v, t_end=0.5)
    assert np.abs(run.v.values - v).max() < 2e-3 * np.abs(v).max()  # the ring weighs a little
    tilt = np.array([plant.pose(x, "ring").R[2, 1] for x in run.q.values])
    assert np.abs(tilt - np.sin(lean)).max() < 1e-3
    assert run.max_energy_error < 1e-9 * run.energy.values[0]


@pytest.mark.parametrize(("kind", "share"), [("disc", 1.0 / 3.0), ("hoop", 1.0 / 4.0)])
def test_a_wheel_rolls_upright_above_a_speed(kind, share, radius=0.3):
    """Stable for v^2 > g R / 3 of a disc, g R / 4 of a hoop (Routh)."""
    plant = rolling_disc(radius)
    if kind == "hoop":
        across = 2.0 * radius**2 / 2.0
        hoop = Body("disc", 2.0, (0, 0, 0), (across, 2.0 * across, across))
        plant = plant.with_parts(bodies=[plant.bodies[0], hoop])

    def growth(speed):
        q, v = state_of_disc(plant, 0.0, 0.0, speed / radius, radius)
        point = cmb.OperatingPoint.at(plant, q, v=v)
        return np.linalg.eigvals(cmb.linear.underlying_ode(plant, point)).real.max()

    critical = np.sqrt(share * G * radius)
    assert growth(0.95 * critical) > 0.3 and growth(1.05 * critical) < 1e-4
    low, high = 0.5 * critical, 2.0 * critical
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if growth(middle) > 0.02 else (low, middle)
    assert low == pytest.approx(critical, rel=2e-3)  # the ring weighs a little


def test_a_ball_on_a_turntable():
    """It goes round on a circle, with 2/7 of the speed of the table; whatever the speed of that (Earnshaw)."""
    radius, mass, speed = 0.05, 0.4, 3.0
    ball = Body("ball", mass, (0, 0, 0), (0.4 * mass * radius**2,) * 3)
    table = Body("table", 3.0, (0, 0, 0), np.eye(3))
    joints = [Revolute("turn", "ground", "table", axis=(0, 0, 1)), Free("ball", "ground", "ball")]
    loops = [JointMotion("drive", "turn", velocity=speed), RollingBall("roll", "table", "ball", radius=radius)]
    plant = Mechanism("turntable", [table, ball], joints, loops)
    q0 = plant.neutral()
    q0[5:8] = 0.6, 0.1, radius
    run = cmb.simulate(plant, None, q0, plant.project_velocity(q0, [0, 0.3, -0.2, 1.0, 0.1, 0.2, 0.0]), t_end=4.0)
    place = run.q.sel(position=["ball_x", "ball_y"]).values
    R = [plant.pose(q, "ball").R for q in run.q.values]
    rate = np.array([(r @ v[4:7])[:2] for r, v in zip(R, run.v.values, strict=True)])
    w = 2.0 / 7.0 * speed
    middle = place[0] + np.array([-rate[0, 1], rate[0, 0]]) / w
    from_middle = place[0] - middle
    c, s = np.cos(w * run.time), np.sin(w * run.time)
    turned = np.stack([c * from_middle[0] - s * from_middle[1], s * from_middle[0] + c * from_middle[1]], axis=1)
    circle = middle + turned
    np.testing.assert_allclose(place, circle, atol=1e-9)
    assert run.max_energy_error < 1e-9 * np.abs(run.motion_work.values).max() + 1e-10


def test_a_platform_on_mecanum_wheels():
    """Speeds of the wheels of any textbook: (vx -+ vy -+ (lx + ly) w) / r."""
    lx, ly, r = 0.25, 0.2, 0.06
    base = Body("base", 8.0, (0, 0, 0), (0.1, 0.1, 0.15))
    corners = {"fl": (lx, ly, -1), "fr": (lx, -ly, 1), "rl": (-lx, ly, 1), "rr": (-lx, -ly, -1)}
    bodies = [base, *(disc_body(0.5, r, name) for name in corners)]
    joints = [Planar("base", "ground", "base", axis=(0, 0, 1), frame=Frame((0, 0, r)))]
    loops = []
    for name, (x, y, turned) in corners.items():
        joints.append(Revolute(name, "base", name, axis=(0, 1, 0), frame=Frame((x, y, 0))))
        loops.append(Wheel(f"{name}_wheel", "ground", name, axis=(0, 1, 0), radius=r, rollers=turned * np.pi / 4.0))
    plant = Mechanism("platform", bodies, joints, loops)
    q = plant.neutral()
    q[2] = 0.4
    assert plant.closure_error(q) < 1e-15
    terms = plant.terms(q, np.zeros(plant.nv))
    assert terms.rank == 4 and terms.dof == 3
    vx, vy, w = 0.7, -0.3, 0.5
    turning = (lx + ly) * w
    wheels = np.array([vx - vy - turning, vx + vy + turning, vx + vy - turning, vx - vy + turning]) / r
    v = np.array([vx, vy, w, *wheels])
    np.testing.assert_allclose(terms.A @ v, 0.0, atol=1e-14)
    run = cmb.simulate(plant, None, q, v, t_end=1.0)
    assert run.max_energy_error < 1e-11 * run.energy.values[0]


# -- any pose ----------------------------------------------------------------------------------------------------------


def rolling_machines():
    rng = np.random.default_rng(11)
    places = {"point_a": rng.uniform(-0.2, 0.2, 3), "normal": (0.3, -0.2, 0.9)}
    axis = (0.3, 0.8, -0.2)
    return {
        "disc": [Wheel("r", "plate", "rider", point_b=(0.1, 0, 0.05), axis=axis, radius=0.4, **places)],
        "torus": [Wheel("r", "plate", "rider", point_b=(0.1, 0, 0.05), axis=axis, radius=0.4, tube=0.15, **places)],
        "omni": [Wheel("r", "plate", "rider", axis=axis, radius=0.4, tube=0.1, rollers=0.6, **places)],
        "ball": [RollingBall("r", "plate", "rider", point_b=(0.1, 0.2, 0.0), radius=0.3, **places)],
        "edge": [KnifeEdge("r", "plate", "rider", (0.2, 0.1, -0.1), across=axis)],
    }


@pytest.mark.parametrize("name", rolling_machines())
def test_on_a_plate_that_moves_too(name):
    """Rates of the point that touches, and all derivatives, against differences; both bodies move as they like."""
    rng = np.random.default_rng(3)
    plate, rider = (
        Body(n, 1.0 + i, rng.uniform(-0.1, 0.1, 3), (0.1 + i, 0.12 + i, 0.15 + i))
        for i, n in enumerate(("plate", "rider"))
    )
    joints = [
        Revolute("tilt", "ground", "plate", axis=(0.2, 1.0, 0.1), frame=frame(rng), child_frame=frame(rng)),
        Free("rider", "plate", "rider", frame=frame(rng), child_frame=frame(rng)),
    ]
    plant = Mechanism(name, [plate, rider], joints, rolling_machines()[name], gravity=(1.0, -2.0, -9.0))
    start = plant.integrate(plant.neutral(), np.concatenate([[0.4], rng.uniform(-0.8, 0.8, 6)]))
    q = plant.close(start)
    v = plant.project_velocity(q, rng.uniform(-1.0, 1.0, 7))
    assert plant.closure_error(q) < 1e-13
    u, w = np.zeros(plant.nu), np.random.default_rng(4).uniform(-1.0, 1.0, 7)
    touching = _rates_of_the_point(plant, q, w)
    if touching is not None:
        np.testing.assert_allclose(plant.jacobian(q) @ w, touching, atol=1e-9)
    found = cmb.dynamics.derivatives(plant, q, v, u)

    def balance(delta, dv):
        terms = plant.terms(plant.integrate(q, delta), v + dv)
        force = terms.M @ found.a + terms.h + terms.A.T @ found.lam
        return np.concatenate([force, terms.A @ found.a + terms.b, terms.A @ (v + dv)])

    for k in range(7):
        e = np.eye(7)[k]
        by_q, by_v = (
            slope(lambda d, e=e: balance(d * e, 0.0 * e), 1e-2),
            slope(lambda d, e=e: balance(0.0 * e, d * e), 1e-2),
        )
        size = 1.0 + np.abs(by_q).max()
        np.testing.assert_allclose(
            np.concatenate([found.force_q, found.accel_q, found.rate_q])[:, k], by_q, atol=1e-8 * size
        )
        np.testing.assert_allclose(
            np.concatenate([found.force_v, found.accel_v, found.A])[:, k], by_v, atol=1e-8 * size
        )

    def rates(t):
        terms = plant.terms(plant.integrate(q, v * t + 0.5 * found.a * t * t), v + found.a * t)
        return terms.A @ terms.v

    assert np.abs(slope(rates, 3e-3)).max() < 1e-8
    run = cmb.simulate(plant, None, q, v, t_end=0.3)
    assert run.max_energy_error < 1e-8 * max(abs(run.energy.values[0]), 1.0)
    speeds = [plant.jacobian(x) @ y for x, y in zip(run.q.values, run.v.values, strict=True)]
    assert np.abs(speeds).max() < 1e-11 and run.max_drift < 1e-12


def _rates_of_the_point(plant, q, v):
    """What the rows say, from velocities of points by differences: distance, forward, side."""
    (part,) = plant.loops
    if isinstance(part, KnifeEdge):
        across = plant.pose(q, "rider").R @ part.across

        def there(t):
            at = plant.integrate(q, v * t)
            return plant.pose(at, "plate").inverse().R @ (
                plant.point(at, "rider", part.point_b) - plant.pose(at, "plate").p
            )

        return [slope(there, 1e-2) @ plant.pose(q, "plate").R.T @ across]
    A = plant.pose(q, "plate")
    normal = A.R @ part.normal
    centre = plant.point(q, "rider", part.point_b)
    if isinstance(part, RollingBall):
        return None
    axle = plant.pose(q, "rider").R @ (np.asarray(part.axis) / np.linalg.norm(part.axis))
    forward = np.cross(axle, normal)
    forward /= np.linalg.norm(forward)
    down = np.cross(axle, forward)
    down *= -np.sign(down @ normal)
    touching = centre + part.radius * down - part.tube * normal
    on_rider, on_plate = (plant.pose(q, n).inverse() @ Frame(touching) for n in ("rider", "plate"))

    def apart(t):
        at = plant.integrate(q, v * t)
        return plant.point(at, "rider", on_rider.p) - plant.point(at, "plate", on_plate.p)

    rate = slope(apart, 1e-2)
    side = np.cross(normal, forward)
    if part.rollers is not None:
        return [rate @ normal, rate @ (np.cos(part.rollers) * forward + np.sin(part.rollers) * side)]
    return [rate @ normal, rate @ forward, rate @ side]


# -- what is told ------------------------------------------------------------------------------------------------------


def test_rolling_rows_bind_no_positions():
    plant = rolling_disc()
    q = plant.neutral()
    q[6] = 0.3
    assert plant.rolling_rows(q) == ("rim_forward", "rim_side")
    lifted = plant.assemble(guess=np.r_[q[:6], 0.5, 0.1], spin=0.7)
    assert plant.closure_error(lifted) < 1e-12 and lifted[7] == 0.7
    point = cmb.OperatingPoint.at(plant, q)
    refuses(lambda: plant.to_iosystem(cmb.trim(plant, q)), "rim_forward", "underlying_ode")
    refuses(lambda: cmb.linear.reduced_model(plant, q, np.zeros(7), [], np.eye(7)[:4]), "rim_forward")
    refuses(lambda: cmb.simulate(plant, None, q, t_end=0.1, method="radau"), "rim_forward")
    assert cmb.linear.underlying_ode(plant, point).shape == (14, 14)


def test_bad_wheels_are_refused_by_name():
    refuses(lambda: Wheel("rim", "ground", "disc", radius=-0.3), "radius", "'rim'", "-0.3", kind=ValueError)
    refuses(lambda: Wheel("rim", "ground", "disc"), "radius", "'rim'", kind=ValueError)
    refuses(lambda: Wheel("rim", "ground", "disc", radius=0.3, tube=-0.1), "tube", "'rim'", kind=ValueError)
    refuses(lambda: Wheel("rim", "ground", "disc", radius=0.3, rollers=np.pi / 2), "'rim'", "torque")
    refuses(lambda: RollingBall("ball", "ground", "disc", radius=0.0), "'ball'", kind=ValueError)
    refuses(lambda: KnifeEdge("edge", "ground", "disc", across=(0, 0, 0)), "'edge'", "zero")
    plant = rolling_disc()
    refuses(lambda: cmb.simulate(plant, None, plant.neutral(), t_end=0.1), "rim_contact", "3.000e-01", kind=ValueError)
    q = plant.neutral()
    q[6] = 0.3
    refuses(lambda: cmb.simulate(plant, None, q, [0, 0, 0, 1, 0, 0, 0], t_end=0.1), "v0", kind=ValueError)
    refuses(lambda: plant.with_loops(Wheel("other", "ground", "wheel", radius=0.3)), "'wheel'", "disc")


@pytest.mark.nojit_slow
def test_wheels_that_lie_flat():
    plant = rolling_disc()
    flat = plant.neutral()
    flat[:4] = np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0
    assert plant.lying_flat(flat) == ("rim",)
    refuses(lambda: cmb.simulate(plant, None, flat, t_end=0.1), "'rim'", "lies flat", "tilt")
    q, _ = state_of_disc(plant, 0.3, 0.0, 0.0)
    ended = cmb.errors.SimulationError
    fallen = refuses(lambda: cmb.simulate(plant, None, q, t_end=2.0), "'rim'", "fallen flat", kind=ended)
    assert fallen.partial.max_energy_error < 1e-6


def test_numbers_of_wheels_have_names():
    known = parameters(rolling_disc())
    assert {"rim_point_a_x", "rim_point_b_z", "rim_normal_turn_x", "rim_axis_turn_z"} <= set(known)
