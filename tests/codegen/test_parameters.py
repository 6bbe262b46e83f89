"""The array p: a name for every number, and only what functions read."""

import numpy as np
import pytest

from cmbcontrol import Coupling, plants
from cmbcontrol.codegen.entries import FUNCTIONS, ExportedMachine
from cmbcontrol.codegen.parameters import ParameterTable


@pytest.mark.parametrize(
    "name", ["five-bar", "loader", "delta", "stewart", "governor", "andrews", "parallelogram", "leg"]
)
def test_every_number_has_a_name_of_its_own(name):
    plant = plants.catalogue[name].factory()
    table = ParameterTable(plant)
    assert len({number.name for number in table.numbers}) == len(table.numbers) == len(table.parameters.values)
    np.testing.assert_array_equal([number.value for number in table.numbers], table.parameters.values)


def test_names_say_what_the_numbers_are():
    plant = plants.governor()
    values = {number.name: number.value for number in ParameterTable(plant).numbers}
    body, spring = plant.bodies[0], plant.springs[0]
    assert values[f"{body.name}_mass"] == body.mass
    assert values[f"spring_{spring.name}_stiffness"] == spring.stiffness
    assert [values[f"gravity_{axis}"] for axis in "xyz"] == plant.gravity.tolist()


def test_coupled_joints():
    plant = plants.five_bar().with_loops(Coupling("belt", {"left": 0.5, "right": 2.0}, offset=3.1))
    values = {number.name: number.value for number in ParameterTable(plant).numbers}
    assert values["belt_of_position_left"] == 0.5 and values["belt_of_velocity_right"] == 2.0
    assert values["belt_value"] == 3.1


def test_only_what_functions_read_is_there():
    plant = plants.five_bar()
    machine = ExportedMachine(plant, plant.assemble(left=2.1, right=1.0))
    entry = FUNCTIONS["forward"](machine)
    used = machine.table.used([entry.traced])
    assert {"clear", "left_lower_mass", "gravity_y"} <= {number.name for number in used}
    assert not {"left_lower_inertia_xx", "gravity_x", "reach_left"} & {number.name for number in used}
    read = {node[2] for node in entry.traced.graph.nodes if node[:2] == ("input", "p")}
    assert set(range(len(used))) <= read
