"""The map I + H and the actuation condition (64) (Aghili, 7.4)."""

import numpy as np
import pytest

from cmbcontrol import actuation, plants
from cmbcontrol.controllers import PassiveJoints
from cmbcontrol.controllers.actuation import active_force_map
from cmbcontrol.controllers.metrics import WeightedProjection
from cmbcontrol.dynamics.forces import motor_effort
from cmbcontrol.errors import AssemblyError
from cmbcontrol.model.functions import FunctionPlant
from cmbcontrol.plants.five_bar import configuration as five_bar_configuration
from tests.fixtures import Rest, terms_at

REGULAR = ("five-bar", "two-arms", "three-rrr", "delta", "stewart", "loader", "slider-crank", "n-four-bar")


# -- machines -----------------------------------------------------------------------------------------


def linear_machine(B, seed=0, rows=3, n=6, units=None, size=1.0, scale=1.0):
    """Constant matrices with a redundant row; `scale` (n,) turns metres into other units."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((n, n))
    M = root @ root.T + np.eye(n)
    A = rng.standard_normal((rows, n))
    A[-1] = A[0] - 2.0 * A[1]
    T = np.ones(n) * scale  # new coordinates are T times the old ones
    M, A, h, B = M / np.outer(T, T), A / T, rng.standard_normal(n) / T, B / T[:, None]
    return FunctionPlant(
        "linear",
        tuple(f"x{i}" for i in range(n)),
        M=lambda q: M,
        h=lambda q, v: h,
        Phi=lambda q: A @ q,
        A=lambda q: A,
        Adot_v=lambda q, v: np.zeros(rows),
        actuators=tuple(f"m{k}" for k in range(B.shape[1])),
        B=B,
        units=units,
        size=size,
    )


# -- the map I + H ------------------------------------------------------------------------------------


class TestMap:
    """(62) for any B: it moves the machine alike, is a force of the motors, and the smallest one."""

    @pytest.mark.parametrize("seed", range(4))
    def test_any_actuation_matrix(self, seed):
        rng = np.random.default_rng(seed)
        B = rng.standard_normal((6, 4)) @ rng.standard_normal((4, 5))  # five motors on four directions
        plant = linear_machine(B, seed)
        terms = terms_at(plant)
        needed = rng.standard_normal(6)
        f = active_force_map(plant, terms) @ terms.P @ needed
        assert terms.P @ f == pytest.approx(terms.P @ needed, abs=1e-10)  # moves alike
        u = np.linalg.pinv(B) @ f
        assert B @ u == pytest.approx(f, abs=1e-10)  # is in R(B)
        found = actuation(plant, terms)
        assert found.active_force(needed) == pytest.approx(f, abs=1e-9)
        assert found.effort(needed) == pytest.approx(u, abs=1e-9)  # the smallest ones

    def test_the_smallest_of_many(self):
        rng = np.random.default_rng(5)
        plant = linear_machine(rng.standard_normal((6, 6)))
        terms, needed = terms_at(plant), rng.standard_normal(6)
        f = actuation(plant, terms).active_force(needed)
        assert f == pytest.approx(terms.P @ needed, abs=1e-10)  # all directions are active: Theorem 4
        B = rng.standard_normal((6, 5))
        plant = linear_machine(B)
        f = actuation(plant, terms).active_force(needed)
        idle = B @ np.linalg.svd(terms.Z.T @ B)[2][4:].T
        assert idle.shape[1] == 1 and np.linalg.norm(idle) > 0.1
        for way in (-0.1, 0.1):
            other = f + way * idle[:, 0]
            assert terms.P @ other == pytest.approx(terms.P @ needed, abs=1e-10)
            assert np.linalg.norm(other) > np.linalg.norm(f)

    @pytest.mark.parametrize("name", REGULAR)
    def test_equals_the_smallest_efforts_where_motors_act_on_single_joints(self, name):
        plant, q, _ = plants.catalogue[name].start()
        single = all(np.count_nonzero(column) == 1 for column in terms_at(plant, q).B.T)
        assert single
        terms = terms_at(plant, q, plant.project_velocity(q, np.linspace(-0.5, 0.7, plant.nv)))
        wanted = np.linspace(1.0, -0.5, plant.nv)
        force = terms.M @ wanted + terms.h
        size = np.abs(force).max()
        f = active_force_map(plant, terms, weight=np.ones(plant.nv)) @ terms.P @ force
        assert f == pytest.approx(motor_effort(terms, wanted).f, abs=1e-9 * size)
        assert f == pytest.approx(
            actuation(plant, terms, weight=np.ones(plant.nv)).active_force(force), abs=1e-9 * size
        )

    @pytest.mark.parametrize("seed", range(3))
    def test_joint_forces_and_efforts_in_each_others_metric(self, seed):
        """f' W^-1 f is least just where u' (B' W^-1 B) u is."""
        rng = np.random.default_rng(seed)
        B = rng.standard_normal((6, 5)) * [1.0, 10.0, 0.1, 3.0, 1.0]  # gears, and motors on all joints
        root = rng.standard_normal((6, 6))
        W = root @ root.T + np.eye(6)
        plant = linear_machine(B, seed)
        terms, wanted = terms_at(plant), rng.standard_normal(6)
        force = terms.M @ wanted + terms.h
        effort = motor_effort(terms, wanted, weight=np.linalg.inv(B.T @ np.linalg.solve(W, B)))
        assert actuation(plant, terms, weight=W).active_force(force) == pytest.approx(effort.f, abs=1e-8)
        parallel = WeightedProjection(terms.A, W, terms.rank).force(force)
        assert active_force_map(plant, terms, weight=W) @ parallel == pytest.approx(effort.f, abs=1e-8)
        assert motor_effort(terms, wanted).f != pytest.approx(effort.f, rel=1e-3)  # another norm, another answer

    def test_the_law_takes_the_smallest_efforts_for_its_force(self):
        """Two motors on one joint, with gears 1 and 2, share the load 1 : 2."""
        B = np.zeros((6, 5))
        B[[0, 0, 1, 2, 3], range(5)] = [1.0, 2.0, 1.0, 1.0, 1.0]
        plant = linear_machine(B)
        u = PassiveJoints(Rest(plant))(0.0, terms_at(plant), np.zeros(0))
        assert u[1] == pytest.approx(2.0 * u[0]) and abs(u[0]) > 1e-3
        terms = terms_at(plant)
        assert terms.Z.T @ (B @ u - terms.h) == pytest.approx(np.zeros(4), abs=1e-12)

    def test_a_torque_between_bodies_is_the_same_motor(self):
        """The five-bar cut at the right support: its right motor acts on three joints at once."""
        efforts = []
        for cut in ("tip", "right"):
            plant = plants.five_bar(cut)
            q = five_bar_configuration(plant)
            law = PassiveJoints(Rest(plant))
            efforts.append(law(0.0, terms_at(plant, q), np.zeros(0)))
        assert np.count_nonzero(terms_at(plant, q).B[:, 1]) == 4
        assert efforts[0] == pytest.approx(efforts[1], rel=1e-9)


# -- the condition (64) -------------------------------------------------------------------------------


class TestCondition:
    @pytest.mark.parametrize("seed", range(3))
    def test_it_is_the_rank_of_Z_B(self, seed):
        rng = np.random.default_rng(seed)
        for motors in range(1, 7):
            B = rng.standard_normal((6, motors))
            plant = linear_machine(B, seed)
            found = actuation(plant, plant.neutral())
            assert found.rank == np.linalg.matrix_rank(terms_at(plant).Z.T @ B) == min(motors, 4)
            assert found.complete == (motors >= 4) == (found.margin > 0.0)
            # N and B-perp: vectors in N(A) that no motor moves
            both = np.vstack([terms_at(plant).A, B.T])
            assert found.lost.shape[1] == 6 - np.linalg.matrix_rank(both)
            assert both @ found.lost == pytest.approx(np.zeros((len(both), found.lost.shape[1])), abs=1e-12)

    def test_the_margin_is_an_angle(self):
        """A point on a line at an angle to the only motor."""
        for angle in (0.0, 0.4, 1.2, 0.5 * np.pi):
            A = np.array([[-np.sin(angle), np.cos(angle)]])
            plant = FunctionPlant(
                "line", ("x", "y"), M=lambda q: np.eye(2), h=lambda q, v: np.zeros(2), Phi=lambda q, A=A: A @ q,
                A=lambda q, A=A: A, Adot_v=lambda q, v: np.zeros(1), actuators=("x",), units=("m", "m"),
            )  # fmt: skip
            found = actuation(plant, [0.0, 0.0])
            assert found.margin == pytest.approx(np.cos(angle), abs=1e-15)
            assert found.complete == (angle < 1.5)
        assert found.joint == "y" and found.weakest == pytest.approx({"x": 0.0, "y": 1.0}, abs=1e-12)

    def test_gears_and_a_second_motor_on_the_same_joint_do_not_matter(self):
        rng = np.random.default_rng(1)
        B = rng.standard_normal((6, 4))
        base = actuation(linear_machine(B), np.zeros(6))
        for other in (B * [1.0, 1e3, 1e-3, -3.0], np.hstack([B, B[:, :1] + B[:, 1:2]])):
            assert actuation(linear_machine(other), np.zeros(6)).margin == pytest.approx(base.margin, rel=1e-8)
        assert base.verdict == "fully-actuated"
        assert actuation(linear_machine(np.hstack([B, B[:, :1]])), np.zeros(6)).verdict == "over-actuated"

    def test_units_do_not_matter(self):
        """The same machine in millimetres: with the size in them, the same margin; without it, another one."""
        units, B = ("rad", "m", "m", "rad", "m", "rad"), np.random.default_rng(2).standard_normal((6, 4))
        travels = np.array([u == "m" for u in units])
        metres = linear_machine(B, units=units, size=0.7)
        small = linear_machine(B, units=units, size=700.0, scale=np.where(travels, 1000.0, 1.0))
        found = [actuation(p, np.zeros(6)) for p in (metres, small)]
        assert found[0].margin == pytest.approx(found[1].margin, rel=1e-9)
        assert found[0].joint == found[1].joint
        bare = [actuation(p, np.zeros(6), weight=np.ones(6)).margin for p in (metres, small)]
        assert bare[0] != pytest.approx(bare[1], rel=1e-2)

    def test_redundant_rows_do_not_matter(self):
        margins = []
        for closure in ("line", "point", "revolute"):
            plant = plants.five_bar(closure=closure)
            margins.append(actuation(plant, plant.assemble(left=2.1, right=1.0)).margin)
        assert margins == pytest.approx([margins[0]] * 3, rel=1e-9)

    def test_a_catalogue_of_verdicts(self):
        for name in REGULAR:
            plant, q, _ = plants.catalogue[name].start()
            found, diagnosed = actuation(plant, q), plant.diagnose(q).actuation
            assert (found.verdict, found.rank, found.dof) == (diagnosed.verdict, diagnosed.rank, diagnosed.dof), name
            assert found.margin == diagnosed.margin and found.joint == diagnosed.joint, name
            assert 0.0 < found.margin <= 1.0
            if found.verdict == "fully-actuated":  # one answer, whatever the metric
                terms = terms_at(plant, q)
                hold = motor_effort(terms, np.zeros(plant.nv)).u
                u = PassiveJoints(Rest(plant))(0.0, terms, np.zeros(0))
                rounding = 1e-13 * plant.force_scale * plant.size  # some hold themselves
                assert u == pytest.approx(hold, rel=1e-8, abs=1e-8 * np.abs(hold).max() + rounding), name

    def test_no_motors_and_no_freedoms(self):
        found = actuation(plants.slider_crank(actuated=()), [0.3, -0.6])
        assert (found.margin, found.rank, found.dof, found.joint) == (0.0, 0, 1, "q2")
        locked = linear_machine(np.eye(6)[:, :2], rows=8)
        found = actuation(locked, np.zeros(6))
        assert (found.margin, found.dof, found.joint, found.complete) == (1.0, 0, "", True)
        assert found.active_force(np.ones(6)).tolist() == [0.0] * 6 and found.weakest["x0"] == 0.0
        assert "0 of 0" in str(found)


def test_open_loops_have_no_actuation():
    plant = plants.five_bar()
    for ask in (actuation, active_force_map):
        with pytest.raises(AssemblyError, match="'tip' open by"):
            ask(plant, np.zeros(4))
