"""What one evaluation of a control law costs, the equations of motion included, as a multiple of those.

Everything is measured in one run, in blocks that take turns, and what counts is the median over the blocks: the
machine is shared, and times drift.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import (
    CentreOfMass,
    Cone,
    ConstrainedActuation,
    ConstraintForcePI,
    HierarchicalInverseDynamics,
    HybridMotionForce,
    PoseTask,
    ProjectedInverseDynamics,
    Tracking,
)
from cmbcontrol.controllers.controller import start_of
from cmbcontrol.model.elements import Actuator
from cmbcontrol.plants.biped import SOLES, stand

from .linear import medians, ratio, repeated

Array = NDArray[np.float64]

TITLE = (
    "One evaluation of a control law at a state with velocity, from Python: ratio = over the equations of motion alone "
    "(plant.terms), which each law needs and which are included"
)
COLUMNS = ("machine", "law", "us", "ratio", "status")
TERMS = "equations of motion alone"


class Case(NamedTuple):
    """A machine at a state, and laws for it by name."""

    name: str
    plant: cmb.Mechanism
    q: Array
    v: Array
    laws: dict[str, Any]


def five_bar() -> Case:
    """Two motors, two freedoms: where a limit is active, the motion has to give way."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    v = plant.project_velocity(q, [0.3, 0.1, 0.2, 0.5])
    motion = ProjectedInverseDynamics(plant, ("left", "right"), cmb.Constant([2.15, 0.95]), bandwidth=8.0)
    laws = {
        "projected inverse dynamics": motion,
        "with limits, none active": ConstrainedActuation(motion, limits=1e3),
        "with limits, one active": ConstrainedActuation(motion, limits=[1e3, 15.0]),
        "with limits, both active": ConstrainedActuation(motion, limits=20.0),
        "with limits, both active, scaled": ConstrainedActuation(motion, limits=20.0, slack="scale"),
        "with limits, both active, cvxpy": ConstrainedActuation(motion, limits=20.0, solver="cvxpy"),
    }
    return Case("five-bar", plant, q, v, laws)


def four_motors() -> Case:
    """The five-bar with motors at all joints but the tip: two forces at the tip can be controlled, too."""
    one = plants.five_bar()
    motors = [Actuator(name, effort=35.0) for name in one.velocity_names]
    plant = cmb.Mechanism("four-motors", one.bodies, one.joints, one.loops, actuators=motors, gravity=one.gravity)
    q = plant.assemble(left=2.1, right=1.0)
    v = plant.project_velocity(q, [0.3, 0.1, 0.2, 0.5])
    motion = ProjectedInverseDynamics(plant, ("left", "right"), cmb.Constant([2.15, 0.95]), bandwidth=8.0)
    laws = {
        "projected inverse dynamics": motion,
        "hybrid motion and force": HybridMotionForce(
            motion, ConstraintForcePI(plant, [5.0, 0.0], ["tip"], kp=1.0, ki=9.0)
        ),
        "with limits, none active": ConstrainedActuation(motion, limits=1e3),
        "with limits, some active": ConstrainedActuation(motion),
    }
    return Case("five-bar, 4 motors", plant, q, v, laws)


def two_arms() -> Case:
    """Six motors, three degrees of freedom and a grasp: the motors share the work, and squeeze."""
    plant = plants.two_arms("planar")
    entry = plants.catalogue["two-arms"]
    q = entry.initial(plant)[0]
    v = plant.project_velocity(q, [0.3, 0.1, 0.2, 0.5, 0.0, 0.0])
    motion = ProjectedInverseDynamics(plant, entry.study.coordinates, cmb.Constant(q[:3] + 0.02), bandwidth=8.0)
    tight = (26.0, 18.0, 6.0) * 2
    cone = Cone("grasp", 0.5, normal=(1.0, 0.0), minimum=20.0)
    laws = {
        "projected inverse dynamics": motion,
        "hybrid motion and force": HybridMotionForce(
            motion, ConstraintForcePI(plant, [20.0, 0.0], ["grasp"], kp=1.0, ki=9.0)
        ),
        "with limits, none active": ConstrainedActuation(motion),
        "with limits, some active": ConstrainedActuation(motion, limits=tight),
        "unilateral contact": ConstrainedActuation(motion, unilateral={"grasp_x": 20.0}),
        "friction cone, limits active": ConstrainedActuation(motion, limits=tight, cones=[cone]),
        "friction cone, limits active, cvxpy": ConstrainedActuation(motion, limits=tight, cones=[cone], solver="cvxpy"),
    }
    return Case("two-arms", plant, q, v, laws)


def biped() -> Case:
    """Six motors, three degrees of freedom, four contacts, of whose forces six are shared: one law, or two levels."""
    plant = plants.biped()
    q, leg = stand(plant, 0.75), ("hip_left", "knee_left", "ankle_left")
    at = [q[plant.position_names.index(name)] for name in leg]
    motion = ProjectedInverseDynamics(plant, leg, cmb.Constant(at), bandwidth=8.0)
    com = CentreOfMass(plant, axes="xy")
    now = com.value(plant.terms(q, np.zeros(plant.nv)))
    upright = Tracking(PoseTask(plant, "trunk", axes=("rz",)), cmb.Constant([0.0]), bandwidth=8.0)

    def levels(forward: float) -> HierarchicalInverseDynamics:
        balance = Tracking(com, cmb.Constant([now[0] + forward, now[1]]), bandwidth=8.0)
        return HierarchicalInverseDynamics(plant, [balance, upright])

    cones = [Cone(name, 0.7, normal=(0.0, 1.0, 0.0), minimum=5.0) for name in SOLES]
    laws = {
        "one law, on friction cones": ConstrainedActuation(motion, cones=cones),
        "two levels, on friction cones": ConstrainedActuation(levels(0.0), cones=cones),
        "two levels, of which the second gives way": ConstrainedActuation(levels(0.05), cones=cones),
    }
    return Case("biped", plant, q, np.zeros(plant.nv), laws)


def calls(case: Case) -> dict[str, Callable[[int], Any]]:
    """Everything that is timed on one machine."""
    plant, q, v = case.plant, case.q, case.v
    found = {TERMS: repeated(lambda: plant.terms(q, v))}
    for name, law in case.laws.items():
        state = start_of(law, plant)
        found[name] = repeated(lambda law=law, state=state: law(0.0, plant.terms(q, v), state))
    return found


def status(case: Case, name: str) -> str:
    """How the request ended, for laws with limits."""
    law = case.laws.get(name)
    if not isinstance(law, ConstrainedActuation):
        return ""
    terms = case.plant.terms(case.q, case.v)
    return law.solve(terms, law.desired_acceleration(0.0, terms)).status.name.lower()


def rows() -> Iterable[Sequence[str]]:
    """Yield rows of the table."""
    for case in (five_bar(), four_motors(), two_arms(), biped()):
        times = medians(calls(case))
        for name, found in times.items():
            cost = ratio(times, name, TERMS)
            yield case.name, name, f"{statistics.median(found):.1f}", f"{cost:.1f}", status(case, name)
