"""A user's script with every verb runs, has no error for type checkers, and these see its mistakes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import typing_ratchet

SCRIPT = Path(__file__).with_name("user_script.py")

MISTAKES = {  # lines of a function behind the script, and what mypy says of each
    "cmb.simulate(plant, None, q0, tend=1.0, t_end=1.0)": 'Unexpected keyword argument "tend"',
    "cmb.simulate(plant, None, q0)": 'Missing named argument "t_end"',
    'cmb.simulate(plant, None, q0, t_end="1.0")': 'Argument "t_end" to "simulate" has incompatible type "str"',
    "cmb.simulat(plant)": 'Module has no attribute "simulat"',
    "cmb.studies.studdy(plant)": 'Module has no attribute "studdy"',
    "plant.bodys": '"Mechanism" has no attribute "bodys"',
    'cmb.Body("x", mass="1")': 'Argument "mass" to "Body" has incompatible type "str"',
    "cmb.Frame(p={1: 2})": 'Argument "p" to "Frame" has incompatible type "dict[int, int]"',
    "plant.bodies[0].com = (0.0, 0.0, 0.0)": 'Property "com" defined in "Body" is read-only',
    "cmb.trim(plant, q0, stabel=True)": 'Unexpected keyword argument "stabel"',
}


def checked(checker, path):
    """What a type checker says of a file, as a user has it: elsewhere, with the package installed."""
    command = [sys.executable, "-m", *checker, path.name]
    return subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False, timeout=900)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With the script, and the script with mistakes."""
    folder = tmp_path_factory.mktemp("user")
    text = SCRIPT.read_text()
    (folder / "script.py").write_text(text)
    lines = ["def mistaken(plant: cmb.Mechanism, q0: Array) -> None:", *MISTAKES]
    (folder / "mistaken.py").write_text(text + "\n    ".join(lines) + "\n")
    return folder


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_script_runs(tmp_path):
    command = [sys.executable, "-W", "error", str(SCRIPT)]
    environment = os.environ | {"MPLBACKEND": "agg"}
    made = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert made.stdout == "" and {file.suffix for file in tmp_path.iterdir()} >= {
        ".yaml",
        ".xml",
        ".nc",
        ".html",
        ".gif",
    }


@pytest.mark.slow
def test_mypy_finds_nothing_in_script(folder):
    pytest.importorskip("mypy")
    made = checked(["mypy", "--strict", "--cache-dir", "cache"], folder / "script.py")
    assert made.returncode == 0, made.stdout + made.stderr


@pytest.mark.slow
def test_mypy_sees_mistakes(folder):
    pytest.importorskip("mypy")
    made = checked(["mypy", "--strict", "--cache-dir", "cache"], folder / "mistaken.py")
    first = len(SCRIPT.read_text().splitlines()) + 2
    said = {}
    for line in made.stdout.splitlines():
        place, _, message = line.partition(": error: ")
        if message:
            said.setdefault(int(place.split(":")[1]), []).append(message)
    for number, (line, message) in enumerate(MISTAKES.items(), first):
        assert any(message in x for x in said.pop(number, [])), (line, made.stdout)
    assert not said


@pytest.mark.slow
def test_pyright_agrees(folder):
    pytest.importorskip("pyright")
    python = ["--pythonpath", sys.executable]
    made = checked(["pyright", *python], folder / "script.py")
    if "0 errors" not in made.stdout and " error" not in made.stdout:
        pytest.skip("pyright needs node, and a network where it is not there")
    assert made.returncode == 0, made.stdout
    made = checked(["pyright", *python], folder / "mistaken.py")
    first = len(SCRIPT.read_text().splitlines()) + 2
    for number, line in enumerate(MISTAKES, first):
        assert f"mistaken.py:{number}:" in made.stdout, (line, made.stdout)


def test_ratchet_holds():
    found = ["a.py:1: error: x", "a.py:2: error: x", "b.py:1: error: y"]
    assert typing_ratchet.verdict(found, 3) == (True, "3 errors, 3 allowed")
    good, words = typing_ratchet.verdict(found, 2)
    assert not good and "3 errors, 2 allowed" in words and "2  a.py" in words
    good, words = typing_ratchet.verdict(found, 4)
    assert good and "--update" in words
    assert typing_ratchet.verdict(found, 2, same_judges=False)[0]
