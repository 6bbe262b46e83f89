"""The command view."""

import cmbcontrol as cmb
from cmbcontrol import plants
from tests.fixtures import assert_fails, run_command

STUDY = """
machine: five-bar
start: {left: 2.1, right: 1.0}
run: {t_end: 0.1}
vary:
  left_lower_scale: {low: 0.9, high: 1.1, unit: "1"}
runs: 3
measures: {conditioning: worst_conditioning}
"""


def test_a_run(here):
    plant = plants.five_bar()
    cmb.simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.1).save(here / "run.nc")
    code, out, err = run_command("view", "run.nc")
    assert (code, err) == (0, "") and out.startswith("written run.html (0.")
    assert "<title>five-bar</title>" in (here / "run.html").read_text(encoding="utf-8")
    assert_fails("run.html is there already; --force overwrites it", "view", "run.nc")
    assert run_command("view", "run.nc", "--force")[0] == 0
    assert run_command("view", ".", "--out", "other.html")[0] == 0  # a folder with a run
    assert (here / "other.html").exists()


def test_a_machine(here):
    assert run_command("view", "n-four-bar", "--with", "n=3", "-o", "n.html")[0] == 0
    run_command("convert", "five-bar", "bar.yaml")
    assert run_command("view", "bar.yaml", "--at", "left=2,right=1")[0] == 0
    run_command("convert", "five-bar", "bar.json")
    assert run_command("view", "bar.json", "-o", "json.html")[0] == 0
    assert "<title>five-bar</title>" in (here / "json.html").read_text(encoding="utf-8")


def test_a_linear_model(here):
    plant = plants.five_bar()
    point = cmb.trim(plant, plant.assemble(left=2.1, right=1.0))
    cmb.linearize(plant, point, coordinates=("left", "right")).save(here / "lin.json")
    assert run_command("view", "lin.json")[0] == 0 and (here / "lin.html").exists()


def test_a_study(here):
    (here / "masses.yaml").write_text(STUDY)
    assert_fails("the study has not been run to its end: cmbcontrol run masses.yaml", "view", "masses.yaml")
    assert run_command("run", "masses.yaml")[0] == 0
    code, _, err = run_command("view", "masses.yaml")
    assert (code, err) == (0, "")
    assert "<title>five-bar, worst conditioning</title>" in (here / "masses.html").read_text(encoding="utf-8")
    assert run_command("view", "masses-runs", "--worst", "2", "-m", "conditioning")[0] == 0
    assert_fails("measure", "view", "masses.yaml", "-m", "speed", "--force")


def test_what_cannot_be_seen(here):
    (here / "empty").mkdir()
    (here / "notes.txt").write_text("x")
    assert_fails("is a folder without a run (run.nc) and without a study", "view", "empty")
    assert_fails("view shows runs (.nc)", "view", "notes.txt")
    assert_fails("gone.nc cannot be read: No such file", "view", "gone.nc")
    assert_fails("--measure and --worst go with a study", "view", "five-bar", "-m", "speed")
    assert_fails("there is no plant 'six-bar'", "view", "six-bar")
