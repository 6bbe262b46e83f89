"""Frequency responses of linear models."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ..errors import InputError
from ..linear.model import LinearModel
from ..linear.sampled import frequencies
from .style import INK, LABEL, beside, dress, styles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["bode"]


def bode(linear_model: LinearModel, omega: ArrayLike | None = None, *, axes: Any = None) -> Figure:
    """Bode diagram by python-control: a column for each input, a curve for each output.

    Parameters
    ----------
    linear_model : LinearModel
        From `linearize`.
    omega : array_like, optional
        rad/s; python-control chooses a range around poles and zeros unless given.
    axes : array of matplotlib axes, shape (2, inputs), optional
        A new figure unless given.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        For a model without inputs or without outputs.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol import linearize, trim
    >>> plant = plants.pendulum()
    >>> lin = linearize(plant, trim(plant, plant.assemble(angle=-1.0)), coordinates=("angle",))
    >>> [ax.get_ylabel() for ax in bode(lin).axes]
    ['gain (rad/(N m))', 'phase (deg)']
    """
    _check.instance(linear_model, LinearModel, "linear_model", "from linearize")
    if omega is not None:
        omega = frequencies(omega)
    inputs, outputs = linear_model.inputs, linear_model.outputs
    if not inputs or not outputs:
        raise InputError(f"the linear model of {linear_model.name!r} has no {'inputs' if not inputs else 'outputs'}")
    import control
    from matplotlib.figure import Figure

    if axes is None:
        figure = Figure(figsize=(3.9 * len(inputs) + 1.2, 4.6), dpi=150, layout="constrained")
        axes = figure.subplots(2, len(inputs), sharex="col", sharey="row", squeeze=False)
    axes = np.asarray(axes, dtype=object).reshape(2, -1)
    if axes.shape != (2, len(inputs)):
        raise InputError(f"a Bode diagram with {len(inputs)} inputs needs (2, {len(inputs)}) axes, got {axes.shape}")
    response = linear_model.frequency_response(omega)
    with warnings.catch_warnings():  # an input that does not act on an output has no gain to draw
        warnings.filterwarnings("ignore", "Data has no positive values")
        plotted = control.bode_plot(response, ax=axes, overlay_outputs=True, show_legend=False, title="", grid=False)
    over = {f"({unit})" if " " in unit else unit for unit in linear_model.input_units}
    units = [f"{y}/{u}" for y in set(linear_model.output_units) for u in over]
    known = len(units) == 1 and "" not in (*linear_model.output_units, *over)
    silent = np.abs(response.frdata).max(axis=2) == 0.0  # (outputs, inputs) without any gain, so without a phase
    for k, column in enumerate(axes.T):
        for ax in column:
            for i, (line, name, style) in enumerate(zip(ax.lines, outputs, styles(len(outputs)), strict=False)):
                line.set(linewidth=1.5, label=name, visible=not silent[i, k], **style)
            dress(ax, "")
            ax.set_xlim(response.frequency[0], response.frequency[-1])
        unit = linear_model.input_units[k]
        column[0].set_title(f"from {inputs[k]}" + (f" ({unit})" if unit else ""), fontsize=LABEL, color=INK)
        column[1].set_xlabel("frequency (rad/s)", fontsize=LABEL, color=INK)
    axes[0, 0].set_ylabel(f"gain ({units[0]})" if known else "gain", fontsize=LABEL)
    axes[1, 0].set_ylabel("phase (deg)", fontsize=LABEL)
    beside(axes[0, -1])
    return plotted.figure
