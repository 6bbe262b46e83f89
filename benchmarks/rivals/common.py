"""The two machines, their starts and the yardsticks shared by all rivals.

Both machines are planar trees of uniform rods (centre of mass at mid-length) whose branches are joined at
their outer ends.  Joint angles are absolute for a rod on a ground pivot and relative for a rod on another
rod; their order is depth first, ``(left, elbow_left, right, elbow_right)`` and ``(bar 0, coupler 0, bar 1,
..., bar N)``, which is also the native order of the tools.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

Array: TypeAlias = NDArray[np.float64]
Machine: TypeAlias = str | tuple[str, int]

GRAVITY = 9.81
OUTPUT_STEP = 0.01
LOST_BRANCH = 1e-2
FIVE_BAR = "five-bar"
FOUR_BAR = "n-four-bar"
STARTS = {FIVE_BAR: ("singular", "second", "regular"), FOUR_BAR: ("upright",)}
SYMMETRIC = ("singular", "second")
MODULES = ("with_pinocchio", "with_mujoco", "with_exudyn", "with_numpy")

# What all threads of this process compute, s. All tools run on one thread here and wait for nothing, so this is the
# wall time on an idle computer. What others take on a shared one does not count.
clock = time.process_time


class Run(NamedTuple):
    """What one warm simulation cost and how good it was.

    Attributes
    ----------
    wall_s
        Time of the integration alone, without building the model (see `clock`).
    closure_m
        Largest distance between joined rod ends over the output times, in m.
    energy_J
        Largest deviation of the mechanical energy from its initial value, in J.
    mirror_rad
        Largest deviation from the mirror-symmetric motion (symmetric five-bar starts, else nan), in rad.
    error_m
        Largest deviation of the first bar's end from the exact reduction (N four-bar, else nan), in m.
    evaluations
        Number of dynamics evaluations (or Newton iterations) as counted by the tool.
    note
        Anything a reader of the numbers has to know.
    """

    wall_s: float
    closure_m: float
    energy_J: float
    mirror_rad: float
    error_m: float
    evaluations: int
    note: str


class Evaluation(partial):
    """One constrained forward dynamics as a callable without arguments, to be timed.

    It is a `functools.partial`, so that calling it costs no Python frame beyond the tool's own.
    """

    read: Callable[[Any], Any]

    def acceleration(self) -> Array:
        """Evaluate once and return the joint accelerations in the order of the interface."""
        return np.array(self.read(self()), dtype=float)


def evaluation(call: Callable[..., Any], *args: Any, read: Callable[[Any], Any] = lambda a: a) -> Evaluation:
    """Bind a tool's call; `read` turns what it returns into joint accelerations."""
    bound = Evaluation(call, *args)
    bound.read = read
    return bound


class Tree(NamedTuple):
    """A planar machine as a tree of rods with joined ends.

    Attributes
    ----------
    parent
        Index of the rod that carries each rod, -1 for the ground.
    pivot
        Position of each rod's joint in the frame of its parent, in m.
    length, mass, inertia
        Of each rod; the inertia is about the centre of mass.
    loops
        Pairs of rods whose outer ends are joined.
    motors
        Rods whose joint is driven.
    """

    parent: tuple[int, ...]
    pivot: tuple[tuple[float, float], ...]
    length: tuple[float, ...]
    mass: tuple[float, ...]
    inertia: tuple[float, ...]
    loops: tuple[tuple[int, int], ...]
    motors: tuple[int, ...]


def tree(machine: Machine) -> Tree:
    """Return the rods, joints and loops of a machine."""
    if machine == FIVE_BAR:
        return Tree(
            parent=(-1, 0, -1, 2),
            pivot=((0.0, 0.0), (1.0, 0.0), (1.0, 0.0), (1.0, 0.0)),
            length=(1.0, 1.5, 1.0, 1.5),
            mass=(2.0, 3.0, 2.0, 3.0),
            inertia=(1.0, 2.0, 1.0, 2.0),
            loops=((1, 3),),
            motors=(0, 2),
        )
    n = cells(machine)
    rods = 2 * n + 1
    return Tree(
        parent=tuple(i - 1 if i % 2 else -1 for i in range(rods)),
        pivot=tuple((1.0, 0.0) if i % 2 else (i / 2, 0.0) for i in range(rods)),
        length=(1.0,) * rods,
        mass=(1.0,) * rods,
        inertia=(1.0 / 12.0,) * rods,
        loops=tuple((2 * i + 1, 2 * i + 2) for i in range(n)),
        motors=(),
    )


