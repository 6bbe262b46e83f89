"""The benchmark problems A01 to A05 of the IFToMM library, against published and exact solutions.

One module, although a long one: the five experiments share the exact solutions, the limits of the specification and the
tables in which they are reported.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import plants
from .._progress import Progress
from ..model.elements import Body, Distance, Prismatic
from ..model.mechanism import Mechanism
from ..plants.bricard import observed as bricard_point
from ..plants.n_four_bar import GRAVITY
from ..sim.result import Simulation
from . import measure
from .measure import Case, Measured, Problem, columns, measure_all, sweep, work_precision
from .report import Cell, Report, ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    *("a01", "a02", "a03", "a04", "a05"),
    *("bricard_problem", "four_bar_problem", "governor_problem", "pendulum_problem", "squeezer_problem"),
    *("flat_times", "four_bar_motion", "pendulum_motion", "point_pendulum"),
]

Array = NDArray[np.float64]
PUBLISHED = measure.published("iftomm")
LIBRARY = PUBLISHED["library"]
SOURCES = PUBLISHED["sources"]
LIMITED = (
    "The specification allows an error of 0.1 for low and 0.001 for high precision, with a threshold of 1e-3, and does "
    "not print the formula. Here: |x - exact| / max(|x|, 1e-3), the quadratic mean and the largest over coordinates "
    "and output steps. Errors not called relative are absolute."
)
WALL = "Wall times are those of this machine, output included, compilation not; other codes ran on other machines."


# -- exact solutions ----------------------------------------------------------------------------------------------


def pendulum_motion(t: Array, length: float = 1.0) -> Array:
    """Exact motion of a point pendulum from rest, level with its pivot on the left: x, y (times, 2), in metres.

    With the angle th from the hanging configuration and w^2 = g / length, sin(th/2) = -cd(w t | 1/2) / sqrt(2).

    Examples
    --------
    >>> pendulum_motion(np.array([0.0])).round(15) + 0.0
    array([[-1.,  0.]])
    """
    from scipy.special import ellipj, ellipk

    period = 4.0 * ellipk(0.5)
    _, cn, dn, _ = ellipj(np.remainder(math.sqrt(GRAVITY / length) * np.asarray(t), period), 0.5)
    half = -math.sqrt(0.5) * cn / dn  # sin(th/2); cos(th/2) = sqrt(1/2) / dn
    return length * np.stack([2.0 * half * math.sqrt(0.5) / dn, 2.0 * half * half - 1.0], axis=-1)


def four_bar_motion(n: int, t: Array) -> tuple[Array, Array]:
    """Exact motion of the N four-bar mechanism: the top of the first bar (times, 2), m, and th' (times,), rad/s.

    While the couplers stay level, I th'' = -9.81 G cos th with I = (N + 1)/3 + N, G = (N + 1)/2 + N; th(0) = pi/2,
    th'(0) = -1. The bars turn over: with psi = th + pi/2 and the speed w_b at the bottom, w_b^2 = 1 + 4 (9.81 G / I),
    sin(psi/2) = sn(K - w_b t/2 | m), m = 1 - 1/w_b^2.

    Examples
    --------
    >>> four_bar_motion(2, np.array([10.0]))[0]
    array([[0.328458, 0.944519]])
    """
    from scipy.special import ellipj, ellipkm1

    squared = _squared_speed(n)
    bottom, quarter = math.sqrt(squared), float(ellipkm1(1.0 / squared))
    u = np.remainder(quarter - 0.5 * bottom * np.asarray(t), 4.0 * quarter)
    sn, cn, dn, _ = ellipj(u, 1.0 - 1.0 / squared)
    return np.stack([2.0 * sn * cn, sn * sn - cn * cn], axis=-1), -bottom * dn


def flat_times(n: int, t_end: float) -> Array:
    """Times at which the exact motion is flat, th = 0, -pi, ..., up to `t_end`, s.

    Examples
    --------
    >>> flat_times(2, 1.5)
    array([0.714356, 1.228159])
    """
    from scipy.special import ellipkinc, ellipkm1

    squared = _squared_speed(n)
    half = 0.25 * math.pi - 0.5 * math.pi * np.arange(2 + int(t_end * math.sqrt(squared) / math.pi))
    times = 2.0 * (ellipkm1(1.0 / squared) - ellipkinc(half, 1.0 - 1.0 / squared)) / math.sqrt(squared)
    return times[times <= t_end]


def _squared_speed(n: int) -> float:
    """Squared speed of the bars at the bottom, (rad/s)^2: 1 at the top, and more by their fall."""
    return 1.0 + 4.0 * GRAVITY * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)


# -- what all of them print ---------------------------------------------------------------------------------------


def _others(problem: str, ours: float, what: str) -> ResultTable:
    """Table of computing times, those that other codes give and ours."""
    rows: list[tuple[Cell, ...]] = [
        (x["code"], x["what"], x["seconds"], x["machine"], x["of"]) for x in PUBLISHED[problem]["cpu"]
    ]
    rows.append(("cmbcontrol", what, ours, "this one", "default settings"))
    used = dict.fromkeys(x["of"] for x in PUBLISHED[problem]["cpu"])
    note = " ".join([WALL, *(f"{name}: {SOURCES[name]}." for name in used)])
    return ResultTable("Computing times", ("code", "what", "time (s)", "machine", "source"), rows, note)


def _limited(what: str, run: Measured, limits: dict[str, float]) -> list[tuple[Cell, ...]]:
    """Rows of errors relative to the coordinate, or to the floor where it is smaller, beside the library's limit."""
    relative = run.error / np.maximum(np.abs(run.problem.reference), limits["floor"])
    found = {"mean": np.sqrt((relative**2).mean()), "largest": relative.max()}
    return [(f"{what}: relative error, {kind}", None, limits["high"], x, "specification") for kind, x in found.items()]


