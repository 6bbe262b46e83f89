"""Files of XML and YAML that have been spoiled, each from a seed: cut off, of wrong types, tangled, hostile.

``xml(text, seed)`` and ``yaml(text, seed)`` are bytes; the same seed makes the same file. What a reader may answer is
for the test to say: `answer` calls it and returns the machine or the error, and refuses any other way to end.
"""

import random
import re
import resource
import time
from pathlib import Path

from cmbcontrol.errors import FileError, InputError, InputTypeError, ModelError

TOLD = (FileError, InputError, InputTypeError, ModelError)
PAWN = "pwned"  # the file that code in a file would make

NUMBERS = (
    *(
        "nan",
        "NaN",
        "-nan",
        "inf",
        "-inf",
        "1e400",
        "1e308",
        "-1e308",
        "1.7976931348623157e308",
        "1e200",
        "1e30",
        "1e16",
    ),
    *(
        "1e-320",
        "5e-324",
        "1e-30",
        "0",
        "-0.0",
        "-1",
        "1",
        "2",
        "1e9",
        "-1e9",
        "0x10",
        "1_000",
        "1,5",
        "\uff11\uff12",
        "\u0663",
        ".",
        "-",
    ),
    *(
        "",
        " ",
        "abc",
        "None",
        "true",
        "1 2",
        "1 2 3",
        "1 2 3 4 5 6 7",
        "0 0 0",
        "9" * 4000,
        "1e" + "9" * 30,
        "1/0",
        "$(ls)",
    ),
)
NAMES = (
    *("", " ", "ground", "world", "__model__", "a.b", "a,b", "a::b", "x" * 5000, "../../../../etc/passwd", "/dev/zero"),
    *(
        "file:///etc/passwd",
        "package://robot/mesh.stl",
        "http://127.0.0.1:9/",
        "con",
        "\u202e",
        "\U0001f916",
        "'",
        "{0}",
    ),
    *(
        "%s%n",
        "base",
        "__import__('os').system('touch pwned')",
        "$(touch pwned)",
        "`touch pwned`",
        "nan",
        "-1",
        "\ud7ff",
    ),
)
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")


def xml(text, seed):
    """A spoiled file of XML."""
    rng = random.Random(seed)
    for _ in range(rng.choice((1, 1, 1, 1, 2, 3))):
        text = rng.choice(XML if rng.random() < 0.9 else BOTH)(text, rng)
    return raw(text, rng)


def yaml(text, seed):
    """A spoiled file of YAML."""
    rng = random.Random(seed)
    for _ in range(rng.choice((1, 1, 1, 1, 2, 3))):
        text = rng.choice(YAML)(text, rng)
    return raw(text, rng)


def raw(text, rng):
    """Bytes; now and then in another encoding, or with some of them changed."""
    way = rng.random()
    if way < 0.01:
        return text.encode("utf-16", "replace")
    if way < 0.02:
        return text.encode("latin-1", "replace")
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    if way < 0.05 and data:
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


# -- of both ----------------------------------------------------------------------------------------------------------


def cut_off(text, rng):
    return text[: rng.randrange(len(text) + 1)]


def piece_gone(text, rng):
    i = rng.randrange(len(text) + 1)
    return text[:i] + text[i + rng.choice((1, 2, 10, 100, 1000)) :]


def piece_twice(text, rng):
    i = rng.randrange(len(text) + 1)
    j = i + rng.choice((1, 5, 50, 500))
    return text[:j] + text[i:j] + text[j:]


def pieces_exchanged(text, rng):
    i, j = sorted(rng.randrange(len(text) + 1) for _ in "ab")
    n = rng.choice((3, 30, 300))
    return text[:i] + text[j : j + n] + text[i + n : j] + text[i : i + n] + text[j + n :]


def lines_shuffled(text, rng):
    lines = text.split("\n")
    i = rng.randrange(len(lines))
    some = lines[i : i + rng.randint(2, 12)]
    rng.shuffle(some)
    return "\n".join([*lines[:i], *some, *lines[i + len(some) :]])


def number_changed(text, rng):
    return replaced(text, rng, NUMBER, rng.choice(NUMBERS))


def numbers_changed(text, rng):
    for _ in range(rng.randint(2, 20)):
        text = number_changed(text, rng)
    return text


def number_scaled(text, rng):
    def scaled(match):
        return repr(float(match.group()) * rng.choice((-1.0, 1e3, 1e-3, 1e12, 1e-12, 1e100, 1e-100)))

    return replaced(text, rng, NUMBER, scaled)


def replaced(text, rng, pattern, by):
    """One of the matches of a pattern, replaced."""
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = rng.choice(found)
    return text[: match.start()] + (by(match) if callable(by) else by) + text[match.end() :]


