"""Planar closed machines at rest, and their linear model without any tool.

A machine is a tree of links in the x-y plane, whose joints turn or slide, with points of links joined
(`Loop`).  Points are complex numbers, so that a turn of a link moves its points by ``i (z - pivot)``.
The exact model is the second-order motion in independent coordinates y: the reduced force
``T' dV/dq`` at closed configurations is differenced with order 8, everything else is in closed form.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

GRAVITY = 9.81
GROUND = -1
TURN, SLIDE_X, SLIDE_Y = "turn", "x", "y"
ORDER_8 = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))


class Link(NamedTuple):
    """A link and the joint that carries it; the link's frame is at that joint, its centre of mass on its x axis.

    Attributes
    ----------
    name : str
    parent : int
        Link that carries it, `GROUND` for none.
    joint : str
        `TURN`, or a slide along x or y of the parent.
    pivot : (float, float)
        The joint in the frame of the parent, m.
    mass, inertia, com : float
        kg, kg m2 about the centre of mass, m.
    stiffness, rest, damping : float
        Of a spring and damper on the joint.
    """

    name: str
    parent: int
    joint: str = TURN
    pivot: tuple[float, float] = (0.0, 0.0)
    mass: float = 0.0
    inertia: float = 0.0
    com: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0


class Loop(NamedTuple):
    """A point of one link (or of the ground) is joined to a point of another."""

    one: int
    point_one: tuple[float, float]
    other: int
    point_other: tuple[float, float]


class Machine(NamedTuple):
    """Links, loops, and a configuration near the equilibrium that is meant."""

    name: str
    links: tuple[Link, ...]
    loops: tuple[Loop, ...]
    near: tuple[float, ...]


def rod(name: str, parent: int, mass: float, length: float, pivot: tuple[float, float] = (0.0, 0.0), **more) -> Link:
    """A uniform thin rod on a pivot."""
    return Link(name, parent, TURN, pivot, mass, mass * length**2 / 12.0, 0.5 * length, **more)


def pendulum(mass: float = 1.0, length: float = 1.0) -> Machine:
    """A rod whose only joint is cut: its centre is carried by two slides, so that all stiffness is the loop's."""
    links = (
        Link("x", GROUND, SLIDE_X),
        Link("y", 0, SLIDE_Y),
        Link("rod", 1, TURN, (0.0, 0.0), mass, mass * length**2 / 12.0),
    )
    loop = Loop(GROUND, (0.0, 0.0), 2, (-0.5 * length, 0.0))
    return Machine("rod on a cut joint", links, (loop,), (0.0, -0.5 * length, -0.5 * np.pi))


def parallelogram() -> Machine:
    """Three equal rods of 1 m and 1 kg: bars parallel, coupler level; omega^2 = 6 g/5 hanging."""
    links = (
        rod("crank", GROUND, 1.0, 1.0),
        rod("coupler", 0, 1.0, 1.0, (1.0, 0.0)),
        rod("rocker", GROUND, 1.0, 1.0, (1.0, 0.0)),
    )
    loop = Loop(1, (1.0, 0.0), 2, (1.0, 0.0))
    return Machine("parallelogram cut at the tip", links, (loop,), (-0.5 * np.pi, 0.5 * np.pi, -0.5 * np.pi))


def four_bar(cut: str = "tip", sprung: bool = True) -> Machine:
    """Rods of 0.6, 1.2 and 0.9 m on a base of 1 m, with springs and friction; nothing symmetric.

    Cut at the tip, between coupler and rocker, or at the ground pivot of the rocker: one and the same machine.
    """
    crank, coupler, rocker = (2.0, 0.6), (3.0, 1.2), (1.0, 0.9)
    spring = {"stiffness": 4.0, "rest": -1.2, "damping": 0.2} if sprung else {}
    weak = {"stiffness": 2.5, "rest": 0.9, "damping": 0.1} if sprung else {}
    links = [rod("crank", GROUND, *crank, **spring), rod("coupler", 0, *coupler, (0.6, 0.0), **weak)]
    if cut == "tip":
        links.append(rod("rocker", GROUND, *rocker, (1.0, 0.0)))
        loop = Loop(1, (1.2, 0.0), 2, (0.9, 0.0))
        return Machine("four-bar cut at the tip", tuple(links), (loop,), (-1.7, 1.4, -1.4))
    links.append(rod("rocker", 1, *rocker, (1.2, 0.0)))  # from the tip to the ground
    loop = Loop(GROUND, (1.0, 0.0), 2, (0.9, 0.0))
    return Machine("four-bar cut at the ground", tuple(links), (loop,), (-1.7, 1.4, 2.1))


