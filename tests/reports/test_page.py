"""The page of a report: escaped, closed, and not lost for one of its parts."""

import base64
import io
import os
import re
import shutil
import subprocess

import numpy as np
import pytest
from PIL import Image

from cmbcontrol.errors import FileError, InputError, ModelError
from cmbcontrol.reports.page import Page, Picture, Section, Table, Text, pairs

from ..viewer.conftest import browser as browser
from .reading import SVG, read


def figure():
    from cmbcontrol.plot.figure import new_figure
    from cmbcontrol.plot.style import dress

    made = new_figure(7.0, 3.0)
    dress(ax := made.add_subplot(), "signal (rad)")
    ax.plot([0.0, 1.0])
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


def test_rows_that_must_not_be_missed(tmp_path):
    page = Page("t", "s")
    with page.section("x") as section:
        section.parts.append(pairs([("failed", "why"), ("cost", "much")], alarms=("failed",)))
    text = page.save(tmp_path / "page.html").read_text()
    assert text.count('<tr class="alarm">') == 1 and '<tr class="alarm"><th scope="row">failed</th>' in text


def pictures(text):
    """The SVG texts of a page, of each picture that for phones and the other one."""
    return [base64.b64decode(data).decode() for data in re.findall(re.escape(SVG) + '([^"]+)', text)]


def letters(text):
    """Sizes of the letters of an SVG picture of matplotlib, px at its natural width, without exponents."""
    return [100.0 * float(x) * 96.0 / 72.0 for x in re.findall(r"scale\((0\.\d+) -0\.\d+\)", text)]


def test_pictures_have_no_colour_of_their_own_for_what_is_neutral(tmp_path):
    page = Page("t", "s")
    with page.section("x") as section:
        section.parts.append(Picture.of(figure, "caption"))
    small, wide = pictures(page.save(tmp_path / "page.html").read_text())
    for text in (small, wide):
        painted = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", text))
        assert not painted & {"#000000", "#222222", "#ffffff", "#e4e4e4"} and "<metadata>" not in text
        used = set(re.findall(r"var\((--c[0-9a-f]{6})\)", text))
        for scheme in text.split("@media (prefers-color-scheme: dark)", 1):
            assert all(f"{name}:#" in scheme.partition("</style>")[0] for name in used)
    width = [float(re.search(r'<svg [^>]*?width="([\d.]+)pt"', text)[1]) / 72.0 for text in (small, wide)]
    assert width[0] < 3.66 and width[1] == pytest.approx(7.0)


@pytest.fixture(scope="module")
def long_page(tmp_path_factory):
    """A page of several sheets, with all kinds of parts."""
    page = Page("A title", "and what it is")
    for k in range(9):
        with page.section(f"Section {k}") as section:
            rows = [(f"name {i}", "some words " * 12, str(i)) for i in range(4 + 5 * k)]
            section.parts.append(Text(f"Before a table, in section {k}:"))
            section.parts.append(Table(("what", "told", "number"), rows, numbers=1, caption=f"caption {k}"))
            section.parts.append(Picture.of(figure, f"picture {k}"))
            section.parts.append(Text(f"plain {k} " + "x " * 200 + f"end{k}", plain=True))
            section.parts.append(Text("inside", folded=f"folded {k}"))
    with page.section("In motion") as section:
        section.parts.append(Picture("<iframe title='moves'></iframe>", live=True))
    with page.section("The end") as section:
        section.parts.append(Text("last words"))
    return page.save(tmp_path_factory.mktemp("long") / "page.html")


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_fit_are_readable_and_follow_the_page(browser, long_page, width, scheme):
    """Nothing to scroll sideways, letters of nine pixels, and the ground of the page on light and dark screens."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    tab = context.new_page()
    tab.goto(long_page.as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    ratios = tab.evaluate("[...document.images].map((x) => [x.currentSrc, x.clientWidth / x.naturalWidth])")
    assert len(ratios) == 9
    for source, ratio in ratios:
        text = base64.b64decode(source.removeprefix(SVG)).decode()
        assert min(letters(text)) * ratio >= 9.0
    shot = tab.locator("figure img").first.screenshot()
    image = np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).reshape(-1, 3)
    colors, counts = np.unique(image, axis=0, return_counts=True)
    assert colors[counts.argmax()].tolist() == ([255, 255, 255] if scheme == "light" else [0x17, 0x19, 0x1C])
    darkest, lightest = image.sum(axis=1).min() / 3.0, image.sum(axis=1).max() / 3.0
    assert (darkest < 60.0) if scheme == "light" else (lightest > 200.0)  # letters are seen
    context.close()


def test_sheets_of_paper(browser, long_page, tmp_path):
    """No heading is the last of a sheet, no row and no line is cut, nothing is there for what moves; paper is light."""
    if shutil.which("pdftotext") is None or shutil.which("pdftoppm") is None:
        pytest.skip("no poppler is installed, which reads PDF")
    context = browser.new_context(color_scheme="dark")
    tab = context.new_page()
    tab.goto(long_page.as_uri())
    tab.pdf(path=str(tmp_path / "page.pdf"), format="A4", print_background=True)
    context.close()
    read = subprocess.run(["pdftotext", "-layout", "page.pdf", "-"], cwd=tmp_path, capture_output=True, text=True)
    text = read.stdout
    sheets = [[line.strip() for line in sheet.splitlines() if line.strip()] for sheet in text.split("\f")]
    sheets = [sheet for sheet in sheets if sheet]
    assert len(sheets) > 3
    for sheet in sheets:
        assert not re.match(r"Section|Before a table|caption|what +told", sheet[-1]), sheet[-3:]
    assert "In motion" not in text and "folded" not in text and "The end" in text
    assert all(f"end{k}" in text for k in range(9))  # the ends of long plain lines
    assert len(re.findall(r"\bwords\b", text)) == 12 * sum(4 + 5 * k for k in range(9)) + 1
    subprocess.run(["pdftoppm", "-r", "40", "-png", "page.pdf", "sheet"], cwd=tmp_path, check=True)
    for sheet in tmp_path.glob("sheet*.png"):
        image = np.asarray(Image.open(sheet).convert("L"))
        assert np.median(image) == 255 and (image[:, -12:] == 255).all()
