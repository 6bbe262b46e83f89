"""Contacts, impacts and friction against closed forms and published values."""

import numpy as np
import pytest
from scipy.integrate import quad

from cmbcontrol import (
    Body,
    Contact,
    Coupling,
    Engage,
    Frame,
    JointMotion,
    Load,
    Mechanism,
    Planar,
    Point,
    PointOnPlane,
    Prismatic,
    Release,
    Revolute,
    Sine,
    simulate,
)

G = 9.81
UP = (0.0, 0.0, 1.0)


def ball(gravity=G, walls=("floor",), heights=(0.0,)):
    planes = [PointOnPlane(name, "ground", "ball", (0.0, 0.0, h)) for name, h in zip(walls, heights, strict=True)]
    body = Body("ball", 2.0, (0.0, 0.0, 0.0), (0.1, 0.1, 0.1))
    return Mechanism("ball", [body], [Prismatic("z", "ground", "ball")], planes, gravity=(0.0, 0.0, -gravity))


def times(run, kind):
    return [event["time"] for event in run.events() if event["kind"] == kind]


class TestAccumulations:
    @pytest.mark.parametrize("e", [0.1, 0.5, 0.8])
    @pytest.mark.parametrize("rest_speed", [1e-3, 1e-2])
    def test_a_ball_rests_at_the_limit_of_its_impacts(self, e, rest_speed):
        limit = np.sqrt(2.0 / G) * (1.0 + e) / (1.0 - e)
        contact = Contact("floor", restitution=e, rest_speed=rest_speed)
        run = simulate(ball(), q0=[1.0], t_end=limit + 0.2, switches=contact)
        assert times(run, "engaged floor") == pytest.approx([limit], abs=1e-11)
        count = len(times(run, "impact floor"))
        impacts = np.sqrt(2.0 / G) * (1.0 + 2.0 * e * (1.0 - e ** np.arange(count)) / (1.0 - e))
        assert times(run, "impact floor") == pytest.approx(impacts, abs=1e-11)

    def test_a_run_that_ends_before_the_limit_does_not_tell_it(self):
        run = simulate(ball(), q0=[1.0], t_end=1.3545, switches=Contact("floor", restitution=0.5))
        assert {e["kind"] for e in run.events()} == {"impact floor"}
        assert np.abs(run.q.values[-1]).max() < 1e-12

    def test_a_kick_between_impacts_begins_another_sequence(self):
        plant = ball().with_parts(loads=[Load("kick", "ball")])
        kick = {"kick_fz": lambda t: 60.0 if 1.0 < t < 1.1 else 0.0}  # N; the ball weighs 19.6 N
        run = simulate(plant, q0=[1.0], t_end=5.0, switches=Contact("floor", restitution=0.5), loads=kick)
        before, last = times(run, "impact floor")[-2:]
        assert len(times(run, "impact floor")) > 8
        assert times(run, "engaged floor")[-1] == pytest.approx(last + (last - before), abs=1e-9)

    def test_between_floor_and_ceiling(self):
        plant = ball(10.0, ("floor", "ceiling"), (0.0, 1.5))
        contacts = [Contact("floor", restitution=0.8), Contact("ceiling", side=-1, restitution=0.8)]
        run = simulate(plant, q0=[1.0], v0=[10.0], t_end=6.3, switches=contacts)
        first = [(e["time"], e["kind"]) for e in run.events()][:4]
        expected = [
            (0.05131670194948619, "impact ceiling"),
            (0.22831878005288225, "impact floor"),
            (0.46654861601954456, "impact ceiling"),
            (0.7413599657472236, "impact floor"),
        ]
        assert [kind for _, kind in first] == [kind for _, kind in expected]
        assert [t for t, _ in first] == pytest.approx([t for t, _ in expected], abs=1e-11)
        assert times(run, "engaged floor") == pytest.approx([6.207237242086312], abs=1e-10)

    def test_a_rocking_block_comes_to_rest_at_the_limit_of_its_rocking(self):
        """The sum of the times of the exact pendulum between impacts, each of which leaves 0.888 of the energy."""
        part, r, kept = 0.1, np.hypot(0.1, 0.5), 0.8879437869822485
        alpha = np.arctan2(0.1, 0.5)

        def quarter(angle):
            """From rest at `angle` down to zero: I w^2 / 2 = m g r (cos(alpha - x) - cos(alpha - angle))."""

            def rate(s):  # x = angle (1 - s^2), which takes the square root away
                x = angle * (1.0 - s * s)
                fall = 2.0 * np.sin(0.5 * (angle - x)) * np.sin(alpha - 0.5 * (angle + x))
                return (
                    2.0 * angle * s / np.sqrt(1.5 * G / r * fall)
                    if s
                    else 2.0 * np.sqrt(angle) / np.sqrt(1.5 * G / r * np.sin(alpha - angle))
                )

            return quad(rate, 0.0, 1.0, epsabs=1e-14, epsrel=1e-12)[0]

        angle, limit = part * alpha, 0.0
        for k in range(300):
            limit += (2.0 if k else 1.0) * quarter(angle)
            height = kept * 2.0 * np.sin(0.5 * angle) * np.sin(alpha - 0.5 * angle)
            for _ in range(60):  # the angle at that height, without differences of large numbers
                angle = 2.0 * np.arcsin(0.5 * height / np.sin(alpha - 0.5 * angle))
        run, _ = rocked(part, limit + 0.1)
        ends = [e["time"] for e in run.events() if e["kind"].startswith("engaged")]
        assert ends[-1] == pytest.approx(limit, abs=1e-5)  # the last intervals are 4e-5 s: told to 1e-7
        assert np.abs(run.v.values[-1]).max() < 1e-20


