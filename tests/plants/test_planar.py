"""Two bars between two points."""

import numpy as np
import pytest

from cmbcontrol.plants.planar import two_bar


@pytest.mark.parametrize("side", [1, -1])
def test_two_bars(side):
    first, second = two_bar((0.5, 0.4), 0.6, 0.3, side, "they")
    a, b = (np.array([np.cos(x), np.sin(x)]) for x in (first, second))
    assert 0.6 * a + 0.3 * b == pytest.approx([0.5, 0.4], abs=1e-15)
    assert np.sign(0.5 * a[1] - 0.4 * a[0]) == side
