"""Static gains against requirements: derivatives, published plants, closed forms, minima at corners."""

import numpy as np
import pytest

from cmbcontrol.design.structured import MinimaxProblem, Requirement
from cmbcontrol.errors import DesignError
from cmbcontrol.linear.generalized_plant import GeneralizedPlant


class FreeGain:
    """Structure of one gain, all of whose entries are free."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns

    @property
    def start(self):
        return np.zeros(self.rows * self.columns)

    def gains(self, theta):
        return [theta.reshape(self.rows, self.columns)]

    def derivatives(self, theta):
        return [np.eye(len(theta)).reshape(-1, self.rows, self.columns)]

    def drawn(self, rng):
        """Gains of like sizes, or each of its own size."""
        n = self.rows * self.columns
        sizes = rng.uniform(-1.0, 1.0) if rng.random() < 0.5 else rng.uniform(-1.0, 2.0, n)
        return rng.standard_normal(n) * 10.0**sizes


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
