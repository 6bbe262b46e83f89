"""Motions of machines: peaks of cam laws, limits and least times, joints, dwells, masters."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import cmbcontrol as cmb
from cmbcontrol import CamProfile, ElectronicCam, JerkLimited, Joined, Quintic, Sine, Spline
from cmbcontrol.controllers.profiles import CAM_LAWS

from ..fixtures import rates_are_derivatives

# Largest velocity, acceleration and jerk of a rise of 1 in a time of 1 (Norton, Cam Design and Manufacturing Handbook,
# table 3-5; Chen, Mechanics and Design of Cam Mechanisms; VDI 2143-1), in closed form where there is one.
PI = math.pi
PEAKS = {
    "simple harmonic": (PI / 2, PI**2 / 2, PI**3 / 2),
    "cycloidal": (2.0, 2 * PI, 4 * PI**2),
    "3-4-5": (15 / 8, 10 / math.sqrt(3.0), 60.0),
    "4-5-6-7": (35 / 16, 84 * math.sqrt(5) / 25, 105 / 2),
    "modified sine": (4 * PI / (4 + PI), 4 * PI**2 / (4 + PI), 16 * PI**3 / (4 + PI)),
    "modified trapezoid": (2.0, 8 * PI / (2 + PI), 32 * PI**2 / (2 + PI)),
}
PRINTED = {  # as tables of handbooks print them
    "simple harmonic": (1.571, 4.935, 15.5),
    "cycloidal": (2.0, 6.283, 39.48),
    "3-4-5": (1.875, 5.774, 60.0),
    "4-5-6-7": (2.188, 7.513, 52.5),
    "modified sine": (1.760, 5.528, 69.47),
    "modified trapezoid": (2.0, 4.888, 61.43),
}


@pytest.mark.parametrize("law", CAM_LAWS)
def test_peaks_of_cam_laws(law):
    """Of a rise of 30 mm in 0.4 s; peaks are between samples that are 1e-5 of the way apart, or at ends of pieces."""
    h, T, begin = 0.03, 0.4, 0.7
    rise = CamProfile([begin, begin + T], [0.01, 0.01 + h], law)
    t = begin + T * np.unique(np.concatenate([np.linspace(0.0, 1.0, 100_001)[:-1], np.linspace(0, 1, 9)[:-1] + 1e-12]))
    found = [np.abs(x[0]).max() / (h / T**order) for order, x in enumerate(rise.derivatives(t, 4))][1:]
    assert found == pytest.approx(PEAKS[law], rel=1e-8)
    assert PEAKS[law] == pytest.approx(PRINTED[law], rel=1e-3)
    assert [float(x[0]) for x in rise(begin + T)] == [0.01 + h, 0.0, 0.0]
    # symmetric: half of the way in half of the time, at the largest velocity
    assert float(rise(begin + 0.5 * T)[0][0]) == pytest.approx(0.01 + 0.5 * h, rel=1e-14)


@pytest.mark.parametrize("law", CAM_LAWS)
def test_a_cam_profile_is_smooth_rests_and_repeats(law):
    lift = CamProfile([0.0, 0.4, 0.6, 1.0], [[0.0, 1.0], [0.03, 1.5], [0.03, 1.5], [0.0, 2.0]], law, periodic=True)
    assert lift.period == 1.0 and lift.span is None
    rates_are_derivatives(lift)
    dwell = lift.over(np.linspace(0.4, 0.6, 100)[1:-1])
    assert (dwell == [0.03, 1.5, 0.0, 0.0, 0.0, 0.0]).all()
    np.testing.assert_allclose(lift(12.25)[0], lift(0.25)[0] + [0.0, 12.0], rtol=1e-13)  # the table goes on
    orders = 2 if law == "simple harmonic" else 3
    for part in lift._parts:
        for t in part.begins:
            before, after = (np.array(part(float(t) + side, orders)) for side in (-1e-12, 1e-12))
            # accelerations change by less than 1e3 m/s^3 times 2e-12 s
            np.testing.assert_allclose(before, after, rtol=0.0, atol=1e-8)


def test_a_law_for_each_piece():
    lift = CamProfile([0.0, 1.0, 2.0], [0.0, 1.0, 0.0], ["3-4-5", "cycloidal"])
    assert float(lift(0.5)[1][0]) == pytest.approx(1.875) and float(lift(1.5)[1][0]) == pytest.approx(-2.0)
    with pytest.raises(ValueError, match=r"'cycloid'.*'cycloidal'"):
        CamProfile([0.0, 1.0], [0.0, 1.0], "cycloid")
    with pytest.raises(ValueError, match="one for each of the 2 pieces, got 3"):
        CamProfile([0.0, 1.0, 2.0], [0.0, 1.0, 0.0], ["3-4-5"] * 3)


# -- limits ------------------------------------------------------------------------------------------------------------


def limited(seed, count):
    """Random moves with limits of any scale, and begins; a tenth of them of no length, or hardly any."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        k = int(rng.integers(1, 4))
        limits = 10.0 ** rng.uniform(-4, 4, (3, k))
        typical = limits[0] * 10.0 ** rng.uniform(-3, 2)
        start, way = rng.standard_normal(k) * 10.0 ** rng.uniform(-3, 3), rng.standard_normal(k) * typical
        way[rng.random(k) < 0.05] = 0.0
        way[rng.random(k) < 0.05] *= 1e-9
        yield (
            start,
            start + way,
            limits,
            JerkLimited(
                start, start + way, *limits, begin=rng.uniform(-1.0, 1.0), synchronised=bool(rng.random() < 0.5)
            ),
        )


