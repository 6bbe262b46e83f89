"""Why a run ended, in words."""

import pytest

from cmbcontrol import plants
from cmbcontrol.plants.five_bar import configuration as five_bar_configuration
from cmbcontrol.sim.ending import near_the_end

pytestmark = pytest.mark.nojit_slow  # whole runs


def test_the_end_of_a_run_names_a_singular_pose_near_by():
    plant = plants.five_bar()
    q = five_bar_configuration(plant, "singular")
    assert "singular. 1 of 2 rows" in near_the_end(plant, q + 1e-4)
    assert near_the_end(plant, five_bar_configuration(plant, "open")) == ""