def rocked(part, t_end, half=(0.1, 0.5)):
    """Housner's block, released at a part of the critical angle; and that angle."""
    b, h = half
    mass = 3.0
    block = Body("block", mass, (0.0, 0.0, 0.0), (mass * (b * b + h * h) / 3.0,) * 3)
    corners = [Point(n, "ground", "block", (0.0, 0.0, 0.0), (x, -h, 0.0)) for n, x in (("left", -b), ("right", b))]
    plant = Mechanism("block", [block], [Planar("base", "ground", "block")], corners, gravity=(0.0, -G, 0.0))
    alpha = np.arctan2(b, h)
    angle, r = part * alpha, np.hypot(b, h)
    # about the left corner, at the origin, turned to the left by `angle`
    q0 = plant.neutral()
    lean = alpha - angle
    values = {"base_x": r * np.sin(lean), "base_y": r * np.cos(lean), "base_angle": angle}
    for name, value in values.items():
        q0[plant.position_names.index(name)] = value
    contacts = [Contact(n, normal=(0.0, 1.0, 0.0)) for n in ("left", "right")]
    return simulate(plant, q0=q0, t_end=t_end, switches=contacts), alpha


class TestRockingBlock:
    def test_impact_times(self):
        """Times of quadrature over the exact pendulum; the impacts take sin^2 alpha (Housner 1963)."""
        run, alpha = rocked(0.5, 1.6)
        hits = [e["time"] for e in run.events() if e["kind"].startswith("impact")]
        assert alpha == pytest.approx(0.19739555984988078)
        assert hits[:3] == pytest.approx([0.3470935867888813, 0.9509205364776703, 1.4879396431052712], abs=1e-9)

    def test_the_energy_that_an_impact_leaves(self):
        run, _ = rocked(0.5, 0.4)
        losses = [e["loss"] for e in run.events() if e["kind"].startswith("impact")]
        r, m = np.hypot(0.1, 0.5), 3.0
        before = m * G * (r * np.cos(0.5 * np.arctan2(0.1, 0.5)) - 0.5)
        assert losses == pytest.approx([before * (1.0 - 0.8879437869822485)], rel=1e-9)


