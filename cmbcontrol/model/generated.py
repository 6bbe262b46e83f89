"""Generated code of a machine: the rows that it keeps, and the states where it can be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..trace.code import Code, code, enabled
from .generic_rank import generic_rank
from .mechanism import Mechanism
from .terms import Terms, independent_rows

if TYPE_CHECKING:
    from .plant import Plant

__all__ = ["code_at", "code_of", "independent_rows"]

Array = NDArray[np.float64]


_TRIES = 4  # configurations of a machine at which code is looked for before it is left to the kernels


def code_at(plant: Plant, terms: Terms, cap: int) -> Code | None:
    """Generated code with rows that are independent at a state, `cap` many; None where there are not so many.

    None, too, for plants given by functions, and where code is switched off.
    """
    if not isinstance(plant, Mechanism) or terms.rank != cap or not enabled():
        return None
    rows = independent_rows(terms)
    return code(plant.arrays, rows, terms.q) if len(rows) == cap else None


def code_of(plant: Mechanism, q: Array) -> Code | None:
    """Generated code of a machine, for any state; None where it is switched off or was not found yet.

    It keeps rows that are independent at the first configuration at which as many are as anywhere nearby.
    """
    known = vars(plant).setdefault("_generated", {})
    if "code" not in known and known.get("tries", 0) < _TRIES and enabled():
        known["tries"] = known.get("tries", 0) + 1
        terms = plant.terms(q, np.zeros(plant.nv))
        found = code_at(plant, terms, generic_rank(plant, terms))
        if found is not None:
            found.reference = terms.regular_gradient
            known["code"] = found
    return known.get("code") if enabled() else None
