"""Controllers: laws for motion, force and limits, blocks between a law and the machine, and base classes for others."""

from .cascade import Cascade as Cascade
from .centroidal_tasks import AngularMomentum as AngularMomentum
from .centroidal_tasks import CentreOfMass as CentreOfMass
from .chain import EffortBlock as EffortBlock
from .chain import SensorBlock as SensorBlock
from .computed_torque import ComputedTorque as ComputedTorque
from .constrained_actuation import ConstrainedActuation as ConstrainedActuation
from .constraint_force_pi import ConstraintForcePI as ConstraintForcePI
from .contact_limits import Cone as Cone
from .contact_limits import Unilateral as Unilateral
from .controller import Controller as Controller
from .controller import Drive as Drive
from .controller import Evaluation as Evaluation
from .controller import FunctionController as FunctionController
from .controller import MotionLaw as MotionLaw
from .delay import Delay as Delay
from .description import law_from_dict as law_from_dict
from .description import law_to_dict as law_to_dict
from .drive_friction import DriveFriction as DriveFriction
from .electric_drive import ElectricDrive as ElectricDrive
from .encoder import Encoder as Encoder
from .filtered_difference import FilteredDifference as FilteredDifference
from .filters import Filter as Filter
from .filters import LeadLag as LeadLag
from .filters import LowPass as LowPass
from .filters import Notch as Notch
from .first_order_actuator import FirstOrderActuator as FirstOrderActuator
from .forward_kinematics import ForwardKinematics as ForwardKinematics
from .frame_tasks import PointTask as PointTask
from .frame_tasks import PoseTask as PoseTask
from .friction_compensation import FrictionCompensation as FrictionCompensation
from .gain_scheduled import GainScheduled as GainScheduled
from .gravity_compensation import GravityPD as GravityPD
from .hierarchical_inverse_dynamics import HierarchicalInverseDynamics as HierarchicalInverseDynamics
from .hybrid_motion_force import HybridMotionForce as HybridMotionForce
from .hydraulic_drive import HydraulicDrive as HydraulicDrive
from .impedance import Impedance as Impedance
from .load_observer import LoadObserver as LoadObserver
from .metrics import effort_metric as effort_metric
from .metrics import length_metric as length_metric
from .motion_observer import MotionObserver as MotionObserver
from .observer import ObserverFeedback as ObserverFeedback
from .output_feedback import OutputFeedback as OutputFeedback
from .passive_joints import PassiveJoints as PassiveJoints
from .pid import PID as PID
from .projected_inverse_dynamics import ProjectedInverseDynamics as ProjectedInverseDynamics
from .rate_limit import RateLimit as RateLimit
from .saturation import Saturation as Saturation
from .state_feedback import StateFeedback as StateFeedback
from .tasks import Coordinates as Coordinates
from .tasks import FunctionTask as FunctionTask
from .tasks import PostureTask as PostureTask
from .tasks import Task as Task
from .tasks import TaskStack as TaskStack
from .tasks import Tracking as Tracking
from .traced import compiled_law as compiled_law
from .with_model import WithModel as WithModel

__all__ = [
    "PID",
    "AngularMomentum",
    "Cascade",
    "CentreOfMass",
    "ComputedTorque",
    "Cone",
    "ConstrainedActuation",
    "ConstraintForcePI",
    "Controller",
    "Coordinates",
    "Delay",
    "Drive",
    "DriveFriction",
    "EffortBlock",
    "ElectricDrive",
    "Encoder",
    "Evaluation",
    "Filter",
    "FilteredDifference",
    "FirstOrderActuator",
    "ForwardKinematics",
    "FrictionCompensation",
    "FunctionController",
    "FunctionTask",
    "GainScheduled",
    "GravityPD",
    "HierarchicalInverseDynamics",
    "HybridMotionForce",
    "HydraulicDrive",
    "Impedance",
    "LeadLag",
    "LoadObserver",
    "LowPass",
    "MotionLaw",
    "MotionObserver",
    "Notch",
    "ObserverFeedback",
    "OutputFeedback",
    "PassiveJoints",
    "PointTask",
    "PoseTask",
    "PostureTask",
    "ProjectedInverseDynamics",
    "RateLimit",
    "Saturation",
    "SensorBlock",
    "StateFeedback",
    "Task",
    "TaskStack",
    "Tracking",
    "Unilateral",
    "WithModel",
    "compiled_law",
    "effort_metric",
    "law_from_dict",
    "law_to_dict",
    "length_metric",
]
