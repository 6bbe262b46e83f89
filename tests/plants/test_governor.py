"""The governor against the benchmark library."""

import numpy as np
import pytest

from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.papers.measure import DATA
from cmbcontrol.plants import catalogue, governor
from cmbcontrol.plants.governor import start as governor_start
from cmbcontrol.sim.simulate import simulate
from tests.fixtures import gradient, matched

G = 9.81


def reference_slider():
    """The benchmark's printed curve: t, s."""
    text = (DATA / "iftomm_a05_s.csv").read_text().splitlines()
    return np.array([[float(x) for x in line.split(",")] for line in text if line[:1].isdigit()])


def governor_rate(x):
    """Lagrange's equations of the benchmark: shaft, slider, two rods below the level, and their rates."""
    _, s, *down = x[:4]
    spin, rise, *turn = x[4:]
    rod, ball, slider, stiffness, damping = 0.3, 5.0, 3.0, 8e5, 4e4
    across, along = rod * (1.0 + 1e-4) / 12.0, rod * 1e-4 / 6.0  # a square bar of 1 m and 0.01 m
    swing = across + 0.25 * rod + ball  # of a rod with its ball, about its hinge
    about = along + slider * 0.01 / 6.0  # of shaft (as thick as the rods) and slider, about the vertical
    bend, rates, lift = 0.0, [], -9.81 * slider
    for a, rate in zip(down, turn, strict=True):
        sin, cos = np.sin(a), np.cos(a)
        middle, end = 0.05 + 0.5 * cos, 0.05 + cos
        about += rod * middle**2 + ball * end**2 + along * sin**2 + across * cos**2
        slope = -sin * (rod * middle + 2.0 * ball * end) + 2.0 * (along - across) * sin * cos  # of that, by a
        bend += slope * rate
        reach = np.array([0.5 * cos, 1.0 - 0.5 * sin - s])  # from the slider's side to the rod's middle
        length = np.sqrt(reach @ reach)
        by_a, by_s = reach @ [-0.5 * sin, -0.5 * cos] / length, -reach[1] / length
        pull = stiffness * (length - 0.5) + damping * (by_a * rate + by_s * rise)
        weight = 9.81 * (0.5 * rod + ball) * cos
        rates.append((0.5 * slope * spin**2 + weight - pull * by_a) / swing)
        lift -= pull * by_s
    return np.array([*x[4:], -bend * spin / about, lift / slider, *rates])


@pytest.mark.nojit_slow
def test_governor_follows_the_benchmark():
    """To the accuracy of the points (1.2e-6 m); a tolerance of 1e-6 is enough for that."""
    plant, q, v = catalogue["governor"].start()
    points = reference_slider()
    assert len(points) == 31
    run = simulate(plant, None, q, v, t_end=3.0, output_times=points[:, 0], rtol=1e-7, atol=1e-7)
    slider = run.q.sel(position="slider").values
    assert np.abs(slider - points[:, 1]).max() < 1.3e-6
    rods = run.q.sel(position=["rod1", "rod2"]).values
    assert np.abs(rods[:, 0] - rods[:, 1]).max() < 1e-12
    assert run.max_energy_error < 1e-4  # of some 350 J, what the dampers take counted


@pytest.mark.nojit_slow
def test_governor_keeps_its_angular_momentum():
    plant, q, v = catalogue["governor"].start()
    run = simulate(plant, None, q, v, t_end=0.05, output_times=0.01)
    momentum = [(plant.terms(*x).M @ x[1])[0] for x in zip(run.q.values, run.v.values, strict=True)]
    assert momentum == pytest.approx([momentum[0]] * len(momentum), rel=1e-13)
    # two balls and rods, level distances from the shaft's line
    out = 0.05 + np.cos(np.radians(30.0))
    middle, thin = 0.05 + 0.5 * np.cos(np.radians(30.0)), 0.3 / 12.0 * (1.0 + 1e-4)
    rod = 0.3 * middle**2 + thin * 0.75 + 0.3e-4 / 6.0 * 0.25
    own = 0.3 * 1e-4 / 6.0 + 3.0 * 0.01 / 6.0
    assert momentum[0] == pytest.approx(2.0 * np.pi * (2.0 * (5.0 * out**2 + rod) + own), rel=1e-12)


@pytest.mark.nojit_slow
def test_governor_without_dampers_keeps_its_energy():
    plant = governor(damping=0.0)
    q, v = governor_start(plant)
    run = simulate(plant, None, q, v, t_end=0.1, output_times=0.01)
    energy = [plant.terms(*x).energy for x in zip(run.q.values, run.v.values, strict=True)]
    assert np.ptp(energy) < 1e-9 * energy[0] and np.ptp(run.q.values[:, 1]) > 1e-2


def test_governor_is_stiff():
    """Eigenvalues of the motion at the start against Lagrange's equations: two far to the left, of the dampers."""
    plant, q, v = catalogue["governor"].start()
    x, start = np.concatenate([q, v]), np.array([0.0, 0.5, np.radians(30.0), np.radians(30.0), 2.0 * np.pi, 0, 0, 0])
    J = gradient(lambda x: np.concatenate([x[4:], forward_dynamics(plant, x[:4], x[4:])]), x, 1e-4)
    exact = np.linalg.eigvals(gradient(governor_rate, start, 1e-4))
    assert matched(np.linalg.eigvals(J), exact) < 1e-5 * np.abs(exact).max()
    assert np.sort(exact.real)[0] < -8000.0 and np.sort(exact.real)[1] < -1400.0 < -30.0 < np.sort(exact.real)[2]


def test_governor_arguments():
    assert governor().nu == 0 and catalogue["governor"].study is None
    driven = governor(motor=12.0)
    assert driven.actuator_names == ("shaft",) and driven.effort.tolist() == [12.0]
    soft = governor(stiffness=10.0, damping=0.5)
    assert {(s.stiffness, s.damping, s.rest) for s in soft.springs} == {(10.0, 0.5, 0.5)}
    with pytest.raises(ValueError, match="stiffness"):
        governor(stiffness=-1.0)
    # at the start the springs are at rest: only the weights and the swing act
    q, v = governor_start(soft)
    a, b = forward_dynamics(soft, q, v), forward_dynamics(governor(), q, v)
    assert a == pytest.approx(b, abs=1e-9)
    assert a[soft.index("slider")] == pytest.approx(-G, abs=1e-9)
