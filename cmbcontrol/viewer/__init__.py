"""Pages with machines in three dimensions, which need nothing else: `cmbcontrol.view` makes them."""

from .live import Live as Live
from .live import live as live
from .page import View as View

__all__ = ["Live", "View", "live"]
