"""What two or more test files share: machines, states, laws, and oracles that judge them.

The motion of a joint is written here a second time, from its definition, with `Frame` alone
(`joint_motion`); loops are closed with it, so that kernels and tests do not share their mistakes.
One file for all of it, longer than others, so that nothing of it is written a second time elsewhere.
"""

import copy
import dataclasses
import functools
import importlib.util
import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from typer.testing import CliRunner

import cmbcontrol as cmb
from cmbcontrol import Constant, Sine, plants, trim
from cmbcontrol._progress import Reporter
from cmbcontrol.characteristics import DamperTable, Friction, GasSpring, Rope, SpringDamper, SpringTable, Strut
from cmbcontrol.controllers import (
    ConstrainedActuation,
    ConstraintForcePI,
    Controller,
    Evaluation,
    HybridMotionForce,
    MotionLaw,
    PassiveJoints,
    ProjectedInverseDynamics,
)
from cmbcontrol.controllers.controller import as_controller
from cmbcontrol.design import PoleRegion, sampled_pd_gains
from cmbcontrol.dynamics.acceleration import acceleration, forward_dynamics
from cmbcontrol.dynamics.forces import constraint_force
from cmbcontrol.errors import ModelError
from cmbcontrol.kernels import motion, tree
from cmbcontrol.kernels.layout import WORKS
from cmbcontrol.linear import LinearParametrization, NonlinearParametrization, TangentSpace
from cmbcontrol.linear.parametrization import as_parametrization
from cmbcontrol.linear.right_jacobian import group_joints, inverse_right_jacobian
from cmbcontrol.model.elements import (
    GROUND,
    Actuator,
    Body,
    Bushing,
    Coupling,
    CouplingForce,
    Cylindrical,
    Distance,
    DistanceMotion,
    Fixed,
    Frame,
    Free,
    FrictionOfLoad,
    Helical,
    JointForce,
    JointMotion,
    JointSpring,
    Load,
    Planar,
    Point,
    PointForce,
    PointMotion,
    PointOnLine,
    PointOnPlane,
    PointSpring,
    PoseMotion,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
    Weld,
)
from cmbcontrol.model.functions import FunctionPlant
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.model.terms import RANK_TOLERANCE
from cmbcontrol.papers import Report, ResultTable
from cmbcontrol.plants import catalogue
from cmbcontrol.plants.five_bar import configuration as five_bar_configuration
from cmbcontrol.plants.two_arms import configuration as two_arms_configuration
from cmbcontrol.sim.control import Control
from cmbcontrol.sim.engine import Engine
from cmbcontrol.sim.run import IntegratorState, Run

# Names of what is no function plant; said here, since collecting the tests builds no machine.
MECHANISMS = tuple(name for name in catalogue if name not in ("particle", "slider-crank"))
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


def script(path):
    """A file of Python that is in no package, as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def name_of(kind):
    """For the ids of parametrized tests."""
    return kind.__name__ if isinstance(kind, type) else str(kind)


def largest(x):
    return float(np.abs(x).max(initial=0.0))


# -- random machines: trees of all joint types, and loops that are closed at a chosen configuration --------


def direction(rng):
    x = rng.standard_normal(3)
    return x / np.linalg.norm(x)


def frame(rng, reach=0.5):
    """A frame turned at random, with its origin within `unit_lengths`."""
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
    rng, rotors = np.random.default_rng(seed), np.random.default_rng([seed, 41])
    order = [kinds[i] for i in rng.permutation(len(kinds))]
    names, joints = [GROUND], []
    for i in range(bodies):
        kind, child = order[i % len(order)], f"body{i}"
        parent = names[rng.integers(max(0, len(names) - 3), len(names))]
        damping = float(damped) * rng.uniform(0.1, 1.0, len(kind.velocity_suffixes))
        armature = float(damped and kind.velocity_suffixes == kind.position_suffixes) * rotors.uniform(0.1, 1.0)
        joints.append(joint(rng, kind, f"joint{i}", parent, child, damping=damping, armature=armature))
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


def joint_motion(joint, x):
    """Configuration of the child side of a joint in its frame on the parent, at joint coordinates x.

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


def motion_at(plant, q, kind, rng, name="motion"):
    """A prescribed motion of the given kind that begins at q, with a velocity and an acceleration."""
    if kind is JointMotion:
        held = {joint for loop in plant.loops for joint in getattr(loop, "coefficients", {})}
        coordinate = str(rng.choice([n for n in linear_coordinates({"joints": plant.joints}) if n not in held]))
        rates = rng.uniform(-1.0, 1.0, 2)
        return JointMotion(name, coordinate, position=q[plant.position_names.index(coordinate)], **rates_of(rates))
    a, b = random_ends(plant, {DistanceMotion: Distance, PointMotion: Point, PoseMotion: Weld}[kind], rng)
    A, B = plant.pose(q, a), plant.pose(q, b)
    if kind is PoseMotion:
        frames = frame(rng), frame(rng)
        there = (A @ frames[0]).inverse() @ B @ frames[1]
        position = np.concatenate([there.p, Rotation.from_matrix(there.R).as_rotvec()])
        return PoseMotion(name, a, b, *frames, position=position, **rates_of(rng.uniform(-1.0, 1.0, (2, 6))))
    pa, pb = rng.uniform(-0.5, 0.5, (2, 3))
    between = A.R.T @ (B.p + B.R @ pb - A.p) - pa
    if kind is PointMotion:
        return PointMotion(name, a, b, pa, pb, position=between, **rates_of(rng.uniform(-1.0, 1.0, (2, 3))))
    length = float(np.linalg.norm(between))
    return DistanceMotion(name, a, b, pa, pb, position=length, **rates_of(rng.uniform(-1.0, 1.0, 2)))


def rates_of(rates):
    return dict(zip(("velocity", "acceleration"), rates, strict=True))


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


def sprung_machine(seed, kinds, twice=False):
    parts = tree_parts(seed, bodies=6, damped=True)
    more = {"springs": springs(parts, seed), "actuators": actuators(parts, seed)}
    return close_parts(parts, seed, kinds, twice=twice, **more)


def force_elements(parts, seed):
    """Springs and dampers of each kind of characteristic on coordinates, between points and between frames."""
    rng, names = np.random.default_rng([seed, 43]), [b.name for b in parts["bodies"]]
    linear = linear_coordinates(parts)
    laws = [
        Friction(1.0, static=1.6, viscous=0.2, transition_rate=0.8, stribeck_rate=1.5),
        SpringTable([-2.0, -0.5, 0.4, 1.5], [-7.0, -1.0, 2.0, 4.0]) + DamperTable([-2.0, -0.3, 3.0], [-1.0, 0.0, 4.0]),
        lambda x, rate: np.sin(x) * (1.0 + 0.3 * rate**2) + 0.5 * np.arctan2(rate, 2.0) + 0.1 * np.sqrt(1.0 + x * x),
    ]
    found = [JointForce(f"force{i}", name, laws[i % 3]) for i, name in enumerate(linear[:4])]
    laws = [
        GasSpring(0.6, 3e5, 1e-5, 4e-5, exponent=1.3),
        Rope(0.05, 7.0, 0.4),
        Strut(9.0, 3.0, 0.2),
        SpringDamper(3.0, 0.2),
    ]
    for i, law in enumerate(laws):
        a, b = (["ground", *names][j] for j in rng.choice(len(names) + 1, 2, replace=False))
        found.append(PointForce(f"line{i}", a, b, law, rng.uniform(-0.5, 0.5, 3), rng.uniform(0.7, 0.9, 3)))
    frames = [Frame(rng.uniform(-0.3, 0.3, 3), Rotation.random(rng=rng).as_matrix()) for _ in range(2)]
    K, D = rng.uniform(-1.0, 1.0, (2, 6, 6))
    a, b = rng.choice(names, 2, replace=False)
    found.append(Bushing("mount", str(a), str(b), *frames, stiffness=K + K.T, damping=0.3 * D @ D.T))
    if seed % 2 and len(linear) > 1:  # no draw: what a seed gives stays
        found.append(CouplingForce("belt", {linear[0]: 1.0, linear[-1]: -0.7}, laws[-1]))
    return found


