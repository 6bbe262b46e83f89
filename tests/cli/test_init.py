"""The command as a process."""

import os
import subprocess
import sys

import cmbcontrol as cmb


def test_the_version_needs_nothing_else():
    code = (
        "import sys\n"
        "from cmbcontrol.cli import main\n"
        "sys.argv = ['cmbcontrol', '--version']\n"
        "main()\n"
        "heavy = {'numpy', 'numba', 'typer', 'cmbcontrol.model'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"cmbcontrol {cmb.__version__}\n"


def test_the_module_runs():
    done = subprocess.run(
        [sys.executable, "-m", "cmbcontrol", "linearize", "pendulum", "--at", "angle=-90deg"],
        capture_output=True,
        text=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert f"0 +- {(1.5 * 9.81) ** 0.5:.6g}j" in done.stdout
