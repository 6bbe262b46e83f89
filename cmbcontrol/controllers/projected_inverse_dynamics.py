"""Projected inverse dynamics control (Aghili, section 7.1, eqs. 45-46)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..dynamics.forces import motor_effort
from ..errors import AssemblyError, ControllabilityError
from ..model.diagnosis import actuation_verdict
from ..model.plant import Plant
from ..model.terms import Terms
from .protocol import require_same_signals
from .references import Reference

__all__ = ["ProjectedInverseDynamics"]

Array = NDArray[np.float64]


class ProjectedInverseDynamics:
    """Track a reference in independent coordinates with the smallest motor efforts.

    With theta = R q the chosen coordinates, K = d q / d theta on the loops and

        u_p = Kdot theta' + K (theta_d'' + G_D e' + G_P e),    e = theta_d - theta      (46)
        f = h_parallel + P M u_p,                                                       (45)

    the motors produce f (through I + H where joints are passive, eq. 62), so that the error obeys
    e'' + G_D e' + G_P e = 0 (Theorem 4).

    Parameters
    ----------
    plant : Plant
        Fixes names; the law itself is computed from the `Terms` that it is called with.
    coordinates : sequence of str
        Independent velocity coordinates, as many as the plant has freedoms.
    reference : callable
        t -> (position, velocity, acceleration), such as `Sine`.
    bandwidth : float or array_like, optional
        Natural frequency of the error, rad/s; G_P = bandwidth^2, G_D = 2 damping_ratio bandwidth.
    damping_ratio : float or array_like
    kp, kd : array_like, optional
        G_P (1/s2) and G_D (1/s) in place of bandwidth: numbers, vectors (k,) or matrices (k, k).
    weight : array_like, optional
        Metric of the motor efforts, see `motor_effort`.
    period : float, optional
        Sample time, s; continuous unless given.

    Raises
    ------
    ControllabilityError
        Where the motors cannot produce every motion at a state, or the coordinates do not fix it.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> plant = plants.five_bar()
    >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
    >>> law(0.0, plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4), law.start(plant)).round(2)
    array([-31.49,  32.91])
    """

    def __init__(
        self,
        plant: Plant,
        coordinates: Sequence[str],
        reference: Reference,
        *,
        bandwidth: ArrayLike | None = None,
        damping_ratio: ArrayLike = 1.0,
        kp: ArrayLike | None = None,
        kd: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        period: float | None = None,
    ) -> None:
        self.plant = plant
        self.coordinates = (coordinates,) if isinstance(coordinates, str) else tuple(coordinates)
        names = plant.velocity_names
        for name in self.coordinates:
            if name not in names:
                raise ValueError(_check.unknown(name, names, "coordinate"))
        if len(set(self.coordinates)) < len(self.coordinates):
            raise ValueError(f"the coordinates {self.coordinates} are not all different")
        shared = [n for n in self.coordinates if n not in plant.position_names]
        if shared:
            raise ValueError(f"coordinate {shared[0]!r} has no position of its own; control a one-axis joint instead")
        if not callable(reference):
            raise TypeError(f"the reference must be callable with the time, such as Sine(...), got {reference!r}")
        self.reference = reference
        self.period = None if period is None else _check.positive(period, "period")
        self.weight = weight
        self._v = np.array([names.index(n) for n in self.coordinates])
        self._q = np.array([plant.position_names.index(n) for n in self.coordinates])
        self.kp, self.kd = self._gains(bandwidth, damping_ratio, kp, kd)
        self._check_reference()
        self._check_plant()

    def _gains(self, bandwidth, damping_ratio, kp, kd) -> tuple[Array, Array]:
        """Gain matrices (k, k) from either way to say them."""
        k = len(self.coordinates)
        if (bandwidth is None) == (kp is None and kd is None):
            raise TypeError("give either bandwidth (with damping_ratio), or both kp and kd")
        if bandwidth is not None:
            w = np.broadcast_to(np.asarray(bandwidth, dtype=float), (k,))
            z = np.broadcast_to(np.asarray(damping_ratio, dtype=float), (k,))
            if not (np.isfinite(w).all() and w.min() > 0.0 and np.isfinite(z).all() and z.min() > 0.0):
                raise ValueError(f"bandwidth and damping_ratio must be > 0, got {bandwidth} and {damping_ratio}")
            return np.diag(w**2), np.diag(2.0 * z * w)
        if kp is None or kd is None:
            raise TypeError("kp and kd go together; give both")
        return self._gain(kp, "kp"), self._gain(kd, "kd")

    def _gain(self, gain: ArrayLike, what: str) -> Array:
        k = len(self.coordinates)
        gain = np.asarray(gain, dtype=float)
        if gain.ndim < 2:
            gain = np.diag(np.broadcast_to(gain, (k,)))
        return _check.matrix(gain, (k, k), what)

    def _check_reference(self) -> None:
        """The reference has as many coordinates as the controller."""
        k = len(self.coordinates)
        parts = self.reference(0.0)
        shapes = [np.shape(x) for x in parts]
        if shapes != [(k,)] * 3:
            raise ValueError(
                f"the reference must return position, velocity and acceleration of shape ({k},) each "
                f"for the coordinates {self.coordinates}, got {shapes}"
            )

    def _check_plant(self) -> None:
        """The motors reach every freedom, and the coordinates are as many, at a regular pose."""
        try:
            q = self.plant.assemble()
        except AssemblyError:  # no pose to look at; each state is checked anyway
            return
        terms = self.plant.terms(q, np.zeros(self.plant.nv))
        if terms.rank < self.plant.generic_rank(q):
            return
        verdict = actuation_verdict(terms)
        if not verdict.complete:
            raise ControllabilityError(
                f"plant {self.plant.name!r} is {verdict.verdict}: its motors {self.plant.actuator_names} reach "
                f"{verdict.rank} of {verdict.dof} freedoms, and projected inverse dynamics needs all of them. "
                "Add actuators."
            )
        if len(self.coordinates) != terms.dof:
            raise ValueError(
                f"plant {self.plant.name!r} has {terms.dof} freedoms; give as many coordinates, got {self.coordinates}"
            )

    def start(self, plant: Plant) -> Array:
        """No state of its own; refuses a plant with other coordinates or motors than the model."""
        require_same_signals(self.plant, plant)
        return np.zeros(0)

    def error(self, t: float, terms: Terms) -> tuple[Array, Array]:
        """Tracking error e = theta_d - theta and its rate, shape (k,) each."""
        position, velocity, _ = self.reference(t)
        return position - terms.q[self._q], velocity - terms.v[self._v]

    def wanted_acceleration(self, t: float, terms: Terms) -> Array:
        """u_p (46): the acceleration of all coordinates, loops respected, shape (nv,)."""
        position, velocity, acceleration = self.reference(t)
        e, e_rate = position - terms.q[self._q], velocity - terms.v[self._v]
        wanted = acceleration + self.kd @ e_rate + self.kp @ e
        # R a = wanted and A a = -b: a = Z z + c with R Z z = wanted - R c
        Z, c = terms.Z, terms.Cv
        R_Z = Z[self._v]
        if R_Z.shape[0] != R_Z.shape[1] or np.linalg.cond(R_Z) > 1e8:
            raise ControllabilityError(
                f"the coordinates {self.coordinates} do not determine the motion at this pose: {terms.dof} freedoms, "
                f"condition {np.linalg.cond(R_Z) if R_Z.size else np.inf:.3g} (t = {t:.6g} s, "
                f"q = {np.round(terms.q, 6).tolist()}). Choose {terms.dof} other coordinates, or another path."
            )
        return c + Z @ np.linalg.solve(R_Z, wanted - c[self._v])

    def __call__(self, t: float, terms: Terms, state: Array) -> Array:
        """Motor efforts u (nu,), N or N m."""
        return motor_effort(terms, self.wanted_acceleration(t, terms), self.weight).u