def external_loads(parts, seed):
    """One in world axes and one that turns with its body, each with a force and a moment."""
    rng, names = np.random.default_rng([seed, 31]), [b.name for b in parts["bodies"]]

    def load(axes):
        at = Frame(rng.uniform(-0.5, 0.5, 3), Rotation.random(rng=rng).as_matrix())
        force, moment = rng.uniform(-5, 5, 3), rng.uniform(-2, 2, 3)
        return Load(f"load_{axes}", names[rng.integers(len(names))], at, force=force, moment=moment, axes=axes)

    return [load("world"), load("frame")]


def busy_machine(seed, *drives, damping=0.0):
    """All joints, all loops, springs, dampers, friction, and drives, also across cut joints; the loops are open."""
    parts = tree_parts(seed, bodies=9, damped=True)
    plant = Mechanism(**parts)
    rng = np.random.default_rng([seed, 9])
    q, _ = random_state(plant, seed)
    loops = [loop_at(plant, q, kind, rng, f"loop{i}") for i, kind in enumerate(LOOPS)]
    drives = [*actuators(parts, seed), Actuator("loop0", gear=1.7), Actuator("loop1", gear=-0.4), *drives]
    soft = PointSpring("soft", "ground", "body8", stiffness=3.0, damping=damping)
    more = {"loads": external_loads(parts, seed), "forces": force_elements(parts, seed)}
    return Mechanism(**parts, loops=loops, springs=[*springs(parts, seed), soft], actuators=drives, **more)


CLOSURES = [  # seed of the tree, kinds of loops; all rows count
    (0, ()),
    (1, (Revolute,)),
    (2, (Prismatic, Distance)),
    (3, (Helical, PointOnPlane)),
    (4, (Cylindrical, Coupling)),
    (1, (Universal, PointOnLine)),
    (3, (Planar, Spherical)),
    (7, (Point, Distance, Coupling)),
    (8, (Weld,)),
    (9, (Fixed,)),
]


def closure_name(closure):
    return "+".join(kind.__name__ for kind in closure[1]) or "tree"


every_closure = pytest.mark.parametrize("closure", CLOSURES, ids=closure_name)


def closed_at_random(closure, twice=False, forces=True):
    """A closed random tree at a closed configuration with an admissible velocity."""
    seed, kinds = closure
    more = {}
    if forces:
        parts = tree_parts(seed, 6)
        more = {"springs": springs(parts, seed), "actuators": actuators(parts, seed)}
        more |= {"loads": external_loads(parts, seed), "forces": force_elements(parts, seed)}
    plant, q = closed_machine(seed, kinds, twice=twice, **more)
    return plant, *admissible_state(plant, q, seed)


# -- machines by name --------------------------------------------------------------------------------------


def five_bar(load=0.0, **options):
    """The five-bar with a heavier left upper link: what a payload at its middle does."""
    plain = plants.five_bar(**options)
    bodies = [dataclasses.replace(b, mass=b.mass * (1.0 + load * (b.name == "left_upper"))) for b in plain.bodies]
    return Mechanism(plain.name, bodies, plain.joints, plain.loops, actuators=plain.actuators, gravity=plain.gravity)


def damped_five_bar(damping=0.8):
    plain = plants.five_bar()
    joints = [dataclasses.replace(j, damping=damping) for j in plain.joints]
    return Mechanism("five-bar", plain.bodies, joints, plain.loops, actuators=plain.actuators, gravity=plain.gravity)


def sprung_five_bar(cut="tip", closure="line"):
    """With friction, a torsion spring and a damped spring between the arms."""
    plain = plants.five_bar(cut, closure)
    joints = [dataclasses.replace(j, damping=0.3 + 0.1 * i) for i, j in enumerate(plain.joints)]
    springs = [
        JointSpring("torsion", "left", 7.0, 0.4, 0.2),
        PointSpring("strut", "left_lower", "right_upper", (0.8, 0.1, 0), (0.5, 0, 0), 30.0, 0.5, 2.0),
    ]
    gravity = (0.0, -9.81, 0.0)
    return Mechanism("five-bar", plain.bodies, joints, plain.loops, springs, plain.actuators, gravity=gravity)


def motorised_five_bar(*actuators, gravity=(0.0, -9.81, 0.0), **changes):
    """The five-bar with motors of its own."""
    plain = plants.five_bar()
    joints = [dataclasses.replace(j, **changes.get(j.name, {})) for j in plain.joints]
    return Mechanism("five-bar", plain.bodies, joints, plain.loops, actuators=actuators, gravity=gravity)


def actuated_five_bar(motors=("left", "elbow_left", "right", "elbow_right"), heavier=1.0, copies=1, closure="line"):
    """With a motor on every joint: coupled, by 1.0 of its potent forces."""
    plant = plants.five_bar(closure=closure)
    bodies = [replace(b, mass=heavier * b.mass) if b.name == "left_upper" else b for b in plant.bodies]
    loops = [replace(loop, name=loop.name + "'" * k) for k in range(copies) for loop in plant.loops]
    return Mechanism("five-bar", bodies, plant.joints, loops, actuators=map(Actuator, motors), gravity=plant.gravity)


def nearly_massless(plant, heavy, factor=1e-9, **more):
    """The same machine, with nearly no mass in all bodies but the heavy ones."""
    bodies = [
        b if b.name in heavy else dataclasses.replace(b, mass=factor * b.mass, inertia=factor * b.inertia)
        for b in plant.bodies
    ]
    return Mechanism(plant.name, bodies, plant.joints, plant.loops, actuators=plant.actuators, **more)


def without_gravity(plant):
    """The same machine, weightless."""
    return Mechanism(plant.name, plant.bodies, plant.joints, plant.loops, actuators=plant.actuators, gravity=(0, 0, 0))


def held_box(**changes):
    """Two arms that hold a box (all multipliers are unique, six motors for three motions), and a configuration."""
    plant = plants.two_arms("planar", **changes)
    return plant, two_arms_configuration(plant, x=0.1, y=0.5)


def two_arms_at_start(closure="planar", **more):
    plant = plants.two_arms(closure, **more)
    return plant, plants.catalogue["two-arms"].initial(plant)[0]


def bars(base, gravity=(0.0, -9.81, 0.0), crank=0.5):
    """A four-bar with bars of 1, 2 and `crank` on a base."""
    bodies = [Body.rod("a", 1.0, 1.0), Body.rod("b", 1.0, 2.0), Body.rod("c", 1.0, crank)]
    joints = [
        Revolute("a", "ground", "a"),
        Revolute("b", "a", "b", frame=Frame((1.0, 0, 0))),
        Revolute("c", "ground", "c", frame=Frame((base, 0, 0))),
    ]
    return Mechanism(
        "bars", bodies, joints, [PointOnLine("pin", "c", "b", (crank, 0, 0), (2.0, 0, 0))], gravity=gravity
    )


def near_miss(gap):
    """A four-bar of 1 m, its coupler longer by `gap`: it misses its flat configuration by sqrt(gap). And a start."""
    side = 1.0 + gap
    rods = [Body.rod("a", 1.0, 1.0), Body.rod("c", 1.0, side), Body.rod("b", 1.0, 1.0)]
    joints = [
        Revolute("a", "ground", "a"),
        Revolute("c", "a", "c", frame=Frame((1, 0, 0))),
        Revolute("b", "ground", "b", frame=Frame((1, 0, 0))),
    ]
    loop = PointOnLine("pin", "c", "b", (side, 0, 0), (1, 0, 0))
    plant = Mechanism("four-bar", rods, joints, [loop], gravity=(0, -9.81, 0))
    q = plant.assemble(guess=dict(a=1.57, c=-1.57, b=1.57), a=0.5 * np.pi)
    return plant, q, plant.project_velocity(q, [-1.0, 1.0, -1.0])


def triangle(base):
    """Bars of 1 and 2 m on a base: a structure, or with base = 3 m a flat one."""
    bodies = [Body.rod("a", 1.0, 1.0), Body.rod("b", 1.0, 2.0)]
    joints = [Revolute("a", "ground", "a"), Revolute("b", "a", "b", frame=Frame((1.0, 0, 0)))]
    loop = PointOnLine("pin", "ground", "b", (base, 0, 0), (2.0, 0, 0))
    return Mechanism("triangle", bodies, joints, [loop])