def cells(machine: Machine) -> int:
    """Return N of an N four-bar, or complain that the machine is unknown."""
    if isinstance(machine, tuple) and machine[0] == FOUR_BAR and machine[1] >= 1:
        return machine[1]
    raise ValueError(f"unknown machine {machine!r}")


def name(machine: Machine) -> str:
    """Return a printable name of the machine."""
    return machine if isinstance(machine, str) else f"{machine[0]} N={machine[1]}"


def kind(machine: Machine) -> str:
    """Return the machine's family, the key of `STARTS`."""
    return machine if isinstance(machine, str) else machine[0]


# -- starts and states -------------------------------------------------------------------------------------


def initial_state(machine: Machine, start: str) -> tuple[Array, Array]:
    """Return joint angles and rates of a named start."""
    if start not in STARTS[kind(machine)]:
        raise ValueError(f"unknown start {start!r} of {name(machine)}")
    if machine == FIVE_BAR:
        return _five_bar_start(start), np.zeros(4)
    return four_bar_state(cells(machine), np.pi / 2, -1.0)


def four_bar_state(n: int, theta: float, rate: float) -> tuple[Array, Array]:
    """Return the closed state of the N four-bar with all bars at angle `theta` and the couplers level."""
    sign = np.where(np.arange(2 * n + 1) % 2, -1.0, 1.0)
    return sign * theta, sign * rate


def _five_bar_start(start: str) -> Array:
    if start == "singular":
        return np.array([np.pi, -np.pi, 0.0, np.pi])
    if start == "second":
        left = 2 * np.pi / 3
        outer = np.arccos((0.5 - np.cos(left)) / 1.5)
        return np.array([left, outer - left, np.pi - left, left - outer])
    left, outer = np.radians(-70.0), np.radians(-10.0)
    tip = np.array([np.cos(left) + 1.5 * np.cos(outer), np.sin(left) + 1.5 * np.sin(outer)])
    return np.array([left, outer - left, *_right_arm(tip)])


def _right_arm(tip: Array) -> tuple[float, float]:
    """Close the right arm on a tip with the elbow on the outer (larger x) side."""
    reach, bearing = np.hypot(tip[0] - 1.0, tip[1]), np.arctan2(tip[1], tip[0] - 1.0)
    spread = np.arccos((1.0 + reach**2 - 1.5**2) / (2 * reach))
    right = max(bearing + spread, bearing - spread, key=np.cos)
    outer = np.arctan2(tip[1] - np.sin(right), tip[0] - 1.0 - np.cos(right))
    return float(right), float(wrap(outer - right))


def regular_state(machine: Machine) -> tuple[Array, Array, Array]:
    """Return angles, rates and joint torques of the fixed regular state of `forward_dynamics`.

    The five-bar stands at its regular start, moves with 1 rad/s and -0.5 rad/s of the inner links (the outer
    ones follow from the closed loop) and is driven by 3 and -2 N m; the N four-bar leans at 60 degrees and
    turns with -1 rad/s.
    """
    if machine != FIVE_BAR:
        q, v = four_bar_state(cells(machine), np.pi / 3, -1.0)
        return q, v, np.zeros_like(q)
    q = _five_bar_start("regular")
    jacobian, _ = constraint_jacobian(tree(machine), q, np.zeros(4))
    v = np.array([1.0, 0.0, -0.5, 0.0])
    v[[1, 3]] = np.linalg.solve(jacobian[:, [1, 3]], -jacobian @ v)
    return q, v, np.array([3.0, 0.0, -2.0, 0.0])


# -- yardsticks, written for whole trajectories (rows are times) -------------------------------------------


def wrap(angle: ArrayLike) -> Array:
    """Wrap angles to (-pi, pi]."""
    return np.pi - np.mod(np.pi - np.asarray(angle, dtype=float), 2 * np.pi)


