"""Frequency responses of linear models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError
from ..linear.channels import Channel, channel
from ..linear.model import LinearModel
from ..linear.sampled import frequencies
from .figure import is_narrow, new_figure
from .style import INK, LABEL, TICK, beside, dress, logarithmic, mark, solid_key, styles, with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["bode"]

Array = NDArray[np.float64]

_TOGETHER = 3  # outputs that share a panel; more have a row each
_BESIDE = 4  # inputs whose panels are so
_MOST = 6  # inputs, and outputs, of a figure where none are chosen: more cannot be read on a page
_SAME = 1e-6  # relative difference of responses that are told as one
_SILENT = 1e-11  # of the largest of its row and of its column: such a response is zero by symmetry, and rounding else
_NEAR = (0.2, 0.05, 1e-2, 2e-3)  # relative distances from an undamped root at which the response is computed, too
_DECADES = 8.0  # of a range that is chosen


def bode(
    linear_model: LinearModel,
    omega: ArrayLike | None = None,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    grid: bool | None = None,
    dB: bool = False,
    axes: Any = None,
) -> Figure:
    """Plot a Bode diagram: a column for each input, and a curve or a row for each output.

    Parameters
    ----------
    linear_model : LinearModel
        From `linearize`.
    omega : array_like, optional
        rad/s; a range around all poles and zeros, with points beside undamped ones, unless given.
    inputs, outputs : sequence of str, optional
        Channels by name; defaults to all, or the first six of each where there are more.
    grid : bool, optional
        A gain and a phase panel for each pair of input and output. Otherwise outputs of one unit share a panel of
        gains, and all share one of phases. Defaults to a grid for more than three outputs or four inputs.
    dB : bool
        Gains in decibel of 1 (in the units of the label), in place of a logarithmic axis.
    axes : array of matplotlib axes, optional
        Shape (units of outputs + 1, inputs), or of a grid (2 outputs, inputs). A new figure unless given.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        For a model without inputs or without outputs, names that it does not have, and axes that do not fit.

    Notes
    -----
    Phase is the sum of the angles of the zeros and poles of each channel, and continuous. Undamped zeros and poles
    count as slightly damped: a zero turns by +180 degrees, a pole by -180, so that a machine without friction whose
    motor and sensor are on one joint alternates between 0 and -180. Responses that are the same (of symmetric machines)
    are drawn with alternating dashes and named above the panel, or in the legend if they are so for all inputs.

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
    dB = _check.flag(dB, "dB")
    shown = _Shown(linear_model, inputs, outputs, omega, dB)
    few = len(shown.outputs) <= _TOGETHER and len(shown.inputs) <= _BESIDE
    together = few if grid is None else not _check.flag(grid, "grid")
    return _overlaid(shown, axes) if together else _one_by_one(shown, axes)