def open_arm(n=3, gear=1.0, loaded=0.0, damping=0.0):
    """An open arm in the plane with a motor on each joint."""
    bodies = [Body.rod(f"link{i}", 1.0 + loaded * (i == n - 1), 0.5) for i in range(n)]
    joints = [
        Revolute(
            f"q{i}", f"link{i - 1}" if i else "ground", f"link{i}", frame=Frame((0.5 * (i > 0), 0, 0)), damping=damping
        )
        for i in range(n)
    ]
    return Mechanism(
        "arm", bodies, joints, actuators=[Actuator(f"q{i}", gear=gear) for i in range(n)], gravity=(0, -9.81, 0)
    )


def hanging_arm(*loops, elbow=Revolute, **more):
    """Two rods that hang from the ground."""
    rods = [Body.rod("upper", 2.0, 0.6), Body.rod("lower", 1.5, 0.5)]
    joints = [Revolute("shoulder", "ground", "upper"), elbow("elbow", "upper", "lower", frame=Frame((0.6, 0, 0)))]
    return Mechanism("arm", rods, joints, loops, gravity=(0, -9.81, 0), **more)


def actuated_pendulum(damping=0.0):
    rod = Body.rod("rod", 1.0, 1.0)
    joint = Revolute("pivot", "ground", "rod", axis=(0, 0, 1), damping=damping)
    return Mechanism("pendulum", [rod], [joint], actuators=[Actuator("pivot")], gravity=(0, -9.81, 0))


def rotor(**kind):
    """One joint without weight: 2 kg m2, so that dv/dt = u/2."""
    rod = Body.planar("rod", 1.0, 0.0, 2.0)
    joint = Revolute("axis", "ground", "rod", axis=(0, 0, 1))
    return Mechanism("rotor", [rod], [joint], actuators=[Actuator("axis", **kind)], gravity=(0, 0, 0))


def bouncing_ball(mass=2.0, **more):
    """A mass on a vertical guide above a floor at 0."""
    body = Body("ball", mass, (0, 0, 0), (0.1, 0.1, 0.1))
    floor = PointOnPlane("floor", "ground", "ball")
    return Mechanism("ball", [body], [Prismatic("height", "ground", "ball", **more)], [floor])


def crank_and_slider(limits=None):
    """A crank of length 1 and a rod of length 2; the slider may be left or right of the crank."""
    bodies = [Body.planar("crank", 1.0, 0.5, 0.1), Body.planar("rod", 1.0, 1.0, 0.3), Body("slide", 1.0)]
    joints = [
        Revolute("crank", "ground", "crank"),
        Revolute("knee", "crank", "rod", frame=Frame((1, 0, 0))),
        Prismatic("slide", "ground", "slide", axis=(1, 0, 0), limits=limits),
    ]
    return Mechanism("slider", bodies, joints, [Point("pin", "rod", "slide", (2, 0, 0))])


@functools.cache
def knuckle_press(ratio=None):
    """A press with a knuckle joint; with a ratio, a rotor turns so many times as fast as its crank."""
    bodies = [
        Body("crank", 180.0, (0.03, 0, 0), (3.0, 3.0, 5.0)),
        Body("rod", 110.0, (0.33, 0, 0), (0.3, 5.0, 5.0)),
        Body("upper", 90.0, (0.2, 0, 0), (0.3, 1.6, 1.6)),
        Body("lower", 100.0, (0.25, 0, 0), (0.3, 2.4, 2.4)),
        Body("ram", 800.0, inertia=(40.0, 40.0, 40.0)),
    ]
    joints = [
        Revolute("crank", "ground", "crank", frame=Frame((-0.78, -0.42, 0))),
        Revolute("rod", "crank", "rod", frame=Frame((0.12, 0, 0))),
        Revolute("upper", "ground", "upper"),
        Revolute("lower", "upper", "lower", frame=Frame((0.4, 0, 0))),
        Prismatic("ram", "ground", "ram", axis=(0, 1, 0), frame=Frame((0, -0.9, 0)), limits=(-0.002, 0.35)),
    ]
    loops = [
        PointOnLine("knee", "upper", "rod", (0.4, 0, 0), (0.66, 0, 0)),
        PointOnLine("ram_pin", "ram", "lower", (0, 0, 0), (0.5, 0, 0)),
    ]
    if ratio is not None:
        bodies.insert(0, Body("rotor", 40.0, inertia=(0.15, 0.15, 0.3)))
        joints.insert(0, Revolute("motor", "ground", "rotor"))
        loops.append(Coupling("gear", {"motor": 1.0, "crank": -ratio}))
    motor = Actuator("crank" if ratio is None else "motor")
    return Mechanism("press", bodies, joints, loops, actuators=[motor], gravity=(0, -9.81, 0))


def rod_driven_leg(crank=0.07, lever=0.08, base=Prismatic):
    """A leg whose knee is moved by a rod and whose ankle by two, on a foot that stands on heel and toe."""
    y, ankle = (0.0, 1.0, 0.0), Frame((0, 0, -0.38))
    bodies = [
        Body("trunk", 12.0, (0.01, 0.0, 0.05), (0.2, 0.15, 0.12)),
        Body("thigh", 2.0, (0.0, 0.005, -0.15), (0.03, 0.03, 0.004)),
        Body("shank", 1.2, (0.005, 0.0, -0.17), (0.015, 0.016, 0.002)),
        Body("crank", 0.15, (0.03, 0.0, 0.0), (2e-4, 3e-4, 3e-4)),
        Body("knee_rod", 0.12, (0.0, 0.0, -0.2), (2e-3, 2e-3, 1e-5)),
        Body("foot", 0.6, (0.03, 0.0, -0.03), (6e-4, 1.5e-3, 1.6e-3)),
    ]
    joints = [
        Prismatic("height", "ground", "trunk") if base is Prismatic else base("base", "ground", "trunk"),
        Revolute("hip", "trunk", "thigh", axis=y),
        Revolute("knee", "thigh", "shank", axis=y, frame=Frame((0, 0, -0.4))),
        Revolute("motor", "thigh", "crank", axis=y),
        Revolute("krod", "crank", "knee_rod", axis=y, frame=Frame((crank, 0, 0))),
        Universal("ankle", "shank", "foot", axis=y, second_axis=(1, 0, 0), frame=ankle),
    ]
    pin = {"frame": Frame((0, 0, -0.4)), "child_frame": Frame((lever, 0, 0))}
    loops = [Revolute("kpin", "knee_rod", "shank", axis=y, **pin)]
    for side, at in (("l", 0.045), ("r", -0.045)):
        bodies += [
            Body(f"arm_{side}", 0.06, (0.02, 0.0, 0.0), (2e-5, 4e-5, 4e-5)),
            Body(f"rod_{side}", 0.05, (0.0, 0.0, -0.14), (3.3e-4, 3.3e-4, 1e-6)),
        ]
        end, high = Frame((0.05, 0, 0)), Frame((0, at, -0.1))
        joints += [
            Revolute(f"ankle_{side}", "shank", f"arm_{side}", axis=y, frame=high),
            Universal(f"rod_{side}", f"arm_{side}", f"rod_{side}", axis=y, second_axis=(1, 0, 0), frame=end),
        ]
        loops.append(Point(f"ball_{side}", f"rod_{side}", "foot", (0, 0, -0.28), (0.05, at, 0.0)))
    loops += [Point(n, "ground", "foot", (x, 0, 0), (x, 0, -0.05)) for n, x in (("heel", -0.06), ("toe", 0.14))]
    return Mechanism("leg", bodies, joints, loops, actuators=[Actuator("hip"), Actuator("motor")])


ARM = Body.planar("arm", 1.0, 0.5, 0.1)
HAND = Body.planar("hand", 1.0, 0.5, 0.1)
SHOULDER = Revolute("shoulder", "ground", "arm")
WRIST = Revolute("wrist", "arm", "hand", frame=Frame((1, 0, 0)))


def robot(**parts):
    """An arm and a hand, with some parts replaced."""
    return Mechanism(**{"name": "robot", "bodies": [ARM, HAND], "joints": [SHOULDER, WRIST], **parts})


