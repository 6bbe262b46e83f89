"""The judge is judged: against formulas, and against mpmath's differences of its own kinematics."""

import numpy as np
import pytest

from . import judge, machines
from .judge import Joint, Machine, Tie


def planar_chain(lengths, angles, end, z=(0.0, 0.0, 1.0)):
    """Hinged rods whose far end is hinged to the ground at `end`."""
    bodies, joints, parent, x = {}, [], "ground", 0.0
    for i, length in enumerate(lengths):
        bodies[f"b{i}"] = 1.0, (0.5 * length, 0.0, 0.0), np.diag([0.01, 0.1, 0.1])
        joints.append(Joint("revolute", f"j{i}", parent, f"b{i}", machines.at(x), machines.at(0.0), z))
        parent, x = f"b{i}", length
    loop = Tie("line", "loop", "ground", parent, pa=np.array([*end, 0.0]), pb=np.array([x, 0.0, 0.0]), axis=z)
    return Machine("chain", bodies, joints, [loop], q=np.asarray(angles, float))


@pytest.mark.parametrize(
    ("lengths", "angles", "end", "what"),
    [
        ((1.0, 1.0, 1.0), (0.5 * np.pi, -0.5 * np.pi, -0.5 * np.pi), (1.0, 0.0), "regular"),
        ((1.0, 2.0, 1.0), (0.0, 0.0, np.pi), (2.0, 0.0), "singular"),  # a flat parallelogram
        ((1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (3.0, 0.0), "locked"),  # stretched
        ((1.0, 1.0), (np.pi / 3.0, -2.0 * np.pi / 3.0), (1.0, 0.0), "rigid"),  # a triangle
    ],
)
def test_verdicts_that_are_known(lengths, angles, end, what):
    m = planar_chain(lengths, angles, end)
    assert judge.verdict(m, m.q).what == what


def test_a_stretched_chain_with_a_pendulum_is_partly_locked():
    m = planar_chain((1.0, 1.0), (0.0, 0.0), (2.0, 0.0))
    m.bodies["arm"] = 1.0, (0.3, 0.0, 0.0), np.eye(3)
    m.joints.append(Joint("revolute", "arm", "b0", "arm", machines.at(0.4), machines.at(0.0), (1.0, 2.0, 0.0)))
    m.q = np.append(m.q, 0.3)
    found = judge.verdict(m, m.q)
    assert (found.what, found.rank) == ("locked", 1)


def test_acceleration_of_a_parallelogram():
    """de Falco's: J th'' = -G cos(th), as the docstring of the plant derives."""
    from cmbcontrol import plants
    from cmbcontrol.plants.parallelogram import configuration as flat_configuration

    from .singular_starts import described

    m = described(plants.parallelogram())
    q = flat_configuration(1.0)
    t = judge.terms(m, q, np.zeros(m.nv))
    s = judge.split(t, m)
    assert (s.rank.value, s.rank.decided) == (11, True)
    assert judge.acceleration(t, s, 0 * t.h)[2] == pytest.approx(-34.335 * np.cos(1.0) / 3.05, rel=1e-14)


@pytest.mark.parametrize("seed", [2, 7, 10, 19, 36, 38])
def test_derivatives_against_differences_in_mpmath(seed):
    """A v and b of the loops, and the energy's power balance, from positions in 50 digits alone."""
    m = machines.machine(seed)
    rng = np.random.default_rng(seed)
    v = rng.uniform(-1, 1, m.nv) * m.metres()
    t = judge.terms(m, m.q, v)
    lib = judge.Exact(50)
    h = lib.mp.mpf(10) ** -12
    # constant velocities: the jets' joints have no accelerations
    far = [judge.residual(m, judge.moved(m, m.q, lib.array(v) * (i * h), lib), lib) for i in (-1, 0, 1)]
    first = np.array((far[2] - far[0]) / (2 * h), float)
    second = np.array((far[2] - 2 * far[1] + far[0]) / h**2, float)
    size = 1.0 + np.abs(t.b).max(initial=0.0)
    np.testing.assert_allclose(np.asarray(t.A @ v, float), first, atol=1e-11 * size)
    plain = not any(j.kind in ("free", "planar") for j in m.joints)  # `moved` goes straight, in their turning axes
    if plain:
        np.testing.assert_allclose(np.asarray(t.b, float), second, atol=1e-9 * size)


@pytest.mark.parametrize("seed", range(0, 36, 5))
def test_energy_is_balanced(seed):
    """M and h belong to the kinetic and the potential energy: d/dt (T + V) = -(damping) without loops and motors."""
    m = machines.machine(seed)
    m.loops, m.motors = [], []
    for part in [*m.joints, *m.springs]:
        part.damping = 0.0
    v = np.random.default_rng(seed).uniform(-1, 1, m.nv) * m.metres() / m.time
    t = judge.terms(m, m.q, v)
    s = judge.split(t, m)
    if s is None:  # massless ends
        return
    a = judge.acceleration(t, s, 0 * t.h)
    h = 1e-5 * m.time
    ends = [judge.terms(m, judge.moved(m, m.q, x * h * v + 0.5 * h * h * a), v + x * h * a) for x in (-1, 1)]
    power = float((ends[1].kinetic + ends[1].potential - ends[0].kinetic - ends[0].potential) / (2 * h))
    scale = float(abs(t.h @ v)) + float(t.kinetic) / m.time
    assert abs(power) < 1e-7 * scale


def test_ranks_without_a_gap_are_undecided():
    assert not judge.rank_of(np.diag([1.0, 1e-8])).decided
    assert judge.rank_of(np.diag([1.0, 1e-15])) == judge.Rank(1, True, 1.0)
    assert judge.rank_of(np.diag([1e-15, 1e-16])).value == 0


def test_a_seed_rebuilds_its_machine():
    a, b = machines.machine(12345), machines.machine(12345)
    assert repr(a) == repr(b)


@pytest.mark.parametrize("kind", machines.CLASSES)
def test_each_class_is_closed_where_it_was_made(kind):
    seeds = [s for s in range(72) if machines.kind_of(s) == kind]
    for seed in seeds:
        m = machines.machine(seed)
        assert float(np.abs(judge.residual(m, m.q)).max(initial=0.0)) < 3e-15
