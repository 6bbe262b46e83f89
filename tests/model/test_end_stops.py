"""End stops: bounces by closed forms, energy, laws that are not told, and nothing where nothing touches."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Actuator, Body, Mechanism, Prismatic, Revolute, plants
from cmbcontrol.controllers import FunctionController, ProjectedInverseDynamics, compiled_law
from tests.fixtures import refuses

MASS, FORCE = 2.0, 6.0


def cart(restitution=0.0, **options):
    rail = Prismatic("x", "ground", "cart", axis=(1, 0, 0), limits=(-0.5, 1.0), restitution=restitution, **options)
    return Mechanism("cart", [Body("cart", MASS)], [rail], actuators=[Actuator("x")], gravity=(0, 0, 0))


@pytest.mark.parametrize("method", ["dop853", "rk4", "radau"])
@pytest.mark.parametrize("law", ["held", "sampled"])
def test_bounces_of_a_mass_that_is_pushed(method, law):
    """Each flight takes e times the time of the one before; in the end it rests."""
    e, a = 0.5, FORCE / MASS
    first = np.sqrt(2.0 * 1.0 / a)
    controller = [FORCE] if law == "held" else FunctionController(lambda t, terms, state: [FORCE], period=0.05)
    options = {"method": cmb.Integrator(method, step=1e-3)} if method == "rk4" else {"method": method}
    run = cmb.simulate(cart(e), controller, [0.0], t_end=4.0, limits="hold", **options)
    times = [event["time"] for event in run.events() if event["kind"] == "impact x_upper_stop"]
    flights = 2.0 * e * first * e ** np.arange(len(times) - 1)
    np.testing.assert_allclose(times, first + np.concatenate([[0.0], np.cumsum(flights)]), atol=1e-8)
    assert len(times) > 5 and "engaged x_upper_stop" in [event["kind"] for event in run.events()]
    assert float(run.q.max()) <= 1.0 + 1e-9 and float(run.q[-1, 0]) == pytest.approx(1.0)
    assert float(run.data.impact_loss[-1]) == pytest.approx(FORCE, rel=1e-6)  # all that the force has done
    assert run.max_energy_error < 1e-7
    assert float(run.data.multipliers.sel(row="x_upper_stop")[-1]) == pytest.approx(FORCE)
    assert float(run.reactions().force.sel(joint="x", axis="x")[-1]) == pytest.approx(0.0, abs=1e-9)


def test_a_stop_lets_go():
    """A force that turns round takes the mass off its stop at once."""
    plant = cart()
    run = cmb.simulate(
        plant, FunctionController(lambda t, terms, state: [FORCE * np.cos(t)]), [0.0], t_end=3.0, limits="hold"
    )
    kinds = [event["kind"] for event in run.events()]
    released = [event["time"] for event in run.events() if event["kind"] == "released x_upper_stop"]
    assert kinds[:2] == ["impact x_upper_stop", "engaged x_upper_stop"]
    assert released[0] == pytest.approx(np.pi / 2.0, abs=1e-8)
    after = run.time > np.pi / 2.0
    s = run.time[after] - np.pi / 2.0
    np.testing.assert_allclose(run.q[after, 0], 1.0 - FORCE / MASS * (s - np.sin(s)), atol=1e-8)


def limited_five_bar(restitution=0.2):
    plant = plants.five_bar()
    joints = [Revolute(j.name, j.parent, j.child, axis=j.axis, frame=j.frame, child_frame=j.child_frame,
                       limits={"left": (1.6, 2.3), "right": (0.5, 1.3)}.get(j.name), restitution=restitution)
              for j in plant.joints]  # fmt: skip
    return plant.with_parts(joints=joints)


def test_a_closed_machine_falls_on_its_stops():
    plant = limited_five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    run = cmb.simulate(plant, None, q, t_end=1.5, limits="hold")
    low, high = plant.limits.T
    assert (run.q.values >= low - 1e-9).all() and (run.q.values <= high + 1e-9).all()
    assert run.max_energy_error < 1e-7 and run.max_drift < 1e-12
    assert float(run.data.impact_loss[-1]) > 0.1
    free = cmb.simulate(plant, None, q, t_end=1.5, limits="ignore")
    assert (free.q.values > high + 0.01).any() or (free.q.values < low - 0.01).any()


@pytest.mark.parametrize("period", [None, 0.005])
@pytest.mark.filterwarnings("ignore::cmbcontrol.errors.SpeedWarning")
def test_laws_are_not_told(period):
    """A law that is asked to go beyond a stop pushes on as if nothing were there, by code and by Python alike."""
    plant = limited_five_bar(0.0)
    q = plant.assemble(left=2.1, right=1.0)
    target = cmb.Constant([2.5, 1.1])
    tracking = ProjectedInverseDynamics(
        plant, ("left", "right"), target, bandwidth=8.0, damping_ratio=1.0, period=period
    )
    run = cmb.simulate(plant, tracking, q, t_end=1.5, limits="hold")
    assert float(run.q.sel(position="left")[-1]) == pytest.approx(2.3, abs=1e-9)
    states = plant.terms(run.data.q.values[-1], run.data.v.values[-1], 1.5)
    asked = tracking.effort(1.5, states, np.zeros(0))
    np.testing.assert_allclose(run.data.u.values[-1], asked, atol=1e-3)
    assert run.max_energy_error < 1e-6


def test_nothing_changes_where_nothing_touches():
    """The same run to the last bit, by the same code, and its output has no rows of stops."""
    plant = limited_five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    hold, ignore = (cmb.simulate(plant, None, q, t_end=0.05, limits=x) for x in ("hold", "ignore"))
    np.testing.assert_array_equal(hold.q, ignore.q)
    assert list(hold.data.row.values) == list(plant.row_names)
    for key in ("evaluations", "evaluations_by_code", "machine_code"):
        assert hold.data.attrs[key] == ignore.data.attrs[key]


def test_loads_and_stops_together():
    plant = cart().with_parts(loads=[cmb.Load("push", "cart")])
    run = cmb.simulate(plant, None, [0.0], t_end=2.0, limits="hold", loads={"push_fx": lambda t: FORCE})
    assert float(run.q[-1, 0]) == pytest.approx(1.0)
    assert run.max_energy_error < 1e-8


def test_a_sampled_law_follows_the_constraints_that_hold():
    """Generated code of a law is that of the machine as it is at present, not of the one that the run began with."""

    @compiled_law
    def pull(t, terms, state=None):
        return terms.B.T @ (terms.P @ np.array([1.0, 2.0, -3.0, 4.0]))

    plain = FunctionController(lambda t, terms, state: pull(t, terms), period=0.005)
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    for switch in (cmb.Lock("left", at=0.05), cmb.Release("tip", at=0.05)):
        coded = cmb.simulate(plant, FunctionController(pull, period=0.005), q, t_end=0.1, switches=switch)
        python = cmb.simulate(plant, plain, q, t_end=0.1, switches=switch)
        np.testing.assert_allclose(coded.u, python.u, atol=1e-9)
        assert np.abs(coded.u[-1] - coded.u[0]).max() > 0.5


def test_starts_beyond_a_stop_are_told():
    refuses(lambda: cmb.simulate(cart(), None, [1.2], t_end=1.0, limits="hold"), "x", "1.2", "1", kind=ValueError)
    refuses(lambda: cart(restitution=1.5), "restitution", "0 to 1", kind=ValueError)
    named = cart().with_loops(cmb.Coupling("x_upper_stop", {"x": 1.0}, 0.0))
    refuses(
        lambda: cmb.simulate(named, None, [0.0], t_end=1.0, limits="hold"), "x_upper_stop", "rename", kind=ValueError
    )
