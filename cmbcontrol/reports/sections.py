"""Sections that several reports have: the machine, its linear model, the viewer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from .. import _yaml
from ..errors import CmbError, ModelError
from ..linear.controllability import ModalControllability
from ..linear.linearize import linearize
from ..linear.model import LinearModel
from ..linear.operating import trim
from ..model.machine_file import wholly_described
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..plot.html import MODE_HEAD, mode_rows
from ..plot.machine import mechanism
from ..plot.poles import poles
from ..viewer.subjects import page_of
from .page import Picture, Section, Table, Text

__all__ = ["show_controllability", "show_equilibrium", "show_machine", "show_modes", "viewer"]

Array = NDArray[np.float64]


def viewer(subject: Any, title: str | None = None, **options: Any) -> Picture:
    """Viewer inside of a page."""
    return Picture(Markup(page_of(subject, title, options).frame()), live=True)


def show_machine(section: Section, plant: Plant, q: Array, when: str) -> None:
    """Fill a section with the drawing at q, the parts, the mobility, and the machine as a file.

    Parameters
    ----------
    section : Section
    plant : Plant
    q : ndarray, shape (nq,)
    when : str
        Description of q, such as "at the start".
    """
    section.parts += _drawing(plant, q, when)
    section.parts.append(Text(_parts(plant), plain=True))
    if isinstance(plant, Mechanism):
        section.parts.append(_bodies(plant))
    section.parts.append(Text(f"{when.capitalize()}:"))
    section.parts.append(Text(str(plant.diagnose(q)), plain=True))
    section.parts += _file(plant)


def _drawing(plant: Plant, q: Array, when: str) -> Iterator[Picture]:
    try:
        yield Picture.of(lambda: mechanism(plant, q), f"{plant.name} {when}")
    except ModelError:  # given by functions, without a sketch
        return


def _parts(plant: Plant) -> str:
    """Text of a plant as `print` shows it, without its mobility at an assembled configuration."""
    lines = str(plant).splitlines()
    ends = [k for k, line in enumerate(lines) if line.strip() == "at an assembled configuration:"]
    return "\n".join(lines[: ends[0]] if ends else lines)


def _bodies(plant: Mechanism) -> Table:
    rows = []
    for body in plant.bodies:
        centre = ", ".join(f"{x:.4g}" for x in np.asarray(body.com))
        moments = ", ".join(f"{x:.4g}" for x in np.linalg.eigvalsh(np.asarray(body.inertia)) + 0.0)
        rows.append((body.name, centre if body.mass else "", moments if body.mass else "", f"{body.mass:.5g}"))
    head = ("body", "centre of mass (m)", "principal moments (kg m²)", "mass (kg)")
    total = sum(body.mass for body in plant.bodies)
    return Table(head, rows, numbers=1, caption=f"{len(rows)} bodies, {total:.5g} kg")


def _file(plant: Plant) -> Iterator[Text]:
    """Text of the machine file, to be kept or changed; nothing where no file can hold the machine."""
    if not isinstance(plant, Mechanism):
        return
    try:
        data: Any = wholly_described(plant)
    except ModelError:
        return
    yield Text(_yaml.text(data), folded="The machine as a file (YAML), for Mechanism.load")


def show_equilibrium(section: Section, plant: Plant, places: Mapping[str, Array]) -> None:
    """Add the linear model at the equilibrium at the first of these places that has one.

    Parameters
    ----------
    section : Section
    plant : Plant
    places : mapping of str to ndarray, shape (nq,)
        Configurations, each with words for it such as "at the start of the run".
    """
    for when, q in places.items():
        try:
            point = trim(plant, q)
            model = linearize(plant, point)
        except (CmbError, ValueError) as error:
            section.parts.append(Text(f"No equilibrium {when}: {error}"))
            continue
        section.parts.append(Text(f"The machine held by its motors {when}, without a law:"))
        section.parts.append(Text(str(point), folded="Operating point"))
        show_modes(section, model)
        return


def show_controllability(section: Section, found: ModalControllability) -> None:
    """Add tables with how much of each mode inputs move and outputs see, and what a minimal realisation leaves out."""
    if not found.order:
        section.parts.append(Text("No modes: nothing can move."))
        return
    for title, head, rows in found.tables():
        if len(head) > 2:
            caption = f"How much of each mode is {title}: cosines, 1 wholly, 0 not at all"
            section.parts.append(Table(head, rows, numbers=len(head) - 2, caption=caption))
    section.parts += [Text(f"{text[0].upper()}{text[1:]}.") for text in found.remarks()]


def show_modes(section: Section, model: LinearModel) -> None:
    """Add the modes of a linear model as a table, and its poles as a picture."""
    section.parts.append(Table(MODE_HEAD, mode_rows(model), numbers=4))
    section.parts.append(Picture.of(lambda: poles(model), "Poles of the linear model"))
