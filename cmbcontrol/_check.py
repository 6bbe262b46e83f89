"""Checks and normalisation of all arguments that users pass; no other module does this."""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import operator
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError, InputTypeError

__all__ = [
    "SubjectKind",
    "count",
    "each",
    "flag",
    "function",
    "gain",
    "instance",
    "kind_of",
    "knows_its_keywords",
    "mapping",
    "matrix",
    "moderate",
    "name",
    "names",
    "number",
    "numbers",
    "one_of",
    "option",
    "pair",
    "path",
    "plain",
    "plant",
    "point",
    "positive",
    "run",
    "sequence",
    "shown",
    "single",
    "takes",
    "text",
    "unknown",
    "vector",
    "with_article",
]

Array = NDArray[np.float64]
_Made = TypeVar("_Made", bound=Callable[..., Any])

# kinds of numpy arrays that are no real numbers, with the remedy
_NO_NUMBERS = {
    "b": "truth values; give 0.0 and 1.0 where numbers are meant",
    "c": "complex numbers; take their .real where the imaginary part means nothing",
    "O": "objects; convert them with float()",  # what else is not a number
    "U": "text; convert it with float()",
    "S": "text; convert it with float()",
}


def numbers(x: Any, what: str, expected: str = "real numbers") -> Array:
    """Array `x` as a new contiguous float64 array of any shape; a TypeError if it is not made of real numbers.

    numpy alone takes "1.5" and True for numbers, and drops imaginary parts and masks.
    """
    if isinstance(x, np.ma.MaskedArray):
        raise InputTypeError(f"{what} must be {expected}, got a masked array; fill it first, x.filled(value)")
    if x is None or isinstance(x, Mapping):
        raise InputTypeError(
            f"{what} must be {expected}, got {shown(x)}{'' if x is None else '; a mapping has no order'}"
        )
    try:
        given = np.array(x)
    except (TypeError, ValueError) as error:  # a ragged list, for one
        raise InputTypeError(f"{what} must be {expected}, got {shown(x)} ({error})") from error
    kind = given.dtype.kind
    if kind not in "fiu" or (not isinstance(x, np.ndarray) and _holds_truth(x)):
        told = _NO_NUMBERS.get("b" if kind in "fiu" else kind, f"values of type {given.dtype}")
        raise InputTypeError(f"{what} must be {expected}, got {shown(x)}: {told}")
    return given.astype(np.float64, order="C", copy=False)


_FLOAT = np.dtype(np.float64)


def _is_plain(x: Any) -> TypeGuard[Array]:
    """Whether x is an array as kernels take it; for other kinds, also read-only ones, numba would compile again."""
    return type(x) is np.ndarray and x.dtype == _FLOAT and x.flags.carray


def fits(x: Any, n: int) -> TypeGuard[Array]:
    """Whether x is a vector of length n as kernels take it; whether it is finite is not checked."""
    return type(x) is np.ndarray and x.dtype is _FLOAT and x.shape == (n,) and x.flags.carray


_SHOWN = 12  # numbers of a long vector that a message shows: one can read them


def values_by_name(names: Sequence[str], x: Iterable[float], empty: str = "") -> str:
    """Text of numbers by name, for a message; of a long vector the first ones."""
    texts = [f"{name} = {value:.6g}" for name, value in zip(names, x, strict=False)]
    more = len(texts) - _SHOWN
    return ", ".join(texts[:_SHOWN]) + (f" and {more} more" if more > 0 else "") or empty


def _is_finite(x: Array) -> bool:
    """Whether all of x (n,) is finite, as fast as possible: a few numbers are checked without numpy."""
    if x.size <= 12:
        return all(map(math.isfinite, x.tolist()))
    return b"\0" not in np.isfinite(x).tobytes()  # half the time of .all()


def plain(x: ArrayLike) -> Array:
    """Array `x` as kernels take it, contiguous writable float64: `x` itself, or a copy. There are no checks."""
    return x if _is_plain(x) else np.array(x, dtype=np.float64, order="C")


def _holds_truth(x: Any) -> bool:
    """Whether there is a bool among numbers, which numpy would make 0.0 or 1.0."""
    return isinstance(x, (bool, np.bool_)) or (isinstance(x, (list, tuple)) and any(map(_holds_truth, x)))


def vector(x: ArrayLike, n: int, what: str, names: Iterable[str] = ()) -> Array:
    """Vector `x` of length n, contiguous float64, finite; else an error that names the fault.

    An array that is one already is returned unchanged.
    """
    if not _is_plain(x):
        x = numbers(x, what, f"{n} numbers")
    if x.shape != (n,):
        listed = ", ".join(names)
        hint = f" (in the order {listed})" if listed else ""
        raise InputError(f"{what} must have shape ({n},){hint}, got shape {x.shape}")
    if not _is_finite(x):
        labels = list(names)
        where = ", ".join(f"{labels[i] if labels else i} = {x[i]}" for i in np.flatnonzero(~np.isfinite(x)))
        raise InputError(f"{what} must be finite, but {where}")
    return x


