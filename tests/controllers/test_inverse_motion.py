"""Motions asked of one part as references of others: exact kinematics, branches, dead centres, runs, files."""

from pathlib import Path

import numpy as np
import pytest
import yaml

import cmbcontrol as cmb
from cmbcontrol import CamProfile, InverseMotion, Quintic, Sine, plants
from cmbcontrol.controllers import PointTask, PoseTask, ProjectedInverseDynamics, law_from_dict, law_to_dict
from cmbcontrol.controllers.gravity_compensation import driven_coordinates
from cmbcontrol.controllers.inverse_kinematics import InverseKinematics

from ..fixtures import rates_are_derivatives, toggle_press

STROKE = [0.0, 0.5, 0.7, 1.2], [0.14, 0.004, 0.004, 0.14]  # s, m


@pytest.fixture(scope="module")
def press():
    """The press, a configuration with the ram on its way, a stroke with a dwell, and the crank's motion for it."""
    plant, q = toggle_press()
    ram = CamProfile(*STROKE, "4-5-6-7", periodic=True)
    return plant, q, ram, InverseMotion(plant, "ram", ram, "crank", start=q)


def test_the_ram_goes_where_it_is_asked_to(press):
    """By closing the loops for the crank at 200 times: position, velocity and acceleration of the ram."""
    plant, _, ram, crank = press
    q = crank.q0
    times = np.linspace(0.0, 1.2, 201)
    asked, told = ram.over(times), crank.over(times)
    scales = np.abs(asked).max(axis=0)
    for t, (height, speed, acceleration), (angle, rate, rate_of_rate) in zip(times, asked, told, strict=True):
        q = plant.assemble(crank=angle, guess=dict(zip(plant.position_names[1:], q[1:], strict=True)))
        terms = plant.terms(q, np.zeros(plant.nv))
        (motion,) = (terms.Z / terms.Z[0]).T
        terms = plant.terms(q, motion * rate)
        # A a = -b with the a of the crank
        a = terms.Cv + motion * (rate_of_rate - terms.Cv[0])
        found = np.array([q[-1], motion[-1] * rate, a[-1]])
        assert (np.abs(found - [height, speed, acceleration]) <= [1e-11, 1e-9 * scales[1], 2e-9 * scales[2]]).all(), t


def test_the_reference_and_its_rates_are_as_exact_as_told(press):
    """Against Newton's solutions at random times, not those where it was checked."""
    plant, _, ram, crank = press
    rates_are_derivatives(crank)
    assert (crank.error <= [1e-11, 1e-10, 1e-9]).all()
    reach, q = InverseKinematics(plant, "ram"), crank.q0
    for t in np.sort(np.random.default_rng(0).uniform(0.0, 1.2, 30)):
        found = reach(ram(t)[0], guess=q)
        assert found.reached
        q = found.q
        assert abs(crank(t)[0][0] - q[0]) < 1e-10  # reached to 1e-11 m
    dwell = crank.over(np.linspace(0.5, 0.7, 50)[1:-1])
    assert np.ptp(dwell[:, 0]) < 1e-14 and not dwell[:, 1:].any()
    np.testing.assert_allclose(crank.over([0.3, 5 * 1.2 + 0.3])[1], crank.over([0.3])[0], rtol=1e-9, atol=1e-9)


def test_branches_are_kept():
    """Of the two ways in which the crank moves the ram down, it keeps to that of the start."""
    plant, q = toggle_press()
    other = plant.assemble(crank=3.7, guess={"rod": 2.65, "upper": -2.2, "lower": 1.1, "ram": 0.14})
    ram = CamProfile(*STROKE)
    first, second = (InverseMotion(plant, "ram", ram, "crank", start=x) for x in (q, other))
    low, high = first.over([0.0, 0.6]), second.over([0.0, 0.6])
    assert low[1, 0] < low[0, 0] < np.pi < high[0, 0] < high[1, 0]
    guessed = InverseMotion(plant, "ram", ram, "crank", start={"crank": 2.7, "upper": -2.2, "rod": -2.6, "lower": 1.1})
    np.testing.assert_allclose(guessed(0.3)[0], first(0.3)[0], rtol=1e-12)


