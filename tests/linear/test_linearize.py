"""Linear models at equilibria and at any state: closed forms, Spencer's theorems, differences of the motion."""

import dataclasses
import itertools
import re

import numpy as np
import pytest

from cmbcontrol import OperatingPoint, affine_approximation, linearize, plants, trim
from cmbcontrol.characteristics import Friction
from cmbcontrol.controllers import Controller
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.dynamics.derivatives import derivatives
from cmbcontrol.errors import AssemblyError, EquilibriumError, SingularConfigurationError
from cmbcontrol.kernels import constrained
from cmbcontrol.linear import underlying_ode
from cmbcontrol.model.elements import (
    Actuator,
    Body,
    Distance,
    Fixed,
    Frame,
    Free,
    JointForce,
    Planar,
    Point,
    PointSpring,
    Prismatic,
    Revolute,
)
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.model.terms import RANK_TOLERANCE
from cmbcontrol.plants.five_bar import configuration
from cmbcontrol.plants.n_four_bar import configuration as four_bars
from cmbcontrol.plants.parallel_four_bar import configuration as parallel_configuration
from tests import fixtures
from tests.fixtures import (
    form_of,
    jacobian,
    largest,
    matched,
    mixed_coordinates,
    relative_error,
    rows_of,
    sprung_five_bar,
)

# -- coordinates -------------------------------------------------------------------------------------------


def test_affine_model_by_name(moving):
    plant, point = moving
    lin = affine_approximation(plant, point, coordinates=("left", "right"))
    R = rows_of(plant, ("left", "right"))
    form, y_v = form_of(plant, point, R), R @ point.v
    assert relative_error(lin.A, jacobian(lambda x: form.rate(x[:2], y_v + x[2:]), 4, 2e-3)) < 1e-9
    assert relative_error(lin.drift, form.rate(np.zeros(2), y_v)) < 1e-12
    assert relative_error(lin.B, jacobian(lambda du: form.rate(np.zeros(2), y_v, du), 2)) < 1e-10
    assert lin.states == ("left", "right", "left_rate", "right_rate")
    assert 0.05 < lin.conditioning <= 1.0


def test_linearize_is_the_affine_model_of_an_equilibrium():
    plant = plants.five_bar()
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    one, other = linearize(plant, point), affine_approximation(plant, point)
    for key in "ABCD":
        assert relative_error(getattr(other, key), getattr(one, key)) < 1e-9
    assert np.abs(other.drift).max() < 1e-12
    assert not one.drift.any()


def test_other_coordinates_give_other_eigenvalues_off_equilibrium_and_the_same_at_it(moving):
    plant, point = moving
    pairs = (("left", "right"), ("elbow_left", "elbow_right"), ("left", "elbow_left"))
    off = [affine_approximation(plant, point, coordinates=c).poles() for c in pairs]
    assert relative_error(off[1], off[0]) > 1e-2
    rest = trim(plant, point.q)
    at = [linearize(plant, rest, coordinates=c).poles() for c in pairs]
    assert max(relative_error(x, at[0]) for x in at) < 1e-12


