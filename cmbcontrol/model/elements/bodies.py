"""Rigid bodies, and the base of shapes that show them in pictures."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _check
from ..._frozen import Frozen, Held, HeldArray, frozen, held, set_fields
from ...errors import InputError, ModelError
from .frames import Frame
from .parameters import Inertia, Number, Place
from .part import MachinePart

__all__ = ["Body", "Shape", "Triangles"]


class Triangles(NamedTuple):
    """Surface of a shape, as triangles.

    Attributes
    ----------
    vertices : ndarray, shape (n, 3)
        Points in the axes of the body, m. Where a curved surface has a sharp edge, they are there once for each side of
        it.
    faces : ndarray of int32, shape (m, 3)
        Triangles, counter-clockwise from outside.
    smooth : bool
        Whether the surface is curved, so that shading runs across triangles with common vertices.
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int32]
    smooth: bool


_COLOR = re.compile("#[0-9a-fA-F]{6}")


@frozen
class Shape(Frozen, ABC):
    """Base of shapes, which show a body or a part of it in pictures: a solid in the axes of the body.

    The classes are in `cmbcontrol.shapes`; one of your own defines the two methods.

    Parameters
    ----------
    color : str, optional
        ``"#RRGGBB"``; by default the machine's drawing chooses one.
    """

    color: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.color is not None and not _COLOR.fullmatch(_check.text(self.color, "the color of a shape")):
            raise InputError(f"the color of a shape is '#RRGGBB', such as '#1f77b4', got {_check.shown(self.color)}")

    @abstractmethod
    def triangles(self) -> Triangles:
        """Surface of the shape: closed, of triangles, counter-clockwise from outside."""

    @abstractmethod
    def moved(self, frame: Frame) -> Shape:
        """Shape whose coordinates in `frame` are turned into those in the axes in which that frame is given."""

    @property
    def primitive(self) -> tuple[str, Frame, dict[str, Any]]:
        """Kind of solid that files of other programs have for it, with its frame and sizes, m; "mesh" for none."""
        return "mesh", Frame(), {}


@frozen
class Body(MachinePart):
    """Rigid body with mass, inertia, and shapes for pictures.

    Parameters
    ----------
    name : str
    mass : float
        kg.
    com : array_like, shape (3,)
        Centre of mass in the body's axes, metres.
    inertia : array_like, shape (3, 3) or (3,)
        Inertia about the centre of mass, in the body's axes (or its diagonal), kg m2.
    shapes : sequence of Shape
        Shapes that show it in pictures, from `cmbcontrol.shapes`; they have no mass and no contact. A body without
        any is drawn as bars and polygons through its joints. A base or a frame that stands still is a body without
        mass that has shapes, and a `Fixed` joint to the ground.

    Raises
    ------
    ModelError
        If mass and inertia cannot belong to a rigid body.

    Examples
    --------
    >>> Body.rod("link", mass=3.0, length=2.0).inertia.diagonal()
    array([0., 1., 1.])
    """

    name: str
    mass: float = 0.0
    com: HeldArray = held((0.0, 0.0, 0.0))
    inertia: HeldArray = held((0.0, 0.0, 0.0))
    shapes: Held[Sequence[Shape], tuple[Shape, ...]] = held(())

    parameters = (Number("mass", "kg"), Place("com", 0), Inertia("inertia"))

    def __post_init__(self) -> None:
        _check.name(self.name, "body")
        what = f"body {self.name!r}"
        mass = _check.number(self.mass, f"the mass of {what}")
        com = _check.point(self.com, f"the centre of mass of {what}")
        inertia = _check.numbers(self.inertia, f"the inertia of {what}", "a 3 x 3 matrix, or its diagonal")
        if inertia.shape not in ((3,), (3, 3)):
            raise InputError(
                f"the inertia of {what} must have shape (3, 3), or (3,) for its diagonal, got shape {inertia.shape}"
            )
        inertia = np.diag(inertia) if inertia.ndim == 1 else inertia
        inertia = _check.matrix(inertia, (3, 3), f"the inertia of {what}")
        shapes = _check.sequence(self.shapes, f"the shapes of {what}", "shapes")
        for shape in shapes:
            _check.instance(shape, Shape, f"a shape of {what}", "from cmbcontrol.shapes")
        set_fields(self, mass=mass, com=com, inertia=inertia, shapes=shapes)
        self._check_physics()

    @property
    def ends(self) -> tuple[str]:
        """Name of the body."""
        return (self.name,)

    def written(self, field: str) -> Any:
        """Value of a field as files have it: the inertia as its diagonal, where this is all of it."""
        value = super().written(field)
        if field == "inertia" and not (value - np.diag(value.diagonal())).any():
            return value.diagonal()
        return value

    def _check_physics(self) -> None:
        """Raise an error for mass and inertia that no distribution of mass can have."""
        what, I = f"body {self.name!r}", np.asarray(self.inertia)
        size = float(np.abs(I).max())
        if self.mass < 0.0:
            raise ModelError(f"{what}: the mass must not be negative, got {self.mass} kg")
        if self.mass == 0.0 and size > 0.0:
            raise ModelError(f"{what}: a body without mass cannot have inertia, got {I.tolist()} kg m2; give it a mass")
        if np.abs(I - I.T).max() > 1e-9 * size:
            raise ModelError(f"{what}: the inertia must be symmetric, got {I.tolist()} kg m2")
        moments = np.linalg.eigvalsh(I)
        if moments[0] < -1e-9 * size:
            raise ModelError(f"{what}: the principal moments must not be negative, got {moments.tolist()} kg m2")
        if moments[2] > (1.0 + 1e-9) * (moments[0] + moments[1]):
            raise ModelError(
                f"{what}: the largest principal moment must not exceed the sum of the other two, "
                f"got {moments.tolist()} kg m2; for a planar machine use Body.planar(...)"
            )

    @classmethod
    def rod(cls, name: str, mass: float, length: float, shapes: Sequence[Shape] = ()) -> Body:
        """Body as a thin uniform rod along x from the body's origin: inertia m L^2 / 12 across, none along."""
        mass = _check.positive(mass, f"the mass of body {name!r}", zero=True)
        length = _check.positive(length, f"the length of body {name!r}")
        i = mass * length**2 / 12.0
        return cls(name, mass, (0.5 * length, 0.0, 0.0), (0.0, i, i), shapes)

    @classmethod
    def planar(
        cls, name: str, mass: float, com: float | ArrayLike, inertia: float, shapes: Sequence[Shape] = ()
    ) -> Body:
        """Body for planar machines: centre of mass at (x, y, 0), `inertia` about z through it.

        `com` is the pair (x, y), or a number for (x, 0). Inertias about x and y have no effect in a planar machine;
        they are set to that about z, which makes a body that can exist.

        Examples
        --------
        >>> Body.planar("boom", 1550.0, (2.6, 0.45), 4300.0).com
        array([2.6 , 0.45, 0.  ])
        """
        what = f"the com of body {name!r}"
        x, y = (_check.number(com, what), 0.0) if _check.single(com) else _check.vector(com, 2, what)
        inertia = _check.number(inertia, f"the inertia of body {name!r}")
        return cls(name, mass, (x, y, 0.0), (inertia, inertia, inertia), shapes)
