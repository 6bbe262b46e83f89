"""Figures: what is drawn is what the run says, every axis has a unit, nothing global changes."""

import dataclasses
import re

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import cmbcontrol as cmb
from cmbcontrol import Constant, Release, linearize, plants, plot, root_locus, simulate, trim
from cmbcontrol.controllers import PointTask, ProjectedInverseDynamics, Saturation
from cmbcontrol.model.functions import FunctionPlant
from cmbcontrol.plants.five_bar import pose
from cmbcontrol.plot.geometry import sketcher
from cmbcontrol.plot.modes import _course, _Motion
from cmbcontrol.plot.style import styles

UNIT = re.compile(r".+ \(.+\)")


@pytest.fixture(autouse=True)
def nothing_global_changes():
    """No figure is left open, no setting of matplotlib changes."""
    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before
    from matplotlib import pyplot

    assert pyplot.get_fignums() == []


@pytest.fixture(scope="module")
def free():
    """A motion through the singular configuration of the five-bar, at 0.651 s."""
    plant = plants.five_bar()
    return cmb.simulate(plant, q0=pose(plant, "second"), t_end=0.7, output_times=0.01)


@pytest.fixture(scope="module")
def tracking():
    """Three tenths of a second of tracking, with torque limits."""
    plant = plants.five_bar(effort=70.0)
    reference = cmb.Sine([2.1, 1.0], [0.3, 0.2], 0.5)
    law = cmb.controllers.ProjectedInverseDynamics(plant, ("left", "right"), reference, bandwidth=10.0)
    return cmb.simulate(plant, law, plant.assemble(left=2.0, right=1.1), t_end=0.3, output_times=0.01)


def curve(ax, label):
    """Data of the curve with that label."""
    (line,) = [line for line in ax.lines if line.get_label() == label]
    return np.array(line.get_data())


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


def frames(path):
    """Number of frames of an animation."""
    with Image.open(path) as image:
        return image.n_frames


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
    np.testing.assert_array_equal(curve(angles, "left"), [tracking.time, tracking.q.values[:, 0]])
    dashed = [line for line in angles.lines if line.is_dashed()]
    np.testing.assert_array_equal([line.get_ydata() for line in dashed], tracking.reference.values.T)
    assert error.get_yscale() == "log"
    gap = np.abs(tracking.reference.values[:, 1] - tracking.q.values[:, 2])
    np.testing.assert_allclose(curve(error, "right")[1], gap)
    np.testing.assert_array_equal(curve(effort, "right (limit 70)")[1], tracking.u.values[:, 1])
    limits = [line.get_ydata()[0] for line in effort.lines if line.get_linestyle() == ":"]
    assert limits == [-70.0, 70.0] * 2


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
    np.testing.assert_array_equal(curve(figure.axes[0], "y")[1], run.constraint_force.values[:, 1])
    np.testing.assert_array_equal(curve(figure.axes[2], "pivot_y")[1], run.multipliers.values[:, 1])


def test_multipliers_at_a_singular_pose_do_not_hide_the_others(free):
    ax = plot.forces(free).axes[-1]
    regular = free.multipliers.values[free.conditioning.values > 0.05]
    assert np.abs(free.multipliers.values).max() > 3.0 * np.abs(regular).max()
    assert ax.get_ylim()[1] - ax.get_ylim()[0] < 3.0 * np.ptp(regular)


def test_accuracy_shows_drift_balance_energy_and_conditioning(free):
    opening, balance, energy, conditioning = plot.accuracy(free).axes
    assert [ax.get_yscale() for ax in (opening, balance, energy, conditioning)] == ["log", "log", "linear", "log"]
    drift = free.drift.values[:, 0]
    np.testing.assert_array_equal(curve(opening, "tip")[1], np.where(drift > 0.0, drift, np.nan))
    total = curve(energy, "kinetic")[1] + curve(energy, "potential")[1]
    np.testing.assert_allclose(curve(energy, "total")[1], total)
    assert np.nanmax(curve(balance, "energy - work")[1]) == free.max_energy_error
    assert curve(conditioning, "least on the way")[0] == pytest.approx([0.651], abs=1e-3)