def absolute(machine: Tree, q: Array) -> Array:
    """Turn joint angles (or rates) into absolute ones."""
    out = np.array(q, dtype=float)
    for rod, parent in enumerate(machine.parent):
        if parent >= 0:
            out[..., rod] += out[..., parent]
    return out


def rod_points(machine: Tree, q: Array) -> tuple[Array, Array]:
    """Return positions of the rods' joints and outer ends, of shape (..., rods, 2)."""
    angle = absolute(machine, q)
    along = np.stack([np.cos(angle), np.sin(angle)], axis=-1) * np.asarray(machine.length)[:, None]
    joint, end = np.empty_like(along), np.empty_like(along)
    for rod, parent in enumerate(machine.parent):
        joint[..., rod, :] = machine.pivot[rod] if parent < 0 else end[..., parent, :]
        end[..., rod, :] = joint[..., rod, :] + along[..., rod, :]
    return joint, end


def constraint_jacobian(machine: Tree, q: Array, v: Array) -> tuple[Array, Array]:
    """Return A and b of the loop condition A dv/dt = b at one state."""
    angle, rate = absolute(machine, q), absolute(machine, v)
    angles = np.zeros((2 * len(machine.loops), len(q)))
    b = np.zeros(2 * len(machine.loops))
    for row, (one, other) in enumerate(machine.loops):
        for sign, tip in ((1.0, one), (-1.0, other)):
            rod = tip
            while rod >= 0:
                c, s = machine.length[rod] * np.array([np.cos(angle[rod]), np.sin(angle[rod])])
                angles[2 * row : 2 * row + 2, rod] += sign * np.array([-s, c])
                b[2 * row : 2 * row + 2] += sign * rate[rod] ** 2 * np.array([c, s])
                rod = machine.parent[rod]
    to_absolute = absolute(machine, np.eye(len(q))).T
    return angles @ to_absolute, b


def closure(machine: Tree, q: Array) -> Array:
    """Return the largest distance between joined ends."""
    _, end = rod_points(machine, q)
    one, other = np.array(machine.loops).T
    return np.linalg.norm(end[..., one, :] - end[..., other, :], axis=-1).max(axis=-1)


def energy(machine: Tree, q: Array, v: Array) -> Array:
    """Return kinetic plus potential energy."""
    angle, rate = absolute(machine, q), absolute(machine, v)
    joint, end = rod_points(machine, q)
    length, mass, inertia = (np.asarray(x) for x in (machine.length, machine.mass, machine.inertia))
    swing = np.stack([-np.sin(angle), np.cos(angle)], axis=-1) * (rate * length)[..., None]
    joint_velocity = np.zeros_like(swing)
    for rod, parent in enumerate(machine.parent):
        if parent >= 0:
            joint_velocity[..., rod, :] = joint_velocity[..., parent, :] + swing[..., parent, :]
    speed2 = ((joint_velocity + 0.5 * swing) ** 2).sum(axis=-1)
    height = 0.5 * (joint + end)[..., 1]
    return (0.5 * mass * speed2 + 0.5 * inertia * rate**2 + mass * GRAVITY * height).sum(axis=-1)


def mirror(q: Array) -> Array:
    """Return the deviation of the five-bar from mirror symmetry."""
    ground, elbow = wrap(q[..., 0] + q[..., 2] - np.pi), wrap(q[..., 1] + q[..., 3])
    return np.maximum(np.abs(ground), np.abs(elbow))


def exact_four_bar(n: int, times: Array) -> Array:
    """Return the bar angle of the N four-bar from its exact reduction to one pendulum-like equation."""
    gain = ((n + 1) / 2 + n) * GRAVITY / ((n + 1) / 3 + n)
    return _reference(lambda _t, y: (y[1], -gain * np.cos(y[0])), (np.pi / 2, -1.0), times)


def exact_symmetric(start: str, times: Array) -> Array:
    """Return the left joint angle of the five-bar's smooth mirror-symmetric motion.

    The closed symmetric machine has one degree of freedom.  With the elbow angle e as coordinate the tip
    height sqrt(6) cos(e/2) and the left angle are smooth functions of e also where all links are level
    (e = -pi), so that this reduction runs through the singular configuration without noticing it.  From the start
    'singular' the mirror-symmetric motion is not unique; this is the one on the same branch as from 'second'.
    """
    elbow = _five_bar_start(start)[1]
    motion = _reference(_symmetric_rate, (elbow, 0.0), times)
    return _left_angle(motion)[0]


