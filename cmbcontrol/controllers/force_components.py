"""Components of constraint forces by name, as linear functions of F = A' lam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import ActuationError, InputError
from ..kernels import layout
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import Terms

__all__ = ["ForceComponents"]

Array = NDArray[np.float64]

_WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")


class _OnBody(NamedTuple):
    """A component of the force or moment that a loop exerts on a body."""

    component: int
    rows: slice  # of the loop
    place: int  # the row at whose point on body b moments are taken
    link: int  # that carries the axes, -1 for the ground
    axis: Array  # (3,) in the axes of the link, with the sign of the body
    moment: bool


class ForceComponents:
    """Components y = C F of the constraint force, chosen by name.

    Parameters
    ----------
    plant : Plant
    names : sequence of str, optional
        - the name of a row: its multiplier lam, as in F = A' lam;
        - the name of a loop: the multipliers of all its rows;
        - ``<loop>_fx``, ``_fy``, ``_fz``, ``_mx``, ``_my``, ``_mz``: force (N) and moment (N m, about the closure's
          point on body b) that the closure exerts on one of its bodies.

        By default, all of F, with the names of the velocity coordinates.
    frame : str
        Axes of forces and moments: ``"loop"``, those of the closure on its body a, ``"ground"``, or of any body.
    on : {"b", "a"}
        Body on which the closure exerts them: b (of a cut joint, the child), or a, which feels the opposite.
    """

    def __init__(self, plant: Plant, names: Sequence[str] | None = None, frame: str = "loop", on: str = "b") -> None:
        self.plant, self.frame, self.on = plant, frame, _check.one_of(on, ("b", "a"), "body of a loop: on =")
        if not plant.row_names:
            raise InputError(f"plant {plant.name!r} has no loops, and so no constraint force to control")
        self.whole = names is None
        self._bodies: list[_OnBody] = []  # components that are forces and moments on a body
        self._units = ["N m" if unit == "rad/s" else "N" for unit in plant.velocity_units]
        if names is None:
            self.names = plant.velocity_names
            self._S = np.zeros((0, len(plant.row_names)))
            self.units, self._scale = tuple(self._units), plant.unit_lengths
        else:
            self._choose((names,) if isinstance(names, str) else _check.sequence(names, "components", "names"))
        self.newtons = 1.0 / np.asarray(self._scale, dtype=np.float64)
        if not self._bodies and (frame, on) != ("loop", "b"):
            what = "the whole F = A' lam" if self.whole else "a multiplier"
            raise InputError(
                f"frame={frame!r} and on={on!r} go with forces on a body, such as '{next(iter(plant.row_slices))}_fx'; "
                f"{what} has no axes and no body to choose"
            )

    def _choose(self, names: Sequence[str]) -> None:
        """Find the rows and the forces on bodies that the names stand for; refuse unknown names."""
        plant, chosen, units, scale = self.plant, [], [], []
        S: list[Array] = []
        for name in names:
            loop, _, axis = str(name).rpartition("_")
            if name in plant.row_names or name in plant.row_slices:
                part = plant.row_slices.get(name)
                rows = [plant.row_names.index(name)] if part is None else range(part.start, part.stop)
                for i in rows:
                    chosen.append(plant.row_names[i])
                    units.append("N m" if plant.row_units[i] == "rad" else "N")
                    scale.append(float(plant.row_scale[i]))
                    S.append(np.eye(len(plant.row_names))[i])
            elif loop in plant.row_slices and axis in _WRENCH:
                k = _WRENCH.index(axis)
                self._bodies.append(self._on_body(len(chosen), loop, k))
                chosen.append(name)
                units.append("N" if k < 3 else "N m")
                scale.append(1.0 if k < 3 else plant.size)
                S.append(np.zeros(len(plant.row_names)))
            else:
                available = [*plant.row_names, *plant.row_slices]
                available += [f"{loop}_{axis}" for loop in plant.row_slices for axis in _WRENCH]
                raise InputError(_check.unknown(name, available, "component of the constraint force"))
        if not chosen:
            raise InputError("components is empty; name rows, loops or forces, or leave it out to control all of F")
        for name in chosen:
            if chosen.count(name) > 1:
                raise InputError(f"the component {name!r} is given twice")
        self.names, self.units, self._scale, self._S = tuple(chosen), tuple(units), scale, np.array(S)

    def _on_body(self, component: int, loop: str, k: int) -> _OnBody:
        """Component k of the force and moment that a loop exerts on a body; refuses loops without bodies."""
        plant = self.plant
        if not isinstance(plant, Mechanism):
            raise InputError(
                f"plant {plant.name!r} is given by functions: its loops have rows, but no bodies and no axes. "
                f"Name rows: {', '.join(plant.row_names)}"
            )
        part = next(part for part in plant.loops if part.name == loop)
        if not part.ends:
            raise InputError(
                f"{loop!r} is a coupling of joint coordinates: it acts on joints, not at a point of a body, and has no "
                f"axes. Name its row {loop!r} to control its multiplier"
            )
        rows = plant.row_slices[loop]
        place = rows.start + int(np.flatnonzero(plant.arrays.rows["kind"][rows] != layout.ROW_ALIGN)[0])
        body, axes = (self.frame, np.eye(3)) if self.frame != "loop" else (part.ends[0], part.axes)
        link = plant.link_index(body)
        if link >= 0:  # the axes as seen from the kernel's link
            q = plant.neutral()
            axes = plant.link_poses(q)[0][link].T @ plant.pose(q, body).R @ axes
        sign = 1.0 if self.on == "a" else -1.0
        return _OnBody(component, rows, place, link, sign * axes[:, k % 3], k >= 3)

    def __len__(self) -> int:
        return len(self.names)

    def matrix(self, terms: Terms) -> Array:
        """Matrix C (k, nv) of the components y = C F at a state.

        Raises
        ------
        ActuationError
            Where the motion does not determine a component, since redundant rows share it.
        """
        if self.whole:
            return np.eye(self.plant.nv)
        S = self.combinations(terms.q) if self._bodies else self._S
        S = terms.in_present_rows(S, self.plant.row_names)
        if terms.rank < len(terms.A):
            self._require_determined(S, terms)
        return terms.force_rows(S)

    def combinations(self, q: Array) -> Array:
        """Matrix S (k, rows) of the components y = S lam at a configuration."""
        S, R = self._S.copy(), self.plant.link_poses(q)[0]
        wrenches, places = self.plant.row_wrenches(q)
        for part in self._bodies:
            axis = R[part.link] @ part.axis if part.link >= 0 else part.axis
            wrench = wrenches[part.rows]  # [moment; force] at the world origin, of each row
            if part.moment:  # axis . (moment - p x force)
                S[part.component, part.rows] = wrench[:, :3] @ axis - wrench[:, 3:] @ _cross(axis, places[part.place])
            else:
                S[part.component, part.rows] = wrench[:, 3:] @ axis
        return S

    def _require_determined(self, S: Array, terms: Terms) -> None:
        sure = terms.determines(S)
        if sure.all():
            return
        unknown = ", ".join(repr(n) for n, unique in zip(self.names, sure, strict=True) if not unique)
        rows = terms.determines(np.eye(len(terms.A)))
        unique_rows = ", ".join(n for n, ok in zip(terms.row_names, rows, strict=True) if ok) or "none"
        raise ActuationError(
            f"the motion does not determine {unknown}: redundant rows share that force "
            f"(q = {np.round(terms.q, 6).tolist()}). Rows that it determines: {unique_rows}. Choose among these, or "
            "leave the components out to control all of F = A' lam, which is unique."
        )


def _cross(x: Array, y: Array) -> Array:
    """Cross product of x and y; numpy's own takes thirty times as long for two vectors."""
    return np.array([x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]])
