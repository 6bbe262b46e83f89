"""Random machines from one integer each: all joints and loops, closed by construction, in classes that are hard.

`machine(seed)` is plain data for the judge (`judge.Machine`); `build` makes the package's Mechanism of it. Machines are
made about unit size first, closed by the judge's kinematics, and then dressed: turned in the world, with other axes on
every body, in other units, with springs, dampers and motors.
"""

from __future__ import annotations

import math

import numpy as np

from . import judge
from .judge import Joint, Machine, Motor, Spring, Tie, pose

LINEAR = {"revolute": 1, "prismatic": 1, "helical": 1, "cylindrical": 2, "universal": 2}  # plain coordinates
ROWS = {"revolute": 5, "prismatic": 5, "helical": 5, "cylindrical": 4, "universal": 4, "planar": 3, "spherical": 3,
        "fixed": 6, "weld": 6, "point": 3, "line": 2, "plane": 1, "distance": 1, "coupling": 1}  # fmt: skip
JOINTS = [k for k in judge.COORDINATES]
CUTS = [k for k in judge.COORDINATES if k != "free"]


def direction(rng):
    x = rng.standard_normal(3)
    return x / np.linalg.norm(x)


def rotation(axis, angle):
    a = np.asarray(axis, float) / np.linalg.norm(axis)
    K = judge.cross_matrix(a)
    return np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * K @ K


def random_rotation(rng):
    return rotation(direction(rng), rng.uniform(-np.pi, np.pi))


def frame(rng, reach=0.5):
    return pose(random_rotation(rng), rng.uniform(-reach, reach, 3))


def at(x, y=0.0, z=0.0, R=None):
    return pose(np.eye(3) if R is None else R, np.array([x, y, z], float))


def proper(T):
    """Rounded to double, its rotation as orthogonal as that allows."""
    R = np.asarray(T[:3, :3], float)
    for _ in range(2):
        R = 0.5 * R @ (3.0 * np.eye(3) - R.T @ R)
    return pose(R, np.asarray(T[:3, 3], float))


class Maker:
    """A machine under construction, at unit size."""

    def __init__(self, rng):
        self.rng = rng
        self.bodies, self.joints, self.loops, self.q = {}, [], [], []
        self.label = ""

    def inertia(self, mass):
        """Of five random point masses about their centre: com and inertia."""
        m, x = self.rng.uniform(0.1, 0.5, 5), self.rng.uniform(-0.4, 0.4, (5, 3))
        m *= mass / m.sum()
        com = m @ x / mass
        r = x - com
        return com, sum(mi * (ri @ ri * np.eye(3) - np.outer(ri, ri)) for mi, ri in zip(m, r, strict=True))

    def add(self, kind, parent, name=None, fa=None, fb=None, x=None, mass=None, **more):
        """A body on a joint; returns its name."""
        rng = self.rng
        name = name or f"b{len(self.bodies)}"
        mass = rng.uniform(0.3, 2.0) if mass is None else mass
        com, inertia = self.inertia(mass) if mass else (np.zeros(3), np.zeros((3, 3)))
        self.bodies[name] = mass, com, inertia
        fa = at(0) if fa is None else fa
        fb = at(0) if fb is None else fb
        self.joints.append(Joint(kind, f"j_{name}", parent, name, fa, fb, **more))
        if x is None:
            x = random_position(rng, kind)
        self.q.append(np.asarray(x, float))
        return name

    def finished(self):
        q = np.concatenate([np.zeros(0), *self.q])
        return Machine("", dict(self.bodies), list(self.joints), list(self.loops), q=q, label=self.label)

    def seen(self, a, b):
        """Configuration of b from a, at the configuration of now."""
        m = self.finished()
        found = judge.poses(m, m.q, np.zeros((1, m.nv)))
        return judge.inverse((found[a][0],) * 3)[0] @ found[b][0]

    def cut(self, kind, a, b, fb=None, x=None, name=None, **more):
        """A cut joint between a and b, closed here at joint coordinates x: its frame on a follows."""
        rng = self.rng
        fb = at(0) if fb is None else fb
        j = Joint(kind, name or f"loop{len(self.loops)}", a, b, None, fb, **more)
        x = random_position(rng, kind) if x is None else np.asarray(x, float)
        X = judge.joint_motion(j, judge.Plain.array(x), judge.Plain.zeros((1, judge.COORDINATES[kind][1])))
        j.fa = proper(self.seen(a, b) @ fb @ judge.inverse(X)[0])
        self.loops.append(j)
        return j

    def tie(self, kind, a, b, pb=None, fb=None, name=None):
        """A point, line, plane, distance or weld, closed here."""
        rng = self.rng
        T = self.seen(a, b)
        name = name or f"loop{len(self.loops)}"
        if kind == "weld":
            fb = frame(rng) if fb is None else fb
            self.loops.append(Tie("weld", name, a, b, fa=proper(T @ fb), fb=fb))
            return
        pb = rng.uniform(-0.5, 0.5, 3) if pb is None else np.asarray(pb, float)
        here = np.asarray((T @ np.append(pb, 1.0))[:3], float)
        axis, length = direction(rng), 0.0
        if kind == "line":
            here = here + rng.uniform(-0.5, 0.5) * axis
        elif kind == "plane":
            here = here + np.cross(axis, rng.uniform(-0.5, 0.5, 3))
        elif kind == "distance":
            way = rng.uniform(0.3, 1.2) * direction(rng)
            here, length = here + way, float(np.linalg.norm(way))
        self.loops.append(Tie(kind, name, a, b, pa=here, pb=pb, axis=axis, length=length))

    def rod(self, a, b, pa, pb, name=None):
        """A massless rod between two points that are given."""
        T = self.seen(a, b)
        d = (T @ np.append(np.asarray(pb, float), 1.0))[:3] - np.asarray(pa, float)
        length = float(np.sqrt(d @ d))
        self.loops.append(Tie("distance", name or f"loop{len(self.loops)}", a, b, pa=np.asarray(pa, float),
                              pb=np.asarray(pb, float), length=length))  # fmt: skip

    def couple(self, *coordinates, coefficients=None):
        """A coupling of coordinates (joint, which), closed here."""
        m = self.finished()
        c = self.rng.uniform(0.5, 2.0, len(coordinates)) if coefficients is None else coefficients
        c = dict(zip(coordinates, c, strict=True))
        value = sum(x * m.q[m.slices[j][0].start + i] for (j, i), x in c.items())
        self.loops.append(Tie("coupling", f"loop{len(self.loops)}", coefficients=c, offset=float(value)))


