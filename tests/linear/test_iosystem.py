"""The plant as a native system of python-control: equations, branches, outputs, and the functions that take it."""

import warnings

import control as ct
import numpy as np
import pytest

from cmbcontrol import OperatingPoint, affine_approximation, linearize, plants, simulate, trim
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.errors import AssemblyError, SingularConfigurationError
from cmbcontrol.linear.signals import FrameMotion
from cmbcontrol.model.elements import (
    Actuator,
    Body,
    Distance,
    Frame,
    Free,
    Planar,
    Point,
    PointOnPlane,
    Prismatic,
    Revolute,
    Spherical,
)
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants.five_bar import configuration
from tests import fixtures
from tests.fixtures import jacobian, largest


def error_of_linearize(system, x, u, step=1e-2):
    """Largest relative error of the analytic A, B, C, D against differences of the system itself."""
    n, m = system.nstates, system.ninputs

    def both(d):
        return np.concatenate([system._rhs(0.0, x + d[:n], u + d[n:]), system._out(0.0, x + d[:n], u + d[n:])])

    lin = system.linearize(x, u)
    exact = np.block([[lin.A, lin.B], [lin.C, lin.D]])
    return largest(exact - jacobian(both, n + m, step)) / max(1.0, largest(exact))


@pytest.fixture(scope="module")
def arm():
    """The five-bar held by its motors."""
    plant = plants.five_bar()
    return plant, trim(plant, plant.assemble(left=2.1, right=1.0))


@pytest.fixture(scope="module")
def system(arm):
    plant, point = arm
    return plant.to_iosystem(point, coordinates=("left", "right"))


# -- the equations ------------------------------------------------------------------------------------


def test_names_and_units(arm, system):
    assert isinstance(system, ct.NonlinearIOSystem)
    assert system.name == "five-bar"
    assert system.input_labels == ["left_effort", "right_effort"]
    assert system.state_labels == system.output_labels == ["left", "right", "left_rate", "right_rate"]
    assert (system.state_units, system.input_units) == (("rad", "rad", "rad/s", "rad/s"), ("N m", "N m"))
    assert system.isctime(strict=True)
    assert system.outfcn is None  # so that python-control knows that the outputs are the states
    assert largest(system.dynamics(0.0, np.zeros(4), np.zeros(2))) < 1e-12


def test_states_are_states_of_the_machine(arm, system):
    plant, point = arm
    x, u = np.array([0.3, -0.2, 0.5, -0.7]), np.array([3.0, -1.0])
    q, v = system.to_plant(x)
    assert plant.closure_error(q) < 1e-13
    assert largest(plant.jacobian(q) @ v) < 1e-13
    assert q[[0, 2]] - point.q[[0, 2]] == pytest.approx(x[:2], abs=1e-14)
    assert v[[0, 2]] == pytest.approx(x[2:], abs=1e-14)
    a = forward_dynamics(plant, q, v, point.u + u)
    assert system.dynamics(0.0, x, u) == pytest.approx(np.concatenate([v[[0, 2]], a[[0, 2]]]), abs=1e-11)
    assert system.from_plant(q, v) == pytest.approx(x, abs=1e-13)
    many = np.array([x, 2.0 * x, 0.0 * x]).T
    qs, vs = system.to_plant(many)
    assert (qs.shape, vs.shape) == ((4, 3), (4, 3))
    assert qs[:, 0].tolist() == q.tolist()
    assert vs[:, 2].tolist() == [0.0] * 4


def busy(seed, loops, twice=False, bodies=5):
    """A random machine of all joint types with motors, at a moving state with efforts."""
    parts = fixtures.tree_parts(seed, bodies=bodies, damped=True)
    plant, q = fixtures.close_parts(
        parts, seed, loops, twice, springs=fixtures.springs(parts, seed), actuators=fixtures.actuators(parts, seed)
    )
    _, v = fixtures.admissible_state(plant, q, seed)
    rng = np.random.default_rng(seed)
    return plant, OperatingPoint.at(plant, q, rng.uniform(-1.0, 1.0, plant.nu), v), rng


