"""Loops that come and go: closed forms of events, energy over impacts, twins, one unchanged controller."""

import importlib.util
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from machines import LOOPS, again, largest, loop_at, name_of, random_state, tree_parts

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
from cmbcontrol.dynamics.acceleration import acceleration
from cmbcontrol.errors import ModelError, SimulationError, Status
from cmbcontrol.model.capture import capture
from cmbcontrol.model.elements import (
    Actuator,
    Body,
    Coupling,
    Distance,
    Fixed,
    Frame,
    Free,
    JointSpring,
    Planar,
    Point,
    PointOnPlane,
    Prismatic,
    Revolute,
    Spherical,
    Weld,
)
from cmbcontrol.model.functions import FunctionPlant
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.papers.methods import settings
from cmbcontrol.plants import grasping_arms, leg, two_arms
from cmbcontrol.plants.grasping_arms import TABLE
from cmbcontrol.plants.grasping_arms import pose as arms_pose
from cmbcontrol.plants.leg import LINK, angles
from cmbcontrol.plants.leg import pose as leg_pose
from cmbcontrol.plants.two_arms import pose as held_pose
from cmbcontrol.sim.simulate import simulate
from cmbcontrol.sim.switching import Contact, Engage, Lock, Release, Unlock

G = 9.81
DOWN = (0.0, -G, 0.0)


def kinds(run):
    return [event["kind"] for event in run.events()]


def times(run, kind):
    return np.array([event["time"] for event in run.events() if event["kind"] == kind])


def ball(mass=2.0, **more):
    """A mass on a vertical guide above a floor at 0."""
    body = Body("ball", mass, (0, 0, 0), (0.1, 0.1, 0.1))
    floor = PointOnPlane("floor", "ground", "ball")
    return Mechanism("ball", [body], [Prismatic("height", "ground", "ball", **more)], [floor])


def arm(*loops, elbow=Revolute, **more):
    """Two rods that hang from the ground."""
    rods = [Body.rod("upper", 2.0, 0.6), Body.rod("lower", 1.5, 0.5)]
    joints = [Revolute("shoulder", "ground", "upper"), elbow("elbow", "upper", "lower", frame=Frame((0.6, 0, 0)))]
    return Mechanism("arm", rods, joints, loops, gravity=DOWN, **more)


# -- modes of a plant -----------------------------------------------------------------------------------


def test_without_is_the_machine_built_without():
    plant = plants.stewart()
    fewer = plant.without("ball3", "ball5")
    built = Mechanism(
        plant.name, plant.bodies, plant.joints, [x for x in plant.loops if x.name not in ("ball3", "ball5")],
        plant.springs, plant.actuators, plant.gravity,
    )  # fmt: skip
    assert fewer.row_names == built.row_names and dict(fewer.row_slices) == dict(built.row_slices)
    assert fewer.row_units == built.row_units and [x.name for x in fewer.loops] == ["ball2", "ball4", "ball6"]
    q, v = random_state(plant, 3)
    one, two = fewer.terms(q, v), built.terms(q, v)
    for what in ("M", "h", "phi", "A", "b", "B"):
        assert np.array_equal(getattr(one, what), getattr(two, what))
    assert fewer.size == plant.size and fewer.name == plant.name
    assert plant.without() is plant and plant.row_names != fewer.row_names
    assert fewer.without("ball2").row_names == plant.without("ball2", "ball3", "ball5").row_names


def test_modes_can_be_pickled_and_are_frozen():
    plant = plants.stewart().without("ball3")
    back = pickle.loads(pickle.dumps(plant))
    assert back.row_names == plant.row_names and back.size == plant.size
    with pytest.raises(AttributeError, match="frozen"):
        plant.name = "other"


def test_with_loops_adds_and_replaces():
    plant = plants.five_bar()
    belt = Coupling("belt", {"left": 1.0, "right": 1.0}, 3.1)
    more = plant.with_loops(belt)
    assert more.row_names == (*plant.row_names, "belt")
    assert more.with_loops(Coupling("belt", {"left": 1.0}, 2.0)).row_names == more.row_names
    q = more.assemble(left=2.1)
    assert q[0] + q[2] == pytest.approx(3.1, abs=1e-12)
    with pytest.raises(TypeError, match="not a constraint"):
        plant.with_loops("belt")


def test_modes_of_functions():
    particle = plants.particle_on_circle()
    q, v = np.array([0.6, 0.8]), np.array([0.3, -0.4])
    free = particle.without("circle")
    assert free.terms(q, v).A.shape == (0, 2) and free.terms(q, v).rank == 0 and free.row_slices == {}
    both = particle.with_loops(Coupling("level", {"q2": 2.0}, 1.6))
    terms = both.terms(q, v)
    assert pytest.approx(np.array([[0.6, 0.8], [0.0, 2.0]])) == terms.A and terms.phi == pytest.approx([0.0, 0.0])
    assert both.without("circle").row_names == ("level",) and both.row_scale == pytest.approx([1.0, 0.5])
    both.check_derivatives(q, v)
    assert both.with_loops(Coupling("level", {"q1": 1.0})).row_names == both.row_names
    with pytest.raises(TypeError, match="only a Coupling"):
        particle.with_loops(Point("p", "ground", "b"))
    with pytest.raises(ValueError, match="coordinate 'q3'"):
        particle.with_loops(Coupling("level", {"q3": 1.0}))


