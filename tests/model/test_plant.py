"""A plant of one's own, with as little as the contract asks for, goes through everything."""

import copy
import pickle

import control as ct
import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import controllers

LENGTHS, MASSES, GRAVITY = (0.3, 0.7), (1.5, 0.8), 9.81


class CrankSlider(cmb.Plant):
    """Crank, rod and piston as point masses on the pins, in five plain coordinates; what the contract asks, no more.

    The crank pin (x, y) goes round the origin at distance `a`; the piston is at (s, 0), a distance `b` from the pin.
    The angles of both bars are no coordinates; `model` and `mode` are attributes of its own.
    """

    friction = 0.4  # of the piston, N s/m

    def __init__(self, lengths=LENGTHS, masses=MASSES, **given):
        self.model, self.mode = "DX-40", 3  # names that the package must not mistake for its own
        self.a, self.b = lengths
        self.masses = masses
        super().__init__(
            "crank slider", ("x", "y", "s"), units=("m", "m", "m"), rows={"crank": ("arm",), "rod": ("bar",)},
            actuators=("s",), neutral=[0.0, self.a, np.sqrt(self.b**2 - self.a**2)], **given,
        )  # fmt: skip

    def M(self, q):
        return np.diag([self.masses[0], self.masses[0], self.masses[1]])

    def h(self, q, v):
        return [0.0, GRAVITY * self.masses[0], self.friction * v[2]]

    def Phi(self, q):
        x, y, s = q
        return [(x**2 + y**2 - self.a**2) / (2 * self.a), ((x - s) ** 2 + y**2 - self.b**2) / (2 * self.b)]

    def A(self, q):
        x, y, s = q
        return [[x / self.a, y / self.a, 0.0], [(x - s) / self.b, y / self.b, (s - x) / self.b]]

    def Adot_v(self, q, v):
        return [(v[0] ** 2 + v[1] ** 2) / self.a, ((v[0] - v[2]) ** 2 + v[1] ** 2) / self.b]


class WithMore(CrankSlider):
    """It also knows how it is driven, on the pin across the crank, and its potential energy; nothing rubs."""

    friction = 0.0

    def B(self, q):
        return [[-q[1] / self.a], [q[0] / self.a], [0.0]]

    def potential(self, q):
        return GRAVITY * self.masses[0] * q[1]


@pytest.fixture(scope="module")
def plant():
    return CrankSlider()


def start(plant):
    return plant.assemble(x=0.2, guess=[0.2, 0.2, 0.85])


def exact(angle, rate, u, t_end, damping=0.4):
    """The motion in the crank's angle alone: I w' + I'/2 w^2 + V' = (u - d s' w) s', apart from the package."""
    from scipy.integrate import solve_ivp

    (a, b), (m, p) = LENGTHS, MASSES

    def geometry(f):
        root = np.sqrt(b**2 - (a * np.sin(f)) ** 2)
        s1 = -a * np.sin(f) - a**2 * np.sin(f) * np.cos(f) / root
        s2 = -a * np.cos(f) - a**2 * np.cos(2 * f) / root - (a**2 * np.sin(f) * np.cos(f)) ** 2 / root**3
        return root, s1, s2

    def field(_, state):
        f, w = state
        _, s1, s2 = geometry(f)
        inertia = m * a**2 + p * s1**2
        return [w, (u * s1 - damping * s1**2 * w - m * GRAVITY * a * np.cos(f) - p * s1 * s2 * w**2) / inertia]

    return solve_ivp(field, (0.0, t_end), [angle, rate], rtol=1e-11, atol=1e-12, method="DOP853").y[:, -1]


def test_assembly_and_diagnosis(plant):
    q = start(plant)
    assert q[0] == 0.2 and plant.closure_error(q) < 1e-15
    assert q[1] == pytest.approx(np.sqrt(0.3**2 - 0.2**2), rel=1e-14)
    found = plant.diagnose(q)
    assert found.dof == 1 and not any(found.redundant.values())
    assert "crank slider" in str(plant) and "CrankSlider" in repr(plant)
    plant.check_derivatives(q, plant.project_velocity(q, [1.0, 0.3, -0.2]))


