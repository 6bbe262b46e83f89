"""The page of a report: escaped, closed, and not lost for one of its parts."""

import os

import pytest

from cmbcontrol.errors import FileError, InputError, ModelError
from cmbcontrol.reports.page import Page, Picture, Section, Table, Text, pairs

from .reading import read


def figure():
    from cmbcontrol.plot.figure import new_figure

    made = new_figure(2.0, 1.0)
    made.add_subplot().plot([0.0, 1.0])
    return made


def test_words_are_words_and_no_html(tmp_path):
    page = Page("<b>&", "a < b")
    with page.section("x <script>alert(1)</script>") as section:
        section.parts += [
            Text("1 < 2 & 3"),
            Text("line\n  <i>", plain=True),
            Text("inside", folded="<u>"),
            pairs([("<k>", "<v>")]),
            Table(("<h>",), [("<c>",)], caption="<cap>"),
            Picture.of(figure, 'a "quoted" <caption>'),
        ]
    found = read(page.save(tmp_path / "page.html")).sections["x <script>alert(1)</script>"]
    for said in (
        "1 < 2 & 3",
        "line\n  <i>",
        "inside",
        "<u>",
        "<k>",
        "<v>",
        "<h>",
        "<c>",
        "<cap>",
        'a "quoted" <caption>',
    ):
        assert said in found["text"]
    assert found["pictures"] == 1 and ["<k>", "<v>"] in found["rows"]


def test_a_part_that_cannot_be_made_says_why(tmp_path):
    page = Page("t", "s")
    with page.section("first") as section:
        section.parts.append(Text("before"))
        raise ModelError("there is no machine")
    with page.section("second") as section:
        section.parts.append(Text("after"))
    found = read(page.save(tmp_path / "page.html")).sections
    assert "before" in found["first"]["text"] and "Not shown: there is no machine" in found["first"]["text"]
    assert "after" in found["second"]["text"]


def test_programming_errors_are_not_swallowed():
    page = Page("t", "s")
    with pytest.raises(KeyError), page.section("first"):
        raise KeyError("x")


def test_sections_of_one_name_have_links_of_their_own(tmp_path):
    page = Page("t", "s")
    for _ in range(2):
        with page.section("same") as section:
            assert isinstance(section, Section)
    assert len(read(page.save(tmp_path / "page.html")).ids) == 2


def test_numbers_stand_to_the_right(tmp_path):
    page = Page("t", "s")
    with page.section("x") as section:
        section.parts.append(Table(("a", "b"), [("one", "1")], numbers=1))
    text = page.save(tmp_path / "page.html").read_text()
    assert '<td>one</td><td class="number">1</td>' in text


@pytest.mark.parametrize("name", ["page.pdf", "page", "page.html.gz"])
def test_other_suffixes_are_refused(name, tmp_path):
    with pytest.raises(InputError, match="a report is a page"):
        Page("run", "").save(tmp_path / name)


@pytest.mark.skipif(os.name != "posix", reason="folders without permissions")
def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileError):
        Page("t", "s").save(tmp_path / "nowhere" / "page.html")
