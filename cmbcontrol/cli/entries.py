"""Machines that commands are given: by a name of the catalogue, or as a file; and their configurations."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _jit
from .._interpreted import begin_interpreted
from ..errors import InputError
from ..formats import Conversion, Remark, read
from ..formats.conversion import grouped
from ..formats.files import SUFFIXES
from ..model.assembly import start_configuration
from ..model.mechanism import Mechanism
from ..plants import Entry, catalogue
from . import common
from .common import JOINT_VALUES, NamedConfiguration, assignments, number

__all__ = [
    "begin",
    "configuration",
    "entry_of",
    "experiment_rows",
    "factory_options",
    "known",
    "needs_compilation",
    "options_text",
    "remark_lines",
    "tell_remarks",
]

Array = NDArray[np.float64]


def entry_of(name: str, notes: bool = False) -> Entry:
    """Entry of the catalogue, or of a machine file; parts of the file that a machine cannot hold are reported."""
    if Path(name).suffix.lower() in SUFFIXES:
        found = read(name)
        tell_remarks(found, notes)
        plant = found.machine
        name, text = Path(name).stem, f"the machine of {name}"
        return Entry(name, lambda: plant, text, plant.source, _start)
    return catalogue[name]  # `common.check_given` has told of others


def plant_rows() -> list[dict[str, Any]]:
    """What ``cmbcontrol list`` shows of each plant."""
    rows = []
    for name, entry in catalogue.items():
        plant, q0, _ = entry.start()
        counts = {"dof": plant.diagnose(q0).dof, "coordinates": plant.nv, "loops": len(plant.row_slices)}
        texts = {"description": entry.description, "source": entry.source, "options": options_text(entry)}
        rows.append({"name": name, **counts, "motors": plant.nu, **texts})
    return rows


def experiment_rows() -> list[dict[str, str]]:
    """What ``cmbcontrol experiment`` shows of each experiment."""
    from .. import papers

    return [
        {"name": entry.name, "takes": entry.takes, "takes_quick": entry.takes_quick, "description": entry.text}
        for entry in papers.EXPERIMENTS.values()
    ]


def known() -> dict[str, Any]:
    """What `common.listed` tells; kept in ``listed.json``, since to build all plants takes seconds."""
    return {"plants": plant_rows(), "experiments": experiment_rows(), "suffixes": list(SUFFIXES)}


def tell_remarks(found: Conversion, notes: bool) -> None:
    """Print notes on the parts of a file that a machine cannot hold; all remarks, one by one, where `notes` says so."""
    lines = list(remark_lines(found.remarks if notes else found.of_kind("left out"), notes))
    if lines:
        common.tell(f"note: remarks on {found.path}:")
    for line in lines:
        common.tell(line, "  ")


_NAMED = re.compile(r"'[^']*'|\S*[/\\]\S+")  # names and paths, in which remarks of a kind differ


def remark_lines(remarks: Sequence[Remark], notes: bool = False) -> Iterator[str]:
    """Lines of remarks: one for each where `notes` says so, else those that differ in names only together.

    Examples
    --------
    >>> gone = [Remark("left out", f"link {x!r}", f"the file '{x}.stl' is not there") for x in "abc"]
    >>> print(*remark_lines(gone))
    left out: 3 parts, such as link 'a': the file 'a.stl' is not there; --notes lists them
    """
    if notes:
        yield from map(str, remarks)
        return
    kinds: dict[tuple[str, str], list[Remark]] = {}
    for remark in remarks:
        kinds.setdefault((remark.kind, _NAMED.sub("", remark.what)), []).append(remark)
    for (kind, _), alike in kinds.items():
        if len({remark.what for remark in alike}) < 3:
            yield from grouped(alike)
        else:
            first = alike[0]
            yield f"{kind}: {len(alike)} parts, such as {first.part}: {first.what}; --notes lists them"


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
    for name, text in assignments(given, "--with", "closure=revolute", commas=False):
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


def needs_compilation() -> bool:
    """Whether the first run will have to compile."""
    return _jit.needs_compilation()


def begin(needed: Callable[[], bool] = needs_compilation, quick: bool = False) -> None:
    """Prepare for work: tell if kernels are compiled first, or go on without, and run rarely used ones as Python.

    Commands that look at few configurations are `quick`: a second or two interpreted, where compiling takes a minute.
    They go on in a process that compiles nothing, and this one ends with its exit code.
    """
    if needed():
        if quick:
            command = [sys.executable, "-m", "cmbcontrol", *sys.argv[1:]]
            sys.exit(subprocess.call(command, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}))
        common.tell("compiling kernels for the first time (half a minute) ...")
    if _jit.JIT_ENABLED:
        begin_interpreted()
