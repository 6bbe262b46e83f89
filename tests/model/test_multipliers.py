"""Which multipliers the motion determines."""

import numpy as np

from cmbcontrol.model.multipliers import unique_multipliers


def test_multipliers_are_unique_where_every_other_choice_breaks_the_balance():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((3, 6))
    A = np.vstack([A, 2.0 * A[0] - A[1]])
    np.testing.assert_array_equal(unique_multipliers(A, 3), [False, False, True, False])
    np.testing.assert_array_equal(unique_multipliers(A[:3], 3), True)
    np.testing.assert_array_equal(unique_multipliers(np.vstack([A[:1], A[:1], 0.0 * A[:1]]), 1), False)
    assert unique_multipliers(np.zeros((0, 4)), 0).shape == (0,)
