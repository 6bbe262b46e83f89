"""Parts of a machine: bodies, joints, loop closures, springs, actuators, loads, prescribed motions.

All parts are frozen. Frames are given on bodies: ``Frame(p, R)`` is a frame at the point `p`
(metres, in the body's axes) whose axes are the columns of `R`. The ground is called ``"ground"``;
its frame is the world.
"""

from .bodies import Body, Shape, Triangles
from .cams import Cam
from .constraints import Constraint, CoordinateConstraint, Coupling, Distance, Point, PointOnLine, PointOnPlane, Weld
from .coupling_force import CouplingForce
from .cylinders import Cylinder
from .force_elements import Bushing, ForceElement, JointForce, PointForce
from .forces import Actuator, JointSpring, PointSpring, Spring
from .frames import GROUND, Frame, rotation_to
from .joints import Cylindrical, Fixed, Free, Helical, Joint, Planar, Prismatic, Revolute, Spherical, Universal
from .load_friction import DirectedFriction, FrictionOfLoad, GearFriction, PinFriction, SlidingFriction
from .loads import Load
from .motions import DistanceMotion, JointMotion, Motion, PointMotion, PoseMotion
from .part import LoopPart, MachinePart
from .rolling import KnifeEdge, RollingBall, Wheel
from .rows import FormulaRows, Row, RowOfFormula
from .shapes import Ball, Box, Mesh, Plate, Rod

__all__ = [
    "GROUND",
    "Actuator",
    "Ball",
    "Body",
    "Box",
    "Bushing",
    "Cam",
    "Constraint",
    "CoordinateConstraint",
    "Coupling",
    "CouplingForce",
    "Cylinder",
    "Cylindrical",
    "DirectedFriction",
    "Distance",
    "DistanceMotion",
    "Fixed",
    "ForceElement",
    "FormulaRows",
    "Frame",
    "Free",
    "FrictionOfLoad",
    "GearFriction",
    "Helical",
    "Joint",
    "JointForce",
    "JointMotion",
    "JointSpring",
    "KnifeEdge",
    "Load",
    "LoopPart",
    "MachinePart",
    "Mesh",
    "Motion",
    "PinFriction",
    "Planar",
    "Plate",
    "Point",
    "PointForce",
    "PointMotion",
    "PointOnLine",
    "PointOnPlane",
    "PointSpring",
    "PoseMotion",
    "Prismatic",
    "Revolute",
    "Rod",
    "RollingBall",
    "Row",
    "RowOfFormula",
    "Shape",
    "SlidingFriction",
    "Spherical",
    "Spring",
    "Triangles",
    "Universal",
    "Weld",
    "Wheel",
    "rotation_to",
]
