"""Arrays of symbols: what laws compute with them is what numpy computes with numbers, at the sample and elsewhere."""

import math

import numpy as np
import pytest

from cmbcontrol._jit import JIT_ENABLED, execute, kernel
from cmbcontrol.trace.code import compiled
from cmbcontrol.trace.functions import Function
from cmbcontrol.trace.graph import Graph, Scalar
from cmbcontrol.trace.symbols import NotTraceable, Symbols, Time, numbers_of, where_less

from . import test_c99

needs_jit = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")
needs_compiler = pytest.mark.skipif(test_c99.COMPILER is None, reason="no C compiler")

SAMPLE = np.array([1.5, -0.7, 2.2, 0.4, -1.1, 0.9])
NUMBERS = np.array([0.3, 1.7, -0.2, 2.1, -1.4, 0.6])
MATRIX = np.random.default_rng(9).standard_normal((6, 6))


@kernel
def run_code(address, p, x, y):
    return execute(address, p, x, y)


def traced(function, sample=SAMPLE):
    """A function of an array in symbols: its graph, and what it says."""
    graph = Graph()
    return graph, function(Symbols([graph.input("x", i, value) for i, value in enumerate(sample)]))


def flat(found):
    """Symbols and numbers in a row, out of arrays of any shape and lists of them."""
    parts = found if isinstance(found, (list, tuple)) else [found]
    return [x for part in parts for x in Symbols(part).view(np.ndarray).ravel()]


def values(found):
    return np.array([x.value if isinstance(x, Scalar) else x for x in flat(found)], dtype=float)


def numbers(function, x):
    found = function(x)
    parts = found if isinstance(found, (list, tuple)) else [found]
    return np.concatenate([np.ravel(part) for part in parts]).astype(float)


class Run:
    """Machine code of a function of an array, made at a sample."""

    def __init__(self, function, sample=SAMPLE):
        graph, found = traced(function, sample)
        self.outputs = flat(found)
        self.guards = len(graph.guards)
        self.address = compiled(Function(graph, len(sample), self.outputs))

    def __call__(self, x):
        y = np.full(len(self.outputs), np.nan)
        return run_code(self.address, np.zeros(1), np.ascontiguousarray(x, dtype=float), y), y


def check(function, sample=SAMPLE, others=4, accuracy=1e-14, seed=0):
    """Without a guard, the same numbers at the sample, and in machine code wherever it is asked."""
    graph, found = traced(function, sample)
    expected = numbers(function, sample)
    assert any(isinstance(x, Scalar) for x in flat(found))
    np.testing.assert_allclose(values(found), expected, rtol=accuracy, atol=accuracy)
    assert not graph.guards
    if JIT_ENABLED:
        run, rng = Run(function, sample), np.random.default_rng(seed)
        for _ in range(others):
            x = 1.5 * rng.standard_normal(len(sample))
            status, y = run(x)
            assert status == 0
            np.testing.assert_allclose(y, numbers(function, x), rtol=accuracy, atol=accuracy)


# -- one operation at a time -------------------------------------------------------------------------------------------


def in_place(x, operation):
    x = x.copy()
    same = x
    if operation == "add":
        x += NUMBERS
    elif operation == "subtract":
        x -= 0.5
    elif operation == "multiply":
        x *= x[::-1].copy()
    elif operation == "divide":
        x /= 3.0 + NUMBERS
    else:
        x[1:3] += x[3:5]
        x[5] = 2.0 * x[0]
        x[:1] -= 1.0
    return [x, same]  # the same array, as of numbers


