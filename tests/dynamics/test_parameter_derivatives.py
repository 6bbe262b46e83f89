"""Derivatives by masses, lengths and the like: against differences of machines that are built anew."""

import dataclasses

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Actuator, Coupling, Distance, Frame, Helical, Mechanism, PointSpring, Weld, plants
from cmbcontrol.dynamics import constrained_motion, derivatives, parameters
from cmbcontrol.errors import InputError, InputTypeError, ModelError, RedundantRowsError, SingularConfigurationError
from cmbcontrol.trace import code as trace_code
from tests import fixtures
from tests.fixtures import PARTS, changed_machine, closed_machine, driven_state, slope, sprung_machine, with_field
from tests.robustness import machines

STEP = 2e-3  # leaves 1e-13 of rounding, times the conditioning of the loops, and 1e-20 by order 8, over its 8th power


def step_of(plant, name, parameter):
    """A part of the size, of a radian, or of the number itself."""
    if parameter.unit in ("m", "m/rad"):
        return STEP * plant.size
    if parameter.unit == "rad":
        return STEP
    if name.startswith("armature_"):
        smallest = min(b.mass for b in plant.bodies if b.mass > 0.0)
        return 0.1 * STEP * smallest * (plant.size**2 if parameter.unit == "kg m2" else 1.0)
    if parameter.unit == "kg m2":
        own = next(b.inertia.trace() for b in plant.bodies if name.startswith(f"{b.name}_inertia"))
        return STEP * (own or sum(b.mass for b in plant.bodies) * plant.size**2)
    if parameter.value == 0.0 and parameter.unit.startswith("N"):  # in forces, dampers and springs all is linear
        return plant.force_scale * plant.size or 1.0
    return STEP * (abs(parameter.value) or 1.0)


def errors(plant, q, v, u, names=None, judged=None):
    """Derivatives, and how far each column is from differences: over its size, and that of what changes.

    All in metres, and the numbers in sizes of the machine, radians, or in parts of themselves.
    """
    found = cmb.parameter_derivatives(plant, q, v, u, parameters=names)
    known = parameters(plant)
    assert found.names == (tuple(known) if names is None else tuple(names))
    reach, scale = plant.unit_lengths, plant.row_scale
    weights = np.concatenate([reach, 1.0 / scale, 1.0 / reach, scale, scale, scale])
    parts = np.cumsum([0, *map(len, (reach, scale, reach, scale, scale, scale))])

    def at(name, s):
        machine = changed_machine(plant, name, s)
        terms = machine.terms(q, v)
        motion = constrained_motion(terms, terms.B @ u)
        force = terms.M @ found.a + terms.h + terms.A.T @ found.lam - terms.B @ u
        told = motion.vdot, motion.multipliers, force, terms.A @ found.a + terms.b, terms.phi, terms.A @ v
        return weights * np.concatenate(told)

    worst = {}
    columns = np.concatenate([found.a_p, found.lam_p, found.force_p, found.accel_p, found.phi_p, found.rate_p])
    f = plant.terms(q, v)
    sizes = [np.abs(reach * found.a).max(initial=0.0) + np.linalg.norm(plant.gravity), 0.0, 0.0]
    sizes[1] = sizes[2] = np.abs(f.h / reach).max(initial=0.0) + np.abs(found.lam / scale).max(initial=0.0)
    sizes += [np.abs(scale * f.b).max(initial=0.0) + sizes[0], plant.size, np.abs(reach * v).max(initial=0.0)]
    for k, name in enumerate(found.names):
        if found.exists[k] and (judged is None or name in judged):
            step = step_of(plant, name, known[name])
            apart = np.abs(weights * columns[:, k] - slope(lambda s, name=name: at(name, s), step))
            for i, size in enumerate(sizes):
                part = slice(*parts[i : i + 2])
                if "_axis_turn_" in name and i not in (0, 4):
                    continue  # rows across a line may be any two, and are chosen anew
                whole = np.abs(weights * columns[:, k])[part].max(initial=0.0) + size / (step / STEP)
                if whole:
                    worst[name, i] = apart[part].max(initial=0.0) / whole
    return found, worst


def check(plant, q, v, u, names=None, accuracy=1e-10, judged=None):
    found, worst = errors(plant, q, v, u, names, judged)
    too_far = {key: x for key, x in worst.items() if not x <= accuracy}
    assert not too_far
    return found


def some(plant, count, seed=0):
    """Names of some parameters: of all kinds that there are, as chance has it."""
    return np.random.default_rng(seed).choice(list(parameters(plant)), count, replace=False).tolist()


@pytest.mark.slow
def test_every_number_of_the_five_bar():
    plant = plants.five_bar()
    q, v, u = driven_state(plant, plant.assemble(left=2.1, right=1.0), 0)
    assert check(plant, q, v, u).exists.all()


