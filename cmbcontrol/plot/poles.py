"""Eigenvalues in the complex plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import _check
from ..linear.model import LinearModel
from . import style
from .root_locus import damping_lines, limits

if TYPE_CHECKING:
    import control
    from matplotlib.figure import Figure

__all__ = ["poles"]


def poles(lin: LinearModel, digital: control.StateSpace | None = None) -> Figure:
    """Eigenvalues of a linear model, with lines of equal damping ratio; of its sampled model where that is given.

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
        values = np.append(values, values.conj())
        size = np.abs(values).max() or 1.0
        # the longer part decides, so that angles and with them damping ratios look like what they are
        low, high = min(values.real.min(), -0.6 * size), max(values.real.max(), 0.3 * size)
        top = max(np.abs(values.imag).max(), 0.6 * size)
        ax.set(xlim=(1.1 * low, 1.1 * high), ylim=(-1.1 * top, 1.1 * top))
    else:
        period, values = float(digital.dt), np.asarray(digital.poles())
        limits(ax, values, period)
    damping_lines(ax, period, 0.0)
    style.dress(ax, "imaginary part" + (" (1)" if period else " (rad/s)"))
    ax.plot(values.real, values.imag, "x", color=style.COLORS[0], markersize=7.0, markeredgewidth=1.6, zorder=4)
    ax.set_xlabel("real part" + (" (1)" if period else " (1/s)"), fontsize=style.LABEL, color=style.INK)
    title = f"eigenvalues of {lin.name}" + (f", sampled every {period:g} s" if period else "")
    ax.set_title(title, fontsize=style.LABEL + 1.0, color=style.INK)
    ax.grid(False)
    return figure
