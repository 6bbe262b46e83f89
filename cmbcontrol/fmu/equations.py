"""Traced functions with which an FMU computes: kinematics, equations of motion, outputs, derivatives.

Unlike the functions of `codegen`, these solve nothing: the equations to solve depend on the independent coordinates,
which change in a run. Their C is straight lines for one machine; the C that solves is the same for all (``runtime``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..codegen.entries import ExportedMachine
from ..dynamics.reactions import acting_in
from ..errors import InputError
from ..kernels.layout import FREE, LOADED, ROW_COUPLING, ROW_FORMULA, SPHERICAL
from ..model.elements import Frame
from ..model.mechanism import Mechanism
from ..model.units import effort_units, force_units
from ..trace.functions import Function, Tracing
from ..trace.graph import Graph, Scalar
from ..trace.kernels import tree
from ..trace.machine import TracedMachine, places
from ..trace.numbers import empty
from ..trace.tangents import tangents

__all__ = ["Equations", "FmuOutput", "MachineInput", "acting_numbers", "directional", "quaternions", "require_possible"]

Array = NDArray[Any]


class MachineInput(NamedTuple):
    """Number of the machine that is an input: a component of a load, or the prescribed value of a row."""

    index: int  # in the table of numbers
    name: str
    unit: str
    text: str


class FmuOutput(NamedTuple):
    """Number that an FMU returns."""

    name: str
    unit: str
    text: str


def require_possible(plant: Mechanism) -> None:
    """Raise an error for machines that the equations of an FMU do not cover.

    Raises
    ------
    InputError
        For friction in proportion to the loads of constraints.
    """
    rubbing = [
        e.name for e, record in zip(plant.forces, plant.arrays.elements, strict=True) if record["kind"] == LOADED
    ]
    if rubbing:
        raise InputError(
            f"{plant.name!r} has friction in proportion to what constraints carry ({', '.join(rubbing)}), which an FMU "
            "does not solve; give it a friction of fixed size, such as JointForce(..., Friction(...))"
        )


def acting_numbers(plant: Mechanism) -> list[MachineInput]:
    """Components of loads and prescribed motions, in the order of the numbers of the machine."""
    found = []
    driven = {int(row["target"]): i for i, row in enumerate(plant.arrays.rows) if row["target"] >= 0}
    for i, place in enumerate(places(plant.arrays)):
        if (place.part, place.field) == ("loads", "value"):
            name = plant.load_names[6 * place.record + place.index]
            unit = "N" if place.index < 3 else "N m"
            found.append(
                MachineInput(i, f"load.{quoted(name)}", unit, f"component of load {plant.loads[place.record].name}")
            )
        elif place.part == "targets":
            row, order = divmod(place.index, 3)
            name, unit = plant.row_names[driven[row]], plant.row_units[driven[row]]
            kind = ("position", "velocity", "acceleration")[order]
            units = (unit, f"{unit}/s", f"{unit}/s2")
            found.append(
                MachineInput(i, f"motion.{quoted(name)}.{kind}", units[order], f"what row {name} is to be: {kind}")
            )
    return found


def quoted(name: str) -> str:
    """Name of the machine as one of structured variables."""
    plain = name.isascii() and name.isidentifier()
    if plain:
        return name
    kept = "".join(c if c.isascii() and c.isprintable() and c not in "'\\\"" else "_" for c in name)
    return f"'{kept}'"


def quaternions(plant: Mechanism) -> list[int]:
    """Indices at which quaternions begin in q."""
    return [int(link["iq"]) for link in plant.arrays.links if link["kind"] in (SPHERICAL, FREE)]


class Equations:
    """Equations of a machine, from which its C is made.

    Parameters
    ----------
    machine : codegen.entries.Machine
    bodies : sequence of str
        Bodies whose frames are outputs.
    law : bool
        Whether efforts are outputs.
    """

    def __init__(self, machine: ExportedMachine, bodies: Sequence[str], law: bool) -> None:
        self.machine, self.plant = machine, machine.plant
        self.acting = acting_numbers(self.plant)
        self.bodies, self.law = bodies, law
        self._carrying = [*self.plant.joints, *(x for x in self.plant.loops if x.ends)]
        self.outputs = self._names()

    def functions(self) -> dict[str, Function]:
        """All functions, by their names in ``runtime/machine.c``."""
        indices = [x.index for x in self.acting]
        plant = self.plant
        nq, nv, nu, rows = plant.nq, plant.nv, plant.nu, len(plant.row_names)
        bound, equations, outputs = self._bound(), self._equations(), self._outputs()
        fixed = nv + rows  # accelerations and multipliers, which the equations are solved for
        state = [*range(nq + nv), *range(nq + nv + fixed, nq + nv + fixed + nu)]
        return {
            "loops": self._loops(),
            "motion": self._motion(),
            "bound_slope": directional(bound, range(nq), indices),
            "slope": directional(equations, state, indices),
            "outputs": outputs,
            "outputs_slope": directional(outputs, range(outputs.inputs), indices),
        }

    # -- the functions -----------------------------------------------------------------------------------------

    def _at(self, *more: int) -> tuple[Tracing, list[Array]]:
        """Tracing of a function, and its inputs q, v and others of these sizes."""
        at = self.machine.tracing()
        return at, at.inputs(at.sample, np.linspace(0.3, 0.7, at.nv), *(np.linspace(0.4, 0.9, n) for n in more))

    def _loops(self) -> Function:
        """Function q -> phi, A, dq/dt by v, prescribed A v."""
        at = self.machine.tracing()
        (q,) = at.inputs(at.sample)
        machine = TracedMachine(at.model, q)
        return at.finished(machine.phi, machine.A.ravel(), _position_jacobian(machine).ravel(), machine.rates())

    def _motion(self) -> Function:
        """Function (q, v) -> M, h, b, B."""
        at, (q, v) = self._at()
        machine = TracedMachine(at.model, q)
        machine.weigh()
        machine.drive()
        machine.move(v)
        return at.finished(machine.M.ravel(), machine.h, machine.b, machine.B.ravel())

    def _bound(self) -> Function:
        """Function (q, v) -> phi, A v less its prescribed value."""
        at, (q, v) = self._at()
        machine = TracedMachine(at.model, q)
        return at.finished(machine.phi, machine.A @ v - machine.rates())

    def _equations(self) -> Function:
        """Function (q, v, a, lambda, u, xi) -> M a + h + A'lambda - B u, A a + b, dq/dt, A xi."""
        plant = self.plant
        at, (q, v, a, lam, u, xi) = self._at(plant.nv, len(plant.row_names), plant.nu, plant.nv)
        # A lever arm of a motor that is rounding, at a dead centre, is zero in B and has a derivative all the same:
        # below a negative reach nothing is taken for zero.
        at.model.unit_lengths = -np.ones(at.nv)
        machine = TracedMachine(at.model, q)
        machine.drive()
        machine.move(v, a)
        force = machine.h + lam @ machine.A
        if at.nu:
            force = force - machine.B @ u
        accel = machine.b
        for i, row in enumerate(at.model.rows):
            if row.kind == ROW_COUPLING or (row.kind == ROW_FORMULA and row.a == row.b):  # no bodies have accelerations
                accel[i] = accel[i] + machine.A[i] @ a
        return at.finished(force, accel, machine.position_rates(), machine.A @ xi)

    def _outputs(self) -> Function:
        """Function (q, v, a, lambda, u) -> outputs."""
        plant = self.plant
        at, (q, v, a, lam, u) = self._at(plant.nv, len(plant.row_names), plant.nu)
        machine = TracedMachine(at.model, q)
        machine.weigh()
        machine.move(v)
        parts: list[Iterable[Any]] = [q, v, a, lam @ machine.A if len(lam) else np.zeros(at.nv)]
        if self.law:
            parts.append(u)
        for body in self.bodies:
            p, R = self._pose(machine, body)
            parts += [p, R.ravel()]
        parts += self._reactions(machine, at, a, lam, u)
        parts.append(machine.energies())
        return at.finished(*parts)

    def _names(self) -> list[FmuOutput]:
        """Names, units and texts of the outputs, in the order of `_outputs`."""
        plant = self.plant
        q = [
            FmuOutput(f"q.{quoted(n)}", u, f"position {n}")
            for n, u in zip(plant.position_names, plant.position_units, strict=True)
        ]
        velocities = list(zip(plant.velocity_names, plant.velocity_units, force_units(plant), strict=True))
        made = [*q, *(FmuOutput(f"v.{quoted(n)}", u, f"velocity {n}") for n, u, _ in velocities)]
        made += [FmuOutput(f"a.{quoted(n)}", f"{u}2" if u else "", f"rate of velocity {n}") for n, u, _ in velocities]
        made += [
            FmuOutput(f"constraint_force.{quoted(n)}", f, f"force of the constraints, A' lambda, at coordinate {n}")
            for n, _, f in velocities
        ]
        if self.law:
            efforts = zip(plant.actuator_names, effort_units(plant), strict=True)
            made += [FmuOutput(f"u.{quoted(n)}", u, f"effort of motor {n}, held by the law") for n, u in efforts]
        for body in self.bodies:
            name = f"frame.{quoted(body)}"
            made += [FmuOutput(f"{name}.{c}", "m", f"origin of body {body} in the world") for c in "xyz"]
            made += [
                FmuOutput(
                    f"{name}.R[{i},{j}]", "", f"attitude of body {body} in the world, from its axes to the world's"
                )
                for i in (1, 2, 3)
                for j in (1, 2, 3)
            ]
        for part in self._carrying:
            name = f"reaction.{quoted(part.name)}"
            text = f"of {part.name}: what the first body does to the second, in axes of the first's frame"
            made += [FmuOutput(f"{name}.f{c}", "N", f"force {text}") for c in "xyz"]
            made += [FmuOutput(f"{name}.m{c}", "N m", f"moment {text}") for c in "xyz"]
        made += [FmuOutput(f"energy.{n}", "J", f"{n} energy") for n in ("kinetic", "potential")]
        return made

    # -- frames and reactions ------------------------------------------------------------------------------------

    def _pose(self, machine: TracedMachine, body: str, inside: Frame | None = None) -> tuple[Array, Array]:
        """Origin and attitude of a body's frame, or of one on it, in the world."""
        link = self.plant.link_index(body)
        frame = Frame() if inside is None else inside
        if link < 0:
            return np.asarray(frame.p, object), np.asarray(frame.R, object)
        own = self.plant._compiled.frame_of[body]
        frame = own.inverse() @ frame  # the link's frame is known in the axes of the body
        R, p = machine.R[link], machine.p[link]
        return p + R @ frame.p, R @ frame.R

    def _reactions(self, machine: TracedMachine, at: Tracing, a: Array, lam: Array, u: Array) -> list[Array]:
        """Forces and moments of all joints and constraints, as `reactions` has them."""
        from ..trace.kernels import reactions as kernels

        model, links = at.model, at.model.links
        own = empty((len(links), 6))
        tree.twists(links, machine.S, a, own)
        machine.A0 = machine.A0 + own
        kernels.newton_euler(links, machine.I, machine.S, machine.V, machine.A0, model.gravity, machine.W, empty(at.nv))
        kernels.take_off_springs(model, machine)
        of_elements, of_drives = empty((len(model.elements), 6)), empty((len(model.drives), 6))
        kernels.take_off_elements(model, machine.q, machine.v, lam, machine, of_elements)
        kernels.take_off_motors(model, u, machine, of_drives)
        point, g = empty(3), empty(6)
        for load in model.loads:
            kernels.load_wrench(load, load.value, machine.R, machine.p, point, g)
            kernels.take_off(links, -1, load.link, g, machine.W)
        kernels.wrenches_of_rows(model, machine.wrenches, lam, machine.W)
        found: list[Array] = []
        for part in self._carrying:
            p, R = self._pose(machine, part.ends[0], part.frames[0])
            if part.acts_at == 1:
                p, _ = self._pose(machine, part.ends[1], part.frames[1])
            if part in self.plant.joints:
                wrench = machine.W[self.plant.link_index(part.ends[1])]
            else:
                wrench = sum(machine.wrenches[self.plant.row_slices[part.name]], empty(6))
            elements, drives = acting_in(self.plant, part.name)
            wrench = sum([*of_elements[elements], *of_drives[drives]], wrench)
            force = wrench[3:]
            x, y, z = p
            moment = wrench[:3] - np.array(
                [y * force[2] - z * force[1], z * force[0] - x * force[2], x * force[1] - y * force[0]]
            )
            found += [R.T @ force, R.T @ moment]
        return found