NUMBERS_OF_IT = (number_changed, number_changed, numbers_changed, number_scaled)
BOTH = (cut_off, piece_gone, piece_twice, pieces_exchanged, lines_shuffled, *NUMBERS_OF_IT)

# -- XML --------------------------------------------------------------------------------------------------------------

VALUE = re.compile(r'(?<==")[^"]*(?=")')
INNER = re.compile(r"(?<=>)[^<>]+(?=</)")
TAG = re.compile(r"(?<=<)[a-z_]\w*")
KEY = re.compile(r"(?<=\s)[a-z_]+(?==\")")
ELEMENT = re.compile(r"<(\w+)(?:\s[^<>]*)?(?:/>|>(?:[^<]*)</\1>|>(?:(?!<\1[\s>]).)*?</\1>)", re.DOTALL)


def escaped(x):
    return x.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def value_changed(text, rng):
    by = rng.choice((rng.choice(NAMES), rng.choice(NUMBERS)))
    return replaced(text, rng, rng.choice((VALUE, INNER)), escaped(by))


def value_of_another(text, rng):
    """References to other things: circles, orphans, twins."""
    pattern = rng.choice((VALUE, INNER))
    found = pattern.findall(text)
    return replaced(text, rng, pattern, rng.choice(found)) if found else text


def tag_changed(text, rng):
    """Another tag, mostly at both ends of the element."""
    new = rng.choice((*TAG.findall(text), "x", "model", "world", "link", "joint", "include"))

    def both(match):
        return re.sub(rf"^<{match[1]}\b", f"<{new}", re.sub(rf"</{match[1]}>$", f"</{new}>", match.group()))

    return replaced(text, rng, TAG, new) if rng.random() < 0.1 else replaced(text, rng, ELEMENT, both)


def key_changed(text, rng):
    return replaced(text, rng, KEY, rng.choice((*KEY.findall(text), "x", "name", "link", "type")))


def element_gone(text, rng):
    return replaced(text, rng, ELEMENT, "")


def element_twice(text, rng):
    n = rng.choice((2, 2, 3, 50, 1000))
    return replaced(text, rng, ELEMENT, lambda match: match.group() * (n if len(match.group()) < 2000 else 2))


def element_elsewhere(text, rng):
    found = list(ELEMENT.finditer(text))
    if not found:
        return text
    one, other = rng.choice(found), rng.choice(found)
    return text[: other.start()] + one.group() + text[other.start() :]


def inserted(text, rng):
    """Something that no file needs, in some place between elements."""
    places = [match.start() for match in re.finditer("<", text)] or [0]
    at = rng.choice(places)
    return text[:at] + rng.choice(INSERTS)(rng) + text[at:]


INSERTS = (
    lambda rng: "<include><uri>model://../../../../etc/passwd</uri></include>",
    lambda rng: "<include file='/dev/zero'/>",
    lambda rng: "<xacro:include filename='/etc/passwd'/>",
    lambda rng: "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='/etc/passwd' parse='text'/>",
    lambda rng: "<plugin name='p' filename='/tmp/libpwned.so'><cmd>touch pwned</cmd></plugin>",
    lambda rng: "<?php system('touch pwned'); ?>",
    lambda rng: "<!-- " + "-" * rng.choice((1, 1000)) + " -->",
    lambda rng: "<![CDATA[" + "<" * rng.choice((1, 1000)) + "]]>",
    lambda rng: "<a>" * 5000,
    lambda rng: "<a>" * 300 + "</a>" * 300,
    lambda rng: "&lol;",
    lambda rng: "&#0;",
    lambda rng: "&#x1F916;",
    lambda rng: "\x00",
    lambda rng: "]]>",
    lambda rng: "<joint name='j' type='fixed'><parent link='a'/><child link='a'/></joint>",
    lambda rng: "<link name='lone'/>",
    lambda rng: "<mimic joint='left' multiplier='nan'/>",
    lambda rng: "<frame name='f' attached_to='f'/><frame name='g' attached_to='h'/><frame name='h' attached_to='g'/>",
    lambda rng: "<pose relative_to='__model__' degrees='maybe' rotation_format='x'>0 0 0 0 0 0 0</pose>",
    lambda rng: "<x" + "".join(f" a{i}='1'" for i in range(2000)) + "/>",
    lambda rng: "x" * 100_000,
)


def headed(text, rng):
    """Declarations before the first element: entities that grow, files that are not ours, odd encodings."""
    body = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)
    return rng.choice(HEADS) + rng.choice((body, body.replace('="', '="&z;', 1), body.replace("</", "&z;</", 1)))


