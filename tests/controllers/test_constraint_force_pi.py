"""The constraint-force PI (51), (52): decay, sampling, limits, refusals."""

import math

import numpy as np
import pytest

from cmbcontrol import plants, simulate
from cmbcontrol.controllers import ConstraintForcePI, WithModel
from cmbcontrol.errors import ActuationError
from cmbcontrol.papers.methods import settings
from cmbcontrol.plants.two_arms import configuration
from tests.fixtures import (
    FORCE_PLANTS,
    FORCE_ROWS,
    actuated_five_bar,
    actuated_pendulum,
    decoupled_particle,
    force_errors,
    force_start,
    hybrid,
)

ACCURATE = {"rtol": 1e-11, "atol": 1e-11}

# In continuous time the force that is measured answers the efforts, and Python runs the law.
pytestmark = pytest.mark.filterwarnings("ignore::cmbcontrol.errors.SpeedWarning")


# -- the law itself -------------------------------------------------------------------------------


def test_particle_on_a_circle_in_closed_form():
    plant = plants.particle_on_circle(mass=2.0, radius=0.5, gravity=(0.0, 0.0))
    law = ConstraintForcePI(plant, [3.0], ["circle"])
    terms = plant.terms([0.3, 0.4], [-0.8, 0.6])
    u = law(0.0, terms, law.start(plant))  # F = f_normal + m |v|^2/rho, nothing along the circle
    np.testing.assert_allclose(u, (3.0 - 2.0 * 1.0 / 0.5) * np.array([0.6, 0.8]), atol=1e-12)


@pytest.mark.nojit_slow
def test_alone_it_leaves_the_motion_as_it_is():
    plant = plants.two_arms()
    q0 = configuration(plant, 0.05, 0.5)
    free = simulate(plant, None, q0, t_end=0.15, **settings(**ACCURATE))
    law = ConstraintForcePI(plant, [50.0], ["grasp_fx"], kp=1.0, ki=10.0, on="a")
    forced = simulate(plant, law, q0, t_end=0.15, **settings(**ACCURATE))
    assert np.abs(free.q.values - q0).max() > 0.01
    np.testing.assert_allclose(forced.q.values, free.q.values, atol=1e-8)
    assert np.abs(force_errors(forced, "grasp_fx")).max() < 1e-6


# -- error dynamics -------------------------------------------------------------------------------


@pytest.mark.parametrize("make", FORCE_PLANTS.values(), ids=FORCE_PLANTS)
@pytest.mark.nojit_slow
def test_the_error_decays_as_the_gains_say(make):
    """(1 + G_F) de/dt + G_I e = 0, on a moving machine."""
    plant = make()
    kp, ki = 0.8, 12.0
    wanted = np.array([5.0, -4.0])[: len(FORCE_ROWS[plant.name])]
    law = hybrid(plant, wanted, kp=kp, ki=ki, initial=wanted - 2.0)
    run = simulate(plant, law, *force_start(plant), t_end=0.5, output_times=0.01, **settings(**ACCURATE))
    e = force_errors(run, *FORCE_ROWS[plant.name])
    rate = np.polyfit(run.time, np.log(e), 1)[0]
    np.testing.assert_allclose(rate, -ki / (1.0 + kp), rtol=1e-4)
    np.testing.assert_allclose(law.force.error_poles, -ki / (1.0 + kp))


@pytest.mark.nojit_slow
def test_the_error_behind_a_filter():
    """Two poles, of tau p^2 + (1 + G_F) p + G_I, from an error that the filter knows."""
    plant = actuated_five_bar()
    kp, ki, tau = 0.8, 12.0, 0.04
    law = hybrid(plant, [5.0, -4.0], kp=kp, ki=ki, filter_time=tau, initial=[3.0, 1.0])
    run = simulate(plant, law, *force_start(plant), t_end=0.5, output_times=0.005, **settings(**ACCURATE))
    x = np.array([[2.0, -5.0], -(1.0 + kp) / ki * np.array([2.0, -5.0])])  # filtered error, integral
    A = np.array([[-(1.0 + kp) / tau, -ki / tau], [1.0, 0.0]])
    poles, vectors = np.linalg.eig(A)
    modes = np.exp(np.outer(run.time, poles))[:, :, None] * np.linalg.solve(vectors, x)[None]
    expected = np.einsum("j,tjk->tk", np.array([-kp, -ki]) @ vectors, modes)
    np.testing.assert_allclose(force_errors(run, *FORCE_ROWS["five-bar"]), expected.real, atol=1e-6)
    np.testing.assert_allclose(np.sort(law.force.error_poles[0]), np.sort(poles), rtol=1e-12)


