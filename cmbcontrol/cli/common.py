"""Common parts of the commands: options, numbers, folders, errors in one line.

What is imported here and in the modules of the commands is imported before a help is shown or a typing error told. So
they import what does their work where they use it: `entries` for machines, `linear_report`, `tracking_run`, ....
"""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from .._interrupt import noted
from .._progress import Tally, bars
from .._versions import version
from ..errors import CmbError, FileError, InputError
from .tables import width, wrapped
from .words import spoken

__all__ = [
    "JOINT_VALUES",
    "AsJson",
    "At",
    "Bars",
    "Debug",
    "Factory",
    "NamedConfiguration",
    "Notes",
    "PlantName",
    "assignments",
    "check_given",
    "check_readable",
    "in_one_line",
    "json_of",
    "listed",
    "made_folder",
    "names",
    "number",
    "numbers",
    "say",
    "show",
    "show_json",
    "tell",
    "written",
]

JOINT_VALUES = "left=2.1, left=2*pi/3 or left=120deg"


def listed() -> dict[str, Any]:
    """What is known without building a machine: "plants", "experiments", and the "suffixes" of machine files."""
    return json.loads(resources.files(__package__).joinpath("listed.json").read_text("utf-8"))


def _plants_from(begin: str) -> list[str]:
    """Names of plants that begin so, and files."""
    names = [plant["name"] for plant in listed()["plants"] if plant["name"].startswith(begin)]
    return names + [str(path) for path in sorted(Path().glob(f"{begin}*")) if path.suffix]


PlantName = Annotated[
    str,
    typer.Argument(
        metavar="PLANT",
        help="A name from cmbcontrol list, or a file: YAML, MJCF, URDF, SDF.",
        autocompletion=_plants_from,
    ),
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
        help="Option of the plant, such as closure=revolute; cmbcontrol list names them.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Notes = Annotated[bool, typer.Option("--notes", help="List each remark on the file of the machine, none grouped.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


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
    for name, text in assignments(given, option, example):
        value = number(text)
        if value is None:
            raise InputError(f"{option} takes name=value, such as {example}, got {f'{name}={text}'!r}")
        found[name] = value
    return found


def assignments(given: list[str] | None, option: str, example: str, commas: bool = True) -> Iterator[tuple[str, str]]:
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


# -- what is told before anything is imported that takes time ---------------------------------------------------


def check_given(plant: str, factory: list[str] | None) -> None:
    """Check that there is such a plant, or file, and that its options (``--with``) have names that it knows."""
    from .. import _check

    known = listed()
    options = {row["name"]: row["options"] for row in known["plants"]}
    if Path(plant).suffix.lower() in known["suffixes"]:
        check_readable(Path(plant))
        if factory:
            raise InputError("--with goes with the name of a plant, not with a file")
        return
    if plant not in options:
        there = f"a file of a machine ends in {', '.join(known['suffixes'])}"
        raise InputError(f"{_check.unknown(plant, list(options), 'plant')}; {there}")
    names = [option.partition("=")[0] for option in options[plant].split()]
    for name, _ in assignments(factory, "--with", "closure=revolute", commas=False):
        if name not in names:
            raise InputError(_check.unknown(name, names, "option"))


def check_readable(path: Path) -> None:
    """Check that a file is there; what else may be wrong with it is told by its reader."""
    try:
        path.stat()
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}") from error


# -- files ---------------------------------------------------------------------------------------------------


def made_folder(path: Path) -> Path:
    """Make the output folder, and return it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(f"the output folder {path} cannot be made: {error.strerror or error}") from error
    return path


# -- what is said --------------------------------------------------------------------------------------------


def json_of(kind: str, numbers: dict[str, Any]) -> str:
    """Text of numbers as JSON, which has no infinity and no NaN: null in their place.

    Examples
    --------
    >>> print(json_of("example", {"limit": math.inf, "poles": (-1.0, -2.0)}).replace(version(), "..."))
    {
     "format": "cmbcontrol example 1",
     "version": "...",
     "limit": null,
     "poles": [
      -1.0,
      -2.0
     ]
    }
    """
    return json.dumps(_plain({"format": f"cmbcontrol {kind} 1", "version": version()} | numbers), indent=1)


def _plain(x: Any) -> Any:
    if isinstance(x, dict):
        return {str(key): _plain(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [_plain(value) for value in x]
    if hasattr(x, "tolist"):  # of numpy
        return _plain(x.tolist())
    if isinstance(x, Path):
        return str(x)
    return None if isinstance(x, float) and not math.isfinite(x) else x


def show_json(kind: str, numbers: dict[str, Any]) -> None:
    """Print numbers as JSON."""
    typer.echo(json_of(kind, numbers))


def show(lines: Iterable[str]) -> None:
    """Print lines that are laid out already, such as those of tables."""
    for line in lines:
        typer.echo(line)


def say(text: str) -> None:
    """Print a text; its lines break between words on a terminal, and stay whole elsewhere."""
    for line in text.splitlines() or [""]:
        show(wrapped(line, width()) if sys.stdout.isatty() else [line])


def tell(text: str, indent: str = "") -> None:
    """Print a note or an error: one line, which breaks between words on a terminal."""
    line = indent + " ".join(text.split())
    columns = shutil.get_terminal_size().columns
    for part in wrapped(line, columns, len(indent) + 4) if sys.stderr.isatty() else [line]:
        typer.echo(part, err=True)


def written(folder: Path, files: Iterable[str]) -> None:
    """Print where files have been written."""
    say(f"written to {folder}: {', '.join(sorted(files))}")


@contextmanager
def in_one_line(debug: bool) -> Iterator[None]:
    """Context that prints errors as one line on stderr, with exit code 1, and warnings as notes."""
    try:
        with noted() as interrupted, warnings.catch_warnings():
            warnings.showwarning = _note
            yield
    except BrokenPipeError:  # `cmbcontrol list | head`
        raise
    except KeyboardInterrupt as error:
        tell(f"error: {error}" if str(error) else "error: interrupted")
        raise typer.Exit(130) from None
    except Exception as error:
        if interrupted():
            tell("error: interrupted")
            raise typer.Exit(130) from None
        if debug:
            raise
        expected = isinstance(error, (CmbError, ValueError, OSError, TypeError))
        kind = "" if expected else f"{type(error).__name__}: "
        hint = "" if expected else " (--debug shows where)"
        tell(f"error: {kind}{spoken(str(error))}{hint}")
        raise typer.Exit(1) from None


def _note(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning, without the line of Python that gives it."""
    tell(f"note: {spoken(str(message))}")


class Bars:
    """Progress bars on the terminal, one for each step."""

    def __init__(self) -> None:
        self._bars = bars()

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    @contextmanager
    def step(self, what: str) -> Iterator[Tally]:
        """Show a bar for a step; call the result with the fraction that is done."""
        step = Tally(self._bars, what)
        yield step
        step(1.0)
