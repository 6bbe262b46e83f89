"""Characteristics: forces are the slopes of what they store, and have the values that they are made of."""

from dataclasses import dataclass

import numpy as np
import pytest

from cmbcontrol import JointForce, PointForce
from cmbcontrol.characteristics import (
    Characteristic,
    DamperTable,
    FormulaForce,
    Friction,
    GasSpring,
    Rope,
    SpringDamper,
    SpringTable,
    Strut,
)
from tests.fixtures import refuses, slope

STORING = [
    SpringDamper(120.0, rest=0.3, damping=4.0),
    SpringTable([0.1, 0.2, 0.5, 0.9], [-5.0, 0.0, 20.0, 100.0]),
    SpringTable([0.1, 0.2], [3.0, 4.0]),
    Rope(0.4, stiffness=90.0, damping=1.0),
    Strut(0.4, stiffness=90.0, damping=1.0),
    GasSpring(0.5, pressure=2e5, area=1e-3, volume=6e-4),
    GasSpring(0.5, pressure=2e5, area=1e-3, volume=6e-4, exponent=1.0),
    GasSpring(0.5, pressure=2e5, area=1e-3, volume=6e-4, exponent=1.0 + 1e-7),
    SpringDamper(30.0) + SpringTable([0.1, 0.7], [3.0, 9.0]) + Rope(0.4, 5.0),
]


@pytest.mark.parametrize("law", STORING, ids=lambda law: type(law).__name__)
def test_static_forces_are_slopes_of_the_energy(law):
    for x in (-0.05, 0.05, 0.15, 0.33, 0.61, 0.77, 1.4):
        found = slope(lambda s, x=x: law.energy(x + s), 2e-4)
        assert law.force(x, 0.0) == pytest.approx(found, rel=1e-9, abs=1e-7)


def test_tables_go_through_their_points_without_overshoot():
    x, y = [0.0, 1.0, 2.0, 3.0, 5.0], [0.0, 1.0, 1.0, 4.0, 10.0]
    table, damper = SpringTable(x, y), DamperTable(x, y)
    for a, b in zip(x, y, strict=True):
        assert table.force(a, 7.0) == pytest.approx(b) == damper.force(7.0, a)
    between = np.array([table.force(s, 0.0) for s in np.linspace(1.0, 2.0, 20)])
    assert np.all(between == pytest.approx(1.0))
    assert np.all(np.diff([table.force(s, 0.0) for s in np.linspace(-1.0, 7.0, 400)]) >= -1e-12)
    ends = [table.force(s, 0.0) for s in (5.0, 6.0, 7.0)]
    assert ends[2] - ends[1] == pytest.approx(ends[1] - ends[0])
    assert damper.energy(3.0) == 0.0


def test_ropes_pull_and_struts_push():
    rope, strut = Rope(1.0, 100.0, 10.0), Strut(1.0, 100.0, 10.0)
    assert rope.force(0.9, 5.0) == 0.0 == strut.force(1.1, -5.0)
    assert rope.force(1.1, 2.0) == pytest.approx(10.0 + 20.0)
    assert rope.force(1.1, -2.0) == 0.0  # the damper does not push
    assert strut.force(0.9, -2.0) == pytest.approx(-10.0 - 20.0)
    assert strut.force(0.9, 2.0) == 0.0


def test_gas_obeys_its_law():
    spring = GasSpring(0.5, pressure=2e5, area=1e-3, volume=6e-4, exponent=1.3, ambient=1e5)
    volume = 6e-4 - 0.2 * 1e-3
    pressure = 2e5 * (6e-4 / volume) ** 1.3
    assert spring.force(0.3, 0.0) == pytest.approx(1e-3 * (1e5 - pressure))


def test_friction_has_its_levels():
    bearing = Friction(2.0, static=3.0, viscous=0.1, transition_rate=1e-4, stribeck_rate=0.01)
    assert bearing.force(0.0, 0.002) == pytest.approx(3.0, rel=0.05)
    assert bearing.force(0.0, 1.0) == pytest.approx(2.1)
    assert bearing.force(0.0, -1.0) == pytest.approx(-2.1)
    assert bearing.force(0.0, 0.0) == 0.0
    assert Friction(2.0).static == 2.0


def test_numbers_by_name():
    both = SpringDamper(30.0, damping=2.0) + Friction(1.0)
    assert both.number_names[:3] == ("0_stiffness", "0_rest", "0_damping")
    assert both.number_names[3] == "1_coulomb"
    stiffer = both.with_numbers([60.0, *both.numbers[1:]])
    assert stiffer.force(1.0, 0.0) == 2.0 * both.force(1.0, 0.0)
    assert SpringTable([0.0, 1.0], [0.0, 1.0]).number_names == ()


@dataclass(frozen=True, eq=False)
class Own(Characteristic):
    """Of a user."""

    a: float
    n: int = 3

    def force(self, x, rate):
        return self.a * x**self.n


def test_ones_own():
    assert Own(2.0).force(3.0, 0.0) == 54.0
    assert Own(2.0).energy(3.0) == 0.0
    assert Own(2.0).number_names == ("a", "n")
    with pytest.raises(TypeError):
        Own(2.0) + 1.0


