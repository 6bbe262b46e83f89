"""Frequency responses."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from cmbcontrol import linearize, plants, plot, trim
from cmbcontrol.plants.five_bar import configuration
from tests.fixtures import drawn_curve


def test_bode_draws_the_frequency_response():
    plant = plants.five_bar()
    lin = linearize(plant, trim(plant, configuration(plant)), coordinates=("left", "right"))
    omega = np.logspace(-1, 2, 40)
    figure = plot.bode(lin, omega)
    figure.draw_without_rendering()
    gain, phase = figure.axes[1], figure.axes[3]
    assert figure.axes[0].get_ylabel() == "gain (rad/(N m))"
    assert figure.axes[2].get_ylabel() == "phase (deg)"
    assert phase.get_xlabel() == "frequency (rad/s)" and gain.get_title() == "from right_effort (N m)"
    response = np.array([lin.C @ np.linalg.solve(1j * w * np.eye(4) - lin.A, lin.B) for w in omega])
    np.testing.assert_allclose(drawn_curve(gain, "left")[1], np.abs(response[:, 0, 1]), rtol=1e-9)
    assert [t.get_text() for t in gain.get_legend().get_texts()] == ["left", "right"]


def test_bode_of_an_input_that_does_not_act():
    plant = plants.particle_on_circle()
    lin = linearize(plant, trim(plant, plant.neutral()), coordinates=("q2",))  # f1 points outwards
    assert len(plot.bode(lin).axes) == 4


def test_bode_needs_inputs_and_fitting_axes():
    plant = plants.five_bar()
    point = trim(plant, configuration(plant))
    with pytest.raises(ValueError, match="'five-bar' has no inputs"):
        plot.bode(linearize(plant, point, inputs=()))
    with pytest.raises(ValueError, match=r"needs \(2, 2\) axes"):
        plot.bode(linearize(plant, point), axes=Figure().subplots(2, 1))