def random_position(rng, kind):
    n, _ = judge.COORDINATES[kind]
    if kind in ("spherical", "free"):
        x = np.append(0.5, rng.standard_normal(3) * 0.7)
        return np.concatenate([x / np.linalg.norm(x), rng.uniform(-0.5, 0.5, n - 4)])
    return rng.uniform(-1.2, 1.2, n)


def random_axes(rng, kind):
    """Axis, second axis and pitch, as the joint takes them."""
    more = {}
    if kind in ("revolute", "prismatic", "helical", "cylindrical", "planar", "universal"):
        more["axis"] = direction(rng)
    if kind == "universal":
        more["axis2"] = np.cross(more["axis"], direction(rng))
        more["axis2"] /= np.linalg.norm(more["axis2"])
    if kind == "helical":
        more["pitch"] = float(rng.choice([-1.0, 1.0]) * rng.uniform(0.05, 0.3))
    return more


# -- classes --------------------------------------------------------------------------------------------------


def grow(b, bodies, kinds=JOINTS, massless=0.0):
    """A random tree."""
    rng, names = b.rng, ["ground"]
    for i in range(bodies):
        kind = str(rng.choice(kinds))
        parent = names[rng.integers(max(0, len(names) - 3), len(names))]
        mass = 0.0 if i < bodies - 1 and rng.random() < massless else None
        names.append(b.add(kind, parent, fa=frame(rng), fb=frame(rng), mass=mass, **random_axes(rng, kind)))
    return names


def path_freedom(b, first, second):
    carrier = {j.child: j for j in b.joints}

    def path(x):
        found = set()
        while x != "ground":
            found.add(carrier[x].name)
            x = carrier[x].parent
        return found

    on = path(first) ^ path(second)
    return sum(judge.COORDINATES[j.kind][1] for j in b.joints if j.name in on)


def random_loop(b, names, kinds=tuple(ROWS)):
    """A loop of a random kind between two bodies that it leaves some freedom, mostly."""
    rng = b.rng
    pairs = [(x, y) for x in names for y in names if x != y]
    for _ in range(30):
        kind = str(rng.choice(kinds))
        if kind == "coupling":
            plain = [(j.name, i) for j in b.joints for i in range(LINEAR.get(j.kind, 0))]
            if len(plain) >= 2:
                b.couple(*[plain[i] for i in rng.permutation(len(plain))[: rng.integers(2, 4)]])
                return
            continue
        pair = pairs[rng.integers(len(pairs))]
        if path_freedom(b, *pair) <= ROWS[kind] and rng.random() > 0.03:
            continue
        if kind in judge.COORDINATES:
            b.cut(kind, *pair, fb=frame(rng), **random_axes(rng, kind))
        else:
            b.tie(kind, *pair)
        return


