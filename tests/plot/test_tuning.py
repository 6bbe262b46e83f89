"""How a search went: every run, the best so far, and runs that failed."""

import numpy as np
import pytest

from cmbcontrol import plants, simulate
from cmbcontrol.design import Range, tune
from cmbcontrol.errors import SimulationError
from cmbcontrol.plot.tuning import tuning
from tests.fixtures import drawn_curve


@pytest.fixture(scope="module")
def found():
    """A parabola with its lowest point at gain = 3, whose runs fail above 7."""
    plant = plants.pendulum()
    run = simulate(plant, q0=plant.assemble(angle=0.1), t_end=0.01, output_times=0.01)
    tried = []

    def make(gain):
        if gain > 7.0:
            raise SimulationError("too stiff")
        tried.append(gain)
        return run

    return tune(make, {"gain": Range(0.5, 8.0, log=True)}, lambda run: 1.0 + (tried[-1] - 3.0) ** 2, max_evaluations=25)


def test_every_run_is_drawn(found):
    figure = tuning(found)
    cost, gain = figure.axes
    data = found.data
    failed = data["failed"].values
    assert failed.any() and not failed.all()
    shown = drawn_curve(cost, "run")
    np.testing.assert_array_equal(shown, [data["evaluation"].values[~failed], data["cost"].values[~failed]])
    np.testing.assert_allclose(shown[1], 1.0 + (data["gains"].values[~failed, 0] - 3.0) ** 2)
    best = drawn_curve(cost, "best")[1]
    assert (np.diff(best[np.isfinite(best)]) <= 0.0).all() and best[-1] == shown[1].min()
    assert drawn_curve(cost, "failed run")[0].tolist() == data["evaluation"].values[failed].tolist()
    assert gain.get_yscale() == "log" and gain.get_ylabel() == "gain"


def test_what_is_no_search():
    with pytest.raises(TypeError, match="result"):
        tuning({"gain": 1.0})
