"""Common parts of formats with links and joints: poses by angles, names, mass and inertia."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..characteristics import Friction
from ..errors import InputError, ModelError
from ..model.elements import Body, ForceElement, Frame, Joint
from ..model.mechanism import Mechanism
from .conversion import Remarks, of_file
from .xml import Node

__all__ = [
    "LONGEST",
    "UNLIMITED",
    "NameTable",
    "add",
    "angles_of",
    "body_of",
    "bounded",
    "dry_friction",
    "frame_of",
    "measures",
    "name_at",
    "numbers",
    "require_size",
    "rotation_of",
    "tell_left_out",
    "xml_text",
]

Array = NDArray[np.float64]

UNLIMITED = 1e16  # what files write for a limit that there is none of: the default of SDF; no machine goes so far

LONGEST = 200  # characters of a name: messages and tables have them in full
_LARGEST = 1e30  # m, kg, ...: products of ten such numbers, as in a mass matrix, still are numbers

# Beyond these, the dense matrices of a machine take more than seconds and some hundred MB.
_MOST_LINKS = 4000
_MOST_DOFS = 2000

# Largest part of the moments by which rounding alone makes inertia impossible: each of three numbers of four digits is
# off by up to half a unit of its last digit, 5e-4 of its size.
_ROUNDED = 1.5e-3
_POINT = 1e-9  # m: a radius of gyration below the size of atoms is that of a point, and its moments are rounding


def rotation_of(roll: float, pitch: float, yaw: float) -> Array:
    """Rotation matrix of `roll` about x, then `pitch` about y, then `yaw` about z, all of them fixed axes (rad).

    Examples
    --------
    >>> rotation_of(0.0, 0.0, math.pi / 2)[:, 0].round(12).tolist()
    [0.0, 1.0, -0.0]
    """
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in (roll, pitch, yaw))
    return np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])  # fmt: skip


def angles_of(R: ArrayLike) -> tuple[float, float, float]:
    """Roll, pitch and yaw (rad) of a rotation; `rotation_of` gives it back to rounding, at a pitch of 90 degrees too.

    There, yaw is computed from two small numbers and may be anything; the others are found after it has been turned
    back, so that the three together are right.

    Examples
    --------
    >>> angles_of(rotation_of(0.3, 0.2, 0.1))
    (0.3, 0.2, 0.1)
    """
    R = np.asarray(R, dtype=np.float64)
    yaw = math.atan2(R[1, 0], R[0, 0])
    c, s = math.cos(yaw), math.sin(yaw)
    pitch = math.atan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return roll + 0.0, pitch + 0.0, yaw + 0.0  # + 0.0: zeros without a sign


def measures(node: Node, key: str | None, count: int, default: Sequence[float] | None = None) -> list[float]:
    """Numbers (lengths, angles, masses) of an attribute, or of the text of an element, checked for a plausible size."""
    found = node.own_numbers(count) if key is None else node.numbers(key, count, default)
    with of_file(node.path, node.line):
        return [bounded(x, f"<{node.tag}>" if key is None else f"{key!r} of <{node.tag}>") for x in found]


def bounded(x: float, what: str) -> float:
    """Number `x`, checked to be of a size that a machine can have."""
    if abs(x) > _LARGEST:
        raise InputError(f"{what} has {x:.3g}, and no machine has anything beyond {_LARGEST:.0e} in SI units")
    return x


def name_at(node: Node, key: str | None) -> str:
    """Name in an attribute, or in the text of an element, without the blanks around it."""
    found = (node.text or "").strip() if key is None else node.text_of(key)
    if len(found) > LONGEST:
        raise node.error(f"a name has {len(found)} characters, and {LONGEST} are enough: it begins with {found[:40]!r}")
    return found


def require_size(node: Node, bodies: Sequence[Body], joints: Sequence[Joint]) -> None:
    """Raise an error for numbers of bodies and joints that are too large for a machine in memory."""
    dofs = sum(len(joint.velocity_suffixes) for joint in joints)
    for count, most, what in ((len(bodies), _MOST_LINKS, "links"), (dofs, _MOST_DOFS, "coordinates")):
        if count > most:
            raise node.error(f"it has {count} {what}, and machines of up to {most} are read: is it the right file?")


def frame_of(node: Node, xyz: Sequence[float], rpy: Sequence[float]) -> Frame:
    """Frame at `xyz` (m), turned by roll, pitch and yaw (rad)."""
    with of_file(node.path, node.line):
        return Frame(list(xyz), rotation_of(*rpy))


def _without_dots(name: str) -> str:
    return name.translate({ord("."): "_", ord(","): "_"})


class NameTable:
    """Table from names in a file to names of a machine: without '.' and ',', and each only once.

    Examples
    --------
    >>> names = NameTable(Remarks(), "link")
    >>> names.of("arm.left"), names.of("arm_left"), names.of("arm.left")
    ('arm_left', 'arm_left_2', 'arm_left')
    """

    def __init__(
        self, remarks: Remarks, what: str, taken: Iterable[str] = (), tidy: Callable[[str], str] = _without_dots
    ) -> None:
        self.remarks, self.what, self.tidy = remarks, what, tidy
        self.taken = set(taken)
        self.known: dict[str, str] = {}

    def of(self, given: str) -> str:
        """Name of a thing of the file; the same for each call."""
        if given not in self.known:
            self.known[given] = made = self.new(given)
            if made != given:
                self.remarks.changed(f"{self.what} {given!r}", f"is called {made!r}")
        return self.known[given]

    def new(self, given: str) -> str:
        """New name, like the given one, that is not used yet."""
        base = self.tidy(given)
        base = base if base.strip() else self.what
        made, count = base, 1
        while made in self.taken:
            made, count = f"{base}_{count + 1}", count + 1
        self.taken.add(made)
        return made


def body_of(
    node: Node, name: str, mass: float, com: Frame, moments: ArrayLike, remarks: Remarks, nearest: bool = False
) -> Body:
    """Body from an inertia element of a file.

    Parameters
    ----------
    node : Node
        The element, for messages.
    name : str
        Name of the link, for messages; the body is called ``link``.
    mass : float
        kg.
    com : Frame
        Centre of mass and the axes of the moments, in the axes of the body.
    moments : array_like, shape (3, 3)
        Inertia about the centre of mass, kg m2.
    remarks : Remarks
        Gets a remark where the moments are impossible, and the nearest possible ones are taken.
    nearest : bool
        Whether the nearest ones are taken in any case, and not only within the rounding of four digits.

    Raises
    ------
    ValueError
        Where no distribution of mass has this inertia.
    """
    I = np.asarray(com.R) @ np.asarray(moments, dtype=np.float64) @ np.asarray(com.R).T
    I = 0.5 * (I + I.T)
    what, size = f"link {name!r}", float(np.abs(I).max())
    if mass < 0.0:
        raise node.error(f"{what}: the mass must not be negative, got {mass:.6g} kg")
    if mass == 0.0 and size > 0.0:
        if not nearest:
            raise node.error(
                f"{what}: it has inertia (up to {size:.6g} kg m2), but no mass; give it a mass, or read with "
                "inertia='nearest' to leave the inertia out"
            )
        remarks.left_out(what, "inertia without mass")
        return Body("link", 0.0, com.p)
    if size > _LARGEST * mass:
        raise node.error(f"{what}: no body of {mass:.3g} kg has {size:.3g} kg m2: look at the units")
    # The second moments of the mass, tr(I)/2 - I: a distribution has them if and only if none is negative, which is to
    # say that no principal moment of I exceeds the sum of the others.
    values, axes = np.linalg.eigh(0.5 * np.trace(I) * np.eye(3) - I)
    if values[0] < -1e-9 * size:
        told = ", ".join(f"{x:.6g}" for x in np.linalg.eigvalsh(I))
        is_rounded = values[0] > -_ROUNDED * size or size < mass * _POINT**2
        if not (is_rounded or nearest):
            raise node.error(
                f"{what}: no body has the principal moments {told} kg m2 about its centre of mass: none may be "
                "negative, or larger than the sum of the other two. Look at signs, at units (kg m2), and whether they "
                "are about the centre of mass, or read with inertia='nearest' to take the nearest that a body can have"
            )
        second = axes @ np.diag(np.maximum(values, 0.0)) @ axes.T
        I = np.trace(second) * np.eye(3) - second
        why = ", by rounding," if is_rounded else f", {told} kg m2,"
        remarks.changed(what, f"principal moments that no body has{why} are the nearest possible ones")
    try:
        return Body("link", mass, com.p, I)
    except ModelError as error:
        raise node.error(f"{what}: {error}") from error


# -- writing -----------------------------------------------------------------------------------------------------------


def tell_left_out(machine: Mechanism, remarks: Remarks) -> None:
    """Add remarks on all that files of links and joints cannot hold, in whatever format."""
    for name in machine.absent:
        remarks.left_out(f"constraint {name!r}", "it was taken out of the machine, and is not written")
    for name in machine.configurations:
        remarks.left_out(f"configuration {name!r}", "it is not written")
    for load in machine.loads:
        remarks.left_out(f"load {load.name!r}", "it is not written")
    for cylinder in machine.cylinders:
        remarks.changed(
            f"cylinder {cylinder.name!r}", "its bodies and joints are written; together they are no cylinder"
        )
    for joint in machine.joints:
        if np.any(joint.armature):
            remarks.left_out(f"joint {joint.name!r}", "its armature: M is without these rotors")
        if joint.restitution:
            remarks.left_out(f"joint {joint.name!r}", "the restitution of its end stops")


def dry_friction(force: ForceElement, remarks: Remarks, format: str, there: bool) -> tuple[float, float] | None:
    """Coulomb friction and damping of a force element, as files have them; None and a remark for any other element.

    `there` is True if its coordinate is in the file and has no friction so far.
    """
    part, law = f"force element {force.name!r}", getattr(force, "characteristic", None)
    if not (there and isinstance(law, Friction)):
        remarks.left_out(part, f"{format} has none but friction, one on each coordinate")
        return None
    if law.numbers != Friction(law.coulomb).numbers:
        remarks.changed(part, f"of friction, {format} knows that while sliding, and damping")
    if force.name != (read := f"{force.coordinates[0]}_friction"):
        remarks.changed(part, f"is called {read!r} when it is read")
    return law.coulomb, law.viscous


def numbers(*values: ArrayLike) -> str:
    """Text of numbers to their last digit, as attributes and texts have them.

    Examples
    --------
    >>> numbers((1, -0.0, 1 / 3))
    '1.0 0.0 0.3333333333333333'
    """
    return " ".join(repr(float(x) + 0.0) for value in values for x in np.ravel(value))


def add(parent: Element, tag: str, text: str | None = None, /, **attributes: str) -> Element:
    """Add a new element to another one, and return it."""
    made = SubElement(parent, tag, attributes)
    made.text = text
    return made


def xml_text(root: Element) -> str:
    """Text of an XML file.

    Raises
    ------
    ValueError
        Where a name has a character that XML cannot have.
    """
    for element in root.iter():
        for text in (*element.attrib.values(), element.text or ""):
            if bad := next((c for c in text if not _allowed(c)), None):
                raise InputError(f"{text[:80]!r} has the character {bad!r}, which XML cannot hold; rename it")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _allowed(c: str) -> bool:
    """Whether a character may stand in XML 1.0; ElementTree escapes line ends and tabs in attributes."""
    return c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c >= "\U00010000"
