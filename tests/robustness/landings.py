"""Random machines that land on contacts and stops: python -m tests.robustness.landings --count N --seed S.

Boxes, legs and loops fall on a floor, planar and spatial, with 2 to 8 contacts, friction from 0 to 2 and restitution
from 0 to 0.9, some with end stops and dry friction in their joints. Whatever happens, a run may not end by a count, by
chatter or by an error of the package; energy, without motors, never grows by more than the tolerance of the run; no
contact sinks in. Painleve's paradox is an answer.
"""

from __future__ import annotations

import argparse
import collections
import functools
import sys

import numpy as np

from . import workers

KINDS = ("box", "biped", "chain", "four-bar", "block", "stack")
T_END = 1.5
SUNK = 1e-9  # of the size
GROWN = 1e-7  # of the energy that there is


def drawing(seed):
    """(machine, contacts, q0, v0) of a seed."""
    import cmbcontrol as cmb
    from cmbcontrol import Body, Contact, Frame, Free, JointForce, Mechanism, Planar, Point, PointOnLine, Revolute
    from cmbcontrol.characteristics import Friction

    rng = np.random.default_rng([11, seed])
    kind = KINDS[seed % len(KINDS)]
    mu = float(rng.choice([0.0, rng.uniform(0.05, 0.6), rng.uniform(0.6, 2.0)]))
    e = float(rng.choice([0.0, 0.0, rng.uniform(0.0, 0.9)]))
    rest_speed = float(rng.choice([1e-3, 1e-2]))

    def contact(name, normal):
        friction = mu if mu > 0.0 else None
        return Contact(name, normal=normal, friction=friction, restitution=e, rest_speed=rest_speed)

    def feet(body, points):
        return [Point(f"{body}_{i}", "ground", body, point_b=p) for i, p in enumerate(points)]

    limits = [
        (-float(rng.uniform(0.3, 1.5)), float(rng.uniform(0.3, 1.5))) if rng.random() < 0.6 else None for _ in "abcd"
    ]
    forces = []

    def rub(name):
        if rng.random() < 0.4:
            forces.append(JointForce(f"rub_{name}", name, Friction(float(rng.uniform(0.01, 0.5)))))

    gravity, up, start = (0.0, -9.81, 0.0), (0.0, 1.0, 0.0), {}
    if kind == "box":
        a, b, c = rng.uniform(0.2, 0.6, 3)
        corners = [(x * a, y * b, z * c) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
        count = int(rng.integers(3, 9))
        some = [corners[i] for i in rng.permutation(8)[:count]]
        m = float(rng.uniform(0.5, 5.0))
        inertia = m / 3.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
        bodies, joints = [Body("box", m, (0, 0, 0), inertia)], [Free("base", "ground", "box")]
        loops = feet("box", some)
        gravity, up = (0.0, 0.0, -9.81), (0.0, 0.0, 1.0)
    elif kind == "block":
        a, b = float(rng.uniform(0.1, 0.5)), float(rng.uniform(0.2, 1.0))
        m = float(rng.uniform(0.5, 5.0))
        bodies = [Body("block", m, (0, 0, 0), (m * (a * a + b * b) / 3.0,) * 3)]
        joints = [Planar("base", "ground", "block")]
        loops = feet("block", [(-a, -b, 0), (a, -b, 0), (-a, b, 0), (a, b, 0)][: int(rng.integers(2, 5))])
    elif kind == "stack":
        bodies, joints, loops = [], [], []
        for i in range(int(rng.integers(2, 4))):
            m = float(rng.uniform(0.5, 3.0))
            bodies.append(Body(f"part{i}", m, (0, 0, 0), (0.02 * m,) * 3))
            joints.append(Planar(f"base{i}", "ground", f"part{i}"))
            below = f"part{i - 1}" if i else "ground"
            height = 0.2 if i else 0.0
            for k, x in enumerate((-0.2, 0.2)):
                loops.append(Point(f"part{i}_{k}", below, f"part{i}", (0, height, 0), (x, -0.2, 0)))
            start |= {f"base{i}_y": 0.4 * i}
    elif kind == "biped":
        bodies = [Body("trunk", 20.0, (0, 0.15, 0), (0.6, 0.6, 0.6))]
        joints, loops = [Planar("base", "ground", "trunk")], []
        for s, way in (("l", 1.0), ("r", -1.0)):
            bodies += [Body.rod(f"thigh_{s}", 2.0, 0.4), Body.rod(f"shank_{s}", 1.0, 0.4)]
            joints += [
                Revolute(f"hip_{s}", "trunk", f"thigh_{s}", damping=5.0),
                Revolute(
                    f"knee_{s}", f"thigh_{s}", f"shank_{s}", frame=Frame((0.4, 0, 0)), damping=5.0, limits=limits[0]
                ),
            ]
            loops += feet(f"shank_{s}", [(0.4, 0, 0)])
            start |= {
                f"hip_{s}": -np.pi / 2 + way * float(rng.uniform(0.1, 0.4)),
                f"knee_{s}": float(rng.uniform(-0.2, 0.2)),
            }
            rub(f"knee_{s}")
    elif kind == "chain":
        n = int(rng.integers(2, 4))
        bodies, joints, loops = [Body.rod("link0", 1.0, 0.5)], [Planar("base", "ground", "link0")], []
        loops += feet("link0", [(0, 0, 0), (0.5, 0, 0)])
        for i in range(1, n):
            bodies.append(Body.rod(f"link{i}", float(rng.uniform(0.3, 2.0)), 0.5))
            joints.append(Revolute(f"joint{i}", f"link{i - 1}", f"link{i}", frame=Frame((0.5, 0, 0)), limits=limits[i]))
            loops += feet(f"link{i}", [(0.5, 0, 0)])
            rub(f"joint{i}")
    else:  # a floating four-bar on two feet
        bodies = [Body.rod(n, float(rng.uniform(0.5, 2.0)), 0.5) for n in ("base", "left", "right", "top")]
        joints = [
            Planar("foot", "ground", "base"),
            Revolute("left", "base", "left", damping=0.2),
            Revolute("right", "base", "right", frame=Frame((0.5, 0, 0)), damping=0.2),
            Revolute("top", "left", "top", frame=Frame((0.5, 0, 0)), damping=0.2),
        ]
        loops = [PointOnLine("pin", "right", "top", (0.5, 0, 0), (0.5, 0, 0)), *feet("base", [(0, 0, 0), (0.5, 0, 0)])]
        start |= {"left": 1.2, "right": 1.2, "top": -1.2}
        rub("left")
    own = {point.name for point in loops if isinstance(point, Point)}
    plant = Mechanism(kind, bodies, joints, loops, forces=forces, gravity=gravity)
    free = plant.without(*own)
    q = plant.neutral()
    for name, value in start.items():
        q[plant.position_names.index(name)] = value
    q = free.close(q) if free.row_names else q
    contacts = [contact(name, up) for name in sorted(own)]
    v = np.zeros(plant.nv)
    if kind == "stack":
        v[[plant.velocity_names.index(f"base{i}_vx") for i in range(len(bodies))]] = rng.uniform(-0.5, 0.5, len(bodies))
        q[plant.position_names.index("base0_y")] += 0.2
        for i in range(1, len(bodies)):
            q[plant.position_names.index(f"base{i}_y")] += 0.2 + 0.05 * i
        return cmb, plant, contacts, q, v
    # turned, and lifted until the lowest point is above the floor
    if kind == "box":
        turn = rng.standard_normal(4) if rng.random() < 0.7 else np.array([1.0, 0.0, 0.0, 0.0])
        q[:4] = turn / np.linalg.norm(turn)
        v[:] = rng.uniform(-1.0, 1.0, 6) if rng.random() < 0.7 else 0.0
    else:
        angle = next(n for n in plant.position_names if n.endswith("_angle"))
        level = rng.random() < 0.4
        q[plant.position_names.index(angle)] += 0.0 if level else float(rng.uniform(-0.5, 0.5))
        v[:3] = rng.uniform(-1.0, 1.0, 3) if rng.random() < 0.6 else 0.0
    if free.row_names:
        v = free.project_velocity(q, v)
    lowest = min(float(np.dot(up, plant.residual(q)[plant.row_slices[name]])) for name in own)
    axis = plant.position_names.index("base_z" if kind == "box" else "foot_y" if kind == "four-bar" else "base_y")
    q[axis] += float(rng.choice([0.0, rng.uniform(0.0, 0.2)])) - lowest
    return cmb, plant, contacts, q, v


def run_trial(seed, impacts="simultaneous", state=None, until=None):
    """(outcome, words) of a seed; of a part of it, from a state (q, v) on, or up to a time, s."""
    cmb, plant, contacts, q, v = drawing(seed)
    q, v = state or (q, v)
    exact = "exact" if plant.forces else "smooth"
    ends = [] if until is None else [cmb.Event(lambda t, q, v: t - until, "end", terminal=True)]
    try:
        run = cmb.simulate(
            plant, None, q, v, t_end=T_END, switches=contacts, friction=exact, impacts=impacts, events=ends
        )
    except cmb.CmbError as error:
        status = getattr(getattr(error, "partial", None), "status", None)
        if isinstance(error.__cause__, cmb.errors.PainleveError) or status == cmb.errors.Status.PAINLEVE:
            return "painleve", ""
        return "refused", " ".join(str(error).split())[:400]
    energy = run.data.energy.values if "energy" in run.data else None
    size, least, weight = plant.size, 0.0, 9.81 * float(sum(body.mass for body in plant.bodies))
    up = contacts[0].normal
    for row in run.q.values:
        phi = plant.residual(row)
        least = min(least, *(float(np.dot(up, phi[plant.row_slices[c.name]])) for c in contacts))
    if least < -SUNK * size:
        return "wrong", f"sunk in by {-least:.2e} m"
    losses = [event["loss"] for event in run.events() if event["kind"] != "end"]
    if losses and min(losses) < -GROWN * weight * size:
        return "wrong", f"an event makes energy, {min(losses):.2e} J"
    if energy is not None and np.diff(energy).max(initial=0.0) > GROWN * (np.ptp(energy) + weight * size):
        return "wrong", f"energy grows by {np.diff(energy).max():.2e} J"
    if run.max_energy_error > 1e-6 * weight * size:
        return "wrong", f"energy error {run.max_energy_error:.1e} J"
    return "ok", f"{len(run.events())} events"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--impacts", default="simultaneous", help="or sequential")
    given = parser.parse_args(arguments)
    trial = functools.partial(run_trial, impacts=given.impacts)
    counts, bad = collections.defaultdict(collections.Counter), 0
    for seed, answer in workers.each(trial, range(given.seed, given.seed + given.count), given.jobs, 120.0):
        outcome, words = (answer.outcome, answer.text) if isinstance(answer, workers.Failed) else answer
        counts[KINDS[seed % len(KINDS)]][outcome] += 1
        counts["all"][outcome] += 1
        if outcome not in ("ok", "painleve"):
            bad += 1
            print(f"seed {seed} ({KINDS[seed % len(KINDS)]}): {outcome}: {words}", flush=True)
    for kind, found in sorted(counts.items()):
        print(f"{kind:<12}", dict(found))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
