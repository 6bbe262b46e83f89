"""More random machines, starts and files than the checks take: python -m tests.robustness --times 10 --seed S.

The tests marked `rotates` with so many times as many seeds, from another one than the commit's.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10, metavar="N", help="N times as many as in a run of the checks")
    parser.add_argument("--seed", default="0", help="up to seven digits to the base of 16, as of a commit")
    given, more = parser.parse_known_args()
    command = [sys.executable, "-m", "pytest", "-m", "rotates", "-n", "auto", *more]
    environment = os.environ | {"CMB_SEED": given.seed, "CMB_TIMES": str(given.times)}
    return subprocess.run(command, cwd=Path(__file__).parents[2], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
