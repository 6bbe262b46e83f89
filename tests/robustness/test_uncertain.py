"""Uncertain models of random machines against machines built anew; `uncertain` looks at more of them."""

import dataclasses

import pytest

from cmbcontrol.linear import uncertain_model
from tests.seeds import rotating

from . import uncertain


def require_good(seeds, points):
    """Models that are exact are so; of those with a bound by samples, few go beyond it at other points."""
    found = [(seed, *answer) for seed in seeds for answer in uncertain.run_trial(seed, points)]
    wrong = [answer for answer in found if answer[2] not in ("ok", "none")]
    assert not [answer for answer in wrong if answer[1] != "bounded"]
    bounded = [answer for answer in found if answer[1] == "bounded"]
    assert len(wrong) <= 1 + len(bounded) // 10, wrong
    return {answer[1] for answer in found}


@pytest.mark.nojit_slow
def test_models_of_random_machines():
    assert require_good(range(16), points=4) >= {"exact", "bounded"}


@pytest.mark.nojit_slow
def test_the_judge_sees_a_wrong_model():
    """Of a model whose coefficient of one parameter is off by a millionth."""
    case = uncertain.drawn(6)
    model = uncertain_model(case.plant, case.point, case.intervals, coordinates=case.coordinates)
    assert model.remainder < uncertain.EXACT
    values = {p.name: p.low for p in model.parameters}
    lin = uncertain.anew(case, values)
    assert uncertain.apart(model, values, lin) < uncertain.EXACT
    assert uncertain.apart(dataclasses.replace(model, B_w=model.B_w * (1.0 + 1e-6)), values, lin) > uncertain.EXACT


@pytest.mark.slow
@pytest.mark.nojit_slow
@pytest.mark.rotates
def test_more_models_of_random_machines():
    assert "exact" in require_good(rotating(60), points=10)