@pytest.mark.nojit_slow
@pytest.mark.parametrize(
    ("seed", "loops", "twice"),
    [
        (1, (fixtures.Spherical,), False),
        (2, (fixtures.PointOnLine, fixtures.Distance), True),
        (3, (fixtures.Revolute,), True),
        (4, (fixtures.Planar,), False),
        (5, (fixtures.Point, fixtures.Coupling), False),
        (8, (fixtures.Universal,), True),
    ],
    ids=fixtures.name_of,
)
@pytest.mark.first(2)
def test_random_machines(seed, loops, twice):
    """All joints, redundant rows: away from the operating point the states are consistent, and A, B, C, D exact."""
    plant, point, rng = busy(seed, loops, twice)
    names = affine_approximation(plant, point).states
    outputs = [*names, *plant.velocity_names, *(f"{n}_rate" for n in plant.velocity_names), "body2_position"]
    system = plant.to_iosystem(point, outputs=[*dict.fromkeys([*outputs, "body3_velocity", "constraint_force"])])
    n = system.nstates // 2
    x = 0.05 * rng.standard_normal(2 * n)
    u = rng.standard_normal(plant.nu)
    q, v = system.to_plant(x)
    assert plant.closure_error(q) < 1e-11
    assert largest(plant.jacobian(q) @ v) < 1e-11
    # the states move as the machine does
    rate = system.dynamics(0.0, x, u)
    a = forward_dynamics(plant, q, v, point.u + u)

    def along(s):
        moved = plant.integrate(q, s * v + 0.5 * s * s * a)  # on the manifold to second order
        return system.from_plant(moved, v + s * a)

    h = 1e-4
    assert largest((along(h) - along(-h)) / (2 * h) - rate) < 1e-6 * max(1.0, largest(rate))
    assert error_of_linearize(system, x, u, 2e-3) < 1e-8


def test_linearize_at_the_point_is_linearize(arm, system):
    plant, point = arm
    model = linearize(plant, point, coordinates=("left", "right"), outputs=("left", "right", "left_rate", "right_rate"))
    found = ct.linearize(system, 0.0)
    for a, b in ((found.A, model.A), (found.B, model.B), (found.C, model.C), (found.D, model.D)):
        assert largest(a - b) < 1e-12
    v = plant.project_velocity(point.q, [1.0, 0.0, -0.5, 0.0])
    moving = OperatingPoint.at(plant, point.q, [1.0, 2.0], v)
    affine = affine_approximation(plant, moving, coordinates=("left", "right"))
    found = ct.linearize(system, moving)  # the operating points of this package are understood
    assert largest(found.A - affine.A) < 1e-12 * largest(affine.A)
    own = plant.to_iosystem(moving, coordinates=("left", "right"))
    assert own.dynamics(0.0, np.zeros(4), np.zeros(2)) == pytest.approx(affine.drift, abs=1e-12)
    assert largest(ct.linearize(own, 0.0).A - affine.A) < 1e-12 * largest(affine.A)


def test_linearize_elsewhere(arm, system):
    assert error_of_linearize(system, np.array([0.3, -0.2, 1.5, -0.7]), np.array([3.0, -1.0])) < 1e-11


@pytest.mark.nojit_slow
@pytest.mark.parametrize(("cut", "closure"), [("tip", "point"), ("tip", "revolute"), ("right", "revolute")])
@pytest.mark.slow
def test_twins(system, cut, closure):
    """Other cuts and redundant closures are the same machine."""
    plant = plants.five_bar(cut=cut, closure=closure)
    twin = plant.to_iosystem(trim(plant, configuration(plant)), coordinates=("left", "right"))
    rng = np.random.default_rng(0)
    for _ in range(5):
        x, u = 0.3 * rng.standard_normal(4), rng.standard_normal(2)
        assert twin.dynamics(0.0, x, u) == pytest.approx(system.dynamics(0.0, x, u), abs=1e-9)
        assert largest(ct.linearize(twin, x, u).A - ct.linearize(system, x, u).A) < 1e-8


