"""Control laws u = f(t, terms, state), and the references they follow."""

from .projected_inverse_dynamics import ProjectedInverseDynamics as ProjectedInverseDynamics
from .protocol import ConstantEffort as ConstantEffort
from .protocol import Controller as Controller
from .references import Constant as Constant
from .references import Quintic as Quintic
from .references import Sampled as Sampled
from .references import Sine as Sine

__all__ = ["Constant", "ConstantEffort", "Controller", "ProjectedInverseDynamics", "Quintic", "Sampled", "Sine"]
