"""Writer of SDF files: all joints of a machine, also those that close its loops, as joints between links."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _files
from ..model.elements import (
    GROUND,
    Actuator,
    Coupling,
    Fixed,
    Frame,
    Helical,
    Joint,
    Point,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
    Weld,
)
from ..model.mechanism import Mechanism
from .conversion import Conversion, Remarks, leave_out_ratings
from .links import UNLIMITED, NameTable, add, angles_of, dry_friction, numbers, tell_left_out, xml_text
from .visuals import MeshFolder, write_visuals

__all__ = ["write_sdf"]

Array = NDArray[np.float64]

_VERSION = "1.11"  # the first one in which joints mimic others
_SDF = {
    Revolute: "revolute",
    Prismatic: "prismatic",
    Helical: "screw",
    Universal: "universal",
    Spherical: "ball",
    Fixed: "fixed",
}
_AS_JOINT = {
    Weld: (Fixed, "a weld is written as a fixed joint"),
    Point: (Spherical, "a point is written as a ball joint"),
}
_FREE = (-np.inf, np.inf)


def write_sdf(
    machine: Mechanism, path: str | Path, configuration: ArrayLike | Mapping[str, float] | str | None = None
) -> Conversion:
    """Write a machine to an SDF file.

    In such a file, joints are at zero where the links are, and those that close loops fit there. So a machine with
    loops is written at a configuration that closes them, and coordinates in the file are those of the machine less
    those of that configuration. Shapes are visuals, without collisions; plates and meshes are OBJ files in a folder
    beside.

    Parameters
    ----------
    machine : Mechanism
    path : path
    configuration : array_like, mapping or str, optional
        Configuration of the links in the file, as `Mechanism.configuration` takes it. Without it, all coordinates are
        zero; of a machine with loops, they are what `Mechanism.assemble` finds.

    Returns
    -------
    Conversion
        With remarks on all that is left out, or is there in another form.

    Raises
    ------
    FileError
        Where the file cannot be written.
    AssemblyError
        Where the loops cannot be closed.
    ValueError, TypeError
        Where it is no machine of bodies, the configuration leaves loops open, or a name cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from cmbcontrol import plants
    >>> with TemporaryDirectory() as folder:
    ...     print(write_sdf(plants.two_arms(), Path(folder, "arms.sdf")).of_kind("left out"))
    ()
    """
    _check.instance(machine, Mechanism, "the machine that is written into an SDF file")
    path = _check.path(path)
    writer = _Writer(machine, _configuration(machine, configuration), path)
    content = xml_text(writer.root)
    writer.meshes.write()
    _files.write(path, content)
    return Conversion(machine, path, "SDF", tuple(writer.remarks.said))


def _configuration(machine: Mechanism, given: ArrayLike | Mapping[str, float] | str | None) -> Array:
    """Configuration of the links in the file, with loops closed."""
    if given is None:
        return machine.assemble() if machine.row_names else machine.neutral()
    q = machine.close(machine.configuration(given))
    return q


class _Writer:
    def __init__(self, machine: Mechanism, q: Array, path: Path) -> None:
        self.machine, self.q, self.remarks, self.meshes = machine, q, Remarks(), MeshFolder(path)
        self.root = Element("sdf", version=_VERSION)
        world = add(self.root, "world", name="world")
        add(world, "gravity", numbers(machine.gravity))
        self.model = add(world, "model", name=machine.name)
        self.start = dict(zip(machine.position_names, q.tolist(), strict=True))
        self.names = NameTable(self.remarks, "joint", {"world"}, _tidy)
        for part in (*machine.joints, *machine.loops):
            self.names.of(part.name)
        self.links = NameTable(self.remarks, "body", self.names.taken, _tidy)
        self.links.known[GROUND] = "world"
        for body in machine.bodies:  # links and joints share a scope
            if body.name in self.names.taken:
                self.links.known[body.name] = self.links.new(f"{body.name}_link")
                self.remarks.changed(
                    f"body {body.name!r}",
                    "its name is taken, as links and joints of SDF share a scope: it ends in _link",
                )
        self.poses = {GROUND: Frame(), **{body.name: machine.pose(q, body.name) for body in machine.bodies}}
        # of coordinates: the joint, which axis of it, its element, and that of its limits
        self.axes: dict[str, tuple[str, str, Element, Element]] = {}
        tell_left_out(machine, self.remarks)
        self._write_links()
        for joint in machine.joints:
            self._write_joint(joint)
        for loop in machine.loops:
            self._write_loop(loop)
        self._write_forces()
        for actuator in machine.actuators:
            self._write_motor(actuator)

    # -- links -----------------------------------------------------------------------------------------------------

    def _write_links(self) -> None:
        carriers = {joint.child: joint for joint in self.machine.joints}
        named = {joint.parent for joint in self.machine.joints}
        named |= {end for loop in self.machine.loops for end in loop.ends}
        self.frames: set[str] = set()  # bodies that are written as frames on others
        for body in self.machine.bodies:
            carrier, name = carriers[body.name], self.links.of(body.name)
            is_place = not (body.mass or body.shapes or body.name in named)
            if is_place and not carrier.steps and carrier.parent != GROUND:
                self.frames.add(body.name)
                node = add(self.model, "frame", name=name, attached_to=self.links.of(carrier.parent))
                _add_pose(node, carrier.frame @ carrier.child_frame.inverse())
                continue
            node = self._write_link(name, self.poses[body.name])
            inertial = add(node, "inertial")
            if np.any(body.com):
                _add_pose(inertial, Frame(body.com))
            add(inertial, "mass", numbers(body.mass))
            inertia, I = add(inertial, "inertia"), np.asarray(body.inertia)
            for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
                add(inertia, f"i{'xyz'[i]}{'xyz'[j]}", numbers(0.5 * (I[i, j] + I[j, i])))
            write_visuals(node, body, body.shapes, self.meshes, _add_pose, nested=True)
            if not body.mass:
                self.remarks.changed(f"body {body.name!r}", "has no mass, which other readers refuse")

    def _write_link(self, name: str, pose: Frame) -> Element:
        node = add(self.model, "link", name=name)
        _add_pose(node, pose)
        return node

    def _between(self, joint: Joint, pose: Frame) -> str:
        """Add a link without mass for a joint in between, and return its name."""
        name = self.links.new(f"{joint.name}_between")
        node = self._write_link(name, pose)
        inertial = add(node, "inertial")
        add(inertial, "mass", "0.0")
        inertia = add(inertial, "inertia")
        for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"):
            add(inertia, key, "0.0")
        return name

    # -- joints ----------------------------------------------------------------------------------------------------

    def _write_joint(self, joint: Joint) -> None:
        part = f"joint {joint.name!r}"
        if joint.child in self.frames:
            return
        starts = [self.start[coordinate] for coordinate in joint.position_names]
        limits = np.asarray(joint.limits)
        if any(starts) and len(joint.velocity_suffixes) < 3:
            self.remarks.changed(part, "its coordinates are zero where they were those of the written configuration")
        if joint.steps and not joint.plain_names and (np.isfinite(limits).any() or np.any(joint.damping)):
            self.remarks.left_out(part, "damping and limits of a joint with several coordinates")
        if joint.floats:
            what = (
                "its body has no joint"
                if joint.parent == GROUND
                else f"its body is free in the world, not on {joint.parent!r}"
            )
            self.remarks.changed(part, f"{what}; its coordinates are those of the axes of the body")
        elif type(joint) not in _SDF:
            self._write_several(joint, starts, limits)
        else:
            self._write_one(joint, joint.child_frame, starts)

    def _write_one(self, joint: Joint, at: Frame, starts: Sequence[float] = ()) -> None:
        """Write a joint of SDF, with its frame on the child; cut ones have no starts."""
        name = self.names.of(joint.name)
        node = add(self.model, "joint", name=name, type=_SDF[type(joint)])
        add(node, "parent", self.links.of(joint.parent))
        add(node, "child", self.links.of(joint.child))
        _add_pose(node, at)
        axes: list[Any] = [step.axis for step, _ in zip(joint.steps, joint.plain_names, strict=False)]
        if len(axes) == 2:
            # the first axis is fixed on the parent, and SDF has both as the joint's frame on the child has them now
            there = self.poses[joint.parent] @ joint.frame
            axes[0] = (self.poses[joint.child] @ joint.child_frame).R.T @ there.R @ axes[0]
        for i, (tag, axis, coordinate) in enumerate(zip(("axis", "axis2"), axes, joint.plain_names, strict=False)):
            limits = joint.limits[i] - (starts[i] if starts else 0.0)
            self._write_axis(node, name, tag, axis, coordinate, limits, joint.damping[i])
        if joint.pitch:
            add(node, "screw_thread_pitch", numbers(2.0 * math.pi * joint.pitch))

    def _write_axis(
        self, node: Element, name: str, tag: str, axis: Array, coordinate: str, limits: ArrayLike, damping: float
    ) -> None:
        low, high = (min(max(float(x), -UNLIMITED), UNLIMITED) for x in np.asarray(limits))
        made = add(node, tag)
        add(made, "xyz", numbers(axis))
        limit = add(made, "limit")
        add(limit, "lower", numbers(low))
        add(limit, "upper", numbers(high))
        if damping:
            add(add(made, "dynamics"), "damping", numbers(damping))
        self.axes[coordinate] = name, tag, made, limit

    def _write_several(self, joint: Joint, starts: Sequence[float], limits: Array) -> None:
        """Write a cylindrical or planar joint as slides and hinges in series."""
        pose, parent = self.poses[joint.parent] @ joint.frame, joint.parent
        if joint.plain_names:
            damping = np.asarray(joint.damping)
            self.remarks.changed(f"joint {joint.name!r}", "is a hinge and a slide, with a link without mass between")
        else:
            damping = np.zeros(len(joint.steps))
            limits = np.tile(_FREE, (len(joint.steps), 1))
            self.remarks.changed(
                f"joint {joint.name!r}",
                "is two slides and a hinge, with links without mass between; velocities are along the parent's axes",
            )
        for i, step in enumerate(joint.steps):
            coordinate = joint.position_names[i]
            name, last = self.names.of(coordinate), i == len(joint.steps) - 1
            turn, along = step.kind == "turn", np.asarray(step.axis)
            pose = pose @ (Frame.turned(along, starts[i]) if turn else Frame(starts[i] * along))
            child = joint.child if last else self._between(joint, pose)
            node = add(self.model, "joint", name=name, type="revolute" if turn else "prismatic")
            add(node, "parent", self.links.of(parent) if i == 0 else parent)
            add(node, "child", self.links.of(child) if last else child)
            if last:
                _add_pose(node, joint.child_frame)
            self._write_axis(node, name, "axis", along, coordinate, limits[i] - starts[i], damping[i])
            parent = child

    # -- loops -----------------------------------------------------------------------------------------------------

    def _write_loop(self, loop: Any) -> None:
        part = f"loop {loop.name!r}"
        if isinstance(loop, Coupling):
            self._write_coupling(loop)
        elif type(loop) in _SDF:
            self._write_one(loop, loop.child_frame)
        elif type(loop) in _AS_JOINT:
            made, words = _AS_JOINT[type(loop)]
            self._write_one(made(loop.name, *loop.ends), loop.frames[1])
            self.remarks.changed(part, words)
        elif (hinge := self._as_hinge(loop)) is not None:
            self._write_one(hinge, hinge.child_frame)
            self.remarks.changed(part, "is written as a hinge, which in this machine allows the same motion")
        else:
            self.remarks.left_out(part, f"SDF has no {type(loop).__name__}")

    def _as_hinge(self, loop: Any) -> Revolute | None:
        """Hinge with the same effect as a loop, as of a point on a line across the plane of a planar machine, or None.

        There is one if the axis has the same direction on both bodies, and the points have the same height along it,
        however the joints of the tree move. This is checked at random places: an analytic condition that holds at a
        random place holds everywhere, except for places of measure zero.
        """
        if not (loop.guides == "line" or loop.symbol == "sleeve"):
            return None
        machine, (a, b) = self.machine, loop.ends
        axis, point = loop.axes[:, 2], loop.frames[1].p
        in_b = np.asarray(self.poses[b].R).T @ np.asarray(self.poses[a].R) @ axis
        rng, heights = np.random.default_rng(0), []
        for q in (
            self.q,
            *(machine.integrate(self.q, machine.displacement_scale * rng.uniform(-1, 1, machine.nv)) for _ in "123"),
        ):
            at, other = machine.pose(q, a), machine.pose(q, b)
            along = np.asarray(at.R) @ axis
            if np.abs(np.asarray(other.R) @ in_b - along).max() > 1e-12:
                return None
            heights.append(along @ (other.p + np.asarray(other.R) @ point - at.p))
        if np.ptp(heights) > 1e-12 * max(machine.size, float(np.abs(heights).max())):
            return None
        return Revolute(loop.name, a, b, child_frame=Frame(point), axis=in_b)

    def _write_coupling(self, coupling: Coupling) -> None:
        """Write a coupling of two coordinates as an axis that mimics another, relative to the written configuration."""
        part = f"loop {coupling.name!r}"
        factors = {name: c for name, c in coupling.coefficients.items() if c}
        if len(factors) != 2 or not set(factors) <= set(self.axes):
            self.remarks.left_out(part, "SDF couples two coordinates of the tree, one to one")
            return
        offset = coupling.offset - sum(c * self.start[name] for name, c in factors.items())
        for follower, leader in sorted(
            ((x, y) for x in factors for y in factors if x != y), key=lambda pair: factors[pair[0]] != 1.0
        ):
            if self.axes[follower][2].find("mimic") is None:
                joint, tag, *_ = self.axes[leader]
                mimic = add(self.axes[follower][2], "mimic", joint=joint, axis=tag)
                add(mimic, "multiplier", numbers(-factors[leader] / factors[follower]))
                add(mimic, "offset", numbers(offset / factors[follower]))
                add(mimic, "reference", "0.0")
                if coupling.name != (read := f"{follower}_mimic"):
                    self.remarks.changed(part, f"is called {read!r} when it is read")
                return
        self.remarks.left_out(part, "an axis of SDF mimics one other")

    # -- forces ----------------------------------------------------------------------------------------------------

    def _dynamics(self, coordinate: str) -> Element:
        axis = self.axes[coordinate][2]
        found = axis.find("dynamics")
        return add(axis, "dynamics") if found is None else found

    def _add_damping(self, coordinate: str, damping: float) -> None:
        if damping:
            dynamics = self._dynamics(coordinate)
            found = dynamics.find("damping")
            found = add(dynamics, "damping", "0.0") if found is None else found
            found.text = numbers(float(found.text or 0.0) + damping)

    def _write_forces(self) -> None:
        for spring in self.machine.springs:
            part = f"spring {spring.name!r}"
            at = next((name for name in spring.coordinates if name in self.axes), None)
            if at is None or self._dynamics(at).find("spring_stiffness") is not None:
                self.remarks.left_out(part, "SDF has springs on coordinates only, one on each")
                continue
            add(self._dynamics(at), "spring_reference", numbers(spring.rest - self.start[at]))
            add(self._dynamics(at), "spring_stiffness", numbers(spring.stiffness))
            if spring.damping:
                self._add_damping(at, spring.damping)
                self.remarks.changed(part, "its damping is that of the joint now")
            if spring.name != (read := f"{at}_spring"):
                self.remarks.changed(part, f"is called {read!r} when it is read")
        for force in self.machine.forces:
            at = getattr(force, "joint", None)
            there = at in self.axes and self._dynamics(at).find("friction") is None
            if (found := dry_friction(force, self.remarks, "SDF", there)) is not None:
                coulomb, viscous = found
                add(self._dynamics(at), "friction", numbers(coulomb))  # type: ignore[arg-type]
                self._add_damping(at, viscous)  # type: ignore[arg-type]

    def _write_motor(self, actuator: Actuator) -> None:
        part = f"actuator {actuator.name!r}"
        if actuator.bodies is not None or actuator.joint not in self.axes:
            self.remarks.left_out(part, "SDF has limits of effort of axes, and no other motors")
            return
        limit = self.axes[actuator.joint][3]
        if limit.find("effort") is not None:
            self.remarks.left_out(part, "SDF has one limit of effort for each axis")
            return
        leave_out_ratings(actuator, self.remarks, "SDF")
        add(limit, "effort", numbers(min(actuator.effort * abs(actuator.gear), UNLIMITED)))
        if actuator.gear != 1.0 or actuator.name != actuator.joint:
            self.remarks.changed(part, "its name and its gear are not written: it acts on the joint itself")


def _tidy(name: str) -> str:
    """Name that SDF accepts: '::' leads into models, names in '__' are reserved, texts lose blanks at their ends."""
    name = " ".join(name.replace("::", "_").split())
    return name.strip("_") if name.startswith("__") and name.endswith("__") else name


def _add_pose(node: Element, frame: Frame) -> None:
    """Add a <pose> element, unless it is the default."""
    if np.any(frame.p) or not np.array_equal(frame.R, np.eye(3)):
        add(node, "pose", numbers(frame.p, angles_of(frame.R)))
