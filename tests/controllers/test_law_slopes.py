"""Laws to first order by generated code: the same as by differences, and none where they would not be right."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import controllers, plants
from cmbcontrol.controllers import law_slopes
from cmbcontrol.errors import InputError
from tests.fixtures import five_bar_law, largest

pytestmark = pytest.mark.skipif(not law_slopes.enabled(), reason="needs generated code")


def count_differences(monkeypatch):
    """What differences were taken along."""
    from cmbcontrol.controllers import law_gains

    asked, by_differences = [], law_gains._Slope._next

    def counted(slope):
        asked.append(slope.what)
        return by_differences(slope)

    monkeypatch.setattr(law_gains._Slope, "_next", counted)
    return asked


def check(plant, law, q, monkeypatch, expected=0, **options):
    """All matrices to the accuracy of differences; which are asked for as often as expected."""
    truth = cmb.linearize_closed_loop(plant, law, q, **options)
    asked = count_differences(monkeypatch)
    found = cmb.linearize_closed_loop(plant, law, q, trace_at=q, **options)
    assert len(asked) == expected
    assert found.states == truth.states and found.inputs == truth.inputs
    for name in "ABCD":
        expected, given = getattr(truth, name), getattr(found, name)
        assert largest(given - expected) < 1e-8 * max(largest(expected), 1.0), name
    return found


@pytest.mark.parametrize("period", [None, 2e-3])
def test_projected_inverse_dynamics_with_a_wrong_model(plant, period, monkeypatch):
    model = plant.with_parameters({"left_lower_mass": 3.0, "right_upper_mass": 0.5})
    law = controllers.WithModel(model, five_bar_law(model, period=period))
    check(plant, law, plant.assemble(left=2.1, right=1.0), monkeypatch)


def test_other_laws_and_blocks(plant, monkeypatch):
    q, goal = plant.assemble(left=2.1, right=1.0), cmb.Constant([2.1, 1.0])
    pd = controllers.GravityPD(plant, goal, kp=40.0, kd=12.0, coordinates=("left", "right"))
    chained = controllers.FilteredDifference(0.01) | five_bar_law(plant, period=1e-3) | controllers.Delay(1e-3)
    integral = controllers.ProjectedInverseDynamics(
        plant, ("left", "right"), goal, bandwidth=6.0, integral=2.0, period=1e-3
    )
    for law in (pd, chained, integral):
        check(plant, law, q, monkeypatch)
        monkeypatch.undo()


def test_joints_of_several_axes(monkeypatch):
    """Velocities of a quaternion are no rates of positions."""
    plant = plants.stewart()
    q = plant.assemble()
    names = [name for name in plant.velocity_names if name.startswith("platform")][:6] or None
    point = cmb.trim(plant, q)
    law = controllers.StateFeedback(cmb.linearize(plant, point, coordinates=names), 1e3 * np.eye(6, 12)[:, :12])
    asked = count_differences(monkeypatch)
    found = cmb.linearize_closed_loop(plant, law, q, find_equilibrium=False, trace_at=q)
    by_code = len(asked)
    truth = cmb.linearize_closed_loop(plant, law, q, find_equilibrium=False)
    assert largest(found.A - truth.A) < 1e-7 * largest(truth.A)
    assert by_code < len(asked)


def test_a_corner_is_left_to_differences(plant, monkeypatch):
    """They find it, and say so; at some distance from it the code is right."""
    q = plant.assemble(left=2.1, right=1.0)
    hold = cmb.trim(plant, q).u
    inner = five_bar_law(plant)
    with pytest.raises(InputError, match="not smooth"):
        cmb.linearize_closed_loop(plant, inner | controllers.Saturation(np.abs(hold)), q, trace_at=q)
    check(plant, inner | controllers.Saturation(3.0 * np.abs(hold)), q, monkeypatch)


def test_forces_that_are_measured_and_drives_are_left_to_differences(plant, monkeypatch):
    q = plant.assemble(left=2.1, right=1.0)
    law = five_bar_law(plant, period=1e-3) | controllers.FirstOrderActuator(0.01)
    truth = cmb.linearize_closed_loop(plant, law, q)
    found = cmb.linearize_closed_loop(plant, law, q, trace_at=q)
    assert largest(found.A - truth.A) < 1e-8 * largest(truth.A)


def test_python_that_cannot_be_traced_is_left_to_differences(plant):
    q = plant.assemble(left=2.1, right=1.0)
    law = controllers.FunctionController(lambda t, terms, state: float(terms.q[0]) * np.ones(2))
    found = cmb.linearize_closed_loop(plant, law, q, find_equilibrium=False, trace_at=q)
    truth = cmb.linearize_closed_loop(plant, law, q, find_equilibrium=False)
    np.testing.assert_array_equal(found.A, truth.A)


def test_far_from_where_it_was_traced(monkeypatch):
    """The loader, all over its poses, with a payload that the law does not know."""
    plant = plants.loader(load=3000.0)
    sample = plant.assemble(boom=0.1, bucket=-0.2)
    true = plant.with_parameters({"load_mass": 4000.0})
    for boom, bucket in ((0.6, 0.4), (-0.5, -0.5), (0.5, -0.5), (-0.4, 0.4)):
        goal = cmb.Constant([boom, bucket])
        law = controllers.ProjectedInverseDynamics(plant, ("boom", "bucket"), goal, bandwidth=6.0, period=5e-3)
        law = controllers.WithModel(plant, law)
        q = plant.assemble(guess=sample, boom=boom, bucket=bucket)
        truth = cmb.linearize_closed_loop(true, law, q)
        found = cmb.linearize_closed_loop(true, law, q, trace_at=sample)
        assert largest(found.A - truth.A) < 1e-8 * largest(truth.A)


@pytest.mark.nojit_slow
def test_efforts_ahead_follow_the_reference_too():
    """They are computed beside the code: a shift of the reference has to move them, as differences do."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    law = controllers.PID(plant, cmb.Constant([2.1, 1.0]), kp=300.0, kd=20.0, coordinates=("left", "right"))
    exact, plain = (
        cmb.linearize_closed_loop(plant, law, q, coordinates=("left", "right"), trace_at=at) for at in (q, None)
    )
    np.testing.assert_allclose(exact.D, plain.D, atol=1e-6 * np.abs(plain.D).max())
    assert abs(plain.D[2, 2] - 300.0) > 1.0
