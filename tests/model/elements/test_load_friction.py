"""Friction in proportion to loads: against the equations written out, closed forms, differences of order 8."""

import dataclasses

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cmbcontrol as cmb
from cmbcontrol import (
    Actuator,
    Body,
    Coupling,
    Frame,
    GearFriction,
    Mechanism,
    PinFriction,
    Point,
    PointOnPlane,
    Prismatic,
    Revolute,
    SlidingFriction,
    plants,
)
from cmbcontrol.characteristics import Friction
from cmbcontrol.codegen import export
from cmbcontrol.controllers import (
    ConstrainedActuation,
    ConstraintForcePI,
    Coordinates,
    HybridMotionForce,
    MotionLaw,
    PassiveJoints,
    ProjectedInverseDynamics,
    WithModel,
)
from cmbcontrol.controllers.traced import law_code
from cmbcontrol.dynamics import acceleration_derivatives, derivatives, parameters
from cmbcontrol.errors import PainleveError, Status
from cmbcontrol.kernels import friction as kernels
from cmbcontrol.kernels import reduction
from cmbcontrol.linear import reduced_model
from cmbcontrol.linear.reduced import constant_rows, reduce
from cmbcontrol.model.elements import DirectedFriction
from cmbcontrol.papers.formulations import NamedFormulation
from tests import seeds
from tests.fixtures import admissible_state, changed_machine, close_parts, largest, refuses, slope, tree_parts

G = 9.81

# Kinds of loops of random machines, and the seeds of their trees: a plane to slide on, a pin, both.
RUBBING = [(3, (PointOnPlane,)), (1, (Revolute,)), (4, (PointOnPlane, Revolute)), (11, (PointOnPlane, PointOnPlane))]


def rubbing_machine(case):
    """A closed random machine with friction in all its loops, at a state with velocity."""
    seed, kinds = case
    parts = tree_parts(seed, bodies=7)
    plant, q = close_parts(parts, seed, kinds)
    forces = []
    for loop in plant.loops:
        law = Friction(0.25, static=0.4, transition_rate=0.3, stribeck_rate=0.8)
        if isinstance(loop, PointOnPlane):
            forces.append(SlidingFriction(f"friction_{loop.name}", loop.name, law))
        else:
            forces.append(PinFriction(f"friction_{loop.name}", loop.name, law, radius=2.0))
    joints = [j.name for j in plant.joints if isinstance(j, (Revolute, Prismatic))]
    plant = plant.with_parts(forces=forces, actuators=[Actuator(n) for n in joints])
    q, v = admissible_state(plant, q, seed)
    return plant, q, v, np.random.default_rng([seed, 8]).uniform(-2.0, 2.0, plant.nu)


every_case = pytest.mark.parametrize("case", RUBBING, ids=lambda case: "+".join(k.__name__ for k in case[1]))


def surface_speeds(plant, q, v):
    """Of each friction: its sliding velocities as a function of the state, by differences of positions."""
    found = []
    for force in plant.forces:
        loop = next(x for x in plant.loops if x.name == force.on)

        def seen(at, loop=loop):
            if isinstance(loop, PointOnPlane):
                A, B = plant.pose(at, loop.a), plant.pose(at, loop.b)
                return A.R.T @ (B.p + B.R @ loop.point_b - A.p)
            A, B = plant.pose(at, loop.parent), plant.pose(at, loop.child)
            return ((A @ loop.frame).R.T @ (B @ loop.child_frame).R).ravel()

        J = np.array([slope(lambda s, e=e: seen(plant.integrate(q, s * e)), 1e-2) for e in np.eye(plant.nv)]).T
        if isinstance(loop, PointOnPlane):
            across = np.eye(3) - np.outer(loop.normal, loop.normal)
            found.append((across @ J, across @ J @ v, lambda lam: abs(lam[0])))
        else:  # rate of the angle about the axis: the vector of R'R'
            axis, R = np.asarray(loop.axis), seen(q).reshape(3, 3)
            turn = []
            for column in J.T:
                W = column.reshape(3, 3) @ R.T
                turn.append(axis @ np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2.0)
            row = force.radius * np.array([turn])
            found.append((row, row @ v, lambda lam: np.hypot(lam[0], lam[1])))
    return found


def by_fixed_point(plant, q, v, u):
    """Acceleration and multipliers: the friction of the last loads acts, until nothing changes."""
    terms = plant.terms(q, v)
    n, rows = terms.A.shape[1], terms.A.shape[0]
    K = np.block([[terms.M, terms.A.T], [terms.A, np.zeros((rows, rows))]])
    speeds, lam = surface_speeds(plant, q, v), np.zeros(rows)
    for _ in range(200):
        rubbed = np.zeros(n)
        for force, (J, s, load) in zip(plant.forces, speeds, strict=True):
            law, speed = force.characteristic, np.linalg.norm(s)
            mu = law.coulomb + (law.static - law.coulomb) * np.exp(-((speed / law.stribeck_rate) ** 2))
            own = lam[plant.row_slices[force.on]]
            rubbed += J.T @ (s / speed) * mu * np.tanh(speed / law.transition_rate) * load(own)
        x = np.linalg.solve(K, np.concatenate([terms.B @ u - terms.h - rubbed, -terms.b]))
        if np.abs(x[n:] - lam).max() < 1e-14 * np.abs(lam).max():
            break
        lam = x[n:]
    return x[:n], lam


@every_case
@pytest.mark.parametrize("code", ["generated", "kernels"])
def test_accelerations_are_those_of_the_equations(case, code, monkeypatch):
    """By kernels, generated code and the functions of terms; forces on constraints with them."""
    monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", code)
    plant, q, v, u = rubbing_machine(case)
    a, lam = by_fixed_point(plant, q, v, u)
    plain = cmb.forward_dynamics(plant.with_parts(forces=()), q, v, u)
    scale = largest(a)
    assert largest(plain - a) > 1e-3 * scale  # friction does something
    np.testing.assert_allclose(cmb.forward_dynamics(plant, q, v, u), a, atol=1e-9 * scale)
    terms = plant.terms(q, v)
    found = cmb.dynamics.constrained_motion(terms, terms.B @ u)
    np.testing.assert_allclose(found.vdot, a, atol=1e-9 * scale)
    np.testing.assert_allclose(found.multipliers, lam, atol=1e-9 * largest(lam))
    of_loops = cmb.constraint_force(plant, q, v, u)
    np.testing.assert_allclose(of_loops.multipliers, lam, atol=1e-9 * largest(lam))
    np.testing.assert_allclose(of_loops.force, terms.A.T @ lam, atol=1e-9 * largest(terms.A.T @ lam))


