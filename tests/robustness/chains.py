"""Random chains of laws and blocks on machines of all masses: python -m tests.robustness.chains --count N --seed S.

No smooth loop may be refused. Its linear model is compared with differences of what the machine and its computer do
from one sample to the next, integrated here; its margins with loops into which the gain, the phase and the delay are
really put.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import sys
import traceback
import warnings

import numpy as np
from scipy.integrate import solve_ivp

import cmbcontrol as cmb
from cmbcontrol import Actuator, Body, Constant, Frame, Load, Mechanism, PointOnLine, Prismatic, Revolute, design
from cmbcontrol import controllers as C
from cmbcontrol.controllers import EffortBlock
from cmbcontrol.controllers.chain import Chain
from cmbcontrol.linear.balancing import state_scales

from . import workers

MACHINES = ("slider", "arm", "two arms", "four-bar", "crank and ram")


def machine(kind, rng, mass, size):
    """A machine, and where it rests under a law: the law's coordinates with their values, and a guess of the others."""
    g = float(rng.choice([0.0, 9.81]))
    rod = lambda name, m, length: Body.rod(name, m * mass, length * size)  # noqa: E731
    at = lambda *x: Frame(tuple(size * np.array([*x, 0.0, 0.0])[:3]))  # noqa: E731
    if kind == "slider":
        joint = Prismatic("x", "ground", "sledge", axis=(np.cos(0.4), np.sin(0.4), 0.0))
        parts = [rod("sledge", 1.0, 1.0)], [joint], []
        held, others, motors = {"x": 0.2 * size}, {}, ("x",)
    elif kind in ("arm", "two arms"):
        bodies, joints = [rod("upper", 1.0, 1.0)], [Revolute("shoulder", "ground", "upper")]
        held, motors = {"shoulder": float(rng.uniform(-2.0, 2.0))}, ("shoulder",)
        if kind == "two arms":
            bodies.append(rod("fore", 0.6, 0.8))
            joints.append(Revolute("elbow", "upper", "fore", frame=at(1.0)))
            held["elbow"], motors = float(rng.uniform(0.4, 2.0)), ("shoulder", "elbow")
        parts, others = (bodies, joints, []), {}
    elif kind == "four-bar":
        bodies = [rod("crank", 1.0, 0.4), rod("coupler", 1.5, 1.2), rod("rocker", 1.0, 0.9)]
        joints = [
            Revolute("crank", "ground", "crank"),
            Revolute("knee", "crank", "coupler", frame=at(0.4)),
            Revolute("rocker", "ground", "rocker", frame=at(1.1)),
        ]
        pin = cmb.Point("pin", "coupler", "rocker", (1.2 * size, 0.0, 0.0), (0.9 * size, 0.0, 0.0))
        parts = bodies, joints, [pin]
        held, others, motors = {"crank": float(rng.uniform(0.5, 2.5))}, {"knee": 0.2, "rocker": 1.9}, ("crank",)
    else:
        bodies = [rod("crank", 1.0, 0.3), rod("rod", 0.8, 1.0), rod("ram", 3.0, 0.2)]
        joints = [
            Revolute("crank", "ground", "crank"),
            Revolute("knee", "crank", "rod", frame=at(0.3)),
            Prismatic("ram", "ground", "ram", axis=(1.0, 0.0, 0.0)),
        ]
        pin = PointOnLine("pin", "ram", "rod", (0.0, 0.0, 0.0), (size, 0.0, 0.0))
        parts = bodies, joints, [pin]
        held, others, motors = {"crank": float(rng.uniform(0.6, 2.4))}, {"ram": size}, ("crank",)
    loads = [Load("pull", parts[0][-1].name, at(0.6))]
    plant = Mechanism(kind, *parts, actuators=[Actuator(m) for m in motors], gravity=(0.0, -g, 0.0), loads=loads)
    return plant, held, others


