"""A loop made to hold what it finds."""

import numpy as np
import pytest

from cmbcontrol import Body, Free, KnifeEdge, RollingBall, Wheel
from cmbcontrol.model.capture import capture
from cmbcontrol.model.mechanism import Mechanism
from tests.fixtures import LOOPS, loop_at, name_of, random_state, tree_parts


@pytest.mark.parametrize("kind", LOOPS, ids=name_of)
def test_capture_closes_any_loop_where_it_is(kind):
    parts = tree_parts(7, 6)
    plant = Mechanism(**parts)
    q, _ = random_state(plant, 7)
    loop = loop_at(plant, q, kind, np.random.default_rng(1))
    there, v = random_state(plant, 8)
    assert plant.with_loops(loop).closure_error(there) > 1e-3
    held = plant.with_loops(capture(plant, loop, there))
    assert held.closure_error(there) < 1e-12 and held.row_names == plant.with_loops(loop).row_names
    # and the rows still forbid as many motions
    assert held.terms(there, v).rank == plant.with_loops(loop).terms(q, v).rank


@pytest.mark.parametrize(
    ("rolls", "reach"),
    [
        (Wheel("rolls", "ground", "body", (0.1, 0.2, 0.3), (0.1, 0.0, 0.0), normal=(0, 0.6, 0.8), radius=0.3), 0.3),
        (
            RollingBall("rolls", "ground", "body", (0.1, 0.2, 0.3), (0.1, 0.0, 0.0), normal=(0, 0.6, 0.8), radius=0.2),
            0.2,
        ),
    ],
    ids=["wheel", "ball"],
)
def test_the_plane_of_what_rolls_moves_to_where_it_touches(rolls, reach):
    """It went through the centre, and closed nothing."""
    plant = Mechanism("one", [Body("body", 1.0, inertia=(0.1, 0.1, 0.1))], [Free("free", "ground", "body")])
    q = plant.neutral()
    q[-3:] = [0.5, -0.2, 2.0]  # upright, its axle along y
    held = capture(plant, rolls, q)
    n, centre = np.array([0.0, 0.6, 0.8]), np.array([0.6, -0.2, 2.0])
    lowest = reach * 0.8 if isinstance(rolls, Wheel) else reach  # the rim of a wheel that leans by asin 0.6
    assert n @ (centre - held.point_a) == pytest.approx(lowest, abs=1e-14)
    assert plant.with_loops(held).closure_error(q) < 1e-14


def test_a_blade_holds_no_place():
    plant = Mechanism("one", [Body("body", 1.0, inertia=(0.1, 0.1, 0.1))], [Free("free", "ground", "body")])
    blade = KnifeEdge("blade", "ground", "body")
    assert capture(plant, blade, plant.neutral()) is blade
