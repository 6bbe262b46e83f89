"""The time loop on one machine of each kind, in every way that it is used, as short as that can be.

These runs are cheap also where nothing is compiled (NUMBA_DISABLE_JIT=1), and there each index that is out of range
raises. Compiled, they show the same with NUMBA_BOUNDSCHECK=1 (and a NUMBA_CACHE_DIR of its own).
"""

from functools import cache

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import controllers as ctl
from cmbcontrol import plants
from cmbcontrol.controllers import Controller
from cmbcontrol.model.elements import Cylindrical, Distance, Weld
from cmbcontrol.papers.formulations import FORMULATIONS
from cmbcontrol.papers.methods import LOCAL_METHODS, METHODS, MULTISTEP, settings
from cmbcontrol.plants.leg import configuration as leg_configuration
from cmbcontrol.sim import time_loop
from tests.fixtures import (
    JOINTS,
    SKATE_SPEED,
    Oscillating,
    actuators,
    close_parts,
    crank_passage,
    skate,
    springs,
    tree_parts,
)

LOOSE = {"rtol": 1e-4, "atol": 1e-4, "limits": "ignore"}
T_END = 0.02  # a few steps; each evaluation takes 1 to 20 ms where nothing is compiled
PERIOD = 4e-3


# -- machines ------------------------------------------------------------------------------------------------


def all_joints(*loops):
    """A random machine with joints of every kind, springs between them and motors on them."""
    parts = tree_parts(3, bodies=len(JOINTS), kinds=JOINTS, damped=True)
    parts |= {"springs": springs(parts, 3), "actuators": actuators(parts, 3)}
    plant, q0 = close_parts(parts, 3, loops)
    return plant, q0, np.zeros(plant.nv)


def moving(name):
    """A machine of the catalogue with a velocity that its loops allow."""
    plant, q0, v0 = plants.catalogue[name].start()
    return plant, q0, plant.project_velocity(q0, v0 + np.linspace(0.3, 0.5, plant.nv))


def many_four_bars():
    plant = plants.n_four_bar(10)
    return plant, *plants.catalogue["n-four-bar"].initial(plant)


def coupled():
    """Functions, and a loop of the package's own."""
    plant = plants.particle_on_circle().without("circle").with_loops(cmb.Coupling("level", {"q1": 1.0, "q2": 2.0}, 2.0))
    return plant, np.array([0.4, 0.8]), np.array([0.2, -0.1])


MACHINES = {name: lambda name=name: moving(name) for name in plants.catalogue} | {
    "tree": all_joints,
    "loops": lambda: all_joints(Cylindrical, Distance, Weld),
    "10 four-bars": many_four_bars,
    "skate": lambda: (skate(), np.zeros(3), np.array([SKATE_SPEED, 0.0, 0.4])),
    "coupled": coupled,
}
KINDS = ("tree", "loops", "five-bar", "loader", "stewart", "skate", "slider-crank", "parallelogram", "n-four-bar")
machine = cache(lambda name: MACHINES[name]())


class Continuous(Oscillating):
    """With states of its own."""

    def _effort(self, t, terms, state):
        return np.full(terms.B.shape[1], 0.1 * np.sin(30.0 * t) + 0.01 * state[0] + 1e-3 * terms.q[0])


class Sampled(Continuous):
    period = PERIOD

    def update(self, t, terms, state):
        return state + self.period * self._derivative(t, terms, state)


LAWS = {
    "held": lambda nu: np.full(nu, 0.1),
    "continuous": lambda nu: Continuous(),
    "sampled": lambda nu: Sampled(),
    "driven": lambda nu: Sampled() | ctl.Delay(1.5e-3) | ctl.FirstOrderActuator(5e-3) | ctl.DriveFriction(0.05, 0.01),
}