def decoupled_particle():
    """Decoupled: M = m I."""
    return plants.particle_on_circle(mass=2.0)


def wire_bead(**options):
    """A bead on a straight wire; its potential energy is not given."""
    return FunctionPlant(
        "bead",
        ("x", "y"),
        M=lambda q: 2.0 * np.eye(2),
        h=lambda q, v: [0.0, 2.0 * 9.81],
        Phi=lambda q: [q[1] - q[0]],
        A=lambda q: [[-1.0, 1.0]],
        Adot_v=lambda q, v: [0.0],
        units=("m", "m"),
        **options,
    )


BEAD = {
    "coordinates": ("x", "y"),
    "M": lambda q: np.diag([2.0, 2.0]),
    "h": lambda q, v: [0.0, 19.62],
    "Phi": lambda q: [q[1] - q[0] ** 2],
    "A": lambda q: [[-2.0 * q[0], 1.0]],
    "Adot_v": lambda q, v: [-2.0 * v[0] ** 2],
    "potential": lambda q: 19.62 * q[1],
    "units": ("m", "m"),
}


def bead(**changes):
    """A bead on the parabola y = x^2."""
    return FunctionPlant("bead", **{**BEAD, **changes})


def bead_twice(times=2, **changes):
    """The bead, its row written more than once."""
    return bead(
        Phi=lambda q: [q[1] - q[0] ** 2] * times,
        A=lambda q: [[-2.0 * q[0], 1.0]] * times,
        Adot_v=lambda q, v: [-2.0 * v[0] ** 2] * times,
        **changes,
    )


SKATE_MASS, SKATE_INERTIA, SKATE_STIFFNESS, SKATE_AHEAD, SKATE_SPEED = 2.0, 0.5, 30.0, 0.4, 3.0


def skate_pull(q):
    """Force of the lateral spring, AHEAD of the blade."""
    return SKATE_STIFFNESS * (q[1] + SKATE_AHEAD * np.sin(q[2]))


def skate(**options):
    """A skate that glides along x, with a spring that pulls it to y = 0."""
    given = dict(
        M=lambda q: np.diag([SKATE_MASS, SKATE_MASS, SKATE_INERTIA]),
        h=lambda q, v: [0.0, skate_pull(q), skate_pull(q) * SKATE_AHEAD * np.cos(q[2])],
        Phi=lambda q: [0.0],
        A=lambda q: [[-np.sin(q[2]), np.cos(q[2]), 0.0]],
        Adot_v=lambda q, v: [-v[2] * (np.cos(q[2]) * v[0] + np.sin(q[2]) * v[1])],
        potential=lambda q: 0.5 * skate_pull(q) ** 2 / SKATE_STIFFNESS,
        units=("m", "m", "rad"),
        actuators=("X",),
        rows=("blade",),
    )
    return cmb.FunctionPlant("skate", ("X", "Y", "psi"), **(given | options))


# -- configurations, states, and terms at them ----------------------------------------------------------------------


def hang(plant, left=-1.3, right=-1.9):
    return trim(plant, plant.assemble(left=left, right=right), free="all", u=0.0)


def nudge(plant, q, size, seed=0):
    return plant.integrate(q, size * np.random.default_rng(seed).standard_normal(plant.nv))


def tilted(tilt, angle, sign=-1.0):
    axis = np.array([tilt * np.cos(angle), tilt * np.sin(angle), sign])
    return axis / np.linalg.norm(axis)


def spencers_second_start():
    """Spencer's second start: links 1 and 2 at 120 and 48.19 degrees, mirror image on the right."""
    a = np.arccos(1.0 / 1.5)
    return np.array([2 * np.pi / 3, a - 2 * np.pi / 3, np.pi / 3, 2 * np.pi / 3 - a])


def regular_start(plant):
    """Links 1 and 2 at -70 and -10 degrees, the right elbow outside."""
    left = dict(left=np.radians(-70.0), elbow_left=np.radians(60.0))
    return plant.assemble(guess=left | dict(right=0.3, elbow_right=-1.96), **left)


def closed_state(plant, seed=0, **joints):
    """A configuration with closed loops and a random admissible velocity."""
    q = plant.assemble(**joints)
    v = plant.project_velocity(q, np.random.default_rng(seed).standard_normal(plant.nv))
    return q, v


def driven_state(plant, q, seed):
    """A state with velocity and efforts."""
    rng = np.random.default_rng([seed, 11])
    q, v = admissible_state(plant, q, seed)
    return q, v, rng.uniform(-1.0, 1.0, plant.nu)


def admissible_velocity(plant, q, seed=0, size=0.5):
    """A random admissible velocity."""
    return plant.project_velocity(q, size * np.random.default_rng(seed).standard_normal(plant.nv))


def terms_at(plant, q=None, v=None):
    """Terms at a configuration, the neutral one unless given, at rest unless told."""
    return plant.terms(plant.neutral() if q is None else q, np.zeros(plant.nv) if v is None else v)


def random_terms(plant, q, seed=0):
    """The equations of motion at q with a random velocity on the loops."""
    return plant.terms(q, np.random.default_rng(seed).standard_normal(plant.nv), 0.3, project=True)


def moving_terms(plant, q, seed):
    """Terms at an admissible velocity."""
    rng = np.random.default_rng([seed, 7])
    return plant.terms(q, plant.project_velocity(q, rng.uniform(-1.0, 1.0, plant.nv)))


def allowed_acceleration(terms, rng, size=1.0):
    """A random acceleration that the loops allow."""
    return terms.Cv + terms.Z @ (size * rng.standard_normal(terms.dof))


def rows_of(plant, names):
    return np.eye(plant.nv)[[plant.index(n) for n in names]]


def mixed_coordinates(plant, q):
    """Rows of R: coordinates that span the admissible velocities well, mixed."""
    Z = plant.terms(q, np.zeros(plant.nv)).Z
    rng = np.random.default_rng(4)
    return np.ascontiguousarray((Z + 0.2 * rng.standard_normal(Z.shape)).T)


# -- laws and what they are asked for ----------------------------------------------------------------------


PERIOD = 1e-3


def slider(mass=1.0, effort=2.0):
    """A mass on a line, with a motor."""
    body, joint = cmb.Body.planar("m", mass, (0, 0), 0.1), cmb.Prismatic("x", "ground", "m", axis=(1, 0, 0))
    return cmb.Mechanism("slider", [body], [joint], actuators=[cmb.Actuator("x", effort=effort)])


class Asks(Controller):
    """A sampled law (or with period=None a continuous one) that asks for a function of time."""

    def __init__(self, asks, period=PERIOD, **members):
        self.asks, self.period = asks, period
        for name, value in members.items():
            setattr(self, name, value)

    def effort(self, t, terms, state):
        return np.asarray(self.asks(t), dtype=float)


class Told(Controller):
    """A sampled law that keeps what it is told."""

    def __init__(self, plant, period=PERIOD):
        self.plant, self.period, self.heard = plant, period, []

    def effort(self, t, terms, state):
        self.heard.append((t, terms.q.copy(), terms.v.copy()))
        return np.zeros(self.plant.nu)


class Oscillating(Controller):
    """A law with two states that oscillate; what it asks for is `_effort` of the classes made of it."""

    def start(self, plant):
        return np.array([0.1, 0.2])

    def evaluate(self, t, terms, state):
        return Evaluation(self._effort(t, terms, state), self._derivative(t, terms, state))

    def _derivative(self, t, terms, state):
        return np.array([state[1], -state[0]])


class Rest(MotionLaw):
    """The smallest motion law: no acceleration along the loops."""

    period = None
    coordinates = ("left",)

    def __init__(self, plant):
        self.plant, self.reference = plant, cmb.Constant(0.0)

    def desired_acceleration(self, t, terms):
        return terms.Cv


GAINS = {"kp": [40.0, 48.0], "kd": [14.0, 13.9]}


def five_bar_law(plant, **options):
    options = GAINS | options
    return ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), **options)


