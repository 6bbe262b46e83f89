"""Fixtures that the tests of `cli` share."""

import pytest

from cmbcontrol import load_linear, plants
from cmbcontrol.cli import common, entries, linear_report, tracking_run
from cmbcontrol.plants import Entry
from cmbcontrol.reports import page
from tests.fixtures import run_command


@pytest.fixture(autouse=True, scope="module")
def compiled():
    """Nothing is said of compilation, whether this is the first test of all or not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entries._jit, "needs_compilation", lambda *kernel: False)
        patch.setattr(linear_report, "needs_compilation", lambda: False)
        yield


@pytest.fixture
def only(monkeypatch):
    """A catalogue with a single plant of the test's."""

    def install(factory, initial, study=None):
        entry = Entry("mine", factory, "a plant of the test", "nowhere", initial, study)
        monkeypatch.setattr(entries, "catalogue", {"mine": entry})
        known = {"plants": [{"name": "mine", "options": entries.options_text(entry)}], "suffixes": [".yaml"]}
        monkeypatch.setattr(common, "listed", lambda: known)

    return install


@pytest.fixture
def undrawn(monkeypatch):
    """Studies without figures, and with pictures in their reports that are empty: drawn for the five-bar."""
    monkeypatch.setattr(tracking_run, "_figures", lambda *a: [])
    monkeypatch.setattr(page, "svg", lambda figure: "")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def linearized(here):
    """Call linearize; (stdout, the model that it saved)."""

    def run(plant, *arguments):
        code, out, err = run_command("linearize", plant, "--save", "./kept.json", *arguments)
        assert (code, err) == (0, "")
        return out, load_linear(here / "kept.json", plants.catalogue[plant].start()[0])

    return run
