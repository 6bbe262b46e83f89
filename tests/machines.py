"""Random machines: trees of all joint types, and loops that are closed at a chosen configuration.

The motion of a joint is written here a second time, from its definition, with `Frame` alone
(`joint_motion`); loops are closed with it, so that kernels and tests do not share their mistakes.
"""

import dataclasses

import numpy as np
from scipy.spatial.transform import Rotation

from cmbcontrol import plants
from cmbcontrol.kernels import tree
from cmbcontrol.model.elements import (
    GROUND,
    Actuator,
    Body,
    Coupling,
    Cylindrical,
    Distance,
    Fixed,
    Frame,
    Free,
    Helical,
    JointSpring,
    Planar,
    Point,
    PointOnLine,
    PointOnPlane,
    PointSpring,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
    Weld,
)
from cmbcontrol.model.mechanism import Mechanism

JOINTS = (Revolute, Prismatic, Helical, Cylindrical, Universal, Planar, Spherical, Free, Fixed)
LINEAR = (Revolute, Prismatic, Helical, Cylindrical, Universal)  # dq/dt = v
CUTS = (Revolute, Prismatic, Helical, Cylindrical, Universal, Planar, Spherical, Fixed)
LOOPS = (*CUTS, Point, PointOnLine, PointOnPlane, Distance, Weld, Coupling)
ROWS = {  # independent rows of each closure
    Revolute: 5,
    Prismatic: 5,
    Helical: 5,
    Cylindrical: 4,
    Universal: 4,
    Planar: 3,
    Spherical: 3,
    Fixed: 6,
    Point: 3,
    PointOnLine: 2,
    PointOnPlane: 1,
    Distance: 1,
    Weld: 6,
    Coupling: 1,
}


def name_of(kind):
    """For the ids of parametrized tests."""
    return kind.__name__ if isinstance(kind, type) else str(kind)


# -- random parts -----------------------------------------------------------------------------


def direction(rng):
    x = rng.standard_normal(3)
    return x / np.linalg.norm(x)


def frame(rng, reach=0.5):
    """A frame turned at random, with its origin within `reach`."""
    return Frame.turned(direction(rng), rng.uniform(-np.pi, np.pi), rng.uniform(-reach, reach, 3))


def body(rng, name):
    """The rigid body of five random point masses."""
    m, x = rng.uniform(0.1, 0.5, 5), rng.uniform(-0.4, 0.4, (5, 3))
    com = m @ x / m.sum()
    r = x - com
    inertia = sum(mi * (ri @ ri * np.eye(3) - np.outer(ri, ri)) for mi, ri in zip(m, r, strict=True))
    return Body(name, m.sum(), com, inertia)


def joint(rng, kind, name, parent, child, **more):
    """A joint of the given kind with random frames and axes."""
    keys = {"frame": frame(rng), "child_frame": frame(rng), **more}
    if kind in (Revolute, Prismatic, Helical, Cylindrical, Planar, Universal):
        keys["axis"] = direction(rng)
    if kind is Universal:
        keys["second_axis"] = np.cross(keys["axis"], direction(rng))
    if kind is Helical:
        keys["pitch"] = rng.choice([-1.0, 1.0]) * rng.uniform(0.05, 0.3)
    return kind(name, parent, child, **keys)


def tree_parts(seed, bodies=5, kinds=JOINTS, damped=False):
    """Keyword arguments of a Mechanism: a random tree with every kind in turn.

    Bodies and joints are listed in an order of their own, not from the ground outwards.
    """
    rng = np.random.default_rng(seed)
    order = [kinds[i] for i in rng.permutation(len(kinds))]
    names, joints = [GROUND], []
    for i in range(bodies):
        kind, child = order[i % len(order)], f"body{i}"
        parent = names[rng.integers(max(0, len(names) - 3), len(names))]
        damping = float(damped) * rng.uniform(0.1, 1.0, len(kind.velocity_suffixes))
        joints.append(joint(rng, kind, f"joint{i}", parent, child, damping=damping))
        names.append(child)
    return {
        "name": f"random tree {seed}",
        "bodies": [body(rng, names[1:][i]) for i in rng.permutation(bodies)],
        "joints": [joints[i] for i in rng.permutation(bodies)],
        "gravity": rng.uniform(-9.0, 9.0, 3),
    }


def random_tree(seed, bodies=5, kinds=JOINTS, **more):
    return Mechanism(**{**tree_parts(seed, bodies, kinds), **more})


def random_state(plant, seed, reach=1.2):
    """Configuration and velocity, neither small."""
    rng = np.random.default_rng([seed, 1])
    q = plant.integrate(plant.neutral(), rng.uniform(-reach, reach, plant.nv))
    return q, rng.uniform(-1.5, 1.5, plant.nv)


def admissible_state(plant, q, seed):
    """A velocity at q that the loops allow."""
    return q, plant.project_velocity(q, np.random.default_rng([seed, 2]).uniform(-1.5, 1.5, plant.nv))


