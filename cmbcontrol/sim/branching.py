"""Singular poses on the way: leaving them on a branch, and steering to another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..dynamics.singular import SingularPose, nearest_singular_pose, singular_pose
from ..errors import AssemblyError, ModelError, SingularPoseError, Status, SwitchingError
from ..kernels import stepping
from ..model.plant import Plant
from .advance import advance
from .field import Field, NotFinite
from .output import looks_in_step, lowest
from .run import Record, Run, Standing

__all__ = ["Steering", "advance_through", "check_start", "near_the_end"]

Array = NDArray[np.float64]
Choice = int | ArrayLike | None

_PASSING = ("dop853", "verner65")  # methods that pass singular poses
_AT = 1e-6  # closeness of a passage through a singular pose, as events are logged
_APART = 1e-6  # s: nearer than this to the pose that was left, it is still the same
_LOOK = 0.1  # closeness from which on a passage is looked for
_START = 1e-9  # tolerance of the pose of a start: a gradient below it is lost
_AWAY = 0.03  # rad or sizes: how far the first step leads away from a singular pose
_DEFECT = 1e-10  # of that step, times its length
_ORDER = 5  # of the defect in the length
_ROUGH = 1e-4  # change from which on iterates tell the defect
_PARTS = np.arange(1, 8) / 7.0


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
    rows = len(plant.row_names)
    if not rows or plant.terms(q, v).rank == min(rows, plant.nv):
        return
    pose = singular_pose(plant, q, tolerance=_START)
    if not len(pose.forms):
        return
    if pose.speed(v) > 0.0:
        singular_pose(plant, q, v, tolerance=_START)
    elif pose.few and pose.locked:
        raise SingularPoseError(
            f"{pose} Nothing moves from here; the loads of such a pose need the stiffness of the parts."
        )


def near_the_end(plant: Plant, q: Array) -> str:
    """The singular pose near which a run ended, in words; empty where there is none."""
    try:
        pose = singular_pose(plant, nearest_singular_pose(plant, q, within=1e-2))
    except (AssemblyError, ModelError, SingularPoseError, np.linalg.LinAlgError):
        return ""
    return f"A singular pose is near: {pose}" if pose.few else ""


# -- passages -----------------------------------------------------------------------------------------


class _Passage:
    """Watches for a singular pose; stops where the step over it begins. See `run.Watch`."""

    def __init__(self, run: Run, since: float) -> None:
        self.run, self.since, self.inner = run, since, run.watch
        self.time: float | None = None
        self.ends: tuple[float, float] = (since, since)
        self.states = np.empty((0, 0))

    def crossing(self, T: Array, X: Array, state: Callable[[float], Array], effort: Any) -> float | None:
        """The start of the step over the first singular pose, or what else is watched where that comes first."""
        other = None if self.inner is None else self.inner.crossing(T, X, state, effort)
        for a, b in pairwise(T):
            t = self._passes(float(a), float(b), state)
            if t is None:
                continue
            if other is not None and other <= t:
                break
            if self.inner is not None:
                self.inner.fired = []  # type: ignore[attr-defined]
            self.time, self.ends = t, (float(a), float(b))
            self.states = np.array([state(a + s * (t - a)) for s in _PARTS])
            return float(a)
        return other

    def _passes(self, a: float, b: float, state: Callable[[float], Array]) -> float | None:
        """When a step first passes a singular pose."""
        plant, options = self.run.plant, self.run.options

        def closeness(times: Array) -> Array:
            poses = (np.ascontiguousarray(state(float(t))[: plant.nq]) for t in times)
            rest = np.zeros(plant.nv)
            return np.array([stepping.closeness(plant.terms(q, rest).pivots, options) for q in poses])

        v = state(a)[plant.nq : plant.nq + plant.nv]
        grid = np.linspace(a, b, looks_in_step(plant, v, b - a) + 1)
        near = closeness(grid)
        for i in np.flatnonzero(near < _LOOK):
            if near[i] <= near[max(i - 1, 0)] and near[i] <= near[min(i + 1, grid.size - 1)]:
                t, c = lowest(closeness, grid[max(i - 1, 0)], grid[min(i + 1, grid.size - 1)])
                if c < _AT and t > self.since + _APART:
                    return t
        return None


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
                _leave(run, record, now, until, steering)
            except (SingularPoseError, SwitchingError) as error:
                record.status, record.error = Status.SINGULAR_POSE, error
                return
        if not steering.active:
            advance(run, record, now, until)
            return
        watch = _Passage(run, since)
        advance(replace(run, watch=watch), record, now, until)
        if watch.time is None or record.status != Status.COMPLETED:
            return
        since = watch.time
        try:
            _arrive(run, record, now, watch, steering)
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
        and run.options.stabilisation == stepping.PROJECT
        and run.method in _PASSING
    )


def _turn_at_start(run: Run, now: Standing, steering: Steering) -> None:
    """A start at a singular pose is passage number 0."""
    nq, n = run.plant.nq, run.plant.nq + run.plant.nv
    pose = singular_pose(run.plant, now.x[:nq], tolerance=_START)
    v = now.x[nq:n].copy()
    if len(pose.forms) and pose.speed(v) > 0.0:
        now.x = now.x.copy()
        now.x[nq:n] = _turned(pose, v, steering.choose(pose, 0.0, v))


def _arrive(run: Run, record: Record, now: Standing, watch: _Passage, steering: Steering) -> None:
    """End the record exactly at the pose, by the part of the step that leads there; turn the velocity."""
    nq, n = run.plant.nq, run.plant.nq + run.plant.nv
    states = watch.states
    x = states[-1].copy()
    x[:nq] = nearest_singular_pose(run.plant, x[:nq])
    pose = singular_pose(run.plant, x[:nq])
    steering.passed += 1
    v = x[nq:n].copy()
    v = pose.on_branch(v) * pose.speed(v)  # a path is as exact as its steps
    x[nq:n] = v
    states[-1] = x
    # the same polynomial as `stepping.interpolate` evaluates: s (F0 + (1 - s) (F1 + s (F2 + ...)))
    terms = np.cumprod([_PARTS if k % 2 == 0 else 1.0 - _PARTS for k in range(7)], axis=0).T
    F = np.linalg.solve(terms, states - now.x)
    record.append(np.array([now.t, watch.time]), np.array([now.x, x]), F[None], run.control.command)
    now.h = max(watch.ends[1] - watch.ends[0], 1e-9 * run.t_end)
    now.t, now.x = float(watch.time), x.copy()  # type: ignore[arg-type]
    now.taken += 1
    now.x[nq:n] = _turned(pose, v, steering.choose(pose, now.t, v))


# -- leaving ------------------------------------------------------------------------------------------


def _lobatto() -> tuple[Array, Array]:
    """Nodes and coefficients of Lobatto IIIA with 4 stages, order 6: collocation at 0, (5 -+ sqrt 5)/10, 1."""
    c = np.array([0.0, 0.5 - np.sqrt(0.05), 0.5 + np.sqrt(0.05), 1.0])
    powers = np.arange(4)
    A = (c[:, None] ** (powers + 1) / (powers + 1)) @ np.linalg.inv(c[:, None] ** powers)
    return c, A


def _leave(run: Run, record: Record, now: Standing, until: float, steering: Steering) -> None:
    """From an exactly singular pose, a first step of collocation along the branch.

    The acceleration at the pose is that of the branch (see `SingularPose.acceleration`); from the next node on, the
    loops have their full rank. A step of some hundredths of a radian keeps the nodes away from the pose, near which
    rounding grows as the inverse square of the distance, and is exact to order 6.
    """
    plant = run.plant
    nq, n = plant.nq, plant.nq + plant.nv
    q, v = now.x[:nq].copy(), now.x[nq:n].copy()
    if plant.terms(q, v, cap=run.options.cap).rank >= run.options.cap:
        return
    pose = singular_pose(plant, q, tolerance=_START)
    if not len(pose.forms):
        return
    control = run.control
    if control.next <= now.t:
        control.refresh(now.t, plant, q, v, now.x[n + 2 :])
    field = Field(run, now)
    start = _rate_at_pose(run, field, pose, now, steering)
    if start is None:
        return
    reach = np.array([1.0 if unit == "rad/s" else plant.size for unit in plant.velocity_units])
    speed, rise = (float(np.abs(x / reach).max()) for x in (v, start[nq:n]))
    if not speed + rise > 0.0:
        return
    # speed h + rise h^2 / 2 = _AWAY
    h = min(2.0 * _AWAY / (speed + np.sqrt(speed**2 + 2.0 * rise * _AWAY)), min(until, control.next) - now.t)
    shortest = 3e-4 * h
    while h > shortest:
        excess, nodes = _collocated(field, now.t, now.x, start, h)
        if nodes is not None:
            times, values, rates = nodes
            F = np.empty((7, now.x.size))
            stepping.record_step(now.x, values[-1], start, rates[-1], h, F)
            stepping.refine_step(times, values, rates, 4, now.t, h, now.x, F)
            record.begin(now.t, now.x, plant.nu)
            record.append(np.array([now.t, times[-1]]), values[[0, -1]], F[None], control.command)
            record.evaluations += field.evaluations
            now.t, now.x, now.h = float(times[-1]), values[-1].copy(), h
            now.taken += 1
            return
        h *= 0.5 ** max(np.ceil(np.log2(excess) / _ORDER), 1.0)


def _rate_at_pose(run: Run, field: Field, pose: SingularPose, now: Standing, steering: Steering) -> Array | None:
    """The rate of the state on the branch; None where second order does not decide."""
    plant, control = run.plant, run.control
    nq, n = plant.nq, plant.nq + plant.nv
    v, c = now.x[nq:n].copy(), now.x[n + 2 :]
    u = control.effort(now.t, plant.terms(pose.q, v, now.t, cap=run.options.cap), c)
    rate = field.derivative(now.t, now.x)
    branch = None
    if steering.active and pose.speed(v) == 0.0:
        choice = steering.choose(pose, now.t, v)
        if choice is not None and np.ndim(choice):
            choice = pose.branch_of(pose.on_branch(choice))  # type: ignore[arg-type]
        branch = choice
    try:
        rate[nq:n] = pose.acceleration(plant.terms(pose.q, v).B @ u, v, branch=branch)  # type: ignore[arg-type]
    except SingularPoseError:
        if steering.active:
            raise
        return None
    return rate


def _collocated(
    field: Field, t: float, x: Array, rate: Array, h: float
) -> tuple[float, tuple[Array, Array, Array] | None]:
    """Excess of the defect of a step of collocation, and times, states and rates at its nodes; none if too long."""
    c, A = _lobatto()
    nq, n = field.nq, field.nq + field.nv
    K = np.tile(rate, (4, 1))
    X = np.tile(x, (4, 1))
    # from rest, rates grow linearly: a constant one would leave all nodes at the pose
    K[:, :nq] += (c * h)[:, None] * field.plant.position_rate(x[:nq].copy(), rate[nq:n].copy())
    most = _DEFECT * (1.0 + float(np.abs(x).max()))
    # the rates at the nodes, continued to the middle
    weights = np.array([0.5**k for k in range(4)]) @ np.linalg.inv(c[:, None] ** np.arange(4))
    last = np.inf
    try:
        for _ in range(60):
            Y = x + h * A @ K
            new = np.array([x, *(field.project(np.ascontiguousarray(y))[0] for y in Y[1:])])
            change = float(np.abs(new - X).max())
            X = new
            K[1:] = [field.derivative(t + s * h, y) for s, y in zip(c[1:], X[1:], strict=True)]
            done = change < 1e-14 or (change < 1e-11 and change >= 0.5 * last)
            last = change
            if not done and change > _ROUGH:
                continue
            middle = np.empty(x.size)
            stepping.hermite(t + c * h, X, K, 4, t + 0.5 * h, middle)
            found = field.derivative(t + 0.5 * h, field.project(middle)[0])
            defect = h * float(np.abs(weights @ K - found).max())
            if defect > most and (done or change < 0.1 * defect):  # going on would not help
                return defect / most, None
            if done:
                return defect / most, (t + c * h, X, K)
    except (AssemblyError, ModelError, NotFinite):
        pass
    return 1.0, None