class _Shown:
    """Data of a diagram: responses, phases, names, units."""

    def __init__(
        self,
        lin: LinearModel,
        inputs: Sequence[str] | None,
        outputs: Sequence[str] | None,
        omega: ArrayLike | None,
        dB: bool,
    ) -> None:
        for what, known in (("inputs", lin.inputs), ("outputs", lin.outputs)):
            if not known:
                raise InputError(f"the linear model of {lin.name!r} has no {what}")
        columns, more = _indices(inputs, lin.inputs, "inputs", "input")
        rows, others = _indices(outputs, lin.outputs, "outputs", "output")
        self.left_out = "; ".join(filter(None, (more, others)))
        self.inputs, self.outputs = [lin.inputs[k] for k in columns], [lin.outputs[i] for i in rows]
        self.input_units = [lin.input_units[k] for k in columns]
        self.output_units = [lin.output_units[i] for i in rows]
        self.dB = dB
        self.channels = [[channel(lin.A, lin.B[:, k], lin.C[i], float(lin.D[i, k])) for k in columns] for i in rows]
        self.omega = _range(self.channels) if omega is None else frequencies(omega)
        unit = np.eye(len(lin.A))
        response = np.array([_response(1j * w * unit - lin.A, lin.B, lin.C, lin.D) for w in self.omega])
        self.response = response[:, rows][:, :, columns]
        size = np.abs(response)
        scale = np.sqrt(size.max(axis=2)[:, :, None] * size.max(axis=1)[:, None, :])
        self._loud = np.any(size > _SILENT * scale, axis=0)[np.ix_(rows, columns)]

    def gain(self, i: int, k: int) -> Array:
        """Gain from input k to output i over frequency; nan where the input does not act."""
        values = np.abs(self.response[:, i, k]) if self.acts(i, k) else np.full(self.omega.size, np.nan)
        values = np.where(values > 0.0, values, np.nan)
        return 20.0 * np.log10(values) if self.dB else values

    def phase(self, i: int, k: int) -> Array:
        """Phase from input k to output i over frequency, degrees."""
        nothing = np.full(self.omega.size, np.nan)
        return np.degrees(self.channels[i][k].phase(self.omega)) if self.acts(i, k) else nothing

    def acts(self, i: int, k: int) -> bool:
        """Whether an input acts on an output at all."""
        return bool(self._loud[i, k]) and self.channels[i][k].gain != 0.0

    def label(self, i: int, k: int) -> str:
        """Axis label of a gain, with its unit."""
        over = self.input_units[k]
        over = f"({over})" if " " in over else over
        unit = f"{self.output_units[i]}/{over}" if self.output_units[i] and over else ""
        if self.dB:
            return f"gain (dB of 1 {unit})" if unit else "gain (dB)"
        return with_unit("gain", unit)

    def same(self, k: int) -> list[list[int]]:
        """Groups of outputs whose responses to an input are the same."""
        groups: list[list[int]] = []
        for i, unit in enumerate(self.output_units):
            for group in groups:
                if unit == self.output_units[group[0]] and self._equal(i, group[0], k):
                    group.append(i)
                    break
            else:
                groups.append([i])
        return groups

    def _equal(self, i: int, j: int, k: int) -> bool:
        if not (self.acts(i, k) and self.acts(j, k)):
            return False
        a, b = self.response[:, i, k], self.response[:, j, k]
        return bool(np.all(np.abs(a - b) <= _SAME * np.abs(a)))

    def remarks(self, k: int) -> list[str]:
        """Remarks on an input: curves on top of each other, and outputs that it does not move."""
        found = [" = ".join(self.outputs[i] for i in group) for group in self.same(k) if len(group) > 1]
        silent = [name for i, name in enumerate(self.outputs) if not self.acts(i, k)]
        return [*found, *([f"no effect on {', '.join(silent)}"] if silent else [])]


def _response(pencil: Any, B: Array, C: Array, D: Array) -> Any:
    """Response of all channels at one frequency; nan at an undamped pole."""
    try:
        return C @ np.linalg.solve(pencil, B) + D
    except np.linalg.LinAlgError:
        return np.full(D.shape, np.nan + 0.0j)


def _indices(given: Sequence[str] | None, known: Sequence[str], what: str, one: str) -> tuple[list[int], str]:
    """Indices of the channels, and a remark on those that are left out."""
    if given is None:
        more = f"the first {_MOST} of {len(known)} {what}; choose by {what}=" if len(known) > _MOST else ""
        return list(range(min(len(known), _MOST))), more
    names = _check.names(given, what, known, one)
    if not names:
        raise InputError(f"{what}= names none; the model has {', '.join(known)}")
    return [known.index(name) for name in names], ""


