"""Frames, axes and quaternions: rotations to rounding, whatever the axis, and however they are given."""

import itertools

import numpy as np
import pytest

from cmbcontrol import forward_dynamics, simulate
from cmbcontrol.dynamics.derivatives import derivatives
from cmbcontrol.model.elements import Body, Distance, Frame, Free, Revolute, Spherical, Universal, rotation_to
from cmbcontrol.model.mechanism import Mechanism

TILTS = (0.0, 1e-300, 1e-160, 1e-17, 1e-12, 1e-9, 1e-7, 1.5e-6, 2e-6, 1e-4, 1e-3, 0.1, 1.0)


def off_orthogonal(R):
    return float(np.abs(R.T @ R - np.eye(3)).max())


def tilted(tilt, angle, sign=-1.0):
    axis = np.array([tilt * np.cos(angle), tilt * np.sin(angle), sign])
    return axis / np.linalg.norm(axis)


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["near z", "near -z"])
@pytest.mark.parametrize("tilt", TILTS)
def test_the_rotation_to_an_axis_is_exact(tilt, sign):
    for angle in np.linspace(0.1, 6.3, 21):
        axis = tilted(tilt, angle, sign)
        R = rotation_to(axis)
        assert off_orthogonal(R) < 1e-15
        assert np.linalg.det(R) == pytest.approx(1.0, abs=2e-15)
        np.testing.assert_array_equal(R[:, 2], axis)
        # the shortest one: its axis is perpendicular to z
        assert abs(R[1, 0] - R[0, 1]) < 1e-15


def test_the_rotation_to_an_axis_is_continuous_around_minus_z():
    """At -z itself the direction of the half turn is open; beside it, it follows the tilt."""
    turns = [rotation_to(tilted(1e-9, angle)) for angle in np.linspace(0.0, 2.0 * np.pi, 1001)]
    assert max(np.abs(a - b).max() for a, b in itertools.pairwise(turns)) < 0.02
    np.testing.assert_allclose(rotation_to(tilted(1e-3, 1.0)), rotation_to(tilted(1e-9, 1.0)), atol=2e-3)


@pytest.mark.parametrize("digits", [7, 9, 12])
def test_a_rotation_given_with_few_digits_is_made_orthogonal(digits):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        exact = Frame.turned(rng.standard_normal(3), rng.uniform(-3.0, 3.0)).R
        R = Frame(R=exact.round(digits)).R
        assert off_orthogonal(R) < 1e-15
        np.testing.assert_allclose(R, exact, atol=2.0 * 10.0**-digits)


def test_an_orthogonal_matrix_is_taken_as_it_is():
    for R in (np.eye(3), np.diag([1.0, -1.0, -1.0]), np.roll(np.eye(3), 1, axis=0)):
        np.testing.assert_array_equal(Frame(R=R).R, R)


def test_products_of_frames_do_not_drift():
    step, product = Frame.turned((1, 2, 3), 0.7, (0.1, 0.0, 0.0)), Frame()
    for _ in range(3000):
        product = product @ step
    assert off_orthogonal(product.R) < 1e-15
    assert off_orthogonal((product.inverse() @ product).R) < 1e-15


def test_the_axes_of_a_universal_joint_are_made_perpendicular():
    joint = Universal("u", "ground", "b", axis=(1, 0, 0), second_axis=(5e-10, 1, 0))
    assert abs(joint.axis @ joint.second_axis) < 1e-16


@pytest.mark.nojit_slow
@pytest.mark.parametrize("tilt", [0.0, 1e-12, 1e-9, 2e-6, 1e-4, 1e-3])
def test_a_four_bar_turns_about_any_axis_near_minus_z(tilt):
    """Links across the axis, so that it closes; the energy is judged by the rods alone."""
    axis = tilted(tilt, 0.3)
    place = Frame(R=rotation_to(axis))
    along = np.cross(place.R @ (0, 1, 0), axis)
    lengths = {"a": 1.0, "b": 2.0, "c": 1.5}
    bodies = [Body(n, 1.0, 0.5 * L * along, (0.1, 0.1, 0.1)) for n, L in lengths.items()]
    joints = [
        Revolute("a", "ground", "a", axis=axis),
        Revolute("b", "a", "b", frame=Frame(1.0 * along), axis=axis),
        Revolute("c", "b", "c", frame=Frame(2.0 * along), axis=axis),
    ]
    pin = Revolute("d", "ground", "c", frame=Frame(1.8 * along), child_frame=Frame(1.5 * along), axis=axis)
    plant = Mechanism("four-bar", bodies, joints, [pin], gravity=(0.0, -9.81, 0.0))
    q = plant.assemble(a=-1.0)
    assert plant.closure_error(q) < 1e-14
    run = simulate(plant, q0=q, t_end=0.5)

    def energy(i):
        total, angle, rate, p = 0.0, 0.0, 0.0, np.zeros(3)
        v = np.zeros(3)
        for k, L in enumerate(lengths.values()):
            angle, rate = angle + run.q.values[i, k], rate + run.v.values[i, k]
            rod = Frame.turned(axis, angle).R @ along
            speed = rate * np.cross(axis, rod)
            middle, v_middle = p + 0.5 * L * rod, v + 0.5 * L * speed
            total += 0.5 * v_middle @ v_middle + 0.05 * rate**2 + 9.81 * middle[1]
            p, v = p + L * rod, v + L * speed
        return total

    assert energy(-1) == pytest.approx(energy(0), abs=1e-10)


