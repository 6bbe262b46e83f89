"""The public names: one address each, one place in the reference each."""

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import cmbcontrol
from cmbcontrol import controllers

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PACKAGES = (
    *("", ".characteristics", ".codegen", ".controllers", ".design", ".dynamics", ".errors", ".linear"),
    *(".fmu", ".formats", ".papers", ".plants", ".plot", ".scene", ".shapes", ".viewer"),
)
MADE_BY = re.compile(r"\.\. auto(?:class|function|exception|data|module):: (cmbcontrol[\w.]*)")


def module_of(address):
    importlib.import_module(address)
    return sys.modules[address]  # a function may hide the module of the same name


def public():
    """Address and object of what the packages list."""
    for package in PACKAGES:
        module = module_of(f"cmbcontrol{package}")
        for name in module.__all__:
            thing = getattr(module, name)
            if not isinstance(thing, ModuleType):
                yield f"{module.__name__}.{name}", thing


def referenced():
    """Addresses with an entry in the reference, page by page."""
    for page in sorted(REFERENCE.glob("*.md")):
        yield from MADE_BY.findall(page.read_text(encoding="utf-8"))


def test_the_toolbox_is_small():
    names = [n for n in cmbcontrol.__all__ if not isinstance(getattr(cmbcontrol, n), ModuleType)]
    assert len(names) + len(controllers.__all__) <= 153, (  # parts of machines are the most of them
        "can the new name be a characteristic, a method, or a name of a subpackage? Else another one goes there"
    )


def test_no_class_name_is_used_twice():
    """Nobody has to ask which `State` is meant: names of classes, without those that a file keeps to itself."""
    homes: dict[str, list[str]] = {}
    for path in Path(cmbcontrol.__file__).parent.rglob("*.py"):
        for name in re.findall(r"^class ([A-Z]\w*)", path.read_text(encoding="utf-8"), re.M):
            homes.setdefault(name, []).append(path.name)
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_every_name_has_one_address():
    homes: dict[int, list[str]] = {}
    shared = {id(thing) for address, thing in public() if address.startswith("cmbcontrol.errors.")}
    for address, thing in public():
        homes.setdefault(id(thing), []).append(address)
    twice = [found for key, found in homes.items() if len(found) > 1 and key not in shared]
    assert twice == []  # the bases of errors are at the top, too: `except cmb.CmbError`


def test_every_name_is_in_the_reference_once():
    entries = list(referenced())
    assert sorted(e for e in set(entries) if entries.count(e) > 1) == []
    documented = set(entries)
    missing = [
        a for a, thing in public() if a not in documented and f"cmbcontrol.{a.rpartition('.')[2]}" not in documented
    ]
    assert missing == [], "each belongs on one page of docs/reference/"


@pytest.mark.parametrize("address", sorted(referenced()))
def test_entries_are_public_and_say_what_they_are(address):
    if address == "cmbcontrol.papers.recursions":
        return  # a module as a whole: equations of one chapter
    parent, _, name = address.rpartition(".")
    module = module_of(parent)
    assert name in module.__all__ and not any(part.startswith("_") for part in address.split("."))
    assert ".kernels" not in address
    thing = getattr(module, name)
    assert not callable(thing) or (thing.__doc__ and not thing.__doc__.startswith(f"{name}("))


def test_the_overview_lists_the_toolbox():
    text = (REFERENCE / "overview.md").read_text(encoding="utf-8")
    listed = re.findall(r"^   ([\w.]+)$", text, re.M)
    toolbox = {n for n in cmbcontrol.__all__ if not isinstance(getattr(cmbcontrol, n), ModuleType)}
    toolbox |= {f"controllers.{n}" for n in controllers.__all__}
    assert sorted(listed) == sorted(toolbox), "names of the toolbox, each once, belong into docs/reference/overview.md"


LAZY = """
import sys
import cmbcontrol as cmb
assert "matplotlib" not in sys.modules and "cmbcontrol.papers" not in sys.modules
assert {"plot", "papers"} <= set(dir(cmb))
assert callable(cmb.plot.mechanism) and cmb.papers.__name__ == "cmbcontrol.papers"
assert "matplotlib" not in sys.modules
try:
    cmb.plots
except AttributeError as error:
    assert "plots" in str(error)
else:
    raise SystemExit("there is a cmb.plots")
"""


def test_plot_and_papers_are_there_and_imported_when_they_are_used():
    subprocess.run([sys.executable, "-c", LAZY], check=True)
