"""Reactions: forces and moments that joints and constraints carry, for the sizing of pins and bearings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputTypeError
from ..kernels import reactions as kernels
from ..model.accelerations import solved
from ..model.elements import Frame
from ..model.evaluation import require_motions_followed
from ..model.mechanism import Mechanism
from ..model.terms import RANK_TOLERANCE
from ..model.units import cut_joints

if TYPE_CHECKING:
    import xarray

__all__ = ["acting_in", "reactions", "reactions_along"]

Array = NDArray[np.float64]

_SHARED = 1e-9  # of the largest change that a force within the constraints makes: less is rounding


def reactions(
    plant: Mechanism,
    q: ArrayLike,
    v: ArrayLike | None = None,
    u: ArrayLike | None = None,
    *,
    axes: str = "joint",
) -> xarray.Dataset:
    """Force and moment that each joint and each constraint carries at a state under motor efforts.

    For joints of the tree and cut joints it is the action of the parent on the child, at the origin of the joint's
    frame on the parent; for other constraints that of body a on body b, at the point on b (for a `Weld`, at frame a).
    Motors, springs and friction of a joint are part of it. Couplings act on coordinates, and are left out.

    Parameters
    ----------
    plant : Mechanism
    q, v : array_like, shape (nq,) and (nv,)
        A state; v defaults to rest.
    u : array_like, shape (nu,), optional
        Motor efforts, N or N m; defaults to none.
    axes : {"joint", "world"}
        Axes of the components: those of the joint's frame on the parent (of constraints, those of body a or its frame),
        or of the world.

    Returns
    -------
    xarray.Dataset
        ``force`` (joint, axis), N, and ``moment`` (joint, axis), N m; ``unique`` (joint): False where redundant
        constraints share a load, so that the motion does not determine the reaction. It is then that of the smallest
        multipliers.

    Raises
    ------
    TypeError
        For plants that are given by functions.

    Examples
    --------
    >>> from cmbcontrol import plants, trim
    >>> plant = plants.five_bar()
    >>> q = plant.assemble(left=2.1, right=1.0)
    >>> held = reactions(plant, q, u=trim(plant, q).u)
    >>> float(held.force.sel(joint=["left", "right"], axis="y").sum().round(6))  # the weight of 10 kg
    98.1
    """
    _check.plant(plant)
    _require(plant)
    require_motions_followed(plant, q, v)
    terms = plant.terms(q, np.zeros(plant.nv) if v is None else v)
    u = np.zeros(plant.nu) if u is None else _check.vector(u, plant.nu, "u", plant.actuator_names)
    g = terms.B @ u - terms.h
    found = solved(terms, g)
    a, lam = found.vdot, terms.A_pinv.T @ (g - terms.M @ found.vdot - found.friction)
    state = {"q": terms.q, "v": terms.v, "a": a, "lam": lam, "u": u}
    along = reactions_along(plant, {name: x[None] for name, x in state.items()}, axes=axes)
    return along.isel(time=0, drop=True)


def acting_in(plant: Mechanism, name: str) -> tuple[list[int], list[int]]:
    """Indices of the force elements and actuators between bodies that belong to a joint or a constraint.

    They are part of its reaction.

    They are friction in proportion to its load, and motors of a cut joint. Those on coordinates of the tree are part of
    the joint's reaction anyway.
    """
    elements = [k for k, f in enumerate(plant.forces) if f.loaded_by == name]
    cut = name in cut_joints(plant)
    return elements, [k for k, x in enumerate(plant.actuators) if cut and x.bodies is None and x.joint == name]


def _require(plant: object) -> None:
    if not isinstance(plant, Mechanism):
        raise InputTypeError(f"reactions are those of joints, and {_check.shown(plant)} is no Mechanism")


def reactions_along(plant: Mechanism, states: Mapping[str, Array], *, axes: str = "joint") -> xarray.Dataset:
    """Force and moment of each joint and constraint at several states with known accelerations and multipliers.

    `states` has ``q``, ``v``, ``a``, ``lam``, ``u``, one row each, and optionally ``loads`` (n, 6 loads) that act in
    place of those of the plant, ``active`` (n, rows) of rows that hold, and ``time``, s.
    """
    import xarray

    _require(plant)
    axes = _check.option(axes, ("joint", "world"), "axes")
    places, loads, active = _Places(plant), states.get("loads"), states.get("active")
    n = len(states["q"])
    force, moment, unique = (np.zeros((n, len(places.names), k)) for k in (3, 3, 1))
    for i in range(n):
        machine = plant if loads is None else plant.with_loads(_by_name(plant, loads[i]))
        state = (np.ascontiguousarray(states[name][i]) for name in ("q", "v", "a", "lam", "u"))
        q = states["q"][i]
        frames = places.frames(q)
        force[i], moment[i] = places.at(frames, axes, *kernels.carried_wrenches(machine.arrays, *state))
        unique[i, :, 0] = _unique(places, q, frames, None if active is None else active[i], axes)
    coords = {"joint": np.array(places.names, dtype=str), "axis": np.array(list("xyz"))}
    if "time" in states:
        coords["time"] = ("time", states["time"], {"units": "s"})  # type: ignore[assignment]
    dims = ("time", "joint", "axis")
    where = "at the joint's frame on the parent, on the child"
    data = {
        "force": (dims, force, {"units": "N", "long_name": f"reaction force {where}"}),
        "moment": (dims, moment, {"units": "N m", "long_name": f"reaction moment {where}"}),
        "unique": (dims[:2], unique[:, :, 0] > 0.0, {"long_name": "whether the motion determines the reaction"}),
    }
    return xarray.Dataset(data, coords, {"axes": axes, "plant": plant.name})


def _by_name(plant: Mechanism, values: Array) -> dict[str, Array]:
    return {load.name: values[6 * k : 6 * k + 6] for k, load in enumerate(plant.loads)}


class _Places:
    """Joints and constraints of a machine, and the places and axes in which their reactions are given."""

    def __init__(self, plant: Mechanism) -> None:
        self.plant = plant
        self.constraints = [loop for loop in plant.loops if loop.ends]
        self.names = [part.name for part in (*plant.joints, *self.constraints)]
        self.acting = {name: acting_in(plant, name) for name in self.names}
        self.located = [(part.ends, part.frames, part.acts_at) for part in (*plant.joints, *self.constraints)]

    def frames(self, q: Array) -> list[Frame]:
        """Frames of these places at a configuration."""
        found = []
        for (a, b), (fa, fb), acts_at in self.located:
            first = self.plant.pose(q, a)
            found.append(first @ fa if acts_at == 0 else Frame(self.plant.point(q, b, fb.p), first.R @ fa.R))
        return found

    def at(
        self, frames: list[Frame], axes: str, of_links: Array, of_rows: Array, *of_acting: Array
    ) -> tuple[Array, Array]:
        """Forces and moments (joints, 3) at these frames, from wrenches about the origin of the world."""
        plant = self.plant

        def own(name: str) -> Array:
            parts = (g[chosen].sum(axis=0) for g, chosen in zip(of_acting, self.acting[name], strict=False))
            return sum(parts, np.zeros(6))

        wrenches = [of_links[plant._compiled.link_of[joint.child]] + own(joint.name) for joint in plant.joints]
        wrenches += [of_rows[plant.row_slices[loop.name]].sum(axis=0) + own(loop.name) for loop in self.constraints]
        found = [_moved(g, frame, axes) for g, frame in zip(wrenches, frames, strict=True)]
        forces, moments = zip(*found, strict=True) if found else (np.zeros((0, 3)), np.zeros((0, 3)))
        return np.array(forces), np.array(moments)


def _moved(g: Array, frame: Frame, axes: str) -> tuple[Array, Array]:
    """Force and moment at a frame, from a wrench (moment, force) about the origin of the world."""
    force, moment = g[3:], g[:3] - np.cross(frame.p, g[3:])
    return (force, moment) if axes == "world" else (frame.R.T @ force, frame.R.T @ moment)


def _unique(
    places: _Places, q: Array, frames: list[Frame], active: NDArray[np.bool_] | None, axes: str
) -> NDArray[np.bool_]:
    """Whether each reaction is the same under any forces within redundant constraints, which move nothing."""
    plant, count = places.plant, len(places.names)
    terms = plant.terms(q, np.zeros(plant.nv))
    rows = np.arange(len(terms.row_scale)) if active is None else np.flatnonzero(active)
    if terms.rank == rows.size == len(terms.row_scale):
        return np.ones(count, dtype=bool)
    U, s, _ = np.linalg.svd(terms.levers[rows])
    rank = np.count_nonzero(s > RANK_TOLERANCE * s.max(initial=0.0))
    change = np.zeros(count)
    for within in U[:, rank:].T:
        lam = np.zeros(len(terms.row_scale))
        lam[rows] = within * terms.row_scale[rows]
        force, moment = places.at(frames, axes, *kernels.row_wrenches(plant.arrays, np.ascontiguousarray(q), lam))
        change = np.maximum(change, np.linalg.norm(force, axis=1) + np.linalg.norm(moment, axis=1) / plant.size)
    return change <= _SHARED * change.max(initial=1e-300)
