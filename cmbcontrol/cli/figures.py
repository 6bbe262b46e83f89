"""Figures of the commands, written to files.

Those of ``cmbcontrol linearize`` take the model, and its sampled form if that was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import control
    from matplotlib.figure import Figure

    from ..linear.model import LinearModel

__all__ = ["SUFFIXES", "Format", "bode", "made", "modes", "poles", "suffix_of", "write", "write_all"]

SUFFIXES = (".png", ".svg", ".pdf")  # those of plot.save; matplotlib is imported when a figure is made

Format = Annotated[str, typer.Option("--format", metavar="SUFFIX", help="Of figures: png, svg or pdf.")]


def suffix_of(kind: str) -> str:
    """Suffix of the files of a format.

    Examples
    --------
    >>> suffix_of("SVG")
    '.svg'
    """
    from .. import _check

    return "." + _check.option(kind.lower().removeprefix("."), tuple(s[1:] for s in SUFFIXES), "--format")


def made(make: Callable[..., Any], *arguments: Any) -> Any:
    """Make a figure for a file, unknown to pyplot and its windows."""
    from ..plot.figure import unregistered

    with unregistered():
        return make(*arguments)


def write(path: Path, figure: Any) -> Path:
    """Write a figure to a file, in the format of its suffix."""
    from ..plot.figure import save

    return save(figure, path)


def write_all(folder: Path, makers: Mapping[str, Callable[[], Any]], tell: Callable[[float], None]) -> list[str]:
    """Make figures, and write them under their names; returns the names."""
    for i, (name, make) in enumerate(makers.items()):
        write(folder / name, made(make))
        tell((i + 1) / len(makers))
    return list(makers)


def bode(lin: LinearModel, digital: control.StateSpace | None = None) -> Figure:
    """Plot of the frequency response, in continuous time."""
    from .. import plot

    return plot.bode(lin)


def modes(lin: LinearModel, digital: control.StateSpace | None = None) -> Figure:
    """Plot of the mode shapes on the machine."""
    return lin.plot_modes()


def poles(lin: LinearModel, digital: control.StateSpace | None = None) -> Figure:
    """Plot of the eigenvalues in the complex plane; of the sampled model if there is one."""
    from .. import plot

    return plot.poles(lin, digital)
