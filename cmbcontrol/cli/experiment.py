"""``cmbcontrol experiment``: the papers' experiments, rerun, with the papers' figures beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import common
from .common import AsJson, Debug
from .figures import Format, suffix_of
from .tables import bold, table, width

if TYPE_CHECKING:
    from ..papers import Report, ResultTable
    from ..papers.report import Parts

__all__ = ["experiment"]


def experiment(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Of the experiment.", show_default="list them all")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A reduced set: seconds instead of minutes.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Folder for tables (CSV), figures, report.md, data.json."),
    ] = None,
    kind: Format = "png",
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Rerun an experiment of the papers, and print the published tables beside ours; without a name, list them.

    The output names the parts of the set-up that were chosen, because the paper does not print them.
    """
    with common.in_one_line(debug):
        if name is None:
            if as_json:
                common.show_json("experiments", {"experiments": common.listed()["experiments"]})
            else:
                _list()
            return
        from .. import _check

        _check.one_of(name, [row["name"] for row in common.listed()["experiments"]], "experiment")
        suffix = suffix_of(kind)
        folder = common.made_folder(out) if out is not None else None
        from ..papers import EXPERIMENTS
        from ..papers.report import Parts
        from . import entries

        entries.begin()
        files = []
        with common.Bars() as bars:
            with bars.step(name) as tell:
                parts = Parts(tell, None if folder is None else folder / "parts.csv")
                try:
                    report = EXPERIMENTS[name].run(quick, parts)
                except KeyboardInterrupt as error:
                    raise KeyboardInterrupt(_left(parts)) from error
            if folder is not None:
                with bars.step("figures") as tell:
                    files = report.save(folder, tell, suffix=suffix)
        names = sorted(file.name for file in files)
        if as_json:
            common.show_json("experiment", _numbers(report) | {"name": name, "folder": folder, "files": names})
            return
        _show(report)
        if folder is not None:
            common.written(folder, names)


def _left(parts: Parts) -> str:
    """Text on the finished parts of an interrupted experiment; without a folder, they are printed."""
    count = f"interrupted after {len(parts.done)} parts"
    if not parts.done:
        return "interrupted before its first part was done"
    if parts.path is not None:
        return f"{count}, which are in {parts.path}"
    common.show(_grid(parts.table))
    return f"{count}, shown above; with --out they would be kept"


def _list() -> None:
    """Print a list of all experiments."""
    experiments = common.listed()["experiments"]
    rows = [[row["name"], row["takes"], row["takes_quick"]] for row in experiments]
    below = [[row["description"]] for row in experiments]
    common.show(table(("experiment", "takes", "--quick"), rows, width(), below=below))


def _show(report: Report) -> None:
    """Print the tables, and the parts of the set-up that were chosen."""
    common.say(f"{bold(report.title)}\nafter {report.source}")
    for part in report.tables:
        common.say(f"\n{bold(part.title)}")
        common.show(_grid(part))
        if part.note:
            common.say(f"  {part.note}")
    if report.choices:
        common.say(f"\n{bold('Where the set-up had to be chosen')}")
        for choice in report.choices:
            common.say(f"  - {choice}")


def _grid(part: ResultTable) -> Iterator[str]:
    """Lines of a table for the terminal."""
    from ..papers.report import text

    left = [k for k, right in enumerate(part.numeric()) if not right]
    rows = [[text(cell) for cell in row] for row in part.rows]
    return table(part.columns, rows, width(), left, indent=2)


def _numbers(report: Report) -> dict[str, Any]:
    """Tables of a report by name, with unrounded numbers."""
    tables = [
        {"title": part.title, "columns": part.columns, "rows": part.rows, "note": part.note} for part in report.tables
    ]
    return {"title": report.title, "source": report.source, "tables": tables, "choices": report.choices}
