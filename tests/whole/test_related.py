"""Which tests belong to a change, which seeds to a commit, and what collecting does."""

import subprocess
import sys

import pytest

from tests import put_back, related, seeds


def test_names_lead_to_the_modules_behind_them():
    assert related.meant("cmbcontrol.model.elements.Frame") == {"model/elements/frames"}
    assert related.meant("cmbcontrol.plot.poles") >= {"plot/poles"}
    assert related.meant("cmbcontrol.kernels.split.factor_rows") == {"kernels/split"}
    whole = related.meant("cmbcontrol.controllers")
    assert "controllers/impedance" in whole and "controllers/description" in whole and "sim/run" not in whole


def test_a_leaf_brings_its_own_tests_and_those_of_its_users():
    found = related.related(["cmbcontrol/fmu/description.py"])
    assert found[0] == "tests/fmu/test_description.py" and "tests/fmu/test_export.py" in found
    assert "tests/cli/test_export.py" in found  # imports it within a function
    assert not any(file.startswith("tests/papers") for file in found)


def test_all_above_is_more_and_never_less():
    for file in ("cmbcontrol/plot/poles.py", "cmbcontrol/linear/modes.py", "cmbcontrol/controllers/impedance.py"):
        near, far = set(related.related([file])), set(related.related([file], deep=True))
        assert near < far and "tests/robustness/test_random_machines.py" in far


def test_a_change_that_laws_rest_on_brings_the_laws_and_the_runs_under_them():
    found = related.related(["cmbcontrol/controllers/tasks.py"], deep=True)
    assert {"tests/controllers/test_projected_inverse_dynamics.py", "tests/sim/test_simulate.py"} <= set(found)


@pytest.mark.parametrize(
    "file", ["cmbcontrol/kernels/split.py", "cmbcontrol/_check.py", "tests/fixtures.py", "pyproject.toml", ".ci/run"]
)
def test_what_all_rests_on_brings_everything(file):
    assert related.related([file, "docs/design.md"], deep=True) == ["tests", "cmbcontrol"]


def test_pages_bring_the_tests_of_pages():
    found = related.related(["docs/trim.md"])
    assert "tests/whole/test_doc_pages.py" in found and "tests/whole/test_pictures.py" in found
    assert not any(file.startswith("tests/model") for file in found)


def test_helpers_of_a_folder_bring_the_folder():
    assert "tests/fmu/test_law.py" in related.related(["tests/fmu/conftest.py"])


def test_every_part_and_door_is_there():
    for name in related.PARTS:
        assert (related.TESTS / f"{name}.py").exists(), name
    for module, package in related.DOORS:
        assert module in related.modules() and (related.LIBRARY / package).is_dir()


def test_a_commit_has_its_seeds(monkeypatch):
    monkeypatch.setenv("CMB_SEED", "1a2b3c4d5e")
    assert seeds.seed_of_commit() == 0x1A2B3C4
    monkeypatch.setenv("CMB_SEED", "seven")
    with pytest.raises(SystemExit, match="base of 16"):
        seeds.seed_of_commit()
    drawn = seeds.rotating(300)
    assert len(drawn) == 300 * seeds.TIMES and drawn[0] == seeds.SEED * seeds.STRIDE


@pytest.mark.slow
@pytest.mark.parametrize("fault", put_back.FAULTS, ids=lambda fault: fault.name)
def test_the_checks_of_a_change_hold_what_catches_a_fault_of_the_past_in_it(fault):
    """`.ci/run` runs all quick tests, interpreted those below, and of the slow ones those of the change."""
    assert not put_back.unfit(fault)
    file = fault.test.partition("::")[0]
    if "interpreted" in fault.mode:
        assert file.startswith(("tests/kernels/", "tests/trace/", "tests/whole/test_interpreted.py"))
    if "slow" in fault.mode:
        found = related.related([fault.file], deep=True)
        assert "tests" in found or file in found


@pytest.mark.slow
def test_the_tests_can_be_collected_where_the_outside_judges_are_missing():
    """As in the environment of the README; and no kernel runs meanwhile, which `conftest.py` refuses."""
    command = [sys.executable, "-m", "pytest", "--bare", "--collect-only", "-qq", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=related.TREE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
