"""Words of the command line for those of Python, in messages of the package: options for arguments and methods."""

from __future__ import annotations

import re

__all__ = ["WORDS", "spoken"]

# What messages say to those who write Python, and what stands for it here. First come first.
WORDS = {
    "overwrite=True": "--force",
    "binary=False": "--no-binary",
    "stable=True": "--stable",
    "with limits='hold'": "with --stops",
    "limits= out": "limits out",
    "Widen limits=": "Widen the limits in the file",
    "give efforts u=": "give efforts (--effort)",
    "guess=": "start (--at)",
    "see plant.diagnose(q)": "see cmbcontrol diagnose",
    "plant.diagnose(q0) lists": "cmbcontrol diagnose lists",
    "or use assemble()": "or give other joints (--at)",
    "Use trim(plant, q), or affine_approximation.": "--free lets it go, --affine takes it as it stands.",
    "q0": "the start",
    "the same call with folder=": "the same command with --out ",
    "workers=": "--workers ",
    "functions must": "--functions must",
}
_ARGUMENT = re.compile(r"(?<!['\w])([a-z_]{2,})=(?=[ ,;.)]|$)")  # `runs= is needed`: a key of the file


def spoken(message: str) -> str:
    """Message in the words of the command line.

    Examples
    --------
    >>> spoken("c would be overwritten; allow it: overwrite=True"), spoken("runs= is needed")
    ('c would be overwritten; allow it: --force', 'runs is needed')
    """
    for python, ours in WORDS.items():
        message = re.sub(rf"(?<![\w.']){re.escape(python)}", ours, message)
    return _ARGUMENT.sub(r"\1", message)
