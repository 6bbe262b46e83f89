"""The catalogue: what every plant claims to be, and what holds for all of them."""

import dataclasses

import numpy as np
import pytest
from scipy.linalg import expm

from cmbcontrol import linearize, plants, trim
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants import catalogue, delta, loader, stewart, three_rrr, two_arms
from cmbcontrol.plants.delta import configuration as delta_configuration
from cmbcontrol.plants.loader import configuration as loader_configuration
from cmbcontrol.plants.planar import pin
from cmbcontrol.plants.stewart import configuration as stewart_configuration
from cmbcontrol.plants.three_rrr import configuration as rrr_configuration
from cmbcontrol.plants.two_arms import configuration as arms_configuration
from cmbcontrol.sim.simulate import simulate
from tests.fixtures import MECHANISMS, admissible_velocity

# rows, rank, degrees of freedom, redundant rows at the start; verdict on the motors
CLAIMS = {
    "five-bar": (2, 2, 2, 0, "fully-actuated"),
    "grasping-arms": (12, 6, 3, 6, "over-actuated"),
    "leg": (3, 2, 1, 1, "over-actuated"),
    "biped": (16, 10, 3, 6, "over-actuated"),
    "pendulum": (5, 2, 1, 3, "fully-actuated"),
    "particle": (1, 1, 1, 0, "over-actuated"),
    "slider-crank": (1, 1, 1, 0, "fully-actuated"),
    "parallel-four-bar": (2, 2, 2, 0, "fully-actuated"),
    "parallelogram": (12, 11, 1, 1, "fully-actuated"),
    "n-four-bar": (4, 4, 1, 0, "fully-actuated"),
    "bricard": (5, 4, 1, 1, "fully-actuated"),
    "andrews": (6, 6, 1, 0, "fully-actuated"),
    "loader": (6, 6, 2, 0, "fully-actuated"),
    "excavator": (8, 8, 3, 0, "fully-actuated"),
    "valve-train": (2, 2, 1, 0, "fully-actuated"),
    "stewart": (15, 15, 6, 0, "fully-actuated"),
    "three-rrr": (4, 4, 3, 0, "fully-actuated"),
    "delta": (15, 15, 3, 0, "fully-actuated"),
    "two-arms": (6, 3, 3, 3, "over-actuated"),
    "governor": (0, 0, 4, 0, "under-actuated"),
}
STUDIED = [name for name in CLAIMS if catalogue[name].study is not None]


def test_catalogue_is_complete():
    assert set(catalogue) == set(CLAIMS)
    factories = {entry.factory for entry in catalogue.values()}
    assert {getattr(plants, n) for n in plants.__all__ if n.islower() and n != "catalogue"} == factories
    with pytest.raises(TypeError):
        catalogue["other"] = None


@pytest.mark.parametrize("name", CLAIMS)
def test_claims(name):
    entry = catalogue[name]
    plant, q0, v0 = entry.start()
    assert (plant.name, plant.source, entry.name) == (name, entry.source, name)
    assert len(entry.source) > 10 and len(entry.description) > 10
    assert plant.closure_error(q0) < 1e-12
    assert np.abs(plant.jacobian(q0) @ v0).max(initial=0.0) < 1e-12
    found = plant.diagnose(q0)
    rows, rank, dof, redundant, verdict = CLAIMS[name]
    assert (found.rows, found.rank, found.generic_rank, found.dof) == (rows, rank, rank, dof)
    assert not found.singular and sum(found.redundant.values()) == redundant
    assert found.actuation.verdict == verdict and (verdict == "under-actuated" or found.actuation.margin > 0.05)
    assert name in str(plant) and f"rows {rows}, rank {rank}" in str(found)


@pytest.mark.parametrize("name", CLAIMS)
def test_neutral_pose_assembles_and_prints(name):
    plant = catalogue[name].factory()
    assert plant.closure_error(plant.assemble()) < 1e-12
    assert "true degrees of freedom" in str(plant)
    assert set(catalogue[name].effort) <= set(plant.actuator_names)


@pytest.mark.parametrize("name", STUDIED)
def test_study_path_is_reachable_and_regular(name):
    study = catalogue[name].study
    plant, q, _ = catalogue[name].start()
    assert len(study.coordinates) == CLAIMS[name][2]
    for angle in np.linspace(0.0, 2.0 * np.pi, 9):
        values = np.array(study.centre) + np.array(study.amplitude) * np.sin(angle + np.array(study.phase))
        q = plant.assemble(guess=q, **dict(zip(study.coordinates, values, strict=True)))
        terms = plant.terms(q, np.zeros(plant.nv))
        assert terms.rank == CLAIMS[name][1] and terms.conditioning > 0.05
        assert np.linalg.cond(terms.Z[[plant.index(c) for c in study.coordinates]]) < 20.0
        assert plant.diagnose(q).actuation.complete