def slider_crank() -> Machine:
    """A crank, a rod, and a slider between a spring and the weights."""
    links = (
        rod("crank", GROUND, 1.0, 0.4),
        rod("rod", 0, 2.0, 1.1, (0.4, 0.0)),
        Link("slider", GROUND, SLIDE_X, (0.0, 0.1), 0.7, stiffness=40.0, rest=1.3, damping=0.5),
    )
    return Machine("slider-crank", links, (Loop(1, (1.1, 0.0), 2, (0.0, 0.0)),), (-1.0, 1.3, 1.25))


def five_bar(cut: str = "tip") -> Machine:
    """Spencer's five-bar (thesis, table 3.1), hanging, with a torsion spring on the left: two degrees of freedom.

    Cut at the tip, or at the right ground pivot.
    """
    left = (
        Link("left_lower", GROUND, TURN, (0.0, 0.0), 2.0, 1.0, 0.5, 20.0, -1.2, 0.3),
        Link("left_upper", 0, TURN, (1.0, 0.0), 3.0, 2.0, 0.75),
    )
    if cut == "tip":
        right = (
            Link("right_lower", GROUND, TURN, (1.0, 0.0), 2.0, 1.0, 0.5),
            Link("right_upper", 2, TURN, (1.0, 0.0), 3.0, 2.0, 0.75),
        )
        loop = Loop(1, (1.5, 0.0), 3, (1.5, 0.0))
        return Machine("five-bar cut at the tip", left + right, (loop,), (-1.5, 0.7, -1.4, -0.9))
    right = (
        Link("right_upper", 1, TURN, (1.5, 0.0), 3.0, 2.0, 0.75),
        Link("right_lower", 2, TURN, (1.5, 0.0), 2.0, 1.0, 0.5),
    )
    loop = Loop(GROUND, (1.0, 0.0), 3, (1.0, 0.0))
    return Machine("five-bar cut at the ground", left + right, (loop,), (-1.5, 0.7, 1.64, 0.9))


# -- kinematics ----------------------------------------------------------------------------------------------


