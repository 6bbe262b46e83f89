"""The command as a whole: usage, version, help."""

import os
import subprocess
import sys

import pytest

import cmbcontrol as cmb
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


def test_the_module_runs():
    done = subprocess.run(
        [sys.executable, "-m", "cmbcontrol.cli", "linearize", "pendulum", "--at", "angle=-90deg"],
        capture_output=True,
        text=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert f"0 +- {(1.5 * 9.81) ** 0.5:.6g}j" in done.stdout
