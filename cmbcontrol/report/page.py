"""A report as a page: sections of tables, texts and pictures, in one HTML file without scripts of its own."""

from __future__ import annotations

import base64
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from .. import _check, _files
from .._versions import version
from ..errors import CmbError, InputError
from ..plot.figure import png, unregistered

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Page", "Picture", "Section", "Table", "Text", "pairs", "require_page"]

_SUFFIXES = (".html", ".htm")
_DPI = 130.0  # of pictures: sharp on paper at the width of the page, some 50 kB each


@dataclass(frozen=True)
class Table:
    """Rows of cells, all text.

    Attributes
    ----------
    head : sequence of str
        Empty for pairs of a name and what it is.
    rows : sequence of sequence of str
    numbers : int
        The last so many columns hold numbers.
    caption : str
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: int = 0
    caption: str = ""

    kind = "table"


@dataclass(frozen=True)
class Text:
    """Words as they are: a paragraph, or with ``plain`` lines of one width, such as what `print` shows.

    Attributes
    ----------
    text : str
    plain : bool
    folded : str
        Shown on a click on these words.
    """

    text: str
    plain: bool = False
    folded: str = ""

    kind = "text"


@dataclass(frozen=True)
class Picture:
    """A figure, or what is HTML already (the viewer).

    Attributes
    ----------
    content : Markup
    caption : str
    """

    content: Markup
    caption: str = ""

    kind = "picture"

    @classmethod
    def of(cls, make: Callable[[], Figure], caption: str) -> Picture:
        """A figure as a PNG inside of the page."""
        with warnings.catch_warnings(), unregistered():
            warnings.simplefilter("ignore", UserWarning)  # of axes that hold nothing: the page shows them as they are
            data = base64.b64encode(png(make(), dpi=_DPI)).decode()
        return cls(Markup('<img alt="{}" src="data:image/png;base64,{}">').format(caption, data), caption)


@dataclass
class Section:
    """A heading, and what is below it."""

    title: str
    parts: list[Table | Text | Picture] = field(default_factory=list)


class Page:
    """A report in the making.

    Attributes
    ----------
    title, subtitle : str
    sections : list of Section
    """

    def __init__(self, title: str, subtitle: str) -> None:
        self.title, self.subtitle = title, subtitle
        self.sections: list[Section] = []

    @contextmanager
    def section(self, title: str) -> Iterator[Section]:
        """Fill a section. Where a part of it cannot be made, it says so: a report is not lost for one of its parts."""
        made = Section(title)
        self.sections.append(made)
        try:
            yield made
        except (CmbError, ValueError) as error:  # ValueError: linear algebra that fails
            made.parts.append(Text(f"Not shown: {error}"))

    def html(self) -> str:
        """The page."""
        return _template().render(page=self, version=version())

    def save(self, path: str | Path) -> Path:
        """Write it, ``.html``.

        Raises
        ------
        ValueError
            For a name with another suffix.
        FileError
            Where it cannot be written.
        """
        return _files.write(require_page(path), self.html())


def require_page(path: str | Path) -> Path:
    """The path of a page, before hours are spent on what is to be on it."""
    path = _check.path(path)
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError(f"a report is a page, {' or '.join(_SUFFIXES)}, got {path.name!r}")
    return path


def pairs(rows: Iterable[tuple[str, str]], caption: str = "") -> Table:
    """A table of names and what they are."""
    return Table((), list(rows), caption=caption)


@cache
def _template() -> jinja2.Template:
    text = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    made = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return made.from_string(text)
