"""Compilation of the parts of a machine to the structured arrays of the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._jit import JIT_ENABLED
from .._tolerance import metres as metres_of
from ..errors import InputTypeError, ModelError
from ..kernels import layout
from ..kernels.tapes import OPERATIONS
from .elements import (
    GROUND,
    Actuator,
    Body,
    Bushing,
    Constraint,
    CoordinateConstraint,
    Coupling,
    Cylindrical,
    DirectedFriction,
    Distance,
    DistanceMotion,
    Fixed,
    ForceElement,
    FormulaRows,
    Frame,
    FrictionOfLoad,
    GearFriction,
    Helical,
    Joint,
    JointForce,
    JointSpring,
    Load,
    Motion,
    PinFriction,
    Planar,
    Point,
    PointForce,
    PointMotion,
    PointOnLine,
    PointOnPlane,
    PointSpring,
    PoseMotion,
    Prismatic,
    Revolute,
    SlidingFriction,
    Spherical,
    Universal,
    Weld,
    rotation_to,
)
from .elements.force_elements import UNIT
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
X, Z, ORIGIN = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)


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


@dataclass(frozen=True)
class _Row:
    """Constraint row before it becomes a record: its vectors are in the axes of bodies a and b."""

    label: str
    unit: str
    kind: int
    a: str = GROUND
    b: str = GROUND
    u: ArrayLike = Z
    x: ArrayLike = X
    pa: ArrayLike = ORIGIN
    w: ArrayLike = X
    pb: ArrayLike = ORIGIN
    value: float = 0.0
    coupling: int = -1
    formula: int = -1
    level: int = 0
    target: int = -1


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
            pitch = joint.pitch if isinstance(joint, Helical) else 0.0
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
                    pitch,
                    body.mass if last else 0.0,
                    com,
                    inertia,
                )
            )
            parent, place, iq, iv = len(records) - 1, after, iq + nq, iv + nv
        link_of[joint.child], frame_of[joint.child] = parent, frame
    return np.array(records, dtype=layout.LINK_DTYPE), link_of, frame_of


def _offset(label: str, a: str, b: str, pa, u, pb) -> _Row:
    return _Row(label, "m", layout.ROW_OFFSET, a, b, u=u, pa=pa, pb=pb)


def _align(label: str, a: str, b: str, u, w) -> _Row:
    return _Row(label, "rad", layout.ROW_ALIGN, a, b, u=u, w=w)


def _cut_rows(joint: Joint) -> list[_Row]:
    """Rows of a cut joint: the complement of its motion, in the axes of its frame on the parent."""
    a, b, fa, fb = joint.parent, joint.child, joint.frame, joint.child_frame
    turn = joint.axis_frames()[0]
    Ra, Rb = fa.R @ turn, fb.R @ turn  # axis along z on both sides
    position = {k: _offset(k, a, b, fa.p, Ra[:, i], fb.p) for i, k in enumerate("xyz")}
    tilt = [_align("tilt_x", a, b, Ra[:, 1], Rb[:, 2]), _align("tilt_y", a, b, Ra[:, 0], Rb[:, 2])]
    twist = _align("twist", a, b, Ra[:, 0], Rb[:, 1])
    match joint:
        case Revolute():
            return [*position.values(), *tilt]
        case Prismatic():
            return [position["x"], position["y"], *tilt, twist]
        case Cylindrical():
            return [position["x"], position["y"], *tilt]
        case Helical():
            screw = _Row("screw", "m", layout.ROW_SCREW, a, b, Ra[:, 2], Ra[:, 0], fa.p, Rb[:, 0], fb.p, joint.pitch)
            return [position["x"], position["y"], *tilt, screw]
        case Planar():
            return [position["z"], *tilt]
        case Spherical():
            return [_offset(k, a, b, fa.p, fa.R[:, i], fb.p) for i, k in enumerate("xyz")]
        case Universal():
            cross = _align("cross", a, b, fa.R @ joint.axis, fb.R @ joint.second_axis)
            return [*(_offset(k, a, b, fa.p, fa.R[:, i], fb.p) for i, k in enumerate("xyz")), cross]
        case Fixed():
            return _weld_rows(a, b, fa, fb)
        case _:
            raise ModelError(
                f"constraint {joint.name!r}: a cut {type(joint).__name__} joint holds nothing; leave it out"
            )


def _weld_rows(a: str, b: str, fa: Frame, fb: Frame) -> list[_Row]:
    """Rows of a weld: three offsets, and three pairs of axes kept perpendicular."""
    offsets = [_offset(k, a, b, fa.p, fa.R[:, i], fb.p) for i, k in enumerate("xyz")]
    pairs = (("tilt_x", 1, 2), ("tilt_y", 2, 0), ("twist", 0, 1))
    return [*offsets, *(_align(label, a, b, fa.R[:, i], fb.R[:, j]) for label, i, j in pairs)]


def _constraint_rows(constraint: Constraint | Joint) -> list[_Row]:
    """Rows of any constraint but couplings and formulas."""
    match constraint:
        case Joint():
            return _cut_rows(constraint)
        case Point() | PointMotion():
            return [
                _offset(k, constraint.a, constraint.b, constraint.point_a, e, constraint.point_b)
                for k, e in zip("xyz", np.eye(3), strict=True)
            ]
        case PointOnLine():
            turn = rotation_to(constraint.axis)
            return [
                _offset(k, constraint.a, constraint.b, constraint.point_a, turn[:, i], constraint.point_b)
                for i, k in enumerate("xy")
            ]
        case PointOnPlane():
            return [
                _offset("normal", constraint.a, constraint.b, constraint.point_a, constraint.normal, constraint.point_b)
            ]
        case Distance() | DistanceMotion():
            return [
                _Row(
                    "length",
                    "m",
                    layout.ROW_DISTANCE,
                    constraint.a,
                    constraint.b,
                    pa=constraint.point_a,
                    pb=constraint.point_b,
                    value=constraint.length,
                )
            ]
        case Weld():
            return _weld_rows(constraint.a, constraint.b, constraint.frame_a, constraint.frame_b)
        case PoseMotion():
            a, b, fa, fb = constraint.a, constraint.b, constraint.frame_a, constraint.frame_b
            offsets = [_offset(k, a, b, fa.p, fa.R[:, i], fb.p) for i, k in enumerate("xyz")]
            axes = [(i, j) for i in range(3) for j in range(3)]
            cosines = [_align(f"{'xyz'[i]}{'xyz'[j]}", a, b, fa.R[:, i], fb.R[:, j]) for i, j in axes]
            return [*offsets, *cosines]
        case _:
            raise InputTypeError(
                "a constraint must be a cut joint, Point, PointOnLine, ..., Weld, Coupling or a motion, got "
                f"{constraint!r}"
            )


def renewed_rows(compiled: Compiled, records: NDArray[np.void], constraint: Any) -> NDArray[np.void] | None:
    """Records of a constraint with other numbers in them; None where a constraint like it has other rows."""
    renewed = records.copy()
    if isinstance(constraint, (FormulaRows, Motion)):
        return None
    if isinstance(constraint, CoordinateConstraint):
        renewed["value"] = constraint.offset
        return renewed
    rows = _row_records(_constraint_rows(constraint), compiled.link_of, compiled.frame_of)
    if len(rows) != len(records) or any((rows[key] != records[key]).any() for key in ("kind", "a", "b")):
        return None
    for key in ("u", "x", "pa", "w", "pb", "value"):
        renewed[key] = rows[key]
    return renewed


def _formula_rows(part: FormulaRows, parts: list[FormulaRows], units: dict[str, str]) -> list[_Row]:
    """Rows that are formulas; `parts` are all constraints of that kind so far, and `part` is added to them."""
    first = sum(len(known.formulas) for known in parts)
    parts.append(part)
    rows, ends = [], {}
    if not isinstance(part, CoordinateConstraint):
        fa, fb = part.measured
        ends = {"a": part.a, "b": part.b, "pa": fa.p, "pb": fb.p, "u": fa.R[:, 2], "x": fa.R[:, 0], "w": fb.R[:, 2]}  # type: ignore[attr-defined]
    for k, formula in enumerate(part.formulas):
        unit = formula.unit or units.get(part.measured[0], "m")
        rows.append(
            _Row(
                formula.label, unit, layout.ROW_FORMULA, formula=first + k, level=int(formula.residual is None), **ends
            )
        )
    return rows


def _spans(rows: list[_Row], links, link_of, nv: int) -> NDArray[np.int64]:
    """Columns (rows, 2) between which rows may have entries: joints on the path between two links, or all of them."""
    spans = np.zeros((len(rows), 2), np.int64)
    for span, row in zip(spans, rows, strict=True):
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


def _row_records(rows: list[_Row], link_of, frame_of):
    """Records of rows, with vectors moved from body axes to link axes."""
    records = []
    for row in rows:
        fa, fb = frame_of[row.a], frame_of[row.b]
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
                row.coupling,
                row.formula,
                row.level,
                row.target,
            )
        )
    return np.array(records, dtype=layout.ROW_DTYPE)


def _row_scale(rows: list[_Row], size: float, Cq: np.ndarray, units: list[str]) -> np.ndarray:
    """Factors (rows,) that scale rows to metres: a radian counts as `size` metres."""
    metres = metres_of(units, size)
    scale = np.ones(len(rows))
    for i, row in enumerate(rows):
        if row.kind == layout.ROW_ALIGN:
            scale[i] = size
        elif row.kind == layout.ROW_COUPLING:
            scale[i] = 1.0 / np.linalg.norm(Cq[row.coupling] / metres)
        elif row.kind == layout.ROW_FORMULA and row.unit == "rad":
            scale[i] = size
    return scale


def _spring_records(springs, link_of, frame_of, position_index, velocity_index, linear):
    """Records of springs for the kernels."""
    records = []
    zero = np.zeros(3)
    for s in springs:
        if isinstance(s, JointSpring):
            if s.joint not in linear:
                raise ModelError(f"spring {s.name!r}: {_check.unknown(s.joint, linear, 'coordinate')}")
            index = position_index[s.joint], velocity_index[s.joint]
            records.append((layout.SPRING_JOINT, -1, -1, *index, zero, zero, s.stiffness, s.damping, s.rest))
        elif isinstance(s, PointSpring):
            for end in (s.a, s.b):
                if end not in link_of:
                    raise ModelError(f"spring {s.name!r}: {_check.unknown(end, list(link_of), 'body')}")
            fa, fb = frame_of[s.a], frame_of[s.b]
            pa, pb = fa.R.T @ (s.point_a - fa.p), fb.R.T @ (s.point_b - fb.p)
            link = link_of[s.a], link_of[s.b]
            records.append((layout.SPRING_POINT, *link, -1, -1, pa, pb, s.stiffness, s.damping, s.rest))
        else:
            raise InputTypeError(f"a spring must be a JointSpring or a PointSpring, got {s!r}")
    return np.array(records, dtype=layout.SPRING_DTYPE)


def _drive_records(actuators: Sequence[Actuator], loops, link_of, frame_of, velocity_index, linear):
    """Records of drives: on a tree coordinate, along the axis of a cut joint, or a torque between two bodies."""
    records = []
    zero = np.zeros(3)
    cut = {j.name: j for j in loops if isinstance(j, (Revolute, Prismatic))}
    for a in actuators:
        if a.bodies is not None:
            for end in a.bodies:
                if end not in link_of:
                    raise ModelError(f"actuator {a.name!r}: {_check.unknown(end, list(link_of), 'body')}")
            first, second = a.bodies
            records.append((-1, link_of[first], link_of[second], a.gear, frame_of[first].R.T @ a.axis, zero, zero))
        elif a.joint in linear:
            records.append((velocity_index[a.joint], -1, -1, a.gear, zero, zero, zero))
        elif a.joint in cut:
            joint = cut[a.joint]
            frame = frame_of[joint.parent].inverse() @ joint.frame
            axis = frame.R @ joint.axis
            turn, push = (axis, zero) if isinstance(joint, Revolute) else (zero, axis)
            records.append((-1, link_of[joint.parent], link_of[joint.child], a.gear, turn, push, frame.p))
        else:
            coordinates = [*linear, *cut]
            raise ModelError(
                f"actuator {a.name!r}: {_check.unknown(a.joint, coordinates, 'joint coordinate to drive')}"
            )
    return np.array(records, dtype=layout.DRIVE_DTYPE)


def _load_records(loads: Sequence[Load], link_of, frame_of):
    """Records of loads, with frames on links in place of frames on bodies."""
    records = []
    for load in loads:
        if load.body not in link_of:
            raise ModelError(f"load {load.name!r}: {_check.unknown(load.body, list(link_of), 'body')}")
        if link_of[load.body] < 0:
            raise ModelError(
                f"load {load.name!r} acts on {load.body!r}, which the ground holds: it moves nothing. Leave it out, or "
                "let it act on a body that moves"
            )
        frame = frame_of[load.body].inverse() @ load.frame
        records.append((link_of[load.body], int(load.axes == "frame"), frame.p, frame.R, load.value))
    return np.array(records, dtype=layout.LOAD_DTYPE)


def _load_of(
    element: FrictionOfLoad, joints: Sequence[Joint], loops: Sequence[Any], row_slice: dict[str, slice]
) -> tuple[list[_Row], int, int]:
    """Measures of friction in proportion to a load, the first row of the load, and the number of its rows."""
    what = f"friction {element.name!r}"
    if isinstance(element, PinFriction) and any(joint.name == element.on for joint in joints):
        on = next(joint for joint in joints if joint.name == element.on)
        if f"{element.on}_pin_x_held" not in row_slice:
            raise ModelError(
                f"{what} is in proportion to the force of {element.on!r}, which is a joint of the tree: make its force "
                f"a multiplier, plant.with_pin_forces({element.on!r}).with_parts(forces=...), or put it among the loops"
            )
        return _turning(on), row_slice[f"{element.on}_pin_x_held"].start, 2
    on = next((loop for loop in loops if loop.name == element.on), None)
    if on is None:
        raise ModelError(f"{what}: {_check.unknown(element.on, [loop.name for loop in loops], 'constraint')}")
    if isinstance(element, (SlidingFriction, DirectedFriction)):
        if not isinstance(on, PointOnPlane):
            raise ModelError(
                f"{what} slides on a PointOnPlane, and {element.on!r} is a {type(on).__name__}: name another "
                "constraint, or make it a PointOnPlane"
            )
        turn = rotation_to(np.asarray(on.normal))
        rows = [_offset("", on.a, on.b, on.point_a, turn[:, i], on.point_b) for i in range(2)]
        return rows, row_slice[element.on].start, 1
    if isinstance(element, GearFriction):
        if not isinstance(on, Coupling):
            raise ModelError(
                f"{what} is that of a Coupling, and {element.on!r} is a {type(on).__name__}: name another constraint"
            )
        return [_Row("", "", layout.ROW_COUPLING)], row_slice[element.on].start, 1
    if not isinstance(on, Revolute):
        raise ModelError(
            f"{what} is that of a cut Revolute joint, and {element.on!r} is a {type(on).__name__}: name another joint"
        )
    return _turning(on), row_slice[element.on].start, 2


def _coordinate(element: ForceElement, loops: Sequence[Any]) -> tuple[str, float]:
    """Coordinate that an element measures, and its factor: for a gear, the first one of its coupling."""
    if isinstance(element, GearFriction):
        return next(iter(next(loop for loop in loops if loop.name == element.on).coefficients.items()))
    return element.joint, 1.0  # type: ignore[attr-defined]


def _turning(joint: Revolute) -> list[_Row]:
    """Rows for the cosine and sine of the angle of a revolute joint."""
    turn = joint.axis_frames()[0]
    Ra, Rb = joint.frame.R @ turn, joint.child_frame.R @ turn
    return [_align("", joint.parent, joint.child, Ra[:, i], Rb[:, 0]) for i in range(2)]


def _measures(element: ForceElement) -> list[_Row]:
    """Rows that a force element measures; for coordinates, the line of the couplings is filled in later."""
    match element:
        case JointForce():
            return [_Row("", "", layout.ROW_COUPLING)]
        case PointForce():
            ends: dict[str, Any] = {"pa": element.point_a, "pb": element.point_b}
            return [_Row("", "m", layout.ROW_DISTANCE, element.a, element.b, **ends, value=UNIT)]
        case Bushing():
            a, b, fa, fb = element.a, element.b, element.frame_a, element.frame_b
            turns = ((2, 1), (1, 2), (0, 2), (2, 0), (1, 0), (0, 1))  # entries of R' R, those of the vector in pairs
            offsets = [_offset(k, a, b, fa.p, fa.R[:, i], fb.p) for i, k in enumerate("xyz")]
            return [*offsets, *(_align("", a, b, fa.R[:, i], fb.R[:, j]) for i, j in turns)]
        case _:
            raise InputTypeError(
                f"a force element must be a JointForce, PointForce, Bushing or friction of a load, got {element!r}"
            )


def _element_records(
    elements: Sequence[ForceElement], joints, loops, row_slice, link_of, velocity_index, position_index, linear, Cq, Cv
):
    """Records of force elements, rows of their measures, tape, numbers; Cq, Cv with lines for coordinates."""
    rows: list[_Row] = []
    records, tapes, numbers, lines, count = [], [np.zeros((0, 5), np.int64)], [np.zeros(0)], 0, 0
    for element in elements:
        what = f"force element {element.name!r}"
        load: tuple[int, ...] = layout.PLAIN, -1, 0, 0
        if isinstance(element, FrictionOfLoad):
            measures, *rows_of_load = _load_of(element, joints, loops, row_slice)
            load = layout.LOADED, *rows_of_load, element.side
        else:
            measures = _measures(element)
        for i, row in enumerate(measures):
            if row.kind == layout.ROW_COUPLING:
                name, weight = _coordinate(element, loops)
                if name not in linear:
                    raise ModelError(f"{what}: {_check.unknown(name, linear, 'coordinate')}")
                measures[i] = replace(row, coupling=len(Cq))
                Cq, Cv = (np.vstack([C, np.zeros(C.shape[1])]) for C in (Cq, Cv))
                Cq[-1, position_index[name]] = Cv[-1, velocity_index[name]] = weight
            else:
                for end in (row.a, row.b):
                    if end not in link_of:
                        raise ModelError(f"{what}: {_check.unknown(end, list(link_of), 'body')}")
        made = formula_of(what, element.count, element.numbers, element.force, element.energy, element.sample)
        tape = made.tape.copy()
        tape[tape[:, 0] == OPERATIONS.index("number"), 1] += count
        records.append((len(rows), len(measures), count, *(lines + at for at in made.sections), *load))
        rows, tapes, numbers = [*rows, *measures], [*tapes, tape], [*numbers, made.numbers]
        lines, count = lines + len(tape), count + len(made.numbers)
    elements_array = np.array(records, dtype=layout.ELEMENT_DTYPE)
    return elements_array, rows, np.ascontiguousarray(np.vstack(tapes)), np.concatenate(numbers), Cq, Cv


def _formula_measures(part: FormulaRows, position_index, velocity_index, linear, Cq, Cv):
    """Rows that the formulas of a constraint measure; Cq and Cv with a line for each coordinate."""
    if isinstance(part, CoordinateConstraint):
        rows = []
        for name in part.measured:
            if name not in linear:
                raise ModelError(f"constraint {part.name!r}: {_check.unknown(name, linear, 'coordinate')}")
            rows.append(_Row("", "", layout.ROW_COUPLING, coupling=len(Cq)))
            Cq, Cv = (np.vstack([C, np.zeros(C.shape[1])]) for C in (Cq, Cv))
            Cq[-1, position_index[name]] = Cv[-1, velocity_index[name]] = 1.0
        return rows, Cq, Cv
    a, b = part.a, part.b  # type: ignore[attr-defined]
    fa, fb = part.measured
    rows = [_offset(k, a, b, fa.p, fa.R[:, i], fb.p) for i, k in enumerate("xyz")]
    rows += [_align("", a, b, fa.R[:, i], fb.R[:, j]) for i in range(3) for j in range(3)]
    return rows, Cq, Cv


def _formula_records(parts: Sequence[FormulaRows], measures: list[_Row], where, tape, numbers, Cq, Cv):
    """Records of rows that are formulas; measures, tape and numbers, with theirs behind those of force elements."""
    records, measures, tapes, all_numbers = [], list(measures), [tape], [numbers]
    lines, count = len(tape), len(numbers)
    for part in parts:
        own, Cq, Cv = _formula_measures(part, *where, Cq, Cv)
        for formula in part.formulas:
            what = f"constraint {part.name!r}"
            made = row_formula_of(what, len(own), formula.residual, formula.rate, part.sample)
            lines_of = made.tape.copy()
            lines_of[lines_of[:, 0] == OPERATIONS.index("number"), 1] += count
            records.append((len(measures), len(own), *(lines + at for at in made.sections)))
            tapes, all_numbers = [*tapes, lines_of], [*all_numbers, made.numbers]
            lines, count = lines + len(lines_of), count + len(made.numbers)
        measures += own
    records_array = np.array(records, dtype=layout.FORMULA_DTYPE)
    return records_array, measures, np.ascontiguousarray(np.vstack(tapes)), np.concatenate(all_numbers), Cq, Cv


def _characteristic_length(links: np.ndarray, rows: list[_Row], bodies: Sequence[Body], joints, frame_of) -> float:
    """Size of the machine, m: the largest distance from a link's joint to a point or joint that it carries.

    Where all of these are at one point, as in a wrist or on sliders: distances on the ground, lengths of rods, radii of
    gyration, pitches; and a metre where there is no length at all.
    """
    reach = [link["p"] for link in links if link["parent"] >= 0] + [link["com"] for link in links]
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
                reach.append(frame_of[body].R.T @ (point - frame_of[body].p))
                given.append(point)

    def longest(vectors: Sequence[np.ndarray]) -> float:
        return max((float(np.linalg.norm(x)) for x in vectors), default=0.0)

    # what differences of positions leave by rounding is no length
    if longest(reach) > 1e-12 * longest(given):
        return longest(reach)
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
    position_index = {n: position[j.name].start + i for j in joints for i, n in enumerate(j.position_names)}
    velocity_index = {n: velocity[j.name].start + i for j in joints for i, n in enumerate(j.velocity_names)}
    kinds = (Revolute, Prismatic, Helical, Cylindrical, Universal)
    linear = [n for j in joints if isinstance(j, kinds) for n in j.position_names]
    units = {n: u for j in joints for n, u in zip(j.position_names, j.position_units, strict=True)}

    links, link_of, frame_of = _link_records(bodies, joints, ordered, (position, velocity))
    rows: list[_Row] = []
    labels, row_slice = [], {}
    couplings = [c for c in loops if isinstance(c, CoordinateConstraint) and not isinstance(c, FormulaRows)]
    targets = [np.zeros((0, 3))]
    formula_parts: list[FormulaRows] = []
    Cq, Cv = np.zeros((len(couplings), nq)), np.zeros((len(couplings), nv))
    for constraint in loops:
        start = len(rows)
        if isinstance(constraint, FormulaRows) and isinstance(constraint, CoordinateConstraint):
            rows += _formula_rows(constraint, formula_parts, units)
        elif isinstance(constraint, CoordinateConstraint):
            line = couplings.index(constraint)
            for coordinate, c in constraint.coefficients.items():
                if coordinate not in linear:
                    raise ModelError(
                        f"constraint {constraint.name!r}: {_check.unknown(coordinate, linear, 'coordinate')}"
                    )
                Cq[line, position_index[coordinate]] = c
                Cv[line, velocity_index[coordinate]] = c
            first = next(iter(constraint.coefficients))
            rows.append(_Row("", units[first], layout.ROW_COUPLING, value=constraint.offset, coupling=line))
        else:
            for end in (
                (constraint.parent, constraint.child) if isinstance(constraint, Joint) else (constraint.a, constraint.b)
            ):
                if end not in link_of:
                    raise ModelError(f"constraint {constraint.name!r}: {_check.unknown(end, list(link_of), 'body')}")
            if isinstance(constraint, FormulaRows):
                rows += _formula_rows(constraint, formula_parts, units)
            else:
                rows += _constraint_rows(constraint)
        if isinstance(constraint, Motion):
            first = sum(map(len, targets))
            rows[start:] = [replace(row, target=first + i) for i, row in enumerate(rows[start:])]
            targets.append(constraint.targets(constraint.value))
        labels += [f"{constraint.name}_{r.label}" if r.label else constraint.name for r in rows[start:]]
        row_slice[constraint.name] = slice(start, len(rows))
    size = _characteristic_length(links, rows, bodies, joints, frame_of)
    armature, damping = (
        np.concatenate([np.zeros(0), *(getattr(j, x) for j in joints)]) for x in ("armature", "damping")
    )
    elements, measures, tape, numbers, whole_Cq, whole_Cv = _element_records(
        forces, joints, loops, row_slice, link_of, velocity_index, position_index, linear, Cq, Cv
    )
    where = position_index, velocity_index, linear
    formulas, measures, tape, numbers, whole_Cq, whole_Cv = _formula_records(
        formula_parts, measures, where, tape, numbers, whole_Cq, whole_Cv
    )
    arrays = (
        links,
        _row_records(rows, link_of, frame_of),
        _row_scale(rows, size, Cq, [u for j in joints for u in j.position_units]),
        _spans(rows, links, link_of, len(velocity_index)),
        _envelope(links),
        metres_of([u for j in joints for u in j.velocity_units], size),
        size,
        _spring_records(springs, link_of, frame_of, position_index, velocity_index, linear),
        _drive_records(actuators, loops, link_of, frame_of, velocity_index, linear),
        _load_records(loads, link_of, frame_of),
        _row_records(measures, link_of, frame_of),
        elements,
        formulas,
        tape,
        numbers,
        np.ascontiguousarray(np.vstack(targets)),
        whole_Cq,
        whole_Cv,
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
        tuple(r.unit for r in rows),
        row_slice,
        size,
    )
