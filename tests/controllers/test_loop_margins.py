"""Margins bring the loop to its border; the structured singular value against all phases."""

import control as ct
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

from cmbcontrol import (
    Actuator,
    Body,
    Constant,
    Mechanism,
    Revolute,
    linearize_closed_loop,
    margins,
    plants,
    trim,
)
from cmbcontrol.controllers import Controller, Evaluation, ProjectedInverseDynamics, WithModel
from cmbcontrol.controllers.loop_margins import BrokenLoop, loop_margins, mu
from cmbcontrol.errors import InputError
from tests.fixtures import IntegralLaw, actuated_pendulum, five_bar_law, largest


@pytest.mark.parametrize("period", [None, 0.01])
@pytest.mark.parametrize("at", ["input", "output"])
def test_loop_transfer(loaded, at, period):
    """det(1 + L) is the closed over the open characteristic polynomial, and L is law times plant."""
    plant, inner = loaded
    law = IntegralLaw(WithModel(inner.model, five_bar_law(inner.model, period=period)), 200.0, period)
    loop = linearize_closed_loop(plant, law)
    L = loop.loop(at)
    s = np.exp(3j * 0.01) if period else 3j
    closed, opened = (np.linalg.det(s * np.eye(len(A)) - A) for A in (loop.A, L.A))
    assert abs(np.linalg.det(np.eye(len(L.B.T)) + L(s)) - closed / opened) < 1e-8 * abs(closed / opened)
    one = loop.loop(at, L.input_labels[0])
    assert abs(1.0 + complex(one(s)) - closed / np.linalg.det(s * np.eye(len(one.A)) - one.A)) < 1e-8
    if at == "input" and not period:
        x = np.linalg.solve(s * np.eye(4) - loop.plant.A, loop.plant.B)
        g = loop._parts.gains
        u = g.u_x @ x + g.u_c @ np.linalg.solve(s * np.eye(2) - g.c_c, g.c_x @ x)
        assert largest(np.abs(L(s) + u)) < 1e-8


class Lead(Controller):
    """Upright, by a filtered derivative: a law with a state."""

    def __init__(self, period=None):
        self.period = period

    def start(self, plant):
        return np.zeros(1)

    def evaluate(self, t, terms, state):
        return Evaluation(self._effort(t, terms, state), self._moved(t, terms, state))

    def _effort(self, t, terms, state):
        e = 0.5 * np.pi - terms.q[0]
        return np.array([60.0 * e + 40.0 * (e - state[0])])

    def _derivative(self, t, terms, state):
        return 20.0 * (0.5 * np.pi - terms.q - state)

    def _moved(self, t, terms, state):
        return self._derivative(t, terms, state) if self.period is None else self._update(t, terms, state)

    def _update(self, t, terms, state):
        return state + self.period * self._derivative(t, terms, state)


@pytest.mark.parametrize("period", [None, 0.02])
def test_margins_bring_the_loop_to_its_border(period):
    """The loop with its gain, phase or delay changed by the margin has an eigenvalue on the border."""
    plant = actuated_pendulum(0.2)
    loop = linearize_closed_loop(plant, Lead(period), [0.5 * np.pi], coordinates=("pivot",))
    found = loop.margins()
    (one,) = found.loops
    entry, effort = loop._parts.entry, loop._parts.effort

    def spread(factor):
        values = np.linalg.eigvals(loop.A + (factor - 1.0) * entry @ effort)
        return np.abs(values).max() - 1.0 if period else values.real.max()

    assert spread(10 ** (one.gain_down / 20)) == pytest.approx(0.0, abs=1e-6)
    assert (
        spread(10 ** (one.gain_up / 20)) == pytest.approx(0.0, abs=1e-6) if np.isfinite(one.gain_up) else period is None
    )
    turn = np.exp(1j * np.radians(one.phase) * np.array([1, -1]))
    assert min(abs(spread(x)) for x in turn) < 1e-5
    if not period:
        assert one.delay == pytest.approx(np.radians(one.phase) / one.phase_frequency)
    # the classical margins of python-control, from polynomials, and its disk margin
    L = loop.loop()
    gm, pm, sm, *_ = ct.stability_margins(L)
    assert one.phase == pytest.approx(pm, rel=1e-4)
    assert one.modulus == pytest.approx(sm, rel=1e-4)
    nearest = min(one.gain_up, -one.gain_down)
    assert nearest == pytest.approx(abs(20 * np.log10(gm)), rel=1e-4)
    omega = np.geomspace(0.01, np.pi / period * 0.999 if period else 1e4, 20000)
    alpha, gain, phase = ct.disk_margins(L, omega)
    assert found.disk == pytest.approx(alpha, rel=1e-4)
    assert found.disk_gain == pytest.approx(gain, rel=1e-4)
    assert found.disk_phase == pytest.approx(phase, rel=1e-4)


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("period", "bandwidth", "ratio"), [(0.03, 40.0, 0.4), (0.05, 22.0, 0.35), (0.1, 9.0, 0.7), (0.01, 9.0, 0.7)]
)
def test_delay_margin_of_a_sampled_loop(period, bandwidth, ratio):
    """Behind a hold, a delay by a part of a period is no factor exp(-i w delay): it is really put in here."""
    plant = plants.five_bar()
    law = ProjectedInverseDynamics(
        plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=bandwidth, damping_ratio=ratio, period=period
    )
    found = margins(plant, law)
    delay = found.loops[0].delay

    def growth(delay):
        loop = linearize_closed_loop(plant, law, delay={"left": delay})
        return np.abs(loop.poles()).max() - 1.0

    assert abs(growth(delay)) < 1e-8
    assert max(growth(part * delay) for part in np.linspace(0.02, 0.999, 15)) < 0.0
    assert growth(1.001 * delay) > 0.0
    text = str(found)
    assert "gain [dB]" in text
    assert "all at once: gain +-" in text


