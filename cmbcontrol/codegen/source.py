"""C header and source of exported functions."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..model.mechanism import Mechanism
from ..model.units import effort_units, row_force_units
from ..trace import c99
from . import runtime
from .entries import Argument, ExportedFunction, Solving
from .identifiers import distinct
from .parameters import ParameterEntry

__all__ = ["STATUS", "Library", "header", "source"]

# What functions return; those of a machine are in the order in which they are looked at.
STATUS = {
    "OK": "all is well",
    "NOT_FINITE": "an input is not finite, or so large that a result is not",
    "COMPARISON": "a comparison would be decided otherwise than where the code was made",
    "NEAR_SINGULAR": "the constraints are near a singular configuration",
    "MASS_MATRIX": "the mass matrix is not positive definite",
    "ACTUATION": "the motors are near losing a motion",
    "COORDINATES": "the coordinates of the linear model are nearly dependent",
    "STEP": "the step is not longer than zero",
    "OPEN": "loops are not closed after the step, or contacts are not out of each other; results are given",
    "ITERATIONS": "the bound of iterations was reached before contacts were solved; results are given",
}


class Library(NamedTuple):
    """Content of an exported library, from which its files are written.

    Attributes
    ----------
    plant : Mechanism
    prefix : str
        Prefix of all names.
    entries : sequence of Entry
    numbers : sequence of Number
        The array p.
    version : str
        Version of this package.
    """

    plant: Mechanism
    prefix: str
    entries: Sequence[ExportedFunction]
    numbers: Sequence[ParameterEntry]
    version: str

    def macro(self, name: str) -> str:
        """Name in capitals, with the prefix."""
        return f"{self.prefix}_{name}".upper()


def header(library: Library) -> str:
    """Text of the header."""
    plant, macro = library.plant, library.macro
    guard = macro("H")
    lines = [
        *comment(
            f"{single_line(plant.name)}: exported by cmbcontrol {library.version}. SI units, rad.",
            "Every function returns a status. Where it is not 0, its outputs are NaN, but for those that say why, and "
            "where the status says that results are given. p "
            f"holds the numbers of the machine: {library.prefix}_parameters, or a changed copy of it. Functions keep "
            "nothing, allocate nothing and may be called from several threads. Inputs are read before outputs are "
            "written: they may be the same array.",
        ),
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        f'#define {macro("VERSION")} "cmbcontrol {library.version}"',
        f"#define {macro('NQ')} {plant.nq}",
        f"#define {macro('NV')} {plant.nv}",
        f"#define {macro('NU')} {plant.nu}",
        f"#define {macro('ROWS')} {len(plant.row_names)}",
        f"#define {macro('NP')} {len(library.numbers)}",
        "",
        *enumeration(library, "STATUS", STATUS, STATUS.values(), "What functions return."),
    ]
    rows = [f"{a}; its multiplier: {b}" for a, b in zip(plant.row_units, row_force_units(plant), strict=True)]
    lines += enumeration(library, "Q", plant.position_names, plant.position_units, "Positions q.")
    lines += enumeration(library, "V", plant.velocity_names, plant.velocity_units, "Velocities v; rates of v are a.")
    lines += enumeration(library, "U", plant.actuator_names, effort_units(plant), "Motor efforts u.")
    lines += enumeration(library, "ROW", plant.row_names, rows, "Rows of the constraints.")
    names, texts = [n.name for n in library.numbers], [f"{n.value!r}; {n.text}" for n in library.numbers]
    lines += enumeration(library, "P", names, texts, "Numbers p, with their defaults; what is not here is structure.")
    lines += [f"extern const double {library.prefix}_parameters[{max(len(library.numbers), 1)}];", ""]
    for entry in library.entries:
        lines += [*_declared(library, entry), *_described(entry), f"{_signature(library, entry)};", ""]
    return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "", f"#endif /* {guard} */", ""])


def enumeration(library: Library, group: str, names: Iterable[str], texts: Iterable[str], title: str) -> Iterator[str]:
    """Lines of an enumeration of indices by name; none where it would be empty, which C does not allow."""
    made = distinct(names)
    if made:
        yield from comment(title)
        yield f"enum {library.prefix}_{group.lower()} {{"
        entries = [f"    {library.macro(f'{group}_{name}')} = {i}" for i, name in enumerate(made)]
        ends = [","] * (len(made) - 1) + [""]
        for entry, end, text in zip(entries, ends, texts, strict=True):
            yield f"{entry}{end} /* {in_comment(text)} */"
        yield from ("};", "")


def _declared(library: Library, entry: ExportedFunction) -> Iterator[str]:
    """Lines that declare sizes and indices of a function that has its own."""
    if not isinstance(entry, Solving):
        return
    for name, (value, text) in entry.sizes.items():
        yield f"#define {library.macro(name)} {value} /* {in_comment(text)} */"
    yield ""
    for name, (title, listed) in entry.indices.items():
        yield from enumeration(library, name, [key for key, _ in listed], [text for _, text in listed], title)


def _described(entry: ExportedFunction) -> Iterator[str]:
    arguments = [f"{kind}  {a.name}[{a.size}]: {a.text}" for kind, a in _kinds(entry)]
    kept = entry.kept if isinstance(entry, Solving) else ()
    refused = ", ".join(("NOT_FINITE", "COMPARISON", *dict.fromkeys((*entry.refusals, *kept))))
    yield from comment(entry.text, *arguments, f"status: {refused}")


def _kinds(entry: ExportedFunction) -> Iterator[tuple[str, Argument]]:
    for kind, arguments in (("in", entry.inputs), ("out", entry.outputs)):
        yield from ((kind, argument) for argument in arguments if argument.size)


def _signature(library: Library, entry: ExportedFunction) -> str:
    arguments = [f"{'const ' if kind == 'in' else ''}double *{a.name}" for kind, a in _kinds(entry)]
    return f"int {library.prefix}_{entry.name}(const double *p, {', '.join(arguments)})"


_HELPERS = """\
static int all_finite(const double *from, int count)
{
    int i;
    for (i = 0; i < count; i++) {
        if (!isfinite(from[i])) {
            return 0;
        }
    }
    return 1;
}

