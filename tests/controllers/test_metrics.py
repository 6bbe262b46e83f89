"""Weighted metrics (Aghili, section 7.2): what is smallest does not depend on the units, and is what it says."""

import cvxpy
import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import ProjectedInverseDynamics, effort_metric, length_metric
from cmbcontrol.controllers.metrics import WeightedProjection, characteristic_length, weighted_norm
from cmbcontrol.dynamics.forces import motor_effort


def slider_crank():
    """A crank that turns and a slider that is pushed, both with a motor: one degree of freedom, N m and N."""
    z = (0.0, 0.0, 1.0)
    bodies = [
        cmb.Body.rod("crank", 2.0, 0.3),
        cmb.Body.rod("rod", 1.5, 0.7),
        cmb.Body("slider", 3.0, inertia=0.01 * np.eye(3)),
    ]
    joints = [
        cmb.Revolute("crank", "ground", "crank", axis=z),
        cmb.Revolute("rod", "crank", "rod", axis=z, frame=cmb.Frame((0.3, 0, 0))),
        cmb.Prismatic("slider", "ground", "slider", axis=(1, 0, 0)),
    ]
    loop = cmb.PointOnLine("pin", "rod", "slider", (0.7, 0, 0), (0, 0, 0), axis=z)
    motors = [cmb.Actuator("crank", effort=20.0), cmb.Actuator("slider", effort=100.0)]
    return cmb.Mechanism("slider-crank", bodies, joints, [loop], actuators=motors, gravity=(0.0, -9.81, 0.0))


def in_other_units(plant, per_metre):
    """The same plant with lengths in units of 1/per_metre m, forces in N, torques in N times that unit."""
    T = np.array([1.0 if u == "rad/s" else per_metre for u in plant.velocity_units])
    S = np.array([per_metre if u == "rad/s" else 1.0 for u in plant.velocity_units])  # of generalized forces

    def at(q, v=None):
        return plant.terms(q / T, np.zeros(plant.nv) if v is None else v / T)

    return (
        cmb.FunctionPlant(
            "other units",
            plant.velocity_names,
            M=lambda q: S[:, None] * at(q).M / T,
            h=lambda q, v: S * at(q, v).h,
            Phi=lambda q: per_metre * at(q).phi,
            A=lambda q: per_metre * at(q).A / T,
            Adot_v=lambda q, v: per_metre * at(q, v).b,
            actuators=plant.actuator_names,
            neutral=T * plant.neutral(),
            units=tuple(u.removesuffix("/s") for u in plant.velocity_units),
            effort=plant.effort * S[[plant.index(n) for n in plant.actuator_names]],
            size=per_metre * plant.size,
        ),
        T,
        S,
    )