def _left_angle(e: ArrayLike) -> tuple[Array, Array, Array]:
    """Return the left angle of the symmetric five-bar and its first two derivatives by the elbow angle."""
    height, slope = np.sqrt(6.0) * np.cos(np.divide(e, 2)), -np.sqrt(1.5) * np.sin(np.divide(e, 2))
    reach2, span2 = 3.25 + 3.0 * np.cos(e), 0.25 + height**2
    angle = np.arctan2(height, 0.5) - np.arctan2(1.5 * np.sin(e), 1.0 + 1.5 * np.cos(e))
    first = 0.5 * slope / span2 - (2.25 + 1.5 * np.cos(e)) / reach2
    bend = 1.5 * np.sin(e) / reach2 - (2.25 + 1.5 * np.cos(e)) * 3.0 * np.sin(e) / reach2**2
    return angle, first, -0.125 * height / span2 - height * slope**2 / span2**2 + bend


def _symmetric_rate(_t: float, state: Array) -> tuple[float, float]:
    """Return the rate of (e, de/dt) of the symmetric five-bar from Lagrange's equation."""
    e, rate = state
    angle, inner, bend = _left_angle(e)
    outer, cosine = inner + 1.0, np.cos(e)
    mass = 9.0 * inner**2 + 7.375 * outer**2 + 9.0 * inner * outer * cosine
    slope = 18.0 * inner * bend + 14.75 * outer * bend
    slope += 9.0 * ((inner + outer) * bend * cosine - inner * outer * np.sin(e))
    force = 2.0 * GRAVITY * (4.0 * np.cos(angle) * inner + 2.25 * np.cos(angle + e) * outer)
    return rate, float(-(force + 0.5 * slope * rate**2) / mass)


def _reference(rate: Callable[..., Any], state: tuple[float, float], times: Array) -> Array:
    """Integrate a scalar reference motion close to rounding and return its first state at `times`."""
    if times[-1] <= 0.0:
        return np.full(len(times), state[0])
    options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-13, "max_step": 0.01}
    solution = solve_ivp(rate, (0.0, float(times[-1])), state, t_eval=times, **options)
    return solution.y[0]


def output_times(t_end: float) -> Array:
    """Return the output times, every 10 ms including both ends."""
    return np.linspace(0.0, t_end, round(t_end / OUTPUT_STEP) + 1)


def assess(
    machine: Machine,
    start: str,
    t_end: float,
    times: Array,
    states: tuple[Array, Array],
    wall_s: float,
    evaluations: int,
    note: str = "",
) -> Run:
    """Measure a trajectory (joint angles and rates, rows are times) with the common yardsticks."""
    rods = tree(machine)
    q, v = states
    ok = np.isfinite(q).all(axis=1) & np.isfinite(v).all(axis=1)
    times, q, v = times[ok], q[ok], v[ok]
    symmetric = machine == FIVE_BAR and start in SYMMETRIC
    stopped = _stopped(times, t_end)
    notes = [note, stopped, _branch(start, times, q) if symmetric and not stopped else ""]
    drift = energy(rods, q, v) - energy(rods, *initial_state(machine, start))
    return Run(
        wall_s=wall_s,
        closure_m=float(closure(rods, q).max()),
        energy_J=float(np.abs(drift).max()),
        mirror_rad=float(mirror(q).max()) if symmetric else float("nan"),
        error_m=_four_bar_error(machine, times, q),
        evaluations=evaluations,
        note="; ".join(n for n in notes if n),
    )


def _stopped(times: Array, t_end: float) -> str:
    return "" if times[-1] > t_end - 0.5 * OUTPUT_STEP else f"stopped at {times[-1]:.2f} s"


def _branch(start: str, times: Array, q: Array) -> str:
    """Say how far the left angle is from the smooth symmetric motion, or when it left that motion."""
    off = np.abs(wrap(q[:, 0] - exact_symmetric(start, times)))
    far = off > LOST_BRANCH
    if far.any():
        return f"off the smooth symmetric motion after {times[np.argmax(far)]:.2f} s (up to {off.max():.1e} rad)"
    return f"on the smooth symmetric motion to {off.max():.1e} rad"


