"""The command line: ``cmbcontrol list``, ``diagnose``, ``linearize``, ``study``, ``run``, ``export``, ...."""

import sys

from .._versions import version

__all__ = ["main"]


def main() -> None:
    """Run the command line; exit code 130 after Ctrl-C, as shells have it."""
    try:
        if sys.argv[1:] == ["--version"]:  # known without all that commands need, which takes seconds to import
            sys.stdout.write(f"cmbcontrol {version()}\n")
            return
        from .commands import run_command

        run_command()
    except KeyboardInterrupt:
        sys.exit(130)
