"""Shares of redundant contacts against programs in cvxpy."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Body, Contact, Mechanism, Planar, Point
from cmbcontrol.sim.contact_sharing import Limit, within

FORCE = 300.0  # N


def drawn(seed):
    """Multipliers, their redundancy, and limits of contacts in planes and in space, and of what rubs in joints."""
    rng = np.random.default_rng(seed)
    limits, rows, at = [], [], 0
    for _ in range(int(rng.integers(2, 6))):
        k, scale = int(rng.integers(0, 3)), float(10.0 ** rng.uniform(-2, 1))
        own = range(at, at + k + 1)
        at += k + 1
        rows.append((own, k, scale, float(rng.uniform(0.1, 1.5)), bool(k == 1 and rng.random() < 0.3)))
    for own, _, scale, mu, joint in rows:
        unit = np.eye(at)[list(own)]
        if joint:
            limits.append(Limit(0.0 * unit[0], unit[1:], float(rng.uniform(0.1, 1.0)) * FORCE * scale, scale))
        else:
            limits.append(Limit(-unit[0], unit[1:] / mu, 0.0, scale))
    scales = np.concatenate([np.full(k + 1, scale) for _, k, scale, _, _ in rows])
    N = np.linalg.qr(rng.standard_normal((at, int(rng.integers(1, max(at - 1, 2))))))[0]
    heads = np.array([1.0 if i in {own[0] for own, *_ in rows} else 0.0 for i in range(at)])
    lam = FORCE * (rng.standard_normal(at) - float(rng.uniform(0.0, 1.5)) * heads)
    return scales * lam, scales[:, None] * N, limits


def judged(lam, N, limits):
    """The largest margin, over the largest force or over what a limit leaves."""
    import cvxpy as cp

    y, margin = cp.Variable(N.shape[1]), cp.Variable()
    all_, kept = lam + FORCE * N @ y, [margin <= 1.0]
    for limit in limits:
        part = limit.bound if limit.bound > 0.0 else FORCE * limit.scale
        room = (limit.bound + limit.head @ all_ - margin * part) / (FORCE * limit.scale)
        kept.append(room >= (cp.norm(limit.tails @ all_) / (FORCE * limit.scale) if len(limit.tails) else 0.0))
    program = cp.Problem(cp.Maximize(margin - 1e-9 * cp.sum_squares(y)), kept)
    program.solve(solver="CLARABEL")
    return float(margin.value)


def margin_of(lam, limits):
    found = []
    for limit in limits:
        part = limit.bound if limit.bound > 0.0 else FORCE * limit.scale
        found.append((limit.bound + limit.head @ lam - np.linalg.norm(limit.tails @ lam)) / part)
    return min(found)


@pytest.mark.first(1)
@pytest.mark.parametrize("block", range(4))
def test_shares_are_as_far_within_limits_as_can_be(block):
    within_, without = 0, 0
    for seed in range(50 * block, 50 * block + 50):
        lam, N, limits = drawn(seed)
        best, found = judged(lam, N, limits), within(lam, N, limits, FORCE, 1e-10 * FORCE)
        if abs(best) < 1e-5:
            continue
        assert (found is not None) == (best > 0.0), (seed, best)
        if found is None:
            without += 1
            continue
        within_ += 1
        y = np.linalg.lstsq(N, found - lam, rcond=None)[0]
        assert np.abs(N @ y - (found - lam)).max() < 1e-10 * np.abs(found).max()
        assert margin_of(found, limits) > best - 0.1, seed  # small multipliers count, too
    assert within_ > 5 and without > 5


def feet_on(left, right, mu, size):
    """A block with two feet, on ground that leans by these angles towards the right."""
    block = Body("block", 2.0, (0, 0, 0), (0.1 * size**2,) * 3)
    feet = [Point(f"foot{i}", "ground", "block", (x, 0, 0), (x, 0, 0)) for i, x in enumerate((-0.3 * size, 0.3 * size))]
    plant = Mechanism("block", [block], [Planar("base", "ground", "block")], feet, gravity=(0, -9.81, 0))
    normals = [(np.sin(angle), np.cos(angle), 0.0) for angle in (left, right)]
    return plant, [Contact(f"foot{i}", normal=n, friction=mu) for i, n in enumerate(normals)]


@pytest.mark.parametrize("size", [1.0, 1e-6, 1e4])
@pytest.mark.parametrize(
    "left, right, mu, rests",
    [(1.2, -1.2, 0.2, True), (-0.5, 0.5, 0.5, True), (0.5, 0.5, 0.6, True), (0.5, 0.5, 0.5, False)],
)
def test_feet_push_against_each_other_where_the_smallest_forces_do_not_hold(left, right, mu, rests, size):
    """In a valley and on a ridge any friction holds, and the smallest forces, upwards both, are outside of the cones.

    On a slope it takes a coefficient above its tangent, 0.546.
    """
    plant, contacts = feet_on(left, right, mu, size)
    run = cmb.simulate(plant, None, [0.0, 0.0, 0.0], t_end=0.2 * np.sqrt(size), switches=contacts)
    moved = np.abs(run.q.values / (1.0, size, size)).max()
    assert moved < 1e-12 if rests else moved > 1e-3
    assert rests == all(f"sticks foot{i}" in [e["kind"] for e in run.events()] for i in range(2))
