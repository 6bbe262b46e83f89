"""Local parametrizations (Spencer, chapter 2): Psi, its derivatives, the range of a chart."""

import dataclasses

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.errors import AssemblyError, ModelError, ParametrizationError, SingularConfigurationError
from cmbcontrol.linear import (
    CoordinatePartitioning,
    LinearParametrization,
    LocalForm,
    NonlinearParametrization,
    TangentSpace,
)
from cmbcontrol.linear.parametrization import Parametrization, as_parametrization
from cmbcontrol.linear.right_jacobian import angle_factor, group_joints, inverse_right_jacobian
from cmbcontrol.model.elements import Body, Frame, PointOnLine, Prismatic, Revolute, Spherical
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants.five_bar import configuration as five_bar_configuration
from cmbcontrol.plants.parallel_four_bar import configuration as four_bar_configuration
from tests import fixtures
from tests.fixtures import away_from_base, chart_machine, chart_of, every_kind, every_machine, jacobian, largest, slope

pytestmark = pytest.mark.nojit_slow  # many configurations, and no kernels but those of other tests


# -- Psi and its derivatives (2.3.1, 2.3.2) -----------------------------------------------------------------


@every_kind
@every_machine
def test_psi_lies_on_the_manifold_and_has_its_coordinates(machine, kind):
    chart = chart_of(machine, kind)
    plant = chart.plant
    assert isinstance(chart.parametrization, Parametrization)
    pose = away_from_base(chart)
    assert chart.dof == plant.nv - chart.rank
    assert chart.dof == 0 or largest(plant.difference(chart.q0, pose.q)) > 1e-3
    assert plant.closure_error(pose.q) <= 1e-13 * plant.size  # all rows, the redundant ones too
    assert largest(chart.coordinates(pose.q, chart.y0) - pose.y) <= 1e-13 * max(1.0, largest(pose.y))
    if kind == "nonlinear":
        assert largest(np.asarray(chart.parametrization.R(pose.q, pose.y)) / chart.units) <= 1e-13
    back = chart.solve(chart.y0, pose)
    assert largest(plant.difference(chart.q0, back.q)) < 1e-12


@pytest.mark.first(10)
@every_kind
@every_machine
def test_derivative_of_psi(machine, kind):
    """Eqs. (2.29), (2.31) and (2.37) are one matrix; it is that of differences of Psi."""
    chart = chart_of(machine, kind)
    plant, p = chart.plant, chart.dof
    pose = away_from_base(chart)
    A = plant.jacobian(pose.q)
    scale = max(1.0, largest(pose.T))
    if kind == "nonlinear":
        D1, D2 = (getattr(chart.parametrization, key)(pose.q, pose.y) for key in ("D1R", "D2R"))
    else:
        turn = inverse_right_jacobian(group_joints(plant), plant.difference(chart.q0, pose.q))
        D1, D2 = chart.base.V @ turn, -np.eye(p)
    rhs = np.zeros((len(A), p))
    of_29 = np.linalg.lstsq(np.vstack([D1, A]), np.vstack([-D2, rhs]), rcond=1e-11)[0]
    of_31 = np.linalg.lstsq(np.vstack([pose.W, A]), np.vstack([np.eye(p), rhs]), rcond=1e-11)[0]
    S = np.linalg.svd(pose.W)[2][p:]  # any complement of W
    both = np.linalg.inv(np.vstack([pose.W, S]))
    R_, S_, H = both[:, :p], both[:, p:], A[chart.rows]
    of_37 = R_ - S_ @ np.linalg.solve(H @ S_, H @ R_)
    for found in (of_29, of_31, of_37):
        assert largest(found - pose.T) < 1e-9 * scale
    moved = jacobian(lambda d: plant.difference(pose.q, chart.solve(pose.y + d, pose).q), p, 0.02 * chart.units / scale)
    assert largest(moved.reshape(pose.T.shape) - pose.T) < 1e-8 * scale
    assert largest(pose.W @ pose.T - np.eye(p)) < 1e-12 * scale  # (2.30)


