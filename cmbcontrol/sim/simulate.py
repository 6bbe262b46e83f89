"""Closed-loop simulation."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._interrupt import held, let_through
from .._progress import Progress, Reporter
from ..controllers.protocol import as_controller
from ..controllers.with_model import WithModel
from ..dynamics.formulations import Formulation
from ..errors import (
    Interrupted,
    SimulationError,
    Status,
    SwitchingError,
)
from ..linear.parametrization import Parametrization, as_parametrization
from ..model.plant import Plant
from ..model.terms import RANK_TOLERANCE
from . import output
from .control import Control, LawFailed, after
from .ending import where, why_ended
from .events import LIMITS, Event, Observers, listed_events
from .integrators import LADDER, LOCAL_METHODS, METHODS, MULTISTEP
from .result import Simulation
from .run import Record, Run, Standing
from .runaway import runaway
from .stabilisation import Stabilisation
from .start import check_start, first_step, options_of, start_state
from .steering import Steering
from .switching import Contact, Switch
from .switching_run import Course, Loops, run_in_parts

__all__ = ["simulate"]

Array = NDArray[np.float64]
_FIXED = ("rk4", "sdirk4", "rodas4", "rodas5p")  # methods that may have a fixed step


def _with_interrupts_named(function: Callable[..., Simulation]) -> Callable[..., Simulation]:
    """Ctrl-C before the first step, too, is one that says whose it is."""

    @wraps(function)
    def named(*arguments: Any, **options: Any) -> Simulation:
        try:
            return function(*arguments, **options)
        except Interrupted:
            raise
        except KeyboardInterrupt as error:
            raise Interrupted("the run was interrupted before its first step") from error

    return named


@_with_interrupts_named
def simulate(
    plant: Plant,
    controller: Any = None,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    t_end: float,
    output_times: ArrayLike | float | None = None,
    method: str = "auto",
    formulation: str | Formulation = "gauss",
    pseudoinverse: str | None = None,
    rank_tolerance: float | None = None,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float = np.inf,
    max_steps: int = 1_000_000,
    stabilisation: str = "projection",
    metric: str = "mass",
    energy: bool = False,
    project_every: int = 1,
    baumgarte: tuple[float, float] | str = (10.0, 10.0),
    pass_within: float = 1e-4,
    parametrization: str | Parametrization | None = None,
    coordinates: Sequence[str] | ArrayLike | None = None,
    model: Plant | None = None,
    switches: Sequence[Switch | Contact] = (),
    branch: Any = None,
    events: Sequence[Event | Callable] = (),
    limits: str = "warn",
    progress: Progress = False,
) -> Simulation:
    """Simulate a plant with a controller.

    Parameters
    ----------
    plant : Plant
    controller : optional
        A `Controller` (continuous, or sampled if it has a period), numbers for constant motor
        efforts (nu,), or None for none. Without a Python law in the loop, it runs compiled.
    q0, v0 : array_like
        Start; the loops must be closed (see ``plant.assemble``). v0 is zero unless given.
    t_end : float
        s, from 0.
    output_times : array_like or float, optional
        Times of the output, or their spacing, s; 500 intervals unless given.
    method : str
        ``auto`` is ``dop853``; under a sampled law, each held interval takes the one of three methods, of order 4, 5
        and 8, that needs the fewest evaluations. The run says which in its attribute ``method``.

        In all coordinates, with projection after each step:

        - ``dop853``: explicit Runge-Kutta of order 8 with step control; passes singular configurations;
        - ``verner65``: Verner's explicit method of order 6 with step control (DVERK);
        - ``rk4``: the classical method of order 4 with a fixed `step`.

        In independent coordinates (the local state-space form, Spencer, eqs. 2.16 and 4.8), with closed loops by
        construction:

        - ``radau``: Radau IIA of order 5, implicit; the first choice for stiff machines;
        - ``rodas5p``, ``rodas4``: Rosenbrock methods of order 5 and 4, one exact Jacobian a step, no iteration;
        - ``sdirk4``: diagonally implicit Runge-Kutta of order 4;
        - ``local-dop853``: the explicit method, for comparison.

        scipy's, in all coordinates, for comparison: ``scipy-rk45``, ``scipy-dop853``, ``scipy-radau`` with projection;
        ``scipy-bdf``, ``scipy-lsoda``, ``vode-adams``, ``vode-gear`` are multistep methods, whose memory of past states
        a projection would contradict: they take ``stabilisation="baumgarte"`` or ``"none"``.
    formulation : str or Formulation
        Of the accelerations, see `acceleration`; all but ``"gauss"`` run interpreted.
    pseudoinverse : str, optional
        Of a formulation that takes one, see `pseudoinverse`.
    rank_tolerance : float, optional
        Rows of which less than this part of the largest is left count as redundant; 1e-10 unless given.
    step : float, optional
        Fixed step, s: needed for ``rk4``, possible for ``sdirk4``, ``rodas4`` and ``rodas5p``.
    rtol, atol : float, optional
        Error allowed a step, relative and absolute (rad, m, rad/s, m/s); 1e-11 unless given, 1e-8 with ``auto`` under
        a sampled law with noise or steps in its signals (``rough``), and 1e-7 for implicit methods with step control.
    max_step, max_steps : float, int
    stabilisation : {"projection", "all-at-once", "baumgarte", "none"}
        ``projection``: bring first position, then velocity back onto the loops after each step. ``all-at-once``:
        bring position, velocity and energy back together (Spencer, 3.1.3). ``baumgarte``: add 2 alpha phi' + beta^2
        phi to the constraint ((3.8) there). ``none``: let the loops drift open.
    metric : {"mass", "euclidean"}
        Metric of the projection.
    energy : bool
        Scale the velocity to the energy balance after each projection, too.
    project_every : int
        Steps from one projection to the next (Aghili's loop (39) "once every few time steps").
    baumgarte : (float, float) or "adaptive"
        alpha and beta, 1/s; or 1/h and sqrt(2)/h, with the step h.
    pass_within : float
        Motion that comes this near to a singular configuration (as a fraction of the regular constraint
        gradient) passes straight through it; 0 never does. See the guide on singular configurations. Local coordinates
        end at singular configurations: the methods in them stop there with an error.
    parametrization : {"tangent", "partitioning"} or Parametrization, optional
        Independent coordinates of the methods in the local state-space form; tangent space unless given.
    coordinates : sequence of str, or array_like, shape (dof, nv), optional
        The same by name, or as a matrix R.
    model : Plant, optional
        What the controller takes the plant for, with the same coordinates and motors; the plant itself unless given.
        Short for a controller ``WithModel(model, controller)``.
    switches : sequence of Engage, Release, Lock, Unlock or Contact, optional
        What switches loops on and off during the run, by time, by a condition, or as the contacts push. The controller
        stays the same; it gets the terms of the loops that hold. See the guide on constraints that come and go.
    branch : int, array_like (nv,), mapping or callable, optional
        At singular configurations, which way to go on; unless given, on the branch of the velocity. The index of one of
        ``singular_configuration(...).branches``, ahead in the sense of the velocity; a direction, in its own sense; a
        mapping from the number of a passage (0 is a start at a singular configuration) to one of these; or a function
        ``(pose, t, v) -> choice`` with the `SingularConfiguration`, where None stays on the branch. The velocity turns
        without work: its kinetic energy stays. Goes with dop853 and verner65, and projection.
    events : sequence of Event, or of functions, optional
        What the run looks out for: functions ``(t, q, v) -> float`` that cross zero. The times go to ``run.events()``
        under their names; a terminal one ends the run, with status EVENT.
    limits : {"warn", "stop", "ignore"}
        Joints that pass one of their limits: each crossing goes to ``run.events()``, and each joint gives a
        `LimitWarning`; ``stop`` ends the run there, with status EVENT; ``ignore`` says nothing.
    progress : bool or callable
        Show a progress bar, or call with the fraction that is done.

    Returns
    -------
    run : Simulation

    Raises
    ------
    SimulationError
        Where the run cannot go on, or a function of the user fails; it names time and state, and carries the part that
        was computed as ``partial``.
    Interrupted
        After Ctrl-C, a `KeyboardInterrupt`: the step under way is finished, and ``partial`` is what was computed. A
        second Ctrl-C ends that at once.
    EventError
        Where an event fails before the first step; later ones come as `SimulationError`.
    ValueError
        Where the start does not fit the plant, or independent coordinates are dependent there (`ParametrizationError`).
    TypeError
        Where an option says nothing about the method.

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.five_bar()
    >>> run = simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.5)
    >>> run.max_drift < 1e-12 and run.max_energy_error < 1e-8
    True
    """
    _check.plant(plant)
    begin = clock.perf_counter()
    loops = Loops(plant, _listed(switches))
    if loops.changing and q0 is not None:
        plant = loops.start(_check.vector(q0, plant.nq, "q0", plant.position_names))
    kept = Stabilisation.of(stabilisation, metric, energy, project_every, baumgarte)
    q0, v0 = start_state(plant, q0, v0, metric)
    check_start(plant, q0, v0)
    steering = Steering(branch, method, stabilisation)
    t_end = _check.positive(t_end, "t_end")
    times = _output_times(output_times, t_end)
    _check.one_of(method, METHODS, "method")
    named = _formulation(formulation, pseudoinverse, rank_tolerance)
    _require_fitting(method, step, kept, named, parametrization, coordinates)
    if loops.changing and coordinates is not None:
        raise TypeError("switches= change the loops, and with them which coordinates are independent; leave them out")
    law = as_controller(controller, plant) if model is None else WithModel(model, controller)
    rough = method == "auto" and bool(getattr(law, "rough", False))
    if method == "auto" and getattr(law, "period", None) is None:
        method = "dop853"
    rtol, atol = (_tolerance(method, step, rough, x, name) for x, name in ((rtol, "rtol"), (atol, "atol")))
    longest = _check.positive(max_step, "max_step", infinite=True) if step is None else _check.positive(step, "step")
    options = options_of(
        plant, q0, kept, rtol, atol, t_end,
        tolerance=_rank_tolerance(formulation, rank_tolerance),
        max_step=longest,
        max_steps=_check.count(max_steps, "max_steps"),
        pass_within=_check.positive(pass_within, "pass_within", zero=True),
    )  # fmt: skip
    control = Control(plant, law, after(times, t_end))
    observers = Observers(plant, listed_events(events), _check.one_of(limits, LIMITS, "limits"), t_end)
    observers.begin(0.0, np.concatenate([q0, v0]))
    asked = loops.near(q0)
    terms = asked.terms(q0, v0)
    u0 = control.first(terms.copied())  # a law that does not fit fails here, with its own message
    if named is not None:
        named.acceleration(terms, terms.B @ u0)  # so does a formulation
    first = step if step is not None else first_step(asked, q0, v0, u0, options)
    chosen = as_parametrization(parametrization, coordinates) if method in LOCAL_METHODS else None
    run = Run(
        plant,
        control,
        options,
        method,
        t_end,
        options.max_steps,
        Reporter(progress, "simulating"),
        times,
        chosen,
        step is not None,
        kept,
        named,
        observers=observers,
    )
    now = Standing(0.0, np.concatenate([q0, v0, np.zeros(2), control.integrated]), first)
    settings = {
        "method": f"auto ({', '.join(LADDER)})" if method == "auto" else method,
        "rtol": rtol, "atol": atol, "stabilisation": stabilisation, "metric": metric,
        "pass_within": pass_within, "energy_projection": int(kept.energy), "project_every": kept.every,
        "formulation": "gauss" if named is None else named.name,
        "pseudoinverse": "" if named is None else _label(named.pseudoinverse), "rank_tolerance": options.tolerance,
        "baumgarte": "adaptive" if kept.gains is None else list(kept.gains),
    }  # fmt: skip
    if chosen is not None:
        settings |= {"parametrization": type(chosen).__name__, "pass_within": 0.0}
    course, simulation = Course(), None
    try:
        with held():
            _go(run, now, loops, steering, course)
            parts = course.parts
            simulation = output.assemble_result(
                loops.whole, parts, times, settings, begin, [*course.events, *observers.found]
            )
    except KeyboardInterrupt as error:
        kept = "None of it is kept." if simulation is None else "It is in the attribute partial."
        raise Interrupted(f"the output of the run of {plant.name!r} was interrupted. {kept}", simulation) from error
    observers.warn(stacklevel=3)  # 1 is here, 2 what names interrupts, 3 the caller
    if parts[-1].steps.status not in (Status.COMPLETED, Status.EVENT):
        _raise(plant, parts[-1].steps, simulation)
    return simulation


def _go(run: Run, now: Standing, loops: Loops, steering: Steering, course: Course) -> None:
    """Run as far as it goes; what is raised at a start that does not fit the plant goes to the caller."""
    try:
        with run.report:
            run_in_parts(run, now, loops, steering, course)
            let_through()
    except (Exception, KeyboardInterrupt) as error:
        parts = course.parts
        if parts and (now.taken or isinstance(error, (LawFailed, SwitchingError, KeyboardInterrupt))):
            parts[-1].steps.ended_by(error)
        elif isinstance(error, LawFailed):
            raise error.__cause__ from None  # type: ignore[misc]
        else:
            raise


def _listed(switches: Any) -> list[Switch | Contact]:
    """The switches, one or several, as a list."""
    return (
        [switches]
        if isinstance(switches, (Switch, Contact))
        else list(_check.sequence(switches, "switches", "Lock(...), Contact(...) and so on"))
    )


def _formulation(given: str | Formulation, pseudoinverse: str | None, tolerance: float | None) -> Formulation | None:
    """A formulation by name; None for Gauss' principle, which the kernels know."""
    if isinstance(given, Formulation):
        if pseudoinverse is not None or tolerance is not None:
            raise TypeError("a Formulation has its pseudoinverse and rank_tolerance itself; leave them out")
        return None if given.name == "gauss" else given
    if given == "gauss" and pseudoinverse is None:
        return None
    return Formulation(given, pseudoinverse=pseudoinverse, rank_tolerance=tolerance)