class IntegralLaw(Controller):
    """A law with an integral of the error of its coordinates added, in continuous or sampled time."""

    def __init__(self, law, gain, period=None):
        self.law, self.gain, self.period = law, gain, period
        self.reference, self.coordinates = law.reference, law.coordinates

    def start(self, plant):
        return np.zeros(2)

    def evaluate(self, t, terms, state):
        return Evaluation(self._effort(t, terms, state), self._moved(t, terms, state))

    def _effort(self, t, terms, state):
        return self.law(t, terms, state) + state

    def _derivative(self, t, terms, state):
        return self.gain * (self.law.reference(t)[0] - terms.q[[0, 2]])

    def _moved(self, t, terms, state):
        return self._derivative(t, terms, state) if self.period is None else self._update(t, terms, state)

    def _update(self, t, terms, state):
        return state + self.period * self._derivative(t, terms, state)


CRANK_PATH = cmb.Quintic([0.6], [2.5], duration=2.0)


def crank_law(plant, reference=CRANK_PATH, **options):
    """The crank alone tracks the angle q1."""
    return PassiveJoints(ProjectedInverseDynamics(plant, "q1", reference, bandwidth=8.0), **options)


def falls_free(t, terms):
    """The acceleration that the motors need not make."""
    return acceleration(terms, np.zeros(terms.h.size))


def limited(plant, **options):
    return ConstrainedActuation(Rest(plant), **options)


def sampled_efforts(plant, law, count, q=None, v=None):
    """Efforts and states of a sampled law at samples of a machine that is held fast."""
    terms = plant.terms(plant.neutral() if q is None else q, np.zeros(plant.nv) if v is None else v)
    state, out = law.start(plant), []
    for k in range(count):
        found = law.evaluate(k * PERIOD, terms, state)
        out.append(found.effort)
        state = found.state
    return np.array(out)


FORCE_ROWS = {"particle": ("circle",), "five-bar": ("tip_x", "tip_y")}
FORCE_PLANTS = {"decoupled": decoupled_particle, "coupled": actuated_five_bar}


def force_motion(plant, still=False, period=None, **options):
    """A motion law for the five-bar or the particle; moving, or holding the start."""
    if plant.name == "five-bar":
        names, centre, amplitude = ("left", "right"), [2.1, 1.0], [0.3, 0.2]
    else:
        names, centre, amplitude = ("q2",), [0.0], [0.4]
    path = Constant(centre) if still else Sine(centre=centre, amplitude=amplitude, frequency_hz=0.5)
    return ProjectedInverseDynamics(plant, names, path, bandwidth=10.0, period=period, **options)


def force_start(plant, still=False):
    """On the path of `motion_of`."""
    if plant.name != "five-bar":
        q0 = plant.neutral()
        return q0, np.zeros(2) if still else np.array([0.0, 0.4 * math.pi])
    q0 = plant.assemble(left=2.1, right=1.0)
    terms = plant.terms(q0, np.zeros(4))
    rates = np.zeros(2) if still else math.pi * np.array([0.3, 0.2])
    return q0, terms.Z @ np.linalg.solve(terms.Z[[0, 2]], rates)


def hybrid(plant, desired, *, still=False, period=None, model=None, **options):
    """Both laws on a plant, by the names of its rows."""
    force = ConstraintForcePI(model or plant, desired, FORCE_ROWS[plant.name], period=period, **options)
    return HybridMotionForce(force_motion(model or plant, still, period), force)


def force_errors(run, *names):
    """Force error over time (times, k), as measured."""
    return run.report.sel(quantity=[f"force_error_{n}" for n in names]).values


def engine_at(plant, q, v):
    """The equations of motion of a run with projection at default tolerances, and its first state."""
    options = motion.Options(
        1e-11, 1e-11, np.inf, 1000, 1.0, RANK_TOLERANCE, plant.generic_rank(q), 1.0, 1e-15, 1e-4
    )  # fmt: skip
    x = np.concatenate([q, v, np.zeros(WORKS)])
    run = Run(plant, Control(plant, as_controller(None, plant)), options, "dop853", 1.0, 1000, Reporter(False, ""))
    return Engine(run, IntegratorState(0.0, x, 1e-3)), x


# -- designs for the five-bar with payloads ----------------------------------------------------------------


ARMS = ("left", "right")
PAYLOAD_AT = (1.5, 0.0, 0.0)
PAYLOAD_POSES = {f"({a}, {b})": {"left": a, "right": b} for a in (1.9, 2.3, 2.7) for b in (0.4, 0.8, 1.2)}
ROBUST_REGION = PoleRegion(decay=3.0, damping=0.6, radius=40.0)


def robust_law(robust, machines):
    """The gain about the middle configuration of the machine with the nominal payload of 2 kg."""
    nominal = machines["2 kg"]
    middle = cmb.linearize(
        nominal, cmb.trim(nominal, nominal.assemble(**PAYLOAD_POSES["(2.3, 0.8)"])), coordinates=ARMS
    )  # fmt: skip
    return robust.law(middle)


def step_run(pendulum, damping_ratio):
    """A step of 0.5 rad with 6 rad/s."""
    kp, kd = sampled_pd_gains(6.0, damping_ratio, period=0.01)
    law = ProjectedInverseDynamics(pendulum, ("angle",), Constant([0.5]), kp=kp, kd=kd, period=0.01)
    q0 = pendulum.assemble(angle=0.0)
    options = {"t_end": 2.5, "output_times": 0.02, "rtol": 1e-6, "atol": 1e-6}
    return {"plant": pendulum, "controller": law, "q0": q0, **options}


# -- charts of machines ------------------------------------------------------------------------------------


READY_CHART_MACHINES = ["five-bar", "five-bar revolute", "andrews", "bricard", "particle"]
RANDOM_CHART_MACHINES = [kind.__name__ + i % 2 * " twice" for i, kind in enumerate(LOOPS)]  # every second one redundant
CHART_MACHINES = [*READY_CHART_MACHINES, *RANDOM_CHART_MACHINES, "tree"]
CHART_KINDS = ["partitioning", "tangent", "linear", "nonlinear"]
every_kind = pytest.mark.parametrize("kind", CHART_KINDS)
every_machine = pytest.mark.parametrize("machine", CHART_MACHINES)


@functools.cache
def chart_machine(machine):
    """The machine with motors and springs, at a configuration with closed loops."""
    if machine == "five-bar revolute":
        plant = plants.five_bar("right", "revolute")
        return plant, five_bar_configuration(plant)
    if machine in READY_CHART_MACHINES:
        return plants.catalogue[machine].start()[:2]
    names = {k.__name__: k for k in LOOPS}
    loops = () if machine == "tree" else (names[machine.split()[0]],)
    parts = tree_parts(2, bodies=5, damped=True)
    more = {"springs": springs(parts, 2), "actuators": actuators(parts, 2)}
    return close_parts(parts, 2, loops, machine.endswith("twice"), **more)


@functools.cache
def parametrization_of(machine, kind):
    """A parametrization of a machine; the rows of linear ones are not far from its admissible velocities."""
    plant, q = chart_machine(machine)
    if kind in ("partitioning", "tangent"):
        return as_parametrization(kind)
    rng = np.random.default_rng(7)
    Z = TangentSpace().at(plant, q).base.V
    R = Z + 0.2 * np.abs(Z).max(initial=0.0) * rng.uniform(-1.0, 1.0, Z.shape)
    return LinearParametrization(R) if kind == "linear" else bent_parametrization(plant, q, R, rng)


def bent_parametrization(plant, q, R, rng):
    """R(q, y) = C d + sin(C' d)/2 - y - y^3/10, with d measured from a configuration beside the base point."""
    away = plant.integrate(q, rng.uniform(-0.2, 0.2, plant.nv))
    more = R[::-1] * rng.uniform(0.5, 1.0, (len(R), 1))
    joints = group_joints(plant)

    def residual(x, y):
        d = plant.difference(away, x)
        return R @ d + 0.5 * np.sin(more @ d) - y - 0.1 * y**3

    def by_q(x, y):
        d = plant.difference(away, x)
        return (R + 0.5 * np.cos(more @ d)[:, None] * more) @ inverse_right_jacobian(joints, d)

    return NonlinearParametrization(residual, by_q, lambda x, y: -np.diag(1.0 + 0.3 * y * y))


