"""Writer of machines as MJCF files.

Each body with mass becomes a body of MJCF, and a joint of several axes several joints of it, whose names are those of
our coordinates. With the frames F of a joint on its parent and C on its child, the child is at F X(q) C^-1. At zero
that is F C^-1, the pose that MJCF gives to the body; X turns about the axis C a of the body through the origin of C.
Of joints one after another, with bodies between them that have no mass, the frame of each is carried on to the last
body: E_i = E_(i+1) F_(i+1)^-1 C_i. Turned quaternions would be different, so the axes of a body behind a ball are those
of its frame C in the file.

Constraints end at sites, which hold wherever the zero of the machine is; those that MJCF does not have are replaced by
ones that leave the machine the same motions, where there are some.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np
from numpy.typing import NDArray

from .. import _check, _files
from ..characteristics import Characteristic, Friction, Rope, SpringDamper, Sum
from ..errors import BranchWarning, CmbError, ModelError
from ..model.elements import (
    GROUND,
    Actuator,
    Body,
    Cam,
    Coupling,
    Cylindrical,
    Distance,
    Fixed,
    Frame,
    Free,
    Joint,
    JointForce,
    JointSpring,
    Load,
    LoopPart,
    Planar,
    Point,
    PointForce,
    PointOnLine,
    PointOnPlane,
    PointSpring,
    Prismatic,
    Revolute,
    Shape,
    Spherical,
    Spring,
    Universal,
    Weld,
    rotation_to,
)
from ..model.mechanism import Mechanism
from ..model.units import cut_joints
from .conversion import Conversion, Remarks, leave_out_ratings
from .mjcf_model import UNLIMITED
from .visuals import rgba_of

__all__ = ["write_mjcf"]

Array = NDArray[np.float64]

ROUNDING = 2.0**-52
DEEPEST = 390  # bodies within one another: MuJoCo reads 500 levels of elements, and our own reader 400
LEAST = 2e-15  # kg, kg m2: MuJoCo takes 1e-15 and less for nothing, and refuses to move it
SNAP, SMALL = 1e-6, 1e-2  # m: MuJoCo puts frames on a body that are nearer than this into its frame
# of geoms that are for the eye alone; the group is the one of visuals by custom
_LOOKS = {"contype": "0", "conaffinity": "0", "mass": "0", "group": "2"}


def _child(parent: Element, tag: str, **attributes: str) -> Element:
    """Add a new element at the end of another one, and return it."""
    return SubElement(parent, tag, attributes)


def write_mjcf(machine: Mechanism, path: str | Path) -> Conversion:
    """Write a machine to a file of MuJoCo (MJCF). The package ``mujoco`` is not needed.

    Parameters
    ----------
    machine : Mechanism
    path : path

    Returns
    -------
    Conversion
        Remarks on all that the file does not hold, or holds in another form.

    Raises
    ------
    FileError
        Where the file cannot be written.
    ModelError
        Where a chain of bodies is longer than parsers follow.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from cmbcontrol import plants
    >>> with TemporaryDirectory() as folder:
    ...     print(write_mjcf(plants.pendulum(), Path(folder, "pendulum.xml")).of_kind("left out"))
    ()
    """
    _check.instance(machine, Mechanism, "machine")
    path, remarks = _check.path(path), Remarks()
    whole, gone = machine._whole or (machine, ())
    root = _Writer(whole, frozenset(gone), remarks).root()
    indent(root)
    _files.write(path, tostring(root, encoding="unicode") + "\n")
    return Conversion(machine, path, "MJCF", tuple(remarks.said))


@dataclass
class _Axis:
    """Joint of MJCF: its kind, its name, and its axis in the frame of our joint."""

    kind: str
    name: str
    axis: Array | None = None
    place: Frame = field(default_factory=Frame)  # of our joint, on the body of the file
    options: dict[str, str] = field(default_factory=dict)


@dataclass
class _Written:
    """Body of the file: ours, and the joints between it and the body that carries it."""

    body: Body
    joints: list[Joint]
    parent: str
    children: list[_Written] = field(default_factory=list)
    axes: Frame = field(default_factory=Frame)  # of the body of the file, on ours
    element: Element | None = None


class _Writer:
    def __init__(self, machine: Mechanism, gone: frozenset[str], remarks: Remarks) -> None:
        self.machine, self.gone, self.remarks = machine, gone, remarks
        self.bodies = {body.name: body for body in machine.bodies}
        self.carrier = {joint.child: joint for joint in machine.joints}
        self.below: dict[str, list[Joint]] = {}
        for joint in machine.joints:
            self.below.setdefault(joint.parent, []).append(joint)
        self.names = {"site": set[str](), "joint": set[str](), "tendon": set[str]()}
        self.axes: dict[str, _Axis] = {}  # of plain coordinates, by their names
        self.order: list[_Axis] = []
        self.homes: dict[str, tuple[str, Frame]] = {GROUND: ("world", Frame())}  # body -> body of the file, and on it
        self.element: dict[str, Element] = {}
        self.tree: dict[str, _Written] = {}
        self._known: list[Array] | None = None

    def root(self) -> Element:
        machine = self.machine
        root = Element("mujoco", model=machine.name)
        _child(root, "compiler", angle="radian", autolimits="true")
        _child(root, "option", gravity=_text(machine.gravity))
        if machine.source:
            _child(_child(root, "custom"), "text", name="source", data=machine.source)
        self.assets = Element("asset")
        world = _child(root, "worldbody")
        self.element["world"] = world
        self._write_tree(world)
        self.tendons, self.equalities = Element("tendon"), Element("equality")
        self.actuators, self.keyframes = Element("actuator"), Element("keyframe")
        for joint in machine.joints:
            if joint.pitch:
                self._couple(f"{joint.name}_screw", {f"{joint.name}_travel": 1.0, joint.name: -joint.pitch}, 0.0, {})
        self._write_loops()
        self._write_springs()
        self._write_forces()
        for load in machine.loads:
            self._write_load(load)
        for actuator in machine.actuators:
            self._write_actuator(actuator)
        self._write_configurations()
        for cylinder in machine.cylinders:
            self.remarks.changed(f"cylinder {cylinder.name!r}", "is its bodies, joints, loop and motor")
        if len(self.assets):
            root.append(self.assets)
        root.extend(x for x in (self.tendons, self.equalities, self.actuators, self.keyframes) if len(x))
        if machine.size < SMALL:
            self.remarks.changed(
                "lengths", f"MuJoCo takes places nearer than {SNAP:g} m for one, in a machine of {machine.size:.2g} m"
            )
        if len(self.equalities):
            self.remarks.changed("constraints", "are soft in MuJoCo; give them solref and solimp there")
        return root

    # -- bodies ------------------------------------------------------------------------------------

    def _write_tree(self, world: Element) -> None:
        top: list[_Written] = []
        self.referred = self._referred_bodies()
        waiting = [(joint, GROUND, top) for joint in self.below.get(GROUND, [])]
        for joint, parent, siblings in waiting:  # grows while it is gone through
            chain = [joint]
            while (nearer := self._passed_on(chain)) is not None:
                chain.append(nearer)
            body = self.bodies[chain[-1].child]
            made = _Written(body, chain, parent)
            siblings.append(made)
            waiting += [(j, body.name, made.children) for j in self.below.get(body.name, [])]
        stack = [(made, world, 1) for made in reversed(top)]
        while stack:  # depth first, as MuJoCo numbers coordinates
            made, under, depth = stack.pop()
            if depth > DEEPEST:
                raise ModelError(
                    f"body {made.body.name!r} is number {depth} of a chain, and in MJCF each is within the one before: "
                    f"parsers follow {DEEPEST}. Start the chain in its middle, and close it with cut joints"
                )
            element = self._write_body(made, under)
            stack += [(child, element, depth + 1) for child in reversed(made.children)]
        ours = [n for j in self.machine.joints for n in j.position_names]
        names = [name for axis in self.order for name in self._coordinates(axis)]
        if names != [n for n in ours if n in names] and sorted(names) == sorted(ours):
            self.remarks.changed("coordinates", "are in another order, from body to body outwards")

    @staticmethod
    def _coordinates(axis: _Axis) -> list[str]:
        if axis.kind == "free":
            return [f"{axis.name}_{s}" for s in Free.position_suffixes]
        return [f"{axis.name}_{s}" for s in Spherical.position_suffixes] if axis.kind == "ball" else [axis.name]

    def _referred_bodies(self) -> set[str]:
        """Names of bodies that constraints, forces or actuators refer to."""
        machine = self.machine
        parts = (*machine.loops, *machine.springs, *machine.forces, *machine.loads, *machine.actuators)
        return {end for part in parts for end in part.ends}

    def _passed_on(self, chain: list[Joint]) -> Joint | None:
        """Joint behind a body that is only a massless link between two joints; None for other bodies."""
        body, below = self.bodies[chain[-1].child], self.below.get(chain[-1].child, [])
        if body.mass or len(below) != 1 or body.name in self.referred or not chain[-1].steps:
            return None
        kinds = [kind for joint in [*chain, below[0]] for kind in self._kinds(joint)]
        turns = kinds.count("ball") * 3 + kinds.count("hinge")
        allowed = "free" not in kinds and (turns <= 3 if "ball" in kinds else True)
        return below[0] if allowed and below[0].steps else None

    def _kinds(self, joint: Joint) -> list[str]:
        return [axis.kind for axis in self._made_axes(joint)]

    def _made_axes(self, joint: Joint) -> list[_Axis]:
        """Joints of MJCF for a joint of the machine."""
        n = joint.name
        if joint.floats and not (joint.parent == GROUND and _is_identity(joint.frame)):
            return [*(_Axis("slide", f"{n}_{k}", e) for k, e in zip("xyz", np.eye(3), strict=True)), _Axis("ball", n)]
        kinds = {"turn": "hinge"}
        return [_Axis(kinds.get(x.kind, x.kind), f"{n}_{x.suffix}" if x.suffix else n, x.axis) for x in joint.steps]

    def _write_body(self, made: _Written, under: Element) -> Element:
        body, joints = made.body, made.joints
        parent_axes = self.tree[made.parent].axes if made.parent in self.tree else Frame()
        places = [joints[-1].child_frame]
        for joint, behind in zip(joints[-2::-1], joints[:0:-1], strict=True):
            places.insert(0, places[0] @ behind.frame.inverse() @ joint.child_frame)
        balls = [i for i, joint in enumerate(joints) if joint.has_quaternion]
        for i in balls:  # one at most; slides may follow it, which keep its axes
            free = joints[i].floats
            made.axes = places[i] if free else Frame((0.0, 0.0, 0.0), places[i].R)
            if not _is_identity(made.axes):
                self.remarks.changed(
                    f"body {body.name!r}", f"has the axes of joint {joints[i].name!r} in the file, for its coordinates"
                )
        self.tree[body.name] = made
        back = made.axes.inverse()
        places = [back @ place for place in places]
        for i in balls:  # not off by rounding
            places[i] = Frame((0.0, 0.0, 0.0) if joints[i].floats else places[i].p)
        pose = parent_axes.inverse()
        for joint in joints:
            pose = pose @ joint.frame @ joint.child_frame.inverse()
        pose = pose @ made.axes
        if not (body.mass or body.shapes or made.children) and not joints[0].steps:
            self.homes[body.name] = self._home_of(made.parent, parent_axes @ pose @ made.axes.inverse())
            self.names["site"].add(body.name)
            _child(under, "site", name=body.name, **_pose(pose @ made.axes.inverse()))
            return under
        name = body.name if body.name != "world" else self._free_name("world_body", {*self.bodies, "world"})
        if name != body.name:
            self.remarks.changed(f"body {body.name!r}", f"is called {name!r} in the file")
        element = _child(under, "body", name=name, **_pose(pose))
        made.element = self.element[name] = element
        self.homes[body.name] = name, made.axes.inverse()
        for joint, place in zip(joints, places, strict=True):
            self._write_joint(joint, place, element)
        for joint in joints[:-1]:
            self.homes[joint.child] = self.homes[body.name]  # no place on it is asked for
        self._write_inertia(made, element)
        for shape in body.shapes:
            self._write_shape(shape.moved(back), element)
        return element

    def _write_shape(self, shape: Shape, element: Element) -> None:
        """Write a geom without mass and contacts; a mesh for shapes that MJCF does not have."""
        given = dict(_LOOKS) if shape.color is None else _LOOKS | {"rgba": rgba_of(shape.color)}
        kind, frame, sizes = shape.primitive
        if kind == "mesh":
            name = f"shape_{len(self.assets) + 1}"
            vertices, faces, smooth = shape.triangles()
            vertices = np.resize(vertices, (max(len(vertices), 4), 3))  # MuJoCo wants four
            look = {"vertex": _text(vertices.ravel()), "face": " ".join(map(str, faces.ravel()))}
            # inertia="shell": MuJoCo computes volumes of the others, and refuses surfaces that are not closed
            _child(self.assets, "mesh", name=name, inertia="shell", smoothnormal="true" if smooth else "false", **look)
            given |= {"type": "mesh", "mesh": name}
        else:
            halves = np.hstack([x if key == "radius" else 0.5 * x for key, x in sizes.items()])
            given |= {"type": kind, "size": _text(halves), **_pose(frame)}
        _child(element, "geom", **given)

    def _home_of(self, parent: str, frame: Frame) -> tuple[str, Frame]:
        name, place = self.homes[parent]
        return name, place @ frame

    def _write_joint(self, joint: Joint, place: Frame, element: Element) -> None:
        axes = self._made_axes(joint)
        if not axes:
            self.remarks.changed(f"joint {joint.name!r}", "fixes its body, which has no joint in MJCF, and so no name")
        elif joint.floats and axes[0].kind != "free":
            self.remarks.changed(
                f"joint {joint.name!r}", "is three slides and a ball: MJCF has free joints in the world only"
            )
        self._give_options(joint, axes)
        if len(axes) > 1:  # the reader makes one joint of them again
            axes[0].options["user"] = str(len(axes))
        for axis in axes:
            if axis.name in self.names["joint"]:
                axis.name = self._free_name(axis.name, self.names["joint"])
            self.names["joint"].add(axis.name)
            self.order.append(axis)
            if axis.kind == "free":
                _child(element, "joint", name=axis.name, type="free", **axis.options)
                continue
            more = {} if axis.kind == "ball" else {"axis": _text(place.R @ axis.axis)}  # type: ignore[operator]
            if axis.kind != "ball":
                self.axes[axis.name] = axis
            _child(element, "joint", name=axis.name, type=axis.kind, pos=_text(place.p), **more, **axis.options)

    def _give_options(self, joint: Joint, axes: list[_Axis]) -> None:
        damping, armature = np.asarray(joint.damping), np.asarray(joint.armature)
        if damping.any() and not joint.plain_names:
            # along the axes of the child here, and along others there: the same where they are alike
            turns = np.array([unit == "rad/s" for unit in joint.velocity_units])
            along, about = damping[~turns], damping[turns]
            groups = (damping,) if axes[0].kind == "free" else (along, about)
            alike = all(np.ptp(x) == 0.0 for x in groups if x.size)
            values = [(about if axis.kind in ("ball", "hinge") else along)[0] for axis in axes] if alike else None
        else:
            per_axis = len(axes) == len(damping) or joint.pitch
            values = list(damping) + [0.0] * (len(axes) - len(damping)) if per_axis else None
        if values is None and damping.any():
            self.remarks.left_out(f"the damping of joint {joint.name!r}", "MJCF has one number for all directions")
        for axis, value in zip(axes, values or (), strict=False):
            if value:
                axis.options["damping"] = _text(value)
        for axis, value in zip(axes, armature, strict=False):
            if value:
                axis.options["armature"] = _text(value)
        limits = np.asarray(joint.limits)
        for name, pair in zip(joint.position_names, limits, strict=True):
            if not np.isfinite(pair).any():
                continue
            axis = next((x for x in axes if x.name == name and x.kind in ("hinge", "slide")), None)
            if axis is None:
                self.remarks.left_out(f"the limits of {name!r}", "MJCF has none of this coordinate")
            else:
                axis.options["range"] = _text(np.clip(pair, -UNLIMITED, UNLIMITED))
        if joint.restitution and np.isfinite(limits).any():
            self.remarks.left_out(f"the restitution of joint {joint.name!r}", "end stops are soft in MuJoCo")

    def _write_inertia(self, made: _Written, element: Element) -> None:
        """Write inertia by principal moments, since MuJoCo would find them with an error of 1e-12."""
        body, back = made.body, made.axes.inverse()
        moving = bool(made.joints[-1].steps)
        if not body.mass and not moving:
            return
        moments, turn = np.linalg.eigh(np.asarray(body.inertia))
        if np.array_equal(body.inertia, np.diag(np.diagonal(body.inertia))):
            moments, turn = np.diagonal(body.inertia).copy(), np.eye(3)
        if np.linalg.det(turn) < 0.0:
            turn = turn * (1.0, 1.0, -1.0)
        mass, given = body.mass, moments.copy()
        if moving:
            mass, moments = max(mass, LEAST), np.maximum(moments, LEAST)
        # the triangle's inequality, which a thin body fulfils to rounding, with a bit more than that
        least, largest = int(np.argmin(moments)), float(np.max(moments))
        lacking = 2.0 * largest - float(moments.sum())
        if lacking > -2.0 * ROUNDING * largest:
            moments[least] += max(lacking, 0.0) + 4.0 * ROUNDING * largest
        if mass != body.mass:
            self.remarks.changed(f"body {body.name!r}", f"has a mass of {LEAST:g} kg, for MuJoCo moves none without")
        elif np.abs(moments - given).max() > 1e-12 * largest or (given <= 0.0).any():
            self.remarks.changed(f"body {body.name!r}", f"has inertias of {LEAST:g} kg m2 in place of zero")
        pose = _pose(back @ Frame(body.com, turn)) or {"pos": "0 0 0"}
        pose.setdefault("pos", "0 0 0")
        _child(element, "inertial", mass=_text(mass), diaginertia=_text(moments), **pose)

    # -- sites -------------------------------------------------------------------------------------

    def _free_name(self, wanted: str, taken: Iterable[str]) -> str:
        name, k = wanted, 1
        while name in taken:
            k += 1
            name = f"{wanted}_{k}"
        return name

    def _site(self, wanted: str, body: str, frame: Frame) -> str:
        """Name of a site at a frame of a body; it is made if needed."""
        home, place = self.homes[body]
        name = self._free_name(wanted, {*self.names["site"], *self.bodies})
        self.names["site"].add(name)
        _child(self.element[home], "site", name=name, **_pose(place @ frame))
        return name

    def _sites(self, name: str, a: str, b: str, fa: Frame, fb: Frame) -> dict[str, str]:
        return {"site1": self._site(f"{name}_a", a, fa), "site2": self._site(f"{name}_b", b, fb)}

    # -- constraints -------------------------------------------------------------------------------

    def _write_loops(self) -> None:
        """Write constraints: those that MJCF has, then replacements of the others."""
        known = [loop for loop in self.machine.loops if self._is_known(loop)]
        others = [loop for loop in self.machine.loops if not self._is_known(loop)]
        order = {loop.name: k for k, loop in enumerate(self.machine.loops)}
        while (found := self._replacement(known, others)) is not None:
            loop, other, words = found
            others.remove(loop)
            known += [] if other is None else [other]
            self.remarks.changed(_called(loop), f"{words}, which leaves the machine the same motions")
        by_planes = [loop for loop in others if type(loop) in _OF_PLANES]
        for loop in sorted(known + by_planes, key=lambda loop: order[loop.name]):
            self._write_loop(loop)
        for loop in others:
            if loop in by_planes:
                continue
            self.remarks.left_out(_called(loop), f"MJCF has no constraint for this {type(loop).__name__}")

    @staticmethod
    def _is_known(loop: LoopPart) -> bool:
        return type(loop) in _HELD and type(loop) not in _OF_PLANES

    def _write_loop(self, loop: LoopPart) -> None:
        _HELD[type(loop)](self, loop, {"active": "false"} if loop.name in self.gone else {})

    def _point(self, loop: Any, off: dict[str, str]) -> None:
        self._connect(loop.name, *_ends(loop), off)

    def _weld(self, loop: Any, off: dict[str, str]) -> None:
        _child(self.equalities, "weld", name=loop.name, **self._sites(loop.name, *_ends(loop)), **off)

    def _fixed(self, joint: Any, off: dict[str, str]) -> None:
        self._weld(joint, off)
        self.remarks.changed(f"cut joint {joint.name!r}", "is a weld")

    def _coupling(self, loop: Any, off: dict[str, str]) -> None:
        self._couple(loop.name, loop.coefficients, loop.offset, off)

    def _connect(self, name: str, a: str, b: str, fa: Frame, fb: Frame, off: dict[str, str]) -> None:
        ends = self._sites(name, a, b, Frame(fa.p), Frame(fb.p))
        _child(self.equalities, "connect", name=name, **ends, **off)

    def _hinge(self, joint: Any, off: dict[str, str]) -> None:
        """Write a hinge as two points on its axis, with six rows of which five are independent."""
        name, (a, b, fa, fb) = joint.name, _ends(joint)
        self._connect(name, a, b, fa, fb, off)
        along = Frame(self.machine.size * joint.axis)
        self._connect(f"{name}_axis", a, b, fa @ along, fb @ along, off)
        self.remarks.changed(f"cut joint {name!r}", "is two points on its axis: 6 rows, of which 5 are independent")

    def _universal(self, joint: Universal, off: dict[str, str]) -> None:
        """Write a universal joint as a point and a distance sqrt(2) L, of points on its axes at L a and L b from it."""
        self._connect(joint.name, *_ends(joint), off)
        a, b, fa, fb = _ends(joint)
        L = self.machine.size
        pa, pb = fa @ Frame(L * joint.axis), fb @ Frame(L * joint.second_axis)
        name = f"{joint.name}_cross"
        self._distance(Distance(name, a, b, pa.p, pb.p, math.sqrt(2.0) * L), off)
        self.remarks.changed(f"cut joint {joint.name!r}", "is a point, and a distance between points on its axes")

    def _distance(self, loop: Distance, off: dict[str, str]) -> None:
        """Write a distance as a tendon; MuJoCo holds its difference to the length at the zero of the machine."""
        tendon = self._tendon(loop.name, loop.a, loop.b, loop.point_a, loop.point_b)
        zero = self.machine.neutral()
        ends = [self.machine.point(zero, body, p) for body, p in ((loop.a, loop.point_a), (loop.b, loop.point_b))]
        change = float(loop.length) - float(np.linalg.norm(ends[1] - ends[0]))
        polynomial = _text([change, 0.0, 0.0, 0.0, 0.0])
        _child(self.equalities, "tendon", name=loop.name, tendon1=tendon, polycoef=polynomial, **off)

    def _by_planes(self, loop: LoopPart, off: dict[str, str]) -> None:
        """Write points in planes: each has the same distance to two points, mirrored at its plane, by two tendons.

        On the plane, the gradient of the difference of these distances is along the normal, so the rows are those of
        the constraint.
        """
        for suffix, pa, pb, normal in self._planes(loop):
            a, b, *_ = _ends(loop)
            name, zero = f"{loop.name}{suffix}", self.machine.neutral()
            ends = [pa + side * self.machine.size * normal for side in (1.0, -1.0)]
            tendons = [self._tendon(f"{name}_{i}", a, b, end, pb) for i, end in zip((1, 2), ends, strict=True)]
            here = self.machine.point(zero, b, pb)
            lengths = [float(np.linalg.norm(self.machine.point(zero, a, end) - here)) for end in ends]
            polynomial = _text([lengths[1] - lengths[0], 1.0, 0.0, 0.0, 0.0])
            both = {"tendon1": tendons[0], "tendon2": tendons[1]}
            _child(self.equalities, "tendon", name=name, **both, polycoef=polynomial, **off)
        self.remarks.changed(_called(loop), "is points in planes, each held there by two tendons of equal length")

    def _planes(self, loop: LoopPart) -> list[tuple[str, Array, Array, Array]]:
        """Points in planes for a constraint: suffix of the name, point on a, point on b, and normal on a."""
        _, _, fa, fb = _ends(loop)
        held = {row.label for row in loop.rows()}
        if "normal" in held:
            return [("", fa.p, fb.p, np.asarray(loop.normal))]  # type: ignore[attr-defined]
        turn = rotation_to(loop.axis)  # type: ignore[attr-defined]
        (x, y, z), (u, v, w) = (fa.R @ turn).T, self.machine.size * (fb.R @ turn).T
        if "z" in held:
            return [("", fa.p, fb.p, z), ("_2", fa.p, fb.p + u, z), ("_3", fa.p, fb.p + v, z)]
        planes = [("", fa.p, fb.p, x), ("_plane", fa.p, fb.p, y)]
        if "tilt_x" in held:
            planes += [("_far", fa.p, fb.p + w, x), ("_far_plane", fa.p, fb.p + w, y)]
        return [*planes, ("_turn", fa.p, fb.p + u, y)] if "twist" in held else planes

    def _tendon(self, wanted: str, a: str, b: str, pa: object, pb: object, **more: str) -> str:
        name = self._free_name(wanted, self.names["tendon"])
        self.names["tendon"].add(name)
        tendon = _child(self.tendons, "spatial", name=name, **more)
        ends = self._sites(wanted, a, b, Frame(pa), Frame(pb))  # type: ignore[arg-type]
        for site in ends.values():
            _child(tendon, "site", site=site)
        return name

    def _couple(self, name: str, given: Mapping[str, float], offset: float, off: dict[str, str]) -> None:
        """Write a coupling: as an equality of two joints if one coefficient is 1, else by a tendon that is the sum."""
        coefficients = {n: c for n, c in given.items() if c}
        if missing := [n for n in coefficients if n not in self.axes]:
            return self.remarks.left_out(f"coupling {name!r}", f"MJCF has no coordinate {missing[0]!r}")
        first = next((n for n, c in coefficients.items() if c == 1.0), None)
        if first is not None and len(coefficients) <= 2:
            second = next((n for n in coefficients if n != first), None)
            slope = 0.0 if second is None else -coefficients[second]
            ends = {"joint1": first} | ({} if second is None else {"joint2": second})
            polynomial = _text([offset, slope, 0.0, 0.0, 0.0])
            _child(self.equalities, "joint", name=name, **ends, polycoef=polynomial, **off)
            return None
        tendon = self._free_name(name, self.names["tendon"])
        self.names["tendon"].add(tendon)
        made = _child(self.tendons, "fixed", name=tendon)
        for coordinate, c in coefficients.items():
            _child(made, "joint", joint=coordinate, coef=_text(c))
        polynomial = _text([offset, 0.0, 0.0, 0.0, 0.0])
        _child(self.equalities, "tendon", name=name, tendon1=tendon, polycoef=polynomial, **off)
        return None

    def _cam(self, cam: Cam, off: dict[str, str]) -> None:
        """Write a cam as a polynomial of degree four, if its profile is one."""
        c = None if {cam.cam, cam.follower} - {*self.axes} else _quartic(cam)
        if c is None:
            return self.remarks.left_out(f"cam {cam.name!r}", "its profile is no polynomial of degree four")
        c = [c[0] + cam.offset, *c[1:]]
        ends = {"joint1": cam.follower, "joint2": cam.cam}
        _child(self.equalities, "joint", name=cam.name, **ends, polycoef=_text(c), **off)
        return None

    # -- constraints that MJCF does not know -------------------------------------------------------

    def _replacement(
        self, known: list[LoopPart], others: list[LoopPart]
    ) -> tuple[LoopPart, LoopPart | None, str] | None:
        """Next constraint that has a replacement, the replacement (None: left away), and its description; or None."""
        for loop in others:
            for other, words in self._stronger(loop):
                if self._same_motions(known, loop, other):
                    return loop, other, words
        return None

    def _stronger(self, loop: LoopPart) -> Iterator[tuple[LoopPart | None, str]]:
        yield None, "is left away"
        name = loop.name
        if not (isinstance(loop, Joint) or type(loop) in _OF_PLANES):
            return
        a, b, fa, fb = _ends(loop)
        yield Point(name, a, b, fa.p, fb.p), "is a point"
        if isinstance(loop, Joint):
            if "twist" not in {row.label for row in loop.rows()}:
                axis = loop.axis  # type: ignore[attr-defined]
                yield Revolute(name, a, b, frame=fa, child_frame=fb, axis=axis), "is two points on its axis"
            yield Weld(name, a, b, fa, fb), "is a weld"

    def _same_motions(self, known: list[LoopPart], loop: LoopPart, other: LoopPart | None) -> bool:
        """Whether a constraint and its replacement allow the same motions beside the known ones."""
        try:
            first = self._with_loops([*known, loop])
            second = self._with_loops(known if other is None else [*known, other])
        except CmbError:
            return False
        closed = self._closed()
        for q in closed:
            J, K = self._metres(first, q), self._metres(second, q)
            left = float(np.abs(second.residual(q)).max(initial=0.0))
            if left > 1e-9 * self.machine.length_scale(q) or len({_rank(J), _rank(K), _rank(np.vstack([J, K]))}) > 1:
                return False
        return len(closed) > 1 and self._leads_nowhere_else(first, second, closed[-1])

    @staticmethod
    def _leads_nowhere_else(first: Mechanism, second: Mechanism, q: Array) -> bool:
        """Whether configurations near q that close the second machine also close the first (random trials)."""
        rng, tried = np.random.default_rng(1), 0
        for _ in range(6):
            try:
                other = _assembled(
                    second, second.integrate(q, 0.3 * second.displacement_scale * rng.uniform(-1.0, 1.0, second.nv))
                )
            except CmbError:
                continue
            if np.abs(first.residual(other)).max(initial=0.0) > 1e-9 * first.length_scale(other):
                return False
            tried += 1
            if tried == 2:
                return True
        return False

    def _with_loops(self, loops: list[LoopPart]) -> Mechanism:
        """Machine with other loops, and without forces and actuators."""
        # a candidate: that its rows agree to some digits is no find about the machine
        parts = {"loops": loops, "actuators": (), "forces": (), "springs": (), "loads": (), "configurations": {}}
        return self.machine.with_parts(**parts, precision=0.0)

    @staticmethod
    def _metres(machine: Mechanism, q: Array) -> Array:
        """Constraint Jacobian of a machine, with rows and columns in metres."""
        return machine.jacobian(q) * np.asarray(machine.row_scale)[:, None] / np.asarray(machine.unit_lengths)

    def _closed(self) -> list[Array]:
        """Closed configurations that differ: the one nearest to zero, and some on the way from it."""
        if self._known is None:
            rng, machine = np.random.default_rng(0), self.machine
            self._known = []
            for reach in (0.0, 0.3, 0.5, 0.7, 0.9):
                start = self._known[0] if self._known else machine.neutral()
                guess = machine.integrate(
                    start, reach * machine.displacement_scale * rng.uniform(-1.0, 1.0, machine.nv)
                )
                try:
                    q = _assembled(machine, guess)
                except CmbError:
                    continue
                if min((self._apart(known, q) for known in self._known), default=1.0) > 1e-2:
                    self._known.append(q)
        return self._known

    def _apart(self, first: Array, second: Array) -> float:
        """Distance of the bodies between two configurations: radians, and sizes of the machine."""
        (R, p), (S, r) = (self.machine.link_poses(q) for q in (first, second))
        return max(np.abs(R - S).max(initial=0.0), np.abs(p - r).max(initial=0.0) / self.machine.size)

    # -- forces ------------------------------------------------------------------------------------

    def _write_springs(self) -> None:
        """Write the springs of each coordinate as one, at the place where their forces cancel."""
        springs: dict[str, list[Spring]] = {}
        spring: Any
        for spring in self.machine.springs:
            if spring.ends:
                self._point_spring(spring.name, spring, spring.stiffness, spring.rest, spring.damping)
            for joint in spring.coordinates:
                springs.setdefault(joint, []).append(spring)
        force: Any
        for force in self.machine.forces:
            if len(force.coordinates) == 1:
                kept = [x for x in _parts(force.characteristic) if not isinstance(x, SpringDamper)]
                for x in _parts(force.characteristic):
                    if isinstance(x, SpringDamper):
                        made = JointSpring(force.name, force.joint, x.stiffness, x.rest, x.damping)
                        springs.setdefault(force.joint, []).append(made)
                        if len(kept) == 0:
                            self.remarks.changed(f"force element {force.name!r}", "is the spring of its joint")
        for coordinate, several in springs.items():
            axis = self.axes.get(coordinate)
            names = ", ".join(repr(spring.name) for spring in several)
            if axis is None:
                self.remarks.left_out(f"spring {names}", f"MJCF has no spring on {coordinate!r}")
                continue
            stiffness = sum(spring.stiffness for spring in several)
            moment = sum(spring.stiffness * spring.rest for spring in several)
            if stiffness == 0.0 and moment:
                self.remarks.left_out(f"springs {names}", "together they are a constant force")
            elif stiffness < 0.0:
                self.remarks.left_out(f"spring {names}", "MJCF has no negative stiffness")
            elif stiffness:
                rest = several[0].rest if len(several) == 1 else moment / stiffness
                self._set(coordinate, "stiffness", stiffness)
                self._set(coordinate, "springref", rest)
            if damping := sum(spring.damping for spring in several):
                self._add(coordinate, "damping", damping)
                self.remarks.changed(f"the damper of spring {names}", "is that of the joint")
            wanted = [f"{coordinate}_spring"]
            if len(several) > 1 or [spring.name for spring in several] != wanted:
                self.remarks.changed(f"spring {names}", "is that of the joint, which has no name of its own")

    def _set(self, coordinate: str, key: str, value: float) -> None:
        element = next(x for x in self._joint_elements() if x.get("name") == coordinate)
        element.set(key, _text(value))

    def _add(self, coordinate: str, key: str, value: float) -> None:
        element = next(x for x in self._joint_elements() if x.get("name") == coordinate)
        element.set(key, _text(float(element.get(key, "0")) + value))

    def _joint_elements(self) -> Iterator[Element]:
        return self.element["world"].iter("joint")

    def _point_spring(
        self,
        name: str,
        on: PointSpring | PointForce,
        stiffness: float,
        rest: float,
        damping: float,
        low: float | None = None,
    ) -> None:
        if stiffness < 0.0 or (rest < 0.0 and stiffness):
            return self.remarks.left_out(f"spring {name!r}", "MJCF has no tendon of negative stiffness or length")
        more = {"springlength": _text([rest if low is None else low, rest] if stiffness else [0.0, 0.0])}
        if stiffness:
            more["stiffness"] = _text(stiffness)
        if damping:
            more["damping"] = _text(damping)
        tendon = self._tendon(name, on.a, on.b, on.point_a, on.point_b, **more)
        if tendon != name:
            self.remarks.changed(f"spring {name!r}", f"is tendon {tendon!r} in the file")
        return None

    def _write_forces(self) -> None:
        force: Any
        for force in self.machine.forces:
            what = f"force element {force.name!r}"
            if len(force.coordinates) == 1:
                for x in _parts(force.characteristic):
                    if isinstance(x, SpringDamper):
                        continue
                    if isinstance(x, Friction) and force.joint in self.axes:
                        self._friction(force, x)
                    else:
                        self.remarks.left_out(what, f"MJCF has no {type(x).__name__.lstrip('_')} on {force.joint!r}")
                continue
            law = getattr(force, "characteristic", None)
            if force.ends and isinstance(law, SpringDamper):
                self._point_spring(force.name, force, law.stiffness, law.rest, law.damping)
                self.remarks.changed(what, "is the spring of a tendon")
            elif force.ends and isinstance(law, Rope) and not law.damping:
                self._point_spring(force.name, force, law.stiffness, law.length, 0.0, low=0.0)
            else:
                self.remarks.left_out(what, f"MJCF has no {force.summary}")

    def _friction(self, force: JointForce, law: Friction) -> None:
        if law.coulomb:
            self._add(force.joint, "frictionloss", law.coulomb)
        if law.viscous:
            self._add(force.joint, "damping", law.viscous)
        if law.static != law.coulomb:
            self.remarks.left_out(f"the static friction of {force.name!r}", "MJCF has one of sliding only")
        self.remarks.changed(
            f"force element {force.name!r}", "is the friction of its joint, with the transition of MuJoCo's solver"
        )

    def _write_load(self, load: Load) -> None:
        """Write a load as a compensation of gravity, if it is a force along gravity at the centre of mass."""
        body, g = self.bodies[load.body], self.machine.gravity
        what, size = f"load {load.name!r}", float(np.linalg.norm(g))
        force, moment = np.asarray(load.force), np.asarray(load.moment)
        if not force.any() and not moment.any():
            return self.remarks.left_out(what, "MJCF has no place for external forces")
        at_com = np.array_equal(load.frame.p, body.com) and not moment.any() and load.axes == "world"
        along = size > 0.0 and np.abs(np.cross(force, g)).max() <= 4.0 * ROUNDING * size * float(np.linalg.norm(force))
        element = self.tree[load.body].element if load.body in self.tree else None
        if not (at_com and along and body.mass and element is not None):
            return self.remarks.left_out(what, "MJCF has no place for external forces")
        compensated = float(element.get("gravcomp", "0")) - float(force @ g) / (size**2 * body.mass)
        element.set("gravcomp", _text(compensated))
        return self.remarks.changed(what, "is a compensation of gravity")

    # -- actuators and configurations --------------------------------------------------------------

    def _write_actuator(self, actuator: Actuator) -> None:
        what = f"actuator {actuator.name!r}"
        leave_out_ratings(actuator, self.remarks, "MJCF")
        options = {"name": actuator.name}
        if math.isfinite(actuator.effort):
            options["ctrlrange"] = _text([-actuator.effort, actuator.effort])
        gear = np.zeros(6)
        if actuator.bodies is not None:
            a, b = actuator.bodies
            gear[3:] = actuator.gear * np.asarray(actuator.axis)
            ends = {"refsite": self._site(f"{actuator.name}_from", a, Frame()),
                    "site": self._site(f"{actuator.name}_on", b, Frame())}  # fmt: skip
            _child(self.actuators, "motor", gear=_text(gear), **ends, **options)
        elif actuator.joint in self.axes:
            _child(self.actuators, "motor", joint=actuator.joint, gear=_text(actuator.gear), **options)
        elif (cut := cut_joints(self.machine).get(actuator.joint)) is not None:
            a, b, fa, fb = _ends(cut)
            torque, force = cut.effort_axes()  # type: ignore[misc]
            gear = actuator.gear * np.concatenate([force, torque])
            ends = {"refsite": self._site(f"{actuator.name}_from", a, fa),
                    "site": self._site(f"{actuator.name}_on", b, fb)}  # fmt: skip
            _child(self.actuators, "motor", gear=_text(gear), **ends, **options)
            self.remarks.changed(what, "acts between two sites at the cut joint")
        else:
            self.remarks.left_out(what, f"MJCF has no coordinate {actuator.joint!r} to drive")

    def _write_configurations(self) -> None:
        machine, found = self.machine, {}
        for name in machine.configurations:
            try:
                found[name] = machine.configuration(name)
            except CmbError as error:
                self.remarks.left_out(f"configuration {name!r}", f"it cannot be found: {error}")
        if not found and machine.loops:
            try:
                found["start"] = _assembled(machine, machine.neutral())
            except CmbError:
                self.remarks.assumed("the start", "the loops cannot be closed from the zero of the coordinates")
            else:
                if np.array_equal(found["start"], machine.neutral()):
                    del found["start"]
                else:
                    self.remarks.assumed("keyframe 'start'", "is where the loops close nearest to zero")
        for name, q in found.items():
            values = dict(zip(machine.position_names, q.tolist(), strict=True))
            for joint in machine.joints:
                if joint.pitch:
                    values[f"{joint.name}_travel"] = joint.pitch * values[joint.name]
            qpos = [values[n] for axis in self.order for n in self._positions(axis)]
            _child(self.keyframes, "key", name=name, qpos=_text(qpos))

    def _positions(self, axis: _Axis) -> list[str]:
        """Coordinates of a joint of MJCF in the order of the file: for a free one the position comes first."""
        names = self._coordinates(axis)
        return [*names[4:], *names[:4]] if axis.kind == "free" else names


_OF_PLANES = (PointOnPlane, PointOnLine, Cylindrical, Prismatic, Planar)
_HELD: dict[type, Callable[[_Writer, Any, dict[str, str]], None]] = {
    Point: _Writer._point,
    Spherical: _Writer._point,
    Weld: _Writer._weld,
    Fixed: _Writer._fixed,
    Revolute: _Writer._hinge,
    Universal: _Writer._universal,
    Distance: _Writer._distance,
    Coupling: _Writer._coupling,
    Cam: _Writer._cam,
    **dict.fromkeys(_OF_PLANES, _Writer._by_planes),
}


def _assembled(machine: Mechanism, guess: Array) -> Array:
    """Closed configuration nearest to a guess, on any branch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BranchWarning)
        return machine.assemble(guess=guess)


