"""The ready-made plants: what they claim to be, and the published numbers."""

import json

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.dynamics.acceleration import acceleration, forward_dynamics
from cmbcontrol.dynamics.forces import constraint_force
from cmbcontrol.model.elements import Actuator, Body, Frame, Point, PointOnPlane, Revolute
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.papers.measure import DATA
from cmbcontrol.plants import andrews, bricard, catalogue, five_bar, n_four_bar, parallelogram, pendulum, slider_crank
from cmbcontrol.plants.andrews import TORQUE
from cmbcontrol.plants.bricard import observed
from cmbcontrol.plants.five_bar import pose as five_bar_pose
from cmbcontrol.plants.n_four_bar import pose as n_four_bar_pose
from cmbcontrol.plants.n_four_bar import rate as n_four_bar_rate
from cmbcontrol.plants.parallel_four_bar import L1, L2
from cmbcontrol.plants.parallel_four_bar import pose as parallel_pose
from cmbcontrol.plants.parallelogram import pose as linkage_pose
from cmbcontrol.plants.parallelogram import rate as linkage_rate

# rows, rank, degrees of freedom, redundant rows at the start; verdict on the motors
CLAIMS = {
    "five-bar": (2, 2, 2, 0, "fully-actuated"),
    "grasping-arms": (12, 6, 3, 6, "over-actuated"),
    "leg": (3, 2, 1, 1, "over-actuated"),
    "pendulum": (5, 2, 1, 3, "fully-actuated"),
    "particle": (1, 1, 1, 0, "over-actuated"),
    "slider-crank": (1, 1, 1, 0, "fully-actuated"),
    "parallel-four-bar": (2, 2, 2, 0, "fully-actuated"),
    "parallelogram": (12, 11, 1, 1, "fully-actuated"),
    "n-four-bar": (4, 4, 1, 0, "fully-actuated"),
    "bricard": (5, 4, 1, 1, "fully-actuated"),
    "andrews": (6, 6, 1, 0, "fully-actuated"),
    "loader": (6, 6, 2, 0, "fully-actuated"),
    "stewart": (15, 15, 6, 0, "fully-actuated"),
    "three-rrr": (4, 4, 3, 0, "fully-actuated"),
    "delta": (15, 15, 3, 0, "fully-actuated"),
    "two-arms": (6, 3, 3, 3, "over-actuated"),
    "governor": (0, 0, 4, 0, "under-actuated"),
}
STUDIED = [name for name in CLAIMS if catalogue[name].study is not None]


# -- all of them --------------------------------------------------------------------------------------


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


# -- pendulum -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("closure", ["revolute", "line", "point"])
def test_pendulum(closure):
    plant = pendulum(mass=2.0, length=0.8, closure=closure)
    q = plant.assemble(angle=0.4)
    assert q == pytest.approx([0.4 * np.cos(0.4), 0.4 * np.sin(0.4), 0.4], abs=1e-12)
    across = np.array([-0.4 * np.sin(0.4), 0.4 * np.cos(0.4)])  # centre of mass by angle
    v, u = 1.5 * np.array([*across, 1.0]), 3.0
    inertia = 2.0 * 0.8**2 / 3.0
    expected = (u - 2.0 * 9.81 * 0.4 * np.cos(0.4)) / inertia
    assert forward_dynamics(plant, q, v, [u]) == pytest.approx(
        [*(expected * across - 1.5**2 * q[:2]), expected], abs=1e-10
    )
    assert pytest.approx(np.eye(3), abs=1e-12) == plant.pose(plant.assemble(angle=0.0), "rod").R


def test_pendulum_motor_acts_across_the_cut_pivot():
    plant = pendulum()
    assert plant.terms([0.0, 0.0, 0.3], [0.0] * 3).B[:, 0] == pytest.approx([0.0, 0.0, 1.0], abs=1e-15)