def bead(**options):
    """A bead on a straight wire; its potential energy is not given."""
    return FunctionPlant(
        "bead",
        ("x", "y"),
        M=lambda q: 2.0 * np.eye(2),
        h=lambda q, v: [0.0, 2.0 * 9.81],
        Phi=lambda q: [q[1] - q[0]],
        A=lambda q: [[-1.0, 1.0]],
        Adot_v=lambda q, v: [0.0],
        units=("m", "m"),
        **options,
    )


def test_accuracy_of_a_plant_whose_energy_is_unknown():
    figure = plot.accuracy(cmb.simulate(bead(), q0=[0.0, 0.0], t_end=0.1, output_times=0.05))
    assert_readable(figure)
    assert "no potential energy" in figure.axes[1].texts[0].get_text()


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


def test_many_coordinates_share_colours_and_a_short_legend():
    plant, q0, v0 = plants.catalogue["n-four-bar"].start(n=12)
    run = cmb.simulate(plant, q0=q0, v0=v0, t_end=0.01, output_times=0.005)
    figure = plot.responses(run)
    assert_readable(figure)
    texts = [t.get_text() for t in figure.axes[0].get_legend().get_texts()]
    assert len(texts) == 14 and texts[-1] == "and 12 more"
    for n in (5, 12, 21, 25):
        assert len({(str(s["color"]), s["linestyle"]) for s in styles(n)}) == n


# -- frequency -----------------------------------------------------------------------------------------


def test_bode_draws_the_frequency_response():
    plant = plants.five_bar()
    lin = linearize(plant, trim(plant, pose(plant)), coordinates=("left", "right"))
    omega = np.logspace(-1, 2, 40)
    figure = plot.bode(lin, omega)
    figure.draw_without_rendering()
    gain, phase = figure.axes[1], figure.axes[3]
    assert figure.axes[0].get_ylabel() == "gain (rad/(N m))"
    assert figure.axes[2].get_ylabel() == "phase (deg)"
    assert phase.get_xlabel() == "frequency (rad/s)" and gain.get_title() == "from right_effort (N m)"
    response = np.array([lin.C @ np.linalg.solve(1j * w * np.eye(4) - lin.A, lin.B) for w in omega])
    np.testing.assert_allclose(curve(gain, "left")[1], np.abs(response[:, 0, 1]), rtol=1e-9)
    assert [t.get_text() for t in gain.get_legend().get_texts()] == ["left", "right"]


def test_bode_of_an_input_that_does_not_act():
    plant = plants.particle_on_circle()
    lin = linearize(plant, trim(plant, plant.neutral()), coordinates=("q2",))  # f1 points outwards
    assert len(plot.bode(lin).axes) == 4


def test_bode_needs_inputs_and_fitting_axes():
    plant = plants.five_bar()
    point = trim(plant, pose(plant))
    with pytest.raises(ValueError, match="'five-bar' has no inputs"):
        plot.bode(linearize(plant, point, inputs=()))
    with pytest.raises(ValueError, match=r"needs \(2, 2\) axes"):
        plot.bode(linearize(plant, point), axes=Figure().subplots(2, 1))


# -- machines ------------------------------------------------------------------------------------------


def test_mechanism_draws_bodies_between_their_joints():
    plant = plants.five_bar()
    q = pose(plant)
    figure = plot.mechanism(plant, q)
    figure.draw_without_rendering()
    (ax,) = figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x (m)", "y (m)")
    assert ax.get_aspect() == 1.0
    drawn = [{tuple(p) for p in np.round(np.array(line.get_data()).T, 9)} for line in ax.lines]
    base, elbow = (0.0, 0.0), tuple(np.round(plant.point(q, "left_upper")[:2], 9))
    tip = tuple(np.round(plant.point(q, "left_upper", (1.5, 0, 0))[:2], 9))
    assert {base, elbow} in drawn and {elbow, tip} in drawn
    assert {tip} in drawn  # where the loop closes


def test_mechanism_takes_values_by_name_and_given_axes():
    figure = Figure()
    ax = figure.add_subplot()
    assert plot.mechanism(plants.n_four_bar(1), {"bar0": 1.0, "coupler1": -1.0, "bar1": 1.0}, ax=ax) is figure
    assert ax.get_title() == "n-four-bar"


