"""Cost and accuracy of formulations, pseudoinverses and stabilisations on all plants."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import plants
from .._progress import Progress, Reporter
from ..dynamics.acceleration import acceleration
from ..errors import RedundantRowsError
from ..model.plant import Plant
from ..model.terms import Terms
from ..sim.simulate import simulate
from .formulations import FORMULATIONS, NamedFormulation
from .iftomm import four_bar_problem
from .integrators import five_bar_problem
from .measure import Case, Measured, Problem, measure_all
from .pseudoinverse import PSEUDOINVERSES, pivot_order
from .report import Cell, Report, ResultTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["exact_acceleration", "formulations", "stabilisations"]

Array = NDArray[np.float64]

WAYS: dict[str, NamedFormulation] = {name: NamedFormulation(name) for name in FORMULATIONS} | {
    "aghili-gamma, best": NamedFormulation("aghili-gamma", gamma="best")
}
HEADINGS = (  # of WAYS, so that thirteen columns fit on a page
    *("gauss", "null", "n-svd", "n-qr", "n-part", "n-diff", "aghili"),
    *("symm", "gamma", "lagr", "augm", "u-k", "best"),
)
LEGEND = "null to n-diff: the null space forms; symm, gamma, best: of Aghili; u-k: udwadia-kalaba."
DISTANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


# -- formulations -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExactState:
    """A state of a plant, with the exact acceleration there.

    Attributes
    ----------
    plant : Plant
    terms : Terms
    f : ndarray, shape (nv,)
        Joint forces.
    vdot : ndarray, shape (nv,)
        Acceleration, solved in rational numbers.
    """

    plant: Plant
    terms: Terms
    f: Array
    vdot: Array

    @classmethod
    def at(cls, plant: Plant, q: Array, v: Array) -> ExactState:
        """State at q with a random admissible velocity added to v, and random joint forces of the size of gravity's."""
        rng = np.random.default_rng(1)
        terms = plant.terms(q, plant.project_velocity(q, v + rng.standard_normal(plant.nv)))
        f = rng.standard_normal(plant.nv) * max(float(np.abs(terms.h).max()), 1.0)
        return cls(plant, terms, f, exact_acceleration(terms, f))

    def turned(self, angle: float) -> ExactState:
        """State with the two rows of a loop in a frame that is turned (rad)."""
        Q = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        terms = replace(self.terms, A=Q @ self.terms.A, b=Q @ self.terms.b, phi=Q @ self.terms.phi)
        return ExactState(self.plant, terms, self.f, exact_acceleration(terms, self.f))

    def error(self, vdot: Array) -> float:
        """Relative error of an acceleration: the largest, over the largest accelerations with and without the loops."""
        size = np.abs(self.vdot).max() + np.abs(np.linalg.solve(self.terms.M, self.f - self.terms.h)).max()
        return float(np.abs(vdot - self.vdot).max() / size)

    def time(self, solve: Callable[[Terms], Any], quick: bool) -> float:
        """Seconds per call of `solve`, with terms that are new each time: the least of many."""
        terms = self.terms
        rounds = 20 if quick else 300
        copy = min(timeit.repeat(lambda: replace(terms), repeat=rounds, number=1))
        call = min(timeit.repeat(lambda: solve(replace(terms)), repeat=rounds, number=1))  # nothing is remembered
        return max(call - copy, 1e-7)


