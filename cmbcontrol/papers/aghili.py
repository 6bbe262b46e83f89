"""Aghili's slider-crank (section 8) through its singular configuration: threshold (70), loop (39), and ours beside.

The rod is as long as the crank, so that with q2 = -2 q1 the singular value of A is sqrt(5) l |cos q1|. The paper takes
it for zero below epsilon: there A+ = 0, P = I and M_c = M, the loop is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._progress import Progress, Reporter
from ..controllers.passive_joints import PassiveJoints
from ..controllers.projected_inverse_dynamics import ProjectedInverseDynamics
from ..controllers.references import Quintic
from ..errors import ModelError
from ..plants.slider_crank import slider_crank
from ..sim.result import Simulation
from ..sim.simulate import simulate
from .fixed_step import march
from .formulations import NamedFormulation, constraint_inertia
from .methods import settings
from .report import Cell, Report, ResultTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Through", "above", "closed_forms", "closed_loop", "condition_numbers", "free", "slider_crank_experiment"]

Array = NDArray[np.float64]
SOURCE = "F. Aghili, projection-operator formulation, sections 6 and 8 (eqs. 65 to 71)"
ALONG = np.array([1.0, -2.0])  # admissible velocities, off the singular configurations
PATH = Quintic([0.6], [2.5], duration=2.0)
T_END, STEP = 2.5, 1e-3  # s
SPEED, FREE_END = 6.0, 0.6  # rad/s and s, of the run without a motor
FORMS = {"M_c (23)": "aghili", "M_c' (28)": "aghili-symmetric", "M_c'' (29)": "aghili-gamma"}
BY_DEFAULT = "M_c' (28), "  # of labels
EXACTLY = 1e-10  # the threshold in effect where none is given


def above(epsilon: float) -> Callable[..., tuple[Array, int]]:
    """Pseudoinverse function of a single row, zero where the row is shorter than epsilon (Aghili, section 8, step 2).

    For the argument ``pseudoinverse=`` of `NamedFormulation`.

    Examples
    --------
    >>> above(0.1)(np.array([[2.0, 1.0]]))[0].T
    array([[0.4, 0.2]])
    >>> above(3.0)(np.array([[2.0, 1.0]]))
    (array([[0.],
           [0.]]), 0)
    """

    def inverse(A: Array, **_: Any) -> tuple[Array, int]:
        square = float((A * A).sum())
        return (A.T / square, 1) if square >= epsilon**2 else (0.0 * A.T, 0)

    return inverse


# -- closed forms and condition numbers ---------------------------------------------------------------------------


def closed_forms(count: int = 200, mass: float = 1.3, length: float = 0.7) -> ResultTable:
    """Table of the closed forms of section 8 against computed ones, on both sides of the singular configuration."""
    plant = slider_crank(mass=mass, length=length)
    inertia, off = mass * length**2, {}

    def compare(what: str, found: Any, printed: Any) -> None:
        off[what] = max(off.get(what, 0.0), float(np.abs(np.subtract(found, printed)).max()))

    for q1 in np.linspace(0.1, 3.0, count):
        terms = plant.terms([q1, 2.0 * np.pi - 2.0 * q1], 1.7 * ALONG)
        c2, gamma = np.cos(2.0 * q1), inertia
        Mc = constraint_inertia(terms, "aghili-gamma", gamma)
        compare("singular value sqrt(5) l |c1| (m)", terms.singular_values[0], np.sqrt(5.0) * length * abs(np.cos(q1)))
        compare("P of (70), second case", terms.P, [[0.2, -0.4], [-0.4, 0.8]])
        compare("C v = 0 (rad/s2)", terms.Cv, 0.0)
        compare(
            "M_c'' of (71) (kg m2)", Mc, inertia * np.array([[1.0, (1.0 + c2) / 5.0], [0.0, (3.0 - 2.0 * c2) / 5.0]])
        )
        compare("its determinant (kg2 m4)", np.linalg.det(Mc), inertia**2 * (3.0 - 2.0 * c2) / 5.0)
    singular = plant.terms([0.5 * np.pi, np.pi], np.zeros(2))
    compare("at the singular configuration: P = I", singular.P, np.eye(2))
    for label, form in FORMS.items():
        compare(
            f"at the singular configuration: {label[: label.index(' ')]} = M (kg m2)",
            constraint_inertia(singular, form),
            singular.M,
        )
    return ResultTable(
        "Closed forms of section 8",
        ("printed", "largest difference"),
        list(off.items()),
        f"At {count} configurations, q1 from 0.1 to 3.0 rad, with m = {mass:g} kg and l = {length:g} m. The two cases "
        "of (70) are exchanged in print, and the determinant is printed for M_c', but is that of M_c''.",
    )


def condition_numbers(angles: Sequence[float]) -> dict[str, Array]:
    """Condition numbers of the matrices that the formulations solve with, along the motion; m = 1 kg, l = 1 m."""
    plant = slider_crank()
    found: dict[str, list[float]] = {}
    for q1 in angles:
        terms = plant.terms([q1, -2.0 * q1], np.zeros(2))
        matrices = {label: constraint_inertia(terms, form) for label, form in FORMS.items() if form != "aghili-gamma"}
        for label, gamma in (("m l^2", 1.0), ("|M|", None), ("best", "best")):
            matrices[f"M_c'' (29), gamma = {label}"] = constraint_inertia(terms, "aghili-gamma", gamma)
        matrices["KKT matrix"] = np.block([[terms.M, terms.A.T], [terms.A, np.zeros((1, 1))]])
        for label, matrix in matrices.items():
            found.setdefault(label, []).append(float(np.linalg.cond(matrix)))
    return {label: np.array(values) for label, values in found.items()}


def _condition_table() -> ResultTable:
    away = condition_numbers(np.linspace(0.1, 3.0, 301))
    near = condition_numbers([0.5 * np.pi - 1e-6])
    return ResultTable(
        "Condition numbers",
        ("matrix", "least", "largest", "1e-6 rad from the singular configuration"),
        [(label, values.min(), values.max(), near[label][0]) for label, values in away.items()],
        "q1 from 0.1 to 3.0 rad. The KKT matrix has the multiplier among its unknowns, which grows at the "
        "configuration.",
    )


# -- through the singular configuration ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Through:
    """A run through the singular configuration.

    Attributes
    ----------
    label : str
    time, q, v, u : ndarray
    evaluations, corrections : int
    epsilon : float
        Threshold of the singular value, m.
    """

    label: str
    time: Array
    q: Array
    v: Array
    u: Array
    evaluations: int
    corrections: int
    epsilon: float = EXACTLY

    @property
    def opening(self) -> Array:
        """Opening |Phi| of the loop at each time, m."""
        return np.abs(np.sin(self.q[:, 0]) + np.sin(self.q.sum(axis=1)))

    @property
    def rate(self) -> Array:
        """Rate |A v| across the loop at each time, m/s."""
        return np.abs(np.cos(self.q[:, 0]) * self.v[:, 0] + np.cos(self.q.sum(axis=1)) * self.v.sum(axis=1))

    @property
    def outside(self) -> NDArray[np.bool_]:
        """Mask of the times at which the crank's angle is outside of the window of (70), by 0.01 rad at least."""
        window = np.arcsin(min(self.epsilon / np.sqrt(5.0), 1.0))
        return np.abs(self.q[:, 0] - 0.5 * np.pi) > window + 0.01

    @property
    def branch(self) -> str:
        """Branch at the end of the run: "slides" for the slider, or "folded" for the rod on the crank."""
        sliding, folded = (abs(np.cos(angle) - 1.0) for angle in (self.q[-1] @ (2.0, 1.0), self.q[-1, 1] + np.pi))
        return "slides" if sliding < folded else "folded"


