"""Several runs of a machine in the same panels."""

import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, plants
from cmbcontrol.controllers import GravityPD
from cmbcontrol.plot import comparison


def run_of(plant, q0, kp):
    return cmb.simulate(plant, GravityPD(plant, Constant([2.2, 1.2]), kp=kp, kd=20.0), q0, t_end=0.1)


def test_each_coordinate_and_motor_has_a_panel_with_all_runs():
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    runs = {f"kp = {kp}": run_of(plant, q0, kp) for kp in (50, 100, 200)}
    figure = comparison(runs)
    assert [len(ax.lines) for ax in figure.axes] == [3] * 4
    assert [x.get_text() for x in figure.axes[0].get_legend().get_texts()] == list(runs)


def test_what_does_not_belong_together_is_refused():
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    free = cmb.simulate(plant, q0=q0, t_end=0.01)
    with pytest.raises(ValueError, match="'free' has other coordinates"):
        comparison({"held": run_of(plant, q0, 50), "free": free})
    with pytest.raises(ValueError, match="no runs"):
        comparison({})
    with pytest.raises(TypeError, match="the run 'a'"):
        comparison({"a": 3})