def test_a_crank_that_turns_on_is_asked_by_another_coordinate():
    """A gear: the rod's end of the catalogue's five-bar has none, so a shaft and its gear with a ratio of -3."""
    bodies = [cmb.Body("shaft", 1.0, inertia=(1.0,) * 3), cmb.Body("wheel", 1.0, inertia=(1.0,) * 3)]
    joints = [cmb.Revolute("shaft", "ground", "shaft"), cmb.Revolute("wheel", "ground", "wheel")]
    plant = cmb.Mechanism("gear", bodies, joints, [cmb.Coupling("gear", {"shaft": 1.0, "wheel": 3.0})])
    turning = cmb.Spline([0.0, 0.3, 1.0], [0.0, 3.0, 2.0 * np.pi], periodic=True)
    driven = InverseMotion(plant, "wheel", turning, "shaft", start=plant.neutral())
    times = np.linspace(0.0, 5.0, 101)
    np.testing.assert_allclose(driven.over(times), -3.0 * turning.over(times), rtol=1e-9, atol=1e-8)
    wave = InverseMotion(plant, "wheel", Sine([0.0], [0.5], 2.0), "shaft", start=plant.neutral())
    np.testing.assert_allclose(wave.over(times), -3.0 * Sine([0.0], [0.5], 2.0).over(times), rtol=0.0, atol=1e-6)


def test_several_values_by_a_task():
    """The tip of the five-bar along a line, by its two motors, against the inverse kinematics."""
    plant = plants.five_bar()
    q, tip = plant.assemble(left=2.1, right=1.0), PointTask(plant, "left_upper", (1.5, 0.0, 0.0), axes="xy")
    line = Quintic([0.5, 1.9], [0.7, 1.7], 1.0)
    arms = InverseMotion(plant, tip, line, ("left", "right"), start=q)
    rates_are_derivatives(arms)
    for t in (0.0, 0.33, 0.8, 1.0):
        found = InverseKinematics(plant, tip)(line(t)[0], guess=q)
        q = found.q
        np.testing.assert_allclose(arms(t)[0], q[[0, 2]], atol=1e-10)


@pytest.mark.parametrize("name", ["stewart", "delta"])
def test_poses_of_parallel_robots(name):
    """Six legs by a pose with rotations, whose rates are no angular velocities; three arms by a place."""
    plant, q, _ = plants.catalogue[name].start()
    motors = driven_coordinates(plant)
    if name == "stewart":
        task, way = PoseTask(plant, "platform"), [0.03, 0.02, 0.05, 0.15, -0.1, 0.15]
    else:
        task, way = PointTask(plant, "platform", axes="xyz"), [0.05, 0.02, -0.04]
    here = task.value(plant.terms(q, np.zeros(plant.nv)))
    ways = CamProfile([0.0, 0.4, 1.0], [here, here + way, here], periodic=True)
    drives = InverseMotion(plant, task, ways, motors, start=q)
    rates_are_derivatives(drives, 1e-8)  # the jerk, of accelerations that are right to 1e-9
    places = [plant.position_names.index(n) for n in motors]
    reach = InverseKinematics(plant, task)
    for t in np.linspace(0.05, 0.95, 7):
        found = reach(ways(t)[0], guess=q)
        q = found.q
        np.testing.assert_allclose(drives(t)[0], q[places], rtol=0.0, atol=1e-10)


@pytest.mark.parametrize(
    ("heights", "message"),
    [
        (
            [0.14, 0.0, 0.0, 0.14],
            r"at t = 0\.49\d* s, near crank = 0\.0\d+, ram = .*dead centre.*the coordinate itself",
        ),
        ([0.14, 0.157, 0.157, 0.14], r"near crank = 3\.\d+, ram = 0\.15\d+ is at or beyond a dead centre"),
        ([0.30, 0.1, 0.1, 0.30], r"at t = 0 s ram = 0\.3 is out of reach of 'press': it comes no nearer than 0\.14"),
    ],
)
def test_what_cannot_be_reached_is_told_with_time_and_place(heights, message):
    plant, q = toggle_press()
    with pytest.raises(ValueError, match=message):
        InverseMotion(plant, "ram", CamProfile(STROKE[0], heights), "crank", start=q)