# -- plants given by functions -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["particle", "slider-crank"])
def test_sketch_shows_the_machine(name):
    plant, q, _ = catalogue[name].start()
    lines = [np.asarray(line) for line in plant.sketch(q)]
    assert all(line.shape[1] == 2 for line in lines)
    assert np.linalg.norm(lines[-1][1] - lines[-1][0]) == pytest.approx(1.0, abs=1e-15)  # radius, or connecting rod
    if name == "slider-crank":
        assert abs(lines[-1][1][1]) < 1e-15  # the slider is level with the pivot


# -- particle -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [0.0, 0.7, 2.5, -1.9])
def test_particle_formulas(angle):
    """Aghili, eqs. 33-37 and the two equations below them."""
    m, rho, speed = 1.7, 2.5, 3.0
    plant = plants.particle_on_circle(mass=m, radius=rho, gravity=(0.0, 0.0))
    along = np.array([-np.sin(angle), np.cos(angle)])
    out = np.array([np.cos(angle), np.sin(angle)])
    q, v, f = rho * out, speed * along, np.array([2.0, -5.0])
    terms = plant.terms(q, v)
    assert pytest.approx(np.outer(along, along), abs=1e-14) == terms.P
    assert terms.Cv == pytest.approx(-(speed**2) / rho * out, abs=1e-13)
    assert terms.A_pinv[:, 0] == pytest.approx(q / rho, abs=1e-14)
    vdot = forward_dynamics(plant, q, v, f)
    assert m * (along @ vdot) == pytest.approx(along @ f, abs=1e-12)
    assert out @ vdot == pytest.approx(-(speed**2) / rho, abs=1e-12)
    force = constraint_force(plant, q, v, f).force
    assert force == pytest.approx((out @ f + m * speed**2 / rho) * out, abs=1e-12)


def test_particle_assembles_from_its_centre():
    """The functions are not defined there; other starts are tried."""
    plant = plants.particle_on_circle(radius=2.0)
    with pytest.warns(RuntimeWarning, match="invalid value"):
        q = plant.assemble(guess=[0.0, 0.0], q1=0.0)
    assert abs(q[1]) == pytest.approx(2.0, abs=1e-12)


# -- slider-crank -------------------------------------------------------------------------------------


def slider_crank_of_parts(m, l):
    """The same machine made of bodies: point masses at the far ends, the end of the rod in a plane."""
    bodies = [Body("crank", m, (l, 0, 0)), Body("rod", m, (l, 0, 0))]
    joints = [Revolute("q1", "ground", "crank"), Revolute("q2", "crank", "rod", frame=Frame((l, 0, 0)))]
    loop = PointOnPlane("slider", "ground", "rod", point_b=(l, 0, 0), normal=(0, 1, 0))
    return Mechanism("twin", bodies, joints, [loop], actuators=[Actuator("q1")], gravity=(0, -9.81, 0))


@pytest.mark.parametrize("seed", range(5))
def test_slider_crank_twin(seed):
    rng = np.random.default_rng(seed)
    m, l = 1.5, 0.8
    plant, twin = slider_crank(mass=m, length=l), slider_crank_of_parts(m, l)
    crank = rng.uniform(-3.0, 3.0)
    q, v = np.array([crank, -2.0 * crank]), rng.standard_normal() * np.array([1.0, -2.0])
    a, b = plant.terms(q, v), twin.terms(q, v)
    for key in ("M", "h", "phi", "A", "b", "B"):
        assert getattr(a, key) == pytest.approx(getattr(b, key), abs=1e-12), key
    assert a.potential == pytest.approx(b.potential, abs=1e-12)
    u = rng.standard_normal(1)
    expected = forward_dynamics(twin, q, v, u)
    assert forward_dynamics(plant, q, v, u) == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert a.Cv == pytest.approx([0.0, 0.0], abs=1e-11)  # C = 0 on this branch


