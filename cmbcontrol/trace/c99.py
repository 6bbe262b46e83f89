"""C99 of a traced function: straight lines of operations, without allocation, loops or libraries but math.h."""

from __future__ import annotations

from textwrap import wrap

from .functions import Function
from .program import Chunk, program

__all__ = ["body"]

_BINARY = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_FUNCTION = {name: name for name in ("sin", "cos", "sqrt", "rint", "atan2", "exp", "log", "tanh")} | {"abs": "fabs"}
_ARGUMENTS = "const double *p, const double *x, double *y, double *w"


def body(function: Function, name: str) -> str:
    """C99 text of ``static int name(const double *p, const double *x, double *y)``; it returns how many guards fail."""
    return _Text(function, name).text


def number(x: float) -> str:
    """Text of a number with all digits, as an operand."""
    text = "NAN" if x != x else repr(x).replace("inf", "INFINITY")
    return f"({text})" if x < 0.0 else text


class _Text:
    """C99 text of a function in chunks that pass values on through an array w; equal chunks are one function."""

    def __init__(self, function: Function, name: str) -> None:
        self.nodes, self.guards, chunks, self.room, self.large = program(function)
        made: dict[str, str] = {}
        parts, calls = [], []
        for at, chunk in enumerate(chunks):
            body = self.chunk(chunk)
            if body not in made:
                made[body] = f"{name}_{len(made)}"
                arguments = _ARGUMENTS + (", const int *t" if self.large else "")
                parts.append(f"static void {made[body]}({arguments})\n{{\n{body}\n}}")
            table = ""
            if self.large:
                table = f", {name}_t{at}"
                places = ", ".join(map(str, self.table))
                parts.append("\n".join(wrap(f"static const int {name}_t{at}[] = {{{places}}};", 110)))
            calls.append(f"    {made[body]}(p, x, y, w{table});")
        self.text = "\n\n".join(
            [
                *parts,
                "\n".join(
                    [
                        f"static int {name}(const double *p, const double *x, double *y)",
                        "{",
                        f"    double w[{self.room + 1}];",
                        f"    w[{self.room}] = 0.0;",
                        *calls,
                        f"    return (int)w[{self.room}];",
                        "}",
                    ]
                ),
            ]
        )

    def chunk(self, chunk: Chunk) -> str:
        """Body of a chunk. Where it looks up its places in a table, equal operations are the same text."""
        self.lines: list[str] = []
        self.table: list[int] = [0] if self.large else []  # no table is empty
        self.names: dict[int, str] = {}
        self.passed_in = chunk.passed_in
        for k in chunk.operations:
            self.operation(k)
            if k in chunk.passed_on:
                self.lines.append(f"{self.entry('w', chunk.passed_on[k])} = {self.names[k]};")
        for i, x in chunk.outputs:
            value = self.value(x) if isinstance(x, int) else number(x)
            self.lines.append(f"{self.entry('y', i)} = {value};")
        text = "\n".join(self.lines)
        arguments = "pxywt" if self.large else "pxyw"
        unused = [f"(void){argument};" for argument in arguments if f"{argument}[" not in text]
        return "\n".join(f"    {line}" for line in [*unused, *self.lines])

    def entry(self, array: str, i: int) -> str:
        """Text of an entry of an array; for large functions, through the table of places."""
        if not self.large:
            return f"{array}[{i}]"
        self.table.append(i)
        return f"{array}[t[{len(self.table) - 1}]]"

    def value(self, k: int) -> str:
        """Operand for a node; one that is not computed in this chunk is loaded at its first use."""
        node = self.nodes[k]
        if node[0] == "const":
            return number(node[1])
        if k not in self.names:
            self.add(k, self.entry("w", self.passed_in[k]) if k in self.passed_in else self.entry(node[1], node[2]))
        return self.names[k]

    def add(self, k: int, text: str) -> None:
        """Add a line that assigns a text to a new name for node k."""
        self.names[k] = f"v{len(self.names)}"
        self.lines.append(f"const double {self.names[k]} = {text};")

    def operation(self, k: int) -> None:
        op, *operands = self.nodes[k]
        a, *rest = [self.value(operand) for operand in operands]
        b = rest[0] if rest else ""
        if op in _BINARY:
            self.add(k, f"{a} {_BINARY[op]} {b}")
        elif op == "neg":
            self.add(k, f"-{a}")
        elif op in _FUNCTION:
            self.add(k, f"{_FUNCTION[op]}({', '.join([a, *rest])})")
        elif op in ("min", "max"):
            self.add(k, f"({a} {'<' if op == 'min' else '>'} {b}) ? {a} : {b}")
        elif op == "select":
            self.add(k, f"({a} < {b}) ? {rest[1]} : {rest[2]}")
        else:  # a comparison that was decided
            outcomes = "0.0 : 1.0" if self.guards[k] else "1.0 : 0.0"
            self.lines.append(f"w[{self.room}] += ({a} < {b}) ? {outcomes};")
