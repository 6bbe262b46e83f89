"""The same machine in other units: no verdict changes, and every number scales as its unit does.

Lengths times k, masses times m, gravity times k; times are kept, so springs, dampers and efforts follow. A tolerance in
metres, newtons or newton metres judges a machine in micrometres differently from one in kilometres.
"""

import contextlib
import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import controllers, plants
from cmbcontrol.controllers.decoupling import is_decoupled, reachable_forces
from cmbcontrol.linear.signals import best_coordinates
from cmbcontrol.model import elements as parts
from cmbcontrol.model.units import effort_units
from cmbcontrol.papers.formulations import FORMULATIONS, NamedFormulation
from cmbcontrol.plants.loader import configuration as loader_configuration
from cmbcontrol.plants.two_arms import configuration as two_arms_configuration

pytestmark = pytest.mark.nojit_slow

UNITS = [(1e-6, 1e6), (1e-3, 1.0), (1.0, 1e6), (1e3, 1e-6)]  # lengths and masses


class Units(NamedTuple):
    """A machine at a state, and what its numbers are multiplied by."""

    plant: cmb.Mechanism
    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    size: float  # lengths
    mass: float
    position: np.ndarray  # (nq,)
    speed: np.ndarray  # (nv,)
    force: np.ndarray  # (nv,) joint forces
    effort: np.ndarray  # (nu,)
    row: np.ndarray  # (rows,) multipliers


def in_units(plant, k=1.0, m=1.0):
    """The same machine with lengths times k and masses times m."""
    if isinstance(plant, cmb.FunctionPlant):
        return plants.slider_crank(mass=m, length=k, gravity=9.81 * k)
    stiff = {"rad": m * k * k, "m": m}  # of a joint spring or damper, by the unit of its coordinate
    kind = dict(zip(plant.velocity_names, (u.removesuffix("/s") for u in plant.velocity_units), strict=True))
    cut = {j.name: j.velocity_units[0].removesuffix("/s") for j in plant.loops if getattr(j, "velocity_units", ())}
    push = {"rad": m * k * k, "m": m * k}

    def frame(f):
        return parts.Frame(np.asarray(f.p) * k, f.R)

    def part(x):
        new = {}
        for name in ("frame", "child_frame", "frame_a", "frame_b"):
            if name in x.__dataclass_fields__:
                new[name] = frame(getattr(x, name))
        for name in ("point_a", "point_b", "length", "pitch"):
            if name in x.__dataclass_fields__:
                new[name] = np.asarray(getattr(x, name)) * k if "point" in name else getattr(x, name) * k
        if isinstance(x, parts.Joint):
            new["damping"] = [d * stiff[u.removesuffix("/s")] for d, u in zip(x.damping, x.velocity_units, strict=True)]
            new["limits"] = x.limits * np.array([[k if u == "m" else 1.0] for u in x.position_units]).reshape(-1, 1)
        if isinstance(x, parts.Coupling):
            in_metres = {n: k if kind[n] == "m" else 1.0 for n in x.coefficients}
            new["coefficients"] = {n: c / in_metres[n] for n, c in x.coefficients.items()}
        if isinstance(x, parts.PointSpring):
            new |= {"stiffness": x.stiffness * m, "damping": x.damping * m, "rest": x.rest * k}
        if isinstance(x, parts.JointSpring):
            by = stiff[kind[x.joint]]
            rest = x.rest * (k if kind[x.joint] == "m" else 1.0)
            new |= {"stiffness": x.stiffness * by, "damping": x.damping * by, "rest": rest}
        return dataclasses.replace(x, **new)

    def motor(a):
        unit = "rad" if a.bodies else {**cut, **kind}[a.joint]
        return dataclasses.replace(a, effort=a.effort * push[unit])

    return cmb.Mechanism(
        plant.name,
        [parts.Body(b.name, b.mass * m, b.com * k, b.inertia * m * k * k) for b in plant.bodies],
        [part(j) for j in plant.joints],
        [part(x) for x in plant.loops],
        [part(s) for s in plant.springs],
        [motor(a) for a in plant.actuators],
        np.asarray(plant.gravity) * k,
    )


def scaled(plant, q, k=1.0, m=1.0):
    """The machine in other units, at a state that is the same in all of them."""
    rng = np.random.default_rng(0)
    v = plant.project_velocity(q, rng.standard_normal(plant.nv))
    position, speed, row = (
        np.where([u.startswith("m") for u in units], k, 1.0)
        for units in (plant.position_units, plant.velocity_units, plant.row_units)
    )
    effort = m * k * np.where([u == "N" for u in effort_units(plant)], 1.0, k)
    u = 10.0 * rng.standard_normal(plant.nu)
    energy = m * k * k
    other = in_units(plant, k, m)
    return Units(
        other, position * q, speed * v, effort * u, k, m, position, speed, energy / speed, effort, energy / row
    )


