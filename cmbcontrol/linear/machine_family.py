"""Machines by values of uncertain parameters: each with its operating point, and its matrices before M is inverted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._tolerance import DEPENDENT, pinv
from ..errors import CmbError, InputError
from ..model.mechanism import Mechanism
from ..model.parameters import parameters as parameters_of
from ..model.plant import Plant
from .linearize import at_equilibrium, linearize
from .model import LinearModel
from .operating import OperatingPoint, trim
from .signals import LinearizedEquations
from .statics import largest_force

__all__ = ["BALANCED", "MachineFamily", "UncertainParameter", "intervals"]

Array = NDArray[np.float64]

BALANCED = 1e-9  # of equilibria, relative to the forces in them
_WEAK = 1e-3  # of a motor's levers: where it has less, rounding is relative to this


class UncertainParameter(NamedTuple):
    """Parameter of a machine with its interval."""

    name: str
    unit: str
    low: float
    high: float

    @property
    def middle(self) -> float:
        """Middle of the interval."""
        return 0.5 * (self.low + self.high)

    def __str__(self) -> str:
        return f"{self.name} {self.low:.6g} to {self.high:.6g} {self.unit}".rstrip()


class MachineFamily:
    """Machines with their operating points and linear models, by numbers in [-1, 1] for the parameters."""

    def __init__(
        self,
        make: Callable[[Mapping[str, float]], Plant],
        point: OperatingPoint,
        chosen: tuple[UncertainParameter, ...],
        coordinates: Any,
        inputs: Any,
        outputs: Any,
        held: Array,
    ) -> None:
        self.make, self.point, self.chosen, self.held = make, point, chosen, held
        self.signals = {"coordinates": coordinates, "inputs": inputs}
        self.outputs = outputs
        self.sizes: Array = np.zeros(0)  # of the terms of each entry, and inertias of states, as they are found
        self.inertias: Array = np.zeros(0)
        self.conditioning = 1.0
        self.positions = 0

    def values(self, x: Array) -> dict[str, float]:
        """Values of the parameters; the ends of the intervals are exact."""
        return {
            p.name: float(0.5 * ((1.0 - d) * p.low + (1.0 + d) * p.high)) for p, d in zip(self.chosen, x, strict=True)
        }

    def machine(self, x: Array) -> Plant:
        return self.make(self.values(x))

    def linear(self, x: Array) -> LinearModel:
        plant, point = self._rest(x)
        return linearize(plant, point, **self.signals, outputs=self.outputs, tolerance=BALANCED)

    def _rest(self, x: Array) -> tuple[Plant, OperatingPoint]:
        """Machine, and its operating point, found as that of the nominal machine was."""
        try:
            plant, old = self.machine(x), self.point
            report, u = old.report, dict(zip(plant.actuator_names, old.u.tolist(), strict=True))
            given = () if report is None else report.given
            free = () if report is None else report.free
            return plant, trim(
                plant,
                _closed(plant, old.q, self.held),
                u={name: u.pop(name) for name in given} or None,
                preload=u or None,
                weight=None if report is None else report.weight,
                free=free,
                tolerance=BALANCED,
            )
        except CmbError as error:
            units = {p.name: p.unit for p in self.chosen}
            where = ", ".join(f"{n} = {v:.6g} {units[n]}".rstrip() for n, v in self.values(x).items())
            raise InputError(
                f"{self.point.plant.name!r} has no linear model for all parameters in their intervals; at {where}: "
                f"{error} Narrow the intervals, or take another point"
            ) from error

    def matrix(self, x: Array) -> Array:
        """Rows of positions, M dy_v/dt and outputs by columns (dy_v/dt, x, u), with -M in the first ones.

        Notes the size of the terms of each entry, and the conditioning.
        """
        plant, point = self._rest(x)
        local = at_equilibrium(plant, point, BALANCED)
        equations = LinearizedEquations(plant, local, **self.signals)
        if equations.rated == equations.names:
            equations.K = equations.K_rates = _tangents(equations)
        C, D = equations.output_matrices(equations.outputs(self.outputs))
        plant, local = equations.plant, equations.local
        length, p, n = plant.displacement_scale, len(equations.rated), len(equations.A)
        found = []
        for of in (np.asarray, np.abs):
            M, F = equations.descriptor(of)
            parts = [equations.A[: n - p], equations.B[: n - p], C, D]
            first, push, out, through = map(of, parts)
            rows = [np.hstack([np.zeros((n - p, p)), first, push]), np.hstack([-M, F])]
            found.append(np.vstack([*rows, np.hstack([np.zeros((len(out), p)), out, through])]))
        matrix, sizes = found
        self.positions = n - p
        # Stiffnesses are sums of forces by lengths, of which little may be left: weights, and forces of loops. A motor
        # at a dead centre moves nothing, but for rounding of the lever arms of others.
        force = largest_force(plant, local, local.lam, local.u)
        reach, sizes = np.abs(equations.K_rates) / length[:, None], np.abs(sizes)
        sizes[n - p : n, p:n] += force * reach.T @ (np.abs(equations.K) / length[:, None])
        pushed = length @ np.abs(equations.force)
        sizes[n - p : n, n + p :] += _WEAK * np.outer(reach.max(axis=0), pushed)
        carried = np.abs(equations.K.T) @ np.abs(local.M) @ np.abs(equations.K)
        inertias = np.concatenate([carried.diagonal(), M.diagonal()])
        self.sizes = np.maximum(self.sizes, sizes) if self.sizes.size else sizes
        self.inertias = np.maximum(self.inertias, inertias) if self.inertias.size else inertias
        terms = plant.terms(point.q, np.zeros(plant.nv))
        self.conditioning = min(self.conditioning, terms.conditioning, equations.conditioning)
        return matrix

    def scales(self) -> tuple[Array, Array]:
        """Scales of rows and columns of the matrices, with which the terms found so far are at most one."""
        return _scales(self.sizes, self.inertias, len(self.inertias) - self.positions)


def _tangents(equations: LinearizedEquations) -> Array:
    """K from the geometry alone, whatever the masses are: its rounding is then no change of K with a mass."""
    plant, local, R = equations.plant, equations.local, equations.rows.R
    levers = plant.row_scale[:, None] * local.A / plant.unit_lengths
    Z = np.linalg.svd(levers)[2][local.rank :].T / plant.unit_lengths[:, None]
    return Z @ np.linalg.inv(R @ Z)


def _closed(plant: Plant, q: Array, R: Array) -> Array:
    """Configuration near q with closed loops, moved only where R delta = 0, by Newton's method."""
    still, best = np.zeros(plant.nv), np.inf
    held = R / plant.unit_lengths
    held = held / np.linalg.norm(held, axis=1, keepdims=True)
    for _ in range(30):
        terms = plant.terms(q, still)
        phi = terms.row_scale * terms.phi
        left = float(np.abs(phi).max(initial=0.0))
        if left <= 1e-14 * plant.size or (left >= 0.5 * best and left <= 1e-11 * plant.size):
            break
        best = left
        step = pinv(np.vstack([held, terms.levers]), 1.0, DEPENDENT) @ np.concatenate([np.zeros(len(R)), -phi])
        q = plant.integrate(q, step / plant.unit_lengths)
    return q


