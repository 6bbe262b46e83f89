"""Full-order robust synthesis: H-infinity, H2 and loop shaping, by SLICOT, scaled first and verified after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..controllers.filters import is_system, made_system, plain_system
from ..controllers.observer import measured_rows
from ..controllers.output_feedback import OutputFeedback
from ..errors import ActuationError, InputError, InputTypeError
from ..linear.controllability import slowest_decay, unmoved
from ..linear.model import LinearModel
from ..linear.norms import h2_norm
from .full_order import append, balanced, closed, least_norm, loaded_slycot, peak, regular, ss, static

if TYPE_CHECKING:
    import control

__all__ = [
    "Synthesis",
    "finished",
    "generalized",
    "loop_shaping",
    "mixed_sensitivity",
    "optimal_feedback",
    "require_reachable",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Synthesis:
    """Controller of a full-order design, with the norm that it reaches.

    Attributes
    ----------
    controller : control.StateSpace
        From errors, reference less measurement, to efforts; of `optimal_feedback` and `mu_synthesis` from the
        measurements y of the generalized plant, u = +K y.
    gamma : float
        Norm of the loop from w to z, computed anew from the loop itself: H-infinity, H2, or an upper bound of mu over
        all frequencies.
    norm : str
        Which norm it is.
    loop : control.StateSpace
        The closed loop from w to z.
    remarks : tuple of str
        What was changed for the design to have an answer, and what was found beside it.
    """

    controller: control.StateSpace
    gamma: float
    norm: str
    loop: control.StateSpace
    remarks: tuple[str, ...]
    _P: control.StateSpace
    _core: control.StateSpace  # what was designed: the controller without weights that belong to it
    _around: tuple[control.StateSpace, control.StateSpace] | None = None  # weights behind it and before it
    _model: LinearModel | None = None
    _outputs: tuple[str, ...] = ()
    _scalings: tuple[control.StateSpace, control.StateSpace] | None = None  # D and D^-1 of a bound of mu

    def law(self, period: float | None = None, **options: Any) -> OutputFeedback:
        """Law that runs, of a design for a machine; sampled by Tustin's rule where a period (s) is given.

        Options are those of `OutputFeedback`: ``reference``, ``feedforward``.
        """
        if self._model is None:
            raise InputError(
                "this design knows no machine; OutputFeedback(model, K, outputs) makes a law of any controller K that "
                "acts on errors (-K, where K acts on measurements)"
            )
        K = self.controller
        if period is not None:
            K = K.sample(_check.positive(period, "period"), method="tustin")
        return OutputFeedback(self._model, K, self._outputs, **options)

    def reduced(self, order: int, method: str = "truncation") -> Synthesis:
        """Design with a controller of lower order, by balanced truncation, or residualization (right at rest).

        Weights of `loop_shaping` stay as they are, and so do states that do not decay. The norm is that of the loop
        with the reduced controller. A remark has the bound of the error, twice the sum of the Hankel singular values
        that are left out (Glover, 1984).
        """
        slycot, K = loaded_slycot(), self._core
        n = K.nstates
        _check.one_of(method, ("truncation", "residualization"), "method")
        _check.count(order, "order", least=0, most=n)
        parts = (K.ninputs, K.noutputs, K.A, K.B, K.C)
        if method == "truncation":
            nr, A, B, C, ns, values = slycot.ab09md("C", "B", "S", n, *parts, nr=order)
            D = K.D
        else:
            nr, A, B, C, D, ns, values = slycot.ab09nd("C", "B", "S", n, *parts, K.D, nr=order)
        if nr > order:
            raise InputError(
                f"the controller has {n - ns} states that do not decay, and {ns} others; order {order} leaves out more "
                f"than can be. Ask for {nr} at least"
            )
        bound = 2.0 * float(np.sum(values[nr - (n - ns) : ns]))
        told = f"reduced from order {n} to {nr} by {method}: the controller changes by at most {bound:.4g} (H-infinity)"
        return finished(self, ss(A[:nr, :nr], B[:nr], C[:, :nr], D), (*self.remarks, told))

    def __str__(self) -> str:
        lines = [f"{self.norm} {self.gamma:.6g}, controller of order {self.controller.nstates}"]
        return "\n".join(lines + [f"  {x}" for x in self.remarks])


# -- designs -------------------------------------------------------------------------------------------------------


def mixed_sensitivity(
    plant: LinearModel | control.StateSpace | control.TransferFunction,
    error: Any,
    effort: Any = None,
    output: Any = None,
    *,
    outputs: Sequence[str] | None = None,
    tolerance: float = 1e-2,
) -> Synthesis:
    """Controller with the least H-infinity norm of (W1 S, W2 K S, W3 T), weighted sensitivities of a loop.

    S = (1 + G K)^-1 is the way from the reference to the error, K S to the efforts, and T = G K S to the output.

    Parameters
    ----------
    plant : LinearModel, control.StateSpace or control.TransferFunction
        Plant G, in continuous time.
    error, effort, output : number, system, sequence or mapping of these, optional
        Weights W1, W2 and W3: one for all signals, one for each, by name (those of `outputs`, and inputs of the model),
        or a system of all. Systems are those of `Filter`; they are proper and stable. An integral in W1 is
        (s/M + w)/(s + w/1000), say, with a slow pole in place of 1/s.
    outputs : sequence of str, optional
        Measured joints of a machine, as in `OutputFeedback`; defaults to the outputs of the model.
    tolerance : float
        Relative, to which the least norm is found.

    Raises
    ------
    ActuationError
        Where efforts do not move, or measurements do not show, a mode that does not decay.
    ValueError
        For weights that are improper, unstable, or of other sizes.

    Notes
    -----
    By Glover and Doyle (1988) in SLICOT (SB10AD), with the extra ``robust``. Before, units are balanced, poles on the
    imaginary axis are moved off it, and missing weights of efforts are added, small; remarks tell it.
    After, the norm is computed anew from the loop without these changes.

    Examples
    --------
    Skogestad and Postlethwaite (2005), example 2.17:

    >>> import control
    >>> s = control.tf("s")
    >>> G = 200 / ((10 * s + 1) * (0.05 * s + 1) ** 2)
    >>> found = mixed_sensitivity(G, error=(s / 1.5 + 10) / (s + 1e-3), effort=1.0)
    >>> round(found.gamma, 2)
    1.37
    """
    G, names, inputs, model = _plant(plant, outputs)
    if error is None:
        raise InputError("the weight of error must be a number or a system, got None")
    W1 = _weight(error, names, "error")
    W2, W3 = _weight(effort, inputs, "effort"), _weight(output, names, "output")
    k, m = G.noutputs, G.ninputs
    I, U = np.eye(k), np.zeros((m, k))
    # signals (error, effort, output, error) from (reference, effort), before the weights
    B = np.hstack([np.zeros((G.nstates, k)), G.B])
    C = np.vstack([-G.C, np.zeros((m, G.nstates)), G.C, -G.C])
    D = np.block([[I, -G.D], [U, np.eye(m)], [np.zeros((k, k)), G.D], [I, -G.D]])
    P = append(W1, W2, W3, static(I)) * ss(G.A, B, C, D)
    require_reachable(G)
    _check.positive(tolerance, "tolerance")
    K, _, remarks = least_norm(regular(P, k, m), tolerance)
    return finished(Synthesis(K, np.inf, "H-infinity norm", P, remarks, P, K, None, model, names), K, remarks)


def loop_shaping(
    plant: LinearModel | control.StateSpace | control.TransferFunction,
    effort: Any = 1.0,
    output: Any = 1.0,
    *,
    outputs: Sequence[str] | None = None,
    factor: float = 1.1,
) -> Synthesis:
    """Controller for a shaped loop W2 G W1, robust against errors of its normalised coprime factors.

    The weights give the loop the gain that is wanted: high where errors are to be small, low where the plant is not
    known. The controller W1 Ks W2 then keeps stability for the largest errors, 1/gamma, of the factors (McFarlane and
    Glover, 1992). A gamma below about 4 says that the shape and robustness go together.

    Parameters
    ----------
    plant : LinearModel, control.StateSpace or control.TransferFunction
        Plant G, in continuous time.
    effort, output : number, system, sequence or mapping of these
        Weights W1 and W2, as those of `mixed_sensitivity`. They may integrate: (s + 2)/s.
    outputs : sequence of str, optional
        As in `mixed_sensitivity`.
    factor : float
        gamma over its least value, above 1: at the least one the controller has infinitely fast poles.

    Raises
    ------
    ActuationError
        Where efforts do not move, or measurements do not show, a mode that does not decay.
    ValueError
        For weights that are improper or of other sizes.

    Notes
    -----
    gamma is that of the four sensitivities of the shaped loop; its least value is sqrt(1 + rho(X Z)), with X and Z from
    two Riccati equations, exactly. A remark has it.

    Examples
    --------
    >>> import control
    >>> s = control.tf("s")
    >>> G = 200 / ((10 * s + 1) * (0.05 * s + 1) ** 2)
    >>> print(loop_shaping(G, effort=(s + 2) / s))
    H-infinity norm 2.54774, controller of order 5
      least gamma 2.338767, largest coprime factor uncertainty 0.427576
    """
    from scipy.linalg import solve_continuous_are

    _check.number(factor, "factor")
    if not factor > 1.0:
        raise InputError(f"factor must be above 1, got {factor:g}; at 1 the controller has infinitely fast poles")
    G, names, inputs, model = _plant(plant, outputs)
    W1, W2 = _weight(effort, inputs, "effort", stable=False), _weight(output, names, "output", stable=False)
    shaped = balanced(W2 * G * W1)
    A, B, C, D = shaped.A, shaped.B, shaped.C, shaped.D
    k, m = D.shape
    require_reachable(shaped)
    S, R = np.eye(m) + D.T @ D, np.eye(k) + D @ D.T
    Z = solve_continuous_are(A.T, C.T, B @ B.T, R, s=B @ D.T)
    X = solve_continuous_are(A, B, C.T @ C, S, s=C.T @ D)
    least = float(np.sqrt(1.0 + max(np.linalg.eigvals(X @ Z).real.max(initial=0.0), 0.0)))
    gamma = factor * least
    F = -np.linalg.solve(S, D.T @ C + B.T @ X)
    L = (1.0 - gamma**2) * np.eye(len(A)) + X @ Z
    H = gamma**2 * np.linalg.solve(L.T, Z @ C.T)
    # of errors in place of measurements: B and D change their sign
    Ks = ss(A + B @ F + H @ (C + D @ F), -H, B.T @ X, D.T)
    none = np.zeros((len(A), k))
    P = ss(
        A,
        np.hstack([none, B, B]),
        np.vstack([C, np.zeros((m, len(A))), -C]),
        np.block([[np.eye(k), D, D], [np.zeros((m, k + m)), np.eye(m)], [-np.eye(k), -D, -D]]),
    )
    told = (f"least gamma {least:.7g}, largest coprime factor uncertainty {1.0 / least:.6g}",)
    return finished(Synthesis(Ks, np.inf, "H-infinity norm", P, told, P, Ks, (W1, W2), model, names), Ks, told)


def optimal_feedback(
    P: control.StateSpace, measurements: int, controls: int, *, norm: str = "hinf", tolerance: float = 1e-2
) -> Synthesis:
    """Controller u = +K y of a generalized plant with the least norm from w to z.

    Parameters
    ----------
    P : control.StateSpace
        From (w, u) to (z, y), in continuous time.
    measurements, controls : int
        Numbers of the measurements y, the last outputs, and of the controls u, the last inputs.
    norm : {"hinf", "h2"}
        Largest gain, or the RMS of z for white noise w (LQG).
    tolerance : float
        Relative, to which the least H-infinity norm is found.

    Raises
    ------
    ActuationError
        Where u does not move, or y does not show, a mode that does not decay.
    ValueError
        For sizes that do not fit, and an H2 norm that is infinite since w acts on z at once.

    Examples
    --------
    The integrator with noise of input and measurement, LQG:

    >>> import control
    >>> P = control.ss([[0]], [[1, 0, 1]], [[1], [0], [1]], [[0, 0, 0], [0, 0, 1], [0, 1, 0]])
    >>> round(optimal_feedback(P, 1, 1, norm="h2").gamma ** 2, 6)
    2.0
    """
    P = generalized(P, measurements, controls)
    _check.one_of(norm, ("hinf", "h2"), "norm")
    require_reachable(P, measurements, controls)
    _check.positive(tolerance, "tolerance")
    if norm == "h2" and P.D[: P.noutputs - measurements, : P.ninputs - controls].any():
        raise InputError("D11 is not zero: w acts on z at once, and no controller gives a finite H2 norm. Leave it out")
    plant = regular(P, measurements, controls)
    if norm == "hinf":
        K, _, remarks = least_norm(plant, tolerance)
        return finished(Synthesis(K, np.inf, "H-infinity norm", P, remarks, P, K), K, remarks)
    x = plant.system
    found = loaded_slycot().sb10hd(P.nstates, x.ninputs, x.noutputs, controls, measurements, x.A, x.B, x.C, x.D)
    K, remarks = plant.controller(found[:4]), plant.remarks
    return finished(Synthesis(K, np.inf, "H2 norm", P, remarks, P, K), K, remarks)


def require_reachable(P: control.StateSpace, k: int | None = None, m: int | None = None) -> None:
    """Refuse a mode that does not decay and that u does not move, or y does not show."""
    B, C = P.B[:, -m:] if m else P.B, P.C[-k:] if k else P.C
    for A, X, does in ((P.A, B, "the efforts do not move"), (P.A.T, C.T, "the measurements do not show")):
        mode = unmoved(A, X)
        if mode is not None:
            values, vectors = np.linalg.eig(A.T)  # whose entries say in which states it is seen
            shape = np.abs(vectors[:, np.abs(values - mode).argmin()])
            raise ActuationError(
                f"{does} the mode at {mode:.6g} 1/s, which does not decay (most of it in state "
                f"{P.state_labels[int(shape.argmax())]!r}): no controller makes it stable. Add motors or measurements, "
                "or leave out a weight that has such a pole"
            )


def finished(design: Synthesis, K: control.StateSpace, remarks: tuple[str, ...]) -> Synthesis:
    """Design with a controller, its loop, and the norm of this loop; refuses one that is not stable."""
    loop = closed(design._P, K)
    if slowest_decay(np.linalg.eigvals(loop.A), None) <= 0.0:
        worst = float(np.linalg.eigvals(loop.A).real.max())
        raise ActuationError(
            f"the loop with the controller of order {K.nstates} has a pole with the real part {worst:.4g}: it is not "
            "stable. Ask for a higher order, or a larger tolerance"
        )
    if design.norm == "H2 norm":
        gamma = h2_norm(loop.A, loop.B, loop.C) if np.abs(loop.D).max(initial=0.0) == 0.0 else np.inf
    else:
        scaled = loop if design._scalings is None else design._scalings[0] * loop * design._scalings[1]
        gamma = peak(scaled)
    whole = K if design._around is None else design._around[0] * K * design._around[1]
    return replace(design, controller=whole, gamma=gamma, loop=loop, remarks=remarks, _core=K)


# -- plants and weights --------------------------------------------------------------------------------------------


def _plant(given: Any, outputs: Sequence[str] | None) -> tuple[Any, tuple[str, ...], tuple[str, ...], Any]:
    """Plant, names of its outputs and inputs, and the linear model of a machine, or None."""
    if isinstance(given, LinearModel):
        names = given.outputs if outputs is None else (outputs,) if isinstance(outputs, str) else tuple(outputs)
        C = measured_rows(given, names)[0]
        D = np.zeros((len(names), len(given.inputs)))
        return ss(given.A, given.B, C, D, given.states), names, given.inputs, given
    if outputs is not None:
        raise InputError("outputs name joints of a machine; give its LinearModel, or a system with the outputs wanted")
    G = _system(given, "the plant")
    return G, tuple(G.output_labels), tuple(G.input_labels), None


def _system(given: Any, what: str) -> control.StateSpace:
    """State-space system in continuous time, of one of python-control or scipy, or of plain data."""
    x = plain_system(given, what)
    if not is_system(x):
        raise InputTypeError(f"{what} must be one system, got one by name")
    made = made_system(x, what)
    if made.dt:
        raise InputError(f"{what} is in sampled time ({made.dt:g} s); design in continuous time, and sample the law")
    return ss(*made[:4])


def _weight(given: Any, names: Sequence[str], what: str, stable: bool = True) -> control.StateSpace:
    """Weight of signals: square, or, without one, with no outputs."""
    what, n = f"the weight of {what}", len(names)
    if given is None:
        return static(np.zeros((0, n)))
    if isinstance(given, Mapping) and not is_system(given):
        for name in given:
            _check.one_of(name, names, "signal", what)
        given = [given.get(name, 0.0) for name in names]
    if isinstance(given, Sequence) and not isinstance(given, (str, bytes)):
        if len(given) != n:
            raise InputError(f"{what} has {len(given)} systems for {n} signals ({', '.join(names)})")
        parts = [_number_or_system(x, what) for x in given]
    else:
        one = _number_or_system(given, what)
        parts = [one] * n if one.D.shape == (1, 1) else [one]
    W = append(*parts)
    if W.ninputs != n or (not stable and W.noutputs != n):
        raise InputError(f"{what} has {W.ninputs} inputs and {W.noutputs} outputs for {n} signals ({', '.join(names)})")
    poles = np.linalg.eigvals(W.A)
    if stable and (poles.real >= 0.0).any():
        worst = complex(poles[poles.real.argmax()])
        raise InputError(
            f"{what} has the pole {worst:.4g} 1/s: no controller makes it stable, since it is behind the loop. Move it "
            "to the left: 1/(s + 1e-3) in place of 1/s, say"
        )
    return W


def _number_or_system(given: Any, what: str) -> control.StateSpace:
    return static(np.full((1, 1), _check.number(given, what))) if np.isscalar(given) else _system(given, what)


def generalized(P: Any, k: int, m: int) -> control.StateSpace:
    """Generalized plant, with numbers of its measurements and controls that fit."""
    P = _system(P, "the generalized plant")
    _check.count(k, "measurements"), _check.count(m, "controls")
    if k >= P.noutputs or m >= P.ninputs:
        raise InputError(
            f"the generalized plant has {P.noutputs} outputs and {P.ninputs} inputs; {k} measurements and {m} controls "
            "leave no z or no w"
        )
    return P
