"""Diagnosis of a plant at a configuration: degrees of freedom, redundant rows, unique forces, actuation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._tolerance import DEPENDENT, rank
from .actuation import Actuation, actuation_at
from .multipliers import unique_multipliers
from .units import effort_units

if TYPE_CHECKING:
    from .agreement import Agreement
    from .mechanism import Mechanism
    from .plant import Plant
    from .terms import Terms

__all__ = ["Diagnosis", "diagnose"]


@dataclass(frozen=True)
class Diagnosis:
    """Result of `Mechanism.diagnose` at a configuration.

    Attributes
    ----------
    rows, rank, dof, generic_rank : int
        Loop rows, independent ones here, true freedom here, and the rank at configurations nearby.
    singular : bool
        True where the rank here is below the one nearby.
    redundant : dict of loop name to int
        Rows that can be left out without a change of motion, counted where they come last.
    conditioning : float
        Smallest over largest independent constraint gradient, in the metric of M.
    singular_values : ndarray
        Singular values of the Jacobian A.
    unique_multipliers : dict of row name to bool
        Whether the motion determines each multiplier (the constraint force it always does).
    actuation : Actuation
    agreement : Agreement or None
        Change by which redundant rows agree that agreed only to the digits of the machine's numbers.
    residuals : dict of loop name to float
        Opening of each loop, metres.
    """

    rows: int
    rank: int
    generic_rank: int
    dof: int
    singular: bool
    redundant: dict[str, int]
    conditioning: float
    singular_values: np.ndarray
    unique_multipliers: dict[str, bool]
    actuation: Actuation
    agreement: Agreement | None
    residuals: dict[str, float]

    def __str__(self) -> str:
        redundant = ", ".join(f"{k}: {n}" for k, n in self.redundant.items() if n) or "none"
        shared = [k for k, unique in self.unique_multipliers.items() if not unique]
        nearby = f" (nearby {self.generic_rank}: singular configuration)" if self.singular else ""
        lines = [
            f"rows {self.rows}, rank {self.rank}" + nearby,
            f"true degrees of freedom {self.dof}",
            f"redundant rows by loop: {redundant}",
            f"conditioning {self.conditioning:.3g} (1 best, 0 singular)",
            "multipliers: " + ("all unique" if not shared else f"not unique in {', '.join(shared)}"),
            f"actuation: {self.actuation}",
        ]
        if self.agreement is not None:
            lines.append(str(self.agreement))
        return "\n".join(lines)


def _redundant_rows(plant: Plant, terms: Terms) -> dict[str, int]:
    """Number of rows of each loop that depend on the rows before them, loops taken in their order."""
    counts, before = {}, 0
    for loop, rows in plant.row_slices.items():
        now = min(rank(np.linalg.svd(terms.levers[: rows.stop], compute_uv=False), 1.0, DEPENDENT), terms.rank)
        counts[loop] = (rows.stop - rows.start) - (now - before)
        before = now
    return counts


def diagnose(plant: Plant, q: np.ndarray) -> Diagnosis:
    """Diagnosis of a plant at a configuration; see `Mechanism.diagnose`."""
    terms = plant.terms(q, np.zeros(plant.nv))
    generic = plant.generic_rank(q)
    mask = unique_multipliers(terms.levers, terms.rank)
    return Diagnosis(
        rows=terms.A.shape[0],
        rank=terms.rank,
        generic_rank=generic,
        dof=terms.dof,
        singular=terms.rank < generic,
        redundant=_redundant_rows(plant, terms),
        conditioning=terms.conditioning if terms.rank >= generic else 0.0,
        singular_values=terms.singular_values,
        unique_multipliers=dict(zip(plant.row_names, mask.tolist(), strict=True)),
        actuation=actuation_at(terms, plant.velocity_names),
        agreement=getattr(plant, "agreement", None),
        residuals=plant.loop_residuals(q),
    )


def typical_pose(plant: Plant) -> np.ndarray | None:
    """Configuration with closed loops for the mobility table, or None."""
    try:
        return plant.assemble()
    except ValueError:
        return None


def table(plant: Plant) -> str:
    """Mobility table that `print(plant)` shows."""
    q = typical_pose(plant)
    diagnosis = diagnose(plant, q) if q is not None else None
    lines = plant.part_lines(diagnosis)
    if plant.source:
        lines.insert(1, f"  source: {plant.source}")
    if diagnosis is None:
        lines.append(
            "  the loops could not be closed from the neutral configuration; diagnose(q) at a configuration of yours"
        )
    else:
        lines += ["  at an assembled configuration:"] + [f"    {line}" for line in str(diagnosis).splitlines()]
    return "\n".join(lines)


def _ends(loop: Any) -> str:
    """Text of the bodies or coordinates that a constraint joins."""
    if hasattr(loop, "coefficients"):
        return ", ".join(loop.coefficients)
    if hasattr(loop, "cam"):
        return f"{loop.cam} -> {loop.follower}"
    a, b = getattr(loop, "parent", getattr(loop, "a", "")), getattr(loop, "child", getattr(loop, "b", ""))
    return f"{a} <-> {b}"


def loop_line(plant: Plant, diagnosis: Diagnosis | None, loop: str, kind: str, ends: str) -> str:
    """Line of a loop in the mobility table."""
    rows = plant.row_slices[loop]
    extra = f", {diagnosis.redundant[loop]} redundant" if diagnosis and diagnosis.redundant[loop] else ""
    return f"  loop   {loop:<16} {kind:<13} {ends}  [{rows.stop - rows.start} rows{extra}]"


def motor_line(name: str, target: str, effort: float, unit: str) -> str:
    """Line of an actuator in the mobility table."""
    limit = "no limit" if np.isinf(effort) else f"limit {effort:g} {unit}".rstrip()
    return f"  motor  {name:<16} {target}  [{limit}]"


def ranges(plant: Plant, positions: Sequence[str]) -> str:
    """Text of the limits of position coordinates that have some, as ``, left -1 to 1 rad``; named where several."""
    texts = []
    for name in positions:
        i = plant.position_names.index(name)
        low, high = plant.limits[i]
        if np.isfinite([low, high]).any():
            of = f"{name} " if len(positions) > 1 else ""
            texts.append(f", {of}{low:g} to {high:g} {plant.position_units[i]}")
    return "".join(texts)


def function_lines(plant: Plant, diagnosis: Diagnosis | None) -> list[str]:
    """Lines of the mobility table for the parts of a plant given by functions."""
    lines = [f"{plant.name}: given by functions, {plant.nv} coordinates, {len(plant.row_names)} loop rows"]
    for name, unit in zip(plant.position_names, plant.position_units, strict=True):
        lines.append(f"  coordinate {name:<12} [{unit}{ranges(plant, (name,))}]")
    for loop, rows in plant.row_slices.items():
        lines.append(loop_line(plant, diagnosis, loop, "functions", ", ".join(plant.row_names[rows])))
    for name, effort, unit in zip(plant.actuator_names, plant.effort, effort_units(plant), strict=True):
        lines.append(motor_line(name, "", float(effort), unit))
    return lines


def mechanism_lines(plant: Mechanism, diagnosis: Diagnosis | None) -> list[str]:
    """Lines of the mobility table for the parts of a mechanism."""
    rows = len(plant.row_names)
    gravity = ", ".join(f"{g:g}" for g in plant.gravity)
    lines = [
        f"{plant.name}: {len(plant.bodies)} bodies, {plant.nv} joint coordinates, {rows} loop rows",
        f"  gravity ({gravity}) m/s2",
    ]
    if plant.agreement is not None:
        lines.append(f"  {plant.agreement}")
    for joint in plant.joints:
        names = (", ".join(joint.velocity_names) or "-") + ranges(plant, joint.position_names)
        lines.append(f"  joint  {joint.name:<16} {type(joint).__name__:<13} {joint.parent} -> {joint.child}  [{names}]")
    for loop in plant.loops:
        lines.append(loop_line(plant, diagnosis, loop.name, type(loop).__name__, _ends(loop)))
    lines += [f"  spring {spring.name:<16} {type(spring).__name__}" for spring in plant.springs]
    lines += [f"  force  {element.name:<16} {element.summary}" for element in plant.forces]
    lines += [
        motor_line(a.name, "between {} and {}".format(*a.bodies) if a.bodies else f"on {a.joint}", a.effort, unit)
        for a, unit in zip(plant.actuators, effort_units(plant), strict=True)
    ]
    lines += [f"  load   {load.name:<16} on {load.body}, {load.axes} axes" for load in plant.loads]
    return lines