# -- machines --------------------------------------------------------------------------------------------------


def five_bar():
    plant = plants.five_bar()
    return plant, plant.assemble(left=2.1, right=1.0), ("left", "right"), None


def slider_crank():
    plant = plants.slider_crank()
    return plant, plant.assemble(q1=0.6), ("q1",), None


def loader():
    plant = plants.loader()
    return plant, loader_configuration(plant, 0.2, -0.2), ("lift", "tilt"), None


def stewart():
    plant = plants.stewart(carrier="free")
    lengths = np.array([0.03, -0.06, 0.05, 0.02, -0.04, 0.07])
    home = plants.catalogue["stewart"].initial(plant)[0]
    legs = [plant.position_names.index(n) for n in plant.actuator_names]
    q = plant.assemble(guess=home, **dict(zip(plant.actuator_names, home[legs] + lengths, strict=True)))
    return plant, q, tuple(plant.actuator_names), None


def two_arms():
    plant = plants.two_arms(effort=(150.0, 80.0, 25.0))
    return plant, two_arms_configuration(plant), tuple(plant.velocity_names[:3]), ("grasp_fx",)


def turned_linkage():
    """A four-bar linkage turned in space, closed by a revolute joint (three redundant rows), with a slider on it.

    Springs on the crank and between points; a motor at the crank, one on the slider and one at the cut joint.
    """
    T = parts.Frame.turned((1.0, 2.0, 3.0), 0.7, (0.3, 0.2, 0.1))
    links = [("a", 1.0, (0.01, 0.1, 0.1)), ("b", 2.0, (0.01, 0.3, 0.3)), ("c", 1.4, (0.01, 0.2, 0.2))]
    bodies = [parts.Body(n, 1.0 + x, (0.5 * x, 0.0, 0.0), i) for n, x, i in links]
    bodies.append(parts.Body("slide", 0.5, (0.1, 0.05, 0.02), (0.02, 0.03, 0.04)))
    joints = [
        parts.Revolute("a", "ground", "a", frame=T, damping=0.2),
        parts.Revolute("b", "a", "b", frame=parts.Frame((1.0, 0.0, 0.0))),
        parts.Revolute("c", "b", "c", frame=parts.Frame((2.0, 0.0, 0.0))),
        parts.Prismatic("s", "b", "slide", axis=(1.0, 0.3, 0.2), damping=0.3),
    ]
    cut = parts.Revolute(
        "d", "ground", "c", frame=T @ parts.Frame((1.8, 0.0, 0.0)), child_frame=parts.Frame((1.5, 0.0, 0.0))
    )
    springs = [
        parts.JointSpring("coil", "a", 15.0, 0.4),
        parts.JointSpring("buffer", "s", 40.0, 0.1, 0.5),
        parts.PointSpring("rope", "ground", "b", (0.0, 1.0, 0.5), (1.0, 0.1, 0.0), 20.0, 0.4, 0.3),
    ]
    motors = [parts.Actuator("a", effort=200.0), parts.Actuator("s", effort=150.0), parts.Actuator("d", effort=90.0)]
    plant = cmb.Mechanism("turned linkage", bodies, joints, [cut], springs, motors, (1.0, -9.0, 2.0))
    return plant, plant.assemble(a=1.0, s=0.2), ("a", "s"), ("d_x",)


MACHINES = [five_bar, slider_crank, loader, stewart, two_arms, turned_linkage]


# -- what is told of a machine -------------------------------------------------------------------------------------


def verdicts(of):
    """What must be the same."""
    plant, q = of.plant, of.q
    found, forces = plant.diagnose(q), reachable_forces(plant, q)
    acting = cmb.actuation(plant, q)
    decoupled = is_decoupled(plant, q)
    return {
        "diagnosis": (found.rank, found.generic_rank, found.dof, found.singular, found.redundant),
        "unique": found.unique_multipliers,
        "actuation": (acting.verdict, acting.rank, acting.joint if acting.margin < 0.999 else ""),
        "diagnosed": (found.actuation.verdict, found.actuation.rank),
        "decoupled": (decoupled.decoupled, decoupled.driving, decoupled.loaded, decoupled.row),
        "reachable": (forces.dimension, forces.rows, forces.loops),
        "coordinates": best_coordinates(plant, plant.terms(q, 0.0 * of.v).Z),
    }


