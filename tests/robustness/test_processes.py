"""What goes to other processes and threads, and into copies: it arrives whole, or says what is missing."""

import copy
import inspect
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import controllers as ctl
from cmbcontrol import design, errors, plants
from cmbcontrol.controllers.conic_solver import ModelledSolver
from cmbcontrol.controllers.controller import ConstantEffort

pytestmark = pytest.mark.nojit_slow

WAYS = {"pickle": lambda x: pickle.loads(pickle.dumps(x)), "copy": copy.copy, "deepcopy": copy.deepcopy}
ways = pytest.mark.parametrize("again", WAYS.values(), ids=WAYS)


@pytest.fixture(scope="module")
def five_bar():
    return plants.five_bar(effort=60.0)


@pytest.fixture(scope="module")
def pose(five_bar):
    return five_bar.assemble(left=2.1, right=1.0)


def lambda_plant():
    """One that cannot be pickled."""
    return cmb.FunctionPlant(
        "free",
        ("x",),
        M=lambda q: [[2.0]],
        h=lambda q, v: [0.0],
        Phi=lambda q: [],
        A=lambda q: np.zeros((0, 1)),
        Adot_v=lambda q, v: [],
        actuators=("x",),
    )


# -- errors --------------------------------------------------------------------------------------------------

ERRORS = [x for x in vars(errors).values() if inspect.isclass(x) and issubclass(x, BaseException)]
GIVEN = {  # what the constructors ask for besides the message
    "AssemblyError": {"residuals": {"tip": 0.1}, "q": np.array([1.0, 2.0])},
    "DesignError": {"feasible": {"damping": 0.5}},
    "ContinuationError": {"partial": ["a part"]},
    "ParametrizationError": {"conditioning": 0.25},
    "SimulationError": {"partial": {"a": "part"}},
    "Interrupted": {"partial": {"a": "part"}},
}


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
@ways
def test_errors_arrive_with_their_attributes(kind, again):
    given = GIVEN.get(kind.__name__, {})
    error = kind("what failed, and where", **given)
    error.add_note("and a note")
    error.more = [1.0]
    found = again(error)
    assert type(found) is kind and str(found) == "what failed, and where"
    for name, value in {**given, "more": [1.0], "__notes__": ["and a note"]}.items():
        assert np.array_equal(getattr(found, name), value)


def test_a_run_that_failed_arrives(five_bar, pose):
    def law(t, terms, state):
        if t > 0.005:
            raise RuntimeError("no more")
        return [0.0, 0.0]

    with pytest.raises(cmb.errors.SimulationError) as caught:
        cmb.simulate(five_bar, law, pose, t_end=0.1)
    found = WAYS["pickle"](caught.value)
    assert str(found) == str(caught.value)
    assert found.partial.data.equals(caught.value.partial.data)
    assert found.partial.plant.name == five_bar.name


def test_what_cannot_be_pickled_stays_behind_with_a_word():
    plant = lambda_plant()
    run = cmb.simulate(plant, q0=[0.0], v0=[1.0], t_end=0.1, output_times=0.05)
    error = cmb.errors.SimulationError("ended", run)
    error.law = lambda t, terms, state: 0.0
    found = WAYS["pickle"](error)
    assert found.law is None
    assert "attribute 'law' was lost on the way" in found.__notes__[0]
    assert found.partial.data.equals(run.data)  # a run needs its plant for little; it is then as one from a file
    assert found.partial.plant is None


def fails(i):
    """In a worker: an error of each kind with attributes."""
    if i == 0:
        return plants.five_bar().assemble(left=0.0, right=3.14, elbow_left=0.0, elbow_right=0.1)
    plant = lambda_plant()
    error = cmb.errors.SimulationError("ended", cmb.simulate(plant, q0=[0.0], t_end=0.1, output_times=0.1))
    error.plant = plant
    raise error


def caught_from(answer):
    with pytest.raises(cmb.CmbError) as caught:
        answer(timeout=60)
    return caught.value


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("kind", ["pool", "executor"])
def test_workers_hand_their_errors_on(kind):
    """A pool waits for ever for an error that cannot be unpickled; an executor breaks."""
    context = multiprocessing.get_context("fork")
    if kind == "pool":
        with context.Pool(1) as pool:
            caught = [caught_from(pool.apply_async(fails, (i,)).get) for i in range(2)]
    else:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            caught = [caught_from(pool.submit(fails, i).result) for i in range(2)]
    assert caught[0].residuals["tip"] > 1.0 and caught[0].q.shape == (4,)
    assert caught[1].partial.time.size == 2 and caught[1].plant is None


