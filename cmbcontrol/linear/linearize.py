"""Linear models of closed chains about an equilibrium, in independent coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import EquilibriumError
from ..kernels import loops, split, tree
from ..model.base import PlantBase
from ..model.diagnosis import unique_multipliers
from ..model.elements import Joint, Prismatic, Revolute
from ..model.mechanism import Mechanism
from .at_rest import (
    AtRest,
    at_rest,
    coordinate_lengths,
    effort_units,
    list_forces,
    relative_force,
    require_closed,
)
from .model import LinearModel
from .operating import OperatingPoint

__all__ = ["linearize", "underlying_ode"]

Array = NDArray[np.float64]

_INDEPENDENT = 1e-8  # smallest singular value of the chosen coordinates on the tangent space, 1 at best


def linearize(
    plant: PlantBase,
    point: OperatingPoint,
    *,
    coordinates: Sequence[str] | ArrayLike | None = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    tolerance: float = 1e-7,
) -> LinearModel:
    """Linear model about an equilibrium: 2 dof states, with the stiffness of the constraint forces.

    Parameters
    ----------
    plant : Mechanism or FunctionPlant
        A `Mechanism` is differentiated analytically, a plant given by functions by differences of order 8.
    point : OperatingPoint
        From `trim`.
    coordinates : sequence of str, or array_like, shape (dof, nv), optional
        Independent coordinates y: as many velocity coordinates (or cut revolute or prismatic joints) as there are
        degrees of freedom, or a matrix R with y = R delta. Best conditioned unless given.
    inputs : sequence of str, optional
        Actuators; all unless given.
    outputs : sequence of str, optional
        Any coordinate (rad or m), its rate ``<coordinate>_rate``, the multiplier of a loop row by its name
        (N or N m; the constraint force is A' lam), all rows of a loop as ``<loop>_force``, of all loops as
        ``loop_force``. The independent coordinates unless given. Multipliers must be unique.
    tolerance : float
        Largest unbalanced force, relative to weights, springs, motor forces and stiffness.

    Returns
    -------
    LinearModel
        States are deviations: y, then dy/dt.

    Raises
    ------
    EquilibriumError
        Away from an equilibrium (naming what is not at rest), and at singular poses, where the loops let the
        machine move in more than one way and no linear model exists.
    AssemblyError
        Where the loops are open.
    ValueError
        For coordinates that are not independent, multipliers that are not unique, unknown names.

    Notes
    -----
    With K = d/dq [h + A' lam - B u], D = dh/dv, and T from [R; A] T = [1; 0], so that delta = T y,

        T'M T y'' + T'D T y' + T'K T y = T'B du,

    which is Spencer's (4.8b) to first order; at rest his dK'/dy tau_NE is T' d(A' lam)/dq T. For the
    multipliers A' dlam = B du - K delta - D dv - M da; the smallest solution is taken.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol.linear import trim
    >>> plant = plants.five_bar()
    >>> lin = linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=("left", "right"))
    >>> lin.eigenvalues().round(3)
    array([-2.773+0.j, -2.37 +0.j,  2.37 +0.j,  2.773+0.j])
    """
    local = _at_equilibrium(plant, point, tolerance)
    R, names = _coordinates(plant, point, local, coordinates)
    chosen = _inputs(plant, inputs)
    small = _reduced(plant, local, R, names, local.B[:, chosen])
    found = _outputs(plant, point, local, small, names, names if outputs is None else outputs)
    n, efforts, units = len(names), effort_units(plant), tuple(_unit(plant, name) for name in names)
    return LinearModel(
        name=plant.name,
        A=small.A,
        B=small.B,
        C=np.array([o.C for o in found]).reshape(len(found), 2 * n),
        D=np.array([o.D for o in found]).reshape(len(found), len(chosen)),
        states=names + tuple(f"{name}_rate" for name in names),
        inputs=tuple(plant.actuator_names[k] for k in chosen),
        outputs=tuple(o.name for o in found),
        state_units=units + tuple(map(_rate, units)),
        input_units=tuple(efforts[k] for k in chosen),
        output_units=tuple(o.unit for o in found),
        K=small.T,
        coordinates=plant.velocity_names,
        point=point,
    )


def underlying_ode(
    plant: PlantBase,
    point: OperatingPoint,
    *,
    coordinates: Sequence[str] | ArrayLike | None = None,
    tolerance: float = 1e-7,
) -> Array:
    """Linearized underlying ODE, [Df] P in all coordinates (Spencer, eqs. 4.3-4.4).

    x = (q, v), f(x) = (v, a(q, v)), and P a projector on the tangent space of the manifold
    g(q) = 0, G(q) v = 0. At an equilibrium its eigenvalues are those of the local state-space form, and
    zeros, whatever P (theorems 4.1.1 and 4.1.2).

    Parameters
    ----------
    plant, point, tolerance
        As in `linearize`.
    coordinates : sequence of str, or array_like, shape (dof, nv), optional
        The projector that leaves these coordinates as they are, dPsi/dy R; the orthogonal one unless given.

    Returns
    -------
    A : ndarray, shape (2 nv, 2 nv)

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol.linear import trim
    >>> plant = plants.five_bar()
    >>> A = underlying_ode(plant, trim(plant, plant.assemble(left=2.1, right=1.0)))
    >>> A.shape, np.linalg.matrix_rank(A)
    ((8, 8), np.int64(4))
    """
    local = _at_equilibrium(plant, point, tolerance)
    Z = local.Z
    if coordinates is None:
        P = Z @ np.linalg.pinv(Z)
    else:
        R, names = _coordinates(plant, point, local, coordinates)
        P = _reduced(plant, local, R, names, local.B).T @ R
    # M da + A' dlam = -K dq - D dv with A da = 0, so da = -Z Z'(K dq + D dv)
    mobility = Z @ Z.T
    return np.block([[np.zeros_like(P), P], [-mobility @ local.K @ P, -mobility @ local.D @ P]])


# -- what is linearized about -----------------------------------------------------------------------


def _at_equilibrium(plant: PlantBase, point: OperatingPoint, tolerance: float) -> AtRest:
    """The equations at the operating point; refuses one that is not at rest, or that is singular."""
    if not isinstance(point, OperatingPoint):
        raise TypeError(f"point must be an OperatingPoint, from trim(plant, q), got {type(point).__name__}")
    q = _check.vector(point.q, plant.nq, "q of the operating point", plant.position_names)
    v = _check.vector(point.v, plant.nv, "v of the operating point", plant.velocity_names)
    u = _check.vector(point.u, plant.nu, "u of the operating point", plant.actuator_names)
    lam = _check.vector(point.lam, len(plant.row_names), "lam of the operating point", plant.row_names)
    if v.any():
        moving = ", ".join(f"{plant.velocity_names[k]!r} {v[k]:.4g}" for k in np.flatnonzero(v)[:6])
        raise EquilibriumError(f"the operating point of {plant.name!r} moves: {moving}. A linear model needs v = 0.")
    local = at_rest(plant, q, lam, u)
    if not np.abs(plant.row_scale * local.phi).max(initial=0.0) <= 1e-9 * plant.size:
        require_closed(plant, q)
    left = local.h + local.A.T @ lam - local.B @ u
    if not relative_force(plant, local, left, lam, u) <= tolerance:
        raise EquilibriumError(
            f"{plant.name!r} is not in equilibrium at q = {np.round(q, 6).tolist()}: the generalized force left is "
            f"{list_forces(plant, left)}. Use trim(plant, q)."
        )
    _require_regular(plant, q, local)
    return local


def _require_regular(plant: PlantBase, q: Array, local: AtRest) -> None:
    """Refuse poses where rows lose their rank: the machine can then move in more than one way.

    Rows are redundant for good where n'A = 0 goes on to hold on the manifold, so that
    Z' d(A' n)/dq Z = 0 for all n with A' n = 0; where rank is lost at this pose alone, it is not zero.
    """
    rows = local.A.shape[0]
    if local.rank == rows:
        return
    singular = False
    if isinstance(plant, Mechanism):
        scaled = plant.row_scale[:, None] * local.A
        size = float(np.abs(scaled).max(initial=0.0))
        length = coordinate_lengths(plant)
        tangent = length[:, None] * np.linalg.qr(local.Z / length[:, None])[0]
        off = np.zeros(plant.nu)
        weights = at_rest(plant, q, np.zeros(rows), off).K
        for n in np.linalg.svd(scaled)[0].T[local.rank :]:
            bent = at_rest(plant, q, plant.row_scale * n, off).K - weights  # K is linear in lam
            singular = singular or np.abs(tangent.T @ bent @ tangent).max(initial=0.0) > 1e-6 * size
    else:
        singular = plant.generic_rank(q) > local.rank
    if singular:
        raise EquilibriumError(
            f"{plant.name!r} is at a singular pose, q = {np.round(q, 6).tolist()}: its loops hold {local.rank} "
            "freedoms here and more nearby, so that no linear model exists. Choose another pose; see plant.diagnose(q)."
        )


# -- reduction ----------------------------------------------------------------------------------------


class _Reduced(NamedTuple):
    """Equations in independent coordinates, x = (y, dy/dt): dx/dt = A x + B du, delta = T y."""

    T: Array  # (nv, dof)
    A: Array  # (2 dof, 2 dof)
    B: Array  # (2 dof, inputs)
    drive: Array  # (nv, inputs), columns of the drive matrix


def _reduced(plant: PlantBase, local: AtRest, R: Array, names: Sequence[str], drive: Array) -> _Reduced:
    """Reduce to y = R delta; refuses coordinates that are not independent.

    On the basis Z, delta = Z z with Z'MZ = 1, the equations are z'' + Z'DZ z' + Z'KZ z = Z'B du, and
    y = (R Z) z: the eigenvalues do not depend on R (Spencer, theorem 4.1.1).
    """
    n, Z = R.shape[0], local.Z
    if n != Z.shape[1]:
        raise ValueError(
            f"{plant.name!r} has {Z.shape[1]} degrees of freedom here, got {n} coordinates, {_listed(names)}; "
            f"choose {_listed(_best_coordinates(plant, local))}"
        )
    to_y, length = R @ Z, coordinate_lengths(plant)
    try:
        T = Z @ np.linalg.inv(to_y)
        # in comparable units, 1/|T| is about the smallest singular value of R on the tangent space
        growth = float(np.linalg.norm(T / length[:, None] * np.linalg.norm(R * length, axis=1)))
    except np.linalg.LinAlgError:
        growth = np.inf
    if not growth < 1.0 / _INDEPENDENT:
        raise ValueError(
            f"the coordinates {_listed(names)} of {plant.name!r} are not independent at this pose (conditioning "
            f"{1.0 / growth:.1e}, 1 is best); choose {_listed(_best_coordinates(plant, local))}"
        )
    A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, drive.shape[1]))
    A[:n, n:] = np.eye(n)
    A[n:, :n] = -to_y @ (Z.T @ local.K @ T)
    A[n:, n:] = -to_y @ (Z.T @ local.D @ T)
    B[n:] = to_y @ (Z.T @ drive)
    return _Reduced(T, A, B, drive)


def _best_coordinates(plant: PlantBase, local: AtRest) -> tuple[str, ...]:
    """Velocity coordinates that span the tangent space best, greedily: pivots of its basis, a row a coordinate."""
    dof = local.Z.shape[1]
    basis = np.linalg.qr(local.Z / coordinate_lengths(plant)[:, None])[0].copy()
    order, tau, pivots = np.empty(plant.nv, np.int64), np.empty(plant.nv), np.empty(plant.nv)
    split.factor_rows(basis, order, tau, pivots, 0.0, dof)
    return tuple(plant.velocity_names[k] for k in sorted(order[:dof]))


# -- names --------------------------------------------------------------------------------------------


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _cut_joints(plant: PlantBase) -> dict[str, Joint]:
    """Cut joints that have one coordinate."""
    return {loop.name: loop for loop in plant.loops if isinstance(loop, (Revolute, Prismatic))}


def _unit(plant: PlantBase, name: str) -> str:
    """Unit of a coordinate, of the tree or of a cut joint; none for combinations."""
    if name in plant.velocity_names:
        return plant.velocity_units[plant.velocity_names.index(name)].removesuffix("/s")
    cut = _cut_joints(plant)
    return cut[name].position_units[0] if name in cut else ""


def _rate(unit: str) -> str:
    """Unit of a rate."""
    return f"{unit}/s" if unit else ""


def _coordinate_row(plant: PlantBase, q: Array, name: str) -> Array | None:
    """Row (nv,) that gives the change of a coordinate under q [+] delta; None for an unknown name."""
    row = np.zeros(plant.nv)
    if name in plant.velocity_names:
        row[plant.velocity_names.index(name)] = 1.0
        return row
    joint = _cut_joints(plant).get(name)
    if joint is None:
        return None
    # the rate of a cut joint is g . (V_b - V_a) with a unit torque about its axis, or a unit force along it
    R, p = plant.link_poses(q)
    S = np.empty((plant.nv, 6))
    tree.joint_screws(plant.model.links, R, p, S)
    here = plant.pose(q, joint.parent) @ joint.frame
    axis = here.R @ joint.axis
    turns = isinstance(joint, Revolute)
    g = np.concatenate([axis, np.zeros(3)] if turns else [np.cross(here.p, axis), axis])
    link = plant._compiled.link_of
    loops.path_projection(plant.model.links, link[joint.parent], link[joint.child], g, S, row)
    return row


def _coordinates(plant: PlantBase, point: OperatingPoint, local: AtRest, given) -> tuple[Array, tuple[str, ...]]:
    """R (dof, nv) with y = R delta, and the names of y."""
    if given is None:
        given = _best_coordinates(plant, local)
    given = (given,) if isinstance(given, str) else given
    if not all(isinstance(name, str) for name in given):
        R = _check.matrix(given, (*np.shape(given)[:1], plant.nv), "coordinates")
        return R, tuple(f"y{i + 1}" for i in range(len(R)))
    rows = []
    for name in given:
        row = _coordinate_row(plant, point.q, name)
        if row is None:
            raise ValueError(_check.unknown(name, [*plant.velocity_names, *_cut_joints(plant)], "coordinate"))
        rows.append(row)
    return np.array(rows).reshape(-1, plant.nv), tuple(given)


def _inputs(plant: PlantBase, given: Sequence[str] | None) -> list[int]:
    """Indices of the actuators."""
    names = plant.actuator_names if given is None else (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        _check.one_of(name, plant.actuator_names, "actuator")
    _refuse_repetition(names, "input")
    return [plant.actuator_names.index(name) for name in names]


def _refuse_repetition(names: Sequence[str], what: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the {what} {name!r} is named {names.count(name)} times")


# -- outputs ------------------------------------------------------------------------------------------


class _Output(NamedTuple):
    """A row of C and of D."""

    C: Array
    D: Array
    name: str
    unit: str


def _outputs(plant, point, local: AtRest, small: _Reduced, names: Sequence[str], given: Sequence[str]) -> list[_Output]:
    """Rows of C and D for names of coordinates, rates and multipliers."""
    found = []
    for name in (given,) if isinstance(given, str) else given:
        rows = _loop_rows(plant, name)
        motion = _motion_output(plant, point, small, names, name)
        if motion is not None:
            found.append(motion)
        elif rows is not None:
            found += _multiplier_outputs(plant, local, small, rows)
        else:
            known = list(dict.fromkeys([*names, *plant.velocity_names, *_cut_joints(plant)]))
            known += [f"{n}_rate" for n in known] + list(plant.row_names)
            known += [f"{n}_force" for n in plant.row_slices] + ["loop_force"]
            raise ValueError(_check.unknown(name, known, "output"))
    _refuse_repetition([o.name for o in found], "output")
    return found


def _motion_output(plant, point, small: _Reduced, names: Sequence[str], name: str) -> _Output | None:
    """A coordinate, or the rate of one; None where the name is neither."""
    n = len(names)
    for coordinate, rate in ((name, False), (name.removesuffix("_rate"), name.endswith("_rate"))):
        C = np.zeros(2 * n)
        half = slice(n, 2 * n) if rate else slice(n)
        if coordinate in names:
            C[half][names.index(coordinate)] = 1.0
        else:
            row = _coordinate_row(plant, point.q, coordinate)
            if row is None:
                continue
            C[half] = row @ small.T
        unit = _unit(plant, coordinate)
        return _Output(C, np.zeros(small.drive.shape[1]), name, _rate(unit) if rate else unit)
    return None


def _loop_rows(plant: PlantBase, name: str) -> list[int] | None:
    """Rows behind the name of a row, ``<loop>_force`` or ``loop_force``; None where it is none of them."""
    every = list(range(len(plant.row_names)))
    if name in plant.row_names:
        return [plant.row_names.index(name)]
    loop = name.removesuffix("_force")
    if name != loop and loop in plant.row_slices:
        return every[plant.row_slices[loop]]
    return every if name == "loop_force" and every else None


def _multiplier_outputs(plant: PlantBase, local: AtRest, small: _Reduced, rows: list[int]) -> list[_Output]:
    """Changes of the multipliers: A' dlam = B du - K delta - D dv - M da, the smallest solution."""
    unique = unique_multipliers(local.A, local.rank)
    shared = [plant.row_names[i] for i in rows if not unique[i]]
    if shared:
        others = _listed(n for n, alone in zip(plant.row_names, unique, strict=True) if alone)
        raise ValueError(
            f"the multipliers of {_listed(shared)} are not unique, for rows of {plant.name!r} are redundant; "
            f"unique are: {others}. Close the loops without redundant rows to have them."
        )
    n = small.T.shape[1]
    inertia = local.M @ small.T
    force = -np.concatenate([local.K @ small.T, local.D @ small.T], axis=1) - inertia @ small.A[n:]
    share = np.linalg.pinv(local.A, rcond=1e-9).T[rows]
    C, D = share @ force, share @ (small.drive - inertia @ small.B[n:])
    units = [{"m": "N", "rad": "N m"}.get(plant.row_units[i], "") for i in rows]
    return [_Output(c, d, plant.row_names[i], unit) for c, d, i, unit in zip(C, D, rows, units, strict=True)]
