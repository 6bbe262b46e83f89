"""Reactions: free bodies by hand, Newton's laws for any machine, and what redundant constraints leave open."""

import dataclasses

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import (
    Actuator,
    Body,
    Frame,
    Load,
    Mechanism,
    PinFriction,
    PointOnPlane,
    PointSpring,
    Revolute,
    SlidingFriction,
    plants,
    reactions,
)
from tests.fixtures import (
    actuators,
    close_parts,
    closed_at_random,
    direction,
    every_closure,
    external_loads,
    force_elements,
    largest,
    refuses,
    slope,
    springs,
    tree_parts,
)

G = 9.81


def efforts(plant):
    return np.random.default_rng(3).uniform(-5.0, 5.0, plant.nu)


def pendulum():
    rod = Body.rod("rod", mass=1.5, length=0.8)
    return Mechanism("pendulum", [rod], [Revolute("pivot", "ground", "rod", axis=(0, -1, 0))])


def test_the_pin_of_a_pendulum():
    """It carries the weight and the centripetal force."""
    plant, angle, w = pendulum(), 0.4, 3.0
    alpha = cmb.forward_dynamics(plant, [angle], [w], [])[0]
    found = reactions(plant, [angle], [w])
    along, across = np.array([np.cos(angle), 0, np.sin(angle)]), np.array([-np.sin(angle), 0, np.cos(angle)])
    expected = 1.5 * (0.4 * (alpha * across - w**2 * along) + np.array([0, 0, G]))
    np.testing.assert_allclose(found.force.sel(joint="pivot"), expected, atol=1e-12)
    np.testing.assert_allclose(found.moment.sel(joint="pivot"), 0.0, atol=1e-12)
    assert found.unique.all()


def test_pins_of_an_excavator_arm_by_free_bodies():
    """A boom on a pin and a cylinder, a load at the tip: forces of the three pins by hand."""
    lift = cmb.Cylinder("lift", "ground", "boom", (0.5, -0.8, 0), (1.4, 0, 0), stroke=(0.9, 1.6), mass=(30.0, 20.0))
    boom, force = Body.planar("boom", 400.0, 1.5, 300.0), np.array([-900.0, -2000.0, 0.0])
    tip = Load("tip", "boom", Frame((3.0, 0, 0)), force=force)
    pivot = Revolute("pivot", "ground", "boom")
    plant = Mechanism("lever", [boom], [pivot], cylinders=[lift], gravity=(0, -G, 0), loads=[tip])
    point = cmb.trim(plant, plant.assemble(pivot=0.3))
    found = point.reactions(axes="world")
    q, down = point.q, np.array([0.0, -G, 0.0])
    end, foot = plant.point(q, "lift_rod"), np.array([0.5, -0.8, 0.0])
    barrel, rod = (plant.point(q, b.name, b.com) for b in plant.bodies[1:])
    # cylinder: moments about its foot give the force across it, the motor gives that along it
    weight = np.cross(barrel - foot, 30.0 * down) + np.cross(rod - foot, 20.0 * down)
    along = (end - foot) / np.linalg.norm(end - foot)
    across = np.cross([0, 0, 1], along)
    push = point.u[0] - 20.0 * G * along[1]  # of the rod on the boom: the motor holds the rod's weight, too
    side = weight[2] / np.linalg.norm(end - foot)
    on_boom = push * along + side * across
    on_rod = -on_boom  # what the boom does to the rod
    np.testing.assert_allclose(found.force.sel(joint="lift_end"), on_rod, atol=1e-9 * largest(on_rod))
    foot_force = on_boom - 50.0 * down
    np.testing.assert_allclose(found.force.sel(joint="lift_pin"), foot_force, atol=1e-9 * largest(foot_force))
    pivot_force = -on_boom - force - 400.0 * down
    np.testing.assert_allclose(found.force.sel(joint="pivot"), pivot_force, atol=1e-9 * largest(pivot_force))
    assert float(abs(found.moment.sel(joint=["pivot", "lift_pin", "lift_end"], axis="z")).max()) < 1e-9 * largest(
        weight
    )
    assert found.unique.all()


def momentum_rates(plant, q, v, a):
    """Of each body: rates of momentum and of spin (bodies, 2, 3), by differences of the motion."""

    def places(t):
        at = plant.integrate(q, t * v + 0.5 * t * t * a)
        poses = [plant.pose(at, body.name) for body in plant.bodies]
        return np.array([np.column_stack([x.p + x.R @ b.com, x.R]) for x, b in zip(poses, plant.bodies, strict=True)])

    def momentum(t):
        rates, told = slope(lambda s: places(t + s), 1e-3), []
        for body, now, rate in zip(plant.bodies, places(t), rates, strict=True):
            R, turn = now[:, 1:], now[:, 1:].T @ rate[:, 1:]
            w = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
            told.append((body.mass * rate[:, 0], R @ (body.inertia @ w)))
        return np.array(told)

    return slope(momentum, 2e-3)


