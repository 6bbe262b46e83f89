"""Random problems of structured tuning: whether the default number of starts finds what more of them find.

    python -m tests.robustness.structures --count 300

Each seed is one to five plants that are alike, stable or not, in continuous or sampled time, a static gain with
some entries free (decentralised, of some order, or all of them), and goals that they all have; or loops of PID laws on
five-bars with payloads. What is found must be stable on all plants, by poles computed anew.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import Any

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import design, plants
from cmbcontrol.controllers import PID
from cmbcontrol.design import LoopGoal, Range
from cmbcontrol.design.structured import STARTS, MinimaxProblem, Requirement
from cmbcontrol.errors import DesignError
from cmbcontrol.linear.generalized_plant import GeneralizedPlant

from . import workers

SEARCHED, CLOSE = 20, 0.01  # starts of the thorough search, and how near to its value an answer is the same
MACHINES = 15  # every so many seeds a five-bar


class SomeEntries:
    """Gain whose entries are free where a pattern says so."""

    def __init__(self, pattern: np.ndarray) -> None:
        self.pattern, self.rows = pattern, np.flatnonzero(pattern)

    @property
    def start(self) -> np.ndarray:
        return np.zeros(len(self.rows))

    def gains(self, theta: np.ndarray) -> list[np.ndarray]:
        K = np.zeros(self.pattern.size)
        K[self.rows] = theta
        return [K.reshape(self.pattern.shape)]

    def derivatives(self, theta: np.ndarray) -> list[np.ndarray]:
        dK = np.zeros((len(theta), self.pattern.size))
        dK[np.arange(len(theta)), self.rows] = 1.0
        return [dK.reshape(-1, *self.pattern.shape)]

    def drawn(self, rng: np.random.Generator) -> np.ndarray:
        return rng.standard_normal(len(self.rows)) * 10.0 ** rng.uniform(-1.0, 1.0)


def drawn(seed: int) -> MinimaxProblem:
    """Problem of a seed."""
    rng = np.random.default_rng([38, seed])
    n, m, p = (int(rng.integers(*ends)) for ends in ((2, 7), (1, 4), (1, 4)))
    dt = 0.1 if rng.random() < 0.3 else 0.0
    order = int(rng.integers(0, 3)) if rng.random() < 0.3 else 0
    A = rng.standard_normal((n, n)) * 10.0 ** rng.uniform(-1.0, 1.0, (n, 1))
    slow = np.linalg.eigvals(A).real.max()
    A -= (slow - np.abs(A).max() * rng.uniform(-0.3, 0.05)) * np.eye(n)  # the slowest pole, mostly stable
    shapes = {"B1": (n, 2), "B2": (n, m), "C1": (2 + m, n), "C2": (p, n), "D21": (p, 2)}
    parts = {name: rng.standard_normal(shape) * 10.0 ** rng.uniform(-1.0, 0.0) for name, shape in shapes.items()}
    parts["C1"][2:] = 0.0
    D12 = np.vstack([np.zeros((2, m)), 10.0 ** rng.uniform(-2.0, 0.0) * np.eye(m)])
    kinds = [str(x) for x in rng.choice(["hinf", "h2", "growth"], int(rng.integers(1, 4)), replace=False)]
    if "h2" in kinds and not dt:
        parts["D21"] = np.zeros((p, 2))  # with noise of measurements efforts have no variance
    made = []
    for k in range(int(rng.integers(1, 6))):
        near = {name: X * (1.0 + 0.1 * rng.standard_normal(X.shape)) for name, X in parts.items()}
        own = A * (1.0 + 0.05 * rng.standard_normal(A.shape)) if k else A
        if dt:
            from scipy.linalg import expm

            both = expm(np.block([[own, near["B2"]], [np.zeros((m, n + m))]]) * dt)
            own, near["B2"] = both[:n, :n], both[:n, n:]
            near["B1"] = near["B1"] * dt
        plant = GeneralizedPlant(A=own, D12=D12, dt=dt, **near).with_order(order)
        for kind in kinds:
            limit = (
                -float(10.0 ** rng.uniform(-1.0, 0.0)) if kind == "growth" else float(10.0 ** rng.uniform(-1.0, 1.0))
            )
            made.append(Requirement(f"{kind} {k}", plant, kind, limit))
    pattern = np.eye(m, p, dtype=bool) | (rng.random((m, p)) < rng.choice([0.0, 0.5, 1.0]))
    whole = np.ones((m + order, p + order), dtype=bool)
    whole[:m, :p] = pattern
    return MinimaxProblem(made, SomeEntries(whole))


def machine(seed: int, starts: int) -> float:
    """Value that is found for loops of a five-bar with random payloads, poses and goals."""
    rng = np.random.default_rng([39, seed])
    plant, to = plants.five_bar(), cmb.Constant([2.1, 1.0])
    loads = {f"{m:.2f}": design.with_payload(plant, "left_upper", m, (1.5, 0.0, 0.0)) for m in rng.uniform(0.0, 4.0, 2)}
    poses = [{"left": float(rng.uniform(1.9, 2.7)), "right": float(rng.uniform(0.4, 1.2))} for _ in range(2)]

    def law(kp: float, ki: float, kd: float) -> Any:
        return PID(plant, to, kp=kp, ki=ki, kd=kd, coordinates=("left", "right"), period=2e-3, feedforward="none")

    gains = {"kp": Range(10.0, 5e3, log=True), "ki": Range(1.0, 5e3, log=True), "kd": Range(1.0, 1e3, log=True)}
    goals = [
        LoopGoal.disk_margin(float(rng.uniform(0.4, 0.9))),
        LoopGoal.tracking(float(rng.uniform(3.0, 12.0))),
        LoopGoal.rejection(float(10.0 ** rng.uniform(-3.5, -2.0))),
    ]
    found = design.structured(loads, poses, law, gains, goals, delay=float(rng.uniform(0.0, 2e-3)), starts=starts)
    return found.value


def solved(problem: MinimaxProblem, starts: int) -> tuple[float, str]:
    """Value that starts lead to, inf where there is none, and what is wrong with the answer."""
    try:
        found = problem.solve(starts)
    except DesignError:
        return np.inf, ""
    K = problem.structure.gains(found.theta)
    for one in problem.requirements:
        poles = np.linalg.eigvals(one.plant.A + one.plant.B2 @ K[one.case] @ one.plant.C2)
        if not (np.abs(poles).max() < 1.0 if one.plant.dt else poles.real.max() < 0.0):
            return found.value, f"{one.name}: not stable"
    again = max(problem.exact(found.theta).values())
    return found.value, "" if again == found.value else f"value {found.value}, computed anew {again}"


def run_trial(seed: int) -> str:
    """What was found: the same by the default starts as by more of them, worse, or something wrong."""
    if seed % MACHINES == 0:
        few, wrong = machine(seed, STARTS), ""
        many = machine(seed, SEARCHED)
    else:
        problem = drawn(seed)
        few, wrong = solved(problem, STARTS)
        many, more = solved(problem, SEARCHED)
        wrong = wrong or more
    if wrong:
        return f"wrong: {wrong}"
    best = min(few, many)
    if not np.isfinite(best):
        return "none"
    return "same" if few - best <= CLOSE * max(abs(best), CLOSE) else "worse"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    seen = Counter[str]()
    for seed, answer in workers.each(run_trial, range(given.seed, given.seed + given.count), given.jobs, 600.0):
        words = f"wrong: {answer.text}" if isinstance(answer, workers.Failed) else answer
        seen[words.partition(":")[0]] += 1
        if words not in ("same", "none"):
            print(f"seed {seed}: {words}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in sorted(seen.items())))
    return 1 if seen["wrong"] or seen["worse"] > 0.1 * (seen["same"] + seen["worse"]) else 0


if __name__ == "__main__":
    sys.exit(main())
