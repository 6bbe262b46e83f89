"""Linear models along a motion: neighbouring runs."""

import numpy as np
import pytest

from cmbcontrol import linearize_along, plants, simulate
from cmbcontrol.model.elements import Revolute
from cmbcontrol.papers.methods import settings
from tests import fixtures
from tests.fixtures import NonlinearForm, mixed_coordinates, relative_error


@pytest.mark.nojit_slow
def test_deviations_from_a_motion():
    """Two neighbouring runs of the five-bar, and a machine with a ball joint."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    times = {
        "t_end": 0.8,
        "output_times": 0.001,
    }  # a near miss of the singular configuration at 0.6 s: deviations grow 65-fold
    run = simulate(plant, [3.0, -5.0], q, **settings(**times))
    sequence = linearize_along(run, coordinates=("left", "right"), outputs=("left", "elbow_left_rate"))
    y, push = np.array([1e-6, -2e-6]), 1e-5
    start = plant.assemble(guess=q, left=2.1 + y[0], right=1.0 + y[1])
    other = simulate(plant, [3.0, -5.0 + push], start, **settings(**times))
    x = sequence.propagate([*y, 0.0, 0.0], np.tile([0.0, push], (len(sequence), 1)))
    truth = np.concatenate([(other.data[k] - run.data[k]).values[:, [0, 2]] for k in ("q", "v")], axis=1)
    assert relative_error(x, truth) < 2e-3  # of second order in the deviation
    seen = np.einsum("tij,tj->ti", sequence.C, x)[:, 1]
    assert relative_error(seen, (other.data["v"] - run.data["v"]).values[:, 1]) < 2e-3
    assert len(sequence) == 801
    assert sequence.to_dataset()["A"].dims == ("time", "state", "state_in")
    assert sequence[7].states == ("left", "right", "left_rate", "right_rate")
    coarse = linearize_along(run, coordinates=("left", "right"), every=20)
    with pytest.raises(ValueError, match=r"changes too quickly near t = 0\.\d+ s for 41 times.*finer output_times"):
        coarse.propagate([*y, 0.0, 0.0])


@pytest.mark.nojit_slow
def test_deviations_from_the_motion_of_ball_joints():
    """Where axes turn with the joint: y = R (q [-] q_ref(t)), and its bracket."""
    parts = fixtures.tree_parts(3, bodies=3, kinds=(fixtures.Spherical, Revolute, fixtures.Planar), damped=True)
    plant, q = fixtures.close_parts(parts, 3, [fixtures.Distance])
    q, v = fixtures.admissible_state(plant, q, 3)
    R, times = mixed_coordinates(plant, q), {"t_end": 0.4, "output_times": 0.02}
    run = simulate(plant, None, q, v, **settings(**times))
    sequence = linearize_along(run, coordinates=R)
    p = len(R)
    x0 = 1e-4 * np.random.default_rng(0).standard_normal(2 * p)
    form = NonlinearForm(plant, q, np.zeros(plant.nu), R)
    start = form.state(x0[:p], R @ v + x0[p:])
    other = simulate(plant, None, *start, **settings(**times))
    x = sequence.propagate(x0)
    pairs = zip(run.data["q"].values, other.data["q"].values, strict=True)
    y = np.array([R @ plant.difference(a, b) for a, b in pairs])
    y_v = (other.data["v"] - run.data["v"]).values @ R.T
    assert relative_error(x, np.concatenate([y, y_v], axis=1)) < 2e-3


def test_a_motion_through_dependent_coordinates_is_refused_with_the_time():
    plant = plants.slider_crank()
    q = plants.catalogue["slider-crank"].start()[1]
    run = simulate(plant, None, q, t_end=0.2, output_times=0.1)
    with pytest.raises(ValueError, match=r"no coordinate 'crank' .*\(t = 0 s\)"):
        linearize_along(run, coordinates=("crank",))
