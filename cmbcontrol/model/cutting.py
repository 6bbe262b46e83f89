"""Cuts of a machine whose joints form loops: a spanning tree of its graph, and cut joints that close the loops.

Bodies are the nodes of a graph, joints its edges. A cut joint has constraint rows in place of coordinates, so it can
have no motor of the tree, no spring, no damping, no limits; and a body without mass cannot move at the end of a branch.
The tree is a spanning tree of largest weight: first of all it keeps fixed joints, those of bodies without mass, and
those that carry such things, then joints with few degrees of freedom, since a cut joint with d of them costs 6 - d rows
and saves d coordinates. Joints of equal weight are taken by their depth, as in a search in breadth. Then cuts are
exchanged with joints of equal weight in their loops, as long as this makes the loops shorter together, and at last
where it makes the rows better conditioned and the loops no longer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any

import numpy as np

from .. import _check
from ..errors import InputTypeError, ModelError
from .elements import GROUND, Body, Joint
from .elements.joints import SAME

__all__ = ["Cuts", "cut_loops"]

_LOOKS = 3000  # trees that are looked at to make loops short: less than a millisecond each where they are small
_STEPS = 3_000_000  # from joint to joint in all of them, about a second: large machines are looked at less often
_TRIALS = 100  # machines that are built to compare conditions: some milliseconds each where they are small
_BODIES = 3000  # in all of them, about a second
_BETTER = 1.2  # a condition that is better by less is not worth another cut than the plain one


@dataclass(frozen=True)
class Cuts:
    """Tree of joints, and the cut joints and constraints that close its loops.

    Attributes
    ----------
    joints : tuple of Joint
        The tree: parents come before their children, and each joint leads away from the ground.
    loops : tuple
        Joints that are cut, then the constraints that were given.
    words : tuple of str
        Sentences on joints that were cut or turned round, and why.

    Examples
    --------
    >>> from cmbcontrol import Body, Frame, Revolute
    >>> rods = [Body.rod(name, mass=1.0, length=1.0) for name in ("crank", "coupler", "rocker")]
    >>> ends = [("ground", "crank", 0), ("crank", "coupler", 1), ("coupler", "rocker", 1), ("ground", "rocker", 0)]
    >>> pins = [Revolute(f"pin{i}", a, b, frame=Frame((x, 0, 0))) for i, (a, b, x) in enumerate(ends)]
    >>> print(cut_loops(rods, pins))
    'pin2' is cut: the loop 'pin0', 'pin1', 'pin2', 'pin3' is closed by its constraint rows
    """

    joints: tuple[Joint, ...]
    loops: tuple[Any, ...]
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self.words) or "the joints are a tree: nothing is cut"


def cut_loops(
    bodies: Sequence[Body],
    joints: Sequence[Joint],
    loops: Sequence[Any] = (),
    actuators: Sequence[Any] = (),
    springs: Sequence[Any] = (),
    forces: Sequence[Any] = (),
    cuts: Sequence[str] | None = None,
) -> Cuts:
    """Choose a tree among joints that form loops.

    Parameters
    ----------
    bodies : sequence of Body
    joints : sequence of Joint
        All of them; a body may be the child of several, or of none.
    loops : sequence of Joint, Constraint, Coupling or Motion
        Constraints beside the joints; they stay as they are.
    actuators, springs, forces : sequence
        Parts that act on coordinates of joints; these joints stay in the tree where that is possible.
    cuts : sequence of str, optional
        Names of the joints to cut. None: they are chosen.

    Returns
    -------
    Cuts

    Raises
    ------
    ModelError
        Where bodies are not connected to the ground, or the named cuts leave no tree.
    """
    graph = _Graph(bodies, joints)
    used = _used(joints, loops, actuators, springs, forces)
    if cuts is None:
        tree = graph.best_tree(used)
        length = graph.lengths(tree)
        tree = _exchanged(graph, tree, used, graph.lengths, 1.0, min(_LOOKS, _STEPS // (len(graph.at) + length)))
        length = graph.lengths(tree)

        def condition(tree: frozenset[int]) -> float:
            return _condition(bodies, graph, tree) if graph.lengths(tree) <= length else np.inf

        tree = _exchanged(graph, tree, used, condition, _BETTER, min(_TRIALS, _BODIES // len(graph.at)))
    else:
        tree = graph.without(_check.sequence(cuts, "cuts", "names of joints"))
    order, turned = graph.directed(tree)
    made, words = [], []
    for i in order:
        joint = graph.joints[i]
        made.append(joint.reversed() if i in turned else joint)
        if i in turned:
            words.append(_told_of_reversal(joint))
    gone = [i for i in range(len(graph.joints)) if i not in tree]
    for i in gone:
        path = ", ".join(repr(graph.joints[k].name) for k in sorted({i, *graph.path(tree, i)}))
        acted = cuts is None and graph.joints[i].name in used
        why = ", although parts of the machine act on it" if acted else ""
        words.append(f"{graph.joints[i].name!r} is cut{why}: the loop {path} is closed by its constraint rows")
    return Cuts(tuple(made), (*(graph.joints[i] for i in gone), *loops), tuple(words))


class _Graph:
    """Graph with bodies as nodes and joints as edges."""

    def __init__(self, bodies: Sequence[Body], joints: Sequence[Joint]) -> None:
        self.joints = _check.sequence(joints, "joints", "joints")
        names = [GROUND, *(body.name for body in _check.sequence(bodies, "bodies", "bodies"))]
        for joint in self.joints:
            if not isinstance(joint, Joint):
                raise InputTypeError(f"{_check.shown(joint)} is not a joint")
            for end in (joint.parent, joint.child):
                if end not in names:
                    raise ModelError(f"joint {joint.name!r}: {_check.unknown(end, names, 'body')}")
        self._rooted: tuple[Collection[int], tuple[dict[str, int], dict[str, int]]] | None = None
        self.at: dict[str, list[int]] = {name: [] for name in names}
        for i, joint in enumerate(self.joints):
            self.at[joint.parent].append(i)
            self.at[joint.child].append(i)
        self.light = self._light(bodies)
        reached = self._reached(range(len(self.joints)))
        if lost := [name for name in names if name not in reached]:
            raise ModelError(
                f"no joint connects {', '.join(map(repr, lost))} with the ground; give a joint, or Free(...) for a "
                "body that floats"
            )

    def other(self, i: int, end: str) -> str:
        """Body at the other end of a joint."""
        joint = self.joints[i]
        return joint.child if joint.parent == end else joint.parent

    def _reached(self, kept: Collection[int]) -> set[str]:
        return set(self.rooted(frozenset(kept))[1])

    def weight(self, i: int, used: Collection[str]) -> tuple[int, int]:
        """Cost of cutting a joint: bodies left without inertia, parts that act on it, then the number of rows."""
        joint = self.joints[i]
        own = joint.damping.any() or joint.armature.any() or bool(np.isfinite(joint.limits).any())
        light = not self.light.isdisjoint((joint.parent, joint.child))
        first = 8 * (not joint.steps) + 4 * light + 2 * own + (joint.name in used)
        return first, 6 - len(joint.velocity_suffixes)

    def _light(self, bodies: Sequence[Body]) -> set[str]:
        """Bodies without mass, alone or fixed to others without mass: they cannot move at the end of a branch."""
        heavy = {GROUND, *(body.name for body in bodies if body.mass)}
        fixed = [joint for joint in self.joints if not joint.steps]
        while grown := {end for j in fixed for end in (j.parent, j.child) if {j.parent, j.child} & heavy} - heavy:
            heavy |= grown
        return set(self.at) - heavy

    def best_tree(self, used: Collection[str]) -> frozenset[int]:
        """Spanning tree of largest weight, by Prim's algorithm; of joints of equal weight the less deep ones."""
        tree: set[int] = set()
        depth = {GROUND: 0}
        heap: list[tuple[Any, ...]] = []

        def seen_from(end: str) -> None:
            for i in self.at[end]:
                against = self.joints[i].child == end and self.joints[i].reversal != SAME
                first, second = self.weight(i, used)
                heappush(heap, (-first, -second, against, depth[end], i, end))

        seen_from(GROUND)
        while heap:
            *_, i, end = heappop(heap)
            if (far := self.other(i, end)) not in depth:
                tree.add(i)
                depth[far] = depth[end] + 1
                seen_from(far)
        return frozenset(tree)

    def without(self, cuts: Sequence[str]) -> frozenset[int]:
        """Tree that is left where joints are cut by name."""
        names = [joint.name for joint in self.joints]
        for cut in cuts:
            _check.one_of(cut, names, "joint to cut")
        kept = [i for i, name in enumerate(names) if name not in cuts]
        missing = len(kept) - (len(self.at) - 1)
        reached = self._reached(kept)
        if lost := [name for name in self.at if name not in reached]:
            raise ModelError(
                f"where {', '.join(map(repr, cuts))} are cut, no joint of the tree carries "
                f"{', '.join(map(repr, lost))}; cut fewer joints"
            )
        if missing > 0:
            tree = frozenset(self.rooted(frozenset(kept))[0].values())
            i = next(i for i in kept if i not in tree)
            path = ", ".join(repr(self.joints[k].name) for k in sorted({i, *self.path(tree, i)}))
            raise ModelError(
                f"the joints {path} still form a loop: cut {missing} joint{'s'[: missing > 1]} more, or leave cuts= out"
            )
        return frozenset(kept)

    def rooted(self, tree: Collection[int]) -> tuple[dict[str, int], dict[str, int]]:
        """Joint that leads to each body from the ground, and number of joints on the path, both by body.

        Where the joints form loops, this is for a tree among them, by a search in breadth.
        """
        if self._rooted is None or self._rooted[0] != tree:
            carrier: dict[str, int] = {}
            depth, todo = {GROUND: 0}, deque([GROUND])
            while todo:
                here = todo.popleft()
                for i in self.at[here]:
                    if i in tree and (end := self.other(i, here)) not in depth:
                        carrier[end], depth[end] = i, depth[here] + 1
                        todo.append(end)
            self._rooted = tree, (carrier, depth)
        return self._rooted[1]

    def directed(self, tree: Collection[int]) -> tuple[list[int], set[int]]:
        """Joints of a tree in the order in which they were given, as far as parents allow, and joints to turn round."""
        carrier, _ = self.rooted(tree)
        turned = {i for end, i in carrier.items() if self.joints[i].child != end}
        before = {i: carrier.get(self.other(i, end)) for end, i in carrier.items()}
        order: dict[int, None] = {}
        for i in sorted(carrier.values()):
            chain, k = [], i
            while k is not None and k not in order:
                chain.append(k)
                k = before[k]  # type: ignore[assignment]
            order.update(dict.fromkeys(reversed(chain)))
        return list(order), turned

    def path(self, tree: Collection[int], cut: int) -> list[int]:
        """Joints of the tree between the two bodies of a cut joint."""
        carrier, depth = self.rooted(tree)
        a, b = self.joints[cut].parent, self.joints[cut].child
        found = []
        while a != b:
            if depth[a] < depth[b]:
                a, b = b, a
            found.append(carrier[a])
            a = self.other(carrier[a], a)
        return found

    def lengths(self, tree: Collection[int]) -> int:
        """Number of joints in all loops together."""
        return sum(len(self.path(tree, i)) for i in range(len(self.joints)) if i not in tree)


