"""Random machines with gears, and their twins without: python -m tests.robustness.geared --count N --seed S.

A twin is the same machine, built without rotors and couplings. Each case asks both the same: to assemble at values, to
close, to reach a target (within reach or not), for all branches. Gears of ratios from 1e-3 to 1e3 may not change an
answer by more than 1e-9, nor an error or a warning; and rotors are where the gears put them, which is computed here.
"""

from __future__ import annotations

import argparse
import collections
import sys
import warnings
from dataclasses import dataclass, field

import numpy as np

from . import workers
from .trial import in_words

KINDS = ("four-bar", "slider-crank", "five-bar", "press", "arm")
SAME = 1e-9
QUERIES = 10  # of each machine


@dataclass
class Drawing:
    """The parts of a machine and of its twin, and where the rotors are: rows of names, ratios and offsets."""

    kind: str
    bodies: list
    joints: list
    loops: list
    driven: list  # coordinates behind gears
    point: tuple  # (body, point) of a tool
    rotors: list = field(default_factory=list)  # (name, {coordinate: ratio}, offset)
    more: tuple = ((), (), ())  # bodies, joints and loops of the gears
    order: np.ndarray | None = None  # of all joints
    limits: dict = field(default_factory=dict)  # of joints of the twin
    grounded: bool = True  # all rotors are on the ground, so that M of the twin is that of the machine without them
    of_rotors: dict = field(default_factory=dict)  # of rotors, in place of those of the joints that they move


def linkage(kind, rng):
    """A random linkage in the plane."""
    from cmbcontrol import Body, Frame, PointOnLine, Prismatic, Revolute

    def length(low=0.5, high=1.5):
        return float(rng.uniform(low, high))

    def rod(name, L):
        return Body.rod(name, float(rng.uniform(0.5, 5.0)), L)

    def at(x, y=0.0):
        return Frame((x, y, 0.0))

    if kind == "four-bar":
        a, b, c, d = length(0.3, 0.6), length(1.0, 1.5), length(0.9, 1.4), length(0.9, 1.3)
        return Drawing(
            kind,
            [rod("crank", a), rod("coupler", b), rod("rocker", c)],
            [
                Revolute("crank", "ground", "crank"),
                Revolute("coupler", "crank", "coupler", frame=at(a)),
                Revolute("rocker", "ground", "rocker", frame=at(d)),
            ],
            [PointOnLine("pin", "rocker", "coupler", (c, 0, 0), (b, 0, 0))],
            [["crank"]],
            ("coupler", (0.5 * b, float(rng.uniform(-0.5, 0.5)), 0.0)),
        )
    if kind == "slider-crank":
        a, b = length(0.3, 0.8), length(1.0, 2.0)
        return Drawing(
            kind,
            [rod("crank", a), rod("rod", b), Body("ram", 3.0, inertia=(1.0, 1.0, 1.0))],
            [
                Revolute("crank", "ground", "crank"),
                Revolute("rod", "crank", "rod", frame=at(a)),
                Prismatic("ram", "ground", "ram", axis=(1, 0, 0), frame=at(0.0, float(rng.uniform(-0.2, 0.2)))),
            ],
            [PointOnLine("pin", "ram", "rod", (0, 0, 0), (b, 0, 0))],
            [["crank"]] if rng.random() < 0.6 else [["ram"]],
            ("rod", (0.5 * b, 0.0, 0.0)),
        )
    if kind == "five-bar":
        a, b, d = length(0.8, 1.2), length(1.2, 1.8), length(0.6, 1.4)
        return Drawing(
            kind,
            [rod("left", a), rod("left_upper", b), rod("right", a), rod("right_upper", b)],
            [
                Revolute("left", "ground", "left"),
                Revolute("left_upper", "left", "left_upper", frame=at(a)),
                Revolute("right", "ground", "right", frame=at(d)),
                Revolute("right_upper", "right", "right_upper", frame=at(a)),
            ],
            [PointOnLine("tip", "left_upper", "right_upper", (b, 0, 0), (b, 0, 0))],
            [["left", "right"]],
            ("left_upper", (b, 0.0, 0.0)),
        )
    if kind == "press":
        return Drawing(
            kind,
            [
                rod("crank", 0.12),
                rod("rod", 0.66),
                rod("upper", 0.4),
                rod("lower", 0.5),
                Body("ram", 8.0, inertia=(1,) * 3),
            ],
            [
                Revolute("crank", "ground", "crank", frame=at(-0.78 + float(rng.uniform(-0.03, 0.03)), -0.42)),
                Revolute("rod", "crank", "rod", frame=at(0.12)),
                Revolute("upper", "ground", "upper"),
                Revolute("lower", "upper", "lower", frame=at(0.4)),
                Prismatic("ram", "ground", "ram", axis=(0, 1, 0), frame=at(0.0, -0.9)),
            ],
            [
                PointOnLine("knee", "upper", "rod", (0.4, 0, 0), (0.66, 0, 0)),
                PointOnLine("ram_pin", "ram", "lower", (0, 0, 0), (0.5, 0, 0)),
            ],
            [["crank"]],
            ("lower", (0.5, 0.0, 0.0)),
        )
    lengths = [length() for _ in range(int(rng.integers(2, 4)))]
    names = [f"link{i}" for i in range(len(lengths))]
    joints = [
        Revolute(name, names[i - 1] if i else "ground", name, frame=at(lengths[i - 1]) if i else at(0.0))
        for i, name in enumerate(names)
    ]
    bodies = [rod(name, L) for name, L in zip(names, lengths, strict=True)]
    return Drawing("arm", bodies, joints, [], [names[:2], *([n] for n in names[2:])], (names[-1], (lengths[-1], 0, 0)))


