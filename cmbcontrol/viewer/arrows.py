"""Arrows of the forces and moments in a run: of constraints, joints, contacts, loads, motors, and weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..model.mechanism import Mechanism
from ..model.units import cut_joints
from .payload import Compact

if TYPE_CHECKING:
    from ..sim.result import Simulation

__all__ = ["NO_ARROWS", "arrows_of", "contacts_of"]

Array = NDArray[np.float64]

NO_ARROWS: dict[str, Any] = {"groups": [], "items": []}

# label, unit, colour, whether shown at first
_GROUPS = (
    ("constraint forces", "N", "#D55E00", True),
    ("contact forces", "N", "#009E73", True),
    ("loads", "N", "#CC79A7", True),
    ("motor forces", "N", "#0072B2", False),
    ("joint forces", "N", "#E69F00", False),
    ("weights", "N", "#6B6B6B", False),
    ("load moments", "N m", "#CC79A7", True),
    ("motor torques", "N m", "#0072B2", True),
    ("constraint moments", "N m", "#D55E00", False),
    ("joint moments", "N m", "#E69F00", False),
)
# quantiles over the time that set the scale: a usual force, and a part of the largest ones, where they last; a passage
# of a singular configuration, where forces are large for some milliseconds, does not count
_USUAL, _LARGE, _PART = 0.8, 0.98, 0.45
_FINE = 1e-3  # of that scale
_NOTHING = 1e-9  # of it: rounding


class _Arrows:
    """Collector of arrows by group."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.found: list[tuple[str, str, str, Any, Array, str]] = []

    def add(self, group: str, name: str, body: str, point: Any, values: Array, note: str = "") -> None:
        """Add an arrow at a point of a body (in its axes), with values (rows, 3) in the axes of the world."""
        self.found.append((group, name, body, point, np.broadcast_to(values, (self.rows, 3)), note))


def arrows_of(run: Simulation, bodies: tuple[str, ...], rotations: Array) -> dict[str, Any]:
    """Arrows of all forces and moments in a run whose samples are the pictures.

    Parameters
    ----------
    run : Simulation
        Run with its plant; a plant given by functions has no arrows.
    bodies : tuple of str
        As in `Scene`.
    rotations : ndarray, shape (rows, bodies, 3, 3)
        Rotations of the bodies.
    """
    plant = run.plant
    if not isinstance(plant, Mechanism):
        return NO_ARROWS
    made = _Arrows(run.data.sizes["time"])
    R = {name: rotations[:, i] for i, name in enumerate(bodies)}
    _reactions(made, run, plant)
    _loads(made, run, plant, R)
    _motors(made, run, plant, R)
    for body in plant.bodies:
        if body.mass > 0.0 and np.any(plant.gravity):
            made.add("weights", f"weight of {body.name}", body.name, body.com, body.mass * plant.gravity)
    return _drawn(made, bodies)


def _reactions(made: _Arrows, run: Simulation, plant: Mechanism) -> None:
    carried = run.reactions(axes="world")
    contacts = contacts_of(run)
    constraints = [loop for loop in plant.loops if loop.ends]
    active = {str(name): run.data["active"].values[:, k] for k, name in enumerate(run.data["loop"].values)}
    for k, part in enumerate((*plant.joints, *constraints)):
        of = "joint" if k < len(plant.joints) else ("contact" if part.name in contacts else "constraint")
        body, point = part.places[part.acts_at]
        holds = active.get(part.name, np.ones(made.rows, dtype=bool)) if of != "joint" else np.ones(made.rows, bool)
        shared = not carried["unique"].values[:, k].all()
        note = "shared with redundant constraints: the smallest forces that do it" if shared else ""
        for kind in ("force", "moment"):
            values = np.where(holds[:, None], carried[kind].values[:, k], 0.0)
            group = f"{'constraint' if of == 'contact' and kind == 'moment' else of} {kind}s"
            made.add(group, f"{part.name}, {kind}", body, point, values, note)


