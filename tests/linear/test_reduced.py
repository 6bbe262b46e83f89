"""The local state-space form to first order: against differences of the nonlinear motion in the same coordinates."""

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.dynamics.derivatives import acceleration_derivatives, derivatives
from cmbcontrol.kernels.reduction import add_joint_bracket
from cmbcontrol.linear.reduced import bracket, reduced_model
from cmbcontrol.model.elements import Free, Planar, Spherical
from cmbcontrol.model.mechanism import Mechanism
from tests import fixtures
from tests.fixtures import NonlinearForm, driven_state, jacobian, mixed_coordinates, relative_error, sprung_machine

ALL_LOOPS = [(kind,) for kind in fixtures.LOOPS]


def check_local_form(plant, q, v, u, R):
    found = reduced_model(plant, q, v, u, R)
    form, p, n = NonlinearForm(plant, q, u, R), len(R), plant.nu
    y_v = R @ v
    step = 2e-3
    A = jacobian(lambda x: form.rate(x[:p], y_v + x[p:]), 2 * p, step)
    assert relative_error(found.A, A) < 1e-7
    assert relative_error(found.B, jacobian(lambda du: form.rate(np.zeros(p), y_v, du), n)) < 1e-9
    assert relative_error(found.drift, form.rate(np.zeros(p), y_v)) < 1e-9


@pytest.mark.nojit_slow
@pytest.mark.parametrize("kinds", ALL_LOOPS, ids=lambda kinds: kinds[0].__name__)
@pytest.mark.first(4)
def test_local_state_space_form_of_every_loop(kinds):
    for seed in (0, 1):
        plant, q = sprung_machine(seed, kinds)
        q, v, u = driven_state(plant, q, seed)
        check_local_form(plant, q, v, u, mixed_coordinates(plant, q))


@pytest.mark.parametrize("name", ["five-bar", "andrews", "bricard", "slider-crank", "n-four-bar"])
def test_local_state_space_form_of_ready_made_plants(name):
    plant, q, _ = plants.catalogue[name].start()
    q, v, u = driven_state(plant, q, 0)
    check_local_form(plant, q, v, u, mixed_coordinates(plant, q))


@pytest.mark.parametrize("seed", range(10))
def test_duplicated_rows_change_nothing(seed):
    kind = fixtures.LOOPS[seed % len(fixtures.LOOPS)]
    (once, q), (twice, _) = (sprung_machine(seed, (kind,), twice=twice) for twice in (False, True))
    q, v, u = driven_state(once, q, seed)
    R = mixed_coordinates(once, q)
    a, b = (reduced_model(plant, q, v, u, R) for plant in (once, twice))
    for key in ("A", "B", "drift", "K", "N", "a"):
        assert relative_error(getattr(a, key), getattr(b, key)) < 1e-9, key
    a, b = (acceleration_derivatives(plant, q, v, u) for plant in (once, twice))
    here = derivatives(once, q, v, u)
    delta = here.Z  # a_q and a_v hold on the manifold
    dv = -here.A_plus @ here.rate_q @ delta
    for one, two in ((a.a_q @ delta + a.a_v @ dv, b.a_q @ delta + b.a_v @ dv), (a.a_v @ delta, b.a_v @ delta)):
        assert relative_error(one, two) < 1e-9
    assert relative_error(a.a_u, b.a_u) < 1e-9
    rows = len(once.row_names)  # the smallest multipliers share equally
    assert relative_error(b.lam_u[:rows], 0.5 * a.lam_u) < 1e-9 or kind.__name__ in ("Universal",)


@pytest.mark.parametrize("kind", [Planar, Spherical, Free])
def test_brackets(kind):
    """ad_v x is the commutator of small motions v and x: q [+] v [+] x less q [+] x [+] v."""
    rng = np.random.default_rng(2)
    body = fixtures.body(rng, "body")
    plant = Mechanism("body", [body], [fixtures.joint(rng, kind, "joint", "ground", "body")])
    q = fixtures.random_state(plant, 0)[0]
    v, x = rng.standard_normal((2, plant.nv))

    def commutator(s):
        there = plant.integrate(plant.integrate(q, s * v), s * x)
        return plant.difference(plant.integrate(plant.integrate(q, s * x), s * v), there)

    truth = (commutator(1e-3) + commutator(-1e-3)) / 2e-6
    assert relative_error(bracket(plant, v, x[:, None])[:, 0], truth) < 1e-5
    out = np.zeros(plant.nv)
    add_joint_bracket(plant.arrays.links, v, v, 1.0, out)
    assert np.abs(out).max() < 1e-15