@functools.cache
def chart_of(machine, kind):
    plant, q = chart_machine(machine)
    return parametrization_of(machine, kind).at(plant, q)


def away_from_base(chart, seed=0, reach=0.3):
    """A configuration of the chart some way off its base point."""
    rng = np.random.default_rng(seed)
    way = rng.uniform(-1.0, 1.0, chart.dof) * chart.units
    return chart.solve(chart.y0 + reach * min(1.0, 2.0 * chart.base.conditioning) * way)


# -- oracles: kinematics and derivatives -------------------------------------------------------------------


@dataclasses.dataclass
class Kinematics:
    """Configurations, screws, twists and bias accelerations of the kernel links."""

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


ORDER_8 = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))  # central differences: multiples of the step, weights


def slope(function, step=1e-2):
    """Derivative at zero of a function of one number, by central differences of order 8."""
    return sum(w * (function(k * step) - function(-k * step)) for k, w in ORDER_8) / step


def jacobian(function, n, step=1e-2):
    """Derivative at zero of function(x), x in R^n, along a new last axis; `step` is a number, or one for each entry."""
    steps = np.broadcast_to(step, n)
    if n == 0:
        return np.empty((*np.shape(function(np.zeros(0))), 0))
    return np.stack([slope(lambda s, e=e: function(s * e), h) for e, h in zip(np.eye(n), steps, strict=True)], axis=-1)


def gradient(f, x, step=1e-2):
    """Derivative of f at x, along a new last axis."""
    return jacobian(lambda d: np.asarray(f(x + d)), len(x), step)


class NonlinearForm:
    """The nonlinear motion in y = R (q [-] q0), y_v = R v, by Newton's method: what the derivatives must match."""

    def __init__(self, plant, q0, u, R):
        self.plant, self.q0, self.u, self.R = plant, q0, u, R

    def state(self, y, y_v):
        plant, q = self.plant, self.q0
        for _ in range(30):
            phi = plant.row_scale * plant.residual(q)
            left = np.concatenate([y - self.R @ plant.difference(self.q0, q), -phi])
            # R (q [-] q0) by q: the right Jacobian's inverse is near one, so Newton's method converges anyway
            A = plant.row_scale[:, None] * plant.jacobian(q)
            dq = np.linalg.lstsq(np.concatenate([self.R, A]), left, rcond=1e-9)[0]
            q = plant.integrate(q, dq)
            if np.abs(dq).max() < 1e-15:
                break
        A = plant.row_scale[:, None] * plant.jacobian(q)
        v = np.linalg.lstsq(np.concatenate([self.R, A]), np.append(y_v, np.zeros(len(A))), rcond=1e-9)[0]
        return q, v

    def rate(self, y, y_v, du=0.0):
        q, v = self.state(y, y_v)
        dy = slope(lambda s: self.R @ self.plant.difference(self.q0, self.plant.integrate(q, s * v)), 1e-3)
        return np.concatenate([dy, self.R @ forward_dynamics(self.plant, q, v, self.u + du)])

    def force(self, y, y_v, du=0.0):
        q, v = self.state(y, y_v)
        found = constraint_force(self.plant, q, v, self.u + du)
        return found.force, found.multipliers, found.unique


def form_of(plant, point, R):
    return NonlinearForm(plant, point.q, point.u, R)


# -- oracles: dynamics and numbers -------------------------------------------------------------------------


def accelerated(terms, u):
    """The acceleration of the machine, by Gauss' principle, apart from the law's own way."""
    Z, c = terms.Z, terms.Cv
    force = terms.B @ u - terms.h - terms.M @ c
    return c + Z @ np.linalg.solve(Z.T @ terms.M @ Z, Z.T @ force)


def second_order(M, D, K):
    """Eigenvalues of M e'' + D e' + K e = 0."""
    n = len(M)
    return np.linalg.eigvals(
        np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    )


def matched(found, truth):
    """Largest distance of two sets of eigenvalues, each of one to the nearest of the other that is left."""
    found, worst = list(found), 0.0
    assert len(found) == len(truth)
    for x in truth:
        k = int(np.argmin(np.abs(np.array(found) - x)))
        worst = max(worst, abs(found.pop(k) - x))
    return worst


def relative_error(found, truth):
    """Largest deviation, relative to the largest entry."""
    return np.abs(found - truth).max(initial=0.0) / max(np.abs(truth).max(initial=0.0), 1e-300)


def apart(run, reference):
    return float(np.abs(run.q.values - reference.q.values).max())


# -- oracles: the five-bar and the slider-crank with one degree of freedom, in closed form ------------------


def hanging_tip(left, right, side=1.0):
    """Height of the five-bar's tip over its base: bars of 1 m to the elbows, of 1.5 m from there, a base of 1 m."""
    a = np.array([np.cos(left), np.sin(left)])
    b = np.array([1.0 + np.cos(right), np.sin(right)])
    half = 0.5 * (b - a)
    across = np.array([-half[1], half[0]]) * np.sqrt(1.5**2 / (half @ half) - 1.0)
    return (a + half + side * across)[1]


def five_bar_potential(left, right, side=1.0):
    """Of the weight of its links, 2 kg and 3 kg on each side; `side` tells on which side of the elbows the tip is."""
    inner, tip = np.sin(left) + np.sin(right), hanging_tip(left, right, side)
    return 9.81 * (2.0 * 0.5 * inner + 3.0 * 0.5 * (inner + 2.0 * tip))


def symmetric_half(x):
    """Inertia and potential energy of the left half of the symmetric five-bar; x is the angle of its inner link.

    The tip stays over the middle of the base: cos x + 1.5 cos y = 0.5, with the branch of y on which the motion
    goes smoothly through x = pi, where y = 0 and the machine is singular.
    """
    y = 2.0 * np.arcsin(np.sqrt(2.0 / 3.0) * np.cos(0.5 * x))
    dy = -np.sqrt(2.0 / 3.0) * np.sin(0.5 * x) / np.cos(0.5 * y)
    inertia = 1.0 + 2.0 * 0.25 + 2.0 * dy**2 + 3.0 * (1.0 + 0.5625 * dy**2 + 1.5 * dy * np.cos(x - y))
    return inertia, 9.81 * (2.0 * 0.5 * np.sin(x) + 3.0 * (np.sin(x) + 0.75 * np.sin(y)))


def time_from(rest, to, half=symmetric_half):
    """Time of a motion with one degree of freedom from rest at one value to another, both ways alike: a quadrature.

    x = rest + (to - rest) s^2 takes the square root from the end at rest.
    """
    energy = half(rest)[1]

    def slowness(s):
        inertia, potential = half(rest + (to - rest) * s * s)
        return 2.0 * s * abs(to - rest) * np.sqrt(0.5 * inertia / (energy - potential))

    return quad(slowness, 1e-9, 1.0, epsabs=1e-11, epsrel=1e-11)[0]


def time_between(a, b, half, energy):
    """Time of a motion with one degree of freedom and that energy between two values, at none of which it rests."""

    def slowness(x):
        inertia, potential = half(x)
        return np.sqrt(0.5 * inertia / (energy - potential))

    return quad(slowness, a, b, epsabs=1e-11, epsrel=1e-11)[0]


@functools.cache
def symmetric_passages():
    """When Spencer's second example passes x = pi and 3 pi, once more on its way back from where it turns, s."""
    start, energy = 2.0 * np.pi / 3.0, symmetric_half(2.0 * np.pi / 3.0)[1]
    first = time_from(start, np.pi)

    across = time_between(np.pi, 3.0 * np.pi, symmetric_half, energy)
    turn = brentq(lambda x: symmetric_half(x)[1] - energy, 3.0 * np.pi, 4.5 * np.pi, xtol=1e-14)
    return first, first + across, first + across + 2.0 * time_from(turn, 3.0 * np.pi)


@functools.cache
def symmetric_return():
    """When the five-bar that is let go in its singular configuration is back there, s: twice to where it turns."""
    lowest = 2.0 * np.pi
    turn = brentq(lambda x: symmetric_half(x)[1], lowest, 3.0 * np.pi - 0.1, xtol=1e-14)
    return 2.0 * (time_from(np.pi, lowest) + time_from(turn, lowest))


