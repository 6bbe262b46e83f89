"""Random laws of a user, in random chains: python -m tests.robustness.own_laws --count N --seed S.

Each is a class marked with ``@compiled_law`` whose efforts are random formulas of the state, of states of its own and
of a function of time, in any container, with any blocks around it. It must be compiled; its run must be the one that
Python makes; and exported as C it must be a function, whose numbers its self-test compares.
"""

from __future__ import annotations

import argparse
import collections
import sys
import tempfile
import traceback
import warnings
from unittest import mock

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import codegen, controllers, plants
from cmbcontrol.controllers import Controller, Evaluation, compiled_law
from cmbcontrol.trace.symbols import where_less

PERIOD = 1e-3

UNARY = (
    lambda x: 0.3 * x,
    lambda x: np.sin(x),
    lambda x: np.tanh(0.5 * x),
    lambda x: np.clip(x, -0.8, 0.9),
    lambda x: np.sqrt(1.0 + x * x),
    lambda x: abs(x),
    lambda x: (x + 3.0) % 6.25 - 3.0,
    lambda x: np.arctan2(x, 2.0),
    lambda x: where_less(x, 0.1, 0.5 * x, x),
    lambda x: np.exp(-x * x),
    lambda x: -x,
)
BINARY = (
    lambda x, y: x + y,
    lambda x, y: x - 0.7 * y,
    lambda x, y: x * y,
    lambda x, y: np.minimum(x, y),
    lambda x, y: np.maximum(x, y),
    lambda x, y: x / (2.0 + y * y),
    lambda x, y: np.hypot(x, 1.0 + abs(y)),
)
CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "array": lambda values: np.array(values),
    "stacked": lambda values: np.concatenate([np.atleast_1d(np.asarray(x)) for x in values]),
}


def formula(rng, leaves, depth):
    """A function of a list of numbers."""
    if depth == 0 or rng.random() < 0.2:
        i, c = int(rng.integers(leaves)), float(rng.uniform(0.5, 1.5))
        return lambda x: c * x[i]
    if rng.random() < 0.5:
        f, a = UNARY[rng.integers(len(UNARY))], formula(rng, leaves, depth - 1)
        return lambda x: f(a(x))
    f, a, b = BINARY[rng.integers(len(BINARY))], formula(rng, leaves, depth - 1), formula(rng, leaves, depth - 1)
    return lambda x: f(a(x), b(x))


def machine_of(rng):
    kind = rng.integers(4)
    if kind == 0:
        plant = plants.five_bar(effort=40.0)
        return plant, plant.assemble(left=2.1, right=1.0)
    if kind == 1:
        plant = plants.five_bar(closure="revolute", effort=40.0)  # with redundant rows
        return plant, plant.assemble(left=2.1, right=1.0)
    if kind == 2:
        plant = plants.pendulum()
        return plant, plant.assemble(angle=0.3)
    plant = plants.three_rrr()
    return plant, plant.assemble()


def law_of(rng, plant, period):
    """An object of a class of its own, and what is special in it."""
    nu, n = plant.nu, int(rng.integers(0, 3))
    follows = rng.choice(["nothing", "class", "object", "function"])
    leaves = 2 * plant.nv + n + (0 if follows == "nothing" else 2) + 1
    efforts = [formula(rng, leaves, 3) for _ in range(nu)]
    rates = [formula(rng, leaves, 2) for _ in range(n)]
    container, of_states = (CONTAINERS[rng.choice(list(CONTAINERS))] for _ in range(2))
    path = cmb.Sine([float(rng.uniform(-1, 1))], [0.3], 2.0)
    positions = [plant.position_names.index(name) for name in plant.position_names][: plant.nv]

    def moving(t):
        return np.array([np.cos(3.0 * t), t])

    class Own(Controller):
        gain = 2.0
        if follows == "class":
            coordinates, reference = (plant.position_names[0],), path

        def __init__(self):
            self.period, self.share = period, 0.8
            if follows == "object":
                self.coordinates, self.reference = (plant.position_names[0],), path
            if follows == "function":
                self.wanted = moving

        def start(self, plant):
            return list(0.1 * np.arange(n))

        def evaluate(self, t, terms, state):
            numbers = [terms.q[i] for i in positions] + [terms.v[i] for i in range(plant.nv)]
            numbers += [state[i] for i in range(n)] + [self.gain * t]
            if follows in ("class", "object"):
                position, velocity, _ = self.reference(t)
                numbers += [position[0], velocity[0]]
            elif follows == "function":
                there = self.wanted(t)
                numbers += [there[0], there[1]]
            u = container([self.share * f(numbers) for f in efforts])
            moved = [f(numbers) for f in rates]
            if self.period is not None:
                moved = [0.9 * state[i] + self.period * x for i, x in enumerate(moved)]
            return Evaluation(u, of_states(moved) if n else None, report={"first": numbers[0] * self.gain})

    return compiled_law(Own)(), follows


