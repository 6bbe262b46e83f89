"""Order of computation of a traced function, cut into chunks that a compiler takes quickly.

Each expression comes just before it is used: its operands are near by then, and those of a loop stand together.

Values that one chunk computes and a later one uses are passed on through an array. Its places are used again when
their values are not needed any more.

A large machine repeats itself, and straight lines for all of it do not fit into the processor's caches. It is cut where
the operations around are alike, so that equal parts are equal chunks. Such chunks are compiled once, and get a table of
where their operands and results are: a sparse elimination with index lists, as the structure has it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import minimum_filter1d

from .functions import Function
from .graph import Graph, Scalar, TooLarge

__all__ = ["CHUNK", "Chunk", "Program", "program"]

# Operations in a chunk: the time to compile one grows faster than its length. With twice as many, a Stewart platform
# takes half as long again to compile; with half as many, what passes from chunk to chunk begins to cost.
CHUNK = 500

# A function with more operations than this is searched for equal parts, and if no more than this share of it is left
# when each of them counts once, they are shared: a table costs a tenth of the time where straight lines fit into the
# caches (10,000 operations), and saves more than half where they do not (200,000).
LARGE, SHARED = 20_000, 0.5

# Operations that are compiled, in some five seconds: functions with more are left to the kernels. Straight lines gain
# the least where so many differ: a linear model with twelve degrees of freedom is dense, and faster by a third only.
MOST = 100_000

# Cuts of a large function are this far apart, and mostly less than four times this.
APART = 64

# Operations that decide where it is cut.
LOOKED_AT = 16


class Chunk(NamedTuple):
    """Part of a function that is compiled as one.

    Attributes
    ----------
    operations : list of int
        Nodes to compute, in this order.
    passed_in, passed_on : dict
        Place in the array of each node that comes from an earlier chunk, or is for a later one.
    outputs : list of (int, int or float)
        Index of each output, and its node or number.
    """

    operations: list[int]
    passed_in: dict[int, int]
    passed_on: dict[int, int]
    outputs: list[tuple[int, int | float]]


class Program(NamedTuple):
    """Function in chunks, in order of computation.

    Attributes
    ----------
    nodes : list of tuple
        Those of the graph.
    guards : dict
        Those of the graph.
    chunks : list of Chunk
    room : int
        Length of the array through which values are passed.
    large : bool
        Whether equal parts are equal chunks.
    """

    nodes: list[tuple]
    guards: dict[int, bool]
    chunks: list[Chunk]
    room: int
    large: bool


def program(function: Function) -> Program:
    """Order and chunks of all expressions that the outputs and guards of a function need."""
    graph = function.graph
    wanted = [x.index for x in function.outputs if isinstance(x, Scalar)]
    computed = [k for k in needed(graph, [*wanted, *graph.guards]) if graph.nodes[k][0] not in ("const", "input")]
    size, cuts, large = len(computed), range(CHUNK, len(computed), CHUNK), False
    if size > LARGE:
        shared, alike = equal_parts(graph, computed)
        large = shared < SHARED * size
        size, cuts = (shared, alike) if large else (size, cuts)
    if size > MOST:
        raise TooLarge(f"{size} operations, of which at most {MOST} are compiled")
    parts = [computed[begin:end] for begin, end in pairwise([0, *cuts, len(computed)])]
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
    return Program(graph.nodes, graph.guards, chunks, room, large)


def needed(graph: Graph, wanted: Iterable[int]) -> list[int]:
    """Expressions that the wanted ones are made of, in an order of computation: each just before it is used."""
    nodes, found, order = graph.nodes, bytearray(len(graph.nodes)), list[int]()
    for root in wanted:
        stack = [root]
        while stack:
            k = stack[-1]
            if found[k] == 0:
                found[k] = 1
                node = nodes[k]
                if node[0] not in ("const", "input"):
                    stack += [operand for operand in reversed(node[1:]) if not found[operand]]
            else:
                stack.pop()
                if found[k] == 1:
                    found[k] = 2
                    order.append(k)
    return order


def equal_parts(graph: Graph, computed: list[int]) -> tuple[int, list[int]]:
    """Number of operations if equal parts count once, and the cuts by which equal parts are equal chunks.

    Cuts are where a hash of the last operations is least in a neighbourhood: wherever a part comes again, so does the
    least hash in it.
    """
    kinds: dict[tuple, int] = {}
    place = {k: at for at, k in enumerate(computed)}
    tokens = np.empty(len(computed), np.uint64)
    for at, k in enumerate(computed):
        op, *operands = graph.nodes[k]
        seen = [at - place[i] if at - place.get(i, -APART) < APART else graph.nodes[i][0] for i in operands]
        tokens[at] = kinds.setdefault((op, *seen), len(kinds))
    found = hashes(tokens)
    least = minimum_filter1d(found, 2 * APART + 1, mode="constant", cval=found.max())
    cuts: list[int] = []
    for at in np.flatnonzero(found == least)[:-1]:
        if at + 1 - (cuts[-1] if cuts else 0) >= APART:
            cuts.append(int(at) + 1)
    distinct = {tokens[begin:end].tobytes() for begin, end in pairwise([0, *cuts, len(computed)])}
    return sum(map(len, distinct)) // tokens.itemsize, cuts


def hashes(tokens: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash of the operations up to each one, as a number without relation to what they are."""
    found = np.zeros_like(tokens)
    for back in range(LOOKED_AT):
        found[back:] = (found[back:] ^ tokens[: len(tokens) - back]) * np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(29)
    return found >> np.uint64(12)  # the filter computes with doubles