def test_bad_points(moving):
    plant, point = moving
    with pytest.raises(EquilibriumError, match=r"moves: 'left' 1\..*see affine_approximation"):
        linearize(plant, point)
    falling = OperatingPoint.at(plant, point.q)
    with pytest.raises(EquilibriumError, match=r"unbalanced generalized force is 'left'.* N m.*affine_approximation"):
        linearize(plant, falling)
    loose = OperatingPoint.at(plant, point.q, v=[1.0, 0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"opens the loops of 'five-bar': row 'tip_[xy]' by .* m/s"):
        affine_approximation(plant, loose)
    with pytest.raises(SingularConfigurationError, match="singular configuration"):
        affine_approximation(plant, OperatingPoint.at(plant, configuration(plant, "singular")))
    near = plant.assemble(guess=plant.pack({"elbow_left": -3.0, "elbow_right": 3.0}), left=np.pi, right=1e-8)
    with pytest.raises(
        SingularConfigurationError, match=r"next to a singular configuration.*gradient is \d\.\de-\d+ of the largest"
    ):
        affine_approximation(plant, OperatingPoint.at(plant, near))
    with pytest.raises(ValueError, match="'tip' open by"):
        affine_approximation(plant, OperatingPoint.at(plant, point.q + np.array([0.1, 0.0, 0.0, 0.0])))


# -- underlying ODE ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["moving", "spatial"])
def test_underlying_ode_at_any_state(case, request):
    """[Df] P along the manifold, for both projectors; H P = 0 and P P = P show in what it maps."""
    plant, point = request.getfixturevalue(case)
    R = mixed_coordinates(plant, point.q)
    lin = affine_approximation(plant, point, coordinates=R)
    orthogonal, partial = underlying_ode(plant, point), underlying_ode(plant, point, coordinates=R)
    zero = np.zeros_like(lin.K)
    tangent = np.block([[lin.K, zero], [lin.N, lin.K]])
    assert relative_error(orthogonal @ tangent, partial @ tangent) < 1e-9
    form, y_v, p = form_of(plant, point, R), R @ point.v, len(R)

    def accelerated(x):
        q, v = form.state(x[:p], y_v + x[p:])
        return forward_dynamics(plant, q, v, point.u)

    assert relative_error((partial @ tangent)[plant.nv :], jacobian(accelerated, 2 * p, 2e-3)) < 1e-7
    S = np.block([[R, np.zeros_like(R)], [np.zeros_like(R), R]])
    kinematic = (S @ partial @ tangent)[p:]
    assert relative_error(kinematic, lin.A[p:]) < 1e-8
    if case == "moving":  # one-axis joints: (4.6) with the chart's curvature gone from R A
        assert relative_error(S @ partial @ tangent, lin.A) < 1e-9


# -- textbook frequencies ------------------------------------------------------------------------------


def frequencies(model):
    return np.array([mode.frequency for mode in model.damping()])


@pytest.mark.parametrize("closure", ["revolute", "line", "point"])
@pytest.mark.parametrize(("mass", "length"), [(1.0, 1.0), (3.7, 0.42)])
def test_rod_on_a_cut_joint_is_a_physical_pendulum(closure, mass, length):
    """The stiffness is that of the constraint force alone: without it, the frequency is zero."""
    plant = plants.pendulum(mass, length, closure)
    point = trim(plant, plant.assemble(angle=-0.5 * np.pi))
    model = linearize(plant, point, coordinates=("angle",))
    truth = np.sqrt(1.5 * 9.81 / length)
    assert abs(model.poles()[1] - 1j * truth) < 1e-10 * truth
    here = derivatives(plant, point.q, point.v, point.u)
    without = derivatives(plant, point.q, point.v, point.u, a=here.a, lam=0.0 * here.lam)
    assert largest(without.force_q) < 1e-12  # all of the stiffness is d(A'lam)/dq
    upright = linearize(plant, trim(plant, plant.assemble(angle=0.5 * np.pi)))
    assert abs(upright.poles()[1] - truth) < 1e-10 * truth


@pytest.mark.parametrize("carrier", [Planar, Free])
def test_body_carried_by_several_axes_and_held_by_a_cut_revolute(carrier):
    """m g l / (I + m l^2), with the joints' frames turned away from everything."""
    mass, arm, inertia, g = 2.3, 0.7, np.array([0.21, 0.34, 0.43]), 9.81
    rng = np.random.default_rng(1)
    body = Body("body", mass, (arm, 0.0, 0.0), inertia)
    turned = fixtures.frame(rng) if carrier is Free else Frame((0.3, 0.1, 0.0))
    joints = [carrier("carrier", "ground", "body", child_frame=turned)]
    hinge = Revolute("hinge", "ground", "body", frame=Frame((0.4, -0.2, 0.0)))
    plant = Mechanism("pendulum", [body], joints, [hinge], gravity=(0.0, -g, 0.0), actuators=[Actuator("hinge")])
    hanging = Frame.turned((0, 0, 1), -0.5 * np.pi, (0.4, -0.2, 0.0)) @ turned
    if carrier is Planar:
        q = np.array([*hanging.p[:2], np.arctan2(hanging.R[1, 0], hanging.R[0, 0])])
    else:
        q = plant.close(np.concatenate([quaternion(hanging.R), hanging.p]))
    point = trim(plant, q)
    assert largest(point.u) < 1e-9
    truth = np.sqrt(mass * g * arm / (inertia[2] + mass * arm**2))
    model = linearize(plant, point)
    assert frequencies(model) == pytest.approx([truth], rel=1e-10)
    by_hinge = linearize(plant, point, coordinates=("hinge",), outputs=("hinge", "hinge_rate"))
    assert by_hinge.B[1, 0] == pytest.approx(1.0 / (inertia[2] + mass * arm**2), rel=1e-10)
    assert largest(by_hinge.C - np.eye(2)) < 1e-12


def quaternion(R):
    """(w, x, y, z) of a rotation matrix away from half turns."""
    w = 0.5 * np.sqrt(1.0 + np.trace(R))
    return np.array([w, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4.0 * w))])