def row_of_balls(n, gaps, restitution):
    """Balls on a line; coordinates are measured from where all touch."""
    names = [f"b{i}" for i in range(n)]
    bodies = [Body(name, 1.0, (0.0, 0.0, 0.0), (0.1, 0.1, 0.1)) for name in names]
    joints = [Prismatic(f"x{i}", "ground", name, axis=(1.0, 0.0, 0.0)) for i, name in enumerate(names)]
    touch = [Coupling(f"c{i}", {f"x{i + 1}": 1.0, f"x{i}": -1.0}) for i in range(n - 1)]
    plant = Mechanism("cradle", bodies, joints, touch, gravity=(0.0, 0.0, 0.0))
    contacts = [Contact(f"c{i}", restitution=restitution) for i in range(n - 1)]
    q0 = np.cumsum([0.0, *gaps])
    v0 = np.zeros(n)
    v0[0] = 1.0
    return simulate(plant, q0=q0, v0=v0, t_end=0.5, switches=contacts)


class TestCradle:
    @pytest.mark.parametrize(
        ("n", "e", "after"),
        [
            (3, 1.0, [-1 / 3, 2 / 3, 2 / 3]),
            (3, 0.5, [0.0, 0.5, 0.5]),
            (5, 1.0, [-0.6, 0.4, 0.4, 0.4, 0.4]),
        ],
    )
    def test_balls_that_touch_are_struck_at_once(self, n, e, after):
        """Newton's law at all contacts together (Moreau): v1 = (1 - (n - 1) e) / n, the others (1 + e) / n."""
        run = row_of_balls(n, [0.1] + [0.0] * (n - 2), e)
        assert run.v.values[-1] == pytest.approx(after, abs=1e-12)

    def test_balls_with_gaps_are_struck_one_after_the_other(self):
        run = row_of_balls(5, [0.1, 1e-3, 1e-3, 1e-3], 1.0)
        assert run.v.values[-1] == pytest.approx([0.0, 0.0, 0.0, 0.0, 1.0], abs=1e-12)


def test_a_column_of_beads_rebounds_as_one():
    n, radius = 10, 0.005
    names = [f"b{i}" for i in range(n)]
    bodies = [Body(name, 1.0, (0.0, 0.0, 0.0), (0.1, 0.1, 0.1)) for name in names]
    joints = [Prismatic(f"z{i}", "ground", name) for i, name in enumerate(names)]
    floor = PointOnPlane("c0", "ground", "b0", (0.0, 0.0, radius))
    frames = [Coupling(f"c{i}", {f"z{i}": 1.0, f"z{i - 1}": -1.0}) for i in range(1, n)]
    joints = [
        Prismatic(f"z{i}", "ground", name, frame=Frame((0.0, 0.0, 2.0 * radius * i))) for i, name in enumerate(names)
    ]
    plant = Mechanism("column", bodies, joints, [floor, *frames], gravity=(0.0, 0.0, -G))
    contacts = [Contact(f"c{i}", restitution=1.0) for i in range(n)]
    run = simulate(plant, q0=np.full(n, 0.05 + radius), t_end=0.493, switches=contacts)
    assert times(run, "impact c0")[0] == pytest.approx(0.10096375546923045, abs=1e-12)
    assert run.q.values[-1, 0] == pytest.approx(0.01602081295401625, abs=1e-11)
    assert run.v.values[-1] == pytest.approx(np.full(n, -0.8745122353873587), abs=1e-10)