def moved(plant, q, v, Z, y, rates):
    """A state beside another one, on the manifold."""
    there = plant.close(plant.integrate(q, Z @ y))
    return there, plant.project_velocity(there, v + Z @ rates)


@every_case
def test_derivatives_at_states_with_velocity(case):
    plant, q, v, u = rubbing_machine(case)
    here, found = derivatives(plant, q, v, u), acceleration_derivatives(plant, q, v, u)
    Z, none = here.Z, np.zeros(here.Z.shape[1])
    scale = max(largest(found.a_q), largest(found.a_v), largest(found.lam_q))
    for e in np.eye(len(none)):
        for y, rates in ((e, none), (none, e)):

            def at(s, y=y, rates=rates):
                return moved(plant, q, v, Z, s * y, s * rates)

            dq, dv = slope(lambda s: plant.difference(q, at(s)[0]), 1e-3), slope(lambda s: at(s)[1], 1e-3)
            a = slope(lambda s: cmb.forward_dynamics(plant, *at(s), u), 1e-3)
            lam = slope(lambda s: cmb.constraint_force(plant, *at(s), u).multipliers, 1e-3)
            np.testing.assert_allclose(found.a_q @ dq + found.a_v @ dv, a, atol=1e-7 * scale)
            np.testing.assert_allclose(found.lam_q @ dq + found.lam_v @ dv, lam, atol=1e-7 * scale)
    for k, e in enumerate(np.eye(plant.nu)):
        a = slope(lambda s, e=e: cmb.forward_dynamics(plant, q, v, u + s * e), 1e-2)
        np.testing.assert_allclose(found.a_u[:, k], a, atol=1e-8 * max(largest(a), 1.0))


@every_case
@pytest.mark.first(1)
def test_linear_models_agree_three_ways(case):
    """Generated code, kernels, and the reduction of the derivatives, which differences have judged above."""
    plant, q, v, u = rubbing_machine(case)
    here = derivatives(plant, q, v, u)
    picked = []
    for i in range(plant.nv):
        rows = np.eye(plant.nv)[[*picked, i]]
        if len(picked) < here.Z.shape[1] and np.linalg.matrix_rank(rows @ here.Z, 0.05) == len(rows):
            picked.append(i)
    if len(picked) < here.Z.shape[1]:
        pytest.skip("no coordinates of the machine are far from dependent")
    R = np.eye(plant.nv)[picked]
    known = reduce(plant, here, constant_rows(R))
    code = reduced_model(plant, q, v, u, R)
    A, B, *_ = reduction.state_space(plant.arrays, q, v, u, R, -0.5, 1e-10, plant.nv)
    scale = largest(known.A)
    for found in (code.A, A):
        np.testing.assert_allclose(found, known.A, atol=1e-9 * scale)
    for found in (code.B, B):
        np.testing.assert_allclose(found, known.B, atol=1e-9 * largest(known.B))
    p = len(picked)
    pushed = R @ acceleration_derivatives(plant, q, v, u).a_u
    np.testing.assert_allclose(known.B[p:], pushed, atol=1e-9 * largest(pushed))


@every_case
@pytest.mark.first(1)
def test_derivatives_by_coefficients_and_places(case):
    """Of coefficients, radii, and where the constraint is, with which friction moves: against machines built anew."""
    plant, q, v, u = rubbing_machine(case)
    names = [n for n in parameters(plant) if n.startswith(("loop", "force_"))]
    assert any(n.endswith("coulomb") for n in names) and any("turn" in n for n in names)
    found = cmb.parameter_derivatives(plant, q, v, u, parameters=names)
    scale = [largest(found.a_p), largest(found.lam_p)]
    for k, name in enumerate(names):

        def at(s, name=name):
            machine = changed_machine(plant, name, s)
            terms = machine.terms(q, v)
            motion = cmb.dynamics.constrained_motion(terms, terms.B @ u)
            return np.concatenate([motion.vdot / scale[0], motion.multipliers / scale[1]])

        own = np.concatenate([found.a_p[:, k] / scale[0], found.lam_p[:, k] / scale[1]])
        np.testing.assert_allclose(own, slope(at, 1e-3), atol=1e-7, err_msg=name)


@every_case
def test_forces_as_outputs_of_affine_models(case):
    """Multipliers and the constraint force, by states and inputs, against differences along the manifold."""
    plant, q, v, u = rubbing_machine(case)
    if not plant.nu:
        pytest.skip("no motor")
    point = cmb.OperatingPoint.at(plant, q, u, v)
    rows = list(dict.fromkeys([plant.row_names[0], plant.row_names[-1]]))
    model = cmb.affine_approximation(plant, point, outputs=[*rows, "constraint_force"])
    index = [plant.row_names.index(name) for name in rows]
    for k, e in enumerate(np.eye(plant.nu)):

        def forces(s, e=e):
            found = cmb.constraint_force(plant, q, v, u + s * e)
            return np.concatenate([found.multipliers[index], found.force])

        by_input = slope(forces, 1e-2)
        np.testing.assert_allclose(model.D[:, k], by_input, atol=1e-8 * max(1.0, largest(by_input)))
    # at a fixed configuration the rates y_v move v by K y_v
    for k in range(model.dof):

        def moving(s, k=k):
            found = cmb.constraint_force(plant, q, v + s * model.K[:, k], u)
            return np.concatenate([found.multipliers[index], found.force])

        by_rate = slope(moving, 1e-3)
        np.testing.assert_allclose(model.C[:, model.dof + k], by_rate, atol=1e-7 * max(1.0, largest(by_rate)))


