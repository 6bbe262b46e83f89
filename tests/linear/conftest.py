"""Fixtures that the tests of `linear` share."""

import numpy as np
import pytest

from cmbcontrol import OperatingPoint, linearize, plants, trim
from tests import fixtures
from tests.fixtures import damped_five_bar, hang, sprung_five_bar


@pytest.fixture(scope="module")
def moving():
    """The five-bar with velocity and efforts."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    v = plant.project_velocity(q, [0.8, -0.3, 0.5, 1.0])
    return plant, OperatingPoint.at(plant, q, [3.0, -5.0], v)


@pytest.fixture(scope="module")
def spatial():
    """A machine of many joints with two loops, moving."""
    parts = fixtures.tree_parts(5, bodies=6, damped=True)
    more = {"springs": fixtures.springs(parts, 5), "actuators": fixtures.actuators(parts, 5)}
    plant, q = fixtures.close_parts(parts, 5, [fixtures.Spherical, fixtures.Distance], **more)
    q, v = fixtures.admissible_state(plant, q, 5)
    return plant, OperatingPoint.at(plant, q, np.linspace(-1.0, 1.0, plant.nu), v)


@pytest.fixture(scope="module")
def arm():
    plant = plants.five_bar()
    return plant, trim(plant, plant.assemble(left=2.1, right=1.0))


@pytest.fixture(scope="module")
def hanging():
    plant = sprung_five_bar()
    return plant, trim(plant, plant.assemble(left=-1.3, right=-1.9), free="all", u=0.0)


@pytest.fixture(scope="module")
def hanging_model():
    """Hanging symmetrically, damped."""
    plant = damped_five_bar()
    return linearize(plant, hang(plant), coordinates=("left", "right"))