def exact_acceleration(terms: Terms, f: Array) -> Array:
    """Exact acceleration (nv,) by the numbers in the terms, rounded once.

    The augmented matrix (de Falco, eq. 20) with as many independent rows as the rank says, solved by iterative
    refinement with residuals in rational numbers, which makes no rounding errors.

    Examples
    --------
    >>> plant = plants.five_bar()
    >>> terms = plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4)
    >>> bool(np.allclose(exact_acceleration(terms, np.zeros(4)), acceleration(terms, np.zeros(4)), rtol=1e-12))
    True
    """
    rows = pivot_order((terms.row_scale[:, None] * terms.A).T, 0.0, terms.rank)[0][: terms.rank] if terms.rank else []
    A, n = terms.A[rows], terms.h.size
    matrix = np.zeros((n + len(A), n + len(A)))
    matrix[:n, :n], matrix[n:, :n], matrix[:n, n:] = terms.M, A, A.T
    right = [Fraction(x) - Fraction(y) for x, y in zip(f, terms.h, strict=True)] + [-Fraction(x) for x in terms.b[rows]]
    entries = [[(k, Fraction(x)) for k, x in enumerate(row) if x] for row in matrix.tolist()]
    solution = [Fraction(0)] * len(right)
    inverse = np.linalg.inv(matrix)
    for _ in range(12):
        residual = [r - sum(x * solution[k] for k, x in row) for r, row in zip(right, entries, strict=True)]
        step = inverse @ np.array([float(x) for x in residual])
        solution = [x + Fraction(float(d)) for x, d in zip(solution, step, strict=True)]
        if np.abs(step).max() <= 1e-20 * max(abs(float(x)) for x in solution):
            break
    return np.array([float(x) for x in solution[:n]])


def near_singular(distance: float) -> tuple[Plant, Array, Array]:
    """Five-bar at a distance (rad, of the left crank) from its singular configuration with all links level: q and v."""
    plant = plants.five_bar()
    q = plant.close(np.array([np.pi, -np.pi, 0.0, np.pi]) + distance * np.array([1.0, -0.5, -1.0, 0.7]))
    return plant, q, np.zeros(plant.nv)


def measured(state: ExactState, quick: bool) -> dict[str, tuple[float, float, float]]:
    """Seconds per call, relative error and condition number, by the name of the formulation.

    Where rows are redundant, those that need independent ones take the pseudoinverse "svd".
    """
    found = {}
    for name, way in WAYS.items():
        try:
            way.acceleration(state.terms, state.f)
        except RedundantRowsError:
            way = replace(way, pseudoinverse="svd")
        motion = way.motion(state.terms, state.f)
        seconds = state.time(lambda terms, way=way: way.acceleration(terms, state.f), quick)
        found[name] = (seconds, state.error(motion.vdot), motion.conditioning)
    return found


_MEASURED = ("seconds a call", "relative error", "conditioning")


def formulations(quick: bool = False, progress: Progress = False) -> Report:
    """Report on cost, accuracy and conditioning of all formulations, also near a singular configuration.

    Parameters
    ----------
    quick : bool
        Fewer plants, and fewer repetitions of the timed calls.
    progress : bool or callable

    Returns
    -------
    report : Report
        ``data``: ``"seconds"``, ``"error"`` and ``"conditioning"`` by plant (or distance from the singular
        configuration, rad: ``"0.001"``, ``"0.001, rows turned"``) and formulation.
    """
    names = ("five-bar", "slider-crank", "bricard", "parallelogram") if quick else tuple(plants.catalogue)
    states = {name: ExactState.at(*plants.catalogue[name].start()) for name in names}
    near = {f"{d:g}": ExactState.at(*near_singular(d)) for d in (DISTANCES[::2] if quick else DISTANCES)}
    near |= {f"{name}, rows turned": state.turned(0.6) for name, state in near.items()}
    numbers: dict[str, dict[str, tuple[float, float, float]]] = {}
    with Reporter(progress, "plants") as report:
        for i, (name, state) in enumerate([*states.items(), *near.items()], 1):
            numbers[name] = measured(state, quick)
            done = (
                {"state": name, "formulation": way} | dict(zip(_MEASURED, x, strict=True))
                for way, x in numbers[name].items()
            )
            report.update(0.9 * i / (len(states) + len(near)), *done)
        inverses = _pseudoinverses(states, quick)
        report.update(1.0)
    marked = {name: name + ("*" if s.terms.rank < s.terms.b.size else "") for name, s in states.items()}
    ratios = {name: {way: x[0] / row["gauss"][0] for way, x in row.items()} for name, row in numbers.items()}
    seconds, errors, conditions = (
        {name: {way: x[k] for way, x in row.items()} for name, row in numbers.items()} for k in range(3)
    )
    star = f"* has redundant rows: lagrange and augmented with pseudoinverse='svd'. {LEGEND}"
    return Report(
        "Formulations on all plants",
        "the library itself; formulations of de Falco et al., Spencer and Aghili",
        [
            _summary(states, numbers, ratios),
            _panel("Cost over that of gauss", "plant", marked, ratios, star, digits=2),
            _panel("Relative error of the acceleration", "plant", marked, errors, star),
            _panel("Condition number of the matrix solved with", "plant", marked, conditions, star),
            _panel(
                "Error near the singular configuration of the five-bar",
                "distance (rad)",
                dict.fromkeys(near),
                errors,
                LEGEND,
            ),
            _panel("Conditioning there", "distance (rad)", dict.fromkeys(near), conditions, LEGEND),
            inverses,
        ],
        {"formulations-near-singular": lambda: _near_figure(errors, conditions, tuple(near))},
        (
            "State: the start of the catalogue, with a random admissible velocity added; random joint forces of the "
            "size of the largest of h.",
            "Errors are against the solution of (20) in rational numbers, over the largest acceleration with or "
            "without loops.",
            "Times are those of Python calls, given M, h, A and b; the least of 300 calls.",
            "Near the singular configuration one row of the five-bar is small; with rows turned by 0.6 rad both are "
            "large, and nearly the same.",
        ),
        {"seconds": seconds, "error": errors, "conditioning": conditions},
    )


