"""Machine in symbols: the terms of the equations of motion that kernels compute at a symbolic state."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.layout import Model
from .graph import Graph
from .kernels import constraint_rows, derivatives, forces, friction, inertia, tree
from .numbers import empty

__all__ = ["NumberPlace", "Parameters", "TracedMachine", "places", "symbols"]

Array = NDArray[Any]

_ACTING = {"loads": ("value",), "targets": ("targets",)}  # fields that are no structure, whatever is in them


def symbols(graph: Graph, name: str, values: NDArray[np.float64]) -> Array:
    """Array of input symbols with sample values."""
    made = empty(len(values))
    for i, x in enumerate(values):
        made[i] = graph.input(name, i, x)
    return made


class _Records(list):
    """Records of a model with symbols in them, indexed as the structured array that they stand for."""

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)


class NumberPlace(NamedTuple):
    """Place of a number in a model: part, record in it, field (a plain array's own name), and index in the field."""

    part: str
    record: int
    field: str
    index: int


def places(model: Model) -> Iterator[NumberPlace]:
    """Places of all numbers of a model, in the order of `Parameters`."""
    for name, part in zip(Model._fields, model, strict=True):
        part = np.asarray(part)
        if part.dtype.kind == "i":
            continue
        if not part.dtype.names:
            yield from (NumberPlace(name, 0, name, i) for i in range(part.size))
            continue
        for record in range(len(part)):
            for field in part.dtype.names:
                if part.dtype[field].base.kind != "i":
                    yield from (NumberPlace(name, record, field, i) for i in range(math.prod(part.dtype[field].shape)))


@lru_cache(maxsize=64)
def _masks(shapes: tuple, measured: frozenset[str]) -> tuple[Array, Array]:
    """Masks of numbers that are never structure, and of numbers of which only zeros are structure."""
    acting: list[Array] = []
    free: list[Array] = []
    for part, fields, size in shapes:
        names = [name for name, width in fields for _ in range(width)]
        for of, marked in ((acting, _ACTING.get(part, ())), (free, measured)):
            of.append(np.tile([name in marked for name in names], size // len(names)))
    return np.concatenate(acting), np.concatenate(free)


class Parameters:
    """All numbers of a model in one array: masses, lengths, stiffnesses are inputs; zeros and ones are structure.

    Parameters
    ----------
    model : Model
    measured : collection of str
        Fields in which only zeros are structure: a mass of 1 kg is a number like others.

    Attributes
    ----------
    values : array
        All numbers of the model in a fixed order, that of `places`.
    kept : array of bool
        Mask of the values that are structure.
    structure : bytes
        All other data: two models that agree in it differ in inputs only.
    """

    def __init__(self, model: Model, measured: Collection[str] = ()) -> None:
        numbers, rest, shapes = [], [], []
        for part_name, part in zip(Model._fields, model, strict=True):
            part = np.asarray(part)
            names = part.dtype.names or ()
            kinds = [name for name in names if part.dtype[name].base.kind == "i"]
            floats = [name for name in names if name not in kinds]
            rest.append(repr(part.shape).encode() + b"".join(part[name].tobytes() for name in kinds))
            if part.dtype.kind == "i":
                rest.append(part.tobytes())
            if part.dtype.kind == "i" or (names and not floats):
                continue
            columns = [part[name].reshape(len(part), math.prod(part.dtype[name].shape)) for name in floats]
            numbers.append(np.concatenate(columns, axis=1).ravel() if names else part.ravel())
            fields = [(name, x.shape[1]) for name, x in zip(floats, columns, strict=True)] or [(part_name, 1)]
            shapes.append((part_name, tuple(fields), numbers[-1].size))
        self.values = np.concatenate(numbers, dtype=np.float64)
        acting, free = _masks(tuple(shapes), frozenset(measured))
        zero = self.values == 0.0
        self.kept = kept = (zero | ((np.abs(self.values) == 1.0) & ~free)) & ~acting
        self.structure = b"".join(rest) + kept.tobytes() + self.values[kept].tobytes()

    def without_structure(self, numbers: Iterable[int]) -> Parameters:
        """Copy with these numbers as inputs, whatever their values are."""
        made = copy.copy(self)
        made.kept = self.kept.copy()
        made.kept[list(numbers)] = False
        return made

    def symbolic(self, graph: Graph, model: Model, offset: int = 0) -> SimpleNamespace:
        """Model with symbols in place of its numbers, which begin at an offset among the inputs."""
        made = empty(len(self.values))
        for i, x in enumerate(self.values):
            made[i] = float(x) if self.kept[i] else graph.input("p", offset + i, x)
        parts, at = {}, 0
        for name, part in zip(Model._fields, model, strict=True):
            part = np.asarray(part)
            if part.dtype.kind == "i":
                parts[name] = part
            elif part.dtype.names:
                parts[name] = records = _Records()
                for record in part:
                    fields = {}
                    for field in part.dtype.names:
                        kind = part.dtype[field]
                        if kind.base.kind == "i":
                            fields[field] = int(record[field])
                        else:
                            size = int(np.prod(kind.shape))
                            values, at = made[at : at + size], at + size
                            fields[field] = values.reshape(kind.shape) if kind.shape else values[0]
                    records.append(SimpleNamespace(**fields))
            else:
                values, at = made[at : at + part.size], at + part.size
                parts[name] = values.reshape(part.shape) if part.ndim else values[0]
        return SimpleNamespace(**parts)


class TracedMachine:
    """Equations of motion in symbols, by the same kernels that evaluate them with numbers.

    Attributes
    ----------
    q, v : arrays of symbols
    M, phi, A, B, h, b : arrays of symbols
        See `dynamics`; h and b after `move`.
    """

    def __init__(self, model: SimpleNamespace, q: Array) -> None:
        self.model, self.q = model, q
        links, rows, nv, nu = len(model.links), len(model.rows), len(model.damping), len(model.drives)
        self.R, self.p, self.S, self.I = empty((links, 3, 3)), empty((links, 3)), empty((nv, 6)), empty((links, 10))
        self.phi, self.A, self.E, self.wrenches = empty(rows), empty((rows, nv)), empty((rows, 5, 3)), empty((rows, 6))
        tree.link_poses(model.links, q, self.R, self.p)
        tree.joint_screws(model.links, self.R, self.p, self.S)
        constraint_rows.constraint_jacobian(model, q, self.R, self.p, self.S, self.E, self.wrenches, self.phi, self.A)
        self.nv, self.nu = nv, nu

    def weigh(self) -> None:
        """Compute the mass matrix M."""
        self.M = empty((self.nv, self.nv))
        inertia.world_inertias(self.model.links, self.R, self.p, self.I)
        self.composite = self.I.copy()
        inertia.composite_inertia(self.model.links, self.composite, self.S, self.M)
        inertia.add_armature(self.model.armature, self.M)

    def drive(self) -> None:
        """Compute the matrix B of the actuators."""
        self.B = empty((self.nv, self.nu))
        forces.drive_matrix(self.model, self.R, self.p, self.S, self.B, empty(self.nv))

    def move(self, v: Array, a: Array | None = None) -> None:
        """Compute h and b at velocities v; with accelerations, M a + h and A a + b, but for rows of couplings.

        After `weigh`, or by itself with accelerations: Newton and Euler need no mass matrix.
        """
        links = self.model.links
        self.v, self.V, self.A0, self.W = v, empty((len(links), 6)), empty((len(links), 6)), empty((len(links), 6))
        self.h, self.b = empty(self.nv), empty(len(self.model.rows))
        tree.twists(links, self.S, v, self.V)
        tree.bias_accelerations(links, self.S, v, self.V, self.A0)
        if a is not None:
            inertia.world_inertias(links, self.R, self.p, self.I)
            of_joints = empty((len(links), 6))
            tree.twists(links, self.S, a, of_joints)
            self.A0 = self.A0 + of_joints
        inertia.newton_euler(links, self.I, self.S, self.V, self.A0, self.model.gravity, self.W, self.h)
        if a is not None:
            self.h = self.h + self.model.armature * a
        forces.add_passive_forces(self.model, self.q, v, self.R, self.p, self.S, self.V, self.h)
        poses = self.R, self.p
        constraint_rows.constraint_bias(self.model, self.q, v, *poses, self.E, self.wrenches, self.V, self.A0, self.b)

    def slopes(self, a: Array, lam: Array, u: Array) -> derivatives.Slopes:
        """Derivatives of the equations of motion, see `kernels.derivatives`."""
        self.z = empty(self.nv)
        found = derivatives.new_slopes(self.model)
        pair, carried = derivatives.new_pair(self.nv), derivatives.new_carried(self.model)
        derivatives.slopes(self.model, self, self.q, self.v, a, lam, u, pair, carried, found)
        return found

    def unit_load_forces(self) -> Array:
        """D (loads, nv), forces of unit loads of friction."""
        D = empty((friction.loaded(self.model), self.nv))
        friction.unit_load_forces(self.model, self.q, self.v, self.R, self.p, self.S, self.V, D)
        return D

    def dissipated(self) -> Any:
        """Power that joint friction, dampers and force elements take, W; without friction in proportion to loads."""
        return forces.dissipated_power(self.model, self.q, self.v, self.R, self.p, self.V)

    def load_power(self) -> Any:
        """Power of the loads, W."""
        return forces.load_power(self.model, self.R, self.p, self.V)

    def motion_power(self, lam: Array) -> Any:
        """Power of prescribed motions, W."""
        return -sum((x * rate for x, rate in zip(lam, self.rates(), strict=True)), 0.0)

    def rates(self) -> Array:
        """Rates that A v has to have: zero, but for prescribed motions."""
        made = empty(len(self.model.rows))
        constraint_rows.constraint_rates(self.model, made)
        return made

    def energies(self) -> tuple[Any, Any]:
        """Kinetic and potential energy, J."""
        return forces.kinetic_energy(self.M, self.v), forces.potential_energy(self.model, self.q, self.R, self.p)

    def energy(self) -> Any:
        """Sum of kinetic and potential energy, J."""
        return sum(self.energies())

    def position_rates(self) -> Array:
        """Rates of the positions, dq/dt."""
        made = empty(len(self.q))
        tree.position_rates(self.model.links, self.q, self.v, made)
        return made

    def moved(self, change: Array) -> Array:
        """Configuration after a displacement (nv,)."""
        made = empty(len(self.q))
        tree.retract(self.model.links, self.q, change, made)
        return made
