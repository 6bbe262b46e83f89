"""Jobs in processes of their own, each with a limit of CPU time (POSIX): what hangs is killed and counted."""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import wait
from typing import Any, NamedTuple


class Failed(NamedTuple):
    """What a job has raised, or that its process was killed."""

    outcome: str
    text: str


def _work(pipe, function: Callable, limit: float) -> None:
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process, compiled loops and all, where its time is used up
    while (item := pipe.recv()) is not None:
        signal.setitimer(signal.ITIMER_PROF, limit)
        try:
            answer = function(item)
        except Exception:
            answer = Failed("unhandled", traceback.format_exc())
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        pipe.send(answer)


def each(
    function: Callable[[Any], Any], items: Iterable, jobs: int = 2, limit: float = 20.0
) -> Iterator[tuple[Any, Any]]:
    """(item, answer) as they come; the answer is `Failed` where the job has raised, or its process was killed.

    Parameters
    ----------
    function : callable
        Of one item; it and its answers can be pickled.
    items : iterable
    jobs : int
        Processes at a time.
    limit : float
        CPU seconds for each item.
    """
    context = multiprocessing.get_context("fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn")
    items = iter(items)
    busy: dict[Any, tuple[Any, Any]] = {}

    def start():
        here, there = context.Pipe()
        process = context.Process(target=_work, args=(there, function, limit), daemon=True)
        process.start()
        there.close()
        return here, process

    def give(here, process) -> None:
        try:
            item = next(items)
        except StopIteration:
            here.send(None)
            process.join()
            return
        here.send(item)
        busy[here] = process, item

    try:
        for _ in range(jobs):
            give(*start())
        while busy:
            for here in wait(list(busy)):
                process, item = busy.pop(here)
                try:
                    answer = here.recv()
                except EOFError:
                    process.join()
                    late = process.exitcode == -signal.SIGPROF
                    why = f"used {limit} s of CPU time" if late else f"ended with exit code {process.exitcode}"
                    yield item, Failed("killed", why)
                    give(*start())
                else:
                    yield item, answer
                    give(here, process)
    finally:
        for process, _ in busy.values():
            process.kill()