def drawing(seed):
    """A machine of a seed, with its gears."""
    from cmbcontrol import Body, Coupling, Frame, Prismatic, Revolute

    rng = np.random.default_rng([3, seed])
    d = linkage(KINDS[seed % len(KINDS)], rng)
    bodies, joints, loops = [], [], []
    names = [joint.name for joint in d.joints]
    parents = {joint.name: joint.parent for joint in d.joints}

    def ratio():
        return float(10.0 ** rng.uniform(-3.0, 3.0) * rng.choice([-1.0, 1.0]))

    def rotor(name, by):
        """A rotor whose coordinate is sum(ratio x) + offset."""
        slides = rng.random() < 0.1
        mount = str(rng.choice([parents[c] for c in by if c in parents] or ["ground"]))
        d.grounded &= mount == "ground"
        place = Frame((float(rng.uniform(-0.2, 0.2)), float(rng.uniform(-0.2, 0.2)), 0.0))
        kind = Prismatic if slides else Revolute
        bodies.append(Body(name, float(rng.uniform(1, 40)), inertia=(0.1, 0.1, 0.2)))
        joints.append(kind(name, mount, name, frame=place))
        offset = float(rng.choice([0.0, rng.uniform(-1.0, 1.0)]))
        scale = float(rng.choice([1.0, 10.0 ** rng.uniform(-2.0, 2.0)]))
        terms = {name: scale} | {c: -scale * n for c, n in by.items()}
        loops.append(Coupling(f"{name}_gear", dict(sorted(terms.items())), scale * offset))
        d.rotors.append((name, by, offset))

    for group in d.driven:
        if len(group) == 2 and rng.random() < 0.3:  # a differential
            n, m = ratio(), ratio()
            rotor("motor_a", {group[0]: n, group[1]: n})
            rotor("motor_b", {group[0]: m, group[1]: -m})
            continue
        for c in group:
            if rng.random() < 0.3:  # two stages
                rotor(f"shaft_{c}", {c: float(rng.uniform(1.5, 30.0))})
                rotor(f"motor_{c}", {f"shaft_{c}": ratio()})
            else:
                rotor(f"motor_{c}", {c: ratio()})
            if rng.random() < 0.25 and c in names:  # limits, of the joint or of its rotor
                low, high = float(rng.uniform(-3.0, -1.0)), float(rng.uniform(1.0, 3.0))
                name, by, offset = d.rotors[-1]
                if set(by) == {c} and rng.random() < 0.5:
                    d.of_rotors[name] = tuple(sorted(by[c] * x + offset for x in (low, high)))
                    d.limits[c] = low, high
                    d.limits[f"{c} behind a rotor"] = low, high
                else:
                    d.limits[c] = low, high
    d.more, d.order = (bodies, joints, loops), rng.permutation(len(joints) + len(d.joints))
    return d


