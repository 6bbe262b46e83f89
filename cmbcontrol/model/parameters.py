"""Parameters of a machine: the numbers of its description, by name, and how the arrays of the kernels follow them.

Bodies are described in their own axes, while kernels have them in the axes of their joints, and a cut joint is some
rows that share its frames. So one number of the description moves several of the arrays, at rates that are constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputTypeError, ModelError
from ..kernels.layout import ROW_ALIGN, ROW_COUPLING, ROW_DISTANCE, ROW_FORMULA, ROW_OFFSET, ROW_SCREW
from ..trace.machine import Parameters, places
from .elements import ForceElement, Joint, LoopPart, MachinePart
from .elements.parameters import (
    AXES,
    PAIRS,
    Coefficients,
    Direction,
    FormulaNumbers,
    FramePlace,
    Inertia,
    MotionValues,
    Number,
    Place,
    Vector,
)
from .mechanism import Mechanism

__all__ = ["Parameter", "parameters"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# Units of numbers of a part on a coordinate that turns, in place of those for one that slides.
_TURNING = {"m": "rad", "N/m": "N m/rad", "N s/m": "N m s/rad"}

# The vectors that a row is made of, by its kind; see `kernels.constraint_rows`.
_ALL = ("u", "x", "pa", "w", "pb")
_READ = {
    ROW_OFFSET: ("u", "pa", "pb"),
    ROW_ALIGN: ("u", "w"),
    ROW_DISTANCE: ("pa", "pb"),
    ROW_SCREW: _ALL,
    ROW_FORMULA: _ALL,
    ROW_COUPLING: (),
}
_FIELDS = (("pa",), ("u", "x")), (("pb",), ("w",))  # points and directions on the first and the second body


class Parameter(NamedTuple):
    """Number of the description of a machine, and the rates at which the kernels' numbers follow it.

    Attributes
    ----------
    value : float
        Value in the machine as it is; 0 for a turn.
    unit : str
    moves : dict of int to float
        Rates of the numbers of the machine's arrays that follow it, by their index.
    """

    value: float
    unit: str
    moves: dict[int, float]


def parameters(plant: Mechanism) -> Mapping[str, Parameter]:
    """Numbers that a machine is described with, by name.

    ============================================ ==================================================================
    name                                         number
    ============================================ ==================================================================
    ``{body}_mass``, ``_com_x``, ...             of a `Body`, in its axes; ``_inertia_xy`` moves both of its entries
    ``{joint}_frame_x``, ``_child_x``            place of the joint's frame on parent and child, in their axes
    ``{joint}_frame_turn_x``, ``_child_turn_x``  its attitude there: a rotation about an axis of the body through the
                                                 origin of the frame
    ``{joint}_pitch``                            of a `Helical` joint
    ``{constraint}_point_a_x``, ``_length``      of a constraint; of a `Weld` ``_frame_a_x`` and ``_frame_a_turn_x``;
                                                 the direction of a line or plane is turned by ``_axis_turn_x``,
                                                 ``_normal_turn_x``, the axle of a `Wheel` by ``_axis_turn_x``
    ``{coupling}_of_{coordinate}``, ``_offset``  of a `Coupling`
    ``spring_{spring}_stiffness``, ...           of a spring: ``_rest``, ``_damping``, ``_point_a_x``
    ``damping_{coordinate}``                     friction of a joint; ``armature_{coordinate}`` inertia of its rotors
    ``motor_{motor}_gear``                       of an `Actuator`; ``_axis_turn_x`` of a torque between two bodies
    ``force_{element}_{number}``                 numbers of a force element's characteristic; ``_point_a_x``,
                                                 ``_frame_a_x``, ``_frame_a_turn_x`` of where it acts
    ``{component}_position``, ``_velocity``, ... of a prescribed motion, by its components; ``_point_a_x`` and such as
                                                 of other constraints
    ``load_{load}_fx``, ...                      of a `Load`; ``_frame_x``, ``_frame_turn_x`` of where it acts
    ``gravity_x``                                axes of the world
    ============================================ ==================================================================

    Parameters
    ----------
    plant : Mechanism

    Returns
    -------
    mapping of str to Parameter

    Raises
    ------
    TypeError
        For a plant given by functions, which has no such numbers.
    ModelError
        Where two numbers would have the same name.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> parameters(plants.five_bar())["left_lower_mass"][:2]
    (2.0, 'kg')
    """
    _check.plant(plant)
    if not isinstance(plant, Mechanism):
        raise InputTypeError(
            f"{plant.name!r} is a {type(plant).__name__}: only a Mechanism is described by masses and lengths. For the "
            "parameters of other plants, build two of them and take the difference"
        )
    found: Mapping[str, Parameter] | None = vars(plant).get("_parameters")
    if found is None:
        found = vars(plant)["_parameters"] = _Collector(plant).found
    return found


class _Vectors(NamedTuple):
    """Points and directions that are fixed on a body, as indices of numbers."""

    points: list[Indices]
    directions: list[Indices]


class _Collector:
    """Collection of all parameters of a machine, part by part."""

    def __init__(self, plant: Mechanism) -> None:
        self.plant, compiled = plant, plant._compiled
        self.link_of, self.frame_of = compiled.link_of, compiled.frame_of
        self.values = Parameters(plant.arrays).values
        self.start = {place[:3]: i for i, place in enumerate(places(plant.arrays)) if place.index == 0}
        self.found: dict[str, Parameter] = {}
        self.on_body = {name: _Vectors([], []) for name in self.link_of}
        self.own: dict[int, list[_Vectors]] = {}  # of a part on each of its bodies, by its id
        self.record: dict[int, tuple[str, int]] = {}  # where the arrays have the numbers of a part
        self.measured_by: dict[int, list[int]] = {}  # friction of a gear: lines that hold its first coordinate
        for body in plant.bodies:
            link = self.link_of[body.name]
            self._place(body, "links", link, ([self._at("links", link, "com")], []))
        for joint in plant.joints:
            self._tree_joint(joint)
        for loop in plant.loops:
            self._loop(loop)
        for i, element in enumerate(plant.forces):
            self._element(i, element)
        for i, spring in enumerate(plant.springs):
            self._place(spring, "springs", i, *(([self._at("springs", i, key)], []) for key in ("pa", "pb")))
        for i, load in enumerate(plant.loads):
            axes = list(self._at("loads", i, "axes", 9).reshape(3, 3).T)
            self._place(load, "loads", i, ([self._at("loads", i, "point")], axes))
        self._motors()
        for part in (*plant.bodies, *plant.joints, *plant.loops, *plant.springs, *plant.forces):
            self._part(part)
        self._coordinates()
        for part in (*plant.actuators, *plant.loads):
            self._part(part)
        for i, (axis, _) in enumerate(AXES):
            self._one(f"gravity_{axis}", "m/s2", self.start["gravity", 0, "gravity"] + i)

    # -- where parts are in the arrays, and what is fixed on which body --------------------------------------

    def _at(self, array: str, record: int, field: str, size: int = 3) -> Indices:
        """Indices of a field among all numbers."""
        return self.start[array, record, field] + np.arange(size)

    def _place(self, part: MachinePart, array: str, record: int, *vectors: tuple[list[Indices], list[Indices]]) -> None:
        """Note the record of a part, and its vectors on each of its bodies."""
        self.record[id(part)] = array, record
        self.own[id(part)] = [_Vectors([], []) for _ in part.ends]
        self._fix(part, *vectors)

    def _fix(self, part: MachinePart, *vectors: tuple[list[Indices], list[Indices]]) -> None:
        """Add vectors that move with a part, on each of its bodies."""
        for body, own, (points, directions) in zip(part.ends, self.own[id(part)], vectors, strict=False):
            for where in (own, self.on_body[body]):
                where.points.extend(points)
                where.directions.extend(directions)

    def _of_rows(self, array: str, rows: range) -> list[tuple[list[Indices], list[Indices]]]:
        """Vectors of rows, of constraints or measures, on their two bodies."""
        kinds = getattr(self.plant.arrays, array)["kind"]

        def indices(fields: tuple[str, ...]) -> list[Indices]:
            return [self._at(array, i, field) for i in rows for field in _READ[kinds[i]] if field in fields]

        return [(indices(points), indices(directions)) for points, directions in _FIELDS]

    def _tree_joint(self, joint: Joint) -> None:
        """Place a joint of the tree: its frame is the place of its first link."""
        last = self.link_of[joint.child]
        first = last - len(joint.kinds) + 1
        columns = list(self._at("links", first, "R", 9).reshape(3, 3).T)
        self._place(joint, "links", last, ([self._at("links", first, "p")], columns))

    def _loop(self, loop: LoopPart) -> None:
        """Place a constraint, with what its formulas measure."""
        rows = self.plant.row_slices[loop.name]
        self._place(loop, "rows", rows.stop - 1, *self._of_rows("rows", range(rows.start, rows.stop)))
        if loop.formulas:
            self._fix(loop, *self._of_rows("measures", _measures(self.plant.arrays.formulas, self._formula(rows))))

    def _formula(self, rows: slice) -> int:
        return int(self.plant.arrays.rows[rows.start]["formula"])

    def _element(self, i: int, element: ForceElement) -> None:
        """Place a force element; measures of friction in proportion to a load move with its constraint."""
        measures = _measures(self.plant.arrays.elements, i)
        self._place(element, "elements", i, *self._of_rows("measures", measures))
        if element.loaded_by:
            on = next(part for part in (*self.plant.joints, *self.plant.loops) if part.name == element.loaded_by)
            self._fix(on, *self._of_rows("measures", measures))
            lines = [int(self.plant.arrays.measures[m]["coupling"]) for m in measures]
            self.measured_by.setdefault(id(on), []).extend(line for line in lines if line >= 0)

    def _motors(self) -> None:
        """Place motors; those on cut joints move with the joints."""
        loops = {loop.name: loop for loop in self.plant.loops}
        for i, motor in enumerate(self.plant.actuators):
            turn, push = (self._at("drives", i, field) for field in ("angular", "linear"))
            self._place(motor, "drives", i, ([], [turn]))
            if not motor.ends and self.plant.arrays.drives[i]["iv"] < 0:
                self._fix(loops[motor.joint], ([self._at("drives", i, "pa")], [turn, push]))

    # -- parameters ------------------------------------------------------------------------------------------

    def _add(self, name: str, value: float, unit: str, moves: dict[int, float]) -> None:
        if name in self.found:
            raise ModelError(
                f"mechanism {self.plant.name!r}: two of its numbers would be called {name!r}; rename one of the parts"
            )
        self.found[name] = Parameter(float(value), unit, {i: x for i, x in moves.items() if x != 0.0})

    def _one(self, name: str, unit: str, *where: int) -> None:
        """Add a parameter that the arrays hold unchanged."""
        self._add(name, self.values[where[0]], unit, dict.fromkeys(map(int, where), 1.0))

    def _shift(self, name: str, value: Array, body: str, points: list[Indices], sign: float = 1.0) -> None:
        """Add the three parameters of a position on a body, with which these points move."""
        for c, (axis, e) in enumerate(AXES):
            rate = sign * self.frame_of[body].R.T @ e
            self._add(f"{name}_{axis}", value[c], "m", _moves((x, rate) for x in points))

    def _turn(self, name: str, body: str, vectors: list[Indices]) -> None:
        """Add the three parameters of a rotation about the axes of a body, with which these vectors turn."""
        for axis, e in AXES:
            w = self.frame_of[body].R.T @ e
            self._add(f"{name}_turn_{axis}", 0.0, "rad", _moves((x, np.cross(w, self.values[x])) for x in vectors))

    def _part(self, part: MachinePart) -> None:
        """Add all parameters of a part."""
        for kind in part.parameters:
            if kind.is_of(part):
                _ADD[type(kind)](self, part, kind, f"{part.prefix}{part.name}")

    def _number(self, part: Any, kind: Number, name: str) -> None:
        array, record = self.record[id(part)]
        turns = part.coordinates and self._unit(part.coordinates[0]) == "rad"
        column = "value" if array == "rows" else kind.field
        unit = _TURNING.get(kind.unit, kind.unit) if turns else kind.unit
        self._one(f"{name}_{kind.field}", unit, *self._at(array, record, column, 1))

    def _vector(self, part: Any, kind: Vector, name: str) -> None:
        where = self._at(*self.record[id(part)], "value", 6)[kind.first :]
        for axis, index in zip("xyz", where, strict=False):
            self._one(f"{name}_{kind.label}{axis}", kind.unit, index)

    def _point(self, part: Any, kind: Place, name: str) -> None:
        value = np.asarray(getattr(part, kind.field))
        self._shift(f"{name}_{kind.field}", value, part.ends[kind.end], self.own[id(part)][kind.end].points)

    def _direction(self, part: Any, kind: Direction, name: str) -> None:
        self._turn(f"{name}_{kind.field}", part.ends[kind.end], self.own[id(part)][kind.end].directions)

    def _frame(self, part: Any, kind: FramePlace, name: str) -> None:
        if kind.end == 1 and self.record[id(part)][0] == "links":
            self._child_frame(part)
        else:
            body, own = part.ends[kind.end], self.own[id(part)][kind.end]
            self._shift(f"{name}_{kind.label}", getattr(part, kind.field).p, body, own.points)
            self._turn(f"{name}_{kind.label}", body, own.directions)

    def _formula_numbers(self, element: Any, kind: FormulaNumbers, name: str) -> None:
        record = self.plant.arrays.elements[self.record[id(element)][1]]
        first = self.start["numbers", 0, "numbers"] + int(record["number"])
        for k, number in enumerate(element.number_names):
            self._one(f"{name}_{number}", "SI", first + k)

    def _unit(self, coordinate: str) -> str:
        """Unit of a coordinate; of a cut joint, which has none, an empty one."""
        names = self.plant.position_names
        return self.plant.position_units[names.index(coordinate)] if coordinate in names else ""

    def _inertia(self, body: Any, kind: Inertia, name: str) -> None:
        where, R = self._at(*self.record[id(body)], "inertia", 9), self.frame_of[body.name].R
        for i, j in PAIRS:
            unit = np.zeros((3, 3))
            unit[i, j] = unit[j, i] = 1.0
            moves = _moves([(where, (R.T @ unit @ R).ravel())])
            self._add(f"{name}_inertia_{'xyz'[i]}{'xyz'[j]}", body.inertia[i, j], "kg m2", moves)

    def _child_frame(self, joint: Joint) -> None:
        """Add the frame of a tree joint on its child, which carries the axes of all that is on that body."""
        body, link = joint.child, self.link_of[joint.child]
        points, directions = self.on_body[body]
        self._shift(f"{joint.name}_child", joint.child_frame.p, body, points, -1.0)
        where = self._at("links", link, "inertia", 9)
        inertia = self.values[where].reshape(3, 3)
        for axis, e in AXES:
            w = self.frame_of[body].R.T @ e
            turned = [(x, -np.cross(w, self.values[x])) for x in (*points, *directions)]
            cross = np.cross(np.eye(3), w)  # the matrix of w x
            turned.append((where, (inertia @ cross - cross @ inertia).ravel()))
            self._add(f"{joint.name}_child_turn_{axis}", 0.0, "rad", _moves(turned))

    def _coefficients(self, gear: Any, kind: Coefficients, name: str) -> None:
        """Add coefficients of coordinates; friction of a gear measures the first one."""
        indices = dict(zip(_paired_names(self.plant), self.plant.paired, strict=True))
        array, record = self.record[id(gear)]
        own = self.plant.arrays.rows if array == "rows" else self.plant.arrays.measures
        record = record if array == "rows" else int(self.plant.arrays.elements[record]["first"])
        first = int(own[record]["coupling"])
        for n, coordinate in enumerate(gear.coefficients):
            i, k = indices[coordinate]
            where = list[int]()
            for line in (first, *(self.measured_by.get(id(gear), ()) if n == 0 else ())):
                where.append(self.start["couplings_q", 0, "couplings_q"] + line * self.plant.nq + i)
                where.append(self.start["couplings_v", 0, "couplings_v"] + line * self.plant.nv + k)
            self._one(f"{name}_of_{coordinate}", "1", *where)

    def _motion(self, motion: Any, kind: MotionValues, name: str) -> None:
        """Add values of a prescribed motion, or their rates, which move its targets at present rates."""
        rows = self.plant.arrays.rows[self.plant.row_slices[motion.name]]
        where = self.start["targets", 0, "targets"] + 3 * rows["target"][:, None] + np.arange(3)
        value, order = motion.value, ("position", "velocity", "acceleration").index(kind.field)
        for i, component in enumerate(motion.component_names):
            unit = self.plant.motion_units[self.plant.motion_names.index(component)]
            step = np.zeros(value.shape)
            step[i, order] = 1e-30  # so small a complex step has no error
            rate = motion.targets(value + 1j * step).imag / 1e-30
            moves = _moves([(where.ravel(), rate.ravel())])
            self._add(f"{component}_{kind.field}", value[i, order], f"{unit}{('', '/s', '/s2')[order]}", moves)

    def _coordinates(self) -> None:
        """Add friction and rotors of joints, by their coordinates."""
        for i, name in enumerate(self.plant.velocity_names):
            if name in self.plant.position_names:
                unit = "kg m2" if self.plant.velocity_units[i] == "rad/s" else "kg"
                self._one(f"armature_{name}", unit, self.start["armature", 0, "armature"] + i)
        for i, (name, unit) in enumerate(zip(self.plant.velocity_names, self.plant.velocity_units, strict=True)):
            unit = "N m s/rad" if unit == "rad/s" else "N s/m"
            self._one(f"damping_{name}", unit, self.start["damping", 0, "damping"] + i)


_ADD: dict[type, Callable[[_Collector, Any, Any, str], None]] = {
    Number: _Collector._number,
    Vector: _Collector._vector,
    Place: _Collector._point,
    Direction: _Collector._direction,
    FramePlace: _Collector._frame,
    Inertia: _Collector._inertia,
    Coefficients: _Collector._coefficients,
    MotionValues: _Collector._motion,
    FormulaNumbers: _Collector._formula_numbers,
}


def _measures(records: Any, i: int) -> range:
    """Rows that an element or a formula measures."""
    return range(int(records[i]["first"]), int(records[i]["first"]) + int(records[i]["count"]))


def _moves(rates: Iterable[tuple[Indices, Array]]) -> dict[int, float]:
    """Rates of numbers by their index, from arrays of indices and rates."""
    return {int(i): float(x) for where, rate in rates for i, x in zip(where, rate, strict=True)}


def _paired_names(plant: Mechanism) -> list[str]:
    """Names of the coordinates that are plain numbers."""
    return [plant.position_names[i] for i, _ in plant.paired]
