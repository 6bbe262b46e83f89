"""Large functions: equal parts are found, shared, and compute the same; what is too large is left to the kernels."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import cmbcontrol as cmb
import cmbcontrol.trace.code as trace_code
from benchmarks.stewart_chain import stewart_chain
from cmbcontrol import plants
from cmbcontrol._jit import JIT_ENABLED
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.model.generated import code_of
from cmbcontrol.trace import c99, graph, llvm, program
from cmbcontrol.trace.functions import FUNCTIONS, Function, Tracing
from cmbcontrol.trace.graph import Graph, TooLarge

pytestmark = pytest.mark.skipif(not JIT_ENABLED, reason="code is generated where kernels are compiled")


@pytest.fixture(autouse=True)
def generated(monkeypatch):
    """Whatever the environment says."""
    monkeypatch.setattr(trace_code, "CHOICE", "generated")


def state(plant, q, seed=0):
    rng = np.random.default_rng(seed)
    v = plant.project_velocity(q, rng.uniform(-1.0, 1.0, plant.nv))
    return q, v, rng.uniform(-3.0, 3.0, plant.nu)


def leaning(n, angle=1.0):
    plant = plants.n_four_bar(n)
    return plant, np.where(np.arange(2 * n + 1) % 2, -angle, angle)


def traced(plant, q, name):
    found = code_of(plant, q)
    return FUNCTIONS[name](Tracing(found.model, found.parameters, found.rows, found.sample)), found.p


def by_llvm(function, p, x):
    library = llvm.LoadedCode(llvm.build(llvm.module({"f": function})))
    double = ctypes.POINTER(ctypes.c_double)
    call = ctypes.CFUNCTYPE(ctypes.c_int64, double, double, double)(library.address("f"))
    y = np.full(len(function.outputs), np.nan)
    assert call(*(z.ctypes.data_as(double) for z in (p, x, y))) == 0
    return y


@pytest.fixture
def sharing(monkeypatch):
    """Every function is cut into equal parts."""
    monkeypatch.setattr(program, "LARGE", 0)
    monkeypatch.setattr(program, "SHARED", 2.0)


@pytest.mark.parametrize("name", ["forward", "rate", "rate_near", "land", "close", "terms"])
@pytest.mark.parametrize("which", ["loader", "stewart", "chain"])
@pytest.mark.first(2)
def test_shared_parts_compute_the_same(name, which, monkeypatch):
    if which == "chain":
        plant, q, v = stewart_chain(2)
    else:
        plant, q, v = plants.catalogue[which].start()
    q, v, u = state(plant, q)
    function, p = traced(plant, q, name)
    x = np.concatenate([q, v, u])[: function.inputs]
    straight = by_llvm(function, p, x)
    monkeypatch.setattr(program, "LARGE", 0)
    monkeypatch.setattr(program, "SHARED", 2.0)
    shared = by_llvm(function, p, x)
    assert program.program(function).large
    # sums and products may be rounded once or twice, as they fall into parts
    assert np.abs(shared - straight).max() < 1e-12 * max(1.0, np.abs(straight).max())


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_shared_parts_in_c(sharing, tmp_path):
    plant, q = leaning(20)
    q, v, u = state(plant, q)
    function, p = traced(plant, q, "forward")
    body = c99.body(function, "f")
    assert body.count("static void") < 0.5 * body.count("static const int")
    door = "int door(const double *p, const double *x, double *y) { return f(p, x, y); }"
    (tmp_path / "f.c").write_text(f"#include <math.h>\n{body}\n{door}\n")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared"]
    subprocess.run(["cc", *flags, "f.c", "-o", "f.so", "-lm"], cwd=tmp_path, check=True)
    library, double = ctypes.CDLL(str(tmp_path / "f.so")), ctypes.POINTER(ctypes.c_double)
    x, y = np.concatenate([q, v, u]), np.empty(len(function.outputs))
    assert library.door(*(z.ctypes.data_as(double) for z in (p, x, y))) == 0
    expected = by_llvm(function, p, x)
    assert np.abs(y - expected).max() < 1e-11 * np.abs(expected).max()


@pytest.mark.slow
def test_a_chain_is_one_cell_over_and_over():
    """Ten times the cells are hardly more code."""
    sizes = []
    for n in (100, 400):
        function, _ = traced(*leaning(n), "forward")
        made = program.program(function)
        assert made.large
        text = llvm.module({"f": function})
        sizes.append((len(made.chunks), text.count("define internal")))
    assert sizes[1][0] > 3.5 * sizes[0][0] and sizes[1][1] < 1.2 * sizes[0][1]


def test_cuts_come_again_wherever_a_part_does():
    """A polynomial over and over, behind a part that is unlike it."""
    made = Graph()
    x = made.input("x", 0, 0.5)
    for k in range(300):
        x = x * (1.0 + 1e-3 * k) + made.input("p", k, 0.1)
    for k in range(400):
        a = made.input("p", 300 + k, 0.2)
        for _ in range(50):
            x = x * a + (a - x) * x
    computed = [k for k in program.needed(made, [x.index]) if made.nodes[k][0] not in ("const", "input")]
    shared, cuts = program.equal_parts(made, computed)
    assert shared < 0.1 * len(computed) and len(cuts) > 100


def test_what_is_too_large(monkeypatch):
    plant, q = leaning(3)
    q, v, u = state(plant, q)
    by_code = forward_dynamics(plant, q, v, u)
    monkeypatch.setattr(program, "MOST", 100)
    with pytest.raises(TooLarge, match="100 are compiled"):
        program.program(traced(plant, q, "forward")[0])
    monkeypatch.setattr(graph, "MOST", 50)
    with pytest.raises(TooLarge, match="more than 50 expressions"):
        traced(plant, q, "forward")
    assert np.isfinite(by_code).all()


def test_a_machine_that_is_too_large_runs_by_kernels(monkeypatch):
    plant, q = leaning(3)
    known = cmb.simulate(plant, None, q, t_end=0.05)
    monkeypatch.setattr(program, "MOST", 100)
    monkeypatch.setattr(trace_code, "kept", lambda file: ())
    monkeypatch.setattr(trace_code, "keep", lambda file, data: None)
    monkeypatch.setattr(trace_code, "_libraries", {})
    monkeypatch.setattr(trace_code, "_recent", {})
    plant, q = leaning(3)
    run = cmb.simulate(plant, None, q, t_end=0.05)
    assert run.data.attrs["evaluations_by_code"] == 0 and "too large" in run.data.attrs["machine_code"]
    assert known.data.attrs["machine_code"] == "generated" and known.data.attrs["evaluations_by_code"] > 0
    assert np.abs(run.q.values - known.q.values).max() < 1e-12
    point = cmb.OperatingPoint.at(plant, q, np.zeros(1), np.zeros(plant.nv))
    assert cmb.affine_approximation(plant, point).A.shape == (2, 2)


def test_nothing_but_numbers():
    made = Graph()
    x = made.input("x", 0, 2.0)
    assert by_llvm(Function(made, 1, [1.5, x, 3.0]), np.zeros(1), np.array([2.5])).tolist() == [1.5, 2.5, 3.0]
