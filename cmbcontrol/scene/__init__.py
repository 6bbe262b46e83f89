"""Appearance of machines for any drawing: solids that move with bodies, joints by kind, parts that stretch."""

from .scene import Scene as Scene
from .scene import Solid as Solid
from .scene import Spot as Spot
from .scene import Stretched as Stretched
from .scene import has_look as has_look
from .scene import scene as scene

__all__ = ["Scene", "Solid", "Spot", "Stretched", "has_look", "scene"]
