"""Closed-loop simulation of a plant with a controller."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._interrupt import held, let_through
from .._jit import compile_time
from .._progress import Progress, Reporter
from ..controllers.controller import Controller, as_controller
from ..dynamics.acceleration import Formulation, Gauss
from ..errors import InputError, InputTypeError, Interrupted, PainleveError, SimulationError, Status, SwitchingError
from ..kernels.layout import WORKS
from ..model.contacts import Contact
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import RANK_TOLERANCE
from . import output
from .acting import Acting
from .branch_selection import BranchSelector
from .constraint_modes import ConstraintModes
from .control import Control, after
from .ending import ended, not_begun, when, why_ended
from .events import LIMITS, Event, EventRecorder, listed_events
from .failures import LawFailed, is_of_user
from .integrator import Integrator
from .provenance import Call
from .result import Simulation
from .run import IntegratorState, Record, Run
from .runaway import runaway
from .stabilisation import Stabilisation
from .start import check_start, configuration_of, first_step, options_of, start_state, warn_if_immobile
from .switching import IMPACTS, Switch, listed_switches
from .switching_run import RunHistory, run_in_parts

__all__ = ["simulate"]

Array = NDArray[np.float64]
_Arguments = ParamSpec("_Arguments")


def _recorded(function: Callable[_Arguments, Simulation]) -> Callable[_Arguments, Simulation]:
    """Decorator: keep the arguments of a run in its result; let Ctrl-C act only between steps, with a clear message.

    Python runs handlers of signals where compiled code that has returned makes arrays of its results. An exception
    there is a SystemError in Numba, or the end of the process, so there must be none while kernels are called.
    """
    parameters = signature(function)

    @wraps(function)
    def recorded(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> Simulation:
        result = None
        try:
            with held():
                try:
                    call = Call.of(parameters.bind(*arguments, **options).arguments)
                except TypeError:  # wrong arguments: Python says it better
                    return function(*arguments, **options)
                try:
                    result = function(*arguments, **options)
                except (Interrupted, SimulationError) as error:
                    if error.partial is not None:
                        error.partial.call = call
                    raise
                except PainleveError as error:  # as where it is met on the way
                    raise SimulationError(f"the run did not begin. {type(error).__name__}: {error}.") from error
                result.call = call
            return result
        except Interrupted:
            raise
        except KeyboardInterrupt as error:
            when = "before its first step" if result is None else "after its end; it is in the attribute partial"
            raise Interrupted(f"the run was interrupted {when}", result) from error

    return recorded


@_recorded
def simulate(
    plant: Plant,
    controller: Any = None,
    q0: ArrayLike | Mapping[str, float] | None = None,
    v0: ArrayLike | None = None,
    *,
    t_end: float,
    output_times: ArrayLike | float | None = None,
    method: str | Integrator = "auto",
    rtol: float | None = None,
    atol: float | None = None,
    stabilisation: str | Stabilisation = "projection",
    formulation: Formulation | None = None,
    switches: Switch | Contact | Sequence[Switch | Contact] = (),
    branch: Any = None,
    events: Sequence[Event | Callable] = (),
    limits: str = "hold",
    progress: Progress = False,
    loads: Mapping[str, Any] | None = None,
    motions: Mapping[str, Any] | None = None,
    told: bool | Sequence[str] = False,
    friction: str = "smooth",
    impacts: str = "simultaneous",
) -> Simulation:
    """Simulate a plant with a controller, and return the run.

    Parameters
    ----------
    plant : Plant
    controller : optional
        A `Controller` (continuous, or sampled if it has a period), numbers for constant motor
        efforts (nu,), or None for none. Without a Python law in the loop, it runs compiled.
    q0, v0 : array_like
        Start; the loops must be closed (see ``plant.assemble``). q0 may be a mapping of joints to values; v0 defaults
        to zero.
    t_end : float
        s, from 0.
    output_times : array_like or float, optional
        Times of the output, or their spacing, s; defaults to 500 intervals.
    method : str or Integrator
        ``auto`` (``dop853``, and under sampled laws what suits their intervals), ``dop853``, ``rk4``; for stiff
        machines ``radau``, ``rodas5p``, ``rodas4``, ``sdirk4``. An `Integrator` has options: a fixed step, the longest
        one, independent coordinates.
    rtol, atol : float, optional
        Error allowed per step, relative and absolute (rad, m, rad/s, m/s); see `Integrator`.
    stabilisation : {"projection", "all-at-once", "baumgarte", "none"} or Stabilisation
        Method that keeps the loops closed; a `Stabilisation` has options, such as Baumgarte's gains.
    formulation : Formulation, optional
        Formulation of the accelerations; defaults to Gauss' principle, see `acceleration`. All others run interpreted.
    switches : sequence of Engage, Release, Lock, Unlock or Contact, optional
        Switches of constraints during the run, by time, by a condition, or as the contacts push. The
        controller stays the same; it gets the terms of those that hold. See the guide on constraints that come and go.
    branch : int, array_like (nv,), mapping or callable, optional
        At singular configurations, which way to go on; defaults to the branch of the velocity. The index of one of
        ``singular_configuration(...).branches``, followed with the sign that the velocity has on it; a direction, with
        its own sign; a mapping from the number of a passage (0 is a start at a singular configuration) to one of these;
        or a function ``(configuration, t, v) -> choice`` with the `SingularConfiguration`, where None stays on the
        branch. The velocity turns without work: its kinetic energy stays. Goes with dop853 and verner65, and
        projection.
    events : sequence of Event, or of functions, optional
        Events that the run records: functions ``(t, q, v) -> float`` that cross zero. The times go to ``run.events()``
        under their names; a terminal one ends the run, with status EVENT.
    limits : {"hold", "warn", "stop", "ignore"}
        Meaning of joint limits. ``hold``: end stops, which push and never pull, and bounce by the `restitution` of
        the joint; each impact goes to ``run.events()``, its loss is part of the energy balance, and laws do not
        know that a stop holds; independent coordinates that are given by name go with ``warn``. ``warn``: each crossing
        goes to ``run.events()``, and each joint gives a `LimitWarning`; ``stop`` ends the run there, with status EVENT;
        ``ignore`` is silent.
    progress : bool or callable
        Show a progress bar, or call with the fraction that is done.
    loads : mapping of str to (number, array_like, callable or (times, values)), optional
        Forces and moments in place of those of the plant, N and N m, by the name of a `Load` (a force (3,), or force
        and moment (6,)) or of a component: a number, a function of time, or points between which they change linearly.
        The law does not know them, except those in `told`: it gets the equations of motion of the plant as it is given.
    motions : mapping of str to (number, array_like, callable or (position, velocity, acceleration)), optional
        Functions of time or numbers for prescribed motions, by the name of a `JointMotion` (or distance, point, frame)
        or of a component: a function of time that returns a position, which is differentiated, or position, velocity
        and acceleration, as references do; a position, at which it stands; or position, velocity and acceleration at
        time zero, from where it goes on with constant acceleration. The start has to fit; without v0 the machine is set
        in motion from rest, by the impulse that gives it the velocity of the motions. The law knows them.
    told : bool or sequence of str
        Loads, or components of them, that the law knows at all times, as if measured; True is all of `loads`.
    friction : {"smooth", "exact"}
        Friction of force elements (`JointForce`, `PointForce`) with a `Friction`. ``smooth``: as they are, with a
        transition rate. ``exact``: they stick until static friction is exceeded, and slide until they stop; events
        ``sticks <name>`` and ``slides <name>`` show this, and the multiplier of ``<name>_sticking`` is the friction
        that holds. The law knows them as they are. Contacts with friction are exact in both cases.
    impacts : {"simultaneous", "sequential"}
        Sharing of an impact among contacts that touch, which rigid bodies leave open.
        ``simultaneous``: all at once, each by its own restitution (Moreau). ``sequential``: one after the other, each
        time the one that closes fastest, until none closes faster than its `rest_speed`; what is left is struck at
        once. An event ``struck at once <names>`` or ``struck in turn <names>`` shows that there was a choice.

    Returns
    -------
    run : Simulation

    Raises
    ------
    SimulationError
        If the run cannot go on, or a function of the user fails; it names time and state, and carries the part that
        was computed as ``partial``, which is None before the first step.
    Interrupted
        After Ctrl-C, a `KeyboardInterrupt`: the step under way is finished, and ``partial`` is what was computed. A
        second Ctrl-C ends that at once.
    EventError
        If an event fails before the first step; later ones come as `SimulationError`.
    ValueError
        If the start does not fit the plant, a sample time is longer than the run, or independent coordinates are
        dependent there (`ParametrizationError`).
    TypeError
        If options do not go together.

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.five_bar()
    >>> run = simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.5)
    >>> run.max_drift < 1e-12 and run.max_energy_error < 1e-8
    True
    """
    _check.plant(plant)
    begin = clock.perf_counter(), compile_time()
    acting = Acting(plant, loads, motions, told)
    law = as_controller(controller, acting.told)
    plant = acting.plant
    integrator, limits = Integrator.of(method, rtol, atol), _check.option(limits, LIMITS, "limits")
    if limits == "hold" and integrator.coordinates is not None:  # a stop that holds would make them dependent
        limits = "warn"
    exact = _check.option(friction, ("smooth", "exact"), "friction") == "exact"
    turns = _check.option(impacts, IMPACTS, "impacts") == "sequential"
    modes = ConstraintModes(plant, listed_switches(switches), limits == "hold", exact, turns)
    acting.modes = modes if modes.hidden else None
    if modes.changing and q0 is not None:
        plant = modes.start(configuration_of(plant, q0))
    kept = Stabilisation.of(stabilisation)
    t_end = _check.positive(t_end, "t_end")
    terms = start_state(plant, q0, v0, kept.metric, t_end)
    modes.require_within(terms.q)
    terms = check_start(plant, terms, t_end, branch is not None)
    q0, v0 = terms.q, terms.v
    passing = integrator.passes and kept.kind == "projection"
    selector = BranchSelector(branch, passing, f"{integrator.name!r} with {kept.kind!r}")
    times = _output_times(output_times, t_end)
    if formulation is not None:
        _check.instance(formulation, Formulation, "formulation", "such as NamedFormulation of cmbcontrol.papers")
    named = None if isinstance(formulation, Gauss) else formulation
    _require_fitting(integrator, kept, named)
    if modes.changing and integrator.coordinates is not None:
        raise InputTypeError(
            "switches= change the constraints, and with them which coordinates are independent; leave them out"
        )
    if acting.moving:
        _require_free_of(branch, kept)
    if acting.changing and integrator.local:
        raise InputTypeError(
            "loads and motions that change in time go with methods in all coordinates, and not with "
            f"{integrator.name!r}; give numbers, or another method"
        )
    _require_in_time(law, t_end)
    local = named is None and _projects_alone(kept) and not acting.changing and isinstance(plant, Mechanism)
    where_stiff = integrator.where_stiff() if integrator.ladder and local else None
    integrator = integrator.under(law)
    tolerance = RANK_TOLERANCE if formulation is None else formulation.rank_tolerance or RANK_TOLERANCE
    options = options_of(plant, terms, kept, integrator, t_end, tolerance)
    control = Control(plant, law, after(times, t_end), acting)
    recorder = EventRecorder(plant, listed_events(events), limits, t_end)
    recorder.begin(0.0, np.concatenate([q0, v0]))
    start = modes.near(q0, v0)  # with the contacts that touch
    if start is not plant:
        terms = start.terms(q0, v0)
    try:
        u0 = control.first(terms.copied())  # a law that does not fit fails here, with its own message
    except LawFailed as failed:
        raise not_begun(plant, law, failed) from failed.__cause__
    if named is not None:
        named.acceleration(terms, terms.B @ u0)  # so does a formulation
    loaded = terms if start is plant else terms.without_friction()  # of contacts: which of them slide is not known yet
    first = integrator.step or first_step(start, loaded, u0, options)
    let_through()
    run = Run(
        plant, control, options, integrator, t_end, options.max_steps, Reporter(progress, "simulating"), times, kept,
        named, recorder=recorder, acting=acting, where_stiff=where_stiff,
    )  # fmt: skip
    state = IntegratorState(0.0, np.concatenate([q0, v0, np.zeros(WORKS), control.integrated]), first)
    state.know(start, terms)
    settings = {
        "method": integrator.label, "rtol": integrator.rtol, "atol": integrator.atol, "stabilisation": kept.kind,
        "metric": kept.metric, "pass_within": 0.0 if integrator.local else integrator.pass_within,
        "energy_projection": int(kept.energy), "project_every": kept.every,
        "formulation": "gauss" if named is None else named.name, "rank_tolerance": options.tolerance,
        "baumgarte": "adaptive" if kept.adaptive else list(kept.gains),
    }  # fmt: skip
    if named is not None:
        settings |= {name: value for name, value in vars(named).items() if isinstance(value, (str, float))}
    if integrator.local:
        settings["parametrization"] = type(integrator.independent()).__name__
    always = modes.mode(frozenset())  # without what comes and goes
    if warn_if_immobile(always, terms if always is plant else always.terms(q0, v0), stacklevel=3):
        settings["immobile"] = 1
    history, simulation = RunHistory(), None
    try:
        _go(run, state, modes, selector, history)
        parts = history.parts
        control.warn((part.steps.why_python for part in parts), stacklevel=3)  # as below
        simulation = output.assemble_result(
            modes.shown(part.run.plant for part in parts),
            parts,
            times,
            settings,
            begin,
            [*history.events, *recorder.recorded],
        )
        let_through()
    except KeyboardInterrupt as error:
        rest = "None of it is kept." if simulation is None else "It is in the attribute partial."
        raise Interrupted(f"the output of the run of {plant.name!r} was interrupted. {rest}", simulation) from error
    recorder.warn(stacklevel=3)  # 1 is here, 2 what names interrupts, 3 the caller
    if parts[-1].steps.status not in (Status.COMPLETED, Status.EVENT):
        _raise(plant, parts[-1].steps, simulation)
    return simulation


def _go(
    run: Run, state: IntegratorState, modes: ConstraintModes, selector: BranchSelector, history: RunHistory
) -> None:
    """Run as far as it goes; exceptions at a start that does not fit the plant go to the caller."""
    try:
        with run.report:
            run_in_parts(run, state, modes, selector, history)
            let_through()
    except (Exception, KeyboardInterrupt) as error:
        parts = history.parts
        if parts and (state.taken or isinstance(error, (LawFailed, SwitchingError, KeyboardInterrupt))):
            parts[-1].steps.ended_by(error)
        elif isinstance(error, LawFailed) and is_of_user(error.__cause__):  # type: ignore[arg-type]
            raise not_begun(run.plant, run.control.law, error) from error.__cause__
        elif isinstance(error, LawFailed):
            raise error.__cause__ from None  # type: ignore[misc]
        else:
            raise


def _require_fitting(integrator: Integrator, kept: Stabilisation, formulation: Formulation | None) -> None:
    """Raise an error for method, stabilisation and formulation that do not go together."""
    if integrator.multistep:
        if kept.projects:
            raise InputTypeError(
                f"method {integrator.name!r} builds on past states, which a projection would contradict: it takes "
                "stabilisation 'baumgarte' or 'none'"
            )
        if kept.kind == "baumgarte" and kept.adaptive:
            raise InputTypeError(
                f"method {integrator.name!r} builds on past rates, so Baumgarte's gains cannot follow from the step; "
                "give gains=(alpha, beta)"
            )
    if integrator.local and formulation is not None:
        raise InputTypeError(
            f"method {integrator.name!r} integrates the local state-space form, which is a formulation itself: "
            "formulation= goes with methods in all coordinates"
        )
    if integrator.local and not _projects_alone(kept):
        raise InputTypeError(
            f"method {integrator.name!r} stays on the manifold by itself: stabilisation= goes with methods in all "
            "coordinates"
        )


def _projects_alone(kept: Stabilisation) -> bool:
    """Whether the stabilisation is plain projection, as states in independent coordinates need no other."""
    return kept == Stabilisation(metric=kept.metric, gains=kept.gains)


def _require_free_of(branch: Any, kept: Stabilisation) -> None:
    """Raise an error for options that do not go with prescribed motions."""
    if branch is not None:
        raise InputTypeError(
            "branch= turns the velocity at singular configurations, and prescribed motions give it: leave one of them "
            "out"
        )
    if kept.energy:
        raise InputTypeError(
            "a Stabilisation with energy=True scales the velocity, and prescribed motions give it: leave energy= out"
        )


def _require_in_time(law: Controller, t_end: float) -> None:
    """Raise an error for a sample time or a delay longer than the run: it was probably not meant in seconds."""
    if law.period is not None and law.period > t_end:
        raise InputError(
            f"the period of {law.name}, {law.period:g} s, is longer than the run, {t_end:g} s; a period is a time in "
            "seconds, and no rate in Hz"
        )
    delay = 0.0 if law.delay is None else float(np.max(law.delay, initial=0.0))
    if delay > t_end:
        raise InputError(
            f"the delay of {law.name}, {delay:g} s, is longer than the run, {t_end:g} s; a delay is in seconds"
        )


def _output_times(given: ArrayLike | float | None, t_end: float) -> Array:
    """Output times, from a spacing, an array or the default."""
    if given is None:
        return np.linspace(0.0, t_end, 501)
    if _check.single(given):
        spacing = _check.positive(given, "the spacing of output_times")
        if spacing > t_end:
            raise InputError(
                f"output_times as a number is their spacing, and {spacing:g} s is longer than the run, {t_end:g} s; "
                "for so many times give np.linspace(0, t_end, count)"
            )
        return np.append(np.arange(0.0, t_end * (1.0 - 1e-12), spacing), t_end)
    grid = _check.numbers(given, "output_times")
    grid = _check.vector(grid, grid.size, "output_times")
    if grid.size == 0 or np.any(np.diff(grid) <= 0.0) or grid[0] < 0.0 or grid[-1] > t_end * (1.0 + 1e-12):
        raise InputError(
            f"output_times must increase within [0, {t_end}] s, got {grid.size} times from {grid[:1]} to {grid[-1:]}"
        )
    return np.minimum(grid, t_end)


def _raise(plant: Plant, record: Record, simulation: Simulation) -> None:
    """Raise the error of a run that ended early, with the place where it ended and the part that was computed."""
    t, x = record.end
    if record.status == Status.INTERRUPTED:
        raise Interrupted(
            f"the run of {plant.name!r} was interrupted {when(t)}. What was computed so far is in the attribute "
            "partial.",
            simulation,
        ) from record.error
    why = why_ended(plant, record, runaway(plant, simulation))
    simulation.explain(why)
    raise SimulationError(
        f"the run of {plant.name!r} ended {ended(plant, t, x, why)} What was computed so far is in the error's "
        "attribute partial.",
        simulation,
    ) from record.error
