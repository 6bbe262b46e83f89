"""Static gains against requirements: derivatives, published plants, closed forms, minima at corners."""

import numpy as np
import pytest

from cmbcontrol.design.structured import MinimaxProblem, Requirement
from cmbcontrol.errors import DesignError, InputError
from cmbcontrol.linear.generalized_plant import GeneralizedPlant

from ..linear.compleib import BEST
from .free_gain import FreeGain, of_compleib


def drawn(seed, dt=0.0, n=5, m=2, p=2):
    """A stable random plant, which gains of order one keep stable."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    A = (
        A / (1.3 * np.abs(np.linalg.eigvals(A)).max())
        if dt
        else A - (np.linalg.eigvals(A).real.max() + 1.0) * np.eye(n)
    )
    shapes = {"B1": (n, 2), "B2": (n, m), "C1": (3, n), "C2": (p, n), "D12": (3, m), "D21": (p, 2)}
    parts = {name: 0.3 * rng.standard_normal(shape) for name, shape in shapes.items()}
    return GeneralizedPlant(A=A, **parts, dt=dt)


@pytest.mark.parametrize("dt", [0.0, 0.1])
@pytest.mark.parametrize("kind", ["hinf", "h2", "growth"])
@pytest.mark.parametrize("seed", range(4))
def test_derivatives(kind, dt, seed):
    """Of the largest function, against differences; where it is one peak, which the drawn plants have."""
    plant = drawn(seed, dt)
    if kind == "h2" and not dt:
        plant = GeneralizedPlant(plant.A, plant.B1, plant.B2, plant.C1, plant.C2, D12=plant.D12)
    problem = MinimaxProblem([Requirement("one", plant, kind, 0.7)], FreeGain(2, 2))
    theta = 0.1 * np.random.default_rng(seed + 50).standard_normal(4)
    at, step = problem(theta), 1e-6
    found = [(problem(theta + step * e).largest - problem(theta - step * e).largest) / (2.0 * step) for e in np.eye(4)]
    np.testing.assert_allclose(at.gradients[0], found, rtol=1e-4, atol=1e-5 * np.abs(found).max())
    assert problem.exact(theta)["one"] == pytest.approx(at.largest, rel=1e-8)


def test_the_largest_of_many_plants():
    """Values on a grid are from below; what is returned is not."""
    plants = [drawn(seed) for seed in range(12)]
    made = [Requirement(f"{k}", plant, "hinf", 1.0 + 0.1 * k, 0) for k, plant in enumerate(plants)]
    problem = MinimaxProblem(made, FreeGain(2, 2))
    rng = np.random.default_rng(0)
    for _ in range(20):
        theta = 0.3 * rng.standard_normal(4)
        at = problem(theta)
        values = problem.exact(theta)
        assert (at is None) == (not np.isfinite(max(values.values())))
        if at is not None:
            assert at.largest == pytest.approx(max(values.values()), rel=1e-8)


def test_a_scalar_plant_in_closed_form():
    """x' = x + u, u = -k (x + noise): poles at 1 - k, noise to u at most k (at high frequencies).

    Growth over its limit, 1 + (1 - k + 4)/4, falls with k, and k/8 rises: both are 3/4 at k = 6.
    """
    plant = GeneralizedPlant([[1.0]], [[0.0]], [[1.0]], [[0.0]], [[1.0]], D12=[[1.0]], D21=[[1.0]])
    quick, quiet = Requirement("quick", plant, "growth", -4.0), Requirement("quiet", plant, "hinf", 8.0)
    found = MinimaxProblem([quick, quiet], FreeGain(1, 1)).solve(3)
    assert found.theta == pytest.approx([-6.0], rel=1e-5)
    assert found.value == pytest.approx(0.75, rel=1e-5)


def test_a_double_integrator_by_a_controller_of_order_one():
    """Henrion and Overton's kind of corner: as fast as can be, all poles in one place, 1 s + b/(s + a): three of them.

    With u = -(d y + c x_K), x_K' = y - a x_K: s^3 + a s^2 + d s + (a d + c) has poles -a/3 at best.
    """
    plant = GeneralizedPlant(
        np.array([[0.0, 1.0], [0.0, 0.0]]), np.zeros((2, 1)), [[0.0], [1.0]], np.zeros((1, 2)), [[1.0, 0.0]]
    ).with_order(1)

    class Bounded(FreeGain):
        def gains(self, theta):
            K = theta.reshape(2, 2).copy()
            K[1, 1] = -3.0  # the pole of the controller
            K[1, 0] = 1.0
            return [K]

        def derivatives(self, theta):
            made = np.zeros((4, 2, 2))
            made[0, 0, 0] = made[1, 0, 1] = 1.0
            return [made]

    found = MinimaxProblem([Requirement("decay", plant, "growth", 0.0)], Bounded(2, 2)).solve(6, steps=600)
    assert found.value == pytest.approx(1.0 - 1.0, abs=0.02)  # 1 + growth; growth -1, to the cube root of rounding


def test_what_nobody_can_make_stable():
    plant = GeneralizedPlant([[1.0]], [[1.0]], [[0.0]], [[1.0]], [[1.0]])
    with pytest.raises(DesignError, match="no gains were found"):
        MinimaxProblem([Requirement("one", plant, "hinf")], FreeGain(1, 1)).solve(2)


def test_plants_whose_controls_are_measured_at_once_are_refused():
    plant = GeneralizedPlant([[-1.0]], [[1.0]], [[1.0]], [[1.0]], [[1.0]], D22=[[0.5]])
    with pytest.raises(InputError, match=r"one: controls reach the measurements at once \(D22\)"):
        MinimaxProblem([Requirement("one", plant, "hinf")], FreeGain(1, 1))


QUICK = [
    ("AC8", 0, "hinf"),
    ("NN2", 0, "absc"),
    ("NN1", 0, "h2"),
    ("NN15", 0, "hinf"),
    ("REA1", 0, "h2"),
    ("HE1", 1, "absc"),
    ("DIS5", 0, "hinf"),
]
OFTEN = 24  # starts with which most of the others are found, too


@pytest.mark.parametrize("key", QUICK, ids=str)
def test_gains_of_compleib(key):
    """At most one percent above what others found for plants of COMPl_eib; `benchmarks/compleib.py` has the times."""
    assert of_compleib(*key).solve().value <= 1.01


# not found to 1 % from so many starts of this seed: what is found over what others found
MISSED = {
    ("AC3", 0, "hinf"): 1.054,
    ("AC7", 1, "absc"): 1.43,
    ("AC7", 1, "hinf"): 1.013,
    ("AC12", 0, "hinf"): 1.029,
    ("HE3", 0, "hinf"): 1.025,
    ("NN12", 0, "absc"): 1.75,
    ("NN12", 0, "hinf"): 1.013,
}


@pytest.mark.slow
@pytest.mark.parametrize("key", sorted(set(BEST) - set(QUICK)), ids=str)
def test_all_gains_of_compleib(key):
    assert of_compleib(*key).solve(OFTEN).value <= MISSED.get(key, 1.01)


def test_processes_do_not_change_the_answer():
    problem = of_compleib("NN15", 0, "hinf")
    one, two = (problem.solve(4, seed=3, jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.theta, two.theta)
    np.testing.assert_array_equal(one.found, two.found)


# 1/(s+1)^3 and others: largest ki of k + ki/s with |S| < Ms (Astrom, Panagopoulos and Hagglund, 1998), by their
# equations, solved to four digits
LARGEST_KI = [
    ([1.0], np.poly([-1.0] * 3), 1.4, 0.6331, 0.32532),
    ([1.0], np.poly([-1.0] * 3), 2.0, 1.2229, 0.68519),
    ([1.0], np.poly([-1.0, -5.0, -25.0, -125.0]) / 15625.0, 1.4, 1.9267, 2.58543),
    ([1.0], np.poly([-1.0, -5.0, -25.0, -125.0]) / 15625.0, 2.0, 4.1351, 6.99151),
    ([1.0], np.poly([0.0, -1.0, -1.0]), 1.4, 0.1667, 0.0119),
    ([1.0], np.poly([0.0, -1.0, -1.0]), 2.0, 0.3332, 0.04167),
    ([9.0], np.polymul([1.0, 1.0], [1.0, 2.0, 9.0]), 1.4, 0.3125, 0.83881),
    ([9.0], np.polymul([1.0, 1.0], [1.0, 2.0, 9.0]), 2.0, 0.4821, 1.54095),
    ([1.0], np.poly([-1.0] * 4), 1.4, 0.4324, 0.19197),
    ([1.0], np.poly([-1.0] * 4), 2.0, 0.7754, 0.37788),
    ([1.0], np.poly([-1.0, -10.0, -100.0, -1000.0]) / 1e6, 1.4, 4.2116, 8.53233),
    ([1.0], np.poly([-1.0, -10.0, -100.0, -1000.0]) / 1e6, 2.0, 10.1177, 28.57016),
]


class LogGains(FreeGain):
    """One row of positive gains, as their logarithms."""

    @property
    def start(self):
        return np.full(self.columns, -2.0)

    def gains(self, theta):
        return [-np.exp(np.clip(theta, -30.0, 30.0))[None]]

    def derivatives(self, theta):
        return [-np.diag(np.exp(np.clip(theta, -30.0, 30.0)))[:, None, :]]

    def drawn(self, rng):
        return rng.uniform(-5.0, 2.0, self.columns)


@pytest.mark.parametrize(
    "case",
    [*LARGEST_KI[:2], *(pytest.param(case, marks=pytest.mark.slow) for case in LARGEST_KI[2:])],
    ids=lambda case: f"{len(case[1]) - 1}, {case[4]}",
)
def test_the_largest_integral_gain_of_a_limited_sensitivity(case):
    """A load step leads to the integral 1/ki of y: a ki that is 1 % below the largest can be had, one above cannot."""
    num, den, Ms, k, ki = case
    n = len(den) - 1
    A = np.diag(np.ones(n - 1), 1)
    A[-1] = -np.asarray(den)[:0:-1] / den[0]
    B, C = np.eye(n)[:, [-1]], np.zeros((1, n))
    C[0, : len(num)] = np.asarray(num)[::-1] / den[0]
    # states: plant and the integral of y; disturbance d at the input of the plant; measurements y and its integral
    A = np.block([[A, np.zeros((n, 1))], [C, np.zeros((1, 1))]])
    B = np.vstack([B, np.zeros((1, 1))])
    own, integral = np.hstack([C, [[0.0]]]), np.eye(n + 1)[[-1]]
    C2, zero = np.vstack([own, integral]), np.zeros((1, n + 1))
    sensitivity = GeneralizedPlant(A, B, B, zero, C2, D11=[[1.0]], D12=[[1.0]])
    # integral of y by d: 1/ki at rest, and of no interest elsewhere
    load = GeneralizedPlant(A, B, B, integral, C2).weighted((0.0, 1.0), (10.0, 1.0))
    for asked, can in ((0.99, True), (1.01, False)):
        wanted = [Requirement("peak", sensitivity, "hinf", Ms), Requirement("load", load, "hinf", 1.0 / (asked * ki))]
        found = MinimaxProblem(wanted, LogGains(1, 2)).solve(6)
        assert (found.value <= 1.0) == can, (asked, found.value, np.exp(found.theta), k)


@pytest.mark.slow
def test_two_masses_and_a_spring():
    """Henrion and Overton (2006): order 2, all poles at -sqrt(15)/5; six in one place, which eigenvalues tell to 1 %.

    y is the second mass, u acts on the first: G = 1/(s^4 + 2 s^2).
    """
    A = np.array([[0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, -1.0, 0.0]])
    B2 = np.array([[0.0], [1.0], [0.0], [0.0]])
    plant = GeneralizedPlant(A, np.zeros((4, 1)), B2, np.zeros((1, 4)), [[0.0, 0.0, 1.0, 0.0]]).with_order(2)

    class Companion(FreeGain):
        """b2 + (c0 + c1 s)/(s^2 - a1 s - a0)."""

        free = (0, 0, 0, 2, 2), (0, 1, 2, 1, 2)

        def gains(self, theta):
            K = np.zeros((3, 3))
            K[2, 0] = K[1, 2] = 1.0
            K[self.free] = theta
            return [K]

        def derivatives(self, theta):
            dK = np.zeros((5, 3, 3))
            dK[(range(5), *self.free)] = 1.0
            return [dK]

        def drawn(self, rng):
            return published * (1.0 + 0.2 * rng.uniform(-1.0, 1.0, 5))

        @property
        def start(self):
            return 1.2 * published

    num, den = (-8.6, 1.6731288055616043, 0.216), (4.6475800154489, 7.0)
    published = np.array([-num[0], num[0] * den[1] - num[2], num[0] * den[0] - num[1], -den[1], -den[0]])
    best = -np.sqrt(15.0) / 5.0
    problem = MinimaxProblem([Requirement("decay", plant, "growth", best)], Companion(1, 5))
    assert problem.exact(published)["decay"] == pytest.approx(1.0, abs=0.01)
    assert 0.99 <= problem.solve(8).value <= 1.05


@pytest.mark.parametrize(("terms", "published"), [(2, 2.001875), (4, 1.404063)], ids=["PI", "PID with a filter"])
def test_structured_mixed_sensitivity(terms, published):
    """S/KS of G = 200/((10 s + 1)(0.05 s + 1)^2) with Wp = (s/1.5 + 10)/(s + 1e-3), by a search without derivatives.

    Skogestad and Postlethwaite, example 2.17; controllers kp + ki/s + kd s/(tf s + 1).
    """
    poles = np.array([-0.1, -20.0, -20.0])
    A = np.diag(poles) + np.diag([1.0, 1.0], 1)
    C, B = np.array([[200.0 / (10.0 * 0.05**2), 0.0, 0.0]]), np.array([[0.0], [0.0], [1.0]])
    # e = w - y; states: plant, integral of e, that of the weight; controls: u and the rate of the filter's state
    k = 6
    A = np.block([[A, np.zeros((3, 3))], [np.vstack([-C, -C, 0.0 * C]), np.diag([0.0, -1e-3, 0.0])]])
    B1, B2 = np.zeros((k, 1)), np.zeros((k, 2))
    B1[3:5], B2[:3, 0], B2[5, 1] = 1.0, B[:, 0], 1.0
    C1, D11, D12 = np.zeros((2, k)), np.array([[1.0 / 1.5], [0.0]]), np.array([[0.0, 0.0], [1.0, 0.0]])
    C1[0, :3], C1[0, 4] = -C[0] / 1.5, 10.0 - 1e-3 / 1.5
    C2 = np.zeros((3, k))
    C2[0, :3], C2[1, 3], C2[2, 5] = -C[0], 1.0, 1.0
    plant = GeneralizedPlant(A, B1, B2, C1, C2, D11, D12, D21=[[1.0], [0.0], [0.0]])

    class Filtered(FreeGain):
        """kp, ki, kd and ln tf."""

        @property
        def start(self):
            return np.array([0.1, 0.01, 0.01, -3.0])[:terms]

        def gains(self, theta):
            kp, ki, kd, log = np.concatenate([theta, (0.0, -3.0)[terms - 2 :]])
            rate = np.exp(-np.clip(log, -30.0, 30.0))
            return [np.array([[kp + kd * rate, ki, -kd * rate], [rate, 0.0, -rate]])]

        def derivatives(self, theta):
            kd, rate = (theta[2], np.exp(-np.clip(theta[3], -30.0, 30.0))) if terms == 4 else (0.0, 1.0)
            made = np.zeros((4, 2, 3))
            made[0, 0, 0] = made[1, 0, 1] = 1.0
            made[2, 0, 0], made[2, 0, 2] = rate, -rate
            made[3] = np.array([[-kd * rate, 0.0, kd * rate], [-rate, 0.0, rate]])
            return [made[:terms]]

        def drawn(self, rng):
            return np.array([0.1, 0.01, 0.01, -3.0])[:terms] * 10.0 ** rng.uniform(-0.5, 0.5, terms)

    found = MinimaxProblem([Requirement("S/KS", plant, "hinf")], Filtered(2, 3)).solve()
    assert found.value == pytest.approx(published, rel=2e-3)
