"""Fixtures that the tests of `sim` share."""

import pytest

import cmbcontrol as cmb


@pytest.fixture(scope="module")
def cart():
    """A mass of 2 kg on a rail: dv/dt = u / 2."""
    return cmb.Mechanism(
        "cart",
        [cmb.Body("cart", 2.0, inertia=(1.0, 1.0, 1.0))],
        [cmb.Prismatic("x", "ground", "cart", axis=(1, 0, 0))],
        actuators=[cmb.Actuator("x")],
        gravity=(0.0, 0.0, 0.0),
    )
