"""Random machines against the judge, by the thousand: python -m tests.robustness.random_machines --count N --seed S."""

from __future__ import annotations

import argparse
import collections
import sys
import time

from . import machines, workers
from .trial import OUTCOMES, Trial, run_trial

WARM = 2, 10, 24, 32  # together they use all that is compiled


def warm():
    """Compile or load what the trials use, before the processes start: their time is not to be spent with it."""
    for seed in WARM:
        run_trial(seed)


def run(seeds, jobs=2, limit=20.0, told=lambda trial, done: None):
    """All trials."""
    trials = []
    for seed, trial in workers.each(run_trial, seeds, jobs, limit):
        if isinstance(trial, workers.Failed):
            why, trial = trial, Trial(seed, machines.kind_of(seed))
            trial.add("trial", *why)
        trials.append(trial)
        told(trial, len(trials))
    return trials


def table(trials):
    """A summary by class and outcome."""
    counts = collections.defaultdict(collections.Counter)
    for t in trials:
        counts[t.kind][t.outcome] += 1
        counts["all"][t.outcome] += 1
    head = ["class", *OUTCOMES]
    lines = ["  ".join(f"{x:>10}" if i else f"{x:<20}" for i, x in enumerate(head))]
    for kind in [*sorted(k for k in counts if k != "all"), "all"]:
        row = [kind, *(counts[kind][o] or "" for o in OUTCOMES)]
        lines.append("  ".join(f"{x:>10}" if i else f"{x:<20}" for i, x in enumerate(row)))
    truths = collections.Counter(t.truth for t in trials)
    lines.append("judged: " + ", ".join(f"{k or 'not at all'} {n}" for k, n in truths.most_common()))
    asked = collections.Counter((c, o) for t in trials for c, o, _ in t.findings)
    lines += [f"  {n:5d}  {check}: {outcome}" for (check, outcome), n in asked.most_common()]
    return "\n".join(lines)


def finding_lines(trial):
    return [f"seed {trial.seed} ({trial.kind}, {trial.truth}): {c}: {o}: {text}" for c, o, text in trial.findings]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=20.0, help="CPU seconds for each machine")
    parser.add_argument("--kind", help="only this class")
    given = parser.parse_args(arguments)
    seeds = [s for s in range(given.seed, given.seed + given.count) if given.kind in (None, machines.kind_of(s))]
    begin, bad = time.monotonic(), 0

    def told(trial, done):
        nonlocal bad
        bad += bool(trial.findings)
        for line in finding_lines(trial):
            print(line, flush=True)
        if done % 100 == 0:
            spent = time.monotonic() - begin
            print(f"{done} of {len(seeds)}, {bad} with findings, {spent:.0f} s", file=sys.stderr, flush=True)

    warm()
    trials = run(seeds, given.jobs, given.limit, told)
    print(table(trials))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