@pytest.mark.parametrize(
    ("axis", "gravity", "plane"),
    [((0, 0, 1), (0, -9.81, 0), (0, 1)), ((0, 1, 0), (0, 0, -9.81), (0, 2)), ((-1, 0, 0), (0, 0, 0), (1, 2))],
)
def test_the_plane_of_motion_is_found(axis, gravity, plane):
    arm = cmb.Body("arm", 1.0, (0.1, 0.2, 0.3), (0.1, 0.1, 0.1))
    plant = cmb.Mechanism("arm", [arm], [cmb.Revolute("pivot", "ground", "arm", axis=axis)], gravity=gravity)
    assert sketcher(plant).plane == plane
    (ax,) = plot.mechanism(plant, [0.3]).axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == tuple(f"{'xyz'[k]} (m)" for k in plane)


def test_slides_alone_move_in_the_plane_of_gravity():
    block = cmb.Body("block", 1.0, inertia=(0.1, 0.1, 0.1))
    plant = cmb.Mechanism("slide", [block], [cmb.Prismatic("x", "ground", "block", axis=(1, 0, 0))])
    assert sketcher(plant).plane == (0, 2)


def test_machines_in_space_need_space():
    plant = plants.bricard()
    figure = plot.mechanism(plant, plant.neutral())
    assert [figure.axes[0].get_xlabel(), figure.axes[0].get_zlabel()] == ["x (m)", "z (m)"]
    figure.draw_without_rendering()
    with pytest.raises(ValueError, match="projection='3d'"):
        plot.mechanism(plant, plant.neutral(), ax=Figure().add_subplot())


def test_massless_carriers_are_not_drawn():
    plant = plants.pendulum()
    pose = sketcher(plant).at(plant.assemble(angle=-np.pi / 2))
    assert len(pose.bodies) == 1 and len(pose.joints) == len(pose.sliders) == 0
    np.testing.assert_allclose(pose.bodies[0], [[0, 0, 0], [0, -1, 0]], atol=1e-12)  # a rod to its far end
    np.testing.assert_allclose(pose.loops, [[0, 0, 0]], atol=1e-12)
    np.testing.assert_array_equal(pose.ground, [[0, 0, 0]])


def test_all_parts_have_a_shape():
    corners = [(np.cos(a), np.sin(a), 0.0) for a in (0.0, 2.1, 4.2)]
    plate = cmb.Body("plate", 3.0, (0.0, 0.0, 0.1), (0.1, 0.1, 0.2))
    legs = [cmb.Distance(f"leg{i}", "ground", "plate", np.multiply(2, c), c, 1.6) for i, c in enumerate(corners)]
    spring = cmb.PointSpring("spring", "ground", "plate", (0, 0, 0), (0, 0, 0.1), stiffness=10.0, rest=1.0)
    plant = cmb.Mechanism("tripod", [plate], [cmb.Free("plate", "ground", "plate")], legs, [spring])
    q = plant.assemble(guess={"plate_z": 1.2})
    shape = sketcher(plant).at(q)
    assert len(shape.rods) == 3 and len(shape.springs) == 1 and len(shape.loops) == 6
    np.testing.assert_allclose([np.linalg.norm(a - b) for a, b in shape.rods], 1.6)
    assert_drawable(plant, q)


def assert_drawable(plant, q):
    """The figure can be rendered."""
    plot.mechanism(plant, q).draw_without_rendering()


def test_guides_of_slides_and_of_points_on_lines():
    crank, rod = cmb.Body.rod("crank", 1.0, 0.3), cmb.Body.rod("rod", 1.0, 0.8)
    block = cmb.Body("block", 2.0, inertia=(0.01, 0.01, 0.01))
    joints = [
        cmb.Revolute("crank", "ground", "crank"),
        cmb.Revolute("elbow", "crank", "rod", frame=cmb.Frame((0.3, 0, 0))),
    ]
    slide = cmb.Prismatic("slide", "ground", "block", axis=(1, 0, 0))
    pin = cmb.PointOnLine("pin", "block", "rod", (0, 0, 0), (0.8, 0, 0))
    with_block = cmb.Mechanism("press", [crank, rod, block], [*joints, slide], [pin], gravity=(0, -9.81, 0))
    guide = cmb.PointOnLine("guide", "ground", "rod", (0, 0, 0), (0.8, 0, 0), axis=(1, 0, 0))
    plane = cmb.PointOnPlane("guide", "ground", "rod", (0, 0, 0), (0.8, 0, 0), normal=(0, 1, 0))
    alone = [cmb.Mechanism("press", [crank, rod], joints, [g], gravity=(0, -9.81, 0)) for g in (guide, plane)]
    for plant, q in [(with_block, (0.0, 0.0, 1.1)), *((p, (0.0, 0.0)) for p in alone)]:
        shape = sketcher(plant).at(np.array(q))
        assert len(shape.guides) == len(shape.sliders) == 1
        np.testing.assert_allclose(shape.guides[0][:, 1:], 0.0, atol=1e-15)
        np.testing.assert_allclose(shape.sliders, [[1.1, 0.0, 0.0]])
        assert shape.guides[0][:, 0].min() < 0.0 and shape.guides[0][:, 0].max() > 1.1
        assert_drawable(plant, q)


