"""Computed torque control in joint space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _check
from ..model.plant import Plant
from .gravity_compensation import driven_coordinates
from .projected_inverse_dynamics import ProjectedInverseDynamics
from .references import Reference

__all__ = ["ComputedTorque"]


class ComputedTorque(ProjectedInverseDynamics):
    """Computed torque control of the driven joints.

    On an open arm with a motor at each joint it is the classical

        u = M(q) (q_d'' + G_D e' + G_P e) + h(q, v)

    (with gears: B u). On closed chains it is `ProjectedInverseDynamics` with the driven joints as coordinates, and so
    its projected form: accelerations that the classical law asks for across the loops are not known (the passive joints
    have no reference) and have no effect, and the motors give the part along the loops alone. Either way
    e'' + G_D e' + G_P e = 0.

    Parameters
    ----------
    plant : Plant
    reference : callable
        t -> (position, velocity, acceleration) of the coordinates, (k,) each.
    coordinates : sequence of str, optional
        Controlled coordinates; defaults to the driven joints. Where more joints are driven than the machine has degrees
        of freedom, name as many as it has.
    **options
        ``bandwidth`` and ``damping_ratio``, or ``kp`` and ``kd``; ``weight``, ``period``: as in
        `ProjectedInverseDynamics`.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> plant = plants.five_bar()
    >>> law = ComputedTorque(plant, Constant([2.1, 1.0]), bandwidth=8.0)
    >>> law.coordinates, law(0.0, plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4), None).round(2)
    (('left', 'right'), array([-31.49,  32.91]))
    """

    def __init__(
        self, plant: Plant, reference: Reference, *, coordinates: Sequence[str] | None = None, **options: Any
    ) -> None:
        _check.plant(plant)
        super().__init__(plant, driven_coordinates(plant) if coordinates is None else coordinates, reference, **options)
