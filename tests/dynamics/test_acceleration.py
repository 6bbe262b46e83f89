"""Accelerations by Gauss' principle, and what keeps them on the loops."""

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.dynamics.acceleration import acceleration, baumgarte_gains, constrained_motion, forward_dynamics
from tests.fixtures import Coupling, Distance, Revolute, closed_machine, driven_state, largest


def test_gains_that_follow_from_the_step():
    """phi + h phi' + h^2 phi'' / 2 = 0: the residual vanishes at the end of the step, to second order."""
    h, phi, rate = 0.01, 3e-4, -2e-2
    alpha, beta = baumgarte_gains(h)
    acceleration_of_phi = -2.0 * alpha * rate - beta**2 * phi
    assert phi + h * rate + 0.5 * h * h * acceleration_of_phi == pytest.approx(0.0, abs=1e-18)
    with pytest.raises(ValueError, match="step must be > 0"):
        baumgarte_gains(0.0)


@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("kinds", [(Distance, Coupling), (Revolute,)], ids=["distance and coupling", "revolute"])
def test_gauss_principle(kinds, twice):
    """The equations with multipliers, solved as they stand: [M A'; A 0] [a; lam] = [f; -b]."""
    plant, q = closed_machine(2, kinds, twice=twice)
    q, v, _ = driven_state(plant, q, 3)
    terms = plant.terms(q, v)
    force = np.random.default_rng(0).standard_normal(plant.nv)
    n, rows = plant.nv, len(terms.b)
    kkt = np.block([[terms.M, terms.A.T], [terms.A, np.zeros((rows, rows))]])
    solved = np.linalg.lstsq(kkt, np.concatenate([force - terms.h, -terms.b]), rcond=1e-12)[0]
    scale = max(1.0, largest(solved[:n]))
    assert largest(acceleration(terms, force) - solved[:n]) < 1e-9 * scale
    moved = constrained_motion(terms, force)
    assert largest(moved.vdot - solved[:n]) < 1e-9 * scale
    assert largest(moved.force - terms.A.T @ solved[n:]) < 1e-9 * max(1.0, largest(force))
    # and of all accelerations that the loops allow, the nearest to the free one in the metric of M
    free = np.linalg.solve(terms.M, force - terms.h)

    def gap(a):
        return (a - free) @ terms.M @ (a - free)

    for d in np.random.default_rng(1).standard_normal((5, terms.dof)):
        assert gap(solved[:n] + 0.1 * scale * terms.Z @ d) > gap(solved[:n])


def test_a_particle_on_a_circle():
    """Polar coordinates: th'' = -g cos(th) / r, with the centripetal acceleration v^2 / r."""
    plant, angle, rate = plants.particle_on_circle(mass=2.0), 0.7, 1.3
    q, v = np.array([np.cos(angle), np.sin(angle)]), rate * np.array([-np.sin(angle), np.cos(angle)])
    along, out = np.array([-np.sin(angle), np.cos(angle)]), q
    pull = np.linalg.solve(plant.terms(q, np.zeros(2)).M, -plant.terms(q, np.zeros(2)).h)  # of the weight alone
    expected = (pull @ along) * along - rate**2 * out
    assert forward_dynamics(plant, q, v) == pytest.approx(expected, abs=1e-12)
