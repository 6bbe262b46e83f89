"""Efforts on their way to the motors, against a list of arrivals in exact numbers; and samples by generated code."""

from fractions import Fraction

import numpy as np
import pytest

from cmbcontrol._jit import JIT_ENABLED, Callback
from cmbcontrol.kernels import sampling
from cmbcontrol.kernels.sampling import SAMPLES, arrive, held, next_change, sampled_by_code, take
from cmbcontrol.trace.code import compiled
from cmbcontrol.trace.functions import Function
from cmbcontrol.trace.graph import Graph

needs_jit = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")

HOLD = float("nan")  # the first sample's effort before it has arrived


def queue(period, delays=(), initial=None, seconds=None):
    """Delays are in periods, or in seconds."""
    delays = np.array([float(delay) * period for delay in delays] if seconds is None else seconds)
    initial = np.full(len(delays), HOLD) if initial is None else np.array(initial, dtype=float)
    none = np.zeros(0, dtype=np.int64)
    return held(float(period), np.zeros(0), delays, initial, np.zeros(len(delays)), none)


class Expected:
    """A plain list of (arrival, motor, effort): times in periods, as fractions."""

    def __init__(self, delays, initial):
        self.delays, self.initial = delays, initial
        self.arrivals, self.count = [], 0

    def take(self, u):
        self.arrivals += [
            (self.count + delay, motor, x) for motor, (delay, x) in enumerate(zip(self.delays, u, strict=True))
        ]
        self.arrivals.sort(key=lambda arrival: arrival[:2])
        if self.count == 0:
            self.before = [x if first is None else first for first, x in zip(self.initial, u, strict=True)]
        self.count += 1

    def command(self, t):
        held = list(self.before)
        for arrival, motor, x in self.arrivals:
            if arrival <= t:
                held[motor] = x
        return held

    def next(self, t):
        return min([Fraction(self.count), *(arrival for arrival, *_ in self.arrivals if arrival > t)])


def check(period, delays, initial, samples, seed):
    """All that happens in a run, in the order of time; how often efforts arrived between samples."""
    rng, between = np.random.default_rng(seed), 0
    law, expected = queue(period, delays, [HOLD if x is None else x for x in initial]), Expected(delays, initial)
    t, exact = 0.0, Fraction(0)
    while expected.count < samples:
        if exact == expected.count:  # a sample, as the loop asks
            assert t >= law.count[SAMPLES] * law.period
            u = rng.standard_normal(len(delays))
            take(law, u)
            expected.take(u.tolist())
        else:
            assert t < law.count[SAMPLES] * law.period
            between += 1
        arrive(law, t)
        assert law.command.tolist() == expected.command(exact)
        t, exact = next_change(law), expected.next(exact)
        assert abs(t - float(exact) * period) <= 1e-9 * period + 4e-16 * t
        if exact == expected.count:
            assert t == expected.count * period  # arrivals at a sample are not just before it, nor after
        assert law.count[SAMPLES] == expected.count
    return between


DELAYS = {
    "none": [0, 0],
    "one period": [1, 1],
    "one has none": [0, 1, Fraction(1, 2)],
    "parts": [Fraction(1, 3), Fraction(2, 3), Fraction(1, 7)],
    "the same part": [Fraction(3, 10), Fraction(13, 10), Fraction(23, 10)],
    "many periods": [5, 12, 0],
    "many periods and parts": [Fraction(71, 10), Fraction(29, 4), Fraction(1, 1000)],
    "just before and just after a sample": [Fraction(999, 1000), Fraction(1001, 1000)],
}
PERIODS = [1e-3, 0.1, 1.0 / 3.0, 0.7e-4, 2.0**-10, 3600.0]


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize("name", DELAYS)
def test_delays(name, period):
    delays = [Fraction(delay) for delay in DELAYS[name]]
    between = check(period, delays, [None] * len(delays), 40, seed=1)
    assert (between > 0) == any(delay.denominator > 1 for delay in delays)


