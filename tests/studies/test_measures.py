"""Ready measures of runs and linear models, against what they say they are."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import controllers, plants, studies
from cmbcontrol.errors import InputError
from cmbcontrol.studies import study
from tests.fixtures import five_bar_law


@pytest.fixture(scope="module")
def run(plant):
    """A step to the goal from beside it."""
    q0 = plant.assemble(left=2.0, right=1.1)
    return cmb.simulate(plant, five_bar_law(plant, period=1e-2), q0, t_end=1.0, output_times=0.01)


def test_of_tracking(run):
    e, t = run.error.values, run.time
    assert studies.worst_error()(run) == np.abs(e).max()
    assert studies.worst_error("left", after=0.3)(run) == np.abs(e[t >= 0.3, 0]).max()
    assert studies.final_error()(run) == np.abs(e[-1]).max()
    settled = studies.settling_time(0.01)(run)
    assert np.abs(e[t >= settled]).max() <= 0.01 < np.abs(e[t < settled][-1]).max()
    assert np.isnan(studies.settling_time(1e-12)(run))
    assert studies.overshoot()(run) == pytest.approx(max(0.0, float((-e * np.sign(e[0])).max())), abs=1e-15)
    assert studies.rms_error("right")(run) == pytest.approx(np.sqrt(np.trapezoid(e[:, 1] ** 2, t) / t[-1]))


def test_overshoot_of_a_second_order_system():
    """A mass on a slider under PD: exp(-pi zeta / sqrt(1 - zeta^2)) of the step."""
    block = cmb.Mechanism("block", [cmb.Body("block", 2.0)], [cmb.Prismatic("x", "ground", "block")],
                          actuators=[cmb.Actuator("x")])  # fmt: skip
    zeta, omega = 0.3, 5.0
    law = controllers.GravityPD(block, cmb.Constant([1.0]), kp=2.0 * omega**2, kd=4.0 * zeta * omega)
    run = cmb.simulate(block, law, [0.0], t_end=3.0, output_times=1e-3)
    found = studies.overshoot("x")
    assert found(run) == pytest.approx(np.exp(-np.pi * zeta / np.sqrt(1.0 - zeta**2)), rel=1e-5)
    assert found.unit_of(run) == "m" and studies.peak_effort("x").unit_of(run) == "N"


def test_of_efforts_and_reactions(run, plant):
    assert studies.peak_effort("left")(run) == np.abs(run.u.values[:, 0]).max()
    assert studies.motor_energy()(run) == run.data["actuator_work"].values[-1]
    assert studies.dissipated_energy()(run) == run.data["dissipated_work"].values[-1]
    name = str(run.data["row"].values[0])
    assert studies.peak_multiplier(name)(run) == np.abs(run.multipliers.values[:, 0]).max()
    force = run.reactions().force.sel(joint="tip").values
    assert studies.peak_reaction("tip")(run) == np.linalg.norm(force, axis=1).max()
    assert studies.peak_reaction("left", "moment").unit == "N m"
    assert studies.share_at_limits()(run) == 0.0


def test_of_configurations(run, plant):
    assert studies.worst_conditioning()(run) == run.data["conditioning"].values.min()
    along = cmb.controllers.actuation.actuation_along(plant, run)
    assert studies.smallest_actuation()(run) == float(along.margin.min())


def test_distance_to_the_closest_singular_configuration():
    """The slider-crank, swinging beside its flat configurations, where the crank is upright."""
    plant = plants.slider_crank()
    q0 = np.array([1.45, -2.9])
    run = cmb.simulate(plant, q0=plant.close(q0), t_end=1e-3, output_times=1e-3)
    found = studies.closest_singularity()(run)
    worst = run.q.values[int(np.argmin(run.data["conditioning"].values))]
    assert found == pytest.approx(np.abs(np.array([np.pi / 2, -np.pi]) - worst).max(), rel=1e-6)


def test_of_closed_loops(plant):
    law = controllers.ProjectedInverseDynamics(plant, ("left", "right"), cmb.Constant([2.1, 1.0]), bandwidth=8.0)
    loop = cmb.linearize_closed_loop(plant, law)
    told = loop.margins()
    assert studies.slowest_pole()(loop) == pytest.approx(-8.0, rel=1e-5)
    assert studies.damping()(loop) == pytest.approx(1.0, abs=1e-4)
    # s^2 + 16 s + 64: 3 dB down where abs(64 / (8 + i w)^2) is, w = 8 sqrt(sqrt(2) - 1)
    assert studies.bandwidth("left")(loop) == pytest.approx(8.0 * np.sqrt(np.sqrt(2.0) - 1.0), rel=1e-6)
    assert studies.disk_margin()(loop) == told.disk
    assert studies.phase_margin("left")(loop) == told.loops[0].phase
    assert studies.phase_margin()(loop) == min(x.phase for x in told.loops)
    assert studies.gain_margin()(loop) == min(min(x.gain_up, -x.gain_down) for x in told.loops)
    assert studies.delay_margin("right")(loop) == told.loops[1].delay


def test_an_unstable_loop_has_no_margin(plant):
    hold = cmb.trim(plant, plant.assemble(left=2.1, right=1.0))
    loop = cmb.linearize_closed_loop(plant, hold.u, hold.q)
    for measure in (studies.disk_margin(), studies.gain_margin(), studies.phase_margin(), studies.delay_margin()):
        assert measure(loop) == 0.0
    assert studies.slowest_pole()(loop) > 0.0


def test_bandwidth_of_a_loop_that_follows_everything_and_of_one_that_is_not_there(plant):
    law = controllers.ProjectedInverseDynamics(plant, ("left", "right"), cmb.Constant([2.1, 1.0]), bandwidth=8.0)
    loop = cmb.linearize_closed_loop(plant, law)
    with pytest.raises(InputError, match="did you mean 'left'"):
        loop.bandwidth("lefft")
    goal, q = cmb.Constant([2.1, 1.0]), plant.assemble(left=2.1, right=1.0)
    lost = controllers.ProjectedInverseDynamics(plant, ("left", "right"), goal, kp=-4.0, kd=1.0)
    with pytest.raises(InputError, match="not stable"):
        cmb.linearize_closed_loop(plant, lost, q).bandwidth("left")


@pytest.mark.parametrize("measure", [studies.worst_error(), studies.overshoot()])
def test_measures_of_what_they_are_not_for(measure, free_five_bar):
    run = free_five_bar[2]
    with pytest.raises(InputError, match="has no error"):
        measure(run)
    for one in (studies.slowest_pole(), studies.disk_margin()):
        with pytest.raises(InputError, match="the case returned Simulation"):
            one(run)


def test_units_come_from_what_was_run(tmp_path):
    def case(angle):
        plant = plants.five_bar()
        return {"plant": plant, "controller": five_bar_law(plant, period=1e-2),
                "q0": plant.assemble(left=angle, right=1.0), "t_end": 0.05}  # fmt: skip

    measures = {"error": studies.worst_error(), "effort": studies.peak_effort("left"), "mine": lambda run: 1.0}
    for folder in (None, tmp_path, tmp_path):  # the last one is read
        found = study(case, {"angle": [2.0, 2.1]}, measures=measures, measure_units={"mine": "kg"}, folder=folder)
        units = [found.data[name].attrs["units"] for name in measures]
        assert units == ["rad", "N m", "kg"]
