"""Whether a plant's functions agree: rows that bind velocities and no positions, derivatives that are none."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import linearize_closed_loop, plants
from cmbcontrol.errors import ModelError
from cmbcontrol.linear import LocalForm
from cmbcontrol.model.functions import FunctionPlant
from tests.fixtures import SKATE_AHEAD, SKATE_INERTIA, SKATE_SPEED, SKATE_STIFFNESS, bead, skate


@pytest.fixture(scope="module")
def plant():
    return skate()


@pytest.fixture(scope="module")
def gliding(plant):
    return cmb.OperatingPoint.at(plant, [0.0, 0.0, 0.0], v=[SKATE_SPEED, 0.0, 0.0])


REFUSED = {
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
    true = np.roots([SKATE_INERTIA, 0.0, SKATE_STIFFNESS * SKATE_AHEAD**2, SKATE_STIFFNESS * SKATE_AHEAD * SKATE_SPEED])
    found = np.linalg.eigvals(cmb.linear.underlying_ode(plant, gliding))
    found = found[np.argsort(-np.abs(found))]
    assert np.abs(found[3:]).max() < 1e-4  # a multiple zero is found to the cube root of rounding
    assert np.abs(np.sort_complex(found[:3]) - np.sort_complex(true)).max() < 1e-8


def test_models_with_the_positions_that_have_no_velocity(plant, gliding):
    """Its own eigenvalues, and zeros, in 3 positions and 2 velocities: about the motion that goes on."""
    true = np.roots([SKATE_INERTIA, 0.0, SKATE_STIFFNESS * SKATE_AHEAD**2, SKATE_STIFFNESS * SKATE_AHEAD * SKATE_SPEED])
    for model in (cmb.linearize(plant, gliding), cmb.affine_approximation(plant, gliding)):
        assert len(model.states) == 5 and model.dof == 2 and model.K.shape == (3, 3) and model.K_rates.shape == (3, 2)
        found = model.poles()
        found = found[np.argsort(-np.abs(found))]
        assert np.abs(np.sort_complex(found[:3]) - np.sort_complex(true)).max() < 1e-8
        assert np.abs(found[3:]).max() < 1e-6


def test_a_run_rolls_on(plant):
    tilt, t_end = 1e-6, 1.0
    run = cmb.simulate(
        plant,
        None,
        [0.0, 0.0, tilt],
        [SKATE_SPEED * np.cos(tilt), SKATE_SPEED * np.sin(tilt), 0.0],
        t_end=t_end,
        rtol=1e-12,
    )
    F = np.array(
        [
            [0, SKATE_SPEED, 0],
            [0, 0, 1],
            [-SKATE_STIFFNESS * SKATE_AHEAD / SKATE_INERTIA, -SKATE_STIFFNESS * SKATE_AHEAD**2 / SKATE_INERTIA, 0],
        ]
    )
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
        plant.to_iosystem(gliding)


@pytest.mark.parametrize("name", ["particle", "slider-crank"])
def test_published_functions_are_consistent(name):
    plant = plants.catalogue[name].factory()
    rng = np.random.default_rng(3)
    for _ in range(5):
        plant.check_derivatives(plant.neutral() + rng.uniform(-0.4, 0.4, 2), rng.standard_normal(2))


@pytest.mark.parametrize(
    ("changes", "culprit"),
    [
        ({"A": lambda q: [[2.0 * q[0], 1.0]]}, "A disagrees with the gradient of Phi"),
        ({"Adot_v": lambda q, v: [2.0 * v[0] ** 2]}, "Adot_v disagrees with the rate of A"),
        ({"M": lambda q: np.diag([2.0 + q[1] ** 2, 2.0])}, "h disagrees with the Coriolis forces"),
        ({"potential": lambda q: -19.62 * q[1]}, "h disagrees with the gradient of the potential"),
    ],
)
def test_check_derivatives_names_the_culprit(changes, culprit):
    bead().check_derivatives([0.3, 0.4], [1.0, -2.0])
    with pytest.raises(ModelError, match=culprit):
        bead(**changes).check_derivatives([0.3, 0.4], [1.0, -2.0])


@pytest.mark.parametrize("length", [1e-6, 1.0, 1e4])
@pytest.mark.parametrize("speed", [0.0, 1e-6, 1.0, 150.0, 1e5])
def test_neither_speed_nor_size_matters_to_differences(length, speed):
    """They step through configurations; along v by the time, they would step round the circle at 150 rad/s."""
    crank = plants.slider_crank(length=length)
    crank.check_derivatives([1.0, -2.0], [speed, -2.0 * speed])
    bead = plants.particle_on_circle(radius=length)
    bead.check_derivatives([0.6 * length, 0.8 * length], [-0.8 * speed * length, 0.6 * speed * length])
    functions = crank._functions | {"Adot_v": lambda q, v: 1.001 * np.array(crank._functions["Adot_v"](q, v))}
    potential = functions.pop("potential")
    names = {"actuators": ("q1",), "rows": ("slider",), "units": ("rad", "rad"), "size": length}
    wrong = FunctionPlant("wrong", ("q1", "q2"), **functions, **names)
    if speed:
        with pytest.raises(ModelError, match="Adot_v disagrees with the rate of A along v"):
            wrong.check_derivatives([1.0, -1.0], [speed, speed])
    functions = crank._functions | {"potential": lambda q: 1.001 * potential(q)}
    with pytest.raises(ModelError, match="h disagrees with the gradient of the potential"):
        FunctionPlant("wrong", ("q1", "q2"), **functions, **names).check_derivatives([1.0, -2.0], [speed, -2.0 * speed])


def test_friction_is_no_inconsistency():
    bead(h=lambda q, v: [0.3 * v[0], 19.62 + 0.2 * np.sign(v[1])]).check_derivatives([0.3, 0.4], [1.0, -2.0])
