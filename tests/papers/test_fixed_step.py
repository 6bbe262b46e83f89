"""The papers' own loops: orders of fixed steps."""

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.dynamics import acceleration
from cmbcontrol.papers import aghili, spencer
from cmbcontrol.papers.fixed_step import march
from cmbcontrol.papers.formulations import NamedFormulation
from cmbcontrol.plants.five_bar import configuration


def test_order_four():
    def off(step):
        run = march(lambda t, q, v: -q + np.cos(2.0 * t), np.ones(1), np.zeros(1), t_end=2.0, step=step)
        assert run.evaluations == 4 * run.steps and run.time[-1] == pytest.approx(2.0)
        return abs(run.q[-1, 0] - (4.0 * np.cos(2.0) - np.cos(4.0)) / 3.0)

    assert off(0.1) / off(0.05) == pytest.approx(16.0, rel=0.1)


def test_corrections_take_effect_and_are_counted():
    run = march(
        lambda t, q, v: 0.0 * q,
        np.zeros(1),
        np.ones(1),
        t_end=1.0,
        step=0.1,
        correct=lambda k, q, v: (q, 0.5 * v) if k == 5 else None,
    )
    assert run.corrected.tolist() == [5] and run.q[-1, 0] == pytest.approx(0.75)


def test_the_step_of_the_thesis_is_the_toolbox_formulation_at_regular_poses():
    plant, rng = plants.five_bar(cut="right"), np.random.default_rng(3)
    for _ in range(20):
        q = configuration(plant, "asymmetric") + 0.3 * rng.standard_normal(4)  # off the loops, too
        terms = plant.terms(q, rng.standard_normal(4))
        named = acceleration(terms, np.zeros(4), formulation=NamedFormulation("null-space-svd"))
        assert spencer.null_space_step(terms) == pytest.approx(named, abs=1e-9)
    assert np.isfinite(spencer.null_space_step(plant.terms(configuration(plant, "singular"), np.zeros(4)))).all()


def test_the_threshold_drops_the_loop_and_nothing_else():
    plant = plants.slider_crank()
    width = np.arcsin(0.2 / np.sqrt(5.0))
    for inside, q1 in ((True, 0.5 * np.pi + 0.99 * width), (False, 0.5 * np.pi - 1.01 * width)):
        terms = plant.terms([q1, -2.0 * q1], [1.0, -2.0])
        way = NamedFormulation("aghili", pseudoinverse=aghili.above(0.2))
        loose = np.linalg.solve(terms.M, -terms.h)
        right = loose if inside else acceleration(terms, np.zeros(2))
        assert way.acceleration(terms, np.zeros(2)) == pytest.approx(right, abs=1e-10)