def intervals(plant: Plant, uncertain: Mapping[str, Any], own: bool) -> tuple[UncertainParameter, ...]:
    """Parameters with their intervals, checked; `own` are those of the machine."""
    given = _check.mapping(uncertain, "uncertain", "parameters to intervals")
    if not given:
        raise InputError("uncertain: give at least one parameter with its interval")
    known = parameters_of(plant) if isinstance(plant, Mechanism) else {}
    found = []
    for name, how in given.items():
        what = f"the interval of {_check.one_of(name, known, 'parameter') if own else _check.name(name, 'parameter')!r}"
        if _check.single(how):
            value = known[name].value if name in known else 0.0
            change = _check.positive(how, f"{what}, a share of its value,") * abs(value)
            if not change:
                raise InputError(f"{what} is a share of its value, which is zero; give (low, high)")
            low, high = value - change, value + change
        else:
            low, high = _check.pair(how, what)
        if not low < high:
            raise InputError(f"{what} must be (low, high) with low < high, got {_check.shown(how)}")
        found.append(UncertainParameter(name, known[name].unit if name in known else "", low, high))
    return tuple(found)


def _scales(sizes: Array, inertias: Array, p: int) -> tuple[Array, Array]:
    """Scales r and c of rows and columns, with which sizes are at most one.

    Each state has the scale of its inertia, and all positions, rates and inputs one of their own besides: an entry that
    is zero on paper is compared with those beside it.
    """
    n = len(inertias)
    own = 1.0 / np.sqrt(inertias)
    r, c = np.ones(len(sizes)), np.concatenate([own[n - p :], own, np.ones(sizes.shape[1] - p - n)])
    r[n - p : n] = own[n - p :]
    columns = [slice(0, p), slice(p, n), slice(n, n + p), *(slice(k, k + 1) for k in range(n + p, len(c)))]
    moving = sizes[n - p : n] * r[n - p : n, None]
    for some in columns:
        largest = float((moving[:, some] * c[some]).max(initial=0.0))
        c[some] /= largest if largest > 0.0 else 1.0
    others = [*range(n - p), *range(n, len(sizes))]
    largest = (sizes[others] * c).max(axis=1, initial=0.0)
    r[others] = 1.0 / np.where(largest > 0.0, largest, 1.0)
    return r, c