def carriers(plant, q):
    """Names, bodies and frames of all whose reactions are told."""
    names = [j.name for j in plant.joints]
    ends = [(j.parent, j.child, plant.pose(q, j.parent) @ j.frame) for j in plant.joints]
    for loop in plant.loops:
        if hasattr(loop, "coefficients"):
            continue
        names.append(loop.name)
        if hasattr(loop, "parent"):
            ends.append((loop.parent, loop.child, plant.pose(q, loop.parent) @ loop.frame))
        elif hasattr(loop, "frame_a"):
            ends.append((loop.a, loop.b, plant.pose(q, loop.a) @ loop.frame_a))
        else:
            ends.append((loop.a, loop.b, Frame(plant.point(q, loop.b, loop.point_b))))
    return names, ends


def lines_between(plant, q, v):
    """Springs and force elements between points: bodies, points and the force on the second one, written out."""
    found, h = [], 1e-6
    ahead, behind = plant.integrate(q, h * v), plant.integrate(q, -h * v)
    for part in (*plant.springs, *plant.forces):
        if not hasattr(part, "point_a"):
            continue

        def line(at, part=part):
            return plant.point(at, part.b, part.point_b) - plant.point(at, part.a, part.point_a)

        length, rate = np.linalg.norm(line(q)), (np.linalg.norm(line(ahead)) - np.linalg.norm(line(behind))) / (2 * h)
        if isinstance(part, PointSpring):
            pull = part.stiffness * (length - part.rest) + part.damping * rate
        else:
            pull = float(part.characteristic.force(length, rate))
        force = -pull * line(q) / length
        ends = plant.point(q, part.a, part.point_a), plant.point(q, part.b, part.point_b)
        found.append((part.a, part.b, *ends, force))
    return found


def require_balance(plant, q, v, u, spins=True):
    """Of each body: reactions, loads, springs and weight give its change of momentum and of spin."""
    a, found = cmb.forward_dynamics(plant, q, v, u), reactions(plant, q, v, u, axes="world")
    rate, (names, ends), lines = momentum_rates(plant, q, v, a), carriers(plant, q), lines_between(plant, q, v)
    scale = np.abs(rate).max() + np.abs(found.force.values).max() + np.abs(found.moment.values).max()
    for k, body in enumerate(plant.bodies):
        centre = plant.point(q, body.name, body.com)
        force, moment = body.mass * np.asarray(plant.gravity), np.zeros(3)
        for name, (first, second, frame) in zip(names, ends, strict=True):
            sign = (second == body.name) - 1.0 * (first == body.name)
            f, m = (found[key].sel(joint=name).values for key in ("force", "moment"))
            force = force + sign * f
            moment = moment + sign * (m + np.cross(frame.p - centre, f))
        for first, second, start, end, f in lines:
            for name, point, sign in ((first, start, -1.0), (second, end, 1.0)):
                if name == body.name:
                    force, moment = force + sign * f, moment + np.cross(point - centre, sign * f)
        for motor, effort in zip(plant.actuators, u, strict=True):
            if motor.bodies is not None and body.name in motor.bodies:
                torque = motor.gear * effort * plant.pose(q, motor.bodies[0]).R @ motor.axis
                moment = moment + (torque if body.name == motor.bodies[1] else -torque)
        for load in plant.loads:
            if load.body == body.name:
                frame = plant.pose(q, body.name) @ load.frame
                R = frame.R if load.axes == "frame" else np.eye(3)
                force = force + R @ load.force
                moment = moment + R @ load.moment + np.cross(frame.p - centre, R @ load.force)
        np.testing.assert_allclose(force, rate[k, 0], atol=1e-7 * scale)
        if spins:
            np.testing.assert_allclose(moment, rate[k, 1], atol=1e-7 * scale)
    return found


@every_closure
def test_every_body_obeys_newton_and_euler(closure):
    """With loads, springs between points, and motors of the tree; the force of a bushing is not told."""
    plant, q, v = closed_at_random(closure)
    plant = plant.with_parts(forces=[f for f in plant.forces if not isinstance(f, cmb.Bushing)])
    rotors = any(j.armature.any() for j in plant.joints)
    require_balance(plant, q, v, efforts(plant), spins=not rotors)


CUTS = [(Revolute,), (cmb.Prismatic,), (PointOnPlane,), (Revolute, PointOnPlane), (cmb.Prismatic, PointOnPlane)]


