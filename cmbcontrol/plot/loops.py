"""Closed loops: Nyquist and Nichols curves, sensitivities, steps of references and disturbances, noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..controllers.closed_loop import ClosedLoop
from ..controllers.loop_margins import LoopMargins
from ..design.loop_responses import Sensitivities, StepResponse, noise_curves, sensitivities
from ..errors import CmbError
from .figure import is_narrow, new_figure
from .style import (
    BAND,
    INK,
    LABEL,
    QUIET,
    beside,
    curve,
    dress,
    in_unit_of_its_size,
    panels,
    room_for_constants,
    styles,
    time_axis,
    with_unit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["loop_gains", "nichols", "noise", "nyquist", "steps"]

Array = NDArray[np.float64]

_NYQUIST = (-2.6, 1.6), (-2.1, 2.1)  # what is drawn around the critical point: loops are large elsewhere
_NICHOLS = (-360.0, 0.0), (-40.0, 40.0)  # deg, dB
_LEAST = 1e-4  # of gains that are drawn


def loop_gains(loop: ClosedLoop) -> Figure:
    """Plot open loop, sensitivity and complementary sensitivity at each motor, with the other motors' loops closed.

    Examples
    --------
    >>> from cmbcontrol import Constant, linearize_closed_loop, plants
    >>> from cmbcontrol.controllers import ProjectedInverseDynamics
    >>> plant = plants.five_bar()
    >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
    >>> [ax.get_ylabel() for ax in loop_gains(linearize_closed_loop(plant, law)).axes]
    ['open loop L (1)', 'phase of L (deg)', 'sensitivity S (1)', 'complementary T (1)']
    """
    found = _of_motors(loop)
    figure, (gain, phase, S, T) = panels(None, 4)
    for x, style in zip(found, styles(len(found)), strict=True):
        look = {"linewidth": 1.4, "label": x.motor, **style}
        curve(gain, x.omega, np.abs(x.L), **look)
        curve(phase, x.omega, _phase(x), **look)
        curve(S, x.omega, np.abs(x.S), **look)
        curve(T, x.omega, np.abs(x.T), **look)
    for ax, label in ((gain, "open loop L (1)"), (S, "sensitivity S (1)"), (T, "complementary T (1)")):
        dress(ax, label, log=True)
        low, high = ax.get_ylim()
        ax.set_ylim(max(low, _LEAST, 1e-8 * high), min(high, 1e8))
        ax.axhline(1.0, color=INK, linewidth=0.7, linestyle=":")
    dress(phase, "phase of L (deg)")
    phase.axhline(-180.0, color=INK, linewidth=0.7, linestyle=":")
    phase.yaxis.set_major_locator(_quarters())
    for ax in (gain, phase, S, T):
        ax.set_xscale("log")
        ax.set_xlim(found[0].omega[0], found[0].omega[-1])
        if loop.dt:
            ax.axvline(np.pi / loop.dt, color=QUIET, linewidth=0.8, linestyle="--")
    beside(gain)
    T.set_xlabel("frequency (rad/s)", fontsize=LABEL, color=INK)
    figure.align_ylabels()
    return figure


def nyquist(loop: ClosedLoop, *, axes: Any = None) -> Figure:
    """Plot the Nyquist curves of all motors near the critical point -1, each with the other motors' loops closed.

    The disk about -1 is the largest that none of them enters: its radius is the smallest modulus margin. Rings are
    where phase margins are, squares where gain margins are; dashes are negative frequencies.

    Parameters
    ----------
    loop : ClosedLoop
    axes : matplotlib axes, optional
        A new figure unless given.

    Examples
    --------
    >>> from cmbcontrol import Constant, linearize_closed_loop, plants
    >>> from cmbcontrol.controllers import ProjectedInverseDynamics
    >>> plant = plants.five_bar()
    >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
    >>> nyquist(linearize_closed_loop(plant, law)).axes[0].get_xlabel()
    'real part of L'
    """
    _check.instance(loop, ClosedLoop, "loop", "from linearize_closed_loop")
    figure, ax = _square(axes)
    turn = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 361))
    ax.plot(turn.real, turn.imag, color=QUIET, linewidth=0.8, linestyle=":")
    marks = _margins(loop)
    if marks:
        disk = -1.0 + min(m.modulus for m in marks.values()) * turn
        ax.fill(disk.real, disk.imag, facecolor=BAND, edgecolor=QUIET, linewidth=0.8, zorder=0.4)
    found = _of_motors(loop)
    for x, style in zip(found, styles(len(found)), strict=True):
        L = np.where(np.abs(x.L) < 1e3, x.L, np.nan)
        ax.plot(L.real, L.imag, linewidth=1.5, label=x.motor, **style)
        ax.plot(L.real, -L.imag, linewidth=0.8, **(style | {"linestyle": (0, (3, 3))}))
        for mark, value in _marked(loop, x.motor, marks):
            ax.plot(value.real, value.imag, mark, **_hollow(style))
    _critical(ax, -1.0, 0.0)
    dress(ax, "imaginary part of L")
    ax.set(xlim=_NYQUIST[0], ylim=_NYQUIST[1])
    ax.set_aspect("equal", adjustable="box")
    ax.set_xlabel("real part of L", fontsize=LABEL, color=INK)
    beside(ax)
    return figure


def nichols(loop: ClosedLoop, *, axes: Any = None) -> Figure:
    """Plot the Nichols curves of all motors: gain over phase, with the critical point at 0 dB and -180 degrees.

    What is grey is the disk of `nyquist`. Rings are where phase margins are, squares where gain margins are.

    Parameters
    ----------
    loop : ClosedLoop
    axes : matplotlib axes, optional
        A new figure unless given.

    Examples
    --------
    >>> from cmbcontrol import Constant, linearize_closed_loop, plants
    >>> from cmbcontrol.controllers import ProjectedInverseDynamics
    >>> plant = plants.five_bar()
    >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
    >>> nichols(linearize_closed_loop(plant, law)).axes[0].get_xlabel()
    'phase of L (deg)'
    """
    _check.instance(loop, ClosedLoop, "loop", "from linearize_closed_loop")
    figure, ax = _square(axes)
    marks = _margins(loop)
    if marks:
        radius = min(m.modulus for m in marks.values())
        disk = -1.0 + min(radius, 0.999) * np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 721))
        x, y = np.degrees(np.angle(-disk)) - 180.0, 20.0 * np.log10(np.abs(disk))
        ax.fill(x, y, facecolor=BAND, edgecolor=QUIET, linewidth=0.8, zorder=0.4)
    found = _of_motors(loop)
    for x, style in zip(found, styles(len(found)), strict=True):
        phase = _phase(x)
        with np.errstate(divide="ignore"):
            ax.plot(phase, 20.0 * np.log10(np.abs(x.L)), linewidth=1.5, label=x.motor, **style)
        for mark, value in _marked(loop, x.motor, marks):
            at = np.degrees(np.angle(-value)) - 180.0
            ax.plot(at, 20.0 * np.log10(abs(value)), mark, **_hollow(style))
    _critical(ax, -180.0, 0.0)
    dress(ax, "gain of L (dB)")
    ax.set(xlim=_NICHOLS[0], ylim=_NICHOLS[1])
    ax.xaxis.set_major_locator(_quarters())
    ax.set_xlabel("phase of L (deg)", fontsize=LABEL, color=INK)
    beside(ax)
    return figure


def steps(responses: Sequence[StepResponse]) -> Figure:
    """Plot step responses: a panel for each input and unit of its outputs."""
    rows = [(x, unit) for x in responses for unit in dict.fromkeys(x.output_units)]
    figure, axes = panels(None, len(rows))
    names = list(dict.fromkeys(name for x in responses for name in x.outputs))
    looks = dict(zip(names, styles(len(names)), strict=True))
    alone = len({(x.time[0], x.time[-1]) for x in responses}) == 1
    for ax, (x, unit) in zip(axes, rows, strict=True):
        for k, name in enumerate(x.outputs):
            if x.output_units[k] == unit:
                curve(ax, x.time, x.values[:, k], linewidth=1.5, label=name, **looks[name])
        dress(ax, "")
        room_for_constants(ax, 1.0 if unit == x.unit else 0.0)
        in_unit_of_its_size(ax.yaxis, _cause(x), unit if unit != x.unit else "")
        if unit == x.unit:
            ax.axhline(1.0, color=INK, linewidth=0.7, linestyle=":")
        beside(ax)
    if alone:
        time_axis(axes, responses[0].time)
    else:
        time_axis(axes, max((x.time for x in responses), key=lambda t: t[-1]))
    return figure


def noise(loop: ClosedLoop) -> Figure:
    """Plot how noise of the readings of one unit reaches the effort of each motor, over frequency."""
    omega, found = noise_curves(loop)
    figure, axes = panels(None, len(found))
    motors = list(dict.fromkeys(motor for curves in found.values() for motor in curves))
    looks = dict(zip(motors, styles(len(motors)), strict=True))
    for ax, (label, curves) in zip(axes, found.items(), strict=True):
        for motor, values in curves.items():
            curve(ax, omega, np.where(values > 0.0, values, np.nan), linewidth=1.4, label=motor, **looks[motor])
        dress(ax, label, log=True)
        ax.set_xscale("log")
        ax.set_xlim(omega[0], omega[-1])
        low, high = ax.get_ylim()
        ax.set_ylim(max(low, 1e-6 * high), high)
    beside(axes[0])
    axes[-1].set_xlabel("frequency (rad/s)", fontsize=LABEL, color=INK)
    return figure


# -- parts ---------------------------------------------------------------------------------------------------


def _of_motors(loop: ClosedLoop) -> list[Sensitivities]:
    _check.instance(loop, ClosedLoop, "loop", "from linearize_closed_loop")
    return [sensitivities(loop, motor) for motor in loop.motors]


def _phase(x: Sensitivities) -> Array:
    """Phase of L over frequency, deg, continuous, within a turn below zero where the loop is nearest to -1."""
    phase = np.degrees(np.unwrap(np.angle(x.L)))
    k = int(np.argmax(np.abs(x.S)))
    return phase - 360.0 * np.ceil(phase[k] / 360.0)


def _margins(loop: ClosedLoop) -> dict[str, LoopMargins]:
    """Margins by motor; none where the loop is on the border of stability."""
    try:
        return {m.channel: m for m in loop.margins().loops}
    except CmbError:
        return {}


def _marked(loop: ClosedLoop, motor: str, marks: dict[str, LoopMargins]) -> list[tuple[str, complex]]:
    """Marks and values of L where the margins of a motor are."""
    if motor not in marks:
        return []
    places = [("o", marks[motor].phase_frequency), ("s", marks[motor].gain_frequency)]
    return [(mark, complex(sensitivities(loop, motor, np.array([w])).L[0])) for mark, w in places if np.isfinite(w)]


def _cause(x: StepResponse) -> str:
    """Words for what a step response is caused by."""
    if x.input.endswith("_disturbance"):
        return f"by {with_unit(x.input.removesuffix('_disturbance'), f'1 {x.unit}')}"
    return f"by {x.input}"


def _hollow(style: dict[str, Any]) -> dict[str, Any]:
    """Look of marks that differ from those by which curves are told apart."""
    return {
        "color": style["color"],
        "markersize": 9.0,
        "markerfacecolor": "none",
        "markeredgewidth": 1.3,
        "zorder": 4.5,
    }


def _critical(ax: Axes, x: float, y: float) -> None:
    ax.plot(x, y, "+", color=INK, markersize=11.0, markeredgewidth=1.6, zorder=5)


def _square(axes: Any) -> tuple[Figure, Axes]:
    if axes is not None:
        return axes.figure, axes
    figure = new_figure(5.4, 4.6, scaled=is_narrow())
    return figure, figure.subplots()


def _quarters() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=6, steps=[1, 1.5, 3, 4.5, 9, 10])