@pytest.mark.parametrize("name", ["loader", "stewart", "delta", "governor", "andrews", "bricard"])
@pytest.mark.first(1)
def test_machines_of_the_catalogue(name):
    plant = plants.catalogue[name].factory()
    away = 0.3 * np.random.default_rng(1).standard_normal(plant.nv) * plant.size / plant.unit_lengths
    q, v, u = driven_state(plant, plant.close(plant.integrate(plant.neutral(), away)), 0)
    motors = [f"motor_{motor}_gear" for motor in plant.actuator_names]
    names = list(dict.fromkeys([*motors, *some(plant, 20)]))
    if name == "bricard":  # a change of its lengths locks it
        names = [n for n in parameters(plant) if n.endswith("_mass") or "_com_" in n or "_inertia_" in n]
    check(plant, q, v, u, names, accuracy=1e-9)


@pytest.mark.parametrize("closure", fixtures.CLOSURES, ids=fixtures.closure_name)
@pytest.mark.slow
def test_springs_dampers_and_all_loops(closure):
    plant, q = sprung_machine(*closure)
    check(plant, *driven_state(plant, q, 1), some(plant, 12), accuracy=1e-9)


@pytest.mark.parametrize("closure", fixtures.CLOSURES[1:8], ids=fixtures.closure_name)
def test_redundant_rows(closure):
    """Loops that are there twice. Their own lengths and turns have derivatives where both agree as before."""
    plant, q = sprung_machine(*closure, twice=True)
    q, v, u = driven_state(plant, q, 1)
    shared = [n for n in parameters(plant) if not n.startswith("loop")]
    names = np.random.default_rng(0).choice(shared, 4, replace=False).tolist()
    assert check(plant, q, v, u, names, accuracy=1e-9).exists.all()


@pytest.mark.slow
def test_where_redundant_rows_disagree_there_is_no_derivative():
    plant, q = sprung_machine(1, (cmb.Revolute,), twice=True)
    q, v, u = driven_state(plant, q, 1)
    loops = [n for n in parameters(plant) if n.startswith("loop")]
    with pytest.raises(RedundantRowsError, match=r"has 10 rows of rank 5 .* 'loop0_child_x', .* and 6 more makes"):
        cmb.parameter_derivatives(plant, q, v, u, parameters=loops)
    found = cmb.parameter_derivatives(plant, q, v, u)
    assert 0 < found.exists.sum() < len(found.names)
    assert np.isnan(found.lam_p[:, ~found.exists]).all()
    assert np.isfinite(found.force_p).all()
    before = plant.terms(q, v)
    for name in np.array(found.names)[~found.exists]:
        terms = changed_machine(plant, name, 1e-4).terms(q, v)
        motion = constrained_motion(terms, terms.B @ u)
        assert terms.rank > before.rank or np.abs(terms.A @ motion.vdot + terms.b).max() > 1e-6, name
    check(plant, q, v, u, [n for n, there in zip(found.names, found.exists, strict=True) if there and n in loops])


@pytest.mark.parametrize("away", [0.0, 1e-6, 1e-3])
def test_at_and_beside_a_singular_configuration(away):
    """Parallel bars in line. By masses there are derivatives as anywhere; by lengths there are none in it."""
    plant = plants.catalogue["n-four-bar"].factory()
    q = plant.close(plant.integrate(plant.neutral(), away * np.array([0.0, 1.0, 1.0, -1.0, 1.0])))
    v = plant.project_velocity(q, np.array([0.3, 0.2, 0.5, 0.1, 0.7]))
    names = [n for n in parameters(plant) if n.endswith("_mass") or "_com_" in n or "damping" in n or "gravity" in n]
    check(plant, q, v, np.zeros(plant.nu), names, accuracy=1e-8)
    if away:
        assert cmb.parameter_derivatives(plant, q, v).exists.all()
    else:
        with pytest.raises(
            SingularConfigurationError, match=r"rows have rank 2, and 4 beside it, where .* 'bar1_frame_y'"
        ):
            cmb.parameter_derivatives(plant, q, v, parameters=["gravity_x", "bar1_frame_y"])


@pytest.mark.parametrize("kind", [cmb.Revolute, cmb.Prismatic])
def test_motors_across_cut_joints_and_open_loops(kind):
    parts = fixtures.tree_parts(3, bodies=6, damped=True)
    idle, q = fixtures.close_parts(parts, 3, (kind,))
    motors = [*fixtures.actuators(parts, 3), Actuator("loop0", gear=1.7)]
    plant = Mechanism(**parts, loops=idle.loops, actuators=motors)
    q, v, u = driven_state(plant, q, 0)
    q = fixtures.nudge(plant, q, 0.1)
    names = [n for n in parameters(plant) if n.startswith(("motor_", "loop0_frame"))]
    check(plant, q, v, u, [*names, *(n for n in some(plant, 8) if n not in names)], accuracy=1e-9)


