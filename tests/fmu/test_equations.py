"""What FMUs compute at a state, against the kernels and against differences."""

import dataclasses

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import JointMotion, Mechanism, plants

from ..fixtures import CLOSURES, closed_at_random, closure_name, random_state
from ..robustness import machines


def efforts(plant, seed):
    return np.random.default_rng(seed).standard_normal(plant.nu)


def compare(plant, q, v, u, one, digits=1e-9):
    """All outputs at a state against the kernels."""
    terms = plant.terms(q, v)
    a = cmb.forward_dynamics(plant, q, v, u)
    size = max(1.0, np.abs(a).max())
    np.testing.assert_allclose(one.group("q"), q, atol=1e-11 * plant.size)
    np.testing.assert_allclose(one.group("v"), v, atol=1e-10 * max(1.0, np.abs(v).max()))
    np.testing.assert_allclose(one.group("a"), a, atol=digits * size)
    force = terms.B @ u - terms.h - terms.M @ a
    scale = max(1.0, np.abs(terms.h).max(), np.abs(terms.M @ a).max())
    np.testing.assert_allclose(one.group("constraint_force"), force, atol=digits * scale)
    np.testing.assert_allclose(one.group("energy"), [terms.kinetic, terms.potential], rtol=1e-9, atol=digits)
    for body in plant.bodies:
        frame = plant.pose(q, body.name)
        found = one.group(f"frame.{body.name}")
        np.testing.assert_allclose(found, [*frame.p, *frame.R.ravel()], atol=1e-10 * max(1.0, plant.size))
    told = cmb.reactions(plant, q, v, u)
    for joint in told.joint.values:
        expected = np.concatenate([told.force.sel(joint=joint), told.moment.sel(joint=joint)])
        np.testing.assert_allclose(one.group(f"reaction.{joint}"), expected, atol=10 * digits * scale)


@pytest.mark.slow
@pytest.mark.nojit_slow
@pytest.mark.parametrize(
    ("closure", "twice"),
    [*((closure, False) for closure in CLOSURES), *((closure, True) for closure in CLOSURES[1::3])],
    ids=lambda x: closure_name(x) if isinstance(x, tuple) else "doubled" if x else "",
)
def test_outputs_of_random_machines_are_those_of_the_kernels(opened, closure, twice):
    """All joints, all loops, springs, force elements, loads; redundant where the loops are there twice."""
    plant, q, v = closed_at_random(closure, twice=twice)
    u = efforts(plant, 3)
    one = opened(plant, q, v, u=u).begin()
    compare(plant, q, v, u, one)
    n = len(one.made.states)
    assert n == 2 * plant.terms(q, v).dof
    assert one.get("closure")[0] < 1e-10 * max(1.0, plant.size)


def differences(one, names, of, h):
    """Derivatives of outputs by a state or an input, of order eight."""

    def at(step):
        if of in one.made.states:
            x = start.copy()
            x[one.made.states.index(of)] += step
            one.x = x
        else:
            one.set({of: given + step})
        return one.get(names)

    start, given = one.x, one.get(of)[0]
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    found = sum(w * (at(k * h) - at(-k * h)) / h for k, w in enumerate(weights, 1))
    at(0.0)
    return found


@pytest.mark.first(1)
@pytest.mark.nojit_slow
@pytest.mark.parametrize(
    ("closure", "twice"),
    [((0, ()), False), ((3, (cmb.Helical, cmb.PointOnPlane)), True), ((8, (cmb.Weld,)), False)],
    ids=["tree", "Helical+PointOnPlane-doubled", "Weld"],
)
def test_directional_derivatives_are_those_of_the_outputs(opened, closure, twice):
    """By states, efforts and loads, of rates, reactions, constraint forces, frames and energies."""
    plant, q, v = closed_at_random(closure, twice=twice)
    one = opened(plant, q, v, u=efforts(plant, 4), bodies=[plant.bodies[0].name]).begin()
    one.run()
    unknowns = [*(f"der({name})" for name in one.made.states), *one.made.outputs]
    knowns = [*one.made.states, *one.made.inputs]
    found = one.derivatives(unknowns, knowns)
    expected = np.array([differences(one, unknowns, name, 2e-3) for name in knowns]).T
    size = np.abs(expected).max(axis=1, keepdims=True) + 1e-3 * np.abs(expected).max()
    assert (np.abs(found - expected) / size).max() < 1e-6


MACHINES = {
    "five-bar": plants.five_bar,
    "loader": plants.loader,
    "delta": plants.delta,
    "excavator": plants.excavator,
}