def test_a_body_is_more_than_its_joints():
    """A centre of mass beside the line of the joints makes the body an area."""
    plant, q0, _ = plants.catalogue["andrews"].start()
    shapes = dict(zip(("K1", "K2", "K3", "K4", "K5", "K6", "K7"), sketcher(plant).at(q0).bodies, strict=True))
    assert {k: len(line) for k, line in shapes.items()} == dict(K1=2, K2=2, K3=4, K4=2, K5=4, K6=2, K7=4)
    assert len(plot.mechanism(plant, q0).axes[0].patches) == 3


def test_plants_given_by_functions_may_have_a_sketch(tmp_path):
    plant, q0, v0 = plants.catalogue["slider-crank"].start()
    assert_drawable(plant, q0)
    np.testing.assert_allclose(sketcher(plant).at(q0).bodies[1][-1], [2.0 * np.cos(0.6), 0.0, 0.0], atol=1e-12)
    run = cmb.simulate(plant, q0=q0, v0=v0, t_end=0.1, output_times=0.02)
    assert frames(run.animate(tmp_path / "a.gif")) == 3
    assert sketcher(bead(sketch=lambda q: [[[0.0, 0.0, 0.0], [*q, 1.0]]])).plane is None


def test_plants_without_a_sketch_say_so():
    with pytest.raises(cmb.errors.ModelError, match=r"'bead' is given by functions.*sketch="):
        plot.mechanism(bead(), [0.0, 0.0])
    with pytest.raises(cmb.errors.ModelError, match=r"sketch\(q\) must return lines.*\(2,\)"):
        plot.mechanism(bead(sketch=lambda q: [q]), [0.0, 0.0])


# -- modes ---------------------------------------------------------------------------------------------


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
    (tip,) = sketcher(hanging.point.plant).at(hanging.point.q).loops[:, :2]
    for ax, sideways in zip(figure.axes, (True, False), strict=True):
        paths = [np.array(line.get_data()).T for line in ax.lines if len(line.get_xdata()) == 25]
        swung = [path for path in paths if np.abs(path - tip).max() < 0.5]
        moved = np.ptp(max(swung, key=lambda path: np.ptp(path)), axis=0) if swung else np.zeros(2)
        assert (moved[0] > 0.2) == sideways  # the odd mode swings the tip, the even one lifts it a little
        faint = [line for line in ax.lines if line.get_alpha() in (0.45, 0.25) and len(line.get_xdata()) == 2]
        assert len(faint) == 8  # four bodies to both sides


def test_every_pose_of_a_mode_is_closed(hanging):
    plant, lengths = hanging.point.plant, []
    for number in (0, 1):
        motion = _Motion(hanging, hanging.modes()[number], None)
        for phase in np.exp(2j * np.pi * np.arange(12) / 12):
            assert plant.closure_error(motion.at(phase)) < 1e-12
        assert np.abs(plant.difference(motion.at(0.0), hanging.point.q)).max() < 1e-12
        here = motion.sketch(0.0).points()
        lengths.append(max(np.abs(motion.sketch(s).points() - here).max() for s in (1.0, -1.0)))
    assert min(lengths) > 0.15 and max(lengths) < 0.5  # seen, and still a small motion of a machine of 2.4 m