LAUGHS = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghiz", strict=True))
HEADS = (
    f'<?xml version="1.0"?><!DOCTYPE robot [<!ENTITY a "ha">{LAUGHS}]>',
    f'<!DOCTYPE sdf [<!ENTITY z "{"x" * 100_000}">]>',
    '<!DOCTYPE robot [<!ENTITY z SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE robot SYSTEM "http://127.0.0.1:9/robot.dtd">',
    '<!DOCTYPE robot [<!ENTITY % p SYSTEM "file:///dev/zero"> %p;]>',
    '<!DOCTYPE robot [<!ATTLIST link name CDATA "same">]>',
    '<?xml version="1.0" encoding="utf-7"?>',
    '<?xml version="1.0" encoding="UTF-16"?>',
    '<?xml version="1.0" encoding="cp437"?>',
    '<?xml version="1.0" encoding="zip"?>',
    '<?xml version="9.0"?>',
    "\ufeff",
    "\n\n ",
    "{",
)

XML = (
    *NUMBERS_OF_IT,
    *(value_changed, value_changed, value_of_another, value_of_another, tag_changed, key_changed),
    *(element_gone, element_gone, element_twice, element_elsewhere, inserted, headed),
)

# -- YAML -------------------------------------------------------------------------------------------------------------

WORD = re.compile(r"[A-Za-z_]\w*")
SCALAR = re.compile(r"(?<=[\[,:\s])[A-Za-z0-9_.+-]+(?=[\],\n]|$)")
VALUES = (
    *("!!python/object/apply:os.system ['touch pwned']", "!!python/name:os.system", "!!binary aGk=", "!!set {a, b}"),
    *(
        "!x y",
        "&a [*a]",
        "&a [1, 1]",
        "*a",
        "<<: *a",
        "null",
        "~",
        "",
        "[]",
        "{}",
        "[[]]",
        "[{}]",
        "{a: {b: [c]}}",
        "on",
    ),
    *(
        "2020-01-01",
        "12:30:45",
        "0b11",
        "1e3",
        ".nan",
        ".inf",
        "-.INF",
        "9" * 3000,
        "0x" + "f" * 300,
        "1e999",
        "'",
        '"\\x00"',
    ),
    *(
        "[" * 200,
        "[" * 50 + "]" * 50,
        "{a: " * 100,
        "|\n  text",
        "? a\n: b",
        "--- b",
        "@",
        "%TAG",
        "\t",
        "\x00",
        "\u2028",
    ),
    *("../../../../etc/passwd", "/dev/zero", "[a, b, c]", "[1, 2]", "[true]", "[[a], b]", "x" * 10_000),
)


def scalar_changed(text, rng):
    return replaced(text, rng, SCALAR, rng.choice((*VALUES, *NUMBERS)))


def word_changed(text, rng):
    return replaced(text, rng, WORD, rng.choice((*WORD.findall(text), "x", "closed_loop", "type")))


def line_twice(text, rng):
    lines = text.split("\n")
    i = rng.randrange(len(lines))
    return "\n".join([*lines[:i], lines[i], *lines[i:]])


def line_added(text, rng):
    lines = text.split("\n")
    i = rng.randrange(len(lines) + 1)
    new = rng.choice(
        (f"extra: {rng.choice(VALUES)}", f"gravity: {rng.choice(VALUES)}", bomb(rng), "- a", "  b: 1", "%YAML 9")
    )
    return "\n".join([*lines[:i], new, *lines[i:]])


def bomb(rng):
    """Aliases of aliases."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, rng.choice((3, 12)))]
    return "\n".join(lines)


def bracket_changed(text, rng):
    return replaced(text, rng, re.compile(r"[\[\]{}:,]"), rng.choice("[]{}:,#&*!|>'\"%@`"))


YAML = (*BOTH, scalar_changed, scalar_changed, scalar_changed, word_changed, line_twice, line_added, bracket_changed)

# -- what readers may answer ------------------------------------------------------------------------------------------


# s of CPU: a limit for what grows without bounds. The largest of the good files, 30,000 geoms, takes 6 s, of which
# MuJoCo takes 3, and twice that on a busy machine; each of the others takes less than a tenth of it.
MOST = 30.0


def answer(read, path, seconds=MOST, megabytes=500.0):
    """The machine that is read, or the error that is told; anything else fails, and so do waits and much memory."""
    before, start = peak(), time.process_time()
    try:
        found = read(path)
    except TOLD as error:
        found = error
        words = str(error)
        assert 10 < len(words) < 3000, words[:3000]
    took, grown = time.process_time() - start, peak() - before
    assert took < seconds, f"{took:.1f} s"
    assert grown < megabytes, f"{grown:.0f} MB"
    assert not Path(PAWN).exists(), "code of the file ran"
    return found


def peak():
    """The most memory that this process has had, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
