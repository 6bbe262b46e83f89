"""Why a run ended, in words."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import Controller, ProjectedInverseDynamics
from cmbcontrol.errors import SimulationError
from cmbcontrol.plants.five_bar import configuration as five_bar_configuration
from cmbcontrol.sim.ending import near_the_end

pytestmark = pytest.mark.nojit_slow  # whole runs


def test_the_end_of_a_run_names_a_singular_pose_near_by():
    plant = plants.five_bar()
    q = five_bar_configuration(plant, "singular")
    assert "singular. 1 of 2 rows" in near_the_end(plant, q + 1e-4)
    assert near_the_end(plant, five_bar_configuration(plant, "open")) == ""


def run(law, t_end=0.1):
    plant = plants.five_bar()
    return cmb.simulate(plant, law, five_bar_configuration(plant), t_end=t_end)


class Own(Controller):
    period = 0.01

    def effort(self, t, terms, state):
        return {}["x"]


@pytest.mark.parametrize("law", [lambda t, terms, state: {}["x"], Own()], ids=["function", "sampled"])
def test_a_law_that_fails_at_the_start_is_named_as_it_is_later(law):
    with pytest.raises(
        SimulationError, match=r"did not begin\. .*failed at t = 0 s: KeyError: 'x' \(in .*test_ending"
    ) as e:
        run(law)
    assert e.value.partial is None and isinstance(e.value.__cause__, KeyError)


def test_the_cause_is_told_before_the_state():
    def arms(t, q, v):
        return [0.0, 0.0] if t < 0.03 else [np.nan, 0.0]

    with pytest.raises(SimulationError) as caught:
        run(arms)
    text, part = str(caught.value), caught.value.partial
    assert text.index("must be finite, but left = nan") < text.index("It was at left = ")
    assert "raised an error" not in text  # which says no more than the error
    assert "must be finite, but left = nan" in part.message and part.message in text


def test_functions_of_t_q_v_learn_what_a_controller_is_called_with():
    said = r"called as \(t, terms, state\)"
    for law in (lambda t, q, v: -v[[0, 2]], lambda t, q, v: -q[[0, 2]]):
        with pytest.raises(SimulationError, match=said) as caught:
            run(law)
        assert str(caught.value).count("(t, terms, state)") == 1
    with pytest.raises(TypeError, match=rf"{said}, and this one takes \(t\)"):
        run(lambda t: [0.0, 0.0])


def test_laws_of_this_package_that_do_not_fit_speak_for_themselves():
    """Only functions of the user come as SimulationError."""
    plant, other = plants.five_bar(), plants.loader()
    law = ProjectedInverseDynamics(plant, ("left", "right"), cmb.Constant([2.1, 1.0]), bandwidth=8.0)
    with pytest.raises(ValueError, match="was made for 'five-bar'"):
        cmb.simulate(other, law, other.assemble(), t_end=0.1)
    with pytest.raises(TypeError, match="got None; is a return missing"):
        run(lambda t, terms, state: None)