def point_mass(length=0.8):
    """A point mass on three slides, held by a rod: a spherical pendulum."""
    bodies = [Body("a"), Body("b"), Body("mass", 1.9)]
    joints = [
        Prismatic(name, parent, child, axis=axis)
        for name, parent, child, axis in zip("xyz", ("ground", "a", "b"), ("a", "b", "mass"), np.eye(3), strict=True)
    ]
    return Mechanism("point mass", bodies, joints, [Distance("rod", "ground", "mass", length=length)])


def test_point_mass_on_a_rod():
    plant = point_mass()
    point = trim(plant, plant.assemble(guess={"z": -0.8}, x=0.0, y=0.0))
    assert point.lam == pytest.approx([-1.9 * 9.81], rel=1e-12) or point.lam == pytest.approx([1.9 * 9.81], rel=1e-12)
    model = linearize(plant, point)
    assert model.states == ("x", "y", "x_rate", "y_rate")
    assert frequencies(model) == pytest.approx([np.sqrt(9.81 / 0.8)] * 2, rel=1e-10)


def test_particle_given_by_functions():
    plant = plants.particle_on_circle(mass=1.3, radius=0.6)
    model = linearize(plant, trim(plant, [0.0, -0.6], u=0.0), coordinates=("q1",), outputs=("q2", "circle"))
    assert frequencies(model) == pytest.approx([np.sqrt(9.81 / 0.6)], rel=1e-10)
    assert largest(model.C) < 1e-9  # height and rod force are stationary
    assert model.D[1] == pytest.approx([0.0, -1.0], abs=1e-10)  # a push outwards, taken by the circle


def test_slider_crank_by_functions_equals_its_mechanism():
    """Aghili's slider-crank from functions, and from bodies with a cut point on a line."""
    functions = plants.slider_crank()
    links = [Body("crank", 1.0, (1.0, 0.0, 0.0)), Body("rod", 1.0, (1.0, 0.0, 0.0))]
    joints = [Revolute("q1", "ground", "crank"), Revolute("q2", "crank", "rod", frame=Frame((1.0, 0.0, 0.0)))]
    line = fixtures.PointOnPlane("slider", "ground", "rod", point_b=(1.0, 0.0, 0.0), normal=(0.0, 1.0, 0.0))
    drive = [Actuator("q1")]
    mechanism = Mechanism("slider-crank", links, joints, [line], actuators=drive, gravity=(0.0, -9.81, 0.0))
    both = [
        linearize(p, trim(p, [0.6, -1.2]), coordinates=("q1",), outputs=("q2", "loop_force"))
        for p in (functions, mechanism)
    ]
    for a, b in zip(*([m.A, m.B, m.C, m.D] for m in both), strict=True):
        assert largest(a - b) < 1e-9 * (1.0 + largest(a))


