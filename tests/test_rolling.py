"""Rows that bind velocities and no positions: runs are right, models in independent coordinates are refused."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import linearize_closed_loop, plants
from cmbcontrol.errors import ModelError
from cmbcontrol.linear import LocalForm

MASS, INERTIA, STIFFNESS, AHEAD, SPEED = 2.0, 0.5, 30.0, 0.4, 3.0


def pull(q):
    """Force of the lateral spring, AHEAD of the blade."""
    return STIFFNESS * (q[1] + AHEAD * np.sin(q[2]))


def skate(**options):
    """A skate that glides along x, with a spring that pulls it to y = 0."""
    given = dict(
        M=lambda q: np.diag([MASS, MASS, INERTIA]),
        h=lambda q, v: [0.0, pull(q), pull(q) * AHEAD * np.cos(q[2])],
        Phi=lambda q: [0.0],
        A=lambda q: [[-np.sin(q[2]), np.cos(q[2]), 0.0]],
        Adot_v=lambda q, v: [-v[2] * (np.cos(q[2]) * v[0] + np.sin(q[2]) * v[1])],
        potential=lambda q: 0.5 * pull(q) ** 2 / STIFFNESS,
        units=("m", "m", "rad"),
        actuators=("X",),
        rows=("blade",),
    )
    return cmb.FunctionPlant("skate", ("X", "Y", "psi"), **(given | options))


@pytest.fixture(scope="module")
def plant():
    return skate()


@pytest.fixture(scope="module")
def gliding(plant):
    return cmb.OperatingPoint.at(plant, [0.0, 0.0, 0.0], v=[SPEED, 0.0, 0.0])


REFUSED = {
    "affine_approximation": lambda p, g: cmb.affine_approximation(p, g, coordinates=("X", "psi")),
    "linearize": lambda p, g: cmb.linearize(p, cmb.OperatingPoint.at(p, [0.0, 0.0, 0.0])),
    "underlying_ode": lambda p, g: cmb.linear.underlying_ode(p, g, coordinates=("X", "psi")),
    "reduced_model": lambda p, g: cmb.linear.reduced_model(p, g.q, g.v, g.u, np.eye(3)[[0, 2]]),
    "linearize_along": lambda p, g: cmb.linearize_along(cmb.simulate(p, None, g.q, g.v, t_end=0.1, output_times=0.1)),
    "to_iosystem": lambda p, g: p.to_iosystem(g),
    "LocalForm": lambda p, g: LocalForm(p, q0=g.q),
    "radau": lambda p, g: cmb.simulate(p, None, g.q, g.v, t_end=0.1, method="radau"),
    "trim": lambda p, g: cmb.trim(p, g.q, free="all"),
    "continue_equilibria": lambda p, g: cmb.continue_equilibria(p, g.q, 0.0, 1.0, effort="X"),
    "linearize_closed_loop": lambda p, g: linearize_closed_loop(p, np.zeros(1), g.q),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_lose_states_is_refused(plant, gliding, name):
    with pytest.raises(ValueError, match=r"'blade' of 'skate' bind velocities and no positions.*underlying_ode"):
        REFUSED[name](plant, gliding)


def test_all_coordinates_have_the_true_eigenvalues(plant, gliding):
    # I s^3 + k a^2 s + k a u = 0, and zeros
    true = np.roots([INERTIA, 0.0, STIFFNESS * AHEAD**2, STIFFNESS * AHEAD * SPEED])
    found = np.linalg.eigvals(cmb.linear.underlying_ode(plant, gliding))
    found = found[np.argsort(-np.abs(found))]
    assert np.abs(found[3:]).max() < 1e-4  # a multiple zero is found to the cube root of rounding
    assert np.abs(np.sort_complex(found[:3]) - np.sort_complex(true)).max() < 1e-8


def test_a_run_rolls_on(plant):
    tilt, t_end = 1e-6, 1.0
    run = cmb.simulate(
        plant, None, [0.0, 0.0, tilt], [SPEED * np.cos(tilt), SPEED * np.sin(tilt), 0.0], t_end=t_end, rtol=1e-12
    )
    F = np.array([[0, SPEED, 0], [0, 0, 1], [-STIFFNESS * AHEAD / INERTIA, -STIFFNESS * AHEAD**2 / INERTIA, 0]])
    values, vectors = np.linalg.eig(F)
    true = (vectors * np.exp(values * t_end) @ np.linalg.solve(vectors, [0.0, tilt, 0.0])).real
    assert np.abs(run.q.values[-1][1:] - true[:2]).max() < 1e-5 * tilt


def test_one_rolling_row_among_loops():
    both = skate(
        Phi=lambda q: [0.0, q[0] - 2.0 * q[2]],
        A=lambda q: [[-np.sin(q[2]), np.cos(q[2]), 0.0], [1.0, 0.0, -2.0]],
        Adot_v=lambda q, v: [-v[2] * (np.cos(q[2]) * v[0] + np.sin(q[2]) * v[1]), 0.0],
        rows=("blade", "gear"),
    )
    assert both.rolling_rows([0.2, 0.0, 0.1]) == ("blade",)


@pytest.mark.parametrize("make", [plants.slider_crank, plants.particle_on_circle])
def test_gradients_are_no_rolling_rows(make):
    plant = make()
    assert plant.rolling_rows(plant.neutral() + 0.3) == ()


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
def test_the_size_of_a_machine_does_not_matter(size):
    circle = cmb.FunctionPlant(
        "circle",
        ("x", "y"),
        M=lambda q: np.eye(2),
        h=lambda q, v: [0.0, 0.0],
        Phi=lambda q: [np.hypot(*q) - size],
        A=lambda q: [q / np.hypot(*q)],
        Adot_v=lambda q, v: [(v @ v - (q @ v / np.hypot(*q)) ** 2) / np.hypot(*q)],
        neutral=[size, 0.0],
        units=("m", "m"),
        size=size,
    )
    assert circle.rolling_rows([0.6 * size, 0.8 * size]) == ()


def test_a_gradient_found_by_forward_differences_passes():
    def Phi(q):
        return np.array([q[0] ** 2 + np.sin(3.0 * q[1]) - 1.0])

    def A(q):
        return [[(Phi(q + 1e-7 * e)[0] - Phi(q)[0]) / 1e-7 for e in np.eye(2)]]

    plant = cmb.FunctionPlant("rough", ("x", "y"), lambda q: np.eye(2), lambda q, v: [0, 0], Phi, A, lambda q, v: [0])
    assert plant.rolling_rows([0.3, 0.2]) == ()


def test_mechanisms_have_none():
    plant = plants.five_bar()
    assert plant.rolling_rows(plant.neutral()) == ()


def test_the_error_is_a_model_error(plant, gliding):
    with pytest.raises(ModelError):
        cmb.affine_approximation(plant, gliding)
