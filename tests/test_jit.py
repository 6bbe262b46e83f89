"""The guard of the disk cache, and what `import cmbcontrol` may load."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import types

from cmbcontrol import _jit

PACKAGE = Path(__file__).parents[1] / "cmbcontrol"
CALLEE = """\
from .._jit import kernel


@kernel
def callee(x):
    return x + {}
"""
CALLER = """\
from .._jit import kernel
from .callee import callee


@kernel
def caller(x):
    return 10.0 * callee(x)
"""
RUN = "from cmbcontrol.kernels.caller import caller; print(caller(1.0), sum(caller.stats.cache_hits.values()))"
UNGUARDED = "import cmbcontrol._jit as jit; jit._drop_stale_cache = lambda folder: None; " + RUN


def python(code, folder, **variables):
    """What a fresh interpreter prints that finds the package in `folder`."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")} | {"PYTHONPATH": str(folder)} | variables
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


@pytest.fixture
def copy(tmp_path):
    """A copy of the package with two small kernels, one calling the other."""
    shutil.copytree(PACKAGE, tmp_path / "cmbcontrol", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "cmbcontrol" / "__init__.py").write_text("")
    (tmp_path / "cmbcontrol" / "kernels" / "caller.py").write_text(CALLER)
    write_callee(tmp_path, 1.0)
    return tmp_path


def write_callee(folder, increment):
    (folder / "cmbcontrol" / "kernels" / "callee.py").write_text(CALLEE.format(increment))


@pytest.mark.parametrize("elsewhere", [False, True], ids=["beside the source", "NUMBA_CACHE_DIR"])
def test_an_edited_callee_is_compiled_again(copy, elsewhere):
    variables = {"NUMBA_CACHE_DIR": str(copy / "cache")} if elsewhere else {}
    assert python(RUN, copy, **variables) == ["20.0", "0"]
    assert python(RUN, copy, **variables) == ["20.0", "1"]  # from the cache
    write_callee(copy, 2.0)
    assert python(RUN, copy, **variables) == ["30.0", "0"]
    assert any(copy.joinpath("cache").rglob("*.nbc")) == elsewhere


def test_without_the_guard_the_cache_is_stale(copy):
    """The reason for the guard (numba issue 1833). Where this fails, numba has mended it and the guard can go."""
    python(UNGUARDED, copy)
    write_callee(copy, 2.0)
    assert python(UNGUARDED, copy) == ["20.0", "1"]


def test_import_leaves_out_what_is_slow():
    heavy = ("control", "cvxpy", "matplotlib", "xarray")
    assert python(f"import sys, cmbcontrol; print(*[m for m in {heavy} if m in sys.modules])", PACKAGE.parent) == []


@pytest.mark.last
@pytest.mark.skipif(not _jit.JIT_ENABLED, reason="nothing is compiled")
def test_no_kernel_was_compiled_for_two_kinds_of_arguments():
    """Wrong array kinds recompile silently, seconds each: the whole suite asks each kernel for one signature.

    Constants that one kernel passes to another do not count.
    """
    found = []
    for kernel in _jit.kernels():
        signatures = {tuple(map(types.unliteral, signature)) for signature in kernel.signatures}
        for i, column in enumerate(zip(*signatures, strict=True)):
            kinds = sorted(set(map(str, column)))
            if len(kinds) > 1:
                found.append(f"{kernel.__name__}, argument {i}: {' and '.join(kinds)}")
    if found:
        pytest.fail("\n".join(found), pytrace=False)
