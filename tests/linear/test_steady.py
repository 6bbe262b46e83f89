"""Steady motions, and linear models about them: against closed forms; of machines that roll, too."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Body, Free, JointMotion, Mechanism, Revolute, Wheel, load_linear
from cmbcontrol.errors import EquilibriumError
from tests.fixtures import refuses

G, R, MASS = 9.81, 0.3, 2.0


RING = 1e-3  # kg, kg m2: of what carries it and does not spin with it


def rolling_disc(ring=RING, motor=False):
    """In a ring that does not spin with it."""
    across = MASS * R**2 / 4.0
    disc = Body("disc", MASS, (0, 0, 0), (across, 2.0 * across, across))
    bodies = [Body("ring", ring, (0, 0, 0), ring * np.eye(3)), disc]
    joints = [Free("ring", "ground", "ring"), Revolute("spin", "ring", "disc", axis=(0, 1, 0))]
    motors = [cmb.Actuator("spin")] if motor else []
    return Mechanism(
        "disc", bodies, joints, [Wheel("rim", "ground", "disc", axis=(0, 1, 0), radius=R)], actuators=motors
    )


def upright(plant, speed):
    q = plant.neutral()
    q[6] = R
    return q, np.array([0.0, 0.0, 0.0, speed, 0.0, 0.0, speed / R])


def leaning(plant, lean, turn, spin):
    q = plant.neutral()
    q[:4] = np.cos(0.5 * lean), np.sin(0.5 * lean), 0.0, 0.0
    q[6] = R * np.cos(lean)
    attitude = plant.pose(q, "ring").R
    return q, plant.project_velocity(q, np.r_[attitude.T @ [0, 0, turn], R * spin, 0, 0, spin])


def spin_of(lean, turn, ring=RING):
    """Of the steady turn of a thin disc, from the moments about the point that touches, at a turn w and a lean a.

    (I_y + m R^2) n w cos a + (I_y + m R^2 - I_x) w^2 sin a cos a = -m g R sin a, in the signs of this machine; the
    ring adds to m, and to I_y and I_x of the second term alike.
    """
    across = MASS * R**2 / 4.0
    axle = 2.0 * across
    s, c = np.sin(lean), np.cos(lean)
    mass = MASS + ring
    return -(mass * G * R * s + (axle + mass * R**2 - across) * turn**2 * s * c) / ((axle + mass * R**2) * turn * c)


@pytest.mark.parametrize(("lean", "turn"), [(0.3, 2.0), (-0.4, 1.5), (0.8, 3.0)])
def test_a_disc_in_a_steady_turn(lean, turn):
    plant = rolling_disc()
    q, v = leaning(plant, lean, turn, 0.95 * spin_of(lean, turn))
    point = cmb.steady_motion(plant, q, v, hold=["ring_wx"])
    attitude = plant.pose(point.q, "ring").R
    found = np.arcsin(attitude[2, 1])
    rate = (attitude @ point.v[:3])[2]
    assert found == pytest.approx(lean, abs=1e-9)
    assert point.v[6] == pytest.approx(spin_of(found, rate), rel=1e-9)
    run = cmb.simulate(plant, None, point.q, point.v, t_end=0.3)
    assert np.abs(run.v.values - point.v).max() < 1e-7
    lin = cmb.linearize(plant, point)
    assert len(lin.states) == 10 and lin.dof == 4  # the ring turns by itself
    whole = np.linalg.eigvals(cmb.linear.underlying_ode(plant, point))
    for value in lin.poles():
        assert np.abs(whole - value).min() < 1e-4 * (1.0 + abs(value))


@pytest.mark.first(3)
@pytest.mark.parametrize("ring", [1e-1, 1e-2, 1e-3, 1e-4, 1e-6])
@pytest.mark.parametrize("seed", range(2))
def test_a_light_part_hides_nothing(ring, seed):
    """Whatever the mass of the ring: what is zero is zero to rounding, the place stays, the turn is the closed form."""
    rng = np.random.default_rng([17, seed])
    plant, lean, turn = rolling_disc(ring), rng.choice([-1.0, 1.0]) * rng.uniform(0.15, 0.6), rng.uniform(1.5, 3.0)
    q, v = leaning(plant, lean, turn * rng.uniform(0.9, 1.1), spin_of(lean, turn, ring))
    point = cmb.steady_motion(plant, q, v, hold=["ring_wx"], hold_rates=["spin"])
    attitude = plant.pose(point.q, "ring").R
    rate = (attitude @ point.v[:3])[2]
    assert point.v[6] == pytest.approx(v[6], rel=1e-14) and np.arcsin(attitude[2, 1]) == pytest.approx(lean, abs=1e-14)
    assert spin_of(lean, rate, ring) == pytest.approx(v[6], rel=1e-11)
    assert np.abs((attitude @ point.v[:3])[:2] - [0.0, 0.0]).max() < 1e-13  # it turns about the vertical only
    assert np.abs(point.v[[0, 5]]).max() < 1e-13 and np.abs(point.q[4:6]).max() < 1e-12


@pytest.mark.parametrize("kind", ["wheel", "ball"])
def test_what_spins_on_a_free_joint_has_no_constant_velocities(kind):
    """It rolls straight on, but in axes that turn with it the velocity turns back: the remedy is told, and works."""
    body = Body("disc", MASS, (0, 0, 0), (0.045, 0.09, 0.045))
    rolls = Wheel("rim", "ground", "disc", radius=R) if kind == "wheel" else cmb.RollingBall(
        "rim", "ground", "disc", radius=R
    )  # fmt: skip
    plant = Mechanism("alone", [body], [Free("disc", "ground", "disc")], [rolls])
    q = plant.neutral()
    q[6] = R
    v = plant.project_velocity(q, [0.0, 8.0, 0.0, 8.0 * R, 0.0, 0.0])
    refuses(lambda: cmb.steady_motion(plant, q, v), "'disc'", "Revolute", kind=EquilibriumError)
    refuses(
        lambda: cmb.linearize(plant, cmb.OperatingPoint.at(plant, q, v=v)), "'disc'", "Revolute", kind=EquilibriumError
    )
    run = cmb.simulate(plant, None, q, v, t_end=1.0)
    assert run.q.values[-1][4:] == pytest.approx([8.0 * R, 0.0, R], abs=1e-9)
    carried = rolling_disc()
    cmb.linearize(carried, cmb.steady_motion(carried, *upright(carried, 8.0 * R)))


def test_eigenvalues_do_not_depend_on_coordinates():
    plant = rolling_disc()
    q, v = leaning(plant, 0.3, 2.0, spin_of(0.3, 2.0))
    point = cmb.steady_motion(plant, q, v, hold=["ring_wx"])
    first = cmb.linearize(plant, point)
    others = [("ring_wx", "ring_wy", "ring_wz", "spin"), ("ring_wx", "ring_wy", "ring_wz", "ring_vx")]
    for names in others:
        other = cmb.linearize(plant, point, coordinates=names)
        assert other.states[-4:] == tuple(f"{n}_rate" for n in names) and other.states[:4] == names
        big = sorted(x for x in np.abs(first.poles()) if x > 1e-2)
        assert sorted(x for x in np.abs(other.poles()) if x > 1e-2) == pytest.approx(big, rel=1e-6)


def test_a_disc_that_rolls_straight_on():
    """Lean and yaw of Routh: I_x (I_z) s^2 ... = m g R - ((I_y + m R^2) I_y / I_z) (v / R)^2, over I_x + m R^2."""
    plant = rolling_disc()
    mass, across = MASS + RING, MASS * R**2 / 4.0
    for speed in (0.3, 0.8, 1.6, 3.0):
        lin = cmb.linearize(plant, cmb.OperatingPoint.at(plant, *_at(upright(plant, speed))))
        squares = np.sort((lin.poles() ** 2).real)
        axle, spin = 2.0 * across, speed / R
        stiffness = mass * G * R - (axle + mass * R**2) * axle * spin**2 / (across + RING)
        expected = stiffness / (across + RING + mass * R**2)
        extreme = squares[0] if expected < 0 else squares[-1]
        assert extreme == pytest.approx(expected, rel=1e-8)
        rest = np.sort(np.abs(lin.poles()))[:8]
        assert rest.max() < 1e-2  # place, heading, spin, the ring; speed, and the turn that it leans into
    table = str(lin)
    assert "10 states" in table and "rigid-body" in table


def _at(state):
    q, v = state
    return q, 0.0, v


def test_a_motor_is_an_input_and_the_model_a_file(tmp_path):
    """Between ring and disc: the ring turns back by u / I, and the disc rolls on by u / (I_y + m R^2)."""
    plant = rolling_disc(motor=True)
    q, v = upright(plant, 2.0)
    point = cmb.OperatingPoint.at(plant, q, v=v)
    lin = cmb.linearize(plant, point, outputs=["spin_rate", "ring_vx_rate", "ring_wy_rate"])
    gains = 1e3j * (lin.C @ np.linalg.solve(1e3j * np.eye(10) - lin.A, lin.B))[:, 0]
    forward = 1.0 / (0.5 * MASS * R**2 + (MASS + RING) * R**2)
    assert gains == pytest.approx([forward + 1.0 / RING, forward * R, -1.0 / RING], rel=1e-4)
    lin.save(tmp_path / "disc.npz")
    again = load_linear(tmp_path / "disc.npz", plant)
    np.testing.assert_array_equal(again.A, lin.A)
    np.testing.assert_array_equal(again.K_rates, lin.K_rates)
    assert lin.to_ss().nstates == 10
    data = lin.modes().data
    assert data.sizes["state"] == 10 and data.sizes["independent_coordinate"] == 6
    refuses(lin.undamped_modes, "not about an equilibrium", kind=EquilibriumError)
    still = cmb.linearize(plant, cmb.trim(plant, q))
    refuses(still.undamped_modes, "rolls", kind=EquilibriumError)
    refuses(lambda: cmb.design.lqr(still, np.eye(10), np.eye(1)), "rolls", kind=ValueError)


def test_a_pendulum_on_a_shaft_that_turns():
    """With the speed given: cos a = g / (l w^2), and it swings about that with w sin a (Goldstein)."""
    length, speed = 0.7, 6.0
    bodies = [Body("hub", 1.0, (0, 0, 0), np.eye(3)), Body("bob", 0.4, (0, 0, -length), 1e-12 * np.eye(3))]
    joints = [Revolute("hub", "ground", "hub"), Revolute("swing", "hub", "bob", axis=(0, 1, 0))]
    plant = Mechanism("governor", bodies, joints, [JointMotion("drive", "hub", velocity=speed)])
    point = cmb.steady_motion(plant, [0.0, 1.0], [speed, 0.0])
    angle = np.arccos(G / (length * speed**2))
    assert point.q[1] == pytest.approx(angle, abs=1e-9)
    assert np.abs(cmb.linearize(plant, point).poles()) == pytest.approx(speed * np.sin(angle), rel=1e-8)
    free = plant.without("drive")
    turning = cmb.steady_motion(free, [0.0, 1.0], [speed, 0.0], hold_rates=["hub"])
    assert turning.q[1] == pytest.approx(angle, abs=1e-9)
    poles = cmb.linearize(free, turning).poles()
    spin = 1.0 + 0.4 * length**2 * np.sin(angle) ** 2  # of hub and bob about the shaft
    momentum = 2.0 * 0.4 * length**2 * np.sin(angle) * np.cos(angle) * speed
    square = (speed * np.sin(angle)) ** 2 + momentum**2 / (spin * 0.4 * length**2)
    assert np.abs(poles).max() == pytest.approx(np.sqrt(square), rel=1e-7)


def skateboard(rake, half, height, mass, inertia, stiffness):
    """A board with a rider on two trucks: an axle that stays level turns about a raked pivot as the board leans."""
    board = Body("board", mass, (0, 0, height), inertia)
    bodies, joints, loops, springs = [board], [Free("board", "ground", "board")], [], []
    for name, way in (("front", 1.0), ("rear", -1.0)):
        axis, place = (np.cos(rake), 0.0, way * np.sin(rake)), cmb.Frame((way * half, 0.0, 0.0))
        bodies.append(Body(name, 1e-9, (0, 0, 0), 1e-12 * np.eye(3)))
        joints.append(Revolute(name, "board", name, frame=place, axis=axis))
        for side, y in (("left", 0.1), ("right", -0.1)):
            loops.append(cmb.PointOnPlane(f"{name}_{side}", "ground", name, (0, 0, 0), (0, y, 0)))
        loops.append(cmb.KnifeEdge(f"{name}_axle", "ground", name, across=(0, 1, 0)))
        springs.append(cmb.JointSpring(f"{name}_bush", name, stiffness))
    return Mechanism("skateboard", bodies, joints, loops, springs)


@pytest.mark.nojit_slow
def test_a_skateboard_is_stable_above_a_speed():
    """Of the lean f: (I + m h^2) f'' + (k - m g h + 2 m h v^2 tan(rake) / L) f = 0, L from axle to axle (Hubbard)."""
    rake, half, height, mass, stiffness = 0.6, 0.4, 0.85, 70.0, 60.0
    inertia = np.diag([6.0, 7.0, 1.5])
    plant = skateboard(rake, half, height, mass, inertia, stiffness)
    spring = 2.0 * stiffness / np.cos(rake) ** 2

    def square(speed):
        v = plant.project_velocity(plant.neutral(), np.r_[0, 0, 0, speed, 0, 0, 0, 0])
        lin = cmb.linearize(plant, cmb.OperatingPoint.at(plant, plant.neutral(), v=v))
        assert len(lin.states) == 6 and lin.dof == 2
        found = lin.poles() ** 2
        return found[np.argmax(np.abs(found))].real

    def known(speed):
        steered = mass * height * speed**2 * np.tan(rake) / half
        return (mass * G * height - spring - steered) / (inertia[0, 0] + mass * height**2)

    for speed in (0.5, 1.5, 3.0, 6.0):
        assert square(speed) == pytest.approx(known(speed), rel=1e-8)
    critical = np.sqrt((mass * G * height - spring) * half / (mass * height * np.tan(rake)))
    assert square(0.999 * critical) > 0.0 > square(1.001 * critical)
    speed = 1.5 * critical
    v = plant.project_velocity(plant.neutral(), np.r_[0, 0, 0, speed, 0, 0, 0, 0])
    q = plant.close(plant.integrate(plant.neutral(), np.r_[1e-4, np.zeros(7)]))
    run = cmb.simulate(plant, None, q, plant.project_velocity(q, v), t_end=2.0)
    assert np.abs(run.q.sel(position="board_qx")).max() < 1e-4 and run.max_energy_error < 1e-8 * run.energy.values[0]


def test_what_is_not_steady_is_refused():
    plant = rolling_disc()
    q, v = leaning(plant, 0.4, 2.0, 3.0)
    refuses(lambda: cmb.linearize(plant, cmb.OperatingPoint.at(plant, q, v=v)), "steady motion", kind=EquilibriumError)
    five = cmb.plants.five_bar()
    q5 = five.assemble(left=2.1, right=1.0)
    refuses(
        lambda: cmb.steady_motion(five, q5, five.project_velocity(q5, np.ones(4)), hold_rates=["left", "right"]),
        "no steady motion", "Hold less", kind=EquilibriumError,
    )  # fmt: skip
    refuses(lambda: cmb.steady_motion(plant, q, v, hold=["ring_x"]), "'ring_x'", "ring_vx", kind=ValueError)
    refuses(lambda: cmb.steady_motion(plant, q, v, u={"motor": 1.0}), "'motor'", kind=ValueError)
