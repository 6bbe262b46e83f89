"""Hydraulic drives: cylinders behind servo valves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputError
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.symbols import joined, numbers_of, where_less
from .chain import EffortBlock, Setting
from .controller import require_same_signals

__all__ = ["HydraulicDrive"]

Array = NDArray[np.float64]

_LAMINAR = 1e5  # Pa: below about this drop the flow through an edge is proportional to it


class HydraulicDrive(EffortBlock):
    """Cylinders with compressible oil behind 4/3 valves; the two pressures of each are states.

    In each chamber V / bulk_modulus dp/dt is the flow that comes in, less the volume that the piston takes. A valve
    opens one chamber to the supply and the other one to the tank, with the flow of sharp edges: ``rated_flow`` at a
    drop of ``rated_drop`` per edge and full opening. Efforts of motors that are no cylinders pass unchanged.

    Part of the machine: behind the held efforts of a sampled law it moves in continuous time.

    Parameters
    ----------
    plant : Mechanism
        Plant with the cylinders (`Cylinder` with bore and rod).
    supply : float
        Pressure of the supply, Pa.
    rated_flow : float or mapping of motor name to float
        Flow through an edge at full opening and a drop of `rated_drop`, m3/s.
    rated_drop : float
        Drop of pressure at one edge, Pa.
    command : {"force", "valve"}
        Kind of effort that the law gives: forces, N, which an inner loop follows with `bandwidth`; or openings from -1
        to 1, where positive ones extend.
    bandwidth : float
        Bandwidth of the inner loop, rad/s.
    bulk_modulus : float
        Bulk modulus of oil and hoses, Pa.
    dead_volume : float, optional
        Volume of each chamber and its hose where the piston is at its end, m3; defaults to 5 % of the cylinder.
    leakage : float
        Leakage across the piston, m3/(s Pa).
    tank : float
        Pressure of the tank, Pa.
    relief : float, optional
        Pressure above which a valve lets oil out of a chamber, Pa: at 10 % more, the rated flow.
    initial : mapping of motor name to float, optional
        Forces at the start, N; 0 for those that are not named.

    Raises
    ------
    ValueError
        For plants without cylinders, and numbers that are not possible.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> drive = HydraulicDrive(plants.excavator(), supply=30e6, rated_flow=5e-3)
    >>> drive.state_names(plants.excavator())[:2]
    ['boom_cylinder_bore_pressure', 'boom_cylinder_rod_pressure']
    """

    place = "machine"

    def __init__(
        self,
        plant: Mechanism,
        *,
        supply: float,
        rated_flow: float | Mapping[str, float],
        rated_drop: float = 3.5e6,
        command: str = "force",
        bandwidth: float = 60.0,
        bulk_modulus: float = 1.4e9,
        dead_volume: float | None = None,
        leakage: float = 0.0,
        tank: float = 0.0,
        relief: float | None = None,
        initial: Mapping[str, float] | None = None,
    ) -> None:
        _check.plant(plant)
        known = [c for c in getattr(plant, "cylinders", ()) if c.motor and c.bore is not None and c.rod is not None]
        named = {c.name: c for c in known}
        if not named:
            raise InputError(
                f"{plant.name!r} has no hydraulic cylinder; describe them with Mechanism(cylinders=[Cylinder(..., "
                "bore=, rod=)])"
            )
        self.plant, self.cylinders = plant, tuple(named)
        self.supply = _check.positive(supply, "the supply of HydraulicDrive")
        self.tank = _check.positive(tank, "the tank of HydraulicDrive", zero=True)
        if self.tank >= self.supply:
            raise InputError(f"the tank, {self.tank:g} Pa, must be below the supply, {self.supply:g} Pa")
        self.command = _check.option(command, ("force", "valve"), "command")
        self.bandwidth = _check.positive(bandwidth, "the bandwidth of HydraulicDrive")
        self.bulk_modulus = _check.positive(bulk_modulus, "the bulk_modulus of HydraulicDrive")
        self.leakage = _check.positive(leakage, "the leakage of HydraulicDrive", zero=True)
        drop = _check.positive(rated_drop, "the rated_drop of HydraulicDrive")
        flow = rated_flow if isinstance(rated_flow, Mapping) else dict.fromkeys(named, rated_flow)
        for name in (*flow, *(initial or ())):
            _check.one_of(name, list(named), "cylinder")
        missing = [name for name in named if name not in flow]
        if missing:
            raise InputError(f"rated_flow of HydraulicDrive names no {', '.join(map(repr, missing))}")
        rated = np.array([_check.positive(flow[name], f"the rated_flow of {name!r}") for name in named])
        self.valve = rated / np.sqrt(drop)  # m3/s at full opening and a drop of 1 Pa
        self.relief = None if relief is None else _check.positive(relief, "the relief of HydraulicDrive")
        self._relieving = rated / (0.1 * self.relief) if self.relief else np.zeros(len(named))
        self.area = np.array([c.area for c in named.values()])
        self.rod_area = np.array([c.rod_area for c in named.values()])
        stroke = np.array([c.stroke for c in named.values()])
        self.retracted, self.extended = stroke.T
        self.dead = 0.05 * self.area * (self.extended - self.retracted)
        if dead_volume is not None:
            self.dead = np.full(len(named), _check.positive(dead_volume, "the dead_volume of HydraulicDrive"))
        given = initial or {}
        self.initial = np.array([_check.number(given.get(name, 0.0), f"initial of {name!r}") for name in named])
        self._motors = np.array([plant.actuator_names.index(name) for name in named])
        self._positions = np.array([plant.position_names.index(name) for name in named])
        self._velocities = np.array([plant.velocity_names.index(name) for name in named])

    def bound(self, setting: Setting) -> Self:
        return self

    def start(self, plant: Plant) -> Array:
        """Initial pressures, Pa, which give the initial forces, around half of the supply."""
        require_same_signals(self.plant, plant)
        middle = 0.5 * (self.supply + self.tank)
        rod = np.where(self.initial >= 0.0, 0.5 * middle, middle)
        bore = (self.initial + self.rod_area * rod) / self.area
        if (bore < self.tank).any() or (bore > self.supply).any():
            worst = int(np.argmax(np.maximum(self.tank - bore, bore - self.supply)))
            raise InputError(
                f"an initial force of {self.initial[worst]:g} N of {self.cylinders[worst]!r} is more than the supply "
                f"of {self.supply:g} Pa gives"
            )
        return np.column_stack([bore, rod]).ravel()

    def count(self, terms: Terms) -> int:
        return 2 * len(self.cylinders)

    def state_names(self, plant: Plant) -> Sequence[str]:
        return [f"{name}_{side}_pressure" for name in self.cylinders for side in ("bore", "rod")]

    def force(self, state: Array) -> Array:
        """Forces of the cylinders, N."""
        p = numbers_of(state)
        return self.area * p[0::2] - self.rod_area * p[1::2]

    def cut(self, t: float, terms: Terms, u: Array, state: Array | None) -> Array:
        """Efforts cut off, beyond full opening or the forces of full pressure on one side, which need no states."""
        found = [0.0 * x for x in u]
        most = self.supply * self.area - self.tank * self.rod_area
        least = self.tank * self.area - self.supply * self.rod_area
        for k, motor in enumerate(self._motors):
            high, low = (most[k], least[k]) if self.command == "force" else (1.0, -1.0)
            found[motor] = np.minimum(np.maximum(u[motor], low), high) - u[motor]
        return _array(found)

    def effort(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        force, found = self.force(state), list(u)
        for k, motor in enumerate(self._motors):
            found[motor] = force[k]
        return _array(found)

    def derivative(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        p = numbers_of(state)
        x, v = terms.q[self._positions], terms.v[self._velocities]
        bore = self.dead + self.area * (x - self.retracted)
        rod = self.dead + self.rod_area * (self.extended - x)
        opening = self._opening(_array([u[k] for k in self._motors]), p, v, bore, rod)
        rates: list[Any] = []
        for k in range(len(self.cylinders)):
            a, b, y = p[2 * k], p[2 * k + 1], opening[k]
            inward, outward = np.maximum(y, 0.0), np.maximum(-y, 0.0)
            leak = self.leakage * (a - b)
            flow_a = self.valve[k] * (inward * _edge(self.supply - a) - outward * _edge(a - self.tank)) - leak
            flow_b = self.valve[k] * (outward * _edge(self.supply - b) - inward * _edge(b - self.tank)) + leak
            if self.relief is not None:
                flow_a = flow_a - self._relieving[k] * np.maximum(a - self.relief, 0.0)
                flow_b = flow_b - self._relieving[k] * np.maximum(b - self.relief, 0.0)
            rates.append(self.bulk_modulus / bore[k] * (flow_a - self.area[k] * v[k]))
            rates.append(self.bulk_modulus / rod[k] * (flow_b + self.rod_area[k] * v[k]))
        return _array(rates)

    def _opening(self, u: Any, p: Any, v: Any, bore: Any, rod: Any) -> Any:
        """Openings of the valves, -1 to 1; for forces, those with dF/dt = bandwidth (u - F) at these pressures."""
        if self.command == "force":
            a, b, beta = p[0::2], p[1::2], self.bulk_modulus
            wanted = self.bandwidth * (u - self.force(p)) + beta * (self.area**2 / bore + self.rod_area**2 / rod) * v
            by_bore, by_rod = beta * self.valve * self.area / bore, beta * self.valve * self.rod_area / rod
            out = by_bore * _edge(self.supply - a) + by_rod * _edge(b - self.tank)  # N/s at full opening
            back = by_bore * _edge(a - self.tank) + by_rod * _edge(self.supply - b)
            least = by_bore * np.sqrt(_LAMINAR)  # so that it stays finite where there is no drop
            u = wanted / np.maximum(where_less(wanted, 0.0, back, out), least)
        return np.minimum(np.maximum(u, -1.0), 1.0)


def _edge(drop: Any) -> Any:
    """Root of a pressure drop, with its sign, and a finite slope at zero."""
    size = np.sqrt(drop * drop + _LAMINAR * _LAMINAR)
    return drop / np.sqrt(size)


def _array(values: list[Any]) -> Any:
    """Array of numbers, or of symbols where there are any."""
    return joined(values) if any(not isinstance(x, (float, int, np.number)) for x in values) else np.array(values)
