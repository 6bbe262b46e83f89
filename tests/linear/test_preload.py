"""Efforts against each other that move nothing."""

import numpy as np
import pytest

from cmbcontrol import OperatingPoint, plants, trim
from cmbcontrol.linear.preload import preload_directions
from cmbcontrol.model.elements import Actuator, Body, Revolute
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants.five_bar import configuration
from tests.fixtures import held_box, largest


def test_preload_directions():
    """Efforts that do no work on any motion; a round of them changes constraint forces alone."""
    plant, q = held_box()
    point = trim(plant, q)
    found = preload_directions(plant, point)
    terms = plant.terms(q, np.zeros(6))
    assert len(found) == point.report.preload == 3
    assert largest(terms.Z.T @ terms.B @ found.efforts) < 1e-12
    assert largest(found.efforts.T @ found.efforts - np.eye(3)) < 1e-12
    assert largest(terms.A.T @ found.multipliers - found.forces) < 1e-10
    w = np.array([3.0, -2.0, 1.0])
    shifted = OperatingPoint.at(plant, q, point.u + found.efforts @ w)
    assert shifted.residuals.balance < 1e-9
    assert largest(shifted.lam - point.lam - found.multipliers @ w) < 1e-9
    sizes = np.linalg.norm(found.multipliers / plant.row_scale[:, None], axis=0)
    assert sizes[0] > 1.5 * sizes[2]
    assert np.all(np.diff(sizes) <= 1e-12)
    for k, (low, high) in enumerate(found.room):
        for w in (low, high):
            u = point.u + w * found.efforts[:, k]
            assert np.max(np.abs(u) / plant.effort) == pytest.approx(1.0)
    text = str(found)
    assert "preload of two-arms: 3 direction(s)" in text
    assert "grasp_x" in text
    five = plants.five_bar()
    none = preload_directions(five, trim(five, configuration(five, "open")))
    assert len(none) == 0
    assert none.room.shape == (0, 2)
    assert "0 direction(s)" in str(none)


def test_motors_against_each_other_on_one_joint():
    """Two motors on a joint: preload without any force in the machine."""
    body = Body.rod("rod", 1.0, 1.0)
    joint = Revolute("joint", "ground", "rod", axis=(0, -1, 0))
    plant = Mechanism("twin", [body], [joint], actuators=[Actuator("joint", "a"), Actuator("joint", "b", gear=2.0)])
    point = trim(plant, [0.0])
    assert point.u == pytest.approx(4.905 * np.array([1.0, 2.0]) / 5.0)
    found = preload_directions(plant, point)
    assert len(found) == 1
    assert largest(found.forces) < 1e-12
    assert trim(plant, [0.0], preload={"a": (3.0, 10.0)}).u == pytest.approx([3.0, 0.5 * 1.905])
    assert trim(plant, [0.0], weight=[1.0, 0.25]).u == pytest.approx(4.905 * np.array([0.5, 0.25]))