def _four_bar_error(machine: Machine, times: Array, q: Array) -> float:
    if machine == FIVE_BAR:
        return float("nan")
    theta = exact_four_bar(cells(machine), times)
    off = np.stack([np.cos(q[:, 0]) - np.cos(theta), np.sin(q[:, 0]) - np.sin(theta)])
    return float(np.linalg.norm(off, axis=0).max())


def timed(function: Callable[[], Any], budget_s: float = 1.0, most: int = 5) -> tuple[float, Any]:
    """Return the shortest time of up to `most` calls within about `budget_s`, and the last result."""
    best, spent, result = float("inf"), 0.0, None
    for _ in range(most):
        begin = clock()
        result = function()
        wall = clock() - begin
        best, spent = min(best, wall), spent + wall
        if spent > budget_s:
            break
    return best, result


# -- all rivals together -----------------------------------------------------------------------------------


def rivals(names: Iterable[str] = MODULES) -> dict[str, ModuleType]:
    """Return the rival modules whose tool is installed, by tool name."""
    modules = {n.removeprefix("with_"): import_module(f"{__package__}.{n}") for n in names}
    return {n: module for n, module in modules.items() if module.available()}


def reference_acceleration(machine: Machine) -> Array:
    """Return the acceleration at the regular state from the joint-space equations built by differencing.

    The mass matrix comes from the kinetic energy of unit rates and the forces from Lagrange's equation with
    central differences of the common energy, so that nothing is shared with any rival.
    """
    rods = tree(machine)
    q, v, torque = regular_state(machine)
    mass, force = _mass(rods, q), torque + _lagrange_force(rods, q, v)
    jacobian, b = constraint_jacobian(rods, q, v)
    rows, n = len(b), len(q)
    kkt = np.block([[mass, jacobian.T], [jacobian, np.zeros((rows, rows))]])
    return np.linalg.solve(kkt, np.concatenate([force, b]))[:n]


def _mass(rods: Tree, q: Array) -> Array:
    """Return the joint-space mass matrix from kinetic energies (polarisation)."""
    unit = np.eye(len(q))
    rest = energy(rods, q, np.zeros_like(q))
    single = energy(rods, q, unit) - rest
    pair = energy(rods, q, unit[:, None] + unit[None, :]) - rest
    return pair - single[:, None] - single[None, :]


def _lagrange_force(rods: Tree, q: Array, v: Array, step: float = 1e-4) -> Array:
    """Return dL/dq - (dM/dt) v by fourth-order central differences."""
    weights = ((2, -1 / 12), (1, 8 / 12), (-1, -8 / 12), (-2, 1 / 12))
    shifts = [(k * step, w / step) for k, w in weights]
    still = np.zeros_like(q)

    def lagrangian(at: Array) -> Array:
        return energy(rods, at, v) - 2.0 * energy(rods, at, still)

    slope = np.array([sum(w * lagrangian(q + s * axis) for s, w in shifts) for axis in np.eye(len(q))])
    mass_rate = sum(w * _mass(rods, q + s * v) for s, w in shifts)
    return slope - mass_rate @ v


def agreement(machine: Machine) -> dict[str, float]:
    """Return each rival's largest deviation from the reference acceleration at the fixed regular state."""
    exact = reference_acceleration(machine)
    return {
        tool: float(np.abs(module.forward_dynamics(machine).acceleration() - exact).max())
        for tool, module in rivals().items()
    }


def reach(
    module: ModuleType, machine: Machine, start: str, t_end: float, closure_goal: float, energy_goal: float
) -> tuple[dict[str, Any], Run] | None:
    """Return the first step of a rival's ladder (coarse to fine) that meets both goals, and its run."""
    for accuracy in module.ladder(machine, start):
        run = module.simulate(machine, start, t_end, **accuracy)
        if run.closure_m <= closure_goal and run.energy_J <= energy_goal and not lost(run):
            return accuracy, run
    return None


def lost(run: Run) -> bool:
    """Tell whether a run stopped early or left the motion it should have followed."""
    return "stopped" in run.note or "off the" in run.note or run.error_m > LOST_BRANCH
