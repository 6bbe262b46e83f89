"""Figures for notebooks, for windows of pyplot, and for files.

In a notebook, and in a script whose matplotlib opens windows, figures are known to pyplot, and ``plt.show()`` or the
end of a cell shows them. Elsewhere (files, servers, processes of a study, the command line) only the caller
holds them, so that thousands of them leave nothing behind.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _check, _files
from ..errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "DPI",
    "NARROW",
    "SUFFIXES",
    "inline",
    "is_narrow",
    "narrow",
    "new_figure",
    "png",
    "save",
    "svg",
    "unregistered",
]

DPI = 150.0  # of files and notebooks: letters of 8 points have 17 pixels
SUFFIXES = (".png", ".svg", ".pdf")

# Backends that write files and open nothing. All others (windows, notebooks, those of plugins) show what pyplot knows.
_SILENT = {"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"}
_INLINE = {"inline", "module://matplotlib_inline.backend_inline"}

NARROW = 3.65  # inches: 350 pixels, what a page has on a phone, at which letters have their size

# Colours that follow a page from light to dark, as they are on its dark ground: neutral ones, and those of signals that
# would have little contrast with it. The grounds are those of reports/page.html.
_DARK = {
    "#000000": "#e6e8ea", "#222222": "#e6e8ea", "#6f6f6f": "#a4abb3", "#7a7a7a": "#a4abb3", "#8a8a8a": "#a4abb3",
    "#b8b8b8": "#6b7178", "#e4e4e4": "#33383e", "#eeeeee": "#2a2e33", "#ececec": "#26292e", "#ffffff": "#17191c",
    "#0072b2": "#3b93d6", "#6b6b6b": "#9aa0a6",
}  # fmt: skip
_LIGHT = {color: color for color in _DARK}
_PAINT = re.compile(r"(?<=(?:fill|roke): )#[0-9a-f]{6}")  # in the style of an element of SVG: fill, stroke

_unregistered: ContextVar[bool] = ContextVar("unregistered", default=False)
_narrow: ContextVar[bool] = ContextVar("narrow", default=False)


@contextmanager
def unregistered() -> Iterator[None]:
    """Context in which figures are made for files only: pyplot does not know them, whatever its backend.

    Examples
    --------
    >>> with unregistered():
    ...     figure = new_figure(4.0, 3.0)
    >>> figure.number
    Traceback (most recent call last):
    ...
    AttributeError: ...
    """
    token = _unregistered.set(True)
    try:
        yield
    finally:
        _unregistered.reset(token)


@contextmanager
def narrow() -> Iterator[None]:
    """Context in which figures are made for phones: `NARROW` inches wide at most, legends above the panels."""
    token = _narrow.set(True)
    try:
        yield
    finally:
        _narrow.reset(token)


def is_narrow() -> bool:
    """Whether figures are made for phones now."""
    return _narrow.get()


def new_figure(width: float, height: float, *, scaled: bool = False, **options: Any) -> Figure:
    """Make an empty figure, known to pyplot if pyplot would show it.

    Parameters
    ----------
    width, height : float
        Inches.
    scaled : bool
        Whether a figure that is made narrower becomes lower, too, as drawings with equal axes do.
    **options
        Options of `matplotlib.figure.Figure`; the layout is "constrained" unless given, the resolution 150 dpi (in a
        window the one of matplotlib's settings, so that it fits the screen).

    Examples
    --------
    >>> new_figure(4.0, 3.0).get_size_inches()
    array([4., 3.])
    """
    from .notebook_figure import NotebookFigure

    if is_narrow() and width > NARROW:
        height *= NARROW / width if scaled else 1.0
        width = NARROW
    options = {"figsize": (width, height), "layout": "constrained"} | options
    if not _appears():
        return NotebookFigure(**{"dpi": DPI, **options})
    from matplotlib import pyplot

    resolution: dict[str, Any] = {"dpi": DPI} if inline() else {}
    return pyplot.figure(FigureClass=NotebookFigure, **(resolution | options))


def _appears() -> bool:
    """Whether pyplot shows its figures here: a script or a notebook uses it, and there is a display.

    Children of a process and other threads have no windows. pyplot is not imported for scripts that do not use it.
    """
    if _unregistered.get() or not _in_front():
        return False
    if "matplotlib.pyplot" not in sys.modules and not _notebook():
        return False
    import matplotlib

    return matplotlib.get_backend().lower() not in _SILENT


def _in_front() -> bool:
    import multiprocessing
    import threading

    own = multiprocessing.parent_process() is None and multiprocessing.current_process().name == "MainProcess"
    return own and threading.current_thread() is threading.main_thread()


def _notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")


def inline() -> bool:
    """Whether cells of a notebook show the figures of pyplot at their end."""
    import matplotlib

    return matplotlib.get_backend().lower() in _INLINE


def png(figure: Figure, dpi: float = DPI) -> bytes:
    """PNG bytes of a figure."""
    return _content(figure, "png", dpi=dpi)


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure as PNG, SVG or PDF, by the suffix of the file.

    The same figure gives the same bytes: there is no date in the file. It is written as a whole or not at all.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : str or Path
        Ends in ``.png``, ``.svg`` or ``.pdf``.

    Returns
    -------
    path : Path

    Raises
    ------
    ValueError
        For another suffix.
    TypeError
        For an object that is no figure.
    FileError
        Where it cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save(new_figure(4.0, 3.0), Path(folder, "empty.svg")).name
    'empty.svg'
    """
    from matplotlib.figure import FigureBase

    _check.instance(figure, FigureBase, "figure", "from a function of cmbcontrol.plot, or of matplotlib")
    path = _check.path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"a figure is kept in a {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} file, got {path.name!r}")
    return _files.write(path, _content(figure, suffix[1:], dpi=max(DPI, figure.get_dpi())))


def svg(figure: Figure) -> str:
    """SVG text of a figure for a page: its neutral colours follow the page, light or dark.

    Letters are paths, so that it looks the same with any fonts.

    Examples
    --------
    >>> "prefers-color-scheme: dark" in svg(new_figure(2.0, 1.0))
    True
    """
    text = _content(figure, "svg", DPI).decode("utf-8")
    text = re.sub(r" *<metadata>.*?</metadata>\n", "", text, count=1, flags=re.S)
    text = _PAINT.sub(lambda found: f"var(--c{found[0][1:]})" if found[0] in _DARK else found[0], text)
    light, dark = ("".join(f"--c{color[1:]}:{table[color]};" for color in _DARK) for table in (_LIGHT, _DARK))
    # what is black has no colour of its own in SVG
    rules = f"svg{{fill:var(--c000000);{light}}}@media (prefers-color-scheme: dark){{svg{{{dark}}}}}"
    return re.sub(r"(<svg [^>]*>)", rf"\1<style>{rules}</style>", text, count=1)


def _content(figure: Figure, kind: str, dpi: float) -> bytes:
    """Bytes of a file, the same for the same figure."""
    import matplotlib

    stream = BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    figure.draw_without_rendering()  # the size of panels decides on their ticks, and the layout has room for these then
    with matplotlib.rc_context({"svg.hashsalt": "cmbcontrol"}):  # else names within SVG are random
        figure.savefig(stream, format=kind, dpi=dpi, metadata=undated.get(kind))
    return stream.getvalue()