@every_case
def test_energy_goes_into_friction(case):
    plant, q, v, u = rubbing_machine(case)
    run = cmb.simulate(plant, u, q, v, t_end=0.4, limits="ignore")
    work = run.data.dissipated_work.values
    assert work[-1] > 1e-3 and np.all(np.diff(work) > 0.0)
    scale = float(np.abs(run.data.energy).max() + work[-1] + np.abs(run.data.actuator_work).max())
    assert run.max_energy_error < 1e-8 * scale


def wedge(mu, angle):
    """A block on a plane that is inclined, held on it; forces along x, and across it by a motor."""
    turn = Frame.turned((0, -1, 0), angle)
    joints = [
        Prismatic("x", "ground", "rail", frame=turn, axis=(1, 0, 0)),
        Prismatic("z", "rail", "block", axis=(0, 0, 1)),
    ]
    floor = PointOnPlane("floor", "ground", "block", normal=turn.R[:, 2])
    friction = SlidingFriction("drag", "floor", Friction(mu, transition_rate=1e-6))
    bodies, motor = [Body("rail"), Body("block", 2.0)], Actuator("z")
    return Mechanism("wedge", bodies, joints, [floor], actuators=[motor], forces=[friction])


@pytest.mark.parametrize("push", [0.0, -30.0, 100.0], ids=["weight", "pressed", "lifted, held from above"])
def test_a_block_on_an_incline(push):
    """g (sin - mu cos), with what else presses or lifts it."""
    mu, angle = 0.3, 0.5
    plant = wedge(mu, angle)
    load = abs(2.0 * G * np.cos(angle) - push)
    expected = -G * np.sin(angle) - mu * load / 2.0
    a = cmb.forward_dynamics(plant, [0.0, 0.0], [1.0, 0.0], [push])
    assert a == pytest.approx([expected, 0.0], rel=1e-10)
    down = cmb.forward_dynamics(plant, [0.0, 0.0], [-1.0, 0.0], [push])
    assert down == pytest.approx([-G * np.sin(angle) + mu * load / 2.0, 0.0], rel=1e-10)