def test_a_motion_of_the_crank_passes_the_dead_centre():
    """The remedy of the message: given in the crank, the ram is at its lowest in the middle, and goes up again."""
    plant, q = toggle_press()
    crank = CamProfile([0.0, 1.0], [0.6, -0.6])
    upper = InverseMotion(
        plant, "crank", crank, "ram", start={**dict(zip(plant.position_names, q, strict=True)), "crank": 0.6}
    )
    heights = upper.over(np.linspace(0.0, 1.0, 101))[:, 0]
    assert heights.argmin() in (49, 50, 51) and heights.min() > -1e-4 and heights[0] > 1e-3 < heights[-1]


def test_limits_and_wrong_calls_are_told():
    plant, q = toggle_press()
    ram = CamProfile(*STROKE)
    with pytest.raises(ValueError, match="motion has 1 coordinates, and the task 2"):
        InverseMotion(plant, ("ram", "crank"), ram, "crank", start=q)
    with pytest.raises(ValueError, match="has 1 degrees of freedom, and the task"):
        InverseMotion(plant, ("ram", "rod"), CamProfile([0.0, 1.0], [[0.1, 0.0], [0.0, 0.1]]), "crank", start=q)
    with pytest.raises(ValueError, match="goes on for ever"):
        InverseMotion(plant, "ram", cmb.Constant([0.1]), "crank", start=q)
    with pytest.raises(ValueError, match="prescribed motions"):
        moved = plant.with_loops(cmb.JointMotion("drive", "crank", position=float(q[0]), velocity=1.0))
        InverseMotion(moved, "ram", ram, "crank", start=q)
    tight = cmb.Mechanism(
        "tight",
        [cmb.Body("a", 1.0, inertia=(1.0,) * 3)],
        [cmb.Revolute("a", "ground", "a", limits=(-0.1, 0.5))],
    )
    with pytest.raises(ValueError, match=r"a = 0\.6\d* is beyond its limits, -0\.1 to 0\.5"):
        InverseMotion(tight, "a", CamProfile([0.0, 1.0], [0.0, 1.0]), "a")


@pytest.mark.nojit_slow
def test_it_runs_in_the_compiled_loop_and_holds_the_dwell(press):
    """Under a tracking law with a period the ram stays at 4 mm: in the loop, and as the law that a file describes."""
    plant, _, _, crank = press
    law = ProjectedInverseDynamics(plant, "crank", crank, bandwidth=60.0, period=1e-3)
    v0 = np.zeros(plant.nv)
    run = cmb.simulate(plant, law, crank.q0, v0, t_end=0.7, output_times=0.01)
    heights = run.q.sel(position="ram").values
    dwell = (run.time > 0.6) & (run.time < 0.7)
    assert np.abs(heights[dwell] - 0.004).max() < 2e-6  # what the hold of the samples leaves of the way
    described = law_to_dict(law, plant)
    assert described["reference"]["type"] == "InverseMotion" and "plant" not in described["reference"]
    again = law_from_dict(described, plant)
    np.testing.assert_array_equal(again.reference.over([0.1, 0.6]), crank.over([0.1, 0.6]))


def test_the_file_of_the_page_is_a_reference():
    """The YAML of docs/motion-profiles.md, with a parameter in the place of a height; mistakes name their entry."""
    plant, _ = toggle_press()
    page = (Path(__file__).parents[2] / "docs" / "motion-profiles.md").read_text(encoding="utf-8")
    described = yaml.safe_load(page.split("```yaml\n")[1].split("```")[0])["reference"]
    assert law_from_dict(described, plant).over([0.6])[0, 0] == pytest.approx(0.8275, abs=1e-4)
    described["motion"]["positions"] = [0.14, "$low", "$low", 0.14]
    heights = [law_from_dict(described, plant, {"low": low}).over([0.6])[0, 0] for low in (0.004, 0.006)]
    assert heights[0] < heights[1]
    described["motion"]["law"] = "cycloidl"
    with pytest.raises(ValueError, match="did you mean 'cycloidal'") as told:
        law_from_dict(described, plant, {"low": 0.004})
    assert told.value.within == ("motion", "law")
