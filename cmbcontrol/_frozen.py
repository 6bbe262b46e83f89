"""Frozen data classes: parts of machines, and what they are described by."""

from __future__ import annotations

from dataclasses import Field, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Never, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Held", "HeldArray", "Part", "frozen", "frozen_family", "held", "set_fields"]

_Class = TypeVar("_Class")
_Given = TypeVar("_Given", contravariant=True)
_Kept = TypeVar("_Kept", covariant=True)

# Type checkers take a field of a data class for a descriptor where its type is one: the constructor takes what may be
# given, and reading gives what is held after `__post_init__` has checked it. When the program runs, all of this is
# `dataclass(frozen=True, eq=False)` and the annotation of what may be given.
if TYPE_CHECKING:

    class Held(Generic[_Given, _Kept]):
        """Type of a field: ``Held[what may be given, what is held]``; nothing is ever assigned to it."""

        def __get__(self, part: object, owner: type | None = None, /) -> _Kept: ...
        def __set__(self, part: Never, value: _Given, /) -> None: ...

    def held(default: object) -> Any:
        """The default of a field of type `Held`."""

    @dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field, Field))
    def frozen(cls: type[_Class]) -> type[_Class]:
        """Make a frozen data class."""

    @dataclass_transform(eq_default=False, field_specifiers=(field, Field))
    def frozen_family(cls: type[_Class]) -> type[_Class]:
        """Make a frozen data class whose subclasses inherit fields of type `Held`.

        It says nothing of being frozen: mypy (2.4) takes an inherited field of a frozen class for what may be given.
        """

else:

    class Held:
        """What may be given, for those who look at annotations."""

        def __class_getitem__(cls, kinds: tuple[Any, Any]) -> Any:
            return kinds[0]

    def held(default):
        """The default of a field of type `Held`."""
        return default

    frozen = frozen_family = dataclass(frozen=True, eq=False)

HeldArray = Held[ArrayLike, NDArray[np.float64]]


def set_fields(part: object, **values: object) -> None:
    """Write normalised values into a frozen dataclass."""
    for key, value in values.items():
        if isinstance(value, np.ndarray):
            value = value.copy()
            value.setflags(write=False)
        object.__setattr__(part, key, value)


class Part:
    """Frozen, and so are its copies: pickle and deepcopy make arrays that could be written."""

    if TYPE_CHECKING:  # for dataclasses.replace and dataclasses.fields
        __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __setstate__(self, state: dict[str, object]) -> None:
        set_fields(self, **state)
