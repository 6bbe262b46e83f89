"""Tasks: values, Jacobians and biases are derivatives of each other; errors obey what they say."""

import numpy as np
import pytest
from scipy.linalg import expm

import cmbcontrol as cmb
from cmbcontrol import Frame, linearize_closed_loop, plants
from cmbcontrol.controllers import (
    Coordinates,
    FunctionTask,
    PointTask,
    PoseTask,
    PostureTask,
    ProjectedInverseDynamics,
    TaskStack,
    rotations,
)
from cmbcontrol.dynamics.differences import slope

TOOL = Frame.turned((1, 2, 3), 0.7, (0.1, 0.2, 0.3))
BENCH = Frame.turned((1, -2, 3), 0.6, (0.3, -0.2, 0.1))


def platform():
    """A Stewart platform and a state away from home, loops open: kinematics do not ask for closed ones."""
    plant = plants.stewart()
    rng = np.random.default_rng(3)
    q = plant.integrate(plants.catalogue["stewart"].initial(plant)[0], 0.3 * rng.standard_normal(plant.nv))
    return plant, q, rng.standard_normal(plant.nv)


def some_tasks(plant):
    """One of each kind."""
    return {
        "pose": PoseTask(plant, "platform", TOOL),
        "pose on a moving body": PoseTask(plant, "platform", TOOL, "upper2", BENCH),
        "some axes": PoseTask(plant, "platform", TOOL, other_frame=BENCH, axes=("rz", "x", "ry")),
        "point": PointTask(plant, "platform", (0.1, 0.2, 0.3)),
        "point on a moving body": PointTask(plant, "platform", (0.1, 0.2, 0.3), "zx", "upper2"),
        "function": FunctionTask(plant, lambda q: plant.point(q, "platform", (0.1, 0.2, 0.3)) ** 2),
        "coordinates": Coordinates(plant, ("leg1", "mount3_2")),
        "stack": TaskStack(PointTask(plant, "platform", axes="xz"), Coordinates(plant, "leg5")),
    }


KINDS = (
    "pose",
    "pose on a moving body",
    "some axes",
    "point",
    "point on a moving body",
    "function",
    "coordinates",
    "stack",
)


@pytest.mark.parametrize("kind", KINDS)
class TestDerivatives:
    def test_bias_is_the_rate_of_the_jacobian(self, kind):
        plant, q, v = platform()
        task = some_tasks(plant)[kind]
        rate = slope(lambda s: task.jacobian(plant.terms(plant.integrate(q, s * v), v)) @ v, 1e-2)
        assert task.bias(plant.terms(q, v)) == pytest.approx(rate, abs=1e-9)
        assert task.bias(plant.terms(q, 0.0 * v)) == pytest.approx(0.0, abs=1e-14)

    def test_the_jacobian_gives_the_rate_of_the_value(self, kind):
        """On rotations the angular velocity, J_l(phi) phi'."""
        plant, q, v = platform()
        task = some_tasks(plant)[kind]
        rate = slope(lambda s: task.value(plant.terms(plant.integrate(q, s * v), v)), 1e-2)
        found = task.jacobian(plant.terms(q, v)) @ v
        turns = [i for i, axis in enumerate(getattr(task, "axes", ())) if axis[0] == "r"]
        if len(turns) == 3:
            phi = task.value(plant.terms(q, v))[turns]
            rate[turns] = rotations.left_jacobian(phi) @ rate[turns]
        keep = [i for i in range(len(task)) if i not in turns or len(turns) == 3]
        assert found[keep] == pytest.approx(rate[keep], abs=1e-9)

    @pytest.mark.nojit_slow
    def test_the_error_and_its_equation(self, kind):
        """e' and e'' of a desired motion, along q [+] s v, where the coordinates do not accelerate."""
        plant, q, v = platform()
        task = some_tasks(plant)[kind]
        a, b, c = np.random.default_rng(1).standard_normal((3, len(task)))

        def motion(s):
            return task.motion((a + s * b + 0.5 * s * s * c, b + s * c, c), plant.terms(plant.integrate(q, s * v), v))

        now = motion(0.0)
        assert now.e == pytest.approx(task.error(a, plant.terms(q, v)))
        assert now.rate == pytest.approx(slope(lambda s: motion(s).e, 1e-2), abs=1e-8)
        assert now.free - now.bias == pytest.approx(slope(lambda s: motion(s).rate, 1e-2), abs=1e-7)
        # the part of the velocities in e' is that of the accelerations in e''
        still = task.motion((a, b, c), plant.terms(q, 0.0 * v))
        assert still.rate - now.rate == pytest.approx(now.J @ v, abs=1e-12)