def test_amplitudes_keep_joints_within_their_limits(hanging):
    plain = hanging.point.plant
    limit = [[-0.1, 0.1] + hanging.point.q[0], None, None, None]
    joints = [
        dataclasses.replace(j, limits=x) if x is not None else j for j, x in zip(plain.joints, limit, strict=True)
    ]
    plant = cmb.Mechanism("five-bar", plain.bodies, joints, plain.loops, gravity=plain.gravity)
    lin = linearize(plant, trim(plant, hanging.point.q, u=0.0), coordinates=("left", "right"))
    motion = _Motion(lin, lin.modes()[0], None)
    turned = [abs(motion.at(s)[0] - hanging.point.q[0]) for s in (1.0, -1.0)]
    assert 0.03 < max(turned) <= 0.1


def test_real_modes_share_their_panel():
    plant = plants.five_bar()
    lin = linearize(plant, trim(plant, pose(plant)))
    titles = [ax.get_title() for ax in plot.modes(lin).axes]
    assert titles == ["modes 0, 1: growth and decay, ±2.37 1/s", "modes 2, 3: growth and decay, ±2.773 1/s"]
    assert [ax.get_title() for ax in plot.modes(lin, which=[2]).axes] == ["mode 2: decay, -2.773 1/s"]
    assert len(plot.modes(lin, undamped=True).axes) == 2


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
    assert frames(lin.animate_mode(0, tmp_path / "m.gif", fps=10, seconds=1.0)) >= 8  # equal frames are one


def test_animation_of_a_mode(hanging, tmp_path):
    done = []
    path = hanging.animate_mode(1, tmp_path / "m.gif", cycles=1, seconds=1.0, fps=10, progress=done.append)
    assert frames(path) == 10
    np.testing.assert_allclose(done, np.arange(1, 11) / 10)
    for kind, number in ((plants.five_bar(), 0), (plants.five_bar(), 1)):  # a growth, a decay
        lin = linearize(kind, trim(kind, pose(kind)))
        assert frames(lin.animate_mode(number, tmp_path / "r.gif", seconds=1.0, fps=5)) == 5


def test_amplitude_of_an_animation_follows_the_eigenvalue(hanging):
    mode = hanging.modes()[0]
    times, steady = _course(mode, 2.0, 2.0, False, 25.0)
    np.testing.assert_allclose(np.abs(steady), 1.0)
    assert times[-1] == pytest.approx(2 * 2 * np.pi / mode.eigenvalue.imag * 99 / 100)
    times, decaying = _course(mode, 2.0, 2.0, True, 25.0)
    np.testing.assert_allclose(decaying, np.exp(mode.eigenvalue * times), rtol=1e-12)
    growing = mode._replace(eigenvalue=-mode.eigenvalue.conjugate())
    assert np.abs(_course(growing, 2.0, 2.0, True, 25.0)[1]).max() == pytest.approx(1.0)


def test_what_mode_figures_refuse(hanging, tmp_path):
    with pytest.raises(ValueError, match="there is no mode 2; there are 2, numbered from 0"):
        hanging.animate_mode(2, tmp_path / "m.gif")
    with pytest.raises(ValueError, match=r"\.gif or a \.mp4"):
        hanging.animate_mode(0, tmp_path / "m.png")
    with pytest.raises(ValueError, match="amplitude must be > 0"):
        hanging.plot_modes(amplitude=0.0)
    lost = dataclasses.replace(hanging, point=dataclasses.replace(hanging.point, plant=None))
    with pytest.raises(cmb.errors.ModelError, match=r"load_linear\(path, plant\)"):
        lost.plot_modes()


# -- root loci --------------------------------------------------------------------------------------------


def test_root_locus_shows_branches_ends_and_crossings():
    locus = root_locus(
        lambda c: [[0.0, 1.0], [-4.0, 1.0 - c]], np.linspace(0.0, 8.0, 17), parameter="damping", unit="1/s"
    )
    figure = locus.plot()
    figure.draw_without_rendering()
    (ax,) = figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("real part (1/s)", "imaginary part (rad/s)")
    texts = [t.get_text() for t in ax.get_legend().get_texts()]
    assert texts == ["damping = 0 1/s", "damping = 8 1/s", "on the border: 1 1/s"]
    start, end, border = (curve(ax, text) for text in texts)
    np.testing.assert_allclose(np.abs(start[0] + 1j * start[1]), 2.0)
    np.testing.assert_allclose(sorted(border[1]), [-2.0, 2.0])
    np.testing.assert_allclose(end[1], 0.0, atol=1e-12)
    assert {"0.2", "0.8"} <= {t.get_text() for t in ax.texts}
    for values in (start, end, border):
        assert ax.get_xlim()[0] < values[0].min() and values[0].max() < ax.get_xlim()[1]


