"""Machine whose joints are moved by hand in the browser, with closed loops (the extra ``live``)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation

from .. import _check
from ..controllers.frame_tasks import PointTask
from ..errors import AssemblyError, CmbError, InputError, MissingExtraError
from ..model.assembly import start_configuration
from ..model.elements import GROUND
from ..model.terms import Terms
from ..scene import scene

__all__ = ["Hands", "Live", "live"]

Array = NDArray[np.float64]

_STEPS = 1000  # of a slider
_AWAY = 0.95  # sizes of the machine, from which it fills the page
_AT_LIMIT = 1e-6  # of the range of a joint, or of a large motion of it
_NEAR_LIMIT = 1e-3  # of a large motion of a joint: nearer to its limit than that it is held while a body is dragged
_DRAG_STEPS = 30  # of one movement of the cursor, 50 ms: each takes less than a millisecond
_FARTHEST = 0.1  # sizes of the machine in a step: loops close again after it
_DAMPING = 0.01  # square of 0.1: a point that can hardly move takes no more than five times the motion of the cursor
_FIXED = 1e-9  # of a step, or of a unit vector: what moves less is held by the others already
_DRAGGED = 1e-6  # sizes of the machine: a step that gains less is not seen
_HALVED = 6  # halvings of a step before it counts as none
_TOLD = 0.01  # sizes of the machine: a cursor that is farther away is told


def live(
    plant: Any, q: ArrayLike | Mapping[str, float] | None = None, *, host: str = "127.0.0.1", port: int = 8080
) -> Live:
    """Move a machine in the browser, by its joints or by dragging its bodies: the loops stay closed.

    Parameters
    ----------
    plant : Mechanism, or FunctionPlant with a sketch
    q : array_like, shape (nq,), or mapping of position name to value, optional
        Start; by default the configuration ``"start"``, or the one that `plant.assemble()` finds.
    host, port : str and int
        Address of the page, by default for this computer alone. Another port is taken where this one is in use.

    Returns
    -------
    Live
        ``url`` is the address to open in a browser; ``stop()`` ends the server, and so does the end of the program.

    Raises
    ------
    MissingExtraError
        Without viser: ``pip install "cmbcontrol[live]"``.
    ModelError
        For a plant given by functions that has no sketch.
    AssemblyError
        Where the machine cannot be closed.
    """
    _check.plant(plant)
    host = _check.text(host, "host")
    port = _check.count(port, "port", 1, 65535)
    hands = Hands(plant, start_configuration(plant) if q is None else plant.configuration(q))
    try:
        import viser
    except ImportError as error:
        raise MissingExtraError('live views are made by viser; install it: pip install "cmbcontrol[live]"') from error
    with _quiet():
        server = viser.ViserServer(host=host, port=port, label=str(plant.name), verbose=False)
    return Live(server, hands)


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide the message of the server about its address, which `Live.url` has."""
    with redirect_stdout(StringIO()):
        yield


