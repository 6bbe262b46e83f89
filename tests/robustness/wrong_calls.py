"""Wrong calls, made from right ones: one argument at a time is spoilt, by what kind of argument it is.

`valid_calls` has a valid call for each public function, with the kind of each argument. Each call below has one wrong
argument. It must be refused by the package's own checks: by an error that says which argument, and not by what happens
to fail inside. Counts: ``python -m tests.robustness.wrong_calls``.
"""

from __future__ import annotations

import argparse
import re
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import cmbcontrol
from cmbcontrol.errors import CmbError

PACKAGE = str(Path(cmbcontrol.__file__).parent)
NAN, INF = float("nan"), float("inf")


# -- what is wrong for each kind of argument ---------------------------------------------------------------


class Unknown:
    """An object that is nothing in particular."""

    def __repr__(self) -> str:
        return "<Unknown>"


def _function(*given: Any) -> None:
    """A function where none is expected, or one that returns nothing."""


UNKNOWN = Unknown()
NO_NUMBER = {
    "None": None,
    "text": "1.0",
    "bytes": b"1",
    "complex": 1.0 + 2.0j,
    "bool": True,
    "object": UNKNOWN,
    "mapping": {"x": 1.0},
    "pair": [1.0, 2.0],
    "masked": np.ma.masked,
    "function": _function,
    "nan": NAN,
}


def number(base: Any) -> dict[str, Any]:
    return NO_NUMBER | {"inf": INF, "-inf": -INF}


def positive(base: Any) -> dict[str, Any]:
    return number(base) | {"zero": 0.0, "negative": -1.0}


def upper(base: Any) -> dict[str, Any]:
    """A positive number that may be infinite, such as a limit."""
    return NO_NUMBER | {"zero": 0.0, "negative": -1.0, "-inf": -INF}


def not_negative(base: Any) -> dict[str, Any]:
    return number(base) | {"negative": -1.0}


def share(base: Any) -> dict[str, Any]:
    """Between 0 and 1."""
    return number(base) | {"negative": -1.0, "above one": 1.5}


def count(base: Any) -> dict[str, Any]:
    return number(base) | {"fraction": 1.5, "negative": -1, "zero": 0}


def index(base: Any) -> dict[str, Any]:
    return number(base) | {"fraction": 0.5, "too large": 10**6}


def seed(base: Any) -> dict[str, Any]:
    return number(base) | {"fraction": 1.5, "negative": -1}


def flag(base: Any) -> dict[str, Any]:
    return {"text": "no", "number": 2.0, "nan": NAN, "object": UNKNOWN, "list": [True], "None": None}


def text(base: Any) -> dict[str, Any]:
    return {"None": None, "number": 3, "bytes": b"arm", "list": ["arm"], "object": UNKNOWN}


def name(base: Any) -> dict[str, Any]:
    """The name of a new part."""
    return text(base) | {"empty": "", "blank": " ", "dot": "a.b", "comma": "a,b"}


def known(base: Any) -> dict[str, Any]:
    """The name of something that is there."""
    return text(base) | {"unknown": "nosuchname", "misspelt": base[:-1] + "q", "empty": ""}


choice = known


def vector(base: Any) -> dict[str, Any]:
    x = np.asarray(base, dtype=float)
    return {
        "None": None,
        "number": 0.5,
        "text": "1.0",
        "texts": [str(v) for v in x],
        "complex": x + 1.0j,
        "bools": x > -INF,
        "objects": np.array([UNKNOWN] * x.size, dtype=object),
        "none inside": [None, *x[1:]],
        "bool inside": [True, *x[1:].tolist()],
        "masked": np.ma.masked_array(x, mask=np.arange(x.size) == 0),
        "nan": np.where(np.arange(x.size) == 0, NAN, x),
        "inf": np.where(np.arange(x.size) == x.size - 1, INF, x),
        "too long": np.append(x, 0.1),
        "too short": x[:-1],
        "row": x[None],
        "ragged": [x.tolist(), 1.0],
        "mapping": {"nosuchname": 1.0},
        "set": set(x.tolist()),
        "object": UNKNOWN,
        "function": _function,
    }


def by_motor(base: Any) -> dict[str, Any]:
    """One number, one for each, or a mapping by name; none negative."""
    x = np.atleast_1d(np.asarray(list(base.values()) if isinstance(base, Mapping) else base, dtype=float))
    found = vector(np.resize(x, 2)) | {"negative": -1.0, "bool": True, "wrong unit": {"left": "1 N"}}
    return {k: v for k, v in found.items() if k != "number"}


