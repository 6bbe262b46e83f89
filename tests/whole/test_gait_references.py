"""Walkers, a wheel of spokes and a runner: periodic motions and their multipliers, published or of closed form.

Feet come and go by `Engage`, `Release`, `Lock` and `Contact`. Where a published model has parts without mass, that a
machine cannot have, what it does with small masses is continued to none.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from scipy.integrate import quad

from cmbcontrol import (
    Body,
    Contact,
    Engage,
    Event,
    Frame,
    JointSpring,
    Lock,
    Mechanism,
    Point,
    Prismatic,
    Release,
    Revolute,
    Unlock,
    Wheel,
    simulate,
)

G = 9.81
_AFTER = 1e-11  # s: right after an event, which is told to about 1e-12 s


def right_after(kind, plant, q0, v0, t_end, switches):
    """When something happens for the first time, and q and v right after it."""
    run = simulate(plant, q0=q0, v0=v0, t_end=t_end, switches=switches, output_times=[0.0, t_end])
    time = next(e["time"] for e in run.events() if e["kind"] == kind)
    times = [0.0, time + _AFTER, t_end]
    run = simulate(plant, q0=q0, v0=v0, t_end=t_end, switches=switches, output_times=times)
    return time, run.q.values[1], run.v.values[1]


def without_mass(value, smallest):
    """What a function of a small mass is without it: its parabola through three masses."""
    once, twice, fourfold = (np.asarray(value(n * smallest)) for n in (1.0, 2.0, 4.0))
    return (8.0 * once - 6.0 * twice + fourfold) / 3.0


def derivative(function, at, h):
    """Of a function of several numbers, by central differences."""
    units = h * np.eye(len(at))
    return np.array([(function(at + unit) - function(at - unit)) / (2.0 * h) for unit in units]).T


def sorted_eigenvalues(matrix):
    return np.sort_complex(np.linalg.eigvals(matrix).astype(complex))


@dataclass
class Walker:
    """Two legs of length 1 at a hip, on a slope, with feet that are points or parts of circles.

    Angles of the legs are from the normal of the slope, positive where the foot is in front. A stride begins right
    after a strike, at angles q1 and -q1, and is told by q1, its rate u1, and the rate of the angle between the legs.
    """

    hip: float
    leg: float  # mass of each
    down: float  # from the hip to its centre of mass
    slope: float
    longest: float  # s, more than a stride takes
    inertia: float = 0.0
    gravity: float = 1.0
    radius: float = 0.0

    @cached_property
    def plant(self):
        legs = [Body(n, self.leg, (0.0, -self.down, 0.0), (self.inertia,) * 3) for n in ("left", "right")]
        ways = Prismatic("x", "ground", "slide", axis=(1, 0, 0)), Prismatic("y", "slide", "hip", axis=(0, 1, 0))
        joints = [*ways, *(Revolute(n, "hip", n) for n in ("left", "right"))]
        tilt = (self.gravity * np.sin(self.slope), -self.gravity * np.cos(self.slope), 0.0)
        feet = [self.foot(n) for n in ("left", "right")]
        return Mechanism("walker", [Body("slide", 0.0), Body("hip", self.hip), *legs], joints, feet, gravity=tilt)

    def foot(self, leg):
        name, end = f"foot_{leg}", (0.0, -1.0, 0.0)
        if not self.radius:
            return Point(name, "ground", leg, point_b=end)
        return Wheel(name, "ground", leg, point_b=end, normal=(0, 1, 0), axis=(0, 0, 1), radius=self.radius)

    def stride(self, q1, u1, between):
        """One step: its time, and the three numbers after the next strike, with legs exchanged."""
        plant, R = self.plant, self.radius
        left, right = (plant.position_names.index(n) for n in ("left", "right"))
        q = {"x": -np.sin(q1), "y": np.cos(q1) + R, "left": q1, "right": -q1}
        v = {"x": -(np.cos(q1) + R) * u1, "y": -np.sin(q1) * u1, "left": u1, "right": u1 - between}
        q0, v0 = [q[n] for n in plant.position_names], [v[n] for n in plant.velocity_names]

        def height(t, q, v):  # of the swing foot, once the stance foot is behind; knees let it pass before
            return -1.0 if q[left] > -0.5 * q1 else np.cos(q[right]) - np.cos(q[left])

        switches = [Release("foot_left", when=height), Engage("foot_right", when=height, capture=True)]
        time, q, v = right_after("engaged foot_right", plant, q0, v0, self.longest, switches)
        assert q[left] == pytest.approx(-q[right], abs=1e-9)
        return time, np.array([q[right], v[right], v[right] - v[left]])

    def multipliers(self, cycle, h=1e-5):
        return sorted_eigenvalues(derivative(lambda at: self.stride(*at)[1], np.asarray(cycle), h))


class TestWalkers:
    def test_compass_gait(self):
        """Goswami's biped: 10 kg at the hip, 5 kg in the middle of each leg of 1 m, on a slope of 3 degrees."""
        walker = Walker(10.0, 5.0, 0.5, np.deg2rad(3.0), 0.8, gravity=G)
        cycle = 0.2710286804988795, -1.09238358988339, -0.7150096409770292
        duration, after = walker.stride(*cycle)
        assert duration == pytest.approx(0.7343463911589567, abs=1e-10)
        assert after == pytest.approx(cycle, abs=1e-9)
        expected = [-0.19972612683 - 0.54447606208j, -0.19972612683 + 0.54447606208j, 0.13157262406]
        assert np.abs(walker.multipliers(cycle) - expected).max() < 1e-6

    def test_point_feet_and_a_heavy_hip(self):
        """Bhounsule's passivewalker.m: the root that it prints has 12 digits."""
        walker = Walker(1000.0, 1.0, 1.0, 0.009, 4.0)
        cycle = 0.20016107216975, -0.199906060087682, -0.015805473227965
        duration, after = walker.stride(*cycle)
        assert duration == pytest.approx(3.881940001277459, abs=1e-10)
        assert after == pytest.approx(cycle, abs=1e-11)
        expected = [-0.19666818538692 - 0.54472672891852j, -0.19666818538692 + 0.54472672891852j, -2.94e-9]
        assert np.abs(walker.multipliers(cycle) - expected).max() < 1e-6

    def test_round_feet(self):
        """Feet of radius 0.2, which roll. What passivewalker.m prints for them has I (v1 - v2) for I v1 in a strike."""
        walker = Walker(1.0, 0.5, 0.5, 0.01, 2.6, inertia=0.02, radius=0.2)
        cycle = 0.18943828325286705, -0.23901098781316418, -0.05139700634486615
        duration, after = walker.stride(*cycle)
        assert duration == pytest.approx(2.427955842628836, abs=1e-10)
        assert after == pytest.approx(cycle, abs=1e-10)
        expected = [0.37046538481696 - 0.18370391591808j, 0.37046538481696 + 0.18370391591808j, 0.43344486983345]
        assert np.abs(walker.multipliers(cycle) - expected).max() < 1e-6


