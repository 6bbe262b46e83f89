"""Modes: closed forms, symmetry, participation, energy, repeated eigenvalues."""

import dataclasses

import numpy as np
import pytest
from scipy.linalg import block_diag, eig

from cmbcontrol import OperatingPoint, affine_approximation, linearize, plants, simulate, trim
from cmbcontrol.dynamics.derivatives import derivatives
from cmbcontrol.errors import EquilibriumError, ModelError
from cmbcontrol.linear.modes import mode_list
from cmbcontrol.model.elements import (
    Actuator,
    Body,
    Fixed,
    Frame,
    JointSpring,
    Planar,
    PointOnLine,
    PointSpring,
    Revolute,
)
from cmbcontrol.model.mechanism import Mechanism
from tests import fixtures
from tests.fixtures import damped_five_bar, hang, largest


def test_modes(hanging):
    plant, point = hanging
    model = linearize(plant, point)
    modes = model.damping()
    assert len(modes) == 2
    for mode in modes:
        assert 0.0 < mode.damping < 1.0
        assert np.abs(mode.shape).max() == pytest.approx(1.0)
        assert largest(plant.jacobian(point.q) @ mode.shape) < 1e-12
        # K and D of the whole machine, on the shape: a root of its quadratic
        here, s = derivatives(plant, point.q, point.v, point.u), mode.eigenvalue
        pencil = s * s * here.M + s * here.force_v + here.force_q
        assert largest(here.Z.T @ pencil @ mode.shape) < 1e-10


G = 9.81


def double_pendulum(length=0.7, closure="tree"):
    """Two point masses on massless rods, hanging along -y."""
    bodies = [Body(f"mass{i}", 1.3, (length, 0.0, 0.0)) for i in (1, 2)]
    end = Frame((length, 0.0, 0.0))
    upper = Revolute("upper", "ground", "mass1")
    if closure == "tree":
        joints, loops = [upper, Revolute("lower", "mass1", "mass2", frame=end)], []
    else:
        bodies[1] = dataclasses.replace(bodies[1], inertia=(1e-10, 1e-10, 1e-10))
        joints = [upper, Planar("lower", "ground", "mass2")]
        loops = [PointOnLine("pin", "mass1", "mass2", (length, 0, 0), (0, 0, 0))]
    return Mechanism("double pendulum", bodies, joints, loops, gravity=(0.0, -G, 0.0))


@pytest.fixture(scope="module")
def pendulum():
    plant = plants.pendulum()
    return linearize(plant, trim(plant, plant.assemble(angle=-np.pi / 2)), coordinates=("angle",))


def with_matrix(lin, A, **more):
    """A linear model with another A (and K, N of as many degrees of freedom)."""
    A = np.array(A, dtype=float)
    n = len(A) // 2
    names = tuple(f"y{i}" for i in range(n))
    new = {"A": A, "K": np.eye(n), "N": np.zeros((n, n)), "drift": np.zeros(2 * n), "B": np.zeros((2 * n, 0))}
    new |= {"C": np.zeros((0, 2 * n)), "D": np.zeros((0, 0)), "inputs": (), "outputs": (), "input_units": ()}
    new |= {"output_units": (), "coordinates": names, "states": (*names, *(f"{x}_rate" for x in names))}
    point = dataclasses.replace(lin.point, plant=None)
    return dataclasses.replace(lin, **(new | {"state_units": ("",) * 2 * n, "point": point} | more))


def interleaved(*blocks):
    """Oscillators of two states each as one system (y, dy/dt)."""
    n = len(blocks)
    order = [*range(0, 2 * n, 2), *range(1, 2 * n, 2)]
    return block_diag(*blocks)[np.ix_(order, order)]