def test_slider_crank_projector():
    """Eq. (70) with its cases exchanged, and M_c'' (71) from it."""
    plant = slider_crank(length=0.8)
    P = np.array([[1.0, -2.0], [-2.0, 4.0]]) / 5.0
    for crank in (0.3, 1.5, 0.5 * np.pi - 1e-6, 2.0, -1.0):
        assert pytest.approx(P, abs=1e-9) == plant.terms([crank, -2.0 * crank], [0.0, 0.0]).P
    for crank in (0.5 * np.pi, -0.5 * np.pi):
        assert pytest.approx(np.eye(2), abs=0.0) == plant.terms([crank, -2.0 * crank], [0.0, 0.0]).P
    terms, ml2 = plant.terms([0.3, -0.6], [0.0, 0.0]), 0.8**2
    c2 = np.cos(-0.6)
    printed = ml2 * np.array([[1.0, (1.0 + c2) / 5.0], [0.0, (3.0 - 2.0 * c2) / 5.0]])
    assert terms.P @ terms.M + ml2 * (np.eye(2) - terms.P) == pytest.approx(printed, abs=1e-14)


def test_slider_crank_motors():
    assert slider_crank(actuated=("q1", "q2"), effort=2.0).effort.tolist() == [2.0, 2.0]
    passive = slider_crank(actuated=())
    assert passive.nu == 0 and passive.diagnose([0.3, -0.6]).actuation.verdict == "under-actuated"
    with pytest.raises(ValueError, match="no coordinate 'q3'"):
        slider_crank(actuated=("q3",))


# -- five-bar -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("closure", ["line", "point", "revolute"])
@pytest.mark.parametrize("cut", ["tip", "right"])
def test_five_bar_poses(cut, closure):
    plant = five_bar(cut, closure)
    for case in ("open", "singular", "second", "asymmetric"):
        q = five_bar_pose(plant, case)
        assert plant.closure_error(q) < 1e-14
        found = plant.diagnose(q)
        assert (found.dof, found.singular) == ((3, True) if case == "singular" else (2, False))
    assert plant.actuator_names == ("left", "right")
    tip = plant.point(five_bar_pose(plant, "second"), "left_upper", (1.5, 0, 0))
    assert tip[0] == pytest.approx(0.5, abs=1e-14)


def test_five_bar_published_angles():
    """Absolute angles of the second example: 120, 48.1897, 131.8103 (seen from the right elbow) and 60 degrees."""
    q = np.degrees(five_bar_pose(five_bar(), "second"))
    assert [q[0], q[0] + q[1], q[2], q[2] + q[3]] == pytest.approx([120.0, 48.1897, 60.0, 131.8103], abs=1e-4)


@pytest.mark.parametrize("closure", ["line", "point", "revolute"])
def test_five_bar_cuts_move_alike(closure):
    tip, right = five_bar("tip", "revolute"), five_bar("right", closure)
    q1, q2 = (five_bar_pose(p, "asymmetric") for p in (tip, right))
    u = [1.0, -2.0]
    a, b = forward_dynamics(tip, q1, np.zeros(4), u), forward_dynamics(right, q2, np.zeros(4), u)
    assert a[tip.index("left")] == pytest.approx(b[right.index("left")], rel=1e-10)
    assert a[tip.index("elbow_right")] == pytest.approx(-b[right.index("elbow_right")], rel=1e-10)


# -- parallel four-bar --------------------------------------------------------------------------------


@pytest.mark.parametrize(("q1", "q2"), [(2.0, 0.5), (1.0, -0.8), (-2.0, 2.7)])
def test_parallel_four_bar(q1, q2):
    plant = plants.parallel_four_bar()
    q = parallel_pose(q1, q2)
    x, y = (
        L2 * f(q2) + L1 * f(q2 + q[2]) + L2 * f(q2 + q[2] + q[3]) - L1 * f(q1) for f in (np.cos, np.sin)
    )  # Spencer's g
    assert abs(x) < 1e-15 and abs(y) < 1e-15 and plant.closure_error(q) < 1e-15
    Z = plant.terms(q, np.zeros(4)).Z
    K = Z @ np.linalg.inv(Z[:2])
    assert pytest.approx(np.array([[1, 0], [0, 1], [1, -1], [-1, 1]]), abs=1e-13) == K
    v = K @ [1.3, -0.4]
    vdot = forward_dynamics(plant, q, v, [1.0, 2.0])
    assert vdot == pytest.approx(K @ vdot[:2], abs=1e-10)  # K is constant
    assert plant.assemble(guess=q + 0.1, q1=q1, q2=q2) == pytest.approx(q, abs=1e-12)