def _settings(title: str, runs: Sequence[Measured], note: str = "") -> ResultTable:
    return ResultTable(title, columns(runs[0].problem.unit), [run.cells for run in runs], note)


BLIND = {"pass_within": 0.0, "max_steps": 20_000}  # does not look for passages; may crawl into one
PUBLISHED_COLUMNS = ("quantity", "published", "accuracy or limit", "ours", "source")


def _figure_over_time(
    t: Array,
    lines: dict[str, Array],
    dots: tuple[Array, Array] | None,
    errors: dict[str, tuple[Array, Array]],
    *,
    label: str,
    marks: Sequence[float] = (),
    accuracy: float | None = None,
) -> Figure:
    """Figure of observed coordinates, errors below; published points are dots, singular passages vertical lines."""
    from ..plot.style import COLORS, FAINT, INK, above_rounding, beside, dress, panels, styles, time_axis

    figure, (top, below) = panels(None, 2)
    for (name, values), look in zip(lines.items(), styles(len(lines)), strict=True):
        top.plot(t, values, linewidth=1.1, label=name, **look)
    if dots is not None:
        for k, column in enumerate(dots[1].T):
            text = "published" if k == 0 else None
            top.plot(dots[0], column, ".", color=INK, markersize=2.4, label=text, zorder=3)
    for (name, (when, error)), color in zip(errors.items(), COLORS, strict=False):
        below.plot(when, error, linewidth=1.0, color=color, label=name)
    if accuracy is not None:
        below.axhline(accuracy, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), label="accuracy of\nthe published")
    above_rounding(below, 1e-14)  # of coordinates of the order of one
    for ax in (top, below):
        _mark(ax, marks, FAINT, "flat configuration" if ax is top else None)
    dress(top, label)
    dress(below, "error (m)", log=True)
    for ax in (top, below):
        beside(ax)
    time_axis((top, below), t)
    return figure


def _mark(ax: Axes, times: Sequence[float], color: str, label: str | None) -> None:
    """Draw vertical lines behind the curves."""
    for k, time in enumerate(times):
        ax.axvline(time, color=color, linewidth=0.6, zorder=0, label=label if k == 0 else None)


def _worst(run: Measured) -> Array:
    """Largest error of all observed coordinates at each time."""
    return run.error.max(axis=1)


# -- A01 ----------------------------------------------------------------------------------------------------------


def point_pendulum(mass: float = 1.0, length: float = 1.0) -> Mechanism:
    """Machine of A01: a point mass in the vertical plane, ``x`` and ``y``, held at a length from the origin by a loop.

    Examples
    --------
    >>> point_pendulum().assemble(y=0.0, guess={"x": -0.9})
    array([-1.,  0.])
    """
    return Mechanism(
        "point-pendulum",
        [Body("slide"), Body("mass", mass)],
        [
            Prismatic("x", "ground", "slide", axis=(1.0, 0.0, 0.0)),
            Prismatic("y", "slide", "mass", axis=(0.0, 1.0, 0.0)),
        ],
        [Distance("rod", "ground", "mass", length=length)],
        gravity=(0.0, -GRAVITY, 0.0),
        source=f"{LIBRARY}, A01",
    )


def pendulum_problem(t_end: float, steps: int = 500, plant: Any = None) -> Problem:
    """Problem A01 with its exact solution; with `plants.particle_on_circle` as another plant in equal coordinates."""
    times = np.linspace(0.0, t_end, steps + 1)
    plant = point_pendulum() if plant is None else plant
    start = np.array([-1.0, 0.0]), np.zeros(2)
    return Problem(plant, *start, t_end, times, lambda run: run.q.values, pendulum_motion(times))