def test_cut_joints_as_coordinates():
    """The right motor's joint is cut: its angle is a state, and its rate stays dy/dt at any speed."""
    plant = plants.five_bar(cut="right", closure="revolute")
    system = plant.to_iosystem(trim(plant, configuration(plant)), coordinates=("right", "elbow_left"))
    assert error_of_linearize(system, np.array([0.2, -0.1, 0.7, 0.4]), np.array([1.0, -2.0])) < 1e-10


@pytest.mark.nojit_slow
@pytest.mark.slow
def test_a_cut_crank_turns_round():
    """A parallelogram by its cut crank: states of more than a turn are reached in several steps."""
    z = (0, 0, 1)
    plant = Mechanism(
        "crank-rocker",
        [Body.rod("crank", 1.0, 0.3), Body.rod("coupler", 1.0, 1.0), Body.rod("rocker", 1.0, 0.8)],
        [
            Revolute("pivot", "ground", "rocker", axis=z, frame=Frame((1.0, 0, 0))),
            Revolute("knee", "rocker", "coupler", axis=z, frame=Frame((0.8, 0, 0)), child_frame=Frame((1.0, 0, 0))),
            Revolute("wrist", "coupler", "crank", axis=z, child_frame=Frame((0.3, 0, 0))),
        ],
        [Revolute("crank", "ground", "crank", axis=z)],
        gravity=(0, -9.81, 0),
    )
    q0 = plant.assemble(guess={"pivot": 1.7, "knee": 1.5, "wrist": 3.0})
    system = plant.to_iosystem(OperatingPoint.at(plant, q0), coordinates="crank", outputs=("crank", "pivot"))
    once = system.to_plant([0.4, 1.0])[0]
    for turns in (-2, 1, 3):
        q = system.to_plant([0.4 + 2.0 * np.pi * turns, 1.0])[0]
        assert largest(plant.pose(q, "coupler").R - plant.pose(once, "coupler").R) < 1e-11
        assert q[0] == pytest.approx(once[0], abs=1e-11)  # a rocker does not turn round
        assert largest(np.sin(q - once)) < 1e-11
    assert system.output(0.0, [0.4 - 4.0 * np.pi, 1.0], np.zeros(0))[0] == 0.4 - 4.0 * np.pi
    assert error_of_linearize(system, np.array([9.0, 1.0]), np.zeros(0)) < 1e-9


@pytest.mark.nojit_slow
def test_the_travel_of_a_cut_slider_as_coordinate():
    """A crank, a rod and a slide on the ground: the slide's travel is the state, and its tree has the crank alone."""
    z, end = (0, 0, 1), Frame((0.8, 0, 0))
    plant = Mechanism(
        "slider",
        [Body.rod("crank", 1.0, 0.3), Body.rod("rod", 1.0, 0.8), Body("slide", 2.0, inertia=0.01 * np.eye(3))],
        [
            Revolute("crank", "ground", "crank", axis=z),
            Revolute("pin", "crank", "rod", axis=z, frame=Frame((0.3, 0, 0))),
            Revolute("wrist", "rod", "slide", axis=z, frame=end),
        ],
        [Prismatic("piston", "ground", "slide", axis=(1, 0, 0))],
        actuators=[Actuator("piston")],
        gravity=(0, -9.81, 0),
    )
    point = trim(plant, plant.assemble(guess={"crank": 1.0, "pin": -1.3, "wrist": 0.3}, crank=1.0))
    system = plant.to_iosystem(point, coordinates="piston", outputs=("piston", "crank"))
    x = np.array([-0.15, 0.8])
    q = system.to_plant(x)[0]
    places = [plant.point(at, "slide")[0] for at in (point.q, q)]
    assert places[1] - places[0] == pytest.approx(x[0], abs=1e-13)
    assert error_of_linearize(system, x, np.array([5.0]), 5e-3) < 1e-9
    assert system.input_labels == ["piston_effort"]
    # the branch ends where crank and rod are in line
    reach = 1.1 - places[0]
    assert 0.0 < system.to_plant([0.99 * reach, 0.0])[0][0] < 0.3
    with pytest.raises(AssemblyError, match=r"deviations piston \+.*ends (99\.\d|99) % of the way.*smaller deviations"):
        system.dynamics(0.0, [1.01 * reach, 0.0], [0.0])