class Hands:
    """Machine with closed loops whose joints are moved one at a time.

    Attributes
    ----------
    plant : Plant
    q : ndarray, shape (nq,)
        Present configuration, with closed loops.
    names : tuple of str
        Joints that can be moved: those that are plain numbers.
    driven : tuple of str
        Joints with motors.
    """

    def __init__(self, plant: Any, q: Array) -> None:
        self.plant, self.q = plant, np.array(plant.close(q), dtype=float)
        self._index = {plant.position_names[i]: i for i, _ in plant.paired}
        self.names = tuple(self._index)
        motors = [a.joint for a in getattr(plant, "actuators", ())] or list(plant.actuator_names)
        self.driven = tuple(dict.fromkeys(name for name in motors if name in self._index))
        self._start = self.q.copy()

    def value(self, name: str) -> float:
        """Value of a joint, rad or m."""
        return float(self.q[self._index[name]])

    def unit(self, name: str) -> str:
        return self.plant.position_units[self._index[name]]

    def range(self, name: str) -> tuple[float, float]:
        """Limits of a joint; if it has none, a turn, or twice the size of the machine, about the start."""
        i = self._index[name]
        reach = self.plant.size if self.plant.position_units[i] == "m" else np.pi
        low, high = (float(x) for x in self.plant.limits[i])
        low = low if np.isfinite(low) else self._start[i] - reach
        return low, high if np.isfinite(high) else max(self._start[i] + reach, low + reach)

    def move(self, name: str, value: float) -> None:
        """Move a joint to a value; other motors stay where they are if they can, passive joints follow.

        Raises
        ------
        AssemblyError
            Where the loops do not close there, within the limits; the machine stays as it is.
        """
        if name not in self._index:
            raise InputError(_check.unknown(name, self.names, "joint"))
        held = {other: self.value(other) for other in self.driven if other != name}
        first = {name: _check.number(value, f"the value of {name!r}")}
        for fixed in (held | first, first) if held and name in self.driven else (first,):
            try:
                self.q = self.plant.assemble(guess=self.q, **fixed)
                return
            except AssemblyError:
                if fixed is first:
                    raise

    def drag(self, body: str, at: ArrayLike, target: ArrayLike) -> float:
        """Move a point of a body towards a target as far as loops and limits let it, with the least change.

        Each step is a damped least-squares step in the directions that the loops leave, closed again; it is kept only
        where it comes nearer (Levenberg and Marquardt). Coordinates at a limit stay there while a step pushes outward.

        Parameters
        ----------
        body : str
        at : array_like, shape (3,)
            Point in the axes of the body, m.
        target : array_like, shape (3,)
            In the axes of the ground, m. Planar machines follow within their plane.

        Returns
        -------
        float
            Distance that remains, m.
        """
        plant, target = self.plant, _check.point(target, "the target")
        task = PointTask(plant, body, _check.point(at, "the point"))
        size, scale = plant.size, plant.displacement_scale
        terms = plant.terms(self.q, np.zeros(plant.nv))
        miss = target - task.value(terms)
        for _ in range(_DRAG_STEPS):
            J = task.jacobian(terms) * scale / size
            short = min(1.0, _FARTHEST * size / max(float(np.linalg.norm(miss)), 1e-300))
            rows = terms.row_scale[:, None] * terms.A * scale
            loops = np.linalg.svd(rows)[2][terms.rank :].T if len(rows) else np.eye(plant.nv)  # what they leave
            step, held = np.zeros(plant.nv), list[int]()
            for _ in range(len(plant.paired) + 1):  # each pass holds one more coordinate, or is the last
                free = loops @ null_space(loops[held], rcond=_FIXED) if held else loops
                JN = J @ free
                step = scale * (free @ (JN.T @ np.linalg.solve(JN @ JN.T + _DAMPING * np.eye(3), short * miss / size)))
                moved = _FIXED * np.abs(step / scale).max()  # less is rounding, as of what the others fix
                outward = [
                    k for i, k in plant.paired if k not in held and self._pushes_outward(i, step[k], moved * scale[k])
                ]
                if not outward:
                    break
                held.append(outward[0])
            inside = np.clip(self.q, *plant.limits.T)
            still = {plant.position_names[i]: float(inside[i]) for i, k in plant.paired if k in held}
            before = float(np.linalg.norm(miss))
            nearer = self._nearer(task, target, step * self._share(step, held), still, before)
            if nearer is None:
                break
            self.q, terms, miss = nearer
            if float(np.linalg.norm(miss)) > before - _DRAGGED * size:
                break
        return float(np.linalg.norm(miss))

    def _pushes_outward(self, i: int, change: float, least: float) -> bool:
        """Whether a change of a coordinate, of `least` at least, leads out of its range, at whose end it nearly is."""
        low, high = self.plant.limits[i]
        near = _NEAR_LIMIT * self.plant.position_scale[i]
        return bool((change < -least and self.q[i] <= low + near) or (change > least and self.q[i] >= high - near))

    def _share(self, step: Array, held: Sequence[int]) -> float:
        """Share of a step at which the first coordinate that is not held comes to its limit, or 1."""
        share = 1.0
        for i, k in ((i, k) for i, k in self.plant.paired if k not in held):
            low, high = self.plant.limits[i]
            room = high - self.q[i] if step[k] > 0.0 else self.q[i] - low
            if abs(step[k]) > room >= 0.0:
                share = min(share, room / abs(step[k]))
        return share

    def _nearer(
        self, task: PointTask, target: Array, step: Array, still: Mapping[str, float], here: float
    ) -> tuple[Array, Terms, Array] | None:
        """Closed configuration, terms and miss after the step, or a half, a quarter, ...; None if none misses less."""
        plant = self.plant
        low, high = plant.limits.T - np.outer([1.0, -1.0], _AT_LIMIT * plant.position_scale)
        for part in 0.5 ** np.arange(_HALVED):
            try:
                q = plant.integrate(self.q, part * step)
                q = np.asarray(plant.assemble(guess=q, **still) if still else plant.close(q))
                terms = plant.terms(q, np.zeros(plant.nv))
            except (CmbError, ValueError):  # the loops do not close there
                continue
            miss = target - task.value(terms)
            if np.linalg.norm(miss) < here and np.all((q >= low) & (q <= high)):
                return q, terms, miss
        return None

    def at_limits(self) -> list[str]:
        """Texts of the joints at the ends of their ranges."""
        found = []
        for name, i in self._index.items():
            low, high = self.plant.limits[i]
            near = _AT_LIMIT * (high - low) if np.isfinite(high - low) else 0.0
            for end, which in ((low, "lower"), (high, "upper")):
                if np.isfinite(end) and abs(self.q[i] - end) <= near:
                    found.append(f"{name} at its {which} limit, {end:.4g} {self.plant.position_units[i]}")
        return found


