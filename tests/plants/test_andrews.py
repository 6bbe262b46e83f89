"""Andrews' squeezer: published start and end values."""

import json

import numpy as np
import pytest

from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.dynamics.forces import constraint_force
from cmbcontrol.model.elements import Point
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.papers.measure import DATA
from cmbcontrol.plants import andrews, catalogue
from cmbcontrol.plants.andrews import TORQUE


@pytest.fixture(scope="module")
def squeezer():
    """The published problem."""
    return json.loads((DATA / "andrews.json").read_text())


def test_andrews_start(squeezer):
    """Accelerations and multipliers of the test set; its rows are ours, turned into world axes."""
    plant, q, v = catalogue["andrews"].start()
    start = squeezer["y0"]
    assert q == pytest.approx([float(x) for x in start["q"]], abs=1e-17)
    assert squeezer["params"]["mom"] == TORQUE
    vdot = forward_dynamics(plant, q, v, [TORQUE])
    expected = np.array([float(x) for x in start["qdd"]])
    assert np.abs(vdot - expected).max() < 1e-10 * np.abs(expected).max()
    lam = constraint_force(plant, q, v, [TORQUE]).multipliers
    assert world_multipliers(plant, q, lam) == pytest.approx([float(x) for x in start["lambda"]], abs=1e-8)


def world_multipliers(plant, q, lam):
    """Multipliers of the loops in world axes."""
    world = []
    for loop in plant.loops:
        two = np.array([*lam[plant.row_slices[loop.name]], 0.0])
        world += (plant.pose(q, loop.a).R @ two)[:2].tolist()
    return world


def test_andrews_at_the_end(squeezer):
    """At the independently computed end state: closed loops, accelerations, multipliers."""
    plant = andrews()
    key = next(k for k in squeezer if k.startswith("computed_reference"))
    end = {k: float(x) for k, x in squeezer[key].items()}
    q, v, a = (np.array([end[n + dash] for n in plant.position_names]) for dash in ("", "'", "''"))
    terms = plant.terms(q, v)
    assert np.abs(terms.phi).max() < 1e-15
    assert np.abs(terms.A @ v).max() < 1e-13 * np.abs(v).max()
    assert np.abs(forward_dynamics(plant, q, v, [TORQUE]) - a).max() < 1e-10 * np.abs(a).max()
    lam = constraint_force(plant, q, v, [TORQUE]).multipliers
    expected = np.array([end[f"lambda{i}"] for i in range(1, 7)])
    assert world_multipliers(plant, q, lam) == pytest.approx(expected, rel=1e-9)


def test_andrews_parameters(squeezer):
    """Lengths, masses and inertias, against the file."""
    p = squeezer["params"]
    plant = andrews()
    assert [b.mass for b in plant.bodies] == [p[f"m{i}"] for i in range(1, 8)]
    assert [b.inertia[2, 2] for b in plant.bodies] == [p[f"i{i}"] for i in range(1, 8)]
    spring = plant.springs[0]
    assert (spring.stiffness, spring.rest) == (p["c0"], p["l0"])
    assert isinstance(plant, Mechanism) and not any(isinstance(loop, Point) for loop in plant.loops)
