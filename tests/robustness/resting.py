"""Random machines at rest on contacts and stops: python -m tests.robustness.resting --count N --seed S.

Stances stand on 1 to 8 points on ground of any shape, planar and spatial, with motors of limited effort at joints with
stops. What `trim` finds keeps all limits, is as cheap as the best that cvxpy finds, and stays at rest in a run; what it
refuses has no solution there. Chains, linkages, boxes and fingers fall, until they rest on floors and stops.
"""

from __future__ import annotations

import argparse
import collections
import sys
import warnings
from dataclasses import replace

import numpy as np

from . import workers

KINDS = ("stance", "chain", "space", "linkage", "stance", "box", "space", "finger")
SEARCHED = ("chain", "linkage", "box", "finger")
HELD = 0.25  # s: what stands unstably falls from rounding, too
MOVED = 1e-9
ROUGHER = 1.02  # least efforts often are on the border of a cone; the run has a little more friction
SURE = 1e-6  # of the weight: what the program of the judge keeps, or misses, by less, it does not judge


def drawing(seed):
    """(kind, machine, contacts, q0, arguments of trim) of a seed."""
    rng = np.random.default_rng([23, seed])
    kind = KINDS[seed % len(KINDS)]
    make = {"stance": stance, "space": stance, "chain": chain, "linkage": linkage, "box": box, "finger": finger}[kind]
    return kind, *make(rng, kind == "space")


def limits_of(rng):
    return tuple(np.sort(rng.uniform(-1.5, 1.5, 2)).tolist()) if rng.random() < 0.7 else None


def span(joint, otherwise):
    low, high = np.ravel((-np.inf, np.inf) if joint.limits is None else joint.limits)
    return (low, high) if np.isfinite(low) else (-otherwise, otherwise)


def stance(rng, space):
    """A floating trunk on legs, whose points touch ground that is made to be there."""
    from cmbcontrol import Actuator, Body, Contact, Frame, Free, Mechanism, Planar, Point, Revolute

    legs = int(rng.integers(2, 5 if space else 4))
    bodies = [Body("trunk", 10.0, rng.uniform(-0.05, 0.05, 3) * (1, 1, space), (0.4, 0.4, 0.4))]
    joints = [Free("base", "ground", "trunk") if space else Planar("base", "ground", "trunk")]
    values, motors, places = {}, [], []
    down = Frame.turned((0.0, 1.0, 0.0), np.pi / 2) if space else Frame.turned((0.0, 0.0, 1.0), -np.pi / 2)
    for i in range(legs):
        turn, name = 2.0 * np.pi * i / legs, f"leg{i}"
        hip = (0.3 * np.cos(turn), 0.3 * np.sin(turn), 0.0) if space else (0.5 * (i - 0.5 * (legs - 1)), 0.0, 0.0)
        bodies += [Body.rod(f"thigh{i}", float(rng.uniform(0.5, 2.0)), 0.4), Body.rod(f"shank{i}", 1.0, 0.4)]
        axis = (0.0, 0.0, 1.0) if not space else (0.0, float(rng.choice([-1, 1])), 0.0)
        joints += [
            Revolute(f"hip{i}", "trunk", f"thigh{i}", frame=Frame(hip) @ down, axis=axis, limits=limits_of(rng)),
            Revolute(f"knee{i}", f"thigh{i}", f"shank{i}", frame=Frame((0.4, 0, 0)), axis=axis, limits=limits_of(rng)),
        ]
        for joint in (f"hip{i}", f"knee{i}"):
            low, high = span(next(j for j in joints if j.name == joint), 0.6)
            where = rng.random()
            values[joint] = low if where < 0.15 else high if where < 0.3 else float(rng.uniform(low, high))
            if rng.random() < 0.85:
                motors.append(Actuator(joint, effort=float(rng.choice([np.inf, rng.uniform(1.0, 40.0)]))))
        places += [(f"{name}_{k}", f"shank{i}", (0.4, 0.05 * k, 0.0)) for k in range(int(rng.integers(1, 3)))]
    bare = Mechanism("stance", bodies, joints, actuators=motors, gravity=(0, 0, -9.81) if space else (0, -9.81, 0))
    q = bare.pack(values)
    if not space:
        q[1:3] = rng.uniform(-0.2, 0.2, 2)
    if space:
        lean = np.append(1.0, 0.1 * rng.standard_normal(3))
        q[:4] = lean / np.linalg.norm(lean)
    feet, contacts, up = [], [], np.array([0.0, 0.0, 1.0] if space else [0.0, 1.0, 0.0])
    for name, body, point in places:
        pose = bare.pose(q, body)
        normal = up + 0.3 * rng.standard_normal(3) * (1.0, 1.0, float(space))
        feet.append(Point(name, "ground", body, pose.p + pose.R @ np.array(point), point))
        mu = float(rng.choice([0.0, rng.uniform(0.1, 0.5), rng.uniform(0.5, 1.5)], p=[0.1, 0.4, 0.5]))
        contacts.append(Contact(name, normal=normal, friction=mu))
    return bare.with_loops(*feet), contacts, q, {"limits": "hold"}


