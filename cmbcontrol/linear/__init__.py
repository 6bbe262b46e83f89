"""Small motions: equilibria, linear models, modes, local parametrizations, export to python-control."""

from .along import LinearSequence as LinearSequence
from .bifurcation import SpecialPoint as SpecialPoint
from .contact_rest import ContactForce as ContactForce
from .continuation import EquilibriumBranch as EquilibriumBranch
from .controllability import ModalControllability as ModalControllability
from .describing_function import describing_function as describing_function
from .linearize import underlying_ode as underlying_ode
from .local_form import LocalForm as LocalForm
from .modes import Mode as Mode
from .modes import Modes as Modes
from .modes import undamped_modes as undamped_modes
from .mu import UncertainBlock as UncertainBlock
from .mu import mu as mu
from .operating import Residuals as Residuals
from .operating import TrimReport as TrimReport
from .parametrization import CoordinatePartitioning as CoordinatePartitioning
from .parametrization import LinearParametrization as LinearParametrization
from .parametrization import NonlinearParametrization as NonlinearParametrization
from .parametrization import TangentSpace as TangentSpace
from .preload import PreloadDirections as PreloadDirections
from .preload import preload_directions as preload_directions
from .reduced import Reduced as Reduced
from .reduced import reduced_model as reduced_model
from .robust_stability import robust_stability as robust_stability
from .robust_stability import worst_case_gain as worst_case_gain
from .root_locus import RootLocus as RootLocus
from .sampled import ZeroOrderHold as ZeroOrderHold
from .sampled import zero_order_hold as zero_order_hold
from .uncertain import UncertainModel as UncertainModel
from .uncertain import uncertain_model as uncertain_model

__all__ = [
    "ContactForce",
    "CoordinatePartitioning",
    "EquilibriumBranch",
    "LinearParametrization",
    "LinearSequence",
    "LocalForm",
    "ModalControllability",
    "Mode",
    "Modes",
    "NonlinearParametrization",
    "PreloadDirections",
    "Reduced",
    "Residuals",
    "RootLocus",
    "SpecialPoint",
    "TangentSpace",
    "TrimReport",
    "UncertainBlock",
    "UncertainModel",
    "ZeroOrderHold",
    "describing_function",
    "mu",
    "preload_directions",
    "reduced_model",
    "robust_stability",
    "uncertain_model",
    "undamped_modes",
    "underlying_ode",
    "worst_case_gain",
    "zero_order_hold",
]
