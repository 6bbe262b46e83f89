"""Equilibria on the manifold: holding efforts, limits, poses that settle, and what is refused."""

import dataclasses
import itertools

import machines
import numpy as np
import pytest
from machines import largest

from cmbcontrol import OperatingPoint, linearize, plants, trim
from cmbcontrol.dynamics.forces import constraint_force, inverse_dynamics
from cmbcontrol.errors import AssemblyError, EquilibriumError, SingularConfigurationError
from cmbcontrol.linear.preload import preload_directions
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
from cmbcontrol.plants.two_arms import pose as two_arms_pose


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
    # with more motors than degrees of freedom, none of which can take the load: the most loaded one when it is spread
    # evenly
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
    assert plant.closure_error(point.q) < 1e-13


def test_stable_equilibria_are_found_from_unstable_ones():
    plant = plants.pendulum()
    upright = plant.assemble(angle=0.5 * np.pi)
    assert trim(plant, upright, free="all", u=0.0).q[2] == pytest.approx(0.5 * np.pi)
    assert np.sin(trim(plant, upright, free="all", u=0.0, stable=True).q[2]) == pytest.approx(-1.0)
    nearest, settled = (
        trim(plants.five_bar(), pose(plants.five_bar(), "asymmetric"), free="all", u=0.0, stable=s) for s in (0, 1)
    )
    growth = [linearize(p.plant, p).poles().real.max() for p in (nearest, settled)]
    assert growth[0] > 1.0
    assert growth[1] < 1e-9


@pytest.mark.nojit_slow
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
    assert linearize(plant, point).poles().real.max() < 1e-9  # stable
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
    assert plant.closure_error(point.q) < 1e-12
    rest = np.zeros(4)
    assert largest(constraint_force(plant, point.q, rest, point.u).acceleration) < 1e-9
    with pytest.raises(EquilibriumError, match="with 'right', 'elbow_right' held, the constraints allow no motion"):
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
    assert linearize(plant, point).poles().real.max() > 1.0
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
        assert plant.closure_error(point.q) < 1e-12
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
    assert "motor 0 " in str(dataclasses.replace(point, plant=None))  # as from a file


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


# -- some efforts given, some coordinates held --------------------------------------------------------


def two_arms(**changes):
    """Two arms that hold a box, so that all multipliers are unique, and a pose: six motors for three motions."""
    plant = plants.two_arms("planar", **changes)
    return plant, two_arms_pose(plant, x=0.1, y=0.5)


def test_single_efforts_are_given():
    """The motors named keep their efforts, the others are the smallest that hold the pose with them."""
    plant, q = two_arms()
    given = {"left_shoulder": 0.0, "right_wrist": -3.0}
    for weight in (None, np.arange(1.0, 7.0), np.diag(np.arange(1.0, 7.0)) + 0.3):
        point = trim(plant, q, u=given, weight=weight)
        assert point.u[0] == 0.0
        assert point.u[5] == -3.0
        assert point.report.given == ("left_shoulder", "right_wrist")
        assert point.report.preload == 1
        terms = plant.terms(q, np.zeros(6))
        assert largest(terms.Z.T @ (terms.h - terms.B @ point.u)) < 1e-9
        # the gradient of u' W^-1 u vanishes along efforts that hold nothing and leave the given ones
        W = np.eye(6) if weight is None else np.diag(weight) if np.ndim(weight) == 1 else weight
        fixed = np.eye(6)[[0, 5]]
        away = np.linalg.svd(np.vstack([terms.Z.T @ terms.B, fixed]))[2][5:].T
        assert away.shape == (6, 1)
        assert largest(away.T @ np.linalg.solve(W, point.u)) < 1e-9
        assert point.report.effort_norm == pytest.approx(np.sqrt(point.u @ np.linalg.solve(W, point.u)))
    nothing = trim(plant, q, u={})
    assert largest(nothing.u - trim(plant, q).u) < 1e-12


