"""Many stops and contacts at one instant, and impacts that follow one another ever faster."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.optimize import lsq_linear, nnls

import cmbcontrol as cmb
from cmbcontrol import (
    Actuator,
    Body,
    Contact,
    Coupling,
    Frame,
    JointForce,
    JointMotion,
    Mechanism,
    Planar,
    Point,
    Prismatic,
    Revolute,
)
from cmbcontrol.characteristics import Friction
from cmbcontrol.model.dry_friction import Rub
from cmbcontrol.sim.contact_states import ContactProblem, Touch
from tests.seeds import rotating


@pytest.mark.parametrize("count", [13, 40])
@pytest.mark.parametrize("rubbing", [False, True])
def test_any_number_of_joints_rests_on_its_stops(count, rubbing):
    """Fingers that hang on their lower stops from the start: each is alone, and stays."""
    bodies = [Body.rod(f"f{i}", 0.1, 0.1) for i in range(count)]
    joints = [
        Revolute(f"j{i}", "ground", f"f{i}", frame=Frame((0, 0, 0.1 * i)), limits=(0.0, 1.5)) for i in range(count)
    ]
    forces = [JointForce(f"rub{i}", f"j{i}", Friction(0.01)) for i in range(count)] if rubbing else []
    plant = Mechanism("fingers", bodies, joints, forces=forces, gravity=(0.0, -9.81, 0.0))
    run = cmb.simulate(plant, None, plant.neutral(), t_end=0.1, friction="exact" if rubbing else "smooth")
    assert np.abs(run.q.values).max() < 1e-12
    assert len([event for event in run.events() if event["kind"].startswith("engaged")]) == count


def test_some_of_many_fall_and_others_stay():
    """Each second finger is pulled away from its stop."""
    count = 30
    bodies = [Body.rod(f"f{i}", 0.1, 0.1) for i in range(count)]
    frames = [Frame((0, 0, 0.1 * i), np.diag([1.0, -1.0, -1.0]) if i % 2 else np.eye(3)) for i in range(count)]
    joints = [Revolute(f"j{i}", "ground", f"f{i}", frame=f, limits=(0.0, 1.5)) for i, f in enumerate(frames)]
    plant = Mechanism("fingers", bodies, joints, gravity=(0.0, -9.81, 0.0))
    run = cmb.simulate(plant, None, plant.neutral(), t_end=0.05)
    one = Mechanism("finger", bodies[1:2], [Revolute("j", "ground", "f1", frame=frames[1])], gravity=(0.0, -9.81, 0.0))
    alone = cmb.simulate(one, None, [0.0], t_end=0.05)
    end = run.q.values[-1]
    assert np.abs(end[::2]).max() < 1e-12
    assert end[1::2] == pytest.approx(np.full(count // 2, alone.q.values[-1, 0]), rel=1e-8)


@pytest.mark.parametrize("friction", [0.0, 0.1])
@pytest.mark.parametrize("tilt", [0.0, 0.3, 0.5 * np.pi])
@pytest.mark.parametrize("mode", ["smooth", "exact"])
def test_coupled_fingers_on_their_stops_fall_with_the_arm(friction, tilt, mode):
    """Their stops are redundant, and at the begin nothing pushes against either."""
    bodies = [
        Body("arm", 1.0, (0.2, 0, 0), (0.01,) * 3),
        Body("left", 0.1, (0, 0.01, 0), (1e-4,) * 3),
        Body("right", 0.1, (0, -0.01, 0), (1e-4,) * 3),
    ]
    at, stroke = Frame((0.4, 0.0, 0.0)), (0.0, 0.04)
    joints = [
        Revolute("shoulder", "ground", "arm", axis=(0, np.cos(tilt), np.sin(tilt))),
        Prismatic("left", "arm", "left", axis=(0, 1, 0), frame=at, limits=stroke),
        Prismatic("right", "arm", "right", axis=(0, -1, 0), frame=at, limits=stroke),
    ]
    rubs = [JointForce(f"rub_{n}", n, Friction(friction)) for n in ("shoulder", "left", "right")] if friction else []
    plant = Mechanism(
        "gripper", bodies, joints, [Coupling("mimic", {"left": 1.0, "right": -1.0})], forces=rubs, gravity=(0, 0, -9.81)
    )
    run = cmb.simulate(plant, None, plant.neutral(), t_end=1.0, friction=mode)
    assert run.q.values[:, 1:].min() > -1e-12
    assert run.max_energy_error < 1e-9
    if tilt == 0.3 and not friction:  # centrifugal forces open it, from the first moment on
        assert run.q.values[-1, 1] == pytest.approx(0.0140964, abs=1e-6)


def biped():
    bodies, joints, feet, motors = (
        [Body("trunk", 20.0, (0, 0.15, 0), (0.6, 0.6, 0.6))],
        [Planar("base", "ground", "trunk")],
        [],
        [],
    )
    for s in "lr":
        bodies += [Body.rod(f"thigh_{s}", 2.0, 0.4), Body.rod(f"shank_{s}", 1.0, 0.4)]
        joints += [
            Revolute(f"hip_{s}", "trunk", f"thigh_{s}", damping=0.5),
            Revolute(f"knee_{s}", f"thigh_{s}", f"shank_{s}", frame=Frame((0.4, 0, 0)), damping=0.5),
        ]
        feet.append(Point(f"foot_{s}", "ground", f"shank_{s}", point_b=(0.4, 0, 0)))
        motors += [Actuator(f"hip_{s}"), Actuator(f"knee_{s}")]
    return Mechanism("biped", bodies, joints, feet, actuators=motors, gravity=(0, -9.81, 0))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("restitution", [0.0, pytest.param(0.2, marks=pytest.mark.slow)])
def test_feet_that_hop_ever_faster_come_to_rest(restitution):
    """The impact of one foot throws the other one up by 1e-8 m, which lands, and so on: a geometric sequence."""
    pose = np.array([-1.46326003127, -0.45883694632, -1.49149732611, -0.51285346629])
    q = np.array([0.0, 0.7878171006, -0.08163884743, *pose])
    v = np.array([-0.33259733674, *np.zeros(6)])
    law = cmb.controllers.FunctionController(
        lambda t, terms, state: np.clip(300.0 * (pose - terms.q[3:]) - 15.0 * terms.v[3:], -150.0, 150.0), period=2e-3
    )
    contacts = [Contact(f"foot_{s}", normal=(0, 1, 0), friction=0.6, restitution=restitution) for s in "lr"]
    run = cmb.simulate(biped(), law, q, v, t_end=0.3, switches=contacts, rtol=1e-8, atol=1e-8)
    first = run.events()[0]
    assert first["kind"] == "impact foot_l"
    assert first["time"] == pytest.approx(0.074005661, abs=1e-6)
    assert all(event["loss"] > -1e-12 for event in run.events())
    assert run.max_energy_error < 1e-6
    if not restitution:
        assert len(run.events()) < 20


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_motion_into_a_stop_is_told(restitution):
    stop = Revolute("j", "ground", "a", limits=(-1.0, 0.2), restitution=restitution)
    plant = Mechanism("m", [Body.rod("a", 1.0, 1.0)], [stop], [JointMotion("drive", "j", velocity=1.0)])
    words = r"motion 'drive' leads into 'j_upper_stop' at t = 0\.2 s"
    with pytest.raises(cmb.errors.SimulationError, match=words) as told:
        cmb.simulate(plant, None, [0.0], [1.0], t_end=0.5)
    assert told.value.partial.q.values[-1, 0] == pytest.approx(0.2, abs=1e-9)


# -- random problems: M x = g + pushes, against programs that know nothing of states -------------------------------


class RandomProblem:
    """Contacts with directions drawn at random, some of them twice or sums of others, with or without friction."""

    def __init__(self, seed):
        rng = np.random.default_rng([23, seed])
        nv, self.n, k = int(rng.integers(2, 9)), int(rng.integers(1, 9)), 1 + int(rng.choice([0, 0, 1, 2]))
        L = rng.standard_normal((nv, nv))
        self.M = 10.0 ** rng.uniform(-3, 3) * (L @ L.T + 0.3 * np.eye(nv))
        self.k, A = k, rng.standard_normal((self.n * k, nv))
        for i in range(1, self.n):
            if rng.random() < 0.25:
                A[i * k : (i + 1) * k] = A[(i - 1) * k : i * k]
            elif rng.random() < 0.15 and i > 1:
                A[i * k : (i + 1) * k] = A[:k] + A[k : 2 * k]
        x = rng.standard_normal(nv)
        if rng.random() < 0.2 and nv > self.n // 2:  # some that touch neither open nor push
            x = np.linalg.svd(A[::k][: max(1, self.n // 2)])[2][-1]
        self.A, self.g = A, self.M @ x
        self.mu = float(rng.uniform(0.05, 1.0))
        self.size = np.abs(x).max()

    def found(self):
        """The motion, by the states of contacts."""
        nv, rows, k = len(self.M), len(self.A), self.k
        bodies = [Body(f"b{i}", 1.0) for i in range(nv)]
        joints = [Prismatic(f"x{i}", "ground", f"b{i}") for i in range(nv)]
        loops = [Coupling(f"c{i}", {"x0": 1.0}) for i in range(rows)]
        plant = Mechanism("any", bodies, joints, loops, gravity=(0, 0, 0), precision=0.0)
        scale, reach = np.ones(rows), np.ones(nv)
        for array in (scale, reach):
            array.setflags(write=False)
        own = {"M": self.M, "A": self.A, "b": np.zeros(rows), "row_scale": scale, "unit_lengths": reach}
        terms = replace(plant.terms(np.zeros(nv), np.zeros(nv)), **own, rank=min(rows, nv))
        unit, touches = np.eye(rows), []
        for i in range(self.n):
            rub = None
            if k > 1:
                law, none = Friction(self.mu), frozenset()
                rub = Rub(f"t{i}", law, none, none, "", "", np.eye(k)[1:], np.eye(k)[0])
            touches.append(Touch(f"t{i}", unit[i * k], unit[i * k + 1 : (i + 1) * k], None, rub, np.zeros(k - 1)))
        nothing, noise = 1e-10 * np.abs(self.g).max(), 1e-9 * self.size
        return ContactProblem(terms, touches, self.g, np.zeros(rows), {}, nothing, noise).found()[1].x

    def without_friction(self):
        """The one motion: the nearest in the metric of M that opens no gap below zero.

        Where rows depend on one another, `nnls` may end at pushes that are no minimum, so what a program finds is
        judged by itself: nothing sinks in, and where it pushes nothing opens.
        """
        L = np.linalg.cholesky(self.M)
        rows, wanted = np.linalg.solve(L, self.A.T), -np.linalg.solve(L, self.g)
        bounded = partial(lsq_linear, bounds=(0.0, np.inf), method="bvls", tol=1e-15)
        for program in (lambda: nnls(rows, wanted, maxiter=100_000)[0], lambda: bounded(rows, wanted).x):
            pushes = program()
            x = np.linalg.solve(self.M, self.g + self.A.T @ pushes)
            gaps, noise = self.A @ x, 1e-9 * np.abs(self.A).max() * max(np.abs(x).max(), self.size)
            if gaps.min() > -noise and np.all((pushes <= 1e-9 * pushes.max()) | (gaps < noise)):
                return x
        raise AssertionError("neither program finds the motion")

    def unexplained(self, x):
        """What of M x - g no pushes of contacts explain at this motion, relative; infinite where one sinks in."""
        rate, still, forces = self.A @ x, 1e-7 * self.size, []
        if rate[:: self.k].min() < -still:
            return np.inf
        for i in np.flatnonzero(rate[:: self.k] <= still):
            own = slice(i * self.k, (i + 1) * self.k)
            (push, *across), slip = self.A[own], rate[own][1:]
            if np.linalg.norm(slip) > still:
                ways = [-slip / np.linalg.norm(slip)]
            elif self.k == 2:
                ways = [[1.0], [-1.0]]
            else:
                ways = [[np.cos(a), np.sin(a)] for a in np.linspace(0.0, 2.0 * np.pi, 720, endpoint=False)]
            forces += [push + self.mu * np.dot(way, across) for way in ways]
        left, size = self.M @ x - self.g, np.abs(self.g).max()
        if not forces:
            return np.abs(left).max() / size
        return nnls(np.array(forces).T / size, left / size, maxiter=100_000)[1]


def require_solved(seeds):
    for seed in seeds:
        problem = RandomProblem(seed)
        x = problem.found()
        if problem.k == 1:
            assert np.abs(x - problem.without_friction()).max() < 1e-8 * problem.size, seed
        else:  # cones have 720 sides in the judge
            assert problem.unexplained(x) < (1e-6 if problem.k == 2 else 1e-4), seed


def test_random_problems():
    require_solved([*range(25), 170, 313, 9109075200081])


@pytest.mark.rotates
def test_many_random_problems():
    require_solved(rotating(100))
