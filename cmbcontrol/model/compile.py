"""Compilation of the parts of a machine to the structured arrays of the kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._jit import JIT_ENABLED
from .._tolerance import metres as metres_of
from ..errors import ModelError
from ..kernels import layout
from ..kernels.tapes import OPERATIONS
from .elements import (
    GROUND,
    Actuator,
    Body,
    ForceElement,
    Frame,
    Joint,
    Load,
    LoopPart,
    MachinePart,
    Row,
    RowOfFormula,
    Spring,
)
from .formula import formula_of, row_formula_of

__all__ = ["Compiled", "compile_parts"]

_NV = {
    layout.FIXED: (0, 0),
    layout.REVOLUTE: (1, 1),
    layout.PRISMATIC: (1, 1),
    layout.HELICAL: (1, 1),
    layout.CYLINDRICAL: (2, 2),
    layout.PLANAR: (3, 3),
    layout.SPHERICAL: (4, 3),
    layout.FREE: (7, 6),
}
_NOT_COMPUTED_WITH = ("limits", "effort")  # which may be infinite


@dataclass(frozen=True, eq=False)
class Compiled:
    """Kernel arrays of a machine, and the maps between them and its parts."""

    arrays: layout.Model
    link_of: dict[str, int]  # body -> link, -1 is the ground
    frame_of: dict[str, Frame]  # body -> the link's frame in the body's axes
    position_slice: dict[str, slice]  # joint -> coordinates
    velocity_slice: dict[str, slice]
    row_names: tuple[str, ...]
    row_units: tuple[str, ...]
    row_slice: dict[str, slice]  # constraint -> rows
    size: float  # characteristic length, metres


def _order(bodies: Sequence[Body], joints: Sequence[Joint]) -> list[Joint]:
    """Joints from the ground outwards; raises an error for bodies with no joint, with two, or not connected."""
    placed = [b.name for b in bodies]
    carrier: dict[str, Joint] = {}
    for joint in joints:
        for end in (joint.parent, joint.child):
            if end not in placed and end != GROUND:
                raise ModelError(f"joint {joint.name!r}: {_check.unknown(end, [GROUND, *placed], 'body')}")
        if joint.child == GROUND:
            raise ModelError(f"joint {joint.name!r}: the ground cannot be a child; exchange parent and child")
        if joint.child in carrier:
            raise ModelError(
                f"body {joint.child!r} is carried by two joints, {carrier[joint.child].name!r} and {joint.name!r}; "
                "put one of them into the list of loops (a cut joint)"
            )
        carrier[joint.child] = joint
    for body in placed:
        if body not in carrier:
            raise ModelError(f"body {body!r} is carried by no joint; add one (Free, if nothing holds it)")
    ordered: list[Joint] = []
    reached = {GROUND}
    waiting = list(joints)
    while waiting:
        ready = [j for j in waiting if j.parent in reached]
        if not ready:
            names = ", ".join(repr(j.child) for j in waiting)
            raise ModelError(f"bodies {names} are not connected to the ground; attach one of them with a joint")
        ordered += ready
        reached |= {j.child for j in ready}
        waiting = [j for j in waiting if j not in ready]
    return ordered


def _link_records(bodies: Sequence[Body], joints: Sequence[Joint], ordered: list[Joint], slices):
    """Link records in topological order. A link's frame is its joint's frame on the child side."""
    by_name = {b.name: b for b in bodies}
    position, velocity = slices
    link_of, frame_of = {GROUND: -1}, {GROUND: Frame()}
    records: list[tuple] = []
    for joint in ordered:
        body = by_name[joint.child]
        parent, place = link_of[joint.parent], frame_of[joint.parent].inverse() @ joint.frame
        iq, iv = position[joint.name].start, velocity[joint.name].start
        turns = joint.axis_frames()
        for step, (kind, turn) in enumerate(zip(joint.kinds, turns, strict=True)):
            last = step == len(joint.kinds) - 1
            axis_frame = place @ Frame((0, 0, 0), turn)
            # the next part of the joint, or the child body, as seen from this link's frame
            after = Frame((0, 0, 0), turn.T)
            frame = joint.child_frame @ Frame((0, 0, 0), turn)
            com = frame.R.T @ (body.com - frame.p) if last else np.zeros(3)
            inertia = frame.R.T @ body.inertia @ frame.R if last else np.zeros((3, 3))
            nq, nv = _NV[kind]
            records.append(
                (
                    kind,
                    parent,
                    iq,
                    nq,
                    iv,
                    nv,
                    axis_frame.R,
                    axis_frame.p,
                    joint.pitch,
                    body.mass if last else 0.0,
                    com,
                    inertia,
                )
            )
            parent, place, iq, iv = len(records) - 1, after, iq + nq, iv + nv
        link_of[joint.child], frame_of[joint.child] = parent, frame
    return np.array(records, dtype=layout.LINK_DTYPE), link_of, frame_of


def renewed_rows(compiled: Compiled, records: NDArray[np.void], constraint: LoopPart) -> NDArray[np.void] | None:
    """Records of a constraint with other numbers in them; None where a constraint like it has other rows."""
    rows = constraint.rows()
    if constraint.component_names or len(rows) != len(records) or any(row.formula for row in rows):
        return None
    renewed, made = records.copy(), _row_records([_Line(row) for row in rows], compiled.link_of, compiled.frame_of)
    if any((made[key] != records[key]).any() for key in ("kind", "a", "b")):
        return None
    for key in ("u", "x", "pa", "w", "pb", "value"):
        renewed[key] = made[key]
    return renewed


@dataclass(frozen=True)
class _Line:
    """Row with the lines of the arrays that belong to it, -1 for none."""

    row: Row
    unit: str = ""
    coupling: int = -1
    formula: int = -1
    target: int = -1


class _Lines:
    """Rows in the order of the arrays, with the lines of the matrices of coordinates that they need."""

    def __init__(self, joints: Sequence[Joint], position: Mapping[str, slice], velocity: Mapping[str, slice]) -> None:
        self.plain = {
            name: (position[j.name].start + i, velocity[j.name].start + i)
            for j in joints
            for i, name in enumerate(j.plain_names)
        }
        self.unit = {n: u for j in joints for n, u in zip(j.position_names, j.position_units, strict=True)}
        self.position_units = tuple(self.unit.values())
        self.velocity_units = tuple(u for j in joints for u in j.velocity_units)
        self.coefficients: list[Mapping[str, float]] = []
        self.formulas: list[RowOfFormula] = []

    def of(self, part: LoopPart | ForceElement, rows: Sequence[Row], what: str) -> list[_Line]:
        """Lines of the rows of a part."""
        lines = []
        for row in rows:
            coupling = formula = -1
            if row.kind == layout.ROW_COUPLING:
                for name in row.coefficients:
                    self.require_plain(name, what)
                coupling = len(self.coefficients)
                self.coefficients.append(row.coefficients)
            elif row.formula is not None:
                formula = len(self.formulas)
                self.formulas.append(row.formula)
            unit = row.unit or self.unit.get(next(iter((*row.coefficients, *part.coordinates)), ""), "m")
            lines.append(_Line(row, unit, coupling, formula))
        return lines

    def require_plain(self, name: str, what: str, label: str = "coordinate", others: Sequence[str] = ()) -> None:
        """Raise an error for a name that is not that of a coordinate whose rate is a velocity."""
        if name not in self.plain:
            raise ModelError(f"{what}: {_check.unknown(name, [*self.plain, *others], label)}")

    def matrices(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Coefficients of the position and velocity coordinates in each line."""
        Cq = np.zeros((len(self.coefficients), len(self.position_units)))
        Cv = np.zeros((len(self.coefficients), len(self.velocity_units)))
        for line, coefficients in enumerate(self.coefficients):
            for name, c in coefficients.items():
                i, k = self.plain[name]
                Cq[line, i] = Cv[line, k] = c
        return Cq, Cv


