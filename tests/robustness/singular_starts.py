"""Starts at and beside singular configurations, by the thousand: python -m tests.robustness.singular_starts.

Each case is a curve of closed configurations q(s) through a singular configuration at s = 0, by formula, so that starts
are closed as exactly as doubles are. Where the machine moves along the curve, its motion is one equation in s (from the
judge's mass matrix and potential on the curve), and the run must follow it: that is the right branch.
"""

from __future__ import annotations

import argparse
import collections
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import cmbcontrol as cmb
from cmbcontrol import plants

from . import judge, workers
from .judge import Joint, Machine, Tie, pose
from .trial import in_words

OFFSETS = (0.0, *(10.0**-k for k in range(16, 1, -1)))  # rad
SPEEDS = (0.0, 1e-6, 1e-3, 1.0)  # rad/s along the curve
FUZZY = 1e-7  # rad: nearer, the closure of doubles (1e-16) does not tell branches apart, which part as the square
OUTCOMES = ("ok", "branch", "energy", "open", "slow", "refused", "failed", "unhandled", "killed")


@dataclass(frozen=True)
class Case:
    """A plant with a curve of closed configurations through a singular one.

    `curve(s)` takes complex s, too, so that velocities are derivatives by a complex step. `alone` says that a machine
    that moves along the curve stays on it. `held` are coordinates whose values choose the configuration, for
    `assemble`.
    """

    name: str
    make: Callable
    curve: Callable
    alone: bool = True
    held: tuple[str, ...] = ()
    body_rates: bool = False  # planar joints: rates in the axes of the body
    reach: float = 3.3  # how far the curve goes

    def rate(self, s):
        """dq/ds, as velocity coordinates."""
        v = np.imag(np.asarray(self.curve(s + 1e-30j))) / 1e-30
        if self.body_rates:
            q = self.pose(s)
            for i in range(0, len(q), 3):
                c, d = np.cos(q[i + 2]), np.sin(q[i + 2])
                v[i : i + 2] = c * v[i] + d * v[i + 1], -d * v[i] + c * v[i + 1]
        return v

    def pose(self, s):
        return np.real(np.asarray(self.curve(s), dtype=complex))


# -- curves -----------------------------------------------------------------------------------------------


def five_bar_curve(cut, half):
    """Mirror symmetric: left = pi + s; `half` says on which side of the ground the upper links fold."""

    def curve(s):
        left, upper = np.pi + s, half * 2.0 * np.arcsin(np.sin(0.5 * s) / np.sqrt(1.5))
        if cut == "tip":
            return np.array([left, upper - left, -s, np.pi - upper + s])
        return np.array([left, upper - left, np.pi - 2.0 * upper, -s - np.pi + upper])

    return curve


def oblique_curve(way, half):
    """left = pi + s cos(way), right = s sin(way), and the upper links by the intersection of two circles."""

    def curve(s):
        a, b = s * np.cos(way), s * np.sin(way)
        both, rise = np.sin(0.5 * a) ** 2 + np.sin(0.5 * b) ** 2, np.sin(a) + np.sin(b)
        # 9 - d^2 of the elbows' distance d, over s^2: no digits are lost as s vanishes
        short = (12.0 * both - 4.0 * both**2 - rise**2) / s**2 if s != 0.0 else 1.0
        lift = half * np.arcsin(s * np.sqrt(short) / 3.0)
        slope = np.arctan(rise / (1.0 + np.cos(a) + np.cos(b)))
        left, upper, far = np.pi + a, slope + lift, slope + np.pi - lift
        return np.array([left, upper - left, b, far - b])

    return curve


def chain_curve(n, base):
    """All bars parallel."""
    return lambda s: np.array([*([base + s, -base - s] * n), base + s])


def folded_curve(s):
    """The first bar lies on the ground, and the coupler turns with the second bar about its pivot."""
    return np.array([0.0 * s, s + np.pi, s + np.pi])


