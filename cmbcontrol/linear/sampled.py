"""Linear models in sampled time: exact zero-order hold with delays, and delays as rational functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError
from .balancing import balanced

if TYPE_CHECKING:
    import control

    from .model import LinearModel

__all__ = ["ZeroOrderHold", "delayed", "hold_until", "input_delays", "pade_delays", "sampled", "zero_order_hold"]

Array = NDArray[np.float64]

_SAME = 1e-9  # delays this close to whole periods, relative to one, are whole
_MOST_PAST = 1000  # samples that a delay may last


class ZeroOrderHold(NamedTuple):
    """Zero-order hold of inputs that are d periods and a bit late: x(k+1) = A x(k) + B u(k-d) + B_before u(k-d-1).

    Attributes
    ----------
    A : ndarray, shape (n, n)
        exp(A T).
    B : ndarray, shape (n, m)
        Effect of the sample u(k-d) once it has arrived.
    B_before : ndarray, shape (n, m)
        Effect of the sample before it until then; zero for delays of whole periods.
    whole : ndarray of int, shape (m,)
        d, whole periods.
    past : ndarray of int, shape (m,)
        Past samples of each input that the model needs: d, or d + 1 where the delay is not whole. At the instant
        k itself the sample u(k - past) still acts.
    """

    A: Array
    B: Array
    B_before: Array
    whole: NDArray[np.int64]
    past: NDArray[np.int64]


def zero_order_hold(A: ArrayLike, B: ArrayLike, period: float, delay: ArrayLike = 0.0) -> ZeroOrderHold:
    """Exact discretization of dx/dt = A x + B u(t - delay) with u held for a period.

    Parameters
    ----------
    A, B : array_like, shape (n, n) and (n, m)
        A may be singular.
    period : float
        s.
    delay : float or array_like, shape (m,)
        Delay of all inputs, or of each, s.

    Returns
    -------
    Hold

    Notes
    -----
    With delay = d T + f the new sample acts for T - f, the one before it for f, so that

        B = int_0^(T-f) exp(A s) ds B,    B_before = exp(A (T-f)) int_0^f exp(A s) ds B

    (Astrom and Wittenmark, Computer-Controlled Systems). Each pair of exponential and integral is one matrix
    exponential, exp([A, B; 0, 0] t) (Van Loan, 1978).

    Examples
    --------
    >>> hold = zero_order_hold([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], 1.0, delay=0.25)
    >>> hold.B.ravel(), hold.B_before.ravel()
    (array([0.28125, 0.75   ]), array([0.21875, 0.25   ]))
    """
    A = np.atleast_2d(_check.numbers(A, "A"))
    n = len(A)
    A, B = _check.matrix(A, (n, n), "A"), _check.numbers(B, "B")
    m = B.shape[1] if B.ndim == 2 else -1
    B = _check.matrix(B, (n, max(m, 0)), "B")
    period = _check.positive(period, "period")
    delays = _check.numbers(delay, "delay")
    delays = np.broadcast_to(delays, (m,)) if delays.ndim == 0 else delays
    delays = _check.vector(delays, m, "delay")
    if (delays < 0.0).any():
        raise InputError(f"delay must be >= 0, got {delays.min()}")
    if (delays > _MOST_PAST * period).any():
        raise InputError(
            f"a delay of {delays.max():.6g} s lasts {delays.max() / period:.0f} periods of {period:.6g} s, more than "
            f"{_MOST_PAST}; are both in seconds?"
        )
    whole = np.floor(delays / period + _SAME).astype(np.int64)
    part = delays - whole * period
    part[part <= _SAME * period] = 0.0
    return ZeroOrderHold(*hold_until(A, B, period, part), whole, whole + (part > 0.0))


def hold_until(A: Array, B: Array, t: float, part: Array) -> tuple[Array, Array, Array]:
    """Matrix exp(A t), and effects on x(t) of inputs that change at `part` (m,): of the new values, and of the old."""
    (n, m), held = B.shape, None
    now, before = np.zeros((n, m)), np.zeros((n, m))
    for f in np.unique(part):
        late = part == f
        rest, now[:, late] = _step(A, B[:, late], max(t - f, 0.0))
        if f > 0.0:
            before[:, late] = rest @ _step(A, B[:, late], min(f, t))[1]
        else:
            held = rest
    return _step(A, B[:, :0], t)[0] if held is None else held, now, before


def _step(A: Array, B: Array, t: float) -> tuple[Array, Array]:
    """Matrix exp(A t), and the integral of exp(A s) B over s from 0 to t."""
    from scipy.linalg import expm

    n, m = B.shape
    block = np.zeros((n + m, n + m))
    block[:n, :n], block[:n, n:] = t * A, t * B
    E = expm(block)
    return E[:n, :n], E[:n, n:]


def sampled(
    linear_model: LinearModel,
    period: float,
    delay: float | ArrayLike | Mapping[str, float] = 0.0,
    *,
    drift: bool = False,
    name: str | None = None,
) -> control.StateSpace:
    """Convert a model to sampled time, exactly: inputs held by a computer for a period, late by a delay.

    Parameters
    ----------
    linear_model : LinearModel
    period : float
        Sample time, s.
    delay : float, array_like, shape (inputs,), or mapping of input name to float
        Time from a sample until its effort acts on the machine, s: of all inputs, or of each (those that a mapping does
        not name have none).
    drift : bool
        Add an input ``"drift"`` that is to be held at 1, for models away from an equilibrium. Without it the
        signals are deviations from the motion through the operating point.
    name : str, optional
        Name of the system; defaults to that of the model.

    Returns
    -------
    control.StateSpace
        With ``dt`` the period. The states are those of the model, then the past inputs that the delay needs,
        ``"left_effort[k-1]"``, ``"left_effort[k-2]"`` and so on.

    Raises
    ------
    ValueError
        For a period that is not positive, negative delays, inputs that do not exist.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol import linearize, trim
    >>> plant = plants.five_bar()
    >>> lin = linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=("left", "right"))
    >>> sampled(lin, 0.01, {"left": 0.015}).state_labels[4:]
    ['left_effort[k-1]', 'left_effort[k-2]']
    """
    import control

    name = linear_model.name if name is None else _check.text(name, "name")
    A, B, C, D, inputs = _with_drift(linear_model, _check.flag(drift, "drift"))
    hold = zero_order_hold(A, B, period, _padded(linear_model, delay, len(inputs)))
    n, m, past = len(A), len(inputs), int(hold.past.sum())
    # rows: next x, next past inputs, outputs; columns: x, past inputs, inputs
    whole = np.zeros((n + past + len(C), n + past + m))
    whole[:n, :n], whole[n + past :, :n] = hold.A, C
    first = n + np.cumsum(hold.past) - hold.past

    def column(i: int, j: int) -> int:
        """Column of the sample u_i(k-j)."""
        return first[i] + j - 1 if j else n + past + i

    for i in range(m):
        d, p = hold.whole[i], hold.past[i]
        whole[:n, column(i, d)] += hold.B[:, i]
        if p > d:
            whole[:n, column(i, p)] += hold.B_before[:, i]
        whole[n + past :, column(i, p)] += D[:, i]
        for j in range(1, p + 1):
            whole[column(i, j), column(i, j - 1)] = 1.0
    names = [f"{u}[k-{j + 1}]" for u, p in zip(inputs, hold.past, strict=True) for j in range(p)]
    return control.ss(
        whole[: n + past, : n + past],
        whole[: n + past, n + past :],
        whole[n + past :, : n + past],
        whole[n + past :, n + past :],
        float(period),
        name=name,
        states=[*linear_model.states, *names],
        inputs=inputs,
        outputs=list(linear_model.outputs),
    )


def delayed(
    linear_model: LinearModel,
    delay: float | ArrayLike | Mapping[str, float],
    order: int = 4,
    *,
    drift: bool = False,
    name: str | None = None,
) -> control.StateSpace:
    """Convert a model to one with delayed inputs in continuous time, each delay a Pade approximation.

    Parameters
    ----------
    linear_model : LinearModel
    delay : float, array_like, shape (inputs,), or mapping of input name to float
        As in `sampled`, s.
    order : int
        Order of the approximation, 1 to 10: good up to about order / delay rad/s. Its gain is 1 at all frequencies.
    drift : bool
        As in `sampled`.
    name : str, optional
        Name of the system; defaults to that of the model.

    Returns
    -------
    control.StateSpace
        States of the model, then ``"left_delay1"`` and so on for each input that is delayed.

    See Also
    --------
    LinearModel.frequency_response : with the exact delay.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol import linearize, trim
    >>> plant = plants.pendulum()
    >>> lin = linearize(plant, trim(plant, plant.assemble(angle=-1.0)), coordinates=("angle",))
    >>> delayed(lin, 0.02, order=2).state_labels
    ['angle', 'angle_rate', 'motor_effort_delay1', 'motor_effort_delay2']
    """
    import control

    order = _check.count(order, "the order of a Pade approximation", 1, 10)
    name = linear_model.name if name is None else _check.text(name, "name")
    A, B, C, D, inputs = _with_drift(linear_model, _check.flag(drift, "drift"))
    delays = _padded(linear_model, delay, len(inputs))
    late = pade_delays(delays, order)
    labels = [f"{inputs[i]}_delay{j + 1}" for i in np.flatnonzero(delays > 0.0) for j in range(order)]
    return control.ss(
        np.block([[A, B @ late.C], [np.zeros((len(late.A), len(A))), late.A]]),
        np.vstack([B @ late.D, late.B]),
        np.hstack([C, D @ late.C]),
        D @ late.D,
        name=name,
        states=[*linear_model.states, *labels],
        inputs=inputs,
        outputs=list(linear_model.outputs),
    )


class Delays(NamedTuple):
    """State-space form of approximations of delays, with as many inputs as outputs."""

    A: Array
    B: Array
    C: Array
    D: Array


def pade_delays(delays: Array, order: int, sections: int = 1) -> Delays:
    """Pade approximations of delays (m,), s, each in some sections in series; none for signals without delay."""
    late = np.flatnonzero(delays > 0.0)
    a, b, c, d = _pade(order)
    size = order * sections
    A, B, C = np.zeros((size, size)), np.zeros(size), np.zeros(size)  # of one delay of 1 s
    for k in range(sections):
        mine = slice(order * k, order * (k + 1))
        A[mine, mine], B[mine] = a, b * d**k
        for j in range(k):
            A[mine, order * j : order * (j + 1)] = np.outer(b, c) * d ** (k - 1 - j)
        C[mine] = c * d ** (sections - 1 - k)
    n, m = size * len(late), len(delays)
    whole = Delays(np.zeros((n, n)), np.zeros((n, m)), np.zeros((m, n)), np.eye(m))
    for k, i in enumerate(late):
        mine = slice(size * k, size * (k + 1))
        rate = sections / delays[i]
        whole.A[mine, mine], whole.B[mine, i], whole.C[i, mine], whole.D[i, i] = rate * A, rate * B, C, d**sections
    return whole


def _pade(order: int) -> tuple[Array, Array, Array, float]:
    """State-space form of the approximation of exp(-s), balanced: that of exp(-s T) has its rates divided by T."""
    import control
    from scipy.signal import tf2ss

    a, b, c, d = tf2ss(*control.pade(1.0, order))
    a, b, c = balanced(a, b, c)
    return a, b[:, 0], c[0], float(d[0, 0])


def _with_drift(lin: LinearModel, drift: bool) -> tuple[Array, Array, Array, Array, list[str]]:
    """Matrices A, B, C, D, with an input for the drift if `drift`, and the names of the inputs."""
    if not drift:
        return lin.A, lin.B, lin.C, lin.D, list(lin.inputs)
    if "drift" in lin.inputs:
        raise InputError(f"an actuator of {lin.name!r} is called 'drift', as the input that drift=True adds; rename it")
    B = np.column_stack([lin.B, lin.drift])
    return lin.A, B, lin.C, np.column_stack([lin.D, np.zeros(len(lin.C))]), [*lin.inputs, "drift"]


def input_delays(lin: LinearModel, delay: float | ArrayLike | Mapping[str, float]) -> Array:
    """Delay of each input, s, from one number, from all, or by name."""
    one: Any = delay
    if isinstance(delay, Mapping):
        named = {key if key in lin.inputs else f"{key}_effort": value for key, value in delay.items()}  # or by motor
        for key, given in zip(named, delay, strict=True):
            if key not in lin.inputs:
                raise InputError(f"delay: {_check.unknown(given, lin.inputs, 'input')}")
        one = [named.get(key, 0.0) for key in lin.inputs]
    m = len(lin.inputs)
    delays = np.full(m, _check.number(one, "delay")) if _check.single(one) else one
    delays = _check.vector(delays, m, "delay", lin.inputs)
    if (delays < 0.0).any():
        raise InputError(f"delay must be >= 0, got {delays.min()}")
    return delays


def frequencies(omega: ArrayLike) -> Array:
    """Frequencies, rad/s, checked: at least one, none negative."""
    x = np.atleast_1d(_check.numbers(omega, "omega"))
    x = _check.vector(x, x.size, "omega")
    if x.size == 0 or x.min() < 0.0:
        raise InputError(f"omega must be frequencies >= 0, rad/s, got {x.tolist()[:8]}")
    return x


def _padded(lin: LinearModel, delay: float | ArrayLike | Mapping[str, float], count: int) -> Array:
    """Delays of all inputs, s, and zero for the drift."""
    given = input_delays(lin, delay)
    return np.concatenate([given, np.zeros(count - len(given))])