@pytest.mark.parametrize(("channel", "signal"), [("left", 0), ("left_rate", 4)])
def test_delay_margin_at_the_output_of_a_sampled_loop(channel, signal):
    """A reading that is late by whole periods: borne as long as the margin says."""
    plant = plants.five_bar()
    law = FixedGain(plant, 0.02)
    q = plant.assemble(left=2.1, right=1.0)
    loop = linearize_closed_loop(plant, law, q, coordinates=("left", "right"))
    (delay,) = [x.delay for x in loop.margins("output").loops if x.channel == channel]
    assert np.isfinite(delay)
    for samples in range(int(delay / 0.02) + 3):
        late = FixedGain(plant, 0.02, signal, samples)
        state = np.full(samples, late.value(loop.point))
        growth = np.abs(
            linearize_closed_loop(plant, late, loop.point, state=state, coordinates=("left", "right")).poles()
        )
        assert (growth.max() < 1.0) == (samples * 0.02 < delay)


class FixedGain(Controller):
    """Efforts at rest, and gains on two coordinates and their rates; one of them may be told late."""

    def __init__(self, plant, period, signal=0, samples=0):
        self.plant, self.period, self.signal, self.samples = plant, period, signal, samples
        self.at = [plant.position_names.index("left"), plant.position_names.index("right")]
        self.rest = trim(plant, plant.assemble(left=2.1, right=1.0))

    def value(self, point):
        return np.concatenate([point.q[self.at], point.v[self.at]])[[0, 0, 0, 0, 2, 2][self.signal]]

    def start(self, plant):
        return np.full(self.samples, self.value(self.rest))

    def evaluate(self, t, terms, state):
        told = np.concatenate([terms.q[self.at], terms.v[self.at]])
        place = 0 if self.signal < 4 else 2
        kept = np.append(state, told[place])
        told[place] = kept[0]
        u = self.rest.u - 400.0 * (told[:2] - self.rest.q[self.at]) - 60.0 * told[2:]
        return Evaluation(u, kept[1:])


class Speed(Controller):
    """A speed loop with integral action."""

    def __init__(self, period, sign=1.0):
        self.period, self.sign = period, sign

    def start(self, plant):
        return [0.0]

    def evaluate(self, t, terms, state):
        e = -self.sign * terms.v[0]
        moved = 2.0 * e if self.period is None else state[0] + 2.0 * self.period * e
        return Evaluation([0.5 * e + state[0]], [moved])


def flywheel():
    return Mechanism(
        "flywheel",
        [Body.planar("m", 1.0, (0, 0), 0.1)],
        [Revolute("a", "ground", "m", damping=0.02)],
        actuators=[Actuator("a")],
    )