def sliding_crank(x):
    """Inertia and potential energy of Aghili's slider-crank along q2 = -2 q1: m = 1 kg, l = 1 m."""
    return 3.0 - 2.0 * np.cos(2.0 * x), 9.81 * np.sin(x)


def crank_passage(x=1.2, rate=2.0):
    """When the free slider-crank passes its singular configuration x = pi/2, s."""
    inertia, potential = sliding_crank(x)
    return time_between(x, 0.5 * np.pi, sliding_crank, 0.5 * inertia * rate**2 + potential)


# -- what is refused, told, drawn and written --------------------------------------------------------------


def refuses(make, *words, kind=ModelError):
    """The call raises `kind`, and the message contains all the words."""
    with pytest.raises(kind) as caught:
        make()
    message = str(caught.value)
    for word in words:
        assert word in message, message
    return caught.value


def other_arrays(x):
    """The same numbers as other arrays."""
    fixed = x.copy()
    fixed.setflags(write=False)
    return {"read-only": fixed, "Fortran": np.asfortranarray(x), "steps": np.repeat(x, 2, axis=0)[::2]}


def event_kinds(run):
    return [event["kind"] for event in run.events()]


def event_times(run, kind):
    return np.array([event["time"] for event in run.events() if event["kind"] == kind])


def drawn_curve(ax, label):
    """Data of the curve with that label."""
    (line,) = [line for line in ax.lines if line.get_label() == label]
    return np.array(line.get_data())


def animation_frames(path):
    """Number of frames of an animation."""
    with Image.open(path) as image:
        return image.n_frames


REPORT_COLUMNS = ("method", "evaluations", "error (rad)", "finished")
REPORT_ROWS = [("ours", np.int64(40821), 2.5e-11, np.True_), ("theirs | old", None, float("nan"), False)]


def line_figure():
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot([0.0, 1.0], [0.0, 1.0])
    return figure


def small_report(quick=False, progress=False):
    progress(1.0)
    return Report(
        "A title",
        "nobody, table 1",
        [ResultTable("Cost: of it all", REPORT_COLUMNS, REPORT_ROWS, "A note."), ResultTable("Empty", ("a",), [])],
        {"line": line_figure},
        ("A choice.", f"Quick: {quick}."),
        {"error": np.array([1.0, np.inf]), "runs": {2: [np.float64(0.5), "x", None]}},
    )


def saved_and_drawn(report, tmp_path):
    """The report, saved: files are written, and every figure is drawn."""
    files = {path.name for path in report.save(tmp_path)}
    assert {f"{name}.png" for name in report.figures} <= files and json.loads((tmp_path / "data.json").read_text())
    assert report.choices and all(table.rows for table in report.tables)
    return report.data


def run_command(*arguments):
    """Run a command; (exit code, stdout, stderr)."""
    from cmbcontrol.cli import commands

    result = CliRunner().invoke(commands.app, [str(a) for a in arguments])
    return result.exit_code, result.stdout, result.stderr


def assert_fails(match, *arguments, code=1):
    """The command ends with one line on stderr, and with that exit code."""
    exit_code, out, err = run_command(*arguments)
    assert exit_code == code
    assert err.startswith("error: ") and err.count("\n") == 1 and err.endswith("\n")
    assert match in err
    assert "Traceback" not in out + err


def printed_matrix(out, title):
    """The matrix that was printed under a title; its blocks of columns side by side."""
    lines, blocks = out.splitlines(), []
    for i, line in enumerate(lines):
        if line.split()[:1] == [title] and i + 1 < len(lines) and lines[i + 1].startswith("  "):
            rows = []
            for row in lines[i + 1 :]:
                if not row.startswith("  "):
                    break
                rows.append([float(x) for x in row.split()[1:]])
            blocks.append(rows)
    return np.hstack(blocks)


# -- machines with other numbers -------------------------------------------------------------------------

PARTS = ("bodies", "joints", "loops", "springs", "actuators", "loads", "forces")
UNIT_AXES = dict(zip("xyz", np.eye(3), strict=True))


def with_field(part, **fields):
    """A part with other numbers, unchecked: a rod has no inertia along its axis, and less is refused."""
    made = copy.copy(part)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def changed_part(part, prefix, name, s):
    """The part with one of its numbers, by what is left of its name behind the prefix, larger by s; None if not its."""
    if not name.startswith(prefix):
        return None
    what, _, axis = name.removeprefix(prefix).rpartition("_")
    whole = name.removeprefix(prefix)
    frames = {"frame": "frame", "child": "child_frame", "frame_a": "frame_a", "frame_b": "frame_b"}
    if what.removesuffix("_turn") in frames and axis in UNIT_AXES:
        field = frames[what.removesuffix("_turn")]
        frame = getattr(part, field, None)
        if frame is None:
            return None
        turn, shift = (
            (Frame.turned(UNIT_AXES[axis], s).R, 0.0) if what.endswith("_turn") else (np.eye(3), s * UNIT_AXES[axis])
        )
        moved = Frame(frame.p + shift, turn @ frame.R)
        return with_field(part, **{field: moved})
    if what in ("axis_turn", "normal_turn"):
        field = what.removesuffix("_turn")
        return with_field(part, **{field: Frame.turned(UNIT_AXES[axis], s).R @ getattr(part, field)})
    if what in ("com", "point_a", "point_b") and hasattr(part, what):
        return with_field(part, **{what: getattr(part, what) + s * UNIT_AXES[axis]})
    if what == "inertia" and hasattr(part, what):
        i, j = ("xyz".index(c) for c in axis)
        unit = np.zeros((3, 3))
        unit[i, j] = unit[j, i] = 1.0
        return with_field(part, inertia=part.inertia + s * unit)
    law = getattr(part, "characteristic", None)
    if law is not None and whole in law.number_names:
        numbers = [x + s * (n == whole) for n, x in zip(law.number_names, law.numbers, strict=True)]
        if isinstance(part, FrictionOfLoad):  # its own numbers may be among those of its law
            return with_field(part, friction=law.with_numbers(numbers[: len(law.numbers)]))
        return with_field(part, characteristic=law.with_numbers(numbers))
    if whole in ("fx", "fy", "fz", "mx", "my", "mz"):
        field = "force" if whole[0] == "f" else "moment"
        return with_field(part, **{field: getattr(part, field) + s * UNIT_AXES[whole[1]]})
    if whole.startswith("of_"):
        c = dict(part.coefficients)
        c[whole.removeprefix("of_")] += s
        return with_field(part, coefficients=c)
    fields = "mass", "pitch", "length", "offset", "stiffness", "rest", "damping", "gear", "radius"
    if whole in fields and hasattr(part, whole):
        return with_field(part, **{whole: getattr(part, whole) + s})
    return None


def changed_machine(plant, name, s):
    """The machine built anew, with one number larger by s, whether or not redundant rows agree then."""
    given = {key: list(getattr(plant, key)) for key in PARTS}
    gravity = plant.gravity
    if name.startswith("gravity_"):
        gravity = gravity + s * UNIT_AXES[name[-1]]
        return Mechanism(plant.name, **given, gravity=gravity, precision=0.0)
    field, _, coordinate = name.partition("_")
    if field in ("damping", "armature"):
        for i, joint in enumerate(plant.joints):
            if coordinate in joint.velocity_names:
                unit = np.array([float(n == coordinate) for n in joint.velocity_names])
                given["joints"][i] = with_field(joint, **{field: getattr(joint, field) + s * unit})
        return Mechanism(plant.name, **given, gravity=gravity, precision=0.0)
    prefixes = {"springs": "spring_", "actuators": "motor_", "loads": "load_", "forces": "force_"}
    for key, parts in given.items():
        for i, part in enumerate(parts):
            found = changed_part(part, f"{prefixes.get(key, '')}{part.name}_", name, s)
            if found is not None:
                parts[i] = found
                return Mechanism(plant.name, **given, gravity=gravity, precision=0.0)
    raise AssertionError(f"nothing is called {name}")


