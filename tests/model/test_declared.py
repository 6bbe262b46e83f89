"""What a plant of functions declares: names, units and rows, and what they are unless given."""

import numpy as np
import pytest

from cmbcontrol.errors import ModelError
from cmbcontrol.model.elements import Coupling
from cmbcontrol.model.functions import FunctionPlant
from tests.fixtures import bead, bead_twice


def test_names_units_and_defaults():
    plant = bead(actuators=("y",), rows={"rail": ("rail_normal",)}, effort=[3.0], limits={"x": (-1.0, 2.0)})
    assert (plant.nq, plant.nv, plant.nu) == (2, 2, 1)
    assert plant.position_names == plant.velocity_names == ("x", "y")
    assert plant.velocity_units == ("m/s", "m/s")
    assert plant.row_slices == {"rail": slice(0, 1)} and plant.row_names == ("rail_normal",)
    assert plant.effort.tolist() == [3.0] and plant.limits[0].tolist() == [-1.0, 2.0]
    assert plant.terms([1.0, 1.0], [0.0, 0.0]).B.tolist() == [[0.0], [1.0]]
    assert plant.index("y") == 1 and plant.pack({"y": 2.0}).tolist() == [0.0, 2.0]
    assert bead().row_names == ("loop",) and bead_twice().row_names == ("loop_1", "loop_2")
    assert "bead" in repr(plant) and "rail_normal" in str(plant) and "limit 3" in str(plant)


def test_rows_and_coordinates_have_names_of_their_own():
    given = dict(M=lambda q: np.eye(2), h=lambda q, v: [0, 0], A=lambda q: [[1, 0]], Adot_v=lambda q, v: [0])
    with pytest.raises(ModelError, match=r"coordinate 'x' and a row of the constraint 'loop' are both called 'x'"):
        FunctionPlant("p", ("x", "y"), Phi=lambda q: [q[0]], rows=("x",), **given)
    plant = FunctionPlant("p", ("x", "y"), Phi=lambda q: [q[0]], rows={"wall": ("stop",)}, **given)
    with pytest.raises(ModelError, match="row called 'stop'"):
        plant.with_loops(Coupling("stop", {"y": 1.0}))
