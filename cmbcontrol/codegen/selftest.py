"""Self-test of exported code: states of the machine, and the results of the package's kernels there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import CmbError, ModelError
from ..model.actuation import actuation_at
from ..model.mechanism import Mechanism
from ..model.terms import Terms
from .entries import CLEAR, ExportedFunction, ExportedMachine, FunctionCase, FunctionState, Solving, size
from .source import Library, comment

__all__ = ["TOLERANCE", "differences", "nearness", "selftest", "states"]

Array = NDArray[np.float64]

# Of the terms that a result is a sum of, times `State.blur`: rounding, 1e-16, with a factor for sums of many terms and
# for compilers and processors that round elsewhere.
TOLERANCE = 1e-10

# States are at least so far from singular ones, or half as far as the configuration of the machine. Below `_CLEARLY`
# rounding grows by the square.
_FAR, _CLEARLY = 0.02, 0.1
_NOT_REFUSED = 3.0  # pivots of S are not below its eigenvalues; with a margin, since `inverse` has a metric of its own

_STEP = 0.2  # rad, or sizes of the machine, from state to state
_CONTRADICTION = 1e-11  # sizes/s2 at such velocities, by which redundant rows may disagree: rounding is far below
_TRIES = 50  # for each state


def states(machine: ExportedMachine, count: int, seed: int, actuated: bool) -> list[FunctionState]:
    """States with closed loops, on a walk of random steps from the configuration of the machine.

    Parameters
    ----------
    machine : Machine
    count, seed : int
    actuated : bool
        Whether motors must reach all motions there.
    """
    plant, rng = machine.plant, np.random.default_rng(seed)
    unit = plant.size / plant.unit_lengths
    made: list[FunctionState] = []
    q, far = machine.q, max(min(_FAR, 0.5 * nearness(machine, machine.terms, actuated)), _NOT_REFUSED * CLEAR)
    for _ in range(_TRIES * count):
        if len(made) == count:
            break
        try:
            closed = plant.close(plant.integrate(q, _STEP * rng.uniform(-1.0, 1.0, plant.nv) * unit))
            v = plant.project_velocity(closed, rng.standard_normal(plant.nv) * unit)
            terms = plant.terms(closed, v)
        except CmbError:
            continue
        near = nearness(machine, terms, actuated)
        if near > far and terms.rank == len(machine.rows) and _agree(plant, terms):
            q = terms.q
            strong = size(terms.h, terms.M @ v, plant.force_scale)
            u = strong * rng.uniform(-1.0, 1.0, plant.nu)
            made.append(FunctionState(terms, u, rng, max(1.0, (_CLEARLY / near) ** 2)))
    if len(made) < count:
        raise ModelError(
            f"{plant.name!r}: only {len(made)} of {count} states for the self-test were found around the "
            "configuration where rows are independent or agree, and motors reach what they should; give another q"
        )
    return made


def nearness(machine: ExportedMachine, terms: Terms, actuated: bool) -> float:
    """Distance of a state from a singular one: closeness of the kept rows, by singular values, and margin of motors."""
    margin = actuation_at(terms).margin if actuated else 1.0
    if not machine.rows:
        return margin
    A = (terms.row_scale[:, None] * terms.A)[machine.rows]
    s = np.linalg.svd(np.linalg.solve(np.linalg.cholesky(terms.M), A.T), compute_uv=False)
    return min(margin, float(s[-1] / (s[0] if len(s) > 1 else machine.reference)))


def _agree(plant: Mechanism, terms: Terms) -> bool:
    """Whether redundant rows follow from others. (A gradient that vanishes at a dead point still has a rate.)"""
    return size(terms.row_scale * (terms.A @ terms.Cv + terms.b)) <= _CONTRADICTION * plant.size


def differences(entry: ExportedFunction, case: FunctionCase, y: Sequence[Array]) -> Iterator[float]:
    """Error of each output that is known, relative to its scale."""
    for argument, expected, scale, found in zip(entry.outputs, case.outputs, case.scales, y, strict=True):
        if argument.size and expected is not None:
            yield float((np.abs(found - np.ravel(expected)) / scale).max()) if scale else 0.0


def selftest(library: Library, found: Sequence[FunctionState]) -> str:
    """Text of the self-test program in C."""
    parts = [
        "\n".join(
            [
                *comment(
                    "Compares the functions with what cmbcontrol's kernels say, in Python, at states of the machine. "
                    "Returns 0 where all agree, and says so in a line."
                ),
                "#include <math.h>",
                "#include <stdio.h>",
                f'#include "{library.prefix}.h"',
                "",
                f"#define STATES {len(found)}",
                f"#define TOLERANCE {TOLERANCE!r} /* of the terms that a result is a sum of */",
            ]
        ),
        _WORSE,
    ]
    names = [entry.name for entry in library.entries]
    parts += [_of(library, entry, found) for entry in library.entries]
    tests = [f"    failed += test_{name}(&worst);" for name in names]
    parts.append(_MAIN.format(tests="\n".join(tests), name=library.prefix, functions=len(names)))
    return "\n\n".join(parts) + "\n"


_WORSE = """\
/* The larger of an error so far and that of an array, in tolerances; entries that are NaN are not compared. */
static double worse(double worst, const double *found, const double *expected, int count, double scale)
{
    int i;
    for (i = 0; i < count; i++) {
        const double error = fabs(found[i] - expected[i]) / (TOLERANCE * scale);
        if (!isnan(expected[i]) && !(error <= worst)) {
            worst = isnan(error) ? (double)INFINITY : error;
        }
    }
    return worst;
}"""

_MAIN = """\
int main(void)
{{
    double worst = 0.0;
    int failed = 0;
{tests}
    printf("{name}: {functions} functions at %d states: largest error %.2g of the tolerance, %d wrong statuses\\n",
           STATES, worst, failed);
    return failed == 0 && worst <= 1.0 ? 0 : 1;
}}"""


def _of(library: Library, entry: ExportedFunction, found: Sequence[FunctionState]) -> str:
    """Text of the test of one function: at all states, and with an input that is not finite."""
    cases = [entry.case(state) for state in found]
    outputs = [(argument, k) for k, argument in enumerate(entry.outputs) if argument.size]
    inputs = [(argument, k) for k, argument in enumerate(entry.inputs) if argument.size]
    name = entry.name
    lines = []
    for argument, k in inputs:
        rows = [np.ravel(case.inputs[k]) for case in cases]
        lines.append(_table(f"{name}_{argument.name}", argument.size, rows))
    for argument, k in outputs:
        unknown = np.full(argument.size, np.nan)
        rows = [unknown if case.outputs[k] is None else np.ravel(case.outputs[k]) for case in cases]
        lines.append(_table(f"{name}_expected_{argument.name}", argument.size, rows))
    scales = [
        state.blur * np.array([case.scales[k] for _, k in outputs]) for state, case in zip(found, cases, strict=True)
    ]
    lines.append(_table(f"{name}_scales", len(outputs), [np.maximum(row, 1e-300) for row in scales]))
    local = [f"    static double {argument.name}[{argument.size}];" for argument, _ in outputs]
    first = inputs[0][0]
    given = [f"{name}_{argument.name}[k]" for argument, _ in inputs]
    call = f"{library.prefix}_{name}({library.prefix}_parameters, {{}})"
    ok, broken = library.macro("STATUS_OK"), library.macro("STATUS_NOT_FINITE")
    taken = [argument.name for argument, _ in outputs]
    certain = f" && !isnan({name}_expected_{taken[0]}[k][0])" if isinstance(entry, Solving) else ""  # may be unsolvable
    checks = [
        f"        *worst = worse(*worst, {a.name}, {name}_expected_{a.name}[k], {a.size}, {name}_scales[k][{i}]);"
        for i, (a, _) in enumerate(outputs)
    ]
    body = [
        f"static int test_{name}(double *worst)",
        "{",
        *local,
        f"    double broken[{first.size}] = {{0.0}};",
        "    int k, failed = 0;",
        "    for (k = 0; k < STATES; k++) {",
        f"        failed += {call.format(', '.join([*given, *taken]))} != {ok}{certain};",
        *checks,
        "    }",
        "    broken[0] = NAN;",
        "    k = 0;",
        f"    failed += {call.format(', '.join(['broken', *given[1:], *taken]))} != {broken};",
        f"    return failed + !isnan({outputs[0][0].name}[0]);",
        "}",
    ]
    return "\n".join([*lines, "", *body])


def _table(name: str, size: int, rows: Sequence[Array]) -> str:
    """Text of a C table of numbers, with a row for each state."""
    lines = ["    {" + ", ".join(number(x) for x in row.tolist()) + "}" for row in rows]
    return f"static const double {name}[STATES][{size}] = {{\n" + ",\n".join(lines) + "\n};"


def number(x: float) -> str:
    """Text of a number with all its digits."""
    return "NAN" if x != x else repr(x)
