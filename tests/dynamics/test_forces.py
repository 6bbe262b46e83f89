"""Constraint forces, motor torques, power."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers.actuation import active_force_map
from cmbcontrol.dynamics.forces import motor_effort, power
from tests.fixtures import closed_state

FIVE_BAR = dict(left=2.1, right=1.0)


class TestConstraintForce:
    def test_unique_force_and_smallest_multipliers(self):
        q, v = closed_state(plants.five_bar(), **FIVE_BAR)
        one = cmb.constraint_force(plants.five_bar(), q, v, [1.0, 2.0])
        full = plants.five_bar(closure="revolute")
        many = cmb.constraint_force(full, q, v, [1.0, 2.0])
        assert many.force == pytest.approx(one.force, abs=1e-9)
        A = full.terms(q, v).A
        assert A.T @ many.multipliers == pytest.approx(many.force, abs=1e-9)
        assert np.linalg.norm(many.multipliers) == pytest.approx(np.linalg.norm(np.linalg.pinv(A.T) @ many.force))
        assert one.unique.all()
        assert many.unique.tolist() == [True, True, False, False, False]

    def test_it_does_no_work(self):
        plant = plants.five_bar()
        q, v = closed_state(plant, **FIVE_BAR)
        found = cmb.constraint_force(plant, q, v, [1.0, 2.0])
        assert found.force @ v == pytest.approx(0.0, abs=1e-9)
        balance = power(plant.terms(q, v), [1.0, 2.0], found.acceleration)
        assert balance["constraints"] == pytest.approx(0.0, abs=1e-9)


class TestInverseDynamics:
    @pytest.mark.parametrize("seed", range(5))
    def test_reproduces_the_acceleration(self, seed):
        plant = plants.five_bar()
        q, v = closed_state(plant, seed, **FIVE_BAR)
        terms = plant.terms(q, v)
        wanted = terms.Cv + terms.Z @ np.random.default_rng(seed).standard_normal(2)
        found = cmb.inverse_dynamics(plant, q, v, wanted)
        assert cmb.forward_dynamics(plant, q, v, found.u) == pytest.approx(wanted, abs=1e-10)

    def test_zero_on_passive_joints_and_equal_to_aghili(self):
        plant = plants.five_bar()
        q, v = closed_state(plant, **FIVE_BAR)
        terms = plant.terms(q, v)
        found = motor_effort(terms, terms.Cv + terms.Z @ [1.0, -2.0])
        assert found.f[[1, 3]].tolist() == [0.0, 0.0]
        parallel = terms.P @ (terms.M @ (terms.Cv + terms.Z @ [1.0, -2.0]) + terms.h)
        assert active_force_map(plant, terms, weight=np.ones(plant.nv)) @ parallel == pytest.approx(found.f, abs=1e-9)

    def test_over_actuated_takes_the_smallest_weighted_efforts(self):
        base = plants.five_bar()
        names = base.velocity_names
        plant = cmb.Mechanism(
            "over",
            base.bodies,
            base.joints,
            base.loops,
            actuators=[cmb.Actuator(n) for n in names],
            gravity=base.gravity,
        )
        q, v = closed_state(plant, **FIVE_BAR)
        terms = plant.terms(q, v)
        wanted = terms.Cv + terms.Z @ [1.0, -2.0]
        free = motor_effort(terms, wanted)
        assert free.actuation.verdict == "over-actuated"
        assert terms.A @ free.u == pytest.approx(np.zeros(2), abs=1e-9)  # f = f_parallel (Aghili, eq. 48)
        W = np.array([100.0, 1.0, 100.0, 1.0])
        weighted = motor_effort(terms, wanted, W)
        assert plant.terms(q, v).Z.T @ weighted.f == pytest.approx(terms.Z.T @ free.f, abs=1e-9)
        assert weighted.u @ (weighted.u / W) < free.u @ (free.u / W)

    def test_under_actuated_is_refused_with_numbers(self):
        base = plants.five_bar()
        plant = cmb.Mechanism(
            "under", base.bodies, base.joints, base.loops, actuators=[cmb.Actuator("left")], gravity=base.gravity
        )
        q, v = closed_state(plant, **FIVE_BAR)
        with pytest.raises(cmb.errors.ActuationError, match="1 of 2 degrees of freedom"):
            cmb.inverse_dynamics(plant, q, v, np.zeros(4))
        lenient = cmb.inverse_dynamics(plant, q, v, np.zeros(4), strict=False)
        assert np.abs(lenient.residual).max() > 1.0 and lenient.actuation.verdict == "under-actuated"

    def test_bad_weight(self):
        plant = plants.five_bar()
        terms = plant.terms(*closed_state(plant, **FIVE_BAR))
        with pytest.raises(ValueError, match="positive definite"):
            motor_effort(terms, np.zeros(4), [1.0, -1.0])
