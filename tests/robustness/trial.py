"""What the package is asked for each random machine, and how its answers compare with the judge's."""

from __future__ import annotations

import traceback
import warnings
from dataclasses import dataclass, field

import numpy as np

from . import judge, machines

GOOD = "ok"
NEAR = 3e-3  # conditioning: what numbers of three digits leave of a redundant row
OUTCOMES = ("ok", "told", "undecided", "refused", "wrong", "not told", "unhandled", "killed")  # by weight


@dataclass
class Trial:
    """All findings on one machine."""

    seed: int
    kind: str
    truth: str = ""
    checks: list = field(default_factory=list)  # (what was asked, outcome, message)

    def add(self, check, outcome, message=""):
        self.checks.append((check, outcome, message))

    @property
    def outcome(self):
        """The worst."""
        return max((o for _, o, _ in self.checks), key=OUTCOMES.index, default="undecided")

    @property
    def findings(self):
        return [c for c in self.checks if OUTCOMES.index(c[1]) >= OUTCOMES.index("refused")]


def asked(trial, check, function):
    """The answer; None where an error was raised, which is noted: refused in words of the package, or unhandled."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return function()
    except Exception as error:
        outcome = "refused" if in_words(error) else "unhandled"
        trial.add(check, outcome, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
        return None


def in_words(error):
    """Whether the package raised this itself, to tell the user something."""
    import cmbcontrol as cmb

    if isinstance(error, cmb.CmbError):
        return True
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    return type(error) in (ValueError, TypeError) and "cmbcontrol" in last


def run_trial(seed):
    """Everything that is asked of the machine of a seed."""
    trial = Trial(seed, machines.kind_of(seed))
    m = machines.machine(seed)
    verdict = judge.verdict(m, m.q, seed=seed)
    trial.truth = verdict.what
    if m.label and verdict.what not in (m.label, "undecided"):
        trial.truth = "undecided"
        trial.add("judge", "undecided", f"made as {m.label}, judged as {verdict}")
        return trial
    if verdict.what == "undecided":
        trial.add("judge", "undecided", verdict.why)
        if verdict.why == "mass":  # whatever is made of it: no exception from inside
            asked(trial, "build", lambda: machines.build(m))
            trial.checks = [c for c in trial.checks if c[1] != "refused"]
        return trial
    plant = built(trial, m, verdict)
    if plant is None:
        return trial
    rng = np.random.default_rng([12, seed])
    if verdict.what == "regular":
        _regular(trial, m, plant, verdict, rng)
    else:
        _special(trial, m, plant, verdict)
    return trial


def built(trial, m, verdict):
    """The machine; with its numbers as they are where a warning says, and truly, that three digits more would tell.

    Numbers of machines that are so near to redundant rows are changed, which a machine made by people means, and one
    made by chance does not.
    """
    import cmbcontrol as cmb

    if verdict.conditioning < NEAR:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return machines.build(m)
        except cmb.errors.PrecisionWarning as warning:
            trial.add("build", "told", str(warning))
            return asked(trial, "build", lambda: machines.build(m, precision=0.0))
        except Exception:  # noted below
            pass
    return asked(trial, "build", lambda: machines.build(m))


def _special(trial, m, plant, verdict):
    """A machine that cannot move, or a singular configuration: it must be told."""
    import cmbcontrol as cmb

    q = np.asarray(m.q, float)
    d = asked(trial, "diagnose", lambda: plant.diagnose(q))
    if d is None:
        return
    if d.rank != verdict.rank:
        trial.add("diagnose", "wrong", f"rank {d.rank}, truly {verdict.rank}")
    if verdict.what == "rigid":
        told = d.dof == 0
    else:
        told = d.singular
        if verdict.what == "singular" and told and d.generic_rank != verdict.generic:
            trial.add("diagnose", "wrong", f"generic rank {d.generic_rank}, truly {verdict.generic}")
    said = ""
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            run = cmb.simulate(plant, None, q, t_end=0.1 * m.time, output_times=0.05 * m.time)
        immobile = any(issubclass(w.category, cmb.errors.ImmobileWarning) for w in warned)
        if immobile != (verdict.what == "rigid" and verdict.rank == m.nv):
            trial.add("simulate", "wrong", f"warned of an immobile machine: {immobile}, truly {verdict}")
        told |= immobile or any(issubclass(w.category, cmb.errors.BranchWarning) for w in warned)
        _sound(trial, m, plant, run, "simulate")
    except cmb.CmbError as error:
        said = str(error)
        told |= any(word in said for word in ("lock", "singular"))
    except Exception as error:
        trial.add("simulate", "unhandled", f"{type(error).__name__}: {error}")
        return
    if verdict.what == "singular" and said:
        known = any(word in said for word in ("lock", "singular", "branch"))
        trial.add("simulate at a singular configuration", "told" if known else "refused", said[:200])
    trial.add(
        "told", "told" if told else "not told", f"{verdict} but {d.rank=} {d.generic_rank=} {d.singular=}; {said[:150]}"
    )


def _regular(trial, m, plant, verdict, rng):
    q, unit = np.asarray(m.q, float), m.metres()
    rest = judge.terms(m, q, np.zeros(m.nv))
    s = judge.split(rest, m, verdict.rank)
    Z = np.asarray(s.Z, float)
    v = Z @ rng.standard_normal(Z.shape[1])
    v *= rng.uniform(0.2, 1.5) / (m.time * np.abs(v / unit).max())
    cond = verdict.conditioning

    d = asked(trial, "diagnose", lambda: plant.diagnose(q))
    if d is not None and (d.rank, d.generic_rank, d.dof, d.singular) != (
        verdict.rank,
        verdict.rank,
        m.nv - verdict.rank,
        False,
    ):
        trial.add("diagnose", "wrong", f"rank {d.rank}, generic {d.generic_rank}, {d.singular=}, truly {verdict.rank}")

    moving = judge.terms(m, q, v)
    u = rng.standard_normal(len(m.motors)) * m.mass * m.k**2 / m.time**2
    _dynamics(trial, "forward_dynamics", m, plant, q, v, u, s, moving, cond)
    _inverse(trial, m, plant, q, v, s, moving, cond, rng)
    _assemble(trial, m, plant, q, unit, cond, rng)
    for name, start in (("simulate from rest", None), ("simulate moving", v)):
        _simulate(trial, name, m, plant, q, start, verdict.rank, exact=start is not None and rng.random() < 0.08)
    if rng.random() < 0.4:
        _trim(trial, m, plant, q, s, rest, cond, linear=rng.random() < 0.5)
    if not trial.findings:
        trial.add("all", "ok")


def _dynamics(trial, check, m, plant, q, v, u, s, t, cond):
    import cmbcontrol as cmb

    true = judge.acceleration(t, s, t.B @ u)
    free = judge.solve_upper(s.L.T, judge.solve_lower(s.L, t.B @ u - t.h))
    size = judge.size_of(t, true) + judge.size_of(t, free) + judge.size_of(t, v) / m.time
    size += _slow(m)
    found = asked(trial, check, lambda: cmb.forward_dynamics(plant, q, v, u))
    if found is None:
        return
    error = judge.size_of(t, found - true)
    if not error <= 1e-10 * size / cond**2:
        trial.add(check, "wrong", f"off by {error / max(size, 1e-300):.1e} of the free one, conditioning {cond:.1e}")


def reach_of(s, B, m):
    """Rank of what the motors do to the degrees of freedom, with a gap; None where there is none."""
    gears = np.array([motor.gear for motor in m.motors])
    B = np.where(np.abs(B) > 1e-13 * gears, B, 0)  # a torque across all axes does nothing but by rounding
    inside = np.asarray(judge.solve_lower(s.L, B), float)
    sizes = np.linalg.norm(inside, axis=0)
    Zin = np.asarray(s.L.T @ s.Z, float)
    reach = Zin.T @ (inside / np.where(sizes > 0, sizes, 1.0))
    values = judge.singular_values(reach)
    rank = int(np.count_nonzero(values > 1e-9))
    if np.any((values > 1e-12) & (values < 1e-5)):
        return None, reach
    return rank, reach


def _missing(reach, need):
    """Part of what is needed that the motors cannot give."""
    U, values, _ = np.linalg.svd(reach, full_matrices=False)
    U = U[:, values > 1e-9]
    return float(np.linalg.norm(need - U @ (U.T @ need)))


def _inverse(trial, m, plant, q, v, s, t, cond, rng):
    import cmbcontrol as cmb

    check, dof = "inverse_dynamics", s.Z.shape[1]
    rank, reach = reach_of(s, t.B, m)
    if rank is None:
        return
    base = judge.acceleration(t, s, 0 * t.h)
    inside = np.linalg.norm(np.asarray(s.Z.T @ (t.M @ base), float)) + 0.1 * judge.size_of(t, s.Z[:, 0]) / m.time**2
    extra = rng.standard_normal(dof) * max(inside, 1e-3 * judge.size_of(t, base))
    target = base + s.Z @ extra
    size = judge.size_of(t, target) + judge.size_of(t, judge.solve_upper(s.L.T, judge.solve_lower(s.L, t.h)))
    try:
        found = cmb.inverse_dynamics(plant, q, v, np.asarray(target, float))
    except cmb.errors.ActuationError as error:
        if rank == dof:
            trial.add(check, "refused", f"motors reach all {dof}: {error}"[:300])
        return
    except Exception as error:
        trial.add(check, "refused" if in_words(error) else "unhandled", f"{type(error).__name__}: {error}"[:300])
        return
    missing = _missing(reach, extra)
    smallest = min([x for x in judge.singular_values(reach) if x > 1e-9], default=1.0)
    if rank < dof and missing > 1e-5 * np.linalg.norm(extra):
        trial.add(
            check, "wrong", f"motors reach {rank} of {dof}, but efforts up to {np.abs(found.u).max(initial=0):.1e}"
        )
    elif rank == dof:
        error = judge.size_of(t, judge.acceleration(t, s, t.B @ found.u) - target)
        if not error <= 1e-9 * size / (cond * smallest) ** 2:
            trial.add(check, "wrong", f"the motion is off by {error / size:.1e}; {cond:.1e} {smallest:.1e}")


def _assemble(trial, m, plant, q, unit, cond, rng):
    guess = np.asarray(judge.moved(m, q, 1e-2 * unit * rng.uniform(-1, 1, m.nv)), float)
    near = judge.close(m, guess)
    if near is None:
        return
    own = judge.distance(m, guess, near)
    if own > 0.2:
        return
    found = asked(trial, "assemble", lambda: plant.assemble(guess=guess))
    if found is None:
        return
    left = float(np.abs(judge.residual(m, found)).max(initial=0.0))
    if not left < 1e-11:
        trial.add("assemble", "wrong", f"left open by {left:.1e} of the size")
    far = judge.distance(m, guess, found)
    if far > 0.05 + own * max(10.0, 3.0 / cond):  # the nearest in the metric of M may be further off in this one
        trial.add("assemble", "wrong", f"{far:.2f} away from the guess, where a closed pose is {own:.2f} away")


def _sound(trial, m, plant, run, check, tolerance=1e-6):
    """Closure and energy at the end of a run, by the judge."""
    ends = []
    for i in (0, -1):
        q, v = run.q.values[i], run.v.values[i]
        ends.append((q, v, judge.terms(m, q, v)))
    (_, _, a), (_, v, b) = ends
    left = float(np.abs(b.phi).max(initial=0.0))
    if not left < 1e-10:
        trial.add(check, "wrong", f"loops open by {left:.1e} of the size")
    unit = m.metres()
    rate = float(np.abs(b.A @ v).max(initial=0.0)) / max(float(np.abs(v / unit).max()), 1e-3 / m.time)
    if not rate < 1e-8:
        trial.add(check, "wrong", f"velocities break the loops by {rate:.1e}")
    gained = float(b.kinetic + b.potential - a.kinetic - a.potential)
    scale = float(a.kinetic + b.kinetic + abs(b.potential - a.potential)) + 1e-4 * m.mass * m.k**2 / m.time**2
    conservative = not any(j.damping for j in m.joints) and not any(x.damping for x in m.springs)
    if not (abs(gained) if conservative else gained) < tolerance * scale:
        trial.add(check, "wrong", f"energy gained: {gained / scale:.1e} of what moves")
    if not abs(run.max_energy_error) < tolerance * scale:
        trial.add(check, "wrong", f"energy balance off by {run.max_energy_error / scale:.1e} of what moves")
    return ends[1]


def _simulate(trial, check, m, plant, q, v, rank, exact):
    import cmbcontrol as cmb

    def simulated():
        try:
            return cmb.simulate(plant, None, q, v, t_end=0.15 * m.time, output_times=0.05 * m.time)
        except cmb.errors.SimulationError as error:
            M = np.asarray(judge.terms(m, error.partial.q.values[-1], np.zeros(m.nv)).M, float)
            unit = np.sqrt(M.diagonal())
            if np.linalg.cond(M / np.outer(unit, unit)) < 1e8:
                raise
            trial.add(check, "told", "massless bodies line up, so that nothing resists: M has no inverse there")

    run = asked(trial, check, simulated)
    if run is None:
        return
    end, rate, t = _sound(trial, m, plant, run, check)
    if exact:
        _path(trial, check, m, q, v, rank, 0.15 * m.time, end)
    s = judge.split(t, m)
    if s is not None and s.rank.decided:
        _dynamics(trial, f"{check}, end", m, plant, end, rate, np.zeros(len(m.motors)), s, t, s.rank.conditioning)


def _slow(m):
    """A small acceleration, in the metric of M: where nothing acts, rounding is compared with it."""
    return 1e-6 * np.sqrt(m.mass) * m.k / m.time**2


def _followed(m, q, v, rank, t_end, steps):
    """The end of the motion by the classical Runge-Kutta method on the judge's accelerations."""

    def rates(q, v):
        t = judge.terms(m, q, v)
        s = judge.split(t, m, rank)
        if s is None:  # no positive mass matrix there: the judge does not follow
            return np.full_like(v, np.nan)
        return judge.acceleration(t, s, 0 * t.h)

    h = t_end / steps
    for _ in range(steps):
        a1 = rates(q, v)
        a2 = rates(judge.moved(m, q, 0.5 * h * v), v + 0.5 * h * a1)
        a3 = rates(judge.moved(m, q, 0.5 * h * v + 0.25 * h * h * a1), v + 0.5 * h * a2)
        a4 = rates(judge.moved(m, q, h * v + 0.5 * h * h * a2), v + h * a3)
        q = judge.moved(m, q, h * v + h * h / 6.0 * (a1 + a2 + a3))
        v = v + h / 6.0 * (a1 + 2 * a2 + 2 * a3 + a4)
    return q


