"""cmbcontrol behind the interface of the rivals."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.papers.methods import settings

from . import inside
from .rivals import common
from .rivals.common import FIVE_BAR, Array, Evaluation, Machine, Run, cells
from .runs import clocked

SETTINGS = {
    "model": "the ready-made plants five_bar() and n_four_bar(n): relative joint angles, two rows a loop",
    "forward dynamics": "cmbcontrol.forward_dynamics, input checks included",
    "simulation": "cmbcontrol.simulate with its default settings (order 8, projection), whole call with q and v",
}


def available() -> bool:
    """Tell that it is there."""
    return True


def version() -> str:
    """Return the version."""
    return cmb.__version__


def plant_of(machine: Machine) -> cmb.Mechanism:
    """Build the plant."""
    return plants.five_bar() if machine == FIVE_BAR else plants.n_four_bar(cells(machine))


def _efforts(plant: cmb.Mechanism, machine: Machine, torque: Array) -> Array:
    """Motor efforts from joint torques."""
    return np.array([torque[plant.index(name)] for name in plant.actuator_names])


def forward_dynamics(machine: Machine) -> Evaluation:
    """Bind one constrained forward dynamics at the fixed regular state."""
    plant = plant_of(machine)
    q, v, torque = common.regular_state(machine)
    return common.evaluation(cmb.forward_dynamics, plant, q, v, _efforts(plant, machine, torque))


def inside_loop(machine: Machine, calls: int = 3000) -> float:
    """Time of one forward dynamics in a compiled loop, microseconds."""
    plant = plant_of(machine)
    q, v, torque = common.regular_state(machine)
    call = inside.forward(plant, q[None], v[None], _efforts(plant, machine, torque))
    call(1)
    return 1e6 * min(clocked(partial(call, calls))[0] for _ in range(5)) / calls


def simulate(machine: Machine, start: str, t_end: float, **accuracy: Any) -> Run:
    """Integrate from a named start and measure the run; `accuracy` goes to cmbcontrol.simulate."""
    plant = plant_of(machine)
    q0, v0 = common.initial_state(machine, start)
    q0 = plant.close(q0)
    v0 = plant.project_velocity(q0, v0)
    times = common.output_times(t_end)

    def run(until: float) -> tuple[cmb.Simulation, Array, Array]:
        done = cmb.simulate(
            plant, None, q0, v0, t_end=until, output_times=times[times <= until], **settings(**accuracy)
        )
        return done, done.q.values, done.v.values  # which the other tools give; all else is made when it is looked at

    run(common.OUTPUT_STEP)
    wall, (done, *states) = common.timed(lambda: run(t_end))
    evaluations = int(done.data.attrs["evaluations"])
    return common.assess(machine, start, t_end, done.time, tuple(states), wall, evaluations)


def defaults(machine: Machine, start: str) -> dict[str, float]:
    """Return no settings: the defaults of the package serve all machines and starts."""
    return {}


def ladder(machine: Machine, start: str) -> list[dict[str, float]]:
    """Return accuracies from coarse to fine."""
    return [{"rtol": 10.0**-k, "atol": 10.0**-k} for k in range(5, 14)]
