"""Control of constraint forces (Aghili, section 7.3, eqs. 51-53)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import UNREACHED
from ..errors import ActuationError, InputError
from ..kernels import linear_algebra
from ..model.efforts import weight_root
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.symbols import Time, joined, where_less
from .actuation import metric_root
from .controller import Controller, Cut, Evaluation, regular_terms, require_same_signals, waiting
from .decoupling import cross_coupling, split_range, surplus_efforts
from .force_components import ForceComponents
from .references import at_time

__all__ = ["ConstraintForcePI"]

Array = NDArray[np.float64]


class ConstraintForcePI(Controller):
    """PI law for constraint forces, which it sets with the efforts that do not move the machine.

    Motor efforts u = u0 + N w with Z'B N = 0 move the machine as u0 does. They change the constraint force F = A' lam
    to F0 + B N w, where F0 = B u0 - h - M a is the constraint force by weight and motion (with a motor on every joint
    this is Aghili's h_normal + mu(...) of eq. 51). The law chooses w so that the chosen components of F become

        u_F = F_d + G_F e + G_I s,    e = F_d - F,    ds/dt = e.                                  (52)

    By itself the law leaves the motion alone: u0 = 0. `HybridMotionForce` joins it to a motion law.

    In continuous time F follows the efforts at once, and (52) is an algebraic loop. It is solved with the
    equations of motion: u_F = F_d + G_I s/(1 + G_F), while s integrates the measured error, so that
    (1 + G_F) de/dt + G_I e = 0 where the equations are right, and e goes to zero where they are wrong by a constant
    force. With `filter_time` the law sees the measured force through a filter, and both gains act on it.

    In sampled time the measured force is that of the instant before the sample, under the efforts of the sample before;
    so the error is taken against the F_d of that sample. With g = G_I T and the pole a = exp(-T/filter_time)
    of the filter (0 without one), the error obeys

        z^2 - (1 + a - (1 - a)(G_F + g)) z + a - (1 - a) G_F = 0,

    which is stable for G_F < (1 + a)/(1 - a) and g < 2 ((1 + a)/(1 - a) - G_F): without a filter, G_F < 1 and
    G_I T < 2 (1 - G_F). Gains that are not are refused.

    Parameters
    ----------
    plant : Plant
        Model that fixes the names; the law is computed from the `Terms` that it is called with.
    desired : array_like or callable
        F_d, shape (k,), or t -> (k,): N, or N m where the component is a moment.
    components : sequence of str, optional
        Components that are controlled, in this order:

        - ``"<row>"``: the multiplier lam of a row, with the sign of F = A' lam; ``"<loop>"``: of all its rows;
        - ``"<loop>_fx"``, ``_fy``, ``_fz``, ``_mx``, ``_my``, ``_mz``: force and moment (about the closure's point on
          body b) that the closure exerts on a body;
        - by default, all of F (nv,), named as the velocity coordinates.
    kp : float or array_like, shape (k,)
        G_F, no unit. Numbers only where all of F is controlled.
    ki : float or array_like, shape (k,)
        G_I, 1/s.
    frame : str
        Axes of forces and moments on a body: ``"loop"``, those of the closure on its body a; ``"ground"``; or any body.
    on : {"b", "a"}
        The body on which they act: body b of the closure (the child of a cut joint), or a, which feels the opposite.
    filter_time : float, optional
        Time constant of the filter of the measured error, s: 1/(2 pi f) for a corner at f Hz.
    period : float, optional
        Sample time, s; defaults to continuous time.
    weight : array_like, shape (nu,) or (nu, nu), optional
        Metric W of the motor efforts: where the forces leave a choice, u' W^-1 u is smallest. See `motor_effort`.
    force_weight : array_like, shape (k,), optional
        Where not all components can be reached together, the weighted squares of what is missing are smallest. Unless
        given, a newton counts as much as a newton metre over ``plant.size``.
    integral_limit : float or array_like, shape (k,), optional
        Largest |G_I s|, N or N m: the integrals stop there. Errors that no motor can change are never integrated.
    initial : array_like, shape (k,), optional
        Components of the force at the start, from where the error decays to zero; defaults to F_d. It needs ki > 0.
    compensate : bool
        False leaves out the constraint force by motion, mu(...) of (51), as if the plant were decoupled: for
        comparison. See `is_decoupled`.

    Raises
    ------
    ValueError
        Where sampled gains are unstable, with the spectral radius and the limit.
    ActuationError
        Where redundant rows share a component, so that the motion does not determine it; where no component can be
        changed by the motors.

    Notes
    -----
    ``measures_force`` is True: `simulate` hands the constraint force of the plant to the law, `terms.force`. Without it
    (the first sample; a call by hand) there is no feedback in sampled time; in continuous time the law takes the force
    of its model.
    States: s, the filtered error, and in sampled time the F_d of the sample before.

    Examples
    --------
    Two arms squeeze the object between them with 50 N, along the axis of the grasp:

    >>> from cmbcontrol import plants
    >>> from cmbcontrol.plants.two_arms import configuration
    >>> plant = plants.two_arms()
    >>> law = ConstraintForcePI(plant, [50.0], ["grasp_fx"], kp=0.5, ki=20.0, frame="object", on="a")
    >>> law.error_poles.round(3)
    array([[-13.333]])
    >>> terms = plant.terms(configuration(plant), [0.0] * plant.nv)
    >>> bool(np.abs(terms.Z.T @ terms.B @ law(0.0, terms, law.start(plant))).max() < 1e-12)  # nothing moves
    True
    """

    plant: Plant
    measures_force = True

    def __init__(
        self,
        plant: Plant,
        desired: ArrayLike | Callable[[float], ArrayLike],
        components: Sequence[str] | None = None,
        *,
        kp: ArrayLike = 0.0,
        ki: ArrayLike = 0.0,
        frame: str = "loop",
        on: str = "b",
        filter_time: float | None = None,
        period: float | None = None,
        weight: ArrayLike | None = None,
        force_weight: ArrayLike | None = None,
        integral_limit: ArrayLike | None = None,
        initial: ArrayLike | None = None,
        compensate: bool = True,
    ) -> None:
        compensate = _check.flag(compensate, "compensate")
        _check.plant(plant)
        self.plant = plant
        self.components = ForceComponents(plant, components, frame, on)
        self.names = self.components.names
        self.period = None if period is None else _check.positive(period, "period")
        self.filter_time = None if filter_time is None else _check.positive(filter_time, "filter_time")
        self.kp, self.ki = self._numbers(kp, "kp"), self._numbers(ki, "ki")
        if self.components.whole and (np.ptp(self.kp) > 0.0 or np.ptp(self.ki) > 0.0):
            raise InputError(
                "kp and ki must be one number each where all of F is controlled; name components otherwise"
            )
        self._integrating = bool(self.ki.any())
        self.compensate = bool(compensate)
        self.weight, self._root = weight, weight_root(weight, plant.nu)
        scale = 1.0 if force_weight is None else np.sqrt(self._numbers(force_weight, "force_weight", zero=False))
        self._newtons = scale * (self.components.newtons if force_weight is None else np.ones(len(self.names)))
        self.integral_limit = None if integral_limit is None else self._numbers(integral_limit, "integral_limit")
        self._bound = np.full(len(self.names), np.inf)  # of |s|
        if self.integral_limit is not None:
            np.divide(self.integral_limit, self.ki, out=self._bound, where=self.ki > 0.0)
        self._metric = metric_root(plant)
        self._pole = 0.0 if self.filter_time is None else math.exp(-(self.period or 0.0) / self.filter_time)
        self._require_stable()
        self.desired = desired
        self._initial = self._initial_error(initial)
        self._check_plant()

    # -- checks -----------------------------------------------------------------------------------

    def _numbers(self, given: ArrayLike, what: str, zero: bool = True) -> Array:
        """Numbers >= 0 (k,), one for each component; refuses others."""
        k = len(self.components)
        if _check.single(given):
            given = np.full(k, _check.number(given, what))
        values = _check.vector(given, k, what, self.names).copy()
        if values.min() < 0.0 or (values.min() == 0.0 and not zero):
            raise InputError(f"{what} must be {'>= 0' if zero else '> 0'}, got {values.tolist()}")
        return values

    @property
    def desired(self) -> ArrayLike | Callable[[float], ArrayLike]:
        """Desired force F_d (k,), or t -> (k,)."""
        return self._desired

    @desired.setter
    def desired(self, desired: ArrayLike | Callable[[float], ArrayLike]) -> None:
        self._desired = desired
        self._fixed = None if callable(desired) else self._checked(desired)
        self._desired_force(0.0)

    def _checked(self, value: ArrayLike) -> Array:
        return _check.vector(value, len(self.components), "the desired force", self.names)

    def _desired_force(self, t: float) -> Array:
        """Desired force F_d (k,) at a time."""
        if self._fixed is not None:
            return self._fixed
        value = at_time(self._desired, t)  # type: ignore[arg-type]
        return joined(value) if isinstance(t, Time) else self._checked(value)

    def _require_stable(self) -> None:
        """Refuse sampled gains whose error does not decay."""
        if self.period is None:
            return
        T, a = self.period, self._pole
        limit = (1.0 + a) / (1.0 - a)
        for name, kp, ki, poles in zip(self.names, self.kp, self.ki, self.error_poles, strict=True):
            radius = float(np.abs(poles).max())
            if radius < 1.0 - 1e-12:
                continue
            much = kp + 0.5 * ki * T
            slow = T / math.log((much + 1.0) / (much - 1.0)) if much > 1.0 else T
            filtered = "without a filter" if self.filter_time is None else f"with a filter of {self.filter_time:g} s"
            raise InputError(
                f"kp = {kp:g} and ki = {ki:g} 1/s on {name!r} are unstable at a period of {T:g} s: the measured force "
                f"is one sample old, and the spectral radius of the error is {radius:.4g}. {filtered.capitalize()}, "
                f"kp + ki period/2 must stay below {limit:.4g}; it is {much:.4g}. Lower the gains, or give filter_time "
                f"above {slow:.3g} s."
            )

    def _initial_error(self, initial: ArrayLike | None) -> Array:
        """Error F_d - F (k,) at the start; zero where no initial force is given."""
        if initial is None:
            return np.zeros(len(self.components))
        error = self._desired_force(0.0) - _check.vector(initial, len(self.components), "initial", self.names)
        if (error[self.ki == 0.0] != 0.0).any():
            raise InputError(
                "a force that starts off the desired one needs an integral that brings it there: give ki > 0"
            )
        return error

    def _check_plant(self) -> None:
        """Check at a regular configuration that the motion determines the components and motors change some of them."""
        terms = regular_terms(self.plant)
        if terms is None:  # each state is checked anyway
            return
        C = self.components.matrix(terms)
        N = surplus_efforts(terms, np.zeros(self.plant.nv), self._root)[1]
        if not self._reach(terms, C, N)[0].shape[1]:
            raise ActuationError(
                f"no motor of plant {self.plant.name!r} changes {', '.join(self.names)} without moving the machine: "
                f"{self.plant.nu} motors, {terms.dof} degrees of freedom. Add motors; see reachable_forces."
            )

    # -- states -----------------------------------------------------------------------------------

    @property
    def error_poles(self) -> Array:
        """Poles of the error of each component, (k, 1) or (k, 2): 1/s in continuous time, of z in sampled time."""
        kp, ki = self.kp, self.ki
        if self.period is not None:
            a = self._pole
            g = ki * self.period
            quadratic = [(1.0, -(1.0 + a - (1.0 - a) * (p + i)), a - (1.0 - a) * p) for p, i in zip(kp, g, strict=True)]
            if not ki.any():  # nothing is integrated
                return (a - (1.0 - a) * kp)[:, None]
        elif self.filter_time is None:
            return (-ki / (1.0 + kp))[:, None]
        else:
            quadratic = [(self.filter_time, 1.0 + p, i) for p, i in zip(kp, ki, strict=True)]
        return np.array([np.roots(c) if c[2] else [0.0, -c[1] / c[0]] for c in quadratic])

    @property
    def n_states(self) -> int:
        """Number of states."""
        kinds = 3 if self.period is not None else 1 if self.filter_time is None else 2
        return kinds * len(self.components)

    def state_names(self, plant: Plant) -> list[str]:
        """Names of the states: integrals of errors, filtered errors, forces desired a sample before, as far as used."""
        kinds = ("integral", "filtered_error", "desired_before")[: self.n_states // len(self.names)]
        return [f"{name}_{kind}" for kind in kinds for name in self.names]

    def start(self, plant: Plant) -> Array:
        """Initial states; refuses a plant with other coordinates or motors than the model."""
        require_same_signals(self.plant, plant)
        e = self._initial
        s = np.where(e != 0.0, -(1.0 + self.kp) * e / np.where(self.ki > 0.0, self.ki, 1.0), 0.0)
        if self.period is not None:
            return np.concatenate([s, e, self._desired_force(0.0)])
        return s if self.filter_time is None else np.concatenate([s, e])

    def _split(self, state: Array) -> tuple[Array, ...]:
        """States by kind, (k,) each, in the order of `state_names`."""
        return tuple(state.reshape(-1, len(self.components)))

    def _rate(self, t: float, terms: Terms, state: Array) -> Array:
        """Rates of the integrals s, and of the filtered errors, in continuous time."""
        s, *filtered = self._split(state)
        C = self.components.matrix(terms)
        error = (
            self._modelled_error(self._bounded(s), *filtered)
            if terms.force is None
            else self._desired_force(t) - C @ terms.force
        )
        error = self._reachable(terms, C, error)
        x = filtered[0] if filtered else error
        rates = [self._integrated(s, x)]
        if filtered:
            rates.append((error - x) / self.filter_time)
        return np.concatenate(rates)

    def _modelled_error(self, s: Array, x: Array | None = None) -> Array:
        """Error F_d - F (k,) where the equations of motion are right."""
        return -self.ki * s / (1.0 + self.kp) if x is None else -self.kp * x - self.ki * s

    def _integrated(self, s: Array, rate: Array) -> Array:
        """Rate of the integrals, ds/dt (k,): zero where one is at its limit and would pass it."""
        if self.integral_limit is None:
            return rate
        return where_less(np.abs(s), self._bound, rate, where_less(0.0, s * rate, 0.0, rate))

    def _bounded(self, s: Array) -> Array:
        """Integrals s (k,) within their limits, which an integrator's step may pass by a little."""
        return s if self.integral_limit is None else np.clip(s, -self._bound, self._bound)

    def _next(self, t: float, terms: Terms, state: Array) -> Array:
        """Next states, in sampled time."""
        return np.concatenate([*self._measured(state, terms, self.components.matrix(terms)), self._desired_force(t)])

    def _measured(self, state: Array, terms: Terms, C: Array) -> tuple[Array, Array]:
        """Integrals and filtered errors, (k,) each, with the force measured at the latest sample."""
        s, x, before = self._split(state)
        if terms.force is None:
            return s, x
        error = self._reachable(terms, C, before - C @ terms.force)
        x = self._pole * x + (1.0 - self._pole) * error
        s = self._bounded(s + self.period * self._integrated(s, x))
        return s, x

    # -- the law ----------------------------------------------------------------------------------

    def _together(self, terms: Terms, C: Array, root: Array | None, f: Array, force: Array) -> tuple[Array, bool]:
        """Smallest efforts with Z'(B u - f) = 0 and C B u = force, and whether motors can do so for any f and force.

        With all of F the rows are those of B itself (54). They are compared in newtons, along unit motions, and for
        components as if they were their largest joint force, with the scale of the motors (`motor_reach`).
        """
        if not self.components.whole:
            return terms.effort_with_force(C, f, force, root)
        B = terms.B if root is None else terms.B @ root
        X, scale = B / terms.unit_lengths[:, None], linear_algebra.motor_reach(terms.Z, B, terms.unit_lengths)[2]
        given = self._across(terms, force) + terms.Z @ (terms.Z.T @ f)  # of force, the part across the loops counts
        u, rank, _ = linear_algebra.smallest_solution(X, given / terms.unit_lengths, scale, UNREACHED)
        return (u if root is None else root @ u), rank == len(X)

    def _reach(self, terms: Terms, C: Array, N: Array) -> tuple[Array, Array, Array]:
        """Singular value decomposition U, s, V' of the map from w to changes of the components, in newtons."""
        C = self._newtons[:, None] * C
        pushes = np.abs(terms.B) @ np.abs(N) / terms.unit_lengths[:, None]
        return split_range(C @ terms.B @ N, float(np.linalg.norm(C * terms.unit_lengths) * np.linalg.norm(pushes)))

    def _reachable(self, terms: Terms, C: Array, change: Array) -> Array:
        """Part of a change of the components (k,) that the motors can make."""
        if self._together(terms, C, self._root, np.zeros(len(terms.h)), np.zeros(len(C)))[1]:
            return self._across(terms, change) if self.components.whole else change
        U = self._reach(terms, C, surplus_efforts(terms, np.zeros_like(terms.h), self._root)[1])[0]
        return self._projected(U, change)

    def _projected(self, U: Array, change: Array) -> Array:
        return U @ (U.T @ (self._newtons * change)) / self._newtons

    @property
    def integrates(self) -> bool:  # type: ignore[override]
        """Whether errors are integrated."""
        return self._integrating

    def anti_windup(self, t: float, terms: Terms, state: Array, after: Array, cut: Cut) -> Array:
        """Rates or next values of the states, where integrals that would raise efforts beyond later limits are held."""
        if not self.integrates:
            return after
        C, forces = self.components.matrix(terms), [terms.B @ u for u in cut]
        of_force = Cut(*(C @ (f - terms.M @ terms.response(f)) for f in forces))  # in the constraint force
        (s, *_), (s_after, *others) = self._split(state), self._split(after)
        return np.concatenate([waiting(s, s_after, self.period is not None, of_force), *others])

    def effort(self, t: float, terms: Terms, state: Array) -> Array:
        """Motor efforts alone, which in continuous time are needed before the force that they cause is known."""
        return self.efforts(t, terms, state, self.free_acceleration(terms))

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        """Efforts, states, and the report: force errors, forces out of reach, and the coupling; see `errors`."""
        vdot = self.free_acceleration(terms)
        u = self.efforts(t, terms, state, vdot)
        return Evaluation(u, self.moved(t, terms, state), partial(self.errors, t, terms, state, vdot))

    def moved(self, t: float, terms: Terms, state: Array) -> Array:
        """Rate of the states in continuous time, their next values in sampled time."""
        return self._rate(t, terms, state) if self.period is None else self._next(t, terms, state)

    def free_acceleration(self, terms: Terms) -> Array:
        """Acceleration (nv,) of the machine without motor efforts."""
        return terms.acceleration(np.zeros(len(terms.h)))

    def efforts(self, t: float, terms: Terms, state: Array, vdot: Array, root: Array | None = None) -> Array:
        """Motor efforts u (nu,) that give an admissible acceleration vdot and the desired force.

        Parameters
        ----------
        t, terms, state
            As in `Controller.evaluate`.
        vdot : array_like, shape (nv,)
            Acceleration, with A vdot + b = 0.
        root : array_like, shape (nu, nu), optional
            Root of the metric of the efforts, in place of that of this law.
        """
        root = self._root if root is None else root
        C = self.components.matrix(terms)
        force = self._command(t, terms, state, C)  # to be C F, where F = B u - f
        terms = self._with_friction(terms, vdot, root, C, force)
        return self._efforts_for(terms, vdot, root, C, force)

    def _with_friction(self, terms: Terms, vdot: Array, root: Array | None, C: Array, force: Array) -> Terms:
        """Equations of motion with friction in proportion to loads as a part of h, as under the efforts of the law."""
        if terms.friction is None:
            return terms
        still = terms.without_friction().with_bias(np.zeros_like(terms.h))
        given = self._efforts_for(still, np.zeros_like(vdot), root, C, force)
        effort = partial(self._efforts_for, root=root, C=C, force=np.zeros_like(force))
        return terms.with_friction_of_loads(vdot, effort, given)

    def _efforts_for(self, terms: Terms, vdot: Array, root: Array | None, C: Array, force: Array) -> Array:
        """Motor efforts that give an acceleration, and C F = force as well as they can."""
        f = terms.M @ vdot + terms.h
        loads = f if self.compensate else f - self._across(terms, terms.M @ vdot)
        u, complete = self._together(terms, C, root, f, force + C @ loads)
        if complete:
            return u
        # not all can be reached: what is nearest
        u, N = surplus_efforts(terms, f, root)
        U, size, Vt = self._reach(terms, C, N)
        missing = force - C @ (terms.B @ u - loads)
        return u + N @ (Vt.T @ ((U.T @ (self._newtons * missing)) / size))

    def _across(self, terms: Terms, force: Array) -> Array:
        """Part of a joint force (nv,) across the loops, (I - P) force."""
        return force - terms.Z @ (terms.Z.T @ force)

    def _command(self, t: float, terms: Terms, state: Array, C: Array) -> Array:
        """Commanded force u_F (k,) of the law (52)."""
        desired = self._desired_force(t)
        if self.period is not None:
            s, x = self._measured(state, terms, C)
            return desired + self.kp * x + self.ki * s
        s, *filtered = self._split(state)
        return desired - self._modelled_error(self._bounded(s), *filtered)

    def report_units(self) -> Mapping[str, str]:
        units = [*zip(self.names, self.components.units, strict=True)]
        return {f"{what}_{n}": u for what in ("force_error", "unreachable") for n, u in units} | {"coupling": "1"}

    def errors(self, t: float, terms: Terms, state: Array, vdot: Array, root: Array | None = None) -> dict[str, float]:
        """Force errors, forces out of reach and the coupling, by name, for the report of a run.

        Returns
        -------
        dict
            ``force_error_<name>``: F_d - F as measured, N or N m; NaN where nothing was, as at the first sample.
            ``unreachable_<name>``: the part of F_d that no motor can give at this state.
            ``coupling``: the size of mu P, see `is_decoupled`.
        """
        C, desired, root = self.components.matrix(terms), self._desired_force(t), self._root if root is None else root
        terms = self._with_friction(terms, vdot, root, C, self._command(t, terms, state, C))
        f = terms.M @ vdot + terms.h
        u, N = surplus_efforts(terms, f, root)
        missing = desired - C @ (terms.B @ u - f)
        unreachable = missing - self._projected(self._reach(terms, C, N)[0], missing)
        at_measurement = desired if self.period is None else self._split(state)[2]
        error = np.full(len(self.names), np.nan) if terms.force is None else at_measurement - C @ terms.force
        return {
            **{f"force_error_{n}": float(x) for n, x in zip(self.names, error, strict=True)},
            **{f"unreachable_{n}": float(x) for n, x in zip(self.names, unreachable, strict=True)},
            "coupling": cross_coupling(terms, self._metric).size,
        }