@every_kind
@every_machine
def test_velocity_map(machine, kind):
    """v = K y_v lies on the manifold and has the independent velocities y_v (2.42a, 2.44)."""
    chart = chart_of(machine, kind)
    plant, p = chart.plant, chart.dof
    pose = away_from_base(chart)
    scale = max(1.0, largest(pose.K))
    assert largest(plant.jacobian(pose.q) @ pose.K) < 1e-12 * scale
    assert largest(pose.V @ pose.K - np.eye(p)) < 1e-12 * scale
    rates = np.random.default_rng(1).uniform(-1.0, 1.0, p)
    assert largest(chart.rates(pose.q, pose.K @ rates, pose.y) - rates) < 1e-12 * scale
    if kind == "nonlinear" or not group_joints(plant):
        assert largest(pose.K - pose.T) < 1e-12 * scale
    else:
        assert largest(pose.V - chart.base.V) == 0.0  # constant, so that dy_v/dt = R a


@every_kind
@pytest.mark.parametrize("machine", ["five-bar", "bricard", "Spherical", "Distance twice", "tree", "particle"])
def test_derivative_of_the_whole_state(machine, kind):
    """D Psi of (2.40), with dK/dt in its lower left block."""
    chart = chart_of(machine, kind)
    plant, p = chart.plant, chart.dof
    pose = away_from_base(chart)
    rng = np.random.default_rng(4)
    form = LocalForm(plant, chart=chart)
    x = np.concatenate([pose.y, rng.uniform(-1.0, 1.0, p)])
    q, v = form.full(x)

    def state(d):
        q_d, v_d = form.full(x + d, pose)
        return np.concatenate([plant.difference(q, q_d), v_d])

    steps = 0.02 * np.concatenate([chart.units, np.ones(p)]) / max(1.0, largest(pose.T))
    found = form.derivative(form.point(x))
    assert found[: plant.nv, p:].tolist() == np.zeros((plant.nv, p)).tolist()
    assert largest(found - jacobian(state, 2 * p, steps)) < 1e-7 * max(1.0, largest(found))
    assert v == pytest.approx(found[plant.nv :, p:] @ x[p:], abs=1e-12)


# -- the inverse right Jacobian -----------------------------------------------------------------------------


def test_conditioning_ends_at_half_a_turn():
    """Where the logarithm does."""
    plant = fixtures.random_tree(1, bodies=1, kinds=(Spherical,))
    q0 = plant.neutral()
    chart = LinearParametrization(np.eye(3)).at(plant, q0)
    found = [chart.solve([angle, 0.0, 0.0]).conditioning for angle in (0.0, 1.0, 2.0, 3.0, 3.14)]
    assert found[0] == pytest.approx(1.0)
    assert found == sorted(found, reverse=True)
    assert found[-1] < 1e-3
    assert angle_factor(group_joints(plant), np.array([0.0, np.pi, 0.0])) == pytest.approx(0.0, abs=1e-15)


def test_conditioning_ends_where_y_v_does_not_determine_the_velocity():
    """On a ball joint y_v = R v is not dy/dt: [R; A] may become singular before [D1R; A] does."""
    parts = fixtures.tree_parts(16, 2, (Spherical, Revolute))
    plant, q = fixtures.close_parts(parts, 16, (fixtures.PointOnPlane,))
    chart = TangentSpace().at(plant, q)
    way = np.random.default_rng(16).standard_normal(chart.dof)
    pose, found = chart.base, []
    with pytest.raises(ParametrizationError, match="beyond where its chart ends"):
        for s in np.arange(0.05, 3.0, 0.05):
            pose = chart.solve(s * way / np.linalg.norm(way), pose)
            found.append(pose.conditioning)
            assert largest(pose.V @ pose.K - np.eye(chart.dof)) < 1e-11
    assert found == sorted(found, reverse=True)
    assert found[-1] < 0.05


