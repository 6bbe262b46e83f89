"""Frequency responses."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from cmbcontrol import linearize, plants, plot, trim
from cmbcontrol.plants.five_bar import configuration
from tests.fixtures import drawn_curve


def test_bode_draws_the_frequency_response():
    plant = plants.five_bar()
    lin = linearize(plant, trim(plant, configuration(plant)), coordinates=("left", "right"))
    omega = np.logspace(-1, 2, 40)
    figure = plot.bode(lin, omega)
    figure.draw_without_rendering()
    gain, phase = figure.axes[1], figure.axes[3]
    assert figure.axes[0].get_ylabel() == "gain (rad/(N m))"
    assert figure.axes[2].get_ylabel() == "phase (deg)"
    assert phase.get_xlabel() == "frequency (rad/s)" and gain.get_title() == "from right_effort (N m)"
    response = np.array([lin.C @ np.linalg.solve(1j * w * np.eye(4) - lin.A, lin.B) for w in omega])
    np.testing.assert_allclose(drawn_curve(gain, "left")[1], np.abs(response[:, 0, 1]), rtol=1e-9)
    assert [t.get_text() for t in gain.get_legend().get_texts()] == ["left", "right"]
    for ax in figure.axes:  # told apart without colours, as in the legend
        marks = {line.get_label(): line.get_marker() for line in ax.lines}
        assert marks == {"left": "None", "right": "o"}
    assert [key.get_marker() for key in gain.get_legend().get_lines()] == ["None", "o"]


def test_bode_of_an_input_that_does_not_act():
    plant = plants.particle_on_circle()
    lin = linearize(plant, trim(plant, plant.neutral()), coordinates=("q2",))  # f1 points outwards
    assert len(plot.bode(lin).axes) == 4


def test_bode_needs_inputs_and_fitting_axes():
    plant = plants.five_bar()
    point = trim(plant, configuration(plant))
    with pytest.raises(ValueError, match="'five-bar' has no inputs"):
        plot.bode(linearize(plant, point, inputs=()))
    with pytest.raises(ValueError, match=r"needs \(2, 2\) axes"):
        plot.bode(linearize(plant, point), axes=Figure().subplots(2, 1))


def collocated_delta():
    plant = plants.delta()
    return linearize(
        plant, trim(plant, plant.assemble(arm1=0.4, arm2=0.4, arm3=0.4)), coordinates=("arm1", "arm2", "arm3")
    )


def test_phase_of_a_motor_and_sensor_on_one_joint_alternates():
    """No friction: two poles, and a zero between them, all undamped; never -360."""
    figure = plot.bode(collocated_delta(), inputs=["arm1_effort"], outputs=["arm1"])
    gain, phase = figure.axes
    y = drawn_curve(phase, "arm1")[1]
    steps = y[np.flatnonzero(np.diff(y, prepend=np.nan))]
    np.testing.assert_allclose(steps, [0.0, -180.0, 0.0, -180.0], atol=1e-9)
    peaks = drawn_curve(gain, "arm1")[1]
    assert peaks.max() > 30.0 * peaks[0]  # points beside the poles


def test_curves_that_are_the_same_are_told():
    """Two arms answer alike to the third one's motor."""
    figure = plot.bode(collocated_delta())
    titles = [ax.get_title() for ax in figure.axes[:3]]
    assert titles == [
        "from arm1_effort (N m)\narm2 = arm3",
        "from arm2_effort (N m)\narm1 = arm3",
        "from arm3_effort (N m)\narm1 = arm2",
    ]
    first, second = (next(x for x in figure.axes[0].lines if x.get_label() == n) for n in ("arm2", "arm3"))
    assert first.get_linestyle() == "-" and second.is_dashed()  # both colours are seen
    single = plot.bode(collocated_delta(), inputs=["arm1_effort"])
    assert [t.get_text() for t in single.axes[0].get_legend().get_texts()] == ["arm1", "arm2 = arm3"]


def test_an_output_that_is_not_moved_by_symmetry_is_not_drawn_at_its_rounding():
    plant, q, _ = plants.catalogue["delta"].start()
    lin = linearize(plant, trim(plant, q))
    size = np.abs(lin.frequency_response([0.5]).frdata[:, :, 0])
    i, k = np.unravel_index(np.argmin(size), size.shape)
    assert size[i, k] < 1e-12 < 1e-3 < size.max()
    figure = plot.bode(lin)
    assert f"no effect on {lin.outputs[i]}" in figure.axes[k].get_title()
    assert np.isnan(drawn_curve(figure.axes[k], lin.outputs[i])[1]).all()
    assert figure.axes[0].get_ylim()[0] > 1e-8


@pytest.mark.slow
def test_many_channels_are_a_grid_with_units_on_every_axis():
    plant, q, _ = plants.catalogue["stewart"].start()
    lin = linearize(plant, trim(plant, q))
    figure = plot.bode(lin, np.logspace(-1, 1, 5))
    assert len(figure.axes) == 72
    left = [ax.get_ylabel() for ax in figure.axes[::6]]
    assert left[0] == "mount1_1\ngain (rad/N)" and left[4] == "leg1\ngain (m/N)" and set(left[1::2]) == {"phase (deg)"}
    assert {ax.get_xlabel() for ax in figure.axes[-6:]} == {"frequency (rad/s)"}
    chosen = plot.bode(lin, inputs=["leg2_effort"], outputs=["leg1", "mount1_1"], dB=True)
    assert [ax.get_ylabel() for ax in chosen.axes] == ["gain (dB of 1 m/N)", "gain (dB of 1 rad/N)", "phase (deg)"]
    response = lin.frequency_response([1.0]).frdata[lin.outputs.index("leg1"), lin.inputs.index("leg2_effort"), 0]
    line = drawn_curve(plot.bode(lin, [1.0, 2.0], inputs=["leg2_effort"], outputs=["leg1"], dB=True).axes[0], "leg1")
    assert line[1][0] == pytest.approx(20.0 * np.log10(abs(response)))


def test_more_channels_than_a_page_holds_are_named_and_the_first_are_drawn():
    plant, q, _ = plants.catalogue["stewart"].start()
    lin = linearize(plant, trim(plant, q), outputs=("leg1", "leg2", "leg3", "leg4", "leg5", "leg6", "mount1_1"))
    figure = plot.bode(lin, [0.1, 1.0], inputs=["leg1_effort"])
    assert figure.get_supxlabel() == "the first 6 of 7 outputs; choose by outputs="
    with pytest.raises(ValueError, match="did you mean 'leg1_effort'"):
        plot.bode(lin, inputs=["leg1_efort"])


def test_the_response_at_an_undamped_pole_is_a_gap():
    plant = plants.pendulum()
    lin = linearize(plant, trim(plant, plant.assemble(angle=-np.pi / 2)), coordinates=("angle",))
    w = lin.damping()[0].frequency
    y = drawn_curve(plot.bode(lin, [1.0, w, 10.0]).axes[0], "angle")[1]
    assert np.isfinite(y[[0, 2]]).all() and not (np.isfinite(y[1]) and y[1] < 1e6)
