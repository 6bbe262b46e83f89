"""Loader, Stewart platform, 3-RRR, delta, two arms and governor against the same machines done another way."""

import dataclasses

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from cmbcontrol import OperatingPoint, affine_approximation, linearize, trim
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.dynamics.forces import constraint_force, inverse_dynamics
from cmbcontrol.model.elements import Distance, Frame, Free, JointSpring, Spherical
from cmbcontrol.model.functions import FunctionPlant
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.papers.measure import DATA
from cmbcontrol.plants import catalogue, delta, governor, loader, stewart, three_rrr, two_arms
from cmbcontrol.plants.delta import ARM, PLATFORM, ROD, ROD_MASS
from cmbcontrol.plants.delta import pose as delta_pose
from cmbcontrol.plants.governor import start as governor_start
from cmbcontrol.plants.loader import edge, start
from cmbcontrol.plants.loader import pose as loader_pose
from cmbcontrol.plants.planar import pin, two_bar
from cmbcontrol.plants.stewart import BASE, CLOSED, HOME
from cmbcontrol.plants.stewart import PLATFORM as RING
from cmbcontrol.plants.stewart import pose as stewart_pose
from cmbcontrol.plants.three_rrr import DISTAL, DRIVEN
from cmbcontrol.plants.three_rrr import pose as rrr_pose
from cmbcontrol.plants.two_arms import pose as arms_pose
from cmbcontrol.sim.simulate import simulate

G = 9.81
LEGS = tuple(f"leg{n}" for n in range(1, 7))

# every variant of every machine with loops: factory, pose, rows, rank, degrees of freedom
VARIANTS = {
    "loader-line": (lambda: loader("line"), lambda p: loader_pose(p, -0.2, 0.3), 6, 6, 2),
    "loader-point": (lambda: loader("point"), lambda p: loader_pose(p, -0.2, 0.3), 9, 6, 2),
    "loader-revolute": (lambda: loader("revolute"), lambda p: loader_pose(p, -0.2, 0.3), 15, 6, 2),
    "loader-loaded": (lambda: loader(load=6000.0), lambda p: loader_pose(p, 0.4, 0.3), 6, 6, 2),
    "stewart-leg": (stewart, stewart_pose, 15, 15, 6),
    "stewart-free": (lambda: stewart("free"), stewart_pose, 18, 18, 6),
    "three-rrr-line": (lambda: three_rrr("vertical"), rrr_pose, 4, 4, 3),
    "three-rrr-point": (lambda: three_rrr("vertical", "point"), rrr_pose, 6, 4, 3),
    "three-rrr-revolute": (lambda: three_rrr("vertical", "revolute"), rrr_pose, 10, 4, 3),
    "delta-ball": (delta, lambda p: delta_pose(p, 0.1, -0.05, -0.7), 15, 15, 3),
    "delta-universal": (lambda: delta("universal"), lambda p: delta_pose(p, 0.1, -0.05, -0.7), 20, 14, 3),
    "delta-loaded": (lambda: delta(load=1.0), lambda p: delta_pose(p, 0.1, -0.05, -0.7), 15, 15, 3),
    "two-arms-weld": (two_arms, arms_pose, 6, 3, 3),
    "two-arms-planar": (lambda: two_arms("planar"), arms_pose, 3, 3, 3),
}


def built(variant):
    """Plant and closed pose."""
    plant = VARIANTS[variant][0]()
    return plant, VARIANTS[variant][1](plant)


def moving(plant, q, seed=0, size=0.5):
    """A random admissible velocity."""
    return plant.project_velocity(q, size * np.random.default_rng(seed).standard_normal(plant.nv))


# -- all of them --------------------------------------------------------------------------------------


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
    run = simulate(plant, None, q, moving(plant, q), t_end=0.2, output_times=0.02)
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
    v, u = moving(first, q), 0.3 * first.effort
    expected = forward_dynamics(first, q, v, u)
    assert forward_dynamics(second, q, v, u) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_closed_form_errors_name_the_part():
    with pytest.raises(ValueError, match="link of the loader"):
        loader_pose(loader(), 0.85, -1.9)
    with pytest.raises(ValueError, match=r"leg1 would have to be 1\.601 m long and can be 0\.9 to 1\.4 m"):
        stewart_pose(stewart(), (0.0, 0.0, 0.5))
    with pytest.raises(ValueError, match="arm 2 of the 3-RRR"):
        rrr_pose(three_rrr(), x=-0.4)
    with pytest.raises(ValueError, match="arm1 of the delta"):
        delta_pose(delta(), 0.0, 0.0, -1.2)
    with pytest.raises(ValueError, match="the left arm cannot reach"):
        arms_pose(two_arms(), x=0.9)
    with pytest.raises(ValueError, match="three signs"):
        rrr_pose(three_rrr(), elbows="+*+")
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
        arms_pose(two_arms(), elbows="up")


