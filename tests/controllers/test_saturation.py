"""Saturation at limits of any form."""

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.controllers import Saturation
from tests.fixtures import PERIOD, Asks, largest, sampled_efforts


def test_saturation_takes_the_limits_of_the_plant():
    plant = plants.five_bar(effort=40.0)
    law = Asks(lambda t: [100.0 * np.sin(50.0 * t), 30.0], plant=plant) | Saturation()
    u = sampled_efforts(plant, law, 100)
    assert u.max() == 40.0
    assert u.min() == -40.0
    inside = np.abs(u[:, 0]) < 40.0
    assert inside.any()
    assert u[inside, 0] == pytest.approx(100.0 * np.sin(50.0 * PERIOD * np.arange(100))[inside])
    assert largest(u[:, 1] - 30.0) == 0.0


@pytest.mark.parametrize(
    ("limits", "cut"), [(5.0, [5.0, -5.0]), ([5.0, 7.0], [5.0, -7.0]), ({"right": 3.0}, [50.0, -3.0])]
)
def test_limits_of_any_form(limits, cut):
    plant = plants.five_bar()
    law = [50.0, -60.0] | Saturation(limits, plant=plant)
    assert law(0.0, plant.terms(plant.assemble(), np.zeros(4)), np.zeros(0)) == pytest.approx(cut)


def test_wrong_limits():
    plant = plants.five_bar()
    law = Asks(lambda t: [0.0, 0.0], plant=plant)
    with pytest.raises(ValueError, match="did you mean 'left'"):
        law | Saturation({"lefft": 1.0})
    with pytest.raises(ValueError, match=r"number >= 0 or one for each motor, got -1"):
        law | Saturation(-1.0)
    with pytest.raises(ValueError, match=r"one entry for each motor \(left, right\), got shape \(3,\)"):
        law | Saturation([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"Saturation needs the plant for its effort limits, and <lambda> has none.*"):
        (lambda t, terms, state: np.zeros(2)) | Saturation()
    late = (lambda t, terms, state: np.zeros(2)) | Saturation([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="limits of Saturation must have one entry for each motor"):
        late.start(plant)
