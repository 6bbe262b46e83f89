"""One family of errors, which say what to do."""

import re

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
