"""Parameters of a machine: the numbers of its description, by name, and how the arrays of the kernels follow them.

Bodies are described in their own axes, while kernels have them in the axes of their joints, and a cut joint is some
rows that share its frames. So one number of the description moves several of the arrays, at rates that are constant.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputTypeError, ModelError
from ..kernels.layout import ROW_ALIGN, ROW_DISTANCE, ROW_FORMULA, ROW_OFFSET, ROW_SCREW
from ..trace.machine import Parameters, places
from .elements import (
    Body,
    Bushing,
    Constraint,
    CoordinateConstraint,
    Coupling,
    Distance,
    ForceElement,
    FormulaRows,
    FrictionOfLoad,
    GearFriction,
    Helical,
    Joint,
    JointForce,
    JointSpring,
    Motion,
    PointForce,
    PointOnLine,
    PointSpring,
    PoseMotion,
    Weld,
)
from .mechanism import Mechanism

__all__ = ["Parameter", "parameters"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

_AXES = tuple(zip("xyz", np.eye(3), strict=True))

# The vectors that a row is made of, by its kind; see `kernels.constraint_rows`.
_READ = {
    ROW_OFFSET: ("u", "pa", "pb"),
    ROW_ALIGN: ("u", "w"),
    ROW_DISTANCE: ("pa", "pb"),
    ROW_SCREW: ("u", "x", "pa", "w", "pb"),
    ROW_FORMULA: ("u", "x", "pa", "w", "pb"),
}


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


class _Collector:
    """Collection of all parameters of a machine, part by part."""

    def __init__(self, plant: Mechanism) -> None:
        self.plant, compiled = plant, plant._compiled
        self.link_of, self.frame_of = compiled.link_of, compiled.frame_of
        self.values = Parameters(plant.arrays).values
        self.start = {place[:3]: i for i, place in enumerate(places(plant.arrays)) if place.index == 0}
        self.points: dict[str, list[Indices]] = {name: [] for name in self.link_of}  # that are fixed on a body
        self.directions: dict[str, list[Indices]] = {name: [] for name in self.link_of}
        self.found: dict[str, Parameter] = {}
        self.own: dict[str, _Own] = {joint.name: self._tree_frame(joint) for joint in plant.joints}
        for loop in plant.loops:
            if not isinstance(loop, CoordinateConstraint):
                ends = (loop.parent, loop.child) if isinstance(loop, Joint) else (loop.a, loop.b)
                rows = plant.row_slices[loop.name]
                own = self._rows(*ends, "rows", range(rows.start, rows.stop))
                if isinstance(loop, FormulaRows):
                    record = plant.arrays.formulas[plant.arrays.rows[rows.start]["formula"]]
                    first = int(record["first"])
                    measured = self._rows(*ends, "measures", range(first, first + int(record["count"])))
                    own = _Own(*(x + y for x, y in zip(own, measured, strict=True)))
                self.own[loop.name] = own
        self.of_element = [self._measures(i, element) for i, element in enumerate(plant.forces)]
        self._attach_the_rest()
        for body in plant.bodies:
            self._body(body)
        for joint in plant.joints:
            self._joint(joint, tree=True)
        for loop in plant.loops:
            self._loop(loop)
        for i, spring in enumerate(plant.springs):
            self._spring(i, spring)
        for i, element in enumerate(plant.forces):
            self._element(i, element)
        self._rest()

    # -- what is fixed on which body -----------------------------------------------------------------------

    def _at(self, part: str, record: int, field: str, size: int = 3) -> Indices:
        """Indices of a field among all numbers."""
        return self.start[part, record, field] + np.arange(size)

    def _columns(self, link: int) -> list[Indices]:
        return list(self._at("links", link, "R", 9).reshape(3, 3).T)

    def _tree_frame(self, joint: Joint) -> _Own:
        """Points and directions of a joint of the tree: its frame is the place of its first link."""
        first = self.link_of[joint.child] - len(joint.kinds) + 1
        own = _Own([self._at("links", first, "p")], self._columns(first), [], [])
        self.points[joint.parent] += own.points_a
        self.directions[joint.parent] += own.directions_a
        return own

    def _measures(self, i: int, element: ForceElement) -> _Own:
        """Points and directions of a force element; measures of load friction move with the constraint they are on."""
        if isinstance(element, (JointForce, GearFriction)):
            return _Own([], [], [], [])
        record = self.plant.arrays.elements[i]
        first = int(record["first"])
        rows = range(first, first + int(record["count"]))
        if not isinstance(element, FrictionOfLoad):
            return self._rows(element.a, element.b, "measures", rows)  # type: ignore[attr-defined]
        on = next(part for part in (*self.plant.joints, *self.plant.loops) if part.name == element.on)
        ends = (on.parent, on.child) if isinstance(on, Joint) else (on.a, on.b)
        own = self._rows(*ends, "measures", rows)
        for known, more in zip(self.own[on.name], own, strict=True):
            known += more
        return own

    def _rows(self, a: str, b: str, part: str, rows: range) -> _Own:
        """Points and directions of some rows between two bodies: of a constraint, or of measures of a force element."""
        own = _Own([], [], [], [])
        for i in rows:
            fields = _READ[getattr(self.plant.arrays, part)[i]["kind"]]
            for vectors, names in zip(own, (("pa",), ("u", "x"), ("pb",), ("w",)), strict=True):
                vectors.extend(self._at(part, i, name) for name in names if name in fields)
        self.points[a] += own.points_a
        self.directions[a] += own.directions_a
        self.points[b] += own.points_b
        self.directions[b] += own.directions_b
        return own

    def _attach_the_rest(self) -> None:
        """Add points and directions of springs, loads, and motors on cut joints and between bodies to their bodies."""
        for i, load in enumerate(self.plant.loads):
            self.points[load.body].append(self._at("loads", i, "point"))
            self.directions[load.body] += self._axes(i)
        for i, spring in enumerate(self.plant.springs):
            if isinstance(spring, PointSpring):
                self.points[spring.a].append(self._at("springs", i, "pa"))
                self.points[spring.b].append(self._at("springs", i, "pb"))
        loops = {loop.name: loop for loop in self.plant.loops}
        for i, motor in enumerate(self.plant.actuators):
            point, axes = self._at("drives", i, "pa"), [self._at("drives", i, f) for f in ("angular", "linear")]
            if motor.bodies is not None:
                self.directions[motor.bodies[0]].append(axes[0])
            elif self.plant.arrays.drives[i]["iv"] < 0:
                joint = loops[motor.joint]
                self.own[joint.name].points_a.append(point)
                self.own[joint.name].directions_a.extend(axes)
                self.points[joint.parent].append(point)
                self.directions[joint.parent] += axes

    def _axes(self, load: int) -> list[Indices]:
        return list(self._at("loads", load, "axes", 9).reshape(3, 3).T)

    # -- numbers -------------------------------------------------------------------------------------------

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
        for c, (axis, e) in enumerate(_AXES):
            rate = sign * self.frame_of[body].R.T @ e
            self._add(f"{name}_{axis}", value[c], "m", _moves((x, rate) for x in points))

    def _turn(self, name: str, body: str, vectors: list[Indices]) -> None:
        """Add the three parameters of a rotation about the axes of a body, with which these vectors turn."""
        for axis, e in _AXES:
            w = self.frame_of[body].R.T @ e
            self._add(f"{name}_turn_{axis}", 0.0, "rad", _moves((x, np.cross(w, self.values[x])) for x in vectors))

    def _body(self, body: Body) -> None:
        link, R = self.link_of[body.name], self.frame_of[body.name].R
        self._one(f"{body.name}_mass", "kg", *self._at("links", link, "mass", 1))
        self._shift(f"{body.name}_com", np.asarray(body.com), body.name, [self._at("links", link, "com")])
        where = self._at("links", link, "inertia", 9)
        for i, j in itertools.combinations_with_replacement(range(3), 2):
            unit = np.zeros((3, 3))
            unit[i, j] = unit[j, i] = 1.0
            moves = _moves([(where, (R.T @ unit @ R).ravel())])
            value = np.asarray(body.inertia)[i, j]
            self._add(f"{body.name}_inertia_{'xyz'[i]}{'xyz'[j]}", value, "kg m2", moves)

    def _joint(self, joint: Joint, tree: bool) -> None:
        own, name = self.own[joint.name], joint.name
        self._shift(f"{name}_frame", joint.frame.p, joint.parent, own.points_a)
        self._turn(f"{name}_frame", joint.parent, own.directions_a)
        if tree:
            self._child_frame(joint)
        else:
            self._shift(f"{name}_child", joint.child_frame.p, joint.child, own.points_b)
            self._turn(f"{name}_child", joint.child, own.directions_b)
        if isinstance(joint, Helical):
            if tree:
                where = self._at("links", self.link_of[joint.child], "pitch", 1)
            else:
                rows = self.plant.row_slices[name]
                kinds = self.plant.arrays.rows["kind"][rows]
                where = self._at("rows", rows.start + int(np.flatnonzero(kinds == ROW_SCREW)[0]), "value", 1)
            self._one(f"{name}_pitch", "m/rad", *where)

    def _child_frame(self, joint: Joint) -> None:
        """Add the frame of a tree joint on its child, which carries the axes of all that is on that body."""
        body, link = joint.child, self.link_of[joint.child]
        points = [self._at("links", link, "com"), *self.points[body]]
        self._shift(f"{joint.name}_child", joint.child_frame.p, body, points, -1.0)
        where = self._at("links", link, "inertia", 9)
        inertia = self.values[where].reshape(3, 3)
        for axis, e in _AXES:
            w = self.frame_of[body].R.T @ e
            turned = [(x, -np.cross(w, self.values[x])) for x in (*points, *self.directions[body])]
            cross = np.cross(np.eye(3), w)  # the matrix of w x
            turned.append((where, (inertia @ cross - cross @ inertia).ravel()))
            self._add(f"{joint.name}_child_turn_{axis}", 0.0, "rad", _moves(turned))

    def _loop(self, loop: Joint | Constraint | CoordinateConstraint) -> None:
        name, rows = loop.name, self.plant.row_slices[loop.name]
        if isinstance(loop, Joint):
            self._joint(loop, tree=False)
            return
        if isinstance(loop, Coupling):
            line = int(self.plant.arrays.rows["coupling"][rows.start])
            indices = {n: (i, k) for n, (i, k) in zip(_paired_names(self.plant), self.plant.paired, strict=True)}
            for coordinate in loop.coefficients:
                i, k = indices[coordinate]
                of_q = self.start["couplings_q", 0, "couplings_q"] + line * self.plant.nq + i
                of_v = self.start["couplings_v", 0, "couplings_v"] + line * self.plant.nv + k
                self._one(f"{name}_of_{coordinate}", "1", of_q, of_v, *self._of_gears(loop, coordinate, i, k))
            self._one(f"{name}_offset", self.plant.row_units[rows.start], *self._at("rows", rows.start, "value", 1))
            return
        if isinstance(loop, Motion):
            self._motion(loop)
        if isinstance(loop, CoordinateConstraint):
            return
        own = self.own[name]
        if isinstance(loop, (Weld, PoseMotion)):
            self._shift(f"{name}_frame_a", loop.frame_a.p, loop.a, own.points_a)
            self._turn(f"{name}_frame_a", loop.a, own.directions_a)
            self._shift(f"{name}_frame_b", loop.frame_b.p, loop.b, own.points_b)
            self._turn(f"{name}_frame_b", loop.b, own.directions_b)
            return
        self._shift(f"{name}_point_a", loop.point_a, loop.a, own.points_a)
        self._shift(f"{name}_point_b", loop.point_b, loop.b, own.points_b)
        turned = {"normal": loop.a, "axis": loop.a if isinstance(loop, PointOnLine) else loop.b, "across": loop.b}
        for what, body in turned.items():
            if hasattr(loop, what):
                self._turn(f"{name}_{what}", body, own.directions_a if body == loop.a else own.directions_b)
        if isinstance(loop, Distance):
            self._one(f"{name}_length", "m", *self._at("rows", rows.start, "value", 1))

    def _of_gears(self, gear: Coupling, coordinate: str, i: int, k: int) -> list[int]:
        """Indices of the numbers with which friction of a gear measures its first coordinate."""
        found, arrays = [], self.plant.arrays
        if coordinate == next(iter(gear.coefficients)):
            for record, element in zip(arrays.elements, self.plant.forces, strict=True):
                if isinstance(element, GearFriction) and element.on == gear.name:
                    line = int(arrays.measures[record["first"]]["coupling"])
                    found.append(self.start["couplings_q", 0, "couplings_q"] + line * self.plant.nq + i)
                    found.append(self.start["couplings_v", 0, "couplings_v"] + line * self.plant.nv + k)
        return found

    def _motion(self, motion: Motion) -> None:
        """Add position, velocity and acceleration of a prescribed motion, which move its targets at present rates."""
        name = motion.name
        rows = self.plant.arrays.rows[self.plant.row_slices[name]]
        where = self.start["targets", 0, "targets"] + 3 * rows["target"][:, None] + np.arange(3)
        value = motion.value
        for i, component in enumerate(motion.component_names):
            unit = self.plant.motion_units[self.plant.motion_names.index(component)]
            for order, kind in enumerate(("position", "velocity", "acceleration")):
                step = np.zeros(value.shape)
                step[i, order] = 1e-30  # so small a complex step has no error
                rate = motion.targets(value + 1j * step).imag / 1e-30
                moves = _moves([(where.ravel(), rate.ravel())])
                self._add(f"{component}_{kind}", value[i, order], f"{unit}{('', '/s', '/s2')[order]}", moves)

    def _spring(self, i: int, spring: JointSpring | PointSpring) -> None:
        name, turns = f"spring_{spring.name}", False
        if isinstance(spring, JointSpring):
            turns = self.plant.position_units[self.plant.position_names.index(spring.joint)] == "rad"
        else:
            self._shift(f"{name}_point_a", spring.point_a, spring.a, [self._at("springs", i, "pa")])
            self._shift(f"{name}_point_b", spring.point_b, spring.b, [self._at("springs", i, "pb")])
        units = ("N m/rad", "rad", "N m s/rad") if turns else ("N/m", "m", "N s/m")
        for field, unit in zip(("stiffness", "rest", "damping"), units, strict=True):
            self._one(f"{name}_{field}", unit, *self._at("springs", i, field, 1))

    def _element(self, i: int, element: ForceElement) -> None:
        """Add the numbers of a force element's formula, and its places."""
        name, own = f"force_{element.name}", self.of_element[i]
        first = self.start["numbers", 0, "numbers"] + int(self.plant.arrays.elements[i]["number"])
        for k, number in enumerate(element.number_names):
            self._one(f"{name}_{number}", "SI", first + k)
        if isinstance(element, PointForce):
            self._shift(f"{name}_point_a", np.asarray(element.point_a), element.a, own.points_a)
            self._shift(f"{name}_point_b", np.asarray(element.point_b), element.b, own.points_b)
        elif isinstance(element, Bushing):
            self._shift(f"{name}_frame_a", element.frame_a.p, element.a, own.points_a)
            self._turn(f"{name}_frame_a", element.a, own.directions_a)
            self._shift(f"{name}_frame_b", element.frame_b.p, element.b, own.points_b)
            self._turn(f"{name}_frame_b", element.b, own.directions_b)

    def _rest(self) -> None:
        """Add friction and rotors of joints, motors, loads, and gravity."""
        for i, name in enumerate(self.plant.velocity_names):
            if name in self.plant.position_names:
                unit = "kg m2" if self.plant.velocity_units[i] == "rad/s" else "kg"
                self._one(f"armature_{name}", unit, self.start["armature", 0, "armature"] + i)
        for i, (name, unit) in enumerate(zip(self.plant.velocity_names, self.plant.velocity_units, strict=True)):
            unit = "N m s/rad" if unit == "rad/s" else "N s/m"
            self._one(f"damping_{name}", unit, self.start["damping", 0, "damping"] + i)
        for i, motor in enumerate(self.plant.actuators):
            self._one(f"motor_{motor.name}_gear", "1", *self._at("drives", i, "gear", 1))
            if motor.bodies is not None:
                self._turn(f"motor_{motor.name}_axis", motor.bodies[0], [self._at("drives", i, "angular")])
        for i, load in enumerate(self.plant.loads):
            self._shift(f"load_{load.name}_frame", load.frame.p, load.body, [self._at("loads", i, "point")])
            self._turn(f"load_{load.name}_frame", load.body, self._axes(i))
            for c, (name, where) in enumerate(zip(load.component_names, self._at("loads", i, "value", 6), strict=True)):
                self._one(f"load_{name}", "N" if c < 3 else "N m", where)
        for i, (axis, _) in enumerate(_AXES):
            self._one(f"gravity_{axis}", "m/s2", self.start["gravity", 0, "gravity"] + i)


class _Own(NamedTuple):
    """Points and directions of a joint or constraint on its two bodies, as indices of numbers."""

    points_a: list[Indices]
    directions_a: list[Indices]
    points_b: list[Indices]
    directions_b: list[Indices]


def _moves(rates: Iterable[tuple[Indices, Array]]) -> dict[int, float]:
    """Rates of numbers by their index, from arrays of indices and rates."""
    return {int(i): float(x) for where, rate in rates for i, x in zip(where, rate, strict=True)}


def _paired_names(plant: Mechanism) -> list[str]:
    """Names of the coordinates that are plain numbers."""
    return [plant.position_names[i] for i, _ in plant.paired]
