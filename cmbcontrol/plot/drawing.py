"""Drawing of a machine on axes: filled shapes in its plane, or shaded solids in space; it moves from frame to frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..scene import Scene, Spot
from ..scene.colors import BODIES, GROUND_COLOR, LOOP
from .silhouette import silhouette
from .style import FAINT, INK, LABEL, TICK

__all__ = ["Drawing", "Snapshot", "snapshot", "upright"]

Array = NDArray[np.float64]

_LINES = BODIES[0]  # of plants given by functions
_FEW = 24  # bodies: of more, edges are thinner


class Snapshot(NamedTuple):
    """Scene at one configuration, in the world.

    Attributes
    ----------
    origins, rotations : ndarray, shape (bodies, 3) and (bodies, 3, 3)
    ends : ndarray, shape (stretched, 2, 3)
    lines : list of ndarray
        Lines that a plant given by functions draws itself.
    """

    origins: Array
    rotations: Array
    ends: Array
    lines: list[Array]

    def points(self, body: NDArray[np.int64], points: Array) -> Array:
        """Positions in the world of points (k, 3) on bodies (k,)."""
        return self.origins[body] + np.einsum("nij,nj->ni", self.rotations[body], points)


def snapshot(scene: Scene, q: Array) -> Snapshot:
    """Snapshot of a scene at a configuration."""
    return Snapshot(*scene.poses(q), scene.ends(q), scene.lines(q))


class Drawing:
    """Drawing of a machine on axes; `update` moves it to another configuration.

    Parameters
    ----------
    scene : Scene
    shots : sequence of Snapshot
        All snapshots that will be shown: they determine the limits.
    ax : matplotlib axes or None
    traces : sequence of Spot
        Points whose paths grow from frame to frame.
    """

    def __init__(
        self,
        scene: Scene,
        shots: Sequence[Snapshot],
        ax: Any = None,
        *,
        traces: Sequence[Spot] = (),
        title: str = "",
        dpi: float | None = None,
    ) -> None:
        self._still: Any = None
        self.scene, self.plane = scene, scene.plane
        self.view = list(scene.plane) if scene.plane else [0, 1, 2]
        self._number = {name: i for i, name in enumerate(scene.bodies)}
        self._limits(shots)
        self.ax = self._new_axes(title, dpi) if ax is None else ax
        if self.plane is None and not hasattr(self.ax, "set_zlim"):
            raise InputError("this machine moves in space: give axes made with projection='3d'")
        self.figure = self.ax.figure
        self._dress(title)
        few = len(scene.bodies) <= _FEW
        self._edge = 0.7 if few else 0.4
        guide = {"linestyle": (0, (6, 2, 1, 2))}
        self.guides = [self._line(0.9, FAINT, 1.2, **guide) if s.kind == "guide" else None for s in scene.stretched]
        self.trace = self._line(1.1, LOOP, 1.5, alpha=0.7, solid_capstyle="butt")
        self._paths = [self._path(shots, spot) for spot in traces]
        round_ends = {"solid_capstyle": "round", "solid_joinstyle": "round"}
        self.bars = [self._line(3.4, _LINES, 3, **round_ends) for _ in shots[0].lines]
        self.pins = self._line(0.0, INK, 5, marker="o", markersize=5.5, markerfacecolor="white", markeredgecolor=INK)
        self.body: _Flat | _Solid = _Flat(self, shots[0]) if self.plane is not None else _Solid(self)
        self._hatch()
        place = {"transform": self.ax.transAxes, "fontsize": LABEL, "color": INK, "va": "top", "zorder": 9}
        self.label = (
            self.ax.text2D(0.0, 0.98, "", **place) if self.plane is None else self.ax.text(0.02, 0.98, "", **place)
        )

    # -- axes ---------------------------------------------------------------------------------------------

    def _limits(self, shots: Sequence[Snapshot]) -> None:
        """Set the limits with room for all frames, and with the same length for a metre on all axes."""
        scene = self.scene
        vertices = [np.asarray(solid.vertices) for solid in scene.solids]
        self._body = np.repeat([self._number[solid.body] for solid in scene.solids], [len(x) for x in vertices])
        self._body = self._body.astype(np.int64)
        self._vertices = np.concatenate([np.zeros((0, 3)), *vertices])
        low, high = np.full(3, np.inf), np.full(3, -np.inf)
        for shot in shots:
            found = [shot.points(self._body, self._vertices), shot.ends.reshape(-1, 3), *shot.lines]
            points = np.concatenate(found) if sum(map(len, found)) else np.zeros((1, 3))
            low, high = np.minimum(low, points.min(axis=0)), np.maximum(high, points.max(axis=0))
        low, high = low[self.view], high[self.view]
        self.extent = max(float((high - low).max()), 1e-9)
        if self.plane is None:  # a flat box would hide its labels
            thin = np.maximum(0.45 * self.extent - (high - low), 0.0)
        else:  # a thin strip, too
            thin = np.maximum(0.3 * self.extent - (high - low), 0.0)
        low, high = low - 0.5 * thin, high + 0.5 * thin
        room = 0.07 * self.extent
        self.low, self.high = low - room, high + room

    def _new_axes(self, title: str, dpi: float | None) -> Any:
        from .figure import new_figure

        options = {} if dpi is None else {"dpi": dpi}
        if self.plane is None:
            figure = new_figure(5.4, 5.0, scaled=True, layout="none", **options)
            ax = figure.add_axes((0.02, 0.05, 0.9, 0.9), projection="3d")
            upright(ax, self.scene)
            return ax
        figure = new_figure(5.4, 0.7 + 4.6 * self.ratio + (0.25 if title else 0.0), scaled=True, **options)
        return figure.add_subplot()

    @property
    def ratio(self) -> float:
        """Height of the drawing over its width, within limits that fit a page."""
        width, height = (self.high - self.low)[:2]
        return 1.0 if self.plane is None else float(np.clip(height / width, 0.35, 1.4))

    def _dress(self, title: str) -> None:
        """Set labels, limits, and equal axes."""
        from matplotlib.ticker import MaxNLocator

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
            self._fit(self.high - self.low)
            long = (self.high - self.low) / (self.high - self.low).max()
            for axis, length in zip((ax.xaxis, ax.yaxis, ax.zaxis), long, strict=True):
                axis.set_major_locator(MaxNLocator(max(round(6 * length), 2)))  # labels of short axes would overlap
                axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
                axis._axinfo["grid"]["color"] = "#E4E4E4"
        else:
            ax.set_aspect("equal", adjustable="box")
            ax.grid(True, color="#EEEEEE", linewidth=0.6)
            ax.set_axisbelow(True)
            for spine in ax.spines.values():
                spine.set(linewidth=0.6, color=FAINT)
        if title:
            inside = {"y": 0.97, "pad": 0.0} if self.plane is None else {}  # of axes that fill the figure
            ax.set_title(title, fontsize=LABEL + 1.0, color=INK, **inside)

    def _fit(self, box: Array) -> None:
        """Zoom so that the drawing is as large as the labels around it allow."""
        from mpl_toolkits.mplot3d.proj3d import proj_transform

        ax, room = self.ax, np.array([0.86, 0.82])  # of the axes
        ax.set_box_aspect(tuple(box), zoom=1.0)  # which would change an array
        corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * box + self.low
        flat = np.column_stack(proj_transform(*corners.T, ax.get_proj())[:2])
        seen = ax.transAxes.inverted().transform(ax.transData.transform(flat))
        ax.set_box_aspect(tuple(box), zoom=float((room / np.ptp(seen, axis=0)).min()))

    def _line(self, width: float, color: Any, order: float, **style: Any) -> Any:
        return self.ax.plot(*[[] for _ in self.view], color=color, linewidth=width, zorder=order, **style)[0]

    def _hatch(self) -> None:
        """Draw hatching under the supports of a machine that moves in a plane."""
        if self.plane is None or not len(self.scene.supports):
            return
        down = self.scene.down[self.view]
        down = down / np.linalg.norm(down) if np.linalg.norm(down) > 1e-6 else np.array([0.0, -1.0])
        side = np.array([-down[1], down[0]])
        s = 0.8 * self.scene.width
        lines: list[Array] = []
        for p in self.scene.supports[:, self.view]:
            base = p + 1.55 * s * down
            lines.append(np.array([base - 1.9 * s * side, base + 1.9 * s * side]))
            for k in np.linspace(-1.5, 1.9, 7):
                lines.append(np.array([base + k * s * side, base + s * (0.5 * down + (k - 0.4) * side)]))
        x, y = _joined(lines).T
        self.ax.plot(x, y, color=GROUND_COLOR, linewidth=0.8, zorder=1)

    # -- frames -------------------------------------------------------------------------------------------

    def update(self, shot: Snapshot, label: str = "", number: int = 0) -> None:
        """Move the drawing to another configuration; traces go from the first frame to the one of this number."""
        for line, ends in zip(self.guides, shot.ends, strict=True):
            if line is not None:
                self._set(line, ends)
        if self._paths:
            self._set(self.trace, _joined([path[: number + 1] for path in self._paths]))
        for line, points in zip(self.bars, shot.lines, strict=True):
            self._set(line, points)
        if shot.lines:
            self._set(self.pins, np.concatenate([line[[0, -1]] for line in shot.lines]))
        self.body.update(shot)
        self.label.set_text(label)

    def ghost(self, shot: Snapshot, strength: float = 0.35) -> None:
        """Draw the machine faintly at another configuration."""
        for points in shot.lines:
            self._set(self._line(2.4, _LINES, 2.5, alpha=strength, solid_capstyle="round"), points)
        self.body.ghost(shot, strength)

    def paths(self, shots: Sequence[Snapshot]) -> None:
        """Draw the paths of joints, closing points and centres of mass."""
        spots = self.scene.spots
        body = np.array([self._number[spot.body] for spot in spots], dtype=np.int64)
        points = np.array([spot.point for spot in spots]).reshape(-1, 3)
        for path in np.stack([shot.points(body, points) for shot in shots], axis=1):
            self._set(self._line(0.7, INK, 4.5, alpha=0.6), path)

    def _path(self, shots: Sequence[Snapshot], spot: Spot) -> Array:
        """Path of a point through all frames (frames, 3); empty for a point that does not move."""
        body, point = np.array([self._number[spot.body]]), spot.point[None]
        path = np.concatenate([shot.points(body, point) for shot in shots])
        return path if np.ptp(path, axis=0).max() > 1e-3 * self.extent else path[:0]

    @property
    def colors(self) -> list[str]:
        """Colours of everything that is drawn, ``"#RRGGBB"``."""
        scene = self.scene
        return list(dict.fromkeys([*(s.color for s in scene.solids), *(s.color for s in scene.stretched), LOOP, INK]))

    def _set(self, line: Any, points: Array) -> None:
        columns = points[:, self.view].T
        if self.plane is None:
            line.set_data_3d(*columns)
        else:
            line.set_data(*columns)

    def pixels(self) -> NDArray[np.uint8]:
        """Image (height, width, 3) of the figure; parts that do not move are drawn once."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        guides = [line for line in self.guides if line is not None]
        moving = [*guides, self.trace, *self.bars, self.pins, *self.body.artists, self.label]
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


