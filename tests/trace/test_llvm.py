"""Machine code of expressions: what it computes is what numbers compute."""

import ctypes
import math

import numpy as np
import pytest

from cmbcontrol.trace import llvm, program
from cmbcontrol.trace.functions import Function
from cmbcontrol.trace.graph import Graph


def call(library, name, p, x, outputs):
    y = np.full(outputs, np.nan)
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3)(library.address(name))
    return function(p.ctypes.data, x.ctypes.data, y.ctypes.data), y


def compiled(**functions):
    return llvm.LoadedCode(llvm.build(llvm.module(functions)))


def operations(p, a, b, sin, cos, sqrt, atan2, rint, smaller, larger):
    return [
        a + b, a - b, a * b, a / b, -a, sin(a), cos(b), sqrt(a), atan2(b, a), rint(10.0 * b), abs(b),
        smaller(a, b), larger(a, b), p * a + 0.125, a, 4.0,
    ]  # fmt: skip


def traced(sample):
    graph = Graph()
    x = [graph.input("x", i, value) for i, value in enumerate(sample)]
    functions = [lambda x, name=name: x.function(name) for name in ("sin", "cos", "sqrt")]
    extremes = [lambda a, b, name=name: graph.extreme(name, a, b) for name in ("min", "max")]
    rint = lambda x: x.function("rint")  # noqa: E731
    found = operations(graph.input("p", 1, 2.0), *x, *functions, graph.atan2, rint, *extremes)
    return Function(graph, 2, found)


@pytest.mark.parametrize("chunk", [1, 3, 10_000])
def test_every_operation(monkeypatch, chunk):
    monkeypatch.setattr(program, "CHUNK", chunk)  # values pass from one function to the next
    library = compiled(some=traced((1.0, 1.0)))
    for a, b in ((0.3, -1.7), (2.5, 0.25), (1e-3, 1e3)):
        status, y = call(library, "some", np.array([7.0, -2.5]), np.array([a, b]), 16)
        expected = operations(-2.5, a, b, math.sin, math.cos, math.sqrt, math.atan2, np.rint, min, max)
        assert status == 0
        np.testing.assert_allclose(y, expected, rtol=4e-16)


@pytest.mark.parametrize("chunk", [1, 10_000])
def test_guards_tell_how_many_comparisons_would_go_otherwise(monkeypatch, chunk):
    monkeypatch.setattr(program, "CHUNK", chunk)
    graph = Graph()
    a, b = (graph.input("x", i, value) for i, value in enumerate((1.0, 2.0)))
    assert a < b
    assert not a + b < 0.5
    library = compiled(guarded=Function(graph, 2, [a + b]))
    p = np.zeros(1)
    assert call(library, "guarded", p, np.array([1.0, 2.0]), 1)[0] == 0
    assert call(library, "guarded", p, np.array([2.0, 1.0]), 1)[0] == 1
    assert call(library, "guarded", p, np.array([-2.0, -3.0]), 1)[0] == 2
    assert call(library, "guarded", p, np.array([np.nan, 1.0]), 1)[0] == 1  # a < b is false


def test_several_functions_in_one_library():
    graph = Graph()
    x = graph.input("x", 0, 1.0)
    library = compiled(double=Function(graph, 1, [x + x]), constant=Function(graph, 1, [3.0, 0.0]))
    assert call(library, "double", np.zeros(1), np.array([4.0]), 1)[1] == [8.0]
    np.testing.assert_array_equal(call(library, "constant", np.zeros(1), np.array([4.0]), 2)[1], [3.0, 0.0])


def test_numbers_keep_all_digits():
    for x in (0.1, -1e-300, 5e-324, 1.0 / 3.0, math.pi, 1e308):
        graph = Graph()
        library = compiled(it=Function(graph, 0, [graph.const(x)]))
        assert call(library, "it", np.zeros(1), np.zeros(1), 1)[1] == [x]


def test_only_what_is_needed_is_computed():
    graph = Graph()
    x = graph.input("x", 0, 1.0)
    wanted, _ = x * x, x.function("sin")
    assert "sin" not in llvm.module({"square": Function(graph, 1, [wanted])})
