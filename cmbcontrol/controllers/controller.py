"""Base classes of controllers and drives: u = f(t, terms, state), where one evaluation gives one record."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._arguments import KeepsArguments
from .._tolerance import UNREACHED
from ..errors import AssemblyError, InputError, InputTypeError
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.symbols import numbers_of, where_less
from .references import Reference, require_reference

__all__ = [
    "ConstantEffort",
    "Controller",
    "Cut",
    "Drive",
    "Evaluation",
    "FunctionController",
    "MotionLaw",
    "as_controller",
    "error_of",
    "evaluated",
    "growth_of",
    "held",
    "moved",
    "regular_terms",
    "require_same_signals",
    "require_tracking",
    "start_of",
    "waiting",
]

Array = NDArray[np.float64]

_NONE = 1e-300  # in place of a zero to divide by: what is over nothing is all of it


class Evaluation(NamedTuple):
    """Answer of a controller or a drive at one instant: efforts, next states or their rates, and a report.

    Attributes
    ----------
    effort : array_like, shape (nu,)
        Efforts of the motors, N or N m.
    state : array_like, shape (n,), optional
        Rates of the states in continuous time, their next values in sampled time. By default they stay as they are.
    report : mapping of name to number, or a function that gives one
        Numbers to keep with the run: a margin, a force error, a status. A function is called only where they are kept.
    command : array_like, shape (nu,), optional
        In continuous time, efforts that the controller asks of drives that are part of it; defaults to the effort.
    """

    effort: ArrayLike
    state: ArrayLike | None = None
    report: Mapping[str, float] | Callable[[], Mapping[str, float]] = {}  # noqa: RUF012  # never written
    command: ArrayLike | None = None

    def reported(self) -> dict[str, float]:
        """The report as numbers."""
        return {name: float(x) for name, x in self.numbers().items()}

    def numbers(self) -> dict[str, Any]:
        """The report as it was given."""
        report = self.report() if callable(self.report) else self.report
        return {str(name): x for name, x in dict(report).items()}


class Cut(NamedTuple):
    """Efforts that limits behind a controller cut off, and those that they let through.

    Attributes
    ----------
    lost : ndarray, shape (nu,)
        Efforts that are let through less those asked for, N or N m; exactly zero where nothing is cut off.
    given : ndarray, shape (nu,)
        Efforts that are let through, N or N m.
    """

    lost: Array
    given: Array


class _ClassName:
    """Descriptor that gives the name of an object's class, where the object or its class has no name of its own."""

    def __get__(self, thing: object, kind: type) -> str:
        return kind.__name__


