"""Frozen data classes for parts of machines."""

from __future__ import annotations

from dataclasses import Field, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Never, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _check

__all__ = ["Frozen", "Held", "HeldArray", "frozen", "frozen_family", "held", "set_fields"]

_Class = TypeVar("_Class")
_Given = TypeVar("_Given", contravariant=True)
_Kept = TypeVar("_Kept", covariant=True)

# Type checkers take a field of a data class for a descriptor where its type is one: the constructor takes what may be
# given, and reading gives what is held after `__post_init__` has checked it. When the program runs, all of this is
# `dataclass(frozen=True, eq=False)`, whose constructor knows its keywords, and the annotation of what may be given.
if TYPE_CHECKING:

    class Held(Generic[_Given, _Kept]):
        """Type of a field: ``Held[type that may be given, type that is kept]``; nothing can be assigned to it."""

        def __get__(self, part: object, owner: type | None = None, /) -> _Kept: ...
        def __set__(self, part: Never, value: _Given, /) -> None: ...

    def held(default: object) -> Any:
        """Default of a field of type `Held`."""

    @dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field, Field))
    def frozen(cls: type[_Class]) -> type[_Class]:
        """Decorator of a frozen data class."""

    @dataclass_transform(eq_default=False, field_specifiers=(field, Field))
    def frozen_family(cls: type[_Class]) -> type[_Class]:
        """Decorator of a frozen data class whose subclasses inherit fields of type `Held`.

        It is not declared as frozen: mypy (2.4) would give inherited fields the type that may be given.
        """

else:

    class Held:
        """Type of a field at run time: the annotation is the type that may be given."""

        def __class_getitem__(cls, kinds: tuple[Any, Any]) -> Any:
            return kinds[0]

    def held(default):
        """Default of a field of type `Held`."""
        return default

    def frozen(cls):
        return _check.knows_its_keywords(dataclass(frozen=True, eq=False)(cls))

    frozen_family = frozen

HeldArray = Held[ArrayLike, NDArray[np.float64]]


def set_fields(part: object, **values: object) -> None:
    """Write normalised values into a frozen dataclass; arrays become read-only copies."""
    for key, value in values.items():
        if isinstance(value, np.ndarray):
            value = value.copy()
            value.setflags(write=False)
        object.__setattr__(part, key, value)


class Frozen:
    """Base of frozen parts, whose copies stay frozen: pickle and deepcopy would make writable arrays."""

    if TYPE_CHECKING:  # for dataclasses.replace and dataclasses.fields
        __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __setstate__(self, state: dict[str, object]) -> None:
        set_fields(self, **state)

    def written(self, field: str) -> Any:
        """Value of a field as files have it."""
        return getattr(self, field)
