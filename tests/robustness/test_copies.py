"""Pickle, copy and deepcopy of all that is public: a copy is, and does, what the original does, to the last bit.

What there is, the valid calls of each public function give: a class that is new is in them, or the suite says so.
"""

import copy
import functools
import importlib
import inspect
import pickle
import pkgutil
import types
import warnings
from dataclasses import replace
from enum import Enum

import numpy as np
import pytest
import xarray

import cmbcontrol as cmb
from cmbcontrol import controllers, design, errors, linear, plants
from cmbcontrol.controllers.controller import start_of
from cmbcontrol.model import elements

from . import valid_calls

pytestmark = pytest.mark.nojit_slow

WAYS = {"pickle": lambda x: pickle.loads(pickle.dumps(x)), "copy": copy.copy, "deepcopy": copy.deepcopy}
PROTOCOLS = {"Controller", "Drive", "Evaluation", "Formulation", "MotionLaw", "Plant"}
NOT_PICKLED = {  # and why
    "PlantSystem": "python-control keeps its functions, and its own systems cannot be pickled either",
    "Synthesis": "it holds systems of python-control, which cannot be pickled",
    "FunctionPlant": "of the functions that these calls make on the spot; those of a module are below",
    "FunctionTask": "the same",
    "NonlinearParametrization": "the same",
    "Event": "the same",
    "Release": "the same",
}


# -- what is alike -------------------------------------------------------------------------------------------


def differences(a, b, at="", seen=None):
    """Where two objects differ, in words; anything that is numbers by their bits."""
    seen = set() if seen is None else seen
    if a is b or (id(a), id(b)) in seen:
        return
    seen.add((id(a), id(b)))
    if type(a) is not type(b):
        yield f"{at}: {type(a).__name__} and {type(b).__name__}"
    elif isinstance(a, np.ndarray) and a.dtype != object:
        if a.dtype != b.dtype or a.shape != b.shape or a.tobytes() != b.tobytes():
            yield f"{at}: {a} and {b}"
    elif isinstance(a, xarray.Dataset):
        if not a.identical(b):
            yield f"{at}: not identical"
    elif isinstance(a, (dict, types.MappingProxyType)):
        if list(a) != list(b):
            yield f"{at}: {list(a)} and {list(b)}"
        for key in a.keys() & b.keys():
            yield from differences(a[key], b[key], f"{at}[{key!r}]", seen)
    elif isinstance(a, (tuple, list, np.ndarray)):
        if len(a) != len(b):
            yield f"{at}: {len(a)} and {len(b)} entries"
        for i, (x, y) in enumerate(zip(a, b, strict=False)):
            yield from differences(x, y, f"{at}[{i}]", seen)
    elif isinstance(a, types.MethodType):
        yield from differences((a.__func__, a.__self__), (b.__func__, b.__self__), at, seen)
    elif isinstance(a, functools.partial):
        yield from differences((a.func, a.args, a.keywords), (b.func, b.args, b.keywords), at, seen)
    elif isinstance(a, np.random.Generator):
        yield from differences(a.bit_generator.state, b.bit_generator.state, at, seen)
    elif is_plain(a):
        if not (a == b or (a != a and b != b)):
            yield f"{at}: {a!r} and {b!r}"
    elif not (is_ours(a) and hasattr(a, "__dict__")):
        return  # of another library, such as a solver: what it does shows in what is done with it
    else:
        one, other = vars(a), vars(b)
        for name in one.keys() | other.keys():
            if name in one and name in other:
                if type(a).__module__ == elements.__name__ and can_be_written(other[name]):
                    yield f"{at}.{name} can be written"
                yield from differences(one[name], other[name], f"{at}.{name}", seen)
            elif not is_kept(type(a), name):
                yield f"{at}: only one has {name}"


def can_be_written(x):
    return isinstance(x, np.ndarray) and x.flags.writeable


def is_plain(x):
    return isinstance(x, (str, bytes, int, float, complex, Enum, np.generic, set, frozenset, type, types.FunctionType))


def is_ours(x):
    return type(x).__module__.startswith("cmbcontrol")


def is_kept(kind, name):
    """Whether this is something that is found again where it is needed."""
    return name.startswith("_") or isinstance(inspect.getattr_static(kind, name, None), functools.cached_property)


def inside(x, seen=None):
    """All objects of the package that can be reached."""
    seen = {} if seen is None else seen
    if id(x) in seen or isinstance(x, (type, types.FunctionType, np.ndarray, str)):
        return seen.values()
    seen[id(x)] = x
    if isinstance(x, (dict, types.MappingProxyType)):
        parts = x.values()
    elif isinstance(x, (tuple, list)):
        parts = x
    else:
        parts = vars(x).values() if is_ours(x) and hasattr(x, "__dict__") else ()
    for part in parts:
        inside(part, seen)
    return seen.values()


# -- what there is -------------------------------------------------------------------------------------------


def further():
    """What calls return inside of arrays and lists, or where more happens than in the valid calls."""
    world, crank = valid_calls.W, plants.slider_crank()
    task = controllers.Coordinates(world.plant, valid_calls.JOINTS)
    motion = controllers.ProjectedInverseDynamics(world.plant, task, cmb.Constant([2.1, 1.0]), bandwidth=8.0)
    swinging = plants.pendulum()
    level = swinging.assemble(angle=-np.pi / 2)
    yield "TaskMotion", task.motion(world.path(0.1), world.terms)
    yield "ConstrainedEffort", controllers.ConstrainedActuation(motion, limits=50.0).solve(world.terms, np.ones(4))
    yield "SingularityEvent", cmb.simulate(crank, q0=[1.2, -2.4], v0=[2.0, -4.0], t_end=0.3).singularities()
    yield "SpecialPoint", cmb.continue_equilibria(swinging, level, 0.0, 100.0, effort="motor")
    hinge = cmb.Revolute("hinge", "ground", "rod", limits=(-0.5, 0.5))
    rod = cmb.Mechanism("rod", [cmb.Body.rod("rod", 1.0, 0.5)], [hinge], gravity=(0.0, -9.81, 0.0))
    yield "ContactForce", cmb.trim(rod, [0.0], free="all", limits="hold")
    for name, entry in plants.catalogue.items():
        yield name, entry
        yield name, entry.factory()


