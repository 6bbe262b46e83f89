"""Where runs start: starts that are closed, and those that are refused."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.errors import ImmobileWarning
from cmbcontrol.sim.start import start_state
from tests.fixtures import regular_start


def test_bad_starts():
    plant = plants.five_bar()
    q0 = regular_start(plant)
    with pytest.raises(TypeError, match="assemble"):
        cmb.simulate(plant, t_end=1.0)
    with pytest.raises(ValueError, match="leaves the loops open"):
        cmb.simulate(plant, q0=[0.1, 0.2, 0.3, 0.4], t_end=1.0)
    with pytest.raises(ValueError, match="violates the loops"):
        cmb.simulate(plant, q0=q0, v0=[1.0, 0.0, 0.0, 0.0], t_end=1.0)
    with pytest.raises(ValueError, match="q0 must have shape"):
        cmb.simulate(plant, q0=q0[:3], t_end=1.0)
    with pytest.raises(ValueError, match="finite"):
        cmb.simulate(plant, q0=q0 * np.nan, t_end=1.0)
    with pytest.raises(TypeError, match="step="):
        cmb.simulate(plant, q0=q0, t_end=1.0, method="rk4")
    with pytest.raises(TypeError, match="unexpected keyword"):
        cmb.simulate(plant, q0=q0, t_end=1.0, tolerance=1.0)


def test_small_gaps_are_closed():
    """By rounding and a little more; what is closed already stays as it is, to the last bit."""
    plant = plants.five_bar()
    q0 = regular_start(plant)
    start = start_state(plant, q0 + 1e-9, plant.project_velocity(q0, [1.0, 0.0, 0.0, 0.0]), "mass", 1.0)
    terms = plant.terms(start.q, start.v)
    assert np.abs(terms.phi).max() < 1e-15 and np.abs(terms.A @ start.v).max() < 1e-14
    assert np.abs(start.q - q0).max() < 1e-8
    closed = plant.close(q0, accuracy=1e-16)
    again = start_state(plant, closed, None, "mass", 1.0)
    assert again.q.tolist() == closed.tolist() and again.v.tolist() == [0.0] * 4


def test_nothing_moves():
    locked = cmb.Mechanism("locked", [cmb.Body("body", 1.0)], [cmb.Fixed("held", "ground", "body")])
    with pytest.raises(ValueError, match="'locked' has no coordinates: nothing moves"):
        start_state(locked, [], None, "mass", 1.0)


def test_quaternions_get_length_one():
    body = cmb.Body("body", 1.0, inertia=(0.1, 0.2, 0.3))
    plant = cmb.Mechanism("free", [body], [cmb.Spherical("ball", "ground", "body")])
    q = start_state(plant, [2.0, 0.0, 0.0, 2.0], None, "mass", 1.0).q
    assert q == pytest.approx(np.array([1.0, 0.0, 0.0, 1.0]) / np.sqrt(2.0), abs=1e-15)


def frame_of_bars(*more):
    """Three bars whose ends are held where they are: nothing can move, and no force is there at all."""
    rods, end = [cmb.Body.rod(n, 1.0, 1.0) for n in "abc"], cmb.Frame((1.0, 0, 0))
    joints = [
        cmb.Revolute("ja", "ground", "a"),
        cmb.Revolute("jb", "a", "b", frame=end),
        cmb.Revolute("jc", "b", "c", frame=end),
    ]
    open_chain, q = cmb.Mechanism("chain", rods, joints), np.array([0.3, 1.1, 0.7])
    tip, middle = open_chain.point(q, "c", (1.0, 0, 0)), open_chain.point(q, "b", (0.3, 0, 0))
    loops = [cmb.Point("tip", "ground", "c", tip, (1.0, 0, 0)), cmb.Point("middle", "ground", "b", middle, (0.3, 0, 0))]
    return open_chain.with_parts(loops=[*loops, *more]), q


class TestMachinesThatCannotMove:
    def test_velocities_that_are_rounding_are_rest(self):
        """What `project_velocity` leaves of any velocity is one that it allows."""
        plant, q = frame_of_bars()
        q = plant.close(q)
        for seed in range(30):
            v = plant.project_velocity(q, np.random.default_rng(seed).uniform(-1.0, 1.0, 3))
            with pytest.warns(ImmobileWarning):
                run = cmb.simulate(plant, None, q, v, t_end=0.1, output_times=0.1)
            assert np.abs(run.q.values - q).max() < 1e-14

    def test_velocities_that_lead_somewhere_are_refused(self):
        plant, q = frame_of_bars()
        for size in (1.0, 1e-6, 1e-9):
            with pytest.raises(ValueError, match="violates the loops"):
                cmb.simulate(plant, None, q, [size, 0.0, 0.0], t_end=1.0)

    def test_it_is_told_by_a_warning_and_in_the_summary(self):
        plant, q = frame_of_bars()
        with pytest.warns(ImmobileWarning, match=r"'chain' cannot move: 3 independent .* all of its 3") as told:
            run = cmb.simulate(plant, None, q, t_end=0.1)
        assert told[0].filename == __file__
        assert "mobility" in str(run) and "nothing can move" in str(run)
        moving = plants.five_bar()
        assert "mobility" not in str(cmb.simulate(moving, None, regular_start(moving), t_end=0.01))

    def test_what_is_locked_for_a_time_or_moved_by_motions_is_no_such_machine(self):
        plant = plants.five_bar()
        q0 = regular_start(plant)
        locks = [cmb.Lock("left", at=0.0), cmb.Lock("right", at=0.0), cmb.Unlock("left", at=0.05)]
        cmb.simulate(plant, None, q0, t_end=0.1, switches=locks)
        places = {n: q0[plant.position_names.index(n)] for n in ("left", "right")}
        motions = [cmb.JointMotion(f"drive_{n}", n, position=x) for n, x in places.items()]
        driven = plant.with_parts(loops=[*plant.loops, *motions])
        cmb.simulate(driven, None, q0, t_end=0.1)


@pytest.mark.parametrize("angle", [0.0, np.pi])
def test_at_a_singular_start_rounding_is_rest(angle):
    """Without gravity nothing else than the time of the run tells which velocities are none."""
    plant = plants.n_four_bar(2).with_parts(gravity=(0.0, 0.0, 0.0))
    q = plant.assemble(bar0=angle)
    v = 1e-16 * np.array([1.0, -2.0, 0.5, 0.3, -1.0])
    run = cmb.simulate(plant, None, q, v, t_end=1.0, output_times=0.5)
    assert np.abs(run.q.values - q).max() < 1e-12
