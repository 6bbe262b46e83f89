"""Start of a run: a state on the closed loops, the options of the loop, the first step."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import BLURRED, rank
from ..dynamics.singular import moves, singular_configuration
from ..errors import BranchWarning, ImmobileWarning, InputError, InputTypeError, SingularConfigurationError
from ..kernels import motion
from ..model.accelerations import require_unique_loads, solved
from ..model.evaluation import require_followed
from ..model.generic_rank import generic_rank
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import RANK_TOLERANCE, Terms
from .integrator import Integrator, require_reachable
from .stabilisation import Stabilisation

__all__ = [
    "check_start",
    "configuration_of",
    "first_step",
    "leads_on",
    "options_of",
    "start_state",
    "warn_if_immobile",
]

Array = NDArray[np.float64]

_DIGITS = 1e-12  # radians or sizes: what is moved by less during a whole run has not been moved


def configuration_of(plant: Plant, q0: ArrayLike | Mapping[str, float]) -> Array:
    """Configuration at the start that a user gives, checked."""
    if isinstance(q0, (Mapping, str)):
        return plant.configuration(q0)
    return _check.vector(q0, plant.nq, "q0", plant.position_names)


def start_state(
    plant: Plant, q0: ArrayLike | Mapping[str, float] | None, v0: ArrayLike | None, metric: str, t_end: float
) -> Terms:
    """Equations of motion at a start on closed loops; without v0, at the velocity that prescribed motions need.

    A part of v0 that opens the loops is refused only where it moves the machine noticeably in the time of the run:
    smaller ones are rounding of a velocity that was projected.

    Raises
    ------
    TypeError, ValueError
        Where there is no start, or where it clearly opens the loops.
    """
    if plant.nv == 0:
        raise InputError(f"plant {plant.name!r} has no coordinates: nothing moves")
    if q0 is None:
        raise InputTypeError("a run needs a start q0; plant.assemble(...) gives one with closed loops")
    partly = isinstance(q0, Mapping) and len(q0) < plant.nq
    q0 = _check.moderate(configuration_of(plant, q0), "q0", plant.position_names)
    q0 = plant.integrate(q0, np.zeros(plant.nv))  # a copy, with quaternions of length one
    given = v0 is not None
    v0 = np.zeros(plant.nv) if v0 is None else _check.vector(v0, plant.nv, "v0", plant.velocity_names).copy()
    _check.moderate(v0, "v0", plant.velocity_names)
    size = plant.size
    phi = np.abs(plant.residual(q0)) * plant.row_scale
    if phi.max(initial=0.0) > 1e-6 * size:
        worst = plant.row_names[int(phi.argmax())]
        missing = " Joints that a mapping does not name are at 0." if partly else ""
        if plant.target_rows[int(phi.argmax())]:
            _refuse_start(plant, q0, worst)
        raise InputError(
            f"q0 leaves the loops open: row {worst!r} by {phi.max():.3e} m. Close them with "
            f"plant.assemble(...) or plant.close(q0).{missing}"
        )
    if phi.max(initial=0.0) > 1e-15 * size:
        q0 = plant.close(q0, metric=metric)
    allowed = plant.project_velocity(q0, v0, metric=metric)
    off, speed = np.abs(allowed - v0) * plant.unit_lengths, float(np.abs(v0 * plant.unit_lengths).max(initial=0.0))
    terms = plant.terms(q0, allowed)
    require_unique_loads(terms)
    require_followed(plant, terms)
    if not given:
        return terms
    # beside a singular configuration rounding in q0 turns the smallest gradient, and what it allows, by that over its
    # size
    least = terms.pivots[terms.rank - 1] / max(terms.pivots[0], terms.regular_gradient) if terms.rank else 1.0
    if plant.moving:
        speed = max(speed, float(np.abs(plant.row_scale * plant.row_rates).max()))
    unfit = off.max(initial=0.0) > (1e-6 + 1e-15 / least) * speed and leads_on(plant, allowed - v0, t_end)
    if unfit and (plant.moving or moves(plant, terms, v0)):
        worst = int(off.argmax())
        raise InputError(
            f"v0 violates the loops: {plant.velocity_names[worst]!r} would have to change by "
            f"{abs(allowed[worst] - v0[worst]):.3e}. Give an admissible velocity, such as "
            "plant.project_velocity(q0, v0)."
        )
    return terms


def leads_on(plant: Plant, v: Array, t_end: float, a: Array | None = None) -> bool:
    """Whether a velocity, and an acceleration, move the machine noticeably in the time of a run."""
    speed, rise = (0.0 if x is None else float(np.abs(x / plant.displacement_scale).max(initial=0.0)) for x in (v, a))
    return speed * t_end + 0.5 * rise * t_end**2 > _DIGITS


def warn_if_immobile(plant: Plant, terms: Terms, stacklevel: int) -> bool:
    """Warn of a machine whose rows bind all of its velocities; returns whether it is one.

    Rows of prescribed motions may bind all velocities, for they move the machine.
    """
    if terms.rank < plant.nv or plant.target_rows.any():
        return False
    warnings.warn(
        f"{plant.name!r} cannot move: {terms.rank} independent constraint rows bind all of its {plant.nv} velocities, "
        "so that the run ends where it begins. If it should move, constraints are too many or contradict each other: "
        "plant.diagnose(q0) lists their rows; numbers with few digits lock a machine, too",
        ImmobileWarning,
        stacklevel=stacklevel + 1,
    )
    return True


def _refuse_start(plant: Plant, q0: Array, row: str) -> None:
    """Raise an error for a start at which a prescribed motion does not begin."""
    motion = next(name for name, rows in plant.row_slices.items() if row in plant.row_names[rows])
    names = next(m.component_names for m in plant.motions if m.name == motion)
    where = [plant.motion_names.index(name) for name in names]
    begins = plant.motion_values()[where, 0]  # type: ignore[attr-defined]
    told = ", ".join(f"{n} = {x:.6g} {plant.motion_units[i]}" for n, x, i in zip(names, begins, where, strict=True))
    raise InputError(
        f"q0 is not where motion {motion!r} begins, {told}: let plant.with_motions(...).assemble(...) find a start "
        "that fits, or let the motion begin where q0 is"
    )


def check_start(plant: Plant, terms: Terms, t_end: float, chosen: bool = False) -> Terms:
    """Raise an error for a start from which nothing can move, or for an impossible velocity; returns the terms.

    At a singular configuration a velocity that leads nowhere in the time of the run is rounding, and on no branch: the
    run starts at rest. Where not all branches were found, a warning is given, unless one is `chosen`.

    Raises
    ------
    SingularConfigurationError
    """
    rows = min(len(plant.row_names), plant.nv)
    if not rows:
        return terms
    largest = max(float(terms.pivots[0]), 0.01 * terms.regular_gradient)
    if rank(terms.pivots, largest, BLURRED) == rows:
        return terms
    if plant.moving:
        if rank(terms.pivots, largest, BLURRED) < generic_rank(plant, terms):
            raise SingularConfigurationError(
                f"{plant.name!r} is to start at a singular configuration, where prescribed motions do not tell which "
                "way it goes on: let them begin a little before or behind it"
            )
        return terms
    configuration = singular_configuration(plant, terms.q, tolerance=4.0 * BLURRED)
    if not len(configuration.forms):
        return terms
    moving = configuration.moves(terms.v)
    if moving and not leads_on(plant, terms.v, t_end):
        moving, terms = False, plant.terms(terms.q, np.zeros(plant.nv))
    if moving:
        singular_configuration(plant, terms.q, terms.v, tolerance=4.0 * BLURRED)
        return terms
    if not configuration.few:
        return terms
    regular = any(branch.regular for branch in configuration.branches)
    if configuration.locked:
        raise SingularConfigurationError(
            f"{configuration} Nothing moves from here; the loads of such a configuration need the stiffness of the "
            "parts."
        )
    if not regular and not configuration.complete:
        raise SingularConfigurationError(
            f"{configuration} Not all branches were found, and none on which the machine regains its rank: start a "
            "little beside this configuration, on the branch you want."
        )
    if not regular:
        raise SingularConfigurationError(
            f"{configuration} Part of the machine is locked, whatever the rest does: what holds it there is the "
            "stiffness of its parts, which is not modelled. Weld that part, and leave its loops out."
        )
    if not (configuration.complete or chosen):
        warnings.warn(
            f"{plant.name!r} starts at rest at a singular configuration, and not all of its branches were found: the "
            "run takes the one of those found to which the forces lead. branch= chooses another one, and so does a "
            "velocity along it; print(singular_configuration(plant, q0)) tells them",
            BranchWarning,
            stacklevel=4,  # 1 is here, 2 is simulate, 3 what records its call
        )
    return terms


def options_of(
    plant: Plant,
    terms: Terms,
    kept: Stabilisation,
    integrator: Integrator,
    t_end: float,
    tolerance: float = RANK_TOLERANCE,
) -> motion.Options:
    """Options of a run for the kernels, at the configuration of `terms`."""
    require_reachable(plant, integrator)
    gains: Any = (0.0, 0.0) if kept.adaptive else kept.gains
    alpha, beta = gains
    return motion.Options(
        rtol=integrator.rtol,
        atol=integrator.atol,
        max_step=integrator.step or integrator.max_step,
        max_steps=integrator.max_steps,
        t_end=t_end,
        tolerance=tolerance,
        cap=generic_rank(plant, terms),
        reference=terms.regular_gradient,
        accuracy=1e-15 * plant.size,
        pass_within=integrator.pass_within,
        stabilisation=kept.code,
        every=kept.every,
        euclidean=kept.metric == "euclidean",
        energy=kept.energy,
        alpha=alpha,
        beta=beta,
        work_scale=_work_scale(plant),
        held_gains=kept.kind == "baumgarte" and kept.adaptive,
    )  # fmt: skip


def _work_scale(plant: Plant) -> float:
    """Scale of work, J, where errors of the work need not show in the motion; 0 for other machines.

    Kinks in the losses of force elements do not show; nor does the work of a prescribed motion, or of a motor that
    bears exactly the force of an element or a load.
    """
    parts = isinstance(plant, Mechanism) and (plant.arrays.elements.size > 0 or bool(plant.motions) or plant.loads)
    hidden = bool(parts)
    return float(plant.force_scale * plant.size) if hidden else 0.0


def first_step(plant: Plant, terms: Terms, u0: Array, options: motion.Options) -> float:
    """First step size, from the size of velocity and acceleration; step control then corrects it."""
    a = solved(terms, terms.B @ u0 - terms.h, cap=options.cap).vdot
    length = plant.displacement_scale
    rate = max(float((np.abs(a) / length).max(initial=0.0)), float((np.abs(terms.v) / length).max(initial=0.0)), 1e-3)
    return min(0.01 * options.t_end, 0.05 / rate, options.max_step)