def test_a_ball_on_a_vibrating_table():
    """Period-1 orbit of the exact map: cos phase = (g T / 2) (1 - e) / ((1 + e) A omega), v after = g T / 2."""
    f, A, e = 6.0, 0.0026, 0.8
    omega, T = 2.0 * np.pi * f, 1.0 / f
    phase = np.arccos(0.5 * G * T * (1.0 - e) / ((1.0 + e) * A * omega))
    assert phase == pytest.approx(0.3852528008794514)
    bodies = [Body(n, 1.0, (0.0, 0.0, 0.0), (0.1, 0.1, 0.1)) for n in ("table", "ball")]
    joints = [Prismatic("y", "ground", "table"), Prismatic("z", "ground", "ball")]
    plant = Mechanism(
        "table",
        bodies,
        joints,
        [PointOnPlane("hit", "table", "ball"), JointMotion("shake", "y")],
        gravity=(0.0, 0.0, -G),
    )
    z0, v0 = A * np.sin(phase), 0.5 * G * T
    start = np.array([z0, z0]), np.array([A * omega * np.cos(phase), v0])
    run = simulate(
        plant,
        q0=start[0] + [0.0, 1e-12],
        v0=start[1],
        t_end=1.02 * T,
        switches=Contact("hit", restitution=e),
        motions={"shake": Sine(0.0, A, f, phase)},
    )
    assert times(run, "impact hit") == pytest.approx([T], abs=1e-10)
    assert run.v.values[-1, 1] == pytest.approx(v0 - G * (run.time[-1] - T), abs=1e-9)


class TestSlopes:
    """Angles at which things begin to slide or to tip."""

    def block(self, slope, mu, half=(0.1, 0.2)):
        b, h = half
        body = Body("block", 1.0, (0.0, h, 0.0), (0.02, 0.02, 0.02))
        corners = [Point(n, "ground", "block", (x, 0.0, 0.0), (x, 0.0, 0.0)) for n, x in (("left", -b), ("right", b))]
        gravity = (-G * np.sin(slope), -G * np.cos(slope), 0.0)
        plant = Mechanism("block", [body], [Planar("base", "ground", "block")], corners, gravity=gravity)
        contacts = [Contact(n, normal=(0.0, 1.0, 0.0), friction=mu) for n in ("left", "right")]
        return simulate(plant, q0=plant.neutral(), t_end=0.05, switches=contacts)

    @pytest.mark.parametrize("mu", [0.2, 0.4])
    def test_a_block_slides_beyond_the_angle_of_friction(self, mu):
        angle = np.arctan(mu)
        still, moving = self.block(angle - 1e-6, mu), self.block(angle + 1e-4, mu)
        assert np.abs(still.v.values[-1]).max() < 1e-9
        a = G * (np.sin(angle + 1e-4) - mu * np.cos(angle + 1e-4))
        assert np.abs(moving.v.values[-1]).max() == pytest.approx(0.05 * a, rel=1e-6)

    def test_a_block_tips_where_its_weight_leaves_the_base(self):
        angle = np.arctan(0.1 / 0.2)
        still, moving = self.block(angle - 1e-6, 2.0), self.block(angle + 1e-3, 2.0)
        assert np.abs(still.v.values[-1]).max() < 1e-9
        assert np.abs(moving.v.values[-1]).max() > 1e-5

    def ladder(self, angle, mu, length=2.0):
        rod = Body("ladder", 5.0, (0.5 * length, 0.0, 0.0), (5.0 * length**2 / 12.0,) * 3)
        top = (0.0, length * np.sin(angle), 0.0)
        ends = [
            Point("floor", "ground", "ladder", (-length * np.cos(angle), 0.0, 0.0), (0.0, 0.0, 0.0)),
            Point("wall", "ground", "ladder", top, (length, 0.0, 0.0)),
        ]
        plant = Mechanism("ladder", [rod], [Planar("base", "ground", "ladder")], ends, gravity=(0.0, -G, 0.0))
        q0 = plant.neutral()
        for name, value in (("base_x", -length * np.cos(angle)), ("base_y", 0.0), ("base_angle", angle)):
            q0[plant.position_names.index(name)] = value
        # the ladder leans against a wall on its right: its upper end is pushed to the left
        contacts = [
            Contact("floor", normal=(0.0, 1.0, 0.0), friction=mu),
            Contact("wall", normal=(-1.0, 0.0, 0.0), friction=mu),
        ]
        return simulate(plant, q0=q0, t_end=0.02, switches=contacts)

    def test_a_ladder_slides_below_its_least_angle(self):
        """tan theta = (1 - mu^2) / (2 mu)."""
        angle = np.arctan2(1.0 - 0.5**2, 2.0 * 0.5)
        assert np.rad2deg(angle) == pytest.approx(36.86989764584402)
        still, moving = self.ladder(angle + 1e-3, 0.5), self.ladder(angle - 1e-3, 0.5)
        assert np.abs(still.v.values[-1]).max() < 1e-9
        assert np.abs(moving.v.values[-1]).max() > 1e-6


