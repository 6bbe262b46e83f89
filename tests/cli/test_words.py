"""Messages of the package, in the words of the command line."""

import re
from pathlib import Path

import pytest

import cmbcontrol as cmb
from cmbcontrol.cli.words import WORDS, spoken
from tests.fixtures import assert_fails, run_command

ROOT = Path(cmb.__file__).parent


@pytest.mark.parametrize("python", WORDS)
def test_each_word_is_one_that_the_package_says(python):
    """One that nobody says any more is to be taken out, and what it has become put in its place."""
    texts = [path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py") if path.name != "words.py"]
    assert any(python in text for text in texts)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("no joint 'q0'; got 'left=' and 'a=1', left = 2", "no joint 'q0'; got 'left=' and 'a=1', left = 2"),
        ("q0 leaves the loops open", "the start leaves the loops open"),
        ("the seq0 of x.q0", "the seq0 of x.q0"),
        ("keep= names run 3, runs=4", "keep names run 3, runs=4"),
    ],
)
def test_names_and_values_of_users_stay(said, told):
    assert spoken(said) == told


def test_commands_name_options(here):
    assert run_command("export", "pendulum", "--fmu", "--no-binary")[0] == 0
    assert_fails("allow it: --force", "export", "pendulum", "--fmu", "--no-binary")
    assert run_command("export", "pendulum", "--c")[0] == 0
    assert_fails("allow it: --force", "export", "pendulum", "--c")
    assert_fails("or a start (--at) near the branch", "diagnose", "five-bar", "--at", "left=2,right=2,elbow_left=3")
    flat = "bar0=0,coupler1=0,bar1=0,coupler2=0,bar2=0"
    assert_fails("see cmbcontrol diagnose", "linearize", "n-four-bar", "--at", flat, "--affine")


def test_limits_are_options(here):
    """An arm whose joint stops above its equilibrium."""
    hinge = cmb.Revolute("hinge", "ground", "rod", axis=(0, 1, 0), limits=(-1.0, 0.5))
    arm = cmb.Mechanism("arm", [cmb.Body.rod("rod", 1.0, 1.0)], [hinge], actuators=[cmb.Actuator("hinge")])
    code, _, err = run_command("linearize", arm.save("arm.yaml"), "--free")
    assert code == 1 and not re.search(r"\b[a-z_]{1,}=", err), err
    assert "--effort" in err and "--stops" in err