@pytest.mark.first(2)
@pytest.mark.parametrize("kinds", CUTS, ids=lambda kinds: "+".join(kind.__name__ for kind in kinds))
def test_motors_and_friction_of_constraints_are_part_of_what_they_carry(kinds):
    """Random machines: motors, springs, dampers, friction, in joints of the tree and cut ones, and between bodies."""
    judged = 0
    for seed in range(6):
        parts = tree_parts(seed, bodies=7, damped=True)
        parts["joints"] = [dataclasses.replace(j, armature=0.0 * j.armature) for j in parts["joints"]]
        plant, q = close_parts(parts, seed, kinds)
        if plant.terms(q, np.zeros(plant.nv)).rank < len(plant.row_names):
            continue
        rng = np.random.default_rng([seed, 44])
        between, rubs, motors = rng.choice([b.name for b in plant.bodies], 2, replace=False), [], []
        for loop in plant.loops:
            if isinstance(loop, PointOnPlane):
                rubs.append(SlidingFriction(f"rub_{loop.name}", loop.name, 0.3))
            else:
                motors.append(Actuator(loop.name, gear=rng.uniform(0.5, 2.0)))
            if isinstance(loop, Revolute):
                rubs.append(PinFriction(f"rub_{loop.name}", loop.name, 0.3, radius=0.4))
        motors += [*actuators(parts, seed), Actuator("twist", bodies=tuple(map(str, between)), axis=direction(rng))]
        elements = [f for f in force_elements(parts, seed) if not isinstance(f, cmb.Bushing)]
        plant = plant.with_parts(
            actuators=motors, springs=springs(parts, seed), forces=[*rubs, *elements], loads=external_loads(parts, seed)
        )
        v = plant.project_velocity(q, rng.uniform(-1.5, 1.5, plant.nv))
        u = rng.uniform(-5.0, 5.0, plant.nu)
        found = require_balance(plant, q, v, u)
        bare = reactions(plant.with_parts(forces=elements), q, v, u, axes="world")
        assert np.abs(found.moment - bare.moment).max() + np.abs(found.force - bare.force).max() > 1e-3 or not rubs
        judged += 1
    assert judged >= 4


def test_the_motor_of_a_hinge_is_in_its_moment_whichever_joint_is_cut():
    """The same four-bar, cut at the hinge of the motor and at another one; by hand, what pins rub."""
    end, base = Frame((1.0, 0, 0)), Frame((1.5, 0, 0))
    rods = [Body.rod(n, 1.0, 1.0) for n in "abc"]
    first, second = Revolute("A", "ground", "a"), Revolute("B", "a", "b", frame=end)
    third, driven = Revolute("C", "b", "c", frame=end), Revolute("D", "ground", "c", frame=base, child_frame=end)
    motor, down = [Actuator("D")], (0, -G, 0)
    one = Mechanism("at D", rods, [first, second, third], [driven], actuators=motor, gravity=down)
    two = Mechanism("at C", rods, [first, second, driven], [third], actuators=motor, gravity=down)
    q = one.assemble(A=1.2, guess=[1.2, -1.0, -1.3])
    turned = one.pose(q, "c").R
    other = two.close([q[0], q[1], np.arctan2(turned[1, 0], turned[0, 0])])
    found = [reactions(plant, at, u=[7.0], axes="world") for plant, at in ((one, q), (two, other))]
    for told in found:
        assert float(told.moment.sel(joint="D", axis="z")) == pytest.approx(7.0, abs=1e-9)
    np.testing.assert_allclose(found[0].force.sel(axis=["x", "y"]).sel(joint=list("ABCD")),
                               found[1].force.sel(axis=["x", "y"]).sel(joint=list("ABCD")), atol=1e-9)  # fmt: skip
    rubbing = one.with_parts(actuators=(), forces=[PinFriction("rub", "D", 0.3, radius=0.05)])
    v = rubbing.project_velocity(q, [1.0, 0, 0])
    told, turn = reactions(rubbing, q, v), float(v.sum())
    radial = np.hypot(*told.force.sel(joint="D").values[:2])
    expected = -np.sign(turn) * 0.3 * 0.05 * radial
    assert float(told.moment.sel(joint="D", axis="z")) == pytest.approx(expected, rel=1e-9)


def test_the_floor_drags_at_a_block_that_slides():
    block = Body("b", 2.0, (0, 0, 0), (1, 1, 1))
    plant = Mechanism(
        "block", [block], [cmb.Free("p", "ground", "b")], [PointOnPlane("floor", "ground", "b")],
        forces=[SlidingFriction("rub", "floor", 0.3)],
    )  # fmt: skip
    found = reactions(plant, plant.neutral(), [0, 0, 0, 1.0, 0, 0])
    np.testing.assert_allclose(found.force.sel(joint="floor"), [-0.3 * 2.0 * G, 0.0, 2.0 * G], atol=1e-9)