def test_modes_refuse():
    with pytest.raises(ValueError, match="did you mean 'tip'"):
        plants.five_bar().without("tp")
    rods = [Body.rod("a", 1.0, 1.0), Body.rod("b", 1.0, 1.0)]
    joints = [Revolute("a", "ground", "a"), Revolute("b", "a", "b", frame=Frame((1, 0, 0)))]
    cut = Revolute("cut", "ground", "b", frame=Frame((1, 0, 0)), child_frame=Frame((1, 0, 0)))
    driven = Mechanism("driven", rods, joints, [cut], actuators=[Actuator("cut")])
    with pytest.raises(ValueError, match="motor 'cut' drives the cut joint"):
        driven.without("cut")


@pytest.mark.parametrize("kind", LOOPS, ids=name_of)
def test_capture_closes_any_loop_where_it_is(kind):
    parts = tree_parts(7, 6)
    plant = Mechanism(**parts)
    q, _ = random_state(plant, 7)
    loop = loop_at(plant, q, kind, np.random.default_rng(1))
    there, v = random_state(plant, 8)
    assert plant.with_loops(loop).closure_error(there) > 1e-3
    held = plant.with_loops(capture(plant, loop, there))
    assert held.closure_error(there) < 1e-12 and held.row_names == plant.with_loops(loop).row_names
    # and the rows still forbid as many motions
    assert held.terms(there, v).rank == plant.with_loops(loop).terms(q, v).rank


# -- falling and bouncing -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "accuracy"),
    [({}, 1e-12), ({"method": "radau"}, 1e-6), ({"method": "rk4", "step": 0.01}, 1e-9)],
    ids=["dop853", "radau", "rk4"],
)
def test_bouncing_ball(options, accuracy):
    """Times, losses and rest: t_k = t_1 + 2 v (e + e^2 + ...) / g."""
    e, height, mass = 0.5, 1.0, 2.0
    plant = ball(mass)
    run = simulate(plant, None, [height], t_end=2.0, switches=Contact("floor", restitution=e), **settings(**options))
    first = np.sqrt(2.0 * height / G)
    speeds = G * first * e ** np.arange(13.0)
    expected = first + np.append(0.0, np.cumsum(2.0 * speeds[1:] / G))
    found = times(run, "impact floor")
    assert len(found) == 13  # e^13 v < 1 mm/s: the 13th stays
    assert found == pytest.approx(expected, abs=10.0 * accuracy)
    losses = [x["loss"] for x in run.events() if x["kind"] == "impact floor"]
    assert losses[:5] == pytest.approx(0.5 * mass * (1.0 - e**2) * speeds[:5] ** 2, rel=100.0 * accuracy)
    assert run.max_energy_error < 1e3 * accuracy
    assert run.impact_loss.values[-1] == pytest.approx(mass * G * height, rel=100.0 * accuracy)
    assert run.active.values[-1, 0] and not run.active.values[0, 0]
    assert run.multipliers.values[-1] == pytest.approx([-mass * G], rel=1e-9)
    assert run.multipliers.values[0, 0] == 0.0 and run.max_drift < 1e-12
    assert run.q.values.min() > -1e-9
    assert kinds(run)[-1] == "engaged floor"


def test_bounce_heights_with_a_sampled_law_and_with_an_own_one():
    plant = ball(damping=0.0)
    for law in (None, lambda t, terms, state: np.zeros(0)):
        run = simulate(
            plant, law, [0.8], t_end=1.2, switches=[Contact("floor", restitution=0.8)], **settings(max_step=0.05)
        )
        top = run.q.values[(run.time > 0.5) & (run.time < 1.0), 0].max()
        assert top == pytest.approx(0.8 * 0.64, abs=1e-4)
        assert run.max_energy_error < 1e-10


def test_a_contact_that_touches_at_the_start():
    run = simulate(ball(), None, [0.0], t_end=0.1, switches=Contact("floor"))
    assert kinds(run) == ["engaged floor"] and run.active.values.all() and run.impact_loss.values[-1] == 0.0
    run = simulate(ball(), None, [0.0], [-2.0], t_end=0.1, switches=Contact("floor"))
    assert kinds(run) == ["impact floor", "engaged floor"]
    assert run.events()[0]["loss"] == pytest.approx(4.0) and run.max_energy_error < 1e-14
    run = simulate(ball(), None, [0.0], [2.0], t_end=0.1, switches=Contact("floor"))
    assert kinds(run) == [] and run.q.values[-1, 0] == pytest.approx(0.2 - 0.5 * G * 0.01, abs=1e-12)


