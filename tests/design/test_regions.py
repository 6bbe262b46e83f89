"""Regions for poles: the inequalities are the region."""

import numpy as np
import pytest

from cmbcontrol.design import PoleRegion


@pytest.mark.parametrize("period", [None, 0.03])
@pytest.mark.parametrize(
    "region",
    [
        PoleRegion(decay=1.0),
        PoleRegion(decay=0.5, damping=0.5),
        PoleRegion(radius=8.0, center=-2.0),
        PoleRegion(frequency=4.0),
        PoleRegion(decay=1.0, damping=0.7, radius=12.0, frequency=6.0),
    ],
)
def test_inequalities_of_a_region_are_the_region(region, period):
    """With X = 1 a number z is in the region where all L + z U + conj(z) U' < 0."""
    rng = np.random.default_rng(3)
    s = rng.uniform(-15.0, 3.0, 4000) + 1j * rng.uniform(-12.0, 12.0, 4000)
    z = s if period is None else np.exp(s * period)
    parts = region.inequalities(period)

    def inside(z):
        return all(np.linalg.eigvalsh(p.L + z * p.U + np.conj(z) * p.U.T)[-1] < 0.0 for p in parts)

    found, wanted = np.array([inside(x) for x in z]), np.array([region.contains(x) for x in s])
    assert wanted.sum() > 100
    if period is None:
        assert (found == wanted).all()
    else:  # the images of disk and sector are replaced by smaller ones
        assert not (found & ~wanted).any()
        assert found.sum() > 0.6 * wanted.sum()


def test_regions_that_make_no_sense():
    with pytest.raises(ValueError, match="empty"):
        PoleRegion(decay=5.0, radius=4.0)
    with pytest.raises(ValueError, match="below 1"):
        PoleRegion(damping=1.0)
    with pytest.raises(ValueError, match="quarter of the sampling"):
        PoleRegion(frequency=100.0).inequalities(0.02)
    assert PoleRegion(decay=1.0).margins([-3.0, -1.5]) == {"decay": 0.5}
    assert not PoleRegion(damping=0.5).contains([0.0]) and PoleRegion().contains([-np.inf + 0j])
