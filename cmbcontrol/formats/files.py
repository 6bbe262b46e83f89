"""Reading and writing of machines in files of all formats, by the suffix of the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from .. import _check
from ..errors import InputError
from ..model import machine_file
from ..model.mechanism import Mechanism
from .conversion import Conversion
from .mjcf import read_mjcf
from .mjcf_writing import write_mjcf
from .sdf import read_sdf
from .sdf_writing import write_sdf
from .urdf import read_urdf
from .urdf_writing import write_urdf
from .xml import read_xml

__all__ = ["SUFFIXES", "read", "write"]


class _Format(NamedTuple):
    name: str
    read: Callable[..., Conversion]
    write: Callable[..., Conversion]


def _read_machine(path: Path) -> Conversion:
    return Conversion(machine_file.read_machine(path), path, "machine file")


def _write_machine(machine: Mechanism, path: Path) -> Conversion:
    machine_file.write_machine(machine, path)
    return Conversion(machine, path, "machine file")


_MACHINE = _Format("machine file", _read_machine, _write_machine)
_MJCF = _Format("MJCF", read_mjcf, write_mjcf)
_URDF = _Format("URDF", read_urdf, write_urdf)
_SDF = _Format("SDF", read_sdf, write_sdf)

_BY_SUFFIX = dict.fromkeys(machine_file.SUFFIXES, _MACHINE)
_BY_SUFFIX |= {".urdf": _URDF, ".sdf": _SDF, ".world": _SDF, ".mjcf": _MJCF, ".xml": _MJCF}
_BY_ROOT = {"mujoco": _MJCF, "robot": _URDF, "sdf": _SDF}  # of files that end in .xml
SUFFIXES = tuple(_BY_SUFFIX)


def read(path: str | Path, **options: Any) -> Conversion:
    """Read a machine from a file of any format: a machine file, MJCF, URDF or SDF.

    Parameters
    ----------
    path : path
        The suffix gives the format: ``.yaml``, ``.yml`` and ``.json`` are machine files, ``.urdf``, ``.sdf`` and
        ``.world`` those of their names, ``.mjcf`` MJCF; in ``.xml`` the first element decides.
    **options
        Options of `read_urdf` or `read_sdf`, such as ``base="free"``, ``inertia="nearest"``.

    Returns
    -------
    Conversion
        The machine, and remarks on all that is not as in the file.

    Raises
    ------
    FileError
        Where the file cannot be read.
    ImportError
        For MJCF without the package ``mujoco``.
    ValueError, TypeError, ModelError
        Where it describes no machine; the message names the line where it is known.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from cmbcontrol import plants
    >>> with TemporaryDirectory() as folder:
    ...     _ = plants.delta().save(Path(folder, "delta.yaml"))
    ...     read(Path(folder, "delta.yaml")).machine
    <Mechanism 'delta': 10 bodies, 18 coordinates, 15 rows>
    """
    path = _check.path(path)
    found = _format_of(path)
    if path.suffix.lower() == ".xml":
        root = read_xml(path, None).tag
        found = _BY_ROOT[_check.one_of(root, _BY_ROOT, f"first element of {path}")]
    return found.read(path, **options)


def write(machine: Mechanism, path: str | Path, **options: Any) -> Conversion:
    """Write a machine to a file, in the format of its suffix.

    Parameters
    ----------
    machine : Mechanism
    path : path
        As in `read`; ``.xml`` is MJCF.
    **options
        Options of `write_sdf`.

    Returns
    -------
    Conversion
        Remarks on all that is not in the file as it is in the machine.

    Raises
    ------
    ModelError
        Where the machine, or a part of it, cannot be written down at all.
    FileError
        Where the file cannot be written; what it held is still there.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from cmbcontrol import plants
    >>> with TemporaryDirectory() as folder:
    ...     print(write(plants.pendulum(), Path(folder, "pendulum.yaml")).format)
    machine file
    """
    path = _check.path(path)
    _check.instance(machine, Mechanism, "machine", "with bodies; a plant that is given by functions fits into no file")
    return _format_of(path).write(machine, path, **options)


def _format_of(path: Path) -> _Format:
    suffix = path.suffix.lower()
    if suffix not in _BY_SUFFIX:
        raise InputError(f"the file of a machine ends in {', '.join(SUFFIXES)}, got {path.name!r}")
    return _BY_SUFFIX[suffix]