def _path(trial, check, m, q, v, rank, t_end, end):
    """The end of a run against that of the judge; the difference of two step sizes says how exact the judge is."""
    with np.errstate(all="ignore"):  # where the judge does not follow
        coarse, fine = (_followed(m, q, v, rank, t_end, steps) for steps in (12, 24))
    error = judge.distance(m, coarse, fine)
    off = judge.distance(m, fine, end)
    if error < 1e-3 and not off < 10.0 * error + 1e-7:
        trial.add(check, "wrong", f"the end is {off:.1e} off; the judge's own error is {error:.1e}")


def _trim(trial, m, plant, q, s, t, cond, linear):
    import cmbcontrol as cmb

    rank, reach = reach_of(s, t.B, m)
    if rank is None:
        return
    need = np.asarray(s.Z.T @ t.h, float)
    missing, dof = _missing(reach, need), len(need)
    scale = judge.size_of(t, judge.solve_upper(s.L.T, judge.solve_lower(s.L, t.h)))
    scale += _slow(m)
    reached = rank == dof or missing < 1e-13 * scale
    if not reached and missing < 1e-5 * scale:
        return
    try:
        point = cmb.trim(plant, q)
    except cmb.errors.EquilibriumError as error:
        if reached:
            trial.add("trim", "refused", str(error)[:300])
        return
    except Exception as error:
        trial.add("trim", "refused" if in_words(error) else "unhandled", f"{type(error).__name__}: {error}"[:300])
        return
    left = judge.size_of(t, judge.acceleration(t, s, t.B @ point.u))
    smallest = min([x for x in judge.singular_values(reach) if x > 1e-9], default=1.0)
    if not left <= 1e-7 * scale / (cond * smallest):
        trial.add("trim", "wrong", f"{left / scale:.1e} of the free acceleration is left; reached {rank} of {dof}")
    elif linear and cond > 1e-3:
        _linear(trial, m, plant, q, s, t, point)


