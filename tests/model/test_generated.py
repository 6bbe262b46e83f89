"""Which rows generated code keeps: the first that are independent, far from others, and not rounding."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol._jit import JIT_ENABLED
from cmbcontrol.model.generated import code_at, code_of, independent_rows
from cmbcontrol.plants.five_bar import configuration
from cmbcontrol.trace import code as trace

from ..trace.test_functions import random_machine

needs_jit = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")


@pytest.fixture(autouse=True)
def switched_on(monkeypatch):
    monkeypatch.setattr(trace, "CHOICE", "generated")


def conditioning(terms, rows):
    G = np.linalg.solve(np.linalg.cholesky(terms.M), (terms.row_scale[:, None] * terms.A).T).T
    s = np.linalg.svd(G[rows], compute_uv=False)
    return s[-1] / s[0] if s.size else 1.0


@pytest.mark.slow
def test_rows_are_as_many_as_the_rank_and_independent():
    looked = 0
    for seed in range(300):
        found = random_machine(seed)
        if found is None:
            continue
        plant, q = found
        terms = plant.terms(q, np.zeros(plant.nv))
        rows = independent_rows(terms)
        assert rows == sorted(set(rows))
        if len(rows) == terms.rank:
            looked += 1
            ratio = terms.pivots[terms.rank - 1] / terms.pivots[0] if terms.rank else 1.0
            assert conditioning(terms, rows) > 1e-3 * ratio, plant.name
    assert looked > 200


def test_the_choice_is_the_same_along_a_motion():
    plant, q, v = plants.catalogue["parallelogram"].start()
    run = cmb.simulate(plant, q0=q, v0=v, t_end=0.5, output_times=0.05)
    choices = {tuple(independent_rows(plant.terms(q, np.zeros(plant.nv)))) for q in run.q.values}
    assert len(choices) == 1
    (rows,) = choices
    assert len(rows) == plant.generic_rank(q) < len(plant.row_names)


@needs_jit
def test_no_code_where_it_does_not_fit(monkeypatch):
    plant = plants.five_bar()
    q = configuration(plant, "singular")
    terms = plant.terms(q, np.zeros(4))
    assert terms.rank < plant.generic_rank(q)
    assert code_at(plant, terms, plant.generic_rank(q)) is None
    assert code_of(plant, q) is None
    regular = plant.assemble(left=2.1, right=1.0)
    found = code_of(plant, regular)
    assert found.rows == [0, 1]
    assert code_of(plant, q) is found  # code says itself where it is not to be trusted
    monkeypatch.setattr(trace, "CHOICE", "kernels")
    assert code_of(plant, regular) is None
    assert code_at(plants.slider_crank(), terms, 1) is None


@needs_jit
def test_a_mode_of_a_machine_has_code_of_its_own():
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    whole = code_of(plant, q)
    opened = code_of(plant.without("tip"), q)
    assert opened.rows == []
    assert whole.rows == [0, 1]
    assert code_of(plant, q) is whole
