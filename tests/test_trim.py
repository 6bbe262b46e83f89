"""Equilibria on the manifold: holding efforts, limits, poses that settle, and what is refused."""

import dataclasses
import itertools

import machines
import numpy as np
import pytest
from machines import largest

from cmbcontrol import plants
from cmbcontrol.dynamics.forces import constraint_force, inverse_dynamics
from cmbcontrol.errors import AssemblyError, EquilibriumError
from cmbcontrol.linear import OperatingPoint, linearize, trim
from cmbcontrol.model.elements import (
    Actuator,
    Body,
    Frame,
    JointSpring,
    PointSpring,
    Prismatic,
    Revolute,
)
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants.five_bar import pose


def five_bar(*actuators, gravity=(0.0, -9.81, 0.0), **changes):
    """The five-bar with motors of its own."""
    plain = plants.five_bar()
    joints = [dataclasses.replace(j, **changes.get(j.name, {})) for j in plain.joints]
    return Mechanism("five-bar", plain.bodies, joints, plain.loops, actuators=actuators, gravity=gravity)


# -- holding a pose -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["open", "asymmetric"])
@pytest.mark.parametrize(("cut", "closure"), [("tip", "line"), ("tip", "revolute"), ("right", "revolute")])
def test_the_motors_hold_the_five_bar(case, cut, closure):
    plant = plants.five_bar(cut, closure)
    q = pose(plant, case)
    point = trim(plant, q)
    rest = np.zeros(4)
    assert np.array_equal(point.q, q)
    assert largest(point.u - inverse_dynamics(plant, q, rest, rest).u) < 1e-12
    assert largest(point.u - trim(plants.five_bar(), pose(plants.five_bar(), case)).u) < 1e-9
    found = constraint_force(plant, q, rest, point.u)
    assert largest(found.acceleration) < 1e-12
    assert largest(found.multipliers - point.lam) < 1e-9
    terms = plant.terms(q, rest)
    assert largest(terms.h + terms.A.T @ point.lam - terms.B @ point.u) < 1e-10
    assert largest(point.lam - terms.A_pinv.T @ (terms.A.T @ point.lam)) < 1e-9  # minimum norm
    assert point.residuals.position < 1e-12
    assert point.residuals.velocity == 0.0
    assert point.residuals.balance < 1e-10


def test_weight_chooses_among_holding_efforts():
    """With a motor on every joint: u' W^-1 u is smallest on the plane of efforts that hold the pose."""
    plant = five_bar(*map(Actuator, ("left", "elbow_left", "right", "elbow_right")))
    q = pose(plant, "open")
    terms = plant.terms(q, np.zeros(4))
    rng = np.random.default_rng(0)
    root = rng.standard_normal((4, 4))
    for weight in (None, np.array([1.0, 4.0, 9.0, 0.5]), root @ root.T):
        u = trim(plant, q, weight=weight).u
        W = np.eye(4) if weight is None else np.diag(weight) if weight.ndim == 1 else weight
        assert largest(terms.Z.T @ (terms.h - u)) < 1e-10
        away = np.linalg.svd(terms.Z.T @ terms.B)[2][2:].T  # efforts that hold nothing
        assert largest(away.T @ np.linalg.solve(W, u)) < 1e-9
    with pytest.raises(ValueError, match="positive definite"):
        trim(plant, q, weight=-np.eye(4))


def test_limits_move_the_load_to_other_motors():
    """Smallest efforts within the limits: checked by the conditions of optimality."""
    free = trim(five_bar(*map(Actuator, ("left", "elbow_left", "right", "elbow_right"))), pose(five_bar(), "open"))
    motors = [
        Actuator("left", effort=0.8 * abs(free.u[0])),
        Actuator("elbow_left"),
        Actuator("right", effort=0.9 * abs(free.u[2])),
        Actuator("elbow_right", effort=1.05 * abs(free.u[3])),
    ]
    plant = five_bar(*motors)
    for weight in (np.eye(4), np.diag([1.0, 0.1, 2.0, 3.0])):
        u = trim(plant, pose(plant, "open"), weight=weight).u
        terms = plant.terms(pose(plant, "open"), np.zeros(4))
        assert np.all(np.abs(u) <= plant.effort * (1 + 1e-12))
        assert largest(terms.Z.T @ (terms.h - terms.B @ u)) < 1e-9
        # W^-1 u = (Z'B)' nu - mu, where mu pulls inwards at limits and is zero elsewhere
        at_limit = np.abs(u) > plant.effort * (1 - 1e-9)
        assert at_limit.any()
        gradient = np.linalg.solve(weight, u)
        unknowns = np.column_stack([terms.B.T @ terms.Z, np.eye(4)[:, at_limit]])
        x, *_ = np.linalg.lstsq(unknowns, gradient, rcond=None)
        assert largest(unknowns @ x - gradient) < 1e-8
        assert np.all(x[2:] * np.sign(u[at_limit]) <= 1e-9)


