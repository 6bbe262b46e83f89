"""Linear models of closed chains: about an equilibrium, at any state, and along a motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..dynamics.derivatives import Derivatives, derivatives
from ..errors import ContactWarning, EquilibriumError, InputError, InputTypeError, SingularConfigurationError
from ..model.evaluation import require_motions_followed
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from .model import LinearModel
from .operating import OperatingPoint, turning_axes
from .reduced import FIXED, MOVING, bracket, position_rows
from .signals import FrameMotion, LinearizedEquations, Wrench
from .statics import constraint_curvatures, list_forces, relative_force, require_closed, require_holonomic

__all__ = ["affine_approximation", "at_equilibrium", "linearize", "regular_derivatives", "underlying_ode"]

Array = NDArray[np.float64]

_NEAR = 1e-6  # smallest over largest independent constraint gradient


def linearize(
    plant: Plant,
    point: OperatingPoint,
    *,
    coordinates: Sequence[str] | ArrayLike | None = None,
    inputs: Sequence[str | Wrench] | None = None,
    outputs: Sequence[str | FrameMotion] | None = None,
    tolerance: float = 1e-7,
    dry_friction: bool = True,
) -> LinearModel:
    """Linear model about an equilibrium: 2 dof states, with the stiffness of the constraint forces.

    Also about a steady motion, whose velocities are constant and whose equations do not change as it goes on: a
    governor that turns, a wheel that rolls in a circle. Deviations are then measured from the moving machine. Machines
    that roll have more positions than velocities, and as many more states.

    Parameters
    ----------
    plant : Plant
        A `Mechanism` is differentiated analytically, a plant given by functions by differences of order 8.
    point : OperatingPoint
        From `trim`, or of a steady motion, ``OperatingPoint.at(plant, q, u, v)``. Of one that rests on contacts, the
        plant is ``point.plant``: contacts that push are constraints of the model, open ones are not, and a
        `ContactWarning` names those on the border between both.
    coordinates : sequence of str, or array_like, shape (dof, nv), optional
        Independent coordinates y: as many velocity coordinates (or cut revolute or prismatic joints) as there are
        degrees of freedom, or a matrix R with y = R delta. Defaults to the best conditioned; see
        ``conditioning`` of the result.
    inputs : sequence of str or Wrench, optional
        Actuators by name; ``<coordinate>_acceleration`` for a joint that is driven, whose effort follows (output
        ``<coordinate>_effort``); ``<body>_wrench``, or a `Wrench`, for an outside moment and force; a load, or
        prescribed motion by name: its acceleration is the input, its position and velocity are among the states, its
        effort is the output ``<motion>_effort``. Motions that are not named hold. Defaults to all actuators.
    outputs : sequence of str or FrameMotion, optional
        Any coordinate (rad or m), its rate ``<coordinate>_rate``; ``<body>_position`` and ``<body>_velocity``, or a
        `FrameMotion`; the multiplier of a constraint row by its name (N or N m), all rows of a loop as
        ``<loop>_force``, of all loops as ``loop_force``; the generalized constraint force A' lam as
        ``<coordinate>_constraint_force``, or ``constraint_force`` for all coordinates; ``<actuator>_effort``.
        Defaults to the independent coordinates. Multipliers must be unique; the constraint force always is.
    tolerance : float
        Largest unbalanced force, relative to weights, springs, motor forces and stiffness.
    dry_friction : bool
        Whether dry friction counts, which at rest is the slope of its smooth form: a damper as steep as the form, of
        which ``print(model)`` names. Without it, only what is viscous does (`Mechanism.without_dry_friction`).

    Returns
    -------
    LinearModel
        States are deviations: y, then dy/dt; of machines that roll, the rates of as many y as there are degrees of
        freedom.

    Raises
    ------
    EquilibriumError
        Away from an equilibrium (the message names the forces or velocities; see `affine_approximation`), and at
        singular configurations, where the machine can move in more than one way and no linear model exists.
    AssemblyError
        Where the loops are open.
    ValueError
        For coordinates that are not independent, multipliers that are not unique, unknown names.

    Notes
    -----
    With F = M a + h + A' lam - B u, K from [R; A] K = [1; 0] and delta = K y,

        K'M K y'' + K'F_v K y' + K'F_q K y = K'B du,

    which is Spencer's (4.8b) to first order; at rest his dK'/dy tau_NE is K' d(A' lam)/dq K. For the
    multipliers A' dlam = B du - F_q delta - F_v dv - M da; the smallest solution is taken.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol import trim
    >>> plant = plants.five_bar()
    >>> lin = linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=("left", "right"))
    >>> lin.poles().round(3)
    array([-2.773+0.j, -2.37 +0.j,  2.37 +0.j,  2.773+0.j])
    """
    tolerance = _check.positive(tolerance, "tolerance")
    if not _check.flag(dry_friction, "dry_friction") and isinstance(plant, Mechanism):
        _checked(plant, point)
        plant = plant.without_dry_friction()
        point = replace(point, plant=plant)
    local = at_equilibrium(plant, point, tolerance)
    if border := point.on_border:
        warn(
            f"the linear model of {plant.name!r} is about a point on the border of {', '.join(map(repr, border))}: a "
            "contact that carries nothing is left out, and one whose friction is used up sticks; motions to the other "
            "side are not those of the model",
            ContactWarning,
            stacklevel=2,
        )
    factor = MOVING if point.v.any() else FIXED
    linearized = LinearizedEquations(plant, local, coordinates, inputs, factor)
    if point.v.any():
        _require_steady(plant, local, linearized, tolerance)
    return _model(plant, point, linearized, outputs, affine=False)


def affine_approximation(
    plant: Plant,
    point: OperatingPoint,
    *,
    coordinates: Sequence[str] | ArrayLike | None = None,
    inputs: Sequence[str | Wrench] | None = None,
    outputs: Sequence[str | FrameMotion] | None = None,
) -> LinearModel:
    """First-order approximation at any state on the manifold: dx/dt = drift + A x + B u (Spencer, section 4.2).

    Away from an equilibrium A belongs to its coordinates: other coordinates give other eigenvalues.

    Parameters
    ----------
    plant : Plant
    point : OperatingPoint
        Any state with its efforts, from ``OperatingPoint.at(plant, q, u, v)``.
    coordinates, inputs, outputs
        As in `linearize`. Joints that are driven deviate from the acceleration that they have at the point.

    Returns
    -------
    LinearModel
        States are y = R (q [-] q0), and y_v = R v minus its value at the point (for a cut joint, its coordinate and
        its rate).

    Raises
    ------
    SingularConfigurationError
        At singular configurations.
    ValueError
        Where loops are open or open up, for coordinates that are not independent, unknown names.

    Notes
    -----
    With a state's own acceleration a and multipliers, [R; A] K = [1; 0], [R; A] N = -[0; d(A v)/dq K], delta = K y and
    dv = K y_v + N y (N is Spencer's K'),

        A21 = R (da/dq K + da/dv N),   A22 = R da/dv K,   B2 = R da/du.

    For joints of several axes dy/dt = R v - 1/2 R ad_v K y to first order.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol import OperatingPoint
    >>> plant = plants.five_bar()
    >>> falling = OperatingPoint.at(plant, plant.assemble(left=2.1, right=1.0))
    >>> affine_approximation(plant, falling, coordinates=("left", "right")).drift.round(3)
    array([ 0.   ,  0.   ,  5.457, -5.662])
    """
    local = _at_state(plant, point)
    return _model(plant, point, LinearizedEquations(plant, local, coordinates, inputs), outputs, affine=True)


def _model(
    plant: Plant,
    point: OperatingPoint,
    linearized: LinearizedEquations,
    outputs: Sequence[str | FrameMotion] | None,
    affine: bool,
) -> LinearModel:
    """Linear model with given outputs."""
    rows = linearized.outputs(outputs)
    C, D = linearized.output_matrices(rows)
    return LinearModel(
        name=plant.name,
        A=linearized.A,
        B=linearized.B,
        C=C,
        D=D,
        **linearized.labels(rows),
        K=linearized.K,
        N=linearized.N,
        K_rates=None if linearized.rated == linearized.names else linearized.K_rates,
        drift=linearized.drift if affine else np.zeros(len(linearized.A)),
        coordinates=plant.velocity_names,
        point=point,
        conditioning=linearized.conditioning,
    )


def underlying_ode(
    plant: Plant, point: OperatingPoint, *, coordinates: Sequence[str] | ArrayLike | None = None
) -> Array:
    """Linearized underlying ODE, [Df] P in all coordinates (Spencer, eqs. 4.3-4.4), at any state on the manifold.

    x = (q, v), f(x) = (v, a(q, v)), and P a projector on the tangent space of the manifold
    g(q) = 0, G(q) v = 0. At an equilibrium its eigenvalues are those of the local state-space form, and
    zeros, whatever P (theorems 4.1.1 and 4.1.2). Rolling rows, which bind velocities and no positions, count in
    G(q) v = 0 only, so that no state is lost; without `coordinates`, since 2 dof states do not exist for them.

    Parameters
    ----------
    plant, point
        As in `affine_approximation`.
    coordinates : sequence of str, or array_like, shape (dof, nv), optional
        The projector that leaves these coordinates as they are, dPsi/dy R; defaults to the orthogonal one,
        1 - H'(HH')^-1 H.

    Returns
    -------
    A : ndarray, shape (2 nv, 2 nv)

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol import trim
    >>> plant = plants.five_bar()
    >>> A = underlying_ode(plant, trim(plant, plant.assemble(left=2.1, right=1.0)))
    >>> A.shape, np.linalg.matrix_rank(A)
    ((8, 8), np.int64(4))
    """
    local = _at_state(plant, point)
    nv = plant.nv
    if coordinates is None:
        A, rank = position_rows(plant, local)
        H = np.block([[A, np.zeros_like(A)], [local.rate_q, local.A]])
        P = np.eye(2 * nv)
        if local.rank:
            Vt = np.linalg.svd(H)[2][: rank + local.rank]
            P = P - Vt.T @ Vt
    else:
        require_holonomic(plant, local.q)
        linearized = LinearizedEquations(plant, local, coordinates)
        K, N = linearized.K, linearized.N
        R, rate_q = linearized.rows.R, linearized.rows.rate_q
        P = np.block([[K, np.zeros_like(K)], [N, K]]) @ np.block([[R, np.zeros_like(R)], [rate_q, R]])
    a_q = local.acceleration(-local.force_q, local.accel_q)
    a_v = local.acceleration(-local.force_v, local.accel_v)
    ad_v = bracket(plant, local.v, np.eye(nv))
    return np.block([[2.0 * FIXED * ad_v, np.eye(nv)], [a_q, a_v]]) @ P


# -- the state of the linearization -----------------------------------------------------------------------


def _checked(plant: Plant, point: OperatingPoint) -> tuple[Array, Array, Array, Array]:
    """Values q, v, u and lam of an operating point, checked to fit the plant."""
    _check.plant(plant)
    if not isinstance(point, OperatingPoint):
        raise InputTypeError(f"point must be an OperatingPoint, from trim(plant, q), got {type(point).__name__}")
    if point.report and point.report.contacts and plant.row_names != point.plant.row_names:
        carrying = ", ".join(map(repr, point.report.carrying)) or "none of its contacts"
        raise InputError(
            f"the operating point rests on {carrying}, and {plant.name!r} has other constraints: take point.plant, "
            "which has those that act"
        )
    q = _check.vector(point.q, plant.nq, "q of the operating point", plant.position_names)
    v = _check.vector(point.v, plant.nv, "v of the operating point", plant.velocity_names)
    u = _check.vector(point.u, plant.nu, "u of the operating point", plant.actuator_names)
    lam = _check.vector(point.lam, len(plant.row_names), "lam of the operating point", plant.row_names)
    return q, v, u, lam


def _at_state(plant: Plant, point: OperatingPoint) -> Derivatives:
    """Derivatives at an operating point; raises an error where loops are open, or at singular configurations."""
    q, v, u, _ = _checked(plant, point)
    return regular_derivatives(plant, q, v, u)


def regular_derivatives(plant: Plant, q: Array, v: Array, u: Array) -> Derivatives:
    """Derivatives at a state; raises an error where loops are open, or at singular configurations."""
    local = derivatives(plant, q, v, u)
    _require_on_manifold(plant, local)
    _require_regular(plant, local)
    return local


def _require_on_manifold(plant: Plant, local: Derivatives) -> None:
    require_motions_followed(plant, local.q, local.v)
    if not np.abs(plant.row_scale * local.phi).max(initial=0.0) <= 1e-9 * plant.size:
        require_closed(plant, local.q)
    rate = np.abs(plant.row_scale * (local.A @ local.v - plant.row_rates))
    speed = float(np.abs(local.v * plant.unit_lengths).max(initial=0.0))
    if not rate.max(initial=0.0) <= 1e-7 * max(speed, plant.size):
        worst = plant.row_names[int(rate.argmax())]
        raise InputError(
            f"the velocity of the operating point opens the loops of {plant.name!r}: row {worst!r} by "
            f"{rate.max():.3e} m/s. Use plant.project_velocity(q, v)."
        )


def at_equilibrium(plant: Plant, point: OperatingPoint, tolerance: float) -> Derivatives:
    """Derivatives at an operating point; raises an error where it is not at rest, or at singular configurations."""
    q, v, u, lam = _checked(plant, point)
    local = derivatives(plant, q, v, u, a=np.zeros(plant.nv), lam=lam)
    _require_on_manifold(plant, local)
    force = local.h + local.A.T @ lam - local.B @ u
    balanced = relative_force(plant, local, force, lam, u) <= tolerance
    if v.any() and not (balanced and _relative_bias(plant, local) <= tolerance):
        moving = ", ".join(f"{plant.velocity_names[k]!r} {v[k]:.4g}" for k in np.flatnonzero(v)[:6])
        raise EquilibriumError(
            f"the operating point of {plant.name!r} moves: {moving}. A linear model needs v = 0, or a steady motion "
            f"with constant velocities; see affine_approximation{turning_axes(plant, v)}"
        )
    if not balanced:
        raise EquilibriumError(
            f"{plant.name!r} is not in equilibrium at q = {np.round(q, 6).tolist()}: the unbalanced generalized force "
            f"is {list_forces(plant, force)}. Use trim(plant, q), or affine_approximation."
        )
    _require_regular(plant, local)
    return local


def _relative_bias(plant: Plant, local: Derivatives) -> float:
    """Error of rows A dv/dt + b at constant velocities, relative to the acceleration of turning so fast, 0 to 1."""
    speed = float(np.abs(local.v * plant.unit_lengths).max(initial=0.0))
    scale = speed**2 / plant.size
    return float(np.abs(plant.row_scale * local.b).max(initial=0.0)) / scale if scale > 0.0 else 0.0


def _require_steady(plant: Plant, local: Derivatives, linearized: LinearizedEquations, tolerance: float) -> None:
    """Raise an error for a motion whose accelerations vanish only for an instant, and change as it goes on."""
    n = len(linearized.names)
    change = linearized.A[n:, :n] @ linearized.drift[:n]
    speed = float(np.abs(local.v / plant.displacement_scale).max(initial=0.0))
    rates = np.abs(linearized.rows.R) @ plant.displacement_scale if len(change) else np.zeros(0)
    off = float((np.abs(change) / np.maximum(rates, 1e-300)).max(initial=0.0))
    if off > 1e3 * tolerance * max(speed, 1.0) ** 3:
        raise EquilibriumError(
            f"the motion of {plant.name!r} is not steady: its accelerations vanish here, and grow at a rate of "
            f"{off:.3g} 1/s3 (of radians, or sizes of the machine). A steady motion looks alike at all times; see "
            "affine_approximation."
        )


def _require_regular(plant: Plant, local: Derivatives) -> None:
    """Raise an error for singular configurations, and for those so near to one that derivatives are rounding errors.

    At a singular configuration the rows of A lose rank, and the machine can move in more than one way; near it the
    matrices grow with the inverse square of the distance. Rows that are redundant everywhere do not count, see
    `constraint_curvatures`.
    """
    conditioning = plant.terms(local.q, local.v).conditioning
    if conditioning < _NEAR:
        raise SingularConfigurationError(
            f"{plant.name!r} is next to a singular configuration, q = {np.round(local.q, 6).tolist()}: the smallest "
            f"constraint gradient is {conditioning:.1e} of the largest (at least {_NEAR:g} is needed for a linear "
            "model that is not rounding). Choose another configuration; see plant.diagnose(q)."
        )
    if local.rank == local.A.shape[0]:
        return
    if isinstance(plant, Mechanism):
        singular = len(constraint_curvatures(plant, local.q, local)) > 0
    else:
        singular = plant.generic_rank(local.q) > local.rank
    if singular:
        raise SingularConfigurationError(
            f"{plant.name!r} is at a singular configuration, q = {np.round(local.q, 6).tolist()}: its constraints "
            f"have rank {local.rank} there and more nearby, so that no linear model exists. Choose another "
            "configuration; see plant.diagnose(q)."
        )
