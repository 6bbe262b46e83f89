"""What varies: lists, distributions, samples, and the numbers of each run."""

import numpy as np
import pytest
from scipy import stats

from cmbcontrol.studies import Vary, study
from cmbcontrol.studies.variation import balance_of, table_of
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
    draw = [table.part([7, 8]).random(k).random() for table in (first, other) for k in (0, 1)]
    assert draw[0] == draw[2] != draw[1]


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


def test_designs_of_others():
    """Points of the unit cube; Morris' elementary effects of a linear function are its coefficients."""
    from SALib.analyze import morris as analysis
    from SALib.sample import morris as sample

    from cmbcontrol.studies import study

    problem = {"num_vars": 3, "names": ["a", "b", "c"], "bounds": [[0.0, 1.0]] * 3}
    points = sample.sample(problem, 12, num_levels=4, seed=3)
    vary = {"a": (0.0, 2.0), "b": (-1.0, 1.0), "c": stats.uniform(0.0, 4.0)}
    found = study(lambda a, b, c: {"y": 3.0 * a - b + 0.5 * c}, vary, sampling=points)
    effects = analysis.analyze(problem, points, found.data["y"].values, num_levels=4, seed=3)
    assert np.asarray(effects["mu"]) == pytest.approx([6.0, -2.0, 2.0], rel=1e-9)
    assert found.data.attrs["sampling"] == "given" and found.data.sizes["run"] == len(points)
    both = table_of({"a": (0.0, 2.0), "n": [1, 2]}, None, [[0.25], [0.5]], 0)
    assert both.columns["a"].tolist() == [0.5, 1.0, 0.5, 1.0] and both.columns["n"].tolist() == [1, 1, 2, 2]
    for wrong, said in (([[0.1, 0.2]], "each of the 1"), ([[1.5]], "from 0 to 1"), ([0.1], "each of the 1")):
        with pytest.raises(ValueError, match=said):
            table_of({"a": (0.0, 1.0)}, None, wrong, 0)
    with pytest.raises(ValueError, match="2 points, and runs=3"):
        table_of({"a": (0.0, 1.0)}, 3, [[0.1], [0.2]], 0)


@pytest.mark.parametrize("runs", [1, 2, 3, 300, 511, 512])
def test_sobol_samples_of_any_number(runs):
    """The first ones of the next power of two, without a word of scipy's; what is balanced is told."""
    more = 1 << (runs - 1).bit_length()
    found = table_of({"x": (0.0, 1.0), "y": (0.0, 1.0)}, runs, "sobol", 4).columns["x"]
    whole = table_of({"x": (0.0, 1.0), "y": (0.0, 1.0)}, more, "sobol", 4).columns["x"]
    np.testing.assert_array_equal(found, whole[:runs])
    told = balance_of("sobol", runs)
    assert (told == "") == (runs == more)
    if told:
        assert f"the first of {more}" in told


def test_a_study_tells_that_its_samples_are_not_balanced():
    found = study(lambda x, z: {"y": x + z}, {"x": (0.0, 1.0), "z": [1.0, 2.0]}, runs=6, sampling="sobol")
    assert "6 Sobol samples are the first of 8" in str(found)
    assert "Sobol" not in str(study(lambda x: {"y": x}, {"x": (0.0, 1.0)}, runs=8, sampling="sobol"))
