"""Inverse kinematics: closed forms of the five-bar, random targets, nearest ones, branches."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Body, InverseKinematics, Mechanism, Revolute, plants
from cmbcontrol.controllers import PointTask, PoseTask
from cmbcontrol.controllers.inverse_kinematics import _unseen
from tests.fixtures import knuckle_press, refuses
from tests.seeds import many

MACHINES = {
    "five-bar": ("left_upper", (1.5, 0.0, 0.0), "xy"),
    "three-rrr": ("platform", (0.1, 0.0, 0.0), "xy"),
    "loader": ("bucket", (0.0, 0.0, 0.0), "xy"),
    "delta": ("platform", (0.0, 0.0, 0.0), "xyz"),
    "stewart": ("platform", (0.0, 0.0, 0.1), "xyz"),
}


def machine(name):
    plant, q, *_ = plants.catalogue[name].start()
    body, point, axes = MACHINES[name]
    return plant, q, PointTask(plant, body, point, axes=axes)


def values(task, plant, q):
    return task.value(plant.terms(q, np.zeros(plant.nv)))


def arm(limits=(None, None)):
    """Two links in the plane."""
    bodies = [Body.rod(name, 1.0, length) for name, length in (("upper", 1.0), ("lower", 0.6))]
    joints = [
        Revolute("shoulder", "ground", "upper", limits=limits[0]),
        Revolute("elbow", "upper", "lower", frame=cmb.Frame((1.0, 0.0, 0.0)), limits=limits[1]),
    ]
    plant = Mechanism("arm", bodies, joints)
    return plant, PointTask(plant, "lower", (0.6, 0.0, 0.0), axes="xy")


def test_two_links_by_the_law_of_cosines():
    plant, task = arm()
    target = np.array([0.9, 0.7])
    d = np.hypot(*target)
    elbow = np.arccos((d * d - 1.0 - 0.36) / 1.2)
    found = InverseKinematics(plant, task).branches(target)
    assert len(found) == 2
    assert sorted(np.round(x.q[1] % (2 * np.pi), 9) for x in found) == pytest.approx(
        [elbow, 2 * np.pi - elbow], abs=1e-8
    )
    for x in found:
        assert x.reached and x.distance < 1e-10
        np.testing.assert_allclose(values(task, plant, x.q), target, atol=1e-11)


def test_out_of_reach_it_points_there():
    plant, task = arm()
    found = InverseKinematics(plant, task)([3.0, 4.0])
    assert not found.reached and found.distance == pytest.approx(5.0 - 1.6, abs=1e-9)
    assert np.cos(found.q[1]) == pytest.approx(1.0, abs=1e-9)
    assert "out of reach by 3.4 m" in str(found)
    inside = InverseKinematics(plant, task)([0.0, 0.1])
    assert inside.distance == pytest.approx(0.4 - 0.1, abs=1e-9)


def test_limits_are_respected():
    plant, task = arm(((0.0, 0.6), (0.2, 2.0)))
    found = InverseKinematics(plant, task)([-1.0, 0.5])
    low, high = plant.limits.T
    assert (found.q >= low).all() and (found.q <= high).all() and found.at_limits == ("shoulder", "elbow")
    grid = np.stack(np.meshgrid(np.linspace(0, 0.6, 400), np.linspace(0.2, 2.0, 400)), -1).reshape(-1, 2)
    tips = np.stack([np.cos(grid[:, 0]) + 0.6 * np.cos(grid.sum(1)), np.sin(grid[:, 0]) + 0.6 * np.sin(grid.sum(1))], 1)
    nearest = np.linalg.norm(tips - [-1.0, 0.5], axis=1).min()
    assert found.distance == pytest.approx(nearest, abs=1e-4)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", ["five-bar", "three-rrr"])
def test_targets_that_exist_are_reached(name, count=25):
    plant, start, task = machine(name)
    reach = InverseKinematics(plant, task)
    for q in InverseKinematics(plant, task, seed=5)._random(count):
        target = values(task, plant, q)
        found = reach(target, guess=start)
        assert found.reached and found.distance <= 1e-10
        assert plant.closure_error(found.q) < 1e-11 * plant.size
        np.testing.assert_allclose(values(task, plant, found.q), target, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_many_targets_that_exist_are_reached(name):
    test_targets_that_exist_are_reached(name, many(60))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", ["five-bar", "three-rrr", "loader", "delta"])
@pytest.mark.first(1)
def test_nearest_ones_are_nearest(name):
    """No other configuration that is tried comes nearer, and none nearby does."""
    plant, start, task = machine(name)
    reach, rng = InverseKinematics(plant, task), np.random.default_rng(1)
    others = [values(task, plant, q) for q in InverseKinematics(plant, task, seed=9)._random(150)]
    centre, size = np.mean(others, axis=0), np.ptp(others, axis=0).max()
    for _ in range(3):
        away = rng.standard_normal(len(centre))
        target = centre + 2.0 * size * away / np.linalg.norm(away)
        found = reach(target, guess=start)
        assert not found.reached
        assert found.distance <= min(np.linalg.norm(target - x) for x in others) + 1e-9 * size
        terms = plant.terms(found.q, np.zeros(plant.nv))
        uphill = terms.Z.T @ task.jacobian(terms).T @ found.error
        if not found.at_limits:
            assert np.abs(uphill).max() < 1e-4 * found.distance


@pytest.mark.nojit_slow
@pytest.mark.slow
def test_poses_and_redundant_tasks():
    plant, start, _ = machine("stewart")
    pose = PoseTask(plant, "platform")
    reach = InverseKinematics(plant, pose)
    here = values(pose, plant, start)
    target = here + np.array([0.02, -0.03, 0.04, 0.05, -0.04, 0.1])[: len(here)]
    found = reach(target, guess=start)
    assert found.reached
    height = InverseKinematics(plant, PointTask(plant, "platform", (0, 0, 0), axes="z"))
    near = height([here[2] + 0.05], guess=start)
    assert near.reached and np.abs(plant.difference(start, near.q) * plant.unit_lengths).max() < 0.5 * plant.size
    refuses(lambda: height.branches([here[2]], tries=5), "free", "infinitely many", kind=ValueError)


def test_all_assemblies_of_the_five_bar():
    plant = plants.five_bar()
    found = InverseKinematics(plant, ("left", "right")).branches([2.1, 1.0])
    assert len(found) == 2
    tips = [plant.point(x.q, "left_upper", (1.5, 0.0, 0.0)) for x in found]
    assert tips[0][1] * tips[1][1] < 0.0 or abs(tips[0][1] - tips[1][1]) > 0.1
    modes = InverseKinematics(plant, PointTask(plant, "left_upper", (1.5, 0.0, 0.0), axes="xy")).branches(tips[0][:2])
    assert len(modes) == 4  # either elbow to either side


def test_workspace():
    plant, task = arm()
    found = InverseKinematics(plant, task).workspace(200)
    radius = np.linalg.norm(found.value.values, axis=1)
    assert radius.max() <= 1.6 + 1e-12 and radius.min() >= 0.4 - 1e-12
    assert found.sizes == {"sample": 200, "name": 2, "position": 2}
    s = np.abs(np.sin(found.q.values[:, 1]))
    assert np.corrcoef(s, found.manipulability.values)[0, 1] > 0.4
    assert (found.manipulability.values[s < 0.02] < 0.05).all()


@pytest.mark.parametrize("ratio", [60.0, None, -1e-3, 1e3])
@pytest.mark.first(1)
def test_a_gear_changes_no_answer(ratio):
    """Numbers are those of the press without its motor: nearest crank, distance out of reach, branches."""
    plant, guess = knuckle_press(ratio), {"rod": -0.9, "upper": -1.9, "lower": 0.6, "ram": 0.05}
    crank = plant.position_names.index("crank")
    reach = InverseKinematics(plant, "ram")
    near = reach([0.01], guess=plant.assemble(crank=1.0, guess=guess))
    assert near.reached and near.q[crank] == pytest.approx(1.0634, abs=1e-4)
    far = reach([0.2])
    assert far.distance == pytest.approx(0.04384143724, abs=1e-10) and not far.reached
    assert len(reach.branches([0.05])) == 2
    if ratio is not None:
        assert near.q[0] == pytest.approx(ratio * near.q[crank], rel=1e-13)
        by_motor = InverseKinematics(plant, "motor")([ratio * 2.0], guess=plant.assemble(crank=1.8, guess=guess))
        assert by_motor.reached and by_motor.q[crank] == pytest.approx(2.0, abs=1e-11)
        data = reach.workspace(20)
        np.testing.assert_allclose(data.q.values[:, 0], ratio * data.q.values[:, crank], rtol=1e-13)
        np.testing.assert_array_equal(
            data.manipulability, InverseKinematics(knuckle_press(), "ram").workspace(20).manipulability
        )


@pytest.mark.parametrize("target", [2.0, 4.0, -9.0])
def test_a_pin_that_turns_round_goes_to_any_angle(target):
    plant = Mechanism("pin", [Body.rod("rod", 1.0, 1.0)], [Revolute("pin", "ground", "rod")])
    found = InverseKinematics(plant, "pin")([target])
    assert found.reached and found.q[0] == pytest.approx(target, abs=1e-12)


def test_coordinates_that_a_guess_does_not_name_are_found():
    plant = plants.five_bar()
    task = PointTask(plant, "left_upper", (1.5, 0.0, 0.0), axes="xy")
    whole = plant.assemble(left=2.1, right=1.0)
    target = values(task, plant, whole) + 0.05
    some = {"left": 2.1, "elbow_left": float(whole[1])}
    reach = InverseKinematics(plant, task)
    np.testing.assert_allclose(reach(target, guess=some).q[:2], reach(target, guess=whole).q[:2], atol=1e-10)


@pytest.mark.slow
def test_nearest_ones_end_to_the_last_digits():
    """At its end the ram turns back, so that no motion of the first order is left: both targets end there."""
    reach = InverseKinematics(knuckle_press(), "ram")
    near, far = reach([0.2]), reach([0.3])
    assert far.distance - near.distance == pytest.approx(0.1, abs=1e-12)
    np.testing.assert_allclose(np.cos(near.q[:1] - far.q[:1]), 1.0, atol=1e-12)


def test_the_chance_of_ends_that_were_not_seen():
    assert _unseen([1.0] * 10) == pytest.approx(2.0 / 90.0)
    assert _unseen([1.0, 1.00001, 2.0, np.inf, np.inf]) == pytest.approx(20.0 / 20.0)
    assert _unseen([0.5]) == 1.0


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", ["loader", "delta", "stewart"])
@pytest.mark.first(1)
def test_unreachable_targets_take_few_searches(name, monkeypatch):
    """So many that they are told in about a second: each takes some ten milliseconds."""
    plant, start, task = machine(name)
    reach, base, searches = InverseKinematics(plant, task), values(task, plant, start), []
    for way in ("_descend", "_approach"):
        own = getattr(reach, way)
        monkeypatch.setattr(reach, way, lambda *a, own=own: (searches.append(1), own(*a))[1])
    for far in (1.0, 3.0):
        searches.clear()
        assert not reach(base + far * plant.size * np.ones(len(base)), guess=start).reached
        assert len(searches) <= 111


def test_extremes_are_where_links_are_stretched():
    plant, task = arm()
    np.testing.assert_allclose(InverseKinematics(plant, task).extremes().value, [[-1.6, 1.6], [-1.6, 1.6]], atol=1e-9)
    plant, task = arm(((0.0, 0.6), (0.2, 2.0)))
    least = [np.cos(0.6) + 0.6 * np.cos(2.6), 0.6 * np.sin(0.2)]
    most = [1.0 + 0.6 * np.cos(0.2), np.sin(0.6) + 0.6]
    found = InverseKinematics(plant, task).extremes()
    np.testing.assert_allclose(found.value, np.transpose([least, most]), atol=1e-9)
    for i, k in np.ndindex(2, 2):
        q = found.q.values[i, k]
        assert values(task, plant, q)[i] == pytest.approx(found.value.values[i, k], abs=1e-14)
    five = plants.five_bar()
    tip = PointTask(five, "left_upper", (1.5, 0.0, 0.0), axes="xy")
    high = np.sqrt(2.5**2 - 0.5**2)
    np.testing.assert_allclose(InverseKinematics(five, tip).extremes().value, [[-1.5, 2.5], [-high, high]], atol=1e-9)


@pytest.mark.slow
def test_what_goes_on_for_ever_has_no_extremes():
    plant = Mechanism("pin", [Body.rod("rod", 1.0, 1.0)], [Revolute("pin", "ground", "rod")])
    assert InverseKinematics(plant, "pin").extremes().value.values.tolist() == [[-np.inf, np.inf]]
    geared, plain = (InverseKinematics(knuckle_press(ratio), "ram").extremes().value.values for ratio in (60.0, None))
    np.testing.assert_array_equal(geared, plain)


def test_wrong_calls_are_told():
    plant, task = arm()
    reach = InverseKinematics(plant, task)
    refuses(lambda: reach([1.0]), "the target", kind=ValueError)
    refuses(lambda: reach([1.0, np.nan]), "the target", kind=ValueError)
    refuses(lambda: InverseKinematics(plant, "elbo"), "'elbo'", kind=ValueError)
    refuses(lambda: InverseKinematics(plant, task, samples=0), "samples", kind=ValueError)
    far = [Revolute("r", "ground", "a"), Revolute("s", "a", "b", frame=cmb.Frame((1, 0, 0)))]
    open_ = Mechanism("m", [Body.rod("a", 1, 1), Body.rod("b", 1, 1)], far, [cmb.Point("p", "ground", "b", (9, 0, 0))])
    refuses(lambda: InverseKinematics(open_, "r", samples=2)([0.0]), "no configuration", kind=ValueError)
