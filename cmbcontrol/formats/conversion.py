"""Results of a conversion between formats: the machine, and remarks on all that changed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import InputError, PrecisionWarning
from ..model.mechanism import Mechanism

if TYPE_CHECKING:
    from ..model.elements import Actuator

__all__ = ["Conversion", "Remark", "Remarks", "Servo", "built", "grouped", "leave_out_ratings"]

Kind = Literal["left out", "changed", "assumed"]
KINDS: tuple[Kind, ...] = ("left out", "changed", "assumed")


@dataclass(frozen=True)
class Remark:
    """Remark on one thing that a conversion leaves out, changes or assumes.

    Attributes
    ----------
    kind : {'left out', 'changed', 'assumed'}
        Whether it is missing now, is there in another form, or is a value that the file does not give.
    part : str
        The part it is about, such as ``"joint 'knee'"``.
    what : str
    """

    kind: Kind
    part: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.part}: {self.what}"


@dataclass
class Remarks:
    """Collector of remarks while a machine is converted."""

    said: list[Remark] = field(default_factory=list)
    _known: set[Remark] = field(default_factory=set, repr=False)

    def left_out(self, part: str, what: str) -> None:
        """Add a remark on something that is missing now."""
        self._say(Remark("left out", part, what))

    def changed(self, part: str, what: str) -> None:
        """Add a remark on something that is there in another form."""
        self._say(Remark("changed", part, what))

    def assumed(self, part: str, what: str) -> None:
        """Add a remark on a value that the file does not give."""
        self._say(Remark("assumed", part, what))

    def _say(self, remark: Remark) -> None:
        if remark not in self._known:
            self._known.add(remark)
            self.said.append(remark)


def leave_out_ratings(actuator: Actuator, remarks: Remarks, format: str) -> None:
    """Add a remark where a motor has a continuous effort or a largest speed, which files of a format cannot hold."""
    rated = {"continuous effort": actuator.continuous, "largest speed": actuator.speed}
    if lost := [what for what, value in rated.items() if value is not None]:
        remarks.left_out(
            f"the rating of actuator {actuator.name!r}", f"{format} has no {' and no '.join(lost)} of motors"
        )


def built(remarks: Remarks, *parts: Any, **more: Any) -> Mechanism:
    """Make a `Mechanism` of these arguments; numbers of few digits in a file give a remark instead of a warning."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = Mechanism(*parts, **more)
    for warning in told:
        if warning.category is PrecisionWarning and made.agreement is not None and made.agreement.changes:
            remarks.changed("numbers", str(made.agreement))
        else:
            warnings.warn(warning.message, stacklevel=2)
    return made


@dataclass(frozen=True)
class Servo:
    """Control law that a file gives together with a motor.

    With the length l = gear q of the actuator, its effort is ``gain command + bias - kp l - kv dl/dt``.

    Attributes
    ----------
    actuator, coordinate : str
        Names in the machine.
    gear : float
        Gear of the actuator: its length over the coordinate.
    gain : float
        N or N m over the unit of the command; for a position servo it is `kp`.
    bias, stiffness, damping : float
        Coefficients of 1, l and dl/dt, as the file has them: N or N m, -kp, -kv.
    limits : (float, float)
        Limits of the command.

    Examples
    --------
    >>> servo = Servo("knee", "knee", gear=1.0, gain=80.0, bias=0.0, stiffness=-80.0, damping=-2.0)
    >>> servo.effort(0.5, q=0.25, v=1.0)
    18.0
    """

    actuator: str
    coordinate: str
    gear: float
    gain: float
    bias: float
    stiffness: float
    damping: float
    limits: tuple[float, float] = (-math.inf, math.inf)

    def effort(self, command: float, q: float, v: float) -> float:
        """Effort of the motor, N or N m, at a coordinate, rad or m, and its rate."""
        command = min(max(command, self.limits[0]), self.limits[1])
        return self.gain * command + self.bias + self.gear * (self.stiffness * q + self.damping * v)

    def __str__(self) -> str:
        x, rate = f"{self.stiffness * self.gear:+g} q", f"{self.damping * self.gear:+g} v"
        return f"effort = {self.gain:g} command {self.bias:+g} {x} {rate}"


@dataclass(frozen=True)
class Conversion:
    """Machine that was read from a file or written to one, with remarks on all that differs.

    Attributes
    ----------
    machine : Mechanism
    path : Path
        The file.
    format : str
        ``"MJCF"``, ``"URDF"``, ``"SDF"`` or ``"machine file"``.
    remarks : tuple of Remark
        Empty where nothing was lost.
    servos : tuple of Servo
        Laws that the file gives together with motors.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> print(Conversion(plants.pendulum(), Path("pendulum.urdf"), "URDF", ()))
    pendulum.urdf (URDF), machine 'pendulum': nothing is left out
    """

    machine: Mechanism
    path: Path
    format: str
    remarks: tuple[Remark, ...] = ()
    servos: tuple[Servo, ...] = ()

    def of_kind(self, kind: str) -> tuple[Remark, ...]:
        """Remarks of a kind: 'left out', 'changed' or 'assumed'."""
        if kind not in KINDS:
            raise InputError(f"remarks are of the kinds {', '.join(map(repr, KINDS))}, got {kind!r}")
        return tuple(remark for remark in self.remarks if remark.kind == kind)

    def __str__(self) -> str:
        head = f"{self.path} ({self.format}), machine {self.machine.name!r}: "
        if not self.of_kind("left out"):
            head += "nothing is left out"
        else:
            head += f"{len(self.of_kind('left out'))} left out"
        return "\n".join([head, *(f"  {line}" for line in self._lines())])

    def _lines(self) -> Iterator[str]:
        for kind in KINDS:
            yield from grouped(self.of_kind(kind))


def grouped(remarks: Iterable[Remark]) -> Iterator[str]:
    """Lines of remarks; parts with the same remark share a line."""
    parts: dict[tuple[str, str], list[str]] = {}
    for remark in remarks:
        parts.setdefault((remark.kind, remark.what), []).append(remark.part)
    for (kind, what), names in parts.items():
        few = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
        yield f"{kind}: {few}: {what}"


@contextmanager
def of_file(path: Path, line: int | None = None) -> Iterator[None]:
    """Add the file, and the line where it is known, to the messages of input errors within the block."""
    from ..errors import InputTypeError, ModelError

    try:
        yield
    except (InputError, InputTypeError, ModelError) as error:
        if getattr(error, "told", False):  # by a block inside, which knows better
            raise
        told: Any = type(error)(f"{path}{'' if line is None else f', line {line}'}: {error}")
        told.told = True
        raise told from error
