"""Cases of pages at the edges: tiny and huge machines, single samples, failed runs, plants of functions."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.errors import InputError, ModelError, SimulationError
from cmbcontrol.viewer.cases import case_of_machine, case_of_run
from cmbcontrol.viewer.payload import pack, unpack

from .runs import failed, singular, tracked


def pendulum(length):
    body = cmb.Body.rod("rod", 1.0, length)
    return cmb.Mechanism("pendulum", [body], [cmb.Revolute("pivot", "ground", "rod", axis=(0, 1, 0))])


@pytest.mark.parametrize("length", [1e-3, 100.0])
def test_machines_of_any_size(length):
    plant = pendulum(length)
    run = cmb.simulate(plant, q0=[0.3], t_end=1.0)
    case = unpack(pack(case_of_run(run)))
    k = case["look"]["bodies"].index("rod")
    for row, q in ((0, run.q.values[0]), (-1, run.q.values[-1])):
        assert np.abs(case["motion"]["positions"][row, k] - plant.pose(q, "rod").p).max() < 1e-4 * length


def test_a_single_sample():
    plant = pendulum(1.0)
    run = cmb.simulate(plant, q0=[0.3], t_end=1.0)
    case = case_of_run(run._with(run.data.isel(time=[0])))
    assert case["motion"]["times"].tolist() == [0.0] and case["speed"] == 1.0


def test_milliseconds_are_slowed_down():
    case = case_of_run(cmb.simulate(pendulum(1.0), q0=[0.3], t_end=2e-3))
    assert case["speed"] == pytest.approx(1e-3) and len(case["motion"]["times"]) > 50
    assert case_of_run(cmb.simulate(pendulum(1.0), q0=[0.3], t_end=2e-3), speed=0.5)["speed"] == 0.5


def test_a_failed_run_is_shown_as_far_as_it_came():
    run = cmb.simulate(pendulum(1.0), q0=[0.3], t_end=1.0)
    data = run.data.copy(deep=True)
    data["q"][300:] = np.nan
    case = case_of_run(run._with(data))
    assert case["motion"]["times"][-1] == run.time[299]
    data["q"][:] = np.nan
    with pytest.raises(InputError, match="no finite configuration"):
        case_of_run(run._with(data))


def test_an_error_brings_its_run():
    with pytest.raises(SimulationError) as caught:
        cmb.simulate(pendulum(1.0), lambda t, q, v: [] if t < 0.2 else 1 / 0, q0=[0.3], t_end=1.0)
    case = case_of_run(caught.value.partial)
    assert case["motion"]["times"][-1] < 1.0 and case["note"].startswith("run under")
    assert case["failure"]["text"].startswith("test_an_error_brings_its_run.<locals>.<lambda> failed at t = 0.2")
    assert "ZeroDivisionError" in case["failure"]["text"]


def test_the_cause_of_a_failure_is_what_the_exception_says():
    run = failed()
    failure = case_of_run(run)["failure"]
    assert failure["time"] == run.time[-1] == pytest.approx(0.3)
    assert "the efforts of FunctionController must be finite, but left = nan" in failure["text"]
    assert failure["text"].rstrip(".") in case_of_run(run)["facts"][0][1]


def test_runs_that_end_as_asked_have_not_failed():
    plant = pendulum(1.0)
    run = cmb.simulate(plant, q0=[0.3], t_end=5.0, events=cmb.Event(lambda t, q, v: q[0] - 1.0, "level", terminal=True))
    case = case_of_run(run)
    assert case["failure"] is None and "level" in case["note"]


def test_events_have_words_and_colours():
    run = singular()
    events = case_of_run(run)["events"]
    assert [e["time"] for e in events] == [e["time"] for e in run.events()]
    assert all(e["text"].startswith("singular passage, conditioning") and e["color"] == "#D55E00" for e in events)


def test_readouts_are_errors():
    run = tracked("five-bar", 0.2)
    told = {r["label"]: r for r in case_of_run(run)["readouts"]}
    assert told["loop opening"]["unit"] == "m" and told["energy error"]["unit"] == "J"
    assert told["loop opening"]["values"].max() >= 0.99 * run.max_drift


def test_units_suit_the_largest_numbers():
    """The excavator's cylinders push with 600 kN, moments stay below 10 kN m; a tiny machine moves by 2.5 mm."""
    assert case_of_run(tracked("excavator", 0.2))["units"] == {
        "rad": 1.0, "rad/s": 1.0, "rad/s2": 1.0, "m": 1.0, "m/s": 1.0, "m/s2": 1.0,
        "N": 1e3, "N m": 1.0, "J": 1e3, "W": 1e3,
    }  # fmt: skip
    plant = cmb.Mechanism(
        "tiny", [cmb.Body("m", 1e-3)], [cmb.Prismatic("x", "ground", "m", axis=(1, 0, 0))],
        springs=[cmb.JointSpring("s", "x", stiffness=1.0)],
    )  # fmt: skip
    units = case_of_run(cmb.simulate(plant, q0=[2.5e-3], t_end=0.1))["units"]
    assert units["m"] == 1e-3 and units["J"] == 1e-6


def test_runs_without_a_plant():
    run = tracked("five-bar", 0.1)
    run.plant = None
    with pytest.raises(ModelError, match=r"set run.plant to the plant"):
        case_of_run(run)


def test_plants_of_functions():
    found = 0
    for name in ("particle", "parallel-four-bar", "slider-crank"):
        plant, q, v = plants.catalogue[name].start()
        if isinstance(plant, cmb.Mechanism):
            continue
        found += 1
        case = unpack(pack(case_of_run(cmb.simulate(plant, q0=q, v0=v, t_end=0.1))))
        assert case["motion"]["lines"] and not case["arrows"]["items"] and case["look"]["bodies"] == ["ground"]
    assert found


def test_a_machine_at_rest():
    plant = plants.five_bar()
    case = case_of_machine(plant, plant.assemble(left=2.1, right=1.0))
    assert ["left", 2.1, "rad"] in case["facts"] and not case["plots"]["groups"]
    assert case["facts"][-1][0] == "loops open by"
