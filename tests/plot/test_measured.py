"""Figures of measured responses: marks on the lines of the linear model, units, coherence below."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants, plot
from cmbcontrol.controllers import ProjectedInverseDynamics
from cmbcontrol.errors import InputError


@pytest.fixture(scope="module")
def found():
    plant = plants.five_bar()
    law = ProjectedInverseDynamics(plant, ("left", "right"), cmb.Constant([2.1, 1.0]), bandwidth=8.0)
    between, omega = ("left_ref", ("left", "left_rate", "left_effort")), [2.0, 8.0, 30.0]
    return cmb.frequency_response(
        plant, law, between=between, omega=omega, amplitude=[1e-5, 2e-5], excitation="multisine", workers=1
    )


def test_marks_are_on_the_lines(found):
    figure = found.plot()
    axes = np.array(figure.axes).reshape(3, 3)
    for column in axes.T:
        for panel, tolerance in zip(column[:2], (1e-4, 1e-2), strict=True):  # relative; degrees
            line, *marks = panel.lines
            assert len(marks) == 2  # one for each amplitude
            for mark in marks:
                at = np.interp(mark.get_xdata(), line.get_xdata(), line.get_ydata())
                assert mark.get_ydata() == pytest.approx(at, rel=tolerance, abs=tolerance * (panel is column[1]))
        assert column[2].lines[0].get_ydata() == pytest.approx(np.ones(3), abs=1e-6)
    assert [ax.get_ylabel() for ax in axes[0]] == ["gain", "gain (1/s)", "gain (N m/rad)"]
    assert axes[2, 0].get_xlabel() == "frequency (rad/s)"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "linear model",
        "measured, 1e-05 rad",
        "measured, 2e-05 rad",
    ]


def test_decibel_and_chosen_outputs(found):
    figure = plot.measured_response(found, outputs=["left_effort"], dB=True)
    gain = figure.axes[0]
    assert gain.get_yscale() == "linear" and gain.get_ylabel() == "gain (dB of 1 N m/rad)"
    size = np.abs(found.data["response"].sel(output="left_effort").values[0])
    assert gain.lines[1].get_ydata() == pytest.approx(20.0 * np.log10(size))
    with pytest.raises(InputError, match="names none"):
        plot.measured_response(found, outputs=[])
    with pytest.raises(InputError, match="left_efort"):
        plot.measured_response(found, outputs=["left_efort"])
