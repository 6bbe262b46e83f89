"""Small motions: equilibria, linear models, export to python-control."""

from .linearize import linearize as linearize
from .linearize import underlying_ode as underlying_ode
from .model import LinearModel as LinearModel
from .model import Mode as Mode
from .model import load_linear as load_linear
from .operating import OperatingPoint as OperatingPoint
from .operating import Residuals as Residuals
from .operating import trim as trim

__all__ = [
    "LinearModel",
    "Mode",
    "OperatingPoint",
    "Residuals",
    "linearize",
    "load_linear",
    "trim",
    "underlying_ode",
]