def _require_bodies(part: MachinePart, what: str, link_of: Mapping[str, int]) -> None:
    """Raise an error for a part on a body that the machine does not have."""
    for end in part.ends:
        if end not in link_of:
            raise ModelError(f"{what} {part.name!r}: {_check.unknown(end, list(link_of), 'body')}")


def _spans(lines: Sequence[_Line], links, link_of, nv: int) -> NDArray[np.int64]:
    """Columns (rows, 2) between which rows may have entries: joints on the path between two links, or all of them."""
    spans = np.zeros((len(lines), 2), np.int64)
    for span, row in zip(spans, (line.row for line in lines), strict=True):
        a, b = link_of[row.a], link_of[row.b]
        first, end = (0, nv) if row.kind in (layout.ROW_COUPLING, layout.ROW_FORMULA) else (nv, 0)
        while a != b:  # the link with the higher number is not an ancestor of the other one
            link = links[max(a, b)]
            if link["nv"]:
                first, end = min(first, link["iv"]), max(end, link["iv"] + link["nv"])
            a, b = (a, link["parent"]) if b > a else (link["parent"], b)
        span[:] = min(first, end), end
    return spans


def _envelope(links) -> NDArray[np.int64]:
    """First column (nv,) in which each row of M may have an entry: of joints above and below it on its limb."""
    own, parent = links["iv"].copy(), links["parent"]
    own[links["nv"] == 0] = links["nv"].sum()
    above, below = own.copy(), own.copy()
    for i in range(len(links)):
        if parent[i] >= 0:
            above[i] = min(above[i], above[parent[i]])
    for i in range(len(links) - 1, -1, -1):
        if parent[i] >= 0:
            below[parent[i]] = min(below[parent[i]], below[i])
    first = np.zeros(links["nv"].sum(), np.int64)
    for i, link in enumerate(links):
        first[link["iv"] : link["iv"] + link["nv"]] = min(above[i], below[i])
    return first