def parallelogram_curve(base):
    def curve(s):
        c, d = np.cos(base) * np.cos(s), np.cos(base) * np.sin(s)
        return np.array([x for i in range(3) for x in (i + 0.5 * c, 0.5 * d, base + s)] + [1.0 + c, d, 0.0 * s])

    return curve


def leg_curve(base, folded):
    """The foot under the hip, or on it with the knee folded; the thigh is level at s = 0."""
    length = 2.0 * 0.35 * np.cos(base)

    def curve(s):
        if folded:
            return np.array([0.0 * s, base + s, np.pi + 0.0 * s])
        return np.array([-length * np.sin(s), base + s, np.pi - 2.0 * base - 2.0 * s])

    return curve


def crank_curve(folded):
    if folded:
        return lambda s: np.array([0.5 * np.pi + s, -np.pi + 0.0 * s])
    return lambda s: np.array([0.5 * np.pi + s, -np.pi - 2.0 * s])


@cache
def cases():
    found = []
    for cut, closure in (
        ("tip", "line"),
        ("tip", "point"),
        ("tip", "revolute"),
        ("right", "line"),
        ("right", "revolute"),
    ):
        for half in (1, -1):
            held = "left", "right" if cut == "tip" else "elbow_left"
            found.append(Case(f"five-bar {cut} {closure} {half:+d}", lambda c=cut, k=closure: plants.five_bar(c, k),
                              five_bar_curve(cut, half), held=held))  # fmt: skip
    for way in (0.9, 2.0, -0.3):  # two freedoms: not mirror symmetric
        found.append(Case(f"five-bar oblique {way}", plants.five_bar, oblique_curve(way, 1.0), alone=False, reach=0.6))
    for n in (1, 2, 3):
        for base in (0.0, np.pi):
            found.append(Case(f"n-four-bar {n} at {base:.0f}", lambda n=n: plants.n_four_bar(n), chain_curve(n, base),
                              held=("bar0",)))  # fmt: skip
    found.append(Case("n-four-bar 1 folded", lambda: plants.n_four_bar(1), folded_curve))
    for form in ("cartesian", "planar"):
        for base in (0.0, np.pi):
            found.append(Case(f"parallelogram {form} at {base:.0f}", lambda c=form: plants.parallelogram(c),
                              parallelogram_curve(base), held=("link1_angle",),
                              body_rates=form == "planar"))  # fmt: skip
    for q1, base in ((0.3, 0.0), (2.0, np.pi), (-1.0, 0.0)):  # two freedoms: along the curve, bar 2 turns
        found.append(Case(f"parallel-four-bar {q1} at {base:.0f}", plants.parallel_four_bar,
                          lambda s, a=q1, b=base: np.array([a + 0.0 * s, a - b - s, b + s, -b - s - np.pi]),
                          alone=False, held=("q1", "q2")))  # fmt: skip
    for folded in (False, True):
        found.append(Case(f"slider-crank {'folded' if folded else 'sliding'}", plants.slider_crank, crank_curve(folded),
                          held=("q1",)))  # fmt: skip
        for base in (0.0, np.pi):
            found.append(Case(f"leg {'folded' if folded else 'standing'} at {base:.0f}", plants.leg,
                              leg_curve(base, folded), held=("hip",)))  # fmt: skip
    return tuple(found)


# -- the exact motion on a curve ---------------------------------------------------------------------------


def described(plant):
    """Plain data of a Mechanism for the judge: its parts as they were given."""

    def T(frame):
        return pose(frame.R, frame.p)

    def joint(j):
        more = {key: getattr(j, key) for key in ("axis", "pitch") if key in j.__dataclass_fields__}
        return Joint(type(j).__name__.lower(), j.name, j.parent, j.child, T(j.frame), T(j.child_frame), **more)

    kinds = {"PointOnLine": "line", "PointOnPlane": "plane", "Point": "point"}
    loops = []
    for x in plant.loops:
        if isinstance(x, cmb.Revolute):
            loops.append(joint(x))
        else:
            axis = getattr(x, "axis", getattr(x, "normal", (0, 0, 1)))
            loops.append(Tie(kinds[type(x).__name__], x.name, x.a, x.b, pa=x.point_a, pb=x.point_b, axis=axis))
    bodies = {b.name: (b.mass, b.com, b.inertia) for b in plant.bodies}
    return Machine(plant.name, bodies, [joint(j) for j in plant.joints], loops, gravity=plant.gravity)


