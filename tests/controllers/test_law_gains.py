"""A law with a corner has no slope there."""

import numpy as np
import pytest

from cmbcontrol import (
    OperatingPoint,
    linearize_closed_loop,
)
from tests.fixtures import actuated_pendulum


def test_a_law_with_a_corner():
    plant = actuated_pendulum()

    def law(t, terms, state):
        return np.array([np.clip(30.0 * (1.2 - terms.q[0]), -2.0, 4.905 * np.cos(1.2)) - 3.0 * np.abs(terms.v[0])])

    for angle, name in ((1.0, "pivot_rate"), (1.2 - 4.905 * np.cos(1.2) / 30.0, "pivot")):
        with pytest.raises(ValueError, match=rf"law law along {name} is not smooth here: its slope is .*saturated"):
            linearize_closed_loop(plant, law, OperatingPoint.at(plant, [angle]), settle=False)
