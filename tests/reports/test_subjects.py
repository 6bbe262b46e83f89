"""The verb `report`: what it takes, and what it refuses."""

import pytest

from cmbcontrol import linearize, plants, report, simulate, trim


@pytest.fixture(scope="module")
def plant():
    return plants.five_bar()


@pytest.fixture(scope="module")
def lin(plant):
    return linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=("left", "right"))


def test_what_is_refused(plant, lin, tmp_path):
    path = tmp_path / "page.html"
    with pytest.raises(TypeError, match=r"report takes a run, a linear model, .* or a machine, got 3"):
        report(3, path)
    with pytest.raises(ValueError, match="q= does not go with a linear model"):
        report(lin, path, q=[0.0])
    with pytest.raises(ValueError, match="limits= does not go with a machine, which takes title=, q="):
        report(plant, path, limits={"a": (0.0, 1.0)})
    with pytest.raises(ValueError, match=r"a page, \.html"):
        report(plant, tmp_path / "page.pdf")
    run = simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.01)
    with pytest.raises(AttributeError, match=r"write_report\(path\)"):
        run.report  # noqa: B018  # what a law reports, in other runs
    assert not list(tmp_path.iterdir())