def a01(quick: bool = False, progress: Progress = False) -> Report:
    """Report on A01, the simple pendulum: 10 s, 100 s, and the 2000 s of the specification.

    Parameters
    ----------
    quick : bool
        10 s only, and fewer tolerances.
    progress : bool or callable

    Returns
    -------
    report : Report
        ``data``: ``"error_10"`` and, unless quick, ``"error_100"``, ``"error_2000"`` in m, ``"drift_..."`` in J, all
        with the default settings.
    """
    limits = PUBLISHED["A01"]["limits"]
    spans = (10,) if quick else (10, 100, int(limits["t_end"]))
    problems = {span: pendulum_problem(float(span), 500 if span == 10 else 2 * span) for span in spans}
    ten = problems[10]
    functions = pendulum_problem(10.0, 500, plants.particle_on_circle())
    cases: list[Case] = [(problem, f"default, {span} s", {}) for span, problem in problems.items()]
    if not quick:
        cases.append((problems[spans[-1]], f"tolerance 1e-13, {spans[-1]} s", _to(1e-13)))
    cases += [
        (ten, "tolerance 1e-6, 10 s", _to(1e-6)),
        (ten, "default, energy projection, 10 s", {"energy": True}),
        (ten, "rk4, step 1 ms, 10 s", {"method": "rk4", "step": 1e-3}),
        (ten, "radau, 1e-9, 10 s", {"method": "radau"} | _to(1e-9)),
        (functions, "default, given by functions, 10 s", {}),
    ]
    swept = _both_kinds(ten, quick)
    rows, diagram = _measured(cases, swept, progress, "A01")
    longest = rows[len(spans) - 1]
    first, energy = rows[0], PUBLISHED["A01"]["energy_limit"]
    last = f"over {spans[-1]} s"
    published: list[tuple[Cell, ...]] = [
        *_limited(f"default, {last}", longest, limits),
        *(_limited(f"tolerance 1e-13, {last}", rows[len(spans)], limits) if not quick else ()),
        (f"error in x, y (m), {last}", None, None, longest.largest, "exact solution"),
        ("energy drift (J), 10 s", None, energy["value"], first.run.max_energy_error, energy["of"]),
        (f"energy drift (J), {last}", None, None, longest.run.max_energy_error, "exact: none"),
    ]

    def over_time() -> Figure:
        t = ten.times
        return _figure_over_time(
            t,
            {"x": ten.reference[:, 0], "y": ten.reference[:, 1]},
            None,
            {r.label.removesuffix(", 10 s"): (t, _worst(r)) for r in rows if r.problem is ten},
            label="point mass (m)",
        )

    return Report(
        "IFToMM A01: simple pendulum",
        f"{LIBRARY}, A01; {SOURCES['specification']}",
        [
            ResultTable("A01: published and ours", PUBLISHED_COLUMNS, published, LIMITED),
            _settings("A01: our settings", rows),
            _others("A01", first.wall, "10 s"),
        ],
        {
            "iftomm-a01-motion": over_time,
            "iftomm-a01-work-precision": lambda: work_precision({"": diagram}, "largest error over 10 s (m)"),
        },
        (
            "The specification starts at x = +1 m, other codes at x = -1 m: mirror images. We start at -1 m.",
            "The mass is a body with the coordinates x and y, and a distance to the origin as its only loop.",
        ),
        {f"error_{span}": row.largest for span, row in zip(spans, rows, strict=False)}
        | {f"drift_{span}": row.run.max_energy_error for span, row in zip(spans, rows, strict=False)}
        | {"limit": energy["value"]},
    )


def _to(tolerance: float) -> dict[str, Any]:
    """Options of a run for a tolerance, relative and absolute."""
    return {"rtol": tolerance, "atol": tolerance}


def _tolerances(quick: bool, least: float = 1e-12) -> tuple[float, ...]:
    """Tolerances of a work-precision diagram; implicit methods are not for the smallest."""
    known = (4, 6, 8) if quick else range(3, 13)
    return tuple(float(f"1e-{k}") for k in known if 10.0**-k > 0.5 * least)


def _both_kinds(problem: Problem, quick: bool) -> list[Case]:
    """Cases with explicit and implicit methods for a work-precision diagram."""
    explicit = sweep(problem, ("dop853", "verner65"), _tolerances(quick))
    return explicit + sweep(problem, ("rodas5p", "radau"), _tolerances(quick, 1e-9))


def _measured(cases: list[Case], swept: list[Case], progress: Progress, title: str) -> tuple[list[Measured], ...]:
    """Runs for the rows of the table, and for the points of the diagram."""
    runs = measure_all([*cases, *swept], progress, title)
    return runs[: len(cases)], runs[len(cases) :]


# -- A02 ----------------------------------------------------------------------------------------------------------


