"""What becomes of the motion that a task leaves: the nearest to a wish, postures, loss of rank."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import linearize_closed_loop, plants
from cmbcontrol.controllers import (
    Coordinates,
    FunctionTask,
    PointTask,
    PoseTask,
    PostureTask,
    ProjectedInverseDynamics,
    TaskStack,
)
from tests.fixtures import accelerated, random_terms


class TestRedundantTasks:
    """Two values of an object with three degrees of freedom."""

    def law(self, **options):
        plant = plants.two_arms()
        reference = cmb.Sine([0.0, 0.5], [0.1, 0.05], 0.5, [0.0, 1.0])
        task = PointTask(plant, "object", axes="xy")
        return plant, ProjectedInverseDynamics(plant, task, reference, bandwidth=8.0, **options)

    def terms(self, plant):
        return random_terms(plant, plants.catalogue["two-arms"].initial(plant)[0])

    def check(self, plant, law, wish):
        """The task is fulfilled, and no admissible change of the rest comes nearer to the wish."""
        terms = self.terms(plant)
        a = accelerated(terms, law(0.3, terms, law.start(plant)))
        now = law.task.motion(law.reference(0.3), terms)
        second = now.free - (now.J @ a + now.bias)
        assert second + law.kd @ now.rate + law.kp @ now.e == pytest.approx([0.0, 0.0], abs=1e-9)
        free = terms.Z @ np.linalg.svd(now.J @ terms.Z)[2][2:].T
        assert now.J @ free == pytest.approx(0.0, abs=1e-12)
        off = free.T @ terms.M @ (a - wish(terms))
        assert off == pytest.approx([0.0], abs=1e-9 * np.abs(terms.M @ a).max())

    def test_the_rest_is_damped(self):
        self.check(*self.law(), lambda terms: -16.0 * terms.v)
        self.check(*self.law(posture_damping=3.0), lambda terms: -3.0 * terms.v)

    def test_a_posture_in_all_coordinates(self):
        plant = plants.two_arms()
        home = plants.catalogue["two-arms"].initial(plant)[0]

        def wish(terms):
            return 16.0 * (home + 0.1 - terms.q) - 8.0 * terms.v

        self.check(*self.law(posture=(cmb.Constant(home + 0.1), 4.0)), wish)

    def test_a_posture_of_ones_own(self):
        self.check(*self.law(posture=lambda t, terms: np.cos(terms.q)), lambda terms: np.cos(terms.q))

    @pytest.mark.nojit_slow
    @pytest.mark.filterwarnings("ignore:.*a posture in some coordinates:cmbcontrol.errors.SpeedWarning")
    def test_a_posture_in_one_coordinate_obeys_its_own_equation(self):
        plant, _ = self.law()
        wish = PostureTask(plant, cmb.Constant([-0.8]), 5.0, coordinates="left_wrist")
        plant, law = self.law(posture=wish)
        q = plants.catalogue["two-arms"].initial(plant)[0]
        run = cmb.simulate(plant, law, q, t_end=0.8, output_times=0.1, rtol=1e-9, atol=1e-9)
        e = -0.8 - run.q.values[:, 2]
        assert e == pytest.approx(e[0] * np.exp(-5.0 * run.time) * (1.0 + 5.0 * run.time), abs=1e-6 * abs(e[0]))

    def test_a_second_task_is_as_good_as_a_stack(self):
        """The third freedom is enough for the object's angle."""
        plant = plants.two_arms()
        angle = PoseTask(plant, "object", axes=("rz",))
        plant, law = self.law(posture=PostureTask(plant, cmb.Constant([0.2]), 8.0, coordinates=angle))
        stack = TaskStack(law.task, PoseTask(law.plant, "object", axes=("rz",)))

        def reference(t):
            return tuple(np.append(x, y) for x, y in zip(law.reference(t), (0.2, 0.0, 0.0), strict=True))

        both = ProjectedInverseDynamics(law.plant, stack, reference, bandwidth=8.0)
        terms = self.terms(plant)
        assert law(0.3, terms, np.zeros(0)) == pytest.approx(both(0.3, terms, np.zeros(0)), abs=1e-8)

    def test_a_posture_of_what_the_task_fixes_is_given_up(self):
        """The object's x belongs to the task: the posture asks for something else, and gets nothing."""
        plant = plants.two_arms()
        x = PointTask(plant, "object", axes="x", names=["again"])
        plant, law = self.law(posture=PostureTask(plant, cmb.Constant([9.0]), 8.0, coordinates=x))
        _, damped = self.law()
        terms = self.terms(plant)
        assert law(0.3, terms, np.zeros(0)) == pytest.approx(damped(0.3, terms, np.zeros(0)), abs=1e-8)

    def test_the_rest_does_not_depend_on_units_or_the_basis(self):
        """The metric of M sees the motion, not the coordinates: the same machine closed in another way."""
        accelerations = []
        for closure in ("weld", "planar"):
            plant = plants.two_arms(closure)
            task = PointTask(plant, "object", axes="xy")
            law = ProjectedInverseDynamics(plant, task, cmb.Constant([0.05, 0.45]), bandwidth=8.0)
            terms = self.terms(plant)
            accelerations.append(law.desired_acceleration(0.0, terms))
        assert accelerations[0] == pytest.approx(accelerations[1], abs=1e-8)


