"""Writer of URDF files: the tree of a machine as links and joints, its loops and motors in a YAML file beside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from .. import _check, _files, _yaml
from ..errors import FileError, InputError
from ..model.elements import (
    GROUND,
    Actuator,
    Coupling,
    Fixed,
    Frame,
    Free,
    Joint,
    Planar,
    Prismatic,
    Revolute,
)
from ..model.elements.joints import Step
from ..model.mechanism import Mechanism
from .conversion import Conversion, Remarks, leave_out_ratings
from .links import UNLIMITED, NameTable, add, angles_of, dry_friction, numbers, tell_left_out, xml_text
from .loops_file import BALL, LOOP_TYPES, beside, closure_of, is_loops_file, pair_name
from .visuals import MeshFolder, write_visuals

__all__ = ["write_urdf"]

_GRAVITY = (0.0, 0.0, -9.81)  # what readers of files without any take
_KNOWN = ("6d", "3d")  # types of loops that others know, too
_URDF = {Revolute: "revolute", Prismatic: "prismatic", Fixed: "fixed", Free: "floating", Planar: "planar"}


def write_urdf(machine: Mechanism, path: str | Path) -> Conversion:
    """Write a machine to a URDF file; its loops go into a YAML file of the same name beside.

    A link has the frame of its joint. Joints of several coordinates become several joints with links without mass
    between, which have the names of the coordinates, so that q and v stay as they are. Ball joints are hinges that the
    YAML file makes ball joints; screws are hinges with a slide that mimics them. Shapes are visuals, without mass and
    collisions; plates and meshes are OBJ files in a folder beside.

    Parameters
    ----------
    machine : Mechanism
    path : path

    Returns
    -------
    Conversion
        With remarks on all that is left out, or is there in another form.

    Raises
    ------
    FileError
        Where a file cannot be written, or the YAML file beside is there and something else.
    ValueError, TypeError
        Where it is no machine of bodies, or a name cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from cmbcontrol import plants
    >>> with TemporaryDirectory() as folder:
    ...     made = write_urdf(plants.five_bar(), Path(folder, "five_bar.urdf"))
    ...     sorted(file.name for file in Path(folder).iterdir())
    ['five_bar.urdf', 'five_bar.yaml']
    """
    _check.instance(machine, Mechanism, "the machine that is written into a URDF file")
    path = _check.path(path)
    if path.suffix.lower() in (".yaml", ".yml"):
        raise InputError(f"{path} is the name of a YAML file; the robot goes into one that ends in .urdf")
    writer = _Writer(machine, path)
    content, loops, file = xml_text(writer.root), writer.loops_data(), beside(path)
    if file.is_file():
        try:
            replaceable = is_loops_file(_yaml.read(file).data)
        except FileError:
            replaceable = False
        if not replaceable:
            raise FileError(
                f"{file} is there, and is no file of loops, which readers of {path.name} would take it for: remove it, "
                "or write to another name"
            )
    if loops is not None or file.is_file():
        _files.write(file, _yaml.text(loops or {"closed_loop": [], "type": []}))
    writer.meshes.write()
    _files.write(path, content)
    return Conversion(machine, path, "URDF", tuple(writer.remarks.said))


class _Writer:
    def __init__(self, machine: Mechanism, path: Path) -> None:
        self.machine, self.remarks, self.meshes = machine, Remarks(), MeshFolder(path)
        self.root = Element("robot", name=machine.name)
        self.links = NameTable(self.remarks, "link", {GROUND, *(body.name for body in machine.bodies)})
        self.names = NameTable(self.remarks, "joint", (joint.name for joint in machine.joints))
        # a link is where its joint is: its frame, in the axes of the body
        self.frames = {GROUND: Frame(), **{joint.child: joint.child_frame for joint in machine.joints}}
        self.balls: list[str] = []
        self.written: dict[str, Element] = {}  # joints, by the coordinate that they have
        self.followers: dict[str, str] = {}  # joints that mimic one another
        tell_left_out(machine, self.remarks)
        self._write_links()
        for joint in machine.joints:
            self._write_joint(joint)
        self._write_forces()
        self.loops: list[tuple[str, str, str, float | None]] = []
        for loop in machine.loops:
            self._write_loop(loop)
        self.motors: list[str] = []
        for actuator in machine.actuators:
            self._write_motor(actuator)

    # -- links and joints ------------------------------------------------------------------------------------------

    def _write_links(self) -> None:
        add(self.root, "link", name=GROUND)
        for body in self.machine.bodies:
            frame, node = self.frames[body.name], add(self.root, "link", name=body.name)
            if np.any(frame.p) or not np.array_equal(frame.R, np.eye(3)):
                self.remarks.changed(f"body {body.name!r}", "its axes are those of its joint now")
            inside = frame.inverse()
            looks = [shape.moved(inside) for shape in body.shapes]
            write_visuals(node, body, looks, self.meshes, _add_origin, nested=False)
            if not body.mass:
                continue
            inertial = add(node, "inertial")
            com = inside @ Frame(body.com)
            I = np.asarray(inside.R) @ np.asarray(body.inertia) @ np.asarray(inside.R).T
            _add_origin(inertial, Frame(com.p))
            add(inertial, "mass", value=numbers(body.mass))
            upper = {
                f"i{'xyz'[i]}{'xyz'[j]}": numbers(0.5 * (I[i, j] + I[j, i])) for i in range(3) for j in range(i, 3)
            }
            add(inertial, "inertia", **upper)

    def _write_joint(self, joint: Joint) -> None:
        name, at = joint.name, self.frames[joint.parent].inverse() @ joint.frame
        ends, low_high = (joint.parent, joint.child), np.asarray(joint.limits).tolist()
        damping = np.asarray(joint.damping).tolist()
        axes = [step.axis for step in joint.steps]
        kinds = [{"turn": "revolute", "slide": "prismatic"}.get(step.kind, "") for step in joint.steps]
        if len(joint.plain_names) == 2:
            names = [self.names.of(coordinate) for coordinate in joint.position_names]
            self._write_two(joint, names, kinds, axes, at, low_high, damping)
            self.written |= {c: self.written.pop(n) for c, n in zip(joint.position_names, names, strict=True)}
            word = "a hinge and a slide" if "prismatic" in kinds else "two hinges"
            self.remarks.changed(f"joint {name!r}", f"is written as {word}, with a link without mass between")
        elif joint.pitch:
            nut = self.names.new(f"{name}_travel")
            self._write_two(
                joint,
                (name, nut),
                kinds,
                axes,
                at,
                [*low_high, _FREE],
                [*damping, 0.0],
            )
            self._mimic(nut, name, joint.pitch, 0.0)
            self.remarks.changed(
                f"joint {name!r}", f"a screw is written as a hinge and the slide {nut!r} that mimics it"
            )
        elif joint.steps == (Step("ball"),):
            self._write_one(name, "continuous", *ends, at, (0.0, 0.0, 1.0), _FREE, 0.0)
            self.balls.append(name)
            self.remarks.changed(
                f"joint {name!r}", "a ball joint is written as a hinge, which only the YAML file makes a ball joint"
            )
            self._tell_of_many(joint)
        elif not joint.plain_names:
            axis = getattr(joint, "axis", None)
            self._write_one(name, _URDF[type(joint)], *ends, at, axis, None, 0.0)
            self._tell_of_many(joint)
        else:
            self.written[name] = self._write_one(name, kinds[0], *ends, at, axes[0], low_high[0], damping[0])

    def _tell_of_many(self, joint: Joint) -> None:
        if np.any(joint.damping) or np.isfinite(joint.limits).any():
            self.remarks.left_out(f"joint {joint.name!r}", "damping and limits of a joint with several coordinates")

    def _write_two(
        self,
        joint: Joint,
        names: Sequence[str],
        kinds: Sequence[str],
        axes: Sequence[Any],
        at: Frame,
        limits: Sequence[Any],
        damping: Sequence[float],
    ) -> None:
        """Write two joints in series, with a link without mass between."""
        between = self.links.new(f"{joint.name}_between")
        add(self.root, "link", name=between)
        ends = ((joint.parent, between, at), (between, joint.child, Frame()))
        for i, (parent, child, frame) in enumerate(ends):
            node = self._write_one(names[i], kinds[i], parent, child, frame, axes[i], limits[i], damping[i])
            self.written[names[i]] = node

    def _write_one(
        self,
        name: str,
        kind: str,
        parent: str,
        child: str,
        at: Frame,
        axis: Any = None,
        limits: Sequence[float] | None = None,
        damping: float = 0.0,
    ) -> Element:
        low, high = limits or _FREE
        if kind == "revolute" and not np.isfinite([low, high]).any():
            kind = "continuous"
        node = add(self.root, "joint", name=name, type=kind)
        _add_origin(node, at)
        add(node, "parent", link=parent)
        add(node, "child", link=child)
        if axis is not None:
            add(node, "axis", xyz=numbers(axis))
        if kind in ("revolute", "prismatic"):
            low, high = (min(max(x, -UNLIMITED), UNLIMITED) for x in (low, high))
            add(node, "limit", lower=numbers(low), upper=numbers(high), effort="0.0", velocity=numbers(UNLIMITED))
        if damping:
            add(node, "dynamics", damping=numbers(damping))
        return node

    def _mimic(self, follower: str, leader: str, multiplier: float, offset: float) -> None:
        leader_name = self.written[leader].attrib["name"]
        more = {"offset": numbers(offset)} if offset else {}
        add(self.written[follower], "mimic", joint=leader_name, multiplier=numbers(multiplier), **more)
        self.followers[follower] = leader

    # -- forces, loops, motors -------------------------------------------------------------------------------------

    def _write_forces(self) -> None:
        for spring in self.machine.springs:
            self.remarks.left_out(f"spring {spring.name!r}", "URDF has none")
        for force in self.machine.forces:
            node = self.written.get(getattr(force, "joint", ""))
            dynamics = None if node is None else node.find("dynamics")
            there = node is not None and (dynamics is None or "friction" not in dynamics.attrib)
            if (found := dry_friction(force, self.remarks, "URDF", there)) is not None:
                dynamics = add(node, "dynamics", damping="0.0") if dynamics is None else dynamics  # type: ignore[arg-type]
                dynamics.set("damping", numbers(float(dynamics.attrib["damping"]) + found[1]))
                dynamics.set("friction", numbers(found[0]))

    def _write_loop(self, loop: Any) -> None:
        part = f"loop {loop.name!r}"
        if isinstance(loop, Coupling):
            self._write_coupling(loop)
            return
        closure = closure_of(loop)
        if closure is None:
            self.remarks.left_out(part, f"no file of loops can hold a {type(loop).__name__}")
            return
        ends = [(body, self.frames[body].inverse() @ frame) for body, frame in (closure.a, closure.b)]
        at_links = all(not np.any(at.p) and np.array_equal(at.R, np.eye(3)) for _, at in ends)
        names = [body for body, _ in ends]
        if not at_links or pair_name(*names) != loop.name:
            names = [self._write_frame(f"{loop.name}_{end}", *placed) for end, placed in zip("ab", ends, strict=True)]
        self.loops.append((*names, closure.kind, closure.value))  # type: ignore[arg-type]
        if closure.kind not in _KNOWN:
            self.remarks.changed(part, f"is of type {closure.kind!r}; other readers know 6d and 3d only")
        elif not isinstance(loop, LOOP_TYPES[closure.kind]):
            self.remarks.changed(part, f"a cut {type(loop).__name__} joint is written as {closure.kind}")
        if (read := pair_name(*names)) != loop.name:
            self.remarks.changed(part, f"is called {read!r} when it is read")

    def _write_frame(self, wanted: str, body: str, at: Frame) -> str:
        """Write a link without mass, fixed on a body, and return its name."""
        name = self.links.new(wanted)
        add(self.root, "link", name=name)
        node = add(self.root, "joint", name=self.names.new(f"{name}_fixed"), type="fixed")
        _add_origin(node, at)
        add(node, "parent", link=body)
        add(node, "child", link=name)
        return name

    def _write_coupling(self, coupling: Coupling) -> None:
        """Write a coupling of two coordinates as a joint that mimics another one."""
        part = f"loop {coupling.name!r}"
        factors = {name: c for name, c in coupling.coefficients.items() if c}
        if len(factors) != 2 or not set(factors) <= set(self.written):
            self.remarks.left_out(part, "URDF couples two coordinates of the tree, one to one")
            return
        for follower, leader in sorted(
            ((x, y) for x in factors for y in factors if x != y), key=lambda p: factors[p[0]] != 1.0
        ):
            if follower not in self.followers and not self._follows(leader, follower):
                c = factors[follower]
                self._mimic(follower, leader, -factors[leader] / c, coupling.offset / c)
                if coupling.name != (read := f"{follower}_mimic"):
                    self.remarks.changed(part, f"is called {read!r} when it is read")
                return
        self.remarks.left_out(part, "a joint of URDF mimics one other, and not in a circle")

    def _follows(self, coordinate: str, leader: str) -> bool:
        """Whether a coordinate mimics the leader, directly or through others."""
        while coordinate != leader and coordinate in self.followers:
            coordinate = self.followers[coordinate]
        return coordinate == leader

    def _write_motor(self, actuator: Actuator) -> None:
        part, node = f"actuator {actuator.name!r}", self.written.get(actuator.joint)
        if actuator.bodies is not None or node is None or node.attrib["name"] in self.balls:
            self.remarks.left_out(part, "URDF drives coordinates of the tree only")
            return
        leave_out_ratings(actuator, self.remarks, "URDF")
        limit = node.find("limit")
        effort = min(actuator.effort * abs(actuator.gear), UNLIMITED)
        if limit is None:  # of a continuous joint
            limit = add(node, "limit", effort="0.0", velocity=numbers(UNLIMITED))
        if float(limit.attrib["effort"]) not in (0.0, effort):
            self.remarks.changed(part, "the limits of effort of several motors on a joint are the largest one of them")
        limit.set("effort", numbers(max(float(limit.attrib["effort"]), effort)))
        transmission = add(self.root, "transmission", name=f"{actuator.name}_transmission")
        add(transmission, "type", "transmission_interface/SimpleTransmission")
        joint = add(transmission, "joint", name=node.attrib["name"])
        add(joint, "hardwareInterface", "hardware_interface/EffortJointInterface")
        motor = add(transmission, "actuator", name=actuator.name)
        add(motor, "mechanicalReduction", numbers(actuator.gear))
        if node.attrib["name"] not in self.motors:
            self.motors.append(node.attrib["name"])

    def loops_data(self) -> dict[str, Any] | None:
        """Content of the YAML file; None where none is needed."""
        gravity = self.machine.gravity.tolist()
        if not self.loops and not self.balls and gravity == list(_GRAVITY):
            return None
        data: dict[str, Any] = {
            "closed_loop": [[a, b] for a, b, _, _ in self.loops],
            "type": [kind for _, _, kind, _ in self.loops],
            "name_mot": self.motors,
        }
        if any(value is not None for *_, value in self.loops):
            data["value"] = [value for *_, value in self.loops]
        if self.balls:
            data |= {"joint_name": self.balls, "joint_type": [BALL] * len(self.balls)}
        if gravity != list(_GRAVITY):
            data["gravity"] = gravity
            self.remarks.changed("gravity", "is in the YAML file; other readers choose their own")
        return data


_FREE = (-np.inf, np.inf)


def _add_origin(node: Element, frame: Frame) -> None:
    """Add an <origin> element, unless it is the default."""
    given = {}
    if np.any(frame.p):
        given["xyz"] = numbers(frame.p)
    if not np.array_equal(frame.R, np.eye(3)):
        given["rpy"] = numbers(angles_of(frame.R))
    if given:
        add(node, "origin", **given)
