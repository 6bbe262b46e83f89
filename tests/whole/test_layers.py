"""The architecture, read from the source: see docs/design.md."""

import ast
from pathlib import Path

import pytest

from tests.related import DOORS, imports, parsed

ROOT = Path(__file__).parents[2] / "cmbcontrol"
FILES = sorted(ROOT.rglob("*.py"))


# Lowest first. What a module may import stands at or before its own place; plants see only the model.
LAYERS = (
    *(
        "errors",
        "_bundle",
        "_jit",
        "_check",
        "_notebook",
        "_progress",
        "_tolerance",
        "_interrupt",
        "_files",
        "_netcdf",
        "_yaml",
        "_frozen",
        "_arguments",
        "_versions",
    ),
    *(
        "kernels",
        "_interpreted",
        "trace",
        "characteristics",
        "model",
        "shapes",
        "formats",
        "dynamics",
        "linear",
        "controllers",
        "sim",
        "studies",
        "design",
        "scene",
        "plot",
        "viewer",
        "reports",
        "papers",
        "codegen",
        "fmu",
        "cli",
    ),
)
ALLOWED = {layer: set(LAYERS[: i + 1]) for i, layer in enumerate(LAYERS)}
ALLOWED["plants"] = {"errors", "_check", "model", "plants"}


ALLOWED["papers"] |= {"plants"}
ALLOWED["studies"] |= {"plants"}  # files name plants of the catalogue
ALLOWED["codegen"] -= {"plot", "viewer", "reports", "papers"}  # beside them: only the command line is above


ALLOWED["cli"] |= {"plants"}


HOMES = {
    "numba": {"_bundle", "_jit"},
    "llvmlite": {"_bundle", "_jit", "trace"},
    "control": set(LAYERS[LAYERS.index("linear") :]),
    "cvxpy": {"controllers", "design"},
    "clarabel": {"controllers", "sim"},
    "matplotlib": {"plot", "papers"},
    "jinja2": {"reports"},
    "typer": {"cli"},
}
IN_FUNCTIONS = {"matplotlib": {"papers"}}  # only where a figure is made: listing experiments stays quick


def layer_of(path):
    """Name of the layer that a file belongs to; None for the package's own table of contents."""
    first = path.relative_to(ROOT).parts[0].removesuffix(".py")
    return None if first in ("__init__", "__main__") else first


def violations(path):
    """Imports of one file that point the wrong way."""
    here, file = layer_of(path), path.relative_to(ROOT).as_posix()
    for line, name, typing_only, on_top in imports(path, ROOT):
        parts = name.split(".")
        if parts[0] == "cmbcontrol":
            target = parts[1] if len(parts) > 1 else None
            if here is not None and target not in ALLOWED[here] and (file.removesuffix(".py"), target) not in DOORS:
                yield f"{file}:{line}: {here} must not import {target or 'the package itself'}"
            if name == "cmbcontrol._jit.kernel" and here != "kernels":
                yield f"{file}:{line}: kernels live in kernels/, where the guard of the cache sees them"
        elif parts[0] == "?":
            yield f"{file}:{line}: imports by computed names cannot be checked"
        elif parts[0] in HOMES and here not in HOMES[parts[0]] and not typing_only:
            yield f"{file}:{line}: {parts[0]} belongs to {', '.join(sorted(HOMES[parts[0]]))}"
        elif on_top and here in IN_FUNCTIONS.get(parts[0], ()):
            yield f"{file}:{line}: {here} import {parts[0]} inside the functions that make figures"


def test_every_file_belongs_to_a_layer():
    assert {layer_of(path) for path in FILES} - {None} <= set(ALLOWED)


def test_imports_point_one_way():
    assert [v for path in FILES for v in violations(path)] == []


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("kernels/x.py", "from ..model import terms"),
        ("model/x.py", "def f():\n    from ..sim import result"),
        ("model/x.py", "from cmbcontrol import Mechanism"),
        ("dynamics/x.py", "import control as ct"),
        ("plants/x.py", "from ..kernels import tree"),
        ("sim/simulate.py", "from ..plot import responses"),
        ("model/x.py", "from .._jit import kernel"),
        ("kernels/x.py", "from numba import njit"),
        ("cli.py", "def f():\n    import matplotlib.pyplot as plt"),
        ("papers/x.py", "from ..cli import common"),
        ("papers/x.py", "from matplotlib.figure import Figure"),
    ],
)
def test_the_check_bites(file, source, tmp_path, monkeypatch):
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(source)
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert len(list(violations(path))) == 1


def test_library_never_prints_exits_or_asserts():
    found = []
    for path in FILES:
        here, file = layer_of(path), path.relative_to(ROOT).as_posix()
        for node in ast.walk(parsed(path)):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            raised = ast.unparse(node.exc) if isinstance(node, ast.Raise) and node.exc else ""
            exits = called in ("sys.exit", "exit", "quit", "os._exit") or raised.startswith("SystemExit")
            if isinstance(node, ast.Assert) or called == "print" or (exits and here != "cli"):
                found.append(f"{file}:{node.lineno}: {ast.unparse(node)}")
    assert found == []
