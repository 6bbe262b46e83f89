"""Control laws u = f(t, terms, state), and the references they follow."""

from .actuation import Actuation as Actuation
from .actuation import active_force_map as active_force_map
from .actuation import actuation as actuation
from .actuation import actuation_along as actuation_along
from .chain import Block as Block
from .chain import Chain as Chain
from .chain import EffortBlock as EffortBlock
from .chain import SensorBlock as SensorBlock
from .closed_loop import ClosedLoop as ClosedLoop
from .closed_loop import linearize_closed_loop as linearize_closed_loop
from .closed_loop import margins as margins
from .computed_torque import ComputedTorque as ComputedTorque
from .constrained_actuation import ActuationStatus as ActuationStatus
from .constrained_actuation import ConstrainedActuation as ConstrainedActuation
from .constrained_actuation import ConstrainedEffort as ConstrainedEffort
from .constraint_force_pi import ConstraintForcePI as ConstraintForcePI
from .contact_limits import Cone as Cone
from .contact_limits import Unilateral as Unilateral
from .controller import ConstantEffort as ConstantEffort
from .controller import Controller as Controller
from .controller import Drive as Drive
from .controller import Evaluation as Evaluation
from .controller import FunctionController as FunctionController
from .controller import MotionLaw as MotionLaw
from .decoupling import CrossCoupling as CrossCoupling
from .decoupling import Decoupling as Decoupling
from .decoupling import ReachableForces as ReachableForces
from .decoupling import cross_coupling as cross_coupling
from .decoupling import is_decoupled as is_decoupled
from .decoupling import reachable_forces as reachable_forces
from .delay import Delay as Delay
from .drive_friction import DriveFriction as DriveFriction
from .encoder import Encoder as Encoder
from .filtered_difference import FilteredDifference as FilteredDifference
from .first_order_actuator import FirstOrderActuator as FirstOrderActuator
from .forward_kinematics import ForwardKinematics as ForwardKinematics
from .frame_tasks import PointTask as PointTask
from .frame_tasks import PoseTask as PoseTask
from .friction_compensation import FrictionCompensation as FrictionCompensation
from .gravity_compensation import GravityPD as GravityPD
from .hybrid_motion_force import HybridMotionForce as HybridMotionForce
from .impedance import Impedance as Impedance
from .loop_margins import LoopMargins as LoopMargins
from .loop_margins import Margins as Margins
from .metrics import WeightedProjection as WeightedProjection
from .metrics import characteristic_length as characteristic_length
from .metrics import effort_metric as effort_metric
from .metrics import length_metric as length_metric
from .metrics import weighted_norm as weighted_norm
from .motion_observer import MotionObserver as MotionObserver
from .observer import ObserverFeedback as ObserverFeedback
from .observer import kalman as kalman
from .passive_joints import PassiveJoints as PassiveJoints
from .projected_inverse_dynamics import ProjectedInverseDynamics as ProjectedInverseDynamics
from .rate_limit import RateLimit as RateLimit
from .references import Constant as Constant
from .references import Quintic as Quintic
from .references import Sine as Sine
from .references import Spline as Spline
from .resting import RestingLoop as RestingLoop
from .resting import closed_loop_equilibrium as closed_loop_equilibrium
from .saturation import Saturation as Saturation
from .state_feedback import StateFeedback as StateFeedback
from .state_feedback import bryson as bryson
from .state_feedback import lqr as lqr
from .tasks import Coordinates as Coordinates
from .tasks import FunctionTask as FunctionTask
from .tasks import Posture as Posture
from .tasks import Task as Task
from .tasks import TaskMotion as TaskMotion
from .tasks import TaskStack as TaskStack
from .with_model import WithModel as WithModel

__all__ = [
    "Actuation",
    "ActuationStatus",
    "Block",
    "Chain",
    "ClosedLoop",
    "ComputedTorque",
    "Cone",
    "Constant",
    "ConstantEffort",
    "ConstrainedActuation",
    "ConstrainedEffort",
    "ConstraintForcePI",
    "Controller",
    "Coordinates",
    "CrossCoupling",
    "Decoupling",
    "Delay",
    "Drive",
    "DriveFriction",
    "EffortBlock",
    "Encoder",
    "Evaluation",
    "FilteredDifference",
    "FirstOrderActuator",
    "ForwardKinematics",
    "FrictionCompensation",
    "FunctionController",
    "FunctionTask",
    "GravityPD",
    "HybridMotionForce",
    "Impedance",
    "LoopMargins",
    "Margins",
    "MotionLaw",
    "MotionObserver",
    "ObserverFeedback",
    "PassiveJoints",
    "PointTask",
    "PoseTask",
    "Posture",
    "ProjectedInverseDynamics",
    "Quintic",
    "RateLimit",
    "ReachableForces",
    "RestingLoop",
    "Saturation",
    "SensorBlock",
    "Sine",
    "Spline",
    "StateFeedback",
    "Task",
    "TaskMotion",
    "TaskStack",
    "Unilateral",
    "WeightedProjection",
    "WithModel",
    "active_force_map",
    "actuation",
    "actuation_along",
    "bryson",
    "characteristic_length",
    "closed_loop_equilibrium",
    "cross_coupling",
    "effort_metric",
    "is_decoupled",
    "kalman",
    "length_metric",
    "linearize_closed_loop",
    "lqr",
    "margins",
    "reachable_forces",
    "weighted_norm",
]