def check(run, plant, drift=1e-9, energy=1e-4, t_end=None):
    """What holds for any run with tolerances as loose as these: closed loops, and an energy balance."""
    assert run.status == cmb.Status.COMPLETED
    assert run.time[-1] == (T_END if t_end is None else t_end)
    assert all(np.isfinite(run.data[name]).all() for name in ("q", "v", "a", "u", "energy"))
    assert run.max_drift <= drift * plant.size
    data = run.data
    turned_over = data["kinetic"].max() + np.ptp(data["potential"].values) + abs(data["actuator_work"]).max()
    assert run.max_energy_error <= energy * float(turned_over)


def simulated(name, law="held", drift=1e-9, energy=1e-4, **options):
    plant, q0, v0 = machine(name)
    given = LOOSE | {"t_end": T_END, "output_times": 0.3 * T_END} | options
    run = cmb.simulate(plant, LAWS[law](plant.nu), q0, v0, **settings(**given))
    check(run, plant, drift, energy, given["t_end"])
    return run


@pytest.mark.parametrize("name", [name for name in MACHINES if name not in KINDS])
def test_each_machine(name):
    simulated(name)


@pytest.mark.first(12)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_machine_under_each_kind_of_law(name, law):
    run = simulated(name, law)
    assert ("auto" in run.data.attrs["method"]) == (law in ("sampled", "driven"))


# -- methods and what keeps loops closed ---------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("law", ["held", "sampled"])
def test_each_method(method, law):
    options = {"step": 4e-3} if method == "rk4" else {}
    options |= {"stabilisation": "baumgarte"} if method in MULTISTEP else {}
    simulated("five-bar", law, method=method, drift=1e-3 if method in MULTISTEP else 1e-9, energy=1e-2, **options)


@pytest.mark.parametrize("method", ["sdirk4", "rodas4", "rodas5p"])
def test_fixed_steps_in_local_coordinates(method):
    simulated("five-bar", method=method, step=5e-3)


@pytest.mark.parametrize("name", ["loops", "stewart", "parallelogram"])
@pytest.mark.parametrize("method", [m for m in LOCAL_METHODS if m != "local-dop853"])
def test_independent_coordinates_of_larger_machines(name, method):
    simulated(name, method=method, t_end=2e-3, output_times=1e-3, energy=1e-2)


STABILISATIONS = {
    "adaptive": {"stabilisation": "baumgarte", "gains": "adaptive"},
    "baumgarte": {"stabilisation": "baumgarte"},
    "all-at-once": {"stabilisation": "all-at-once"},
    "none": {"stabilisation": "none"},
    "energy": {"energy": True},
    "euclidean": {"metric": "euclidean"},
    "every second step": {"every": 2, "max_step": 4e-3},
}


@pytest.mark.parametrize("kind", STABILISATIONS)
@pytest.mark.parametrize("name", ["five-bar", "stewart", "parallelogram", "slider-crank"])
def test_each_stabilisation(name, kind):
    simulated(name, drift=1e-4, **STABILISATIONS[kind])


@pytest.mark.parametrize("name", FORMULATIONS)
def test_each_formulation(name):
    simulated("five-bar", "sampled", formulation=name, output_times=T_END)


def same(one, other):
    """Runs that are alike to the last bit."""
    for name in one.data.data_vars:
        if one.data[name].dtype.kind == "f":
            assert np.array_equal(one.data[name], other.data[name], equal_nan=True), name
    assert one.data.attrs["steps"] == other.data.attrs["steps"]
    assert one.data["event_kind"].values.tolist() == other.data["event_kind"].values.tolist()


def each_way_of_stepping():
    """Through a singular configuration, with loops that change, with an event, and by methods outside of the loop."""
    plant, q0, v0 = crank_before()
    for law in LAWS.values():
        yield cmb.simulate(plant, law(1), q0, v0, t_end=0.21, output_times=0.05, **settings(**LOOSE))
    fine = {"max_step": 2e-3, "events": [cmb.Event(lambda t, q, v: t - 0.0105, "later")]}
    yield simulated("five-bar", **fine)
    yield simulated("five-bar", "sampled", switches=SWITCHES["engage"])
    yield simulated("five-bar", method="scipy-rk45", **fine)
    yield simulated("five-bar", method="radau", **fine)


