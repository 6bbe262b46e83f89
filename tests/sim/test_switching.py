"""Loops that come and go: closed forms of events, energy over impacts."""

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.controllers import Controller, ProjectedInverseDynamics
from cmbcontrol.controllers.references import Constant
from cmbcontrol.errors import ModelError, SimulationError
from cmbcontrol.model.contacts import Contact
from cmbcontrol.model.elements import (
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
)
from cmbcontrol.model.functions import FunctionPlant
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.papers.methods import settings
from cmbcontrol.plants import leg
from cmbcontrol.plants.leg import angles
from cmbcontrol.plants.leg import configuration as leg_configuration
from cmbcontrol.sim.simulate import simulate
from cmbcontrol.sim.switching import Engage, Lock, Release, Unlock
from tests.fixtures import bouncing_ball, event_kinds, event_times, falls_free, hanging_arm, largest

G = 9.81
DOWN = (0.0, -G, 0.0)


# -- falling and bouncing -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "accuracy"),
    [({}, 1e-12), ({"method": "radau"}, 1e-6), ({"method": "rk4", "step": 0.01}, 1e-9)],
    ids=["dop853", "radau", "rk4"],
)
def test_bouncing_ball(options, accuracy):
    """Times, losses and rest: t_k = t_1 + 2 v (e + e^2 + ...) / g."""
    e, height, mass = 0.5, 1.0, 2.0
    plant = bouncing_ball(mass)
    run = simulate(plant, None, [height], t_end=2.0, switches=Contact("floor", restitution=e), **settings(**options))
    first = np.sqrt(2.0 * height / G)
    speeds = G * first * e ** np.arange(13.0)
    expected = first + np.append(0.0, np.cumsum(2.0 * speeds[1:] / G))
    found = event_times(run, "impact floor")
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
    assert event_kinds(run)[-1] == "engaged floor"


def test_bounce_heights_with_a_sampled_law_and_with_an_own_one():
    plant = bouncing_ball(damping=0.0)
    for law in (None, lambda t, terms, state: np.zeros(0)):
        run = simulate(
            plant, law, [0.8], t_end=1.2, switches=[Contact("floor", restitution=0.8)], **settings(max_step=0.05)
        )
        top = run.q.values[(run.time > 0.5) & (run.time < 1.0), 0].max()
        assert top == pytest.approx(0.8 * 0.64, abs=1e-4)
        assert run.max_energy_error < 1e-10


def test_a_contact_that_touches_at_the_start():
    run = simulate(bouncing_ball(), None, [0.0], t_end=0.1, switches=Contact("floor"))
    assert event_kinds(run) == ["engaged floor"] and run.active.values.all() and run.impact_loss.values[-1] == 0.0
    run = simulate(bouncing_ball(), None, [0.0], [-2.0], t_end=0.1, switches=Contact("floor"))
    assert event_kinds(run) == ["impact floor", "engaged floor"]
    assert run.events()[0]["loss"] == pytest.approx(4.0) and run.max_energy_error < 1e-14
    run = simulate(bouncing_ball(), None, [0.0], [2.0], t_end=0.1, switches=Contact("floor"))
    assert event_kinds(run) == [] and run.q.values[-1, 0] == pytest.approx(0.2 - 0.5 * G * 0.01, abs=1e-12)


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
    assert event_kinds(run) == ["engaged ball", "released ball"]
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
    assert event_kinds(run)[:4] == ["engaged rope", "released rope", "impact rope", "engaged rope"]
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
    assert event_kinds(run)[:2] == ["engaged pan", "released pan"]
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
    assert event_times(run, "impact high") == pytest.approx([0.3, 1.3], abs=1e-12)
    assert event_times(run, "impact low") == pytest.approx([0.8, 1.8], abs=1e-12)
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
    struck = ["impact left", "impact right", "struck at once left, right"]  # one after the other it would rock
    assert event_kinds(run) == [*struck, "engaged left", "engaged right"]
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
    assert event_kinds(run)[:4] == ["engaged left", "impact right", "engaged right", "released left"]
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


# -- locks ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [None, Idle(0.03)], ids=["free", "sampled"])
def test_lock_takes_the_energy_of_the_removed_velocity(law):
    plant = hanging_arm()
    run = simulate(plant, law, [0.3, 0.8], [1.0, -2.0], t_end=1.0, output_times=0.1, switches=Lock("elbow", at=0.4))
    assert event_kinds(run) == ["engaged lock_elbow"] and list(run.data["loop"].values) == ["lock_elbow"]
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
    held = hanging_arm(elbow=lambda *ends, frame: Fixed(*ends, frame=Frame.turned((0, 0, 1), a, frame.p)))
    twin = simulate(held, None, run.q.values[4, :1], run.v.values[4, :1], t_end=0.6, output_times=0.1)
    assert run.q.values[4:, 0] == pytest.approx(twin.q.values[:, 0], abs=1e-9)


def test_unlock_and_lock_again():
    plant = hanging_arm()
    switches = [Unlock("elbow", at=0.2), Lock("elbow", when=lambda t, q, v: t - 0.5)]
    run = simulate(plant, None, [0.3, 0.8], [1.0, 0.0], t_end=0.8, output_times=0.1, switches=switches)
    assert event_kinds(run) == ["released lock_elbow", "engaged lock_elbow"]
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
    assert event_kinds(run) == ["engaged slope", "engaged lock_x"]
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
    assert event_kinds(run) == ["released link"]
    # 3 m g cos = 2 m g
    assert run.data["event_q"].values[0, 1] == pytest.approx(-L * 2.0 / 3.0, abs=1e-10)
    assert run.max_energy_error < 1e-9


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


def test_rebounds_too_low_to_be_told_from_rest_stay():
    run = simulate(
        bouncing_ball(), None, [1e-6], t_end=0.1, switches=Contact("floor", restitution=0.9, rest_speed=1e-13)
    )
    assert event_kinds(run)[-1] == "engaged floor" and len(run.events()) < 100 and run.max_energy_error < 1e-12


@pytest.mark.nojit_slow
@pytest.mark.filterwarnings("ignore::cmbcontrol.errors.SpeedWarning")
def test_a_point_that_sticks_can_jam():
    """A foot that lands on a leg without torque: closed it pulls, open it sinks in. It stays, and the run says so."""
    plant = leg()
    law = ProjectedInverseDynamics(
        plant, ("hip", "knee"), Constant(angles(0.6)), bandwidth=25.0, consistent=True, posture=falls_free, period=2e-3
    )
    run = simulate(
        plant, law, leg_configuration(plant, 0.82, 0.6), t_end=0.8, switches=Contact("foot", normal=(0, 1, 0))
    )
    assert event_kinds(run) == ["impact foot", "engaged foot", "jammed foot"]
    assert run.active.values[run.time > run.events()[0]["time"]].all() and run.max_energy_error < 1e-9
    assert run.multipliers.values[-1, 1] == pytest.approx(-15.0 * G, rel=1e-3)