# -- springs and actuators --------------------------------------------------------------------


def linear_coordinates(parts):
    """Coordinates that are plain numbers."""
    return [n for j in parts["joints"] if isinstance(j, LINEAR) for n in j.position_names]


def springs(parts, seed, damping=True):
    """A joint spring on every coordinate that can have one, and three point springs."""
    rng = np.random.default_rng([seed, 3])
    c = float(damping)
    names = [GROUND, *(b.name for b in parts["bodies"])]
    on_joints = [
        JointSpring(f"spring_{n}", n, rng.uniform(1, 9), rng.uniform(-1, 1), c * rng.uniform(0.1, 2))
        for n in linear_coordinates(parts)
    ]
    between = []
    for i in range(3):
        a, b = rng.choice(names, 2, replace=False)
        pa, pb = rng.uniform(-0.5, 0.5, (2, 3))
        numbers = rng.uniform(1, 9), rng.uniform(0.1, 1), c * rng.uniform(0.1, 2)
        between.append(PointSpring(f"spring{i}", str(a), str(b), pa, pb, *numbers))
    return on_joints + between


def actuators(parts, seed):
    """An actuator with a gear on every coordinate that can have one."""
    rng = np.random.default_rng([seed, 4])
    return [Actuator(n, f"motor_{n}", gear=rng.uniform(0.5, 2)) for n in linear_coordinates(parts)]


# -- loops ------------------------------------------------------------------------------------


def joint_motion(joint, x):
    """Pose of the child side of a joint in its frame on the parent, at joint coordinates x.

    Quaternions are replaced by rotation vectors: x is (rotation vector) for a spherical joint.
    """
    match joint:
        case Revolute():
            return Frame.turned(joint.axis, x[0])
        case Prismatic():
            return Frame(x[0] * joint.axis)
        case Helical():
            return Frame.turned(joint.axis, x[0], joint.pitch * x[0] * joint.axis)
        case Cylindrical():
            return Frame.turned(joint.axis, x[0], x[1] * joint.axis)
        case Universal():
            return Frame.turned(joint.axis, x[0]) @ Frame.turned(joint.second_axis, x[1])
        case Planar():
            e = np.linalg.svd(joint.axis[None])[2][1:]  # any two directions of the plane
            return Frame.turned(joint.axis, x[2], x[:2] @ e)
        case Spherical():
            return Frame.turned(x, np.linalg.norm(x))
        case Fixed():
            return Frame()
    raise TypeError(joint)


def freedom_between(plant, a, b):
    """Velocity coordinates on the path from body a to body b."""
    carrier = {j.child: j for j in plant.joints}

    def path(x):
        return {carrier[x].name} | path(carrier[x].parent) if x != GROUND else set()

    return sum(len(j.velocity_names) for j in plant.joints if j.name in path(a) ^ path(b))


def random_ends(plant, kind, rng):
    """Two bodies that can move enough for the loop not to be redundant, where there are such."""
    names = [GROUND, *sorted(x.name for x in plant.bodies)]
    pairs = [(a, b) for a in names for b in names if a != b]
    free = [freedom_between(plant, *pair) for pair in pairs]
    enough = [p for p, n in zip(pairs, free, strict=True) if n >= min(ROWS[kind] + 1, max(free))]
    return enough[rng.integers(len(enough))]


def loop_at(plant, q, kind, rng, name="loop", ends=None):
    """A closure of the given kind between two bodies that is closed at q."""
    if kind is Coupling:
        names = linear_coordinates({"joints": plant.joints})
        chosen = rng.choice(names, min(3, len(names)), replace=False)
        c = {str(n): rng.uniform(0.5, 2.0) for n in chosen}
        return Coupling(name, c, sum(x * q[plant.position_names.index(n)] for n, x in c.items()))
    a, b = ends or random_ends(plant, kind, rng)
    A, B = plant.pose(q, a), plant.pose(q, b)
    if kind in CUTS:
        cut = joint(rng, kind, name, a, b)
        x = rng.uniform(-1.0, 1.0, len(kind.velocity_suffixes))
        there = B.inverse() @ A @ cut.frame @ joint_motion(cut, x)
        return dataclasses.replace(cut, child_frame=there)
    if kind is Weld:
        held = frame(rng)
        return Weld(name, a, b, held, B.inverse() @ A @ held)
    pa, axis = rng.uniform(-0.5, 0.5, 3), direction(rng)
    target = A.p + A.R @ pa
    if kind is Distance:
        pb = rng.uniform(-0.5, 0.5, 3)
        return Distance(name, a, b, pa, pb, float(np.linalg.norm(B.p + B.R @ pb - target)))
    if kind is PointOnLine:
        target = target + 0.3 * A.R @ axis
    if kind is PointOnPlane:
        target = target + 0.3 * A.R @ np.cross(axis, direction(rng))
    pb = B.R.T @ (target - B.p)
    more = {PointOnLine: {"axis": axis}, PointOnPlane: {"normal": axis}}.get(kind, {})
    return kind(name, a, b, pa, pb, **more)


