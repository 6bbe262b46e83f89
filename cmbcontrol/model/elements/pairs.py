"""What parts between two bodies have in common: a point, or a frame, on each of them."""

from __future__ import annotations

from typing import ClassVar

from ... import _check
from ..._frozen import HeldArray, set_fields
from ...errors import ModelError
from .frames import Frame
from .parameters import FramePlace, PartParameters, Place
from .part import MachinePart, check_body_name

__all__ = ["BetweenFrames", "BetweenPoints"]


class BetweenPoints(MachinePart):
    """Base of parts between two points: `point_a` on body `a`, and `point_b` on body `b`."""

    parameters: ClassVar[tuple[PartParameters, ...]] = (Place("point_a", 0), Place("point_b", 1))

    a: str  # fields of the parts, which have them in orders of their own
    b: str
    point_a: HeldArray
    point_b: HeldArray

    def check_ends(self, what: str) -> None:
        """Check the bodies, and where the part is on them."""
        for key in ("a", "b"):
            check_body_name(getattr(self, key), f"{key} of {what}")
        if self.a == self.b:
            raise ModelError(f"{what} connects body {self.a!r} with itself")
        self._check_places(what)

    def _check_places(self, what: str) -> None:
        for key in ("point_a", "point_b"):
            set_fields(self, **{key: _check.point(getattr(self, key), f"{key} of {what}")})

    @property
    def ends(self) -> tuple[str, str]:
        """Names of the bodies that it joins."""
        return self.a, self.b

    @property
    def frames(self) -> tuple[Frame, Frame]:
        """Frames on these bodies."""
        return Frame(self.point_a), Frame(self.point_b)


class BetweenFrames(BetweenPoints):
    """Base of parts between two frames in place of points: `frame_a` on body a, and `frame_b` on body b."""

    parameters: ClassVar[tuple[PartParameters, ...]] = (
        FramePlace("frame_a", 0, "frame_a"),
        FramePlace("frame_b", 1, "frame_b"),
    )

    frame_a: Frame
    frame_b: Frame

    def _check_places(self, what: str) -> None:
        for key in ("frame_a", "frame_b"):
            _check.instance(getattr(self, key), Frame, f"{key} of {what}")

    @property
    def frames(self) -> tuple[Frame, Frame]:
        return self.frame_a, self.frame_b
