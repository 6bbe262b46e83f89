"""Random chains at their limits against an ideal limited loop: python -m tests.robustness.windup --count N --seed S.

A mass follows a step that keeps its motor at a limit for long, under a cascade or a PID with filters, limits, a delay
and a lag. The ideal loop is computed here once more, in fixed steps and with blocks of scipy: there, no state of an
integral changes while the effort is beyond a limit and this would push it further. Windup shows as a larger overshoot.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, signal

import cmbcontrol as cmb
from cmbcontrol import Constant
from cmbcontrol.controllers import PID, Cascade, Delay, Filter, FirstOrderActuator, LeadLag, LowPass, Notch, Saturation
from cmbcontrol.design import tune_loops
from cmbcontrol.errors import DesignError, InputError
from cmbcontrol.trace import code as trace_code

from . import workers

LENGTH = 60.0  # of a run, in units of the crossover
FINE = 2e-3  # of a step in continuous time, in the same units
# Of the step: an integral that waits softly, or a filter that follows a limit, does so later than an ideal one.
LITTLE = 0.1


class Drawing(NamedTuple):
    """A plant and its chain, and what the judge is told of them."""

    plant: Any
    chain: Any
    mass: float
    limit: float
    crossover: float
    filters: list[tuple[Any, Any]]  # numerators and denominators, in their order
    late: int  # samples of delay
    lag: float  # s


def drawn(seed: int) -> Drawing | None:
    """Random plant with a chain whose gains are found; None where no gains have the margins."""
    rng = np.random.default_rng(seed)
    mass, limit, w = 10.0 ** rng.uniform(-2, 3), 10.0 ** rng.uniform(-1, 3), 10.0 ** rng.uniform(0, 2)
    body, joint = cmb.Body.planar("m", mass, (0, 0), 0.1), cmb.Prismatic("x", "ground", "m", axis=(1, 0, 0))
    plant = cmb.Mechanism("slider", [body], [joint], actuators=[cmb.Actuator("x", effort=limit)])
    period = None if rng.random() < 0.3 else rng.uniform(0.005, 0.05) / w
    derivative = {"derivative_time": rng.choice([0.0, 0.05 / w])}
    kind, options = ((Cascade, {}), (PID, derivative))[rng.integers(2)]
    chain: Any = kind(plant, Constant([0.0]), period=period, **options)
    filters = []
    for i in rng.permutation(4)[: rng.integers(0, 3)]:
        a, b, g = rng.uniform(8.0, 30.0) * w, rng.uniform(0.5, 3.0) * w, rng.uniform(0.1, 4.0)
        if i == 0:
            order = int(rng.integers(1, 4))
            block, fraction = LowPass(a / (2.0 * np.pi), order=order), signal.butter(order, a, analog=True)
        elif i == 1:
            block = Notch(a / (2.0 * np.pi), b / (2.0 * np.pi), 20.0)
            fraction = [1.0, 0.1 * b, a * a], [1.0, b, a * a]
        elif i == 2:
            block, fraction = LeadLag(0.2 * b, a, g), ([g / (0.2 * b), g], [1.0 / a, 1.0])
        else:
            fraction = [g, 0.05 * w * g], [1.0, 0.0]
            block = Filter({"num": fraction[0], "den": fraction[1]})
        chain, filters = chain | block, [*filters, fraction]
    chain, late, lag = chain | Saturation(), 0, 0.0
    if period is not None and rng.random() < 0.3:
        late = int(rng.integers(1, 3))
        chain = chain | Delay(late * period)
    if rng.random() < 0.5:
        lag = rng.uniform(0.01, 0.05) / w
        chain = chain | FirstOrderActuator(lag)
    try:
        found = tune_loops(plant, chain, [0.0], crossover=w, phase_margin=rng.uniform(30.0, 60.0))
    except (InputError, DesignError):
        return None
    return Drawing(plant, found.law, mass, limit, w, filters, late, lag)


def overshoot(case: Drawing, goal: float) -> float:
    """Overshoot of a run, part of the step."""
    chain = case.chain.with_reference(Constant([goal]))
    before, trace_code.CHOICE = trace_code.CHOICE, "kernels"  # most chains are of a structure of their own
    try:
        run = cmb.simulate(case.plant, chain, [0.0], t_end=LENGTH / case.crossover, rtol=1e-6, atol=1e-9 * goal)
    finally:
        trace_code.CHOICE = before
    return float(run.q.values.max() / goal - 1.0)


def ideal(case: Drawing, goal: float, winds: bool = False) -> float:
    """Overshoot of the ideal limited loop; with `winds`, of one without any help."""
    law = case.chain.law
    h = FINE / case.crossover if law.period is None else law.period
    # a mass behind a lag, with a force that is held for a step
    A, B = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0 / case.mass], [0.0, 0.0, 0.0]]), np.zeros((3, 1))
    if case.lag:
        A[2, 2], B[2, 0] = -1.0 / case.lag, 1.0 / case.lag
        whole = linalg.expm(h * np.block([[A, B], [np.zeros((1, 4))]]))
        step, push = whole[:3, :3], whole[:3, 3]
    else:
        step, push = np.eye(3), np.array([0.5 * h * h / case.mass, h / case.mass, 0.0])
        step[0, 1], step[2, 2] = h, 0.0
    blocks = []
    for fraction in case.filters:
        a, b, c, d, _ = signal.cont2discrete(signal.tf2ss(*fraction), h)
        blocks.append([a, b[:, 0], c[0], float(d[0, 0]), np.zeros(len(a)), fraction[1][-1] == 0.0])
    x, integral, slow = np.zeros(3), 0.0, 0.0
    under_way, most = [0.0] * case.late, 0.0
    for _ in range(round(LENGTH / case.crossover / h)):
        y, v = x[0], x[1]
        if isinstance(law, PID):
            d = -v
            if law.derivative_time[0]:
                d, slow = slow, slow + (-v - slow) * -np.expm1(-h / law.derivative_time[0])
            growth = h * float(law.ki[0]) * (goal - y)
            u = float(law.kp[0]) * (goal - y) + integral + float(law.kd[0]) * d
        else:
            error = float(law.position_gain[0]) * (goal - y) - v
            growth = h * float(law.ki[0]) * error
            u = float(law.velocity_gain[0]) * error + integral
        pushes, moved = growth, []
        for block in blocks:
            a, b, c, d, state, integrates = block
            after = a @ state + b * u
            pushes = float(c @ (after - state)) if integrates else pushes
            moved.append(after)
            u = float(c @ state) + d * u
        given = min(max(u, -case.limit), case.limit)
        waits = not winds and pushes * (u - given) > 0.0
        integral += 0.0 if waits or (growth * (u - given) > 0.0 and not winds) else growth
        for block, after in zip(blocks, moved, strict=True):
            block[4] = block[4] if waits and block[5] else after
        under_way.append(given)
        x = step @ x + push * under_way.pop(0)
        most = max(most, x[0])
    return most / goal - 1.0


def run_trial(seed: int) -> list[tuple[str, str]]:
    """Name of the case, and what was found."""
    case = drawn(seed)
    if case is None:
        return []
    goal = case.limit / case.mass * (8.0 / case.crossover) ** 2  # at the limit for some ten units of time
    name = f"{case.chain.name}, {'continuous' if case.chain.period is None else 'sampled'}"
    found, right = overshoot(case, goal), ideal(case, goal)
    if found <= right + LITTLE * (1.0 + right):
        return [(name, "ok")]
    return [(name, f"overshoot {found:.3f}, of the ideal loop {right:.3f}")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500, help="chains; some have no gains with their margins")
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    good = bad = 0
    for seed, answer in workers.each(run_trial, range(given.seed, given.seed + given.count), given.jobs, 300.0):
        for name, words in [("all", answer.text)] if isinstance(answer, workers.Failed) else answer:
            good, bad = good + (words == "ok"), bad + (words != "ok")
            if words != "ok":
                print(f"seed {seed} ({name}): {words}", flush=True)
    print(f"{good} as the ideal loop, {bad} not")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
