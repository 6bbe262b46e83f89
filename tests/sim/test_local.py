"""Integration in independent coordinates: orders, one motion in every chart, closure, laws, stiffness."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import Controller, Evaluation
from cmbcontrol.linear.parametrization import NonlinearParametrization, TangentSpace
from cmbcontrol.model.elements import SlidingFriction
from cmbcontrol.papers.methods import LOCAL_METHODS, settings
from cmbcontrol.plants.governor import start as governor_start
from tests import fixtures
from tests.fixtures import near_miss, regular_start, spencers_second_start, symmetric_passages

FIXED = {"sdirk4": 4, "rodas4": 4, "rodas5p": 5}  # method: order
IMPLICIT = ("sdirk4", "rodas4", "rodas5p", "radau")


# -- order of convergence on machines -----------------------------------------------------------------------------


def five_bar():
    plant = plants.five_bar()
    return plant, regular_start(plant)


class Integral(Controller):
    """A continuous tracking law with an integral state (2,)."""

    period = None
    target = np.array([-1.2, 0.3])

    def start(self, plant):
        return np.zeros(2)

    def error(self, t, q):
        return np.array([np.sin(3.0 * t), 0.0]) + self.target - q[[0, 2]]

    def _derivative(self, t, terms, state):
        return self.error(t, terms.q)

    def evaluate(self, t, terms, state):
        return Evaluation(self._effort(t, terms, state), self._derivative(t, terms, state))

    def _effort(self, t, terms, state):
        return 40.0 * self.error(t, terms.q) - 5.0 * terms.v[[0, 2]] + 10.0 * state


class Sampled(Integral):
    """The same law, sampled."""

    period = 0.02
    derivative = None

    def update(self, t, terms, state):
        return state + self.period * self.error(t, terms.q)


def cases():
    plant, q0 = five_bar()
    yield "constant", plant, [1.0, -2.0], q0, None, 0.4, (0.02, 0.01)
    yield "law", plant, Integral(), q0, None, 0.2, (0.01, 0.005)
    kinds = (fixtures.Free, fixtures.Spherical, fixtures.Revolute)
    plant, q0 = fixtures.closed_machine(1, (fixtures.Spherical,), kinds=kinds, bodies=4)
    assert {"Free", "Spherical"} & {type(joint).__name__ for joint in plant.joints}
    q0, v0 = fixtures.admissible_state(plant, q0, 1)
    yield "free", plant, None, q0, v0, 0.4, (0.04, 0.02)


def distance(plant, a, b):
    """Largest difference of two runs at the same output times."""
    q = max(np.abs(plant.difference(x, y)).max() for x, y in zip(a.q.values, b.q.values, strict=True))
    return max(q, np.abs(a.v.values - b.v.values).max())


@pytest.mark.nojit_slow
@pytest.mark.parametrize("case", [pytest.param(0, marks=pytest.mark.slow), 1, 2], ids=["constant", "law", "free"])
@pytest.mark.first(1)
def test_order_of_convergence(case):
    _, plant, law, q0, v0, T, steps = list(cases())[case]
    times = [0.37 * T, T]  # the first lies within a step
    exact = cmb.simulate(plant, law, q0, v0, t_end=T, output_times=times, rtol=1e-13, atol=1e-13)
    for method, order in (FIXED | {"rk4": 4}).items():
        runs = [
            cmb.simulate(plant, law, q0, v0, t_end=T, output_times=[T], **settings(step=h, method=method))
            for h in steps
        ]
        last = [distance(plant, run, _last(exact)) for run in runs]
        assert order - 0.3 < np.log2(last[0] / last[1]) < order + 0.8, (method, last)
        assert [run.data.attrs["steps"] for run in runs] == [round(T / h) for h in steps]
        assert last[1] > 1e-12  # else rounding is compared
    for method in FIXED:
        run = cmb.simulate(plant, law, q0, v0, t_end=T, output_times=times, **settings(step=steps[1], method=method))
        assert distance(plant, run, exact) < 1e-5


def _last(run):
    """A run reduced to its last output."""

    class Last:
        q, v = run.q[-1:], run.v[-1:]

    return Last


# -- the same motion in every chart ---------------------------------------------------------------------------------


def redundant():
    plant, q0 = fixtures.closed_machine(2, (fixtures.Spherical,), twice=True, bodies=4)
    assert len(plant.row_names) == 2 * plant.generic_rank(q0)
    return plant, *fixtures.admissible_state(plant, q0, 2)


MACHINES = {  # plant, start, efforts, duration
    "five-bar": lambda: (*five_bar(), None, [3.0, -2.0], 0.7),
    "andrews": lambda: (*plants.catalogue["andrews"].start(), [0.033], 0.01),
    "bricard": lambda: (*plants.catalogue["bricard"].start(), None, 0.5),
    "redundant": lambda: (*redundant(), None, 0.4),
}


def charts(plant, q0):
    """Every kind of independent coordinates."""
    names = cmb.linear.parametrization.CoordinatePartitioning().at(plant, q0).names
    R = TangentSpace().at(plant, q0).R
    mixed = R + 0.2 * np.roll(R, 1, axis=0)
    return {
        "tangent": dict(parametrization="tangent"),
        "partitioning": dict(parametrization="partitioning"),
        "names": dict(coordinates=names),
        "matrix": dict(coordinates=mixed),
    }


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", ["five-bar", pytest.param("andrews", marks=pytest.mark.slow), "bricard", "redundant"])
@pytest.mark.first(1)
def test_the_same_motion(name):
    """That of the default method, closed by construction, with energy balanced to what the tolerance allows."""
    plant, q0, v0, u, T = MACHINES[name]()
    times = np.linspace(0.0, T, 9)
    whole = cmb.simulate(plant, u, q0, v0, t_end=T, output_times=times, rtol=1e-12, atol=1e-12)
    fast = max(1.0, np.abs(whole.v.values).max())
    for kind, options in charts(plant, whole.q.values[0]).items():
        methods = LOCAL_METHODS if kind == "tangent" else ("local-dop853", "rodas5p")
        for method in methods:
            tol = 1e-10 if method == "local-dop853" else 1e-8
            run = cmb.simulate(
                plant, u, q0, v0, t_end=T, output_times=times, rtol=tol, atol=tol, **settings(method=method, **options)
            )
            where = kind, method, distance(plant, run, whole) / fast
            assert where[-1] < 30.0 * tol, where
            assert run.max_drift < 1e-12, where
            power = max(1.0, np.abs(whole.kinetic.values).max())
            assert run.max_energy_error < 300.0 * tol * power, where
            assert np.abs(run.actuator_work.values - whole.actuator_work.values).max() < 300.0 * tol * power
            assert run.data.attrs["jacobians"] > 0 or method == "local-dop853"


@pytest.mark.nojit_slow
def test_a_long_motion_changes_charts():
    """Two seconds of the five-bar leave the first chart of both kinds; the motion stays the same."""
    plant, q0 = five_bar()
    whole = cmb.simulate(plant, None, q0, t_end=2.0, output_times=0.1)
    for kind in ("tangent", "partitioning"):
        run = cmb.simulate(
            plant,
            None,
            q0,
            t_end=2.0,
            output_times=0.1,
            rtol=1e-8,
            atol=1e-8,
            **settings(parametrization=kind, method="rodas5p"),
        )
        assert run.data.attrs["reparametrizations"] >= 1
        assert distance(plant, run, whole) < 1e-5
        assert run.max_drift < 1e-12


def test_energy_balance_follows_the_tolerance():
    plant, q0 = five_bar()
    for method in IMPLICIT:
        errors = [
            cmb.simulate(
                plant,
                [3.0, -2.0],
                q0,
                t_end=0.2,
                output_times=[0.0, 0.2],
                rtol=tol,
                atol=tol,
                **settings(method=method),
            ).max_energy_error
            for tol in (1e-4, 1e-6)
        ]
        assert errors[1] < 0.1 * errors[0] < 0.1 * 5e-2, (method, errors)


def tip(q):
    a, b = q[0], q[0] + q[1]
    return np.array([np.cos(a) + 1.5 * np.cos(b), np.sin(a) + 1.5 * np.sin(b)])


def tip_jacobian(q):
    (x, y), b = tip(q), q[0] + q[1]
    return np.array([[-y, -1.5 * np.sin(b), 0, 0], [x, 1.5 * np.cos(b), 0, 0]])


def test_functions_of_yours_as_coordinates():
    """The tip of the five-bar, whose accelerations need dV/dt v."""
    plant, q0 = five_bar()
    chart = NonlinearParametrization.of(tip, tip_jacobian)
    options = dict(t_end=0.1, output_times=[0.05, 0.1], rtol=1e-7, atol=1e-7)
    whole = cmb.simulate(plant, None, q0, **settings(**options))
    run = cmb.simulate(plant, None, q0, **settings(parametrization=chart, method="rodas5p", **options))
    assert distance(plant, run, whole) < 1e-6
    assert run.data.attrs["parametrization"] == "NonlinearParametrization"


def test_a_plant_of_functions():
    plant, q0, v0 = plants.catalogue["slider-crank"].start()
    assert isinstance(plant, cmb.FunctionPlant)
    options = dict(t_end=0.1, output_times=[0.05, 0.1], rtol=1e-9, atol=1e-9)
    whole = cmb.simulate(plant, None, q0, v0, **settings(**options))
    for method in ("rodas5p", "radau"):
        run = cmb.simulate(plant, None, q0, v0, **settings(method=method, **options))
        assert distance(plant, run, whole) < 1e-7
        assert run.max_drift < 1e-12


# -- laws -----------------------------------------------------------------------------------------------------------


@pytest.mark.nojit_slow
@pytest.mark.parametrize(
    "law",
    [pytest.param([1.0, -2.0], marks=pytest.mark.slow), Integral(), Sampled()],  # numbers: as in test_the_same_motion
    ids=["constant", "continuous", "sampled"],
)
@pytest.mark.first(1)
def test_laws(law):
    plant, q0 = five_bar()
    whole = cmb.simulate(plant, law, q0, t_end=0.5, output_times=0.01, rtol=1e-12, atol=1e-12)
    for method in LOCAL_METHODS:
        run = cmb.simulate(
            plant, law, q0, t_end=0.5, output_times=0.01, rtol=1e-8, atol=1e-8, **settings(method=method)
        )
        assert distance(plant, run, whole) < 3e-6, method
        assert np.abs(run.u.values - whole.u.values).max() < 2e-5, method
        assert np.abs(run.actuator_work.values - whole.actuator_work.values).max() < 2e-5, method


def test_a_stiff_law_is_in_the_jacobian():
    """A stiff position loop, 1e-4 s of time constant: its gains enter the Jacobian, so steps stay long."""

    class Stiff(Controller):
        period = None

        def effort(self, t, terms, state):
            return 1e5 * (np.array([-1.2, 0.3]) - terms.q[[0, 2]]) - 1e3 * terms.v[[0, 2]]

    plant, q0 = five_bar()
    run = cmb.simulate(plant, Stiff(), q0, t_end=0.3, output_times=[0.3], method="rodas5p", rtol=1e-5, atol=1e-5)
    assert run.data.attrs["steps"] < 150  # a step of DOP853 is at most some 6e-4 s here: more than 450
    assert np.abs(run.u.values).max() < 100.0


def test_a_law_that_fails_keeps_the_run():
    class Breaks(Integral):
        def evaluate(self, t, terms, state):
            if t > 0.05:
                raise ArithmeticError("the sensor is gone")
            return super().evaluate(t, terms, state)

    plant, q0 = five_bar()
    with pytest.raises(cmb.errors.SimulationError, match="the sensor is gone") as caught:
        cmb.simulate(plant, Breaks(), q0, t_end=1.0, method="rodas4")
    assert 0.0 < caught.value.partial.time[-1] <= 0.05


@pytest.mark.parametrize("method", ["rodas4", "radau"])
def test_a_mass_that_vanishes_keeps_the_run(method):
    """A slider whose mass is 0.5 - x, moving at 1 m/s."""
    plant = cmb.FunctionPlant(
        "leak", ("x",), M=lambda q: np.array([[0.5 - q[0]]]), h=lambda q, v: np.zeros(1), Phi=lambda q: np.zeros(0),
        A=lambda q: np.zeros((0, 1)), Adot_v=lambda q, v: np.zeros(0),
    )  # fmt: skip
    with pytest.raises(cmb.errors.SimulationError, match="mass matrix of 'leak' is not positive definite") as caught:
        cmb.simulate(plant, None, [0.0], [1.0], t_end=1.0, **settings(method=method))
    assert 0.0 < caught.value.partial.time[-1] <= 0.5


# -- where charts end -------------------------------------------------------------------------------------------------


@pytest.mark.nojit_slow
@pytest.mark.parametrize(
    ("method", "chart"),
    [(method, {}) for method in LOCAL_METHODS]
    + [("rodas4", dict(parametrization="partitioning")), ("radau", dict(coordinates=("left", "right")))],
)
@pytest.mark.first(2)
@pytest.mark.smoke
def test_a_singular_pose_ends_the_run(method, chart):
    """Steps shrink without end there; the run stops soon, names the configuration, and keeps what can be believed."""
    for tol in (1e-5, 1e-8):
        with pytest.raises(
            cmb.errors.SimulationError, match="SingularConfigurationError: a singular configuration"
        ) as caught:
            cmb.simulate(
                plants.five_bar(),
                None,
                spencers_second_start(),
                t_end=1.0,
                rtol=tol,
                atol=tol,
                **settings(max_steps=20_000, method=method, **chart),
            )
        run = caught.value.partial
        assert run.time[-1] == pytest.approx(symmetric_passages()[0], abs=3e-4)
        assert "left = 3.14" in str(caught.value) and "t = 0.65" in str(caught.value)
        tries = run.data.attrs["steps"] + run.data.attrs["rejected_steps"] + run.data.attrs["reparametrizations"]
        assert tries < 500
        assert run.data.attrs["evaluations"] < 5000
        assert run.max_energy_error < {1e-5: 5e-3, 1e-8: 5e-4}[tol]
        assert run.max_drift < 1e-11  # rounding is divided by the conditioning
        assert run.status == cmb.Status.SINGULAR_CONFIGURATION


@pytest.mark.nojit_slow
def test_the_tightest_tolerance_ends_too():
    """Rounding, not the tolerance, is what shortens the steps."""
    for method in ("local-dop853", "rodas5p"):
        with pytest.raises(cmb.errors.SimulationError, match="singular configuration") as caught:
            cmb.simulate(
                plants.five_bar(),
                None,
                spencers_second_start(),
                t_end=0.7,
                output_times=[0.7],
                rtol=1e-11,
                atol=1e-11,
                **settings(max_steps=3000, method=method),
            )
        assert caught.value.partial.data.attrs["steps"] < 3000
        assert caught.value.partial.max_energy_error < 1e-6


@pytest.mark.parametrize("method", FIXED)
def test_fixed_steps_end_at_a_singular_pose(method):
    with pytest.raises(cmb.errors.SimulationError) as caught:
        cmb.simulate(
            plants.five_bar(),
            None,
            spencers_second_start(),
            t_end=1.0,
            output_times=[1.0],
            **settings(step=0.01, method=method),
        )
    assert caught.value.partial.time[-1] == pytest.approx(0.65, abs=0.011)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("method", ["rodas5p", "local-dop853"])
def test_a_near_miss_is_no_end(method):
    """A four-bar with a coupler longer by 1e-6 misses its flat configuration by about 1e-3 and keeps its branch."""
    plant, q0, v0 = near_miss(1e-6)
    options = dict(t_end=1.0, output_times=[0.5, 1.0])
    whole = cmb.simulate(plant, None, q0, v0, **settings(**options))
    run = cmb.simulate(plant, None, q0, v0, rtol=1e-8, atol=1e-8, **settings(method=method, **options))
    assert whole.data["conditioning"].values[-1] > 0.01  # it is past
    assert distance(plant, run, whole) < 1e-3


def test_a_singular_start_is_refused():
    singular = np.array([np.pi, -np.pi, 0.0, np.pi])
    for method in ("rodas4", "radau"):
        with pytest.raises(cmb.errors.SimulationError, match=r"t = 0 s.*singular configuration.*dop853.* passes it"):
            cmb.simulate(plants.five_bar(), None, singular, t_end=1.0, **settings(method=method))


@pytest.mark.nojit_slow
@pytest.mark.parametrize(
    ("names", "vanishes"),
    [
        (("left", "right"), lambda q: q[0] + q[1] - q[2] - q[3]),  # the outer links in one line
        (
            ("left", "elbow_left"),
            lambda q: q[3],
        ),  # the right arm straight: the left joints no longer tell the configuration
        (("elbow_left", "right"), None),
    ],
    ids=["left-right", "left-elbow_left", "elbow_left-right"],
)
def test_named_coordinates_end_where_they_become_dependent(names, vanishes):
    """Where that is, the integration in all coordinates tells."""
    plant, q0 = five_bar()
    options = dict(t_end=1.0, method="rodas5p", rtol=1e-7, atol=1e-7)
    if vanishes is None:
        assert cmb.simulate(plant, None, q0, **settings(coordinates=names, **options)).time[-1] == 1.0
        return
    whole = cmb.simulate(plant, None, q0, t_end=1.0, rtol=1e-10, atol=1e-10, output_times=1e-4)
    turned = np.unwrap([vanishes(q) for q in whole.q.values], period=np.pi)
    crossing = np.flatnonzero(np.diff(np.floor(turned / np.pi)))[0]  # of a multiple of pi
    with pytest.raises(
        cmb.errors.SimulationError, match=f"'{names[0]}', '{names[1]}' cease to be independent"
    ) as caught:
        cmb.simulate(plant, None, q0, **settings(coordinates=names, **options))
    run = caught.value.partial
    assert run.time[-1] == pytest.approx(whole.time[crossing], abs=2e-4)
    assert run.data.attrs["steps"] + run.data.attrs["rejected_steps"] < 500
    with pytest.raises(cmb.errors.SimulationError, match="max_steps"):
        cmb.simulate(plant, None, q0, **settings(coordinates=names, max_steps=5, **options))


# -- stiffness --------------------------------------------------------------------------------------------------------


def cost(run):
    """Evaluations of the equations of motion; a Jacobian counts for three."""
    return run.data.attrs["evaluations"] + 3 * run.data.attrs.get("jacobians", 0)


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_the_stiff_governor_costs_a_fifteenth():
    """IFToMM A05, K = 8e5 N/m, C = 4e4 N s/m: the default method is bound by stability, whatever its tolerance."""
    plant = plants.governor()
    q0, v0 = governor_start(plant)
    options = dict(t_end=3.0, output_times=0.03)
    exact = cmb.simulate(plant, None, q0, v0, rtol=1e-10, atol=1e-10, **settings(**options))

    def measure(method, tol):
        run = cmb.simulate(plant, None, q0, v0, rtol=tol, atol=tol, **settings(method=method, **options))
        return cost(run), np.abs(run.q.values - exact.q.values).max(), np.abs(run.v.values - exact.v.values).max()

    loose, tight = measure("dop853", 1e-2), measure("dop853", 1e-5)
    for method, tol in (("radau", 1e-5), ("rodas5p", 1e-5), ("rodas4", 1e-6)):
        n, q, v = measure(method, tol)
        explicit, reached, _ = loose if q < loose[1] else measure("dop853", 1e-1)
        assert q < reached < 1e-4, method  # more accurate than the default method
        assert 15 * n < explicit, (method, n, explicit)
    n, q, v = measure("radau", 1e-6)  # position and velocity both
    assert v < tight[2] and max(q, v) < 1e-5
    assert 15 * n < tight[0]


@pytest.mark.nojit_slow
def test_the_governor_in_short():
    """As above in its first 0.05 s, when its fast modes die out."""
    plant = plants.governor()
    q0, v0 = governor_start(plant)
    whole = cmb.simulate(plant, None, q0, v0, t_end=0.05, output_times=[0.01, 0.05], rtol=1e-10, atol=1e-10)
    for method in IMPLICIT:
        run = cmb.simulate(
            plant, None, q0, v0, t_end=0.05, output_times=[0.01, 0.05], rtol=1e-6, atol=1e-6, **settings(method=method)
        )
        assert np.abs(run.q.values - whole.q.values).max() < 1e-6, method
        assert np.abs(run.dissipated_work.values - whole.dissipated_work.values).max() < 1e-3, method
        assert cost(run) < 0.5 * cost(whole), method


# -- arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (dict(method="rodas3"), ValueError, "no method 'rodas3'.*rodas4"),
        (dict(method="radau", step=0.01), TypeError, "'radau' chooses its step itself"),
        (dict(method="local-dop853", step=0.01), TypeError, "chooses its step itself"),
        (dict(method="rodas4", step=-0.01), ValueError, "step"),
        (dict(method="rodas4", stabilisation="baumgarte"), TypeError, "stays on the manifold by itself"),
        (dict(method="sdirk4", energy=True), TypeError, "stays on the manifold by itself"),
        (dict(parametrization="tangent"), TypeError, "'auto' integrates all coordinates.*rodas4"),
        (dict(method="rk4", step=0.01, coordinates=("left", "right")), TypeError, "'rk4' integrates all coordinates"),
        (dict(method="rodas4", parametrization="polar"), ValueError, "no parametrization 'polar'"),
        (dict(method="rodas4", parametrization=3), TypeError, "parametrization must be"),
        (dict(method="rodas4", coordinates=("left", "right"), parametrization="tangent"), TypeError, "not both"),
        (dict(method="rodas4", coordinates=("left",)), ValueError, "has 2 degrees of freedom.*got 1"),
        (dict(method="rodas4", coordinates=("left", "wrist")), (ValueError, KeyError), "wrist"),
        (dict(method="rodas4", coordinates=[[1, 0, 0, 0], [2, 0, 0, 0]]), ValueError, "are not independent"),
        (dict(method="rodas4", coordinates=[[1, 0, 0], [0, 1, 0]]), ValueError, "R "),
    ],
)
def test_bad_arguments(options, error, message):
    plant, q0 = five_bar()
    with pytest.raises(error, match=message):
        cmb.simulate(plant, None, q0, t_end=0.1, **settings(**options))


@pytest.mark.parametrize("method", ["radau", "rodas5p"])
def test_friction_in_proportion_to_loads_takes_what_it_takes(method):
    """A tool that is pressed on a rough floor: the work of friction that follows from the motion itself."""
    joints = [cmb.Prismatic("x", "ground", "rail", axis=(1, 0, 0)), cmb.Prismatic("z", "rail", "box", axis=(0, 0, 1))]
    floor, rub = cmb.PointOnPlane("sole", "ground", "box"), SlidingFriction("rub", "sole", 0.4)
    bodies = [cmb.Body("rail", 0.5), cmb.Body("box", 2.0)]
    box = cmb.Mechanism("box", bodies, joints, [floor], forces=[rub])
    run = cmb.simulate(box, q0=[0.0, 0.0], v0=[1.0, 0.0], t_end=0.2, method=method)
    assert run.max_energy_error < 1e-6
    assert float(run.data.dissipated_work[-1]) == pytest.approx(float(-run.kinetic[-1] + run.kinetic[0]), abs=1e-6)
    assert float(run.data.dissipated_work[-1]) > 0.5
