"""Array p of exported code: the numbers of a machine by name, and those that functions add to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..kernels.tapes import OPERATIONS
from ..model.mechanism import Mechanism
from ..trace.functions import Function
from ..trace.graph import Graph, Scalar
from ..trace.machine import NumberPlace, Parameters, places
from ..trace.program import needed

__all__ = ["MEASURED", "ParameterEntry", "ParameterTable"]

# What a user may want to change although it is one by chance, such as a mass of 1 kg. Directions are not among them:
# their ones are what code becomes short by.
MEASURED = ("mass", "com", "inertia", "pitch", "p", "pa", "pb", "value", "stiffness", "damping", "rest", "gravity")

_OF_LINK = {
    "R": ("frame", "attitude of the joint frame on the link before it"),
    "p": ("place", "place of the joint frame on the link before it, m"),
    "pitch": ("pitch", "m/rad"),
    "mass": ("mass", "kg"),
    "com": ("com", "centre of mass in the axes of the joint frame, m"),
    "inertia": ("inertia", "about the centre of mass in the axes of the joint frame, kg m2"),
}
_OF_ROW = {
    "u": ("axis_a", "direction on the first body"),
    "x": ("zero_a", "where the angle of a screw is zero, on the first body"),
    "pa": ("point_a", "point on the first body, m"),
    "w": ("axis_b", "direction on the second body"),
    "pb": ("point_b", "point on the second body, m"),
    "value": ("value", "length of a rod, pitch of a screw, offset of a coupling"),
}
_OF_SPRING = {
    "pa": ("point_a", "point on the first body, m"),
    "pb": ("point_b", "point on the second body, m"),
    "stiffness": ("stiffness", "N/m or N m/rad"),
    "damping": ("damping", "N s/m or N m s/rad"),
    "rest": ("rest", "length or angle without force, m or rad"),
}
_OF_DRIVE = {
    "gear": ("gear", "force of the joint per effort"),
    "angular": ("torque_axis", "direction of the torque on the first body"),
    "linear": ("force_axis", "direction of the force on the first body"),
    "pa": ("point", "where the force acts on the first body, m"),
}
_OF_LOAD = {
    "point": ("point", "where it acts on its link, m"),
    "axes": ("axes", "axes in which it turns with its link"),
}


class ParameterEntry(NamedTuple):
    """Entry of the array p."""

    name: str
    value: float
    text: str


class ParameterTable:
    """All numbers that p may hold; `used` selects those that functions read.

    Attributes
    ----------
    parameters : Parameters
        Numbers of the machine, which come first.
    numbers : list of Number
    """

    numbers: list[ParameterEntry]

    def __init__(self, plant: Mechanism) -> None:
        self.parameters = Parameters(plant.arrays, MEASURED)
        described = _Names(plant)
        self.numbers = []
        for place, value in zip(places(plant.arrays), self.parameters.values, strict=True):
            name, text = described(place)
            self.numbers.append(ParameterEntry(name, float(value), text))

    def add(self, name: str, value: float, text: str) -> int:
        """Add a number, unless there is one of this name; returns its index."""
        for i, number in enumerate(self.numbers):
            if number.name == name:
                return i
        self.numbers.append(ParameterEntry(name, value, text))
        return len(self.numbers) - 1

    def symbol(self, graph: Graph, name: str, value: float, text: str) -> Scalar:
        """Add a number, and return its symbol."""
        return graph.input("p", self.add(name, value, text), value)

    def used(self, functions: Iterable[Function]) -> list[ParameterEntry]:
        """Numbers that the functions read, in this order; the functions are renumbered to it."""
        functions = list(functions)
        read = [_read(function) for function in functions]
        place = {i: at for at, i in enumerate(sorted(set().union(*read)))}
        for function in functions:
            nodes = function.graph.nodes
            for k, node in enumerate(nodes):
                if node[:2] == ("input", "p") and node[2] in place:
                    nodes[k] = ("input", "p", place[node[2]])
        return [self.numbers[i] for i in place]


def _read(function: Function) -> set[int]:
    """Indices of the entries of p that a function reads."""
    graph = function.graph
    wanted = [x.index for x in function.outputs if isinstance(x, Scalar)]
    nodes = (graph.nodes[k] for k in needed(graph, [*wanted, *graph.guards]))
    return {node[2] for node in nodes if node[:2] == ("input", "p")}


class _Names:
    """Function from the place of a number in a machine to its name and description."""

    def __init__(self, plant: Mechanism) -> None:
        self.plant = plant
        self.links = _link_names(plant)
        self.couplings = [plant.row_names[i] for i, row in enumerate(plant.arrays.rows) if row["coupling"] >= 0]
        of_joints = [element for element in plant.forces if element.count == 1 and not element.ends]
        self.couplings += [f"force_{element.name}" for element in of_joints]
        lines = len(plant.arrays.couplings_q) - len(self.couplings)
        self.couplings += [f"row_coordinate_{k}" for k in range(lines)]
        rows = sorted((int(row["target"]), plant.row_names[i]) for i, row in enumerate(plant.arrays.rows))
        self.driven = [name for target, name in rows if target >= 0]
        owners = [(e, f"force_{e.name}") for e in plant.forces]
        self.measures = [f"{name}_{i}" if e.count > 1 else name for e, name in owners for i in range(e.count)]
        measures = len(plant.arrays.measures)
        self.measures += [f"row_measure_{i}" for i in range(measures - len(self.measures))]
        starts, total = plant.arrays.elements["number"].tolist(), _numbers_of_elements(plant)
        self.numbers: list[tuple[str, str]] = []
        for (element, name), begin, end in zip(owners, starts, [*starts, total][1:], strict=True):
            known = element.number_names
            self.numbers += [(f"{name}_{n}", "SI units") for n in known]
            self.numbers += [
                (f"{name}_constant_{k}", "constant of its formula") for k in range(end - begin - len(known))
            ]
        self.numbers += [
            (f"row_constant_{k}", "constant in the formula of a row") for k in range(len(plant.arrays.numbers) - total)
        ]

    def __call__(self, place: NumberPlace) -> tuple[str, str]:
        plant, (part, record, field, i) = self.plant, place
        if part == "links":
            return _field(self.links[record], _OF_LINK[field], plant.arrays.links.dtype[field].shape, i)
        if part == "rows":
            return _field(plant.row_names[record], _OF_ROW[field], plant.arrays.rows.dtype[field].shape, i)
        if part == "measures":
            return _field(self.measures[record], _OF_ROW[field], plant.arrays.measures.dtype[field].shape, i)
        if part == "numbers":
            return self.numbers[i]
        if part == "springs":
            name = f"spring_{plant.springs[record].name}"
            return _field(name, _OF_SPRING[field], plant.arrays.springs.dtype[field].shape, i)
        if part == "drives":
            name = f"motor_{plant.actuator_names[record]}"
            return _field(name, _OF_DRIVE[field], plant.arrays.drives.dtype[field].shape, i)
        if part == "loads":
            name = f"load_{plant.loads[record].name}"
            if field == "value":
                return f"load_{plant.load_names[6 * record + i]}", "N" if i < 3 else "N m"
            return _field(name, _OF_LOAD[field], plant.arrays.loads.dtype[field].shape, i)
        if part == "targets":
            row, order = divmod(i, 3)
            name = self.driven[row]
            kind = ("position", "velocity", "acceleration")[order]
            return f"motion_{name}_{kind}", "prescribed, of the row" if order == 0 else f"prescribed {kind} of the row"
        if part == "gravity":
            return f"gravity_{'xyz'[i]}", "m/s2, axes of the world"
        if part == "scale":
            return f"scale_{plant.row_names[i]}", "metres that a unit of the row counts as where rows are compared"
        if part == "unit_lengths":
            return f"reach_{plant.velocity_names[i]}", "metres that a unit of the coordinate counts as"
        if part == "armature":
            return f"armature_{plant.velocity_names[i]}", "inertia of rotors that turn with the joint, kg m2 or kg"
        if part == "damping":
            return f"damping_{plant.velocity_names[i]}", "friction of the joint, N s/m or N m s/rad"
        if part in ("couplings_q", "couplings_v"):
            names = plant.position_names if part == "couplings_q" else plant.velocity_names
            row, column = divmod(i, len(names))
            what = "position" if part == "couplings_q" else "velocity"
            return f"{self.couplings[row]}_of_{what}_{names[column]}", "coefficient of the coupling"
        return part, "characteristic length, m"


def _numbers_of_elements(plant: Mechanism) -> int:
    """Count of the numbers in formulas that belong to force elements; the others belong to rows with formulas."""
    formulas = plant.arrays.formulas["residual"].tolist()
    lines = plant.arrays.tape[: min(formulas, default=None)]
    own = lines[lines[:, 0] == OPERATIONS.index("number"), 1]
    named = [int(at) + len(e.numbers) for at, e in zip(plant.arrays.elements["number"], plant.forces, strict=True)]
    return max([0, *(own + 1).tolist(), *named])


def _field(owner: str, known: tuple[str, str], shape: tuple[int, ...], i: int) -> tuple[str, str]:
    """Name and description of a number of a record."""
    name, text = known
    axes = {(): "", (3,): f"_{'xyz'[i % 3]}", (3, 3): f"_{'xyz'[i // 3 % 3]}{'xyz'[i % 3]}"}[shape]
    return f"{owner}_{name}{axes}", text


def _link_names(plant: Mechanism) -> list[str]:
    """Names of links: of the body, or for links between the axes of a joint, of the body behind it."""
    names = [""] * len(plant.arrays.links)
    for body in plant.bodies:
        names[plant.link_index(body.name)] = body.name
    count = 0
    for i in range(len(names) - 1, -1, -1):
        if names[i]:
            behind, count = names[i], 1
        else:
            count += 1
            names[i] = f"{behind}_before_{count - 1}"
    return names