def test_given_efforts_and_free_coordinates_together():
    """A motor that is off, and an arm that stays: the other arm goes where that balances."""
    plant = plants.five_bar()
    q = pose(plant, "asymmetric")
    point = trim(plant, q, u={"left": 0.0}, hold=("right",))
    named = trim(plant, q, u={"left": 0.0}, free=("left", "elbow_left", "elbow_right"))
    assert largest(point.q - named.q) < 1e-12
    assert point.u[0] == 0.0
    assert abs(point.u[1]) > 0.1
    assert point.q[2] == q[2]
    assert point.report.family == 0
    assert point.report.free == ("left", "elbow_left", "elbow_right")
    twin = five_bar(Actuator("right"))
    assert largest(trim(twin, q, hold=("right",)).q - point.q) < 1e-9
    # both are free: one equation, two degrees of freedom; the nearest of a family
    family = trim(plant, q, u={"left": 0.0}, free="all")
    assert family.report.family == 1
    assert np.linalg.norm(family.q - q) < np.linalg.norm(point.q - q)
    rest = np.zeros(4)
    for p in (point, family):
        assert largest(constraint_force(plant, p.q, rest, p.u).acceleration) < 1e-9


def test_held_at_given_values():
    """The coordinates are brought there first; the loops of q may be open."""
    plant = plants.five_bar()
    point = trim(plant, {"left": 2.0, "right": 1.1}, u={"left": 0.0}, hold={"right": 0.8})
    assert point.q[2] == pytest.approx(0.8, abs=1e-12)
    assert point.u[0] == 0.0
    assert plant.closure_error(point.q) < 1e-12
    with pytest.raises(ValueError, match="give one of them"):
        trim(plant, point.q, free=("left",), hold=("right",))
    with pytest.raises(ValueError, match="did you mean 'right'"):
        trim(plant, point.q, hold=("rigth",))
    with pytest.raises(ValueError, match="joint coordinate 'rigth'"):
        trim(plant, point.q, hold={"rigth": 1.0})
    with pytest.raises(AssemblyError):
        trim(plant, point.q, hold={"right": 1.0, "elbow_right": 0.0, "left": 0.0})


def test_what_cannot_be_balanced_is_named():
    plant = plants.five_bar()
    q = pose(plant, "open")
    with pytest.raises(
        EquilibriumError, match=r"with the efforts of 'left' given, 'right' cannot hold 'five-bar'.*'left' -?[\d.]+ N m"
    ):
        trim(plant, q, u={"left": 0.0})
    with pytest.raises(EquilibriumError, match=r"no equilibrium .* with the efforts of 'motor' given|no equilibrium"):
        pendulum = plants.pendulum()
        trim(pendulum, pendulum.assemble(angle=0.3), u={"motor": 30.0}, free="all")
    with pytest.raises(EquilibriumError, match=r"'left' needs 50 N m and has 40 N m"):
        trim(plants.five_bar(effort=40.0), q, u={"left": 50.0})
    with pytest.raises(ValueError, match="no actuator 'lefft'; did you mean 'left'"):
        trim(plant, q, u={"lefft": 0.0})
    with pytest.raises(ValueError, match="the effort of 'left' in u must be finite"):
        trim(plant, q, u={"left": np.nan})
    flat = plants.n_four_bar()
    with pytest.raises(EquilibriumError, match="a singular configuration, with"):
        trim(flat, flat.assemble(guess=np.zeros(5), bar0=0.0))


def test_limits_choose_among_poses():
    """A family of equilibria: the pose moves as far as the limits of motors and joints ask, and no further."""
    plant = five_bar(Actuator("left", effort=28.0), Actuator("right", effort=31.0))
    q = pose(plant, "open")
    point = trim(plant, q, free="all")
    assert np.all(np.abs(point.u) <= plant.effort)
    assert point.report.at_limit
    assert point.report.family == 2
    assert largest(point.q - q) > 1e-3
    unlimited = five_bar(Actuator("left"), Actuator("right"))
    assert np.any(np.abs(trim(unlimited, q).u) > plant.effort)
    # a joint limit on the way: the other arm goes instead, as far as it must
    q = pose(plant, "asymmetric")
    off = trim(unlimited, q, u={"left": 0.0}, free="all")
    assert off.q[0] < -1.36
    narrow = five_bar(Actuator("left"), Actuator("right"), left={"limits": (-1.34, 0.0)})
    inside = trim(narrow, q, u={"left": 0.0}, free="all")
    assert inside.q[0] == pytest.approx(-1.34, abs=1e-9)
    at_limit = trim(narrow, off.q + 0.0, u={"left": 0.0}, hold={"left": -1.34})
    assert largest(inside.q - at_limit.q) < 1e-7
    assert inside.u[0] == 0.0
    assert largest(constraint_force(narrow, inside.q, np.zeros(4), inside.u).acceleration) < 1e-8
    with pytest.raises(EquilibriumError, match="needs"):
        trim(five_bar(Actuator("left", effort=28.0), Actuator("right", effort=31.0)), q)


