"""Generated functions against dense linear algebra, on the machines of the catalogue and on random ones."""

import ctypes

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol._jit import JIT_ENABLED
from cmbcontrol.errors import CmbError
from cmbcontrol.kernels.layout import WORKS
from cmbcontrol.trace.code import code
from cmbcontrol.trace.functions import Tracing, closeness, inverse
from cmbcontrol.trace.graph import Scalar
from cmbcontrol.trace.machine import Parameters

from ..robustness import machines
from ..seeds import many, rotating

pytestmark = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")

CONDITIONS = 3


def call(found, name, x, outputs):
    y = np.full(outputs, np.nan)
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3)(found.address(name))
    assert function(found.p.ctypes.data, np.ascontiguousarray(x).ctypes.data, y.ctypes.data) == 0
    return y


def independent_rows(plant, q):
    """The rows that a factorization with pivots takes, in the metric of M."""
    import scipy.linalg

    terms = plant.terms(q, np.zeros(plant.nv))
    G = np.linalg.solve(np.linalg.cholesky(terms.M), (plant.row_scale[:, None] * terms.A).T)
    return [int(k) for k in scipy.linalg.qr(G, pivoting=True, mode="r")[1][: terms.rank]]


class Judge:
    """Gauss' principle and projections by singular values, in mass coordinates, with some rows.

    With all of them it would be the same wherever the others follow from these. At dead points they do not: a gradient
    that is zero still has a rate.
    """

    def __init__(self, plant, q, v, u, rows):
        self.rows = rows
        self.terms = terms = plant.terms(q, v)
        self.L = np.linalg.cholesky(terms.M)
        self.scale = plant.row_scale[rows]
        self.G = np.linalg.solve(self.L, (self.scale[:, None] * terms.A[rows]).T).T
        U, s, Vt = np.linalg.svd(self.G, full_matrices=False)
        self.inverse, self.s = (Vt.T / s) @ U.T, s
        self.force = terms.B @ u

    def size(self, x):
        return np.linalg.norm(self.L.T @ x)

    def with_rows(self, x, values):
        """x, changed least such that A x has these values."""
        y = self.L.T @ x
        return np.linalg.solve(self.L.T, y + self.inverse @ (self.scale * values[self.rows] - self.G @ y))

    def acceleration(self):
        free = np.linalg.solve(self.terms.M, self.force - self.terms.h)
        found = self.with_rows(free, -self.terms.b)
        bound = self.size(free) + np.linalg.norm(self.inverse @ (self.scale * self.terms.b[self.rows]))
        bound += self.size(self.terms.v) * np.abs(self.terms.v).max(initial=0.0)  # parts of h and b that may cancel
        return found, bound


def state_of(plant, q, seed=0):
    rng = np.random.default_rng(seed)
    v = plant.project_velocity(q, rng.standard_normal(plant.nv) * plant.size / plant.unit_lengths)
    return v, rng.standard_normal(plant.nu)


def check(plant, q, seed=0, accuracy=1e-12):
    """All functions at a state with closed loops; each error over the size of what goes into the result."""
    v, u = state_of(plant, q, seed)
    nq, nv = plant.nq, plant.nv
    found = code(plant.arrays, independent_rows(plant, q), q)
    judge = Judge(plant, q, v, u, found.rows)
    blur = accuracy * max(1.0, (judge.s[0] / judge.s[-1]) ** 2 / 100.0 if judge.s.size else 1.0)
    rng = np.random.default_rng(seed + 1)

    off = rng.standard_normal(nv) * plant.size / plant.unit_lengths  # across the constraints
    y = call(found, "rate", np.concatenate([q, v + off, u]), CONDITIONS + nq + 2 * nv + WORKS)
    low, high, left = y[:3]
    if judge.s.size:
        assert np.sqrt(high) == pytest.approx(np.linalg.norm(judge.G, axis=1).max(), rel=1e-9)
        assert low <= high
        assert low > 0.0
    assert left > 0.0
    admissible = judge.with_rows(v + off, np.zeros(len(plant.row_names)))
    change, y = np.split(y[3:], [nv])
    assert judge.size(v + off + change - admissible) <= blur * judge.size(v + off)
    at = Judge(plant, q, admissible, u, found.rows)
    expected, bound = at.acceleration()
    rates, vdot, powers = np.split(y, [nq, nq + nv])
    np.testing.assert_allclose(rates, plant.position_rate(q, v + off + change), rtol=1e-12, atol=1e-300)
    # the admissible velocity is known to `blur` of the given one, and may be zero but for this
    rounding = Judge(plant, q, blur * (v + off), u, found.rows)
    of_rounding = np.linalg.norm(at.inverse @ (at.scale * rounding.terms.b[found.rows]))
    assert at.size(vdot - expected) <= 10.0 * blur * bound + of_rounding
    power, most = at.force @ admissible, np.abs(at.force) @ (np.abs(v + off) + np.abs(change))
    assert abs(powers[0] - power) <= 10.0 * blur * most  # as the admissible velocity

    opened = plant.integrate(q, 1e-4 * rng.standard_normal(nv) * plant.size / plant.unit_lengths)
    there = Judge(plant, opened, np.zeros(nv), u, found.rows)
    phi = there.terms.phi * plant.row_scale
    far = plant.size + np.abs(plant.link_poses(q)[1]).max(initial=0.0)
    y = call(found, "land", opened, CONDITIONS + 1 + nv + nq)
    residual, step, landed = y[3], y[4 : 4 + nv], y[4 + nv :]
    assert residual == pytest.approx(np.abs(phi).max(initial=0.0), abs=1e-13 * far)
    np.testing.assert_allclose(landed, plant.integrate(opened, step), rtol=1e-13, atol=1e-13)
    y = call(found, "close", opened, 3 + nq)
    assert y[2] == pytest.approx(residual, abs=1e-13 * far)
    full_rank = there.terms.rank == len(found.rows) == len(plant.row_names)
    if full_rank:  # else opened loops contradict each other, and what is left depends on the rows that are kept
        expected = there.with_rows(np.zeros(nv), -there.terms.phi)
        assert there.size(step - expected) <= 1e-6 * there.size(expected)
        A = plant.row_scale[:, None] * there.terms.A
        expected = plant.integrate(opened, -np.linalg.lstsq(A, phi, rcond=None)[0])
        # in radians and sizes of the machine: 1e-14, and 4e-9 where micrometres beside radians blur the judge's lstsq
        assert (np.abs(plant.difference(expected, y[3:])) / plant.displacement_scale).max() <= 1e-8


