"""Provenance of a run: its machine, law and settings, as data that a file keeps and that make the run again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._versions import now, versions
from ..controllers.description import law_from_dict, plain
from ..errors import CmbError, InputError, ModelError
from ..model.contacts import Contact
from ..model.machine_file import from_description, wholly_described
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from .integrator import Integrator
from .stabilisation import Stabilisation
from .switching import Engage, Lock, Release, Unlock

__all__ = ["Call", "Provenance"]

FORMAT = "cmbcontrol provenance 1"


@dataclass(frozen=True)
class Pair:
    """Tuple among loads and motions: it has another meaning than a list."""

    items: tuple[Any, ...]


_KINDS = {kind.__name__: kind for kind in (Integrator, Stabilisation, Contact, Engage, Lock, Release, Unlock, Pair)}
_NO_MATTER = ("progress",)  # of the result
_FOLLOWED = ("loads", "motions")


@dataclass(frozen=True)
class Call:
    """Arguments and date of a call of `simulate`.

    Attributes
    ----------
    arguments : mapping
        Arguments by name, the plant and the law among them.
    date : str
        UTC.
    """

    arguments: Mapping[str, Any]
    date: str = field(default_factory=now)

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Call:
        """Record a call; arrays are copied, since their owner may change them."""
        return cls({name: x.copy() if isinstance(x, np.ndarray) else x for name, x in arguments.items()})


@dataclass(frozen=True)
class Provenance:
    """Machine, law, settings and versions with which a run was made.

    Attributes
    ----------
    machine : mapping or None
        Machine as in a machine file; None where it cannot be written down.
    law : object
        Law in the form that `controllers.law_from_dict` takes.
    arguments : mapping
        The other arguments of `simulate` that are not as by default.
    missing : mapping of str to str
        The arguments that cannot be written down, and why; with them, a run from a file cannot be made again.
    versions : mapping of str to str
    date : str
        When the run was made, UTC.
    """

    machine: Mapping[str, Any] | None
    law: Any
    arguments: Mapping[str, Any]
    missing: Mapping[str, str]
    versions: Mapping[str, str]
    date: str

    @classmethod
    def of(cls, call: Call) -> Provenance:
        """Describe a call in data that a file can hold."""
        given, missing = dict(call.arguments), {}
        plant: Plant = given.pop("plant")
        law = given.pop("controller", None)
        machine = kept_law = None
        try:
            if not isinstance(plant, Mechanism):
                raise ModelError(f"{plant.name!r} is given by functions, and no file can hold these")
            machine = wholly_described(plant)
        except ModelError as error:
            missing["plant"] = str(error)
        try:
            kept_law = None if law is None else plain(law, plant, _KINDS)
            _require_as_made(law, kept_law, plant)
        except (CmbError, ValueError, TypeError) as error:
            kept_law, missing["controller"] = None, str(error)
        kept = {}
        for name, value in given.items():
            if name in _NO_MATTER:
                continue
            try:
                kept[name] = plain(_paired(value) if name in _FOLLOWED else value, plant, _KINDS)
            except (CmbError, ValueError, TypeError) as error:
                missing[name] = str(error)
        return cls(machine, kept_law, kept, missing, versions(), call.date)

    def call(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of `simulate` that make the run again, with some of them changed.

        Raises
        ------
        ValueError
            Where an argument that cannot be written down is not given.
        """
        if gone := [name for name in self.missing if name not in changes]:
            reasons = "; ".join(f"{name}: {self.missing[name]}" for name in gone)
            raise InputError(
                f"the file of this run does not hold all that it was made with ({reasons}). Give it again: "
                f"run.rerun({', '.join(f'{name}=...' for name in gone)})"
            )
        plant = changes.get("plant")
        if plant is None:
            plant = from_description(self.machine)
        found: dict[str, Any] = {"plant": plant}
        if "controller" not in changes:
            found["controller"] = None if self.law is None else law_from_dict(self.law, plant, more=_KINDS)
        for name, value in self.arguments.items():
            if name not in changes:
                found[name] = _unpaired(law_from_dict(value, plant, more=_KINDS))
        return found | dict(changes)

    def plant(self) -> Plant | None:
        """Build the machine again; None where the file does not hold it."""
        return None if self.machine is None else from_description(self.machine)

    def text(self) -> str:
        """JSON text of this provenance, with all digits of all numbers."""
        data = {"format": FORMAT} | {key: getattr(self, key) for key in self.__dataclass_fields__}
        return json.dumps(data)

    @classmethod
    def from_text(cls, text: str) -> Provenance:
        """Read the JSON text that `text` wrote.

        Raises
        ------
        ValueError
            Where the text is not of this format.
        """
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"the provenance is damaged: {error}") from error
        if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
            raise InputError(f"the provenance is none of the format {FORMAT!r}")
        names = set(cls.__dataclass_fields__)
        if set(data) != names:
            raise InputError(f"the provenance must have {', '.join(sorted(names))}")
        return cls(**data)

    def __str__(self) -> str:
        machine = "a plant that no file holds" if self.machine is None else repr(self.machine.get("name"))
        law = "none" if self.law is None else json.dumps(self.law)
        lines = [f"machine   {machine}", f"law       {law if 'controller' not in self.missing else 'not kept'}"]
        lines += [f"{name:<9} {json.dumps(value)}" for name, value in self.arguments.items()]
        lines += [f"missing   {name}: {why}" for name, why in self.missing.items()]
        lines.append(f"made      {self.date}, {', '.join(f'{name} {v}' for name, v in self.versions.items())}")
        return "\n".join(lines)


def _paired(given: Any) -> Any:
    return {name: Pair(x) if isinstance(x, tuple) else x for name, x in dict(given or {}).items()}


def _unpaired(made: Any) -> Any:
    if not isinstance(made, dict):
        return made
    return {name: tuple(x.items) if isinstance(x, Pair) else x for name, x in made.items()}


def _require_as_made(law: Any, description: Any, plant: Plant) -> None:
    """Raise an error for a law whose numbers are no longer those that it was made with."""
    if description is None or not hasattr(law, "__dict__"):
        return
    made = law_from_dict(description, plant, more=_KINDS)
    for name, value in vars(law).items():
        other = getattr(made, "__dict__", {}).get(name)
        if _is_plain(value) and _is_plain(other) and not np.array_equal(np.asarray(value), np.asarray(other), True):
            raise ModelError(
                f"{name!r} of {law!r} was changed after it had been made, from {other!r} to {value!r}: make a new law"
            )


def _is_plain(x: Any) -> bool:
    return isinstance(x, (bool, int, float)) or (isinstance(x, np.ndarray) and x.dtype.kind in "bif")
