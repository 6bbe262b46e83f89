"""Section of a report on the machine: picture, parts, mobility, machine file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _yaml
from ..errors import ModelError
from ..model.machine_file import wholly_described
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..plot.machine import mechanism
from .page import Picture, Section, Table, Text

__all__ = ["show_machine"]

Array = NDArray[np.float64]


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
