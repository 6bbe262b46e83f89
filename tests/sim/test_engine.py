"""What Python is asked for gets copies: writing into them changes nothing."""

from functools import partial

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import Controller, Evaluation
from cmbcontrol.papers.methods import settings


class Vandal(Controller):
    """A law that writes into all that it is given."""

    def __init__(self, writes, **members):
        self.writes = writes
        for name, value in members.items():
            setattr(self, name, value)

    def start(self, plant):
        return np.ones(1)

    def evaluate(self, t, terms, state):
        self._spoil(terms, state)
        return Evaluation([1.0, -0.5], None if self.period else [0.0], partial(self._report, terms, state))

    def _spoil(self, terms, state):
        if self.writes:
            for array in (*(x for x in vars(terms).values() if isinstance(x, np.ndarray) and x.flags.writeable), state):
                array *= 0.5

    def _report(self, terms, state):
        self._spoil(terms, state)
        return {"said": 1.0}


@pytest.mark.parametrize("method", ["dop853", "radau", "scipy-dop853"])
@pytest.mark.parametrize("members", [{}, {"measures_force": True}, {"period": 0.05}], ids=["", "force", "sampled"])
def test_a_law_that_writes_into_what_it_is_given_does_not_change_the_run(members, method):
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    found = [
        cmb.simulate(plant, Vandal(writes, **members), q0, t_end=0.1, rtol=1e-8, atol=1e-8, **settings(method=method))
        for writes in (False, True)
    ]
    for name in ("q", "v", "energy_balance", "actuator_work", "u"):
        assert np.array_equal(found[0].data[name].values, found[1].data[name].values), name


def test_functions_and_conditions_that_write_do_not_change_the_run():
    def machine(writes):
        def spoil(q):
            if writes:
                q *= 0.0

        def Phi(q):
            value = [q[0] ** 2 + q[1] ** 2 - 1.0]
            spoil(q)
            return value

        def A(q):
            value = [[2.0 * q[0], 2.0 * q[1]]]
            spoil(q)
            return value

        def Adot_v(q, v):
            value = [2.0 * float(v @ v)]
            spoil(v)
            return value

        return cmb.FunctionPlant(
            "bead", ("x", "y"), lambda q: np.eye(2), lambda q, v: [0.0, 9.81], Phi, A, Adot_v, neutral=[1.0, 0.0]
        )

    def condition(writes):
        def when(t, q, v):
            if writes:
                q *= 0.0
                v *= 0.0
            return t - 0.1

        return when

    runs = [
        cmb.simulate(
            machine(writes), q0=[1.0, 0.0], t_end=0.2, switches=[cmb.Release("loop", when=condition(writes))]
        ).q.values
        for writes in (False, True)
    ]
    assert np.array_equal(*runs)
