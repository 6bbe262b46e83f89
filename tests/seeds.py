"""Seeds of random tests: another set with each commit, so that many runs look at many machines and files.

The same commit has the same seeds everywhere; `CMB_SEED` gives others, `CMB_TIMES` so many times as many. What a seed
finds is mended and stays as a case of its own, with its reason: seeds go on, cases stay.
"""

import os
import subprocess
from pathlib import Path

STRIDE = 100_000  # seeds of one commit; those of two commits overlap by chance only


def seed_of_commit() -> int:
    """A number from `CMB_SEED`, or of what git says is checked out, or 0 where there is no git."""
    text = os.environ.get("CMB_SEED", "")
    if not text:
        git = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=7", "HEAD"]
        done = subprocess.run(git, capture_output=True, text=True)
        text = done.stdout.strip() if done.returncode == 0 else "0"
    try:
        return int(text[:7], 16)
    except ValueError:
        raise SystemExit(f"CMB_SEED must be a number to the base of 16, as of a commit; got {text!r}") from None


SEED = seed_of_commit()
os.environ["CMB_SEED"] = f"{SEED:07x}"  # processes that tests start have the same
TIMES = int(os.environ.get("CMB_TIMES", "1"))


def many(count: int) -> int:
    """How many cases a long test takes: so many, and `CMB_TIMES` as many where somebody looks further."""
    return count * TIMES


def rotating(count: int) -> range:
    """So many seeds of this commit."""
    first = SEED * STRIDE
    return range(first, first + many(count))
