"""Dry friction that sticks and slides exactly: closed forms of stops, periods, cones, impacts; Painleve's rod."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cmbcontrol as cmb
from cmbcontrol import (
    Actuator,
    Body,
    Contact,
    Coupling,
    Frame,
    JointForce,
    JointMotion,
    Mechanism,
    Point,
    PointForce,
    PointOnPlane,
    Prismatic,
    Revolute,
    SlidingFriction,
    controllers,
)
from cmbcontrol.characteristics import Friction, KineticFriction, SpringDamper
from cmbcontrol.errors import PainleveError, SimulationError, Status
from cmbcontrol.model.dry_friction import directed, rubs_of_forces
from cmbcontrol.sim.constraint_modes import ConstraintModes
from cmbcontrol.sim.dry_friction import rubs_of_contacts
from tests.fixtures import event_kinds, event_times, largest, refuses

G, MASS, K = 9.81, 2.0, 50.0


def block(*forces, gravity=0.0):
    """A mass on a rail."""
    body, rail = Body("block", MASS), Prismatic("x", "ground", "block", axis=(1, 0, 0))
    return Mechanism("block", [body], [rail], forces=forces, gravity=(gravity, 0.0, 0.0))


# -- dry friction of joints -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["dop853", "rodas5p", "radau"])
def test_a_block_slides_to_a_stop(method):
    """v0 m / F, v0^2 m / (2 F); there it stays, held by what pushes it, which is less."""
    plant = block(JointForce("friction", "x", Friction(3.0)), gravity=0.5)
    run = cmb.simulate(plant, None, [0.0], [0.6], t_end=1.0, friction="exact", method=method)
    slowed = (3.0 - 0.5 * MASS) / MASS
    assert event_kinds(run) == ["slides friction", "sticks friction"]
    assert event_times(run, "sticks friction") == pytest.approx([0.6 / slowed], rel=1e-12)
    assert run.q.values[-1, 0] == pytest.approx(0.18 / slowed, rel=1e-12)
    assert run.v.values[-1, 0] == 0.0
    held = dict(zip(run.data.row.values, run.multipliers.values[-1], strict=True))["friction_sticking"]
    assert held == pytest.approx(0.5 * MASS, rel=1e-12)
    assert run.data.dissipated_work.values[-1] == pytest.approx(
        0.5 * MASS * 0.36 + 0.5 * MASS * 0.18 / slowed, rel=1e-9
    )
    assert run.max_energy_error < 1e-11


def test_it_holds_at_rest_and_breaks_away_both_ways():
    for pushes, kinds in ((2.9, ["sticks friction"]), (-2.9, ["sticks friction"]), (3.1, ["slides friction"])):
        plant = block(JointForce("friction", "x", Friction(3.0)), gravity=pushes / MASS)
        run = cmb.simulate(plant, None, [0.0], t_end=0.5, friction="exact")
        assert event_kinds(run) == kinds
        moved = 0.5 * max(abs(pushes) - 3.0, 0.0) / MASS * 0.25
        assert run.q.values[-1, 0] == pytest.approx(moved, abs=1e-13)


def test_an_oscillator_stops_after_half_waves():
    """The amplitude falls by 2 F / k each pi sqrt(m / k); it stays within F / k of the middle."""
    friction = JointForce("friction", "x", Friction(3.0) + SpringDamper(K))
    run = cmb.simulate(block(friction), None, [0.5], t_end=3.0, friction="exact")
    half = np.pi * np.sqrt(MASS / K)
    assert event_kinds(run) == ["slides friction"] * 4 + ["sticks friction"]
    assert [event["time"] for event in run.events()] == pytest.approx(half * np.arange(5.0), abs=1e-8)
    assert run.q.values[-1, 0] == pytest.approx(0.5 - 8.0 * 3.0 / K, abs=1e-9)
    assert run.max_energy_error < 1e-8


@pytest.mark.parametrize("between", ["joint", "points"])
def test_stick_slip_on_a_belt(between):
    """Period and stick time of a block on a spring, on a belt with static friction above that of sliding."""
    speed, static, sliding = 0.1, 6.0, 4.0
    law = Friction(sliding, static=static, stribeck_rate=0.0)
    joints = [Prismatic("belt", "ground", "belt", axis=(1, 0, 0)), Prismatic("x", "belt", "block", axis=(1, 0, 0))]
    far = (-10.0, 0.0, 0.0)
    grip = JointForce("grip", "x", law)
    if between == "points":
        grip = PointForce("grip", "belt", "block", law, point_a=far)
    spring = PointForce("spring", "ground", "block", lambda d, rate: K * (d - 10.0), point_a=far)
    bodies, drive = [Body("belt", 1.0), Body("block", MASS)], JointMotion("drive", "belt", velocity=speed)
    plant = Mechanism("belt", bodies, joints, [drive], forces=[spring, grip], gravity=(0, 0, 0))
    run = cmb.simulate(plant, None, [0.0, 0.0], [speed, 0.0], t_end=12.0, friction="exact", rtol=1e-10, atol=1e-12)
    omega = np.sqrt(K / MASS)
    slip = 2.0 * (np.pi - np.arctan((static - sliding) / K * omega / speed)) / omega
    stick = 2.0 * (static - sliding) / (K * speed)
    begins, ends = event_times(run, "slides grip"), event_times(run, "sticks grip")[1:]
    assert begins[0] == pytest.approx(static / (K * speed), rel=1e-10)
    assert ends - begins[: len(ends)] == pytest.approx(np.full(len(ends), slip), rel=1e-8)
    assert begins[1:] - ends[: len(begins) - 1] == pytest.approx(np.full(len(begins) - 1, stick), rel=1e-8)
    assert len(begins) == 7 and run.max_energy_error < 1e-8
    assert run.data.motion_work.values[-1] > 1.0  # the belt drives all of it


def test_stribeck_and_viscous_parts_act_while_it_slides():
    law = Friction(2.0, static=3.0, viscous=0.7, stribeck_rate=0.2)
    run = cmb.simulate(block(JointForce("friction", "x", law)), None, [0.0], [0.8], t_end=1.0, friction="exact")

    def slowed(t, x):
        return [x[1], -(2.0 + np.exp(-((x[1] / 0.2) ** 2)) + 0.7 * x[1]) / MASS]

    def stops(t, x):
        return x[1]

    stops.terminal = True
    found = solve_ivp(slowed, (0.0, 1.0), [0.0, 0.8], "DOP853", events=stops, rtol=1e-12, atol=1e-14)
    assert event_times(run, "sticks friction") == pytest.approx([found.t[-1]], abs=1e-9)
    assert run.q.values[-1, 0] == pytest.approx(found.y[0, -1], abs=1e-9)


def test_smooth_friction_comes_near_exact_friction():
    """As the transition rate falls; it creeps where exact friction holds."""
    plants = [
        block(JointForce("f", "x", Friction(3.0, transition_rate=rate) + SpringDamper(K))) for rate in (1e-2, 1e-3)
    ]
    exact = cmb.simulate(plants[0], None, [0.5], t_end=2.0, friction="exact").q.values[-1, 0]
    errors = [abs(cmb.simulate(plant, None, [0.5], t_end=2.0).q.values[-1, 0] - exact) for plant in plants]
    assert errors[1] < 0.2 * errors[0] < 2e-2


def test_two_joints_stick_and_slide_independently():
    """A chain of two rails: the first one breaks away when the second one, which it carries, has long been sliding."""
    bodies = [Body("a", 1.0), Body("b", 1.0)]
    joints = [Prismatic("p", "ground", "a", axis=(1, 0, 0)), Prismatic("q", "a", "b", axis=(1, 0, 0))]
    forces = [JointForce("first", "p", Friction(5.0)), JointForce("second", "q", Friction(1.0))]
    plant = Mechanism("rails", bodies, joints, actuators=[Actuator("q")], forces=forces, gravity=(0, 0, 0))
    run = cmb.simulate(plant, lambda t, terms, state: np.array([4.0 * t]), [0.0, 0.0], t_end=2.0, friction="exact")
    # b slides at u = 1; a breaks away when what it needs, u - 1 by reaction, is 5
    assert event_kinds(run)[:3] == ["sticks first", "sticks second", "slides second"]
    assert event_times(run, "slides second") == pytest.approx([0.25], abs=1e-10)
    assert event_times(run, "slides first") == pytest.approx([1.5], abs=1e-9)
    assert run.max_energy_error < 1e-9


def test_a_law_knows_the_machine_as_it_was_given():
    """It is told smooth friction, not what sticks; so it compensates, and the joint follows, from rest and back."""
    plant = block(JointForce("friction", "x", Friction(1.0, transition_rate=1e-4)))
    plant = plant.with_parts(actuators=[Actuator("x")])
    path = cmb.Sine(centre=[0.0], amplitude=[0.1], frequency_hz=1.0)
    law = controllers.ProjectedInverseDynamics(plant, ("x",), path, bandwidth=30.0, period=1e-3)
    for friction in ("exact", "smooth"):
        run = cmb.simulate(plant, law, [0.0], path(0.0)[1], t_end=1.0, friction=friction)
        assert largest(run.error.values) < 2e-3


# -- contacts --------------------------------------------------------------------------------------------


def puck(constraint=Point, motors=("x", "y")):
    """A mass on the floor."""
    joints = [
        Prismatic("x", "ground", "c", axis=(1, 0, 0)),
        Prismatic("y", "c", "d", axis=(0, 1, 0)),
        Prismatic("z", "d", "puck", axis=(0, 0, 1)),
    ]
    bodies = [Body("c"), Body("d"), Body("puck", 1.5, (0, 0, 0), (0.1, 0.1, 0.1))]
    actuators = [Actuator(name) for name in motors]
    return Mechanism("puck", bodies, joints, [constraint("sole", "ground", "puck")], actuators=actuators)


@pytest.mark.parametrize("constraint", [Point, PointOnPlane])
def test_a_box_breaks_away_and_slides(constraint):
    """Pushed ever harder: it sticks until 10 t = mu N."""
    mu, mass = 0.5, 1.5
    run = cmb.simulate(
        puck(constraint),
        lambda t, terms, state: np.array([10.0 * t, 0.0]),
        [0.0, 0.0, 0.0],
        t_end=1.5,
        switches=Contact("sole", friction=mu),
    )
    begins = mu * mass * G / 10.0
    assert event_kinds(run) == ["engaged sole", "sticks sole", "slides sole"]
    assert event_times(run, "slides sole") == pytest.approx([begins], abs=1e-10)
    t = 1.5 - begins
    assert run.q.values[-1] == pytest.approx([10.0 * t**3 / 6.0 / mass, 0.0, 0.0], abs=1e-10)
    push = run.multipliers.values[-1]
    if constraint is Point:  # what the point would carry: its push, and friction against the motion
        assert push == pytest.approx([mu * mass * G, 0.0, -mass * G], rel=1e-9)
    else:
        assert push[0] == pytest.approx(-mass * G, rel=1e-9)
    assert run.data.active.values.all() and run.max_energy_error < 1e-9


@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.6, 0.8), (-0.28, 0.96)])
def test_a_puck_slides_straight_to_a_stop(direction):
    mu, speed = 0.3, 0.5
    v0 = [*(speed * np.array(direction)), 0.0]
    run = cmb.simulate(puck(), None, np.zeros(3), v0, t_end=0.5, switches=Contact("sole", friction=mu))
    assert event_kinds(run) == ["engaged sole", "slides sole", "sticks sole"]
    assert event_times(run, "sticks sole") == pytest.approx([speed / (mu * G)], rel=1e-10)
    assert run.q.values[-1, :2] == pytest.approx(speed**2 / (2 * mu * G) * np.array(direction), abs=1e-12)
    assert run.data.dissipated_work.values[-1] == pytest.approx(0.75 * speed**2, rel=1e-10)


def test_a_puck_turns_under_a_force_across():
    """The direction of friction follows the velocity: against an integration of its own, to the stop."""
    mu, mass, force = 0.3, 1.5, 2.0

    def rates(t, x):
        speed = np.hypot(x[2], x[3])
        return [x[2], x[3], -mu * G * x[2] / speed, force / mass - mu * G * x[3] / speed]

    def slow(t, x):
        return np.hypot(x[2], x[3]) - 1e-8

    slow.terminal = True
    judge = solve_ivp(rates, (0.0, 1.0), [0.0, 0.0, 0.5, 0.0], "DOP853", events=slow, rtol=1e-12, atol=1e-14)
    run = cmb.simulate(
        puck(), [0.0, force], np.zeros(3), [0.5, 0.0, 0.0], t_end=1.0,
        switches=Contact("sole", friction=mu), rtol=1e-10, atol=1e-12,
    )  # fmt: skip
    assert event_times(run, "sticks sole") == pytest.approx([judge.t[-1]], abs=1e-7)
    assert run.q.values[-1, :2] == pytest.approx(judge.y[:2, -1], abs=1e-9)
    assert event_kinds(run) == ["engaged sole", "slides sole", "sticks sole"] and run.max_energy_error < 1e-9


@pytest.mark.parametrize(("mu", "sticks"), [(0.2, False), (0.8, True)])
def test_an_oblique_impact_slides_or_sticks(mu, sticks):
    """A point mass that is thrown: the impulse of friction is mu of that of the push, or stops it."""
    e, height, ahead, mass = 0.5, 0.5, 3.0, 1.5
    contact = Contact("sole", friction=mu, restitution=e)
    run = cmb.simulate(puck(), None, [0.0, 0.0, height], [ahead, 0.0, 0.0], t_end=0.5, switches=contact)
    down = np.sqrt(2.0 * G * height)
    left = max(ahead - mu * (1.0 + e) * down, 0.0)
    assert (left == 0.0) == sticks
    after = run.v.values[run.time > run.events()[0]["time"]][0]
    assert after[0] == pytest.approx(left, abs=1e-12)
    lost = 0.5 * mass * (ahead**2 - left**2 + (1.0 - e**2) * down**2)
    assert run.events()[0]["loss"] == pytest.approx(lost, rel=1e-10) and run.max_energy_error < 1e-11


def incline(angle):
    return puck().with_parts(gravity=(G * np.sin(angle), 0.0, -G * np.cos(angle)))


def test_the_angle_of_repose():
    """Static friction holds to tan = static; what has broken away slides with the coefficient of sliding."""
    law = Friction(0.3, static=0.5, stribeck_rate=0.0)
    for angle, holds in ((np.arctan(0.499), True), (np.arctan(0.501), False)):
        run = cmb.simulate(incline(angle), None, np.zeros(3), t_end=0.5, switches=Contact("sole", friction=law))
        assert event_kinds(run)[-1] == ("sticks sole" if holds else "slides sole")
        down = 0.0 if holds else 0.125 * G * (np.sin(angle) - 0.3 * np.cos(angle))
        assert run.q.values[-1, 0] == pytest.approx(down, abs=1e-12)


def ladder(mu):
    """A ladder of 2 m against a wall, with friction at both ends."""
    body = Body("ladder", 10.0, (0, 0, 0), (0.1, 10.0 / 3.0, 10.0 / 3.0))
    joints = [
        Prismatic("x", "ground", "c", axis=(1, 0, 0)),
        Prismatic("z", "c", "d", axis=(0, 0, 1)),
        Revolute("turn", "d", "ladder", axis=(0, -1, 0)),
    ]
    ends = [Point("foot", "ground", "ladder", point_b=(1, 0, 0)), Point("top", "ground", "ladder", point_b=(-1, 0, 0))]
    plant = Mechanism("ladder", [Body("c"), Body("d"), body], joints, ends)
    return plant, [Contact("foot", friction=mu), Contact("top", normal=(1, 0, 0), friction=mu)]


def test_a_ladder_slides_below_its_angle():
    """With mu at both ends it holds down to tan = (1 - mu^2) / (2 mu), whatever its length and weight."""
    mu = 0.4
    least = np.arctan((1.0 - mu**2) / (2.0 * mu))
    for angle, holds in ((least + 1e-3, True), (least - 1e-3, False)):
        plant, contacts = ladder(mu)
        # the foot is at x = 2 cos on the floor z = 0, the top on the wall x = 0
        q = [np.cos(angle), np.sin(angle), -angle]
        run = cmb.simulate(plant, None, q, t_end=0.3, switches=contacts)
        slid = abs(run.q.values[-1, 0] - q[0])
        assert (slid < 1e-9) == holds, angle
        assert run.max_energy_error < 1e-8
        if not holds:
            assert {"slides foot", "slides top"} <= set(event_kinds(run))


def test_painleves_rod_ends_with_a_status():
    """It slides as its closed form says, up to where 1 + 3 cos (cos - mu sin) vanishes; there the run ends."""
    mu, L = 2.5, 0.5
    body = Body("rod", 1.0, (0, 0, 0), (1e-3, L**2 / 3.0, L**2 / 3.0))
    joints = [
        Prismatic("x", "ground", "c", axis=(1, 0, 0)),
        Prismatic("z", "c", "d", axis=(0, 0, 1)),
        Revolute("turn", "d", "rod", axis=(0, -1, 0)),
    ]
    plant = Mechanism("rod", [Body("c"), Body("d"), body], joints, [Point("tip", "ground", "rod", point_b=(-L, 0, 0))])

    def start(angle, slip, spin):
        c, s = np.cos(angle), np.sin(angle)
        return [L * c, L * s, angle], [slip - spin * L * s, spin * L * c, spin]

    def margin(angle):
        return 1.0 + 3.0 * np.cos(angle) * (np.cos(angle) - mu * np.sin(angle))

    contact = Contact("tip", friction=mu)
    with pytest.raises(SimulationError, match=r"'tip'.*Painleve") as caught:
        cmb.simulate(plant, None, *start(0.35, -6.0, 2.5), t_end=0.4, switches=contact)
    run = caught.value.partial
    assert run.data.attrs["status"] == Status.PAINLEVE and run.max_energy_error < 1e-9
    assert 0.0 < margin(run.q.values[-1, 2]) < 5e-3
    assert event_kinds(run) == ["engaged tip", "slides tip"]
    push = (G - L * 2.5**2 * np.sin(0.35)) / margin(0.35)
    assert run.multipliers.values[0] == pytest.approx([-mu * push, 0.0, -push], rel=1e-9, abs=1e-9)
    assert isinstance(caught.value.__cause__, PainleveError)
    with pytest.raises(
        SimulationError, match=r"did not begin.*'tip'.*Painleve"
    ) as caught:  # it is told alike at a start
        cmb.simulate(plant, None, *start(1.35, -3.0, -0.5), t_end=0.4, switches=contact)
    assert isinstance(caught.value.__cause__, PainleveError) and caught.value.partial is None
    steps = cmb.Stepper(plant, *start(1.35, -3.0, -0.5), switches=contact)
    with pytest.raises(SimulationError, match=r"did not begin.*'tip'.*Painleve"):
        steps.step([], 1e-3)


def pressing_arm(*forces):
    """Two links whose tip is on a wall, which it can slide along."""
    bodies = [Body.rod("upper", mass=3.0, length=0.5), Body.rod("fore", mass=2.0, length=0.5)]
    joints = [
        Revolute("shoulder", "ground", "upper", axis=(0, -1, 0)),
        Revolute("elbow", "upper", "fore", frame=Frame((0.5, 0, 0)), axis=(0, -1, 0)),
    ]
    tool = PointOnPlane("tool", "ground", "fore", (0.7, 0, 0), (0.5, 0, 0), (-1, 0, 0))
    motors = [Actuator("shoulder"), Actuator("elbow")]
    return Mechanism("arm", bodies, joints, [tool], actuators=motors, forces=forces)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("code", ["generated", "kernels"])
@pytest.mark.slow
def test_pressing_with_20_newtons_while_sliding(code, monkeypatch):
    """Force PI and motion; friction is unknown to the law. Exact and smooth friction agree while it slides."""
    monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", code)
    plant, period = pressing_arm(), 1e-3
    q0 = plant.assemble(guess={"shoulder": -0.5, "elbow": 1.2})
    path = cmb.Sine([plant.point(q0, "fore", (0.5, 0, 0))[2]], [0.1], frequency_hz=0.5)
    task = controllers.PointTask(plant, "fore", (0.5, 0, 0), axes=("z",))
    motion = controllers.ProjectedInverseDynamics(plant, task, path, bandwidth=20.0, period=period)
    force = controllers.ConstraintForcePI(plant, [-20.0], ["tool"], kp=0.3, ki=60.0, period=period)
    law = controllers.HybridMotionForce(motion, force)
    terms = plant.terms(q0, np.zeros(2))
    v0 = terms.Z @ np.linalg.solve(task.jacobian(terms) @ terms.Z, path(0.0)[1])
    contact = Contact("tool", friction=0.3)
    exact = cmb.simulate(plant, law, q0, v0, t_end=1.0, switches=contact)
    with_drag = pressing_arm(SlidingFriction("drag", "tool", 0.3))
    smooth = cmb.simulate(with_drag, controllers.WithModel(plant, law), q0, v0, t_end=1.0)
    assert event_kinds(exact) == ["engaged tool", "slides tool", "sticks tool", "slides tool"]
    for run in (exact, smooth):
        force = run.multipliers.values[:, 0]
        steady = (run.time > 0.2) & (run.time < 0.45)
        assert force[steady] == pytest.approx(np.full(steady.sum(), -20.0), abs=0.05)
        assert run.max_energy_error < 1e-9
    work = [run.data.dissipated_work.values[-1] for run in (exact, smooth)]
    assert work[0] == pytest.approx(work[1], rel=2e-3)
    slid = np.abs(np.diff(exact.q.values, axis=0)).sum()
    assert slid > 0.1


# -- what it is made of, and what is refused -----------------------------------------------------------------


def test_what_sticks_and_what_slides():
    plant, rubs = rubs_of_forces(block(JointForce("f", "x", Friction(1.0)), JointForce("g", "x", SpringDamper(1.0))))
    assert [rub.name for rub in rubs] == ["f"] and rubs[0].hidden == {"f_sticking"}
    assert [force.name for force in plant.forces] == ["f", "g", "f_sliding"]
    assert isinstance(directed(Friction(1.0) + SpringDamper(2.0), -1.0).parts[0], KineticFriction)
    plant, rubs = rubs_of_contacts(puck(), [Contact("sole", friction=0.3)])
    assert rubs[0].sticking == {"sole"} and rubs[0].sliding == {"sole_sliding"} and not rubs[0].hidden
    plant, rubs = rubs_of_contacts(puck(PointOnPlane), [Contact("sole", friction=0.3, side=-1)])
    assert rubs[0].sticking == {"sole", "sole_sticking"} and rubs[0].hidden == {"sole_sticking"}
    assert rubs_of_contacts(puck(), [Contact("sole")])[1] == []


def swing(*forces):
    """Two links in the plane, with springs: two degrees of freedom."""
    bodies = [Body.rod("upper", mass=3.0, length=0.5), Body.rod("fore", mass=2.0, length=0.5)]
    joints = [
        Revolute("shoulder", "ground", "upper", axis=(0, -1, 0)),
        Revolute("elbow", "upper", "fore", frame=Frame((0.5, 0, 0)), axis=(0, -1, 0)),
    ]
    return Mechanism("swing", bodies, joints, forces=forces)


def test_linear_models_about_sticking_and_sliding():
    """Sticking: a pendulum of both links, by its closed form. Sliding: only the slopes of the law are left."""
    law = Friction(2.0, static=3.0, viscous=0.4, stribeck_rate=0.5)
    plant = swing(JointForce("grip", "elbow", law))
    q = np.array([-0.5 * np.pi, 0.0])
    stuck = plant.with_friction({"grip": "sticks"}, q)
    assert stuck.row_names == ("grip_sticking",)
    model = cmb.linearize(stuck, cmb.trim(stuck, q), coordinates=("shoulder",))
    inertia = 3.0 * 0.25 / 3.0 + 2.0 * (0.25 / 12.0 + 0.75**2)
    weight = G * (3.0 * 0.25 + 2.0 * 0.75)
    assert np.abs(model.poles().imag) == pytest.approx(np.full(2, np.sqrt(weight / inertia)), rel=1e-9)
    rates = np.array([0.3, -0.8])
    slides = cmb.dynamics.acceleration_derivatives(plant.with_friction({"grip": -1}), q, rates)
    free = cmb.dynamics.acceleration_derivatives(swing(), q, rates)
    slope = 0.4 - 2.0 * 0.8 / 0.5**2 * np.exp(-((0.8 / 0.5) ** 2))  # of -(2 + exp(-(rate / 0.5)^2)) + 0.4 rate
    M = swing().terms(q, rates).M
    assert slides.a_v - free.a_v == pytest.approx(-np.linalg.inv(M) @ np.diag([0.0, slope]), abs=1e-9)
    smooth = cmb.dynamics.acceleration_derivatives(plant, q, rates)  # far above its transition rate it is the same
    assert slides.a_v == pytest.approx(smooth.a_v, abs=1e-9)
    refuses(lambda: plant.with_friction({"grip": "sticks"}), "'grip'", "give q", kind=ValueError)
    refuses(lambda: plant.with_friction({"grip": 2}), "'grip'", "2", kind=ValueError)
    refuses(lambda: plant.with_friction({"gripp": 1}), "gripp", "'grip'", kind=ValueError)


def test_modes_share_their_rows():
    modes = ConstraintModes(block(JointForce("f", "x", Friction(2.0, viscous=1.0))), [], exact=True)
    modes.sliding = {"f": np.array([-1.0])}
    assert modes.present.terms([0.0], [-0.5]).h == pytest.approx([-2.5])
    modes.sliding = {}
    assert modes.present.row_names == ("f_sticking",) and modes.present.terms([0.0], [0.0]).h == pytest.approx([0.0])
    told = modes.told(modes.present.row_names)
    assert told.row_names == () and told.terms([0.0], [1.0]).h == pytest.approx([3.0])


def test_what_is_refused():
    twice, run = block(JointForce("f", "x", Friction(1.0) + Friction(2.0))), cmb.simulate
    refuses(lambda: run(twice, None, [0.0], t_end=0.1, friction="exact"), "'f'", "2 frictions", kind=ValueError)
    stop = block().with_loops(Coupling("stop", {"x": 1.0}))
    rubbing = Contact("stop", friction=0.3)
    refuses(lambda: run(stop, None, [1.0], t_end=0.1, switches=rubbing), "'stop'", "PointOnPlane", kind=ValueError)
    refuses(lambda: run(block(), None, [0.0], t_end=0.1, friction="dry"), "friction", "'dry'", "exact", kind=ValueError)
    taken = block(JointForce("f", "x", Friction(1.0)), JointForce("f_sliding", "x", SpringDamper(1.0)))
    refuses(lambda: run(taken, None, [0.0], t_end=0.1, friction="exact"), "'f_sliding'", "rename", kind=ValueError)
    refuses(lambda: Contact("sole", friction=-0.3), "friction", "-0.3", kind=ValueError)
    refuses(lambda: Contact("sole", friction="dry"), "friction", kind=TypeError)
    refuses(
        lambda: run(puck(PointOnPlane), None, np.zeros(3), t_end=0.1, switches=Contact("sole", normal=(0, 0, 1))),
        "one row", "normal", kind=ValueError,
    )  # fmt: skip