@pytest.mark.parametrize("n", [1, 2, 10])
def test_row_of_four_bars_hangs_as_its_exact_reduction(n):
    """IFToMM A02: I theta'' = -G g cos(theta), I = (n + 1)/3 + n, G = (n + 1)/2 + n, at theta = -pi/2."""
    plant = plants.n_four_bar(n)
    model = linearize(plant, trim(plant, four_bars(n, -0.5 * np.pi), u=0.0), coordinates=("bar0",))
    inertia, weight = (n + 1) / 3 + n, (n + 1) / 2 + n
    assert frequencies(model) == pytest.approx([np.sqrt(weight * 9.81 / inertia)], rel=1e-10)
    with pytest.raises(SingularConfigurationError, match="configuration"):  # flat, motors off, gravity across
        flat = Mechanism("flat", plant.bodies, plant.joints, plant.loops, gravity=(0.0, 0.0, -9.81))
        linearize(flat, trim(flat, four_bars(n, 0.0)))


def test_map_of_the_parallel_four_bar_is_constant():
    """Spencer 2.4.1: K = [1 0; 0 1; 1 -1; -1 1] at every pose."""
    plant = plants.parallel_four_bar()
    for angles in ((2.0, 0.5), (1.0, -0.7)):
        model = linearize(plant, trim(plant, parallel_configuration(*angles)), coordinates=("q1", "q2"))
        assert largest(model.K - [[1, 0], [0, 1], [1, -1], [-1, 1]]) < 1e-12


# -- the five-bar against the nonlinear equations --------------------------------------------------------


class Reduced(Controller):
    """The motion in independent coordinates y = R (q - q0), solved by Newton's method; nothing from `linear`."""

    def __init__(self, plant, q0, R):
        self.plant, self.q0, self.R = plant, q0, R

    def configuration(self, y):
        plant, q = self.plant, self.q0.copy()
        for _ in range(30):
            left = np.concatenate([self.R @ plant.difference(self.q0, q) - y, plant.residual(q)])
            columns = []
            for e in np.eye(plant.nv):  # R d(q - q0)/dq is not R where a joint has several axes
                near = [self.R @ plant.difference(self.q0, plant.integrate(q, s * 1e-4 * e)) for s in (1, -1)]
                columns.append((near[0] - near[1]) / 2e-4)
            matrix = np.concatenate([np.array(columns).T, plant.jacobian(q)])
            step = np.linalg.lstsq(matrix, -left, rcond=1e-9)[0]
            q = plant.integrate(q, step)
            if largest(step) < 1e-15:
                break
        assert plant.closure_error(q) < 1e-12
        return q

    def velocity(self, q, rate):
        A = self.plant.jacobian(q)
        right = np.concatenate([rate, np.zeros(len(A))])
        return np.linalg.lstsq(np.concatenate([self.R, A]), right, rcond=1e-9)[0]

    def acceleration(self, y, rate, u):
        q = self.configuration(y)
        v = self.velocity(q, rate)
        work = constrained.new_work(self.plant.arrays)
        return q, v, constrained.forward_dynamics(self.plant.arrays, q, v, u, RANK_TOLERANCE, work)[0]

    def effort(self, y, rate, u):
        return self.R @ self.acceleration(y, rate, u)[2]

    def multipliers(self, y, rate, u):
        q, v, a = self.acceleration(y, rate, u)
        terms = self.plant.terms(q, v)
        return terms.A_pinv.T @ (terms.B @ u - terms.h - terms.M @ a)


def by_differences(plant, point, R, function, step=2e-2):
    """Derivatives of function(y, dy/dt, u) by differences."""
    n, y = len(R), np.zeros(len(R))
    in_y = jacobian(lambda d: function(d, y, point.u), n, step)
    in_rate = jacobian(lambda d: function(y, d, point.u), n, step)
    in_u = jacobian(lambda d: function(y, y, point.u + d), plant.nu, step)
    return in_y, in_rate, in_u


