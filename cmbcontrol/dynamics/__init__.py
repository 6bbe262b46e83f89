"""Dynamics at a state: accelerations, constraint forces, motor efforts, and their derivatives."""

from ..model.parameters import Parameter as Parameter
from ..model.parameters import parameters as parameters
from .acceleration import ConstrainedMotion as ConstrainedMotion
from .acceleration import Formulation as Formulation
from .acceleration import Gauss as Gauss
from .acceleration import acceleration as acceleration
from .acceleration import constrained_motion as constrained_motion
from .derivatives import acceleration_derivatives as acceleration_derivatives
from .derivatives import derivatives as derivatives
from .derivatives import inverse_dynamics_derivatives as inverse_dynamics_derivatives
from .impact import Impact as Impact
from .parameter_derivatives import ParameterDerivatives as ParameterDerivatives

__all__ = [
    "ConstrainedMotion",
    "Formulation",
    "Gauss",
    "Impact",
    "Parameter",
    "ParameterDerivatives",
    "acceleration",
    "acceleration_derivatives",
    "constrained_motion",
    "derivatives",
    "inverse_dynamics_derivatives",
    "parameters",
]