def _by_paper(
    label: str,
    start: Array,
    rate: Array,
    t_end: float,
    *,
    form: str,
    epsilon: float,
    every: int = 1,
    law: Any = None,
    step: float = STEP,
) -> Through:
    """Run by section 6: integrate (25), and correct q by (39) every few steps; not v, and nothing where A+ = 0."""
    plant, inverse = slider_crank(), above(epsilon)
    way = NamedFormulation(form, pseudoinverse=inverse)
    state = law.start(plant) if law is not None else None

    def effort(t: float, q: Array, v: Array) -> tuple[Any, Array]:
        terms = plant.terms(q, v, t)
        return terms, law(t, terms, state) if law is not None else np.zeros(plant.nu)

    def acceleration(t: float, q: Array, v: Array) -> Array:
        terms, u = effort(t, q, v)
        return way.acceleration(terms, terms.B @ u)

    def correct(k: int, q: Array, v: Array) -> tuple[Array, Array] | None:
        if k % every:
            return None
        before = q
        for _ in range(10):
            phi = plant.residual(q)
            back, rank = inverse(plant.jacobian(q))
            if abs(phi[0]) <= 1e-12 or rank == 0:
                break
            q = q - back @ phi
        return None if q is before else (q, v)

    run = march(acceleration, start, rate, t_end=t_end, step=step, correct=correct)
    u = np.array([effort(t, q, v)[1] for t, q, v in zip(run.time, run.q, run.v, strict=True)])
    return Through(label, run.time, run.q, run.v, u, run.evaluations, run.corrected.size, epsilon)


