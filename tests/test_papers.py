"""The papers' experiments: registry, tables and reports, the command, and the exact motion they are judged by."""

import csv
import json
from pkgutil import resolve_name

import numpy as np
import pytest
from typer.testing import CliRunner

from cmbcontrol import cli, papers
from cmbcontrol.cli import common
from cmbcontrol.papers import EXPERIMENTS, Entry, Report, Table, de_falco
from cmbcontrol.papers.report import text

COLUMNS = ("method", "evaluations", "error (rad)", "finished")
ROWS = [("ours", np.int64(40821), 2.5e-11, np.True_), ("theirs | old", None, float("nan"), False)]


def line_figure():
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot([0.0, 1.0], [0.0, 1.0])
    return figure


def small_report(quick=False, progress=False):
    progress(1.0)
    return Report(
        "A title",
        "nobody, table 1",
        [Table("Cost: of it all", COLUMNS, ROWS, "A note."), Table("Empty", ("a",), [])],
        {"line": line_figure},
        ("A choice.", f"Quick: {quick}."),
        {"error": np.array([1.0, np.inf]), "runs": {2: [np.float64(0.5), "x", None]}},
    )


# -- tables and reports ----------------------------------------------------------------------------------------


def test_cells_become_values_of_python():
    table = Table("Cost", COLUMNS, ROWS)
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
        Table("t", columns, rows)


def test_a_column_that_is_not_there():
    with pytest.raises(ValueError, match="no column of table 'Cost': 'evaluation'; did you mean 'evaluations'"):
        Table("Cost", COLUMNS, ROWS).column("evaluation")


def test_csv_keeps_all_digits(tmp_path):
    path = Table("Cost", ("name", "x"), [("a", 0.1 + 0.2), (None, 1)]).to_csv(tmp_path / "x.csv")
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
        ({"tables": Table("t", ("a",), [])}, "tables of a report is a sequence"),
        ({"tables": ["t"]}, "of class Table, got 't'"),
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


# -- registry and command --------------------------------------------------------------------------------------


def test_every_experiment_is_ready():
    for name, entry in EXPERIMENTS.items():
        assert entry.name == name == name.lower()
        assert callable(resolve_name(f"cmbcontrol.papers.{entry.function.args[0]}"))
        assert entry.text and "\n" not in entry.text and entry.takes and entry.takes_quick


def test_an_unknown_experiment():
    with pytest.raises(ValueError, match="no experiment 'de-falco-table'; did you mean 'de-falco-tables'"):
        papers.run("de-falco-table")


@pytest.fixture
def only(monkeypatch):
    """The command knows one experiment, which costs nothing."""
    entry = Entry("small", "a small one", small_report, "1 s", "no time")
    monkeypatch.setattr("cmbcontrol.cli.experiment.EXPERIMENTS", {"small": entry})
    monkeypatch.setattr(common._jit, "needs_compilation", lambda *kernel: False)


def call(*arguments):
    result = CliRunner().invoke(cli.app, ["experiment", *map(str, arguments)])
    return result.exit_code, result.stdout, result.stderr


def test_the_command_lists(only):
    code, out, _ = call()
    assert code == 0
    assert "small" in out and "a small one" in out and "1 s" in out and "no time" in out


