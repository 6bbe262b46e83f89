"""All commands, ``cmbcontrol list``, ``diagnose``, ``linearize``, ``study``, ``run``, ..., as one application."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from .._versions import version as version_of_package
from . import convert, experiment, export, linearize, machines, run, study, view
from .helps import Command, Group

__all__ = ["app", "run_command"]


app = typer.Typer(
    cls=Group,
    help="Control engineering for robots with closed loops: ready-made plants, their mobility, linear models, a closed-"
    "loop run, studies of many runs, C for a controller's computer, and the experiments of the papers.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _paragraphs(command: Callable) -> str:
    """The docstring of a command, each paragraph on a line of its own, which the terminal breaks."""
    return "\n\n".join(" ".join(text.split()) for text in (command.__doc__ or "").split("\n\n"))


for _name, _command, _kind in (
    ("list", machines.list_plants, Command),
    ("diagnose", machines.diagnose, Command),
    ("linearize", linearize.linearize, linearize.FigureOptions),
    ("study", study.study, Command),
    ("run", run.run, Command),
    ("export", export.export, Command),
    ("convert", convert.convert, Command),
    ("view", view.view, Command),
    ("experiment", experiment.experiment, Command),
):
    app.command(_name, cls=_kind, help=_paragraphs(_command))(_command)


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=lambda v: _version(v)),
    ] = False,
) -> None:
    """Options before the command."""


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cmbcontrol {version_of_package()}")
        raise typer.Exit


def run_command() -> None:
    """Run the command of this process."""
    app(prog_name="cmbcontrol")
