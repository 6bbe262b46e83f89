"""C sources of an FMU: sizes, names and start values of one machine, its functions, and the common C."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import numpy as np

from ..codegen.source import comment, in_comment, single_line
from ..trace import c99
from .model import FmuModel
from .runtime import texts

__all__ = ["sources"]

_OF_MACHINE = ("loops", "motion", "bound_slope", "slope", "outputs", "outputs_slope")
_FUNCTIONS = (*_OF_MACHINE, "first_law", "law", "follow", "follow_slope")


def sources(model: FmuModel, version: str) -> dict[str, str]:
    """Texts of the C files by name; ``fmu.c`` includes all others."""
    known = texts(version)
    return {"fmu.c": _whole(model, list(known)), "model.c": _model(model), **known}


def _whole(model: FmuModel, files: Sequence[str]) -> str:
    includes = [f'#include "{name}"' for name in ("model.c", *files)]
    lines = [
        *comment(
            f"{single_line(model.plant.name)}: exported by cmbcontrol {model.version}. Compile this file alone. "
            "Functions of the interface have the prefix FMI2_FUNCTION_PREFIX or FMI3_FUNCTION_PREFIX where that is "
            "defined. Do not compile it with -ffast-math: errors rest on numbers that are not finite."
        ),
        "#include <math.h>",
        "#include <stdarg.h>",
        "#include <stdbool.h>",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "#include <stdio.h>",
        "#include <stdlib.h>",
        "#include <string.h>",
        "",
        *includes,
        "",
    ]
    return "\n".join(lines)


def _model(model: FmuModel) -> str:
    """Text with the sizes, tables and functions of the machine."""
    plant, law = model.plant, model.law
    sampled = law is not None and law.period is not None
    sizes = {
        "NQ": plant.nq,
        "NV": plant.nv,
        "NU": plant.nu,
        "ROWS": len(plant.row_names),
        "NP": len(model.kept_q),
        "ND": len(model.kept_v),
        "NC": len(law.following) if law is not None else 0,
        "NX": len(model.state_names),
        "NPAR": len(model.numbers),
        "NIN": len(model.inputs),
        "NACT": len(model.acting),
        "NSIGNAL": 0 if law is None else len(law.signals),
        "NLAW": 0 if law is None else len(law.states),
        "NREPORT": 0 if law is None else len(law.report),
        "NY": len(model.outputs),
        "NQUAT": len(model.quaternions),
        "NTUNED": len(model.tuned),
        "SAMPLED": int(sampled),
        "FOLLOWS": int(law is not None and law.follows),
        "QUEUE": 1 if law is None else law.under_way,
        "HAS_INITIAL": int(law is not None and law.initial is not None),
        "MEASURES_FORCE": int(law is not None and law.measures_force),
        "PERIOD": repr(float(law.period)) if law is not None and law.period is not None else "1.0",
        "INTERNAL_STEP": repr(float(model.step)),
    }
    lines = [f"#define {name} {value}" for name, value in sizes.items()]
    lines += [
        f'#define INSTANTIATION_TOKEN "{model.token}"',
        f'#define MODEL_VERSION "cmbcontrol {model.version}"',
        "",
        f"static const double machine_size = {float(model.plant.size)!r};",
        _doubles("row_scale", plant.row_scale),
        _doubles("reach", plant.unit_lengths),
        _doubles("q_reach", model.q_reach),
        _ints("row_level", (int(row["level"]) for row in plant.arrays.rows)),
        _ints("quaternion", model.quaternions),
        _ints("kept_q_start", model.kept_q),
        _ints("kept_v_start", model.kept_v),
        _ints("acting_number", (number for number, _ in model.acting)),
        _ints("moves", (x.name.startswith("motion.") for _, x in model.acting)),
        _ints("tuned_number", model.tuned),
        _doubles("q_start", model.q),
        _doubles("x_start", model.state_values),
        _doubles("input_start", model.input_values),
        _doubles("parameter_start", (n.value for n in model.numbers)),
        _doubles("law_start", () if law is None else law.start),
        *([_doubles("delay", law.delay)] if sampled else []),
        *([_doubles("effort_initial", np.zeros(plant.nu) if law.initial is None else law.initial)] if sampled else []),
        _strings("state_names", model.state_names),
        _strings("input_names", (x.name for x in model.inputs)),
        _strings("parameter_names", (n.name for n in model.numbers)),
        _strings("row_names", plant.row_names),
    ]
    bodies = [c99.body(model.functions[name], f"model_{name}") for name in _FUNCTIONS if name in model.functions]
    return "\n\n".join(["\n".join(lines), *bodies]) + "\n"


def _doubles(name: str, values: Iterable[float]) -> str:
    given = [c99.number(float(x)) for x in values] or ["0.0"]
    return _table("double", name, given)


def _ints(name: str, values: Iterable[int]) -> str:
    return _table("int", name, [str(int(x)) for x in values] or ["0"])


def _strings(name: str, values: Iterable[str]) -> str:
    return _table("char *const", name, [_text(x) for x in values] or ['""'])


def _table(kind: str, name: str, values: Sequence[str]) -> str:
    inside = ",\n    ".join(values)
    return f"static const {kind} {name}[{len(values)}] = {{\n    {inside}\n}};"


def _text(x: str) -> str:
    """String literal of C in plain ASCII, without trigraphs."""
    return json.dumps(in_comment(single_line(x)))
