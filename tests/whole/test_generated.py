"""Runs by generated code and by the kernels are the same runs."""

import numpy as np
import pytest
import scipy.linalg

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol._jit import JIT_ENABLED
from cmbcontrol.linear.reduced import reduced_model

from ..seeds import many, rotating
from ..trace.test_functions import random_machine

pytestmark = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")


def both(monkeypatch, plant, **options):
    runs = []
    for how in ("kernels", "generated"):
        monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", how)
        run = cmb.simulate(plant, limits="ignore", **options)
        runs.append((run, run.data))  # looked at while the environment says so
    (kernels, _), (generated, _) = runs
    assert kernels.data.attrs["evaluations_by_code"] == 0
    return kernels, generated


# Machines that do not fall, and do not turn over: there neighbouring runs part, and rounding tells.
@pytest.mark.parametrize(
    ("name", "t_end", "share"),
    [
        ("five-bar", 2.0, 0.2), ("three-rrr", 1.0, 0.9), ("loader", 0.5, 0.9), ("stewart", 0.5, 0.9),
        ("delta", 0.3, 0.5), ("parallelogram", 0.5, 0.9), ("n-four-bar", 0.5, 0.5), ("bricard", 1.0, 0.9),
        ("governor", 0.5, 0.9), ("pendulum", 1.0, 0.9), ("grasping-arms", 0.5, 0.9), ("leg", 0.3, 0.5),
        ("andrews", 0.02, 0.9), ("two-arms", 0.5, 0.9), ("parallel-four-bar", 0.2, 0.5),
    ],
)  # fmt: skip
def test_catalogue(monkeypatch, name, t_end, share):
    entry = plants.catalogue[name]
    plant, q0, v0 = entry.start()
    u = np.array([entry.effort.get(motor, 0.0) for motor in plant.actuator_names])
    if not v0.any() and not u.any():
        v0 = 0.3 * plant.project_velocity(q0, np.linspace(-1.0, 1.0, plant.nv) * plant.size / plant.unit_lengths)
    kernels, generated = both(monkeypatch, plant, controller=u, q0=q0, v0=v0, t_end=t_end)
    for key in ("q", "v", "a", "constraint_force", "energy"):
        expected = kernels.data[key].values
        scale = np.abs(expected).max(initial=1e-12)
        np.testing.assert_allclose(generated.data[key].values, expected, rtol=0.0, atol=1e-7 * scale, err_msg=key)
    attrs = generated.data.attrs
    assert attrs["evaluations_by_code"] >= share * attrs["evaluations"]
    assert generated.max_drift <= 2.0 * kernels.max_drift + 1e-15 * plant.size
    assert (
        generated.max_energy_error
        <= 2.0 * kernels.max_energy_error + 1e-12 * np.abs(kernels.data["kinetic"].values).max()
    )


@pytest.mark.parametrize("method", ["dop853", "rk4"])
def test_methods_and_samples(monkeypatch, method):
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)

    class Held(cmb.controllers.Controller):
        period = 1e-2

        def evaluate(self, t, terms, state):
            return cmb.controllers.Evaluation(np.array([np.sin(3.0 * t), 0.2]))

    integrator = cmb.Integrator(method, step=1e-3) if method == "rk4" else method
    kernels, generated = both(monkeypatch, plant, controller=Held(), q0=q0, t_end=0.5, method=integrator)
    np.testing.assert_allclose(generated.q, kernels.q, atol=1e-9)
    assert generated.data.attrs["evaluations_by_code"] > 0.5 * generated.data.attrs["evaluations"]


def coordinates_of(plant, q):
    """Rows of joint coordinates that are independent at a configuration."""
    terms = plant.terms(q, np.zeros(plant.nv))
    kept = scipy.linalg.qr(terms.Z.T, pivoting=True, mode="r")[1][: terms.dof]
    return np.eye(plant.nv)[np.sort(kept)]