def chain(rng, _):
    """A hanging chain of links with stops, springs and a floor; some motors push with given efforts."""
    from cmbcontrol import Actuator, Body, Contact, Frame, JointSpring, Mechanism, PointOnPlane, Revolute

    n = int(rng.integers(1, 5))
    bodies = [Body.rod(f"link{i}", float(rng.uniform(0.3, 2.0)), 0.4) for i in range(n)]
    joints, springs, motors, u = [], [], [], {}
    for i in range(n):
        at = Frame((0.4, 0, 0)) if i else Frame()
        joints.append(Revolute(f"j{i}", f"link{i - 1}" if i else "ground", f"link{i}", frame=at, limits=limits_of(rng)))
        if rng.random() < 0.3:
            springs.append(
                JointSpring(f"spring{i}", f"j{i}", float(rng.uniform(0.5, 10.0)), float(rng.uniform(-1.0, 1.0)))
            )
        if rng.random() < 0.3:
            motors.append(Actuator(f"j{i}"))
            u[f"j{i}"] = float(rng.uniform(-5.0, 5.0))
    q = np.array([float(rng.uniform(*span(joint, 1.0))) for joint in joints])
    loops, contacts = [], []
    if rng.random() < 0.5:
        bare = Mechanism("chain", bodies, joints, gravity=(0, -9.81, 0))
        ends = [bare.pose(q, f"link{i}") for i in range(n)]
        low = min(float((pose.p + pose.R @ (0.4, 0, 0))[1]) for pose in ends)
        floor = min(low, 0.0) - float(rng.uniform(0.0, 0.3))
        mu = float(rng.uniform(0.1, 1.0)) if rng.random() < 0.5 else None
        for i in range(n):
            loops.append(PointOnPlane(f"tip{i}", "ground", f"link{i}", (0, floor, 0), (0.4, 0, 0), (0, 1, 0)))
            contacts.append(Contact(f"tip{i}", friction=mu))
    plant = Mechanism("chain", bodies, joints, loops, springs=springs, actuators=motors, gravity=(0, -9.81, 0))
    return plant, contacts, q, {"limits": "hold", "free": "all", "stable": True, "u": u or None}