# -- in a plane -------------------------------------------------------------------------------------------


class _Flat:
    """Plane drawing: outlines of all solids as filled shapes, the lower ones first, and springs as lines above them.

    All rotations are about the normal of the plane: an outline moves with its body and keeps its form.
    """

    def __init__(self, drawing: Drawing, first: Snapshot) -> None:
        from matplotlib.collections import PathCollection
        from matplotlib.path import Path

        self.drawing, scene = drawing, drawing.scene
        across, up = drawing.view
        eye = np.cross(np.eye(3)[across], np.eye(3)[up])
        shapes = []
        for solid in scene.solids:
            body = drawing._number[solid.body]
            R, p = first.rotations[body], first.origins[body]
            loops = silhouette(np.asarray(solid.vertices), np.asarray(solid.faces), R.T @ eye)
            if loops:
                top = float((np.asarray(solid.vertices) @ R.T @ eye).max() + p @ eye)
                shapes.append((top, body, loops, solid.color))
        shapes.sort(key=lambda shape: shape[0])
        closed = [np.concatenate([loop, loop[:1]]) for _, _, loops, _ in shapes for loop in loops]
        sizes = [[len(loop) + 1 for loop in loops] for _, _, loops, _ in shapes]
        self._points = np.concatenate([np.zeros((0, 3)), *closed])
        counts = np.array([sum(size) for size in sizes], dtype=int)
        self._body = np.repeat(np.array([body for _, body, _, _ in shapes], dtype=np.int64), counts)
        self._cuts = np.cumsum(counts)[:-1]
        self._codes = [
            np.concatenate([[Path.MOVETO, *[Path.LINETO] * (n - 2), Path.CLOSEPOLY] for n in size]).astype(np.uint8)
            for size in sizes
        ]
        self.faces = [color for *_, color in shapes]
        self.shapes = PathCollection(
            [], facecolors=self.faces, edgecolors=[_darker(c) for c in self.faces], linewidths=drawing._edge, zorder=3
        )
        drawing.ax.add_collection(self.shapes, autolim=False)
        styles = {"rod": 2.0, "spring": 1.0, "damper": 1.0, "rope": 1.0}
        self.links = [
            None if s.kind == "guide" else drawing._line(styles[s.kind], s.color, 2.8 if s.kind == "rod" else 3.5)
            for s in scene.stretched
        ]

    @property
    def artists(self) -> list[Any]:
        """Artists of matplotlib that change with the configuration."""
        return [self.shapes, *(line for line in self.links if line is not None)]

    def outlines(self, shot: Snapshot) -> list[Any]:
        """Paths of all shapes, the lower ones first."""
        from matplotlib.path import Path

        if not self._codes:
            return []
        flat = shot.points(self._body, self._points)[:, self.drawing.view]
        parts = np.split(flat, self._cuts)
        return [Path(part, codes, readonly=True) for part, codes in zip(parts, self._codes, strict=True)]

    def update(self, shot: Snapshot) -> None:
        self.shapes.set_paths(self.outlines(shot))
        for line, part, ends in zip(self.links, self.drawing.scene.stretched, shot.ends, strict=True):
            if line is not None:
                self.drawing._set(line, _symbol(part.kind, ends, part.radius, self.drawing.view))

    def ghost(self, shot: Snapshot, strength: float) -> None:
        from matplotlib.collections import PathCollection

        edges = [_darker(color) for color in self.faces]
        ghost = PathCollection(
            self.outlines(shot), facecolors="none", edgecolors=edges, linewidths=0.7, alpha=strength, zorder=2.5
        )
        self.drawing.ax.add_collection(ghost, autolim=False)
        for part, ends in zip(self.drawing.scene.stretched, shot.ends, strict=True):
            if part.kind == "rod":
                self.drawing._set(self.drawing._line(1.0, part.color, 2.5, alpha=strength), ends)


