"""Fixtures that the tests of `plot` share."""

import matplotlib
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.plants.five_bar import configuration


@pytest.fixture(autouse=True)
def nothing_global_changes():
    """No figure is left open, no setting of matplotlib changes."""
    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before
    from matplotlib import pyplot

    assert pyplot.get_fignums() == []


@pytest.fixture(scope="module")
def free():
    """A motion through the singular configuration of the five-bar, at 0.651 s."""
    plant = plants.five_bar()
    return cmb.simulate(plant, q0=configuration(plant, "second"), t_end=0.7, output_times=0.01)