# -- preload --------------------------------------------------------------------------------------------


def test_preload_directions():
    """Efforts that do no work on any motion; a round of them changes constraint forces alone."""
    plant, q = two_arms()
    point = trim(plant, q)
    found = preload_directions(plant, point)
    terms = plant.terms(q, np.zeros(6))
    assert len(found) == point.report.preload == 3
    assert largest(terms.Z.T @ terms.B @ found.efforts) < 1e-12
    assert largest(found.efforts.T @ found.efforts - np.eye(3)) < 1e-12
    assert largest(terms.A.T @ found.multipliers - found.forces) < 1e-10
    w = np.array([3.0, -2.0, 1.0])
    shifted = OperatingPoint.at(plant, q, point.u + found.efforts @ w)
    assert shifted.residuals.balance < 1e-9
    assert largest(shifted.lam - point.lam - found.multipliers @ w) < 1e-9
    sizes = np.linalg.norm(found.multipliers / plant.row_scale[:, None], axis=0)
    assert sizes[0] > 1.5 * sizes[2]
    assert np.all(np.diff(sizes) <= 1e-12)
    for k, (low, high) in enumerate(found.room):
        for w in (low, high):
            u = point.u + w * found.efforts[:, k]
            assert np.max(np.abs(u) / plant.effort) == pytest.approx(1.0)
    text = str(found)
    assert "preload of two-arms: 3 direction(s)" in text
    assert "grasp_x" in text
    five = plants.five_bar()
    none = preload_directions(five, trim(five, pose(five, "open")))
    assert len(none) == 0
    assert none.room.shape == (0, 2)
    assert "0 direction(s)" in str(none)


def test_motors_against_each_other_on_one_joint():
    """Two motors on a joint: preload without any force in the machine."""
    body = Body.rod("rod", 1.0, 1.0)
    joint = Revolute("joint", "ground", "rod", axis=(0, -1, 0))
    plant = Mechanism("twin", [body], [joint], actuators=[Actuator("joint", "a"), Actuator("joint", "b", gear=2.0)])
    point = trim(plant, [0.0])
    assert point.u == pytest.approx(4.905 * np.array([1.0, 2.0]) / 5.0)
    found = preload_directions(plant, point)
    assert len(found) == 1
    assert largest(found.forces) < 1e-12
    assert trim(plant, [0.0], preload={"a": (3.0, 10.0)}).u == pytest.approx([3.0, 0.5 * 1.905])
    assert trim(plant, [0.0], weight=[1.0, 0.25]).u == pytest.approx(4.905 * np.array([0.5, 0.25]))


def test_wished_efforts_are_approached():
    """The nearest of all efforts that hold the pose, in the metric; a number counts for all motors."""
    plant, q = two_arms()
    terms = plant.terms(q, np.zeros(6))
    away = np.linalg.svd(terms.Z.T @ terms.B)[2][3:].T
    wish = np.array([5.0, -4.0, 3.0, 2.0, 1.0, 0.5])
    for weight in (None, np.arange(1.0, 7.0)):
        u = trim(plant, q, preload=wish, weight=weight).u
        W = np.eye(6) if weight is None else np.diag(weight)
        assert largest(terms.Z.T @ (terms.h - u)) < 1e-9
        assert largest(away.T @ np.linalg.solve(W, u - wish)) < 1e-9
    assert largest(trim(plant, q, preload=2.0).u - trim(plant, q, preload=np.full(6, 2.0)).u) < 1e-12
    named = {"left_elbow": -4.0, "right_elbow": 4.0}
    vector = np.array([0.0, -4.0, 0.0, 0.0, 4.0, 0.0])
    assert largest(trim(plant, q, preload=named).u - trim(plant, q, preload=vector).u) < 1e-12
    # what holds the pose is kept
    kept = trim(plant, q, preload=trim(plant, q, preload=wish).u).u
    assert largest(kept - trim(plant, q, preload=wish).u) < 1e-9
    # within the limits
    weak, _ = two_arms(effort=12.0)
    pressed = trim(weak, q, preload=100.0)
    assert np.all(np.abs(pressed.u) <= 12.0)
    assert pressed.report.at_limit


