"""The command linearize: what it prints and writes."""

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import cmbcontrol as cmb
from cmbcontrol import affine_approximation, load_linear, plants
from cmbcontrol import linearize as linear_model
from cmbcontrol.cli import entries
from tests.fixtures import assert_fails, five_bar_potential, printed_matrix, run_command, slope

NEEDS_COMPILATION, KERNELS = entries._jit.needs_compilation, entries._jit.kernels()


# -- linearize -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(plants.catalogue))
def test_every_plant_can_be_linearized(name, linearized):
    out, lin = linearized(name)
    entry = plants.catalogue[name]
    plant, q0, _ = entry.start()
    assert out.startswith(f"{name}, {'held' if plant.nu else 'let go'} at the start configuration")
    assert lin.point.residuals.balance <= 1e-6 * max(1.0, np.abs(lin.point.u).max(initial=0.0))
    if plant.nu:
        np.testing.assert_array_equal(lin.point.q, q0)
    for mode in lin.damping():
        assert f"{mode.frequency:.6g}" in out
    assert f"conditioning  {lin.conditioning:.3g}" in out
    digits = {"rtol": 5.1e-6, "atol": 1e-12 * np.abs(lin.A).max()}
    np.testing.assert_allclose(printed_matrix(out, "A"), lin.A, **digits)
    if lin.inputs:
        np.testing.assert_allclose(printed_matrix(out, "B"), lin.B, **digits)
    assert out.count(" rad\n") + out.count(" m\n") >= plant.nq - 8  # quaternions have no unit


def test_the_guide_shows_what_is_printed(here):
    guide = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    command, shown = re.search(r"```bash\ncmbcontrol (.*?)\n```\n\n```text\n(.*?)```", guide, re.S).groups()
    code, out, _ = run_command(*command.replace("\\\n", " ").split())
    assert code == 0
    rounding = "  loops open by"
    shown = [line for line in shown.splitlines() if not line.startswith(rounding)]
    assert [line for line in out.splitlines() if not line.startswith(rounding)][: len(shown)] == shown
    assert {p.name for p in (here / "linear-five-bar").iterdir()} == {"bode.png", "model.mat"}


@pytest.mark.parametrize("name", list(plants.catalogue))
def test_every_plant_has_an_affine_model(name, linearized):
    out, lin = linearized(name, "--affine")
    plant, q0, _ = plants.catalogue[name].start()
    np.testing.assert_array_equal(lin.point.q, q0)
    assert not lin.point.u.any() and not lin.point.v.any()
    a = cmb.forward_dynamics(plant, q0, np.zeros(plant.nv))
    rows = [plant.velocity_names.index(n) for n in lin.states[: lin.dof]]
    np.testing.assert_allclose(lin.drift[lin.dof :], a[rows], rtol=1e-8, atol=1e-9)
    assert ("drift" in out) == bool(lin.drift.any())


