"""C99 of a traced function: straight lines of operations, without allocation, loops or libraries but math.h."""

from __future__ import annotations

from .functions import Function
from .program import Chunk, program

__all__ = ["body"]

_BINARY = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_FUNCTION = {name: name for name in ("sin", "cos", "sqrt", "rint", "atan2", "exp", "tanh")} | {"abs": "fabs"}
_ARGUMENTS = "const double *p, const double *x, double *y, double *w"


def body(function: Function, name: str) -> str:
    """``static int name(const double *p, const double *x, double *y)``; it returns how many guards do not hold."""
    return _Text(function, name).text


def number(x: float) -> str:
    """All digits of a number, as an operand."""
    text = "NAN" if x != x else repr(x).replace("inf", "INFINITY")
    return f"({text})" if x < 0.0 else text


class _Text:
    def __init__(self, function: Function, name: str) -> None:
        self.nodes, self.guards, chunks, self.room = program(function)
        parts = [self.chunk(f"{name}_{at}", chunk) for at, chunk in enumerate(chunks)]
        calls = [f"    {name}_{at}(p, x, y, w);" for at in range(len(chunks))]
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

    def chunk(self, name: str, chunk: Chunk) -> str:
        """One function."""
        lines = [f"const double v{k} = w[{place}];" for k, place in chunk.passed_in.items()]
        self.known = {k: f"v{k}" for k in chunk.passed_in}
        for k in chunk.operations:
            lines += self.operation(k)
            self.known[k] = f"v{k}"
            if k in chunk.passed_on:
                lines.append(f"w[{chunk.passed_on[k]}] = v{k};")
        lines += [f"y[{i}] = {self.value(x) if isinstance(x, int) else number(x)};" for i, x in chunk.outputs]
        text = "\n".join(lines)
        unused = [f"(void){argument};" for argument in "pxyw" if f"{argument}[" not in text]
        inside = "\n".join(f"    {line}" for line in [*unused, *lines])
        return f"static void {name}({_ARGUMENTS})\n{{\n{inside}\n}}"

    def value(self, k: int) -> str:
        """A node as an operand."""
        node = self.nodes[k]
        if node[0] == "const":
            return number(node[1])
        return f"{node[1]}[{node[2]}]" if node[0] == "input" else self.known[k]

    def operation(self, k: int) -> list[str]:
        op, *operands = self.nodes[k]
        a, *rest = [self.value(operand) for operand in operands]
        b = rest[0] if rest else ""
        if op in _BINARY:
            found = f"{a} {_BINARY[op]} {b}"
        elif op == "neg":
            found = f"-{a}"
        elif op in _FUNCTION:
            found = f"{_FUNCTION[op]}({', '.join([a, *rest])})"
        elif op in ("min", "max"):
            found = f"({a} {'<' if op == 'min' else '>'} {b}) ? {a} : {b}"
        elif op == "select":
            found = f"({a} < {b}) ? {rest[1]} : {rest[2]}"
        else:  # a comparison that was decided
            outcomes = "0.0 : 1.0" if self.guards[k] else "1.0 : 0.0"
            return [f"w[{self.room}] += ({a} < {b}) ? {outcomes};"]
        return [f"const double v{k} = {found};"]
