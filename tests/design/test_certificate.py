"""Evidence that one law does for many machines."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol.design import PoleRegion, certify, lqr, with_payload
from tests.fixtures import ARMS, PAYLOAD_AT, PAYLOAD_POSES, ROBUST_REGION, robust_law


@pytest.mark.nojit_slow
@pytest.mark.slow
def test_certified_on_the_nonlinear_plants_where_they_rest(robust, machines):
    law = robust_law(robust, machines)
    found = certify(machines, law, PAYLOAD_POSES, ROBUST_REGION)
    assert len(found.cases) == 27 and found.valid, str(found)
    sag = [
        np.abs(case.point.q[[0, 2]] - list(pose.values())).max()
        for case, pose in zip(found.cases, 3 * [*PAYLOAD_POSES.values()], strict=True)
    ]
    assert max(sag) > 0.01  # payloads that the law does not know: the machines rest aside of the configuration
    assert min(sag) < 1e-9  # and those that it knows, at it


def test_nominal_lqr_fails_for_some(models):
    """In the region for its own model, the unloaded machine in the middle; outside of it elsewhere."""
    nominal = models["0 kg, (2.3, 0.8)"]
    law = lqr(nominal, Q={"left": 100.0, "right": 100.0}, R=0.01)
    assert ROBUST_REGION.contains(law.continuous_poles())
    assert sum(not ROBUST_REGION.contains(law.continuous_poles(lin)) for lin in models.values()) > 10
    cheap = lqr(nominal, Q={"left": 0.1, "right": 0.1}, R=0.01)
    assert (cheap.continuous_poles().real < 0.0).all()
    assert (
        sum(cheap.continuous_poles(lin).real.max() > 0.0 for lin in models.values()) > 3
    )  # it lets loaded machines fall


def test_a_machine_that_comes_to_no_rest_is_outside(plant):
    lin = cmb.linearize(plant, cmb.trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=ARMS)
    weak = lqr(lin, 1e-6, 1e6)
    found = certify(
        with_payload(plant, "left_upper", 500.0, PAYLOAD_AT), weak, {"left": 2.1, "right": 1.0}, PoleRegion()
    )
    assert not found.valid and found.outside == (found.cases[0].label,) and str(found)
