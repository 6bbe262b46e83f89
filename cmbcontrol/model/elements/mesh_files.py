"""Mesh files: STL, binary and as text, and OBJ, read as plain data of bounded size."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _check
from ...errors import FileError, InputError, InputTypeError

__all__ = ["file_within", "obj_text", "read_mesh"]

Array = NDArray[np.float64]
Faces = NDArray[np.int64]

_LARGEST = 50_000_000  # bytes: a million triangles of a binary STL file, far more than a picture of a machine shows
_LONGEST_PATH = 1000  # characters
_LARGEST_NUMBER = 1e30  # m: the cube of it, a volume, is a number
_HEADER, _RECORD = 84, 50  # bytes of a binary STL file: its head with the count, and each of its triangles


def read_mesh(path: Path) -> tuple[Array, Faces]:
    r"""Vertices (n, 3) and faces (m, 3) of a mesh file, by its ending.

    Triangles that have a vertex twice are left out.

    Raises
    ------
    FileError
        If it cannot be read, has another ending, or holds no triangles.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "corner.obj")
    ...     _ = file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    ...     read_mesh(file)[1]
    array([[0, 1, 2]])
    """
    readers: dict[str, Callable[[Path, bytes], tuple[Array, Faces]]] = {".stl": _stl, ".obj": _obj}
    if (suffix := path.suffix.lower()) not in readers:
        raise FileError(f"{path}: meshes are read from {' and '.join(readers)} files; convert it to one of these")
    try:
        if (size := path.stat().st_size) > _LARGEST:
            raise FileError(f"{path} has {size} bytes, more than {_LARGEST}: reduce the mesh, a picture needs little")
        content = path.read_bytes()
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}") from error
    vertices, faces = readers[suffix](path, content)
    if vertices.size and not np.abs(vertices).max() < _LARGEST_NUMBER:  # also of those that are no numbers
        raise FileError(f"{path}: its vertices must be finite numbers below {_LARGEST_NUMBER:g}")
    faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    if not len(faces):
        raise FileError(f"{path} holds no triangle that has an area")
    return vertices, faces


def obj_text(vertices: Array, faces: Faces) -> str:
    r"""Text of an OBJ file for a mesh, with all digits of every number.

    Examples
    --------
    >>> obj_text(np.eye(3), np.array([[0, 1, 2]]))
    'v 1.0 0.0 0.0\nv 0.0 1.0 0.0\nv 0.0 0.0 1.0\nf 1 2 3\n'
    """
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices).tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (np.asarray(faces) + 1).tolist()]
    return "\n".join([*lines, ""])


def file_within(folder: Path | None, name: Any, what: str) -> Path:
    """Path of a file that another file names, relative to its folder; raises an error if it leads out of that.

    Raises
    ------
    ValueError, TypeError

    Examples
    --------
    >>> file_within(Path("robots"), "meshes/boom.stl", "path").as_posix()
    'robots/meshes/boom.stl'
    """
    if not isinstance(name, str) or not name or "\0" in name or len(name) > _LONGEST_PATH:
        raise InputTypeError(f"{what} must be the name of a file, got {_check.shown(name)}")
    if folder is None:
        raise InputError(f"{what} is {name!r}, and there is no folder to take it from: read the machine from a file")
    found = Path(os.path.realpath(folder / name))
    if not found.is_relative_to(os.path.realpath(folder)):
        raise InputError(f"{what} is {name!r}, which leads out of the folder {folder}: put the file there or below")
    return folder / name


def _stl(path: Path, content: bytes) -> tuple[Array, Faces]:
    """Vertices and faces of an STL file: equal corners of its triangles become one vertex."""
    corners, first, number = np.unique(_corners(path, content) + 0.0, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # as they come in the file; + 0.0 above: no -0.0 beside 0.0
    return corners[order], np.argsort(order)[number.reshape(-1, 3)]


def _corners(path: Path, content: bytes) -> Array:
    """Corners of all triangles of an STL file, one after the other."""
    # texts begin with "solid", and so do some binary files: the length decides
    if len(content) >= _HEADER:
        (count,) = struct.unpack_from("<I", content, _HEADER - 4)
        if len(content) == _HEADER + _RECORD * count:
            kind = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
            corners = np.frombuffer(content, kind, count, _HEADER)["corners"].astype(np.float64)
            return corners.reshape(-1, 3)
    if not content.lstrip()[:5].lower() == b"solid":
        raise FileError(
            f"{path} is no STL file: as a text it begins with 'solid', and as a binary file it has {_HEADER} bytes and "
            f"{_RECORD} for each triangle; this one has {len(content)} bytes"
        )
    vertices = []
    for number, words in _lines(path, content):
        if words[0].lower() == "vertex":
            vertices.append(_point(path, number, words))
    if len(vertices) % 3:
        raise FileError(f"{path} has {len(vertices)} vertices, and three make a triangle: is it complete?")
    return np.array(vertices, dtype=np.float64).reshape(-1, 3)


def _obj(path: Path, content: bytes) -> tuple[Array, Faces]:
    vertices: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    for number, words in _lines(path, content):
        if words[0] == "v":
            vertices.append(_point(path, number, words))
        elif words[0] == "f":
            corners = [_vertex(path, number, word, len(vertices)) for word in words[1:]]
            if len(corners) < 3:
                raise FileError(f"{path}, line {number}: a face has three or more corners, and this one {len(corners)}")
            faces += [(corners[0], b, c) for b, c in pairwise(corners[1:])]
    return np.array(vertices, dtype=np.float64).reshape(-1, 3), np.array(faces, dtype=np.int64).reshape(-1, 3)


def _lines(path: Path, content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Numbers and words of the lines that are not empty."""
    try:
        text = content.decode("utf-8", errors="strict")
    except UnicodeDecodeError:
        text = content.decode("latin-1")  # names of parts, in older files; numbers are the same
    if "\0" in text:
        raise FileError(f"{path} is no text, and no binary STL file of its length: is it complete?")
    for number, line in enumerate(text.splitlines(), 1):
        if words := line.partition("#")[0].split():
            yield number, words


def _point(path: Path, line: int, words: list[str]) -> list[float]:
    try:
        found = [float(word) for word in words[1:4]]
    except ValueError:
        found = []
    if len(found) != 3 or not all(map(math.isfinite, found)):
        raise FileError(f"{path}, line {line}: a vertex has three numbers, got {' '.join(words)[:80]!r}")
    return found


def _vertex(path: Path, line: int, word: str, count: int) -> int:
    """Index of the vertex of a corner such as 7, 7/1/3 or -1, which is the last one."""
    try:
        given = int(word.partition("/")[0][:20])
    except ValueError:
        given = 0
    number = given - 1 if given > 0 else count + given
    if given == 0 or not 0 <= number < count:
        raise FileError(f"{path}, line {line}: there is no vertex {word[:40]!r} among the {count} before this line")
    return number