def test_limits_are_never_exceeded():
    """10,000 profiles: in a piece the acceleration is linear and keeps its sign, so the largest rates are at its ends.

    The limits hold to the rounding of the durations, some 1e-16, and of the times at which pieces begin: one that is as
    short as 1e-12 s, at a time of 1 s, is 1e-4 longer or shorter. That moves velocities by accelerations times 1e-16 s.
    """
    for start, goal, limits, move in limited(7, 10_000):
        begin, end = move.begin, move.begin + move.duration
        assert np.array_equal(move(begin - 1.0)[0], start) and np.array_equal(
            move(end + 1e-9 + abs(end) * 1e-15)[0], goal
        )
        for k, part in enumerate(move._parts):
            widths = np.diff(part.begins)
            for i, width in enumerate(widths):
                c = part.powers[i]
                if len(c) < 4:
                    continue
                velocities = [c[1], c[1] + 2.0 * c[2] * width + 3.0 * c[3] * width**2]
                accelerations = [2.0 * c[2], 2.0 * c[2] + 6.0 * c[3] * width]
                late = 1e-15 * max(abs(begin), abs(end))  # s: times are sums of up to nine numbers
                v, a, j = limits[:, k]
                assert np.abs(velocities).max() <= v * (1.0 + 1e-13) + a * late
                assert np.abs(accelerations).max() <= a * (1.0 + 1e-13) + j * late
                assert abs(6.0 * c[3]) <= j * (1.0 + 1e-13)
                assert min(accelerations) >= -j * late - 1e-13 * a or max(accelerations) <= j * late + 1e-13 * a


def test_pieces_of_limited_motions_fit():
    """Position, velocity and acceleration go on from piece to piece, of the same profiles; the end is the goal."""
    for start, goal, limits, move in limited(7, 10_000):
        late = 1e-15 * max(abs(move.begin), abs(move.begin + move.duration))
        for k, part in enumerate(move._parts):
            way, (v, a, j) = abs(goal[k] - start[k]), limits[:, k]
            h = np.diff(part.begins)[:, None]
            if part.powers.shape[1] < 4:
                assert way == 0.0 or abs(move.begin) * 1e-15 > np.cbrt(way / j)  # below the rounding of the time
                continue
            c = part.powers
            ends = np.hstack(
                [
                    c[:, :1] + h * (c[:, 1:2] + h * (c[:, 2:3] + h * c[:, 3:4])),
                    c[:, 1:2] + h * (2.0 * c[:, 2:3] + 3.0 * h * c[:, 3:4]),
                    2.0 * c[:, 2:3] + 6.0 * h * c[:, 3:4],
                ]
            )
            follows = np.vstack([c[1:, :3] * [1.0, 1.0, 2.0], [goal[k], 0.0, 0.0]])
            rounding = np.array([2e-15 * max(abs(start[k]), abs(goal[k])) + 1e-14 * way, 1e-14 * v, 1e-14 * a])
            gaps = np.abs(ends - follows)
            assert (gaps <= rounding + 2.0 * late * np.array([v, a, j])).all(), (gaps, k)


