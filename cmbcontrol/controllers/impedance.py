"""Impedance control of a task."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import INDEPENDENT, metres
from ..errors import ActuationError, InputError
from ..model.efforts import weight_root
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.equations import NullSpaceMotion
from .controller import MotionLaw, require_same_signals
from .references import Reference, at_time, require_reference
from .tasks import Task, as_task, motion_of

__all__ = ["Impedance"]

Array = NDArray[np.float64]

# What counts as singular for an impedance with the machine's own inertia, as `damped` of `redundancy.best`. Above it
# the law is exact; machines in use stay above 0.2 (a planar platform of three legs) to 0.9 (a five-bar). An arm that is
# pulled straight must not be helped to keep its speed right up to where it is straight, for its elbow would have to
# turn ever faster: with 0.1, the efforts of one with two equal links come to eight times those of spring and damper
# alone, with 0.15 to less than twice.
LOST = 0.15


class Impedance(MotionLaw):
    """Impedance control: the machine yields to outside forces at a task as a spring and a damper around a reference.

    With x the task, e = x_d - x, J its Jacobian on the admissible motions (J Z), M_Z = Z'M Z and the inertia
    Lambda = (J M_Z^-1 J')^-1 that an outside force F at the task finds, the motors give

        Z'B u = Z'(h + M c) + J'(Lambda (x_d'' - bias) + D e' + K e)

    so that, with the machine's own inertia,

        Lambda e'' + D e' + K e = -F

    Held at rest by a constant F the task gives way by K^-1 F. No force is measured. Spring and damper need no inverse
    of J M_Z^-1 J': they act at singular configurations, as of a stretched arm, too. There Lambda grows without bounds;
    in directions in which the task moves by less than 0.15 of its motion in others (singular values of J Z in the
    metric of M), x_d'' - bias counts less, by the square of the remaining part, and the lost part of the motion is
    damped like motions that leave the task alone.

    With a desired inertia M_d, which does need the inverse, the free motion obeys M_d e'' + D e' + K e = 0; an outside
    force, which is not measured, still meets Lambda: M_d e'' + D e' + K e = -M_d Lambda^-1 F, and gives way by
    K^-1 M_d Lambda^-1 F. Leave the inertia out where compliance matters.

    Parameters
    ----------
    plant : Plant
        Model that fixes the names; the law itself is computed from the `Terms` that it is called with.
    task : Task, or names of coordinates
        Such as `PointTask` or `PoseTask`; with an `inertia` of no more values than the machine has degrees of freedom.
    reference : callable
        t -> (position, velocity, acceleration) of the task, (k,) each.
    stiffness, damping : array_like
        K and D at the task, N/m and N s/m or N m/rad and N m s/rad: numbers, vectors (k,) or symmetric matrices (k, k),
        positive (semi)definite.
    inertia : array_like, optional
        M_d, positive definite, kg or kg m2; defaults to the machine's own.
    null_damping : float
        Damping of motions that leave the task alone, 1/s, where the machine has more degrees of freedom than the task.
    weight : array_like, optional
        Metric of the motor efforts, see `motor_effort`.
    period : float, optional
        Sample time, s; defaults to continuous time.

    Raises
    ------
    ActuationError
        In a call: where the task loses a direction at a configuration and an inertia is desired, or the motors cannot
        produce the motion.
    ValueError
        For gains of another size or sign, and a reference that does not fit the task.

    Notes
    -----
    Hogan, "Impedance control: an approach to manipulation", 1985; on closed loops by the projection of Aghili's (45).
    It is a motion law: `desired_acceleration` is the admissible acceleration that follows from all this.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> plant = plants.five_bar()
    >>> law = Impedance(plant, ("left", "right"), Constant([2.1, 1.0]), stiffness=200.0, damping=40.0)
    >>> law(0.0, plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4), law.start(plant)).round(2)
    array([-31.49,  32.91])
    """

    reference: Reference
    coordinates: Sequence[str]

    def __init__(
        self,
        plant: Plant,
        task: Task | str | Sequence[str],
        reference: Reference,
        stiffness: ArrayLike,
        damping: ArrayLike,
        inertia: ArrayLike | None = None,
        *,
        null_damping: float = 10.0,
        weight: ArrayLike | None = None,
        period: float | None = None,
    ) -> None:
        _check.plant(plant)
        self.task = as_task(plant, task)
        self.plant, self.weight, self.coordinates = plant, weight, tuple(self.task.names)
        self._root = weight_root(weight, plant.nu)
        self._metres = metres(self.task.units, plant.size)
        self.stiffness = self._gain(stiffness, "the stiffness")
        self.damping = self._gain(damping, "the damping")
        self.inertia = None if inertia is None else self._gain(inertia, "the inertia", definite=True)
        self.null_damping = _check.positive(null_damping, "null_damping", zero=True)
        self.period = None if period is None else _check.positive(period, "period")
        require_reference(reference, self.coordinates)
        self.reference = reference

    def _gain(self, gain: ArrayLike, what: str, definite: bool = False) -> Array:
        """Symmetric gain matrix (k, k), checked."""
        gain = _check.gain(gain, len(self.coordinates), what, self.coordinates)
        size = np.abs(gain).max(initial=0.0)
        least = np.linalg.eigvalsh(0.5 * (gain + gain.T)).min(initial=np.inf)
        if np.abs(gain - gain.T).max(initial=0.0) > 1e-9 * size or least < -1e-12 * size or (definite and least <= 0.0):
            kind = "positive definite" if definite else "positive semidefinite"
            raise InputError(f"{what} of Impedance must be symmetric and {kind}, got {gain.tolist()}")
        return gain

    def start(self, plant: Plant) -> Array:
        """Initial states, none; refuses a plant with other coordinates or motors than the model."""
        require_same_signals(self.plant, plant)
        return np.zeros(0)

    def error(self, t: float, terms: Terms) -> tuple[Array, Array]:
        """Error e = x_d - x, as the task defines it, and its rate, (k,) each."""
        now = motion_of(self.task, at_time(self.reference, t), terms)
        return now.e, now.rate

    def desired_acceleration(self, t: float, terms: Terms) -> Array:
        """Acceleration (nv,) of all coordinates that the law wants, consistent with the loops."""
        now = motion_of(self.task, at_time(self.reference, t), terms)
        pull = self.stiffness @ now.e + self.damping @ now.rate
        still = NullSpaceMotion(terms.Cv - self.null_damping * terms.v)
        if self.inertia is None:
            J, wanted = self._metres[:, None] * now.J, self._metres * (now.free - now.bias)
            return terms.least_squares_acceleration(J, wanted, still, damped=LOST) + terms.response(now.J.T @ pull)
        wanted = now.free + np.linalg.inv(self.inertia) @ pull - now.bias
        a, closeness = terms.nearest_acceleration(self._metres[:, None] * now.J, self._metres * wanted, still)
        if closeness <= INDEPENDENT:
            raise ActuationError(
                f"the task {', '.join(self.coordinates)} cannot move in all its {len(now.J)} directions at this "
                f"configuration, with {terms.dof} degrees of freedom (t = {t:.6g} s, q = "
                f"{np.round(terms.q, 6).tolist()}). Take fewer, leave this configuration, or leave inertia= out: the "
                "machine's own needs no such directions."
            )
        return a

    def effort(self, t: float, terms: Terms, state: Array) -> Array:
        return terms.smallest_effort(self.desired_acceleration(t, terms), self._root)