LARGEST = 1e100  # of what is computed with: products of three such numbers are finite


def moderate(x: Array, what: str, names: Iterable[str] = ()) -> Array:
    """Array `x`, checked to be far from overflow: squares of larger numbers are infinite."""
    if not (np.abs(x) < LARGEST).all():
        labels, at = list(names), int(np.argmax(np.abs(x)))
        where = f"{labels[at]} = " if labels else ""
        raise InputError(f"{what} must be below {LARGEST:g}, got {where}{x.ravel()[at]:g}: is it in SI units?")
    return x


def point(x: ArrayLike, what: str) -> Array:
    """Point `x`, checked to be three coordinates."""
    try:
        return vector(x, 3, what)
    except ValueError as error:
        if np.shape(x) != (2,):
            raise
        raise InputError(f"{error}; in a plane give (x, y, 0)") from None


def matrix(x: ArrayLike, shape: tuple[int, int], what: str) -> Array:
    """Matrix `x`, contiguous finite float64, checked to be of the given shape."""
    if not _is_plain(x):
        x = numbers(x, what, f"a {shape[0]} x {shape[1]} matrix of numbers")
    if x.shape != shape:
        raise InputError(f"{what} must have shape {shape}, got {x.shape}")
    if not _is_finite(x.reshape(-1)):
        raise InputError(f"{what} must be finite, got {x.tolist()}")
    return x


def number(x: Any, what: str, infinite: bool = False) -> float:
    """Number `x` as a finite float (or an infinite one, if that is allowed)."""
    if isinstance(x, float):
        x = float(x)  # of numpy's, too
    else:
        real = getattr(getattr(x, "dtype", None), "kind", "f") in "fiu"  # numpy drops imaginary parts with a warning
        if isinstance(x, (str, bytes, bool)) or x is np.ma.masked or getattr(x, "ndim", 0) != 0 or not real:
            raise InputTypeError(f"{what} must be a number, got {shown(x)}")
        try:
            x = float(x)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputTypeError(f"{what} must be a number, got {shown(x)}") from error
    if not math.isfinite(x) and (not infinite or math.isnan(x)):
        raise InputError(f"{what} must be {'a number' if infinite else 'finite'}, got {x}")
    if not infinite and abs(x) >= LARGEST:
        raise InputError(f"{what} must be below {LARGEST:g}, got {x:g}: is it in SI units?")
    return x


def positive(x: Any, what: str, zero: bool = False, infinite: bool = False) -> float:
    """Number `x` as a float above zero (or also zero), finite unless an infinite one is allowed."""
    value = number(x, what, infinite)
    if value < 0.0 or (value == 0.0 and not zero):
        raise InputError(f"{what} must be {'>= 0' if zero else '> 0'}, got {value}")
    return value


def count(x: int, what: str, least: int = 1, most: float = math.inf) -> int:
    """Integer `x`, at least `least` and at most `most`."""
    wanted = f"{what} must be a whole number " + (f">= {least}" if most == math.inf else f"from {least} to {most}")
    try:
        if isinstance(x, (bool, np.bool_)):
            raise TypeError
        value = operator.index(x)
    except TypeError:
        kind = ValueError if isinstance(x, float) else TypeError
        raise kind(f"{wanted}, got {shown(x)}") from None
    if not least <= value <= most:
        raise InputError(f"{wanted}, got {value}")
    return value


def single(x: Any) -> bool:
    """Whether x is meant as a single number, and not as several; `number` or `vector` then check it."""
    return not isinstance(x, (list, tuple, set, frozenset, Mapping)) and getattr(x, "ndim", 0) == 0


def flag(x: bool, what: str) -> bool:
    """Truth value `x`, checked to be a bool: any text is true in Python, also "no"."""
    if x is True or x is False:
        return x
    if not isinstance(x, (int, np.bool_)) or x not in (0, 1):
        raise InputTypeError(f"{what} must be True or False, got {shown(x)}")
    return bool(x)


def pair(x: Any, what: str, infinite: bool = False) -> tuple[float, float]:
    """Pair of numbers from `x`."""
    if isinstance(x, (str, bytes, Mapping, set)) or not hasattr(x, "__len__") or np.ndim(x) == 0 or len(x) != 2:
        raise InputTypeError(f"{what} must be a pair of numbers (low, high), got {shown(x)}")
    low, high = x
    return number(low, what, infinite), number(high, what, infinite)


