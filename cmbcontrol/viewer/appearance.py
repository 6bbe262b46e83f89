"""Machine and motion in the form that a page draws: solids once, then a pose of each body for each picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ..scene import Scene, Spot
from .payload import Compact

__all__ = ["Poses", "look_of", "motion_of", "poses_of", "quaternions", "traces_of"]

Array = NDArray[np.float64]
Poses = tuple[Array, Array]  # origins (rows, bodies, 3), rotations (rows, bodies, 3, 3)

_LINE = "#0072B2"
_FLAT = 1e-6  # part of gravity in the plane of a machine: one that lies flat has none
_FINE = 2e-5  # of the machine: a fiftieth of a pixel of a picture that shows all of it


def look_of(seen: Scene) -> dict[str, Any]:
    """Bodies, solids and stretched parts as data for a page, in the units and axes of `Scene`."""
    index = {name: i for i, name in enumerate(seen.bodies)}
    up = _up(seen)
    return {
        "name": seen.name,
        "plane": None if seen.plane is None else list(seen.plane),
        "up": up.tolist(),
        "size": float(seen.size),
        "width": float(seen.width),
        "bodies": list(seen.bodies),
        "solids": [
            {
                "body": index[solid.body],
                "kind": solid.kind,
                "name": solid.name,
                "color": solid.color,
                "smooth": bool(solid.smooth),
                "vertices": np.asarray(solid.vertices, dtype=np.float32),
                "faces": np.asarray(solid.faces, dtype=np.uint16 if len(solid.vertices) < 65536 else np.uint32).ravel(),
            }
            for solid in seen.solids
        ],
        "stretched": [
            {"kind": part.kind, "name": part.name, "radius": float(part.radius), "color": part.color}
            for part in seen.stretched
        ],
    }


def _up(seen: Scene) -> Array:
    """Direction that a page shows upwards: against gravity; of a planar machine against its part in the plane."""
    up = -np.asarray(seen.down, dtype=float)
    if seen.plane is None:
        return up if np.any(up) else np.eye(3)[2]
    up[({0, 1, 2} - set(seen.plane)).pop()] = 0.0
    size = float(np.linalg.norm(up))
    return up / size if size > _FLAT else np.eye(3)[seen.plane[1]]


def poses_of(seen: Scene, configurations: Sequence[Array]) -> Poses:
    """Poses of all bodies at each configuration."""
    origins, rotations = zip(*(seen.poses(q) for q in configurations), strict=True)
    return np.array(origins), np.array(rotations)


def motion_of(
    seen: Scene, times: Array, configurations: Sequence[Array], poses: Poses, *, repeats: bool = False
) -> dict[str, Any]:
    """Motion as data for a page: poses of all bodies (rows, bodies, ...), ends of stretched parts, points of lines.

    Parameters
    ----------
    seen : Scene
    times : ndarray, shape (rows,)
        s.
    configurations : sequence of ndarray, shape (nq,)
        One for each time.
    poses : Poses
        Poses at these configurations.
    repeats : bool
        Whether the motion ends where it begins, as a mode does.
    """
    within = _FINE * seen.size
    ends = np.array([seen.ends(q) for q in configurations]).reshape(len(times), -1, 2, 3)
    lines = _lines([seen.lines(q) for q in configurations])
    return {
        "times": np.asarray(times, dtype=np.float64),
        "repeats": repeats,
        "positions": Compact(poses[0], within),
        "rotations": Compact(quaternions(poses[1]), _FINE),
        "ends": Compact(ends, within),
        "lines": [{"name": seen.name, "color": _LINE, "points": Compact(x, within)} for x in lines],
    }


def quaternions(R: Array) -> Array:
    """Quaternions x, y, z, w (rows, bodies, 4) of rotation matrices (rows, bodies, 3, 3), without jumps of sign.

    Examples
    --------
    >>> quaternions(np.eye(3)[None, None])[0, 0] + 0.0
    array([0., 0., 0., 1.])
    """
    found = Rotation.from_matrix(R.reshape(-1, 3, 3)).as_quat().reshape(*R.shape[:2], 4)
    turns = np.sum(found[1:] * found[:-1], axis=2) < 0.0
    signs = np.where(np.cumsum(turns, axis=0) % 2, -1.0, 1.0)
    found[1:] *= signs[:, :, None]
    return found


def _lines(rows: list[list[Array]]) -> list[Array]:
    """Points of each line over all rows (rows, points, 3); a line with fewer points in a row repeats its last one."""
    count = max((len(row) for row in rows), default=0)
    found = []
    for k in range(count):
        most = max(len(row[k]) for row in rows if len(row) > k)
        line = np.full((len(rows), most, 3), np.nan)
        for i, row in enumerate(rows):
            if len(row) > k and len(row[k]):
                line[i, : len(row[k])] = row[k]
                line[i, len(row[k]) :] = row[k][-1]
        found.append(line)
    return found


def traces_of(seen: Scene, poses: Poses, color: str, trace: Any = None) -> list[dict[str, Any]]:
    """Points whose paths are drawn: where the only loop closes, else the centre of mass with the longest path.

    Parameters
    ----------
    seen : Scene
    poses : Poses
        Poses of the motion.
    color : str
    trace : sequence of (str, array_like), optional
        Bodies and points in their axes, m, in place of the default.
    """
    index = {name: i for i, name in enumerate(seen.bodies)}
    if trace is None:
        found = [(spot.name, spot.body, spot.point) for spot in _tool(seen, poses, index)]
    else:
        found = [(body, body, point) for body, point in trace]
    return [
        {"name": name, "body": index[body], "point": np.asarray(point, dtype=float).tolist(), "color": color}
        for name, body, point in found
    ]


def _tool(seen: Scene, poses: Poses, index: dict[str, int]) -> list[Spot]:
    """Point of the machine that is of most interest: its only closing point, or the centre with the longest path."""
    origins, rotations = poses

    def travel(spot: Spot) -> float:
        path = origins[:, index[spot.body]] + rotations[:, index[spot.body]] @ spot.point
        return float(np.linalg.norm(np.ptp(path, axis=0)))

    loops = [spot for spot in seen.spots if spot.kind == "loop"]
    spots = loops if len(loops) == 1 and index[loops[0].body] else [s for s in seen.spots if s.kind == "centre"]
    return sorted(spots, key=travel)[-1:]
