"""``cmbcontrol experiment``: the papers' experiments, rerun, with the papers' figures beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import common
from .common import Debug
from .figures import Format, suffix_of

if TYPE_CHECKING:
    from rich.table import Table as Grid

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
        typer.Option("--out", "-o", help="Folder for tables (CSV), figures, report.md, data.json."),
    ] = None,
    kind: Format = "png",
    debug: Debug = False,
) -> None:
    """Rerun an experiment of the papers, and print the published tables beside ours; without a name, list them.

    The output names the parts of the set-up that were chosen, because the paper does not print them.
    """
    with common.in_one_line(debug):
        if name is None:
            _list()
            return
        from .. import _check

        _check.one_of(name, [row["name"] for row in common.listed()["experiments"]], "experiment")
        suffix = suffix_of(kind)
        folder = common.made_folder(out) if out is not None else None
        from rich.text import Text

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
        _show(report)
        if folder is not None:
            written = ", ".join(sorted(file.name for file in files))
            common.console().print(Text.assemble("written to ", (str(folder), "bold"), ": ", written), soft_wrap=True)


def _left(parts: Parts) -> str:
    """Text on the finished parts of an interrupted experiment; without a folder, they are printed."""
    count = f"interrupted after {len(parts.done)} parts"
    if not parts.done:
        return "interrupted before its first part was done"
    if parts.path is not None:
        return f"{count}, which are in {parts.path}"
    common.console().print(_grid(parts.table))
    return f"{count}, shown above; with --out they would be kept"


def _list() -> None:
    """Print a list of all experiments."""
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=None, pad_edge=False, header_style="bold")
    grid.add_column("experiment", no_wrap=True)
    for heading in ("takes", "--quick"):
        grid.add_column(heading, justify="right", no_wrap=True)
    grid.add_column("what it is")
    for row in common.listed()["experiments"]:
        grid.add_row(Text(row["name"], "bold"), row["takes"], row["takes_quick"], row["description"])
    common.console().print(grid)


def _show(report: Report) -> None:
    """Print the tables, and the parts of the set-up that were chosen."""
    from rich.padding import Padding
    from rich.text import Text

    console = common.console()
    console.print(Text.assemble((report.title, "bold"), "\nafter ", report.source))
    for table in report.tables:
        console.print()
        console.print(Text(table.title, "bold"))
        console.print(_grid(table))
        if table.note:
            console.print(Padding(Text(table.note, "dim"), (0, 2)))
    if report.choices:
        console.print(Text("\nWhere the set-up had to be chosen", "bold"))
        for choice in report.choices:
            console.print(Padding(Text(f"- {choice}"), (0, 2)))


def _grid(table: ResultTable) -> Grid:
    """Table for the terminal."""
    from rich.table import Table as Grid
    from rich.text import Text

    from ..papers.report import text

    grid = Grid(box=None, padding=(0, 1, 0, 2), header_style="dim")
    for name, right in zip(table.columns, table.numeric(), strict=True):
        grid.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in table.rows:
        grid.add_row(*(Text(text(cell)) for cell in row))
    return grid