def interval(x: Any, what: str) -> tuple[float, float]:
    """Interval (low, high) from `x`, with low <= high, either of which may be infinite."""
    low, high = pair(x, what, infinite=True)
    if not low <= high:
        raise InputError(f"{what} must be (low, high) with low <= high, got {shown(x)}")
    return low, high


def shown(x: Any) -> str:
    """Text of a given value for a message, shortened; large objects by their kind."""
    text = repr(x)
    if len(text) <= 120:
        return text
    if isinstance(x, Mapping):
        return f"a mapping of {len(x)} entries"
    if isinstance(getattr(x, "name", None), str):
        return f"{with_article(type(x).__name__)}, {x.name!r}"
    if isinstance(x, np.ndarray):
        return f"an array of shape {x.shape}"
    return f"{' '.join(text.split())[:117]}..."


def with_article(noun: str) -> str:
    """Noun with "a" or "an" before it."""
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"


_LISTED = 16  # names that a message lists; of more than these, it lists 12


def unknown(given: Any, known: Collection[str], what: str) -> str:
    """Message about an unknown name, with the nearest known one."""
    listed = list(map(repr, known))
    if len(listed) > _LISTED:
        listed[12:] = [f"and {len(listed) - 12} more"]
    return f"there is no {what} {given!r}{_hint(str(given), known)} (known: {', '.join(listed) or 'none'})"


def _hint(given: str, known: Collection[str]) -> str:
    """Words on the known name that was probably meant; none where there is no such name."""
    close = _nearest(given, list(known))
    return f"; did you mean {close!r}?" if close else ""


def _nearest(given: str, known: list[str]) -> str | None:
    """Known name that was probably meant: similar, or one of the two begins with the other; else None."""
    slips = difflib.get_close_matches(given, known, n=1, cutoff=0.9)
    longer = [name for name in known if len(given) > 2 and name.startswith(given)]
    shorter = sorted((name for name in known if given.startswith(f"{name}_")), key=len)
    similar = difflib.get_close_matches(given, known, n=1)
    return next(iter([*slips, *longer, *shorter[::-1], *similar]), None)


def one_of(given: Any, known: Collection[str], what: str, argument: str = "") -> str:
    """Name `given`, checked to be a known one; the error has the nearest one (and the argument it was in)."""
    where = argument and f"{argument}: "
    if not isinstance(given, str):
        raise InputTypeError(f"{where}{what} must be a name (one of {', '.join(map(repr, known))}), got {shown(given)}")
    if given not in known:
        raise InputError(where + unknown(given, known, what))
    return given


def option(given: str, known: Collection[str], argument: str) -> str:
    """Option `given`, checked to be one of the values that an argument may have."""
    if given not in known:
        *others, last = map(repr, known)
        raise InputError(f"{argument} must be {', '.join(others)} or {last}, got {shown(given)}")
    return given


def name(x: str, what: str) -> str:
    """Name `x`, checked to be a non-empty string without dots or commas (python-control refuses dots)."""
    if not isinstance(x, str) or not x.strip() or "." in x or "," in x:
        raise InputError(f"the name of a {what} must be a non-empty string without '.' or ',', got {shown(x)}")
    return x


def text(x: Any, what: str) -> str:
    """Text `x`, checked to be a string."""
    if not isinstance(x, str):
        raise InputTypeError(f"{what} must be a string, got {shown(x)}")
    return x


def sequence(x: Any, what: str, of: str) -> tuple:
    """Members of a sequence as a tuple; a single text or number is none, and a set or mapping has no order."""
    if isinstance(x, (str, bytes, Mapping, set, frozenset)) or not isinstance(x, Iterable):
        raise InputTypeError(f"{what} must be a sequence of {of}, such as a list or a tuple, got {shown(x)}")
    return tuple(x)


def names(x: Any, what: str, known: Collection[str] | None = None, kind: str = "name") -> tuple[str, ...]:
    """Distinct names from a sequence, checked to be known ones where these are given."""
    listed = sequence(x, what, "names")
    for n in listed:
        if not isinstance(n, str):
            raise InputTypeError(f"{what} must be names, got {shown(n)}")
        if known is not None and n not in known:
            raise InputError(f"{what}: {unknown(n, known, kind)}")
        if listed.count(n) > 1:
            raise InputError(f"{what} must be all different, but {n!r} is given {listed.count(n)} times")
    return listed


def mapping(x: Any, what: str, of: str) -> Mapping:
    """Mapping `x`, checked to be one."""
    if not isinstance(x, Mapping):
        raise InputTypeError(f"{what} must be a mapping of {of}, got {shown(x)}")
    return x


def instance(x: Any, types: type | tuple[type, ...], what: str, remedy: str = "") -> Any:
    """Object `x`, checked to be of one of the types; else a TypeError that names them."""
    if not isinstance(x, types):
        listed = " or ".join(t.__name__ for t in (types if isinstance(types, tuple) else (types,)))
        raise InputTypeError(f"{what} must be {with_article(listed)}{remedy and f', {remedy}'}, got {_kind(x)}")
    return x