@pytest.mark.parametrize("name", CLAIMS)
def test_energy_is_the_integral_of_the_forces(name):
    """h at rest is the gradient of the potential energy; the power of h in motion is that of inertia."""
    plant, q, _ = catalogue[name].start()
    rest, step = np.zeros(plant.nv), 1e-4
    for e in np.eye(plant.nv):
        near, far = (
            plant.terms(plant.integrate(q, s * step * e), rest).potential
            - plant.terms(plant.integrate(q, -s * step * e), rest).potential
            for s in (1.0, 2.0)
        )
        assert (8.0 * near - far) / (12.0 * step) == pytest.approx(plant.terms(q, rest).h @ e, rel=1e-7, abs=1e-7)


G = 9.81


# every variant of every machine with loops: factory, configuration, rows, rank, degrees of freedom
VARIANTS = {
    "loader-line": (lambda: loader("line"), lambda p: loader_configuration(p, -0.2, 0.3), 6, 6, 2),
    "loader-point": (lambda: loader("point"), lambda p: loader_configuration(p, -0.2, 0.3), 9, 6, 2),
    "loader-revolute": (lambda: loader("revolute"), lambda p: loader_configuration(p, -0.2, 0.3), 15, 6, 2),
    "loader-loaded": (lambda: loader(load=6000.0), lambda p: loader_configuration(p, 0.4, 0.3), 6, 6, 2),
    "stewart-leg": (stewart, stewart_configuration, 15, 15, 6),
    "stewart-free": (lambda: stewart("free"), stewart_configuration, 18, 18, 6),
    "three-rrr-line": (lambda: three_rrr("vertical"), rrr_configuration, 4, 4, 3),
    "three-rrr-point": (lambda: three_rrr("vertical", "point"), rrr_configuration, 6, 4, 3),
    "three-rrr-revolute": (lambda: three_rrr("vertical", "revolute"), rrr_configuration, 10, 4, 3),
    "delta-ball": (delta, lambda p: delta_configuration(p, 0.1, -0.05, -0.7), 15, 15, 3),
    "delta-universal": (lambda: delta("universal"), lambda p: delta_configuration(p, 0.1, -0.05, -0.7), 20, 14, 3),
    "delta-loaded": (lambda: delta(load=1.0), lambda p: delta_configuration(p, 0.1, -0.05, -0.7), 15, 15, 3),
    "two-arms-weld": (two_arms, arms_configuration, 6, 3, 3),
    "two-arms-planar": (lambda: two_arms("planar"), arms_configuration, 3, 3, 3),
}


def built(variant):
    """Plant and closed pose."""
    plant = VARIANTS[variant][0]()
    return plant, VARIANTS[variant][1](plant)


@pytest.mark.parametrize("variant", VARIANTS)
def test_freedoms_and_redundant_rows(variant):
    plant, q = built(variant)
    assert plant.closure_error(q) < 1e-15 * max(1.0, plant.size)
    found = plant.diagnose(q)
    _, _, rows, rank, dof = VARIANTS[variant]
    assert (found.rows, found.rank, found.generic_rank, found.dof) == (rows, rank, rank, dof)
    assert sum(found.redundant.values()) == rows - rank and found.actuation.complete


@pytest.mark.nojit_slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_free_motion_keeps_energy_and_loops(variant):
    plant, q = built(variant)
    run = simulate(plant, None, q, admissible_velocity(plant, q), t_end=0.2, output_times=0.02)
    weights = sum(body.mass for body in plant.bodies) * G * plant.size
    assert run.max_drift < 1e-14 * max(1.0, plant.size) and run.max_energy_error < 1e-9 * weights
    assert np.abs(run.q.values[-1] - run.q.values[0]).max() > 0.02  # it did move


@pytest.mark.nojit_slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_held_within_the_limits_and_linear(variant):
    plant, q = built(variant)
    point = trim(plant, q)
    assert np.all(np.abs(point.u) < plant.effort) and np.isfinite(plant.effort).all()
    assert np.abs(forward_dynamics(plant, q, np.zeros(plant.nv), point.u)).max() < 1e-8
    model = linearize(plant, point)
    assert model.A.shape[0] == 2 * VARIANTS[variant][4]
    # the free response to a small push, simulated
    step, k = 1e-6, VARIANTS[variant][4]
    run = simulate(plant, point.u, plant.close(plant.integrate(q, step * model.K[:, 0])), t_end=0.1, output_times=0.1)
    y = [np.linalg.pinv(model.K) @ plant.difference(q, x) for x in run.q.values]
    expected = expm(0.1 * model.A)[:k, :k] @ y[0]
    assert y[-1] == pytest.approx(expected, abs=1e-5 * np.linalg.norm(y[0]))