def _parts(law: Characteristic) -> Sequence[Characteristic]:
    return law.parts if isinstance(law, Sum) else (law,)


def _ends(loop: LoopPart) -> tuple[str, str, Frame, Frame]:
    """Bodies and frames that a constraint connects."""
    return *loop.ends, *loop.frames  # type: ignore[return-value]


def _called(loop: LoopPart) -> str:
    return f"{'cut joint' if isinstance(loop, Joint) else 'constraint'} {loop.name!r}"


def _rank(A: Array) -> int:
    """Rank of a matrix in metres; values below 1e-9 are errors of closed configurations."""
    values = np.linalg.svd(A, compute_uv=False) if A.size else np.zeros(0)
    return int((values > 1e-9 * max(float(values.max(initial=0.0)), 1.0)).sum())


def _quartic(cam: Cam) -> list[float] | None:
    """Coefficients of a cam profile that is a polynomial of degree four (to 1e-12 of its size); None for others."""
    if hasattr(cam.profile, "points"):
        return None
    x = np.cos(np.pi * (np.arange(5) + 0.5) / 5.0)  # Chebyshev's points: well conditioned
    try:
        c = np.linalg.solve(np.vander(x, increasing=True), [float(cam.lift(float(angle))) for angle in x])
        others = np.linspace(-3.0, 3.0, 13)
        lifts = np.array([float(cam.lift(float(angle))) for angle in others])
    except (ArithmeticError, TypeError, ValueError):
        return None
    fits = np.abs(np.polynomial.polynomial.polyval(others, c) - lifts).max() <= 1e-12 * np.abs(lifts).max(initial=1.0)
    return c.tolist() if fits else None