OPERATIONS = {
    "whole numbers": lambda x: [
        np.floor(x), np.ceil(x), np.floor(-x), x % 1.0, x % -0.7, np.mod(x, 0.3), x // 0.3, x[0] % 0.4, 7.0 % x[2],
        x[1] // 0.25, 5.0 // (2.0 + x[0] ** 2), round(x[0]), np.rint(x)],
    "angles": lambda x: [
        np.tan(x), np.arctan(x), np.arcsin(np.tanh(x)), np.arccos(np.tanh(x)), np.hypot(x, 1.0), np.hypot(x, x[::-1])],
    "sums": lambda x: [x + NUMBERS, NUMBERS + x, x + 2.0, 2 + x, x + x[0], x[0] + NUMBERS, NUMBERS + x[0]],
    "differences": lambda x: [x - NUMBERS, NUMBERS - x, x - 2.0, 2 - x, x - x[0], x[0] - NUMBERS, NUMBERS - x[0], -x],
    "products": lambda x: [x * NUMBERS, NUMBERS * x, x * 2.0, 0.0 * x, x * x[0], x[0] * NUMBERS, NUMBERS * x[0]],
    "quotients": lambda x: [
        x / NUMBERS, x / 3.0, NUMBERS / (3.0 + x * x), 0.0 / (3.0 + x * x), x[0] / NUMBERS,
        NUMBERS / (2.0 + x[0] ** 2)],
    "numpy's numbers": lambda x: [
        np.float64(2.0) * x[0], x[0] - np.float64(3.0), np.float64(3.0) - x[0], np.int64(2) * x, x / np.float64(4.0),
        np.float64(1.0) / (2.0 + x[0] * x[0])],
    "arrays of whole numbers and truths": lambda x: [x * np.arange(6), np.arange(6) - x, x * (NUMBERS > 0.5)],
    "powers": lambda x: [x**2, x**3, x**4, x**5, x[0] ** 2, x[1] ** 3, np.square(x), np.power(x, 2)],
    "other powers": lambda x: [(1.0 + x * x) ** 0.5, (1.0 + x * x) ** -1.4, (1.0 + x * x) ** x[0], (2.0 + x) ** -3],
    "log": lambda x: [np.log(1.0 + x * x), np.log(2.0 + x[0] ** 2)],
    "sin, cos, tanh": lambda x: [np.sin(x), np.cos(x), np.tanh(x), np.sin(-x), np.cos(-x), np.sin(x[0]), np.tanh(x[1])],
    "exp": lambda x: [np.exp(x), np.exp(x[0]), np.exp(-x * x)],
    "sqrt": lambda x: [np.sqrt(1.0 + x * x), np.sqrt(2.0 + x[0] ** 2)],
    "atan2": lambda x: [np.arctan2(x, NUMBERS), np.arctan2(NUMBERS, x), np.arctan2(x[0], x[1]), np.arctan2(1.0, x)],
    "steps": lambda x: np.rint(10.0 * x),
    "abs": lambda x: [np.abs(x), abs(x), abs(x[1]), np.abs(x[0])],
    "sign": lambda x: [np.sign(x), np.sign(x[1]), np.sign(x[:2] - x[:2])],
    "smaller and larger": lambda x: [
        np.minimum(x, NUMBERS), np.maximum(NUMBERS, x), np.minimum(x, 0.5), np.maximum(x, x[0]), np.maximum(x[0], 0.0)],
    "clip": lambda x: [np.clip(x, -0.5, 1.0), np.clip(x, -abs(NUMBERS), abs(NUMBERS)), np.clip(x[:2], x[2:4], x[4:])],
    "extremes": lambda x: [
        x.min(), x.max(), np.min(x), np.max(x), np.max(np.abs(x)), x.max(initial=0.5), x.min(initial=-9.0),
        x.reshape(2, 3).max(), np.concatenate([x, NUMBERS]).min(), x[:0].max(initial=0.25)],
    "where less": lambda x: [
        where_less(x, 0.0, -1.0, x), where_less(x, NUMBERS, x, NUMBERS), where_less(NUMBERS, x, 1.0, 2.0),
        where_less(x[0], x[1], x[2:], 0.0), where_less(NUMBERS, 0.5, x, 2.0 * x), where_less(0.0, x[3], 1.0, 2.0)],
    "@": lambda x: [
        x @ x, x @ NUMBERS, NUMBERS @ x, MATRIX @ x, x @ MATRIX, x.reshape(2, 3) @ MATRIX[:3], MATRIX[:, :2] @ x[:2],
        x.reshape(2, 3) @ x.reshape(3, 2), x @ MATRIX @ x, MATRIX.T @ (MATRIX @ x)],
    "dot": lambda x: [np.dot(x, NUMBERS), np.dot(MATRIX, x), x.dot(MATRIX), np.dot(x, x), MATRIX.dot(x)],
    "parts": lambda x: [x[0], x[1:3], x[::-2], x[[4, 0, 4]], x[NUMBERS > 0.5], x[None, 2:], x[...], x[-1:]],
    "parts of matrices": lambda x: [
        x.reshape(2, 3)[1], x.reshape(2, 3)[:, 1], x.reshape(3, 2)[np.ix_([0, 2], [1])], x.reshape(3, 2).T,
        np.transpose(x.reshape(3, 2)), x.reshape(2, 3).ravel(), np.ravel(x.reshape(2, 3).T), np.reshape(x, (2, -1))],
    "one by one": lambda x: [sum(y * y for y in x), *(2.0 * y for y in x)],
    "joined": lambda x: [
        np.concatenate([x, NUMBERS]), np.concatenate([NUMBERS, [1.0], x[:2]]), np.hstack([x, 1.0]), np.append(x, 2.0),
        np.stack([x, NUMBERS]), np.vstack([x, NUMBERS]), np.vstack((NUMBERS[:3], x.reshape(2, 3)))],
    "split": lambda x: [*np.split(x, [1, 3]), *np.split(x.reshape(2, 3), 2)],
    "diagonals": lambda x: [
        np.diag(x), np.diag(x.reshape(3, 2)[:2]), np.trace(x[:4].reshape(2, 2)), np.broadcast_to(x[:2], (3, 2))],
    "sums of parts": lambda x: [
        np.sum(x), x.sum(), np.sum(x.reshape(2, 3), axis=0), x.reshape(2, 3).sum(axis=1), np.cumsum(x), x.mean(),
        x.prod(), np.outer(x, NUMBERS), np.linalg.norm(x), np.linalg.norm(x.reshape(2, 3)), np.add.reduce(x),
        np.copy(x)],
    "in place +": lambda x: in_place(x, "add"),
    "in place -": lambda x: in_place(x, "subtract"),
    "in place *": lambda x: in_place(x, "multiply"),
    "in place /": lambda x: in_place(x, "divide"),
    "in place, parts": lambda x: in_place(x, "parts"),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation(name):
    check(OPERATIONS[name], accuracy=4e-15 if name != "steps" else 0.0)


@pytest.mark.parametrize("name", OPERATIONS)
def test_shapes_are_those_of_numpy(name):
    _, found = traced(OPERATIONS[name])
    expected = OPERATIONS[name](SAMPLE)
    pairs = zip(found, expected, strict=True) if isinstance(expected, list) else [(found, expected)]
    assert all(getattr(made, "shape", ()) == np.shape(x) for made, x in pairs)


def test_an_array_is_changed_where_numpy_changes_it():
    _, (whole, part) = traced(lambda x: (x, x[2:4]))
    part += 1.0
    part[0] = 7.0
    assert values(whole).tolist() == [1.5, -0.7, 7.0, 1.4, -1.1, 0.9]
    _, (whole, copied) = traced(lambda x: (x, x.copy()))
    copied += 1.0
    assert values(whole).tolist() == SAMPLE.tolist()
    given = np.array(flat(whole), object)
    Symbols(given)[0] = 5.0
    assert given[0] == whole[0]


# -- many at once ------------------------------------------------------------------------------------------------------


STEPS = {
    "sin": lambda x, a, b, c, k: np.sin(c * a),
    "cos": lambda x, a, b, c, k: np.cos(a - c),
    "tanh": lambda x, a, b, c, k: np.tanh(a * c[k]),
    "exp": lambda x, a, b, c, k: np.exp(-a * a),
    "abs": lambda x, a, b, c, k: np.abs(a) - c,
    "sqrt": lambda x, a, b, c, k: np.sqrt(c + a * a),
    "square": lambda x, a, b, c, k: np.tanh(np.square(a)),
    "clip": lambda x, a, b, c, k: np.clip(a, -c, c[::-1]),
    "sign": lambda x, a, b, c, k: np.sign(x[:3] - 0.01 * c) * a,
    "rint": lambda x, a, b, c, k: np.rint(3.0 * x[k] + 0.01) * c,
    "turn": lambda x, a, b, c, k: np.concatenate([a[1:], a[:1]]),
    "norm": lambda x, a, b, c, k: a / (1.0 + np.linalg.norm(a)),
    "reverse": lambda x, a, b, c, k: -a[::-1],
    "sum": lambda x, a, b, c, k: 0.5 * (a + b),
    "difference": lambda x, a, b, c, k: (a - b) / 2.0,
    "product": lambda x, a, b, c, k: np.tanh(a * b),
    "quotient": lambda x, a, b, c, k: c * a / (1.0 + b * b),
    "@": lambda x, a, b, c, k: np.outer(a, c) @ b / (1.0 + a @ a + b @ b),
    "atan2": lambda x, a, b, c, k: np.arctan2(np.tanh(a), 1.5 + b * b),
    "min": lambda x, a, b, c, k: np.minimum(a, b * c),
    "max": lambda x, a, b, c, k: np.maximum(c[k] - 1.0, np.maximum(a, b[k])),
    "where": lambda x, a, b, c, k: where_less(x[3:], x[k], a, c * b),
    "mask": lambda x, a, b, c, k: np.where(np.array([True, False, True]), x[3:] * a, np.where(False, c, x[k] - b)),
    "outer": lambda x, a, b, c, k: np.sum(np.outer(a, b), axis=1) / (2.0 + a @ a),
    "join": lambda x, a, b, c, k: np.hstack([a[k : k + 1], np.split(b, 3)[0], c[k]]),
    "in place": lambda x, a, b, c, k: added(a, b, c),
    "numbers": lambda x, a, b, c, k: c - a if k else c * (1.0 - a),
    "solve": lambda x, a, b, c, k: np.linalg.solve(np.diag(c + a * a) + 0.1 * np.outer(c, c), np.tanh(b)),
}


def recipe(rng, length=40):
    """A law without a comparison: vectors of three, each made of those before it, all of order one."""
    names = list(STEPS)
    return [
        (names[rng.integers(len(names))], *rng.integers(0, 4 + n, 2), rng.uniform(0.5, 1.5, 3), int(rng.integers(3)))
        for n in range(length)
    ]


def follow(steps, x):
    """What a recipe makes of an array of six; numpy's own functions alone, of whatever x is."""
    found = [x[:3], x[3:], 0.5 * x[1:4], x[::-2]]
    for name, i, j, c, k in steps:
        found.append(STEPS[name](x, found[i], found[j], c, k))
    return np.concatenate(found[-8:])


def added(a, b, c):
    made = a * c
    made += 0.3 * b
    made[1:] -= 0.1 * a[:-1]
    made *= 0.7
    return made


@pytest.mark.parametrize("seed", range(16))
def test_random_laws(seed):
    steps = recipe(np.random.default_rng(seed))
    check(lambda x: follow(steps, x), accuracy=1e-12, seed=seed)


def test_recipes_have_every_operation():
    found = {name for seed in range(16) for name, *_ in recipe(np.random.default_rng(seed))}
    assert found == set(STEPS)


# -- what is decided ---------------------------------------------------------------------------------------------------

COMPARISONS = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "less": np.less, "greater or equal": np.greater_equal,
}  # fmt: skip


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("other", ["numbers", "a number", "symbols", "numbers first"])
def test_comparisons_are_decided_as_at_the_sample_and_guarded(name, other):
    def decide(x):
        sides = {
            "numbers": lambda: (x, NUMBERS),
            "a number": lambda: (x, 0.25),
            "symbols": lambda: (x[:3], x[3:]),
            "numbers first": lambda: (NUMBERS, x),
        }[other]()
        return np.asarray(COMPARISONS[name](*sides))

    graph, found = traced(decide)
    assert found.dtype == bool
    np.testing.assert_array_equal(found, decide(SAMPLE))
    assert len(graph.guards) == found.size
    if JIT_ENABLED:
        run, rng = Run(lambda x: [x[0] + decide(x)[0], x[1]]), np.random.default_rng(4)
        seen = set()
        for _ in range(20):
            x = 1.5 * rng.standard_normal(6)
            otherwise = int((decide(x) != found).sum())
            assert run(x)[0] == otherwise
            seen.add(otherwise > 0)
        assert True in seen
        assert run(SAMPLE)[0] == 0


DECISIONS = {
    "an if": lambda x: 2.0 * x if x[0] < x[1] else -x,
    "an if on an array of one": lambda x: x + 1.0 if x[:1] > 0.0 else x,
    "all and any": lambda x: x * 2.0 if np.all(x[:2] < 1.0) or np.any(x[2:4] > 2.0) else x,
    "and, or, not": lambda x: x * np.logical_and(x < 1.0, np.logical_not(x < -1.0)) + np.logical_or(x < 0.0, x > 1.0),
    "chosen by truths": lambda x: np.concatenate([np.sum(x[x < 0.0]) + np.zeros(1), x[:2]]),
    "the largest one's place": lambda x: x[[x.argmax()]],
    "sorted": lambda x: np.array(sorted(x)),
    "Python's extremes": lambda x: np.array([max(x), min(x)]),
    "time that has come": lambda x: x if 0.3 < x[0] <= 2.0 else 0.0 * x,
}


@pytest.mark.parametrize("name", DECISIONS)
def test_where_no_guard_speaks_decisions_are_those_of_numbers(name):
    """Where all is decided as at the sample the numbers are right; where they would be others, a guard says so."""
    law = DECISIONS[name]
    graph, found = traced(law)
    np.testing.assert_allclose(values(found), np.asarray(law(SAMPLE), float), rtol=1e-15)
    assert graph.guards
    if JIT_ENABLED:
        run, rng, seen = Run(law), np.random.default_rng(1), set()
        for i in range(60):
            x = SAMPLE + (0.1 if i < 10 else 1.0) * rng.standard_normal(6)
            status, y = run(x)
            seen.add(status == 0)
            expected = np.asarray(law(x), float)
            if status == 0:
                np.testing.assert_allclose(y, expected, rtol=1e-14, atol=1e-15)
            if y.shape != expected.shape or not np.allclose(y, expected):
                assert status > 0
        assert seen == {True, False}


def test_zero_at_the_sample_is_no_zero_elsewhere():
    graph, found = traced(lambda x: x * x[0], np.zeros(3))
    assert all(isinstance(x, Scalar) for x in found)
    assert not graph.guards
    if JIT_ENABLED:
        assert Run(lambda x: x * x[0], np.zeros(3))([1.0, 2.0, 3.0])[1].tolist() == [1.0, 2.0, 3.0]


# -- small inverses ----------------------------------------------------------------------------------------------------


def square(n):
    """A matrix of an array of six, well away from singular ones."""
    place = np.random.default_rng(n).integers(0, 6, (n, n))

    def made(x):
        return np.tanh(x)[place] + 2.5 * n * np.eye(n)

    return made


@pytest.mark.parametrize("n", [1, 2, 3])
def test_small_inverses(n):
    A = square(n)
    B = np.random.default_rng(7).standard_normal((n, 2))
    check(lambda x: np.linalg.inv(A(x)), accuracy=1e-14)
    check(lambda x: np.linalg.solve(A(x), x[:n]), accuracy=1e-13)
    check(lambda x: np.linalg.solve(A(x), B), accuracy=1e-13)
    check(lambda x: np.linalg.solve(A(SAMPLE), x[:n]), accuracy=1e-13)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_inverses_in_any_unit(scale):
    """Errors are those of the conditioning: entries of different units, such as of forces and of torques."""
    rng = np.random.default_rng(3)
    units = np.array([1.0, scale, 30.0])
    for _ in range(20):
        A = (rng.standard_normal((3, 3)) + 3.0 * np.eye(3)) * np.outer(units, units)
        graph = Graph()
        X = Symbols([graph.input("x", i, a) for i, a in enumerate(A.ravel())]).reshape(3, 3)
        found = values(np.linalg.inv(X)).reshape(3, 3) * np.outer(units, units)
        A /= np.outer(units, units)
        np.testing.assert_allclose(found @ A, np.eye(3), atol=1e-15 * np.linalg.cond(A) ** 2)


def test_diagonal_inverses_of_any_size():
    check(lambda x: np.linalg.inv(np.diag(1.0 + x * x)), accuracy=1e-15)
    check(lambda x: np.linalg.solve(np.diag(1.0 + x * x), x), accuracy=1e-15)
    check(lambda x: np.linalg.solve(np.diag(2.0 + NUMBERS), x), accuracy=1e-14)


def test_larger_inverses_are_refused():
    for law in (lambda X: np.linalg.inv(X), lambda X: np.linalg.solve(X, np.ones(4))):
        with pytest.raises(NotTraceable, match="inverse of 4 x 4"):
            traced(lambda x, law=law: law(np.outer(x[:4], x[:4]) + np.eye(4)))


# -- what is refused ---------------------------------------------------------------------------------------------------

REFUSED = {
    "eig": lambda x: np.linalg.eig(x[:4].reshape(2, 2)),
    "svd": lambda x: np.linalg.svd(x[:4].reshape(2, 2)),
    "lstsq": lambda x: np.linalg.lstsq(x[:4].reshape(2, 2), x[:2]),
    "pinv": lambda x: np.linalg.pinv(x[:4].reshape(2, 2)),
    "det": lambda x: np.linalg.det(x[:4].reshape(2, 2)),
    "fft": lambda x: np.fft.fft(x),
    "isnan": lambda x: np.isnan(x),
    "equal": lambda x: x == 0.0,
    "not_equal": lambda x: x != NUMBERS,
    "einsum": lambda x: np.einsum("i,i", x, NUMBERS),
    "cross": lambda x: np.cross(x[:3], NUMBERS[:3]),
    "zeros_like": lambda x: np.zeros_like(x),
    "allclose": lambda x: np.allclose(x, NUMBERS),
    "interp": lambda x: np.interp(x, [0.0, 1.0], [0.0, 1.0]),
    "maximum": lambda x: np.maximum.reduce(x),
    "sin": lambda x: np.sin(x, out=x),
    "norm": lambda x: np.linalg.norm(x, ord=1),
    "cos": lambda x: np.cos(x, where=NUMBERS > 0.5),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_expression_is_refused_by_name(name):
    with pytest.raises(NotTraceable, match=rf"numpy\.(linalg\.)?{name}.* has no code"):
        traced(REFUSED[name])


@pytest.mark.parametrize("law", [
    lambda x: float(x[0]),
    lambda x: math.sin(x[0]),
    lambda x: x.astype(float),
    lambda x: np.asarray(x, dtype=float),
    lambda x: bool(x[:1]),
    lambda x: x.any(),
    lambda x: np.zeros(6).__setitem__(0, x[0]),
    lambda x: np.zeros(6).__iadd__(x),
    lambda x: np.clip(x, None, 1.0),
    lambda x: np.linalg.norm(x.reshape(2, 3), axis=1),
    lambda x: np.max(x.reshape(2, 3), axis=0),
])  # fmt: skip
def test_what_would_need_numbers_is_refused(law):
    with pytest.raises(TypeError):
        traced(law)


AXES = {
    "x.max(0)": lambda x: (-abs(x)).max(0),
    "x.max(axis=0)": lambda x: x.reshape(2, 3).max(axis=0),
    "x.min(axis=1)": lambda x: x.reshape(2, 3).min(axis=1),
    "x.min(0)": lambda x: abs(x).min(0),
}


@pytest.mark.parametrize("name", AXES)
def test_extremes_along_an_axis_are_those_of_numpy_or_refused(name):
    try:
        _, found = traced(AXES[name])
    except TypeError:
        return
    expected = AXES[name](SAMPLE)
    assert getattr(found, "shape", ()) == np.shape(expected)
    np.testing.assert_allclose(values(found), np.ravel(expected))


@pytest.mark.parametrize("name", ["<", "<=", ">", ">="])
def test_a_symbol_compared_with_an_array(name):
    _, found = traced(lambda x: COMPARISONS[name](x[0], NUMBERS))
    np.testing.assert_array_equal(found, COMPARISONS[name](SAMPLE[0], NUMBERS))


def test_plus_sign():
    check(lambda x: +x)


# -- numbers, and time -------------------------------------------------------------------------------------------------


def test_numbers_stay_numbers():
    x = np.array([0.5, -1.0])
    found = where_less(x, 0.0, x, 2.0)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [2.0, -1.0])
    assert where_less(1.0, 2.0, 3.0, 4.0) == 3.0
    assert numbers_of([1, 2]).dtype == np.float64
    assert type(numbers_of([1, 2])) is np.ndarray
    _, found = traced(lambda x: [x, numbers_of(x)])
    assert found[0] is found[1]
    graph, found = traced(lambda x: where_less(NUMBERS, 0.5, x, x))  # decided without a symbol
    assert not graph.guards
    assert all(a == b for a, b in zip(found, flat(traced(lambda x: x)[1]), strict=True))


def test_time_is_a_number_and_its_signals_are_inputs():
    asked = []

    def law(t, x, sin, way):
        return [t * NUMBERS, NUMBERS - t, sin(2.0 * t) * x, np.maximum(t, x), t * t - t, (0.5 + t) * way]

    def build(graph):
        x = Symbols([graph.input("x", 1 + i, value) for i, value in enumerate(SAMPLE)])
        t = Time(graph.input("x", 0, 0.25), lambda function: asked.append(function) or graph.input("x", 7, 3.0))
        return t, x

    graph = Graph()
    t, x = build(graph)
    way = t.signal(np.cos)
    assert asked == [np.cos]
    assert t.value == 0.25 and t == graph.input("x", 0, 0.0)
    found = flat(law(t, x, np.sin, way))
    expected = np.concatenate([np.ravel(y) for y in law(0.25, SAMPLE, np.sin, 3.0)])
    np.testing.assert_allclose(values(found), expected, rtol=1e-15)
    assert not graph.guards
    assert t < 0.3 and t > 0.2 and t > x[1] and x[1] < t and not t >= x[0]
    assert {graph.nodes[k][0] for k in graph.guards} == {"lt"}
    if JIT_ENABLED:
        y = np.full(len(found), np.nan)
        other = np.concatenate([[0.28], SAMPLE + 0.01, [-2.0]])
        assert run_code(compiled(Function(graph, 8, found)), np.zeros(1), other, y) == 0
        expected = np.concatenate([np.ravel(z) for z in law(0.28, SAMPLE + 0.01, np.sin, -2.0)])
        np.testing.assert_allclose(y, expected, rtol=1e-14, atol=1e-15)
        other[0] = 0.31
        assert run_code(compiled(Function(graph, 8, found)), np.zeros(1), other, y) == 1


# -- text in C ---------------------------------------------------------------------------------------------------------


@needs_compiler
def test_text_in_c(tmp_path):
    """Of the operations that laws have beside machines, and of random laws."""
    steps = recipe(np.random.default_rng(2))
    laws = {
        "smooth": lambda x: [np.exp(x), np.tanh(x), np.exp(-abs(x)) * np.tanh(3.0 * x)],
        "chosen": lambda x: [
            np.sign(x), np.clip(x, -0.5, 0.5), where_less(x, NUMBERS, -1.5, x), where_less(-0.25, x, x, 2.0),
            0.0 * x[0]],
        "whole": lambda x: follow(steps, x),
        "guarded": lambda x: np.exp(x) if x[0] > 0.0 else x,
    }  # fmt: skip
    functions, lengths = {}, {}
    for name, law in laws.items():
        graph, found = traced(law)
        functions[name], lengths[name] = Function(graph, 6, flat(found)), len(flat(found))
    library, rng = test_c99.compiled(tmp_path, **functions), np.random.default_rng(5)
    for _ in range(5):
        x = 1.5 * rng.standard_normal(6)
        for name, law in laws.items():
            status, y = test_c99.call(library, name, [0.0], x, lengths[name])
            assert status == int(name == "guarded" and x[0] <= 0.0)
            if status == 0:
                np.testing.assert_allclose(y, numbers(law, x), rtol=1e-12, atol=1e-12)


@needs_jit
def test_exp_and_tanh_where_they_overflow_or_vanish():
    run = Run(lambda x: [np.exp(x), np.tanh(x)], np.zeros(6))
    x = np.array([-800.0, 800.0, 1e-300, -1e-20, 30.0, 709.0])
    status, y = run(x)
    assert status == 0
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_allclose(y, np.concatenate([np.exp(x), np.tanh(x)]), rtol=1e-15)
