"""Published data, and runs measured against a reference."""

import numpy as np
import pytest

from cmbcontrol.papers import iftomm, measure

# -- data -------------------------------------------------------------------------------------------------------------


def test_published_data_are_complete():
    data = measure.published("iftomm")
    for problem in ("A01", "A02", "A04", "A05"):
        assert all(entry["of"] in data["sources"] and entry["seconds"] > 0 for entry in data[problem]["cpu"])
        if "curve" in data[problem]:
            curve = measure.curve(data[problem]["curve"]["file"])
            assert np.all(np.diff(curve[:, 0]) > 0) and np.isfinite(curve).all()
    points = measure.curve("iftomm_a02_n40_b0.csv")
    assert np.abs(iftomm.four_bar_motion(40, points[:, 0])[0] - points[:, 1:]).max() < 4.2e-6


# -- runs -------------------------------------------------------------------------------------------------------------


def test_what_stops_is_measured_as_far_as_it_came():
    problem = iftomm.pendulum_problem(10.0, 100)
    run = problem.measure("few steps", method="rodas5p", max_steps=20)
    assert not run.finished and run.outcome.startswith("stops at") and np.isnan(run.largest)
    assert 0 < run.error.shape[0] < 101 and run.error.max() < 1e-4
    assert run.cells[2] is None and run.cells[1] == run.outcome
    with pytest.raises(TypeError, match="step"):
        problem.measure("refused", method="rk4")


def test_measured_runs_tell_their_cost():
    problem = iftomm.pendulum_problem(0.5, 5)
    explicit, implicit = problem.measure("a"), problem.measure("b", method="rodas5p", rtol=1e-4, atol=1e-4)
    assert explicit.cost == explicit.count("evaluations") == explicit.run.data.attrs["evaluations"]
    assert implicit.cost == implicit.count("evaluations") + 3 * implicit.count("jacobians") > implicit.count("steps")
    assert len(explicit.cells) == len(measure.columns())
    assert explicit.wall < 5.0