def _is_identity(frame: Frame) -> bool:
    return not np.any(frame.p) and np.array_equal(frame.R, np.eye(3))


def _pose(frame: Frame) -> dict[str, str]:
    made = {}
    if np.any(frame.p):
        made["pos"] = _text(frame.p)
    if not np.array_equal(frame.R, np.eye(3)):
        made["quat"] = _text(_quaternion(np.asarray(frame.R)))
    return made


def _quaternion(R: Array) -> Array:
    """Quaternion of a rotation matrix; the largest component is found first, so that nothing cancels.

    4 q q' has the entries below, of which the column with the largest diagonal is 4 q_k q.
    """
    (a, b, c), (d, e, f), (g, h, i) = R
    outer = np.array(
        [
            [1.0 + a + e + i, h - f, c - g, d - b],
            [h - f, 1.0 + a - e - i, b + d, c + g],
            [c - g, b + d, 1.0 - a + e - i, f + h],
            [d - b, c + g, f + h, 1.0 - a - e + i],
        ]
    )
    k = int(np.argmax(np.diagonal(outer)))
    return outer[k] / np.linalg.norm(outer[k])


def _text(x: object) -> str:
    """Text of numbers with all digits; zeros without a sign."""
    values = np.atleast_1d(np.asarray(x, dtype=np.float64)).tolist()
    return " ".join(str(int(v)) if v == int(v) and abs(v) < 1e15 else repr(v) for v in values if not math.isnan(v))
