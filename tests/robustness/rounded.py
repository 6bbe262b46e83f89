"""Random machines with redundant rows and few digits: python -m tests.robustness.rounded --count N --seed S.

All places, attitudes, axes, lengths and ratios of a machine are rounded to 4 to 12 decimals (of its size, and of a
radian). Its degrees of freedom must be those of the machine with all digits, unless a warning says that the digits do
not tell; and its motion that of the other one, within a hundred roundings.
"""

from __future__ import annotations

import argparse
import collections
import copy
import sys
import warnings

import numpy as np

from . import judge, machines, workers
from .judge import Joint
from .trial import in_words

KINDS = ("doubled", "planar", "sarrus", "bennett", "bricard", "rails", "shafts", "parallelograms", "slides")
DIGITS = range(4, 13)


def rounded(m, digits):
    """The same machine as a file would have it."""
    m = copy.deepcopy(m)

    def number(x, unit=1.0):
        return np.round(np.asarray(x, float) / unit, digits) * unit

    def frame(T):
        T = np.asarray(T, float)
        turn = rotation_vector(T[:3, :3])
        angle = float(np.linalg.norm(number(turn)))
        R = machines.rotation(number(turn), angle) if angle else np.eye(3)
        return judge.pose(R, number(T[:3, 3], m.k))

    for part in [*m.joints, *m.loops]:
        if isinstance(part, Joint):
            part.fa, part.fb, part.pitch = frame(part.fa), frame(part.fb), float(f"{part.pitch:.{digits}g}")
            part.axis, part.axis2 = tuple(number(part.axis)), tuple(number(part.axis2))
        elif part.kind == "weld":
            part.fa, part.fb = frame(part.fa), frame(part.fb)
        elif part.kind == "coupling":
            part.coefficients = {at: float(f"{c:.{digits}g}") for at, c in part.coefficients.items()}
        else:
            part.pa, part.pb, part.axis = number(part.pa, m.k), number(part.pb, m.k), number(part.axis)
            part.length = float(number(part.length, m.k))
    return m


def rotation_vector(R):
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_rotvec()


def run_trial(case):
    """(outcome, words) of a seed and a number of digits."""
    import cmbcontrol as cmb

    seed, digits = case
    m = machines.machine(seed)
    verdict = judge.verdict(m, m.q, seed=seed)
    if verdict.what != "regular":
        return "not asked", ""
    exact = machines.build(m)
    if verdict.rank == len(exact.row_names) or verdict.conditioning < 1e-2:
        return "not asked", ""  # nothing is redundant, or a singular configuration is near
    q, dof, rounding = np.asarray(m.q, float), m.nv - verdict.rank, 10.0**-digits
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", cmb.errors.PrecisionWarning)
            plant = machines.build(rounded(m, digits))
        warned = bool(told) and not plant.agreement.changes
        if warned:
            return "warned", str(plant.agreement)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cmb.errors.BranchWarning)
            start = plant.assemble(guess=q)
        far = float(np.abs(plant.difference(start, q) / m.metres()).max())
        if not far < 1e3 * rounding + 1e-9:
            return "wrong", f"closed {far:.1e} away"
        found = plant.diagnose(start)
        if found.dof != dof:
            return "wrong", f"dof {found.dof}, truly {dof}"
        runs = [
            cmb.simulate(machine, None, here, t_end=m.time, output_times=0.25 * m.time)
            for machine, here in (
                (exact, q),
                (exact, exact.close(exact.integrate(q, rounding * m.metres()))),
                (plant, start),
            )
        ]
    except Exception as error:
        return (
            "refused" if in_words(error) else "unhandled"
        ), f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    if any(run.events() for run in runs):
        return "ok", ""  # through a singular configuration, where the last digit decides how it goes on
    ends = [run.q.values[-1] for run in runs]
    off, sensitive = (float(np.abs(exact.difference(ends[0], end) / m.metres()).max()) for end in (ends[2], ends[1]))
    if not off < 100.0 * max(rounding, sensitive, 1e-9):
        return "wrong", f"the motion is {off:.1e} off; a start that is off by a rounding gives {sensitive:.1e}"
    return "ok", ""


def cases(count, first=0):
    """So many seeds of machines that may have redundant rows, each with its digits."""
    found, seed = [], first
    while len(found) < count:
        if machines.kind_of(seed) in KINDS:
            found.append((seed, DIGITS[seed % len(DIGITS)]))
        seed += 1
    return found


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--digits", type=int, help="only so many")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)
    counts, bad = collections.defaultdict(collections.Counter), 0
    todo = [(s, given.digits or d) for s, d in cases(given.count, given.seed)]
    for (seed, digits), answer in workers.each(run_trial, todo, given.jobs, 60.0):
        outcome, words = answer
        counts[machines.kind_of(seed)][outcome] += 1
        counts["all"][outcome] += 1
        if outcome not in ("ok", "not asked", "warned"):
            bad += 1
            print(f"seed {seed}, {digits} digits ({machines.kind_of(seed)}): {outcome}: {words}", flush=True)
    for kind, found in counts.items():
        print(f"{kind:<16}", dict(found))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
