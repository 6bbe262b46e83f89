"""Blocks that land, as the time-stepping judge finds them; the large numbers are a command."""

import numpy as np
import pytest

from . import moreau


@pytest.mark.slow
def test_the_judge_knows_a_bounce():
    """One corner below the centre of mass: a ball that falls 0.1 m and rises to e^2 of it."""
    fall = np.sqrt(0.2 / 9.81)
    top = np.array([fall + 0.5 * fall])  # after the impact, half as fast
    q = moreau.landed(
        np.array([0.0, 0.1, 0.0]), np.zeros(3), np.array([[0.0, 0.0]]), 1.0, 1.0, 0.5, 0.5, 1e-3, 1e-4, top
    )
    assert q[0] == pytest.approx([0.0, 0.025, 0.0], abs=2e-4)  # of the order of a step's way


@pytest.mark.slow
@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", [4, 22, 52, 88, 148])  # corners that slide, stick, bounce and rest
def test_blocks_land_as_the_judge_says(seed):
    times, apart = moreau.trial(seed)
    assert times == moreau.TIMES.size and apart <= 1.0
