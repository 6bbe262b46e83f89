"""Programs: all that is needed and nothing else, in order, and values that outlive their chunk are passed on."""

import numpy as np
import pytest

from cmbcontrol.trace import program as module
from cmbcontrol.trace.functions import Function
from cmbcontrol.trace.graph import Graph


def random_function(rng, operations=200, inputs=5, outputs=20):
    graph = Graph()
    made = [graph.input("x", i, float(x)) for i, x in enumerate(rng.uniform(0.5, 1.5, inputs))]
    for _ in range(operations):
        a, b = made[rng.integers(len(made))], made[rng.integers(max(0, len(made) - 30), len(made))]
        made.append([a + b, a - b * 0.5, a * b * 0.25][rng.integers(3)])
        if not hasattr(made[-1], "index"):
            made.pop()
    return Function(graph, inputs, [made[k] for k in rng.integers(0, len(made), outputs)] + [2.5])


def run(made, function):
    """As a compiler would: chunk after chunk, with nothing but what is passed on and the inputs."""
    room, outputs = np.full(made.room, np.nan), np.full(len(function.outputs), np.nan)
    graph = function.graph
    for chunk in made.chunks:
        known = {k: room[place] for k, place in chunk.passed_in.items()}

        def value(k, known=known):
            return graph.values[k] if graph.nodes[k][0] in ("const", "input") else known[k]

        for k in chunk.operations:
            op, a, b = graph.nodes[k]
            known[k] = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[op](value(a), value(b))
            if k in chunk.passed_on:
                room[chunk.passed_on[k]] = known[k]
        for i, x in chunk.outputs:
            outputs[i] = value(x) if isinstance(x, int) else x
    return outputs


@pytest.mark.parametrize("chunk", [1, 7, 50, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_chunks_compute_what_the_expressions_are(monkeypatch, chunk, seed):
    monkeypatch.setattr(module, "CHUNK", chunk)
    function = random_function(np.random.default_rng(seed))
    made = module.program(function)
    expected = [getattr(x, "value", x) for x in function.outputs]
    np.testing.assert_array_equal(run(made, function), expected)
    assert all(len(part.operations) <= chunk for part in made.chunks)


def test_places_are_used_again(monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 10)
    graph = Graph()
    x = graph.input("x", 0, 1.0)
    for k in range(1000):  # each needs the last one only
        x = x * (1.0 + 1e-3 * k) + 1.0
    made = module.program(Function(graph, 1, [x]))
    assert len(made.chunks) == 200
    assert made.room <= 2


def test_nothing_that_nobody_needs():
    graph = Graph()
    x = graph.input("x", 0, 0.5)
    x.function("sin")
    wanted = x * x
    assert x.function("cos") < 2.0  # a guard is needed
    made = module.program(Function(graph, 1, [wanted, 1.0]))
    names = [graph.nodes[k][0] for chunk in made.chunks for k in chunk.operations]
    assert sorted(names) == ["cos", "lt", "mul"]
    assert module.program(Function(Graph(), 0, [])).chunks[0].operations == []
