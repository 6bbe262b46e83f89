"""``cmbcontrol study``: a closed-loop run of a plant, with its errors, a linear model, figures and animation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import FileError
from . import common, figures
from .common import AsJson, At, Bars, Debug, Factory, NamedConfiguration, Notes, PlantName
from .figures import Format

__all__ = ["study"]

_FILES: tuple[str, ...] = ("report.html", "animation.gif", "run.nc", "linear.mat", "linear.json", "summary.json")
_FILES += tuple(f"{name}{suffix}" for name in ("joints", "forces", "accuracy", "bode") for suffix in figures.SUFFIXES)


def study(
    plant: PlantName,
    at: At = None,
    factory: Factory = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Folder to write into.", show_default="study-PLANT"),
    ] = None,
    duration: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Length of the run.", show_default="the plant's own")
    ] = None,
    bandwidth: Annotated[
        float | None,
        typer.Option(metavar="RAD/S", help="Bandwidth of the tracking error.", show_default="the plant's own"),
    ] = None,
    animation: Annotated[bool, typer.Option("--animation/--no-animation", help="Write animation.gif.")] = True,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write report.html: all of it on one page, with a viewer.")
    ] = True,
    kind: Format = "png",
    force: Annotated[bool, typer.Option("--force", help="Overwrite a study that is in the folder.")] = False,
    notes: Notes = False,
    as_json: AsJson = False,
    check: Annotated[
        bool, typer.Option("--check", help="End with exit code 3 where the machine does not follow its reference.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Study a plant: closed-loop tracking run, its errors, linear model, figures, animation.

    The controller is projected inverse dynamics, the reference a sine about the plant's own configuration or that of
    --at. The run starts off the reference, on the motion along which the error should decay at the
    bandwidth. A plant whose motors cannot set all of its motion runs free.
    """
    with common.in_one_line(debug):
        from .. import _check

        common.check_given(plant, factory)
        place = NamedConfiguration.of(at)
        if duration is not None:
            _check.positive(duration, "--duration")
        if bandwidth is not None:
            _check.positive(bandwidth, "--bandwidth")
        suffix = figures.suffix_of(kind)
        folder = out or Path(f"study-{Path(plant).stem}")
        if not force and (there := sorted(name for name in _FILES if (folder / name).exists())):
            raise FileError(
                f"{folder} has a study already ({', '.join(there)}); --force overwrites it, --out writes into another "
                "folder"
            )
        from . import entries
        from .tracking_run import report_study, run_study

        entry = entries.entry_of(plant, notes)
        options = entries.factory_options(entry, factory)
        folder = common.made_folder(folder)
        entries.begin()
        with Bars() as bars:
            found = run_study(entry, options, place, folder, duration, bandwidth, animation, report, suffix, bars)
        if as_json:
            common.show_json("study", found.summary | {"folder": folder, "files": found.files})
        else:
            report_study(found, folder)
    if check and not found.summary.get("followed", True):
        raise typer.Exit(3)
