"""Motors at their limits: closed forms of how much, when and for how long."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import load_run, plants
from cmbcontrol.controllers import Saturation
from cmbcontrol.sim.motor_limits import MotorAtLimit


def turntable(limit=80.0, joint="table", motor=""):
    """A disk without gravity: a motor moves it and nothing else matters."""
    disk = cmb.Body("disk", mass=1.0, inertia=np.eye(3))
    return cmb.Mechanism(
        "turntable",
        [disk],
        [cmb.Revolute(joint, "ground", "disk")],
        actuators=[cmb.Actuator(joint, name=motor, effort=limit)],
        gravity=(0, 0, 0),
    )


def sine(t, terms, state):
    return [114.0 * np.sin(2.0 * np.pi * t)]


def run_of(plant, law, t_end=1.0, step=0.002, **options):
    return cmb.simulate(plant, law, [0.0], t_end=t_end, output_times=step, **options)


def test_a_sine_beyond_its_limit():
    """114 sin(2 pi t) is above 80 for 1 - (2/pi) asin(80/114) of the time, most at a quarter of a second."""
    run = run_of(turntable(), sine)
    (found,) = run.motors_at_limits()
    assert (found.motor, found.joint, found.unit, found.limit, found.beyond) == ("table", "table", "N m", 80.0, True)
    assert found.asked == pytest.approx(114.0, rel=1e-4) and found.time == pytest.approx(0.25, abs=2e-3)
    assert found.share == pytest.approx(1.0 - 2.0 / np.pi * np.arcsin(80.0 / 114.0), abs=1e-4)
    text = (
        "the law asks up to 114 N m of motor 'table' (limit 80 N m) at t = 0.25 s, above its limit for 50 % of the time"
    )
    assert str(found) == text and text in str(run) and "1 motor asked for more than the limit" in repr(run)


def test_shares_do_not_depend_on_the_output_times():
    plant = turntable()
    times = np.sort(np.concatenate([np.linspace(0.0, 1.0, 301), np.linspace(0.2, 0.3, 900)]))
    even, uneven = (run_of(plant, sine, step=step).motors_at_limits()[0].share for step in (0.002, np.unique(times)))
    assert even == pytest.approx(uneven, abs=2e-4)


def test_a_law_whose_efforts_are_cut_off_says_how_long():
    plant = turntable()
    run = run_of(plant, sine | Saturation(plant=plant), step=0.001)
    (found,) = run.motors_at_limits()
    assert not found.beyond and found.asked == pytest.approx(80.0)
    assert found.share == pytest.approx(1.0 - 2.0 / np.pi * np.arcsin(80.0 / 114.0), abs=2e-3)
    assert found.time == pytest.approx(np.arcsin(80.0 / 114.0) / (2.0 * np.pi), abs=1.1e-3)
    assert str(found).startswith("motor 'table' is at its limit of 80 N m for 50 % of the time, first at t = 0.12")


def test_within_the_limits_nothing_is_told():
    run = run_of(turntable(limit=115.0), sine)
    assert run.motors_at_limits() == [] and "limit" not in str(run) and "limit" not in repr(run)
    assert run_of(turntable(limit=np.inf), sine).motors_at_limits() == []
    assert run_of(turntable(), None).motors_at_limits() == []


def test_a_single_time_is_all_the_time():
    run = cmb.simulate(turntable(), [100.0], [0.0], t_end=0.1, output_times=[0.1])
    (found,) = run.motors_at_limits()
    assert found.share == 1.0 and found.time == 0.1


def test_names_and_units_are_those_of_the_motor():
    plant = turntable(motor="servo")
    (found,) = run_of(plant, [90.0]).motors_at_limits()
    assert (found.motor, found.joint) == ("servo", "table") and "motor 'servo' on table" in str(found)
    small = MotorAtLimit("leg", "leg", "N", 10.0, 12.5, 0.1, 0.004)
    assert str(small).endswith("above its limit for 0.4 % of the time") and "12.5 N of motor 'leg'" in str(small)
    plain = MotorAtLimit("u1", "u1", "", 1.0, 1.0, 0.0, 1.0)
    assert str(plain) == "motor 'u1' is at its limit of 1 for 100 % of the time, first at t = 0 s"


def test_files_keep_the_limits(tmp_path):
    run = run_of(turntable(), [90.0])
    loaded = load_run(run.save(tmp_path / "run.nc"))
    assert loaded.motors_at_limits() == run.motors_at_limits() != []
    assert cmb.Simulation(run.data).motors_at_limits()[0].asked == 90.0
    old = cmb.Simulation(run.data.drop_vars("effort_limit"), run.plant)  # of a file of an older version
    assert old.motors_at_limits() == run.motors_at_limits()
    assert cmb.Simulation(run.data.drop_vars("effort_limit")).motors_at_limits() == []


def test_efforts_that_are_no_numbers_do_not_count():
    run = run_of(turntable(), sine)
    run.data["u"].values[100:] = run.data["command"].values[100:] = np.nan
    (found,) = run.motors_at_limits()
    assert 0.0 < found.share < 0.2 and np.isfinite(found.asked)


def test_the_tracking_example_asks_for_more_than_a_motor_has():
    plant = plants.five_bar(effort=80.0)
    path = cmb.Sine(centre=[2.1, 1.0], amplitude=[0.3, 0.2], frequency_hz=0.5)
    law = cmb.controllers.ProjectedInverseDynamics(plant, ("left", "right"), path, bandwidth=8.0)
    run = cmb.simulate(plant, law, plant.assemble(left=2.15, right=0.95), t_end=0.2, rtol=1e-8, atol=1e-8)
    (found,) = run.motors_at_limits()
    assert found.motor == "right" and f"{found.asked:.0f}" == "114" and found.time == 0.0


def test_large_forces_are_written_as_one_reads_them():
    """Of cylinders, in digits; of what is larger still, in powers of ten."""
    found = MotorAtLimit("boom", "boom_cylinder", "N", 390_631.0, 1_234_567.0, 0.5, 0.25)
    text = str(found)
    assert "asks up to 1,235,000 N of motor 'boom' on boom_cylinder (limit 390,600 N)" in text
    assert "limit 2e+08 N" in str(MotorAtLimit("press", "press", "N", 2e8, 3e8, 0.5, 0.25))
