"""Fixtures that the tests of `design` share."""

import pytest

from cmbcontrol import plants
from cmbcontrol.design import PoleRegion, model_family, robust_state_feedback, with_payload
from tests.fixtures import ARMS, PAYLOAD_AT, PAYLOAD_POSES

PAYLOADS = (0.0, 2.0, 4.0)
# inside of the region: loaded machines rest aside of their configurations
ROBUST_DESIGN = PoleRegion(decay=3.5, damping=0.6, radius=40.0)


@pytest.fixture(scope="module")
def machines(plant):
    return {f"{m:g} kg": with_payload(plant, "left_upper", m, PAYLOAD_AT) for m in PAYLOADS}


@pytest.fixture(scope="module")
def models(machines):
    return model_family(machines, PAYLOAD_POSES, coordinates=ARMS)


@pytest.fixture(scope="module")
def robust(models):
    return robust_state_feedback(models, ROBUST_DESIGN)


@pytest.fixture(scope="module")
def pendulum():
    return plants.pendulum()