@pytest.mark.parametrize("side", [1, -1])
def test_two_bars(side):
    first, second = two_bar((0.5, 0.4), 0.6, 0.3, side, "they")
    a, b = (np.array([np.cos(x), np.sin(x)]) for x in (first, second))
    assert 0.6 * a + 0.3 * b == pytest.approx([0.5, 0.4], abs=1e-15)
    assert np.sign(0.5 * a[1] - 0.4 * a[0]) == side


# -- loader -------------------------------------------------------------------------------------------


def loader_height(boom, bucket, load):
    """Sum of mass times height of the loader's parts (kg m), from its pins, in complex numbers; and both lengths."""
    turn = np.exp(1j * boom)
    hinge = 2.9 * turn
    floor = np.exp(1j * (boom + bucket))
    lever_pin, link_pin = (1.80 + 0.46j) * turn, hinge + (-0.15 + 0.30j) * floor
    # where the circles about the two pins of lever and link meet, below
    across = link_pin - lever_pin
    along = (abs(across) ** 2 + 0.92**2 - 0.52**2) / (2.0 * abs(across))
    meet = lever_pin + (along - 1j * np.sqrt(0.92**2 - along**2)) * across / abs(across)
    lower = (meet - lever_pin) / 0.92
    top = lever_pin + 0.60 * lower * np.exp(1j * np.radians(202.0))
    moments = [1500 * (1.40 + 0.10j) * turn, 2000 * (hinge + (0.42 + 0.38j) * floor)]
    moments += [350 * (lever_pin + (0.15 + 0.05j) * lower), 80 * 0.5 * (meet + link_pin)]
    moments += [load * (hinge + (0.50 + 0.45j) * floor)]
    lengths = []
    for base, end, barrel, rod, centre, behind in (
        (-0.15 - 0.65j, (1.65 - 0.15j) * turn, 220, 150, 0.55, 0.55),
        (0.28 + 0.10j, top, 160, 100, 0.38, 0.36),
    ):
        axis = (end - base) / abs(end - base)
        moments += [barrel * (base + centre * axis), rod * (end - behind * axis)]
        lengths.append(abs(end - base))
    return sum(moments).imag, np.array(lengths)


def gradient(f, x, step=1e-5):
    """Central differences of order four; f(x) is an array, the columns are those of x."""
    columns = []
    for e in np.eye(len(x)) * step:
        near, far = ((np.asarray(f(x + s * e)) - np.asarray(f(x - s * e))) / (2.0 * s * step) for s in (1.0, 2.0))
        columns.append((4.0 * near - far) / 3.0)
    return np.array(columns).T


@pytest.mark.parametrize("load", [0.0, 5000.0])
@pytest.mark.parametrize(("boom", "bucket"), [(-0.72, 0.72), (0.0, 0.3), (0.6, -0.9)])
def test_loader_cylinder_forces_by_virtual_work(boom, bucket, load):
    """The cylinders' forces do the work that lifts the weights: dV = F_lift d(lift) + F_tilt d(tilt)."""
    plant = loader(load=load)
    at = np.array([boom, bucket])
    weight = G * gradient(lambda x: loader_height(*x, load)[0], at)
    arms = gradient(lambda x: loader_height(*x, load)[1], at)
    q = loader_pose(plant, boom, bucket)
    expected = np.linalg.solve(arms.T, weight)
    assert trim(plant, q).u == pytest.approx(expected, rel=1e-8)
    assert inverse_dynamics(plant, q, np.zeros(plant.nv), np.zeros(plant.nv)).u == pytest.approx(expected, rel=1e-8)
    closed = q[[plant.position_names.index(n) for n in ("lift", "tilt")]] + [1.36, 0.92]
    assert closed == pytest.approx(loader_height(boom, bucket, load)[1], abs=1e-14)


@pytest.mark.parametrize("closure", ["line", "revolute"])
def test_loader_in_both_of_spencers_coordinates(closure):
    """Angles of boom and bucket, or displacements of the cylinders: at an equilibrium the same eigenvalues."""
    plant = loader(closure)
    point = trim(plant, start(plant)[0])
    angles = linearize(plant, point, coordinates=("boom", "bucket"))
    travels = linearize(plant, point, coordinates=("lift", "tilt"))
    arms = gradient(lambda x: loader_height(*x, 0.0)[1], np.array([-0.72, 0.72]))
    assert travels.A[2:, :2] == pytest.approx(arms @ angles.A[2:, :2] @ np.linalg.inv(arms), rel=1e-8)
    # the cylinders' mobility is symmetric in their own coordinates
    assert travels.B[2, 1] == pytest.approx(travels.B[3, 0], rel=1e-9)
    assert np.linalg.eigvalsh(travels.B[2:])[0] > 0.0