def test_a_constraint_force_is_prescribed():
    """Squeeze the box: the multiplier is met exactly, by the smallest efforts that do."""
    plant, q = two_arms()
    plain = trim(plant, q)
    row = plant.row_names.index("grasp_x")
    terms = plant.terms(q, np.zeros(6))
    lift = (terms.A_pinv.T @ terms.B)[row]
    for weight in (None, np.arange(1.0, 7.0)):
        point = trim(plant, q, preload={"grasp_x": 40.0}, weight=weight)
        assert point.lam[row] == pytest.approx(40.0, abs=1e-9)
        assert point.residuals.balance < 1e-9
        W = np.eye(6) if weight is None else np.diag(weight)
        away = np.linalg.svd(np.vstack([terms.Z.T @ terms.B, lift]))[2][4:].T
        assert largest(away.T @ np.linalg.solve(W, point.u)) < 1e-8
    same = trim(plant, q, preload={"grasp_x": plain.lam[row]})
    assert largest(same.u - plain.u) < 1e-9
    # all three at once leave no choice; the row of a loop with one row goes by the loop's name
    wanted = {"grasp_x": 40.0, plant.row_names[row + 1]: -10.0, "grasp_angle": 2.0}
    point = trim(plant, q, preload=wanted)
    assert point.lam[[plant.row_names.index(n) for n in wanted]] == pytest.approx(list(wanted.values()))
    # a range: no more than is needed
    ranged = trim(plant, q, preload={"grasp_x": (30.0, 60.0)})
    nearest = np.clip(plain.lam[row], 30.0, 60.0)
    assert ranged.lam[row] == pytest.approx(nearest)
    assert largest(trim(plant, q, preload={"grasp_x": (-np.inf, np.inf)}).u - plain.u) < 1e-9
    # with a range of an effort besides, and limits
    both = trim(plant, q, preload={"grasp_x": 40.0, "left_wrist": (1.0, 5.0)})
    assert both.lam[row] == pytest.approx(40.0)
    assert 1.0 - 1e-9 <= both.u[2] <= 5.0 + 1e-9
    freed = trim(plant, q, preload={"grasp_x": 40.0}, u={"left_shoulder": 0.0})
    assert freed.u[0] == 0.0
    assert freed.lam[row] == pytest.approx(40.0)


def test_preload_that_cannot_be_had():
    plant, q = two_arms(effort=15.0)
    with pytest.raises(EquilibriumError, match=r"'grasp_x' can be from (\S+) to (\S+) N, demanded is 1e\+04") as error:
        trim(plant, q, preload={"grasp_x": 1e4})
    low, high = (float(x) for x in str(error.value).split("can be from ")[1].split(" N,")[0].split(" to "))
    row = plant.row_names.index("grasp_x")
    for edge, inward in ((low, 1.0), (high, -1.0)):  # what the message says is true
        inside = edge + inward * 1e-3 * (high - low)
        assert trim(plant, q, preload={"grasp_x": inside}).lam[row] == pytest.approx(inside)
        with pytest.raises(EquilibriumError):
            trim(plant, q, preload={"grasp_x": edge - inward * 1e-2 * (high - low)})
    five = plants.five_bar()
    here = pose(five, "open")
    lam = trim(five, here).lam
    name = five.row_names[0]
    with pytest.raises(
        EquilibriumError, match=rf"'{name}' is \S+ N whatever the preload, demanded is {lam[0] + 5:.4g}"
    ):
        trim(five, here, preload={name: lam[0] + 5.0})
    assert largest(trim(five, here, preload={name: lam[0]}).u - trim(five, here).u) < 1e-9
    with pytest.raises(EquilibriumError, match="each alone, not together"):
        trim(plant, q, preload={"grasp_x": high - 1.0, "left_wrist": (14.9, 15.0)})
    with pytest.raises(EquilibriumError, match=r"demands .* of actuator 'left_wrist', whose effort limit is 15"):
        trim(plant, q, preload={"left_wrist": (20.0, 30.0)})


