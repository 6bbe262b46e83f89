"""Figures of measured frequency responses, over those of linear models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import _check
from ..errors import InputError
from ..studies.frequency_response import FrequencyResponse
from .figure import new_figure
from .style import COLORS, INK, LABEL, QUIET, TICK, dress, with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["measured_response"]

_MOST = 4  # outputs of a figure


def measured_response(found: FrequencyResponse, *, outputs: Sequence[str] | None = None, dB: bool = False) -> Figure:
    """Draw a measured frequency response over the linear one: gain, phase and coherence, a column for each output.

    Parameters
    ----------
    found : FrequencyResponse
        From `cmbcontrol.frequency_response`.
    outputs : sequence of str, optional
        By default all, or the first four.
    dB : bool
        Gains in decibel, in place of a logarithmic axis.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cmbcontrol import Constant, frequency_response, plants
    >>> from cmbcontrol.controllers import ProjectedInverseDynamics
    >>> plant = plants.five_bar()
    >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
    >>> found = frequency_response(plant, law, between=("left_ref", "left"), omega=[2.0, 8.0], workers=1)
    >>> [ax.get_ylabel() for ax in measured_response(found).axes]
    ['gain', 'phase (deg)', 'coherence']
    """
    _check.instance(found, FrequencyResponse, "found", "from frequency_response")
    dB = _check.flag(dB, "dB")
    data = found.data
    known = [str(x) for x in data["output"].values]
    names = list(known[:_MOST] if outputs is None else _check.names(outputs, "outputs", known, "output"))
    if not names:
        raise InputError(f"outputs= names none; the response has {', '.join(known)}")
    figure = new_figure(max(3.6 * len(names) + 0.8, 6.4), 6.4)
    axes = figure.subplots(3, len(names), sharex=True, squeeze=False, height_ratios=[3, 2, 1.2])
    w, fine = data["omega"].values, data["omega_fine"].values
    amplitudes, unit = data["amplitude"].values, str(data.attrs["input_unit"])

    def sized(values: np.ndarray) -> np.ndarray:
        values = np.where(values > 0.0, values, np.nan)
        return 20.0 * np.log10(values) if dB else values

    for (gain, phase, coherence), name in zip(axes.T, names, strict=True):
        one = data.sel(output=name)
        line = one["linear_fine"].values
        at = np.degrees(np.unwrap(np.angle(line)))
        gain.plot(fine, sized(np.abs(line)), color=QUIET, linewidth=1.6, label="linear model")
        phase.plot(fine, at, color=QUIET, linewidth=1.6)
        for k, a in enumerate(amplitudes):
            G, color = one["response"].values[k], COLORS[k % len(COLORS)]
            style = {"color": color, "marker": "o", "markersize": 3.6, "linestyle": "none", "zorder": 3}
            band = one["confidence"].values[k]
            size = np.abs(G)
            low, high = sized(np.maximum(size - band, 0.0)), sized(size + band)
            gain.fill_between(w, low, high, color=color, alpha=0.2, linewidth=0.0)
            gain.plot(w, sized(size), label=f"measured, {_span(a, unit)}", **style)
            near = np.interp(w, fine, at)
            turned = np.degrees(np.angle(G)) - near
            phase.plot(w, near + turned - 360.0 * np.round(turned / 360.0), **style)
            coherence.plot(w, one["coherence"].values[k], **style)
        of = str(one["output_units"].values)
        ratio = _ratio(of, unit)
        first = name == names[0]
        dress(gain, f"gain (dB of 1 {ratio})".replace(" 1 )", " 1)") if dB else with_unit("gain", ratio), log=not dB)
        dress(phase, "phase (deg)" if first else "")
        dress(coherence, "coherence" if first else "")
        coherence.set_ylim(-0.05, 1.08)
        gain.set_title(name, fontsize=LABEL, color=INK)
        coherence.set_xscale("log")
        _label_frequencies(coherence, fine[-1] / fine[0])
        coherence.set_xlabel("frequency (rad/s)", fontsize=LABEL, color=INK)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 3), frameon=False, fontsize=TICK)
    title = f"{data.attrs['name']}\nfrom {with_unit(str(data.attrs['input']), unit)}"
    figure.suptitle(title, fontsize=LABEL, color=INK)
    return figure


def _label_frequencies(ax: Axes, span: float) -> None:
    """Label powers of ten, and where they are few numbers between them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if span < 30.0:
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _ratio(of: str, by: str) -> str:
    """Unit of a quotient, where both units are known."""
    if of == by or not (of and by):
        return ""
    rest = of.removeprefix(by)  # rad/s by rad is 1/s
    return f"1{rest}" if rest != of and rest.startswith("/") else f"{of}/({by})" if " " in by else f"{of}/{by}"


def _span(a: np.ndarray, unit: str) -> str:
    """Text of amplitudes over frequency."""
    even = np.ptp(a) <= 1e-9 * a.max()
    return f"{a.max():.3g} {unit}".strip() if even else f"{a.min():.2g} to {a.max():.2g} {unit}".strip()