# -- the iteration (2.3.1) ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def circle():
    """The pendulum of Fig. 2.2: a particle on the unit circle in Cartesian coordinates."""
    return plants.particle_on_circle()


def on_circle(angle):
    return np.array([np.cos(angle), np.sin(angle)])


def test_iteration_stops_at_its_tolerance(circle):
    """On the circle Psi(y) = (y, sqrt(1 - y^2)) is known."""
    chart = CoordinatePartitioning(("q1",)).at(circle, on_circle(1.1))
    counts = []
    for y in (0.0, 1e-9, 1e-6, 1e-3, 0.1, 0.3):
        pose = chart.solve([y])
        x = np.cos(1.1) + y
        exact = np.array([x, np.sqrt(1.0 - x * x)])
        assert largest(pose.q - exact) < 1e-13
        counts.append(pose.iterations)
    assert counts == sorted(counts)
    assert counts[0] == 1
    assert counts[-1] <= 8
    near = chart.solve([0.5])
    assert chart.solve([0.5], near).iterations == 1


def test_contraction_rate_predicts_the_count(circle):
    """With the matrix kept, the error falls by rho = |1 - q2/q2_0| a step, and the iteration knows when to end."""
    chart = CoordinatePartitioning(("q1",)).at(circle, on_circle(1.1))
    dy = 1e-3
    pose = chart.solve([dy])
    q2, tangent = np.sin(1.1), -np.cos(1.1) / np.sin(1.1)
    exact = np.sqrt(1.0 - (np.cos(1.1) + dy) ** 2)
    x, steps = q2 + tangent * dy, []  # chord iteration by hand
    while True:
        step = -(np.hypot(np.cos(1.1) + dy, x) - 1.0) / q2
        x, steps = x + step, [*steps, abs(step)]
        rate = (steps[-1] / steps[0]) ** (1.0 / len(steps))
        if len(steps) > 1 and rate / (1.0 - rate) * steps[-1] <= 1e-13:
            break
    assert abs(x - exact) < 1e-13  # the estimate is on the safe side
    assert pose.iterations == len(steps)
    assert pose.q[1] == pytest.approx(x, abs=1e-15)


def test_iteration_that_does_not_contract_says_so(circle):
    chart = CoordinatePartitioning(("q1",)).at(circle, on_circle(1.1))
    with pytest.raises(ParametrizationError, match=r"'particle' was not found at y = q1 0\.7.*contraction rate.*repar"):
        chart.solve([0.7])  # q1 = 1.15 is not on the circle
    plant, q = chart_machine("five-bar")
    arm = CoordinatePartitioning(("left", "elbow_left")).at(plant, q)
    straight = r"y = left 0, elbow_left 1\.\d*: after \d+ steps the last is.*loops open by"
    with pytest.raises(ParametrizationError, match=straight):
        arm.solve([0.0, -q[1]])  # the straight left arm ends where the right one does not reach
    with pytest.raises(ValueError, match="y"):
        arm.solve([1.0])


def test_branch_beyond_the_end_of_a_chart_is_not_taken(circle):
    """Through q2 = 0 the iteration may land on the lower half: another determinant, another chart."""
    chart = CoordinatePartitioning(("q1",)).at(circle, on_circle(0.3))
    below = chart.base._replace(q=on_circle(-0.3))
    with pytest.raises(ParametrizationError, match=r"beyond where its chart ends.*2\.28") as caught:
        chart.solve([0.0], below)
    assert caught.value.conditioning == pytest.approx(chart.base.conditioning, rel=1e-9)


