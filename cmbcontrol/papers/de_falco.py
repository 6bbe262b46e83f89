"""Experiments of de Falco, Pennestri and Vita: the Udwadia-Kalaba equation with five pseudoinverses.

The machine is `plants.parallelogram`: 12 planar coordinates, 12 equations of rank 11, one degree of freedom. Its exact
motion is a quadrature, so every run can be judged.

One module, although a long one: a third of it is printed values and figures, and all experiments share one kind of run
and the judge of it.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._progress import Progress, Reporter
from ..dynamics.acceleration import acceleration
from ..errors import InputError, SimulationError, Status
from ..model.mechanism import Mechanism
from ..plants.parallelogram import configuration, parallelogram, rate
from ..sim.result import Simulation
from ..sim.simulate import simulate
from .formulations import NamedFormulation
from .methods import settings
from .pseudoinverse import pseudoinverse
from .report import Report, ResultTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["METHODS", "PRINTED", "STARTS", "exact_motion", "figure_2", "pseudoinverses", "tables", "violation"]

Array = NDArray[np.float64]

SOURCE = "D. de Falco, E. Pennestri, L. Vita, The Udwadia-Kalaba formulation: a report on its numerical efficiency"
INERTIA, WEIGHT = 3.05, 34.335  # J th'' = -G cos(th): kg m2, N m; see plants.parallelogram
DURATION, QUICK = 20.0, 1.0  # s
BAUMGARTE = (1000.0, 100.0)  # alpha, beta, 1/s
TOLERANCES = (1e-10, 1e-8, 1e-6)
METHODS = ("svd", "varga", "greville", "householder", "gram-schmidt")  # in the order of the paper
STARTS: Mapping[str, float] = MappingProxyType({"-30 deg": -math.pi / 6.0, "60 deg": math.pi / 3.0})  # rad, at rest
INTEGRATORS = ("vode-gear", "verner65", "scipy-dop853", "scipy-lsoda", "scipy-radau")
CORRECT = 1e-2  # rad: a run is correct as long as each link is this near to the exact motion
MAX_STEPS = {False: 40_000, True: 300_000}  # without and with Baumgarte's terms, which make it stiff


# -- what the paper prints ---------------------------------------------------------------------------------


class Printed(NamedTuple):
    """A row of the paper: its words, sum of Psi^2, NFUNC, NSTEPS, CPU (no unit is printed)."""

    result: str
    psi: float | None = None
    evaluations: int | None = None
    steps: int | None = None
    cpu: float | None = None


class PrintedTable(NamedTuple):
    """A table of the paper: tolerance, whether Baumgarte's terms are on, and a row for each pseudoinverse."""

    tolerance: float
    stabilised: bool
    rows: Mapping[str, Printed]


def _printed(tolerance: float, stabilised: bool, *rows: Printed) -> PrintedTable:
    return PrintedTable(tolerance, stabilised, MappingProxyType(dict(zip(METHODS, rows, strict=True))))