def general(b):
    names = grow(b, int(b.rng.integers(2, 7)))
    for _ in range(b.rng.integers(1, 4)):
        random_loop(b, names)


def massless(b):
    names = grow(b, int(b.rng.integers(3, 7)), massless=0.5)
    carrying = {j.parent for j in b.joints}
    for name, (mass, _, _) in b.bodies.items():
        if mass == 0.0 and name not in carrying:  # with nothing behind it, it could not be accelerated
            b.bodies[name] = 0.5, *b.inertia(0.5)
    for _ in range(b.rng.integers(1, 3)):
        random_loop(b, names)


def doubled(b):
    """The same loop twice; the second time perhaps in another form that holds the same or less."""
    rng = b.rng
    names = grow(b, int(rng.integers(2, 6)))
    random_loop(b, names, [k for k in ROWS if k != "coupling"])
    if not b.loops:
        return
    loop = b.loops[0]
    if isinstance(loop, Joint) and rng.random() < 0.6:
        fb = loop.fb
        less = {"revolute": ["cylindrical", "point"], "fixed": ["weld", "revolute", "prismatic", "helical"],
                "prismatic": ["cylindrical"], "spherical": ["point"], "universal": ["spherical"]}  # fmt: skip
        for kind in less.get(loop.kind, []):
            if kind == "weld":
                b.tie("weld", loop.parent, loop.child, fb=fb)
            elif kind == "point":
                b.tie("point", loop.parent, loop.child, pb=fb[:3, 3])
            else:
                keep = {"axis": loop.axis, "pitch": 0.2 if kind == "helical" else 0.0}
                x = np.zeros(judge.COORDINATES[kind][0])
                if kind == "spherical":
                    x = [1.0, 0, 0, 0]
                b.cut(kind, loop.parent, loop.child, fb=fb, x=x, **keep)
            break
    twin = Joint(**vars(loop)) if isinstance(loop, Joint) else Tie(**vars(loop))
    twin.name = "twin"
    b.loops.append(twin)


def pendulum_on(b, *bodies):
    """Now and then an arm on one of the bodies."""
    rng = b.rng
    if rng.random() < 0.35:
        kind = str(rng.choice(["revolute", "prismatic", "universal", "spherical"]))
        on = str(rng.choice(bodies))
        b.add(kind, on, "arm", fa=frame(rng), fb=frame(rng), **random_axes(rng, kind))


def chain(b, lengths, angles, start=(0.0, 0.0), prefix="c", slides=()):
    """Hinged links in the x-y plane from the ground; the angles are relative. Returns the names."""
    names, parent, x = [], "ground", at(*start)
    for i, (length, angle) in enumerate(zip(lengths, angles, strict=True)):
        if i in slides:
            way = b.rng.uniform(-np.pi, np.pi)
            fa = x if parent == "ground" else x @ at(0, R=rotation((0, 0, 1), angle))
            name = b.add("prismatic", parent, f"{prefix}{i}", fa=fa, axis=(math.cos(way), math.sin(way), 0.0))
        else:
            name = b.add("revolute", parent, f"{prefix}{i}", fa=x, x=[angle])
        names.append(name)
        parent, x = name, at(length)
    return names


PLANAR_CUTS = ["revolute", "revolute", "revolute", "line", "cylindrical", "spherical", "point", "planar_pair"]


def close_plane(b, a, c, p, kind):
    """A hinge in the x-y plane between a and c at the point p of c, in one of its forms."""
    if kind == "line":
        T = b.seen(a, c)
        here = np.asarray((T @ np.append(p, 1.0))[:3], float)
        axis = np.asarray(T[:3, :3] @ np.array([0, 0, 1.0]), float)
        b.loops.append(Tie("line", f"loop{len(b.loops)}", a, c, pa=here, pb=np.asarray(p, float), axis=axis))
    elif kind == "point":
        b.tie("point", a, c, pb=p)
    elif kind == "planar_pair":
        b.cut("planar", a, c, fb=at(*p))
        close_plane(b, a, c, p, "line")
    else:
        b.cut(kind, a, c, fb=at(*p))