def linkage(rng, _):
    """A four-bar with stops and springs."""
    from cmbcontrol import Body, Frame, JointSpring, Mechanism, Point, Revolute

    # d - a >= b - c and d + a <= b + c: the crank turns round
    a, b, c, d = rng.uniform(0.2, 0.3), rng.uniform(0.5, 0.7), rng.uniform(0.5, 0.6), rng.uniform(0.6, 0.7)
    bodies = [Body.rod("crank", 1.0, a), Body.rod("rod", float(rng.uniform(0.5, 2.0)), b), Body.rod("lever", 1.0, c)]

    def joints(crank, lever):
        return [
            Revolute("crank", "ground", "crank", limits=crank),
            Revolute("rod", "crank", "rod", frame=Frame((a, 0, 0))),
            Revolute("lever", "ground", "lever", frame=Frame((d, 0, 0)), limits=lever),
        ]

    pin = Point("pin", "rod", "lever", (b, 0, 0), (c, 0, 0))
    bare = Mechanism("linkage", bodies, joints(None, None), [pin], gravity=(0, -9.81, 0))
    q = bare.assemble(crank=float(rng.uniform(-3.0, 3.0)), guess={"lever": 1.5, "rod": 0.5})
    room = rng.uniform(0.05, 1.0, 4)
    i, k = (bare.position_names.index(n) for n in ("crank", "lever"))
    crank = (q[i] - room[0], q[i] + room[1])
    lever = (q[k] - room[2], q[k] + room[3]) if rng.random() < 0.5 else None
    springs = [JointSpring("spring", "rod", float(rng.uniform(0.5, 5.0)), 0.5)] if rng.random() < 0.5 else []
    plant = Mechanism("linkage", bodies, joints(crank, lever), [pin], springs=springs, gravity=(0, -9.81, 0))
    return plant, [], q, {"limits": "hold", "free": "all", "stable": True}


def box(rng, _):
    """A block that falls on a floor that may be tilted, beside a wall."""
    from cmbcontrol import Body, Contact, Mechanism, Planar, Point, PointOnPlane

    a, b = float(rng.uniform(0.1, 0.5)), float(rng.uniform(0.1, 0.5))
    body = Body("block", 2.0, (float(rng.uniform(-0.5, 0.5)) * a, 0, 0), (0.2, 0.2, 0.2))
    corners = [(-a, -b, 0), (a, -b, 0), (a, b, 0), (-a, b, 0)]
    slope, mu = float(rng.choice([0.0, rng.uniform(-0.4, 0.4)])), float(rng.uniform(0.1, 1.0))
    up = (-np.sin(slope), np.cos(slope), 0.0)
    loops, contacts, flat = [], [], rng.random() < 0.5
    for i, corner in enumerate(corners):
        if flat:
            loops.append(PointOnPlane(f"corner{i}", "ground", "block", (0, 0, 0), corner, up))
            contacts.append(Contact(f"corner{i}", friction=mu))
        else:
            loops.append(Point(f"corner{i}", "ground", "block", (0, 0, 0), corner))
            contacts.append(Contact(f"corner{i}", friction=mu, normal=up))
        loops.append(PointOnPlane(f"wall{i}", "ground", "block", (-1, 0, 0), corner, (1, 0, 0)))
        loops.append(PointOnPlane(f"right{i}", "ground", "block", (1, 0, 0), corner, (-1, 0, 0)))
        contacts += [Contact(f"wall{i}"), Contact(f"right{i}")]
    plant = Mechanism("box", [body], [Planar("base", "ground", "block")], loops, gravity=(0, -9.81, 0))
    q = np.array([float(rng.uniform(-0.1, 0.1)), 1.5, float(rng.uniform(-1.5, 1.5))])
    return plant, contacts, q, {"limits": "hold", "free": "all", "stable": True}


def finger(rng, _):
    """Fingers that are coupled, on an arm: closed on their stops by motors or springs, as gripper files are."""
    from cmbcontrol import Actuator, Body, Coupling, Frame, JointSpring, Mechanism, Prismatic, Revolute

    bodies = [Body("arm", 1.0, (0.2, 0, 0), (0.01,) * 3)]
    bodies += [Body(n, 0.1, (0, 0.01, 0), (1e-4,) * 3) for n in ("left", "right")]
    at, both = Frame((0.4, 0, 0)), (0.0, 0.04)
    joints = [Revolute("shoulder", "ground", "arm", limits=(-0.5, 0.5))]
    joints += [Prismatic(n, "arm", n, axis=(0, s, 0), frame=at, limits=both) for n, s in (("left", 1), ("right", -1))]
    coupling = Coupling("mimic", {"left": 1.0, "right": -1.0})
    springs = (
        [JointSpring("spring", "left", 50.0, float(rng.choice([-0.02, 0.02, 0.06])))] if rng.random() < 0.5 else []
    )
    motors = [Actuator("left", effort=20.0), Actuator("shoulder", effort=float(rng.uniform(1.0, 8.0)))]
    plant = Mechanism("finger", bodies, joints, [coupling], springs=springs, actuators=motors, gravity=(0, -9.81, 0))
    grip = float(rng.uniform(-10.0, 10.0))
    q = plant.assemble(shoulder=float(rng.uniform(-0.5, 0.5)), left=float(rng.choice([0.0, 0.02, 0.04])))
    u = {"left": grip} | ({"shoulder": 0.0} if rng.random() < 0.5 else {})
    return plant, [], q, {"limits": "hold", "free": "all", "stable": True, "u": u}