def test_the_command_runs_and_writes(only, tmp_path):
    code, out, err = call("small", "--quick", "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    for part in ("A title", "nobody, table 1", "40,821", "A note.", "A choice.", "Quick: True.", "written to"):
        assert part in out
    assert {file.name for file in (tmp_path / "out").iterdir()} >= {"report.md", "line.png", "data.json"}


def test_the_command_writes_nothing_unless_asked(only, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call("small")[0] == 0
    assert list(tmp_path.iterdir()) == []


def test_the_command_fails_in_a_line(only, tmp_path):
    (tmp_path / "taken").write_text("")
    for arguments, match in (
        (("smal",), "no experiment 'smal'; did you mean 'small'?"),
        (("small", "--out", tmp_path / "taken"), "cannot be made"),
    ):
        code, _, err = call(*arguments)
        assert code == 1 and err.count("\n") == 1 and match in err


# -- de Falco's linkage ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [*de_falco.STARTS.values(), -np.pi / 2, 1.5, -4.6])
def test_exact_motion_keeps_its_energy_and_solves_the_equation(angle):
    times = np.linspace(0.0, 20.0, 4001)
    th, speed = de_falco.exact_motion(times, angle)
    assert th[0] == pytest.approx(angle, abs=1e-14) and speed[0] == 0.0
    energy = 0.5 * de_falco.INERTIA * speed**2 + de_falco.WEIGHT * np.sin(th)
    assert np.ptp(energy) < 1e-11 * de_falco.WEIGHT
    # Hermite's quadrature of the speed from speeds and accelerations, error h^4/720 of its fourth derivative
    h, a = times[1], -de_falco.WEIGHT * np.cos(th) / de_falco.INERTIA
    steps = h * (speed[:-1] + speed[1:]) / 2.0 + h**2 * (a[:-1] - a[1:]) / 12.0
    assert np.abs(np.diff(th) - steps).max() < 1e-9


def test_exact_motion_against_an_integrator():
    from scipy.integrate import solve_ivp

    angle = np.pi / 3.0
    rate = de_falco.WEIGHT / de_falco.INERTIA
    times = np.linspace(0.0, 20.0, 41)
    found = solve_ivp(
        lambda t, x: (x[1], -rate * np.cos(x[0])), (0.0, 20.0), (angle, 0.0), "DOP853", times, rtol=1e-13, atol=1e-13
    )  # fmt: skip
    assert np.abs(found.y - de_falco.exact_motion(times, angle)).max() < 1e-10


@pytest.mark.parametrize("angle", [np.pi / 2, -3 * np.pi / 2, 2.0, np.nan])
def test_exact_motion_refuses_starts_that_balance(angle):
    with pytest.raises(ValueError, match="angle"):
        de_falco.exact_motion(1.0, angle)


def test_the_papers_tables_are_whole():
    assert list(de_falco.PRINTED) == [2, 3, 4, 5, 6, 7]
    for number, printed in de_falco.PRINTED.items():
        assert tuple(printed.rows) == de_falco.METHODS
        assert printed.stabilised == (number > 4)
        assert printed.tolerance == de_falco.TOLERANCES[(number - 2) % 3]
        for row in printed.rows.values():  # a run that fails has no cost
            assert (
                row.result.startswith("fails") == (row.evaluations is None) == (row.cpu is None) == (row.steps is None)
            )


def test_violation_is_that_of_the_pins():
    plant = de_falco.parallelogram()
    q = de_falco.pose(0.4)
    moved = q.copy()
    moved[plant.position_names.index("coupler_x")] += 0.1  # all three pins open by 0.1 m
    assert de_falco.violation(plant, [q, moved]) == pytest.approx([0.0, 0.03], abs=1e-15)
    assert de_falco.violation(plant, q).shape == (1,)


def test_exact_acceleration_is_that_of_the_machine():
    from cmbcontrol.dynamics.acceleration import forward_dynamics

    plant = de_falco.parallelogram()
    for angle, speed in ((0.3, 2.0), (-2.0, -1.0)):
        ours = forward_dynamics(plant, de_falco.pose(angle), de_falco.rate(plant, angle, speed))
        assert ours == pytest.approx(de_falco._exact_acceleration(plant, angle, speed), abs=1e-10)


def solved(**changes):
    """A run of the tables and what came of it, 2 s."""
    setup = de_falco._Setup(**{"tolerance": 1e-6, "stabilised": False, "start": "-30 deg"} | changes)
    return de_falco._solve(de_falco.parallelogram(), setup, 2.0)


@pytest.mark.nojit_slow
def test_a_cell_of_the_tables():
    found = solved(pseudoinverse="greville")
    assert found.result == "correct" and found.correct_until == 2.0 and found.rank == "11"
    assert found.times.size == 201 and 50 < found.evaluations < 2000
    assert 1e-12 < found.psi[-1] < 1e-7  # it drifts
    assert len(found.row()) == len(de_falco._COLUMNS)


@pytest.mark.nojit_slow
def test_beyond_its_threshold_the_redundant_equation_locks_the_linkage():
    """A drift of 1e-6 m, seen by a threshold of 1e-10: rank 12 of 12, and nothing accelerates."""
    rows = [de_falco._off_loops(de_falco.parallelogram(), 1e-6, tolerance) for tolerance in (1e-10, 1e-6)]
    assert [row["rank"] for row in rows] == [12, 11]
    for name in de_falco.METHODS:
        assert rows[0][name] > 0.9 and rows[1][name] < 1e-5


@pytest.mark.nojit_slow
def test_a_run_that_ends_early_is_told_with_what_it_did(monkeypatch):
    monkeypatch.setitem(de_falco.MAX_STEPS, False, 20)
    found = solved(pseudoinverse="svd")
    assert not found.ended and found.steps == 20
    assert found.result.startswith("correct; ends at 0.") and found.result.endswith("too many steps")


@pytest.mark.nojit_slow
@pytest.mark.parametrize("start", de_falco.STARTS)
def test_our_default_in_the_tables(start):
    found = solved(default=True, start=start)
    assert found.result == "correct" and found.error.max() < 1e-5
    assert found.psi.max() <= 1e-24 and found.evaluations < 1000


@pytest.mark.slow
@pytest.mark.parametrize("start", de_falco.STARTS)
@pytest.mark.parametrize("tolerance", de_falco.TOLERANCES)
def test_our_default_beats_every_row(start, tolerance):
    setup = de_falco._Setup(tolerance, False, start, default=True)
    found = de_falco._solve(de_falco.parallelogram(), setup, de_falco.DURATION)
    assert found.result == "correct" and found.error.max() <= 10.0 * tolerance
    assert found.psi.max() <= 1e-24 and found.evaluations <= 50_000


@pytest.mark.slow
def test_the_tables_in_short():
    told = []
    report = papers.run("de-falco-tables", quick=True, progress=told.append)
    assert [table.title[:7] for table in report.tables] == ["Table 4", "Table 7"]
    assert told[-1] == 1.0 and told == sorted(told)
    for table in report.tables:
        theirs = [row for row in table.rows if row[1] == "the paper's"]
        assert len(theirs) == 5 and {row[1] for row in table.rows} == {"the paper's", *de_falco.STARTS}
    defaults = [run for runs in report.data.values() for run in runs if run["default"]]
    assert len(defaults) == 4 and all(run["correct_until"] == 1.0 for run in defaults)


@pytest.mark.slow
def test_figure_2_in_short(tmp_path):
    report = papers.run("de-falco-figure-2", quick=True)
    assert (report.save(tmp_path)[-1]).name == "violation.png"
    without, stabilised = report.data["a"], report.data["b"]
    assert stabilised["greville, TOL = 1e-06"][-1] < 1e-3 * without["greville, TOL = 1e-06"][-1]
    assert without["our default, TOL = 1e-06"].max() < 1e-24


@pytest.mark.nojit_slow
def test_pseudoinverses_in_short(tmp_path):
    report = papers.run("udwadia-kalaba-pseudoinverses", quick=True)
    closed, opened = report.data["closed"], report.data["open"]
    assert {row["rank"] for row in closed} == {11}
    worst = {row["angle to the flat pose (rad)"]: row["Moore-Penrose conditions within"] for row in closed}
    assert all(gap < 1e-14 / angle for angle, gap in worst.items())
    assert all(row["svd"] < 1e-6 for row in opened if row["rank"] == 11)
    report.figures["drift-and-rank"]().savefig(tmp_path / "x.png")


@pytest.mark.nojit_slow
def test_example_13():
    from test_examples import results

    found = results("ex13_de_falco")
    assert found["our default: right until, s"] == 20.0 > found["rank 11 given: right until, s"]
    assert found["rank 11 given: right until, s"] > found["threshold = tolerance: right until, s"]
    assert found["our default: sum of Psi^2 at the end, m2"] < 1e-24