class TestPoses:
    def test_where_frames_are(self):
        plant, q, v = platform()
        task = PoseTask(plant, "platform", TOOL, "upper2", BENCH)
        value = task.value(plant.terms(q, v))
        there = (plant.pose(q, "upper2") @ BENCH).inverse() @ (plant.pose(q, "platform") @ TOOL)
        assert value[:3] == pytest.approx(there.p)
        assert expm(rotations.cross_matrix(value[3:])) == pytest.approx(there.R, abs=1e-12)
        assert task.value_of(there) == pytest.approx(value)
        assert task.error(there, plant.terms(q, v)) == pytest.approx(np.zeros(6), abs=1e-12)

    def test_errors_do_not_depend_on_how_often_the_reference_has_turned(self):
        plant, q, v = platform()
        task = PoseTask(plant, "platform", TOOL)
        terms = plant.terms(q, v)
        phi = np.array([0.3, -0.4, 0.5])
        longer = phi * (1.0 + 4.0 * np.pi / np.linalg.norm(phi))
        a, b = (task.error([0.0, 0.0, 0.0, *x], terms) for x in (phi, longer))
        assert a == pytest.approx(b, abs=1e-12)

    def test_two_bodies_against_each_other(self):
        """The pose of a in b and of b in a are inverse, and so are their angular velocities."""
        plant, q, v = platform()
        terms = plant.terms(q, v)
        there, back = PoseTask(plant, "platform", None, "lower4"), PoseTask(plant, "lower4", None, "platform")
        R = rotations.rotation_matrix(there.value(terms)[3:])
        assert back.value(terms)[3:] == pytest.approx(-there.value(terms)[3:])
        assert (back.jacobian(terms) @ v)[3:] == pytest.approx(-R.T @ (there.jacobian(terms) @ v)[3:])

    @pytest.mark.nojit_slow
    def test_the_rotation_vector_of_the_error_obeys_the_equation_in_simulation(self):
        """A platform far off a turning reference: e'' + G_D e' + G_P e = 0 is exact, not only for small errors."""
        plant = plants.stewart()
        q = plants.catalogue["stewart"].initial(plant)[0]
        task = PoseTask(plant, "platform")
        start = task.value(plant.terms(q, np.zeros(plant.nv)))
        away = np.array([0.05, -0.04, 0.06, 0.25, -0.2, 0.3])
        reference = cmb.Sine(start + away, [0.03, 0.03, 0.03, 0.1, 0.1, 0.1], 0.5, np.arange(6.0))
        law = ProjectedInverseDynamics(plant, task, reference, bandwidth=8.0)
        run = cmb.simulate(plant, law, q, t_end=0.4, output_times=0.05, rtol=1e-9, atol=1e-9)
        found = [law.error(t, plant.terms(*x)) for t, *x in zip(run.time, run.q.values, run.v.values, strict=True)]
        e, rate = (np.array(x) for x in zip(*found, strict=True))
        t = run.time[:, None]
        exact = np.exp(-8.0 * t) * (e[0] + (rate[0] + 8.0 * e[0]) * t)
        assert np.linalg.norm(e[0, 3:]) > 0.4
        assert np.abs(e - exact).max() < 1e-6 * np.abs(e[0]).max()

    def test_a_plane_turn_passes_half_a_turn(self):
        """rz in a plane: the error is the shorter way, whatever the angle of the body."""
        rod = cmb.Body.rod("rod", 1.0, 1.0)
        plant = cmb.Mechanism("rotor", [rod], [cmb.Revolute("angle", "ground", "rod")])
        task = PoseTask(plant, "rod", axes=("rz",))
        for angle in (0.0, 1.0, 3.0, 3.3, 6.0):
            now = task.motion(tuple(np.array([x]) for x in (3.2, 0.4, 0.1)), plant.terms([angle], [0.7]))
            assert now.e[0] == pytest.approx(np.remainder(3.2 - angle + np.pi, 2.0 * np.pi) - np.pi)
            assert (now.rate[0], now.free[0]) == pytest.approx((0.4 - 0.7, 0.1))

    @pytest.mark.nojit_slow
    def test_the_linear_model_of_a_loop_over_a_pose(self):
        plant = plants.stewart()
        q = plants.catalogue["stewart"].initial(plant)[0]
        task = PoseTask(plant, "platform", TOOL)
        goal = task.value(plant.terms(q, np.zeros(plant.nv)))
        law = ProjectedInverseDynamics(plant, task, cmb.Constant(goal), kp=60.0, kd=17.0)  # poles -5 and -12
        loop = linearize_closed_loop(plant, law, q)
        assert loop.poles() == pytest.approx([-12.0] * 6 + [-5.0] * 6, abs=1e-5)