def test_a_cylinder_at_its_dead_centre():
    """It pushes through the axis of the crank: no torque, and one as soon as its mount is beside."""
    bodies = [cmb.Body.rod(name, 1.0, 1.0) for name in ("crank", "barrel", "rod")]
    joints = [
        cmb.Revolute("pivot", "ground", "crank"),
        cmb.Revolute("mount", "ground", "barrel", frame=Frame((-2.0, 0.0, 0.0))),
        cmb.Revolute("pin", "crank", "rod", frame=Frame((1.0, 0.0, 0.0))),
    ]
    slide = cmb.Prismatic("slide", "barrel", "rod", axis=(1, 0, 0))
    plant = Mechanism("press", bodies, joints, [slide], actuators=[Actuator("slide")], gravity=(0, -9.81, 0))
    q = np.zeros(3)
    assert not plant.terms(q, q).B.any()
    found = check(plant, q, q, np.array([100.0]), ["mount_frame_y", "pin_frame_y", "motor_slide_gear", "crank_mass"])
    assert np.abs(found.force_p[:, 0]).max() == pytest.approx(100.0)


@pytest.mark.parametrize("seed", [2, 10, 24])
@pytest.mark.first(3)
def test_random_machines_in_odd_units(seed):
    data = machines.machine(seed)
    plant = machines.build(data)
    q, v, u = driven_state(plant, plant.close(data.q), seed)
    found = cmb.parameter_derivatives(plant, q, v, u)
    there = [n for n, x in zip(found.names, found.exists, strict=True) if x]
    check(plant, q, v, u, np.random.default_rng(seed).choice(there, 10, replace=False).tolist(), accuracy=1e-8)


def test_lengths_in_other_units():
    """In millimetres and grams the derivatives by lengths are the same accelerations a thousand times as long."""
    plant = plants.five_bar()
    q, v, u = driven_state(plant, plant.assemble(left=2.1, right=1.0), 0)

    def small(part):
        fields = {"com": 1e3, "point_a": 1e3, "point_b": 1e3, "mass": 1e3, "inertia": 1e9}
        made = with_field(part, **{key: x * getattr(part, key) for key, x in fields.items() if hasattr(part, key)})
        frames = {key: getattr(part, key) for key in ("frame", "child_frame") if hasattr(part, key)}
        return with_field(made, **{key: Frame(1e3 * frame.p, frame.R) for key, frame in frames.items()})

    given = {key: [small(part) for part in getattr(plant, key)] for key in PARTS}
    other = Mechanism(plant.name, **given, gravity=1e3 * plant.gravity)
    found = cmb.parameter_derivatives(plant, q, v, u)
    theirs = cmb.parameter_derivatives(other, q, v, 1e9 * u)
    factor = {"m": 1e3, "kg": 1e3, "kg m2": 1e9, "m/s2": 1e3, "N m s/rad": 1e9}
    by_unit = np.array([factor.get(unit, 1.0) for unit in found.units])
    np.testing.assert_allclose(theirs.a_p * by_unit, found.a_p, rtol=1e-9, atol=1e-12 * np.abs(found.a_p).max())


