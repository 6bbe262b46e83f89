"""Rounded angles in files: ``1.5708`` is taken as a right angle where a closed loop then holds."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from ..errors import CmbError
from ..model.mechanism import Mechanism
from .conversion import Conversion, Remark
from .xml import Node, read_xml

__all__ = ["as_meant", "meant"]

_STEP = math.pi / 12.0  # machines are drawn in multiples of 15 deg
_FEWEST = 2  # decimals: 1.57 is pi/2, 1.6 is not

Place = tuple[str | None, str | None]  # tag (any, where None) and attribute (the text, where None)


def meant(word: str) -> str:
    """Multiple of 15 deg, with all digits, that an angle in rad equals to its last decimal; else the angle as it is.

    Examples
    --------
    >>> meant("1.5708"), meant("-0.785"), meant("1.5")
    ('1.5707963267948966', '-0.7853981633974483', '1.5')
    """
    digits = word.strip().lower().partition("e")
    decimals = len(digits[0].partition(".")[2])
    value = float(word)
    nearest = round(value / _STEP) * _STEP
    # rounded, or cut off, at that decimal
    if digits[1] or decimals < _FEWEST or not nearest or abs(value - nearest) >= 10.0**-decimals:
        return word
    return repr(nearest)


def as_meant(read: Callable[[Node], Conversion], path: Path, root: str, places: Iterable[Place]) -> Conversion:
    """Read a machine from a file; rounded angles become multiples of 15 deg if only then its loops hold, or move.

    Parameters
    ----------
    read : callable
        Function from the root of the file to a machine with remarks.
    path : Path
    root : str
        Tag of the root.
    places : iterable of (str, str)
        Elements and attributes with roll, pitch and yaw: the last three numbers of an attribute, or of a text.
    """
    other = read_xml(path, root)
    changed = sorted({word for place in places for word in _rewritten(other, *place)})
    if not changed:
        return read(other)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = read(read_xml(path, root))
    meant_so = read(other) if found.machine.loops else found
    if not found.machine.loops or not _is_better(meant_so.machine, found.machine):
        for warning in told:
            warnings.warn(warning.message, stacklevel=3)
        return found
    few = ", ".join(changed[:4]) + (" and others" if len(changed) > 4 else "")
    remark = Remark("changed", "angles", f"{few} rad are taken as multiples of 15 deg, with which the loops hold")
    return replace(meant_so, remarks=(*meant_so.remarks, remark))


def _rewritten(root: Node, tag: str | None, key: str | None) -> Iterable[str]:
    """Replace rounded angles by multiples of 15 deg, and yield those that change by it."""
    for node in root.iter(tag):
        text = node.text if key is None else node.get(key)
        quaternion = node.get("rotation_format") == "quat_xyzw"
        if text is None or quaternion or node.get("degrees", "false").lower() in ("true", "1"):
            continue
        words = text.split()
        try:
            angles = [meant(word) for word in words[-3:]]
        except (ValueError, OverflowError):  # no numbers: the reader tells it
            continue
        yield from (a for a, b in zip(words[-3:], angles, strict=True) if abs(float(a) - float(b)) > 1e-12)
        new = [*words[:-3], *angles]
        if key is None:
            node.text = " ".join(new)
        else:
            node.set(key, " ".join(new))


def _is_better(one: Mechanism, other: Mechanism) -> bool:
    """Whether the loops of one machine hold with fewer changes than those of another, or move in more ways."""
    if one.agreement is None and other.agreement is not None:
        return True
    return _freedom(one) > _freedom(other)


def _freedom(machine: Mechanism) -> int:
    """Degrees of freedom with the loops closed; -1 where they cannot be closed."""
    try:
        return machine.diagnose(machine.assemble()).dof
    except CmbError:
        return -1