def test_preload_that_says_nothing_clear():
    plant, q = two_arms()
    for preload, message in (
        ({"left_rist": 1.0}, "did you mean 'left_wrist'"),
        ({"left_wrist": np.nan}, "must be finite"),
        ({"grasp_x": np.nan}, r"number or \(low, high\)"),
        ({"grasp_x": (2.0, 1.0)}, r"number or \(low, high\)"),
        ({"grasp_x": (1.0, 2.0, 3.0)}, r"number or \(low, high\)"),
        ([1.0], "preload must have shape"),
    ):
        with pytest.raises(ValueError, match=message):
            trim(plant, q, preload=preload)
    with pytest.raises(TypeError, match="preload must be a number, got 'grasp_x'"):
        trim(plant, q, preload="grasp_x")
    with pytest.raises(ValueError, match="none is left for preload="):
        trim(plant, q, u=0.0, preload=1.0)
    with pytest.raises(ValueError, match="'left_wrist' is given with u=, so that it has no preload"):
        trim(plant, q, u={"left_wrist": 0.0}, preload={"left_wrist": 1.0})
    cut = plants.five_bar("right", "revolute")
    with pytest.raises(ValueError, match=r"'right_tilt_x' are not unique, .* unique are: 'right_x', 'right_y'"):
        trim(cut, pose(cut, "open"), preload={"right_tilt_x": 1.0})


def test_cables_stay_tight():
    """A pair of cables pulls at a slider from both sides: ranges of efforts, the smallest that hold."""
    bodies = [Body("slider", 1.0)]
    joints = [Prismatic("x", "ground", "slider", axis=(1, 0, 0))]
    plant = Mechanism("cables", bodies, joints, actuators=[Actuator("x", "a"), Actuator("x", "b", gear=-1.0)])
    point = trim(plant, [0.0], preload={"a": (5.0, np.inf), "b": (2.0, np.inf)})
    assert point.u == pytest.approx([5.0, 5.0])


# -- every machine ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(plants.catalogue))
def test_catalogue_is_held(name):
    """Where the motors can hold the start, nothing accelerates; the efforts are the smallest."""
    plant, q, _ = plants.catalogue[name].start()
    if name == "governor":  # it has no motor
        with pytest.raises(EquilibriumError, match="cannot hold 'governor'"):
            trim(plant, q)
        return
    point = trim(plant, q)
    rest = np.zeros(plant.nv)
    scale = 1.0 + largest(plant.terms(q, rest).h)
    assert largest(constraint_force(plant, q, rest, point.u).acceleration) < 1e-9 * scale
    assert largest(point.u - inverse_dynamics(plant, q, rest, rest).u) < 1e-9 * scale
    assert point.report.preload == max(plant.nu - plant.terms(q, rest).dof, 0)
    assert not point.report.singular
    assert "efforts: norm" in str(point)
    given = trim(plant, q, u=dict(zip(plant.actuator_names, point.u, strict=True)))
    assert np.array_equal(given.u, point.u)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", list(plants.catalogue))
def test_catalogue_settles(name):
    """Motors off: a lowest point of the potential energy on the loops, or words for why there is none."""
    plant, q, _ = plants.catalogue[name].start()
    try:
        point = trim(plant, q, free="all", u=0.0, stable=True)
    except EquilibriumError as error:  # the cylinders of the loader have ends, the legs of the platform none
        assert name in ("loader", "stewart"), error
        return
    rest = np.zeros(plant.nv)
    assert plant.closure_error(point.q) < 1e-10
    lowest = plant.terms(point.q, rest).potential
    rng = np.random.default_rng(0)
    unit = np.array([1.0 if u == "rad/s" else plant.size for u in plant.velocity_units])
    for _ in range(20):
        way = plant.terms(point.q, rest).P @ (0.02 * unit * rng.standard_normal(plant.nv))
        beside = plant.close(plant.integrate(point.q, way))
        assert plant.terms(beside, rest).potential >= lowest - 1e-9 * abs(lowest)


@pytest.mark.parametrize(("name", "dof"), [("parallel-four-bar", 3), ("slider-crank", 2)])
def test_machines_that_hang_in_a_singular_pose(name, dof):
    """All bars hang in line, where another branch crosses: it is the lowest point on both, and the tool says so."""
    plant, q, _ = plants.catalogue[name].start()
    point = trim(plant, q, free="all", u=0.0, stable=True)
    assert point.report.singular
    assert plant.terms(point.q, np.zeros(plant.nv)).dof == dof
    assert "singular configuration: the constraints lose rank" in str(point)
    with pytest.raises(SingularConfigurationError, match="singular configuration"):
        linearize(plant, point)
    upright = trim(plant, q, free="all", u=0.0)
    assert upright.report.singular
    again = trim(plant, upright.q, free="all", u=0.0, stable=True)
    assert plant.terms(again.q, np.zeros(plant.nv)).potential < plant.terms(upright.q, np.zeros(plant.nv)).potential


