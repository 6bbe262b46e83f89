"""Pins of the tree whose force is a multiplier, as friction in proportion to that force needs."""

from __future__ import annotations

from dataclasses import replace

from .. import _check
from ..errors import ModelError
from .elements import Body, Coupling, Frame, Prismatic, Revolute, rotation_to
from .mechanism import Mechanism

__all__ = ["with_pin_forces"]


def with_pin_forces(plant: Mechanism, *names: str) -> Mechanism:
    """Machine whose pins are held by rows; see `Mechanism.with_pin_forces`."""
    joints = {joint.name: joint for joint in plant.joints}
    bodies, rails, couplings = [], [], []
    for name in names:
        joint = joints[_check.one_of(name, joints, "joint of the tree")]
        if not isinstance(joint, Revolute):
            raise ModelError(f"a pin is a Revolute joint, and {name!r} is a {type(joint).__name__}; name another joint")
        parent, frame, turn = joint.parent, joint.frame, rotation_to(joint.axis)
        for label, axis in zip("xy", turn.T, strict=False):
            held = f"{name}_pin_{label}"
            bodies.append(Body(f"{held}_carrier"))
            rails.append(Prismatic(held, parent, f"{held}_carrier", frame=frame, axis=axis))
            couplings.append(Coupling(f"{held}_held", {held: 1.0}))
            parent, frame = f"{held}_carrier", Frame()
        joints[name] = replace(joint, parent=parent, frame=frame)
    return plant.with_parts(
        bodies=[*plant.bodies, *bodies], joints=[*joints.values(), *rails], loops=[*plant.loops, *couplings]
    )
