"""The Stewart platform: configurations, weights, massless legs."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cmbcontrol import linearize, trim
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.dynamics.forces import inverse_dynamics
from cmbcontrol.model.elements import JointSpring
from cmbcontrol.plants import stewart
from cmbcontrol.plants.stewart import BASE, CLOSED, HOME
from cmbcontrol.plants.stewart import PLATFORM as RING
from cmbcontrol.plants.stewart import configuration as stewart_configuration
from tests.fixtures import admissible_velocity, gradient, nearly_massless

G = 9.81
LEGS = tuple(f"leg{n}" for n in range(1, 7))
PLACES = [((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), ((0.08, -0.05, 0.06), (0.1, -0.2, 0.3))]


def legs_at(position, turn):
    """Vectors (6, 3) along the legs from base to platform, and the platform's joints from its centre."""
    held = RING @ Rotation.from_rotvec(turn).as_matrix().T
    return HOME + np.asarray(position) + held - BASE, held


@pytest.mark.parametrize("carrier", ["leg", "free"])
@pytest.mark.parametrize(("position", "turn"), PLACES)
def test_stewart_pose(carrier, position, turn):
    plant = stewart(carrier)
    q = stewart_configuration(plant, position, Rotation.from_rotvec(turn).as_matrix())
    assert plant.closure_error(q) < 1e-15
    frame = plant.pose(q, "platform")
    assert frame.p == pytest.approx(HOME + position, abs=1e-14)
    assert pytest.approx(Rotation.from_rotvec(turn).as_matrix(), abs=1e-14) == frame.R
    extensions = q[[plant.position_names.index(n) for n in LEGS]]
    assert extensions + CLOSED == pytest.approx(np.linalg.norm(legs_at(position, turn)[0], axis=1), abs=1e-14)


@pytest.mark.parametrize(("position", "turn"), PLACES)
def test_stewart_carriers_move_alike(position, turn):
    R = Rotation.from_rotvec(turn).as_matrix()
    one, two = stewart("leg"), stewart("free")
    q1, q2 = stewart_configuration(one, position, R), stewart_configuration(two, position, R)
    rates = np.random.default_rng(0).standard_normal(6)
    v1, v2 = (along_legs(p, q) @ rates for p, q in ((one, q1), (two, q2)))
    u = [300.0, 500.0, 400.0, 450.0, 350.0, 600.0]
    a1, a2 = forward_dynamics(one, q1, v1, u), forward_dynamics(two, q2, v2, u)
    shared = [n for n in one.velocity_names if n in two.velocity_names]
    assert len(shared) == 18
    expected = [a1[one.index(n)] for n in shared]
    assert [a2[two.index(n)] for n in shared] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def along_legs(plant, q):
    """Velocity of the plant for each unit rate of a leg, (nv, 6)."""
    Z = plant.terms(q, np.zeros(plant.nv)).Z
    return Z @ np.linalg.inv(Z[[plant.index(n) for n in LEGS]])


@pytest.mark.parametrize("carrier", ["leg", "free"])
@pytest.mark.parametrize(("position", "turn"), PLACES)
def test_stewart_at_rest_carries_its_weight(carrier, position, turn):
    """Leg forces by virtual work of all weights, in the six motions of the platform, outside the library."""
    plant = stewart(carrier)

    def of(x):
        legs, held = legs_at(x[:3], x[3:])
        along = legs / np.linalg.norm(legs, axis=1)[:, None]
        top = HOME + x[:3] + 0.10 * Rotation.from_rotvec(x[3:]).as_matrix()[:, 2]
        tips = HOME + x[:3] + held
        height = 200.0 * top[2] + 12.0 * 0.30 * along[:, 2].sum() + 5.0 * (tips - 0.35 * along)[:, 2].sum()
        return np.append(np.linalg.norm(legs, axis=1), G * height)

    work = gradient(of, np.concatenate([position, turn]))
    expected = np.linalg.solve(work[:6].T, work[6])
    q = stewart_configuration(plant, position, Rotation.from_rotvec(turn).as_matrix())
    rest = np.zeros(plant.nv)
    assert inverse_dynamics(plant, q, rest, rest).u == pytest.approx(expected, rel=1e-8)
    if not any(turn):
        assert expected == pytest.approx([expected[0]] * 6, rel=1e-8)


@pytest.mark.parametrize("carrier", ["leg", "free"])
def test_stewart_without_mass_in_the_legs_is_a_body_on_springs(carrier):
    """Frequencies of the free body: M and J' k J of the platform, with the lines of the legs as the rows of J."""
    k = 4e5
    plant = stewart(carrier)
    q = stewart_configuration(plant)
    springs = [JointSpring(f"s{n}", n, stiffness=k, rest=q[plant.position_names.index(n)]) for n in LEGS]
    sprung = nearly_massless(plant, ("platform",), springs=springs, gravity=(0, 0, 0))
    found = linearize(sprung, trim(sprung, q), coordinates=LEGS)
    legs, held = legs_at((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    along = legs / np.linalg.norm(legs, axis=1)[:, None]
    J = np.hstack([np.cross(held - [0, 0, 0.10], along), along])  # about the centre of mass
    expected = np.sort(np.linalg.eigvals(np.diag([1 / 22, 1 / 22, 1 / 42, *[1 / 200] * 3]) @ J.T @ J * k).real)
    squares = np.sort(np.linalg.eigvals(-found.A[6:, :6]).real)
    assert squares == pytest.approx(expected, rel=1e-7)
    assert expected[0] > 100.0


def test_stewart_without_mass_in_the_legs_carries_as_rods_do():
    """At a tilted configuration in motion: the legs' forces are those on a free rigid body (Newton and Euler)."""
    plant = nearly_massless(stewart("free"), ("platform",), 1e-10)
    q = stewart_configuration(plant, *(PLACES[1][0], Rotation.from_rotvec(PLACES[1][1]).as_matrix()))
    v = admissible_velocity(plant, q)
    u = np.array([300.0, 500.0, 400.0, 450.0, 350.0, 600.0])
    a = forward_dynamics(plant, q, v, u)
    omega, alpha = (x[[plant.index(f"platform_w{k}") for k in "xyz"]] for x in (v, a))
    speed, rate = (x[[plant.index(f"platform_v{k}") for k in "xyz"]] for x in (v, a))
    R = plant.pose(q, "platform").R
    centre = np.array([0.0, 0.0, 0.10])
    moved = rate + np.cross(omega, speed) + np.cross(alpha, centre) + np.cross(omega, np.cross(omega, centre))
    legs, held = legs_at(*PLACES[1])
    force = (u / np.linalg.norm(legs, axis=1))[:, None] * legs
    assert 200.0 * R @ moved == pytest.approx(force.sum(axis=0) - [0, 0, 200.0 * G], abs=1e-4)
    I = np.diag([22.0, 22.0, 42.0])
    torque = np.cross(held - R @ centre, force).sum(axis=0)
    assert R @ (I @ alpha + np.cross(omega, I @ omega)) == pytest.approx(torque, abs=1e-4)
