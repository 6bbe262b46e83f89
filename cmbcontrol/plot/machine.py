"""Drawings of a machine: one configuration, or a run as an animation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from subprocess import CalledProcessError
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _files
from .._interrupt import let_through
from .._progress import Progress, Reporter
from ..errors import CmbWarning, InputError, MissingExtraError, ModelError
from ..sim.result import Simulation
from .geometry import Sketch, Sketcher, sketcher
from .style import COLORS, FAINT, INK, LABEL, TICK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Drawing", "animate", "animation_path", "mechanism", "upright", "write_animation"]

Array = NDArray[np.float64]

_LOOP = "#D55E00"
_BODIES = tuple(c for c in COLORS if c != _LOOP)


def mechanism(plant: Any, q: ArrayLike | Mapping[str, float], ax: Any = None) -> Figure:
    """Draw a plant at a configuration: bodies, joints, ground, and the points where loops close.

    Machines that move in a plane parallel to two world axes are drawn in that plane, all others in space.

    Parameters
    ----------
    plant : Mechanism, or FunctionPlant with a sketch
    q : array_like, shape (nq,), or mapping of position name to value
    ax : matplotlib axes, optional
        With ``projection="3d"`` for a machine that moves in space. A new figure unless given.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ModelError
        For a plant given by functions that has no sketch.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> mechanism(plant, plant.assemble(left=2.1, right=1.0)).axes[0].get_xlabel()
    'x (m)'
    """
    _check.plant(plant)
    artist = sketcher(plant)
    closed = plant.configuration(q)
    gap = plant.closure_error(closed)
    if gap > 1e-6 * plant.size:
        warnings.warn(
            f"the drawing of {plant.name!r} has open loops, by {gap:.3g} m; plant.assemble(...) closes them",
            CmbWarning,
            stacklevel=2,
        )
    sketch = artist.at(closed)
    drawing = Drawing(artist, [sketch], ax, title=str(plant.name))
    drawing.update(sketch)
    return drawing.figure


def animate(
    run: Simulation,
    path: str | Path,
    *,
    fps: float = 25.0,
    speed: float = 1.0,
    trace: bool = True,
    progress: Progress | None = None,
) -> Path:
    """Write a run as an animation: ``.gif``, or ``.mp4`` where ffmpeg is installed.

    Parameters
    ----------
    run : Simulation
        With its plant: one that was loaded from a file has none (set ``run.plant``).
    path : str or Path
    fps : float
        Frames a second. Most viewers show GIFs with 50 at most.
    speed : float
        Seconds of the run a second of the animation.
    trace : bool
        Draw the paths of the points where loops close.
    progress : bool or callable, optional
        Show a progress bar, or call with the fraction that is done.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> import tempfile
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.five_bar()
    >>> run = simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     animate(run, folder + "/run.gif").stat().st_size > 1000
    True
    """
    _check.run(run)
    path, trace = _check.path(path), _check.flag(trace, "trace")
    path = animation_path(path, fps)
    _check.positive(speed, "speed")
    if run.plant is None:
        raise ModelError("a run from a file does not know its plant; set run.plant to the plant that it was made with")
    artist = sketcher(run.plant)
    times = np.arange(run.time[0], run.time[-1] + 1e-9, speed / fps)
    sketches = [artist.at(q) for q in _positions(run, times)]
    drawing = Drawing(artist, sketches, None, trace=trace, title=str(run.data.attrs["plant"]), dpi=100)
    decimals = int(np.clip(np.ceil(-np.log10(speed / fps)), 1, 6))
    labels = [f"t = {t:.{decimals}f} s" for t in times]
    return write_animation(path, drawing, sketches, labels, fps, progress)


# -- frames ------------------------------------------------------------------------------------------


def animation_path(path: str | Path, fps: float) -> Path:
    """The path of an animation, once it is sure that one can be written there."""
    path = Path(path)
    _check.positive(fps, "fps")
    if path.suffix not in (".gif", ".mp4"):
        raise InputError(f"an animation is a .gif or .mp4 file, got {path.name!r}")
    return path


def write_animation(
    path: Path,
    drawing: Drawing,
    sketches: list[Sketch],
    labels: list[str],
    fps: float,
    progress: Progress | None,
) -> Path:
    """Write sketches with their labels, a frame each."""
    with Reporter(progress or False, "animating") as reporter:

        def frames() -> Iterator[None]:
            for i, (sketch, label) in enumerate(zip(sketches, labels, strict=True)):
                let_through()
                drawing.update(sketch, label)
                yield
                reporter.update((i + 1) / len(sketches))

        (_write_gif if path.suffix == ".gif" else _write_mp4)(path, drawing, frames(), fps)
    return path


def _positions(run: Simulation, times: Array) -> Iterator[Array]:
    """Configurations between those of the result."""
    T, Q, plant = run.time, run.data["q"].values, run.plant
    for t in times:
        if len(T) == 1:
            yield Q[0]
            continue
        j = int(np.clip(np.searchsorted(T, t) - 1, 0, len(T) - 2))
        s = (t - T[j]) / (T[j + 1] - T[j])
        yield plant.integrate(Q[j], s * plant.difference(Q[j], Q[j + 1]))


def _write_gif(path: Path, drawing: Drawing, frames: Iterator[None], fps: float) -> None:
    """Frames as a GIF with one palette; Pillow keeps only what changes from frame to frame."""
    from PIL import Image

    images: list[Any] = []
    palette: Any = None
    for _ in frames:
        image = Image.fromarray(drawing.pixels())
        if palette is None:
            palette = image.quantize(256, Image.Quantize.MAXCOVERAGE)
            colors = np.array(palette.getpalette()).reshape(-1, 3)
            colors[colors.min(axis=1) >= 244] = 255  # the paper stays white
            palette.putpalette(colors.ravel().tolist())
        images.append(image.quantize(palette=palette, dither=Image.Dither.NONE))
    content = BytesIO()
    duration = round(1000.0 / fps)
    images[0].save(content, format="GIF", save_all=True, append_images=images[1:], duration=duration, loop=0)
    _files.write(path, content.getvalue())


def _write_mp4(path: Path, drawing: Drawing, frames: Iterator[None], fps: float) -> None:
    """Frames through ffmpeg."""
    from matplotlib.animation import FFMpegWriter

    if not FFMpegWriter.isAvailable():
        raise MissingExtraError(f"{path.name} needs ffmpeg, which is not on the path; install it, or write a .gif")
    writer = FFMpegWriter(fps=fps, extra_args=["-f", "mp4"])
    with _files.writing(path) as beside:
        try:
            with writer.saving(drawing.figure, str(beside), drawing.figure.dpi):
                for _ in frames:
                    writer.grab_frame()
        except CalledProcessError as error:
            raise OSError(f"ffmpeg gave up ({error})") from error


# -- artists -----------------------------------------------------------------------------------------


class Drawing:
    """A machine on axes; `update` moves it to another configuration.

    Parameters
    ----------
    artist : Sketcher
    sketches : list of Sketch
        All that will be shown: they fix the limits.
    ax : matplotlib axes or None
    """

    def __init__(
        self,
        artist: Sketcher,
        sketches: list[Sketch],
        ax: Any,
        *,
        trace: bool = False,
        title: str = "",
        dpi: float = 150.0,
    ) -> None:
        self._still: Any = None
        self.plane = artist.plane
        self.view = list(artist.plane) if artist.plane else [0, 1, 2]
        self._limits(sketches)
        self.ax = self._new_axes(artist, title, dpi) if ax is None else ax
        if artist.plane is None and not hasattr(self.ax, "set_zlim"):
            raise InputError("this machine moves in space: give axes made with projection='3d'")
        self.figure = self.ax.figure
        self._dress(title)
        first = sketches[0]
        self._ground(first, artist)
        if trace:
            self._traces(sketches)
        few = len(first.bodies) <= 12
        thick, small = (3.4, 5.5) if few else (1.8, 2.5)
        self.guides = [self._line(1.0, FAINT, 2, linestyle=(0, (6, 2, 1, 2))) for _ in first.guides]
        self.bodies, self.areas = [], {}
        for i, shape in enumerate(first.bodies):
            color = _BODIES[i % len(_BODIES)]
            self.bodies.append(self._line(thick, color, 3, solid_capstyle="round", solid_joinstyle="round"))
            if self.plane is not None and len(shape) > 3 and np.array_equal(shape[0], shape[-1]):
                self.areas[i] = self.ax.fill([0.0], [0.0], color=color, alpha=0.15, linewidth=0.0, zorder=2)[0]
        self.rods = [self._line(1.4, INK, 3) for _ in first.rods]
        self.springs = [self._line(1.0, INK, 3) for _ in first.springs]
        self.centres = self._marks("o", 0.45 * small, INK, INK, 4)
        self.sliders = self._marks("s", 1.3 * small, "white", INK, 4)
        self.joints = self._marks("o", small, "white", INK, 5)
        self.loops = self._marks("o", 1.25 * small, "white", _LOOP, 6, markeredgewidth=1.8 if few else 1.0)
        place = {"transform": self.ax.transAxes, "fontsize": LABEL, "color": INK, "va": "top"}
        self.label = (
            self.ax.text2D(0.0, 0.98, "", **place) if self.plane is None else self.ax.text(0.02, 0.98, "", **place)
        )

    def _limits(self, sketches: list[Sketch]) -> None:
        """Room for all sketches, the same length a metre on all axes."""
        points = np.concatenate([sketch.points() for sketch in sketches])[:, self.view]
        low, high = points.min(axis=0), points.max(axis=0)
        self.extent = max(float((high - low).max()), 1e-9)
        if self.plane is None:  # a flat box would hide its labels
            thin = np.maximum(0.45 * self.extent - (high - low), 0.0)
            low, high = low - 0.5 * thin, high + 0.5 * thin
        room = 0.1 * self.extent
        self.low, self.high = low - room, high + room

    def _new_axes(self, artist: Sketcher, title: str, dpi: float) -> Any:
        from matplotlib.figure import Figure

        if self.plane is None:
            figure = Figure(figsize=(5.4, 5.0), dpi=dpi)
            ax = figure.add_axes((0.02, 0.04, 0.9, 0.9), projection="3d")
            upright(ax, artist)
            return ax
        ratio = self.ratio
        figure = Figure(figsize=(5.4, 0.7 + 4.6 * ratio + (0.25 if title else 0.0)), dpi=dpi, layout="constrained")
        return figure.add_subplot()

    @property
    def ratio(self) -> float:
        """Height of the drawing over its width, within what a page can bear."""
        width, height = (self.high - self.low)[:2]
        return 1.0 if self.plane is None else float(np.clip(height / width, 0.35, 1.4))

    def _dress(self, title: str) -> None:
        """Labels, limits, equal axes."""
        ax = self.ax
        names = [f"{'xyz'[k]} (m)" for k in self.view]
        ax.set_xlabel(names[0], fontsize=LABEL, color=INK)
        ax.set_ylabel(names[1], fontsize=LABEL, color=INK)
        ax.set_xlim(self.low[0], self.high[0])
        ax.set_ylim(self.low[1], self.high[1])
        ax.tick_params(labelsize=TICK, colors=INK)
        if self.plane is None:
            ax.set_zlim(self.low[2], self.high[2])
            ax.set_zlabel(names[2], fontsize=LABEL, color=INK)
            box = self.high - self.low  # scaled to one diagonal: long ones would leave their place
            ax.set_box_aspect(box, zoom=1.05 * min(1.0, 0.68 * float(np.linalg.norm(box) / box.max())))
            for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
                axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
                axis._axinfo["grid"]["color"] = "#E4E4E4"
        else:
            ax.set_aspect("equal", adjustable="box")
            ax.grid(True, color="#EEEEEE", linewidth=0.6)
            ax.set_axisbelow(True)
            for spine in ax.spines.values():
                spine.set(linewidth=0.6, color=FAINT)
        if title:
            ax.set_title(title, fontsize=LABEL + 1.0, color=INK)

    def _line(self, width: float, color: Any, order: int, **style: Any) -> Any:
        return self.ax.plot(*[[] for _ in self.view], color=color, linewidth=width, zorder=order, **style)[0]

    def _marks(self, marker: str, size: float, face: str, edge: str, order: int, **style: Any) -> Any:
        style = {"markeredgewidth": 1.0} | style
        return self._line(
            0.0, edge, order, marker=marker, markersize=size, markerfacecolor=face, markeredgecolor=edge, **style
        )

    def _ground(self, sketch: Sketch, artist: Sketcher) -> None:
        """A hatched support at each point of the ground."""
        if self.plane is None:
            points = sketch.ground
            self.ax.plot(*points.T, "s", color="#8A8A8A", markersize=9.0, zorder=1)
            return
        down = artist.down[self.view]
        down = down / np.linalg.norm(down) if np.linalg.norm(down) > 0.5 else np.array([0.0, -1.0])
        side, s = np.array([-down[1], down[0]]), min(0.035 * self.extent, 0.12 * artist.size)
        lines: list[Array] = []
        for p in sketch.ground[:, self.view]:
            left, right = p + s * (1.3 * down - side), p + s * (1.3 * down + side)
            lines += [np.array([p, left, right, p]), np.array([left - 0.5 * s * side, right + 0.5 * s * side])]
            for k in np.linspace(-1.2, 1.5, 6):
                top = p + s * (1.3 * down + k * side)
                lines.append(np.array([top, top + 0.5 * s * (down - 0.7 * side)]))
        x, y = _joined(lines).T if lines else (np.empty(0), np.empty(0))
        self.ax.plot(x, y, color="#8A8A8A", linewidth=0.8, zorder=1)

    def _traces(self, sketches: list[Sketch]) -> None:
        """Paths of the closing points that move."""
        for path in np.stack([sketch.loops for sketch in sketches], axis=1):
            if np.ptp(path, axis=0).max() > 1e-3 * self.extent:
                self.ax.plot(*path[:, self.view].T, color=_LOOP, linewidth=0.8, alpha=0.45, zorder=1.5)

    def ghost(self, sketch: Sketch, strength: float = 0.35) -> None:
        """Draw the machine at another configuration as well, faintly."""
        for line, points in zip(self.bodies, sketch.bodies, strict=True):
            style = {"linewidth": 0.7 * line.get_linewidth(), "zorder": 2.5, "alpha": strength}
            self.ax.plot(*points[:, self.view].T, color=line.get_color(), solid_capstyle="round", **style)
        for ends in sketch.rods:
            self.ax.plot(*ends[:, self.view].T, color=INK, linewidth=1.0, alpha=strength, zorder=2.5)

    def paths(self, sketches: list[Sketch]) -> None:
        """Draw the paths of hinges, slides, closing points and centres of mass."""
        for field in ("joints", "sliders", "loops", "centres"):
            for path in np.stack([getattr(sketch, field) for sketch in sketches], axis=1):
                self.ax.plot(*path[:, self.view].T, color=INK, linewidth=0.7, alpha=0.6, zorder=4.5)

    def update(self, sketch: Sketch, label: str = "") -> None:
        """Move to another sketch."""
        groups = ((self.guides, sketch.guides), (self.bodies, sketch.bodies), (self.rods, sketch.rods))
        for lines, shapes in groups:
            for line, points in zip(lines, shapes, strict=True):
                self._set(line, points)
        for i, area in self.areas.items():
            area.set_xy(sketch.bodies[i][:, self.view])
        for line, ends in zip(self.springs, sketch.springs, strict=True):
            self._set(line, _coil(ends, 0.02 * self.extent, self.view))
        for marks, points in (
            (self.centres, sketch.centres),
            (self.sliders, sketch.sliders),
            (self.joints, sketch.joints),
            (self.loops, sketch.loops),
        ):
            self._set(marks, points)
        self.label.set_text(label)

    def _set(self, line: Any, points: Array) -> None:
        columns = points[:, self.view].T
        if self.plane is None:
            line.set_data_3d(*columns)
        else:
            line.set_data(*columns)

    def pixels(self) -> NDArray[np.uint8]:
        """The figure as an image (height, width, 3); what does not move is drawn once."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        moving = [*self.guides, *self.areas.values(), *self.bodies, *self.rods, *self.springs, self.centres]
        moving += [self.sliders, self.joints, self.loops, self.label]
        if self._still is None:
            canvas = FigureCanvasAgg(self.figure)
            for part in moving:
                part.set_animated(True)
            canvas.draw()
            self.figure.set_layout_engine("none")  # the layout of the first frame is kept
            self._still = canvas, canvas.copy_from_bbox(self.figure.bbox)
        canvas, background = self._still
        canvas.restore_region(background)
        for part in sorted(moving, key=lambda part: part.zorder):
            self.ax.draw_artist(part)
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def upright(ax: Any, artist: Sketcher) -> None:
    """Look at axes in space from the side, with gravity downwards."""
    down = int(np.abs(artist.down).argmax()) if artist.down.any() else 2
    ax.view_init(elev=22.0, azim=-55.0, vertical_axis="xyz"[down])


def _joined(lines: list[Array]) -> Array:
    """Lines as one, with gaps."""
    gap = np.full((1, lines[0].shape[1]), np.nan)
    return np.concatenate([part for line in lines for part in (line, gap)])


def _coil(ends: Array, width: float, view: list[int]) -> Array:
    """The zigzag of a spring between two points (2, 3)."""
    a, b = ends
    along = b - a
    normal = np.eye(3)[({0, 1, 2} - set(view)).pop()] if len(view) == 2 else np.eye(3)[np.abs(along).argmin()]
    side = np.cross(normal, along)
    length = float(np.linalg.norm(side))
    if length <= 1e-9 * width:
        return ends
    s = np.array([0.0, 0.2, *np.linspace(0.225, 0.775, 12), 0.8, 1.0])
    swing = np.array([0.0, 0.0, *([1.0, -1.0] * 6), 0.0, 0.0])
    return a + s[:, None] * along + (width / length) * swing[:, None] * side
