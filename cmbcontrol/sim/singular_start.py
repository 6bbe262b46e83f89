"""First step of a run from a singular configuration, or from beside one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._tolerance import BLURRED
from ..dynamics.nearest_singular import nearest_singular_configuration
from ..dynamics.singular import SingularConfiguration, moves, singular_configuration
from ..errors import AssemblyError, SingularConfigurationError, Status, SwitchingError
from ..kernels import motion, passages
from ..kernels.layout import WORKS
from ..model.plant import Plant
from ..model.terms import Terms
from .branch_selection import BranchSelector
from .collocation import AWAY, KNOWN, UNKNOWN, Collocation, collocated
from .engine import Engine
from .path import NODES, coefficients
from .path import path as path_of
from .run import IntegratorState, Record, Run
from .start import leads_on

__all__ = ["step_from_singular"]

Array = NDArray[np.float64]

_DEFECT = 1e-10  # of that step, times its length
# Most of it from rest at the tip of a cone of directions, where nothing else leads on; and how far from the
# configuration, in radians or sizes, the step ends at least: on the cone a node is told to rounding over the square of
# that.
_DEFECT_AT_SINGULAR, _OFF = 1e-7, 1e-5
_ORDER = 5  # of the defect in the length
# closeness below which the configuration tells the acceleration from rest: gradients are turned by 1e-16 / closeness^2,
# 0.1 here
_BESIDE = 3e-8
_BADLY = 1e-5  # of a velocity: what rounding over the smallest distance with full rank may have turned it by
# Most of the defect that the rate of a configuration leaves for a start beside it, over the closeness: 600 was measured
# on the five-bar. No more of it is taken than a shorter step cannot avoid.
_BESIDE_IT = 2000.0
# Defect that rounding at the start leaves, times the closeness: of a velocity that is projected on gradients turned by
# it, and of the position alone, whose weight falls with the square of the step.
_BLUR, _BLUR_AT_REST = 2e-15, 2e-17
# radians or sizes from a singular configuration, below which rounding hides the branch of a start
_DIGITS = 1e-12


def step_from_singular(
    run: Run, record: Record, state: IntegratorState, until: float, selector: BranchSelector
) -> None:
    """Take the first step from a singular configuration, or from beside one, by collocation along the branch.

    At the configuration, the acceleration is that of the branch (`SingularConfiguration.acceleration`). Beside it, at a
    distance d, the loops are closed to rounding over d, which turns their gradients by rounding over d^2: the
    acceleration there is noise, while the motion is smooth. So it is not asked for: all nodes are some hundredths of a
    radian away. A motion that is not smooth, since it misses the configuration, has a defect; it is left to ordinary
    steps.
    """
    plant, state.stopped = run.plant, False
    nq, n = plant.nq, plant.nq + plant.nv
    q, v = state.x[:nq].copy(), state.x[nq:n].copy()
    terms = state.terms(run)
    closeness = motion.closeness(terms.pivots, run.options)
    if closeness >= passages.CROSS_FROM:
        return
    control = run.control
    if control.next <= state.t:
        control.refresh(state.t, lambda: plant.terms(q, v, state.t), state.x[n + WORKS :])
    engine = Engine(run, state)
    first = _start_of_step(run, engine, state, terms, closeness, selector)
    if first is None:
        return
    start, nodes = first
    length = plant.displacement_scale
    speed, rise = (float(np.abs(x / length).max()) for x in (v, start[nq:n]))
    if not leads_on(plant, v, run.t_end, start[nq:n]):
        return
    # speed h + rise h^2 / 2 = AWAY
    h = min(2.0 * AWAY / (speed + np.sqrt(speed**2 + 2.0 * rise * AWAY)), min(until, control.next) - state.t)
    allowed = _DEFECT + (_BESIDE_IT * closeness if nodes is KNOWN else 0.0)
    shortest, moving = 1e-5 * h, moves(plant, terms, v)
    if terms.rank == run.options.cap:
        allowed += (_BLUR if moving else _BLUR_AT_REST) / closeness
    most = allowed
    if stuck := terms.rank < run.options.cap and not moving and _on_a_cone(plant, q):
        most = max(allowed, _DEFECT_AT_SINGULAR)
    # where rounding is above what is asked for, the step is as long as its defect falls with its length
    best, path = np.inf, None
    while h > shortest and best > _DEFECT:
        defect, trial = collocated(engine, nodes, state.t, state.x, start, h, most)
        if path is not None and defect >= 0.5 * best:
            break
        if stuck and trial is not None and not _is_off(plant, q, trial.values[-1][:nq]):
            break
        if trial is not None:
            best, path = defect, trial
        h *= 0.5 ** np.clip(np.ceil(np.log2(max(defect / allowed, 1e-300)) / _ORDER), 1.0, 2.0)
    record.evaluations += engine.evaluations
    record.by_code += engine.by_code
    if path is not None:
        end, new, F = float(path.times[-1]), path.values[-1].copy(), path.F
        ends, X = np.array([state.t, end]), np.array([state.x, new])
        states = path_of(ends, F[None], X)
        stop = None if run.detector is None else run.detector.first_event(ends, X, states, engine.effort)
        state.stopped, stop = stop is not None, end if stop is None else stop
        if stop == state.t:
            return
        if run.recorder is not None:
            events = run.recorder.detect(np.array([state.t, stop]), states)
            run.recorder.accept(events)
            if events.stop < stop:  # the run ends within this step
                stop, state.stopped = events.stop, False
                record.status, record.where = Status.EVENT, events.why
        if stop < end:
            values = [states(state.t + s * (stop - state.t)) for s in NODES]
            end, new, F = stop, values[-1], coefficients(state.x, values)
        record.begin(state.t, state.x, plant.nu)
        record.append(np.array([state.t, end]), np.array([state.x, new]), F[None], control.command[None].copy())
        passages_met, state.previous_closeness = engine.search(state.t, state.x, F, end - state.t)
        record.passages += passages_met
        state.t, state.x, state.h = end, new, end - state.t
        state.taken += 1
    elif stuck:
        raise SingularConfigurationError(
            f"the motion from {_described(plant, q)} cannot be told accurately: every first step across this singular "
            "configuration is blurred by rounding. Start a little beside it, or with a velocity."
        )


def _on_a_cone(plant: Plant, q: Array) -> bool:
    """Whether a branch of a singular configuration is a cone of directions."""
    return not all(branch.linear for branch in singular_configuration(plant, q, tolerance=4.0 * BLURRED).branches)


def _is_off(plant: Plant, configuration: Array, q: Array) -> bool:
    """Whether q is far enough from a singular configuration to determine the direction to it."""
    return bool(np.abs(plant.difference(configuration, q) * plant.unit_lengths).max() > _OFF * plant.size)


def _described(plant: Plant, q: Array) -> str:
    """Text with a configuration."""
    return f"{plant.name} at {_check.values_by_name(plant.position_names, q)}"


def _start_of_step(
    run: Run, engine: Engine, state: IntegratorState, terms: Terms, closeness: float, selector: BranchSelector
) -> tuple[Array, Collocation] | None:
    """Rate at the start, known or a guess, and the nodes to use with it; None if there is no motion to start."""
    plant, is_singular = run.plant, terms.rank < run.options.cap
    nq, n = plant.nq, plant.nq + plant.nv
    q, v = state.x[:nq].copy(), state.x[nq:n].copy()
    rate, moving = engine.derivative(state.t, state.x), moves(plant, terms, v)
    configuration = (
        singular_configuration(plant, q, tolerance=4.0 * BLURRED) if is_singular or closeness < BLURRED else None
    )
    if configuration is not None and len(configuration.forms):
        pull = None
        if moving:
            v = v if is_singular else _on_branch(configuration, v)
            pull = _pull(run, configuration, v, state)
            state.x[nq:n] = v if pull is None else configuration.speed(v) / configuration.speed(pull) * pull
        singular_rate = _rate_at_singular(run, configuration, rate, state, selector, pull)
        if singular_rate is not None or not moving:
            return None if singular_rate is None else (singular_rate, KNOWN)
    elif is_singular:
        return None
    if moving:
        rate[nq:n] = 0.0  # straight on
    elif closeness < _BESIDE:
        guess = _rate_from_rest(run, engine, rate, state)
        return None if guess is None else (guess, UNKNOWN)
    return rate, UNKNOWN


def _on_branch(configuration: SingularConfiguration, v: Array) -> Array:
    """Velocity on the branch if it is within rounding of it, where small gradients have projected it badly."""
    try:
        projected = configuration.on_branch(v) * configuration.speed(v)
    except SingularConfigurationError:
        return v
    return projected if configuration.speed(v - projected) <= _BADLY * configuration.speed(v) else v


def _pull(run: Run, configuration: SingularConfiguration, v: Array, state: IntegratorState) -> Array | None:
    """Acceleration (nv,) from rest whose direction a slow velocity takes here at once, by the forces; else None.

    On a branch that is a cone of directions, a slow motion turns round the tip of the cone within v^2 over the
    acceleration. Where that distance is within rounding of zero, only its kinetic energy stays.
    """
    plant, zero = run.plant, np.zeros(run.plant.nv)
    try:
        branch = configuration.branch_of(v)
        if configuration.branches[branch].linear:
            return None
        terms = plant.terms(configuration.q, zero, state.t, cap=run.options.cap)
        f = terms.B @ run.control.effort(state.t, terms.copied(), state.x[plant.nq + plant.nv + WORKS :])
        a = configuration.acceleration(f, branch=branch)
    except SingularConfigurationError:
        return None
    length = plant.displacement_scale
    return a if np.abs(v / length).max() ** 2 < BLURRED * np.abs(a / length).max() else None


def _rate_at_singular(
    run: Run,
    configuration: SingularConfiguration,
    rate: Array,
    state: IntegratorState,
    selector: BranchSelector,
    pull: Array | None = None,
) -> Array | None:
    """Rate of the state on the branch, or under a pull; None where second-order terms do not determine it."""
    plant, control = run.plant, run.control
    nq, n = plant.nq, plant.nq + plant.nv
    v, c = state.x[nq:n].copy(), state.x[n + WORKS :]
    u = control.effort(state.t, plant.terms(configuration.q, v, state.t, cap=run.options.cap), c)
    branch = None
    if selector.active and not configuration.moves(v):
        choice = selector.choose(configuration, state.t, v)
        if choice is not None and np.ndim(choice):
            choice = configuration.branch_of(configuration.on_branch(choice))
        branch = choice
    rate = rate.copy()
    if pull is not None:
        rate[:nq], rate[nq:n] = plant.position_rate(state.x[:nq].copy(), state.x[nq:n].copy()), pull
        return rate
    try:
        rate[nq:n] = configuration.acceleration(plant.terms(configuration.q, v).B @ u, v, branch=branch)  # type: ignore[arg-type]
    except SingularConfigurationError:
        if selector.active:
            raise
        return None
    if branch is not None and not leads_on(plant, v, run.t_end, rate[nq:n]):
        raise SwitchingError(
            "branch= chooses a way at the singular start, but nothing moves there under the first efforts: start with "
            "a velocity along it, see singular_configuration(plant, q0).branches"
        )
    return rate


def _rate_from_rest(run: Run, engine: Engine, rate: Array, state: IntegratorState) -> Array | None:
    """Rate at rest beside a singular configuration: that of the configuration, on the branch of the start."""
    plant = run.plant
    nq, n = plant.nq, plant.nq + plant.nv
    q = state.x[:nq].copy()
    try:
        configuration = singular_configuration(plant, nearest_singular_configuration(plant, q, within=1e-3))
        away = plant.difference(configuration.q, q)
        branch = None
        if np.abs(away * plant.unit_lengths).max() > _DIGITS * plant.size:
            branch = configuration.branch_of(configuration.on_branch(away))
        at_singular = plant.terms(configuration.q, np.zeros(plant.nv), state.t, cap=run.options.cap)
        u = run.control.effort(state.t, at_singular.copied(), state.x[n + WORKS :])
        rate[nq:n] = configuration.acceleration(at_singular.B @ u, branch=branch)
    except (AssemblyError, SingularConfigurationError):
        return None
    return rate