# -- closed forms ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("closure", ["tree", "cut"])
def test_double_pendulum(closure):
    """w^2 = (2 -+ sqrt 2) g / l; the lower mass swings sqrt 2 times as far, along or against."""
    plant = double_pendulum(closure=closure)
    guess = {"upper": -0.5 * np.pi} if closure == "tree" else {"upper": -1.57, "lower_y": -0.7, "lower_theta": -1.57}
    if closure == "cut":
        guess = dict(zip(plant.position_names, (-0.5 * np.pi, 0.0, -0.7, -0.5 * np.pi), strict=True))
    point = trim(plant, plant.assemble(guess=guess), free="all", u=0.0, stable=True)
    names = ("upper", "lower") if closure == "tree" else ("upper", plant.velocity_names[3])
    modes = linearize(plant, point, coordinates=names).modes()
    np.testing.assert_allclose(modes.frequency, np.sqrt((2.0 + np.array([-1, 1]) * np.sqrt(2.0)) * G / 0.7), rtol=1e-9)
    assert list(modes.kind.values) == ["oscillation"] * 2
    shape = modes.data["shape"].sel(coordinate=list(names)).values.real
    ratio = shape[:, 1] / shape[:, 0] + (1.0 if closure == "tree" else 0.0)  # of absolute angles
    np.testing.assert_allclose(ratio, [np.sqrt(2.0), -np.sqrt(2.0)], rtol=1e-8)
    # the upper mass moves by th1, the lower by th1 + th2: 1 against (1 +- sqrt 2)^2
    share = 1.0 / (1.0 + (1.0 + np.array([1.0, -1.0]) * np.sqrt(2.0)) ** 2)
    np.testing.assert_allclose(modes.body_energy.sel(body="mass1"), share, rtol=1e-7)


def test_rod_on_a_cut_joint(pendulum):
    modes = pendulum.modes()
    assert modes.frequency.values == pytest.approx([np.sqrt(1.5 * G)], rel=1e-12)
    mode = modes[0]
    assert (mode.kind, mode.multiplicity, mode.geometric_multiplicity) == ("oscillation", 1, 1)
    assert mode.eigenvalue.real == 0.0  # rounding is taken away
    assert mode.time_constant == np.inf
    np.testing.assert_allclose(modes.participation.values, [[0.5, 0.5]], rtol=1e-12)
    np.testing.assert_allclose(modes.period.values, 2.0 * np.pi / np.sqrt(1.5 * G))
    np.testing.assert_allclose(modes.body_energy.values, [np.eye(len(modes.body))[-1]], atol=1e-14)
    undamped = pendulum.undamped_modes()
    assert undamped.frequency.values == pytest.approx(modes.frequency.values, rel=1e-12)
    scale = 1.0 / np.abs(modes.data["shape"].sel(coordinate="angle").values[0]) ** 2
    assert undamped.modal_mass.values * scale == pytest.approx([1.0 / 3.0], rel=1e-10)  # m l^2 / 3
    assert undamped.modal_stiffness.values * scale == pytest.approx([0.5 * G], rel=1e-10)


def test_damped_oscillator_by_its_formulas():
    """A rotor on a spring and a damper: light, heavy, and critical damping."""
    stiffness, inertia = 8.0, 0.5
    for ratio in (0.1, 3.0):
        spring = JointSpring("spring", "pivot", stiffness, 0.0, 2.0 * ratio * np.sqrt(stiffness * inertia))
        rotor = Body("rotor", 1.0, inertia=(0.3, 0.3, inertia))
        plant = Mechanism("rotor", [rotor], [Revolute("pivot", "ground", "rotor")], springs=[spring], gravity=(0, 0, 0))
        modes = linearize(plant, trim(plant, [0.0])).modes()
        if ratio < 1.0:
            mode = modes[0]
            assert (mode.frequency, mode.damping) == pytest.approx((4.0, ratio), rel=1e-12)
            assert mode.time_constant == pytest.approx(1.0 / (ratio * 4.0), rel=1e-12)
            assert modes.damped_frequency.values == pytest.approx([4.0 * np.sqrt(1.0 - ratio**2)], rel=1e-12)
            # p = (y y' v) / (sum): of both states alike
            np.testing.assert_allclose(modes.participation, [[0.5, 0.5]], rtol=1e-12)
        else:
            assert [mode.kind for mode in modes] == ["decay", "decay"]
            assert list(modes.damping.values) == [1.0, 1.0]
            rates = 4.0 * (ratio + np.array([-1.0, 1.0]) * np.sqrt(ratio**2 - 1.0))
            np.testing.assert_allclose([mode.time_constant for mode in modes], 1.0 / rates, rtol=1e-12)
            assert np.isinf(modes.period).all()


