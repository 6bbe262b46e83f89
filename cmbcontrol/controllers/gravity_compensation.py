"""PD control of joints with the weights and springs of the machine compensated."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError
from ..model.efforts import weight_root
from ..model.plant import Plant
from ..model.terms import Terms
from .controller import Controller, require_same_signals
from .references import Reference, at_time, require_reference
from .tasks import Coordinates

__all__ = ["GravityPD", "driven_coordinates"]

Array = NDArray[np.float64]


class GravityPD(Controller):
    """PD control of chosen joints, with the weights (and springs) of the machine compensated.

    With e = y_d - y of the coordinates, S their rows among the joints, and g(q) = h(q, 0) of the plant,

        Z'B u = Z'(g(q) + S'(K_P e + K_D e')),    u'W^-1 u smallest

    so that springs and dampers seem to act at the coordinates. No mass matrix is needed. Under a constant reference the
    energy v'Mv / 2 + e'K_P e / 2 falls with e'K_D e', whatever the masses are: the machine comes to rest at e = 0 where
    the weights are right, for any K_P, K_D > 0 (Takegaki and Arimoto, 1981; on closed loops all forces above work on
    admissible motion only). On a path it lags behind; see `ProjectedInverseDynamics` and `ComputedTorque`.

    Parameters
    ----------
    plant : Plant
        Weights and springs are those of this plant: another one is a wrong model (as in `WithModel`).
    reference : callable
        t -> (position, velocity, acceleration), (k,) each, such as `Quintic`; the acceleration is not used.
    kp, kd : array_like
        K_P, N m/rad or N/m, and K_D, N m s/rad or N s/m: numbers, vectors (k,) or matrices (k, k).
    coordinates : sequence of str, optional
        Joints of one axis, of any number; defaults to those that motors drive.
    weight : array_like, shape (nu,) or (nu, nu), optional
        Metric W of the efforts where several motors share the work, see `motor_effort`.
    period : float, optional
        Sample time, s; defaults to continuous time.

    Raises
    ------
    ActuationError
        In a call, where the motors cannot give these forces.
    ValueError
        For unknown coordinates, gains or a reference of another size.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants, trim
    >>> plant = plants.five_bar()
    >>> law = GravityPD(plant, Constant([2.1, 1.0]), kp=100.0, kd=20.0)
    >>> law.coordinates
    ('left', 'right')
    >>> at = plant.assemble(left=2.1, right=1.0)
    >>> law(0.0, plant.terms(at, [0.0] * 4), law.start(plant)).round(2), trim(plant, at).u.round(2)
    (array([-31.49,  32.91]), array([-31.49,  32.91]))
    """

    plant: Plant
    reference: Reference

    def __init__(
        self,
        plant: Plant,
        reference: Reference,
        *,
        kp: ArrayLike,
        kd: ArrayLike,
        coordinates: Sequence[str] | None = None,
        weight: ArrayLike | None = None,
        period: float | None = None,
    ) -> None:
        _check.plant(plant)
        self.plant, self.weight = plant, weight
        given = driven_coordinates(plant) if coordinates is None else coordinates
        self.task = Coordinates(plant, given)
        self.coordinates = self.task.names
        if not self.coordinates:
            raise InputError("GravityPD needs coordinates, got none")
        k = len(self.coordinates)
        self.kp, self.kd = (_check.gain(x, k, what, self.coordinates) for x, what in ((kp, "kp"), (kd, "kd")))
        self._root = weight_root(weight, plant.nu)
        self.period = None if period is None else _check.positive(period, "period")
        require_reference(reference, self.coordinates)
        self.reference = reference

    def with_model(self, model: Plant) -> Self:
        """Copy of the law with the weights of another model."""
        require_same_signals(self.plant, model)
        law = copy.copy(self)
        law.plant = model
        return law

    def start(self, plant: Plant) -> Array:
        """Initial states, none; refuses a plant with other coordinates or motors than the model."""
        require_same_signals(self.plant, plant)
        return np.zeros(0)

    def error(self, t: float, terms: Terms) -> tuple[Array, Array]:
        """Error e = y_d - y and its rate, shape (k,) each."""
        position, velocity, _ = at_time(self.reference, t)
        return position - self.task.value(terms), velocity - self.task.jacobian(terms) @ terms.v

    def effort(self, t: float, terms: Terms, state: Array) -> Array:
        e, e_rate = self.error(t, terms)
        weights = self.plant.as_at(terms).terms(terms.q, np.zeros(terms.v.size), t, cap=terms.rank).h
        f = weights + self.task.jacobian(terms).T @ (self.kp @ e + self.kd @ e_rate)
        return terms.smallest_effort(terms.free_acceleration(f - terms.h), self._root)  # M a + h = f


def driven_coordinates(plant: Plant) -> tuple[str, ...]:
    """Names of the one-axis joints that motors drive, each alone; from the plant's B at an assembled configuration."""
    q = plant.assemble()
    B = plant.terms(q, np.zeros(plant.nv)).B
    alone = [j for j in range(plant.nu) if np.count_nonzero(B[:, j]) == 1]
    rows = sorted({int(np.flatnonzero(B[:, j])[0]) for j in alone})
    names = tuple(plant.velocity_names[i] for i in rows)
    if len(alone) < plant.nu or not set(names) <= set(plant.position_names):
        others = [plant.actuator_names[j] for j in range(plant.nu) if j not in alone] or list(names)
        raise InputError(
            f"the motors {', '.join(others)} of plant {plant.name!r} do not drive single one-axis joints of the tree; "
            "name the coordinates to control"
        )
    return names
