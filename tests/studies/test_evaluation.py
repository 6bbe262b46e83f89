"""Statistics, yield, and sensitivities: closed forms, and how often intervals hold what they should."""

import numpy as np
import pytest
from scipy import stats

from cmbcontrol.studies import sobol_indices, study
from tests.fixtures import refuses

from . import cases


def ishigami(a, b, c):
    return {"y": np.sin(a) + 7.0 * np.sin(b) ** 2 + 0.1 * c**4 * np.sin(a)}


@pytest.mark.slow
def test_sobol_indices_of_ishigami():
    """Closed form: V = 1/2 + 49/8 + 0.1 pi^4 / 5 + 0.01 pi^8 / 18."""
    bounds = (-np.pi, np.pi)
    found = sobol_indices(ishigami, {"a": bounds, "b": bounds, "c": bounds}, "y", runs=4096)
    of_a, of_b = 0.5 * (1.0 + 0.1 * np.pi**4 / 5.0) ** 2, 49.0 / 8.0
    of_ac = 0.01 * np.pi**8 * (1.0 / 18.0 - 1.0 / 50.0)
    V = of_a + of_b + of_ac
    assert found.first.values == pytest.approx([of_a / V, of_b / V, 0.0], abs=0.02)
    assert found.total.values == pytest.approx([(of_a + of_ac) / V, of_b / V, of_ac / V], abs=0.02)
    assert (found.first_low <= found.first).all() and (found.first <= found.first_high).all()
    assert found.attrs["runs"] == 5 * 4096 and found.attrs["failures"] == 0


def test_sobol_indices_of_a_pendulum():
    """log of the frequency is a sum, so its indices are the parts of its variance; the mass has none."""

    def case(length, mass, gravity):
        return {"log": np.log(cases.frequency(length, mass, gravity)["frequency"])}

    spread = {"length": stats.lognorm(0.10), "mass": stats.lognorm(0.3), "gravity": stats.lognorm(0.05)}
    found = sobol_indices(case, spread, "log", runs=2048)
    parts = np.array([0.10**2, 0.0, 0.05**2])
    assert found.first.values == pytest.approx(parts / parts.sum(), abs=0.03)
    assert found.total.values == pytest.approx(parts / parts.sum(), abs=0.03)


def test_regression():
    def case(x, y, text):
        return {"z": 3.0 * x - 2.0 * y}

    found = study(case, {"x": (0.0, 1.0), "y": (0.0, 2.0), "text": ["a", "b"]}, runs=50)
    told = found.sensitivities("z")
    assert told.slope.values == pytest.approx([3.0, -2.0]) and float(told.explained) == pytest.approx(1.0)
    assert list(told.parameter.values) == ["x", "y"]
    assert told.rank_correlation.values[0] > 0.3 > -0.3 > told.rank_correlation.values[1]


def test_yield_and_quantiles_hold_what_they_say():
    """Coverage of intervals, over many studies: not less than they say, by chance of 1 in 10,000."""
    shares, quantiles = 0, 0
    for seed in range(200):
        found = study(lambda x: {"y": x}, {"x": (0.0, 1.0)}, runs=60, seed=seed)
        told = found.share(("y", 0.0, 0.8), confidence=0.9)
        shares += float(told.low) <= 0.8 <= float(told.high)
        of_y = found.statistics("y", confidence=0.9, quantiles=[0.5])
        quantiles += float(of_y.quantile_low[0]) <= 0.5 <= float(of_y.quantile_high[0])
    assert stats.binom.cdf(shares, 200, 0.88) > 1e-4
    assert stats.binom.cdf(quantiles, 200, 0.9) > 1e-4


def test_failed_runs_are_not_within_limits():
    found = study(cases.sometimes, {"number": [float(i) for i in (1, 2, 50, 3)]})
    told = found.share(("value", -np.inf, np.inf))
    assert float(told.share) == 0.75 and int(told["count"]) == 3
    assert found.worst("value", 2) == [3, 1] and found.worst("value", largest=False) == [0]


@pytest.mark.smoke
def test_what_is_refused():
    found = study(lambda x: {"y": x}, {"x": [1.0]})
    refuses(lambda: found.statistics("y"), "'y'", "two or more", kind=ValueError)
    refuses(lambda: found.sensitivities("y"), "no numeric parameter varies", kind=ValueError)
    refuses(lambda: found.share(), "limits", kind=ValueError)
    refuses(lambda: found.share(("y", 0.0)), "(measure, low, high)", kind=ValueError)
    refuses(lambda: found.statistics("z"), "'z'", kind=ValueError)
    more = study(lambda x: {"y": x}, {"x": [1.0, 2.0, 3.0, 4.0]})
    refuses(lambda: more.statistics("y", confidence=1.0), "confidence", kind=ValueError)
    refuses(lambda: more.statistics("y", quantiles=[0.0]), "quantiles", kind=ValueError)
    refuses(lambda: sobol_indices(ishigami, {"a": [1.0]}, "y"), "list", kind=ValueError)
    refuses(
        lambda: sobol_indices(lambda a: {"y": a}, {"a": (0.0, 1.0)}, "y", runs=100), "power of two", kind=ValueError
    )
    refuses(lambda: sobol_indices(lambda a: {"y": a}, {"a": (0.0, 1.0)}, "z", runs=16), "'z'", kind=ValueError)
