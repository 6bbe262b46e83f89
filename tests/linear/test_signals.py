"""Coordinates, inputs and outputs of linear models by name: against differences of the nonlinear motion."""

import numpy as np
import pytest

from cmbcontrol import OperatingPoint, affine_approximation, linearize, plants, trim
from cmbcontrol.dynamics.forces import constraint_force
from cmbcontrol.linear.signals import FrameMotion, Wrench
from cmbcontrol.model.elements import Frame
from cmbcontrol.plants.five_bar import configuration
from tests.fixtures import form_of, jacobian, mixed_coordinates, relative_error, rows_of, slope

# -- coordinates -------------------------------------------------------------------------------------------


def test_a_cut_joint_is_a_coordinate_at_any_state():
    """The five-bar cut at the right support: its angle there, known from the body's pose."""
    plant = plants.five_bar(cut="right", closure="revolute")
    q = configuration(plant, "open")
    v = plant.project_velocity(q, [0.8, -0.3, 0.5, 1.0])
    point = OperatingPoint.at(plant, q, [3.0, -5.0], v)
    lin = affine_approximation(plant, point, coordinates=("left", "right"), outputs=("tip", "tip_rate", "right_rate"))

    twin = plants.five_bar()  # there both are coordinates of the tree
    q2 = configuration(twin, "open")
    v2 = np.zeros(4)
    v2[twin.index("left")], v2[twin.index("elbow_left")] = v[plant.index("left")], v[plant.index("elbow_left")]
    A = np.concatenate([twin.jacobian(q2), rows_of(twin, ("left", "elbow_left"))])
    v2 = np.linalg.solve(A, np.append(np.zeros(2), v2[:2]))
    same = affine_approximation(twin, OperatingPoint.at(twin, q2, [3.0, -5.0], v2), coordinates=("left", "right"))
    assert relative_error(lin.A, same.A) < 1e-10
    assert relative_error(lin.B, same.B) < 1e-10
    assert relative_error(lin.drift, same.drift) < 1e-10
    assert np.array_equal(lin.C[2], [0.0, 0.0, 0.0, 1.0])


def test_matrices_as_coordinates(spatial):
    plant, point = spatial
    R = mixed_coordinates(plant, point.q)
    lin = affine_approximation(plant, point, coordinates=R)
    T = np.random.default_rng(0).standard_normal((len(R), len(R)))
    other = affine_approximation(plant, point, coordinates=T @ R)
    S = np.kron(np.eye(2), T)
    assert relative_error(other.A, S @ lin.A @ np.linalg.inv(S)) < 1e-9


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
    R = rows_of(plant, lin.states[:p])
    Z = terms.Z
    G = R @ Z @ np.linalg.solve(Z.T @ terms.M @ Z, Z.T)
    assert relative_error(lin.B[p:], G @ J.T) < 1e-6
    assert lin.inputs == tuple(f"push_{s}" for s in ("mx", "my", "mz", "fx", "fy", "fz"))
    assert lin.input_units == ("N m",) * 3 + ("N",) * 3
    assert relative_error(affine_approximation(plant, point, inputs="body4_wrench").B[p:], 0.0 * J.T[:p]) > 1e-3


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
    assert relative_error(free.A @ x + free.B @ [effort, w[1]], lin.A @ x + lin.B @ w) < 1e-12


def test_a_driven_cut_joint():
    plant = plants.five_bar(cut="right", closure="revolute")
    point = OperatingPoint.at(plant, configuration(plant, "open"), [3.0, -5.0])
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
    R = mixed_coordinates(plant, point.q)
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

    assert relative_error(lin.C, jacobian(seen, 2 * p, 2e-3)) < 1e-8
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
    R = mixed_coordinates(plant, point.q)
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
        assert relative_error(lin.C[part], truth[part]) < 1e-7
    assert relative_error(lin.D, jacobian(lambda du: seen(np.zeros(2 * p), du), plant.nu)) < 1e-9


def test_constraint_force_of_redundant_rows_is_unique():
    """The multipliers are not, and are refused; the constraint force is that of the machine without redundant rows."""
    lean, full = plants.five_bar(closure="line"), plants.five_bar(closure="revolute")
    models = []
    for plant in (lean, full):
        q = plant.assemble(left=2.1, right=1.0)
        point = OperatingPoint.at(plant, q, [3.0, -5.0], plant.project_velocity(q, [0.8, -0.3, 0.5, 1.0]))
        models.append(affine_approximation(plant, point, coordinates=("left", "right"), outputs="constraint_force"))
    assert relative_error(models[1].C, models[0].C) < 1e-10
    assert relative_error(models[1].D, models[0].D) < 1e-10
    with pytest.raises(ValueError, match="are not unique"):
        affine_approximation(full, point, outputs="loop_force")


def test_dependent_coordinates():
    """A parallelogram's cranks turn alike: they cannot both be independent of a third."""
    plant = plants.five_bar()
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    with pytest.raises(ValueError, match=r"not independent .*conditioning .*choose 'left'|choose 'elbow"):
        linearize(plant, point, coordinates=[[1, 0, 0, 0], [1, 0, 0, 0]])
    A = plant.jacobian(point.q)
    with pytest.raises(ValueError, match="not independent"):
        linearize(plant, point, coordinates=A[:2])
    with pytest.raises(ValueError, match=r"2 degrees of freedom at this .*, got 1 coordinates, 'left'; choose"):
        linearize(plant, point, coordinates=("left",))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"coordinates": ("left", "rigth")}, "no coordinate 'rigth'; did you mean 'right'"),
        ({"inputs": ("lefft",)}, "no actuator or other input 'lefft'; did you mean 'left'"),
        ({"inputs": ("left", "left")}, "input 'left_effort' is named 2 times"),
        ({"outputs": ("tip_z",)}, "no output 'tip_z'; did you mean"),
        ({"outputs": ("left", "left")}, "output 'left' is named 2 times"),
        ({"outputs": ("left_rates",)}, "did you mean 'left_rate'"),
        ({"coordinates": [[1.0, 0.0]]}, "coordinates must have shape"),
        ({"coordinates": [[1.0, 0.0, np.nan, 0.0]] * 2}, "must be finite"),
    ],
)
def test_unknown_names(arm, keys, message):
    with pytest.raises(ValueError, match=message):
        linearize(*arm, **keys)


def test_multipliers_that_are_not_unique():
    plant = plants.five_bar(closure="revolute")
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    assert linearize(plant, point, outputs=("tip_x", "tip_y")).outputs == ("tip_x", "tip_y")
    with pytest.raises(ValueError, match=r"'tip_z', 'tip_tilt_x', 'tip_tilt_y' are not unique.*'tip_x', 'tip_y'"):
        linearize(plant, point, outputs=("loop_force",))


def test_an_unknown_output_is_answered_with_the_coordinate_and_the_kinds_of_names():
    plant = plants.five_bar()
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    words = r"did you mean 'elbow_left'\?.* and \d+ more\).*<body>_position"
    with pytest.raises(ValueError, match=words):
        linearize(plant, point, outputs=("elbow_left_length",))