def _summary(states: Mapping[str, ExactState], numbers: Mapping, ratios: Mapping) -> ResultTable:
    """Table with a line for each formulation, over the plants."""
    rows = []
    for way in WAYS:
        cost, error, condition = (np.array([x[n][way] for n in states]) for x in (ratios, numbers, numbers))
        rows.append(
            (
                *(way, 1e6 * numbers["five-bar"][way][0], float(np.median(cost)), float(cost.max())),
                *(float(error[:, 1].max()), float(np.median(condition[:, 2])), float(condition[:, 2].max())),
            )
        )
    return ResultTable(
        f"All formulations on {len(states)} plants",
        (
            *("formulation", "five-bar (us)", "cost, median", "cost, largest"),
            *("error, largest", "conditioning, median", "conditioning, largest"),
        ),
        rows,
        "Cost: over that of gauss.",
    )


def _panel(
    title: str, what: str, names: Mapping[str, str | None], values: Mapping, note: str, digits: int = 1
) -> ResultTable:
    """Table with plants downwards and formulations across."""
    rows = [(names[n] or n, *(_short(values[n][way], digits) for way in WAYS)) for n in names]
    return ResultTable(title, (what, *HEADINGS), rows, note)


def _short(x: float, digits: int) -> Cell:
    """Number with few digits, so that thirteen columns fit on a page."""
    return float(f"{x:.{digits}g}")


def _pseudoinverses(states: Mapping[str, ExactState], quick: bool) -> ResultTable:
    """Table of Udwadia-Kalaba with every pseudoinverse, where rows are redundant."""
    rows: list[tuple[Cell, ...]] = []
    for name in ("parallelogram", "bricard"):
        state = states[name]
        default = state.time(lambda terms, f=state.f: acceleration(terms, f), quick)
        for inverse in PSEUDOINVERSES:
            way = NamedFormulation("udwadia-kalaba", pseudoinverse=inverse)
            seconds = state.time(lambda terms, f=state.f, way=way: way.acceleration(terms, f), quick)
            error = state.error(way.acceleration(state.terms, state.f))
            rows.append((name, inverse, 1e6 * seconds, seconds / default, error))
    return ResultTable(
        "Udwadia-Kalaba with each pseudoinverse",
        ("plant", "pseudoinverse of D", "cost (us)", "cost over gauss", "error of the acceleration"),
        rows,
        "damped and filtered have their default damping, 1e-4 of the largest singular value. filtered is exact where "
        "no singular value but those of redundant rows is below 1e-3.",
    )


