"""Kernels that run as Python at first."""

import os
import subprocess
import sys

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol._interpreted import kernels as python
from cmbcontrol._interpreted import patience
from cmbcontrol._interpreted.patience import _Patience, _with_attributes
from cmbcontrol._jit import JIT_ENABLED
from cmbcontrol.kernels import derivatives, linear_algebra, split

compiled = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")


@pytest.mark.parametrize("name", ["five-bar", "loader", "delta"])
def test_the_same_numbers(name):
    plant, q, _ = plants.catalogue[name].start()
    v = plant.project_velocity(q, np.linspace(-0.3, 0.4, plant.nv))
    rows = len(plant.row_names)
    given = (plant.arrays, q, v, np.linspace(0.1, 0.9, plant.nv), np.ones(rows), np.ones(plant.nu), 1e-9)
    expected = derivatives.local_terms(*given)
    found = python.derivatives.local_terms(*map(_with_attributes, given))
    assert len(found) == len(expected) and found[-1] == expected[-1]
    for x, y in zip(found[:-1], expected[:-1], strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12 * np.abs(y).max(initial=0.0))


def test_they_make_what_compiled_kernels_take():
    rows = python.linear_algebra.new_rows(2, 3)
    assert type(rows) is split.Rows
    rows.G[:] = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    assert split.factor_rows(rows, 1e-9, 0.0, 3) == 2


def test_they_may_be_the_first_that_are_imported():
    code = "from cmbcontrol._interpreted.patience import begin_interpreted; begin_interpreted()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class FakeKernel:
    __name__ = "fake"

    def __init__(self, kept=False):
        self.asked, self._cache = [], self
        self._compile_for_args = self.compile
        self.kept = kept

    def compile(self, *args):
        self.asked.append(args)
        return lambda *x: ("compiled", x)

    def holds(self, args):
        return self.kept


@compiled
def test_it_is_compiled_when_it_has_taken_its_time(monkeypatch):
    clock = iter([0.0, 0.3, 1.0, 1.4, 2.0])
    monkeypatch.setattr(patience, "perf_counter", lambda: next(clock))
    kernel = FakeKernel()
    kernel._compile_for_args = first = _Patience(kernel, lambda *x: ("python", x))
    for _ in range(2):  # 0.3 s, 0.4 s
        assert first(1.0)(1.0) == ("python", (1.0,))
    assert first(1.0)(1.0) == ("compiled", (1.0,))
    assert kernel._compile_for_args == kernel.compile
    assert kernel.asked == [(1.0,)]


@compiled
def test_code_on_disk_is_taken_at_once():
    kernel = FakeKernel(kept=True)
    kernel._compile_for_args = first = _Patience(kernel, lambda *x: ("python", x))
    assert first(1.0)(1.0) == ("compiled", (1.0,))


PROGRAM = """
import numpy as np
from cmbcontrol import _interpreted, linearize, plants, trim
from cmbcontrol._interpreted import patience
patience.is_kept = lambda kernel, *args: False  # the folder of the sources may hold code
_interpreted.begin_interpreted()
plant = plants.five_bar()
model = linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)))
from cmbcontrol.kernels import derivatives
assert not derivatives.local_terms.overloads
print(np.sort(np.linalg.eigvals(model.A).real).tolist())
"""


@compiled
@pytest.mark.slow
def test_a_linear_model_without_code():
    command = [sys.executable, "-c", PROGRAM]
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    values = np.array(eval(done.stdout))
    np.testing.assert_allclose(values, [-2.773, -2.370, 2.370, 2.773], atol=1e-3)


def test_only_kernels_that_the_loop_does_not_need():
    assert linear_algebra.__name__.rpartition(".")[2] in patience._SELDOM
    assert not {"time_loop", "motion", "sampling", "constrained"} & set(patience._SELDOM)