class TestFunctions:
    def tip(self):
        """Of a five-bar, as a point and as a function."""
        plant = plants.five_bar()
        q = plant.assemble(left=2.1, right=1.0)
        terms = plant.terms(q, [0.3, -0.5, 0.8, 0.1])

        def J(q):
            a, b = q[0], q[0] + q[1]
            return np.array(
                [
                    [-np.sin(a) - 1.5 * np.sin(b), -1.5 * np.sin(b), 0.0, 0.0],
                    [np.cos(a) + 1.5 * np.cos(b), 1.5 * np.cos(b), 0.0, 0.0],
                ]
            )

        return plant, terms, lambda q: plant.point(q, "left_upper", (1.5, 0, 0))[:2], J

    def test_differences_are_as_good_as_derivatives(self):
        plant, terms, theta, J = self.tip()
        exact = PointTask(plant, "left_upper", (1.5, 0, 0), axes="xy")
        for task in (FunctionTask(plant, theta), FunctionTask(plant, theta, J)):
            assert task.jacobian(terms) == pytest.approx(exact.jacobian(terms), abs=1e-11)
            assert task.bias(terms) == pytest.approx(exact.bias(terms), abs=1e-9)

    def test_a_plant_of_functions(self):
        """Theorem 4 for the slide of a slider-crank, x = 2 cos q1."""
        plant = plants.slider_crank()
        slide = FunctionTask(plant, lambda q: np.cos(q[0]) + np.cos(q[0] + q[1]), names=["slide"], units=["m"])
        law = ProjectedInverseDynamics(plant, slide, cmb.Constant([1.5]), bandwidth=6.0)
        run = cmb.simulate(plant, law, [0.6, -1.2], t_end=0.3, output_times=0.05, rtol=1e-9, atol=1e-9)
        e = 1.5 - 2.0 * np.cos(run.q.values[:, 0])
        assert e == pytest.approx(e[0] * np.exp(-6.0 * run.time) * (1.0 + 6.0 * run.time), abs=1e-6 * abs(e[0]))

    def test_functions_that_do_not_fit(self):
        plant, _, theta, _ = self.tip()
        with pytest.raises(ValueError, match="jacobian of the task"):
            FunctionTask(plant, theta, lambda q: np.zeros((3, 4)))
        with pytest.raises(ValueError, match="bias of the task"):
            FunctionTask(plant, theta, bias=lambda q, v: np.zeros(5))
        with pytest.raises(TypeError, match="must be callable"):
            FunctionTask(plant, theta, jacobian=np.zeros((2, 4)))
        with pytest.raises(ValueError, match="theta of the task"):
            FunctionTask(plant, lambda q: [np.inf])
        with pytest.raises(ValueError, match="units must be 2"):
            FunctionTask(plant, theta, units=["m"])


class TestStacks:
    def test_a_stack_fixes_what_its_parts_leave_free(self):
        plant = plants.two_arms()
        q = plants.catalogue["two-arms"].initial(plant)[0]
        stack = TaskStack(PointTask(plant, "object", axes="xy"), PoseTask(plant, "object", axes=("rz",)))
        whole = PoseTask(plant, "object", axes=("x", "y", "rz"))
        terms = plant.terms(q, np.random.default_rng(0).standard_normal(6), project=True)
        reference = cmb.Sine([0.0, 0.5, 0.1], [0.1, 0.1, 0.2], 0.5)
        laws = [ProjectedInverseDynamics(plant, task, reference, bandwidth=8.0) for task in (stack, whole)]
        u = [law(0.3, terms, np.zeros(0)) for law in laws]
        assert u[0] == pytest.approx(u[1], abs=1e-8)
        assert stack.error([0.1, 0.4, 0.2], terms) == pytest.approx(whole.error([0.1, 0.4, 0.2], terms))
        assert stack.value(terms) == pytest.approx(whole.value(terms))

    def test_refusals(self):
        plant = plants.five_bar()
        with pytest.raises(TypeError, match="one task or more"):
            TaskStack()
        with pytest.raises(TypeError, match="nor a task"):
            TaskStack("left")
        with pytest.raises(ValueError, match="called differently"):
            TaskStack(Coordinates(plant, "left"), Coordinates(plant, "left"))
        with pytest.raises(ValueError, match="different plants"):
            TaskStack(Coordinates(plant, "left"), Coordinates(plants.five_bar(), "right"))


