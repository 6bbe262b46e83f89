"""Linear models at any state: coordinates, inputs, outputs by name; along a motion; the underlying ODE."""

import machines
import numpy as np
import pytest
from test_derivatives import LocalForm, error, independent, jacobian, slope

from cmbcontrol import OperatingPoint, affine_approximation, linearize, linearize_along, plants, simulate, trim
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.dynamics.forces import constraint_force
from cmbcontrol.errors import EquilibriumError, SingularConfigurationError
from cmbcontrol.linear import underlying_ode
from cmbcontrol.linear.signals import FrameMotion, Wrench
from cmbcontrol.model.elements import Frame, Revolute
from cmbcontrol.papers.methods import settings
from cmbcontrol.plants.five_bar import pose


@pytest.fixture(scope="module")
def moving():
    """The five-bar with velocity and efforts."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    v = plant.project_velocity(q, [0.8, -0.3, 0.5, 1.0])
    return plant, OperatingPoint.at(plant, q, [3.0, -5.0], v)


@pytest.fixture(scope="module")
def spatial():
    """A machine of many joints with two loops, moving."""
    parts = machines.tree_parts(5, bodies=6, damped=True)
    more = {"springs": machines.springs(parts, 5), "actuators": machines.actuators(parts, 5)}
    plant, q = machines.close_parts(parts, 5, [machines.Spherical, machines.Distance], **more)
    q, v = machines.admissible_state(plant, q, 5)
    return plant, OperatingPoint.at(plant, q, np.linspace(-1.0, 1.0, plant.nu), v)


def form_of(plant, point, R):
    return LocalForm(plant, point.q, point.u, R)


def rows(plant, names):
    return np.eye(plant.nv)[[plant.index(n) for n in names]]


# -- coordinates -------------------------------------------------------------------------------------------


def test_affine_model_by_name(moving):
    plant, point = moving
    lin = affine_approximation(plant, point, coordinates=("left", "right"))
    R = rows(plant, ("left", "right"))
    form, y_v = form_of(plant, point, R), R @ point.v
    assert error(lin.A, jacobian(lambda x: form.rate(x[:2], y_v + x[2:]), 4, 2e-3)) < 1e-9
    assert error(lin.drift, form.rate(np.zeros(2), y_v)) < 1e-12
    assert error(lin.B, jacobian(lambda du: form.rate(np.zeros(2), y_v, du), 2)) < 1e-10
    assert lin.states == ("left", "right", "left_rate", "right_rate")
    assert 0.05 < lin.conditioning <= 1.0


def test_linearize_is_the_affine_model_of_an_equilibrium():
    plant = plants.five_bar()
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    one, other = linearize(plant, point), affine_approximation(plant, point)
    for key in "ABCD":
        assert error(getattr(other, key), getattr(one, key)) < 1e-9
    assert np.abs(other.drift).max() < 1e-12
    assert not one.drift.any()


def test_other_coordinates_give_other_eigenvalues_off_equilibrium_and_the_same_at_it(moving):
    plant, point = moving
    pairs = (("left", "right"), ("elbow_left", "elbow_right"), ("left", "elbow_left"))
    off = [affine_approximation(plant, point, coordinates=c).poles() for c in pairs]
    assert error(off[1], off[0]) > 1e-2
    rest = trim(plant, point.q)
    at = [linearize(plant, rest, coordinates=c).poles() for c in pairs]
    assert max(error(x, at[0]) for x in at) < 1e-12


def test_a_cut_joint_is_a_coordinate_at_any_state():
    """The five-bar cut at the right support: its angle there, known from the body's pose."""
    plant = plants.five_bar(cut="right", closure="revolute")
    q = pose(plant, "open")
    v = plant.project_velocity(q, [0.8, -0.3, 0.5, 1.0])
    point = OperatingPoint.at(plant, q, [3.0, -5.0], v)
    lin = affine_approximation(plant, point, coordinates=("left", "right"), outputs=("tip", "tip_rate", "right_rate"))

    twin = plants.five_bar()  # there both are coordinates of the tree
    q2 = pose(twin, "open")
    v2 = np.zeros(4)
    v2[twin.index("left")], v2[twin.index("elbow_left")] = v[plant.index("left")], v[plant.index("elbow_left")]
    A = np.concatenate([twin.jacobian(q2), rows(twin, ("left", "elbow_left"))])
    v2 = np.linalg.solve(A, np.append(np.zeros(2), v2[:2]))
    same = affine_approximation(twin, OperatingPoint.at(twin, q2, [3.0, -5.0], v2), coordinates=("left", "right"))
    assert error(lin.A, same.A) < 1e-10
    assert error(lin.B, same.B) < 1e-10
    assert error(lin.drift, same.drift) < 1e-10
    assert np.array_equal(lin.C[2], [0.0, 0.0, 0.0, 1.0])


