"""The margin over time, with its losses marked."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol.controllers.actuation import actuation_along


class TestFigure:
    def test_the_margin_falls_at_the_pose_and_is_marked(self, passage):
        from cmbcontrol import plot

        plant, run = passage
        ax = plot.actuation(run).axes[0]
        curve, threshold, mark = ax.lines
        assert curve.get_ydata().min() == 0.0 and curve.get_ydata().max() == pytest.approx(1.0 / np.sqrt(5.0))
        assert threshold.get_label() == "threshold 0.01" and mark.get_label() == "q2 lost at 1.01 s"
        data = actuation_along(plant, run, epsilon=0.2, margin=0.1)
        again = plot.actuation(data, ax=ax)
        assert again is ax.figure and "threshold 0.1" in ax.get_legend_handles_labels()[1]

    def test_refusals(self, passage):
        from cmbcontrol import plot

        plant, run = passage
        with pytest.raises(ValueError, match="has no plant"):
            plot.actuation(cmb.Simulation(run.data))
        with pytest.raises(TypeError, match="draws a run"):
            plot.actuation(run.data)
        with pytest.raises(TypeError, match="epsilon belong"):
            plot.actuation(actuation_along(plant, run), epsilon=0.1)
