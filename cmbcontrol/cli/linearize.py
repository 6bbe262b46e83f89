"""``cmbcontrol linearize``: the linear model of a plant about a configuration, as text, files and figures."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

import typer

from . import common, figures
from .common import AsJson, At, Debug, Factory, NamedConfiguration, Notes, PlantName
from .helps import Command

__all__ = ["FigureOptions", "linearize"]

_FIGURES = {"--bode": "bode.png", "--poles": "poles.png", "--modes": "modes.png"}
_MODELS = (".mat", ".json", ".npz")


class FigureOptions(Command):
    """Command whose figure options may have no file name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Add the file names that were left out, and parse the arguments."""
        return super().parse_args(ctx, list(_with_names(args)))


def _with_names(args: list[str]) -> Iterator[str]:
    """Arguments with a file name behind every figure option, such as ``--bode``.

    Examples
    --------
    >>> list(_with_names(["--bode", "five-bar", "--poles", "p.pdf"]))
    ['--bode', 'bode.png', 'five-bar', '--poles', 'p.pdf']
    """
    for arg, following in zip_longest(args, args[1:], fillvalue=""):
        yield arg
        named = not following.startswith("-") and Path(following).suffix.lower() in figures.SUFFIXES
        if arg in _FIGURES and not named:
            yield _FIGURES[arg]


def _figure(help_text: str) -> Any:
    return typer.Option(metavar="[FILE]", help=help_text, rich_help_panel="Files", show_default=False)


def _chosen(help_text: str, default: str) -> Any:
    return typer.Option(metavar="NAMES", help=help_text, rich_help_panel="Model", show_default=default)


_POSE = "Operating point"
_SAMPLED = "Sampled time"


def linearize(
    plant: PlantName,
    at: At = None,
    factory: Factory = None,
    held: Annotated[
        bool | None,
        typer.Option(
            "--held/--free",
            help="Whether the motors hold the configuration with the least efforts, or are off, and the machine is let "
            "go to the nearest equilibrium, stable or not.",
            rich_help_panel=_POSE,
            show_default="held where the motors can",
        ),
    ] = None,
    stable: Annotated[
        bool, typer.Option("--stable", help="Let it go down to a stable equilibrium.", rich_help_panel=_POSE)
    ] = False,
    stops: Annotated[
        bool,
        typer.Option(
            "--stops",
            help="Limits of joints are end stops, against which it may rest; else an equilibrium is within them.",
            rich_help_panel=_POSE,
        ),
    ] = False,
    affine: Annotated[
        bool,
        typer.Option(
            "--affine",
            help="Linearize it where it stands, motors off, be it at rest or not; the model then has a drift.",
            rich_help_panel=_POSE,
        ),
    ] = False,
    effort: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Effort of a motor, N or N m; other efforts are found where the configuration is held, and else zero.",
            rich_help_panel=_POSE,
        ),
    ] = None,
    coordinates: Annotated[
        list[str] | None,
        _chosen("Independent coordinates, as many as degrees of freedom: left,right.", "the best conditioned"),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        _chosen("Motors; <coordinate>_acceleration for a joint that is driven; <body>_wrench.", "all motors"),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        _chosen(
            "Coordinates, <coordinate>_rate, <body>_position, <body>_velocity, loop rows, <loop>_force, "
            "<coordinate>_constraint_force, <motor>_effort.",
            "the coordinates",
        ),
    ] = None,
    sampled: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Show the model behind a computer too: inputs held for this time.",
            rich_help_panel=_SAMPLED,
        ),
    ] = None,
    delay: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]SECONDS",
            help="From a sample to its effort at the motor: 0.002 for all inputs, or left=0.002.",
            rich_help_panel=_SAMPLED,
        ),
    ] = None,
    bode: Annotated[str | None, _figure("Bode diagram, in continuous time.")] = None,
    poles: Annotated[str | None, _figure("Eigenvalues, of the sampled model with --sampled.")] = None,
    modes: Annotated[str | None, _figure("Mode shapes, drawn on the machine.")] = None,
    save: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE|SUFFIX",
            help="Keep the model, in continuous time: a .mat, .json or .npz file, or one of these suffixes "
            "for linear.mat, ... in the output folder. Several with commas, or one by one.",
            rich_help_panel="Files",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Folder for files without a folder in their name.",
            rich_help_panel="Files",
            show_default="linear-PLANT, made where needed",
        ),
    ] = None,
    notes: Notes = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Linearize a plant: matrices, modes, figures and files for Matlab or python-control.

    The configuration is held by the motors where they can, or is the nearest equilibrium. --bode,
    --poles and --modes write bode.png, poles.png and modes.png unless a FILE follows
    (.png, .pdf or .svg). Options that take names take several, separated by commas or one by one.
    """
    with common.in_one_line(debug):
        from .linear_report import Files, Wish, held_for, needs_compilation, report, sampled_numbers

        common.check_given(plant, factory)
        place = NamedConfiguration.of(at)
        wish = Wish(held, stable, stops, affine, common.numbers(effort, "--effort", "left=5"))
        hold = held_for(sampled, delay)
        files = Files(out or Path(f"linear-{Path(plant).stem}"))
        pictures = zip((bode, poles, modes), (figures.bode, figures.poles, figures.modes), strict=True)
        wanted = [(files.place(text, figures.SUFFIXES), draw) for text, draw in pictures if text]
        models = [files.place(f"linear.{n}" if f".{n}" in _MODELS else n, _MODELS) for n in common.names(save) or ()]
        from ..linear.linearize import affine_approximation
        from ..linear.linearize import linearize as linearize_at_rest
        from . import entries

        entries.begin(needs_compilation, quick=True)
        entry = entries.entry_of(plant, notes)
        options = entries.factory_options(entry, factory)
        machine, q0, _ = entry.start(**options)
        q, where = entries.configuration(machine, q0, place)
        point, how = wish.point(machine, q, where)
        make = affine_approximation if affine else linearize_at_rest
        chosen = {"coordinates": coordinates, "inputs": inputs, "outputs": outputs}
        lin = make(point.plant, point, **{key: common.names(given) for key, given in chosen.items()})
        digital = None if hold is None else lin.sampled(*hold)
        if not as_json:
            common.say(f"{machine.name}, {how}")
            for line in report(lin, digital):
                common.say(line)
        for path in models:
            files.write(path, lin.save)
        for path, draw in wanted:
            files.write(path, partial(figures.write, figure=figures.made(draw, lin, digital)))
        if as_json:
            numbers = {"how": how, "model": lin.to_data(), "sampled": sampled_numbers(digital)}
            numbers["controllability"] = lin.modal_controllability().to_data()
            common.show_json("linear model", numbers | {"files": files.written})
        elif files.written:
            common.say(f"written: {', '.join(map(str, files.written))}")