def any_by_motor(base: Any) -> dict[str, Any]:
    """The same, where negative numbers are right."""
    return {k: v for k, v in by_motor(base).items() if k != "negative"}


def gains(base: Any) -> dict[str, Any]:
    """A number, one for each coordinate, or a matrix."""
    found = vector(np.resize(np.asarray(base, dtype=float).ravel(), 2)) | {"bool": True, "wide": np.ones((2, 3))}
    return {k: v for k, v in found.items() if k not in ("number", "row")}


def positive_gains(base: Any) -> dict[str, Any]:
    return gains(base) | {"negative": -1.0, "one negative": [1.0, -1.0]}


def limits(base: Any) -> dict[str, Any]:
    """Largest efforts: infinite ones are right."""
    return {k: v for k, v in by_motor(base).items() if k != "inf"}


def matrix(base: Any) -> dict[str, Any]:
    x = np.asarray(base, dtype=float)
    spoilt, endless = x.copy(), x.copy()
    spoilt.flat[0], endless.flat[-1] = NAN, INF
    return {
        "None": None,
        "text": "identity",
        "texts": x.astype(str),
        "complex": x + 1.0j,
        "bools": x > 0.5,
        "objects": np.full(x.shape, UNKNOWN, dtype=object),
        "nan": spoilt,
        "inf": endless,
        "one row more": np.concatenate([x, x[:1]]),
        "one column more": np.concatenate([x, x[:, :1]], axis=1),
        "stacked": x[None],
        "masked": np.ma.masked_array(x, mask=x > -INF),
        "mapping": {"x": 1.0},
        "object": UNKNOWN,
    }


def metric(base: Any) -> dict[str, Any]:
    """A positive definite matrix, or its diagonal."""
    x = np.asarray(base, dtype=float)
    n = len(x)
    lower = np.eye(n)
    lower[-1, 0] = 0.5 if n > 1 else -1.0
    return {k: v for k, v in matrix(np.eye(n)).items() if k not in ("bools",)} | {
        "bools": np.eye(n) > 0.5,
        "not symmetric": lower,
        "negative": -np.eye(n),
        "zero": np.zeros((n, n)),
        "one too many": np.ones(n + 1),
    }


def names(base: Any) -> dict[str, Any]:
    """A sequence of names that are there."""
    first = next(iter(base))
    return {
        "None": None,
        "unknown": ("nosuchname", *list(base)[1:]),
        "misspelt": (first[:-1] + "q", *list(base)[1:]),
        "numbers": (1, 2),
        "number": 3.0,
        "twice": (first,) * max(2, len(base)),
        "bytes": (first.encode(), *list(base)[1:]),
        "none inside": (None, *list(base)[1:]),
        "object": UNKNOWN,
        "function": _function,
        "bool": True,
    }


def new_names(base: Any) -> dict[str, Any]:
    """A sequence of new names."""
    n = len(base)
    return {
        "None": None,
        "text": "abc",
        "numbers": tuple(range(n)),
        "number": 3.0,
        "twice": ("same",) * n if n > 1 else ("a.b",),
        "empty name": ("",) * n,
        "dot": ("a.b", *base[1:]),
        "none inside": (None, *base[1:]),
        "object": UNKNOWN,
        "one too many": (*base, "another"),
    }


def mapping(base: Mapping[str, Any]) -> dict[str, Any]:
    """Names that are there, to numbers."""
    first = next(iter(base))
    return {
        "None": None,
        "unknown": {**base, "nosuchname": 1.0},
        "misspelt": {first + "q": 1.0},
        "text": "left=1",
        "text inside": {**base, first: "1.0"},
        "complex": {**base, first: 1.0j},
        "none inside": {**base, first: None},
        "nan": {**base, first: NAN},
        "pair inside": {**base, first: [1.0, 2.0, 3.0]},
        "bool inside": {**base, first: True},
        "number key": {3: 1.0},
        "object": UNKNOWN,
        "list of names": list(base),
    }


def thing(base: Any) -> dict[str, Any]:
    """An object of a class of the package."""
    return {
        "None": None,
        "text": "five-bar",
        "number": 3,
        "array": np.zeros(4),
        "object": UNKNOWN,
        "its class": type(base),
        "function": _function,
        "list": [base],
        "mapping": {"x": 1.0},
    }