@every_closure
def test_free_axes_carry_what_motors_springs_and_friction_give(closure):
    """With all that acts: along the axis of a joint its own forces, and nothing else."""
    plant, q, v = closed_at_random(closure)
    u = efforts(plant)
    found = reactions(plant, q, v, u)
    a, terms = cmb.forward_dynamics(plant, q, v, u), plant.terms(q, v)
    own = terms.B @ u - plant.arrays.damping * v - plant.arrays.armature * a
    couplings = np.zeros(plant.nv)
    lam = cmb.constraint_force(plant, q, v, u).multipliers
    for loop in plant.loops:
        if hasattr(loop, "coefficients"):
            rows = plant.row_slices[loop.name]
            couplings -= terms.A[rows].T @ lam[rows]
    bare = plant.with_parts(springs=(), forces=())
    kept = plant.with_parts(springs=[s for s in plant.springs if s.ends], forces=[f for f in plant.forces if f.ends])
    of_joints = kept.terms(q, v).h - terms.h  # springs and elements on coordinates
    assert bare.nv == plant.nv
    cut = [m for m in plant.actuators if m.bodies is not None or m.joint not in plant.velocity_names]
    if cut:
        return  # their wrenches are between bodies
    total = own + couplings + of_joints
    for joint in plant.joints:
        if len(joint.velocity_names) != 1 or joint.velocity_names != joint.position_names:
            continue
        k = plant.velocity_names.index(joint.name)
        axis = getattr(joint, "axis", (0, 0, 1))
        kind = "force" if plant.velocity_units[k] == "m/s" else "moment"
        if type(joint).__name__ == "Helical":
            continue
        along = float(found[kind].sel(joint=joint.name).values @ np.asarray(axis))
        assert along == pytest.approx(
            total[k], abs=1e-9 * max(1.0, np.abs(total).max(), np.abs(found.force.values).max())
        )


def test_redundant_constraints_are_told():
    """The same machine cut at a revolute joint: only what bends it out of the plane is left open."""
    plant, flat = plants.five_bar(closure="revolute"), plants.five_bar()
    q = flat.assemble(left=2.1, right=1.0)
    u = cmb.trim(flat, q).u
    found, plain = reactions(plant, q, u=u, axes="world"), reactions(flat, q, u=u, axes="world")
    assert plain.unique.all() and not found.unique.any()
    for joint in ("left", "right", "elbow_left", "elbow_right"):
        np.testing.assert_allclose(
            found.force.sel(joint=joint, axis=["x", "y"]), plain.force.sel(joint=joint, axis=["x", "y"]), atol=1e-9
        )


def test_reactions_of_a_run_under_loads_that_change():
    plant = plants.five_bar().with_parts(loads=[Load("pull", "left_upper", Frame((0.3, 0, 0)))])
    q = plant.assemble(left=2.1, right=1.0)
    run = cmb.simulate(
        plant, [3.0, -1.0], q, t_end=0.4, loads={"pull": lambda t: [20.0 * t, -5.0, 0.0]}, output_times=0.1
    )
    found = run.reactions()
    assert found.force.attrs["units"] == "N" and found.moment.attrs["units"] == "N m"
    for i, t in enumerate(run.time):
        then = plant.with_loads({"pull": [20.0 * t, -5.0, 0.0]})
        alone = reactions(then, run.data.q.values[i], run.data.v.values[i], [3.0, -1.0])
        np.testing.assert_allclose(found.force.values[i], alone.force.values, atol=1e-9)
        np.testing.assert_allclose(found.moment.values[i], alone.moment.values, atol=1e-9)


def test_reactions_of_a_foot_that_lands():
    """In the air its contact carries nothing, on the ground the weight."""
    plant, q, _ = plants.catalogue["leg"].start()
    above = plant.without("foot")
    run = cmb.simulate(plant, None, q, t_end=0.6, switches=[cmb.Contact("foot")])
    found = run.reactions()
    held = run.data.active.sel(loop="foot").values
    carried = np.linalg.norm(found.force.sel(joint="foot").values, axis=1)
    assert (carried[~held] == 0.0).all() and held.any() and (carried[held] > 0.0).all()
    assert above.nv == plant.nv


def test_wrong_machines_are_told():
    refuses(lambda: reactions(plants.slider_crank(), [0.0, 0.0, 0.0]), "no Mechanism", kind=TypeError)
    refuses(lambda: reactions(pendulum(), [0.0], axes="body"), "axes", "joint", "world", kind=ValueError)
