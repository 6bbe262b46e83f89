"""Bounds of mu over frequency."""

import numpy as np
import pytest

from cmbcontrol.linear import UncertainBlock, robust_stability
from cmbcontrol.plot.figure import narrow
from cmbcontrol.plot.mu import mu
from tests.fixtures import drawn_curve
from tests.whole.test_labels import faults

# mass on a spring with an uncertain damper: M = -r s/(s^2 + 0.2 s + 1), largest at 1 rad/s, where it is 5 r
A, C, D = np.array([[0.0, 1.0], [-1.0, -0.2]]), np.array([[0.0, 1.0]]), np.zeros((1, 1))


def found(share, kind="complex", tolerance=1e-3, dt=0.0):
    B = np.array([[0.0], [-share]])
    return robust_stability((A, B, C, D, dt), [UncertainBlock(kind, name="damping")], tolerance)


def test_the_curve_is_mu_at_each_frequency():
    """Of one complex number mu is the gain."""
    stability = found(0.1)
    figure = mu(stability)
    ax = figure.axes[0]
    omega, y = drawn_curve(ax, "bound at each frequency")
    s = 1j * omega
    np.testing.assert_allclose(y, np.abs(0.1 * s / (s * s + 0.2 * s + 1.0)), rtol=2e-4, atol=1e-9)
    tried = stability.frequencies[(stability.frequencies >= omega[0]) & (stability.frequencies <= omega[-1])]
    assert len(omega) >= 100 and np.isin(tried, omega).all() and omega[0] < 0.9 < 1.1 < omega[-1]
    assert ax.get_ylabel() == "structured singular value mu (1)" and ax.get_xlabel() == "frequency (rad/s)"
    assert ax.get_xscale() == "log" and ax.get_ylim()[0] == 0.0
    assert faults(figure) == ([], [])
    with narrow():
        assert faults(mu(stability)) == ([], [])


@pytest.mark.parametrize("share, certified", [(0.1, True), (0.4, False)])
def test_level_line_at_one_and_what_was_found(share, certified):
    """Of a real number mu is 5 share, at 1 rad/s alone."""
    stability = found(share, "real")
    ax = mu(stability).axes[0]
    (level,) = [line for line in ax.lines if str(line.get_label()).startswith("proven at all frequencies")]
    assert level.get_ydata()[0] == stability.upper == pytest.approx(5.0 * share, rel=2e-3)
    (reached,) = [line for line in ax.lines if line.get_marker() == "o"]
    assert np.ravel(reached.get_data()) == pytest.approx([1.0, 5.0 * share], rel=1e-4)
    assert reached.get_label() == f"reached, at 1 rad/s: {5.0 * share:.4g}"
    assert "1: certified below" in [t.get_text() for t in ax.get_legend().get_texts()]
    assert ax.get_title().startswith("certified: stable" if certified else "not certified: one of 0.5 of the size")
    assert ax.get_ylim()[1] > max(1.0, stability.upper)
    assert drawn_curve(ax, "bound at each frequency")[1].max() <= stability.upper


def test_frequencies_of_a_sampled_system_end_at_half_of_its_sampling():
    """1 share / (z - 0.5) with 0.1 s: gains from 2 share at rest to share / 1.5."""
    stability = robust_stability(
        ([[0.5]], [[1.0]], [[0.4]], [[0.0]], 0.1), [UncertainBlock("complex", name="gain")], 1e-3
    )
    ax = mu(stability).axes[0]
    omega, y = drawn_curve(ax, "bound at each frequency")
    np.testing.assert_allclose(y, 0.4 / np.abs(np.exp(0.1j * omega) - 0.5), rtol=2e-4)
    assert omega[-1] == pytest.approx(np.pi / 0.1)
    (reached,) = [line for line in ax.lines if line.get_marker() == "o"]  # at rest: at the edge, as the name tells
    assert reached.get_xdata()[0] == omega[0] and reached.get_label() == "reached, at 0 rad/s: 0.8"


def test_frequencies_that_are_given_and_heights_of_many_decades():
    stability = found(4.0)
    omega = np.geomspace(1e-3, 1e3, 13)
    ax = mu(stability, omega).axes[0]
    np.testing.assert_array_equal(drawn_curve(ax, "bound at each frequency")[0], omega)
    assert ax.get_yscale() == "log"
    assert mu(stability, [0.0, 0.1, 10.0]).axes[0].get_xlim() == (0.1, 10.0)
    with pytest.raises(ValueError, match="omega must be frequencies >= 0"):
        mu(stability, [-1.0])


def test_a_system_without_a_proof():
    unstable = robust_stability((-A, [[0.0], [-1.0]], C, D), [UncertainBlock("real")])
    with pytest.raises(ValueError, match="not stable even without uncertainty"):
        mu(unstable)
    with pytest.raises(TypeError, match=r"stability .*robust_stability"):
        mu(0.5)
