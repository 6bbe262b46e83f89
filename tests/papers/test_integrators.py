"""All integrators on three machines."""

import pytest

from cmbcontrol import papers
from cmbcontrol.papers import integrators
from cmbcontrol.papers.methods import METHODS
from tests.fixtures import saved_and_drawn


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_all_integrators_on_three_machines(tmp_path):
    report = papers.run("integrators", quick=True)
    saved_and_drawn(report, tmp_path)
    tables = {table.title: table for table in report.tables}
    assert len(tables) == 3
    for name, data in report.data.items():
        methods = {label.split(", ")[0] for label in data["error"]}
        assert methods == set(METHODS) - {"auto"}, name
    regular = report.data["five-bar"]
    assert max(regular["error"].values()) < 1e-5 and max(regular["drift"].values()) < 1e-3
    assert all(value < 1e-12 for label, value in regular["open"].items() if label.endswith("projection"))
    assert max(report.data["governor"]["error"].values()) < 1e-6
    # through the flat configurations: projected explicit ones stay on their branch
    flat = report.data["four-bars"]["error"]
    assert all(flat[f"{method}, projection"] < 1e-5 for method in ("dop853", "verner65", "rk4", "scipy-dop853"))


def test_the_five_bar_of_the_integrators():
    problem = integrators.five_bar_problem(0.1)
    assert problem.measure("default").largest < 1e-9
    assert integrators.stabilisations("vode-gear", True) == ("baumgarte", "none")
    assert integrators.stabilisations("radau", True) == integrators.stabilisations("dop853", False) == ("projection",)
