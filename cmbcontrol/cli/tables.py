"""Text for terminals: lines that break between words, lists of names with texts, tables that keep their columns.

All that commands print is laid out here, in one style: headings in bold, columns two spaces apart, no lines drawn. A
table that is wider than the terminal goes on below, in blocks that begin with its first column; nothing is cut off.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import typer

__all__ = ["blocks", "bold", "coloured", "described", "plain", "side_by_side", "table", "width", "wrapped"]

_WIDE = 140  # where the output is no terminal, so that tables in files keep their lines
_GAP = "  "
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_LABEL = 30  # columns of the names in a list; longer ones have a line of their own
_HEAD = 12  # columns of a heading that is broken where a table is too wide
_WHOLE: Any = {"break_long_words": False, "break_on_hyphens": False}  # words stay whole
_NAMED = re.compile(r"\s*(?:[-*] |\S+(?: \S+)*?\s{2,}|)")  # the beginning of a line, under whose end it goes on


def width() -> int:
    """Columns of the terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDE


def bold(text: str) -> str:
    """Text in bold on a terminal; `typer.echo` leaves that out where there is none."""
    return typer.style(text, bold=True)


def plain(text: str) -> str:
    """Text without bold and colours.

    Examples
    --------
    >>> plain(bold("plant"))
    'plant'
    """
    return _STYLE.sub("", text)


def coloured(text: str, colour: str) -> str:
    """Text in a colour on a terminal, unless the environment says NO_COLOR."""
    return text if "NO_COLOR" in os.environ else typer.style(text, fg=colour, bold=True)


def wrapped(line: str, columns: int, indent: int | None = None) -> list[str]:
    """Lines of a long line, broken between words; they go on below the text behind its first two spaces.

    Examples
    --------
    >>> print(*wrapped("  inputs  left_effort [N m], right_effort [N m]", 30), sep="|")
      inputs  left_effort [N m],|          right_effort [N m]
    """
    if len(plain(line)) <= columns:
        return [line]
    begin = len(line) - len(line.lstrip())
    if indent is None:
        named = _NAMED.match(line)
        indent = named.end() if named and begin < named.end() <= columns // 2 else begin + 2
    words = textwrap.wrap(
        line.lstrip(),
        columns,
        initial_indent=line[:begin],
        subsequent_indent=" " * indent,
        **_WHOLE,
    )
    return words or [""]


def described(rows: Iterable[tuple[str, str]], columns: int, indent: int = 2) -> Iterator[str]:
    """Lines of a list of names with texts, which stand side by side where names are short.

    Examples
    --------
    >>> print(*described([("--json", "Print JSON."), ("--at NAME", "Where.")], 60), sep="|")
      --json     Print JSON.|  --at NAME  Where.
    """
    rows = list(rows)
    label = max((len(name) for name, _ in rows if len(name) <= _LABEL), default=_LABEL)
    place = " " * (indent + label + len(_GAP))
    for name, text in rows:
        first = f"{' ' * indent}{name:<{label}}{_GAP}"
        if len(name) > label:
            yield first.rstrip()
            first = place
        yield from (line.rstrip() for line in wrapped(first + text, columns, len(place)))


def blocks(columns: Sequence[list[str]], room: int) -> Iterator[list[list[str]]]:
    """Groups of columns of text that fit side by side; at least one column in each."""
    block: list[list[str]] = []
    used = 0
    for column in columns:
        wide = len(column[0]) + len(_GAP)
        if block and used + wide > room:
            yield block
            block, used = [], 0
        block.append(column)
        used += wide
    yield block


def side_by_side(columns: Sequence[list[str]]) -> list[str]:
    """Lines of columns of text."""
    return [_GAP.join(parts).rstrip() for parts in zip(*columns, strict=True)]


def _narrow(head: Sequence[str], cells: Sequence[str]) -> list[str]:
    """Heading on several lines, about as wide as what stands below it."""
    wide = max(_HEAD, *map(len, cells), 0)
    return [line for text in head for line in textwrap.wrap(text, wide, **_WHOLE) or [""]]


def table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    columns: int,
    left: Iterable[int] = (0,),
    below: Sequence[Sequence[str]] = (),
    indent: int = 0,
) -> Iterator[str]:
    r"""Lines of a table, with its headings in bold; in blocks that begin with the first column where it is too wide.

    Parameters
    ----------
    headings : sequence of str
        Of several lines where they have line breaks, such as a name and its unit.
    rows : sequence of sequences of str
    columns : int
        Columns of the terminal.
    left : iterable of int
        Columns of texts, to the left; numbers stand to the right.
    below : sequence of sequences of str, optional
        For each row texts that stand below it.
    indent : int

    Examples
    --------
    >>> lines = table(["plant", "motors\n1"], [["five-bar", "2"], ["governor", "0"]], 80)
    >>> print(*map(plain, lines), sep="\n")
    plant     motors
                   1
    five-bar       2
    governor       0
    """
    left, room = set(left), columns - indent
    heads = [heading.split("\n") for heading in headings]
    cells = [[str(row[k]) for row in rows] for k in range(len(heads))]
    if sum(max(map(len, [*head, *column])) + len(_GAP) for head, column in zip(heads, cells, strict=True)) > room:
        heads = [_narrow(head, column) for head, column in zip(heads, cells, strict=True)]
    high = max(map(len, heads))
    texts = []
    for k, (head, column) in enumerate(zip(heads, cells, strict=True)):
        column = [*head, *[""] * (high - len(head)), *column]
        wide = max(map(len, column))
        texts.append([cell.ljust(wide) if k in left else cell.rjust(wide) for cell in column])
    first, *rest = texts
    if rest and len(first[0]) + len(_GAP) + max(len(column[0]) for column in rest) > room:
        yield from _listed(headings, rows, columns, below, indent)
        return
    for count, block in enumerate(blocks(rest, room - len(first[0]))):
        if count:
            yield ""
        for i, line in enumerate(side_by_side([first, *block])):
            yield bold(" " * indent + line) if i < high else " " * indent + line
            if below and not count and i >= high:
                yield from _beneath(below[i - high], columns, indent)


def _listed(
    headings: Sequence[str], rows: Sequence[Sequence[str]], columns: int, below: Sequence[Sequence[str]], indent: int
) -> Iterator[str]:
    """Lines of a list in place of a table whose first column leaves no room for another one."""
    names = [" ".join(heading.split()) for heading in headings[1:]]
    for i, (first, *rest) in enumerate(rows):
        yield " " * indent + bold(str(first))
        yield from described([(name, str(cell)) for name, cell in zip(names, rest, strict=True)], columns, indent + 2)
        if below:
            yield from _beneath(below[i], columns, indent)


def _beneath(texts: Sequence[str], columns: int, indent: int) -> Iterator[str]:
    for text in texts:
        yield from wrapped(f"{' ' * indent}    {text}", columns, indent + 4)
