"""``cmbcontrol convert``: conversion of a machine from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import FileError, InputError
from . import common
from .common import Debug, Factory

__all__ = ["convert"]


def convert(
    source: Annotated[
        str, typer.Argument(metavar="FROM", help="A file of a machine (YAML, MJCF, URDF, SDF), or the name of a plant.")
    ],
    target: Annotated[
        Path,
        typer.Argument(metavar="TO", help="The file to write: its suffix tells the format, .yaml, .xml, .urdf, .sdf."),
    ],
    factory: Factory = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
    debug: Debug = False,
) -> None:
    """Convert a machine from one format to another, and list all that is lost or changed.

    A plant of the catalogue is written with its start as the configuration [bold]start[/bold].
    """
    with common.in_one_line(debug):
        common.check_given(source, factory)
        if target.suffix.lower() not in (suffixes := common.listed()["suffixes"]):
            raise InputError(f"the file of a machine ends in {', '.join(suffixes)}, got {target.name!r}")
        if target.exists() and not force:
            raise FileError(f"{target} is there already; --force overwrites it")
        from ..formats import read, write
        from ..model.mechanism import Mechanism
        from ..plants import catalogue
        from . import entries

        entries.begin(quick=True)
        if source in catalogue:
            entry = catalogue[source]
            machine, q0, _ = entry.start(**entries.factory_options(entry, factory))
            if not isinstance(machine, Mechanism):
                raise InputError(f"{source!r} is given by functions, and no file can hold these")
            machine = machine.with_configurations({"start": q0})
        else:
            found = read(source)
            typer.echo(f"read    {found}")
            machine = found.machine
        typer.echo(f"written {write(machine, target)}")