@pytest.mark.parametrize("sampled", [False, True])
def test_leaves_the_top_of_a_ball_at_two_thirds_of_its_height(sampled):
    """A bead slides off a sphere of radius R and leaves it where cos = 2/3."""
    R = 0.5
    bead = Body("bead", 0.3, (0, 0, 0), (0.01, 0.01, 0.01))
    joints = [Prismatic("x", "ground", "rail", axis=(1, 0, 0)), Prismatic("y", "rail", "bead", axis=(0, 1, 0))]
    plant = Mechanism(
        "bead", [Body("rail"), bead], joints, [Distance("ball", "ground", "bead", length=R)], gravity=DOWN
    )
    law = Idle(1e-2) if sampled else None
    a = 0.1
    q0 = R * np.array([np.sin(a), np.cos(a)])
    run = simulate(plant, law, q0, t_end=0.8, switches=[Contact("ball")])
    assert kinds(run) == ["engaged ball", "released ball"]
    off = run.data["event_q"].values[1]
    # N = 0 where g cos = v^2 / R and v^2 = 2 g R (cos a - cos)
    assert off[1] / R == pytest.approx(2.0 / 3.0 * np.cos(a), abs=1e-10)
    assert np.hypot(*run.q.values.T).min() > R - 1e-9 and run.max_energy_error < 1e-9


class Idle(Controller):
    """No effort, sampled."""

    def __init__(self, period):
        self.period = period

    def effort(self, t, terms, state):
        return np.zeros(terms.B.shape[1])


def test_rope_goes_slack_and_taut_again():
    """A pendulum on a rope, thrown with v^2 = 4 g L: slack where -cos = 2/3; the loss is that of the radial speed."""
    L, m = 0.7, 0.4
    bob = Body("bob", m, (0, 0, 0), (0.01, 0.01, 0.01))
    joints = [Prismatic("x", "ground", "rail", axis=(1, 0, 0)), Prismatic("y", "rail", "bob", axis=(0, 1, 0))]
    plant = Mechanism("rope", [Body("rail"), bob], joints, [Distance("rope", "ground", "bob", length=L)], gravity=DOWN)
    run = simulate(plant, None, [0.0, -L], [2.0 * np.sqrt(G * L), 0.0], t_end=1.5, switches=Contact("rope", side=-1))
    assert kinds(run)[:4] == ["engaged rope", "released rope", "impact rope", "engaged rope"]
    slack, taut = run.data["event_q"].values[1], run.data["event_q"].values[2]
    assert slack[1] / L == pytest.approx(2.0 / 3.0, abs=1e-9)
    assert np.hypot(*taut) == pytest.approx(L, abs=1e-12)
    t = run.events()[2]["time"] - run.events()[1]["time"]
    v = np.sqrt(G * L * 2.0 / 3.0) * np.array([-slack[1], slack[0]]) / -L  # along the circle, on the way up
    v = v if v[1] > 0 else -v
    radial = (v - [0.0, G * t]) @ taut / L
    assert run.events()[2]["loss"] == pytest.approx(0.5 * m * radial**2, rel=1e-8)
    assert run.max_energy_error < 1e-9 and run.drift.values[run.active.values].max() < 1e-12


def test_thrown_off_a_sprung_plate():
    """A mass on a plate on a spring leaves where the spring is at its natural length."""
    k, plate, mass, down = 400.0, 1.0, 0.5, 0.12
    bodies = [Body(n, m, (0, 0, 0), (0.01,) * 3) for n, m in (("plate", plate), ("mass", mass))]
    joints = [Prismatic("plate", "ground", "plate"), Prismatic("mass", "ground", "mass")]
    plant = Mechanism(
        "scales", bodies, joints, [PointOnPlane("pan", "plate", "mass")], [JointSpring("spring", "plate", k)]
    )
    run = simulate(plant, None, [-down, -down], t_end=0.3, switches=Contact("pan"))
    w, rest = np.sqrt(k / (plate + mass)), -(plate + mass) * G / k
    leaves = np.arccos(rest / (down + rest)) / w  # -down + ... = 0 on the way up
    assert kinds(run)[:2] == ["engaged pan", "released pan"]
    assert run.events()[1]["time"] == pytest.approx(leaves, abs=1e-9)
    assert run.data["event_q"].values[1] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert run.max_energy_error < 1e-9


def test_end_stop_of_a_joint():
    """A coupling of one coordinate is an end stop; both ends at once, above and below."""
    stops = [Coupling("low", {"x": 1.0}, -0.2), Coupling("high", {"x": 1.0}, 0.3)]
    body = Body("cart", 1.0, (0, 0, 0), (0.1,) * 3)
    plant = Mechanism("cart", [body], [Prismatic("x", "ground", "cart", axis=(1, 0, 0))], stops)
    contacts = [Contact("low", restitution=1.0), Contact("high", side=-1, restitution=1.0)]
    run = simulate(plant, None, [0.0], [1.0], t_end=2.0, switches=contacts)
    assert times(run, "impact high") == pytest.approx([0.3, 1.3], abs=1e-12)
    assert times(run, "impact low") == pytest.approx([0.8, 1.8], abs=1e-12)
    assert run.impact_loss.values[-1] == pytest.approx(0.0, abs=1e-14) and run.max_energy_error < 1e-12