def _range(channels: Sequence[Sequence[Channel]]) -> Array:
    """Frequencies around all zeros and poles, a decade to both sides, and some beside each undamped root."""
    poles = np.concatenate([np.abs(c.poles) for row in channels for c in row] or [np.zeros(0)])
    poles = poles[poles > 1e-5]
    middle = (poles.min(), poles.max()) if poles.size else (1.0, 1.0)
    features = np.unique(np.concatenate([c.features() for row in channels for c in row] or [np.zeros(0)]))
    near = features[(features > 1e-2 * middle[0]) & (features < 1e2 * middle[1])]  # not zeros far from all poles
    low, high = min([middle[0], *near]), max([middle[1], *near])
    ends = np.floor(np.log10(low) - 0.7), np.ceil(np.log10(high) + 0.7)
    base = np.logspace(max(ends[0], ends[1] - _DECADES), ends[1], 500)
    steps = np.unique(np.concatenate([c.resonances() for row in channels for c in row]))
    beside_them = [w * (1.0 + sign * x) for w in steps for x in _NEAR for sign in (-1.0, 1.0)]
    every = np.unique(np.concatenate([base, beside_them]))
    clear = np.all(np.abs(every[:, None] - steps) > 0.5 * _NEAR[-1] * steps, axis=1)  # a pole itself has no gain
    return every[clear & (every >= base[0]) & (every <= base[-1])]


# -- panels -----------------------------------------------------------------------------------------------


def _overlaid(shown: _Shown, axes: Any) -> Figure:
    """Plot outputs of one unit in a common panel of gains, and all of them in one panel of phases."""
    units = list(dict.fromkeys(shown.output_units))
    columns, rows = len(shown.inputs), len(units) + 1
    axes = _axes(axes, (rows, columns), 3.9 * columns + 1.2, 2.3 * rows, len(set(shown.input_units)) == 1)
    curves = styles(len(shown.outputs))
    everywhere = [group for group in shown.same(0) if all(group in shown.same(k) for k in range(columns))]
    label = {i: " = ".join(shown.outputs[j] for j in group) for group in everywhere for i in group[:1]}
    hidden = {i for group in everywhere for i in group[1:]}
    for k, column in enumerate(axes.T):
        for group in shown.same(k):
            for place, i in enumerate(group):
                style = dict(curves[i])
                if place:  # on top of the first one, whose colour shows in the gaps
                    style["linestyle"] = (4.0 * place, (4.0, 4.0 * len(group) - 4.0))
                name = shown.outputs[i]
                ax = column[units.index(shown.output_units[i])]
                ax.plot(shown.omega, shown.gain(i, k), linewidth=1.5, label=name, **style)
                column[-1].plot(shown.omega, shown.phase(i, k), linewidth=1.5, label=name, **style)
        for row, unit in enumerate(units):
            text = shown.label(shown.output_units.index(unit), k) if k == 0 or not _shared(column[row]) else ""
            _dress_gain(column[row], shown, text)
        remarks = [text for text in shown.remarks(k) if columns > 1 or " = " not in text]
        _title(column[0], "\n".join([f"from {with_unit(shown.inputs[k], shown.input_units[k])}", *remarks]))
    _dress_phases(axes[-1], shown, bottom=True)
    for ax in axes.ravel():
        mark(ax, ax.lines)
    for row, unit in zip(axes, units, strict=False):  # keys without the gaps of curves that are the same
        drawn = {line.get_label(): solid_key(line) for line in row[-1].lines}
        keys = {i: drawn[n] for i, n in enumerate(shown.outputs) if i not in hidden and shown.output_units[i] == unit}
        for i, key in keys.items():
            key.set_label(label.get(i, shown.outputs[i]))
        beside(row[-1], handles=[*keys.values()])
    return _finished(axes, shown)