def test_where_blocks_of_steps_end_leaves_no_trace(monkeypatch):
    wanted = list(each_way_of_stepping())
    for capacity in (1, 2):
        monkeypatch.setattr(time_loop, "_CAPACITY", capacity)
        for one, other in zip(wanted, each_way_of_stepping(), strict=True):
            same(one, other)


@pytest.mark.parametrize("most", [1, 2])
def test_few_steps_are_allowed(most):
    with pytest.raises(cmb.errors.SimulationError, match="maximum number of steps") as caught:
        simulated("five-bar", max_step=1e-3, max_steps=most)
    assert caught.value.partial.data.attrs["steps"] == most


# -- singular configurations ------------------------------------------------------------------------------------------


def crank_before():
    """0.197 s before a passage, or 0.01 s later: short of it."""
    plant = plants.slider_crank()
    return plant, [1.2, -2.4], [2.0, -4.0]


PASSING = ("auto", "dop853", "verner65", "rk4", "scipy-rk45")


@pytest.mark.parametrize("method", PASSING)
def test_through_a_singular_pose(method):
    plant, q0, v0 = crank_before()
    options = {"step": 1e-2} if method == "rk4" else {}
    run = cmb.simulate(plant, None, q0, v0, t_end=0.3, output_times=0.1, **settings(method=method, **LOOSE, **options))
    check(run, plant, t_end=0.3, energy=1e-2)
    if method != "scipy-rk45":
        (event,) = run.events()
        assert event["kind"] == "singular passage" and event["time"] == pytest.approx(crank_passage(), abs=2e-3)


@pytest.mark.parametrize("law", LAWS)
def test_through_a_singular_pose_under_each_kind_of_law(law):
    plant, q0, v0 = crank_before()
    run = cmb.simulate(plant, LAWS[law](plant.nu), q0, v0, t_end=0.21, output_times=0.1, **settings(**LOOSE))
    check(run, plant, t_end=0.21, energy=1e-2)
    assert [event["kind"] for event in run.events()] == ["singular passage"]


@pytest.mark.parametrize("law", LAWS)
def test_from_a_singular_pose(law):
    plant = plants.five_bar()
    q0 = plant.assemble(left=np.pi, right=0.0)
    run = cmb.simulate(plant, LAWS[law](plant.nu), q0, t_end=T_END, output_times=T_END, **settings(**LOOSE))
    check(run, plant)
    assert [event["kind"] for event in run.events()] == ["singular start"]


@pytest.mark.parametrize("law", ["held", "continuous", "sampled"])
@pytest.mark.parametrize("branch", [0, 1])
def test_on_each_branch(law, branch):
    """Only the crank turns, or the rod as well."""
    plant = plants.slider_crank()
    q0 = np.array([np.pi / 2, -np.pi])
    run = cmb.simulate(
        plant, LAWS[law](plant.nu), q0, t_end=T_END, output_times=T_END, branch=branch, **settings(**LOOSE)
    )
    check(run, plant)
    assert bool(abs(run.q[-1, 1] + np.pi) > 1e-9) == (branch == 1)


# -- loops that come and go ----------------------------------------------------------------------------------


