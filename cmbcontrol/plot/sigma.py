"""Singular values over frequency: of one linear system, or of all machines that an uncertain loop stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..controllers.closed_loop import ClosedLoop
from ..design.uncertain_loop import UncertainLoop
from ..errors import InputError, InputTypeError
from ..linear.model import LinearModel
from ..linear.mu import structure_of
from ..linear.norms import frequency_grid
from ..linear.robust_stability import WorstCaseGain
from ..linear.sampled import frequencies
from .style import BAND, COLORS, FAINT, INK, LABEL, QUIET, TICK, beside, dress, logarithmic, panels, with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["sigma"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_POINTS = 400  # of a range that is chosen, and more about poles
_DECADES = 6.0  # of such a range
_SMALL = 1e-5  # rad/s: poles nearer to zero set no range
_NEAR = (0.2, 0.05, 1e-2, 2e-3)  # relative distances from an undamped pole at which a response is computed, too
_UNDAMPED = 1e-6  # of a pole: damping below it is rounding
_LOWEST, _NOTHING = 1e-5, 1e-12  # of the largest value of a curve, and of all: smaller ones are outside of the axis


class _Matrices(NamedTuple):
    """System from inputs to outputs, in continuous time or (dt > 0) sampled."""

    A: NDArray[Any]
    B: Array
    C: Array
    D: Array
    dt: float

    def respond(self, omega: Array) -> Complex:
        """Responses (frequencies, outputs, inputs); nan at an undamped pole."""
        at = np.exp(1j * omega * self.dt) if self.dt else 1j * omega
        found = np.full((omega.size, *self.D.shape), np.nan + 0.0j)
        unit = np.eye(len(self.A))
        for k, s in enumerate(at):
            try:
                found[k] = self.C @ np.linalg.solve(s * unit - self.A, self.B) + self.D
            except np.linalg.LinAlgError:
                continue
        return found

    def poles(self) -> Complex:
        """Poles in continuous time, without those that a delay leaves at z = 0."""
        values = np.linalg.eigvals(self.A).astype(complex) if len(self.A) else np.zeros(0, complex)
        return np.log(values[np.abs(values) > 1e-12]) / self.dt if self.dt else values


class _Signals(NamedTuple):
    """System with the unit of all its outputs over that of all its inputs; None where they differ."""

    name: str
    matrices: _Matrices
    unit: str | None


def sigma(
    what: Any,
    inputs: str | Sequence[str] | None = None,
    outputs: str | Sequence[str] | None = None,
    omega: ArrayLike | None = None,
    *,
    dB: bool = False,
    limit: Any = None,
    machines: int = 20,
    seed: int = 0,
    worst: WorstCaseGain | None = None,
    axes: Any = None,
) -> Figure:
    """Plot singular values over frequency: the largest and the smallest gain from inputs to outputs together.

    Parameters
    ----------
    what : LinearModel, ClosedLoop, UncertainLoop, or system of python-control
        Of an uncertain loop the largest singular value is drawn: of the machine in the middle of the intervals, of
        random ones within them, of the worst perturbation found, and as a line the bound that is proven for all.
    inputs, outputs : str or sequence of str, optional
        Signals; all by default. Those that enter a loop may also be commands and measurements, as
        `ClosedLoop.entrance` knows them.
    omega : array_like, optional
        rad/s; a range around all poles, with points beside undamped ones, unless given.
    dB : bool
        Gains in decibel of 1 (in the unit of the label), in place of a logarithmic axis.
    limit : float or system of python-control, optional
        What gains must be below: the area above it is shaded. Of a system, its largest singular value counts.
    machines : int
        Random machines of an uncertain loop.
    seed : int
        Of these.
    worst : WorstCaseGain, optional
        Of an uncertain loop, as ``what.worst_case_gain(inputs, outputs)`` finds it, which is called unless it is given.
    axes : matplotlib axes, optional
        A new figure unless given.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        For signals that the system does not have, none of them, frequencies below zero or above half of the sampling.
    InputTypeError
        For what is no such system.

    Notes
    -----
    Random machines have values within the intervals, and nothing that is not modelled (weights of efforts, remainders).
    The worst one has numbers of these blocks, too, as they were found at its own frequency.

    Examples
    --------
    >>> from cmbcontrol import linearize, plants, trim
    >>> plant = plants.five_bar()
    >>> lin = linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=("left", "right"))
    >>> ax = sigma(lin, outputs=["left", "right"]).axes[0]
    >>> ax.get_ylabel(), [line.get_label() for line in ax.lines]
    ('singular values (rad/(N m))', ['largest', 'smallest'])
    """
    dB = _check.flag(dB, "dB")
    machines, seed = _check.count(machines, "machines", least=0), _check.count(seed, "seed", least=0)
    uncertain = isinstance(what, UncertainLoop)
    if worst is not None:
        _check.instance(worst, WorstCaseGain, "worst", "from UncertainLoop.worst_case_gain")
        if not uncertain:
            raise InputError("worst= is for an uncertain loop, from design.uncertain_loop")
    forbidden = None if limit is None else _limit(limit)
    made = _signals(what, inputs, outputs)
    figure, (ax,) = panels(axes, 1, height=3.2)
    drawn = _Drawn(ax, made, dB)
    if uncertain:
        _bundle(drawn, what, inputs, outputs, omega, machines, seed, worst)
    else:
        _one(drawn, omega)
    drawn.finish(forbidden)
    return figure


# -- what is drawn -----------------------------------------------------------------------------------------------------


class _Drawn:
    """Axes with curves of singular values."""

    def __init__(self, ax: Axes, made: _Signals, dB: bool) -> None:
        self.ax, self.made, self.dB = ax, made, dB
        self.omega: Array = np.zeros(0)
        self.values: list[Array] = []

    def curve(self, values: Array, label: str | None = None, **look: Any) -> Any:
        """Draw gains over the frequencies."""
        gains = np.where(values > 0.0, values, np.nan)
        self.values.append(gains)
        return self.ax.plot(self.omega, self.shown(gains), label=label, **look)[0]

    def shown(self, gain: Any) -> Any:
        """Gains as they are drawn."""
        return 20.0 * np.log10(gain) if self.dB else gain

    def finish(self, limit: _Matrices | None) -> None:
        """Set the axes, with room for all curves, and shade what is forbidden."""
        ax, mono = self.ax, min(self.made.matrices.D.shape) == 1
        what, unit = "gain" if mono else "singular values", self.made.unit
        unit = "in the units of the signals" if unit is None else unit
        if self.dB:
            unit = "dB" if unit in ("", "1") else f"dB of 1 {unit}" if self.made.unit else f"dB, {unit}"
        dress(ax, with_unit(what, unit), log=not self.dB)
        curves = [values[np.isfinite(values)] for values in self.values if np.isfinite(values).any()]
        high = max((float(values.max()) for values in curves), default=1.0)
        lowest = (max(float(values.min()), _LOWEST * float(values.max())) for values in curves)
        low = max(min(lowest, default=0.1), _NOTHING * high)
        shade: Array | None = None
        if limit is not None:
            level = _sizes(limit.respond(self.omega))[:, 0]
            shade = np.where(level > 0.0, level, np.nan)
            known = shade[np.isfinite(shade)]
            low = min(low, max(float(known.min(initial=low)), 1e-2 * low))
            high = max(high, min(float(known.max(initial=high)), 1e2 * high))
        room = 0.06 * np.log10(high / low) + 0.08
        ends = low * 10.0**-room, high * 10.0**room
        extra = []
        if shade is not None:
            area: dict[str, Any] = {
                "facecolor": BAND,
                "edgecolor": FAINT,
                "hatch": "////",
                "linewidth": 0.0,
                "zorder": 0.4,
            }
            top = np.maximum(shade, ends[1])
            extra = [ax.fill_between(self.omega, self.shown(shade), self.shown(top), label="forbidden", **area)]
            ax.plot(self.omega, self.shown(shade), color=QUIET, linewidth=1.0, zorder=1.0)
        logarithmic(ax, "x")
        shown = self.omega[self.omega > 0.0]
        if shown.size > 1:
            ax.set_xlim(shown[0], shown[-1])
        ax.set_ylim(*self.shown(np.array(ends)))
        if not self.dB and ends[1] < 10.0 ** (np.floor(np.log10(ends[0])) + 2.0):
            _plain_ticks(ax)
        ax.set_xlabel("frequency (rad/s)", fontsize=LABEL, color=INK)
        named = [line for line in ax.lines if not str(line.get_label()).startswith("_")]
        beside(ax, extra, handles=named)


def _plain_ticks(ax: Axes) -> None:
    """Label more than the powers of ten, on an axis with one or two of them."""
    from matplotlib.ticker import LogLocator, NullFormatter

    from .ticks import PlainTicks

    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(PlainTicks())
    ax.yaxis.set_minor_formatter(NullFormatter())


def _one(drawn: _Drawn, omega: ArrayLike | None) -> None:
    """Draw the largest and the smallest singular value of one system."""
    system = drawn.made.matrices
    drawn.omega = _frequencies([system.poles()], system.dt, omega)
    values = _sizes(system.respond(drawn.omega))
    mono = values.shape[1] == 1
    drawn.curve(values[:, 0], drawn.made.name if mono else "largest", color=COLORS[0], linewidth=1.5)
    if not mono:
        drawn.curve(values[:, -1], "smallest", color=COLORS[1], linewidth=1.5, linestyle="--")


def _bundle(
    drawn: _Drawn,
    loop: UncertainLoop,
    inputs: str | Sequence[str] | None,
    outputs: str | Sequence[str] | None,
    omega: ArrayLike | None,
    machines: int,
    seed: int,
    worst: WorstCaseGain | None,
) -> None:
    """Draw the largest singular values of the nominal loop, of random machines, and of the worst perturbation."""
    chosen = _chosen(loop.nominal, inputs, outputs)
    whole = _Matrices(*loop._matrices(*chosen), loop.dt)
    found = loop.worst_case_gain(*chosen) if worst is None else worst
    structure = structure_of(loop.blocks, len(loop.C_z), loop.B_w.shape[1], "the loop")
    rng = np.random.default_rng(seed)
    names = [p.name for p in loop.model.parameters]
    drawings = [dict.fromkeys(names, 0.0)]
    drawings += [dict(zip(names, rng.uniform(-1.0, 1.0, len(names)), strict=True)) for _ in range(machines)]
    drawings += [found.worst] if found.worst else []
    Deltas = []
    for values in drawings:
        zeros = [np.zeros(b.shape) if b.kind == "full" else 0.0 for b in loop.blocks]
        Deltas.append(structure.delta([values.get(b.name, x) for b, x in zip(loop.blocks, zeros, strict=True)]))
    poles = [_closed(loop, Delta).poles() for Delta in Deltas]
    extra = [w for w in (found.worst_frequency, found.frequency) if np.isfinite(w) and w > 0.0]
    drawn.omega = _frequencies(poles, loop.dt, omega, extra)
    M = whole.respond(drawn.omega)
    gains = [_gains(M, Delta) for Delta in Deltas]
    for k, gain in enumerate(gains[1 : 1 + machines]):
        drawn.curve(gain, f"{machines} random machines" if k == 0 else None, color=FAINT, linewidth=0.8, zorder=1.8)
    drawn.curve(gains[0], "middle of the intervals", color=COLORS[0], linewidth=1.5)
    ax = drawn.ax
    mark: dict[str, Any] = {"color": COLORS[1], "linestyle": "none", "marker": "o", "markersize": 4.5}
    if found.worst:
        drawn.curve(gains[-1], "worst one found", color=COLORS[1], linewidth=1.5, linestyle="--")
        if drawn.omega[0] <= found.worst_frequency <= drawn.omega[-1]:
            ax.plot([found.worst_frequency], drawn.shown(np.array([found.lower])), zorder=4.0, **mark)
    if np.isfinite(found.upper):
        drawn.values.append(np.array([found.upper]))
        label = f"proven for all: {drawn.shown(found.upper):.3g}" + " dB" * drawn.dB
        ax.axhline(drawn.shown(found.upper), color=INK, linewidth=1.2, linestyle="-.", label=label)
    else:
        said = "not stable" if not loop.nominal.stable else "not proven to be stable for all"
        ax.set_title(f"{said}: no bound of the gain", fontsize=TICK, color=INK)


def _closed(loop: UncertainLoop, Delta: Complex) -> _Matrices:
    """Loop with a perturbation, for its poles."""
    A = loop.A + loop.B_w @ Delta @ np.linalg.solve(np.eye(len(loop.C_z)) - loop.D_zw @ Delta, loop.C_z)
    return _Matrices(A, loop.B_w, loop.C_z, loop.D_zw, loop.dt)


def _gains(M: Complex, Delta: Complex) -> Array:
    """Largest singular values over frequency of M, closed by w = Delta z at its first signals."""
    w, z = Delta.shape
    back = np.linalg.solve(np.eye(z) - M[:, :z, :w] @ Delta, M[:, :z, w:])
    return _sizes(M[:, z:, w:] + M[:, z:, :w] @ Delta @ back)[:, 0]


def _sizes(X: Complex) -> Array:
    """Singular values (frequencies, k) of responses, the largest first; nan where there is none."""
    known = np.isfinite(X).all(axis=(1, 2))
    found = np.full((len(X), min(X.shape[1:])), np.nan)
    found[known] = np.linalg.svd(X[known], compute_uv=False)
    return found


# -- systems -----------------------------------------------------------------------------------------------------------


def _signals(what: Any, inputs: str | Sequence[str] | None, outputs: str | Sequence[str] | None) -> _Signals:
    """Matrices from the inputs to the outputs that are asked for."""
    if isinstance(what, UncertainLoop):
        loop, chosen = what.nominal, _chosen(what.nominal, inputs, outputs)
        return _of_loop(loop, *chosen)
    if isinstance(what, ClosedLoop):
        return _of_loop(what, *_chosen(what, inputs, outputs))
    if isinstance(what, LinearModel):
        name, parts = what.name, _Matrices(what.A, what.B, what.C, what.D, 0.0)
        known: tuple[Sequence[str], Sequence[str]] = what.inputs, what.outputs
        units: tuple[Sequence[str], Sequence[str]] = what.input_units, what.output_units
    else:
        name, known, units, parts = _of_control(what)
    j, i = (_indices(x, k, n, name) for x, k, n in zip((inputs, outputs), known, ("inputs", "outputs"), strict=True))
    unit = _unit([units[0][k] for k in j], [units[1][k] for k in i])
    A, B, C, D, dt = parts
    return _Signals(_told(known, j, i), _Matrices(A, B[:, j], C[i], D[np.ix_(i, j)], dt), unit)


def _of_loop(loop: ClosedLoop, inputs: Sequence[str], outputs: Sequence[str]) -> _Signals:
    ways, rows = [loop.entrance(name) for name in inputs], [loop.outputs.index(name) for name in outputs]
    B, D = np.column_stack([way.B for way in ways]), np.column_stack([way.D[rows] for way in ways])
    unit = _unit([way.unit for way in ways], [loop.output_units[i] for i in rows])
    named = f"{inputs[0]} to {outputs[0]}" if len(inputs) == len(outputs) == 1 else "gain"
    return _Signals(named, _Matrices(loop.A, B, loop.C[rows], D, loop.dt), unit)


def _of_control(what: Any) -> tuple[str, tuple[Sequence[str], Sequence[str]], tuple[Any, Any], _Matrices]:
    """Name, signals, their units, and matrices of a system of python-control."""
    if not all(hasattr(what, x) for x in ("ninputs", "noutputs", "dt", "input_labels", "output_labels")):
        raise InputTypeError(
            "what must be a LinearModel, a ClosedLoop, an UncertainLoop, or a linear system of python-control, got "
            f"{_check.shown(what)}"
        )
    matrices = _as_matrices(what, "what")
    known = list(what.input_labels), list(what.output_labels)
    return what.name or "system", known, ([""] * len(known[0]), [""] * len(known[1])), matrices


def _as_matrices(system: Any, argument: str) -> _Matrices:
    """State space of a system of python-control."""
    import control

    if not isinstance(system, (control.StateSpace, control.TransferFunction)):
        raise InputTypeError(
            f"{argument} must be a control.StateSpace or control.TransferFunction, got {_check.shown(system)}"
        )
    try:
        made = control.ss(system)
    except (control.ControlMIMONotImplemented, ValueError) as error:
        raise InputError(f"{argument}: this system has no state space ({error})") from error
    dt = 1.0 if made.dt is True else float(made.dt or 0.0)
    return _Matrices(np.asarray(made.A), np.asarray(made.B), np.asarray(made.C), np.asarray(made.D), dt)


def _limit(limit: Any) -> _Matrices:
    """Limit as a system."""
    if hasattr(limit, "ninputs"):
        return _as_matrices(limit, "limit")
    level = _check.positive(limit, "limit, if it is no system of python-control,")
    return _Matrices(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), np.array([[level]]), 0.0)


def _chosen(
    loop: ClosedLoop, inputs: str | Sequence[str] | None, outputs: str | Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the signals of a loop; any that enters it may be an input."""
    entering = [f"{name}_command" for name in loop.motors] + [f"{x}_measurement" for x in loop.plant.states]
    known = (*loop.inputs, *entering), loop.outputs
    given = [
        (loop.inputs, loop.outputs)[k] if x is None else _names(x, known[k], what, loop.name)
        for k, (x, what) in enumerate(((inputs, "inputs"), (outputs, "outputs")))
    ]
    return given[0], given[1]


