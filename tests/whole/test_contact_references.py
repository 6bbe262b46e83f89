"""Contacts, impacts and friction against closed forms and published values."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from cmbcontrol import (
    Body,
    Contact,
    Coupling,
    Frame,
    JointForce,
    JointMotion,
    JointSpring,
    Load,
    Mechanism,
    Planar,
    Point,
    PointOnPlane,
    Prismatic,
    Revolute,
    Sine,
    Stepper,
    simulate,
)
from cmbcontrol.characteristics import Friction
from cmbcontrol.errors import InputError, PainleveError, SimulationError, Status

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


def row_of_balls(n, gaps, restitution, impacts="simultaneous", masses=None, v0=None):
    """Balls on a line; coordinates are measured from where all touch. The first one has 1 m/s."""
    names = [f"b{i}" for i in range(n)]
    masses = np.ones(n) if masses is None else masses
    bodies = [Body(name, m, (0.0, 0.0, 0.0), (0.1, 0.1, 0.1)) for name, m in zip(names, masses, strict=True)]
    joints = [Prismatic(f"x{i}", "ground", name, axis=(1.0, 0.0, 0.0)) for i, name in enumerate(names)]
    touch = [Coupling(f"c{i}", {f"x{i + 1}": 1.0, f"x{i}": -1.0}) for i in range(n - 1)]
    plant = Mechanism("cradle", bodies, joints, touch, gravity=(0.0, 0.0, 0.0))
    contacts = [Contact(f"c{i}", restitution=restitution) for i in range(n - 1)]
    q0 = np.cumsum([0.0, *gaps])
    v0 = np.eye(n)[0] if v0 is None else v0
    return simulate(plant, q0=q0, v0=v0, t_end=0.5, switches=contacts, impacts=impacts)


def struck_in_turn(masses, v, e, rest_speed=1e-3):
    """Velocities of balls that touch, after impacts of two of them at a time; None where they do not end."""
    m, v = np.asarray(masses), np.array(v)
    for _ in range(10_000):
        i = int(np.argmin(np.diff(v)))
        closing = v[i] - v[i + 1]
        if closing <= 1e-9:
            return v
        if closing <= rest_speed:
            return None
        e_now = e if e * closing > rest_speed else 0.0
        impulse = (1.0 + e_now) * closing * m[i] * m[i + 1] / (m[i] + m[i + 1])
        v[i] -= impulse / m[i]
        v[i + 1] += impulse / m[i + 1]
    return None


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

    @pytest.mark.parametrize(
        ("n", "e", "after"),
        [
            (3, 1.0, [0.0, 0.0, 1.0]),
            (5, 1.0, [0.0, 0.0, 0.0, 0.0, 1.0]),
            (3, 0.5, [13 / 64, 15 / 64, 9 / 16]),  # of three impacts
        ],
    )
    def test_they_are_struck_one_after_the_other_where_the_run_asks_for_it(self, n, e, after):
        run = row_of_balls(n, [0.1] + [0.0] * (n - 2), e, "sequential")
        assert run.v.values[-1] == pytest.approx(after, abs=1e-12)
        assert f"struck in turn {', '.join(f'c{i}' for i in range(n - 1))}" in {event["kind"] for event in run.events()}

    def test_that_there_is_a_choice_is_told(self):
        kinds = {event["kind"] for event in row_of_balls(4, [0.1, 0.0, 0.0], 1.0).events()}
        assert "struck at once c0, c1, c2" in kinds
        alone = {event["kind"] for event in row_of_balls(4, [0.1, 0.01, 0.01], 1.0).events()}
        assert alone == {"impact c0", "impact c1", "impact c2"}

    def test_a_sequence_that_does_not_end_ends_at_once(self):
        """Three balls with e < 7 - 4 sqrt 3 strike each other without end (McNamara and Young 1992)."""
        e = 0.05
        assert e < 7.0 - 4.0 * np.sqrt(3.0)
        v = [1.0, 0.0, -1.0]
        run = row_of_balls(3, [0.0, 0.0], e, "sequential", v0=v)
        assert struck_in_turn(np.ones(3), v, e) is None
        assert "struck at once c0, c1" in {event["kind"] for event in run.events()}
        assert np.sum(run.v.values[-1]) == pytest.approx(0.0, abs=1e-14)
        assert np.diff(run.v.values[-1]).min() > -1e-12

    @pytest.mark.parametrize("impacts", ["simultaneous", "sequential"])
    def test_rows_of_any_balls(self, impacts):
        """Momentum stays, energy does not grow, nothing closes any more; in sequence, as two at a time do it."""
        judged = 0
        for seed in range(12):
            rng = np.random.default_rng(seed)
            n, e = int(rng.integers(3, 7)), rng.choice([0.0, 0.3, 0.8, 1.0])
            masses, v0 = rng.uniform(0.1, 3.0, n), rng.uniform(-1.0, 1.0, n)
            run = row_of_balls(n, [0.0] * (n - 1), e, impacts, masses, v0)
            v, least = run.v.values[-1], 1e-12 * (masses @ v0**2)
            assert masses @ v == pytest.approx(masses @ v0, abs=1e-13)
            assert masses @ v**2 <= masses @ v0**2 + least
            assert np.diff(v).min() > -1e-9
            expected = struck_in_turn(masses, v0, e) if impacts == "sequential" else None
            if expected is not None:
                judged += 1
                assert v == pytest.approx(expected, abs=1e-9)
        assert judged >= 5 or impacts == "simultaneous"

    def test_steps_of_ones_own(self):
        plant = row_of_balls(4, [0.0, 0.0, 0.0], 1.0).plant
        contacts = [Contact(f"c{i}", restitution=1.0) for i in range(3)]
        stepper = Stepper(plant, np.zeros(4), [1.0, 0.0, 0.0, 0.0], switches=contacts, impacts="sequential")
        for one in (stepper.copy(), stepper):
            assert one.step([], 0.1).v == pytest.approx([0.0, 0.0, 0.0, 1.0], abs=1e-12)
            assert "struck in turn c0, c1, c2" in {event["kind"] for event in one.events()}

    def test_a_word_that_is_none(self):
        with pytest.raises(InputError, match=r"impacts.*simultaneous.*sequential"):
            row_of_balls(3, [0.0, 0.0], 1.0, "both")

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


class TestStatics:
    """What holds by friction or by its weight holds up to the closed form, and moves as it says beyond."""

    @staticmethod
    def wedge(angle, mu, push=40.0, wedge=2.0, jaw=3.0, t_end=0.05):
        """Between two jaws that are pushed together: how fast it leaves after some time, and how fast it is to."""
        joints = [
            Prismatic("out", "ground", "wedge", axis=(0, 1, 0)),
            Prismatic("left", "ground", "left", axis=(1, 0, 0), frame=Frame((-0.1, 0, 0))),
            Prismatic("right", "ground", "right", axis=(-1, 0, 0), frame=Frame((0.1, 0, 0))),
        ]
        bodies = [Body("wedge", wedge), Body("left", jaw), Body("right", jaw)]
        faces = [Point("l", "wedge", "left", (-0.1, 0, 0)), Point("r", "wedge", "right", (0.1, 0, 0))]
        loads = [Load("to_right", "left", force=(push, 0, 0)), Load("to_left", "right", force=(-push, 0, 0))]
        plant = Mechanism("wedge", bodies, joints, faces, loads=loads, gravity=(0, 0, 0))
        c, s = np.cos(angle), np.sin(angle)
        contacts = [
            Contact("l", normal=(-c, -s, 0), friction=mu),
            Contact("r", normal=(c, -s, 0), friction=mu),
        ]
        run = simulate(plant, q0=np.zeros(3), t_end=t_end, switches=contacts)
        per_push = 2.0 * (s - mu * c) / wedge
        return run.v.values[-1, 0], t_end * per_push * push / (c + mu * s + jaw * np.tan(angle) * per_push)

    @pytest.mark.parametrize("mu", [0.2, 0.6])
    def test_a_wedge_holds_itself_up_to_twice_the_angle_of_friction(self, mu):
        assert abs(self.wedge(np.arctan(mu) - 1e-6, mu)[0]) < 1e-15
        for beyond in (1e-6, 0.1):
            found, expected = self.wedge(np.arctan(mu) + beyond, mu)
            assert found == pytest.approx(expected, rel=1e-9)

    @staticmethod
    def held(press, mu, mass, t_end=0.05):
        """How fast a box falls, that two fingers press with four points."""
        joints = [
            Planar("box", "ground", "box"),
            Prismatic("left", "ground", "left", axis=(1, 0, 0), frame=Frame((-0.03, 0, 0))),
            Prismatic("right", "ground", "right", axis=(-1, 0, 0), frame=Frame((0.03, 0, 0))),
        ]
        bodies = [Body("box", mass, inertia=(4e-4,) * 3), Body("left", 0.1), Body("right", 0.1)]
        pads = [
            Point(f"{finger}_{k}", "box", finger, (x, y, 0.0), (0.0, y, 0.0))
            for finger, x in (("left", -0.03), ("right", 0.03))
            for k, y in (("upper", 0.02), ("lower", -0.02))
        ]
        loads = [Load("to_right", "left", force=(press, 0, 0)), Load("to_left", "right", force=(-press, 0, 0))]
        plant = Mechanism("gripper", bodies, joints, pads, loads=loads, gravity=(0, -G, 0))
        contacts = [Contact(p.name, normal=(-1 if p.b == "left" else 1, 0, 0), friction=mu) for p in pads]
        run = simulate(plant, q0=plant.neutral(), t_end=t_end, switches=contacts)
        return -run.v.values[-1, plant.velocity_names.index("box_vy")]

    def test_a_gripper_holds_what_twice_its_friction_carries(self):
        """2 mu N = m g."""
        mu, mass = 0.6, 0.5
        least = mass * G / (2.0 * mu)
        assert abs(self.held(least * (1.0 + 1e-6), mu, mass)) < 1e-15
        for missing in (1e-6, 0.1):
            fell = self.held(least * (1.0 - missing), mu, mass)
            assert fell == pytest.approx(0.05 * missing * G, rel=1e-8)

    @staticmethod
    def stack(n, part, length=0.24, height=0.06, mass=3.0):
        """How fast something of n bricks moves, of which the k-th from above sticks out by L / (2 k), times a part."""
        over = [part * length / 2.0 / k for k in range(1, n + 1)]
        x = [*(np.cumsum(over[::-1])[::-1] - 0.5 * length), -0.5 * length]  # of centres, and of the table
        y = [height * (n - k - 0.5) for k in range(n + 1)]
        names = [*(f"brick_{k}" for k in range(n)), "ground"]
        inertia = (mass * (length**2 + height**2) / 12.0,) * 3
        points, contacts = [], []
        for k, (upper, lower) in enumerate(pairwise(names)):
            origin = (x[k + 1], y[k + 1]) if k + 1 < n else (0.0, 0.0)
            edge, rear = (x[k + 1] + 0.5 * length, y[k] - 0.5 * height), (x[k] - 0.5 * length, y[k] - 0.5 * height)
            on_upper = [(px - x[k], py - y[k], 0.0) for px, py in (edge, rear)]
            on_lower = [(px - origin[0], py - origin[1], 0.0) for px, py in (edge, rear)]
            points += [
                Point(f"edge_{k}", upper, lower, on_upper[0], on_lower[0]),  # of the lower one, below the upper one
                Point(f"rear_{k}", lower, upper, on_lower[1], on_upper[1]),
            ]
            contacts += [
                Contact(f"edge_{k}", normal=(0, -1, 0), friction=0.6),
                Contact(f"rear_{k}", normal=(0, 1, 0), friction=0.6),
            ]
        bodies = [Body(name, mass, inertia=inertia) for name in names[:-1]]
        joints = [Planar(name, "ground", name) for name in names[:-1]]
        plant = Mechanism("bricks", bodies, joints, points, gravity=(0, -G, 0))
        at = {f"{name}_{axis}": z[k] for k, name in enumerate(names[:-1]) for axis, z in (("x", x), ("y", y))}
        q0 = [at.get(name, 0.0) for name in plant.position_names]
        run = simulate(plant, q0=q0, t_end=0.05, switches=contacts)
        assert sum(over) == pytest.approx(part * 0.5 * length * sum(1.0 / k for k in range(1, n + 1)))
        return np.abs(run.v.values[-1]).max()

    @pytest.mark.parametrize("n", [1, 2, 3, 5])
    def test_bricks_stick_out_by_the_harmonic_sum(self, n):
        assert self.stack(n, 1.0 - 1e-6) < 1e-15
        assert self.stack(n, 1.0 + 1e-4) > 5e-4


class TestSlidingToRolling:
    @pytest.mark.parametrize(
        ("share", "time", "kept"),
        [
            pytest.param(2 / 5, 2 / 7, 5 / 7, id="sphere"),
            pytest.param(1 / 2, 1 / 3, 2 / 3, id="disc"),
            pytest.param(1.0, 1 / 2, 1 / 2, id="hoop"),
        ],
    )
    def test_a_thing_thrown_without_spin(self, share, time, kept):
        """It rolls at t = time v0 / (mu g), with a part of its speed; its inertia is share m R^2.

        Contacts with friction are points, so slip is a coordinate here, with friction that sticks: the speed of the
        lowest point, x - R angle. Parts of the mass move with the lowest and the highest point, where they are inertia.
        """
        mass, R, mu, v0 = 2.0, 0.3, 0.3, 1.7
        part = 0.25 * share * mass
        bodies = [Body("centre", mass - 2 * part), Body("lowest", part), Body("highest", part)]
        bodies.append(Body("spin", 1.0, inertia=((share * mass - 2 * part) * R**2,) * 3))
        joints = [Prismatic(n, "ground", n, axis=(1, 0, 0)) for n in ("centre", "lowest", "highest")]
        slip = Coupling("slip", {"lowest": 1.0, "centre": -1.0, "spin": R})
        other = Coupling("other", {"highest": 1.0, "centre": -1.0, "spin": -R})
        rub = JointForce("rub", "lowest", Friction(mu * mass * G))
        plant = Mechanism(
            "thrown", bodies, [*joints, Revolute("spin", "ground", "spin", axis=(0, 1, 0))], [slip, other], forces=[rub]
        )
        v = {"centre": v0, "lowest": v0, "highest": v0, "spin": 0.0}
        v0s = [v[n] for n in plant.velocity_names]
        run = simulate(plant, q0=np.zeros(4), v0=v0s, t_end=0.5, friction="exact")
        assert times(run, "sticks rub") == pytest.approx([time * v0 / (mu * G)], abs=1e-12)
        now = dict(zip(plant.velocity_names, run.v.values[-1], strict=True))
        assert now["centre"] == pytest.approx(kept * v0, abs=1e-12)
        assert now["spin"] == pytest.approx(kept * v0 / R, abs=1e-12)


class TestPainlevesRod:
    """A uniform rod on one end: sliding at an angle needs 1 + 3 cos (cos - mu sin) > 0 (Genot and Brogliato 1999).

    The left side is the pivot of friction, times 1 + 3 cos^2. Runs end where that is 1e-3: friction multiplies the push
    by a thousand there.
    """

    half = 0.5

    def slid(self, mu, angle, t_end=1e-6, slip=-3.0, spin=0.0):
        L, c, s = self.half, np.cos(angle), np.sin(angle)
        rod = Body("rod", 1.0, (0, 0, 0), (1e-3, L**2 / 3.0, L**2 / 3.0))
        ways = Prismatic("x", "ground", "slide", axis=(1, 0, 0)), Prismatic("z", "slide", "centre")
        turn = Revolute("turn", "centre", "rod", axis=(0, -1, 0))
        tip = Point("tip", "ground", "rod", point_b=(-L, 0, 0))
        plant = Mechanism("rod", [Body("slide"), Body("centre"), rod], [*ways, turn], [tip])
        q0, v0 = [L * c, L * s, angle], [slip - spin * L * s, spin * L * c, spin]
        return simulate(plant, q0=q0, v0=v0, t_end=t_end, switches=Contact("tip", friction=mu))

    @staticmethod
    def margin(mu, angle):
        return 1.0 + 3.0 * np.cos(angle) * (np.cos(angle) - mu * np.sin(angle))

    def refused(self, mu, angle):
        with pytest.raises(SimulationError, match=r"'tip' cannot go on sliding.*Painleve") as caught:
            self.slid(mu, angle)
        assert isinstance(caught.value.__cause__, PainleveError)

    def test_the_least_friction_of_the_paradox(self):
        """4/3, where tan phi = 2."""
        steep = np.arctan(2.0)
        assert self.margin(4.0 / 3.0, steep) == pytest.approx(0.0, abs=1e-15)
        self.refused(4.0 / 3.0 + 1e-6, steep)
        for angle in (0.3, 0.8, steep, 1.2, 1.5):
            mu = (1.0 - 1.1e-3) * 4.0 / 3.0
            run = self.slid(mu, angle)
            push = G / self.margin(mu, angle)
            assert run.multipliers.values[0] == pytest.approx([-mu * push, 0.0, -push], rel=1e-9, abs=1e-9)

    @pytest.mark.parametrize(("tangent", "inwards"), [(1.2192235935955849, 1.0), (3.2807764064044154, -1.0)])
    def test_the_angles_of_the_paradox(self, tangent, inwards):
        """tan^2 - 3 mu tan + 4 < 0, with mu = 1.5."""
        mu, border = 1.5, np.arctan(tangent)
        self.refused(mu, border + inwards * 1e-6)
        slope = (self.margin(mu, border - inwards * 1e-6) - self.margin(mu, border + inwards * 1e-6)) / 2e-6
        outside = 1.1e-3 * (1.0 + 3.0 * np.cos(border) ** 2) / slope
        assert self.slid(mu, border - inwards * outside).status == Status.COMPLETED

    def test_it_is_told_alike_at_a_start_and_on_the_way(self):
        told = []
        for angle, slip, spin in ((0.35, -6.0, 2.5), (1.1, -3.0, 0.0)):
            with pytest.raises(SimulationError) as caught:
                self.slid(2.5, angle, 0.4, slip, spin)
            assert isinstance(caught.value.__cause__, PainleveError)
            told.append(str(caught.value.__cause__).split(" at t = "))
            assert str(caught.value.__cause__) in str(caught.value)
        assert told[0][0] == told[1][0] and told[0][1].split(": ")[1] == told[1][1].split(": ")[1]


class TestWoodpecker:
    """The toy with three coordinates and linear kinematics (Glocker 1995, Leine 2003): y, the angles M and S.

    Its mass matrix, gaps and sliding rates are linear in them, so that straight rails and couplings say it all. Small
    parts of the mass go with the beak and the edges of the sleeve, which touch the pole; as many on the other side
    of the centres keep the mass matrix.
    """

    rO, rM, hM, lM, lG, hS, lS = 0.0025, 0.0031, 0.0058, 0.010, 0.015, 0.02, 0.0201  # m
    mM, mS, JM, JS, stiffness = 0.0003, 0.0045, 5e-9, 7e-7, 0.0056
    beak, edge = 1e-4, 5e-5  # kg

    def plant(self):
        along, across = (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)
        b, e = self.beak, self.edge
        spin_M = self.JM - e * (2.0 * self.rM**2 + self.hM**2)
        spin_S = self.JS - b * (2.0 * self.lS**2 + self.hS**2)
        bodies = [
            Body("sleeve", self.mM - 2.0 * e),
            Body("bird", self.mS - 2.0 * b),
            Body("beak_rail", 0.0),
            Body("beak", b),
            Body("tail", b),
            Body("edge_rail", 0.0),
            Body("edge", e),
            Body("opposite", e),
            Body("spin_M", 1.0, inertia=(spin_M,) * 3),
            Body("spin_S", 1.0, inertia=(spin_S,) * 3),
        ]
        joints = [
            Prismatic("y", "ground", "sleeve", axis=along),
            Prismatic("apart", "sleeve", "bird", axis=along),
            Prismatic("beak_x", "ground", "beak_rail", axis=across),
            Prismatic("beak_y", "beak_rail", "beak", axis=along),
            Prismatic("tail", "ground", "tail", axis=along),
            Prismatic("edge_x", "ground", "edge_rail", axis=across),
            Prismatic("edge_y", "edge_rail", "edge", axis=along),
            Prismatic("opposite", "ground", "opposite", axis=along),
            Revolute("M", "ground", "spin_M"),
            Revolute("bend", "spin_M", "spin_S"),  # S - M
        ]
        rows = [
            Coupling("k_apart", {"apart": 1.0, "M": -self.lM - self.lG, "bend": -self.lG}),
            Coupling("k_beak_x", {"beak_x": 1.0, "M": self.hS, "bend": self.hS}, self.lM + self.lG - self.lS - self.rO),
            Coupling("k_beak_y", {"beak_y": 1.0, "y": -1.0, "apart": -1.0, "M": self.lS, "bend": self.lS}),
            Coupling("k_tail", {"tail": 1.0, "y": -1.0, "apart": -1.0, "M": -self.lS, "bend": -self.lS}),
            Coupling("k_edge_x", {"edge_x": 1.0, "M": -self.hM}),
            Coupling("k_edge_y", {"edge_y": 1.0, "y": -1.0, "M": -self.rM}),
            Coupling("k_opposite", {"opposite": 1.0, "y": -1.0, "M": self.rM}),
        ]
        play = self.rM - self.rO
        touch = [
            Point("tip", "ground", "beak"),
            Point("lower", "ground", "edge", (-play, 0.0, 0.0)),
            Point("upper", "ground", "edge", (play, 0.0, 0.0)),
        ]
        spring = JointSpring("spring", "bend", self.stiffness)
        return Mechanism("woodpecker", bodies, joints, [*rows, *touch], springs=[spring], gravity=(0.0, -G, 0.0))

    def rates(self, plant, y, M, S):
        """Of all coordinates, which are linear in these three."""
        apart = self.lM * M + self.lG * S
        v = {"apart": apart, "beak_x": -self.hS * S, "beak_y": y + apart - self.lS * S}
        v |= {"tail": y + apart + self.lS * S, "edge_x": self.hM * M, "edge_y": y + self.rM * M}
        v |= {"opposite": y - self.rM * M, "y": y, "M": M, "bend": S - M}
        return np.array([v[n] for n in plant.velocity_names])

    def test_it_pecks_its_way_down(self):
        """From the end of sticking, where the spring of the bird turns it forwards, back to it."""
        plant, period, start = self.plant(), 0.14597606514376787, (-(self.rM - self.rO) / self.hM, -0.2051353492435118)
        rate = 17.57466620557736
        q0, v0 = self.rates(plant, 0.0, *start), self.rates(plant, 0.0, 0.0, rate)
        q0[plant.position_names.index("beak_x")] += self.lM + self.lG - self.lS - self.rO
        contacts = [
            Contact("tip", normal=(1, 0, 0), restitution=0.5, friction=0.3),
            Contact("lower", normal=(1, 0, 0), friction=0.3),
            Contact("upper", normal=(-1, 0, 0), friction=0.3),
        ]
        M = plant.terms(q0, v0).M
        columns = np.array([self.rates(plant, *unit) for unit in np.eye(3)]).T
        b, g = self.lM, self.lG
        expected = [
            [self.mS + self.mM, self.mS * b, self.mS * g],
            [self.mS * b, self.JM + self.mS * b**2, self.mS * b * g],
            [self.mS * g, self.mS * b * g, self.JS + self.mS * g**2],
        ]
        assert columns.T @ M @ columns == pytest.approx(np.array(expected), rel=1e-12)
        run = simulate(
            plant, q0=q0, v0=v0, t_end=2.02 * period, switches=contacts, output_times=[0.0, period, 2.02 * period]
        )
        ends = [min(times(run, "slides lower"), key=lambda t: abs(t - n * period)) for n in (1, 2)]  # of sticking
        assert ends == pytest.approx([period, 2.0 * period], abs=1e-9)
        q, v = (
            dict(zip(names, x.values[1], strict=True))
            for names, x in ((plant.position_names, run.q), (plant.velocity_names, run.v))
        )
        assert q["y"] == pytest.approx(-0.01944537928472536, abs=1e-12)
        assert [q["M"], q["M"] + q["bend"]] == pytest.approx(start, abs=1e-10)
        assert [v["y"], v["M"]] == pytest.approx([0.0, 0.0], abs=1e-9)
        assert v["M"] + v["bend"] == pytest.approx(rate, abs=1e-8)
