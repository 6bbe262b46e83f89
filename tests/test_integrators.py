"""Integrators in all coordinates, stabilisations and named formulations in runs."""

import importlib

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import Controller
from cmbcontrol.errors import RedundantRowsError, SimulationError, Status
from cmbcontrol.papers.formulations import FORMULATIONS, NamedFormulation
from cmbcontrol.papers.methods import MULTISTEP, settings, verner65
from cmbcontrol.papers.scipy_methods import SCIPY_METHODS
from cmbcontrol.sim.stabilisation import Stabilisation, project_all_at_once

pytestmark = pytest.mark.nojit_slow  # whole runs

T_END = 0.5


@pytest.fixture(scope="module")
def five_bar():
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    return plant, q0, cmb.simulate(plant, q0=q0, t_end=T_END)


def error(run, reference):
    return float(np.abs(run.q.values - reference.q.values).max())


# -- methods ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["scipy-rk45", "scipy-dop853", "scipy-radau", "verner65"])
def test_one_step_methods_with_projection(five_bar, method):
    plant, q0, reference = five_bar
    run = cmb.simulate(plant, q0=q0, t_end=T_END, rtol=1e-8, atol=1e-8, **settings(method=method))
    assert error(run, reference) < 1e-6  # between the steps, too
    assert run.max_drift < 1e-14
    attrs = run.data.attrs
    assert attrs["method"] == method and 0 < attrs["steps"] < attrs["evaluations"]


@pytest.mark.parametrize("method", MULTISTEP)
def test_multistep_methods(five_bar, method):
    plant, q0, reference = five_bar
    run = cmb.simulate(plant, q0=q0, t_end=T_END, rtol=1e-9, atol=1e-9, **settings(method=method, stabilisation="none"))
    assert error(run, reference) < 2e-4
    stabilised = cmb.simulate(
        plant,
        q0=q0,
        t_end=T_END,
        rtol=1e-9,
        atol=1e-9,
        **settings(gains=(50, 50), method=method, stabilisation="baumgarte"),
    )
    assert stabilised.drift.values[-1, 0] < 0.5 * run.drift.values[-1, 0]
    with pytest.raises(TypeError, match="a projection would contradict"):
        cmb.simulate(plant, q0=q0, t_end=T_END, **settings(method=method))
    with pytest.raises(TypeError, match="cannot follow from the step"):
        cmb.simulate(plant, q0=q0, t_end=T_END, **settings(gains="adaptive", method=method, stabilisation="baumgarte"))


@pytest.mark.parametrize("method", SCIPY_METHODS)
def test_sampled_laws_and_events_with_scipy_methods(five_bar, method):
    """Held efforts restart the method; a step that holds an event is taken again to there."""
    plant, q0, _ = five_bar

    class Law(Controller):
        period = 0.02

        def effort(self, t, terms, state):
            return [-2.0 * terms.v[0], 1.0]

    kept = {} if method not in MULTISTEP else {"stabilisation": "none"}
    way = {"switches": cmb.Release("tip", at=0.0521), "rtol": 1e-9, "atol": 1e-9, "t_end": 0.1}
    run = cmb.simulate(plant, Law(), q0, **settings(method=method, **kept, **way))
    reference = cmb.simulate(plant, Law(), q0, **settings(**way))
    assert error(run, reference) < 1e-4
    assert [e["kind"] for e in run.events()] == ["released tip"]
    assert np.array_equal(run.active.values, reference.active.values)


