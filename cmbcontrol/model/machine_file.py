"""Machine files in YAML: every part by its type, its name and its numbers, in SI units.

A part is written with the names of its class's arguments, and only with those that differ from their defaults; so the
reference of the classes is the reference of the file, and a new argument of a class is in the file, too.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _check, _files, _yaml, characteristics
from ..characteristics import Characteristic, FormulaForce, Sum
from ..errors import FileError, InputError, InputTypeError, ModelError
from ..trace.expression import Expression, text_of
from . import elements
from .elements import (
    Actuator,
    Body,
    Cam,
    Constraint,
    CoordinateConstraint,
    Cylinder,
    ForceElement,
    Frame,
    Joint,
    JointSpring,
    Load,
    Mesh,
    Plate,
    PointSpring,
    Shape,
)
from .elements.mesh_files import file_within, obj_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .mechanism import Mechanism

__all__ = [
    "FORMAT",
    "SUFFIXES",
    "described",
    "from_description",
    "read_machine",
    "wholly_described",
    "write_machine",
]

FORMAT = "cmbcontrol machine 1"
SUFFIXES = (".yaml", ".yml", ".json")  # JSON is YAML, too
_LARGEST = 1e60  # of numbers: forms of the fourth degree in them are numbers
_LEAST = 1e-200  # far below what rounding leaves of products; quotients with it are numbers
UNITS = "m, kg, s, rad, N, N m; gravity in m/s2, inertia in kg m2 about the centre of mass"


# types that make a part of fewer numbers
BODIES: dict[str, Callable[..., Any]] = {"Body.planar": Body.planar, "Body.rod": Body.rod}
SHAPES: dict[str, Callable[..., Any]] = {"Plate.bar": Plate.bar, "Mesh.from_file": Mesh.from_file}
_LARGE_MESH = 200  # faces, some 15 kB of text: a larger mesh goes into a file of its own


class _Section(NamedTuple):
    """Section of a file with parts of one sort: their classes, a word for one of them, and the class without a type."""

    kinds: tuple[type, ...]
    word: str
    plain: type | None = None


_SECTIONS = {
    "bodies": _Section((Body,), "body", Body),
    "joints": _Section((Joint,), "joint"),
    "loops": _Section((Joint, Constraint, CoordinateConstraint), "constraint"),
    "springs": _Section((JointSpring, PointSpring), "spring"),
    "actuators": _Section((Actuator,), "actuator", Actuator),
    "loads": _Section((Load,), "load", Load),
    "forces": _Section((ForceElement,), "force element"),
    "cylinders": _Section((Cylinder,), "cylinder", Cylinder),
}
_HEAD = ("format", "units", "name", "source", "gravity", "precision", "without", "configurations", "cuts")


@cache
def _kinds_of(bases: tuple[type, ...]) -> dict[str, type]:
    """Classes that a file may name, by name."""
    public = {name: getattr(elements, name) for name in elements.__all__}
    found = {
        n: k for n, k in public.items() if isinstance(k, type) and issubclass(k, bases) and dataclasses.is_dataclass(k)
    }
    return {n: k for n, k in found.items() if k not in (Joint, Constraint, elements.FrictionOfLoad, Shape)}


@cache
def _characteristics() -> dict[str, type]:
    return {n: k for n in characteristics.__all__ if dataclasses.is_dataclass(k := getattr(characteristics, n))}


# -- writing ---------------------------------------------------------------------------------------------------------


def described(plant: Mechanism) -> dict[str, Any]:
    """Description of a machine as plain data, from which `from_description` makes it again.

    Raises
    ------
    ModelError
        Where a function in it cannot be written down as a formula.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> described(plants.five_bar())["loops"]["tip"]["type"]
    'PointOnLine'
    """
    if plant._whole is not None:
        whole, gone = plant._whole
        return described(whole) | {"without": list(gone)}
    data: dict[str, Any] = {"format": FORMAT, "units": UNITS, "name": plant.name}
    if plant.source:
        data["source"] = plant.source
    data["gravity"] = plant.gravity.tolist()
    if plant.precision is not None:
        data["precision"] = plant.precision
    own = {key: [_part(part, section.plain) for part in getattr(plant, key)] for key, section in _SECTIONS.items()}
    if not _only_cylinders(plant, own):
        del own["cylinders"]
    for key, parts in own.items():
        if parts:
            data[key] = {part.pop("name"): part for part in parts}
    if plant.configurations:
        data["configurations"] = {name: dict(values) for name, values in plant.configurations.items()}
    return data


def _only_cylinders(plant: Mechanism, own: dict[str, list[dict[str, Any]]]) -> bool:
    """Leave out the parts that cylinders bring along; False where these are no longer as cylinders make them."""
    made = {
        key: [_part(part, _SECTIONS[key].plain) for cylinder in plant.cylinders for part in getattr(cylinder, key)]
        for key in ("bodies", "joints", "loops", "actuators")
    }
    if any(own[key][len(own[key]) - len(parts) :] != parts for key, parts in made.items()):
        return False
    for key, parts in made.items():
        del own[key][len(own[key]) - len(parts) :]
    return True


def _part(part: Any, plain: type | None) -> dict[str, Any]:
    """Description of a part, by its fields that differ from their defaults."""
    kind, made = type(part), {}
    if kind is not plain:
        made["type"] = kind.__name__
        if kind not in {*_kinds_of((object,)).values(), *_characteristics().values()}:
            raise ModelError(f"{_check.shown(part)} is of a class of your own, and no file can hold it")
    for field in dataclasses.fields(part):
        if field.init and (value := _field(part, field)) is not _DEFAULT:
            made[field.name] = value
    return made


_DEFAULT = object()


def _field(part: Any, field: dataclasses.Field) -> Any:
    value = part.written(field.name)
    if isinstance(value, Frame):
        return _frame(value)
    if isinstance(value, Characteristic):
        return _characteristic(value, part)
    default = field.default_factory() if callable(field.default_factory) else field.default
    if default is not dataclasses.MISSING and _same(value, default):
        return _DEFAULT
    return _plain(value)


def _shape(shape: Shape) -> dict[str, Any]:
    """Description of a shape; one of a class of the user is written as its triangles."""
    if type(shape) not in _kinds_of((Shape,)).values():
        shape = Mesh(*shape.triangles(), color=shape.color)
    made = _part(shape, None)
    return made | {"color": made.pop("color")} if "color" in made else made  # at the end, as for every part


def _same(value: Any, default: Any) -> bool:
    if value is None or default is None or isinstance(value, (str, bool)):
        return value is default or value == default
    if isinstance(value, Mapping):
        return isinstance(default, Mapping) and dict(value) == dict(default)
    return bool(np.array_equal(np.asarray(value), np.asarray(default)))


def _plain(value: Any) -> Any:
    """Lists and mappings of numbers and texts, from arrays, numpy's numbers and tuples."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): _plain(x) for key, x in value.items()}
    if isinstance(value, Shape):
        return _shape(value)
    return [_plain(x) for x in value] if isinstance(value, (tuple, list)) else value


