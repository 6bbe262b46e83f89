"""A law on a model of its own: the exact one changes nothing, a wrong one does not lock it."""

import numpy as np
import pytest

from cmbcontrol import Constant, OperatingPoint, closed_loop_equilibrium, linearize_closed_loop, plants, simulate, trim
from cmbcontrol.controllers import ProjectedInverseDynamics, WithModel
from cmbcontrol.model.elements import Actuator, Body, Frame, PointOnLine, Revolute
from cmbcontrol.model.mechanism import Mechanism
from tests.fixtures import IntegralLaw, five_bar, five_bar_law, largest


@pytest.mark.nojit_slow
def test_the_own_model_changes_nothing():
    """A law on a model of its own that is the plant is the law itself, with its states, sampled or not."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.0, right=1.2)
    for period in (None, 5e-3):
        law = IntegralLaw(five_bar_law(plant, period=period), 50.0, period)
        runs = [simulate(plant, x, q, t_end=0.1, output_times=0.05) for x in (law, WithModel(plants.five_bar(), law))]
        assert largest(runs[0].q.values[-1] - q) > 1e-3
        assert largest(runs[0].q.values - runs[1].q.values) < 1e-12
        law = WithModel(plants.five_bar(), law)
        assert law.period == period
        assert law.coordinates == ("left", "right")
        assert linearize_closed_loop(plant, law, q).states[4:] == ("law_1", "law_2")


def test_what_the_law_does_not_have():
    """No reference, no states, no sample time: the law on its model has none either."""
    plant = plants.five_bar()

    def law(t, terms, state):
        return -terms.B.T @ (terms.M @ (30.0 * terms.v))

    on_model = WithModel(five_bar(0.2), law)
    assert on_model.period is None
    assert on_model.reference is None and on_model.coordinates is None and on_model.start(plant).size == 0
    run = simulate(plant, on_model, plant.assemble(left=2.1, right=1.0), t_end=0.2, output_times=0.2)
    terms = plant.terms(run.q.values[-1], run.v.values[-1])
    assert run.u.values[-1] == pytest.approx(-30.0 * terms.B.T @ five_bar(0.2).terms(terms.q, terms.v).M @ terms.v)
    at = OperatingPoint.at(plant, run.q.values[-1], 0.0, run.v.values[-1])
    loop = linearize_closed_loop(plant, on_model, at, find_equilibrium=False)
    assert loop.inputs == ("left_disturbance", "right_disturbance")


def test_another_reference_is_its_own(loaded):
    """A reference given to one law on a model leaves the law inside, and others that hold it, alone."""
    _, law = loaded
    before = law.law.reference
    other = WithModel(law.model, law.law)
    other = other.with_reference(Constant([2.0, 1.1]))
    assert law.reference is law.law.reference is before
    assert other.law.reference is other.reference is not before


def redundant_parallelogram(aside=0.0):
    """A rigid coupler on three parallel bars of 1 m: a row too many. The hole of the middle bar may lie aside."""
    bars = [Body.rod(f"bar{i}", 1.0, 1.0) for i in range(3)]
    joints = [Revolute(f"bar{i}", "ground", f"bar{i}", frame=Frame((float(i), 0, 0))) for i in range(3)]
    tip = Frame((1.0, 0, 0))
    joints.append(Revolute("coupler", "bar0", "coupler", frame=tip))
    tops = [
        PointOnLine("middle", "coupler", "bar1", (1.0, 0, 0), (1.0, aside, 0)),
        PointOnLine("end", "coupler", "bar2", (2.0, 0, 0), (1.0, 0, 0)),
    ]
    bodies = [*bars, Body.rod("coupler", 2.0, 2.0)]
    motors = [Actuator("bar0")]
    return Mechanism("redundant", bodies, joints, tops, actuators=motors, gravity=(0, -9.81, 0), precision=0.0)


def test_wrong_dimensions_do_not_lock_the_model():
    """Where a hole is drilled aside, a row that is redundant in the plant is independent: nothing could move."""
    plant, model = redundant_parallelogram(), redundant_parallelogram(0.01)
    q = plant.assemble(guess=[1.2, 1.2, 1.2, -1.2], bar0=1.2)
    assert (plant.terms(q, np.zeros(4)).dof, model.terms(q, np.zeros(4)).dof) == (1, 0)
    law = WithModel(model, ProjectedInverseDynamics(plant, ("bar0",), Constant([1.2]), bandwidth=5.0))
    rest = closed_loop_equilibrium(plant, law, q)
    assert rest.point.q[0] == pytest.approx(1.2, abs=0.05)
    assert rest.point.u == pytest.approx(trim(plant, q).u, rel=0.05)


def test_a_model_of_another_machine():
    plant, law = plants.five_bar(), five_bar_law(plants.five_bar())
    other = plants.parallel_four_bar()
    words = r"made for 'five-bar' with the position coordinates left, .*has q1, q2"
    with pytest.raises(ValueError, match=words):
        simulate(other, WithModel(plant, law), other.assemble(q1=1.0, q2=2.0), t_end=0.1)
    with pytest.raises(ValueError, match=words):
        linearize_closed_loop(other, WithModel(plant, law))
    unequal = Mechanism(plant.name, plant.bodies, plant.joints, plant.loops, actuators=plant.actuators[:1])
    with pytest.raises(ValueError, match=r"with the motors left, right; 'five-bar' has left$"):
        simulate(unequal, WithModel(plant, law), plant.assemble(left=2.1, right=1.0), t_end=0.1)
    with pytest.raises(TypeError, match=r"model must be a plant.*WithModel\(model, law\)"):
        WithModel(law, plant)
