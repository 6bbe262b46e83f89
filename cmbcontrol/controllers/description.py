"""Laws as plain data, and back: descriptions, as in files, by the names of classes and their arguments."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import _check
from .._arguments import KeepsArguments
from ..errors import InputError, InputTypeError, ModelError
from ..linear.model import LinearModel
from ..model.elements import Frame
from ..model.machine_file import described, from_description
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from .chain import Chain
from .controller import ConstantEffort
from .filters import plain_system
from .inverse_motion import InverseMotion
from .profiles import CamProfile, ElectronicCam, JerkLimited, Joined
from .references import Constant, Quintic, Sine, Spline

__all__ = ["DescribedLaw", "law_from_dict", "law_to_dict"]

Kinds = Mapping[str, Callable[..., Any]]

_REFERENCES = {
    kind.__name__: kind
    for kind in (Constant, Quintic, Sine, Spline, CamProfile, ElectronicCam, InverseMotion, JerkLimited, Joined)
}
_PARAMETER = re.compile(r"\$(\w+)")


def law_from_dict(
    description: Any, plant: Plant, values: Mapping[str, Any] | None = None, *, more: Kinds | None = None
) -> Any:
    """Law, or a part of one, made from its description in plain data.

    Parameters
    ----------
    description : mapping, sequence or number
        A mapping has the name of a class of `cmbcontrol.controllers`, or of a reference, as ``type``, and its arguments
        by name; those may be described in the same way. The plant is passed where the class asks for one. A sequence is
        a chain, in the order of ``|``. A number, or a list of numbers, is constant efforts.
    plant : Plant
    values : mapping of str to float, optional
        Values of the parameters, in place of the texts ``$name``.
    more : mapping of str to callable, optional
        Other classes that a description may name.

    Returns
    -------
    Controller, or whatever else is described

    Raises
    ------
    ValueError, TypeError
        For unknown types and arguments, and what the class itself refuses.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> described = {"type": "ProjectedInverseDynamics", "coordinates": ["left", "right"], "bandwidth": "$width"}
    >>> described["reference"] = {"type": "Constant", "position": [2.1, 1.0]}
    >>> chain = [described, {"type": "Saturation", "limits": 60.0}]
    >>> law_from_dict(chain, plants.five_bar(), {"width": 8.0}).name
    'ProjectedInverseDynamics | Saturation'
    """
    _check.plant(plant)
    given = {} if values is None else dict(_check.mapping(values, "values", "parameters to numbers"))
    for name, value in given.items():
        _check.one_of(name, list(dict.fromkeys(_parameters(description))), "parameter of the law behind a $")
        given[name] = _check.number(value, f"the value of {name!r}")
    kinds = _kinds() | dict(more or {})
    if isinstance(description, list) and any(isinstance(part, Mapping) for part in description):
        parts = [_part_of(description, i, plant, given, kinds) for i in range(len(description))]
        law = parts[0]
        for part in parts[1:]:
            law = law | part
        return law
    return _made(description, plant, given, kinds)


@contextmanager
def _within(*keys: str | int) -> Iterator[None]:
    """Context that adds to errors the entry of a description that they are about, for the line in its file."""
    try:
        yield
    except (InputError, InputTypeError, ModelError) as error:
        told: Any = error
        told.within = (*keys, *getattr(error, "within", ()))
        raise


def _made(x: Any, plant: Plant, values: Mapping[str, Any], kinds: Kinds) -> Any:
    """Object that is described; other data as they are, with values in place of the texts ``$name``."""
    if isinstance(x, str) and (asked := _PARAMETER.fullmatch(x)):
        if asked[1] not in values:
            raise InputError(_check.unknown(asked[1], list(values), "parameter behind a $"))
        return values[asked[1]]
    if isinstance(x, list):
        return [_part_of(x, i, plant, values, kinds) for i in range(len(x))]
    if not isinstance(x, Mapping):
        return x
    if "type" not in x:
        return {key: _part_of(x, key, plant, values, kinds) for key in x}
    if isinstance(x["type"], str) and x["type"] in _OTHERS:
        return _OTHERS[x["type"]](x.get("data"))
    if x["type"] == _CHAIN:
        with _within("parts"):
            return law_from_dict(x.get("parts"), plant, values, more=kinds)
    with _within("type"):
        kind = kinds[_check.one_of(x["type"], kinds, "type of law, block, task or reference")]
    taken = list(inspect.signature(kind).parameters.values())
    arguments = {key: _part_of(x, key, plant, values, kinds) for key in x if key != "type"}
    names = [p.name for p in taken]
    several = [p.name for p in taken if p.kind is p.VAR_POSITIONAL]
    if not any(p.kind is p.VAR_KEYWORD for p in taken):
        for name in arguments:
            with _within(name):
                _check.one_of(name, names, f"argument of {x['type']}")
    if names and names[0] in ("plant", "model") and names[0] not in arguments:
        arguments[names[0]] = plant
    missing = [p.name for p in taken if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    missing = [name for name in missing if name not in arguments]
    if missing:
        raise InputError(f"{x['type']} needs {', '.join(map(repr, missing))}")
    listed = [y for name in several for y in arguments.pop(name, ())]
    try:
        return kind(*listed, **arguments)
    except (InputError, InputTypeError, ModelError) as error:
        told: Any = error
        told.within = _named_in(str(error), arguments)
        raise
    except TypeError as error:
        raise InputTypeError(f"{x['type']}: {error}") from error


def _named_in(message: str, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Argument that a message is about, the one that it names first, in a tuple; empty where it names none."""
    found = [(at.start(), name) for name in arguments if (at := re.search(rf"\b{re.escape(name)}\b", message))]
    return (min(found)[1],) if found else ()


