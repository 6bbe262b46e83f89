"""Plot of the closed-loop poles of many machines under one law, and of the required region."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from ..design.certificate import Certificate
from . import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["pole_sets"]

_MARKS = ("o", "s", "^", "D", "v", "P", "X")


def pole_sets(certificate: Certificate, *, ax: Any = None, legend: bool = True) -> Figure:
    """Draw the poles of all cases and the region; cases of one machine (same name before the comma) look the same.

    Parameters
    ----------
    certificate : Certificate
        Result of `certify`, or part of that of `robust_state_feedback`.
    ax : matplotlib axes, optional
        A new figure unless given.
    legend : bool
        Whether there is a legend beside the axes.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cmbcontrol.design import Case, Certificate, PoleRegion
    >>> region = PoleRegion(decay=1.0, damping=0.5)
    >>> case = Case("empty, up", np.array([-2.0 - 1.0j, -2.0 + 1.0j]), {}, True)
    >>> pole_sets(Certificate(region, (case,))).axes[0].get_xlabel()
    'real part (1/s)'
    """
    _check.instance(certificate, Certificate, "certificate", "from certify")
    legend = _check.flag(legend, "legend")
    if ax is None:
        _, (ax,) = style.panels(None, 1, height=3.4)
    region = certificate.region
    groups: dict[str, list[np.ndarray]] = {}
    lost: dict[str, int] = {}
    for case in certificate.cases:
        name, finite = case.label.split(",")[0], np.isfinite(case.poles)
        groups.setdefault(name, []).append(case.poles[finite])
        lost[name] = lost.get(name, 0) + int(np.count_nonzero(~finite))
    poles = np.concatenate([p for sets in groups.values() for p in sets])
    low, high = min(poles.real.min(initial=-1.0), -region.decay), max(poles.real.max(initial=0.0), 0.0)
    if region.radius is not None and region.center - region.radius > 1.5 * low:  # show the disk if it is near
        low = min(low, region.center - region.radius)
    top = 1.15 * max(np.abs(poles.imag).max(initial=0.0), 0.15 * (high - low))
    pad = 0.06 * (high - low)
    ax.set(xlim=(low - pad, high + pad), ylim=(-top, top))
    far = 20.0 * (high - low)  # beyond the edges, so that the limits may be changed, or shared
    border = region.outline(-far, high, max(far, 10.0 * top), 4001)
    if border.size:
        shade = {"facecolor": "#E3EEF6", "edgecolor": "#8FB4CE", "linewidth": 0.8, "zorder": 0.5}
        ax.fill_between(border.real, -border.imag, border.imag, label="region", **shade)
    ax.axvline(0.0, color=style.FAINT, linewidth=0.8, zorder=1.0)
    for i, (name, sets) in enumerate(groups.items()):
        all_of = np.concatenate(sets)
        turn = i + i // len(_MARKS)  # another pairing of marks and colours in each round
        mark = {"marker": _MARKS[turn % len(_MARKS)], "color": style.COLORS[i % len(style.COLORS)]}
        if lost[name]:
            name = f"{name} ({lost[name]} not finite)"
        ax.plot(all_of.real, all_of.imag, linestyle="none", markersize=4.0, markerfacecolor="none", label=name, **mark)
    style.dress(ax, "imaginary part (rad/s)")
    ax.grid(False)
    ax.set_xlabel("real part (1/s)", fontsize=style.LABEL, color=style.INK)
    if legend:
        style.beside(ax)
    return ax.figure
