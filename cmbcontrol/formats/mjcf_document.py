"""Filtered copy of an MJCF file for the compiler of MuJoCo.

The compiler is C++, and loads meshes, textures and plugins from any place that a file names. So the file is read by
`cmbcontrol.formats.xml` first, and only elements of which machines are made are handed on, one a line, so that the
compiler's errors lead back to the line of the file. Includes are inserted here, from the folder of the file only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from xml.sax.saxutils import quoteattr

import numpy as np

from .. import _check
from ..errors import FileError, InputError, ModelError
from ..model.elements import Mesh
from ..model.elements.mesh_files import file_within
from .conversion import Remarks
from .visuals import scaled
from .xml import Node, read_xml

__all__ = ["SHOWN", "STAND_IN", "Document"]

# Beyond these, the dense matrices of a machine take more than seconds and some hundred MB.
_DOFS = 1_000  # degrees of freedom
_FRAMES = 3_000  # bodies and sites
_OTHERS = 4_000  # constraints, tendons, actuators and configurations
_NUMBERS_OF_CONFIGURATIONS = 500_000
_PARTS = 40_000  # elements, those that are replicated counted each time
_INCLUDES = 100  # files
_WORDS = 1_000_000  # numbers in one attribute: configurations have as many as a machine has coordinates

_ACTUATORS = ("general", "motor", "position", "velocity", "intvelocity", "damper", "pid")
_OTHER_ACTUATORS = ("cylinder", "muscle", "adhesion", "dcmotor", "orientation", "plugin")
_TREE = ("body", "frame", "replicate")

# Elements that are handed on, by the element that they are in.
_KEPT: dict[str, tuple[str, ...]] = {
    "mujoco": ("compiler", "option", "default", "worldbody", "tendon", "equality", "actuator", "keyframe"),
    "option": ("flag",),
    "default": ("default", "joint", "geom", "site", "tendon", "equality", *_ACTUATORS),
    "worldbody": (*_TREE, "geom", "site"),
    "body": (*_TREE, "geom", "site", "joint", "freejoint", "inertial"),
    "frame": (*_TREE, "geom", "site", "joint", "freejoint", "inertial"),
    "replicate": (*_TREE, "geom", "site"),
    "tendon": ("fixed", "spatial"),
    "fixed": ("joint",),
    "spatial": ("site",),
    "equality": ("connect", "weld", "joint", "tendon"),
    "actuator": _ACTUATORS,
    "keyframe": ("key",),
}

# Elements that a machine has no place for, with what is said of them; None is silence, where nothing acts on motion.
_PICTURES = "pictures are not kept"
_DEFORMABLE = "deformable bodies are not kept"
_SURFACES = "textures and height fields are not kept; of meshes their surfaces are, of materials their colors"
_LEFT_OUT: dict[str, dict[str, str | None]] = {
    "mujoco": {
        "asset": _SURFACES,
        "visual": _PICTURES,
        "statistic": _PICTURES,
        "size": None,
        "custom": "data of users are not kept",
        "contact": "contacts are not kept; see `cmbcontrol.Contact`",
        "sensor": "sensors are not kept; see `cmbcontrol.controllers.Encoder`",
        "extension": "plugins are not loaded",
        "deformable": _DEFORMABLE,
    },
    "compiler": {"lengthrange": None},
    "default": dict.fromkeys(
        (
            "mesh",
            "material",
            "texture",
            "pair",
            "light",
            "camera",
            "flex",
            "tuple",
            "numeric",
            "text",
            *_OTHER_ACTUATORS,
        )
    ),
    "actuator": dict.fromkeys(_OTHER_ACTUATORS, "there is no actuator of this kind"),
    "equality": dict.fromkeys(("flex", "flexvert", "flexstrain", "distance"), "there is no constraint of this kind"),
    "spatial": dict.fromkeys(("geom", "pulley")),
}
_IN_BODIES = {
    "light": _PICTURES,
    "camera": _PICTURES,
    "plugin": "plugins are not loaded",
    "flexcomp": _DEFORMABLE,
    "composite": _DEFORMABLE,
}
for _tag in (*_TREE, "worldbody"):
    _LEFT_OUT[_tag] = dict(_IN_BODIES)
_LEFT_OUT["geom"] = _LEFT_OUT["site"] = _LEFT_OUT["body"]

_COMPILER = {
    "autolimits", "boundmass", "boundinertia", "settotalmass", "balanceinertia", "coordinate", "angle", "eulerseq",
    "fusestatic", "inertiafromgeom", "alignfree", "inertiagrouprange",
}  # fmt: skip
_KEY = {"name", "qpos"}
_POSE = ("pos", "quat", "axisangle", "xyaxes", "zaxis", "euler")
STAND_IN = "cmbcontrol mesh "  # name of a geom without mass in the place of one of a mesh, with a number and a slash
SHOWN = 2  # the last group of geoms that MuJoCo's viewer shows by default: by custom, others are those of contacts
_NOWHERE = {"material", "mesh", "hfield", "plugin", "fitscale"}  # attributes that lead to what is not there
_MESHES = ("mesh", "hfield", "sdf")
_NUMBERS = {
    "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "axis", "ref", "springref", "stiffness", "damping",
    "armature", "frictionloss", "range", "springdamper", "springyield", "springlength", "margin", "mass", "density",
    "diaginertia", "fullinertia", "size", "fromto", "gravity", "wind", "viscosity", "anchor", "relpose", "torquescale",
    "polycoef", "coef", "gear", "ctrlrange", "forcerange", "actrange", "actuatorfrcrange", "kp", "kv", "ki",
    "dampratio", "timeconst", "gainprm", "biasprm", "dynprm", "qpos", "gravcomp", "offset", "count", "boundmass",
    "boundinertia", "settotalmass", "solref", "solimp", "solreflimit", "solimplimit", "solreffriction",
    "solimpfriction", "timestep", "delay", "cranklength", "user", "inheritrange", "lengthrange",
}  # fmt: skip
_TRANSMISSIONS = ("tendon", "body", "cranksite", "slidersite")


@dataclass
class _Classes:
    """Default values by class, where classes lie within classes."""

    parent: dict[str, str | None] = field(default_factory=dict)
    given: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    main: str = "main"

    def value(self, node: Node, childclass: str | None, key: str) -> str | None:
        """Value of an attribute, its own or the default."""
        if key in node.attrib:
            return node.attrib[key]
        name: str | None = node.get("class") or childclass or self.main
        while name is not None:
            if key in (found := self.given.get((name, node.tag), {})):
                return found[key]
            name = self.parent.get(name)
        return None


@dataclass(frozen=True)
class _Place:
    """Place of an element in the tree: its class of defaults, its body, and how often it is replicated."""

    childclass: str | None = None
    moves: bool = False
    times: int = 1  # how often it is replicated
    body: Node | None = None


class Document:
    """MJCF file, checked and stripped for the compiler.

    Attributes
    ----------
    text : str
        Text for the compiler.
    name : str
        Name of the model, else of the file.
    source : str
        The text of this name that the file carries, else nothing.
    meshes : dict of str to Mesh
        Meshes by the names of the geoms that stand in for them, up to the slash.
    """

    def __init__(self, path: Path, remarks: Remarks) -> None:
        self.path, self.remarks = path, remarks
        self._nodes: list[Node] = []  # of each line
        self._lines: list[str] = []
        self._count = {"dofs": 0, "frames": 0, "parts": 0, "others": 0, "keys": 0}
        root = read_xml(path, "mujoco")
        _Includes(path).insert_into(root)
        self.name = root.get("model") or path.stem
        self.source = next((t.get("data", "") for t in root.iter("text") if t.get("name") == "source"), "")
        self._classes = _Classes()
        for node in root.findall("default"):
            self._learn(node, None)
        compilers = root.findall("compiler")
        self._from_geoms = any(node.get("inertiafromgeom") == "true" for node in compilers)
        groups = [node.get("inertiagrouprange") for node in compilers if node.get("inertiagrouprange")]
        self._groups = _group_range(groups[-1]) if groups else (0, 5)
        self._tendons = self._tendons_left_out(root)
        folders = [node.get("meshdir", node.get("assetdir", "")) for node in compilers]
        self._mesh_folder = next((folder for folder in reversed(folders) if folder), "")
        self._assets = {tag: self._named(root, tag) for tag in ("mesh", "material")}
        self._surfaces: dict[str, Mesh] = {}  # by the names of meshes
        self._unread: dict[str, str] = {}  # why, by the names of others
        self._stand_ins: dict[int, str] = {}  # by the id of a node
        self.meshes: dict[str, Mesh] = {}
        self._bounded_replicas(root)
        self._element(root, _Place())
        if self._count["keys"] * self._count["dofs"] > _NUMBERS_OF_CONFIGURATIONS:
            raise root.error(f"its {self._count['keys']} keyframes have more than {_NUMBERS_OF_CONFIGURATIONS} numbers")
        self.text = "\n".join(self._lines)

    # -- what the file says before it is compiled --------------------------------------------------

    def _learn(self, node: Node, parent: str | None) -> None:
        """Add a class of default values."""
        name = node.get("class") or ("main" if parent is None else "")
        if parent is None:
            self._classes.main = name
        self._classes.parent.setdefault(name, parent)
        for child in node:
            if child.tag == "default":
                self._learn(child, name)  # type: ignore[arg-type]
            else:
                self._classes.given.setdefault((name, child.tag), {}).update(child.attrib)

    def _named(self, root: Node, tag: str) -> dict[str, Node]:
        """Assets of a kind by name; meshes without a name are called like their files."""
        nodes = [node for asset in root.every("asset") for node in asset.every(tag)]
        return {node.get("name") or PurePosixPath(node.get("file", "")).stem: node for node in nodes}

    def _tendons_left_out(self, root: Node) -> set[str]:
        """Names of tendons that are neither a straight line between two sites nor a sum of coordinates."""
        gone = set()
        for section in root.every("tendon"):
            for tendon in section:
                if tendon.tag == "spatial" and [part.tag for part in tendon] != ["site", "site"]:
                    gone.add(tendon.get("name", ""))
        return gone

    def _bounded_replicas(self, node: Node, times: int = 1) -> None:
        """Raise an error for numbers of replicas that do not fit in memory, before they are made."""
        if node.tag == "replicate":
            text = node.text_of("count")
            if not re.fullmatch(r"\s*\d{1,9}\s*", text):
                raise node.error(f"'count' of <replicate> must be a whole number, and is {text[:80]!r}")
            times *= int(text)
        self._count["parts"] += times
        if self._count["parts"] > _PARTS:
            raise node.error(f"the file has more than {_PARTS} elements, replicas counted: is it the right one?")
        for child in node:
            if child.tag not in ("asset", "visual", "sensor", "custom"):  # which are not handed on
                self._bounded_replicas(child, times)  # type: ignore[arg-type]

    # -- handing on --------------------------------------------------------------------------------

    def node_of_line(self, line: int) -> Node | None:
        """Element of the file from which a line of the compiler's text comes."""
        return self._nodes[line - 1] if 0 < line <= len(self._nodes) else None

    def _element(self, node: Node, place: _Place) -> None:
        attributes = self._attributes(node)
        if node.tag == "geom":
            self._color(node, attributes, place)
        self._checked(node, attributes)
        inside = self._place(node, place)
        kept = [child for child in node if self._is_kept(child, node, inside)]  # type: ignore[arg-type]
        head = f"<{node.tag}{''.join(f' {key}={quoteattr(x)}' for key, x in attributes.items())}"
        self._line(node, head + (">" if kept else "/>"))
        for child in kept:
            self._element(child, inside)  # type: ignore[arg-type]
        if kept:
            self._line(node, f"</{node.tag}>")

    def _line(self, node: Node, text: str) -> None:
        self._nodes.append(node)
        self._lines.append(text)

    def _place(self, node: Node, place: _Place) -> _Place:
        """Place of the elements inside a node."""
        if node.tag not in (*_TREE, "worldbody"):
            return place
        times = place.times * (int(node.get("count", "1")) if node.tag == "replicate" else 1)
        moves = place.moves or any(child.tag in ("joint", "freejoint") for child in _own(node))
        if node.tag == "body":
            self._bounded(node, "frames", times, _FRAMES, "bodies and sites")
        return _Place(
            node.get("childclass") or place.childclass,
            moves,
            times,
            node if node.tag == "body" else place.body,
        )

    def _bounded(self, node: Node, what: str, count: int, most: int, words: str) -> None:
        self._count[what] += count
        if self._count[what] > most:
            raise node.error(f"the file has more than {most} {words}: is it the right one?")

    def _attributes(self, node: Node) -> dict[str, str]:
        match node.tag:
            case "compiler":
                return {key: x for key, x in node.attrib.items() if key in _COMPILER}
            case "key":
                for key in ("qvel", "act", "ctrl", "mpos", "mquat", "plastic"):
                    if key in node.attrib:
                        self.remarks.left_out(
                            f"{key!r} of keyframe {node.get('name', '')!r}", "a configuration has positions only"
                        )
                return {key: x for key, x in node.attrib.items() if key in _KEY}
            case "mujoco":
                return {"model": node.get("model", "")} if node.get("model") else {}
        if id(node) in self._stand_ins:
            kept = {key: x for key, x in node.attrib.items() if key in (*_POSE, "class", "group", "rgba")}
            name = self._stand_ins[id(node)]
            return kept | {"name": name, "type": "sphere", "size": "1", "mass": "0", "contype": "0", "conaffinity": "0"}
        kept = {key: x for key, x in node.attrib.items() if key not in _NOWHERE}
        if node.tag != "joint":  # of joints, it tells which ones are one joint of ours
            kept.pop("user", None)
        if node.tag in ("geom", "site") and kept.get("type") in _MESHES:  # of a class: its geoms are left out
            del kept["type"]
        return kept

    def _checked(self, node: Node, attributes: Mapping[str, str]) -> None:
        for key in attributes:
            if key in _NUMBERS and key in node.attrib and node.tag != "flag":  # others are ours
                if len(attributes[key]) > 8 * _WORDS:
                    raise node.error(f"{key!r} of <{node.tag}> is longer than any list of numbers of a machine")
                node.numbers(key, None)

    def _is_kept(self, node: Node, parent: Node, place: _Place) -> bool:
        silent = _LEFT_OUT.get(parent.tag, {})
        if node.tag in silent:
            if (why := silent[node.tag]) is not None and not self._is_silent(node):
                self.remarks.left_out(_called(node), why)
            return False
        if node.tag == "attach" or (parent.tag == "mujoco" and node.tag == "model"):
            raise node.error(
                f"<{node.tag}> takes parts from another model, and is not followed: save the whole with MuJoCo "
                "(mj_saveLastXML), and read what it writes"
            )
        kept = _KEPT.get(parent.tag, ())
        if node.tag not in kept:
            known = [*kept, *silent]
            said = _check.unknown(node.tag[:80], known, f"element of <{parent.tag}>")
            raise node.error(said if known else f"<{parent.tag}> has no elements in it, and here is <{node.tag[:80]}>")
        if parent.tag not in ("default", "fixed", "spatial"):
            return self._fits(node, parent, place)
        return True

    def _is_silent(self, node: Node) -> bool:
        """Whether a section holds only what is used (source of the machine, meshes), so that no remark is needed."""
        if node.tag == "asset":
            return all(child.tag in self._assets for child in node)
        return node.tag == "custom" and all(child.get("name") == "source" for child in node)

    def _fits(self, node: Node, parent: Node, place: _Place) -> bool:
        """Whether an element of a known kind has a place in a machine."""
        if parent.tag in ("equality", "tendon", "actuator", "keyframe"):
            self._bounded(node, "others", 1, _OTHERS, "constraints, tendons, actuators and configurations")
            self._count["keys"] += node.tag == "key"
        match node.tag:
            case "geom":
                return self._geom_fits(node, place)
            case "joint" if parent.tag in ("body", "frame"):
                kind = self._classes.value(node, place.childclass, "type") or "hinge"
                self._bounded(node, "dofs", place.times * {"ball": 3, "free": 6}.get(kind, 1), _DOFS, "coordinates")
            case "freejoint":
                self._bounded(node, "dofs", 6 * place.times, _DOFS, "coordinates")
            case "site":
                self._bounded(node, "frames", place.times, _FRAMES, "bodies and sites")
            case "spatial" if node.get("name", "") in self._tendons:
                self.remarks.left_out(_called(node), "only straight tendons between two sites are kept")
                return False
            case "tendon" if parent.tag == "equality":
                if {node.get("tendon1"), node.get("tendon2")} & self._tendons:
                    self.remarks.left_out(_called(node), "its tendon is left out")
                    return False
            case tag if tag in _ACTUATORS:
                for key in _TRANSMISSIONS:
                    if key in node.attrib:
                        self.remarks.left_out(_called(node), f"no actuator here acts through a {key}")
                        return False
        return True

    def _geom_fits(self, node: Node, place: _Place) -> bool:
        """Whether a geom is kept; it is not if it needs a mesh, and that is an error if its mass counts."""

        def value(key: str) -> str | None:
            return self._classes.value(node, place.childclass, key)

        if value("type") not in _MESHES and value("mesh") is None and value("hfield") is None:
            return True
        if not self._is_without_mass(node, place, value):
            body: Node = place.body  # type: ignore[assignment]
            raise node.error(
                f"the mass of the body {body.get('name', '')!r} of line {body.line} is that of a mesh, which is not "
                "read: give the body an <inertial>, as MuJoCo writes it (saveinertial='true' of <compiler>, then "
                "mj_saveLastXML)"
            )
        return self._stands_in(node, value)

    def _is_without_mass(self, node: Node, place: _Place, value: Callable[[str], str | None]) -> bool:
        """Whether a geom of a mesh contributes no mass to the machine."""
        if place.body is None or not place.moves or _zero(value("mass")):
            return True
        if value("mass") is None and _zero(value("density")):
            return True
        group = value("group") or "0"
        if group.strip().lstrip("-").isdigit() and not self._groups[0] <= int(group) <= self._groups[1]:
            return True
        return not self._from_geoms and any(child.tag == "inertial" for child in _own(place.body))

    # -- what is seen ------------------------------------------------------------------------------

    def _stands_in(self, node: Node, value: Callable[[str], str | None]) -> bool:
        """Whether the mesh of a geom can be read; a geom without mass then stands in for it."""
        group = (value("group") or "0").strip()
        if group.isdigit() and int(group) > SHOWN:
            self.remarks.left_out(_called(node), f"is of a group above {SHOWN}: MuJoCo does not show it, no shape")
            return False
        try:
            if value("mesh") is None or value("type") not in (None, "mesh") or value("fromto") is not None:
                raise InputError("only geoms of type 'mesh' are shapes among those of meshes and height fields")
            surface = self._surface(value("mesh") or "")
        except (FileError, ModelError, ValueError, TypeError) as error:
            text = str(error).removeprefix(f"{self.path}, ")
            if name := value("mesh"):
                self._unread.setdefault(name, str(error))
            self.remarks.left_out(_called(node), f"a geom of a mesh: {text}")
            return False
        name = f"{STAND_IN}{len(self._stand_ins)}/"
        self._stand_ins[id(node)], self.meshes[name] = name, surface
        return True

    def _surface(self, name: str) -> Mesh:
        """Mesh of an asset, by name."""
        if name in self._unread:  # and not tried again
            raise InputError(self._unread[name])
        if name not in self._surfaces:
            if (node := self._assets["mesh"].get(name)) is None:
                raise InputError(_check.unknown(name[:80], self._assets["mesh"], "mesh"))
            if any(key in node.attrib for key in ("refpos", "refquat", "builtin")):
                raise node.error(f"mesh {name!r} has refpos, refquat or builtin, which are not read")
            if "file" in node.attrib:
                inside = str(PurePosixPath(self._mesh_folder, node.attrib["file"]))
                made = Mesh.from_file(file_within(self.path.parent, inside, f"the file of mesh {name!r}"))
            else:
                points, corners = (node.numbers(key, None) for key in ("vertex", "face"))
                if len(points) % 3 or len(corners) % 3:
                    raise node.error(f"mesh {name!r} needs three numbers for each vertex and each face")
                smooth = node.get("smoothnormal") == "true"
                made = Mesh(np.reshape(points, (-1, 3)), np.reshape(corners, (-1, 3)), smooth)
            scale = [float(x) for x in (self._classes.value(node, None, "scale") or "1 1 1").split()]
            if len(scale) != 3:
                raise node.error(f"the scale of mesh {name!r} must have three numbers, and has {len(scale)}")
            self._surfaces[name] = scaled(made, scale)
        return self._surfaces[name]

    def _color(self, node: Node, attributes: dict[str, str], place: _Place) -> None:
        """Give a geom the color of its material, which is not passed to the compiler."""
        material = self._assets["material"].get(self._classes.value(node, place.childclass, "material") or "")
        rgba = None if material is None else self._classes.value(material, None, "rgba")
        if rgba is not None and self._classes.value(node, place.childclass, "rgba") is None:
            attributes["rgba"] = rgba


