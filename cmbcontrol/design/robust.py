"""One state feedback for many linear models, by linear matrix inequalities."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..controllers.state_feedback import (
    StateFeedback,
    augmented,
    input_motors,
    integral_rows,
    require_rest,
    require_same_model,
)
from ..errors import DesignError, DesignWarning, InputError, InputTypeError
from ..linear.model import LinearModel
from ..linear.norms import h2_norm, hinf_norm
from .certificate import Case, Certificate
from .family import labelled_models
from .regions import PoleRegion, inequality

__all__ = ["Performance", "RobustFeedback", "robust_state_feedback"]

Array = NDArray[np.float64]

_STRICT = 1e-6  # what "< 0" means, in scaled units where X >= 1
_INSIDE = 1e-3  # the region of the design is that much inside of the one asked for
_SOLVERS = ("CLARABEL", "SCS")
_OPTIONS = {"CLARABEL": {}, "SCS": {"eps": 1e-7, "max_iters": 20_000}}


@dataclass(frozen=True)
class Performance:
    """Performance that H2 and H-infinity norms measure: from disturbances w to z = (W_x x, W_u u).

    Parameters
    ----------
    states : mapping of state to float
        Weights W_x: one over the deviation that counts as one unit. Integrals are called ``<name>_integral``.
    inputs : float, or mapping of input to float
        Weights W_u of the efforts.
    disturbance : float, or array_like, shape (states, w)
        Size of efforts at the motors for one unit of w, N or N m; or the matrix by which w enters dx/dt.

    Examples
    --------
    >>> Performance(states={"left": 20.0, "right": 20.0}, inputs=0.01).disturbance
    1.0
    """

    states: Mapping[str, float]
    inputs: float | Mapping[str, float] = 0.0
    disturbance: float | ArrayLike = 1.0

    def __post_init__(self) -> None:
        for key, weight in _check.mapping(self.states, "states", "states to weights").items():
            _check.positive(weight, f"the weight of {key!r} in states", zero=True)
        inputs = self.inputs if isinstance(self.inputs, Mapping) else {"all": self.inputs}
        for key, weight in inputs.items():
            _check.positive(weight, f"the weight of {key!r} in inputs", zero=True)
        size = _check.numbers(self.disturbance, "disturbance")
        if not np.isfinite(size).all() or (size.ndim == 0 and not size > 0.0):
            raise InputError(f"disturbance must be finite, and > 0 where it is one number, got {self.disturbance!r}")


@dataclass(frozen=True, eq=False)
class RobustFeedback:
    """Result of `robust_state_feedback`: a gain that serves all models, with its certificate.

    Attributes
    ----------
    K : ndarray, shape (inputs, states + k)
        Gain of u = u0 - K x; columns of integrals last.
    certificate : Certificate
        Eigenvalues (and norms) of every model with this gain, computed afterwards.
    lyapunov : ndarray, shape (n, n)
        Common P: x'P x falls in every model, so that the loop stays stable where the model changes with time among
        all these, however fast.
    common_decay : float
        Rate that P proves for all of them, 1/s: sqrt(x'P x) falls at least so fast.
    h2, hinf : float
        Bounds of the norms that hold for all models by one matrix each, nan where none was required.
    gain_bound : float
        Largest singular value of K, in scaled units.
    solver, status : str
    period : float or None
    integral : tuple of str
    """

    K: Array
    certificate: Certificate
    lyapunov: Array
    common_decay: float
    h2: float
    hinf: float
    gain_bound: float
    solver: str
    status: str
    period: float | None
    integral: tuple[str, ...]

    def law(self, model: LinearModel, **options: Any) -> StateFeedback:
        """Law with this gain about the operating point of a model; options as in `StateFeedback`."""
        return StateFeedback(model, self.K, period=self.period, integral=self.integral, **options)

    def __str__(self) -> str:
        lines = [f"state feedback for {len(self.certificate.cases)} models ({self.solver}: {self.status})"]
        lines += [f"  one Lyapunov function, decay {self.common_decay:.4g} 1/s under any change among the models"]
        for name, value in (("H2", self.h2), ("H-infinity", self.hinf)):
            if np.isfinite(value):
                lines.append(f"  {name} norm below {value:.4g}")
        return "\n".join([*lines, str(self.certificate)])


def robust_state_feedback(
    models: Mapping[str, LinearModel] | Sequence[LinearModel],
    region: PoleRegion | None = None,
    *,
    h2: float | str | None = None,
    hinf: float | str | None = None,
    performance: Performance | None = None,
    integral: Sequence[str] = (),
    period: float | None = None,
    solver: str | None = None,
    explain: bool = True,
) -> RobustFeedback:
    """State feedback with one gain for all models, with their poles in a region and norms below bounds.

    One X > 0 and Y = -K X serve all models (quadratic stability), so that each requirement is a linear matrix
    inequality (Chilali and Gahinet, 1996; Scherer, Gahinet and Chilali, 1997). Of all gains that do, the one with
    the smallest norm is taken, or the one with the smallest bound of a norm that is to be minimised.

    Parameters
    ----------
    models : mapping of label to LinearModel, or sequence
        Models about equilibria, with the same states and inputs: see `model_family`.
    region : PoleRegion, optional
        Region of the poles; stability alone unless given.
    h2, hinf : float or "min", optional
        Bound of the norm from disturbance to performance, for every model; or ``"min"`` to minimise one of both. A norm
        that is minimised needs efforts in the performance, or a radius of the region: a `DesignWarning` warns where
        both are missing.
    performance : Performance, optional
        Disturbances and weights, needed with a norm.
    integral : sequence of str, optional
        Integral action, as in `StateFeedback`.
    period : float, optional
        Sample time, s: design on the exact zero-order holds, for a sampled law. See `PoleRegion` on regions in z.
    solver : {"CLARABEL", "SCS"}, optional
        Solver of cvxpy. Clarabel unless given, and SCS where that fails.
    explain : bool
        Where there is no gain, find which constraint to loosen, and how far. This takes a few more solutions.

    Returns
    -------
    RobustFeedback

    Raises
    ------
    DesignError
        Where no gain is found. The message has for each constraint the best value that is possible with all others.
        One X for all models is a sufficient condition: a gain may exist where this design finds none.

    Notes
    -----
    With M = A X + B Y for each model. Region: L (x) X + U (x) M + U' (x) M' < 0 with L, U of each part. In continuous
    time, with z = (C X + D Y) X^-1 x,

        H2:  [M + M', B_w; ., -1] < 0,  [Z, C X + D Y; ., X] > 0,  trace Z < h2^2
        H-infinity:  [M + M', B_w, (C X + D Y)'; ., -hinf, 0; ., ., -hinf] < 0

    States and efforts are scaled so that accelerations per effort are about one, and time by the decay asked for, so
    that units do not decide. Strict inequalities hold by a margin; the certificate is computed from A - B K alone.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol.design import model_family
    >>> configurations = {"up": {"left": 2.1, "right": 1.0}, "low": {"left": 2.6, "right": 0.5}}
    >>> models = model_family(plants.five_bar(), configurations, coordinates=("left", "right"))
    >>> found = robust_state_feedback(models, PoleRegion(decay=2.0, damping=0.5, radius=30.0))
    >>> found.certificate.valid, found.common_decay >= 2.0
    (True, True)
    """
    explain = _check.flag(explain, "explain")
    models = labelled_models(models)
    first = next(iter(models.values()))
    for model in models.values():
        require_rest(model)
        require_same_model(first, model)
    input_motors(first)
    region = PoleRegion() if region is None else region
    if not isinstance(region, PoleRegion):
        raise InputTypeError(f"region must be a PoleRegion, got {region!r}")
    h2, hinf = _bound(h2, "h2"), _bound(hinf, "hinf")
    if h2 == hinf == "min":
        raise InputTypeError("minimise h2 or hinf, and give the other a bound")
    if (performance is None) != (h2 is None and hinf is None):
        raise InputTypeError(
            "h2 and hinf need a performance=Performance(...), which says from where to where; and it needs one"
        )
    period = None if period is None else _check.positive(period, "period")
    if solver is not None:
        _check.one_of(solver, _SOLVERS, "solver")
    integral = (integral,) if isinstance(integral, str) else tuple(integral)
    problem = _Problem(models, integral, performance, period, solver, region)
    if "min" in (h2, hinf) and period is None and region.radius is None and not problem.weighs_efforts:
        warnings.warn(
            f"{'h2' if h2 == 'min' else 'hinf'}='min' with efforts that cost nothing, in a region without radius: "
            "gains grow without bound, until the solver ends. Give the region a radius, or the performance a weight of "
            "each effort.",
            DesignWarning,
            stacklevel=2,
        )
    found = problem.solve(region, h2, hinf)
    if found.X is None:
        raise problem.explained(region, h2, hinf, found.status, explain)
    return problem.result(found, region, h2, hinf)


def _bound(given: float | str | None, what: str) -> float | str | None:
    """Bound above zero, "min" or None, checked."""
    if isinstance(given, str):
        return _check.one_of(given, ("min",), f"way to say {what} other than a number")
    return None if given is None else _check.positive(given, what)


class _Found(NamedTuple):
    """Solution of the inequalities in scaled units, with the solver's status; X is None where there is no solution."""

    X: Array | None
    Y: Array | None
    h2: float
    hinf: float
    solver: str
    status: str


class _Problem:
    """Design problem: all models, scaled, and the inequalities over them."""

    def __init__(
        self,
        models: dict[str, LinearModel],
        integral: tuple[str, ...],
        performance: Performance | None,
        period: float | None,
        solver: str | None,
        region: PoleRegion,
    ) -> None:
        self.models, self.integral, self.period = models, integral, period
        self.solvers = _SOLVERS if solver is None else (solver,)
        first = next(iter(models.values()))
        self.names = (*first.states, *(f"{name}_integral" for name in integral))
        self.inputs = first.inputs
        parts = [augmented(m, integral_rows(m, integral), period) for m in models.values()]
        self.A, self.B = [A for A, _ in parts], [B for _, B in parts]
        self.W, self.push = self._performance(performance)
        self.rate, self.state_scale, self.input_scale = self._scales(region)
        step = 1.0 if period is not None else self.rate
        T, U = self.state_scale, self.input_scale
        self.As = [A * T / T[:, None] / step for A in self.A]
        self.Bs = [B * U / T[:, None] / step for B in self.B]
        self._scale_norms()

    # -- scaling -----------------------------------------------------------------------------------------------

    def _scales(self, region: PoleRegion) -> tuple[float, Array, Array]:
        """Rate, and units of states and of inputs, in which accelerations per effort are about one."""
        lins = list(self.models.values())
        p = lins[0].dof
        rates = [np.abs(np.linalg.eigvals(m.A)).max() for m in lins]
        rate = max(2.0 * region.decay, float(np.median(rates)), 1e-3)
        if region.radius is not None:
            rate = min(rate, max(0.5 * region.radius, 1.01 * region.decay))
        size = np.mean([np.abs(m.B[p:]) for m in lins], axis=0)
        y, u = np.ones(p), np.ones(size.shape[1])
        for _ in range(50):  # equilibrate rows and columns in turn (Sinkhorn)
            y = _nonzero((size * u).max(axis=1, initial=0.0))
            u = 1.0 / _nonzero((size / y[:, None]).max(axis=0, initial=0.0))
        y = y / rate**2
        C = np.array(np.abs(integral_rows(lins[0], self.integral))).reshape(len(self.integral), 2 * p)
        states = np.concatenate([y, rate * y])
        return rate, np.concatenate([states, _nonzero(C @ states) / rate]), u

    def _performance(self, given: Performance | None) -> tuple[Array, list[Array]]:
        """Weights W (z, n + m) of states and inputs, and the matrices by which w enters each model."""
        n, m = len(self.names), len(self.inputs)
        if given is None:
            return np.zeros((0, n + m)), [np.zeros((n, 0)) for _ in self.A]
        if not isinstance(given, Performance):
            raise InputTypeError(f"performance must be a Performance, got {given!r}")
        values = np.zeros(n + m)
        for key, weight in given.states.items():
            values[self.names.index(_check.one_of(key, self.names, "state"))] = _check.number(
                weight, f"weight of {key!r}"
            )
        inputs = given.inputs
        if not isinstance(inputs, Mapping):
            inputs = dict.fromkeys(self.inputs, inputs)
        for key, weight in inputs.items():
            name = f"{key}_effort" if f"{key}_effort" in self.inputs else key
            values[n + self.inputs.index(_check.one_of(name, self.inputs, "input"))] = _check.number(
                weight, f"weight of {key!r}"
            )
        W = np.diag(values)[values != 0.0]
        if not len(W):
            raise InputError("all weights of the performance are zero; give some states or inputs a weight")
        if _check.single(given.disturbance):
            size = _check.positive(given.disturbance, "disturbance")
            return W, [size * B for B in self.B]
        w = np.asarray(given.disturbance, dtype=np.float64)
        k = len(next(iter(self.models.values())).states)
        w = _check.matrix(w, (k, w.shape[1] if w.ndim == 2 else 0), f"disturbance ({k} states x disturbances)")
        if self.period is not None:
            from ..linear.sampled import zero_order_hold

            held = [zero_order_hold(m.A, w, self.period).B for m in self.models.values()]
        else:
            held = [w] * len(self.A)
        return W, [np.vstack([x, np.zeros((n - k, x.shape[1]))]) for x in held]

    # -- the optimization -------------------------------------------------------------------------------------

    def solve(self, region: PoleRegion, h2: float | str | None, hinf: float | str | None) -> _Found:
        """Solution X and Y for a region and norms, by the first solver that has an answer."""
        import cvxpy as cp

        n, m = self.Bs[0].shape
        X, Y = cp.Variable((n, n), symmetric=True), cp.Variable((m, n))
        inner = region.tightened(_INSIDE)
        parts = inner.scaled(self.rate).inequalities() if self.period is None else inner.inequalities(self.period)
        smallest = cp.Variable()
        norms = h2 is not None or hinf is not None
        constraints = [_below(np.eye(n) * (_STRICT if norms else 1.0) - X)]
        h2_sq, gamma = cp.Variable(), cp.Variable()
        for A, B, push in zip(self.As, self.Bs, self.push_s, strict=True):
            M = A @ X + B @ Y
            constraints += [
                _below(inequality(part, X, M, cp.kron) + _STRICT * np.eye(len(part.L) * n)) for part in parts
            ]
            constraints += self._h2(X, Y, M, push, h2_sq) if h2 is not None else []
            constraints += self._hinf(X, Y, M, push, gamma) if hinf is not None else []
        units = self.units
        for name, bound, variable, power in (("h2", h2, h2_sq, 2), ("hinf", hinf, gamma, 1)):
            if isinstance(bound, float):
                constraints.append(variable <= (bound / units[name]) ** power * (1.0 - _STRICT))
        objective = h2_sq if h2 == "min" else gamma if hinf == "min" else smallest
        if objective is smallest:  # Y X^-1 Y' <= smallest: with X >= 1 the square of the gain
            constraints.append(_below(-cp.bmat([[smallest * np.eye(m), Y], [Y.T, X]])))
        task = cp.Problem(cp.Minimize(objective), constraints)
        solver, status = _solve(task, self.solvers)
        if status not in ("optimal", "optimal_inaccurate") or X.value is None:
            return _Found(None, None, np.nan, np.nan, solver, status)
        X_found = 0.5 * (X.value + X.value.T)
        if np.linalg.eigvalsh(X_found)[0] <= 0.0:
            return _Found(None, None, np.nan, np.nan, solver, "inaccurate")
        found_h2 = units["h2"] * float(np.sqrt(max(h2_sq.value, 0.0))) if h2 is not None else np.nan
        found_hinf = units["hinf"] * float(gamma.value) if hinf is not None else np.nan
        return _Found(X_found, Y.value, found_h2, found_hinf, solver, status)

    @property
    def weighs_efforts(self) -> bool:
        """Whether each combination of efforts is part of the performance."""
        return np.linalg.matrix_rank(self.W_s[:, len(self.names) :]) == self.W_s.shape[1] - len(self.names)

    def _scale_norms(self) -> None:
        """Scale disturbances and outputs to size one, and set the units of the H2 and H-infinity norms for them."""
        n, rate = len(self.names), 1.0 if self.period is not None else self.rate
        self.push_s = [w / self.state_scale[:, None] for w in self.push]
        self.W_s = np.hstack([self.W[:, :n] * self.state_scale, self.W[:, n:] * self.input_scale])
        size = [
            max((np.linalg.norm(x, 2) for x in parts if x.size), default=1.0) for parts in (self.push_s, [self.W_s])
        ]
        self.push_s = [w / (size[0] or 1.0) for w in self.push_s]
        self.W_s = self.W_s / size[1]
        unit = (size[0] or 1.0) * size[1] / rate
        self.units = {"h2": unit * np.sqrt(rate), "hinf": unit}

    def _output(self, X: Any, Y: Any) -> Any:
        """Output matrix C X + D Y of the performance, in scaled units."""
        n = len(self.names)
        return self.W_s[:, :n] @ X + self.W_s[:, n:] @ Y

    def _h2(self, X: Any, Y: Any, M: Any, push: Array, square: Any) -> list[Any]:
        import cvxpy as cp

        z, w = len(self.W), push.shape[1]
        Z = cp.Variable((z, z), symmetric=True)
        seen = self._output(X, Y)
        if self.period is None:
            reach = _below(cp.bmat([[M + M.T, push], [push.T, -np.eye(w)]]))
        else:
            none = np.zeros((len(push), w))
            reach = _below(-cp.bmat([[X, M, push], [M.T, X, none], [push.T, none.T, np.eye(w)]]))
        return [reach, _below(-cp.bmat([[Z, seen], [seen.T, X]])), cp.trace(Z) <= square]

    def _hinf(self, X: Any, Y: Any, M: Any, push: Array, gamma: Any) -> list[Any]:
        import cvxpy as cp

        n, z, w = len(push), len(self.W), push.shape[1]
        seen = self._output(X, Y)
        if self.period is None:
            rows = [
                [M + M.T, push, seen.T],
                [push.T, -gamma * np.eye(w), np.zeros((w, z))],
                [seen, np.zeros((z, w)), -gamma * np.eye(z)],
            ]
            return [_below(cp.bmat(rows))]
        rows = [
            [X, M, push, np.zeros((n, z))],
            [M.T, X, np.zeros((n, w)), seen.T],
            [push.T, np.zeros((w, n)), gamma * np.eye(w), np.zeros((w, z))],
            [np.zeros((z, n)), seen, np.zeros((z, w)), gamma * np.eye(z)],
        ]
        return [_below(-cp.bmat(rows))]

    # -- the result, and what to do without one ---------------------------------------------------------------

    def result(self, found: _Found, region: PoleRegion, h2: Any, hinf: Any) -> RobustFeedback:
        """Gain in the user's units, with its certificate; refuses one that violates the requirements."""
        scaled = -np.linalg.solve(found.X, found.Y.T).T  # K = -Y X^-1
        K = self.input_scale[:, None] * scaled / self.state_scale
        P = np.linalg.inv(found.X * np.outer(self.state_scale, self.state_scale))
        cases = tuple(
            self._case(label, i, K, region, h2 is not None or hinf is not None) for i, label in enumerate(self.models)
        )
        certificate = Certificate(region, cases)
        for bound, name in ((h2, "h2"), (hinf, "hinf")):
            worst = max(getattr(case, name) for case in cases) if isinstance(bound, float) else 0.0
            if isinstance(bound, float) and not worst <= bound * (1.0 + 1e-6):
                raise DesignError(f"{found.solver} ended ({found.status}) with {name} = {worst:.6g} above {bound:.6g}")
        if not certificate.valid:
            raise DesignError(
                f"{found.solver} ended ({found.status}) with a gain that puts poles outside of the region ({region}) "
                f"for {', '.join(certificate.outside)}; loosen the region a little, or try another solver."
            )
        return RobustFeedback(
            K=K,
            certificate=certificate,
            lyapunov=0.5 * (P + P.T),
            common_decay=self._common_decay(K, P),
            h2=found.h2,
            hinf=found.hinf,
            gain_bound=float(np.linalg.norm(scaled, 2)),
            solver=found.solver,
            status=found.status,
            period=self.period,
            integral=self.integral,
        )

    def _case(self, label: str, i: int, K: Array, region: PoleRegion, norms: bool) -> Case:
        """Case with the eigenvalues, and norms, of one model with the gain."""
        closed = self.A[i] - self.B[i] @ K
        poles = np.linalg.eigvals(closed).astype(complex)
        if self.period is not None:
            with np.errstate(divide="ignore"):
                poles = np.log(poles) / self.period
        poles = np.sort_complex(poles)
        point = list(self.models.values())[i].point
        case = Case(label, poles, region.margins(poles), region.contains(poles), point=point)
        if not norms:
            return case
        n = len(self.names)
        C = self.W[:, :n] - self.W[:, n:] @ K
        system = (closed, self.push[i], C, self.period)
        return case._replace(h2=h2_norm(*system), hinf=hinf_norm(*system))

    def _common_decay(self, K: Array, P: Array) -> float:
        """Largest a with A'P + P A <= -2 a P for all closed loops (A'P A <= exp(-2 a T) P in sampled time)."""
        R = np.linalg.cholesky(P)  # P = R R', |R'x| is the norm
        worst = np.inf
        for A, B in zip(self.A, self.B, strict=True):
            S = np.linalg.solve(R, (R.T @ (A - B @ K)).T).T  # R' A R^-T
            if self.period is None:
                worst = min(worst, -0.5 * float(np.linalg.eigvalsh(S + S.T)[-1]))
            else:
                worst = min(worst, -float(np.log(np.linalg.norm(S, 2))) / self.period)
        return worst

    def explained(self, region: PoleRegion, h2: Any, hinf: Any, status: str, explain: bool) -> DesignError:
        """Error with the best value of each constraint while all others stay as they were required."""
        asked = [f"{region}"]
        asked += [
            f"{name} {'made small' if x == 'min' else f'<= {x:g}'}" for name, x in (("h2", h2), ("hinf", hinf)) if x
        ]
        text = f"no common gain for {len(self.models)} models was found with {', '.join(asked)} ({status})."
        if not explain:
            return DesignError(text + " Loosen a constraint, or leave out models.")
        best: dict[str, float] = {}
        if self.solve(PoleRegion(), None, None).X is None:
            return DesignError(
                text + " Not even stability of all models has a gain with one Lyapunov matrix: leave out models, take "
                "smaller ranges of configurations and payloads, or design several gains.",
                best,
            )
        for name, value in region.asked.items():
            if value > 0.0:
                best[name] = self._loosest(region, name, value, h2, hinf)
        for name, bound, other in (("h2", h2, hinf), ("hinf", hinf, h2)):
            if isinstance(bound, float):
                pair = ("min", other if other != "min" else None)
                found = self.solve(region, *(pair if name == "h2" else pair[::-1]))
                best[name] = getattr(found, name) if found.X is not None else np.nan
        way = {"decay": "at most", "damping": "at most"}
        lines = [
            f"{name} {way.get(name, 'at least')} {value:.4g}" for name, value in best.items() if np.isfinite(value)
        ]
        if lines:
            text += f" With everything else as asked, a gain exists for {'; or '.join(lines)}."
        else:
            text += " No single constraint is to blame: loosen several, or leave out models."
        return DesignError(text, best)

    def _loosest(self, region: PoleRegion, name: str, value: float, h2: Any, hinf: Any) -> float:
        """Value of one part of the region, nearest to the required one, for which a gain exists; bisection, to 3 %."""
        if self.solve(region.without(name), h2, hinf).X is None:
            return np.nan
        smaller = name in ("decay", "damping")
        good, bad = (0.0 if smaller else np.inf), value
        while not np.isfinite(good):
            trial = 2.0 * bad
            if self.solve(replace(region, **{name: trial}), h2, hinf).X is not None:
                good = trial
            elif trial > 1e4 * value:
                return np.nan
            else:
                bad = trial
        while abs(good - bad) > 0.03 * max(abs(good), abs(bad)) and max(good, bad) > 1e-3 * value:
            middle = 0.5 * (good + bad)
            if self.solve(replace(region, **{name: middle}), h2, hinf).X is not None:
                good = middle
            else:
                bad = middle
        return good


def _below(matrix: Any) -> Any:
    """Constraint of cvxpy: a matrix, which is symmetric in exact arithmetic, is negative semidefinite."""
    return 0.5 * (matrix + matrix.T) << 0


def _solve(task: Any, solvers: Sequence[str]) -> tuple[str, str]:
    """Solve a problem of cvxpy; returns the first solver that has an answer, and its status."""
    import cvxpy as cp

    status = "no solver"
    for solver in solvers:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # "may be inaccurate": the certificate decides
                task.solve(solver=solver, **_OPTIONS[solver])
        except cp.error.SolverError as error:
            status = f"failed: {error}"
            continue
        status = task.status
        if status.startswith(("optimal", "infeasible")):
            break
    return solver, status


def _nonzero(x: Array) -> Array:
    """Array x, with ones in place of zeros."""
    return np.where(x > 0.0, x, 1.0)
