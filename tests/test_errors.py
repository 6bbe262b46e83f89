"""One family of errors, which say what to do."""

import re

import pytest

import cmbcontrol as cmb
from cmbcontrol.errors import AssemblyError, CmbError, ModelError
from cmbcontrol.plants.five_bar import five_bar
from tests.fixtures import refuses


def test_errors_are_value_errors_of_one_family():
    assert issubclass(ModelError, (CmbError,)) and issubclass(ModelError, ValueError)
    assert issubclass(AssemblyError, (CmbError,)) and issubclass(AssemblyError, ValueError)


def test_messages_say_what_to_do():
    error = refuses(
        lambda: five_bar().assemble(left=0.0, elbow_left=0.0, right=3.0, elbow_right=0.0), kind=AssemblyError
    )
    assert re.search(r"guess|[Ff]ix fewer|reach", str(error))
    assert set(error.residuals) == {"tip"}


def test_one_base_catches_wrong_arguments_too():
    plant = cmb.plants.five_bar()
    for call in (
        lambda: plant.assemble(lefty=1.0),
        lambda: cmb.simulate(plant, t_end=1.0),
        lambda: plant.terms([0.0], [0.0]),
    ):
        with pytest.raises(cmb.CmbError) as caught:
            call()
        assert isinstance(caught.value, (ValueError, TypeError))
