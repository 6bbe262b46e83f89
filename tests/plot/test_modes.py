"""Pictures of modes: over the configuration, closed, within limits."""

import dataclasses

import numpy as np
import pytest
from matplotlib.figure import Figure

import cmbcontrol as cmb
from cmbcontrol import linearize, plants, plot, trim
from cmbcontrol.plants.five_bar import configuration
from cmbcontrol.plot.modes import ModeMotion, mode_course
from tests.fixtures import animation_frames, refuses


@pytest.fixture(scope="module")
def hanging():
    """The five-bar hanging with friction: a symmetric and an antisymmetric mode."""
    plain = plants.five_bar()
    joints = [dataclasses.replace(j, damping=0.8) for j in plain.joints]
    plant = cmb.Mechanism(
        "five-bar", plain.bodies, joints, plain.loops, actuators=plain.actuators, gravity=plain.gravity
    )
    point = trim(plant, plant.assemble(left=-1.3, right=-1.9), free="all", u=0.0)
    return linearize(plant, point, coordinates=("left", "right"))


def test_mode_shapes_are_drawn_over_the_pose(hanging):
    figure = hanging.plot_modes()
    figure.draw_without_rendering()
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == ["mode 0: 3.373 rad/s, damping 0.085", "mode 1: 3.969 rad/s, damping 0.122"]
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()
    tip = hanging.point.plant.point(hanging.point.q, "left_upper", (1.5, 0, 0))[:2]
    for ax, sideways in zip(figure.axes, (True, False), strict=True):
        paths = [np.array(line.get_data()).T for line in ax.lines if len(line.get_xdata()) == 25]
        swung = [path for path in paths if np.abs(path - tip).max() < 0.5]
        moved = np.ptp(max(swung, key=lambda path: np.ptp(path)), axis=0) if swung else np.zeros(2)
        assert (moved[0] > 0.2) == sideways  # the odd mode swings the tip, the even one lifts it a little
        faint = [shapes for shapes in ax.collections if shapes.get_alpha() in (0.45, 0.25)]
        assert len(faint) == 2  # to both sides


def test_every_pose_of_a_mode_is_closed(hanging):
    plant, lengths = hanging.point.plant, []
    for number in (0, 1):
        motion = ModeMotion(hanging, hanging.modes()[number], None)
        for phase in np.exp(2j * np.pi * np.arange(12) / 12):
            assert plant.closure_error(motion.at(phase)) < 1e-12
        assert np.abs(plant.difference(motion.at(0.0), hanging.point.q)).max() < 1e-12
        here = motion.scene.points(motion.at(0.0))
        lengths.append(max(np.abs(motion.scene.points(motion.at(s)) - here).max() for s in (1.0, -1.0)))
    assert min(lengths) > 0.15 and max(lengths) < 0.5  # seen, and still a small motion of a machine of 2.4 m


def test_amplitudes_keep_joints_within_their_limits(hanging):
    plain = hanging.point.plant
    limit = [[-0.1, 0.1] + hanging.point.q[0], None, None, None]
    joints = [
        dataclasses.replace(j, limits=x) if x is not None else j for j, x in zip(plain.joints, limit, strict=True)
    ]
    plant = cmb.Mechanism("five-bar", plain.bodies, joints, plain.loops, gravity=plain.gravity)
    lin = linearize(plant, trim(plant, hanging.point.q, u=0.0), coordinates=("left", "right"))
    motion = ModeMotion(lin, lin.modes()[0], None)
    turned = [abs(motion.at(s)[0] - hanging.point.q[0]) for s in (1.0, -1.0)]
    assert 0.03 < max(turned) <= 0.1


def test_real_modes_share_their_panel():
    plant = plants.five_bar()
    lin = linearize(plant, trim(plant, configuration(plant)))
    titles = [ax.get_title() for ax in plot.modes(lin).axes]
    assert titles == ["modes 0, 1: growth and decay, ±2.37 1/s", "modes 2, 3: growth and decay, ±2.773 1/s"]
    assert [ax.get_title() for ax in plot.modes(lin, which=[2]).axes] == ["mode 2: decay, -2.773 1/s"]
    assert len(plot.modes(lin.undamped_modes()).axes) == 2
    refuses(lambda: plot.modes(plant), "modes", "from linearize, or its modes", kind=TypeError)


