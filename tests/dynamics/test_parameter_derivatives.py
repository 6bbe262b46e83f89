"""Derivatives by masses, lengths and the like: against differences of machines that are built anew."""

import copy
import dataclasses

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Coupling, Distance, Frame, Helical, Mechanism, PointSpring, Weld, plants
from cmbcontrol.dynamics import constrained_motion, derivatives, parameters
from cmbcontrol.errors import InputError, InputTypeError, ModelError, RedundantRowsError
from cmbcontrol.trace import code as trace_code
from tests import fixtures
from tests.fixtures import busy_machine, closed_machine, driven_state, slope, sprung_machine
from tests.robustness import machines

PARTS = ("bodies", "joints", "loops", "springs", "actuators")
AXES = dict(zip("xyz", np.eye(3), strict=True))


def rotation(axis, angle):
    return Frame.turned(axis, angle).R


def with_field(part, **fields):
    """A part with other numbers, unchecked: a rod has no inertia along its axis, and less is refused."""
    made = copy.copy(part)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def changed_part(part, prefix, name, s):
    """The part with one of its numbers, by what is left of its name behind the prefix, larger by s; None if not its."""
    if not name.startswith(prefix):
        return None
    what, _, axis = name.removeprefix(prefix).rpartition("_")
    whole = name.removeprefix(prefix)
    frames = {"frame": "frame", "child": "child_frame", "frame_a": "frame_a", "frame_b": "frame_b"}
    if what.removesuffix("_turn") in frames and axis in AXES:
        field = frames[what.removesuffix("_turn")]
        frame = getattr(part, field, None)
        if frame is None:
            return None
        turned = what.endswith("_turn")
        moved = Frame(frame.p, rotation(AXES[axis], s) @ frame.R) if turned else Frame(frame.p + s * AXES[axis], frame.R)
        return with_field(part, **{field: moved})
    if what in ("axis_turn", "normal_turn"):
        field = what.removesuffix("_turn")
        return with_field(part, **{field: rotation(AXES[axis], s) @ getattr(part, field)})
    if what in ("com", "point_a", "point_b") and hasattr(part, what):
        return with_field(part, **{what: getattr(part, what) + s * AXES[axis]})
    if what == "inertia" and hasattr(part, what):
        i, j = ("xyz".index(c) for c in axis)
        unit = np.zeros((3, 3))
        unit[i, j] = unit[j, i] = 1.0
        return with_field(part, inertia=part.inertia + s * unit)
    if whole.startswith("of_"):
        c = dict(part.coefficients)
        c[whole.removeprefix("of_")] += s
        return with_field(part, coefficients=c)
    if whole in ("mass", "pitch", "length", "offset", "stiffness", "rest", "damping", "gear") and hasattr(part, whole):
        return with_field(part, **{whole: getattr(part, whole) + s})
    return None


def changed(plant, name, s):
    """The machine built anew, with one number larger by s."""
    given = {key: list(getattr(plant, key)) for key in PARTS}
    gravity = plant.gravity
    if name.startswith("gravity_"):
        gravity = gravity + s * AXES[name[-1]]
        return Mechanism(plant.name, **given, gravity=gravity)
    if name.startswith("damping_"):
        coordinate = name.removeprefix("damping_")
        for i, joint in enumerate(plant.joints):
            if coordinate in joint.velocity_names:
                unit = np.array([float(n == coordinate) for n in joint.velocity_names])
                given["joints"][i] = with_field(joint, damping=joint.damping + s * unit)
        return Mechanism(plant.name, **given, gravity=gravity)
    prefixes = {"springs": "spring_", "actuators": "motor_"}
    for key, parts in given.items():
        for i, part in enumerate(parts):
            found = changed_part(part, f"{prefixes.get(key, '')}{part.name}_", name, s)
            if found is not None:
                parts[i] = found
                return Mechanism(plant.name, **given, gravity=gravity)
    raise AssertionError(f"nothing is called {name}")


def step_of(plant, name, parameter):
    """A hundredth of the size, of a radian, or of the number itself."""
    if parameter.unit in ("m", "m/rad"):
        return 1e-2 * plant.size
    if parameter.unit == "rad":
        return 1e-2
    if parameter.unit == "kg m2":
        return 1e-2 * next(b.inertia.trace() for b in plant.bodies if name.startswith(f"{b.name}_inertia"))
    if parameter.value == 0.0 and parameter.unit.startswith("N"):  # of dampers and springs everything is linear
        return plant.force_scale * plant.size or 1.0
    return 1e-2 * (abs(parameter.value) or 1.0)


def errors(plant, q, v, u, names=None, judged=None):
    """Derivatives, and how far each column is from differences: over its size, and that of what changes.

    All in metres, and the numbers in sizes of the machine, radians, or in parts of themselves. Differences with a step
    of a hundredth lose 1e-14 of what changes over the step, and 1e-16 of their own size by order 8.
    """
    found = cmb.parameter_derivatives(plant, q, v, u, parameters=names)
    known = parameters(plant)
    assert found.names == (tuple(known) if names is None else tuple(names))
    reach, scale = plant.reach, plant.row_scale
    weights = np.concatenate([reach, 1.0 / scale, 1.0 / reach, scale, scale, scale])
    parts = np.cumsum([0, *map(len, (reach, scale, reach, scale, scale, scale))])

    def at(name, s):
        machine = changed(plant, name, s)
        terms = machine.terms(q, v)
        motion = constrained_motion(terms, terms.B @ u)
        force = terms.M @ found.a + terms.h + terms.A.T @ found.lam - terms.B @ u
        told = motion.vdot, motion.multipliers, force, terms.A @ found.a + terms.b, terms.phi, terms.A @ v
        return weights * np.concatenate(told)

    worst = {}
    columns = np.concatenate([found.a_p, found.lam_p, found.force_p, found.accel_p, found.phi_p, found.rate_p])
    f = plant.terms(q, v)
    sizes = [np.abs(reach * found.a).max(initial=0.0) + np.linalg.norm(plant.gravity), 0.0, 0.0]
    sizes[1] = sizes[2] = np.abs(f.h / reach).max(initial=0.0) + np.abs(found.lam / scale).max(initial=0.0)
    sizes += [np.abs(scale * f.b).max(initial=0.0) + sizes[0], plant.size, np.abs(reach * v).max(initial=0.0)]
    for k, name in enumerate(found.names):
        if found.exists[k] and (judged is None or name in judged):
            step = step_of(plant, name, known[name])
            apart = np.abs(weights * columns[:, k] - slope(lambda s, name=name: at(name, s), step))
            for i, size in enumerate(sizes):
                part = slice(*parts[i : i + 2])
                if "_axis_turn_" in name and i not in (0, 4):
                    continue  # rows across a line may be any two, and are chosen anew
                whole = np.abs(weights * columns[:, k])[part].max(initial=0.0) + size / (100.0 * step)
                if whole:
                    worst[name, i] = apart[part].max(initial=0.0) / whole
    return found, worst


def check(plant, q, v, u, names=None, accuracy=1e-10, judged=None):
    found, worst = errors(plant, q, v, u, names, judged)
    too_far = {key: x for key, x in worst.items() if not x <= accuracy}
    assert not too_far
    return found


def test_five_bar():
    plant = plants.five_bar()
    q, v, u = driven_state(plant, plant.assemble(left=2.1, right=1.0), 0)
    assert check(plant, q, v, u).exists.all()
