"""Every module has its tests where a newcomer looks for them, and every test file has its module: tests/README.md."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
LIBRARY = TESTS.parent / "cmbcontrol"
FREE = ("robustness", "whole")  # folders whose files are about more than a module

# module: (where it is tested, why there)
ELSEWHERE = {
    "_files": ("robustness/test_faults", "what it promises shows when disks are full and processes are killed"),
    "_interrupt": ("robustness/test_faults", "signals at any moment, in processes of their own"),
    "cli/figures": ("cli/test_linearize", "the figures that this command writes"),
    "controllers/around": ("controllers/test_with_model", "the base of WithModel and other laws around laws"),
    "kernels/arrays": ("kernels/test_split", "copies, used by every kernel"),
    "kernels/frames": ("controllers/test_tasks", "values, Jacobians and biases of tasks are its results"),
    "kernels/layout": ("model/test_compile", "records that compile.py fills"),
    "kernels/loop": (
        "whole/test_interpreted",
        "the time loop in every way that it is used",
    ),
    "kernels/record": ("sim/test_output", "the columns of a result"),
    "linear/at_rest": ("linear/test_operating", "the equations that trim solves"),
    "linear/branch": ("linear/test_iosystem", "far states that a system of python-control goes to"),
    "linear/curve": ("linear/test_continuation", "predictor and corrector of continue_equilibria"),
    "linear/kinematics": ("linear/test_signals", "frames and cut joints as outputs"),
    "model/contract": ("model/test_plant", "the base of Plant, which asks it"),
    "plants/entry": ("plants/test_registry", "what the catalogue is made of"),
    "sim/advance": ("sim/test_branching", "one choice, made for every run"),
    "sim/switching_watch": ("sim/test_switching_run", "what is watched between two changes of the loops"),
}


def modules():
    for path in LIBRARY.rglob("*.py"):
        if not path.stem.startswith("__"):
            yield path.relative_to(LIBRARY).with_suffix("").as_posix()


def room(module):
    """The test file of a module, without its suffix."""
    folder, _, name = module.rpartition("/")
    return f"{folder}/test_{name}" if folder else f"test_{name.lstrip('_')}"


def rooms():
    for path in TESTS.rglob("test_*.py"):
        name = path.relative_to(TESTS).with_suffix("").as_posix()
        if name.split("/")[0] not in FREE:
            yield name


def test_every_module_has_its_tests_where_its_name_says():
    here = {path.relative_to(TESTS).with_suffix("").as_posix() for path in TESTS.rglob("test_*.py")}
    assert [m for m in sorted(modules()) if room(m) not in here and m not in ELSEWHERE] == []
    assert [m for m, (where, _) in ELSEWHERE.items() if where not in here] == []


def test_every_test_file_has_its_module():
    known = {room(m) for m in modules()}
    known |= {f"{path.parent.name}/test_init" for path in LIBRARY.glob("*/__init__.py")}
    assert sorted(set(rooms()) - known) == []


def test_the_table_has_no_entries_but_those_it_needs():
    here = set(rooms())
    assert [m for m in ELSEWHERE if m not in set(modules()) or room(m) in here] == []


def test_every_folder_of_tests_is_a_package():
    """So that files of the same name in two folders are two modules."""
    assert [p for p in TESTS.rglob("test_*.py") if not (p.parent / "__init__.py").exists()] == []
