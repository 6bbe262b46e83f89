"""What one call of a control law costs, and what each part of a chain adds to the law inside.

The equations of motion are at hand, as in a run; what a law computes from them (the null space, for one) is its own.
Everything is measured in one run, in blocks that take turns, and what counts is the median of the ratios.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import (
    ComputedTorque,
    ConstrainedActuation,
    ConstraintForcePI,
    Controller,
    Coordinates,
    Delay,
    DriveFriction,
    Encoder,
    FilteredDifference,
    FirstOrderActuator,
    FrictionCompensation,
    HybridMotionForce,
    PassiveJoints,
    PointTask,
    ProjectedInverseDynamics,
    RateLimit,
    Saturation,
)
from cmbcontrol.controllers.controller import start_of
from cmbcontrol.model.elements import Actuator
from cmbcontrol.model.terms import Terms

from .linear import medians, ratio, repeated

Array = NDArray[np.float64]
Call = Callable[[], Any]

TITLE = (
    "One call of a control law, of a part of a chain (effort and next states, less the law inside) and of a drive "
    "behind held efforts, five-bar, from Python: ratio = over projected inverse dynamics"
)
COLUMNS = ("part", "us", "ratio")
MOTION = "projected inverse dynamics"
NOTHING = "(a copy of the equations of motion)"


class Held(Controller):
    """The law inside a chain: it costs nothing."""

    def __init__(self, plant: cmb.Mechanism, period: float | None) -> None:
        self.plant, self.period, self.u = plant, period, np.array([3.0, -1.0])

    def effort(self, t: float, terms: Terms, state: Array) -> Array:
        return self.u


def four_motors(plant: cmb.Mechanism) -> cmb.Mechanism:
    """The five-bar with motors at all joints but the tip, whose force can be controlled then."""
    motors = [Actuator(name, effort=35.0) for name in plant.velocity_names]
    parts = plant.bodies, plant.joints, plant.loops
    return cmb.Mechanism("four-motors", *parts, actuators=motors, gravity=plant.gravity)


def laws(plant: cmb.Mechanism) -> dict[str, Any]:
    """Laws by name."""
    path = cmb.Sine([2.1, 1.0], [0.2, 0.1], 0.5)
    names, options = ("left", "right"), {"bandwidth": 8.0}
    motion = ProjectedInverseDynamics(plant, names, path, **options)
    more = four_motors(plant)
    force = ConstraintForcePI(more, [5.0, 0.0], ["tip"], kp=1.0, ki=9.0)
    tip = PointTask(plant, "left_upper", (1.5, 0.0, 0.0), axes="xy")
    return {
        MOTION: motion,
        "with a metric of the efforts": ProjectedInverseDynamics(plant, names, path, weight=[4.0, 1.0], **options),
        "scaled into its limits": ProjectedInverseDynamics(
            plant, names, path, saturation="scale", limits=[20.0, 20.0], **options
        ),
        "of a tool": ProjectedInverseDynamics(plant, tip, cmb.Constant([0.5, 1.9]), **options),
        "of one coordinate, one left free": ProjectedInverseDynamics(
            plant, Coordinates(plant, ["left"]), cmb.Constant([2.1]), **options
        ),
        "computed torque": ComputedTorque(plant, path, **options),
        "passive joints, (I + H)": PassiveJoints(motion),
        "within limits, none active": ConstrainedActuation(motion, limits=1e3),
        "constraint force PI, 4 motors": force,
        "hybrid motion and force, 4 motors": HybridMotionForce(
            ProjectedInverseDynamics(more, names, path, **options), force
        ),
    }


def chains(plant: cmb.Mechanism) -> dict[str, Any]:
    """Chains around a law that costs nothing, by name."""
    held, friction = Held(plant, 1e-3), DriveFriction(2.0, 0.5)
    encoder, difference = Encoder(bits=12), FilteredDifference(cutoff_hz=30.0)
    return {
        "law | Saturation": held | Saturation(2.0),
        "law | RateLimit": held | RateLimit(10.0),
        "law | FrictionCompensation": held | FrictionCompensation(friction),
        "law | Delay": held | Delay(1e-3),
        "Encoder | law, equations of motion again": encoder | held,
        "Encoder with noise | law, the same": Encoder(noise=1e-4) | held,
        "FilteredDifference | law, the same": difference | held,
        "Encoder | FilteredDifference | law | Saturation | Delay, the same": (
            encoder | difference | held | Saturation(2.0) | Delay(1e-3)
        ),
        "law | FirstOrderActuator | DriveFriction, continuous": (
            Held(plant, None) | FirstOrderActuator(0.1) | friction
        ),
    }


def calls() -> dict[str, Call]:
    """All that is timed. Laws are handed terms from which nothing has been computed, as in a run."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    terms = plant.terms(q, plant.project_velocity(q, [0.3, 0.1, 0.2, 0.5]), 0.3)
    found: dict[str, Call] = {NOTHING: terms.copied, "equations of motion": lambda: plant.terms(terms.q, terms.v, 0.3)}
    for name, law in laws(plant).items():
        found[name] = _call(law, law.plant.terms(terms.q, terms.v, 0.3), start_of(law, law.plant))
    for name, chain in chains(plant).items():
        found[name] = _sample(chain, terms, start_of(chain, plant))
    held, u = Held(plant, 1e-3), np.array([3.0, -1.0])
    for name, chain in {
        "drive: DriveFriction": held | DriveFriction(2.0, 0.5),
        "drive: DriveFriction with breakaway": held | DriveFriction(2.0, 0.5, breakaway=3.0),
        "drive: FirstOrderActuator | DriveFriction": held | FirstOrderActuator(0.1) | DriveFriction(2.0, 0.5),
    }.items():
        found[name] = _drive(chain.drive, terms, u, start_of(chain.drive, plant))
    return found


def _call(law: Any, terms: Terms, state: Array) -> Call:
    """Efforts of a law."""
    return lambda: law(0.3, terms.copied(), state)


def _sample(chain: Any, terms: Terms, state: Array) -> Call:
    """What a chain is asked for at a sample, or in continuous time at an evaluation."""
    return lambda: chain.evaluate(0.3, terms.copied(), state)


def _drive(drive: Any, terms: Terms, u: Array, state: Array) -> Call:
    """Efforts at the joints, and a copy of the terms, as for the laws."""

    def call() -> None:
        drive.evaluate(0.3, terms.copied(), u, state)

    return call


def rows() -> Iterable[Sequence[str]]:
    """Yield rows of the table."""
    times = medians({name: repeated(call) for name, call in calls().items()})
    copy = times[NOTHING]
    net = {
        name: found
        if name in (NOTHING, "equations of motion")
        else [max(a - b, 1e-3) for a, b in zip(found, copy, strict=True)]
        for name, found in times.items()
    }
    for name, found in net.items():
        yield name, f"{statistics.median(found):.1f}", f"{ratio(net, name, MOTION):.2f}"