# -- several contacts -----------------------------------------------------------------------------------


def block(width=0.4, height=0.2, corners=Point):
    """A block in the vertical plane over the ground y = 0; its coordinates are those of its centre."""
    body = Body.planar("block", 3.0, 0.0, 3.0 * (width**2 + height**2) / 12.0)
    more = {} if corners is Point else {"normal": (0, 1, 0)}
    feet = [
        corners(name, "ground", "block", (0, 0, 0), (x, -0.5 * height, 0), **more)
        for name, x in (("left", -0.5 * width), ("right", 0.5 * width))
    ]
    return Mechanism("block", [body], [Planar("block", "ground", "block")], feet, gravity=DOWN)


def feet(corners=Point, **more):
    normal = {"normal": (0, 1, 0)} if corners is Point else {}
    return [Contact(name, **normal, **more) for name in ("left", "right")]


@pytest.mark.parametrize("corners", [Point, PointOnPlane])
def test_block_lands_flat_on_two_corners(corners):
    plant = block(corners=corners)
    run = simulate(plant, None, [0.1, 0.3, 0.0], t_end=0.5, switches=feet(corners))
    assert kinds(run) == ["impact left", "impact right", "engaged left", "engaged right"]
    assert run.events()[0]["time"] == pytest.approx(np.sqrt(2.0 * 0.2 / G), abs=1e-12)
    assert run.events()[0]["loss"] == pytest.approx(3.0 * G * 0.2, rel=1e-12)
    assert run.q.values[-1] == pytest.approx([0.1, 0.1, 0.0], abs=1e-12) and run.max_energy_error < 1e-12
    normal = run.multipliers.values[-1][[1, 4] if corners is Point else [0, 1]]
    assert normal == pytest.approx([-1.5 * G, -1.5 * G], rel=1e-9)


def test_rocking_block():
    """Housner: a block that rocks over from one corner to the other keeps 1 - 3/2 sin^2 of its spin."""
    width, height = 0.2, 0.6
    plant = block(width, height)
    tilt, alpha, R = 0.1, np.arctan2(width, height), 0.5 * np.hypot(width, height)
    corner = np.array([-0.5 * width, -0.5 * height])  # turned about the left corner, to the left
    turn = np.array([[np.cos(tilt), -np.sin(tilt)], [np.sin(tilt), np.cos(tilt)]])
    q0 = np.append(corner - turn @ corner + [0.0, 0.5 * height], tilt)
    run = simulate(plant, None, q0, t_end=0.6, output_times=1e-3, switches=feet())
    assert kinds(run)[:4] == ["engaged left", "impact right", "engaged right", "released left"]
    t = run.events()[1]["time"]
    rate = run.v.values[:, 2]
    before, after = rate[run.time < t][-1], rate[run.time > t][0]
    inertia = 4.0 / 3.0 * R**2
    spin = np.sqrt(2.0 * G * R * (np.cos(alpha - tilt) - np.cos(alpha)) / inertia)
    assert before == pytest.approx(-spin, rel=1e-2)
    assert after / before == pytest.approx(1.0 - 1.5 * np.sin(alpha) ** 2, abs=2e-2)
    kinetic = 0.5 * 3.0 * inertia * spin**2
    assert run.events()[1]["loss"] == pytest.approx(kinetic * (1.0 - (1.0 - 1.5 * np.sin(alpha) ** 2) ** 2), rel=1e-8)
    assert run.max_energy_error < 1e-9


def test_four_feet_of_which_one_is_too_many():
    """A plate on four feet: three rows count; where its weight lies near one edge, the far feet need not pull."""
    for x, supported in ((0.0, True), (0.15, True), (0.25, False)):
        body = Body("plate", 2.0, (x, 0.03, 0.0), (0.02, 0.02, 0.03))
        corners = [
            PointOnPlane(f"c{i}", "ground", "plate", point_b=(a, b, 0.0))
            for i, (a, b) in enumerate([(-0.2, -0.2), (-0.2, 0.2), (0.2, -0.2), (0.2, 0.2)])
        ]
        plant = Mechanism("plate", [body], [Free("plate", "ground", "plate")], corners)
        contacts = [Contact(c.name) for c in corners]
        run = simulate(plant, None, plant.neutral(), t_end=0.2, switches=contacts)
        still = largest(run.q.values[-1] - run.q.values[0]) < 1e-9
        assert still == supported and run.max_energy_error < 1e-9
        assert (run.multipliers.values <= 1e-8).all() and len(run.events()) <= 4
        if supported:
            assert run.multipliers.values[-1].sum() == pytest.approx(-2.0 * G, rel=1e-9)


