"""Both machines in Exudyn: a kinematic tree or, for long machines, redundant planar rods."""

from __future__ import annotations

import io
import sys
import warnings
from contextlib import redirect_stdout
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from . import common
from .common import Array, Evaluation, Machine, Run

LAST_TREE = 5

SETTINGS = {
    "model": "ObjectKinematicTree with spherical joints (two axes) at the cuts for the "
    f"five-bar and N <= {LAST_TREE}; for longer machines RigidBody2D with RevoluteJoint2D, whose sparse "
    "Jacobian is far cheaper; module exudynFast (no range checks)",
    "forward dynamics": "the solver's own initial accelerations (InitializeSolverInitialConditions: "
    "mass matrix, forces, constraint Jacobian, one linear solve), timed as one call on an initialised "
    "solver; EXUdense for the tree, EigenSparse for the planar rods",
    "simulation": "generalised alpha, position constraints (index 3), spectral radius 0.9, full "
    "Newton with relative tolerance 1e-6 (one or two iterations a step); only SolveDynamic is timed",
    "five-bar singular": "trapezoidal rule with velocity constraints (index 2), initial accelerations "
    "off: the index-3 scheme and the initial accelerations fail on the singular matrix at the start "
    "for most step sizes",
}


class Built(NamedTuple):
    """An assembled Exudyn system and the sensors of its coordinates and rates."""

    system: Any
    sensors: list[tuple[int, int]]
    redundant: bool
    keep: Any


def available() -> bool:
    """Tell whether Exudyn can be imported."""
    return find_spec("exudyn") is not None


def version() -> str:
    """Return Exudyn's version."""
    return str(_exudyn().GetVersionString())


def forward_dynamics(machine: Machine) -> Evaluation:
    """Return one constrained forward dynamics at the fixed regular state."""
    exu = _exudyn()
    built = _build(machine, *common.regular_state(machine))
    settings = _settings(built, 1, 1e-6, index2=False)
    solver = exu.MainSolverImplicitSecondOrder()
    solver.InitializeSolver(built.system, settings)

    def read(_: None) -> Array:
        return _joint(machine, built.redundant, np.array(solver.GetAAlgorithmic()))

    return common.evaluation(solver.InitializeSolverInitialConditions, built.system, settings, read=read)


def simulate(machine: Machine, start: str, t_end: float, **accuracy: float) -> Run:
    """Integrate from a named start and measure the run.

    Parameters
    ----------
    machine, start, t_end
        See `common`.
    **accuracy
        `substeps` (solver steps per 10 ms output), `index2` (1 for the trapezoidal rule with velocity
        constraints) and `redundant` (1 for planar rods, 0 for the kinematic tree); what is left out comes
        from `defaults`.
    """
    chosen = defaults(machine, start) | accuracy
    state = common.initial_state(machine, start)
    substeps, redundant = int(chosen["substeps"]), bool(chosen["redundant"])

    def run(until: float) -> tuple[float, Built]:
        built = _build(machine, *state, np.zeros(len(state[0])), redundant=redundant)
        steps = substeps * round(until / common.OUTPUT_STEP)
        settings = _settings(built, steps, until, index2=bool(chosen["index2"]))
        return common.timed(lambda: _solve(built, settings), most=1)[0], built

    run(common.OUTPUT_STEP)
    walls = [run(t_end)]
    while len(walls) < 3 and sum(wall for wall, _ in walls) < 1.0:
        walls.append(run(t_end))
    built = walls[-1][1]
    times, q, v = _trajectory(machine, built, state)
    newton = built.system.sys["dynamicSolver"].it.newtonStepsCount
    wall = min(wall for wall, _ in walls)
    return common.assess(machine, start, t_end, times, (q, v), wall, newton, "evaluations are Newton steps")


