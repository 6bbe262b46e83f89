"""``cmbcontrol export``: functions of a plant as files for a controller's computer, or as an FMU."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import FileError, InputError
from . import common
from .common import At, Debug, Factory, NamedConfiguration, PlantName

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..model.plant import Plant

__all__ = ["export"]


def export(
    plant: PlantName,
    c: Annotated[bool, typer.Option("--c", help="As C99, with a header, a self-test and a CMake file.")] = False,
    fmu: Annotated[bool, typer.Option("--fmu", help="As an FMU, which other simulators run.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder, or FMU, to write.", show_default="PLANT-c, PLANT.fmu"),
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
    fmi: Annotated[str, typer.Option(metavar="VERSION", help="Of the FMU: 3.0 or 2.0.")] = "3.0",
    kind: Annotated[
        str | None,
        typer.Option(help="Of the FMU: ModelExchange or CoSimulation.", show_default="both"),
    ] = None,
    binary: Annotated[
        bool | None,
        typer.Option(
            "--binary/--no-binary",
            help="A library for this system in the FMU, beside the sources.",
            show_default="where a compiler is",
        ),
    ] = None,
    at: At = None,
    factory: Factory = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
    debug: Debug = False,
) -> None:
    """Write a plant as C, or as an FMU for other simulators.

    Functions in C are equations of motion, accelerations, motor efforts, closed loops, a linear model; a self-test
    compares them with the kernels of this package. An FMU has the configuration as its start.
    """
    with common.in_one_line(debug):
        common.check_given(plant, factory)
        place = NamedConfiguration.of(at)
        if c == fmu:
            raise InputError("say what to write: --c for C99, or --fmu for an FMU")
        from ..codegen.export import export as written
        from ..codegen.identifiers import identifier
        from . import entries

        entries.begin(quick=True)
        entry = entries.entry_of(plant)
        options = entries.factory_options(entry, factory)
        machine, q0, _ = entry.start(**options)
        q, _ = entries.configuration(machine, q0, place)
        if fmu:
            _as_fmu(machine, q, out or Path(f"{entry.name}.fmu"), fmi, kind, binary, force)
            return
        folder = out if out is not None else Path(f"{entry.name}-c")
        try:
            made = written(
                machine,
                folder,
                q,
                functions=common.names(functions),
                coordinates=common.names(coordinates) or (),
                prefix=identifier(entry.name) if prefix is None else prefix,
                overwrite=force,
            )
        except FileError as error:
            raise FileError(str(error).replace("overwrite=True", "--force")) from error
        typer.echo(f"{entry.name}: {len(made.functions)} functions, {len(made.parameters)} numbers")
        for name in made.functions:
            typer.echo(f"  {name}")
        for name, reason in made.left_out.items():
            typer.echo(f"  without {name}: {reason}")
        typer.echo(f"written to {folder}: {', '.join(path.name for path in made.files)}")
        typer.echo(f"to test them: cd {folder} && cmake -B build . && cmake --build build && ctest --test-dir build")


def _as_fmu(
    machine: Plant, q: NDArray, path: Path, version: str, kind: str | None, binary: bool | None, force: bool
) -> None:
    """Write an FMU, and print its content."""
    from .. import fmu

    chosen = {} if kind is None else {"kind": kind}
    try:
        made = fmu.export(machine, path, q, version=version, binary=binary, overwrite=force, **chosen)  # type: ignore[arg-type]
    except FileError as error:
        raise FileError(
            str(error).replace("overwrite=True", "--force").replace("binary=False", "--no-binary")
        ) from error
    typer.echo(f"{machine.name}: FMI {made.version}, {' and '.join(made.kinds)}")
    typer.echo(f"  states   {', '.join(made.states)}")
    typer.echo(f"  inputs   {', '.join(made.inputs) or 'none'}")
    typer.echo(f"  outputs  {len(made.outputs)}; tunable parameters {len(made.parameters)}")
    for word in made.left_out:
        typer.echo(f"  without  {word}")
    typer.echo(f"written to {made.path}, with {f'a library for {made.binary}' if made.binary else 'sources only'}")
