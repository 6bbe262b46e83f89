"""Report on a machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from ..linear.linearize import affine_approximation
from ..linear.operating import OperatingPoint
from ..model.assembly import start_configuration
from ..model.plant import Plant
from .page import Page, Text
from .sections import show_equilibrium, show_machine, show_modes, viewer

__all__ = ["page_of_machine", "page_of_point"]

Array = NDArray[np.float64]


def page_of_machine(plant: Plant, title: str | None, q: Any = None) -> Page:
    """Page of a machine at q, or else at its start; under its name unless it has a title."""
    at, when = (start_configuration(plant), "at its start") if q is None else (plant.configuration(q), "at q")
    page = _page(plant, title, at, when)
    with page.section("Linear model") as section:
        show_equilibrium(section, plant, {when: at})
    page.add_versions()
    return page


def page_of_point(point: OperatingPoint, title: str | None) -> Page:
    """Page of a machine at an operating point, at rest or not."""
    if point.plant is None:
        raise ModelError("the operating point was loaded without its plant, of which the page is")
    page = _page(point.plant, title, point.q, "at the operating point")
    with page.section("Linear model") as section:
        section.parts.append(Text(str(point), plain=True))
        show_modes(section, affine_approximation(point.plant, point))
    page.add_versions()
    return page


def _page(plant: Plant, title: str | None, q: Array, when: str) -> Page:
    count = f"{plant.nv} coordinates, {len(plant.row_names)} constraint rows, {plant.nu} motors"
    page = Page(plant.name if title is None else title, f"Machine, {count}")
    with page.section("In three dimensions") as section:
        section.parts.append(viewer(plant, q=q))
    with page.section("Machine") as section:
        show_machine(section, plant, q, when)
    return page
