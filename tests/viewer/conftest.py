"""A browser without a network, and pages opened in it from the disk."""

import shutil

import pytest

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--enable-precise-memory-info"),
)
NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")  # a second one beside it does not start, and other modules import this one
def browser():
    """Chromium, where it and playwright are installed."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


class Page:
    """A page of the viewer: what tests ask it."""

    def __init__(self, page):
        self.page, self.errors = page, []
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, file):
        self.page.goto(file.as_uri())
        self.page.wait_for_function("document.documentElement.dataset.ready", timeout=60000)
        return self

    def __call__(self, expression):
        """The value of an expression of JavaScript."""
        return self.page.evaluate(expression)

    def slide(self, t):
        """Move the slider as a hand does, by an event of its element."""
        self.page.locator("input.slider").evaluate(
            f"(x) => {{ x.value = {t}; x.dispatchEvent(new Event('input', {{bubbles: true}})); }}"
        )

    def pose(self, body):
        return self(f"viewer.pose({body!r})")

    def cursors(self):
        """Times at which the cursors of the plots are, by their places on the page."""
        return self(
            "viewer.plots.panels.map((p) => p.plot.posToVal(p.cursor.getBoundingClientRect().left + 0.75"
            " - p.plot.over.getBoundingClientRect().left, 'x'))"
        )


@pytest.fixture
def opened(browser):
    """Open a file offline in a window of a size."""
    contexts = []

    def open(file, size=(1280, 760), scheme="light"):
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        contexts.append(context)
        context.set_offline(True)
        return Page(context.new_page()).open(file)

    yield open
    for context in contexts:
        context.close()
