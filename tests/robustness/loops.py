"""Loops of random machines with uncertain parameters, against counter-examples: python -m tests.robustness.loops.

Each machine has five parameters with intervals, and a linear quadratic law with integrals, continuous or sampled, some
late by a part of a period or more. What is certified may have no unstable member: 10,000 random parameters and a search
uphill along gradients look for one in the uncertain loop; machines at random parameters and at the ends of these
searches are built anew, linearized, held and closed here, by matrices of scipy alone. So are gains that are bounded.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import expm

import cmbcontrol as cmb
from cmbcontrol import design
from cmbcontrol.linear import uncertain_model

from . import certificates, uncertain, workers

TRIED = 10_000  # random parameters of each loop
BUILT = 6  # machines that are built anew
SAME = 1e-5  # of the fastest pole, how far growths of the loop and of machines may be apart
BEYOND = 1e-7  # of the fastest pole: what a pole is beyond the border of stability by, when it is unstable
APART = 1.3  # bounds of the largest gain of a loop that is stable throughout: above, they are told
FAST = (0.02, 0.5)  # of a period in 1 / frequency of the loop
KNOWN = ("none", "certified", "not certified", "gain apart")
LATE = (0.0, 0.0, 0.4, 1.0, 1.3)  # periods


class Trial(NamedTuple):
    """A machine with its law."""

    case: uncertain.Drawing
    model: Any
    law: Any
    delay: float


def trial(seed: int) -> Trial | str:
    """Machine and law of a seed, or why there is none."""
    case = uncertain.drawn(seed)
    if isinstance(case, str):
        return case
    intervals = {name: ends for name, ends in case.intervals.items() if uncertain_unit(case, name) != "m"}
    if not intervals:
        return "lengths alone"
    model = uncertain_model(case.plant, case.point, intervals, coordinates=case.coordinates)
    if any(b.kind != "real" for b in model.blocks):
        return "not exact"
    lin, rng = model.nominal, np.random.default_rng([41, seed])
    if lin.B.shape[1] < lin.dof or np.linalg.cond(lin.B[lin.dof :]) > 1e4:
        return "not moved by its motors"
    units = [0.1 * case.plant.size if unit == "m" else 0.1 for unit in lin.state_units[: lin.dof]]
    inertia = np.abs(np.linalg.inv(lin.B[lin.dof :] @ lin.B[lin.dof :].T)) ** 0.5
    fast = rng.uniform(2.0, 30.0)  # 1/s
    efforts = inertia.max() * np.max(units) * fast**2
    Q = np.diag([*(1.0 / np.square(units)), *np.zeros(lin.dof), *(rng.uniform(0.0, 2.0) / np.square(units))])
    period = [None, float(rng.uniform(*FAST) / fast)][int(rng.integers(2))]
    options = {"integral": lin.states[: lin.dof], "feedforward": "none"}
    try:
        law = design.lqr(lin, Q, np.eye(lin.B.shape[1]) / efforts**2, period=period, **options)
    except cmb.CmbError as error:
        return type(error).__name__
    return Trial(case, model, law, float(rng.choice(LATE) * period) if period else 0.0)


def uncertain_unit(case: uncertain.Drawing, name: str) -> str:
    return cmb.dynamics.parameters(case.plant)[name].unit if "_com_" not in name else "of a body"


def closed(trial: Trial, lin: Any) -> tuple[np.ndarray, np.ndarray]:
    """Matrix of the loop of a machine, and columns of disturbances at its motors."""
    law, dt, (n, m), p = trial.law, trial.law.period, lin.B.shape, lin.dof
    K = np.hstack([law.K, law.K_integral])
    E = np.eye(p, n)
    if dt is None:
        A = np.block([[lin.A - lin.B @ K[:, :n], -lin.B @ K[:, n:]], [E, np.zeros((p, p))]])
        return A, np.vstack([lin.B, np.zeros((p, m))])
    whole = int(trial.delay / dt + 1e-9)
    part = trial.delay - whole * dt
    part = 0.0 if part < 1e-9 * dt else part

    def over(t: float) -> tuple[np.ndarray, np.ndarray]:
        X = expm(np.block([[lin.A, lin.B], [np.zeros((m, n + m))]]) * t)
        return X[:n, :n], X[:n, n:]

    A, held = over(dt)
    _first, before = over(part)
    rest, now = over(dt - part)
    before = rest @ before
    past = whole + (part > 0.0)
    size = n + p + past * m
    F, u = np.zeros((size, size)), np.zeros((m, size))
    F[:n, :n], F[n : n + p, :n], F[n : n + p, n : n + p] = A, dt * E, np.eye(p)
    u[:, : n + p] = -K
    push = np.zeros((size, m))
    push[:n] = held
    for age, column in ((whole, now), (whole + 1, before)):
        if age == 0:
            F[:n] += column @ u
        elif age <= past:
            F[:n, n + p + (age - 1) * m :][:, :m] += column
    for k in range(past):
        rows = slice(n + p + k * m, n + p + (k + 1) * m)
        F[rows] = u if k == 0 else np.eye(size)[n + p + (k - 1) * m : n + p + k * m]
    return F, push


def growth(A: np.ndarray, dt: float | None) -> float:
    """Growth of the slowest pole over the fastest one; per sample in sampled time."""
    poles = np.linalg.eigvals(A)
    size = np.abs(poles)
    return float(size.max() - 1.0) if dt else float(poles.real.max() / size.max())


def gain(A: np.ndarray, B: np.ndarray, p: int, dt: float | None) -> float:
    """Largest singular value from disturbances to coordinates on a grid of frequencies."""
    poles = np.linalg.eigvals(A)
    rates = np.abs(np.log(poles[np.abs(poles) > 1e-6]) / dt) if dt else np.abs(poles)
    omega = np.geomspace(0.1 * rates.min(), rates.max() if not dt else 0.999 * np.pi / dt, 300)
    s = np.exp(1j * omega * dt) if dt else 1j * omega
    X = np.linalg.solve(s[:, None, None] * np.eye(len(A)) - A, np.broadcast_to(B + 0j, (len(s), *B.shape)))
    return float(np.linalg.norm(X[:, :p], 2, axis=(1, 2)).max())


def run_trial(seed: int) -> tuple[str, str]:
    """Outcome and words of a seed."""
    made = trial(seed)
    if isinstance(made, str):
        return "none", made
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return judged(made, np.random.default_rng([42, seed]))


def judged(made: Trial, rng: np.random.Generator) -> tuple[str, str]:
    model, law = made.model, made.law
    dt, p = law.period, model.nominal.dof
    if growth(closed(made, model.nominal)[0], dt) > -1e-9:
        return "none", "not stable"
    loop = design.uncertain_loop(model, law, delay=made.delay or None)
    found = loop.robust_stability()
    numbers = [b for b in loop.blocks if b.kind == "real"]
    k = sum(b.size for b in numbers)
    system = loop.A, loop.B_w[:, :k], loop.C_z[:k], loop.D_zw[:k, :k], dt or 0.0
    repeats = np.array([b.size for b in numbers])
    radius = min(1.0, 1.0 / max(found.upper, 1e-6))
    deltas = rng.uniform(-radius, radius, (TRIED, len(numbers)))
    deltas[: TRIED // 4] = radius * np.sign(deltas[: TRIED // 4])
    grown = certificates.growths(system, repeats, deltas)
    order = np.argsort(-grown)[:3]
    ends = [uphill(system, repeats, deltas[i], radius) for i in order]
    largest = max(float(grown.max()), *(x for x, _ in ends))
    if largest > BEYOND:
        return "wrong", f"proven up to {radius:.4g}, but a pole is {largest:.1e} beyond the border within"
    inputs = [f"{name}_disturbance" for name in loop.nominal.motors]
    worst = loop.worst_case_gain(inputs, list(model.nominal.states[:p]), tolerance=3e-2)
    named = [b.name for b in numbers]
    for x in [*deltas[rng.integers(len(deltas), size=BUILT)], ends[0][1]]:
        values = {q.name: q.middle for q in model.parameters}
        values |= model.family.values(
            np.array([dict(zip(named, x, strict=True)).get(q.name, 0.0) for q in model.parameters])
        )
        A, B = closed(made, uncertain.anew(made.case, values))
        here, there = growth(A, dt), certificates.growths(system, repeats, x[None])[0]
        if here > BEYOND:
            return "wrong", f"proven up to {radius:.4g}, but the machine at {values} is not stable: {here:.1e}"
        if abs(here - there) > SAME:
            return "wrong", f"the loop grows by {there:.6g}, that of the machine at {values} by {here:.6g}"
        size = gain(A, B, p, dt)
        if size > worst.upper * (1.0 + 1e-6):
            return "wrong", f"a gain of {size:.6g} at {values}, bounded by {worst.upper:.6g}"
    words = f"mu {found.lower:.4g} to {found.upper:.4g}, gain {worst.lower:.4g} to {worst.upper:.4g}"
    if not found.certified:
        return "not certified", words
    return ("certified" if worst.upper < APART * worst.lower else "gain apart"), words


def uphill(system: Any, repeats: Any, start: np.ndarray, radius: float) -> tuple[float, np.ndarray]:
    """Growth and parameters within a box towards which stability is lost, along gradients and to corners."""
    best, d, step = float(certificates.growths(system, repeats, start[None])[0]), start, 0.5 * radius
    while step > 1e-3 * radius:
        slope = certificates.growths(system, repeats, d + 1e-6 * radius * np.eye(len(d))) - best
        scale = max(float(np.abs(slope).max()), 1e-300)
        tried = np.clip(d + step * np.array([np.sign(slope), slope / scale]), -radius, radius)
        found = certificates.growths(system, repeats, tried)
        i = int(np.argmax(found))
        if found[i] > best:
            best, d = float(found[i]), tried[i]
        else:
            step *= 0.5
    return best, d


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100, help="machines with a law")
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    counts = Counter[str]()
    for seed, answer in workers.each(run_trial, range(given.seed, given.seed + 30 * given.count), given.jobs, 300.0):
        outcome, words = (answer.outcome, answer.text) if isinstance(answer, workers.Failed) else answer
        counts[outcome] += 1
        if outcome not in KNOWN[:3]:
            print(f"seed {seed}: {outcome}: {words}", flush=True)
        if sum(counts.values()) - counts["none"] >= given.count:
            break
    print(dict(counts))
    return int(any(outcome not in KNOWN for outcome in counts))


if __name__ == "__main__":
    sys.exit(main())
