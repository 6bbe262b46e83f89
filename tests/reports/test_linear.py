"""The report on a linear model."""

from cmbcontrol import linearize, plants, report, trim

from .reading import read


def test_a_linear_model_and_its_modes(tmp_path):
    plant = plants.five_bar()
    lin = linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=("left", "right"))
    one, other = (read(report(subject, tmp_path / "lin.html")) for subject in (lin, lin.modes()))
    assert list(one.sections) == list(other.sections)
    assert list(one.sections) == [
        *("In short", "Modes", "What inputs move and outputs see", "Frequency response", "Operating point", "Machine"),
        "Versions",
    ]
    assert "Not shown" not in (tmp_path / "lin.html").read_text()