AT = 0.4 * T_END
SWITCHES = {
    "release": [cmb.Release("tip", at=AT)],
    "engage": [cmb.Release("tip", at=0.5 * AT), cmb.Engage("tip", at=AT, capture=True)],
    "lock": [cmb.Lock("left", at=AT), cmb.Unlock("left", at=1.5 * AT)],
    "when": [cmb.Lock("right", when=lambda t, q, v: t - AT)],
    "force": [cmb.Release("tip", force=lambda lam: 1.44 - abs(lam[0]))],  # falls from 1.45 to 1.43 N, or by more
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", SWITCHES)
def test_switches(kind, law):
    run = simulated("five-bar", law, switches=SWITCHES[kind])
    assert run.events()


@pytest.mark.parametrize("law", ["held", "sampled", "driven"])
@pytest.mark.parametrize("options", [{}, {"restitution": 0.5}, {"friction": 0.3}], ids=["sticks", "rebounds", "rubs"])
def test_a_foot_touches_down(law, options):
    plant = plants.leg()
    q0 = leg_configuration(plant, 0.6)
    q0[0] += 1e-3
    v0 = np.array([-0.5, 0.0, 0.0])
    foot = cmb.Contact("foot", normal=(0.0, 1.0, 0.0), **options)
    run = cmb.simulate(
        plant, LAWS[law](plant.nu), q0, v0, t_end=T_END, output_times=0.3 * T_END, switches=foot, **settings(**LOOSE)
    )
    check(run, plant)
    assert run.events()


# -- events, limits, and steps of one's own ------------------------------------------------------------------


def swing(**more):
    bar = cmb.Body.planar("bar", 1.0, 0.5, 0.1)
    joint = cmb.Revolute("swing", "ground", "bar", **more)
    return cmb.Mechanism("pendulum", [bar], [joint], actuators=[cmb.Actuator("swing")], gravity=(0.0, -9.81, 0.0))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("limits", ["warn", "stop"])
def test_events_and_limits(law, limits):
    plant = swing(limits=(-0.02, np.inf))
    level = cmb.Event(lambda t, q, v: q[0] + 0.01, "level")
    options = LOOSE | {"limits": limits, "t_end": T_END, "output_times": 0.3 * T_END, "events": [level]}
    with pytest.warns(cmb.errors.LimitWarning, match="swing"):
        run = cmb.simulate(plant, LAWS[law](1), [0.0], [-1.5], **settings(**options))
    assert [event["kind"] for event in run.events()] == ["level", "lower limit swing"]
    assert run.status == (cmb.Status.COMPLETED if limits == "warn" else cmb.Status.EVENT)


@pytest.mark.parametrize("method", METHODS)
def test_a_terminal_event_under_each_method(method):
    options = {"step": 4e-3} if method == "rk4" else {}
    options |= {"stabilisation": "baumgarte"} if method in MULTISTEP else {}
    level = cmb.Event(lambda t, q, v: t - 0.013, "level", terminal=True)
    plant, q0, v0 = machine("five-bar")
    run = cmb.simulate(
        plant,
        None,
        q0,
        v0,
        t_end=T_END,
        output_times=0.3 * T_END,
        events=level,
        **settings(method=method, **LOOSE | options),
    )
    assert run.status == cmb.Status.EVENT and run.time[-1] == pytest.approx(0.013, abs=1e-9)


class Stairs(Controller):
    """The efforts of the steps below."""

    period = PERIOD

    def effort(self, t, terms, state):
        return np.full(terms.B.shape[1], 0.1 * round(t / PERIOD))


@pytest.mark.parametrize("name", KINDS)
def test_steps_of_ones_own(name):
    plant, q0, v0 = machine(name)
    stepper = cmb.Stepper(plant, q0, v0, **LOOSE, events=[cmb.Event(lambda t, q, v: t - 7e-3, "later")])
    for i in range(4):
        state = stepper.step(np.full(plant.nu, 0.1 * i), PERIOD)
    run = cmb.simulate(plant, Stairs(), q0, v0, t_end=4 * PERIOD, output_times=PERIOD, **settings(**LOOSE))
    assert state.time == run.time[-1]
    assert np.abs(state.q - run.q[-1].values).max() < 1e-6
    assert [event["kind"] for event in stepper.events()] == ["later"]


def test_steps_of_ones_own_through_a_singular_pose():
    plant, q0, v0 = crank_before()
    stepper = cmb.Stepper(plant, q0, v0, **LOOSE)
    for _ in range(3):
        state = stepper.step([0.0], 0.07)
    assert [event["kind"] for event in stepper.events()] == ["singular passage"]
    assert abs(plant.terms(state.q, state.v).phi).max() < 1e-9
