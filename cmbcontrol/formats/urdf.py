"""Reader of URDF files: robots as trees of links, with a YAML file beside for loops and motors (`loops_file`)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check, _yaml
from ..characteristics import Friction
from ..errors import InputError
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
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from ..model.mechanism import Mechanism
from .angles import as_meant
from .conversion import Conversion, Remarks, built, of_file
from .links import UNLIMITED, NameTable, body_of, bounded, frame_of, measures, name_at, require_size
from .loops_file import (
    BALL,
    FIXED,
    KEYS,
    UNIVERSAL,
    Closure,
    FramePair,
    beside,
    entries,
    is_loops_file,
    loop_of,
    pair_name,
    read_pairs,
    short_name,
)
from .visuals import Visuals
from .xml import Node

__all__ = ["WORLD", "read_urdf"]

WORLD = (GROUND, "world")  # a root without mass that is called so is the ground itself

_JOINTS: dict[str, type[Joint]] = {
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "fixed": Fixed,
    "floating": Free,
    "planar": Planar,
}
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}  # of the letters of UJOINT_XY


def read_urdf(
    path: str | Path,
    loops: str | Path | bool | None = None,
    *,
    gravity: ArrayLike | None = None,
    base: str = "fixed",
    massless: str = "refused",
    inertia: str = "refused",
) -> Conversion:
    """Read a robot from a URDF file, with the loops and motors of the YAML file beside it.

    Parameters
    ----------
    path : path
    loops : path or bool, optional
        The YAML file. Without it, the one beside that has the same name, where there is one; True asks for that one,
        False reads none.
    gravity : array_like, shape (3,), optional
        m/s2, world axes. Without it, that of the YAML file, or (0, 0, -9.81).
    base : {'fixed', 'free'}
        Whether the root link is fixed to the ground, or moves with six degrees of freedom, by the joint ``base``.
    massless : {'refused', 'fixed'}
        Treatment of joints that move nothing with mass. A joint whose massless link a 6d loop holds becomes a cut
        joint in any case.
    inertia : {'refused', 'nearest'}
        Treatment of impossible inertia. What is impossible by the rounding of four digits is replaced by the nearest
        that is possible in any case; that of a fixed root has no effect.

    Returns
    -------
    Conversion
        The machine, and remarks on all that is not as in the file. Frames of bodies are those of their links; links
        without mass on fixed joints are bodies without mass, which is what named frames are. Visuals are shapes of the
        bodies; their meshes are read from STL and OBJ files in the folder or package of the robot. Motors are those of
        ``name_mot``; without it those of transmissions, and without these all joints with a limit of effort.

    Raises
    ------
    FileError
        Where a file cannot be read.
    ValueError, TypeError, ModelError
        Where it describes no machine; the message names the line.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from cmbcontrol import plants
    >>> from cmbcontrol.formats.urdf_writing import write_urdf
    >>> with TemporaryDirectory() as folder:
    ...     _ = write_urdf(plants.stewart(), Path(folder, "hexapod.urdf"))
    ...     print(read_urdf(Path(folder, "hexapod.urdf")).machine.nv)
    21
    """
    path = _check.path(path)
    _check.option(base, ("fixed", "free"), "base")
    _check.option(massless, ("refused", "fixed"), "massless")
    _check.option(inertia, ("refused", "nearest"), "inertia")
    gravity = None if gravity is None else _check.vector(gravity, 3, "gravity")

    def read(root: Node) -> Conversion:
        reader = _Reader(path, root, base == "free", massless == "fixed", inertia == "nearest")
        document = _document(path, loops, reader.remarks)
        if document is not None:
            reader.take_loops_file(document)
        if gravity is not None:
            reader.gravity = gravity
        return Conversion(reader.machine(), path, "URDF", tuple(reader.remarks.said))

    return as_meant(read, path, "robot", ((None, "rpy"),))


def _document(path: Path, loops: str | Path | bool | None, remarks: Remarks) -> _yaml.YamlDocument | None:
    """YAML file of loops and motors; None where there is none."""
    if loops is False:
        return None
    if loops is not None and loops is not True:
        return _yaml.read(_check.path(loops, "loops"))
    found = beside(path)
    if not found.is_file():
        if loops:
            raise InputError(f"there is no file {found.name!r} beside {path}: give its path as loops=")
        return None
    document = _yaml.read(found)
    if loops is None and not is_loops_file(document.data):
        remarks.left_out(f"file {found.name!r}", "it is beside, and is no file of loops")
        return None
    return document


@dataclass
class _Link:
    """Link as the file has it, and its name in the machine."""

    node: Node
    body: Body
    label: str


@dataclass
class _Joint:
    """Joint as the file has it, and its name in the machine."""

    node: Node
    label: str
    kind: str  # a type of URDF, or one of joint_type
    parent: str
    child: str
    frame: Frame
    is_cut: bool = False
    pitch: float = 0.0  # of a screw, m/rad

    @property
    def made(self) -> type[Joint]:
        if self.pitch:
            return Helical
        if self.kind in _JOINTS:
            return _JOINTS[self.kind]
        return Spherical if self.kind == BALL else Universal

    @property
    def has_coordinate(self) -> bool:
        """Whether the joint has exactly one coordinate, of its own name."""
        return self.made in (Revolute, Prismatic, Helical)


def _joint_numbers(node: Node, name: str, remarks: Remarks) -> dict[str, float]:
    """Effort, damping and friction of a joint, and `lower` and `upper` where it has such limits."""
    found: dict[str, float] = {}
    limit, dynamics = node.only("limit"), node.only("dynamics")
    if limit is not None:
        for key in ("lower", "upper", "effort", "velocity"):
            if key in limit.attrib:
                (found[key],) = limit.numbers(key, 1)
        if 0.0 < found.pop("velocity", 0.0) < UNLIMITED:
            remarks.left_out(f"joint {name!r}", "the limit of its velocity: nothing enforces one")
        if found.get("effort", 0.0) < 0.0:
            raise limit.error(f"joint {name!r}: the limit of its effort must not be negative, got {found['effort']}")
    if dynamics is not None:
        for key in ("damping", "friction"):
            (found[key],) = measures(dynamics, key, 1, (0.0,))
            if found[key] < 0.0:
                raise dynamics.error(f"joint {name!r}: {key} must not be negative, got {found[key]}")
    return found


def _limits(numbers: dict[str, float], joint: _Joint, name: str, remarks: Remarks) -> tuple[float, float] | None:
    """Limits of a coordinate, or None."""
    if joint.kind == "continuous":
        return None
    low, high = numbers.get("lower"), numbers.get("upper")
    if low is None and high is None:
        remarks.assumed(f"joint {name!r}", "its range is not told: no limits")
        return None
    low, high = low or 0.0, high or 0.0  # what is left out is zero, by the specification
    if low == high == 0.0:
        remarks.assumed(f"joint {name!r}", "its range is from 0 to 0: no limits")
        return None
    if not low < high:
        raise joint.node.error(
            f"joint {name!r}: the lower limit {low:.6g} must be below the upper limit {high:.6g}; exchange them, or "
            "make the joint fixed"
        )
    low, high = (x if abs(x) < UNLIMITED else np.copysign(np.inf, x) for x in (low, high))
    return None if np.isinf(low) and np.isinf(high) else (low, high)


class _Reader:
    def __init__(self, path: Path, root: Node, is_free: bool, fix_massless: bool, nearest: bool) -> None:
        self.path, self.root, self.is_free, self.fix_massless = path, root, is_free, fix_massless
        self.nearest = nearest
        self.remarks = Remarks()
        self.gravity: Any = None
        self.motors: tuple[str, ...] | None = None
        self.pairs: list[FramePair] = []
        name = name_at(root, "name") if "name" in root.attrib else ""
        self.name = NameTable(self.remarks, "robot").of(name if name.strip() else path.stem)
        self.body_names = NameTable(self.remarks, "link", {GROUND})
        self.joint_names = NameTable(self.remarks, "joint")
        self.force_names = NameTable(self.remarks, "force")
        self.links: dict[str, _Link] = {}
        self.joints: dict[str, _Joint] = {}
        self._read_links()
        self._read_joints()
        self._find_tree()
        self._tell_unread()

    # -- the tree --------------------------------------------------------------------------------------------------

    def _tell_unread(self) -> None:
        shapes = {"collision": "its collision shape is not read"}
        for node in self.root:
            if node.tag == "gazebo":
                self.remarks.left_out("<gazebo>", "what is for one simulator is not read")
            elif node.tag not in ("link", "joint", "transmission", "material"):
                self.remarks.left_out(f"<{str(node.tag)[:80]}>", "is not read")
        for kind, known in (("link", ("inertial", "visual")), ("joint", _OF_JOINTS)):
            for node in self.root.every(kind):
                for tag in dict.fromkeys(str(child.tag) for child in node):
                    if tag not in known:
                        what = shapes.get(tag, f"<{tag[:80]}> is not read")
                        self.remarks.left_out(f"{kind} {node.get('name')!r}", what)

    def _read_links(self) -> None:
        for node in self.root:
            if str(node.tag).startswith("xacro:"):
                line = getattr(node, "line", 1)
                raise InputError(f"{self.path}, line {line}: this is xacro; run xacro first, and read what it makes")
        carried = {_link_of(node, "child")[0] for node in self.root.every("joint")}
        visuals = Visuals(self.path, self.remarks, _origin)
        for node in self.root.every("material"):
            visuals.learn(node)
        for node in self.root.every("link"):
            name = name_at(node, "name")
            if name in self.links:
                raise node.error(f"a second link is called {name!r}, after that in line {self.links[name].node.line}")
            body = self._body(node, name, self.nearest or (name not in carried and not self.is_free))
            body = replace(body, shapes=visuals.of(node))
            is_ground = name in WORLD and body.mass == 0.0 and name not in carried and not self.is_free
            is_ground = is_ground and not body.shapes  # the ground itself has none
            self.links[name] = _Link(node, body, GROUND if is_ground else self.body_names.of(name))
        if not self.links:
            raise self.root.error("the robot has no links")

    def _body(self, node: Node, name: str, nearest: bool) -> Body:
        inertial = node.only("inertial")
        if inertial is None:
            return Body("link")
        mass, inertia = inertial.only("mass"), inertial.only("inertia")
        if mass is None:
            raise inertial.error(f"link {name!r}: <inertial> needs <mass value=.../>")
        moments = np.zeros((3, 3))
        if inertia is None:
            self.remarks.assumed(f"link {name!r}", "it has a mass and no <inertia>: a mass at a point")
        else:
            for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
                (moment,) = measures(inertia, f"i{'xyz'[i]}{'xyz'[j]}", 1, None if i == j else (0.0,))
                moments[i, j] = moments[j, i] = moment
        at = inertial if inertia is None else inertia
        return body_of(at, name, *measures(mass, "value", 1), _origin(inertial), moments, self.remarks, nearest)

    def _read_joints(self) -> None:
        for node in self.root.every("joint"):
            name, kind = name_at(node, "name"), name_at(node, "type")
            if name in self.joints:
                raise node.error(f"a second joint is called {name!r}, after that in line {self.joints[name].node.line}")
            with of_file(self.path, node.line):
                _check.one_of(kind, _JOINTS, f"type of joint {name!r}")
            (parent, at_parent), (child, at_child) = (_link_of(node, tag) for tag in ("parent", "child"))
            for link, at in ((parent, at_parent), (child, at_child)):
                if link not in self.links:
                    raise at.error(f"joint {name!r}: {_check.unknown(link, self.links, 'link')}")
            self.joints[name] = _Joint(node, self.joint_names.of(name), kind, parent, child, _origin(node))

    def _find_tree(self) -> None:
        """Sort links from the root outwards, and find the joint that carries each."""
        self.carrier: dict[str, str] = {}
        children: dict[str, list[str]] = {}
        for name, joint in self.joints.items():
            if joint.parent == joint.child:
                raise joint.node.error(f"joint {name!r} connects link {joint.child!r} with itself")
            if joint.child in self.carrier:
                raise joint.node.error(
                    f"link {joint.child!r} is the child of joint {name!r} and of {self.carrier[joint.child]!r}; {_TREE}"
                )
            self.carrier[joint.child] = name
            children.setdefault(joint.parent, []).append(joint.child)
        roots = [name for name in self.links if name not in self.carrier]
        if len(roots) > 1:
            raise self.links[roots[1]].node.error(f"no joint carries links {_listed(roots)}; a URDF has one root")
        self.order = list(roots)
        for name in self.order:  # it grows while it is walked
            self.order.extend(children.get(name, ()))
        if left := [name for name in self.links if name not in {*self.order}]:
            at = self.joints[self.carrier[left[0]]].node
            raise at.error(f"joints go round in a circle at links {_listed(left)}; {_TREE}")

    # -- the YAML file ---------------------------------------------------------------------------------------------

    def take_loops_file(self, document: _yaml.YamlDocument) -> None:
        """Take loops, motors and types of joints from the YAML file."""
        with document.at():
            data = _check.mapping(document.data, "a file of loops", "closed_loop, type and name_mot")
        for key in data:
            if key not in KEYS:
                self.remarks.left_out(f"{str(key)[:80]!r} of {document.path.name}", "is not read")
        if "gravity" in data:
            with document.at("gravity"):
                self.gravity = [bounded(x, "gravity") for x in _check.vector(data["gravity"], 3, "gravity")]
        self._take_joint_types(document)
        if data.get("name_mot") is not None:
            for i, name in enumerate(entries(document, "name_mot")):
                with document.at("name_mot", i):
                    _check.one_of(short_name(name, "name_mot"), self.joints, "joint", "name_mot")
            with document.at("name_mot"):
                self.motors = _check.names(data["name_mot"], "name_mot")
        self.pairs = read_pairs(document, self.remarks)

    def _take_joint_types(self, document: _yaml.YamlDocument) -> None:
        names, kinds = entries(document, "joint_name"), entries(document, "joint_type")
        if len(names) != len(kinds):
            with document.at("joint_type"):
                raise InputError(f"joint_name has {len(names)} entries, and joint_type has {len(kinds)}")
        for i, (name, kind) in enumerate(zip(names, kinds, strict=True)):
            with document.at("joint_type", i):
                given, kind = kind, short_name(kind, "joint_type").upper()
                axes = kind.removeprefix(UNIVERSAL)
                has_axes = kind != axes and len(axes) == 2 and axes[0] != axes[1] and set(axes) <= set(_AXES)
                if kind not in (BALL, FIXED) and not has_axes:
                    raise InputError(
                        f"joint_type must be {BALL}, {FIXED}, or {UNIVERSAL}XY with any two axes, got {given!r}"
                    )
            with document.at("joint_name", i):
                joint = self.joints.get(short_name(name, "joint_name"))
                if joint is None:
                    self.remarks.left_out(f"joint_name {name[:80]!r} of {document.path.name}", "no joint is called so")
                elif kind == FIXED:
                    joint.kind = "fixed"
                elif joint.kind not in ("revolute", "continuous"):
                    raise InputError(f"joint {name!r} is {joint.kind}, and only hinges can be made {kind}")
                else:
                    joint.kind = kind

    def _link_at(self, name: str) -> str:
        """Link whose frame has a name: its own, or that of its joint."""
        child = self.joints[name].child if name in self.joints else None
        if child is None and name not in self.links:
            raise InputError(_check.unknown(name, [*self.links, *self.joints], "link or joint"))
        if child is not None and name in self.links and child != name:
            self.remarks.assumed(f"frame {name!r}", "a link and a joint are called so; that of the joint is meant")
        return name if child is None else child

    # -- the machine -----------------------------------------------------------------------------------------------

    def machine(self) -> Mechanism:
        self._find_screws()
        self._take_pairs()
        self._settle_massless()
        root = self.links[self.order[0]]
        bodies = [replace(link.body, name=link.label) for link in self.links.values() if link.label != GROUND]
        joints = [] if root.label == GROUND else [self._base(root)]
        couplings: list[Coupling] = []
        forces: list[JointForce] = []
        loops = [loop_of(name, closure) for name, closure in self.closures]
        for name, joint in self.joints.items():
            with of_file(self.path, joint.node.line):
                (loops if joint.is_cut else joints).append(self._joint(name, joint, forces))
                if (mimic := joint.node.only("mimic")) is not None and joint.made is not Fixed:
                    couplings.append(self._coupling(name, joint, mimic))
        if not any(joint.velocity_suffixes for joint in joints):
            raise self.root.error("nothing in it can move; with base='free', the whole of it can")
        require_size(self.root, bodies, joints)
        actuators = self._actuators()
        with of_file(self.path):
            return built(
                self.remarks,
                self.name,
                bodies,
                joints,
                [*loops, *couplings],
                actuators=actuators,
                forces=forces,
                gravity=(0.0, 0.0, -9.81) if self.gravity is None else self.gravity,
                source=f"URDF, {self.path.name}",
            )

    def _base(self, root: _Link) -> Joint:
        name = self.joint_names.new("base")
        if self.is_free:
            return Free(name, GROUND, root.label)
        if root.body.mass:
            self.remarks.assumed(f"link {root.label!r}", "the root is fixed to the ground: its inertia has no effect")
        return Fixed(name, GROUND, root.label)

    def _find_screws(self) -> None:
        """Find screws: a slide that mimics the hinge before it, on the same axis and without mass between."""
        named = {end for pair in self.pairs for end in pair.ends} | set(self.motors or ())
        named |= {node.get("name", "") for holder in self.root.every("transmission") for node in holder.every("joint")}
        leaders = [leader for joint in self.joints.values() if (leader := _leader(joint.node)) is not None]
        carried = [joint.parent for joint in self.joints.values()]
        for name, slide in list(self.joints.items()):
            above, hinge_name = slide.parent, self.carrier.get(slide.parent, "")
            if slide.kind != "prismatic" or _leader(slide.node) != hinge_name or {name, above} & named:
                continue
            hinge, mimic = self.joints[hinge_name], slide.node.only("mimic")
            (multiplier,), (offset,) = (measures(mimic, k, 1, (d,)) for k, d in (("multiplier", 1.0), ("offset", 0.0)))  # type: ignore[arg-type]
            is_screw = (
                hinge.kind in ("revolute", "continuous")
                and name not in leaders
                and carried.count(above) == 1
                and not self.links[above].body.mass
                and not np.any(slide.frame.p)
                and np.array_equal(slide.frame.R, np.eye(3))
                and _axis(slide.node) == _axis(hinge.node)
                and multiplier != 0.0 == offset
                and slide.node.find("dynamics") is None
            )
            if is_screw:
                hinge.pitch, hinge.child = multiplier, slide.child
                del self.joints[name], self.links[above]
                self.order.remove(above)
                self.carrier[slide.child] = hinge_name
                self.remarks.changed(f"joint {hinge_name!r}", "a hinge and the slide that mimics it are a screw")

    def _take_pairs(self) -> None:
        """Make the loops between links."""
        self.between: list[tuple[str, str, str, FramePair]] = []
        for pair in self.pairs:
            with pair.document.at(*pair.keys):
                a, b = map(self._link_at, pair.ends)
                if a == b:
                    raise InputError(f"frames {pair.ends[0]!r} and {pair.ends[1]!r} of a closed loop are on one link")
            self.between.append((self.joint_names.new(pair_name(*pair.ends)), a, b, pair))

    def _settle_massless(self) -> None:
        """Cut, fix or refuse joints that move nothing with mass, as these have no equation of motion.

        Where a 6d loop holds such a link, the link is part of what it is held on, and its joint closes the loop.
        """
        carries = {name: self.links[name].body.mass > 0.0 for name in self.order}
        moves = dict.fromkeys(self.order, False)  # whether there are joints that move among those behind a link
        for name in reversed(self.order[1:]):
            joint = self.joints[self.carrier[name]]
            carries[joint.parent] |= carries[name]
            moves[joint.parent] |= moves[name] or joint.made is not Fixed
        self.closures: list[tuple[str, Closure]] = []
        for name in self.order[1:]:
            carrier = self.carrier[name]
            joint = self.joints[carrier]
            if joint.made is Fixed or carries[name]:
                continue
            if not moves[name] and self._cut(name, joint):
                continue
            if not self.fix_massless:
                raise joint.node.error(
                    f"joint {carrier!r} moves link {name!r}, and nothing behind it has mass: it has no equation of "
                    "motion. Give the link a mass, make the joint fixed, or read with massless='fixed'"
                )
            self.remarks.changed(f"joint {carrier!r}", "it moves nothing with mass, and is fixed now")
            joint.kind = "fixed"
        for label, a, b, pair in self.between:
            first, second = ((self.links[end].label, Frame()) for end in (a, b))
            self.closures.append((label, Closure(pair.kind, first, second, pair.value)))

    def _cut(self, name: str, joint: _Joint) -> bool:
        """Fix a massless link on the link to which its only 6d loop welds it, and cut its joint; True if done."""
        on_it = {name: Frame()}  # links that move with it, and where they are
        for link in self.order:
            if (carrier := self.carrier.get(link)) and (parent := self.joints[carrier].parent) in on_it:
                on_it[link] = on_it[parent] @ self.joints[carrier].frame
        held = [entry for entry in self.between if entry[1] in on_it or entry[2] in on_it]
        if len(held) != 1 or held[0][3].kind != "6d" or joint.made in (Free, Planar):
            return False
        label, a, b, _ = held[0]
        own, other = (a, b) if a in on_it else (b, a)
        if other in on_it:
            return False
        self.between.remove(held[0])
        joint.is_cut = True
        self.joints[f"\0{label}"] = _Joint(Node("joint"), label, "fixed", other, name, on_it[own].inverse())
        self.joints[f"\0{label}"].node.line = joint.node.line
        self.remarks.changed(
            f"joint {joint.label!r}",
            "it moves nothing with mass, and a 6d loop holds its link: the joint is cut, and the loop is fixed",
        )
        return True

    def _joint(self, name: str, joint: _Joint, forces: list[JointForce]) -> Joint:
        made, node, keys = joint.made, joint.node, {"frame": joint.frame}
        if made in (Revolute, Prismatic, Planar, Helical):
            keys["axis"] = _axis(node)  # type: ignore[assignment]
        if made is Helical:
            keys["pitch"] = joint.pitch  # type: ignore[assignment]
        if made is Universal:
            keys["axis"], keys["second_axis"] = (_AXES[letter] for letter in joint.kind.removeprefix(UNIVERSAL))  # type: ignore[assignment]
        numbers = _joint_numbers(node, name, self.remarks)
        damping, friction = numbers.get("damping", 0.0), numbers.get("friction", 0.0)
        if joint.has_coordinate and not joint.is_cut:
            keys |= {"damping": damping, "limits": _limits(numbers, joint, name, self.remarks)}  # type: ignore[dict-item]
            if friction:
                force = self.force_names.new(f"{joint.label}_friction")
                forces.append(JointForce(force, joint.label, Friction(friction)))
        elif made is not Fixed and (damping or friction):
            kind = "cut" if joint.is_cut else made.__name__
            self.remarks.left_out(f"joint {name!r}", f"its damping and friction, as it is {kind}")
        parent, child = self.links[joint.parent].label, self.links[joint.child].label
        return made(joint.label, parent, child, **keys)  # type: ignore[arg-type]

    def _coupling(self, name: str, joint: _Joint, mimic: Node) -> Coupling:
        """Coupling of a mimic element: x = multiplier * leader + offset."""
        leader = name_at(mimic, "joint")
        with of_file(self.path, mimic.line):
            _check.one_of(leader, self.joints, "joint", f"joint {name!r} mimics one")
        (multiplier,), (offset,) = (measures(mimic, k, 1, (d,)) for k, d in (("multiplier", 1.0), ("offset", 0.0)))
        for one in (name, leader):
            if not self.joints[one].has_coordinate or self.joints[one].is_cut:
                kind = "cut" if self.joints[one].is_cut else self.joints[one].kind
                raise mimic.error(
                    f"joint {name!r} mimics {leader!r}, and {one!r} is {kind}: it has no single coordinate"
                )
        if leader == name:
            raise mimic.error(f"joint {name!r} mimics itself")
        coefficients = {joint.label: 1.0, self.joints[leader].label: -multiplier}
        return Coupling(self.joint_names.new(f"{joint.label}_mimic"), coefficients, offset)

    # -- motors ----------------------------------------------------------------------------------------------------

    def _transmissions(self) -> dict[str, list[tuple[str, float]]]:
        """Motors of transmissions, by joint: names and gears."""
        found: dict[str, list[tuple[str, float]]] = {}
        for node in self.root.every("transmission"):
            part, joints, motors = (
                f"transmission {node.get('name')!r}",
                list(node.every("joint")),
                list(node.every("actuator")),
            )
            kind = (node.findtext("type") or node.get("type") or "").strip()
            if len(joints) != 1 or len(motors) != 1 or (kind and "SimpleTransmission" not in kind):
                self.remarks.left_out(part, "only simple ones, with one joint and one actuator, are read")
                continue
            joint = name_at(joints[0], "name")
            with of_file(self.path, joints[0].line):
                _check.one_of(joint, self.joints, "joint", part)
            gear = 1.0
            for holder in (motors[0], joints[0], node):
                if (reduction := holder.only("mechanicalReduction")) is not None:
                    (gear,) = measures(reduction, None, 1)
                    if gear == 0.0:
                        raise reduction.error(f"{part}: the reduction must not be zero")
                    break
            motor = name_at(motors[0], "name") if motors[0].get("name") else joint
            found.setdefault(joint, []).append((motor, gear))
        return found

    def _actuators(self) -> list[Actuator]:
        transmissions = self._transmissions()
        driven = self.motors
        if driven is None:
            driven = tuple(transmissions) or tuple(
                name for name, joint in self.joints.items()
                if joint.has_coordinate and joint.node.find("mimic") is None and self._effort(joint) > 0.0
            )  # fmt: skip
            if driven and not transmissions:
                self.remarks.assumed("motors", "no file names them: all joints with a limit of effort have one")
        for name in sorted(set(transmissions) - set(driven)):
            self.remarks.left_out(f"transmission to {name!r}", "the file of loops has other motors")
        made, names = [], NameTable(self.remarks, "actuator")
        for name in driven:
            joint = self.joints[name]
            if not joint.has_coordinate:
                self.remarks.left_out(f"motor of joint {name!r}", "the joint has no single coordinate")
                continue
            effort = self._effort(joint)
            if effort == 0.0:
                self.remarks.assumed(f"motor of joint {name!r}", "it has no limit of effort")
            for motor, gear in transmissions.get(name, [(joint.label, 1.0)]):
                limit = np.inf if not 0.0 < effort < UNLIMITED else effort / abs(gear)
                with of_file(self.path, joint.node.line):
                    made.append(Actuator(joint.label, names.new(motor), effort=limit, gear=gear))
        return made

    def _effort(self, joint: _Joint) -> float:
        limit = joint.node.only("limit")
        return 0.0 if limit is None else limit.numbers("effort", 1, (0.0,))[0]


_OF_JOINTS = ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic")
_TREE = "a URDF is a tree: take one joint out, and close the loop by closed_loop in a YAML file beside it"


def _origin(node: Node) -> Frame:
    """Frame of an <origin> element."""
    at = node.only("origin")
    if at is None:
        return Frame()
    return frame_of(at, measures(at, "xyz", 3, (0.0,) * 3), measures(at, "rpy", 3, (0.0,) * 3))


def _axis(node: Node) -> list[float]:
    """Axis of a joint, of any length; along x, where there is none."""
    axis, default = node.only("axis"), (1.0, 0.0, 0.0)
    return list(default) if axis is None else measures(axis, "xyz", 3, default)


def _leader(node: Node) -> str | None:
    """Name of the joint that this one mimics; None where it mimics none."""
    mimic = node.only("mimic")
    return None if mimic is None else mimic.get("joint", "")


def _link_of(node: Node, tag: str) -> tuple[str, Node]:
    """Link that a joint has as parent or child: name and element."""
    if (at := node.only(tag)) is None:
        raise node.error(f"joint {node.get('name')!r} needs <{tag} link=.../>")
    return name_at(at, "link"), at


def _listed(names: Collection[str]) -> str:
    """Text with some names, for a message."""
    first = ", ".join(map(repr, list(names)[:6]))
    return f"{first} and {len(names) - 6} more" if len(names) > 6 else first
