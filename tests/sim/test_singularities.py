"""Rank along a run, with hysteresis."""

import numpy as np
import pytest

from cmbcontrol.sim.singularities import hysteresis_rank


def test_rank_does_not_flicker_with_noise():
    rng = np.random.default_rng(3)
    t = np.linspace(-1.0, 1.0, 2001)
    ratio = np.abs(t) * 10.0 ** rng.uniform(-0.5, 0.5, t.size)
    ratios = np.stack([np.ones(t.size), ratio], axis=1)
    plain = (ratios > 0.03).sum(axis=1)
    steady = hysteresis_rank(ratios, 0.01, 0.1)
    assert np.abs(np.diff(plain)).sum() > 20
    assert np.abs(np.diff(steady)).sum() == 2 and steady[[0, 1000, -1]].tolist() == [2, 1, 2]
    with pytest.raises(ValueError, match="low must not be above high"):
        hysteresis_rank(ratios, 0.1, 0.01)