def test_parallel_four_bar_flat():
    found = plants.parallel_four_bar().diagnose(parallel_pose(1.0, 1.0))
    assert (found.rank, found.generic_rank, found.singular) == (1, 2, True)


# -- parallelogram linkage ----------------------------------------------------------------------------


@pytest.mark.parametrize("coordinates", ["cartesian", "planar"])
def test_parallelogram_exact(coordinates):
    plant = parallelogram(coordinates)
    assert plant.position_names[:3] == ("link1_x", "link1_y", "link1_angle") and plant.nv == 12
    rng = np.random.default_rng(1)
    for _ in range(5):
        angle, speed = rng.uniform(-3.0, 3.0), rng.standard_normal()
        q, v = linkage_pose(angle), linkage_rate(plant, angle, speed)
        assert plant.closure_error(q) < 1e-14
        terms = plant.terms(q, v)
        assert terms.A.shape == (12, 12) and terms.rank == 11
        assert np.abs(terms.A @ v).max() < 1e-14
        assert terms.kinetic == pytest.approx(0.5 * 3.05 * speed**2, rel=1e-12)
        vdot = acceleration(terms, np.zeros(12))
        turning = [2, 5, 8]
        assert vdot[turning] == pytest.approx([-34.335 * np.cos(angle) / 3.05] * 3, abs=1e-10)
        assert abs(vdot[11]) < 1e-10
        assert plant.assemble(link1_angle=angle) == pytest.approx(q, abs=1e-11)


@pytest.mark.parametrize("coordinates", ["cartesian", "planar"])
def test_parallelogram_flat(coordinates):
    """Here the velocities gain a degree of freedom, but all branches nearby have rank 11."""
    found = parallelogram(coordinates).diagnose(linkage_pose(0.0))
    assert (found.rank, found.generic_rank, found.dof, found.singular) == (10, 11, 2, True)


def test_parallelogram_motor():
    plant = parallelogram()
    angle = 1.0
    vdot = forward_dynamics(plant, linkage_pose(angle), np.zeros(12), [7.0])
    assert vdot[2] == pytest.approx((7.0 - 34.335 * np.cos(angle)) / 3.05, rel=1e-10)
    assert parallelogram("planar").nu == 0


# -- N four-bar ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 10])
def test_n_four_bar_exact(n):
    plant, q0, v0 = catalogue["n-four-bar"].start(n=n)
    assert (plant.nv, len(plant.row_names)) == (2 * n + 1, 2 * n)
    assert plant.point(q0, "bar0", (1, 0, 0)) == pytest.approx([0.0, 1.0, 0.0], abs=1e-15)
    assert v0[0] == -1.0
    I, G = (n + 1) / 3 + n, 9.81 * ((n + 1) / 2 + n)
    rng = np.random.default_rng(n)
    for _ in range(4):
        angle, speed = rng.uniform(-3.0, 3.0), rng.standard_normal()
        q, v = n_four_bar_pose(n, angle), n_four_bar_rate(n, speed)
        terms = plant.terms(q, v)
        assert terms.kinetic == pytest.approx(0.5 * I * speed**2, rel=1e-12)
        vdot = forward_dynamics(plant, q, v, [2.0])
        assert vdot == pytest.approx(n_four_bar_pose(n, (2.0 - G * np.cos(angle)) / I), abs=1e-10)
    flat = plant.diagnose(n_four_bar_pose(n, 0.0))
    assert (flat.dof, flat.generic_rank) == (n + 1, 2 * n)


@pytest.mark.parametrize("n", [0, -1, 2.5, "2"])
def test_n_four_bar_refuses(n):
    with pytest.raises((TypeError, ValueError), match="whole number"):
        n_four_bar(n)


# -- Bricard ------------------------------------------------------------------------------------------