def test_order_of_verner():
    """Error of fixed steps and of the dense output on y' = y cos t; the tableau itself, without step control."""
    found, between = [], []
    tab = verner65()
    for n in (8, 16, 32):
        h, x = 2.0 / n, np.array([1.0])
        worst = 0.0
        for i in range(n):
            t, m = i * h, tab.b.size
            K = np.zeros((m + 4, 1))
            for j in range(m):
                K[j] = (x + h * tab.A[j] @ K[:m]) * np.cos(t + tab.c[j] * h)
            new = x + h * tab.b @ K[:m]
            K[m] = new * np.cos(t + h)
            for j, row in enumerate(tab.A_extra):
                K[m + 1 + j] = (x + h * row @ K) * np.cos(t + tab.c_extra[j] * h)
            F = np.empty((7, 1))
            cmb.kernels.runge_kutta.dense_coefficients(K, tab, x, new, h, F)
            out = np.empty(1)
            for s in (0.3, 0.6, 0.9):
                cmb.kernels.runge_kutta.interpolate(x, F, s, out)
                worst = max(worst, abs(out[0] - np.exp(np.sin(t + s * h))))
            x = new
        found.append(abs(x[0] - np.exp(np.sin(2.0))))
        between.append(worst)
    assert np.log2(found[0] / found[1]) > 5.5 and np.log2(found[1] / found[2]) > 5.5
    assert np.log2(between[1] / between[2]) > 5.0


def test_a_law_that_fails_ends_a_scipy_run_with_what_was_computed(five_bar):
    plant, q0, _ = five_bar

    def law(t, terms, state):
        if t > 0.1:
            raise ZeroDivisionError("no more")
        return [0.0, 0.0]

    for method in ("scipy-rk45", "scipy-radau", "vode-adams"):
        kept = {} if method not in MULTISTEP else {"stabilisation": "none"}
        with pytest.raises(SimulationError, match="ZeroDivisionError: no more") as caught:
            cmb.simulate(plant, law, q0, t_end=T_END, rtol=1e-6, atol=1e-6, **settings(method=method, **kept))
        assert caught.value.partial.status is Status.CONTROLLER
        assert 0.05 < caught.value.partial.time[-1] <= 0.1


def test_a_tolerance_out_of_reach_is_told(five_bar):
    plant, q0, _ = five_bar
    with pytest.raises(SimulationError, match="VODE"):
        cmb.simulate(
            plant, q0=q0, t_end=T_END, rtol=1e-17, atol=1e-17, **settings(method="vode-adams", stabilisation="none")
        )


# -- formulations -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", [name for name in FORMULATIONS if name not in ("lagrange", "augmented")])
def test_formulations_run_alike_with_redundant_rows(formulation):
    plant = plants.parallelogram()
    start = importlib.import_module("cmbcontrol.plants.parallelogram").start(plant)
    way = {"t_end": 0.2, "rtol": 1e-9, "atol": 1e-9}
    reference = cmb.simulate(plant, None, *start, **settings(**way))
    run = cmb.simulate(plant, None, *start, **settings(formulation=formulation, **way))
    assert error(run, reference) < 1e-10
    assert run.data.attrs["formulation"] == formulation
    assert run.data.attrs["evaluations"] == reference.data.attrs["evaluations"]


def test_a_pseudoinverse_makes_lagrange_stand_redundant_rows():
    plant = plants.five_bar(closure="revolute")
    q0 = plant.assemble(left=2.1, right=1.0)
    with pytest.raises(RedundantRowsError, match="pseudoinverse='svd'"):
        cmb.simulate(plant, q0=q0, t_end=0.1, **settings(formulation="lagrange"))
    run = cmb.simulate(plant, q0=q0, t_end=0.1, **settings(pseudoinverse="complete-orthogonal", formulation="lagrange"))
    assert error(run, cmb.simulate(plant, q0=q0, t_end=0.1)) < 1e-9


def test_a_run_ends_in_words_where_its_formulation_does():
    """Spencer's second example comes to a singular configuration at 0.65 s, where rows are redundant so."""
    plant = plants.five_bar()
    q0 = importlib.import_module("cmbcontrol.plants.five_bar").pose(plant, "second")
    way = NamedFormulation("lagrange", rank_tolerance=1e-2)
    with pytest.raises(SimulationError) as caught:
        cmb.simulate(plant, q0=q0, t_end=0.7, **settings(step=2e-3, method="rk4", formulation=way))
    assert caught.value.partial.status is Status.FORMULATION
    assert "redundant" in str(caught.value) and 0.62 < caught.value.partial.time[-1] < 0.66


