"""Reader of SDF files: models whose joints may form loops, which are cut."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ..characteristics import Friction
from ..errors import InputError
from ..model.cutting import cut_loops
from ..model.elements import (
    GROUND,
    Actuator,
    Body,
    Coupling,
    Fixed,
    Frame,
    Free,
    Helical,
    Joint,
    JointForce,
    JointSpring,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from ..model.mechanism import Mechanism
from .angles import as_meant
from .conversion import Conversion, Remarks, built, of_file
from .links import UNLIMITED, NameTable, body_of, frame_of, measures, name_at, require_size
from .visuals import Visuals
from .xml import Node

__all__ = ["read_sdf"]

_OLDEST, _NEWEST = (1, 4), (1, 12)
_MODEL, _WORLD = "__model__", "world"
_JOINTS: dict[str, type[Joint] | None] = {
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "screw": Helical,
    "universal": Universal,
    "revolute2": None,  # two hinges
    "ball": Spherical,
    "fixed": Fixed,
    "gearbox": None,  # a coupling
}
_READ = {
    "model": ("pose", "link", "joint", "frame", "static", "self_collide", "allow_auto_disable", "enable_wind"),
    "link": ("pose", "inertial", "visual", "gravity", "kinematic", "must_be_base_link", "self_collide", "enable_wind"),
    "joint": (
        *("parent", "child", "pose", "axis", "axis2", "gearbox_ratio", "gearbox_reference_body"),
        *("thread_pitch", "screw_thread_pitch"),
    ),
}
_SHAPES = {"collision": "its collision shape is not read"}
_INCLUDED = "no other file is opened: read what the tools of SDF expand it to, such as `gz sdf -p`"


def read_sdf(
    path: str | Path,
    *,
    model: str | None = None,
    gravity: ArrayLike | None = None,
    base: str = "free",
    cuts: Sequence[str] | None = None,
    inertia: str = "refused",
) -> Conversion:
    """Read a model from an SDF file.

    Links are bodies, and frames with names bodies without mass. The joints of a file may form loops: these are cut
    (`cmbcontrol.model.cutting.cut_loops`). All coordinates are zero where the file has its links.

    Parameters
    ----------
    path : path
        SDF file, of version 1.4 to 1.12.
    model : str, optional
        Name of the model, in a world with several that can move.
    gravity : array_like, shape (3,), optional
        m/s2, world axes. Without it, that of the world in the file, or (0, 0, -9.81).
    base : {'free', 'fixed'}
        Whether a model that no joint connects with the world moves freely, or is fixed to it.
    cuts : sequence of str, optional
        Names of the joints to cut; without it, they are chosen.
    inertia : {'refused', 'nearest'}
        Treatment of impossible inertia. What is impossible by the rounding of four digits is replaced by the nearest
        that is possible in any case.

    Returns
    -------
    Conversion
        The machine, and remarks on all that is not as in the file, and on where loops are cut. Joints with a limit of
        effort have motors. Visuals are shapes of the bodies; their meshes are read from STL and OBJ files in the folder
        or package of the model.

    Raises
    ------
    FileError
        Where the file cannot be read.
    ValueError, TypeError, ModelError
        Where it describes no machine; the message names the line.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from cmbcontrol import plants
    >>> from cmbcontrol.formats.sdf_writing import write_sdf
    >>> with TemporaryDirectory() as folder:
    ...     _ = write_sdf(plants.bricard(), Path(folder, "bricard.sdf"))
    ...     [loop.name for loop in read_sdf(Path(folder, "bricard.sdf")).machine.loops]
    ['hinge3']
    """
    path = _check.path(path)
    _check.option(base, ("free", "fixed"), "base")
    _check.option(inertia, ("refused", "nearest"), "inertia")
    gravity = None if gravity is None else _check.vector(gravity, 3, "gravity")

    def read(root: Node) -> Conversion:
        reader = _Reader(path, root, model, inertia == "nearest")
        if gravity is not None:
            reader.gravity = gravity
        machine = reader.machine(base == "free", cuts)
        return Conversion(machine, path, "SDF", tuple(reader.remarks.said))

    return as_meant(read, path, "sdf", (("pose", None),))


@dataclass(frozen=True)
class _Placed:
    """Part with a pose: its reference frame, and the part that it moves with."""

    node: Node
    pose: Frame
    relative_to: str
    attached_to: str | None  # None for links, which move by themselves


@dataclass(frozen=True)
class _Axis:
    """Axis of a joint, in the frame of the joint."""

    node: Node | None
    xyz: np.ndarray
    limits: tuple[float, float] | None
    is_locked: bool
    effort: float
    damping: float
    friction: float
    stiffness: float
    rest: float


def _version(root: Node) -> tuple[int, int]:
    given = name_at(root, "version")
    parts = given.split(".")
    if not (len(parts) >= 2 and all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts)):
        raise root.error(f"the version of <sdf> must be such as 1.9, got {given[:40]!r}")
    version = int(parts[0]), int(parts[1])
    if not _OLDEST <= version <= _NEWEST:
        raise root.error(f"versions 1.4 to 1.12 of SDF are read, and this is {given[:40]!r}; convert it to one of them")
    return version


def _reference(node: Node, key: str) -> str | None:
    """Name of another part in an attribute; None where the attribute is not there."""
    return name_at(node, key) if node.get(key) else None


def _truth(node: Node, tag: str) -> bool:
    """Truth value of a child element."""
    at = node.only(tag)
    word = "" if at is None else (at.text or "").strip().lower()
    if word not in ("", "0", "1", "true", "false"):
        raise at.error(f"<{tag}> must be true or false, got {word[:40]!r}")  # type: ignore[union-attr]
    return word in ("1", "true")


def _number(node: Node | None, tag: str, default: float) -> float:
    """Number in a child element; infinite ones stand for no limit."""
    at = None if node is None else node.only(tag)
    if at is None:
        return default
    word = (at.text or "").strip().lower().lstrip("+")
    if word in ("inf", "infinity", "-inf", "-infinity"):
        return -math.inf if word[0] == "-" else math.inf
    return at.own_numbers(1)[0]


class _Reader:
    def __init__(self, path: Path, root: Node, model: str | None, nearest: bool) -> None:
        self.path, self.remarks, self.nearest = path, Remarks(), nearest
        self.version = _version(root)
        self.gravity: Any = None
        self.model = self._choose(root, model)
        name = name_at(self.model, "name") if "name" in self.model.attrib else ""
        self.name = NameTable(self.remarks, "model").of(name if name.strip() else path.stem)
        if _truth(self.model, "static"):
            raise self.model.error(f"model {name!r} is static: nothing in it moves; set <static> to false")
        for tag, what in (("include", _INCLUDED), ("model", "models within models are not read: make it one model")):
            if (node := self.model.find(tag)) is not None:
                raise node.error(f"<{tag}> in model {name!r}: {what}")  # type: ignore[attr-defined]
        self.body_names, self.joint_names = NameTable(self.remarks, "link", {GROUND}), NameTable(self.remarks, "joint")
        self.placed: dict[str, _Placed] = {}
        self.bodies: list[Body] = []
        self.labels = {_WORLD: GROUND}  # of links in the machine
        self.known_poses: dict[str, Frame] = {_MODEL: Frame()}
        self.known_links = {_WORLD: _WORLD}
        self._place_all()
        if self.version < (1, 7):
            self.at_world = self._pose_of(self.model)[0]
        else:
            self.at_world, relative = self._pose_of(self.model)
            if relative not in (None, "", _WORLD):
                raise self.model.error(f"the pose of model {name!r} is relative to {relative!r}; give it in the world")
        self._read_links()

    def _choose(self, root: Node, wanted: str | None) -> Node:
        """Model to read; also takes the gravity of its world."""
        worlds, models = list(root.every("world")), list(root.every("model"))
        if (node := root.find("include")) is not None:
            raise node.error(f"<include>: {_INCLUDED}")  # type: ignore[attr-defined]
        if len(worlds) > 1:
            raise worlds[1].error("the file has more than one world; leave one")
        if worlds:
            (world,) = worlds
            if (node := world.find("include")) is not None:
                raise node.error(f"<include>: {_INCLUDED}")  # type: ignore[attr-defined]
            models += world.every("model")
            at = world.only("gravity")
            self.gravity = (0.0, 0.0, -9.8) if at is None else tuple(measures(at, None, 3))  # -9.8: that of SDF
            if (node := world.find("joint")) is not None:
                self.remarks.left_out("<world>", f"joints between models, as in line {getattr(node, 'line', 1)}")
        moving = [node for node in models if not _truth(node, "static")]
        if wanted is not None:
            moving = [node for node in models if node.get("name") == wanted]
            if not moving:
                raise InputError(
                    f"{self.path}: {_check.unknown(wanted, [node.get('name', '') for node in models], 'model')}"
                )
        for node in models:
            if node not in moving:
                self.remarks.left_out(f"model {node.get('name')!r}", "it is another one")
        if len(moving) != 1:
            names = ", ".join(repr(node.get("name")) for node in moving[:8])
            if moving:
                raise moving[1].error(f"the file has models {names}: say which one by model=")
            still = ", ".join(repr(node.get("name")) for node in models[:8])
            raise root.error(
                "the file has no model that can move"
                + (f": {still} are static; set <static> to false" if models else "")
            )
        return moving[0]

    # -- frames ----------------------------------------------------------------------------------------------------

    def _pose_of(self, node: Node) -> tuple[Frame, str | None]:
        """Pose of an element, and the name of the frame it is relative to, if given."""
        at = node.only("pose")
        if at is None:
            return Frame(), None
        form = at.get("rotation_format", "euler_rpy")
        if form == "quat_xyzw" and (at.text or "").split():
            x, y, z, *quaternion = measures(at, None, 7)
            length = math.hypot(*quaternion)
            if not length > 1e-6:
                raise at.error(f"the quaternion of a pose has length {length:.3g}, and must have 1")
            with of_file(self.path, at.line):
                return Frame((x, y, z), _rotation(np.asarray(quaternion) / length)), _reference(at, "relative_to")
        if form not in ("euler_rpy", "quat_xyzw"):
            raise at.error(f"rotation_format must be euler_rpy or quat_xyzw, got {form[:40]!r}")
        numbers = measures(at, None, 6) if (at.text or "").split() else [0.0] * 6
        if at.get("degrees", "false").lower() in ("true", "1"):
            numbers[3:] = map(math.radians, numbers[3:])
        if at.get("frame") not in (None, ""):
            self.remarks.left_out("poses", "the attribute 'frame', which had no meaning in versions that have it")
        return frame_of(at, numbers[:3], numbers[3:]), _reference(at, "relative_to")

    def _place_all(self) -> None:
        """Register links, joints and frames by name: they share one scope."""
        for tag in ("link", "joint", "frame"):
            for node in self.model.every(tag):
                name = name_at(node, "name")
                is_old = self.version < (1, 7) and (name in self.placed and self.placed[name].node.tag != tag)
                if name in self.placed and not is_old:
                    raise node.error(
                        f"a second part of the model is called {name!r}, after that in line "
                        f"{self.placed[name].node.line}; rename it"
                    )
                if name in (_WORLD, _MODEL) or not name.strip():
                    raise node.error(f"a {tag} is called {name!r}, which means something else; rename it")
                pose, relative = self._pose_of(node)
                if tag == "link":
                    placed = _Placed(node, pose, relative or _MODEL, None)
                elif tag == "joint":
                    child = self._end(node, "child")
                    placed = _Placed(node, pose, relative or child, child)
                else:
                    attached = _reference(node, "attached_to") or _MODEL
                    placed = _Placed(node, pose, relative or attached, attached)
                self.placed[f"\0{name}" if is_old else name] = placed  # in old files, joints are not in the scope
        self.links = [name for name, x in self.placed.items() if x.node.tag == "link"]
        if not self.links:
            raise self.model.error(f"model {self.model.get('name')!r} has no links")

    @staticmethod
    def _end(joint: Node, tag: str) -> str:
        at = joint.only(tag)
        name = "" if at is None else name_at(at, None)
        if not name:
            raise joint.error(f"joint {joint.get('name')!r} needs <{tag}>, the name of a link")
        return name

    def _known(self, node: Node, name: str) -> None:
        if name not in self.placed and name not in (_WORLD, _MODEL):
            known = [key for key in self.placed if not key.startswith("\0")]
            raise node.error(_check.unknown(name, known, "link, joint or frame"))

    def _pose(self, node: Node, name: str) -> Frame:
        """Pose of a frame in the model, where all coordinates are zero."""
        chain: dict[str, None] = {}  # in order
        asked = name
        while name not in self.known_poses:
            if name == _WORLD:
                self.known_poses[_WORLD] = self.at_world.inverse()
                break
            self._known(node, name)
            if name in chain:
                way = " -> ".join([*list(chain)[-4:], name])
                raise self.placed[name].node.error(f"poses go round in a circle: {way}")
            chain[name] = None
            node, name = self.placed[name].node, self.placed[name].relative_to
        for name in reversed(chain):
            placed = self.placed[name]
            self.known_poses[name] = self.known_poses[placed.relative_to] @ placed.pose
        return self.known_poses[asked]

    def _link(self, node: Node, name: str) -> str:
        """Link (or the world) that a frame moves with."""
        seen: dict[str, None] = {}  # in order
        while name not in self.known_links:
            if name == _MODEL:
                name = _reference(self.model, "canonical_link") or self.links[0]
            self._known(node, name)
            if name in seen:
                way = " -> ".join([*list(seen)[-4:], name])
                raise self.placed[name].node.error(f"frames are attached in a circle: {way}")
            seen[name] = None
            placed = self.placed[name]
            if placed.attached_to is None:
                self.known_links[name] = name
            else:
                node, name = placed.node, placed.attached_to
        self.known_links |= dict.fromkeys(seen, self.known_links[name])
        return self.known_links[name]

    # -- links -----------------------------------------------------------------------------------------------------

    def _tell_unread(self, node: Node, kind: str) -> None:
        for tag in dict.fromkeys(str(child.tag) for child in node):
            if tag not in _READ[kind]:
                what = _SHAPES.get(tag, f"<{tag[:80]}> is not read")
                self.remarks.left_out(f"{kind} {node.get('name')!r}", what)

    def _read_links(self) -> None:
        self._tell_unread(self.model, "model")
        visuals = Visuals(self.path, self.remarks, self._pose_of_visual)
        for name in self.links:
            node = self.placed[name].node
            self._tell_unread(node, "link")
            part = f"link {name!r}"
            for tag, what in (("kinematic", "that it is kinematic"), ("enable_wind", "wind")):
                if _truth(node, tag):
                    self.remarks.left_out(part, what)
            if node.find("gravity") is not None and not _truth(node, "gravity"):
                self.remarks.left_out(part, "that gravity does not act on it: here, it does")
            label = self.labels[name] = self.body_names.of(name)
            made = self._body(node, name)
            self.bodies.append(replace(made, name=label, shapes=visuals.of(node)))

    def _pose_of_visual(self, node: Node) -> Frame:
        pose, relative = self._pose_of(node)
        if relative not in (None, ""):
            raise node.error(f"its pose is relative to {relative!r}; give it in the link")
        return pose

    def _body(self, node: Node, name: str) -> Body:
        inertial = node.only("inertial")
        if inertial is None:
            self.remarks.assumed(
                f"link {name!r}", "no <inertial>: 1 kg and 1 kg m2 about all axes, as by default in SDF"
            )
            return Body("link", 1.0, inertia=(1.0, 1.0, 1.0))
        if inertial.get("auto", "false").lower() in ("true", "1"):
            raise inertial.error(f"link {name!r}: mass from shapes (auto) is not computed; give <mass> and <inertia>")
        if inertial.find("fluid_added_mass") is not None:
            self.remarks.left_out(f"link {name!r}", "the added mass of a fluid")
        com, relative = self._pose_of(inertial)
        if relative not in (None, "", name):
            raise inertial.error(
                f"link {name!r}: the pose of <inertial> is relative to {relative!r}; give it in the link"
            )
        (mass,), moments = self._measure(inertial, "mass", 1.0), np.eye(3)
        inertia = inertial.only("inertia")
        if inertia is None:
            self.remarks.assumed(f"link {name!r}", "no <inertia>: 1 kg m2 about all axes, as by default in SDF")
        else:
            for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
                (moment,) = self._measure(inertia, f"i{'xyz'[i]}{'xyz'[j]}", float(i == j))
                moments[i, j] = moments[j, i] = moment
        return body_of(inertial if inertia is None else inertia, name, mass, com, moments, self.remarks, self.nearest)

    @staticmethod
    def _measure(node: Node | None, tag: str, default: float) -> list[float]:
        at = None if node is None else node.only(tag)
        return [default] if at is None else measures(at, None, 1)

    # -- joints ----------------------------------------------------------------------------------------------------

    def _axis(self, joint: Node, tag: str) -> _Axis:
        name, at = joint.get("name"), joint.only(tag)
        xyz_node = None if at is None else at.only("xyz")
        if xyz_node is None:
            self.remarks.assumed(f"joint {name!r}", f"<{tag}> has no <xyz>: along z of the joint")
        xyz = np.array([0.0, 0.0, 1.0] if xyz_node is None else measures(xyz_node, None, 3))
        expressed = None if xyz_node is None else _reference(xyz_node, "expressed_in")
        if self.version < (1, 7):
            in_model = self.version == (1, 4) or (at is not None and _truth(at, "use_parent_model_frame"))
            expressed = _MODEL if in_model else None
        if expressed:
            own, other = self._pose_of_joint(joint), self._pose(joint, expressed)
            xyz = np.asarray(own.R).T @ np.asarray(other.R) @ xyz
        limit, dynamics = (None, None) if at is None else (at.only("limit"), at.only("dynamics"))
        low, high = _number(limit, "lower", -math.inf), _number(limit, "upper", math.inf)
        effort = _number(limit, "effort", -1.0)
        if 0.0 <= _number(limit, "velocity", -1.0) < UNLIMITED:
            self.remarks.left_out(f"joint {name!r}", "the limit of its velocity: nothing enforces one")
        is_locked = low == high == 0.0
        if not low < high and not is_locked:
            raise joint.error(
                f"joint {name!r}: the lower limit {low:.6g} must be below the upper limit {high:.6g}; exchange them, "
                "or make the joint fixed"
            )
        low, high = (x if abs(x) < UNLIMITED else math.copysign(math.inf, x) for x in (low, high))
        has_range = math.isfinite(low) or math.isfinite(high)
        if has_range and not low <= 0.0 <= high:
            self.remarks.assumed(f"joint {name!r}", "it is at zero in the file, and that is outside of its range")
        damping, friction, stiffness, rest = (
            self._measure(dynamics, key, 0.0)[0]
            for key in ("damping", "friction", "spring_stiffness", "spring_reference")
        )
        for key, value in (("damping", damping), ("friction", friction)):
            if value < 0.0:
                raise joint.error(f"joint {name!r}: {key} must not be negative, got {value:.6g}")
        range_ = (low, high) if has_range and joint.get("type") != "continuous" else None
        return _Axis(at, xyz, range_, is_locked, effort, damping, friction, stiffness, rest)

    def _pose_of_joint(self, joint: Node) -> Frame:
        name = name_at(joint, "name")
        return self._pose(joint, name if self.placed[name].node is joint else f"\0{name}")

    def _joint(self, node: Node) -> Iterator[Joint]:
        """Joints of an element: one, or two for one of type revolute2."""
        name, kind = name_at(node, "name"), name_at(node, "type")
        label = self.joint_names.of(name)
        ends, frames = [], []
        at_joint = self._pose_of_joint(node)
        for tag in ("parent", "child"):
            end = self._end(node, tag)
            link = self._link(node, end)
            ends.append(self.labels[link])
            frames.append(self._pose(node, link).inverse() @ at_joint)
        if ends[0] == ends[1]:
            raise node.error(f"joint {name!r} connects link {ends[0]!r} with itself")
        keys: dict[str, Any] = {"frame": frames[0], "child_frame": frames[1]}
        made = _JOINTS[kind]
        if made in (Fixed, Spherical):
            yield made(label, *ends, **keys)
            return
        axis = self._axis(node, "axis")
        if made is not None and made is not Universal:
            if axis.is_locked and kind != "continuous":
                self.remarks.changed(f"joint {name!r}", "its range is from 0 to 0: it is fixed")
                yield Fixed(label, *ends, **keys)
                return
            if made is Helical:
                keys["pitch"] = self._pitch(node, name)
            yield made(label, *ends, axis=axis.xyz, damping=axis.damping, limits=axis.limits, **keys)
            self._act(label, name, axis)
            return
        second = self._axis(node, "axis2")
        for one in (axis, second):
            if one.is_locked:
                raise node.error(f"joint {name!r}: an axis with a range from 0 to 0 cannot turn; use a revolute joint")
        if made is Universal:
            limits = {s: one.limits for s, one in (("1", axis), ("2", second)) if one.limits}
            damping = (axis.damping, second.damping)
            yield Universal(
                label, *ends, axis=axis.xyz, second_axis=second.xyz, damping=damping, limits=limits or None, **keys
            )
        else:
            between = self.body_names.new(f"{label}_between")
            self.bodies.append(Body(between))
            links = ((ends[0], between, keys["frame"], Frame()), (between, ends[1], Frame(), keys["child_frame"]))
            for i, one in enumerate((axis, second)):
                parent, child, frame, child_frame = links[i]
                part = self.joint_names.new(f"{label}_{i + 1}")
                more = {"damping": one.damping, "limits": one.limits}
                yield Revolute(part, parent, child, frame=frame, child_frame=child_frame, axis=one.xyz, **more)  # type: ignore[arg-type]
            self.remarks.changed(f"joint {name!r}", "is two hinges, with a link without mass between")
        for i, one in enumerate((axis, second)):
            self._act(f"{label}_{i + 1}", f"{name}_{i + 1}", one)

    def _pitch(self, node: Node, name: str) -> float:
        """Travel per radian, m, of a thread; positive for a right-handed one."""
        if (new := node.only("screw_thread_pitch")) is not None:
            return measures(new, None, 1)[0] / (2.0 * math.pi)
        (old,) = self._measure(node, "thread_pitch", 1.0)  # rad/m, of a left-handed thread
        if old == 0.0:
            raise node.error(f"joint {name!r}: its thread_pitch must not be zero")
        return -1.0 / old

    def _act(self, coordinate: str, name: str, axis: _Axis) -> None:
        """Read springs, friction and motors of a coordinate."""
        if axis.stiffness:
            spring = f"{coordinate}_spring"
            self.springs.append(JointSpring(spring, coordinate, axis.stiffness, axis.rest))
        if axis.friction:
            self.forces.append(JointForce(f"{coordinate}_friction", coordinate, Friction(axis.friction)))
        if axis.effort > 0.0:
            limit = axis.effort if axis.effort < UNLIMITED else math.inf
            self.actuators.append(Actuator(coordinate, effort=limit))
            self.remarks.assumed(f"joint {name!r}", "it has a limit of effort, and so it has a motor")

    def _couplings(self, joints: dict[str, list[Joint]]) -> Iterator[Coupling]:
        for node in self.model.every("joint"):
            with of_file(self.path, node.line):
                if node.get("type") == "gearbox":
                    yield self._gearbox(node, joints)
                for tag, suffix in (("axis", "1"), ("axis2", "2")):
                    if (at := node.only(tag)) is not None and (mimic := at.only("mimic")) is not None:
                        yield self._mimic(node, suffix, mimic, joints)

    def _coordinate(self, at: Node, joints: dict[str, list[Joint]], name: str, suffix: str) -> str:
        """Name of the coordinate of an axis of a joint."""
        _check.one_of(name, joints, "joint")
        names = [n for joint in joints[name] for n in joint.plain_names]
        if len(names) < int(suffix):
            raise at.error(f"joint {name!r} has no coordinate of its axis {suffix}")
        return names[int(suffix) - 1]

    def _mimic(self, node: Node, suffix: str, mimic: Node, joints: dict[str, list[Joint]]) -> Coupling:
        """Coupling of a mimic element: x = multiplier (leader - reference) + offset."""
        axis = mimic.get("axis", "axis")
        if axis not in ("axis", "axis2"):
            raise mimic.error(f"a joint mimics the axis or axis2 of another one, got {axis[:40]!r}")
        own = self._coordinate(mimic, joints, name_at(node, "name"), suffix)
        leader = self._coordinate(mimic, joints, name_at(mimic, "joint"), "1" if axis == "axis" else "2")
        if own == leader:
            raise mimic.error(f"joint {node.get('name')!r} mimics itself")
        multiplier, offset, reference = (
            self._measure(mimic, key, default)[0]
            for key, default in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
        )
        name = self.joint_names.new(f"{own}_mimic")
        return Coupling(name, {own: 1.0, leader: -multiplier}, offset - multiplier * reference)

    def _gearbox(self, node: Node, joints: dict[str, list[Joint]]) -> Coupling:
        """Coupling of a gearbox: theta_2 = -ratio theta_1, both from the reference body, about the gearbox axes."""
        name = name_at(node, "name")
        (ratio,) = self._measure(node, "gearbox_ratio", 1.0)
        at = node.only("gearbox_reference_body")
        if at is None:
            raise node.error(f"gearbox {name!r} needs <gearbox_reference_body>")
        reference = self.labels[self._link(at, name_at(at, None))]
        pose = self._pose_of_joint(node)
        coefficients: dict[str, float] = {}
        for tag, axis, factor in (("parent", "axis", ratio), ("child", "axis2", 1.0)):
            link = self._link(node, self._end(node, tag))
            ends = {reference, self.labels[link]}
            found = [j for made in joints.values() for j in made if {j.parent, j.child} == ends and type(j) is Revolute]
            if len(found) != 1:
                raise node.error(f"gearbox {name!r} needs one hinge between {reference!r} and {link!r}")
            wanted = np.asarray(pose.R) @ self._axis(node, axis).xyz
            hinge = found[0]
            poses = {label: link for link, label in self.labels.items()}
            own = np.asarray((self._pose(node, poses[hinge.child]) @ hinge.child_frame).R) @ np.asarray(hinge.axis)
            along = float(own @ wanted / max(np.linalg.norm(wanted), 1e-300))
            if abs(along) < 1.0 - 1e-6:
                raise node.error(f"gearbox {name!r}: its <{axis}> is not that of the hinge {hinge.name!r}")
            sign = math.copysign(1.0, along) * (1.0 if hinge.parent == reference else -1.0)
            coefficients[hinge.name] = factor * sign
        return Coupling(self.joint_names.new(name), coefficients)

    # -- the machine -----------------------------------------------------------------------------------------------

    def machine(self, is_free: bool, cuts: Sequence[str] | None) -> Mechanism:
        self.springs: list[JointSpring] = []
        self.forces: list[JointForce] = []
        self.actuators: list[Actuator] = []
        made: dict[str, list[Joint]] = {}
        for node in self.model.every("joint"):
            self._tell_unread(node, "joint")
            with of_file(self.path, node.line):
                _check.one_of(name_at(node, "type"), _JOINTS, f"type of joint {node.get('name')!r}")
                if node.get("type") != "gearbox":
                    made[name_at(node, "name")] = list(self._joint(node))
        couplings = list(self._couplings(made))
        joints = [joint for some in made.values() for joint in some]
        with of_file(self.path):
            joints = [*self._roots(joints, is_free), *joints, *self._named_frames()]
            require_size(self.model, self.bodies, joints)
            acting = (couplings, self.actuators, self.springs, self.forces)
            found = cut_loops(self.bodies, joints, *acting, cuts=cuts)
            for word in found.words:
                self.remarks.changed("loops", word)
            tree, loops = found.joints, [self._as_cut(x) if isinstance(x, Joint) else x for x in found.loops]
            if not any(joint.velocity_suffixes for joint in tree):
                raise self.model.error("nothing in the model can move; with base='free', the whole of it can")
            keep = self._keeper(tree, loops)
            if self.gravity is None:
                self.remarks.assumed("gravity", "the file has no world: (0, 0, -9.81) m/s2")
            return built(
                self.remarks,
                self.name,
                self.bodies,
                tree,
                [x for x in loops if keep("coupling", x, x.coordinates)],
                [x for x in self.springs if keep("spring", x, (x.joint,))],
                [x for x in self.actuators if keep("motor", x, (x.joint,), may_be_cut=True)],
                forces=[x for x in self.forces if keep("friction", x, (x.joint,))],
                gravity=(0.0, 0.0, -9.81) if self.gravity is None else self.gravity,
                source=f"SDF, {self.path.name}",
            )

    def _roots(self, joints: Sequence[Joint], is_free: bool) -> Iterator[Joint]:
        """Joints to the ground for links that no joint connects with it."""
        near: dict[str, list[str]] = {}
        for joint in joints:
            near.setdefault(joint.parent, []).append(joint.child)
            near.setdefault(joint.child, []).append(joint.parent)
        reached: set[str] = set()

        def reach(start: str) -> None:
            todo = [start]
            while todo:
                if (here := todo.pop()) not in reached:
                    reached.add(here)
                    todo.extend(near.get(here, ()))

        reach(GROUND)
        first = self._link(self.model, _MODEL)
        for name in [first, *self.links]:
            if (label := self.labels[name]) in reached:
                continue
            reach(label)
            at = self.at_world @ self._pose(self.placed[name].node, name)
            if is_free:
                yield Free(self.joint_names.new(f"{label}_free"), GROUND, label, frame=at)
            else:
                self.remarks.assumed(f"link {name!r}", "no joint connects it with the world: it is fixed there")
                yield Fixed(self.joint_names.new(f"{label}_fixed"), GROUND, label, frame=at)

    def _named_frames(self) -> Iterator[Joint]:
        for name, placed in self.placed.items():
            if placed.node.tag == "frame":
                link = self._link(placed.node, name)
                at = self._pose(placed.node, link).inverse() @ self._pose(placed.node, name)
                label = self.body_names.of(name)
                self.bodies.append(Body(label))
                yield Fixed(self.joint_names.new(f"{label}_fixed"), self.labels[link], label, frame=at)

    def _as_cut(self, joint: Joint) -> Joint:
        """Joint as a cut joint, which has constraint rows, and no coordinate with damping and limits."""
        for key, given in (("damping", np.any(joint.damping)), ("limits", np.isfinite(joint.limits).any())):
            if given:
                self.remarks.left_out(f"joint {joint.name!r}", f"its {key}, as it is cut")
        return replace(joint, damping=0.0, limits=None)

    def _keeper(self, tree: Sequence[Joint], loops: Sequence[Any]) -> Callable[..., bool]:
        there = {name for joint in tree for name in joint.position_names}
        cut = {joint.name for joint in loops if joint.effort_axes() is not None}

        def keep(what: str, part: Any, names: tuple[str, ...], may_be_cut: bool = False) -> bool:
            if set(names) <= (there | cut if may_be_cut else there):
                return True
            self.remarks.left_out(f"{what} {part.name!r}", "the joint on which it acts is cut")
            return False

        return keep


def _rotation(quaternion: np.ndarray) -> np.ndarray:
    """Rotation matrix of a quaternion (x, y, z, w) of length one."""
    v, w = quaternion[:3], quaternion[3]
    K = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return np.eye(3) + 2.0 * w * K + 2.0 * K @ K
