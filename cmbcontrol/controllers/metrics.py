"""Metrics for generalized forces whose entries have different units (Aghili, section 7.2, eqs. 49-50).

"Smallest effort" has no meaning where some motors push and others turn: with millimetres in place of metres another
one is the smallest. With a positive definite W, all terms of the norm

    ||f||_W = (f' W^-1 f)^(1/2)                                                                     (49)

have the same unit; W^1/2 scales velocities, v_W = W^1/2 v, so that power does not change. Two norms are minimised:

* `motor_effort`, and with it every law that has ``weight=W``, minimises u' W^-1 u over the motor efforts u (nu,).
* `WeightedProjection` minimises f' W^-1 f over forces f (nv,) on all coordinates, as eq. 45 in the coordinates f_W.

They agree where every coordinate has its own motor.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import DEPENDENT, UNREACHED
from ..errors import InputError, InputTypeError, SingularConfigurationError
from ..model.efforts import weight_root
from ..model.plant import Plant
from ..model.units import effort_units, force_units

__all__ = ["WeightedProjection", "characteristic_length", "effort_metric", "length_metric", "weighted_norm"]

Array = NDArray[np.float64]

_OF = ("motors", "coordinates")


def length_metric(plant: Plant, length: float | None = None, *, of: str = "motors") -> Array:
    """Metric W from a characteristic length L (50): a force counts as its torque there, ||f||^2 = L^2 f_f^2 + f_t^2.

    Parameters
    ----------
    plant : Plant
    length : float, optional
        L, m; defaults to `plant.size`. `characteristic_length` finds one that the machine itself has.
    of : {"motors", "coordinates"}
        Metric of the motor efforts, for ``weight=``, or of forces on all coordinates.

    Returns
    -------
    W : ndarray, shape (nu,) or (nv,)
        Diagonal: L^-2 for forces, 1 for torques.

    Raises
    ------
    ValueError
        Where the unit of a motor or a coordinate, rad or m, is not known.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> length_metric(plants.loader(), 0.5)
    array([4., 4.])
    """
    _check.plant(plant)
    length = plant.size if length is None else _check.positive(length, "length")
    return np.where(_pushes(plant, of), 1.0 / length**2, 1.0)


def effort_metric(plant: Plant, limits: ArrayLike | None = None) -> Array:
    """Metric W from the limits of the motors, W^1/2 = diag(limits): each effort counts as a part of its limit.

    Parameters
    ----------
    plant : Plant
    limits : array_like, shape (nu,), optional
        Largest efforts, N or N m; defaults to `plant.effort`.

    Returns
    -------
    W : ndarray, shape (nu,)

    Raises
    ------
    ValueError
        Where a motor has no limit; it is named.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> effort_metric(plants.two_arms(effort=(150.0, 80.0, 25.0)))
    array([22500.,  6400.,   625., 22500.,  6400.,   625.])
    """
    _check.plant(plant)
    limits = _check.numbers(plant.effort if limits is None else limits, "limits")
    if limits.shape != (plant.nu,):
        raise InputError(f"limits must be {plant.nu}, one per motor, got shape {limits.shape}")
    bad = [n for n, x in zip(plant.actuator_names, limits, strict=True) if not (np.isfinite(x) and x > 0.0)]
    if bad:
        raise InputError(
            f"a metric from limits needs one of every motor, > 0, and {', '.join(map(repr, bad))} of {plant.name!r} "
            "has none; build the plant with effort=, or give limits=[...]"
        )
    return limits**2


def characteristic_length(plant: Plant, q: ArrayLike) -> float:
    """Characteristic length of the machine at a configuration, m: at this arm a force moves it like its torque.

    Parameters
    ----------
    plant : Plant
        Plant with motors that push and motors that turn.
    q : array_like, shape (nq,)
        Configuration with closed loops.

    Returns
    -------
    length : float
        Length for `length_metric`, m: the ratio of the mean acceleration, in the metric of M, to one newton and to one
        newton metre.

    Raises
    ------
    ValueError
        Where all motors are of one kind, so that the length has no effect.

    Notes
    -----
    The columns of (Z'M Z)^(-1/2) Z'B are the motions that a unit of each motor sets off, measured by their kinetic
    energy, whatever coordinates, units of length and basis Z are used. L is the ratio of the root mean square lengths
    of those of pushing and turning motors. It changes with the unit of length as a length does, so that the W of
    `length_metric` leads to the same efforts in any units. It plays the part of the lengths that make the condition
    number of a Jacobian smallest, and needs no search.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> characteristic_length(plants.loader(), plants.catalogue["loader"].initial(plants.loader())[0])
    Traceback (most recent call last):
        ...
    cmbcontrol.errors.InputError: all motors of 'loader' push: no length is needed to compare them
    """
    _check.plant(plant)
    pushes = _pushes(plant, "motors")
    if pushes.all() or not pushes.any():
        what = "push" if pushes.any() else "turn"
        raise InputError(f"all motors of {plant.name!r} {what}: no length is needed to compare them")
    terms = plant.terms(_check.vector(q, plant.nq, "q", plant.position_names), np.zeros(plant.nv))
    Z = terms.Z
    moved = np.linalg.solve(np.linalg.cholesky(Z.T @ terms.M @ Z), Z.T @ terms.B)
    free = np.linalg.solve(np.linalg.cholesky(terms.M), terms.B)  # without the loops
    (push, turn), terms_of = (
        [float(np.sqrt(np.mean(np.sum(X[:, mask] ** 2, axis=0)))) for mask in (pushes, ~pushes)] for X in (moved, free)
    )
    if push <= UNREACHED * terms_of[0] or turn <= UNREACHED * terms_of[1]:
        raise SingularConfigurationError(
            f"some motors of {plant.name!r} move nothing at this configuration; choose another one"
        )
    return push / turn


def weighted_norm(f: ArrayLike, W: ArrayLike) -> float:
    """Weighted norm of forces, ||f||_W = (f' W^-1 f)^(1/2) (49).

    Parameters
    ----------
    f : array_like, shape (n,)
    W : array_like, shape (n,) or (n, n)
        Positive metric: a diagonal, or a symmetric matrix.

    Examples
    --------
    >>> weighted_norm([3.0, 8.0], [1.0, 4.0])
    5.0
    """
    f = np.atleast_1d(_check.numbers(f, "f"))
    f = _check.vector(f, f.size, "f")
    if W is None:
        raise InputTypeError("W must be a diagonal (k,) or a matrix (k, k), got None")
    return float(np.linalg.norm(np.linalg.solve(weight_root(W, f.size, "W"), f)))


class WeightedProjection:
    """Projector on N(A) in the coordinates f_W = W^(-1/2) f and v_W = W^(1/2) v (section 7.2).

    Parameters
    ----------
    A : array_like, shape (rows, nv)
    W : array_like, shape (nv,) or (nv, nv)
        Positive metric: a diagonal, or a symmetric matrix.
    rank : int, optional
        Rank of A, such as `Terms.rank`; defaults to that by its singular values.

    Attributes
    ----------
    W, root : ndarray, shape (nv, nv)
        The metric, and its symmetric root W^(1/2).
    A_W : ndarray, shape (rows, nv)
        A W^(-1/2).
    A_W_pinv : ndarray, shape (nv, rows)
        Its pseudoinverse.
    P_W : ndarray, shape (nv, nv)
        1 - A_W+ A_W.

    Examples
    --------
    >>> weighted = WeightedProjection([[1.0, -1.0]], [1.0, 3.0])
    >>> weighted.force([1.0, 1.0])
    array([0.5, 1.5])
    """

    def __init__(self, A: ArrayLike, W: ArrayLike, rank: int | None = None) -> None:
        A = _check.numbers(A, "A")
        if A.ndim != 2:
            raise InputError(f"A must have shape (rows, nv), got {A.shape}")
        A = _check.matrix(A, A.shape, "A")
        R = weight_root(W, A.shape[1], "W")
        if R is None:
            raise InputTypeError("W must be a diagonal (nv,) or a matrix (nv, nv), got None")
        self.W = R @ R.T
        values, vectors = np.linalg.eigh(self.W)
        self.root = (vectors * np.sqrt(values)) @ vectors.T
        self._inverse = (vectors / np.sqrt(values)) @ vectors.T
        self.A_W = A @ self._inverse
        self._U, self._s, self._V = np.linalg.svd(self.A_W, full_matrices=False)
        independent = int(np.count_nonzero(self._s > DEPENDENT * self._s.max(initial=0.0)))
        if rank is not None and not 0 <= _check.count(rank, "rank", 0) <= self._s.size:
            raise InputError(f"rank must be 0 to {self._s.size}, got {rank}")
        self.rank = independent if rank is None else int(rank)

    @cached_property
    def A_W_pinv(self) -> Array:
        r = self.rank
        return (self._V[:r].T / self._s[:r]) @ self._U[:, :r].T

    @cached_property
    def P_W(self) -> Array:
        V = self._V[: self.rank]
        return np.eye(V.shape[1]) - V.T @ V

    def force(self, f: ArrayLike) -> Array:
        """Force W^(1/2) P_W W^(-1/2) f: of all that move the machine like f, the one with the smallest ||f||_W."""
        f = _check.vector(f, len(self.root), "f")
        return self.root @ (self.P_W @ (self._inverse @ f))

    def velocity(self, v: ArrayLike) -> Array:
        """Velocity W^(-1/2) P_W W^(1/2) v: the admissible one nearest to v in the metric W."""
        v = _check.vector(v, len(self.root), "v")
        return self._inverse @ (self.P_W @ (self.root @ v))


def _pushes(plant: Plant, of: str) -> NDArray[np.bool_]:
    """Mask of the motors or coordinates with forces, N; the others have torques, N m."""
    motors = _check.one_of(of, _OF, "kind of forces") == "motors"
    units = effort_units(plant) if motors else force_units(plant)
    names = plant.actuator_names if motors else plant.velocity_names
    unknown = [n for n, unit in zip(names, units, strict=True) if unit not in ("N", "N m")]
    if unknown:
        raise InputError(
            f"it is not known whether {', '.join(map(repr, unknown))} of {plant.name!r} pushes or turns; give the "
            "coordinates of a FunctionPlant units=, and motors the names of what they drive, or give W yourself"
        )
    return np.array([unit == "N" for unit in units], dtype=bool)