def test_friction_is_told_not_simulated():
    """A box pushed sideways ever harder: sticking needs more than mu N from a known time on."""
    body = Body("box", 2.0, (0, 0, 0), (0.1,) * 3)
    joints = [Prismatic("x", "ground", "rail", axis=(1, 0, 0)), Prismatic("z", "rail", "box", axis=(0, 0, 1))]
    box = Mechanism("box", [Body("rail"), body], joints, [Point("sole", "ground", "box")], actuators=[Actuator("x")])
    run = simulate(
        box,
        lambda t, terms, state: np.array([10.0 * t]),
        [0.0, 0.0],
        t_end=1.5,
        switches=Contact("sole", friction=0.5),
        **settings(max_step=0.1),
    )
    assert kinds(run) == ["engaged sole", "slip begins sole"]
    assert run.events()[1]["time"] == pytest.approx(0.5 * 2.0 * G / 10.0, abs=1e-9)
    assert run.q.values[-1] == pytest.approx([0.0, 0.0], abs=1e-12)


# -- locks ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [None, Idle(0.03)], ids=["free", "sampled"])
def test_lock_takes_the_energy_of_the_removed_velocity(law):
    plant = arm()
    run = simulate(plant, law, [0.3, 0.8], [1.0, -2.0], t_end=1.0, output_times=0.1, switches=Lock("elbow", at=0.4))
    assert kinds(run) == ["engaged lock_elbow"] and list(run.data["loop"].values) == ["lock_elbow"]
    before = simulate(plant, law, [0.3, 0.8], [1.0, -2.0], t_end=0.4, output_times=[0.4])
    q, v, v_after = before.q.values[-1], before.v.values[-1], run.v.values[4]
    M = plant.terms(q, v).M
    assert v_after[1] == pytest.approx(0.0, abs=1e-14)
    assert (M @ (v - v_after))[0] == pytest.approx(0.0, abs=1e-10)  # the shoulder feels no impulse
    removed = v - v_after
    assert run.events()[0]["loss"] == pytest.approx(0.5 * removed @ M @ removed, rel=1e-9)
    kinetic, after = 0.5 * v @ M @ v, 0.5 * v_after @ M @ v_after
    assert kinetic - after == pytest.approx(run.events()[0]["loss"], abs=1e-9)
    assert run.q.values[4:, 1] == pytest.approx(run.q.values[4, 1], abs=1e-12)
    assert run.max_energy_error < 1e-9
    # from then on it is the machine whose elbow is no joint
    a = float(run.q.values[4, 1])
    held = arm(elbow=lambda *ends, frame: Fixed(*ends, frame=Frame.turned((0, 0, 1), a, frame.p)))
    twin = simulate(held, None, run.q.values[4, :1], run.v.values[4, :1], t_end=0.6, output_times=0.1)
    assert run.q.values[4:, 0] == pytest.approx(twin.q.values[:, 0], abs=1e-9)


def test_unlock_and_lock_again():
    plant = arm()
    switches = [Unlock("elbow", at=0.2), Lock("elbow", when=lambda t, q, v: t - 0.5)]
    run = simulate(plant, None, [0.3, 0.8], [1.0, 0.0], t_end=0.8, output_times=0.1, switches=switches)
    assert kinds(run) == ["released lock_elbow", "engaged lock_elbow"]
    assert run.q.values[:3, 1] == pytest.approx(0.8, abs=1e-12)
    assert largest(run.q.values[3:6, 1] - 0.8) > 1e-3
    assert run.q.values[5:, 1] == pytest.approx(run.q.values[5, 1], abs=1e-10)
    assert run.events()[1]["time"] == pytest.approx(0.5, abs=1e-12) and run.max_energy_error < 1e-9


def test_lock_of_a_ball_joint_and_of_a_cut_joint():
    rods = [Body("upper", 2.0, (0.3, 0, 0), (0.01, 0.06, 0.06)), Body("lower", 1.5, (0.2, 0, 0), (0.01, 0.04, 0.04))]
    joints = [Revolute("shoulder", "ground", "upper"), Spherical("elbow", "upper", "lower", frame=Frame((0.6, 0, 0)))]
    ball_arm = Mechanism("arm", rods, joints, gravity=DOWN)
    q0 = ball_arm.neutral()
    v0 = np.array([0.5, 0.3, 1.0, -0.4])
    run = simulate(ball_arm, None, q0, v0, t_end=0.4, switches=Lock("elbow", at=0.2))
    late = run.time >= 0.2
    assert largest(run.v.values[late, 1:]) < 1e-12 and run.max_energy_error < 1e-9
    bar = plants.pendulum(closure="revolute")
    name = bar.loops[0].name
    run = simulate(bar, None, bar.assemble(angle=0.4), t_end=0.4, switches=Lock(name, at=0.2))
    assert largest(run.v.values[run.time >= 0.2]) < 1e-12 and run.events()[0]["loss"] > 0.0


