"""Frequency response of a loop as it is, measured in simulated runs, beside that of its linear model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._progress import Progress
from ..controllers.closed_loop import ClosedLoop, Entrance, linearize_closed_loop
from ..controllers.controller import Controller, as_controller, start_of
from ..controllers.resting import Guess
from ..errors import InputError, InputTypeError, SimulationError, SpeedWarning
from ..linear.linearize import affine_approximation
from ..linear.sampled import frequencies
from ..linear.signals import FrameMotion
from ..model.mechanism import Mechanism
from ..model.parameters import parameters
from ..model.plant import Plant
from ..sim.result import Simulation
from ..sim.simulate import simulate
from .case import identity
from .excitation import BegunDrive, Excitation, ExcitedLaw, ShiftedReference, Tones, multisine_record, sine_record
from .study import Study, study

if TYPE_CHECKING:
    import control
    import pandas
    import xarray
    from matplotlib.figure import Figure

__all__ = ["FrequencyResponse", "frequency_response"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

# What a default excitation moves: of sizes of the machine, and of the rate within which dry friction is smooth. What is
# not linear leaves the square of it, 1e-9 and 1e-7. Efforts enter linearly as long as limits are far.
_SMALL, _OF_DRY, _OF_LIMITS = 3e-5, 3e-4, 0.05
_RTOL, _ATOL = 1e-12, 1e-14  # of a step
_SETTLED = 1e-7  # of the excursion of an output: what a transient may leave
_ROUNDED = 1e-12  # of sizes of the machine (1/s): what integration and rounding leave of positions and rates
# Of the largest of its unit: an output that answers less, as by symmetry, is compared with that part; one that answers
# less than what rounding leaves of a small motion answers nothing.
_LEAST, _NOTHING = 1e-4, 1e-9
_LONGER = 1.6  # times what a single pole needs: poles that are near to one another take longer
_LONGEST = 64  # times what the slowest pole needs
_POINTS = 25  # frequencies that are chosen


def frequency_response(
    plant: Plant,
    law: Any,
    q0: Guess = None,
    *,
    between: tuple[str, str | Sequence[str]],
    omega: ArrayLike | None = None,
    excitation: str = "sine",
    phases: str = "schroeder",
    seed: int = 0,
    amplitude: float | Sequence[float] | Callable[[float], float] | None = None,
    periods: int = 4,
    tolerance: float = _SETTLED,
    linear: ClosedLoop | None = None,
    workers: Any = "all",
    folder: str | Path | None = None,
    progress: Progress = False,
    **options: Any,
) -> FrequencyResponse:
    """Measure a frequency response of a plant under a law in simulated runs, beside that of the linear model.

    Every run begins where the loop rests, is excited by sines that fit into a record exactly, and goes on until records
    are the same. It is the time loop of `simulate`, with friction, stops, limits, samples and delays as they are.

    Parameters
    ----------
    plant : Plant
    law : Controller
        Continuous or sampled. Its reference stands at what it says at time zero.
    q0 : OperatingPoint, RestingLoop, array_like (nq,) or mapping, optional
        Where the search for the rest begins, as in `linearize_closed_loop`.
    between : (str, str or sequence of str)
        Input and outputs, by the names of a `ClosedLoop`. Inputs: ``<coordinate>_ref`` (``_rate_ref``,
        ``_acceleration_ref``), ``<actuator>_disturbance``, loads of the plant; and inside of the loop
        ``<actuator>_command``, added to what the law asks for, and ``<state>_measurement``, to what it reads. Outputs:
        coordinates, rates, frames, forces, and ``<actuator>_effort``, for which the law asks.
    omega : array_like, optional
        Frequencies, rad/s; defaults to 25 around the poles. Those of a sampled law, and of a multisine, are moved to
        the nearest ones that fit into a whole number of samples, or records: the result has those.
    excitation : {"sine", "multisine", "chirp"}
        A run for each frequency; or one run for all: odd lines of a record that is a period of the lowest frequency.
        ``chirp`` has all odd lines up to the highest, in the phases of a sweep.
    phases : {"schroeder", "random"}
        Phases of a multisine, for a small peak, or random by `seed`.
    amplitude : float, sequence of float, or callable, optional
        Amplitude of each sine in the unit of the input; several are a sweep; or a function of omega. By default
        the machine moves by 3e-5 of its size, by 3e-4 of the rate within which dry friction is smooth, and efforts
        by a twentieth of what is left to their limits (all sines of a multisine together).
    periods : int
        Records that are averaged, two or more; how they differ is the noise.
    tolerance : float
        Of the excursion of an output, what a transient may leave. With noise no records are the same: give more than
        it, as 1.0, and many periods.
    linear : ClosedLoop, optional
        Linear model, with the input and the outputs. By default that of `linearize_closed_loop`; give one where the law
        has none, as with an `Encoder`: ``linearize_closed_loop(plant, chain.without(Encoder), ...)``.
    workers, folder, progress
        As of `study`: on all cores; where rows are kept, so that the same call goes on; a progress bar.
    **options
        Arguments of `simulate`, such as ``method``, ``friction``. By default ``rtol=1e-12, atol=1e-14``.

    Returns
    -------
    FrequencyResponse

    Raises
    ------
    SimulationError
        Where a run ends early, or does not settle: it has the numbers.
    ValueError
        For unknown names, frequencies that do not fit, a loop that is not stable.

    Notes
    -----
    Errors are relative to the response. A transient leaves 1e-7 of the excursion at most; frequencies fit into records,
    so that nothing leaks; tolerances, output between steps and rounding leave 1e-9 at the default amplitude. So what is
    not linear limits the agreement, with the square of the amplitude; ``distortion`` is its share at lines that are
    not excited.

    References
    ----------
    R. Pintelon and J. Schoukens, System Identification: A Frequency Domain Approach, 2nd ed., Wiley, 2012, chapters
    3-5.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.controllers import ProjectedInverseDynamics
    >>> plant = plants.five_bar()
    >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
    >>> found = frequency_response(plant, law, between=("left_ref", "left"), omega=[2.0, 8.0], workers=1)
    >>> bool((found.deviation() < 1e-6).all()), bool((found.data.coherence > 0.99).all())
    (True, True)
    """
    _check.plant(plant)
    source, names = _between(plant, between)
    kind = _check.option(excitation, ("sine", "multisine", "chirp"), "excitation")
    _check.option(phases, ("schroeder", "random"), "phases")
    periods, tolerance = _check.count(periods, "periods", 2), _check.positive(tolerance, "tolerance")
    for name in ("t_end", "output_times", "loads", "v0", "controller", "q0"):
        if name in options:
            raise InputTypeError(f"{name}= follows from the excitation; leave it out")
    law = as_controller(law, plant)
    loop = _linear_model(plant, law, q0, source, names) if linear is None else _given_model(linear, law, names)
    entrance = loop.entrance(source)
    slowest = _slowest(loop)
    wanted = _around_the_poles(loop) if omega is None else frequencies(omega)
    if not (np.diff(wanted) > 0.0).all() or wanted[0] <= 0.0:
        raise InputError(f"omega must be above zero and increase, rad/s, got {wanted.tolist()[:8]}")
    if kind == "sine":
        records = [sine_record(float(w), law.period) for w in wanted]
    else:
        records = [multisine_record(wanted, law.period, "chirp" if kind == "chirp" else phases, int(seed))]
    at = np.concatenate([record.omega for record in records])
    levels = _levels(amplitude, loop, entrance, at, len(records) == 1)
    parts = [record.lines.size for record in records]
    runs = [
        (record, level)
        for row in levels
        for record, level in zip(records, np.split(row, np.cumsum(parts)[:-1]), strict=True)
    ]
    options = {"rtol": _RTOL, "atol": _ATOL} | options if not _has_tolerances(options) else options
    case = _Experiment(plant, law, loop, entrance, names, runs, periods, slowest, tolerance, options)
    case.require_possible()
    found = study(
        case, {"excitation": list(range(len(runs)))}, workers=1 if len(runs) == 1 else workers, folder=folder,
        progress=progress,
    )  # fmt: skip
    return FrequencyResponse(_dataset(found, case, at, levels, wanted if kind == "sine" else at), kind)


def _between(plant: Plant, given: Any) -> tuple[str, tuple[Any, ...]]:
    pair = _check.sequence(given, "between", "the name of an input, and of outputs")
    if len(pair) != 2:
        raise InputError(f"between must be (input, outputs), got {len(pair)} parts: {_check.shown(given)}")
    names = (pair[1],) if isinstance(pair[1], (str, FrameMotion)) else _check.sequence(pair[1], "between", "outputs")
    efforts = [f"{n}_effort" for n in plant.actuator_names]
    ordered = sorted(names, key=lambda name: name in efforts)  # as linear models have them
    return _check.text(pair[0], "the input of between"), tuple(ordered)


def _has_tolerances(options: Mapping[str, Any]) -> bool:
    return not {"rtol", "atol"}.isdisjoint(options) or not isinstance(options.get("method", ""), str)


def _linear_model(plant: Plant, law: Controller, q0: Guess, source: str, names: Sequence[Any]) -> ClosedLoop:
    loads = [*(load.name for load in getattr(plant, "loads", ())), *getattr(plant, "load_names", ())]
    return linearize_closed_loop(plant, law, q0, outputs=names, disturbances=(source,) if source in loads else ())


def _given_model(linear: Any, law: Controller, names: Sequence[Any]) -> ClosedLoop:
    loop: ClosedLoop = _check.instance(linear, ClosedLoop, "linear", "from linearize_closed_loop")
    if (law.period or 0.0) != loop.dt:
        raise InputError(f"linear has the sample time {loop.dt:g} s, and the law {law.name} {law.period or 0.0:g} s")
    if loop.outputs != tuple(names):
        raise InputError(f"linear has the outputs {loop.outputs}, and between names {tuple(names)}; give both the same")
    return loop


def _slowest(loop: ClosedLoop) -> float:
    """Rate at which transients die out, 1/s: that of the slowest pole."""
    if not loop.stable:
        poles = ", ".join(f"{x:.4g}" for x in loop.continuous_poles() if x.real > -1e-9)
        raise InputError(
            f"{loop.name} is not stable at rest (poles at {poles} 1/s), so that no response to a sine settles; choose "
            "other gains, or a law that holds all coordinates"
        )
    return float(-loop.continuous_poles().real.max(initial=-np.inf))


def _around_the_poles(loop: ClosedLoop) -> Array:
    sizes = np.abs(loop.continuous_poles())
    sizes = sizes[np.isfinite(sizes) & (sizes > 0.0)]
    low, high = 0.2 * sizes.min(initial=1.0), 5.0 * sizes.max(initial=1.0)
    high = min(high, 1e3 * low, 0.8 * np.pi / loop.dt if loop.dt else np.inf)
    return np.geomspace(min(low, 0.1 * high), high, _POINTS)


def _responses(loop: ClosedLoop, entrance: Entrance, omega: Array) -> tuple[Complex, Complex]:
    """Responses of the states (frequencies, n) and of the efforts that the law asks for (frequencies, nu)."""
    z = np.exp(1j * omega * loop.dt) if loop.dt else 1j * omega
    X = np.linalg.solve(z[:, None, None] * np.eye(len(loop.A)) - loop.A, entrance.B[:, None].astype(complex))[..., 0]
    return X.astype(complex), X @ loop._parts.effort.T + entrance.effort


def _levels(given: Any, loop: ClosedLoop, entrance: Entrance, omega: Array, together: bool) -> Array:
    """Amplitudes (levels, frequencies)."""
    if given is None:
        values = _small(loop, entrance, omega)
        return np.full((1, omega.size), values.min() / np.sqrt(omega.size)) if together else values[None]
    if callable(given):
        return np.array([[_check.positive(given(float(w)), f"the amplitude at {w:.6g} rad/s") for w in omega]])
    values = np.atleast_1d(_check.numbers(given, "amplitude", "a number, some for a sweep, or a function of omega"))
    values = np.array([_check.positive(x, "the amplitude") for x in values.ravel()])
    return np.outer(values, np.ones(omega.size))


def _scales(loop: ClosedLoop, entrance: Entrance, omega: Array) -> Array:
    """Largest linear responses (frequencies, outputs) in the unit of each output: of outputs, states, and efforts."""
    X, efforts = _responses(loop, entrance, omega)
    n = len(loop.plant.states)
    responses = np.abs(np.hstack([X @ loop.C.T + entrance.D, X[:, :n], efforts]))
    units = np.array([*loop.output_units, *loop.plant.state_units, *loop.plant.input_units])
    return np.array([responses[:, units == unit].max(axis=1) for unit in loop.output_units]).T


def _moved(loop: ClosedLoop, X: Complex) -> tuple[Array, Array]:
    """Displacements (frequencies,) in sizes of the machine, and the largest rates, for responses X of the states."""
    K = np.asarray(loop.plant.K)
    parts = (X[:, : K.shape[1]], X[:, K.shape[1] : 2 * K.shape[1]])
    scales = loop.plant.point.plant.displacement_scale, 1.0  # type: ignore[union-attr]
    moved, rates = ((np.abs(x @ K.T) / scale).max(axis=1, initial=0.0) for x, scale in zip(parts, scales, strict=True))
    return moved, rates


def _small(loop: ClosedLoop, entrance: Entrance, omega: Array) -> Array:
    """Default amplitudes (frequencies,), small against sizes, limits and the width of dry friction."""
    plant: Any = loop.plant.point.plant
    X, efforts = _responses(loop, entrance, omega)
    moved, rates = _moved(loop, X)
    limits = getattr(plant, "effort", np.full(plant.nu, np.inf))
    left = np.maximum(limits - np.abs(loop.point.u), 1e-3 * limits)
    dry = min((x for f in getattr(plant, "forces", ()) if (x := getattr(f, "dry_rate", 0.0)) > 0.0), default=np.inf)
    asked = (np.abs(efforts) / left).max(axis=1, initial=0.0) * (_SMALL / _OF_LIMITS)
    most = np.max([moved, rates / dry * (_SMALL / _OF_DRY), asked, _told(plant, entrance.name, omega)], axis=0)
    if not (most > 0.0).all():
        raise InputError(f"{entrance.name} moves nothing of {loop.name}; give another input")
    return _SMALL / most


def _told(plant: Any, name: str, omega: Array) -> Array:
    """What one unit of a reference or reading is as a displacement in sizes of the machine (frequencies,)."""
    name, order = name.removesuffix("_ref").removesuffix("_measurement"), 0
    for suffix, times in (("_rate", 1), ("_acceleration", 2)):
        if name.endswith(suffix):
            name, order = name.removesuffix(suffix), times
    if name not in plant.velocity_names:
        return np.zeros(omega.size)
    return omega**-order / plant.displacement_scale[plant.index(name)]


@dataclass(frozen=True, eq=False)
class _Experiment:
    """Case of a study: the run of one excitation, to the numbers of its response."""

    plant: Plant
    law: Controller
    loop: ClosedLoop
    entrance: Entrance
    items: tuple[Any, ...]
    runs: list[tuple[Excitation, Array]]
    periods: int
    slowest: float
    tolerance: float
    options: dict[str, Any]

    def described(self) -> str:
        """Text with everything that distinguishes this case from others."""
        numbers = {n: x.value for n, x in parameters(self.plant).items()} if isinstance(self.plant, Mechanism) else {}
        law = identity(self.law.function) if hasattr(self.law, "function") else repr(self.law)
        runs = [(r.lines.tolist(), r.phases.tolist(), r.points, r.spacing, a.tolist()) for r, a in self.runs]
        names = self.entrance.name, self.items, self.periods, self.slowest, self.tolerance, self.loop.A.tolist()
        return f"{self.plant.name} {numbers} {law} {names} {runs} {sorted(self.options.items())}"

    def require_possible(self) -> None:
        """Raise an error for an excitation that the run would hold otherwise than the linear model, or cannot have."""
        name, law = self.entrance.name, self.law
        later = law.period is not None and (law.drive is not None or (law.delay is not None and np.any(law.delay)))
        if later and name.endswith("_disturbance"):
            raise InputError(
                f"{name} acts behind the delay or the drive of {law.name}; excite "
                f"{name.removesuffix('_disturbance')}_command before it, a reference, or a load"
            )
        wrench = name in self.loop.inputs and not name.endswith(("_ref", "_disturbance"))
        if wrench and name not in getattr(self.plant, "load_names", ()):
            raise InputError(f"{name} is no load of {self.plant.name!r}: give the machine a Load there")

    def __call__(self, excitation: int) -> dict[str, float]:
        """Numbers of the response, by output and line."""
        record, amplitude = self.runs[int(excitation)]
        tones = Tones(record.omega, amplitude, record.phases)
        law = self._excited(tones)
        enough = -_LONGER * np.log(min(self.tolerance, _SETTLED)) / self.slowest / record.length
        first = int(np.ceil(enough)) + max(self.periods, 3)
        count = first
        X = _responses(self.loop, self.entrance, record.omega)[0]
        moved = float(np.hypot.reduce(_moved(self.loop, X)[0] * amplitude))  # in sizes of the machine
        scale = np.hypot.reduce(_scales(self.loop, self.entrance, record.omega) * amplitude[:, None])
        while True:
            records = self.records(law, tones, record, count)
            left, allowed = _unsettled(records, self.periods, scale, self.tolerance, _ROUNDED / moved)
            if (left <= allowed).all():
                numbers = _line_numbers(records[-self.periods :], record, amplitude)
                return numbers | {"settled": count * record.length}
            if 2 * count > _LONGEST * first:
                break
            count *= 2
        k = int(np.argmax(left - allowed))
        raise SimulationError(
            f"the response to {self.entrance.name} does not settle: after {count} records ({count * record.length:.4g} "
            f"s, {count / first:g} times what the slowest pole needs) {self.loop.outputs[k]} still changes by "
            f"{left[k]:.3g} {self.loop.output_units[k]}, and {allowed[k]:.3g} is allowed, of an excursion of "
            f"{np.ptp(records[-1][:, k]) / 2.0:.3g}. Friction that sticks, limits, noise, or an oscillation of "
            "the loop itself do this: choose another amplitude, or a larger tolerance="
        )

    def _excited(self, tones: Tones) -> Controller:
        """Law with the excitation, which begins at rest."""
        loop, name, plant, law = self.loop, self.entrance.name, self.plant, self.law
        nu, motors = plant.nu, plant.actuator_names
        given: dict[str, Any] = {}
        if law.reference is not None:
            still = Tones(tones.omega, 0.0 * tones.amplitude, tones.phase)
            size = len(law.reference(0.0)[0])
            signals = loop.inputs[len(loop.inputs) - 3 * size :]
            own = name.endswith("_ref") and name in loop.inputs
            law = law.with_reference(
                ShiftedReference(law.reference, signals.index(name) if own else 0, tones if own else still)
            )
        motor = name.removesuffix("_command").removesuffix("_disturbance")
        if name.endswith(("_command", "_disturbance")) and motor in motors:
            given = {"tones": tones, "command": np.eye(nu)[motors.index(motor)]}
        elif name.endswith("_measurement"):
            model = loop.plant
            k, dof = model.states.index(name.removesuffix("_measurement")), model.K.shape[1]
            dq, dv = (model.K[:, k], model.N[:, k]) if k < dof else (np.zeros(plant.nv), model.K[:, k - dof])
            given = {"tones": tones, "plant": plant, "reading": (np.array(dq), np.array(dv))}
        rest = loop.rest
        start = rest.state if rest.state.size == start_of(law, plant).size else start_of(law, plant)
        drive = None if law.period is None else law.drive
        if drive is not None and rest.drive.size == start_of(drive, plant).size:
            drive = BegunDrive(drive, rest.drive)
        terms = plant.terms(rest.point.q, np.zeros(plant.nv))
        held = np.asarray(law(0.0, terms, start), dtype=np.float64) if law.delay is not None else rest.point.u
        return ExcitedLaw(law, start, held, drive, motors, **given)

    def _load(self, tones: Tones, t_end: float) -> dict[str, Any]:
        """Load that is the input, as a function of time; held for each sample where the law is sampled."""
        plant: Any = self.plant
        name, period = self.entrance.name, self.law.period
        if name not in getattr(plant, "load_names", ()):
            return {}
        base = float(plant.load_values().ravel()[plant.load_names.index(name)])
        if period is None:
            return {name: lambda t: base + float(tones(t))}
        times: Array = np.arange(round(t_end / period) + 1, dtype=np.float64) * period
        values = base + tones.over(times)[:, 0]
        return {name: (np.repeat(times, 2)[1:], np.repeat(values, 2)[:-1])}

    def records(self, law: Controller, tones: Tones, record: Excitation, count: int) -> Array:
        """Values (records, points, outputs) of a run of so many records: one early, one later, and the last ones."""
        shown = sorted({count // 3, 2 * count // 3, *range(count - self.periods, count)})
        points = (np.array(shown)[:, None] * record.points + np.arange(record.points)).ravel()
        t_end = count * record.length
        loads = self._load(tones, t_end)
        with warnings.catch_warnings():
            if loads:  # a law in continuous time runs in Python then, and nobody can change that here
                warnings.simplefilter("ignore", SpeedWarning)
            run = simulate(
                self.plant,
                law,
                self.loop.point.q,
                t_end=t_end,
                output_times=points * record.spacing,
                loads=loads or None,
                **self.options,
            )
        return self._outputs(run).reshape(len(shown), record.points, -1)

    def _outputs(self, run: Simulation) -> Array:
        """Values (times, outputs) of the outputs, as deviations from rest."""
        point, columns = self.loop.point, []
        for item in self.items:
            named = _column(run, self.plant, point.q, item)
            columns.append(self._by_state(run, item) if named is None else named[:, None])
        return np.hstack(columns)

    def _by_state(self, run: Simulation, item: Any) -> Array:
        """Values (times, k) of an output that is computed state by state: a frame, or a cut joint."""
        from ..linear.iosystem import output_values  # python-control, on which it rests, takes a second

        names = affine_approximation(self.plant, self.loop.point, outputs=[item]).outputs
        value = output_values(self.plant, self.loop.point.q, item, names)
        rows = zip(run.data["q"].values, run.data["v"].values, run.data["u"].values, strict=True)
        return np.array([value(*row) for row in rows])


def _column(run: Simulation, plant: Plant, q0: Array, name: Any) -> Array | None:
    """Values (times,) of an output that a run has; None for others."""
    data, rate = run.data, str(name).removesuffix("_rate")
    if not isinstance(name, str):
        return None
    if "quantity" in data.coords and name in [str(x) for x in data["quantity"].values]:
        return data["report"].sel(quantity=name).values
    if name in plant.velocity_names:
        k = plant.index(name)
        if plant.nq == plant.nv:
            return data["q"].values[:, k] - q0[k]
        return np.array([plant.difference(q0, q)[k] for q in data["q"].values])
    if rate in plant.velocity_names:
        return data["v"].values[:, plant.index(rate)]
    if name in plant.row_names:
        return data["multipliers"].values[:, plant.row_names.index(name)]
    pushed = name.removesuffix("_constraint_force")
    return data["constraint_force"].values[:, plant.index(pushed)] if pushed in plant.velocity_names else None


def _unsettled(records: Array, periods: int, scale: Array, tolerance: float, rounded: float) -> tuple[Array, Array]:
    """What is left of transients, and what may be left, of each output.

    Outputs of a unit move by `scale`, or less, and `rounded` is what rounding leaves of that.

    Records at a third, at two thirds, and at the end of the run differ by D1 and then by D2. A transient that dies out
    by r = D2/D1 in such a time leaves D2 r/(1 - r). The last records must not differ by more, either.
    """
    first, second, last = records[0], records[1], records[-1]
    before, after = (np.abs(x).max(axis=0) for x in (second - first, last - second))
    ratio = np.divide(after, before, out=np.ones_like(after), where=before > after)
    left = after * np.divide(ratio, 1.0 - ratio, out=np.ones_like(after), where=ratio < 1.0)
    spread = np.ptp(records[-periods:], axis=0).max(axis=0)
    size = np.maximum(np.ptp(last, axis=0) / 2.0, _LEAST * scale)
    allowed = np.maximum(tolerance * size, rounded * scale)
    return np.where(after <= 0.1 * allowed, 0.0, np.maximum(left, spread)), allowed


def _line_numbers(records: Array, record: Excitation, amplitude: Array) -> dict[str, float]:
    """Numbers of each output and line: response, noise and distortion, for one unit of the input."""
    spectra = np.fft.rfft(records, axis=1) * (2.0 / record.points)
    mean = spectra.mean(axis=0)
    found: dict[str, float] = {}
    noise = spectra.var(axis=0, ddof=1)
    quiet = np.abs(mean) ** 2
    others = np.setdiff1d(np.arange(1, len(mean)), record.lines)
    for j, (line, a, phase) in enumerate(zip(record.lines, amplitude, record.phases, strict=True)):
        unit = a * np.exp(1j * phase) / 1j  # sin(w t + phase), as cosines have it
        if record.lines.size == 1:
            strange = quiet[others].sum(axis=0)
        else:
            below, above = others[others < line][-1:], others[others > line][:1]
            strange = quiet[np.concatenate([below, above])].mean(axis=0)
        for i in range(records.shape[2]):
            G = mean[line, i] / unit
            values = G.real, G.imag, np.sqrt(noise[line, i]) / a, np.sqrt(strange[i]) / a
            found |= {f"{what}_{i}_{j}": float(x) for what, x in zip(_PARTS, values, strict=True)}
    return found


_PARTS = ("real", "imaginary", "noise", "distortion")


def _dataset(found: Study, case: _Experiment, omega: Array, levels: Array, wanted: Array) -> xarray.Dataset:
    """Result of all runs."""
    import xarray
    from scipy.stats import t as student

    rows = [found.rows[i] for i in range(len(case.runs))]
    for row, (record, _) in zip(rows, case.runs, strict=True):
        if row.status != "completed":
            raise SimulationError(
                f"{found.failures} of {len(rows)} runs of the frequency response failed; at {record.omega[0]:.6g} "
                f"rad/s: {row.message}"
            )
    loop, shape = case.loop, (len(levels), omega.size, len(case.loop.outputs))
    parts = {}
    for what in _PARTS:
        values = [
            [row.measures[f"{what}_{i}_{j}"] for i in range(shape[2])]
            for row, (record, _) in zip(rows, case.runs, strict=True)
            for j in range(record.lines.size)
        ]
        parts[what] = np.array(values).reshape(shape)
    response = parts["real"] + 1j * parts["imaginary"]
    power, noise, strange = np.abs(response) ** 2, parts["noise"] ** 2, parts["distortion"] ** 2
    whole = power + noise + strange
    settled = np.repeat([row.measures["settled"] for row in rows], [r.lines.size for r, _ in case.runs])
    dims = ("level", "frequency", "output")
    degrees = 2 * (case.periods - 1)
    X, scale = _responses(loop, case.entrance, omega)[0], _scales(loop, case.entrance, omega)
    highest = min(1.25 * omega[-1], np.pi / loop.dt if loop.dt else np.inf)
    fine = np.union1d(np.geomspace(0.8 * omega[0], highest, 300), omega)
    answers = (np.abs(response) > _NOTHING * scale) & (whole > 0.0)
    return xarray.Dataset(
        {
            "response": (dims, response),
            "linear": (dims[1:], X @ loop.C.T + case.entrance.D),
            "confidence": (dims, student.ppf(0.975, degrees) * parts["noise"] / np.sqrt(2.0 * case.periods)),
            "noise": (dims, parts["noise"]),
            "distortion": (dims, parts["distortion"]),
            "coherence": (dims, np.divide(power, whole, out=np.full(shape, np.nan), where=answers)),
            "scale": (dims[1:], scale),
            "linear_fine": (("fine", "output"), _responses(loop, case.entrance, fine)[0] @ loop.C.T + case.entrance.D),
            "amplitude": (dims[:2], levels, {"units": case.entrance.unit}),
            "settled": (dims[:2], settled.reshape(shape[:2]), {"units": "s"}),
        },
        {
            "omega": ("frequency", omega, {"units": "rad/s"}),
            "omega_fine": ("fine", fine, {"units": "rad/s"}),
            "wanted": ("frequency", wanted, {"units": "rad/s"}),
            "output": list(loop.outputs),
            "output_units": ("output", list(loop.output_units)),
        },
        {"name": loop.name, "input": case.entrance.name, "input_unit": case.entrance.unit, "period": loop.dt},
    )


class FrequencyResponse:
    """Measured frequency response of a loop, with that of its linear model; from `frequency_response`.

    Attributes
    ----------
    data : xarray.Dataset
        Dimensions level (of the amplitude), frequency and output. ``response`` and ``linear``, complex; ``confidence``,
        half the width of an interval of 95 % around the gain; ``noise``, deviation from record to record, and
        ``distortion``, size at lines that are not excited (all others for a sine, the nearest for a multisine), both
        for one unit of the input; ``coherence``, the share of the power that is neither of these, nan
        where an output answers nothing; ``scale``, the largest linear response in the unit of an output; ``amplitude``;
        ``settled``, length of the run, s; ``linear_fine`` at ``omega_fine``, for a curve; ``omega``,
        rad/s, and ``wanted``, as it was given.
    excitation : str
    """

    def __init__(self, data: xarray.Dataset, excitation: str) -> None:
        self.data, self.excitation = data, excitation

    @property
    def omega(self) -> Array:
        """Frequencies, rad/s."""
        return self.data["omega"].values

    def deviation(self) -> xarray.DataArray:
        """Distance of the measured from the linear response, relative to the latter (level, frequency, output).

        Outputs that answer a ten-thousandth of the largest response in their unit, or less, as by symmetry, are
        compared with that.
        """
        linear = self.data["linear"]
        size: Any = np.maximum(abs(linear), _LEAST * self.data["scale"])
        return abs(self.data["response"] - linear) / size.where(size > 0.0, 1.0)

    def loop(self) -> FrequencyResponse:
        """Loop transfer L at a motor: what returns for one unit of effort that goes on, as `ClosedLoop.loop`.

        For a response from ``<actuator>_command`` to ``<actuator>_effort``: with its response G, L = -G/(1 + G).

        Raises
        ------
        ValueError
            For another input, or without that output.
        """
        source = str(self.data.attrs["input"])
        motor = source.removesuffix("_command")
        effort = f"{motor}_effort"
        if motor == source or effort not in self.data["output"].values:
            raise InputError(
                "the loop at a motor is measured between=('<actuator>_command', '<actuator>_effort'), got "
                f"{source!r} to {[str(x) for x in self.data['output'].values]}"
            )
        data = self.data.sel(output=[effort])
        slope = abs(1.0 + data["response"]) ** -2.0
        changed = {name: -data[name] / (1.0 + data[name]) for name in ("response", "linear", "linear_fine")}
        changed |= {name: data[name] * slope for name in ("confidence", "noise", "distortion")}
        attrs = self.data.attrs | {"name": f"loop of {self.data.attrs['name']}", "input": motor}
        data = data.assign(changed).assign_coords(output=[f"{motor}_returned"])
        return FrequencyResponse(data.assign_attrs(attrs), self.excitation)

    def to_frd(self, level: int = 0, linear: bool = False) -> control.FrequencyResponseData:
        """Response at one level of the amplitude, or the linear one, for python-control, with named signals."""
        import control  # imported where used: it takes 1.1 s

        values = self.data["linear"] if linear else self.data["response"].isel(level=level)
        return control.frd(
            values.values.T[:, None, :],
            self.omega,
            name=str(self.data.attrs["name"]).replace(".", "_"),
            inputs=[str(self.data.attrs["input"])],
            outputs=[str(x) for x in self.data["output"].values],
        )

    def table(self) -> pandas.DataFrame:
        """Table with a row for each level, frequency and output: gain, phase in degrees, and all else."""
        data = self.data.drop_vars(["response", "linear", "linear_fine", "omega_fine"])
        for name in ("response", "linear"):
            prefix = "" if name == "response" else "linear_"
            data[f"{prefix}gain"] = abs(self.data[name])
            phase = self.data[name].copy(data=np.degrees(np.angle(self.data[name].values)))
            data[f"{prefix}phase"] = phase.assign_attrs(units="deg")
        return data.to_dataframe().reset_index()

    def plot(self, **options: Any) -> Figure:
        """Draw the measured over the linear response, with coherence; see `cmbcontrol.plot.measured_response`."""
        from ..plot import measured_response

        return measured_response(self, **options)

    def __str__(self) -> str:
        data = self.data
        moved = np.abs(data["omega"].values / data["wanted"].values - 1.0).max()
        lines = [
            f"{data.attrs['name']}, from {data.attrs['input']}, {self.excitation}, {self.omega.size} frequencies from "
            f"{self.omega[0]:.4g} to {self.omega[-1]:.4g} rad/s"
            + (f", moved by {moved:.1g} of them or less to fit" if moved > 1e-9 else ""),
            "  output                    amplitude            coherence  distortion  noise     from linear",
        ]
        away = self.deviation()
        for k in range(data.sizes["level"]):
            a = data["amplitude"].values[k]
            unit = data.attrs["input_unit"]
            span = f"{a.min():.3g}" if np.ptp(a) < 1e-9 * a.max() else f"{a.min():.2g}..{a.max():.2g}"
            for i, name in enumerate(data["output"].values):
                size = np.abs(data["response"].values[k, :, i]).max() or 1.0
                parts = (data[x].values[k, :, i].max() / size for x in ("distortion", "noise"))
                of_all = "".join(f"  {x:<9.2g}" for x in parts)
                least = np.nan_to_num(data["coherence"].values[k, :, i], nan=1.0).min()
                lines.append(
                    f"  {name!s:<24}  {f'{span} {unit}':<19}  {least:<9.6f}{of_all}  {float(away[k, :, i].max()):.2g}"
                )
        return "\n".join(lines)