def check_linear_model(monkeypatch, plant, q, seed=0):
    """Accelerations and linear models, both ways; True where generated code was there to be checked.

    Errors are compared with what goes into the numbers, in the units of the machine: parts may cancel.
    """
    rng = np.random.default_rng(seed)
    lever = plant.size / plant.unit_lengths  # what a size of the machine is in each coordinate
    v = plant.project_velocity(q, rng.standard_normal(plant.nv) * lever)
    u = rng.standard_normal(plant.nu)
    R = coordinates_of(plant, q)
    terms = plant.terms(q, v)
    results = []
    for how in ("kernels", "generated"):
        monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", how)
        results.append((cmb.forward_dynamics(plant, q, v, u), reduced_model(plant, q, v, u, R) if len(R) else None))
    (a, kernels), (b, generated) = results
    fastest = np.abs(v / lever).max(initial=0.0)
    parts = plant.row_scale * (np.abs(terms.A) @ np.abs(a) + np.abs(terms.b))
    left = plant.row_scale * np.abs(terms.A @ a + terms.b)
    if (left > 1e-8 * (parts.max(initial=0.0) + plant.size * fastest**2)).any():
        return False  # at a dead point: rows contradict each other at this velocity, and it matters which are kept
    free = np.linalg.solve(terms.M, terms.B @ u - terms.h)
    near = terms.pivots[terms.rank - 1] / terms.pivots[0] if terms.rank else 1.0
    weight = np.sqrt(np.diag(terms.M))
    condition = np.linalg.cond(terms.M / np.outer(weight, weight))
    blur = 1e-13 * max(1.0, condition / 10.0) / min(1.0, 10.0 * near) ** 2
    most = np.linalg.norm(weight * np.array([free, a, v * fastest]), axis=1).max()
    assert np.linalg.norm(weight * (b - a)) <= 100.0 * blur * most
    if not len(R):
        return False
    assert generated.rank == kernels.rank
    unit = R @ lever
    fast = max(np.abs(a / lever).max(), np.abs(free / lever).max(), fastest**2)
    both = np.tile(unit, 2)

    def off(name, scaled, size):
        error = np.abs(scaled(getattr(generated, name)) - scaled(getattr(kernels, name)))
        assert (error <= 1e3 * blur * size + 1e-300).all(), f"{plant.name}: {name} {(error / size).max():.1e}"

    scaled = np.abs(kernels.A / both[:, None] * both).max()
    off("A", lambda A: A / both[:, None] * both, max(scaled, fast))
    own = np.sqrt(np.einsum("ik,kj,ij->i", R, np.linalg.inv(terms.M), R))  # |G B| is at most own * of_motors
    of_motors = np.sqrt(np.einsum("ki,kj,ji->i", terms.B, np.linalg.inv(terms.M), terms.B))
    off("B", lambda B: B[len(R) :], np.outer(own, of_motors) + 1e-300)
    off("drift", lambda drift: drift / both, max(fast, fastest))
    most = np.abs(kernels.K / lever[:, None] * unit).max()
    off("K", lambda K: K / lever[:, None] * unit, most)
    off("N", lambda N: N / lever[:, None] * unit, most * max(fastest, 1e-300))
    off("G", lambda G: G * weight, np.abs(kernels.G * weight).max(axis=1, keepdims=True))
    return "code" in vars(plant).get("_generated", {})


@pytest.mark.first(5)
@pytest.mark.parametrize("name", sorted(set(plants.catalogue) - {"particle", "slider-crank", "five-bar"}))
def test_linear_models_of_the_catalogue(monkeypatch, name):
    plant, q, _ = plants.catalogue[name].start()
    check_linear_model(monkeypatch, plant, q)


def random_machines(monkeypatch, seeds):
    done = 0
    for seed in seeds:
        found = random_machine(seed)
        done += found is not None and check_linear_model(monkeypatch, *found, seed)
    return done


@pytest.mark.slow
def test_linear_models_of_some_random_machines(monkeypatch):
    assert random_machines(monkeypatch, range(10)) >= 5


@pytest.mark.rotates
def test_linear_models_of_random_machines(monkeypatch):
    assert random_machines(monkeypatch, rotating(25)) >= 0.2 * many(25)


def test_kernels_take_over_near_singular_configurations(monkeypatch):
    """Where rows are redundant; else corrected code does."""
    plant, q0, v0 = plants.catalogue["parallelogram"].start()
    assert len(plant.row_names) > plant.generic_rank(q0)
    kernels, generated = both(monkeypatch, plant, q0=q0, v0=v0, t_end=2.0)
    assert generated.events()
    assert 0 < generated.data.attrs["evaluations_by_code"] < generated.data.attrs["evaluations"]
    assert [e["kind"] for e in generated.events()] == [e["kind"] for e in kernels.events()]
    times = [[e["time"] for e in run.events()] for run in (kernels, generated)]
    np.testing.assert_allclose(times[1], times[0], atol=1e-7)


def test_what_the_code_does_not_cover_runs_by_kernels(monkeypatch):
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    for options in ({"stabilisation": "baumgarte"}, {"stabilisation": "none"}, {"method": "sdirk4"}):
        _, generated = both(monkeypatch, plant, q0=q0, t_end=0.1, **options)
        assert generated.data.attrs["evaluations_by_code"] == 0