def test_linearize_takes_coordinates_inputs_and_outputs(linearized):
    pose = ("--at", "left=2.1,right=1")
    out, lin = linearized("five-bar", *pose, "--coordinates", "left,right", "--inputs", "right",
                          "--outputs", "left, tip_force", "--outputs", "right_rate")  # fmt: skip
    plant = plants.five_bar()
    expected = linear_model(
        plant,
        cmb.trim(plant, plant.assemble(left=2.1, right=1.0)),
        coordinates=("left", "right"),
        inputs=("right",),
        outputs=("left", "tip_force", "right_rate"),
    )
    assert (lin.states, lin.inputs, lin.outputs) == (expected.states, expected.inputs, expected.outputs)
    for key in "ABCD":
        np.testing.assert_allclose(getattr(lin, key), getattr(expected, key), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(printed_matrix(out, key), getattr(lin, key), rtol=5.1e-6, atol=1e-12)
    assert "five-bar, held at left = 2.1, right = 1\n" in out
    assert f"motor left       {slope(lambda s: five_bar_potential(2.1 + s, 1.0)):.6g} N m" in out  # virtual work
    assert "left [rad], tip_x [N], tip_y [N], right_rate [rad/s]" in out
    assert "right 55 %, left 45 %" in out
    one_by_one = linearized("five-bar", "--at", "left=2.1", "--at", "right=1", "--coordinates", "left",
                            "--coordinates", "right", "--inputs", "right", "--outputs", "left",
                            "--outputs", "tip_force", "--outputs", "right_rate")  # fmt: skip
    assert one_by_one[0] == out


def test_linearize_without_inputs(linearized):
    out, lin = linearized("five-bar", "--inputs", "")
    assert lin.inputs == () and "inputs        none" in out and "B is empty, 4 x 0" in out


def test_linearize_lets_the_machine_rest_against_its_stops(here):
    assert_fails("let it rest against the limit", "linearize", "loader", "--free", "--stable")
    code, out, _ = run_command("linearize", "loader", "--free", "--stable", "--stops")
    assert code == 0 and "contact lift_lower_stop pushes with" in out
    assert "2 states" in out  # one cylinder on its stop, one degree of freedom less


def test_linearize_lets_the_machine_go(linearized):
    out, lin = linearized("pendulum", "--free", "--at", "angle=1.2")
    assert "let go at angle = 1.2 to the nearest equilibrium, motors off" in out
    angle = lin.point.plant.position_names.index("angle")
    assert lin.point.q[angle] == pytest.approx(np.pi / 2)  # upright, unstable
    out, lin = linearized("pendulum", "--stable", "--at", "angle=1.2")
    assert "to a stable equilibrium" in out
    assert np.sin(lin.point.q[angle]) == pytest.approx(-1.0)
    np.testing.assert_allclose(lin.poles().imag, np.sqrt(1.5 * 9.81) * np.array([-1.0, 1.0]), rtol=1e-9)


def test_a_pose_that_is_too_heavy_is_let_go(linearized):
    heavy = ("--with", "effort=20", "--at", "left=2.1,right=1")
    out, lin = linearized("five-bar", *heavy)
    need = slope(lambda s: five_bar_potential(2.1, 1.0 + s))  # by virtual work
    assert f"the motors cannot hold that configuration: actuator 'right' needs {need:.4g} N m and has 20 N m" in out
    assert not lin.point.u.any() and lin.point.residuals.balance < 1e-9
    assert_fails("has 20 N m. Raise its effort limit, or choose another configuration. --free lets it go, --affine "
                 "linearizes it where it stands.", "linearize", "five-bar", *heavy, "--held")  # fmt: skip


def test_linearize_where_neither_works(only, here):
    block = cmb.Body("block", 1.0, inertia=(0.1, 0.1, 0.1))
    joint = cmb.Prismatic("z", "ground", "block", axis=(0, 0, 1))
    only(
        lambda effort=5.0: cmb.Mechanism("fall", [block], [joint], actuators=[cmb.Actuator("z", effort=effort)]),
        lambda plant: (np.zeros(1), np.zeros(1)),
    )
    assert_fails("actuator 'z' needs 9.81 N and has 5 N. Raise its effort limit, or choose another configuration. When "
                 "it is let go: no equilibrium", "linearize", "mine")  # fmt: skip
    assert_fails("--affine linearizes it where it stands.", "linearize", "mine", "--free")
    code, out, _ = run_command("linearize", "mine", "--affine")
    assert code == 0 and "z_rate [m/s2]  -9.81" in out
    assert run_command("linearize", "mine", "--with", "effort=inf")[0] == 0
    assert list(here.iterdir()) == []


def test_linearize_with_efforts(linearized):
    _, lin = linearized("five-bar", "--affine", "--effort", "left=-5,right=3", "--at", "left=2.1,right=1")
    plant = plants.five_bar()
    point = cmb.OperatingPoint.at(plant, plant.assemble(left=2.1, right=1.0), (-5.0, 3.0))
    np.testing.assert_allclose(lin.drift, affine_approximation(plant, point).drift, rtol=1e-12)
    out, lin = linearized("pendulum", "--free", "--effort", "motor=2", "--at", "angle=-1")
    assert "with the efforts given" in out
    assert 4.905 * np.cos(lin.point.q[lin.point.plant.position_names.index("angle")]) == pytest.approx(2.0)
    _, lin = linearized("two-arms", "--effort", "left_shoulder=10")
    assert lin.point.u[0] == 10.0 and lin.point.u[1:].all()


def test_linearize_at_a_singular_pose():
    flat = ("--at", "left=pi,elbow_left=-pi", "--at", "right=0,elbow_right=pi")
    assert_fails("a singular configuration, with", "linearize", "five-bar", *flat, "--held")
    assert_fails("is at a singular configuration", "linearize", "five-bar", *flat, "--affine")


def test_linearize_names_better_coordinates():
    assert_fails("got 1 coordinates, 'left'; choose 'left', 'elbow_left'", "linearize", "five-bar",
                 "--coordinates", "left")  # fmt: skip
    stretched = ("five-bar", "--at", "right=120deg", "--at", "elbow_right=0")  # the right arm holds the tip on a circle
    assert_fails("are not independent at this configuration (conditioning ", "linearize", *stretched,
                 "--coordinates", "left,elbow_left")  # fmt: skip
    assert_fails("choose 'left', 'right'", "linearize", *stretched, "--coordinates", "left,elbow_left")


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("there is no coordinate 'lefd'; did you mean 'left'?", ["--coordinates", "lefd,right"]),
        ("the coordinate 'left' is named 2 times", ["--coordinates", "left,left"]),
        ("there is no actuator or other input 'lefd'", ["--inputs", "lefd"]),
        ("there is no output 'tip'; did you mean 'tip_", ["--outputs", "tip"]),
        ("there is no joint coordinate 'lefd'; did you mean 'left'?", ["--at", "lefd=1"]),
        ("there is no motor 'lefd'; did you mean 'left'?", ["--effort", "lefd=1"]),
        ("--effort takes name=value, such as left=5, got 'left'", ["--effort", "left"]),
        ("there is no option 'closur'; did you mean 'closure'?", ["--with", "closur=line"]),
        ("there is no closure 'lin'; did you mean 'line'?", ["--with", "closure=lin"]),
        ("--with effort takes a number, got 'big'", ["--with", "effort=big"]),
        ("--with effort takes a number, got '1,2'", ["--with", "effort=1,2"]),
        ("--with takes name=value, such as closure=revolute, got 'line'", ["--with", "line"]),
        ("--affine takes the configuration as it stands", ["--affine", "--held"]),
        ("--affine takes the configuration as it stands", ["--affine", "--free"]),
        ("--affine takes the configuration as it stands", ["--affine", "--stops"]),
        ("--stable lets the machine go, --held does not", ["--held", "--stable"]),
        ("--sampled must be > 0, got -1.0", ["--sampled", "-1"]),
        ("--sampled must be finite, got inf", ["--sampled", "inf"]),
        ("--delay needs --sampled SECONDS", ["--delay", "0.1"]),
        ("--delay must be >= 0, got -0.1", ["--sampled", "0.1", "--delay", "-0.1"]),
        ("--delay takes a time in seconds, or name=time, got 'late'", ["--sampled", "0.1", "--delay", "late"]),
        ("there is no input 'lefd'", ["--sampled", "0.1", "--delay", "lefd=0.1"]),
        ("must end in .mat or .json or .npz, got 'model.txt'", ["--save", "model.txt"]),
        ("must end in .png or .svg or .pdf, got 'plot.xyz'", ["--bode=plot.xyz"]),
        ("five.png is to be written twice", ["--bode", "five.png", "--poles", "five.png"]),
        ("has no inputs", ["--inputs", "", "--bode", "five.png"]),
    ],
)
def test_linearize_refuses(message, arguments, here):
    assert_fails(message, "linearize", "five-bar", *arguments)
    assert list(here.iterdir()) == []