def _own(node: Node) -> Iterator[Node]:
    """Elements of a body, with those in its frames."""
    for child in node:
        yield child  # type: ignore[misc]
        if child.tag == "frame":
            yield from _own(child)  # type: ignore[arg-type]


def _zero(text: str | None) -> bool:
    try:
        return text is not None and float(text) == 0.0
    except ValueError:
        return False


def _group_range(text: str) -> tuple[int, int]:
    words = text.split()
    try:
        low, high = (int(word) for word in words)
    except ValueError:
        raise InputError(f"'inertiagrouprange' of <compiler> must be two whole numbers, and is {text[:80]!r}") from None
    return low, high


def _called(node: Node) -> str:
    name = node.get("name")
    return f"<{node.tag}>" if not name else f"{node.tag} {name!r}"


class _Includes:
    """Replacement of include elements by the content of the files they name."""

    def __init__(self, path: Path) -> None:
        self.folder = Path(os.path.realpath(path)).parent
        self.read = {Path(os.path.realpath(path))}

    def insert_into(self, node: Node) -> None:
        at = 0
        while at < len(node):
            child: Node = node[at]  # type: ignore[assignment]
            if child.tag == "include":
                node[at : at + 1] = list(self._content(child))
            else:
                self.insert_into(child)
                at += 1

    def _content(self, node: Node) -> Node:
        name = node.text_of("file")
        if "\0" in name or len(name) > 1000:
            raise node.error(f"'file' of <include> is no name of a file: {name[:80]!r}")
        path = Path(os.path.realpath(self.folder / name))
        if not path.is_relative_to(self.folder):
            raise node.error(
                f"<include file={name!r}> leads out of the folder of the file, and is not followed: put it beside"
            )
        if path in self.read:
            raise node.error(f"<include file={name!r}>: a file can be included once only, and here it is again")
        if len(self.read) > _INCLUDES:
            raise node.error(f"more than {_INCLUDES} files are included: is it the right file?")
        self.read.add(path)
        try:
            return read_xml(path, None)
        except FileError as error:
            raise FileError(f"{node.path}, line {node.line}: <include file={name!r}>: {error}") from error
