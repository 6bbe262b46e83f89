"""The rank of `factor_rows` is exact on integer matrices."""

from fractions import Fraction

import numpy as np
import pytest

from tests.seeds import rotating

from . import factor_rows


def by_fractions(A):
    """The rank, by elimination with fractions."""
    rows, rank = [[Fraction(int(x)) for x in row] for row in A], 0
    for c in range(len(rows[0])):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][c]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            f = rows[i][c] / rows[rank][c]
            rows[i] = [a - f * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


def test_the_exact_ranks_are_exact():
    rng = np.random.default_rng(0)
    for _ in range(30):
        A = factor_rows.stack(rng, 10)
        assert factor_rows.exact_ranks(A).tolist() == [by_fractions(a) for a in A]


def require_exact(seed, count):
    bad = factor_rows.wrong(seed, count)
    lines = [f"exact rank {truth}, found {found}: {A.tolist()}" for A, truth, found in bad[:5]]
    assert not bad, f"{len(bad)} of {count}:\n" + "\n".join(lines)


@pytest.mark.nojit_slow
def test_ranks_of_integer_matrices():
    require_exact(0, 20_000)


@pytest.mark.nojit_slow
@pytest.mark.slow
@pytest.mark.parametrize("seed", rotating(3))
def test_ranks_of_more_integer_matrices(seed):
    require_exact(seed, 100_000)
