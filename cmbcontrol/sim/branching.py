"""Singular poses on the way: leaving them on a branch, and steering to another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import BLURRED, rank
from ..dynamics.singular import SingularPose, moves, nearest_singular_pose, regular_gradient, singular_pose
from ..errors import AssemblyError, ModelError, SingularPoseError, Status, SwitchingError
from ..kernels import motion, passages, runge_kutta
from ..model.plant import Plant
from ..model.terms import Terms
from .advance import advance
from .engine import Engine, NotFinite
from .path import NODES, coefficients
from .path import path as path_of
from .run import Met, Record, Run, Standing

__all__ = ["Steering", "advance_through", "check_start", "leave", "near_the_end"]

Array = NDArray[np.float64]
Choice = int | ArrayLike | None

_PASSING = ("auto", "dop853", "verner65")  # methods that pass singular poses
_APART = 1e-6  # s: nearer than this to the pose that was left, it is still the same
_AWAY = 0.03  # rad or sizes: how far the first step leads away from a singular pose
_DEFECT = 1e-10  # of that step, times its length
# Most of it from rest at the tip of a cone of directions, where nothing else leads on; and how far from the pose, in
# radians or sizes, the step ends at least: on the cone a node is told to rounding over the square of that.
_DEFECT_AT_POSE, _OFF = 1e-7, 1e-5
_ORDER = 5  # of the defect in the length
_DEPTH = 6  # images that are combined: as many directions as a node may be turned into
_HOPELESS = 12  # iterations after which changes that are still rough say that a step is too long
_ROUGH = 1e-4  # change from which on iterates tell the defect
# closeness below which the pose tells the acceleration from rest: gradients are turned by 1e-16 / closeness^2, 0.1 here
_BESIDE = 3e-8
_BADLY = 1e-5  # of a velocity: what rounding over the smallest distance with full rank may have turned it by
# Most of the defect that the rate of a pose leaves for a start beside it, over the closeness: 600 was measured on the
# five-bar. No more of it is taken than a shorter step cannot avoid.
_BESIDE_IT = 2000.0
# Defect that rounding at the start leaves, times the closeness: of a velocity that is projected on gradients turned by
# it, and of the position alone, whose weight falls with the square of the step.
_BLUR, _BLUR_AT_REST = 2e-15, 2e-17
_DIGITS = 1e-12  # radians or sizes from a pose, below which rounding hides on which branch a start is


class Steering:
    """What is done at singular poses.

    Parameters
    ----------
    branch : None, int, array_like (nv,), mapping or callable
        See `simulate`.
    method, stabilisation : str
        Of the run.

    Raises
    ------
    TypeError
        Where the run does not pass singular poses.
    """

    def __init__(self, branch: Any = None, method: str = "dop853", stabilisation: str = "projection") -> None:
        self.branch = branch
        self.passed = 0
        if branch is not None and (method not in _PASSING or stabilisation != "projection"):
            raise TypeError(
                f"branch= steers runs that pass singular poses: method= {' or '.join(_PASSING)} with "
                f"stabilisation='projection', not {method!r} with {stabilisation!r}"
            )
        if isinstance(branch, Mapping):
            for number in branch:
                if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 0:
                    raise ValueError(
                        f"branch= maps the number of a passage, 0 for the start, to a choice, got {number!r}"
                    )
        elif isinstance(branch, (bool, str)):
            raise TypeError(f"branch= takes a number, a direction, a mapping or a function, got {branch!r}")

    @property
    def active(self) -> bool:
        """Whether anything is steered at all."""
        return self.branch is not None

    def choose(self, pose: SingularPose, t: float, v: Array) -> Choice:
        """The choice at a passage."""
        if callable(self.branch):
            try:
                return self.branch(pose, t, v.copy())
            except Exception as error:
                raise SwitchingError(
                    f"branch= failed at the singular pose at t = {t:.9g} s: {type(error).__name__}: {error}"
                ) from error
        return self.branch.get(self.passed) if isinstance(self.branch, Mapping) else self.branch


def _turned(pose: SingularPose, v: Array, choice: Choice) -> Array:
    """The velocity on the chosen branch, with the same kinetic energy; on the branch of a number, ahead."""
    if choice is None:
        return v
    try:
        return pose.speed(v) * _direction(pose, v, choice)
    except (TypeError, ValueError) as error:
        raise SwitchingError(f"branch= chose what the singular pose does not have: {error}") from error


def _direction(pose: SingularPose, v: Array, choice: Choice) -> Array:
    if isinstance(choice, (int, np.integer)) and not isinstance(choice, bool):
        direction = pose.toward(int(choice), v)
        return direction if direction @ pose.M @ v >= 0.0 else -direction
    return pose.on_branch(_check.vector(choice, pose.plant.nv, "the direction", pose.plant.velocity_names))


def check_start(plant: Plant, q: Array, v: Array) -> None:
    """Refuse a start from which nothing moves, or with a velocity that no motion has.

    Raises
    ------
    SingularPoseError
    """
    rows = min(len(plant.row_names), plant.nv)
    if not rows:
        return
    terms = plant.terms(q, v)
    largest = max(float(terms.pivots[0]), 0.01 * regular_gradient(plant, q))
    if rank(terms.pivots, largest, BLURRED) == rows:
        return
    pose = singular_pose(plant, q, tolerance=4.0 * BLURRED)
    if not len(pose.forms):
        return
    if pose.moves(v):
        singular_pose(plant, q, v, tolerance=4.0 * BLURRED)
    elif pose.few and pose.locked:
        raise SingularPoseError(
            f"{pose} Nothing moves from here; the loads of such a pose need the stiffness of the parts."
        )
    elif pose.few and pose.complete and not any(branch.regular for branch in pose.branches):
        raise SingularPoseError(
            f"{pose} Part of the machine is locked, whatever the rest does: what holds it there is the stiffness of "
            "its parts, which is not modelled. Weld that part, and leave its loops out."
        )


def near_the_end(plant: Plant, q: Array) -> str:
    """The singular pose near which a run ended, in words; empty where there is none."""
    try:
        pose = singular_pose(plant, nearest_singular_pose(plant, q, within=1e-2))
    except (AssemblyError, ModelError, SingularPoseError, np.linalg.LinAlgError):
        return ""
    return f"A singular pose is near: {pose}" if pose.few else ""


# -- passages -----------------------------------------------------------------------------------------


def advance_through(run: Run, now: Standing, until: float, steering: Steering, records: list[Record]) -> None:
    """Move on as `advance` does, from singular poses on the branch of the velocity, or on the one that is chosen.

    Adds one record, or several, where the velocity is turned between them; what is raised leaves the last one as far
    as it came.
    """
    since = now.t
    while True:
        record = Record()
        records.append(record)
        if _passing(run):
            try:
                if steering.active and steering.passed == 0 and now.t == 0.0:
                    _turn_at_start(run, now, steering)
                leave(run, record, now, until, steering)
            except (SingularPoseError, SwitchingError) as error:
                record.status, record.error = Status.SINGULAR_POSE, error
            if record.status:
                return
        if not steering.active:
            advance(run, record, now, until)
            return
        advance(replace(run, meet_after=since + _APART), record, now, until)
        if now.met is None or record.status != Status.COMPLETED:
            return
        since = now.met.time
        try:
            _arrive(run, record, now, now.met, steering)
        except SingularPoseError:  # a near miss: nothing to choose
            continue
        except SwitchingError as error:
            record.status, record.error = Status.SWITCHING, error
            return
        if now.t >= until:
            return


def _passing(run: Run) -> bool:
    """Whether the method goes through singular poses."""
    return (
        run.parametrization is None
        and run.options.pass_within > 0.0
        and run.stabilisation.passes
        and run.method in _PASSING
    )


def _turn_at_start(run: Run, now: Standing, steering: Steering) -> None:
    """A start at a singular pose is passage number 0."""
    nq, n = run.plant.nq, run.plant.nq + run.plant.nv
    pose = singular_pose(run.plant, now.x[:nq], tolerance=4.0 * BLURRED)
    v = now.x[nq:n].copy()
    if len(pose.forms) and pose.moves(v):
        now.x = now.x.copy()
        now.x[nq:n] = _turned(pose, v, steering.choose(pose, 0.0, v))


def _arrive(run: Run, record: Record, now: Standing, met: Met, steering: Steering) -> None:
    """End the record exactly at the pose, by the part of the step that leads there; turn the velocity."""
    nq, n = run.plant.nq, run.plant.nq + run.plant.nv
    x = met.states[-1].copy()
    x[:nq] = nearest_singular_pose(run.plant, x[:nq])
    pose = singular_pose(run.plant, x[:nq])
    steering.passed += 1
    v = x[nq:n].copy()
    v = pose.on_branch(v) * pose.speed(v)  # a path is as exact as its steps
    x[nq:n] = v
    if met.time > now.t:
        F = coefficients(now.x, [*met.states[:-1], x])
        record.append(np.array([now.t, met.time]), np.array([now.x, x]), F[None], run.control.command[None])
        pivots = run.plant.terms(x[:nq], np.zeros(run.plant.nv)).pivots
        record.passages.append((met.time, float(motion.closeness(pivots, run.options))))
    now.h = max(met.ends[1] - met.ends[0], 1e-9 * run.t_end)
    now.t, now.x = met.time, x.copy()
    now.taken += 1
    now.x[nq:n] = _turned(pose, v, steering.choose(pose, now.t, v))


# -- leaving ------------------------------------------------------------------------------------------


class _Collocation:
    """Collocation at nodes c of a step, as fractions of it; the last is its end.

    Where the rate at the start is known, the start is the first node, and the others those of Lobatto's rule (Lobatto
    IIIA with 4 stages, order 6). Where it is not, the nodes keep away from the start, and its rate follows from theirs:
    then six are needed for the same order.
    """

    def __init__(self, c: Array) -> None:
        powers = np.arange(c.size)
        self.c = c
        self.inverse = np.linalg.inv(c[:, None] ** powers)
        self.A = (c[:, None] ** (powers + 1) / (powers + 1)) @ self.inverse
        k = int(np.argmax(np.diff(c)))
        self.between = 0.5 * (c[k] + c[k + 1])  # where the defect is looked at

    def at(self, s: float) -> Array:
        """Weights of the rates at the nodes for the rate at a fraction s of the step."""
        return s ** np.arange(self.c.size) @ self.inverse


_KNOWN = _Collocation(np.array([0.0, 0.5 - np.sqrt(0.05), 0.5 + np.sqrt(0.05), 1.0]))
_UNKNOWN = _Collocation(np.linspace(0.25, 1.0, 6))


def leave(run: Run, record: Record, now: Standing, until: float, steering: Steering) -> None:
    """From a singular pose, or from next to one, a first step of collocation along the branch.

    At the pose, the acceleration is that of the branch (`SingularPose.acceleration`). Beside it, at a distance d, the
    loops are closed to rounding over d, which turns their gradients by rounding over d^2: the acceleration there is
    noise, while the motion is smooth. So it is not asked for: all nodes are some hundredths of a radian away. A motion
    that is not smooth, since it misses the pose, has a defect; it is left to ordinary steps.
    """
    plant = run.plant
    nq, n = plant.nq, plant.nq + plant.nv
    q, v = now.x[:nq].copy(), now.x[nq:n].copy()
    terms = plant.terms(q, v, cap=run.options.cap)
    closeness = motion.closeness(terms.pivots, run.options)
    if closeness >= passages.CROSS_FROM:
        return
    control = run.control
    if control.next <= now.t:
        control.refresh(now.t, lambda: plant.terms(q, v, now.t), now.x[n + 2 :])
    engine = Engine(run, now)
    found = _start_of_step(run, engine, now, terms, closeness, steering)
    if found is None:
        return
    start, nodes = found
    length = plant.size / plant.reach
    speed, rise = (float(np.abs(x / length).max()) for x in (v, start[nq:n]))
    if not speed + rise > 0.0:
        return
    # speed h + rise h^2 / 2 = _AWAY
    h = min(2.0 * _AWAY / (speed + np.sqrt(speed**2 + 2.0 * rise * _AWAY)), min(until, control.next) - now.t)
    wanted = _DEFECT + (_BESIDE_IT * closeness if nodes is _KNOWN else 0.0)
    shortest, moving = 1e-5 * h, moves(plant, terms, v)
    if terms.rank == run.options.cap:
        wanted += (_BLUR if moving else _BLUR_AT_REST) / closeness
    most = wanted
    if stuck := terms.rank < run.options.cap and not moving and _on_a_cone(plant, q):
        most = max(wanted, _DEFECT_AT_POSE)
    # where rounding is above what is asked for, the step is as long as its defect falls with its length
    best, path = np.inf, None
    while h > shortest and best > _DEFECT:
        defect, found = _collocated(engine, nodes, now.t, now.x, start, h, most)
        if path is not None and defect >= 0.5 * best:
            break
        if stuck and found is not None and not _is_off(plant, q, found.values[-1][:nq]):
            break
        if found is not None:
            best, path = defect, found
        h *= 0.5 ** np.clip(np.ceil(np.log2(max(defect / wanted, 1e-300)) / _ORDER), 1.0, 2.0)
    record.evaluations += engine.evaluations
    if path is not None:
        end, new, F = float(path.times[-1]), path.values[-1].copy(), path.F
        if run.observers is not None:
            ends = np.array([now.t, end])
            states = path_of(ends, F[None], np.array([now.x, new]))
            seen = run.observers.look(ends, states)
            run.observers.keep(seen)
            if seen.stop < end:  # the run ends within this step
                values = [states(now.t + s * (seen.stop - now.t)) for s in NODES]
                end, new, F = seen.stop, values[-1], coefficients(now.x, values)
                record.status, record.where = Status.EVENT, seen.why
        record.begin(now.t, now.x, plant.nu)
        record.append(np.array([now.t, end]), np.array([now.x, new]), F[None], control.command[None])
        found, now.before = engine.search(now.t, now.x, F, end - now.t)
        record.passages += found
        now.t, now.x, now.h = end, new, end - now.t
        now.taken += 1
    elif stuck:
        raise SingularPoseError(
            f"the motion from {_described(plant, q)} cannot be told accurately: every first step across this singular "
            "pose is blurred by rounding. Start a little beside it, or with a velocity."
        )


def _on_a_cone(plant: Plant, q: Array) -> bool:
    """Whether a branch of a singular pose is a cone of directions."""
    return not all(branch.linear for branch in singular_pose(plant, q, tolerance=4.0 * BLURRED).branches)


def _is_off(plant: Plant, pose: Array, q: Array) -> bool:
    """Whether directions from a singular pose to q can be told."""
    return bool(np.abs(plant.difference(pose, q) * plant.reach).max() > _OFF * plant.size)


def _described(plant: Plant, q: Array) -> str:
    """A pose in words."""
    return f"{plant.name} at " + ", ".join(f"{n} = {x:.6g}" for n, x in zip(plant.position_names, q, strict=True))


def _start_of_step(
    run: Run, engine: Engine, now: Standing, terms: Terms, closeness: float, steering: Steering
) -> tuple[Array, _Collocation] | None:
    """The rate at the start, known or a guess, and the nodes that go with it; None where there is nothing to leave."""
    plant, lost = run.plant, terms.rank < run.options.cap
    nq, n = plant.nq, plant.nq + plant.nv
    q, v = now.x[:nq].copy(), now.x[nq:n].copy()
    rate, moving = engine.derivative(now.t, now.x), moves(plant, terms, v)
    pose = singular_pose(plant, q, tolerance=4.0 * BLURRED) if lost or closeness < BLURRED else None
    if pose is not None and len(pose.forms):
        pull = None
        if moving:
            v = v if lost else _on_pose(pose, v)
            pull = _pull(run, pose, v, now)
            now.x[nq:n] = v if pull is None else pose.speed(v) / pose.speed(pull) * pull
        known = _rate_at_pose(run, pose, rate, now, steering, pull)
        if known is not None or not moving:
            return None if known is None else (known, _KNOWN)
    elif lost:
        return None
    if moving:
        rate[nq:n] = 0.0  # straight on
    elif closeness < _BESIDE:
        guess = _rate_from_rest(run, engine, rate, now)
        return None if guess is None else (guess, _UNKNOWN)
    return rate, _UNKNOWN


def _on_pose(pose: SingularPose, v: Array) -> Array:
    """A velocity within rounding of a pose, on its branch: gradients that nearly vanish have projected it badly."""
    try:
        there = pose.on_branch(v) * pose.speed(v)
    except SingularPoseError:
        return v
    return there if pose.speed(v - there) <= _BADLY * pose.speed(v) else v


def _pull(run: Run, pose: SingularPose, v: Array, now: Standing) -> Array | None:
    """The acceleration (nv,) from rest into whose direction forces turn a slow velocity at a pose at once; else None.

    On a branch that is a cone of directions, a slow motion turns round the tip of the cone within v^2 over the
    acceleration. Where that is less way than can be told from none, its kinetic energy is all that stays of it.
    """
    plant, zero = run.plant, np.zeros(run.plant.nv)
    try:
        branch = pose.branch_of(v)
        if pose.branches[branch].linear:
            return None
        terms = plant.terms(pose.q, zero, now.t, cap=run.options.cap)
        f = terms.B @ run.control.effort(now.t, terms.copied(), now.x[plant.nq + plant.nv + 2 :])
        a = pose.acceleration(f, branch=branch)
    except SingularPoseError:
        return None
    length = plant.size / plant.reach
    return a if np.abs(v / length).max() ** 2 < BLURRED * np.abs(a / length).max() else None


def _rate_at_pose(
    run: Run, pose: SingularPose, rate: Array, now: Standing, steering: Steering, pull: Array | None = None
) -> Array | None:
    """The rate of the state on the branch, or under a pull; None where second order does not decide."""
    plant, control = run.plant, run.control
    nq, n = plant.nq, plant.nq + plant.nv
    v, c = now.x[nq:n].copy(), now.x[n + 2 :]
    u = control.effort(now.t, plant.terms(pose.q, v, now.t, cap=run.options.cap), c)
    branch = None
    if steering.active and not pose.moves(v):
        choice = steering.choose(pose, now.t, v)
        if choice is not None and np.ndim(choice):
            choice = pose.branch_of(pose.on_branch(choice))  # type: ignore[arg-type]
        branch = choice
    rate = rate.copy()
    if pull is not None:
        rate[:nq], rate[nq:n] = plant.position_rate(now.x[:nq].copy(), now.x[nq:n].copy()), pull
        return rate
    try:
        rate[nq:n] = pose.acceleration(plant.terms(pose.q, v).B @ u, v, branch=branch)  # type: ignore[arg-type]
    except SingularPoseError:
        if steering.active:
            raise
        return None
    return rate


def _rate_from_rest(run: Run, engine: Engine, rate: Array, now: Standing) -> Array | None:
    """Rate at rest beside a singular pose: that of the pose, on the branch on which the start is."""
    plant = run.plant
    nq, n = plant.nq, plant.nq + plant.nv
    q = now.x[:nq].copy()
    try:
        pose = singular_pose(plant, nearest_singular_pose(plant, q, within=1e-3))
        away = plant.difference(pose.q, q)
        branch = None
        if np.abs(away * plant.reach).max() > _DIGITS * plant.size:
            branch = pose.branch_of(pose.on_branch(away))
        at_pose = plant.terms(pose.q, np.zeros(plant.nv), now.t, cap=run.options.cap)
        u = run.control.effort(now.t, at_pose.copied(), now.x[n + 2 :])
        rate[nq:n] = pose.acceleration(at_pose.B @ u, branch=branch)
    except (AssemblyError, SingularPoseError):
        return None
    return rate


class _Path(NamedTuple):
    """A step of collocation: times and states at its start and its nodes, and its dense coefficients."""

    times: Array
    values: Array
    F: Array


def _collocated(
    engine: Engine, nodes: _Collocation, t: float, x: Array, rate: Array, h: float, most: float
) -> tuple[float, _Path | None]:
    """Defect of a step of collocation, and the step; none if the defect is above `most`."""
    c, A, plant = nodes.c, nodes.A, engine.plant
    nq, n = engine.nq, engine.nq + engine.nv
    first = int(c[0] == 0.0)
    K = np.tile(rate, (c.size, 1))
    X = np.tile(x, (c.size, 1))
    # from rest, rates grow linearly: a constant one would leave all nodes at the pose
    K[:, :nq] += (c * h)[:, None] * plant.position_rate(x[:nq].copy(), rate[nq:n].copy())
    weights = _weights(engine, x, h)
    last, mixed = np.inf, _Mixed()
    try:
        for count in range(60):
            Y = x + h * A @ K
            if not (np.abs(Y) < motion.HUGE).all():
                break
            new = np.array([*[x] * first, *(engine.project(np.ascontiguousarray(y)) for y in Y[first:])])
            change = float((weights * np.abs(new - X)).max())
            X = new
            before, rough = K[first:].copy(), change > _ROUGH
            K[first:] = [engine.derivative(t + s * h, y) for s, y in zip(c[first:], X[first:], strict=True)]
            done = change < 1e-14 or (change < 0.1 * most and change >= 0.5 * last)
            slow, last = change > 0.1 * last, change
            if rough and count > _HOPELESS:
                break
            if rough or (slow and not done):
                K[first:] = mixed(before, K[first:], weights)
                continue
            path = _path_of(nodes, t, x, X, K, h)
            between = np.empty(x.size)
            runge_kutta.interpolate(x, path.F, nodes.between, between)
            found = engine.derivative(t + nodes.between * h, engine.project(between))
            defect = h * float((weights * np.abs(nodes.at(nodes.between) @ K - found)).max())
            if defect > most and (done or change < 0.1 * defect):  # going on would not help
                return defect, None
            if done:
                X[-1, nq:n] *= engine.speed_factor(X[-1])  # rounding at the start, which is none of the energy
                return defect, _path_of(nodes, t, x, X, K, h)
    except (AssemblyError, ModelError, NotFinite):
        pass
    return most, None


class _Mixed:
    """Anderson's acceleration of a fixed point: the combination of the last images whose changes are least.

    From rest, a node that is turned on the cone of directions by an angle gets an acceleration that is turned by more:
    plain iteration runs away.
    """

    def __init__(self) -> None:
        self.images: list[Array] = []
        self.changes: list[Array] = []

    def __call__(self, K: Array, image: Array, weights: Array) -> Array:
        """Where to go on from K (nodes, nx), whose image is known."""
        self.images = [*self.images[-_DEPTH:], image.copy()]
        self.changes = [*self.changes[-_DEPTH:], (weights * (image - K)).ravel()]
        if len(self.images) == 1:
            return image
        rises = np.diff(self.changes, axis=0).T
        parts = np.linalg.lstsq(rises, self.changes[-1], rcond=1e-10)[0]
        return image - np.tensordot(parts, np.diff(self.images, axis=0), 1)


def _weights(engine: Engine, x: Array, h: float) -> Array:
    """What makes the parts of a state comparable: radians, or sizes of the machine, and those over the step."""
    plant, n = engine.plant, engine.nq + engine.nv
    weights = np.zeros(x.size)  # work and losses follow from the rest
    weights[: engine.nq] = [1.0 / plant.size if unit == "m" else 1.0 for unit in plant.position_units]
    weights[engine.nq : n] = plant.reach / plant.size * (h / _AWAY)
    weights[n + 2 :] = 1.0 / (1.0 + np.abs(x[n + 2 :]))
    return weights


def _path_of(nodes: _Collocation, t: float, x: Array, X: Array, K: Array, h: float) -> _Path:
    """Dense coefficients of the polynomial of collocation, read off at seven points."""
    s = NODES
    powers = np.arange(1, nodes.c.size + 1)
    integrals = (s[:, None] ** powers / powers) @ nodes.inverse
    values = x + h * integrals @ K
    values[-1] = X[-1]
    F = coefficients(x, values)
    first = int(nodes.c[0] == 0.0)
    return _Path(t + h * np.append(0.0, nodes.c[first:]), np.vstack([x, X[first:]]), F)
