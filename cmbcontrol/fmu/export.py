"""Export of a machine as an FMU."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check, _files
from .._versions import version as own_version
from ..codegen.export import require_mechanism
from ..codegen.identifiers import identifier as c_name
from ..errors import FileError, InputError
from ..model.assembly import start_configuration
from ..model.mechanism import Mechanism
from ..trace.graph import TooLarge
from .description import build_description, model_description, value_references
from .model import model_of
from .source import sources

__all__ = ["FmuExport", "export"]

_KINDS = ("ModelExchange", "CoSimulation")
_STEP = 1e-3  # s: machines move at some Hz, where an error of order four is 1e-10 of the motion
_COMPILERS = ("cc", "gcc", "clang")
_OPTIMISE = "-O1"  # straight-line code gains nothing beyond it, and -O2 takes twice as long


@dataclass(frozen=True)
class FmuExport:
    """Result of an export: the FMU that was written, and its variables.

    Attributes
    ----------
    path : Path
        The FMU.
    version : str
    kinds : tuple of str
    states, inputs, outputs : tuple of str
        Names of variables.
    parameters : dict of str to float
        Names and start values.
    references : dict of str to int
        Value references of all variables.
    left_out : tuple of str
        Parts of the machine in runs of this package that the FMU does not have.
    binary : str
        Platform of the compiled library in it; empty where it holds sources only.
    """

    path: Path
    version: str
    kinds: tuple[str, ...]
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: dict[str, float]
    references: dict[str, int]
    left_out: tuple[str, ...]
    binary: str


def export(
    plant: Mechanism,
    path: str | Path,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    u: ArrayLike | None = None,
    law: Any = None,
    references: str = "inside",
    version: str = "3.0",
    kind: str | Sequence[str] = _KINDS,
    bodies: Sequence[str] | None = None,
    internal_step: float = _STEP,
    stop: float = 5.0,
    binary: bool | None = None,
    overwrite: bool = False,
) -> FmuExport:
    """Write a machine as an FMU, with or without a law inside.

    Its states are independent positions and velocities; all others follow by closing the loops at every evaluation.
    Where the independent ones become slow beside the others, an event chooses others (in co-simulation, between two
    steps). Inputs are motor efforts, loads and prescribed motions; outputs all positions, velocities, accelerations,
    constraint forces, frames of bodies, reactions and energies. The numbers of the machine are tunable parameters. End
    stops are left out (`FmuExport.left_out`).

    Parameters
    ----------
    plant : Mechanism
    path : str or Path
        A file that ends in ``.fmu``.
    q, v : array_like, shape (nq,) and (nv,), optional
        Start; by default the configuration ``"start"`` or the one that `plant.assemble()` finds, at rest.
        Loops are closed, and velocities projected.
    u : array_like, shape (nu,), optional
        Start values of the efforts, N or N m; by default zero. Not with a law.
    law : Controller, optional
        A law in the machine, sampled (a time event) or in continuous time (with states). Efforts are then outputs.
    references : {"inside", "inputs"}
        References of the law: computed inside from the time, where they can be written as formulas, or inputs.
    version : {"3.0", "2.0"}
        Version of FMI.
    kind : {"ModelExchange", "CoSimulation"}, or both
    bodies : sequence of str, optional
        Bodies whose frames are outputs; by default all.
    internal_step : float
        Longest step of the integrator of co-simulation, s: the method of Runge and Kutta of order four.
    stop : float
        End of the default experiment, s.
    binary : bool, optional
        Whether to compile the library for this system. By default where a compiler (cc, gcc, clang) is found; sources
        are always in the file.
    overwrite : bool
        Whether to replace a file that is there.

    Returns
    -------
    FmuExport

    Raises
    ------
    InputTypeError
        For a plant given by functions of Python, and a law that asks Python.
    InputError
        For what an FMU does not hold: friction in proportion to loads, laws with delays or drives.
    SingularConfigurationError
        Where the start is a singular configuration.
    FileError
        Where the file is there already, or cannot be written, or the compiler fails.

    Notes
    -----
    FMI 3.0.2 and 2.0.5, https://fmi-standard.org.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from cmbcontrol import plants
    >>> with TemporaryDirectory() as folder:
    ...     made = export(plants.pendulum(), Path(folder, "pendulum.fmu"), binary=False)
    >>> made.states, made.inputs
    (('position[1]', 'velocity[1]'), ('u.motor',))
    """
    require_mechanism(plant)
    path = _fmu_path(path)
    version = _check.option(version, ("3.0", "2.0"), "version")
    kinds = (kind,) if isinstance(kind, str) else kind
    kinds = _check.names(kinds, "kind", _KINDS, "kind")
    if not kinds:
        raise InputError(f"kind must be one of {', '.join(_KINDS)}, or both")
    references = _check.option(references, ("inside", "inputs"), "references")
    bodies = [b.name for b in plant.bodies] if bodies is None else bodies
    bodies = _check.names(bodies, "bodies", [b.name for b in plant.bodies], "body")
    step = _check.positive(internal_step, "internal_step")
    stop = _check.positive(stop, "stop")
    overwrite = _check.flag(overwrite, "overwrite")
    if binary is not None:
        binary = _check.flag(binary, "binary")
    if law is not None and u is not None:
        raise InputError("efforts u are those of the law; leave out u, or the law")
    efforts = np.zeros(plant.nu) if u is None else _check.vector(u, plant.nu, "u", plant.actuator_names)
    if path.exists() and not overwrite:
        raise FileError(f"{path} is there already; name another file, or allow it: overwrite=True")
    start = plant.close(start_configuration(plant) if q is None else plant.configuration(q))
    given = np.zeros(plant.nv) if v is None else _check.vector(v, plant.nv, "v", plant.velocity_names)
    moving = plant.project_velocity(start, given)
    name = c_name(plant.name)
    try:
        model = model_of(plant, start, moving, efforts, law, references, bodies, step, own_version())
        texts = sources(model, version)
    except TooLarge as error:
        raise InputError(
            f"{plant.name!r} is too large for straight lines of C: {error}; name fewer bodies whose frames are outputs "
            "(bodies=...), or divide the machine"
        ) from error
    files: dict[str, str | bytes] = {"modelDescription.xml": model_description(model, version, kinds, name, stop)}
    files |= {f"sources/{file}": text for file, text in texts.items()}
    if version == "3.0":
        files["sources/buildDescription.xml"] = build_description(name)
    compiler = _compiler() if binary is None or binary else None
    if binary and compiler is None:
        raise FileError(
            f"no C compiler ({', '.join(_COMPILERS)}) was found for the binary of {path}; install one, or write "
            "sources only: binary=False"
        )
    place = ""
    if compiler is not None:
        place, ending = _platform(version)
        files[f"binaries/{place}/{name}{ending}"] = _library(compiler, texts)
    _files.write(path, _zipped(files))
    return FmuExport(
        path,
        version,
        tuple(kinds),
        tuple(model.state_names),
        tuple(x.name for x in model.inputs),
        tuple(x.name for x in model.outputs),
        {n: model.numbers[i].value for n, i in zip(model.parameter_names, model.tuned, strict=True)},
        value_references(model),
        _left_out(plant),
        place,
    )


def _left_out(plant: Mechanism) -> tuple[str, ...]:
    """Names of the end stops, which are contacts that `simulate` adds."""
    limited = [j.name for j in plant.joints if np.isfinite(np.asarray(j.limits, dtype=np.float64)).any()]
    return (f"end stops: limits of {', '.join(limited)} are not held",) if limited else ()


def _fmu_path(path: str | Path) -> Path:
    given = _check.path(path, "path")
    if given.suffix != ".fmu":
        raise InputError(f"path must end in .fmu, got {str(given)!r}")
    return given


def _compiler() -> str | None:
    """Path of the C compiler of this system, or None."""
    return next((found for name in _COMPILERS if (found := shutil.which(name))), None)


def _platform(version: str) -> tuple[str, str]:
    """Folder of this system's libraries in an FMU, and the suffix of their names."""
    bits = 64 if sys.maxsize > 2**32 else 32
    ending = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    if version == "2.0":
        return f"{ {'win32': 'win', 'darwin': 'darwin'}.get(sys.platform, 'linux') }{bits}", ending
    processor = platform.machine().lower()
    known = {
        "amd64": "x86_64",
        "x86_64": "x86_64",
        "arm64": "aarch64",
        "aarch64": "aarch64",
        "i386": "x86",
        "i686": "x86",
    }
    system = {"win32": "windows", "darwin": "darwin"}.get(sys.platform, "linux")
    return f"{known.get(processor, processor)}-{system}", ending


def _library(compiler: str, texts: Mapping[str, str]) -> bytes:
    """Compiled library."""
    with tempfile.TemporaryDirectory() as folder:
        for file, text in texts.items():
            Path(folder, file).write_text(text, encoding="utf-8")
        command = [compiler, "-std=c99", _OPTIMISE, "-shared", "-fPIC", "-fvisibility=hidden", "fmu.c", "-o", "library"]
        done = subprocess.run([*command, "-lm"], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise FileError(
                f"{os.path.basename(compiler)} cannot compile the FMU: {done.stderr.strip()[:500]}; mend the compiler, "
                "or write sources only: binary=False"
            )
        return Path(folder, "library").read_bytes()


def _zipped(files: Mapping[str, str | bytes]) -> bytes:
    """Zip archive of these files, the same bytes for the same content."""
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.startswith("binaries/") else 0o644) << 16
            archive.writestr(entry, content)
    return made.getvalue()
