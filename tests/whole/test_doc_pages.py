"""The pages as they are built: formulas, links, search, and what fits on a desk and a phone. Offline, from disk."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest

from tests.viewer.conftest import browser as browser

for needed in ("sphinx", "myst_parser", "furo", "sphinx_copybutton", "math_core", "jupytext"):
    pytest.importorskip(needed, reason="the extra 'docs' is not installed")

pytestmark = [pytest.mark.slow, pytest.mark.nojit_slow]

ROOT = Path(__file__).parents[2]
TEX = re.compile(r"\$|\\[a-zA-Z]+|\\[()\[\]]")
UNREAD = ("script", "style", "pre", "code")  # the last two show source on purpose
WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}
FIND = {
    "excavator": ("plants.html", "your-own-machine.html"),
    "PID": ("motion.html", "designing-gains.html"),
    "payload": ("designing-gains.html", "trim.html"),
    "hydraulic cylinder": ("plants.html", "controller-chains.html"),
    "Jacobian": ("notation.html", "linear.html"),
    "torque limit": ("limits.html",),
    "URDF": ("urdf.html",),
    "Bode": ("python-control.html", "linear.html"),
    "friction": ("switching.html", "plants.html"),
    "singularity": ("singular-configurations.html",),
}


class Page(HTMLParser):
    """Links, anchors, what is loaded, and the text of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.anchors, self.text, self._silent = [], [], set(), [], 0
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self._silent += tag in UNREAD
        if given.get("id"):
            self.anchors.add(given["id"])
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("link", "script", "img"):
            self.loaded.append(given.get("src") or given.get("href") or "")

    def handle_endtag(self, tag):
        self._silent -= tag in UNREAD

    def handle_data(self, data):
        if not self._silent:
            self.text.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages that `CMB_SITE` has, or built now."""
    if "CMB_SITE" in os.environ:
        return Path(os.environ["CMB_SITE"])
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(ROOT / "docs"), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-3000:]
    return out


@pytest.fixture(scope="module")
def pages(site):
    return {path.relative_to(site).as_posix(): Page(path) for path in sorted(site.rglob("*.html"))}


def written(pages):
    """Pages that someone wrote, without indices and sources."""
    return {n: p for n, p in pages.items() if not n.startswith(("_modules/", "genindex", "py-modindex", "search"))}


def test_no_raw_tex_is_visible(pages):
    assert {name: TEX.findall("".join(page.text))[:3] for name, page in written(pages).items()} == {
        name: [] for name in written(pages)
    }
    assert sum(page.source.count("<math") for page in pages.values()) > 500


def test_nothing_is_loaded_from_elsewhere(pages, site):
    for name, page in pages.items():
        for address in page.loaded:
            assert not urlparse(address).netloc, f"{name} loads {address}"
    font = re.search(r'url\("([^"]+woff2)"\)', (site / "_static" / "cmbcontrol.css").read_text(encoding="utf-8"))
    assert (site / "_static" / font[1]).stat().st_size < 150_000
    assert "SIL OPEN FONT LICENSE" in (site / "_static" / "fonts" / "LICENSE").read_text(encoding="utf-8")


def test_links_lead_somewhere(pages, site):
    broken = []
    for name, page in pages.items():
        for link in page.links:
            address = urlparse(link)
            if address.scheme in ("http", "https"):
                if not re.fullmatch(r"[\w.-]+\.[a-z]{2,}", address.netloc) or " " in link:
                    broken.append(f"{name}: {link}")
                continue
            target, anchor = urldefrag(link)
            path = (site / name).parent / unquote(target) if target else site / name
            if not path.is_file():
                broken.append(f"{name}: {link}")
            elif anchor and path.suffix == ".html":
                there = pages[path.resolve().relative_to(site.resolve()).as_posix()]
                if unquote(anchor) not in there.anchors:
                    broken.append(f"{name}: {link}")
    assert broken == []


def test_every_page_has_a_way_on(pages):
    for name, page in written(pages).items():
        assert 'class="next-page"' in page.source or 'class="prev-page"' in page.source, name


def test_the_reference_leads_to_the_source_and_code_can_be_copied(pages):
    reference = [page for name, page in pages.items() if name.startswith("reference/")]
    assert sum(any("_modules/" in link for link in page.links) for page in reference) >= len(reference) - 2
    assert sum("[source]" in "".join(page.text) for page in reference) >= len(reference) - 2
    assert any("copybutton" in address for address in pages["motion.html"].loaded)


def test_names_of_other_libraries_are_links(pages):
    control = "https://python-control.readthedocs.io/"
    assert any(link.startswith(control) for link in pages["python-control.html"].links)
    assert any(link.startswith("https://docs.xarray.dev/") for link in pages["reference/simulation.html"].links)


def test_names_of_other_tools_are_not_taken_for_ours(pages):
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", pages["coming-from.html"].source, re.S)
    there, here = zip(*(re.findall(r"<td>(.*?)</td>", row, re.S) for row in rows if "<td>" in row), strict=True)
    assert not any('href="reference/' in cell for cell in there)
    assert sum('href="reference/' in cell for cell in here) > 20


def test_the_equation_map_is_linked(pages):
    page = pages["equations.html"]
    for target in ("ProjectedInverseDynamics", "Terms.P", "null_space", "NamedFormulation"):
        assert any(link.endswith(f".{target}") for link in page.links), target
    cells = re.findall(r'(<a [^>]*>)?<code class="xref py py-obj[^>]*><span class="pre">([^<]*)', page.source)
    assert len(cells) > 150
    assert [name for link, name in cells if not link] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_pages_fit(site, pages, browser, width):
    """Nothing is wider than the page. Boxes that scroll: on a phone code, tables, formulas; on a desk tables alone."""
    across = """() => [...document.querySelectorAll('.main *')].filter(e =>
        ['auto', 'scroll'].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1
        && !e.matches(ALLOWED)).map(e => e.tagName + ': ' + e.textContent.trim().slice(0, 60))"""
    allowed = "'.table-wrapper'" if width == "desktop" else "'.table-wrapper, pre, .highlight, div.math'"
    size = dict(zip(("width", "height"), WIDTHS[width], strict=True))
    context = browser.new_context(viewport=size, offline=True)
    view, wrong = context.new_page(), {}
    for name in pages:
        if name.startswith("_modules/"):
            continue
        view.goto((site / name).as_uri())
        more = view.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        found = view.evaluate(across.replace("ALLOWED", allowed))
        if more > 0 or found:
            wrong[name] = (more, found)
    context.close()
    assert wrong == {}


def test_search_from_disk(site, browser):
    context = browser.new_context(offline=True)
    view, errors = context.new_page(), []
    view.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    for term, expected in FIND.items():
        view.goto((site / "search.html").as_uri() + "?q=" + term.replace(" ", "+"))
        view.wait_for_function("document.querySelector('#search-results > p')?.textContent.match(/[0-9]/)")
        links = view.eval_on_selector_all("#search-results li a", "all => all.map(a => a.getAttribute('href'))")
        found = [link.partition("#")[0].partition("?")[0] for link in links]
        assert set(expected) <= set(found), f"{term!r} finds {found}"
    context.close()
    assert errors == []


@pytest.mark.parametrize("wish", ["reduce", "no-preference"])
def test_the_first_page_moves_unless_asked_not_to(site, browser, wish):
    context = browser.new_context(offline=True, reduced_motion=wish)
    view = context.new_page()
    view.goto((site / "index.html").as_uri())
    place = "[...document.querySelectorAll('#digging path')].map(p => getComputedStyle(p).transform).join()"
    before = view.evaluate(place)
    view.wait_for_timeout(500)
    after = view.evaluate(place)
    context.close()
    assert before.count("matrix") > 10 and (before == after) == (wish == "reduce")