def test_machine_far_from_the_origin():
    """Its residuals are rounded by 1e-11: no reason to give up."""
    plant, q = chart_machine("five-bar revolute")
    far = moved(plant, [1e5, -1e5, 0.0])
    chart, home = TangentSpace().at(far, q), TangentSpace().at(plant, q)
    for y in np.random.default_rng(1).uniform(-0.3, 0.3, (10, 2)):
        pose = chart.solve(y)
        assert far.closure_error(pose.q) < 3e-10
        assert largest(pose.q - home.solve(home.coordinates(pose.q)).q) < 1e-8


def moved(plant, by):
    """The same machine elsewhere in the world."""

    def shifted(part):
        if getattr(part, "parent", None) == "ground":
            return dataclasses.replace(part, frame=Frame(by) @ part.frame)
        return part

    joints, loops = ([shifted(x) for x in parts] for parts in (plant.joints, plant.loops))
    return Mechanism("far", plant.bodies, joints, loops, actuators=plant.actuators, gravity=plant.gravity)


# -- the range of a chart -----------------------------------------------------------------------------------


def crank(metres):
    """A slider-crank in other units of length."""
    z, n = np.array([0.0, 0.0, 1.0]), metres
    bodies = [Body.rod("crank", 1.0, 0.3 * n), Body.rod("rod", 1.0, 0.8 * n), Body("slider", 1.0)]
    joints = [
        Revolute("crank", "ground", "crank", axis=z),
        Revolute("rod", "crank", "rod", axis=z, frame=Frame((0.3 * n, 0.0, 0.0))),
        Prismatic("slider", "ground", "slider", axis=(1.0, 0.0, 0.0)),
    ]
    return Mechanism("crank", bodies, joints, [PointOnLine("pin", "slider", "rod", (0, 0, 0), (0.8 * n, 0, 0))])


@pytest.mark.parametrize("kind", ["partitioning", "tangent", "slider"])
def test_conditioning_does_not_depend_on_units(kind):
    found = []
    for metres in (1e-3, 1.0, 1e3):
        plant = crank(metres)
        q = plant.assemble(crank=0.7, guess={"slider": 1.0 * metres})
        parametrization_of = CoordinatePartitioning(("slider",)) if kind == "slider" else as_parametrization(kind)
        chart = parametrization_of.at(plant, q)
        found.append((chart.base.conditioning, chart.solve(0.05 * chart.units).conditioning))
    assert found[0] == pytest.approx(found[1], rel=1e-6)
    assert found[2] == pytest.approx(found[1], rel=1e-6)
    assert 0.1 < found[1][0] <= 1.0 + 1e-12


def test_conditioning_falls_towards_dependent_coordinates(circle):
    """y = q1 near q2 = 0 (Fig. 2.3): conditioning goes with q2."""
    angles = np.array([0.5 * np.pi, 1.0, 0.3, 0.1, 1e-2, 1e-4, 1e-6])
    found = np.array([CoordinatePartitioning(("q1",)).at(circle, on_circle(a)).base.conditioning for a in angles])
    assert found[0] == pytest.approx(1.0)
    assert np.all(np.diff(found) < 0.0)
    assert found[-3:] / np.sin(angles[-3:]) == pytest.approx(found[-3] / np.sin(1e-2), rel=1e-3)
    with pytest.raises(
        ParametrizationError, match=r"'q1' of 'particle' are not independent.*2\.28.*are 'q2'"
    ) as caught:
        CoordinatePartitioning(("q1",)).at(circle, on_circle(0.0))
    assert caught.value.conditioning < 1e-8
    assert CoordinatePartitioning().at(circle, on_circle(0.0)).names == ("q2",)


@pytest.mark.parametrize("kind", ["partitioning", "tangent"])
def test_conditioning_falls_towards_a_singular_pose(kind):
    plant = plants.parallel_four_bar()
    found = [
        as_parametrization(kind).at(plant, four_bar_configuration(0.5 + gap, 0.5)).base.conditioning
        for gap in (1.0, 0.3, 1e-1, 1e-3, 1e-5)
    ]
    assert found == sorted(found, reverse=True)
    assert found[-1] / found[-2] == pytest.approx(1e-2, rel=1e-2)
    with pytest.raises(
        SingularConfigurationError,
        match=r"'parallel-four-bar' is at a singular.*Choose another configuration",
    ):
        as_parametrization(kind).at(plant, four_bar_configuration(0.5, 0.5))


