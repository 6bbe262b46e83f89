"""What functions of the user raise during a run: whose they are, and when."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from traceback import walk_tb
from typing import Any

from ..controllers.controller import Controller, Drive

__all__ = ["LawFailed", "is_of_user"]

_HOMES = {Path(__file__).parents[1], Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("platstdlib"))}
_INSTALLED = {"site-packages", "dist-packages"}  # folders of libraries, wherever they are


def is_of_user(error: BaseException) -> bool:
    """Whether a function that is neither of this package nor of a library was under way when an error was raised."""
    files = [frame.f_code.co_filename for frame, _ in walk_tb(error.__traceback__)]
    paths = (Path(file) for file in files if not file.startswith(("<frozen", "<__array_function__")))
    return any(not _HOMES.intersection(path.parents) and not _INSTALLED.intersection(path.parts) for path in paths)


class LawFailed(Exception):
    """Carries what a function of a law raised through the integrator, as its cause; says whose it is, and when."""

    def __init__(self, whose: Any, t: float, method: str = "__call__") -> None:
        if isinstance(whose, (Controller, Drive)):
            name = whose.function_name
        else:
            name = getattr(whose, "__qualname__", f"{type(whose).__name__}.{method}")  # functions have a name
        super().__init__(f"{name} failed at t = {t:.9g} s")
