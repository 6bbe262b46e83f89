"""Machines with other numbers by name: the same as those built anew, for every parameter of random machines."""

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.dynamics import parameters
from tests.fixtures import CLOSURES, changed_machine, closed_at_random, closure_name, refuses


@pytest.mark.parametrize("closure", CLOSURES[:8], ids=closure_name)
@pytest.mark.first(3)
def test_every_parameter(closure):
    plant, q, v = closed_at_random(closure)
    rng = np.random.default_rng(0)
    names = list(parameters(plant))
    chosen = rng.permutation(names)[:25]
    for name in chosen:
        s = 1e-3
        old = parameters(plant)[name].value
        if "_inertia_" in name:  # a rod has none along its axis, and less than none is refused
            inertia = next(b.inertia for b in plant.bodies if name.startswith(f"{b.name}_inertia_"))
            i, j = ("xyz".index(c) for c in name[-2:])
            s = 1e-4 * inertia.trace() * (1.0 if i != j else 0.0)
            if not s or np.linalg.eigvalsh(inertia)[0] < 0.1 * inertia.trace():
                continue
        mine = plant.with_parameters({str(name): old + s}).terms(q, v)
        theirs = changed_machine(plant, str(name), s).terms(q, v)
        for field in ("M", "h", "A", "b", "B", "phi"):
            a, b = getattr(mine, field), getattr(theirs, field)
            np.testing.assert_allclose(
                a, b, atol=1e-12 * max(1.0, np.abs(b).max(initial=0.0)), err_msg=f"{name} {field}"
            )


@pytest.mark.smoke
def test_several_at_once_and_what_is_refused():
    plant = plants.five_bar()
    both = plant.with_parameters({"left_lower_mass": 3.0, "left_upper_com_x": 0.4})
    one = plant.with_parameters({"left_lower_mass": 3.0}).with_parameters({"left_upper_com_x": 0.4})
    q = plant.assemble(left=2.1, right=1.0)
    np.testing.assert_array_equal(both.terms(q, np.ones(4)).M, one.terms(q, np.ones(4)).M)
    assert [body.name for body in both.bodies] == [body.name for body in plant.bodies]
    names = [f"left_lower_inertia_{axes}" for axes in ("xx", "yy", "zz")]
    smaller = plant.with_parameters(
        {name: 0.8 * parameters(plant)[name].value for name in names}
    )  # one by one: refused
    np.testing.assert_allclose(smaller.bodies[0].inertia, 0.8 * plant.bodies[0].inertia, rtol=1e-15)
    refuses(lambda: plant.with_parameters({"left_lower_mas": 3.0}), "did you mean", "left_lower_mass", kind=ValueError)
    refuses(lambda: plant.with_parameters({"left_lower_mass": "x"}), "left_lower_mass", kind=TypeError)
    refuses(lambda: plant.with_parameters({"left_lower_mass": -3.0}), "mass", kind=ValueError)
