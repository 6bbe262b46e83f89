"""Runs over time: what is drawn is what the run says, every axis has a unit."""

import re

import numpy as np
import pytest
from matplotlib.figure import Figure

import cmbcontrol as cmb
from cmbcontrol import Constant, Release, plants, plot, simulate
from cmbcontrol.controllers import PointTask, ProjectedInverseDynamics, Saturation
from cmbcontrol.studies import peak_effort, worst_error
from tests.fixtures import drawn_curve, symmetric_passages, wire_bead

UNIT = re.compile(r".+ \(.+\)")


@pytest.fixture(scope="module")
def tracking():
    """Three tenths of a second of tracking, with torque limits."""
    plant = plants.five_bar(effort=70.0)
    reference = cmb.Sine([2.1, 1.0], [0.3, 0.2], 0.5)
    law = cmb.controllers.ProjectedInverseDynamics(plant, ("left", "right"), reference, bandwidth=10.0)
    return cmb.simulate(plant, law, plant.assemble(left=2.0, right=1.1), t_end=0.3, output_times=0.01)


def assert_readable(figure):
    """Labels with units, legends beside the curves, all inside the page."""
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    page = figure.bbox
    for ax in figure.axes:
        assert UNIT.fullmatch(ax.get_ylabel())
        if ax.get_legend() is not None:
            box = ax.get_legend().get_window_extent()
            assert box.x0 > ax.get_window_extent().x1
            assert box.x1 <= page.x1 + 1.0
    assert UNIT.fullmatch(figure.axes[-1].get_xlabel())


# -- over time -----------------------------------------------------------------------------------------


def test_responses_of_a_tracking_run(tracking):
    figure = plot.responses(tracking)
    assert_readable(figure)
    angles, error, effort = figure.axes
    assert [ax.get_ylabel() for ax in figure.axes] == [
        "joint angle (rad)",
        "tracking error (rad)",
        "motor effort (N m)",
    ]
    np.testing.assert_array_equal(drawn_curve(angles, "left"), [tracking.time, tracking.q.values[:, 0]])
    for k, name in enumerate(("left", "right")):  # broad and pale below the signal, in its colour
        below = next(line for line in angles.lines if line.get_label() == f"_reference of {name}")
        signal = next(line for line in angles.lines if line.get_label() == name)
        np.testing.assert_array_equal(below.get_ydata(), tracking.reference.values[:, k])
        assert below.get_color() == signal.get_color() and below.get_marker() == signal.get_marker()
        assert below.get_zorder() < signal.get_zorder() and below.get_linewidth() > 2.0 * signal.get_linewidth()
        assert below.get_alpha() < 0.5
    assert error.get_yscale() == "log"
    gap = np.abs(tracking.reference.values[:, 1] - tracking.q.values[:, 2])
    np.testing.assert_allclose(drawn_curve(error, "right")[1], gap)
    np.testing.assert_array_equal(drawn_curve(effort, "right (limit 70 N m)")[1], tracking.u.values[:, 1])
    limits = [line.get_ydata()[0] for line in effort.lines if line.get_linestyle() == ":"]
    assert limits == [-70.0, 70.0]  # both motors have the same


def test_legend_names_controlled_coordinates_first(tracking):
    texts = [t.get_text() for t in plot.responses(tracking).axes[0].get_legend().get_texts()]
    assert texts == ["left", "right", "elbow_left", "elbow_right", "reference"]


def test_singular_passages_are_marked_in_every_panel(free):
    for make in (plot.responses, plot.forces, plot.accuracy):
        figure = make(free)
        assert_readable(figure)
        for ax in figure.axes:
            upright = [line.get_xdata()[0] for line in ax.lines if len(set(line.get_xdata())) == 1]
            assert any(abs(x - 0.651) < 1e-3 for x in upright)
        texts = [t.get_text() for t in figure.axes[0].get_legend().get_texts()]
        assert "singular passage" in texts


def test_no_effort_panel_without_motors_running(free):
    assert [ax.get_ylabel() for ax in plot.responses(free).axes] == ["joint angle (rad)"]


def test_forces_by_unit():
    plant = plants.pendulum()
    run = cmb.simulate(plant, q0=plant.assemble(angle=-1.0), t_end=0.1, output_times=0.02)
    figure = plot.forces(run)
    assert_readable(figure)
    assert [ax.get_ylabel() for ax in figure.axes] == [
        "constraint force (N)",
        "constraint force (N m)",
        "multiplier (N)",
        "multiplier (N m)",
    ]
    np.testing.assert_array_equal(drawn_curve(figure.axes[0], "y")[1], run.constraint_force.values[:, 1])
    np.testing.assert_array_equal(drawn_curve(figure.axes[2], "pivot_y")[1], run.multipliers.values[:, 1])


def test_multipliers_at_a_singular_pose_do_not_hide_the_others(free):
    ax = plot.forces(free).axes[-1]
    regular = free.multipliers.values[free.conditioning.values > 0.05]
    assert np.abs(free.multipliers.values).max() > 3.0 * np.abs(regular).max()
    assert ax.get_ylim()[1] - ax.get_ylim()[0] < 3.0 * np.ptp(regular)


