"""Objects that keep the arguments they were made with, so that files can describe them."""

from __future__ import annotations

from functools import wraps
from typing import Any, ClassVar

import numpy as np

from . import _check

__all__ = ["KeepsArguments"]


class KeepsArguments:
    """Base of objects that can be made again from their arguments: laws, blocks, tasks, references.

    Dataclasses among them need nothing more: their fields are the arguments.

    Examples
    --------
    >>> class Gain(KeepsArguments):
    ...     def __init__(self, kp, kd=1.0):
    ...         self.product = kp * kd
    >>> Gain(2.0, kd=3.0)._arguments
    ((2.0,), {'kd': 3.0})
    """

    _arguments: ClassVar[tuple[tuple[Any, ...], dict[str, Any]]] = (), {}  # objects have their own

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        made = vars(cls).get("__init__")
        if made is None:
            return
        made = _check.knows_its_keywords(made)

        @wraps(made)
        def init(self: Any, *arguments: Any, **options: Any) -> None:
            if "_arguments" not in vars(self):  # those of the class that is made, not of its bases
                kept = tuple(map(_copied, arguments)), {name: _copied(x) for name, x in options.items()}
                object.__setattr__(self, "_arguments", kept)  # frozen ones, too
            made(self, *arguments, **options)

        cls.__init__ = init


def _copied(x: Any) -> Any:
    """Copy of arrays and lists, which their owner may change later."""
    if isinstance(x, np.ndarray):
        return x.copy()
    return list(x) if isinstance(x, list) else dict(x) if isinstance(x, dict) else x
