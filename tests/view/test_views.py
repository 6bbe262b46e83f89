"""The functions of `cmbcontrol.view`: what they take, and what they refuse."""

import numpy as np
import pytest

from cmbcontrol import linearize, plants, simulate, studies, trim
from cmbcontrol.view import View, view_machine, view_modes, view_run, view_study


@pytest.fixture(scope="module")
def plant():
    return plants.five_bar()


@pytest.fixture(scope="module")
def run(plant):
    return simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.1)


@pytest.fixture(scope="module")
def lin(plant):
    return linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=("left", "right"))


def test_options_of_a_run(run, tmp_path):
    view = view_run(run, title="a title", trace=[("left_upper", (0.5, 0, 0))], speed=0.1)
    assert isinstance(view, View) and view.title == "a title"
    (case,) = view._cases
    assert case["speed"] == 0.1 and case["traces"][0]["point"] == [0.5, 0.0, 0.0]
    assert view_run(run, tmp_path / "run.html") == tmp_path / "run.html"


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"speed": 0.0}, ValueError, "speed must be > 0"),
        ({"trace": [("nobody", (0, 0, 0))]}, ValueError, "nobody"),
        ({"trace": ["left_upper"]}, TypeError, "pairs of a body and a point"),
        ({"trace": [("left_upper", (0, np.nan, 0))]}, ValueError, "finite"),
        ({"title": 3}, TypeError, "title"),
    ],
)
def test_wrong_options(run, options, error, told):
    with pytest.raises(error, match=told):
        view_run(run, **options)


def test_modes_by_number(lin):
    assert len(view_modes(lin)._cases) == 4
    assert [c["name"][:6] for c in view_modes(lin, which=[3, 1])._cases] == ["mode 3", "mode 1"]
    with pytest.raises(ValueError, match="there is no mode 4; there are 4"):
        view_modes(lin, which=4)
    with pytest.raises(ValueError, match="no modes"):
        view_modes(lin, which=[])


def test_a_mode_moves_as_in_figures(lin, plant):
    """The operating point plus amplitude times shape, loops closed; the end of an oscillation is its begin."""
    from cmbcontrol.plot.modes import ModeMotion

    undamped = lin.undamped_modes()
    case = view_modes(lin, which=0, undamped=True, amplitude=0.05)._cases[0]
    motion = ModeMotion(lin, undamped[0], 0.05)
    frame, k = plant.pose(motion.at(1.0), "left_upper"), case["look"]["bodies"].index("left_upper")
    positions = case["motion"]["positions"].values
    start = np.linalg.norm(positions[:, k] - frame.p, axis=1).min()
    assert start < 1e-9 or undamped[0].kind != "oscillation"
    if case["motion"]["repeats"]:
        assert np.allclose(positions[0], positions[-1], atol=1e-9)


def test_study_of_other_things():
    found = studies.study(lambda a: {"b": a}, {"a": [1.0, 2.0]})
    with pytest.raises(TypeError, match="no Simulation"):
        view_study(found, "b")
    with pytest.raises(ValueError, match="measure"):
        view_study(found, "c")


def test_machines_by_name_of_joint(plant):
    q = plant.assemble(left=2.1, right=1.0)
    by_name = dict(zip(plant.position_names, q, strict=True))
    assert view_machine(plant, by_name).html == view_machine(plant, q).html
