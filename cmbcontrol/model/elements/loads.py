"""Loads: external forces and moments on a machine."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from ... import _check
from ..._frozen import HeldArray, frozen, held, set_fields
from ...errors import InputTypeError
from .frames import Frame
from .parameters import FramePlace, Vector
from .part import MachinePart, check_body_name

__all__ = ["Load"]


@frozen
class Load(MachinePart):
    """External force and moment on a body: a digging force, a payload, wind, the push of a person.

    Parameters
    ----------
    name : str
        Its components are ``{name}_fx``, ``_fy``, ``_fz`` (N) and ``_mx``, ``_my``, ``_mz`` (N m).
    body : str
    frame : Frame
        Frame on the body: the force acts at its origin.
    force, moment : array_like, shape (3,)
        N and N m; a default, see `Mechanism.with_loads`.
    axes : str
        ``"world"``, or ``"frame"``, whose axes turn with the body.

    Examples
    --------
    >>> from cmbcontrol import Frame
    >>> Load("digging", "bucket", Frame((1.2, 0.0, 0.0)), force=(-2e4, 0.0, 5e3)).component_names[:3]
    ('digging_fx', 'digging_fy', 'digging_fz')
    """

    name: str
    body: str
    frame: Frame = field(default_factory=Frame)
    force: HeldArray = field(default=held((0.0, 0.0, 0.0)), kw_only=True)
    moment: HeldArray = field(default=held((0.0, 0.0, 0.0)), kw_only=True)
    axes: str = field(default="world", kw_only=True)

    prefix = "load_"
    parameters = (FramePlace("frame", 0, "frame"), Vector("force", "f", "N", 0), Vector("moment", "m", "N m", 3))

    def __post_init__(self) -> None:
        _check.name(self.name, "load")
        check_body_name(self.body, f"body of load {self.name!r}")
        if not isinstance(self.frame, Frame):
            raise InputTypeError(f"the frame of load {self.name!r} must be a Frame, got {_check.shown(self.frame)}")
        _check.one_of(self.axes, ("world", "frame"), f"axes of load {self.name!r}")
        for key in ("force", "moment"):
            set_fields(self, **{key: _check.vector(getattr(self, key), 3, f"the {key} of load {self.name!r}")})

    @property
    def ends(self) -> tuple[str]:
        """Name of the body on which it acts."""
        return (self.body,)

    @property
    def component_names(self) -> tuple[str, ...]:
        """Names of the components of force and moment."""
        return tuple(f"{self.name}_{kind}{axis}" for kind in "fm" for axis in "xyz")

    @property
    def value(self) -> np.ndarray:
        """Force and moment (6,), N and N m."""
        return np.concatenate([self.force, self.moment])