def four_bar_sdf(turn, of_coupler=None):
    """A planar four-bar of SDF, whose links are turned into the plane by an angle as a file has it."""
    of_coupler = turn if of_coupler is None else of_coupler

    def link(name, pose, length):
        inertia = f"<ixx>1e-4</ixx><iyy>{length**2 / 12}</iyy><izz>{length**2 / 12}</izz>"
        inertial = f"<pose>{length / 2} 0 0 0 0 0</pose><mass>1</mass><inertia>{inertia}</inertia>"
        return f'<link name="{name}"><pose>{pose}</pose><inertial>{inertial}</inertial></link>'

    def joint(name, parent, child, x):
        ends = f"<parent>{parent}</parent><child>{child}</child><axis><xyz>0 0 1</xyz></axis>"
        return f'<joint name="{name}" type="revolute"><pose>{x} 0 0 0 0 0</pose>{ends}</joint>'

    x, z = 0.3 * np.cos(1.2), 0.3 * np.sin(1.2)
    parts = [
        link("crank", f"0 0 0 {turn} -1.2 0", 0.3),
        link("coupler", f"{x:.12f} 0 {z:.12f} {of_coupler} 0 0", 0.5),
        link("rocker", f"0.5 0 0 {turn} -1.2 0", 0.3),
        *(joint(*ends) for ends in (("A", "world", "crank", 0), ("B", "crank", "coupler", 0))),
        *(joint(*ends) for ends in (("D", "world", "rocker", 0), ("C", "coupler", "rocker", 0.3))),
    ]
    return f'<sdf version="1.7"><model name="m">{"".join(parts)}</model></sdf>'


def stance(seed):
    """One leg or two in a random posture, each foot on its heel and toe, or on its corners: machine, q, contacts."""
    rng = np.random.default_rng([17, seed])
    spatial, legs = seed % 2 == 1, 1 + seed // 2 % 2
    bodies = [Body("trunk", rng.uniform(5.0, 30.0), (0.0, 0.2, 0.0), (0.3, 0.4, 0.5))]
    joints, limbs = [(Free if spatial else Planar)("base", "ground", "trunk")], []
    for k in range(legs):
        side = 0.12 * (2 * k - (legs - 1))
        names = [f"{part}{k}" for part in ("abduct", "thigh", "shank", "foot")]
        parts = [
            Body(names[0], 0.5, inertia=(1e-3,) * 3),
            Body.rod(names[1], rng.uniform(2.0, 6.0), 0.4),
            Body.rod(names[2], rng.uniform(1.0, 4.0), 0.4),
            Body(names[3], 1.0, (0.03, -0.03, 0.0), (2e-3,) * 3),
        ]
        hip = Frame((0.0, 0.0, side))
        chain = [
            Revolute(f"roll{k}", "trunk", names[0], frame=hip, axis=(1.0, 0.0, 0.0)),
            Revolute(f"hip{k}", names[0] if spatial else "trunk", names[1], frame=Frame() if spatial else hip),
            Revolute(f"knee{k}", names[1], names[2], frame=Frame((0.4, 0.0, 0.0))),
            Revolute(f"ankle{k}", names[2], names[3], frame=Frame((0.4, 0.0, 0.0))),
        ]
        bodies += parts if spatial else parts[1:]
        joints += chain if spatial else chain[1:]
        limbs.append([j.name for j in (chain if spatial else chain[1:])])
    motors = [Actuator(name, effort=rng.uniform(50.0, 300.0)) for limb in limbs for name in limb]
    free = Mechanism("stance", bodies, joints, actuators=motors, gravity=(0.0, -9.81, 0.0))
    q = free.neutral()
    for limb in limbs:
        bend = rng.uniform(0.1, 0.8)
        lean = rng.uniform(-0.3, 0.3)
        values = {"roll": rng.uniform(-0.2, 0.2), "hip": -np.pi / 2 + lean + bend, "knee": -2.0 * bend}
        values["ankle"] = np.pi / 2 - lean + bend + rng.uniform(-0.1, 0.1)
        for name in limb:
            q[free.position_names.index(name)] = values[name[:-1]]
    loops = []
    back, front, wide = -rng.uniform(0.05, 0.1), rng.uniform(0.1, 0.2), (-0.05, 0.05) if spatial else (0.0,)
    for k in range(legs):
        for i, (x, z) in enumerate((x, z) for x in (back, front) for z in wide):
            place = free.point(q, f"foot{k}", (x, -0.08, z))
            loops.append(Point(f"contact{k}_{i}", "ground", f"foot{k}", place, (x, -0.08, z)))
    return Mechanism("stance", bodies, joints, loops, actuators=motors, gravity=(0.0, -9.81, 0.0)), q, rng


def rates_are_derivatives(reference, tolerance=1e-9):
    """Each rate of a reference, up to the jerk, is the derivative of the one before: of polynomials through its values.

    Between times where pieces meet, Chebyshev's polynomials of degree 16 are those values to rounding, and so are their
    derivatives to 16^2 of it, of the largest value over the length of the piece.
    """
    nodes, exact = np.polynomial.chebyshev.chebpts2(17), 17**2 * 1e-16
    for begin, end in smooth_times(reference):
        middle, half = 0.5 * (begin + end), 0.5 * (end - begin)
        times = middle + half * nodes * (1.0 - 1e-9)
        found = np.array(reference.derivatives(times, 4))
        for order in range(3):
            for values, rates in zip(found[order], found[order + 1], strict=True):
                fit = np.polynomial.chebyshev.Chebyshev.fit(times, values, 16, domain=[begin, end])
                size = np.abs(rates).max() + 100.0 * exact / tolerance * np.abs(values).max() / half
                assert np.abs(fit.deriv()(times) - rates).max() <= tolerance * size, (order, begin, end)


def smooth_times(reference):
    """Pairs of times between which a reference is smooth: those of its pieces, in parts."""
    if isinstance(reference, cmb.ElectronicCam):
        (master,), cams = reference.master._parts, reference.profile._parts
        turns = np.arange(-2, 20) * reference.profile.period
        angles = np.concatenate([(part.begins[:, None] + turns).ravel() for part in cams])
        meet = [
            brentq(lambda t, a=a: master(t, 1)[0] - a, *master.begins[[0, -1]]) for a in angles if 0 < a < master.end
        ]
        meet = np.unique(np.concatenate([master.begins, meet]))
    else:
        begins = [part.begins[np.isfinite(part.begins)] for part in reference._parts]
        first = begins[0][0] if begins[0].size else 0.0
        span = reference.span or (first, first + (reference.period or 1.0))
        meet = np.unique(np.concatenate([*begins, np.linspace(*span, 9)]))
    return [(a, b) for a, b in pairwise(meet) if b - a > 1e-9]


def toggle_press():
    """A press whose ram hangs on a toggle that a crank bends; at its lowest, ram and crank are at a dead centre."""
    bodies = [
        Body("crank", 180.0, (0.03, 0.0, 0.0), (3.0, 3.0, 5.0)),
        Body.rod("rod", 110.0, 0.66),
        Body.rod("upper", 90.0, 0.40),
        Body.rod("lower", 100.0, 0.50),
        Body("ram", 800.0, (0.0, -0.15, 0.0), (40.0, 40.0, 40.0)),
    ]
    joints = [
        Revolute("crank", "ground", "crank", frame=Frame((-0.78, -0.42, 0.0)), damping=20.0, armature=432.0),
        Revolute("rod", "crank", "rod", frame=Frame((0.12, 0.0, 0.0))),
        Revolute("upper", "ground", "upper"),
        Revolute("lower", "upper", "lower", frame=Frame((0.40, 0.0, 0.0))),
        Prismatic("ram", "ground", "ram", axis=(0, 1, 0), frame=Frame((0.0, -0.9, 0.0)), limits=(-0.002, 0.35)),
    ]
    loops = [
        PointOnLine("knee", "upper", "rod", (0.40, 0.0, 0.0), (0.66, 0.0, 0.0)),
        PointOnLine("ram_pin", "ram", "lower", (0.0, 0.0, 0.0), (0.50, 0.0, 0.0)),
    ]
    motors = [Actuator("crank", effort=60e3)]
    press = Mechanism("press", bodies, joints, loops, actuators=motors, gravity=(0.0, -9.81, 0.0))
    return press, press.assemble(crank=2.7, guess={"rod": -2.6, "upper": -2.2, "lower": 1.1, "ram": 0.13})