def defaults(machine: Machine, start: str) -> dict[str, float]:
    """Return the accuracy settings found best for a start."""
    long = machine != common.FIVE_BAR and common.cells(machine) > LAST_TREE
    substeps = 10 if machine != common.FIVE_BAR else 100
    return {"substeps": substeps, "index2": float(start == "singular"), "redundant": float(long)}


def ladder(machine: Machine, start: str) -> list[dict[str, float]]:
    """Return accuracy settings from coarse to fine."""
    return [{"substeps": k} for k in (2, 4, 10, 20, 40, 100, 200, 400, 1000)]


def _exudyn() -> Any:
    """Import the fast variant of Exudyn without its greeting (where nothing was imported before)."""
    if "exudyn" not in sys.modules:
        sys.exudynFast = True  # type: ignore[attr-defined]
    with redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import exudyn
        import exudyn.itemInterface
    return exudyn


def _build(machine: Machine, q: Array, v: Array, torque: Array, redundant: bool | None = None) -> Built:
    exu = _exudyn()
    if redundant is None:
        redundant = machine != common.FIVE_BAR and common.cells(machine) > LAST_TREE
    container = exu.SystemContainer()
    system = container.AddSystem()
    rods = common.tree(machine)
    nodes = (_add_rods if redundant else _add_tree)(system, rods, q, v, torque)
    kinds = exu.OutputVariableType.Coordinates, exu.OutputVariableType.Coordinates_t
    sensor = exu.itemInterface.SensorNode
    sensors = [
        tuple(system.AddSensor(sensor(nodeNumber=node, outputVariableType=kind, storeInternal=True)) for kind in kinds)
        for node in nodes
    ]
    system.Assemble()
    return Built(system, sensors, redundant, container)


def _add_tree(system: Any, rods: common.Tree, q: Array, v: Array, torque: Array) -> list[int]:
    """Add the rods as one kinematic tree and join the cuts."""
    exu = _exudyn()
    items, size = exu.itemInterface, len(q)
    node = system.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[0.0] * size,
            initialCoordinates=list(q),
            initialCoordinates_t=list(v),
            numberOfODE2Coordinates=size,
        )
    )
    tree = system.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node,
            gravity=[0.0, -common.GRAVITY, 0.0],
            jointTypes=[exu.JointType.RevoluteZ] * size,
            linkParents=list(rods.parent),
            jointTransformations=exu.Matrix3DList([np.eye(3)] * size),
            jointOffsets=exu.Vector3DList([[x, y, 0.0] for x, y in rods.pivot]),
            linkInertiasCOM=exu.Matrix3DList([spin * np.eye(3) for spin in rods.inertia]),
            linkCOMs=exu.Vector3DList([[length / 2, 0.0, 0.0] for length in rods.length]),
            linkMasses=list(rods.mass),
            jointForceVector=list(torque),
        )
    )

    def end(rod: int) -> int:
        at = [rods.length[rod], 0.0, 0.0]
        return system.AddMarker(items.MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=rod, localPosition=at))

    for one, other in rods.loops:
        ends = [end(one), end(other)]
        system.AddObject(items.ObjectJointSpherical(markerNumbers=ends, constrainedAxes=[1, 1, 0]))
    return [node]


def _add_rods(system: Any, rods: common.Tree, q: Array, v: Array, torque: Array) -> list[int]:
    """Add the rods as free planar bodies and join all of them."""
    items = _exudyn().itemInterface
    if np.any(torque):
        raise ValueError("the planar rods are not driven")
    angle, rate = common.absolute(rods, q), common.absolute(rods, v)
    joint, tip = common.rod_points(rods, q)
    centre, velocity = 0.5 * (joint + tip), _centre_velocity(rods, angle, rate)
    nodes, bodies = [], []
    for rod, (mass, spin) in enumerate(zip(rods.mass, rods.inertia, strict=True)):
        node = items.NodeRigidBody2D(
            referenceCoordinates=[*centre[rod], angle[rod]], initialVelocities=[*velocity[rod], rate[rod]]
        )
        nodes.append(system.AddNode(node))
        bodies.append(system.AddObject(items.ObjectRigidBody2D(mass=mass, inertia=spin, nodeNumber=nodes[-1])))
        weigh = system.AddMarker(items.MarkerBodyMass(bodyNumber=bodies[-1]))
        system.AddLoad(items.LoadMassProportional(markerNumber=weigh, loadVector=[0.0, -common.GRAVITY, 0.0]))
    _join(system, rods, bodies)
    return nodes