def four_bar_problem(n: int, t_end: float) -> Problem:
    """Problem A02 with its exact solution, every 0.05 s."""
    plant, q0, v0 = plants.catalogue["n-four-bar"].start(n=n)
    times = np.linspace(0.0, t_end, round(20 * t_end) + 1)

    def top(run: Simulation) -> Array:
        angle = run.q.values[:, 0]
        return np.stack([np.cos(angle), np.sin(angle)], axis=-1)

    return Problem(plant, q0, v0, t_end, times, top, four_bar_motion(n, times)[0])


def a02(quick: bool = False, progress: Progress = False) -> Report:
    """Report on A02, the N four-bar mechanism, N = 2, 10 and 40, through its flat configurations for 10 s and 20 s.

    Parameters
    ----------
    quick : bool
        N = 2 and 10 for 10 s, and fewer tolerances.
    progress : bool or callable

    Returns
    -------
    report : Report
        ``data``: ``"error"``, ``"drift"`` and ``"passages"`` with default settings, by N and seconds: ``"40, 20"``;
        ``"limit"``, the error that high precision in the specification allows.
    """
    spans = (10.0,) if quick else (10.0, 20.0)
    problems = {(n, span): four_bar_problem(n, span) for n in ((2, 10) if quick else (2, 10, 40)) for span in spans}
    limits = PUBLISHED["A02"]["limits"]
    cases: list[Case] = [(problem, f"default, N = {n}, {s:g} s", {}) for (n, s), problem in problems.items()]
    small = problems[2, 10.0]
    cases += [
        (small, "tolerance 1e-8, N = 2, 10 s", _to(1e-8)),
        (small, "tolerance 1e-6, N = 2, 10 s", _to(1e-6)),
        (small, "not looking for passages (pass_within=0), N = 2, 10 s", BLIND),
        (small, "energy projection, N = 2, 10 s", {"energy": True}),
        (small, "verner65, 1e-10, N = 2, 10 s", {"method": "verner65"} | _to(1e-10)),
        (small, "rk4, step 1 ms, N = 2, 10 s", {"method": "rk4", "step": 1e-3}),
        (small, "radau, N = 2, 10 s", {"method": "radau"}),
        (small, "rodas5p, N = 2, 10 s", {"method": "rodas5p"}),
    ]
    swept = sweep(small, ("dop853", "verner65"), _tolerances(quick))
    swept += [(p, "dop853, pass_within=0", o | BLIND) for p, label, o in swept if label == "dop853"]
    rows, diagram = _measured(cases, swept, progress, "A02")
    defaults = dict(zip(problems, rows, strict=False))
    tables = [
        ResultTable("A02: published and ours", PUBLISHED_COLUMNS, _a02_published(defaults, limits), LIMITED),
        _settings("A02: our settings", rows, "Errors against the exact reduction."),
        *_passages(defaults),
        _others("A02", rows[0].wall, "N = 2, 10 s"),
    ]
    data = {
        quantity: {f"{n}, {span:g}": value(run) for (n, span), run in defaults.items()}
        for quantity, value in (
            ("error", lambda run: run.largest),
            ("drift", lambda run: run.run.max_energy_error),
            ("passages", lambda run: len(run.run.events())),
        )
    } | {"limit": limits["high"]}

    def over_time() -> Figure:
        shown = {n: run for (n, span), run in defaults.items() if span == spans[-1]}
        n, biggest = max(shown.items())
        points = measure.curve(PUBLISHED["A02"]["curve"]["file"])[::4] if n == 40 else None
        top = biggest.problem.observe(biggest.run)
        return _figure_over_time(
            biggest.problem.times,
            {f"x, N = {n}": top[:, 0], f"y, N = {n}": top[:, 1]},
            (points[:, 0], points[:, 1:]) if points is not None else None,
            {f"N = {n}": (run.problem.times, _worst(run)) for n, run in shown.items()},
            label="top of first bar (m)",
            marks=[event["time"] for event in biggest.run.events()],
            accuracy=PUBLISHED["A02"]["curve"]["accuracy"] if n == 40 else None,
        )

    return Report(
        "IFToMM A02: N four-bar mechanism",
        f"{LIBRARY}, A02; {SOURCES['specification']}",
        tables,
        {
            "iftomm-a02-motion": over_time,
            "iftomm-a02-work-precision": lambda: work_precision({"": diagram}, "largest error over 10 s, N = 2 (m)"),
        },
        (
            "All bars are thin rods (m L^2/12 about their middle): so the published curve is met to its last digit.",
            "The couplers start without angular velocity, the bars with -1 rad/s (the top of the first at 1 m/s).",
            "The exact solution stays on the branch with level couplers, as the published curve does.",
        ),
        data,
    )