def _linear(trial, m, plant, q, s, t, point):
    """Eigenvalues against differences of the judge's accelerations."""
    import cmbcontrol as cmb

    found = asked(trial, "linearize", lambda: cmb.linearize(plant, point).poles())
    if found is None:
        return
    dof, unit = s.Z.shape[1], m.metres()
    Z = np.asarray(s.Z, float)
    onto = np.asarray(s.Z.T @ t.M, float)
    K, C = np.zeros((2, dof, dof))
    for j in range(dof):
        h = 1e-4 / np.abs(Z[:, j] / unit).max()
        ends = []
        for sign in (1, -1):
            near = judge.close(m, judge.moved(m, q, sign * h * Z[:, j]))
            if near is None:
                return
            at = judge.terms(m, near, np.zeros(m.nv))
            split = judge.split(at, m)
            if split is None or not split.rank.decided or split.rank.value != len(s.order):
                return
            ends.append(onto @ np.asarray(judge.acceleration(at, split, at.B @ point.u), float))
        K[:, j] = (ends[0] - ends[1]) / (2 * h)
        ends = []
        for sign in (1, -1):
            at = judge.terms(m, q, sign * h / m.time * Z[:, j])
            ends.append(onto @ np.asarray(judge.acceleration(at, s, at.B @ point.u), float))
        C[:, j] = (ends[0] - ends[1]) / (2 * h / m.time)
    A = np.block([[np.zeros((dof, dof)), np.eye(dof) / m.time], [m.time * K, C]])
    true = list(np.linalg.eigvals(A))
    size = float(np.abs(A).max())
    if len(found) != len(true):
        trial.add("linearize", "wrong", f"{len(found)} eigenvalues, not {len(true)}")
        return
    # characteristic polynomials: roots that fall together are not told apart by differences
    where = size * np.exp(2j * np.pi * (np.arange(5) + 0.3) / 5.0) * 1.7
    a, b = (np.array([np.prod((z - np.asarray(x)) / size) for z in where]) for x in (found, true))
    error = float(np.abs(a - b).max() / np.abs(b).max())
    if not error < 1e-4:
        trial.add(
            "linearize", "wrong", f"characteristic polynomial off by {error:.1e}: {np.sort(found)}, {np.sort(true)}"
        )