def parts(base: Any) -> dict[str, Any]:
    """A sequence of parts."""
    return {
        "None": None,
        "one alone": next(iter(base)),
        "text": "arm",
        "number": 3,
        "object": UNKNOWN,
        "None inside": [*base, None],
        "text inside": [*base, "arm"],
        "number inside": [*base, 3],
        "twice": [*base, *base],
        "mapping": {"x": next(iter(base))},
        "class inside": [*base, type(next(iter(base)))],
    }


def function(base: Any) -> dict[str, Any]:
    return {
        "None": None,
        "text": "sin",
        "number": 3.0,
        "array": np.zeros(2),
        "object": UNKNOWN,
        "returns None": _function,
        "returns text": lambda *given: "1.0",
        "takes nothing": lambda: 0.0,
    }


def law(base: Any) -> dict[str, Any]:
    """A controller."""
    return {
        "text": "law",
        "object": UNKNOWN,
        "mapping": {"left": 1.0},
        "its class": type(base),
        "bool": True,
        "complex": [1.0j, 0.0],
        "nan": [NAN, 0.0],
        "too long": [0.0] * 5,
        "returns None": lambda t, terms, state: None,
        "returns text": lambda t, terms, state: "12",
        "returns nan": lambda t, terms, state: np.full(2, NAN),
        "returns too few": lambda t, terms, state: np.zeros(1),
        "returns complex": lambda t, terms, state: np.zeros(2) + 1.0j,
        "returns bools": lambda t, terms, state: np.zeros(2) > 0.0,
        "takes one": lambda t: np.zeros(2),
    }


def reference(base: Any) -> dict[str, Any]:
    """t -> (value, rate, acceleration)."""
    return {
        "None": None,
        "text": "sine",
        "number": 3.0,
        "array": np.zeros(2),
        "object": UNKNOWN,
        "returns None": lambda t: None,
        "returns one": lambda t: np.zeros(2),
        "returns text": lambda t: ("a", "b", "c"),
        "returns too few": lambda t: (np.zeros(1),) * 3,
        "returns nan": lambda t: (np.full(2, NAN),) * 3,
        "returns complex": lambda t: (np.zeros(2) + 1.0j,) * 3,
        "takes nothing": lambda: (np.zeros(2),) * 3,
    }


def path(base: Any) -> dict[str, Any]:
    return {"None": None, "number": 3.5, "object": UNKNOWN, "list": ["file"], "bool": True}


def pair(base: Any) -> dict[str, Any]:
    """(low, high)."""
    return {
        "None": None,
        "number": 1.0,
        "text": "ab",
        "texts": ("0", "1"),
        "three": (0.0, 1.0, 2.0),
        "complex": (0.0, 1.0j),
        "nan": (NAN, 1.0),
        "None inside": (None, 1.0),
        "bool inside": (False, True),
        "exchanged": (2.0, 1.0),
        "set": {0.0, 1.0},
        "object": UNKNOWN,
    }


def optional(kind: Callable[[Any], dict[str, Any]]) -> Callable[[Any], dict[str, Any]]:
    """None is right."""

    def without_none(base: Any) -> dict[str, Any]:
        return {k: v for k, v in kind(base).items() if v is not None}

    return without_none


def also(kind: Callable[[Any], dict[str, Any]], **more: Any) -> Callable[[Any], dict[str, Any]]:
    """With further wrong values."""
    return lambda base: kind(base) | more


def but(kind: Callable[[Any], dict[str, Any]], *right: str) -> Callable[[Any], dict[str, Any]]:
    """Without those that are right here."""
    return lambda base: {k: v for k, v in kind(base).items() if k not in right}