def again(loop):
    """The same closure, written a second time."""
    return dataclasses.replace(loop, name=f"{loop.name}_again")


def closed_machine(seed, loop_kinds, bodies=6, kinds=JOINTS, **more):
    """A random tree with loops of the given kinds; returns it with a configuration where they are closed."""
    return close_parts(tree_parts(seed, bodies, kinds), seed, loop_kinds, **more)


def close_parts(parts, seed, loop_kinds, twice=False, **more):
    """The machine of the given parts, with loops that are closed at the configuration returned with it."""
    parts = {**parts, **more}
    open_tree = Mechanism(**parts)
    q, _ = random_state(open_tree, seed)
    rng = np.random.default_rng([seed, 5])
    loops = [loop_at(open_tree, q, kind, rng, f"loop{i}") for i, kind in enumerate(loop_kinds)]
    if twice:
        loops += [again(loop) for loop in loops]
    return Mechanism(**parts, loops=loops), q


def reframed(plant, seed):
    """The same machine with other axes and origins on every body, and another world.

    Coordinates keep their meaning; only descriptions change.
    """
    rng = np.random.default_rng([seed, 6])
    to = {name: frame(rng).inverse() for name in [GROUND, *(b.name for b in plant.bodies)]}

    def point(body, x):
        return to[body].p + to[body].R @ x

    def moved_body(b):
        R = to[b.name].R
        return Body(b.name, b.mass, point(b.name, b.com), R @ b.inertia @ R.T)

    def moved(part):
        new = {}
        if hasattr(part, "child"):
            new = {"frame": to[part.parent] @ part.frame, "child_frame": to[part.child] @ part.child_frame}
        elif isinstance(part, Weld):
            new = {"frame_a": to[part.a] @ part.frame_a, "frame_b": to[part.b] @ part.frame_b}
        elif hasattr(part, "point_a"):
            new = {"point_a": point(part.a, part.point_a), "point_b": point(part.b, part.point_b)}
            new |= {key: to[part.a].R @ getattr(part, key) for key in ("axis", "normal") if hasattr(part, key)}
        return dataclasses.replace(part, **new)

    return Mechanism(
        plant.name,
        [moved_body(b) for b in plant.bodies],
        [moved(j) for j in plant.joints],
        [moved(loop) for loop in plant.loops],
        [moved(s) for s in plant.springs],
        plant.actuators,
        to[GROUND].R @ plant.gravity,
    )


# -- evaluation -------------------------------------------------------------------------------


@dataclasses.dataclass
class Kinematics:
    """Poses, screws, twists and bias accelerations of the kernel links."""

    R: np.ndarray
    p: np.ndarray
    S: np.ndarray
    V: np.ndarray
    A0: np.ndarray


def kinematics(plant, q, v):
    links = plant.arrays.links
    R, p = plant.link_poses(q)
    S, V, A0 = np.empty((plant.nv, 6)), np.empty((len(links), 6)), np.empty((len(links), 6))
    tree.joint_screws(links, R, p, S)
    tree.twists(links, S, v, V)
    tree.bias_accelerations(links, S, v, V, A0)
    return Kinematics(R, p, S, V, A0)


def link_accelerations(plant, q, v, vdot):
    """Spatial acceleration of every link at the world origin."""
    now = kinematics(plant, q, v)
    rate = np.empty_like(now.V)
    tree.twists(plant.arrays.links, now.S, vdot, rate)
    return rate + now.A0


def link_of(plant, body):
    return plant._compiled.link_of[body]


def rate_along(plant, q, v, function, h=1e-5):
    """Fourth-order central difference of function(q) while q moves with velocity v."""

    def at(s):
        return np.asarray(function(plant.integrate(q, s * h * v)))

    return (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * h)


def quaternion(R):
    """(w, x, y, z) of a rotation matrix."""
    return np.roll(Rotation.from_matrix(R).as_quat(), 1)


def skew(x):
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def cross_motion(V, S):
    """V x S for twists [angular; linear]."""
    return np.concatenate([np.cross(V[:3], S[:3]), np.cross(V[:3], S[3:]) + np.cross(V[3:], S[:3])])


def largest(x):
    return float(np.abs(x).max(initial=0.0))


def matched(found, truth):
    """Largest distance of two sets of eigenvalues, each of one to the nearest of the other that is left."""
    found, worst = list(found), 0.0
    assert len(found) == len(truth)
    for x in truth:
        k = int(np.argmin(np.abs(np.array(found) - x)))
        worst = max(worst, abs(found.pop(k) - x))
    return worst


def five_bar(load=0.0, **options):
    """The five-bar with a heavier left upper link: what a payload at its middle does."""
    plain = plants.five_bar(**options)
    bodies = [dataclasses.replace(b, mass=b.mass * (1.0 + load * (b.name == "left_upper"))) for b in plain.bodies]
    return Mechanism(plain.name, bodies, plain.joints, plain.loops, actuators=plain.actuators, gravity=plain.gravity)
