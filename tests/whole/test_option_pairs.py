"""No combination of options crashes: formulation, pseudoinverse, stabilisation and integrator, on three plants.

Each combination runs, and is then checked for what it promises, or is refused in words that name what does not go
together. Which ones are refused is written down here, so a refusal that comes or goes unnoticed fails a test.
"""

import re
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from cmbcontrol import plants, simulate
from cmbcontrol.errors import CmbError
from cmbcontrol.papers.formulations import FORMULATIONS
from cmbcontrol.papers.methods import LOCAL_METHODS, METHODS, MULTISTEP, settings
from cmbcontrol.papers.pseudoinverse import PSEUDOINVERSES

T_END = 0.01
STABILISATIONS = {
    "projection": {},
    "euclidean": {"metric": "euclidean"},
    "energy": {"energy": True},
    "every 2 steps": {"every": 2, "max_step": 0.003},
    "all-at-once": {"stabilisation": "all-at-once"},
    "baumgarte": {"stabilisation": "baumgarte"},
    "adaptive": {"stabilisation": "baumgarte", "gains": "adaptive"},
    "none": {"stabilisation": "none"},
}
PLANTS = ("five-bar", "parallelogram", "slider-crank")  # full rank; redundant rows; a plant given by functions
FACTORS = {
    "plant": PLANTS,
    "formulation": tuple(FORMULATIONS),
    "pseudoinverse": (None, *PSEUDOINVERSES),
    "stabilisation": tuple(STABILISATIONS),
    "method": METHODS,
}
DEFAULT = {name: known[0] for name, known in FACTORS.items()}  # five-bar, gauss, None, projection, dop853
FULL_RANK = ("lagrange", "augmented")  # what they solve with is singular where rows are redundant
NOT_EXACT = ("damped", "filtered")  # pseudoinverses that leave an error on purpose


def refusal(combination):
    """What must be named where a combination is refused; None where it runs."""
    c = combination
    if c["formulation"] == "gauss" and c["pseudoinverse"] is not None:
        return "pseudoinverse"
    if c["method"] in LOCAL_METHODS:
        if c["formulation"] != "gauss":
            return "formulation"
        if c["stabilisation"] not in ("projection", "euclidean"):
            return "stabilisation"
    if c["method"] in MULTISTEP:
        if c["stabilisation"] == "adaptive":
            return "[Bb]aumgarte"
        if c["stabilisation"] not in ("baumgarte", "none"):
            return "stabilisation"
    if c["plant"] == "parallelogram" and c["formulation"] in FULL_RANK and c["pseudoinverse"] is None:
        return c["formulation"]
    return None


@cache
def start(name):
    """A plant in motion, away from singular configurations."""
    if name == "five-bar":
        plant = plants.five_bar()
        q0 = plant.assemble(left=2.1, right=1.0)
        return plant, q0, plant.project_velocity(q0, np.array([1.0, 0.0, -1.5, 0.0]))
    plant, q0, v0 = plants.catalogue[name].start()
    return plant, q0, plant.project_velocity(q0, v0 + 0.5)


def run(combination):
    plant, q0, v0 = start(combination["plant"])
    method = combination["method"]
    options = STABILISATIONS[combination["stabilisation"]] | ({"step": 0.0025} if method == "rk4" else {})
    return simulate(
        plant,
        None,
        q0,
        v0,
        t_end=T_END,
        output_times=[T_END],
        rtol=1e-8,
        atol=1e-8,
        **settings(
            pseudoinverse=combination["pseudoinverse"], formulation=combination["formulation"], method=method, **options
        ),
    )


@cache
def end(plant):
    """Where the default settings end, with tight tolerances."""
    system, q0, v0 = start(plant)
    found = simulate(system, None, q0, v0, t_end=T_END, output_times=[T_END])
    return found.q.values[-1], found.v.values[-1], found.energy.values[-1]


def fault(combination):
    """What is wrong with a combination, in words; nothing where all is as it should be."""
    expected = refusal(combination)
    try:
        found = run(combination)
    except (TypeError, ValueError, CmbError) as error:
        told = str(error)
        if expected is None:
            return f"refused: {type(error).__name__}: {told}"
        return None if re.search(expected, told) and len(told) > 40 else f"does not name {expected!r}: {told}"
    except Exception as error:
        return f"crashed: {type(error).__name__}: {error}"
    return "runs, but should be refused" if expected is not None else _wrong(combination, found)


