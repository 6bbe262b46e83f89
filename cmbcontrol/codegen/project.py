"""CMakeLists.txt and README.md of exported code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..trace.program import program
from .entries import ExportedFunction, Solving
from .source import STATUS, Library, single_line

__all__ = ["cmake", "operations", "readme", "room"]


def cmake(library: Library) -> str:
    """Text of CMakeLists.txt: library and self-test, for ``cmake`` and ``ctest``."""
    name = library.prefix
    return f"""\
cmake_minimum_required(VERSION 3.10)
project({name} C)

set(CMAKE_C_STANDARD 99)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()

add_library({name} {name}.c)
target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
add_executable({name}_selftest selftest.c)
target_link_libraries({name}_selftest {name})
if(UNIX)
    target_link_libraries({name} m)
endif()

enable_testing()
add_test(NAME {name}_selftest COMMAND {name}_selftest)
"""


def operations(entry: ExportedFunction) -> int:
    """Number of operations of a call."""
    programs = [program(function) for function in entry.functions.values()]
    return sum(len(chunk.operations) for made in programs for chunk in made.chunks)


def room(entry: ExportedFunction) -> int:
    """Bytes of the arrays that a call has on the stack."""
    own = entry.room if isinstance(entry, Solving) else 0
    largest = max(program(f).room + 1 + max(f.inputs, 1) + max(len(f.outputs), 1) for f in entry.functions.values())
    return 8 * (own + largest)


def readme(library: Library, left_out: Mapping[str, str], rows: Sequence[int]) -> str:
    """Text of README.md: the content of the folder, and its use."""
    plant, name = library.plant, library.prefix
    functions = [
        f"| `{name}_{entry.name}` | {single_line(entry.text)} | {operations(entry)} | {room(entry)} |"
        for entry in library.entries
    ]
    listed = [f"`{entry}` is not here: {single_line(reason)}." for entry, reason in left_out.items()]
    statuses = [
        f"| {i} | `{library.macro(f'STATUS_{key}')}` | {text} |" for i, (key, text) in enumerate(STATUS.items())
    ]
    kept = ", ".join(plant.row_names[row] for row in rows) or "none"
    return "\n".join(
        [
            f"# {single_line(plant.name)}",
            "",
            f"C99, exported by cmbcontrol {library.version}. It needs `math.h` and nothing else; it allocates nothing, "
            f"has no loops but over the entries of arrays{_loops(library)}, and keeps nothing from call to call.",
            "",
            "| function | what it computes | operations | stack, bytes |",
            "|---|---|---|---|",
            *functions,
            "",
            *([*listed, ""] if listed else []),
            f"`{name}.h` names every index and describes every array.",
            "",
            "## Build and test",
            "",
            "```bash",
            "cmake -B build . && cmake --build build && ctest --test-dir build",
            "```",
            "",
            "Or add the `.c` file to a project of your own. Do not compile it with `-ffast-math`: statuses rest on "
            "numbers that are not finite.",
            "",
            "## Call",
            "",
            "```c",
            f'#include "{name}.h"',
            "",
            *_example(library),
            "```",
            "",
            "## Status",
            "",
            "| | name | meaning |",
            "|---|---|---|",
            *statuses,
            "",
            "Where the status is not 0, outputs are NaN, but for `closeness` and `actuation` where they were computed, "
            "and where the meaning says that results are given.",
            "",
            "## Numbers",
            "",
            f"`{name}_parameters` holds masses, lengths, stiffnesses and so on, by the names in the header. To run "
            "with others, copy the array, change the copy, and pass that. What was zero when the code was made stays "
            "zero, as do directions along an axis. Changed lengths need a configuration that closes the loops with "
            "them. The matrix of an inertia must stay symmetric, that of an attitude a rotation.",
            "",
            f"Rows that are kept: {kept}. Multipliers of all others are zero, the force of all together is unique.",
            "",
        ]
    )


def _loops(library: Library) -> str:
    """Text on loops of the code that are not over entries of arrays."""
    solving = [entry.name for entry in library.entries if isinstance(entry, Solving)]
    return f" and those of `{library.prefix}_{solving[0]}`, whose bounds are in the header" if solving else ""


def _example(library: Library) -> list[str]:
    """Lines of C that call the first function."""
    entry = library.entries[0]
    arguments = [*entry.inputs, *entry.outputs]
    declared = [f"double {a.name}[{a.size}];" for a in arguments if a.size]
    names = ", ".join(a.name for a in arguments if a.size)
    call = f"int status = {library.prefix}_{entry.name}({library.prefix}_parameters, {names});"
    return [*declared, call, f"if (status != {library.macro('STATUS_OK')}) {{", "    /* hold the machine */", "}"]