def _a02_published(defaults: dict[tuple[int, float], Measured], limits: dict[str, Any]) -> list[tuple[Cell, ...]]:
    """Rows of published values beside ours."""
    rows: list[tuple[Cell, ...]] = []
    if (40, 20.0) in defaults:
        big, points = defaults[40, 20.0], measure.curve(PUBLISHED["A02"]["curve"]["file"])
        apart = np.abs(big.problem.observe(big.run) - points[:, 1:]).max(axis=1)
        rows += [
            *_limited("N = 40, 20 s", big, limits),
            ("N = 40, 10 s: distance to the curve (m)", None, 1.3e-6, apart[:201].max(), "A02_solution_data.txt"),
            ("N = 40, 20 s: distance to the curve (m)", None, 4.1e-6, apart.max(), "A02_solution_data.txt"),
        ]
    small, code = defaults[2, 10.0], PUBLISHED["A02"]["n2_at_10_s"]
    angle, speed = small.run.q.values[-1, 0], small.run.v.values[-1, 0]
    x, y = math.cos(angle), math.sin(angle)
    values = [x, y, -y * speed, x * speed]
    exact, rate = four_bar_motion(2, np.array([10.0]))
    true = [*exact[0], -exact[0, 1] * rate[0], exact[0, 0] * rate[0]]
    for name, given, ours, best in zip(
        ("x (m)", "y (m)", "x' (m/s)", "y' (m/s)"), [*code["position"], *code["velocity"]], values, true, strict=True
    ):
        rows.append((f"N = 2, top of first bar at 10 s, {name}", f"{given:.10f}", None, f"{ours:.10f}", code["of"]))
        rows.append((f"the same, exact, {name}", f"{best:.10f}", None, f"{ours:.10f}", "exact reduction"))
    rows += [
        (f"N = {n}, {span:g} s: error (m)", None, None, run.largest, "exact reduction")
        for (n, span), run in defaults.items()
    ]
    return rows


def _passages(defaults: dict[tuple[int, float], Measured]) -> list[ResultTable]:
    """Tables of flat configurations: how many were logged, and those of the largest machine one by one."""
    summary: list[tuple[Cell, ...]] = []
    for (n, span), run in defaults.items():
        exact, events = flat_times(n, span), run.run.events()
        off = np.abs(np.array([e["time"] for e in events]) - exact).max() if len(events) == len(exact) else None
        lost = max((abs(e["loss"]) for e in events), default=0.0)
        summary.append((n, span, len(exact), len(events), off, n + 1, _freed(run, events), lost))
    (n, span), run = list(defaults.items())[-1]
    logged = [(i, e["time"], e["kind"], e["rank"], e["conditioning"]) for i, e in enumerate(run.run.events(), 1)]
    return [
        ResultTable(
            "A02: flat configurations, default settings",
            (
                "N",
                "over (s)",
                "configurations",
                "logged",
                "time off by at most (s)",
                "degrees of freedom there",
                "found",
                "energy lost (J)",
            ),
            summary,
        ),
        ResultTable(
            f"A02: flat configurations of N = {n}, one by one",
            ("configuration", "time (s)", "kind", "rank", "conditioning"),
            logged,
        ),
    ]


def _freed(run: Measured, events: Sequence[dict[str, Any]]) -> int | None:
    """Number of degrees of freedom at the singular configurations, as logged; None where it differs."""
    ranks = {event["rank"] for event in events}
    return run.problem.plant.nv - ranks.pop() if len(ranks) == 1 else None


# -- A03 ----------------------------------------------------------------------------------------------------------


def squeezer_problem() -> tuple[Problem, dict[str, Any]]:
    """Problem A03 with the 30-digit solution at its end, and all published values."""
    entry = plants.catalogue["andrews"]
    plant, q0, v0 = entry.start()
    given = measure.published("andrews")
    exact = given[next(key for key in given if key.startswith("computed_reference"))]
    reference = np.array([q0, [float(exact[name]) for name in plant.position_names]])
    effort = np.array([entry.effort[name] for name in plant.actuator_names])
    end = float(given["t"][1])
    return Problem(plant, q0, v0, end, np.array([0.0, end]), lambda run: run.q.values, reference, "rad", effort), given


