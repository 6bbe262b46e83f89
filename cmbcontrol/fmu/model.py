"""Content of an FMU of a machine: variables, start values, numbers and functions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from ..codegen.entries import ExportedMachine
from ..codegen.parameters import ParameterEntry
from ..errors import SingularConfigurationError
from ..kernels import tree
from ..kernels.layout import FREE, SPHERICAL
from ..model.mechanism import Mechanism
from ..model.terms import RANK_TOLERANCE
from ..model.units import effort_units
from ..trace.functions import Function
from .equations import Equations, FmuOutput, quaternions, quoted, require_possible
from .law import Law, law_of

__all__ = ["FmuModel", "Input", "model_of"]

Array = NDArray[np.float64]

Input = FmuOutput  # name, unit and text, as outputs have them


@dataclass(frozen=True)
class FmuModel:
    """All data from which sources and description of an FMU are written.

    Attributes
    ----------
    plant : Mechanism
    version : str
        Version of this package.
    law : Law or None
    q : ndarray, shape (nq,)
        Configuration at the start.
    kept_q, kept_v : list of int
        Independent positions and velocities at the start.
    q_reach : list of float
        Metres that a unit of each position counts as.
    quaternions : list of int
        Indices at which they begin in q.
    state_names, state_texts, state_values
        Data of the continuous states.
    inputs, input_values
        Efforts, loads and motions, signals of a law.
    acting : list of (int, Input)
        Loads and motions, with their place in p; -1 where nothing depends on one.
    numbers : list of Number
        The array p.
    tuned : list of int
        Entries of p that are parameters.
    parameter_names : list of str
        Names of these parameters.
    outputs : list of Output
    functions : dict of str to Function
    step : float
        Internal step of co-simulation, s.
    """

    plant: Mechanism
    version: str
    law: Law | None
    q: Array
    kept_q: list[int]
    kept_v: list[int]
    q_reach: list[float]
    quaternions: list[int]
    state_names: list[str]
    state_texts: list[str]
    state_values: list[float]
    inputs: list[Input]
    input_values: list[float]
    acting: list[tuple[int, Input]]
    numbers: list[ParameterEntry]
    tuned: list[int]
    parameter_names: list[str]
    outputs: list[FmuOutput]
    functions: dict[str, Function]
    step: float

    @property
    def token(self) -> str:
        """Token (hash) of this model: of its variables, numbers and functions."""
        made = hashlib.sha256()
        for part in (
            self.version,
            self.plant.name,
            self.state_names,
            self.state_values,
            self.inputs,
            self.input_values,
            self.outputs,
            self.numbers,
            self.q.tolist(),
            [(name, f.graph.nodes) for name, f in self.functions.items()],
        ):
            made.update(repr(part).encode())
        text = made.hexdigest()
        return f"{{{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:32]}}}"


def model_of(
    plant: Mechanism,
    q: Array,
    v: Array,
    u: Array,
    law: Any,
    references: str,
    bodies: Sequence[str],
    step: float,
    version: str,
) -> FmuModel:
    """Model of a machine at a start with closed loops.

    Raises
    ------
    SingularConfigurationError
        At a singular configuration, where no coordinates are independent.
    """
    require_possible(plant)
    machine = ExportedMachine(plant, q)
    if machine.terms.rank < plant.generic_rank(q):
        raise SingularConfigurationError(
            f"{plant.name!r} is at a singular configuration, q = {np.round(q, 6).tolist()}, where its degrees of "
            "freedom have no independent coordinates; start at another configuration q"
        )
    inside = None if law is None else law_of(machine, law, references)
    equations = Equations(machine, bodies, inside is not None)
    functions = equations.functions() | ({} if inside is None else inside.functions)
    table = list(machine.table.numbers)
    numbers = machine.table.used(functions.values())
    place = {id(number): i for i, number in enumerate(numbers)}
    acting = [(place.get(id(table[x.index]), -1), Input(x.name, x.unit, x.text)) for x in equations.acting]
    acting_values = [table[x.index].value for x in equations.acting]
    taken = {i for i, _ in acting}
    tuned = [i for i in range(len(numbers)) if i not in taken]
    kept_q, kept_v, lengths = _independent(machine, q)
    own = ([], [], []) if inside is None else _states_of(inside)
    efforts = [
        Input(f"u.{quoted(n)}", unit, f"effort of motor {n}")
        for n, unit in zip(plant.actuator_names, effort_units(plant), strict=True)
    ]
    signals = [] if inside is None else inside.signals
    inputs = [*(efforts if inside is None else []), *(x for _, x in acting), *signals]
    values = [*(u.tolist() if inside is None else []), *acting_values, *([] if inside is None else inside.values)]
    return FmuModel(
        plant=plant,
        version=version,
        law=inside,
        q=q,
        kept_q=kept_q,
        kept_v=kept_v,
        q_reach=lengths,
        quaternions=quaternions(plant),
        state_names=[
            *(f"position[{i + 1}]" for i in range(len(kept_q))),
            *(f"velocity[{i + 1}]" for i in range(len(kept_v))),
            *own[0],
        ],
        state_texts=[
            *(f"independent position; at the start {plant.position_names[i]}" for i in kept_q),
            *(f"independent velocity; at the start {plant.velocity_names[i]}" for i in kept_v),
            *own[1],
        ],
        state_values=[*q[kept_q].tolist(), *v[kept_v].tolist(), *own[2]],
        inputs=_distinct(inputs),
        input_values=values,
        acting=acting,
        numbers=numbers,
        tuned=tuned,
        parameter_names=[
            x.name for x in _distinct([FmuOutput(f"parameter.{quoted(numbers[i].name)}", "", "") for i in tuned])
        ],
        outputs=_distinct(equations.outputs),
        functions=functions,
        step=step,
    )


def _states_of(law: Law) -> tuple[list[str], list[str], list[float]]:
    """Names, texts and start values of the states of a law or drive in continuous time."""
    names = [x.name for x in _distinct([FmuOutput(f"control.{quoted(n)}", "", "") for n in law.following])]
    return (
        names,
        [f"state {n} of the {'drive' if law.period else 'law'}" for n in law.following],
        law.following_start.tolist(),
    )


def _distinct(given: Iterable[FmuOutput]) -> list[FmuOutput]:
    """Outputs with distinct names: a number is added to a name that is there already."""
    made: list[FmuOutput] = []
    known: set[str] = set()
    for output in given:
        name, count = output.name, 1
        while name in known:
            count += 1
            name = f"{output.name[:-1]}_{count}'" if output.name.endswith("'") else f"{output.name}_{count}"
        known.add(name)
        made.append(output._replace(name=name))
    return made


# -- independent coordinates ------------------------------------------------------------------------------------


def _independent(machine: ExportedMachine, q: Array) -> tuple[list[int], list[int], list[float]]:
    """Independent positions and velocities, and the metres that a unit of each position counts as."""
    plant, terms = machine.plant, machine.terms
    motions = terms.unit_motions
    level = plant.arrays.rows["level"]
    positional = motions if not level.any() else _null_space(terms.levers[level == 0])
    lengths = _position_lengths(plant)
    E, column = np.zeros((plant.nq, plant.nv)), np.empty(plant.nq)
    for k in range(plant.nv):
        tree.position_rates(plant.arrays.links, q, np.eye(plant.nv)[k], column)
        E[:, k] = column
    moved = lengths[:, None] * E / plant.unit_lengths
    return _rows_of_largest_volume(moved @ positional), _rows_of_largest_volume(motions), lengths.tolist()


def _null_space(A: Array) -> Array:
    """Orthonormal basis of the motions that some rows allow."""
    if not len(A):
        return np.eye(A.shape[1])
    _, s, V = np.linalg.svd(A)
    rank = int(np.count_nonzero(s > RANK_TOLERANCE * s.max(initial=0.0)))
    return V[rank:].T


def _rows_of_largest_volume(Z: Array) -> list[int]:
    """Rows (k) of Z (n, k) beside which no other row counts more than 1.5: ``exchange`` of ``runtime/machine.c``."""
    if not Z.shape[1]:
        return []
    kept = qr(Z.T, pivoting=True, mode="r")[1][: Z.shape[1]]
    while True:
        K = Z @ np.linalg.inv(Z[kept])
        row, column = np.unravel_index(np.abs(K).argmax(), K.shape)
        if abs(K[row, column]) <= 1.5:
            return [int(i) for i in sorted(kept)]
        kept[column] = row


def _position_lengths(plant: Mechanism) -> Array:
    """Metres that a unit of each position counts as; a quaternion changes by half of the angle."""
    made = np.empty(plant.nq)
    for link in plant.arrays.links:
        iq, iv = int(link["iq"]), int(link["iv"])
        if link["kind"] in (SPHERICAL, FREE):
            made[iq : iq + 4] = 2.0 * plant.unit_lengths[iv]
            if link["kind"] == FREE:
                made[iq + 4 : iq + 7] = plant.unit_lengths[iv + 3 : iv + 6]
        else:
            made[iq : iq + int(link["nq"])] = plant.unit_lengths[iv : iv + int(link["nv"])]
    return made


def units_of(names: Iterable[str]) -> Mapping[str, Mapping[str, int]]:
    """Units by name, as exponents of the base units of FMI."""
    return {name: _UNITS[name] for name in dict.fromkeys(names) if name in _UNITS}


_UNITS: dict[str, dict[str, int]] = {
    "s": {"s": 1},
    "m": {"m": 1},
    "rad": {"rad": 1},
    "m/s": {"m": 1, "s": -1},
    "rad/s": {"rad": 1, "s": -1},
    "m/s2": {"m": 1, "s": -2},
    "rad/s2": {"rad": 1, "s": -2},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N m": {"kg": 1, "m": 2, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
}