PRINTED: Mapping[int, PrintedTable] = MappingProxyType(
    {
        2: _printed(
            1e-10,
            False,
            Printed("fails after 9.1 s: error test", 3.7e-7),
            Printed("fails after 8.0 s: error test", 9.9e-2),
            Printed("correct up to 17.5 s", 4.5e-5, 2_961_955, 2_633_811, 0.93),
            Printed("correct up to 16.5 s", 2.3e-4, 6_131_159, 4_177_395, 11.57),
            Printed("correct up to 17.0 s", 1.1e-4, 3_749_766, 3_015_354, 36.85),
        ),
        3: _printed(
            1e-8,
            False,
            Printed("fails after 12.07 s: fatal error 1", 3.4e-6),
            Printed("fails after 8.06 s: precision loss", 9.9e-2),
            Printed("correct up to 17.5 s", 1.86e-4, 1_648_055, 1_422_689, 0.53),
            Printed("correct up to 18.0 s", 7.9e-4, 1_641_751, 1_422_297, 1.28),
            Printed("correct up to 18.0 s", 5.2e-4, 1_644_341, 1_424_864, 6.03),
        ),
        4: _printed(
            1e-6,
            False,
            Printed("correct up to 17.5 s", 4.1e-4, 1_033_381, 847_294, 0.28),
            Printed("fails after 7.3 s: precision loss", 9.9e-2),
            Printed("correct up to 19.0 s", 9.7e-4, 1_017_558, 1_422_689, 0.37),
            Printed("correct", 7.9e-4, 1_641_751, 1_422_297, 0.76),
            Printed("correct", 6.9e-4, 1_013_795, 839_020, 3.40),
        ),
        5: _printed(
            1e-10,
            True,
            Printed("fails after 1.17 s: fatal error 1"),
            Printed("correct", 4.5e-5, 78_491_398, 47_074_599, 11.4),
            Printed("correct", 2.1e-7, 74_043_990, 44_053_874, 18.3),
            Printed("correct", 3.3e-7, 73_707_588, 43_948_609, 51.5),
            Printed("correct", 4.1e-7, 73_910_268, 44_515_071, 241.0),
        ),
        6: _printed(
            1e-8,
            True,
            Printed("fails after 0.17 s: fatal error 1"),
            Printed("fails after 14.97 s: precision loss"),
            Printed("correct", 4.90e-7, 80_109_155, 55_569_995, 19.4),
            Printed("correct", 3.5e-7, 80_197_458, 54_468_468, 55.0),
            Printed("correct", 4.9e-7, 80_112_706, 54_604_452, 290.0),
        ),
        7: _printed(
            1e-6,
            True,
            Printed("fails after 0.46 s: fatal error 1"),
            Printed("fails after 9.7 s: precision loss"),
            Printed("correct", 1.9e-6, 80_483_163, 57_743_095, 19.5),
            Printed("correct", 1.14e-6, 80_689_071, 58_099_798, 55.0),
            Printed("correct", 1.06e-6, 80_636_983, 58_010_479, 291.0),
        ),
    }
)


# -- the exact motion ----------------------------------------------------------------------------------------


def exact_motion(times: ArrayLike, angle: float) -> tuple[Array, Array]:
    """Exact motion of the linkage from rest, without a motor: J th'' = -G cos(th), by Jacobi's elliptic functions.

    With phi = th + pi/2 from the hanging configuration and k = sin(phi(0)/2), phi = 2 asin(k cd(w t, k)), w^2 = G / J.

    Parameters
    ----------
    times : array_like
        Times, s.
    angle : float
        Angle of the links from +x at the start, rad, from -3 pi/2 to pi/2, both excluded (there they balance).

    Returns
    -------
    angle, speed : ndarray
        Angle, rad, and its rate, rad/s.

    Raises
    ------
    ValueError
        Where the start is outside of that range.

    Examples
    --------
    >>> th, speed = exact_motion([0.0, 20.0], np.pi / 3)
    >>> th
    array([1.04719755, 0.9311567 ])
    """
    from scipy.special import ellipj

    angle = _check.number(angle, "angle")
    if not -1.5 * np.pi < angle < 0.5 * np.pi:
        raise InputError(f"angle must be between -3 pi/2 and pi/2 (the links swing about -pi/2), got {angle:g} rad")
    frequency = math.sqrt(WEIGHT / INERTIA)
    half = 0.5 * angle + 0.25 * math.pi
    k, k_prime = math.sin(half), math.cos(half)
    sn, cn, dn, _ = ellipj(frequency * np.asarray(times, dtype=np.float64), k * k)
    return 2.0 * np.arcsin(k * cn / dn) - 0.5 * np.pi, -2.0 * k * k_prime * frequency * sn / dn


def violation(plant: Mechanism, Q: ArrayLike) -> Array:
    """Sum of Psi^2 over the 12 equations at each configuration, m2: the distances of the pins, by x and y."""
    return np.array([np.sum(plant.residual(q) ** 2) for q in np.atleast_2d(np.asarray(Q, dtype=np.float64))])