def planar(b):
    """Planar linkages closed by hinges of space, by points, by lines."""
    rng = b.rng
    n = int(rng.integers(3, 6))
    slides = {int(rng.integers(1, n))} if rng.random() < 0.35 else set()
    names = chain(b, rng.uniform(0.4, 1.5, n), rng.uniform(-2.0, 2.0, n), slides=slides)
    close_plane(
        b, "ground", names[-1], (rng.uniform(0.4, 1.2), rng.uniform(-0.3, 0.3), 0.0), str(rng.choice(PLANAR_CUTS))
    )
    if rng.random() < 0.4:  # a second loop: a branch of two links back to a link of the first
        more = chain(b, rng.uniform(0.4, 1.5, 2), rng.uniform(-2.0, 2.0, 2), start=rng.uniform(-1, 1, 2), prefix="d")
        other = str(rng.choice(names[1:]))
        close_plane(b, other, more[-1], (rng.uniform(0.4, 1.2), 0.0, 0.0), str(rng.choice(PLANAR_CUTS)))
    pendulum_on(b, *names)


def sarrus(b):
    """Plates on two or three folding legs of parallel hinges."""
    rng = b.rng
    top = None
    ways = np.cumsum(rng.uniform(0.4, 1.2, int(rng.integers(2, 4))))
    for i, way in enumerate(ways):
        R = rotation((0, 0, 1), way) @ rotation((1, 0, 0), np.pi / 2)  # hinge axis horizontal
        base = pose(R, rng.uniform(-1, 1, 3) * [1, 1, 0.2])
        one = b.add("revolute", "ground", f"low{i}", fa=base, x=[rng.uniform(0.3, 1.0)])
        two = b.add("revolute", one, f"high{i}", fa=at(rng.uniform(0.5, 1)), x=[rng.uniform(0.5, 1.2)])
        if top is None:
            turned = -sum(q[0] for q in b.q[-2:])
            top = b.add(
                "revolute", two, "top", fa=at(rng.uniform(0.5, 1)), fb=pose(R, rng.uniform(-0.3, 0.3, 3)), x=[turned]
            )
        else:
            b.cut("revolute", top, two, fb=at(rng.uniform(0.5, 1)))
    pendulum_on(b, "top", "low0")
    b.label = "regular"


def bricard(b):
    """Line-symmetric Bricard linkage: three axes and their images by half a turn about a line."""
    rng = b.rng
    half = pose(np.diag([-1.0, -1.0, 1.0]), np.zeros(3))
    axes = [frame(rng, 1.0) for _ in range(3)]
    axes += [half @ T for T in axes]
    names, parent = [], "ground"
    for T in axes[:5]:  # all bodies have the world's axes here
        parent = b.add("revolute", parent, fa=T, fb=T, x=[0.0])
        names.append(parent)
    b.cut("revolute", "ground", names[-1], fb=axes[5], x=[0.0])
    pendulum_on(b, *names)
    b.label = "regular"


def bennett(b):
    """Bennett's linkage: four skew hinges, opposite sides alike, sides in proportion to the sines of their twists."""
    rng = b.rng
    while True:
        alpha, beta = rng.uniform(0.3, 1.4), rng.uniform(0.3, 1.4)
        if abs(alpha - beta) > 0.15:
            break
    a = rng.uniform(0.5, 1.2)
    sides = [(a, alpha), (a * math.sin(beta) / math.sin(alpha), beta)] * 2
    theta = rng.uniform(0.6, 2.4)
    ratio = math.sin(0.5 * (beta + alpha)) / math.sin(0.5 * (beta - alpha))
    second = 2.0 * math.atan(ratio / math.tan(0.5 * theta))
    parent, x = "ground", at(0)
    for i, (angle, side) in enumerate(zip((theta, second, -theta), sides, strict=False)):
        parent = b.add("revolute", parent, f"side{i}", fa=x, x=[angle])
        x = pose(rotation((1, 0, 0), side[1]), [side[0], 0.0, 0.0])
    # the fourth side is the ground: from its hinge to the origin by the last side
    last = pose(rotation((1, 0, 0), sides[3][1]), [sides[3][0], 0.0, 0.0])
    fa = judge.inverse((last,) * 3)[0]
    T = b.seen("ground", parent) @ x
    axis_off = float(np.abs((judge.inverse((fa,) * 3)[0] @ T)[[0, 1, 0, 1], [2, 2, 3, 3]]).max())
    b.cut("revolute", "ground", parent, fb=x, x=[0.0])
    pendulum_on(b, "side0", "side1")
    b.label = "regular"
    return axis_off


def rails(b):
    """A table on two to four parallel rails, with something on it."""
    rng = b.rng
    axis = direction(rng)
    b.add("prismatic", "ground", "table", fa=frame(rng), axis=axis)
    for _ in range(int(rng.integers(1, 4))):
        R = np.asarray(b.joints[0].fa[:3, :3])
        kind = str(rng.choice(["prismatic", "prismatic", "cylindrical"]))
        held = pose(random_rotation(rng), rng.uniform(-1, 1, 3))
        b.cut(kind, "ground", "table", fb=held, x=np.zeros(judge.COORDINATES[kind][0]), axis=held[:3, :3].T @ axis)
        del R
    if rng.random() < 0.5:
        b.add("revolute", "table", "swing", fa=frame(rng), fb=frame(rng), axis=direction(rng))
    pendulum_on(b, "table")
    b.label = "regular"


