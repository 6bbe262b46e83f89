"""``cmbcontrol convert``: conversion of a machine from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import FileError, InputError
from . import common
from .common import AsJson, Debug, Factory, Notes

if TYPE_CHECKING:
    from ..formats import Conversion

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
    notes: Notes = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Convert a machine from one format to another, and list all that is lost or changed.

    A plant of the catalogue is written with its start as the configuration start.
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
        remarks: dict[str, Conversion] = {}
        if source in catalogue:
            entry = catalogue[source]
            machine, q0, _ = entry.start(**entries.factory_options(entry, factory))
            if not isinstance(machine, Mechanism):
                raise InputError(f"{source!r} is given by functions, and no file can hold these")
            machine = machine.with_configurations({"start": q0})
        else:
            found = read(source)
            if not as_json:
                _tell("read    ", found, notes)
            machine, remarks["read"] = found.machine, found
        remarks["written"] = made = write(machine, target)
        if as_json:
            told = {key: [vars(remark) for remark in of.remarks] for key, of in remarks.items()}
            common.show_json("conversion", {"machine": machine.name, "file": target, "remarks": told})
        else:
            _tell("written ", made, notes)


def _tell(what: str, found: Conversion, notes: bool) -> None:
    """Print what a conversion keeps, and its remarks."""
    from ..formats.conversion import KINDS
    from .entries import remark_lines

    common.say(f"{what}{str(found).partition(chr(10))[0]}")
    remarks = [remark for kind in KINDS for remark in found.of_kind(kind)]
    for line in remark_lines(remarks, notes):
        common.say(f"  {line}")