# -- one run -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Setup:
    """Settings of a run, under the conditions of one of the paper's tables."""

    tolerance: float
    stabilised: bool
    start: str
    method: str = "vode-adams"
    pseudoinverse: str | None = None  # None: Gauss' principle, which leaves redundant rows out
    rank_given: bool = False  # the rank that the machine has, in place of a threshold
    default: bool = False  # our defaults: the paper's conditions do not apply

    def options(self) -> dict[str, Any]:
        """Arguments of `settings` for this run."""
        common = {"rtol": self.tolerance, "atol": self.tolerance}
        if self.default:
            return common
        common |= {"method": self.method, "stabilisation": "none", "max_steps": MAX_STEPS[self.stabilised]}
        if self.stabilised:
            common |= {"stabilisation": "baumgarte", "gains": BAUMGARTE}
        if self.pseudoinverse is None:
            return common
        threshold = None if self.rank_given else self.tolerance
        return common | {
            "formulation": "udwadia-kalaba", "pseudoinverse": self.pseudoinverse, "rank_tolerance": threshold,
        }  # fmt: skip

    @property
    def label(self) -> str:
        """Label of the run in the first column of a table."""
        if self.default:
            return "our default"
        name = self.pseudoinverse or "Gauss"
        parts = name, "rank given" if self.rank_given else "", "" if self.method == "vode-adams" else self.method
        return ", ".join(filter(None, parts))


@dataclass(frozen=True)
class _Outcome:
    """Outcome of a run, judged by the exact motion."""

    setup: _Setup
    times: Array
    error: Array  # of the link that is farthest off the exact motion, rad
    psi: Array  # sum of Psi^2, m2
    ended: bool
    why: str  # it did not
    evaluations: int
    steps: int
    cpu: float
    rank: str

    @property
    def correct_until(self) -> float:
        """Last time up to which every link is right, s."""
        wrong = np.flatnonzero(~(self.error <= CORRECT))
        return float(self.times[wrong[0] - 1] if wrong.size else self.times[-1])

    @property
    def result(self) -> str:
        """Result of the run, in the paper's words."""
        right = self.correct_until
        wrong = "" if right == self.times[-1] else f"correct up to {right:.4g} s"
        if self.ended:
            return wrong or "correct"
        return f"{wrong or 'correct'}; ends at {self.times[-1]:.4g} s: {self.why}"

    def row(self) -> tuple[Any, ...]:
        """Row of a table with `_COLUMNS`."""
        largest = float(self.error.max())
        return (
            self.setup.label, self.setup.start, self.result, largest, float(self.psi[-1]), self.evaluations, self.steps,
            self.cpu, self.rank,
        )  # fmt: skip


_COLUMNS = (
    "method", "start", "result", "error (rad)", "sum Psi^2 (m2)", "evaluations", "steps", "CPU (s)", "rank",
)  # fmt: skip
_LEGEND = (
    "Adams unless another integrator is named. Error: of the worst link, the largest over the run. Sum of Psi^2: at "
    "the end. Rank: as the pseudoinverse finds it, and from when it is not 11."
)


def _solve(plant: Mechanism, setup: _Setup, duration: float) -> _Outcome:
    """Outcome of a set-up, run as far as it goes; a stiff run that is wrong after a tenth is not continued."""
    if setup.stabilised and not setup.default:
        first = _run(plant, setup, 0.1 * duration)
        if first.result != "correct":
            return replace(first, ended=False, why=first.why or "not continued")
    return _run(plant, setup, duration)


def _run(plant: Mechanism, setup: _Setup, duration: float) -> _Outcome:
    times = np.linspace(0.0, duration, round(100 * duration) + 1)
    begin = clock.process_time()
    try:
        run = simulate(
            plant,
            q0=configuration(STARTS[setup.start]),
            t_end=duration,
            output_times=times,
            **settings(**setup.options()),
        )
    except SimulationError as error:
        if error.partial is None:
            raise
        run = error.partial
    return _judged(plant, setup, run, clock.process_time() - begin)


def _judged(plant: Mechanism, setup: _Setup, run: Simulation, cpu: float) -> _Outcome:
    """Outcome of a run, from a comparison with the exact motion."""
    Q = run.q.values
    exact, _ = exact_motion(run.time, STARTS[setup.start])
    links = [plant.position_names.index(f"link{i}_angle") for i in (1, 2, 3)]
    ended = run.status == Status.COMPLETED
    attrs = run.data.attrs
    return _Outcome(
        setup,
        run.time,
        np.abs(Q[:, links] - exact[:, None]).max(axis=1),
        violation(plant, Q),
        ended,
        "" if ended else _reason(run.status),
        int(attrs["evaluations"]),
        int(attrs["steps"]),
        cpu,
        _rank_found(plant, setup, run.time, Q),
    )


