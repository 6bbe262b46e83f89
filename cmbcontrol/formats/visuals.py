"""Visuals of URDF and SDF links, and the mesh files that they name.

No error here stops a robot from being read: what cannot be shown becomes a remark.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from .. import _files
from ..errors import FileError, InputError, ModelError
from ..model.elements import Ball, Body, Box, Frame, Mesh, Rod, Shape
from ..model.elements.mesh_files import file_within, obj_text
from .conversion import Remarks
from .links import add, measures, numbers
from .xml import Node

__all__ = ["MeshFolder", "Visuals", "color_of", "ellipsoid", "mesh_path", "rgba_of", "scaled", "write_visuals"]

_MOST_MESHES = 500  # files of one robot: each takes up to a second
_LEVELS = 6  # above the file, in which packages are looked for: robots are in robots/ or urdf/ of theirs
_PACKAGE_FILES = ("package.xml", "model.config", "manifest.xml")


def color_of(rgba: Sequence[float]) -> str:
    """Color of a shape, as a text, from its shares of red, green and blue from 0 to 1.

    Examples
    --------
    >>> color_of((1.0, 0.5, 0.0, 1.0))
    '#ff8000'
    """
    return "#" + "".join(f"{round(255 * min(max(float(x), 0.0), 1.0)):02x}" for x in rgba[:3])


def rgba_of(color: str) -> str:
    """Text with the shares of red, green and blue of a color, opaque, as files have it.

    Examples
    --------
    >>> rgba_of("#ff0000")
    '1.0 0.0 0.0 1.0'
    """
    return numbers([round(int(color[i : i + 2], 16) / 255, 4) for i in (1, 3, 5)], 1.0)


def ellipsoid(radii: Sequence[float], frame: Frame, color: str | None) -> Mesh:
    """Mesh of an ellipsoid with its axes along those of a frame."""
    vertices, faces, smooth = Ball((0.0, 0.0, 0.0), 1.0).triangles()
    return Mesh(vertices * np.asarray(radii), faces, smooth, color=color).moved(frame)


def scaled(mesh: Mesh, scale: Sequence[float]) -> Mesh:
    """Mesh scaled along each axis by its own factor; mirrored, where some are negative."""
    if not all(scale):
        raise InputError(f"the scale of a mesh must not be zero, got {list(scale)}")
    faces = np.asarray(mesh.faces)
    mirrored = np.prod(np.sign(scale)) < 0.0
    return Mesh(np.asarray(mesh.vertices) * scale, faces[:, ::-1] if mirrored else faces, mesh.smooth, color=mesh.color)


def mesh_path(file: Path, uri: str) -> Path:
    """Path of the file that a robot's file names: relative to it, or in its package, and never outside of that.

    Raises
    ------
    ValueError
        Where there is none; the message gives the reason.
    """
    scheme, _, rest = uri.partition("://") if "://" in uri else ("", "", uri)
    above = Path(os.path.realpath(file)).parents[: _LEVELS + 1]
    package, _, inside = rest.partition("/")
    if scheme == "package" and not package:  # so some tools write files beside
        scheme, rest = "", inside
    if scheme in ("package", "model"):
        folders = [folder for p in above for folder in (p, p / package) if folder.name == package != ".."]
        found = next((folder for folder in folders if (folder / inside).is_file()), None)
        if found is None:
            raise InputError(f"the file {uri[:200]!r} is not there, nor is it in a folder {package[:80]!r} above")
        return file_within(found, inside, "the file of a mesh")
    if scheme:
        raise InputError(f"the file {uri[:200]!r} is not read: only files of the robot's package are")
    root = next((p for p in above if any((p / name).is_file() for name in _PACKAGE_FILES)), above[0])
    path = file_within(root, os.path.relpath(above[0] / rest, root), "the file of a mesh")
    if not path.is_file():
        raise InputError(f"the file {uri[:200]!r} is not there")
    return path


class Visuals:
    """Reader of the visuals of one file."""

    def __init__(self, file: Path, remarks: Remarks, origin: Callable[[Node], Frame]) -> None:
        self.file, self.remarks, self.origin = file, remarks, origin
        self.known: dict[Path, Mesh | FileError] = {}  # what could not be read is not tried again
        self.colors: dict[str, str] = {}  # of materials with names

    def of(self, link: Node) -> tuple[Shape, ...]:
        """Shapes of a link; adds remarks on visuals that cannot be shown."""
        found: list[Shape] = []
        for node in link.every("visual"):
            try:
                geometry = node.only("geometry")
                if geometry is None or not len(geometry):
                    raise InputError("it has no <geometry>")
                found.append(self._shape(geometry[0], self.origin(node), self._color(node)))  # type: ignore[arg-type]
            except (FileError, ModelError, ValueError, TypeError) as error:
                text = str(error).removeprefix(f"{self.file}, ")
                self.remarks.left_out(f"link {link.get('name')!r}", f"a visual: {text}")
        return tuple(found)

    def _shape(self, node: Node, frame: Frame, color: str | None) -> Shape:
        match node.tag:
            case "box":
                return Box(self._numbers(node, "size", 3), frame, color=color)
            case "sphere":
                return Ball(frame.p, *self._numbers(node, "radius", 1), color=color)
            case "cylinder" | "capsule":
                (radius,), (length,) = (self._numbers(node, key, 1) for key in ("radius", "length"))
                start, end = (frame @ Frame((0.0, 0.0, s * length)) for s in (-0.5, 0.5))
                return Rod(start.p, end.p, radius, node.tag == "capsule", color=color)
            case "ellipsoid":
                return ellipsoid(self._numbers(node, "radii", 3), frame, color)
            case "mesh":
                return self._mesh(node, frame, color)
            case "plane":
                raise InputError("a plane has no end, and is not shown")
        raise InputError(f"<{str(node.tag)[:40]}> is not read")

    @staticmethod
    def _numbers(node: Node, key: str, count: int, default: Sequence[float] | None = None) -> list[float]:
        """Numbers of an attribute (URDF) or of an element (SDF)."""
        if (inside := node.only(key)) is not None:
            return measures(inside, None, count)
        return measures(node, key, count, default)

    def _mesh(self, node: Node, frame: Frame, color: str | None) -> Mesh:
        uri = (node.get("filename") or node.findtext("uri") or "").strip()
        if node.find("submesh") is not None:
            raise InputError(f"a part of the mesh {uri[:200]!r} alone is not read")
        path = mesh_path(self.file, uri)
        if path not in self.known:
            if len(self.known) >= _MOST_MESHES:
                raise InputError(f"the robot has more than {_MOST_MESHES} files of meshes")
            try:
                self.known[path] = Mesh.from_file(path)
            except FileError as error:
                self.known[path] = error
        if isinstance(found := self.known[path], FileError):
            raise found
        mesh = scaled(found, self._numbers(node, "scale", 3, (1.0, 1.0, 1.0)))
        return Mesh(mesh.vertices, mesh.faces, color=color).moved(frame)

    def _color(self, node: Node) -> str | None:
        """Color of the material of a visual: given there, or by the name of a material."""
        if (material := node.only("material")) is None:
            return None
        for tag in ("diffuse", "ambient"):  # of SDF
            if (at := material.only(tag)) is not None:
                return color_of(at.own_numbers(None))
        return self.learn(material) or self.colors.get(material.get("name", ""))

    def learn(self, material: Node) -> str | None:
        """Color of a material of URDF; it is kept for others that refer to it by name."""
        if (at := material.only("color")) is None:
            return None
        color = color_of(at.numbers("rgba", None))
        if name := material.get("name"):
            self.colors.setdefault(name, color)
        return color


class MeshFolder:
    """Folder of the mesh files of a robot that is written: beside its file, and with its name."""

    def __init__(self, file: Path) -> None:
        self.file, self.texts = file, dict[str, str]()

    def add(self, body: Body, shape: Shape) -> str:
        """Add the mesh of a shape; returns the path to its file, relative to the robot's file."""
        vertices, faces, _ = shape.triangles()
        tidy = re.sub(r"[^A-Za-z0-9_-]+", "_", body.name)[:60]
        name = f"{self.file.stem}_meshes/{len(self.texts) + 1}_{tidy}.obj"
        self.texts[name] = obj_text(vertices, faces)
        return name

    def write(self) -> None:
        """Write all mesh files.

        Raises
        ------
        FileError
        """
        for name, text in self.texts.items():
            path = self.file.parent / name
            with suppress(OSError):  # of which writing into it tells
                path.parent.mkdir(exist_ok=True)
            _files.write(path, text)


