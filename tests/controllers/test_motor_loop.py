"""What loops of drives share: models, references and copies with other gains."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, plants
from cmbcontrol.controllers import PID, Cascade, WithModel
from cmbcontrol.errors import InputError
from tests.fixtures import refuses

from .test_traced import heavier

LAWS = {
    "cascade": lambda plant, at: Cascade(plant, Constant([2.1, 1.0]), position_gain=3.0, velocity_gain=9.0, at=at),
    "PID": lambda plant, at: PID(plant, Constant([2.1, 1.0]), kp=30.0, ki=9.0, at=at),
}


@pytest.mark.parametrize("name", LAWS)
def test_efforts_of_the_reference_are_those_of_the_model(name):
    plant = plants.five_bar()
    q0, model = plant.assemble(left=2.1, right=1.0), heavier(plant)
    law = LAWS[name](plant, q0)
    for made, of in ((law, plant), (law.with_model(model), model), (WithModel(model, law), model)):
        u = made(0.0, plant.terms(q0, np.zeros(4)), made.start(plant))
        np.testing.assert_allclose(u, cmb.trim(of, q0).u, rtol=1e-9)


@pytest.mark.parametrize("name", LAWS)
def test_a_copy_that_holds_efforts(name):
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    law = LAWS[name](plant, q0).holding(np.array([3.0, -2.0]))
    np.testing.assert_allclose(law(0.0, plant.terms(q0, np.zeros(4)), law.start(plant)), [3.0, -2.0], atol=1e-12)


def test_a_law_for_another_machine_is_refused():
    law = LAWS["PID"](plants.five_bar(), None)
    refuses(lambda: law.start(plants.slider_crank()), "was made for 'five-bar'", kind=InputError)


def test_motors_are_found_at_the_joints_they_drive():
    """Also those of some joints only, in the order of the coordinates."""
    plant = plants.five_bar()
    law = PID(plant, Constant([1.0, 2.1]), kp=30.0, coordinates=("right", "left"))
    assert law.motors == ("right", "left")
    u = law(0.0, plant.terms(plant.assemble(left=2.0, right=1.0), np.zeros(4)), law.start(plant))
    held = law.with_gains(kp=0.0)(0.0, plant.terms(plant.assemble(left=2.0, right=1.0), np.zeros(4)), np.zeros(2))
    np.testing.assert_allclose(u - held, [3.0, 0.0], atol=1e-9)