def _reason(status: Status) -> str:
    """Reason why a run ended early, in a few words."""
    return status.name.lower().replace("_", " ")


def _rank_found(plant: Mechanism, setup: _Setup, times: Array, Q: Array) -> str:
    """Text of the rank of D (26) that the pseudoinverse finds with its threshold, and from when it is not 11."""
    if setup.default or setup.rank_given:
        return "11, given"
    for t, q in zip(times, Q, strict=True):
        rank = pseudoinverse(_scaled_rows(plant, q)[0], setup.pseudoinverse or "svd", tolerance=setup.tolerance)[1]
        if rank != 11:
            return f"{rank} from {t:.4g} s"
    return "11"


def _scaled_rows(plant: Mechanism, q: Array) -> tuple[Array, Array]:
    """Matrix D = Psi_q M^(-1/2) (26), and the diagonal of M^(-1/2): M is diagonal here."""
    terms = plant.terms(q, np.zeros(plant.nv))
    root = 1.0 / np.sqrt(np.diag(terms.M))
    return terms.A * root, root


# -- tables 2-7 ----------------------------------------------------------------------------------------------


def tables(quick: bool = False, progress: Progress = False) -> Report:
    """Report on tables 2-7, rerun: five pseudoinverses, three tolerances, without and with Baumgarte's terms.

    Besides, under the conditions of each table: the rank that the machine has in place of a threshold, with the
    singular value decomposition and with Gauss' principle; other integrators; our default with the same tolerance.

    Parameters
    ----------
    quick : bool
        1 s of motion instead of 20 s, TOL = 1e-6 only, no other integrators.
    progress : bool or callable

    Returns
    -------
    report : Report
        ``data``: by the number of the table, a list of dicts, one for each run.
    """
    duration = QUICK if quick else DURATION
    numbers = [n for n, printed in PRINTED.items() if not quick or printed.tolerance == 1e-6]
    cases = [(n, setup) for n in numbers for setup in _setups(PRINTED[n], others=not quick)]
    plant = parallelogram()
    found: dict[int, list[_Outcome]] = {n: [] for n in numbers}
    _run(plant, cases[0][1], 0.01)  # what is loaded at the first call is no cost of the first row
    with Reporter(progress, "runs") as report:
        for i, (n, setup) in enumerate(cases):
            found[n].append(_solve(plant, setup, duration))
            report.update((i + 1) / len(cases), {"table": n} | dict(zip(_COLUMNS, found[n][-1].row(), strict=True)))
    return Report(
        f"Udwadia-Kalaba with five pseudoinverses, {duration:g} s",
        f"{SOURCE}, section 6, tables 2-7",
        [_table(n, outcomes, duration) for n, outcomes in found.items()],
        {"evaluations-and-violation": lambda: _draw_cost(found)},
        _CHOICES,
        {str(n): [_numbers(outcome) for outcome in outcomes] for n, outcomes in found.items()},
    )


_CHOICES = (
    "Initial configuration: not printed. Two starts at rest: links at -30 degrees from +x, which swing to -150 degrees "
    "and never come near a singular configuration; and at 60 degrees, which swing to -240 degrees and pass the flat "
    "configurations th = 0 and th = -pi, where the rank is 10.",
    f"Correct: each of the three links within {CORRECT:g} rad of the exact motion, at times 0.01 s apart. The paper "
    "does not say what it calls correct.",
    "Threshold of the rank: TOL, as in section 4 of the paper, relative to the largest singular value (or row, or "
    "column norm) of D. IMSL's routines may take it as absolute; the largest singular value of D is 3.3 to 3.7 here.",
    "Integrator: VODE's Adams method (scipy) with rtol = atol = TOL, in place of IMSL's DIVPAG, of the same family. It "
    "chooses its first step itself (the paper: 0.66e-2 s). The paper's steps, 7 to 24 microseconds without "
    "stabilisation and below 0.5 with it, hint at settings that it does not print.",
    "Gravity 9.81 m/s2 along -y; centres of mass at mid-length, inertias about them.",
    "CPU: the paper prints no unit; taken as seconds, it would be 4e6 evaluations a second. Ours is in seconds, of an "
    "interpreted loop; our default is compiled.",
    f"Runs that are not through after {MAX_STEPS[False]:,} steps ({MAX_STEPS[True]:,} with Baumgarte's terms) are "
    "stopped, and so are runs with Baumgarte's terms that are wrong in the first tenth of the time.",
)