@pytest.mark.parametrize("make", [plants.five_bar, sprung_five_bar])
@pytest.mark.parametrize(("cut", "closure"), [("tip", "line"), ("right", "revolute")])
def test_five_bar_agrees_with_high_order_differences(make, cut, closure):
    plant = make(cut, closure)
    point = trim(plant, configuration(plant, "open"))
    names = ("left", "elbow_right")
    R = np.eye(plant.nv)[[plant.index(n) for n in names]]
    loop = plant.loops[0].name
    outputs = ("elbow_left", "elbow_left_rate", f"{loop}_x", f"{loop}_y")
    model = linearize(plant, point, coordinates=names, outputs=outputs)
    reduced = Reduced(plant, point.q, R)
    in_y, in_rate, in_u = by_differences(plant, point, R, reduced)
    scale = largest(in_y)
    assert largest(model.A[:2] - np.eye(4)[2:]) == 0.0
    assert largest(model.A[2:, :2] - in_y) < 1e-8 * scale
    assert largest(model.A[2:, 2:] - in_rate) < 1e-8 * scale
    assert largest(model.B[2:] - in_u) < 1e-8
    assert (largest(model.A[2:, 2:]) > 0.01) == (make is sprung_five_bar)
    # outputs: a dependent joint, its rate, and the multipliers
    k = plant.index("elbow_left")
    joint = jacobian(lambda y: reduced.configuration(y)[[k]], 2, 2e-2)
    assert largest(model.C[0, :2] - joint) < 1e-8
    assert largest(model.C[1, 2:] - joint) < 1e-8
    in_y, in_rate, in_u = by_differences(plant, point, R, lambda *x: reduced.multipliers(*x)[:2])
    assert largest(model.C[2:] - np.concatenate([in_y, in_rate], axis=1)) < 1e-8 * largest(in_y)
    assert largest(model.D[2:] - in_u) < 1e-8
    assert model.output_units[2:] == ("N", "N")


# -- Spencer's theorems -------------------------------------------------------------------------------------


def five_bars():
    """The same machine, cut and closed in every way, and with its loop written twice; at its hanging pose."""
    for cut, closure, twice in itertools.product(("tip", "right"), ("line", "point", "revolute"), (False, True)):
        plant = plants.five_bar(cut, closure)
        if twice:
            loops = [*plant.loops, *map(fixtures.again, plant.loops)]
            more = {"actuators": plant.actuators, "gravity": plant.gravity}
            plant = Mechanism("twice", plant.bodies, plant.joints, loops, **more)
        yield plant, trim(plant, configuration(plant, "asymmetric"), free="all", u=0.0)


def test_eigenvalues_depend_on_neither_coordinates_nor_cut():
    """Spencer's theorem 4.1.1; in the same coordinates the models are the same."""
    reference = None
    for plant, point in five_bars():
        model = linearize(plant, point, coordinates=("left", "elbow_left"))
        reference = reference or model
        truth = reference.poles()
        assert matched(model.poles(), truth) < 1e-9
        assert largest(model.A - reference.A) < 1e-9 * largest(reference.A)
        assert largest(model.B[:, 0] - reference.B[:, 0]) < 1e-9
        assert matched(linearize(plant, point).poles(), truth) < 1e-9
        for pair in itertools.combinations(plant.velocity_names, 2):
            assert matched(linearize(plant, point, coordinates=pair).poles(), truth) < 1e-9
        for seed in range(3):
            R = np.random.default_rng(seed).standard_normal((2, plant.nv))
            assert matched(linearize(plant, point, coordinates=R).poles(), truth) < 1e-9