def _threshold(epsilon: float) -> str:
    return f"epsilon {epsilon:g}" if epsilon > EXACTLY else "no threshold"


def _steps(every: int) -> str:
    return "step" if every == 1 else f"{every} steps"


def _simulated(label: str, run: Simulation) -> Through:
    attrs = run.data.attrs
    projections = int(attrs["steps"]) // int(attrs.get("project_every", 1))
    return Through(label, run.time, run.q.values, run.v.values, run.u.values, int(attrs["evaluations"]), projections)


def free(quick: bool = False, told: Callable[..., None] = lambda *_: None) -> tuple[list[Through], ResultTable]:
    """Runs, and their table, through the singular configuration at 6 rad/s without a motor: effect of the threshold."""
    from scipy.integrate import solve_ivp

    start, rate = np.array([0.6, -1.2]), SPEED * ALONG

    def exact(t: float, s: Array) -> tuple[float, float]:  # the one degree of freedom that there is, by virtual work
        q, v = s
        return v, -(2.0 * np.sin(2.0 * q) * v**2 + 9.81 * np.cos(q)) / (3.0 - 2.0 * np.cos(2.0 * q))

    end = solve_ivp(exact, (0.0, FREE_END), (0.6, SPEED), method="DOP853", rtol=1e-13, atol=1e-13).y[0, -1]
    cases = [("M_c' (28)", EXACTLY, 1), ("M_c' (28)", 0.05, 1), ("M_c' (28)", 0.2, 1)]
    if not quick:
        cases += [(name, 0.2, 1) for name in ("M_c (23)", "M_c'' (29)")]
        cases += [("M_c' (28)", 0.2, every) for every in (10, 100)]
    runs = []

    def row(r: Through) -> tuple[Cell, ...]:
        return r.label, r.evaluations, r.corrections, abs(r.q[-1, 0] - end), r.opening.max(), r.rate.max()

    for k, (name, epsilon, every) in enumerate(cases, 1):
        label = f"{name}, {_threshold(epsilon)}, (39) every {_steps(every)}"
        runs.append(_by_paper(label, start, rate, FREE_END, form=FORMS[name], epsilon=epsilon, every=every))
        told(k / (len(cases) + 1), dict(zip(_FREE, row(runs[-1]), strict=True)))
    run = simulate(slider_crank(), q0=start, v0=rate, t_end=FREE_END, output_times=STEP)
    runs.append(_simulated("default", run))
    if not quick:
        way = settings(formulation="aghili-symmetric", every=10)
        run = simulate(slider_crank(), q0=start, v0=rate, t_end=FREE_END, output_times=STEP, **way)
        runs.append(_simulated("simulate, M_c' (28), every=10", run))
    table = ResultTable(
        f"Without a motor, from q1 = 0.6 rad at {SPEED:g} rad/s, {FREE_END:g} s",
        _FREE,
        [row(r) for r in runs],
        "Against the equation of the one degree of freedom. Off the window nothing drifts, since admissible velocities "
        "are the multiples of (1, -2) everywhere and Runge-Kutta methods keep linear constraints; so (39) has nothing "
        "to do there.",
    )
    return runs, table


_FREE = ("method", "evaluations", "corrections", "error of q1 at the end (rad)", "|Phi| (m)", "|A v| (m/s)")
_DRIVEN = (
    "method",
    "evaluations",
    "corrections",
    "tracking error (rad)",
    "torque off virtual work (N m)",
    "|Phi| (m)",
    "|A v| (m/s)",
    "after the singular configuration",
)


