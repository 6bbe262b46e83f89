"""Derivatives of expressions against differences of numbers, with symbols and with numbers."""

import math

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.trace import numbers
from cmbcontrol.trace.functions import Function, Tracing
from cmbcontrol.trace.graph import Graph
from cmbcontrol.trace.machine import Parameters
from cmbcontrol.trace.tangents import GuardBroken, Moves, balance, evaluated, partials, tangents
from tests.fixtures import slope

EXPRESSIONS = {
    "sums": lambda x, y: x - (y + x) - (-y) * 3.0,
    "product": lambda x, y: x * y * x,
    "quotient": lambda x, y: (x + 2.0) / (y * y + 1.0),
    "sin": lambda x, y: numbers.sin(x * y),
    "cos": lambda x, y: numbers.cos(x - 2.0 * y),
    "sqrt": lambda x, y: numbers.sqrt(x * x + y * y),
    "abs": lambda x, y: abs(x) * y,
    "rint": lambda x, y: x - numbers.round(3.0 * x + 0.2) * y,
    "atan2": lambda x, y: numbers.arctan2(x * y, x - y),
    "min": lambda x, y: numbers.minimum(x * x, y + 0.1),
    "max": lambda x, y: numbers.maximum(x * x, y + 0.1),
    "exp": lambda x, y: np.exp(x * y) if isinstance(x, float) else (x * y).function("exp"),
    "tanh": lambda x, y: np.tanh(x - y) if isinstance(x, float) else (x - y).function("tanh"),
    "select": lambda x, y: (x * y if x < y else x - y) if isinstance(x, float) else x.graph.select(x, y, x * y, x - y),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("at", [(0.7, -0.4), (-1.2, 0.9), (0.3, 0.8)])
def test_every_operation(name, at):
    graph, expression = Graph(), EXPRESSIONS[name]
    given = [graph.input("x", i, value) for i, value in enumerate(at)]
    function = Function(graph, 2, [expression(*given)])
    truth = [slope(lambda s, i=i: expression(*(x + s * (i == k) for k, x in enumerate(at))), 1e-3) for i in range(2)]
    ((value, found),) = tangents(function, lambda _, i: (at[i], {i: 1.0}))
    assert value == pytest.approx(expression(*at), rel=1e-15)
    assert [found.get(i, 0.0) for i in range(2)] == pytest.approx(truth, rel=1e-10, abs=1e-11)
    again = Graph()
    ((_, symbols),) = tangents(function, lambda _, i: (again.input("x", i, at[i]), {i: 1.0}))
    told = [symbols.get(i, 0.0) for i in range(2)]
    assert [x if isinstance(x, float) else x.value for x in told] == pytest.approx(truth, rel=1e-10, abs=1e-11)


def test_what_is_zero_has_a_derivative():
    """Folded as a value, and not as what it is differentiated by."""
    graph = Graph()
    x, y = (graph.input("x", i, value) for i, value in enumerate((0.0, 2.0)))
    function = Function(graph, 2, [x * y * y])
    ((value, found),) = tangents(function, lambda _, i: (0.0, {0: 1.0}) if i == 0 else (2.0, {}))
    assert value == 0.0
    assert found == {0: 4.0}


def test_a_comparison_that_is_decided_otherwise():
    graph = Graph()
    x = graph.input("x", 0, 1.0)
    function = Function(graph, 1, [x * x if x > 0.5 else -x])
    assert tangents(function, lambda _, i: (2.0, {0: 1.0})) == [(4.0, {0: 4.0})]
    with pytest.raises(GuardBroken):
        tangents(function, lambda _, i: (0.2, {0: 1.0}))


def test_division_by_what_is_zero_tells_nan():
    graph = Graph()
    x = graph.input("x", 0, 1.0)
    ((value, found),) = tangents(Function(graph, 1, [2.0 / x]), lambda _, i: (0.0, {0: 1.0}))
    assert math.isnan(value) and math.isnan(found[0])


def test_the_balance_of_a_machine():
    """M a + h + A'lam - B u and A a + b, of the terms, and only the inputs that move are there by name."""
    plant = plants.delta()
    rng = np.random.default_rng(0)
    q = plant.integrate(plant.neutral(), 0.1 * rng.standard_normal(plant.nv))
    v, a, lam, u = (rng.standard_normal(n) for n in (plant.nv, plant.nv, len(plant.row_names), plant.nu))
    function = balance(Tracing(plant.arrays, Parameters(plant.arrays), (), q))
    x = np.concatenate([q, v, a, lam, u])
    values = Parameters(plant.arrays).values
    found = [value for value, _ in tangents(function, lambda array, i: ((values if array == "p" else x)[i], {}))]
    terms = plant.terms(q, v)
    force = terms.M @ a + terms.h + terms.A.T @ lam - terms.B @ u
    np.testing.assert_allclose(found, np.concatenate([force, terms.A @ a + terms.b, terms.phi]), rtol=1e-11, atol=1e-12)


def test_a_function_of_derivatives_has_only_those_that_are_not_zero():
    plant = plants.five_bar()
    parameters, sample = Parameters(plant.arrays), plant.assemble(left=2.1, right=1.0)
    first = int(np.flatnonzero(parameters.values == 2.0)[0])  # a mass
    moves = Moves([{first: 1.0}, {}])
    traced = balance(Tracing(plant.arrays, parameters.without_structure(moves.of_number), (), sample))
    made = partials(traced, parameters, moves)
    assert 0 < len(made.places) <= plant.nv
    assert set(made.places % 2) == {0}
    x = np.concatenate([sample, np.ones(4), np.ones(4), np.ones(2), np.ones(2)])
    told = evaluated(traced, parameters.values, moves, x)
    assert np.flatnonzero(told.ravel()).tolist() == made.places.tolist()
