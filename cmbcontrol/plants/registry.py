"""The ready-made plants by the names of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .andrews import ENTRY as ANDREWS
from .bricard import ENTRY as BRICARD
from .entry import Entry
from .five_bar import ENTRY as FIVE_BAR
from .n_four_bar import ENTRY as N_FOUR_BAR
from .parallel_four_bar import ENTRY as PARALLEL_FOUR_BAR
from .parallelogram import ENTRY as PARALLELOGRAM
from .particle import ENTRY as PARTICLE
from .pendulum import ENTRY as PENDULUM
from .slider_crank import ENTRY as SLIDER_CRANK

__all__ = ["catalogue"]

catalogue: Mapping[str, Entry] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            FIVE_BAR,
            PENDULUM,
            PARTICLE,
            SLIDER_CRANK,
            PARALLEL_FOUR_BAR,
            PARALLELOGRAM,
            N_FOUR_BAR,
            BRICARD,
            ANDREWS,
        )
    }
)