def test_locks_of_a_plant_given_by_functions():
    particle = plants.particle_on_circle()
    free = FunctionPlant(
        "free", ("x", "y"), M=lambda q: np.eye(2), h=lambda q, v: [0.0, G], Phi=lambda q: [q[0] + q[1]],
        A=lambda q: [[1.0, 1.0]], Adot_v=lambda q, v: [0.0], potential=lambda q: G * q[1], rows={"slope": ("slope",)},
    )  # fmt: skip
    run = simulate(free, None, [0.0, 0.0], [0.5, 1.0], t_end=0.5, output_times=0.1,
                   switches=[Engage("slope", at=0.0), Lock("x", at=0.2)])  # fmt: skip
    assert kinds(run) == ["engaged slope", "engaged lock_x"]
    assert run.events()[0]["loss"] == pytest.approx(0.5 * 1.5**2 / 2.0)
    assert largest(run.v.values[2:]) < 1e-12 and run.max_energy_error < 1e-9
    run = simulate(particle, None, [1.0, 0.0], t_end=0.3, switches=Release("circle", at=0.1))
    drop = simulate(particle, None, [1.0, 0.0], t_end=0.1, output_times=[0.1])
    q, v = drop.q.values[-1], drop.v.values[-1]
    assert run.q.values[-1] == pytest.approx(q + 0.2 * v - [0.0, 0.5 * G * 0.04], abs=1e-9)
    with pytest.raises(TypeError, match="capture needs a constraint between bodies"):
        simulate(particle, None, [1.0, 0.0], t_end=0.3, switches=Engage("circle", at=0.1, capture=True))


# -- engage and release -----------------------------------------------------------------------------------


def test_release_when_a_force_is_too_large():
    """A pendulum on a link that breaks: the tension m (v^2 / L + g cos) reaches the strength at a known angle."""
    L, m = 0.8, 0.5
    bob = Body("bob", m, (0, 0, 0), (0.01,) * 3)
    joints = [Prismatic("x", "ground", "rail", axis=(1, 0, 0)), Prismatic("y", "rail", "bob", axis=(0, 1, 0))]
    plant = Mechanism("bob", [Body("rail"), bob], joints, [Distance("link", "ground", "bob", length=L)], gravity=DOWN)
    strength = 2.0 * m * G
    run = simulate(plant, None, [L, 0.0], t_end=0.6, switches=Release("link", force=lambda lam: abs(lam[0]) - strength))
    assert kinds(run) == ["released link"]
    # 3 m g cos = 2 m g
    assert run.data["event_q"].values[0, 1] == pytest.approx(-L * 2.0 / 3.0, abs=1e-10)
    assert run.max_energy_error < 1e-9


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
    assert kinds(run) == ["engaged clamp", "released clamp"]
    assert run.events()[0]["time"] == pytest.approx(t, abs=1e-10)
    assert run.events()[0]["loss"] == pytest.approx(0.5 * 4.0 * (0.5**2 - 0.2**2), rel=1e-9)
    assert run.q.values[(run.time > t) & (run.time < 2.8), 0] == pytest.approx(0.2, abs=1e-10)
    assert seen and run.max_energy_error < 1e-9


def test_engage_closes_a_small_gap_and_accounts_for_it():
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    off = q + np.array([0.0, 1e-3, 0.0, 0.0])
    gap = plant.closure_error(off)
    run = simulate(plant, None, off, t_end=0.1, switches=Engage("tip", at=0.0, within=2e-3))
    assert run.max_drift < 1e-13 and run.max_energy_error < 1e-9
    assert run.events()[0]["loss"] != 0.0
    with pytest.raises(ModelError, match=r"open by 1\.\d+e-03 m.*capture=True"):
        simulate(plant, None, off, t_end=0.1, switches=Engage("tip", at=0.0))
    late = Engage("tip", at=0.05, within=0.5 * gap)
    with pytest.raises(SimulationError, match=r"'tip'.*cannot engage at t = 0\.05") as error:
        simulate(plant, None, off, t_end=0.1, switches=late)
    assert error.value.partial.time[-1] == pytest.approx(0.05)


@pytest.mark.nojit_slow
def test_the_same_loop_twice_changes_nothing():
    plant = plants.grasping_arms()
    double = plant.with_loops(again(plant.loops[0]), again(plant.loops[1]))
    q0 = arms_pose(plant, 0.0, 0.5)
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
    plant = CARRY
    return arms_pose(plant, TABLE[0] + 0.2 * s, TABLE[1] + 0.1 * bump, 0.2 * bump, clearance=back(t)[0][0])


CARRY = grasping_arms(table=True)
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
    law = ProjectedInverseDynamics(CARRY, JOINTS, path, bandwidth=15.0, consistent=True, period=period)
    kept = dict(vars(law))
    more = {"max_step": 0.05, "rtol": 1e-7, "atol": 1e-7} if period is None else {}
    run = simulate(CARRY, law, carried(0.0), t_end=2.0, output_times=0.02, switches=CHANGES, **settings(**more))
    assert dict(vars(law)) == kept
    error = np.abs(run.q.values[:, :6] - run.reference.values).max()
    assert error < (1e-5 if period is None else 3e-3)
    assert run.max_energy_error < (1e-5 if period is None else 1e-9) and run.max_drift < 1e-13
    assert run.q.values[-1, 6:] == pytest.approx([TABLE[0] + 0.2, TABLE[1], 0.0], abs=1e-3)
    held = run.active.sel(loop=list(GRASPS)).values.all(axis=1)
    on_table = run.active.sel(loop="table").values
    assert np.array_equal(held, ~on_table) and held.any() and on_table[0] and on_table[-1]
    apart = run.multipliers.values[~held][:, [i for i, n in enumerate(CARRY.row_names) if "grasp" in n]]
    assert largest(apart) == 0.0 and largest(run.q.values[on_table & (run.time < 0.5), 6:] - [*TABLE, 0.0]) < 1e-12