@every_kind
@pytest.mark.parametrize("machine", ["five-bar", "andrews", "bricard", "Universal twice"])
def test_next_chart(machine, kind):
    """The chart of the same kind at another base point: the same configurations, better where the first ends."""
    chart = chart_of(machine, kind)
    assert not chart.needs_renewal(chart.base)
    pose = away_from_base(chart, seed=3, reach=0.5)
    other = chart.reparametrize(pose.q, pose.y)
    assert (type(other.parametrization), other.rank) == (type(chart.parametrization), chart.rank)
    assert largest(other.q0 - pose.q) == 0.0
    assert chart.q0.tolist() == chart_machine(machine)[1].tolist()
    if kind in ("partitioning", "tangent"):
        assert other.base.conditioning > 0.99 * pose.conditioning
    if kind == "nonlinear":  # y stays what it is
        assert other.y0 == pytest.approx(pose.y, abs=1e-13)
        assert chart.reparametrize(pose.q).y0 == pytest.approx(pose.y, abs=1e-13)
    else:
        assert other.y0.tolist() == [0.0] * chart.dof
    near = other.solve(other.coordinates(chart.solve(0.9 * pose.y + 0.1 * chart.y0).q, pose.y))
    assert near.q == pytest.approx(chart.solve(0.9 * pose.y + 0.1 * chart.y0).q, abs=1e-11)


@pytest.mark.parametrize("threshold", [0.2, 0.4, 0.8])
def test_worn_chart_is_renewed(circle, threshold):
    """Round the whole circle, which no single chart covers."""
    parametrization_of = TangentSpace(threshold)
    chart = parametrization_of.at(circle, on_circle(0.0))
    angle, charts = 0.0, 1
    pose = chart.base
    side = np.sign(chart.base.V @ [0.0, 1.0])[0]
    while angle < 2.0 * np.pi:
        pose = chart.solve(pose.y + 0.03 * side, pose)
        if chart.needs_renewal(pose):
            assert pose.conditioning < threshold * chart.base.conditioning
            direction = pose.T[:, 0] * side
            chart = chart.reparametrize(pose.q)
            assert chart.base.conditioning > pose.conditioning
            pose, charts, side = chart.base, charts + 1, np.sign(chart.base.V @ direction)[0]
        now = np.arctan2(pose.q[1], pose.q[0]) % (2.0 * np.pi)
        if now < angle - 1.0:
            break
        angle = now
    assert charts >= 4
    assert np.linalg.norm(pose.q) == pytest.approx(1.0, abs=1e-12)


# -- what is refused ----------------------------------------------------------------------------------------


def test_coordinates_that_cannot_be():
    plant, q = chart_machine("five-bar")
    with pytest.raises(ParametrizationError, match=r"2 degrees of freedom \(4 coordinates less 2 .*got 1 coord.*Indep"):
        CoordinatePartitioning(("left",)).at(plant, q)
    with pytest.raises(ParametrizationError, match="got 3 coordinates"):
        LinearParametrization(np.eye(4)[:3]).at(plant, q)
    with pytest.raises(ValueError, match="'left' is given 2 times"):
        CoordinatePartitioning(("left", "left")).at(plant, q)
    with pytest.raises((KeyError, ValueError), match="lift"):
        CoordinatePartitioning(("lift", "right")).at(plant, q)
    with pytest.raises(ParametrizationError, match=r"'y1', 'y2' of 'five-bar' are not independent.*are '\w+', '\w+'"):
        LinearParametrization([[1, 0, 0, 0], [2, 0, 0, 0]]).at(plant, q)
    with pytest.raises(ParametrizationError, match="not independent"):
        LinearParametrization(np.zeros((2, 4))).at(plant, q)
    with pytest.raises(ValueError, match=r"R \(degrees of freedom x velocity coordinates\)"):
        LinearParametrization(np.eye(3)[:2]).at(plant, q)
    with pytest.raises(AssemblyError, match="'tip' open by"):
        TangentSpace().at(plant, q + 0.1)
    with pytest.raises(SingularConfigurationError, match=r"'five-bar' is at a singular configuration, q = \[3.14"):
        TangentSpace().at(plant, five_bar_configuration(plant, "singular"))


