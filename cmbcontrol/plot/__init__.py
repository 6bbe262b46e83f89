"""Figures of runs, models and machines: every function returns the figure and shows nothing."""

from .frequency import bode as bode
from .machine import animate as animate
from .machine import mechanism as mechanism
from .time import evidence as evidence
from .time import forces as forces
from .time import responses as responses

__all__ = ["animate", "bode", "evidence", "forces", "mechanism", "responses"]