def _setups(printed: PrintedTable, others: bool) -> list[_Setup]:
    """Settings of all runs under the conditions of one table."""
    conditions = printed.tolerance, printed.stabilised
    found = [_Setup(*conditions, start, pseudoinverse=name) for name in METHODS for start in STARTS]
    found += [_Setup(*conditions, s, pseudoinverse=name, rank_given=True) for name in ("svd", None) for s in STARTS]
    if others:
        start = next(iter(STARTS))
        found += [_Setup(*conditions, start, method, "svd") for method in INTEGRATORS]
    return [*found, *(_Setup(*conditions, start, default=True) for start in STARTS)]


def _table(number: int, outcomes: Sequence[_Outcome], duration: float) -> ResultTable:
    """Table of the paper's rows, each with ours below."""
    printed = PRINTED[number]
    rows: list[Sequence[Any]] = []
    named = set()
    for outcome in outcomes:
        name = outcome.setup.pseudoinverse
        if name in printed.rows and name not in named:
            theirs = printed.rows[name]
            rows.append(
                (
                    name,
                    "the paper's",
                    theirs.result,
                    None,
                    theirs.psi,
                    theirs.evaluations,
                    theirs.steps,
                    theirs.cpu,
                    None,
                )
            )
            named.add(name)
        rows.append(outcome.row())
    with_or_not = f"Baumgarte {BAUMGARTE[0]:g}, {BAUMGARTE[1]:g} 1/s" if printed.stabilised else "no Baumgarte"
    shorter = f" The paper's rows are over {DURATION:g} s." if duration != DURATION else ""
    title = f"Table {number}: TOL = {printed.tolerance:g}, {with_or_not}, {duration:g} s"
    return ResultTable(title, _COLUMNS, rows, _LEGEND + shorter)


def _numbers(outcome: _Outcome) -> dict[str, Any]:
    """Numbers of an outcome by name, for tests and pages of the documentation."""
    setup = outcome.setup
    return {
        "method": setup.label,
        "default": setup.default,
        "start": setup.start,
        "ended": outcome.ended,
        "correct_until": outcome.correct_until,
        "largest_error": float(outcome.error.max()),
        "psi": float(outcome.psi[-1]),
        "evaluations": outcome.evaluations,
        "steps": outcome.steps,
        "rank": outcome.rank,
    }


def _draw_cost(found: Mapping[int, Sequence[_Outcome]]) -> Figure:
    """Figure of the violation at the end over evaluations: the paper's, ours under its conditions, our default."""
    from ..plot.figure import new_figure
    from ..plot.style import COLORS, INK, LABEL, above_rounding, beside, dress

    figure = new_figure(7.2, 3.6)
    ax = figure.subplots()
    for stabilised, colour, words in ((False, COLORS[1], "no Baumgarte"), (True, COLORS[0], "Baumgarte")):
        numbers = [n for n in found if PRINTED[n].stabilised == stabilised]
        theirs = [row for n in numbers for row in PRINTED[n].rows.values() if row.evaluations]
        ours = [o for n in numbers for o in found[n] if not o.setup.default]
        _dots(ax, [(r.evaluations, r.psi) for r in theirs], "s", colour, f"the paper's, {words}")
        _dots(ax, [_dot(o) for o in ours if o.result == "correct"], "o", colour, f"rerun, {words}: correct")
        wrong = [_dot(o) for o in ours if o.result != "correct"]
        _dots(ax, wrong, "o", colour, f"rerun, {words}: wrong", hollow=True)
    defaults = [_dot(o) for outcomes in found.values() for o in outcomes if o.setup.default]
    _dots(ax, defaults, "D", COLORS[2], "our default")
    dress(ax, "sum of squared violations\nat the end (m$^2$)", log=True)
    above_rounding(ax, _ROUNDING)
    ax.set_xscale("log")
    ax.set_xlabel("evaluations", fontsize=LABEL, color=INK)
    beside(ax)
    return figure