def _part_of(x: Any, key: str | int, plant: Plant, values: Mapping[str, Any], kinds: Kinds) -> Any:
    """Object that an entry of a mapping or a list describes."""
    with _within(key):
        return _made(x[key], plant, values, kinds)


def _kinds() -> dict[str, Callable[..., Any]]:
    """Classes by name that can be described: those of `cmbcontrol.controllers`, references and `Frame`."""
    from .. import controllers

    public = {name: getattr(controllers, name) for name in controllers.__all__}
    kinds = {name: kind for name, kind in public.items() if inspect.isclass(kind)}
    return kinds | _REFERENCES | {"Frame": Frame}


_CHAIN = "Chain"
_OTHERS: Kinds = {"Mechanism": from_description, "LinearModel": LinearModel.from_data}  # data in formats of their own


# -- back --------------------------------------------------------------------------------------------------------------


def law_to_dict(law: Any, plant: Plant, *, more: Kinds | None = None) -> Any:
    """Description of a law in plain data, from which `law_from_dict` makes it again.

    Parameters
    ----------
    law : Controller, Block, function or numbers
    plant : Plant
        Plant that is left out where the law has it; other plants are written down.
    more : mapping of str to callable, optional
        Other classes that the description may name.

    Raises
    ------
    ModelError
        For functions, classes that are not of this package, and laws that were changed after they had been made.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol.controllers import Saturation
    >>> law_to_dict([40.0, 0.0] | Saturation(30.0), plants.five_bar())
    [[40.0, 0.0], {'type': 'Saturation', 'limits': 30.0}]
    """
    _check.plant(plant)
    if not isinstance(law, KeepsArguments) and not callable(law):
        law = _check.numbers(law, "the law")
    return plain(law, plant, more)


def plain(x: Any, plant: Plant, more: Kinds | None = None) -> Any:
    """Plain data of anything that a file can hold: a law, a block, a task, a reference or a machine."""
    return _Describer(plant, _kinds() | dict(more or {})).of(x)


