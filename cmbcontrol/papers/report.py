"""Report of an experiment: tables, figures, and the choices of its set-up."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check, _files
from ..errors import InputError, InputTypeError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Parts", "Report", "ResultTable", "text"]

Cell = str | int | float | bool | None


@dataclass(frozen=True)
class ResultTable:
    """Table with named columns; cells are texts, numbers, truth values, or None where there is no value.

    Attributes
    ----------
    title : str
    columns : tuple of str
        Different names, with their units.
    rows : tuple of tuple
        As many cells each as there are columns. Numbers of numpy become Python's.
    note : str
        Text below the table.

    Raises
    ------
    ValueError, TypeError
        Where rows and columns do not fit, or a cell is none of these.

    Examples
    --------
    >>> columns = "method", "evaluations", "error (rad)"
    >>> table = ResultTable("Cost", columns, [("ours", 40821, 2.5e-11), ("theirs", None, 1e-3)])
    >>> print(table.markdown())
    **Cost**
    <BLANKLINE>
    | method | evaluations | error (rad) |
    |---|---:|---:|
    | ours | 40,821 | 2.5e-11 |
    | theirs | - | 0.001 |
    >>> table.column("evaluations")
    (40821, None)
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""

    def __post_init__(self) -> None:
        columns = tuple(self.columns)
        if isinstance(self.columns, str) or not columns or len(set(columns)) < len(columns):
            raise InputError(f"a table needs columns with different names, got {self.columns!r}")
        rows = tuple(tuple(map(_cell, row)) for row in self.rows)
        for row in rows:
            if len(row) != len(columns):
                raise InputError(
                    f"table {self.title!r} has {len(columns)} columns, but a row of {len(row)} cells: {row}"
                )
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "rows", rows)

    def column(self, name: str) -> tuple[Cell, ...]:
        """Cells of a column by its name."""
        _check.one_of(name, self.columns, f"column of table {self.title!r}:")
        at = list(self.columns).index(name)
        return tuple(row[at] for row in self.rows)

    def numeric(self) -> tuple[bool, ...]:
        """Whether each column holds numbers, which are aligned to the right."""
        return tuple(
            any(_is_number(row[i]) for row in self.rows) and not any(isinstance(row[i], str) for row in self.rows)
            for i in range(len(self.columns))
        )

    def markdown(self) -> str:
        """Text of the table in Markdown, for a page of the documentation."""
        lines = [f"**{self.title}**", "", _line(self.columns)]
        lines.append("|" + "|".join("---:" if right else "---" for right in self.numeric()) + "|")
        lines += [_line([text(cell) for cell in row]) for row in self.rows]
        return "\n".join(lines + (["", self.note] if self.note else []))

    def to_csv(self, path: str | Path) -> Path:
        """Write the names of the columns and the unrounded cells to a CSV file; None becomes an empty cell."""
        content = StringIO(newline="")
        writer = csv.writer(content)
        writer.writerow(self.columns)
        writer.writerows(["" if cell is None else cell for cell in row] for row in self.rows)
        return _files.write(path, content.getvalue())


class Parts:
    """Finished parts of an experiment, for its `progress`: kept one by one, in a file that is complete at any time.

    Parameters
    ----------
    told : callable
        Function that gets the fraction that is done.
    path : path, optional
        A CSV file, written anew after each part.

    Examples
    --------
    >>> from cmbcontrol import papers
    >>> parts = Parts()
    >>> report = papers.run("udwadia-kalaba-pseudoinverses", quick=True, progress=parts)
    >>> parts.table.columns[:2], len(parts.table.rows) > 10
    (('angle to the flat configuration (rad)', 'pseudoinverse'), True)
    """

    def __init__(self, told: Callable[[float], None] = lambda _: None, path: str | Path | None = None) -> None:
        self.told, self.path = told, path
        self.done: list[Mapping[str, Cell]] = []

    def __call__(self, fraction: float) -> None:
        self.told(fraction)

    def keep(self, done: Sequence[Mapping[str, Cell]]) -> None:
        """Add finished parts, and write the file, if there is one."""
        self.done += done
        if self.path is not None:
            self.table.to_csv(self.path)

    @property
    def table(self) -> ResultTable:
        """Table with a row for each finished part, in order."""
        columns = tuple(dict.fromkeys(name for part in self.done for name in part)) or ("part",)
        return ResultTable("What is done", columns, [[part.get(name) for name in columns] for part in self.done])


