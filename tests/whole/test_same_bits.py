"""The same run gives the same numbers, to the last bit: again, in threads that share a plant, in other processes."""

import copy
import multiprocessing
import pickle
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import controllers as ctl
from cmbcontrol import plants
from cmbcontrol.papers.methods import settings
from cmbcontrol.plants.leg import configuration as leg_configuration
from tests.fixtures import Oscillating

pytestmark = pytest.mark.nojit_slow


class Continuous(Oscillating):
    """With states of its own; at the top level of a module, as what goes to another process must be."""

    def _effort(self, t, terms, state):
        return np.full(terms.B.shape[1], np.sin(9.0 * t) + state[0] + 0.1 * terms.M[0, 0] * terms.q[0])


class Sampled(Continuous):
    period = 5e-3

    def update(self, t, terms, state):
        return state + self.period * self._derivative(t, terms, state)


def falls(t, q, v):
    return 0.57 - q[0]


def driven(law):
    return law | ctl.RateLimit(500.0) | ctl.Delay(2e-3) | ctl.FirstOrderActuator(5e-3) | ctl.DriveFriction(0.05, 0.01)


def noisy(plant):
    return (
        ctl.Encoder(resolution=1e-4, noise=1e-5, seed=3, plant=plant) | ctl.FilteredDifference(0.01) | driven(Sampled())
    )


KINDS = {
    "none": lambda plant: None,
    "held": lambda plant: np.full(plant.nu, 0.2),
    "continuous": lambda plant: Continuous(),
    "sampled": lambda plant: Sampled(),
    "driven": lambda plant: driven(Sampled()),
    "noisy": noisy,
}
CRANK = {"q0": [1.2, -2.4], "v0": [2.0, -4.0], "t_end": 0.21}  # through a singular configuration at 0.197 s
FOOT = {"t_end": 0.1, "switches": cmb.Contact("foot", normal=(0.0, 1.0, 0.0), restitution=0.2)}
RUNS = {
    **{f"five-bar, {law}": ("five-bar", law, {}) for law in KINDS},
    **{f"stewart, {law}": ("stewart", law, {"t_end": 0.02}) for law in KINDS},
    **{f"crank, {law}": ("slider-crank", law, CRANK) for law in KINDS},
    "singular start": ("five-bar", "none", lambda plant: {"q0": plant.assemble(left=np.pi, right=0.0)}),
    "contact": ("leg", "none", FOOT),
    "contact, sampled": ("leg", "driven", FOOT),
    "switch": ("five-bar", "driven", {"switches": cmb.Lock("left", at=0.05)}),
    "event": ("leg", "none", FOOT | {"events": cmb.Event(falls, terminal=True)}),
    "radau": ("five-bar", "sampled", {"method": "radau", "t_end": 0.02}),
    "scipy": ("five-bar", "continuous", {"method": "scipy-dop853", "t_end": 0.02}),
    "formulation": ("five-bar", "sampled", {"formulation": "null-space", "t_end": 0.02}),
    "loader": ("loader", "driven", {"t_end": 0.05}),
    "redundant": ("parallelogram", "driven", {"t_end": 0.05}),
}


def start_of(name, plant):
    if name == "five-bar":
        return {"q0": plant.assemble(left=2.1, right=1.0), "v0": None}
    if name == "leg":
        q0 = leg_configuration(plant, 0.6)
        q0[0] += 0.01
        return {"q0": q0, "v0": None}
    q0, v0 = plants.catalogue[name].initial(plant)
    return {"q0": q0, "v0": v0}


@cache
def shared():
    """Plants and laws of all runs."""
    machines = {name: plants.catalogue[name].factory() for name, _, _ in RUNS.values()}
    return machines, {(name, law): KINDS[law](machines[name]) for name, law, _ in RUNS.values()}