@pytest.mark.parametrize("filter_time", [None, 0.03])
@pytest.mark.nojit_slow
def test_the_sampled_error_has_the_poles_that_are_promised(filter_time):
    plant, T = actuated_five_bar(), 0.01
    kp, ki = 0.6, 20.0
    law = hybrid(plant, [5.0, -4.0], still=True, period=T, kp=kp, ki=ki, filter_time=filter_time, initial=[3.0, 1.0])
    run = simulate(plant, law, *force_start(plant, still=True), t_end=0.4, output_times=(np.arange(40) + 0.5) * T)
    e = force_errors(run, "tip_x", "tip_y")[1:]  # the first sample has no measurement
    poles = law.force.error_poles[0]
    recursion = np.poly(poles).real
    np.testing.assert_allclose(recursion[0] * e[2:] + recursion[1] * e[1:-1] + recursion[2] * e[:-2], 0.0, atol=1e-8)
    slowest = np.abs(poles).max()
    if filter_time is None:
        assert e[-1] / e[-11] == pytest.approx(np.full(2, slowest**10), rel=0.01)


def test_poles_of_the_sampled_error_from_the_recursion_itself():
    """The characteristic polynomial against the recursion of (52), written down and iterated."""
    rng = np.random.default_rng(3)
    plant, T = decoupled_particle(), 0.02
    for tau in (None, 0.05):
        a = 0.0 if tau is None else math.exp(-T / tau)
        limit = (1.0 + a) / (1.0 - a)
        for _ in range(20):
            kp = rng.uniform(0.0, 1.3 * limit)
            ki = rng.uniform(0.1, 2.6 * max(limit - kp, 0.2)) / T
            step = np.empty((3, 3))  # (e, x, s) -> the next: F answers the efforts one sample later
            for i, (e, x, s) in enumerate(np.eye(3)):
                x = a * x + (1.0 - a) * e
                s = s + T * x
                step[:, i] = -kp * x - ki * s, x, s
            radius = np.abs(np.linalg.eigvals(step)).max()
            stable = kp < limit and ki * T < 2.0 * (limit - kp)
            assert (radius < 1.0) == stable
            if stable:
                law = ConstraintForcePI(plant, [1.0], ["circle"], kp=kp, ki=ki, period=T, filter_time=tau)
                assert np.abs(law.error_poles).max() == pytest.approx(radius)
            else:
                with pytest.raises(ValueError, match="spectral radius"):
                    ConstraintForcePI(plant, [1.0], ["circle"], kp=kp, ki=ki, period=T, filter_time=tau)


def test_the_remedy_for_sampled_gains_works():
    plant = decoupled_particle()
    with pytest.raises(ValueError, match=r"must stay below 1; it is 2.1.* filter_time above 0.00965") as caught:
        ConstraintForcePI(plant, [1.0], ["circle"], kp=2.0, ki=20.0, period=0.01)
    told = float(str(caught.value).split("above ")[1].split(" s")[0])
    ConstraintForcePI(plant, [1.0], ["circle"], kp=2.0, ki=20.0, period=0.01, filter_time=1.01 * told)
    with pytest.raises(ValueError, match="With a filter"):
        ConstraintForcePI(plant, [1.0], ["circle"], kp=2.0, ki=20.0, period=0.01, filter_time=0.97 * told)
    with pytest.raises(ValueError, match=r"spectral radius of the error is 1[.,]"):
        ConstraintForcePI(plant, [1.0], ["circle"], kp=1.0, period=0.01)


# -- a wrong model --------------------------------------------------------------------------------


@pytest.mark.parametrize(("period", "filter_time"), [(None, None), (None, 0.02), (0.005, None), (0.005, 0.02)])
@pytest.mark.nojit_slow
def test_the_integral_removes_what_a_wrong_model_leaves(period, filter_time):
    model, plant = actuated_five_bar(), actuated_five_bar(heavier=1.3)
    options = {"still": True, "period": period, "filter_time": filter_time, "model": model}
    left = []
    for ki in (0.0, 40.0):
        law = WithModel(model, hybrid(plant, [20.0, 10.0], kp=0.4, ki=ki, **options))
        run = simulate(plant, law, *force_start(plant, still=True), t_end=2.0, output_times=0.1, rtol=1e-8)
        left.append(np.abs(run.multipliers.values[-1] - [20.0, 10.0]).max())
    assert left[0] > 0.5 and left[1] < 1e-4


@pytest.mark.nojit_slow
def test_a_measured_force_is_attenuated_by_one_plus_the_gain():
    model, plant = actuated_five_bar(), actuated_five_bar(heavier=1.3)
    left = []
    for kp in (0.0, 0.5):
        law = WithModel(model, hybrid(plant, [20.0, 10.0], kp=kp, still=True, period=0.005, model=model))
        run = simulate(plant, law, *force_start(plant, still=True), t_end=2.0, output_times=0.1, rtol=1e-8, atol=1e-8)
        left.append(run.multipliers.values[-1] - [20.0, 10.0])
    np.testing.assert_allclose(left[1], left[0] / 1.5, rtol=1e-6)