def _used(joints: Sequence[Joint], *groups: Sequence[Any]) -> set[str]:
    """Names of joints that parts of a machine refer to, by joint or coordinate."""
    named = {name for group in groups for part in group for name in part.coordinates}
    return {j.name for j in joints if named & {j.name, *j.position_names, *j.velocity_names}}


def _exchanged(
    graph: _Graph,
    tree: frozenset[int],
    used: Collection[str],
    cost: Callable[[frozenset[int]], float],
    better: float,
    trials: int,
) -> frozenset[int]:
    """Tree after exchanges of cut joints with equal ones in their loops, while the cost falls by more than a factor."""
    least, again = None, True
    while again:
        again = False
        for i in [i for i in range(len(graph.joints)) if i not in tree]:
            for k in graph.path(tree, i):
                if graph.weight(k, used) != graph.weight(i, used):
                    continue
                other = (tree - {k}) | {i}
                _, turned = graph.directed(other)
                if any(graph.joints[t].reversal != SAME for t in turned):
                    continue
                least = cost(tree) if least is None else least
                if (trials := trials - 1) < 0:
                    return tree
                if (found := cost(other)) * better < least:
                    tree, least, again = other, found, True
                    break  # this loop is now cut there
    return tree


def _condition(bodies: Sequence[Body], graph: _Graph, tree: frozenset[int]) -> float:
    """Condition number of the rows of the cut joints, in metres and sizes of the machine, with all joints at zero."""
    from .mechanism import Mechanism

    order, turned = graph.directed(tree)
    made = [graph.joints[i].reversed() if i in turned else graph.joints[i] for i in order]
    cut = [graph.joints[i] for i in range(len(graph.joints)) if i not in tree]
    plain = [replace(joint, damping=0.0, armature=0.0, limits=None) for joint in cut]
    try:
        plant = Mechanism("graph", list(bodies), made, loops=plain, precision=0.0)
        A = plant.jacobian(plant.neutral()) * plant.row_scale[:, None] / plant.unit_lengths
    except (ModelError, ValueError):
        return np.inf
    values = np.linalg.svd(A, compute_uv=False)
    values = values[values > 1e-9 * values.max(initial=0.0)]  # rows that repeat others are no matter of where to cut
    return float(values[0] / values[-1]) if values.size else 1.0


def _told_of_reversal(joint: Joint) -> str:
    return f"{joint.name!r} is turned round, and leads from {joint.child!r} to {joint.parent!r}: {joint.reversal}"
