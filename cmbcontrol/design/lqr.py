"""Optimal state feedback: LQR on a linear model, weights by Bryson's rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import ROUNDING
from ..controllers.state_feedback import StateFeedback, augmented, integral_rows, require_rest
from ..errors import ActuationError, InputError
from ..linear.controllability import slowest_decay, unmoved
from ..linear.model import LinearModel

__all__ = ["bryson", "lqr", "weight_matrix"]

Array = NDArray[np.float64]


def lqr(
    model: LinearModel,
    Q: ArrayLike | Mapping[str, float],
    R: ArrayLike | Mapping[str, float],
    N: ArrayLike | None = None,
    *,
    period: float | None = None,
    cost: str = "integral",
    integral: Sequence[str] = (),
    **options,
) -> StateFeedback:
    """State feedback that minimises the integral of x'Q x + u'R u + 2 x'N u in the linear model (LQR).

    Parameters
    ----------
    model : LinearModel
        Model about an equilibrium.
    Q : float, array_like (n,) or (n, n), or mapping of state to weight
        Weights of the states, and then of the integrals, ``<name>_integral``. States that a mapping does not name have
        no weight. See `bryson`.
    R : float, array_like (m,) or (m, m), or mapping of input (or motor) to weight
        Weights of the inputs, positive definite.
    N : array_like, shape (n, m), optional
    period : float, optional
        Sample time, s: a sampled law, designed on the exact zero-order hold of the model.
    cost : {"integral", "sum"}
        In sampled time: the same integral, also between the samples, so that weights mean the same at all periods; or
        the sum over samples (``control.dlqr``).
    integral : sequence of str, optional
        Integral action, as in `StateFeedback`.
    **options
        Further arguments of `StateFeedback`: ``reference``, ``feedforward``, ``limits``.

    Returns
    -------
    StateFeedback

    Raises
    ------
    ActuationError
        Where no gain makes the model stable, or none is found because an unstable mode does not change the cost.
    ValueError
        For weights that are not (semi)definite, and unknown names.

    Examples
    --------
    >>> from cmbcontrol import linearize, plants, trim
    >>> plant = plants.pendulum()
    >>> lin = linearize(plant, trim(plant, plant.assemble(angle=1.0)), coordinates=("angle",))
    >>> law = lqr(lin, Q={"angle": 100.0}, R=1.0)
    >>> fast = lqr(lin, Q={"angle": 100.0}, R=1.0, period=1e-5)
    >>> bool(abs(law.K - fast.K).max() < 1e-2)
    True
    """
    import control

    require_rest(model)
    integral = (integral,) if isinstance(integral, str) else tuple(integral)
    C = integral_rows(model, integral)
    names = (*model.states, *(f"{name}_integral" for name in integral))
    Q = weight_matrix(Q, names, "Q")
    R = weight_matrix(R, model.inputs, "R", definite=True)
    n, m = len(names), len(model.inputs)
    N = np.zeros((n, m)) if N is None else _check.matrix(N, (n, m), "N")
    _check.one_of(cost, ("integral", "sum"), "cost")
    if period is not None:
        period = _check.positive(period, "period")
        if cost == "integral":
            Q, R, N = _sampled_cost(model, Q, R, N, period)
    A, B = augmented(model, C, period)
    still = unmoved(A, B, period)
    if still is not None:
        rate = still if period is None else np.log(still or 1e-300) / period
        raise ActuationError(
            f"the inputs {', '.join(model.inputs)} of {model.name!r} do not move the mode at {rate:.6g} 1/s, which "
            "does not decay: no gain makes it stable. Add a motor (or leave out an integral that adds such a mode)."
        )
    solve = control.lqr if period is None else control.dlqr
    try:
        K = np.asarray(solve(A, B, Q, R, N, method="scipy")[0])  # the same with and without slycot
        stable = slowest_decay(np.linalg.eigvals(A - B @ K), period) > ROUNDING
    except (np.linalg.LinAlgError, ValueError, control.ControlArgument):
        stable = False
    if not stable:
        raise ActuationError(
            f"no stabilising gain of {model.name!r} was found: some mode that does not decay has no weight in Q. Give "
            "the coordinates (and every integral) a weight > 0."
        )
    return StateFeedback(model, K, period=period, integral=integral, **options)


def bryson(
    model: LinearModel,
    states: Mapping[str, float],
    inputs: float | Mapping[str, float],
    integral: Mapping[str, float] | None = None,
) -> tuple[Array, Array]:
    """Weights by Bryson's rule: one over the square of the largest deviation that is acceptable.

    Parameters
    ----------
    model : LinearModel
    states : mapping of state to float
        Largest deviations, rad, m, rad/s or m/s; states that are not named have no weight.
    inputs : float, or mapping of input (or motor) to float
        Largest efforts above those of the operating point, N or N m; all of them.
    integral : mapping of name to float, optional
        Largest integrals of the deviations, rad s or m s, for `lqr` with the same names in ``integral``, same order.

    Returns
    -------
    Q, R : ndarray

    Examples
    --------
    >>> from cmbcontrol import linearize, plants, trim
    >>> plant = plants.five_bar()
    >>> lin = linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=("left", "right"))
    >>> Q, R = bryson(lin, {"left": 0.05, "right": 0.05, "left_rate": 1.0}, inputs=20.0)
    >>> Q.diagonal().round(6), R.diagonal()
    (array([400., 400.,   1.,   0.]), array([0.0025, 0.0025]))
    """
    _check.instance(model, LinearModel, "model", "from linearize")
    states = _check.mapping(states, "states", "states to their largest deviations")
    integral = dict(integral or {})
    names = (*model.states, *(f"{name}_integral" for name in integral))
    given = {**states, **{f"{name}_integral": x for name, x in integral.items()}}
    if isinstance(inputs, Mapping):
        efforts = {_input_name(model.inputs, key, "inputs"): x for key, x in inputs.items()}
        missing = [name for name in model.inputs if name not in efforts]
        if missing:
            raise InputError(f"Bryson's rule needs a largest effort of every input; there is none of {missing[0]!r}")
    else:
        efforts = dict.fromkeys(model.inputs, _check.positive(inputs, "inputs"))
    for name in states:
        _check.one_of(name, model.states, "state", "states")
    Q = {name: _check.positive(x, f"states: the largest {name}") ** -2 for name, x in given.items()}
    R = {name: _check.positive(x, f"inputs: the largest {name}") ** -2 for name, x in efforts.items()}
    return weight_matrix(Q, names, "Q"), weight_matrix(R, model.inputs, "R", definite=True)


def weight_matrix(
    given: ArrayLike | Mapping[str, float], names: Sequence[str], what: str, definite: bool = False
) -> Array:
    """Symmetric weight matrix from a number, vector, mapping or matrix; refuses one that is not (semi)definite."""
    n = len(names)
    if isinstance(given, Mapping):
        values = np.zeros(n)
        for key, value in given.items():
            at = names.index(_input_name(names, key, what))
            values[at] = _check.number(value, f"the weight of {key!r} in {what}")
        given = values
    W = _check.numbers(given, what)
    W = np.diag(np.full(n, float(W))) if W.ndim == 0 else np.diag(W) if W.ndim == 1 and W.size == n else W
    W = _check.matrix(W, (n, n), f"{what} (in the order {', '.join(names)})")
    size = float(np.abs(W).max(initial=0.0))
    if np.abs(W - W.T).max(initial=0.0) > 1e-9 * size:
        raise InputError(f"{what} must be symmetric, got {W.tolist()}")
    W = 0.5 * (W + W.T)
    scale = np.sqrt(np.where(np.diag(W) > 0.0, np.diag(W), 1.0))  # so that units do not decide
    least = float(np.linalg.eigvalsh(W / np.outer(scale, scale)).min(initial=1.0))
    if least < -1e-9 or (definite and least <= 1e-12):
        zero = next((name for name, w in zip(names, np.diag(W), strict=True) if not w > 0.0), None)
        why = f"; {zero!r} has the weight {W[names.index(zero), names.index(zero)]:g}" if definite and zero else ""
        raise InputError(f"{what} must be positive {'definite' if definite else 'semidefinite'}{why}, got {W.tolist()}")
    return W


def _input_name(names: Sequence[str], given: str, argument: str = "") -> str:
    """Name of a state or an input, as given, or from the name of the motor."""
    return (
        f"{given}_effort"
        if given not in names and f"{given}_effort" in names
        else _check.one_of(given, names, "name", argument)
    )


def _sampled_cost(model: LinearModel, Q: Array, R: Array, N: Array, period: float) -> tuple[Array, Array, Array]:
    """Weights of the sum over samples that equals the integral under held efforts (Van Loan, 1978).

    Integrals of the law are computed at samples, so they are constant in between.
    """
    from scipy.linalg import expm

    n, m, k = len(Q), len(R), len(Q) - len(model.A)
    F, W = np.zeros((n + m, n + m)), np.block([[Q, N], [N.T, R]])
    F[: n - k, : n - k], F[: n - k, n:] = model.A, model.B
    size = n + m
    block = np.zeros((2 * size, 2 * size))
    block[:size, :size], block[:size, size:], block[size:, size:] = -F.T, W, F
    E = expm(block * period)
    W = E[size:, size:].T @ E[:size, size:]
    W = 0.5 * (W + W.T)
    return W[:n, :n], W[n:, n:], W[:n, n:]