@pytest.mark.parametrize("variant", VARIANTS)
def test_assembles_from_joint_values(variant):
    """From the values of independent coordinates and a guess that is off, the closed form comes back."""
    plant, q = built(variant)
    name = next(n for n in sorted(catalogue, key=len, reverse=True) if variant.startswith(n))
    values = {n: q[plant.position_names.index(n)] for n in catalogue[name].study.coordinates}
    rough = plant.integrate(q, 0.05 * np.random.default_rng(1).standard_normal(plant.nv))
    assert np.abs(plant.difference(q, plant.assemble(guess=rough, **values))).max() < 1e-9


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("loader-line", "loader-point"),
        ("loader-line", "loader-revolute"),
        ("three-rrr-line", "three-rrr-point"),
        ("three-rrr-line", "three-rrr-revolute"),
        ("two-arms-weld", "two-arms-planar"),
    ],
)
def test_redundant_rows_change_nothing(a, b):
    (first, q), (second, same) = built(a), built(b)
    assert q.tolist() == same.tolist()
    v, u = admissible_velocity(first, q), 0.3 * first.effort
    expected = forward_dynamics(first, q, v, u)
    assert forward_dynamics(second, q, v, u) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_closed_form_errors_name_the_part():
    with pytest.raises(ValueError, match="link of the loader"):
        loader_configuration(loader(), 0.85, -1.9)
    with pytest.raises(ValueError, match=r"leg1 would have to be 1\.601 m long and can be 0\.9 to 1\.4 m"):
        stewart_configuration(stewart(), (0.0, 0.0, 0.5))
    with pytest.raises(ValueError, match="arm 2 of the 3-RRR"):
        rrr_configuration(three_rrr(), x=-0.4)
    with pytest.raises(ValueError, match="arm1 of the delta"):
        delta_configuration(delta(), 0.0, 0.0, -1.2)
    with pytest.raises(ValueError, match="the left arm cannot reach"):
        arms_configuration(two_arms(), x=0.9)
    with pytest.raises(ValueError, match="three signs"):
        rrr_configuration(three_rrr(), elbows="+*+")
    with pytest.raises(ValueError, match="shoulder, elbow and wrist"):
        two_arms(effort=(1.0, 2.0))
    with pytest.raises(ValueError, match="did you mean 'line'"):
        pin("lime", "a", "b", "c", (0, 0, 0), (0, 0, 0))
    for factory, wrong in ((loader, {"load": -1.0}), (delta, {"joints": "hook"}), (stewart, {"carrier": "tree"})):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            factory(**wrong)
    for factory, wrong in ((three_rrr, {"plane": "tilted"}), (two_arms, {"closure": "glue"})):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            factory(**wrong)
    with pytest.raises(ValueError, match="elbows"):
        arms_configuration(two_arms(), elbows="up")


# -- what they look like -----------------------------------------------------------------------------------------------

SHAPED = ("loader", "excavator", "stewart", "delta", "leg", "biped", "valve-train")


@pytest.mark.parametrize("name", SHAPED)
def test_shapes_change_nothing_of_the_motion(name):
    """To the bit, and in the arrays that kernels take."""
    plant, q, v = catalogue[name].start()
    bare = plant.with_parts(bodies=[dataclasses.replace(body, shapes=()) for body in plant.bodies])
    for one, other in zip(plant.arrays, bare.arrays, strict=True):
        if isinstance(one, np.ndarray):
            assert one.tobytes() == other.tobytes()
    v = v + np.random.default_rng(3).normal(size=plant.nv)
    for key in ("M", "h", "A", "b", "B", "phi"):
        assert getattr(plant.terms(q, v), key).tobytes() == getattr(bare.terms(q, v), key).tobytes()
    assert plant.size == bare.size


# the axes of its shafts are one in the model, and its valve stands beside them
@pytest.mark.parametrize("name", [name for name in SHAPED if name != "valve-train"])
def test_shapes_are_where_their_bodies_are(name):
    """The centre of mass and the joints of a body lie in the box around its shapes, or next to it."""
    plant = catalogue[name].factory()
    for body in (body for body in plant.bodies if body.shapes):
        points = np.concatenate([shape.triangles().vertices for shape in body.shapes])
        low, high = points.min(axis=0), points.max(axis=0)
        assert 0.05 * plant.size < np.linalg.norm(high - low) < 2.0 * plant.size
        near = [body.com, *(joint.frame.p for joint in plant.joints if joint.parent == body.name)]
        near += [joint.child_frame.p for joint in plant.joints if joint.child == body.name]
        for point in near:
            assert np.maximum(low - point, point - high).max() <= 0.15 * plant.size, (body.name, point)


def test_machines_with_shapes():
    machines = {name: catalogue[name].factory() for name in CLAIMS}
    assert {name for name, plant in machines.items() if isinstance(plant, Mechanism)} == set(MECHANISMS)
    assert {name for name in MECHANISMS if any(body.shapes for body in machines[name].bodies)} == set(SHAPED)
    held = loader(load=500.0).bodies[-1]
    assert held.name == "load" and held.shapes[0].size[:2].tolist() == [0.9, 0.7]