def test_accuracy_shows_drift_balance_energy_and_conditioning(free):
    opening, balance, energy, conditioning = plot.accuracy(free).axes
    assert [ax.get_yscale() for ax in (opening, balance, energy, conditioning)] == ["log", "log", "linear", "log"]
    floor = 1e-14 * free.plant.size
    np.testing.assert_array_equal(drawn_curve(opening, "tip")[1], np.maximum(free.drift.values[:, 0], floor))
    total = drawn_curve(energy, "kinetic")[1] + drawn_curve(energy, "potential")[1]
    np.testing.assert_allclose(drawn_curve(energy, "total")[1], total)
    assert np.nanmax(drawn_curve(balance, "energy - work")[1]) == free.max_energy_error
    assert drawn_curve(conditioning, "least on the way")[0] == pytest.approx(symmetric_passages()[:1], abs=1e-4)


def test_accuracy_of_a_plant_whose_energy_is_unknown():
    figure = plot.accuracy(cmb.simulate(wire_bead(), q0=[0.0, 0.0], t_end=0.1, output_times=0.05))
    assert_readable(figure)
    assert "no potential energy is known" in figure.axes[1].texts[0].get_text()


def test_accuracy_of_a_machine_without_loops():
    rod = cmb.Body.rod("rod", 1.0, 1.0)
    plant = cmb.Mechanism("rod", [rod], [cmb.Revolute("pivot", "ground", "rod")], gravity=(0, -9.81, 0))
    run = cmb.simulate(plant, q0=[0.0], t_end=0.1, output_times=0.05)
    assert plot.accuracy(run).axes[0].texts[0].get_text() == "no loops"
    assert plot.forces(run).axes[-1].texts[0].get_text() == "no loops"


def test_given_axes_are_drawn_on(free):
    figure = Figure()
    axes = figure.subplots(2, 2)
    assert plot.accuracy(free, axes=axes) is figure
    assert axes[1, 0].get_ylabel() == "energy (J)"
    with pytest.raises(ValueError, match="this figure has 4 panels; give as many axes, got 3"):
        plot.accuracy(free, axes=axes.ravel()[:3])


def test_a_run_from_a_file_can_be_plotted(free, tracking):
    for run in (free, tracking):
        loaded = cmb.Simulation(run.data)
        for make in (plot.responses, plot.forces, plot.accuracy):
            assert_readable(make(loaded))
    with pytest.raises(cmb.errors.ModelError, match=r"set run\.plant"):
        loaded.animate("never.gif")


def test_the_run_has_doors_to_its_figures(free):
    assert isinstance(free.plot(), Figure)


def test_legends_name_all_and_the_figure_grows():
    plant, q0, v0 = plants.catalogue["n-four-bar"].start(n=12)
    run = cmb.simulate(plant, q0=q0, v0=v0, t_end=0.01, output_times=0.005)
    figure = plot.responses(run)
    assert_readable(figure)
    texts = [t.get_text() for t in figure.axes[0].get_legend().get_texts()]
    assert texts == list(plant.position_names) and len(texts) == 25
    box = figure.axes[0].get_legend().get_window_extent()
    assert box.y0 > 0.0 and box.y1 <= figure.bbox.y1 + 1.0
    assert figure.get_size_inches()[0] > 7.2


# -- what controllers report ------------------------------------------------------------------------------


def test_reports_of_a_law_with_limits(tmp_path):
    plant = plants.five_bar(effort=40.0)
    motion = ProjectedInverseDynamics(plant, ("left", "right"), Constant([1.9, 1.0]), bandwidth=8.0, period=5e-3)
    run = simulate(plant, motion | Saturation(), plant.assemble(left=2.1, right=1.0), t_end=0.2, output_times=0.01)
    figure = plot.reports(run)
    units = {"tracking_error": "rad", "saturation_left": "N m", "saturation_right": "N m"}
    names = [str(n) for n in run.data["quantity"].values]
    assert [ax.get_ylabel() for ax in figure.axes] == [f"{n} ({units[n]})" for n in names]
    with pytest.raises(ValueError, match=r"one unit, got tracking_error \(rad\), saturation_left \(N m\)"):
        plot.reports(run, ["tracking_error", "saturation_left"])
    together = plot.reports(run, ["saturation_left", "saturation_right"], "tracking_error")
    assert len(together.axes) == 2
    y = together.axes[0].lines[0].get_ydata()
    assert np.array_equal(y, run.report.sel(quantity="saturation_left"))
    with pytest.raises(ValueError, match="did you mean 'tracking_error'"):
        plot.reports(run, "tracking_eror")
    with pytest.raises(ValueError, match="has no method report"):
        plot.reports(simulate(plant, None, plant.assemble(left=2.1, right=1.0), t_end=0.1))


def test_changes_of_the_loops_are_marked():
    plant = plants.two_arms()
    q = plants.catalogue["two-arms"].initial(plant)[0]
    run = simulate(plant, None, q, t_end=0.05, output_times=0.01, switches=[Release("grasp", at=0.02)])
    figure = plot.responses(run)
    labels = [line.get_label() for line in figure.axes[0].lines]
    assert labels.count("released grasp") == 1 and "singular passage" not in labels


