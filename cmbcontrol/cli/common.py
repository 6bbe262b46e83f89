"""Common parts of the commands: arguments, folders, errors in one line."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from .. import _check, _jit
from .._interpreted import begin_interpreted
from .._interrupt import noted
from .._versions import version
from ..errors import CmbError, InputError
from ..formats import Conversion, read
from ..formats.conversion import grouped
from ..formats.files import SUFFIXES
from ..model.assembly import start_configuration
from ..model.mechanism import Mechanism
from ..plants import Entry, catalogue

__all__ = [
    "JOINT_VALUES",
    "At",
    "Bars",
    "Debug",
    "Factory",
    "NamedConfiguration",
    "PlantName",
    "configuration",
    "console",
    "entry_of",
    "factory_options",
    "in_one_line",
    "made_folder",
    "names",
    "needs_compilation",
    "number",
    "numbers",
    "options_text",
    "version",
    "warn_of_compilation",
]

Array = NDArray[np.float64]

JOINT_VALUES = "left=2.1, left=2*pi/3 or left=120deg"

PlantName = Annotated[
    str,
    typer.Argument(metavar="PLANT", help="A name from [bold]cmbcontrol list[/bold], or a file: YAML, MJCF, URDF, SDF."),
]
At = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME|NAME=VALUE",
        help="A configuration that has a name in the machine file, and joint values: left=2.1, left=pi/3 or "
        "left=120deg, several with commas or with --at again. The other joints close the loops.",
        show_default="the start configuration of the plant",
    ),
]
Factory = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="NAME=VALUE",
        help="Option of the plant, such as closure=revolute; [bold]cmbcontrol list[/bold] names them.",
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


# -- plants and configurations --------------------------------------------------------------------------------------


def entry_of(name: str) -> Entry:
    """Entry of the catalogue, or of a machine file; parts of the file that a machine cannot hold are reported."""
    if Path(name).suffix.lower() in SUFFIXES:
        found = read(name)
        tell_left_out(found)
        plant = found.machine
        name, text = Path(name).stem, f"the machine of {name}"
        return Entry(name, lambda: plant, text, plant.source, _start)
    if name not in catalogue:
        raise InputError(
            f"{_check.unknown(name, list(catalogue), 'plant')}; a file of a machine ends in {', '.join(SUFFIXES)}"
        )
    return catalogue[name]


def tell_left_out(found: Conversion) -> None:
    """Print notes on the parts of a file that a machine cannot hold."""
    for line in grouped(found.of_kind("left out")):
        typer.echo(f"note: {found.path}: {line}", err=True)


def _start(plant: Mechanism) -> tuple[Array, Array]:
    """Start (q, v) of a machine from a file: its configuration "start", or joints near zero."""
    return start_configuration(plant), np.zeros(plant.nv)


def factory_options(entry: Entry, given: list[str] | None) -> dict[str, Any]:
    """Arguments of the plant's factory from ``--with name=value``, converted to the types of their defaults.

    Examples
    --------
    >>> factory_options(catalogue["n-four-bar"], ["n=3,effort=20"])
    {'n': 3, 'effort': 20.0}
    """
    known = signature(entry.factory).parameters
    found: dict[str, Any] = {}
    for name, text in _assignments(given, "--with", "closure=revolute", commas=False):
        if name not in known:
            raise InputError(_check.unknown(name, list(known), "option"))
        found[name] = _like(known[name], text, f"--with {name}")
    return found


def _like(parameter: Parameter, text: str, what: str) -> Any:
    """Value of an argument from a text, of the type of its default."""
    default = parameter.default
    if isinstance(default, str):
        return text
    if default is None and text == "none":
        return None
    if isinstance(default, int):
        if not re.fullmatch(r"[+-]?\d+", text):
            raise InputError(f"{what} takes a whole number, got {text!r}")
        return int(text)
    parts = [part.strip() for part in text.split(",")]
    if isinstance(default, tuple) and isinstance(default[0], str):
        return tuple(part for part in parts if part)
    values = [math.inf if part == "inf" else number(part) for part in parts]
    if None in values or (len(values) > 1 and not isinstance(default, tuple)):
        raise InputError(f"{what} takes {'numbers' if isinstance(default, tuple) else 'a number'}, got {text!r}")
    return values[0] if len(values) == 1 else tuple(values)


def options_text(entry: Entry) -> str:
    """Text with the options that ``--with`` takes, and their defaults.

    Examples
    --------
    >>> options_text(catalogue["n-four-bar"])
    'n=2 effort=inf'
    """
    return " ".join(f"{name}={_plain(p.default)}" for name, p in signature(entry.factory).parameters.items())


def _plain(default: Any) -> str:
    if default is None:
        return "none"
    return ",".join(map(_plain, default)) if isinstance(default, tuple) else str(default).removesuffix(".0")


class NamedConfiguration(NamedTuple):
    """Configuration that ``--at`` asks for: its name, and values of joints in it."""

    name: str | None
    values: dict[str, float]

    @classmethod
    def of(cls, at: list[str] | None) -> NamedConfiguration:
        """Read the values of the option ``--at``.

        Examples
        --------
        >>> NamedConfiguration.of(["home,left=120deg"]).values, NamedConfiguration.of(None).values
        ({'left': 2.0943951023931953}, {})
        """
        words = [word.strip() for text in at or [] for word in re.split(r",(?=[^,]*=)", text)]
        named = [word for word in words if word and "=" not in word]
        if len(named) > 1 or any("," in word for word in named):
            raise InputError(f"--at takes one configuration by name, and joint values, got {', '.join(named)}")
        values = numbers([word for word in words if word not in named], "--at", JOINT_VALUES)
        return cls(named[0] if named else None, values)


def configuration(plant: Any, q0: Array, at: NamedConfiguration) -> tuple[Array, str]:
    """Configuration at a place, and a text that describes it."""
    where = "at the start configuration"
    if at.name is not None:
        if not plant.configurations:
            raise InputError(
                f"--at takes joint values, such as {JOINT_VALUES}, got {at.name!r}; {plant.name!r} has no "
                "configurations that have names"
            )
        q0, where = plant.configuration(at.name), f"at the configuration {at.name!r}"
    if not at.values:
        return q0, where
    given = ", ".join(f"{name} = {value:.6g}" for name, value in at.values.items())
    return plant.assemble(guess=q0, **at.values), f"{where}, {given}" if at.name is not None else f"at {given}"


# -- names and numbers ---------------------------------------------------------------------------------------


def names(given: list[str] | None) -> tuple[str, ...] | None:
    """Names from an option, separated by commas or given one by one; None where the option was not given.

    Examples
    --------
    >>> names(["left, right", "tip_force"]), names([""])
    (('left', 'right', 'tip_force'), ())
    """
    if given is None:
        return None
    return tuple(name for text in given for part in text.split(",") if (name := part.strip()))


def numbers(given: list[str] | None, option: str, example: str) -> dict[str, float]:
    """Numbers by name from ``name=value`` texts; values may be multiples of pi, or in degrees.

    Examples
    --------
    >>> numbers(["left=2*pi/3,right=-90deg"], "--at", "left=2.1")
    {'left': 2.0943951023931953, 'right': -1.5707963267948966}
    """
    found = {}
    for name, text in _assignments(given, option, example):
        value = number(text)
        if value is None:
            raise InputError(f"{option} takes name=value, such as {example}, got {f'{name}={text}'!r}")
        found[name] = value
    return found


def _assignments(given: list[str] | None, option: str, example: str, commas: bool = True) -> Iterator[tuple[str, str]]:
    """Pairs of name and value, as texts. A value may hold commas if no ``name=`` follows them."""
    known = set()
    for text in given or []:
        for part in re.split(r",(?=[^,]*=)", text):
            name, sign, value = (x.strip() for x in part.partition("="))
            if not (name and sign) or (commas and (not value or "," in value)):
                raise InputError(f"{option} takes name=value, such as {example}, got {text!r}")
            if name in known:
                raise InputError(f"{option} gives {name!r} twice")
            known.add(name)
            yield name, value


_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_PI = re.compile(rf"(?P<factor>{_NUMBER}|[+-]?)\s*\*?\s*pi\s*(?:/\s*(?P<divisor>{_NUMBER}))?")
_DEGREES = re.compile(rf"(?P<angle>{_NUMBER})\s*deg")


def number(text: str) -> float | None:
    """Number from a text, also as a multiple of pi, or in degrees; None for other texts.

    Examples
    --------
    >>> number("2*pi/3"), number("-90deg"), number("up")
    (2.0943951023931953, -1.5707963267948966, None)
    """
    if found := _PI.fullmatch(text):
        factor, divisor = found["factor"], float(found["divisor"] or 1.0)
        return float(factor + "1" if factor in ("", "+", "-") else factor) * math.pi / divisor if divisor else None
    if found := _DEGREES.fullmatch(text):
        return math.radians(float(found["angle"]))
    return float(text) if re.fullmatch(_NUMBER, text) else None


# -- files ---------------------------------------------------------------------------------------------------


def made_folder(path: Path) -> Path:
    """Make the output folder, and return it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(f"the output folder {path} cannot be made: {error.strerror or error}") from error
    return path


