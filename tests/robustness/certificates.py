"""Random uncertain systems against counter-examples: python -m tests.robustness.certificates --count N --seed S.

Systems of 2 to 8 states, continuous and sampled, in random units, with real numbers, some of them repeated. What is
certified may have no unstable member: random parameters, corners, and a search uphill along the gradient of the
largest real part (or absolute value) of the poles look for one. The worst parameters that are told must be on the
border of stability.
"""

from __future__ import annotations

import argparse
import collections
import sys

import numpy as np

from . import workers

TRIED = 10_000  # random parameters of each system
BORDER = 1e-6  # of the largest pole: what is so near to the border of stability is on it


def drawing(seed):
    """(A, B, C, D, dt), blocks, repeats of a seed."""
    from cmbcontrol.linear import UncertainBlock

    rng = np.random.default_rng([38, seed])
    repeats = rng.integers(1, 3, size=int(rng.integers(1, 6)))
    n, m = int(rng.integers(2, 9)), int(repeats.sum())
    dt = float(rng.choice([0.0, 0.01]))
    A = rng.standard_normal((n, n))
    if dt:
        A *= rng.uniform(0.5, 0.95) / np.abs(np.linalg.eigvals(A)).max()
    else:
        A -= (np.linalg.eigvals(A).real.max() + rng.uniform(0.02, 1.0)) * np.eye(n)
    B, C = rng.standard_normal((n, m)), rng.standard_normal((m, n))
    D = rng.standard_normal((m, m)) * float(rng.choice([0.0, 0.1]))
    unit = 10.0 ** rng.uniform(-4, 4, n)
    A, B, C = A * unit[:, None] / unit, B * unit[:, None], C / unit
    return (A, B, C, D, dt), [UncertainBlock("real", int(k)) for k in repeats], repeats


def growths(system, repeats, deltas):
    """Distances beyond the border of stability (k,), relative to the largest pole, of parameters (k, p)."""
    A, B, C, D, dt = system
    d = np.repeat(deltas, repeats, axis=1)
    inner = np.linalg.solve(np.eye(len(D)) - D * d[:, None, :], np.broadcast_to(C, (len(d), *C.shape)))
    poles = np.linalg.eigvals(A + (B * d[:, None, :]) @ inner)
    size = np.abs(poles).max(axis=1)
    return (size - 1.0) if dt else poles.real.max(axis=1) / size


def uphill(system, repeats, start, radius):
    """Parameters within a box towards which stability is lost, by gradients and corners."""
    best, d, step = growths(system, repeats, start[None])[0], start, 0.5 * radius
    while step > 1e-3 * radius:
        h = 1e-6 * radius
        near = growths(system, repeats, d + h * np.eye(len(d)))
        slope = near - best
        scale = np.abs(slope).max()
        tried = [np.clip(d + step * np.sign(slope), -radius, radius)]
        tried.append(np.clip(d + step * slope / max(scale, 1e-300), -radius, radius))
        found = growths(system, repeats, np.array(tried))
        k = int(np.argmax(found))
        if found[k] > best:
            best, d = found[k], tried[k]
        else:
            step *= 0.5
    return best


def run_trial(seed):
    """(outcome, words) of a seed."""
    from cmbcontrol.linear import robust_stability

    system, blocks, repeats = drawing(seed)
    rng = np.random.default_rng([39, seed])
    found = robust_stability(system, blocks, branches=100)
    if not found.stable or not np.isfinite(found.upper):
        return "refused", str(found)
    if not found.lower <= found.upper * (1 + 1e-9):
        return "wrong", f"lower {found.lower} above upper {found.upper}"
    radius = 1.0 / max(found.upper, 1e-6)
    deltas = rng.uniform(-radius, radius, (TRIED, len(blocks)))
    deltas[: TRIED // 4] = radius * np.sign(deltas[: TRIED // 4])
    grown = growths(system, repeats, deltas)
    order = np.argsort(-grown)[:5]
    largest = max([float(grown.max()), *(uphill(system, repeats, deltas[k], radius) for k in order)])
    if largest > 1e-9:
        return "wrong", f"certified up to {radius}, but a pole is {largest:.1e} beyond the border within"
    if found.worst:
        at = abs(growths(system, repeats, np.array([list(found.worst.values())]))[0])
        worse = growths(system, repeats, 1.001 * np.array([list(found.worst.values())]))[0]
        if at > BORDER and worse < 0.0:
            return "wrong", f"the worst parameters are {at:.1e} away from the border"
    return ("ok" if found.upper <= 1.05 * found.lower else "apart"), f"{found.lower} {found.upper}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)
    counts = collections.Counter()
    for seed, answer in workers.each(run_trial, range(given.seed, given.seed + given.count), given.jobs, 120.0):
        outcome, words = (answer.outcome, answer.text) if isinstance(answer, workers.Failed) else answer
        counts[outcome] += 1
        if outcome != "ok":
            print(f"seed {seed}: {outcome}: {words}", flush=True)
    print("all", dict(counts))
    return int(any(outcome not in ("ok", "apart") for outcome in counts))


if __name__ == "__main__":
    sys.exit(main())