@pytest.mark.parametrize("period", [None, 0.01])
def test_a_position_on_which_nothing_depends(period):
    """The angle of a flywheel is an integral of its speed, and no part of the speed loop: margins by a sweep of L."""
    loop = linearize_closed_loop(flywheel(), Speed(period), [0.0])
    found = loop.margins()
    assert found.stable
    assert [abs(x - (1.0 if period else 0.0)) < 1e-6 for x in found.outside] == [True]
    L = loop.loop()

    def value(w):
        return np.asarray(L(np.exp(1j * w * period) if period else 1j * w)).ravel()

    w = np.linspace(0.5, 300.0, 6001)
    (k,) = np.flatnonzero(np.diff(np.sign(np.abs(value(w)) - 1.0)))
    crossing = brentq(lambda x: float(np.abs(value(np.array([x])))[0]) - 1.0, w[k], w[k + 1])
    phase = np.degrees(np.angle(-value(np.array([crossing]))[0]))
    assert found.loops[0].phase == pytest.approx(phase, abs=1e-6)
    assert found.loops[0].modulus == pytest.approx(smallest(lambda x: np.abs(1.0 + value(x)), w), rel=1e-8)
    assert "no part of the loop: poles at" in str(found)


@pytest.mark.parametrize("period", [None, 0.01])
def test_margins_of_a_loop_that_is_not_stable(period):
    """Gains and phases that bring it to the border, with a sign; no disk."""
    plant = actuated_pendulum(0.2)
    loop = linearize_closed_loop(plant, Weak(period), [0.5 * np.pi], coordinates=("pivot",))
    assert not loop.stable
    found = loop.margins()
    (one,) = found.loops
    assert (found.stable, found.disk) == (False, 0.0)
    assert one.phase < 0.0
    entry, effort = loop._parts.entry, loop._parts.effort

    def growth(factor):
        values = np.linalg.eigvals(loop.A + (factor - 1.0) * entry @ effort)
        return np.abs(np.abs(values) - 1.0 if period else values.real).min()  # of the pole that is there

    turns = [growth(np.exp(1j * np.radians(x))) for x in (one.phase, -one.phase)]
    assert min(turns) < 1e-6
    assert "not stable" in str(found)


class Weak(Controller):
    """Upright with too little damping of the wrong sign."""

    def __init__(self, period):
        self.period = period

    def effort(self, t, terms, state):
        return 60.0 * (0.5 * np.pi - terms.q) + 0.8 * terms.v


def test_an_unstable_mode_that_is_no_part_of_the_loop():
    """Nothing at the motor helps against a second pendulum that falls by itself."""
    bodies = [Body.rod("held", 1.0, 1.0), Body.rod("free", 1.0, 1.0)]
    joints = [Revolute("held", "ground", "held"), Revolute("free", "ground", "free")]
    plant = Mechanism("two", bodies, joints, actuators=[Actuator("held")], gravity=(0.0, -9.81, 0.0))

    def law(t, terms, state):
        return [-40.0 * (terms.q[0] - 0.5 * np.pi) - 8.0 * terms.v[0]]

    with pytest.raises(InputError, match=r"no margins .*not stable, with a pole at 3\.83"):
        margins(plant, law, [0.5 * np.pi, 0.5 * np.pi])
    assert not linearize_closed_loop(plant, law, [0.5 * np.pi, -0.5 * np.pi]).stable  # nor is it by its rounding
    found = margins(plant, law, [0.5 * np.pi, -0.5 * np.pi])  # it hangs, and swings for ever
    assert sorted(abs(x.imag) for x in found.outside) == pytest.approx([np.sqrt(1.5 * 9.81)] * 2)


@pytest.mark.parametrize("at", ["input", "output"])
def test_continuous_loops_with_a_delay(at):
    """Of one channel, a delay takes phase and nothing else; what is left of it is what the rest bears."""
    plant = actuated_pendulum(0.2)
    law = Lead()
    bare = margins(plant, law, [0.5 * np.pi], at=at, coordinates=("pivot",)).loops[0]
    delay = 0.4 * margins(plant, law, [0.5 * np.pi], coordinates=("pivot",)).loops[0].delay
    late = margins(plant, law, [0.5 * np.pi], at=at, coordinates=("pivot",), delay=delay).loops[0]
    if at == "input":
        assert late.delay == pytest.approx(bare.delay - delay, rel=1e-8)
        assert late.phase_frequency == pytest.approx(bare.phase_frequency, rel=1e-8)
    loop = linearize_closed_loop(plant, law, [0.5 * np.pi], coordinates=("pivot",))
    L = loop.loop(at, late.channel)
    A, b, c = loop.plant.A, loop.plant.B, loop._parts.gains

    def distance(w):
        factor = np.exp(-1j * w * delay)
        if at == "input":
            return np.abs(1.0 + np.asarray(L(1j * w)).ravel() * factor)
        # 1 + L of a state with the other one heard, late as well
        return np.abs(1.0 + late_output_loop(A, b, c, w, factor))

    assert late.modulus == pytest.approx(smallest(distance, np.geomspace(0.1, 300.0, 4001)), rel=1e-6)


