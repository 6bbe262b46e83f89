"""Equations of motion of a run, compiled, and what they ask of Python: functions, laws, formulations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._jit import JIT_ENABLED, Callback, entry
from ..controllers.references import row
from ..controllers.traced import LawCode
from ..errors import AssemblyError, InputTypeError, ModelError, RedundantRowsError
from ..kernels import constrained, friction, generated, layout, motion, passages
from ..kernels.generated import no_code
from ..model.generated import code_at
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.code import Code, why_not
from .failures import LawFailed
from .run import IntegratorState, Run
from .stabilisation import project_all_at_once

__all__ = ["ROOM", "Engine", "NotFinite"]

Array = NDArray[np.float64]

ROOM = 256  # singular configurations met in a block of steps


class NotFinite(Exception):
    """Raised at a state where the equations of motion cannot be evaluated."""


class Engine:
    """Compiled evaluation of a plant under a law, as it is integrated, and Python's answers to what this asks for.

    The state is ``[q, v, work, dissipated, c]`` with the integrated states c of the law or its drive.
    """

    def __init__(self, run: Run, state: IntegratorState) -> None:
        self.run, self.plant, self.control = run, run.plant, run.control
        self.stabilisation, self.formulation = run.stabilisation, run.formulation
        self.nq, self.nv = run.plant.nq, run.plant.nv
        functions = not isinstance(run.plant, Mechanism)
        self.arrays = stand_in(run.plant) if functions else run.plant.arrays
        self.work, self._slab, self._places = shared_work(self.arrays, self.nq)
        self._views = views(self._slab, self._places)
        nx, rows = state.x.size, self.arrays.rows.shape[0]
        self.exchange = motion.Exchange(
            q=self._views["q"],
            v=self._views["v"],
            x=np.zeros(nx),
            u=np.zeros(run.plant.nu),
            rate=np.zeros(nx - self.nq - self.nv - layout.WORKS),
            force=np.zeros(self.nv),
            target=np.zeros(rows),
            held=np.zeros(rows),
            vdot=np.zeros(self.nv),
            moved=np.zeros(2 * self.nv),
            potential=np.zeros(1),
            closing=np.zeros(1, np.int64),
            evaluations=np.zeros(1, np.int64),
            rank=np.zeros(1, np.int64),
            near=np.ones(1),
            looped=run.plant._looped,
            code=no_code(self.nq, self.nv),
        )
        self._signals = 0  # functions of time that a law in generated code asks for
        self._stopping = False
        self._rate: Callable | None = None
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
            timed=run.acting.changing,
        )
        self._constant = {
            "row_scale": run.plant.row_scale, "unit_lengths": run.plant.unit_lengths,
            "force_scale": run.plant.force_scale, "force": None, "row_names": run.plant.row_names,
            "absent": run.plant.absent, "rates": None, "friction": None,
        }  # fmt: skip
        self._rubs = run.plant._loaded if isinstance(run.plant, Mechanism) else None
        n, terms = self.nq + self.nv, state.terms(run)
        self.energy0 = terms.energy - float(motion.added_energy(state.x[n:]))
        if run.formulation is not None:
            self.formulation = run.formulation.at(terms)
            self.options = self.options._replace(formulated=True)
        self.why_kernels = self._why_kernels()
        self.code = None if self.why_kernels else code_at(run.plant, terms, self.options.cap)
        if self.code is None and not self.why_kernels:
            self.why_kernels = "the run begins at a singular configuration, or too near one"
        elif self.code is not None and not all(self.code.address(name) for name in ("rate", "land", "close")):
            self.code, self.why_kernels = None, "the machine is too large to be one line of operations"
        self.drive: LawCode | str = ""
        if self.options.law:
            self.drive = self.why_kernels
            if self.code is not None:
                self.drive = run.control.drive_code(run.plant, terms.q, self.code)
        if self.code is not None and not (self.options.law and isinstance(self.drive, str)):
            self.exchange = self.exchange._replace(code=self._code(self.code))

    def _code(self, code: Code) -> generated.RunCode:
        """Generated code of the machine in the form that the kernels take."""
        o, drive = self.options, self.drive
        inputs, own, signals, acting = self.nq + self.nv + self.plant.nu, -1, 0, self.run.acting
        count = generated.CONDITIONS + 1 + self.nq + 2 * self.nv + layout.WORKS - 1
        if not isinstance(drive, str):
            own, signals = self.exchange.rate.size, sum(size for _, size in drive.signals)
            inputs, count = inputs + 1 + own + signals, count + own
        self._signals, p = signals, code.p if isinstance(drive, str) else drive.p
        if acting.own:
            p = acting.follow(p, code.model)
        # where rows are redundant, other ones are better near singular configurations: the kernels choose them
        near = isinstance(drive, str) and o.cap == len(self.plant.row_names)
        return no_code(self.nq, self.nv)._replace(
            rate=code.address("rate") if isinstance(drive, str) else drive.address,
            own=own,
            timed=signals > 0 or acting.changing,
            command=np.array(self.control.command, dtype=np.float64),
            land=0 if o.energy else code.address("land"),
            close=code.address("close"),
            cap=o.cap,
            accuracy=o.accuracy,
            reference=o.reference,
            p=p,
            given=np.zeros(inputs),
            found=np.zeros(count),
            near=self.exchange.near,
            clear=np.full(1, generated.CLEAR),
            near_code=np.full(1, generated.LATER if near else 0),
        )

    def _why_kernels(self) -> str:
        """Reason why generated code cannot replace the kernels in this run, or empty; it projects each step by M."""
        o = self.options
        if o.functions:
            return "the plant is given by functions"
        if o.formulated:
            return "a formulation computes the acceleration"
        if o.stabilisation != motion.PROJECT or o.every != 1 or o.projected or o.euclidean:
            return "code projects every step in the metric of M, and the stabilisation is another one"
        return why_not()

    @property
    def why_python(self) -> str:
        """Reason why the law runs in Python; empty if it is compiled, or if there is no law."""
        law = self.drive if self.options.law else self.control.code if self.control.period is not None else ""
        return law if isinstance(law, str) else ""

    # -- answers ----------------------------------------------------------------------------------

    def _answer(self, what: int, t: float) -> int:
        """Answer a question of the compiled loop; exceptions are kept, since none may pass through compiled code.

        Later questions get the answer to stop, too: not every question has an answer that ends the loop.
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
            if what in (motion.TERMS, motion.CLOSE, motion.PIVOTS, motion.ACCELERATION):
                return motion.REFUSED
            self._raised, self._stopping = error, True
            return motion.STOPPED
        except BaseException as error:
            self._raised, self._stopping = error, True
            return motion.STOPPED

    def _evaluate_terms(self, t: float) -> None:
        """Evaluate the equations of motion of a plant given by functions, at the state in `exchange`."""
        onto = self.stabilisation.stages
        s, close = self.exchange, onto and bool(self.exchange.closing[0])
        terms = self.plant.terms(s.q.copy(), s.v.copy(), t, project=onto, close=close, cap=self.options.cap)
        for name, view in self._views.items():
            view[...] = getattr(terms, name)
        self.exchange.potential[0] = terms.potential

    def _evaluate_pivots(self, t: float) -> None:
        """Evaluate the pivots, which show how near a configuration is to a singular one."""
        q = self.exchange.x[: self.nq].copy()
        terms = self.plant.terms(q, np.zeros(self.nv), cap=self.options.cap)
        self._views["pivots"][:], self._views["phi"][:] = terms.pivots, terms.phi

    def _close(self, t: float) -> None:
        """Move the state in `exchange` onto the closed loops."""
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

    def _evaluate_effort(self, t: float) -> None:
        """Evaluate the law in continuous time, or the drive behind a sampled one."""
        s, terms = self.exchange, self.evaluated_terms(t)
        c = s.x[self.nq + self.nv + layout.WORKS :].copy()
        s.u[:], s.rate[:] = self.control.moved(t, terms, c)

    def _evaluate_acceleration(self, t: float) -> None:
        s = self.exchange
        s.vdot[:] = self.formulation.acceleration(self.evaluated_terms(t), s.force.copy(), s.target.copy())

    def _follow_time(self, t: float) -> int:
        """Update loads, motions and functions of time of a law; where one of these fails, Python evaluates the law."""
        self.run.acting.at(t)
        if self._signals:
            try:
                parts = [row(function(t)) for function, _ in self.drive.signals]  # type: ignore[union-attr]
                self.exchange.code.given[-self._signals :] = np.concatenate(parts)
            except Exception:
                return motion.REFUSED
        return 0

    def _generate_near(self, t: float) -> None:
        """Generate the code for configurations near singular ones."""
        self.exchange.code.near_code[0] = self.code.address("rate_near")  # type: ignore[union-attr]

    _answers: dict[int, Callable[[Any, float], int | None]] = {  # noqa: RUF012
        motion.TERMS: _evaluate_terms,
        motion.PIVOTS: _evaluate_pivots,
        motion.CLOSE: _close,
        motion.EFFORT: _evaluate_effort,
        motion.ACCELERATION: _evaluate_acceleration,
        motion.TIMED: _follow_time,
        generated.GENERATE: _generate_near,
    }

    # -- at single states -------------------------------------------------------------------------

    def split(self, x: Array) -> tuple[Array, Array, Array]:
        """Positions q, velocities v, and the integrated states of the law or its drive, from a state."""
        n = self.nq + self.nv
        return np.ascontiguousarray(x[: self.nq]), np.ascontiguousarray(x[self.nq : n]), x[n + layout.WORKS :]

    def evaluated_terms(self, t: float) -> Terms:
        """Equations of motion where the loop has just evaluated them, in arrays of their own."""
        terms = object.__new__(_EvaluatedTerms)
        vars(terms).update(
            self._constant, t=t, potential=float(self.exchange.potential[0]), rank=int(self.exchange.rank[0]),
            _slab=self._slab.copy(), _places=self._places,
        )  # fmt: skip
        if self.plant.motions:
            vars(terms)["rates"] = self.plant.row_rates
        if self._rubs is not None:
            s, w, D = self.exchange, self.work, np.zeros_like(self._rubs.D)
            friction.unit_load_forces(self.arrays, s.q, s.v, w.R, w.p, w.S, w.V, D)
            vars(terms)["friction"] = self._rubs._replace(D=D)
        return terms

    def terms(self, t: float, x: Array) -> Terms:
        """Equations of motion at a state; on the closed loops if the stages of a step are projected."""
        q, v, _ = self.split(x)
        onto = self.stabilisation.stages
        self.run.acting.at(t)
        return self.plant.terms(q, v, t, project=onto, close=onto, cap=self.options.cap)

    def effort(self, t: float, x: Array) -> Array:
        """Motor efforts at a state; sets loads and motions to its time."""
        if self.control.holds:
            self.run.acting.at(t)
            return self.control.command
        return self.control.effort(t, self.terms(t, x), self.split(x)[2])

    def derivative(self, t: float, x: Array) -> Array:
        """Rate dx/dt of a state.

        Raises
        ------
        NotFinite
            Where it cannot be evaluated. Exceptions of functions of the user pass unchanged.
        """
        x, dx = np.array(x, dtype=np.float64), np.empty(len(x))  # of one type: each other one would be compiled
        if not self.options.law:
            self.exchange.u[:] = self.control.command
        arguments = (self.arrays, self.options, self.exchange, self.work, float(t), x, True, dx)
        if self._rate is None:
            self._rate = entry(motion.rate, *arguments)
        rank = self._rate(*arguments)
        if rank < 0:
            raise self.failure or NotFinite
        return dx

    def search(self, t: float, x: Array, F: Array, h: float) -> tuple[list[tuple[float, float]], float]:
        """Singular configurations that a step from the start of a run passes, and the closeness before its end."""
        buffer = np.empty((ROOM, 2))
        scratch = self.arrays, self.options, self.exchange, self.work
        count, before = passages.search(*scratch, x, F, t, h, np.inf, buffer, 0, np.empty(x.size))
        return [(float(when), float(near)) for when, near in buffer[:count]], float(before)

    @property
    def failure(self) -> BaseException | None:
        """Exception that an answer to the loop raised, or None; it is cleared when read."""
        raised = self._raised or self._refused
        self._raised, self._refused, self._stopping = None, None, False
        return raised

    @property
    def evaluations(self) -> int:
        """Number of evaluations of the rate."""
        return int(self.exchange.evaluations[0])

    @property
    def by_code(self) -> int:
        """Number of evaluations of the rate by generated code."""
        return int(self.exchange.code.count[generated.TOTAL])

    def project(self, x: Array) -> Array:
        """State x, projected onto the closed loops.

        Raises
        ------
        AssemblyError
        """
        y = x.copy()
        left = motion.project(self.arrays, self.options, self.exchange, self.work, 0.0, y, self.energy0, -1)
        if not 0.0 <= left <= 1e-9 * self.arrays.size:
            raise self.failure or AssemblyError(f"the loops stay open by {left:.2e} m", {"all": left}, y[: self.nq])
        return y

    def hold_correction(self, t: float, x: Array, step: float) -> bool:
        """Begin a step with Baumgarte's terms held through it; True where these change the rates."""
        if not self.options.held_gains:
            return False
        self.derivative(t, x)
        motion.hold_baumgarte(self.arrays, self.exchange, self.work, step)
        return True

    def speed_factor(self, x: Array) -> float:
        """Factor on the velocity of a state that restores its energy; 1 near rest, where velocity has no direction."""
        q, v, _ = self.split(x)
        n = self.nq + self.nv
        return self._factor(q, v, self.energy0 + float(motion.added_energy(x[n:])))

    def _factor(self, q: Array, v: Array, energy: float) -> float:
        terms = self.plant.terms(q, v)
        kinetic = energy - terms.potential
        if terms.kinetic > 1e-9 * abs(self.energy0) and 0.25 * terms.kinetic < kinetic < 4.0 * terms.kinetic:
            return float(np.sqrt(kinetic / terms.kinetic))
        return 1.0


