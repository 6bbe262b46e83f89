"""The report on a closed loop."""

import pytest

from cmbcontrol import Constant, linearize_closed_loop, plants, report
from cmbcontrol.controllers import ProjectedInverseDynamics

from .reading import read


@pytest.mark.parametrize(
    ("gains", "verdict"), [({"bandwidth": 8.0, "period": 0.002}, "stable"), ({"kp": 40, "kd": -2.0}, "not stable")]
)
def test_a_loop(tmp_path, gains, verdict):
    plant = plants.five_bar()
    law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), **gains)
    loop = linearize_closed_loop(plant, law)
    page = read(report(loop, tmp_path / "loop.html"))
    assert list(page.sections) == [
        *("In short", "Margins", "Open loop and sensitivities", "Nyquist and Nichols", "Steps of the reference"),
        *("Steps of disturbances", "Noise of the sensors", "What inputs move and outputs see", "Operating point"),
        *("Machine", "Versions"),
    ]
    assert page.sections["In short"]["rows"][0][0] == verdict and page.sections["Nyquist and Nichols"]["pictures"] == 2
    text = (tmp_path / "loop.html").read_text()
    if verdict == "stable":
        assert "Not shown" not in text and page.sections["Steps of the reference"]["pictures"] == 1
        assert [row[0] for row in page.sections["Margins"]["rows"]] == ["motor", "left", "right"]
    else:
        assert "does not come to rest after a step of left_ref" in text