def _dot(outcome: _Outcome) -> tuple[float, float]:
    return outcome.evaluations, float(outcome.psi[-1])


_ROUNDING = 1e-28  # m2: a loop of this size, 1 m, closes to 1e-14 m or so


def _dots(
    ax: Any, points: Sequence[tuple[Any, Any]], marker: str, colour: str, label: str, hollow: bool = False
) -> None:
    """Draw a group of points, if there are any."""
    if points:
        face = "none" if hollow else colour
        x, y = zip(*points, strict=True)
        ax.plot(
            x, y, marker, markersize=4.5, markerfacecolor=face, markeredgecolor=colour, linestyle="none", label=label
        )


# -- figure 2 ------------------------------------------------------------------------------------------------


def figure_2(quick: bool = False, progress: Progress = False) -> Report:
    """Report on figure 2, violation of the constraints over time: a) without, b) with Baumgarte's terms; our default.

    Parameters
    ----------
    quick : bool
        1 s instead of 20 s.
    progress : bool or callable

    Returns
    -------
    report : Report
        ``data``: ``"time"``, and sum of Psi^2 (m2) by ``"a"`` and ``"b"``, then by method.
    """
    duration = QUICK if quick else DURATION
    plant, start = parallelogram(), next(iter(STARTS))
    found: dict[str, list[_Outcome]] = {"a": [], "b": []}
    setups = [
        (panel, _Setup(tolerance, panel == "b", start, pseudoinverse=_SHOWN, default=default))
        for panel in found
        for default in (False, True)
        for tolerance in (TOLERANCES if not default else TOLERANCES[-1:])
    ]
    with Reporter(progress, "runs") as report:
        for i, (panel, setup) in enumerate(setups):
            found[panel].append(_solve(plant, setup, duration))
            row = dict(zip(_COLUMNS, found[panel][-1].row(), strict=True))
            report.update((i + 1) / len(setups), {"panel": panel, "TOL": setup.tolerance} | row)
    times = [t for t in (0.5, 1.0, 5.0, 10.0, 15.0, 20.0) if t <= duration]
    columns = ["panel", "method", "TOL", *(f"{t:g} s" for t in times), f"paper, {DURATION:g} s"]
    rows = [
        (panel, o.setup.label, o.setup.tolerance, *(_at(o, t) for t in times), _printed_psi(o.setup))
        for panel, outcomes in found.items()
        for o in outcomes
    ]
    return Report(
        f"Violation of position constraints, {duration:g} s",
        f"{SOURCE}, figure 2",
        [ResultTable("Sum of Psi^2 (m2) over time", columns, rows)],
        {"violation": lambda: _draw_violation(found)},
        (
            "The figure is printed without its tolerance, pseudoinverse and start. Shown: Greville's recursion, which "
            f"has a figure in each of the tables, from {start}, with each TOL.",
            *_CHOICES[2:5],
        ),
        {"time": found["a"][-1].times}
        | {panel: {_name(o.setup): o.psi for o in outcomes} for panel, outcomes in found.items()},
    )


_SHOWN = "greville"


def _name(setup: _Setup) -> str:
    """Label of a run in a legend."""
    return f"{'our default' if setup.default else setup.pseudoinverse}, TOL = {setup.tolerance:g}"


def _at(outcome: _Outcome, time: float) -> float | None:
    """Sum of Psi^2 at a time, if the run came so far."""
    return float(outcome.psi[np.searchsorted(outcome.times, time - 1e-9)]) if outcome.times[-1] > time - 1e-9 else None


def _printed_psi(setup: _Setup) -> float | None:
    """Sum of Psi^2 that the paper prints for 20 s, m2; None for our default."""
    if setup.default:
        return None
    (table,) = (t for t in PRINTED.values() if (t.tolerance, t.stabilised) == (setup.tolerance, setup.stabilised))
    return table.rows[setup.pseudoinverse or ""].psi