def test_matrices_as_coordinates(spatial):
    plant, point = spatial
    R = independent(plant, point.q)
    lin = affine_approximation(plant, point, coordinates=R)
    T = np.random.default_rng(0).standard_normal((len(R), len(R)))
    other = affine_approximation(plant, point, coordinates=T @ R)
    S = np.kron(np.eye(2), T)
    assert error(other.A, S @ lin.A @ np.linalg.inv(S)) < 1e-9


@pytest.mark.parametrize(
    ("coordinates", "message"),
    [
        (("left", "left"), "coordinate 'left' is named 2 times"),
        (("left",), r"has 2 degrees of freedom at this configuration, got 1 coordinates, 'left'; choose '"),
        (("left", "rihgt"), "did you mean 'right'"),
        (
            [[1.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]],
            r"dependent at this configuration \(conditioning .*; choose '",
        ),
    ],
)
def test_bad_coordinates(moving, coordinates, message):
    plant, point = moving
    with pytest.raises(ValueError, match=message):
        affine_approximation(plant, point, coordinates=coordinates)


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
        affine_approximation(plant, OperatingPoint.at(plant, pose(plant, "singular")))
    near = plant.assemble(plant.pack({"elbow_left": -3.0, "elbow_right": 3.0}), left=np.pi, right=1e-8)
    with pytest.raises(
        SingularConfigurationError, match=r"next to a singular configuration.*gradient is \d\.\de-\d+ of the largest"
    ):
        affine_approximation(plant, OperatingPoint.at(plant, near))
    with pytest.raises(ValueError, match="'tip' open by"):
        affine_approximation(plant, OperatingPoint.at(plant, point.q + np.array([0.1, 0.0, 0.0, 0.0])))


# -- inputs ------------------------------------------------------------------------------------------------


def test_wrench_on_a_body_does_the_work_of_its_power(spatial):
    """The column of a wrench is that of J'w, and J v is the motion of the frame."""
    plant, point = spatial
    frame = Frame.turned((1.0, 2.0, -1.0), 0.7, (0.2, -0.1, 0.3))
    lin = affine_approximation(plant, point, inputs=[Wrench("body4", frame, "push")])
    J = np.zeros((6, plant.nv))
    for k, e in enumerate(np.eye(plant.nv)):
        moved = [plant.pose(plant.integrate(point.q, s * e), "body4") @ frame for s in (1e-4, -1e-4)]
        spin = moved[0].R @ moved[1].R.T
        spin = spin - spin.T
        J[:3, k] = np.array([spin[2, 1], spin[0, 2], spin[1, 0]]) / 4e-4
        J[3:, k] = (moved[0].p - moved[1].p) / 2e-4
    p = lin.dof
    terms = plant.terms(point.q, point.v)
    R = rows(plant, lin.states[:p])
    Z = terms.Z
    G = R @ Z @ np.linalg.solve(Z.T @ terms.M @ Z, Z.T)
    assert error(lin.B[p:], G @ J.T) < 1e-6
    assert lin.inputs == tuple(f"push_{s}" for s in ("mx", "my", "mz", "fx", "fy", "fz"))
    assert lin.input_units == ("N m",) * 3 + ("N",) * 3
    assert error(affine_approximation(plant, point, inputs="body4_wrench").B[p:], 0.0 * J.T[:p]) > 1e-3


