"""What a run asks of its motors: RMS, peaks, powers against closed forms, and ratings that are exceeded."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import load_run, plants
from cmbcontrol.errors import InputError, ModelError
from cmbcontrol.sim.motor_duty import motor_speeds, rms
from cmbcontrol.sim.summary import ALARMS, run_lines

A, OMEGA, INERTIA, GEAR = 30.0, 2.0 * np.pi, 2.0, -4.0


def turntable(**rating):
    """A disk without gravity, moved by a motor through a gear."""
    disk = cmb.Body("disk", mass=1.0, inertia=np.diag([1.0, 1.0, INERTIA]))
    motor = cmb.Actuator("table", "motor", gear=GEAR, **rating)
    joint = cmb.Revolute("table", "ground", "disk", axis=(0, 0, 1))
    return cmb.Mechanism("turntable", [disk], [joint], actuators=[motor], gravity=(0, 0, 0))


def cosine(t, terms, state):
    return [A * np.cos(OMEGA * t)]


def turned(t_end=2.0, step=0.005, **rating):
    """Run with the motor at A cos(w t), so at the speed G^2 A sin(w t) / (I w)."""
    return cmb.simulate(turntable(**rating), cosine, [0.0], t_end=t_end, output_times=step, rtol=1e-10, atol=1e-12)


FASTEST = GEAR**2 * A / (INERTIA * OMEGA)  # rad/s, of the motor


def test_a_harmonic_motor():
    """Whole periods at even times: the trapezoidal rule is exact for squares of sines."""
    table = turned(effort=40.0, continuous=25.0, speed=100.0).motors()
    (row,) = table.to_dict("records")
    assert list(table.index) == ["motor"] and (row["unit"], row["speed_unit"]) == ("N m", "rad/s")
    assert row["rms"] == pytest.approx(A / np.sqrt(2.0), rel=1e-12)
    assert row["peak"] == pytest.approx(A, rel=1e-12) and row["peak_time"] == 0.0
    assert (row["limit"], row["continuous"], row["speed_limit"]) == (40.0, 25.0, 100.0)
    assert row["share"] == pytest.approx(A / np.sqrt(2.0) / 25.0, rel=1e-12)
    assert row["rms_speed"] == pytest.approx(FASTEST / np.sqrt(2.0), rel=1e-7)
    assert row["peak_speed"] == pytest.approx(FASTEST, rel=1e-7)
    assert row["peak_speed_time"] % 0.5 == pytest.approx(0.25)
    # u w = A FASTEST sin(2 w t) / 2, whose first peak is at an eighth of a period
    assert row["peak_power"] == pytest.approx(0.5 * A * FASTEST, rel=1e-7)
    assert row["peak_power_time"] % 0.25 == pytest.approx(0.125)


def test_rms_at_uneven_times_of_what_is_known():
    t = np.array([0.0, 1.0, 1.5, 4.0, 5.0])
    y = np.array([[2.0, 1.0], [2.0, np.nan], [2.0, 3.0], [2.0, 3.0], [2.0, np.nan]])
    assert rms(t, y) == pytest.approx([2.0, 3.0], rel=1e-15)
    assert np.isnan(rms(t[:1], y[:1])).all() and np.isnan(rms(t, np.full((5, 1), np.nan))).all()


def cut_motors():
    """A four bar with motors on a cut joint, between two bodies and on the tree."""
    rods = [cmb.Body.rod(name, mass=1.0, length=x) for name, x in (("crank", 0.5), ("coupler", 1.2), ("rocker", 1.0))]
    frame = cmb.Frame
    joints = [
        cmb.Revolute("a", "ground", "crank", axis=(0, 0, 1)),
        cmb.Revolute("b", "crank", "coupler", axis=(0, 0, 1), frame=frame((0.5, 0, 0))),
        cmb.Revolute("c", "ground", "rocker", axis=(0, 0, 1), frame=frame((1.2, 0, 0))),
    ]
    pin = cmb.Revolute(
        "pin", "coupler", "rocker", axis=(0, 0, 1), frame=frame((1.2, 0, 0)), child_frame=frame((1, 0, 0))
    )
    motors = [
        cmb.Actuator("a", gear=3.0),
        cmb.Actuator("pin", gear=-2.0),
        cmb.Actuator("wheel", bodies=("ground", "rocker"), axis=(0, 0, 1), gear=5.0),
    ]
    return cmb.Mechanism("cut", rods, joints, [pin], actuators=motors)


def test_speeds_are_those_on_which_efforts_do_work():
    """On the tree, on a cut joint and between bodies: the powers of the motors are those of the run."""
    plant = cut_motors()
    q0 = plant.assemble(a=1.0, guess={"b": -0.6, "c": 1.6})
    run = cmb.simulate(plant, [1.0, 0.5, -0.7], q0, t_end=0.3, output_times=0.02)
    speeds = motor_speeds(run)
    power = run.actuator_power.values
    assert (run.u.values * speeds).sum(axis=1) == pytest.approx(power, abs=1e-12 * np.abs(power).max())
    a, b, c = run.v.values.T
    assert speeds == pytest.approx(np.column_stack([3.0 * a, -2.0 * (c - a - b), 5.0 * c]), abs=1e-12 * 5.0)


def test_beyond_ratings():
    run = turned(continuous=20.0, speed=30.0)
    times = A / np.sqrt(2.0) / 20.0
    told = [text for heading, text in run_lines(run) if heading == "beyond rating"]
    assert told == [
        f"motor 'motor' gives 21.21 N m RMS over 2 s, {times:.3g} times its continuous 20 N m: going on like this it "
        "overheats",
        f"motor 'motor' reaches {FASTEST:.4g} rad/s at t = {run.motors()['peak_speed_time'].iloc[0]:.4g} s, above its "
        "largest speed of 30 rad/s",
    ]
    assert "beyond rating" in ALARMS
    power = f"{0.5 * A * FASTEST:.4g} W"
    assert dict(run_lines(run))["RMS efforts"] == f"motor 21.21 N m (106 % of continuous); power at most {power}"
    assert "beyond" not in str(turned(continuous=22.0, speed=40.0)) and "continuous" not in str(turned())


def test_what_is_not_known(tmp_path):
    run = turned(effort=40.0, continuous=25.0, speed=100.0)
    run.save(tmp_path / "run.nc")
    loaded = load_run(tmp_path / "run.nc")
    assert loaded.motors().equals(run.motors())
    (row,) = cmb.Simulation(run.data).motors().to_dict("records")  # without its plant
    assert row["rms"] == run.motors()["rms"].iloc[0] and row["limit"] == 40.0
    assert np.isnan([row[key] for key in ("continuous", "share", "peak_speed", "peak_power", "peak_power_time")]).all()
    plant = plants.five_bar()
    single = cmb.simulate(plant, [1.0, 2.0], plant.assemble(left=2.1, right=1.0), t_end=0.1, output_times=[0.1])
    assert single.motors()["rms"].isna().all() and single.motors()["peak"].tolist() == [1.0, 2.0]


def test_ratings_that_cannot_be():
    with pytest.raises(ModelError, match="continuous effort of 50, above its largest of 40"):
        turntable(effort=40.0, continuous=50.0)
    for key in ("continuous", "speed"):
        with pytest.raises(InputError, match=r"of actuator 'motor' must be > 0, got -1"):
            turntable(**{key: -1.0})
    assert turntable(continuous=5.0).actuators != turntable(continuous=6.0).actuators
