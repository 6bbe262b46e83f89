"""Reader of XML files from unknown sources: elements with their lines, without entities, and of bounded size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from ..errors import FileError, InputError

__all__ = ["Node", "read_xml"]

_LARGEST = 20_000_000  # bytes: robots with long tables have some millions
_DEEPEST = 400  # levels: bodies of a chain are within one another in some formats
_MOST = 100_000  # elements: of 1 kB each with their attributes; robots have thousands


class Node(Element):
    """XML element that knows its file and its line."""

    path: Path = Path()
    line: int = 0

    def error(self, what: str) -> InputError:
        """Input error with the file and the line."""
        error = InputError(f"{self.path}, line {self.line}: {what}")
        error.told = True  # type: ignore[attr-defined]
        return error

    def text_of(self, key: str) -> str:
        """Text of an attribute that must be there."""
        if (found := self.get(key)) is None:
            raise self.error(f"<{self.tag}> needs the attribute {key!r}")
        return found

    def numbers(self, key: str, count: int | None, default: Iterable[float] | None = None) -> list[float]:
        """Numbers of an attribute, all finite; of the required count."""
        if (text := self.get(key)) is None:
            if default is None:
                raise self.error(f"<{self.tag}> needs the attribute {key!r}")
            return list(default)
        return self._numbers(text, count, f"{key!r} of <{self.tag}>")

    def own_numbers(self, count: int | None) -> list[float]:
        """Numbers between the tags."""
        return self._numbers(self.text or "", count, f"<{self.tag}>")

    def _numbers(self, text: str, count: int | None, what: str) -> list[float]:
        words = text.split()
        if count is not None and len(words) != count:
            raise self.error(f"{what} must have {count} number{'s'[: count > 1]}, and has {len(words)}: {text[:80]!r}")
        found = []
        for word in words:
            try:
                found.append(float(word))
            except ValueError:
                raise self.error(f"{what} must be numbers, and has {word[:80]!r}") from None
            if not math.isfinite(found[-1]):
                raise self.error(f"{what} must be finite, and has {word[:80]!r}")
        return found

    def only(self, tag: str) -> Node | None:
        """Child element of a tag, or None; two of them are an error."""
        found = self.findall(tag)
        if len(found) > 1:
            raise found[1].error(f"<{self.tag}> has a second <{tag}>")  # type: ignore[attr-defined]
        return found[0] if found else None  # type: ignore[return-value]

    def every(self, tag: str) -> Iterator[Node]:
        """Child elements of a tag."""
        yield from self.findall(tag)  # type: ignore[misc]


def read_xml(path: str | Path, root: str | None) -> Node:
    """Read an XML file, and return its root.

    Parameters
    ----------
    path : path
    root : str or None
        Required tag, such as ``"robot"``; None accepts any.

    Raises
    ------
    FileError
        Where it cannot be read, is no XML, declares entities, or is larger than any machine.
    ValueError
        Where the root has another tag.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "arm.urdf")
    ...     _ = file.write_text("<robot name='arm'/>")
    ...     read_xml(file, "robot").get("name")
    'arm'
    """
    path = Path(path)
    try:
        if path.stat().st_size > _LARGEST:
            raise FileError(f"{path} has {path.stat().st_size} bytes, more than {_LARGEST}: is it the right file?")
        content = path.read_bytes()
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path} cannot be read: {error.strerror or error}") from error
    found = _Parser(path).parsed(content)
    if root is not None and found.tag != root:
        raise found.error(f"the file begins with <{found.tag[:80]}>, and not with <{root}>")
    return found


class _Parser:
    def __init__(self, path: Path) -> None:
        self.path, self.depth, self.count = path, 0, 0
        self.parser = expat.ParserCreate(namespace_separator=None)
        self.builder = TreeBuilder(element_factory=Node, insert_comments=False, insert_pis=False)
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self.builder.data
        self.parser.StartDoctypeDeclHandler = self._refused
        self.parser.EntityDeclHandler = self._refused
        self.parser.buffer_text = True

    def parsed(self, content: bytes) -> Node:
        try:
            self.parser.Parse(content, True)
        except (expat.ExpatError, ValueError, LookupError) as error:  # the latter of encodings
            if isinstance(error, InputError):
                raise
            line = getattr(error, "lineno", self.parser.CurrentLineNumber)
            text = expat.errors.messages.get(error.code, error) if isinstance(error, expat.ExpatError) else error
            raise FileError(f"{self.path}, line {line}: this is no XML: {str(text)[:200]}") from error
        return self.builder.close()  # type: ignore[return-value]

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth, self.count = self.depth + 1, self.count + 1
        if self.depth > _DEEPEST:
            raise self._error(f"elements are within one another more than {_DEEPEST} levels deep")
        if self.count > _MOST:
            raise self._error(f"it has more than {_MOST} elements: is it the right file?")
        node = self.builder.start(tag, attributes)
        node.path, node.line = self.path, self.parser.CurrentLineNumber  # type: ignore[attr-defined]

    def _end(self, tag: str) -> None:
        self.depth -= 1
        self.builder.end(tag)

    def _refused(self, *_: object) -> None:
        raise self._error("document types and entities are not read; leave out <!DOCTYPE ...>")

    def _error(self, what: str) -> FileError:
        return FileError(f"{self.path}, line {self.parser.CurrentLineNumber}: {what}")
