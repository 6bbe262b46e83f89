"""Equations of the three papers that docstrings name: what the equation map and its tests are made from.

A reference is a number after ``eq.`` or ``eqs.`` (``eqs. 45 and 46``, ``eqs. 22 to 24``), or a number of its own in
parentheses, ``(45)``. Numbers with a point, ``2.43b``, are Spencer's. Others belong to the paper whose author is named
last before them in the docstring, or by the docstring of the module.
"""

import ast
import contextlib
import functools
import importlib
import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

PAPERS = ("Aghili", "Spencer", "de Falco")
TABLE = Path(__file__).with_name("equations.yaml")
REFERENCE = Path(__file__).parents[1] / "reference"

_NUMBER = r"(?:[2-4AB]\.[1-9][0-9]?[a-z]?|[1-9][0-9]?)(?!\.?[0-9])"
_AND = r"(?:,? and |, | to |-)"
_REFERENCE = re.compile(
    rf"(?P<author>{'|'.join(PAPERS)})"
    rf"|\beqs?\. (?P<list>\(?{_NUMBER}\)?(?:{_AND}\(?{_NUMBER}\)?)*)"
    rf"|(?P<place>[Ss]ections?|[Aa]ppendix|[Tt]heorem|[Pp]roposition) (?P<where>[0-9AB](?:\.[0-9]+)*)"
    rf"|(?<![\w.\])])\((?P<bare>[2-4AB]\.[1-9][0-9]?[a-z]?|[1-9][0-9])\)(?:-\((?P<last>[1-9][0-9])\))?"
)
_STEP = re.compile(rf"({_AND})?\(?({_NUMBER})\)?")
_VALUES = (
    str,
    int,
    float,
    tuple,
    dict,
    frozenset,
)  # attributes, whose docstring is that of their type
_ENTRY = re.compile(r"^\.\. auto(\w+):: (cmbcontrol[\w.]*)", re.M)
_EXAMPLES = re.compile(r"^ *Examples\n *-+\n.*", re.M | re.S)


def _expanded(text: str) -> list[str]:
    """The numbers of a list such as ``2.4, 3.1 to 3.5b and 45``."""
    numbers: list[str] = []
    for joint, number in _STEP.findall(text):
        if joint in (" to ", "-"):
            head, _, last = number.rpartition(".")
            first = int(re.sub(r"[a-z]$", "", numbers[-1].rpartition(".")[2]))
            between = range(first + 1, int(re.sub(r"[a-z]$", "", last)))
            numbers += [f"{head}.{n}" if head else str(n) for n in between]
        numbers.append(number)
    return numbers


def references(docstring: str, module: str = "") -> set[tuple[str, str]]:
    """Paper and number, or place such as ``section 8``, of all that a docstring names.

    ``module`` is the docstring of the module. A number without a paper has the paper ``"?"``.
    """
    around = {name for name in PAPERS if name in module}
    whole = {name for name in ("Aghili", "de Falco") if name in module}
    author = around.pop() if len(around) == 1 else ""
    counted = (
        author if author in whole else whole.pop() if len(whole) == 1 else "?"
    )  # whose numbers have no point
    found = set()
    for match in _REFERENCE.finditer(re.sub(r"\s+", " ", _EXAMPLES.sub("", docstring))):
        if match["author"]:
            author = match["author"]
            counted = counted if author == "Spencer" else author
        elif match["place"]:
            if author:
                found.add(
                    (
                        author,
                        f"{match['place'].lower().removesuffix('s')} {match['where']}",
                    )
                )
        else:
            numbers = _expanded(
                match["list"]
                or f"{match['bare']} to {match['last']}".removesuffix(" to None")
            )
            found |= {
                ("Spencer" if "." in number else counted, number) for number in numbers
            }
    return found


def _resolved(address: str) -> Any:
    """The module or the object with an address; a function may hide the module of its name."""
    parts = address.split(".")
    for i in range(len(parts) - 1, 0, -1):
        with contextlib.suppress(ImportError, AttributeError):
            return functools.reduce(
                getattr, parts[i:], importlib.import_module(".".join(parts[:i]))
            )
    raise LookupError(f"the reference names {address}, which does not exist")


def public_objects() -> Iterator[tuple[str, str, str, bool]]:
    """Address, docstring, docstring of the module, and whether it is a member, of all that is in the reference."""
    pages = "\n".join(
        path.read_text(encoding="utf-8") for path in sorted(REFERENCE.glob("*.md"))
    )
    for kind, address in _ENTRY.findall(pages):
        things = {
            address: importlib.import_module(address)
            if kind == "module"
            else _resolved(address)
        }
        if kind == "module":
            module = things[address]
            things = {
                f"{address}.{name}": getattr(module, name)
                for name in getattr(module, "__all__", ())
            }
        for name, thing in things.items():
            home = getattr(thing, "__module__", None) or ""
            around = (
                sys.modules[home].__doc__ or ""
                if home.startswith("cmbcontrol.")
                else ""
            )
            yield name, thing.__doc__ or "", around, False
            for member, value in vars(thing).items() if inspect.isclass(thing) else ():
                text = getattr(value, "__doc__", None)
                if (
                    not member.startswith("_")
                    and isinstance(text, str)
                    and not isinstance(value, _VALUES)
                ):
                    yield f"{name}.{member}", text, around, True


@functools.cache
def by_equation() -> dict[tuple[str, str], list[str]]:
    """Addresses of the public things that name an equation; those of a module that names it, where none does.

    Members are left out where their class names the equation, too.
    """
    own, around = defaultdict(list), defaultdict(list)
    for address, text, module, member in public_objects():
        for reference in references(text, module):
            if not member or address.rpartition(".")[0] not in own[reference]:
                own[reference].append(address)
        if module and not member:
            for reference in references(module, module):
                around[reference].append(address)
    return {**around, **own}


def in_source(root: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Where each reference stands, in every docstring of the source, public or not."""
    for path in sorted(root.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        module = ast.get_docstring(tree) or ""
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                place = f"{path.relative_to(root).as_posix()}: {getattr(node, 'name', 'the module')}"
                for reference in references(ast.get_docstring(node) or "", module):
                    yield place, reference


def table() -> dict[str, dict]:
    """The main results of each paper, in words, with the reason where no function has them."""
    return yaml.safe_load(TABLE.read_text(encoding="utf-8"))


def order(number: str) -> tuple:
    """Numbers in the order of the paper, sections and theorems after them."""
    named = not number[0].isdigit() and not re.match(r"[AB]\.", number)
    return (
        named,
        [
            (not part.isdigit(), part.zfill(4))
            for part in re.findall(r"\d+|[A-Za-z]+", number)
        ],
    )
