"""Where a run starts: a state on the closed loops, the options of the loop, the first step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import BLURRED, rank
from ..dynamics.acceleration import require_unique_loads, solved
from ..dynamics.singular import moves, singular_configuration
from ..errors import InputError, InputTypeError, SingularConfigurationError
from ..kernels import motion
from ..model.generic_rank import generic_rank
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import RANK_TOLERANCE, Terms
from .integrator import Integrator
from .stabilisation import Stabilisation

__all__ = ["check_start", "configuration_of", "first_step", "options_of", "start_state"]

Array = NDArray[np.float64]


def configuration_of(plant: Plant, q0: ArrayLike | Mapping[str, float]) -> Array:
    """The start that a user gives, checked."""
    if isinstance(q0, (Mapping, str)):
        return plant.configuration(q0)
    return _check.vector(q0, plant.nq, "q0", plant.position_names)


def start_state(plant: Plant, q0: ArrayLike | Mapping[str, float] | None, v0: ArrayLike | None, metric: str) -> Terms:
    """The equations of motion at a start on the manifold; without v0, at the velocity that prescribed motions ask for.

    Raises
    ------
    TypeError, ValueError
        Where there is none, or one that is clearly off it.
    """
    if plant.nv == 0:
        raise InputError(f"plant {plant.name!r} has no coordinates: nothing moves")
    if q0 is None:
        raise InputTypeError("a run needs a start q0; plant.assemble(...) gives one with closed loops")
    partly = isinstance(q0, Mapping) and len(q0) < plant.nq
    q0 = configuration_of(plant, q0)
    q0 = plant.integrate(q0, np.zeros(plant.nv))  # a copy, with quaternions of length one
    given = v0 is not None
    v0 = np.zeros(plant.nv) if v0 is None else _check.vector(v0, plant.nv, "v0", plant.velocity_names).copy()
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
    off, speed = np.abs(allowed - v0) * plant.reach, float(np.abs(v0 * plant.reach).max(initial=0.0))
    terms = plant.terms(q0, allowed)
    require_unique_loads(terms)
    if plant.moving:
        _require_followed(plant, terms)
    if not given:
        return terms
    # beside a singular configuration rounding in q0 turns the smallest gradient, and what it allows, by that over its
    # size
    least = terms.pivots[terms.rank - 1] / max(terms.pivots[0], terms.regular_gradient) if terms.rank else 1.0
    if plant.moving:
        speed = max(speed, float(np.abs(plant.row_scale * plant.row_rates).max()))
    if off.max(initial=0.0) > (1e-6 + 1e-15 / least) * speed and (plant.moving or moves(plant, terms, v0)):
        worst = int(off.argmax())
        raise InputError(
            f"v0 violates the loops: {plant.velocity_names[worst]!r} would have to change by "
            f"{abs(allowed[worst] - v0[worst]):.3e}. Give an admissible velocity, such as "
            "plant.project_velocity(q0, v0)."
        )
    return terms


def _refuse_start(plant: Plant, q0: Array, row: str) -> None:
    """A start that is not where a motion begins."""
    motion = next(name for name, rows in plant.row_slices.items() if row in plant.row_names[rows])
    names = next(m.component_names for m in plant.motions if m.name == motion)
    where = [plant.motion_names.index(name) for name in names]
    begins = plant.motion_values()[where, 0]  # type: ignore[attr-defined]
    told = ", ".join(f"{n} = {x:.6g} {plant.motion_units[i]}" for n, x, i in zip(names, begins, where, strict=True))
    raise InputError(
        f"q0 is not where motion {motion!r} begins, {told}: let plant.with_motions(...).assemble(...) find a start "
        "that fits, or let the motion begin where q0 is"
    )


def _require_followed(plant: Plant, terms: Terms) -> None:
    """Refuse prescribed motions that contradict each other or the loops: no velocity follows all of them."""
    missed = np.abs(terms.row_scale * terms.row_rate)
    speed = float((terms.row_scale * np.maximum(np.abs(terms.A) @ np.abs(terms.v), np.abs(plant.row_rates))).max())
    if missed.max() > 1e-9 * speed:
        worst = plant.row_names[int(missed.argmax())]
        raise InputError(
            f"no velocity of {plant.name!r} follows its motions from this start: row {worst!r} would be missed by "
            f"{missed.max():.3e} m/s. Motions contradict each other or the loops there (as at a dead centre, or where "
            "more is prescribed than can move): leave one of them out, or start elsewhere"
        )


def check_start(plant: Plant, terms: Terms) -> None:
    """Refuse a start from which nothing moves, or with a velocity that no motion has.

    Raises
    ------
    SingularConfigurationError
    """
    rows = min(len(plant.row_names), plant.nv)
    if not rows:
        return
    largest = max(float(terms.pivots[0]), 0.01 * terms.regular_gradient)
    if rank(terms.pivots, largest, BLURRED) == rows:
        return
    if plant.moving:
        if rank(terms.pivots, largest, BLURRED) < generic_rank(plant, terms):
            raise SingularConfigurationError(
                f"{plant.name!r} is to start at a singular configuration, where prescribed motions do not tell which "
                "way it goes on: let them begin a little before or behind it"
            )
        return
    configuration = singular_configuration(plant, terms.q, tolerance=4.0 * BLURRED)
    if not len(configuration.forms):
        return
    if configuration.moves(terms.v):
        singular_configuration(plant, terms.q, terms.v, tolerance=4.0 * BLURRED)
    elif configuration.few and configuration.locked:
        raise SingularConfigurationError(
            f"{configuration} Nothing moves from here; the loads of such a configuration need the stiffness of the "
            "parts."
        )
    elif configuration.few and configuration.complete and not any(branch.regular for branch in configuration.branches):
        raise SingularConfigurationError(
            f"{configuration} Part of the machine is locked, whatever the rest does: what holds it there is the "
            "stiffness of its parts, which is not modelled. Weld that part, and leave its loops out."
        )


def options_of(
    plant: Plant,
    terms: Terms,
    kept: Stabilisation,
    integrator: Integrator,
    t_end: float,
    tolerance: float = RANK_TOLERANCE,
) -> motion.Options:
    """The options of a run from the configuration of `terms`."""
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
    """J, for machines with works that need not show in the motion.

    Kinks of what force elements lose do not; nor does what a prescribed motion takes.
    """
    hidden = isinstance(plant, Mechanism) and (plant.arrays.elements.size > 0 or bool(plant.motions))
    return float(plant.force_scale * plant.size) if hidden else 0.0


def first_step(plant: Plant, terms: Terms, u0: Array, options: motion.Options) -> float:
    """A first step from the size of the acceleration: the step control does the rest."""
    a = solved(terms, terms.B @ u0 - terms.h, cap=options.cap).vdot
    length = plant.spans
    rate = max(float((np.abs(a) / length).max(initial=0.0)), float((np.abs(terms.v) / length).max(initial=0.0)), 1e-3)
    return min(0.01 * options.t_end, 0.05 / rate, options.max_step)
