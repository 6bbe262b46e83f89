"""C of traced functions, against numbers; compiled with all warnings as errors."""

import ctypes
import math
import shutil
import subprocess

import numpy as np
import pytest

from cmbcontrol import forward_dynamics, plants
from cmbcontrol.model.generated import independent_rows
from cmbcontrol.trace import c99, program
from cmbcontrol.trace.functions import FUNCTIONS, Function, Tracing
from cmbcontrol.trace.graph import Graph
from cmbcontrol.trace.machine import Parameters

from .test_llvm import operations, traced

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler")
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-shared", "-fPIC")


def compiled(folder, **functions):
    """A library of functions, seen from outside."""
    bodies = [c99.body(function, f"{name}_body") for name, function in functions.items()]
    doors = [
        f"int {name}(const double *p, const double *x, double *y);\n"
        f"int {name}(const double *p, const double *x, double *y) {{ return {name}_body(p, x, y); }}"
        for name in functions
    ]
    source = folder / "functions.c"
    source.write_text("\n\n".join(["#include <math.h>", *bodies, *doors]) + "\n")
    library = folder / "functions.so"
    done = subprocess.run(
        [COMPILER, *STRICT, str(source), "-o", str(library), "-lm"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[:2000]
    return ctypes.CDLL(str(library))


def call(library, name, p, x, outputs):
    y = np.full(outputs, np.nan)
    arrays = [np.ascontiguousarray(a, dtype=float).ctypes.data_as(ctypes.c_void_p) for a in (p, x)]
    return getattr(library, name)(*arrays, y.ctypes.data_as(ctypes.c_void_p)), y


@pytest.mark.parametrize("chunk", [1, 10_000])
def test_every_operation(monkeypatch, tmp_path, chunk):
    monkeypatch.setattr(program, "CHUNK", chunk)
    library = compiled(tmp_path, some=traced((1.0, 1.0)))
    for a, b in ((0.3, -1.7), (2.5, 0.25), (1e-3, 1e3)):
        status, y = call(library, "some", [7.0, -2.5], [a, b], 16)
        expected = operations(-2.5, a, b, math.sin, math.cos, math.sqrt, math.atan2, np.rint, min, max)
        assert status == 0
        np.testing.assert_allclose(y, expected, rtol=4e-16)


def test_guards_and_constants(tmp_path):
    graph = Graph()
    a, b = (graph.input("x", i, value) for i, value in enumerate((1.0, 2.0)))
    assert a < b
    assert not a + b < 0.5
    library = compiled(tmp_path, guarded=Function(graph, 2, [a * -2.5, -1e-300, 3.0]))
    status, y = call(library, "guarded", [0.0], [1.0, 2.0], 3)
    assert status == 0
    np.testing.assert_array_equal(y, [-2.5, -1e-300, 3.0])
    assert call(library, "guarded", [0.0], [2.0, 1.0], 3)[0] == 1
    assert call(library, "guarded", [0.0], [-2.0, -3.0], 3)[0] == 2


@pytest.mark.parametrize("name", ["loader", "delta"])
def test_machines(tmp_path, name):
    plant, q, _ = plants.catalogue[name].start()
    parameters = Parameters(plant.arrays)
    rows = independent_rows(plant.terms(q, np.zeros(plant.nv)))
    functions = {
        key: make(Tracing(plant.arrays, parameters, rows, q))
        for key, make in FUNCTIONS.items()
        if key in ("forward", "land")
    }
    library = compiled(tmp_path, **functions)
    v, u = plant.project_velocity(q, np.linspace(-1.0, 1.0, plant.nv)), np.linspace(-1.0, 1.0, plant.nu)
    status, y = call(
        library, "forward", parameters.values, np.concatenate([q, v, u]), len(functions["forward"].outputs)
    )
    assert status == 0
    expected = forward_dynamics(plant, q, v, u)
    np.testing.assert_allclose(y[3 : 3 + plant.nv], expected, atol=1e-12 * np.abs(expected).max())
