"""Pages with machines in three dimensions, which need nothing else: runs, modes, the worst runs of studies."""

from .live import Live as Live
from .live import live as live
from .page import View as View
from .views import view_machine as view_machine
from .views import view_modes as view_modes
from .views import view_run as view_run
from .views import view_study as view_study

__all__ = ["Live", "View", "live", "view_machine", "view_modes", "view_run", "view_study"]