def test_names_of_parametrizations():
    assert isinstance(as_parametrization(None), TangentSpace)
    assert isinstance(as_parametrization("tangent"), TangentSpace)
    assert isinstance(as_parametrization("partitioning"), CoordinatePartitioning)
    assert as_parametrization(None, ("left", "right")).names == ("left", "right")
    assert as_parametrization(None, "angle").names == ("angle",)
    assert isinstance(as_parametrization(None, np.eye(2)), LinearParametrization)
    mine = TangentSpace(0.1)
    assert as_parametrization(mine) is mine
    with pytest.raises(ValueError, match="partitioning"):
        as_parametrization("svd")
    with pytest.raises(TypeError, match="either coordinates= or parametrization="):
        as_parametrization("tangent", ("left",))
    with pytest.raises(TypeError, match="at\\(plant, q0\\)"):
        as_parametrization(3.0)


@pytest.mark.parametrize("kind", ["partitioning", "tangent"])
def test_structures_have_no_coordinates(kind):
    """All degrees of freedom held: a chart of one point."""
    parts = fixtures.tree_parts(1, bodies=1, kinds=(Revolute,))
    plant, q = fixtures.close_parts(parts, 1, (fixtures.Fixed,))
    chart = as_parametrization(kind).at(plant, q)
    assert (chart.dof, chart.rank, chart.names) == (0, 1, ())
    pose = chart.solve([])
    assert pose.q == pytest.approx(q, abs=1e-14)
    assert pose.K.shape == (1, 0)
    A, B = LocalForm(plant, chart=chart).jacobian([])
    assert (A.shape, B.shape) == ((0, 0), (0, 0))


# -- nonlinear parametrizations (2.20) ----------------------------------------------------------------------


def polar():
    """The polar angle, as an equation: q1 sin y = q2 cos y. D2R = |q|."""
    return NonlinearParametrization(
        lambda q, y: [q[0] * np.sin(y[0]) - q[1] * np.cos(y[0])],
        lambda q, y: [[np.sin(y[0]), -np.cos(y[0])]],
        lambda q, y: [[q[0] * np.cos(y[0]) + q[1] * np.sin(y[0])]],
        names=("angle",),
    )


def test_polar_angle_is_global(circle):
    """One chart for the whole circle, twice round (2.3.4), and the equation of the pendulum in it."""
    chart = polar().at(circle, on_circle(0.4))
    assert chart.y0 == pytest.approx([0.4], abs=1e-14)
    form, pose = LocalForm(circle, chart=chart), chart.base
    for angle in np.arange(0.4, 13.0, 1.2):
        pose = chart.solve([angle], pose)
        assert pose.q == pytest.approx(on_circle(angle), abs=1e-14)
        assert pose.T[:, 0] == pytest.approx([-np.sin(angle), np.cos(angle)], abs=1e-13)
        assert pose.conditioning == pytest.approx(chart.base.conditioning)
        x = np.array([angle, 1.7])
        assert form(x, near=pose) == pytest.approx([1.7, -9.81 * np.cos(angle)], abs=1e-9)
        A, B = form.jacobian(x, near=pose)
        assert largest(A - np.array([[0.0, 1.0], [9.81 * np.sin(angle), 0.0]])) < 1e-7
        assert B[1] == pytest.approx([-np.sin(angle), np.cos(angle)], abs=1e-13)
    assert chart.reparametrize(pose.q, pose.y).y0 == pytest.approx(pose.y)