def run_of(name, machines=None, laws=None):
    kind, law, options = RUNS[name]
    plant, law = (machines or shared()[0])[kind], (laws or shared()[1])[kind, law]
    given = start_of(kind, plant) | {"t_end": 0.1, "output_times": 0.01, "limits": "ignore", "rtol": 1e-7, "atol": 1e-7}
    given |= options(plant) if callable(options) else options
    return cmb.simulate(plant, law, **settings(**given))


def stepped(plant):
    stepper = cmb.Stepper(plant, plant.assemble(left=2.1, right=1.0))
    return np.concatenate([stepper.step([0.1 * k, 0.0], 3e-3 * (1 + k % 2)).q for k in range(20)]).tobytes()


FEW = ("five-bar, held", "five-bar, continuous", "five-bar, noisy", "crank, driven", "contact, sampled")


def bits(run):
    """All numbers of a run by their bytes, and how it was found, but for the time that took."""
    numbers = {name: array.values.tobytes() for name, array in run.data.variables.items() if array.dtype.kind in "fi"}
    return numbers | {name: str(x) for name, x in run.data.attrs.items() if not name.endswith("_time_s")}


def all_bits(names=RUNS, machines=None, laws=None):
    return {name: bits(run_of(name, machines, laws)) for name in names}


def differing(found, wanted):
    """(run, what) that differ; a dictionary with all bytes is nothing to read."""
    assert found
    return [(name, key) for name, one in found.items() for key in one if one[key] != wanted[name].get(key)]


@pytest.fixture(scope="module")
def runs():
    return {name: run_of(name) for name in RUNS}


@pytest.fixture(scope="module")
def wanted(runs):
    return {name: bits(run) for name, run in runs.items()}


@pytest.mark.slow
def test_the_runs_do_what_they_are_here_for(runs):
    events = {name: {event["kind"] for event in run.events()} for name, run in runs.items()}
    assert all(kinds == {"singular passage"} for name, kinds in events.items() if name.startswith("crank"))
    assert events["singular start"] == {"singular start"} and events["switch"] == {"engaged lock_left"}
    assert "impact foot" in events["contact"] & events["contact, sampled"] and "falls" in events["event"]


@pytest.mark.slow
def test_again(wanted):
    assert differing(all_bits(), wanted) == []


@pytest.mark.slow
def test_with_copies_and_with_plants_made_alike(wanted):
    assert differing(all_bits(RUNS, *pickle.loads(pickle.dumps(shared()))), wanted) == []
    assert differing(all_bits(FEW, *copy.deepcopy(shared())), wanted) == []
    assert differing(all_bits(FEW, {name: plants.catalogue[name].factory() for name in shared()[0]}), wanted) == []


def at_once(names):
    """The runs in an order, and at the same time in the reverse one in another thread; plants and laws are shared."""
    gate = threading.Barrier(2)

    def each(order):
        gate.wait()
        return all_bits(order)

    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(each, (names, names[::-1])))


@pytest.mark.slow
def test_in_two_threads(wanted):
    """Different runs at the same time, and the same ones."""
    for found in at_once(list(RUNS)):
        assert differing(found, wanted) == []
    for name in FEW:
        for found in at_once([name]):
            assert differing(found, wanted) == []


@pytest.mark.smoke
def test_steps_in_two_threads():
    plant = shared()[0]["five-bar"]
    alone = stepped(plant)
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(stepped, [plant] * 8)) == [alone] * 8


def processes():
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


@pytest.mark.slow  # each process loads all there is
def test_in_two_processes(wanted):
    """With the plants and laws that they are sent; the runs come back."""
    with processes() as pool:
        sent = {name: pool.submit(run_of, name, *shared()) for name in FEW}
        assert differing({name: bits(x.result(timeout=300)) for name, x in sent.items()}, wanted) == []


@pytest.mark.slow
def test_in_two_threads_of_two_fresh_processes(wanted):
    """Their first act are two runs at once."""
    with processes() as pool:
        for answer in [pool.submit(at_once, list(RUNS)) for _ in range(2)]:
            for found in answer.result(timeout=300):
                assert differing(found, wanted) == []