def test_too_weak_motors_are_named():
    plant = plants.five_bar(effort=32.0)
    with pytest.raises(EquilibriumError, match=r"'right' needs 32\.91 N m and has 32 N m"):
        trim(plant, pose(plant, "open"))
    assert trim(plants.five_bar(effort=33.0), pose(plant, "open")).u[1] == pytest.approx(32.907, abs=1e-3)
    with pytest.raises(EquilibriumError, match="'left' needs 40 N m and has 32 N m"):
        trim(plant, pose(plant, "open"), u=[40.0, 0.0])
    # with more motors than freedoms, none of which can take the load: the most loaded one when it is spread evenly
    motors = [Actuator(n, effort=5.0) for n in ("left", "elbow_left", "right", "elbow_right")]
    with pytest.raises(EquilibriumError, match=r"'\w+' needs (\S+) N m and has 5 N m") as error:
        trim(five_bar(*motors), pose(plant, "open"))
    need = float(str(error.value).split("needs ")[1].split()[0])
    trim(five_bar(*(dataclasses.replace(m, effort=1.001 * need) for m in motors)), pose(plant, "open"))
    with pytest.raises(EquilibriumError):
        trim(five_bar(*(dataclasses.replace(m, effort=0.999 * need) for m in motors)), pose(plant, "open"))
    slide = Mechanism(
        "lift", [Body("load", 10.0)], [Prismatic("lift", "ground", "load")], actuators=[Actuator("lift", "jack", 50.0)]
    )
    with pytest.raises(EquilibriumError, match=r"'jack' needs 98\.1 N and has 50 N\."):
        trim(slide, [0.0])


def test_too_few_motors():
    """The force that is left is told by coordinate; it is what would have to be added."""
    plant = five_bar(Actuator("left"))
    with pytest.raises(EquilibriumError, match=r"cannot hold 'five-bar'.*'right' -?[\d.]+ N m.*free=") as error:
        trim(plant, pose(plant, "open"))
    assert "'elbow_left'" in str(error.value)
    with pytest.raises(EquilibriumError, match="not in equilibrium with the given u"):
        trim(plants.five_bar(), pose(plant, "open"), u=[1.0, 2.0])
    with pytest.raises(EquilibriumError, match="cannot hold"):
        trim(five_bar(), pose(plant, "open"))


def test_given_efforts():
    plant = plants.five_bar()
    u = trim(plant, pose(plant, "open")).u
    assert np.array_equal(trim(plant, pose(plant, "open"), u=u).u, u)
    with pytest.raises(ValueError, match=r"u must have shape \(2,\) \(in the order left, right\)"):
        trim(plant, pose(plant, "open"), u=[1.0])
    with pytest.raises(ValueError, match="finite"):
        trim(plant, pose(plant, "open"), u=np.nan)


# -- poses that settle --------------------------------------------------------------------------------


@pytest.mark.parametrize("closure", ["line", "point", "revolute"])
@pytest.mark.parametrize(("start", "found"), [(-1.0, -0.5), (-3.0, -0.5), (1.2, 0.5), (0.0, -0.5)])
def test_pendulum_goes_to_the_nearest_equilibrium(closure, start, found):
    """Held level there is none in any direction: it goes downhill. In multiples of pi."""
    plant = plants.pendulum(closure=closure)
    point = trim(plant, plant.assemble(angle=start), free="all", u=0.0)
    assert point.q[2] == pytest.approx(found * np.pi, abs=1e-12)
    assert plant.open_loop(point.q) < 1e-13


def test_stable_equilibria_are_found_from_unstable_ones():
    plant = plants.pendulum()
    upright = plant.assemble(angle=0.5 * np.pi)
    assert trim(plant, upright, free="all", u=0.0).q[2] == pytest.approx(0.5 * np.pi)
    assert np.sin(trim(plant, upright, free="all", u=0.0, stable=True).q[2]) == pytest.approx(-1.0)
    nearest, settled = (
        trim(plants.five_bar(), pose(plants.five_bar(), "asymmetric"), free="all", u=0.0, stable=s) for s in (0, 1)
    )
    growth = [linearize(p.plant, p).eigenvalues().real.max() for p in (nearest, settled)]
    assert growth[0] > 1.0
    assert growth[1] < 1e-9