def test_pendulum_of_section_2_3(circle):
    """y = q1: dy_v/dt = d/dt(-sin(a) a') from a'' = -g cos(a); fails at q2 = 0."""
    parametrization_of = NonlinearParametrization.of(lambda q: q[:1], lambda q: [[1.0, 0.0]], ("q1",))
    chart = parametrization_of.at(circle, on_circle(1.1))
    form = LocalForm(circle, chart=chart)
    a, w = 1.3, 0.8
    x = form.state(on_circle(a), w * np.array([-np.sin(a), np.cos(a)]))
    assert x == pytest.approx([np.cos(a), -w * np.sin(a)])
    dda = -9.81 * np.cos(a)
    assert form(x) == pytest.approx([x[1], -np.sin(a) * dda - np.cos(a) * w**2], abs=1e-11)
    with pytest.raises(ParametrizationError, match=r"not independent at q = \[1\.0, 0\.0\].*Independent there are .q2"):
        parametrization_of.at(circle, on_circle(0.0))


def tip_of(q):
    a, b = q[0], q[0] + q[1]
    return np.array([np.cos(a) + 1.5 * np.cos(b), np.sin(a) + 1.5 * np.sin(b)])


def tip_jacobian(q):
    (x, y), b = tip_of(q), q[0] + q[1]
    return np.array([[-y, -1.5 * np.sin(b), 0.0, 0.0], [x, 1.5 * np.cos(b), 0.0, 0.0]])


def test_tip_of_the_five_bar():
    """Its acceleration is J a + J' v, and its Jacobian is that of other coordinates carried over."""
    plant, q0 = chart_machine("five-bar")
    tip = NonlinearParametrization.of(tip_of, tip_jacobian, ("tip_x", "tip_y"))
    chart = tip.at(plant, q0)
    assert chart.names == ("tip_x", "tip_y")
    wanted = tip_of(q0) + np.array([0.1, -0.15])
    pose = chart.solve(wanted)
    assert tip_of(pose.q) == pytest.approx(wanted, abs=1e-13)
    form, u = LocalForm(plant, chart=chart), np.array([2.0, -1.0])
    v = pose.K @ [0.4, 0.9]
    x = form.state(pose.q, v, pose.y)
    a = forward_dynamics(plant, pose.q, v, u)
    bend = slope(lambda s: tip_jacobian(pose.q + s * v) @ v, 0.02)
    assert form(x, u) == pytest.approx(np.concatenate([[0.4, 0.9], tip_jacobian(pose.q) @ a + bend]), abs=1e-10)
    plain = LocalForm(plant, q0=q0, coordinates=("left", "right"))
    z = plain.state(pose.q, v)
    B = plain.jacobian(z, u)[1]
    change = jacobian(lambda d: form.state(*plain.full(z + d), pose.y), 4, 0.01)  # x(z)
    turned = jacobian(lambda d: change_along(plain, form, z + d, u, pose), 4, 0.01)
    found, effort = form.jacobian(x, u)
    assert found @ change == pytest.approx(turned, abs=1e-6)
    assert effort == pytest.approx(change @ B, abs=1e-10)


def change_along(plain, form, z, u, pose):
    """dx/dt of the tip where the state is z in the angles."""
    return form(form.state(*plain.full(z), pose.y), u, pose)


