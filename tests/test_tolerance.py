"""What is zero is told from rounding: machines whose rows, biases or motors vanish, in turned planes and all units."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import (
    Actuator,
    Body,
    Coupling,
    Distance,
    Frame,
    Mechanism,
    Point,
    PointOnLine,
    Prismatic,
    Revolute,
    Weld,
    plants,
)
from cmbcontrol.kernels import linear_algebra, split
from cmbcontrol.papers.methods import settings


def runs(plant, q, v=None, t_end=0.1):
    """A short run keeps energy and loops."""
    run = cmb.simulate(plant, None, q, v, t_end=t_end, output_times=t_end)
    assert run.max_drift < 1e-13 * plant.size and run.max_energy_error < 1e-8 * plant.force_scale * plant.size
    return run


def parallelogram(rng, closure):
    """Two equal bars and a top in a plane turned at random."""
    tilt = Frame.turned(rng.normal(size=3), rng.uniform(-3.0, 3.0))
    length, angle = rng.uniform(0.2, 1.0), rng.uniform(-3.0, 3.0)
    off, end = np.array([*rng.uniform(-0.6, 0.6, 2), rng.uniform(-0.3, 0.3)]), Frame((length, 0.0, 0.0))
    bodies = [Body.rod("a", 1.0, length), Body.rod("b", 1.0, length), Body("top", 2.0, (0.2, 0, 0), (0.1, 0.1, 0.2))]
    joints = [
        Revolute("a", "ground", "a", frame=tilt),
        Revolute("at", "a", "top", frame=end),
        Revolute("b", "ground", "b", frame=tilt @ Frame(off)),
    ]
    loop = {
        "revolute": Revolute("bt", "b", "top", frame=end, child_frame=Frame(off)),
        "point": Point("bt", "b", "top", end.p, off),
        "line": PointOnLine("bt", "b", "top", end.p, off, (0, 0, 1)),
    }[closure]
    plant = Mechanism("parallelogram", bodies, joints, [loop])
    return plant, plant.pack({"a": angle, "at": -angle, "b": angle})


class TestRegularMachinesRun:
    """Their second-order forms vanish; rounding of them is no reason to refuse."""

    @pytest.mark.parametrize("closure", ["revolute", "point", "line"])
    def test_turned_parallelograms(self, closure):
        rng = np.random.default_rng(0)
        for _ in range(8):
            plant, q = parallelogram(rng, closure)
            runs(plant, q)
            runs(plant, q, [1.0, -1.0, 1.0])

    @pytest.mark.parametrize("axis", [(0, 0, 1), (1, 0, 0), (1, 2, 3), (0.6, 0.8, 0)])
    def test_parallel_rails(self, axis):
        other = Prismatic("b", "ground", "table", axis=axis, frame=Frame((1, 0, 0)), child_frame=Frame((1, 0, 0)))
        rail = Prismatic("a", "ground", "table", axis=axis)
        plant = Mechanism("rails", [Body("table", 1.0, (0, 0, 0), (1, 1, 1))], [rail], [other])
        assert plant.diagnose([0.0]).rank == 0 and not plant.diagnose([0.0]).singular
        fall = -0.5 * 9.81 * axis[2] / np.linalg.norm(axis)
        assert runs(plant, [0.0], t_end=1.0).q.values[-1, 0] == pytest.approx(fall, abs=1e-11)

    @pytest.mark.parametrize("angle", [0.2, 0.7, 1.1])
    def test_slides_in_a_turned_plane(self, angle):
        tilt = Frame.turned((1, 2, 3), 0.8)

        def along(g):
            return (np.cos(g), np.sin(g), 0.0)

        bodies = [
            Body("a", 1.0, (0.1, 0, 0), (1, 1, 1)),
            Body("b", 1.0, (0, 0.1, 0), (1, 1, 1)),
            Body("c", 1.0, (0, 0.2, 0), (1, 1, 1)),
        ]
        joints = [
            Prismatic("x", "ground", "a", axis=along(0.3), frame=tilt),
            Prismatic("y", "a", "b", axis=along(1.4)),
            Prismatic("z", "ground", "c", axis=along(2.0), frame=tilt),
        ]
        plant = Mechanism("slides", bodies, joints, [Prismatic("cut", "b", "c", axis=along(angle))])
        q = plant.neutral()
        assert plant.diagnose(q).rank == 1 and not cmb.singular_configuration(plant, q).singular
        runs(plant, q, plant.project_velocity(q, [1.0, -0.5, 0.3]))

    def test_a_frame_held_twice_with_a_pendulum_on_it(self):
        for seed in range(6):
            rng = np.random.default_rng(seed)
            axis = rng.standard_normal(3)
            pivot = Revolute("pivot", "frame", "rod", frame=Frame.turned(rng.standard_normal(3), 0.3, (0.4, 0.1, 0.2)))
            plant = Mechanism(
                "held pendulum",
                [Body.rod("frame", 1.0, 1.0), Body.rod("rod", 1.0, 1.0)],
                [Revolute("hinge", "ground", "frame", axis=axis), pivot],
                [Weld("weld", "ground", "frame", Frame(), Frame.turned(axis, -0.5))],
            )
            q = plant.close([0.5, 0.3])
            assert plant.diagnose(q).dof == 1
            runs(plant, q)
            runs(plant, q, plant.project_velocity(q, [0.0, 1.0]))


def rods(length, arm=True):
    """Two rods end to end between fixed points, which stretched only shake, and an arm beside them."""
    bodies = [Body.rod("a", 1.0, 1.0), Body.rod("b", 1.0, 1.0)]
    joints = [Revolute("a", "ground", "a"), Revolute("b", "a", "b", frame=Frame((1.0, 0.0, 0.0)))]
    if arm:
        bodies.append(Body("arm", 1.0, (0.3, 0.1, 0), (0.1, 0.1, 0.1)))
        joints.append(Revolute("swing", "ground", "arm"))
    tip = PointOnLine("tip", "ground", "b", (length, 0.0, 0.0), (1.0, 0.0, 0.0), (0, 0, 1))
    return Mechanism("rods", bodies, joints, [tip], gravity=(0.0, -9.81, 0.0))


class TestLocksAreTold:
    def test_a_structure_that_shakes(self):
        plant = rods(2.0, arm=False)
        assert cmb.singular_configuration(plant, [0.0, 0.0]).locked
        with pytest.raises(cmb.errors.SingularConfigurationError, match="Nothing moves from here"):
            cmb.simulate(plant, None, [0.0, 0.0], t_end=0.1)

    def test_a_part_that_is_locked(self):
        plant = rods(2.0)
        with pytest.raises(
            cmb.errors.SingularConfigurationError, match=r"Part of the machine is locked.*Weld that part"
        ):
            cmb.simulate(plant, None, [0.0, 0.0, 0.2], t_end=0.1)

    def test_the_same_folded_moves(self):
        plant = rods(1.5)
        runs(plant, plant.close([0.7, -1.5, 0.2]))


class TestRank:
    def test_a_used_up_row_keeps_no_size(self):
        """Rows that a reflection leaves as they are have lost their head all the same."""
        rng, tried = np.random.default_rng(0), 0
        for _ in range(4000):
            rows, n = int(rng.integers(2, 6)), int(rng.integers(3, 7))
            k = int(rng.integers(1, min(rows, n)))
            A = (rng.integers(-2, 3, (rows + 2, k)) @ rng.integers(-2, 3, (k, n))).astype(float)
            true = np.linalg.matrix_rank(A)
            factored = split.new_rows(*A.shape)
            factored.G[:] = A
            tried += true > 1
            assert split.factor_rows(factored, 1e-10, 1e-13, min(A.shape)) == true, A
            scale = np.ones(len(A))
            scale.setflags(write=False)  # as kernels know it
            Z = linear_algebra.constraint_split(A, np.zeros(len(A)), scale, true)[1]
            assert Z.shape[1] == n - true and np.abs(A @ Z).max(initial=0.0) < 1e-12 * max(np.abs(A).max(), 1.0)
        assert tried > 1000

    @pytest.mark.parametrize("factor", [1e-6, 1e-3, 1.0, 1e3])
    def test_a_row_that_vanishes_in_any_units(self, factor):
        """A rod that holds a slide across its travel: its gradient is rounding."""
        rod = Distance("rod", "ground", "slide", (0.0, factor, 0.0), (0.0, 0.0, 0.0), factor)
        slide = Body("slide", 2.0, (0, 0, 0), np.full(3, factor**2))
        plant = Mechanism("slide", [slide], [Prismatic("x", "ground", "slide", axis=(1, 0, 0))], [rod])
        tilted = Frame.turned((1, 2, 3), 0.7)
        turned = Mechanism(
            "slide",
            [slide],
            [Prismatic("x", "ground", "slide", axis=(1, 0, 0), frame=tilted)],
            [Distance("rod", "ground", "slide", tilted.R @ (0.0, factor, 0.0), (0.0, 0.0, 0.0), factor)],
        )
        for machine in (plant, turned):
            assert machine.terms([0.0], [0.0]).rank == 0

    @pytest.mark.parametrize("where", [0.0, 1e2, 1e4])
    def test_far_from_the_origin(self, where):
        rng = np.random.default_rng(3)
        at, turn = Frame(rng.uniform(-1, 1, 3) * where), Frame.turned((1, 2, 3), 0.7)
        ends = (Body.rod(n, 1.0, x) for n, x in (("a", 1.0), ("b", 2.0), ("c", 1.5)))
        plant = Mechanism(
            "four-bar",
            list(ends),
            [
                Revolute("a", "ground", "a", frame=at @ turn),
                Revolute("b", "a", "b", frame=Frame((1, 0, 0))),
                Revolute("c", "b", "c", frame=Frame((2, 0, 0))),
            ],
            [Revolute("d", "ground", "c", frame=at @ turn @ Frame((1.8, 0, 0)), child_frame=Frame((1.5, 0, 0)))],
        )
        q = np.array([1.0, -1.5, -1.0])
        from scipy.optimize import fsolve

        def gap(x):
            a, b, c = 1.0, 1.0 + x[0], 1.0 + x[0] + x[1]
            tip = np.exp(1j * a) + 2.0 * np.exp(1j * b) + 1.5 * np.exp(1j * c) - 1.8
            return [tip.real, tip.imag]

        q[1:] = fsolve(gap, q[1:], xtol=1e-14)
        assert plant.closure_error(q) < 1e-11 * max(where, 1.0)
        found = plant.diagnose(q)
        assert (found.rank, found.dof, found.redundant["d"]) == (2, 1, 3)

    def test_a_light_pinion_on_a_heavy_arm(self):
        arm = Body("arm", 2e4, (5.0, 0, 0), (1e3, 2e5, 2e5))
        pinion = Body("pinion", 1e-3, (0, 0, 0), (1e-9, 1e-9, 1e-9))
        joints = [Revolute("lift", "ground", "arm"), Revolute("turn", "arm", "pinion", frame=Frame((10.0, 0, 0)))]
        plant = Mechanism("crane", [arm, pinion], joints, [Coupling("gear", {"lift": 50.0, "turn": -1.0})])
        assert plant.diagnose([0.1, 5.0]).dof == 1

    def test_a_thin_rod_has_no_inertia_about_itself(self):
        joints = [Revolute("spin", "ground", "rod", axis=(1, 2, 3), frame=Frame((5.0, 1.0, 2.0)))]
        with pytest.raises(cmb.errors.ModelError, match=r"'spin' has no inertia"):
            inertia = np.eye(3) - np.outer((1, 2, 3), (1, 2, 3)) / 14.0
            Mechanism("rod", [Body("rod", 1.0, (0, 0, 0), inertia)], joints)


def held_arm(seed):
    """A shaft in two bearings, one of them on an arm with a motor at its hinge: the arm is held, the shaft spins."""
    rng = np.random.default_rng(seed)
    axis, place = rng.standard_normal(3), rng.uniform(-1, 1, 3)
    bearing = Frame.turned(rng.standard_normal(3), 0.8, rng.uniform(-1, 1, 3))
    bodies = [Body("arm", 1.0, (0.3, 0.1, 0), (0.1, 0.1, 0.1)), Body("shaft", 1.0, (0.05, 0, 0.1), (0.1, 0.1, 0.05))]
    tree = [
        Revolute("hinge", "ground", "arm", axis=axis, frame=Frame(place)),
        Revolute("spin", "arm", "shaft", frame=bearing),
    ]
    q = np.array([0.4, 0.7])
    at = Mechanism("tree", bodies, tree).pose(q, "shaft")
    far = Revolute("far", "ground", "shaft", frame=at @ Frame((0, 0, 0.5)), child_frame=Frame((0, 0, 0.5)))
    return Mechanism("shaft in two bearings", bodies, tree, [far], actuators=[Actuator("hinge")]), q


class TestMotorsThatReachNothing:
    def test_inverse_dynamics_says_so(self):
        for seed in range(40):
            plant, q = held_arm(seed)
            assert plant.diagnose(q).actuation.rank == 0
            with pytest.raises(cmb.errors.ActuationError, match="0 of 1 degrees of freedom"):
                cmb.inverse_dynamics(plant, q, [0, 0], [0.0, 1.0])
            near = cmb.inverse_dynamics(plant, q, [0, 0], [0.0, 1.0], strict=False)
            assert np.abs(near.u).max() == 0.0

    def test_what_needs_no_force_is_no_refusal(self):
        """Horizontal, at rest: the force that is missing is rounding of the weight."""
        body = Body("rod", 1.0, (0.5, 0, 0), (0.1, 0.1, 0.1))
        turn = Frame.turned((0.3, -0.2, 0.9), 0.7)
        gravity = turn.R @ (0.0, 0.0, -9.81)
        plant = Mechanism("compass", [body], [Revolute("a", "ground", "rod", frame=turn)], gravity=gravity)
        assert cmb.inverse_dynamics(plant, [0.3], [0.0], [0.0]).u.size == 0
        with pytest.raises(cmb.errors.ActuationError):
            cmb.inverse_dynamics(plant, [0.3], [0.0], [1e-9])


class TestBesideSingularPoses:
    @pytest.mark.parametrize("offset", [1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4])
    @pytest.mark.parametrize("speed", [0.0, 1.0, -1.0, 1e-6])
    def test_the_slider_crank_stays_on_its_branch(self, offset, speed):
        plant = plants.slider_crank()
        q = np.array([np.pi / 2 + offset, -np.pi - 2.0 * offset])
        run = cmb.simulate(plant, None, q, [speed, -2.0 * speed], t_end=0.5, output_times=0.1)
        assert np.abs(run.q.values[:, 1] + 2.0 * run.q.values[:, 0]).max() < 1e-7
        assert run.max_energy_error < 1e-8 and run.data.attrs["evaluations"] < 2000

    def test_runs_that_miss_a_pose_by_little_go_on(self):
        """A five-bar that swings round the tip of its cone at a distance of 1e-6."""
        plant = plants.five_bar()
        tip = cmb.nearest_singular_configuration(
            plant, plant.pack({"left": np.pi, "elbow_left": -np.pi, "elbow_right": -np.pi})
        )
        pose = cmb.singular_configuration(plant, tip)
        d = pose.on_branch([1.0, 0.3, -0.4, 0.2])
        q = plant.close(plant.integrate(tip, 1e-6 * d / np.abs(d).max()))
        v = plant.project_velocity(q, -d + 0.2 * plant.terms(q, np.zeros(4)).Z[:, 0])
        run = cmb.simulate(plant, None, q, v, t_end=0.3, output_times=0.1, **settings(max_steps=1000))
        assert run.max_energy_error < 1e-7

    def test_a_velocity_that_no_motion_has_within_rounding_of_a_pose(self):
        plant = plants.slider_crank()
        q = np.array([np.pi / 2 + 1e-11, -np.pi - 2e-11])
        with pytest.raises(cmb.errors.SingularConfigurationError, match="through this configuration"):
            cmb.simulate(plant, None, q, [1.0, 1.0], t_end=0.1)

    def test_rank_near_by_in_steps_of_each_coordinate(self):
        """A flat parallelogram of micrometres that carries a slide: metres are no measure for its angles."""
        size = 2e-6
        bodies = [Body.planar(n, 1e-9, 0.5 * size, 1e-9 * size**2) for n in ("a", "top", "b")]
        bodies.append(Body("arm", 1.0, (0, 0, 0), (1e-3, 1e-3, 1e-3)))
        end = Frame((size, 0.0, 0.0))
        joints = [
            Revolute("a", "ground", "a"),
            Revolute("top", "a", "top", frame=end),
            Revolute("b", "ground", "b", frame=end),
            Prismatic("arm", "b", "arm", axis=(1, 0, 0)),
        ]
        loop = PointOnLine("cut", "b", "top", end.p, end.p, (0, 0, 1))
        plant = Mechanism("flat", bodies, joints, [loop])
        found = plant.diagnose(plant.neutral())
        assert (found.rank, found.generic_rank, found.singular) == (1, 2, True)