def _wrong(combination, found):
    """What a run that was done does not fulfil."""
    q, v, energy = end(combination["plant"])
    loose = 1e-3 if combination["pseudoinverse"] in NOT_EXACT else 1e-6
    projects = combination["stabilisation"] not in ("baumgarte", "adaptive", "none", "every 2 steps")
    limits = {
        "loops open, m": (found.max_drift, 1e-12 if projects else loose),
        "position": (np.abs(found.q.values[-1] - q).max(), loose),
        "velocity": (np.abs(found.v.values[-1] - v).max(), 20 * loose),
        "energy, J": (abs(found.energy.values[-1] - energy), 20 * loose),
    }
    if not all(np.isfinite(found.data[name].values).all() for name in ("q", "v", "a", "multipliers")):
        return "not finite"
    over = [f"{name} {value:.1e} > {limit:.1e}" for name, (value, limit) in limits.items() if not value <= limit]
    return ", ".join(over) or None


def faults(rows):
    """All faults of the given combinations."""
    found = {tuple(row.values()): fault(row) for row in rows}
    return {row: told for row, told in found.items() if told}


# -- pairs ------------------------------------------------------------------------------------------------------------


def pairs_of(row):
    """All pairs of (factor, value) in a combination."""
    return set(combinations(row.items(), 2))


def all_pairs():
    values = [(name, value) for name, known in FACTORS.items() for value in known]
    return [pair for pair in combinations(values, 2) if pair[0][0] != pair[1][0]]


@cache
def covering():
    """Combinations that run, in which each pair of values that can run together does; and the pairs that cannot.

    Greedy: for each pair that is left, of 30 ways to complete it the one that covers most.
    """
    rng = np.random.default_rng(5)
    left, rows, never = dict.fromkeys(all_pairs()), [], []
    for pair in all_pairs():
        if pair not in left:
            continue
        best, gain = None, 0
        for _ in range(30):
            row = {name: known[rng.integers(len(known))] for name, known in FACTORS.items()} | dict(pair)
            if refusal(row) is not None:
                row = _repaired(row, pair)
            if row is not None:
                covered = sum(p in left for p in pairs_of(row))
                best, gain = (row, covered) if covered > gain else (best, gain)
        if best is None:
            never.append(pair)
            left.pop(pair)
        else:
            rows.append(best)
            for p in pairs_of(best):
                left.pop(p, None)
    return rows, never


def _repaired(row, pair):
    """The combination with as few values as it takes set to those of the default, none of the pair, so that it runs."""
    free = [name for name in FACTORS if name not in dict(pair)]
    for count in range(1, len(free) + 1):
        for names in combinations(free, count):
            other = row | {name: DEFAULT[name] for name in names}
            for formulation in (other["formulation"], "udwadia-kalaba"):
                tried = other | ({"formulation": formulation} if "formulation" in free else {})
                for stabilisation in (tried["stabilisation"], "none"):
                    tried = tried | ({"stabilisation": stabilisation} if "stabilisation" in free else {})
                    if refusal(tried) is None:
                        return tried
    return None


def test_the_pairs_are_covered():
    rows, never = covering()
    covered = set().union(*(pairs_of(row) for row in rows))
    assert covered | set(never) == set(all_pairs()) and not covered & set(never)
    assert all(refusal(row) is None for row in rows) and len(rows) < 400
    # the pairs that never run are those that the rules forbid
    values = {(a[1], b[1]) for a, b in never}
    assert ("gauss", "svd") in values and ("projection", "vode-gear") in values
    assert ("udwadia-kalaba", "radau") in values and ("varga", "dop853") not in values
    assert len(never) == len(PSEUDOINVERSES) + len(LOCAL_METHODS) * (
        len(FORMULATIONS) - 1 + len(PSEUDOINVERSES) + len(STABILISATIONS) - 2
    ) + len(MULTISTEP) * (len(STABILISATIONS) - 2)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.first(1)
def test_every_pair_runs(plant):
    assert faults(row for row in covering()[0] if row["plant"] == plant) == {}


@pytest.mark.nojit_slow
def test_what_cannot_go_together_is_refused_in_words():
    rows = [DEFAULT | dict(pair) for pair in covering()[1]]
    assert all(refusal(row) for row in rows)
    redundant = [DEFAULT | {"plant": "parallelogram", "formulation": name} for name in FULL_RANK]
    assert faults(rows + redundant) == {}


# -- all of them ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.nojit_slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_every_combination_runs_or_is_refused(formulation):
    """Of all values but the variants of the projection, which the pairs cover."""
    known = FACTORS | {
        "formulation": (formulation,),
        "stabilisation": [name for name in STABILISATIONS if name not in ("euclidean", "energy", "every 2 steps")],
    }
    assert faults(dict(zip(known, values, strict=True)) for values in product(*known.values())) == {}
