"""Runs whose loops change: one unchanged controller, twins, the order of events, failures."""

from functools import cache

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.controllers import (
    ConstrainedActuation,
    ConstraintForcePI,
    Controller,
    Encoder,
    HybridMotionForce,
    ProjectedInverseDynamics,
    WithModel,
)
from cmbcontrol.controllers.references import Constant, Quintic, Spline
from cmbcontrol.errors import ModelError, SimulationError, Status
from cmbcontrol.model.contacts import Contact
from cmbcontrol.model.elements import Actuator, Body, Coupling, Free, JointSpring, Prismatic, Weld
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.papers.methods import settings
from cmbcontrol.plants import grasping_arms, leg, two_arms
from cmbcontrol.plants.grasping_arms import TABLE
from cmbcontrol.plants.grasping_arms import configuration as arms_configuration
from cmbcontrol.plants.leg import LINK, angles
from cmbcontrol.plants.leg import configuration as leg_configuration
from cmbcontrol.plants.two_arms import configuration as held_configuration
from cmbcontrol.sim.simulate import simulate
from cmbcontrol.sim.switching import Engage, Lock, Release, Unlock
from tests.fixtures import again, bouncing_ball, event_kinds, event_times, falls_free, hanging_arm, largest

G = 9.81
DOWN = (0.0, -G, 0.0)

# Laws of machines whose constraints come and go (consistent=, contacts) have no code.
pytestmark = pytest.mark.filterwarnings("ignore::cmbcontrol.errors.SpeedWarning")


# -- engage and release -----------------------------------------------------------------------------------


def test_conditions_fire_every_time_they_come_true():
    """A spring-mass that is held at its turning points... and let go 0.1 s later, by time or by condition."""
    body = Body("cart", 1.0, (0, 0, 0), (0.1,) * 3)
    plant = Mechanism(
        "cart", [body], [Prismatic("x", "ground", "cart", axis=(1, 0, 0))], [Coupling("clamp", {"x": 1.0})],
        [JointSpring("spring", "x", 4.0)],
    )  # fmt: skip
    seen = []

    def passes(t, q, v):
        seen.append(t)
        return q[0] - 0.2

    run = simulate(plant, None, [0.5], t_end=3.0, switches=[Engage("clamp", when=passes, capture=True),
                                                          Release("clamp", at=2.8)])  # fmt: skip
    # x = 0.5 cos 2t is above 0.2 at the start, which is no crossing; it comes back up through 0.2 later
    t = (2.0 * np.pi - np.arccos(0.4)) / 2.0
    assert event_kinds(run) == ["engaged clamp", "released clamp"]
    assert run.events()[0]["time"] == pytest.approx(t, abs=1e-10)
    assert run.events()[0]["loss"] == pytest.approx(0.5 * 4.0 * (0.5**2 - 0.2**2), rel=1e-9)
    assert run.q.values[(run.time > t) & (run.time < 2.8), 0] == pytest.approx(0.2, abs=1e-10)
    assert seen and run.max_energy_error < 1e-9


@pytest.mark.nojit_slow
def test_the_same_loop_twice_changes_nothing():
    plant = plants.grasping_arms()
    double = plant.with_loops(again(plant.loops[0]), again(plant.loops[1]))
    q0 = arms_configuration(plant, 0.0, 0.5)
    v0 = np.random.default_rng(0).uniform(-0.5, 0.5, 9)
    runs = []
    for machine in (plant, double):
        switches = [Engage(name, at=0.0) for name in machine.row_slices]
        runs.append(simulate(machine, None, q0, v0, t_end=0.2, output_times=0.02, switches=switches))
    assert runs[1].q.values == pytest.approx(runs[0].q.values, abs=1e-9)
    assert runs[1].events()[0]["loss"] == pytest.approx(runs[0].events()[0]["loss"], rel=1e-10)
    assert runs[0].events()[0]["loss"] > 0.01


# -- one unchanged controller -----------------------------------------------------------------------------


JOINTS = tuple(f"{side}_{joint}" for side in ("left", "right") for joint in ("shoulder", "elbow", "wrist"))


def carried(t):
    """Reach, carry, put down and back off: where the machine should be."""
    back = Quintic([0.06], [0.0], 0.4) if t < 1.0 else Quintic([0.0], [0.06], 0.4, begin=1.5)
    s = Quintic([0.0], [1.0], 0.8, begin=0.6)(t)[0][0]
    bump = np.sin(np.pi * s) ** 2
    plant = carrying()
    return arms_configuration(plant, TABLE[0] + 0.2 * s, TABLE[1] + 0.1 * bump, 0.2 * bump, clearance=back(t)[0][0])