def test_options_of_formulations_are_checked(five_bar):
    plant, q0, _ = five_bar
    with pytest.raises(ValueError, match="udwadia-kalaba"):
        cmb.simulate(plant, q0=q0, t_end=0.1, **settings(formulation="udwadia"))
    with pytest.raises(TypeError, match="makes no pseudoinverse"):
        cmb.simulate(plant, q0=q0, t_end=0.1, **settings(pseudoinverse="svd"))
    with pytest.raises(TypeError, match="has its pseudoinverse"):
        cmb.simulate(plant, q0=q0, t_end=0.1, **settings(pseudoinverse="svd", formulation=NamedFormulation("aghili")))
    with pytest.raises(TypeError, match="is a formulation itself"):
        cmb.simulate(plant, q0=q0, t_end=0.1, **settings(formulation="aghili", method="radau"))


# -- stabilisations ---------------------------------------------------------------------------------------


def test_all_at_once_restores_position_velocity_and_energy():
    plant = plants.five_bar()
    rng = np.random.default_rng(3)
    q = plant.assemble(left=2.1, right=1.0)
    v = plant.project_velocity(q, rng.normal(size=4))
    energy = plant.terms(q, v).energy
    for metric in ("euclidean", "mass"):
        q1, v1 = project_all_at_once(
            plant, q + 1e-3 * rng.normal(size=4), v + 1e-3 * rng.normal(size=4), energy, metric=metric
        )
        terms = plant.terms(q1, v1)
        assert np.abs(terms.phi).max() < 1e-14 and np.abs(terms.A @ v1).max() < 1e-14
        assert abs(terms.energy - energy) < 1e-12


def test_all_at_once_is_the_nearest_state():
    """Against a general solver of the same minimum."""
    from scipy.optimize import minimize

    plant = plants.five_bar()
    rng = np.random.default_rng(4)
    q = plant.assemble(left=2.1, right=1.0)
    v = plant.project_velocity(q, rng.normal(size=4))
    energy = plant.terms(q, v).energy
    off = np.concatenate([q, v]) + 1e-4 * rng.normal(size=8)

    def invariants(x):
        terms = plant.terms(x[:4], x[4:])
        return np.concatenate([terms.phi, terms.A @ terms.v, [0.1 * (terms.energy - energy)]])

    found = minimize(
        lambda x: 1e6 * float((x - off) @ (x - off)), off, constraints={"type": "eq", "fun": invariants},
        method="SLSQP", options={"ftol": 1e-14},
    )  # fmt: skip
    ours = np.concatenate(project_all_at_once(plant, off[:4], off[4:], energy))
    assert np.linalg.norm(ours - off) == pytest.approx(np.linalg.norm(found.x - off), rel=1e-3)
    assert np.abs(ours - found.x).max() < 1e-6


def test_all_at_once_in_a_run(five_bar):
    plant, q0, reference = five_bar
    way = {"t_end": T_END, "method": "rk4", "step": 2e-3}
    run = cmb.simulate(plant, q0=q0, output_times=way["step"], **settings(stabilisation="all-at-once", **way))
    assert run.max_drift < 1e-14
    assert run.max_energy_error < 1e-12 < cmb.simulate(plant, q0=q0, **settings(**way)).max_energy_error
    assert np.abs(run.q.values[-1] - reference.q.values[-1]).max() < 1e-5


def test_projection_every_few_steps_lets_the_loops_drift_in_between(five_bar):
    plant, q0, _ = five_bar
    way = {"t_end": 0.3, "method": "rk4", "step": 0.01, "output_times": 0.01}
    rare = cmb.simulate(plant, q0=q0, **settings(every=5, **way)).drift.values[:, 0]
    assert rare[5::5].max() < 1e-14 < 1e-11 < rare[1:].max()
    none = cmb.simulate(plant, q0=q0, **settings(stabilisation="none", **way)).drift.values[:, 0]
    assert np.allclose(rare[1:5], none[1:5], rtol=1e-6)


