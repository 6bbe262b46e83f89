"""The rank of `kernels.split.factor_rows` against exact ones: python -m tests.robustness.factor_rows --count N."""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from cmbcontrol.kernels import split

BATCH = 500


def exact_ranks(A):
    """Ranks of a stack of integer matrices (B, r, n), by Bareiss' fraction-free elimination with full pivoting."""
    A = np.array(A, dtype=np.int64)
    count, rows, columns = A.shape
    rank, last = np.zeros(count, int), np.ones(count, np.int64)
    here = np.arange(count)
    for k in range(min(rows, columns)):
        left = A[here, k:, k:]
        flat = (left != 0).reshape(len(here), -1)
        some = flat.any(axis=1)
        here, flat = here[some], flat[some]
        if not len(here):
            break
        rank[here] += 1
        where = flat.argmax(axis=1)
        i, j = k + where // (columns - k), k + where % (columns - k)
        A[here, i], A[here, k] = A[here, k], A[here, i]
        A[here, :, j], A[here, :, k] = A[here, :, k], A[here, :, j]
        pivot = A[here, k, k]
        if k + 1 < min(rows, columns):
            block = A[here, k + 1 :, k + 1 :]
            outer = A[here, k + 1 :, k, None] * A[here, k, None, k + 1 :]
            A[here, k + 1 :, k + 1 :] = (pivot[:, None, None] * block - outer) // last[here, None, None]
        last[here] = pivot
    return rank


def stack(rng, count):
    """Integer matrices with redundant rows, of one shape: dense, thin, banded, or with rows written twice."""
    r, n = int(rng.integers(2, 6)), int(rng.integers(3, 7))
    k = int(rng.integers(1, min(r, n) + 1))
    top = int(rng.integers(1, 3))
    A = rng.integers(-top, top + 1, (count, r + 2, k)) @ rng.integers(-2, 3, (count, k, n))
    kind = rng.integers(4)
    if kind == 1:
        A = A * (rng.random(A.shape) < 0.5)
    elif kind == 2:
        reach = np.abs(np.arange(r + 2)[:, None] * n / (r + 2) - np.arange(n)) < 2.0
        A = A * reach
    elif kind == 3:
        A[:, rng.permutation(r + 2)[:2]] = A[:, :1] * rng.integers(-2, 3, (count, 2, 1))
    return A


def wrong(seed, count):
    """(matrix, exact rank, rank found) where they differ."""
    rng = np.random.default_rng([13, seed])
    found = []
    for start in range(0, count, BATCH):
        A = stack(rng, min(BATCH, count - start))
        truth = exact_ranks(A)
        rows = split.new_rows(*A.shape[1:])
        for i in range(len(A)):
            split.take_rows(A[i].astype(float), rows)
            rank = split.factor_rows(rows, 1e-10, 0.0, min(A.shape[1:]))
            if rank != truth[i]:
                found.append((A[i], int(truth[i]), rank))
    return found


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    begin, bad, slice_ = time.monotonic(), [], 200 * BATCH
    for i, start in enumerate(range(0, given.count, slice_)):
        bad += wrong(given.seed + i, min(slice_, given.count - start))
        print(
            f"{min(start + slice_, given.count)} matrices, {len(bad)} wrong, {time.monotonic() - begin:.0f} s",
            flush=True,
        )
    for A, truth, found in bad[:5]:
        print(f"exact rank {truth}, found {found}: {A.tolist()}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
