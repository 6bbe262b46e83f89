"""Files of XML from strangers."""

import time
import tracemalloc

import pytest

from cmbcontrol.errors import FileError, InputError
from cmbcontrol.formats.xml import read_xml


def read(tmp_path, content, root="robot"):
    file = tmp_path / "file.xml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_xml(file, root)


def test_elements_know_their_lines(tmp_path):
    root = read(tmp_path, "<?xml version='1.0'?>\n<robot>\n <link name='a'/>\n <link/>\n</robot>\n")
    first, second = root.every("link")
    assert (first.text_of("name"), first.line, second.line) == ("a", 3, 4)
    with pytest.raises(InputError, match=r"file.xml, line 4: <link> needs the attribute 'name'"):
        second.text_of("name")
    with pytest.raises(InputError, match=r"line 4: <robot> has a second <link>"):
        root.only("link")
    assert root.only("joint") is None


@pytest.mark.parametrize(
    "text, words",
    [
        ("1 2", "must have 3 numbers, and has 2"),
        ("1 2 x", "must be numbers, and has 'x'"),
        ("1 2 nan", "must be finite, and has 'nan'"),
        ("1 2 1e999", "must be finite"),
        ("", "must have 3 numbers, and has 0"),
    ],
)
def test_numbers(tmp_path, text, words):
    root = read(tmp_path, f"<robot xyz='{text}'><pose>{text}</pose></robot>")
    with pytest.raises(InputError, match=rf"line 1: 'xyz' of <robot> {words}"):
        root.numbers("xyz", 3)
    with pytest.raises(InputError, match=rf"line 1: <pose> {words}"):
        root.only("pose").own_numbers(3)


def test_numbers_that_are_right(tmp_path):
    root = read(tmp_path, "<robot xyz=' 1 -2e3\n .5 '>\n<pose>1 2</pose></robot>")
    assert root.numbers("xyz", 3) == [1.0, -2000.0, 0.5]
    assert root.numbers("rpy", 3, (0, 0, 0)) == [0, 0, 0] and root.only("pose").own_numbers(None) == [1.0, 2.0]
    with pytest.raises(InputError, match="needs the attribute 'rpy'"):
        root.numbers("rpy", 3)


BOMB = "<!DOCTYPE r [" + "".join(f"<!ENTITY e{i} '{f'&e{i - 1};' * 10 if i else 'x' * 100}'>" for i in range(12)) + "]>"


@pytest.mark.parametrize(
    "content, words",
    [
        (BOMB + "<robot>&e11;</robot>", "document types and entities are not read"),
        ("<!DOCTYPE r SYSTEM 'file:///etc/passwd'><robot/>", "document types and entities are not read"),
        ("<!DOCTYPE r [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><robot>&x;</robot>", "document types"),
        ("<robot>&x;</robot>", "this is no XML"),
        ("<robot>" * 1000, "more than 400 levels deep"),
        ("<robot>" + "<a/>" * 100_001 + "</robot>", "more than 100000 elements"),
        ("<robot><link></robot>", "this is no XML: mismatched tag"),
        ("", "this is no XML"),
        ("robot", "this is no XML"),
        (b"\xff\xfe\x00", "this is no XML"),
        (b"<?xml version='1.0' encoding='nothing'?><robot/>", "this is no XML: unknown encoding"),
        (b"<robot name='\xff'/>", "this is no XML"),
    ],
)
def test_what_is_refused(tmp_path, content, words):
    """At once, and in little memory."""
    tracemalloc.start()
    begin = time.process_time()
    with pytest.raises(FileError, match=rf"file.xml, line \d+: .*{words}"):
        read(tmp_path, content)
    assert time.process_time() - begin < 30.0 and tracemalloc.get_traced_memory()[1] < 5e8
    tracemalloc.stop()


def test_other_files(tmp_path):
    with pytest.raises(FileError, match="cannot be read: No such file"):
        read_xml(tmp_path / "none.xml", "robot")
    with pytest.raises(FileError, match="cannot be read"):
        read_xml(tmp_path, "robot")
    with pytest.raises(InputError, match="begins with <sdf>, and not with <robot>"):
        read(tmp_path, "<sdf/>")
    (tmp_path / "large.xml").write_bytes(b" " * 20_000_001)
    with pytest.raises(FileError, match="20000001 bytes"):
        read_xml(tmp_path / "large.xml", "robot")