def test_bricard_rank_along_the_motion():
    plant = bricard()
    q = plant.neutral()
    for angle in np.linspace(0.0, 2.0, 21)[1:]:
        q = plant.assemble(guess=q, hinge0=angle)
        assert q[[2, 4]] == pytest.approx([angle, angle], abs=1e-11) and q[1] == pytest.approx(q[3], abs=1e-11)
        assert (1.0 + np.sin(q[0])) * (1.0 + np.sin(q[1])) == pytest.approx(1.0, abs=1e-11)
        terms = plant.terms(q, np.zeros(5))
        assert plant.closure_error(q) < 1e-12 and (terms.A.shape[0], terms.rank) == (5, 4)
        assert terms.singular_values[3] > 0.5 and terms.singular_values[4] < 1e-12
    for i in range(5):  # rods are as long as they should be
        ends = plant.point(q, f"rod{i + 1}"), plant.point(q, f"rod{i + 2}") if i < 4 else np.array([0, 0, 1.0])
        assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(1.0, abs=1e-11)


def test_bricard_starts_on_the_cube():
    plant, q, _ = catalogue["bricard"].start()
    assert observed(plant, q).tolist() == [1.0, -1.0, 0.0]
    data = json.loads((DATA / "iftomm.json").read_text())["A04"]["points"]
    for i in range(1, 5):
        key = next(k for k in data if k.startswith(f"P{i}"))
        assert plant.point(q, f"rod{i + 1}").tolist() == data[key]


# -- Andrews ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def squeezer():
    """The published problem."""
    return json.loads((DATA / "andrews.json").read_text())


def test_andrews_start(squeezer):
    """Accelerations and multipliers of the test set; its rows are ours, turned into world axes."""
    plant, q, v = catalogue["andrews"].start()
    start = squeezer["y0"]
    assert q == pytest.approx([float(x) for x in start["q"]], abs=1e-17)
    assert squeezer["params"]["mom"] == TORQUE
    vdot = forward_dynamics(plant, q, v, [TORQUE])
    expected = np.array([float(x) for x in start["qdd"]])
    assert np.abs(vdot - expected).max() < 1e-10 * np.abs(expected).max()
    lam = constraint_force(plant, q, v, [TORQUE]).multipliers
    assert world_multipliers(plant, q, lam) == pytest.approx([float(x) for x in start["lambda"]], abs=1e-8)


def world_multipliers(plant, q, lam):
    """Multipliers of the loops in world axes."""
    world = []
    for loop in plant.loops:
        two = np.array([*lam[plant.row_slices[loop.name]], 0.0])
        world += (plant.pose(q, loop.a).R @ two)[:2].tolist()
    return world


def test_andrews_at_the_end(squeezer):
    """At the independently computed end state: closed loops, accelerations, multipliers."""
    plant = andrews()
    key = next(k for k in squeezer if k.startswith("computed_reference"))
    end = {k: float(x) for k, x in squeezer[key].items()}
    q, v, a = (np.array([end[n + dash] for n in plant.position_names]) for dash in ("", "'", "''"))
    terms = plant.terms(q, v)
    assert np.abs(terms.phi).max() < 1e-15
    assert np.abs(terms.A @ v).max() < 1e-13 * np.abs(v).max()
    assert np.abs(forward_dynamics(plant, q, v, [TORQUE]) - a).max() < 1e-10 * np.abs(a).max()
    lam = constraint_force(plant, q, v, [TORQUE]).multipliers
    expected = np.array([end[f"lambda{i}"] for i in range(1, 7)])
    assert world_multipliers(plant, q, lam) == pytest.approx(expected, rel=1e-9)


def test_andrews_parameters(squeezer):
    """Lengths, masses and inertias, against the file."""
    p = squeezer["params"]
    plant = andrews()
    assert [b.mass for b in plant.bodies] == [p[f"m{i}"] for i in range(1, 8)]
    assert [b.inertia[2, 2] for b in plant.bodies] == [p[f"i{i}"] for i in range(1, 8)]
    spring = plant.springs[0]
    assert (spring.stiffness, spring.rest) == (p["c0"], p["l0"])
    assert isinstance(plant, Mechanism) and not any(isinstance(loop, Point) for loop in plant.loops)
