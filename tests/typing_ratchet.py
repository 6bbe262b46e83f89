"""The errors that mypy finds in the package do not become more: ``python -m tests.typing_ratchet [--update]``.

`.ci/types` holds how many there may be, and the versions with which they were counted: another mypy, or other types of
numpy and xarray, count differently, and more errors are no fault of a change then. ``--update`` writes how many there
are now, where they are fewer or the versions are others. ``python -m mypy`` shows them.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALLOWED = ROOT / ".ci" / "types"
JUDGES = ("mypy", "numpy", "xarray")


def errors() -> list[str]:
    """A line for each error, with the settings of pyproject.toml."""
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if made.returncode > 1:  # mypy itself has failed
        raise SystemExit(f"mypy has failed:\n{made.stdout}{made.stderr}")
    return [line for line in made.stdout.splitlines() if ": error: " in line]


def judges() -> str:
    """What counts them, with versions."""
    return " ".join(f"{name}-{version(name)}" for name in JUDGES)


def verdict(found: list[str], allowed: int, same_judges: bool = True) -> tuple[bool, str]:
    """Whether so many errors may be, and what is to say of them."""
    if len(found) <= allowed:
        better = "; python -m tests.typing_ratchet --update lowers the number" if len(found) < allowed else ""
        return True, f"{len(found)} errors, {allowed} allowed{better}"
    files = Counter(line.split(":", 1)[0] for line in found)
    counts = "\n".join(f"{count:6}  {file}" for file, count in files.most_common())
    if not same_judges:
        return True, f"{len(found)} errors, where {allowed} were counted with other versions; --update counts anew"
    return False, f"{len(found)} errors, {allowed} allowed; python -m mypy shows the new ones, in one of\n{counts}"


def main(arguments: list[str]) -> int:
    """The exit code."""
    number, _, counted_by = ALLOWED.read_text().strip().partition(" ")
    found, same = errors(), counted_by == judges()
    good, words = verdict(found, int(number), same)
    if arguments == ["--update"] and good:
        ALLOWED.write_text(f"{len(found)} {judges()}\n")
    print(words)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
