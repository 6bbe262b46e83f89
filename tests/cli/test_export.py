"""The command export."""

import json
import zipfile
from importlib import import_module

import pytest

from cmbcontrol.cli import export
from tests.fixtures import assert_fails, run_command

codegen, fmu = import_module("cmbcontrol.codegen.export"), import_module("cmbcontrol.fmu.export")


def test_what_it_offers_is_what_there_is():
    assert tuple(codegen.FUNCTIONS) == export.FUNCTIONS and export.KINDS == fmu._KINDS
    assert f"version : {{{', '.join(map(json.dumps, export.VERSIONS))}}}" in fmu.export.__doc__


def test_it_writes_a_folder(here):
    code, out, err = run_command("export", "five-bar", "--c")
    assert (code, err) == (0, "")
    assert "five_bar_forward" in out and "written to five-bar-c: CMakeLists.txt, README.md, five_bar.c" in out
    assert {path.name for path in (here / "five-bar-c").iterdir()} == {
        *("five_bar.h", "five_bar.c", "selftest.c", "CMakeLists.txt", "README.md")
    }
    assert_fails("would be overwritten; name another folder, or allow it: --force", "export", "five-bar", "--c")
    assert run_command("export", "five-bar", "--c", "--force")[0] == 0


def test_functions_coordinates_prefix_and_folder(here):
    options = ("--functions", "terms,linear", "--coordinates", "left,right", "--prefix", "arm", "--out", "c")
    code, out, err = run_command("export", "five-bar", "--c", "--at", "left=2.1,right=1", *options)
    assert (code, err) == (0, "")
    assert "arm_terms" in out and "arm_linear" in out and "arm_forward" not in out
    assert "int arm_linear(" in (here / "c" / "arm.h").read_text()


def test_what_is_left_out_is_said(here):
    _, out, _ = run_command("export", "governor", "--c")
    assert "without inverse: 'governor' has no motor" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("slider-crank", "--c"), "functions of Python, which cannot be written as C"),
        (("five-bar",), "say what to write: --c"),
        (("five-bar", "--c", "--functions", "inverze"), "did you mean 'inverse'?"),
        (("five-baar", "--c"), "did you mean 'five-bar'?"),
    ],
)
def test_refusals_in_one_line(here, arguments, message):
    assert_fails(message, "export", *arguments)
    assert list(here.iterdir()) == []


def test_an_fmu(tmp_path):
    """Described in words; overwritten only where that is asked for."""
    file = tmp_path / "bar.fmu"
    words = "export", "five-bar", "--fmu", "--no-binary", "-o", file
    code, out, err = run_command(*words, "--at", "left=2.0,right=1.0", "--fmi", "2.0", "--kind", "CoSimulation")
    assert (code, err) == (0, "")
    assert "five-bar: FMI 2.0, CoSimulation" in out and "inputs   u.left, u.right" in out and "sources only" in out
    with zipfile.ZipFile(file) as inside:
        description = inside.read("modelDescription.xml").decode()
    assert 'fmiVersion="2.0"' in description and "<CoSimulation" in description
    assert_fails("--force", *words)
    assert run_command(*words, "--force")[0] == 0
    assert_fails("'4.0'", *words, "--force", "--fmi", "4.0")
    assert_fails("--c for C99, or --fmu", "export", "five-bar")
    assert_fails("--c for C99, or --fmu", "export", "five-bar", "--c", "--fmu")
