"""Ctrl-C during long computations: it waits for a moment at which nothing is lost, and a second one does not wait."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["held", "let_through", "noted"]


class _Keyboard:
    """Handler of SIGINT that delays the first signal for the original handler, and passes on others at once."""

    def __init__(self, handler: Callable[[int, Any], Any]) -> None:
        self.handler = handler
        self.came = self.waiting = False

    def __call__(self, number: int, frame: Any) -> None:
        if self.came:
            self.waiting = False
            self.handler(number, frame)
        else:
            self.came = self.waiting = True

    def let_through(self) -> None:
        if self.waiting:
            self.waiting = False
            self.handler(signal.SIGINT, None)


_keyboard: _Keyboard | None = None


@contextmanager
def held() -> Iterator[None]:
    """Context in which Ctrl-C waits until `let_through` is called, or until the end; a second one acts at once.

    Python runs handlers of signals in the main thread; in other threads this does nothing.
    """
    global _keyboard
    handler = signal.getsignal(signal.SIGINT)
    if not _in_main_thread() or _keyboard is not None or not callable(handler):
        yield
        return
    keyboard = _Keyboard(handler)
    try:
        _keyboard = keyboard
        signal.signal(signal.SIGINT, keyboard)
        yield
    finally:
        _keyboard = None
        signal.signal(signal.SIGINT, handler)
        keyboard.let_through()


def let_through() -> None:
    """Let a waiting Ctrl-C act: if Python itself handles it, this raises KeyboardInterrupt."""
    if _keyboard is not None and _in_main_thread():
        _keyboard.let_through()


@contextmanager
def noted() -> Iterator[Callable[[], bool]]:
    """Context with a function that returns whether Ctrl-C has come.

    The exception of a Ctrl-C may arrive as another one: extension modules that are being loaded, and compiled
    code that has just returned, turn it into an ImportError or a SystemError.
    """
    handler = signal.getsignal(signal.SIGINT)
    came: list[int] = []

    def note(number: int, frame: Any) -> None:
        came.append(number)
        handler(number, frame)  # type: ignore[operator, misc]

    if not _in_main_thread() or not callable(handler):
        yield lambda: False
        return
    try:
        signal.signal(signal.SIGINT, note)
        yield lambda: bool(came)
    finally:
        signal.signal(signal.SIGINT, handler)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _in_a_fork() -> None:
    """Forget a waiting Ctrl-C in a process that was forked meanwhile."""
    global _keyboard
    if _keyboard is not None:
        signal.signal(signal.SIGINT, _keyboard.handler)
        _keyboard = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_a_fork)