class TestCompassGait:
    """Goswami's biped: 10 kg at the hip, 5 kg in the middle of each leg of 1 m, on a slope of 3 degrees."""

    T, q1, u1, relative = 0.7343463911589567, 0.2710286804988795, -1.09238358988339, -0.7150096409770292

    @staticmethod
    def plant():
        legs = [Body(n, 5.0, (0.0, -0.5, 0.0)) for n in ("left", "right")]  # masses are points
        ways = Prismatic("x", "ground", "slide", axis=(1, 0, 0)), Prismatic("y", "slide", "hip", axis=(0, 1, 0))
        bodies = [Body("slide", 0.0), Body("hip", 10.0), *legs]
        joints = [*ways, *(Revolute(n, "hip", n) for n in ("left", "right"))]
        feet = [Point(f"foot_{n}", "ground", n, (0.0, 0.0, 0.0), (0.0, -1.0, 0.0)) for n in ("left", "right")]
        slope = np.deg2rad(3.0)
        tilt = (G * np.sin(slope), -G * np.cos(slope), 0.0)
        return Mechanism("compass", bodies, joints, feet, gravity=tilt)

    def after_strike(self, plant, q1, u1, relative):
        """The left foot stands at the origin, the right one behind it; angles from the normal, positive to the back."""
        q = {"x": -np.sin(q1), "y": np.cos(q1), "left": q1, "right": -q1}
        u2 = u1 - relative
        v = {"x": -np.cos(q1) * u1, "y": -np.sin(q1) * u1, "left": u1, "right": u2}
        return np.array([q[n] for n in plant.position_names]), np.array([v[n] for n in plant.velocity_names])

    def stride(self, plant, q1, u1, relative):
        """One step: its time, and the numbers after the next strike, with legs exchanged."""
        q0, v0 = self.after_strike(plant, q1, u1, relative)

        def height(t, q, v):  # of the swing foot, once it is in front
            left, right = q[plant.position_names.index("left")], q[plant.position_names.index("right")]
            return -1.0 if left > 0.05 or right < left else np.cos(right) - np.cos(left)

        switches = [Release("foot_left", when=height), Engage("foot_right", when=height, capture=True)]
        run = simulate(plant, q0=q0, v0=v0, t_end=0.8, switches=switches, output_times=[0.0, 0.8])
        struck = next(e for e in run.events() if e["kind"] == "engaged foot_right")
        after = np.array([0.0, struck["time"] + 1e-11, 0.8])
        back = simulate(plant, q0=q0, v0=v0, t_end=0.8, switches=switches, output_times=after)
        left, right = (back.q.values[1][plant.position_names.index(n)] for n in ("left", "right"))
        rates = [back.v.values[1][plant.velocity_names.index(n)] for n in ("right", "left")]
        assert left == pytest.approx(-right, abs=1e-9)
        return struck["time"], np.array([right, rates[0], rates[0] - rates[1]])

    def test_the_motion_repeats_and_its_multipliers(self):
        plant, cycle = self.plant(), np.array([self.q1, self.u1, self.relative])
        duration, after = self.stride(plant, *cycle)
        assert duration == pytest.approx(self.T, abs=1e-10)
        assert after == pytest.approx(cycle, abs=1e-9)
        h = 1e-5
        steps = [(self.stride(plant, *(cycle + h * e))[1] - self.stride(plant, *(cycle - h * e))[1]) for e in np.eye(3)]
        multipliers = np.sort_complex(np.linalg.eigvals(np.array(steps).T / (2.0 * h)))
        expected = [-0.19972612683 - 0.54447606208j, -0.19972612683 + 0.54447606208j, 0.13157262406]
        assert np.abs(multipliers - expected).max() < 1e-6
