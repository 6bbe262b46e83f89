"""cmbcontrol: control engineering for robots with closed loops and other constraints."""

from . import controllers as controllers
from . import plants as plants
from .controllers.references import Constant as Constant
from .controllers.references import Quintic as Quintic
from .controllers.references import Sampled as Sampled
from .controllers.references import Sine as Sine
from .dynamics.forces import constraint_force as constraint_force
from .dynamics.forces import inverse_dynamics as inverse_dynamics
from .dynamics.formulations import acceleration as acceleration
from .dynamics.formulations import forward_dynamics as forward_dynamics
from .errors import AssemblyError as AssemblyError
from .errors import CmbError as CmbError
from .errors import ControllabilityError as ControllabilityError
from .errors import EquilibriumError as EquilibriumError
from .errors import ModelError as ModelError
from .errors import SimulationError as SimulationError
from .errors import Status as Status
from .linear import LinearModel as LinearModel
from .linear import OperatingPoint as OperatingPoint
from .linear import linearize as linearize
from .linear import load_linear as load_linear
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
from .sim.result import Simulation as Simulation
from .sim.result import load_run as load_run
from .sim.simulate import simulate as simulate

__version__ = "0.1.0"

__all__ = [
    "Actuator",
    "AssemblyError",
    "Body",
    "CmbError",
    "Constant",
    "ControllabilityError",
    "Coupling",
    "Cylindrical",
    "Distance",
    "EquilibriumError",
    "Fixed",
    "Frame",
    "Free",
    "FunctionPlant",
    "Helical",
    "JointSpring",
    "LinearModel",
    "Mechanism",
    "ModelError",
    "OperatingPoint",
    "Planar",
    "Plant",
    "Point",
    "PointOnLine",
    "PointOnPlane",
    "PointSpring",
    "Prismatic",
    "Quintic",
    "Revolute",
    "Sampled",
    "Simulation",
    "SimulationError",
    "Sine",
    "Spherical",
    "Status",
    "Terms",
    "Universal",
    "Weld",
    "acceleration",
    "constraint_force",
    "controllers",
    "forward_dynamics",
    "inverse_dynamics",
    "linearize",
    "load_linear",
    "load_run",
    "plants",
    "simulate",
    "trim",
    "underlying_ode",
]