def test_combinations_as_coordinates(arm):
    plant, point = arm
    R = [[0.5, 0.0, 0.5, 0.0], [1.0, 0.0, -1.0, 0.0]]
    system = plant.to_iosystem(point, coordinates=R, outputs=("y1", "y2_rate", "left"))
    assert system.state_labels == ["y1", "y2", "y1_rate", "y2_rate"]
    x = np.array([0.1, 0.2, 0.3, -0.4])
    q, v = system.to_plant(x)
    assert R @ (q - point.q) == pytest.approx(x[:2])
    assert R @ v == pytest.approx(x[2:])
    assert error_of_linearize(system, x, np.zeros(2)) < 1e-11


def hung_plate():
    """A plate on three rods, its motion a free joint's; one point driven to and fro."""
    rng = np.random.default_rng(2)
    corners = np.array([[0.5, 0.0, 0.0], [-0.3, 0.4, 0.0], [-0.3, -0.4, 0.0]])
    rods = [
        Distance(f"rod{i}", "ground", "plate", c + np.array([0.0, 0.0, 1.0]), c, 1.0) for i, c in enumerate(corners)
    ]
    return Mechanism("plate", [fixtures.body(rng, "plate")], [Free("float", "ground", "plate")], rods)


@pytest.mark.parametrize("names", [("float_vx", "float_vy", "float_wz"), ("float_wx", "float_vy", "float_wz")])
def test_joints_of_several_axes(names):
    """Away from the point y' is R J_r^-1 v, not R v: a large turn of a plate on three rods."""
    plant = hung_plate()
    point = OperatingPoint.at(plant, plant.close(plant.neutral()), 0.0)
    outputs = (FrameMotion("plate", Frame((0.1, 0.2, 0.3)), "corner"), "float_wx", "float_vz", "float_wx_rate")
    system = plant.to_iosystem(point, coordinates=("float_vx", "float_vy", "float_wz"), outputs=outputs)
    x = np.array([0.2, -0.1, 0.9, 0.6, -0.4, 1.3])
    rate = system.dynamics(0.0, x, np.zeros(0))
    assert largest(rate[:3] - x[3:]) > 0.1
    assert error_of_linearize(system, x, np.zeros(0)) < 1e-9


# -- branches -----------------------------------------------------------------------------------------


def test_nothing_is_remembered(arm, system):
    plant, point = arm
    x, u = np.array([0.4, -0.6, 0.5, -0.7]), np.array([3.0, -1.0])
    first = system.dynamics(0.0, x, u).tolist()
    for _ in range(3):
        system.dynamics(0.0, np.random.default_rng(0).uniform(-0.5, 0.5, 4), u)
        assert system.dynamics(0.0, x, u).tolist() == first
    assert plant.to_iosystem(point, coordinates=("left", "right")).dynamics(0.0, x, u).tolist() == first
    assert system.copy("twin").dynamics(0.0, x, u).tolist() == first


@pytest.mark.nojit_slow
@pytest.mark.parametrize("target", [(2.0, 1.0), (-1.2, -1.5), (0.9, -1.1), (1.0, 2.8)])
def test_far_states_are_on_the_branch_of_the_point(arm, system, target):
    """One call leads where small steps along the line lead."""
    plant, point = arm
    q = point.q
    for s in np.linspace(0.0, 1.0, 150):
        q = plant.assemble(guess=q, left=point.q[0] + s * target[0], right=point.q[2] + s * target[1])
    assert system.to_plant([*target, 0.0, 0.0])[0] == pytest.approx(q, abs=1e-10)


def test_singular_poses_are_refused():
    plant = plants.five_bar()
    with pytest.raises(SingularConfigurationError, match="singular configuration"):
        plant.to_iosystem(OperatingPoint.at(plant, configuration(plant, "singular")))