class TestSimplestWalker:
    """Garcia, Chatterjee, Ruina and Coleman 1998: feet without mass, on a slope of 0.009 rad; g = l = M = 1.

    After a strike the rate of the swing leg follows from that of the stance leg, so that two numbers tell a stride.
    """

    gaits = pytest.mark.parametrize(
        ("theta", "rate", "duration", "multipliers"),
        [
            pytest.param(
                0.2003109005442466,
                -0.19983247300495185,
                3.8824637528513875,
                [-0.19009984106596 - 0.55759877668198j, -0.19009984106596 + 0.55759877668198j],
                id="long",
            ),
            pytest.param(
                0.19393736981018111,
                -0.20386692744200632,
                3.096105868078162,
                [0.45958958979766, 4.00386435892958],
                id="short",
            ),
        ],
    )

    @staticmethod
    def stride(foot, theta, rate):
        """Time, and the three numbers of `Walker.stride`, with a mass of the feet."""
        walker = Walker(1.0, foot, 1.0, 0.009, 4.2)
        duration, after = walker.stride(theta, rate, rate * (1.0 - np.cos(2.0 * theta)))
        return np.array([duration, *after])

    @gaits
    def test_the_motion_repeats(self, theta, rate, duration, multipliers):
        found = without_mass(lambda foot: self.stride(foot, theta, rate), 1e-5)
        expected = duration, theta, rate, rate * (1.0 - np.cos(2.0 * theta))
        assert found == pytest.approx(expected, abs=1e-9)  # what small masses make of errors of 1e-11

    @gaits
    def test_multipliers(self, theta, rate, duration, multipliers):
        def slopes(foot):
            return derivative(lambda at: self.stride(foot, *at)[1:3], np.array([theta, rate]), 1e-5)

        found = sorted_eigenvalues(without_mass(slopes, 2.5e-5))
        assert np.abs(found - multipliers).max() < 1e-5  # differences of 1e-5 in numbers to 1e-11


