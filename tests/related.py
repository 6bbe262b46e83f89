"""Tests that belong to a change: python -m tests.related [--since COMMIT] [--above] [files...].

Without files, the change is what differs from a commit (the last one, unless given), and files that git does not know.
The tests of a change are those of its modules and of the modules that import these (`--above`: and of all that
import them in turn), by the rule of the house: those of `cmbcontrol/x/y.py` are in `tests/x/test_y.py`. So

    python -m pytest $(python -m tests.related)

is quick, and misses what only modules further up would tell. `.ci/run` leaves out slow tests by `--above`, which
misses nothing that an import leads to; what imports cannot tell is in the tables below.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections import defaultdict
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from tests.rooms import LIBRARY, TESTS, modules, where

TREE = Path(__file__).parents[1]

# What all rests on: where one of these changes, every test belongs to the change.
GROUND = (
    *("cmbcontrol/_*.py", "cmbcontrol/__init__.py", "cmbcontrol/errors.py"),
    *("cmbcontrol/kernels/*", "cmbcontrol/trace/*", "cmbcontrol/model/*", "cmbcontrol/sim/*"),
    *("tests/[!t]*.py", "pyproject.toml", ".ci/run"),
)
# Tests in `whole` and `robustness` are about the package; these few about a part of it, and other files.
PARTS = {
    "whole/test_doc_pages": ("docs/*", "*.md", "cmbcontrol/viewer/*", "cmbcontrol/reports/*"),
    "whole/test_equation_map": ("docs/*", "cmbcontrol/*"),
    "whole/test_pictures": ("docs/*", "*.md", "cmbcontrol/plot/*", "cmbcontrol/scene/*"),
    "robustness/test_factor_rows": ("tests/robustness/*",),
}
# Imports within functions, of what a user may ask for: what imports these modules does not depend on it.
DOORS = {
    ("sim/result", "plot"),
    ("linear/model", "plot"),
    ("_notebook", "plot"),
    ("_notebook", "viewer"),
    ("_notebook", "reports"),
    ("linear/root_locus", "plot"),
    ("studies/frequency_response", "plot"),
    ("design/mismatch", "plot"),
    ("model/plant", "linear"),
    ("model/plant", "plot"),
}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path, root: Path = LIBRARY):
    """(line, absolute dotted name, for type checkers only, on top) of all imports, those inside functions too."""
    nodes = list(ast.walk(parsed(path)))
    checked = [n for n in nodes if isinstance(n, ast.If) and ast.unparse(n.test).endswith("TYPE_CHECKING")]
    typing_only = {id(child) for node in checked for line in node.body for child in ast.walk(line)}  # not `else`
    package = ["cmbcontrol", *path.relative_to(root).parts[:-1]]
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            names = [".".join([*base, *filter(None, [node.module]), alias.name]) for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            names = [ast.literal_eval(node.args[0])] if node.args and isinstance(node.args[0], ast.Constant) else ["?"]
        else:
            continue
        for name in names:
            yield node.lineno, name, id(node) in typing_only, node.col_offset == 0


# -- the library as a graph ------------------------------------------------------------------------------------


@cache
def handed_on(package: str) -> dict[str, set[str]]:
    """The modules behind the names that a package takes from elsewhere: its `__init__.py` is a table of contents."""
    taken = (name for _, name, _, _ in imports(LIBRARY / package / "__init__.py"))
    own = "cmbcontrol." + package.replace("/", ".")  # what is neither file nor folder there is loaded in another way
    return {name.rpartition(".")[2]: meant(name) for name in taken if name.rpartition(".")[0] != own}


def meant(name: str) -> set[str]:
    """The modules that an import of this absolute name needs; all of a package where its text does not tell."""
    here, *parts = name.split(".")
    here = ""
    for part in parts:
        child = f"{here}/{part}".strip("/")
        if child in modules():
            return {child}
        if not (LIBRARY / child).is_dir():
            if here and part in handed_on(here):
                return handed_on(here)[part]
            break
        here = child
    return {module for module in modules() if module.startswith(f"{here}/" if here else "")}


@cache
def importers() -> dict[str, set[str]]:
    """Who imports a module."""
    found = defaultdict(set)
    for module, path in modules().items():
        for _, name, typing_only, _ in imports(path):
            top, _, rest = name.partition(".")
            if top == "cmbcontrol" and not typing_only and (module, rest.partition(".")[0]) not in DOORS:
                for other in meant(name):
                    found[other].add(module)
    return found


def above(changed: set[str], deep: bool) -> list[set[str]]:
    """The modules, those that import them, and (deep) so on."""
    seen, rings = set(changed), [set(changed)]
    while rings[-1] and (deep or len(rings) < 2):
        ring = {other for module in rings[-1] for other in importers().get(module, ())} - seen
        seen |= ring
        rings.append(ring)
    return rings


# -- tests of a change -----------------------------------------------------------------------------------------


def git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=TREE, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.splitlines()


def changed_since(commit: str) -> list[str]:
    """Files that differ from a commit, and those that git does not know."""
    return [*git("diff", "--name-only", commit), *git("ls-files", "--others", "--exclude-standard")]


def matches(file: str, patterns) -> bool:
    """Whether a file is one of these, or in a folder that ends in `/*`, however deep."""
    fitting = (pattern for pattern in patterns if fnmatch(file, pattern))
    return any(pattern.endswith("/*") or pattern.count("/") == file.count("/") for pattern in fitting)


def touched(files) -> set[str]:
    """The modules of changed files; a page, a C source or data are a part of all modules of their package."""
    found = set()
    for file in files:
        of_it = {name for name, path in modules().items() if path == TREE / file}
        if file.startswith("cmbcontrol/") and not file.endswith(".py"):
            for folder in Path(file).relative_to("cmbcontrol").parents:  # the nearest one that has any
                start = "" if folder == Path() else f"{folder.as_posix()}/"
                of_it = of_it or {name for name in modules() if name.startswith(start)}
        found |= of_it
    return found


def on_ground(files) -> bool:
    """Whether something changed that all rests on."""
    return any(matches(file, GROUND) for file in files)


def related(files, deep=False) -> list[str]:
    """Test files that belong to changed files, the nearest first; ["tests", "cmbcontrol"] where that is all of them."""
    if deep and on_ground(files):
        return ["tests", "cmbcontrol"]
    found = [file for file in files if fnmatch(file, "tests/*/test_*.py") and (TREE / file).exists()]
    for ring in above(touched(files), deep):
        found += sorted(f"tests/{where(module)}.py" for module in ring)
    for file in files:
        if fnmatch(file, "tests/*/*.py") and not Path(file).name.startswith("test_"):  # what a folder shares
            found += [path.relative_to(TREE).as_posix() for path in sorted((TREE / file).parent.glob("test_*.py"))]
    found += [file for file in files if fnmatch(file, "cmbcontrol/*.py") and (TREE / file).exists()]  # their examples
    for folder in ("whole", "robustness"):
        for path in sorted((TESTS / folder).glob("test_*.py")):
            name = f"{folder}/{path.stem}"
            if any(matches(file, PARTS[name]) for file in files) if name in PARTS else deep:
                found.append(f"tests/{name}.py")
    return [file for file in dict.fromkeys(found) if (TREE / file).exists()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--since", metavar="COMMIT", default="HEAD")
    parser.add_argument("--above", action="store_true", help="tests of all modules that rest on the changed ones, too")
    given = parser.parse_args()
    print("\n".join(related(given.files or changed_since(given.since), given.above)))


if __name__ == "__main__":
    sys.exit(main())
