"""Lines and tables for terminals: no word is broken, nothing is lost."""

import re

import numpy as np
import pytest

from cmbcontrol.cli.tables import bold, described, plain, table, wrapped

WIDTHS = (40, 80, 120)


def random_words(rng, most, longest):
    return ["x" * int(n) + str(i) for i, n in enumerate(rng.integers(1, longest, int(rng.integers(1, most))))]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("seed", range(20))
def test_lines_break_between_words(width, seed):
    rng = np.random.default_rng(seed)
    words = random_words(rng, 60, 30)
    for begin in ("", "    ", "  inputs    ", "  - ", "a" * 30 + "  "):
        line = begin + " ".join(words)
        lines = wrapped(line, width)
        assert " ".join(lines).split() == line.split()
        assert all(len(text) <= width or len(text.split()) == 1 for text in lines)


def test_lines_go_on_under_their_text():
    assert wrapped("  inputs   left, right, up, down", 24) == ["  inputs   left, right,", "           up, down"]
    assert wrapped("    plain text of several words", 20) == ["    plain text of", "      several words"]
    assert wrapped("one-two " * 3, 12) == ["one-two", "  one-two", "  one-two"]  # whole, with its hyphen


def test_a_word_that_is_too_long_stays_whole():
    assert wrapped("at /a/" + "b" * 30 + " there", 20) == ["at", "  /a/" + "b" * 30, "  there"]


def test_a_line_in_bold_counts_without_its_codes():
    assert wrapped(bold("x" * 20), 20) == [bold("x" * 20)]
    assert plain(bold("plant")) == "plant"


def test_names_and_their_texts():
    rows = [("--json", "Print JSON."), ("--a-name-that-is-much-longer-than-all-others", "Its text.")]
    assert list(described(rows, 40)) == [
        "  --json  Print JSON.",
        "  --a-name-that-is-much-longer-than-all-others",
        "          Its text.",
    ]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("seed", range(40))
def test_tables_keep_each_cell(width, seed):
    """In rows where they fit, in a list else, and never beyond the terminal while a name and a cell fit into it."""
    rng = np.random.default_rng(seed)
    longest = int(rng.choice([4, 12, 30]))
    headings = [f"heading {word}" for word in random_words(rng, 12, longest)]
    rows = [[f"{'y' * int(n)}{i}.{k}" for k, n in enumerate(rng.integers(0, longest, len(headings)))] for i in range(3)]
    below = [[" ".join(random_words(rng, 30, 12))] for _ in rows]
    lines = [plain(line) for line in table(headings, rows, width, below=below, indent=int(rng.integers(0, 3)))]
    text = "\n".join(lines)
    for row in rows:
        assert all(re.search(rf"(?<!\S){re.escape(cell)}(?!\S)", text) for cell in row)
    assert all(words in " ".join(text.split()) for (words,) in below)
    assert all(len(line) <= width or len(line.split()) <= 2 for line in lines)


def test_wide_headings_are_broken_before_the_table_is():
    rows = [["a", "1.5", "2"]]
    lines = list(table(["name", "relative error of the acceleration", "microseconds"], rows, 50))
    assert [plain(line).split() for line in lines][-1] == ["a", "1.5", "2"]
    assert [plain(line) for line in lines[:3]] == [
        "name      relative  microseconds",
        "      error of the",
        "      acceleration",
    ]


def test_a_table_without_room_becomes_a_list():
    lines = [plain(line) for line in table(["measure", "largest\nrad"], [["w" * 30, "0.25"]], 36, below=[["why"]])]
    assert lines == ["w" * 30, "  largest rad  0.25", "    why"]
