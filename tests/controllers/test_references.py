"""References: rates are derivatives, ends are at rest."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant
from cmbcontrol.controllers import ProjectedInverseDynamics


def test_a_reference_may_return_lists(plant, terms):
    law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.0, 1.0]), bandwidth=8.0)
    lists = ProjectedInverseDynamics(plant, ("left", "right"), lambda t: ([2, 1], (0, 0), [0.0, 0.0]), bandwidth=8.0)
    assert lists(0.0, terms, np.zeros(0)).tolist() == law(0.0, terms, np.zeros(0)).tolist()


class TestReferences:
    @pytest.mark.parametrize(
        "reference",
        [
            cmb.Constant([1.0, 2.0]),
            cmb.Sine([1.0, 2.0], [0.1, 0.2], 0.7, [0.0, 1.0]),
            cmb.Quintic([0.0, 1.0], [1.0, -1.0], duration=2.0),
            cmb.Spline([0.0, 1.0, 2.0, 3.0], [[0.0, 1.0], [1.0, 0.0], [0.5, 2.0], [0.0, 0.0]]),
        ],
        ids=lambda r: type(r).__name__,
    )
    def test_rates_are_derivatives(self, reference):
        for t in (0.3, 0.9, 1.7):
            h = 1e-5
            (a, da, _), (b, db, _) = reference(t - h), reference(t + h)
            _, rate, acceleration = reference(t)
            assert (b - a) / (2 * h) == pytest.approx(rate, abs=1e-6)
            assert (db - da) / (2 * h) == pytest.approx(acceleration, abs=1e-5)

    def test_quintic_rests_at_both_ends(self):
        r = cmb.Quintic([0.0], [1.0], duration=2.0, begin=1.0)
        for t, x in ((0.0, 0.0), (1.0, 0.0), (3.0, 1.0), (9.0, 1.0)):
            assert [float(part[0]) for part in r(t)] == [x, 0.0, 0.0]

    def test_bad_references(self):
        with pytest.raises(ValueError, match="contradict"):
            cmb.Sine([1.0, 2.0], [1.0, 2.0, 3.0], 1.0)
        with pytest.raises(ValueError, match="duration"):
            cmb.Quintic([0.0], [1.0], duration=0.0)
        with pytest.raises(ValueError, match="must increase"):
            cmb.Spline([0.0, 0.0], [[1.0], [2.0]])
        with pytest.raises(ValueError, match="finite"):
            cmb.Constant([np.nan])


def test_what_a_reference_returns_and_is_called_with_is_said():
    def made(reference):
        return ProjectedInverseDynamics(cmb.plants.five_bar(), ("left", "right"), reference, bandwidth=8.0)

    with pytest.raises(ValueError, match=r"tuple \(position, velocity, acceleration\).*got one array of shape \(2,\)"):
        made(lambda t: np.array([2.1, 1.0]))
    with pytest.raises(TypeError, match=r"the reference is called as \(t\), and this one takes \(\)"):
        made(lambda: 0.0)
    assert repr(cmb.Spline([0.0, 1.0], [[0.0, 1.0], [1.0, 1.0]])) == "<Spline: 2 positions at 2 times from 0 to 1 s>"


def test_a_law_refuses_another_reference_that_does_not_fit_at_once():
    law = ProjectedInverseDynamics(cmb.plants.five_bar(), ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
    with pytest.raises(ValueError, match=r"of shape \(2,\) each"):
        law.with_reference(Constant([2.1, 1.0, 0.5]))
    with pytest.raises(TypeError, match="must be callable"):
        law.with_reference([2.1, 1.0])