def a03(quick: bool = False, progress: Progress = False) -> Report:
    """Report on A03, Andrews' squeezing mechanism: values of the test set for initial value problems at 0.03 s.

    Parameters
    ----------
    quick : bool
        Fewer tolerances.
    progress : bool or callable

    Returns
    -------
    report : Report
        ``data``: ``"relative"``, the largest relative deviation of positions, velocities, accelerations and
        multipliers from the 30-digit solution, default settings; ``"digits"``, correct digits of the positions.
    """
    problem, given = squeezer_problem()
    cases: list[Case] = [
        (problem, "default", {}),
        (problem, "tolerance 1e-8", _to(1e-8)),
        (problem, "tolerance 1e-6", _to(1e-6)),
        (problem, "tolerance 1e-13", _to(1e-13)),
        (problem, "verner65, 1e-10", {"method": "verner65"} | _to(1e-10)),
        (problem, "radau, 1e-10", {"method": "radau"} | _to(1e-10)),
        (problem, "rodas5p, 1e-9", {"method": "rodas5p"} | _to(1e-9)),
    ]
    swept = _both_kinds(problem, quick)
    rows, diagram = _measured(cases, swept, progress, "A03")
    values, relative = _end_values(rows[0], given)
    digits = -math.log10(relative["positions"])
    note = (
        "Published: PSIDE on a Cray C90 at tolerance 1e-14. The 30-digit solution: extrapolation in mpmath, whose own "
        "doubt is 1e-18. The published digits are right to 7e-11 in beta, 5e-8 in velocities, and 1e-6 in "
        "accelerations and multipliers (relative)."
    )
    worst = [(name, value) for name, value in relative.items()]
    return Report(
        "IFToMM A03: Andrews' squeezing mechanism",
        f"{LIBRARY}, A03, in the form of the {problem.plant.source}",
        [
            ResultTable(
                "A03: at 0.03 s, published and ours",
                ("quantity", "published", "30 digits, rounded", "ours (default)", "ours off by", "published off by"),
                values,
                note,
            ),
            ResultTable("A03: largest relative deviation from the 30-digit solution", ("of", "ours (default)"), worst),
            _settings("A03: our settings", rows, "Errors are those of the seven positions at 0.03 s."),
        ],
        {"iftomm-a03-work-precision": lambda: work_precision({"": diagram}, "error of positions at 0.03 s (rad)")},
        (
            "No gravity, as in the test set; the library's A03 is the same mechanism.",
            "Our loop rows are those of the test set turned into the axes of K3, K4, K6; multipliers were turned back.",
        ),
        {"relative": relative, "digits": digits},
    )


def _end_values(run: Measured, given: dict[str, Any]) -> tuple[list[tuple[Cell, ...]], dict[str, float]]:
    """Rows with all values of the test set at the end, and the largest relative deviation in each group."""
    printed = given[next(key for key in given if key.startswith("published_reference"))]
    exact = given[next(key for key in given if key.startswith("computed_reference"))]
    plant, end = run.problem.plant, run.run.data.isel(time=-1)
    names = plant.position_names
    groups = {
        "positions": (names, end.q.values),
        "velocities": ([f"{n}'" for n in names], end.v.values),
        "accelerations": ([f"{n}''" for n in names], end.a.values),
        "multipliers": ([f"lambda{i}" for i in range(1, 7)], _world(plant, end.q.values, end.multipliers.values)),
    }
    rows: list[tuple[Cell, ...]] = []
    relative = {}
    for group, (keys, values) in groups.items():
        true, theirs = (np.array([float(table[key]) for key in keys]) for table in (exact, printed))
        relative[group] = float(np.abs((values - true) / true).max())
        rows += [
            (key, f"{b:.12g}", f"{t:.15g}", f"{x:.12g}", abs(x - t), abs(b - t))
            for key, t, b, x in zip(keys, true, theirs, values, strict=True)
        ]
    return rows, relative


def _world(plant: Mechanism, q: Array, multipliers: Array) -> Array:
    """Multipliers of two-row loops, turned from the axes of their body a to those of the ground."""
    turned = []
    for loop in plant.loops:
        two = np.append(multipliers[plant.row_slices[loop.name]], 0.0)
        turned.append((plant.pose(q, loop.a).R @ two)[:2])
    return np.concatenate(turned)


# -- A04 ----------------------------------------------------------------------------------------------------------


def bricard_problem() -> Problem:
    """Problem A04 with the published curve."""
    points = _bricard_points()
    return _bricard(points[:, 0], points[:, 1:])


def _bricard(times: Array, reference: Array) -> Problem:
    plant, q0, v0 = plants.catalogue["bricard"].start()

    def point(run: Simulation) -> Array:
        return np.array([bricard_point(plant, q) for q in run.q.values])

    return Problem(plant, q0, v0, float(times[-1]), times, point, reference)


def _bricard_points() -> Array:
    """Published curve of A04 without the point that was displaced when it was recovered, up to 10 s."""
    points = measure.curve(PUBLISHED["A04"]["curve"]["file"])
    return points[np.isclose(points[:, 0] / 0.2, np.round(points[:, 0] / 0.2), atol=1e-6) & (points[:, 0] <= 10.0)]