def _rank_tolerance(formulation: str | Formulation, given: float | None) -> float:
    """Of projections, and of Gauss' principle."""
    if given is None and isinstance(formulation, Formulation):
        given = formulation.rank_tolerance
    return RANK_TOLERANCE if given is None else _check.positive(given, "rank_tolerance")


def _label(pseudoinverse: Any) -> str:
    """What the result calls a pseudoinverse."""
    if pseudoinverse is None or isinstance(pseudoinverse, str):
        return pseudoinverse or ""
    return getattr(pseudoinverse, "__name__", type(pseudoinverse).__name__)


def _require_fitting(
    method: str, step: Any, kept: Stabilisation, formulation: Formulation | None, parametrization, coordinates
) -> None:
    """Refuse options that say nothing about a method."""
    if method == "rk4" and step is None:
        raise TypeError("method='rk4' needs step= (s); the other methods choose their step themselves")
    if step is not None and method not in _FIXED:
        raise TypeError(f"method={method!r} chooses its step itself; a fixed step= (s) goes with " + ", ".join(_FIXED))
    if method in MULTISTEP:
        if kept.projects:
            raise TypeError(
                f"method={method!r} builds on past states, which a projection would contradict: it takes "
                "stabilisation='baumgarte' or 'none'"
            )
        if kept.kind == "baumgarte" and kept.gains is None:
            raise TypeError(
                f"method={method!r} builds on past rates, so Baumgarte's gains cannot follow from the step; give "
                "baumgarte=(alpha, beta)"
            )
    if method not in LOCAL_METHODS:
        if parametrization is not None or coordinates is not None:
            raise TypeError(
                f"method={method!r} integrates all coordinates; parametrization= and coordinates= go with "
                + ", ".join(LOCAL_METHODS)
            )
    elif formulation is not None:
        raise TypeError(
            f"method={method!r} integrates the local state-space form, which is a formulation itself: formulation= and "
            "pseudoinverse= go with methods in all coordinates"
        )
    elif kept != Stabilisation(metric=kept.metric, gains=kept.gains):
        raise TypeError(
            f"method={method!r} stays on the manifold by itself: stabilisation=, energy= and project_every= go with "
            "methods in all coordinates"
        )