class TestRimlessWheel:
    """Spokes that strike one after the other (McGeer 1990, Coleman 1998): each strike leaves a part mu of the rate.

    With lambda2 = 1 / (1 + I / (m l^2)) and half an angle a between spokes, mu = 1 + lambda2 (cos 2a - 1).
    """

    @staticmethod
    def rolled(n, slope, gravity, omega, inertia, turn, strikes=1):
        """Time of a strike, and the rate right after it, from right after one; `turn` is about the time between."""
        a = np.pi / n
        bodies = [Body("slide", 0.0), Body("hub", 0.0), Body("wheel", 1.0, inertia=(inertia,) * 3)]
        ways = Prismatic("x", "ground", "slide", axis=(1, 0, 0)), Prismatic("y", "slide", "hub", axis=(0, 1, 0))
        ends = [(np.sin(2.0 * a * k), -np.cos(2.0 * a * k), 0.0) for k in range(n)]
        spokes = [Point(f"spoke_{k}", "ground", "wheel", point_b=end) for k, end in enumerate(ends)]
        tilt = (gravity * np.sin(slope), -gravity * np.cos(slope), 0.0)
        plant = Mechanism("rimless", bodies, [*ways, Revolute("turn", "hub", "wheel")], spokes, gravity=tilt)
        q0 = [-np.sin(a), np.cos(a), a]
        v0 = [np.cos(a) * omega, np.sin(a) * omega, -omega]
        contacts = [Contact(spoke.name, normal=(0, 1, 0)) for spoke in spokes]
        kind = f"engaged spoke_{strikes}"
        time, _, v = right_after(kind, plant, q0, v0, (strikes + 0.5) * turn, contacts)
        return time, -v[2]

    @pytest.mark.parametrize("inertia", [0.05, 1.0])
    def test_of_a_wheel_with_inertia(self, inertia):
        n, slope = 8, 0.08
        a, kept = np.pi / n, 1.0 / (1.0 + inertia)
        mu = 1.0 + kept * (np.cos(2.0 * a) - 1.0)
        omega = np.sqrt(4.0 * mu**2 * kept * G * np.sin(a) * np.sin(slope) / (1.0 - mu**2))

        def pace(x):  # of the inverted pendulum, x from the normal of the slope
            return 1.0 / np.sqrt(omega**2 + 2.0 * kept * G * (np.cos(a - slope) - np.cos(x - slope)))

        expected = quad(lambda x: pace(-x), -a, a, epsabs=1e-13)[0]
        time, after = self.rolled(n, slope, G, omega, inertia, expected)
        assert time == pytest.approx(expected, abs=1e-10)
        assert after == pytest.approx(omega, abs=1e-10)
        h = 1e-4
        faster, slower = (self.rolled(n, slope, G, omega + x, inertia, expected)[1] for x in (h, -h))
        assert (faster - slower) / (2.0 * h) == pytest.approx(mu**2, abs=1e-6)

    @pytest.mark.parametrize(
        ("n", "slope", "gravity", "omega", "duration", "multiplier"),
        [
            (6, 0.2, 1.0, 0.36393161518345846, 3.57269113063529, 0.25),
            (8, 0.08, 9.81, 1.0954628396476571, 1.034549811422525, 0.5),
        ],
    )
    def test_of_a_wheel_whose_mass_is_in_its_hub(self, n, slope, gravity, omega, duration, multiplier):
        def rolled(inertia):
            h = 1e-4
            ways = [self.rolled(n, slope, gravity, omega + x, inertia, duration) for x in (0.0, h, -h)]
            return [*ways[0], (ways[1][1] - ways[2][1]) / (2.0 * h)]

        time, after, slope_of_rates = without_mass(rolled, 1e-4)
        assert time == pytest.approx(duration, abs=1e-9)
        assert after == pytest.approx(omega, abs=1e-9)
        assert slope_of_rates == pytest.approx(multiplier, abs=1e-6)


