"""Report as a page: sections of tables, texts and pictures, in one HTML file without scripts of its own."""

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

from .. import _files
from .._versions import now, version, versions
from ..errors import CmbError
from ..plot.figure import narrow, svg, unregistered
from ..viewer.page import require_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Page", "Picture", "Section", "Table", "Text", "pairs"]

# Screens for which wide figures would be shrunk until their letters are below 9 pixels; paper is no such screen.
_PHONE = "screen and (max-width: 820px)"


@dataclass(frozen=True)
class Table:
    """Table of a report: rows of cells, all text.

    Attributes
    ----------
    head : sequence of str
        Heading; empty for pairs of a name and a text.
    rows : sequence of sequence of str
    numbers : int
        Number of columns, from the right, that hold numbers.
    caption : str
    alarms : sequence of str
        First cells of rows that a reader must not miss.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: int = 0
    caption: str = ""
    alarms: Sequence[str] = ()

    kind = "table"


@dataclass(frozen=True)
class Text:
    """Paragraph of text, or with ``plain`` lines of fixed width, such as the output of `print`.

    Attributes
    ----------
    text : str
    plain : bool
    folded : str
        Heading under which the text is folded until a click.
    """

    text: str
    plain: bool = False
    folded: str = ""

    kind = "text"


@dataclass(frozen=True)
class Picture:
    """Figure, or ready HTML (the viewer).

    Attributes
    ----------
    content : Markup
    caption : str
    live : bool
        Whether it moves, and so is nothing on paper.
    """

    content: Markup
    caption: str = ""
    live: bool = False

    kind = "picture"

    @classmethod
    def of(cls, make: Callable[[], Figure], caption: str) -> Picture:
        """Make a picture from a figure, as SVG inside the page: one for screens and paper, and one for phones."""
        with warnings.catch_warnings(), unregistered():
            warnings.simplefilter("ignore", UserWarning)  # of axes that hold nothing: the page shows them as they are
            wide = _data(svg(make()))
            with narrow():
                small = _data(svg(make()))
        image = '<picture><source media="{}" srcset="{}"><img alt="{}" src="{}"></picture>'
        return cls(Markup(image).format(_PHONE, small, caption, wide), caption)


@dataclass
class Section:
    """Heading, and the parts below it."""

    title: str
    parts: list[Table | Text | Picture] = field(default_factory=list)

    @property
    def live(self) -> bool:
        """Whether there is nothing in it but what moves."""
        return bool(self.parts) and all(isinstance(part, Picture) and part.live for part in self.parts)


class Page:
    """Report that is being made.

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
        """Fill a section. If a part fails, a text with the error takes its place, and the report goes on."""
        made = Section(title)
        self.sections.append(made)
        try:
            yield made
        except (CmbError, ValueError) as error:  # ValueError: linear algebra that fails
            made.parts.append(Text(f"Not shown: {error}"))

    def add_versions(self) -> None:
        """Add a section with the versions of the packages that made the page, and its date."""
        with self.section("Versions") as section:
            section.parts.append(pairs([*versions().items(), ("date of this page", now())]))

    def html(self) -> str:
        """HTML text of the page."""
        return _template().render(page=self, version=version())

    def save(self, path: str | Path) -> Path:
        """Write the page as ``.html``.

        Raises
        ------
        ValueError
            For a name with another suffix.
        FileError
            Where it cannot be written.
        """
        return _files.write(require_page(path, "a report"), self.html())


def pairs(rows: Iterable[tuple[str, str]], caption: str = "", alarms: Sequence[str] = ()) -> Table:
    """Table of pairs of a name and a text."""
    return Table((), list(rows), caption=caption, alarms=alarms)


def _data(text: str) -> str:
    """SVG text as an address that needs no file."""
    return "data:image/svg+xml;base64," + base64.b64encode(text.encode("utf-8")).decode()


@cache
def _template() -> jinja2.Template:
    text = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    made = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return made.from_string(text)