def test_a_pin_slows_a_pendulum():
    """Energy over a swing: the integral of mu r |pin force| over the angle, which follows from the speed there."""
    mu, r, m, L = 0.2, 0.05, 2.0, 0.6
    body = Body("bob", m, (0.0, 0.0, 0.0), (1e-6, 1e-6, 1e-6))
    joints = [
        Prismatic("x", "ground", "c", axis=(1, 0, 0)),
        Prismatic("z", "c", "d", axis=(0, 0, 1)),
        Revolute("t", "d", "bob", axis=(0, 1, 0)),
    ]
    pin = Revolute("pin", "ground", "bob", axis=(0, 1, 0), child_frame=Frame((0.0, 0.0, L)))
    friction = PinFriction("rub", "pin", Friction(mu, transition_rate=1e-7), radius=r)
    plant = Mechanism("pendulum", [Body("c"), Body("d"), body], joints, [pin], forces=[friction])
    # turned by the angle t about y, the bob is L below the pin: x = -L sin t, z = -L cos t
    rate = 4.0
    run = cmb.simulate(plant, None, [0.0, -L, 0.0], [-L * rate, 0.0, rate], t_end=0.2)
    inertia = m * L**2 + 1e-6

    def slowed(t, x):
        """Torque -m g L sin - mu r N about the pin; the bob needs N, which depends on the torque."""
        angle, speed = x
        spin = 0.0
        for _ in range(100):
            load = m * np.hypot(L * speed**2 + G * np.cos(angle), L * spin + G * np.sin(angle))
            spin = (-m * G * L * np.sin(angle) - mu * r * load) / inertia
        return [speed, spin]

    times = run.time[::50]
    solution = solve_ivp(slowed, (0.0, times[-1]), [0.0, rate], "DOP853", times, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(run.q.values[::50, 2], solution.y[0], atol=1e-9)
    np.testing.assert_allclose(run.v.values[::50, 2], solution.y[1], atol=1e-8)
    assert run.max_energy_error < 1e-9


def test_pins_of_the_tree():
    """The force of a pin as multipliers: that of `reactions`; motion as before; friction as of the cut pin."""
    plant = plants.five_bar(closure="revolute")
    q, v, u = plant.assemble(left=2.1, right=1.0), np.array([0.4, 0.3, -0.2, 0.5]), np.array([3.0, -2.0])
    v = plant.project_velocity(q, v)
    opened = plant.with_pin_forces("left", "elbow_left")
    more = np.zeros(4)
    Q, V = np.concatenate([q, more]), np.concatenate([v, more])
    a = cmb.forward_dynamics(plant, q, v, u)
    np.testing.assert_allclose(cmb.forward_dynamics(opened, Q, V, u), np.concatenate([a, more]), atol=1e-11)
    lam = cmb.constraint_force(opened, Q, V, u).multipliers
    carried = cmb.reactions(plant, q, v, u).force
    for joint in ("left", "elbow_left"):
        rows = [opened.row_names.index(f"{joint}_pin_{x}_held") for x in "xy"]
        assert np.hypot(*lam[rows]) == pytest.approx(float(np.hypot(*carried.sel(joint=joint)[:2])), rel=1e-10)
    # a pendulum by its pin of the tree, and by a cut one
    body = Body("bob", 2.0, (0.0, 0.0, -0.6), (0.02, 0.03, 0.02))
    tree = Mechanism("pendulum", [body], [Revolute("pin", "ground", "bob", axis=(0, 1, 0))])
    rub = PinFriction("rub", "pin", Friction(0.3, transition_rate=0.01), radius=0.05)
    by_rows = tree.with_pin_forces("pin").with_parts(forces=[rub])
    joints = [
        Prismatic("x", "ground", "c", axis=(1, 0, 0)),
        Prismatic("z", "c", "d", axis=(0, 0, 1)),
        Revolute("turn", "d", "bob", axis=(0, 1, 0)),
    ]
    cut = Mechanism("cut", [Body("c"), Body("d"), body], joints, [Revolute("pin", "ground", "bob", axis=(0, 1, 0))])
    one = cmb.simulate(by_rows, None, [1.2, 0.0, 0.0], t_end=2.0)
    other = cmb.simulate(cut.with_parts(forces=[rub]), None, [0.0, 0.0, 1.2], t_end=2.0)
    np.testing.assert_allclose(one.q.values[:, 0], other.q.values[:, 2], atol=1e-7)
    assert one.max_energy_error < 1e-8 and one.data.dissipated_work.values[-1] > 0.5
    refuses(lambda: tree.with_parts(forces=[rub]), "'rub'", "'pin'", "with_pin_forces")
    refuses(lambda: cut.with_pin_forces("x"), "'x'", "Prismatic")
    refuses(lambda: cut.with_pin_forces("pin"), "'pin'", kind=ValueError)


def gear(efficiency, transition=1e-6):
    """A motor of 0.02 kg m2 on a gear of 5 that takes its part, and 1.5 kg m2 behind it."""
    shafts = [Body("fast", 1.0, inertia=(0.02,) * 3), Body("slow", 1.0, inertia=(1.5,) * 3)]
    joints = [Revolute("in", "ground", "fast", axis=(0, 0, 1)), Revolute("out", "ground", "slow", axis=(0, 0, 1))]
    mesh = GearFriction("mesh", "gear", efficiency=efficiency, transition_rate=transition)
    drives = [Actuator("in"), Actuator("out")]
    wheels = Coupling("gear", {"in": 1.0, "out": -5.0})
    return Mechanism("gear", shafts, joints, [wheels], actuators=drives, forces=[mesh], gravity=(0, 0, 0))


@pytest.mark.parametrize("efficiency", [0.9, 0.6])
def test_a_gear_takes_its_part_of_the_power(efficiency):
    """Forwards what it says, backwards 2 - 1 / efficiency; accelerations from the torques of both shafts."""
    ratio, motor, load = 5.0, 0.02, 1.5
    plant = gear(efficiency)
    v = np.array([ratio, 1.0]) * 2.0
    # the motor drives: what reaches the slow shaft is efficiency x ratio x torque, less what inertia takes
    a = cmb.forward_dynamics(plant, [0, 0], v, [3.0, 0.0])
    teeth = load * a[1] / ratio
    assert 3.0 - motor * a[0] == pytest.approx(teeth / efficiency, rel=1e-9)
    # the slow shaft drives a brake on the fast one
    a = cmb.forward_dynamics(plant, [0, 0], v, [-0.1, 40.0])
    teeth = (40.0 - load * a[1]) / ratio
    assert motor * a[0] + 0.1 == pytest.approx(teeth * (2.0 - 1.0 / efficiency), rel=1e-9)
    run = cmb.simulate(plant, [3.0, 0.0], [0, 0], v, t_end=1.0)
    passed = run.data.actuator_work.values[-1]
    assert run.data.dissipated_work.values[-1] < (1.0 - efficiency) * passed and run.max_energy_error < 1e-9 * passed
    refuses(lambda: GearFriction("mesh", "gear", efficiency=1.2), "'mesh'", "1.2", kind=ValueError)
    point = Point("foot", "ground", "slow")
    refuses(lambda: plant.with_loops(point).with_parts(forces=[GearFriction("m", "foot", efficiency=0.9)]), "Coupling")


def test_loads_that_redundant_rows_share_are_refused():
    plant = plants.five_bar(closure="revolute").with_parts(forces=[PinFriction("rub", "tip", 0.1, radius=0.02)])
    q = plant.assemble(left=2.1, right=1.0)
    assert np.isfinite(cmb.forward_dynamics(plant, q, np.zeros(4), np.zeros(2))).all()  # x and y of the pin are unique
    pin = plant.loops[0]
    doubled = plant.with_loops(Point("again", pin.parent, pin.child, pin.frame.p, pin.child_frame.p))
    words = "'rub'", "tip_x", "redundant"
    refuses(lambda: cmb.simulate(doubled, None, q, t_end=0.1), *words)
    refuses(lambda: cmb.constraint_force(doubled, q, np.zeros(4)), *words)


def test_formulations_and_wrong_parts_are_refused():
    plant = wedge(0.3, 0.5)
    formulation = NamedFormulation("augmented")
    refuses(lambda: cmb.forward_dynamics(plant, [0, 0], [1, 0], [0], formulation=formulation), "'drag'", "formulation")
    with_floor = plant.with_parts
    refuses(lambda: with_floor(forces=[SlidingFriction("drag", "flor", 0.3)]), "'flor'", "floor")
    point = Point("foot", "ground", "block")
    refuses(lambda: with_floor(loops=[point], forces=[SlidingFriction("drag", "foot", 0.3)]), "'foot'", "PointOnPlane")
    refuses(lambda: with_floor(forces=[PinFriction("drag", "floor", 0.3, radius=0.1)]), "'floor'", "Revolute")
    refuses(lambda: SlidingFriction("drag", "floor", -0.3), "'drag'", "-0.3", kind=ValueError)
    refuses(lambda: PinFriction("drag", "pin", 0.3, radius=0.0), "radius", "'drag'", kind=ValueError)
    refuses(lambda: Friction(0.5, static=0.3), "static", kind=ValueError)


def test_a_rod_that_paradoxes_has_no_acceleration():
    """Painleve's rod: 1 + 3 cos (cos - mu sin) must be above zero."""
    plant = rod(2.5)
    for angle, possible in ((0.2, True), (1.2, False)):
        q = [0.5 * np.cos(angle), 0.5 * np.sin(angle), angle]
        assert (1.0 + 3.0 * np.cos(angle) * (np.cos(angle) - 2.5 * np.sin(angle)) > 0.0) == possible
        if possible:
            push = G / (1.0 + 3.0 * np.cos(angle) * (np.cos(angle) - 2.5 * np.sin(angle)))
            found = cmb.forward_dynamics(plant, q, [-1.0, 0.0, 0.0])
            assert found[0] == pytest.approx(2.5 * push, rel=1e-9)
        else:
            with pytest.raises(cmb.errors.PainleveError, match=r"'drag'.*Painleve"):
                cmb.forward_dynamics(plant, q, [-1.0, 0.0, 0.0])


def rod(mu):
    """A rod of 1 kg and 1 m on the floor, with friction of its lower end to one side."""
    body = Body("rod", 1.0, (0, 0, 0), (1e-3, 1.0 / 12.0, 1.0 / 12.0))
    joints = [
        Prismatic("x", "ground", "c", axis=(1, 0, 0)),
        Prismatic("z", "c", "d", axis=(0, 0, 1)),
        Revolute("turn", "d", "rod", axis=(0, -1, 0)),
    ]
    tip = PointOnPlane("tip", "ground", "rod", point_b=(-0.5, 0, 0))
    force = DirectedFriction("drag", "tip", mu, side=1, direction=(-1.0, 0.0))
    return Mechanism("rod", [Body("c"), Body("d"), body], joints, [tip], forces=[force])


def solved_loads(first, lam, reply_lam, side=0):
    """Whether loads c = N(lam + reply_lam' c) are found, and what is found; `first` (loads + 1,) ends with the rows."""
    first = np.asarray(first)
    k, rows = len(first) - 1, len(lam)
    level, pivot, carried = np.zeros(k), np.zeros(k), np.zeros(rows)
    sides = np.full(k, side)
    found = kernels.solve_loads(
        first[:-1], np.diff(first), sides, lam, reply_lam, level, pivot, np.zeros((k, k + 1)), carried
    )
    return found, level


@pytest.mark.nojit_slow
class TestLoads:
    """c = N(lam_0 + replies' c): against all combinations of signs, closed forms, and contractions."""

    @staticmethod
    def of_all_signs(lam, S):
        """Solutions of c = |lam + S c|, a system of equations for each combination of signs."""
        found = []
        for signs in np.array(np.meshgrid(*[[1.0, -1.0]] * len(lam))).reshape(len(lam), -1).T:
            K = np.eye(len(lam)) - signs[:, None] * S
            if np.linalg.cond(K) < 1e8:
                c = np.linalg.solve(K, signs * lam)
                if (c >= 0.0).all():
                    found.append(c)
        return found

    @pytest.mark.parametrize("block", range(6))
    def test_random_loads_of_one_row(self, block):
        """100 cases a block: no solution is made up, and none is missed where replies contract."""
        paradoxes = cycled = 0
        for case in range(100):
            rng = np.random.default_rng([71, block, case])
            k = int(rng.integers(1, 5))
            lam, S = rng.standard_normal(k), rng.standard_normal((k, k)) * rng.choice([0.1, 0.4, 1.0, 3.0])
            every = self.of_all_signs(lam, S)
            found, c = solved_loads(range(k + 1), lam, np.ascontiguousarray(S.T))
            if found:
                assert any(np.abs(c - x).max() < 1e-9 * (1.0 + np.abs(x).max()) for x in every)
            paradoxes += not every
            if not every:
                assert not found
            if np.abs(np.linalg.eigvals(np.abs(S))).max() < 0.999:  # Picard's iteration contracts: one solution
                assert found and len(every) >= 1
            cycled += bool(every) and not found
        assert paradoxes > 0  # the cases are what they are to be
        assert cycled < 50  # replies so strong that no solution continues the one without friction

    @pytest.mark.parametrize("seed", range(40))
    def test_a_load_of_several_rows(self, seed):
        """c^2 = |lam + r c|^2 is a quadratic equation: the least positive root, or none."""
        rng = np.random.default_rng([72, seed])
        lam, r = rng.standard_normal((2, int(rng.integers(2, 4))))
        r *= rng.choice([0.3, 0.9, 1.5, 4.0])
        roots = np.roots([1.0 - r @ r, -2.0 * r @ lam, -lam @ lam])
        roots = np.sort(roots.real[(np.abs(roots.imag) < 1e-12) & (roots.real > 0.0)])
        found, c = solved_loads([0, len(lam)], lam, r[None])
        assert found == bool(roots.size)
        if found:
            assert c[0] == pytest.approx(roots[0], rel=1e-10)

    def test_what_newtons_method_misses_is_followed(self):
        """Strong replies, on which the steps from zero cycle: what is found otherwise is a solution, too."""
        followed = 0
        for case in range(400):
            rng = np.random.default_rng([73, case])
            k = int(rng.integers(1, 5))
            lam, S = rng.standard_normal(k), rng.standard_normal((k, k)) * rng.choice([0.7, 1.0, 2.0])
            reply, one = np.ascontiguousarray(S.T), np.ones(k, np.int64)
            rest = np.zeros(k), np.zeros(k), np.zeros((k, k + 1)), np.zeros(k)
            missing = kernels.load_levels(np.arange(k), one, 0 * one, lam, reply, *rest)
            found, c = solved_loads(range(k + 1), lam, reply)
            if found:
                assert np.abs(c - np.abs(lam + S @ c)).max() < 1e-11 * (np.abs(lam) + np.abs(S) @ c).max()
            followed += found and not missing <= kernels.UNSOLVED
        assert followed > 5


def chalk(mu, push=1.0):
    """A rod of 2 m and 1 kg; a floor holds its tip both ways, and rubs."""
    body = Body("rod", 1.0, (0, 0, 0), (1.0 / 3.0,) * 3)
    floor = PointOnPlane("floor", "ground", "rod", (0, 0, 0), (-1, 0, 0), normal=(0, 1, 0))
    rubs = [SlidingFriction("drag", "floor", Friction(mu, transition_rate=1e-3))]
    joints = [cmb.Planar("p", "ground", "rod", axis=(0, 0, 1))]
    return Mechanism("chalk", [body], joints, [floor], gravity=(0, -G * push, 0), forces=rubs)


def chalk_state(plant, angle, speed):
    """Its centre at rest but for the tip, which slides at this speed while the rod turns."""
    q = plant.close([0.0, np.sin(angle), angle])
    return q, plant.project_velocity(q, [speed * np.cos(angle), -speed * np.sin(angle), 0.0])


def chalk_forces(mu, push, angle, w, slide):
    """Pushes of the floor that are possible, from Newton's and Euler's equations with a force mu |N| against sliding.

    The tip is at -(cos a, sin a) from the centre: its height stays, y'' of the centre = cos a a'' - sin a w^2.
    """
    found = []
    for sign in (1.0, -1.0):  # of N
        # N - g = y'', (1/3) a'' = -cos a N + sin a F, F = -sign(slide) mu sign N
        drag = -np.sign(slide) * mu * sign
        turn = 3.0 * (-np.cos(angle) + np.sin(angle) * drag)  # a'' of a unit of N
        N = (G * push - np.sin(angle) * w * w) / (1.0 - np.cos(angle) * turn)
        if N * sign > 0.0:
            found.append(N)
    return found


@pytest.mark.nojit_slow
class TestParadox:
    """Where friction leaves no acceleration it is refused; where there is one, it takes energy."""

    STATES = tuple(
        (mu, angle, v, push)
        for mu in (0.5, 1.0, 2.0, 3.0, 5.0)
        for angle in (0.6, 1.1, 2.0, 2.5)
        for v in (1.0, -1.0)
        for push in (1.0, -1.0)
    )

    @pytest.mark.parametrize("code", ["generated", "kernels"])
    def test_the_floor_that_holds_a_rod_both_ways(self, code, monkeypatch):
        monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", code)
        refused = 0
        for mu, angle, v, push in self.STATES:
            plant = chalk(mu, push)
            q, vel = chalk_state(plant, angle, v)
            along = np.cos(q[2]) * vel[0] - np.sin(q[2]) * vel[1]  # of the centre: velocities are in axes of the body
            possible = chalk_forces(mu, push, q[2], vel[2], along + np.sin(q[2]) * vel[2])
            if not possible:
                refused += 1
                with pytest.raises(PainleveError, match=r"'drag'.*Painleve"):
                    cmb.forward_dynamics(plant, q, vel)
                with pytest.raises(cmb.errors.SimulationError, match=r"did not begin.*'drag'.*Painleve"):
                    cmb.simulate(plant, None, q, vel, t_end=0.05)
                continue
            lam = float(cmb.constraint_force(plant, q, vel).multipliers[0])
            assert min(abs(-lam - N) for N in possible) < 1e-6 * max(map(abs, possible))
            a, terms = cmb.forward_dynamics(plant, q, vel), plant.terms(q, vel)
            assert (terms.M @ a + terms.h + terms.A.T @ [lam]) @ vel < 1e-9
        assert refused >= 10

    @pytest.mark.first(2)
    @every_case
    @pytest.mark.parametrize("code", ["generated", "kernels"])
    def test_strong_friction_of_random_machines(self, case, code, monkeypatch):
        """Coefficients up to 10: what is found fulfils the equations written out, and takes energy; others are told."""
        monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", code)
        plant, q, _, u = rubbing_machine(case)
        found = refused = 0
        for seed in range(18):
            rng = np.random.default_rng([75, seed])
            laws = [Friction(mu, transition_rate=0.3) for mu in 10.0 ** rng.uniform(-1.0, 1.0, len(plant.forces))]
            pairs = zip(plant.forces, laws, strict=True)
            strong = plant.with_parts(forces=[dataclasses.replace(f, friction=law) for f, law in pairs])
            v, push = strong.project_velocity(q, rng.uniform(-1.5, 1.5, strong.nv)), u * rng.uniform(-3.0, 3.0)
            try:
                a = cmb.forward_dynamics(strong, q, v, push)
            except PainleveError:
                refused += 1
                continue
            found += 1
            lam, terms = cmb.constraint_force(strong, q, v, push).multipliers, strong.terms(q, v)
            force = terms.B @ push - terms.M @ a - terms.h - terms.A.T @ lam  # of friction, on the left
            expected = np.zeros(strong.nv)
            for f, (J, s, load) in zip(strong.forces, surface_speeds(strong, q, v), strict=True):
                speed = np.linalg.norm(s)
                level = f.characteristic.coulomb * np.tanh(speed / f.characteristic.transition_rate)
                expected += J.T @ (s / speed) * level * load(lam[strong.row_slices[f.on]])
            scale = largest(terms.A.T @ lam) + largest(expected)
            np.testing.assert_allclose(force, expected, atol=1e-7 * scale)
            assert force @ v > -1e-9 * scale
        assert found > 5

    @pytest.mark.slow
    def test_friction_never_drives(self):
        """Of runs from random states: what is dissipated grows, and the energy falls."""
        went = 0
        for case in range(12):
            rng = np.random.default_rng([74, case])
            plant = chalk(rng.uniform(0.8, 4.0), rng.choice([1.0, -1.0]))
            q, vel = chalk_state(plant, rng.uniform(0.2, 2.9), rng.uniform(-3.0, 3.0))
            try:
                run = cmb.simulate(plant, None, q, vel, t_end=0.5, rtol=1e-8, atol=1e-8)
            except cmb.errors.SimulationError as error:
                assert isinstance(error.__cause__, PainleveError) and error.partial is None  # none at the start
                continue
            energy = run.data.kinetic.values + run.data.potential.values
            assert (np.diff(run.data.dissipated_work.values) > -1e-9).all() and (np.diff(energy) < 1e-6).all()
            went += 1
        assert went > 5

    @pytest.mark.parametrize("code", ["generated", "kernels"])
    @pytest.mark.parametrize("method", ["dop853", "radau"])
    def test_a_run_ends_where_friction_leaves_no_motion(self, method, code, monkeypatch):
        """The weight of the rod is lifted on the way, and when the floor would have to pull, there is none."""
        monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", code)
        plant = chalk(3.0, -1.0).with_parts(loads=[cmb.Load("lift", "rod", force=(0.0, 0.0, 0.0))])
        q, vel = chalk_state(plant, 2.0, 1.0)
        lifted = {"lift": (np.array([0.0, 0.1]), np.array([[0.0, 0.0, 0.0], [0.0, -100.0, 0.0]]))}
        loads = lifted if method == "dop853" else {"lift": [0.0, -9.0, 0.0]}
        with pytest.raises(cmb.errors.SimulationError, match=r"'drag'.*Painleve") as caught:
            cmb.simulate(plant, None, q, vel, t_end=0.5, method=method, loads=loads)
        run = caught.value.partial
        assert run.status == Status.PAINLEVE and 0.0 < run.time[-1] < 0.5
        assert (np.diff(run.data.dissipated_work.values) > -1e-9).all()


class TestInverseDynamics:
    """Efforts make loads, and loads make friction: both are solved for together."""

    @every_case
    def test_efforts_give_the_acceleration_that_they_are_for(self, case):
        plant, q, v, u = rubbing_machine(case)
        for push in (u, -3.0 * u):
            a = cmb.forward_dynamics(plant, q, v, push)
            found = cmb.inverse_dynamics(plant, q, v, a)
            again = cmb.forward_dynamics(plant, q, v, found.u)
            np.testing.assert_allclose(again, a, atol=1e-11 * np.abs(a).max())
            np.testing.assert_allclose(found.residual, 0.0, atol=1e-11 * np.abs(found.f).max())

    def test_loads_that_leave_no_motion_without_a_motor(self):
        """Seed 1485: one motor for seven freedoms, and other loads fit, too, with forces that no motor has."""
        assert inverse_of(1485) < 1e-11

    @pytest.mark.slow
    @pytest.mark.rotates
    @pytest.mark.nojit_slow
    def test_random_machines(self):
        found = {seed: inverse_of(seed) for seed in seeds.rotating(60)}
        assert not {seed: x for seed, x in found.items() if isinstance(x, float) and not x <= 1e-11}
        assert sum(isinstance(x, float) for x in found.values()) >= 0.7 * len(found)

    @pytest.mark.parametrize("efficiency", [1.0, 0.95, 0.8, 0.5])
    @pytest.mark.parametrize("speed", [1.0, -1.0])
    def test_a_geared_arm(self, efficiency, speed):
        plant, q = geared(efficiency), [18.0, 0.3]
        v, a = np.array([60.0, 1.0]) * speed, np.array([120.0, 2.0])
        found = cmb.inverse_dynamics(plant, q, v, a)
        np.testing.assert_allclose(cmb.forward_dynamics(plant, q, v, found.u), a, rtol=1e-12)
        # friction is (1 / efficiency - 1) of what the arm takes, on the side of the motor
        arm = (2.0 + 20.0 * 0.25) * 2.0 + 20.0 * G * 0.5 * np.cos(0.3)
        on_motor = arm / 60.0 * (1.0 + speed * (1.0 / efficiency - 1.0))
        assert found.u[0] == pytest.approx(0.01 * 120.0 + on_motor, rel=1e-9)

    @pytest.mark.filterwarnings("ignore::cmbcontrol.errors.SpeedWarning")
    @pytest.mark.parametrize("efficiency", [0.95, 0.8])
    def test_a_law_with_the_exact_model_follows(self, efficiency):
        plant = geared(efficiency)
        law = cmb.controllers.ProjectedInverseDynamics(plant, "arm", cmb.Sine([0.3], [0.2], 0.5), bandwidth=10.0)
        q = plant.assemble(arm=0.3, motor=18.0)
        run = cmb.simulate(plant, law, q, plant.project_velocity(q, [12.0 * np.pi, 0.2 * np.pi]), t_end=1.0)
        assert np.abs(run.error.values).max() < 1e-6

    def test_what_code_cannot_solve_is_left_out_by_name(self, tmp_path):
        plant = geared(0.9)
        q = plant.assemble(arm=0.3, motor=18.0)
        with pytest.raises(cmb.errors.ActuationError, match="friction 'mesh' of 'geared' is in proportion to loads"):
            export(plant, tmp_path, q, functions=["inverse"])
        made = export(plant, tmp_path, q)
        assert "friction 'mesh'" in made.left_out["inverse"]


def inverse_of(seed):
    """By how much the acceleration of the efforts for one is another one, relative; or why there is none."""
    rng = np.random.default_rng([seed, 33])
    kinds = [(PointOnPlane, Revolute)[int(k)] for k in rng.integers(0, 2, int(rng.integers(1, 3)))]
    parts = tree_parts(seed, bodies=int(rng.integers(5, 9)))
    plant, q = close_parts(parts, seed, kinds)
    forces, couplings = [], []
    for loop in plant.loops:
        dry = float(rng.uniform(0.02, 0.25))
        law = Friction(
            dry, static=dry * float(rng.uniform(1.0, 1.5)), transition_rate=float(10.0 ** rng.uniform(-3, -0.5))
        )
        if isinstance(loop, PointOnPlane):
            forces.append(SlidingFriction(f"friction_{loop.name}", loop.name, law))
        else:
            forces.append(PinFriction(f"friction_{loop.name}", loop.name, law, radius=float(rng.uniform(0.01, 0.5))))
    joints = [j.name for j in plant.joints if isinstance(j, (Revolute, Prismatic))]
    if joints and rng.random() < 0.5:  # a rotor and its gear on one of the joints
        driven, ratio = str(rng.choice(joints)), float(10.0 ** rng.uniform(-1.0, 2.0))
        bodies = [*plant.bodies, Body("rotor", 0.1, inertia=(0.01,) * 3)]
        couplings = [Coupling("gear", {"rotor_turn": 1.0, driven: -ratio})]
        forces.append(GearFriction("mesh", "gear", efficiency=float(rng.uniform(0.7, 0.99))))
        turned = ratio * q[plant.position_names.index(driven)]
        plant = plant.with_parts(
            bodies=bodies,
            joints=[*plant.joints, Revolute("rotor_turn", "ground", "rotor")],
            loops=[*plant.loops, *couplings],
        )
        q, joints = np.append(q, turned), [*(j for j in joints if j != driven), "rotor_turn"]
    plant = plant.with_parts(forces=forces, actuators=[Actuator(n) for n in joints])
    try:
        q, v = admissible_state(plant, q, seed)
        if not plant.terms(q, v).dof:
            return "no freedom: accelerations are rounding"
        a = cmb.forward_dynamics(plant, q, v, rng.uniform(-2.0, 2.0, plant.nu))
        found = cmb.inverse_dynamics(plant, q, v, a)
        again = cmb.forward_dynamics(plant, q, v, found.u)
    except cmb.CmbError as error:
        return f"{type(error).__name__}: {error}"
    return float(np.abs(again - a).max() / max(np.abs(a).max(initial=0.0), 1e-300))


class Wanted(MotionLaw):
    """Wants an acceleration, whatever the state."""

    def __init__(self, plant, a):
        self.plant, self.a = plant, a

    def desired_acceleration(self, t, terms):
        return self.a


def rubbing_arm(seed):
    """A random planar arm with a motor on each joint, whose tip slides on a wall, or turns in a pin with friction."""
    rng = np.random.default_rng([seed, 5])
    n, pinned = int(rng.integers(3, 6)), bool(rng.integers(2))
    lengths, masses = rng.uniform(0.3, 0.6, n), rng.uniform(0.5, 3.0, n)
    bodies = [Body(f"b{i}", masses[i], (0.5 * lengths[i], 0.0, 0.0), (0.05 * masses[i],) * 3) for i in range(n)]
    joints = [
        Revolute(f"q{i}", f"b{i - 1}" if i else "ground", f"b{i}", frame=Frame((lengths[i - 1] if i else 0.0, 0, 0)))
        for i in range(n)
    ]
    tip = (float(lengths[-1]), 0.0, 0.0)
    if pinned:
        loop = Revolute("tip", "ground", f"b{n - 1}", frame=Frame((0.7, 0.2, 0.0)), child_frame=Frame(tip))
        forces = [PinFriction("rub", "tip", Friction(0.2, transition_rate=0.3), radius=0.1)]
    else:
        loop = PointOnPlane("tip", "ground", f"b{n - 1}", (0.8, 0, 0), tip, normal=(1.0, 0.2, 0.0))
        forces = [SlidingFriction("rub", "tip", Friction(0.3, transition_rate=0.3))]
    motors = [Actuator(joint.name) for joint in joints]
    plant = Mechanism("arm", bodies, joints, [loop], actuators=motors, forces=forces, gravity=(0, -G, 0))
    q = plant.assemble(guess=rng.uniform(0.2, 0.9, n))
    return plant, q, plant.project_velocity(q, rng.uniform(-2.0, 2.0, n)), rng


class TestLaws:
    """Laws that know the machine know its friction: what they ask for is what it does."""

    @pytest.mark.parametrize("seed", range(12))
    def test_passive_joints(self, seed):
        plant, q, v, rng = rubbing_arm(seed)
        a = cmb.forward_dynamics(plant, q, v, rng.uniform(-20.0, 20.0, plant.nu))
        law = PassiveJoints(Wanted(plant, a))
        again = cmb.forward_dynamics(plant, q, v, law(0.0, plant.terms(q, v), law.start(plant)))
        np.testing.assert_allclose(again, a, atol=1e-10 * np.abs(a).max())

    @pytest.mark.parametrize("alone", [False, True])
    @pytest.mark.parametrize("seed", range(12))
    def test_force_control(self, seed, alone):
        """The motion, and the force of a row at the same time."""
        plant, q, v, rng = rubbing_arm(seed)
        row, terms = plant.row_names[0], plant.terms(q, v)
        force = ConstraintForcePI(plant, [40.0], [row])
        a = cmb.forward_dynamics(plant, q, v, rng.uniform(-20.0, 20.0, plant.nu))
        law = force if alone else HybridMotionForce(Wanted(plant, a), force)
        a = force.free_acceleration(terms) if alone else a
        found = cmb.constraint_force(plant, q, v, law(0.0, terms, law.start(plant)))
        np.testing.assert_allclose(found.acceleration, a, atol=1e-10 * np.abs(a).max())
        assert found.multipliers[0] == pytest.approx(40.0, abs=1e-9 * np.abs(found.multipliers).max())

    def test_limits_are_refused_by_name(self):
        plant, q, v, _ = rubbing_arm(0)
        law = ConstrainedActuation(Wanted(plant, v), limits=50.0)
        with pytest.raises(cmb.errors.InputError, match=r"friction in proportion to loads.*'arm'.*'rub'.*WithModel"):
            cmb.simulate(plant, law, q, v, t_end=0.1)
        plain = plant.with_parts(forces=[])
        cmb.simulate(plant, WithModel(plain, law), q, v, t_end=1e-3)

    def test_no_code_leaves_it_out(self):
        """Laws of which there is code without friction fall back to Python, and say so."""
        plant, q, _, _ = rubbing_arm(1)
        way = cmb.Constant(q[:2])
        motion = ProjectedInverseDynamics(
            plant, Coordinates(plant, plant.velocity_names[:2]), way, bandwidth=5.0, period=1e-3
        )
        for law in (motion, PassiveJoints(motion), ConstraintForcePI(plant, [5.0], [plant.row_names[0]], period=1e-3)):
            why = law_code(plant, law, q)
            assert isinstance(why, str)
            assert "friction in proportion to loads" in why


@pytest.mark.parametrize("nominal", [None, (2.0, -3.0), (-4.0, 1.0)])
def test_efforts_near_nominal_ones_make_the_loss_that_they_count_with(nominal):
    """The gear takes its part of what these efforts load it with, so that they give the acceleration asked for."""
    plant, q, v = gear(0.8), np.zeros(2), np.array([10.0, 2.0])
    terms = plant.terms(q, v)
    a = np.array([5.0, 1.0]) * 3.0
    u = terms.smallest_effort(a, np.diag([1.0, 2.0]), None if nominal is None else np.array(nominal))
    np.testing.assert_allclose(cmb.forward_dynamics(plant, q, v, u), a, rtol=1e-12)
    # no others that give it under this loss are nearer: with the motor's share x, 5 x + y is what the shaft needs
    distance = np.linalg.norm((u - (nominal or np.zeros(2))) / [1.0, 2.0])
    for x in (-1e-3, 1e-3):
        other = u + x * np.array([1.0, -5.0])
        assert np.linalg.norm((other - (nominal or np.zeros(2))) / [1.0, 2.0]) > distance


def geared(efficiency):
    """An arm behind a gear of 60; the rotor has an inertia of 0.01 kg m2."""
    joints = [Revolute("motor", "ground", "rotor"), Revolute("arm", "ground", "arm", frame=Frame((1, 0, 0)))]
    bodies = [Body("rotor", 1.0, inertia=(0.01,) * 3), Body("arm", 20.0, (0.5, 0, 0), (2.0,) * 3)]
    gear = Coupling("gear", {"motor": 1.0, "arm": -60.0})
    losses = [GearFriction("mesh", "gear", efficiency=efficiency)]
    actuators = [Actuator("motor")]
    return Mechanism("geared", bodies, joints, [gear], actuators=actuators, gravity=(0, -G, 0), forces=losses)
