"""Every module has its tests where a newcomer looks for them, and every test file has its module: tests/README.md."""

from tests.rooms import ELSEWHERE, LIBRARY, TESTS, modules, room

FREE = ("robustness", "whole")  # folders whose files are about more than a module


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
    known |= {room(path.parent.relative_to(LIBRARY).as_posix()) for path in LIBRARY.glob("*/*/__init__.py")}
    assert sorted(set(rooms()) - known) == []


def test_the_table_has_no_entries_but_those_it_needs():
    here = set(rooms())
    assert [m for m in ELSEWHERE if m not in set(modules()) or room(m) in here] == []


def test_every_folder_of_tests_is_a_package():
    """So that files of the same name in two folders are two modules."""
    assert [p for p in TESTS.rglob("test_*.py") if not (p.parent / "__init__.py").exists()] == []