class TestChangeOfUnits:
    """Metres become millimetres, newton metres newton millimetres; the machine stays what it is."""

    def both(self, metric, per_metre=1000.0):
        plant = slider_crank()
        other, T, S = in_other_units(plant, per_metre)
        q = plant.assemble(crank=0.8, guess={"slider": 0.9, "rod": -1.2})
        terms = plant.terms(q, [1.0, 2.0, 3.0], project=True)
        there = other.terms(T * q, T * terms.v)
        a = terms.Cv + terms.Z @ [4.0]
        motors = S[[plant.index(n) for n in plant.actuator_names]]
        u = motor_effort(terms, a, metric(plant, q)).u
        return u, motor_effort(there, T * a, metric(other, T * q)).u / motors

    @pytest.mark.parametrize(
        "metric",
        [
            lambda plant, q: length_metric(plant),
            lambda plant, q: length_metric(plant, characteristic_length(plant, q)),
            lambda plant, q: effort_metric(plant),
        ],
        ids=["size", "characteristic length", "limits"],
    )
    @pytest.mark.parametrize("per_metre", [1000.0, 1.0 / 0.0254])
    def test_a_metric_gives_the_same_efforts(self, metric, per_metre):
        u, other = self.both(metric, per_metre)
        assert other == pytest.approx(u, rel=1e-9)

    def test_without_a_metric_they_differ(self):
        u, other = self.both(lambda plant, q: None)
        assert np.abs(u - other).max() > 0.1 * np.abs(u).max()

    def test_a_length_in_metres_taken_for_millimetres_differs(self):
        u, other = self.both(lambda plant, q: length_metric(plant, 0.5))
        assert np.abs(u - other).max() > 0.1 * np.abs(u).max()

    def test_the_characteristic_length_is_a_length(self):
        plant = slider_crank()
        other, T, _ = in_other_units(plant, 1000.0)
        q = plant.assemble(crank=0.8, guess={"slider": 0.9, "rod": -1.2})
        found = characteristic_length(plant, q)
        assert 0.05 < found < 0.5
        assert characteristic_length(other, T * q) == pytest.approx(1000.0 * found, rel=1e-9)
        # one degree of freedom: it is the arm of the slider on the crank, dx/dangle
        Z = plant.terms(q, np.zeros(3)).Z[:, 0]
        assert found == pytest.approx(abs(Z[2] / Z[0]))

    def test_the_same_holds_for_the_law(self):
        plant = slider_crank()
        other, T, S = in_other_units(plant, 1000.0)
        q = plant.assemble(crank=0.8, guess={"slider": 0.9, "rod": -1.2})
        efforts = []
        for p, scale in ((plant, np.ones(3)), (other, T)):
            reference = cmb.Constant([1.0])
            law = ProjectedInverseDynamics(p, ("crank",), reference, bandwidth=8.0, weight=effort_metric(p))
            efforts.append(law(0.0, p.terms(scale * q, np.zeros(3)), law.start(p)))
        assert efforts[1] / S[[0, 2]] == pytest.approx(efforts[0], rel=1e-9)


class TestMetrics:
    def test_lengths(self):
        plant = slider_crank()
        assert length_metric(plant, 0.5) == pytest.approx([1.0, 4.0])
        assert length_metric(plant, 0.5, of="coordinates") == pytest.approx([1.0, 1.0, 4.0])
        assert length_metric(plant) == pytest.approx([1.0, plant.size**-2])
        # the norm of eq. 50: kappa^2 f_f^2 + f_t^2
        assert weighted_norm([3.0, 8.0], length_metric(plant, 0.5)) == pytest.approx(5.0)

    def test_limits(self):
        assert effort_metric(slider_crank()) == pytest.approx([400.0, 1e4])
        assert weighted_norm([20.0, 100.0], effort_metric(slider_crank())) == pytest.approx(np.sqrt(2.0))

    def test_weights_of_limits_share_the_work_by_strength(self):
        """Two equal motors on one joint, one ten times as strong: a hundredth of the effort falls to the weak one."""
        z = (0.0, 0.0, 1.0)
        plant = cmb.Mechanism(
            "wheel",
            [cmb.Body.rod("wheel", 1.0, 1.0)],
            [cmb.Revolute("hub", "ground", "wheel", axis=z)],
            actuators=[
                cmb.Actuator("hub", name="strong", effort=10.0),
                cmb.Actuator("hub", name="weak", effort=1.0),
            ],
        )
        u = motor_effort(plant.terms([0.0], [0.0]), [3.0], effort_metric(plant)).u
        assert u.sum() == pytest.approx(1.0) and u[0] / u[1] == pytest.approx(100.0)

    def test_refusals(self):
        plant = slider_crank()
        with pytest.raises(ValueError, match="'left', 'right' of 'five-bar' has none"):
            effort_metric(plants.five_bar())
        with pytest.raises(ValueError, match="limits must be 2"):
            effort_metric(plant, [1.0])
        with pytest.raises(ValueError, match="length must be > 0"):
            length_metric(plant, 0.0)
        with pytest.raises(ValueError, match="did you mean 'motors'"):
            length_metric(plant, of="motor")
        with pytest.raises(ValueError, match="all motors of 'five-bar' turn"):
            characteristic_length(plants.five_bar(), plants.five_bar().assemble(left=2.1, right=1.0))
        with pytest.raises(ValueError, match="positive definite"):
            weighted_norm([1.0, 1.0], [1.0, -1.0])
        bare = cmb.FunctionPlant(
            "bare",
            ("x", "y"),
            M=lambda q: np.eye(2),
            h=lambda q, v: [0.0, 0.0],
            Phi=lambda q: [],
            A=lambda q: np.zeros((0, 2)),
            Adot_v=lambda q, v: [],
            actuators=("x", "y"),
        )
        with pytest.raises(ValueError, match="pushes or turns"):
            length_metric(bare)


