"""Exported code, compiled with all warnings as errors, and called from Python."""

import ctypes
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

from cmbcontrol.codegen import export
from cmbcontrol.codegen.contacts import contact_step, touching
from cmbcontrol.codegen.entries import FUNCTIONS, ExportedMachine
from cmbcontrol.codegen.laws import law_entries

COMPILER = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
TOUCHING = {"contacts": (), "limits": False, "friction": "smooth"}  # as `export` has them


class Compiled:
    """A machine in C: its entries, its numbers p, and calls of its functions.

    With `-O1` compilers see more to warn of; `-O0` takes half as long.
    """

    def __init__(self, plant, folder, q=None, functions=None, coordinates=(), law=None, level="-O1", **options):
        self.made = export(plant, folder, q, functions=functions, coordinates=coordinates, law=law, states=2, **options)
        source = next(path for path in self.made.files if path.suffix == ".c" and path.stem != "selftest")
        self.prefix, target = source.stem, folder / f"{source.stem}.so"
        command = [COMPILER, *STRICT, level, "-shared", "-fPIC", str(source), "-o", str(target), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]
        self.library = ctypes.CDLL(str(target))
        known = {name: options.get(name, default) for name, default in TOUCHING.items()}
        touched = touching(plant, *known.values())
        self.machine = ExportedMachine(plant if touched is None else touched.open, self.made.q, tuple(coordinates))
        makers = dict(FUNCTIONS)
        if touched is not None:
            makers["contact_step"] = lambda machine: contact_step(machine, touched)
        names = [name.removeprefix(f"{self.prefix}_") for name in self.made.functions]
        self.entries = {name: makers[name](self.machine) for name in names if name in makers}
        if law is not None:
            self.entries |= {entry.name: entry for entry in law_entries(self.machine, law)}
        self.p = np.array(list(self.made.parameters.values()))

    def call(self, name, *inputs):
        """Status and outputs."""
        entry = self.entries[name]
        given = [np.ascontiguousarray(x, dtype=float).ravel() for x in inputs]
        for x, argument in zip(given, entry.inputs, strict=True):
            assert x.size == argument.size
        found = [np.full(argument.size, 7.0) for argument in entry.outputs]
        arrays = [self.p, *(x for x in (*given, *found) if x.size)]
        function = getattr(self.library, f"{self.prefix}_{name}")
        status = function(*(x.ctypes.data_as(ctypes.c_void_p) for x in arrays))
        named = {argument.name: y for argument, y in zip(entry.outputs, found, strict=True)}
        return status, SimpleNamespace(**named)


@pytest.fixture
def in_c(tmp_path):
    """Compiled(plant, ...), where there is a compiler."""
    if COMPILER is None:
        pytest.skip("no C compiler")
    return lambda plant, *args, **options: Compiled(plant, tmp_path, *args, **options)
