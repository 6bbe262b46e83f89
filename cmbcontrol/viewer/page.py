"""Page with the viewer and its data, which needs nothing else: no network, no installation."""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path

from .. import _check, _files
from .._versions import version
from ..errors import InputError
from .cases import Case, colors
from .payload import pack

__all__ = ["View", "require_page"]

_SUFFIXES = (".html", ".htm")
_HEIGHT = 620  # px of a page in a notebook: the machine, three plots and the bar


class View:
    """Machine in three dimensions on a page of its own: notebooks show it, `save` writes it.

    Attributes
    ----------
    title : str
    html : str
        Text of the page.

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.five_bar()
    >>> page = simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.1).view()
    >>> page.title, page.html.startswith("<!doctype html>")
    ('five-bar', True)
    """

    def __init__(self, title: str, cases: Sequence[Case], *, first: int = 0) -> None:
        self.title = title
        self._cases, self._first = list(cases), first

    @cached_property
    def html(self) -> str:
        about = f"Made by cmbcontrol {version()}, with three.js and uPlot (MIT licence)."
        data = {"title": self.title, "cases": self._cases, "first": self._first, "colors": colors(), "about": about}
        return _TEMPLATE.format(
            title=html.escape(self.title), style=_bundled("viewer.css"), script=_bundled("viewer.js"),
            licences=_bundled("LICENSES.txt").replace("--", "- -"), data=pack(data),
        )  # fmt: skip

    def save(self, path: str | Path) -> Path:
        """Write the page, as ``.html``.

        Raises
        ------
        ValueError
            For a name with another suffix.
        FileError
            If it cannot be written.
        """
        return _files.write(require_page(path, "a view"), self.html)

    def frame(self, height: int = _HEIGHT) -> str:
        """Page inside another one: an ``<iframe>``, whose content needs no file.

        Parameters
        ----------
        height : int
            px.
        """
        height = _check.count(height, "height")
        style = f"width:100%;height:{height}px;border:1px solid #8884;border-radius:8px"
        content = html.escape(self.html, quote=True)
        name = html.escape(f"viewer: {self.title}", quote=True)
        return f'<iframe title="{name}" style="{style}" allow="fullscreen" srcdoc="{content}"></iframe>'

    def _repr_html_(self) -> str:
        return self.frame()

    def __repr__(self) -> str:
        count = len(self._cases)
        return f"<View of {self.title!r}{f', {count} cases' if count > 1 else ''}; save('view.html') writes it>"


def require_page(path: str | Path, what: str) -> Path:
    """Path of a page, checked by its suffix."""
    path = _check.path(path)
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError(f"{what} is a page, {' or '.join(_SUFFIXES)}, got {path.name!r}")
    return path


@cache
def _bundled(name: str) -> str:
    return files(__package__).joinpath("bundle", name).read_text(encoding="utf-8")


_TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
{style}
</style>
</head>
<body>
<noscript>This page draws a machine with JavaScript, which is switched off.</noscript>
<script type="text/plain" id="data">{data}</script>
<script>
{script}
</script>
<!--
{licences}
-->
</body>
</html>
"""