@cache
def reduced(index):
    """Inertia I(s) and potential V(s) on a curve, as splines over a turn, and a scale of the energy."""
    case = cases()[index]
    plant = case.make()
    grid = np.linspace(-case.reach, case.reach, 89 if case.alone else 7)
    inertia, potential = [], []
    m = None if isinstance(plant, cmb.FunctionPlant) else described(plant)
    if m is not None:
        m.loops = []  # the curve is closed: inertia and potential are all that is asked
    for s in grid:
        q, v = case.pose(s), case.rate(s)
        if m is None:  # Aghili's slider-crank: point masses of 1 kg at the ends of links of 1 m
            c2 = np.cos(q[1])
            M = np.array([[3.0 + 2.0 * c2, 1.0 + c2], [1.0 + c2, 1.0]])
            V = 9.81 * (2.0 * np.sin(q[0]) + np.sin(q[0] + q[1]))
        else:
            t = judge.terms(m, q, np.zeros(m.nv))
            M, V = np.asarray(t.M, float), float(t.potential)
        inertia.append(v @ M @ v)
        potential.append(V)
    return CubicSpline(grid, inertia), CubicSpline(grid, potential), float(np.ptp(potential))


def exact_end(index, s, speed, t_end):
    """s at the end of the exact motion along the curve, or None where it leaves the range of the splines."""
    I, V, _ = reduced(index)
    dI, dV = I.derivative(), V.derivative()

    def field(_, x):
        return [x[1], -(0.5 * dI(x[0]) * x[1] ** 2 + dV(x[0])) / I(x[0])]

    out = solve_ivp(field, (0.0, t_end), [s, speed], method="DOP853", rtol=1e-11, atol=1e-13)
    return None if np.abs(out.y[0]).max() > 0.98 * cases()[index].reach else float(out.y[0, -1])


# -- one start ------------------------------------------------------------------------------------------


@cache
def plant_of(index):
    return cases()[index].make()


@cache
def usual(index, speed, t_end):
    """Evaluations of a run of the same machine from a regular start on the curve."""
    case = cases()[index]
    s = 0.3
    run = cmb.simulate(plant_of(index), None, case.pose(s), speed * case.rate(s), t_end=t_end, output_times=0.1)
    return int(run.data.attrs["evaluations"]), abs(run.max_energy_error), run.max_drift


def run_start(item):
    """(case, offset with sign, speed, way, duration) -> (outcome, message)."""
    index, s, speed, way, t_end = item
    case, plant = cases()[index], plant_of(index)
    q, v = case.pose(s), speed * case.rate(s)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if way == "assembled":
                values = {name: float(q[plant.position_names.index(name)]) for name in case.held}
                q = plant.assemble(guess=case.pose(1.2 * s or 1e-3), **values)
            run = cmb.simulate(plant, None, q, v, t_end=t_end, output_times=0.1)
    except cmb.errors.AssemblyError as error:
        return "refused", f"{error}"[:200]
    except cmb.errors.SimulationError as error:
        return "failed", f"{error}"[:200]
    except cmb.CmbError as error:
        return "refused", f"{type(error).__name__}: {error}"[:200]
    except Exception as error:
        return "refused" if in_words(error) else "unhandled", f"{type(error).__name__}: {error}"[:200]
    span = reduced(index)[2]
    evaluations, energy, _ = usual(index, speed, t_end)
    if not run.max_drift < 1e-12 * plant.size:
        return "open", f"loops open by {run.max_drift:.1e} m"
    if not abs(run.max_energy_error) < max(1e-7 * span, 100.0 * energy):
        return (
            "energy",
            f"energy off by {abs(run.max_energy_error):.1e} J of {span:.1f}, {energy:.1e} from a regular start",
        )
    if run.data.attrs["evaluations"] > 10 * evaluations:
        return "slow", f"{run.data.attrs['evaluations']} evaluations, {evaluations} from a regular start"
    if case.alone and (abs(s) >= FUZZY or speed >= 1e-3):
        end = exact_end(index, s, speed, t_end)
        if end is not None:
            # a turn of the start by rounding over the offset is carried on by the motion: see the guide
            off = float(np.abs(run.q.values[-1] - case.pose(end)).max())
            if not off < 1e-3:
                return "branch", f"{off:.2e} rad or m away from the exact motion, s = {end:.4f}"
    return "ok", ""


