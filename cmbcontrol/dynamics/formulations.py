"""Acceleration of a constrained machine, by the formulation of your choice.

All agree where the constraints are consistent, redundant rows included. The default follows
Gauss' principle in mass coordinates (one Cholesky factor, one set of reflections): the cheapest,
and the only one whose rank decision does not depend on units.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import ModelError
from ..kernels import constrained
from ..model.plant import Plant
from ..model.terms import FAILED, RANK_TOLERANCE, Terms

__all__ = ["FORMULATIONS", "acceleration", "constraint_inertia", "forward_dynamics"]

Array = NDArray[np.float64]


def forward_dynamics(
    plant: Plant,
    q: ArrayLike,
    v: ArrayLike,
    u: ArrayLike | None = None,
    *,
    formulation: str = "gauss",
    **options: float,
) -> Array:
    """Acceleration of the machine under motor efforts u.

    Parameters
    ----------
    plant : Mechanism or FunctionPlant
    q, v : array_like, shape (nq,) and (nv,)
    u : array_like, shape (nu,), optional
        Motor efforts, N or N m; zero unless given.
    formulation : {"gauss", "null-space", "aghili", "aghili-symmetric", "aghili-gamma"}
        See `acceleration`.
    **options
        ``gamma`` for "aghili-gamma".

    Returns
    -------
    vdot : ndarray, shape (nv,)
        rad/s2 or m/s2.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> forward_dynamics(plant, plant.assemble(left=2.1, right=1.0), [0.0] * 4).round(3)
    array([ 5.457, -9.875, -5.662,  9.881])
    """
    model = getattr(plant, "model", None)
    if model is not None and formulation == "gauss" and not options:  # one compiled call
        q = _check.vector(q, plant.nq, "q", plant.position_names)
        v = _check.vector(v, plant.nv, "v", plant.velocity_names)
        u = np.zeros(plant.nu) if u is None else _check.vector(u, plant.nu, "u", plant.actuator_names)
        vdot, rank = constrained.forward_dynamics(model, q, v, u, RANK_TOLERANCE)
        if rank == FAILED:
            raise ModelError(f"the mass matrix of {plant.name!r} is not positive definite at q = {q.tolist()}")
        return vdot
    terms = plant.terms(q, v)
    u = np.zeros(plant.nu) if u is None else _check.vector(u, plant.nu, "u", plant.actuator_names)
    return acceleration(terms, terms.B @ u, formulation=formulation, **options)


def acceleration(terms: Terms, f: ArrayLike, *, formulation: str = "gauss", **options: float) -> Array:
    """Acceleration under the generalized force f.

    Parameters
    ----------
    terms : Terms
    f : array_like, shape (nv,)
        Joint forces, N or N m.
    formulation : str
        ``"gauss"``: nearest to M^-1 (f - h) in the metric of M among those with A vdot + b = 0.
        ``"null-space"``: c + Z (Z'MZ)^-1 Z'(f - h - M c), c = -A+ b (Spencer, eq. 3.5b).
        ``"aghili"``: M_c vdot = P(f - h) + M C v, M_c = M + PM - (PM)' (eqs. 22-24).
        ``"aghili-symmetric"``: M_c' = PMP + (I-P)M(I-P), right side P(f - h) + (I - 2P) M C v (eqs. 27-28).
        ``"aghili-gamma"``: M_c'' = PM + gamma (I - P), right side P(f - h) + gamma C v (eq. 29);
        ``gamma`` in units of mass, the 2-norm of M unless given.

    Returns
    -------
    vdot : ndarray, shape (nv,)

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> terms = plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4)
    >>> bool(np.allclose(acceleration(terms, np.zeros(4)), acceleration(terms, np.zeros(4), formulation="aghili")))
    True
    """
    _check.one_of(formulation, FORMULATIONS, "formulation")
    f = _check.vector(f, terms.h.size, "f")
    return FORMULATIONS[formulation](terms, f, **options)


def _gauss(terms: Terms, f: Array) -> Array:
    return constrained.gauss_acceleration(
        terms.M, terms.A, terms.row_scale, f - terms.h, -terms.b, RANK_TOLERANCE, terms.rank
    )[0]


def _null_space(terms: Terms, f: Array) -> Array:
    Z, c = terms.Z, terms.Cv
    return c + Z @ np.linalg.solve(Z.T @ terms.M @ Z, Z.T @ (f - terms.h - terms.M @ c))


def constraint_inertia(terms: Terms, form: str = "aghili", gamma: float | None = None) -> Array:
    """Aghili's constraint inertia matrix M_c (eq. 23), M_c' (28) or M_c'' (29), shape (nv, nv)."""
    M, P = terms.M, terms.P
    I = np.eye(len(M))
    match _check.one_of(form, ("aghili", "aghili-symmetric", "aghili-gamma"), "form"):
        case "aghili":
            return M + P @ M - (P @ M).T
        case "aghili-symmetric":
            return P @ M @ P + (I - P) @ M @ (I - P)
        case _:
            return P @ M + _gamma(terms, gamma) * (I - P)


def _gamma(terms: Terms, gamma: float | None) -> float:
    """Aghili's choice, gamma = |M|, unless given."""
    return float(np.linalg.norm(terms.M, 2)) if gamma is None else _check.positive(gamma, "gamma")


def _aghili(terms: Terms, f: Array) -> Array:
    right = terms.P @ (f - terms.h) + terms.M @ terms.Cv
    return np.linalg.solve(constraint_inertia(terms), right)


def _aghili_symmetric(terms: Terms, f: Array) -> Array:
    MCv = terms.M @ terms.Cv
    right = terms.P @ (f - terms.h) + MCv - 2.0 * terms.P @ MCv
    return np.linalg.solve(constraint_inertia(terms, "aghili-symmetric"), right)


def _aghili_gamma(terms: Terms, f: Array, gamma: float | None = None) -> Array:
    gamma = _gamma(terms, gamma)
    right = terms.P @ (f - terms.h) + gamma * terms.Cv
    return np.linalg.solve(constraint_inertia(terms, "aghili-gamma", gamma), right)


FORMULATIONS: dict[str, Callable[..., Array]] = {
    "gauss": _gauss,
    "null-space": _null_space,
    "aghili": _aghili,
    "aghili-symmetric": _aghili_symmetric,
    "aghili-gamma": _aghili_gamma,
}