def test_a_driven_joint_follows_and_tells_its_effort(moving):
    plant, point = moving
    keys = {"coordinates": ("left", "right"), "outputs": ("left", "left_effort", "right_effort")}
    lin = affine_approximation(plant, point, inputs=("left_acceleration", "right"), **keys)
    free = affine_approximation(plant, point, coordinates=("left", "right"))
    assert lin.input_units == ("rad/s2", "N m")
    assert lin.output_units[1:] == ("N m", "N m")
    assert np.abs(lin.A[2]).max() < 1e-12  # the acceleration is the input, whatever the rest does
    assert np.abs(lin.B[2] - [1.0, 0.0]).max() < 1e-12
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal(4), rng.standard_normal(2)
    effort = lin.C[1] @ x + lin.D[1] @ w
    assert error(free.A @ x + free.B @ [effort, w[1]], lin.A @ x + lin.B @ w) < 1e-12


def test_a_driven_cut_joint():
    plant = plants.five_bar(cut="right", closure="revolute")
    point = OperatingPoint.at(plant, pose(plant, "open"), [3.0, -5.0])
    keys = {"coordinates": ("left", "right"), "outputs": ("right_effort",)}
    lin = affine_approximation(plant, point, inputs=("left", "right_acceleration"), **keys)
    assert np.abs(lin.B[3] - [0.0, 1.0]).max() < 1e-12
    assert np.abs(lin.A[3]).max() < 1e-10


def test_joints_that_the_loops_tie_together_cannot_both_be_driven():
    plant = plants.pendulum()
    point = trim(plant, plant.assemble(angle=-1.0))
    lin = affine_approximation(plant, point, inputs="angle_acceleration", coordinates="angle")
    assert lin.B[1] == pytest.approx(1.0)
    with pytest.raises(ValueError, match="cannot be driven independently"):
        affine_approximation(plant, point, inputs=("angle_acceleration", "x_acceleration"))


def test_unknown_inputs_and_outputs(moving):
    plant, point = moving
    with pytest.raises(ValueError, match="no actuator or other input 'lefft'; did you mean 'left'"):
        affine_approximation(plant, point, inputs="lefft")
    with pytest.raises(ValueError, match="no body 'arm'"):
        affine_approximation(plant, point, inputs=[Wrench("arm")])
    with pytest.raises(ValueError, match="no body 'arm'"):
        affine_approximation(plant, point, outputs=[FrameMotion("arm")])
    with pytest.raises(ValueError, match="no output 'left_lower_positoin'; did you mean 'left_lower_position'"):
        affine_approximation(plant, point, outputs="left_lower_positoin")


# -- outputs -----------------------------------------------------------------------------------------------


@pytest.mark.nojit_slow
def test_frames_as_outputs(spatial):
    """Positions and velocities of a frame along the nonlinear motion."""
    plant, point = spatial
    frame = Frame.turned((1.0, 2.0, -1.0), 0.7, (0.2, -0.1, 0.3))
    R = independent(plant, point.q)
    lin = affine_approximation(plant, point, coordinates=R, outputs=[FrameMotion("body4", frame, "tool")])
    form, y_v, p = form_of(plant, point, R), R @ point.v, len(R)

    def placed(q):
        return plant.pose(q, "body4") @ frame

    here = placed(point.q)

    def seen(x):
        q, v = form.state(x[:p], y_v + x[p:])
        there = placed(q)
        spin = there.R @ here.R.T
        turn = 0.5 * np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]])
        rate = slope(lambda s: placed(plant.integrate(q, s * v)).p, 1e-3)
        spun = slope(lambda s: placed(plant.integrate(q, s * v)).R, 1e-3) @ there.R.T
        return np.concatenate([there.p, turn, rate, [spun[2, 1], spun[0, 2], spun[1, 0]]])

    assert error(lin.C, jacobian(seen, 2 * p, 2e-3)) < 1e-8
    assert lin.outputs[:4] == ("tool_x", "tool_y", "tool_z", "tool_rx")
    assert lin.output_units == ("m",) * 3 + ("rad",) * 3 + ("m/s",) * 3 + ("rad/s",) * 3
    for name, part in (("body4_position", slice(6)), ("body4_velocity", slice(6, 12))):
        whole = affine_approximation(plant, point, coordinates=R, outputs=[FrameMotion("body4")])
        short = affine_approximation(plant, point, coordinates=R, outputs=name)
        assert np.array_equal(short.C, whole.C[part])