def test_functions_that_do_not_fit(circle):
    q0 = on_circle(0.4)

    def with_(**keys):
        return dataclasses.replace(polar(), **keys).at(circle, q0)

    with pytest.raises(
        ModelError, match=r"R\(q, y\) for 'particle' must return shape \(1,\), got \(2,\).*1 degrees of freedom and 2"
    ):
        with_(R=lambda q, y: q)
    with pytest.raises(ModelError, match=r"D1R\(q, y\) for 'particle' must return shape \(1, 2\)"):
        with_(D1R=lambda q, y: [1.0, 0.0])
    with pytest.raises(ModelError, match=r"D1R\(q, y\) for 'particle' disagrees with differences.*entry \(0, 1\) is 3"):
        with_(D1R=lambda q, y: [[np.sin(y[0]), 3.0]])
    with pytest.raises(ModelError, match=r"D2R\(q, y\) for 'particle' disagrees with differences"):
        with_(D2R=lambda q, y: [[1.2 * (q[0] * np.cos(y[0]) + q[1] * np.sin(y[0]))]])
    with pytest.raises(ModelError, match="is not finite at q"):
        with_(R=lambda q, y: [np.nan])
    with pytest.raises(ParametrizationError, match=r"does not determine y at q.*singular values.*2\.27"):
        NonlinearParametrization(lambda q, y: [q[0]], lambda q, y: [[1.0, 0.0]], lambda q, y: [[0.0]]).at(circle, q0)
    with pytest.raises(ParametrizationError, match=r"no y with R\(q, y\) = 0 was found.*Give y0="):
        NonlinearParametrization(
            lambda q, y: [q[0] + 2.0 + y[0] ** 2], lambda q, y: [[1.0, 0.0]], lambda q, y: [2.0 * y], y0=[0.3]
        ).at(circle, q0)
    with pytest.raises(ParametrizationError, match="got 2 coordinates: 'a', 'b'"):
        with_(names=("a", "b"))


def test_parameters_that_end_away_from_the_base(circle):
    """y = q1^3 has no slope at q1 = 0: condition (2.27) in the other direction, (2.28) here."""
    cube = NonlinearParametrization.of(lambda q: q[:1] ** 3, lambda q: [[3.0 * q[0] ** 2, 0.0]])
    chart = cube.at(circle, on_circle(1.2))
    with pytest.raises(ParametrizationError, match=r"not independent at q = \[0\.0, 1\.0\].*'q1'"):
        chart.point([0.0, 1.0], np.zeros(1))
    root = NonlinearParametrization(  # y^2 = q1 + 2
        lambda q, y: [q[0] + 2.0 - y[0] ** 2], lambda q, y: [[1.0, 0.0]], lambda q, y: [[-2.0 * y[0]]], y0=[1.0]
    )
    with pytest.raises(ParametrizationError, match=r"does not determine y at q = \[0\.0, 1\.0\].*2\.27"):
        root.at(circle, on_circle(1.2)).point([0.0, 1.0], np.zeros(1))


# -- the parallel four-bar (2.4.1) --------------------------------------------------------------------------


def test_constant_K_of_the_parallel_four_bar():
    plant = plants.parallel_four_bar()
    K = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0], [-1.0, 1.0]])
    names = plant.velocity_names
    for q in (four_bar_configuration(2.0, 0.5), four_bar_configuration(-1.0, 0.7)):
        for i in range(4):
            for j in range(i + 1, 4):
                parametrization_of = CoordinatePartitioning((names[i], names[j]))
                if {i, j} == {2, 3}:  # q3 + q4 = -pi
                    with pytest.raises(ParametrizationError, match="'q3', 'q4' of 'parallel-four-bar' are not indep"):
                        parametrization_of.at(plant, q)
                    continue
                pose = away_from_base(parametrization_of.at(plant, q), seed=i + j)
                assert largest(pose.K - K @ np.linalg.inv(K[[i, j]])) < 1e-13
        for parametrization_of in (TangentSpace(), CoordinatePartitioning(), LinearParametrization(K.T)):
            pose = away_from_base(parametrization_of.at(plant, q), seed=3)
            assert largest(pose.K - K @ np.linalg.inv(pose.V @ K)) < 1e-12