def test_terms_and_admissible_velocities():
    plant, q, _ = plants.catalogue["delta"].start()
    v, _ = state_of(plant, q)
    found, terms = code(plant.arrays, independent_rows(plant, q), q), plant.terms(q, v)
    expected = [x.ravel() for x in (terms.M, terms.h, terms.phi, terms.A, terms.b, terms.B)]
    expected = np.concatenate([*expected, [terms.kinetic, terms.potential]])
    y = call(found, "terms", np.concatenate([q, v]), expected.size)
    np.testing.assert_allclose(y, expected, rtol=1e-12, atol=1e-12)
    across = v + np.linspace(-1.0, 1.0, plant.nv)
    y = call(found, "admissible", np.concatenate([q, across]), CONDITIONS + plant.nv)
    np.testing.assert_allclose(y[CONDITIONS:], plant.project_velocity(q, across), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("balance", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(("name", "weighted"), [("stewart", False), ("two-arms", False), ("two-arms", True)])
def test_inverse_dynamics_at_its_sample(name, weighted, balance):
    """The smallest efforts by singular values, whatever multiple of A'A is in the metric."""
    plant, q, _ = plants.catalogue[name].start()
    rows = independent_rows(plant, q)
    at = Tracing(plant.arrays, Parameters(plant.arrays), rows, q)
    W = np.linspace(1.0, 4.0, plant.nu) if weighted else np.ones(plant.nu)
    found = inverse(at, W.tolist(), balance)
    near, reached, *rest = [x.value if isinstance(x, Scalar) else x for x in found.outputs]
    terms = plant.terms(q, np.linspace(0.3, 0.7, plant.nv))
    need = terms.M @ np.ones(plant.nv) + terms.h
    root = np.sqrt(W)
    u = root * (np.linalg.pinv(terms.Z.T @ terms.B * root) @ (terms.Z.T @ need))
    np.testing.assert_allclose(rest[: plant.nu], u, rtol=1e-10, atol=1e-10 * np.abs(u).max())
    lam = np.array(rest[plant.nu :], dtype=float)
    np.testing.assert_allclose(terms.B @ u - terms.A.T @ lam, need, atol=1e-10 * np.abs(need).max())
    assert 0.0 < near <= 1.0 + 1e-12 and 0.0 < reached <= 1.0


def test_closeness_is_that_of_the_kernels():
    assert closeness(1.0, 4.0, 3, 10.0) == 0.5
    assert closeness(1.0, 1.0, 1, 10.0) == 0.1  # a row alone is compared with a regular one
    assert closeness(np.inf, 0.0, 0, 10.0) == 1.0
    assert closeness(-1e-20, 4.0, 3, 10.0) == 0.0
    assert closeness(1e-30, 1e-30, 2, 10.0) < 1e-5  # all have vanished


# the particle and the slider-crank are given by functions
@pytest.mark.parametrize("name", sorted(set(plants.catalogue) - {"particle", "slider-crank"}))
def test_catalogue(name):
    plant, q, _ = plants.catalogue[name].start()
    if plant.terms(q, np.zeros(plant.nv)).rank < plant.generic_rank(q):
        q = plant.assemble(left=2.1, right=1.0) if name == "five-bar" else near(plant, q)
    check(plant, q)


def near(plant, q):
    """A configuration some way from a singular one."""
    terms = plant.terms(q, np.zeros(plant.nv))
    for k in range(terms.dof):
        try:
            found = plant.close(plant.integrate(q, 0.3 * terms.unit_motions[:, k]))
        except CmbError:
            continue
        if plant.terms(found, np.zeros(plant.nv)).rank == plant.generic_rank(found):
            return found
    raise AssertionError("singular wherever it goes")


def random_machine(seed):
    """The plant and its configuration, or None where that is singular or the machine is refused."""
    made = machines.machine(seed)
    try:
        plant = machines.build(made)
        q = plant.close(made.q)
        regular = plant.terms(q, np.zeros(plant.nv)).rank == plant.generic_rank(q)
    except CmbError:
        return None
    return (plant, q) if regular else None


def check_seeds(seeds):
    done = 0
    for seed in seeds:
        found = random_machine(seed)
        if found is not None:
            check(*found, seed)
            done += 1
    return done


@pytest.mark.slow
def test_some_random_machines():
    assert check_seeds(range(36)) >= 25


@pytest.mark.rotates
def test_random_machines():
    assert check_seeds(rotating(40)) >= 0.5 * many(40)