def test_the_squeezer_leaves_its_dead_point():
    """The start of Andrews' mechanism is a dead point, highest in energy; it settles in the other one."""
    plant, q, _ = plants.catalogue["andrews"].start()
    top = trim(plant, q, free="all", u=0.0)
    assert largest(top.q - q) < 1e-12
    settled = trim(plant, q, free="all", u=0.0, stable=True)
    assert abs(settled.q[plant.position_names.index("Theta")]) == pytest.approx(np.pi, abs=1e-9)
    growth = [linearize(plant, p).poles().real.max() for p in (top, settled)]
    assert growth[0] > 10.0
    assert growth[1] < 1e-6


@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", range(4))
def test_random_machines_with_springs_and_motors(seed):
    """Some motors given, all coordinates free, redundant rows: the same with and without them."""
    parts = machines.tree_parts(seed, 4, (machines.Revolute, machines.Prismatic, machines.Spherical))
    stays = [PointSpring(f"s{i}", "ground", f"body{i}", (0.5, i, 0), (0.2, 0, 0), 60.0, 0.3) for i in range(4)]
    motors = machines.actuators(parts, seed)
    found = []
    for twice in (False, True):
        plant, q = machines.close_parts(parts, seed, (machines.Distance,), twice, springs=stays, actuators=motors)
        given = {plant.actuator_names[0]: 0.7}
        point = trim(plant, q, u=given, free="all")
        off = trim(plant, q, u=0.3, free="all")
        for p in (point, off):
            assert largest(constraint_force(plant, p.q, np.zeros(plant.nv), p.u).acceleration) < 1e-8
            assert plant.closure_error(p.q) < 1e-11
        assert point.u[0] == 0.7
        assert off.report.family == 0
        found.append((point, off))
    for once, again in zip(*found, strict=True):
        assert largest(once.q - again.q) < 1e-6
        assert largest(once.u - again.u) < 1e-6


# -- python-control ---------------------------------------------------------------------------------------


def test_operating_point_for_control():
    import control

    plant = plants.five_bar()
    point = trim(plant, pose(plant, "open"))
    full = point.to_control()
    assert isinstance(full, control.OperatingPoint)
    assert np.array_equal(full.states, np.concatenate([point.q, point.v]))
    assert np.array_equal(full.inputs, point.u)
    lin = linearize(plant, point, coordinates=("left", "right"), outputs=("left",))
    states, inputs = lin_point = point.to_control(lin)
    assert not states.any()
    assert states.shape == (4,)
    assert inputs.shape == (2,)
    assert lin_point.outputs.shape == (1,)
    again = control.linearize(lin.to_ss(), lin_point)
    assert largest(again.A - lin.A) < 1e-5
    other = trim(plant, pose(plant, "asymmetric"))
    with pytest.raises(ValueError, match="another operating point"):
        other.to_control(lin)
    with pytest.raises(TypeError, match="must be from linearize"):
        point.to_control(lin.to_ss())


@pytest.mark.parametrize("absolute", [False, True])
def test_operating_point_of_a_system(absolute):
    plant = plants.five_bar()
    point = trim(plant, pose(plant, "open"))
    system = plant.to_iosystem(point, coordinates=("left", "right"), absolute=absolute)
    found = point.to_control(system)
    elsewhere = trim(plant, plant.assemble(point.q, left=2.2, right=1.05))
    other = elsewhere.to_control(system)  # a rest of the same system
    assert largest(other.states) > 0.01
    assert largest(np.asarray(system.dynamics(0.0, other.states, other.inputs))) < 1e-8
    assert largest(np.asarray(system.dynamics(0.0, found.states, found.inputs))) < 1e-9
    assert largest(found.inputs - (point.u if absolute else 0.0)) == 0.0
    assert largest(np.asarray(system.output(0.0, found.states, found.inputs)) - found.outputs) == 0.0
