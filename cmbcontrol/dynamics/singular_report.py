"""Texts about a singular configuration: rank, branches, verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..model.plant import Plant

if TYPE_CHECKING:
    from .singular import SingularConfiguration

__all__ = ["branches", "direction", "outline", "report", "verdict"]

Array = NDArray[np.float64]


def report(configuration: SingularConfiguration) -> str:
    """Text with all that is known of a configuration."""
    text = outline(configuration)
    if configuration.singular and not configuration.locked:
        rows = configuration.generic_rank
        nearby = _freedom(configuration.plant.nv - rows)
        text += f" Nearby, {rows} row{'s' * (rows != 1)} and {nearby}."
    return f"{text} {verdict(configuration)}"


def outline(configuration: SingularConfiguration) -> str:
    """Text with coordinates, rank and degrees of freedom, without the search for branches."""
    plant = configuration.plant
    values = zip(plant.position_names, configuration.q, strict=True)
    q = _listed([f"{n} = {x + 0.0:.6g}" for n, x in values], ", ", 12)
    if not configuration.singular:
        return f"{plant.name} at {q}."
    lost = _listed([_sum(row) for row in configuration.lost_rows], " and ", 4)
    return (
        f"{plant.name} at {q}: singular. {configuration.rank} of {len(plant.row_names)} rows are independent. "
        + (f"What vanishes to first order: {lost}. " if lost else "")
        + f"{_freedom(configuration.motions.shape[1])} to first order."
    )


def verdict(configuration: SingularConfiguration) -> str:
    """Text with the result of second order: motions that go on, or rigidity."""
    d = configuration.motions.shape[1]
    if not configuration.singular:
        rows = f"{configuration.rank} independent row{'s' * (configuration.rank != 1)}"
        return (
            f"The configuration is not singular: {rows} here and nearby, {_freedom(d)}. Whether the motors reach them, "
            "actuation(plant, q) says."
        )
    if not len(configuration.forms):
        return "Second order does not determine how the motion goes on."
    if configuration.locked:
        mobility = "one infinitesimal mobility" if d == 1 else f"{d} infinitesimal mobilities"
        return f"It is rigid: {mobility}, no finite motion (by second order)."
    if not configuration.branches:
        return "No motion that goes on was found, but not all branches were found: there may be one."
    count = configuration.infinitesimal.shape[1]
    nowhere = f" {count} of the degrees of freedom lead{'s' * (count == 1)} nowhere." if count else ""
    return branches(configuration) + nowhere


def branches(configuration: SingularConfiguration) -> str:
    """Text with the branches by number, direction and degrees of freedom."""
    if not configuration.branches:
        return "There are no branches."
    texts = []
    for i, branch in enumerate(configuration.branches):
        kind = "" if branch.dof == 1 and branch.linear else f" of {branch.dof} degrees of freedom"
        kind = kind if branch.linear else f" (a cone of directions{kind}, one of them)"
        rank = "" if branch.regular else ", where the rank stays low"
        texts.append(f"{i}: {direction(configuration.plant, branch.direction)}{kind}{rank}")
    more = "" if configuration.complete else " Not all branches were found: there may be others."
    return f"Branches: {'; '.join(texts)}.{more}"


def direction(plant: Plant, v: Array, most: int = 4) -> str:
    """Text of a velocity, by the joints that move most."""
    share = np.abs(v) * plant.unit_lengths
    order = [int(k) for k in np.argsort(-share.round(9), kind="stable") if share[k] > 1e-3 * share.max(initial=0.0)]
    if not order:
        return "zero"
    text = ", ".join(f"{plant.velocity_names[k]} {v[k]:+.3g}" for k in order[:most])
    return f"({text}{', ...' if len(order) > most else ''})"


def _freedom(count: int) -> str:
    return "1 degree of freedom" if count == 1 else f"{count} degrees of freedom"


def _listed(texts: Sequence[str], separator: str, most: int) -> str:
    """Text with the first few texts, and the number of further ones."""
    more = f"{separator}{len(texts) - most} more" if len(texts) > most else ""
    return separator.join(texts[:most]) + more


def _sum(row: dict[str, float]) -> str:
    """Text of a combination of rows: a - 0.5 b."""
    terms = [
        f"{'-' if w < 0.0 else '+'} {'' if abs(abs(w) - 1.0) < 1e-9 else f'{abs(w):.3g} '}{n}" for n, w in row.items()
    ]
    return _listed(terms, " ", 6).removeprefix("+ ")