def _darker(color: str) -> tuple[float, float, float]:
    """Darker colour of an edge, from that of a face."""
    from matplotlib.colors import to_rgb

    r, g, b = to_rgb(color)
    return 0.45 * r, 0.45 * g, 0.45 * b


def _symbol(kind: str, ends: Array, radius: float, view: list[int]) -> Array:
    """Line in the plane for a spring, a damper, a rope or a rod between two points (2, 3)."""
    a, b = ends
    along = b - a
    side = np.cross(np.eye(3)[({0, 1, 2} - set(view)).pop()], along)
    length = float(np.linalg.norm(side))
    if length <= 1e-9 * radius or kind in ("rod", "rope"):
        return ends
    side = radius / length * side
    if kind == "spring":
        s = np.array([0.0, 0.2, *np.linspace(0.225, 0.775, 12), 0.8, 1.0])
        swing = np.array([0.0, 0.0, *([1.0, -1.0] * 6), 0.0, 0.0])
        return a + s[:, None] * along + swing[:, None] * side
    # a pot that is open to the right, and the piston in it
    pot = [(0.0, 0.0), (0.3, 0.0), (0.3, 1.0), (0.7, 1.0), (0.3, 1.0), (0.3, -1.0), (0.7, -1.0)]
    piston = [(0.55, 0.8), (0.55, -0.8), (0.55, 0.0), (1.0, 0.0)]
    s, swing = np.array([*pot, (np.nan, np.nan), *piston]).T
    return a + s[:, None] * along + swing[:, None] * side


