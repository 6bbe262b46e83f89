"""Fixtures that the tests of `controllers` share."""

import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import WithModel
from tests.fixtures import five_bar, five_bar_law


@pytest.fixture(scope="module")
def lin(plant):
    point = cmb.trim(plant, plant.assemble(left=2.1, right=1.0))
    return cmb.linearize(plant, point, coordinates=("left", "right"))


@pytest.fixture(scope="module")
def loaded():
    """A fifth more mass on one link than the law's model knows."""
    plant = five_bar(0.2)
    return plant, WithModel(plants.five_bar(), five_bar_law(plants.five_bar()))