def _join(system: Any, rods: common.Tree, bodies: list[int]) -> None:
    """Add the revolute joints of planar rods."""
    items = _exudyn().itemInterface
    ground = system.AddObject(items.ObjectGround())

    def point(body: int, x: float, y: float = 0.0) -> int:
        return system.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[x, y, 0.0]))

    def end(rod: int, side: float) -> int:
        return point(bodies[rod], side * rods.length[rod] / 2)

    pairs = [
        (end(parent, 1.0) if parent >= 0 else point(ground, *rods.pivot[rod]), end(rod, -1.0))
        for rod, parent in enumerate(rods.parent)
    ]
    pairs += [(end(one, 1.0), end(other, 1.0)) for one, other in rods.loops]
    for pair in pairs:
        system.AddObject(items.ObjectJointRevolute2D(markerNumbers=list(pair)))


def _centre_velocity(rods: common.Tree, angle: Array, rate: Array) -> Array:
    swing = np.stack([-np.sin(angle), np.cos(angle)], axis=-1) * (rate * np.array(rods.length))[:, None]
    base = np.array([swing[parent] if parent >= 0 else np.zeros(2) for parent in rods.parent])
    return base + 0.5 * swing


def _settings(built: Built, steps: int, t_end: float, *, index2: bool) -> Any:
    exu = _exudyn()
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = common.OUTPUT_STEP
    sparse, dense = exu.LinearSolverType.EigenSparse, exu.LinearSolverType.EXUdense
    settings.linearSolver.solverType = sparse if built.redundant else dense
    settings.linearSolver.reuseAnalyzedPattern = built.redundant
    time = settings.timeIntegration
    time.numberOfSteps, time.endTime, time.verboseMode = steps, t_end, 0
    time.newton.useModifiedNewton = False
    time.newton.relativeTolerance, time.newton.absoluteTolerance = 1e-6, 1e-8
    alpha = time.generalizedAlpha
    alpha.useIndex2Constraints = alpha.useNewmark = index2
    alpha.spectralRadius = 1.0 if index2 else 0.9
    alpha.computeInitialAccelerations = not index2
    return settings


def _solve(built: Built, settings: Any) -> None:
    """Run the implicit solver; a failure shows as a short trajectory."""
    with redirect_stdout(io.StringIO()):
        try:
            built.system.SolveDynamic(settings, showHints=False, showCausingItems=False)
        except _exudyn().SolverError:
            return


def _trajectory(machine: Machine, built: Built, state: tuple[Array, Array]) -> tuple[Array, Array, Array]:
    """Return times, joint angles and joint rates from the sensors."""
    tables = [[built.system.GetSensorStoredData(s) for s in pair] for pair in built.sensors]
    times = tables[0][0][:, 0]
    q, v = (np.concatenate([pair[k][:, 1:] for pair in tables], axis=1) for k in (0, 1))
    q, v = (_joint(machine, built.redundant, x) for x in (q, v))
    return times, (q + state[0] if built.redundant else q), v


def _joint(machine: Machine, redundant: bool, x: Array) -> Array:
    """Turn solver coordinates into joint ones; those of planar rods are (x, y, angle) from the reference."""
    if not redundant:
        return x
    out = x[..., 2::3].copy()
    for rod, parent in enumerate(common.tree(machine).parent):
        if parent >= 0:
            out[..., rod] = x[..., 3 * rod + 2] - x[..., 3 * parent + 2]
    return out
