"""Efforts without bounds are named."""

import pytest

import cmbcontrol as cmb
from cmbcontrol.controllers import ProjectedInverseDynamics
from cmbcontrol.papers.methods import settings


def crank_rocker():
    """A four-bar with its motor at the rocker, which loses hold of the machine where crank and coupler are in line."""
    lengths, z = (0.4, 1.0, 0.8), (0, 0, 1)
    bodies = [cmb.Body.planar(n, m, 0.5 * m, m**3 / 12.0) for n, m in zip(("a", "b", "c"), lengths, strict=True)]
    joints = [
        cmb.Revolute("crank", "ground", "a", axis=z),
        cmb.Revolute("coupler", "a", "b", axis=z, frame=cmb.Frame((0.4, 0.0, 0.0))),
        cmb.Revolute("rocker", "ground", "c", axis=z, frame=cmb.Frame((1.0, 0.0, 0.0))),
    ]
    loop = cmb.PointOnLine("tip", "b", "c", (1.0, 0.0, 0.0), (0.8, 0.0, 0.0))
    motor = cmb.Actuator("rocker")
    return cmb.Mechanism("crank-rocker", bodies, joints, [loop], actuators=[motor], gravity=(0.0, -9.81, 0.0))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("period", [None, 1e-3])
def test_efforts_without_bounds_are_named_with_the_actuation(period):
    """The rocker is asked beyond its last pose. Sampled, the run took a million steps in a few periods."""
    plant = crank_rocker()
    q = plant.assemble(crank=0.5)
    law = ProjectedInverseDynamics(plant, ("rocker",), cmb.Constant([q[2] + 1.5]), bandwidth=8.0, period=period)
    with pytest.raises(cmb.errors.SimulationError) as caught:
        cmb.simulate(plant, law, q, t_end=8.0, **settings(max_steps=200_000, method="dop853"))
    message, run = str(caught.value), caught.value.partial
    assert "efforts grew without bounds: ProjectedInverseDynamics asked for" in message and "N m of 'rocker'" in message
    assert "motors lose hold of the machine here" in message and "least for the motion crank 1" in message
    assert "lock-up" not in message
    assert run.status == cmb.Status.STEP_TOO_SMALL
    assert run.data.attrs["steps"] < 20_000
