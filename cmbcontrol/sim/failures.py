"""Exceptions that functions of the user raise during a run: whose function it was, and when."""

from __future__ import annotations

from typing import Any

from ..controllers.controller import Controller, Drive
from ..errors import frames_of_user

__all__ = ["LawFailed", "is_of_user"]


def is_of_user(error: BaseException) -> bool:
    """Whether a function that is neither of this package nor of a library was running when an error was raised."""
    return bool(frames_of_user(error))


class LawFailed(Exception):
    """Exception that carries one (its cause) of a law or another function of the user, with its name and the time."""

    def __init__(self, whose: Any, t: float, method: str = "__call__") -> None:
        if isinstance(whose, (Controller, Drive)):
            name = whose.function_name
        else:
            name = getattr(whose, "__qualname__", f"{type(whose).__name__}.{method}")  # functions have a name
        super().__init__(f"{name} failed at t = {t:.9g} s")
