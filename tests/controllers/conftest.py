"""Fixtures that the tests of `controllers` share."""

import pytest

from cmbcontrol import plants
from cmbcontrol.controllers import WithModel
from tests.fixtures import five_bar, five_bar_law


@pytest.fixture(scope="module")
def loaded():
    """A fifth more mass on one link than the law's model knows."""
    plant = five_bar(0.2)
    return plant, WithModel(plants.five_bar(), five_bar_law(plants.five_bar()))