@cache
def carrying():
    return grasping_arms(table=True)


GRASPS = ("left_grasp", "right_grasp")
CHANGES = [
    *(Engage(name, at=0.5, capture=True) for name in GRASPS),
    Release("table", at=0.5),
    Engage("table", at=1.45, capture=True),
    *(Release(name, at=1.45) for name in GRASPS),
]


@pytest.mark.nojit_slow
@pytest.mark.parametrize("period", [pytest.param(None, marks=pytest.mark.slow), 2e-3])
def test_one_controller_grasps_carries_and_releases(period):
    grid = np.linspace(0.0, 2.0, 401)
    path = Spline(grid, np.array([carried(t) for t in grid])[:, :6])
    law = ProjectedInverseDynamics(carrying(), JOINTS, path, bandwidth=15.0, consistent=True, period=period)
    kept = dict(vars(law))
    more = {"max_step": 0.05, "rtol": 1e-7, "atol": 1e-7} if period is None else {}
    run = simulate(carrying(), law, carried(0.0), t_end=2.0, output_times=0.02, switches=CHANGES, **settings(**more))
    assert dict(vars(law)) == kept
    error = np.abs(run.q.values[:, :6] - run.reference.values).max()
    assert error < (1e-5 if period is None else 3e-3)
    assert run.max_energy_error < (1e-5 if period is None else 1e-9) and run.max_drift < 1e-13
    assert run.q.values[-1, 6:] == pytest.approx([TABLE[0] + 0.2, TABLE[1], 0.0], abs=1e-3)
    held = run.active.sel(loop=list(GRASPS)).values.all(axis=1)
    on_table = run.active.sel(loop="table").values
    assert np.array_equal(held, ~on_table) and held.any() and on_table[0] and on_table[-1]
    apart = run.multipliers.values[~held][:, [i for i, n in enumerate(carrying().row_names) if "grasp" in n]]
    assert largest(apart) == 0.0 and largest(run.q.values[on_table & (run.time < 0.5), 6:] - [*TABLE, 0.0]) < 1e-12


@pytest.mark.nojit_slow
def test_held_object_is_that_of_the_two_arms():
    """With both grasps the machine is the one whose object is part of the left hand."""
    apart, together = plants.grasping_arms(), two_arms()
    q, p = arms_configuration(apart, 0.05, 0.55, 0.2), held_configuration(together, 0.05, 0.55, 0.2)
    assert q[:6] == pytest.approx(p, abs=1e-12)
    v6 = together.project_velocity(p, np.linspace(-1.0, 1.0, 6))
    v = apart.project_velocity(q, np.zeros(9))
    A = apart.jacobian(q)
    v = np.append(v6, np.linalg.lstsq(A[:, 6:], -A[:, :6] @ v6, rcond=None)[0])
    assert largest(A @ v) < 1e-10
    u = np.array([5.0, -3.0, 1.0, 4.0, 2.0, -1.0])
    one, two = (simulate(m, u, a, b, t_end=0.2, output_times=0.05) for m, a, b in ((apart, q, v), (together, p, v6)))
    assert one.q.values[:, :6] == pytest.approx(two.q.values, abs=1e-9)
    assert one.energy.values == pytest.approx(two.energy.values, abs=1e-9)


class Squat:
    """Hip and knee for a leg of changing length, foot below hip."""

    def __init__(self, *strokes):
        self.strokes = strokes

    def __call__(self, t):
        length, rate, acceleration = (
            float(x[0]) for x in max((s for s in self.strokes if s.begin <= t), key=lambda s: s.begin)(t)
        )
        hip, knee = angles(length)
        across = 2.0 * LINK * np.sin(0.5 * knee)
        bend = -rate / across
        bend2 = -(acceleration + length * bend**2) / across
        return np.array([hip, knee]), np.array([-bend, 2.0 * bend]), np.array([-bend2, 2.0 * bend2])