class _Describer:
    def __init__(self, plant: Plant, kinds: Kinds) -> None:
        self.plant, self.kinds = plant, kinds
        self.machine = described(plant) if isinstance(plant, Mechanism) else None

    def of(self, x: Any) -> Any:
        """Plain data of an object; refuses one that no file can hold."""
        if isinstance(x, np.generic):  # numpy's float is one of Python's, too, which not all that write know
            return x.item()
        if x is None or isinstance(x, (bool, int, float, str)):
            return x
        if isinstance(x, np.ndarray):
            return x.tolist()
        if isinstance(x, (tuple, list)) and not hasattr(x, "_fields"):
            return [self.of(y) for y in x]
        if isinstance(x, Mapping):
            return {str(key): self.of(y) for key, y in x.items()}
        if isinstance(x, Mechanism):
            return {"type": "Mechanism", "data": described(x)}
        if isinstance(x, LinearModel):
            return {"type": "LinearModel", "data": x.to_data()}
        if all(hasattr(x, name) for name in "ABCD") or all(hasattr(x, name) for name in ("num", "den")):
            return plain_system(x)  # of python-control or scipy
        if isinstance(x, Chain):
            return [self.of(part) for part in x.parts]
        if type(x) is ConstantEffort:
            return x.u.tolist()
        name = type(x).__name__
        if self.kinds.get(name) is not type(x):
            what = "a function" if inspect.isroutine(x) else f"of a class of your own, {name}"
            raise ModelError(f"{_check.shown(x)} is {what}, and no file can hold it")
        return {"type": name} | {key: self._argument(y) for key, y in self._arguments(x).items()}

    def _argument(self, x: Any) -> Any:
        return {"type": _CHAIN, "parts": self.of(x)} if isinstance(x, Chain) else self.of(x)

    def _arguments(self, x: Any) -> dict[str, Any]:
        """Arguments that an object was made with, without default values and without the plant."""
        if dataclasses.is_dataclass(x):
            given = {field.name: getattr(x, field.name) for field in dataclasses.fields(x) if field.init}
        elif isinstance(x, KeepsArguments):
            bound = inspect.signature(type(x)).bind(*x._arguments[0], **x._arguments[1])
            given = {}
            for name, value in bound.arguments.items():
                kind = bound.signature.parameters[name].kind
                given |= value if kind is inspect.Parameter.VAR_KEYWORD else {name: value}
            # copies with another model, reference or law have these as attributes
            now = {name: y for name in given if _stands_for(y := vars(x).get(name))}
            given = {name: now.get(name, y) if _stands_for(y) else y for name, y in given.items()}
        else:
            raise ModelError(f"{_check.shown(x)} does not tell what it was made with, and no file can hold it")
        parameters = inspect.signature(type(x)).parameters
        first = next(iter(parameters), None)
        found = {}
        for name, value in given.items():
            default = parameters[name].default if name in parameters else inspect.Parameter.empty
            if value is default or (isinstance(value, (str, float, int)) and value == default):
                continue
            if name == first and name in ("plant", "model") and self._is_the_plant(value):
                continue
            found[name] = value
        return found

    def _is_the_plant(self, x: Any) -> bool:
        return x is self.plant or (
            isinstance(x, Mechanism) and self.machine is not None and described(x) == self.machine
        )


def _stands_for(x: Any) -> bool:
    """Whether copies of a law may have another version of this argument, such as another model or reference."""
    return isinstance(x, (KeepsArguments, Plant, LinearModel)) or callable(x)


class DescribedLaw:
    """Function that makes a described law, from a plant and the parameters that the description names with ``$``.

    `studies.MachineCase` takes such a function.

    Examples
    --------
    >>> from inspect import signature
    >>> made = DescribedLaw({"type": "Saturation", "limits": "$limit"})
    >>> list(signature(made).parameters)
    ['plant', 'limit']
    """

    def __init__(self, description: Any) -> None:
        self.description = description
        self.parameters = tuple(dict.fromkeys(_parameters(description)))

    @property
    def __signature__(self) -> inspect.Signature:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(name, kind) for name in ("plant", *self.parameters)])

    def __call__(self, plant: Plant, **values: Any) -> Any:
        """Law for a plant, with values of the parameters."""
        return law_from_dict(self.description, plant, values)

    def described(self) -> str:
        """The description as a text."""
        return repr(self.description)


def _parameters(x: Any) -> list[str]:
    """Names of the parameters in a description, which stand behind a ``$``."""
    if isinstance(x, str):
        return [asked[1]] if (asked := _PARAMETER.fullmatch(x)) else []
    parts: Sequence[Any] = list(x.values()) if isinstance(x, Mapping) else x if isinstance(x, list) else []
    return [name for part in parts for name in _parameters(part)]
