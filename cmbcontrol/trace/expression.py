"""Formulas as texts: in files, they describe cams or springs, and functions of users are written to files as such.

A text consists of lines ``name = formula``, and a formula as the last line, in the notation of Python: numbers, + - * /
**, and the functions of `FUNCTIONS`. It is read as a tree and computed here: no code of a file is ever run.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import InputError, ModelError
from .graph import Graph, Scalar
from .program import needed
from .symbols import where_less

__all__ = ["Expression", "text_of"]

_LONGEST = 200_000  # characters: of some thousand operations, more than a tape may have
_DEEPEST = 60  # operations inside of one another; deeper formulas are written with names
_INLINE = 6  # levels that a text goes without a name

FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "sin": (1, np.sin),
    "cos": (1, np.cos),
    "tan": (1, lambda x: np.sin(x) / np.cos(x)),
    "sqrt": (1, np.sqrt),
    "exp": (1, np.exp),
    "log": (1, np.log),
    "tanh": (1, np.tanh),
    "abs": (1, np.abs),
    "round": (1, np.rint),
    "atan2": (2, np.arctan2),
    "min": (2, np.minimum),
    "max": (2, np.maximum),
    "where_less": (4, where_less),
}
_CONSTANTS = {"pi": np.pi}
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_UNARY: dict[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_WRITTEN = {"rint": "round", "select": "where_less"}  # operations of a graph whose function has another name


class Expression:
    r"""Function that is given by the text of a formula.

    Parameters
    ----------
    text : str
        ``where_less(a, b, x, y)`` is x where a < b, else y.
    arguments : sequence of str
        Names of the arguments that it is called with.

    Raises
    ------
    ValueError
        Where the text is no formula of these arguments; the message names the part that is not understood.

    Examples
    --------
    >>> lift = Expression("s = sin(angle)\n0.01 * s**2", ["angle"])
    >>> float(lift(np.pi / 2))
    0.01
    """

    traced = True

    def __init__(self, text: str, arguments: Sequence[str]) -> None:
        if not isinstance(text, (str, float, int)) or isinstance(text, bool):
            raise InputError(f"a formula must be a text, got {type(text).__name__}")
        self.text, self.arguments = str(text), tuple(arguments)
        self._lines, self._value = _parsed(self.text, self.arguments)

    def __call__(self, *values: Any) -> Any:
        names: dict[str, Any] = _CONSTANTS | dict(zip(self.arguments, values, strict=True))
        for name, formula in self._lines:
            names[name] = _computed(formula, names)
        return _computed(self._value, names)

    def __repr__(self) -> str:
        return f"Expression({self.text!r}, {self.arguments!r})"

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Expression)
        return same and (self.text, self.arguments) == (other.text, other.arguments)

    def __hash__(self) -> int:
        return hash((self.text, self.arguments))

    def __reduce__(self) -> tuple[Any, ...]:
        return Expression, (self.text, self.arguments)


def _parsed(text: str, arguments: tuple[str, ...]) -> tuple[list[tuple[str, ast.expr]], ast.expr]:
    """Lines with names, as pairs of name and formula, and the formula of the value."""
    if len(text) > _LONGEST:
        raise InputError(f"a formula has {len(text)} characters, more than {_LONGEST}")
    try:
        body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise InputError(f"the formula {_short(text)} is not understood{where}: {error.__class__.__name__}") from None
    known, lines = {*_CONSTANTS, *arguments}, []
    for statement in body[:-1]:
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if not isinstance(target, ast.Name):
            raise InputError(f"the formula {_short(text)}: each line but the last must be name = formula")
        _require_understood(statement.value, known, text)
        if target.id in _CONSTANTS or target.id in arguments:
            raise InputError(f"the formula {_short(text)}: {target.id!r} is there already; name the line otherwise")
        known.add(target.id)
        lines.append((target.id, statement.value))
    if not body or not isinstance(body[-1], ast.Expr):
        raise InputError(f"the formula {_short(text)} has no value: its last line must be a formula without a name")
    _require_understood(body[-1].value, known, text)
    return lines, body[-1].value


def _require_understood(root: ast.expr, known: set[str], text: str) -> None:
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        what = f"the formula {_short(text)}"
        if depth > _DEEPEST:
            raise InputError(f"{what} is nested more than {_DEEPEST} levels deep; give parts of it names, on lines")
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            if type(node.value) is int and abs(node.value) > 2**63:
                raise InputError(f"{what}: an integer has too many digits; write it as 1e30")
        elif isinstance(node, ast.Name):
            if node.id not in known:
                raise InputError(f"{what}: there is no {node.id!r} here (known: {', '.join(sorted(known))})")
        elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            stack += [(node.left, depth + 1), (node.right, depth + 1)]
        elif isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
            stack.append((node.operand, depth + 1))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            if node.func.id not in FUNCTIONS:
                raise InputError(f"{what}: there is no function {node.func.id!r} (known: {', '.join(FUNCTIONS)})")
            if len(node.args) != FUNCTIONS[node.func.id][0]:
                raise InputError(f"{what}: {node.func.id} takes {FUNCTIONS[node.func.id][0]} arguments")
            stack += [(x, depth + 1) for x in node.args]
        else:
            raise InputError(f"{what}: {ast.unparse(node)!r} is not understood; use numbers, names, + - * / ** and "
                             f"{', '.join(FUNCTIONS)}")  # fmt: skip


def _computed(node: ast.expr, names: dict[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return float(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.UnaryOp):
        return _UNARY[type(node.op)](_computed(node.operand, names))
    if isinstance(node, ast.BinOp):
        return _BINARY[type(node.op)](_computed(node.left, names), _computed(node.right, names))
    called = FUNCTIONS[node.func.id][1]  # type: ignore[attr-defined]
    return called(*(_computed(x, names) for x in node.args))  # type: ignore[attr-defined]


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def text_of(function: Callable[..., Any], arguments: Sequence[str], sample: Sequence[float], what: str) -> str:
    """Text of a function, which computes the same to the last bit where it is traced.

    Parameters
    ----------
    function : callable
        Function of numbers, written with numpy's functions.
    arguments : sequence of str
    sample : sequence of float
        Numbers at which it has a value.
    what : str
        Name of the function in messages.

    Raises
    ------
    ModelError
        Where the function cannot be written down.

    Examples
    --------
    >>> text_of(lambda x, k: k * x**3, ["x", "k"], [0.1, 2.0], "a spring")
    'k * (x * (x * x))'
    """
    if isinstance(function, Expression) and function.arguments == tuple(arguments):
        return function.text
    graph = Graph()
    try:
        found = function(*(graph.input("x", i, float(value)) for i, value in enumerate(sample)))
        found = found.reshape(-1)[0] if isinstance(found, np.ndarray) and found.size == 1 else found
        if not isinstance(found, Scalar):
            return repr(float(found))
    except Exception as error:  # whatever a function of a user raises
        raise ModelError(
            f"{what} is a function that cannot be written down as a formula: {type(error).__name__}: {error}"
        ) from error
    if graph.guards:
        raise ModelError(
            f"{what} is a function that decides by a comparison; write where_less(a, b, x, y) in its place"
        )
    return _text(graph, found.index, tuple(arguments))


def _text(graph: Graph, root: int, arguments: tuple[str, ...]) -> str:
    """Text of an expression; a part that is used twice, or is deep inside, gets a line of its own."""
    order = needed(graph, [root])
    uses = dict.fromkeys(order, 0)
    for k in order:
        op, *operands = graph.nodes[k]
        for i in operands if op not in ("const", "input") else ():
            uses[i] += 1
    lines: list[str] = []
    written: dict[int, tuple[str, int]] = {}  # text, levels
    for k in order:
        op, *operands = graph.nodes[k]
        if op == "const":
            text, level = repr(float(operands[0])), 0
            text = f"({text})" if text.startswith("-") else text
        elif op == "input":
            text, level = arguments[operands[1]], 0
        else:
            parts = [written[i][0] for i in operands]
            level = 1 + max(written[i][1] for i in operands)
            text = _operation(op, parts)
            if k != root and (uses[k] > 1 or level >= _INLINE):
                name = f"a{len(lines) + 1}"
                while name in arguments:
                    name += "_"
                lines.append(f"{name} = {_bare(text)}")
                text, level = name, 0
        written[k] = text, level
    return "\n".join([*lines, _bare(written[root][0])])


def _operation(op: str, parts: list[str]) -> str:
    symbol = {"add": "+", "sub": "-", "mul": "*", "div": "/"}.get(op)
    if symbol:
        return f"({parts[0]} {symbol} {parts[1]})"
    if op == "neg":
        return f"(-{parts[0]})"
    return f"{_WRITTEN.get(op, op)}({', '.join(parts)})"


def _bare(text: str) -> str:
    """Text without the parentheses around it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return text[1:-1] if i == len(text) - 1 else text
    return text