@pytest.mark.nojit_slow
def test_held_object_is_that_of_the_two_arms():
    """With both grasps the machine is the one whose object is part of the left hand."""
    apart, together = plants.grasping_arms(), two_arms()
    q, p = arms_pose(apart, 0.05, 0.55, 0.2), held_pose(together, 0.05, 0.55, 0.2)
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


def falls_free(t, terms):
    """The acceleration that the motors need not make."""
    return acceleration(terms, np.zeros(terms.h.size))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("foot", ["stick", "slide"])
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
    run = simulate(plant, law, leg_pose(plant, 0.75, 0.6), t_end=1.4, output_times=5e-3, switches=contact)
    assert kinds(run)[0] == "impact foot" and "engaged foot" in kinds(run)
    assert run.events()[0]["time"] == pytest.approx(np.sqrt(2.0 * 0.15 / G), abs=1e-9)
    assert "released foot" in kinds(run) and len(times(run, "impact foot")) >= 2  # it hops and lands again
    assert run.max_energy_error < 1e-9
    sole = np.array([plant.point(q, "shank", (LINK, 0, 0)) for q in run.q.values])
    assert sole[:, 1].min() > -1e-9
    assert (run.multipliers.values[:, 1 if foot == "stick" else 0] < 1e-6).all()  # it pushes, never pulls
    losses = [e["loss"] for e in run.events()]
    assert run.impact_loss.values[-1] == pytest.approx(sum(losses)) and min(losses) > -1e-9