def shafts(b):
    """Shafts in two or three bearings each, geared to each other."""
    rng = b.rng
    count = int(rng.integers(1, 4))
    for i in range(count):
        bearing = str(rng.choice(["revolute", "revolute", "helical"]))
        axis = direction(rng)
        pitch = {"pitch": rng.uniform(0.1, 0.4)} if bearing == "helical" else {}
        name = b.add(bearing, "ground", f"shaft{i}", fa=frame(rng), axis=axis, x=[rng.uniform(-1, 1)], **pitch)
        for _ in range(int(rng.integers(1, 3))):
            held = pose(random_rotation(rng), rng.uniform(-1, 1) * axis)
            kind = "cylindrical" if bearing == "helical" else str(rng.choice(["revolute", "cylindrical"]))
            b.cut(kind, "ground", name, fb=held, x=np.zeros(judge.COORDINATES[kind][0]), axis=held[:3, :3].T @ axis)
        if i and rng.random() < 0.7:
            b.couple((f"j_shaft{i - 1}", 0), (f"j_shaft{i}", 0))
    pendulum_on(b, *[f"shaft{i}" for i in range(count)])
    b.label = "regular"


def parallelograms(b):
    """Two to four parallel bars of equal length with a coupler, hinges of space."""
    rng = b.rng
    count, length, angle = int(rng.integers(2, 5)), rng.uniform(0.5, 1.5), rng.uniform(0.3, 2.8)
    feet = rng.uniform(-1, 1, (count, 3)) * [1.0, 0.6, 0.3]
    feet[1, 0] = feet[0, 0] + 0.8  # not all in one place
    _parallel(b, feet, length, angle)
    pendulum_on(b, "top", "bar0")


def _parallel(b, feet, length, angle):
    for i, foot in enumerate(feet):
        b.add("revolute", "ground", f"bar{i}", fa=at(*foot), x=[angle])
        if i == 0:
            b.add("revolute", "bar0", "top", fa=at(length), x=[-angle])
        else:
            kind = str(b.rng.choice(["revolute", "revolute", "line", "cylindrical"]))
            close_plane(b, "top", f"bar{i}", (length, 0.0, 0.0), kind)


def slides(b):
    """A table carried twice by slides in one plane, or in space."""
    rng = b.rng
    space = rng.random() < 0.4
    n = 3 if space else 2

    def way():
        a = direction(rng) if space else np.array([math.cos(t := rng.uniform(0, 6.3)), math.sin(t), 0.0])
        return a / np.linalg.norm(a)

    first = [b.add("prismatic", "ground" if i == 0 else f"x{i - 1}", f"x{i}", axis=way()) for i in range(n)]
    legs = int(rng.integers(1, 3))
    for leg in range(legs):
        parent = "ground"
        for i in range(n - 1):
            parent = b.add("prismatic", parent, f"y{leg}{i}", axis=way())
        b.cut("prismatic", parent, first[-1], axis=way())
    if rng.random() < 0.4:
        b.add("revolute", first[-1], "swing", fa=frame(rng), fb=frame(rng), axis=direction(rng))


def held(b):
    """Bodies that are hinged and welded, or rigid trusses, with something that moves on them."""
    rng = b.rng
    if rng.random() < 0.5:
        b.add("revolute", "ground", "frame", fa=frame(rng), fb=frame(rng), axis=direction(rng))
        b.tie("weld", "ground", "frame")
        on = "frame"
    else:  # a triangle of two links, closed by a hinge of space
        names = chain(b, [1.0, 1.0], [rng.uniform(0.4, 1.2), rng.uniform(-2.4, -0.8)])
        close_plane(b, "ground", names[-1], (rng.uniform(0.6, 1.2), 0.0, 0.0), str(rng.choice(["revolute", "line"])))
        on = names[-1]
    if rng.random() < 0.75:
        kind = str(rng.choice(["revolute", "prismatic", "universal", "spherical", "planar"]))
        b.add(kind, on, "arm", fa=frame(rng), fb=frame(rng), **random_axes(rng, kind))


def rigid(b):
    """Loops that leave nothing."""
    rng = b.rng
    names = grow(b, int(rng.integers(1, 4)), [k for k in JOINTS if k not in ("fixed", "free")])
    for name in names[1:]:
        if rng.random() < 0.6:
            b.tie("weld", "ground", name)
        else:
            for _ in range(6):
                b.tie(str(rng.choice(["distance", "point", "distance"])), "ground", name)


