"""Plot of a reference over time: position, velocity, acceleration and jerk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..controllers.pieces import Profile
from ..errors import InputError
from . import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["profile"]

Array = NDArray[np.float64]
_KINDS = ("position", "velocity", "acceleration", "jerk")
_MARGIN = 0.05  # of the time that is shown, before and after a motion


def profile(
    reference: Profile,
    times: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    unit: str = "rad",
    axes: Any = None,
) -> Figure:
    """Plot position, velocity, acceleration and jerk of a reference over time.

    Parameters
    ----------
    reference : reference
        `CamProfile`, `JerkLimited`, `Joined`, `Spline`, and so on.
    times : array_like, optional
        Times, s; by default those of the whole motion and a little more, or of two periods.
    names : sequence of str, optional
        Names of the coordinates.
    unit : str
        Unit of positions.
    axes : sequence of four matplotlib axes, optional
        A new figure unless given.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        For a reference that goes on for ever, without times.

    Examples
    --------
    >>> from cmbcontrol import CamProfile
    >>> figure = profile(CamProfile([0.0, 0.5, 1.0], [0.0, 0.03, 0.0], periodic=True), unit="m")
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['position (m)', 'velocity (m/s)', 'acceleration (m/s²)', 'jerk (m/s³)']
    """
    _check.instance(reference, Profile, "reference", "such as CamProfile(...)")
    if times is None:
        t = _times(reference)
    else:
        given = _check.numbers(times, "times")
        t = np.sort(_check.vector(given, given.size, "times"))
    names = [str(k + 1) for k in range(reference.size)] if names is None else list(_check.names(names, "names"))
    if len(names) != reference.size:
        raise InputError(f"names must be {reference.size}, one for each coordinate, got {len(names)}")
    unit = _check.text(unit, "unit")
    figure, all_axes = style.panels(axes, 4, 1.2)
    at = np.append(t[:-1], t[-1] - 1e-9 * (t[-1] - t[0]))  # just before the end: a jump there is no more in sight
    found = reference.derivatives(at, 4)
    for ax, kind, rows, per in zip(all_axes, _KINDS, found, ("", "/s", "/s²", "/s³"), strict=True):
        for name, values, look in zip(names, rows, style.styles(len(names)), strict=True):
            style.curve(ax, t, values, linewidth=1.3, label=name, **look)
        style.dress(ax, kind)
        style.room_for_constants(ax, 1.0)
        style.in_unit_of_its_size(ax.yaxis, kind, unit + per)
    if len(names) > 1:
        for ax in all_axes:
            style.beside(ax)
    style.time_axis(all_axes, t)
    return figure


def _times(reference: Profile) -> Array:
    """Times of the whole motion with what is before and after, or of two periods."""
    if reference.period is not None:
        span = 0.0, 2.0 * reference.period
    elif reference.span is not None:
        begin, end = reference.span
        pad = _MARGIN * (end - begin)
        span = begin - pad, end + pad
    else:
        raise InputError("the reference goes on for ever; give times, as np.linspace(0.0, 2.0, 1001)")
    return np.linspace(*span, 2001)
