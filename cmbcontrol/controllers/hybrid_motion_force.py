"""Motion and constraint force at once (Aghili, eq. 54)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, InputTypeError
from ..model.efforts import weight_root
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.symbols import numbers_of
from .around import AroundMotion
from .chain import names_of_states
from .constraint_force_pi import ConstraintForcePI
from .controller import Cut, Evaluation, evaluated, moved, require_same_signals

__all__ = ["HybridMotionForce"]

Array = NDArray[np.float64]


class HybridMotionForce(AroundMotion):
    """A motion law and a force law together: neither disturbs the other.

    With the acceleration a that the motion law wants, A a + b = 0, and u_F of the force law (52),

        f = h + mu C_c v + (I + mu) P M a + u_F  =  M a + h + u_F,    C_c = M C,              (54)

    so that the machine accelerates with a and the constraint force is u_F. (The paper prints C in place of C_c.)
    With fewer motors than joints the efforts produce the motion exactly, Z'B u = Z'(M a + h), and within this the force
    comes as near as it can; see `reachable_forces`.

    Parameters
    ----------
    motion : motion law
        Law with ``plant`` and ``desired_acceleration(t, terms)``, such as `ProjectedInverseDynamics`. Its `coordinates`
        and `reference` are handed on; `with_reference` replaces the latter.
    force : ConstraintForcePI
        Force law for the same plant, with the same period.

    Raises
    ------
    ValueError
        Where one is sampled and the other is not, or the periods or plants differ.
    ActuationError
        Where the motors cannot produce the motion.

    Notes
    -----
    Where the forces leave a choice of efforts, these are smallest in the metric `weight` of the force law, or of the
    motion law where that has none.
    In sampled time the efforts are held, and motion goes on in between: it disturbs the force by an amount in
    proportion to the period.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.controllers import ConstraintForcePI, HybridMotionForce, ProjectedInverseDynamics
    >>> plant = plants.particle_on_circle(mass=2.0, gravity=(0.0, 0.0))
    >>> motion = ProjectedInverseDynamics(plant, ["q2"], Constant([0.0]), bandwidth=5.0)
    >>> force = ConstraintForcePI(plant, [3.0], ["circle"], kp=1.0, ki=10.0)
    >>> law = HybridMotionForce(motion, force)
    >>> terms = plant.terms([1.0, 0.0], [0.0, 0.5])
    >>> law(0.0, terms, law.start(plant)).round(6)  # f_normal = F - m v^2/rho
    array([ 2.5, -10. ])
    """

    plant: Plant
    measures_force = True

    def __init__(self, motion: Any, force: ConstraintForcePI) -> None:
        super().__init__(motion)
        if not isinstance(force, ConstraintForcePI):
            raise InputTypeError(f"force must be a ConstraintForcePI, got {force!r}")
        self.force = force
        require_same_signals(self.plant, force.plant)
        if self.plant.row_names != force.plant.row_names:
            raise InputError(
                f"motion and force are for plants with different loops: {', '.join(self.plant.row_names) or 'none'}, "
                f"and {', '.join(force.plant.row_names)}. Make both for one plant"
            )
        _require_same_period(motion.period, force.period)
        weight = motion.weight if force.weight is None else force.weight
        self._root = weight_root(weight, self.plant.nu)

    # -- states: of the motion law, then of the force law -------------------------------------------

    def start(self, plant: Plant) -> Array:
        """Initial states of the motion law and of the force law."""
        return np.concatenate([super().start(plant), self.force.start(plant)])

    def state_names(self, plant: Plant) -> list[str]:
        """Names of the states of the motion law and of the force law."""
        return [*names_of_states(self.motion, plant, "motion"), *self.force.state_names(plant)]

    def _states(self, state: Array) -> tuple[Array, Array]:
        """States of the motion law and of the force law."""
        first = state.size - self.force.n_states
        return state[:first], state[first:]

    # -- the law ----------------------------------------------------------------------------------

    def effort(self, t: float, terms: Terms, state: Array) -> Array:
        """Motor efforts alone, which in continuous time are needed before the force that they cause is known."""
        vdot = self.motion.desired_acceleration(t, terms)
        return self.force.efforts(t, terms, self._states(state)[1], vdot, self._root)

    @property
    def integrates(self) -> bool:  # type: ignore[override]
        """Whether errors of the force are integrated."""
        return self.force.integrates

    def anti_windup(self, t: float, terms: Terms, state: Array, after: Array, cut: Cut) -> Array:
        """Rates or next values of the states of both laws, each of which holds its own under the limits."""
        pairs = zip((self.motion, self.force), self._states(state), self._states(after), strict=True)
        return np.concatenate([numbers_of(law.anti_windup(t, terms, x, y, cut)) for law, x, y in pairs])

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        """Efforts, states of both laws, and the report of the motion law with `ConstraintForcePI.errors`."""
        moving, forcing = self._states(state)
        vdot = self.motion.desired_acceleration(t, terms)
        u = self.force.efforts(t, terms, forcing, vdot, self._root)
        if moving.size:
            moving = moved(evaluated(self.motion, t, terms, moving), moving, self.period is not None)

        def report() -> dict[str, float]:
            of_motion = self._report_of_motion(t, terms, self._states(state)[0])
            return {**of_motion, **self.force.errors(t, terms, forcing, vdot, self._root)}

        return Evaluation(u, np.concatenate([moving, self.force.moved(t, terms, forcing)]), report)

    def report_units(self) -> Mapping[str, str]:
        return {**self.motion.report_units(), **self.force.report_units()}


def _require_same_period(motion: float | None, force: float | None) -> None:
    """Refuse two laws unless both are continuous, or both sampled with one period."""
    if motion is None and force is None:
        return
    if motion is None or force is None or not math.isclose(motion, force, rel_tol=1e-12):
        said = ["continuous" if p is None else f"sampled at {p:g} s" for p in (motion, force)]
        raise InputError(
            f"the motion law is {said[0]} and the force law {said[1]}; they run as one law: give both the same period, "
            "or none"
        )
