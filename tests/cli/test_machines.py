"""The commands list and diagnose."""

import os
import subprocess
import sys

import pytest

from cmbcontrol import plants
from cmbcontrol.cli import common
from tests.fixtures import run_command


@pytest.mark.nojit_slow
def test_the_command_line_tells_branches_and_lock_up():
    from typer.testing import CliRunner

    from cmbcontrol.cli import app

    flat = "bar0=0,coupler1=0,bar1=0,coupler2=0,bar2=0"
    said = CliRunner().invoke(app, ["diagnose", "n-four-bar", "--at", flat])
    assert said.exit_code == 0 and "how it can move on from there" in said.output and "Branches: 0:" in said.output


# -- list and diagnose -----------------------------------------------------------------------------------


def test_list_shows_every_plant():
    code, out, err = run_command("list")
    assert (code, err) == (0, "")
    for name, entry in plants.catalogue.items():
        assert name in out and entry.description.split()[0] in out and common.options_text(entry) in out
    (line,) = [line for line in out.splitlines() if line.startswith("parallelogram")]
    assert line.split()[1:5] == ["1", "12", "6", "1"]  # degrees of freedom, coordinates, loops, motors
    assert "Spencer" in out


def test_diagnose_prints_the_mobility_table():
    code, out, err = run_command("diagnose", "five-bar", "--at", "left=2.0", "--at", "right=60deg")
    assert (code, err) == (0, "")
    assert out.startswith(str(plants.five_bar()))
    rest = out.split("  at left = 2, right = 1.0472:\n")[1]
    assert "left              2 rad" in rest
    assert "true degrees of freedom 2" in rest and "fully-actuated" in rest


def test_diagnose_tells_what_the_motors_can_do():
    _, out, _ = run_command("diagnose", "two-arms")
    assert "margin 1 (1 best, 0 lost)" in out and "reachable constraint forces: 3 of 3" in out and "|mu P|" in out
    _, out, _ = run_command("diagnose", "five-bar")
    assert "reachable constraint forces: 0 of 2" in out
    _, out, _ = run_command("diagnose", "bricard")
    assert out.count("constraint forces that the motors can set") == (plants.bricard().nu > 0)


def test_diagnose_without_values_uses_the_start_pose():
    code, out, _ = run_command("diagnose", "slider-crank")
    assert code == 0
    assert "at the start configuration of the catalogue" in out and "q1                0.6 rad" in out


# -- starting ----------------------------------------------------------------------------------------------


def test_list_loads_nothing_heavy():
    """Nor does `import cmbcontrol`, which it begins with; nor are the experiments loaded whose names it knows."""
    code = (
        "import sys\n"
        "import cmbcontrol.papers\n"
        "from cmbcontrol.cli import app\n"
        "app(['list'], standalone_mode=False)\n"
        "heavy = {'control', 'matplotlib', 'cvxpy', 'xarray', 'scipy.optimize'} & set(sys.modules)\n"
        "experiments = {m for m in sys.modules if m.startswith('cmbcontrol.papers.')}\n"
        "heavy |= experiments - {'cmbcontrol.papers.report'}\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)\n"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "five-bar" in done.stdout