# -- plants ----------------------------------------------------------------------------------------------------


def machines():
    built = {name: entry.factory() for name, entry in plants.catalogue.items()}
    crank, loader = built["slider-crank"], built["five-bar"]
    return built | {
        "without": crank.without("slider"),
        "coupled": crank.with_loops(cmb.Coupling("gear", {"q1": 1.0, "q2": 0.5})),
        "coupled without": crank.with_loops(cmb.Coupling("gear", {"q1": 1.0, "q2": 0.5})).without("slider"),
        "opened": loader.without("tip"),
    }


@pytest.mark.parametrize("name", [*plants.catalogue, "without", "coupled", "coupled without", "opened"])
def test_plants_arrive(name):
    plant = machines()[name]
    q = plant.neutral()
    v = np.random.default_rng(0).uniform(-1.0, 1.0, plant.nv)
    before = plant.terms(q, v)
    for again in WAYS.values():
        found = again(plant)
        terms = found.terms(q, v)
        for key in ("M", "h", "phi", "A", "b", "B", "rank"):
            assert np.array_equal(getattr(terms, key), getattr(before, key)), key
        assert found.row_names == plant.row_names and found.absent == plant.absent
        assert not any(array.flags.writeable for array in (found.row_scale, found.effort, found.limits))
        with pytest.raises(AttributeError, match="frozen"):
            found.size = 2.0


def test_a_plant_of_local_functions_says_that_it_cannot_be_pickled():
    plant = lambda_plant()
    with pytest.raises(
        cmb.errors.ModelError, match=r"'free' cannot be pickled, for its function M cannot.*top level of a mod"
    ):
        pickle.dumps(plant)
    assert copy.deepcopy(plant) is plant
    run = cmb.simulate(plant, q0=[0.0], t_end=0.1, output_times=0.1)
    assert copy.copy(run).plant is copy.deepcopy(run).plant is plant


def test_a_coupled_plant_does_not_have_the_modes_of_the_one_without():
    """They are kept by name of the loops that are gone."""
    crank = plants.slider_crank()
    open_crank = crank.as_at(crank.without("slider"))
    assert open_crank.row_names == ()
    coupled = crank.with_loops(cmb.Coupling("gear", {"q1": 1.0, "q2": 0.5}))
    assert coupled.as_at(open_crank).row_names == ("gear",)


# -- laws ------------------------------------------------------------------------------------------------------


LAWS = (
    *("motion", "task", "computed torque", "impedance", "gravity", "limits", "on model", "observer", "chain"),
    *("feedback", "observer feedback", "numbers", "hybrid", "passive", "direct", "cvxpy"),
)