def test_the_modes_that_are_given_are_drawn(tmp_path):
    """A damped pendulum: with its modes themselves, those without damping are no other argument."""
    rod = cmb.Body.rod("rod", 1.0, 1.0)
    joint = cmb.Revolute("pivot", "ground", "rod", axis=(0, 1, 0), damping=1.0)
    plant = cmb.Mechanism("pendulum", [rod], [joint])
    lin = linearize(plant, trim(plant, [np.pi / 2.0]))
    damped, free = lin.modes(), lin.undamped_modes()
    assert plot.modes(lin).axes[0].get_title() == plot.modes(damped).axes[0].get_title()
    told = plot.modes(free, which=[0]).axes[0].get_title()
    assert told.startswith(f"mode 0: {free[0].frequency:.4g} rad/s") and "damping 0" in told
    assert told != plot.modes(damped).axes[0].get_title()
    assert animation_frames(plot.animate_mode(free, 0, tmp_path / "m.gif", cycles=1, seconds=1.0, fps=10)) == 10


def test_mode_figures_in_space_and_on_given_axes(hanging):
    plant, q, _ = plants.catalogue["bricard"].start()
    lin = linearize(plant, trim(plant, q, free="all", u=0.0, stable=True))
    figure = lin.plot_modes()
    figure.draw_without_rendering()
    assert figure.axes[0].get_zlabel() == "z (m)"
    figure = Figure()
    axes = figure.subplots(1, 2)
    assert hanging.plot_modes(axes=axes, amplitude=0.1) is figure
    with pytest.raises(ValueError, match="2 panels; give as many axes, got 1"):
        hanging.plot_modes(axes=axes[:1])


def test_rigid_body_modes_can_be_drawn(tmp_path):
    rod = cmb.Body.rod("rod", 1.0, 1.0)
    plant = cmb.Mechanism("rotor", [rod], [cmb.Revolute("pivot", "ground", "rod")], gravity=(0, 0, 0))
    lin = linearize(plant, trim(plant, [0.3]))
    assert [ax.get_title() for ax in lin.plot_modes().axes] == ["modes 0, 1: rigid body"]
    assert animation_frames(lin.animate_mode(0, tmp_path / "m.gif", fps=10, seconds=1.0)) >= 8  # equal frames are one


def test_animation_of_a_mode(hanging, tmp_path):
    done = []
    path = hanging.animate_mode(1, tmp_path / "m.gif", cycles=1, seconds=1.0, fps=10, progress=done.append)
    assert animation_frames(path) == 10
    np.testing.assert_allclose(done, np.arange(1, 11) / 10)
    for kind, number in ((plants.five_bar(), 0), (plants.five_bar(), 1)):  # a growth, a decay
        lin = linearize(kind, trim(kind, configuration(kind)))
        assert animation_frames(lin.animate_mode(number, tmp_path / "r.gif", seconds=1.0, fps=5)) == 5


def test_amplitude_of_an_animation_follows_the_eigenvalue(hanging):
    mode = hanging.modes()[0]
    times, steady = mode_course(mode, 2.0, 2.0, False, 25.0)
    np.testing.assert_allclose(np.abs(steady), 1.0)
    assert times[-1] == pytest.approx(2 * 2 * np.pi / mode.eigenvalue.imag * 99 / 100)
    times, decaying = mode_course(mode, 2.0, 2.0, True, 25.0)
    np.testing.assert_allclose(decaying, np.exp(mode.eigenvalue * times), rtol=1e-12)
    growing = mode._replace(eigenvalue=-mode.eigenvalue.conjugate())
    assert np.abs(mode_course(growing, 2.0, 2.0, True, 25.0)[1]).max() == pytest.approx(1.0)


def test_what_mode_figures_refuse(hanging, tmp_path):
    with pytest.raises(ValueError, match="there is no mode 2; there are 2, numbered from 0"):
        hanging.animate_mode(2, tmp_path / "m.gif")
    with pytest.raises(ValueError, match=r"\.gif or \.mp4"):
        hanging.animate_mode(0, tmp_path / "m.png")
    with pytest.raises(ValueError, match="amplitude must be > 0"):
        hanging.plot_modes(amplitude=0.0)
    lost = dataclasses.replace(hanging, point=dataclasses.replace(hanging.point, plant=None))
    with pytest.raises(cmb.errors.ModelError, match=r"load_linear\(path, plant\)"):
        lost.plot_modes()
