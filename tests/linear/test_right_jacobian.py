"""The inverse right Jacobian of joints: against differences and the adjoint."""

import numpy as np
import pytest
from scipy.linalg import expm

from cmbcontrol import plants
from cmbcontrol.linear.right_jacobian import group_joints, inverse_right_jacobian, rate_gradient
from cmbcontrol.model.elements import Free, Planar, Spherical
from tests import fixtures
from tests.fixtures import jacobian, largest, name_of

pytestmark = pytest.mark.nojit_slow  # many configurations, and no kernels but those of other tests


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.39, 0.41, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("kind", [Planar, Spherical, Free], ids=name_of)
def test_inverse_right_jacobian(kind, angle):
    plant = fixtures.random_tree(3, bodies=2, kinds=(kind,))
    joints = group_joints(plant)
    assert len(joints) == 2
    rng = np.random.default_rng(5)
    delta = rng.uniform(-1.0, 1.0, plant.nv)
    for _, k in joints:
        part = slice(k.start + 2, k.stop) if kind is Planar else slice(k.start, k.start + 3)
        delta[part] *= angle / np.linalg.norm(delta[part])
    q0 = plant.integrate(plant.neutral(), rng.uniform(-0.5, 0.5, plant.nv))
    q = plant.integrate(q0, delta)
    found = inverse_right_jacobian(joints, delta)
    step = 0.2 * min(0.1, np.pi - angle)
    by_differences = jacobian(lambda e: plant.difference(q0, plant.integrate(q, e)), plant.nv, step)
    assert largest(found - by_differences) < 1e-9 * largest(found)
    for _, k in joints:  # J_r = (1 - exp(-ad))/ad, from one matrix exponential
        ad, n = adjoint(kind is Planar, delta[k]), k.stop - k.start
        J = expm(np.block([[-ad, np.eye(n)], [np.zeros((n, 2 * n))]]))[:n, n:]
        assert largest(found[k, k] @ J - np.eye(n)) < 1e-13 * max(1.0, largest(found))
    v = rng.uniform(-1.0, 1.0, plant.nv)
    bent_parametrization = jacobian(lambda e: inverse_right_jacobian(joints, delta + e) @ v, plant.nv, step)
    assert largest(rate_gradient(joints, delta, v) - bent_parametrization) < 1e-8 * max(
        1.0, largest(bent_parametrization)
    )


def adjoint(planar, d):
    if planar:
        return np.array([[0.0, -d[2], d[1]], [d[2], 0.0, -d[0]], [0.0, 0.0, 0.0]])
    turn = fixtures.skew(d[:3])
    return turn if d.size == 3 else np.block([[turn, np.zeros((3, 3))], [fixtures.skew(d[3:]), turn]])


def test_joints_that_commute_have_none():
    assert group_joints(plants.five_bar()) == ()
    assert group_joints(plants.particle_on_circle()) == ()
    assert inverse_right_jacobian((), np.ones(3)).tolist() == np.eye(3).tolist()