def _names(given: str | Sequence[str], known: Sequence[str], what: str, of: str) -> tuple[str, ...]:
    names = _check.names([given] if isinstance(given, str) else given, what, known, what.removesuffix("s"))
    if not names:
        raise InputError(f"{what}= names none; {of} has {', '.join(known)}")
    return names


def _indices(given: str | Sequence[str] | None, known: Sequence[str], what: str, of: str) -> list[int]:
    if not known:
        raise InputError(f"{of} has no {what}")
    return list(range(len(known))) if given is None else [known.index(x) for x in _names(given, known, what, of)]


def _told(known: tuple[Sequence[str], Sequence[str]], j: Sequence[int], i: Sequence[int]) -> str:
    return f"{known[0][j[0]]} to {known[1][i[0]]}" if len(i) == len(j) == 1 else "gain"


def _unit(over: Sequence[str], of: Sequence[str]) -> str | None:
    """Unit of all gains; empty where it is not known, None where they differ."""
    if len(set(over)) > 1 or len(set(of)) > 1:
        return None
    a, b = of[0], over[0]
    if not (a and b):
        return ""
    if a == b:
        return "1"
    return f"{a}/({b})" if " " in b else f"{a}/{b}"


def _frequencies(poles: Sequence[Complex], dt: float, omega: ArrayLike | None, extra: Sequence[float] = ()) -> Array:
    """Frequencies that are given, or those around all poles, up to half of the sampling."""
    end = np.pi / dt if dt else np.inf
    if omega is not None:
        given = np.unique(frequencies(omega))
        if given[-1] > end * (1.0 + 1e-9):
            raise InputError(
                f"omega: frequencies of a system with {dt:g} s a sample end at {end:.6g} rad/s, got {given[-1]:.6g}"
            )
        return given
    every = np.concatenate(poles)
    size = np.abs(every)
    sizes = np.concatenate([size[(size > _SMALL) & (size < end)], extra])
    low, high = (0.1 * sizes.min(), 10.0 * sizes.max()) if sizes.size else (0.1 / (dt or 1.0), 10.0 / (dt or 1.0))
    high = min(high, end)
    first, last = max(np.log10(low), np.log10(high) - _DECADES), np.log10(high)
    undamped = np.abs(every.imag[(np.abs(every.real) <= _UNDAMPED * size) & (size > _SMALL)])
    beside_them = [w * (1.0 + sign * x) for w in undamped for x in _NEAR for sign in (-1.0, 1.0)]
    found = np.unique(np.concatenate([np.logspace(first, last, _POINTS), frequency_grid(every), beside_them, extra]))
    found = found[(found >= 10.0**first) & (found <= 10.0**last)]
    return found[np.all(np.abs(found[:, None] - undamped) > 0.5 * _NEAR[-1] * undamped, axis=1)]
