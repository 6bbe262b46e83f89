"""The stand-in for numpy: numbers give what numpy gives, symbols give expressions."""

import numpy as np
import pytest

from cmbcontrol.trace import numbers
from cmbcontrol.trace.graph import Graph


@pytest.mark.parametrize("name", ["sin", "cos", "sqrt", "round"])
def test_functions_of_one_number(name):
    x = graph_input(0.75)
    assert getattr(numbers, name)(0.75) == pytest.approx(getattr(np, name)(0.75), rel=1e-15)
    assert getattr(numbers, name)(x).value == pytest.approx(getattr(np, name)(0.75), rel=1e-15)


@pytest.mark.parametrize(("name", "judge"), [("arctan2", np.arctan2), ("minimum", np.minimum), ("maximum", np.maximum)])
def test_functions_of_two_numbers(name, judge):
    function = getattr(numbers, name)
    x = graph_input(0.75)
    assert function(0.75, -2.0) == judge(0.75, -2.0)
    assert function(x, -2.0).value == judge(0.75, -2.0)
    assert function(-2.0, x).value == judge(-2.0, 0.75)


def graph_input(value):
    return Graph().input("x", 0, value)


def test_arrays_begin_with_zeros_and_hold_symbols():
    made = numbers.zeros((2, 3))
    assert not made.any()
    made[1, 2] = graph_input(3.0)
    assert (made[1] + 1.0)[2].value == 4.0
    assert numbers.empty(3, np.int64).dtype == np.int64


@pytest.mark.parametrize("name", ["abs", "linspace", "dot"])
def test_what_kernels_do_not_use_is_not_there(name):
    assert not hasattr(numbers, name)