@pytest.mark.nojit_slow
@pytest.mark.parametrize("foot", ["stick", "slide"])
@pytest.mark.first(1)
def test_one_controller_touches_down_squats_and_hops(foot):
    plant = leg(foot=foot)
    path = Squat(
        Quintic([0.6], [0.6], 1.0, begin=0.0),
        Quintic([0.6], [0.42], 0.3, begin=0.5),
        Quintic([0.42], [0.62], 0.16, begin=0.8),
        Quintic([0.62], [0.5], 0.2, begin=1.0),
    )
    law = ProjectedInverseDynamics(
        plant, ("hip", "knee"), path, bandwidth=25.0, consistent=True, posture=falls_free, period=2e-3
    )
    contact = Contact("foot", normal=(0, 1, 0), friction=0.8) if foot == "stick" else Contact("foot")
    run = simulate(plant, law, leg_configuration(plant, 0.75, 0.6), t_end=1.4, output_times=5e-3, switches=contact)
    assert event_kinds(run)[0] == "impact foot" and "engaged foot" in event_kinds(run)
    assert run.events()[0]["time"] == pytest.approx(np.sqrt(2.0 * 0.15 / G), abs=1e-9)
    assert "released foot" in event_kinds(run) and len(event_times(run, "impact foot")) >= 2  # it hops and lands again
    assert run.max_energy_error < 1e-9
    sole = np.array([plant.point(q, "shank", (LINK, 0, 0)) for q in run.q.values])
    assert sole[:, 1].min() > -1e-9
    assert (run.multipliers.values[:, 1 if foot == "stick" else 0] < 1e-6).all()  # it pushes, never pulls
    losses = [e["loss"] for e in run.events()]
    assert run.impact_loss.values[-1] == pytest.approx(sum(losses)) and min(losses) > -1e-9


def test_leg_that_falls_loses_the_energy_of_the_foot():
    """At touch down, by hand: the projection of the velocity of the free fall."""
    plant = leg()
    q = leg_configuration(plant, 0.6)
    v = np.array([-1.7, 0.0, 0.0])
    run = simulate(plant, None, q, v, t_end=0.02, switches=Contact("foot", normal=(0, 1, 0)))
    terms = plant.terms(q, v)
    A = terms.A[[0, 1]]
    mu = np.linalg.solve(A @ np.linalg.solve(terms.M, A.T), A @ v)
    after = v - np.linalg.solve(terms.M, A.T @ mu)
    removed = v - after
    assert run.v.values[0] == pytest.approx(after, abs=1e-12)
    assert run.events()[0]["loss"] == pytest.approx(0.5 * removed @ terms.M @ removed, rel=1e-12)
    assert terms.kinetic - 0.5 * after @ terms.M @ after == pytest.approx(run.events()[0]["loss"], abs=1e-12 * 20.0)


# -- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("switches", "error", "words"),
    [
        (["floor"], TypeError, "must be Engage, Release"),
        (Engage("flor", at=1.0), ValueError, "Engage\\('flor'\\).*did you mean 'floor'"),
        ([Contact("floor"), Release("floor", at=1.0)], ValueError, "is a contact"),
        (Lock("elbow", at=1.0), ValueError, "Lock\\('elbow'\\).*joint or coordinate"),
        (Contact("floor", side=-1), ModelError, "is inside by 1.000e\\+00"),
    ],
)
def test_runs_refuse(switches, error, words):
    with pytest.raises(error, match=words):
        simulate(bouncing_ball(), None, [1.0], t_end=2.0, switches=switches)


def test_runs_refuse_more():
    welded = Mechanism(
        "w", [Body("b", 1.0, (0, 0, 0), (1, 1, 1))], [Free("b", "ground", "b")], [Weld("w", "ground", "b")]
    )
    with pytest.raises(ValueError, match="has 6 rows"):
        simulate(welded, None, welded.neutral(), t_end=1.0, switches=Contact("w"))
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    with pytest.raises(TypeError, match="switches= change the constraints"):
        simulate(
            plant,
            None,
            q,
            t_end=1.0,
            switches=Release("tip", at=0.5),
            **settings(coordinates=("left", "right"), method="radau"),
        )
    with pytest.raises(ValueError, match="leaves the loops open"):  # it holds at the start
        simulate(plant, None, q + 0.1, t_end=1.0, switches=Release("tip", at=0.5))
    with pytest.raises(ValueError, match="has a constraint 'lock_left' already"):
        simulate(plant.with_loops(Coupling("lock_left", {"left": 1.0}, 2.1)), None, q, t_end=1.0,
                 switches=Lock("left", at=0.5))  # fmt: skip


