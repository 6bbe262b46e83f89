"""Spencer's five-bar (thesis, section 3.2): both examples by his methods and by ours, figures 3.3 to 3.10.

Both motions are mirror symmetric, so the machine has one degree of freedom, and the runs of all methods can be compared
with the exact motion (`SymmetricMotion`).

One module, although a long one: both examples share the exact motion, the runs and the panels of their figures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._progress import Progress, Reporter
from ..dynamics.acceleration import constrained_motion
from ..errors import SimulationError
from ..model.mechanism import Mechanism
from ..model.terms import RANK_TOLERANCE, Terms
from ..plants.five_bar import LONG, SHORT, configuration, five_bar
from ..sim.simulate import simulate
from ..sim.stabilisation import project_all_at_once
from .fixed_step import march
from .methods import settings
from .report import Cell, Report, ResultTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Course", "SymmetricMotion", "first_example", "null_space_step", "return_time", "second_example"]

Array = NDArray[np.float64]
SOURCE = "E. L. Spencer, thesis, Iowa State University 2004, section 3.2"
STEP, T_END = 1e-3, 5.0  # s, of the thesis
GAINS = (10.0, 10.0)  # alpha, beta of the thesis, 1/s
ENOUGH = 1e-3  # norm of the invariants below which the thesis's projection has converged
RETURN = 2.82  # s, as the thesis reads it

# Absolute link angles in the order of the thesis, from the joint angles of the plant cut at the right support. The
# third and fourth link of the thesis point from the tip to the support, ours from the support to the tip.
TO_LINKS = np.tril(np.ones((4, 4)))
TO_JOINTS = np.linalg.inv(TO_LINKS)
LINK_OFFSETS = np.array([0.0, 0.0, -np.pi, np.pi])
# From the joint angles of the plant cut at the tip to those of the plant cut at the right support.
FROM_TIP = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [-1.0, -1.0, 1.0, 1.0], [0, 0, 0, -1.0]])


# -- the exact motion ---------------------------------------------------------------------------------------------


class SymmetricMotion:
    """Mirror-symmetric motion of the five-bar from rest, exact up to an integration at 1e-13.

    The tip stays above or below the middle of the base: 1 + cos x = 3/2 (1 - cos y) for the absolute angles x and y of
    the left links. So sin(y/2) = sqrt(2/3) cos(x/2), a smooth curve along which x may go on and on. It crosses itself
    at the singular configuration, x = pi and y = 0. Along it K'M K x'' + K'(h + M dK/dx x'^2) = 0 with K = dq/dx, where
    no constraint is left that could be singular.

    Parameters
    ----------
    plant : Mechanism
        Five-bar made by `five_bar`, with any cut.
    case : {"singular", "second"}
        Start of the first or the second example.
    t_end : float
        End of the motion, s.

    Attributes
    ----------
    passages : ndarray
        Times in the singular configuration, s.

    Examples
    --------
    >>> SymmetricMotion(five_bar(), "second").passages.round(6)
    array([0.650815, 1.853791, 3.90978 ])
    """

    def __init__(self, plant: Mechanism, case: str = "second", t_end: float = T_END) -> None:
        from scipy.integrate import solve_ivp

        starts = {"singular": np.pi, "second": 2.0 * np.pi / 3.0}
        start = starts[_check.one_of(case, starts, "case")]
        self.plant, t_end = plant, _check.positive(t_end, "t_end")
        found = solve_ivp(
            lambda t, s: (s[1], self._acceleration(*s)),
            (0.0, t_end),
            (start, 0.0),
            method="DOP853",
            rtol=1e-13,
            atol=1e-13,
            dense_output=True,
            events=lambda t, s: np.cos(0.5 * s[0]),
        )
        self._solution = found.sol
        if case == "singular":  # at rest in the configuration: it comes back, and goes the way it came
            self.passages = np.arange(0.0, t_end, return_time(plant))
        else:
            self.passages = found.t_events[0]

    def _acceleration(self, x: float, rate: float) -> float:
        q, K, bend = symmetric_pose(self.plant, x)
        terms = self.plant.terms(q, rate * K)
        return -float(K @ (terms.h + terms.M @ bend * rate**2)) / float(K @ terms.M @ K)

    def at(self, times: ArrayLike) -> tuple[Array, Array, Array]:
        """Positions q, velocities v and accelerations dv/dt, each (times, 4)."""
        rows = []
        for x, rate in self._solution(np.atleast_1d(times)).T:
            q, K, bend = symmetric_pose(self.plant, x)
            rows.append((q, rate * K, self._acceleration(x, rate) * K + rate**2 * bend))
        q, v, a = (np.array(part) for part in zip(*rows, strict=True))
        return q, v, a

    def multipliers(self, times: ArrayLike) -> Array:
        """Multipliers with A' lam = -(M dv/dt + h), N, shape (times, 2); poles at the singular configuration."""
        found = []
        for q, v, a in zip(*self.at(times), strict=True):
            terms = self.plant.terms(q, v)
            found.append(np.linalg.lstsq(terms.A.T, -(terms.M @ a + terms.h), rcond=1e-14)[0])
        return np.array(found)


def symmetric_pose(plant: Mechanism, x: float) -> tuple[Array, Array, Array]:
    """Symmetric pose q, K = dq/dx and dK/dx of the five-bar at the absolute angle x of its left driven link."""
    s, slope = (np.sqrt(SHORT / LONG) * f for f in (np.cos(0.5 * x), -0.5 * np.sin(0.5 * x)))
    c = np.sqrt(1.0 - s * s)
    y, dy = 2.0 * np.arcsin(s), 2.0 * slope / c
    ddy = -0.5 * s / c + 2.0 * s * slope**2 / c**3
    right = ((-1.0, 0.0), (1.0, -1.0)) if "right" in plant.position_names else ((0.0, -2.0), (-1.0, 1.0))
    links = np.array([(1.0, 0.0), (-1.0, 1.0), *right])
    return links @ (x, y) + (0.0, 0.0, np.pi, 0.0), links @ (1.0, dy), links @ (0.0, ddy)


@cache
def return_time(plant: Mechanism) -> float:
    """Time of return of the motion from rest in the singular configuration, s, by quadrature of the energy balance.

    x' = sqrt(2 (E - V) / I) with I = K'M K, to the turning point V = E and back. With x = middle - radius cos(phi)
    the integrand is smooth.

    Examples
    --------
    >>> round(return_time(five_bar()), 7)
    2.8253685
    """
    from scipy.integrate import quad
    from scipy.optimize import brentq

    rest = np.zeros(plant.nv)

    def fall(x: float) -> tuple[float, float]:  # how deep it has fallen, J, and the inertia there
        q, K, _ = symmetric_pose(plant, x)
        terms = plant.terms(q, rest)
        return height - terms.potential, float(K @ terms.M @ K)

    height = plant.terms(symmetric_pose(plant, np.pi)[0], rest).potential
    turn = brentq(lambda x: fall(x)[0], 1.5 * np.pi, 3.0 * np.pi - 1e-3, xtol=1e-14)
    middle, radius = 0.5 * (turn + np.pi), 0.5 * (turn - np.pi)

    def duration(phi: float) -> float:
        depth, inertia = fall(middle - radius * np.cos(phi))
        return radius * np.sin(phi) * np.sqrt(0.5 * inertia / depth)

    return 2.0 * quad(duration, 0.0, np.pi, epsabs=0.0, epsrel=1e-12, limit=200)[0]


# -- runs ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Course:
    """A run of the five-bar cut at the right support, with the quantities that the thesis plots.

    Attributes
    ----------
    label, outcome : str
    time, q, v : ndarray
        Values at each millisecond.
    steps, evaluations : int
    projections : int
        Number of steps that ended in a projection.
    multipliers : ndarray, shape (times, 2)
        Force in x and y at the cut, N.
    """

    label: str
    time: Array
    q: Array
    v: Array
    steps: int
    evaluations: int
    projections: int
    multipliers: Array
    outcome: str = "finished"

    @cached_property
    def terms(self) -> list[Terms]:
        """Equations of motion at each time."""
        return [machine().terms(q, v) for q, v in zip(self.q, self.v, strict=True)]

    @property
    def angles(self) -> Array:
        """Absolute angles of links 1 to 4 of the thesis, rad."""
        return self.q @ TO_LINKS.T + LINK_OFFSETS

    @property
    def mirror(self) -> Array:
        """Distance from mirror symmetry, q1 + q4 = 2 pi and q2 + q3 = 0, at each time, rad."""
        off = self.angles[:, :2] + self.angles[:, :1:-1]
        return np.abs((off + np.pi) % (2.0 * np.pi) - np.pi).max(axis=1)

    @cached_property
    def violation(self) -> Array:
        """Violation |g| of the loop at each time, m."""
        return np.array([np.linalg.norm(t.phi) for t in self.terms])

    @cached_property
    def rate_violation(self) -> Array:
        """Violation |G v| of the loop's rate at each time, m/s."""
        return np.array([np.linalg.norm(t.A @ t.v) for t in self.terms])

    @cached_property
    def energies(self) -> Array:
        """Kinetic and potential energy (times, 2), J."""
        return np.array([(t.kinetic, t.potential) for t in self.terms])

    @property
    def energy_change(self) -> Array:
        """Change of the energy since the start, J."""
        total = self.energies.sum(axis=1)
        return total - total[0]

    @property
    def energy_error(self) -> float:
        """Largest change of the energy since the start, J."""
        return float(np.abs(self.energy_change).max())

    @cached_property
    def _singular_values(self) -> tuple[Array, Array]:
        condition, last = [], []
        for t in self.terms:
            U, s, Vt = np.linalg.svd(t.A @ TO_JOINTS)
            condition.append(s[0] / s[-1] if s[-1] > 0.0 else np.inf)
            last.append(Vt[len(s) - 1] * (U[:, -1] @ t.b))
        return np.array(condition), np.array(last)

    @property
    def condition(self) -> Array:
        """Condition number sigma_1 / sigma_m of G in absolute link angles."""
        return self._singular_values[0]

    @property
    def last_term(self) -> Array:
        """Last term v_m u_m' (dG/dt) v of (3.7) in absolute link angles (times, 4)."""
        return self._singular_values[1]

    def error(self, exact: SymmetricMotion, until: float = T_END) -> float:
        """Largest error of a link's angle up to a time, rad."""
        some = self.time <= until
        return float(np.abs((self.q[some] - exact.at(self.time[some])[0]) @ TO_LINKS.T).max())

    def passage(self, near: float) -> float | None:
        """Time at which link 2 is horizontal, s, within 20 ms of a given time; None where it is not."""
        return _zero(self.time, np.sin(self.angles[:, 1]), near, 0.02)

    def turn(self, near: float) -> float | None:
        """Time at which link 1 turns back, s, within 0.1 s of a given time; None where it does not."""
        return _zero(self.time, self.v[:, 0], near, 0.1)

    def energy_jump(self, at: float, room: float = 0.1) -> float | None:
        """Change of the energy from `room` before a time to as long after, J; None where the run is over."""
        if at + room > self.time[-1]:
            return None
        before, after = np.interp((at - room, at + room), self.time, self.energy_change)
        return float(abs(after - before))


def _zero(t: Array, y: Array, near: float, room: float) -> float | None:
    """First zero of y(t) close to a time, between samples by a line; None where there is none."""
    for k in np.flatnonzero((y[:-1] * y[1:] < 0.0) & (np.abs(t[1:] - near) < room)):
        return float(t[k] + (t[k + 1] - t[k]) * y[k] / (y[k] - y[k + 1]))
    return None


@cache
def machine() -> Mechanism:
    """Five-bar as the thesis cuts it: two rows at the lower right support."""
    return five_bar(cut="right")


def simulated(label: str, case: str, t_end: float, *, cut: str = "right", **options: Any) -> Course:
    """Run of an example by `simulate`; one that stops counts as far as it came."""
    plant, outcome = (machine() if cut == "right" else five_bar(cut)), "finished"
    try:
        run = simulate(plant, q0=configuration(plant, case), t_end=t_end, output_times=STEP, **settings(**options))
    except SimulationError as stopped:
        run = stopped.partial
        outcome = f"stops at {run.time[-1]:.4g} s"
    turned = np.eye(4) if cut == "right" else FROM_TIP
    attrs = run.data.attrs
    return Course(
        label,
        run.time,
        run.q.values @ turned.T,
        run.v.values @ turned.T,
        int(attrs["steps"]),
        int(attrs["evaluations"]),
        int(attrs["steps"]) if options.get("stabilisation", "projection") in ("projection", "all-at-once") else 0,
        run.multipliers.values,
        outcome,
    )


def null_space_step(terms: Terms, dof: int = 2) -> Array:
    """Acceleration by (3.5b), with as many columns of V_2 as the machine has degrees of freedom elsewhere.

    The formulation "null-space-svd" differs from it in exactly singular configurations alone, where the null space has
    a column more: Spencer sets 1/sigma_m = 0 there, and leaves V_2 as it is.
    """
    U, s, Vt = np.linalg.svd(terms.A)
    rank, K = int(np.count_nonzero(s > RANK_TOLERANCE * s[0])), Vt[len(Vt) - dof :].T
    c = -Vt[:rank].T @ ((U[:, :rank].T @ terms.b) / s[:rank])
    return c + K @ np.linalg.solve(K.T @ terms.M @ K, -K.T @ (terms.h + terms.M @ c))


def in_null_space(
    label: str, case: str, t_end: float, *, project: bool, told: Callable[[float], None] = lambda _: None
) -> Course:
    """Run by the thesis's second method: (3.5b), and a projection on all invariants where their norm reaches 1e-3."""
    plant = machine()
    q0, v0 = configuration(plant, case), np.zeros(plant.nv)
    energy = plant.terms(q0, v0).energy

    def correct(k: int, q: Array, v: Array) -> tuple[Array, Array] | None:
        terms = plant.terms(q, v)
        invariants = np.concatenate([terms.phi, terms.A @ v, [terms.energy - energy]])
        if not (project and np.linalg.norm(invariants) >= ENOUGH):
            return None
        return project_all_at_once(plant, q, v, energy, metric="euclidean", accuracy=1e-6)

    run = march(
        lambda t, q, v: null_space_step(plant.terms(q, v)), q0, v0, t_end=t_end, step=STEP, correct=correct, told=told
    )
    states = (plant.terms(q, v) for q, v in zip(run.q, run.v, strict=True))
    multipliers = np.array([constrained_motion(terms, np.zeros(4)).multipliers for terms in states])
    return Course(label, run.time, run.q, run.v, run.steps, run.evaluations, run.corrected.size, multipliers)


# -- experiments --------------------------------------------------------------------------------------------------

CHOICES = (
    "The base is not printed: 1.0 m. Centres of mass are at mid-link, gravity is 9.81 m/s2 along -y.",
    "The singular configuration (pi, 0, 0, pi) is in absolute link angles. So are the trajectories, the condition "
    "number of G and (3.7); runs are in joint angles, with the loop cut at the lower right support.",
    "V_2 of (3.5b) keeps two columns in the singular configuration, where the null space has three.",
    "The thesis shows its results as curves, without numbers: what is compared is what its text says.",
)
COLUMNS = (
    "method",
    "steps",
    "evaluations",
    "projections",
    "|g| (m)",
    "|G v| (m/s)",
    "energy error (J)",
    "mirror error (rad)",
)


def _row(course: Course) -> tuple[Cell, ...]:
    label = course.label if course.outcome == "finished" else f"{course.label}: {course.outcome}"
    counts = course.steps, course.evaluations, course.projections
    sizes = course.violation.max(), course.rate_violation.max(), course.energy_error, course.mirror.max()
    return (label, *counts, *sizes)


def _part(course: Course) -> dict[str, Cell]:
    return dict(zip(COLUMNS, _row(course), strict=True))


def first_example(quick: bool = False, progress: Progress = False) -> Report:
    """Report on the first example: rest in the singular configuration, no stabilisation (figures 3.3 to 3.6); ours."""
    t_end = 2.9 if quick else T_END
    exact = SymmetricMotion(machine(), "singular", t_end)
    with Reporter(progress, "first example") as report:
        thesis = in_null_space(
            "null space (3.5b), no stabilisation, RK4 1 ms", "singular", t_end, project=False, told=report.update
        )
        report.update(1.0, _part(thesis))
        ours = simulated("default", "singular", t_end)
        report.update(1.0, _part(ours))
        courses = [thesis, ours]
        others: list[tuple[str, dict[str, Any]]] = [
            ("default, loop cut at the tip", {"cut": "tip"}),
            ("default, steps of at most 1 ms", {"max_step": STEP}),
            ("default, RK4 1 ms", {"method": "rk4", "step": STEP}),
        ]
        for label, options in () if quick else others:
            courses.append(simulated(label, "singular", t_end, **options))
            report.update(1.0, _part(courses[-1]))
    back, until = float(exact.passages[1]), 2.8
    tables = (
        ResultTable(
            "Back in the singular configuration",
            ("what", "time (s)"),
            [("the thesis", f"{RETURN:g}")]
            + [(course.label, _clock(course.turn(RETURN))) for course in courses]
            + [("quadrature", _clock(back))],
            "A loop that has drifted open by d has no singular configuration: its branches pass each other at sqrt(d) "
            "or so, and a run turns there. The thesis says that the motion repeats itself after the return; at rest in "
            "the configuration there are two symmetric ways to go on. Time reversal and Gauss' principle single out "
            "the one that the machine came by. " + " ".join(_way(course) for course in (thesis, ours)),
        ),
        ResultTable(
            f"Accuracy over {t_end:g} s",
            (*COLUMNS, f"error to {until:g} s (rad)"),
            [(*_row(course), course.error(exact, until)) for course in courses],
            f"The error is that of a link's angle against the exact motion up to {until:g} s, before the return.",
        ),
    )
    return Report(
        "Spencer's five-bar, first example",
        f"{SOURCE}, figures 3.3 to 3.6",
        tables,
        {
            "figure-3-3": lambda: _trajectories(thesis, ours, exact),
            "figure-3-4": lambda: _conditions(thesis, ours, exact),
            "figure-3-5": lambda: _first_energies(thesis, ours, exact),
            "figure-3-6": lambda: _violations(thesis, ours, exact),
        },
        CHOICES,
        {
            "return: thesis, s": RETURN,
            "return: rerun, s": thesis.turn(RETURN),
            "return: default, s": ours.turn(RETURN),
            "return: quadrature, s": back,
            "energy error: rerun, J": thesis.energy_error,
            "energy error: default, J": ours.energy_error,
            "energy error: rerun over default": thesis.energy_error / ours.energy_error,
            "mirror error: default, rad": ours.mirror.max(),
            "drift: rerun, m": thesis.violation.max(),
            "drift: default, m": ours.violation.max(),
            "largest condition number: rerun": thesis.condition.max(),
        },
    )


def _clock(time: float | None) -> str:
    """Text of a time with seven digits, or a dash for None."""
    return "-" if time is None else f"{time:.7g}"


def _way(course: Course) -> str:
    """Sentence on the way in which a run goes on after the return."""
    after = np.interp(RETURN + 0.08, course.time, course.angles[:, 1])
    way = "goes back the way it came" if after < 0.0 else "takes the other one"
    return f"The run of {course.label!r} {way}."


def second_example(quick: bool = False, progress: Progress = False) -> Report:
    """Report on the second example: passage with a velocity (figures 3.7 to 3.10), by the thesis' methods and ours."""
    t_end = 1.0 if quick else T_END
    exact = SymmetricMotion(machine(), "second", t_end)
    fixed = dict(method="rk4", step=STEP)
    svd = dict(formulation="null-space-svd", metric="euclidean", **fixed)
    runs: list[Callable[[], Course]] = [
        lambda: simulated(
            "Lagrange (2.4, 2.5), Baumgarte, RK4 1 ms", "second", t_end, formulation="lagrange",
            stabilisation="baumgarte", gains=GAINS, **fixed,
        ),
        lambda: in_null_space("null space (3.5b), projected at 1e-3, RK4 1 ms", "second", t_end, project=True),
        lambda: simulated("default", "second", t_end),
    ]  # fmt: skip
    if not quick:
        runs += [
            lambda: simulated("default, loop cut at the tip", "second", t_end, cut="tip"),
            lambda: simulated("default, steps of at most 5 ms", "second", t_end, max_step=5.0 * STEP),
            lambda: simulated(
                "default, cut at the tip, steps of at most 5 ms", "second", t_end, cut="tip", max_step=5.0 * STEP
            ),
            lambda: simulated("default, steps of at most 1 ms", "second", t_end, max_step=STEP),
            lambda: simulated("default, RK4 1 ms", "second", t_end, method="rk4", step=STEP),
            lambda: simulated("null space, nothing", "second", t_end, stabilisation="none", **svd),
            lambda: simulated("null space, loops projected", "second", t_end, **svd),
            lambda: simulated(
                "null space, all projected every step", "second", t_end, stabilisation="all-at-once", **svd
            ),
        ]
    courses = []
    with Reporter(progress, "second example") as report:
        for k, make in enumerate(runs, 1):
            courses.append(make())
            report.update(k / len(runs), _part(courses[-1]))
    lagrange, projected, ours = courses[:3]
    passages = [float(t) for t in exact.passages]
    times_better = {c.label: projected.energy_error / c.energy_error for c in courses[2:8] if c.outcome == "finished"}
    columns = [f"passage at {t:.4f} s" for t in passages]
    shown = courses[:4]
    tables = (
        ResultTable(
            "Times of the passages (s)",
            ("method", *columns),
            [(c.label, *(_clock(c.passage(t)) for t in passages)) for c in shown] + [("exact", *map(_clock, passages))],
            "When link 2 is horizontal, within 20 ms of the exact time; the thesis prints none.",
        ),
        ResultTable(
            "Energy change over a passage (J)",
            ("method", *columns),
            [(c.label, *(c.energy_jump(t) for t in passages)) for c in shown],
            "From 0.1 s before to 0.1 s after.",
        ),
        ResultTable(
            f"Accuracy over {t_end:g} s",
            (*COLUMNS, "error (rad)", "energy error of the projected run over this"),
            [(*_row(c), c.error(exact), times_better.get(c.label)) for c in courses],
            "The projected run has its energy within the tolerance of its projection by construction, and is compared "
            "all the same. The error is that of a link's angle against the exact motion, as far as the run came. "
            "With steps of at most 5 ms the default takes three quarters of the evaluations of the thesis's methods, "
            "with steps of at most 1 ms as many steps.",
        ),
        ResultTable(
            "Signs of large accelerations",
            ("method", "largest multiplier (N)", "at (s)", "exact there (N)", "largest |v_m u_m' (dG/dt) v| (m/s2)"),
            [(c.label, *_spike(c, exact)) for c in courses[:3]],
            "Exact multipliers have a pole at each passage, where G loses its rank: they grow as 1/|t - t_passage|. "
            "Beyond that a spike belongs to the method. The thesis says: a large spike just before 4 s.",
        ),
    )
    return Report(
        "Spencer's five-bar, second example",
        f"{SOURCE}, figures 3.7 to 3.10",
        tables,
        {
            "figure-3-7": lambda: _courses(lagrange, projected, ours, exact),
            "figure-3-8": lambda: _drifts(lagrange, projected, ours, exact),
            "figure-3-9": lambda: _large_accelerations(lagrange, projected, ours, exact),
            "figure-3-10": lambda: _second_energies(lagrange, projected, ours, exact),
            "true-errors": lambda: _errors(lagrange, projected, ours, exact),
        },
        (
            *CHOICES,
            "The start is printed in interior angles: absolute ones of (120, 48.19, -48.19, 240) degrees are meant.",
            "The thesis's projection converges where the norm of the invariants, in m, m/s and J, is below 1e-3. Taken "
            "literally, it acts where they exceed it. Nearest is meant in joint angles and their rates.",
        ),
        {
            "passages: exact, s": passages,
            "passages: default, s": [ours.passage(t) for t in passages],
            "energy error: Lagrange, J": lagrange.energy_error,
            "energy error: projected, J": projected.energy_error,
            "energy error: default, J": ours.energy_error,
            "energy change over a passage: default, J": [ours.energy_jump(t) for t in passages],
            "mirror error: Lagrange, rad": lagrange.mirror.max(),
            "mirror error: projected, rad": projected.mirror.max(),
            "mirror error: default, rad": ours.mirror.max(),
            "drift: Lagrange, m": lagrange.violation.max(),
            "drift: projected, m": projected.violation.max(),
            "drift: default, m": ours.violation.max(),
            "largest multiplier: Lagrange, N": np.abs(lagrange.multipliers).max(),
            "largest multiplier: default, N": np.abs(ours.multipliers).max(),
            "energy error of the projected run over that of": times_better,
            "evaluations": {c.label: c.evaluations for c in courses},
            "mirror errors, rad": {c.label: c.mirror.max() for c in courses},
        },
    )


def _spike(course: Course, exact: SymmetricMotion) -> tuple[float, ...]:
    size = np.linalg.norm(course.multipliers, axis=1)
    k = int(size.argmax())
    true = float(np.linalg.norm(exact.multipliers(course.time[k])))
    return float(size[k]), float(course.time[k]), true, float(np.linalg.norm(course.last_term, axis=1).max())


# -- figures ------------------------------------------------------------------------------------------------------


_ROUNDING = 1e-14  # m, m/s, rad, and of the energies: some tens of roundings of links of about a metre


@dataclass(frozen=True)
class _Panel:
    """One panel of a figure: curves by name."""

    label: str
    time: Array
    curves: dict[str, Array]
    title: str = ""
    log: bool = False
    rounding: float = 0.0  # what is below is not drawn as if it were a signal; 0 for a quantity that is no error


def _stacked(panels_of: Sequence[_Panel], passages: ArrayLike, height: float = 1.75) -> Figure:
    """Figure of panels above each other, with the times in the singular configuration."""
    from ..plot.style import FAINT, INK, LABEL, above_rounding, beside, dress, panels, styles, time_axis

    figure, axes = panels(None, len(panels_of), height)
    for k, (ax, panel) in enumerate(zip(axes, panels_of, strict=True)):
        for (name, y), style in zip(panel.curves.items(), styles(len(panel.curves)), strict=True):
            known = np.isfinite(y) & ((y > 0.0) | (panel.rounding > 0.0))
            shown = np.where(known, y, np.nan) if panel.log else y
            look = dict(color=INK, linewidth=0.8, dashes=(4, 3)) if name == "exact" else dict(linewidth=1.2, **style)
            ax.plot(panel.time, shown, label=name, **look)
        dress(ax, panel.label, log=panel.log and not panel.rounding)
        if panel.rounding:
            above_rounding(ax, panel.rounding)
        ax.set_title(panel.title, fontsize=LABEL, color=INK, loc="left")
        lines = [ax.axvline(t, color=FAINT, linewidth=0.8, zorder=0.5) for t in np.atleast_1d(passages)]
        if k == 0 and lines:
            lines[0].set_label("singular configuration")
        beside(ax, lines[:1] if k == 0 else ())
    time_axis(axes, panels_of[0].time)
    return figure


def _angles(course: Course, title: str) -> _Panel:
    return _Panel("link angle (rad)", course.time, {f"$q_{k + 1}$": y for k, y in enumerate(course.angles.T)}, title)


def _trajectories(thesis: Course, ours: Course, exact: SymmetricMotion) -> Figure:
    """Figure 3.3: trajectories of the links."""
    panels_of = [_angles(thesis, "(a) null space (3.5b)"), _angles(ours, "(b) default")]
    return _stacked(panels_of, exact.passages, 2.2)


def _conditions(thesis: Course, ours: Course, exact: SymmetricMotion) -> Figure:
    """Figure 3.4: condition number of G."""
    return _stacked(
        [
            _Panel("condition number of G", c.time, {"": np.minimum(c.condition, 1e17)}, title, log=True)
            for c, title in ((thesis, "(a) null space (3.5b)"), (ours, "(b) default"))
        ],
        exact.passages,
    )


def _energies(course: Course, title: str) -> _Panel:
    kinetic, potential = course.energies.T
    return _Panel("energy (J)", course.time, {"kinetic": kinetic, "potential": potential}, title)


def _change(course: Course, title: str) -> _Panel:
    rounding = _ROUNDING * float(np.nanmax(np.abs(course.energies)))
    return _Panel("|change in energy| (J)", course.time, {"": np.abs(course.energy_change)}, title, True, rounding)


def _first_energies(thesis: Course, ours: Course, exact: SymmetricMotion) -> Figure:
    """Figure 3.5: energies, and their change."""
    return _stacked(
        [
            _energies(thesis, "(a) null space (3.5b)"),
            _change(thesis, "(b) null space (3.5b)"),
            _change(ours, "(c) default"),
        ],
        exact.passages,
    )


def _violation(course: Course, title: str) -> _Panel:
    curves = {"|g| (m)": course.violation, "|G v| (m/s)": course.rate_violation}
    return _Panel("violation", course.time, curves, title, True, _ROUNDING)


def _violations(thesis: Course, ours: Course, exact: SymmetricMotion) -> Figure:
    """Figure 3.6: violation of the loop and of its rate."""
    return _stacked([_violation(thesis, "(a) null space (3.5b)"), _violation(ours, "(b) default")], exact.passages)


TITLES = ("(a) Lagrange multipliers, Baumgarte", "(b) null space (3.5b), projection", "(c) default")


def _courses(*given: Any) -> Figure:
    """Figure 3.7: trajectories of the links."""
    *courses, exact = given
    return _stacked([_angles(c, title) for c, title in zip(courses, TITLES, strict=True)], exact.passages, 2.1)


def _drifts(*given: Any) -> Figure:
    """Figure 3.8: violation of the loop and of its rate."""
    *courses, exact = given
    return _stacked([_violation(c, title) for c, title in zip(courses, TITLES, strict=True)], exact.passages)


def _large_accelerations(lagrange: Course, projected: Course, ours: Course, exact: SymmetricMotion) -> Figure:
    """Figure 3.9: multipliers, and the last term of the acceleration."""

    def multipliers(course: Course) -> dict[str, Array]:
        size = np.linalg.norm(course.multipliers, axis=1)
        return {"method": size, "exact": np.linalg.norm(exact.multipliers(course.time), axis=1)}

    return _stacked(
        [
            _Panel(r"$|\lambda|$ (N)", lagrange.time, multipliers(lagrange), TITLES[0], log=True),
            _last_term(projected, TITLES[1]),
            _Panel(r"$|\lambda|$ (N)", ours.time, multipliers(ours), TITLES[2], log=True),
            _last_term(ours, "(d) default"),
        ],
        exact.passages,
    )


def _last_term(course: Course, title: str) -> _Panel:
    curves = {f"link {k + 1}": y for k, y in enumerate(course.last_term.T)}
    return _Panel(r"$v_m u_m^T \dot G v$ (m/s$^2$)", course.time, curves, title)


def _second_energies(*given: Any) -> Figure:
    """Figure 3.10: change of the energy."""
    *courses, exact = given
    return _stacked([_change(c, title) for c, title in zip(courses, TITLES, strict=True)], exact.passages)


def _errors(*given: Any) -> Figure:
    """Figure of the error against the exact motion, which the thesis did not have, and of the loss of symmetry."""
    *courses, exact = given
    panels_of = []
    for course, title in zip(courses, TITLES, strict=True):
        off = np.abs((course.q - exact.at(course.time)[0]) @ TO_LINKS.T).max(axis=1)
        panels_of.append(
            _Panel("error (rad)", course.time, {"link angle": off, "mirror": course.mirror}, title, True, _ROUNDING)
        )
    return _stacked(panels_of, exact.passages)
