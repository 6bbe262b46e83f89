"""What keeps a run on the loops: projections, Baumgarte's terms, gains from the step."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.papers.methods import settings
from cmbcontrol.sim.stabilisation import Stabilisation, project_all_at_once
from tests.fixtures import regular_start

T_END = 0.5


@pytest.mark.nojit_slow
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


@pytest.mark.nojit_slow
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


@pytest.mark.nojit_slow
def test_all_at_once_in_a_run(free_five_bar):
    plant, q0, reference = free_five_bar
    way = {"t_end": T_END, "method": "rk4", "step": 2e-3}
    run = cmb.simulate(plant, q0=q0, output_times=way["step"], **settings(stabilisation="all-at-once", **way))
    assert run.max_drift < 1e-14
    assert run.max_energy_error < 1e-12 < cmb.simulate(plant, q0=q0, **settings(**way)).max_energy_error
    assert np.abs(run.q.values[-1] - reference.q.values[-1]).max() < 1e-5


@pytest.mark.nojit_slow
def test_projection_every_few_steps_lets_the_loops_drift_in_between(free_five_bar):
    plant, q0, _ = free_five_bar
    way = {"t_end": 0.3, "method": "rk4", "step": 0.01, "output_times": 0.01}
    rare = cmb.simulate(plant, q0=q0, **settings(every=5, **way)).drift.values[:, 0]
    assert rare[5::5].max() < 1e-14 < 1e-11 < rare[1:].max()
    none = cmb.simulate(plant, q0=q0, **settings(stabilisation="none", **way)).drift.values[:, 0]
    assert np.allclose(rare[1:5], none[1:5], rtol=1e-6)


@pytest.mark.nojit_slow
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


@pytest.mark.nojit_slow
def test_stabilisations_are_checked(free_five_bar):
    plant, q0, _ = free_five_bar
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


@pytest.mark.nojit_slow
def test_energy_is_restored_at_the_steps_and_true_between_them(free_five_bar):
    plant, q0, _ = free_five_bar
    run = cmb.simulate(plant, q0=q0, t_end=T_END, **settings(energy=True))
    assert run.max_energy_error < 1e-8
    law = cmb.simulate(plant, lambda t, terms, state: [0.0, 0.0], q0, t_end=T_END, **settings(energy=True))
    assert law.max_energy_error < 1e-8


class TestOptions:
    @pytest.mark.nojit_slow
    @pytest.mark.parametrize("stabilisation", ["projection", "baumgarte", "none"])
    def test_stabilisation(self, stabilisation):
        plant = plants.five_bar()
        run = cmb.simulate(plant, q0=regular_start(plant), t_end=1.0, stabilisation=stabilisation)
        assert run.max_drift < (1e-12 if stabilisation == "projection" else 1e-7)

    @pytest.mark.nojit_slow
    def test_the_metric_of_the_projection_makes_no_difference_to_the_limit(self):
        plant = plants.five_bar()
        runs = [
            cmb.simulate(plant, q0=regular_start(plant), t_end=1.0, **settings(metric=m)) for m in ("mass", "euclidean")
        ]
        assert np.abs(runs[0].q.values - runs[1].q.values).max() < 1e-8