def test_changes_that_crowd_are_stepped_over():
    """Of some thousand rebounds at the begin of a run the last ones are one step, and what it takes is told."""
    bouncing = Contact("floor", restitution=0.999)
    plant = bouncing_ball()
    run = simulate(plant, None, [1e-2], t_end=1e8, switches=bouncing)
    stepped = [event for event in run.events() if event["kind"].startswith("stepped over")]
    assert run.status == Status.COMPLETED and len(stepped) == 1
    assert stepped[0]["kind"] == "stepped over 1e+02 s of changes"
    assert run.q.values[-1, 0] == pytest.approx(0.0, abs=1e-12) and not run.v.values[-1].any()
    energy = plant.terms([1e-2], [0.0]).energy - plant.terms([0.0], [0.0]).energy
    assert sum(event["loss"] for event in run.events()) == pytest.approx(energy, rel=1e-9)


def test_a_condition_that_is_no_number_and_one_that_fails():
    with pytest.raises(SimulationError, match="the value of when= of Lock\\('height'\\) must be a number"):
        simulate(
            bouncing_ball(),
            None,
            [1.0],
            t_end=0.1,
            switches=[Contact("floor"), Lock("height", when=lambda t, q, v: "x")],
        )

    def breaks(t, q, v):
        if t > 0.05:
            raise RuntimeError("the camera is dark")
        return -1.0

    with pytest.raises(SimulationError, match=r"when= of Lock.*failed.*the camera is dark") as caught:
        simulate(
            bouncing_ball(),
            None,
            [1.0],
            t_end=0.1,
            switches=[Contact("floor"), Lock("height", when=breaks)],
            **settings(max_step=0.01),
        )
    assert caught.value.partial.status == Status.SWITCHING


def test_a_law_that_fails_between_parts_ends_the_run():
    def law(t, terms, state):
        if terms.A.shape[0]:
            raise RuntimeError("no loop expected")
        return np.zeros(0)

    with pytest.raises(SimulationError, match="no loop expected") as error:
        simulate(bouncing_ball(), law, [1.0], t_end=1.0, switches=Contact("floor"), **settings(max_step=0.1))
    assert error.value.partial.time[-1] == pytest.approx(np.sqrt(2.0 / G), abs=1e-9)


def test_switches_after_the_end_do_nothing_and_those_at_the_start_do():
    plant = hanging_arm()
    run = simulate(plant, Constant([0.0, 0.0]) and None, [0.3, 0.8], [1.0, 1.0], t_end=0.1,
                   switches=[Lock("elbow", at=0.0), Unlock("elbow", at=5.0)])  # fmt: skip
    assert event_kinds(run) == ["engaged lock_elbow"] and run.v.values[0, 1] == pytest.approx(0.0, abs=1e-14)
    assert run.active.values.all() and run.energy_balance.values[0] == 0.0


def test_runs_with_switches_are_kept_and_drawn(tmp_path):
    from cmbcontrol.sim.result import load_run

    run = simulate(
        bouncing_ball(), None, [1.0], t_end=1.0, output_times=0.05, switches=Contact("floor", restitution=0.2)
    )
    back = load_run(run.save(tmp_path / "run.nc"))
    assert back.events()[0] == pytest.approx(run.events()[0], nan_ok=True)
    assert np.array_equal(back.active.values, run.active.values)
    assert run.to_control().outputs.shape == (2, run.time.size)


def test_delayed_efforts_and_measured_forces_go_on_over_a_switch():
    """A mass that is pushed 30 ms late, locked in between: the effort asked for before the lock acts after it."""

    class Late(Controller):
        period, delay, initial_effort, measures_force = 0.02, 0.03, 0.0, True

        def __init__(self):
            self.seen = []

        def effort(self, t, terms, state):
            self.seen.append((t, None if terms.force is None else terms.force[0]))
            return np.array([2.0 if t < 0.1 else 0.0])

    law = Late()
    plant = Mechanism(
        "cart", [Body("cart", 1.0, (0, 0, 0), (0.1,) * 3)], [Prismatic("x", "ground", "cart", axis=(1, 0, 0))],
        actuators=[Actuator("x")],
    )  # fmt: skip
    run = simulate(
        plant, law, [0.0], t_end=0.3, output_times=0.005, switches=[Lock("x", at=0.05), Unlock("x", at=0.11)]
    )
    v = run.v.values[:, 0]
    assert v[run.time == 0.045] == pytest.approx(2.0 * 0.015, abs=1e-12)
    assert largest(v[(run.time >= 0.05) & (run.time <= 0.11)]) < 1e-14
    assert v[-1] == pytest.approx(2.0 * (0.13 - 0.11), abs=1e-12)
    forces = dict(law.seen)
    assert forces[0.08] == pytest.approx(2.0) and forces[0.02] == pytest.approx(0.0)
    assert run.max_energy_error < 1e-14