def dead(b):
    """Structures that could move to first order only: stretched chains, platforms on rods through one point."""
    rng = b.rng
    kind = rng.integers(3)
    if kind == 0:  # two links stretched, or folded, between fixed hinges
        names = chain(b, [rng.uniform(0.5, 1.5)], [rng.uniform(-2, 2)])
        names.append(
            b.add("revolute", names[0], "far", fa=at(rng.uniform(0.5, 1.5)), x=[0.0 if rng.random() < 0.6 else np.pi])
        )
        close_plane(b, "ground", names[-1], (rng.uniform(1.6, 2.5), 0.0, 0.0), str(rng.choice(PLANAR_CUTS[:5])))
        top = names[-1]
    elif kind == 1:  # a planar platform on three rods whose lines meet, or are parallel
        top = b.add("planar", "ground", "top", x=rng.uniform(-0.5, 0.5, 3))
        T = np.asarray(b.seen("ground", top), float)
        meet = T[:3, 3] + np.array([*rng.uniform(-0.4, 0.4, 2), 0.0])
        for i in range(3):
            p = np.array([math.cos(2.1 * i), math.sin(2.1 * i), 0.0]) * rng.uniform(0.5, 1.0)
            here = T[:3, :3] @ p + T[:3, 3]
            foot = here + (here - meet) * rng.uniform(0.4, 1.5)
            b.rod("ground", top, foot, p)
    else:  # a point held by three rods in one plane
        top = b.add("prismatic", "ground", "s0", axis=(1, 0, 0), x=[0.2])
        top = b.add("prismatic", top, "s1", axis=(0, 1, 0), x=[-0.1])
        top = b.add("prismatic", top, "s2", axis=(0, 0, 1), x=[0.0])
        p = np.asarray(b.seen("ground", top)[:3, 3], float)
        for i in range(3):
            a = 2.1 * i + rng.uniform(-0.4, 0.4)
            b.rod("ground", top, p + rng.uniform(0.5, 1.5) * np.array([math.cos(a), math.sin(a), 0.0]), (0, 0, 0))
    pendulum_on(b, top)


def flat(b):
    """Chains with all links in one line: four-bars, five-bars, six-bars; most are singular, some are locked."""
    rng = b.rng
    n = int(rng.integers(3, 6))
    bent = [0.0 if rng.random() < 0.5 else np.pi for _ in range(n)]
    bent[0] = rng.uniform(-2, 2)
    names = chain(b, rng.uniform(0.4, 1.5, n), bent)
    close_plane(b, "ground", names[-1], (rng.uniform(0.4, 1.5), 0.0, 0.0), str(rng.choice(PLANAR_CUTS[:5])))
    pendulum_on(b, *names)


def flat_parallelogram(b):
    rng = b.rng
    count = int(rng.integers(2, 4))
    feet = np.zeros((count, 3))
    feet[:, 0] = np.cumsum(rng.uniform(0.4, 1.2, count))
    _parallel(b, feet, rng.uniform(0.5, 1.5), 0.0 if rng.random() < 0.5 else np.pi)
    pendulum_on(b, "top", "bar0")


def upright(b):
    """A chain whose end slides on a line, with all links across it: the slider-crank's singular configuration."""
    rng = b.rng
    n = int(rng.integers(2, 4))
    bent = [0.0 if rng.random() < 0.5 else np.pi for _ in range(n)]
    bent[0] = np.pi / 2
    names = chain(b, rng.uniform(0.4, 1.5, n), bent)
    p = (float(rng.uniform(0.4, 1.5)), 0.0, 0.0)
    T = b.seen("ground", names[-1])
    here = np.asarray((T @ np.append(p, 1.0))[:3], float)
    b.loops.append(Tie("plane", "slide", "ground", names[-1], pa=here, pb=np.asarray(p), axis=np.array([0, 1.0, 0])))
    pendulum_on(b, *names)


CLASSES = {  # and how often
    "general": (general, 5),
    "massless": (massless, 2),
    "doubled": (doubled, 3),
    "planar": (planar, 4),
    "sarrus": (sarrus, 1),
    "bricard": (bricard, 1),
    "bennett": (bennett, 1),
    "rails": (rails, 2),
    "shafts": (shafts, 2),
    "parallelograms": (parallelograms, 3),
    "slides": (slides, 2),
    "held": (held, 2),
    "rigid": (rigid, 1),
    "dead": (dead, 2),
    "flat": (flat, 2),
    "flat parallelogram": (flat_parallelogram, 2),
    "upright": (upright, 1),
}
_TURNS = [name for name, (_, often) in CLASSES.items() for _ in range(often)]


