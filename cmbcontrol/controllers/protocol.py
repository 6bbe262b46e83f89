"""What a controller is: u = f(t, terms, state).

A controller is any object that can be called so. It may also have

``period``
    Sample time, s; the effort is held in between. None, or no attribute: continuous time.
``start(plant) -> state``
    Initial state, a float array; none unless given.
``derivative(t, terms, state) -> rate``
    Rate of the state, in continuous time.
``update(t, terms, state) -> state``
    Next state, in sampled time.

``command(t, terms, state) -> u``
    In continuous time, what a law asks of the drives that are part of it; it is kept with the run.
``report(t, terms, state) -> mapping``
    Numbers to keep with the run, by name: a margin, a force error, a status.
``measures_force``
    True: `Terms.force` holds the measured constraint force, in sampled time that of the instant before the sample (None
    at the first one), in continuous time only for `derivative` and `report`, since it answers the effort at once.
``delay``
    From a sample to when the motors feel the effort computed from it, s, a number or (nu,). Sampled time only.
``initial_effort``
    What the motors give until the first delayed effort arrives, N or N m, a number or (nu,); unless given, that of the
    first sample.
``drive``
    What is between the held efforts of a sampled law and the joints, in continuous time: an object with
    ``start(plant) -> state``, ``(t, terms, command, state) -> u`` and ``derivative(t, terms, command, state) -> rate``.
``reference``, ``coordinates``, ``error(t, terms) -> (e, rate)``
    What the law follows (it can be replaced), the names of what it follows, and how far it is from it.
``state_names(plant)``, ``rough``, ``with_model(model)``
    Names of the states, for linear models; True where steps or noise allow none; the law on another model.

All must be pure: the same arguments give the same result, so that an integrator may try, reject
and repeat steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import INDEPENDENT, rank
from ..errors import AssemblyError
from ..model.plant import Plant
from ..model.terms import Terms

__all__ = [
    "ConstantEffort",
    "Controller",
    "as_controller",
    "holding",
    "optional",
    "period_of",
    "regular_terms",
    "require_same_signals",
    "start_of",
]

Array = NDArray[np.float64]


@runtime_checkable
class Controller(Protocol):
    """Anything that can be called with (t, terms, state) and returns the motor efforts u (nu,)."""

    def __call__(self, t: float, terms: Terms, state: Array) -> Array:
        """Motor efforts, N or N m."""


class ConstantEffort:
    """The same motor efforts all the time."""

    period = None

    def __init__(self, u: ArrayLike) -> None:
        self.u = np.atleast_1d(_check.numbers(u, "the motor efforts u"))
        self.u = _check.vector(self.u, self.u.size, "the motor efforts u")

    def __call__(self, t: float, terms: Terms, state: Array) -> Array:
        return self.u


def as_controller(controller: Any, plant: Plant) -> Any:
    """`controller` itself, or a ConstantEffort from numbers; None means no effort."""
    if controller is None:
        return ConstantEffort(np.zeros(plant.nu))
    if isinstance(controller, type):
        raise TypeError(f"the controller must be an object, got the class {controller.__name__}; build one of it")
    if not callable(controller):
        return ConstantEffort(_check.vector(controller, plant.nu, "the motor efforts", plant.actuator_names))
    return controller


def period_of(controller: Any) -> float | None:
    """Sample time of a controller, s; None in continuous time."""
    period = getattr(controller, "period", None)
    return None if period is None else _check.positive(period, f"the period of {type(controller).__name__}")


def optional(controller: Any, method: str) -> Callable | None:
    """A method that a controller may have."""
    return getattr(controller, method, None)


def start_of(controller: Any, plant: Plant) -> Array:
    """Initial states (n,) of a controller, a copy; none where it has no `start`."""
    start = optional(controller, "start")
    state = start(plant) if start is not None else None
    return (
        np.zeros(0)
        if state is None
        else np.atleast_1d(_check.numbers(state, f"the start of {type(controller).__name__}"))
    )


def holding(plant: Plant, terms: Terms) -> Plant:
    """The plant with the loops that hold where the terms were made, where loops come and go."""
    return plant.as_at(terms)


def determines_motion(Z: Array, rows: Sequence[int], reach: Array) -> bool:
    """Whether the coordinates in these rows of Z (nv, dof) tell all admissible motions."""
    motions = np.linalg.qr(reach[:, None] * Z)[0]
    return rank(np.linalg.svd(motions[rows], compute_uv=False), 1.0, INDEPENDENT) == Z.shape[1]


def regular_terms(plant: Plant) -> Terms | None:
    """The equations of motion at rest in a pose that is not singular, for checks; None where none is at hand."""
    try:
        q = plant.assemble()
    except AssemblyError:
        return None
    terms = plant.terms(q, np.zeros(plant.nv))
    return terms if terms.rank == plant.generic_rank(q) else None


def require_same_signals(model: Plant, plant: Plant) -> None:
    """Refuse a plant with other coordinates or motors than the model that a controller was made for."""
    for what in ("position", "velocity", "actuator"):
        known, given = (getattr(x, f"{what}_names") for x in (model, plant))
        if known != given:
            what = "motors" if what == "actuator" else f"{what} coordinates"
            raise ValueError(
                f"the controller was made for {model.name!r} with the {what} {', '.join(known) or 'none'}; "
                f"{plant.name!r} has {', '.join(given) or 'none'}"
            )