def test_kernels_are_not_compiled_again():
    from cmbcontrol._jit import JIT_ENABLED
    from cmbcontrol.kernels import constrained, time_loop

    if JIT_ENABLED:
        assert len(constrained.gauss_acceleration.signatures) <= 1
        assert len(time_loop.advance.signatures) <= 1


def test_a_law_that_fails_at_the_start_says_so_itself():
    def law(t, terms, state):
        if terms.A.shape[0]:
            raise RuntimeError("no loop expected")
        return np.zeros(0)

    with pytest.raises(RuntimeError, match="no loop expected"):
        simulate(bouncing_ball(), law, [0.0], t_end=1.0, switches=Contact("floor"))


# -- the page and the examples ----------------------------------------------------------------------------


class TestLawsWhereLoopsComeAndGo:
    """Laws that name loops, or hold a plant of their own, go on with the loops that hold."""

    def path(self):
        grid = np.linspace(0.0, 2.0, 401)
        return Spline(grid, np.array([carried(t) for t in grid])[:, :6])

    def motion(self, plant=None):
        return ProjectedInverseDynamics(
            plant or carrying(), JOINTS, self.path(), bandwidth=15.0, consistent=True, period=2e-3
        )

    def run(self, law, **options):
        return simulate(
            carrying(), law, carried(0.0), t_end=2.0, output_times=0.02, switches=CHANGES, **settings(**options)
        )

    def test_terms_tell_the_rows_and_what_is_absent(self):
        apart = carrying().without(*GRASPS)
        terms = apart.terms(carried(0.0), np.zeros(9))
        assert terms.row_names == apart.row_names and terms.absent == set(GRASPS)
        S = np.eye(len(carrying().row_names))
        here = terms.in_present_rows(S, carrying().row_names)
        assert here.shape == (len(carrying().row_names), len(apart.row_names))
        assert here.any(axis=1).sum() == len(apart.row_names)
        twin = carrying().as_at(terms)
        assert twin is carrying().as_at(terms) and twin.row_names == apart.row_names
        assert carrying().as_at(carrying().terms(carried(0.0), np.zeros(9))) is carrying()

    @pytest.mark.nojit_slow
    def test_a_model_goes_along(self):
        """The exact model gives the same run; the loops of a model come and go with those of the plant."""
        model = plants.grasping_arms(table=True)
        run, with_model = self.run(self.motion()), self.run(WithModel(model, self.motion()))
        assert with_model.q.values == pytest.approx(run.q.values, abs=1e-9)

    @pytest.mark.nojit_slow
    def test_sensors_go_along(self):
        run, chained = self.run(self.motion()), self.run(Encoder(bits=30) | self.motion())
        assert chained.q.values == pytest.approx(run.q.values, abs=1e-6)

    @pytest.mark.nojit_slow
    def test_a_force_law_squeezes_while_it_holds(self):
        wrench = "right_grasp_fx"
        force = ConstraintForcePI(carrying(), [20.0], [wrench], ki=20.0, period=2e-3, frame="ground", on="b")
        run = self.run(HybridMotionForce(self.motion(), force))
        held = run.active.sel(loop=list(GRASPS)).values.all(axis=1)
        error = run.report.sel(quantity=f"force_error_{wrench}").values
        settled = held & np.roll(held, 12) & np.roll(held, -2)
        assert settled.any() and largest(error[settled]) < 1.0
        assert largest(run.q.values[:, :6] - run.reference.values) < 5e-3

    @pytest.mark.nojit_slow
    def test_limits_on_contacts_that_are_not_there(self):
        law = ConstrainedActuation(self.motion(), limits=400.0, unilateral={"right_grasp_x": -300.0})
        run = self.run(law)
        assert np.isfinite(run.report.sel(quantity="status")).all()
        assert (run.report.sel(quantity="status") == 0.0).all()
        assert largest(run.q.values[:, :6] - run.reference.values) < 5e-3
