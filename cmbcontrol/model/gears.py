"""Rotors that gears alone move: configurations are found with them at rest, and their coordinates follow.

The configuration of a machine does not depend on the number of turns of its motors. A distance between configurations
that counts the coordinate of a rotor behind a gear of 60 is sixty times the motion of the crank: no measure of the
motion of the machine's points, of the length of a step, or of the nearest branch. So loops are closed on the *twin* of
the machine, in which such rotors are fixed to the bodies that carry them. Its answers are those of the machine without
gears, and the coordinates of the rotors follow from them,

    x_rotors = K x_others + k,

which are the equations of the couplings, solved for the rotors by elimination.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import AssemblyError
from ..kernels import layout
from .elements import Coupling, Fixed, Joint

if TYPE_CHECKING:
    from .mechanism import Mechanism

__all__ = ["Gears", "gears_of"]

Array = NDArray[np.float64]
Affine = tuple[int, float, float]  # (i, a, b): a x_i + b

_GONE = 1e-12  # of the coefficients that were subtracted: what elimination leaves of one that is zero
_BALANCED = 0.02  # sizes of the machine: rotors have their weight nearer to their axes, links at half their lengths
_AGREE = 1e-12  # of the terms: values of two coordinates of a gear that agree but for rounding


@dataclass(frozen=True, eq=False)
class Gears:
    """Machine with gears, its twin with fixed rotors, and the map to the coordinates of the rotors.

    Attributes
    ----------
    plant, twin : Mechanism
    kept : ndarray of int, shape (nq of the twin,)
        Position coordinates of the machine that the twin has.
    rotors : ndarray of int
        Position coordinates of the rotors.
    K : ndarray, shape (rotors, nq)
        Coefficients of the coordinates of the machine; zero for rotors.
    k : ndarray, shape (rotors,)
    driven : mapping of int to (float, float)
        Targets of motions, by their lines, that are a x + b where x is that of the twin: those of rotors.
    """

    plant: Mechanism
    twin: Mechanism
    kept: NDArray[np.int64]
    rotors: NDArray[np.int64]
    K: Array
    k: Array
    driven: Mapping[int, tuple[float, float]]

    def full(self, q: Array) -> Array:
        """Configuration of the machine at one of the twin."""
        whole = np.zeros(self.plant.nq)
        whole[self.kept] = q
        whole[self.rotors] = self.K @ whole + self.k
        return whole

    def reduced(self, q: Array) -> Array:
        """Configuration of the twin at one of the machine."""
        return q[self.kept]

    @cached_property
    def rates(self) -> Array:
        """Matrix T (nv, nv of the twin): velocities of the machine are T v at velocities v of the twin."""
        velocity = dict(self.plant.paired)
        rows = [velocity[i] for i in self.rotors.tolist()]
        whole = np.eye(self.plant.nv)
        for row, ratios in zip(rows, self.K, strict=True):
            whole[row, row] = 0.0
            for i in np.flatnonzero(ratios).tolist():
                whole[row, velocity[i]] = ratios[i]
        return np.delete(whole, rows, axis=1)

    def named(self, values: Mapping[str, float]) -> tuple[dict[str, float], list[str]]:
        """Values by name for the twin, with the driven coordinate in place of a rotor; names of rotors that disagree.

        Where the other coordinate of a gear is named, too, that of the rotor is left out.
        """
        names = self.plant.position_names
        lines = {names[i]: line for line, i in enumerate(self.rotors.tolist())}
        found = {name: float(x) for name, x in values.items() if name not in lines}
        against = []
        for name, x in values.items():
            way = _alone(self.K[lines[name]], self.k[lines[name]]) if name in lines else None
            if way is None:
                continue
            i, a, b = way
            other = found.setdefault(names[i], (float(x) - b) / a)
            if abs(a * other + b - x) > _AGREE * max(abs(a * other), abs(x), abs(b)):
                against.append(name)
        return found, against

    def contradicted(self, rotor: str, values: Mapping[str, float]) -> str:
        """Error message for held values that gears contradict."""
        names, line = self.plant.position_names, self.rotors.tolist().index(self.plant.position_names.index(rotor))
        other, held = names[int(np.flatnonzero(self.K[line])[0])], self.named(values)[0]
        follows = self.k[line] + sum(a * held.get(n, 0.0) for n, a in zip(names, self.K[line], strict=True))
        return (
            f"{other} = {held[other]:.12g} and {rotor} = {float(values[rotor]):.12g} contradict each other: by its "
            f"gear {rotor} is {follows:.12g} there. Hold one of them."
        )

    def of_whole(self, error: AssemblyError) -> AssemblyError:
        """Error for the machine, from an error for its twin."""
        q = self.full(error.q)
        return AssemblyError(str(error), self.plant.loop_residuals(q), q)


def gears_of(plant: Any, held: Collection[str] = ()) -> Gears | None:
    """Gears of a machine for coordinates that are to be held; None where no rotor can be left out.

    A rotor that is held stays in, unless its value determines that of a single other coordinate.
    """
    if not any(isinstance(loop, Coupling) for loop in plant.loops):
        return None
    known = vars(plant).setdefault("_gears", {})
    key = frozenset(held)
    if key not in known:
        known[key] = _found(plant, key) if hasattr(plant, "joints") else None
    found: Gears | None = known[key]
    if found is None or not plant.motions:
        return found
    targets = plant.arrays.targets.copy()  # a run writes into those of the machine
    for line, (a, b) in found.driven.items():
        targets[line] = (targets[line] - (b, 0.0, 0.0)) / a
    targets.setflags(write=False)
    return replace(found, twin=found.twin.with_records(targets=targets))


def _alone(ratios: Array, offset: float) -> Affine | None:
    """Index, ratio and offset of a coordinate that follows from a single other one; None where from several or none."""
    others = np.flatnonzero(ratios)
    return (int(others[0]), float(ratios[others[0]]), float(offset)) if others.size == 1 else None


def _found(plant: Mechanism, held: frozenset[str]) -> Gears | None:
    """Gears found by taking away rotors until the rest follow from other coordinates; see `gears_of`."""
    couplings = [loop for loop in plant.loops if isinstance(loop, Coupling)]
    driven = {name for motion in plant.motions for name in motion.coordinates}
    C, names = np.zeros((len(couplings), plant.nq)), plant.position_names
    for row, coupling in zip(C, couplings, strict=True):
        for name, x in coupling.coefficients.items():
            row[names.index(name)] = x
    offsets = np.array([coupling.offset for coupling in couplings])
    rotors = _rotors(plant, C)
    while rotors:
        left, right, pivots = _eliminated(C, offsets, rotors)
        for column, line in pivots.items():
            ratios = -left[line]
            ratios[column] = 0.0
            bound = names[column] in held or names[column] in driven or np.isfinite(plant.limits[column]).any()
            if not ratios.any() or (bound and _alone(ratios, 0.0) is None):
                rotors.remove(column)
                break
        else:
            break
    if not rotors or not pivots:
        return None
    columns = np.array(sorted(pivots), dtype=np.int64)
    K, k = np.zeros((columns.size, plant.nq)), np.array([right[pivots[c]] for c in columns.tolist()])
    for line, c in enumerate(columns.tolist()):
        K[line] = -left[pivots[c]]
        K[line, c] = 0.0
    return _with_twin(plant, couplings, (left, right, set(pivots.values())), columns, K, k)


def _rotors(plant: Mechanism, C: Array) -> list[int]:
    """Position coordinates of rotors: those of couplings whose joints move nothing else, no loop and no coordinate.

    A last link is as idle as a rotor. Rotors are balanced; where a group of coupled coordinates has no such one, or no
    others, they are those with a motor. Where that does not distinguish them from the others, all coordinates count.
    """
    links, velocity = plant.arrays.links, dict(plant.paired)
    used = np.zeros(plant.nv, dtype=bool)
    for row in plant.arrays.rows:
        if row["kind"] != layout.ROW_COUPLING:
            used |= plant.path_mask(int(row["a"])) != plant.path_mask(int(row["b"]))
    for i in range(len(links)):
        if links[i]["nv"] > 0:
            used |= plant.path_mask(int(links[i]["parent"]))
    cams = {name for loop in plant.loops if loop.formulas for name in loop.coordinates}
    one_axis = {j.name for j in plant.joints if j.plain_names == (j.name,)} - cams
    idle = {
        i
        for i in np.flatnonzero(C.any(axis=0)).tolist()
        if plant.position_names[i] in one_axis and not used[velocity[i]]
    }
    link_of = {int(link["iv"]): link for link in links if link["nv"] > 0}
    motors = {motor.joint for motor in plant.actuators}
    rotors = set[int]()
    for group in _groups(C):
        balanced = {i for i in group & idle if _off_axis(link_of[velocity[i]]) <= _BALANCED * plant.size}
        driven = {i for i in balanced or group & idle if plant.position_names[i] in motors}
        some = balanced if balanced and balanced != group else driven
        rotors |= some if some != group else set()
    return sorted(rotors)


def _off_axis(link: Any) -> float:
    """Distance of the centre of mass of a link from its axis, m."""
    return float(np.hypot(*link["com"][:2])) if link["kind"] != layout.PRISMATIC else 0.0


def _groups(C: Array) -> list[set[int]]:
    """Groups of columns that rows connect with each other."""
    groups: list[set[int]] = []
    for row in C:
        joined = set(np.flatnonzero(row).tolist())
        apart = [group for group in groups if not group & joined]
        groups = [*apart, joined.union(*(group for group in groups if group & joined))]
    return groups


def _eliminated(C: Array, offsets: Array, columns: list[int]) -> tuple[Array, Array, dict[int, int]]:
    """Equations after Gauss-Jordan elimination, and the row of each pivot column, which has only its own pivot."""
    left, right, pivots = C.copy(), offsets.copy(), dict[int, int]()
    while True:
        rows = [i for i in range(len(left)) if i not in pivots.values()]
        open_ = [(abs(left[i, c]) / np.abs(left[i]).max(), i, c) for i in rows for c in columns if left[i, c] != 0.0]
        if not open_:
            return left, right, pivots
        _, i, c = max(open_, key=lambda x: x[0])
        right[i] /= left[i, c]
        left[i] /= left[i, c]
        for other in range(len(left)):
            x = left[other, c]
            if other != i and x != 0.0:
                terms = np.abs(left[other]) + np.abs(x * left[i])
                left[other] -= x * left[i]
                left[other, np.abs(left[other]) <= _GONE * terms] = 0.0
                scale = abs(right[other]) + abs(x * right[i])
                right[other] -= x * right[i]
                right[other] = 0.0 if abs(right[other]) <= _GONE * scale else right[other]
        pivots[c] = i


def _with_twin(
    plant: Mechanism,
    couplings: list[Coupling],
    solved: tuple[Array, Array, set[int]],
    rotors: NDArray[np.int64],
    K: Array,
    k: Array,
) -> Gears | None:
    """Gears with the twin: rotors fixed, their limits and motions moved to what they drive, couplings without them."""
    from .mechanism import Mechanism  # a door: machines ask for their gears

    names, fixed, driven = plant.position_names, {plant.position_names[i] for i in rotors.tolist()}, {}
    limits = plant.limits.copy()
    moved_by = dict[str, Affine]()
    for i, ratios, offset in zip(rotors.tolist(), K, k, strict=True):
        way = _alone(ratios, offset)
        if way is None:
            continue
        j, a, b = moved_by[names[i]] = way
        low, high = sorted((plant.limits[i] - b) / a)
        limits[j] = max(limits[j, 0], low), min(limits[j, 1], high)
    led = [name for motion in plant.motions for name in motion.coordinates]
    led = [names[moved_by[name][0]] if name in moved_by else name for name in led]
    if (limits[:, 0] >= limits[:, 1]).any() or len(set(led)) < len(led):
        return None  # nothing is within both limits, or follows both motions: what is told of the whole is clearer
    joints = list[Joint]()
    for joint in plant.joints:
        own = [names.index(name) for name in joint.position_names]
        if joint.name in fixed:
            joints.append(
                Fixed(joint.name, joint.parent, joint.child, frame=joint.frame, child_frame=joint.child_frame)
            )
        elif (limits[own] != joint.limits).any():
            joints.append(replace(joint, limits=limits[own]))
        else:
            joints.append(joint)
    left, right, pivots = solved
    loops, lines, line = [], {id(coupling): i for i, coupling in enumerate(couplings)}, 0
    loop: Any
    for loop in plant.loops:
        if loop.component_names and not fixed.isdisjoint(loop.coordinates):
            j, a, b = moved_by[loop.joint]
            driven[line] = (a, b)
            loop = replace(loop, joint=names[j], position=0.0, velocity=0.0, acceleration=0.0)
        line += len(loop.targets(loop.value)) if loop.component_names else 0
        if isinstance(loop, Coupling) and not fixed.isdisjoint(loop.coefficients):
            i = lines[id(loop)]
            others = {n: float(x) for n, x in zip(names, left[i], strict=True) if x != 0.0}
            if i in pivots or not (others or right[i]):
                continue
            if not others:  # gears that contradict each other
                return None
            loop = Coupling(loop.name, others, float(right[i]))
        loops.append(loop)
    twin = Mechanism(plant.name, plant.bodies, joints, loops, gravity=plant.gravity, precision=0.0)._positional
    kept = np.setdiff1d(np.arange(plant.nq), rotors)
    return Gears(plant, twin, kept, rotors, K, k, driven)