@dataclass(frozen=True)
class Report:
    """Report of an experiment: its tables, figures, choices and data.

    Attributes
    ----------
    title, source : str
        Title, and source of the experiment: paper, section, tables, figures.
    tables : tuple of Table
    figures : mapping of file name (without ending) to function
        Called without arguments, gives a matplotlib figure.
    choices : tuple of str
        Choices of the set-up where the source does not print it.
    data : mapping
        Numbers and arrays by name, for figures and tests.
    """

    title: str
    source: str
    tables: Sequence[ResultTable]
    figures: Mapping[str, Callable[[], Figure]] = field(default_factory=dict)
    choices: Sequence[str] = ()
    data: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("tables", "choices"):
            if isinstance(getattr(self, name), (str, ResultTable)):
                raise InputTypeError(f"{name} of a report is a sequence, got {getattr(self, name)!r}")
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for table in self.tables:
            if not isinstance(table, ResultTable):
                raise InputTypeError(f"tables of a report are of class ResultTable, got {table!r}")
        for name, make in self.figures.items():
            if not re.fullmatch(r"[\w-]+", name) or not callable(make):
                raise InputTypeError(f"figures are functions by the name of their file, got {name!r}: {make!r}")

    def table(self, title: str) -> ResultTable:
        """Table whose title begins with the given text; refuses a text that fits several, or none."""
        found = [table for table in self.tables if table.title.startswith(title)]
        if len(found) != 1:
            titles = ", ".join(repr(table.title) for table in self.tables)
            raise InputError(f"{len(found)} tables have a title that begins with {title!r}; there are {titles}")
        return found[0]

    def markdown(self) -> str:
        """Text of tables and choices in Markdown, for a page of the documentation."""
        parts = [f"# {self.title}", f"After {self.source}.", *(table.markdown() for table in self.tables)]
        if self.choices:
            parts.append("Where the set-up had to be chosen:\n\n" + "\n".join(f"- {choice}" for choice in self.choices))
        return "\n\n".join(parts) + "\n"

    def save(
        self, folder: str | Path, told: Callable[[float], None] = lambda _: None, *, suffix: str = ".png"
    ) -> list[Path]:
        """Write ``report.md``, a CSV file for each table, a picture for each figure, and ``data.json``.

        Parameters
        ----------
        folder : path
            Made where it does not exist.
        told : callable
            Function that gets the fraction that is done.
        suffix : str
            Ending of the figures: ``".png"``, ``".svg"`` or ``".pdf"``.

        Returns
        -------
        files : list of Path
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        files = [_files.write(folder / "report.md", self.markdown())]
        files += [table.to_csv(folder / f"{i:02}-{_slug(table.title)}.csv") for i, table in enumerate(self.tables, 1)]
        if self.data:
            files.append(_files.write(folder / "data.json", json.dumps(_plain(self.data)) + "\n"))
        if self.figures:
            from ..plot.figure import save, unregistered

            with unregistered():
                for i, (name, make) in enumerate(self.figures.items(), 1):
                    files.append(save(make(), folder / f"{name}{suffix}"))
                    told(i / len(self.figures))
        return files


def text(cell: Cell) -> str:
    """Text of a cell for readers: three digits, thousands apart, a dash where there is no value.

    Examples
    --------
    >>> [text(x) for x in (2961955, 4.51234e-5, 17.5, True, None, "fails", float("nan"))]
    ['2,961,955', '4.51e-05', '17.5', 'yes', '-', 'fails', 'not a number']
    """
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return "not a number" if math.isnan(cell) else f"{cell:.3g}"
    return cell


def _cell(value: Any) -> Cell:
    """Cell as a value of Python; refuses types that no table holds."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise InputTypeError(f"cells of a table are texts, numbers, truth values or None, got {value!r}")


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _slug(title: str) -> str:
    """Name of a file, made from a title."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:48].rstrip("-")


def _plain(value: Any) -> Any:
    """Data in types that JSON has: lists for arrays, None for NaN and infinity."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
