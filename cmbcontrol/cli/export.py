"""``cmbcontrol export``: functions of a plant as files for a controller's computer, or as an FMU."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from . import common
from .common import AsJson, At, Debug, Factory, NamedConfiguration, Notes, PlantName

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..model.plant import Plant

__all__ = ["FUNCTIONS", "KINDS", "VERSIONS", "export"]

# Names of what does the work, which takes long to import.
FUNCTIONS = "terms", "forward", "inverse", "close", "project_velocity", "linear"
KINDS = "ModelExchange", "CoSimulation"
VERSIONS = "3.0", "2.0"


def export(
    plant: PlantName,
    c: Annotated[bool, typer.Option("--c", help="As C99, with a header, a self-test and a CMake file.")] = False,
    fmu: Annotated[bool, typer.Option("--fmu", help="As an FMU, which other simulators run.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FOLDER|FILE", help="Folder, or FMU, to write.", show_default="PLANT-c, PLANT.fmu"
        ),
    ] = None,
    functions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help=f"Of {', '.join(FUNCTIONS)}.",
            show_default="all that the plant can have",
        ),
    ] = None,
    coordinates: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Independent coordinates of the function linear.", show_default="none"),
    ] = None,
    prefix: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What names in C begin with.", show_default="the name of the plant"),
    ] = None,
    fmi: Annotated[str, typer.Option(metavar="VERSION", help="Of the FMU: 3.0 or 2.0.")] = "3.0",
    kind: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="Of the FMU: ModelExchange or CoSimulation.", show_default="both"),
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
    notes: Notes = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Write a plant as C, or as an FMU for other simulators.

    Functions in C are equations of motion, accelerations, motor efforts, closed loops, a linear model; a self-test
    compares them with the kernels of this package. An FMU has the configuration as its start.
    """
    with common.in_one_line(debug):
        from .. import _check

        common.check_given(plant, factory)
        place = NamedConfiguration.of(at)
        if c == fmu:
            raise InputError("say what to write: --c for C99, or --fmu for an FMU")
        _check.option(fmi, VERSIONS, "--fmi")
        if kind is not None:
            _check.option(kind, KINDS, "--kind")
        for name in common.names(functions) or ():
            _check.one_of(name, FUNCTIONS, "function", "--functions")
        from ..codegen.export import export as written
        from ..codegen.identifiers import identifier
        from . import entries

        entries.begin(quick=True)
        entry = entries.entry_of(plant, notes)
        options = entries.factory_options(entry, factory)
        machine, q0, _ = entry.start(**options)
        q, _ = entries.configuration(machine, q0, place)
        if fmu:
            _as_fmu(machine, q, out or Path(f"{entry.name}.fmu"), fmi, kind, binary, force, as_json)
            return
        folder = out if out is not None else Path(f"{entry.name}-c")
        made = written(
            machine,
            folder,
            q,
            functions=common.names(functions),
            coordinates=common.names(coordinates) or (),
            prefix=identifier(entry.name) if prefix is None else prefix,
            overwrite=force,
        )
        names = [path.name for path in made.files]
        if as_json:
            numbers = {"plant": entry.name, "functions": made.functions, "left_out": made.left_out}
            common.show_json("C", numbers | {"parameters": made.parameters, "folder": folder, "files": names})
            return
        common.say(f"{entry.name}: {len(made.functions)} functions, {len(made.parameters)} numbers")
        for name in made.functions:
            common.say(f"  {name}")
        for name, reason in made.left_out.items():
            common.say(f"  without {name}: {reason}")
        common.written(folder, names)
        build = "cmake -B build . && cmake --build build && ctest --test-dir build"
        typer.echo(f"to test them:\n  cd {shlex.quote(str(folder))}\n  {build}")


def _as_fmu(
    machine: Plant,
    q: NDArray,
    path: Path,
    version: str,
    kind: str | None,
    binary: bool | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write an FMU, and print its content."""
    from .. import fmu

    chosen = {} if kind is None else {"kind": kind}
    made = fmu.export(machine, path, q, version=version, binary=binary, overwrite=force, **chosen)  # type: ignore[arg-type]
    if as_json:
        names = "kinds", "states", "inputs", "outputs", "parameters", "left_out", "binary"
        common.show_json(
            "FMU",
            {"plant": machine.name, **{n: getattr(made, n) for n in names}, "fmi": made.version, "file": made.path},
        )
        return
    common.say(f"{machine.name}: FMI {made.version}, {' and '.join(made.kinds)}")
    common.say(f"  states   {', '.join(made.states)}")
    common.say(f"  inputs   {', '.join(made.inputs) or 'none'}")
    common.say(f"  outputs  {len(made.outputs)}; tunable parameters {len(made.parameters)}")
    for word in made.left_out:
        common.say(f"  without  {word}")
    common.say(f"written to {made.path}, with {f'a library for {made.binary}' if made.binary else 'sources only'}")
