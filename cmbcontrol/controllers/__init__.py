"""Control laws u = f(t, terms, state), and the references they follow."""

from .closed_loop import ClosedLoop as ClosedLoop
from .closed_loop import linearize_closed_loop as linearize_closed_loop
from .closed_loop import margins as margins
from .loop_margins import LoopMargins as LoopMargins
from .loop_margins import Margins as Margins
from .on_model import OnModel as OnModel
from .projected_inverse_dynamics import ProjectedInverseDynamics as ProjectedInverseDynamics
from .protocol import ConstantEffort as ConstantEffort
from .protocol import Controller as Controller
from .references import Constant as Constant
from .references import Quintic as Quintic
from .references import Sampled as Sampled
from .references import Sine as Sine
from .resting import RestingLoop as RestingLoop
from .resting import closed_loop_equilibrium as closed_loop_equilibrium

__all__ = [
    "ClosedLoop",
    "Constant",
    "ConstantEffort",
    "Controller",
    "LoopMargins",
    "Margins",
    "OnModel",
    "ProjectedInverseDynamics",
    "Quintic",
    "RestingLoop",
    "Sampled",
    "Sine",
    "closed_loop_equilibrium",
    "linearize_closed_loop",
    "margins",
]
