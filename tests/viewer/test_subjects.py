"""The verb `view`: what they take, and what they refuse."""

import numpy as np
import pytest

from cmbcontrol import linearize, plants, simulate, studies, trim, view
from cmbcontrol.viewer import View


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
    page = view(run, title="a title", trace=[("left_upper", (0.5, 0, 0))], speed=0.1)
    assert isinstance(page, View) and page.title == "a title"
    (case,) = page._cases
    assert case["speed"] == 0.1 and case["traces"][0]["point"] == [0.5, 0.0, 0.0]
    assert view(run, tmp_path / "run.html") == tmp_path / "run.html"


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
        view(run, **options)


def test_modes_by_number(lin):
    assert len(view(lin)._cases) == 4
    assert [c["name"][:6] for c in view(lin, which=[3, 1])._cases] == ["mode 3", "mode 1"]
    with pytest.raises(ValueError, match="there is no mode 4; there are 4"):
        view(lin, which=4)
    with pytest.raises(ValueError, match="no modes"):
        view(lin, which=[])


def test_a_mode_moves_as_in_figures(lin, plant):
    """The operating point plus amplitude times shape, loops closed; the end of an oscillation is its begin."""
    from cmbcontrol.plot.modes import ModeMotion

    undamped = lin.undamped_modes()
    case = view(undamped, which=0, amplitude=0.05)._cases[0]
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
        view(found, measure="b")
    with pytest.raises(ValueError, match="measure"):
        view(found, measure="c")


def test_machines_by_name_of_joint(plant):
    q = plant.assemble(left=2.1, right=1.0)
    by_name = dict(zip(plant.position_names, q, strict=True))
    assert view(plant, q=by_name).html == view(plant, q=q).html


def test_whatever_it_is_given(plant, lin, run):
    """Machine, operating point, run, linear model, modes, study; the path in the same place; what else is told."""
    q = plant.assemble(left=2.1, right=1.0)
    assert view(plant).html == view(plant, q=plant.assemble()).html
    assert view(lin.point).html == view(plant, q=lin.point.q).html
    assert view(lin.modes(), which=1).html == view(lin, which=1).html == lin.view(which=1).html
    assert plant.view(q=q).html == view(plant, q=q).html
    with pytest.raises(TypeError, match=r"view takes a run, .* or a machine, got 3\.0"):
        view(3.0)
    with pytest.raises(ValueError, match=r"which= does not go with a run, which takes title=, trace=, speed="):
        view(run, which=1)
    with pytest.raises(ValueError, match=r"q= does not go with a linear model"):
        view(lin, q=q)


def test_the_first_measure_unless_told(plant):
    def case(angle):
        pendulum = plants.pendulum()
        return {"plant": pendulum, "q0": pendulum.assemble(angle=angle), "t_end": 0.05}

    found = studies.study(case, {"angle": [0.1, 0.3]}, measures={"end": lambda run: run.q.values[-1, -1]})
    assert view(found).html == view(found, measure="end", count=1, largest=True).html == found.view().html
    with pytest.raises(ValueError, match="no measures"):
        view(studies.study(case, {"angle": [0.1]}))
