"""Time step of a machine with contacts, end stops and dry friction, as a C function with bounded work.

The parts that depend on the machine are traced: its motion without contacts, and its response to a push of each. C that
is the same for all machines (``runtime/contacts.c``) finds which of them push, stick and slide.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..characteristics import Friction
from ..dynamics.impact import nearest
from ..errors import CmbError, InputError
from ..kernels.layout import LOADED
from ..model.contacts import Contact
from ..model.end_stops import end_stops
from ..model.mechanism import Mechanism
from ..model.terms import Terms
from ..sim.constraint_modes import ConstraintModes
from ..sim.contact_relaxation import relaxed
from ..sim.contact_states import ContactProblem, Touch
from ..sim.switching import listed_switches
from ..trace import numbers
from ..trace.elimination import ConstrainedSolver, Vector, product, sparse
from ..trace.functions import Function, Tracing, conditions, dense
from ..trace.machine import TracedMachine, places
from .entries import MASS, NEAR, Argument, ExportedMachine, FunctionCase, FunctionState, Solving, size
from .parameters import ParameterTable
from .selftest import nearness

__all__ = ["CLOSED", "CORRECTIONS", "SWEEPS", "TOLERANCE", "Touching", "contact_step", "touching"]

Array = NDArray[np.float64]

SWEEPS = (
    200  # through all contacts, at most: those of the tests take some ten; what does not settle in 200 has a status
)
CORRECTIONS = (
    4  # steps of Gauss and Newton, at most: residuals are squared by each, and a step of time leaves few digits
)
TOLERANCE = (
    1e-9  # of the largest motion: what a last sweep may change; rounding is 1e-15, of dependent rows 1e-8 times more
)
_SETTLED = 100.0  # times 1e-10, of the self-test, is what such a change may leave, times the sweeps that would follow
CLOSED = 1e-11  # of the size: how far loops may be open after a step; rounding is 1e-15, results are told to 1e-10
_BEYOND = 1e-6  # of the size: a configuration further inside a contact is refused, as `simulate` does
_REST = 1e-7  # of the size, a second: what slides slower rests, as `sim.contact_reset` has it
_STEP = 1e-3  # s, of the self-test
_RELAXED, _AGREED = 300, 1e-3  # sweeps, and of the velocities: what differs by more is another answer, or none
_TRIES = 3  # of states of the self-test, until one has a certain answer
_NOTHING = 1e-12  # of the forces, and motions: none
_GAINED = 1e-9  # of energies: friction and rebound may make as much, by rounding
_FAR = 0.02  # closeness of states of the self-test, as others have it
_STICKS = -1.0  # in place of a coefficient: it sticks whatever this takes


@dataclass(frozen=True)
class Touching:
    """Contacts, end stops and dry friction of a machine, for the exported step.

    Attributes
    ----------
    open : Mechanism
        The machine with all contacts open, as other functions use it.
    whole : Mechanism
        Machine with the rows of all contacts.
    modes : ConstraintModes
    """

    open: Mechanism
    whole: Mechanism
    modes: ConstraintModes

    @property
    def names(self) -> list[str]:
        """Names of the contacts, then of the force elements whose dry friction sticks."""
        return [*self.modes.contacts, *(rub.name for rub in self.modes.rubs.values() if rub.normal is None)]

    def gaps(self, q: Array) -> Array:
        """Gaps of the contacts, m or rad."""
        residual = self.whole.residual(q)
        return np.array([float(touch.normal @ residual) for touch in self.touches if touch.normal is not None])

    @property
    def touches(self) -> list[Touch]:
        """Touches of all contacts and dry frictions, contacts first."""
        forces = [rub.name for rub in self.modes.rubs.values() if rub.normal is None]
        return [Touch.of(self.modes, self.whole, name) for name in (*self.modes.contacts, *forces)]


def touching(plant: Mechanism, contacts: Any, limits: Any, friction: str) -> Touching | None:
    """Contacts, end stops and exact friction of an exported step, as in `simulate`; None where there are none.

    Parameters
    ----------
    plant : Mechanism
    contacts : Contact or sequence of Contact
    limits : bool or sequence of str
        Coordinates whose limits are end stops; all, or none.
    friction : {"smooth", "exact"}

    Raises
    ------
    InputError
    """
    given = listed_switches(contacts)
    for contact in given:
        if not isinstance(contact, Contact):
            raise InputError(f"contacts must be Contact(...), got {contact!r}: what switches is not in C code")
    whole, stops = end_stops(plant)
    limited = {stop.name.rsplit("_", 2)[0] for stop in stops}
    if isinstance(limits, (bool, np.bool_)):
        chosen = limited if limits else set()
    else:
        chosen = set(_check.names(limits, "limits", sorted(limited), "coordinate with limits"))
    used = [stop for stop in stops if stop.name.rsplit("_", 2)[0] in chosen]
    whole = whole.without(*(stop.name for stop in stops if stop not in used)) if used else plant
    exact = _check.option(friction, ("smooth", "exact"), "friction") == "exact"
    modes = ConstraintModes(whole, [*given, *used], exact=exact)
    if not modes.contacts and not modes.rubs:
        return None
    loaded = [e.name for e, kind in zip(plant.forces, plant.arrays.elements["kind"], strict=True) if kind == LOADED]
    if loaded:
        raise InputError(
            f"friction {loaded[0]!r} of {plant.name!r} is in proportion to loads, which the step in C does not solve "
            "for; give it a friction of fixed size, such as JointForce(..., Friction(...))"
        )
    everything = modes.mode(frozenset(modes.holding(modes.contacts, {})), {})
    opened = plant.without(*(contact.name for contact in given)) if given else plant
    return Touching(opened, everything, modes)  # type: ignore[arg-type]


def contact_step(machine: ExportedMachine, found: Touching) -> Solving:
    """Exported step of a machine whose contacts are all open at its configuration.

    Raises
    ------
    InputError
        Where the configuration of the machine is inside a contact.
    """
    gaps = found.gaps(machine.q)
    for name, gap in zip(found.modes.contacts, gaps, strict=True):
        if gap < -_BEYOND * machine.plant.size:
            raise InputError(
                f"contact {name!r} is closed by {-gap:.3g} beyond zero at the configuration of the export; give a "
                "configuration q outside of it"
            )
    traced = _Traced(machine, found)
    first = traced.first()
    parts = {"moved": traced.moved(), "landing": traced.landing(), "gaps": traced.gaps()}
    for function in (first, *parts.values()):
        traced.adopt(function)
    names, rows = [touch.name for touch in found.touches], traced.rows
    pushes, count = [int(touch.normal is not None) for touch in found.touches], len(gaps)
    first_rows = np.concatenate([[0], np.cumsum([len(own) for own in rows])]).tolist()
    total, touched, nv = first_rows[-1], len(names), machine.plant.nv
    unit = {name: _unit(found.whole, name) for name in names}
    of_pushes = [
        (f"{touch.name}_{'normal' if k == 0 and touch.normal is not None else f'across_{k}'}", text)
        for touch, own in zip(found.touches, rows, strict=True)
        for k, text in enumerate(_directions(found, touch, own))
    ]
    reports = (
        ("SWEEPS", f"sweeps through all contacts, at most {2 * SWEEPS}: twice {SWEEPS}"),
        ("RESIDUAL", "what the last one has changed, of the largest motion; solved where it is at most p[tolerance]"),
        ("CORRECTIONS", f"steps of Gauss and Newton that closed loops and contacts, at most {CORRECTIONS}"),
        ("OPEN", "how far loops are open after them, or contacts inside each other, m"),
        ("WORK", "of all pushes and of dry friction in the step, J; what is lost is negative"),
    )
    pushed = Argument("push", total, "impulses of the step before, N s or N m s: zeros at first")
    inputs = (*machine.arguments("q", "v", "u"), Argument("dt", 1, "length of the step, s"), pushed)
    outputs = (
        Argument("q_next", machine.plant.nq, "positions after the step"),
        Argument("v_next", nv, "velocities after the step"),
        Argument("push_next", total, "impulses of the step, N s or N m s, in the order of the enumeration"),
        Argument("gap", count, "how far contacts are open after the step, m or rad"),
        Argument("report", len(reports), "what it took, by the enumeration of reports"),
        *machine.arguments("closeness"),
    )
    return Solving(
        "contact_step",
        "A step of time with contacts that open, close, stick and slide (Moreau and Jean): forces of its begin, "
        "impulses of contacts that fit the velocities of its end. q and v are those of the step before, and the pushes "
        "too, which tell what was closed. It is of first order in dt. Motors hold u. Prescribed motions have p of the "
        "end of the step.",
        first,
        (NEAR, MASS, "STEP"),
        inputs,
        outputs,
        _Judge(machine, found, rows).case,
        parts,
        "contacts.c",
        {
            "first": first_rows,
            "opens": pushes,
            "alone": list(range(count + 1)),
        },
        {
            "CONTACTS": (count, "those that open and close"),
            "TOUCHES": (touched, "with force elements whose dry friction sticks and slides"),
            "PUSHES": (total, "rows of all of them"),
            "SWEEPS": (SWEEPS, "bound: twice in a step where friction and rebound would make energy"),
            "CORRECTIONS": (CORRECTIONS, "bound of steps that close loops and contacts"),
            "REPORTS": (len(reports), "entries of report"),
        },
        {
            "contact": ("Contacts, in the order of gap.", [(n, unit[n]) for n in names[:count]]),
            "contact_push": ("Impulses of contacts and dry friction.", of_pushes),
            "report": ("What a step took.", reports),
        },
        ("OPEN", "ITERATIONS"),
        5 + 2 * nv + total * (2 * total + nv + 12) + count * (count + nv + 8) + 2 * machine.plant.nq,
    )


def _unit(plant: Mechanism, name: str) -> str:
    """Unit of a gap; empty if the machine has no rows for it."""
    if name not in plant.row_slices:
        return ""
    return f"gap in {plant.row_units[plant.row_slices[name].start]}"


def _directions(found: Touching, touch: Touch, own: Sequence[Array]) -> list[str]:
    """Texts with the directions of the rows of a contact or friction."""
    names, across = found.whole.row_names, touch.normal is None
    texts = []
    for row in own:
        parts = [f"{row[i]:+.6g} {names[i]}" for i in np.flatnonzero(row)]
        texts.append(f"{'across' if across else 'along'}: {' '.join(parts)}")
        across = True
    return texts


class _Traced:
    """Traced functions of the step."""

    def __init__(self, machine: ExportedMachine, found: Touching) -> None:
        self.machine, self.found = machine, found
        whole, kept = found.whole, [machine.plant.row_names[row] for row in machine.rows]
        self.own = copy.copy(machine)  # the same, with the rows of contacts, whose numbers are in a table of its own
        self.own.plant, self.own.table = whole, ParameterTable(whole)
        self.own.rows = [whole.row_names.index(name) for name in kept]
        stops = {whole.row_slices[n].start for n in found.modes.contacts if not found.modes.part(n).ends}
        limits = [  # numbers, also where they are zero
            i
            for i, x in enumerate(places(whole.arrays))
            if (x.part, x.field) == ("rows", "value") and x.record in stops
        ]
        self.own.table.parameters = self.own.table.parameters.without_structure(limits)
        self.loops = [whole.row_names.index(name) for name in machine.plant.row_names]
        at = self.own.tracing()
        (q,) = at.inputs(at.sample)
        A = TracedMachine(at.model, q).A
        self.rows = []
        for touch in found.touches:
            own = [row for row in touch.tangents if sparse(_combined(_exact(row), A))]
            self.rows.append([_exact(row) for row in (*([] if touch.normal is None else [touch.normal]), *own)])

    def adopt(self, function: Function) -> None:
        """Replace numbers of the machine with contacts by those of the machine, by name."""
        nodes, numbers_of = function.graph.nodes, self.own.table.numbers
        for k, node in enumerate(nodes):
            if node[:2] == ("input", "p"):
                nodes[k] = ("input", "p", self.machine.table.add(*numbers_of[node[2]]))

    def number(self, at: Tracing, name: str, value: float, text: str) -> Any:
        """Symbol of a number that contacts need."""
        return self.own.table.symbol(at.graph, f"contact_{name}", value, text)

    def replies(
        self, at: Tracing, machine: TracedMachine, solver: ConstrainedSolver, rows: Sequence[Array]
    ) -> tuple[list[Vector], list[Any], list[Array], Array]:
        """Rows as vectors, their mobilities without loops, the motions for a unit of each push, and the matrix W."""
        vectors = [sparse(_combined(row, machine.A)) for row in rows]
        free, motions = [], []
        for vector in vectors:
            parts = solver.metric.forward(vector).items()
            free.append(sum((x * x * solver.metric.inverse[k] for k, x in parts), 0.0))
            motions.append(solver.solve(vector, {})[0])
        W = np.array([[product(a, x) for x in motions] for a in vectors], object)
        return vectors, free, [dense(x, at.nv) for x in motions], W

    def conditions(self, at: Tracing, machine: TracedMachine, solver: ConstrainedSolver) -> tuple[list[Any], Any]:
        """Numbers that must be above zero, and the closeness to singular configurations."""
        low, high, left = conditions(machine, solver)
        near = self.own.closeness(at, low, high)
        return [self.own.clear(at, near), left], near

    def tolerance(self, at: Tracing) -> Any:
        text = "part of the largest motion that a last sweep through the contacts may change"
        return self.number(at, "tolerance", TOLERANCE, text)

    def first(self) -> Function:
        """Function (q, v, u, dt, pushes) -> the velocity without contacts, and its changes by all pushes."""
        at, found = self.own.tracing(), self.found
        rows = [row for own in self.rows for row in own]
        q, v, u, (dt,), _ = at.inputs(
            at.sample, np.linspace(0.3, 0.7, at.nv), np.ones(at.nu), np.array([_STEP]), np.zeros(len(rows))
        )
        machine = TracedMachine(at.model, q)
        machine.weigh()
        machine.drive()
        machine.move(v)
        solver = at.solver(machine)
        force = (machine.B @ u if at.nu else 0.0) - machine.h
        target = at.scaled(machine.rates())
        free, _ = solver.solve(sparse(machine.M @ v + dt * force), target)
        vectors, mobility, motions, W = self.replies(at, machine, solver, rows)
        velocity = {k: x for k, x in enumerate(v)}
        before = [product(row, velocity) for row in vectors]
        after = [product(row, free) for row in vectors]
        gap, restitution, rest, mu = [], [], [], []
        start = 0
        for touch, own in zip(found.touches, self.rows, strict=True):
            name = touch.name
            if touch.contact is not None:
                gap.append(_combined(own[0], machine.phi))
                e = self.number(at, f"{name}_restitution", touch.contact.restitution, "of an impact, 0 to 1")
                restitution.append(e)
                text = "rebounds that are slower are left out, m/s or rad/s"
                rest.append(self.number(at, f"{name}_rest_speed", touch.contact.rest_speed, text))
            slip = before[start + int(touch.normal is not None) : start + len(own)]
            start += len(own)
            mu.append(self.coefficient(at, touch, slip, dt))
        needed, near = self.conditions(at, machine, solver)
        outputs = [
            *needed,
            dt,
            near,
            self.tolerance(at),
            *dense(free, at.nv),
            *before,
            *after,
            *mobility,
            *gap,
            *restitution,
            *rest,
            *mu,
        ]
        return at.finished(outputs, W.ravel(), *motions)

    def coefficient(self, at: Tracing, touch: Touch, slip: Sequence[Any], dt: Any) -> Any:
        """Coefficient of friction at the slip before the step; for a force element, the impulse of its friction."""
        if touch.rub is None:
            return _STICKS if len(touch.tangents) else 0.0
        law, name = touch.rub.law, touch.name
        text = "friction while it slides, N or N m" if touch.normal is None else "coefficient of friction"
        level = self.number(at, f"{name}_friction", law.coulomb, text)
        speed = numbers.sqrt(sum((x * x for x in slip), 0.0))
        if law.static > law.coulomb:
            static = self.number(at, f"{name}_static_friction", law.static, "while it sticks")
            over = max(float(law.stribeck_rate or 0.0), _REST * float(self.machine.plant.size))
            rate = self.number(at, f"{name}_stribeck_rate", over, "speed over which it falls, m/s or rad/s")
            part = speed / rate
            level = level + (static - level) * numbers.exp(-(part * part))
        if touch.normal is None:
            return dt * level
        if law.viscous:
            level = level + self.number(at, f"{name}_viscous", law.viscous, "rise with the speed, s/m") * speed
        return level

    def moved(self) -> Function:
        """Function (q, displacement) -> the configuration after it."""
        at = self.own.tracing()
        q, change = at.inputs(at.sample, np.zeros(at.nv))
        return at.finished(TracedMachine(at.model, q).moved(change))

    def landing(self) -> Function:
        """Function q -> displacement that closes loops, the gaps after it, and the changes by pushes of contacts."""
        at = self.own.tracing()
        (q,) = at.inputs(at.sample)
        machine = TracedMachine(at.model, q)
        machine.weigh()
        solver = at.solver(machine)
        step = solver.least_change({i: -x for i, x in at.scaled(machine.phi).items()})
        rows = [own[0] for touch, own in zip(self.found.touches, self.rows, strict=True) if touch.normal is not None]
        vectors, mobility, motions, W = self.replies(at, machine, solver, rows)
        gaps = [_combined(row, machine.phi) + product(a, step) for row, a in zip(rows, vectors, strict=True)]
        needed, near = self.conditions(at, machine, solver)
        parts = [*needed, near, *dense(step, at.nv), *gaps, *mobility, *W.ravel()]
        return at.finished(parts, *motions)

    def gaps(self) -> Function:
        """Function q -> opening of loops or overlap of contacts, m; the allowed value; the gaps."""
        at = self.own.tracing()
        (q,) = at.inputs(at.sample)
        machine = TracedMachine(at.model, q)
        off = [abs(at.model.scale[row] * machine.phi[row]) for row in self.loops]
        gaps = []
        for touch, own in zip(self.found.touches, self.rows, strict=True):
            if touch.normal is not None:
                gaps.append(_combined(own[0], machine.phi))
                scale = _combined(np.abs(own[0]), at.model.scale) / float(np.abs(own[0]).sum())
                off.append(scale * numbers.maximum(-gaps[-1], 0.0))
        text = "how far loops may be open after a step, and contacts inside each other, m"
        closed = self.number(at, "closed", CLOSED * float(self.machine.plant.size), text)
        largest = off[0] if off else 0.0
        for x in off[1:]:
            largest = numbers.maximum(largest, x)
        return at.finished([largest, closed, *gaps])


def _combined(row: Array, values: Array) -> Any:
    """Product row @ values, without the terms that are zero."""
    return sum((float(row[i]) * values[i] for i in np.flatnonzero(row)), 0.0)


def _exact(row: Array) -> Array:
    """Row without entries that are rounding of zeros."""
    return np.where(np.abs(row) > 1e-15 * np.abs(row).max(initial=0.0), row, 0.0)


class _Judge:
    """Expected results of a step, for the self-test: contacts by exchanges of their states (`sim.contact_states`)."""

    def __init__(self, machine: ExportedMachine, found: Touching, rows: Sequence[Sequence[Array]]) -> None:
        self.machine, self.found, self.pushes = machine, found, sum(map(len, rows))
        self.touches = []
        for t, own in zip(found.touches, rows, strict=True):  # what cannot move across is left out, as in C
            across = np.array(own[int(t.normal is not None) :]).reshape(-1, len(found.whole.row_names))
            self.touches.append(replace(t, tangents=across, rate=np.zeros(len(across))))

    def case(self, state: FunctionState) -> FunctionCase:
        """Step near a state, at which a contact closes; without results if no certain ones are found."""
        for _ in range(_TRIES):
            q, v = self._approaching(state)
            inputs = q, v, state.u, [_STEP], np.zeros(self.pushes)
            found = self._stepped(q, v, state.u)
            if found is not None:
                at, after, fastest = found
                far = self.found.whole.length_scale(at)
                scales = size(at, far / self.found.whole.unit_lengths), fastest, 1.0, far, 1.0, 1.0
                outputs = at, after, None, self.found.gaps(at), None, None
                return FunctionCase(inputs, outputs, tuple(_SETTLED * scale for scale in scales))
        return FunctionCase(inputs, (None,) * 6, (1.0,) * 6)

    def _stepped(self, q: Array, v: Array, u: Array) -> tuple[Array, Array, float] | None:
        """Position and velocity after a step, and the size of velocities; None if two solution methods differ."""
        plant, h = self.found.whole, _STEP
        terms = plant.terms(q, v)
        force = terms.B @ u - terms.h
        g = terms.M @ v + h * force
        base = ContactProblem(terms, self.found.touches, g, plant.row_rates, {}, 0.0, 0.0).base
        free = terms.A @ nearest(terms, base, g, plant.row_rates[base])[0]
        reach = 2.0 * h * (size(free) + size(terms.row_rate))  # within it, contacts may close
        touches = [t for t in self.touches if t.normal is None or t.opening(terms.phi) <= reach]
        touches = [_settled(touch, terms, h) for touch in touches]
        nothing, still = _NOTHING * size(g / terms.unit_lengths), _NOTHING * (size(terms.row_rate) + plant.size)
        problem = ContactProblem(terms, touches, g, plant.row_rates, {}, nothing, still)
        problem.base = base
        landing, rebound = {}, {}
        for t in touches:
            if t.contact is not None:
                gap, back = t.opening(terms.phi), -t.contact.restitution * t.opening(terms.row_rate)
                strikes = gap + h * t.opening(free) < 0.0 and back > t.contact.rest_speed
                landing[t.name] = -max(gap, 0.0) / h
                rebound[t.name] = back if strikes else landing[t.name]
        for problem.back in (rebound, landing):
            after = problem.found()[1].x
            if touches and not size(relaxed(problem, _RELAXED).x - after) <= _AGREED * size(v, after):
                return None
            mean = 0.5 * (v + after)
            gained, work = float(mean @ (terms.M @ (after - v))), h * float(mean @ force)
            if gained - work <= _GAINED * (abs(work) + terms.kinetic):
                break
        opening = [t.opening(terms.phi + h * terms.A @ after) for t in self.touches if t.contact is not None]
        if min(opening, default=0.0) < -CLOSED * plant.size:  # one that was left out
            return None
        at = plant.integrate(q, h * after)
        for _ in range(CORRECTIONS):
            at = self._landed(at)
        return at, after, size(after, np.linalg.solve(terms.M, g))

    def _approaching(self, state: FunctionState) -> tuple[Array, Array]:
        """State near a given one where a contact touches and closes, and none overlaps; or that of the export."""
        found, machine = self.found, self.machine
        names = list(found.modes.contacts)
        for k in state.random.permutation(len(names)):
            touched = found.whole.without(
                *(n for n in found.modes.changing & set(found.whole.row_slices) if n != names[k])
            )
            try:
                q = touched.close(state.terms.q)
                v = machine.plant.project_velocity(q, state.terms.v)
            except CmbError:
                continue
            terms = machine.plant.terms(q, v)
            if nearness(machine, terms, False) > _FAR and found.gaps(q).min() > -CLOSED * machine.plant.size:
                touch = Touch.of(found.modes, found.whole, names[k])
                closes = touch.opening(found.whole.terms(q, v).row_rate) <= 0.0
                return q, v if closes else -v
        if found.gaps(state.terms.q).min(initial=0.0) >= 0.0:
            return state.terms.q, state.terms.v
        return machine.q, machine.plant.project_velocity(machine.q, state.terms.v)

    def _landed(self, q: Array) -> Array:
        """Configuration after one correction onto closed loops and out of contacts."""
        plant = self.found.whole
        terms = plant.terms(q, np.zeros(plant.nv), check=False)
        touches = [replace(t, tangents=t.tangents[:0], rub=None) for t in self.touches if t.contact is not None]
        problem = ContactProblem(terms, touches, np.zeros(plant.nv), -terms.phi, {}, 0.0, 0.0)
        problem.base = ContactProblem(terms, self.found.touches, problem.g, problem.target, {}, 0.0, 0.0).base
        return plant.integrate(q, problem.found()[1].x)


def _settled(touch: Touch, terms: Terms, h: float) -> Touch:
    """Touch with the friction level of a step, and with no direction yet."""
    if touch.rub is None:
        return touch
    moving = replace(touch, rate=touch.tangents @ terms.row_rate)
    level = (
        moving.coefficient if touch.normal is not None else h * float(touch.rub.law.level(np.linalg.norm(moving.rate)))
    )
    return replace(touch, rub=replace(touch.rub, law=Friction(level)))
