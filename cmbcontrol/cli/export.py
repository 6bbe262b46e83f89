"""``cmbcontrol export``: functions of a plant as files for a controller's own computer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..codegen.export import export as written
from ..codegen.identifiers import identifier
from ..errors import FileError, InputError
from . import common
from .common import At, Debug, Factory, PlantName

__all__ = ["export"]


def export(
    plant: PlantName,
    c: Annotated[bool, typer.Option("--c", help="As C99, with a header, a self-test and a CMake file.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder to write into.", show_default="PLANT-c")
    ] = None,
    functions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Of terms, forward, inverse, close, project_velocity, linear.",
            show_default="all that the plant can have",
        ),
    ] = None,
    coordinates: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Independent coordinates of the function linear.", show_default="none"),
    ] = None,
    prefix: Annotated[
        str | None, typer.Option(help="What names in C begin with.", show_default="the name of the plant")
    ] = None,
    at: At = None,
    factory: Factory = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
    debug: Debug = False,
) -> None:
    """Write functions of a plant as C: equations of motion, accelerations, motor efforts, closed loops, linear model.

    The self-test compares them with the kernels of this package; no compiler is needed to write them.
    """
    with common.in_one_line(debug):
        entry = common.entry_of(plant)
        values = common.numbers(at, "--at", common.JOINT_VALUES)
        options = common.factory_options(entry, factory)
        if not c:
            raise InputError("say what to write: --c for C99")
        folder = out if out is not None else Path(f"{plant}-c")
        common.warn_of_compilation()
        machine, q0, _ = entry.start(**options)
        q, _ = common.configuration(machine, q0, values)
        try:
            made = written(
                machine,
                folder,
                q,
                functions=common.names(functions),
                coordinates=common.names(coordinates) or (),
                prefix=identifier(plant) if prefix is None else prefix,
                overwrite=force,
            )
        except FileError as error:
            raise FileError(str(error).replace("overwrite=True", "--force")) from error
        typer.echo(f"{plant}: {len(made.functions)} functions, {len(made.parameters)} numbers")
        for name in made.functions:
            typer.echo(f"  {name}")
        for name, reason in made.left_out.items():
            typer.echo(f"  without {name}: {reason}")
        typer.echo(f"written to {folder}: {', '.join(path.name for path in made.files)}")
        typer.echo(f"to test them: cd {folder} && cmake -B build . && cmake --build build && ctest --test-dir build")
