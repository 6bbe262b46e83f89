"""Progress of a long computation: reported to a function, to a progress bar, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .errors import InputTypeError

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

__all__ = ["Progress", "Reporter", "Tally", "bars"]

Progress = bool | Callable[[float], None]


def bars(terminal: bool | None = None) -> Bars:
    """Progress bars on the terminal: what is done, how many of how many, the time since the start, the time left.

    The time left follows from the speed of the last half minute. Where standard error is no terminal (and no notebook),
    nothing is shown; `terminal` says whether it is one.
    """
    from rich.console import Console  # imported where used
    from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars
    from rich.text import Text

    class Done(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(done_of(task.completed, task.fields["count"]))

    class Left(TimeRemainingColumn):
        def render(self, task: Task) -> Text:
            return Text("" if task.time_remaining is None else f"{super().render(task)} left")

    console = Console(stderr=True, force_terminal=terminal)
    columns = TextColumn("{task.description:<14}"), BarColumn(24), Done(), TimeElapsedColumn(), Left()
    shown = console.is_terminal or console.is_jupyter
    return Bars(*columns, console=console, transient=True, disable=not shown)


def done_of(fraction: float, count: int | None) -> str:
    """Words on what is done: of a count, or of a whole.

    Examples
    --------
    >>> done_of(0.25, 64), done_of(0.25, None)
    ('16 of 64', ' 25 %')
    """
    return f"{100.0 * fraction:3.0f} %" if count is None else f"{round(fraction * count):{len(str(count))}d} of {count}"


class Tally:
    """Bar of one step, to be called with the fraction that is done."""

    def __init__(self, shown: Bars, title: str) -> None:
        self._bars = shown
        self._task: TaskID = shown.add_task(title, total=1.0, count=None)

    def __call__(self, fraction: float) -> None:
        self._bars.update(self._task, completed=fraction)

    def expect(self, count: int) -> None:
        """Show how many of `count` are done, in place of a percentage."""
        self._bars.update(self._task, count=count)


class Reporter:
    """Reporter of the fraction that is done.

    Parameters
    ----------
    progress : bool or callable
        True: a progress bar on the terminal, within a ``with`` statement. A callable gets the fraction; one that has a
        method `keep` gets the finished values with it, and one that has a method `expect` the count.
    title : str
        Title of the bar.
    count : int, optional
        Of what is to be done, such as runs.
    """

    def __init__(self, progress: Progress, title: str, count: int | None = None) -> None:
        if not callable(progress) and progress is not True and progress is not False:
            raise InputTypeError(f"progress must be True, False or a function of the fraction, got {progress!r}")
        self._tell = progress if callable(progress) else None
        self._keep = getattr(progress, "keep", None)
        self._bars = bars() if progress is True else None
        self.title, self.count = title, count
        self._expect(progress)

    def __enter__(self) -> Reporter:
        if self._bars is not None:
            self._bars.start()
            self._tell = Tally(self._bars, self.title)
            self._expect(self._tell)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def _expect(self, told: Any) -> None:
        expect = getattr(told, "expect", None)
        if expect is not None and self.count is not None:
            expect(self.count)

    def update(self, fraction: float, *done: Mapping[str, Any]) -> None:
        """Report the fraction that is done, and what is finished by now: a name and a number or text for each."""
        if self._keep is not None and done:
            self._keep(done)
        if self._tell is not None:
            self._tell(fraction)
