"""The command convert."""

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants
from tests.fixtures import assert_fails, run_command


def test_a_plant_of_the_catalogue_becomes_a_file(tmp_path):
    """With its start, at which the file is met again."""
    file = tmp_path / "bar.yaml"
    code, out, err = run_command("convert", "five-bar", file)
    assert (code, err) == (0, "")
    assert out.replace("\n", "").endswith("bar.yaml (machine file), machine 'five-bar': nothing is left out")
    machine = cmb.Mechanism.load(file)
    assert np.array_equal(machine.configuration("start"), plants.catalogue["five-bar"].start()[1])
    assert run_command("convert", "n-four-bar", tmp_path / "n.urdf", "--with", "n=3")[0] == 0


def test_what_is_lost_is_told(tmp_path):
    run_command("convert", "excavator", tmp_path / "arm.yaml")
    code, out, _ = run_command("convert", tmp_path / "arm.yaml", tmp_path / "arm.sdf")
    assert code == 0 and "nothing is left out" in out and "changed: " in out
    code, out, err = run_command("diagnose", tmp_path / "arm.sdf")
    assert code == 0 and "true degrees of freedom 3" in out, err


def test_nothing_is_overwritten_unasked(tmp_path):
    file = tmp_path / "bar.yaml"
    file.write_text("mine")
    assert_fails("bar.yaml is there already; --force overwrites it", "convert", "five-bar", file)
    assert file.read_text() == "mine"
    assert run_command("convert", "five-bar", file, "--force")[0] == 0


def test_mistakes(tmp_path):
    assert_fails("ends in .yaml, ", "convert", "five-bar", tmp_path / "bar.step")
    assert_fails("five-bra", "convert", "five-bra", tmp_path / "bar.yaml")
    assert_fails("is given by functions", "convert", "particle", tmp_path / "bar.yaml")
    file = tmp_path / "a.yaml"
    run_command("convert", "five-bar", file)
    assert_fails("--with goes with the name of a plant", "convert", file, tmp_path / "b.yaml", "--with", "n=3")
