"""``cmbcontrol view``: a page with a viewer of a run, a machine, a linear model or the worst run of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import FileError, InputError
from . import common
from .common import AsJson, At, Debug, Factory, NamedConfiguration, Notes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..model.plant import Plant
    from ..studies.study import Study

__all__ = ["view"]


def view(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A run (.nc), a machine (YAML, MJCF, URDF, SDF) or the name of a plant, a linear model (.json, .mat), "
            "a study (.yaml), or the folder of one.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The page.", show_default="FILE.html")
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="NAME",
            help="Of a study: by which its worst run is sought.",
            show_default="the first",
        ),
    ] = None,
    worst: Annotated[int, typer.Option("--worst", metavar="COUNT", help="Of a study: how many of the worst runs.")] = 1,
    at: At = None,
    factory: Factory = None,
    launch: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a page that is there.")] = False,
    notes: Notes = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Write a page that shows a machine in three dimensions: its motion, forces, plots; it needs no network.

    A run is shown as it was; a machine at its start, or where --at says; a linear model by its modes; of
    a study the worst run, which is run again.
    """
    with common.in_one_line(debug):
        path = Path(file)
        kind = _kind(path)
        target = out or Path(f"{path.resolve().name if path.is_dir() else path.stem}.html")
        if target.exists() and not force:
            raise FileError(f"{target} is there already; --force overwrites it, --out writes another one")
        if kind != "machine" and (at or factory):
            raise InputError("--at and --with go with a machine: what is shown of other files is in them")
        if kind != "study" and (measure is not None or worst != 1):
            raise InputError("--measure and --worst go with a study")
        if kind == "machine":
            common.check_given(file, factory)
        elif not path.is_dir():
            common.check_readable(path)
        from ..linear.model import load_linear
        from ..sim.result import load_run
        from ..viewer.subjects import view as page_at
        from . import entries

        entries.begin()
        if kind == "run":
            written = page_at(load_run(path / "run.nc" if path.is_dir() else path), target)
        elif kind == "linear model":
            written = page_at(load_linear(path), target)
        elif kind == "machine":
            machine, q = _machine(file, at, factory, notes)
            written = page_at(machine, target, q=q)
        else:
            study, measure = _study(path, measure)
            written = page_at(study, target, measure=measure, count=worst)
        size = Path(str(written)).stat().st_size
        if as_json:
            common.show_json("page", {"kind": kind, "file": Path(str(written)), "bytes": size})
        else:
            common.say(f"written {written} ({size / 1e6:.1f} MB)")
        if launch:
            typer.launch(target.resolve().as_uri())


def _kind(path: Path) -> str:
    """Kind of the content of a file: run, study, linear model or machine."""
    suffixes = common.listed()["suffixes"]
    if path.is_dir():
        if (path / "run.nc").exists():
            return "run"
        if (path / "study.json").exists():
            return "study"
        raise InputError(f"{path} is a folder without a run (run.nc) and without a study (study.json)")
    suffix = path.suffix.lower()
    if suffix == ".nc":
        return "run"
    if suffix in (".json", ".mat", ".npz") and not _holds_machine(path):
        return "linear model"
    if suffix in (".yaml", ".yml") and path.is_file():
        from .. import _yaml

        data = _yaml.read(path).data
        return "study" if isinstance(data, dict) and "vary" in data else "machine"
    if suffix in suffixes or not suffix:
        return "machine"
    raise InputError(
        f"view shows runs (.nc), linear models (.json, .mat), studies (.yaml) and machines ({', '.join(suffixes)}), "
        f"got {path.name!r}"
    )


def _holds_machine(path: Path) -> bool:
    """Whether a JSON file is a machine file; linear models may be in JSON, too."""
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    from .. import _yaml

    data = _yaml.read(path).data  # JSON is YAML
    return isinstance(data, dict) and str(data.get("format", "")).startswith("cmbcontrol machine")


def _machine(name: str, at: list[str] | None, factory: list[str] | None, notes: bool) -> tuple[Plant, NDArray]:
    """Machine, and the configuration that ``--at`` asks for."""
    from . import entries

    entry = entries.entry_of(name, notes)
    plant, q0, _ = entry.start(**entries.factory_options(entry, factory))
    q, _ = entries.configuration(plant, q0, NamedConfiguration.of(at))
    return plant, q


def _study(path: Path, measure: str | None) -> tuple[Study, str]:
    """Study that has been run, and the measure by which the worst run is chosen."""
    from .. import _check
    from ..studies.study_file import read_study

    file = path.with_name(f"{path.name.removesuffix('-runs')}.yaml") if path.is_dir() else path
    folder = path if path.is_dir() else Path(f"{path.stem}-runs")
    if not file.is_file():
        raise InputError(f"what was run in {folder} is said by the file of the study, and {file} is not there")
    if not (folder / "results.nc").exists():  # which is written at the end
        raise InputError(f"the study has not been run to its end: cmbcontrol run {file} --out {folder} --resume")
    found = read_study(file).run(folder=folder)
    if not found.measures:
        raise InputError("the study measures nothing, so that no run is the worst")
    return found, found.measures[0] if measure is None else _check.one_of(measure, found.measures, "measure")
