"""All commands together: usage, help."""

import sys

import pytest

import cmbcontrol as cmb
from cmbcontrol import cli
from cmbcontrol.cli import commands, entries, linear_report
from tests.fixtures import run_command

# -- errors ------------------------------------------------------------------------------------------------


def test_usage_errors_keep_their_code():
    assert run_command("study")[0] == 2
    assert run_command("study", "five-bar", "--no-such-option")[0] == 2
    assert run_command("study", "five-bar", "--duration", "long")[0] == 2
    assert run_command("nonsense")[0] == 2


def test_version_and_help():
    assert run_command("--version")[:2] == (0, f"cmbcontrol {cmb.__version__}\n")
    code, out, _ = run_command("--help")
    assert code == 0
    for command in ("list", "diagnose", "linearize", "study", "export"):
        assert command in out


@pytest.mark.parametrize("command", ["list", "diagnose", "linearize", "study", "export"])
def test_every_command_explains_itself(command):
    code, out, _ = run_command(command, "--help")
    assert code == 0 and "--debug" in out
    assert "[bold]" not in out


# -- starting ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["diagnose", "linearize", "export"])
def test_quick_commands_do_not_wait_for_compilation(command, monkeypatch):
    calls = []
    monkeypatch.setattr(entries, "needs_compilation", lambda: True)
    monkeypatch.setattr(linear_report, "needs_compilation", lambda: True)
    monkeypatch.setattr(commands.subprocess, "call", lambda command, env: calls.append((command, env)) or 3)
    monkeypatch.setattr(sys, "argv", ["cmbcontrol", command, "five-bar"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 3
    (done,) = calls
    assert done[0] == [sys.executable, "-m", "cmbcontrol.cli", command, "five-bar"]
    assert done[1]["NUMBA_DISABLE_JIT"] == "1"