def function(x: Any, what: str, of: str) -> Callable:
    """Function `x`, checked to be callable."""
    if not callable(x) or isinstance(x, type):
        raise InputTypeError(f"{what} must be a function {of}, got {_kind(x)}")
    return x


def knows_its_keywords(made: _Made) -> _Made:
    """Class or constructor that answers an unknown keyword with the nearest one and all that there are."""
    if isinstance(made, type):
        made.__init__ = knows_its_keywords(made.__init__)  # type: ignore[misc]
        return made
    parameters = [*inspect.signature(made).parameters.values()][1:]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return made
    known = [parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_POSITIONAL]

    @functools.wraps(made)
    def init(self: Any, *arguments: Any, **options: Any) -> None:
        for name in options:
            if name not in known:
                what = f"{type(self).__name__} has no argument {name!r}{_hint(name, known)}"
                raise InputTypeError(f"{what} (it takes {', '.join(known) or 'none'})")
        made(self, *arguments, **options)

    return init  # type: ignore[return-value]


def takes(x: Callable, what: str, arguments: tuple[str, ...]) -> None:
    """Raise an error for a function that cannot be called with these arguments, as far as its signature is known."""
    try:
        signature = inspect.signature(x)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        raise InputTypeError(f"{what} is called as ({', '.join(arguments)}), and this one takes {signature}") from None


def plant(x: Any, what: str = "plant") -> Any:
    """Plant `x`, checked to be one, by a mark of its class, which this module does not import."""
    if not getattr(x, "_is_plant", False) or isinstance(x, type):
        call = "; call it to build the machine" if callable(x) else ""
        kinds = "such as a Mechanism, a FunctionPlant or a Plant of your own"
        raise InputTypeError(f"{what} must be a plant, {kinds}, got {_kind(x)}{call}")
    return x


def run(x: Any, what: str = "run") -> Any:
    """Run `x`, checked to be the result of a run; modules that know runs take longer to import."""
    if not hasattr(x, "data") or not hasattr(x, "singularities") or isinstance(x, type):
        raise InputTypeError(f"{what} must be a Simulation, from simulate(plant, ...), got {_kind(x)}")
    return x


def path(x: Any, what: str = "path") -> Path:
    """Path `x`, checked to be a path of a file."""
    if not isinstance(x, (str, os.PathLike)) or not isinstance(os.fspath(x), str):
        raise InputTypeError(f"{what} must be the name of a file, got {shown(x)}")
    return Path(x)


def _kind(x: Any) -> str:
    """Text of the kind of a given object, for messages about types."""
    return f"the {'class' if isinstance(x, type) else 'function'} {x.__name__}" if hasattr(x, "__name__") else shown(x)


def each(values: ArrayLike, k: int, what: str) -> Array:
    """Positive numbers (k,), from one number for all or from k."""
    x = numbers(values, what, f"one number or {k}")
    if x.shape not in ((), (k,)):
        raise InputError(f"{what} must be one number or {k}, got shape {x.shape}")
    if not (np.isfinite(x).all() and x.min(initial=1.0) > 0.0):
        raise InputError(f"{what} must be > 0, got {x.tolist()}")
    return np.broadcast_to(x, (k,)).copy()


def gain(values: ArrayLike, k: int, what: str, names: Iterable[str] = ()) -> Array:
    """Gain matrix (k, k), from a number, k numbers for the diagonal, or a matrix."""
    values = numbers(values, what, f"a number, {k} numbers or a {k} x {k} matrix")
    if values.ndim == 0:
        values = np.full(k, values)
    if values.ndim == 1:
        values = np.diag(vector(values, k, what, names))
    return matrix(values, (k, k), what)


class SubjectKind(NamedTuple):
    """Kind of thing that a verb takes: its types, the options that go with it, and what the verb does with it."""

    name: str
    types: type
    options: tuple[str, ...]
    make: Callable[..., Any]


def kind_of(subject: Any, kinds: Sequence[SubjectKind], verb: str, options: Iterable[str]) -> SubjectKind:
    """Kind of a subject; an error for a subject of no kind, and for options that do not go with it."""
    kind = next((kind for kind in kinds if isinstance(subject, kind.types)), None)
    if kind is None:
        *most, last = (kind.name for kind in kinds)
        raise InputTypeError(f"{verb} takes {', '.join(most)} or {last}, got {shown(subject)}")
    for name in options:
        if name not in kind.options:
            others = ", ".join(f"{option}=" for option in ("title", *kind.options))
            raise InputError(f"{name}= does not go with {kind.name}, which takes {others}")
    return kind
