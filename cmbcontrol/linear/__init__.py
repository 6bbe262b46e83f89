"""Small motions: equilibria, linear models, modes, local parametrizations, export to python-control."""

from .along import LinearSequence as LinearSequence
from .along import linearize_along as linearize_along
from .bifurcation import SpecialPoint as SpecialPoint
from .continuation import EquilibriumBranch as EquilibriumBranch
from .continuation import continue_equilibria as continue_equilibria
from .linearize import affine_approximation as affine_approximation
from .linearize import linearize as linearize
from .linearize import underlying_ode as underlying_ode
from .local_form import LocalForm as LocalForm
from .model import LinearModel as LinearModel
from .model import load_linear as load_linear
from .modes import Mode as Mode
from .modes import Modes as Modes
from .modes import undamped_modes as undamped_modes
from .operating import OperatingPoint as OperatingPoint
from .operating import Residuals as Residuals
from .operating import TrimReport as TrimReport
from .operating import trim as trim
from .parametrization import CoordinatePartitioning as CoordinatePartitioning
from .parametrization import LinearParametrization as LinearParametrization
from .parametrization import NonlinearParametrization as NonlinearParametrization
from .parametrization import TangentSpace as TangentSpace
from .preload import PreloadDirections as PreloadDirections
from .preload import preload_directions as preload_directions
from .reduced import Reduced as Reduced
from .reduced import reduced_model as reduced_model
from .root_locus import RootLocus as RootLocus
from .root_locus import root_locus as root_locus
from .sampled import Hold as Hold
from .sampled import zero_order_hold as zero_order_hold
from .signals import FrameMotion as FrameMotion
from .signals import Wrench as Wrench

__all__ = [
    "CoordinatePartitioning",
    "EquilibriumBranch",
    "FrameMotion",
    "Hold",
    "LinearModel",
    "LinearParametrization",
    "LinearSequence",
    "LocalForm",
    "Mode",
    "Modes",
    "NonlinearParametrization",
    "OperatingPoint",
    "PreloadDirections",
    "Reduced",
    "Residuals",
    "RootLocus",
    "SpecialPoint",
    "TangentSpace",
    "TrimReport",
    "Wrench",
    "affine_approximation",
    "continue_equilibria",
    "linearize",
    "linearize_along",
    "load_linear",
    "preload_directions",
    "reduced_model",
    "root_locus",
    "trim",
    "undamped_modes",
    "underlying_ode",
    "zero_order_hold",
]