def test_linearize_options_of_the_plant():
    assert_fails("--with n takes a whole number, got '2.5'", "linearize", "n-four-bar", "--with", "n=2.5")
    code, out, _ = run_command("linearize", "n-four-bar", "--with", "n=5")
    assert code == 0 and "bar5 " in out
    code, out, _ = run_command("diagnose", "slider-crank", "--with", "actuated=q1,q2", "--with", "length=2")
    assert code == 0 and "over-actuated: 1 of 1 degrees of freedom" in out


def test_linearize_behind_a_computer(linearized):
    out, lin = linearized("five-bar", "--sampled", "0.01", "--delay", "left=0.015")
    digital = lin.sampled(0.01, {"left": 0.015})
    head, tail = out.split("sampled every 0.01 s: ")
    assert "6 states" in tail and "[k-2]" in tail
    np.testing.assert_allclose(printed_matrix(tail, "A"), digital.A, rtol=5.1e-6, atol=1e-12)
    np.testing.assert_allclose(printed_matrix(head, "A"), lin.A, rtol=5.1e-6, atol=1e-12)
    outside = np.count_nonzero(np.abs(digital.poles()) > 1.0)
    assert f"{outside} of 6 outside the unit circle" in tail
    assert f"{np.abs(digital.poles()).max():.6g}" in tail
    both = run_command("linearize", "five-bar", "--sampled", "0.01", "--delay", "0.015")[1]
    assert "8 states" in both