def _row_records(lines: Sequence[_Line], link_of, frame_of):
    """Records of rows, with vectors moved from body axes to link axes."""
    records = []
    for line in lines:
        row = line.row
        fa, fb = frame_of[row.a], frame_of[row.b]
        binds_velocity = row.formula is not None and row.formula.residual is None
        records.append(
            (
                row.kind,
                link_of[row.a],
                link_of[row.b],
                fa.R.T @ row.u,
                fa.R.T @ row.x,
                fa.R.T @ (row.pa - fa.p),
                fb.R.T @ row.w,
                fb.R.T @ (row.pb - fb.p),
                row.value,
                line.coupling,
                line.formula,
                int(binds_velocity),
                line.target,
            )
        )
    return np.array(records, dtype=layout.ROW_DTYPE)


def _row_scale(lines: Sequence[_Line], size: float, Cq: np.ndarray, units: Sequence[str]) -> np.ndarray:
    """Factors (rows,) that scale rows to metres: a radian counts as `size` metres."""
    metres = metres_of(units, size)
    scale = np.ones(len(lines))
    for i, line in enumerate(lines):
        if line.row.kind == layout.ROW_COUPLING:
            scale[i] = 1.0 / np.linalg.norm(Cq[line.coupling] / metres)
        elif line.row.kind == layout.ROW_ALIGN or (line.row.kind == layout.ROW_FORMULA and line.unit == "rad"):
            scale[i] = size
    return scale


def _spring_records(springs: Sequence[Spring], link_of, frame_of, lines: _Lines):
    """Records of springs for the kernels."""
    records = []
    zero = np.zeros(3)
    for s in springs:
        _require_bodies(s, "spring", link_of)
        numbers = s.stiffness, s.damping, s.rest  # type: ignore[attr-defined]
        for name in s.coordinates:
            lines.require_plain(name, f"spring {s.name!r}")
            records.append((layout.SPRING_JOINT, -1, -1, *lines.plain[name], zero, zero, *numbers))
        if s.ends:
            fa, fb = (frame_of[end] for end in s.ends)
            (_, point_a), (_, point_b) = s.places
            pa, pb = fa.R.T @ (point_a - fa.p), fb.R.T @ (point_b - fb.p)
            records.append((layout.SPRING_POINT, *(link_of[end] for end in s.ends), -1, -1, pa, pb, *numbers))
    return np.array(records, dtype=layout.SPRING_DTYPE)


def _drive_records(actuators: Sequence[Actuator], loops: Sequence[LoopPart], link_of, frame_of, lines: _Lines):
    """Records of drives: on a tree coordinate, along the axis of a cut joint, or a torque between two bodies."""
    records = []
    zero = np.zeros(3)
    cut: dict[str, Any] = {j.name: (j, axes) for j in loops if (axes := j.effort_axes()) is not None}
    for a in actuators:
        _require_bodies(a, "actuator", link_of)
        if a.ends:
            first, second = a.ends
            records.append((-1, link_of[first], link_of[second], a.gear, frame_of[first].R.T @ a.axis, zero, zero))
        elif a.joint in cut and a.joint not in lines.plain:
            joint, axes = cut[a.joint]
            frame = frame_of[joint.parent].inverse() @ joint.frame
            turn, push = (frame.R @ axis for axis in axes)
            records.append((-1, link_of[joint.parent], link_of[joint.child], a.gear, turn, push, frame.p))
        else:
            lines.require_plain(a.joint, f"actuator {a.name!r}", "joint coordinate to drive", list(cut))
            records.append((lines.plain[a.joint][1], -1, -1, a.gear, zero, zero, zero))
    return np.array(records, dtype=layout.DRIVE_DTYPE)