def _frame(frame: Frame) -> Any:
    made: dict[str, Any] = {}
    if frame.p.any():
        made["p"] = frame.p.tolist()
    if not np.array_equal(frame.R, np.eye(3)):
        made["R"] = frame.R.tolist()
    return made or _DEFAULT


def _characteristic(x: Characteristic, owner: Any) -> Any:
    if isinstance(x, Sum):
        return [_characteristic(part, owner) for part in x.parts]
    if type(x) in _characteristics().values():
        return _part(x, None)
    what, z = f"the characteristic of force element {owner.name!r}", owner.sample
    names = ("x", "rate", *x.number_names)

    def force(x_: Any, rate: Any, *numbers: Any) -> Any:
        return x.with_numbers(numbers).force(x_, rate)

    def energy(x_: Any, *numbers: Any) -> Any:
        return x.with_numbers(numbers).energy(x_)

    made: dict[str, Any] = {"type": FormulaForce.__name__}
    made["formula"] = text_of(force, names, (*z[:2], *x.numbers), what)
    stored = text_of(energy, ("x", *x.number_names), (z[0], *x.numbers), what)
    if stored != "0.0":
        made["stored"] = stored
    if x.number_names:
        made["values"] = dict(zip(x.number_names, x.numbers, strict=True))
    return made