def write_visuals(
    link: Element,
    body: Body,
    shapes: Sequence[Shape],
    meshes: MeshFolder,
    place: Callable[[Element, Frame], Any],
    *,
    nested: bool,
) -> None:
    """Write the visuals of a link.

    Parameters
    ----------
    link : Element
    body : Body
        Body of the link.
    shapes : sequence of Shape
        Shapes in the axes of the link.
    meshes : MeshFolder
        Folder for shapes that the format does not have.
    place : callable
        Function that writes a frame into an element.
    nested : bool
        With numbers as elements, names of visuals, and capsules (SDF), not as attributes (URDF).
    """
    for shape in shapes:
        for k, (tag, frame, values) in enumerate(_primitives(shape, nested)):
            more = {"name": f"{body.name}_{len(link.findall('visual')) + 1}"} if nested else {}
            visual = add(link, "visual", **more)
            place(visual, frame)
            if tag == "mesh":
                values = {"uri" if nested else "filename": meshes.add(body, shape)}
            geometry = add(visual, "geometry")
            if nested:
                made = add(geometry, tag)
                for key, text in values.items():
                    add(made, key, text)
            else:
                add(geometry, tag, **values)
            if shape.color is not None:
                rgba = rgba_of(shape.color)
                if nested:
                    material = add(visual, "material")
                    for key in ("ambient", "diffuse"):
                        add(material, key, rgba)
                else:
                    name = f"{body.name}_{len(link.findall('visual'))}_{k}"
                    add(add(visual, "material", name=name), "color", rgba=rgba)


def _primitives(shape: Any, nested: bool) -> list[tuple[str, Frame, dict[str, str]]]:
    """Elements of a file for a shape: tag, frame and sizes of each."""
    kind, frame, sizes = shape.primitive
    texts = {key: numbers(x) for key, x in sizes.items()}
    if kind != "capsule" or nested:
        return [(kind, frame, texts)]
    balls = [("sphere", Frame(p), {"radius": texts["radius"]}) for p in (shape.start, shape.end)]
    return [("cylinder", frame, texts), *balls]  # URDF has no capsules