def _load_records(loads: Sequence[Load], link_of, frame_of):
    """Records of loads, with frames on links in place of frames on bodies."""
    records = []
    for load in loads:
        _require_bodies(load, "load", link_of)
        if link_of[load.body] < 0:
            raise ModelError(
                f"load {load.name!r} acts on {load.body!r}, which the ground holds: it moves nothing. Leave it out, or "
                "let it act on a body that moves"
            )
        frame = frame_of[load.body].inverse() @ load.frame
        records.append((link_of[load.body], int(load.axes == "frame"), frame.p, frame.R, load.value))
    return np.array(records, dtype=layout.LOAD_DTYPE)


class _Formulas:
    """Tapes of formulas one behind the other, with their numbers."""

    def __init__(self) -> None:
        self.tapes, self.numbers = [np.zeros((0, 5), np.int64)], [np.zeros(0)]
        self.length = self.count = 0

    def add(self, made: Any) -> tuple[int, tuple[int, ...]]:
        """Add a formula; returns the places of its first number and of its sections."""
        tape = made.tape.copy()
        tape[tape[:, 0] == OPERATIONS.index("number"), 1] += self.count
        places = self.count, tuple(self.length + at for at in made.sections)
        self.tapes.append(tape)
        self.numbers.append(made.numbers)
        self.length, self.count = self.length + len(tape), self.count + len(made.numbers)
        return places

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        return np.ascontiguousarray(np.vstack(self.tapes)), np.concatenate(self.numbers)


def _element_records(
    elements: Sequence[ForceElement], joints, loops, row_slice, link_of, lines: _Lines, formulas: _Formulas
):
    """Records of force elements, and lines of their measures."""
    measures: list[_Line] = []
    records = []
    for element in elements:
        what = f"force element {element.name!r}"
        _require_bodies(element, "force element", link_of)
        on, loaded = element.find_load(joints, loops)
        kind, row = (layout.LOADED, row_slice[loaded].start) if loaded else (layout.PLAIN, -1)
        rows = element.measures(on)
        made = formula_of(what, element.count, element.numbers, element.force, element.energy, element.sample)
        own = lines.of(element, rows, what)
        number, sections = formulas.add(made)
        records.append((len(measures), len(own), number, *sections, kind, row, element.rows_of_load, element.side))
        measures += own
    return np.array(records, dtype=layout.ELEMENT_DTYPE), measures


def _formula_records(loops: Sequence[Any], measures: list[_Line], lines: _Lines, formulas: _Formulas):
    """Records of rows that are formulas; their measures are added to those of force elements."""
    records = []
    for part in loops:
        if part.formulas:
            what = f"constraint {part.name!r}"
            own = lines.of(part, part.measures(), what)
            for row in part.formulas:
                _, sections = formulas.add(row_formula_of(what, len(own), row.residual, row.rate, part.sample))
                records.append((len(measures), len(own), *sections))
            measures += own
    return np.array(records, dtype=layout.FORMULA_DTYPE)


def _characteristic_length(links: np.ndarray, rows: Sequence[Row], bodies: Sequence[Body], joints, frame_of) -> float:
    """Size of the machine, m: the largest distance from a link's joint to a point or joint that it carries.

    Where all of these are at one point, as in a wrist or on sliders: distances on the ground, lengths of rods, radii of
    gyration, pitches; and a metre where there is no length at all.
    """
    offsets = [link["p"] for link in links if link["parent"] >= 0] + [link["com"] for link in links]
    ground, rods = [link["p"] for link in links if link["parent"] < 0], []
    given = [b.com for b in bodies] + [j.child_frame.p for j in joints]  # positions on bodies, as they were described
    given += [j.frame.p for j in joints if j.parent != GROUND]
    for row in rows:
        if row.kind == layout.ROW_COUPLING or (row.kind == layout.ROW_FORMULA and row.a == row.b):
            continue
        rods.append(row.value if row.kind == layout.ROW_DISTANCE else 0.0)
        for body, point in ((row.a, row.pa), (row.b, row.pb)):
            if body == GROUND:
                ground.append(np.asarray(point))
            else:
                offsets.append(frame_of[body].R.T @ (point - frame_of[body].p))
                given.append(point)

    def longest(vectors: Sequence[np.ndarray]) -> float:
        return max((float(np.linalg.norm(x)) for x in vectors), default=0.0)

    # what differences of positions leave by rounding is no length
    if longest(offsets) > 1e-12 * longest(given):
        return longest(offsets)
    apart = longest([x - ground[0] for x in ground])
    apart = apart if apart > 1e-12 * longest(ground) else 0.0
    gyration = [np.sqrt(np.linalg.eigvalsh(b.inertia)[-1] / b.mass) for b in bodies if b.mass > 0.0]
    return max(apart, *rods, 0.0) or max([0.0, *gyration, *np.abs(links["pitch"])]) or 1.0


