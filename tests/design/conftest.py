"""Fixtures that the tests of `design` share."""

import pytest

from cmbcontrol import plants
from cmbcontrol.design import poses_and_payloads, robust_state_feedback, with_payload
from tests.fixtures import ARMS, PAYLOAD_AT, PAYLOAD_POSES, PAYLOADS, ROBUST_DESIGN


@pytest.fixture(scope="module")
def machines(plant):
    return {f"{m:g} kg": with_payload(plant, "left_upper", m, PAYLOAD_AT) for m in PAYLOADS}


@pytest.fixture(scope="module")
def models(machines):
    return poses_and_payloads(machines, PAYLOAD_POSES, coordinates=ARMS)


@pytest.fixture(scope="module")
def robust(models):
    return robust_state_feedback(models, ROBUST_DESIGN)


@pytest.fixture(scope="module")
def pendulum():
    return plants.pendulum()