# -- dress ---------------------------------------------------------------------------------------------------


def reframed(m, rng):
    """The same machine with other axes and origins on every body and in the world; coordinates keep their meaning."""
    to = {name: frame(rng) for name in ["ground", *m.bodies]}

    def point(body, x):
        return to[body][:3, :3] @ np.asarray(x, float) + to[body][:3, 3]

    for name, (mass, com, inertia) in m.bodies.items():
        R = to[name][:3, :3]
        m.bodies[name] = mass, point(name, com) if mass else com, R @ inertia @ R.T
    for part in [*m.joints, *m.loops]:
        if isinstance(part, Joint) or part.kind == "weld":
            a, b = (part.parent, part.child) if isinstance(part, Joint) else (part.a, part.b)
            part.fa, part.fb = proper(to[a] @ part.fa), proper(to[b] @ part.fb)
        elif part.kind != "coupling":
            part.pa, part.pb = point(part.a, part.pa), point(part.b, part.pb)
            part.axis = to[part.a][:3, :3] @ np.asarray(part.axis, float)
    m.gravity = to["ground"][:3, :3] @ m.gravity


def scaled(m, k, mass, time):
    """The same machine in other units: lengths times k, masses times mass, times times time."""
    m.k, m.mass, m.time = k, mass, time
    m.bodies = {n: (a * mass, np.asarray(c) * k, i * mass * k * k) for n, (a, c, i) in m.bodies.items()}
    stretch = np.array([[1, 1, 1, k]] * 3 + [[1, 1, 1, 1.0]])
    for part in [*m.joints, *m.loops]:
        for key in ("fa", "fb"):
            if getattr(part, key, None) is not None:
                setattr(part, key, np.asarray(getattr(part, key), float) * stretch)
        if isinstance(part, Joint):
            part.pitch *= k
        else:
            part.pa, part.pb, part.length = np.asarray(part.pa) * k, np.asarray(part.pb) * k, part.length * k
    metres = m.metres()
    for part in m.loops:
        if not isinstance(part, Joint) and part.kind == "coupling":  # a travel divided by k
            part.coefficients = {
                (j, i): c / metres[m.slices[j][1].start + i] for (j, i), c in part.coefficients.items()
            }
    for j in m.joints:
        x = m.q[m.slices[j.name][0]]
        {"prismatic": x, "cylindrical": x[1:], "planar": x[:2], "free": x[4:]}.get(j.kind, x[:0])[:] *= k
    m.gravity = np.asarray(m.gravity) * k / time**2


def drives(m, rng):
    """Springs, dampers and motors, in the machine's units."""
    force = m.mass * m.k / m.time**2
    plain = [(j.name, i) for j in m.joints for i in range(LINEAR.get(j.kind, 0))]
    metres = dict(
        zip(((j.name, i) for j in m.joints for i in range(judge.COORDINATES[j.kind][1])), m.metres(), strict=True)
    )
    names = ["ground", *m.bodies]
    damped = rng.random() < 0.3
    if rng.random() < 0.4:
        for at_ in plain:
            if rng.random() < 0.4:
                unit = force * m.k / metres[at_] ** 2
                rest = rng.uniform(-1, 1) * metres[at_]
                damping = 0.3 * rng.random() * unit * m.time * damped
                m.springs.append(Spring(5.0 * rng.random() * unit, rest, damping, at=at_))
        if rng.random() < 0.5 and len(names) > 2:
            a, b = (str(x) for x in rng.choice(names, 2, replace=False))
            unit = force / m.k
            damping = 0.3 * rng.random() * unit * m.time * damped
            pa, pb = rng.uniform(-1, 1, (2, 3)) * m.k
            m.springs.append(Spring(5 * rng.random() * unit, 0.3 * m.k, damping, a, b, pa, pb))
    if damped:
        for j in m.joints:
            if j.kind in ("revolute", "helical"):
                j.damping = 0.2 * rng.random() * force * m.k * m.time
            elif j.kind == "prismatic":
                j.damping = 0.2 * rng.random() * force / m.k * m.time
    share = rng.choice([0.3, 0.6, 1.0])
    m.motors = [Motor(float(rng.uniform(0.5, 2.0)), at=at_) for at_ in plain if rng.random() < share]
    for loop in m.loops:
        if isinstance(loop, Joint) and loop.kind in ("revolute", "prismatic") and rng.random() < 0.2:
            m.motors.append(Motor(1.0, cut=loop.name))
    if rng.random() < 0.15 and len(names) > 2:
        a, b = (str(x) for x in rng.choice(names, 2, replace=False))
        m.motors.append(Motor(1.0, bodies=(a, b), axis=direction(rng)))