# -- calls -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A valid call.

    Attributes
    ----------
    label : str
    function : callable
    arguments : mapping of name to value
    kinds : mapping of name to kind
        Of the arguments that are spoilt.
    words : tuple of str
        What a message may say in place of the argument's name: the name of the part, for one.
    positional : tuple of str
        Arguments that are handed over by position.
    """

    label: str
    function: Callable[..., Any]
    arguments: Mapping[str, Any]
    kinds: Mapping[str, Callable[[Any], dict[str, Any]]]
    words: tuple[str, ...] = ()
    positional: tuple[str, ...] = ()

    def run(self, **changed: Any) -> Any:
        given = {**self.arguments, **changed}
        first = [given.pop(k) for k in self.positional]
        return self.function(*first, **given)


@dataclass(frozen=True)
class Wrong:
    """A call with one wrong argument."""

    call: Call
    argument: str
    how: str
    value: Any = field(repr=False)

    @property
    def label(self) -> str:
        return f"{self.call.label}({self.argument}: {self.how})"


def wrong_calls(calls: list[Call]) -> Iterator[Wrong]:
    """All of them, in order."""
    for call in calls:
        for argument, kind in call.kinds.items():
            base = call.arguments[argument]
            for how, value in kind(base).items():
                yield Wrong(call, argument, how, value)
        if not call.positional:
            yield Wrong(call, "colour", "unknown keyword", "red")


# What messages call an argument that has a short name.
SYNONYMS = {
    "q": ("q0",),
    "q0": ("q", "start"),
    "axes": ("axis",),
    "which": ("mode",),
    "switches": ("switch", "loop"),
    "second_axis": ("axes",),
    "inertia": ("moment",),
    "guess": ("q",),
    "point": ("q",),
    "names": ("name",),
    "v0": ("v", "start"),
    "p": ("origin",),
    "R": ("rotation",),
    "com": ("centre of mass",),
    "u": ("effort", "efforts"),
    "controller": ("law", "effort", "efforts", "controller"),
    "law": ("controller", "effort", "efforts"),
}


def judge(wrong: Wrong) -> tuple[str, str]:
    """What became of it, "refused" if all is well, and what was said."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # of python-control under numpy 2.5, at static systems
        warnings.filterwarnings("ignore", "Setting the shape on a NumPy array", DeprecationWarning, "control.statesp")
        try:
            given = {wrong.argument: wrong.value}
            result = wrong.call.run(**given)
        except Exception as error:
            return _judged(wrong, error), f"{type(error).__name__}: {error}"
    return "accepted", repr(result)[:100]


def _judged(wrong: Wrong, error: Exception) -> str:
    named = isinstance(error, (TypeError, ValueError, CmbError, FileNotFoundError))
    if not named or isinstance(error, (np.linalg.LinAlgError, UnicodeError)):
        return "inside"
    frames = traceback.extract_tb(error.__traceback__)
    inside = frames[-1].filename
    if not inside.startswith((PACKAGE, "<string>", str(Path(__file__).parent))):
        return "inside"
    own = wrong.argument
    words = {own, own.replace("_", " "), own.removesuffix("s"), *SYNONYMS.get(own, ()), *wrong.call.words}
    if any(re.search(rf"(?<![a-z0-9]){re.escape(w)}s?(?![a-z0-9])", str(error), re.IGNORECASE) for w in words):
        return "refused"
    return "unnamed"


OUTCOMES = ("refused", "accepted", "inside", "unnamed")


def main(arguments: list[str] | None = None) -> int:
    """The table of outcomes, call by call, and each that is not refused."""
    from .valid_calls import EXCEPTIONS, calls, is_exception

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--only", default="", help="labels that begin so")
    parser.add_argument("--quiet", action="store_true", help="no list of those that are not refused")
    options = parser.parse_args(arguments)
    table: dict[str, Counter[str]] = {}
    listed = []
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for wrong in wrong_calls([c for c in calls() if c.label.startswith(options.only)]):
        outcome, said = judge(wrong)
        plt.close("all")
        if outcome != "refused" and is_exception(wrong):
            outcome = "exception"
        elif outcome != "refused":
            listed.append(f"{outcome:9} {wrong.label}: {said[:220]}")
        table.setdefault(wrong.call.label, Counter())[outcome] += 1
    columns = (*OUTCOMES, "exception")
    print(f"{'call':42}", *(f"{c:>10}" for c in columns))
    for label, row in table.items():
        print(f"{label:42}", *(f"{row[c]:10}" for c in columns))
    total = sum(table.values(), Counter())
    print(f"{'all ' + str(total.total()):42}", *(f"{total[c]:10}" for c in columns))
    print(f"{len(EXCEPTIONS)} exceptions, each with its reason, are in valid_calls.py")
    if not options.quiet:
        print(*listed, sep="\n")
    return int(bool(listed))


if __name__ == "__main__":
    sys.exit(main())
