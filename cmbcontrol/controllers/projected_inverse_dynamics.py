"""Projected inverse dynamics control (Aghili, section 7.1, eqs. 45-46), of coordinates or of any task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import INDEPENDENT
from .._tolerance import metres as metres_of
from ..errors import ActuationError, InputError, InputTypeError
from ..linear.signals import best_coordinates, listed
from ..model.actuation import actuation_at
from ..model.efforts import weight_root
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.equations import NullSpaceMotion
from ..trace.symbols import if_less, where_less
from .controller import Cut, Evaluation, MotionLaw, regular_terms, require_same_signals, waiting
from .frame_tasks import PoseTask
from .references import Reference, at_time, require_reference
from .tasks import PostureTask, TaskMotion, as_task, motion_of

if TYPE_CHECKING:
    from .tasks import Task

__all__ = ["ProjectedInverseDynamics"]

Array = NDArray[np.float64]
Acceleration = Callable[[float, Terms], Array]


def largest_scale(hold: Array, more: Array, limits: Array) -> float:
    """Largest s in [0, 1] with |hold + s more| <= limits, (nu,) each; 0 where there is none.

    Examples
    --------
    >>> float(largest_scale(np.array([1.0, 0.0]), np.array([4.0, 1.0]), np.array([3.0, np.inf])))
    0.5
    """
    size = np.abs(more)
    way = where_less(0.0, size, more, 1.0)
    with np.errstate(over="ignore"):
        a, b = (-limits - hold) / way, (limits - hold) / way
    still = where_less(limits, np.abs(hold), np.inf, 0.0)  # where nothing changes, any s will do, or none
    first = where_less(0.0, size, np.minimum(a, b), still).max(initial=0.0)
    last = where_less(0.0, size, np.maximum(a, b), 1.0).min(initial=1.0)
    return where_less(last, first, 0.0, last)


class ProjectedInverseDynamics(MotionLaw):
    """Motion law that follows a reference in independent coordinates, or in any task, with the smallest motor efforts.

    With a task theta(q) of rate J v, Lambda = d q / d theta on the loops and

        u_p = Lambda' theta' + Lambda (theta_d'' + G_D e' + G_P e),    e = theta_d - theta      (46)
        f = h_parallel + P M u_p,                                                               (45)

    the motors produce f (through I + H where joints are passive, eq. 62), so that the error obeys
    e'' + G_D e' + G_P e = 0 (Aghili, eq. 47, Theorem 4). u_p is the admissible acceleration with
    J u_p + J' v = theta_d'' + G_D e' + G_P e; where the task leaves some of the motion free, it is the one that comes
    nearest to the `posture` in the metric of M.

    Parameters
    ----------
    plant : Plant
        Model that fixes the names; the law itself is computed from the `Terms` that it is called with.
    coordinates : sequence of str, or Task
        Independent velocity coordinates, as many as the plant has degrees of freedom; or a task (`PointTask`,
        `PoseTask`, `FunctionTask`, `Coordinates`), which may have fewer values, and more with ``consistent``.
    reference : callable
        t -> (position, velocity, acceleration), such as `Sine`.
    bandwidth : float or array_like, optional
        Natural frequency of the error, rad/s; G_P = bandwidth^2, G_D = 2 damping_ratio bandwidth.
    damping_ratio : float or array_like
    kp, kd : array_like, optional
        G_P (1/s2) and G_D (1/s) in place of bandwidth: numbers, vectors (k,) or matrices (k, k).
    weight : array_like, optional
        Metric of the motor efforts, see `motor_effort` and `cmbcontrol.controllers.metrics`.
    period : float, optional
        Sample time, s; defaults to continuous time.
    posture : optional
        Motion that is wanted where the task leaves it free: (reference, bandwidth) in all coordinates, a `PostureTask`
        in some of them or in a second task, or a callable (t, terms) -> acceleration (nv,) to come near to. By default,
        that motion is damped.
    posture_damping : float, optional
        Damping of the motion left free, 1/s, without a posture; defaults to the smallest on the diagonal of G_D.
    consistent : bool
        Whether the reference respects the loops, so that the task may have more values than there are degrees of
        freedom, even all coordinates, and constraints may come and go. u_p is then Gauss' projection: the admissible
        acceleration
        with the smallest error in the metric (J M^-1 J')^-1. The error obeys Z'J'(J M^-1 J')^-1 (e'' + G_D e' + G_P e)
        = 0, which for all coordinates is P M (e'' + G_D e' + G_P e) = 0: with the same gains for all, and an error that
        respects the loops, that is e'' + G_D e' + G_P e = 0 to first order.
    damped : float, optional
        Threshold where the task is about to lose its rank: singular values of J Z in the metric of M, below this part
        of the largest, count with sigma/threshold^2 in place of 1/sigma, so that efforts stay finite and the error
        equation is given up in these directions alone. The largest counts as no smaller than a tenth of that of the
        coordinates themselves, so that a task that loses all of its motion, as one value at a dead centre, has a
        threshold, too. By default, the law raises an error at 1e-8. Values without a unit count as metres.
    saturation : {None, "scale", "clip"}
        Treatment of efforts beyond the limits. None: no limits. "scale": u_hold + s (u - u_hold) with the largest
        s in [0, 1] within the limits, and u_hold for a task that does not accelerate, so that the task accelerates
        along the direction asked for; where not even u_hold is within the limits, s = 0 and each motor is cut off.
        "clip": each motor is cut off at its limit.
    limits : array_like, shape (nu,), optional
        Largest efforts; defaults to those of the plant.
    integral : float or array_like, optional
        Integral action, 1/s: with `bandwidth` the error has the poles of this and `damping_ratio`, and another one at
        ``-integral``. It removes errors by unknown loads and a wrong model in about 3 / integral seconds.
        While a motor is at its limit, of `saturation` or of a later block of its chain (`Saturation`, `RateLimit`,
        `ElectricDrive`, `HydraulicDrive`), the integrals do not grow.
    ki : array_like, optional
        Gain of the integral of the error, 1/s3, with `kp` and `kd`.

    Attributes
    ----------
    task : Task
    coordinates : tuple of str
        Names of the task's values.
    kp, kd : ndarray, shape (k, k)
    ki : ndarray, shape (k, k), or None

    Raises
    ------
    ActuationError
        If the motors cannot produce every motion at a state, or the task loses its rank.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> plant = plants.five_bar()
    >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
    >>> law(0.0, plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4), law.start(plant)).round(2)
    array([-31.49,  32.91])
    """

    reference: Reference
    coordinates: Sequence[str]

    def __init__(
        self,
        plant: Plant,
        coordinates: str | Sequence[str] | Task,
        reference: Reference,
        *,
        bandwidth: ArrayLike | None = None,
        damping_ratio: ArrayLike = 1.0,
        kp: ArrayLike | None = None,
        kd: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        period: float | None = None,
        posture: tuple | PostureTask | Acceleration | None = None,
        posture_damping: float | None = None,
        consistent: bool = False,
        damped: float | None = None,
        saturation: str | None = None,
        limits: ArrayLike | None = None,
        integral: ArrayLike | None = None,
        ki: ArrayLike | None = None,
    ) -> None:
        _check.plant(plant)
        self.plant = plant
        self.task = as_task(plant, coordinates)
        self.coordinates = tuple(self.task.names)
        require_reference(reference, self.coordinates)
        self.reference = reference
        self.period = None if period is None else _check.positive(period, "period")
        self.weight, self._root = weight, weight_root(weight, plant.nu)
        self.kp, self.kd, self.ki = self._gains(bandwidth, damping_ratio, kp, kd, integral, ki)
        self.consistent = _check.flag(consistent, "consistent")
        self.damped = None if damped is None else _check.positive(damped, "damped")
        if self.damped is not None and self.damped >= 1.0:
            raise InputError(f"damped is a part of the largest singular value, below 1, got {damped}")
        self.posture, self.posture_damping = self._posture(posture, posture_damping)
        self.saturation, self.limits = self._limits(saturation, limits)
        # a radian counts as the size of the machine where rank is decided; and what is rounding of a metre of task a
        # metre of motion, is none
        metres = metres_of(self.task.units, plant.size)
        self._metres = metres if np.ptp(metres) > 0.0 else None
        self._unit = 1.0 if self._metres is not None else float(metres[0])
        if not self.consistent:
            self._check_plant(self.task is not coordinates, posture is not None)

    # -- what is given --------------------------------------------------------------------------------

    def _gains(self, bandwidth, damping_ratio, kp, kd, integral, ki) -> tuple[Array, Array, Array | None]:
        """Gain matrices G_P, G_D and that of the integral, (k, k) each, from either way to give them; None for none."""
        k = len(self.coordinates)
        if (bandwidth is None) == (kp is None and kd is None):
            raise InputTypeError("give either bandwidth (with damping_ratio), or both kp and kd")
        if bandwidth is not None:
            if ki is not None:
                raise InputTypeError(
                    "ki goes with kp and kd; with bandwidth give integral, the rate of the integral action"
                )
            w, z = _check.each(bandwidth, k, "bandwidth"), _check.each(damping_ratio, k, "damping_ratio")
            if integral is None:
                return np.diag(w**2), np.diag(2.0 * z * w), None
            # (s^2 + 2 z w s + w^2) (s + r)
            r = np.array([_check.positive(x, "integral") for x in _check.each(integral, k, "integral")])
            return np.diag(w**2 + 2.0 * z * w * r), np.diag(2.0 * z * w + r), np.diag(w**2 * r)
        if kp is None or kd is None:
            raise InputTypeError("kp and kd go together; give both")
        if integral is not None:
            raise InputTypeError("integral goes with bandwidth; with kp and kd give ki")
        names = self.coordinates
        ki = None if ki is None else _check.gain(ki, k, "ki", names)
        return _check.gain(kp, k, "kp", names), _check.gain(kd, k, "kd", names), ki

    def _posture(
        self, posture: tuple | PostureTask | Acceleration | None, damping: float | None
    ) -> tuple[PostureTask | Acceleration | None, float]:
        """Posture as an object, or a callable (t, terms) -> acceleration (nv,), and the damping without one."""
        if posture is None:
            least = max(float(self.kd.diagonal().min()), 0.0)
            return None, least if damping is None else _check.positive(damping, "posture_damping", zero=True)
        if damping is not None:
            raise InputTypeError("posture_damping is for a law without posture; give one of them")
        if isinstance(posture, tuple):
            if len(posture) != 2:
                raise InputTypeError(
                    f"posture must be (reference, bandwidth), got {len(posture)} items; see also PostureTask"
                )
            return PostureTask(self.plant, *posture), 0.0
        if not isinstance(posture, PostureTask) and not callable(posture):
            raise InputTypeError(
                "posture must be (reference, bandwidth), a PostureTask, or a callable (t, terms) -> acceleration, "
                f"got {posture!r}"
            )
        return posture, 0.0

    def _limits(self, saturation: str | None, limits: ArrayLike | None) -> tuple[str | None, Array]:
        """Kind of saturation, and the largest efforts (nu,), checked."""
        plant = self.plant
        largest = _check.numbers(plant.effort if limits is None else limits, "limits")
        if largest.shape != (plant.nu,) or np.isnan(largest).any() or largest.min(initial=1.0) <= 0.0:
            raise InputError(
                f"limits must be {plant.nu} numbers > 0 (in the order {', '.join(plant.actuator_names)}), got {limits}"
            )
        if saturation is None:
            if limits is not None:
                raise InputTypeError("limits are for saturation='scale' or 'clip'; give one of these, too")
            return None, largest
        _check.one_of(saturation, ("scale", "clip"), "saturation")
        if np.isinf(largest).all():
            raise InputError(f"no motor of {plant.name!r} has a limit; give limits=[...], or build it with effort=")
        return saturation, largest

    def _check_plant(self, by_name: bool, posture: bool) -> None:
        """Refuse motors that do not reach all degrees of freedom, or a task of more, at a regular configuration."""
        terms = regular_terms(self.plant)
        if terms is None:  # each state is checked anyway
            return
        verdict = actuation_at(terms)
        if not verdict.complete:
            raise ActuationError(
                f"plant {self.plant.name!r} is {verdict.verdict}: its motors {self.plant.actuator_names} reach "
                f"{verdict.rank} of {verdict.dof} degrees of freedom, and projected inverse dynamics needs all of "
                "them. Add actuators."
            )
        still = self.task.still_axes() if isinstance(self.task, PoseTask) else ()
        if still:
            moving = tuple(axis for axis in self.task.axes if axis not in still)
            raise InputError(
                f"no joint of {self.plant.name!r} moves {self.task.body!r} in {', '.join(still)}; leave that out: "
                f"axes={moving!r}"
            )
        k, dof, name = len(self.coordinates), terms.dof, self.plant.name
        if k > dof:
            raise InputError(
                f"plant {name!r} has {dof} degrees of freedom, and the task has {k} values, {self.coordinates}; leave "
                "some out, or say consistent=True where the reference respects the loops"
            )
        if by_name and k < dof:
            raise InputError(
                f"plant {name!r} has {dof} degrees of freedom; give as many coordinates, got {self.coordinates}. Where "
                "the rest is to be free, say so with a task: Coordinates(plant, names)"
            )
        if posture and k == dof:
            raise InputError(
                f"the task {self.coordinates} leaves nothing free of {dof} degrees of freedom; leave posture out"
            )

    # -- the law ----------------------------------------------------------------------------------------

    def start(self, plant: Plant) -> Array:
        """Initial integrals of the error, as far as there are; refuses a plant with other coordinates or motors."""
        require_same_signals(self.plant, plant)
        return np.zeros(0 if self.ki is None else len(self.coordinates))

    def state_names(self, plant: Plant) -> Sequence[str]:
        """Names of the integrals."""
        return [] if self.ki is None else [f"{name}_integral" for name in self.coordinates]

    def error(self, t: float, terms: Terms) -> tuple[Array, Array]:
        """Tracking error e = theta_d - theta and its rate, shape (k,) each."""
        now = self._motion(t, terms)
        return now.e, now.rate

    def desired_acceleration(self, t: float, terms: Terms) -> Array:
        """Acceleration u_p (46) of all coordinates that the law wants, consistent with the loops, shape (nv,).

        Raises
        ------
        TypeError
            With integral action, whose state only the law itself has.
        """
        if self.ki is not None:
            raise InputTypeError(
                f"{self.name} has integral action, and a law around it does not keep its integrals; leave integral= "
                "out, or take saturation= and a chain"
            )
        now = self._motion(t, terms)
        return self._admissible(t, terms, now.J, self._target(now))

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        """Motor efforts; the report has ``tracking_error``, the norm of e, and with saturation ``scale``.

        Of a task with values in several units there is one norm for each, such as ``tracking_error_rad``.
        ``scale`` is the s of "scale"; with "clip" the smallest part of its effort that a motor gives.
        """
        now = self._motion(t, terms)
        target = self._target(now) if self.ki is None else self._target(now) + self.ki @ state
        u, scale = self._efforts(t, terms, now, target)

        def report() -> dict[str, float]:
            numbers = {name: np.linalg.norm(now.e[rows]) for name, (_, rows) in self._error_norms.items()}
            return numbers if self.saturation is None else numbers | {"scale": scale}

        return Evaluation(u, None if self.ki is None else self._integrated(now.e, state, scale), report=report)

    @property
    def _error_norms(self) -> dict[str, tuple[str, list[int]]]:
        """Norms of the error in the report by name, each with its unit and the values of the task that have it."""
        units = self.task.units
        groups = {unit: [k for k, u in enumerate(units) if u == unit] for unit in dict.fromkeys(units)}
        if len(groups) == 1:
            return {"tracking_error": (units[0], groups[units[0]])}
        return {f"tracking_error_{unit.replace(' ', '_') or 'other'}": (unit, rows) for unit, rows in groups.items()}

    def report_units(self) -> Mapping[str, str]:
        return {name: unit for name, (unit, _) in self._error_norms.items()} | {"scale": "1"}

    def _integrated(self, e: Array, z: Array, scale: Any) -> Array:
        """Rates or next values of the integrals z, which do not grow while a motor is at its limit."""
        rate = e
        if self.saturation is not None:
            rate = where_less(scale, 1.0, where_less(0.0, e * z, 0.0, e), e)
        return rate if self.period is None else z + self.period * rate

    @property
    def integrates(self) -> bool:  # type: ignore[override]
        """Whether errors are integrated."""
        return self.ki is not None

    def anti_windup(self, t: float, terms: Terms, state: Array, after: Array, cut: Cut) -> Array:
        """Rates or next values of the integrals, held where they would raise efforts that a later limit cuts off.

        The efforts cut off change the task's acceleration by J a, and an integral raises it by its gain.
        """
        if self.ki is None:
            return after
        J = self.task.jacobian(terms)
        of_task = Cut(*(J @ terms.response(terms.B @ u) for u in cut))
        return waiting(state, after, self.period is not None, of_task, self.ki)

    def _motion(self, t: float, terms: Terms) -> TaskMotion:
        return motion_of(self.task, at_time(self.reference, t), terms)

    def _target(self, now: TaskMotion) -> Array:
        """Desired part J u_p (k,) of the task's acceleration."""
        return now.free - now.bias + self.kd @ now.rate + self.kp @ now.e

    def _admissible(self, t: float, terms: Terms, J: Array, target: Array) -> Array:
        """Acceleration a with J a = target and A a = -b; the nearest to the posture's where there are several."""
        if self._metres is not None:
            J, target = self._metres[:, None] * J, self._metres * target
        k, dof = len(J), terms.dof
        if self.consistent:
            free = self._null_space_motion(t, terms)
            return terms.least_squares_acceleration(J, target, free, gauss=True, damped=self.damped)
        if k > dof:
            self._refuse_lost_motion(t, terms)
        if self.damped is not None:
            free = self._null_space_motion(t, terms)
            return terms.least_squares_acceleration(J, target, free, damped=self.damped, unit=self._unit)
        if k < dof:
            a, closeness = terms.nearest_acceleration(J, target, self._null_space_motion(t, terms))
        else:
            a, closeness = terms.only_acceleration(J, target, self._unit)
        self._require_rank(t, terms, J, closeness)
        return a

    def _null_space_motion(self, t: float, terms: Terms) -> NullSpaceMotion:
        """Motion that is wanted where the task leaves it free, from the posture or its damping."""
        posture = self.posture
        if posture is None:
            return NullSpaceMotion(-self.posture_damping * terms.v)
        if isinstance(posture, PostureTask):
            return NullSpaceMotion(-posture.rest * terms.v, *posture.demand(t, terms))
        return NullSpaceMotion(_check.vector(posture(t, terms), terms.v.size, "the acceleration of the posture"))

    def _require_rank(self, t: float, terms: Terms, J: Array, closeness: float) -> None:
        """Refuse a configuration at which the task has lost its rank, or does not fix the motion."""
        if closeness > INDEPENDENT:
            return
        k, dof = len(J), terms.dof
        where = f"(t = {t:.6g} s, q = {np.round(terms.q, 6).tolist()})"
        if k == dof:
            condition = np.linalg.cond(J @ terms.Z) if dof else np.inf
            named = set(self.coordinates) <= set(self.plant.velocity_names)
            others = listed(best_coordinates(self.plant, terms.Z)) if named else f"{dof} other coordinates"
            raise ActuationError(
                f"the coordinates {self.coordinates} do not determine the motion at this configuration: {dof} degrees "
                f"of freedom, condition {condition:.3g} {where}. Choose {others}, or another path, or damped=..."
            )
        raise ActuationError(
            f"the {k} values {self.coordinates} cannot all be moved at will at this configuration, with {dof} degrees "
            f"of freedom {where}. Choose others, or another path, or damped=..."
        )

    def _refuse_lost_motion(self, t: float, terms: Terms) -> None:
        """Refuse a state with fewer degrees of freedom than values of the task, such as after a contact has closed."""
        new = dict.fromkeys(row for row in terms.row_names if row not in self.plant.row_names)
        holds = f" since {', '.join(map(repr, new))} holds" if new else ""
        degrees = f"{terms.dof} degree{'s' * (terms.dof != 1)} of freedom"
        raise ActuationError(
            f"{self.plant.name!r} has {degrees} at t = {t:.6g} s{holds}, and the task has "
            f"{len(self.coordinates)} values, {self.coordinates}. With consistent=True the law goes on, and follows "
            "its reference as far as it can"
        )

    def __repr__(self) -> str:
        time = "" if self.period is None else f", {self.period:g} s a sample"
        return f"<{type(self).__name__} of {self.plant.name!r} for {', '.join(self.coordinates)}{time}>"

    def _efforts(self, t: float, terms: Terms, now: TaskMotion, target: Array) -> tuple[Array, float]:
        """Efforts (nu,) within the limits, and the part of them that the limits let through."""
        u = terms.smallest_effort(self._admissible(t, terms, now.J, target), self._root)
        if self.saturation is None:
            return u, 1.0
        beyond = (np.abs(u) - self.limits).max()

        def clipped() -> tuple[Array, float]:
            cut, size = self._cut(u), np.abs(u)
            parts = where_less(0.0, size, np.abs(cut) / where_less(0.0, size, size, 1.0), 1.0)
            return cut, parts.min()

        def scaled() -> tuple[Array, float]:
            hold = terms.smallest_effort(self._admissible(t, terms, now.J, -now.bias), self._root)
            s = largest_scale(hold, u - hold, self.limits)
            return self._cut(hold + s * (u - hold)), s

        return if_less(0.0, beyond, clipped if self.saturation == "clip" else scaled, lambda: (u, 1.0))

    def _cut(self, u: Array) -> Array:
        """Efforts (nu,) with each motor cut off at its limit."""
        return np.minimum(np.maximum(u, -self.limits), self.limits)
