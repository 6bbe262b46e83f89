"""Machines in files: machine files, MJCF, URDF and SDF.

A named frame on a body (a tool, a site) is a `Body` without mass on a `Fixed` joint.
"""

from .conversion import Conversion as Conversion
from .conversion import Remark as Remark
from .conversion import Servo as Servo
from .files import read as read
from .files import write as write
from .mjcf import read_mjcf as read_mjcf
from .mjcf_writing import write_mjcf as write_mjcf
from .sdf import read_sdf as read_sdf
from .sdf_writing import write_sdf as write_sdf
from .urdf import read_urdf as read_urdf
from .urdf_writing import write_urdf as write_urdf

__all__ = [
    "Conversion",
    "Remark",
    "Servo",
    "read",
    "read_mjcf",
    "read_sdf",
    "read_urdf",
    "write",
    "write_mjcf",
    "write_sdf",
    "write_urdf",
]