class TestConsistentReferences:
    """More values than degrees of freedom, with loops that may come and go."""

    def all_of_five_bar(self, reference=None):
        plant = plants.five_bar()
        q = plant.assemble(left=2.1, right=1.0)
        reference = cmb.Constant(q) if reference is None else reference
        task = Coordinates(plant, plant.velocity_names)
        return plant, q, ProjectedInverseDynamics(plant, task, reference, bandwidth=8.0, consistent=True)

    def test_all_coordinates_are_projected_as_in_the_paper(self):
        """f_parallel = h_parallel + P M u_p (45) with u_p = theta_d'' + G_D e' + G_P e in all coordinates."""
        plant, q, law = self.all_of_five_bar()
        terms = random_terms(plant, plant.assemble(left=2.15, right=0.93))
        u_p = 16.0 * -terms.v + 64.0 * (q - terms.q)
        f = terms.B @ law(0.0, terms, law.start(plant))
        wanted = terms.P @ (terms.h + terms.M @ u_p)
        assert terms.P @ f == pytest.approx(wanted, abs=1e-9 * np.abs(wanted).max())

    def test_the_error_equation(self):
        """P M (e'' + G_D e' + G_P e) = 0, which is more than no motor could mend."""
        plant, _, law = self.all_of_five_bar()
        terms = random_terms(plant, plant.assemble(left=2.15, right=0.93))
        a = accelerated(terms, law(0.0, terms, law.start(plant)))
        e, rate = law.error(0.0, terms)
        left = -a + law.kd @ rate + law.kp @ e
        assert np.abs(terms.P @ terms.M @ left).max() < 1e-9 * np.abs(terms.M @ left).max()

    def test_to_first_order_it_is_that_of_independent_coordinates(self):
        plant, q, law = self.all_of_five_bar()
        loop = linearize_closed_loop(plant, law, q, coordinates=("left", "right"))
        assert loop.continuous_poles() == pytest.approx([-8.0] * 4, abs=1e-3)  # a double pole splits under rounding

    def test_an_exactly_determined_task_is_fulfilled(self):
        """A surplus of consistent values: the tip in x and y and an angle that follows from them."""
        plant = plants.five_bar()
        q = plant.assemble(left=2.1, right=1.0)
        task = FunctionTask(plant, lambda q: [*plant.point(q, "left_upper", (1.5, 0, 0))[:2], q[0]])
        terms = random_terms(plant, q)
        a = terms.Cv + terms.Z @ [0.7, -0.4]
        position, bias = task.value(terms), task.bias(terms)
        J = task.jacobian(terms)

        def reference(t):
            return position, J @ terms.v, J @ a + bias

        law = ProjectedInverseDynamics(plant, task, reference, bandwidth=8.0, consistent=True)
        assert law.desired_acceleration(0.0, terms) == pytest.approx(a, abs=1e-8)

    def test_one_law_where_the_loop_opens(self):
        """The same object holds both plants: a particle on a wire, and off it."""

        def particle(free):
            return cmb.FunctionPlant(
                "particle",
                ("x", "y"),
                M=lambda q: 2.0 * np.eye(2),
                h=lambda q, v: [0.0, 19.62],
                Phi=lambda q: [] if free else [q[1]],
                A=lambda q: np.zeros((0, 2)) if free else [[0.0, 1.0]],
                Adot_v=lambda q, v: [] if free else [0.0],
                actuators=("x", "y"),
                units=("m", "m"),
            )

        wire, air = particle(False), particle(True)
        law = ProjectedInverseDynamics(
            wire, Coordinates(wire, ("x", "y")), cmb.Constant([1.0, 0.0]), bandwidth=2.0, consistent=True
        )
        state = law.start(air)
        on, off = (law(0.0, p.terms([0.0, 0.0], [0.5, 0.0]), state) for p in (wire, air))
        assert on == pytest.approx([2.0 * (4.0 - 2.0), 0.0])  # the wire carries the weight
        assert off == pytest.approx([4.0, 19.62])


