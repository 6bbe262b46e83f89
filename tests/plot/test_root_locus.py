"""Root loci in the complex plane."""

import numpy as np
from matplotlib.figure import Figure

from cmbcontrol import root_locus
from tests.fixtures import drawn_curve


def test_root_locus_shows_branches_ends_and_crossings():
    locus = root_locus(
        lambda c: [[0.0, 1.0], [-4.0, 1.0 - c]], np.linspace(0.0, 8.0, 17), parameter="damping", unit="1/s"
    )
    figure = locus.plot()
    figure.draw_without_rendering()
    (ax,) = figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("real part (1/s)", "imaginary part (rad/s)")
    texts = [t.get_text() for t in ax.get_legend().get_texts()]
    assert texts == ["damping = 0 1/s", "damping = 8 1/s", "on the border: 1 1/s"]
    start, end, border = (drawn_curve(ax, text) for text in texts)
    np.testing.assert_allclose(np.abs(start[0] + 1j * start[1]), 2.0)
    np.testing.assert_allclose(sorted(border[1]), [-2.0, 2.0])
    np.testing.assert_allclose(end[1], 0.0, atol=1e-12)
    assert {"damping 0.2", "0.8"} <= {t.get_text() for t in ax.texts}
    for values in (start, end, border):
        assert ax.get_xlim()[0] < values[0].min() and values[0].max() < ax.get_xlim()[1]


def test_root_locus_in_sampled_time_has_the_unit_circle():
    ax = Figure().add_subplot()
    locus = root_locus(lambda k: [[1.0 - 0.1 * k]], [0.0, 15.0, 25.0], period=0.1, ratio=0.2)
    assert locus.plot(ax=ax) is ax.figure
    assert ax.get_xlabel() == "real part (1)" and ax.get_aspect() == 1.0
    radii = [np.hypot(*line.get_data()) for line in ax.lines]
    assert any(len(r) > 100 and np.allclose(r, 1.0) for r in radii)
    assert locus.plot(grid=False).axes[0].texts[:] == []
