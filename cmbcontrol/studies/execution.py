"""Where the runs of a study are done: here, on all cores, or on a cluster. All give the same rows."""

from __future__ import annotations

import os
import pickle
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import _check
from ..errors import InputError, InputTypeError
from .running import Row, Task, rows_of

__all__ = ["chunks_of", "execute"]

_LONGEST, _SHORTEST = 200, 1  # runs of a chunk
_TRIES = 2  # of a run that is alone in a process, before it counts as what has killed it
_COMING = 30  # s: workers of a cluster start in seconds; those of a queue that take longer are waited for by the user


def chunks_of(indices: Sequence[int], workers: int) -> list[list[int]]:
    """Runs that are done one after the other, and kept as one part.

    Some dozen chunks a worker, so that none waits long for the last one.
    """
    size = min(max(len(indices) // (16 * workers), _SHORTEST), _LONGEST)
    return [list(indices[i : i + size]) for i in range(0, len(indices), size)]


def execute(task: Task, indices: Sequence[int], workers: Any) -> Iterator[list[Row]]:
    """The rows of these runs, chunk by chunk as they are finished.

    Raises
    ------
    TypeError
        Where the case cannot be sent to another process.
    """
    if hasattr(workers, "submit") and hasattr(workers, "scheduler_info"):
        yield from _on_cluster(task, indices, workers)
        return
    count = (os.cpu_count() or 1) if workers == "all" else _check.count(workers, "workers")
    if count == 1:
        for chunk in chunks_of(indices, 1):
            yield rows_of(task, chunk)
    else:
        yield from _on_cores(task, chunks_of(indices, count), count)


def _packed(task: Task) -> bytes:
    """The task as other processes take it: functions of a notebook or a script, too."""
    import cloudpickle

    try:
        return cloudpickle.dumps(task)
    except Exception as error:
        raise InputTypeError(
            f"the case of the study cannot be sent to other processes: {type(error).__name__}: {error}. Make what it "
            "needs inside of it, or use workers=1"
        ) from error


def work(packed: bytes, chunk: Sequence[int]) -> list[Row]:
    """A chunk, in a worker."""
    global _known
    if _known is None or _known[0] != packed:
        _known = packed, pickle.loads(packed)
    return rows_of(_known[1], chunk)


_known: tuple[bytes, Task] | None = None  # the task of a worker: it is unpacked once


def _on_cores(task: Task, chunks: list[list[int]], count: int) -> Iterator[list[Row]]:
    """In processes. Where one of them dies, the runs that were under way are done one by one, to find which it was."""
    packed, lost = _packed(task), []
    waiting = deque(chunks)
    while waiting:
        yield from _pooled(packed, waiting, lost, min(count, len(waiting)))
        alone = deque([index] for chunk in lost for index in chunk)
        lost.clear()
        tries = Counter()
        while alone:
            yield from _pooled(packed, alone, lost, 1)
            for (index,) in lost:
                tries[index] += 1
                if tries[index] < _TRIES:
                    alone.appendleft([index])
                else:
                    yield [_died(index, task)]
            lost.clear()


def _pooled(packed: bytes, waiting: deque[list[int]], lost: list[list[int]], count: int) -> Iterator[list[Row]]:
    """Chunks in a pool of processes, until all are done or the pool breaks: then `lost` gets those under way."""
    from concurrent.futures import FIRST_COMPLETED, wait

    from joblib.externals.loky import ProcessPoolExecutor
    from joblib.externals.loky.process_executor import BrokenProcessPool

    ahead = 1 if count == 1 else 2 * count  # alone, there is no doubt which one it was
    pool, running = ProcessPoolExecutor(max_workers=count), {}
    try:
        while waiting or running:
            while waiting and len(running) < ahead:
                chunk = waiting.popleft()
                running[pool.submit(work, packed, chunk)] = chunk
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                rows = future.result()
                del running[future]
                yield rows
    except BrokenProcessPool:
        for future, chunk in running.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                yield future.result()
            else:
                lost.append(chunk)
    finally:
        pool.shutdown(wait=True, kill_workers=True)


def _died(index: int, task: Task) -> Row:
    message = "the process of the worker ended while it did this run: out of memory, or a crash of compiled code"
    return Row(index, dict.fromkeys(task.measures, np.nan), "worker died", message, np.nan, np.nan)


def _on_cluster(task: Task, indices: Sequence[int], client: Any) -> Iterator[list[Row]]:
    """With dask.distributed, whose scheduler gives chunks of workers that died to others, three times.

    What is still lost then is done run by run, with no other one on the way, to find which it was.
    """
    try:
        client.wait_for_workers(1, timeout=_COMING)  # which may be starting, or starting again
    except TimeoutError as error:
        raise InputError(f"the Dask cluster has had no workers for {_COMING} s: start some") from error
    threads = max(1, sum(client.nthreads().values()))
    lost: list[list[int]] = []
    yield from _submitted(task, deque(chunks_of(indices, threads)), lost, client, 4 * threads)
    alone, lost = deque([index] for chunk in lost for index in chunk), []
    yield from _submitted(task, alone, lost, client, 1)
    for (index,) in lost:
        yield [_died(index, task)]


def _submitted(
    task: Task, waiting: deque[list[int]], lost: list[list[int]], client: Any, ahead: int
) -> Iterator[list[Row]]:
    """Chunks on a cluster, so many at a time; `lost` gets those whose workers died.

    Each goes with the task, some ten kilobytes: data scattered beforehand are gone where all that held them died.
    """
    from distributed import KilledWorker, as_completed

    packed, chunk_of, running = _packed(task), {}, as_completed()
    while waiting or chunk_of:
        while waiting and len(chunk_of) < ahead:
            chunk = waiting.popleft()
            future = client.submit(work, packed, chunk, pure=False)
            chunk_of[future] = chunk
            running.add(future)
        future = next(running)
        chunk = chunk_of.pop(future)
        try:
            rows = future.result()
        except KilledWorker:
            lost.append(chunk)
        else:
            yield rows
        future.release()
