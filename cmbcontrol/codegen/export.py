"""Export of a machine as C files of its functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _files
from .._versions import version
from ..errors import ActuationError, CmbError, FileError, InputError, InputTypeError, SingularConfigurationError
from ..model.assembly import start_configuration
from ..model.contacts import Contact
from ..model.generated import independent_rows
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from .contacts import contact_step, touching
from .entries import FUNCTIONS, ExportedFunction, ExportedMachine
from .identifiers import identifier
from .laws import law_entries
from .project import cmake, readme
from .selftest import selftest
from .selftest import states as random_states
from .source import Library, header, source

__all__ = ["Export", "export"]

Array = NDArray[np.float64]

_AWAY = 0.3  # rad, or sizes of the machine: from a singular configuration to one that is not


@dataclass(frozen=True, eq=False)
class Export:
    """Result of an export: the files and functions that were written.

    Attributes
    ----------
    folder : Path
    files : tuple of Path
    functions : tuple of str
        Names in C, with the prefix.
    parameters : dict of str to float
        The array p, by name.
    left_out : dict of str to str
        Functions that the machine cannot have, with the reasons.
    q : ndarray, shape (nq,)
        Configuration at which rows were chosen.
    """

    folder: Path
    files: tuple[Path, ...]
    functions: tuple[str, ...]
    parameters: dict[str, float]
    left_out: dict[str, str]
    q: Array


def export(
    plant: Plant,
    folder: str | Path,
    q: ArrayLike | None = None,
    *,
    functions: Sequence[str] | None = None,
    coordinates: Sequence[str] = (),
    law: Any = None,
    contacts: Contact | Sequence[Contact] = (),
    limits: bool | Sequence[str] = False,
    friction: str = "smooth",
    prefix: str | None = None,
    states: int = 10,
    seed: int = 0,
    overwrite: bool = False,
) -> Export:
    """Write functions of a machine as C99, with a header, a self-test, a CMake file and a page on their use.

    Parameters
    ----------
    plant : Mechanism
    folder : str or Path
        Folder; it is made where it does not exist.
    q : array_like, shape (nq,), optional
        A configuration in the middle of the work space: independent rows are chosen there, and states of the self-test
        around it. By default its configuration ``"start"``, or the one that `plant.assemble()` finds. Loops are closed;
        a singular one is left.
    functions : sequence of str, optional
        Names out of ``"terms"``, ``"forward"``, ``"inverse"``, ``"close"``, ``"project_velocity"`` and ``"linear"``. By
        default all but the last; without ``"inverse"`` where the motors do not reach every motion.
    coordinates : sequence of str, optional
        Independent coordinates of ``"linear"``, which is among the functions where they are given.
    law : Controller, optional
        A law in sampled time, with the chain around it, as the function ``law``: efforts and next states of a sample.
        Its gains are entries of p, its references inputs; those of this package are functions ``reference`` of the time
        beside it. Blocks that stand for the real machine are left out:
        encoders, delays, actuators.
    contacts : Contact or sequence of Contact
        Contacts as in `simulate(switches=)`: the function ``contact_step`` is a step of time in which they open, close,
        stick and slide, by a bounded number of operations. Their rows are in no other function: those are of the
        machine with open contacts.
    limits : bool or sequence of str
        Whether limits of joints are end stops in ``contact_step``, as ``limits="hold"`` of `simulate` has it; or the
        coordinates whose limits are.
    friction : {"smooth", "exact"}
        Model of dry friction of force elements in ``contact_step``. With ``"exact"`` they stick and slide; the smooth
        form is a steep damper, for which steps must be short.
    prefix : str, optional
        Prefix of names in C and of files; by default the name of the plant.
    states, seed : int
        Number and random seed of the states of the self-test.
    overwrite : bool
        Whether to replace files that are there.

    Returns
    -------
    Export

    Raises
    ------
    InputError
        Where the configuration is inside a contact, or ``contact_step`` cannot be written: for friction in proportion
        to loads of constraints.
    InputTypeError
        For a plant given by functions of Python, which are no symbols.
    ActuationError
        Where ``"inverse"`` was asked for, and the motors do not reach every motion.
    FileError
        Where files are there already, or cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from cmbcontrol import plants
    >>> with TemporaryDirectory() as folder:
    ...     made = export(plants.pendulum(), folder, functions=["forward"])
    >>> made.functions, [path.name for path in made.files]
    (('pendulum_forward',), ['pendulum.h', 'pendulum.c', 'selftest.c', 'CMakeLists.txt', 'README.md'])
    """
    plant = require_mechanism(plant)
    folder = _check.path(folder, "folder")
    overwrite = _check.flag(overwrite, "overwrite")
    count, seed = _check.count(states, "states"), _check.count(seed, "seed", 0)
    name = identifier(_check.text(plant.name if prefix is None else prefix, "prefix"))
    if name.lower() == "selftest":
        raise InputError(f"{name!r} is the name of the self-test; give another prefix")
    coordinates = _check.names(coordinates, "coordinates", plant.velocity_names, "coordinate")
    wanted = None if functions is None else _check.names(functions, "functions", FUNCTIONS, "function")
    touched = touching(plant, contacts, limits, friction)
    if touched is not None:
        plant = touched.open
    machine = ExportedMachine(plant, _configuration(plant, q), coordinates)
    entries, left_out = _entries(machine, wanted)
    if touched is not None:
        entries.append(contact_step(machine, touched))
    if law is not None:
        entries += law_entries(machine, law)
    numbers = machine.table.used(f for entry in entries for f in entry.functions.values())
    library = Library(plant, name, entries, numbers, version())
    found = random_states(machine, count, seed, any(entry.name == "inverse" for entry in entries))
    texts = {
        f"{name}.h": header(library),
        f"{name}.c": source(library),
        "selftest.c": selftest(library, found),
        "CMakeLists.txt": cmake(library),
        "README.md": readme(library, left_out, machine.rows),
    }
    files = _written(folder, texts, overwrite)
    parameters = {number.name: number.value for number in numbers}
    return Export(folder, files, tuple(f"{name}_{entry.name}" for entry in entries), parameters, left_out, machine.q)


def require_mechanism(plant: Plant) -> Mechanism:
    """Plant, checked to be a machine of bodies; plants given by functions cannot be traced."""
    _check.plant(plant)
    if not isinstance(plant, Mechanism):
        raise InputTypeError(
            f"{plant.name!r} cannot be exported: its M, h, Phi, A and Adot_v are functions of Python, which cannot be "
            "written as C; describe it with bodies and joints, as a Mechanism"
        )
    if not plant.nv:
        raise InputError(f"{plant.name!r} has no coordinates, and so no equations of motion to export")
    return plant


def _configuration(plant: Mechanism, q: ArrayLike | None) -> Array:
    """Configuration with closed loops that is not singular: the given one, or one nearby."""
    found = plant.close(start_configuration(plant) if q is None else plant.configuration(q))
    terms, rank = plant.terms(found, np.zeros(plant.nv)), plant.generic_rank(found)
    motions = iter(np.concatenate([terms.unit_motions.T, -terms.unit_motions.T]))
    while len(independent_rows(terms)) < rank:
        try:
            near = plant.close(plant.integrate(found, _AWAY * plant.size * next(motions)))
            terms = plant.terms(near, np.zeros(plant.nv))
        except StopIteration:
            raise SingularConfigurationError(
                f"{plant.name!r} is at a singular configuration, q = {np.round(found, 6).tolist()}, and no other one "
                f"was found {_AWAY:g} sizes of the machine away; give a configuration that is not singular as q"
            ) from None
        except CmbError:
            continue
    return terms.q


def _entries(machine: ExportedMachine, wanted: Sequence[str] | None) -> tuple[list[ExportedFunction], dict[str, str]]:
    """Entries that were asked for, or by default all that the machine can have; and the reasons for those left out."""
    if wanted is not None and not wanted:
        raise InputError(f"functions must name at least one of {', '.join(FUNCTIONS)}")
    if wanted is not None and machine.coordinates and "linear" not in wanted:
        raise InputError("coordinates are those of the function 'linear'; name it among the functions, too")
    entries, left_out = [], {}
    for name, make in FUNCTIONS.items():
        if name in wanted if wanted is not None else name != "linear" or machine.coordinates:
            try:
                entries.append(make(machine))
            except ActuationError as error:
                if wanted is not None:
                    raise
                left_out[name] = str(error)
    return entries, left_out


def _written(folder: Path, texts: Mapping[str, str], overwrite: bool) -> tuple[Path, ...]:
    """Write files to a folder, which is made if needed; returns their paths."""
    present = [name for name in texts if (folder / name).exists()]
    if present and not overwrite:
        raise FileError(
            f"{', '.join(present)} in {folder} would be overwritten; name another folder, or allow it: overwrite=True"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"the folder {folder} cannot be made: {error.strerror or error}") from error
    return tuple(_files.write(folder / name, text) for name, text in texts.items())
