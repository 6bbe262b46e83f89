"""Progress of a long computation: reported to a function, to a progress bar, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .errors import InputTypeError

__all__ = ["Progress", "Reporter"]

Progress = bool | Callable[[float], None]


class Reporter:
    """Reporter of the fraction that is done.

    Parameters
    ----------
    progress : bool or callable
        True: a progress bar on the terminal, within a ``with`` statement. A callable gets the fraction; one that has a
        method `keep` gets the finished values with it.
    title : str
        Title of the bar.
    """

    def __init__(self, progress: Progress, title: str) -> None:
        if not callable(progress) and progress is not True and progress is not False:
            raise InputTypeError(f"progress must be True, False or a function of the fraction, got {progress!r}")
        self._tell = progress if callable(progress) else None
        self._keep = getattr(progress, "keep", None)
        self._bar, self.title = None, title
        if progress is True:
            from rich.progress import Progress as Bar  # imported where used

            self._bar = Bar(transient=True)

    def __enter__(self) -> Reporter:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task(self.title, total=1.0)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, fraction: float, *done: Mapping[str, Any]) -> None:
        """Report the fraction that is done, and what is finished by now: a name and a number or text for each."""
        if self._keep is not None and done:
            self._keep(done)
        if self._tell is not None:
            self._tell(fraction)
        if self._bar is not None:
            self._bar.update(self._task, completed=fraction)