def test_held_pose_of_the_five_bar_does_not_depend_on_the_cut():
    """With both motors; where the loop is cut at the right support, `right` is a cut joint, and its motor a wrench."""
    models = []
    for cut, closure in (("tip", "line"), ("tip", "point"), ("tip", "revolute"), ("right", "revolute")):
        plant = plants.five_bar(cut, closure)
        point = trim(plant, configuration(plant, "open"))
        outputs = ("right", "right_rate", "left", "elbow_left")
        models.append(linearize(plant, point, coordinates=("left", "right"), outputs=outputs))
    for model in models[1:]:
        for key in "ABCD":
            a, b = getattr(model, key), getattr(models[0], key)
            assert largest(a - b) < 1e-9 * max(1.0, largest(b))
        assert model.output_units == models[0].output_units
        assert model.input_units == ("N m", "N m")


def test_underlying_ode_has_the_same_eigenvalues_and_zeros():
    """Spencer's theorem 4.1.2, with several projectors, redundant rows included."""
    for plant in (plants.five_bar(), plants.five_bar("right", "revolute"), sprung_five_bar()):
        point = trim(plant, configuration(plant, "open"))
        truth = np.concatenate([linearize(plant, point).poles(), np.zeros(2 * plant.nv - 4)])
        for coordinates in (None, plant.velocity_names[:2], plant.velocity_names[1:3]):
            A = underlying_ode(plant, point, coordinates=coordinates)
            assert np.linalg.matrix_rank(A, tol=1e-8) == 4
            assert matched(np.linalg.eigvals(A), truth) < 1e-8


def test_underlying_ode_is_the_derivative_of_the_acceleration_along_the_manifold():
    plant = sprung_five_bar()
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    A = underlying_ode(plant, point)
    P, work = plant.terms(point.q, np.zeros(4)).P, constrained.new_work(plant.arrays)
    rng = np.random.default_rng(0)
    for _ in range(3):
        dq, dv = P @ rng.standard_normal(4), P @ rng.standard_normal(4)

        def f(s, dq=dq, dv=dv):
            q = plant.close(plant.integrate(point.q, s[0] * dq))
            v = plant.project_velocity(q, s[0] * dv)
            vdot, _ = constrained.forward_dynamics(plant.arrays, q, v, point.u, RANK_TOLERANCE, work)
            return np.concatenate([v, vdot])

        assert largest(jacobian(f, 1, 2e-2)[:, 0] - A @ np.concatenate([dq, dv])) < 1e-8


def test_the_choice_of_redundant_multipliers_does_not_matter():
    plant = plants.five_bar("tip", "revolute")
    plant = Mechanism(
        "twice", plant.bodies, plant.joints, [*plant.loops, *map(fixtures.again, plant.loops)],
        actuators=plant.actuators, gravity=plant.gravity,
    )  # fmt: skip
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    A = plant.jacobian(point.q)
    assert largest(A.T @ point.lam) > 1.0
    model = linearize(plant, point, coordinates=("left", "right"))
    null = np.eye(len(A)) - A @ np.linalg.pinv(A, rcond=1e-9)
    for seed in range(3):
        other = dataclasses.replace(point, lam=point.lam + null @ np.random.default_rng(seed).uniform(-50, 50, len(A)))
        moved = linearize(plant, other, coordinates=("left", "right"))
        assert largest(moved.A - model.A) < 1e-9 * largest(model.A)
        assert largest(moved.B - model.B) < 1e-12


# -- closed machines of all kinds -----------------------------------------------------------------------------


CLOSED = [
    ((fixtures.Revolute,), (fixtures.Revolute, fixtures.Spherical)),
    ((fixtures.Distance, fixtures.Point), (fixtures.Free, fixtures.Planar)),
    ((fixtures.Cylindrical,), (fixtures.Universal, fixtures.Cylindrical, fixtures.Revolute)),
    ((fixtures.Helical, fixtures.Distance), (fixtures.Spherical, fixtures.Prismatic, fixtures.Helical)),
    ((fixtures.Universal, fixtures.PointOnPlane), (fixtures.Spherical, fixtures.Planar, fixtures.Prismatic)),
    ((fixtures.Planar, fixtures.Coupling), (fixtures.Revolute, fixtures.Spherical, fixtures.Cylindrical)),
    ((fixtures.PointOnLine, fixtures.Prismatic), (fixtures.Free, fixtures.Spherical)),
    ((fixtures.Spherical, fixtures.Distance), fixtures.JOINTS),
]


