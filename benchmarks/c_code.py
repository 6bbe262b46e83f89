"""Exported C: size, time to compile, time of one call, for machines under projected inverse dynamics and a chain."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import codegen, plants
from cmbcontrol.controllers import FilteredDifference, ProjectedInverseDynamics, Saturation
from cmbcontrol.controllers.controller import Controller
from cmbcontrol.controllers.gravity_compensation import driven_coordinates

TITLE = "Exported C with -std=c99 -Wall -Wextra -Werror: one call at a state, one core"
COLUMNS = ("machine", "function", "operations", "stack B", "us a call", "source kB", "code kB", "cc -O2 s", "numbers")
MACHINES = ("five-bar", "loader", "delta", "stewart")
CALLS = 20_000
_ROOM = 10_000  # numbers of an output, more than any of these has

_LOOP = """
#include <time.h>
#include "{header}"
double timed_{name}(int times, double **d)
{{
    struct timespec begin, end;
    int k, status = 0;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    for (k = 0; k < times; k++) status += {name}({arguments});
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    return status ? -1.0 : (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}}
"""


def chain_of(plant: cmb.Mechanism, q: np.ndarray) -> Controller:
    """A filter, the law, limits: all of a chain that is part of the controller's computer."""
    names = list(driven_coordinates(plant))
    still = cmb.Constant([q[plant.position_names.index(name)] for name in names])
    law = ProjectedInverseDynamics(plant, names, still, bandwidth=8.0, period=1e-3)
    return FilteredDifference(cutoff_hz=50.0) | law | Saturation(1e4)


def rows() -> Iterable[Sequence[str]]:
    """Yield rows of the table; none without a C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return
    for name in MACHINES:
        plant, q, _ = plants.catalogue[name].start()
        chain = chain_of(plant, q)
        with TemporaryDirectory() as folder:
            made = codegen.export(plant, Path(folder) / "c", q, law=chain)
            yield from _measured(name, plant, q, chain, made, compiler)


def _measured(
    machine: str, plant: cmb.Mechanism, q: np.ndarray, chain: Controller, made: codegen.Export, compiler: str
) -> Iterable[Sequence[str]]:
    folder, prefix = made.folder, machine.replace("-", "_")
    header = (folder / f"{prefix}.h").read_text()
    page = (folder / "README.md").read_text()
    flags = [compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC"]
    begin = time.perf_counter()
    subprocess.run([*flags, "-c", f"{prefix}.c", "-o", "code.o"], cwd=folder, check=True)
    compiling = time.perf_counter() - begin
    found = subprocess.run(["size", "code.o"], cwd=folder, check=True, capture_output=True, text=True).stdout
    code = int(found.splitlines()[1].split()[0]) / 1000.0
    declared, loops = {}, []
    for function in made.functions:
        found = re.search(rf"^int {function}\((.*)\);$", header, re.M)
        declared[function] = found.group(1).split(", ")  # type: ignore[union-attr]
        arguments = ", ".join(f"d[{i}]" for i in range(len(declared[function])))
        loops.append(_LOOP.format(header=f"{prefix}.h", name=function, arguments=arguments))
    (folder / "loop.c").write_text("#define _POSIX_C_SOURCE 199309L\n" + "".join(loops))
    subprocess.run([*flags, "-shared", "loop.c", "code.o", "-o", "loop.so", "-lm"], cwd=folder, check=True)
    library, double = ctypes.CDLL(str(folder / "loop.so")), ctypes.POINTER(ctypes.c_double)
    v = plant.project_velocity(q, 0.1 * np.ones(plant.nv))
    given = {
        "p": list(made.parameters.values()), "q": q, "v": v, "a": plant.terms(q, v).Cv, "u": np.zeros(plant.nu),
        "t": [0.0], "state": chain.start(plant), "reference": _reference(plant, q),
    }  # fmt: skip
    for k, function in enumerate(made.functions):
        numbers = re.search(rf"^\| `{function}` \|.*\| (\d+) \| (\d+) \|$", page, re.M)
        operations, stack = numbers.groups()  # type: ignore[union-attr]
        arrays = []
        for text in declared[function]:
            name = text.split("*")[-1]
            arrays.append(np.array(given[name], dtype=float) if text.startswith("const") else np.zeros(_ROOM))
        pointers = (double * len(arrays))(*(x.ctypes.data_as(double) for x in arrays))
        call = getattr(library, f"timed_{function}")
        call.restype = ctypes.c_double
        spent = min(call(CALLS, pointers) for _ in range(5))
        source = (folder / f"{prefix}.c").stat().st_size / 1000.0
        whole = (f"{source:.0f}", f"{code:.0f}", f"{compiling:.1f}", str(len(made.parameters)))
        yield (
            machine if k == 0 else "", function.removeprefix(f"{prefix}_"), operations, stack,
            f"{1e6 * spent / CALLS:.2f}" if spent >= 0.0 else "refused", *(whole if k == 0 else [""] * 4),
        )  # fmt: skip


def _reference(plant: cmb.Mechanism, q: np.ndarray) -> np.ndarray:
    """Where the machine is, at rest."""
    here = np.array([q[plant.position_names.index(name)] for name in driven_coordinates(plant)])
    return np.concatenate([here, np.zeros(2 * here.size)])
