"""Parameters of parts: which fields have them, what they are called, and how a part is changed by one of them.

What follows them in the arrays of the kernels is in `model/parameters.py`.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .frames import Frame

__all__ = [
    "AXES",
    "PAIRS",
    "Coefficients",
    "Direction",
    "FormulaNumbers",
    "FramePlace",
    "Inertia",
    "MotionValues",
    "Number",
    "PartParameters",
    "Place",
    "Vector",
]

Changes = Mapping[str, Callable[[float], dict[str, Any]]]

AXES = tuple(zip("xyz", np.eye(3), strict=True))
PAIRS = tuple(itertools.combinations_with_replacement(range(3), 2))


@dataclass(frozen=True)
class PartParameters(ABC):
    """Parameters in a field of a part.

    Attributes
    ----------
    field : str
    """

    field: str

    @abstractmethod
    def changes(self, part: Any) -> Changes:
        """Functions x -> changed fields of the part with a parameter set to x, by its name behind that of the part."""

    def is_of(self, part: Any) -> bool:
        """Whether the part has them, as it is."""
        return True

    def entries(self, part: Any, label: str, names: Any = "xyz") -> Changes:
        """Changes of the entries of a vector."""

        def changed(i: int, x: float) -> dict[str, Any]:
            made = np.array(getattr(part, self.field), dtype=np.float64)
            made[i] = x
            return {self.field: made}

        return {f"{label}{name}": partial(changed, i) for i, name in enumerate(names)}


@dataclass(frozen=True)
class Number(PartParameters):
    """One number.

    Attributes
    ----------
    unit : str
        That for a translation; of a part on a coordinate that turns, it is the corresponding one.
    """

    unit: str

    def changes(self, part: Any) -> Changes:
        return {self.field: lambda x: {self.field: x}}


@dataclass(frozen=True)
class Vector(PartParameters):
    """Three numbers along x, y and z.

    Attributes
    ----------
    label : str
        What their names begin with.
    unit : str
    first : int
        Place of the first one among the numbers of the part.
    """

    label: str
    unit: str
    first: int

    def changes(self, part: Any) -> Changes:
        return self.entries(part, self.label)


@dataclass(frozen=True)
class OnBody(PartParameters):
    """Base of parameters of what is fixed on a body.

    Attributes
    ----------
    end : int
        Which of the part's bodies.
    """

    end: int

    def is_of(self, part: Any) -> bool:
        """Whether the part has so many bodies: a motor on a coordinate has none."""
        return self.end < len(part.ends)


@dataclass(frozen=True)
class Place(OnBody):
    """Point on a body, m."""

    def changes(self, part: Any) -> Changes:
        return self.entries(part, f"{self.field}_")


@dataclass(frozen=True)
class Direction(OnBody):
    """Direction on a body, turned about the axes of the body."""

    def changes(self, part: Any) -> Changes:
        def turned(e: Any, x: float) -> dict[str, Any]:
            return {self.field: Frame.turned(e, x).R @ getattr(part, self.field)}

        return {f"{self.field}_turn_{name}": partial(turned, e) for name, e in AXES}


@dataclass(frozen=True)
class FramePlace(OnBody):
    """Frame on a body, moved along and turned about the axes of the body.

    Attributes
    ----------
    label : str
        Its name, which may be shorter than that of the field.
    """

    label: str

    def changes(self, part: Any) -> Changes:
        def moved(i: int, x: float) -> dict[str, Any]:
            old = getattr(part, self.field)
            p = np.array(old.p)
            p[i] = x
            return {self.field: Frame(p, old.R)}

        def turned(e: Any, x: float) -> dict[str, Any]:
            old = getattr(part, self.field)
            return {self.field: Frame(old.p, Frame.turned(e, x).R @ old.R)}

        moves = {f"{self.label}_{name}": partial(moved, i) for i, (name, _) in enumerate(AXES)}
        return moves | {f"{self.label}_turn_{name}": partial(turned, e) for name, e in AXES}


@dataclass(frozen=True)
class Inertia(PartParameters):
    """Six numbers of an inertia; those of products stand for two entries each."""

    def changes(self, part: Any) -> Changes:
        def changed(i: int, j: int, x: float) -> dict[str, Any]:
            inertia = np.array(getattr(part, self.field), dtype=np.float64)
            inertia[i, j] = inertia[j, i] = x
            return {self.field: inertia}

        return {f"{self.field}_{'xyz'[i]}{'xyz'[j]}": partial(changed, i, j) for i, j in PAIRS}


@dataclass(frozen=True)
class Coefficients(PartParameters):
    """Numbers by the names of coordinates."""

    def changes(self, part: Any) -> Changes:
        def changed(name: str, x: float) -> dict[str, Any]:
            return {self.field: {**getattr(part, self.field), name: x}}

        return {f"of_{name}": partial(changed, name) for name in getattr(part, self.field)}


@dataclass(frozen=True)
class FormulaNumbers(PartParameters):
    """Numbers in the formula of a force element: those of its characteristic, in a field, and others of its fields.

    Attributes
    ----------
    settable : bool
        False where they follow from other fields.
    """

    settable: bool = True

    def changes(self, part: Any) -> Changes:
        if not self.settable:
            return {}
        law = getattr(part, self.field)

        def changed(name: str, x: float) -> dict[str, Any]:
            pairs = zip(law.number_names, law.numbers, strict=True)
            return {self.field: law.with_numbers([x if n == name else y for n, y in pairs])}

        own = {name: partial(_field, name) for name in part.number_names if hasattr(part, name)}
        return own | {name: partial(changed, name) for name in law.number_names}


def _field(name: str, x: float) -> dict[str, Any]:
    return {name: x}


@dataclass(frozen=True)
class MotionValues(PartParameters):
    """Position, velocity or acceleration of a prescribed motion, by its components."""

    def changes(self, part: Any) -> Changes:
        names = [f"{suffix}_{self.field}".removeprefix("_") for suffix in part.suffixes]
        return self.entries(part, "", names) if len(names) > 1 else {names[0]: partial(_field, self.field)}
