"""Plot of the structured singular value over frequency: what proves robust stability, and how sharp that is."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError
from ..linear.robust_stability import RobustStability
from ..linear.sampled import frequencies
from .figure import is_narrow
from .style import BAND, COLORS, INK, LABEL, beside, dress, logarithmic, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["mu"]

Array = NDArray[np.float64]

_POINTS = 120  # beside the frequencies that were tried
_DECADES = 6.0  # of a range that is chosen
_HIGH = 10.0  # a curve that is higher has a logarithmic axis, else the line at 1 would lie on the lower one


def mu(stability: RobustStability, omega: ArrayLike | None = None, *, axes: Any = None) -> Figure:
    """Plot bounds of mu over frequency: below 1 everywhere, the system is stable for all perturbations.

    Parameters
    ----------
    stability : RobustStability
        From `linear.robust_stability` or `UncertainLoop.robust_stability`.
    omega : array_like, optional
        rad/s; by default those that the proof has tried, and others between them.
    axes : matplotlib axes, optional
        A new figure unless given.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        Where the system is not stable without uncertainty, and for frequencies it does not have.

    Notes
    -----
    The curve is the least upper bound at each frequency, computed anew. The proven level is at no frequency below mu,
    between points of the curve neither. The mark is the smallest perturbation found that makes the system unstable: its
    size is 1 over the height, so that mu is there or above. Where the proof was made in parts of the box of real
    parameters (`RobustStability.boxes`), the level may be below the curve.

    Examples
    --------
    >>> from cmbcontrol.linear import UncertainBlock, robust_stability
    >>> A, B, C = [[0.0, 1.0], [-1.0, -0.2]], [[0.0], [-0.1]], [[0.0, 1.0]]
    >>> found = robust_stability((A, B, C, [[0.0]]), [UncertainBlock("real", name="damping")])
    >>> mu(found).axes[0].get_title()
    'certified: stable for all perturbations up to 1.998 times those expected'
    """
    _check.instance(stability, RobustStability, "stability", "from linear.robust_stability")
    if not stability.stable:
        raise InputError(
            "stability: the system is not stable even without uncertainty, so that mu says nothing; find a law that "
            "makes it stable first"
        )
    at = _frequencies(stability) if omega is None else np.unique(frequencies(omega))
    bounds = stability.bounds_at(at)
    figure, (ax,) = panels(axes, 1, height=3.2)
    found = [*bounds[np.isfinite(bounds)], 1.0]
    high = 1.12 * max(*found, stability.lower, stability.upper if np.isfinite(stability.upper) else 0.0)
    positive = bounds[np.isfinite(bounds) & (bounds > 0.0)]
    log = bool(positive.size) and high > _HIGH
    ax.plot(at, np.maximum(bounds, 1e-9 * high) if log else bounds, color=COLORS[0], linewidth=1.5,
            label="bound at each frequency")  # fmt: skip
    dress(ax, "structured singular value mu (1)", log=log)
    logarithmic(ax, "x")
    shown = at[at > 0.0]
    if shown.size > 1:
        ax.set_xlim(shown[0], shown[-1])
    low = min(max(0.5 * float(positive.min()), 1e-4 * high), 0.3) if log else 0.0  # the line at 1 is always there
    ax.set_ylim(low, high * (1.5 if log else 1.0))
    ax.axhspan(1.0, ax.get_ylim()[1], color=BAND, linewidth=0.0, zorder=0.2)
    ax.axhline(1.0, color=INK, linewidth=0.9, linestyle=":", label="1: certified below")
    if np.isfinite(stability.upper):
        label = f"proven at all frequencies: {stability.upper:.4g}"
        ax.axhline(stability.upper, color=COLORS[1], linewidth=1.3, linestyle="--", label=label)
    if stability.lower > 0.0:
        place, where = _place(stability.worst_frequency, shown if shown.size else at)
        label = f"reached, at {where}: {stability.lower:.4g}"
        look: dict[str, Any] = {
            "linestyle": "none",
            "color": INK,
            "markersize": 6.5,
            "markerfacecolor": "white",
            "zorder": 4.5,
        }
        ax.plot([place], [stability.lower], "o", label=label, clip_on=False, **look)
    ax.set_title("\n".join(textwrap.wrap(_verdict(stability), 42 if is_narrow() else 90)), fontsize=LABEL, color=INK)
    ax.set_xlabel("frequency (rad/s)", fontsize=LABEL, color=INK)
    beside(ax)
    return figure


def _frequencies(stability: RobustStability) -> Array:
    """Frequencies around those that were tried, without 0 and inf, which a logarithmic axis does not have."""
    tried = stability.frequencies
    tried = tried[np.isfinite(tried) & (tried > 0.0)]
    marked = [w for w in (stability.frequency, stability.worst_frequency) if np.isfinite(w) and w > 0.0]
    every = np.concatenate([tried, marked])
    end = np.pi / stability.dt if stability.dt else np.inf
    if not every.size:
        return np.geomspace(1e-2 * end, end, _POINTS) if stability.dt else np.geomspace(0.1, 10.0, _POINTS)
    centre, half = marked[0] if marked else float(np.sqrt(every.min() * every.max())), 10.0 ** (0.5 * _DECADES)
    low, high = max(0.1 * every.min(), centre / half), min(10.0 * every.max(), centre * half)
    high = min(end, high)
    found = np.concatenate([np.geomspace(low, high, _POINTS), every[(every > low) & (every < high)]])
    return np.unique(np.clip(found, low, high))


def _place(omega: float, at: Array) -> tuple[float, str]:
    """Where a frequency is on the axis, at its end where it is beyond, and its words."""
    words = f"{omega:.4g} rad/s" if np.isfinite(omega) else "infinity"
    return float(np.clip(omega, at[0], at[-1])), words


def _verdict(stability: RobustStability) -> str:
    margin, most = stability.margin
    if not np.isfinite(stability.upper):
        return "not certified: nothing is proven at all frequencies"
    if stability.certified:
        of = f", in {stability.boxes} parts" if stability.boxes > 1 else ""
        size = f"up to {margin:.4g} times those expected" if np.isfinite(margin) else "of any size"
        return f"certified: stable for all perturbations {size}{of}"
    if stability.lower >= 1.0:
        return f"not certified: one of {most:.4g} of the size expected makes it unstable"
    return f"not certified: proven up to {margin:.4g} of the size expected only"
