"""Nyquist and Nichols curves: what is drawn is the loop, and the disk touches it."""

import numpy as np
import pytest

from cmbcontrol import Constant, linearize_closed_loop, plants, plot
from cmbcontrol.controllers import ProjectedInverseDynamics
from cmbcontrol.plot.loops import loop_gains, noise


@pytest.fixture(scope="module", params=[None, 0.005])
def loop(request):
    plant, goal = plants.five_bar(), Constant([2.1, 1.0])
    gains = {"kp": [40, 80], "kd": [5, 18], "period": request.param}
    return linearize_closed_loop(plant, ProjectedInverseDynamics(plant, ("left", "right"), goal, **gains))


def named(ax):
    return {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}


def test_no_nyquist_curve_enters_the_disk_and_one_touches_it(loop):
    ax = plot.nyquist(loop).axes[0]
    (disk,) = ax.patches
    radius = np.abs(disk.get_xy() @ [1.0, 1j] + 1.0).max()
    curves = named(ax)
    near = min(np.nanmin(np.abs(x.get_xdata() + 1j * x.get_ydata() + 1.0)) for x in curves.values())
    assert set(curves) == {"left", "right"}
    assert radius == pytest.approx(min(m.modulus for m in loop.margins().loops))
    assert radius * (1.0 - 1e-9) < near < 1.001 * radius


def test_nichols_is_the_same_curve(loop):
    nyquist, nichols = (named(f(loop).axes[0])["left"] for f in (plot.nyquist, plot.nichols))
    L = 10.0 ** (nichols.get_ydata() / 20.0) * np.exp(1j * np.radians(nichols.get_xdata()))
    drawn = nyquist.get_xdata() + 1j * nyquist.get_ydata()
    known = np.isfinite(drawn)
    assert known.any() and np.abs(L - drawn)[known].max() < 1e-9 * np.abs(drawn[known]).max()


def test_gains_and_noise_name_the_motors(loop):
    assert set(named(loop_gains(loop).axes[0])) == set(named(noise(loop).axes[0])) == {"left", "right"}