def chain_of(rng, plant, own):
    """The law with blocks around it, and their names."""
    C, made = controllers, own
    right = []
    if rng.random() < 0.6:
        right.append(C.Saturation(float(rng.uniform(0.5, 3.0)), plant=plant))
    if rng.random() < 0.4:
        right.append(C.RateLimit(200.0, time_constant=2e-3, plant=plant))
    if own.period is not None and rng.random() < 0.4:
        right.append(C.Delay(1.3e-3, plant=plant))
    if rng.random() < 0.3:
        right.append(C.FirstOrderActuator(3e-3, plant=plant))
    if rng.random() < 0.3:
        right.append(
            C.ElectricDrive(
                0.5, gear=2.0, current=float(rng.choice([2.0, np.inf])), efficiency=float(rng.choice([1.0, 0.9])),
                time_constant=float(rng.choice([0.0, 2e-3])), plant=plant,
            )
        )  # fmt: skip
    if rng.random() < 0.3:
        right.append(C.DriveFriction(coulomb=0.1, viscous=0.05, plant=plant))
    for block in right:
        made = made | block
    if own.period is not None and rng.random() < 0.3:
        made = C.Encoder(noise=1e-5, plant=plant) | C.FilteredDifference(4e-3, plant=plant) | made
    return made, [type(block).__name__ for block in right]


def run_trial(seed):
    """("ok" or what went wrong, words)."""
    rng = np.random.default_rng([seed, 33])
    plant, q0 = machine_of(rng)
    own, follows = law_of(rng, plant, PERIOD if rng.random() < 0.75 else None)
    chain, blocks = chain_of(rng, plant, own)
    words = f"{plant.name}, follows {follows}, {'sampled' if own.period else 'continuous'}, {' | '.join(blocks)}"
    options = {"t_end": 0.03, "output_times": 3e-3, "rtol": 1e-9, "atol": 1e-9}
    try:
        runs = {}
        for choice in ("generated", "kernels"):
            with mock.patch("cmbcontrol.trace.code.CHOICE", choice), warnings.catch_warnings():
                warnings.simplefilter("error")
                runs[choice] = cmb.simulate(plant, chain, q0, **options)
        coded, plain = runs["generated"], runs["kernels"]
        if coded.data.attrs["law_code"] != "generated":
            return "not compiled", f"{words}: {coded.data.attrs['law_code']}"
        taken = coded.data.attrs["samples_by_code"]
        if own.period is not None and taken < 25:
            return "not by code", f"{words}: {taken} samples of 30"
        for name in ("q", "u"):
            a, b = getattr(coded, name).values, getattr(plain, name).values
            off = float(np.abs(a - b).max() / max(1.0, np.abs(b).max()))
            if not off < 1e-7:
                return "wrong", f"{words}: {name} is {off:.1e} off"
        if own.period is not None:
            with tempfile.TemporaryDirectory() as folder:
                codegen.export(plant, f"{folder}/law", q0, functions=["forward"], law=chain)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return "raised", f"{words}: {type(error).__name__} {str(error)[:300]} ({where.filename}:{where.lineno})"
    return "ok", words


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    given = parser.parse_args(arguments)
    counts = collections.Counter()
    for seed in range(given.seed, given.seed + given.count):
        outcome, words = run_trial(seed)
        counts[outcome] += 1
        if outcome != "ok":
            print(f"seed {seed}: {outcome}: {words}", flush=True)
    print("all", dict(counts))
    return 0 if set(counts) <= {"ok"} else 1


if __name__ == "__main__":
    sys.exit(main())