def test_gains_from_the_step_leave_the_square_root_of_two_less_one():
    """An error of the loops goes down by sqrt 2 - 1 a step, whatever the step, and the order of the method is kept."""
    plant = plants.pendulum()
    kept = Stabilisation("baumgarte", gains="adaptive")
    b = 6.0 - 4.0 * np.sqrt(2.0)
    for h in (1e-3, 1e-2):
        effect = np.array(
            [[-kept.correction(np.zeros(1), np.ones(1), h)[0], -kept.correction(np.ones(1), np.zeros(1), h)[0]]]
        )
        phi, rate = effect[0]
        step = np.array([[1.0 - 0.5 * h**2 * phi, 1.0 - 0.5 * h * rate], [-(h**2) * phi, 1.0 - h * rate]])
        assert np.allclose(step, [[1.0 - b / 2.0, 0.5], [-b, 0.0]])
        assert np.allclose(np.abs(np.linalg.eigvals(step)), np.sqrt(2.0) - 1.0, atol=1e-7)
    q0 = plant.assemble(angle=0.5)
    exact = cmb.simulate(plant, q0=q0, t_end=1.0)
    errors = []
    for n in (100, 200):
        run = cmb.simulate(
            plant, q0=q0, t_end=1.0, **settings(step=1.0 / n, gains="adaptive", method="rk4", stabilisation="baumgarte")
        )
        errors.append(np.abs(run.q.values[-1] - exact.q.values[-1]).max())
        assert run.max_drift < 1e-6
    assert errors[0] / errors[1] > 12.0


def test_stabilisations_are_checked(five_bar):
    plant, q0, _ = five_bar
    for options, words in (
        ({"stabilisation": "baumgarte", "energy": True}, "projects nothing"),
        ({"stabilisation": "none", "every": 3}, "projects nothing"),
        ({"stabilisation": "all-at-once", "energy": True}, "already"),
        ({"method": "radau", "every": 2}, "stays on the manifold"),
        ({"method": "scipy-rk45", "step": 1e-3}, "chooses its step itself"),
    ):
        with pytest.raises(TypeError, match=words):
            cmb.simulate(plant, q0=q0, t_end=0.1, **settings(**options))
    for options, words in (
        ({"every": 0}, "whole number >= 1"),
        ({"gains": "clever"}, "adaptive"),
        ({"gains": (1.0, -1.0)}, "must not be negative"),
        ({"stabilisation": "hope"}, "projection"),
    ):
        with pytest.raises(ValueError, match=words):
            cmb.simulate(plant, q0=q0, t_end=0.1, **settings(**options))


def test_a_run_tells_what_its_formulation_says():
    """Forces and conditioning are its own; multipliers of Lagrange's form belong to the same force."""
    plant = plants.five_bar()
    q0 = importlib.import_module("cmbcontrol.plants.five_bar").pose(plant, "second")
    way = {"t_end": 0.6, "output_times": 0.1}
    plain = cmb.simulate(plant, q0=q0, **settings(**way))
    run = cmb.simulate(plant, q0=q0, **settings(formulation="lagrange", **way))
    assert "formulation_conditioning" not in plain.data
    assert np.allclose(run.constraint_force, plain.constraint_force, rtol=1e-6, atol=1e-6)
    assert np.allclose(run.multipliers, plain.multipliers, rtol=1e-6, atol=1e-6)
    terms = plant.terms(run.q.values[-1], run.v.values[-1])
    assert run.formulation_conditioning.values[-1] == pytest.approx(
        np.linalg.cond(terms.A @ np.linalg.solve(terms.M, terms.A.T)), rel=1e-6
    )
    assert run.formulation_conditioning.values[-1] > 10.0 * run.formulation_conditioning.values[0]


def test_energy_is_restored_at_the_steps_and_true_between_them(five_bar):
    plant, q0, _ = five_bar
    run = cmb.simulate(plant, q0=q0, t_end=T_END, **settings(energy=True))
    assert run.max_energy_error < 1e-8
    law = cmb.simulate(plant, lambda t, terms, state: [0.0, 0.0], q0, t_end=T_END, **settings(energy=True))
    assert law.max_energy_error < 1e-8
