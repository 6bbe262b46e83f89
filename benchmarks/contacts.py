"""Machines on the ground: runs through impacts, stick and slip, and how long they take beside those of MuJoCo.

Contacts of MuJoCo are soft: bodies sink in by some of its time constant (20 ms) and slide where they should stick. Its
times are those of its own default step (2 ms), of a step of 1 ms for the biped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import Actuator, Body, Contact, Frame, JointForce, Mechanism, Planar, Point, Revolute
from cmbcontrol.characteristics import Friction
from cmbcontrol.controllers import FunctionController, compiled_law

from .rivals.common import clock

TITLE = "Contacts: time of a run, ms of CPU"
COLUMNS = ("what", "ours, ms", "changes", "ms a change", "energy error, J", "MuJoCo, ms", "ratio")

_UP = (0.0, 1.0, 0.0)
_HIP, _KNEE = (-1.4633, -1.4915), (-0.4588, -0.5129)  # rad: how the biped stands, left and right
_STIFF, _DAMPED, _MOST = 300.0, 15.0, 150.0  # N m/rad, N m s/rad, N m


def biped() -> Mechanism:
    """A planar biped of a trunk and two legs, on points."""
    bodies, joints, feet, motors = [Body("trunk", 20.0, (0, 0.15, 0), (0.6, 0.6, 0.6))], [], [], []
    joints.append(Planar("base", "ground", "trunk"))
    for side in "lr":
        bodies += [Body.rod(f"thigh_{side}", 2.0, 0.4), Body.rod(f"shank_{side}", 1.0, 0.4)]
        joints.append(Revolute(f"hip_{side}", "trunk", f"thigh_{side}", damping=0.5))
        frame = Frame((0.4, 0, 0))
        joints.append(Revolute(f"knee_{side}", f"thigh_{side}", f"shank_{side}", frame=frame, damping=0.5))
        feet.append(Point(f"foot_{side}", "ground", f"shank_{side}", point_b=(0.4, 0, 0)))
        motors += [Actuator(f"hip_{side}"), Actuator(f"knee_{side}")]
    return Mechanism("biped", bodies, joints, feet, actuators=motors, gravity=(0, -9.81, 0))


def _stand() -> np.ndarray:
    """Targets of hips and knees, in the order of the coordinates."""
    return np.array([_HIP[0], _KNEE[0], _HIP[1], _KNEE[1]])


@compiled_law
def _springs(t: float, terms: Any, state: Any) -> Any:
    """Springs and dampers at hips and knees, within limits."""
    return np.clip(_STIFF * (_stand() - terms.q[3:]) - _DAMPED * terms.v[3:], -_MOST, _MOST)


def landing(plant: Mechanism) -> cmb.Simulation:
    """One second of the biped that lands on two feet."""
    q0 = [0.0, 0.7878171, -0.08163885, *_stand()]
    feet = [Contact(f"foot_{side}", normal=_UP, friction=0.6) for side in "lr"]
    held = FunctionController(_springs, period=2e-3)
    return cmb.simulate(plant, held, q0, [-0.3326, *[0.0] * 6], t_end=1.0, switches=feet)


def rod() -> tuple[Mechanism, list[Contact], np.ndarray]:
    """A rod that falls onto the floor, first on one end."""
    ends = [Point(n, "ground", "rod", (x, 0, 0), (x, 0, 0)) for n, x in (("left", -0.5), ("right", 0.5))]
    body = Body("rod", 1.0, (0, 0, 0), (1.0 / 12.0,) * 3)
    plant = Mechanism("rod", [body], [Planar("base", "ground", "rod")], ends, gravity=(0, -9.81, 0))
    contacts = [Contact(n, normal=_UP, friction=0.4) for n in ("left", "right")]
    return plant, contacts, np.array([0.0, 0.6, 0.5])


def block() -> tuple[Mechanism, list[Contact], np.ndarray]:
    """A block that falls flat onto a slope of 20 degrees, and slides."""
    corners = [Point(n, "ground", "block", (x, 0, 0), (x, -0.1, 0)) for n, x in (("left", -0.1), ("right", 0.1))]
    body = Body("block", 1.0, (0, 0, 0), (0.01,) * 3)
    tilt = np.deg2rad(20.0)
    gravity = (9.81 * np.sin(tilt), -9.81 * np.cos(tilt), 0.0)
    plant = Mechanism("block", [body], [Planar("base", "ground", "block")], corners, gravity=gravity)
    return plant, [Contact(n, normal=_UP, friction=0.3) for n in ("left", "right")], np.array([0.0, 0.15, 0.0])


def drop(plant: Mechanism, contacts: Sequence[Contact], q0: np.ndarray) -> cmb.Simulation:
    """One second of it."""
    return cmb.simulate(plant, None, q0, t_end=1.0, switches=contacts)


def crowd(n: int) -> tuple[Mechanism, np.ndarray, np.ndarray]:
    """As many flaps that hit their stops as wheels that rub, all at one instant."""
    bodies = [Body(f"{kind}{i}", 1.0, (0.1, 0, 0), (0.01,) * 3) for kind in ("flap", "wheel") for i in range(n)]
    joints = [Revolute(f"flap{i}", "ground", f"flap{i}", limits=(-0.5, 0.5)) for i in range(n)]
    joints += [Revolute(f"wheel{i}", "ground", f"wheel{i}") for i in range(n)]
    rubs = [JointForce(f"rub{i}", f"wheel{i}", Friction(2.0)) for i in range(n)]
    plant = Mechanism("crowd", bodies, joints, [], forces=rubs, gravity=(0, -9.81, 0))
    struck = np.repeat([1.0, 0.0], n)
    return plant, -0.5 * struck, -struck


def steps(plant: Mechanism, count: int) -> cmb.Stepper:
    """Steps of 1 ms on the biped that lands, under held efforts."""
    feet = [Contact(f"foot_{side}", normal=_UP, friction=0.6) for side in "lr"]
    stepper = cmb.Stepper(plant, [0.0, 0.7878171, -0.08163885, *_stand()], t_end=count * 1e-3, switches=feet)
    for _ in range(count):
        q, v = stepper.state.q[3:], stepper.state.v[3:]
        stepper.step(np.clip(_STIFF * (_stand() - q) - _DAMPED * v, -_MOST, _MOST), 1e-3)
    return stepper


def _shortest(call: Callable[[], Any], passes: int = 5) -> tuple[float, Any]:
    """Milliseconds of the fastest of several passes, after one to warm up; and what it returns."""
    best, made = np.inf, call()
    for _ in range(passes):
        begin = clock()
        made = call()
        best = min(best, clock() - begin)
    return 1e3 * best, made


def rows() -> Iterable[Sequence[str]]:
    """Yield rows on runs with contacts."""
    try:
        from .rivals import contacts_mujoco as rival
    except ImportError:
        rival = None
    walker = biped()
    runs: dict[str, Callable[[], Any]] = {
        "biped, 1 s": partial(landing, walker),
        "rod, 1 s": partial(drop, *rod()),
        "block, 1 s": partial(drop, *block()),
    }
    for name, call in runs.items():
        time, run = _shortest(call)
        changes = len({event["time"] for event in run.events()})
        theirs = None if rival is None else rival.time(name.split(",")[0])
        ratio = ("", "") if theirs is None else (f"{theirs:.2f}", f"{time / theirs:.1f}")
        yield name, f"{time:.1f}", str(changes), f"{time / changes:.1f}", f"{run.max_energy_error:.0e}", *ratio
    plant, q0, v0 = crowd(100)
    time, run = _shortest(partial(cmb.simulate, plant, None, q0, v0, t_end=1e-4, friction="exact"))
    plain = _shortest(partial(cmb.simulate, plant, None, 0.0 * q0, v0, t_end=1e-4))[0]
    error = f"{run.max_energy_error:.0e}"
    yield "100 stops, 100 rubbing joints", f"{time:.1f}", "1", f"{time - plain:.1f}", error, "", ""
    time, _ = _shortest(partial(steps, walker, 1000), 2)
    yield "biped, 1,000 steps of 1 ms", f"{time:.1f}", "", "", "", "", ""
