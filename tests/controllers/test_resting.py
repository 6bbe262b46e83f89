"""Where a plant rests under a law."""

import numpy as np
import pytest

from cmbcontrol import Constant, Spline, closed_loop_equilibrium, plants, simulate
from cmbcontrol.controllers import ProjectedInverseDynamics
from cmbcontrol.controllers.resting import RestingLoop
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.errors import EquilibriumError
from tests.fixtures import five_bar_law, largest


def test_the_rest_is_shifted(loaded):
    plant, law = loaded
    rest = closed_loop_equilibrium(plant, law)
    assert isinstance(rest, RestingLoop)
    shift = rest.point.q[[0, 2]] - [2.1, 1.0]
    assert 1e-3 < largest(shift) < 0.2
    a = forward_dynamics(plant, rest.point.q, np.zeros(4), law(0.0, plant.terms(rest.point.q, np.zeros(4)), None))
    assert largest(a) < 1e-9
    # the machine goes there by itself
    run = simulate(plant, law, plant.assemble(left=2.1, right=1.0), t_end=6.0, rtol=1e-8, atol=1e-8, output_times=6.0)
    assert run.q.values[-1] == pytest.approx(rest.point.q, abs=1e-6)
    # gravity known, the loop rests where it should
    assert closed_loop_equilibrium(plant, five_bar_law(plant)).point.q[0] == pytest.approx(2.1, abs=1e-11)


def test_a_reference_that_only_accelerates_does_not_move():
    plant = plants.five_bar()
    spline = Spline([0.0, 2.0], [[2.1, 1.0], [2.3, 1.0]])
    law = ProjectedInverseDynamics(plant, ("left", "right"), spline, bandwidth=8.0)
    with pytest.raises(EquilibriumError, match="is accelerating at t = 0 s"):
        closed_loop_equilibrium(plant, law)
    rest = closed_loop_equilibrium(plant, law.with_reference(Constant([2.1, 1.0])))
    assert repr(rest).startswith("<RestingLoop of 'five-bar': q = [2.1, ") and len(repr(rest)) < 200
