"""Closing of the loops near a guess: damped Gauss-Newton steps, with angles in place of products of axes.

Each step is the smallest that reduces the residual to first order, damped (Levenberg and Marquardt) in proportion
to the residual that is left. So steps never wander along gradients that are rounding, nor along those that vanish where
the loops close (redundant rows do, off the closed configurations), and convergence is quadratic all the same: the error
bound of Fan and Yuan (2005) needs no full rank. All steps lie among the gradients, so that the configuration found is,
to first order, the nearest one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import AssemblyError
from ..kernels import layout, tree
from .elements import Joint

if TYPE_CHECKING:
    from .plant import Plant

__all__ = ["CLOSED", "Closing", "Turn", "descend", "listed_open", "not_closed", "require_closed", "turns"]

Array = NDArray[np.float64]
Equations = Callable[[Array], tuple[Array, Callable[[], Array]]]

CLOSED = 1e-12  # of the largest length in play: loops that are open by less are closed
_NOISE = 1e-12  # of the largest gradient: smaller ones are rounding
_LEVER = 0.1  # sizes of the machine a radian: where all gradients are smaller, they are measured against it
_LEAST = 1e-14  # damping: so rounding of the residual, 1e-16, moves nothing by more than 5e-10, whatever the gradient
_CURVED = 0.1  # rad, or sizes: farther from the guess, the steps alone do not lead to the nearest configuration
_LARGE = 100  # coordinates: from about so many on, sparse elimination takes less time than singular values
_STEPS = 150  # and one for each coordinate: where loops close one after the other, along a chain
_LISTED = 3  # of the loops that are open, the worst: a reader looks at no more of them
_FLAT = 1e-3  # sizes a size: gradients below it move far, and close little
_EXACT = 4e-16  # sizes: no step makes a smaller residual better
_ON_AXIS = 1e-9  # sizes of the machine: points that are nearer to an axis are on it
_TURN = 2.0 * np.pi
_STRIDE = 0.5  # rad: the longest step; farther, first order says little. Travels are linear, and need no bound


def damped(J: Array, r: Array, damping: float) -> Array:
    """Step y that minimizes |J y + r|^2 + damping |J|^2 |y|^2."""
    if J.shape[1] > _LARGE:
        return _damped_sparse(J, r, damping)
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    s, largest = s[:, None], max(s.max(initial=0.0), _LEVER)
    keep = s[:, 0] > _NOISE * largest
    return -(Vt[keep].T @ (s[keep] / (s[keep] ** 2 + damping * largest**2) * (U[:, keep].T @ r)[:, None]))[:, 0]


def _damped_sparse(J: Array, r: Array, damping: float) -> Array:
    """Step as `damped`, by sparse elimination of t + J y = -r, J' t = damping |J|^2 y.

    Its time is in proportion to the entries of J. |J| is bounded by its norms of rows and columns. The part in the null
    space of J is rounding over the damping, which is 1e-2 of the residual or more.
    """
    from scipy.sparse import bmat, csc_matrix, identity
    from scipy.sparse.linalg import splu

    S, sizes = csc_matrix(J), np.abs(J)
    largest = max(float(np.sqrt(sizes.sum(axis=0).max() * sizes.sum(axis=1).max())), _LEVER)
    rows, columns = J.shape
    whole = bmat([[identity(rows), S], [S.T, -damping * largest**2 * identity(columns)]], format="csc")
    return splu(whole).solve(np.concatenate([-r, np.zeros(columns)]))[rows:]


def _along(J: Array, way: Array) -> Array:
    """Part of a displacement that leaves loops closed; they are so to 1e-6, as are their gradients."""
    if J.shape[1] > _LARGE:
        return way - _damped_sparse(J, -J @ way, 1e-12)
    _, s, Vt = np.linalg.svd(J, full_matrices=False)
    across = Vt[s > 1e-6 * s.max(initial=0.0)]
    return way - across.T @ (across @ way)


def descend(
    closing: Closing, q: Array, equations: Equations, step: Callable[..., Array], goal: float, factor: float
) -> tuple[Array, float]:
    """Configuration with the least residual of some equations, from q on, and the largest entry of the residual left.

    Parameters
    ----------
    equations : callable
        q -> residual in sizes of the machine, and a function that computes its Jacobian.
    step : callable
        (q, residual, Jacobian, damping) -> displacement (nv,).
    goal : float
        The descent ends where the largest entry is below it; at 0, where rounding ends it.
    factor : float
        First damping, as a part of the residual: 1e-2 stays nearest to the start, less reaches farther.
    """
    plant = closing.plant
    r, jacobian = equations(q)
    J, left, stalled, patience = None, float(np.linalg.norm(r)), 0, max(5, plant.nv // 2)
    for _ in range(_STEPS + plant.nv):
        if np.abs(r).max(initial=0.0) <= goal or left < _EXACT or stalled > patience:
            break
        J = jacobian() if J is None else J
        move = step(q, r, J, max(factor * min(float(np.abs(r).max()), 1.0), _LEAST))
        trial, moved = plant.integrate(q, move), np.abs(move / closing.lengths).max(initial=0.0)
        r_trial, jacobian_trial = equations(trial)
        now = float(np.linalg.norm(r_trial))
        if now < left:
            if now > 0.5 * left and left < min(CLOSED * plant.length_scale(q) / plant.size, _FLAT * moved):
                break  # along gradients that are rounding: nothing is closed better by them
            # a residual that stays is a minimum; where the loops close, even at singular configurations, it falls by
            # more, but for long chains, which close one loop after the other
            stalled = stalled + 1 if now > 0.97 * left and moved < _STRIDE else 0
            factor = max(0.2 * factor, 1e-4) if now < 0.3 * left else factor
            q, r, jacobian, J, left = trial, r_trial, jacobian_trial, None, now
        elif left < 1e-13 * plant.length_scale(q) / plant.size or factor > 1e8:
            break  # rounding, or no direction helps any more
        else:
            factor *= 10.0
    return q, float(np.abs(r).max(initial=0.0))


class Closing:
    """Loops as equations for the coordinates that are not held, in sizes of the machine.

    Parameters
    ----------
    plant : Plant
    held : sequence of int
        Position coordinates that stay. Those that have no rate of their own, as the places of a floating base, get
        equations of their own; of a quaternion all stay where one entry does.
    at : ndarray, shape (nq,), optional
        Their values.
    limited : bool
        Whether the others keep within their limits.
    """

    def __init__(
        self,
        plant: Plant,
        held: Sequence[int] | NDArray[np.int64] = (),
        at: Array | None = None,
        *,
        limited: bool = True,
    ) -> None:
        self.plant = plant
        self.angular, self.lengths = _units(plant)
        still, self.placed, self.movers = _still(plant, [int(i) for i in held])
        self.held, self.at = held, plant.neutral() if at is None else at
        self.free = np.setdiff1d(np.arange(plant.nv), still)
        bounded = [pair for pair in plant.paired if limited and pair[1] not in still]
        self.bounded = np.array(bounded, dtype=int).reshape(-1, 2)

    @cached_property
    def turns(self) -> list[Turn]:
        """Rotations that loops bind."""
        return turns(self.plant)

    @cached_property
    def turning(self) -> NDArray[np.int64]:
        """Indices of positions with the same machine a turn further: angles of pins that no coupling counts."""
        plant = self.plant
        counted = {name for loop in plant.loops for name in loop.coordinates}
        names = {name for joint in getattr(plant, "joints", ()) for name in joint.turning_names} - counted
        limited = (i for i in self.bounded[:, 0] if np.isfinite(plant.limits[i]).any())
        return np.array([i for i in limited if plant.position_names[i] in names], dtype=np.int64)

    def turned(self, q: Array) -> Array:
        """Configuration q with pins outside of their limits turned inside, if whole turns do that."""
        q = q.copy()
        low, high = self.plant.limits[self.turning].T
        x = q[self.turning]
        turned = x + _TURN * np.where(x < low, np.ceil((low - x) / _TURN), np.floor((high - x) / _TURN))
        outside = ((x < low) | (x > high)) & (turned >= low) & (turned <= high)
        q[self.turning] = np.where(outside, turned, x)
        return q

    def within(self, q: Array) -> Array:
        """Configuration q with the coordinates that are not held moved inside their limits."""
        q, i = self.turned(q), self.bounded[:, 0]
        q[i] = np.clip(q[i], *self.plant.limits[i].T)
        return q

    def close(
        self, start: Array, step: Callable[..., Array] | None = None, goal: float = 0.0, damping: float = 1e-2
    ) -> Array:
        """Configuration near a start with closed loops: to the goal, in sizes of the machine, or as far as possible."""
        q, step = self.within(start), step or self.step
        if not self.free.size or not (self.plant.row_names or self.placed.size):
            return q
        if self.turns:
            q, left = descend(self, q, self.equations, step, 1e-6, damping)
            if left > 1e-3:  # the rows may vanish here, but with an axis reversed
                return q
        return descend(self, q, self.rows, step, goal, damping)[0]

    def nearest(self, q: Array, guess: Array, known: NDArray[np.bool_]) -> Array:
        """Closed configuration nearest to a guess, on the branch of a closed one q: along the manifold, downhill.

        Coordinates of the guess that are not `known` (nv,) do not count. The search ends where the direction to the
        guess is perpendicular to the manifold within 0.01: the distance is right to 1e-4.
        """
        plant, free, part, rough = self.plant, self.free, 1.0, q
        way = np.where(known, plant.difference(q, guess), 0.0) / self.lengths
        while part > 0.05 and np.abs(way).max(initial=0.0) > _CURVED:
            move = np.zeros(plant.nv)
            move[free] = _along(self.rows(rough)[1]()[:, free], way[free])
            if np.linalg.norm(move) < 0.01 * np.linalg.norm(way):
                break
            trial = self.close(plant.integrate(rough, self.short(part * self.lengths * move)), goal=1e-6)
            closer = np.where(known, plant.difference(trial, guess), 0.0) / self.lengths
            if np.linalg.norm(closer) < np.linalg.norm(way) and plant.closure_error(trial) < 1e-5 * plant.size:
                rough, way, part = trial, closer, min(1.0, 2.0 * part)
            else:
                part *= 0.5
        return q if rough is q else self.close(rough)

    def rows(self, q: Array) -> tuple[Array, Callable[[], Array]]:
        """Residual of the rows, and a function that computes its Jacobian by displacements in radians and sizes."""
        plant, scale = self.plant, self.plant.row_scale / self.plant.size
        if not self.placed.size:
            return scale * plant.residual(q), lambda: scale[:, None] * plant.jacobian(q) * self.lengths
        r = np.concatenate([scale * plant.residual(q), (q - self.at)[self.placed] / plant.size])

        def slopes() -> Array:
            rates, unit = np.zeros((self.placed.size, plant.nv)), np.eye(plant.nv)
            for k in self.movers:
                rates[:, k] = plant.position_rate(q, unit[k])[self.placed] / plant.size
            return np.vstack([scale[:, None] * plant.jacobian(q), rates]) * self.lengths

        return r, slopes

    def equations(self, q: Array) -> tuple[Array, Callable[[], Array]]:
        """Residual with angles in place of the products of axes, and a function that computes its Jacobian."""
        r, jacobian = self.rows(q)
        if not self.turns:
            return r, jacobian
        R, S = screws(self.plant, q)
        angles = [turn.angles(R, S) for turn in self.turns]
        for turn, (angle, _) in zip(self.turns, angles, strict=True):
            r[turn.rows] = angle

        def turned() -> Array:
            J = jacobian()
            for turn, (_, rate) in zip(self.turns, angles, strict=True):
                J[turn.rows] = rate * self.lengths
            return J

        return r, turned

    def step(self, q: Array, r: Array, J: Array, damping: float) -> Array:
        """Damped step (nv,) within limits: coordinates that would pass one stop there, others are solved for again."""
        plant, (i, k) = self.plant, self.bounded.T
        low, high = np.full(plant.nv, -np.inf), np.full(plant.nv, np.inf)
        low[k], high[k] = ((plant.limits[i] - q[i, None]) / self.lengths[k, None]).T
        y, moving = np.zeros(plant.nv), self.free
        while moving.size:
            stopped = y.copy()
            stopped[moving] = 0.0
            y[moving] = damped(J[:, moving], r + J @ stopped, damping)
            beyond = (y < low) | (y > high)
            if not beyond[moving].any():
                break
            y, moving = np.clip(y, low, high), moving[~beyond[moving]]
        return self.short(self.lengths * y)

    def metric_step(self, metric: Callable[[Array], Array]) -> Callable[..., Array]:
        """Function for steps that are smallest in a metric of velocities, q -> (nv, nv), not in radians and sizes."""

        def step(q: Array, r: Array, J: Array, damping: float) -> Array:
            L = np.linalg.cholesky(metric(q))
            return self.short(np.linalg.solve(L.T, damped(np.linalg.solve(L, (J / self.lengths).T).T, r, damping)))

        return step

    def short(self, move: Array) -> Array:
        """Displacement (nv,), shortened where an angle is too large."""
        return move * min(1.0, _STRIDE / max(float(np.abs(move[self.angular]).max(initial=0.0)), _STRIDE))

    def displaced(self, q: Array) -> float:
        """Largest distance of held places from their targets, m."""
        return float(np.abs((q - self.at)[self.placed]).max(initial=0.0)) if self.placed.size else 0.0

    def reversed_loops(self, q: Array) -> list[str]:
        """Names of loops with a reversed axis, though their rows may vanish."""
        if not self.turns:
            return []
        R, S = screws(self.plant, q)
        return [turn.loop for turn in self.turns if np.linalg.norm(turn.angles(R, S)[0]) > 0.5 * np.pi]


def _units(plant: Plant) -> tuple[NDArray[np.bool_], Array]:
    """Mask (nv,) of coordinates that turn what they move, and a large motion (nv,) of each: a radian, or a size.

    A nut that is held on its axis alone counts as travelling, so that its pitch, like a gear, does not matter.
    """
    angular = np.array([unit == "rad/s" for unit in plant.velocity_units])
    lengths = np.where(angular, 1.0, plant.size)
    for joint in (joint for joint in getattr(plant, "joints", ()) if joint.pitch):
        if _held_on_axis(plant, joint):
            k = plant.index(joint.name)
            angular[k], lengths[k] = False, plant.size / abs(joint.pitch)
    return angular, lengths


def _held_on_axis(plant: Any, screw: Joint) -> bool:
    """Whether loops hold a nut by points on its axis only, and it carries nothing, so that its angle is not bound."""
    link, rows = plant.link_index(screw.child), plant.arrays.rows
    if (plant.arrays.links["parent"] == link).any():
        return False
    if any(screw.name in loop.coordinates for loop in plant.loops):
        return False
    for span in plant.row_slices.values():
        own = rows[span]
        if not ((own["a"] == link) | (own["b"] == link)).any():
            continue
        on_a = (own["a"] == link).any()
        # lines, planes and prescribed vectors on the nut turn with it
        whole = own["kind"][0] == layout.ROW_DISTANCE or (len(own) == 3 and own["target"][0] < 0)
        if not np.isin(own["kind"], (layout.ROW_OFFSET, layout.ROW_DISTANCE)).all() or (on_a and not whole):
            return False
        if np.abs(own["pa" if on_a else "pb"][:, :2]).max() > _ON_AXIS * plant.size:
            return False
    return True


def _still(plant: Plant, held: list[int]) -> tuple[list[int], NDArray[np.int64], list[int]]:
    """Rates that are zero for held positions, held positions without a rate of their own, and rates that move these."""
    pairs, names = dict(plant.paired), plant.position_names
    still, placed, movers = [pairs[i] for i in held if i in pairs], list[int](), list[int]()
    for i in (i for i in held if i not in pairs):
        joint = next(j for j in plant.joints if names[i] in j.position_names)  # type: ignore[attr-defined]
        own = [plant.velocity_names.index(name) for name in joint.velocity_names]
        if plant.position_units[i] == "1":  # of a quaternion
            still += [k for k in own if plant.velocity_units[k] == "rad/s"]
        else:
            placed.append(i)
            movers += own
    return sorted(set(still)), np.array(placed, dtype=np.int64), sorted(set(movers))


def screws(plant: Any, q: Array) -> tuple[Array, Array]:
    """Rotations of the links, and world screws of the velocity coordinates (nv, 6), of a mechanism."""
    R, p = plant.link_poses(q)
    S = np.empty((plant.nv, 6))
    tree.joint_screws(plant.arrays.links, R, p, S)
    return R, S


@dataclass(frozen=True, eq=False)
class Turn:
    """Rotation that a loop binds, as angles, which vanish only where the frames agree.

    Products of axes, u . w = 0, vanish with an axis reversed as well.
    """

    loop: str
    rows: NDArray[np.int64]  # those that keep axes perpendicular
    a: int  # links; -1 is the ground
    b: int
    frame_a: Array  # in the axes of the links
    frame_b: Array
    path: Array  # (nv,) 1 for coordinates that move b, -1 for those that move a, 0 for both or none

    def angles(self, R: Array, S: Array) -> tuple[Array, Array]:
        """Angles (2 or 3,), and their rates by velocity coordinates, of the rotation of b as seen from a."""
        A = self.frame_a if self.a < 0 else R[self.a] @ self.frame_a
        B = self.frame_b if self.b < 0 else R[self.b] @ self.frame_b
        spin = A.T @ (self.path[:, None] * S[:, :3]).T
        return (_rotation_vector if len(self.rows) == 3 else _tilt)(A.T @ B, spin)


def turns(plant: Plant) -> list[Turn]:
    """Rotations bound by all loops whose rows would also vanish with an axis reversed, but for universal joints."""
    rotations = []
    for loop in plant.loops:
        if loop.aligned is None or loop.name not in plant.row_slices:
            continue
        span, compiled, links = plant.row_slices[loop.name], plant._compiled, plant.arrays.links
        rows = span.start + np.flatnonzero(plant.arrays.rows[span]["kind"] == layout.ROW_ALIGN)
        if not rows.size:
            continue
        a, b = (compiled.link_of[end] for end in loop.ends)
        placed = [compiled.frame_of[end].R.T @ axes for end, axes in zip(loop.ends, loop.aligned, strict=True)]
        path = np.zeros(plant.nv)
        for link, sign in ((a, -1.0), (b, 1.0)):
            while link >= 0:
                path[links[link]["iv"] : links[link]["iv"] + links[link]["nv"]] += sign
                link = links[link]["parent"]
        rotations.append(Turn(loop.name, rows, a, b, *placed, path))
    return rotations


def _rotation_vector(R: Array, spin: Array) -> tuple[Array, Array]:
    """Logarithm of a rotation, and its rate."""
    v = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = float(np.linalg.norm(v)), 0.5 * (np.trace(R) - 1.0)
    angle = np.arctan2(sine, cosine)
    if sine > 1e-6:
        x = v * (angle / sine)
    elif cosine > 0.0:
        x = v
    else:  # half a turn: R = 2 n n' - 1
        n = (R + np.eye(3))[np.argmax(R.diagonal())]
        x = n * (angle / np.linalg.norm(n)) * (1.0 if n @ v >= 0.0 else -1.0)
    half = 0.5 * angle
    k = (1.0 - half / np.tan(half)) / angle**2 if angle > 1e-3 else 1.0 / 12.0
    K = np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])
    return x, (np.eye(3) - 0.5 * K + k * K @ K) @ spin


def _tilt(R: Array, spin: Array) -> tuple[Array, Array]:
    """Shortest rotation vector that takes z to the z axis of R, without its third entry 0, and its rate."""
    z, (a, b, c) = R[:, 2], spin
    n, rate = np.array([-z[1], z[0]]), (b * z[2] - c * z[1], c * z[0] - a * z[2], a * z[1] - b * z[0])  # spin x z
    dn, sine = np.array([-rate[1], rate[0]]), float(np.hypot(*z[:2]))
    angle = np.arctan2(sine, z[2])
    if sine < 1e-8:  # at half a turn the axis is open: that of x will do
        return (n, dn) if z[2] > 0.0 else (np.array([np.pi, 0.0]), np.array([spin[0], 0.0 * spin[0]]))
    n = n / sine
    ds = n @ dn
    return angle * n, np.outer(n, z[2] * ds - sine * rate[2]) + angle / sine * (dn - np.outer(n, ds))


def require_closed(plant: Plant, q: Array, tolerance: float = 1e-6, given: object = None) -> None:
    """Raise an error where the loops are open by more than `tolerance` sizes of the machine at a configuration.

    `given` is the user's argument for q: a mapping may leave out joints, which the message then says.
    """
    residuals = plant.loop_residuals(q)
    if all(r <= tolerance * plant.size for r in residuals.values()):
        return
    remedy = "Use plant.assemble(...), or plant.close(q)."
    if isinstance(given, Mapping) and len(given) < plant.nq:
        values = ", ".join(f"{name}={float(x):g}" for name, x in given.items())
        remedy = f"Joints that the mapping does not name are at 0; plant.assemble({values}) closes the loops."
    raise AssemblyError(
        f"q does not close the loops of {plant.name!r}: {listed_open(plant, q, tolerance * plant.size)}. {remedy}",
        residuals,
        q,
    )


def listed_open(plant: Plant, q: Array, closed: float) -> str:
    """Text with the worst three loops open by more than `closed` m; tiny openings beside the largest are left out.

    Constraints of angles alone, as couplings are, are open by an angle.
    """
    residuals, phi, told = plant.loop_residuals(q), np.abs(plant.residual(q)), []
    least = max(closed, 1e-6 * max(residuals.values()))
    found = [name for name, r in residuals.items() if not r <= least]
    worst = sorted(found, key=lambda name: -residuals[name])[:_LISTED]
    for name in (name for name in found if name in worst):
        rows = plant.row_slices[name]
        turns = set(plant.row_units[rows]) == {"rad"}
        told.append(f"{name!r} open by " + (f"{phi[rows].max():.3e} rad" if turns else f"{residuals[name]:.3e} m"))
    more = f" and {len(found) - len(worst)} more" if len(found) > len(worst) else ""
    return ", ".join(told) + more


def not_closed(plant: Plant, q: Array) -> AssemblyError:
    """Error of `Plant.close` at a configuration that it could not close."""
    residuals = plant.loop_residuals(q)
    worst = max(residuals, key=residuals.__getitem__)
    return AssemblyError(
        f"the loops of {plant.name!r} cannot be closed near this configuration: {worst!r} stays open by "
        f"{residuals[worst]:.3e} m. Start nearer, or use assemble().",
        residuals,
        q,
    )
