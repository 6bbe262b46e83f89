"""Drawings of a machine: one configuration, or a run as an animation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._progress import Progress
from ..errors import AssemblyError, CmbWarning, InputError, InputTypeError, ModelError
from ..model.assembly import start_configuration
from ..scene import Scene, Spot, scene
from ..sim.result import Simulation
from .animation import animation_path, write_animation
from .drawing import Drawing, Snapshot, snapshot
from .figure import unregistered

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["animate", "mechanism", "trace_spots", "write_shots"]

Array = NDArray[np.float64]


def mechanism(plant: Any, q: ArrayLike | Mapping[str, float] | str | None = None, ax: Any = None) -> Figure:
    """Draw a plant at a configuration: bodies, joints by kind, ground, springs, and the points where loops close.

    Bodies have the shapes that they were given (`Body`); those without are bars, plates and boxes through their joints.
    Machines that move in a plane parallel to two world axes are drawn in that plane, all others in space. Points where
    loops close are vermilion.

    Parameters
    ----------
    plant : Mechanism, or FunctionPlant with a sketch
    q : array_like, shape (nq,), mapping of position name to value, or name of a configuration, optional
        By default the configuration ``"start"``, if the plant has one, else the one that `plant.assemble()` finds; with
        all joints at zero where the loops cannot be closed.
    ax : matplotlib axes, optional
        With ``projection="3d"`` for a machine that moves in space. A new figure unless given.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ModelError
        For a plant given by functions that has no sketch.
    ValueError
        For axes that do not fit, and configurations that are none.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> mechanism(plant, plant.assemble(left=2.1, right=1.0)).axes[0].get_xlabel()
    'x (m)'
    """
    _check.plant(plant)
    seen = scene(plant)
    closed = _default(plant) if q is None else plant.configuration(q)
    gap = plant.closure_error(closed)
    if gap > 1e-6 * plant.size:
        warnings.warn(
            f"the drawing of {plant.name!r} has open loops, by {gap:.3g} m; plant.assemble(...) closes them",
            CmbWarning,
            stacklevel=2,
        )
    shot = snapshot(seen, closed)
    drawing = Drawing(seen, [shot], ax, title=str(plant.name))
    drawing.update(shot)
    return drawing.figure


def _default(plant: Any) -> Array:
    """Default configuration of a drawing; with all joints at zero if the loops cannot be closed."""
    try:
        return start_configuration(plant)
    except AssemblyError:
        return plant.neutral()


def animate(
    run: Simulation,
    path: str | Path,
    *,
    fps: float = 25.0,
    speed: float = 1.0,
    trace: bool | Sequence[str | tuple[str, ArrayLike]] = True,
    progress: Progress | None = None,
) -> Path:
    """Write a run as an animation: ``.gif``, or ``.mp4`` where ffmpeg is installed.

    Parameters
    ----------
    run : Simulation
        A run with its plant: one that was loaded from a file may have none (set ``run.plant``).
    path : str or Path
    fps : float
        Frames a second. Most viewers show GIFs with 50 at most.
    speed : float
        Seconds of the run a second of the animation.
    trace : bool, or sequence of str or (str, array_like)
        Points that leave a trace, which grows with time. True: points where loops close, of those that move. Names of
        joints and constraints; names of bodies, for their origins; or a body and a point in its axes, m, such as
        ``[("bucket", (1.45, 0, 0))]``.
    progress : bool or callable, optional
        Show a progress bar, or call with the fraction that is done.

    Returns
    -------
    path : Path

    Raises
    ------
    ModelError
        Where the appearance of the plant is not known.
    MissingExtraError
        For an ``.mp4`` without ffmpeg.
    ValueError, OSError
        For traces of unknown parts, and for files that cannot be written.

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
    path = animation_path(_check.path(path), fps)
    _check.positive(speed, "speed")
    if run.plant is None:
        raise ModelError("a run from a file does not know its plant; set run.plant to the plant that it was made with")
    seen = scene(run.plant)
    spots = trace_spots(seen, trace)
    times = np.arange(run.time[0], run.time[-1] + 1e-9, speed / fps)
    shots = [snapshot(seen, q) for q in _positions(run, times)]
    decimals = int(np.clip(np.ceil(-np.log10(speed / fps)), 1, 6))
    labels = [f"t = {t:.{decimals}f} s" for t in times]
    return write_shots(path, seen, shots, labels, spots, str(run.data.attrs["plant"]), fps, progress)


def write_shots(
    path: Path,
    seen: Scene,
    shots: Sequence[Snapshot],
    labels: Sequence[str],
    spots: Sequence[Spot],
    title: str,
    fps: float,
    progress: Progress | None,
) -> Path:
    """Write an animation of snapshots with their labels, one for each frame."""
    with unregistered():  # frames are for the file alone
        drawing = Drawing(seen, shots, None, traces=spots, title=title, dpi=100)

    def draw(i: int) -> NDArray[np.uint8]:
        drawing.update(shots[i], labels[i], i)
        return drawing.pixels()

    return write_animation(path, draw, len(shots), fps, drawing.colors, progress)


def trace_spots(seen: Scene, trace: bool | Sequence[str | tuple[str, ArrayLike]]) -> tuple[Spot, ...]:
    """Points that leave a trace.

    Raises
    ------
    ValueError
        For names that are none of joints, constraints and bodies.
    """
    if isinstance(trace, (bool, np.bool_)):
        return tuple(spot for spot in seen.spots if spot.kind == "loop") if trace else ()
    if isinstance(trace, str):
        raise InputTypeError(f"trace must be True, False or a list of names, got {trace!r}; write [{trace!r}]")
    named = {spot.name: spot for spot in seen.spots if spot.kind != "centre"}
    found = []
    for item in _check.sequence(trace, "trace", "names, or pairs of body and point"):
        if isinstance(item, str):
            _check.one_of(item, [*named, *seen.bodies], "joint, constraint or body to trace")
            found.append(named.get(item) or Spot("body", item, item, np.zeros(3)))
            continue
        pair = _check.sequence(item, "an entry of trace", "a body and a point")
        if len(pair) != 2:
            raise InputError(
                f"an entry of trace is a name, or a body and a point in its axes, got {_check.shown(item)}"
            )
        body = _check.one_of(pair[0], seen.bodies, "body to trace")
        found.append(Spot("body", body, body, _check.point(pair[1], f"the point on {body!r} to trace")))
    return tuple(found)


def _positions(run: Simulation, times: Array) -> Iterator[Array]:
    """Configurations at given times, between those of the result."""
    T, Q, plant = run.time, run.data["q"].values, run.plant
    for t in times:
        if len(T) == 1:
            yield Q[0]
            continue
        j = int(np.clip(np.searchsorted(T, t) - 1, 0, len(T) - 2))
        s = (t - T[j]) / (T[j + 1] - T[j])
        yield plant.integrate(Q[j], s * plant.difference(Q[j], Q[j + 1]))