def law_of(rng, plant, q, names, rate):
    """A sampled law with blocks around it, about `rate` fast (1/s); and what it is called."""
    period = 1.0 / (rate * float(rng.uniform(12.0, 60.0)))
    told = [f"T = {period:.3g}"]
    reference = Constant([q[plant.position_names.index(n)] for n in names])
    if rng.random() < 0.2:
        told.append("LQG")
        point = cmb.trim(plant, q)
        linear = cmb.linearize(plant, point, coordinates=names)
        feedforward = str(rng.choice(["linear", "inverse-dynamics"]))
        units = [plant.size if unit == "m" else 1.0 for unit in linear.state_units[: len(names)]]
        weights = {n: 1.0 / unit**2 for n, unit in zip(names, units, strict=True)}
        effort = float(np.linalg.norm(np.linalg.pinv(linear.B[len(names) :]), 2)) * rate**2
        K = design.lqr(linear, weights, 1.0 / effort**2, period=period, feedforward=feedforward)
        L = design.kalman(linear, names, effort_noise=effort**2, measurement_noise=1e-4 * plant.size**2, period=period)
        law = C.ObserverFeedback(K, L, names)
    else:
        integral = float(rng.uniform(0.05, 0.3)) * rate if rng.random() < 0.5 else None
        damping_ratio = float(rng.uniform(0.5, 1.2))
        law = C.ProjectedInverseDynamics(
            plant, names, reference, bandwidth=rate, damping_ratio=damping_ratio, integral=integral, period=period
        )
        told.append("PIDC" if integral is None else "PIDC, integral")
        around = rng.random()
        if around < 0.15:
            law = C.LoadObserver(law, ["pull_fx"], bandwidth=0.5 * rate)
            told.append("load observer")
        elif around < 0.3:
            law = C.MotionObserver(law, names, bandwidth=4.0 * rate)
            told.append("motion observer")
        elif rng.random() < 0.5:
            law = C.FilteredDifference(time_constant=float(rng.uniform(0.0, 3.0)) * period) | law
            told.append("filter")
    if rng.random() < 0.4:
        delay = float(rng.uniform(0.05, 2.2)) * period
        law = law | C.Delay(period if rng.random() < 0.3 else delay)
        told.append("delay")
    drive = rng.random()
    if drive < 0.3:
        law = law | C.FirstOrderActuator(float(rng.uniform(0.3, 3.0)) * period)
        told.append("lag")
    elif drive < 0.5:
        tau = float(rng.uniform(0.3, 3.0)) * period
        law = law | C.ElectricDrive(torque_constant=1.0, gear=50.0, current=1e12, time_constant=tau)
        told.append("electric drive")
    return law, ", ".join(told)


# -- what really happens from sample to sample ----------------------------------------------------------------


