"""Grids of linear models, laws over them, and checks between their points."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, plants
from cmbcontrol.controllers import PID, GainScheduled, Saturation
from cmbcontrol.design import check_schedule, linear_grid, lqr, tune_loops, with_payload
from cmbcontrol.errors import AssemblyError, InputError, InputTypeError
from tests.fixtures import refuses

TO = Constant([2.1, 0.8])
AXES = {"left": [1.9, 2.3], "right": [0.4, 0.8, 1.2]}


@pytest.fixture(scope="module")
def grid():
    return linear_grid(plants.five_bar(), AXES, ("left", "right"))


def test_a_grid_of_models(grid):
    data = grid.to_dataset()
    assert data.A.dims == ("left", "right", "state", "state_in") and data.attrs["state_units"][0] == "rad"
    plant = plants.five_bar()
    for (left, right), model in grid.models.items():
        one = cmb.linearize(
            plant, cmb.trim(plant, plant.assemble(left=left, right=right)), coordinates=("left", "right")
        )
        np.testing.assert_allclose(data.A.sel(left=left, right=right), one.A, rtol=1e-12)
        np.testing.assert_allclose(data.u.sel(left=left, right=right), model.point.u)
    systems = grid.to_ss()
    assert list(systems) == list(grid.models) and systems[1.9, 0.4].state_labels[0] == "left"


def test_a_law_from_designs_holds_between_the_points(grid):
    plant = plants.five_bar()
    law = grid.schedule(lambda model: lqr(model, Q={"left": 4e4, "right": 4e4}, R=0.01, reference=TO, period=2e-3))
    check = check_schedule(plant, law)
    assert isinstance(law, GainScheduled) and check.stable and len(check.cases) == 6 + 2
    assert sum(case.between for case in check.cases) == 2
    assert check.worst.disk == min(case.disk for case in check.cases) > 0.5
    at = next(case for case in check.cases if case.point == {"left": 1.9, "right": 0.8})
    np.testing.assert_allclose(
        np.sort_complex(at.poles), np.sort_complex(law.laws[1].continuous_poles()), rtol=1e-6
    )  # what the design promised there
    assert "2 between" in str(check) and "left = 2.1, right = 0.6, between" in str(check)


def test_payloads_and_chains():
    """The machine of each load gets its own gains; blocks of the chain stay around them."""
    plant = plants.five_bar()

    def loaded(load):
        return with_payload(plant, "left_upper", load, (1.5, 0.0, 0.0))

    chain = PID(plant, TO, kp=1.0, coordinates=("left", "right"), period=1e-3) | Saturation(600.0)
    grid = linear_grid(loaded, {"left": [1.9, 2.3], "load": [0.0, 4.0]}, ("left", "right"), right=0.8)
    law = grid.schedule(
        lambda m: tune_loops(m.point.plant, chain, m.point.q, crossover=12.0, phase_margin=50.0).law,
        signals={"load": lambda t: 2.0},
    )
    assert str(law) == "GainScheduled(PID) | Saturation"
    check = check_schedule(loaded, law, right=0.8)
    assert check.stable and check.cases[-1].point == pytest.approx({"left": 2.1, "load": 2.0})
    kp = [float(x.kp[0]) for x in law.law.laws]
    assert kp[1] > 1.5 * kp[0]  # of the heavier machine


def test_hidden_coupling_is_told():
    """Springs that grow stiffer with the coordinate, on a machine that its weight holds aside of the reference."""
    plant = plants.five_bar()
    given = {"kd": 9.0, "coordinates": ("left", "right"), "feedforward": "none"}
    laws = [PID(plant, TO, kp=kp, **given) for kp in (250.0, 600.0)]
    check = check_schedule(plant, GainScheduled(laws, {"left": [1.9, 2.3]}), right=0.8)
    assert max(case.coupling for case in check.cases) > 0.01
    assert check.cases[-1].growth != pytest.approx(check.cases[-1].frozen_growth, rel=1e-3)


def test_what_is_refused(grid):
    plant = plants.five_bar()
    with pytest.raises(AssemblyError) as caught:
        linear_grid(plant, {"left": [1.9, 2.3], "right": [0.4, 9.0]}, ("left", "right"), elbow_left=3.0)
    assert "at left = 1.9, right = 0.4" in caught.value.__notes__
    refuses(
        lambda: linear_grid(lambda load: plant, {"left": [1.9]}, ("left", "right")), "none of which", kind=InputError
    )
    refuses(lambda: linear_grid(3.0, {"left": [1.9]}, ("left", "right")), "or a function", kind=InputTypeError)
    refuses(lambda: check_schedule(plant, [1.0, 2.0]), "must be a GainScheduled", kind=InputTypeError)
    refuses(lambda: grid.schedule(3.0), "design", kind=InputTypeError)