def build(d, geared):
    """The machine, or its twin."""
    from dataclasses import replace

    from cmbcontrol import Actuator, Mechanism

    def limited(joint):
        hidden = geared and f"{joint.name} behind a rotor" in d.limits
        limits = d.of_rotors.get(joint.name) or (None if hidden else d.limits.get(joint.name))
        return joint if limits is None else replace(joint, limits=limits)

    motors = [Actuator(name) for name, *_ in d.rotors] if geared else []
    own = [limited(joint) for joint in d.joints]
    if not geared:
        order = [int(i) for i in d.order if i < len(own)]
        return Mechanism(d.kind, d.bodies, [own[i] for i in order], d.loops, gravity=(0, -9.81, 0))
    both = [*own, *(limited(joint) for joint in d.more[1])]
    joints = [both[int(i)] for i in d.order]
    bodies, loops = [*d.more[0], *d.bodies], [*d.more[2], *d.loops]
    return Mechanism(d.kind, bodies, joints, loops, actuators=motors, gravity=(0, -9.81, 0))


def asked(function):
    """What comes of a call: the answer or the name of the error, and the warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            answer = function()
        except Exception as error:
            if not in_words(error):
                raise
            answer = type(error).__name__
    return answer, sorted(x.category.__name__ for x in told)


def values_of_rotors(d, values):
    """Coordinates of the rotors at those of the twin, by name."""
    found = dict(values)
    for name, by, offset in d.rotors:
        found[name] = sum(n * found[c] for c, n in by.items()) + offset
    return {name: found[name] for name, *_ in d.rotors}


def queries(d, plant, twin, seed):
    """(what, call of the machine, call of the twin) of a drawing; results are configurations, or lists of them."""
    from cmbcontrol import InverseKinematics
    from cmbcontrol.controllers import PointTask

    rng = np.random.default_rng([4, seed])
    names = twin.position_names
    loose = [joint.name for joint in d.joints]
    reaches = {}

    def reach(task):
        if task not in reaches:
            tasks = [task] if task != "tool" else None
            made = [
                InverseKinematics(p, PointTask(p, *d.point, axes="xy") if tasks is None else tuple(tasks), samples=20)
                for p in (plant, twin)
            ]
            reaches[task] = made
        return reaches[task]

    def near(off):
        q = np.array([float(rng.uniform(-off, off)) for _ in names])
        return q

    for _ in range(QUERIES):
        kind = rng.choice(
            ["hold", "hold rotor", "guess", "close", "reach", "branches"], p=[0.2, 0.1, 0.2, 0.2, 0.2, 0.1]
        )
        if kind in ("hold", "guess"):
            held = {str(c): float(rng.uniform(-1.5, 1.5)) for c in rng.choice(loose, rng.integers(0, 2), replace=False)}
            told = {
                str(c): float(rng.uniform(-1.5, 1.5)) for c in rng.choice(loose, rng.integers(0, len(loose) + 1), False)
            }
            guess = (told or None) if kind == "guess" else None
            yield (
                kind,
                lambda h=held, g=guess: plant.assemble(guess=g, **h),
                lambda h=held, g=guess: twin.assemble(guess=g, **h),
            )
        elif kind == "hold rotor":
            name, by, offset = d.rotors[int(rng.integers(len(d.rotors)))]
            if len(by) > 1 or next(iter(by)) not in names:
                continue
            c, n = next(iter(by.items()))
            x = float(rng.uniform(-1.0, 1.0))
            yield kind, lambda v={name: n * x + offset}: plant.assemble(**v), lambda v={c: x}: twin.assemble(**v)
        elif kind == "close":
            q, _ = asked(twin.assemble)
            if isinstance(q, str):
                continue
            q = q + near(0.2)
            whole = plant.neutral()
            for i, name in enumerate(plant.position_names):
                whole[i] = q[names.index(name)] if name in names else float(rng.uniform(-50.0, 50.0))
            metric = "mass" if d.grounded else "euclidean"
            yield (
                kind,
                lambda a=whole, m=metric: plant.close(a, metric=m),
                lambda a=q, m=metric: twin.close(a, metric=m),
            )
        else:
            task = "tool" if rng.random() < 0.5 else d.driven[0][0]
            ours, theirs = reach(task)
            size = 2 if task == "tool" else 1
            target = rng.uniform(-1.5, 1.5, size) * (1.0 if rng.random() < 0.7 else 4.0)
            if kind == "branches":
                if (size < 2 and len(loose) > 4) or d.kind == "arm":
                    continue
                yield kind, lambda r=ours, t=target: r.branches(t, 15), lambda r=theirs, t=target: r.branches(t, 15)
            else:
                guess = {str(c): float(rng.uniform(-1.0, 1.0)) for c in rng.choice(loose, 2, replace=False)}
                guess = guess if rng.random() < 0.5 else None
                yield kind, lambda r=ours, t=target, g=guess: r(t, g), lambda r=theirs, t=target, g=guess: r(t, g)


def run_trial(seed):
    """[(query, outcome, words)] of a seed."""
    d = drawing(seed)
    plant, twin = build(d, True), build(d, False)
    kept = [plant.position_names.index(name) for name in twin.position_names]
    found = []

    def off(q, own):
        """By how much a configuration differs from that of the twin, and the rotors from where gears put them."""
        values = dict(zip(twin.position_names, own, strict=True))
        rotors = values_of_rotors(d, values)
        spin = [abs(q[plant.position_names.index(n)] - x) / (1.0 + abs(x)) for n, x in rotors.items()]
        return max(float(np.abs(q[kept] - own).max(initial=0.0)), *spin)

    for what, ours, theirs in queries(d, plant, twin, seed):
        (mine, told), (own, told_own) = asked(ours), asked(theirs)
        if isinstance(mine, str) or isinstance(own, str):
            same = isinstance(mine, str) and mine == own
            words = (
                f"{mine if isinstance(mine, str) else 'an answer'}, the twin {own if isinstance(own, str) else 'one'}"
            )
        elif isinstance(mine, list):
            apart = [off(a.q, b.q) for a, b in zip(mine, own, strict=False)]
            same = len(mine) == len(own) and max(apart, default=0.0) <= SAME
            words = f"{len(mine)} branches, the twin {len(own)}; off by {max(apart, default=0.0):.1e}"
        elif isinstance(mine, np.ndarray):
            same, words = off(mine, own) <= SAME, f"off by {off(mine, own):.1e}"
        else:
            same = (
                off(mine.q, own.q) <= SAME and abs(mine.distance - own.distance) <= SAME and mine.reached == own.reached
            )
            words = f"off by {off(mine.q, own.q):.1e}, distances {mine.distance:.12g}, {own.distance:.12g}"
        if told != told_own:
            same, words = False, f"{words}; warnings {told}, the twin's {told_own}"
        found.append((what, "ok" if same else "wrong", "" if same else words))
    return found


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="targets; some nine of each machine")
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)
    counts, bad, seeds = collections.defaultdict(collections.Counter), 0, range(given.seed, given.seed + given.count)
    for seed, answer in workers.each(run_trial, seeds, given.jobs, 300.0):
        cases = [("all", *answer)] if isinstance(answer, workers.Failed) else answer
        for what, outcome, words in cases:
            counts[f"{KINDS[seed % len(KINDS)]}, {what}"][outcome] += 1
            counts["all"][outcome] += 1
            if outcome != "ok":
                bad += 1
                print(f"seed {seed} ({KINDS[seed % len(KINDS)]}), {what}: {outcome}: {words}", flush=True)
        if counts["all"].total() >= given.count:
            break
    for kind, found in sorted(counts.items()):
        print(f"{kind:<24}", dict(found))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