def a04(quick: bool = False, progress: Progress = False) -> Report:
    """Report on A04, the rectangular Bricard mechanism: the published 10 s, and the energy over 100 s.

    Parameters
    ----------
    quick : bool
        Fewer tolerances, and 20 s for the energy.
    progress : bool or callable

    Returns
    -------
    report : Report
        ``data``: ``"curve_error"`` (m, distance to the published curve), ``"drift"`` (J, over 100 s, or 20 s),
        ``"open"`` (m, largest opening of the loop).
    """
    points = _bricard_points()
    problem = bricard_problem()
    long = 20.0 if quick else 100.0
    times = np.linspace(0.0, long, round(10 * long) + 1)
    best = _bricard(times, np.zeros((times.size, 3)))
    tight = best.simulate(rtol=1e-13, atol=1e-13)
    lasting = _bricard(times, best.observe(tight))
    ten = times <= 10.0 + 1e-9
    fine = _bricard(times[ten], lasting.reference[ten])
    cases: list[Case] = [
        (lasting, f"default, {long:g} s", {}),
        (lasting, f"energy projection, {long:g} s", {"energy": True}),
        (lasting, f"tolerance 1e-8, {long:g} s", _to(1e-8)),
        (fine, "default, 10 s", {}),
        (fine, "tolerance 1e-6, 10 s", _to(1e-6)),
        (fine, "Euclidean projection, 10 s", {"metric": "euclidean"}),
        (fine, "Baumgarte, 10 s", {"stabilisation": "baumgarte"}),
        (fine, "radau, 1e-9, 10 s", {"method": "radau"} | _to(1e-9)),
        (fine, "rodas5p, 1e-9, 10 s", {"method": "rodas5p"} | _to(1e-9)),
    ]
    swept = _both_kinds(fine, quick)
    runs = measure_all([(problem, "published", {}), *cases, *swept], progress, "A04")
    against, rows, diagram = runs[0], runs[1 : len(cases) + 1], runs[len(cases) + 1 :]
    rank, conditioning = set(against.run.rank.values.tolist()), against.run.conditioning.values.min()
    curve = PUBLISHED["A04"]["curve"]
    source = "10 s, P3 of the benchmark, recovered from a figure of OpenSim's pages"
    published: list[tuple[Cell, ...]] = [
        ("distance to the published curve (m)", None, curve["accuracy"], against.largest, source),
        (f"energy drift over {long:g} s (J)", None, None, rows[0].run.max_energy_error, "exact: none"),
        ("redundant rows", "1", None, str(5 - max(rank)), "EXUDYN, ComputeSystemDegreeOfFreedom"),
        ("degrees of freedom", "1", None, str(5 - max(rank)), "EXUDYN, ComputeSystemDegreeOfFreedom"),
        (
            "rank over the whole motion",
            None,
            None,
            ", ".join(map(str, sorted(rank))),
            f"conditioning {conditioning:.2g} or more",
        ),
    ]

    def over_time() -> Figure:
        t = fine.times
        return _figure_over_time(
            t,
            dict(zip("xyz", fine.reference.T, strict=True)),
            (points[:, 0], points[:, 1:]),
            {
                r.label.removesuffix(", 10 s"): (t, _worst(r))
                for r in rows
                if r.problem is fine and "metric" not in r.options
            },
            label="followed joint (m)",
            accuracy=curve["accuracy"],
        )

    return Report(
        "IFToMM A04: rectangular Bricard mechanism",
        f"{LIBRARY}, A04; {SOURCES['specification']}",
        [
            ResultTable("A04: published and ours", PUBLISHED_COLUMNS, published),
            _settings(
                "A04: our settings",
                rows,
                "Errors against our own run at tolerance 1e-13 (the published curve has six digits).",
            ),
            _others("A04", rows[3].wall, "10 s"),
        ],
        {
            "iftomm-a04-motion": over_time,
            "iftomm-a04-energy": lambda: _energy(rows[:3]),
            "iftomm-a04-work-precision": lambda: work_precision({"": diagram}, "largest error over 10 s (m)"),
        },
        (
            "The bars are thin rods, m L^2/12 across and nothing about their own line: so the published curve is met "
            "to its last digit. Bars of 0.1 m square section, as OpenSim's pages say, are 1.1e-2 m away.",
            "Of the published curve one point, at 1.19992 s, is left out: it was displaced when the figure was made.",
            "The point followed is the joint that starts at (1, -1, 0), called P3 by the benchmark.",
        ),
        {"curve_error": against.largest, "drift": rows[0].run.max_energy_error, "open": rows[0].run.max_drift},
    )


def _energy(runs: Sequence[Measured]) -> Figure:
    """Figure of the energy drift over time."""
    from ..plot.style import COLORS, beside, dress, panels, time_axis

    figure, (ax,) = panels(None, 1, height=2.4)
    for run, color in zip(runs, COLORS, strict=False):
        drift = np.maximum(np.abs(run.run.energy_balance.values), 1e-17)
        ax.plot(run.run.time, drift, color=color, linewidth=0.8, label=run.label.rsplit(", ", 1)[0])
    ax.axhline(1e-7, color="#222222", linewidth=0.8, linestyle=(0, (4, 3)), label="1e-7 J")
    dress(ax, "energy drift (J)", log=True)
    beside(ax)
    time_axis((ax,), runs[0].run.time)
    return figure


# -- A05 ----------------------------------------------------------------------------------------------------------