def test_leg_that_falls_loses_the_energy_of_the_foot():
    """At touch down, by hand: the projection of the velocity of the free fall."""
    plant = leg()
    q = leg_pose(plant, 0.6)
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
    ("make", "error", "words"),
    [
        (lambda: Engage("a"), TypeError, "Engage\\('a'\\) needs one of at= or when=, got none"),
        (lambda: Engage("a", at=1.0, when=len), TypeError, "got at and when"),
        (lambda: Release("a"), TypeError, "at= or when= or force="),
        (lambda: Lock("a", when=3.0), TypeError, "must be a function"),
        (lambda: Engage("a", at=-1.0), ValueError, "the time of Engage\\('a'\\) must be >= 0"),
        (lambda: Engage("", at=1.0), ValueError, "name of a constraint"),
        (lambda: Engage("a", at=1.0, within=0.0), ValueError, "within="),
        (lambda: Contact("a", restitution=1.2), ValueError, "from 0 to 1"),
        (lambda: Contact("a", side=0), ValueError, "must be 1 or -1"),
        (lambda: Contact("a", normal=(0, 0, 0)), ValueError, "must not be zero"),
        (lambda: Contact("a", rest_speed=0.0), ValueError, "rest_speed"),
        (lambda: Contact("a", friction=-1.0), ValueError, "friction"),
    ],
)
def test_switches_refuse(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize(
    ("switches", "error", "words"),
    [
        (["floor"], TypeError, "must be Engage, Release"),
        (Engage("flor", at=1.0), ValueError, "Engage\\('flor'\\).*did you mean 'floor'"),
        ([Contact("floor"), Release("floor", at=1.0)], ValueError, "is a contact"),
        (Lock("elbow", at=1.0), ValueError, "Lock\\('elbow'\\).*joint or coordinate"),
        (Contact("floor", friction=0.3), ValueError, "no friction; use a Point"),
        (Contact("floor", side=-1), ModelError, "is inside by 1.000e\\+00"),
    ],
)
def test_runs_refuse(switches, error, words):
    with pytest.raises(error, match=words):
        simulate(ball(), None, [1.0], t_end=2.0, switches=switches)


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


def test_chattering_ends_with_a_word():
    bouncing = Contact("floor", restitution=0.999)
    with pytest.raises(SimulationError, match=r"chatter.*rest_speed"):
        simulate(ball(), None, [1e-2], t_end=1e8, switches=bouncing)


def test_a_condition_that_is_no_number_and_one_that_fails():
    with pytest.raises(SimulationError, match="the value of when= of Lock\\('height'\\) must be a number"):
        simulate(ball(), None, [1.0], t_end=0.1, switches=[Contact("floor"), Lock("height", when=lambda t, q, v: "x")])

    def breaks(t, q, v):
        if t > 0.05:
            raise RuntimeError("the camera is dark")
        return -1.0

    with pytest.raises(SimulationError, match=r"when= of Lock.*failed.*the camera is dark") as caught:
        simulate(
            ball(),
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
        simulate(ball(), law, [1.0], t_end=1.0, switches=Contact("floor"), **settings(max_step=0.1))
    assert error.value.partial.time[-1] == pytest.approx(np.sqrt(2.0 / G), abs=1e-9)


def test_switches_after_the_end_do_nothing_and_those_at_the_start_do():
    plant = arm()
    run = simulate(plant, Constant([0.0, 0.0]) and None, [0.3, 0.8], [1.0, 1.0], t_end=0.1,
                   switches=[Lock("elbow", at=0.0), Unlock("elbow", at=5.0)])  # fmt: skip
    assert kinds(run) == ["engaged lock_elbow"] and run.v.values[0, 1] == pytest.approx(0.0, abs=1e-14)
    assert run.active.values.all() and run.energy_balance.values[0] == 0.0


def test_rebounds_too_low_to_be_told_from_rest_stay():
    run = simulate(ball(), None, [1e-6], t_end=0.1, switches=Contact("floor", restitution=0.9, rest_speed=1e-13))
    assert kinds(run)[-1] == "engaged floor" and len(run.events()) < 100 and run.max_energy_error < 1e-12


@pytest.mark.nojit_slow
def test_a_point_that_sticks_can_jam():
    """A foot that lands on a leg without torque: closed it pulls, open it sinks in. It stays, and the run says so."""
    plant = leg()
    law = ProjectedInverseDynamics(
        plant, ("hip", "knee"), Constant(angles(0.6)), bandwidth=25.0, consistent=True, posture=falls_free, period=2e-3
    )
    run = simulate(plant, law, leg_pose(plant, 0.82, 0.6), t_end=0.8, switches=Contact("foot", normal=(0, 1, 0)))
    assert kinds(run) == ["impact foot", "engaged foot", "jammed foot"]
    assert run.active.values[run.time > run.events()[0]["time"]].all() and run.max_energy_error < 1e-9
    assert run.multipliers.values[-1, 1] == pytest.approx(-15.0 * G, rel=1e-3)


def test_runs_with_switches_are_kept_and_drawn(tmp_path):
    from cmbcontrol.sim.result import load_run

    run = simulate(ball(), None, [1.0], t_end=1.0, output_times=0.05, switches=Contact("floor", restitution=0.2))
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
        simulate(ball(), law, [0.0], t_end=1.0, switches=Contact("floor"))


# -- the page and the examples ----------------------------------------------------------------------------

ROOT = Path(__file__).parents[1]


def example(name):
    """A numbered example as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.nojit_slow
def test_the_page_runs():
    names: dict = {}
    page = (ROOT / "docs" / "switching.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    for block in blocks:
        exec(compile(block, "switching.md", "exec"), names)
    assert len(blocks) == 4


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_ex10_grasp():
    found = example("ex10_grasp").main()
    assert found["largest joint error, rad"] < 1e-3 and found["joint error at the end, rad"] < 1e-5
    assert found["energy error, J"] < 1e-9 and found["loops open by at most, m"] < 1e-13
    assert found["soft, 0.02 rad off: energy lost at the switches, J"] > 1e-6
    assert found["soft, 0.02 rad off: energy error, J"] < 1e-9


@pytest.mark.nojit_slow
def test_ex11_touch_down():
    found = example("ex11_touch_down").main()
    assert found["error of that time, s"] < 1e-9 and found["landings"] == 2
    assert found["deepest the foot gets, m"] > -1e-9 and found["energy error, J"] < 1e-9
    assert found["highest the foot gets after it, m"] > 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("name", "run"), [("ex10_grasp", "carry"), ("ex11_touch_down", "jump")])
def test_figures_of_the_examples(name, run, tmp_path):
    module = example(name)
    module.figure(getattr(module, run)()).savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


class TestLawsWhereLoopsComeAndGo:
    """Laws that name loops, or hold a plant of their own, go on with the loops that hold."""

    def path(self):
        grid = np.linspace(0.0, 2.0, 401)
        return Spline(grid, np.array([carried(t) for t in grid])[:, :6])

    def motion(self, plant=CARRY):
        return ProjectedInverseDynamics(plant, JOINTS, self.path(), bandwidth=15.0, consistent=True, period=2e-3)

    def run(self, law, **options):
        return simulate(CARRY, law, carried(0.0), t_end=2.0, output_times=0.02, switches=CHANGES, **settings(**options))

    def test_terms_tell_the_rows_and_what_is_absent(self):
        apart = CARRY.without(*GRASPS)
        terms = apart.terms(carried(0.0), np.zeros(9))
        assert terms.row_names == apart.row_names and terms.absent == set(GRASPS)
        S = np.eye(len(CARRY.row_names))
        here = terms.in_present_rows(S, CARRY.row_names)
        assert here.shape == (len(CARRY.row_names), len(apart.row_names))
        assert here.any(axis=1).sum() == len(apart.row_names)
        twin = CARRY.as_at(terms)
        assert twin is CARRY.as_at(terms) and twin.row_names == apart.row_names
        assert CARRY.as_at(CARRY.terms(carried(0.0), np.zeros(9))) is CARRY

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
        force = ConstraintForcePI(CARRY, [20.0], [wrench], ki=20.0, period=2e-3, frame="ground", on="b")
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