@pytest.mark.nojit_slow
@pytest.mark.parametrize("case", ["moving", "spatial"])
def test_forces_and_rates_as_outputs(case, request):
    """Constraint forces, multipliers and rates of dependent coordinates along the nonlinear motion."""
    plant, point = request.getfixturevalue(case)
    R = independent(plant, point.q)
    rates = tuple(f"{n}_rate" for n in plant.velocity_names)
    lin = affine_approximation(plant, point, coordinates=R, outputs=("constraint_force", "loop_force", *rates))
    form, y_v, p, n = form_of(plant, point, R), R @ point.v, len(R), plant.nv

    def seen(x, du):
        q, v = form.state(x[:p], y_v + x[p:])
        found = constraint_force(plant, q, v, point.u + du)
        return np.concatenate([found.force, found.multipliers, v])

    assert lin.outputs[0] == f"{plant.velocity_names[0]}_constraint_force"
    truth = jacobian(lambda x: seen(x, 0.0), 2 * p, 2e-3)
    split = n + len(plant.row_names)
    for part in (slice(n), slice(n, split), slice(split, None)):
        assert error(lin.C[part], truth[part]) < 1e-7
    assert error(lin.D, jacobian(lambda du: seen(np.zeros(2 * p), du), plant.nu)) < 1e-9


def test_constraint_force_of_redundant_rows_is_unique():
    """The multipliers are not, and are refused; the constraint force is that of the machine without redundant rows."""
    lean, full = plants.five_bar(closure="line"), plants.five_bar(closure="revolute")
    models = []
    for plant in (lean, full):
        q = plant.assemble(left=2.1, right=1.0)
        point = OperatingPoint.at(plant, q, [3.0, -5.0], plant.project_velocity(q, [0.8, -0.3, 0.5, 1.0]))
        models.append(affine_approximation(plant, point, coordinates=("left", "right"), outputs="constraint_force"))
    assert error(models[1].C, models[0].C) < 1e-10
    assert error(models[1].D, models[0].D) < 1e-10
    with pytest.raises(ValueError, match="are not unique"):
        affine_approximation(full, point, outputs="loop_force")


# -- along a motion ----------------------------------------------------------------------------------------