def write_machine(plant: Mechanism, path: str | Path) -> Path:
    """Write the file of a machine, with files of its large meshes; see `Mechanism.save`."""
    path = _check.path(path)
    data = wholly_described(plant)
    meshes: dict[Path, str] = {}  # what goes into files beside
    for name, body in data.get("bodies", {}).items():
        for i, shape in enumerate(body.get("shapes", ())):
            if shape["type"] == "Mesh" and len(shape["faces"]) > _LARGE_MESH:
                tidy = re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:60]
                file = Path(f"{path.stem}_meshes", f"{len(meshes) + 1}_{tidy}.obj")
                meshes[file] = obj_text(np.array(shape.pop("vertices")), np.array(shape.pop("faces")))
                body["shapes"][i] = shape | {"type": "Mesh.from_file", "path": file.as_posix(), "most": None}
    for file, text in meshes.items():
        with suppress(OSError):  # of which writing into it tells
            (path.parent / file).parent.mkdir(exist_ok=True)
        _files.write(path.parent / file, text)
    return _files.write(path, _yaml.text(data))


def wholly_described(plant: Mechanism) -> dict[str, Any]:
    """Description of a machine as `described`, checked to make the same machine again.

    Raises
    ------
    ModelError
        Where the description makes another machine: its kernels read numbers that no part of it has.
    """
    data = described(plant)
    made = from_description(data)
    for name, mine, other in zip(plant.arrays._fields, plant.arrays, made.arrays, strict=True):
        if not _equal(mine, other):
            raise ModelError(
                f"{plant.name!r} has been changed in a way that no part of it tells ({name} of its kernels), and a "
                "file would not keep it: save the machine that it was made from"
            )
    return data


