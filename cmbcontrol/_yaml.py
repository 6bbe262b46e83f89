"""YAML files of users: read as plain data, with the line of every entry for messages.

Numbers and truths are those of YAML 1.2, so that 1e-3 is a number, and ``on`` and 12:30 are texts. Anchors, aliases and
tags are refused: so a file shows all of its content, and cannot grow when it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import FileError, InputError, InputTypeError, ModelError

__all__ = ["YamlDocument", "read", "text"]

_LARGEST = 20_000_000  # bytes: descriptions are thousands, long tables of samples some millions
_DEEPEST = 60  # levels

_LONG_WORD = re.compile(r"\S{200,}")  # in a message: no name that a person has given
_INTEGER = re.compile(r"[-+]?\d+|0x[0-9a-fA-F]+|0o[0-7]+")
_FLOAT = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_PLAIN: dict[str, Any] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_PLAIN |= {text: truth for truth in (True, False) for text in (str(truth), str(truth).lower(), str(truth).upper())}
_PLAIN |= {f"{sign}.{word}": float(f"{sign}inf") for sign in ("", "+", "-") for word in ("inf", "Inf", "INF")}
_PLAIN |= {f".{word}": float("nan") for word in ("nan", "NaN", "NAN")}

Path_ = tuple[str | int, ...]


@dataclass(frozen=True)
class YamlDocument:
    """Content of a file, with the lines of its entries.

    Attributes
    ----------
    path : Path
    data : object
        Mappings, lists, texts, numbers, truths and None.
    lines : dict
        Line of each entry, by the keys and indices that lead to it.
    """

    path: Path
    data: Any
    lines: dict[Path_, int]

    def line(self, *keys: str | int) -> int:
        """Line of an entry, or of the nearest one around it."""
        while keys and keys not in self.lines:
            keys = keys[:-1]
        return self.lines.get(keys, 1)

    @contextmanager
    def at(self, *keys: str | int) -> Iterator[None]:
        """Context that adds the file and the line of an entry to messages of input errors."""
        try:
            yield
        except (InputError, InputTypeError, ModelError) as error:
            if getattr(error, "told", False):  # by a block inside, which knows better
                raise
            words = _LONG_WORD.sub(lambda word: f"{word[0][:60]}...", str(error))
            within = getattr(error, "within", ())  # whoever raised it knows which entry of this one it was
            told: Any = type(error)(f"{self.path}, line {self.line(*keys, *within)}: {words}")
            told.told = True
            raise told from error


def read(path: str | Path) -> YamlDocument:
    r"""Read a file.

    Raises
    ------
    FileError
        Where it cannot be read, is no YAML, or has refused content; the message names the line.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "gains.yaml")
    ...     _ = file.write_text("kp: 1e3\nmotors: [left, right]\n")
    ...     read(file).data
    {'kp': 1000.0, 'motors': ['left', 'right']}
    """
    import yaml

    path = Path(path)
    try:
        if path.stat().st_size > _LARGEST:
            raise FileError(f"{path} has {path.stat().st_size} bytes, more than {_LARGEST}: is it the right file?")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is no text in UTF-8 ({error.reason} at byte {error.start})") from error
    try:
        return _Reader(path, yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))).document()
    except yaml.MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f", line {error.problem_mark.line + 1}"
        raise FileError(f"{path}{line}: this is no YAML: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise FileError(f"{path} is no YAML: {' '.join(str(error).split())}") from error


class _Reader:
    """Builder of data from the events of a parser."""

    def __init__(self, path: Path, events: Iterator[Any]) -> None:
        self.path, self.events = path, events
        self.lines: dict[Path_, int] = {}

    def document(self) -> YamlDocument:
        import yaml

        for event in self.events:
            if isinstance(event, yaml.StreamEndEvent):
                raise FileError(f"{self.path} is empty")
            if isinstance(event, yaml.DocumentStartEvent):
                break
        data = self.value(next(self.events), ())
        next(self.events)  # the end of the document
        if not isinstance(event := next(self.events), yaml.StreamEndEvent):
            raise self.refused(event, "it holds a second document")
        return YamlDocument(self.path, data, self.lines)

    def refused(self, event: Any, why: str) -> FileError:
        return FileError(f"{self.path}, line {event.start_mark.line + 1}: {why}")

    def value(self, event: Any, keys: Path_) -> Any:
        import yaml

        if isinstance(event, yaml.AliasEvent) or event.anchor:
            raise self.refused(event, "anchors (&) and aliases (*) are not read; write it out")
        if event.tag is not None:
            raise self.refused(event, f"tags are not read, and this is {event.tag!r}; leave it out")
        if len(keys) > _DEEPEST:
            raise self.refused(event, f"it is nested more than {_DEEPEST} levels deep")
        self.lines.setdefault(keys, event.start_mark.line + 1)
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event.value) if event.implicit[0] else event.value
        if isinstance(event, yaml.SequenceStartEvent):
            found: list[Any] = []
            while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
                found.append(self.value(event, (*keys, len(found))))
            return found
        made: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent) or event.tag is not None or event.anchor:
                raise self.refused(event, "a key must be a plain text")
            key = event.value
            if key in made:
                raise self.refused(event, f"{key!r} is there twice, before in line {self.lines[(*keys, key)]}")
            self.lines[(*keys, key)] = event.start_mark.line + 1
            made[key] = self.value(next(self.events), (*keys, key))
        return made


def _scalar(text: str) -> Any:
    """Value of a plain scalar by the core schema of YAML 1.2."""
    if text in _PLAIN:
        return _PLAIN[text]
    if _INTEGER.fullmatch(text) and len(text) < 400:  # longer ones Python reads in a time that is their square
        return int(text, 0) if text[:2] in ("0x", "0o") else int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def text(data: Any) -> str:
    r"""Text of plain data as a file that `read` gives back, to the last digit of every number.

    Examples
    --------
    >>> print(text({"kp": 1e-5, "motors": ["left", "right"], "title": "1e3"}), end="")
    kp: 1.0e-05
    motors: [left, right]
    title: '1e3'
    """
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    def of_text(dumper: Any, x: str) -> Any:
        plain = not isinstance(_scalar(x), str)  # by YAML 1.2, which knows other numbers than the library
        return dumper.represent_scalar("tag:yaml.org,2002:str", x, style="|" if "\n" in x else "'" if plain else None)

    Dumper.add_representer(str, of_text)
    Dumper.add_representer(float, lambda dumper, x: dumper.represent_scalar("tag:yaml.org,2002:float", _number(x)))
    return yaml.dump(data, Dumper=Dumper, default_flow_style=None, sort_keys=False, width=120, allow_unicode=True)


def _number(x: float) -> str:
    """Text of a number to its last digit, with a point, so that it is a number also in YAML 1.1."""
    if x != x:
        return ".nan"
    if abs(x) == float("inf"):
        return ".inf" if x > 0 else "-.inf"
    mantissa, e, exponent = repr(x).partition("e")
    return mantissa + (".0" if "." not in mantissa else "") + e + exponent