def test_upright_rod_grows_and_decays():
    plant = plants.pendulum()
    modes = linearize(plant, trim(plant, plant.assemble(angle=np.pi / 2))).modes()
    assert [mode.kind for mode in modes] == ["decay", "growth"]
    assert list(modes.damping.values) == [1.0, -1.0]
    assert modes[1].time_constant == pytest.approx(-1.0 / np.sqrt(1.5 * G))


def test_five_bar_moves_symmetrically_or_antisymmetrically(hanging_model):
    """The mirror turns left into -right: modes are even or odd under it."""
    modes = hanging_model.modes()
    assert len(modes) == 2
    left, right = (modes.data["shape"].sel(coordinate=n).values for n in ("left", "right"))
    elbows = [modes.data["shape"].sel(coordinate=f"elbow_{n}").values for n in ("left", "right")]
    np.testing.assert_allclose(left[0], right[0], rtol=1e-9)  # both turn the same way: odd
    np.testing.assert_allclose(elbows[0][0], elbows[1][0], rtol=1e-9)
    np.testing.assert_allclose(left[1], -right[1], rtol=1e-9)  # even
    np.testing.assert_allclose(elbows[0][1], -elbows[1][1], rtol=1e-9)
    np.testing.assert_allclose(modes.coordinate_participation, 0.5, rtol=1e-9)
    energy = modes.body_energy
    np.testing.assert_allclose(energy.sel(body="left_lower"), energy.sel(body="right_lower"), rtol=1e-9)


# -- participation, energy, tables --------------------------------------------------------------------------


def busy(seed):
    """A random closed machine with springs and dampers, at an equilibrium."""
    parts = fixtures.tree_parts(seed, bodies=5, damped=True)
    springs = fixtures.springs(parts, seed)
    springs += [PointSpring(f"stay{i}", "ground", f"body{i}", (0, 0, i), (0.1, 0, 0), 40.0, 0.5, 1.0) for i in range(5)]
    plant, q = fixtures.close_parts(parts, seed, (Revolute, PointOnLine), springs=springs)
    return plant, linearize(plant, trim(plant, q, free="all", u=0.0))


@pytest.fixture(scope="module", params=[1, 4])
def machine(request):
    return busy(request.param)


def test_modes_solve_the_eigenvalue_problem(machine):
    plant, lin = machine
    modes = lin.modes()
    assert sum(2 if mode.eigenvalue.imag else 1 for mode in modes) == 2 * lin.dof
    for mode in modes:
        assert largest(lin.A @ mode.vector - mode.eigenvalue * mode.vector) < 1e-8 * largest(lin.A)
        assert largest(plant.jacobian(lin.point.q) @ mode.shape) < 1e-9
        assert largest(mode.rate_shape - mode.eigenvalue * mode.shape) < 1e-9 * (1.0 + mode.frequency)
        assert np.abs(mode.shape).max() == pytest.approx(1.0)
    assert [m.frequency for m in modes] == sorted(m.frequency for m in modes)


