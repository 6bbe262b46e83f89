"""Functions in pieces: polynomials through values and derivatives, numbers, arrays and symbols alike."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol.controllers.pieces import Pieces, hermite, quintics
from cmbcontrol.trace.graph import Graph, Scalar

from ..fixtures import rates_are_derivatives


def test_a_polynomial_is_found_from_its_values_and_derivatives():
    """Nine conditions find the polynomial of degree eight that they are of, on a long and on a short way."""
    rng = np.random.default_rng(0)
    for width in (1e-3, 1.0, 50.0):
        given = np.polynomial.Polynomial(rng.standard_normal(9) / width ** np.arange(9))
        nodes = width * np.array([0.0, 0.5, 1.0])
        values = np.column_stack([given.deriv(k)(nodes) if k else given(nodes) for k in range(3)])
        # its coefficients are some 100 times as exact in the middle, and 1e3 times as large as the values, at worst
        np.testing.assert_allclose(
            hermite(nodes, values) * width ** np.arange(9), given.coef * width ** np.arange(9), atol=1e-11
        )


def test_polynomials_between_samples_have_their_values():
    times, rng = np.array([0.0, 0.1, 1.1, 1.2]), np.random.default_rng(1)
    values = rng.standard_normal((4, 3))
    made = Pieces(times, quintics(times, *values.T))
    for t, expected in zip(times[:-1], values, strict=False):
        np.testing.assert_allclose(made(t), expected, rtol=1e-12)
    np.testing.assert_allclose(made.edge(-1), values[-1], atol=1e-10)  # accelerations are up to 1e3
    assert made(2.0) == [made.end, 0.0, 0.0] and made(-1.0) == [values[0, 0], 0.0, 0.0]


MOTIONS = {
    "Constant": lambda: cmb.Constant([2.1, 1.0]),
    "Sine": lambda: cmb.Sine([1.0, 2.0], [0.1, 0.2], 0.7, [0.0, 1.0]),
    "Quintic": lambda: cmb.Quintic([0.0, 1.0], [1.0, -1.0], 2.0, begin=0.3),
    "Spline": lambda: cmb.Spline([0.0, 1.0, 2.5, 3.0], [[0.0, 1.0], [1.0, 0.0], [0.5, 2.0], [0.0, 0.0]]),
    "periodic Spline": lambda: cmb.Spline([0.0, 0.2, 0.7, 1.0], [0.0, 1.0, 5.0, 2.0 * np.pi], periodic=True),
    "monotone Spline": lambda: cmb.Spline([0.0, 0.2, 0.7, 0.9, 1.3], [0.14, 0.04, 0.004, 0.004, 0.14], monotone=True),
    "CamProfile": lambda: cmb.CamProfile([0.0, 0.4, 0.6, 1.0], [0.0, 0.03, 0.03, 0.0], periodic=True),
    "JerkLimited": lambda: cmb.JerkLimited([0.0, 1.0], [1.0, 0.3], [1.0, 2.0], 4.0, [40.0, 90.0], 0.1),
    "Joined": lambda: cmb.Joined(
        [cmb.JerkLimited([0.3], [0.0], 0.5, 2.0, 50.0), 0.1, cmb.Quintic([0.0], [0.4], 1.0)], periodic=True
    ),
    "ElectronicCam": lambda: cmb.ElectronicCam(
        cmb.CamProfile([0.0, 2.0, 4.0, 6.0], [0.0, 0.03, 0.03, 0.0], "4-5-6-7", periodic=True),
        cmb.JerkLimited([0.0], [40.0], 12.0, 40.0, 400.0),
    ),
}


@pytest.mark.parametrize("name", MOTIONS)
def test_rates_are_derivatives(name):
    rates_are_derivatives(MOTIONS[name]())


@pytest.mark.parametrize("name", MOTIONS)
def test_numbers_arrays_and_symbols_say_the_same(name):
    """Where pieces meet, too, to the last bit of polynomials: C code takes the piece that Python takes."""
    motion = MOTIONS[name]()
    parts = (motion.master if name == "ElectronicCam" else motion)._parts
    meet = np.concatenate([part.begins[np.isfinite(part.begins)] for part in parts])
    times = np.concatenate([meet, np.random.default_rng(3).uniform(-0.5, 4.0, 40)])
    rows = motion.over(times)
    assert rows.shape == (len(times), 3 * motion.size)
    # sines of arrays and of numbers may differ in the last bit
    waves = name in ("Sine", "CamProfile")
    exactly = {"rtol": 1e-13, "atol": 1e-14 * np.abs(rows).max()} if waves else {"rtol": 0.0, "atol": 0.0}
    for t, row in zip(times.tolist(), rows, strict=True):
        np.testing.assert_allclose(np.concatenate(motion(t)), row, **exactly)
        found = [x.value if isinstance(x, Scalar) else x for order in motion(Graph().input("x", 0, t)) for x in order]
        np.testing.assert_allclose(found, row, rtol=1e-13, atol=1e-14 * np.abs(rows).max())


def test_what_symbols_compute_is_decided_by_the_time_that_comes():
    """Pieces are selected, not chosen as at the sample; equal numbers of all pieces are no selections."""
    graph = Graph()
    MOTIONS["CamProfile"]()(graph.input("x", 0, 0.1))
    assert not graph.guards
    assert sum(node[0] == "select" for node in graph.nodes) < 8 * 12


@pytest.mark.parametrize("name", ["JerkLimited", "Joined"])
def test_the_jerk_of_times_of_any_shape(name):
    motion = MOTIONS[name]()
    times = np.linspace(0.0, 1.0, 5)
    assert motion.jerk(times).shape == (5, motion.size) and motion.jerk(0.4).shape == (motion.size,)
    np.testing.assert_array_equal(motion.jerk(times)[2], motion.jerk(float(times[2])))
