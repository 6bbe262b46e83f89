"""Centre of mass and angular momentum: against sums over bodies, differences, and what falls freely."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import FunctionPlant, plants
from cmbcontrol.controllers import AngularMomentum, CentreOfMass
from tests.fixtures import largest, stance


def moving(seed):
    """A machine in the air, planar or spatial, and its state at some time of a motion at constant v."""
    plant, q, rng = stance(seed)
    plant = plant.without(*plant.row_slices)
    v = rng.standard_normal(plant.nv)
    return plant, lambda s: plant.terms(plant.integrate(q, s * v), v)


def of_bodies(plant, q):
    """Mass, and centre of mass, as a sum over bodies."""
    masses = np.array([b.mass for b in plant.bodies])
    places = np.array([plant.point(q, b.name, b.com) for b in plant.bodies])
    return masses.sum(), masses @ places / masses.sum()


def momentum_of_bodies(plant, q, v, h=1e-5):
    """Angular momentum about the centre of mass from poses before and after: m (c x c') + R J R' omega."""
    centre, L = of_bodies(plant, q)[1], np.zeros(3)
    before, after = plant.integrate(q, -h * v), plant.integrate(q, h * v)
    for b in plant.bodies:
        x, y = (plant.point(at, b.name, b.com) for at in (before, after))
        R0, R1, R = (plant.pose(at, b.name).R for at in (before, after, q))
        W = (R1 - R0) @ R.T / (2.0 * h)
        omega = np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2.0
        L += b.mass * np.cross(plant.point(q, b.name, b.com) - centre, (y - x) / (2.0 * h))
        L += R @ b.inertia @ R.T @ omega
    return L


@pytest.mark.parametrize("seed", [2, 3])
class TestKinematics:
    def test_centre_of_mass_is_that_of_the_bodies(self, seed):
        plant, at = moving(seed)
        task, terms = CentreOfMass(plant), at(0.0)
        assert task.value(terms) == pytest.approx(of_bodies(plant, terms.q)[1], abs=1e-14)

    def test_rates_are_derivatives(self, seed):
        plant, at = moving(seed)
        h, terms = 1e-5, at(0.0)
        com, spin = CentreOfMass(plant), AngularMomentum(plant)
        slope = (com.value(at(h)) - com.value(at(-h))) / (2.0 * h)
        assert com.jacobian(terms) @ terms.v == pytest.approx(slope, abs=1e-8)
        for task in (com, spin):
            bend = (task.jacobian(at(h)) - task.jacobian(at(-h))) @ terms.v / (2.0 * h)
            assert task.bias(terms) == pytest.approx(bend, abs=1e-7 * (1.0 + largest(bend)))

    def test_angular_momentum_is_that_of_the_bodies(self, seed):
        plant, at = moving(seed)
        terms = at(0.0)
        expected = momentum_of_bodies(plant, terms.q, terms.v)
        assert AngularMomentum(plant).jacobian(terms) @ terms.v == pytest.approx(expected, abs=1e-7)

    def test_what_falls_keeps_its_momentum(self, seed):
        plant, at = moving(seed)
        terms = at(0.0)
        a = cmb.forward_dynamics(plant, terms.q, terms.v, np.ones(plant.nu))
        com, spin = CentreOfMass(plant), AngularMomentum(plant, axes="xyz" if seed % 2 else "z")  # a plane holds others
        assert com.jacobian(terms) @ a + com.bias(terms) == pytest.approx([0.0, -9.81, 0.0], abs=1e-9)
        assert spin.jacobian(terms) @ a + spin.bias(terms) == pytest.approx(0.0, abs=1e-9 * (1.0 + largest(a)))

    def test_some_of_the_bodies(self, seed):
        plant, at = moving(seed)
        terms, trunk = at(0.0), next(b for b in plant.bodies if b.name == "trunk")
        task = CentreOfMass(plant, axes="yx", bodies="trunk")
        assert task.names == ("com_y", "com_x")
        assert task.value(terms) == pytest.approx(plant.point(terms.q, "trunk", trunk.com)[[1, 0]], abs=1e-14)

    def test_motion_is_what_the_parts_say(self, seed):
        plant, at = moving(seed)
        terms, desired = at(0.0), (np.ones(3), np.full(3, 2.0), np.full(3, 3.0))
        com, spin = CentreOfMass(plant), AngularMomentum(plant)
        now = com.motion(desired, terms)
        assert now.e == pytest.approx(com.error(desired[0], terms))
        assert now.rate == pytest.approx(2.0 - com.jacobian(terms) @ terms.v)
        turning = spin.motion(desired, terms)
        assert not turning.e.any() and not spin.error(desired[0], terms).any() and not spin.value(terms).any()
        assert turning.rate == pytest.approx(2.0 - spin.jacobian(terms) @ terms.v)


def test_refused_with_words():
    plant = plants.biped()
    for task in (CentreOfMass, AngularMomentum):
        with pytest.raises(ValueError, match="'w'"):
            task(plant, axes="w")
        with pytest.raises(ValueError, match="all different"):
            task(plant, axes="xx")
        with pytest.raises(ValueError, match="no body 'trnk'"):
            task(plant, bodies="trnk")
        with pytest.raises(TypeError, match="FunctionTask"):
            task(plants.catalogue["particle"].start()[0])
    assert isinstance(plants.catalogue["particle"].start()[0], FunctionPlant)