def touching(plant, contacts, q):
    """(A, units, [(name, opening row of A, tangents, coefficient)]) of all that touches at q, by positions alone.

    Rows are made from those of the plant and of its coordinates, with no word of `Contact.direction`.
    """
    rows, found = plant.terms(q, np.zeros(plant.nv)).A, []
    residual, free = plant.residual(q), [name for name in plant.row_slices if name not in {c.name for c in contacts}]
    own = np.concatenate([np.zeros((0, plant.nv)), *(rows[plant.row_slices[name]] for name in free)])
    for contact in contacts:
        span, mu = plant.row_slices[contact.name], contact.friction
        block, gap = rows[span], residual[span]
        if len(block) == 3:
            n = np.asarray(contact.normal)
            if abs(n @ gap) < 1e-7:
                across = np.linalg.svd(n[None])[2][1:]
                found.append((contact.name, n @ block, across @ block, mu))
        elif abs(gap[0]) < 1e-7:
            part = next(loop for loop in plant.loops if loop.name == contact.name)
            along = np.zeros((0, plant.nv))
            if mu is not None:  # a point on a plane: its own Jacobian, by differences of poses
                along = np.cross(np.asarray(part.normal), jacobian(plant, q, part).T).T
            found.append((contact.name, contact.side * block[0], along, mu))
    for i, k in plant.paired:
        for side, limit in ((1.0, plant.limits[i, 0]), (-1.0, plant.limits[i, 1])):
            if abs(q[i] - limit) < 1e-7:
                found.append((plant.position_names[i], side * np.eye(plant.nv)[k], np.zeros((0, plant.nv)), None))
    return own, found


def jacobian(plant, q, part, h=1e-6):
    """Velocity (3, nv) of a point on body b, by central differences."""

    def place(q):
        pose = plant.pose(q, part.b)
        return pose.p + pose.R @ np.asarray(part.point_b)

    steps = h * np.eye(plant.nv)
    return np.array([(place(plant.integrate(q, s)) - place(plant.integrate(q, -s))) / (2.0 * h) for s in steps]).T


def judged(plant, contacts, q, given):
    """(margin, efforts): how far inside all limits forces can be, N, and the least efforts; None where there are none.

    A program of its own in cvxpy: B u = h + A' lam, forces p of contacts along their directions.
    """
    import cvxpy as cp

    terms = plant.terms(q, np.zeros(plant.nv))
    A, found = touching(plant, contacts, q)
    u, lam, margin = cp.Variable(plant.nu), cp.Variable(len(A)), cp.Variable()
    total, inside, whole = terms.h + A.T @ lam, [], []
    for _, normal, tangents, mu in found:
        push = cp.Variable()
        total = total - normal * push
        inside.append(push >= margin)
        if len(tangents) and (mu is None or mu > 0.0):
            slip = cp.Variable(len(tangents))
            total = total - tangents.T @ slip
            if mu is not None:
                inside.append(cp.norm(slip) <= mu * (push - margin))
    whole.append(total == terms.B @ u)
    for k, limit in enumerate(plant.effort):
        if np.isfinite(limit):
            inside.append(cp.abs(u[k]) <= limit - margin)
        if given and plant.actuator_names[k] in given:
            whole.append(u[k] == given[plant.actuator_names[k]])
    weight = 9.81 * sum(body.mass for body in plant.bodies)
    program = cp.Problem(cp.Maximize(margin), [*whole, *inside, margin <= weight])
    try:
        program.solve(solver="CLARABEL")
    except cp.SolverError:
        return np.nan, None
    if margin.value is None:
        return -np.inf, None
    sure = float(margin.value) / weight
    if sure < 0.0:
        return sure, None
    if not plant.nu:
        return sure, None
    program = cp.Problem(cp.Minimize(cp.sum_squares(u)), [*whole, *inside, margin == 0.0])
    for tolerance in (1e-11, 1e-8):  # whether it comes to the first depends on the rounding of the processor
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of a solution that is not as accurate: the status says it
            program.solve(solver="CLARABEL", tol_gap_abs=tolerance, tol_gap_rel=tolerance, tol_feas=tolerance)
        if program.status == cp.OPTIMAL:
            return sure, u.value
    return sure, None  # the least efforts are not known well enough to judge others by them


