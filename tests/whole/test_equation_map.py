"""The map from equations of the papers to functions (docs/equations.md), and the docstrings that it is made from."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# What the papers number and build on: definitions, formulations, laws, conditions, examples. Listed from the papers.
MAIN = {
    "Aghili": [
        *("15", "16", "18", "19", "21", "22", "23", "24", "25", "27", "28", "29", "32", "39", "45", "46", "49", "50"),
        *("52", "54", "61", "62", "64", "70", "71", "theorem 4", "proposition 3", "section 5.4", "section 8"),
    ],
    "Spencer": [
        *("2.4", "2.16", "2.20", "2.21", "2.22", "2.29", "2.31", "2.33", "2.37", "2.40", "2.43b", "2.44", "2.45"),
        *("3.1", "3.2", "3.3", "3.4", "3.5b", "3.7", "3.8", "3.9", "4.3", "4.4", "4.8", "4.9", "4.10b", "4.11", "B.5"),
        *("section 2.4.1", "section 3.1.3", "section 3.2", "section 4.3", "section 4.4.1", "section 4.5"),
    ],
    "de Falco": [*map(str, (5, 10, 12, 14, 15, 16, 17, 18, 19, 20, 22, 23, 24, 26, 28, 29, 30)), "section 6"],
}


@pytest.fixture(scope="module")
def equations():
    spec = importlib.util.spec_from_file_location("equations", ROOT / "docs" / "_ext" / "equations.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("equations", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("docstring", "found"),
    [
        ("Projector (Aghili, eq. 15), shape (nv, nv).", {("Aghili", "15")}),
        ("M_c (Aghili, eqs. 22 to 24).", {("Aghili", "22"), ("Aghili", "23"), ("Aghili", "24")}),
        ("K (Spencer, eqs. 2.44 and 2.45)", {("Spencer", "2.44"), ("Spencer", "2.45")}),
        (
            "c (Spencer, eqs. 3.4 to 3.5b; de Falco, eq. 30)",
            {("Spencer", "3.4"), ("Spencer", "3.5b"), ("de Falco", "30")},
        ),
        ("Aghili's law: u_F = F_d + G_F e  (52)\n solved with (54).", {("Aghili", "52"), ("Aghili", "54")}),
        ("I + H (57)-(59) of Aghili", {("?", "57"), ("?", "58"), ("?", "59")}),  # the paper comes first
        ("Spencer's (4.11), section 4.4", {("Spencer", "4.11"), ("Spencer", "section 4.4")}),
        ("Aghili, section 8\n\nExamples\n--------\n>>> friction = Friction(2.0) # eq. 99", {("Aghili", "section 8")}),
        ("Of shape (3,) at 2.5 rad, f(2.0) and x[0] (1.0)", set()),
    ],
)
def test_references(equations, docstring, found):
    assert equations.references(docstring) == found


def test_a_number_without_a_paper_belongs_to_that_of_the_module(equations):
    assert equations.references("The command (52).", "Force control (Aghili, eq. 52).") == {("Aghili", "52")}
    assert equations.references("The command (52).", "Aghili's law, and that of de Falco") == {("?", "52")}


@pytest.mark.slow
def test_every_number_in_the_source_is_in_the_map(equations):
    table, named = equations.table(), equations.by_equation()
    lost = []
    for place, (paper, number) in equations.in_source(ROOT / "cmbcontrol"):
        if number.startswith(("section", "appendix")):
            continue
        if paper == "?" or number not in table[paper]["results"] or (paper, number) not in named:
            lost.append(f"{place}: {paper} {number}")
    assert lost == []


def test_every_row_has_functions_or_a_reason(equations):
    named = equations.by_equation()
    for paper, work in equations.table().items():
        for number, result in work["results"].items():
            assert ((paper, number) in named) != ("why" in result), f"{paper} {number}: functions, or why not"


def test_every_main_result_is_in_the_map(equations):
    table = equations.table()
    assert set(table) == set(MAIN) == set(equations.PAPERS)
    assert {paper: [n for n in numbers if n not in table[paper]["results"]] for paper, numbers in MAIN.items()} == {
        paper: [] for paper in MAIN
    }


def test_functions_are_where_they_are_expected(equations):
    named = equations.by_equation()
    assert "cmbcontrol.controllers.ProjectedInverseDynamics" in named["Aghili", "45"]
    assert named["de Falco", "19"] == ["cmbcontrol.papers.pseudoinverse.pseudoinverse"]
    assert named["Aghili", "15"] == ["cmbcontrol.Terms.P"]
    assert "cmbcontrol.papers.recursions.null_space" in named["Spencer", "4.11"]


def test_order(equations):
    numbers = ["section 8", "B.5", "2.43b", "10", "2.5b", "9", "2.43", "A.1"]
    assert sorted(numbers, key=equations.order) == ["2.5b", "2.43", "2.43b", "9", "10", "A.1", "B.5", "section 8"]