# -- outputs and inputs -----------------------------------------------------------------------------------


def test_all_kinds_of_outputs(arm):
    plant, point = arm
    outputs = (
        "right", "left_rate", "elbow_left", "elbow_left_rate", "tip_force", "constraint_force", "left_effort",
        "left_upper_position", FrameMotion("right_upper", Frame((1.5, 0.0, 0.0)), "tool"),
    )  # fmt: skip
    system = plant.to_iosystem(point, coordinates=("left", "right"), outputs=outputs)
    model = linearize(plant, point, coordinates=("left", "right"), outputs=outputs)
    assert system.output_labels == list(model.outputs)
    assert system.output_units == model.output_units
    assert largest(system.linearize(0.0).C - model.C) < 1e-11 * largest(model.C)
    assert largest(system.linearize(0.0).D - model.D) < 1e-11
    x, u = np.array([0.3, -0.2, 0.5, -0.7]), np.array([3.0, -1.0])
    assert error_of_linearize(system, x, u) < 1e-11
    values = dict(zip(system.output_labels, system.output(0.0, x, u), strict=True))
    q, v = system.to_plant(x)
    ends = [plant.point(at, "right_upper", (1.5, 0.0, 0.0)) for at in (point.q, q)]
    assert [values["tool_x"], values["tool_y"], values["tool_z"]] == pytest.approx(ends[1] - ends[0], abs=1e-14)
    turn = (q - point.q)[2:].sum()
    assert values["tool_rz"] == pytest.approx(turn, abs=1e-13)
    assert values["elbow_left"] == pytest.approx(q[1] - point.q[1])
    assert values["elbow_left_rate"] == pytest.approx(v[1])
    assert values["left_effort"] == 3.0
    assert largest(system.output(0.0, np.zeros(4), np.zeros(2))) < 1e-12


def test_outputs_of_cut_joints():
    plant = plants.five_bar(cut="right", closure="revolute")
    system = plant.to_iosystem(
        trim(plant, configuration(plant)), coordinates=("left", "tip"), outputs=("right", "right_rate")
    )
    twin = plants.five_bar()
    other = twin.to_iosystem(trim(twin, configuration(twin)), coordinates=("left", "right"))
    x = np.array([0.2, -0.1, 0.7, 0.4])
    y = system.output(0.0, x, np.zeros(2))
    q, v = other.to_plant([x[0], y[0], x[2], y[1]])
    tip = (q[2] + q[3] - q[0] - q[1]) - (other.point.q[2] + other.point.q[3] - other.point.q[0] - other.point.q[1])
    assert tip == pytest.approx(x[1], abs=1e-12)
    assert v[2] + v[3] - v[0] - v[1] == pytest.approx(x[3], abs=1e-12)
    assert error_of_linearize(system, x, np.zeros(2)) < 1e-10


def test_absolute_efforts_and_some_motors(arm, system):
    plant, point = arm
    x, u = np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, -2.0])
    absolute = plant.to_iosystem(point, coordinates=("left", "right"), absolute=True)
    assert absolute.dynamics(0.0, x, point.u + u) == pytest.approx(system.dynamics(0.0, x, u), abs=1e-12)
    assert largest(ct.linearize(absolute, 0.0).A - ct.linearize(system, 0.0).A) < 1e-12  # at the point unless told
    one = plant.to_iosystem(point, coordinates=("left", "right"), inputs="right", name="arm")
    assert (one.input_labels, one.name) == (["right_effort"], "arm")
    assert one.dynamics(0.0, x, [-2.0]) == pytest.approx(system.dynamics(0.0, x, [0.0, -2.0]), abs=1e-12)
    assert largest(ct.linearize(one, x).B - ct.linearize(system, x).B[:, 1:]) < 1e-12
    with pytest.raises(ValueError, match="motors of 'arm' that are no inputs are held"):
        one.linearize(OperatingPoint.at(plant, point.q, [1.0, 1.0]))


# -- what python-control does with it ----------------------------------------------------------------------