def test_times_are_the_least_by_a_linear_program():
    """Largest way in the time, with jerks that are constant on a grid of 240 intervals: feasible, so never further.

    The grid costs at most a step of the switching times; so a time that is a hundredth shorter is not enough.
    """
    n = 240

    def reach(T, v, a, j):
        h, since = T / n, np.arange(n)[:, None] - np.arange(n)
        # at the end of each interval, of a jerk of 1 in one before; and the way at the end
        A = np.where(since >= 0, h, 0.0)
        V = np.where(since >= 0, h * h * (0.5 + since), 0.0)
        X = h**3 * (1.0 / 6.0 + 0.5 * since[-1] + 0.5 * since[-1] ** 2)
        rows = np.vstack([A, -A, V, -V])
        bounds = np.concatenate([np.full(2 * n, a), np.full(2 * n, v)])
        held = np.vstack([A[-1], V[-1]])
        scale = np.abs(X).max()
        found = linprog(-X / scale, A_ub=rows, b_ub=bounds, A_eq=held, b_eq=np.zeros(2), bounds=[(-j, j)] * n)
        assert found.status == 0
        return -found.fun * scale

    for way, v, a, j in ((1.0, 1.0, 4.0, 40.0), (0.3, 1.0, 4.0, 40.0), (0.02, 1.0, 4.0, 40.0), (5.0, 1.0, 40.0, 20.0)):
        T = JerkLimited([0.0], [way], v, a, j).duration
        assert reach(1.01 * T, v, a, j) > way * (1.0 - 1e-9) > reach(0.99 * T, v, a, j)


def test_times_are_those_of_ruckig():
    """Of 300 moves of one to three axes; ruckig finds its times by roots of polynomials, right to 1e-8 or so."""
    ruckig = pytest.importorskip("ruckig")
    rng = np.random.default_rng(5)
    for _ in range(300):
        k = int(rng.integers(1, 4))
        start, goal = rng.uniform(-2, 2, (2, k))
        limits = 10.0 ** rng.uniform([[0], [0], [1]], [[1], [1], [3]], (3, k))
        given = ruckig.InputParameter(k)
        given.current_position, given.target_position = start.tolist(), goal.tolist()
        given.max_velocity, given.max_acceleration, given.max_jerk = (x.tolist() for x in limits)
        found = ruckig.Trajectory(k)
        assert ruckig.Ruckig(k).calculate(given, found) == ruckig.Result.Working
        move = JerkLimited(start, goal, *limits)
        assert move.duration == pytest.approx(found.duration, rel=1e-7)
        alone = JerkLimited(start, goal, *limits, synchronised=False)
        times = [part.period for part in alone._parts]
        assert times == pytest.approx(found.independent_min_durations, rel=1e-7)


def test_limits_may_be_infinite_but_for_one():
    """Closed forms: bang-bang acceleration, trapezoidal velocity, jerk alone."""
    endless = math.inf
    assert JerkLimited([0.0], [1.0], endless, 4.0, endless).duration == pytest.approx(1.0)  # 2 sqrt(d / a)
    assert JerkLimited([0.0], [1.0], 1.0, 4.0, endless).duration == pytest.approx(1.25)  # d / v + v / a
    assert JerkLimited([0.0], [2.0], endless, endless, 1.0).duration == pytest.approx(4.0)  # cbrt(32 d / j)
    with pytest.raises(ValueError, match="both unlimited"):
        JerkLimited([0.0], [1.0], 1.0, endless, endless)
    with pytest.raises(ValueError, match="the jerk of a JerkLimited motion must be one number above zero"):
        JerkLimited([0.0], [1.0], 1.0, 1.0, 0.0)


def test_synchronised_axes_arrive_together_and_others_in_their_least_time():
    start, goal, limits = [0.0, 0.0, 1.0], [1.0, 0.1, 1.0], (1.0, 4.0, 40.0)
    together, alone = JerkLimited(start, goal, *limits), JerkLimited(start, goal, *limits, synchronised=False)
    assert together.duration == alone.duration == JerkLimited([0.0], [1.0], *limits).duration
    assert [part.period for part in together._parts[:2]] == pytest.approx([together.duration] * 2, rel=1e-15)
    assert alone._parts[1].period == JerkLimited([0.0], [0.1], *limits).duration
    assert np.array_equal(together.over([0.5])[0, [2, 5, 8]], [1.0, 0.0, 0.0])


def test_a_move_of_no_length_takes_no_time():
    still = JerkLimited([0.3, 1.0], [0.3, 1.0], 1.0, 1.0, 1.0)
    assert still.duration == 0.0 and np.array_equal(still.over([-1.0, 0.0, 1.0])[:, :2], [[0.3, 1.0]] * 3)
    assert Joined([still, Quintic([0.3, 1.0], [0.4, 1.0], 1.0)]).span == (0.0, 1.0)


# -- samples -----------------------------------------------------------------------------------------------------------


