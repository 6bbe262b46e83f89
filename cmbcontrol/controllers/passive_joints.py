"""Motion control with passive joints (Aghili, section 7.4), also where the motors lose a motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import DEPENDENT
from ..errors import ActuationError, InputError
from ..kernels import linear_algebra
from ..model.actuation import Actuation, actuation_at
from ..model.terms import Terms
from .actuation import MARGIN, checked_epsilon, metric_of
from .around import AroundMotion
from .controller import Evaluation, evaluated, regular_terms

__all__ = ["PassiveJoints"]

Array = NDArray[np.float64]


class PassiveJoints(AroundMotion):
    """A motion law for machines with passive joints: f = (I + H) f_parallel (62), for any actuation matrix B.

    The motion law wants the acceleration a; f_parallel = P (M a + h) (45) would produce it with a motor on every
    joint. Of all forces of the real motors that move the machine alike, this law takes the smallest, and of all efforts
    u that give this force, B u = f, again the smallest. Passive joints get exactly zero. See `active_force_map` for
    the norms.

    This needs condition (64) along the whole motion. Where its margin (see `actuation`) is below `margin`, the
    motors have lost a motion, or nearly so, and the law acts as `on_loss` requires.

    Parameters
    ----------
    motion : motion law
        Law with ``plant`` and ``desired_acceleration(t, terms)``, such as `ProjectedInverseDynamics`. Its `period`,
        `reference`, `coordinates`, `start` and `report` are handed on; `with_reference` replaces the reference. Its
        own efforts are not used, so a law with ``weight`` or ``saturation`` is refused.
    on_loss : {"hold", "damp", "stop"}
        - ``hold``: produce the part of the motion that can be produced, weight included. A motion that is hardly
          reached gets the share s^2/margin^2 of its force, with its singular value s. The force is continuous in s
          and never above 1/margin times the one that is needed.
        - ``damp``: brake the motors' own joints, f = -`damping` D M D' v, with the projector D = B B^+ on them,
          until control is back. It takes energy out of any motion of motors, and holds no weight. The two are blended
          between `margin` and half of it.
        - ``stop``: raise `ActuationError` with time, joint, margin and configuration. `simulate` then ends with
          a `SimulationError` that carries the run.
    margin : float
        Threshold, between 0 and 1.
    damping : float
        Rate at which a motor brakes the inertia of its own joints, 1/s.
    weight : array_like, shape (nv,) or (nv, nv), optional
        Metric W of joint velocities: f' W^-1 f is minimized (49). By default, a radian counts as ``plant.size``
        metres (50).
    epsilon : float, optional
        Singular values of A below it count as zero, see `actuation`. Within this distance from a singular
        configuration the law treats the machine as one with more degrees of freedom, as Aghili's section 8 does. Unless
        given, only at the configuration itself.

    Raises
    ------
    ActuationError
        Where the motors are too few; in a run, with ``on_loss="stop"``.
    TypeError, ValueError
        Where `motion` is no motion law, or has options of its own for the efforts; where an option is wrong.

    Notes
    -----
    The law has no memory, so there is no hysteresis: it is a continuous function of the state as long as the rank of A
    stays. At a singular configuration the rank jumps, and so does the force of the law.

    Where the coordinates of the motion law do not determine the motion either while control is lost, the acceleration
    that it holds is zero along the admissible motions.

    Examples
    --------
    The crank alone holds a slider-crank:

    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.controllers import PassiveJoints, ProjectedInverseDynamics
    >>> plant = plants.slider_crank()
    >>> law = PassiveJoints(ProjectedInverseDynamics(plant, "q1", Constant(0.6), bandwidth=8.0))
    >>> law(0.0, plant.terms([0.6, -1.2], [0.0, 0.0]), law.start(plant)).round(4)  # m g l cos q1
    array([8.0965])
    >>> law.evaluate(0.0, plant.terms([0.6, -1.2], [0.0, 0.0]), law.start(plant)).reported()["lost"]
    0.0
    """

    def __init__(
        self,
        motion: Any,
        *,
        on_loss: str = "hold",
        margin: float = MARGIN,
        damping: float = 10.0,
        weight: ArrayLike | None = None,
        epsilon: float | None = None,
    ) -> None:
        super().__init__(motion)
        for option in ("weight", "saturation"):
            if getattr(motion, option) is not None:
                raise InputError(
                    f"PassiveJoints finds the efforts itself, and would ignore {option}= of {type(motion).__name__}. "
                    "Leave it out there; PassiveJoints has weight= of joint forces, and Saturation goes behind it"
                )
        self.on_loss = _check.one_of(on_loss, ("hold", "damp", "stop"), "on_loss")
        self.margin = _check.positive(margin, "margin")
        if self.margin >= 1.0:
            raise InputError(f"margin is the cosine of an angle and must be below 1, got {margin}")
        self.damping = _check.positive(damping, "damping", zero=True)
        self.epsilon = checked_epsilon(epsilon)
        self._metric = metric_of(self.plant, weight)
        self._require_motors()

    def _require_motors(self) -> None:
        """Refuse a plant whose motors do not reach every degree of freedom at a regular configuration."""
        plant, terms = self.plant, regular_terms(self.plant)
        if terms is None:  # each state is checked anyway
            return
        actuation = actuation_at(terms, plant.velocity_names, self._metric)
        if not actuation.complete:
            raise ActuationError(
                f"plant {plant.name!r} is {actuation.verdict}: its motors "
                f"{', '.join(plant.actuator_names) or '(none)'} reach {actuation.rank} of {actuation.dof} degrees of "
                f"freedom. Not reached: {actuation.describe_weakest()}. Add a motor, such as one on "
                f"{actuation.joint!r}."
            )

    # -- the law ----------------------------------------------------------------------------------

    def actuation(self, terms: Terms) -> Actuation:
        """Actuation of the plant at a state, with the metric and the threshold of the law."""
        return terms.actuation(self.plant.velocity_names, self._metric, self.epsilon)

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        """Efforts; the report has that of the motion law, ``margin``, ``lost`` (1 below the threshold) and ``rank``."""
        actuation = self.actuation(terms)
        lost = not actuation.within(self.margin)
        if lost and self.on_loss == "stop":
            raise ActuationError(self._loss_message(t, actuation))
        a = self._acceleration(t, terms, lost)

        def effort(terms: Terms, a: Array) -> Array:
            return actuation.effort(terms.M @ a + terms.h, self.margin)

        u = effort(terms.with_friction_of_loads(a, effort), a)
        if lost and self.on_loss == "damp":
            share = min(2.0 * (1.0 - actuation.margin / self.margin), 1.0)
            u = (1.0 - share) * u + share * self._brake(terms)

        def report() -> dict[str, float]:
            own = {"margin": actuation.margin, "lost": float(lost), "rank": float(actuation.rank)}
            return {**self._report_of_motion(t, terms, state), **own}

        moving = evaluated(self.motion, t, terms, state).state if state.size else None
        return Evaluation(u, moving, report)

    def report_units(self) -> Mapping[str, str]:
        return {**self.motion.report_units(), "margin": "1", "lost": "1", "rank": "1"}

    def _brake(self, terms: Terms) -> Array:
        """Efforts of -damping D M D' v, with the projector D = B B^+ of forces on the motors' own joints."""
        inverse = self._metric.inverse
        U, G = linear_algebra.active_subspace(inverse @ terms.B, DEPENDENT)
        pseudoinverse = G @ U.T @ inverse
        D = terms.B @ pseudoinverse
        return -self.damping * (pseudoinverse @ (terms.M @ (D.T @ terms.v)))

    def _acceleration(self, t: float, terms: Terms, lost: bool) -> Array:
        """Acceleration that the motion law wants; zero motion where it has none and control is lost anyway."""
        try:
            return self.desired_acceleration(t, terms)
        except ActuationError:
            if not lost:
                raise
            return terms.Cv

    def _loss_message(self, t: float, actuation: Actuation) -> str:
        """Message of a loss of control, with the motion that is lost and the remedy."""
        configuration = _check.values_by_name(self.plant.position_names, actuation.q)
        return (
            f"the motors lose control at t = {t:.6g} s: margin {actuation.margin:.3g}, below {self.margin:.3g}, with "
            f"{actuation.dof} degrees of freedom, of which they reach {actuation.rank}. The motion that they cannot "
            f"produce: {actuation.describe_weakest()} (configuration: {configuration}). Add a motor on "
            f"{actuation.joint!r}, keep the path away from this configuration, or choose on_loss='hold' or 'damp'."
        )