def _draw_violation(found: Mapping[str, Sequence[_Outcome]]) -> Figure:
    """Figure of both panels, with the paper's values at the end as dots."""
    from ..plot.style import COLORS, above_rounding, beside, dress, panels, time_axis

    figure, axes = panels(None, 2, height=2.1)
    titles = ("a) without stabilisation", f"b) with Baumgarte, {BAUMGARTE[0]:g} and {BAUMGARTE[1]:g} 1/s")
    for ax, outcomes, title in zip(axes, found.values(), titles, strict=True):
        for o, colour in zip(outcomes, (*COLORS[:2], COLORS[4], COLORS[2]), strict=True):
            ax.plot(o.times, o.psi, color=colour, linewidth=1.0, label=_name(o.setup))
            theirs = _printed_psi(o.setup)
            if theirs is not None and o.times[-1] == DURATION:
                ax.plot(
                    DURATION,
                    theirs,
                    "s",
                    color=colour,
                    markersize=4.5,
                    clip_on=False,
                    label=f"the paper, {DURATION:g} s",
                )
        dress(ax, "sum of squared\nviolations (m$^2$)", log=True)
        above_rounding(ax, _ROUNDING)
        ax.set_title(title, fontsize=9.0, loc="left")
        beside(ax)
    top = max(ax.get_ylim()[1] for ax in axes)
    for ax in axes:
        ax.set_ylim(top=top)
    time_axis(axes, found["a"][-1].times)
    return figure


# -- the pseudoinverses by themselves --------------------------------------------------------------------------


