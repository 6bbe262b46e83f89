"""Poles of closed machines at rest: this package and other tools beside the exact ones.

Run ``python -m benchmarks.judges_linear``.  The exact poles come from `rivals.planar`, which shares nothing
with any tool.  Tools that are not installed are left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

import cmbcontrol as cmb

from .rivals import planar
from .rivals.planar import GROUND, MACHINES, SLIDE_X, TURN, Array, Machine
from .table import show

ZERO = 1e-3  # rad/s: a double pole at zero, with rounding
MODULES = ("linear_sympy", "linear_pinocchio", "linear_mujoco", "linear_exudyn")


def tools() -> dict[str, ModuleType]:
    """Return the tools that are installed."""
    modules = {name.removeprefix("linear_"): import_module(f".rivals.{name}", __package__) for name in MODULES}
    return {name: module for name, module in modules.items() if module.available()}


# -- this package ----------------------------------------------------------------------------------------------


def plant_of(machine: Machine, closure: str = "line") -> cmb.Mechanism:
    """Build the machine; the loops as points on lines (two rows) or as full revolute joints (five rows)."""
    names = [link.name for link in machine.links]
    bodies, joints, springs = [], [], []
    for link in machine.links:
        parent = "ground" if link.parent == GROUND else names[link.parent]
        frame = cmb.Frame((*link.pivot, 0.0))
        bodies.append(_body(link))
        if link.joint == TURN:
            joint = cmb.Revolute(f"{link.name}_angle", parent, link.name, frame=frame, damping=link.damping)
        else:
            axis = (1, 0, 0) if link.joint == SLIDE_X else (0, 1, 0)
            joint = cmb.Prismatic(
                f"{link.name}_travel", parent, link.name, frame=frame, axis=axis, damping=link.damping
            )
        joints.append(joint)
        if link.stiffness:
            springs.append(cmb.JointSpring(f"{link.name}_spring", joint.name, link.stiffness, link.rest))
    loops = [_loop(machine, k, closure) for k in range(len(machine.loops))]
    return cmb.Mechanism(machine.name, bodies, joints, loops, springs, gravity=(0.0, -planar.GRAVITY, 0.0))


def _body(link: planar.Link) -> cmb.Body:
    if link.inertia:
        return cmb.Body.planar(link.name, link.mass, link.com, link.inertia)
    return cmb.Body(link.name, link.mass, (link.com, 0.0, 0.0))


def _loop(machine: Machine, k: int, closure: str) -> cmb.PointOnLine | cmb.Revolute:
    loop = machine.loops[k]
    one, other = ("ground" if i == GROUND else machine.links[i].name for i in (loop.one, loop.other))
    at, to = (*loop.point_one, 0.0), (*loop.point_other, 0.0)
    if closure == "line":
        return cmb.PointOnLine(f"loop{k}", one, other, at, to)
    return cmb.Revolute(f"loop{k}", one, other, frame=cmb.Frame(at), child_frame=cmb.Frame(to))


def linear_model(machine: Machine, closure: str = "line") -> cmb.LinearModel:
    """Trim near the configuration that is meant, and linearize."""
    plant = plant_of(machine, closure)
    return cmb.linearize(plant, cmb.trim(plant, plant.close(machine.near), free="all", u=0.0))


def poles(machine: Machine) -> dict[str, NDArray[np.complex128]]:
    """Return eigenvalues with both closures."""
    return {
        "linearize, two rows a loop": linear_model(machine, "line").poles(),
        "linearize, five rows a loop": linear_model(machine, "revolute").poles(),
    }


# -- the table -------------------------------------------------------------------------------------------------


def matched(exact: NDArray, found: NDArray) -> tuple[NDArray, NDArray]:
    """The found poles that belong to the exact ones (nearest pairs first, zeros last), and the others."""
    mine, free = np.full(len(exact), np.nan, complex), np.ones(len(found), bool)
    distance = np.abs(exact[:, None] - found) + 1e6 * (np.abs(found) < ZERO)
    for i, k in zip(*np.unravel_index(np.argsort(distance, axis=None), distance.shape), strict=True):
        if np.isnan(mine[i]) and free[k]:
            mine[i], free[k] = found[k], False
    return mine, found[free]


def text(values: Iterable[complex]) -> str:
    """Format poles; of a complex pair, one stands for both."""
    shown = []
    for x in sorted(values, key=lambda x: (abs(x), x.imag)):
        if abs(x) < ZERO:
            shown.append("0")
        elif abs(x.imag) < 1e-6 * abs(x):
            shown.append(f"{x.real:.5g}")
        elif x.imag > 0.0:
            shown.append(f"{_real(x)}\u00b1{x.imag:.6g}i")
    return ", ".join(f"{shown.count(s)} x {s}" if shown.count(s) > 1 else s for s in dict.fromkeys(shown)) or "none"


def _real(x: complex) -> str:
    return "" if abs(x.real) < 1e-6 * abs(x) else f"{x.real:.4g} "


def without_constraint_stiffness(machine: Machine, q: Array) -> NDArray[np.complex128]:
    """The poles of a tool that projects the tree's stiffness and forgets that of the constraint forces."""
    y = planar.independent(machine, q)
    T, step, n = planar.tangent(machine, q, y), 1e-2, len(y)
    K = sum(
        w / step * np.array([planar.static_force(machine, q + s * k * step * e) * s for e in T.T]).T
        for k, w in planar.ORDER_8
        for s in (1, -1)
    )
    D = np.array([link.damping for link in machine.links])[:, None] * T
    slope = -np.linalg.solve(T.T @ planar.mass_matrix(machine, q) @ T, T.T @ np.concatenate([K, D], axis=1))
    return np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [slope]]))