def a05(quick: bool = False, progress: Progress = False) -> Report:
    """Report on A05, the stiff flyball governor, 10 s: explicit and implicit methods.

    Parameters
    ----------
    quick : bool
        1 s, and fewer tolerances.
    progress : bool or callable

    Returns
    -------
    report : Report
        ``data``: ``"curve_error"`` (m, distance of the default's slider to the published points) and by method
        ``"evaluations"`` (a Jacobian counts for three).
    """
    problem = governor_problem(1.0 if quick else 10.0)
    cases: list[Case] = [
        (problem, "default (explicit)", {}),
        (problem, "dop853, 1e-7", _to(1e-7)),
        (problem, "dop853, 1e-4", _to(1e-4)),
        (problem, "verner65, 1e-7", {"method": "verner65"} | _to(1e-7)),
        (problem, "radau (default 1e-7)", {"method": "radau"}),
        (problem, "radau, 1e-5", {"method": "radau"} | _to(1e-5)),
        (problem, "rodas5p (default 1e-7)", {"method": "rodas5p"}),
        (problem, "rodas5p, 1e-5", {"method": "rodas5p"} | _to(1e-5)),
        (problem, "rodas4, 1e-6", {"method": "rodas4"} | _to(1e-6)),
        (problem, "sdirk4, 1e-6", {"method": "sdirk4"} | _to(1e-6)),
    ]
    tolerances = (1e-3, 1e-5, 1e-7) if quick else (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
    short = problem if quick else governor_problem(2.0)
    swept = sweep(short, ("dop853", "verner65", "sdirk4", "rodas4", "rodas5p", "radau"), tolerances)
    rows, diagram = _measured(cases, swept, progress, "A05")
    points = _governor_points(problem.t_end)
    slider = np.interp(points[:, 0], problem.times, problem.observe(rows[0].run)[:, 0])
    apart = float(np.abs(slider - points[:, 1]).max())
    source = "recovered from a figure of OpenSim's pages, 0 to 3 s"
    curve = PUBLISHED["A05"]["curve"]
    published: list[tuple[Cell, ...]] = [
        ("distance to the published points (m)", None, curve["accuracy"], apart, source),
    ]
    spared = rows[0].count("evaluations") / rows[5].cost

    def over_time() -> Figure:
        t = problem.times
        shown = [rows[i] for i in (0, 2, 4, 5, 6)]
        return _figure_over_time(
            t,
            {"slider": problem.reference[:, 0]},
            (points[:, 0], points[:, 1:]),
            {r.label: (t, _worst(r)) for r in shown},
            label="height of slider (m)",
            accuracy=curve["accuracy"],
        )

    return Report(
        "IFToMM A05: stiff flyball governor",
        f"{LIBRARY}, A05; {SOURCES['specification']}",
        [
            ResultTable("A05: published and ours", PUBLISHED_COLUMNS, published),
            _settings(
                "A05: our settings",
                rows,
                "Errors against our own run at tolerance 1e-12. Explicit methods are bound by stability (eigenvalues "
                f"to -8117 1/s). With a Jacobian counted as three evaluations, the default costs {spared:.0f} times as "
                "much as radau at 1e-5.",
            ),
            _others("A05", rows[0].wall, f"{problem.t_end:g} s, default (explicit)"),
        ],
        {
            "iftomm-a05-motion": over_time,
            "iftomm-a05-work-precision": lambda: work_precision(
                {"": diagram}, f"largest error over {short.t_end:g} s (m)"
            ),
        },
        (
            "The shaft turns at 2 pi rad/s at the start, springs and dampers have 8e5 N/m, 4e4 N s/m, 0.5 m at rest.",
            "The balls are point masses at the ends of the rods, 1 m from their hinges; the hinges are 0.05 m off the "
            "shaft's line.",
            "The published points end at 3 s; beyond, the reference is our own run at tolerance 1e-12.",
        ),
        {"curve_error": apart, "evaluations": {run.label: run.cost for run in rows}},
    )


def governor_problem(t_end: float) -> Problem:
    """Problem A05 with a run at tolerance 1e-12 as its reference: the height of the slider."""
    plant, q0, v0 = plants.catalogue["governor"].start()
    times = np.linspace(0.0, t_end, round(100 * t_end) + 1)
    at = plant.index("slider")

    def slider(run: Simulation) -> Array:
        return run.q.values[:, at : at + 1]

    bare = Problem(plant, q0, v0, t_end, times, slider, np.zeros((times.size, 1)))
    reference = slider(bare.simulate(rtol=1e-12, atol=1e-12))
    return Problem(plant, q0, v0, t_end, times, slider, reference)


def _governor_points(t_end: float) -> Array:
    """Published points of the slider up to a time."""
    points = measure.curve(PUBLISHED["A05"]["curve"]["file"])
    return points[points[:, 0] <= t_end + 1e-9]