@pytest.mark.nojit_slow
def test_response_is_that_of_simulate(arm, system):
    plant, point = arm
    times = np.linspace(0.0, 1.0, 21)
    x0 = np.array([0.05, 0.0, 0.0, 0.2])
    tight = {"rtol": 1e-10, "atol": 1e-10}
    response = ct.input_output_response(system, times, 0.0, x0, solve_ivp_kwargs=tight)
    q, v = system.to_plant(response.states)
    run = simulate(plant, point.u, q[:, 0], v[:, 0], t_end=1.0, output_times=times)
    assert largest(run.q.values.T - q) < 1e-7
    assert plant.closure_error(q[:, -1]) < 1e-13
    assert response.output_labels == system.output_labels


def test_find_operating_point_finds_the_true_equilibrium():
    """Held by nothing, the five-bar hangs: python-control's search cannot open the loop."""
    plant = plants.five_bar()
    start = plant.assemble(guess={"left": -2.0, "right": -1.0, "elbow_left": 0.6, "elbow_right": -0.6})
    system = plant.to_iosystem(OperatingPoint.at(plant, start), coordinates=("left", "right"))
    found = ct.find_operating_point(system, np.zeros(4), np.zeros(2), root_kwargs={"tol": 1e-12})
    q, v = system.to_plant(found.states)
    truth = trim(plant, start, free="all", u=0.0)
    assert plant.closure_error(q) < 1e-13
    assert q == pytest.approx(truth.q, abs=1e-9)
    assert largest(v) < 1e-9
    lin = ct.linearize(system, found)
    model = linearize(plant, truth, coordinates=("left", "right"))
    assert np.sort(np.abs(lin.poles())) == pytest.approx(np.sort(np.abs(model.poles())), abs=1e-7)
    # with outputs given, the efforts are found
    places = plant.to_iosystem(system.point, coordinates=("left", "right"), outputs=("left", "right"))
    held = ct.find_operating_point(places, np.zeros(4), np.zeros(2), outputs=[0.1, 0.05])
    assert held.states == pytest.approx([0.1, 0.05, 0.0, 0.0], abs=1e-7)
    q = system.to_plant(held.states)[0]
    assert held.inputs == pytest.approx(trim(plant, q).u, abs=1e-5)
    empty = ct.OperatingPoint(None, None)
    with pytest.raises(ValueError, match="find_operating_point has found none"):
        ct.linearize(system, empty)


