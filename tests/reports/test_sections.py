"""Sections that several reports have."""

import numpy as np

from cmbcontrol import plants
from cmbcontrol.reports.page import Picture, Section, Table, Text
from cmbcontrol.reports.sections import show_machine

from .test_run import falling_mass


def test_parts_mobility_and_file():
    plant = plants.bricard()
    q = plant.assemble()
    section = Section("Machine")
    show_machine(section, plant, q, "at the start")
    kinds = [type(part) for part in section.parts]
    assert kinds == [Picture, Text, Table, Text, Text, Text]
    assert section.parts[4].text == str(plant.diagnose(q))
    assert "at an assembled configuration" not in section.parts[1].text  # one configuration is enough
    assert section.parts[2].caption == f"{len(plant.bodies)} bodies, {sum(b.mass for b in plant.bodies):.5g} kg"


def test_a_plant_given_by_functions():
    plant = falling_mass()
    section = Section("Machine")
    show_machine(section, plant, np.zeros(1), "at the start")
    assert all(isinstance(part, Text) for part in section.parts)
