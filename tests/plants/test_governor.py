"""The governor against the benchmark library."""

import numpy as np
import pytest

from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.papers.measure import DATA
from cmbcontrol.plants import catalogue, governor
from cmbcontrol.plants.governor import start as governor_start
from cmbcontrol.sim.simulate import simulate
from tests.fixtures import gradient

G = 9.81


def reference_slider():
    """The benchmark's printed curve: t, s."""
    text = (DATA / "iftomm_a05_s.csv").read_text().splitlines()
    return np.array([[float(x) for x in line.split(",")] for line in text if line[:1].isdigit()])


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
    """Eigenvalues of the motion at the start: damper over reduced mass, against the bending of the path."""
    plant, q, v = catalogue["governor"].start()
    x = np.concatenate([q, v])
    J = gradient(lambda x: np.concatenate([x[4:], forward_dynamics(plant, x[:4], x[4:])]), x, 1e-4)
    found = np.sort(np.linalg.eigvals(J).real)
    assert found[:4] == pytest.approx([-8117.2, -1450.3, -20.298, -20.051], rel=1e-4)


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
