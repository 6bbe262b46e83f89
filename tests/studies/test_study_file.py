"""Studies as files: the same study as in Python, and messages with the line of what is wrong."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import controllers, plants
from cmbcontrol.errors import FileError, InputError, InputTypeError
from cmbcontrol.studies import MachineCase, read_study, study, worst_error

TEXT = """\
machine: five-bar
law:
  type: ProjectedInverseDynamics
  coordinates: [left, right]
  reference: {type: Constant, position: [2.1, 1.0]}
  bandwidth: $bandwidth
  period: 1e-2
start: {left: 2.1, right: 1.0}
run: {t_end: 0.1, output_times: 0.05}
vary:
  left_lower_scale: {low: 0.9, high: 1.1}
  start_left: {distribution: norm, loc: 2.1, scale: 0.01, unit: rad}
  bandwidth: [4, 8]
runs: 3
seed: 2
measures:
  worst: worst_error
  left: {worst_error: {name: left, after: 0.05}}
limits: {worst: [0, .inf]}
"""


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "study.yaml"
        path.write_text(text)
        return path

    return write


def test_the_same_as_in_python(written):
    from scipy import stats

    plant = plants.five_bar()

    def law(plant, bandwidth):
        goal = cmb.Constant([2.1, 1.0])
        return controllers.ProjectedInverseDynamics(plant, ("left", "right"), goal, bandwidth=bandwidth, period=1e-2)

    case = MachineCase(plant, law, {"left": 2.1, "right": 1.0}, t_end=0.1, output_times=0.05)
    vary = {"left_lower_scale": (0.9, 1.1), "start_left": stats.norm(2.1, 0.01), "bandwidth": [4, 8]}
    truth = study(case, vary, runs=3, seed=2, measures={"worst": worst_error()})
    asked = read_study(written(TEXT))
    found = asked.run()
    assert found.failures == 0 and found.data.sizes["run"] == 6
    np.testing.assert_array_equal(found.data.worst.values, truth.data.worst.values)
    assert asked.limits == {"worst": (0.0, np.inf)}
    assert found.data.start_left.attrs["units"] == "rad" and found.data.worst.attrs["units"] == "rad"


def test_machines_of_other_formats(written, tmp_path):
    """The machine is that of the reader of its format, and what it says of the file is kept."""
    path = tmp_path / "machine.sdf"
    cmb.formats.write(plants.five_bar(), path)
    asked = read_study(written(TEXT.replace("five-bar", path.name).replace("left_lower_scale", "gravity_y")))
    assert "'elbow_left' is cut" in str(asked.conversion)  # this format keeps a graph, which is cut anew

    def law(plant, bandwidth):
        goal = cmb.Constant([2.1, 1.0])
        return controllers.ProjectedInverseDynamics(plant, ("left", "right"), goal, bandwidth=bandwidth, period=1e-2)

    start = {"left": 2.1, "right": 1.0}
    case = MachineCase(cmb.formats.read(path).machine, law, start, t_end=0.1, output_times=0.05)
    found, truth = asked.run(), study(case, asked.vary, runs=3, seed=2, measures=asked.measures)
    assert found.failures == 0
    np.testing.assert_array_equal(found.data.worst.values, truth.data.worst.values)


def test_linear_models(written):
    text = TEXT[: TEXT.index("run:")] + "linear: {}\n" + TEXT[TEXT.index("vary:") : TEXT.index("measures:")]
    text += "measures: {pole: slowest_pole, disk: disk_margin, gain: {gain_margin: {channel: left}}}\n"
    found = read_study(written(text)).run()
    assert found.failures == 0
    assert (found.data.pole.values < 0.0).all() and (found.data.disk.values > 0.5).all()
    assert found.data.gain.attrs["units"] == "dB"


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("machine: five-bar", "machine: fivebar", 1, "did you mean 'five-bar'"),
        ("machine: five-bar\n", "", 1, "the key 'machine' is missing"),
        ("runs: 3", "rnus: 3", 14, "did you mean 'runs'"),
        ("run: {t_end", "run: {t_edn", 9, "did you mean 't_end'"),
        ("run: {t_end: 0.1, output_times: 0.05}", "", 1, "give either 'run'"),
        ("  bandwidth: $bandwidth", "  bandwith: $bandwidth", 6, "did you mean 'bandwidth'"),
        ("type: Constant", "type: Constnt", 5, "did you mean 'Constant'"),
        ("[2.1, 1.0]}", "[2.1, high]}", 5, "position"),
        ("[2.1, 1.0]}", "[2.1]}", 5, "reference"),
        ("{type: Constant, position", "{type: Constant, postion", 5, "did you mean 'position'"),
        ("period: 1e-2", "period: -1", 7, "period"),
        ("type: ProjectedInverseDynamics", "type: ProjectedInverseDynamic", 3, "did you mean 'ProjectedInverse"),
        ("$bandwidth", "$width", 2, r"asks for \$width, which does not vary"),
        ("  left_lower_scale", "  left_lowr_scale", 11, "did you mean 'left_lower_scale'"),
        ("{low: 0.9, high: 1.1}", "{low: 0.9}", 11, "a parameter takes values, low and high, or a distribution"),
        ("{low: 0.9, high: 1.1}", "{low: low, high: 1.1}", 11, "low must be a number, got 'low'"),
        ("{low: 0.9, high: 1.1}", "0.9", 11, "a parameter takes a list of values"),
        ("distribution: norm", "distribution: nrom", 12, "did you mean 'norm'"),
        ("distribution: norm", "distribution: beta", 12, "distribution 'beta' needs a, b"),
        ("scale: 0.01", "scale: -1", 12, "does not exist with"),
        ("scale: 0.01", "sigma: 1", 12, "argument of norm"),
        ("worst: worst_error", "worst: wrost_error", 17, "did you mean 'worst_error'"),
        ("after: 0.05", "before: 0.05", 18, "argument of worst_error"),
        ("after: 0.05", "after: -1", 18, "after"),
        ("limits: {worst:", "limits: {wurst:", 19, "did you mean 'worst'"),
        ("[0, .inf]", "[0]", 19, "limits of 'worst'"),
        ("[0, .inf]", "[low, 1]", 19, "limits of 'worst' must be a number, got 'low'"),
        ("[0, .inf]", "[1, 0]", 19, "low <= high"),
        ("[left, right]", "[left, rigth]", 4, "rigth"),
        ("seed: 2", "options: {speed: 2}", 1, "option of five-bar"),
    ],
)
def test_messages_tell_the_line(written, old, new, line, said):
    assert old in TEXT
    with pytest.raises((InputError, InputTypeError), match=rf"study.yaml, line {line}: .*{said}"):
        read_study(written(TEXT.replace(old, new)))


def test_machines_are_in_the_folder_of_the_study(tmp_path):
    """What files of strangers may name is in their folder, as for meshes of machine files."""
    inner = tmp_path / "inner"
    inner.mkdir()
    outside = tmp_path / "outside.yaml"
    plants.five_bar().save(outside)
    (inner / "link.yaml").symlink_to(outside)
    (inner / "below").mkdir()
    plants.five_bar().save(inner / "below" / "own.yaml")
    path = inner / "study.yaml"
    for name in ("../outside.yaml", str(outside), "link.yaml", "below/../../outside.yaml"):
        path.write_text(TEXT.replace("five-bar", name))
        with pytest.raises(InputError, match=r"line 1: the machine is .* which leads out of the folder"):
            read_study(path)
    path.write_text(TEXT.replace("five-bar", "below/own.yaml"))
    assert read_study(path).case.plant.name == "five-bar"


def test_what_study_refuses_is_refused_too(written):
    with pytest.raises(InputError, match="sampling"):
        read_study(written(TEXT + "sampling: soboll\n")).run()
    with pytest.raises(FileError, match="cannot be read"):
        read_study("none.yaml")
    with pytest.raises(InputTypeError, match="line 1: a study"):
        read_study(written("- 1\n"))
