"""What varies: lists, distributions, samples, and the numbers of each run."""

import numpy as np
import pytest
from scipy import stats

from cmbcontrol.studies import Vary
from cmbcontrol.studies.variation import table_of
from tests.fixtures import refuses


def test_lists_are_combined_with_samples():
    table = table_of({"a": [1.0, 2.0], "law": ["pd", "pid", "lqr"], "b": (0.0, 1.0)}, 5, "random", 3)
    assert table.runs == 30
    found = {(table.values(i)["a"], table.values(i)["law"]) for i in range(30)}
    assert len(found) == 6
    samples = table.columns["b"].reshape(6, 5)
    assert (samples == samples[0]).all() and len(set(samples[0])) == 5
    assert isinstance(table.values(7)["a"], float) and isinstance(table.values(7)["law"], str)


@pytest.mark.parametrize("sampling", ["random", "latin-hypercube", "sobol", "halton"])
def test_samples_follow_their_distributions(sampling):
    """Kolmogorov and Smirnov at 1 in 10,000; those that fill space do so better than random ones."""
    table = table_of({"x": stats.norm(2.0, 0.5), "y": (3.0, 5.0)}, 1024, sampling, 1)
    x, y = table.columns["x"], table.columns["y"]
    assert stats.kstest(x, "norm", (2.0, 0.5)).pvalue > 1e-4
    assert stats.kstest(y, "uniform", (3.0, 2.0)).pvalue > 1e-4
    error = abs(y.mean() - 4.0)
    assert error < (0.1 if sampling == "random" else 0.005)
    same = table_of({"x": stats.norm(2.0, 0.5), "y": (3.0, 5.0)}, 1024, sampling, 1)
    assert same.fingerprint == table.fingerprint
    other = table_of({"x": stats.norm(2.0, 0.5), "y": (3.0, 5.0)}, 1024, sampling, 2)
    assert other.fingerprint != table.fingerprint


def test_random_numbers_of_a_run_follow_from_seed_and_index():
    first, other = (table_of({"x": (0.0, 1.0)}, runs, "random", 5) for runs in (10, 1000))
    assert first.random(7).random() == other.random(7).random() != first.random(8).random()


def test_repetitions_without_parameters():
    assert table_of({}, 4, "random", 0).runs == 4


@pytest.mark.parametrize(
    ("vary", "runs", "sampling", "words"),
    [
        ({"x": (1.0, 0.0)}, 3, "random", ("'x'", "low < high")),
        ({"x": []}, 3, "random", ("'x'", "no values")),
        ({"x": [1.0, "a"]}, 3, "random", ("'x'", "all numbers or all texts")),
        ({"x": [float("nan")]}, 3, "random", ("'x'", "finite")),
        ({"x": "norm"}, 3, "random", ("'x'", "scipy.stats")),
        ({"x": 3.0}, 3, "random", ("'x'", "list of values")),
        ({"x": (0.0, 1.0)}, None, "random", ("runs=", "'x'")),
        ({"x": (0.0, 1.0)}, 100, "sobol", ("powers of two", "128")),
        ({"x": (0.0, 1.0)}, 3, "grid", ("sampling", "'grid'")),
        ({"x": (0.0, 1.0)}, 0, "random", ("runs",)),
        ({"rng": (0.0, 1.0)}, 3, "random", ("'rng'",)),
        ({"x": stats.norm(0.0, np.inf)}, 3, "random", ("'x'", "finite")),
    ],
)
def test_what_is_refused(vary, runs, sampling, words):
    refuses(lambda: table_of(vary, runs, sampling, 0), *words, kind=(ValueError, TypeError))


def test_units():
    assert table_of({"m": Vary(stats.norm(1.0, 0.1), "kg")}, 2, "random", 0).units == {"m": "kg"}
    refuses(lambda: Vary((0.0, 1.0), 3), "unit", kind=TypeError)
