"""The particle on a circle."""

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.dynamics.forces import constraint_force


@pytest.mark.parametrize("angle", [0.0, 0.7, 2.5, -1.9])
def test_particle_formulas(angle):
    """Aghili, eqs. 33-37 and the two equations below them."""
    m, rho, speed = 1.7, 2.5, 3.0
    plant = plants.particle_on_circle(mass=m, radius=rho, gravity=(0.0, 0.0))
    along = np.array([-np.sin(angle), np.cos(angle)])
    out = np.array([np.cos(angle), np.sin(angle)])
    q, v, f = rho * out, speed * along, np.array([2.0, -5.0])
    terms = plant.terms(q, v)
    assert pytest.approx(np.outer(along, along), abs=1e-14) == terms.P
    assert terms.Cv == pytest.approx(-(speed**2) / rho * out, abs=1e-13)
    assert terms.A_pinv[:, 0] == pytest.approx(q / rho, abs=1e-14)
    vdot = forward_dynamics(plant, q, v, f)
    assert m * (along @ vdot) == pytest.approx(along @ f, abs=1e-12)
    assert out @ vdot == pytest.approx(-(speed**2) / rho, abs=1e-12)
    force = constraint_force(plant, q, v, f).force
    assert force == pytest.approx((out @ f + m * speed**2 / rho) * out, abs=1e-12)


def test_particle_assembles_from_its_centre():
    """The functions are not defined there; other starts are tried."""
    plant = plants.particle_on_circle(radius=2.0)
    with pytest.warns(RuntimeWarning, match="invalid value"):
        q = plant.assemble(guess=[0.0, 0.0], q1=0.0)
    assert abs(q[1]) == pytest.approx(2.0, abs=1e-12)
