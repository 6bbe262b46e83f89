"""Tables and reports, as objects and as files."""

import csv
import json

import pytest

from cmbcontrol.papers import Report, ResultTable
from cmbcontrol.papers.report import text
from tests.fixtures import REPORT_COLUMNS, REPORT_ROWS, line_figure, small_report


def test_cells_become_values_of_python():
    table = ResultTable("Cost", REPORT_COLUMNS, REPORT_ROWS)
    assert table.rows[0] == ("ours", 40821, 2.5e-11, True)
    assert [type(cell) for cell in table.rows[0]] == [str, int, float, bool]
    assert table.column("evaluations") == (40821, None)
    assert table.numeric() == (False, True, True, False)
    with pytest.raises(AttributeError):
        table.title = "other"


@pytest.mark.parametrize(
    ("columns", "rows", "match"),
    [
        (("a", "a"), [], "different names"),
        ((), [], "different names"),
        ("ab", [], "different names"),
        (("a", "b"), [(1,)], "has 2 columns, but a row of 1 cells"),
        (("a",), [([1],)], "texts, numbers, truth values or None, got"),
    ],
)
def test_tables_that_do_not_fit_are_refused(columns, rows, match):
    with pytest.raises((ValueError, TypeError), match=match):
        ResultTable("t", columns, rows)


def test_a_column_that_is_not_there():
    with pytest.raises(ValueError, match="no column of table 'Cost': 'evaluation'; did you mean 'evaluations'"):
        ResultTable("Cost", REPORT_COLUMNS, REPORT_ROWS).column("evaluation")


def test_csv_keeps_all_digits(tmp_path):
    path = ResultTable("Cost", ("name", "x"), [("a", 0.1 + 0.2), (None, 1)]).to_csv(tmp_path / "x.csv")
    with path.open(newline="") as file:
        assert list(csv.reader(file)) == [["name", "x"], ["a", repr(0.1 + 0.2)], ["", "1"]]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [(2961955, "2,961,955"), (0, "0"), (1.0 / 3.0, "0.333"), (1e-30, "1e-30"), (None, "-"), (False, "no")],
)
def test_numbers_for_people(cell, shown):
    assert text(cell) == shown


def test_markdown_of_a_report():
    page = small_report(progress=lambda _: None).markdown()
    assert "| theirs \\| old | - | not a number | no |" in page
    assert "|---|---:|---:|---|" in page
    assert page.index("A note.") < page.index("**Empty**") < page.index("- A choice.\n- Quick: False.")


def test_files_of_a_report(tmp_path):
    told = []
    files = small_report(progress=told.append).save(tmp_path / "new" / "folder", told.append)
    assert [file.name for file in files] == [
        "report.md",
        "01-cost-of-it-all.csv",
        "02-empty.csv",
        "data.json",
        "line.png",
    ]
    assert all(file.stat().st_size > 0 for file in files)
    assert json.loads(files[3].read_text()) == {"error": [1.0, None], "runs": {"2": [0.5, "x", None]}}
    assert told == [1.0, 1.0]


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"tables": ResultTable("t", ("a",), [])}, "tables of a report is a sequence"),
        ({"tables": ["t"]}, "of class ResultTable, got 't'"),
        ({"choices": "a choice"}, "choices of a report is a sequence"),
        ({"figures": {"a/b": line_figure}}, "by the name of their file"),
        ({"figures": {"a": None}}, "by the name of their file"),
    ],
)
def test_reports_that_do_not_fit_are_refused(changes, match):
    with pytest.raises(TypeError, match=match):
        Report(**{"title": "t", "source": "s", "tables": []} | changes)


def test_a_table_by_the_beginning_of_its_title():
    report = small_report(progress=lambda _: None)
    assert report.table("Cost").title == "Cost: of it all"
    for title in ("cost", ""):
        with pytest.raises(ValueError, match="there are 'Cost: of it all', 'Empty'"):
            report.table(title)
