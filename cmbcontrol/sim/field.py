"""The equations of motion as the interpreted loops integrate them: rates, projections, energy, closeness.

The state is ``[q, v, work, dissipated, c]`` with the integrated states c of the law or its drive.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels import constrained, forces, stepping
from ..model.mechanism import Mechanism
from ..model.terms import FAILED, RANK_TOLERANCE, Terms
from .run import Run, Standing
from .stabilisation import project_all_at_once

__all__ = ["Field", "NotFinite"]

Array = NDArray[np.float64]


class NotFinite(Exception):
    """A stage could not be evaluated."""


class Field:
    """Rate and projection of the state of a run.

    Attributes
    ----------
    evaluations : int
        Of the rate.
    closeness : float
        To a singular pose, at the last evaluation.
    accepted : int
        Steps so far.
    closing : bool
        Whether stages are brought to the loops, which is done except next to a singular pose.
    """

    closing = True

    def __init__(self, run: Run, now: Standing) -> None:
        self.run, self.plant, self.control = run, run.plant, run.control
        self.opt, self.stabilisation = run.options, run.stabilisation
        self.nq, self.nv = run.plant.nq, run.plant.nv
        self.evaluations, self.accepted = 0, 0
        self.closeness = 1.0
        self._held: Array | None = None  # Baumgarte's correction during a step
        n = self.nq + self.nv
        terms = self.plant.terms(now.x[: self.nq], now.x[self.nq : n])
        self.energy0 = terms.energy - now.x[n] + now.x[n + 1] if np.isfinite(terms.energy) else None
        self.formulation = run.formulation.at(terms) if run.formulation is not None else None

    def split(self, x: Array) -> tuple[Array, Array, Array]:
        """q, v and the integrated states of the law or its drive."""
        n = self.nq + self.nv
        return np.ascontiguousarray(x[: self.nq]), np.ascontiguousarray(x[self.nq : n]), x[n + 2 :]

    def terms(self, t: float, x: Array) -> Terms:
        """The equations of motion at a state; on the closed loops where the stages of a step are."""
        q, v, _ = self.split(x)
        onto = self.stabilisation.stages
        return self.plant.terms(q, v, t, project=onto, close=onto and self.closing, cap=self.opt.cap)

    def effort(self, t: float, x: Array) -> Array:
        """Motor efforts at a state."""
        return self.control.effort(t, self.terms(t, x), self.split(x)[2])

    def derivative(self, t: float, x: Array) -> Array:
        """Rate of the state; see `kernels.stepping.derivative`."""
        self.evaluations += 1
        if not (np.abs(x) < stepping.HUGE).all():
            raise NotFinite
        nq, n, c = self.nq, self.nq + self.nv, self.split(x)[2]
        terms = self.terms(t, x)
        self.closeness = stepping.closeness(terms.pivots, self.opt)
        u = self.control.effort(t, terms, c)
        f = terms.B @ u
        dx = np.empty_like(x)
        dx[:nq] = self.plant.position_rate(terms.q, terms.v)
        dx[nq:n] = self._acceleration(terms, f)
        dx[n] = f @ terms.v
        dx[n + 1] = self._dissipated(terms)
        dx[n + 2 :] = self.control.rate(t, terms, c, u)
        return dx

    def _acceleration(self, terms: Terms, f: Array) -> Array:
        target = -terms.b
        if self._held is not None:
            target = target + self._held
        elif self.stabilisation.kind == "baumgarte" and self.stabilisation.gains is not None:
            target = target + self.stabilisation.correction(terms.A @ terms.v, terms.phi)
        if self.formulation is not None:
            return self.formulation.acceleration(terms, f, target)
        vdot, _, rank = constrained.gauss_acceleration(
            terms.M, terms.A, terms.row_scale, terms.reach, f - terms.h, target, self.opt.tolerance, self.opt.cap
        )
        if rank == FAILED:
            raise NotFinite
        return vdot

    def _dissipated(self, terms: Terms) -> float:
        """Power lost in friction and dampers; functions do not tell it."""
        if not isinstance(self.plant, Mechanism):
            return 0.0
        model = self.plant.model
        if not model.damping.any() and not model.springs.size:
            return 0.0
        work = constrained.new_work(model)
        constrained.update_position(model, terms.q, work, RANK_TOLERANCE, self.opt.cap)
        constrained.update_velocity(model, terms.q, terms.v, work)
        return float(forces.dissipated_power(model, terms.v, work.R, work.p, work.V))

    def correct(self, t: float, x: Array, step: float) -> bool:
        """Begin a step; True where this changes the rates, by a correction that is held during it."""
        if self.stabilisation.kind != "baumgarte" or self.stabilisation.gains is not None:
            return False
        terms = self.terms(t, x)
        self._held = self.stabilisation.correction(terms.A @ terms.v, terms.phi, step)
        return True

    # -- projections ------------------------------------------------------------------------------

    @property
    def due(self) -> bool:
        """Whether the next step ends in a projection."""
        return self.stabilisation.projects and (self.accepted + 1) % self.stabilisation.every == 0

    def project(self, x: Array) -> tuple[Array, float]:
        """x on the closed loops where that is due, and how far it had to move (root mean square of dq)."""
        if not self.due:
            return x, 0.0
        q, v, _ = self.split(x)
        new_q, new_v = self._nearest(x, q, v)
        out = x.copy()
        out[: self.nq], out[self.nq : self.nq + self.nv] = new_q, new_v
        if self.stabilisation.every > 1 or not self.nv:  # what several steps have left is no error of this one
            return out, 0.0
        return out, float(np.sqrt(np.mean(self.plant.difference(q, new_q) ** 2)))

    def _nearest(self, x: Array, q: Array, v: Array) -> tuple[Array, Array]:
        metric = self.stabilisation.metric
        if self.stabilisation.kind == "all-at-once":
            return project_all_at_once(self.plant, q, v, self._energy(x), metric=metric)
        q = self.plant.close(q, metric=metric, accuracy=1e-15)
        v = self.plant.project_velocity(q, v, metric=metric)
        return q, v * self.speed_factor(x, q, v) if self.stabilisation.energy else v

    def _energy(self, x: Array) -> float | None:
        """Energy that the state should have, J, by the work that was put in."""
        n = self.nq + self.nv
        return None if self.energy0 is None else self.energy0 + float(x[n] - x[n + 1])

    def speed_factor(self, x: Array, q: Array | None = None, v: Array | None = None) -> float:
        """Factor of the velocity v of a state that restores the energy; 1 near rest, where it has no direction."""
        if q is None or v is None:
            q, v, _ = self.split(x)
        energy = self._energy(x)
        if energy is None:
            return 1.0
        terms = self.plant.terms(q, v)
        wanted = energy - terms.potential
        if terms.kinetic > 1e-9 * abs(self.energy0) and 0.25 * terms.kinetic < wanted < 4.0 * terms.kinetic:
            return float(np.sqrt(wanted / terms.kinetic))
        return 1.0

    def keep(self, t: float, x: Array) -> None:
        """An accepted step ends here; a formulation that keeps a basis looks whether it still fits."""
        self.accepted += 1
        if self.formulation is not None and self.formulation.bound:
            self.formulation = self.formulation.at(self.terms(t, x))