def contacts_of(run: Simulation) -> set[str]:
    """Names of the constraints that come and go in a run: contacts, grasps, locks."""
    names = [str(name) for name in run.data["loop"].values]
    active = run.data["active"].values.astype(bool)
    found = {name for k, name in enumerate(names) if not active[:, k].all()}
    switches = ("impact ", "engaged ", "released ")
    kinds = [str(kind) for kind in run.data["event_kind"].values]
    return found | {kind.split(" ", 1)[1] for kind in kinds if kind.startswith(switches)}


def _loads(made: _Arrows, run: Simulation, plant: Mechanism, R: dict[str, Array]) -> None:
    acting = "loads" in run.data and run.data.sizes["load_component"] == 6 * len(plant.loads)
    for i, load in enumerate(plant.loads):
        values = run.data["loads"].values[:, 6 * i : 6 * i + 6] if acting else np.tile(load.value, (made.rows, 1))
        for kind, part in (("loads", values[:, :3]), ("load moments", values[:, 3:])):
            if load.axes == "frame":
                part = np.einsum("nij,nj->ni", R[load.body] @ load.frame.R, part)
            made.add(kind, load.name, load.body, load.frame.p, part)


def _motors(made: _Arrows, run: Simulation, plant: Mechanism, R: dict[str, Array]) -> None:
    joints = {joint.name: joint for joint in (*plant.joints, *cut_joints(plant).values())}
    efforts = run.data["u"].values
    for k, motor in enumerate(plant.actuators):
        effort = motor.gear * efforts[:, k, None]
        if motor.bodies is not None:
            first, second = motor.bodies
            com = next((b.com for b in plant.bodies if b.name == second), np.zeros(3))
            made.add("motor torques", motor.name, second, com, effort * (R[first] @ np.asarray(motor.axis)))
        elif motor.joint in joints:
            joint = joints[motor.joint]
            efforts_of = zip(("torques", "forces"), joint.effort_axes() or (), joint.places, strict=False)
            for kind, axis, (body, point) in efforts_of:
                if np.any(axis):
                    values = effort * (R[joint.parent] @ (joint.frame.R @ axis))
                    made.add(f"motor {kind}", motor.name, body, point, values)


def _drawn(made: _Arrows, bodies: tuple[str, ...]) -> dict[str, Any]:
    """Arrows and their groups as data for a page, without empty groups."""
    unit_of = {label: unit for label, unit, _, _ in _GROUPS}
    size = {}
    for group, name, *_, values, _ in made.found:
        norm = np.linalg.norm(values, axis=1)
        norm = norm[np.isfinite(norm)]
        usual, large = np.quantile(norm, (_USUAL, _LARGE)) if norm.size else (0.0, 0.0)
        size[group, name] = max(float(usual), _PART * float(large))
    largest = {label: max((x for (group, _), x in size.items() if group == label), default=0.0) for label in unit_of}
    scale = {unit: max(x for label, x in largest.items() if unit_of[label] == unit) for unit in ("N", "N m")}
    index = {name: i for i, name in enumerate(bodies)}
    groups: list[dict[str, Any]] = []
    items: list[dict[str, Any]] = []
    for label, unit, color, on in _GROUPS:
        mine = [one for one in made.found if one[0] == label]
        mine = [one for one in mine if np.nanmax(np.abs(one[4]), initial=0.0) > _NOTHING * scale[unit]]
        if not mine:
            continue
        groups.append({"label": label, "unit": unit, "color": color, "on": on, "size": largest[label]})
        for _, name, body, point, values, note in mine:
            items.append(
                {
                    "group": len(groups) - 1,
                    "name": name,
                    "unit": unit,
                    "body": index[body],
                    "point": np.asarray(point, dtype=float).tolist(),
                    "note": note,
                    "values": Compact(np.nan_to_num(values), _FINE * scale[unit]),
                }
            )
    return {"groups": groups, "items": items}