def test_a_crank_goes_on_turning():
    times, angles = [0.0, 0.3, 0.5, 1.2], [0.1, 2.0, 4.0, 0.1 + 2.0 * PI]
    for monotone in (False, True):
        turning = Spline(times, angles, periodic=True, monotone=monotone)
        rates_are_derivatives(turning)
        for t, angle in zip(times, angles, strict=True):
            assert float(turning(t)[0][0]) == pytest.approx(angle, rel=1e-14)
        for turns in (1, 7):
            before, after = (turning.over([1.2 * turns + side])[0] for side in (-1e-11, 1e-11))
            np.testing.assert_allclose(before, after, atol=1e-7)  # accelerations change by 1e3 rad/s^3 times 2e-11 s
        found = turning.over(np.linspace(0.0, 10.0, 501))
        np.testing.assert_allclose(
            turning.over(np.linspace(1.2, 11.2, 501)), found + np.array([2.0 * PI, 0.0, 0.0]), atol=1e-10
        )
    assert Spline([0.0, 1.0], [0.0, 2.0 * PI], periodic=True)(0.25)[1][0] == pytest.approx(2.0 * PI, rel=1e-15)


def test_a_dwell_of_4_mm_stays_4_mm():
    """A cubic spline dips below it; the monotone curve rests, in the periodic cycle of a press and in one stroke."""
    times, heights = [0.0, 0.3, 0.5, 0.7, 1.2], [0.14, 0.04, 0.004, 0.004, 0.14]
    t = np.linspace(0.0, 1.2, 4001)
    inside = (t > 0.5) & (t < 0.7)
    assert Spline(times, heights).over(t)[inside, 0].min() < 0.003
    for periodic in (False, True):
        ram = Spline(times, heights, periodic=periodic, monotone=True)
        found = ram.over(t)
        assert (found[inside] == [0.004, 0.0, 0.0]).all()
        assert found[:, 0].min() >= 0.004 - 1e-16 and found[:, 0].max() <= 0.14 + 1e-15
        down = found[t < 0.5, 1]
        assert down.max() <= 1e-13 and down[(t[t < 0.5] > 0.1) & (t[t < 0.5] < 0.45)].max() < -0.05  # without a stop


def test_monotone_curves_never_turn_between_samples():
    """500 random ones, with dwells, single and periodic: continuous accelerations, no position beyond two samples."""
    rng = np.random.default_rng(2)
    for trial in range(500):
        n, periodic = int(rng.integers(2, 9)), bool(rng.random() < 0.5)
        times = np.cumsum(10.0 ** rng.uniform(-2, 1, n))
        x = rng.standard_normal(n) * 10.0 ** rng.uniform(-3, 3)
        x[1:] = np.where(rng.random(n - 1) < 0.25, x[:-1], x[1:])
        curve = Spline(times, x, periodic=periodic, monotone=True)
        (part,) = curve._parts
        size, h = np.ptp(x), np.diff(times)
        for i, width in enumerate(h):
            found = curve.over(times[i] + width * np.linspace(0.0, 1.0, 60)[:-1])[:, 0]
            low, high = sorted(x[i : i + 2])
            assert low - 1e-13 * size <= found.min() and found.max() <= high + 1e-13 * size, trial
            if x[i] == x[i + 1]:
                assert (found == x[i]).all()
        # where pieces meet: one comes as the next goes on, in rounding of the shorter one
        for i in range(0 if periodic else 1, n - 1):
            before, width = part.powers[i - 1], h[i - 1]
            ends = np.polynomial.Polynomial(before)
            v, a = ends.deriv()(width), ends.deriv(2)(width)
            scale = 1e-11 * size / min(h[i - 1], h[i])
            assert abs(v - part.powers[i][1]) <= scale and abs(a - 2.0 * part.powers[i][2]) <= scale / min(
                h[i - 1], h[i]
            )


# -- joined ------------------------------------------------------------------------------------------------------------


def test_joined_motions_with_pauses():
    down, up = JerkLimited([0.3], [0.0], 0.5, 2.0, 50.0), CamProfile([5.0, 6.0], [0.0, 0.3])
    cycle = Joined([down, 0.25, up, 0.1], begin=0.5, periodic=True)
    T = down.duration
    assert cycle.period == pytest.approx(T + 1.35, rel=1e-15)
    for t, expected in ((0.5 + 0.4, down(0.4)), (0.5 + T + 0.1, ([0.0], [0.0], [0.0])), (0.75 + T + 0.3, up(5.3))):
        for turns in (0, 3):
            np.testing.assert_allclose(cycle(t + turns * cycle.period), expected, atol=1e-13)
    rates_are_derivatives(cycle)
    whole = Joined([Joined([down, 0.25]), up])
    np.testing.assert_allclose(whole(T + 0.25 + 0.3), up(5.3), atol=1e-13)
    step = Joined([CamProfile([0.0, 1.0], [0.0, 0.5]), 0.5], periodic=True)  # an indexing table
    assert float(step(10 * 1.5 + 1.2)[0][0]) == pytest.approx(5.5, rel=1e-14)