def _one_by_one(shown: _Shown, axes: Any) -> Figure:
    """Plot a panel of gain and one of phase for each pair of input and output."""
    rows, columns = 2 * len(shown.outputs), len(shown.inputs)
    own = axes is None
    wide = 2.3 if columns > 2 else 3.4
    axes = _axes(axes, (rows, columns), wide * columns + 0.9, 1.15 * rows + 0.5, True)
    for k, column in enumerate(axes.T):
        for i, name in enumerate(shown.outputs):
            gain, phase = column[2 * i], column[2 * i + 1]
            style = {"color": styles(1)[0]["color"], "linewidth": 1.3}
            gain.plot(shown.omega, shown.gain(i, k), label=name, **style)
            phase.plot(shown.omega, shown.phase(i, k), label=name, **style)
            if k == 0 or len(set(shown.input_units)) > 1:
                text = (f"{name}\n" if k == 0 else "") + shown.label(i, k).replace("(dB of ", "(dB of\n")
            else:
                text = ""
            _dress_gain(gain, shown, text)
            if not shown.acts(i, k):
                gain.text(0.5, 0.5, "no effect", transform=gain.transAxes, ha="center", va="center", fontsize=TICK)
        remarks = [text for text in shown.remarks(k) if " = " in text]
        _title(column[0], "\n".join([f"from {with_unit(shown.inputs[k], shown.input_units[k])}", *remarks]))
    for row in axes[1::2]:
        _dress_phases(row, shown, bottom=np.shares_memory(row, axes[-1]))
    for ax in axes.ravel():
        ax.yaxis.label.set_fontsize(LABEL - 2.0)
        ax.tick_params(labelsize=LABEL - 2.0 if is_narrow() else TICK - 1.5)
    if own:  # a gain and its phase belong together
        engine = axes[0, 0].figure.get_layout_engine()
        engine.set(hspace=0.02, h_pad=0.02)
    return _finished(axes, shown)


def _axes(given: Any, shape: tuple[int, int], width: float, height: float, same_units: bool) -> Any:
    """Array of axes of a shape, new ones unless given; gains of one unit have one range."""
    if given is None:
        figure = new_figure(width, height)
        return figure.subplots(*shape, sharex=True, sharey="row" if same_units else False, squeeze=False)
    axes = np.atleast_1d(np.asarray(given, dtype=object))
    axes = axes[:, None] if axes.ndim == 1 and shape[1] == 1 else axes
    if axes.shape != shape:
        raise InputError(f"this Bode diagram needs {shape} axes, got {axes.shape}")
    return axes


def _shared(ax: Axes) -> bool:
    return len(ax.get_shared_y_axes().get_siblings(ax)) > 1


def _title(ax: Axes, text: str) -> None:
    ax.set_title(text, fontsize=LABEL, color=INK)


def _dress_gain(ax: Axes, shown: _Shown, label: str) -> None:
    known = any(np.isfinite(np.asarray(line.get_ydata(), dtype=float)).any() for line in ax.lines)
    dress(ax, label, log=known and not shown.dB)
    _frequencies(ax, shown)
    if not known:
        ax.set_yticks([])


def _dress_phases(row: Any, shown: _Shown, *, bottom: bool) -> None:
    """Set one range for the phases of all inputs: whole quarter turns, with ticks at them, or coarser."""
    from matplotlib.ticker import MultipleLocator

    values = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for ax in row for line in ax.lines])
    values = np.append(values[np.isfinite(values)], 0.0)
    low, high = np.floor(values.min() / 90.0 + 1e-6), np.ceil(values.max() / 90.0 - 1e-6)
    low -= low == high
    step = 90.0 * 2.0 ** max(0, int(np.ceil(np.log2((high - low) / 4.0))))
    for k, ax in enumerate(row):
        dress(ax, "phase (deg)" if k == 0 else "")
        _frequencies(ax, shown)
        ax.set_ylim(90.0 * low - 12.0, 90.0 * high + 12.0)
        ax.yaxis.set_major_locator(MultipleLocator(step))
        if bottom:
            ax.set_xlabel("frequency (rad/s)", fontsize=LABEL, color=INK)


def _frequencies(ax: Axes, shown: _Shown) -> None:
    logarithmic(ax, "x")
    if shown.omega[-1] > shown.omega[0]:
        ax.set_xlim(shown.omega[0], shown.omega[-1])


def _finished(axes: Any, shown: _Shown) -> Figure:
    figure = axes[0, 0].figure
    if shown.left_out:
        figure.supxlabel(shown.left_out, fontsize=TICK, color=INK)
    return figure