def _position_jacobian(machine: TracedMachine) -> Array:
    """Matrix E (nq, nv) of dq/dt = E v."""
    E = empty((len(machine.q), machine.nv))
    for k in range(machine.nv):
        machine.v = empty(machine.nv)
        machine.v[k] = 1.0
        E[:, k] = machine.position_rates()
    return E


def directional(function: Function, moving: Iterable[int], acting: Sequence[int]) -> Function:
    """Function of the derivative of outputs along a direction of some inputs and numbers, which stands behind x.

    Parameters
    ----------
    function : Function
    moving : iterable of int
        Indices of x.
    acting : sequence of int
        Indices of p.
    """
    graph, source, size = Graph(), function.graph, function.inputs
    values = {node[1:]: source.values[k] for k, node in enumerate(source.nodes) if node[0] == "input"}
    of_x = {i: size + at for at, i in enumerate(moving)}
    of_p = {i: size + len(of_x) + at for at, i in enumerate(acting)}

    def given(array: str, i: int) -> tuple[Scalar, dict[int, Any]]:
        place = (of_x if array == "x" else of_p).get(i)
        tangent = {} if place is None else {0: graph.input("x", place, 0.5)}
        return graph.input(array, i, values[array, i]), tangent

    outputs = [tangent.get(0, 0.0) for _, tangent in tangents(function, given)]
    return Function(graph, size + len(of_x) + len(of_p), outputs)