class _EvaluatedTerms(Terms):
    """Equations of motion as the loop has evaluated them: views of one array, each made when it is read.

    To make them all takes as long as the evaluation of a small machine; a drive reads two.
    """

    def __getattr__(self, name: str) -> Array:  # of what is not there yet
        own = vars(self)
        if name not in own.get("_places", ()):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        begin, end, shape = own["_places"][name]
        own[name] = own["_slab"][begin:end].reshape(shape)
        return own[name]

    def copied(self) -> Terms:
        for name in _SHARED:
            getattr(self, name)
        return super().copied()


_SHARED = "q", "v", "M", "h", "phi", "A", "b", "B", "pivots"  # what the loop evaluates, and laws are told


def shared_work(model: layout.Model, nq: int) -> tuple[constrained.Work, Array, dict[str, tuple[int, int, tuple]]]:
    """Scratch arrays of the kernels, the one array in which those lie that laws read, and their places in it."""
    work = constrained.new_work(model)
    places, end = {}, 0
    for name in _SHARED:
        shape = {"q": (nq,), "v": work.z.shape, "pivots": work.rhs.shape}.get(name) or getattr(work, name).shape
        places[name] = end, end + int(np.prod(shape)), shape
        end = places[name][1]
    slab = np.zeros(end)
    shared = views(slab, places)
    rows = work.rows._replace(pivots=shared["pivots"])
    return work._replace(rows=rows, **{name: shared[name] for name in _SHARED[2:-1]}), slab, places


