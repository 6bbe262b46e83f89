"""Colours of machines: distinct for colour-blind eyes, and the same in all drawings of a machine."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["BODIES", "GROUND_COLOR", "INK", "JOINT", "LOOP", "body_colors"]

# Okabe and Ito; their vermilion marks where loops close, and no body has it.
BODIES = ("#0072B2", "#E69F00", "#009E73", "#56B4E9", "#CC79A7", "#F0E442")
LOOP = "#D55E00"
JOINT = "#E8E8E8"
GROUND_COLOR = "#8A8A8A"
INK = "#333333"  # massless rods, springs, ropes


def body_colors(names: Sequence[str], pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Colour of each body, in turn; different ones for bodies that are connected, as long as there are enough."""
    beside: dict[str, set[str]] = {name: set() for name in names}
    for a, b in pairs:
        if a in beside and b in beside:
            beside[a].add(b)
            beside[b].add(a)
    found: dict[str, str] = {}
    for i, name in enumerate(names):
        turn = [BODIES[(i + k) % len(BODIES)] for k in range(len(BODIES))]
        taken = {found[other] for other in beside[name] if other in found}
        found[name] = next((color for color in turn if color not in taken), turn[0])
    return found
