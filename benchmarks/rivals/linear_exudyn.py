"""Linear models of the planar machines from Exudyn's eigenvalue computation."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from . import planar
from .planar import GROUND, TURN, Array, Machine
from .with_exudyn import _exudyn

SETTINGS = {
    "model": "one ObjectKinematicTree (slides and hinges, joint springs as its PD control), cuts with "
    "ObjectJointSpherical in the plane; all at the equilibrium",
    "joints": "ComputeODE2Eigenvalues(computeComplexEigenvalues=True): stiffness of the tree, projected on the null "
    "space of the constraint Jacobian",
    "springs": "the cuts as CartesianSpringDamper of 1e5 N/m, stretched by the forces they carry: no "
    "constraints, so that all forces are differentiated; stiffer ones lose more to the one-sided differences",
}

_STIFF = 1e5


def available() -> bool:
    """Tell whether Exudyn can be imported."""
    return find_spec("exudyn") is not None


def version() -> str:
    """Return the version."""
    return str(_exudyn().GetVersionString())


def poles(machine: Machine, q: Array) -> dict[str, Array]:
    """Return the poles with the cuts as joints, and as stiff springs."""
    return {
        "ComputeODE2Eigenvalues, joints": _poles(*_build(machine, q, stiff=False)),
        "ComputeODE2Eigenvalues, stiff springs": _poles(*_build(machine, _sagged(machine, q), stiff=True)),
    }


def _poles(keep: Any, system: Any) -> Array:
    found = system.ComputeODE2Eigenvalues(
        _settings(), computeComplexEigenvalues=True, useAbsoluteValues=False, convert2Frequencies=False
    )
    return np.array(found[0], dtype=complex)


def _settings() -> Any:
    settings = _exudyn().SimulationSettings()
    settings.solution.file.write = False
    settings.staticSolver.verboseMode = 0
    return settings


def _sagged(machine: Machine, q: Array) -> Array:
    """Where stiff springs in place of the loops carry the weights: they stretch by force/stiffness."""
    _, A = planar.closure(machine, q)
    force = np.linalg.lstsq(A.T, -planar.static_force(machine, q))[0]
    return q + np.linalg.pinv(A) @ (force / _STIFF)


def _build(machine: Machine, q: Array, stiff: bool) -> tuple[Any, Any]:
    exu = _exudyn()
    items, size, links = exu.itemInterface, len(q), machine.links
    container = exu.SystemContainer()
    system = container.AddSystem()
    node = system.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[0.0] * size,
            initialCoordinates=list(q),
            initialCoordinates_t=[0.0] * size,
            numberOfODE2Coordinates=size,
        )
    )
    kinds = {
        TURN: exu.JointType.RevoluteZ,
        planar.SLIDE_X: exu.JointType.PrismaticX,
        planar.SLIDE_Y: exu.JointType.PrismaticY,
    }
    tree = system.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node,
            gravity=[0.0, -planar.GRAVITY, 0.0],
            jointTypes=[kinds[link.joint] for link in links],
            linkParents=[link.parent for link in links],
            jointTransformations=exu.Matrix3DList([np.eye(3)] * size),
            jointOffsets=exu.Vector3DList([[*link.pivot, 0.0] for link in links]),
            linkInertiasCOM=exu.Matrix3DList([link.inertia * np.eye(3) for link in links]),
            linkCOMs=exu.Vector3DList([[link.com, 0.0, 0.0] for link in links]),
            linkMasses=[link.mass for link in links],
            jointPControlVector=[link.stiffness for link in links],
            jointDControlVector=[link.damping for link in links],
            jointPositionOffsetVector=[link.rest for link in links],
            jointVelocityOffsetVector=[0.0] * size,
        )
    )
    ground = system.AddObject(items.ObjectGround())

    def marker(link: int, point: tuple[float, float]) -> int:
        at = [*point, 0.0]
        if link == GROUND:
            return system.AddMarker(items.MarkerBodyRigid(bodyNumber=ground, localPosition=at))
        return system.AddMarker(items.MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=link, localPosition=at))

    for loop in machine.loops:
        ends = [marker(loop.one, loop.point_one), marker(loop.other, loop.point_other)]
        if stiff:
            item = items.ObjectConnectorCartesianSpringDamper(markerNumbers=ends, stiffness=[_STIFF, _STIFF, 0.0])
        else:
            item = items.ObjectJointSpherical(markerNumbers=ends, constrainedAxes=[1, 1, 0])
        system.AddObject(item)
    system.Assemble()
    return container, system