def test_pendulum_against_a_given_torque():
    plant = plants.pendulum(2.0, 0.7)
    point = trim(plant, plant.assemble(angle=-1.0), free="all", u=3.0)
    assert 2.0 * 9.81 * 0.35 * np.cos(point.q[2]) == pytest.approx(3.0, rel=1e-12)
    with pytest.raises(EquilibriumError, match=r"no equilibrium of 'pendulum' was found.*'angle' -?\d"):
        trim(plant, plant.assemble(angle=-1.0), free="all", u=30.0)


@pytest.mark.parametrize(("cut", "closure"), list(itertools.product(("tip", "right"), ("line", "point", "revolute"))))
def test_hanging_five_bar_is_the_same_however_it_is_cut(cut, closure):
    plant = plants.five_bar(cut, closure)
    point = trim(plant, pose(plant, "asymmetric"), free="all", u=0.0, stable=True)
    tip = plant.point(point.q, "left_upper", (1.5, 0.0, 0.0))
    truth = plants.five_bar()
    reference = trim(truth, pose(truth, "asymmetric"), free="all", u=0.0, stable=True)
    assert largest(tip - truth.point(reference.q, "left_upper", (1.5, 0.0, 0.0))) < 1e-9
    assert tip[0] == pytest.approx(0.5, abs=1e-10)  # symmetric
    assert linearize(plant, point).eigenvalues().real.max() < 1e-9  # stable
    # a minimum of the potential energy on the manifold
    rng = np.random.default_rng(0)
    lowest = plant.terms(point.q, np.zeros(4)).potential
    for _ in range(10):
        q = plant.close(plant.integrate(point.q, 0.05 * rng.standard_normal(4)))
        assert plant.terms(q, np.zeros(4)).potential > lowest


def test_held_coordinates_stay_and_motors_hold_them():
    """One motor: the other arm goes where it needs none, while the driven joint stays."""
    plant = five_bar(Actuator("right"))
    q = pose(plant, "asymmetric")
    point = trim(plant, q, free=("left", "elbow_left", "elbow_right"))
    right = plant.index("right")
    assert point.q[right] == q[right]
    assert abs(point.u[0]) > 1.0
    assert largest(point.q - q) > 0.05
    assert plant.open_loop(point.q) < 1e-12
    rest = np.zeros(4)
    assert largest(constraint_force(plant, point.q, rest, point.u).acceleration) < 1e-9
    with pytest.raises(EquilibriumError, match="with 'right', 'elbow_right' held, the loops allow no motion"):
        trim(plant, q, free=("left", "elbow_left"))


def cart(*loops):
    """A pole on a driven cart."""
    bodies = [Body("cart", 1.0), Body.rod("pole", 0.5, 1.2)]
    joints = [
        Prismatic("cart", "ground", "cart", axis=(1, 0, 0)),
        Revolute("pole", "cart", "pole", axis=(0, -1, 0)),
    ]
    return Mechanism("cart-pole", bodies, joints, loops, actuators=[Actuator("cart")])


def test_upright_pole_on_a_cart():
    plant = cart()
    point = trim(plant, [0.3, 1.3], free=("pole",))
    assert point.q == pytest.approx([0.3, 0.5 * np.pi], abs=1e-12)
    assert point.u == pytest.approx([0.0], abs=1e-12)
    assert linearize(plant, point).eigenvalues().real.max() > 1.0
    with pytest.raises(EquilibriumError, match="cannot hold"):
        trim(plant, [0.3, 1.3])


@pytest.mark.nojit_slow
def test_machine_on_springs_settles_to_rest():
    """Multi-axis joints and loops: where it settles, nothing accelerates."""
    kinds = (machines.Spherical, machines.Universal, machines.Planar)
    for seed in range(4):
        parts = machines.tree_parts(seed, 4, kinds)
        stays = [PointSpring(f"s{i}", "ground", f"body{i}", (0.5, i, 0), (0.2, 0, 0), 60.0, 0.3) for i in range(4)]
        plant, q = machines.close_parts(parts, seed, (machines.Distance, machines.PointOnPlane), springs=stays)
        point = trim(plant, q, free="all", u=0.0)
        rest = np.zeros(plant.nv)
        assert largest(constraint_force(plant, point.q, rest).acceleration) < 1e-9
        assert point.residuals.balance < 1e-9
        assert plant.open_loop(point.q) < 1e-12
        assert largest(plant.terms(point.q, rest).A.T @ point.lam) > 1e-3


