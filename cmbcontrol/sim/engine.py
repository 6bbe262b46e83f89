"""The compiled time loop and Python: one run of a plant, what the loop asks for, and what it answers."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .._interrupt import let_through
from .._jit import JIT_ENABLED, Callback, entry
from ..errors import AssemblyError, ModelError, RedundantRowsError, Status
from ..kernels import constrained, layout, loop, motion, passages, runge_kutta
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import Terms
from .control import LawFailed
from .integrators import ladder
from .path import NODES, path
from .run import AT_POSE, Met, Record, Run, Standing, spent
from .stabilisation import project_all_at_once

__all__ = ["Engine", "Method", "NotFinite"]

Array = NDArray[np.float64]

_CAPACITY, _PAST = 512, 12  # steps in a block of the record; those that the next block begins with
_ROOM = 256  # singular poses met in a block
_LOOK = 0.1  # s: about how often the loop looks at the keyboard


class NotFinite(Exception):
    """A state at which the equations of motion cannot be evaluated."""


class Method(Protocol):
    """A method of integration that is not compiled: it takes the steps, and the loop does all else.

    Attributes
    ----------
    projected : bool
        Whether its steps are projected as those of the loop are; else they stay on the closed loops by themselves.
    h : float
        Next step, s.
    rejections, evaluations : int
        Steps that were taken again, and evaluations that the engine has not counted.
    counts : dict
        What else is counted, by name.
    """

    projected: bool

    @property
    def h(self) -> float: ...
    @property
    def rejections(self) -> int: ...
    @property
    def evaluations(self) -> int: ...
    @property
    def counts(self) -> dict[str, int]: ...

    def __call__(self, t: float, x: Array, end: float) -> tuple[float, Array, Array]:
        """End, state and dense coefficients (7, nx) of the next step from (t, x), at most to `end`.

        (t, x) is where the last step has ended, unless that was projected, or is taken again.
        """

    def forget(self) -> None:
        """The efforts have changed."""

    def explain(self, error: Exception) -> tuple[Status, BaseException | None] | None:
        """How a run ends where a step raises this, and the error to tell; None where it is none of the method."""


class Engine:
    """A plant under a law, as the loop integrates it.

    The state is ``[q, v, work, dissipated, c]`` with the integrated states c of the law or its drive.

    Attributes
    ----------
    steps : kernels.loop.Steps
        The record of the last steps, and where the loop stands.
    """

    def __init__(self, run: Run, now: Standing) -> None:
        self.run, self.plant, self.control, self.watch = run, run.plant, run.control, run.watch
        self.stabilisation, self.formulation = run.stabilisation, run.formulation
        self.nq, self.nv = run.plant.nq, run.plant.nv
        functions = not isinstance(run.plant, Mechanism)
        self.model = stand_in(run.plant) if functions else run.plant.model
        self.work, self._slab, self._places = shared_work(self.model, self.nq)
        self._views = views(self._slab, self._places)
        nx, rows = now.x.size, self.model.rows.shape[0]
        self.exchange = motion.Exchange(
            q=self._views["q"],
            v=self._views["v"],
            x=np.zeros(nx),
            u=np.zeros(run.plant.nu),
            rate=np.zeros(nx - self.nq - self.nv - 2),
            force=np.zeros(self.nv),
            target=np.zeros(rows),
            held=np.zeros(rows),
            vdot=np.zeros(self.nv),
            moved=np.zeros(2 * self.nv),
            potential=np.zeros(1),
            closing=np.zeros(1, np.int64),
            evaluations=np.zeros(1, np.int64),
            rank=np.zeros(1, np.int64),
        )
        self._crossed = self._stopping = False
        self._met: Met | None = None
        self._raised: BaseException | None = None
        self._refused: Exception | None = None
        self._callback = Callback(self._answer)
        self.options = run.options._replace(
            nq=self.nq,
            nv=self.nv,
            ask=self._callback.address,
            functions=functions,
            law=not run.control.holds,
            projected=run.stabilisation.kind == "all-at-once",
        )
        self._constant = {
            "row_scale": run.plant.row_scale, "reach": run.plant.reach, "force_scale": run.plant.force_scale,
            "force": None, "row_names": run.plant.row_names, "absent": run.plant.absent,
        }  # fmt: skip
        self.method: Method | None = None
        n = self.nq + self.nv
        terms = run.plant.terms(now.x[: self.nq], now.x[self.nq : n])
        self.energy0 = terms.energy - now.x[n] + now.x[n + 1]
        if run.formulation is not None:
            self.formulation = run.formulation.at(terms)
            self.options = self.options._replace(formulated=True)
        if run.method == "auto":
            self.options = self.options._replace(ladder=run.control.period is not None)
        bound = self.formulation is not None and self.formulation.bound
        looked_at = self.watch is not None or bound or np.isfinite(run.meet_after)
        self.observers = run.observers if run.observers is not None and run.observers.needed else None
        if self.observers is not None:
            looked_at |= bool(self.observers.events)
        self.options = self.options._replace(looked_at=bool(looked_at))
        self._ended = ""

    # -- the loop ---------------------------------------------------------------------------------

    def go(self, record: Record, now: Standing, stop: float, method: Method | None = None) -> None:
        """Step on to a time, or to where something that is watched happens; by a method, or by those of the loop."""
        run, self.method = self.run, method
        tables = ladder(run.method if method is None else "dop853")  # of which another method uses none
        if method is not None:
            shown = self.options.looked_at or self.observers is not None
            self.options = self.options._replace(outside=True, looked_at=shown)
            if not method.projected:
                self.options = self.options._replace(stabilisation=motion.NONE)
        opt = self.options
        capacity = max(min(_CAPACITY, run.max_steps - now.taken), 1)
        self.steps = steps = new_steps(capacity + _PAST, tables, run.times, now.x.size, self.nq, run.plant.nu)
        self._stop = stop
        if self.observers is not None:
            steps.limits[:] = self.observers.limits
        steps.T[0], steps.X[0], steps.near[0] = now.t, now.x, 1.0
        steps.clock[loop.STEP :], steps.clock[loop.ENERGY], steps.clock[loop.ACROSS] = now.h, self.energy0, np.inf
        steps.clock[loop.NEXT], steps.clock[loop.AHEAD] = self.control.next, -np.inf
        steps.clock[loop.BEFORE], now.before, now.met = now.before, np.inf, None
        steps.command[:] = self.control.command
        steps.count[loop.TAKEN] = now.taken
        gaps = np.array([runge_kutta.widest_gap(table) for table in tables])
        arguments = (self.model, tables, gaps, opt, self.exchange, self.work, steps)
        advance = entry(loop.advance, *arguments, stop, 1)
        first, tries, reason, evaluations = 0, 8, loop.PAUSED, record.evaluations
        while reason in (loop.PAUSED, loop.EVENT):
            begin, tried = clock.perf_counter(), self._tried
            reason = advance(*arguments, self._stop, tries)
            tried = self._tried - tried
            wanted = int(tried * _LOOK / max(clock.perf_counter() - begin, 1e-9))
            tries = max(min(wanted, 8 * (tried + 1)), 1)
            n = int(steps.count[loop.LAST])
            now.t, now.x = float(steps.T[n]), steps.X[n].copy()
            now.h = float(steps.clock[loop.STEP + steps.count[loop.METHOD]])
            now.taken = int(steps.count[loop.TAKEN])
            try:
                run.report.update(now.t / run.t_end)
                let_through()
                if reason == loop.PAUSED:
                    reason = int(spent(run, now, self._stop)) or loop.PAUSED
            except BaseException:
                reason = loop.ERROR
                raise
            finally:
                full = n == capacity + _PAST or steps.count[loop.FOUND] > 0
                if full or reason not in (loop.PAUSED, loop.EVENT):
                    first = self._hand_over(record, first, n)
                    record.evaluations = evaluations + self.evaluations
                    record.rejections = int(steps.count[loop.REJECTIONS])
                    if method is not None:
                        record.evaluations += method.evaluations
                        record.rejections += method.rejections
                        record.counts = method.counts
        self._tell(record, now, reason)

    @property
    def _tried(self) -> int:
        return int(self.steps.count[loop.TAKEN] + self.steps.count[loop.REJECTIONS])

    def _hand_over(self, record: Record, first: int, n: int) -> int:
        """Give the steps from entry `first` on to the record; returns where the next ones begin."""
        steps = self.steps
        ends, new = slice(first, n + 1), slice(first, n)
        record.append(steps.T[ends], steps.X[ends], steps.F[new], steps.U[new])
        record.passages += map(tuple, steps.found[: steps.count[loop.FOUND]].tolist())
        steps.count[loop.FOUND] = 0
        gone = max(n - _PAST, 0)
        for array in (steps.T, steps.X, steps.near):
            array[: n - gone + 1] = array[gone : n + 1].copy()
        for array in (steps.F, steps.U):
            array[: n - gone] = array[gone:n].copy()
        steps.count[loop.LAST] = n - gone
        steps.count[loop.SINCE] = max(steps.count[loop.SINCE] - gone, 0)
        return n - gone

    def _tell(self, record: Record, now: Standing, reason: int) -> None:
        """How the loop ended, for the record; raise what a law, or a watch, has raised."""
        now.stopped = self._crossed and reason == loop.COMPLETED
        now.met = self._met if reason == loop.COMPLETED else None
        if self._ended and reason == loop.COMPLETED:
            record.status, record.where = Status.EVENT, self._ended
            return
        if reason == loop.COMPLETED and not self._stopping:
            near = float(motion.closeness_at(self.model, self.options, self.exchange, self.work, now.t, now.x))
            if near < min(float(self.steps.clock[loop.BEFORE]), passages.MET):
                record.passages.append((now.t, near))
        if reason == loop.ERROR or self._stopping:
            known = None
            if isinstance(self._raised, RedundantRowsError):
                known = Status.FORMULATION, self._raised
            elif self.method is not None and isinstance(self._raised, Exception):
                known = self.method.explain(self._raised)
            if known is not None:
                record.status, record.error = known
            elif self._raised is not None:
                raise self._raised
        elif reason in (loop.NOT_FINITE, loop.PROJECTION) and isinstance(self._refused, ModelError):
            record.status = Status.PROJECTION if isinstance(self._refused, AssemblyError) else Status.FAILED
            record.error = None if isinstance(self._refused, AssemblyError) else self._refused
        else:
            record.status = Status(reason)

    # -- answers ----------------------------------------------------------------------------------

    def _answer(self, what: int, t: float) -> int:
        """Answer the loop; nothing may be raised through compiled code.

        What is to stop the run goes on to say so: not every question has an answer that ends the loop.
        """
        if self._stopping:
            return motion.STOPPED
        self._refused = None
        try:
            return self._answers[what](self, t) or 0
        except (LawFailed, RedundantRowsError) as error:
            self._raised = error
            return motion.RAISED
        except (ModelError, NotFinite) as error:
            self._refused = error
            if what in (motion.TERMS, motion.CLOSE, motion.LOOK, motion.ACCELERATION):
                return motion.REFUSED
            self._raised, self._stopping = error, True
            return motion.STOPPED
        except BaseException as error:
            self._raised, self._stopping = error, True
            return motion.STOPPED

    def _terms_asked(self, t: float) -> None:
        """The functions of a plant, at a state."""
        onto = self.stabilisation.stages
        s, close = self.exchange, onto and bool(self.exchange.closing[0])
        terms = self.plant.terms(s.q.copy(), s.v.copy(), t, project=onto, close=close, cap=self.options.cap)
        for name, view in self._views.items():
            view[...] = getattr(terms, name)
        self.exchange.potential[0] = terms.potential

    def _pivots_asked(self, t: float) -> None:
        """What tells how near a pose is to a singular one."""
        q = self.exchange.x[: self.nq].copy()
        terms = self.plant.terms(q, np.zeros(self.nv), cap=self.options.cap)
        self._views["pivots"][:], self._views["phi"][:] = terms.pivots, terms.phi

    def _closed(self, t: float) -> None:
        """The state on the closed loops."""
        x, metric = self.exchange.x, self.stabilisation.metric
        energy = float(self.exchange.potential[0])
        q, v = x[: self.nq].copy(), x[self.nq : self.nq + self.nv].copy()
        if self.stabilisation.kind == "all-at-once":
            q, v = project_all_at_once(self.plant, q, v, energy if np.isfinite(energy) else None, metric=metric)
        else:
            q = self.plant.close(q, metric=metric, accuracy=1e-15)
            v = self.plant.project_velocity(q, v, metric=metric)
            if self.stabilisation.energy:
                v = v * self._factor(q, v, energy)
        x[: self.nq], x[self.nq : self.nq + self.nv] = q, v

    def _effort_asked(self, t: float) -> None:
        """The law in continuous time, or the drive behind a sampled one."""
        s, terms = self.exchange, self.terms_here(t)
        c = s.x[self.nq + self.nv + 2 :].copy()
        s.u[:] = self.control.effort(t, terms, c)
        s.rate[:] = self.control.rate(t, terms, c, s.u.copy())

    def _acceleration_asked(self, t: float) -> None:
        s = self.exchange
        s.vdot[:] = self.formulation.acceleration(self.terms_here(t), s.force.copy(), s.target.copy())

    def _sampled(self, t: float) -> None:
        """What is due for the law, and when the held efforts change next."""
        control = self.control
        control.refresh(t, lambda: self.terms_here(t), self.split(self.exchange.x)[2].copy())
        self.steps.command[:] = control.command
        self.steps.clock[loop.NEXT] = control.next
        if self.method is not None:
            self.method.forget()

    def _attempted(self, until: float) -> None:
        """A step of another method."""
        steps, method = self.steps, self.method
        n = int(steps.count[loop.LAST])
        end, x, F = method(float(steps.T[n]), steps.X[n].copy(), until)  # type: ignore[misc]
        steps.T[n + 1], steps.X[n + 1], steps.F[n], steps.clock[loop.STEP] = end, x, F, method.h  # type: ignore[union-attr]

    def _stepped(self, t: float) -> int:
        """Look at a step that was accepted; REFUSED where it leads beyond something that is watched."""
        steps = self.steps
        n = int(steps.count[loop.LAST])
        T, X, F = steps.T[n : n + 2].copy(), steps.X[n : n + 2].copy(), steps.F[n : n + 1].copy()
        state, first = path(T, F, X), np.inf
        if self.watch is not None:
            crossing = self.watch.crossing(T, X, state, self.effort)
            first = np.inf if crossing is None else crossing
        found = steps.found[: steps.count[loop.FOUND]]
        met = found[(found[:, 0] >= T[0]) & (found[:, 0] > self.run.meet_after) & (found[:, 1] < AT_POSE), 0]
        seen = None if self.observers is None else self.observers.look(T, state)
        if seen is not None and seen.stop < min([first, *met]):  # the step is taken again, to there
            self.observers.keep(seen)  # type: ignore[union-attr]
            self._stop, self._ended, self.observers = seen.stop, seen.why, None
            return motion.REFUSED
        if met.size and met[0] < first:
            way = np.array([state(T[0] + s * (met[0] - T[0])) for s in NODES])
            self._stop, self._met = float(T[0]), Met(float(met[0]), (float(T[0]), float(T[1])), way)
            return motion.REFUSED
        if np.isfinite(first):  # as above
            self._stop, self.watch, self._crossed = first, None, True
            return motion.REFUSED
        if seen is not None:
            self.observers.keep(seen)  # type: ignore[union-attr]
        if self.formulation is not None and self.formulation.bound:  # it keeps a basis: does it still fit?
            self.formulation = self.formulation.at(self.terms(t, steps.X[n + 1]))
        return 0

    _answers: dict[int, Callable[[Engine, float], int | None]] = {  # noqa: RUF012
        motion.TERMS: _terms_asked,
        motion.LOOK: _pivots_asked,
        motion.CLOSE: _closed,
        motion.EFFORT: _effort_asked,
        motion.ACCELERATION: _acceleration_asked,
        motion.SAMPLE: _sampled,
        motion.STEPPED: _stepped,
        motion.ATTEMPT: _attempted,
    }

    # -- at single states -------------------------------------------------------------------------

    def split(self, x: Array) -> tuple[Array, Array, Array]:
        """q, v and the integrated states of the law or its drive."""
        n = self.nq + self.nv
        return np.ascontiguousarray(x[: self.nq]), np.ascontiguousarray(x[self.nq : n]), x[n + 2 :]

    def terms_here(self, t: float) -> Terms:
        """The equations of motion where the loop has just evaluated them, in arrays of their own."""
        terms = object.__new__(Terms)
        vars(terms).update(
            self._constant, t=t, potential=float(self.exchange.potential[0]), rank=int(self.exchange.rank[0]),
            **views(self._slab.copy(), self._places),
        )  # fmt: skip
        return terms

    def terms(self, t: float, x: Array) -> Terms:
        """The equations of motion at a state, on the closed loops where the stages of a step are."""
        q, v, _ = self.split(x)
        onto = self.stabilisation.stages
        return self.plant.terms(q, v, t, project=onto, close=onto, cap=self.options.cap)

    def effort(self, t: float, x: Array) -> Array:
        """Motor efforts at a state."""
        return self.control.effort(t, self.terms(t, x), self.split(x)[2])

    def derivative(self, t: float, x: Array) -> Array:
        """Rate of a state.

        Raises
        ------
        NotFinite
            Where it cannot be evaluated; what functions of the user raise comes as it is.
        """
        x, dx = np.array(x, dtype=np.float64), np.empty(len(x))  # of one type: each other one would be compiled
        if not self.options.law:
            self.exchange.u[:] = self.control.command
        rank = motion.rate(self.model, self.options, self.exchange, self.work, t, x, True, dx)
        if rank < 0:
            raise self.failure or NotFinite
        return dx

    def look(self, t: float, x: Array, new: Array, F: Array, h: float) -> tuple[float, str]:
        """Note what happens in a step that the loop has not taken; when the run ends by it, and why."""
        if self.observers is None:
            return np.inf, ""
        seen = self.observers.look(np.array([t, t + h]), path(np.array([t, t + h]), F[None], np.array([x, new])))
        self.observers.keep(seen)
        return seen.stop, seen.why

    def search(self, t: float, x: Array, F: Array, h: float) -> tuple[list[tuple[float, float]], float]:
        """Singular poses that a step from the start of a run passes, and the closeness a little before its end."""
        found = np.empty((_ROOM, 2))
        scratch = self.model, self.options, self.exchange, self.work
        count, before = passages.search(*scratch, x, F, t, h, np.inf, found, 0, np.empty(x.size))
        return [(float(when), float(near)) for when, near in found[:count]], float(before)

    @property
    def failure(self) -> BaseException | None:
        """What an answer raised; it is told once."""
        raised = self._raised or self._refused
        self._raised, self._refused, self._stopping = None, None, False
        return raised

    @property
    def evaluations(self) -> int:
        """Of the rate."""
        return int(self.exchange.evaluations[0])

    def project(self, x: Array) -> Array:
        """x on the closed loops.

        Raises
        ------
        AssemblyError
        """
        y = x.copy()
        left = motion.project(self.model, self.options, self.exchange, self.work, 0.0, y, self.energy0, -1)
        if not 0.0 <= left <= 1e-9 * self.model.size:
            raise self.failure or AssemblyError(f"the loops stay open by {left:.2e} m", {"all": left}, y[: self.nq])
        return y

    def hold_correction(self, t: float, x: Array, step: float) -> bool:
        """Begin a step; True where this changes the rates, by Baumgarte's terms that are held during it."""
        if not self.options.held_gains:
            return False
        self.derivative(t, x)
        motion.hold_baumgarte(self.exchange, self.work, step)
        return True

    def speed_factor(self, x: Array) -> float:
        """Factor of the velocity of a state that restores the energy; 1 near rest, where it has no direction."""
        q, v, _ = self.split(x)
        n = self.nq + self.nv
        return self._factor(q, v, self.energy0 + float(x[n] - x[n + 1]))

    def _factor(self, q: Array, v: Array, energy: float) -> float:
        terms = self.plant.terms(q, v)
        wanted = energy - terms.potential
        if terms.kinetic > 1e-9 * abs(self.energy0) and 0.25 * terms.kinetic < wanted < 4.0 * terms.kinetic:
            return float(np.sqrt(wanted / terms.kinetic))
        return 1.0