@cache
def laws():
    """Each kind of controller once: a plant, a configuration and a function that makes the law."""
    five_bar = plants.five_bar(effort=60.0)
    q = five_bar.assemble(left=2.1, right=1.0)
    names, path = ("left", "right"), cmb.Sine([2.1, 1.0], [0.2, 0.1], 0.5)
    arms = plants.two_arms("planar")
    qa = plants.catalogue["two-arms"].initial(arms)[0]
    shoulder = ("left_shoulder", "left_elbow", "left_wrist")

    def motion(**options):
        return ctl.ProjectedInverseDynamics(five_bar, names, path, bandwidth=8.0, **options)

    def held(solver):
        arm = ctl.ProjectedInverseDynamics(arms, shoulder, cmb.Constant(qa[:3] + 0.05), bandwidth=8.0)
        cone = ctl.Cone("grasp", mu=0.5, normal=(1.0, 0.0), minimum=20.0)
        return ctl.ConstrainedActuation(arm, cones=[cone], solver=solver)

    def chain():
        sensors = ctl.Encoder(bits=14) | ctl.FilteredDifference(0.01)
        after = ctl.Saturation() | ctl.Delay(1e-3, 0.0) | ctl.FirstOrderActuator(0.01) | ctl.DriveFriction(1.0)
        return sensors | motion(period=1e-3) | ctl.RateLimit(1e3) | after

    def model():
        return cmb.linearize(five_bar, cmb.trim(five_bar, q), coordinates=names, outputs=names)

    def feedback():
        return design.lqr(model(), np.eye(4), np.eye(2))

    crank = plants.slider_crank()
    bead = plants.particle_on_circle(mass=2.0, gravity=(0.0, 0.0))

    def hybrid():
        path = ctl.ProjectedInverseDynamics(bead, ["q2"], cmb.Constant([0.0]), bandwidth=5.0)
        return ctl.HybridMotionForce(path, ctl.ConstraintForcePI(bead, [3.0], ["circle"], kp=1.0, ki=10.0))

    def passive():
        return ctl.PassiveJoints(ctl.ProjectedInverseDynamics(crank, "q1", cmb.Constant(0.6), bandwidth=8.0))

    task = ctl.PointTask(five_bar, "left_upper", (1.5, 0.0, 0.0), axes="xy")
    of_five_bar = {
        "motion": motion,
        "task": lambda: ctl.ProjectedInverseDynamics(five_bar, task, cmb.Constant([0.5, 1.9]), bandwidth=8.0),
        "computed torque": lambda: ctl.ComputedTorque(five_bar, path, bandwidth=8.0),
        "impedance": lambda: ctl.Impedance(five_bar, names, path, stiffness=50.0, damping=9.0),
        "gravity": lambda: ctl.GravityPD(five_bar, cmb.Constant([2.1, 1.0]), kp=10.0, kd=1.0),
        "limits": lambda: ctl.ConstrainedActuation(motion(), limits=5.0),
        "on model": lambda: ctl.WithModel(plants.five_bar(), motion()),
        "observer": lambda: ctl.MotionObserver(motion(period=1e-3), ("left", "elbow_right"), 60.0, limits=80.0),
        "chain": chain,
        "feedback": feedback,
        "observer feedback": lambda: ctl.ObserverFeedback(
            feedback(), design.kalman(model(), names, effort_noise=1.0, measurement_noise=1e-6), names
        ),
        "numbers": lambda: ConstantEffort([1.0, 2.0]),
    }
    found = {name: (five_bar, q, make) for name, make in of_five_bar.items()}
    found |= {"hybrid": (bead, bead.neutral(), hybrid), "passive": (crank, np.array([0.6, -1.2]), passive)}
    return found | {solver: (arms, qa, lambda solver=solver: held(solver)) for solver in ("direct", "cvxpy")}


def states(plant, q, count):
    rng = np.random.default_rng(0)
    near = [plant.close(plant.integrate(q, 0.2 * rng.uniform(-1.0, 1.0, plant.nv))) for _ in range(count)]
    return [plant.terms(x, plant.project_velocity(x, rng.uniform(-1.0, 1.0, plant.nv))) for x in near]


def answers(plant, law, here):
    start = getattr(law, "start", None)
    c = np.zeros(0) if start is None else start(plant)
    return [np.array(law(0.3 + 0.01 * i, terms, c)) for i, terms in enumerate(here)]


@pytest.mark.parametrize("name", LAWS)
def test_laws_arrive_before_and_after_use(name):
    plant, q, make = laws()[name]
    law, here = make(), states(plant, q, 4)
    fresh = {way: again(law) for way, again in WAYS.items()}
    wanted = answers(plant, law, here)
    used = {f"{way}, used": again(law) for way, again in WAYS.items()}
    for way, other in {**fresh, **used}.items():
        assert type(other) is type(law)
        assert np.array_equal(answers(plant, other, here), wanted), way


@pytest.mark.parametrize("name", LAWS)
def test_threads_may_share_a_law(name):
    plant, q, make = laws()[name]
    law, here = make(), states(plant, q, 12)
    shifted = [[*here[i:], *here[:i]] for i in range(0, 12, 3)]
    wanted = [answers(plant, law, turn) for turn in shifted]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda turn: answers(plant, law, turn), shifted))
    assert np.array_equal(found, wanted)


def test_threads_may_run_one_plant_with_one_law(five_bar, pose):
    law = ctl.ProjectedInverseDynamics(
        five_bar, ("left", "right"), cmb.Sine([2.1, 1.0], [0.2, 0.1], 0.5), bandwidth=8.0, period=5e-3
    )
    chain = law | ctl.RateLimit(1e3) | ctl.Delay(2e-3)
    starts = [five_bar.assemble(left=2.1 + 0.01 * i, right=1.0) for i in range(4)]

    def final(q0):
        return cmb.simulate(five_bar, chain, q0, t_end=0.1, output_times=0.05).q.values[-1]

    wanted = [final(q0) for q0 in starts]
    with ThreadPoolExecutor(4) as threads:
        assert np.array_equal(list(threads.map(final, starts)), wanted)


def test_programs_of_a_model_take_turns():
    """Two threads in one model of cvxpy would hand each other their numbers."""
    assert isinstance(laws()["cvxpy"][2]()._solver_of(0)[1], ModelledSolver)
