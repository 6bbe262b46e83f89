"""Local state-space form to first order: from all coordinates to independent ones.

`cmbcontrol.kernels.reduction` derives it and computes it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import DEPENDENT
from .._tolerance import rank as rank_of
from ..dynamics.derivatives import Derivatives, derivatives
from ..errors import InputError, ModelError, ParametrizationError
from ..kernels import reduction
from ..kernels.derivatives import Slopes
from ..kernels.generated import CLEAR, CONDITIONS, at_state
from ..kernels.layout import LINK_DTYPE
from ..kernels.reduction import CoordinateRows
from ..model.generated import code_of
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import RANK_TOLERANCE
from .statics import require_holonomic

__all__ = [
    "CoordinateRows",
    "Reduced",
    "bracket",
    "constant_rows",
    "position_rows",
    "reduce",
    "reduce_rolling",
    "reduced_model",
]

Array = NDArray[np.float64]

FIXED, MOVING = -0.5, -1.0  # upper left block of A, in units of R ad_v K

_NO_LINKS = np.zeros(0, LINK_DTYPE)  # of a plant given by functions: no joint has several axes
_NO_LINKS.flags.writeable = False


class Reduced(NamedTuple):
    """Linear model d(y, y_v)/dt = drift + A (y, y_v) + B du, in p independent coordinates.

    Attributes
    ----------
    A : ndarray, shape (2p, 2p)
        [[bracket, 1], [A21, A22]]; the bracket is zero for one-axis joints, and at rest.
    B : ndarray, shape (2p, nu)
    drift : ndarray, shape (2p,)
        (R v, R a + R' v); R' v is zero for constant R.
    K, N : ndarray, shape (nv, p)
        delta = K y and dv = K y_v + N y: [R; A] K = [1; 0], and N is dv/dy at fixed y_v, Spencer's K' (2.45) for
        one-axis joints.
    G : ndarray, shape (p, nv)
        A generalized force f adds G f to dy_v/dt.
    a : ndarray, shape (nv,)
    lam : ndarray, shape (rows,)
        Multipliers; where rows are redundant one choice of many.
    rank : int
        Rank of the constraint rows.
    """

    A: Array
    B: Array
    drift: Array
    K: Array
    N: Array
    G: Array
    a: Array
    lam: Array
    rank: int
    K_rates: Array | None = None  # (nv, p) dv = K_rates y_v + N y where positions are more than velocities; else K


def reduced_model(
    plant: Plant, q: ArrayLike, v: ArrayLike, u: ArrayLike, R: ArrayLike, *, moving: bool = False
) -> Reduced:
    """Local state-space form to first order at a state on the manifold, computed fast (Spencer, section 4.2).

    Parameters
    ----------
    plant : Plant
        A `Mechanism` in one compiled call: two to three times the cost of a forward dynamics.
    q, v, u : array_like
        State and motor efforts.
    R : array_like, shape (dof, nv)
        y = R (q [-] q0) and y_v = R v.
    moving : bool
        Deviations are measured from the moving trajectory, in place of the fixed q0 = q. Differs only for joints of
        several axes at states with velocity.

    Raises
    ------
    ModelError
        Where the mass matrix is not positive definite.
    ValueError
        Where R has not as many rows as there are degrees of freedom, or they are dependent.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> found = reduced_model(plant, plant.assemble(left=2.1, right=1.0), np.zeros(4), np.zeros(2), np.eye(4)[[0, 2]])
    >>> found.drift.round(3)
    array([ 0.   ,  0.   ,  5.457, -5.662])
    """
    _check.plant(plant)
    moving = _check.flag(moving, "moving")
    q = plant.configuration(q)
    v = _check.vector(v, plant.nv, "v", plant.velocity_names)
    u = _check.vector(u, plant.nu, "u", plant.actuator_names)
    if isinstance(plant, Mechanism):
        require_holonomic(plant, q)
    rows: Any = R
    fits = type(rows) is np.ndarray and rows.dtype == np.float64 and rows.ndim == 2 and rows.shape[1] == plant.nv
    if not (fits and rows.flags.carray and math.isfinite(rows.ravel().dot(rows.ravel()))):
        rows = _check.matrix(rows, (len(_check.sequence(rows, "R", "rows")), plant.nv), "R").copy()
    factor = MOVING if moving else FIXED
    if not isinstance(plant, Mechanism):
        return reduce(plant, derivatives(plant, q, v, u), constant_rows(rows), factor)
    found = _by_code(plant, q, v, u, rows, factor)
    if found is not None:
        return found
    A, B, drift, K, N, G, a, lam, rank = reduction.state_space(
        plant.arrays, q, v, u, rows, factor, RANK_TOLERANCE, plant.nv
    )
    if rank < 0:
        raise _refusal(plant, q, rows, rank)
    return Reduced(A, B, drift, K.T, N.T, G, a, lam, rank)


def _by_code(plant: Mechanism, q: Array, v: Array, u: Array, R: Array, factor: float) -> Reduced | None:
    """Reduced model by generated code; None where the kernels have to compute it.

    Code is for coordinates of the machine, or sums of them. Other combinations, such as tangent vectors at a point,
    would each have to be compiled.
    """
    code = code_of(plant, q)
    if code is None:
        return None
    key = R.tobytes(), factor
    found = code.forms.get(key)
    if found is None:
        if len(R) != plant.nv - len(code.rows) or not np.isin(R, (0.0, 1.0, -1.0)).all():
            return None
        found = code.forms[key] = code.linear(R, factor), _layout(len(R), plant)
    address, (count, places) = found
    if not address:
        return None
    y, trusted = at_state(address, code.p, q, v, u, len(code.rows), code.reference, count)
    if not trusted or not y[CONDITIONS] > CLEAR * CLEAR:
        return None
    A, B, drift, K, N, G, a, lam = [y[begin:end].reshape(shape) for begin, end, shape in places]
    return Reduced(A, B, drift, K.T, N.T, G, a, lam, len(code.rows))


def _layout(p: int, plant: Mechanism) -> tuple[int, list[tuple[int, int, tuple[int, ...]]]]:
    """Count of the numbers that generated code returns, and places of A, B, drift, K, N, G, a and lam among them."""
    nv, nu, rows = plant.nv, plant.nu, len(plant.row_names)
    places, end = [], CONDITIONS + 1
    for shape in ((2 * p, 2 * p), (2 * p, nu), (2 * p,), (p, nv), (p, nv), (p, nv), (nv,), (rows,)):
        places.append((end, end + math.prod(shape), shape))
        end = places[-1][1]
    return end, places


def constant_rows(R: Array) -> CoordinateRows:
    """Rows of coordinates that are constant combinations of velocity coordinates."""
    zero = np.zeros_like(R)
    return CoordinateRows(R, zero, zero, zero, np.ones(len(R), dtype=bool))


def reduce(plant: Plant, local: Derivatives, rows: CoordinateRows, factor: float = FIXED) -> Reduced:
    """Reduced model from `Derivatives`, for any coordinates.

    Raises
    ------
    ParametrizationError
        Where the coordinates are dependent.
    """
    require_holonomic(plant, local.q)
    links = plant.arrays.links if isinstance(plant, Mechanism) else _NO_LINKS
    slopes = Slopes(*map(_writable, (local.force_q, local.force_v, local.rate_q, local.accel_q, local.accel_v)))
    A, B, drift, K, N, G, rank = reduction.reduce(
        links,
        _writable(local.M),
        _writable(local.A),
        _constant(plant.row_scale),
        _constant(plant.unit_lengths),
        slopes,
        _writable(local.B),
        _writable(local.v),
        _writable(local.a),
        CoordinateRows(*map(_writable, rows[:-1]), rows.constant),
        factor,
        RANK_TOLERANCE,
        local.rank,
        _writable(local.D),
        _writable(local.loads),
    )
    if rank < 0:
        raise _refusal(plant, local.q, rows.R, rank)
    return Reduced(A, B, drift, K.T, N.T, G, local.a, local.lam, rank)


def position_rows(plant: Plant, local: Derivatives) -> tuple[Array, int]:
    """Rows of A that bind positions, and their rank: rolling ones bind velocities only."""
    rolling = plant.rolling_rows(local.q)
    if not rolling:
        return local.A, local.rank
    binding = np.array([name not in rolling for name in plant.row_names])
    A = local.A[binding]
    metres = A * plant.row_scale[binding, None] / plant.unit_lengths  # a metre: levers are 1
    return A, rank_of(np.linalg.svd(metres, compute_uv=False), 1.0, DEPENDENT) if A.size else 0


def reduce_rolling(plant: Plant, local: Derivatives, R: Array, more: Array, factor: float = FIXED) -> Reduced:
    """Reduced model of a machine that rolls: n positions y = [R; more] delta, and p < n velocities y_v = R v.

    delta = K y with the rows that bind positions, dv = K_rates y_v + N y with all of them: A N = -d(A v)/dq K, R N = 0.
    Then dy/dt = [R; more] (dv + factor ad_v delta), and dy_v/dt = R da.

    Raises
    ------
    ParametrizationError
        Where the coordinates are dependent.
    """
    A, rank = position_rows(plant, local)
    whole = np.vstack([R, more])
    unit = np.linalg.svd(A / plant.unit_lengths)[2][rank:].T / plant.unit_lengths[:, None]  # admissible displacements
    try:
        K = unit @ np.linalg.inv(whole @ unit)
        K_rates = local.Z @ np.linalg.inv(R @ local.Z)
    except np.linalg.LinAlgError as error:
        raise ParametrizationError(f"coordinates of {plant.name!r} are dependent", 0.0) from error
    N = -local.A_plus @ (local.rate_q @ K)
    N -= K_rates @ (R @ N)
    n, p = len(whole), len(R)
    model, inputs = np.empty((n + p, n + p)), np.zeros((n + p, local.B.shape[1]))
    model[:n, :n] = whole @ (N + factor * bracket(plant, local.v, K))
    model[:n, n:] = whole @ K_rates
    model[n:, :n] = R @ local.acceleration(
        -local.force_q @ K - local.force_v @ N, local.accel_q @ K + local.accel_v @ N
    )
    model[n:, n:] = R @ local.acceleration(-local.force_v @ K_rates, local.accel_v @ K_rates)
    G = R @ local.acceleration(np.eye(plant.nv), np.zeros((len(local.lam), plant.nv)))
    inputs[n:] = G @ local.B
    drift = np.concatenate([whole @ local.v, R @ local.a])
    return Reduced(model, inputs, drift, K, N, G, local.a, local.lam, local.rank, K_rates)


def _writable(x: Array) -> Array:
    """Array, C-contiguous and writable: kernels are compiled again for each other kind of array."""
    return np.require(x, np.float64, ("C", "W"))


def _constant(x: Array) -> Array:
    """Array, C-contiguous and read-only, as the arrays of a `Model` are."""
    x = np.ascontiguousarray(x, dtype=np.float64).view()
    x.flags.writeable = False
    return x


def _refusal(plant: Plant, q: Array, R: Array, rank: int) -> Exception:
    where = f"at q = {np.round(q, 6).tolist()}"
    if rank == reduction.FAILED:
        return ModelError(f"the mass matrix of {plant.name!r} is not positive definite {where}")
    terms = plant.terms(q, np.zeros(plant.nv))
    if rank == reduction.WRONG_COUNT:
        return InputError(f"{plant.name!r} has {terms.dof} degrees of freedom {where}; R has {len(R)} rows")
    condition = float(np.linalg.cond(R @ terms.Z))
    return ParametrizationError(
        f"the coordinates R of {plant.name!r} are dependent {where}: their condition on the admissible velocities is "
        f"{condition:.1e}",
        1.0 / condition,
    )


def bracket(plant: Plant, v: Array, X: Array) -> Array:
    """Brackets ad_v X, column by column, of the joints' Lie algebras; zero for one-axis joints and functions."""
    out = np.zeros((X.shape[1], X.shape[0]))
    if isinstance(plant, Mechanism):
        for x, column in zip(np.ascontiguousarray(X.T), out, strict=True):
            reduction.add_joint_bracket(plant.arrays.links, v, x, 1.0, column)
    return out.T