@pytest.mark.parametrize(("make", "words"), [
    (lambda: SpringDamper(damping=-1.0), ("damping",)),
    (lambda: SpringDamper(np.nan), ("stiffness",)),
    (lambda: SpringTable([0.0, 0.0], [1.0, 2.0]), ("increase",)),
    (lambda: SpringTable([0.0], [1.0]), ("two or more",)),
    (lambda: SpringTable([0.0, 1.0], [1.0]), ("y of SpringTable",)),
    (lambda: DamperTable([0.0, np.inf], [1.0, 2.0]), ("x of DamperTable",)),
    (lambda: Rope(-1.0, 10.0), ("length of Rope",)),
    (lambda: Rope(1.0, 0.0), ("stiffness of Rope",)),
    (lambda: Strut(1.0, 10.0, -2.0), ("damping of Strut",)),
    (lambda: GasSpring(0.5, -1.0, 1e-3, 1e-4), ("pressure of GasSpring",)),
    (lambda: GasSpring(0.5, 1e5, 0.0, 1e-4), ("area of GasSpring",)),
    (lambda: Friction(-1.0), ("coulomb",)),
    (lambda: Friction(2.0, static=1.0), ("static", "coulomb")),
    (lambda: Friction(2.0, transition_rate=0.0), ("transition_rate",)),
])  # fmt: skip
def test_wrong_numbers_are_told(make, words):
    refuses(make, *words, kind=ValueError)


class TestStoredEnergy:
    """Its slope is the force at rest, or it is refused: such an element would make energy of nothing."""

    @pytest.mark.parametrize(
        ("formula", "stored", "values"),
        [
            ("k*x", "k*x**2", {"k": 7.0}),
            ("k*x", "0.5*k*x**2 + 1e-3*k*x", {"k": 7.0}),
            ("k*x", "-k*x**2/2", {"k": 7e6}),
            ("k*max(x-h, 0)", "k*max(x-h, 0)**2", {"k": 1e4, "h": 0.03}),
            ("-k*max(h-x, 0)", "k*max(h-x, 0)**2/2 + k*h*min(x, 0)", {"k": 1e4, "h": 0.03}),
            ("k*x + c*rate", "k*x**2/2 + c*x", {"k": 1e-9, "c": 1e-9}),
            ("a*exp(x/b)", "a*exp(x/b)", {"a": 2.0, "b": 1e-3}),
            ("0", "1e-6*sin(x)", {}),
            ("c*tanh(rate/1e-3)", "2*c*x", {"c": 3.0}),
        ],
    )
    def test_what_is_not_the_integral(self, formula, stored, values):
        refuses(
            lambda: JointForce("f", "joint", FormulaForce(formula, stored, values)), "stored energy", "x = ", "slope",
            kind=ValueError,
        )  # fmt: skip

    @pytest.mark.parametrize(
        ("formula", "stored", "values"),
        [
            ("k*x", "k*x**2/2", {"k": 7.0}),
            ("k*x", "k*x**2/2 + 1e9", {"k": 7.0}),
            ("-k*max(h-x, 0)", "k*max(h-x, 0)**2/2", {"k": 3.4e7, "h": 0.03}),
            ("k*log(x/h)", "k*(x*log(x/h) - x)", {"k": 3.0, "h": 0.2}),
            ("k*sqrt(x)", "2*k*x**1.5/3", {"k": 3.0}),
            ("c*tanh(rate/1e-3) + k*x", "k*x**2/2", {"c": 3.0, "k": 5.0}),
            ("where_less(rate, 0, -c, c) + k*x**3", "k*x**4/4", {"c": 3.0, "k": 5.0}),
            ("a*exp(x/b)", "a*b*exp(x/b)", {"a": 2.0, "b": 1e-3}),
            ("k*x*(1 + rate**2)", "k*x**2/2", {"k": 1e-12}),
            ("k*abs(x)", "k*x*abs(x)/2", {"k": 1e12}),
            ("round(x)*0 + k", "k*x", {"k": 2.0}),
        ],
    )
    def test_what_is(self, formula, stored, values):
        JointForce("f", "joint", FormulaForce(formula, stored, values))

    def test_of_random_polynomials_and_their_parts(self):
        """200 of them; a coefficient that is off by a part in a thousand is told."""
        for seed in range(200):
            rng = np.random.default_rng([91, seed])
            c = rng.standard_normal(int(rng.integers(1, 6))) * 10.0 ** rng.uniform(-4, 6)
            names = {f"c{k}": float(x) for k, x in enumerate(c)}
            formula = " + ".join(f"c{k}*x**{k}" for k in range(len(c)))
            terms = [f"c{k}*x**{k + 1}/{k + 1}" for k in range(len(c))]
            FormulaForce(formula, " + ".join(terms), names)
            wrong = rng.integers(len(c))
            terms[wrong] = f"1.001*{terms[wrong]}"
            told = " + ".join(terms)
            refuses(lambda f=formula, t=told, n=names: FormulaForce(f, t, n), "stored energy", kind=ValueError)

    def test_of_a_class_of_ones_own(self):
        @dataclass(frozen=True)
        class Wrong(Characteristic):
            k: float

            def force(self, x, rate):
                return self.k * x

            def energy(self, x):
                return self.k * x**2

        refuses(lambda: JointForce("f", "joint", Wrong(3.0)), "stored energy", "'f'", kind=ValueError)
        refuses(lambda: PointForce("f", "a", "b", Wrong(3.0)), "stored energy", "'f'", kind=ValueError)

    def test_of_distances_only_those_that_there_are_count(self):
        law = FormulaForce("k*abs(x)", "k*x**2/2", {"k": 2.0})
        PointForce("f", "a", "b", law)
        refuses(lambda: JointForce("f", "joint", law), "stored energy", kind=ValueError)

    def test_what_stores_nothing_may_do_any_work(self):
        @dataclass(frozen=True)
        class Plain(Characteristic):
            k: float

            def force(self, x, rate):
                return self.k * x

        for law in (Plain(3.0), FormulaForce("k*x", "", {"k": 3.0}), lambda x, rate: 3.0 * x):
            assert JointForce("f", "joint", law).energy(JointForce("f", "joint", law).numbers, [1.0]) == 0.0