def views(slab: Array, places: dict[str, tuple[int, int, tuple]]) -> dict[str, Array]:
    """Views of one array, by name, at given places."""
    return {name: slab[begin:end].reshape(shape) for name, (begin, end, shape) in places.items()}


def stand_in(plant: Plant) -> layout.Model:
    """Model for the kernels of a plant given by functions: each coordinate is that of a slider."""
    if plant.nq != plant.nv:
        raise InputTypeError(
            f"plant {plant.name!r} has {plant.nq} positions and {plant.nv} velocities; plants given by functions have "
            "plain coordinates, as many of the one as of the other"
        )
    links = np.zeros(plant.nv, layout.LINK_DTYPE)
    links["kind"], links["nq"], links["nv"], links["parent"] = layout.PRISMATIC, 1, 1, -1
    links["iq"] = links["iv"] = np.arange(plant.nv)
    rows = np.zeros(len(plant.row_names), layout.ROW_DTYPE)
    rows["formula"] = rows["target"] = -1
    arrays = {
        "links": links,
        "rows": rows,
        "scale": np.array(plant.row_scale, dtype=np.float64),
        "spans": np.tile(np.array([0, plant.nv], np.int64), (len(rows), 1)),
        "envelope": np.zeros(plant.nv, np.int64),
        "unit_lengths": np.array(plant.unit_lengths, dtype=np.float64),
        "springs": np.zeros(0, layout.SPRING_DTYPE),
        "drives": np.zeros(plant.nu, layout.DRIVE_DTYPE),
        "loads": np.zeros(0, layout.LOAD_DTYPE),
        "measures": np.zeros(0, layout.ROW_DTYPE),
        "elements": np.zeros(0, layout.ELEMENT_DTYPE),
        "formulas": np.zeros(0, layout.FORMULA_DTYPE),
        "tape": np.zeros((0, 5), np.int64),
        "numbers": np.zeros(0),
        "targets": np.zeros((0, 3)),
        "couplings_q": np.zeros((0, plant.nq)),
        "couplings_v": np.zeros((0, plant.nv)),
        "armature": np.zeros(plant.nv),
        "damping": np.zeros(plant.nv),
        "gravity": np.zeros(3),
    }
    if not JIT_ENABLED:  # interpreted kernels need records for `links[i].kind`
        arrays = {name: a.view(np.recarray) if a.dtype.names else a for name, a in arrays.items()}
    for array in arrays.values():
        array.setflags(write=False)  # as those of a mechanism are
    return layout.Model(size=float(plant.size), **arrays)
