"""Kernels that compute with symbols, from the same files as those that compute with numbers.

This package finds its modules in the folder of the real kernels. Their relative imports lead to `trace._jit`, which
compiles nothing, and `numpy` is replaced by `trace.numbers`, whose arrays hold symbols.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from .. import numbers

__path__ = [str(Path(__file__).parents[2] / "kernels")]

if TYPE_CHECKING:
    from ...kernels import (
        centroidal,
        constraint_rows,
        derivatives,
        forces,
        frames,
        friction,
        inertia,
        reduction,
        signals,
        spatial,
        tapes,
        tree,
    )
else:
    from . import (
        centroidal,
        constraint_rows,
        derivatives,
        forces,
        frames,
        friction,
        inertia,
        reduction,
        signals,
        spatial,
        tapes,
        tree,
    )

for _kernels in (
    centroidal,
    constraint_rows,
    derivatives,
    forces,
    frames,
    friction,
    inertia,
    reduction,
    signals,
    spatial,
    tapes,
    tree,
):
    vars(_kernels)["np"] = numbers
