"""A traced function in the order in which it is computed, cut into chunks that a compiler takes quickly.

Values that one chunk computes and a later one uses are passed on through an array. Its places are used again when
nobody needs what is in them any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .functions import Function
from .graph import Graph, Scalar

__all__ = ["CHUNK", "Chunk", "Program", "program"]

# Operations in a chunk: the time to compile one grows faster than its length. With twice as many, a Stewart platform
# takes half as long again to compile; with half as many, what passes from chunk to chunk begins to cost.
CHUNK = 500


class Chunk(NamedTuple):
    """Part of a function.

    Attributes
    ----------
    operations : list of int
        Nodes to compute, in this order.
    passed_in, passed_on : dict
        Place in the array of each node that comes from an earlier chunk, or is for a later one.
    outputs : list of (int, int or float)
        Which output gets which node, or number.
    """

    operations: list[int]
    passed_in: dict[int, int]
    passed_on: dict[int, int]
    outputs: list[tuple[int, int | float]]


class Program(NamedTuple):
    """A function in chunks.

    Attributes
    ----------
    nodes : list of tuple
        As of the graph.
    guards : dict
        As of the graph, those that what is computed rests on.
    chunks : list of Chunk
    room : int
        Length of the array through which values are passed.
    """

    nodes: list[tuple]
    guards: dict[int, bool]
    chunks: list[Chunk]
    room: int


def program(function: Function) -> Program:
    """All that the outputs of a function need, and its guards."""
    graph = function.graph
    wanted = [x.index for x in function.outputs if isinstance(x, Scalar)]
    computed = [k for k in needed(graph, [*wanted, *graph.guards]) if graph.nodes[k][0] not in ("const", "input")]
    parts = [computed[at : at + CHUNK] for at in range(0, len(computed), CHUNK)] or [[]]
    home = {k: at for at, part in enumerate(parts) for k in part}
    last: dict[int, int] = {}  # chunk that uses a value of an earlier one last
    entering: list[list[int]] = [[] for _ in parts]
    for at, part in enumerate(parts):
        operands = {k for node in part for k in graph.nodes[node][1:] if home.get(k, at) != at}
        entering[at] = sorted(operands)
        last.update(dict.fromkeys(operands, at))
    outputs: list[list[tuple[int, int | float]]] = [[] for _ in parts]
    for i, x in enumerate(function.outputs):
        k = x.index if isinstance(x, Scalar) else None
        outputs[len(parts) - 1 if k is None else home.get(k, len(parts) - 1)].append((i, float(x) if k is None else k))
    places: dict[int, int] = {}
    free: list[int] = []
    room, chunks = 0, []
    for at, part in enumerate(parts):
        passed_in = {k: places[k] for k in entering[at]}
        passed_on = {}
        for k in part:
            if k in last:
                if not free:
                    free.append(room)
                    room += 1
                passed_on[k] = places[k] = free.pop()
        chunks.append(Chunk(part, passed_in, passed_on, outputs[at]))
        free += [places[k] for k in entering[at] if last[k] == at]
    return Program(graph.nodes, graph.guards, chunks, room)


def needed(graph: Graph, wanted: Iterable[int]) -> list[int]:
    """All that some expressions are made of, in an order in which it can be computed."""
    found = bytearray(len(graph.nodes))
    stack = list(wanted)
    while stack:
        k = stack.pop()
        if not found[k]:
            found[k] = 1
            node = graph.nodes[k]
            if node[0] not in ("const", "input"):
                stack += node[1:]
    return [k for k, there in enumerate(found) if there]