def test_numbers_that_are_zero_or_one_have_derivatives():
    plant = plants.five_bar()  # without friction, geared one to one
    q, v, u = driven_state(plant, plant.assemble(left=2.1, right=1.0), 0)
    found = cmb.parameter_derivatives(plant, q, v, u, parameters=["damping_left", "motor_left_gear"])
    terms = plant.terms(q, v)
    inverse = terms.Z @ np.linalg.solve(terms.Z.T @ terms.M @ terms.Z, terms.Z.T)
    assert found.values.tolist() == [0.0, 1.0]
    np.testing.assert_allclose(found.a_p, np.stack([-inverse[:, 0] * v[0], inverse[:, 0] * u[0]], axis=1), rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_forces_are_linear_in_masses_and_inertias(seed):
    """M a + h of a machine without springs is the regressor times these; of a tree, this is all of B u."""
    plant = fixtures.random_tree(seed)
    q, v = fixtures.random_state(plant, seed)
    found = cmb.parameter_derivatives(plant, q, v)
    inertial = np.array([n.endswith("_mass") or "_inertia_" in n for n in found.names])
    terms = plant.terms(q, v)
    force = terms.M @ found.a + terms.h
    assert np.abs(force).max() < 1e-10 * np.abs(terms.h).max()
    told = found.force_p[:, inertial] * found.values[inertial]
    assert np.abs(told.sum(axis=1)).max() < 1e-12 * np.abs(told).max()


def test_the_motion_of_a_changed_machine_with_closed_loops():
    """Accelerations by a length, of the machine that is closed again: by the rest of the derivatives."""
    plant = plants.five_bar()
    q, v, u = driven_state(plant, plant.assemble(left=2.1, right=1.0), 0)
    name = "elbow_left_frame_x"
    found = cmb.parameter_derivatives(plant, q, v, u, parameters=[name])
    here = derivatives(plant, q, v, u)
    A_plus = np.linalg.pinv(here.A)
    delta = -A_plus @ found.phi_p
    dv = -A_plus @ (found.rate_p + here.rate_q @ delta)
    force = found.force_p + here.force_q @ delta + here.force_v @ dv
    accel = found.accel_p + here.accel_q @ delta + here.accel_v @ dv

    def at(s):
        machine = changed_machine(plant, name, s)
        there = q + s * delta[:, 0]
        for _ in range(5):
            there = there - A_plus @ machine.residual(there)
        moved = v + s * dv[:, 0]
        terms = machine.terms(there, moved)
        moved = moved - A_plus @ np.linalg.solve(terms.A @ A_plus, terms.A @ moved)
        terms = machine.terms(there, moved)
        assert np.abs(terms.phi).max() < 1e-14 and np.abs(terms.A @ moved).max() < 1e-13
        return constrained_motion(terms, terms.B @ u).vdot

    np.testing.assert_allclose(here.acceleration(-force, accel)[:, 0], slope(at, 1e-3), rtol=1e-8)


def test_a_machine_without_a_loop():
    plant = plants.five_bar().without("tip")
    q, v, u = driven_state(plant, plant.neutral(), 0)
    found = cmb.parameter_derivatives(plant, q, v, u)
    assert not any(n.startswith("tip") for n in found.names)
    assert found.lam_p.shape == (0, len(found.names))
    free = Mechanism(plant.name, plant.bodies, plant.joints, (), plant.springs, plant.actuators, plant.gravity)
    np.testing.assert_allclose(found.a_p, cmb.parameter_derivatives(free, q, v, u).a_p, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [(cmb.Revolute,), (Helical, cmb.PointOnPlane), (Coupling, Distance)])
def test_without_code(kind, monkeypatch):
    """In Python the same, evaluated by the graph."""
    plant, q = sprung_machine(4, kind)
    state = driven_state(plant, q, 1)
    names = some(plant, 15)
    compiled = cmb.parameter_derivatives(plant, *state, parameters=names)
    monkeypatch.setattr(trace_code, "enabled", lambda: False)
    plain = cmb.parameter_derivatives(plant, *state, parameters=names)
    for key in ("a_p", "lam_p", "force_p", "accel_p", "phi_p", "rate_p"):
        mine, other = getattr(plain, key), getattr(compiled, key)
        np.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-12 * (1.0 + np.abs(other).max(initial=0.0)))


def test_welds_and_coefficients():
    """What no machine of the catalogue has: frames of a weld, coefficients of a coupling."""
    plant, q = closed_machine(4, (Weld, Coupling))
    names = [n for n in parameters(plant) if n.startswith("loop")]
    assert {"loop0_frame_a_x", "loop0_frame_b_turn_z", "loop1_offset"} <= set(names)
    check(plant, *driven_state(plant, q, 0), names, accuracy=1e-9)


def test_refusals():
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    with pytest.raises(InputError, match=r"there is no parameter 'left_lower_mas'; did you mean 'left_lower_mass'"):
        cmb.parameter_derivatives(plant, q, np.zeros(4), parameters=["left_lower_mas"])
    with pytest.raises(InputTypeError, match="parameters must be a sequence of names"):
        cmb.parameter_derivatives(plant, q, np.zeros(4), parameters="left_lower_mass")
    function = plants.particle_on_circle()
    with pytest.raises(InputTypeError, match="is a FunctionPlant: only a Mechanism is described by masses and lengths"):
        cmb.parameter_derivatives(function, function.neutral(), np.zeros(function.nv))
    given = {key: getattr(plant, key) for key in PARTS} | {"gravity": plant.gravity}
    slack = PointSpring("slack", "ground", "left_lower", damping=1.0)
    loose = Mechanism("slack", **given | {"springs": [slack]})
    with pytest.raises(ModelError, match="has a point spring length zero"):
        cmb.parameter_derivatives(loose, q, np.zeros(4))


def test_names_that_are_taken():
    plant = plants.five_bar()
    given = {key: getattr(plant, key) for key in PARTS} | {"gravity": plant.gravity}
    line = dataclasses.replace(plant.loops[0], name="spring_soft")
    soft = PointSpring("soft", "ground", "left_upper")
    with pytest.raises(ModelError, match="two of its numbers would be called 'spring_soft_point_a_x'; rename one"):
        parameters(Mechanism("twins", **given | {"loops": [line], "springs": [soft]}))