def smallest(function, w):
    """The smallest value over all frequencies: on a grid, and finer where that has it."""
    for _ in range(3):
        values = function(w)
        k = int(np.argmin(values))
        w = np.linspace(w[max(k - 1, 0)], w[min(k + 1, len(w) - 1)], 201)
    return float(values.min())


def late_output_loop(A, b, c, w, factor):
    """L of the position alone, with the rate closed, behind delays: from state feedback and a lead of first order."""
    found = []
    for x, f in zip(w, factor, strict=True):
        G = np.linalg.solve(1j * x * np.eye(2) - A, b).ravel() * f
        K = -(c.u_x[0] + c.u_c[0, 0] / (1j * x - c.c_c[0, 0]) * c.c_x[0])
        found.append(G[0] * K[0] / (1.0 + G[1] * K[1]))
    return np.array(found)


def test_a_delay_that_is_no_delay_of_a_loop():
    with pytest.raises(InputError, match="is it in seconds"):
        margins(actuated_pendulum(0.2), Lead(), [0.5 * np.pi], coordinates=("pivot",), delay=100.0)


def test_margins_at_the_output():
    plant = plants.five_bar()
    found = margins(plant, five_bar_law(plant), at="output")
    assert [x.channel for x in found.loops] == ["left", "right", "left_rate", "right_rate"]
    assert found.disk < margins(plant, five_bar_law(plant)).disk
    S = sensitivity(linearize_closed_loop(plant, five_bar_law(plant))._broken("output"), np.geomspace(0.1, 100.0, 200))
    assert max(mu(x - 0.5 * np.eye(4))[0] for x in S) == pytest.approx(1.0 / found.disk, rel=1e-3)


@pytest.mark.parametrize("n", [2, 3])
def test_structured_singular_value(n):
    """For up to three blocks the bound is mu itself: the largest spectral radius over all phases."""
    rng = np.random.default_rng(n)
    X = rng.standard_normal((4, n, n)) + 1j * rng.standard_normal((4, n, n))
    grid = np.exp(2j * np.pi * np.arange(90) / 90)
    phases = np.stack(np.meshgrid(*[grid] * (n - 1), indexing="ij"), -1).reshape(-1, n - 1)
    full = np.concatenate([np.ones((len(phases), 1)), phases], axis=1)
    for x in X:
        truth = np.abs(np.linalg.eigvals(full[:, :, None] * x)).max()
        assert truth * (1.0 - 1e-9) < mu(x)[0] < truth * (1.0 + 2e-3)
    assert mu(np.diag([0.3, 2.0, 0.1][:n]).astype(complex))[0] == pytest.approx(2.0)


def sensitivity(loop, omega):
    """Of a broken loop, in its own time."""
    s = np.exp(1j * omega * loop.dt) if loop.dt else 1j * omega
    shifted = s[:, None, None] * np.eye(len(loop.A)) - loop.A
    return np.eye(len(loop.channels)) + loop.exit @ np.linalg.solve(shifted, loop.entry.astype(complex)[None])


def random_loop(rng):
    """A stable loop of one to three channels: fast or slow, sampled or not, some with dead ends of the chain."""
    k, n, dt = int(rng.integers(1, 4)), int(rng.integers(1, 9)), float(rng.choice([0.0, 0.01, 1.0]))
    scale = rng.uniform(0.1, 2.0) if dt else 10.0 ** rng.uniform(-2.0, 3.0)
    A = rng.standard_normal((n, n))
    A = scale * (A - (np.linalg.eigvals(A).real.max() + rng.uniform(0.005, 0.5)) * np.eye(n))
    entry = rng.standard_normal((n, k)) * rng.uniform(0.1, 1.0) * scale
    exit = rng.standard_normal((k, n)) * rng.uniform(0.3, 1.5)
    if dt:
        A, entry = expm(A * dt), entry * dt
    if rng.random() < 0.3:  # two states more: past efforts of a sampled loop, lags of the other
        more = np.zeros((2, 2)) if dt else -5.0 * scale * np.eye(2)
        A = np.block([[A, np.zeros((n, 2))], [rng.standard_normal((2, n)), more]])
        entry, exit = np.vstack([entry, np.zeros((2, k))]), np.hstack([exit, rng.standard_normal((k, 2))])
    return BrokenLoop("random", "input", dt, A, entry, exit, ("a", "b", "c")[:k])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.first(1)
