"""Both machines in MuJoCo: a tree of hinges with soft `connect` constraints at the cuts."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from . import common
from .common import Array, Evaluation, Machine, Run

SETTINGS = {
    "model": "hinge per rod, connect equality between sites at the cuts; soft by design: "
    "solimp 0.9999 is the hardest MuJoCo accepts, the rest is held by a stiff damped reference (solref "
    "in its direct form)",
    "forward dynamics": "mj_forward, Newton solver, automatic Jacobian, no islands, no warm start and "
    "all unused stages disabled; natural frequency of solref 0.3/h, damping 1, h = 0.1 ms",
    "simulation": "RK4 in C (mj_step with nstep per output), solref in shares of 1/h; "
    "implicitfast and discrete are 3 times cheaper a step but first order: an energy drift of 1e-2 J "
    "where RK4 has 1e-7 J (five-bar regular, h = 0.1 ms)",
    "five-bar regular": "natural frequency 0.3/h, damping 1: best energy",
    "five-bar second and singular": "1/h and 2/h, damping 1 and 0.7, flag diagexact: the softness then "
    "follows the vanishing closure row at the singular configuration; found by scanning against the known "
    "motion",
    "N four-bar": "2/h, damping 1 (1.5/h, 0.7 for steps above 1 ms), without diagexact, which "
    "made long machines unstable",
}

_FLAGS = (
    "contact",
    "island",
    "warmstart",
    "limit",
    "frictionloss",
    "spring",
    "damper",
    "actuation",
    "clampctrl",
    "sensor",
    "midphase",
    "autoreset",
    "eulerdamp",
)


def available() -> bool:
    """Tell whether MuJoCo can be imported."""
    return find_spec("mujoco") is not None


def version() -> str:
    """Return MuJoCo's version."""
    import mujoco

    return str(mujoco.__version__)


def forward_dynamics(machine: Machine) -> Evaluation:
    """Return one (softly) constrained forward dynamics at the fixed regular state."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(_xml(machine, 1e-4, {"stiffness": 0.3, "damping": 1.0}))
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = common.regular_state(machine)
    return common.evaluation(mujoco.mj_forward, model, data, read=lambda _: data.qacc)


def simulate(machine: Machine, start: str, t_end: float, **accuracy: float) -> Run:
    """Integrate from a named start and measure the run.

    Parameters
    ----------
    machine, start, t_end
        See `common`.
    **accuracy
        `substeps` (RK4 steps per 10 ms output), `stiffness` (natural frequency of the constraint times the
        time step), `damping` (its damping ratio) and `exact_diagonal` (1 for MuJoCo's flag diagexact);
        what is left out comes from `defaults`.
    """
    import mujoco

    chosen = defaults(machine, start) | accuracy
    substeps = int(chosen["substeps"])
    text = _xml(machine, common.OUTPUT_STEP / substeps, chosen)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    times, state = common.output_times(t_end), common.initial_state(machine, start)
    _run(model, data, state, substeps, 2)
    wall, states = common.timed(lambda: _run(model, data, state, substeps, len(times)))
    return common.assess(machine, start, t_end, times, states, wall, 4 * substeps * (len(times) - 1))


def defaults(machine: Machine, start: str) -> dict[str, float]:
    """Return the accuracy settings found best for a start."""
    if start == "regular":
        return {"substeps": 50, "stiffness": 0.3, "damping": 1.0}
    if start == "upright":
        return {"substeps": 10, "stiffness": 2.0, "damping": 1.0}
    if start == "second":
        return {"substeps": 100, "stiffness": 1.0, "damping": 1.0, "exact_diagonal": 1}
    return {"substeps": 100, "stiffness": 2.0, "damping": 0.7, "exact_diagonal": 1}


def ladder(machine: Machine, start: str) -> list[dict[str, float]]:
    """Return accuracy settings from coarse to fine."""
    fine = [{"substeps": float(k)} for k in (10, 15, 20, 30, 50, 100, 200, 500)]
    if start != "upright":
        return [{"substeps": float(k)} for k in (2, 3, 5)] + fine
    return [{"substeps": float(k), "stiffness": 1.5, "damping": 0.7} for k in (2, 3, 5)] + fine


def _run(model: Any, data: Any, state: tuple[Array, Array], substeps: int, rows: int) -> tuple[Array, Array]:
    """Step through the output times and return joint angles and rates."""
    import mujoco

    mujoco.mj_resetData(model, data)
    data.qpos[:], data.qvel[:] = state
    q, v = np.empty((rows, model.nq)), np.empty((rows, model.nv))
    q[0], v[0] = state
    for row in range(1, rows):
        mujoco.mj_step(model, data, nstep=substeps)
        q[row], v[row] = data.qpos, data.qvel
    return q, v


def _xml(machine: Machine, step: float, chosen: dict[str, float]) -> str:
    rods = common.tree(machine)
    frequency = chosen["stiffness"] / step
    solref = f"{-(frequency**2)!r} {-2.0 * chosen['damping'] * frequency!r}"
    hard = f'solref="{solref}" solimp="0.9999 0.9999 0.001"'
    cuts = "".join(f'<connect site1="end{a}" site2="end{b}" {hard}/>' for a, b in rods.loops)
    trees = "".join(_body(rods, rod) for rod, parent in enumerate(rods.parent) if parent < 0)
    flags = " ".join(f'{flag}="disable"' for flag in _FLAGS)
    if chosen.get("exact_diagonal"):
        flags += ' diagexact="enable"'
    return (
        f'<mujoco><compiler angle="radian"/><option timestep="{step!r}" gravity="0 {-common.GRAVITY} 0" '
        f'integrator="RK4" solver="Newton" iterations="5" tolerance="1e-12"><flag {flags}/></option>'
        f"<worldbody>{trees}</worldbody><equality>{cuts}</equality></mujoco>"
    )


def _body(rods: common.Tree, rod: int) -> str:
    (x, y), length, spin = rods.pivot[rod], rods.length[rod], rods.inertia[rod]
    carried = "".join(_body(rods, child) for child, parent in enumerate(rods.parent) if parent == rod)
    return (
        f'<body pos="{x} {y} 0"><joint axis="0 0 1"/><site name="end{rod}" pos="{length} 0 0"/>'
        f'<inertial pos="{length / 2} 0 0" mass="{rods.mass[rod]}" diaginertia="{spin!r} {spin!r} {spin!r}"/>'
        f"{carried}</body>"
    )
