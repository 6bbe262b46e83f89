"""The arm of an excavator of 20 t: three hydraulic cylinders, and four bars that turn the bucket. Invented."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import cmbcontrol as cmb

Array = NDArray[np.float64]

TIP = (1.45, 0.0, 0.0)  # in the frame of the bucket, m
JOINTS = ("boom_pin", "stick_pin", "bucket_pin")  # with encoders
ANGLE = np.deg2rad(-120.0)
BEGIN, END = np.array([7.0, -1.8, ANGLE]), np.array([4.4, -1.8, ANGLE])  # of the tip: x and y, m; of the bucket, rad
EFFORTS = {"boom": 440e3, "stick": 260e3, "bucket": 220e3}  # of the cylinders, N
CYLINDER, PIN = 8e3, 60.0  # friction of a cylinder, N s/m, and of a pin, N m s

_NEAR = {
    "boom_pin": 0.35, "stick_pin": -1.5, "bucket_pin": -0.9, "rocker_pin": 1.3, "link_pin": -1.7,
    "boom_trunnion": 1.0, "boom_cylinder": 2.4, "stick_trunnion": -0.1, "stick_cylinder": 3.3,
    "bucket_trunnion": 0.0, "bucket_cylinder": 2.3,
}  # fmt: skip


def _cylinder(name: str, parent: str, at: tuple, child: str, eye: tuple, barrel: tuple, rod: tuple) -> tuple:
    """A barrel on a trunnion, and a rod that slides in it, whose eye is pinned to the child."""
    (mass, length), (rod_mass, rod_length) = barrel, rod
    across = rod_mass * rod_length**2 / 12.0
    bodies = [
        cmb.Body.rod(f"{name}_barrel", mass=mass, length=length),
        cmb.Body(f"{name}_rod", mass=rod_mass, com=(-rod_length / 2, 0, 0), inertia=(1e-3, across, across)),
    ]
    joints = [
        cmb.Revolute(f"{name}_trunnion", parent, f"{name}_barrel", frame=cmb.Frame(at)),
        cmb.Prismatic(f"{name}_cylinder", f"{name}_barrel", f"{name}_rod", axis=(1, 0, 0), damping=CYLINDER),
    ]
    return bodies, joints, cmb.Revolute(f"{name}_eye", f"{name}_rod", child, child_frame=cmb.Frame(eye))


def arm() -> cmb.Mechanism:
    """The arm; x forward, y up, origin at the foot of the boom."""
    cylinders = [
        _cylinder("boom", "ground", (0.45, -0.55, 0), "boom", (2.35, 0.55, 0), (260, 1.7), (160, 1.6)),
        _cylinder("stick", "boom", (2.6, 1.15, 0), "stick", (-0.75, 0.25, 0), (170, 1.8), (110, 1.7)),
        _cylinder("bucket", "stick", (0.25, 0.62, 0), "rocker", (0.62, 0, 0), (110, 1.4), (70, 1.3)),
    ]
    bodies = [
        cmb.Body("boom", 1550.0, (2.75, 0.45, 0), (60, 4300, 4350)),
        cmb.Body("stick", 780.0, (0.95, 0.12, 0), (20, 720, 735)),
        cmb.Body("bucket", 700.0, (0.65, -0.25, 0), (120, 170, 190)),
        cmb.Body.rod("rocker", mass=60.0, length=0.62),
        cmb.Body.rod("link", mass=70.0, length=0.60),
    ]
    joints = [
        cmb.Revolute("boom_pin", "ground", "boom", damping=PIN),
        cmb.Revolute("stick_pin", "boom", "stick", frame=cmb.Frame((5.7, 0, 0)), damping=PIN),
        cmb.Revolute("bucket_pin", "stick", "bucket", frame=cmb.Frame((2.9, 0, 0)), damping=PIN),
        cmb.Revolute("rocker_pin", "stick", "rocker", frame=cmb.Frame((2.46, 0.02, 0)), damping=PIN),
        cmb.Revolute("link_pin", "rocker", "link", frame=cmb.Frame((0.62, 0, 0)), damping=PIN),
    ]
    end = cmb.Frame((0.60, 0, 0))
    loops = [cmb.Revolute("bucket_link", "link", "bucket", frame=end, child_frame=cmb.Frame((-0.10, 0.46, 0)))]
    for its_bodies, its_joints, eye in cylinders:
        bodies, joints, loops = [*bodies, *its_bodies], [*joints, *its_joints], [*loops, eye]
    motors = [cmb.Actuator(f"{name}_cylinder", effort=effort) for name, effort in EFFORTS.items()]
    return cmb.Mechanism("excavator", bodies, joints, loops, actuators=motors, gravity=(0.0, -9.81, 0.0))


def at(plant: cmb.Mechanism, x: float, y: float, angle: float) -> Array:
    """The configuration with the tip at a place and the bucket at an angle: it is welded there and assembled."""
    c, s = np.cos(angle), np.sin(angle)
    place = cmb.Frame((x, y, 0.0), np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))
    held = cmb.Weld("held", "ground", "bucket", frame_a=place, frame_b=cmb.Frame(TIP))
    return plant.with_loops(held).assemble(guess=_NEAR)