def run_trial(seed):
    """(outcome, words) of a seed."""
    import cmbcontrol as cmb

    kind, plant, contacts, q, arguments = drawing(seed)
    given = arguments.get("u")
    try:
        point = cmb.trim(plant, q, contacts=contacts, **arguments)
    except cmb.errors.EquilibriumError as error:
        if kind in SEARCHED:
            return "none", " ".join(str(error).split())[:300]
        sure, _ = judged(plant, contacts, q, given)
        words = f"margin {sure:.1e}: {' '.join(str(error).split())[:300]}"
        return ("wrong", f"refused, {words}") if sure > SURE else ("refused", words)
    gaps = [c.gap for c in point.report.contacts]
    if min(gaps, default=0.0) < -1e-9 * plant.size:
        return "wrong", f"a gap of {min(gaps):.2e}"
    sure, u = judged(plant, contacts, point.q, given)
    weight = 9.81 * sum(body.mass for body in plant.bodies)
    if sure < -SURE:
        return "wrong", f"cvxpy finds no forces, by {sure:.1e} of the weight"
    if u is not None and len(u) and not (np.linalg.norm(point.u) <= np.linalg.norm(u) * (1 + 1e-6) + 1e-6 * weight):
        return "wrong", f"efforts {np.linalg.norm(point.u):.9g}, the least are {np.linalg.norm(u):.9g}"
    idle = [c.name for c in point.report.contacts if c.state in ("border", "shares")]
    if idle:  # one that carries nothing opens in a run by rounding, and which ones share then is a matter of chance
        return "ok", f"margin {sure:.1e}, on {', '.join(point.report.carrying)}, idle {', '.join(idle)}"
    rougher = [replace(c, friction=ROUGHER * c.friction) if c.friction else c for c in contacts]
    run = cmb.simulate(plant, point.u, point.q, t_end=HELD, switches=rougher)
    moved = np.abs(run.q.values - point.q).max()
    left = [e["kind"] for e in run.events() if e["kind"].split()[0] in ("released", "impact")]
    if moved > MOVED or left:
        return "wrong", f"moves by {moved:.1e} in a run, margin {sure:.1e}, {left[:4]}"
    return "ok", f"margin {sure:.1e}, on {', '.join(point.report.carrying)}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--words", action="store_true", help="tell all outcomes")
    given = parser.parse_args(arguments)
    counts, bad = collections.defaultdict(collections.Counter), 0
    for seed, answer in workers.each(run_trial, range(given.seed, given.seed + given.count), given.jobs, 60.0):
        outcome, words = (answer.outcome, answer.text) if isinstance(answer, workers.Failed) else answer
        counts[KINDS[seed % len(KINDS)]][outcome] += 1
        counts["all"][outcome] += 1
        bad += outcome not in ("ok", "refused", "none")
        if given.words or outcome not in ("ok", "refused"):
            print(f"seed {seed} ({KINDS[seed % len(KINDS)]}): {outcome}: {words}", flush=True)
    for kind, found in sorted(counts.items()):
        print(f"{kind:<12}", dict(found))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