def test_loader_in_spencers_position_depends_on_the_coordinates():
    """Bucket lowered, no cylinder forces, no equilibrium: section 4.5 finds other eigenvalues in other coordinates.

    With s = s(y), J = ds/dy and the acceleration a of y: A21 in s = (J A21 + d(J a)/dy) J^-1.
    """
    plant, q, _ = catalogue["loader"].start()
    point = OperatingPoint.at(plant, q)
    angles = affine_approximation(plant, point, coordinates=("boom", "bucket"))
    travels = affine_approximation(plant, point, coordinates=("lift", "tilt"))
    at, a = np.array([-0.72, 0.72]), angles.drift[2:]

    def arms(x):
        return gradient(lambda y: loader_height(*y, 0.0)[1], x, 1e-3)

    J = arms(at)
    bent = gradient(lambda x: arms(x) @ a, at, 1e-3)
    assert travels.drift[2:] == pytest.approx(J @ a, rel=1e-9, abs=1e-9)
    assert travels.A[2:, :2] == pytest.approx((J @ angles.A[2:, :2] + bent) @ np.linalg.inv(J), rel=1e-6)
    growth = [np.linalg.eigvals(model.A).real.max() for model in (angles, travels)]
    assert growth[0] > 1.5 * growth[1] > 0.0  # as printed: 0.546 and 0.376 1/s


def test_loader_falls_without_cylinder_forces():
    """Spencer's position is no equilibrium."""
    plant, q, v = catalogue["loader"].start()
    vdot = forward_dynamics(plant, q, v, [0.0, 0.0])
    assert vdot[plant.index("boom")] < -1.0
    assert v.tolist() == [0.0] * 8 and edge(plant, q)[1] == pytest.approx(2.9 * np.sin(-0.72), abs=1e-14)


def test_loader_reaches_from_the_ground_to_the_dump_height():
    """Level all the way up, dumped by 40 degrees on top, curled by 34 degrees below: within strokes and limits."""
    plant = loader()
    low, high = plant.limits.T
    for boom in np.linspace(-0.78, 0.78, 9):
        q = loader_pose(plant, boom, -boom)
        assert np.all((q > low) & (q < high))
        assert np.all(np.abs(trim(loader(load=6000.0), q).u) < plant.effort)
    for boom, floor in ((0.78, -0.70), (-0.78, 0.60)):
        q = loader_pose(plant, boom, floor - boom)
        assert np.all((q > low) & (q < high))
    longer = np.diff([loader_pose(plant, 0.0, b)[7] for b in np.linspace(-0.7, 0.7, 9)])
    assert np.all(longer > 0.0)  # it curls


# -- Stewart platform ---------------------------------------------------------------------------------