def test_simulation_follows_the_exact_motion(plant):
    q, u, angle = start(plant), 2.0, np.arccos(0.2 / 0.3)
    v = plant.project_velocity(q, [-1.0, 0.0, 0.0])
    rate = (q[0] * v[1] - q[1] * v[0]) / 0.3**2
    run = cmb.simulate(plant, [u], q, v, t_end=2.0, rtol=1e-9, atol=1e-11)
    f, w = exact(angle, rate, u, 2.0)
    end, speed = run.q.values[-1], run.v.values[-1]
    assert end[:2] == pytest.approx([0.3 * np.cos(f), 0.3 * np.sin(f)], abs=1e-7)
    assert speed[:2] == pytest.approx([-0.3 * w * np.sin(f), 0.3 * w * np.cos(f)], abs=1e-6)
    assert run.max_drift < 1e-12


def test_laws_trim_and_linear_models(plant):
    q = start(plant)
    point = cmb.trim(plant, q)
    # held by the piston: virtual work of the pin's weight, u ds = m g dy
    slope = plant.terms(q, np.zeros(3)).Z[:, 0]
    assert point.u @ [slope[2]] == pytest.approx(MASSES[0] * GRAVITY * slope[1], rel=1e-12)
    law = controllers.ProjectedInverseDynamics(plant, ("s",), cmb.Constant([q[2]]), bandwidth=8.0)
    run = cmb.simulate(plant, law, plant.assemble(x=0.22, guess=q), t_end=3.0)
    assert run.q.values[-1] == pytest.approx(q, abs=1e-5)
    model = cmb.linearize(plant, point, coordinates=("s",))
    closed = cmb.linearize_closed_loop(plant, law, q)
    assert np.sort(closed.poles().real) == pytest.approx([-8.0, -8.0], rel=1e-5)
    # the pole of the open loop, from the motion of the angle alone
    angle, small = np.arccos(q[0] / 0.3), 1e-4
    ahead, behind = (exact(angle + d, 0.0, point.u[0], 0.02, damping=0.4)[0] for d in (small, -small))
    grown = (ahead - behind) / (2 * small)
    system = plant.to_iosystem(point, coordinates=("s",))
    assert np.sort(ct.linearize(system, 0.0).poles()) == pytest.approx(np.sort(model.poles()), rel=1e-9)
    state = np.array([1.0, 0.0])
    from scipy.linalg import expm

    assert (expm(model.A * 0.02) @ state)[0] == pytest.approx(grown, rel=1e-6)


def test_more_of_it(plant):
    more = WithMore()
    q = start(more)
    v = more.project_velocity(q, [-1.0, 0.0, 0.0])
    assert np.isnan(plant.terms(q, v).energy) and more.terms(q, v).potential == pytest.approx(GRAVITY * 1.5 * q[1])
    more.check_derivatives(q, v)
    run = cmb.simulate(more, [0.0], q, v, t_end=1.0)
    assert abs(run.max_energy_error) < 1e-6
    point = cmb.trim(more, q)
    assert point.u == pytest.approx([1.5 * GRAVITY * q[0] / 0.3], rel=1e-9)  # a torque about the pivot, over a


