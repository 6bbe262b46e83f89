"""Kalman gains for the observer of `ObserverFeedback`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import ROUNDING
from ..controllers.observer import measured_rows
from ..controllers.state_feedback import require_rest
from ..errors import ActuationError, InputTypeError
from ..linear.controllability import slowest_decay, unmoved
from ..linear.model import LinearModel
from .lqr import weight_matrix

__all__ = ["kalman"]

Array = NDArray[np.float64]


def kalman(
    model: LinearModel,
    outputs: Sequence[str] | None = None,
    *,
    effort_noise: ArrayLike | Mapping[str, float] | None = None,
    state_noise: ArrayLike | Mapping[str, float] | None = None,
    measurement_noise: ArrayLike | Mapping[str, float],
    period: float | None = None,
) -> Array:
    """Kalman gain L for `ObserverFeedback`, from the intensities of noises (``control.lqe``, ``control.dlqe``).

    Parameters
    ----------
    model : LinearModel
        Model about an equilibrium.
    outputs : sequence of str, optional
        Measured signals, as in `ObserverFeedback`.
    effort_noise : float, array_like or mapping of input to float, optional
        Intensity of white noise on the efforts, (N m)^2 s or N^2 s: a number, by input, or a matrix.
    state_noise : float, array_like or mapping of state to float, optional
        Intensity of white noise in dx/dt, unit of the state squared per second; added.
    measurement_noise : float, array_like or mapping of output to float
        Intensity, unit of the output squared times s; in sampled time the variance of each sample.
    period : float, optional
        Sample time, s: the gain of the observer on the exact zero-order hold, with the noise of the process
        integrated over a period.

    Returns
    -------
    L : ndarray, shape (states, outputs)

    Raises
    ------
    ActuationError
        Where the measurements do not show a mode that does not decay.

    Examples
    --------
    >>> from cmbcontrol import linearize, plants, trim
    >>> plant = plants.pendulum()
    >>> lin = linearize(plant, trim(plant, plant.assemble(angle=1.0)), coordinates=("angle",))
    >>> kalman(lin, ("angle",), effort_noise=1.0, measurement_noise=1e-6).shape
    (2, 1)
    """
    import control

    require_rest(model)
    outputs = model.outputs if outputs is None else outputs
    outputs = (outputs,) if isinstance(outputs, str) else _check.sequence(outputs, "outputs", "names")
    if effort_noise is None and state_noise is None:
        raise InputTypeError("give effort_noise, state_noise, or both: without noise the best gain is none")
    C = measured_rows(model, outputs)[0]
    W = np.zeros_like(model.A)
    if effort_noise is not None:
        W += model.B @ weight_matrix(effort_noise, model.inputs, "effort_noise") @ model.B.T
    if state_noise is not None:
        W += weight_matrix(state_noise, model.states, "state_noise")
    V = weight_matrix(measurement_noise, outputs, "measurement_noise", definite=True)
    A, solve = model.A, control.lqe
    if period is not None:
        A, W = _held_noise(model.A, W, _check.positive(period, "period"))
        solve = control.dlqe
    unseen = unmoved(A.T, C.T, period)
    if unseen is not None:
        raise ActuationError(
            f"the measurements {', '.join(outputs)} of {model.name!r} do not show the mode at {unseen:.6g}"
            f"{' 1/s' if period is None else ''}, which does not decay: no observer gain exists. Measure more "
            "coordinates."
        )
    try:
        L = np.asarray(solve(A, np.eye(len(A)), C, W, V, method="scipy")[0])  # the same with and without slycot
        stable = slowest_decay(np.linalg.eigvals(A - L @ C), period) > ROUNDING
    except (np.linalg.LinAlgError, ValueError, control.ControlArgument):
        stable = False
    if not stable:
        raise ActuationError(
            f"no noise of {model.name!r} moves some mode that does not decay: no observer gain was found. Add "
            "state_noise."
        )
    return L


def _held_noise(A: Array, W: Array, period: float) -> tuple[Array, Array]:
    """Matrix exp(A T), and the covariance of the states after a period of white noise of intensity W (Van Loan)."""
    from scipy.linalg import expm

    n = len(A)
    E = expm(period * np.block([[-A, W], [np.zeros((n, n)), A.T]]))
    F = E[n:, n:].T
    G = F @ E[:n, n:]
    return F, 0.5 * (G + G.T)
