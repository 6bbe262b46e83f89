"""Blocks that land, against a time-stepping judge: python -m tests.robustness.moreau --count N --seed S.

The judge is Moreau and Jean's method for one planar body with corners, written for it alone: steps of a microsecond,
impulses by Gauss and Seidel's iteration, friction within Coulomb's cone, restitution by Newton's law as the library has
it. Its error falls with the step. So it says itself how far it can be trusted, by steps of half the length, and where
the motion is not unique, or hangs on rounding, it does not settle: such times are not compared.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from numba import njit

from . import landings

STEP = 2e-6  # s
TIMES = np.linspace(0.1, landings.T_END, 15)
SETTLED = 1e-3  # of the size of the block: changes with half the step below which a time counts
APART = 3.0  # times such a change: the largest distance from the judge


@njit(cache=False)
def landed(q, v, corners, mass, inertia, mu, e, rest_speed, step, times):
    """Configurations (times, 3) of a block: place of its centre of mass, and angle."""
    out = np.empty((times.size, 3))
    n = corners.shape[0]
    impulse, before = np.zeros((n, 2)), np.zeros(n)
    N, T = np.zeros((n, 3)), np.zeros((n, 3))
    inverse = np.array([1.0 / mass, 1.0 / mass, 1.0 / inertia])
    q, v, k, t = q.copy(), v.copy(), 0, 0
    while k < times.size:
        q += 0.5 * step * v
        c, s = np.cos(q[2]), np.sin(q[2])
        closed = np.zeros(n, np.bool_)
        for i in range(n):
            x, y = c * corners[i, 0] - s * corners[i, 1], s * corners[i, 0] + c * corners[i, 1]
            N[i, 0], N[i, 1], N[i, 2] = 0.0, 1.0, x
            T[i, 0], T[i, 1], T[i, 2] = 1.0, 0.0, -y
            closed[i] = q[1] + y <= 0.0
            before[i] = (N[i] * v).sum()
            if not closed[i]:
                impulse[i] = 0.0
        v[1] -= 9.81 * step
        for i in range(n):
            v += inverse * (N[i] * impulse[i, 0] + T[i] * impulse[i, 1])
        for _ in range(2000):
            changed = 0.0
            for i in range(n):
                if not closed[i]:
                    continue
                back = e * before[i] if before[i] < -rest_speed else 0.0
                old = impulse[i, 0]
                impulse[i, 0] = max(0.0, old - ((N[i] * v).sum() + back) / (inverse * N[i] * N[i]).sum())
                v += inverse * N[i] * (impulse[i, 0] - old)
                bound, was = mu * impulse[i, 0], impulse[i, 1]
                push = was - (T[i] * v).sum() / (inverse * T[i] * T[i]).sum()
                impulse[i, 1] = min(max(push, -bound), bound)
                v += inverse * T[i] * (impulse[i, 1] - was)
                changed = max(changed, abs(impulse[i, 0] - old), abs(impulse[i, 1] - was))
            if changed <= 1e-15 * mass:
                break
        q += 0.5 * step * v
        t += 1
        if t * step >= times[k] - 0.5 * step:
            out[k] = q
            k += 1
    return out


def trial(seed):
    """(number of times that were compared, largest distance over what the judge allows) of the block of a seed."""
    cmb, plant, contacts, q, v = landings.drawing(seed)
    if plant.name != "block" or contacts[0].friction is None:  # points that cannot slip have no cone
        return None
    body, contact = plant.bodies[0], contacts[0]
    corners = np.array([loop.point_b[:2] for loop in plant.loops])
    numbers = float(contact.friction), contact.restitution, contact.rest_speed
    given = q, plant.position_rate(q, v), corners, body.mass, body.inertia[2, 2], *numbers
    coarse, middle, fine = (landed(*given, step, TIMES) for step in (2.0 * STEP, STEP, 0.5 * STEP))
    own = np.maximum(np.abs(coarse - middle), np.abs(middle - fine)).max(axis=1)  # one alone may be small by chance
    settled = np.logical_and.accumulate(own < SETTLED * plant.size)
    run = cmb.simulate(plant, None, q, v, t_end=landings.T_END, switches=contacts, output_times=np.append(0.0, TIMES))
    apart = np.abs(run.q.values[1:] - fine).max(axis=1)
    allowed = APART * np.maximum.accumulate(own) + 10.0 * STEP
    return int(settled.sum()), float((apart / allowed)[settled].max(initial=0.0))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    blocks = times = bad = 0
    for seed in range(given.seed, given.seed + given.count):
        found = trial(seed)
        if found is None:
            continue
        blocks, times = blocks + 1, times + found[0]
        if found[1] > 1.0:
            bad += 1
            print(f"seed {seed}: apart by {found[1]:.3g} times what the judge allows", flush=True)
    print(f"{blocks} blocks, {times} of {blocks * TIMES.size} times at which the judge has settled, {bad} findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