def numbers(of):
    """What must be the same once it is divided by its unit."""
    plant, q, v, u = of.plant, of.q, of.v, of.u
    terms, rest = plant.terms(q, v), np.zeros(plant.nv)
    found = plant.diagnose(q)
    force = cmb.constraint_force(plant, q, v, u)
    unique = np.array([*found.unique_multipliers.values()], dtype=bool)
    yield "conditioning", found.conditioning
    yield "cosines", cmb.actuation(plant, q).singular_values
    yield "coupling", is_decoupled(plant, q).coupling
    yield "constraint force", force.force / of.force
    yield "multipliers", force.multipliers[unique] / of.row[unique]
    for name in FORMULATIONS:
        if name == "aghili-gamma":  # its gamma is of one unit: it needs coordinates of one kind
            continue
        with contextlib.suppress(cmb.errors.RedundantRowsError):
            yield name, cmb.dynamics.acceleration(terms, terms.B @ u, formulation=NamedFormulation(name)) / of.speed
    yield "jump", cmb.impact(plant, q, np.ones(plant.nv) * of.speed, 0.5).v / of.speed
    yield "holding", cmb.inverse_dynamics(plant, q, rest, rest).u / of.effort
    yield "moving", cmb.inverse_dynamics(plant, q, v, force.acceleration).f / of.force
    point = cmb.trim(plant, q)
    yield "trim", point.u / of.effort
    lin = cmb.linearize(plant, point)
    yield "poles", poles(lin)
    yield "modes", np.array([mode.frequency for mode in lin.modes()])


def poles(lin):
    """Squares of the poles, sorted: double poles at the origin would make square roots of rounding."""
    return np.sort_complex(np.linalg.eigvals(lin.A @ lin.A))


def laws(of, names, component):
    """Efforts of all laws, over their units."""
    plant, q, v = of.plant, of.q, of.v
    at = [plant.position_names.index(n) for n in names]
    metres = of.position[at]
    reference = cmb.Constant(q[at] + 0.05 * metres)
    motion = controllers.ProjectedInverseDynamics(plant, names, reference, bandwidth=8.0)
    part = controllers.ProjectedInverseDynamics(
        plant, controllers.Coordinates(plant, names[:1]), cmb.Constant(q[at[:1]] + 0.05 * metres[:1]), bandwidth=8.0
    )
    every = {"consistent": True, "bandwidth": 8.0}
    energy = of.mass * of.size**2
    stiffness = 200.0 * energy / metres**2
    made = {
        "motion": motion,
        "part of it": part,
        "consistent": controllers.ProjectedInverseDynamics(plant, names, reference, **every),
        "damped": controllers.ProjectedInverseDynamics(plant, names, reference, bandwidth=8.0, damped=0.01),
        "passive": controllers.PassiveJoints(motion),
        "braking": controllers.PassiveJoints(motion, on_loss="damp", margin=0.99),
        "limited": controllers.ConstrainedActuation(motion, limits=20.0 * of.effort),
        "impedance": controllers.Impedance(plant, names, reference, stiffness, 0.2 * stiffness),
        "gravity": controllers.GravityPD(plant, reference, kp=stiffness, kd=0.2 * stiffness, coordinates=names),
    }
    if component:
        rows = [plant.row_names.index(component[0])] if component[0] in plant.row_names else None
        unit = of.mass * of.size if rows is None else of.row[rows[0]]
        force = controllers.ConstraintForcePI(plant, [30.0 * unit], component, kp=0.5, ki=20.0)
        made["force"] = force
        made["hybrid"] = controllers.HybridMotionForce(motion, force)
    whole = controllers.ConstraintForcePI(plant, 20.0 * of.force, kp=0.5, ki=20.0) if component else None
    if whole:
        made["whole force"] = whole
    terms = plant.terms(q, v)
    for name, law in made.items():
        start = law.start(plant)
        yield name, law(0.0, terms, start) / of.effort
        if hasattr(law, "report"):
            for key, value in law.evaluate(0.0, terms, start).reported().items():
                if key in ("margin", "lost", "rank", "status", "limit_use", "coupling"):
                    yield f"{name}: {key}", value


def difference(found, truth):
    """The largest one, relative to the largest number."""
    found, truth = np.atleast_1d(found), np.atleast_1d(truth)
    return float(np.abs(found - truth).max(initial=0.0)) / max(float(np.abs(truth).max(initial=0.0)), 1e-12)


@pytest.fixture(scope="module", params=MACHINES, ids=lambda machine: machine.__name__)
def machine(request):
    """A machine with all that is told of it in metres and kilograms."""
    plant, q, names, component = request.param()
    one = scaled(plant, q)
    return plant, q, names, component, verdicts(one), dict(numbers(one)), dict(laws(one, names, component))


@pytest.mark.parametrize(("k", "m"), UNITS)
def test_a_machine_is_told_the_same_in_all_units(machine, k, m):
    plant, q, names, component, *truth = machine
    other = scaled(plant, q, k, m)
    assert verdicts(other) == truth[0]
    for found, expected in ((numbers(other), truth[1]), (laws(other, names, component), truth[2])):
        for key, value in found:
            # radians and metres in one matrix: at 1e-6 m that costs six of sixteen digits, over the conditioning
            assert difference(value, expected[key]) < (1e-7 if k < 1e-3 else 1e-9), key