def _near_figure(errors: Mapping, conditions: Mapping, near: Sequence[str]) -> Figure:
    """Figure of error and condition number over the distance to the singular configuration."""
    from ..plot.figure import new_figure
    from ..plot.style import INK, LABEL, beside, dress, styles

    shown = ("null-space-svd", "aghili", "lagrange", "augmented", "gauss")  # udwadia-kalaba: as gauss
    turned = [name for name in near if "turned" in name]
    distances = [float(name.split(",")[0]) for name in turned]
    figure = new_figure(8.2, 3.0)
    axes = figure.subplots(1, 2)
    panels = (conditions, "condition number"), (errors, "relative error of the acceleration")
    for ax, (values, label) in zip(axes, panels, strict=True):
        for name, look in zip(shown, styles(len(shown)), strict=True):
            look |= {"marker": "o", "markersize": 3.2} | ({"dashes": (3, 2)} if name == "gauss" else {})
            ax.plot(distances, [max(values[d][name], 1e-17) for d in turned], label=name, **look)
        dress(ax, label, log=True)
        ax.set_xscale("log")
        ax.set_xlabel("distance to the singular configuration (rad)", fontsize=LABEL, color=INK)
    beside(axes[-1])
    return figure


# -- stabilisations -----------------------------------------------------------------------------------------------

KINDS: dict[str, dict[str, Any]] = {
    "projection, mass (default)": {},
    "projection, Euclidean": {"metric": "euclidean"},
    "projection and energy": {"energy": True},
    "projection every 10 steps": {"every": 10},
    "all at once, Euclidean": {"stabilisation": "all-at-once", "metric": "euclidean"},
    "all at once, mass": {"stabilisation": "all-at-once"},
    "Baumgarte, 10 and 10": {"stabilisation": "baumgarte", "gains": (10.0, 10.0)},
    "Baumgarte, 100 and 100": {"stabilisation": "baumgarte", "gains": (100.0, 100.0)},
    "Baumgarte, from the step": {"stabilisation": "baumgarte", "gains": "adaptive"},
    "none": {"stabilisation": "none"},
}
STEP = 2e-3
TOLERANCE = 1e-8


def bricard_problem(t_end: float) -> Problem:
    """Problem of the rectangular Bricard mechanism, five rows of rank four, with a reference run at tolerance 1e-13."""
    plant, q0, v0 = plants.catalogue["bricard"].start()
    times = np.linspace(0.0, t_end, round(50 * t_end) + 1)
    reference = simulate(plant, q0=q0, v0=v0, t_end=t_end, output_times=times, rtol=1e-13, atol=1e-13).q.values
    return Problem(plant, q0, v0, t_end, times, lambda run: run.q.values, reference, "rad")


def stabilisations(quick: bool = False, progress: Progress = False) -> Report:
    """Report on cost and effect of every stabilisation on three machines, at equal steps and at equal tolerance.

    Parameters
    ----------
    quick : bool
        Short runs.
    progress : bool or callable

    Returns
    -------
    report : Report
        ``data``: by machine and integrator, then by stabilisation: ``"error"``, ``"open"`` (m), ``"rate"`` (m/s),
        ``"drift"`` (J), ``"evaluations"``, ``"wall"`` (s).
    """
    machines = {
        "Five-bar, regular motion": five_bar_problem(0.2 if quick else 3.0),
        "Bricard, a redundant row": bricard_problem(0.2 if quick else 5.0),
        "IFToMM A02, N = 2, through flat configurations": four_bar_problem(2, 0.3 if quick else 5.0),
    }
    steps = {
        f"rk4, steps of {1e3 * STEP:g} ms": {"method": "rk4", "step": STEP},
        f"dop853, tolerance {TOLERANCE:g}": {"rtol": TOLERANCE, "atol": TOLERANCE},
    }
    cases: list[Case] = [
        (problem, kind, options | chosen)
        for problem in machines.values()
        for options in steps.values()
        for kind, chosen in KINDS.items()
    ]
    runs = iter(measure_all(cases, progress, "runs"))
    done = {
        (name, method): {kind: next(runs) for kind in KINDS} for name in machines for method in steps
    }  # in the order of the cases
    return Report(
        "Stabilisations at equal steps and at equal tolerance",
        "the library itself; Baumgarte's terms of de Falco et al. (30), projections of Spencer (3.1.3), Aghili (39)",
        [
            _overview(done, tuple(steps)),
            *(_stabilised(f"{name}: {method}", found) for (name, method), found in done.items()),
        ],
        {},
        (
            "Errors of the five-bar and of Bricard are those of all coordinates, against a run at tolerance 1e-13 with "
            "the default projection; of A02, against the exact motion.",
            "Baumgarte with fixed gains, none, and projection after each step run compiled; the others in the "
            "interpreted loop, which takes some ten times as long an evaluation. Evaluations compare.",
            "The loops are open by the largest residual at any output time (rotations times the machine's size); their "
            "rate is the largest of A v. Between the steps of dop853 the state is interpolated and projected, so the "
            "energy there is that of the interpolation, also where steps restore it.",
        ),
        {f"{name}: {method}": _stabilisation_numbers(found) for (name, method), found in done.items()},
    )


