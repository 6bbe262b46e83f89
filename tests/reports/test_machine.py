"""The report on a machine, and on an operating point."""

from cmbcontrol import OperatingPoint, plants, report

from .reading import read


def test_a_machine(tmp_path):
    plant = plants.five_bar()
    page = read(
        plant.write_report(tmp_path / "machine.html", q=plant.assemble(left=2.1, right=1.0), title="my machine")
    )
    assert list(page.sections) == ["In three dimensions", "Machine", "Linear model", "Versions"]
    text = (tmp_path / "machine.html").read_text()
    assert "<title>my machine" in text and "At q:" in text and "Not shown" not in text


def test_an_operating_point_that_moves(tmp_path):
    """Its linear model is the affine one, with a drift."""
    plant = plants.five_bar()
    point = OperatingPoint.at(plant, plant.assemble(left=2.1, right=1.0))
    page = read(report(point, tmp_path / "point.html"))
    assert list(page.sections)[2] == "Linear model"
    assert "Not shown" not in (tmp_path / "point.html").read_text()