def closed_loop(quick: bool = False, told: Callable[..., None] = lambda *_: None) -> tuple[list[Through], ResultTable]:
    """Runs, and their table, of tracking through the singular configuration, by laws with and without the threshold."""
    start, rest, t_end = np.array([0.6, -1.2]), np.zeros(2), 1.3 if quick else T_END
    cases = [(EXACTLY, None, 1), (0.2, 0.2, 1)]
    if not quick:
        cases += [(0.01, 0.01, 1), (0.05, 0.05, 1), (0.2, 0.2, 10), (0.2, 0.2, 100), (0.01, None, 1), (0.2, None, 1)]
    runs: list[Through | str] = []
    for k, (epsilon, of_law, every) in enumerate(cases, 1):
        where = "" if of_law or epsilon == EXACTLY else " in the model alone"
        label = f"{BY_DEFAULT}{_threshold(epsilon)}{where}, (39) every {_steps(every)}"
        try:
            with np.errstate(all="ignore"):  # a run that leaves the branch may run away
                runs.append(
                    _by_paper(
                        label, start, rest, t_end, form="aghili-symmetric", epsilon=epsilon, every=every,
                        law=_law(of_law), step=2.0 * STEP if quick else STEP,
                    )
                )  # fmt: skip
        except ModelError:
            runs.append(label)
        told(k / (len(cases) + 1), dict(zip(_DRIVEN, _tracked(runs[-1]), strict=True)))
    run = simulate(slider_crank(), _law(None), start, t_end=t_end, output_times=STEP)
    runs.append(_simulated("default", run))
    table = ResultTable(
        f"Closed loop over {t_end:g} s",
        _DRIVEN,
        [_tracked(r) for r in runs],
        "Projected inverse dynamics (45), (46) with the motor on the crank alone (62), a quintic from 0.6 to 2.5 rad "
        "in 2 s, G_P = 64/s2, G_D = 16/s. Torques are compared outside of the window of the threshold. Where the model "
        "drops the loop and the law does not know, the machine leaves the window on the branch with the rod folded.",
    )
    return [r for r in runs if isinstance(r, Through)], table


def _law(epsilon: float | None) -> PassiveJoints:
    motion = ProjectedInverseDynamics(slider_crank(), "q1", PATH, bandwidth=8.0)
    return PassiveJoints(motion, epsilon=epsilon)


def virtual_work(times: Array) -> tuple[Array, Array]:
    """Angle and torque of the crank on the path, by virtual work along (1, -2), m = 1 kg and l = 1 m.

    u = I q1'' + I'/2 q1'^2 + g cos q1, with I = 3 - 2 cos 2 q1.
    """
    q, v, a = (np.array(x)[:, 0] for x in zip(*map(PATH, times), strict=True))
    return q, (3.0 - 2.0 * np.cos(2.0 * q)) * a + 2.0 * np.sin(2.0 * q) * v**2 + 9.81 * np.cos(q)


def _tracked(run: Through | str) -> tuple[Cell, ...]:
    if isinstance(run, str):
        return (run, *[None] * 6, "runs away")
    angle, torque = virtual_work(run.time)
    off = np.abs(run.u[:, 0] - torque)[run.outside]
    return (
        run.label,
        run.evaluations,
        run.corrections,
        np.abs(run.q[:, 0] - angle).max(),
        off.max(),
        run.opening.max(),
        run.rate.max(),
        run.branch,
    )


# -- experiment ---------------------------------------------------------------------------------------------------


def slider_crank_experiment(quick: bool = False, progress: Progress = False) -> Report:
    """Report of the whole experiment: closed forms, condition numbers, runs without a motor and in closed loop."""
    with Reporter(progress, "slider-crank") as report:
        coasting, coasted = free(quick, lambda x, *done: report.update(0.3 * x, *done))
        driven, tracked = closed_loop(quick, lambda x, *done: report.update(0.3 + 0.7 * x, *done))
    ours, exact = driven[-1], driven[0]
    return Report(
        "Aghili's slider-crank",
        SOURCE,
        (closed_forms(), _condition_table(), coasted, tracked),
        {
            "condition-numbers": _draw_conditions,
            "closed-loop": lambda: _draw_closed_loop(driven),
            "free": lambda: _draw_free(coasting),
        },
        (
            "Section 8 prints matrices in closed form, but no results, gains or path: m = 1 kg, l = 1 m, 9.81 m/s2, "
            "the motor on the crank, a quintic path, G_P = 64/s2, G_D = 16/s, epsilon from 0.01 to 0.2 m.",
            "The integrator is not named: the classical Runge-Kutta method, 1 ms (2 ms in the quick run). (39) brings "
            "back q alone, to 1e-12 m, and does nothing where A+ = 0.",
            "(70) is taken with its two cases exchanged: the loop is dropped inside of the window.",
        ),
        {
            "tracking error: default, rad": tracked.rows[-1][3],
            "tracking error: no threshold, rad": tracked.rows[0][3],
            "tracking error: epsilon 0.2, rad": tracked.rows[1][3],
            "torque off virtual work: default, N m": tracked.rows[-1][4],
            "opening: default, m": ours.opening.max(),
            "opening: no threshold, m": exact.opening.max(),
            "error without a motor: default, rad": next(row[3] for row in coasted.rows if row[0] == "default"),
            "branches": [row[-1] for row in tracked.rows],
        },
    )