def test_particle_given_by_functions_settles():
    plant = plants.particle_on_circle(radius=0.5)
    point = trim(plant, plant.assemble(q2=0.0), free="all", u=0.0)
    assert point.q == pytest.approx([0.0, -0.5], abs=1e-9)
    assert trim(plant, plant.assemble(q2=0.0)).u == pytest.approx([0.0, 9.81])


def test_joint_limits():
    plant = five_bar(left={"limits": (-1.4, 3.0)})
    q = pose(plant, "asymmetric")
    with pytest.raises(EquilibriumError, match=r"left = -1\.468.*outside its limits \[-1\.4, 3\.0\]"):
        trim(plant, q, free="all", u=0.0, stable=True)


def test_joints_are_freed_by_name():
    bodies = [machines.body(np.random.default_rng(0), "body")]
    plant = Mechanism("ball", bodies, [machines.Spherical("ball", "ground", "body")])
    every = trim(plant, plant.neutral(), free="all")
    by_joint = trim(plant, plant.neutral(), free=("ball",))
    by_coordinate = trim(plant, plant.neutral(), free=plant.velocity_names)
    assert largest(every.q - by_joint.q) == largest(every.q - by_coordinate.q) == 0.0
    below = plant.point(every.q, "body", bodies[0].com)
    assert np.hypot(*below[:2]) < 1e-9


# -- what is refused ------------------------------------------------------------------------------------


def test_open_loops():
    plant = plants.five_bar()
    with pytest.raises(AssemblyError, match=r"'tip' open by .* m\. Use plant\.assemble") as error:
        trim(plant, {"left": 2.1, "right": 1.0})
    assert error.value.residuals["tip"] > 0.1
    with pytest.raises(ValueError, match=r"q must have shape \(4,\)"):
        trim(plant, [0.0, 0.0])


def test_unknown_names_and_bad_numbers():
    plant = plants.five_bar()
    q = pose(plant, "open")
    with pytest.raises(ValueError, match="no coordinate to free 'rigth'; did you mean 'right'"):
        trim(plant, q, free=("rigth",))
    with pytest.raises(ValueError, match="tolerance must be > 0"):
        trim(plant, q, tolerance=0.0)
    with pytest.raises(TypeError):
        trim(plant, q, fre=("left",))


def test_operating_point_at_any_state():
    plant = plants.five_bar()
    q = pose(plant, "open")
    v = plant.project_velocity(q, np.ones(4))
    point = OperatingPoint.at(plant, q, u=1.0, v=v)
    assert point.u.tolist() == [1.0, 1.0]
    assert point.residuals.velocity < 1e-12
    assert point.residuals.balance > 1.0
    open_point = OperatingPoint.at(plant, q + 0.01, v=np.ones(4))
    assert open_point.residuals.position > 1e-3
    assert open_point.residuals.velocity > 0.1
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.q = q
    text = str(point)
    assert "operating point of five-bar" in text
    assert "motor left" in text


def test_springs_count_in_what_is_small():
    """A mass between two strong springs that cancel: rounding is no imbalance, a shift of a micron is."""
    bodies = [Body("mass", 1.0)]
    joints = [Prismatic("x", "ground", "mass", axis=(1, 0, 0))]
    springs = [JointSpring("left", "x", 1e7, -1.0), JointSpring("right", "x", 1e7, 1.0 / 3.0)]
    plant = Mechanism("mass", bodies, joints, springs=springs, gravity=(0, 0, 0))
    middle = -1.0 / 3.0
    assert trim(plant, [middle]).residuals.balance < 1e-7
    with pytest.raises(EquilibriumError, match="'x'"):
        trim(plant, [middle + 1e-6])
    assert trim(plant, [0.4], free="all").q[0] == pytest.approx(middle, abs=1e-14)


def test_frame_of_the_ground_does_not_matter():
    """The five-bar turned and shifted in space, gravity with it: the same torques."""
    turn = Frame.turned((1.0, 2.0, 3.0), 1.0, (3.0, -2.0, 1.0))
    plain = plants.five_bar()
    joints = [dataclasses.replace(j, frame=turn @ j.frame) if j.parent == "ground" else j for j in plain.joints]
    loops = [dataclasses.replace(plain.loops[0], axis=(0, 0, 1))]
    moved = Mechanism("moved", plain.bodies, joints, loops, actuators=plain.actuators, gravity=turn.R @ plain.gravity)
    q = pose(plain, "open")
    assert largest(trim(moved, q).u - trim(plain, q).u) < 1e-9
    models = [linearize(p, trim(p, q), coordinates=("left", "right")) for p in (plain, moved)]
    assert largest(models[0].A - models[1].A) < 1e-9