@pytest.mark.nojit_slow
def test_deviations_from_a_motion():
    """Two neighbouring runs of the five-bar, and a machine with a ball joint."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    times = {
        "t_end": 0.8,
        "output_times": 0.001,
    }  # a near miss of the singular configuration at 0.6 s: deviations grow 65-fold
    run = simulate(plant, [3.0, -5.0], q, **settings(**times))
    sequence = linearize_along(run, coordinates=("left", "right"), outputs=("left", "elbow_left_rate"))
    y, push = np.array([1e-6, -2e-6]), 1e-5
    start = plant.assemble(q, left=2.1 + y[0], right=1.0 + y[1])
    other = simulate(plant, [3.0, -5.0 + push], start, **settings(**times))
    x = sequence.propagate([*y, 0.0, 0.0], np.tile([0.0, push], (len(sequence), 1)))
    truth = np.concatenate([(other.data[k] - run.data[k]).values[:, [0, 2]] for k in ("q", "v")], axis=1)
    assert error(x, truth) < 2e-3  # of second order in the deviation
    seen = np.einsum("tij,tj->ti", sequence.C, x)[:, 1]
    assert error(seen, (other.data["v"] - run.data["v"]).values[:, 1]) < 2e-3
    assert len(sequence) == 801
    assert sequence.to_dataset()["A"].dims == ("time", "state", "state_in")
    assert sequence[7].states == ("left", "right", "left_rate", "right_rate")
    coarse = linearize_along(run, coordinates=("left", "right"), every=20)
    with pytest.raises(ValueError, match=r"changes too quickly near t = 0\.\d+ s for 41 times.*finer output_times"):
        coarse.propagate([*y, 0.0, 0.0])


@pytest.mark.nojit_slow
def test_deviations_from_the_motion_of_ball_joints():
    """Where axes turn with the joint: y = R (q [-] q_ref(t)), and its bracket."""
    parts = machines.tree_parts(3, bodies=3, kinds=(machines.Spherical, Revolute, machines.Planar), damped=True)
    plant, q = machines.close_parts(parts, 3, [machines.Distance])
    q, v = machines.admissible_state(plant, q, 3)
    R, times = independent(plant, q), {"t_end": 0.4, "output_times": 0.02}
    run = simulate(plant, None, q, v, **settings(**times))
    sequence = linearize_along(run, coordinates=R)
    p = len(R)
    x0 = 1e-4 * np.random.default_rng(0).standard_normal(2 * p)
    form = LocalForm(plant, q, np.zeros(plant.nu), R)
    start = form.state(x0[:p], R @ v + x0[p:])
    other = simulate(plant, None, *start, **settings(**times))
    x = sequence.propagate(x0)
    pairs = zip(run.data["q"].values, other.data["q"].values, strict=True)
    y = np.array([R @ plant.difference(a, b) for a, b in pairs])
    y_v = (other.data["v"] - run.data["v"]).values @ R.T
    assert error(x, np.concatenate([y, y_v], axis=1)) < 2e-3


def test_a_motion_through_dependent_coordinates_is_refused_with_the_time():
    plant = plants.slider_crank()
    q = plants.catalogue["slider-crank"].start()[1]
    run = simulate(plant, None, q, t_end=0.2, output_times=0.1)
    with pytest.raises(ValueError, match=r"no coordinate 'crank' .*\(t = 0 s\)"):
        linearize_along(run, coordinates=("crank",))


# -- underlying ODE ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["moving", "spatial"])
def test_underlying_ode_at_any_state(case, request):
    """[Df] P along the manifold, for both projectors; H P = 0 and P P = P show in what it maps."""
    plant, point = request.getfixturevalue(case)
    R = independent(plant, point.q)
    lin = affine_approximation(plant, point, coordinates=R)
    orthogonal, partial = underlying_ode(plant, point), underlying_ode(plant, point, coordinates=R)
    zero = np.zeros_like(lin.K)
    tangent = np.block([[lin.K, zero], [lin.N, lin.K]])
    assert error(orthogonal @ tangent, partial @ tangent) < 1e-9
    form, y_v, p = form_of(plant, point, R), R @ point.v, len(R)

    def accelerated(x):
        q, v = form.state(x[:p], y_v + x[p:])
        return forward_dynamics(plant, q, v, point.u)

    assert error((partial @ tangent)[plant.nv :], jacobian(accelerated, 2 * p, 2e-3)) < 1e-7
    S = np.block([[R, np.zeros_like(R)], [np.zeros_like(R), R]])
    kinematic = (S @ partial @ tangent)[p:]
    assert error(kinematic, lin.A[p:]) < 1e-8
    if case == "moving":  # one-axis joints: (4.6) with the chart's curvature gone from R A
        assert error(S @ partial @ tangent, lin.A) < 1e-9