def _equal(a: Any, b: Any) -> bool:
    """Whether arrays of kernels, or records of some, have the same numbers; 0.0 and -0.0 are one."""
    if isinstance(a, tuple):
        return len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray) and a.dtype.names is not None:
        return a.shape == b.shape and all(_equal(a[name], b[name]) for name in a.dtype.names)
    return bool(np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f"))


# -- reading ---------------------------------------------------------------------------------------------------------


def read_machine(path: str | Path) -> Mechanism:
    """Read the file of a machine; see `Mechanism.load`."""
    path = _check.path(path)
    _require_no_xml(path)
    document = _yaml.read(path)
    return from_description(document.data, document.at, document.path.parent)


def _require_no_xml(path: Path) -> None:
    """Raise an error for a file of another format, which says what reads it."""
    try:
        with path.open("rb") as file:
            begin = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
    except OSError:
        return  # the reader of YAML says why
    if begin.startswith(b"<"):
        raise FileError(
            f"{path} is XML, and a machine file is YAML. cmbcontrol.formats.read({path.name!r}) reads URDF, SDF and "
            "MJCF: .machine of its result is the machine, .remarks what is not as in the file"
        )


@contextmanager
def _nowhere(*keys: str | int) -> Iterator[None]:
    yield


def from_description(data: Any, at: Callable[..., Any] = _nowhere, folder: Path | None = None) -> Mechanism:
    """Machine that a description defines.

    Parameters
    ----------
    data : mapping
        Description as from `described`.
    at : callable, optional
        ``at(*keys)`` is a context that adds the place of an entry to errors.
    folder : path, optional
        Folder of files of meshes; without it, none is read.

    Raises
    ------
    ModelError, ValueError, TypeError

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from_description(described(plants.five_bar())).position_names
    ('left', 'elbow_left', 'right', 'elbow_right')
    """
    from .mechanism import Mechanism

    with at():
        _check.mapping(data, "a machine file", "keys such as name, bodies and joints")
        if data.get("format") != FORMAT:
            raise InputError(f"a machine file begins with 'format: {FORMAT}', and this one has {data.get('format')!r}")
        for key in data:
            with at(key):
                _check.one_of(key, [*_HEAD, *_SECTIONS], "key of a machine file")
        _require_sizes(data, at)
        for key in ("name", "bodies", "joints"):
            if key not in data:
                raise InputError(f"a machine file needs {key!r}")
        parts: dict[str, Any] = {}
        for key, section in _SECTIONS.items():
            with at(key):
                given = _check.mapping(data.get(key) or {}, key, f"the name of each {section.word} to what it is")
            parts[key] = [_read_part(key, name, section, x, at, folder) for name, x in given.items()]
        gravity = data.get("gravity", (0.0, 0.0, -9.81))
        parts |= {"gravity": gravity, "source": data.get("source", ""), "precision": data.get("precision")}
        named = None
        if (cuts := data.get("cuts")) is not None and cuts != "automatic":
            with at("cuts"):
                named = _check.sequence(cuts, "cuts", "names of joints, or 'automatic'")
        try:
            if cuts is None:
                made = Mechanism(data["name"], **parts)
            else:
                made = Mechanism.from_graph(data["name"], cuts=named, **parts)
        except (ModelError, InputError, InputTypeError) as error:
            with at(*(_entry_of(str(error), data) or ("cuts",) * (cuts is not None))):
                raise
        with at("configurations"):
            by_name = _check.mapping(
                data.get("configurations") or {}, "configurations", "names to values of coordinates"
            )
            for name, values in by_name.items():
                with at("configurations", name):
                    _check.mapping(values, f"configuration {name!r}", "coordinates to numbers")
                    made = made.with_configurations({name: values})
        with at("without"):
            gone = _check.sequence(data.get("without", ()), "without", "names of constraints")
            return made.without(*gone) if gone else made


def _entry_of(message: str, data: Mapping[str, Any]) -> tuple[str, ...]:
    """Keys of the entry to which a message about a whole machine belongs, from the quoted names in it.

    These are the keys of a part that the message names, and of the argument in which this part names another name of
    the message: a missing body 'shankk' of joint 'knee' is reported at the line of 'shankk'.
    """
    said = re.split(r"; did you mean| \(known:", message)[0]  # what there might be instead is no mistake
    quoted = [name for name in re.findall(r"'([^']*)'", said) if name != data.get("name")]
    parts = [(key, name) for name in quoted for key in _SECTIONS if name in (data.get(key) or {})]
    for key, name in parts:
        given = data[key][name]
        for field, x in given.items() if isinstance(given, Mapping) else ():
            listed = [*x] if isinstance(x, (Mapping, list)) else [x]
            if any(isinstance(y, str) and y in quoted and y != name for y in listed):
                return key, name, field
    return parts[0] if parts else ()


def _require_sizes(data: Any, at: Callable[..., Any], keys: tuple[str | int, ...] = ()) -> None:
    """Raise an error for numbers so large or small that products and quotients of them are not finite numbers."""
    if isinstance(data, float | int) and (_LARGEST < abs(data) != math.inf or 0.0 < abs(data) < _LEAST):
        with at(*keys):
            raise InputError(
                f"{_check.shown(data)} is no size of a machine: it must be zero, or from {_LEAST:.0e} to {_LARGEST:.0e}"
            )
    for key, x in data.items() if isinstance(data, Mapping) else enumerate(data) if isinstance(data, list) else ():
        _require_sizes(x, at, (*keys, key))


def _read_part(
    key: str, name: str, section: _Section, x: Any, at: Callable[..., Any], folder: Path | None = None
) -> Any:
    what, here = f"{section.word} {name!r}", partial(at, key, name)
    with here():
        given = {"name": name, **_check.mapping({} if x is None else x, what, "names of arguments to their values")}
        if key != "bodies":
            return _made(_kinds_of(section.kinds), given, section.plain, what, here)
        if "shapes" in given:
            with here("shapes"):
                listed = _check.sequence(given["shapes"], f"the shapes of {what}", "mappings with a type each")
            given["shapes"] = [
                _read_shape(shape, f"shape {i} of {what}", partial(here, "shapes", i), folder)
                for i, shape in enumerate(listed)
            ]
        if isinstance(kind := given.get("type"), str) and kind in BODIES:
            return _by_function(BODIES, given, what, here)
        return _made(_kinds_of(section.kinds), given, section.plain, what, here)


def _read_shape(x: Any, what: str, at: Callable[..., Any], folder: Path | None) -> Shape:
    with at():
        given = dict(_check.mapping(x, what, "type to a shape, and names of its arguments to values"))
        if not isinstance(kind := given.get("type"), str) or kind not in SHAPES:
            return _made(_kinds_of((Shape,)), given, None, what, at, [*SHAPES])
        if kind == "Mesh.from_file" and "path" in given:
            with at("path"):
                given["path"] = file_within(folder, given["path"], f"the path of {what}")
        try:
            return _by_function(SHAPES, given, what, at)
        except FileError as error:
            raise InputError(f"{what}: {error}; put the file there, or take the shape out") from error


def _by_function(makes: Mapping[str, Callable[..., Any]], x: dict[str, Any], what: str, at: Callable[..., Any]) -> Any:
    """Part made by one of the functions that make parts of a type."""
    make = makes[x.pop("type")]
    wanted = inspect.signature(make).parameters
    for key in x:
        with at(key):
            _check.one_of(key, wanted, f"argument of {what}")
    if missing := [n for n, p in wanted.items() if p.default is p.empty and n not in x]:
        raise InputError(f"{what} needs {', '.join(map(repr, missing))}")
    for key, value in x.items():
        with at(key):
            x[key] = _value(None, key, value, what, partial(at, key))
    return make(**x)


def _made(
    kinds: Mapping[str, type],
    x: dict[str, Any],
    plain: type | None,
    what: str,
    at: Callable[..., Any],
    more: Sequence[str] = (),
) -> Any:
    """Part of one of some classes, from its description; `more` are types that functions make."""
    given = dict(x)
    kind = plain
    if "type" in given or plain is None:
        if "type" not in given:
            raise InputError(f"{what} needs a type: {', '.join([*kinds, *more])}")
        with at("type"):
            kind = kinds[_check.one_of(given.pop("type"), [*kinds, *more], f"type of {what}")]
    fields = {field.name: field for field in dataclasses.fields(kind) if field.init}  # type: ignore[arg-type]
    for key in given:
        with at(key):
            _check.one_of(key, fields, f"argument of {what}")
    missing = [
        n for n, f in fields.items()
        if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING and n not in given
    ]  # fmt: skip
    if missing:
        raise InputError(f"{what} needs {', '.join(map(repr, missing))}")
    for key, value in given.items():
        with at(key):
            given[key] = _value(kind, key, value, what, partial(at, key))
    return kind(**given)  # type: ignore[misc]


def _value(kind: type | None, key: str, value: Any, what: str, at: Callable[..., Any]) -> Any:
    """Argument of a part, read from its description."""
    if key in ("frame", "child_frame", "frame_a", "frame_b"):
        return _read_frame(value, f"{key} of {what}")
    if key == "characteristic" or (key == "friction" and isinstance(value, Mapping)):
        return _read_characteristic(value, f"the {key} of {what}", at)
    if kind is Cam and key == "profile" and isinstance(value, (str, float, int)):
        return Expression(value, ["angle"])  # type: ignore[arg-type]
    if isinstance(value, Mapping) and key not in ("limits", "coefficients", "values"):
        raise InputTypeError(f"{key} of {what} must be a number, a text or a list of these, got a mapping")
    return value


def _read_frame(x: Any, what: str) -> Frame:
    _check.mapping(x, what, "p to the origin, and R to a rotation, or axis and angle to those of a turn")
    for key in x:
        _check.one_of(key, ("p", "R", "axis", "angle"), f"key of {what}")
    if "axis" in x or "angle" in x:
        if "R" in x or not ("axis" in x and "angle" in x):
            raise InputError(f"{what} has R, or axis and angle (rad)")
        return Frame.turned(x["axis"], x["angle"], x.get("p", (0.0, 0.0, 0.0)))
    return Frame(**x)


def _read_characteristic(x: Any, what: str, at: Callable[..., Any]) -> Characteristic:
    if isinstance(x, list):
        if not x:
            raise InputError(f"{what} is an empty list")
        parts = []
        for i, part in enumerate(x):
            with at(i):
                parts.append(_read_characteristic(part, what, partial(at, i)))
        return parts[0] if len(parts) == 1 else Sum(tuple(parts))
    _check.mapping(x, what, "type to a characteristic, and names of its arguments to values; or a list of such")
    return _made(_characteristics(), dict(x), None, what, at)