_SHARED = "q", "v", "M", "h", "phi", "A", "b", "B", "pivots"  # what the loop evaluates, and laws are told


def shared_work(model: layout.Model, nq: int) -> tuple[constrained.Work, Array, dict[str, tuple[int, int, tuple]]]:
    """Scratch of the kernels, of which laws are told lies in one array; that array, and where in it what lies."""
    work = constrained.new_work(model)
    places, end = {}, 0
    for name in _SHARED:
        shape = {"q": (nq,), "v": work.z.shape}.get(name) or getattr(work, name).shape
        places[name] = end, end + int(np.prod(shape)), shape
        end = places[name][1]
    slab = np.zeros(end)
    shared = views(slab, places)
    return work._replace(**{name: shared[name] for name in _SHARED[2:]}), slab, places


def views(slab: Array, places: dict[str, tuple[int, int, tuple]]) -> dict[str, Array]:
    """The arrays in a slab by name."""
    return {name: slab[begin:end].reshape(shape) for name, (begin, end, shape) in places.items()}


def stand_in(plant: Plant) -> layout.Model:
    """What the kernels need to know of a plant given by functions: plain coordinates, each like that of a slider."""
    if plant.nq != plant.nv:
        raise TypeError(
            f"plant {plant.name!r} has {plant.nq} positions and {plant.nv} velocities; plants given by functions have "
            "plain coordinates, as many of the one as of the other"
        )
    links = np.zeros(plant.nv, layout.LINK_DTYPE)
    links["kind"], links["nq"], links["nv"], links["parent"] = layout.PRISMATIC, 1, 1, -1
    links["iq"] = links["iv"] = np.arange(plant.nv)
    rows = len(plant.row_names)
    arrays = {
        "links": links,
        "rows": np.zeros(rows, layout.ROW_DTYPE),
        "scale": np.array(plant.row_scale, dtype=np.float64),
        "reach": np.array(plant.reach, dtype=np.float64),
        "springs": np.zeros(0, layout.SPRING_DTYPE),
        "drives": np.zeros(plant.nu, layout.DRIVE_DTYPE),
        "couplings_q": np.zeros((0, plant.nq)),
        "couplings_v": np.zeros((0, plant.nv)),
        "damping": np.zeros(plant.nv),
        "gravity": np.zeros(3),
    }
    if not JIT_ENABLED:  # interpreted kernels need records for `links[i].kind`
        arrays = {name: a.view(np.recarray) if a.dtype.names else a for name, a in arrays.items()}
    for array in arrays.values():
        array.setflags(write=False)  # as those of a mechanism are
    return layout.Model(size=float(plant.size), **arrays)


def new_steps(
    capacity: int, tables: tuple[runge_kutta.Tableau, ...], times: Array, nx: int, nq: int, nu: int
) -> loop.Steps:
    """A record that begins."""
    stages = max(table.b.size + 1 + table.c_extra.size for table in tables)
    return loop.Steps(
        np.zeros(capacity + 1), np.zeros((capacity + 1, nx)), np.zeros((capacity, 7, nx)), np.zeros((capacity, nu)),
        np.ones(capacity + 1), np.zeros((_ROOM, 2)), np.zeros((stages, nx)), np.zeros(nx), np.zeros(nu),
        np.array(times, dtype=np.float64), np.tile([-np.inf, np.inf], (nq, 1)),
        np.zeros(loop.STEP + len(tables)), np.zeros(10, np.int64),
    )  # fmt: skip
