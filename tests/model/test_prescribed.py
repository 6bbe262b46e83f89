"""What motions may be given as: numbers, uniform motions, functions of time, formulas that are differentiated."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import where_less
from cmbcontrol.model.prescribed import motion_of, uniform
from tests.fixtures import refuses, slope

FORMULAS = [
    lambda t: 0.1 * np.sin(3.0 * t) ** 2 * np.exp(-t),
    lambda t: t**3 - 2.0 * t + 1.0,
    lambda t: np.sqrt(1.0 + t * t) + np.arctan2(t, 2.0) - np.log(2.0 + np.cos(t)) / (1.0 + abs(t)),
    lambda t: where_less(t, 0.2, t**4, np.tanh(t)),
    lambda t: np.maximum(0.0, t - 0.1) ** 3,
    lambda t: 0.7,
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_are_differentiated(formula):
    moved = motion_of("m", formula, 1)
    for t in (0.0, 0.123, 0.6, 2.0):
        position, velocity, acceleration = moved(t)[0]
        assert position == pytest.approx(float(formula(t)), abs=1e-14)
        if t:
            assert velocity == pytest.approx(float(slope(lambda s, t=t: formula(t + s), 1e-3)), abs=1e-9)
            assert acceleration == pytest.approx(float(slope(lambda s, t=t: moved(t + s)[0, 1], 1e-3)), abs=1e-9)


def test_several_components_at_once():
    circle = motion_of("m", lambda t: (np.cos(2.0 * t), np.sin(2.0 * t), 0.0 * t), 3)(0.3)
    c, s = np.cos(0.6), np.sin(0.6)
    np.testing.assert_allclose(circle, [[c, -2 * s, -4 * c], [s, 2 * c, -4 * s], [0, 0, 0]], atol=1e-14)
    again = motion_of("m", lambda t: np.array([np.cos(2.0 * t), np.sin(2.0 * t), t]), 3)(0.3)
    np.testing.assert_allclose(again[:2], circle[:2])
    told = motion_of("m", lambda t: ([t, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]), 3)(0.3)
    np.testing.assert_allclose(told, [[0.3, 1.0, 0.0], [0, 0, 0], [0, 0, 0]])
    np.testing.assert_allclose(motion_of("m", (1.0, 2.0, 3.0), 3)(5.0)[:, 0], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(motion_of("m", (np.ones(3), np.ones(3), np.zeros(3)), 3)(2.0)[:, 0], 3.0)


def test_references_are_taken_as_they_are():
    path = cmb.Quintic([0.1], [0.4], duration=2.0)
    np.testing.assert_array_equal(motion_of("m", path, 1)(0.7), np.stack(path(0.7), axis=1))


def test_uniform_motion():
    moved = uniform(np.array([[1.0, -2.0, 6.0]]))
    np.testing.assert_allclose(moved(0.5), [[1.0 - 1.0 + 0.75, 1.0, 6.0]])


def test_what_is_no_motion_is_refused():
    refuses(lambda: motion_of("m", lambda t: np.interp(t, [0, 1], [0, 1]), 1), "'m'", "Spline", kind=ValueError)
    refuses(lambda: motion_of("m", lambda t: (1.0, 2.0), 1), "'m'", "a position", "tuple of three", kind=ValueError)
    refuses(lambda: motion_of("m", lambda t: (t, np.ones(2), 0.0), 1), "'m'", "velocity", kind=ValueError)
    wrong = (lambda t: (np.sin(t), -np.cos(t), -np.sin(t)), lambda t: (np.sin(t), np.cos(t), 0.0))
    refuses(lambda: motion_of("m", wrong[0], 1), "'m'", "velocity -0.99", "0.99", "differentiated", kind=ValueError)
    refuses(lambda: motion_of("m", wrong[1], 1), "'m'", "acceleration 0", "-0.0122", kind=ValueError)
    motion_of("m", lambda t: (1e-9 * np.sin(1e5 * t), 1e-4 * np.cos(1e5 * t), -10.0 * np.sin(1e5 * t)), 1)
    refuses(lambda: motion_of("m", [1.0, 2.0], 3), "'m'", "3 finite numbers", kind=ValueError)
    refuses(lambda: motion_of("m", "fast", 1), "'m'", kind=TypeError)
    refuses(lambda: motion_of("m", lambda t: 1.0 / t, 1), "'m'", "t = 0", kind=ValueError)