# -- what is said --------------------------------------------------------------------------------------------


def console() -> Console:
    """Console for standard output; wide if it is no terminal, so that tables in files keep their lines."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 140)


def needs_compilation() -> bool:
    """Whether the first run will have to compile."""
    return _jit.needs_compilation()


def warn_of_compilation(needed: Callable[[], bool] = needs_compilation) -> None:
    """Print a note if the first call will take a while, and run rarely used kernels as Python at first."""
    if needed():
        typer.echo("compiling kernels for the first time (half a minute) ...", err=True)
    if _jit.JIT_ENABLED:
        begin_interpreted()


@contextmanager
def in_one_line(debug: bool) -> Iterator[None]:
    """Context that prints errors as one line on stderr, with exit code 1."""
    try:
        with noted() as interrupted:
            yield
    except BrokenPipeError:  # `cmbcontrol list | head`
        raise
    except KeyboardInterrupt as error:
        typer.echo(f"error: {error}" if str(error) else "error: interrupted", err=True)
        raise typer.Exit(130) from None
    except Exception as error:
        if interrupted():
            typer.echo("error: interrupted", err=True)
            raise typer.Exit(130) from None
        if debug:
            raise
        expected = isinstance(error, (CmbError, ValueError, OSError, TypeError))
        kind = "" if expected else f"{type(error).__name__}: "
        hint = "" if expected else " (--debug shows where)"
        typer.echo("error: " + " ".join(f"{kind}{error}{hint}".split()), err=True)
        raise typer.Exit(1) from None


class Bars:
    """Progress bars on the terminal, one for each step."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description:<14}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)

    def __enter__(self) -> Bars:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    @contextmanager
    def step(self, what: str) -> Iterator[Callable[[float], None]]:
        """Show a bar for a step; call the result with the fraction that is done."""
        task = self._progress.add_task(what, total=1.0)
        yield lambda fraction: self._progress.update(task, completed=fraction)
        self._progress.update(task, completed=1.0)
