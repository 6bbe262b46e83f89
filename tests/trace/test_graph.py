"""Expressions: each is there once, what is known is folded, and what is decided is guarded."""

import math

import numpy as np
import pytest

from cmbcontrol.trace.elimination import is_zero
from cmbcontrol.trace.graph import Graph, Scalar


@pytest.fixture
def graph():
    return Graph()


@pytest.fixture
def xyz(graph):
    return [graph.input("x", i, value) for i, value in enumerate((2.0, -3.0, 0.5))]


def test_equal_expressions_are_one(graph, xyz):
    x, y, z = xyz
    before = len(graph.nodes)
    first = (x + y) * z - x
    made = len(graph.nodes)
    assert made == before + 3
    second = z * (y + x) - x
    assert second == first
    assert len(graph.nodes) == made


def test_zeros_and_ones_vanish(graph, xyz):
    x, y, _ = xyz
    before = len(graph.nodes)
    assert x + 0.0 == x
    assert 0.0 + x == x
    assert x * 1.0 == x
    assert x * 0.0 == 0.0
    assert 0.0 * x == 0.0
    assert 0.0 / x == 0.0
    assert x - 0.0 == x
    assert x - x == 0.0
    assert x / x == 1.0
    assert len(graph.nodes) == before
    assert -1.0 * (-x) == x
    assert -(x - y) == y - x
    assert x + -y == x - y
    assert (-x) * y == -(x * y)
    assert x * -1.0 == -x


def test_no_other_number_is_a_zero(graph, xyz):
    x, *_ = xyz
    zero = graph.input("x", 7, 0.0)  # at the sample, but not elsewhere
    assert isinstance(x * zero, Scalar)
    assert not is_zero(zero)
    assert not graph.guards


def test_numbers_are_compared_for_those_outside(graph):
    """What a law of a user asks: as at the sample, and told where it would be decided otherwise."""
    x, same = graph.input("x", 0, 2.0), graph.input("x", 1, 2.0)
    assert x == x
    assert not graph.guards
    assert x == 2.0 and x == same and x != 3.0
    assert sorted(graph.guards.values()) == [False, False, False, False, True]


def test_values_are_those_of_numbers(graph):
    rng = np.random.default_rng(3)
    numbers = rng.uniform(0.2, 2.0, 4)
    a, b, c, d = (graph.input("x", i, value) for i, value in enumerate(numbers))

    def expression(a, b, c, d, sin, cos, sqrt, atan2):
        return sin(a - 2.0 * b) / (1.0 + c**2) - sqrt(d) * cos(-c) + 3.0 - atan2(a, -b) + abs(-d * c) - (2.0 - a) / 4.0

    found = expression(
        a, b, c, d, *(lambda x, name=name: x.function(name) for name in ("sin", "cos", "sqrt")), graph.atan2
    )
    assert found.value == pytest.approx(expression(*numbers, math.sin, math.cos, math.sqrt, math.atan2), rel=1e-15)


def test_sine_and_cosine_of_a_negative_angle_are_those_of_the_angle(graph, xyz):
    x, *_ = xyz
    assert (-x).function("sin") == -(x.function("sin"))
    assert (-x).function("cos") == x.function("cos")


def test_comparisons_decide_by_the_sample_and_are_kept(graph, xyz):
    x, y, z = xyz
    assert x > y
    assert not x < z
    assert y <= z
    assert z >= 0.25
    decided = {(graph.nodes[k][0], truth) for k, truth in graph.guards.items()}
    assert decided == {("lt", True), ("lt", False)}
    assert len(graph.guards) == 4


def test_a_symbol_has_no_truth_and_any_power(xyz):
    x, *_ = xyz
    with pytest.raises(TypeError, match="whether it is true"):
        bool(x)
    for power in range(6):
        assert (
            x**power == pytest.approx(x.value**power)
            if power == 0
            else (x**power).value == pytest.approx(x.value**power)
        )
    positive = x * x + 0.3
    for power in (-3, -1, 0.5, 1.4, -0.7, 6, 12, 40):
        assert (positive**power).value == pytest.approx(positive.value**power, rel=1e-14)
    assert (x**-3).value == pytest.approx(x.value**-3)
    assert (2.5**x).value == pytest.approx(2.5**x.value)
    assert (positive**x).value == pytest.approx(positive.value**x.value)


def test_smaller_and_larger(graph, xyz):
    x, y, _ = xyz
    assert graph.extreme("min", x, y).value == -3.0
    assert graph.extreme("max", x, y).value == 2.0
    assert graph.extreme("max", x, 5.0).value == 5.0
    assert graph.extreme("min", x, x) == x
