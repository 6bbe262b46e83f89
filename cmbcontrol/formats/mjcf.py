"""Reader of MJCF files into machines, through the compiler of MuJoCo.

`mjcf_document` checks the file and strips it, the compiler resolves classes, replicas and inertias, and `mjcf_model`
makes a machine of what it has compiled.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .. import _check
from ..errors import InputError, MissingExtraError, ModelError
from .conversion import Conversion, Remarks, of_file
from .mjcf_document import Document
from .mjcf_model import machine_of

__all__ = ["read_mjcf"]

OLDEST = 4  # the first MuJoCo whose models tell polynomial springs and dampers, and what actuators add to joints


def read_mjcf(path: str | Path) -> Conversion:
    """Read a machine from a file of MuJoCo (MJCF).

    Joints of all types, several a body, with their ranges, references, springs, dampers, armatures and dry friction;
    equalities; motors and servos; sites, as bodies without mass; keyframes, as configurations; geoms, as shapes. Names
    and coordinates are those of the file, SI units. The remarks list what a machine cannot hold.

    Parameters
    ----------
    path : path
        Files that it includes and meshes (STL, OBJ) must be in its folder, or in folders in this one. Textures and
        plugins are never loaded.

    Returns
    -------
    Conversion
        With `servos`, where the file has some.

    Raises
    ------
    MissingExtraError
        Without the package ``mujoco``.
    FileError
        Where a file cannot be read, or is no XML.
    ValueError
        Where the file is no MJCF, or a mass is that of a mesh.
    ModelError
        Where no rigid bodies can move as the file describes.

    Examples
    --------
    >>> import pytest
    >>> _ = pytest.importorskip("mujoco")
    >>> from tempfile import TemporaryDirectory
    >>> rod = "<body name='rod'><joint name='pivot' axis='0 1 0'/><geom size='0.1' pos='1 0 0'/></body>"
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "rod.xml")
    ...     _ = file.write_text(f"<mujoco model='rod'><worldbody>{rod}</worldbody></mujoco>")
    ...     read_mjcf(file).machine.position_names
    ('pivot',)
    """
    path = _check.path(path)
    mujoco = _mujoco()
    remarks = Remarks()
    with of_file(path):
        document = Document(path, remarks)
        model = _compiled(mujoco, document)
        try:
            with np.errstate(all="ignore"):  # of numbers that no machine has, which the parts refuse
                machine, servos = machine_of(model, document.name, document.source, remarks, document.meshes)
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            raise ModelError(
                f"no machine can be computed from numbers as large as those of the file: {error}"
            ) from error
    return Conversion(machine, path, "MJCF", tuple(remarks.said), servos)


def _mujoco() -> Any:
    try:
        import mujoco
    except ImportError as error:
        raise MissingExtraError(
            'MJCF files are read by the compiler of MuJoCo; install it: pip install "cmbcontrol[mjcf]"'
        ) from error
    if int(mujoco.__version__.split(".")[0]) < OLDEST:
        raise MissingExtraError(
            f"MJCF files are read by MuJoCo {OLDEST} or later, and this is {mujoco.__version__}; update it: "
            'pip install -U "cmbcontrol[mjcf]"'
        )
    return mujoco


def _compiled(mujoco: Any, document: Document) -> Any:
    """Model from the compiler of MuJoCo; its errors are raised with the lines of the file."""
    with _heard(mujoco) as said:
        try:
            spec = mujoco.MjSpec.from_string(document.text)
            # What follows from ranges of lengths is for muscles, which are left out; it would simulate them.
            spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE
            model = spec.compile()
        except (ValueError, mujoco.FatalError) as error:
            raise _told(document, str(error)) from error
        except MemoryError as error:
            raise InputError("the machine of the file does not fit into memory: is it the right one?") from error
    for text in said:
        document.remarks.changed("the file", f"MuJoCo says: {text}")
    return model


def _told(document: Document, text: str) -> InputError:
    """Error with the message of the compiler, the file, and the line of the element."""
    lines = [int(x) for x in re.findall(r"line (\d+)", text)]
    what = re.sub(r"[,;]?\s*(Element name .*|at )?[(]?line \d+[)]?(, column -?\d+)?", "", " ".join(text.split()))
    what = what.removeprefix("XML Error: ").removeprefix("Error: ")
    if lines and (node := document.node_of_line(lines[-1])) is not None:
        name = node.get("name")
        return node.error(f"<{node.tag}{f' name={name!r}' if name else ''}>: MuJoCo says: {what}")
    return InputError(f"MuJoCo says: {what}")


@contextmanager
def _heard(mujoco: Any) -> Iterator[list[str]]:
    """Collect warnings of MuJoCo, which otherwise go to the console and into a file in the working directory."""
    said: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda *texts: said.append(" ".join(map(str, texts))))
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield said
        said += [str(warning.message) for warning in caught]
    finally:
        mujoco.set_mju_user_warning(before)
