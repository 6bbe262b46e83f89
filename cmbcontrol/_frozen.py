"""Frozen data classes: parts of machines, and what they are described by."""

from __future__ import annotations

import numpy as np

__all__ = ["Part", "set_fields"]


def set_fields(part: object, **values: object) -> None:
    """Write normalised values into a frozen dataclass."""
    for key, value in values.items():
        if isinstance(value, np.ndarray):
            value = value.copy()
            value.setflags(write=False)
        object.__setattr__(part, key, value)


class Part:
    """Frozen, and so are its copies: pickle and deepcopy make arrays that could be written."""

    def __setstate__(self, state: dict[str, object]) -> None:
        set_fields(self, **state)
