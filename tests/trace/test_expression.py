"""Formulas as texts: the same as functions to the last bit, and nothing else is run."""

import math

import numpy as np
import pytest

from cmbcontrol import characteristics
from cmbcontrol.errors import InputError, ModelError
from cmbcontrol.trace.expression import Expression, text_of
from cmbcontrol.trace.symbols import where_less

LAWS = {
    "spring": characteristics.SpringDamper(3.0, rest=0.1, damping=0.2).force,
    "table": characteristics.SpringTable([-1.0, 0.0, 0.4, 2.0], [-3.0, 0.0, 1.0, 30.0]).force,
    "friction": characteristics.Friction(1.0, static=1.5, viscous=0.1, stribeck_rate=0.05).force,
    "gas": characteristics.GasSpring(0.5, 1e6, 1e-3, 1e-3).force,
    "strut": characteristics.Strut(0.5, 1e4, 10.0).force,
    "deep": lambda x, rate: sum(((x + k) * np.sin(rate * k) - k) ** 3 / (2.0 + np.cos(x)) for k in range(1, 40)),
    "shared": lambda x, rate: (y := np.exp(x) * rate) * y + np.sqrt(np.abs(y)) / (1.0 + y * y),
    "choice": lambda x, rate: where_less(x, 0.2, -x, np.minimum(rate, x) + np.arctan2(x, rate) - np.rint(9 * x)),
    "negative": lambda x, rate: -2.5 * -x - (-rate) * 1e-300 - 1e300 * rate,
}


@pytest.mark.parametrize("name", LAWS)
def test_same_bits(name):
    law = LAWS[name]
    text = text_of(law, ["x", "rate"], [0.3, 0.7], "a law")
    one = Expression(text, ["x", "rate"])
    two = Expression(text_of(lambda x, rate: one(x, rate), ["x", "rate"], [0.3, 0.7], "a law"), ["x", "rate"])
    assert max(len(line) for line in text.split("\n")) < 400
    for x, rate in np.random.default_rng(0).uniform((-0.3, -0.9), (0.45, 0.9), (20, 2)):
        assert one(x, rate) == two(x, rate)
        assert one(x, rate) == pytest.approx(float(law(x, rate)), rel=1e-13, abs=1e-300)


def test_functions_and_lines():
    found = Expression("a = tan(x)\nb = min(a, 2) + max(x, 1) - round(1.4)\nabs(-b) + pi", ["x"])(0.5)
    assert found == pytest.approx(math.tan(0.5) + math.pi, rel=1e-15)
    assert Expression(" 3 ", ["x"])(0.0) == 3.0 and Expression(2.5, [])() == 2.5
    assert np.allclose(Expression("x**2", ["x"])(np.arange(3.0)), [0, 1, 4])
    assert text_of(lambda x: 7.0, ["x"], [0.1], "a constant") == "7.0"


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')", "x.real", "x[0]", "(lambda: x)()", "[x for x in (1,)]", "x if x else 1",
        "x < 1", "x and 1", "f'{x}'", "'text'", "None", "True", "y", "sin", "sin(x, x)", "sin(x=1)", "eval(x)", "1j",
        "x = 1", "x; y = 2", "import os", "x := 2", "a = b = x\na", "a, b = x\na", "pi = 3\npi", "*x", "x @ x",
        "x // 2", "x % 2", "~1", "", "1 +", "(" * 300 + "x" + ")" * 300, "-" * 500 + "x", "9" * 5000,
        "x" * 300_000, "+".join(["x"] * 50_000), "def f(): pass", "sin(*x)", "\0", "x\x00",
    ],
)  # fmt: skip
def test_nothing_else_is_understood(text):
    with pytest.raises(InputError, match="formula"):
        Expression(text, ["x"])


def test_other_than_texts():
    for given in (None, True, [1], {"x": 1}):
        with pytest.raises(InputError, match="must be a text"):
            Expression(given, ["x"])


def test_functions_that_cannot_be_written():
    with pytest.raises(ModelError, match="the force of stop is a function that decides"):
        text_of(lambda x: 1.0 if x > 0.3 else x, ["x"], [0.1], "the force of stop")
    with pytest.raises(ModelError, match="ZeroDivisionError"):
        text_of(lambda x: 1 / 0, ["x"], [0.1], "the force of stop")


def test_two_are_equal_where_their_texts_are():
    import pickle

    one = Expression("2*x", ["x"])
    assert one == pickle.loads(pickle.dumps(one)) and hash(one) == hash(Expression("2*x", ["x"]))
    assert one != Expression("x*2", ["x"]) and one != "2*x" and "2*x" in repr(one)
