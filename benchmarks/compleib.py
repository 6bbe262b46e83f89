"""Fixed-order controllers of COMPl_eib: what the default search attains, beside what others did, and its time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.design.free_gain import of_compleib
from tests.linear.compleib import BEST

from .rivals.common import clock

TITLE = (
    "Static and fixed-order controllers of COMPl_eib: ratio = value over the best that others attained (of growth 1 "
    "plus what it is above, over its size); below 1 is better, s of one core"
)
COLUMNS = ("plant", "order", "measure", "others", "ratio, default", "s", "ratio, 24 starts", "s")


def rows() -> Iterable[Sequence[str]]:
    """Yield a row for each value."""
    for (name, order, measure), best in BEST.items():
        found = []
        for given in ({}, {"starts": 24}):
            problem, began = of_compleib(name, order, measure), clock()
            value = problem.solve(**given).value
            found += [f"{value:.4f}", f"{clock() - began:.1f}"]
        yield name, str(order), measure, f"{best['value']:.6g}", *found