def _rate(run: Measured) -> float:
    """Largest A v at any output time, m/s."""
    plant = run.problem.plant
    states = zip(run.run.q.values, run.run.v.values, strict=True)
    return max(float(np.abs(plant.row_scale * (plant.jacobian(q) @ v)).max(initial=0.0)) for q, v in states)


def _overview(done: Mapping[tuple[str, str], Mapping[str, Measured]], methods: Sequence[str]) -> ResultTable:
    """Table with a line for each stabilisation and integrator, over the machines."""
    rows: list[tuple[Cell, ...]] = []
    for method in methods:
        groups = [found for (_, m), found in done.items() if m == method]
        for kind in KINDS:
            runs = [found[kind] for found in groups]
            rows.append(
                (
                    *(method, kind, *(run.largest if run.finished else None for run in runs)),
                    max(run.run.max_drift for run in runs),
                    max(_rate(run) for run in runs),
                    max(run.run.max_energy_error for run in runs),
                    sum(run.count("evaluations") for run in runs),
                    float(np.median([found[kind].wall / next(iter(found.values())).wall for found in groups])),
                )
            )
    return ResultTable(
        "All stabilisations",
        (
            *("integrator", "stabilisation", "error, five-bar (rad)", "error, Bricard (rad)", "error, A02 (m)"),
            *("loops open (m)", "A v (m/s)", "energy drift (J)", "evaluations", "wall over the default's"),
        ),
        rows,
        "Loops, A v and energy: the largest of the three machines. Evaluations: their sum. Wall time: median of the "
        "ratios. Errors of order 1 m are those of a run that left its branch at a flat configuration; - is a run that "
        "stopped.",
    )


def _stabilised(title: str, runs: Mapping[str, Measured]) -> ResultTable:
    default = next(iter(runs.values()))
    rows: list[tuple[Cell, ...]] = [
        (
            *(kind, run.outcome, run.largest if run.finished else None, run.run.max_drift, _rate(run)),
            *(run.run.max_energy_error, run.count("evaluations"), run.count("steps"), run.wall / default.wall),
        )
        for kind, run in runs.items()
    ]
    return ResultTable(
        title,
        (
            *("stabilisation", "outcome", f"largest error ({default.problem.unit})", "loops open (m)", "A v (m/s)"),
            *("energy drift (J)", "evaluations", "steps", "wall over the default's"),
        ),
        rows,
    )


def _stabilisation_numbers(runs: Mapping[str, Measured]) -> dict[str, dict[str, float]]:
    return {
        "error": {kind: run.largest for kind, run in runs.items()},
        "open": {kind: run.run.max_drift for kind, run in runs.items()},
        "rate": {kind: _rate(run) for kind, run in runs.items()},
        "drift": {kind: run.run.max_energy_error for kind, run in runs.items()},
        "evaluations": {kind: run.count("evaluations") for kind, run in runs.items()},
        "wall": {kind: run.wall for kind, run in runs.items()},
    }