def items(offsets=OFFSETS, speeds=SPEEDS, duration=1.0, assembled=True, seed=None):
    """All starts; with a seed, each offset up to ten times larger, at random."""
    found, rng = [], np.random.default_rng(seed)
    for index, case in enumerate(cases()):
        for offset in offsets:
            for sign in (1.0, -1.0) if offset else (1.0,):
                if seed is not None:
                    sign *= 10.0 ** rng.random()
                found += [(index, sign * offset, speed, "given", duration) for speed in speeds]
                if offset:
                    found += [(index, sign * offset, -speed, "given", duration) for speed in speeds if speed]
                if assembled and case.held:
                    found.append((index, sign * offset, 0.0, "assembled", duration))
    return found


def told(item, outcome, message):
    index, s, speed, way, _ = item
    return f"{cases()[index].name}: s = {s:g}, speed {speed:g}, {way}: {outcome}: {message}"


def table(answers):
    """Starts that are not as they should be, by case and offset."""

    def decade(s):
        return 10.0 ** np.floor(np.log10(abs(s)) + 1e-9) if s else 0.0

    offsets = sorted({decade(item[1]) for item, _ in answers})
    bad, of = collections.Counter(), collections.Counter()
    for item, (outcome, _) in answers:
        key = cases()[item[0]].name, decade(item[1])
        of[key] += 1
        bad[key] += outcome != "ok"
    lines = [f"{'not ok, of those tried, at':<28}" + "".join(f"{o:>9.0e}" for o in offsets)]
    for case in cases():
        row = [(bad[case.name, o], of[case.name, o]) for o in offsets]
        if any(n for _, n in row):
            lines.append(f"{case.name:<28}" + "".join(f"{f'{b}/{n}':>9}" if n else f"{'':>9}" for b, n in row))
    counts = collections.Counter(outcome for _, (outcome, _) in answers)
    lines.append(f"{len(answers)} starts: " + ", ".join(f"{o} {counts[o]}" for o in OUTCOMES if counts[o]))
    return "\n".join(lines)


def warm():
    """Compile or load, and tabulate the curves, before the processes start."""
    for index in range(len(cases())):
        reduced(index)
        for speed in SPEEDS:
            usual(index, speed, 1.0)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, help="so many of all, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0, help="other than 0: offsets between the powers of ten")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=20.0, help="CPU seconds for each start")
    parser.add_argument("--duration", type=float, default=1.0, help="seconds of motion")
    parser.add_argument("--case", help="only cases whose name contains this")
    given = parser.parse_args(arguments)
    everything = items(duration=given.duration, seed=given.seed or None)
    todo = [x for x in everything if not given.case or given.case in cases()[x[0]].name]
    if given.count and given.count < len(todo):
        chosen = np.random.default_rng(given.seed).permutation(len(todo))[: given.count]
        todo = [todo[i] for i in sorted(chosen)]
    begin, answers = time.monotonic(), []
    warm()
    for item, answer in workers.each(run_start, todo, given.jobs, given.limit):
        answers.append((item, answer))
        if answer[0] != "ok":
            print(told(item, *answer), flush=True)
        if len(answers) % 200 == 0:
            print(f"{len(answers)} of {len(todo)}, {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    print(table(answers))
    return 1 if any(outcome != "ok" for _, (outcome, _) in answers) else 0


if __name__ == "__main__":
    sys.exit(main())
