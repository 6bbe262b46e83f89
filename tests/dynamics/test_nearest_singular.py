"""The singular configuration near a configuration."""

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.dynamics.nearest_singular import nearest_singular_configuration
from cmbcontrol.dynamics.singular import singular_configuration
from cmbcontrol.errors import SingularConfigurationError
from cmbcontrol.plants.five_bar import configuration as five_bar_configuration
from cmbcontrol.plants.n_four_bar import configuration as chain_configuration
from cmbcontrol.plants.parallel_four_bar import configuration as two_freedoms_configuration
from cmbcontrol.plants.parallelogram import configuration as links_configuration
from tests.fixtures import bars, triangle


@pytest.mark.parametrize(
    ("make", "at"),
    [
        (plants.slider_crank, lambda plant: np.array([np.pi / 2.0, -np.pi])),
        (plants.five_bar, lambda plant: five_bar_configuration(plant, "singular")),
        (lambda: plants.five_bar(closure="revolute"), lambda plant: five_bar_configuration(plant, "singular")),
        (lambda: plants.n_four_bar(3), lambda plant: chain_configuration(3, np.pi)),
        (plants.parallelogram, lambda plant: links_configuration(0.0)),
        (lambda: triangle(3.0), lambda plant: np.zeros(2)),
    ],
    ids=["crank", "five-bar", "redundant", "chain", "parallelogram", "locked"],
)
def test_nearest_singular_pose_is_exact(make, at):
    plant = make()
    exact = at(plant)
    for size in (0.0, 1e-8, 1e-3, 1e-2):
        if plant.name == "triangle" and size > 0.0:
            continue  # there are no closed configurations beside it
        beside = exact + size * np.sin(1.0 + np.arange(exact.size))
        found = nearest_singular_configuration(plant, beside)
        assert found == pytest.approx(exact, abs=1e-13)


def test_nearest_of_a_family_is_found():
    plant = plants.parallel_four_bar()
    found = nearest_singular_configuration(plant, two_freedoms_configuration(1.23, 1.2))
    assert found[0] == pytest.approx(found[1], abs=1e-13) and 1.19 < found[0] < 1.24
    assert singular_configuration(plant, found).rank == 1


def test_far_and_missed_poses_are_refused():
    plant = plants.parallelogram()
    with pytest.raises(SingularConfigurationError, match="no singular configuration"):
        nearest_singular_configuration(plant, links_configuration(1.0))
    longer = bars(2.5 - 1e-6)
    with pytest.raises(SingularConfigurationError, match="passes near a singular configuration, not through it"):
        nearest_singular_configuration(longer, longer.close([1e-3, -2e-3, 1e-3]))


def test_rows_that_depend_on_others_everywhere_are_no_smallest_gradient():
    """A five-bar closed by a revolute joint has three such rows; by a line it has none, and the same gradients."""
    told = []
    for closure in ("line", "revolute"):
        plant = plants.five_bar(closure=closure)
        q = plant.assemble(left=2.1, right=1.0)
        with pytest.raises(SingularConfigurationError, match="smallest independent constraint gradient") as caught:
            nearest_singular_configuration(plant, q, within=1e-3)
        told.append(float(str(caught.value).rpartition(" is ")[2].split()[0]))
    assert told[1] == pytest.approx(told[0], rel=0.01) and told[0] > 0.01