def test_margins_of_random_loops(seed):
    """No frequency of a dense grid has a larger peak; each margin is at the border, and nothing within it is."""
    rng = np.random.default_rng(seed)
    for _ in range(12):
        loop = random_loop(rng)
        found, k = loop_margins(loop), len(loop.channels)
        poles = np.linalg.eigvals(loop.A).astype(complex)
        poles = np.log(poles[np.abs(poles) > 1e-12]) / loop.dt if loop.dt else poles
        end = np.pi / loop.dt if loop.dt else 1e3 * np.abs(poles).max()
        around = [np.abs(p.imag) + np.abs(p.real) * np.linspace(-3.0, 3.0, 40) for p in poles]
        omega = np.unique(np.concatenate([[0.0], np.geomspace(1e-4 * np.abs(poles).min(), end, 300), *around]))
        S = sensitivity(loop, omega[(omega >= 0.0) & (omega <= end)])
        if np.isfinite(found.disk_frequency):
            there = sensitivity(loop, np.array([found.disk_frequency]))[0]
            assert mu(there - 0.5 * np.eye(k))[0] * found.disk == pytest.approx(1.0, rel=1e-7)
        peak = 1.0 / found.disk * (1.0 + 1e-7)
        large = np.linalg.norm(S - 0.5 * np.eye(k), 2, axis=(1, 2)) > peak  # elsewhere, mu is smaller all the more
        assert all(mu(x - 0.5 * np.eye(k))[0] <= peak for x in S[large])
        for j, one in enumerate(found.loops):
            assert np.abs(S[:, j, j]).max() <= 1.0 / one.modulus * (1.0 + 1e-7)
            check_borders(loop.only(loop.channels[j]), one)


def check_borders(loop, one):
    """Gain and phase, by eigenvalues of the loop changed."""
    size = np.abs(np.linalg.eigvals(loop.A)).max()

    def beyond(factor):
        values = np.linalg.eigvals(loop.A + (factor - 1.0) * loop.entry @ loop.exit)
        return np.abs(values).max() - 1.0 if loop.dt else values.real.max() / size

    for gain, sign in ((one.gain_up, 1.0), (one.gain_down, -1.0)):
        assert not np.isfinite(gain) or abs(beyond(10.0 ** (gain / 20.0))) < 1e-6
        last = abs(gain) * (1.0 - 1e-6) if np.isfinite(gain) else 60.0
        assert max(beyond(10.0 ** (sign * x / 20.0)) for x in np.linspace(0.0, last, 40)) < 1e-7
    turns = np.radians(np.linspace(0.0, min(one.phase, 180.0) * (1.0 - 1e-6), 40))
    assert max(beyond(np.exp(side * turn)) for turn in turns for side in (1j, -1j)) < 1e-7
    if np.isfinite(one.phase):
        assert min(abs(beyond(np.exp(side * np.radians(one.phase)))) for side in (1j, -1j)) < 1e-6


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.first(6)
def test_random_loops_that_are_not_stable_or_hide_an_integral(seed):
    """Each gain and phase brings a pole to the border; an integral that is no part of the loop is told, and no more."""
    rng = np.random.default_rng(seed)
    loop = random_loop(rng)
    gain, k, n = 10.0 ** rng.uniform(0.0, 2.0), len(loop.channels), len(loop.A)
    A, exit = loop.opened + gain * loop.entry @ loop.exit, gain * loop.exit
    hides = bool(rng.random() < 0.5)
    whole = loop._replace(A=A, exit=exit)
    if hides:
        row = rng.standard_normal((1, n)) * (loop.dt or 1.0)
        more = np.block([[A, np.zeros((n, 1))], [row, np.full((1, 1), 1.0 if loop.dt else 0.0)]])
        entry = np.vstack([loop.entry, np.zeros((1, k))])
        whole = loop._replace(A=more, entry=entry, exit=np.hstack([exit, np.zeros((k, 1))]))
    found = loop_margins(whole)

    def from_border(A):
        values = np.linalg.eigvals(A)
        off = np.abs(values) - 1.0 if loop.dt else values.real / max(1.0, np.abs(values).max())
        return np.abs(off).min(), off.max()

    assert found.stable == (from_border(A)[1] < 0.0)
    assert len(found.outside) == hides
    for i, one in enumerate(found.loops):

        def changed(factor, i=i):
            return from_border(A + (factor - 1.0) * loop.entry[:, [i]] @ exit[[i]])[0]

        assert all(changed(10.0 ** (x / 20.0)) < 1e-7 for x in (one.gain_up, one.gain_down) if np.isfinite(x))
        turns = np.exp(1j * np.radians(one.phase) * np.array([1.0, -1.0])) if np.isfinite(one.phase) else []
        assert min(map(changed, turns), default=0.0) < 1e-7