class Sampled:
    """Machine and computer from one sample to the next, in deviations of the states of a linear model."""

    def __init__(self, plant, law, loop):
        self.plant, self.law, self.loop = plant, law, loop
        self.T, rest = loop.dt, loop.rest
        self.q, self.u = rest.point.q, rest.point.u
        self.names = [n for n in loop.states if n in plant.position_names]
        drive = law.drive
        self.drive = drive
        self.first = np.concatenate([np.zeros(2 * len(self.names)), rest.drive, rest.state])
        self.law_at = 2 * len(self.names) + rest.drive.size
        self.past_at = self.law_at + rest.state.size
        delay = 0.0 if law.delay is None else np.asarray(law.delay, float)
        self.delay = np.broadcast_to(delay, plant.nu)
        # what the law commands at rest, in front of the drive
        self.command = np.asarray(law.evaluate(0.0, plant.terms(self.q, np.zeros(plant.nv)), rest.state).effort, float)

    def state(self, z):
        """q and v of deviations of the coordinates and of their rates."""
        plant, n = self.plant, len(self.names)
        at = [plant.position_names.index(name) for name in self.names]
        q = self.q.copy()
        values = {name: self.q[i] + x for name, i, x in zip(self.names, at, z[:n], strict=True)}
        if len(plant.row_names):
            for _ in range(40):  # Newton's method for the others
                terms = plant.terms(q, np.zeros(plant.nv))
                rows = np.vstack([terms.A, np.eye(plant.nv)[at]])
                left = np.concatenate(
                    [terms.phi, [q[i] - values[name] for name, i in zip(self.names, at, strict=True)]]
                )
                q = q - np.linalg.lstsq(rows, left, rcond=1e-12)[0]
        else:
            q[at] = list(values.values())
        terms = plant.terms(q, np.zeros(plant.nv))
        rows = np.vstack([terms.A, np.eye(plant.nv)[at]])
        v = np.linalg.lstsq(rows, np.concatenate([np.zeros(len(terms.A)), z[n : 2 * n]]), rcond=1e-12)[0]
        return q, v

    def step(self, z):
        """The deviations a sample later."""
        plant, law, n = self.plant, self.law, len(self.names)
        whole = z.copy()
        whole[: self.past_at] += self.first
        q, v = self.state(z)
        evaluation = law.evaluate(0.0, plant.terms(q, v), whole[self.law_at : self.past_at])
        u = np.asarray(evaluation.effort, float)
        after = np.zeros(0) if evaluation.state is None else np.asarray(evaluation.state, float)
        past, first, changes = [], self.past_at, {0.0, self.T}
        for i in range(plant.nu):
            count = sum(s.startswith(f"{plant.actuator_names[i]}_effort[k-") for s in self.loop.states)
            past.append([u[i], *(self.command[i] + z[first : first + count])])
            first += count
            changes.add(float(self.delay[i] - self.T * np.floor(self.delay[i] / self.T + 1e-9)))
        x = np.concatenate([q, v, whole[2 * n : self.law_at]])
        times = sorted(t for t in changes if t >= -1e-12)
        for t0, t1 in itertools.pairwise(times):
            if t1 - t0 < 1e-9 * self.T:
                continue
            middle = 0.5 * (t0 + t1)
            command = np.array([past[i][self.age(i, middle)] for i in range(plant.nu)])
            run = solve_ivp(
                self.rate, (t0, t1), x, "DOP853", rtol=1e-11, atol=1e-13 * (1.0 + np.abs(x)), args=(command,)
            )
            x = run.y[:, -1]
        at = [plant.position_names.index(name) for name in self.names]
        moved = [x[: plant.nq][at] - self.q[at], x[plant.nq : plant.nq + plant.nv][at], x[plant.nq + plant.nv :], after]
        result = np.concatenate(moved)
        result[2 * n :] -= self.first[2 * n :]
        kept = [p[j] - self.command[i] for i, p in enumerate(past) for j in range(len(p) - 1)]
        return np.concatenate([result, kept])

    def age(self, i, t):
        """How many samples old the effort is that acts at a time after the sample."""
        return int(np.ceil((self.delay[i] - t) / self.T - 1e-9)) if self.delay[i] > t else 0

    def rate(self, t, x, command):
        plant = self.plant
        q, v, c = x[: plant.nq], x[plant.nq : plant.nq + plant.nv], x[plant.nq + plant.nv :]
        terms = plant.terms(q, v)
        effort, c_rate = command, np.zeros(0)
        if self.drive is not None:
            answer = self.drive.evaluate(t, terms, command, c)
            effort, c_rate = np.asarray(answer.effort, float), np.asarray(answer.state, float)
        force = terms.B @ effort - terms.h
        unit = np.sqrt(np.diag(terms.M))
        rows = terms.A / unit
        free = np.linalg.solve(terms.M / unit[:, None] / unit, force / unit)
        if len(rows):
            mass = terms.M / unit[:, None] / unit
            gain = np.linalg.solve(mass, rows.T)
            lam = np.linalg.lstsq(rows @ gain, -terms.b - rows @ free, rcond=1e-12)[0]
            free = free + gain @ lam
        return np.concatenate([v, free / unit, c_rate])

    def jacobian(self, units, part):
        """Differences of order 4, with steps of a part of a unit."""
        columns = []
        for e, unit in zip(np.eye(len(units)), units, strict=True):
            h = part * unit
            f = {k: self.step(k * h * e) for k in (1, -1, 2, -2)}
            columns.append((8.0 * (f[1] - f[-1]) - (f[2] - f[-2])) / (12.0 * h))
        return np.array(columns).T


class Varied(EffortBlock):
    """A gain on one motor, about the efforts at rest."""

    place = "controller"

    def __init__(self, motor, gain, about):
        self.motor, self.gain, self.about = motor, gain, about

    def effort(self, t, terms, u, state):
        u = np.array(u, float)
        u[self.motor] = self.about[self.motor] + self.gain * (u[self.motor] - self.about[self.motor])
        return u


def border(A):
    """How far the slowest pole of a sampled loop is from the border, and nearest to it."""
    return float(np.abs(np.abs(np.linalg.eigvals(A)) - 1.0).min())


