"""Catalogue of the ready-made plants, by the names of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .andrews import ENTRY as ANDREWS
from .biped import ENTRY as BIPED
from .bricard import ENTRY as BRICARD
from .delta import ENTRY as DELTA
from .entry import Entry
from .excavator import ENTRY as EXCAVATOR
from .five_bar import ENTRY as FIVE_BAR
from .governor import ENTRY as GOVERNOR
from .grasping_arms import ENTRY as GRASPING_ARMS
from .leg import ENTRY as LEG
from .loader import ENTRY as LOADER
from .n_four_bar import ENTRY as N_FOUR_BAR
from .parallel_four_bar import ENTRY as PARALLEL_FOUR_BAR
from .parallelogram import ENTRY as PARALLELOGRAM
from .particle import ENTRY as PARTICLE
from .pendulum import ENTRY as PENDULUM
from .slider_crank import ENTRY as SLIDER_CRANK
from .stewart import ENTRY as STEWART
from .three_rrr import ENTRY as THREE_RRR
from .two_arms import ENTRY as TWO_ARMS
from .valve_train import ENTRY as VALVE_TRAIN

__all__ = ["catalogue"]

catalogue: Mapping[str, Entry] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            FIVE_BAR,
            THREE_RRR,
            TWO_ARMS,
            GRASPING_ARMS,
            LOADER,
            EXCAVATOR,
            STEWART,
            DELTA,
            PENDULUM,
            PARTICLE,
            SLIDER_CRANK,
            PARALLEL_FOUR_BAR,
            PARALLELOGRAM,
            N_FOUR_BAR,
            BRICARD,
            ANDREWS,
            GOVERNOR,
            LEG,
            BIPED,
            VALVE_TRAIN,
        )
    }
)