def _joined(lines: list[Array]) -> Array:
    """Several lines as one, with gaps between."""
    gap = np.full((1, lines[0].shape[1]), np.nan)
    return np.concatenate([part for line in lines for part in (line, gap)])


# -- in space ---------------------------------------------------------------------------------------------


class _Solid:
    """Space drawing: all solids, and all that stretches, as shaded triangles."""

    def __init__(self, drawing: Drawing) -> None:
        from matplotlib.colors import to_rgb

        from .shading import Shaded, patches

        self.drawing = drawing
        self.shaded = Shaded()
        self.shaded.set_zorder(3)
        drawing.ax.add_artist(self.shaded)
        made = [patches(solid, drawing._number[solid.body], drawing.extent) for solid in drawing.scene.solids]
        self.corners = np.concatenate([np.zeros((0, 3, 3)), *(m.corners for m in made)])
        self.normals = np.concatenate([np.zeros((0, 3, 3)), *(m.normals for m in made)])
        self.color = np.concatenate([np.zeros((0, 3)), *(m.color for m in made)])
        self.body = np.concatenate([np.zeros(0, np.int64), *(m.body for m in made)])
        self.inks = [np.array(to_rgb(part.color)) for part in drawing.scene.stretched]

    @property
    def artists(self) -> list[Any]:
        """Artists of matplotlib that change with the configuration."""
        return [self.shaded]

    def triangles(self, shot: Snapshot) -> tuple[Array, Array, Array]:
        """Corners, normals and colours of all triangles in the world."""
        from .shading import tube

        R = shot.rotations[self.body].transpose(0, 2, 1)
        corners = [self.corners @ R + shot.origins[self.body][:, None]]
        normals, colors = [self.normals @ R], [self.color]
        for part, ink, ends in zip(self.drawing.scene.stretched, self.inks, shot.ends, strict=True):
            for line, radius in self._lines(part.kind, ends, part.radius):
                c, n = tube(line, radius, 8 if len(line) < 3 else 4)
                corners.append(c)
                normals.append(n)
                colors.append(np.tile(ink, (len(c), 1)))
        return np.concatenate(corners), np.concatenate(normals), np.concatenate(colors)

    def _lines(self, kind: str, ends: Array, radius: float) -> list[tuple[Array, float]]:
        from .shading import coil

        if kind == "guide":
            return []
        if kind == "spring":
            return [(coil(ends, radius), 0.16 * radius)]
        s = np.linspace(0.0, 1.0, 7)[:, None]
        straight = ends[0] + s * (ends[1] - ends[0])
        if kind == "damper":
            return [(straight[1:5], radius), (straight[[0, 2]], 0.4 * radius), (straight[[4, 6]], 0.4 * radius)]
        return [(straight, radius)]

    def update(self, shot: Snapshot) -> None:
        self.shaded.show(*self.triangles(shot))

    def ghost(self, shot: Snapshot, strength: float) -> None:
        from .shading import Shaded

        corners, normals, color = self.triangles(shot)
        pale = Shaded()
        pale.set_zorder(2.5)
        self.drawing.ax.add_artist(pale)
        pale.show(corners, normals, 1.0 - strength * (1.0 - color))


def upright(ax: Any, scene: Scene) -> None:
    """Set the view of axes in space: from the side, with gravity downwards."""
    down = int(np.abs(scene.down).argmax()) if scene.down.any() else 2
    ax.view_init(elev=22.0, azim=-55.0, vertical_axis="xyz"[down])