def test_linearize_writes_figures_and_files(here):
    code, out, err = run_command("linearize", "five-bar", "--bode", "--poles", "p.svg", "--modes", "--save", "mat,json",
                          "--save", "deep/er/model.npz")  # fmt: skip
    assert (code, err) == (0, "")
    folder = here / "linear-five-bar"
    assert {p.name for p in folder.iterdir()} == {"bode.png", "p.svg", "modes.png", "linear.mat", "linear.json"}
    for name in ("bode.png", "modes.png"):
        with Image.open(folder / name) as image:
            assert min(image.size) > 400
    assert "<svg" in (folder / "p.svg").read_text()
    kept = [load_linear(p) for p in (*folder.glob("linear.*"), here / "deep" / "er" / "model.npz")]
    assert len(kept) == 3
    for lin in kept:
        np.testing.assert_array_equal(lin.A, kept[0].A)
    (line,) = [line for line in out.splitlines() if line.startswith("written: ")]
    assert line.count(",") == 5


def test_a_figure_before_the_plant(here):
    assert run_command("linearize", "--poles", "pendulum", "-o", "out", "--sampled", "0.1")[0] == 0
    assert [p.name for p in (here / "out").iterdir()] == ["poles.png"]
    assert run_command("linearize", "--poles=q.png", "pendulum", "-o", "out")[0] == 0
    assert {p.name for p in (here / "out").iterdir()} == {"poles.png", "q.png"}


def test_linearize_writes_nothing_unless_told(here):
    code, out, _ = run_command("linearize", "five-bar")
    assert code == 0 and "written" not in out
    assert list(here.iterdir()) == []


def test_a_file_in_the_way_of_a_model(here):
    (here / "taken").write_text("")
    assert_fails("cannot be made", "linearize", "five-bar", "--save", "taken/model.mat")


def test_the_eigenvalues_are_where_they_belong():
    from cmbcontrol.cli.figures import poles

    plant = plants.pendulum()
    lin = linear_model(plant, cmb.trim(plant, plant.assemble(angle=-np.pi / 2)))
    for digital in (None, lin.sampled(0.1)):
        (ax,) = poles(lin, digital).axes
        (line,) = [line for line in ax.lines if line.get_marker() == "x"]
        expected = lin.poles() if digital is None else digital.poles()
        np.testing.assert_allclose(np.sort_complex(line.get_xydata() @ [1.0, 1j]), np.sort_complex(expected), atol=1e-9)
        assert ax.get_xlabel() == ("real part (1/s)" if digital is None else "real part (1)")


# -- starting ----------------------------------------------------------------------------------------------


def test_the_derivatives_have_kernels_of_their_own(tmp_path, monkeypatch):
    if not entries._jit.JIT_ENABLED:
        pytest.skip("nothing is compiled")
    monkeypatch.setattr(entries._jit, "_folders", lambda: (tmp_path / "none", tmp_path))
    last = "derivatives.local_terms"
    assert NEEDS_COMPILATION(last)
    (tmp_path / "derivatives.local_terms-0123456789abcdef.code.part").touch()
    assert NEEDS_COMPILATION(last)
    (tmp_path / "derivatives.local_terms-0123456789abcdef.code").touch()
    assert not NEEDS_COMPILATION(last)
    names = {f"{k.__module__.rpartition('.')[2]}.{k.__name__}" for k in KERNELS}
    assert last in names