def test_state_feedback(system):
    lin = ct.linearize(system, 0.0)
    K, _, poles = ct.lqr(lin, np.diag([100.0, 100.0, 1.0, 1.0]), np.eye(2), method="scipy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # python-control can verify that the outputs are the states
        _, loop = ct.create_statefbk_iosystem(system, K)
    assert loop.input_labels == [*(f"xd[{i}]" for i in range(4)), "ud[0]", "ud[1]"]
    times = np.linspace(0.0, 6.0, 61)
    response = ct.input_output_response(loop, times, np.zeros((6, 61)), [0.2, -0.2, 0.0, 0.0])
    assert largest(response.states[:, -1]) < 0.02 * 0.2
    # python-control differentiates interconnections numerically; linearize first for the exact model
    _, exact = ct.create_statefbk_iosystem(lin, K)
    assert np.sort(exact.poles().real) == pytest.approx(np.sort(poles.real), abs=1e-9)
    rough = ct.linearize(loop, np.zeros(4), np.zeros(6))
    assert np.sort(rough.poles().real) == pytest.approx(np.sort(poles.real), abs=1e-3)


def test_interconnect_by_name(arm, system):
    """A PD controller by signal names, as python-control connects them."""
    gains = np.hstack([40.0 * np.eye(2), 8.0 * np.eye(2)])
    signals = [*system.output_labels, "r"]
    pd = ct.ss([], [], [], np.hstack([-gains, [[40.0], [0.0]]]), name="pd", inputs=signals, outputs=system.input_labels)
    keys = {"inplist": ["pd.r"], "inputs": ["r"], "outlist": ["five-bar.left"], "outputs": ["left"]}
    loop = ct.interconnect([system, pd], **keys)
    x = np.array([0.1, -0.1, 0.2, 0.0])
    expected = system.dynamics(0.0, x, -gains @ x + [20.0, 0.0])
    assert loop.dynamics(0.0, x, [0.5]) == pytest.approx(expected, abs=1e-12)
    lin = ct.linearize(system, 0.0, name="five-bar")
    exact = ct.interconnect([lin, pd], **keys)
    assert largest(exact.A - (lin.A - lin.B @ gains)) < 1e-12


def test_bode_plot(system):
    import matplotlib.pyplot as plt

    try:
        found = ct.bode_plot(ct.linearize(system, 0.0), np.geomspace(0.1, 100.0, 50))
        assert found.axes.shape == (8, 2)
    finally:
        plt.close("all")


def test_names_of_linear_models(system):
    plain = ct.linearize(system, 0.0)
    assert plain.state_labels == system.state_labels
    assert plain.input_labels == system.input_labels
    named = ct.linearize(system, 0.0, copy_names=True)
    assert named.name == "five-bar$linearized"
    chosen = ct.linearize(system, np.zeros(4), np.zeros(2), name="arm", inputs=["a", "b"], eps=1e-8)
    assert (chosen.name, chosen.input_labels) == ("arm", ["a", "b"])
    with pytest.raises(TypeError, match="colour"):
        ct.linearize(system, 0.0, colour="red")


def test_what_is_refused(arm, system):
    plant, point = arm
    with pytest.raises(TypeError, match="outputz"):
        plant.to_iosystem(point, outputz=("left",))
    with pytest.raises(TypeError, match="OperatingPoint"):
        plant.to_iosystem(point.q)
    with pytest.raises(ValueError, match="did you mean 'right'"):
        plant.to_iosystem(point, inputs=("rigth",))
    with pytest.raises(ValueError, match="did you mean 'left_rate'"):
        plant.to_iosystem(point, outputs=("left_rat",))
    with pytest.raises(ValueError, match=r"x0 must have shape \(4,\)"):
        ct.linearize(system, [0.0, 0.0])
    with pytest.raises(ValueError, match="not unique"):
        redundant = plants.five_bar(closure="revolute")
        redundant.to_iosystem(trim(redundant, configuration(redundant)), outputs=("tip_force",))


# -- results of runs --------------------------------------------------------------------------------------


def test_run_to_control(arm):
    plant, point = arm
    run = simulate(
        plant, point.u, point.q, plant.project_velocity(point.q, [0.1, 0, 0, 0]), t_end=0.2, output_times=0.1
    )
    data = run.to_control()
    assert isinstance(data, ct.TimeResponseData)
    assert data.output_labels == [*plant.position_names, *(f"{n}_rate" for n in plant.velocity_names)]
    assert data.input_labels == [f"{n}_effort" for n in plant.actuator_names]
    assert data.outputs.shape == (8, 3)
    assert data.outputs["elbow_left"] == pytest.approx(run.q.values[:, 1])
    assert data.inputs["right_effort"] == pytest.approx(np.full(3, point.u[1]))


def test_planar_and_spherical_joints_move_freely():
    """Two bodies without any loop: a top on a ball joint, a puck on a plane."""
    rng = np.random.default_rng(4)
    bodies = [fixtures.body(rng, "top"), fixtures.body(rng, "puck")]
    joints = [Spherical("ball", "ground", "top"), Planar("plane", "ground", "puck")]
    hold = [PointOnPlane("touch", "ground", "puck", (0, 0, 0), (0.1, 0, 0), normal=(0.0, 1.0, 0.0))]
    for loops in ([], hold, [Point("pin", "ground", "top")]):
        plant = Mechanism("toys", bodies, joints, loops)
        point = OperatingPoint.at(plant, plant.neutral())
        system = plant.to_iosystem(point)
        n = system.nstates
        x = np.random.default_rng(1).uniform(-0.4, 0.4, n)
        assert error_of_linearize(system, x, np.zeros(0)) < 1e-9
