"""A loop made to hold what it finds."""

import numpy as np
import pytest

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