@pytest.fixture(scope="module")
def made():
    """(label, what the call returned) for all valid calls that return something of the package."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in valid_calls.calls():
            if not call.label.startswith("plot"):
                given = call.run()
                found += [(call.label, given)] if any(is_ours(x) for x in inside(given)) else []
    return [*found, *further()]


@pytest.mark.slow
def test_every_public_class_is_among_what_is_copied(made):
    kinds = {base for _, x in made for part in inside(x) for base in type(part).__mro__}
    for module in (cmb, controllers, design, linear, plants):
        for name, thing in vars(module).items():
            if isinstance(thing, type) and not issubclass(thing, (BaseException, Enum)):
                assert thing in kinds or name in PROTOCOLS, name


@pytest.mark.slow
def test_copies_are_alike(made):
    refused = set()
    for label, x in made:
        for way, again in WAYS.items():
            try:
                found = again(x)
            except (cmb.errors.ModelError, AttributeError, TypeError, ValueError):
                assert way == "pickle", label
                refused.add(type(x).__name__)
                continue
            if not isinstance(x, cmb.Stepper):  # what it keeps of the past is not copied
                assert list(differences(x, found, label)) == [], way
    assert refused == set(NOT_PICKLED)


def test_a_run_from_a_file_arrives():
    run = cmb.load_run(valid_calls.W.run_file)
    assert list(differences(run, WAYS["pickle"](run))) == []


@pytest.mark.smoke
def test_one_bit_is_a_difference():
    lin = valid_calls.W.lin
    other = copy.deepcopy(lin)
    other.A[0, 0] = np.nextafter(other.A[0, 0], np.inf)
    (said,) = differences(lin, other, "lin")
    assert said.startswith("lin.A: ")


# -- what they do --------------------------------------------------------------------------------------------


def is_law(x):
    try:
        return list(inspect.signature(x).parameters) == ["t", "terms", "state"]
    except (TypeError, ValueError):
        return False


def efforts(law, plant, terms):
    """Of a few samples, one after the other."""
    state, found = start_of(law, plant), []
    for k, here in enumerate(terms):
        now = law.evaluate(0.01 * k, here, state)
        found.append(np.array(now.effort))
        if now.state is not None:
            state = np.asarray(now.state) if law.period is not None else state + 0.01 * np.asarray(now.state)
    return found


def test_laws_do_the_same(made):
    """Before and after they are used."""
    rng, tried = np.random.default_rng(3), set()
    for label, law in made:
        if not is_law(law):
            continue
        plant = getattr(law, "plant", None) or valid_calls.W.plant
        q = valid_calls.W.q if plant.nv == valid_calls.W.plant.nv else plant.assemble()
        terms = [plant.terms(q, plant.project_velocity(q, rng.uniform(-0.1, 0.1, plant.nv))) for _ in range(3)]
        if getattr(law, "measures_force", False):
            terms = [replace(here, force=np.linspace(1.0, 2.0, len(here.A))) for here in terms]
        fresh = [again(law) for again in WAYS.values()]
        wanted = efforts(law, plant, terms)
        for other in (*fresh, *(again(law) for again in WAYS.values())):
            assert np.array_equal(efforts(other, plant, terms), wanted), label
        tried.add(type(law).__name__)
    assert len(tried) >= 12


# -- functions of a module -----------------------------------------------------------------------------------


def mass(q):
    return 2.0 * np.eye(2)


def weight(q, v):
    return [0.0, 19.6]


def line(q):
    return [q[1] - q[0]]


def gradient(q):
    return [[-1.0, 1.0]]


def curvature(q, v):
    return [0.0]


def lowered(t, q, v):
    return q[1] + 0.01


def test_a_plant_of_functions_of_a_module_runs_as_its_copies_do():
    plant = cmb.FunctionPlant("bead", ("x", "y"), mass, weight, line, gradient, curvature, actuators=("x",))
    level = cmb.Event(lowered, "lowered", terminal=True)
    run = cmb.simulate(plant, [0.1], [0.0, 0.0], t_end=0.1, output_times=0.01, events=level)
    for again in WAYS.values():
        assert list(differences(plant, again(plant))) == []
        other = cmb.simulate(again(plant), [0.1], [0.0, 0.0], t_end=0.1, output_times=0.01, events=again(level))
        assert list(differences(run.data.drop_attrs(), other.data.drop_attrs())) == []
        assert other.status == cmb.Status.EVENT


# -- errors --------------------------------------------------------------------------------------------------


def test_all_errors_that_leave_the_package_are_in_one_place():
    """`test_processes` copies each of them. Others are signals within one computation."""
    for module in pkgutil.walk_packages(cmb.__path__, "cmbcontrol."):
        if not module.name.endswith("__main__"):
            for name, thing in vars(importlib.import_module(module.name)).items():
                if isinstance(thing, type) and issubclass(thing, (cmb.CmbError, cmb.Interrupted, UserWarning)):
                    assert vars(errors).get(thing.__name__) is thing, f"{module.name}.{name}"
