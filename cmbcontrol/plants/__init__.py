"""Ready-made machines, each with its source; `catalogue` lists them by the names of the command line.

What belongs to one machine only (configurations in closed form, published constants) is in its module, for
instance ``from cmbcontrol.plants.n_four_bar import configuration``.
"""

from .andrews import andrews as andrews
from .biped import biped as biped
from .bricard import bricard as bricard
from .delta import delta as delta
from .entry import Entry as Entry
from .entry import TrackingTask as TrackingTask
from .excavator import excavator as excavator
from .five_bar import five_bar as five_bar
from .governor import governor as governor
from .grasping_arms import grasping_arms as grasping_arms
from .leg import leg as leg
from .loader import loader as loader
from .n_four_bar import n_four_bar as n_four_bar
from .parallel_four_bar import parallel_four_bar as parallel_four_bar
from .parallelogram import parallelogram as parallelogram
from .particle import particle_on_circle as particle_on_circle
from .pendulum import pendulum as pendulum
from .registry import catalogue as catalogue
from .slider_crank import slider_crank as slider_crank
from .stewart import stewart as stewart
from .three_rrr import three_rrr as three_rrr
from .two_arms import two_arms as two_arms
from .valve_train import valve_train as valve_train

__all__ = [
    "Entry",
    "TrackingTask",
    "andrews",
    "biped",
    "bricard",
    "catalogue",
    "delta",
    "excavator",
    "five_bar",
    "governor",
    "grasping_arms",
    "leg",
    "loader",
    "n_four_bar",
    "parallel_four_bar",
    "parallelogram",
    "particle_on_circle",
    "pendulum",
    "slider_crank",
    "stewart",
    "three_rrr",
    "two_arms",
    "valve_train",
]