class TestOnesOwn:
    def test_an_object_without_motion(self):
        """names, units, value, jacobian, bias and error are enough."""

        class Sum:
            names, units = ("sum",), ("rad",)

            def value(self, terms):
                return terms.q[:1] + terms.q[2:3]

            def jacobian(self, terms):
                return np.array([[1.0, 0.0, 1.0, 0.0]])

            def bias(self, terms):
                return np.zeros(1)

            def error(self, desired, terms):
                return desired - self.value(terms)

        plant = plants.five_bar()
        terms = plant.terms(plant.assemble(left=2.1, right=1.0), np.zeros(4))
        law = ProjectedInverseDynamics(plant, Sum(), cmb.Constant([3.0]), bandwidth=2.0)
        assert law.desired_acceleration(0.0, terms)[[0, 2]].sum() == pytest.approx(-0.4)


class TestRefusals:
    def test_bodies_axes_and_names(self):
        plant = plants.five_bar()
        with pytest.raises(ValueError, match="did you mean 'left_upper'"):
            PointTask(plant, "left_uper")
        with pytest.raises(ValueError, match="axis of a PointTask"):
            PointTask(plant, "left_upper", axes="xw")
        with pytest.raises(ValueError, match="all different"):
            PoseTask(plant, "left_upper", axes=("x", "x"))
        with pytest.raises(ValueError, match="the body itself"):
            PointTask(plant, "left_upper", relative_to="left_upper")
        with pytest.raises(TypeError, match="must be a Frame"):
            PoseTask(plant, "left_upper", frame=(1.0, 0.0, 0.0))
        with pytest.raises(TypeError, match="FunctionTask"):
            PointTask(plants.slider_crank(), "rod")
        with pytest.raises(ValueError, match="has a coordinate 'left'"):
            PointTask(plant, "left_upper", axes="x", names=["left"])
        with pytest.raises(ValueError, match="2 different ones"):
            PointTask(plant, "left_upper", axes="xy", names=["tip"])

    def test_coordinates(self):
        plant = plants.stewart("free")
        with pytest.raises(ValueError, match="did you mean 'leg1'"):
            Coordinates(plant, "legg1")
        with pytest.raises(ValueError, match="no position of its own"):
            Coordinates(plant, "platform_wx")

    def test_postures(self):
        plant = plants.five_bar()
        with pytest.raises(ValueError, match="bandwidth must be > 0"):
            PostureTask(plant, cmb.Constant(np.zeros(4)), bandwidth=0.0)
        with pytest.raises(ValueError, match=r"shape \(4,\)"):
            PostureTask(plant, cmb.Constant([0.0]), bandwidth=1.0)
        with pytest.raises(ValueError, match="one number or 4"):
            PostureTask(plant, cmb.Constant(np.zeros(4)), bandwidth=[1.0, 2.0])

    def test_a_task_of_another_machine(self):
        task = PointTask(plants.five_bar(), "left_upper", axes="xy")
        with pytest.raises(ValueError, match="was made for 'five-bar'"):
            ProjectedInverseDynamics(plants.two_arms(), task, cmb.Constant([0.5, 1.9]), bandwidth=8.0)


def test_axes_in_which_nothing_moves_are_named_when_a_law_is_made():
    plant = cmb.plants.five_bar()
    for task, words in (
        (PointTask(plant, "left_upper"), r"moves 'left_upper' in z; leave that out: axes=\('x', 'y'\)"),
        (PoseTask(plant, "left_upper"), r"in z, rx, ry; leave that out: axes=\('x', 'y', 'rz'\)"),
    ):
        with pytest.raises(ValueError, match=words):
            ProjectedInverseDynamics(plant, task, cmb.Constant(np.zeros(len(task.names))), bandwidth=8.0)
    assert PoseTask(cmb.plants.stewart(), "platform").still_axes() == ()


def test_a_contact_that_closes_under_a_law_that_wants_more_is_named():
    plant = cmb.plants.five_bar()
    stop = cmb.Coupling("stop", {"left": 1.0}, offset=2.0)
    law = ProjectedInverseDynamics(plant, ("left", "right"), cmb.Constant([1.8, 1.0]), bandwidth=8.0)
    q = plant.assemble(left=2.1, right=1.0)
    with pytest.raises(
        cmb.errors.SimulationError, match=r"1 degree of freedom at t = .* since 'stop' holds.*consistent=True"
    ):
        cmb.simulate(plant.with_loops(stop), law, q, t_end=1.0, switches=cmb.Contact("stop"))
