"""``cmbcontrol list`` and ``cmbcontrol diagnose``: the plants of the catalogue, and the mobility of a plant."""

from __future__ import annotations

import textwrap

import numpy as np
import typer
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from ..controllers.decoupling import is_decoupled, reachable_forces
from ..dynamics.singular import singular_configuration
from ..model.plant import Plant
from . import common
from .common import At, Debug, Factory, NamedConfiguration, PlantName

__all__ = ["diagnose", "list_plants"]


def list_plants(debug: Debug = False) -> None:
    """List the ready-made plants."""
    with common.in_one_line(debug):
        common.warn_of_compilation()
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("plant", no_wrap=True)
        for heading in ("DOF", "coords", "loops", "motors"):
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("what it is, where it is from, and its options")
        for name, entry in common.catalogue.items():
            plant, q0, _ = entry.start()
            counts = plant.diagnose(q0).dof, plant.nv, len(plant.row_slices), plant.nu
            options = common.options_text(entry)
            what = Text.assemble(entry.description, ("\n" + entry.source, "dim"))
            what.append(f"\n--with {options}" if options else "", "dim")
            table.add_row(Text(name, "bold"), *map(str, counts), what)
        common.console().print(table)


def diagnose(plant: PlantName, at: At = None, factory: Factory = None, debug: Debug = False) -> None:
    """Show the mobility table of a plant, and its freedom, redundancy and actuation at a configuration."""
    with common.in_one_line(debug):
        entry = common.entry_of(plant)
        place = NamedConfiguration.of(at)
        options = common.factory_options(entry, factory)
        common.warn_of_compilation()
        machine, q0, _ = entry.start(**options)
        q, where = common.configuration(machine, q0, place)
        typer.echo(str(machine))
        typer.echo(f"  {where}:")
        for name, value, unit in zip(machine.position_names, q, machine.position_units, strict=True):
            typer.echo(f"    {name:<16} {value: .6g} {unit}".rstrip())
        for line in str(machine.diagnose(q)).splitlines():
            typer.echo(f"    {line}")
        found = singular_configuration(machine, q)
        if found.singular:
            typer.echo("  how it can move on from there:")
            for line in textwrap.wrap(str(found) if found.few else found.outline, 100):
                typer.echo(f"    {line}")
        if machine.nu and len(machine.row_names):
            typer.echo("  constraint forces that the motors can set there:")
            for line in _of_motors(machine, q):
                typer.echo(f"    {line}")


def _of_motors(plant: Plant, q: NDArray[np.float64]) -> list[str]:
    """Lines with the constraint forces that the motors can set."""
    forces = reachable_forces(plant, q)
    lines = str(forces).splitlines() if forces.dimension else str(forces).splitlines()[:1]
    return [*(line for line in lines if not line.startswith("  row")), str(is_decoupled(plant, q))]