# -- redundant rows, few motors -------------------------------------------------------------------


def test_a_component_that_redundant_rows_share_is_refused_by_name():
    with pytest.raises(ActuationError, match=r"does not determine 'tip_x'.*leave the components out"):
        ConstraintForcePI(actuated_five_bar(copies=2), [1.0], ["tip_x"])
    with pytest.raises(ActuationError, match=r"'grasp_z', 'grasp_tilt_x', 'grasp_tilt_y'.*grasp_x, grasp_y"):
        ConstraintForcePI(plants.two_arms(), np.zeros(6), ["grasp"])
    with pytest.raises(ActuationError, match="'grasp_fz'"):
        ConstraintForcePI(plants.two_arms(), np.zeros(2), ["grasp_fx", "grasp_fz"])


@pytest.mark.nojit_slow
def test_the_integral_stops_at_its_limit():
    """It takes 2 N off an error that it could not take off as a whole."""
    model, plant = actuated_five_bar(), actuated_five_bar(heavier=4.0)
    for period in (None, 0.005):
        left = []
        for limit in (0.0, 2.0):
            options = {"still": True, "period": period, "model": model, "integral_limit": limit}
            law = WithModel(model, hybrid(plant, [20.0, 10.0], ki=40.0, **options))
            run = simulate(plant, law, *force_start(plant, still=True), t_end=2.0, output_times=0.1, rtol=1e-7)
            left.append(np.abs(run.multipliers.values[-1] - [20.0, 10.0]))
        np.testing.assert_allclose(left[0] - left[1], 2.0, rtol=1e-2)
    force = ConstraintForcePI(model, [20.0, 10.0], ["tip_x", "tip_y"], ki=40.0, integral_limit=[2.0, 4.0], period=0.01)
    terms = model.terms(*force_start(model)).with_force(np.zeros(4))
    state = force.start(model)
    for _ in range(100):
        state = force.evaluate(0.0, terms, state).state
    np.testing.assert_allclose(40.0 * state[:2], [2.0, 4.0])


# -- what is handed on, what is refused -----------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"components": ["tip_q", "tip_x"]}, "did you mean"),
        ({"components": []}, "empty"),
        ({"components": ["tip_x", "tip_x"]}, "twice"),
        ({"frame": "ground"}, "no axes"),
        ({"components": ["tip_fx", "tip_fy"], "frame": "grond"}, "no body 'grond'"),
        ({"components": ["tip_fx", "tip_fy"], "on": "c"}, "'c'"),
        ({"desired": [1.0]}, r"shape \(2,\)"),
        ({"desired": lambda t: [1.0]}, r"shape \(2,\)"),
        ({"desired": [1.0, np.nan]}, "tip_y = nan"),
        ({"kp": -1.0}, "kp must be >= 0"),
        ({"kp": [0.1, 0.2, 0.3, 0.4], "components": None, "desired": [0.0] * 4}, "one number each"),
        ({"filter_time": 0.0}, "filter_time"),
        ({"period": -0.1}, "period"),
        ({"initial": [3.0, 2.0]}, "give ki > 0"),
        ({"force_weight": [0.0, 1.0]}, "force_weight must be > 0"),
        ({"weight": [-1.0] * 4}, "positive definite"),
    ],
)
def test_input_is_checked(options, words):
    with pytest.raises(ValueError, match=words):
        ConstraintForcePI(actuated_five_bar(), **({"components": ["tip_x", "tip_y"], "desired": [1.0, 2.0]} | options))


def test_plants_that_it_is_not_for():
    with pytest.raises(ValueError, match="given by functions"):
        ConstraintForcePI(decoupled_particle(), [1.0], ["circle_fx"])
    with pytest.raises(ValueError, match="coupling of joint coordinates"):
        ConstraintForcePI(plants.two_arms("planar"), [1.0], ["grasp_angle_mz"])
    assert ConstraintForcePI(plants.two_arms("planar"), [1.0], ["grasp_angle"]).names == ("grasp_angle",)
    with pytest.raises(ValueError, match="no loops"):
        ConstraintForcePI(actuated_pendulum(), [])
    with pytest.raises(ActuationError, match=r"no motor.*reachable_forces"):
        ConstraintForcePI(plants.five_bar(), [1.0], ["tip_x"])


@pytest.mark.parametrize("period", [None, 0.01])
def test_states_have_names(period):
    plant = actuated_five_bar()
    law = hybrid(plant, [1.0, 2.0], ki=1.0, period=period, filter_time=0.02)
    names = law.state_names(plant)
    assert len(names) == law.start(plant).size and names[0] == "tip_x_integral"
