"""cmbcontrol: control engineering for robots with closed loops and other constraints."""

from . import controllers as controllers
from . import design as design
from . import plants as plants
from .controllers.references import Constant as Constant
from .controllers.references import Quintic as Quintic
from .controllers.references import Sine as Sine
from .controllers.references import Spline as Spline
from .dynamics.acceleration import Formulation as Formulation
from .dynamics.acceleration import Gauss as Gauss
from .dynamics.acceleration import Motion as Motion
from .dynamics.acceleration import acceleration as acceleration
from .dynamics.acceleration import constrained_motion as constrained_motion
from .dynamics.acceleration import forward_dynamics as forward_dynamics
from .dynamics.derivatives import acceleration_derivatives as acceleration_derivatives
from .dynamics.derivatives import derivatives as derivatives
from .dynamics.derivatives import inverse_dynamics_derivatives as inverse_dynamics_derivatives
from .dynamics.forces import constraint_force as constraint_force
from .dynamics.forces import inverse_dynamics as inverse_dynamics
from .dynamics.impact import Impact as Impact
from .dynamics.impact import impact as impact
from .dynamics.nearest_singular import nearest_singular_configuration as nearest_singular_configuration
from .dynamics.singular import SingularConfiguration as SingularConfiguration
from .dynamics.singular import singular_configuration as singular_configuration
from .errors import ActuationError as ActuationError
from .errors import AssemblyError as AssemblyError
from .errors import BranchWarning as BranchWarning
from .errors import CmbError as CmbError
from .errors import CmbWarning as CmbWarning
from .errors import ContinuationError as ContinuationError
from .errors import DesignError as DesignError
from .errors import EquilibriumError as EquilibriumError
from .errors import EventError as EventError
from .errors import FileError as FileError
from .errors import Interrupted as Interrupted
from .errors import LimitWarning as LimitWarning
from .errors import ModelError as ModelError
from .errors import ParametrizationError as ParametrizationError
from .errors import RedundantRowsError as RedundantRowsError
from .errors import SimulationError as SimulationError
from .errors import SingularConfigurationError as SingularConfigurationError
from .errors import Status as Status
from .errors import SwitchingError as SwitchingError
from .linear import EquilibriumBranch as EquilibriumBranch
from .linear import FrameMotion as FrameMotion
from .linear import LinearModel as LinearModel
from .linear import LinearSequence as LinearSequence
from .linear import Modes as Modes
from .linear import OperatingPoint as OperatingPoint
from .linear import RootLocus as RootLocus
from .linear import Wrench as Wrench
from .linear import affine_approximation as affine_approximation
from .linear import continue_equilibria as continue_equilibria
from .linear import linearize as linearize
from .linear import linearize_along as linearize_along
from .linear import load_linear as load_linear
from .linear import preload_directions as preload_directions
from .linear import reduced_model as reduced_model
from .linear import root_locus as root_locus
from .linear import trim as trim
from .linear import underlying_ode as underlying_ode
from .model.elements import Actuator as Actuator
from .model.elements import Body as Body
from .model.elements import Coupling as Coupling
from .model.elements import Cylindrical as Cylindrical
from .model.elements import Distance as Distance
from .model.elements import Fixed as Fixed
from .model.elements import Frame as Frame
from .model.elements import Free as Free
from .model.elements import Helical as Helical
from .model.elements import JointSpring as JointSpring
from .model.elements import Planar as Planar
from .model.elements import Point as Point
from .model.elements import PointOnLine as PointOnLine
from .model.elements import PointOnPlane as PointOnPlane
from .model.elements import PointSpring as PointSpring
from .model.elements import Prismatic as Prismatic
from .model.elements import Revolute as Revolute
from .model.elements import Spherical as Spherical
from .model.elements import Universal as Universal
from .model.elements import Weld as Weld
from .model.functions import FunctionPlant as FunctionPlant
from .model.mechanism import Mechanism as Mechanism
from .model.plant import Plant as Plant
from .model.terms import Terms as Terms
from .sim.events import Event as Event
from .sim.integrator import Integrator as Integrator
from .sim.result import Simulation as Simulation
from .sim.result import load_run as load_run
from .sim.simulate import simulate as simulate
from .sim.singularities import SingularityEvent as SingularityEvent
from .sim.stabilisation import Stabilisation as Stabilisation
from .sim.stepper import Stepper as Stepper
from .sim.switching import Contact as Contact
from .sim.switching import Engage as Engage
from .sim.switching import Lock as Lock
from .sim.switching import Release as Release
from .sim.switching import Unlock as Unlock

__version__ = "0.1.0"

__all__ = [
    "ActuationError",
    "Actuator",
    "AssemblyError",
    "Body",
    "CmbError",
    "CmbWarning",
    "Constant",
    "Contact",
    "ContinuationError",
    "Coupling",
    "Cylindrical",
    "DesignError",
    "Distance",
    "Engage",
    "EquilibriumBranch",
    "EquilibriumError",
    "Event",
    "EventError",
    "FileError",
    "Fixed",
    "Formulation",
    "Frame",
    "FrameMotion",
    "Free",
    "FunctionPlant",
    "Gauss",
    "Helical",
    "Impact",
    "Integrator",
    "Interrupted",
    "JointSpring",
    "LimitWarning",
    "LinearModel",
    "LinearSequence",
    "Lock",
    "Mechanism",
    "ModelError",
    "Modes",
    "Motion",
    "OperatingPoint",
    "ParametrizationError",
    "Planar",
    "Plant",
    "Point",
    "PointOnLine",
    "PointOnPlane",
    "PointSpring",
    "Prismatic",
    "Quintic",
    "RedundantRowsError",
    "Release",
    "Revolute",
    "RootLocus",
    "Simulation",
    "SimulationError",
    "Sine",
    "SingularConfiguration",
    "SingularConfigurationError",
    "SingularityEvent",
    "Spherical",
    "Spline",
    "Stabilisation",
    "Status",
    "Stepper",
    "SwitchingError",
    "Terms",
    "Universal",
    "Unlock",
    "Weld",
    "Wrench",
    "acceleration",
    "acceleration_derivatives",
    "affine_approximation",
    "constrained_motion",
    "constraint_force",
    "continue_equilibria",
    "controllers",
    "derivatives",
    "design",
    "forward_dynamics",
    "impact",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "linearize",
    "linearize_along",
    "load_linear",
    "load_run",
    "nearest_singular_configuration",
    "plants",
    "preload_directions",
    "reduced_model",
    "root_locus",
    "simulate",
    "singular_configuration",
    "trim",
    "underlying_ode",
]
