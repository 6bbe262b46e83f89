"""Plot of eigenvalues in the complex plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..linear.model import LinearModel
from . import style
from .root_locus import damping_lines, limits

if TYPE_CHECKING:
    import control
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["poles"]

_SAME = 2e-3  # of the width and the height of the drawing: crosses as near as these look like one
_NEAR = 0.25  # of the distance from 1: eigenvalues all this near would be crowded in an eighth of the unit circle
_SMALLEST = 1e-6  # of the distance from 1: integrators only, or more digits than an axis shows


def poles(lin: LinearModel, digital: control.StateSpace | None = None) -> Figure:
    """Plot the eigenvalues of a linear model with lines of equal damping ratio, and of its sampled model if given.

    Parameters
    ----------
    lin : LinearModel
    digital : control.StateSpace, optional
        From ``lin.sampled(period)``: its eigenvalues z, in the unit circle where they decay.

    Examples
    --------
    >>> from cmbcontrol import linearize, plants, trim
    >>> plant = plants.five_bar()
    >>> figure = poles(linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0))))
    >>> figure.axes[0].get_xlabel()
    'real part (1/s)'
    """
    _check.instance(lin, LinearModel, "lin", "from linearize")
    figure, (ax,) = style.panels(None, 1, height=4.6)
    ax.set_aspect("equal", adjustable="box")
    if digital is None:
        period, values = 0.0, np.array([mode.eigenvalue for mode in lin.damping()], dtype=complex)
        values = np.append(values, values[values.imag != 0.0].conj())
        size = np.abs(values).max(initial=0.0) or 1.0
        # the longer part decides, so that angles and with them damping ratios look like what they are
        low, high = values.real.min(initial=-0.6 * size), values.real.max(initial=0.3 * size)
        top = np.abs(values.imag).max(initial=0.6 * size)
        ax.set(xlim=(1.1 * low, 1.1 * high), ylim=(-1.1 * top, 1.1 * top))
    else:
        period, values = float(digital.dt), np.asarray(digital.poles())
        _sampled_limits(ax, values, period)
    damping_lines(ax, period, 0.0)
    style.dress(ax, "imaginary part" + (" (1)" if period else " (rad/s)"))
    ax.plot(values.real, values.imag, "x", color=style.COLORS[0], markersize=7.0, markeredgewidth=1.6, zorder=4)
    _count_repeated(ax, values)
    ax.set_xlabel("real part" + (" (1)" if period else " (1/s)"), fontsize=style.LABEL, color=style.INK)
    title = f"eigenvalues of {lin.name}" + (f", sampled every {period:g} s" if period else "")
    ax.set_title(title, fontsize=style.LABEL + 1.0, color=style.INK)
    ax.grid(False)
    return figure


def _sampled_limits(ax: Axes, values: NDArray[np.complex128], period: float) -> None:
    """Set limits on the unit circle; for fast samples, with all eigenvalues near 1, on the part of it around them.

    z - 1 is s times the period there to first order: the part looks like the eigenvalues in continuous time.
    """
    size = np.abs(values - 1.0).max(initial=0.0)
    if not _SMALLEST < size < _NEAR:
        limits(ax, values, period)
        return
    low, high = 1.0 - 0.3 * size, 1.0 + 0.3 * size  # the border is seen, and both sides of it
    low, high = min(low, values.real.min(initial=1.0)), max(high, values.real.max(initial=1.0))
    top, room = np.abs(values.imag).max(initial=0.6 * size), 0.1 * size
    ax.set(xlim=(low - room, high + room), ylim=(-top - room, top + room))
    ax.locator_params(axis="x", nbins=5)


def _count_repeated(ax: Axes, values: NDArray[np.complex128]) -> None:
    """Write the number of crosses on top of each other, where there are several."""
    width, height = np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())
    left = sorted(values, key=lambda z: (z.real, z.imag))
    above = True
    while left:
        here = left[0]
        same = [z for z in left if abs(z.real - here.real) < _SAME * width and abs(z.imag - here.imag) < _SAME * height]
        left = [z for z in left if z not in same]
        if len(same) > 1:
            text: dict[str, Any] = {"fontsize": style.TICK, "color": style.COLORS[0], "textcoords": "offset points"}
            ax.annotate(f"{len(same)} times", (here.real, here.imag), xytext=(6.0, 5.0 if above else -11.0), **text)
            above = not above  # neighbours have room
