"""Uncertain models of random machines against machines built anew: python -m tests.robustness.uncertain --count N.

Each machine has a motor at every plain coordinate, and five parameters of any kind with intervals. At random values the
machine is built anew from changed parts, closed, trimmed and linearized, and compared with the fraction: to 1e-10 where
it is exact, else a block of norm one at most has to make up for the difference.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

import cmbcontrol as cmb
from cmbcontrol._tolerance import floored
from cmbcontrol.dynamics import derivatives, parameters
from cmbcontrol.linear import UncertainModel, uncertain_model
from cmbcontrol.linear.statics import largest_force
from tests.fixtures import changed_machine

from . import judge, machines, workers

POINTS, PARAMETERS = 50, 5
# Of the largest entries of a block, where its terms do not cancel: the machine built anew has rounding of its own.
EXACT = 1e-10
WEAK = 1e-3  # of the strongest motor: what weaker ones do is compared with this
CONDITIONED = 1e-3  # of loops and coordinates: rounding is then below 1e-10


class Drawing(NamedTuple):
    """A machine at rest with the parameters that are uncertain."""

    plant: Any
    point: Any
    intervals: dict[str, tuple[float, float]]
    coordinates: tuple[str, ...]


def drawn(seed: int) -> Drawing | str:
    """Random machine with intervals of its parameters, or why there is none."""
    m = machines.machine(seed)
    driven = [(j.name, i) for j in m.joints for i in range(machines.LINEAR.get(j.kind, 0))]
    m.motors = [judge.Motor(1.0, at=at) for at in driven]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plant = machines.build(m)
            point = cmb.trim(plant, plant.close(np.asarray(m.q, float)))
            lin = cmb.linearize(plant, point)
    except cmb.CmbError as error:
        return type(error).__name__
    if not lin.dof:
        return "rigid"
    terms = plant.terms(point.q, point.v)
    if min(lin.conditioning, terms.conditioning) < CONDITIONED:
        return "near to a singular configuration"
    names = lin.states[: lin.dof]
    lengths = terms.rank == len(plant.row_names) and all(name in plant.position_names for name in names)
    chosen = intervals(plant, np.random.default_rng([31, seed]), lengths)
    return Drawing(plant, point, chosen, names) if len(chosen) == PARAMETERS else "too few parameters"


def intervals(plant: Any, rng: Any, lengths: bool) -> dict[str, tuple[float, float]]:
    """Intervals of parameters of any kind; lengths where no redundant row forbids it, and not too many."""
    known, found = parameters(plant), dict[str, tuple[float, float]]()
    names = rng.permutation(list(known)).tolist()
    if lengths and rng.random() < 0.3:  # two of them first, or there are few among all inertias
        names.sort(key=lambda name: known[name].unit != "m" or "_com_" in name)
        names = [*names[:2], *rng.permutation(names[2:]).tolist()]
    for name in names:
        value, unit = known[name].value, known[name].unit
        change = rng.uniform(0.02, 0.3)
        body = next((b for b in plant.bodies if name.startswith(f"{b.name}_")), None)
        what = name.removeprefix(f"{body.name}_") if body is not None else name
        if what.startswith("inertia_"):
            least, _, most = np.linalg.eigvalsh(body.inertia)
            change *= 0.1 * min(least, np.trace(body.inertia) - 2.0 * most)  # so that such a body exists
        elif what.startswith("com_"):
            change *= plant.size
        elif what == "mass" or (name.startswith(("spring_", "damping_", "gravity_")) and "point" not in name):
            change *= abs(value)
        elif lengths and unit == "m" and not name.startswith(("motor_", "load_", "spring_")):
            change *= 0.1 * plant.size
        else:
            continue
        centre = {"mass": "com_", "com_x": "mass", "com_y": "mass", "com_z": "mass"}.get(what, "no other")
        if change > 0.0 and not any(other.startswith(f"{body.name if body else ''}_{centre}") for other in found):
            found[name] = value - change, value + change
        if len(found) == PARAMETERS:
            break
    return found


ROUNDED = 1e-14  # of the largest terms
NO_RATE = 1e-3  # 1/s: of a machine whose rates are slower over seconds nothing is seen


def anew(case: Drawing, values: dict[str, float]) -> Any:
    """Linear model of a machine built anew from changed parts, about its own equilibrium."""
    plant, known = case.plant, parameters(case.plant)
    for name, x in values.items():
        plant = changed_machine(plant, name, x - known[name].value)
    held = dict(zip(case.plant.position_names, case.point.q, strict=True))
    q = case.point.q
    if np.abs(plant.terms(q, np.zeros(plant.nv)).phi * plant.row_scale).max(initial=0.0) > 1e-13 * plant.size:
        q = plant.assemble(guess=q, **{name: held[name] for name in case.coordinates})
    return cmb.linearize(
        plant, cmb.trim(plant, q, preload=case.point.u if plant.nu else None), coordinates=case.coordinates
    )


def apart(model: UncertainModel, values: dict[str, float], lin: Any) -> float:
    """Largest difference of a block of the matrices over its largest entry, where each coordinate's inertia is one.

    Rates compare with natural frequencies, too: a machine without dampers has no entries there. So do stiffnesses with
    the forces whose sums they are: of these rounding may be left alone.
    """
    found, n, p, point = model.at(values), len(lin.A), lin.dof, lin.point
    K, M = lin.rate_map, point.plant.terms(point.q, point.v).M
    own = np.sqrt(np.einsum("ij,ij->j", K, M @ K))

    def blocks(A: Any, B: Any, C: Any, D: Any) -> list[Any]:
        A, B = own[:, None] * A[n - p :], own[:, None] * B[n - p :]
        on_y = A[:, : n - p] / own if n == 2 * p else A[:, : n - p]
        return [on_y, A[:, n - p :] / own, B, C, D]

    theirs = blocks(lin.A, lin.B, lin.C, lin.D)
    sizes = [float(np.abs(x).max(initial=0.0)) for x in theirs]
    if n == 2 * p:
        local = derivatives(point.plant, point.q, point.v, point.u, a=np.zeros(len(K)), lam=point.lam)
        reach = np.abs(K / point.plant.displacement_scale[:, None] / own).sum(axis=0).max()
        terms = float(reach**2 * largest_force(point.plant, local, point.lam, point.u))
        sizes[0] = floored(sizes[0], terms, EXACT)
    sizes[1] = max(sizes[1], np.sqrt(sizes[0]), EXACT * NO_RATE)  # a free machine has no rates at all
    off = [float(np.abs(x - y).max(initial=0.0)) for x, y in zip(blocks(*found), theirs, strict=True)]
    # where a motor moves nothing, rounding of the terms of its column is left
    motors = np.abs(K / own).max(initial=0.0) * np.abs(point.plant.terms(point.q, point.v).B)
    off[2] = max(off[2] - ROUNDED * float(motors.max(initial=0.0)), 0.0)
    return max((x / size if size else np.inf for x, size in zip(off, sizes, strict=True) if x), default=0.0)


def needed(model: UncertainModel, values: dict[str, float], lin: Any) -> tuple[float, float]:
    """Least norm of the remainder that makes the model the machine, and what it cannot make up for, relative."""
    last = model.blocks[-1]
    X = np.diag(np.repeat(model.normalised(values), [dict(model.structure).get(p.name, 0) for p in model.parameters]))
    k = len(X)
    whole = np.block([[model.D_zw, model.C_z, model.D_zu], [model.B_w, model.A, model.B],
                      [model.D_yw, model.C, model.D]])  # fmt: skip
    closed = whole[k:, k:] + whole[k:, :k] @ X @ np.linalg.solve(np.eye(k) - whole[:k, :k] @ X, whole[:k, k:])
    z, out = slice(0, last.shape[1]), slice(last.shape[1], None)
    w, into = slice(0, last.shape[0]), slice(last.shape[0], None)
    truth = np.block([[lin.A, lin.B], [lin.C, lin.D]])
    off, push = truth - closed[out, into], closed[out, w]
    unit = np.abs(push).max(axis=0)
    answer = np.linalg.lstsq(push / unit, off, rcond=1e-13)[0] / unit[:, None]  # w by (x, u), so that off vanishes
    size = np.abs(truth).max(axis=1, keepdims=True)
    size[size == 0.0] = 1.0
    asked = np.abs(push @ answer / size).max(axis=0)
    columns, inputs = np.abs(truth / size).max(axis=0), slice(len(lin.A), None)
    if len(lin.inputs):  # a motor at a dead centre has the rounding of those that move something
        metres = np.where([unit == "N m" for unit in lin.input_units], lin.point.plant.size, 1.0)
        columns[inputs] = np.maximum(columns[inputs], WEAK * (columns[inputs] * metres).max() / metres)
    answer[:, asked <= EXACT * columns] = 0.0  # columns in which only rounding is left
    seen = closed[z, into] + closed[z, w] @ answer
    scale = np.abs(seen).max(axis=0)
    scale[scale == 0.0] = 1.0
    # the least X with X seen = answer
    norm = float(np.linalg.norm((answer / scale) @ np.linalg.pinv(seen / scale, rcond=1e-13), 2))
    return norm, float((np.abs(push @ answer - off) / size).max(initial=0.0))


def run_trial(seed: int, points: int = POINTS) -> list[tuple[str, str]]:
    """Kind of the machine, and what was found."""
    case = drawn(seed)
    if isinstance(case, str):
        return [(f"none: {case}", "none")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            model = uncertain_model(case.plant, case.point, case.intervals, coordinates=case.coordinates)
        except cmb.errors.InputError as error:  # a length takes it out of reach
            if "does not close" in str(error):
                return [("none: a loop does not close", "none")]
            raise
        bounded = model.blocks and model.blocks[-1].kind != "real"
        rng, worst, off = np.random.default_rng([32, seed]), 0.0, 0.0
        for _ in range(points):
            values = {p.name: float(rng.uniform(p.low, p.high)) for p in model.parameters}
            lin = anew(case, values)
            if bounded:
                norm, left = needed(model, values, lin)
                worst, off = max(worst, norm), max(off, left)
            else:
                off = max(off, apart(model, values, lin))
    kind = "bounded" if bounded else "exact"
    if worst > 1.0 or off > EXACT:
        return [(kind, f"off by {off:.1e}, block of norm {worst:.3f}: {model}")]
    return [(kind, "ok")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="machines with an equilibrium and five parameters")
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    seen = Counter[tuple[str, bool]]()
    bad = done = 0
    for seed, answer in workers.each(run_trial, range(given.seed, given.seed + 20 * given.count), given.jobs, 300.0):
        for kind, words in [("all", answer.text)] if isinstance(answer, workers.Failed) else answer:
            seen[kind, words in ("ok", "none")] += 1
            done += words != "none"
            if words not in ("ok", "none"):
                bad += 1
                print(f"seed {seed} ({kind}): {words}", flush=True)
        if done >= given.count:
            break
    for (kind, good), count in sorted(seen.items()):
        print(f"{count} {kind}{'' if good else ' WRONG'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