class Live:
    """Page with the machine and sliders, served as long as the program runs.

    Attributes
    ----------
    url : str
        Address to open in a browser.
    hands : Hands
        The machine: ``hands.q`` is its configuration now.
    """

    def __init__(self, server: Any, hands: Hands) -> None:
        self._server, self.hands = server, hands
        self.url = f"http://{server.get_host()}:{server.get_port()}"
        self._seen, self._lock = scene(hands.plant), Lock()
        self._frames: list[Any] = []
        self._lines: list[Any] = []
        self._draw()
        self._sliders = {name: self._slider(name) for name in hands.driven}
        with server.gui.add_folder("other joints", expand_by_default=not hands.driven):
            self._sliders |= {name: self._slider(name) for name in hands.names if name not in hands.driven}
        self._told = server.gui.add_markdown("")
        self._show()

    def _draw(self) -> None:
        seen, world = self._seen, self._server.scene
        up = -seen.down if np.any(seen.down) else np.eye(3)[seen.plane[1] if seen.plane else 2]
        world.set_up_direction(tuple(up))
        points = seen.points(self.hands.q)
        low, high = points.min(axis=0), points.max(axis=0)
        right = np.eye(3)[seen.plane[0] if seen.plane else int(abs(up[0]) > 0.9)]  # on the screen
        towards = np.cross(right, up) + (0.0 if seen.plane else 0.6 * right + 0.45 * up)
        towards /= np.linalg.norm(towards)
        camera = self._server.initial_camera
        camera.look_at = 0.5 * (low + high)
        camera.position = 0.5 * (low + high) + _AWAY * np.linalg.norm(high - low) * towards
        camera.near, camera.far = 1e-3 * seen.size, 1e3 * seen.size
        index = {name: i for i, name in enumerate(seen.bodies)}
        self._frames = [world.add_frame(f"/bodies/{i}", show_axes=False) for i in range(len(seen.bodies))]
        for k, solid in enumerate(seen.solids):
            color = tuple(int(solid.color[i : i + 2], 16) for i in (1, 3, 5))
            shown = world.add_mesh_simple(
                f"/bodies/{index[solid.body]}/{k}", np.asarray(solid.vertices, dtype=np.float32),
                np.asarray(solid.faces, dtype=np.uint32), color=color, flat_shading=not solid.smooth, side="double",
            )  # fmt: skip
            if solid.body != GROUND and hasattr(shown, "on_drag"):  # viser 1.1 has it
                shown.on_drag("left")(self._dragging(solid.body, index[solid.body]))

    def _dragging(self, body: str, index: int) -> Callable[[Any], Awaitable[None]]:
        """What happens when a body is dragged; it is awaited, so that the events come in their order."""
        held = np.zeros(3)  # the point that the cursor took, in the axes of the body

        async def dragged(event: Any) -> None:
            with self._lock:
                if event.phase == "start":
                    p, R = self._seen.poses(self.hands.q)
                    held[:] = R[index].T @ (np.array(event.start_position) - p[index])
                elif event.phase == "update":
                    self.drag(body, held, event.end_position)

        return dragged

    def _slider(self, name: str) -> Any:
        low, high = self.hands.range(name)
        unit = self.hands.unit(name)
        start = float(np.clip(self.hands.value(name), low, high))
        step = float(f"{(high - low) / _STEPS:.0e}")  # a number that can be read
        label = f"{name} ({unit})" if unit not in ("", "1") else name
        slider = self._server.gui.add_slider(label, low, high, step, start)
        slider.on_update(lambda event: self._moved(name, event))
        return slider

    def _moved(self, name: str, event: Any) -> None:
        if event.client_id is not None:  # a hand, and not this program
            with self._lock:
                self.move(name, self._sliders[name].value)

    def move(self, name: str, value: float) -> bool:
        """Move a joint as its slider does; False where the loops do not close there, which the page then shows."""
        try:
            self.hands.move(name, value)
        except AssemblyError:
            self._show(f"The loops do not close at {name} = {value:.4g} {self.hands.unit(name)}.")
            return False
        self._show()
        return True

    def drag(self, body: str, at: ArrayLike, target: ArrayLike) -> float:
        """Drag a point of a body towards a target; the page says by how much it stays behind. See `Hands.drag`."""
        left = self.hands.drag(body, at, target)
        self._show(f"{body} does not come nearer than {left:.3g} m." if left > _TOLD * self.hands.plant.size else "")
        return left

    def _show(self, problem: str = "") -> None:
        hands, seen = self.hands, self._seen
        p, R = seen.poses(hands.q)
        turned = np.roll(Rotation.from_matrix(R).as_quat(), 1, axis=1)  # w first
        with self._server.atomic():
            for frame, position, wxyz in zip(self._frames, p, turned, strict=True):
                frame.position, frame.wxyz = position, wxyz
            for line in self._lines:
                line.remove()
            self._lines = list(self._stretched())
            for name, slider in self._sliders.items():
                slider.value = float(np.clip(hands.value(name), *hands.range(name)))
            notes = [problem] if problem else [f"Loops open by {hands.plant.closure_error(hands.q):.1e} m."]
            self._told.content = "\n\n".join([*notes, *hands.at_limits()])

    def _stretched(self) -> Iterator[Any]:
        """Handles of rods and springs between bodies, and of lines of plants given by functions."""
        world = self._server.scene
        for k, (part, ends) in enumerate(zip(self._seen.stretched, self._seen.ends(self.hands.q), strict=True)):
            color = tuple(int(part.color[i : i + 2], 16) for i in (1, 3, 5))
            yield world.add_line_segments(f"/stretched/{k}", ends[None], color, thickness=2.0 * part.radius)
        for k, line in enumerate(self._seen.lines(self.hands.q)):
            pieces = np.stack([line[:-1], line[1:]], axis=1)
            yield world.add_line_segments(f"/lines/{k}", pieces, (0, 114, 178), thickness=0.4 * self._seen.width)

    def stop(self) -> None:
        """Stop the server."""
        with _quiet():
            self._server.stop()

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Live view of {self.hands.plant.name!r} at {self.url}; stop() ends it>"
