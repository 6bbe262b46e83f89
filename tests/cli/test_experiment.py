"""The command experiment: what it lists, prints and writes."""

import pytest
from typer.testing import CliRunner

from cmbcontrol.cli import commands, common, entries
from cmbcontrol.papers import Experiment
from tests.fixtures import small_report


@pytest.fixture
def only(monkeypatch):
    """The command knows one experiment, which costs nothing."""
    entry = Experiment("small", "a small one", small_report, "1 s", "no time")
    monkeypatch.setattr("cmbcontrol.papers.EXPERIMENTS", {"small": entry})
    known = entries.experiment_rows()
    monkeypatch.setattr(common, "listed", lambda: {"experiments": known})
    monkeypatch.setattr(entries._jit, "needs_compilation", lambda *kernel: False)


def call(*arguments):
    result = CliRunner().invoke(commands.app, ["experiment", *map(str, arguments)])
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


def test_figures_in_another_format(only, tmp_path):
    assert call("small", "--format", "svg", "-o", tmp_path / "out")[0] == 0
    assert (tmp_path / "out" / "line.svg").read_bytes().startswith(b"<?xml")
    code, _, err = call("small", "--format", "gif", "-o", tmp_path / "no")
    assert code == 1 and "--format must be 'png', 'svg' or 'pdf', got 'gif'" in err and not (tmp_path / "no").exists()


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
