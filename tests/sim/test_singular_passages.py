"""From one singular configuration to the next: passages, locks and near misses of whole runs."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.dynamics.singular import singular_configuration
from cmbcontrol.errors import SingularConfigurationError
from cmbcontrol.papers.methods import settings
from cmbcontrol.plants.five_bar import configuration as five_bar_configuration
from cmbcontrol.plants.parallelogram import configuration as links_configuration
from cmbcontrol.plants.parallelogram import rate as links_rate
from tests.fixtures import bars, triangle, without_gravity

pytestmark = pytest.mark.nojit_slow  # whole runs


# -- the cone -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "base", "q", "mobilities"),
    [(triangle, 3.0, [0.0, 0.0], 1), (bars, 3.5, [0.0, 0.0, np.pi], 2)],
    ids=["three", "four"],
)
def test_a_bar_as_long_as_the_others_together_is_locked(make, base, q, mobilities):
    plant = make(base)
    pose = singular_configuration(plant, q)
    assert pose.locked and not pose.bifurcation and pose.motions.shape[1] == mobilities
    assert pose.generic_rank == plant.nv and pose.infinitesimal.shape[1] == mobilities
    assert "rigid: " in str(pose)
    with pytest.raises(SingularConfigurationError, match="It is rigid: "):
        cmb.simulate(plant, q0=q, t_end=1.0)
    with pytest.raises(SingularConfigurationError, match="cannot go on"):
        cmb.simulate(plant, q0=q, v0=pose.motions[:, 0], t_end=1.0)


@pytest.mark.nojit_slow
def test_a_little_shorter_it_swings_in_the_play():
    """Bars of 1, 2 and 0.5 m on a base shorter than 3.5 m by g: angles stay below about sqrt(2 g / 0.5)."""
    plant = bars(3.5 - 1e-4)
    q = plant.close([1e-2, -1e-2, np.pi + 1e-2])
    run = cmb.simulate(plant, q0=q, t_end=1.0)
    assert np.abs(run.q.values - [0.0, 0.0, np.pi]).max() < 0.03
    assert run.max_energy_error < 1e-9 and run.events() == []


# -- runs ----------------------------------------------------------------------------------------------


@pytest.mark.nojit_slow
@pytest.mark.parametrize(("coordinates", "times"), [("cartesian", 100), ("planar", 20)])
def test_parallelogram_passes_its_flat_pose_many_times(coordinates, times):
    plant = without_gravity(plants.parallelogram(coordinates=coordinates))
    v = links_rate(plant, 1.0, 1.0)
    run = cmb.simulate(plant, q0=links_configuration(1.0), v0=v, t_end=times * np.pi)
    speed = run.v.values[:, [2, 5, 8]]
    assert np.abs(speed - 1.0).max() < 1e-8
    passages = run.events()
    assert [e["kind"] for e in passages] == ["singular passage"] * times
    assert [e["time"] for e in passages] == pytest.approx(np.pi * np.arange(1, times + 1) - 1.0, abs=1e-6)
    assert {e.taken for e in run.singularities()[::10]} == {0}


@pytest.mark.nojit_slow
def test_five_bar_energy_does_not_jump():
    plant = plants.five_bar()
    for branch in (None, lambda pose, t, v: None):
        run = cmb.simulate(
            plant, q0=five_bar_configuration(plant, "second"), t_end=2.0, output_times=0.002, branch=branch
        )
        for event in run.singularities():
            near = np.abs(run.time - event.time) < 0.05
            assert np.ptp(run.energy_balance.values[near]) < 1e-8
            assert event.taken == 0 and event.rank == 1 and event.new_motions.shape == (4, 1)
            assert "singular passage" in str(event) and "went on on branch 0" in str(event)


@pytest.mark.nojit_slow
def test_near_misses_have_no_pose():
    """A base shorter by 1e-9 m: the flat configuration is missed by about 3e-5."""
    plant = bars(2.5 - 1e-9, gravity=(0, 0, 0))
    q = plant.assemble(guess={"a": 0.5, "b": -1.0, "c": -0.5}, a=0.5)
    v = plant.terms(q, np.zeros(3)).Z[:, 0]
    run = cmb.simulate(plant, q0=q, v0=np.sign(-v[0]) * v, t_end=1.5, **settings(pass_within=1e-6))
    (event,) = run.singularities()
    assert event.kind == "near-singular passage" and event.configuration is None and event.taken is None
    assert "misses" in str(event) and event.branches == () and event.new_motions.shape == (3, 0)