def test_axes_that_arrive_before_others_wait_for_them():
    alone = JerkLimited([0.0, 0.0], [1.0, 0.1], 1.0, 4.0, 40.0, synchronised=False)
    both = Joined([alone, Quintic([1.0, 0.1], [0.0, 0.0], 1.0)])
    assert np.array_equal(both.over(np.linspace(0.0, 1.3, 20)), alone.over(np.linspace(0.0, 1.3, 20)))


@pytest.mark.parametrize(
    ("motions", "message"),
    [
        ([Quintic([0.0], [0.29], 1.0), 0.1, CamProfile([0.0, 1.0], [0.3, 0.0])],
         r"motion 3 \(CamProfile\) begins with the position 0\.3 of coordinate 1, where pause 2 ends with 0\.29: a gap "
         r"of 0\.01"),
        ([CamProfile([0.0, 1.0], [0.0, 0.3]), Spline([0.0, 1.0], [0.2, 0.0])], "position 0.2 of coordinate 1"),
        ([CamProfile([0.0, 1.0], [0.0, 0.3], periodic=True)], r"motion 1 \(CamProfile\).*a motion that ends"),
        ([Sine([0.0], [1.0], 1.0)], "goes on for ever"),
        ([0.1, CamProfile([0.0, 1.0], [0.0, 0.3])], "must begin with a motion"),
        ([CamProfile([0.0, 1.0], [0.0, 0.3]), -0.1], "pause 2"),
        ([CamProfile([0.0, 1.0], [0.0, 0.3]), Quintic([0.3, 0.0], [0.0, 0.0], 1.0)], r"1 coordinates, and.* 2"),
        ([], "at least one"),
    ],
)  # fmt: skip
def test_joints_that_do_not_fit_are_told(motions, message):
    with pytest.raises(ValueError, match=message):
        Joined(motions)


def test_a_velocity_that_jumps_is_told():
    turning = Spline([0.0, 1.0], [0.0, 1.0], periodic=True)
    turning._parts[0].advance = None  # one that ends while it moves
    with pytest.raises(ValueError, match=r"begins with the velocity 0 .*where motion 1 \(Spline\) ends with 1: a gap"):
        Joined([turning, Quintic([1.0], [0.0], 1.0)])


# -- masters -----------------------------------------------------------------------------------------------------------


def test_an_electronic_cam_of_a_master_at_constant_speed_is_the_cam_over_time():
    lift = CamProfile([0.0, 2.0, 4.0, 2.0 * PI], [0.0, 0.03, 0.03, 0.0], periodic=True)
    master = Spline([0.0, 0.5], [0.0, 2.0 * PI], periodic=True)  # 4 pi rad/s
    cam, w, times = ElectronicCam(lift, master), 4.0 * PI, np.linspace(0.0, 3.0, 200)
    expected = lift.over(w * times) * [1.0, w, w * w]
    np.testing.assert_allclose(cam.over(times), expected, rtol=1e-9, atol=1e-11 * w * w)
    np.testing.assert_allclose(cam.jerk(times)[:, 0], lift.jerk(w * times)[:, 0] * w**3, rtol=1e-9, atol=1e-8)
    with pytest.raises(ValueError, match="one coordinate, got 2"):
        ElectronicCam(lift, Quintic([0.0, 0.0], [1.0, 1.0], 1.0))
    with pytest.raises(TypeError, match="master"):
        ElectronicCam(lift, lambda t: t)


def test_a_prescribed_motion_takes_them():
    """A machine that is moved by one: the coordinate goes where the cam says."""
    joints = [cmb.Revolute("shaft", "ground", "shaft")]
    plant = cmb.Mechanism("shaft", [cmb.Body("shaft", 1.0, inertia=(1.0, 1.0, 1.0))], joints)
    driven = plant.with_loops(cmb.JointMotion("drive", "shaft"))
    lift = CamProfile([0.0, 0.4, 0.6, 1.0], [0.0, 0.3, 0.3, 0.0])
    run = cmb.simulate(driven, q0=[0.0], t_end=1.2, motions={"drive": lift}, output_times=0.1)
    np.testing.assert_allclose(run.q.values[:, 0], lift.over(run.time)[:, 0], atol=1e-9)