# -- quaternions --------------------------------------------------------------------------------------


def ball():
    """A body on a ball joint, held by a rod."""
    body = Body("body", 1.0, (0.3, 0, 0), (0.1, 0.2, 0.25))
    rod = Distance("rod", "ground", "body", (0, 0, 2), (0.5, 0.1, 0), 2.0)
    return Mechanism("ball", [body], [Spherical("socket", "ground", "body")], [rod])


@pytest.mark.nojit_slow
@pytest.mark.parametrize("length", [1.0 + 1e-8, 1.001, 2.0, 100.0, 0.5, 1e-6])
def test_a_quaternion_of_any_length_is_its_attitude(length):
    plant, v = ball(), np.array([1.0, 1.0, 1.0])
    q = plant.close([0.9, 0.3, -0.2, 0.1])
    v = plant.project_velocity(q, v)
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(plant.configuration(length * q), q, atol=1e-15)
    np.testing.assert_allclose(plant.terms(length * q, v).q, q, atol=1e-15)
    for move in (plant.integrate, plant.position_rate):
        np.testing.assert_allclose(move(length * q, 0.1 * v), move(q, 0.1 * v), atol=1e-15)
    np.testing.assert_allclose(plant.difference(length * q, plant.integrate(q, 0.1 * v)), 0.1 * v, atol=1e-14)
    np.testing.assert_allclose(forward_dynamics(plant, length * q, v), forward_dynamics(plant, q, v), rtol=1e-12)
    np.testing.assert_allclose(plant.assemble(length * q), q, atol=1e-14)
    run, unit = (simulate(plant, q0=k * q, v0=v, t_end=0.3) for k in (length, 1.0))
    np.testing.assert_allclose(run.q.values, unit.q.values, atol=1e-10)
    assert run.max_energy_error < 1e-9


def test_states_of_a_run_keep_their_digits():
    """What is of length one but for rounding is not touched."""
    plant = ball()
    q = plant.close([0.9, 0.3, -0.2, 0.1]) * (1.0 + 2e-16)
    np.testing.assert_array_equal(plant.terms(q, np.zeros(3)).q, q)


ENTRIES = {
    "configuration": lambda plant, q, v: plant.configuration(q),
    "terms": lambda plant, q, v: plant.terms(q, v),
    "pose": lambda plant, q, v: plant.pose(q, "body"),
    "residual": lambda plant, q, v: plant.residual(q),
    "close": lambda plant, q, v: plant.close(q),
    "assemble": lambda plant, q, v: plant.assemble(q),
    "integrate": lambda plant, q, v: plant.integrate(q, v),
    "difference": lambda plant, q, v: plant.difference(plant.neutral(), q),
    "position_rate": lambda plant, q, v: plant.position_rate(q, v),
    "project_velocity": lambda plant, q, v: plant.project_velocity(q, v),
    "diagnose": lambda plant, q, v: plant.diagnose(q),
    "forward_dynamics": forward_dynamics,
    "derivatives": lambda plant, q, v: derivatives(plant, q, v, a=v, lam=np.zeros(1)),
    "simulate": lambda plant, q, v: simulate(plant, q0=q, v0=v, t_end=0.1),
}


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_a_zero_quaternion_is_no_attitude(entry):
    with pytest.raises(ValueError, match=r"length zero at joint 'socket'.*\(1, 0, 0, 0\)"):
        entry(ball(), np.zeros(4), np.zeros(3))


def test_values_by_name_give_an_attitude():
    body = Body("body", 1.0, (0.3, 0, 0), (0.1, 0.2, 0.25))
    plant = Mechanism("free", [body], [Free("free", "ground", "body")])
    q = plant.configuration({"free_qx": 1.0, "free_x": 3.0})
    np.testing.assert_allclose(q, [np.sqrt(0.5), np.sqrt(0.5), 0, 0, 3, 0, 0], atol=1e-15)
    with pytest.raises(ValueError, match="joint 'free'"):
        plant.pack({"free_qw": 0.0})