static void take(double *to, const double *from, int count)
{
    int i;
    for (i = 0; i < count; i++) {
        to[i] = from[i];
    }
}

static void give(double *to, const double *from, int count, int valid)
{
    int i;
    for (i = 0; i < count; i++) {
        to[i] = valid ? from[i] : (double)NAN;
    }
}"""


def source(library: Library) -> str:
    """Text of the source."""
    prefix = library.prefix
    values = [f"    {number.value!r}, /* {in_comment(number.name)} */" for number in library.numbers] or ["    0.0"]
    parts = [
        "\n".join(
            [
                *comment(f"{single_line(library.plant.name)}: exported by cmbcontrol {library.version}. Do not edit."),
                "#include <math.h>",
                f'#include "{prefix}.h"',
                "",
                f"const double {prefix}_parameters[{len(values)}] = {{",
                *values,
                "};",
            ]
        ),
        _HELPERS,
    ]
    for entry in library.entries:
        parts += [c99.body(function, f"{prefix}_{entry.name}_{end}") for end, function in entry.functions.items()]
        if isinstance(entry, Solving):
            parts += ["\n".join(entry.tables(prefix)), runtime.text(entry.solver, prefix)]
        parts.append(_door(library, entry))
    return "\n\n".join(parts) + "\n"


def _door(library: Library, entry: ExportedFunction) -> str:
    """Text of the public function around a traced one."""
    macro, inputs = library.macro, sum(argument.size for argument in entry.inputs)
    told = 0 if isinstance(entry, Solving) else len(entry.refusals)
    outputs = told + sum(argument.size for argument in entry.outputs)
    ok, broken, body = macro("STATUS_OK"), macro("STATUS_NOT_FINITE"), f"{library.prefix}_{entry.name}_body(p, x, y)"
    lines = [
        f"double x[{max(inputs, 1)}] = {{0.0}}, y[{max(outputs, 1)}] = {{0.0}};",
        f"int status = {ok};",
    ]
    at = 0
    for argument in entry.inputs:
        if argument.size:
            lines.append(f"take(x + {at}, {argument.name}, {argument.size});")
            at += argument.size
    lines += [f"if (!all_finite(x, {inputs})) {{", f"    status = {broken};"]
    given = f"status == {ok}"
    if isinstance(entry, Solving):
        given = " || ".join(f"status == {macro(f'STATUS_{name}')}" for name in ("OK", *entry.kept))
        lines += ["} else {", f"    status = {body};", "}", f"if (({given}) && !all_finite(y, {outputs})) {{"]
        lines += [f"    status = {broken};", "}"]
    else:
        lines += [f"}} else if ({body} != 0) {{", f"    status = {macro('STATUS_COMPARISON')};"]
        for i, refusal in enumerate(entry.refusals):
            lines += [f"}} else if (!(y[{i}] > 0.0)) {{", f"    status = {macro(f'STATUS_{refusal}')};"]
        lines += [f"}} else if (!all_finite(y, {outputs})) {{", f"    status = {broken};", "}"]
    at = told
    for argument in entry.outputs:
        if argument.size:
            valid = f"status != {broken}" if argument.always else given
            lines.append(f"give({argument.name}, y + {at}, {argument.size}, {valid});")
            at += argument.size
    inside = "\n".join(f"    {line}" for line in [*lines, "return status;"])
    return f"{_signature(library, entry)}\n{{\n{inside}\n}}"


# -- comments ------------------------------------------------------------------------------------------------


def comment(*paragraphs: str) -> list[str]:
    """Lines of a C comment."""
    lines = [
        line
        for paragraph in paragraphs
        for line in textwrap.wrap(in_comment(paragraph), 112, subsequent_indent="   ", drop_whitespace=True)
    ]
    if len(lines) == 1:
        return [f"/* {lines[0]} */"]
    return [f"/* {lines[0]}", *(f" * {line}" for line in lines[1:]), " */"]


def in_comment(text: str) -> str:
    """Text that ends no comment, begins none, and is plain ASCII."""
    plain = single_line(text).replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")
    return plain.encode("ascii", "replace").decode().replace("??", "? ?")


def single_line(text: str) -> str:
    """Text without line breaks and backslashes, which would continue a line in C."""
    return " ".join(text.replace("\\", "/").split())