def test_participation_by_its_definition(machine):
    _, lin = machine
    modes = lin.modes()
    values, left, right = eig(lin.A, left=True, right=True)
    for mode in modes:
        k = np.argmin(np.abs(values - mode.eigenvalue))
        factors = np.abs(left[:, k] * right[:, k])
        np.testing.assert_allclose(mode.participation, factors / factors.sum(), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(modes.participation.sum("state"), 1.0, rtol=1e-12)
    np.testing.assert_allclose(modes.coordinate_participation.sum("independent_coordinate"), 1.0, rtol=1e-12)


def test_participation_does_not_depend_on_units(machine):
    _, lin = machine
    scale = np.random.default_rng(0).uniform(0.01, 100.0, lin.dof)
    by = np.concatenate([scale, scale])
    other = dataclasses.replace(lin, A=lin.A * by[:, None] / by, K=lin.K / scale)
    for a, b in zip(lin.modes(), other.modes(), strict=True):
        np.testing.assert_allclose(a.participation, b.participation, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(a.shape, b.shape, rtol=1e-6, atol=1e-9)


def test_shares_of_energy_by_moving_the_bodies(machine):
    """Velocities of the centres of mass and spins by differences of configurations."""
    plant, lin = machine
    modes, q, h = lin.modes(), lin.point.q, 1e-5
    np.testing.assert_allclose(modes.body_energy.sum("body"), 1.0, rtol=1e-12)
    np.testing.assert_allclose(modes.coordinate_energy.sum("coordinate"), 1.0, rtol=1e-12)
    M = plant.terms(q, np.zeros(plant.nv)).M
    mode = modes[len(modes) - 1]
    total = (mode.shape.conj() @ M @ mode.shape).real
    for k, body in enumerate(plant.bodies):
        energy = 0.0
        for part in (mode.shape.real, mode.shape.imag):
            ahead, behind = (plant.pose(plant.integrate(q, s * h * part), body.name) for s in (1, -1))
            v = (ahead.p + ahead.R @ body.com - behind.p - behind.R @ body.com) / (2 * h)
            turn = behind.R.T @ ahead.R / (2 * h)
            spin = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
            energy += body.mass * v @ v + spin @ body.inertia @ spin
            for joint in plant.joints:
                if joint.child == body.name:
                    own = [plant.velocity_names.index(name) for name in joint.velocity_names]
                    energy += joint.armature @ part[own] ** 2
        assert modes.body_energy.values[-1, k] == pytest.approx(energy / total, rel=1e-6, abs=1e-9)


def test_labels_units_and_table(hanging_model):
    modes = hanging_model.modes()
    data = modes.data
    assert list(data["coordinate"].values) == list(hanging_model.coordinates)
    assert list(data["independent_coordinate"].values) == ["left", "right"]
    assert list(data["coordinate_unit"].values) == ["rad"] * 4
    for name in data.data_vars:
        assert "units" in data[name].attrs and data[name].attrs["long_name"]
    assert data["frequency"].attrs["units"] == "rad/s"
    table = str(modes)
    assert table.splitlines()[0] == "modes of five-bar"
    assert "0     oscillation" in table and "mode 1: left 50 %, right 50 %" in table
    assert "1     oscillation" in str(hanging_model)
    assert list(modes) == [modes[0], modes[1]] and repr(modes) == "<modes of five-bar: 2 modes>"
    with pytest.raises(AttributeError, match="modes have no 'colour'"):
        _ = modes.colour
    for a, b in zip(modes, hanging_model.damping(), strict=True):
        assert a.eigenvalue == b.eigenvalue
    with pytest.raises(ValueError, match="tolerance must be > 0"):
        hanging_model.modes(0.0)


def test_plants_given_by_functions_have_no_bodies():
    plant, q, _ = plants.catalogue["slider-crank"].start()
    modes = linearize(plant, trim(plant, q)).modes()
    assert "body_energy" not in modes.data
    np.testing.assert_allclose(modes.coordinate_energy.sum("coordinate"), 1.0)


def test_no_freedom_no_modes():
    rod = Body.rod("rod", 1.0, 1.0)
    stuck = Mechanism("stuck", [rod], [Revolute("pivot", "ground", "rod")], [Fixed("lock", "ground", "rod")])
    lin = linearize(stuck, trim(stuck, [0.0]))
    assert len(lin.modes()) == len(lin.undamped_modes()) == 0
    assert "no modes" in str(lin.modes()) and "no modes" in str(lin)


# -- repeated eigenvalues -------------------------------------------------------------------------------------


def test_equal_pendulums_have_shapes_of_their_own():
    """Two equal rods side by side, in any mixture of coordinates: an eigenvalue twice, each rod alone."""
    rods = [Body.rod(f"rod{i}", 1.0, 1.0) for i in range(2)]
    plant = Mechanism("rods", rods, [Revolute(f"p{i}", "ground", f"rod{i}") for i in range(2)], gravity=(0, -G, 0))
    point = trim(plant, [-np.pi / 2] * 2)
    for coordinates in (("p0", "p1"), [[1.0, 1.0], [1.0, -1.0]], [[0.3, 0.9], [0.5, 0.2]]):
        modes = linearize(plant, point, coordinates=coordinates).modes()
        assert [(m.multiplicity, m.geometric_multiplicity) for m in modes] == [(2, 2)] * 2
        assert modes[0].eigenvalue == modes[1].eigenvalue == pytest.approx(1j * np.sqrt(1.5 * G))
        np.testing.assert_allclose(modes.data["shape"].values, np.eye(2), atol=1e-9)
        np.testing.assert_allclose(modes.participation.sum("state"), 1.0)
    np.testing.assert_allclose(linearize(plant, point).modes().participation, 0.25, rtol=1e-9)
    assert "x2" in str(modes) and "defective" not in str(modes)


def test_free_bodies_have_rigid_body_modes():
    plant = Mechanism(
        "puck", [Body("puck", 2.0, inertia=(1, 1, 1))], [Planar("puck", "ground", "puck")], gravity=(0, 0, 0)
    )
    modes = linearize(plant, trim(plant, [0.1, 0.2, 0.3])).modes()
    assert [mode.kind for mode in modes] == ["rigid-body"] * 6
    assert all(mode.eigenvalue == 0 and (mode.multiplicity, mode.geometric_multiplicity) == (6, 3) for mode in modes)
    np.testing.assert_allclose(np.abs(modes.data["shape"].values[:3]), np.eye(3), atol=1e-12)
    np.testing.assert_allclose(np.abs(modes.data["shape"].values[3:]), np.eye(3), atol=1e-12)
    assert list(modes.damping.values) == [0.0] * 6 and np.isinf(modes.time_constant).all()
    assert "x6, defective" in str(modes)
    assert [mode.kind for mode in linearize(plant, trim(plant, [0, 0, 0])).undamped_modes()] == ["rigid-body"] * 3


def test_rounding_does_not_shake_rigid_bodies(pendulum):
    """A stiffness of 1e-13 in place of zero would be a period of 3 weeks, or a divergence."""
    for stiffness in (0.0, 1e-13, -1e-13):
        (first, second) = mode_list(with_matrix(pendulum, [[0.0, 1.0], [stiffness, 0.0]]))
        assert first.kind == second.kind == "rigid-body"
        assert (first.multiplicity, first.geometric_multiplicity) == (2, 1)
        np.testing.assert_allclose(first.participation, 0.5, rtol=1e-6)
    kinds = [m.kind for m in mode_list(with_matrix(pendulum, [[0.0, 1.0], [0.0, -2.0]]))]
    assert kinds == ["rigid-body", "decay"]
    (slow,) = mode_list(with_matrix(pendulum, [[0.0, 1.0], [-1e-8, 0.0]]))  # slow is not rigid
    assert slow.frequency == pytest.approx(1e-4)


def test_critical_damping_is_one_decay_twice(pendulum):
    w = np.array([8.0, 8.0, 10.0])
    A = interleaved(*([[0.0, 1.0], [-x * x, -2.0 * x]] for x in w))
    mixed = np.random.default_rng(3).standard_normal((3, 3))
    T = block_diag(mixed, mixed)
    for matrix in (A, np.linalg.solve(T, A) @ T):
        modes = mode_list(with_matrix(pendulum, matrix))
        assert [(m.multiplicity, m.geometric_multiplicity) for m in modes] == [(4, 2)] * 4 + [(2, 1)] * 2
        assert [m.kind for m in modes] == ["decay"] * 6
        np.testing.assert_allclose([m.eigenvalue for m in modes], [-8.0] * 4 + [-10.0] * 2, rtol=1e-9)
        assert [m.damping for m in modes] == [1.0] * 6
        for m in modes:
            assert m.participation.sum() == pytest.approx(1.0)
        eigenvector = modes[0].vector
        assert largest(matrix @ eigenvector + 8.0 * eigenvector) < 1e-6 * largest(matrix)
    np.testing.assert_allclose(mode_list(with_matrix(pendulum, A))[4].participation, [0, 0, 0.5, 0, 0, 0.5], atol=1e-9)


def test_near_is_not_equal(pendulum):
    """Eigenvalues a thousandth apart stay two; a stiff mode does not blur a soft one."""
    A = interleaved([[0.0, 1.0], [-1.0, 0.0]], [[0.0, 1.0], [-1.002, 0.0]], [[0.0, 1.0], [-1e12, -1e-3]])
    modes = mode_list(with_matrix(pendulum, A))
    assert [m.multiplicity for m in modes] == [1, 1, 1]
    np.testing.assert_allclose([m.frequency for m in modes], [1.0, np.sqrt(1.002), 1e6], rtol=1e-12)
    assert modes[2].damping == pytest.approx(5e-10, rel=1e-3)
    np.testing.assert_allclose(modes[0].participation, [0.5, 0, 0, 0.5, 0, 0], atol=1e-9)


# -- undamped --------------------------------------------------------------------------------------------------


def test_undamped_modes_are_orthogonal(machine):
    plant, lin = machine
    modes = lin.undamped_modes()
    M = plant.terms(lin.point.q, np.zeros(plant.nv)).M
    shapes = modes.data["shape"].values
    assert largest(shapes.imag) == 0.0
    gram = shapes.real @ M @ shapes.real.T
    np.testing.assert_allclose(gram, np.diag(modes.modal_mass), atol=1e-9 * largest(gram))
    n = lin.dof
    squares = np.sort(np.linalg.eigvals(-lin.A[n:, :n]).real)
    found = np.sort((-(modes.eigenvalue.values**2)).real)
    np.testing.assert_allclose(found, squares, rtol=1e-7)
    np.testing.assert_allclose(modes.modal_stiffness, modes.modal_mass * (-(modes.eigenvalue**2)).real, rtol=1e-12)
    np.testing.assert_allclose(modes.participation.sum("state"), 1.0)


def test_without_damping_both_agree():
    plant = damped_five_bar(0.0)
    lin = linearize(plant, hang(plant))
    a, b = lin.modes(), lin.undamped_modes()
    np.testing.assert_allclose(a.frequency, b.frequency, rtol=1e-10)
    np.testing.assert_allclose(a.data["shape"], b.data["shape"], atol=1e-8)
    np.testing.assert_allclose(a.coordinate_participation, b.coordinate_participation, atol=1e-8)


def test_what_undamped_modes_refuse(hanging_model):
    with pytest.raises(EquilibriumError, match="not about an equilibrium"):
        dataclasses.replace(hanging_model, drift=np.array([0.0, 0.0, 1.0, 0.0])).undamped_modes()
    lost = dataclasses.replace(hanging_model, point=dataclasses.replace(hanging_model.point, plant=None))
    with pytest.raises(ModelError, match=r"load_linear\(path, plant\)"):
        lost.undamped_modes()
    assert "coordinate_energy" not in lost.modes().data
    A = hanging_model.A.copy()
    A[2, 1] += 1.0
    with pytest.raises(EquilibriumError, match="not symmetric"):
        dataclasses.replace(hanging_model, A=A).undamped_modes()


# -- affine models, and files ------------------------------------------------------------------------------------


def test_velocities_follow_from_both_halves_of_the_state(hanging_model):
    """With dy/dt = A11 y + y_v the velocities K dy/dt are K y_v + N y with N = K A11."""
    A, A11 = hanging_model.A.copy(), np.array([[0.1, -0.2], [0.3, 0.05]])
    A[:2, :2] = A11
    for mode in dataclasses.replace(hanging_model, A=A, N=hanging_model.K @ A11).modes():
        np.testing.assert_allclose(mode.rate_shape, mode.eigenvalue * mode.shape, atol=1e-12)
        assert largest(A @ mode.vector - mode.eigenvalue * mode.vector) < 1e-12


def test_drift_is_zero_unless_given_and_shown_where_not(hanging_model):
    assert not hanging_model.drift.any() and not hanging_model.N.any()
    assert hanging_model.drift.shape == (4,) and hanging_model.N.shape == hanging_model.K.shape
    assert "drift" not in str(hanging_model)
    moving = dataclasses.replace(hanging_model, drift=np.array([0.5, 0.0, -2.0, 0.0]))
    assert "drift    left 0.5 rad/s, left_rate -2 rad/s/s" in str(moving)
    with pytest.raises(ValueError, match=r"drift must have shape \(4,\)"):
        dataclasses.replace(hanging_model, drift=np.zeros(3))


def test_actuated_machine_of_the_tour():
    """A motor that holds a configuration does not spoil the symmetry of the stiffness."""
    plant = plants.five_bar()
    lin = linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)))
    assert [m.kind for m in lin.undamped_modes()] == ["growth", "growth"]
    rod = Body.rod("rod", 1.0, 1.0)
    cut = Mechanism("cut", [rod], [Planar("carrier", "ground", "rod")], [Revolute("hinge", "ground", "rod")],
                    actuators=[Actuator("hinge")], gravity=(0, -G, 0))  # fmt: skip
    level = linearize(cut, trim(cut, [0.0, 0.0, -0.5]))
    gain = level.undamped_modes()[0]
    assert gain.frequency == pytest.approx(np.sqrt(1.5 * G * np.sin(0.5)), rel=1e-9)