def compare(machine: Machine, modules: dict[str, ModuleType]) -> Iterable[tuple[str, str, NDArray]]:
    """Yield tool, way and poles, the exact ones first."""
    q = planar.equilibrium(machine)
    yield "exact", "reduced motion", np.linalg.eigvals(planar.exact(machine, q)[0])
    for way, found in poles(machine).items():
        yield "cmbcontrol", way, found
    yield "formula", "stiffness of the tree alone", without_constraint_stiffness(machine, q)
    for tool, module in modules.items():
        for way, found in module.poles(machine, q).items():
            yield tool, way, found


class Finding(NamedTuple):
    """What one way to linearize says of one machine."""

    machine: str
    tool: str
    way: str
    poles: NDArray[np.complex128]  # those that belong to the exact ones
    error: float
    others: NDArray[np.complex128]


def findings(modules: dict[str, ModuleType]) -> Iterable[Finding]:
    """Yield everything, machine by machine."""
    for make in MACHINES:
        machine = make()
        exact: NDArray = np.zeros(0)
        for tool, way, found in compare(machine, modules):
            exact = found if tool == "exact" else exact
            mine, others = matched(exact, found)
            yield Finding(machine.name, tool, way, mine, float(np.abs(mine - exact).max()), others)


def markdown(found: list[Finding]) -> Iterable[str]:
    """Yield the lines of a table of errors: a row a way, a column a machine."""
    machines = list(dict.fromkeys(f.machine for f in found))
    yield "| |" + "".join(f" {machine} |" for machine in machines)
    yield "|---" * (1 + len(machines)) + "|"
    for tool, way in dict.fromkeys((f.tool, f.way) for f in found):
        cells = [f for f in found if (f.tool, f.way) == (tool, way)]
        shown = [text(f.poles) if tool == "exact" else f"{f.error:.0e}" for f in cells]
        yield f"| {tool}: {way} |" + "".join(f" {cell} |" for cell in shown)


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judges_linear", description=__doc__)
    names = [module.removeprefix("linear_") for module in MODULES]
    parser.add_argument("--width", type=int, default=200, help="columns of the output")
    parser.add_argument("--tools", nargs="*", choices=names, help="all unless told")
    parser.add_argument("--markdown", action="store_true", help="the errors alone, as a table for the documentation")
    chosen = parser.parse_args()
    console = Console(file=sys.stdout, width=chosen.width)
    modules = {k: m for k, m in tools().items() if chosen.tools is None or k in chosen.tools}
    for tool, module in modules.items():
        console.print(f"[bold]{tool}[/bold] {module.version()}")
        for item, why in module.SETTINGS.items():
            console.print(f"  {item}: {why}", style="dim")
    found = findings(modules)
    if chosen.markdown:
        console.print("\n".join(markdown(list(found))), markup=False, soft_wrap=True)
        return
    columns = ("machine", "tool", "way", "poles, rad/s", "error", "poles that are no motion of the machine")
    rows = ((f.machine, f.tool, f.way, text(f.poles), f"{f.error:.1e}", text(f.others)) for f in found)
    show(console, "Poles at the equilibrium", columns, rows)
    if "pinocchio" in modules:
        title = "Pinocchio's computeConstraintDynamicsDerivatives against differences of constraintDynamics, relative"
        columns = ("contact", "frame", "other side", "error of da/dq", "along the allowed motions")
        show(console, title, columns, modules["pinocchio"].derivative_errors())


if __name__ == "__main__":
    main()