def run_trial(seed):
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(MACHINES))
    mass, size = 10.0 ** rng.uniform(-3.0, 6.0), 10.0 ** rng.uniform(-2.0, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plant, held, others = machine(kind, rng, mass, size)
        q = plant.assemble(**held, guess=others)
        rate = float(rng.uniform(1.5, 12.0)) * np.sqrt(9.81 / size)
        told = f"{kind} of {mass:.3g} kg, {size:.3g} m"
        try:
            law, what = law_of(rng, plant, q, tuple(held), rate)
            told += f": {what}"
            loop = cmb.linearize_closed_loop(plant, law, q, coordinates=tuple(held))
            off = wrong_model(plant, law, loop, rate)
            if off:
                return "linear model", f"{told}: {off}"
            off = wrong_margins(plant, law, loop)
            return ("margins", f"{told}: {off}") if off else ("ok", told)
        except cmb.CmbError as error:
            return "refused", f"{told}: {type(error).__name__}: {error}"
        except Exception:
            return "crash", f"{told}\n{traceback.format_exc()}"


def wrong_model(plant, law, loop, rate):
    """What is wrong with A, compared in states of like size."""
    real = Sampled(plant, law, loop)
    lengths = [plant.size if unit == "m" else 1.0 for unit in loop.state_units[: len(real.names)]]
    scale = state_scales(loop.A)
    scale = scale / scale[0] * lengths[0]
    of_law = slice(real.law_at, real.past_at)  # angles, rates, integrals: no larger than they are
    units = scale.copy()
    units[of_law] = np.minimum(units[of_law], 100.0)
    units[: len(lengths)] = lengths
    units[len(lengths) : 2 * len(lengths)] = rate * np.array(lengths)
    still = np.abs(real.step(np.zeros(len(units))) / units).max()
    if still > 1e-8:
        return f"it is not at rest, by {still:.2g}"
    size = max(1.0, np.abs(loop.A * units / units[:, None]).max())
    for part in (1e-3, 1e-4, 1e-5):  # as long as the differences are what is wrong
        off = np.abs((loop.A - real.jacobian(units, part)) * units / units[:, None])
        if off.max() <= 1e-7 * size:
            break
    else:
        i, j = np.unravel_index(int(off.argmax()), off.shape)
        return f"A is {off.max():.2g} off of {size:.3g}, d {loop.states[i]} / d {loop.states[j]}"
    return ""


def wrong_margins(plant, law, loop):
    """What is wrong with the margins: loops with them put in do not stand on the border."""
    found = loop.margins()
    u = np.asarray(law.evaluate(0.0, plant.terms(loop.point.q, loop.point.v), loop.rest.state).effort, float)
    rest, names = loop.rest, loop.plant.states[: len(loop.plant.states) // 2]
    if found.stable != bool((np.abs(np.linalg.eigvals(loop.A)) < 1.0).all()) and not found.outside:
        return "stable or not"
    for i, one in enumerate(found.loops):
        for gain in (one.gain_up, one.gain_down):
            if np.isfinite(gain):
                varied = with_block(law, Varied(i, 10.0 ** (gain / 20.0), u))
                A = cmb.linearize_closed_loop(plant, varied, rest, coordinates=names, find_equilibrium=False).A
                if border(A) > 1e-6:
                    return f"gain {gain:.6g} dB of {one.channel}: {border(A):.2g} from the border"
        if np.isfinite(one.phase):
            L = loop.loop("input", one.channel)
            turned = [L.A - np.exp(1j * np.radians(x)) * L.B @ L.C for x in (one.phase, -one.phase)]
            if min(map(border, turned)) > 1e-6:
                return f"phase {one.phase:.6g} deg of {one.channel}: {min(map(border, turned)):.2g} from the border"
        if found.stable and np.isfinite(one.delay) and one.delay < 60.0 * loop.dt:
            for factor in (0.35, 0.8, 1.0 - 1e-6, 1.0, 1.0 + 1e-6):
                late = with_block(law, C.Delay({one.channel: factor * one.delay}, plant=plant))
                A = cmb.linearize_closed_loop(plant, late, rest, coordinates=names, find_equilibrium=False).A
                growth = float(np.abs(np.linalg.eigvals(A)).max()) - 1.0
                if factor == 1.0 and border(A) > 1e-6:
                    return f"delay {one.delay:.6g} s of {one.channel}: {border(A):.2g} from the border"
                if factor < 1.0 - 1e-3 and growth > 1e-9:
                    return f"delay {one.delay:.6g} s of {one.channel}: unstable at {factor} of it"
    return ""


def with_block(law, block):
    """The chain with one more block of the controller, before its drives."""
    parts = list(law.parts) if isinstance(law, Chain) else [law]
    at = next((i for i, x in enumerate(parts) if isinstance(x, (C.FirstOrderActuator, C.ElectricDrive))), len(parts))
    return Chain(*parts[:at], block, *parts[at:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    tally = collections.Counter()
    for seed, answer in workers.each(run_trial, range(given.seed, given.seed + given.count), given.jobs, 120.0):
        outcome, told = answer
        tally[outcome] += 1
        if outcome != "ok":
            print(f"{seed}: {outcome}: {told}", flush=True)
    print(dict(tally))
    return int(set(tally) != {"ok"})


if __name__ == "__main__":
    sys.exit(main())