def _frames(machine: Machine, q: Array) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Origins and directions (of the x axes) of all links, and of the ground as the last."""
    n = len(machine.links)
    origin, axis = np.zeros(n + 1, complex), np.ones(n + 1, complex)
    for i, link in enumerate(machine.links):
        base, turn = origin[link.parent], axis[link.parent]
        slide = {SLIDE_X: q[i], SLIDE_Y: 1j * q[i]}.get(link.joint, 0.0)
        origin[i] = base + turn * (complex(*link.pivot) + slide)
        axis[i] = turn * np.exp(1j * q[i]) if link.joint == TURN else turn
    return origin, axis


def _motion(machine: Machine, q: Array, link: int, point: complex) -> tuple[complex, NDArray, Array]:
    """Position of a point of a link, how the joints move it, and how they turn the link."""
    origin, axis = _frames(machine, q)
    at = origin[link] + axis[link] * point
    moved, turned = np.zeros(len(q), complex), np.zeros(len(q))
    while link != GROUND:
        kind, base = machine.links[link].joint, machine.links[link].parent
        if kind == TURN:
            moved[link], turned[link] = 1j * (at - origin[link]), 1.0
        else:
            moved[link] = axis[base] * (1.0 if kind == SLIDE_X else 1j)
        link = base
    return at, moved, turned


def closure(machine: Machine, q: Array) -> tuple[Array, Array]:
    """Residual (rows,) and Jacobian (rows, n) of the loops."""
    phi, A = [], []
    for loop in machine.loops:
        one, by_one, _ = _motion(machine, q, loop.one, complex(*loop.point_one))
        other, by_other, _ = _motion(machine, q, loop.other, complex(*loop.point_other))
        phi.append(one - other)
        A.append(by_one - by_other)
    phi, A = np.array(phi), np.array(A)
    return np.concatenate([phi.real, phi.imag]), np.concatenate([A.real, A.imag])


def mass_matrix(machine: Machine, q: Array) -> Array:
    """Joint-space mass matrix (n, n)."""
    M = np.zeros((len(q), len(q)))
    for i, link in enumerate(machine.links):
        _, moved, turned = _motion(machine, q, i, link.com)
        M += link.mass * np.outer(moved, moved.conj()).real + link.inertia * np.outer(turned, turned)
    return M


def static_force(machine: Machine, q: Array) -> Array:
    """Slope dV/dq (n,) of weights and springs."""
    force = np.array([link.stiffness * (x - link.rest) for link, x in zip(machine.links, q, strict=True)])
    for i, link in enumerate(machine.links):
        force += link.mass * GRAVITY * _motion(machine, q, i, link.com)[1].imag
    return force


def potential(machine: Machine, q: Array) -> float:
    """Of weights and springs, J."""
    springs = sum(0.5 * link.stiffness * (x - link.rest) ** 2 for link, x in zip(machine.links, q, strict=True))
    weights = sum(
        link.mass * GRAVITY * _motion(machine, q, i, link.com)[0].imag for i, link in enumerate(machine.links)
    )
    return float(springs + weights)


# -- the exact linear model ------------------------------------------------------------------------------------


def independent(machine: Machine, q: Array) -> list[int]:
    """Joints that span the motion best: greedy pivots on the null space of A."""
    _, sigma, Vt = np.linalg.svd(closure(machine, q)[1])
    basis, chosen = Vt[np.count_nonzero(sigma > 1e-9) :].T.copy(), []
    for _ in range(basis.shape[1]):
        k = int(np.argmax(np.linalg.norm(basis, axis=1)))
        chosen.append(k)
        direction = basis[k] / np.linalg.norm(basis[k])
        basis -= np.outer(basis @ direction, direction)
    return sorted(chosen)


def closed(machine: Machine, q: Array, fixed: list[int]) -> Array:
    """The configuration with closed loops, with some joints held (Newton)."""
    q, free = np.array(q, dtype=float), [k for k in range(len(q)) if k not in fixed]
    for _ in range(50):
        phi, A = closure(machine, q)
        step = np.linalg.solve(A[:, free], -phi)
        q[free] += step
        if np.abs(step).max() < 1e-15:
            break
    return q


def tangent(machine: Machine, q: Array, fixed: list[int]) -> Array:
    """T (n, dof): dq = T dy on the closed loops, y the joints `fixed`."""
    free = [k for k in range(len(q)) if k not in fixed]
    A = closure(machine, q)[1]
    T = np.zeros((len(q), len(fixed)))
    T[fixed] = np.eye(len(fixed))
    T[free] = -np.linalg.solve(A[:, free], A[:, fixed])
    return T


def reduced_force(machine: Machine, q: Array, fixed: list[int], change: Array) -> Array:
    """T' dV/dq where the joints `fixed` are moved by `change`."""
    q = q.copy()
    q[fixed] += change
    q = closed(machine, q, fixed)
    return tangent(machine, q, fixed).T @ static_force(machine, q)


def equilibrium(machine: Machine) -> Array:
    """The configuration at rest near `machine.near` (Newton on the reduced force)."""
    q = np.array(machine.near)
    y = independent(machine, q)
    q = closed(machine, q, y)
    for _ in range(50):
        step = np.linalg.solve(_slope(machine, q, y), -reduced_force(machine, q, y, np.zeros(len(y))))
        q[y] += step * min(1.0, 0.2 / max(np.abs(step).max(), 1e-300))
        q = closed(machine, q, y)
        if np.abs(step).max() < 1e-14:
            break
    return q


def _slope(machine: Machine, q: Array, y: list[int], step: float = 0.02) -> Array:
    """Stiffness in the coordinates y, by differences of order 8."""
    columns = [
        sum(
            w / step * (reduced_force(machine, q, y, k * step * e) - reduced_force(machine, q, y, -k * step * e))
            for k, w in ORDER_8
        )
        for e in np.eye(len(y))
    ]
    return np.array(columns).T


def exact(machine: Machine, q: Array) -> tuple[Array, list[int]]:
    """State matrix (2 dof, 2 dof) at the equilibrium q, and the joints that are its coordinates."""
    y = independent(machine, q)
    T = tangent(machine, q, y)
    M = T.T @ mass_matrix(machine, q) @ T
    D = T.T @ np.diag([link.damping for link in machine.links]) @ T
    n = len(y)
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    A[n:] = -np.linalg.solve(M, np.concatenate([_slope(machine, q, y), D], axis=1))
    return A, y


MACHINES = (
    pendulum,
    parallelogram,
    four_bar,
    lambda: four_bar("ground"),
    slider_crank,
    five_bar,
    lambda: five_bar("ground"),
)
