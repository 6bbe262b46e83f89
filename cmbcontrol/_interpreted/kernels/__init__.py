"""Interpreted copies of the kernels, from the same files.

This package finds its modules in the folder of the real kernels. Their relative imports lead to `_interpreted._jit`,
which compiles nothing.
"""

from pathlib import Path
from typing import TYPE_CHECKING

__path__ = [str(Path(__file__).parents[2] / "kernels")]

if TYPE_CHECKING:
    from ...kernels import derivatives, linear_algebra, reduction
else:
    from . import derivatives, linear_algebra, reduction

__all__ = ["derivatives", "linear_algebra", "reduction"]
