"""Derivatives of the motion by the numbers of a machine: masses, lengths, stiffnesses, gravity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import UNREACHED
from ..errors import ModelError, RedundantRowsError, SingularConfigurationError
from ..model.mechanism import Mechanism
from ..model.parameters import parameters as parameters_of
from ..trace.code import code
from ..trace.tangents import Moves
from .derivatives import Derivatives, derivatives

__all__ = ["ParameterDerivatives", "parameter_derivatives"]

Array = NDArray[np.float64]


class ParameterDerivatives(NamedTuple):
    """Acceleration and multipliers of a machine at a state, with derivatives by k of its parameters.

    Each derivative has a column for each parameter, in its unit.

    Attributes
    ----------
    names, units : tuple of str
        Names and units of the parameters.
    values : ndarray, shape (k,)
    a, lam : ndarray, shape (nv,) and (rows,)
        Acceleration and multipliers; the smallest ones where rows are redundant.
    a_p, lam_p : ndarray, shape (nv, k) and (rows, k)
        Their derivatives at the same q, v and u. nan where there are none, see `exists`.
    force_p : ndarray, shape (nv, k)
        d/dp [M a + h + A' lam - B u] with a and lam held. By masses and inertias it is the regressor of identification.
    accel_p : ndarray, shape (rows, k)
        d/dp [A a + b] with a held.
    phi_p, rate_p : ndarray, shape (rows, k)
        d phi/dp, how the loops open, and d(A v)/dp.
    exists : ndarray of bool, shape (k,)
        False for a parameter that makes redundant rows contradict each other: however small its change is, the machine
        has another mobility, or its loops cannot accelerate as they should.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    a: Array
    lam: Array
    a_p: Array
    lam_p: Array
    force_p: Array
    accel_p: Array
    phi_p: Array
    rate_p: Array
    exists: NDArray[np.bool_]


def parameter_derivatives(
    plant: Mechanism, q: ArrayLike, v: ArrayLike, u: ArrayLike | None = None, *, parameters: Sequence[str] | None = None
) -> ParameterDerivatives:
    """Acceleration and multipliers with derivatives by numbers of the machine: masses, lengths, stiffnesses, gravity.

    With F = M a + h + A' lam - B u and C = A a + b they follow from M da + A' dlam = -dF/dp and A da = -dC/dp. Both
    right sides are exact derivatives of the kernels' expressions, compiled once for each structure of a machine.

    State and efforts are held. A length changes the loops too: the changed machine is open by phi_p dp at the same q,
    and its loops move apart by rate_p dp at the same v. Where it is to be closed, use displacements with
    A delta = -phi_p dp and A dv + d(A v)/dq delta = -rate_p dp, and the derivatives by q and v of `derivatives`.

    Parameters
    ----------
    plant : Mechanism
    q, v : array_like, shape (nq,) and (nv,)
        A state with closed loops.
    u : array_like, shape (nu,), optional
        Motor efforts, N or N m; defaults to zero.
    parameters : sequence of str, optional
        Names, as in `cmbcontrol.dynamics.parameters`; by default all. Each choice is compiled once: a few parameters in
        a tenth of a second, all of a Stewart platform in some seconds.

    Returns
    -------
    ParameterDerivatives

    Raises
    ------
    ValueError
        For a name that is not known.
    TypeError
        For a plant given by functions.
    RedundantRowsError
        Where a parameter that is asked for makes redundant rows contradict each other, so that there is no derivative.
    SingularConfigurationError
        Where the configuration is singular, and a change of a parameter takes the machine away from it.
    ModelError
        Where the mass matrix is not positive definite, or a derivative not finite.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.pendulum()
    >>> q = plant.assemble(angle=0.0)
    >>> found = parameter_derivatives(plant, q, np.zeros(3), parameters=["gravity_y"])
    >>> found.a_p[2].round(6)  # of the fall of the angle, 3 g / (2 L)
    array([1.5])
    """
    known = parameters_of(plant)
    names = tuple(known) if parameters is None else _check.names(parameters, "parameters", known, "parameter")
    chosen = [known[name] for name in names]
    here = derivatives(plant, plant.configuration(q), v, u)
    at = _Partials(plant, here, names, _moves(plant, names))
    force, accel, phi = at(here.v, here.a, here.lam)
    rest = np.zeros(plant.nv)
    rate = at(rest, here.v)[1]
    a = here.acceleration(-force, accel)
    lam = here.multipliers(-force, a)
    exists = np.ones(len(names), dtype=bool)
    if here.rank < len(here.A):
        lengths = np.array([plant.size if parameter.unit[0] == "m" else 1.0 for parameter in chosen])
        exists = _agree(plant, here, at, lengths, accel)
        if parameters is not None and not exists.all():
            raise _refusal(plant, here, [n for n, there in zip(names, exists, strict=True) if not there])
        # The smallest multipliers are across N = N(A'). This turns with A: N'dlam = -dN'lam = N'dA A+ lam.
        N = np.linalg.svd(here.A)[0][:, here.rank :]
        lam += N @ (N.T @ at(rest, here.A_pinv @ here.lam)[1])
        a[:, ~exists], lam[:, ~exists] = np.nan, np.nan
    values, units = np.array([p.value for p in chosen]), tuple(p.unit for p in chosen)
    return ParameterDerivatives(names, units, values, here.a, here.lam, a, lam, force, accel, phi, rate, exists)


def _moves(plant: Mechanism, names: tuple[str, ...]) -> Moves:
    """Numbers of the machine that follow these parameters; found once for each choice."""
    known: dict[tuple[str, ...], Moves] = vars(plant).setdefault("_moves", {})
    if names not in known:
        known[names] = Moves([parameters_of(plant)[name].moves for name in names])
    return known[names]


class _Partials:
    """Derivatives of the equations of motion by parameters at a configuration, for any v, a and lam."""

    def __init__(self, plant: Mechanism, here: Derivatives, names: Sequence[str], moves: Moves) -> None:
        self.plant, self.here, self.names, self.moves = plant, here, names, moves
        self.code = code(plant.arrays, (), here.q)

    def __call__(self, v: Array, a: Array, lam: Array | None = None) -> tuple[Array, Array, Array]:
        """Derivatives of F (nv, k), C (rows, k) and phi (rows, k). At rest, C is A a."""
        here, nv, rows = self.here, len(v), len(self.here.lam)
        lam = np.zeros(rows) if lam is None else lam
        found = self.code.partials(self.moves, np.concatenate([here.q, v, a, lam, here.u]))
        if not np.isfinite(found).all():
            names = [n for n, x in zip(self.names, found.T, strict=True) if not np.isfinite(x).all()]
            raise ModelError(
                f"the derivatives of {self.plant.name!r} by {_listed(names)} are not finite at q = "
                f"{here.q.tolist()}: has a point spring length zero? Leave them out of parameters="
            )
        force, accel, phi = np.split(found, [nv, nv + rows])
        return force, accel, phi


def _agree(plant: Mechanism, here: Derivatives, at: _Partials, lengths: Array, accel: Array) -> NDArray[np.bool_]:
    """Whether redundant rows still agree with the others, to first order: N' dA Z = 0 and N' dC = 0.

    In metres: of gap by metres of motion, where the parameter changes by the size of the machine, or by a radian.
    """
    scale, unit_lengths = plant.row_scale[:, None], plant.unit_lengths
    U, _, Vt = np.linalg.svd(scale * here.A / unit_lengths)
    N = U[:, here.rank :]
    rest = np.zeros(len(here.v))
    tilts = [N.T @ (scale * at(rest, z / unit_lengths)[1]) * lengths for z in Vt[here.rank :]]
    turned = np.max([np.abs(tilt).max(axis=0, initial=0.0) for tilt in tilts], axis=0, initial=0.0)
    size = np.abs(unit_lengths * here.a).max(initial=0.0) + np.abs(scale * accel * lengths).max(initial=0.0)
    apart = np.abs(N.T @ (scale * accel) * lengths).max(axis=0, initial=0.0)
    return (turned <= UNREACHED) & (apart <= UNREACHED * size)


def _refusal(plant: Mechanism, here: Derivatives, names: list[str]) -> Exception:
    nearby = plant.generic_rank(here.q)
    if nearby > here.rank:
        return SingularConfigurationError(
            f"q = {np.round(here.q, 6).tolist()} is a singular configuration of {plant.name!r}: its rows have rank "
            f"{here.rank}, and {nearby} beside it, where a change of {_listed(names)} takes the machine. The "
            "acceleration has no derivative by it; leave it out of parameters=, or take a configuration beside this one"
        )
    return RedundantRowsError(
        f"{plant.name!r} has {len(here.A)} rows of rank {here.rank} at q = {np.round(here.q, 6).tolist()}, and a "
        f"change of {_listed(names)} makes them contradict each other: the acceleration has no derivative by it. Leave "
        "it out of parameters=, or describe the loops with independent rows (see plant.diagnose)"
    )


def _listed(names: list[str]) -> str:
    """Text with the first names, and the number of further ones."""
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return ", ".join(map(repr, names[:6])) + more