@pytest.mark.first(2)
@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", MACHINES)
def test_derivatives_of_rates_are_those_of_the_linear_model(opened, name):
    """A and B about a state with velocity, to 1e-10."""
    plant, q, _ = plants.catalogue[name].start()
    v = plant.project_velocity(q, 0.3 * random_state(plant, 5)[1])
    u = efforts(plant, 6) * plant.force_scale * 0.1
    one = opened(plant, q, v, u=u).begin()
    half = len(one.made.states) // 2
    described = {x.name: x.description for x in one.description.modelVariables}
    coordinates = tuple(described[f"velocity[{i + 1}]"].rpartition("start ")[2] for i in range(half))
    assert coordinates == tuple(described[f"position[{i + 1}]"].rpartition("start ")[2] for i in range(half))
    model = cmb.affine_approximation(
        plant, cmb.OperatingPoint.at(plant, q, u, v), coordinates=coordinates, inputs=plant.actuator_names
    )
    found = one.derivatives([f"der({s})" for s in one.made.states], [*one.made.states, *one.made.inputs[: plant.nu]])
    A, B = found[:, : 2 * half], found[:, 2 * half :]
    assert np.abs(A - model.A).max() < 1e-10 * np.abs(model.A).max()
    assert np.abs(B - model.B).max() < 1e-10 * np.abs(model.B).max()


def test_a_prescribed_motion_is_an_input(opened):
    """Position, velocity and acceleration of a crank move the others as the kernels say."""
    plant = plants.five_bar()
    parts = {"bodies": plant.bodies, "joints": plant.joints, "actuators": plant.actuators, "gravity": plant.gravity}
    driven = Mechanism("driven", loops=[*plant.loops, JointMotion("crank", "left", position=2.1)], **parts)
    q = driven.assemble(left=2.1, right=1.0)
    one = opened(driven, q).begin()
    assert one.made.inputs[-3:] == tuple(f"motion.crank.{kind}" for kind in ("position", "velocity", "acceleration"))
    one.run()
    one.set({"motion.crank.position": 2.0, "motion.crank.velocity": 0.7, "motion.crank.acceleration": -0.4})
    moved = driven.with_motion_values([[2.0, 0.7, -0.4]])
    found = one.group("q"), one.group("v"), one.group("a")
    np.testing.assert_allclose([x[0] for x in found], [2.0, 0.7, -0.4], atol=1e-12)
    np.testing.assert_allclose(found[2], cmb.forward_dynamics(moved, found[0], found[1], np.zeros(2)), atol=1e-9)
    knowns = list(one.made.inputs)
    unknowns = [f"der({name})" for name in one.made.states] + [n for n in one.made.outputs if n[0] in "qva"]
    expected = np.array([differences(one, unknowns, name, 2e-3) for name in knowns]).T
    np.testing.assert_allclose(
        one.derivatives(unknowns, knowns), expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max()
    )


@pytest.mark.smoke
def test_parameters_are_tunable(opened):
    """A heavier, longer link in the FMU is that in the machine, also in event mode."""
    plant = plants.five_bar()
    bodies = [dataclasses.replace(b, mass=7.5) if b.name == "left_lower" else b for b in plant.bodies]
    heavier = Mechanism(
        plant.name, bodies, plant.joints, loops=plant.loops, actuators=plant.actuators, gravity=plant.gravity
    )
    q = plant.assemble(left=2.1, right=1.0)
    one = opened(plant, q)
    name = "parameter.left_lower_mass"
    assert one.made.parameters[name] == plant.bodies[0].mass
    one.set({name: 7.5})
    one.begin()
    compare(heavier, q, np.zeros(4), np.zeros(2), one)
    one.set({name: one.made.parameters[name]})
    compare(plant, q, np.zeros(4), np.zeros(2), one)


@pytest.mark.first(1)
@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", range(4, 16))
def test_machines_that_are_hard(opened, seed):
    """Doubled loops, Bennett, Bricard and Sarrus linkages, rails, parallelograms, in other axes and units."""
    made = machines.machine(seed)
    plant = machines.build(made)
    plant, q = plant if isinstance(plant, tuple) else (plant, np.asarray(made.q, float))
    q, rng = plant.close(q), np.random.default_rng(seed)
    v, u = plant.project_velocity(q, rng.standard_normal(plant.nv)), 0.1 * plant.force_scale * efforts(plant, seed)
    terms, a = plant.terms(q, v), cmb.forward_dynamics(plant, q, v, u)
    one = opened(plant, q, v, u=u, bodies=()).begin()
    assert len([n for n in one.made.states if n.startswith("velocity")]) == terms.dof
    force = terms.B @ u - terms.h - terms.M @ a
    size = np.abs(np.linalg.solve(terms.M, np.diag(np.abs(terms.h) + np.abs(terms.B @ u) + plant.force_scale))).max()
    assert np.abs(one.group("q") - q).max() < 1e-8 * max(1.0, np.abs(q).max())
    assert np.abs(one.group("a") - a).max() < 1e-9 * max(size, np.abs(a).max()) + 1e-15  # nothing acts
    scale = max(np.abs(force).max(), np.abs(terms.h).max(), np.min(plant.force_scale))
    assert np.abs(one.group("constraint_force") - force).max() < 1e-7 * scale + 1e-15
    assert one.get("closure")[0] < 1e-9 * max(1.0, plant.size)