def test_events_and_limits_are_marked_by_their_names():
    plant = plants.loader()
    q = plants.catalogue["loader"].initial(plant)[0]
    level = cmb.Event(lambda t, q, v: t - 0.01, "level")
    with pytest.warns(cmb.errors.LimitWarning):
        run = simulate(plant, None, q, t_end=2.0, output_times=0.02, events=[level], limits="warn")
    limits = {str(kind) for kind in run.event_kind.values if "limit" in str(kind)}
    labels = [line.get_label() for line in plot.responses(run).axes[0].lines]
    assert limits and {"level", *limits} <= set(labels) and "change of the loops" not in labels


def test_errors_of_a_task_are_drawn():
    plant = plants.five_bar()
    tip = PointTask(plant, "left_upper", (1.5, 0.0, 0.0), axes="xy")
    q = plant.assemble(left=2.1, right=1.0)
    here = tip.value(plant.terms(q, np.zeros(4)))
    run = simulate(plant, ProjectedInverseDynamics(plant, tip, Constant(here + 0.01), bandwidth=8.0), q, t_end=0.05)
    assert "tracking error (m)" in [ax.get_ylabel() for ax in plot.responses(run).axes]
    assert run.error.values[0] == pytest.approx([0.01, 0.01], abs=1e-12)


@pytest.mark.parametrize(
    ("limit", "shown"), [(390_631.0, "390,600"), (12_000.0, "12,000"), (80.0, "80"), (1.5e8, "1.5e+08")]
)
def test_limits_are_written_as_one_reads_them(limit, shown):
    plant = plants.pendulum()
    plant = plant.with_parts(actuators=[cmb.Actuator("angle", effort=limit)])
    run = cmb.simulate(plant, [1.0], plant.assemble(angle=0.3), t_end=0.1)
    figure = plot.responses(run)
    texts = [text.get_text() for ax in figure.axes if ax.get_legend() for text in ax.get_legend().get_texts()]
    assert f"angle (limit {shown} N m)" in texts


def test_forces_of_cylinders_are_in_kilonewtons():
    """The axis says so, and its labels are the ticks in them."""
    plant = plants.pendulum()
    plant = plant.with_parts(actuators=[cmb.Actuator("angle")])
    run = cmb.simulate(plant, [4e5], plant.assemble(angle=0.3), t_end=1e-3, output_times=1e-4)
    ax = plot.responses(run).axes[-1]
    assert ax.get_ylabel() == "motor effort (kN m)"
    ax.figure.draw_without_rendering()
    texts = [float(t.get_text().replace("\N{MINUS SIGN}", "-")) for t in ax.get_yticklabels()]
    np.testing.assert_allclose(np.array(texts) * 1e3, ax.get_yticks())


def test_errors_of_coordinates_in_several_units_are_not_added():
    """A slider in metres and an arm in radians: a norm for each unit, none of both."""
    bodies = [cmb.Body("cart", 1.0), cmb.Body.rod("arm", 1.0, 1.0)]
    joints = [cmb.Prismatic("slide", "ground", "cart", axis=(1, 0, 0)), cmb.Revolute("turn", "cart", "arm")]
    plant = cmb.Mechanism("crane", bodies, joints, actuators=[cmb.Actuator("slide"), cmb.Actuator("turn")])
    goal = Constant([0.3, 0.4])
    run = simulate(plant, ProjectedInverseDynamics(plant, ("slide", "turn"), goal, bandwidth=8.0), [0, 0], t_end=0.1)
    assert run.report.quantity.values.tolist() == ["tracking_error_m", "tracking_error_rad"]
    np.testing.assert_allclose(run.report.values, np.abs(run.error.values))
    assert [ax.get_ylabel() for ax in plot.reports(run).axes] == ["tracking_error_m (m)", "tracking_error_rad (rad)"]
    with pytest.raises(cmb.errors.InputError, match=r"of slide \(m\), turn \(rad\) at once"):
        worst_error()(run)
    with pytest.raises(cmb.errors.InputError, match=r"of slide \(N\), turn \(N m\) at once"):
        peak_effort()(run)
    assert worst_error("turn")(run) == pytest.approx(0.4)


def test_a_zero_at_the_start_does_not_set_the_range_of_errors():
    """A run that begins on its reference: the axis goes down to what the error is afterwards, and tells the zero."""
    plant = plants.five_bar()
    path = cmb.Sine([2.1, 1.0], 0.2, 0.5)
    law = ProjectedInverseDynamics(plant, ("left", "right"), path, bandwidth=8.0)
    ax = plot.responses(simulate(plant, law, plant.assemble(left=2.1, right=1.0), t_end=0.5)).axes[1]
    low, high = ax.get_ylim()
    y = drawn_curve(ax, "left")[1]
    assert 1e-4 < low < y[20:].min() and high < 10.0 * y.max()
    assert [text.get_text() for text in ax.texts] == ["smallest: 0 at 0 s"]