@pytest.mark.parametrize("seed", range(20))
def test_random_delays(seed):
    """Multiples and parts of a period, and decimals of it; some motors give something else at first."""
    rng = np.random.default_rng(seed)
    period = float(rng.choice(PERIODS))
    kinds = [
        lambda: Fraction(0),
        lambda: Fraction(int(rng.integers(0, 9))),
        lambda: Fraction(int(rng.integers(0, 40)), int(rng.integers(1, 12))),
        lambda: Fraction(int(rng.integers(0, 5000)), 1000),
    ]
    delays = [kinds[rng.integers(4)]() for _ in range(rng.integers(1, 7))]
    initial = [None if rng.random() < 0.5 else float(rng.standard_normal()) for _ in delays]
    check(period, delays, initial, 60, seed)


def test_late_samples_are_as_exact_as_the_first():
    """A day at a millisecond: arrivals at a sample are at that sample."""
    period, delays = 1e-3, [Fraction(2), Fraction(3, 2), Fraction(1, 10)]
    law = queue(period, delays)
    first = 86_400_000
    law.count[SAMPLES] = first
    law.arrived[:] = first
    sent = {}
    for k in range(first, first + 8):
        sent[k] = np.array([1.0, 2.0, 3.0]) * k
        take(law, sent[k])
        arrive(law, k * period)
        if k >= first + 2:
            assert law.command.tolist() == [1.0 * (k - 2), 2.0 * (k - 2), 3.0 * (k - 1)]
        assert next_change(law) == pytest.approx((k + 0.1) * period, rel=1e-15)
        arrive(law, next_change(law))
        assert law.command[2] == 3.0 * k
        assert next_change(law) == pytest.approx((k + (0.5 if k > first else 1.0)) * period, rel=1e-15)
        arrive(law, next_change(law))
        assert law.command[1] == 2.0 * (k - 1) or k == first
        assert next_change(law) == (k + 1) * period


def test_arrivals_that_agree_but_for_rounding_are_one():
    """0.1 + 0.2 is not 0.3; for the motors it is."""
    period = 0.1
    law = queue(period, seconds=[0.3, 0.1 + 0.2, 0.03 * 10.0])
    changes, t = [], 0.0
    for _ in range(12):
        if t >= law.count[SAMPLES] * period:
            take(law, np.full(3, 1.0 + law.count[SAMPLES]))
        arrive(law, t)
        assert len(set(law.command.tolist())) == 1
        t = next_change(law)
        changes.append(t)
    assert changes == [k * period for k in range(1, 13)]


def test_before_the_first_arrival():
    law = queue(1e-3, [Fraction(5, 2), Fraction(5, 2), Fraction(0)], [HOLD, 7.0, 7.0])
    assert next_change(law) == 0.0
    take(law, np.array([1.0, 2.0, 3.0]))
    assert law.command.tolist() == [1.0, 7.0, 7.0]
    arrive(law, 0.0)
    assert law.command.tolist() == [1.0, 7.0, 3.0]  # one without a delay is there at once
    take(law, np.array([4.0, 5.0, 6.0]))
    arrive(law, 1e-3)
    assert law.command.tolist() == [1.0, 7.0, 6.0]
    arrive(law, 2.5e-3)
    assert law.command.tolist() == [1.0, 2.0, 6.0]


def test_late_arrivals_come_at_once_and_the_last_one_acts():
    law = queue(1.0, [Fraction(1, 2)])
    for k in range(2):
        take(law, np.array([10.0 + k]))
    assert next_change(law) == 0.5
    arrive(law, 5.0)
    assert law.command.tolist() == [11.0]
    assert law.arrived.tolist() == [2]
    assert next_change(law) == 2.0


def test_efforts_are_copied():
    law = queue(1.0, [Fraction(1)])
    u = np.array([3.0])
    take(law, u)
    u[0] = 99.0
    arrive(law, 1.0)
    assert law.command.tolist() == [3.0]


def test_without_motors_or_without_a_period():
    law = queue(1.0, [])
    take(law, np.zeros(0))
    arrive(law, 0.0)
    assert next_change(law) == 1.0
    law = queue(0.0, seconds=[0.0, 0.0])
    assert law.efforts.shape == (0, 2)
    assert law.address == 0


# -- samples by generated code -----------------------------------------------------------------------------------------

PERIOD = 0.5


