"""Files of users: what they mean, and what is refused, with its line."""

import math
import time

import pytest

from cmbcontrol import _yaml
from cmbcontrol.errors import FileError, InputError


@pytest.fixture
def written(tmp_path):
    """A file with a text."""

    def write(text):
        path = tmp_path / "file.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_scalars_are_those_of_yaml_1_2(written):
    text = """
    numbers: [1, -2, +3, 0x1F, 0o17, 1e-3, 1.5E+6, .5, 5., 1e400]
    specials: [.inf, -.inf, .nan]
    truths: [true, False]
    nothing: [null, ~, ]
    texts: [on, off, yes, 12:30, 2026-11-25, "1", '2.0', 1_000, 0x, e5]
    block: |
      two
      lines
    """
    data = _yaml.read(written(text)).data
    assert data["numbers"] == [1, -2, 3, 31, 15, 1e-3, 1.5e6, 0.5, 5.0, math.inf]
    assert data["specials"][:2] == [math.inf, -math.inf] and math.isnan(data["specials"][2])
    assert data["truths"] == [True, False] and data["nothing"][:2] == [None, None]
    assert data["texts"] == ["on", "off", "yes", "12:30", "2026-11-25", "1", "2.0", "1_000", "0x", "e5"]
    assert data["block"] == "two\nlines\n"
    assert [type(x) for x in data["numbers"][:6]] == [int, int, int, int, int, float]


def test_lines_of_entries(written):
    file = _yaml.read(written("a: 1\nb:\n  c:\n    - 1\n    - {d: 2}\n"))
    assert [file.line(*keys) for keys in [("a",), ("b",), ("b", "c", 1), ("b", "c", 1, "d"), ("b", "x")]] == [
        *(1, 2, 5, 5, 2)
    ]
    with pytest.raises(InputError, match=r"file.yaml, line 5: no$"), file.at("b"), file.at("b", "c", 1):
        raise InputError("no")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\na: 2\n", r"line 2: 'a' is there twice, before in line 1"),
        ("a: &x 1\nb: *x\n", r"line 1: anchors"),
        ("a: !!python/object/apply:os.system [ls]\n", r"line 1: tags are not read, and this is .*os.system"),
        ("!!map {a: 1}", r"line 1: tags are not read"),
        ("a: [1, 2\nb: 3\n", r"line \d: this is no YAML"),
        ("? [a, b]\n: 1\n", r"line 1: a key must be a plain text"),
        ("a: 1\n---\nb: 2\n", r"line 2: it holds a second document"),
        ("", "is empty"),
        ("# nothing\n", "is empty"),
        (b"a: \xff\xfe", "is no text in UTF-8"),
        (b"a: \x00b", "is no YAML|no YAML"),
        ("[" * 100 + "]" * 100, r"nested more than 60 levels deep"),
        ("[" * 100_000, r"nest"),
        ("{a: " * 50_000, r"nest"),
    ],
)
def test_what_is_refused(written, text, said):
    begin = time.process_time()
    with pytest.raises(FileError, match=said):
        _yaml.read(written(text))
    assert time.process_time() - begin < 30.0


def test_files_that_are_not_there_or_too_large(tmp_path, written, monkeypatch):
    with pytest.raises(FileError, match="cannot be read: No such file"):
        _yaml.read(tmp_path / "none.yaml")
    with pytest.raises(FileError, match="cannot be read"):
        _yaml.read(tmp_path)
    monkeypatch.setattr(_yaml, "_LARGEST", 10)
    with pytest.raises(FileError, match="has 20 bytes, more than 10"):
        _yaml.read(written("a: " + "1" * 17))


def test_numbers_that_take_long_to_read_are_texts(written):
    begin = time.process_time()
    assert _yaml.read(written("a: " + "1" * 1_000_000)).data["a"] == math.inf
    assert time.process_time() - begin < 30.0