# -- figures ------------------------------------------------------------------------------------------------------


def _draw_conditions() -> Figure:
    """Figure of the condition numbers over the crank's angle."""
    from ..plot.style import FAINT, INK, LABEL, beside, dress, panels, styles

    angles = np.linspace(0.1, 3.0, 601)
    figure, (ax,) = panels(None, 1, 3.0)
    found = condition_numbers(angles)
    for (label, values), style in zip(found.items(), styles(len(found)), strict=True):
        ax.plot(angles, values, linewidth=1.3, label=label, **style)
    line = ax.axvline(0.5 * np.pi, color=FAINT, linewidth=0.8, zorder=0.5, label="singular configuration")
    dress(ax, "condition number", log=True)
    ax.set_xlabel("angle of the crank (rad)", fontsize=LABEL, color=INK)
    ax.set_xlim(angles[0], angles[-1])
    beside(ax, [line])
    return figure


def _short(run: Through) -> str:
    """Short label of a run for a legend."""
    return run.label.removeprefix(BY_DEFAULT).removesuffix(", (39) every step").replace("in the model", "model")


_ROUNDING = 1e-14  # m, m/s and rad: some tens of roundings of a crank of a metre that turns by radians a second


def _draw_closed_loop(runs: Sequence[Through]) -> Figure:
    """Figure of angles, tracking error, torque and opening of the loop."""
    from ..plot.style import INK, above_rounding, beside, dress, panels, styles, time_axis

    chosen = [r for r in runs if r.label.endswith(("step", "default")) and r.epsilon != 0.05]
    figure, axes = panels(None, 4, 1.9)
    time = runs[-1].time
    angle, torque = virtual_work(time)
    for run, style in zip(chosen, styles(len(chosen)), strict=True):
        shown = dict(linewidth=1.2, **style)
        axes[0].plot(run.time, run.q[:, 0], label=_short(run), **shown)
        error = np.abs(run.q[:, 0] - virtual_work(run.time)[0])
        axes[1].plot(run.time, error, **shown)
        axes[2].plot(run.time, run.u[:, 0], **shown)
        axes[3].plot(run.time, run.opening, **shown)
    axes[0].plot(time, angle, color=INK, linewidth=0.9, dashes=(4, 3), label="reference")
    axes[2].plot(time, torque, color=INK, linewidth=0.9, dashes=(4, 3), label="virtual work")
    dress(axes[0], "angle of the crank (rad)")
    dress(axes[1], "tracking error (rad)")
    dress(axes[2], "torque (N m)")
    room = 0.3 * np.ptp(torque)
    axes[2].set_ylim(torque.min() - room, torque.max() + room)
    axes[0].set_ylim(0.0, 3.2)
    dress(axes[3], "|Phi| (m)")
    for ax in (axes[1], axes[3]):
        above_rounding(ax, _ROUNDING)
    beside(axes[0])
    beside(axes[2])
    time_axis(axes, time)
    return figure


def _draw_free(runs: Sequence[Through]) -> Figure:
    """Figure of the opening of the loop, and of its rate, without a motor."""
    from ..plot.style import above_rounding, beside, dress, panels, styles, time_axis

    chosen = [r for r in runs if r.label == "default" or r.label.startswith(BY_DEFAULT)]
    figure, axes = panels(None, 2, 2.2)
    for run, style in zip(chosen, styles(len(chosen)), strict=True):
        for ax, y in zip(axes, (run.opening, run.rate), strict=True):
            ax.plot(run.time, y, linewidth=1.1, label=_short(run), **style)
    for ax, label in zip(axes, ("|Phi| (m)", "|A v| (m/s)"), strict=True):
        dress(ax, label)
        above_rounding(ax, _ROUNDING)
    beside(axes[0])
    time_axis(axes, runs[0].time)
    return figure
