"""Execution of the runs of a study: in this process, on all cores, or on a cluster, with the same rows."""

from __future__ import annotations

import os
import pickle
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import _check
from ..errors import InputError, InputTypeError
from .running import StudyRow, StudyTask, rows_of
from .variation import PartOfVariation, VariationTable

__all__ = ["Workers", "chunks_of"]

_LONGEST, _SHORTEST = 200, 1  # runs of a chunk
_TRIES = 2  # of a run that is alone in a process, before it counts as what has killed it
# A process has one core: where cores are busy, small matrices wait longer for threads of BLAS than they are worked on.
_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "VECLIB", "NUMEXPR")}
_COMING = 30  # s: workers of a cluster start in seconds; those of a queue that take longer are waited for by the user


def chunks_of(indices: Sequence[int], workers: int) -> list[list[int]]:
    """Chunks of runs, each of which one worker does and keeps as a part.

    There are some dozen chunks for each worker, shorter ones at the end, so that no worker waits long for the last.
    """
    size = min(max(len(indices) // (16 * workers), _SHORTEST), _LONGEST)
    chunks, begin = [], 0
    while begin < len(indices):
        shorter = size if workers == 1 else (len(indices) - begin) // (2 * workers)
        chunks.append(list(indices[begin : begin + max(min(size, shorter), _SHORTEST)]))
        begin += len(chunks[-1])
    return chunks


class Workers:
    """Workers that do runs: this process, other processes, or a cluster.

    Parameters
    ----------
    task : Task
    workers : int, "all" or dask.distributed.Client

    Attributes
    ----------
    here : bool
        Whether runs are done in this process.

    Raises
    ------
    TypeError
        Where the case cannot be sent to another process.
    """

    def __init__(self, task: StudyTask, workers: Any) -> None:
        self.task = task
        self._client = workers if hasattr(workers, "submit") and hasattr(workers, "scheduler_info") else None
        self.count = 1
        if self._client is None:
            self.count = (os.cpu_count() or 1) if workers == "all" else _check.count(workers, "workers")
        self.here = self.count == 1 and self._client is None
        self._packed = b"" if self.here else _packed(task)
        self._pool: Any = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        if self._pool is not None:
            pool, self._pool = self._pool, None
            pool.shutdown(wait=True, kill_workers=True)

    def rows(self, table: VariationTable, indices: Sequence[int]) -> Iterator[list[StudyRow]]:
        """Rows of these runs, chunk by chunk as they are finished."""
        if self._client is not None:
            yield from _on_cluster(self.task, self._packed, table, indices, self._client)
        elif self.count == 1:
            for chunk in chunks_of(indices, 1):
                yield rows_of(self.task, table.part(chunk))
        else:
            yield from self._on_cores(table, chunks_of(indices, self.count))

    def _on_cores(self, table: VariationTable, chunks: list[list[int]]) -> Iterator[list[StudyRow]]:
        """Rows from processes. If one dies, the unfinished runs are done one by one, to find which run it was."""
        lost: list[list[int]] = []
        waiting = deque(chunks)
        while waiting:
            yield from self._pooled(table, waiting, lost, 2 * self.count)
            alone = deque([index] for chunk in lost for index in chunk)
            lost.clear()
            tries: Counter[int] = Counter()
            while alone:
                yield from self._pooled(table, alone, lost, 1)  # alone, there is no doubt which one it was
                for (index,) in lost:
                    tries[index] += 1
                    if tries[index] < _TRIES:
                        alone.appendleft([index])
                    else:
                        yield [_died(index, self.task)]
                lost.clear()

    def _pooled(
        self, table: VariationTable, waiting: deque[list[int]], lost: list[list[int]], ahead: int
    ) -> Iterator[list[StudyRow]]:
        """Rows of chunks from the pool, until all are done or it breaks: then `lost` gets unfinished chunks."""
        from concurrent.futures import FIRST_COMPLETED, wait

        from joblib.externals.loky import ProcessPoolExecutor
        from joblib.externals.loky.process_executor import BrokenProcessPool

        if self._pool is None:
            self._pool = ProcessPoolExecutor(max_workers=self.count, env=_ONE_THREAD)
        running: dict[Any, list[int]] = {}
        try:
            while waiting or running:
                while waiting and len(running) < ahead:
                    chunk = waiting.popleft()
                    running[self._pool.submit(work, self._packed, table.part(chunk))] = chunk
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
            self._close()


def _packed(task: StudyTask) -> bytes:
    """Task as bytes for other processes, with functions of a notebook or a script."""
    import cloudpickle

    try:
        return cloudpickle.dumps(task)
    except Exception as error:
        raise InputTypeError(
            f"the case of the study cannot be sent to other processes: {type(error).__name__}: {error}. Make what it "
            "needs inside of it, or use workers=1"
        ) from error


def work(packed: bytes, part: PartOfVariation) -> list[StudyRow]:
    """Rows of a chunk, computed in a worker."""
    global _known
    if _known is None or _known[0] != packed:
        _known = packed, pickle.loads(packed)
    return rows_of(_known[1], part)


_known: tuple[bytes, StudyTask] | None = None  # the task of a worker: it is unpacked once


def _died(index: int, task: StudyTask) -> StudyRow:
    message = "the process of the worker ended while it did this run: out of memory, or a crash of compiled code"
    return StudyRow(index, dict.fromkeys(task.measures, np.nan), "worker died", message, np.nan, np.nan)


def _on_cluster(
    task: StudyTask, packed: bytes, table: VariationTable, indices: Sequence[int], client: Any
) -> Iterator[list[StudyRow]]:
    """Rows from dask.distributed, whose scheduler gives chunks of dead workers to others, up to three times.

    Runs that are still lost are done one by one, to find which of them ends the worker.
    """
    try:
        client.wait_for_workers(1, timeout=_COMING)  # which may be starting, or starting again
    except TimeoutError as error:
        raise InputError(f"the Dask cluster has had no workers for {_COMING} s: start some") from error
    threads = max(1, sum(client.nthreads().values()))
    lost: list[list[int]] = []
    yield from _submitted(packed, table, deque(chunks_of(indices, threads)), lost, client, 4 * threads)
    alone, lost = deque([index] for chunk in lost for index in chunk), []
    yield from _submitted(packed, table, alone, lost, client, 1)
    for (index,) in lost:
        yield [_died(index, task)]


def _submitted(
    packed: bytes, table: VariationTable, waiting: deque[list[int]], lost: list[list[int]], client: Any, ahead: int
) -> Iterator[list[StudyRow]]:
    """Rows of chunks from a cluster, so many at a time; `lost` gets those whose workers died.

    Each goes with the task, some ten kilobytes, and its part of the table: data scattered beforehand are gone where all
    that held them died.
    """
    from distributed import KilledWorker, as_completed

    chunk_of: dict[Any, Any] = {}
    running = as_completed()
    while waiting or chunk_of:
        while waiting and len(chunk_of) < ahead:
            chunk = waiting.popleft()
            future = client.submit(work, packed, table.part(chunk), pure=False)
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
