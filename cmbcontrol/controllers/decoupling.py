"""Coupling of motion and constraint forces (Aghili, section 5.3), and constraint forces that motors can set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import UNREACHED, null_space, pinv, rank
from ..kernels import linear_algebra
from ..model.efforts import require_reached
from ..model.plant import Plant
from ..model.terms import Terms
from .actuation import metric_root

__all__ = [
    "CrossCoupling",
    "Decoupling",
    "ReachableForces",
    "cross_coupling",
    "is_decoupled",
    "reachable_forces",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CrossCoupling:
    """Cross-coupling of a machine: constraint forces that come with the forces that move it.

    Attributes
    ----------
    mu : ndarray, shape (nv, nv)
        The cross-coupling channel mu = (I - P) M M_c^-1 of eq. (32), N and N m.
    potent : ndarray, shape (nv, nv)
        mu P, all of mu that acts on forces: a potent force f in N(A) changes the constraint force by -(mu P) f.
    size : float
        2-norm of mu P, without a unit: largest constraint force, over the potent force that it comes with.
    """

    mu: Array
    potent: Array
    size: float


def cross_coupling(terms: Terms, root: ArrayLike | None = None) -> CrossCoupling:
    """Cross-coupling channel mu between motion and constraint force (Aghili, eq. 32 and Proposition 3).

    With an orthonormal basis Z of N(A), mu P = (I - P) M Z (Z'M Z)^-1 Z': it vanishes where M maps N(A) into itself.

    Parameters
    ----------
    terms : Terms
    root : array_like, shape (nv, nv), optional
        Root L, where W = L L' is the metric of velocities (section 7.2): then P is the projector orthogonal in W.
        By default, the identity, as in the paper: all coordinates of one unit.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> particle = plants.particle_on_circle(mass=2.0)
    >>> cross_coupling(particle.terms([0.6, 0.8], [0.0, 0.0])).size
    0.0
    """
    _check.instance(terms, Terms, "terms", "from plant.terms(q, v)")
    n = terms.h.size
    if root is None:
        M, Z = terms.M, terms.Z
        L = inverse = np.eye(n)
    else:
        L = _check.matrix(root, (n, n), "root")
        inverse = np.linalg.inv(L)
        M, Z = inverse @ terms.M @ inverse.T, np.linalg.qr(L.T @ terms.Z)[0]
    P, I = Z @ Z.T, np.eye(n)
    potent = (I - P) @ M @ Z @ np.linalg.solve(Z.T @ M @ Z, Z.T)
    if np.abs(potent).max(initial=0.0) < 64.0 * np.finfo(float).eps:
        potent = np.zeros_like(potent)
    PM = P @ M
    mu = (I - P) @ M @ np.linalg.inv(M + PM - PM.T)
    size = float(np.linalg.norm(potent, 2)) if potent.size else 0.0
    return CrossCoupling(L @ mu @ inverse, L @ potent @ inverse, size)


@dataclass(frozen=True, eq=False)
class Decoupling:
    """Result of `is_decoupled`; true where motion and constraint force are decoupled.

    Attributes
    ----------
    decoupled : bool
        ``coupling <= tolerance``.
    coupling : float
        Size of mu P in the metric W: constraint force over potent force, at worst.
    driving : str
        The joint whose potent force loads the loops most; empty where decoupled.
    loaded : str
        The joint on which that load is largest.
    gain : float
        Change of the constraint force on `loaded`, per unit of potent force on `driving`, in their units.
    row : str
        The row whose multiplier changes most with it, of those that the motion determines; empty if there is none.
    tolerance : float
    """

    decoupled: bool
    coupling: float
    driving: str
    loaded: str
    gain: float
    row: str
    tolerance: float

    def __bool__(self) -> bool:
        return self.decoupled

    def __str__(self) -> str:
        if self.decoupled:
            return f"decoupled: |mu P| = {self.coupling:.3g}"
        row = f", most of it in row {self.row!r}" if self.row else ""
        return (
            f"coupled: |mu P| = {self.coupling:.3g}; strongest from {self.driving!r} onto {self.loaded!r} "
            f"({self.gain:.3g} per unit{row})"
        )


def is_decoupled(plant: Plant, q: ArrayLike, tolerance: float = 1e-9, *, metric: ArrayLike | None = None) -> Decoupling:
    """Whether motion and constraint force are decoupled at a configuration: N(A) is invariant under M (Proposition 3).

    On a decoupled plant, forces that accelerate it do not load the loops, so that force control needs no mu.

    Parameters
    ----------
    plant : Plant
    q : array_like, shape (nq,)
    tolerance : float
        Largest size of mu P that counts as zero.
    metric : array_like, shape (nv,) or (nv, nv), optional
        Metric W of velocities (section 7.2), which decides what a potent force is. By default, a radian counts as
        ``plant.size`` metres (50), so that units do not matter; with joints of one kind this is Aghili's P. In the
        metric of M itself every plant is decoupled.

    Returns
    -------
    Decoupling
        True or false, with the size of the coupling and its strongest pair of joints.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> bool(is_decoupled(plants.particle_on_circle(), [1.0, 0.0]))
    True
    >>> plant = plants.five_bar()
    >>> print(is_decoupled(plant, plant.assemble(left=2.1, right=1.0)))
    coupled: |mu P| = 0.996; strongest from 'right' onto 'elbow_right' (-0.42 per unit, most of it in row 'tip_x')
    """
    _check.plant(plant)
    terms = plant.terms(q, np.zeros(plant.nv))
    root = metric_root(plant, metric, "metric")
    tolerance = _check.positive(tolerance, "tolerance", zero=True)
    coupling = cross_coupling(terms, root)
    if coupling.size <= tolerance:
        return Decoupling(True, coupling.size, "", "", 0.0, "", tolerance)
    alike = np.linalg.inv(root) @ coupling.potent @ root  # forces of all joints in one unit
    i, j = np.unravel_index(int(np.abs(alike).argmax()), alike.shape)
    loads = np.abs(terms.A_pinv.T @ coupling.potent[:, j]) / plant.row_scale
    loads[~terms.determines(np.eye(len(plant.row_names)))] = 0.0
    row = plant.row_names[int(loads.argmax())] if loads.max(initial=0.0) > 0.0 else ""
    names = plant.velocity_names
    return Decoupling(False, coupling.size, names[j], names[i], -float(coupling.potent[i, j]), row, tolerance)


def surplus_efforts(terms: Terms, force: Array, root: Array | None = None) -> tuple[Array, Array]:
    """All efforts with Z'(B u - force) = 0: the smallest one u0 (nu,), and a basis N (nu, s) of those to be added.

    With a root of their metric W = root root', u0 minimizes u' W^-1 u, and the columns of N are orthonormal to it and
    to each other in that metric.

    Raises
    ------
    ActuationError
        Where no efforts give Z'B u = Z'force.
    """
    B = terms.B if root is None else terms.B @ root
    U = terms.unit_motions
    X, lengths, scale = linear_algebra.motor_reach(U, B, terms.unit_lengths)
    need = U.T @ force / lengths
    u = pinv(X, scale, UNREACHED) @ need
    require_reached(terms, need - X @ u, force)
    N = null_space(X, scale, UNREACHED)
    return (u, N) if root is None else (root @ u, root @ N)


def split_range(X: Array, scale: float) -> tuple[Array, Array, Array]:
    """Singular value decomposition of X at its rank: U (m, r), s (r,), V' (r, n). `scale` is that of its terms."""
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    r = rank(s, scale, UNREACHED)
    return U[:, :r], s[:r], Vt[:r]


@dataclass(frozen=True, eq=False)
class ReachableForces:
    """Constraint forces that the motors can change without moving the machine.

    Attributes
    ----------
    dimension : int
        Number of independent ones.
    rank : int
        Number of independent constraint forces that there are, reachable or not.
    basis : ndarray, shape (nv, dimension)
        Orthonormal basis of the reachable changes of F = A' lam.
    efforts : ndarray, shape (nu, dimension)
        Motor efforts that make them, and do not move the machine.
    multipliers : ndarray, shape (rows, dimension)
        The same changes as multipliers, the smallest ones where rows are redundant.
    rows : dict of row name to str
        ``"independent"``: can be set while all other determined rows keep their values; ``"shared"``: changes, but only
        together with others; ``"fixed"``: no motor changes it; ``"undetermined"``: redundant rows share it in a way
        that the motion does not determine.
    loops : dict of loop name to str
        ``"independent"``: all determined rows of it can be set to anything, the forces of other loops kept;
        ``"partly"`` where that holds for some rows; ``"shared"``, ``"fixed"`` and ``"undetermined"`` as for rows.
    """

    dimension: int
    rank: int
    basis: Array
    efforts: Array
    multipliers: Array
    rows: dict[str, str]
    loops: dict[str, str]

    @property
    def complete(self) -> bool:
        """Whether the motors can set every constraint force."""
        return self.dimension == self.rank

    def __str__(self) -> str:
        lines = [f"reachable constraint forces: {self.dimension} of {self.rank}"]
        for what, table in (("loop", self.loops), ("row", self.rows)):
            width = max((len(name) for name in table), default=0)
            lines += [f"  {what}  {name:<{width}}  {verdict}" for name, verdict in table.items()]
        return "\n".join(lines)


def reachable_forces(plant: Plant, q: ArrayLike) -> ReachableForces:
    """Constraint forces that the motors can set at a configuration without a change of the motion.

    Efforts u = N w with Z'B N = 0 do not accelerate the machine. They change the constraint force by B N w, which lies
    in R(A'); with a motor on every joint that is all of it.

    Parameters
    ----------
    plant : Plant
    q : array_like, shape (nq,)

    Examples
    --------
    Two motors for two degrees of freedom leave no choice; two arms can squeeze what they hold:

    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> reachable_forces(plant, plant.assemble(left=2.1, right=1.0)).dimension
    0
    >>> from cmbcontrol.plants.two_arms import configuration
    >>> plant = plants.two_arms(closure="planar")
    >>> print(reachable_forces(plant, configuration(plant)))
    reachable constraint forces: 3 of 3
      loop  grasp        independent
      loop  grasp_angle  independent
      row  grasp_x      independent
      row  grasp_y      independent
      row  grasp_angle  independent
    """
    _check.plant(plant)
    terms = plant.terms(q, np.zeros(plant.nv))
    L = metric_root(plant)
    pushes = np.linalg.solve(L, terms.B)  # N
    size = np.linalg.norm(pushes, axis=0)
    gear = np.diag(1.0 / np.where(size > 0.0, size, 1.0))  # motors in units of the forces that they make
    N = surplus_efforts(terms, np.zeros(plant.nv), gear)[1]
    U, s, Vt = split_range(pushes @ N, 1.0)
    basis, triangle = np.linalg.qr(L @ U)
    efforts = N @ (Vt.T / s) @ np.linalg.inv(triangle) if s.size else np.zeros((plant.nu, 0))
    lam = terms.A_pinv.T @ basis
    sure = terms.determines(np.eye(len(lam)))
    rows, loops = _verdicts(plant, (terms.A_pinv.T @ L @ U) / plant.row_scale[:, None], sure)
    return ReachableForces(s.size, terms.rank, basis, efforts, lam, rows, loops)


def _verdicts(plant: Plant, lam: Array, sure: NDArray[np.bool_]) -> tuple[dict[str, str], dict[str, str]]:
    """Verdicts such as "shared" for rows and for loops, from multipliers (rows, dimension) of orthonormal forces, N."""
    reach = np.where(sure[:, None], lam, 0.0)
    size = np.linalg.norm(reach, axis=1)
    scale = max(float(size.max(initial=0.0)), 1.0)  # levers are of the order of one, so that multipliers are as forces
    moved = size > UNREACHED * scale
    U = split_range(reach, scale)[0]
    # row i alone is reachable where the unit vector e_i lies in the range, whose projector is U U'
    alone = np.linalg.norm(np.eye(len(lam)) - U @ U.T, axis=1) < 1e-7
    rows = {}
    for i, name in enumerate(plant.row_names):
        rows[name] = (
            "undetermined" if not sure[i] else "fixed" if not moved[i] else "independent" if alone[i] else "shared"
        )
    loops = {}
    for name, part in plant.row_slices.items():
        verdicts = {rows[plant.row_names[i]] for i in range(part.start, part.stop)} - {"undetermined"}
        loops[name] = verdicts.pop() if len(verdicts) == 1 else "partly" if verdicts else "undetermined"
    return rows, loops