@pytest.mark.nojit_slow
@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("case", range(len(CLOSED)))
@pytest.mark.first(1)
def test_random_closed_machines_agree_with_differences(case, twice):
    """Equilibria of spring-held machines with multi-axis joints, against the nonlinear motion."""
    loop_kinds, kinds = CLOSED[case]
    seed = case + 20
    parts = fixtures.tree_parts(seed, 5, kinds, damped=True)
    springs = fixtures.springs(parts, seed)
    springs += [PointSpring(f"stay{i}", "ground", f"body{i}", (0, 0, i), (0.1, 0, 0), 40.0, 0.5, 1.0) for i in range(5)]
    drives = fixtures.actuators(parts, seed)
    plant, q = fixtures.close_parts(parts, seed, loop_kinds, twice, springs=springs, actuators=drives)
    point = trim(plant, q, free="all", u=np.linspace(-0.5, 0.5, plant.nu))
    assert largest(plant.jacobian(point.q).T @ point.lam) > 1e-2
    model = linearize(plant, point)
    names = model.states[: model.dof]
    R = np.eye(plant.nv)[[plant.index(n) for n in names]]
    in_y, in_rate, in_u = by_differences(plant, point, R, Reduced(plant, point.q, R), step=4e-3)
    scale = largest(in_y)
    assert largest(model.A[model.dof :, : model.dof] - in_y) < 1e-8 * scale
    assert largest(model.A[model.dof :, model.dof :] - in_rate) < 1e-8 * scale
    assert largest(model.B[model.dof :] - in_u) < 1e-8 * scale


def test_bricard_agrees_with_differences():
    """Six hinges in a ring, movable though six rows and six joints leave no degree of freedom by count."""
    plant, q, _ = plants.catalogue["bricard"].start()
    point = trim(plant, q, free="all", u=0.0, stable=True)
    model = linearize(plant, point)
    assert model.dof == 1
    R = np.eye(plant.nv)[[plant.index(model.states[0])]]
    in_y, _, in_u = by_differences(plant, point, R, Reduced(plant, point.q, R))
    assert model.A[1, 0] == pytest.approx(in_y[0, 0], rel=1e-8)
    assert model.B[1] == pytest.approx(in_u[0], rel=1e-8)


# -- what comes out ---------------------------------------------------------------------------------------------


def test_machine_without_loops_or_freedom():
    rod = Body.rod("rod", 1.0, 1.0)
    free = Mechanism("free", [rod], [Revolute("pivot", "ground", "rod", axis=(0, 1, 0))])
    model = linearize(free, trim(free, [0.5 * np.pi]))
    assert frequencies(model) == pytest.approx([np.sqrt(1.5 * 9.81)], rel=1e-12)
    stuck = Mechanism("stuck", [rod], [Revolute("pivot", "ground", "rod")], [Fixed("lock", "ground", "rod")])
    point = trim(stuck, [0.0])
    assert linearize(stuck, point).states == ()


# -- what is refused ------------------------------------------------------------------------------------------


def test_away_from_equilibrium(arm):
    plant, point = arm
    falling = OperatingPoint.at(plant, point.q)
    with pytest.raises(EquilibriumError, match=r"not in equilibrium .*'left' -?\d.* N m.*trim"):
        linearize(plant, falling)
    moving = dataclasses.replace(point, v=plant.project_velocity(point.q, np.ones(4)))
    with pytest.raises(EquilibriumError, match="moves: 'left'"):
        linearize(plant, moving)
    with pytest.raises(AssemblyError, match="'tip' open by"):
        linearize(plant, dataclasses.replace(point, q=point.q + 1e-3))
    with pytest.raises(TypeError, match="OperatingPoint, from trim"):
        linearize(plant, point.q)
    wrong = dataclasses.replace(point, lam=point.lam * 1.01)
    with pytest.raises(EquilibriumError):
        linearize(plant, wrong)


