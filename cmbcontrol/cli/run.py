"""``cmbcontrol run``: a study from a YAML file, on all cores, with a table, files and figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError, Interrupted
from . import common, figures
from .common import AsJson, Bars, Debug, Notes
from .figures import Format
from .tables import table, width

if TYPE_CHECKING:
    from ..studies import Study
    from ..studies.study_file import StudyFile

__all__ = ["run"]

_WORST = 3  # runs of each measure that the summary names


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The study, as YAML.")],
    workers: Annotated[
        str, typer.Option("--workers", "-w", metavar="COUNT|all", help="Processes: a number, or all cores.")
    ] = "1",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Folder for rows and results.", show_default="FILE-runs"),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what the folder has.")] = False,
    report: Annotated[bool, typer.Option("--report", help="Write figures and report.html, too.")] = False,
    kind: Format = "png",
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Of a Dask scheduler, whose workers do the runs.", show_default="none"),
    ] = None,
    notes: Notes = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Run a study from a file: many runs with parameters that vary.

    Rows are kept in the folder while the study runs; after Ctrl-C, or a power cut, the same command with --resume goes
    on. results.nc has all rows, summary.json their statistics.
    """
    with common.in_one_line(debug):
        from .. import _check

        count = "all" if workers == "all" else _check.count(_whole(workers), "--workers")
        suffix = figures.suffix_of(kind)
        common.check_readable(file)
        from ..studies.study_file import read_study
        from . import entries

        asked = read_study(file)
        if asked.conversion is not None:
            entries.tell_remarks(asked.conversion, notes)
        folder = out or Path(f"{file.stem}-runs")
        if (folder / "study.json").exists() and not resume:
            raise InputError(f"{folder} has a study already: say --resume to go on with it, or name another folder")
        if scheduler is not None:
            count = _client(scheduler)
        entries.begin()
        with Bars() as bars, bars.step("runs") as tell:
            try:
                found = asked.run(workers=count, folder=folder, progress=tell)
            except Interrupted as error:
                raise Interrupted(
                    f"{str(error).partition(';')[0]}; --resume goes on from there", error.partial
                ) from error
        files = _written(asked, found, folder)
        if report:
            with Bars() as bars, bars.step("figures") as tell:
                files += _figures(asked, found, folder, suffix, tell)
                page = found.write_report(folder / "report.html", limits=asked.limits, title=asked.path.stem)
                files.append(page.name)
        if as_json:
            common.show_json("run", _summary(asked, found) | {"folder": folder, "files": files})
        else:
            _show(asked, found, folder, files)


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise InputError(f"--workers takes a number, or all, got {text!r}")
    return int(text)


def _client(address: str) -> Any:
    """Client of a Dask scheduler."""
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError('--scheduler needs Dask: pip install "cmbcontrol[dask]"') from error
    try:
        return Client(address, timeout=5)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {address}: {error}") from error


def _written(asked: StudyFile, found: Study, folder: Path) -> list[str]:
    """Write all rows and their summary; returns the names of the files."""
    from .. import _files

    found.save(folder / "results.nc")
    _files.write(folder / "summary.json", common.json_of("run", _summary(asked, found)) + "\n")
    return ["results.nc", "summary.json"]


def _summary(asked: StudyFile, found: Study) -> dict[str, Any]:
    """Numbers of a study by name."""
    import numpy as np

    told: dict[str, Any] = {
        "study": asked.path.name,
        "runs": len(found.rows),
        "failed": found.failures,
        "kinds": found.kinds,
        "measures": {},
    }
    for name in found.measures:
        values = found.data[name].values
        finite = values[np.isfinite(values)]
        entry: dict[str, Any] = {"unit": found.data[name].attrs["units"], "finite": int(finite.size)}
        if finite.size >= 2:
            of = found.statistics(name)
            entry |= {key: of[key].values for key in ("mean", "mean_low", "mean_high", "std")}
            entry |= {
                "quantiles": dict(zip(of.probability.values.tolist(), of["quantile"].values.tolist(), strict=True))
            }
            entry |= {"largest_in_runs": found.worst(name, _WORST)}
        told["measures"][name] = entry
    if asked.limits:
        share = found.share(*((name, *pair) for name, pair in asked.limits.items()))
        told["within_limits"] = {key: share[key].values for key in ("share", "low", "high")}
    return told


def _figures(asked: StudyFile, found: Study, folder: Path, suffix: str, tell: Any) -> list[str]:
    """Write a plot of the distribution of each measure, and of all measures over the parameters."""
    from ..plot.studies import figures_of

    makers = {f"{name}{suffix}": make for _, name, _, make in figures_of(found, asked.limits)}
    return figures.write_all(folder, makers, tell)


def _show(asked: StudyFile, found: Study, folder: Path, files: list[str]) -> None:
    """Print a table of the measures, failures by kind, and the yield."""
    from ..studies.summary import HEAD, measure_lines, yield_line

    common.say(f"{len(found.rows)} runs of {asked.path.name}, {found.failures} of them failed")
    rows = [[name, *numbers, str(run), unit] for name, unit, numbers, (run,) in measure_lines(found)]
    if rows:
        common.show(table(("measure", *HEAD, "in run", ""), rows, width(), (0, len(HEAD) + 2), indent=2))
    for kind, count in found.kinds.items():
        if kind != "completed":
            example = next(row for row in found.rows.values() if row.status == kind)
            common.say(f"  {count} failed: {kind}, such as run {example.index}: {example.message}")
    if asked.limits:
        common.say(f"  {yield_line(found, asked.limits)}")
    common.written(folder, files)
