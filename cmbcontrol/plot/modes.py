"""Pictures and animations of the modes of a machine, with closed loops."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._progress import Progress
from ..errors import AssemblyError, InputError, ModelError
from ..linear.model import LinearModel
from ..linear.modes import Mode, Modes
from ..scene import scene
from .animation import animation_path
from .drawing import Drawing, Snapshot, snapshot, upright
from .machine import trace_spots, write_shots
from .style import INK, LABEL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["animate_mode", "modes"]

Array = NDArray[np.float64]

_VISIBLE = 0.12  # how far the farthest point moves, in sizes of the drawing
_LARGEST = 0.6  # rad
_BENT = 0.3  # how much of a motion closing the loops may change
_MOST = 12  # panels


def modes(
    modes: LinearModel | Modes,
    which: Sequence[int] | None = None,
    *,
    amplitude: float | None = None,
    axes: Any = None,
) -> Figure:
    """Draw mode shapes: the machine at its operating point, with the extremes of the motion as ghosts.

    Parameters
    ----------
    modes : LinearModel or Modes
        Modes of a model with its plant, such as ``lin.undamped_modes()``; for the model itself, ``lin.modes()``.
    which : sequence of int, optional
        Modes by number, as they are listed; the twelve slowest unless given. Decays and growths with one shape
        share a panel.
    amplitude : float, optional
        Amplitude of the coordinate that moves most, rad or m; chosen for each mode unless given.
    axes : sequence of matplotlib axes, optional
        One a panel, with ``projection="3d"`` for a machine that moves in space. A new figure unless given.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ModelError
        Where the model was loaded without its plant, or the plant has no sketch.
    AssemblyError
        Where the loops do not close at the amplitude.
    ValueError
        For modes that do not exist, or the wrong number of axes.

    Notes
    -----
    A configuration is reached along the shape, ``plant.integrate(q, amplitude * Re(shape * phase))``, and then
    ``plant.close``. The amplitude is one that can be seen (12 % of the drawing), smaller where joints would leave
    their limits or closing the loops would change more than a third of the motion. Thin lines are the paths of joints
    and centres of mass.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol import linearize, trim
    >>> plant = plants.pendulum()
    >>> lin = linearize(plant, trim(plant, plant.assemble(angle=-np.pi / 2)))
    >>> modes(lin).axes[0].get_title()
    'mode 0: 3.836 rad/s, damping 0'
    """
    found = _modes_of(modes)
    panels = _panels(found, which)
    motions = [ModeMotion(found.linear_model, group[0][1], amplitude) for group in panels]
    axes = _axes(motions, len(panels)) if axes is None else list(np.atleast_1d(np.asarray(axes, dtype=object)).ravel())
    if len(axes) != len(panels):
        raise InputError(f"this figure has {len(panels)} panels; give as many axes, got {len(axes)}")
    turn = np.exp(2j * np.pi * np.linspace(0.0, 1.0, 25))
    cycles = [[motion.shot(phase) for phase in turn] for motion in motions]
    every = [shot for cycle in cycles for shot in cycle]  # all panels have the same limits
    for ax, group, motion, cycle in zip(axes, panels, motions, cycles, strict=True):
        drawing = Drawing(motion.scene, every, ax)
        for shot, strength in ((cycle[0], 0.45), (cycle[12], 0.25)):  # to one side, to the other
            drawing.ghost(shot, strength)
        drawing.paths(cycle)
        drawing.update(motion.shot(0.0))
        ax.set_title(mode_title(group), fontsize=LABEL, color=INK)
    return axes[0].figure


def animate_mode(
    modes: LinearModel | Modes,
    mode: int,
    path: str | Path,
    *,
    amplitude: float | None = None,
    cycles: int = 2,
    seconds: float = 2.0,
    decay: bool = False,
    fps: float = 25.0,
    trace: bool = True,
    progress: Progress | None = None,
) -> Path:
    """Write an animation of a mode on the closed machine: ``.gif``, or ``.mp4`` where ffmpeg is installed.

    Parameters
    ----------
    modes : LinearModel or Modes
        As of `modes`: those of ``lin.modes()`` for a model.
    mode : int
        Number of the mode, as they are listed; 0 is the slowest.
    path : str or Path
    amplitude : float, optional
        Amplitude of the coordinate that moves most, rad or m; chosen unless given, as in `modes`.
    cycles : int
        Number of cycles of an oscillation.
    seconds : float
        Duration of a cycle on the screen. Decays and growths are shown for four time constants, in the same time.
    decay : bool
        Let the amplitude of an oscillation decay (or grow) as it does in the model; else it stays the same.
    fps : float
        Frames a second.
    trace : bool
        Draw the paths of the points where loops close.
    progress : bool or callable, optional
        Show a progress bar, or call with the fraction that is done.

    Returns
    -------
    path : Path

    Raises
    ------
    ModelError, AssemblyError, ValueError
        As `modes`.

    Examples
    --------
    >>> import tempfile
    >>> from cmbcontrol import plants
    >>> from cmbcontrol import linearize, trim
    >>> plant = plants.pendulum()
    >>> lin = linearize(plant, trim(plant, plant.assemble(angle=-np.pi / 2)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     animate_mode(lin, 0, folder + "/mode.gif", fps=8).stat().st_size > 1000
    True
    """
    found = _modes_of(modes)
    path = _check.path(path)
    decay, trace = _check.flag(decay, "decay"), _check.flag(trace, "trace")
    path = animation_path(path, fps)
    _check.positive(seconds, "seconds")
    cycles = _check.count(cycles, "cycles")
    (number,) = _numbers(found, [mode])
    shown = found[number]
    motion = ModeMotion(found.linear_model, shown, amplitude)
    times, factors = mode_course(shown, float(cycles), seconds, decay, fps)
    shots = [motion.shot(factor) for factor in factors]
    labels = [f"t = {t:.3g} s" for t in times] if shown.frequency else [""] * len(times)
    title = mode_title([(number, shown)])
    return write_shots(path, motion.scene, shots, labels, trace_spots(motion.scene, trace), title, fps, progress)


def mode_course(
    mode: Mode, cycles: float, seconds: float, decay: bool, fps: float
) -> tuple[Array, NDArray[np.complex128]]:
    """Times of the machine (s), and the factors of the shape at them."""
    value = mode.eigenvalue
    if mode.kind == "oscillation":
        frames = max(round(cycles * seconds * fps), 2)
        times = np.arange(frames) / frames * cycles * 2.0 * np.pi / value.imag
        growth = value.real if decay else 0.0
        return times, np.exp((growth + 1j * value.imag) * times - max(growth, 0.0) * times[-1])
    frames = max(round(seconds * fps), 2)
    if mode.kind == "rigid-body":
        times = np.arange(frames) / fps
        return times, np.sin(2.0 * np.pi * np.arange(frames) / frames).astype(complex)
    times = np.linspace(0.0, 4.0 / abs(value.real), frames)
    return times, np.exp(value.real * times - max(value.real, 0.0) * times[-1]).astype(complex)


# -- which modes ------------------------------------------------------------------------------------------


def _modes_of(given: LinearModel | Modes) -> Modes:
    """Modes that are given, or those of the model that is given."""
    _check.instance(given, (LinearModel, Modes), "modes", "from linearize, or its modes, from lin.modes()")
    return given.modes() if isinstance(given, LinearModel) else given


def _numbers(found: Modes, which: Sequence[int]) -> list[int]:
    """Numbers of modes, checked."""
    for i in _check.sequence(which, "which", "numbers of modes"):
        if _check.count(i, "which mode", 0) >= len(found):
            raise InputError(f"there is no mode {i!r}; there are {len(found)}, numbered from 0")
    return [int(i) for i in which]


def _panels(found: Modes, which: Sequence[int] | None) -> list[list[tuple[int, Mode]]]:
    """Modes by panel: real ones with the same shape share a panel."""
    groups: list[list[tuple[int, Mode]]] = []
    for i in range(len(found)) if which is None else _numbers(found, which):
        mode = found[i]
        for group in groups:
            if not (mode.eigenvalue.imag or group[0][1].eigenvalue.imag) and _parallel(mode.shape, group[0][1].shape):
                group.append((i, mode))
                break
        else:
            groups.append([(i, mode)])
    if not groups:
        raise InputError(f"{found.data.attrs['title']}: there are none to draw")
    return groups if which is not None else groups[:_MOST]


def _parallel(a: NDArray[np.complex128], b: NDArray[np.complex128]) -> bool:
    """Whether two shapes are parallel, by the modal assurance criterion."""
    return abs(np.vdot(a, b)) ** 2 > (1.0 - 1e-9) * np.vdot(a, a).real * np.vdot(b, b).real


def mode_title(group: list[tuple[int, Mode]]) -> str:
    """Title with the numbers, the frequency and the damping of modes."""
    number = ("mode " if len(group) == 1 else "modes ") + ", ".join(str(i) for i, _ in group)
    first = group[0][1]
    if first.kind == "oscillation":
        return f"{number}: {first.frequency:.4g} rad/s, damping {first.damping + 0.0:.3g}"
    if not any(mode.frequency for _, mode in group):
        return f"{number}: rigid body"
    values = [mode.eigenvalue.real for _, mode in group]
    if len(values) == 2 and abs(values[0] + values[1]) < 1e-6 * abs(values[0]):
        return f"{number}: growth and decay, ±{abs(values[0]):.4g} 1/s"
    return f"{number}: {first.kind if len(group) == 1 else 'real'}, {', '.join(f'{x:.4g}' for x in values)} 1/s"


# -- configurations ------------------------------------------------------------------------------------------------


class ModeMotion:
    """Configurations along a mode, with closed loops."""

    def __init__(self, linear_model: LinearModel, mode: Mode, amplitude: float | None) -> None:
        point = linear_model.point
        if point.plant is None:
            raise ModelError(
                f"the linear model of {linear_model.name!r} was loaded without its plant; use load_linear(path, plant)"
            )
        self.plant, self.q = point.plant, point.q
        self.scene = scene(self.plant)
        self.length = self.plant.displacement_scale
        # of the phases of a complex shape, the one in which most moves
        square = np.sum((mode.shape / self.length) ** 2)
        self.shape = mode.shape * np.exp(-0.5j * np.angle(square)) if square else mode.shape
        self.amplitude = self._chosen() if amplitude is None else _check.positive(amplitude, "amplitude")

    def at(self, factor: complex) -> Array:
        """Configuration (nq,) at a multiple of the amplitude."""
        return self._closed(factor * self.amplitude)[0]

    def shot(self, factor: complex) -> Snapshot:
        """Snapshot of the machine at a multiple of the amplitude."""
        return snapshot(self.scene, self.at(factor))

    def _closed(self, factor: complex) -> tuple[Array, float]:
        """Closed configuration, and the change by closing the loops, relative to the motion."""
        delta = (factor * self.shape).real
        ahead = self.plant.integrate(self.q, delta)
        q = self.plant.close(ahead)
        size = np.abs(self.shape / self.length).max(initial=0.0) * abs(factor)
        changed = np.abs(self.plant.difference(ahead, q) / self.length).max(initial=0.0)
        return q, float(changed / size) if size else 0.0

    def _chosen(self) -> float:
        """Largest amplitude that can be drawn, see `modes`."""
        here = self.scene.points(self.q)
        extent = float(np.ptp(here, axis=0).max(initial=0.0)) or self.plant.size
        small = 1e-4 / np.abs(self.shape / self.length).max()
        moved = max(
            float(np.linalg.norm(self.scene.points(self._closed(small * phase)[0]) - here, axis=1).max())
            for phase in (1.0, 1j)
        )
        turning = np.array([unit == "rad/s" for unit in self.plant.velocity_units])
        turn = np.abs(self.shape[turning]).max(initial=0.0)
        amplitude = min(_VISIBLE * extent * small / max(moved, 1e-300), _LARGEST / max(turn, 1e-300), self._room())
        for _ in range(40):
            if self._fits(amplitude):
                return amplitude
            amplitude *= 0.75
        raise AssemblyError(
            f"the loops of {self.plant.name!r} do not close along the mode at any amplitude; the operating point may "
            "be near a singular configuration, see plant.diagnose(q)",
            self.plant.loop_residuals(self.q),
            self.q,
        )

    def _room(self) -> float:
        """Amplitude at which the first joint reaches its limit."""
        room = np.inf
        for i, k in self.plant.paired:
            left = np.abs(self.plant.limits[i] - self.q[i]).min()
            if abs(self.shape[k]) > 1e-9 and left > 0.0:
                room = min(room, 0.95 * left / abs(self.shape[k]))
        return float(room)

    def _fits(self, amplitude: float) -> bool:
        """Whether the loops close at all phases, within the limits and without much change."""
        low, high = self.plant.limits.T
        for phase in np.exp(2j * np.pi * np.arange(8) / 8):
            try:
                q, changed = self._closed(amplitude * phase)
            except AssemblyError:
                return False
            if changed > _BENT or ((q < low) & (self.q >= low)).any() or ((q > high) & (self.q <= high)).any():
                return False
        return True


def _axes(motions: list[ModeMotion], count: int) -> list[Any]:
    """Axes of a new figure, with a panel for each mode."""
    from matplotlib.ticker import MaxNLocator

    from .figure import new_figure

    seen, points = motions[0].scene, motions[0].scene.points(motions[0].q)
    columns = min(count, 3)
    rows = -(-count // columns)
    if seen.plane is not None:
        width, height = np.ptp(points[:, list(seen.plane)], axis=0) + 0.4 * np.ptp(points, axis=0).max()
        ratio = float(np.clip(height / width, 0.35, 1.4))
        figure = new_figure(max(3.6 * columns, 4.4), (2.9 * ratio + 0.7) * rows)
        return [figure.add_subplot(rows, columns, i + 1) for i in range(count)]
    figure = new_figure(4.0 * columns, 3.9 * rows, layout="none")
    axes = []
    for i in range(count):  # labels in space need more room than a layout engine sees
        row, column = divmod(i, columns)
        place = ((column + 0.03) / columns, 1.0 - (row + 0.89) / rows, 0.84 / columns, 0.8 / rows)
        ax = figure.add_axes(place, projection="3d")
        upright(ax, seen)
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.set_major_locator(MaxNLocator(4))
        axes.append(ax)
    return axes