def pseudoinverses(quick: bool = False, progress: Progress = False) -> Report:
    """Report on cost and accuracy of the five pseudoinverses on the linkage's own matrices D = Psi_q M^(-1/2).

    On closed loops, from a regular configuration up to the flat one; and with loops open by a drift, under the
    thresholds of the paper. Judged by the four Moore-Penrose conditions, and by the exact acceleration.

    Parameters
    ----------
    quick : bool
        Fewer configurations, drifts and repetitions.
    progress : bool or callable

    Returns
    -------
    report : Report
        ``data``: ``"closed"`` and ``"open"``, the rows of both tables as dicts.
    """
    angles = (math.pi / 6.0, 1e-2, 1e-4) if quick else (math.pi / 6.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
    drifts = (0.0, 1e-11, 1e-9, 1e-7) if quick else (0.0, *(10.0**-k for k in range(13, 2, -1)))
    plant = parallelogram()
    with Reporter(progress, "pseudoinverses") as report:
        closed = []
        for i, angle in enumerate(angles):
            closed += [_on_loops(plant, angle, name, 5 if quick else 200) for name in METHODS]
            report.update(0.5 * (i + 1) / len(angles), *closed[-len(METHODS) :])
        opened = []
        for i, drift in enumerate(drifts):
            opened += [_off_loops(plant, drift, tolerance) for tolerance in TOLERANCES]
            report.update(0.5 + 0.5 * (i + 1) / len(drifts), *opened[-len(TOLERANCES) :])
    return Report(
        "Five pseudoinverses on the linkage's matrices",
        f"{SOURCE}, sections 2 and 4",
        [_as_table("On closed loops, default threshold", closed), _as_table(_OPEN_TITLE, opened, _OPEN_NOTE)],
        {"drift-and-rank": lambda: _draw_drift(opened)},
        (
            f"Configurations: links at this angle to the flat configuration, turning at {_SPEED:g} rad/s; the paper "
            "compares whole runs.",
            f"Drift: a step in a random direction (seed {_SEED}) of this length (m, rad), off the configuration at "
            "-30 degrees.",
        ),
        {"closed": closed, "open": opened},
    )


_SPEED, _SEED = 1.0, 1
_OPEN_TITLE = "Loops open by a drift, at -30 degrees: relative error of the acceleration"
_OPEN_NOTE = (
    "The smallest singular value of D (here over the largest), zero on closed loops, grows with the drift. Beyond the "
    "threshold it counts: then 12 equations leave the 12 coordinates no motion, and the acceleration is lost."
)


def _as_table(title: str, rows: Sequence[Mapping[str, Any]], note: str = "") -> ResultTable:
    return ResultTable(title, tuple(rows[0]), [tuple(row.values()) for row in rows], note)


def _exact_acceleration(plant: Mechanism, angle: float, speed: float) -> Array:
    """Exact acceleration of the free linkage, m/s2 and rad/s2: the path of `configuration`, differentiated twice."""
    turning = -WEIGHT * math.cos(angle) / INERTIA
    # the rate of the configuration is linear in the speed; a quarter turn further it is the centripetal part
    along, inward = rate(plant, angle, 1.0), rate(plant, angle + 0.5 * math.pi, 1.0)
    inward[[plant.velocity_names.index(f"link{i}_angle") for i in (1, 2, 3)]] = 0.0
    return turning * along + speed**2 * inward


def _on_loops(plant: Mechanism, angle: float, name: str, repetitions: int) -> dict[str, Any]:
    """Row of the table on closed loops, for one pseudoinverse at one configuration before the flat one."""
    q, v = configuration(-angle), rate(plant, -angle, _SPEED)
    D, _ = _scaled_rows(plant, q)
    inverse, rank = pseudoinverse(D, name)
    begin = clock.perf_counter()
    for _ in range(repetitions):
        pseudoinverse(D, name)
    took = (clock.perf_counter() - begin) / repetitions
    vdot = acceleration(
        plant.terms(q, v), np.zeros(plant.nv), formulation=NamedFormulation("udwadia-kalaba", pseudoinverse=name)
    )
    return {
        "angle to the flat configuration (rad)": angle,
        "pseudoinverse": name,
        "rank": rank,
        "Moore-Penrose conditions within": _penrose(D, inverse),
        "relative error of the acceleration": _relative(vdot, _exact_acceleration(plant, -angle, _SPEED)),
        "microseconds": 1e6 * took,
    }


def _off_loops(plant: Mechanism, drift: float, tolerance: float) -> dict[str, Any]:
    """Row for one drift and threshold: rank by singular values, error of the acceleration by each method."""
    angle = -math.pi / 6.0
    direction = np.random.default_rng(_SEED).standard_normal(plant.nq)
    q = configuration(angle) + drift * direction / np.linalg.norm(direction)
    terms = plant.terms(q, rate(plant, angle, _SPEED))
    exact = _exact_acceleration(plant, angle, _SPEED)
    sigma = np.linalg.svd(_scaled_rows(plant, q)[0], compute_uv=False)
    row: dict[str, Any] = {
        "drift (m)": drift,
        "threshold": tolerance,
        "smallest singular value": float(sigma[-1] / sigma[0]),
        "rank": int(np.sum(sigma > tolerance * sigma[0])),
    }
    for name in METHODS:
        vdot = acceleration(
            terms,
            np.zeros(plant.nv),
            formulation=NamedFormulation("udwadia-kalaba", pseudoinverse=name, rank_tolerance=tolerance),
        )
        row[name] = _relative(vdot, exact)
    return row


def _relative(found: Array, exact: Array) -> float:
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


def _penrose(A: Array, X: Array) -> float:
    """Largest error in the four Moore-Penrose conditions, relative to the size of their terms."""
    AX, XA = A @ X, X @ A
    gaps = (A @ XA - A) / np.linalg.norm(A), (X @ AX - X) / np.linalg.norm(X), AX - AX.T, XA - XA.T
    return float(max(np.linalg.norm(gap) for gap in gaps))


def _draw_drift(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Figure of the error of the acceleration over the drift, for each threshold."""
    from matplotlib.lines import Line2D

    from ..plot.style import COLORS, INK, LABEL, beside, dress, panels

    figure, (ax,) = panels(None, 1, height=3.0)
    for tolerance, colour in zip(TOLERANCES, COLORS, strict=False):
        chosen = [row for row in rows if row["threshold"] == tolerance and row["drift (m)"] > 0.0]
        drift = [row["drift (m)"] for row in chosen]
        for name, marker in zip(METHODS, "osv^D", strict=True):
            line = {"linestyle": "--" if name == "greville" else "-", "marker": marker, "markerfacecolor": "none"}
            ax.plot(drift, [row[name] for row in chosen], color=colour, linewidth=1.0, markersize=4.0, **line)
        ax.plot([], [], color=colour, label=f"threshold {tolerance:g}")
    dress(ax, "relative error of the acceleration", log=True)
    ax.set_xscale("log")
    ax.set_xlabel("drift (m)", fontsize=LABEL, color=INK)
    kinds = (("--", "greville"), ("-", "the other four"))
    beside(ax, [Line2D([], [], color=INK, linestyle=dashes, linewidth=1.0, label=name) for dashes, name in kinds])
    return figure