def law_by_code(measures=False, signals=0, shown=(), report=True, block=4):
    """Two efforts, one state and one report of t, two of q and v together, one state, maybe held efforts, signals."""
    graph = Graph()
    size = 1 + 3 + 1 + 2 * measures + signals
    x = [graph.input("x", i, 0.25) for i in range(size)]
    t, a, b, c, state, *rest = x
    assert state < 100.0  # a guard
    more = sum(rest, 0.0)
    outputs = [2.0 * a + more + t, b - state, state + 0.5 * c + more] + [t * a] * report
    address = compiled(Function(graph, size, outputs))
    law = held(PERIOD, np.array([0.5]), np.array([0.0, PERIOD]), np.full(2, HOLD), np.zeros(2),
               np.array(shown, dtype=np.int64))  # fmt: skip
    return law._replace(
        address=address, measures=measures, p=np.zeros(1), given=np.zeros(size), found=np.zeros(len(outputs)),
        signals=np.zeros((block, signals)), reports=np.full((len(shown), 1 + report), np.nan),
    )  # fmt: skip


def by_numbers(t, x, state, rest=()):
    more = sum(rest)
    return [2.0 * x[0] + more + t, x[1] - state], state + 0.5 * x[2] + more, t * x[0]


def never(what, t):
    raise AssertionError("not to be asked")


@needs_jit
@pytest.mark.parametrize("measures", [False, True])
@pytest.mark.parametrize("signals", [0, 2])
def test_samples_by_code(measures, signals):
    law = law_by_code(measures, signals, shown=(1, 2, 5))
    rng, asked = np.random.default_rng(0), []
    table = rng.standard_normal((20, signals))

    def fill(what, t):
        first = int(law.count[SAMPLES])
        asked.append((what, t, first))
        law.signals[:] = table[first : first + 4]
        law.count[sampling.FIRST], law.count[sampling.ROWS] = first, 4
        return 0

    ask = Callback(fill)
    state, reports, sent = 0.5, [], []
    for k in range(10):
        t, x = k * PERIOD, rng.standard_normal(7)  # longer than q and v
        before = law.command.copy()
        done = sampled_by_code(law, ask.address, 9, t, x, 2, 1)
        if measures and k == 0:  # there is no force before the first sample
            assert not done
            sent.append([1.0, -1.0])
            take(law, np.array(sent[-1]))
            arrive(law, t)
            continue
        assert done
        u, state, report = by_numbers(t, x, state, [*before[: 2 * measures], *table[k]])
        sent.append(u)
        reports += [(t, report)] if k in (1, 2, 5) else []
        assert law.count[SAMPLES] == k + 1
        assert law.state[0] == pytest.approx(state, rel=1e-14, abs=1e-14)
        arrive(law, t)
        late = sent[k - 1] if k else sent[0]
        np.testing.assert_allclose(law.command, [sent[k][0], late[1]], rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(law.reports, reports, rtol=1e-14)
    first = int(measures)
    assert law.count.tolist()[SAMPLES] == 10
    assert law.count[sampling.BY_CODE] == 10 - first
    assert law.count[sampling.SHOWN] == 3
    assert asked == ([(9, k * PERIOD, k) for k in range(first, 10, 4)] if signals else [])


@needs_jit
@pytest.mark.parametrize("why", ["no code", "a guard", "too large", "no number", "asking fails", "nothing was told"])
def test_samples_that_are_left_to_python_change_nothing(why):
    law, ask = law_by_code(signals=1 if why in ("asking fails", "nothing was told") else 0, shown=(0,)), Callback(never)
    x = np.array([1.0, 2.0, 3.0])
    if why == "no code":
        law = law._replace(address=0)
    elif why == "a guard":
        law.state[0] = 101.0
    elif why == "too large":
        x[0] = 1e300
    elif why == "no number":
        x[2] = np.nan
    else:
        ask = Callback(lambda what, t: int(why == "asking fails"))
    kept = [law.state, law.command, law.efforts, law.arrived, law.count, law.reports]
    before = [array.copy() for array in kept]
    assert not sampled_by_code(law, ask.address, 1, 0.0, x, 2, 1)
    for array, expected in zip(kept, before, strict=True):
        np.testing.assert_array_equal(array, expected)


def test_without_code_samples_are_left_to_python():
    law = queue(1.0, [Fraction(0)])
    assert not sampled_by_code(law, 0, 0, 0.0, np.zeros(2), 1, 1)
    assert law.count[SAMPLES] == 0