def _tolerance(method: str, step: float | None, rough: bool, given: float | None, what: str) -> float:
    """A tolerance, or what goes with the method."""
    if given is not None:
        return _check.positive(given, what)
    if rough:
        return 1e-8
    return 1e-7 if step is None and method in LOCAL_METHODS and method != "local-dop853" else 1e-11


def _output_times(given: ArrayLike | float | None, t_end: float) -> Array:
    """The output grid."""
    if given is None:
        return np.linspace(0.0, t_end, 501)
    if _check.single(given):
        spacing = _check.positive(given, "the spacing of output_times")  # type: ignore[arg-type]
        return np.append(np.arange(0.0, t_end * (1.0 - 1e-12), spacing), t_end)
    grid = _check.numbers(given, "output_times")
    grid = _check.vector(grid, grid.size, "output_times")
    if grid.size == 0 or np.any(np.diff(grid) <= 0.0) or grid[0] < 0.0 or grid[-1] > t_end * (1.0 + 1e-12):
        raise ValueError(
            f"output_times must increase within [0, {t_end}] s, got {grid.size} times from {grid[:1]} to {grid[-1:]}"
        )
    return np.minimum(grid, t_end)


def _raise(plant: Plant, record: Record, simulation: Simulation) -> None:
    """Say where the run ended, and hand over what there is."""
    t, x = record.end
    if record.status == Status.INTERRUPTED:
        raise Interrupted(
            f"the run of {plant.name!r} was interrupted at t = {t:.9g} s. What was computed so far is in the attribute "
            "partial.",
            simulation,
        ) from record.error
    why = why_ended(plant, record, runaway(plant, simulation))
    raise SimulationError(
        f"the run of {plant.name!r} ended {where(plant, t, x)}. {why} What was computed so far is in the error's "
        "attribute partial.",
        simulation,
    ) from record.error