def _require_moderate(parts: Sequence[Any]) -> None:
    """Raise an error for numbers whose squares and products are infinite, with the name of their part."""
    for part in parts:
        for field in fields(part):
            value = getattr(part, field.name)
            given = (value.p, value.R) if isinstance(value, Frame) else (value,)
            if field.name not in _NOT_COMPUTED_WITH and not all(map(_is_moderate, given)):
                raise ModelError(
                    f"{field.name} of {part.name!r} is {_check.shown(value)}, beyond {_check.LARGEST:g}: products of "
                    "such numbers are infinite. Is it in SI units?"
                )


def _is_moderate(x: Any) -> bool:
    """Whether all numbers of an array, or of its fields, are below the largest that can be computed with."""
    if isinstance(x, np.ndarray) and x.dtype.names:
        return all(_is_moderate(x[name]) for name in x.dtype.names)
    if not isinstance(x, (float, np.ndarray)) or (isinstance(x, np.ndarray) and x.dtype.kind != "f"):
        return True
    return bool((np.abs(x) < _check.LARGEST).all())


def compile_parts(bodies, joints, loops, springs, actuators, loads, forces, gravity) -> Compiled:
    """Kernel arrays of a machine from its parts, which are checked to fit together."""
    _require_moderate((*bodies, *joints, *loops, *springs, *actuators, *loads, *forces))
    ordered = _order(bodies, joints)
    position, velocity, nq, nv = {}, {}, 0, 0
    for j in joints:
        position[j.name] = slice(nq, nq + len(j.position_suffixes))
        velocity[j.name] = slice(nv, nv + len(j.velocity_suffixes))
        nq, nv = position[j.name].stop, velocity[j.name].stop
    links, link_of, frame_of = _link_records(bodies, joints, ordered, (position, velocity))
    lines, formulas = _Lines(joints, position, velocity), _Formulas()
    rows: list[_Line] = []
    labels, row_slice, targets = [], {}, [np.zeros((0, 3))]
    for part in loops:
        _require_bodies(part, "constraint", link_of)
        own = lines.of(part, part.rows(), f"constraint {part.name!r}")
        if part.component_names:
            first = sum(map(len, targets))
            own = [replace(line, target=first + i) for i, line in enumerate(own)]
            targets.append(part.targets(part.value))
        labels += [f"{part.name}_{line.row.label}" if line.row.label else part.name for line in own]
        row_slice[part.name] = slice(len(rows), len(rows) + len(own))
        rows += own
    size = _characteristic_length(links, [line.row for line in rows], bodies, joints, frame_of)
    armature, damping = (
        np.concatenate([np.zeros(0), *(getattr(j, x) for j in joints)]) for x in ("armature", "damping")
    )
    elements, measures = _element_records(forces, joints, loops, row_slice, link_of, lines, formulas)
    records_of_formulas = _formula_records(loops, measures, lines, formulas)
    tape, numbers = formulas.arrays()
    Cq, Cv = lines.matrices()
    arrays = (
        links,
        _row_records(rows, link_of, frame_of),
        _row_scale(rows, size, Cq, lines.position_units),
        _spans(rows, links, link_of, nv),
        _envelope(links),
        metres_of(lines.velocity_units, size),
        size,
        _spring_records(springs, link_of, frame_of, lines),
        _drive_records(actuators, loops, link_of, frame_of, lines),
        _load_records(loads, link_of, frame_of),
        _row_records(measures, link_of, frame_of),
        elements,
        records_of_formulas,
        tape,
        numbers,
        np.ascontiguousarray(np.vstack(targets)),
        Cq,
        Cv,
        armature,
        damping,
        np.asarray(gravity, dtype=np.float64),
    )
    if not JIT_ENABLED:  # interpreted kernels need records for `links[i].kind`
        arrays = tuple(a.view(np.recarray) if isinstance(a, np.ndarray) and a.dtype.names else a for a in arrays)
    for array in arrays:
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    if not all(map(_is_moderate, arrays)):
        raise ModelError(
            f"a number of the machine is beyond {_check.LARGEST:g}, as its gravity, {_check.shown(gravity)}, or what "
            "follows from its parts: products of such numbers are infinite. Are they in SI units?"
        )
    return Compiled(
        layout.Model(*arrays),
        link_of,
        frame_of,
        position,
        velocity,
        tuple(labels),
        tuple(line.unit for line in rows),
        row_slice,
        size,
    )