def machine(seed):
    """The machine of a seed."""
    kind = _TURNS[seed % len(_TURNS)]
    m, tries = None, 0
    while m is None or not m.nv:  # fixed joints alone move nothing
        rng = np.random.default_rng([11, seed, tries] if tries else [11, seed])
        b = Maker(rng)
        CLASSES[kind][0](b)
        m, tries = b.finished(), tries + 1
    listed = np.random.default_rng([14, seed])
    if listed.random() < 0.3:  # bodies and joints are listed in any order
        order = listed.permutation(len(m.joints))
        m.joints, m.q = [m.joints[i] for i in order], np.concatenate([b.q[i] for i in order])
        m.bodies = {n: m.bodies[n] for n in listed.permutation(list(m.bodies)).tolist()}
    m.name, m.gravity = f"{kind} {seed}", 9.81 * direction(rng) * (rng.random() < 0.9)
    if rng.random() < 0.3:  # light and heavy parts
        spread = 10.0 ** rng.uniform(-1.5, 1.5, len(m.bodies))
        m.bodies = {n: (x * s, c, i * s) for s, (n, (x, c, i)) in zip(spread, m.bodies.items(), strict=True)}
    if rng.random() < 0.7:
        reframed(m, rng)
    k = 1.0 if rng.random() < 0.5 else 10.0 ** rng.uniform(-6, 3)
    mass = 1.0 if rng.random() < 0.5 else 10.0 ** rng.uniform(-6, 6)
    time = float(rng.choice([1.0, math.sqrt(k)]))
    scaled(m, k, mass, time)
    drives(m, rng)
    return m


def kind_of(seed):
    return _TURNS[seed % len(_TURNS)]


# -- the package's machine -----------------------------------------------------------------------------------


def build(m, precision=None):
    """The Mechanism of the package."""
    import cmbcontrol as cmb

    def as_frame(T):
        return cmb.Frame(T[:3, 3], T[:3, :3])

    def joint(j, damped=True):
        more = {}
        if j.kind in ("revolute", "prismatic", "helical", "cylindrical", "planar", "universal"):
            more["axis"] = j.axis
        if j.kind == "universal":
            more["second_axis"] = j.axis2
        if j.kind == "helical":
            more["pitch"] = j.pitch
        if damped:
            more["damping"] = j.damping
        kind = getattr(cmb, j.kind.capitalize())
        return kind(j.name, j.parent, j.child, frame=as_frame(j.fa), child_frame=as_frame(j.fb), **more)

    kinds = {j.name: getattr(cmb, j.kind.capitalize()) for j in m.joints}

    def coordinate(at_):
        suffix = kinds[at_[0]].position_suffixes[at_[1]]
        return f"{at_[0]}_{suffix}" if suffix else at_[0]

    def loop(x):
        if isinstance(x, Joint):
            return joint(x, damped=False)
        match x.kind:
            case "weld":
                return cmb.Weld(x.name, x.a, x.b, as_frame(x.fa), as_frame(x.fb))
            case "coupling":
                return cmb.Coupling(x.name, {coordinate(at_): c for at_, c in x.coefficients.items()}, x.offset)
            case "distance":
                return cmb.Distance(x.name, x.a, x.b, x.pa, x.pb, x.length)
            case "line":
                return cmb.PointOnLine(x.name, x.a, x.b, x.pa, x.pb, x.axis)
            case "plane":
                return cmb.PointOnPlane(x.name, x.a, x.b, x.pa, x.pb, x.axis)
        return cmb.Point(x.name, x.a, x.b, x.pa, x.pb)

    def spring(i, s):
        if s.at is not None:
            return cmb.JointSpring(f"spring{i}", coordinate(s.at), s.stiffness, s.rest, s.damping)
        return cmb.PointSpring(f"spring{i}", s.a, s.b, s.pa, s.pb, s.stiffness, s.rest, s.damping)

    def motor(i, x):
        if x.at is not None:
            return cmb.Actuator(coordinate(x.at), f"motor{i}", gear=x.gear)
        if x.cut:
            return cmb.Actuator(x.cut, f"motor{i}", gear=x.gear)
        return cmb.Actuator(f"motor{i}", gear=x.gear, bodies=x.bodies, axis=x.axis)

    return cmb.Mechanism(
        m.name,
        [cmb.Body(n, *x) for n, x in m.bodies.items()],
        [joint(j) for j in m.joints],
        [loop(x) for x in m.loops],
        [spring(i, s) for i, s in enumerate(m.springs)],
        [motor(i, x) for i, x in enumerate(m.motors)],
        m.gravity,
        precision=precision,
    )
