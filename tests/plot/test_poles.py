"""Eigenvalues in the complex plane: what is drawn are those of the model."""

import dataclasses

import numpy as np
import pytest

from cmbcontrol import linearize, plants, trim
from cmbcontrol.plot.poles import poles
from tests.fixtures import matched


@pytest.fixture(scope="module")
def lin():
    """Upright: +- sqrt(3 g / 2) 1/s."""
    plant = plants.pendulum()
    return linearize(plant, trim(plant, plant.assemble(angle=0.5 * np.pi)))


def drawn(figure):
    (line,) = [line for line in figure.axes[0].lines if line.get_marker() == "x"]
    return np.array(line.get_xdata()) + 1j * np.array(line.get_ydata())


def test_of_a_model(lin):
    figure = poles(lin)
    rate = np.sqrt(1.5 * 9.81)
    found = drawn(figure)
    assert {round(x, 9) for x in found.real} == {round(rate, 9), round(-rate, 9)} and not found.imag.any()
    ax = figure.axes[0]
    assert ax.get_xlabel() == "real part (1/s)" and ax.get_ylabel() == "imaginary part (rad/s)"
    assert ax.get_xlim()[0] < -rate and ax.get_xlim()[1] > rate


def test_of_a_sampled_model(lin):
    """z = exp(s T)."""
    figure = poles(lin, lin.sampled(0.1))
    rate = np.sqrt(1.5 * 9.81)
    assert matched(drawn(figure), np.exp([0.1 * rate, -0.1 * rate])) < 1e-9
    assert figure.axes[0].get_title().endswith("sampled every 0.1 s")


def test_what_is_no_model():
    with pytest.raises(TypeError, match="lin"):
        poles(np.eye(2))


def test_poles_on_top_of_each_other_are_counted():
    """Three drives of a platform without gravity: six poles at the origin."""
    plant, q, _ = plants.catalogue["three-rrr"].start()
    ax = poles(linearize(plant, trim(plant, q))).axes[0]
    assert "6 times" in [text.get_text() for text in ax.texts]


def test_a_mechanism_without_motion_has_no_poles_to_draw():
    plant = plants.pendulum()
    lin = linearize(plant, trim(plant, plant.assemble(angle=0.5 * np.pi)))
    none = dataclasses.replace(
        lin,
        **{"A": np.zeros((0, 0)), "B": np.zeros((0, 1)), "C": np.zeros((1, 0)), "K": np.zeros((len(lin.K), 0))},
        **{"states": (), "state_units": (), "drift": np.zeros(0), "N": np.zeros((len(lin.K), 0))},
    )
    assert drawn(poles(none)).size == 0


@pytest.mark.parametrize("period", [1e-3, 1e-2])
def test_eigenvalues_of_fast_samples_are_told_apart(lin, period):
    figure = poles(lin, lin.sampled(period))
    (ax,) = figure.axes
    figure.canvas.draw()
    (crosses,) = [line for line in ax.lines if line.get_marker() == "x"]
    at = ax.transData.transform(crosses.get_xydata())
    apart = np.abs(at[:, None] - at[None]).max(axis=-1)[~np.eye(len(at), dtype=bool)]
    assert apart.min() > 7.0  # points: the size of a cross
    box = ax.get_window_extent()
    assert all(box.contains(*place) for place in at)
    assert ax.get_position().width > 0.2  # the names of lines out of sight take no room from the drawing


def test_integrators_in_sampled_time_stand_on_the_whole_circle():
    """A bar held level: the moment of its weight has an extremum there, and both eigenvalues are 0."""
    plant = plants.pendulum()
    lin = linearize(plant, trim(plant, plant.assemble(angle=0.0)))
    ax = poles(lin, lin.sampled(1e-3)).axes[0]
    assert ax.get_xlim()[0] < -1.0 and "2 times" in [text.get_text() for text in ax.texts]