# -- away from equilibrium, and the page of the docs ----------------------------------------------------------------


def moving_point(plant, size=1.0):
    q = plant.assemble(left=2.1, right=1.0)
    return OperatingPoint.at(plant, q, [3.0, -2.0], plant.project_velocity(q, [size, 0.0, -0.5 * size, 0.0]))


def test_modes_of_a_state_that_moves():
    plant = plants.five_bar()
    lin = affine_approximation(plant, moving_point(plant), coordinates=("left", "right"))
    assert lin.N.any() and "drift    left" in str(lin)
    for mode in lin.modes():
        assert largest(lin.A @ mode.vector - mode.eigenvalue * mode.vector) < 1e-10
        np.testing.assert_allclose(mode.rate_shape, lin.K @ mode.vector[2:] + lin.N @ mode.vector[:2], atol=1e-12)
    with pytest.raises(EquilibriumError, match="not about an equilibrium"):
        lin.undamped_modes()


def test_sampled_drift_is_the_motion_of_the_machine():
    """From a state that moves, over a period: the error falls with the cube of the period."""
    plant = plants.five_bar()
    point, index = moving_point(plant), [0, 2]
    lin = affine_approximation(plant, point, coordinates=("left", "right"))
    errors = []
    for period in (0.02, 0.01):
        run = simulate(plant, point.u, point.q, point.v, t_end=period, output_times=period)
        found = np.concatenate([(run.q.values - point.q)[-1, index], (run.v.values - point.v)[-1, index]])
        errors.append(largest(lin.sampled(period, drift=True).B[:, 2] - found))
    assert errors[0] < 1e-3
    assert errors[1] / errors[0] == pytest.approx(1.0 / 8.0, rel=0.15)
