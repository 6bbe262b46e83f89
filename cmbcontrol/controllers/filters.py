"""Linear filters of the efforts: low pass, notch, lead and lag, and any transfer function or state-space system.

One text serves all: each kind says which system it is, and the base class finds its place in a chain, discretises it
there, and keeps it from winding up.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._frozen import Held, frozen, held, set_fields
from .._tolerance import ROUNDING
from ..errors import InputError, InputTypeError
from ..linear.sampled import zero_order_hold
from ..model.plant import Plant
from ..model.terms import Terms
from .chain import EffortBlock, Setting, of_motors, require_values, snake_case
from .controller import Cut, growth_of, waiting
from .lagging_effort import bound_initial

__all__ = ["Filter", "LeadLag", "LowPass", "Notch"]

Array = NDArray[np.float64]
Values = ArrayLike | Mapping[str, float]

_BORDER = 1e-9  # relative: poles this near to the border of stability integrate; double ones are found to 1e-8
_BLUR = 1e-4  # of the mean variance of outputs: noise of them where zeros on the border let no filter converge


class LinearSystem(NamedTuple):
    """A linear system dx/dt = A x + B u, y = C x + D u; with a period dt > 0, x(k+1) = A x(k) + B u(k)."""

    A: Array
    B: Array
    C: Array
    D: Array
    dt: float = 0.0

    @property
    def decays(self) -> bool:
        """Whether each state fades without an input."""
        values = np.linalg.eigvals(self.A)
        if self.dt:
            return bool((np.abs(values) < 1.0 - _BORDER).all())
        return bool((values.real < -_BORDER * np.abs(values).max(initial=0.0)).all())

    @property
    def gain_at_rest(self) -> Array:
        """Outputs by inputs where nothing moves; of a system that integrates, at once, or after one sample."""
        if self.decays:
            at_rest = np.eye(len(self.A)) - self.A if self.dt else -self.A
            gain = self.D + self.C @ np.linalg.solve(at_rest, self.B)
            if np.abs(gain).max() > ROUNDING * np.abs(self.D).max(initial=0.0):
                return gain
        return self.D if self.D.any() else self.C @ self.B

    @property
    def larger_gain(self) -> Array:
        """Outputs by inputs, at rest or at once, whichever is larger."""
        rest = self.gain_at_rest
        return rest if np.abs(rest).max() >= np.abs(self.D).max() else self.D

    def sampled(self, period: float) -> LinearSystem:
        """The system at samples, exactly, for inputs that are held in between."""
        if not len(self.A):
            return self._replace(dt=period)
        hold = zero_order_hold(self.A, self.B, period)
        return LinearSystem(hold.A, hold.B, self.C, self.D, period)

    def conditioning(self) -> Array:
        """Matrix L (n, m) of x' = A x + B u + L (limited output - output); zero where nothing winds up.

        With it the states follow the limited outputs, as an observer of them does: the Kalman filter for noise at the
        inputs, which has decaying states A - L C for any system. Of one with a regular D whose zeros decay this is
        L = B D^-1, the conditioning technique of Hanus, Kinnaert and Henrotte (1987).
        """
        from scipy.linalg import solve_continuous_are, solve_discrete_are

        A, B, C, D, dt = self
        if not len(A) or self.decays:
            return np.zeros((len(A), len(D)))
        V = D @ D.T
        if np.linalg.cond(D) > 1.0 / _BORDER:  # outputs that answer late are taken to be known to a time constant
            fastest = float(np.abs(np.linalg.eigvals(A)).max())
            if not dt and fastest <= 0.0:
                raise InputError(
                    "a filter that only integrates has no time in which it could leave a limit in continuous time; "
                    "give it a zero, (s + z)/s, or the law a period"
                )
            late = C @ B if dt else C @ B / fastest
            V = V + late @ late.T
        if dt:
            try:
                P = solve_discrete_are(A.T, C.T, B @ B.T, V, s=B @ D.T)
            except np.linalg.LinAlgError:  # zeros at z = -1, as Tustin's rule gives: outputs are known less exactly
                V = V + _BLUR * np.trace(V) / len(V) * np.eye(len(V))
                P = solve_discrete_are(A.T, C.T, B @ B.T, V, s=B @ D.T)
            return (A @ P @ C.T + B @ D.T) @ np.linalg.inv(C @ P @ C.T + V)
        P = solve_continuous_are(A.T, C.T, B @ B.T, V, s=B @ D.T)
        return (P @ C.T + B @ D.T) @ np.linalg.inv(V)


_PLAIN = LinearSystem(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), np.ones((1, 1)))


class MotorFilter(EffortBlock):
    """Base class of linear filters of the efforts, which say which system each motor has.

    In the controller they are discretised at the sample, exactly for efforts that are held in between; behind the held
    efforts, and under a law in continuous time, they are continuous.
    """

    plant: Plant | None
    initial: Held[Values, Any]
    untraced = ("system",)  # what counts in a run are the matrices
    _system: LinearSystem  # of all efforts, once it has a place
    _sampled: bool
    _at_rest: Array  # (nu, nu), gain where nothing moves
    _before: Array  # (nu, nu), from efforts behind to those before it, see `efforts_before`
    _before_at_once: Array
    _conditioning: Array  # (n, nu), see `LinearSystem.conditioning`
    _taken_back: Array  # (n, nu), states by outputs, in the same directions

    @abstractmethod
    def _systems(self, setting: Setting) -> Sequence[LinearSystem]:
        """Systems of the motors, in their order, or one of all efforts."""

    def bound(self, setting: Setting) -> Self:
        plant = setting.known(self, "for its motors")
        systems = [self._at(setting, x) for x in self._systems(setting)]
        conditioning = [x.conditioning() for x in systems]
        initial = bound_initial(self, setting)
        block = copy.copy(self)
        set_fields(
            block,
            winds_up=not all(x.decays for x in systems),
            initial=np.broadcast_to(initial, (plant.nu,)).astype(np.float64),
            _system=_side_by_side(systems),
            _sampled=bool(systems[0].dt),
            _at_rest=_diagonal([x.gain_at_rest for x in systems]),
            _before=_diagonal([_inverse(x.gain_at_rest) for x in systems]),
            _before_at_once=_diagonal([_inverse(x.larger_gain) for x in systems]),
            _conditioning=_diagonal(conditioning),
            _taken_back=_diagonal([L @ _inverse(x.C @ L) for x, L in zip(systems, conditioning, strict=True)]),
        )
        return block

    def _at(self, setting: Setting, system: LinearSystem) -> LinearSystem:
        """A system at the place of the filter: discretised in the controller; refuses one of another period."""
        if system.dt:
            if setting.continuous or not np.isclose(system.dt, setting.period, rtol=_BORDER, atol=0.0):  # type: ignore[arg-type]
                here = (
                    "works in continuous time here" if setting.continuous else f"is sampled each {setting.period:g} s"
                )
                raise InputError(f"{self!r} {here}; its system has the sample time {system.dt:g} s")
            return system
        return system if setting.continuous else system.sampled(setting.period)  # type: ignore[arg-type]

    def start(self, plant: Plant) -> Array:
        """States at rest under the initial efforts."""
        system, u = self._system, np.asarray(self.initial)
        require_count(system, plant, self)
        if not len(system.A) or not u.any():
            return np.zeros(len(system.A))
        if not system.decays:
            raise InputError(f"{self!r} integrates: under initial efforts it does not rest. Leave them out")
        return np.linalg.solve(np.eye(len(system.A)) - system.A if system.dt else -system.A, system.B @ u)

    def count(self, terms: Terms) -> int:
        return len(self._system.A)

    def state_names(self, plant: Plant) -> Sequence[str]:
        return [f"{snake_case(self)}_{i + 1}" for i in range(len(self._system.A))]

    def effort(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        system = self._system
        return system.C @ state + system.D @ u if len(system.A) else system.D @ u

    def derivative(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        system = self._system
        return system.A @ state + system.B @ u if len(system.A) else state

    def update(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        return self.derivative(t, terms, u, state)  # of a system in sampled time the same words give the next states

    def anti_windup(self, t: float, terms: Terms, state: Array, after: Array, cut: Cut, at_once: Array) -> Array:
        after = after + self._conditioning @ at_once
        sampled, C = self._sampled, self._system.C
        # Behind a high gain at once this is a small change. What of the states' growth still pushes against the limit
        # at the output is taken back, in the direction of the conditioning.
        growth = C @ growth_of(state, after, sampled)
        stays = np.zeros(len(C))
        left = growth_of(stays, waiting(stays, growth, sampled, cut), sampled)
        return after + self._taken_back @ (left - growth)

    def efforts_before(self, u: Array, at_once: bool = False) -> Array:
        return self._before_at_once @ u if at_once else self._before @ u

    def at_rest(self, u: Array) -> Array:
        return self._at_rest @ u


def require_count(system: LinearSystem, plant: Plant, block: MotorFilter) -> None:
    """Refuse a system with other numbers of inputs and outputs than motors."""
    if system.D.shape != (plant.nu, plant.nu):
        raise InputError(
            f"{block!r} has {system.D.shape[1]} inputs and {system.D.shape[0]} outputs; the plant has {plant.nu} "
            f"motors ({', '.join(plant.actuator_names)})"
        )


def _inverse(gain: Array) -> Array:
    """Pseudoinverse of a gain."""
    return np.asarray(np.linalg.pinv(gain, rcond=_BORDER), dtype=np.float64)


def _diagonal(blocks: Iterable[Array]) -> Array:
    """Matrix with blocks on its diagonal, which may have no rows or no columns."""
    blocks = list(blocks)
    made = np.zeros((sum(x.shape[0] for x in blocks), sum(x.shape[1] for x in blocks)))
    i = j = 0
    for x in blocks:
        made[i : i + x.shape[0], j : j + x.shape[1]] = x
        i, j = i + x.shape[0], j + x.shape[1]
    return made


def _of_order_one(a: float, b: float, c: float, d: float) -> LinearSystem:
    """System dx/dt = a x + b u, y = c x + d u."""
    return LinearSystem(np.array([[a]]), np.array([[b]]), np.array([[c]]), np.array([[d]]))


def _in_series(first: LinearSystem, second: LinearSystem) -> LinearSystem:
    """One system of two, the second behind the first."""
    A = np.block([[first.A, np.zeros((len(first.A), len(second.A)))], [second.B @ first.C, second.A]])
    B, C = np.vstack([first.B, second.B @ first.D]), np.hstack([second.D @ first.C, second.C])
    return LinearSystem(A, B, C, second.D @ first.D)


def _side_by_side(systems: Sequence[LinearSystem]) -> LinearSystem:
    """One system of several that do not know of each other."""
    A, B, C, D = (_diagonal(matrices) for matrices in zip(*(x[:4] for x in systems), strict=True))
    return LinearSystem(A, B, C, D, systems[0].dt)


# -- a system from what is given -----------------------------------------------------------------------------------


def from_fraction(num: ArrayLike, den: ArrayLike, dt: float = 0.0, what: str = "the filter") -> LinearSystem:
    """LinearSystem of a transfer function num(s)/den(s), in controllable canonical form with a fitting unit of time."""
    from scipy.signal import tf2ss

    num, den = (np.trim_zeros(np.atleast_1d(_check.numbers(x, f"{what}, coefficients,")), "f") for x in (num, den))
    if not (den.size and np.isfinite(num).all() and np.isfinite(den).all()):
        raise InputError(f"{what} must have finite coefficients and a denominator, got {num.tolist()}/{den.tolist()}")
    if num.size > den.size:
        raise InputError(
            f"{what} is improper: its numerator has degree {num.size - 1}, its denominator {den.size - 1}. "
            "Add poles that are faster than what matters"
        )
    if not num.size or den.size == 1:
        return _PLAIN._replace(D=np.full((1, 1), num[0] / den[0] if num.size else 0.0), dt=dt)
    n, last = den.size - 1, den[np.flatnonzero(den)[-1]]
    degree = int(np.flatnonzero(den)[-1])  # poles that are not zero
    w = 1.0 if dt or not degree else abs(last / den[0]) ** (1.0 / degree)  # their geometric mean: one in the new unit
    powers = w ** np.arange(n, -1.0, -1.0)
    A, B, C, D = tf2ss(num * powers[-num.size :], den * powers)
    return LinearSystem(w * A, w * B, C, D, dt)


_FRACTION, _MATRICES = {"num", "den"}, {"A", "B", "C", "D"}


def is_system(x: Any) -> bool:
    """Whether data are those of one system, and not of one for each motor by name."""
    return isinstance(x, Mapping) and set(x) - {"dt"} in (_FRACTION, _MATRICES)


def plain_system(x: Any, what: str = "the system of a Filter") -> Any:
    """A system as plain data, from one of python-control or scipy.signal, from such data, or by motor."""
    if isinstance(x, Mapping):
        if is_system(x):
            return {key: np.asarray(y, dtype=np.float64).tolist() for key, y in x.items()}
        return {str(name): plain_system(y, what) for name, y in x.items()}
    dt = getattr(x, "dt", None)
    period = {"dt": float(dt)} if dt not in (None, 0) else {}
    if dt is True:
        raise InputError(f"{what} is in sampled time without a sample time; give it one, dt=...")
    if all(hasattr(x, name) for name in "ABCD"):
        return {name: np.asarray(getattr(x, name), dtype=np.float64).tolist() for name in "ABCD"} | period
    if hasattr(x, "num") and hasattr(x, "den"):
        parts = {}
        for name in ("num", "den"):
            part = getattr(x, name)
            while isinstance(part, (list, tuple)) or (isinstance(part, np.ndarray) and part.dtype == object):
                if len(part) != 1:
                    raise InputError(
                        f"the transfer function of a Filter has {len(part)} rows or columns; give one for each motor, "
                        "{motor: ...}, or a StateSpace of all efforts"
                    )
                part = part[0]
            parts[name] = np.asarray(part, dtype=np.float64).ravel().tolist()
        return parts | period
    raise InputTypeError(
        f"{what} must be a control.TransferFunction or StateSpace, {{'num': ..., 'den': ...}}, {{'A': ..., 'B': ..., "
        f"'C': ..., 'D': ...}}, or a mapping of names to these, got {_check.shown(x)}"
    )


def made_system(x: Mapping[str, Any], what: str) -> LinearSystem:
    """LinearSystem from plain data, checked."""
    dt = float(x.get("dt", 0.0))
    if "num" in x:
        return from_fraction(x["num"], x["den"], dt, what)
    A = np.asarray(x["A"], dtype=np.float64).reshape(-1, len(x["A"]))
    D = np.atleast_2d(np.asarray(x["D"], dtype=np.float64))
    B = np.asarray(x["B"], dtype=np.float64).reshape(len(A), -1) if len(A) else np.zeros((0, D.shape[1]))
    C = np.asarray(x["C"], dtype=np.float64).reshape(-1, len(A)) if len(A) else np.zeros((D.shape[0], 0))
    shapes = [y.shape for y in (A, B, C, D)]
    expected = [(len(A), len(A)), (len(A), D.shape[1]), (D.shape[0], len(A)), D.shape]
    if shapes != expected or not all(np.isfinite(y).all() for y in (A, B, C, D)):
        raise InputError(f"{what} must have finite A, B, C, D of shapes that fit, got {shapes}")
    return LinearSystem(A, B, C, D, dt)


@frozen
class Filter(MotorFilter):
    """Linear filter of the efforts: a transfer function or a state-space system.

    In the controller of a sampled law it is discretised exactly for efforts that are held from sample to sample
    (``control.c2d(..., method="zoh")`` gives the same response).

    Parameters
    ----------
    system : control.TransferFunction, control.StateSpace or mapping
        Filter of each motor (one input, one output), or of all efforts at once (nu inputs and outputs). A mapping of
        motor name to system leaves other motors as they are. Plain data are taken, too: ``{"num": [...], "den":
        [...]}``, ``{"A": ..., "B": ..., "C": ..., "D": ...}``, with ``"dt"`` where they are in sampled time, and what
        `scipy.signal` calls a linear system.
    initial : float, array_like (nu,), or mapping of motor name to float
        Efforts under which it rests at the start, N or N m.
    plant : Plant, optional
        Plant that has the motors, where the law has no plant of its own.

    Raises
    ------
    ValueError
        For an improper fraction, sizes that do not fit, and a sample time other than the law's.
    TypeError
        For anything else than a system.

    Notes
    -----
    Where later limits cut efforts off, the states of a filter that integrates follow what was let through (Hanus,
    Kinnaert and Henrotte, 1987; with a Kalman gain where it does not answer at once), and no longer push against the
    limit.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> chain = [3.0, -1.0] | Filter({"num": [1.0, 2.0], "den": [1.0, 4.0]}, plant=plant)
    >>> terms, state = plant.terms(plant.assemble(), [0.0] * 4), chain.start(plant)
    >>> chain(0.0, terms, state), chain.evaluate(0.0, terms, state).state
    (array([ 3., -1.]), array([12., -4.]))
    """

    system: Held[Any, Any]
    initial: Held[Values, Any] = held(0.0)
    plant: Plant | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "system", plain_system(self.system))
        require_values(self.initial, "the initial efforts of Filter", negative=True)
        for name, x in (("", self.system),) if is_system(self.system) else self.system.items():
            made_system(x, f"the system of Filter{name and f', {name!r}'}")

    def _systems(self, setting: Setting) -> Sequence[LinearSystem]:
        plant = setting.known(self, "for its motors")
        if is_system(self.system):
            one = made_system(self.system, "the system of Filter")
            if one.D.shape == (1, 1):
                return [one] * plant.nu
            require_count(one, plant, self)
            return [one]
        for name in self.system:
            _check.one_of(name, plant.actuator_names, "motor", "the system of Filter")
        given = {name: made_system(x, f"the system of {name!r}") for name, x in self.system.items()}
        for name, x in given.items():
            if x.D.shape != (1, 1):
                raise InputError(f"the system of {name!r} must have one input and one output, got D {x.D.shape}")
        dt = next((x.dt for x in given.values()), 0.0)
        return [given.get(name, _PLAIN._replace(dt=dt)) for name in plant.actuator_names]


class _Parametric(MotorFilter):
    """Base class of filters with parameters that have a name, each a number for all motors or one for each."""

    def _values(self, setting: Setting, *names: str) -> list[tuple[float, ...] | None]:
        """Values of the parameters for each motor; None for one that a mapping does not name."""
        plant, kind = setting.known(self, "for its motors"), type(self).__name__
        given = [getattr(self, name) for name in names]
        named = [list(x) for x in given if isinstance(x, Mapping)]
        if any(sorted(x) != sorted(named[0]) for x in named):
            raise InputError(f"the mappings of {kind} must name the same motors, got {' and '.join(map(str, named))}")
        columns = [of_motors(x, setting, self, f"the {n} of {kind}") for n, x in zip(names, given, strict=True)]
        rows = np.stack([np.broadcast_to(x, (plant.nu,)) for x in columns], axis=1)
        left = [bool(named) and motor not in named[0] for motor in plant.actuator_names]
        return [None if out else tuple(map(float, row)) for out, row in zip(left, rows, strict=True)]

    def _require_positive(self, *names: str, infinite: bool = False) -> None:
        """Refuse values of the parameters that are not above zero."""
        for name in names:
            given, what = getattr(self, name), f"the {name} of {type(self).__name__}"
            for x in given.values() if isinstance(given, Mapping) else np.ravel(_check.numbers(given, what)).tolist():
                _check.positive(x, what, infinite=infinite)

    def _systems(self, setting: Setting) -> Sequence[LinearSystem]:
        names = self._names
        return [_PLAIN if x is None else self._system_of(*x) for x in self._values(setting, *names)]

    _names: ClassVar[tuple[str, ...]]  # of the parameters

    @abstractmethod
    def _system_of(self, *values: float) -> LinearSystem:
        """LinearSystem of one motor, from its parameters."""


@frozen
class LowPass(_Parametric):
    """Low pass of the efforts with a Butterworth characteristic: the flattest gain below the corner, 3 dB less at it.

    Parameters
    ----------
    cutoff_hz : float, array_like (nu,), or mapping of motor name to float
        Corner frequency, Hz. Motors that a mapping does not name are left as they are.
    order : int
        1 to 8: beyond the corner the gain falls by 20 dB a decade for each.
    initial, plant
        As in `Filter`.

    Raises
    ------
    ValueError
        For values that are not positive, and unknown motors.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> chain = [3.0, -1.0] | LowPass(cutoff_hz=50.0, plant=plant)
    >>> terms, state = plant.terms(plant.assemble(), [0.0] * 4), chain.start(plant)
    >>> chain(0.0, terms, state), chain.evaluate(0.0, terms, state).state.round(1)
    (array([0., 0.]), array([ 942.5, -314.2]))
    """

    cutoff_hz: Held[Values, Any]
    order: int = 1
    initial: Held[Values, Any] = held(0.0)
    plant: Plant | None = field(default=None, kw_only=True, repr=False)
    _names = ("cutoff_hz",)

    def __post_init__(self) -> None:
        self._require_positive("cutoff_hz")
        _check.count(self.order, "the order of LowPass", most=8)
        require_values(self.initial, "the initial efforts of LowPass", negative=True)

    def _system_of(self, *values: float) -> LinearSystem:
        w, n = 2.0 * np.pi * values[0], self.order
        made = _of_order_one(-w, w, 1.0, 0.0) if n % 2 else _PLAIN
        for k in range(n // 2):  # pairs of poles on a half circle, in sections of order two
            damping = np.sin(np.pi * (2 * k + 1) / (2 * n))
            A, B = np.array([[0.0, w], [-w, -2.0 * damping * w]]), np.array([[0.0], [w]])
            made = _in_series(made, LinearSystem(A, B, np.array([[1.0, 0.0]]), np.zeros((1, 1))))
        return made


@frozen
class Notch(_Parametric):
    """Notch of the efforts: takes out a band of frequencies, such as that of a resonance.

        (s^2 + 2 r z w s + w^2) / (s^2 + 2 z w s + w^2),    w = 2 pi frequency_hz,  2 z w = 2 pi width_hz,  r: the depth

    Parameters
    ----------
    frequency_hz : float, array_like (nu,), or mapping of motor name to float
        Centre, Hz. Motors that a mapping does not name are left as they are.
    width_hz : float, array_like (nu,), or mapping of motor name to float
        Width of the band, Hz: of a deep notch, between the frequencies with 3 dB less.
    depth_db : float, array_like (nu,), or mapping of motor name to float
        By how much the gain at the centre is lowered, dB; ``inf`` takes it out.
    initial, plant
        As in `Filter`.

    Raises
    ------
    ValueError
        For values that are not positive, and unknown motors.

    Examples
    --------
    >>> import numpy as np
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> chain = [3.0, -1.0] | Notch(85.0, 20.0, plant=plant)
    >>> terms = plant.terms(plant.assemble(), [0.0] * 4)
    >>> chain(0.0, terms, chain.start(plant)), chain.start(plant).size
    (array([ 3., -1.]), 4)
    """

    frequency_hz: Held[Values, Any]
    width_hz: Held[Values, Any]
    depth_db: Held[Values, Any] = held(40.0)  # a hundredth is left
    initial: Held[Values, Any] = held(0.0)
    plant: Plant | None = field(default=None, kw_only=True, repr=False)
    _names = ("frequency_hz", "width_hz", "depth_db")

    def __post_init__(self) -> None:
        self._require_positive("frequency_hz", "width_hz")
        self._require_positive("depth_db", infinite=True)
        require_values(self.initial, "the initial efforts of Notch", negative=True)

    def _system_of(self, *values: float) -> LinearSystem:
        frequency, width, depth = values
        w, b = 2.0 * np.pi * frequency, 2.0 * np.pi * width
        left = 10.0 ** (-depth / 20.0)
        A, B = np.array([[0.0, w], [-w, -b]]), np.array([[0.0], [w]])
        return LinearSystem(A, B, np.array([[0.0, -(1.0 - left) * b / w]]), np.ones((1, 1)))


@frozen
class LeadLag(_Parametric):
    """Lead or lag of the efforts, gain (1 + s/zero) / (1 + s/pole): a lead where the zero is slower than the pole.

    Parameters
    ----------
    zero, pole : float, array_like (nu,), or mapping of motor name to float
        Corner frequencies, rad/s. Motors that a mapping does not name are left as they are.
    gain : float, array_like (nu,), or mapping of motor name to float
        Gain at rest.
    initial, plant
        As in `Filter`.

    Raises
    ------
    ValueError
        For values that are not positive, and unknown motors.

    Examples
    --------
    >>> lead = LeadLag.with_phase(phase_deg=30.0, frequency=40.0)
    >>> round(lead.zero, 3), round(lead.pole, 3), round(lead.gain, 4)
    (23.094, 69.282, 0.5774)
    """

    zero: Held[Values, Any]
    pole: Held[Values, Any]
    gain: Held[Values, Any] = held(1.0)
    initial: Held[Values, Any] = held(0.0)
    plant: Plant | None = field(default=None, kw_only=True, repr=False)
    _names = ("zero", "pole", "gain")

    def __post_init__(self) -> None:
        self._require_positive("zero", "pole", "gain")
        require_values(self.initial, "the initial efforts of LeadLag", negative=True)

    @classmethod
    def with_phase(cls, phase_deg: float, frequency: float) -> Self:
        """Lead (or, of a negative phase, lag) with a phase and the gain 1 at a frequency, rad/s.

        Of one section the phase is largest there, with zero and pole at equal ratios to both sides.
        """
        phase, w = _check.number(phase_deg, "phase_deg"), _check.positive(frequency, "frequency")
        if not abs(phase) < 90.0:
            raise InputError(
                f"a lead or lag changes the phase by less than 90 degrees, got {phase:g}; take two of them"
            )
        ratio = float(np.tan(np.radians(45.0 + 0.5 * phase)))  # of the frequency to the zero, and of the pole to it
        return cls(w / ratio, w * ratio, 1.0 / ratio)

    def _system_of(self, *values: float) -> LinearSystem:
        zero, pole, gain = values
        return _of_order_one(-pole, pole, gain * (zero - pole) / zero, gain * pole / zero)