@pytest.mark.parametrize("closure", ["line", "revolute"])
def test_singular_pose_has_no_linear_model(closure):
    plain = plants.five_bar(closure=closure)
    plant = Mechanism("weightless", plain.bodies, plain.joints, plain.loops, gravity=(0, 0, 0))
    q = configuration(plain, "singular")
    assert plant.diagnose(q).singular
    with pytest.raises(SingularConfigurationError, match="singular configuration"):
        linearize(plant, OperatingPoint.at(plant, q))
    regular = plant.assemble(left=2.1, right=1.0)
    assert linearize(plant, OperatingPoint.at(plant, regular)).dof == 2


def test_point_spring_of_length_zero():
    bodies = [Body("a"), Body("b", 1.0)]
    joints = [Prismatic("x", "ground", "a", axis=(1, 0, 0)), Prismatic("y", "a", "b", axis=(0, 1, 0))]
    for rest, fine in ((0.0, True), (0.1, False)):
        springs = [PointSpring("spring", "ground", "b", stiffness=4.0, rest=rest)]
        plant = Mechanism("mass", bodies, joints, springs=springs, gravity=(0, 0, 0))
        if fine:
            assert frequencies(linearize(plant, trim(plant, [0, 0]))) == pytest.approx([2.0, 2.0])
        else:
            with pytest.raises(ValueError, match=re.escape("point spring length zero")):
                trim(plant, [0, 0])


def test_twin_of_the_point_closure():
    """A point closure of a floating body equals the tree with a ball joint: eigenvalues and inputs."""
    rng = np.random.default_rng(5)
    body = fixtures.body(rng, "body")
    stay = PointSpring("stay", "ground", "body", (0.3, 0.2, 0.9), (0.2, 0.1, 0.0), 25.0, 0.4, 0.3)
    tree = Mechanism("tree", [body], [fixtures.Spherical("ball", "ground", "body")], springs=[stay])
    cut = Mechanism("cut", [body], [Free("float", "ground", "body")], [Point("ball", "ground", "body")], [stay])
    at_tree = trim(tree, tree.neutral(), free="all", u=0.0)
    q = np.concatenate([at_tree.q, np.zeros(3)])
    models = [linearize(tree, at_tree), linearize(cut, trim(cut, q))]
    assert matched(*(m.poles() for m in models)) < 1e-9


def test_dry_friction_is_told_and_left_out():
    """An upright rod that rubs: of its poles +-sqrt(m g l / J), smooth friction makes -909 and 0.016 1/s."""
    parts = [Body("rod", 1.0, (0.5, 0, 0), (0.08, 0.08, 0.08))], [Revolute("a", "ground", "rod")]
    pole = np.sqrt(9.81 * 0.5 / 0.33)
    for law in (Friction(0.3), Friction(0.3, viscous=0.2)):
        plant = Mechanism("rod", *parts, forces=[JointForce("rub", "a", law)], gravity=(-9.81, 0, 0))
        point = trim(plant, [0.0])
        steep = linearize(plant, point)
        assert steep.poles().real.min() < -900.0
        assert "friction of rub is dry" in str(steep) and "dry_friction=False" in str(steep)
        plain = linearize(plant, point, dry_friction=False)
        assert "is dry" not in str(plain)
        viscous = law.viscous / 0.33
        expected = np.sort(np.roots([1.0, viscous, -(pole**2)]))
        assert plain.poles().real == pytest.approx(expected, abs=1e-9)
        moving = affine_approximation(plant, OperatingPoint.at(plant, [0.3], v=[0.5]))
        assert "is dry" not in str(moving)
    assert "is dry" not in str(
        linearize(plants.five_bar(), trim(plants.five_bar(), plants.five_bar().assemble(left=2.1, right=1.0)))
    )