class TestWeightedProjection:
    def some(self):
        plant = plants.two_arms()
        q = plants.catalogue["two-arms"].initial(plant)[0]
        terms = plant.terms(q, np.random.default_rng(0).standard_normal(6), project=True)
        root = np.random.default_rng(1).standard_normal((6, 6)) + 3.0 * np.eye(6)
        return terms, root @ root.T

    def test_it_is_the_projector_of_the_paper(self):
        """A_W = A W^(-1/2) (below eq. 10 it is misprinted), P_W = 1 - A_W+ A_W, redundant rows and all."""
        terms, W = self.some()
        found = WeightedProjection(terms.A, W, terms.rank)
        assert found.root @ found.root == pytest.approx(W)
        assert found.A_W @ found.root == pytest.approx(terms.A)
        assert found.A_W_pinv == pytest.approx(np.linalg.pinv(found.A_W, rcond=1e-9), abs=1e-12)
        assert pytest.approx(np.eye(6) - found.A_W_pinv @ found.A_W, abs=1e-12) == found.P_W
        assert pytest.approx(found.P_W) == found.P_W @ found.P_W and pytest.approx(found.P_W.T) == found.P_W
        assert np.trace(found.P_W) == pytest.approx(terms.dof)
        assert WeightedProjection(terms.A, W).rank == terms.rank

    def test_plain_weights_give_the_plain_projector(self):
        terms, _ = self.some()
        assert pytest.approx(terms.P, abs=1e-12) == WeightedProjection(terms.A, np.ones(6), terms.rank).P_W

    def test_it_finds_the_smallest_force(self):
        """The same as motor_effort with a motor on every coordinate, and as cvxpy."""
        terms, W = self.some()
        need = terms.M @ (terms.Cv + terms.Z @ [1.0, -2.0, 0.5]) + terms.h
        f = WeightedProjection(terms.A, W, terms.rank).force(need)
        assert pytest.approx(np.eye(6)) == terms.B
        assert f == pytest.approx(motor_effort(terms, terms.Cv + terms.Z @ [1.0, -2.0, 0.5], W).u, rel=1e-9)
        x = cvxpy.Variable(6)
        length = cvxpy.sum_squares(np.linalg.inv(np.linalg.cholesky(W)) @ x)
        cvxpy.Problem(cvxpy.Minimize(length), [terms.Z.T @ x == terms.Z.T @ need]).solve(
            solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12
        )
        assert f == pytest.approx(x.value, abs=1e-6 * np.abs(f).max())
        assert weighted_norm(f, W) == pytest.approx(np.sqrt(length.value), rel=1e-6)

    def test_power_is_the_same_in_both_coordinates(self):
        """f_W' v_W = f' v, and admissible velocities stay what they are."""
        terms, W = self.some()
        found = WeightedProjection(terms.A, W, terms.rank)
        assert found.velocity(terms.v) == pytest.approx(terms.v)
        f, v = np.random.default_rng(2).standard_normal((2, 6))
        assert found.force(f) @ terms.v == pytest.approx(f @ terms.v)
        assert terms.A @ found.velocity(v) == pytest.approx(0.0, abs=1e-12)

    def test_refusals(self):
        with pytest.raises(ValueError, match="rank must be 0 to 1"):
            WeightedProjection([[1.0, 1.0]], [1.0, 1.0], rank=2)
        with pytest.raises(ValueError, match="shape"):
            WeightedProjection([1.0, 1.0], [1.0, 1.0])
        with pytest.raises(TypeError, match="W must be"):
            WeightedProjection([[1.0, 1.0]], None)
