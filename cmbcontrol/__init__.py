"""cmbcontrol: control engineering for robots with closed loops and other constraints."""

import importlib as _importlib
import types as _types
import typing as _typing

from . import characteristics as characteristics
from . import controllers as controllers
from . import design as design
from . import dynamics as dynamics
from . import errors as errors
from . import linear as linear
from . import plants as plants
from . import shapes as shapes
from .controllers.actuation import actuation as actuation
from .controllers.closed_loop import ClosedLoop as ClosedLoop
from .controllers.closed_loop import linearize_closed_loop as linearize_closed_loop
from .controllers.closed_loop import margins as margins
from .controllers.reach import Reach as Reach
from .controllers.references import Constant as Constant
from .controllers.references import Quintic as Quintic
from .controllers.references import Sine as Sine
from .controllers.references import Spline as Spline
from .controllers.resting import closed_loop_equilibrium as closed_loop_equilibrium
from .dynamics.acceleration import forward_dynamics as forward_dynamics
from .dynamics.forces import constraint_force as constraint_force
from .dynamics.forces import inverse_dynamics as inverse_dynamics
from .dynamics.impact import impact as impact
from .dynamics.nearest_singular import nearest_singular_configuration as nearest_singular_configuration
from .dynamics.parameter_derivatives import parameter_derivatives as parameter_derivatives
from .dynamics.reactions import reactions as reactions
from .dynamics.singular import SingularConfiguration as SingularConfiguration
from .dynamics.singular import singular_configuration as singular_configuration
from .errors import CmbError as CmbError
from .errors import CmbWarning as CmbWarning
from .errors import Interrupted as Interrupted
from .errors import Status as Status
from .linear.along import linearize_along as linearize_along
from .linear.continuation import continue_equilibria as continue_equilibria
from .linear.linearize import affine_approximation as affine_approximation
from .linear.linearize import linearize as linearize
from .linear.model import LinearModel as LinearModel
from .linear.model import load_linear as load_linear
from .linear.operating import OperatingPoint as OperatingPoint
from .linear.operating import trim as trim
from .linear.root_locus import root_locus as root_locus
from .linear.signals import FrameMotion as FrameMotion
from .linear.signals import Wrench as Wrench
from .linear.steady import steady_motion as steady_motion
from .model.contacts import Contact as Contact
from .model.elements import Actuator as Actuator
from .model.elements import Body as Body
from .model.elements import Bushing as Bushing
from .model.elements import Cam as Cam
from .model.elements import Coupling as Coupling
from .model.elements import Cylinder as Cylinder
from .model.elements import Cylindrical as Cylindrical
from .model.elements import Distance as Distance
from .model.elements import DistanceMotion as DistanceMotion
from .model.elements import Fixed as Fixed
from .model.elements import Frame as Frame
from .model.elements import Free as Free
from .model.elements import GearFriction as GearFriction
from .model.elements import Helical as Helical
from .model.elements import JointForce as JointForce
from .model.elements import JointMotion as JointMotion
from .model.elements import JointSpring as JointSpring
from .model.elements import KnifeEdge as KnifeEdge
from .model.elements import Load as Load
from .model.elements import PinFriction as PinFriction
from .model.elements import Planar as Planar
from .model.elements import Point as Point
from .model.elements import PointForce as PointForce
from .model.elements import PointMotion as PointMotion
from .model.elements import PointOnLine as PointOnLine
from .model.elements import PointOnPlane as PointOnPlane
from .model.elements import PointSpring as PointSpring
from .model.elements import PoseMotion as PoseMotion
from .model.elements import Prismatic as Prismatic
from .model.elements import Revolute as Revolute
from .model.elements import RollingBall as RollingBall
from .model.elements import SlidingFriction as SlidingFriction
from .model.elements import Spherical as Spherical
from .model.elements import Universal as Universal
from .model.elements import Weld as Weld
from .model.elements import Wheel as Wheel
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
from .sim.switching import Engage as Engage
from .sim.switching import Lock as Lock
from .sim.switching import Release as Release
from .sim.switching import Unlock as Unlock
from .trace.symbols import where_less as where_less

__version__ = "0.1.0"

__all__ = [
    "Actuator",
    "Body",
    "Bushing",
    "Cam",
    "ClosedLoop",
    "CmbError",
    "CmbWarning",
    "Constant",
    "Contact",
    "Coupling",
    "Cylinder",
    "Cylindrical",
    "Distance",
    "DistanceMotion",
    "Engage",
    "Event",
    "Fixed",
    "Frame",
    "FrameMotion",
    "Free",
    "FunctionPlant",
    "GearFriction",
    "Helical",
    "Integrator",
    "Interrupted",
    "JointForce",
    "JointMotion",
    "JointSpring",
    "KnifeEdge",
    "LinearModel",
    "Load",
    "Lock",
    "Mechanism",
    "OperatingPoint",
    "PinFriction",
    "Planar",
    "Plant",
    "Point",
    "PointForce",
    "PointMotion",
    "PointOnLine",
    "PointOnPlane",
    "PointSpring",
    "PoseMotion",
    "Prismatic",
    "Quintic",
    "Reach",
    "Release",
    "Revolute",
    "RollingBall",
    "Simulation",
    "Sine",
    "SingularConfiguration",
    "SlidingFriction",
    "Spherical",
    "Spline",
    "Stabilisation",
    "Status",
    "Stepper",
    "Terms",
    "Universal",
    "Unlock",
    "Weld",
    "Wheel",
    "Wrench",
    "actuation",
    "affine_approximation",
    "characteristics",
    "closed_loop_equilibrium",
    "codegen",
    "constraint_force",
    "continue_equilibria",
    "controllers",
    "design",
    "dynamics",
    "errors",
    "fmu",
    "formats",
    "forward_dynamics",
    "impact",
    "inverse_dynamics",
    "linear",
    "linearize",
    "linearize_along",
    "linearize_closed_loop",
    "load_linear",
    "load_run",
    "margins",
    "nearest_singular_configuration",
    "papers",
    "parameter_derivatives",
    "plants",
    "plot",
    "reactions",
    "report",
    "root_locus",
    "scene",
    "shapes",
    "simulate",
    "singular_configuration",
    "steady_motion",
    "studies",
    "trim",
    "view",
    "where_less",
]


# What takes long to import, or needs matplotlib, is imported when it is used. Type checkers take it as imported; from
# them the function is hidden, so that they see names that there are not.
if _typing.TYPE_CHECKING:
    from . import codegen as codegen
    from . import fmu as fmu
    from . import formats as formats
    from . import papers as papers
    from . import plot as plot
    from . import report as report
    from . import scene as scene
    from . import studies as studies
    from . import view as view
else:

    def __getattr__(name: str) -> _types.ModuleType:
        """What takes long to import, or needs matplotlib, is imported when it is used."""
        if name == "codegen":
            return _importlib.import_module("cmbcontrol.codegen")
        if name == "fmu":
            return _importlib.import_module("cmbcontrol.fmu")
        if name == "formats":
            return _importlib.import_module("cmbcontrol.formats")
        if name == "papers":
            return _importlib.import_module("cmbcontrol.papers")
        if name == "plot":
            return _importlib.import_module("cmbcontrol.plot")
        if name == "report":
            return _importlib.import_module("cmbcontrol.report")
        if name == "scene":
            return _importlib.import_module("cmbcontrol.scene")
        if name == "studies":
            return _importlib.import_module("cmbcontrol.studies")
        if name == "view":
            return _importlib.import_module("cmbcontrol.view")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