class Controller(KeepsArguments):
    """Base class of controllers.

    A controller without states defines ``effort(t, terms, state)``; one with states, or with a report, defines
    ``evaluate(t, terms, state)``, which returns an `Evaluation`. Plain functions ``(t, terms, state) -> effort`` and
    arrays of constant efforts are accepted wherever a controller is.

    A controller is pure: the same arguments give the same answer, so that an integrator may try, reject and repeat
    steps. All that changes in time is in states, which are arguments and results.

    Attributes
    ----------
    name : str
        Name in results; defaults to the name of the class.
    period : float or None
        Sample time, s; the effort is held in between. None: continuous time.
    measures_force : bool
        Whether it gets the measured constraint force, `Terms.force`: in sampled time that of the instant before the
        sample (None at the first one). In continuous time the force depends on the effort, so that the controller is
        evaluated twice: without a force for the effort, and with it for the rate of the states and the report.
    rough : bool
        Whether steps or noise allow no linear model.
    delay : float or array_like (nu,), optional
        Time from a sample to when the motors feel the effort computed from it, s. Sampled time only.
    initial_effort : float or array_like (nu,), optional
        Efforts of the motors until the first delayed one arrives, N or N m; defaults to that of the first sample.
    drive : Drive, optional
        Dynamics between the held efforts of a sampled controller and the joints, in continuous time.
    plant : Plant, optional
        The machine as the controller knows it.
    reference, coordinates, task : optional
        Desired values over time, names of the values that follow them, and the `Task` that computes these from a state.

    Examples
    --------
    Damping, and a sampled controller with an integral of the first joint:

    >>> from cmbcontrol import plants, simulate
    >>> class Damping(Controller):
    ...     def effort(self, t, terms, state):
    ...         return -2.0 * terms.B.T @ terms.v
    >>> class Integral(Controller):
    ...     period = 1e-3
    ...
    ...     def start(self, plant):
    ...         return [0.0]
    ...
    ...     def evaluate(self, t, terms, state):
    ...         error = 2.0 - terms.q[0]
    ...         effort = [40.0 * error + state[0], 0.0]
    ...         return Evaluation(effort, state + self.period * 10.0 * error, report={"error": error})
    >>> plant = plants.five_bar()
    >>> start = plant.assemble(left=2.1, right=1.0)
    >>> runs = [simulate(plant, law, start, t_end=0.1) for law in (Damping(), Integral())]
    >>> runs[1].report.quantity.values.tolist()
    ['error']
    """

    period: float | None = None
    measures_force: bool = False
    rough: bool = False
    integrates: bool = False  # whether it has integrals of errors, which `anti_windup` holds
    delay: ArrayLike | None = None
    initial_effort: ArrayLike | None = None
    drive: Drive | None = None
    plant: Plant | None = None
    reference: Reference | None = None
    coordinates: Sequence[str] | None = None
    task: Any = None

    def __init_subclass__(cls, abstract: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "evaluate" in vars(cls) and "effort" not in vars(cls):
            cls.effort = Controller.effort  # type: ignore[method-assign]  # of the two, what the class defines counts
        elif "effort" in vars(cls) and "evaluate" not in vars(cls):
            cls.evaluate = Controller.evaluate  # type: ignore[method-assign]
        if not abstract and cls.evaluate is Controller.evaluate and cls.effort is Controller.effort:
            raise InputTypeError(f"{cls.__name__} is a Controller and must define effort or evaluate (t, terms, state)")

    name = _ClassName()  # what results call it

    def effort(self, t: float, terms: Terms, state: Array) -> ArrayLike:
        """Motor efforts u (nu,), N or N m."""
        return self.evaluate(t, terms, state).effort

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        """Evaluation at one instant: efforts, next states or their rates, and the report."""
        return Evaluation(self.effort(t, terms, state))

    def __call__(self, t: float, terms: Terms, state: Any) -> Array:
        """Motor efforts u (nu,), N or N m."""
        return np.asarray(self.effort(t, terms, state), dtype=np.float64)

    def start(self, plant: Plant) -> ArrayLike:
        """Initial states (n,); refuses a plant that it does not fit."""
        return np.zeros(0)

    def report_units(self) -> Mapping[str, str]:
        """Units of the numbers of the report by name, ``"1"`` for those without; names may be left out."""
        return {}

    def state_names(self, plant: Plant) -> Sequence[str]:
        """Names of the states, for linear models; they are numbered unless there are as many as states."""
        return ()

    def begun(self, start: Array, after: Array, terms: Terms) -> Array:
        """States of a controller that has been at work for a while.

        Those whose first sample is like no other, such as the last reading of a difference, are taken from ``after``,
        one sample after ``start``.
        """
        return start

    def error(self, t: float, terms: Terms) -> tuple[Array, Array] | None:
        """Error against the reference, and its rate, (k,) each; None where the controller defines none."""
        return None

    def anti_windup(self, t: float, terms: Terms, state: Array, after: Array, cut: Cut) -> ArrayLike:
        """Rates or next values of the states where blocks behind the controller cut off a part of its efforts.

        Parameters
        ----------
        t, terms, state
            As in `evaluate`.
        after : ndarray, shape (n,)
            States without the cut: their rates in continuous time, their next values in sampled time.
        cut : Cut
            Efforts that the blocks cut off, and those that they let through.

        Returns
        -------
        array_like, shape (n,)
            Rates or next values of the states; by default ``after``, as if nothing were cut off.
        """
        return after

    def require_complete(self) -> None:
        """Raise an error, with the reason, where a part is missing, such as the law of a chain."""

    def with_model(self, model: Plant) -> Controller:
        """Copy that computes with another model; the controller itself where it needs no more than the terms."""
        return self

    def with_reference(self, reference: Reference) -> Self:
        """Copy of the controller that follows another reference."""
        require_reference(reference, self.coordinates)
        other = copy.copy(self)
        other.reference = reference
        return other

    @property
    def function_name(self) -> str:
        """Name, for messages, of the function that computes the efforts, such as ``MyLaw.evaluate``."""
        plain = type(self).evaluate is Controller.evaluate
        return f"{type(self).__name__}.{'effort' if plain else 'evaluate'}"


class MotionLaw(Controller, abstract=True):
    """Base class of motion laws: controllers that know the acceleration they want."""

    plant: Plant
    weight: ArrayLike | None = None  # metric of the efforts, see `motor_effort`
    saturation: str | None = None

    def desired_acceleration(self, t: float, terms: Terms) -> Array:
        """Acceleration (nv,) of all coordinates that the law wants, consistent with the loops."""
        raise NotImplementedError(
            f"{type(self).__name__} is a MotionLaw and must define desired_acceleration(t, terms)"
        )

    def effort(self, t: float, terms: Terms, state: Array) -> ArrayLike:
        """Smallest motor efforts (nu,) that produce the desired acceleration."""
        return terms.smallest_effort(self.desired_acceleration(t, terms))


class Drive:
    """Base class of drives: dynamics in continuous time from the held efforts of a sampled controller to the joints."""

    def start(self, plant: Plant) -> ArrayLike:
        """Initial states (n,)."""
        return np.zeros(0)

    def state_names(self, plant: Plant) -> Sequence[str]:
        """Names of the states."""
        return ()

    def evaluate(self, t: float, terms: Terms, command: Array, state: Array) -> Evaluation:
        """Efforts (nu,) at the joints under a command (nu,), and the rate of the states."""
        raise NotImplementedError

    @property
    def function_name(self) -> str:
        """Name, for messages, of the function that computes the efforts, such as ``MyLaw.evaluate``."""
        return f"{type(self).__name__}.evaluate"


class ConstantEffort(Controller):
    """Controller that gives constant motor efforts."""

    def __init__(self, u: ArrayLike) -> None:
        self.u = np.atleast_1d(_check.numbers(u, "the motor efforts u"))
        self.u = _check.moderate(_check.vector(self.u, self.u.size, "the motor efforts u"), "the motor efforts u")

    def effort(self, t: float, terms: Terms, state: Array) -> Array:
        return self.u


class FunctionController(Controller):
    """Controller without states, made from a function (t, terms, state) -> effort.

    Parameters
    ----------
    function : callable
    period : float, optional
        Sample time, s; defaults to continuous time.

    Examples
    --------
    >>> FunctionController(lambda t, terms, state: -terms.v, period=1e-3).period
    0.001
    """

    def __init__(self, function: Callable[[float, Terms, Array], ArrayLike], period: float | None = None) -> None:
        self.function = _check.function(function, "function", "(t, terms, state) -> effort")
        _check.takes(function, "a controller", ("t", "terms", "state"))
        self.period = None if period is None else _check.positive(period, "period")

    @property
    def name(self) -> str:  # type: ignore[override]
        return getattr(self.function, "__name__", type(self.function).__name__)

    def effort(self, t: float, terms: Terms, state: Array) -> ArrayLike:
        return self.function(t, terms, state)

    @property
    def function_name(self) -> str:
        return getattr(self.function, "__qualname__", f"{type(self.function).__name__}.__call__")


# What an object that is no Controller may not have: it would be ignored.
_MEMBERS = ("period", "start", "evaluate", "effort", "update", "derivative", "report", "delay", "drive", "reference",
            "measures_force", "initial_effort")  # fmt: skip


def as_controller(given: Any, plant: Plant | None = None) -> Controller:
    """Controller from one, from a function (t, terms, state) -> effort, or from constant efforts; None means no effort.

    Raises
    ------
    TypeError
        For a class in place of an object, and for callables that have members of a controller but are none.
    ValueError
        For numbers that do not fit the motors, or a period that is not above zero.
    """
    if isinstance(given, Controller):
        given.require_complete()
        if given.period is not None:
            _check.positive(given.period, f"the period of {type(given).__name__}")
        return given
    if given is None and plant is not None:
        return ConstantEffort(np.zeros(plant.nu))
    if isinstance(given, type):
        raise InputTypeError(f"the controller must be an object, got the class {given.__name__}; build one of it")
    if hasattr(given, "no_controller"):
        raise InputTypeError(given.no_controller)
    if callable(given):
        more = [name for name in _MEMBERS if hasattr(given, name)]
        if more:
            raise InputTypeError(
                f"{type(given).__name__} has {', '.join(more)}, which are members of a controller; derive it from "
                "cmbcontrol.controllers.Controller, which says how"
            )
        return FunctionController(given)
    if plant is None:
        return ConstantEffort(given)
    return ConstantEffort(_check.vector(given, plant.nu, "the motor efforts", plant.actuator_names))


def evaluated(law: Controller, t: float, terms: Terms, state: Array) -> Evaluation:
    """Evaluation of a controller at one instant; refuses a result that is no `Evaluation`."""
    evaluation = law.evaluate(t, terms, state)
    if not isinstance(evaluation, Evaluation):
        what = f"{law.function_name} must return an Evaluation(effort, state, report)"
        raise InputTypeError(f"{what}, got {_check.shown(evaluation)}")
    return evaluation


def moved(evaluation: Evaluation, state: Array, sampled: bool) -> Array:
    """Next values of the states, or their rates, from an evaluation; by default the states stay as they are."""
    if evaluation.state is None:
        return state if sampled else np.zeros(state.size)
    state = numbers_of(evaluation.state)
    return state if state.ndim else np.atleast_1d(state)


def start_of(part: Controller | Drive, plant: Plant) -> Array:
    """Initial states (n,) of a controller or drive, a copy."""
    return np.atleast_1d(_check.numbers(part.start(plant), f"the start of {type(part).__name__}"))


def error_of(law: Controller, t: float, terms: Terms) -> tuple[Array, Array] | None:
    """Error of a controller and its rate, (k,) each, checked; None where it defines none."""
    given = law.error(t, terms)
    if given is None:
        return None
    names = tuple(law.coordinates or ())
    try:
        e, rate = (np.asarray(x, dtype=np.float64) for x in given)
        fits = e.shape == rate.shape == (len(names),)
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise InputError(
            f"{type(law).__name__}.error must return (e, rate), the error and its rate, of shape ({len(names)},) each "
            f"for the coordinates {', '.join(names)}, or None; got {_check.shown(given)}"
        )
    return e, rate


def require_tracking(law: Controller, t: float, terms: Terms) -> None:
    """Refuse a reference or an error that does not fit a law's coordinates; other failures are left to the run."""
    if law.reference is None or law.coordinates is None:
        return
    if isinstance(law.coordinates, str):
        raise InputTypeError(
            f"the coordinates of {type(law).__name__} must be names in a sequence, ({law.coordinates!r},), got "
            f"{law.coordinates!r}"
        )
    try:
        require_reference(law.reference, law.coordinates)
        error_of(law, t, terms)
    except (InputError, InputTypeError):
        raise
    except Exception:  # of a function of the user
        return


# In continuous time integrals stop growing over this part of the limit, beyond it: a law that turned them off at once
# would go on and off again without end where it moves along the limit.
_SOFT = 0.05


def growth_of(state: Array, after: Array, sampled: bool) -> Array:
    """Growth of integrals (k,), per second in continuous time or per sample."""
    return after - state if sampled else after


def held(state: Array, after: Array, sampled: bool, against: Array, given: Array) -> Array:
    """Rates or next values of integrals (k,), held where they push by `against` (k,) beyond limits at `given` (k,)."""
    if sampled:
        return where_less(0.0, against, state, after)
    over = against / np.maximum(_SOFT * np.abs(given), _NONE)
    return after * (1.0 - np.minimum(over, 1.0))


def waiting(state: Array, after: Array, sampled: bool, cut: Cut, gain: Array | None = None) -> Array:
    """Rates or next values of integrals (k,), held where they would push further against a limit.

    They push by gain times integral (k,), and `cut` is the part that limits cut off; rounding does not count.
    """
    lost, growth = cut.lost, growth_of(state, after, sampled)
    pushes = growth if gain is None else gain @ growth
    least = -UNREACHED * np.abs(lost).max() * np.abs(pushes)
    against = where_less(lost * pushes, least, np.abs(lost), 0.0)
    return held(state, after, sampled, against, cut.given)


def regular_terms(plant: Plant) -> Terms | None:
    """Equations of motion at rest in a regular configuration of the plant, for checks; None where none is found.

    A `Mechanism` keeps them, since many laws are made for one plant.
    """
    if not isinstance(plant, Mechanism):  # which never changes; the functions of another plant may
        return _regular_terms(plant)
    known = vars(plant)
    if "_regular_terms" not in known:
        known["_regular_terms"] = _regular_terms(plant)
    return known["_regular_terms"]


def _regular_terms(plant: Plant) -> Terms | None:
    near = vars(plant).get("_regular_at")  # where a machine is regular from which this one was made
    try:
        q = plant.assemble() if near is None else plant.close(near)
    except AssemblyError:
        return None
    terms = plant.terms(q, np.zeros(plant.nv))
    return terms if terms.rank == plant.generic_rank(q) else None


def require_same_signals(model: Plant, plant: Plant) -> None:
    """Refuse a plant with other coordinates or motors than the model that a controller was made for."""
    for what in ("position", "velocity", "actuator"):
        expected, given = (getattr(x, f"{what}_names") for x in (model, plant))
        if expected != given:
            what = "motors" if what == "actuator" else f"{what} coordinates"
            raise InputError(
                f"the controller was made for {model.name!r} with the {what} {', '.join(expected) or 'none'}; "
                f"{plant.name!r} has {', '.join(given) or 'none'}"
            )
