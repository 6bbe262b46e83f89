"""JSON schema of machine files, made from the classes of the parts: editors complete and check files with it."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from .elements import Shape
from .machine_file import _SECTIONS, BODIES, FORMAT, SHAPES, _characteristics, _kinds_of

__all__ = ["machine_schema"]

_NUMBERS = {"type": "array", "items": {"$ref": "#/$defs/numbers"}}
_DEFINITIONS: dict[str, Any] = {
    "numbers": {"anyOf": [{"type": "number"}, _NUMBERS]},
    "frame": {
        "type": "object",
        "description": "p is the origin (m), R a rotation in three rows, or axis and angle (rad) a turn",
        "properties": {name: {"$ref": "#/$defs/numbers"} for name in ("p", "R", "axis", "angle")},
        "additionalProperties": False,
    },
    "coefficients": {"type": "object", "additionalProperties": {"type": "number"}},
    "limits": {"anyOf": [_NUMBERS, {"type": "object", "additionalProperties": _NUMBERS}]},
    "profile": {"type": ["string", "number", "array"], "description": "a formula of angle, or samples"},
}

# by the annotations of the fields, as they are written
_BY_ANNOTATION: dict[str, Any] = {
    "str": {"type": "string"},
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "float | None": {"type": ["number", "null"]},
    "Held[float | None, float]": {"type": ["number", "null"]},
    "HeldArray": {"$ref": "#/$defs/numbers"},
    "ArrayLike": {"$ref": "#/$defs/numbers"},
    "float | ArrayLike": {"$ref": "#/$defs/numbers"},
    "Held[ArrayLike, NDArray[np.int32]]": {"$ref": "#/$defs/numbers"},
    "Held[ArrayLike | None, Array | None]": {"anyOf": [{"$ref": "#/$defs/numbers"}, {"type": "null"}]},
    "tuple[float, float]": _NUMBERS,
    "Held[tuple[float, float] | None, tuple[float, float]]": {"anyOf": [_NUMBERS, {"type": "null"}]},
    "tuple[str, str] | None": {"type": "array", "items": {"type": "string"}},
    "Frame": {"$ref": "#/$defs/frame"},
    "Held[Limits | Mapping[str, Limits] | Array | None, Array]": {"$ref": "#/$defs/limits"},
    "Mapping[str, float]": {"$ref": "#/$defs/coefficients"},
    "Held[Callable[[Any], Any] | tuple[ArrayLike, ArrayLike], Callable[[Any], Any]]": {"$ref": "#/$defs/profile"},
    "Held[Characteristic | Callable, Characteristic]": {"$ref": "#/$defs/characteristics"},
    "str | None": {"type": ["string", "null"]},
    "str | Path": {"type": "string"},
    "int | None": {"type": ["integer", "null"]},
    "Frame | None": {"$ref": "#/$defs/frame"},
    "Sequence[Shape]": {"type": "array", "items": {"$ref": "#/$defs/shape"}},
    "Held[Sequence[Shape], tuple[Shape, ...]]": {"type": "array", "items": {"$ref": "#/$defs/shape"}},
    "Held[Friction | float, Friction]": {"anyOf": [{"type": "number"}, {"$ref": "#/$defs/characteristic"}]},
}


def machine_schema() -> dict[str, Any]:
    """JSON schema of machine files (JSON Schema 2020-12).

    Examples
    --------
    >>> sorted(machine_schema()["required"])
    ['bodies', 'format', 'joints', 'name']
    """
    one = {"$ref": "#/$defs/characteristic"}
    definitions = _DEFINITIONS | {
        "characteristic": {"oneOf": [_part(kind, None) for kind in _characteristics().values()]},
        "shape": {
            "oneOf": [_part(kind, None) for kind in _kinds_of((Shape,)).values()]
            + [_by_function(name, make) for name, make in SHAPES.items()]
        },
        "characteristics": {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]},
    }
    names = {"type": "array", "items": {"type": "string"}}
    properties: dict[str, Any] = {
        "format": {"const": FORMAT},
        "units": {"type": "string"},
        "name": {"type": "string"},
        "source": {"type": "string"},
        "gravity": {"$ref": "#/$defs/numbers", "description": "m/s2, axes of the world"},
        "precision": {"type": "number", "minimum": 0, "description": "m, of places; see Mechanism"},
        "without": names,
        "cuts": {"anyOf": [{"const": "automatic"}, names]},
        "configurations": {"type": "object", "additionalProperties": {"$ref": "#/$defs/coefficients"}},
    }
    for key, section in _SECTIONS.items():
        parts = [_part(kind, section.plain) for kind in _kinds_of(section.kinds).values()]
        if key == "bodies":
            parts += [_by_function(name, make) for name, make in BODIES.items()]
        properties[key] = {"type": "object", "additionalProperties": {"oneOf": parts}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "machine file of cmbcontrol",
        "type": "object",
        "properties": properties,
        "required": ["format", "name", "bodies", "joints"],
        "additionalProperties": False,
        "$defs": definitions,
    }


def _part(kind: type, plain: type | None) -> dict[str, Any]:
    """Schema of a part of a class; the plain class of a section needs no type."""
    fields = [field for field in dataclasses.fields(kind) if field.init and field.name != "name"]
    missing = dataclasses.MISSING
    needed = [f.name for f in fields if f.default is missing and f.default_factory is missing]
    title = next(iter((inspect.getdoc(kind) or "").splitlines()), "")
    return _object(
        kind.__name__, title, ((f.name, str(f.type)) for f in fields), needed if kind is plain else [*needed, "type"]
    )


def _by_function(name: str, make: Callable[..., Any]) -> dict[str, Any]:
    parameters = [p for p in inspect.signature(make).parameters.values() if p.name != "name"]
    title = next(iter((inspect.getdoc(make) or "").splitlines()), "")
    needed = [p.name for p in parameters if p.default is p.empty]
    return _object(name, title, ((p.name, str(p.annotation)) for p in parameters), [*needed, "type"])


def _object(name: str, title: str, fields: Iterable[tuple[str, str]], needed: list[str]) -> dict[str, Any]:
    properties = {"type": {"const": name}} | {key: _BY_ANNOTATION[annotation] for key, annotation in fields}
    return {
        "type": "object",
        "description": title,
        "properties": properties,
        "required": sorted(needed),
        "additionalProperties": False,
    }