class TestLossOfRank:
    """A two-bar arm is stretched where its angle is zero: the tip cannot move along it."""

    def arm(self, **options):
        rods = [cmb.Body.rod("upper", 1.0, 1.0), cmb.Body.rod("fore", 1.0, 1.0)]
        joints = [
            cmb.Revolute("shoulder", "ground", "upper"),
            cmb.Revolute("elbow", "upper", "fore", frame=cmb.Frame((1.0, 0, 0))),
        ]
        plant = cmb.Mechanism("arm", rods, joints, actuators=[cmb.Actuator("shoulder"), cmb.Actuator("elbow")])
        task = PointTask(plant, "fore", (1.0, 0, 0), axes="xy")
        reference = cmb.Constant([1.0, 0.5])
        return plant, ProjectedInverseDynamics(plant, task, reference, bandwidth=5.0, **options)

    def test_is_an_error_unless_told(self):
        plant, law = self.arm()
        with pytest.raises(cmb.errors.ActuationError, match=r"do not determine.*damped"):
            law(0.0, plant.terms([0.3, 0.0], [0.0, 0.0]), law.start(plant))

    def test_damped_it_is_left_out_smoothly(self):
        plant, law = self.arm(damped=0.05)
        _, exact = self.arm()
        efforts = [law(0.0, plant.terms([0.3, x], [0.0, 0.0]), np.zeros(0)) for x in (0.0, 1e-9, 1e-6)]
        assert np.isfinite(efforts).all() and np.abs(np.diff(efforts, axis=0)).max() < 1e-2
        away = plant.terms([0.3, 1.0], [0.2, 0.1])
        assert law(0.0, away, np.zeros(0)) == pytest.approx(exact(0.0, away, np.zeros(0)), abs=1e-9)
        # in the direction that is left, across the arm, the error equation holds
        terms = plant.terms([0.3, 0.0], [0.0, 0.0])
        a = accelerated(terms, law(0.0, terms, np.zeros(0)))
        now = law.task.motion(law.reference(0.0), terms)
        across = np.array([-np.sin(0.3), np.cos(0.3)])
        assert across @ (now.free - now.J @ a - now.bias + law.kp @ now.e) == pytest.approx(0.0, abs=1e-9)

    def test_the_gain_is_continuous_at_the_threshold(self):
        plant, law = self.arm(damped=0.1)
        found = [law.desired_acceleration(0.0, plant.terms([0.3, x], [0.0, 0.0])) for x in np.linspace(0.05, 0.6, 400)]
        jumps = np.abs(np.diff(found, axis=0)).max(axis=1)
        assert jumps.max() < 8.0 * np.median(jumps)

    def test_coordinates_that_do_not_fix_the_motion(self):
        """The left arm does not say which way a stretched right arm bends."""
        plant = plants.five_bar()
        law = ProjectedInverseDynamics(plant, ("left", "elbow_left"), cmb.Constant([1.0, 1.0]), bandwidth=8.0)
        q = plant.assemble(elbow_right=0.0, right=2.0)
        with pytest.raises(cmb.errors.ActuationError, match=r"do not determine the motion.*Choose 'left', 'right'"):
            law(0.0, plant.terms(q, np.zeros(4)), np.zeros(0))

    def test_a_task_that_cannot_move_where_some_motion_is_free(self):
        plant = plants.two_arms()
        task = FunctionTask(plant, lambda q: [0.0 * q[0], q[0]], names=["nothing", "angle"])
        law = ProjectedInverseDynamics(plant, task, cmb.Constant([0.0, 1.0]), bandwidth=8.0)
        terms = plant.terms(plants.catalogue["two-arms"].initial(plant)[0], np.zeros(6))
        with pytest.raises(cmb.errors.ActuationError, match="cannot all be moved"):
            law(0.0, terms, np.zeros(0))