class TestRunner:
    """A mass on a spring (Seyfarth, Geyer): 80 kg, 20 kN/m, 1 m; it lands at 68 degrees, with 5 m/s at 1 m.

    In the air the leg is locked; it is let go where it lands, and locked again where it leaves the ground. Its foot has
    a small mass, which is continued to none.
    """

    m, k, attack = 80.0, 20e3, np.deg2rad(68.0)

    def hop(self, foot, apex):
        """From one apex to the next: its height, the time of half of it, and the time on the ground."""
        bodies = [Body("slide", 0.0), Body("hip", self.m), Body("leg", 0.0), Body("foot", foot)]
        along = Prismatic("length", "leg", "foot", axis=(0, 0, -1), frame=Frame((0, 0, -1.0)))
        ways = Prismatic("x", "ground", "slide", axis=(1, 0, 0)), Prismatic("z", "slide", "hip")
        plant = Mechanism(
            "runner",
            bodies,
            [*ways, Revolute("turn", "hip", "leg", axis=(0, 1, 0)), along],
            [Point("toe", "ground", "foot")],
            springs=[JointSpring("spring", "length", self.k)],
        )
        speed = np.sqrt(5.0**2 + 2.0 * G * (1.0 - apex))

        def lands(t, q, v):
            return np.sin(self.attack) - q[1] if v[1] < 0.0 and q[3] > -1e-6 else -1.0

        def leaves(t, q, v):
            return q[3] if v[1] > 0.0 else -1.0

        switches = [Unlock("length", when=lands), Unlock("turn", when=lands), Engage("toe", when=lands, capture=True)]
        switches += [Release("toe", when=leaves), Lock("length", when=leaves), Lock("turn", when=leaves)]
        q0, v0 = [0.0, apex, self.attack - 0.5 * np.pi, 0.0], [speed, 0.0, 0.0, 0.0]
        top = Event(lambda t, q, v: v[1], "top", direction=-1, terminal=True)
        run = simulate(plant, q0=q0, v0=v0, t_end=0.4, switches=switches, events=[top])
        told = {event["kind"]: event["time"] for event in run.events()}
        return np.array([run.q.values[-1, 1], told["top"], told["released toe"] - told["engaged toe"]])

    def test_the_motion_repeats_and_its_multiplier(self):
        apex = 0.940267144379593
        light = 1e-3  # kg
        found = without_mass(lambda foot: self.hop(foot, apex), light)
        assert found == pytest.approx([apex, 0.2525326138175388, 0.14924007056988406], abs=1e-10)

        def slope(foot, h):
            return (self.hop(foot, apex + h)[0] - self.hop(foot, apex - h)[0]) / (2.0 * h)

        found = without_mass(lambda foot: (4.0 * slope(foot, 1.5e-4) - slope(foot, 3e-4)) / 3.0, light)
        assert found == pytest.approx(-0.16130763048562607, abs=1e-8)
