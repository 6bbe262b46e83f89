"""The local state-space form, nonlinear: its rate against the full dynamics, its Jacobian against differences."""

import numpy as np
import pytest

from cmbcontrol import OperatingPoint, affine_approximation
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.linear import LocalForm
from cmbcontrol.linear.reduced import reduced_model
from tests.fixtures import (
    CHART_KINDS,
    CHART_MACHINES,
    RANDOM_CHART_MACHINES,
    admissible_state,
    away_from_base,
    chart_machine,
    chart_of,
    every_kind,
    every_machine,
    jacobian,
    largest,
    slope,
)

pytestmark = pytest.mark.nojit_slow  # many configurations, and no kernels but those of other tests


def moving_state(machine, kind, seed=0, base=False):
    """A form and a state with velocity and efforts, at the base point or off it."""
    chart = chart_of(machine, kind)
    rng = np.random.default_rng(seed)
    pose = chart.base if base else away_from_base(chart, seed)
    rates = rng.uniform(-1.0, 1.0, chart.dof) / max(1.0, largest(pose.K))
    u = rng.uniform(-1.0, 1.0, chart.plant.nu)
    return LocalForm(chart.plant, chart=chart), np.concatenate([pose.y, rates]), u, pose


@every_kind
@every_machine
def test_rate_is_that_of_the_full_dynamics(machine, kind):
    form, x, u, pose = moving_state(machine, kind)
    plant, p = form.plant, form.dof
    q, v = form.full(x, pose)
    assert form.state(q, v, pose.y) == pytest.approx(x, abs=1e-12)
    a = forward_dynamics(plant, q, v, u)
    rate = form(x, u, pose)
    scale = max(1.0, largest(a))

    def state(s):
        """Of the motion to first order."""
        return form.state(plant.integrate(q, s * v), v + s * a, pose.y)

    assert largest(rate - slope(state, 0.02)) < 1e-8 * scale
    if kind != "nonlinear":
        assert largest(rate[p:] - form.chart.base.V @ a) < 1e-9 * scale
    assert form.names == (*form.chart.names, *(f"{n}_rate" for n in form.chart.names))


@pytest.mark.parametrize(
    ("machine", "kind"),
    # functions of one's own make differences of differences: which loops there are changes nothing of that
    [
        pytest.param(
            m, k, marks=[pytest.mark.slow] * (k == "nonlinear" and m in RANDOM_CHART_MACHINES and m != "Spherical")
        )
        for m in CHART_MACHINES
        for k in CHART_KINDS
    ],
)
@pytest.mark.first(3)
def test_jacobian_is_that_of_differences(machine, kind):
    form, x, u, pose = moving_state(machine, kind)
    p = form.dof
    A, B = form.jacobian(x, u, pose)
    steps = 0.01 * np.concatenate([form.chart.units, np.ones(p)]) / max(1.0, largest(pose.T))
    found = jacobian(lambda d: form(x + d, u, pose), 2 * p, steps)
    assert largest(A - found) < 1e-6 * max(1.0, largest(A))
    found = jacobian(lambda d: form(x, u + d, pose), form.plant.nu, 1.0)
    assert largest(B - found.reshape(B.shape)) < 1e-9 * max(1.0, largest(B))


@pytest.mark.parametrize("kind", ["partitioning", "tangent", "linear"])
@pytest.mark.parametrize("machine", ["five-bar", "andrews", "bricard", "Spherical twice", "Planar", "particle"])
def test_jacobian_at_the_base_point_is_the_reduced_model(machine, kind):
    form, x, u, pose = moving_state(machine, kind, base=True)
    plant, v = form.plant, pose.K @ x[form.dof :]
    A, B = form.jacobian(x, u)
    small = reduced_model(plant, pose.q, v, u, pose.V)
    scale = max(1.0, largest(A))
    assert largest(A - small.A) < 1e-12 * scale
    assert largest(B - small.B) < 1e-12 * scale
    assert form(x, u) == pytest.approx(small.drift, abs=1e-9 * scale)
    point = OperatingPoint.at(plant, pose.q, u, v)
    lin = affine_approximation(plant, point, coordinates=form.chart.names if kind == "partitioning" else pose.V)
    assert largest(A - lin.A) < 1e-9 * scale
    assert largest(form(x, u) - lin.drift) < 1e-9 * scale


def test_charts_agree_on_the_motion():
    """A short motion by Runge-Kutta in every kind of coordinates is the same."""
    plant, q0 = chart_machine("five-bar")
    _, v0 = admissible_state(plant, q0, 1)
    ends = []
    for kind in CHART_KINDS:
        form = LocalForm(plant, chart=chart_of("five-bar", kind))
        x, h = form.state(q0, v0), 2e-3
        for _ in range(50):
            k1 = form(x)
            k2 = form(x + 0.5 * h * k1)
            k3 = form(x + 0.5 * h * k2)
            x = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + form(x + h * k3))
        q, v = form.full(x)
        assert plant.closure_error(q) < 1e-13
        ends.append(np.concatenate([q, v]))
    assert largest(np.array(ends) - ends[0]) < 1e-8


def test_local_form_asks_for_a_base_point():
    plant, q0 = chart_machine("five-bar")
    with pytest.raises(TypeError, match="base point q0 or a chart"):
        LocalForm(plant)
    with pytest.raises(TypeError, match="base point q0 or a chart"):
        LocalForm(plant, q0=q0, chart=chart_of("five-bar", "tangent"))
    form = LocalForm(plant, "partitioning", q0)
    with pytest.raises(ValueError, match="x"):
        form(np.zeros(3))
    with pytest.raises(ValueError, match="u"):
        form(np.zeros(4), [1.0])
    pose = away_from_base(form.chart)
    assert form.reparametrize(pose.q).chart.q0.tolist() == pose.q.tolist()
