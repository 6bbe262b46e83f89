"""The files of C."""

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.fmu.model import model_of
from cmbcontrol.fmu.source import sources


def model(plant):
    q = plant.close(plant.assemble())
    return model_of(plant, q, np.zeros(plant.nv), np.zeros(plant.nu), None, "inside", [], 1e-3, "0")


@pytest.mark.parametrize("version", ["3.0", "2.0"])
def test_one_file_takes_in_all_others(version):
    found = sources(model(plants.pendulum()), version)
    included = [line.split('"')[1] for line in found["fmu.c"].splitlines() if line.startswith('#include "')]
    assert sorted(included) == sorted(set(found) - {"fmu.c"})
    assert f"fmi{version[0]}.c" in found
    assert all(text.isascii() for text in found.values())


def test_machines_without_rows_motors_or_parameters_have_no_empty_tables():
    """C has no arrays of size zero."""
    text = sources(model(plants.governor()), "3.0")["model.c"]
    tables = [line for line in text.splitlines() if line.startswith("static const")]
    assert len(tables) > 15 and not any("[0] = {" in line for line in tables)
    assert "#define NU 0" in text


def test_sizes_follow_from_the_machine():
    plant = plants.delta()
    text = sources(model(plant), "3.0")["model.c"]
    rows = len(plant.row_names)
    for name, value in (("NQ", plant.nq), ("NV", plant.nv), ("ROWS", rows), ("NQUAT", 1), ("NX", 6), ("SAMPLED", 0)):
        assert f"#define {name} {value}\n" in text