PLACES = [((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), ((0.08, -0.05, 0.06), (0.1, -0.2, 0.3))]


def legs_at(position, turn):
    """Vectors (6, 3) along the legs from base to platform, and the platform's joints from its centre."""
    held = RING @ Rotation.from_rotvec(turn).as_matrix().T
    return HOME + np.asarray(position) + held - BASE, held


@pytest.mark.parametrize("carrier", ["leg", "free"])
@pytest.mark.parametrize(("position", "turn"), PLACES)
def test_stewart_pose(carrier, position, turn):
    plant = stewart(carrier)
    q = stewart_pose(plant, position, Rotation.from_rotvec(turn).as_matrix())
    assert plant.closure_error(q) < 1e-15
    frame = plant.pose(q, "platform")
    assert frame.p == pytest.approx(HOME + position, abs=1e-14)
    assert pytest.approx(Rotation.from_rotvec(turn).as_matrix(), abs=1e-14) == frame.R
    extensions = q[[plant.position_names.index(n) for n in LEGS]]
    assert extensions + CLOSED == pytest.approx(np.linalg.norm(legs_at(position, turn)[0], axis=1), abs=1e-14)


@pytest.mark.parametrize(("position", "turn"), PLACES)
def test_stewart_carriers_move_alike(position, turn):
    R = Rotation.from_rotvec(turn).as_matrix()
    one, two = stewart("leg"), stewart("free")
    q1, q2 = stewart_pose(one, position, R), stewart_pose(two, position, R)
    rates = np.random.default_rng(0).standard_normal(6)
    v1, v2 = (along_legs(p, q) @ rates for p, q in ((one, q1), (two, q2)))
    u = [300.0, 500.0, 400.0, 450.0, 350.0, 600.0]
    a1, a2 = forward_dynamics(one, q1, v1, u), forward_dynamics(two, q2, v2, u)
    shared = [n for n in one.velocity_names if n in two.velocity_names]
    assert len(shared) == 18
    expected = [a1[one.index(n)] for n in shared]
    assert [a2[two.index(n)] for n in shared] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def along_legs(plant, q):
    """Velocity of the plant for each unit rate of a leg, (nv, 6)."""
    Z = plant.terms(q, np.zeros(plant.nv)).Z
    return Z @ np.linalg.inv(Z[[plant.index(n) for n in LEGS]])


@pytest.mark.parametrize("carrier", ["leg", "free"])
@pytest.mark.parametrize(("position", "turn"), PLACES)
def test_stewart_at_rest_carries_its_weight(carrier, position, turn):
    """Leg forces by virtual work of all weights, in the six motions of the platform, outside the library."""
    plant = stewart(carrier)

    def of(x):
        legs, held = legs_at(x[:3], x[3:])
        along = legs / np.linalg.norm(legs, axis=1)[:, None]
        top = HOME + x[:3] + 0.10 * Rotation.from_rotvec(x[3:]).as_matrix()[:, 2]
        tips = HOME + x[:3] + held
        height = 200.0 * top[2] + 12.0 * 0.30 * along[:, 2].sum() + 5.0 * (tips - 0.35 * along)[:, 2].sum()
        return np.append(np.linalg.norm(legs, axis=1), G * height)

    work = gradient(of, np.concatenate([position, turn]))
    expected = np.linalg.solve(work[:6].T, work[6])
    q = stewart_pose(plant, position, Rotation.from_rotvec(turn).as_matrix())
    rest = np.zeros(plant.nv)
    assert inverse_dynamics(plant, q, rest, rest).u == pytest.approx(expected, rel=1e-8)
    if not any(turn):
        assert expected == pytest.approx([expected[0]] * 6, rel=1e-8)


def light(plant, heavy, factor=1e-9, **more):
    """The same machine, with nearly no mass in all bodies but the heavy ones."""
    bodies = [
        b if b.name in heavy else dataclasses.replace(b, mass=factor * b.mass, inertia=factor * b.inertia)
        for b in plant.bodies
    ]
    return Mechanism(plant.name, bodies, plant.joints, plant.loops, actuators=plant.actuators, **more)


@pytest.mark.parametrize("carrier", ["leg", "free"])
def test_stewart_without_mass_in_the_legs_is_a_body_on_springs(carrier):
    """Frequencies of the free body: M and J' k J of the platform, with the lines of the legs as the rows of J."""
    k = 4e5
    plant = stewart(carrier)
    q = stewart_pose(plant)
    springs = [JointSpring(f"s{n}", n, stiffness=k, rest=q[plant.position_names.index(n)]) for n in LEGS]
    sprung = light(plant, ("platform",), springs=springs, gravity=(0, 0, 0))
    found = linearize(sprung, trim(sprung, q), coordinates=LEGS)
    legs, held = legs_at((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    along = legs / np.linalg.norm(legs, axis=1)[:, None]
    J = np.hstack([np.cross(held - [0, 0, 0.10], along), along])  # about the centre of mass
    expected = np.sort(np.linalg.eigvals(np.diag([1 / 22, 1 / 22, 1 / 42, *[1 / 200] * 3]) @ J.T @ J * k).real)
    squares = np.sort(np.linalg.eigvals(-found.A[6:, :6]).real)
    assert squares == pytest.approx(expected, rel=1e-7)
    assert expected[0] > 100.0


def test_stewart_without_mass_in_the_legs_carries_as_rods_do():
    """At a tilted pose in motion: the legs' forces are those on a free rigid body (Newton and Euler)."""
    plant = light(stewart("free"), ("platform",), 1e-10)
    q = stewart_pose(plant, *(PLACES[1][0], Rotation.from_rotvec(PLACES[1][1]).as_matrix()))
    v = moving(plant, q)
    u = np.array([300.0, 500.0, 400.0, 450.0, 350.0, 600.0])
    a = forward_dynamics(plant, q, v, u)
    omega, alpha = (x[[plant.index(f"platform_w{k}") for k in "xyz"]] for x in (v, a))
    speed, rate = (x[[plant.index(f"platform_v{k}") for k in "xyz"]] for x in (v, a))
    R = plant.pose(q, "platform").R
    centre = np.array([0.0, 0.0, 0.10])
    moved = rate + np.cross(omega, speed) + np.cross(alpha, centre) + np.cross(omega, np.cross(omega, centre))
    legs, held = legs_at(*PLACES[1])
    force = (u / np.linalg.norm(legs, axis=1))[:, None] * legs
    assert 200.0 * R @ moved == pytest.approx(force.sum(axis=0) - [0, 0, 200.0 * G], abs=1e-4)
    I = np.diag([22.0, 22.0, 42.0])
    torque = np.cross(held - R @ centre, force).sum(axis=0)
    assert R @ (I @ alpha + np.cross(omega, I @ omega)) == pytest.approx(torque, abs=1e-4)


# -- 3-RRR --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("elbows", ["+++", "---", "+-+", "-++"])
def test_rrr_pose(elbows):
    plant = three_rrr()
    q = rrr_pose(plant, 0.06, -0.03, 0.2, elbows)
    assert plant.closure_error(q) < 1e-15
    frame = plant.pose(q, "platform")
    assert [*frame.p[:2], np.arctan2(frame.R[1, 0], frame.R[0, 0])] == pytest.approx([0.06, -0.03, 0.2], abs=1e-14)
    signs = [np.sign(-q[plant.position_names.index(f"elbow{n}")]) for n in (1, 2, 3)]
    assert signs == [1.0 if sign == "+" else -1.0 for sign in elbows]


@pytest.mark.parametrize("closure", ["line", "revolute"])
def test_rrr_is_the_same_after_a_third_of_a_turn(closure):
    """Pose, velocity and torques turned by 120 degrees: the accelerations go round with the arms."""
    plant = three_rrr(closure=closure)
    third = 2.0 * np.pi / 3.0
    x, y = turn = np.array([0.06, -0.03])
    c, s = np.cos(third), np.sin(third)
    q1 = rrr_pose(plant, *turn, 0.2)
    q2 = rrr_pose(plant, c * x - s * y, s * x + c * y, 0.2)
    drives = [plant.index(f"drive{n}") for n in (1, 2, 3)]
    rates, u = np.array([1.0, -0.5, 0.7]), np.array([2.0, -1.0, 0.5])
    found = []
    for q, k in ((q1, 0), (q2, 1)):
        Z = plant.terms(q, np.zeros(plant.nv)).Z
        v = Z @ np.linalg.solve(Z[drives], np.roll(rates, k))
        found.append(forward_dynamics(plant, q, v, np.roll(u, k)))
    assert found[1][drives] == pytest.approx(np.roll(found[0][drives], 1), rel=1e-10)
    elbows = [plant.index(f"elbow{n}") for n in (1, 2, 3)]
    assert found[1][elbows] == pytest.approx(np.roll(found[0][elbows], 1), rel=1e-10)


def test_rrr_gravity_acts_in_the_vertical_plane_only():
    level, upright = three_rrr(), three_rrr("vertical")
    q = rrr_pose(level, 0.05, 0.04, 0.1)
    assert trim(level, q).u.tolist() == [0.0, 0.0, 0.0]
    held = trim(upright, q).u

    def height(x):  # mass times height, kg m, at given angles of the drives
        at = upright.assemble(guess=q, **dict(zip(("drive1", "drive2", "drive3"), x, strict=True)))
        return G * sum(b.mass * upright.point(at, b.name, b.com)[1] for b in upright.bodies)

    drives = q[[upright.position_names.index(f"drive{n}") for n in (1, 2, 3)]]
    assert held == pytest.approx(gradient(height, drives, 1e-3), rel=1e-7)


def test_rrr_loses_a_freedom_where_its_distal_links_meet():
    """Turned so far that all distal links point at the centre, the motors do not hold the platform's rotation."""
    reach = 0.12 + DISTAL  # from the centre to the elbows
    bend = np.arccos((0.5**2 + reach**2 - DRIVEN**2) / (2.0 * 0.5 * reach))
    plant = three_rrr()
    # the elbow lies on the ray of the platform's pin, turned by -bend; to the left of pivot and pin
    q = rrr_pose(plant, 0.0, 0.0, bend, "---")
    ends = [plant.point(q, "platform", (0, 0, 0)), plant.point(q, "distal1"), plant.point(q, "distal1", (DISTAL, 0, 0))]
    assert np.cross(ends[2] - ends[1], ends[0] - ends[1])[2] == pytest.approx(0.0, abs=1e-14)
    found = plant.diagnose(q)
    assert (found.dof, found.actuation.verdict, found.actuation.rank) == (3, "under-actuated", 2)
    near = plant.diagnose(rrr_pose(plant, 0.0, 0.0, bend - 0.05, "---"))
    assert near.actuation.complete and near.actuation.margin < 0.1


# -- delta --------------------------------------------------------------------------------------------


def lagrangian_delta(load):
    """The delta robot in x, y, z and the arms' angles, from the kinetic energy of thin rods; pairs count as one.

    A thin rod whose ends move at va and vb has the energy m (va'va + va'vb + vb'vb) / 6.
    """
    spin = [np.array([np.cos(a), np.sin(a), 0.0]) for a in np.radians([0.0, 120.0, 240.0])]
    up, m = np.array([0.0, 0.0, 1.0]), 2.0 * ROD_MASS
    moved = 0.5 + load
    about_motor = 0.012 + 1.0 * 0.12**2

    def ends(q):
        elbows = [(0.20 + ARM * np.cos(t)) * e - ARM * np.sin(t) * up for e, t in zip(spin, q[3:], strict=True)]
        slopes = [-ARM * np.sin(t) * e - ARM * np.cos(t) * up for e, t in zip(spin, q[3:], strict=True)]
        return elbows, slopes, [q[:3] + PLATFORM * e - p for e, p in zip(spin, elbows, strict=True)]

    def M(q):
        out = np.zeros((6, 6))
        out[:3, :3] = (moved + 3.0 * m / 3.0) * np.eye(3)
        for i, w in enumerate(ends(q)[1]):
            out[3 + i, 3 + i] = about_motor + m / 3.0 * ARM**2
            out[:3, 3 + i] = out[3 + i, :3] = m / 6.0 * w
        return out

    def h(q, v):
        out = np.zeros(6)
        out[2] = G * (moved + 1.5 * m)
        for i, (e, t) in enumerate(zip(spin, q[3:], strict=True)):
            bent = -ARM * np.cos(t) * e + ARM * np.sin(t) * up
            out[:3] += m / 6.0 * bent * v[3 + i] ** 2  # the other terms cancel: |w| is constant
            out[3 + i] = -G * np.cos(t) * (1.0 * 0.12 + 0.5 * m * ARM)
        return out

    def A(q):
        out = np.zeros((3, 6))
        for i, (w, d) in enumerate(zip(*ends(q)[1:], strict=True)):
            out[i, :3], out[i, 3 + i] = d, -d @ w
        return out

    def Adot_v(q, v):
        out = np.zeros(3)
        for i, (e, t, w, d) in enumerate(zip(spin, q[3:], *ends(q)[1:], strict=True)):
            bent = -ARM * np.cos(t) * e + ARM * np.sin(t) * up
            rate = v[:3] - w * v[3 + i]
            out[i] = rate @ rate - d @ bent * v[3 + i] ** 2
        return out

    return FunctionPlant(
        "twin",
        ("x", "y", "z", "arm1", "arm2", "arm3"),
        M=M,
        h=h,
        Phi=lambda q: [0.5 * (d @ d - ROD**2) for d in ends(q)[2]],
        A=A,
        Adot_v=Adot_v,
        actuators=("arm1", "arm2", "arm3"),
    )


@pytest.mark.parametrize("joints", ["ball", "universal"])
@pytest.mark.parametrize("place", [(0.0, 0.0, -0.75), (0.15, -0.1, -0.65), (-0.2, 0.2, -0.8)])
@pytest.mark.parametrize("load", [0.0, 1.5])
def test_delta_is_the_lagrangian_one(joints, place, load):
    plant, twin = delta(joints, load), lagrangian_delta(load)
    q = delta_pose(plant, *place)
    arms = [plant.index(f"arm{n}") for n in (1, 2, 3)]
    at = np.array([*place, *q[[plant.position_names.index(f"arm{n}") for n in (1, 2, 3)]]])
    assert np.abs(twin.residual(at)).max() < 1e-15
    rates = np.array([2.0, -1.0, 1.5])
    v, w = (Z @ np.linalg.solve(Z[rows], rates) for Z, rows in (
        (plant.terms(q, np.zeros(plant.nv)).Z, arms), (twin.terms(at, np.zeros(6)).Z, [3, 4, 5])))  # fmt: skip
    u = np.array([3.0, -4.0, 5.0])
    expected = forward_dynamics(twin, at, w, u)
    assert forward_dynamics(plant, q, v, u)[arms] == pytest.approx(expected[3:], rel=1e-9)
    assert plant.terms(q, v).kinetic == pytest.approx(twin.terms(at, w).kinetic, rel=1e-12)


@pytest.mark.parametrize("joints", ["ball", "universal"])
def test_delta_platform_does_not_turn(joints):
    plant = delta(joints)
    q = delta_pose(plant, 0.1, 0.05, -0.7)
    terms = plant.terms(q, np.zeros(plant.nv))
    for z in terms.Z.T:
        moved = plant.pose(plant.close(plant.integrate(q, 0.05 * z)), "platform")
        assert pytest.approx(np.eye(3), abs=1e-12) == moved.R
    assert plant.pose(q, "platform").p == pytest.approx([0.1, 0.05, -0.7], abs=1e-14)


def test_delta_neutral_is_arms_level():
    for joints in ("ball", "universal"):
        plant = delta(joints)
        assert plant.closure_error(plant.neutral()) < 1e-15
        level = plant.pose(plant.neutral(), "platform")
        assert pytest.approx(np.eye(3), abs=1e-15) == level.R
        assert np.abs(plant.difference(plant.neutral(), delta_pose(plant, *level.p))).max() < 1e-7


def test_delta_rods_on_ball_joints_would_spin():
    """Why the rods hang on universal joints: with ball joints on both ends there are six more degrees of freedom."""
    plant = delta()
    thick = [dataclasses.replace(b, inertia=b.inertia + np.diag([0, 0, 1e-5])) for b in plant.bodies]
    tree = [
        Spherical(j.name, j.parent, j.child, frame=j.frame, child_frame=j.child_frame) if "rod" in j.name else j
        for j in plant.joints
    ]
    loose = Mechanism("loose", thick, tree, plant.loops)
    assert loose.diagnose(loose.neutral()).dof == 9


def test_delta_without_mass_in_the_rods_has_distance_rows():
    plant = delta()
    bodies = [b for b in plant.bodies if "rod" not in b.name]
    tree = [j for j in plant.joints if j.name.startswith("arm")]
    tree.append(Free("platform", "ground", "platform", frame=Frame((0, 0, -0.75))))
    rods = []
    for n, angle in enumerate(np.radians([0.0, 120.0, 240.0]), start=1):
        out = Frame.turned((0, 0, 1), angle)
        for name, side in ((f"rod{n}a", -0.06), (f"rod{n}b", 0.06)):
            end = (out @ Frame((PLATFORM, side, 0))).p
            rods.append(Distance(name, f"arm{n}", "platform", (ARM, side, 0), end, ROD))
    massless = Mechanism("massless", bodies, tree, rods, actuators=plant.actuators)
    thin = light(plant, ("arm1", "arm2", "arm3", "platform"))
    q1, q2 = (
        massless.pack({f"arm{n}": delta_pose(plant, 0, 0, -0.75)[0] for n in (1, 2, 3)}),
        delta_pose(thin, 0, 0, -0.75),
    )
    found = massless.diagnose(q1)
    assert massless.closure_error(q1) < 1e-15
    assert (found.rows, found.dof, found.singular) == (6, 3, False)
    u = [3.0, 1.0, -2.0]
    a, b = (forward_dynamics(p, q, np.zeros(p.nv), u) for p, q in ((massless, q1), (thin, q2)))
    assert [b[thin.index(f"arm{n}")] for n in (1, 2, 3)] == pytest.approx(a[:3], rel=1e-6)


# -- two arms -----------------------------------------------------------------------------------------


def test_arms_share_the_weight():
    """In the symmetric pose, mirrored efforts; the right hand carries half of the object."""
    plant, q, v = catalogue["two-arms"].start()
    u = trim(plant, q).u
    assert u[3:] == pytest.approx(-u[:3], rel=1e-9)
    lam = constraint_force(plant, q, v, u).multipliers
    assert abs(lam[plant.row_names.index("grasp_y")]) == pytest.approx(0.5 * 6.0 * G, rel=1e-9)  # the object is level


def test_arms_squeeze_without_moving():
    """Three combinations of efforts leave the motion alone and change the force in the grasp."""
    plant = two_arms("planar")
    q = arms_pose(plant, 0.05, 0.55, 0.1)
    v = moving(plant, q)
    terms = plant.terms(q, v)
    inner = np.linalg.svd(terms.Z.T @ terms.B)[2][3:]
    assert inner.shape == (3, 6)
    u = np.array([5.0, 3.0, 1.0, -5.0, 2.0, 1.0])
    base, pressed = [], []
    for squeeze in inner:
        base = constraint_force(plant, q, v, u)
        pressed.append(constraint_force(plant, q, v, u + 10.0 * squeeze).multipliers - base.multipliers)
        assert forward_dynamics(plant, q, v, u + 10.0 * squeeze) == pytest.approx(base.acceleration, abs=1e-9)
    assert np.linalg.matrix_rank(pressed) == 3  # any force and moment in the grasp can be had
    u_min = inverse_dynamics(plant, q, v, base.acceleration).u
    assert inner @ u_min == pytest.approx([0.0] * 3, abs=1e-9) and np.linalg.norm(u_min) < np.linalg.norm(u)


def test_arms_squeeze_by_the_jacobian_of_an_arm():
    """A pair of forces of 50 N on the object, pushed by each arm: torques J'f of both arms, alone."""
    plant = two_arms("planar")
    q = arms_pose(plant, 0.0, 0.55, 0.0)

    def wrists(angles, side):  # the grasp point from the shoulder
        total = np.cumsum(angles)
        return [sum(l * f(a) for l, a in zip((0.45, 0.40, 0.12), total, strict=True)) for f in (np.cos, np.sin)]

    torques = []
    for side, push in (("left", 50.0), ("right", -50.0)):
        angles = q[[plant.position_names.index(f"{side}_{j}") for j in ("shoulder", "elbow", "wrist")]]
        J = gradient(lambda x, side=side: wrists(x, side), angles)
        torques.append(J.T @ [push, 0.0])
    extra = np.concatenate(torques)
    free, rest = trim(plant, q).u, np.zeros(6)
    assert np.abs(forward_dynamics(plant, q, rest, free + extra)).max() < 1e-6
    lam = [constraint_force(plant, q, rest, u).multipliers for u in (free, free + extra)]
    # both grasps are at the same height: a pure push along x, no moment
    assert np.abs(lam[1] - lam[0])[:2] == pytest.approx([50.0, 0.0], abs=1e-7)


def test_arms_poses():
    plant = two_arms()
    for elbows in ("out", "in"):
        q = arms_pose(plant, 0.05, 0.45, -0.2, elbows)
        frame = plant.pose(q, "object")
        assert [*frame.p[:2], frame.R[1, 0]] == pytest.approx([0.05, 0.45, np.sin(-0.2)], abs=1e-14)
    outer, inner = (arms_pose(plant, elbows=e) for e in ("out", "in"))
    apart = [plant.point(q, "right_fore")[0] - plant.point(q, "left_fore")[0] for q in (outer, inner)]
    assert apart[0] > apart[1]


# -- governor -----------------------------------------------------------------------------------------


def reference_slider():
    """The benchmark's printed curve: t, s."""
    text = (DATA / "iftomm_a05_s.csv").read_text().splitlines()
    return np.array([[float(x) for x in line.split(",")] for line in text if line[:1].isdigit()])


@pytest.mark.nojit_slow
def test_governor_follows_the_benchmark():
    """To the accuracy of the points (1.2e-6 m); a tolerance of 1e-6 is enough for that."""
    plant, q, v = catalogue["governor"].start()
    points = reference_slider()
    assert len(points) == 31
    run = simulate(plant, None, q, v, t_end=3.0, output_times=points[:, 0], rtol=1e-7, atol=1e-7)
    slider = run.q.sel(position="slider").values
    assert np.abs(slider - points[:, 1]).max() < 1.3e-6
    rods = run.q.sel(position=["rod1", "rod2"]).values
    assert np.abs(rods[:, 0] - rods[:, 1]).max() < 1e-12
    assert run.max_energy_error < 1e-4  # of some 350 J, what the dampers take counted


@pytest.mark.nojit_slow
def test_governor_keeps_its_angular_momentum():
    plant, q, v = catalogue["governor"].start()
    run = simulate(plant, None, q, v, t_end=0.05, output_times=0.01)
    momentum = [(plant.terms(*x).M @ x[1])[0] for x in zip(run.q.values, run.v.values, strict=True)]
    assert momentum == pytest.approx([momentum[0]] * len(momentum), rel=1e-13)
    # two balls and rods, level distances from the shaft's line
    out = 0.05 + np.cos(np.radians(30.0))
    middle, thin = 0.05 + 0.5 * np.cos(np.radians(30.0)), 0.3 / 12.0 * (1.0 + 1e-4)
    rod = 0.3 * middle**2 + thin * 0.75 + 0.3e-4 / 6.0 * 0.25
    own = 0.3 * 1e-4 / 6.0 + 3.0 * 0.01 / 6.0
    assert momentum[0] == pytest.approx(2.0 * np.pi * (2.0 * (5.0 * out**2 + rod) + own), rel=1e-12)


@pytest.mark.nojit_slow
def test_governor_without_dampers_keeps_its_energy():
    plant = governor(damping=0.0)
    q, v = governor_start(plant)
    run = simulate(plant, None, q, v, t_end=0.1, output_times=0.01)
    energy = [plant.terms(*x).energy for x in zip(run.q.values, run.v.values, strict=True)]
    assert np.ptp(energy) < 1e-9 * energy[0] and np.ptp(run.q.values[:, 1]) > 1e-2


def test_governor_is_stiff():
    """Eigenvalues of the motion at the start: damper over reduced mass, against the bending of the path."""
    plant, q, v = catalogue["governor"].start()
    x = np.concatenate([q, v])
    J = gradient(lambda x: np.concatenate([x[4:], forward_dynamics(plant, x[:4], x[4:])]), x, 1e-4)
    found = np.sort(np.linalg.eigvals(J).real)
    assert found[:4] == pytest.approx([-8117.2, -1450.3, -20.298, -20.051], rel=1e-4)


def test_governor_arguments():
    assert governor().nu == 0 and catalogue["governor"].study is None
    driven = governor(motor=12.0)
    assert driven.actuator_names == ("shaft",) and driven.effort.tolist() == [12.0]
    soft = governor(stiffness=10.0, damping=0.5)
    assert {(s.stiffness, s.damping, s.rest) for s in soft.springs} == {(10.0, 0.5, 0.5)}
    with pytest.raises(ValueError, match="stiffness"):
        governor(stiffness=-1.0)
    # at the start the springs are at rest: only the weights and the swing act
    q, v = governor_start(soft)
    a, b = forward_dynamics(soft, q, v), forward_dynamics(governor(), q, v)
    assert a == pytest.approx(b, abs=1e-9)
    assert a[soft.index("slider")] == pytest.approx(-G, abs=1e-9)