def test_some_constraints_more_or_less(plant):
    """Every name of the plant says the same of a part of it as its equations of motion do."""
    q, v = start(plant), np.array([0.3, -0.2, 0.5])
    arm = plant.without("rod")
    level = arm.with_loops(cmb.Coupling("level", {"s": 2.0, "y": 1.0}, offset=0.1))
    for part, rows in ((arm, 1), (level, 2), (level.without("crank"), 1), (level.without("level", "crank"), 0)):
        terms = part.terms(q, v)
        assert terms.A.shape == (rows, 3) == part.jacobian(q).shape
        assert np.array_equal(part.jacobian(q), terms.A) and np.array_equal(part.residual(q), terms.phi)
        assert np.array_equal(part.bias_acceleration(q, v), terms.b) and np.array_equal(part.mass_matrix(q), terms.M)
        assert np.array_equal(part.bias_forces(q, v), terms.h) and np.array_equal(part.actuation_matrix(q), terms.B)
        assert pickle.loads(pickle.dumps(part)).terms(q, v).A.tolist() == terms.A.tolist()
    assert level.terms(q, v).A[1].tolist() == [0.0, 1.0, 2.0] and level.residual(q)[1] == 2.0 * q[2] + q[1] - 0.1
    assert arm.mode == 3 and copy.deepcopy(arm) is arm
    assert plant.rolling_rows(q) == () and level.rolling_rows(q) == ()


def test_what_is_missing_or_wrong_is_named():
    class Incomplete(cmb.Plant):
        def M(self, q):
            return np.eye(1)

    with pytest.raises(TypeError, match="Incomplete must define h, Phi, A, Adot_v; a plant needs"):
        Incomplete("thing", ("x",))

    class Wrong(CrankSlider):
        def A(self, q):
            return [1.0, 0.0, 0.0]

    with pytest.raises(cmb.errors.ModelError, match=r"A must return shape \(2, 3\), got \(3,\)"):
        Wrong()

    class Slip(CrankSlider):
        def Adot_v(self, q, v):
            return -np.array(super().Adot_v(q, v))

    with pytest.raises(cmb.errors.ModelError, match="Adot_v disagrees with the rate of A along v"):
        Slip().check_derivatives([0.2, 0.22, 0.86], [1.0, 0.4, -0.3])
    plant = CrankSlider()
    with pytest.raises(AttributeError, match=r"frozen.*before it calls super"):
        plant.mode = 4

    class Constant(CrankSlider):
        def __init__(self):
            self.B = np.array([[0.0], [0.0], [2.0]])  # silence would put a unit in its place
            super().__init__()

    with pytest.raises(TypeError, match=r"B must be a method of the class Constant, not a value; define B\(q\), or"):
        Constant()

    class Plain:
        terms = None

    with pytest.raises(TypeError, match="must be a plant"):
        cmb.simulate(Plain(), t_end=1.0)


def test_parts_of_what_cannot_be_pickled_say_why():
    unit = {"M": lambda q: np.eye(1), "h": lambda q, v: [0.0], "A": lambda q: [[1.0]], "Adot_v": lambda q, v: [0.0]}
    plant = cmb.FunctionPlant("held", ("x",), Phi=lambda q: [q[0]], **unit).without("loop")
    with pytest.raises(cmb.errors.ModelError, match="plant 'held' cannot be pickled, for its function M cannot"):
        pickle.dumps(plant)


def test_mechanisms_know_the_same():
    machine = cmb.plants.five_bar(closure="point")
    q = machine.assemble(left=2.1, right=1.0)
    v = machine.project_velocity(q, [1.0, 2.0, 3.0, 4.0])
    terms = machine.terms(q, v)
    said = (
        machine.mass_matrix(q), machine.bias_forces(q, v), machine.residual(q), machine.jacobian(q),
        machine.bias_acceleration(q, v), machine.actuation_matrix(q),
    )  # fmt: skip
    for given, known in zip(said, (terms.M, terms.h, terms.phi, terms.A, terms.b, terms.B), strict=True):
        assert np.array_equal(given, known)
    assert machine.potential_energy(q) == terms.potential
    machine.check_derivatives(q, v)
    top = cmb.Mechanism("top", [cmb.Body("top", 1.0, inertia=(1, 1, 1))], [cmb.Spherical("tip", "ground", "top")])
    with pytest.raises(ValueError, match="plain coordinates"):
        top.check_derivatives(top.neutral(), [1.0, 0.0, 0.0])