def test_root_locus_in_sampled_time_has_the_unit_circle():
    ax = Figure().add_subplot()
    locus = root_locus(lambda k: [[1.0 - 0.1 * k]], [0.0, 15.0, 25.0], period=0.1, ratio=0.2)
    assert locus.plot(ax=ax) is ax.figure
    assert ax.get_xlabel() == "real part (1)" and ax.get_aspect() == 1.0
    radii = [np.hypot(*line.get_data()) for line in ax.lines]
    assert any(len(r) > 100 and np.allclose(r, 1.0) for r in radii)
    assert locus.plot(grid=False).axes[0].texts[:] == []


# -- animations ----------------------------------------------------------------------------------------


def test_animation_has_its_frames_and_moves(free, tmp_path):
    fractions = []
    path = plot.animate(free, tmp_path / "run.gif", fps=20, speed=2.0, progress=fractions.append)
    with Image.open(path) as gif:
        assert gif.n_frames == 8  # 0.7 s in steps of 0.1 s
        assert gif.info["duration"] == 50
        first = np.asarray(gif.convert("RGB"), dtype=int)
        gif.seek(7)
        last = np.asarray(gif.convert("RGB"), dtype=int)
    assert first.shape == last.shape
    assert np.abs(first - last).max() > 100
    assert tuple(first[2, 2]) == (255, 255, 255)
    np.testing.assert_allclose(fractions, np.arange(1, 9) / 8)


def test_animation_in_space(tmp_path):
    plant, q0, v0 = plants.catalogue["bricard"].start()
    run = cmb.simulate(plant, q0=q0, v0=v0, t_end=0.2, output_times=0.05)
    assert frames(run.animate(tmp_path / "b.gif", fps=10, progress=True)) == 3


def test_animation_of_a_single_instant(free, tmp_path):
    short = cmb.Simulation(free.data.isel(time=[0]), free.plant)
    assert frames(short.animate(tmp_path / "one.gif")) == 1


def test_animation_refuses_what_it_cannot_write(free, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"\.gif or a \.mp4 file, got 'run\.avi'"):
        plot.animate(free, tmp_path / "run.avi")
    with pytest.raises(ValueError, match="fps must be > 0"):
        plot.animate(free, tmp_path / "run.gif", fps=0)
    with pytest.raises(ValueError, match="speed"):
        plot.animate(free, tmp_path / "run.gif", speed=float("nan"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(cmb.errors.MissingExtraError, match=r"run\.mp4 needs ffmpeg"):
        plot.animate(free, tmp_path / "run.mp4")
    with pytest.raises(OSError, match="nowhere"):
        plot.animate(free, tmp_path / "nowhere" / "run.gif")


# -- what controllers report ------------------------------------------------------------------------------


def test_reports_of_a_law_with_limits(tmp_path):
    plant = plants.five_bar(effort=40.0)
    motion = ProjectedInverseDynamics(plant, ("left", "right"), Constant([1.9, 1.0]), bandwidth=8.0, period=5e-3)
    run = simulate(plant, motion | Saturation(), plant.assemble(left=2.1, right=1.0), t_end=0.2, output_times=0.01)
    figure = plot.reports(run)
    assert [ax.get_ylabel() for ax in figure.axes] == [str(n) for n in run.data["quantity"].values]
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
    assert labels.count("change of the loops") == 1 and "singular passage" not in labels


def test_errors_of_a_task_are_drawn():
    plant = plants.five_bar()
    tip = PointTask(plant, "left_upper", (1.5, 0.0, 0.0), axes="xy")
    q = plant.assemble(left=2.1, right=1.0)
    here = tip.value(plant.terms(q, np.zeros(4)))
    run = simulate(plant, ProjectedInverseDynamics(plant, tip, Constant(here + 0.01), bandwidth=8.0), q, t_end=0.05)
    assert "tracking error (m)" in [ax.get_ylabel() for ax in plot.responses(run).axes]
    assert run.error.values[0] == pytest.approx([0.01, 0.01], abs=1e-12)
