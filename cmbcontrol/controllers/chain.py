"""Chains around a law: sensors before it, blocks of its computer and drives behind it, put together with ``|``."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._arguments import KeepsArguments
from ..errors import InputError, InputTypeError
from ..model.plant import Plant
from ..model.terms import Terms
from ..model.units import effort_units
from ..trace.symbols import numbers_of
from .around import AroundLaw
from .controller import (
    ConstantEffort,
    Controller,
    Cut,
    Drive,
    Evaluation,
    as_controller,
    evaluated,
    moved,
    require_same_signals,
    start_of,
)

__all__ = ["Block", "Chain", "EffortBlock", "SensorBlock", "Setting"]

Array = NDArray[np.float64]
_Told = tuple[Cut, Array] | None  # see `EffortBlock.anti_windup`


class Setting(NamedTuple):
    """Place of a block in a chain: the law, the plant that it knows, and the sample time.

    Attributes
    ----------
    law : Controller
        Law of the chain.
    plant : Plant or None
        The machine as the controller knows it: the plant (or model) of the law, or the one that a block was given.
    period : float or None
        Sample time of the law, s.
    machine : bool
        Whether the block is part of the machine, behind the held efforts.
    """

    law: Controller
    plant: Plant | None
    period: float | None
    machine: bool = False

    @property
    def continuous(self) -> bool:
        """Whether the block works in continuous time."""
        return self.period is None or self.machine

    def known(self, block: Block, why: str) -> Plant:
        """Plant of the chain, for a block that needs it; refuses a chain without one."""
        if self.plant is None:
            raise InputError(
                f"{type(block).__name__} needs the plant {why}, and {self.law.name} has none; write "
                f"{type(block).__name__}(..., plant=plant)"
            )
        return self.plant


class Block(KeepsArguments):
    """Base class of the parts of a chain besides the law. Blocks are pure: their states are arguments and results."""

    __array_ufunc__ = None  # so that numbers | block comes to __ror__
    plant: Plant | None = None
    no_code: str = ""  # what of it nobody can compile, where that is so
    latency: ArrayLike | None = None  # s, of each motor or of all, that a block adds between sample and effort
    initial_effort: ArrayLike | None = None  # see `Controller`

    def __or__(self, other: Any) -> Chain:
        return Chain(self, other)

    def __ror__(self, other: Any) -> Chain:
        return Chain(other, self)

    def __call__(self, *_: Any) -> Array:
        """Refuse the call: a block is no controller."""
        raise InputTypeError(self.no_controller)

    @property
    def no_controller(self) -> str:
        """Message that a block is no controller, with the remedy."""
        return f"{self!r} is a block without a law; {self._remedy}"

    _remedy = "write law | ..."

    def bound(self, setting: Setting) -> Self:
        """The block, set up for its place in a chain; refuses a place where it cannot work."""
        return self

    def start(self, plant: Plant) -> Array:
        """Initial states (n,)."""
        return np.zeros(0)

    def count(self, terms: Terms) -> int:
        """Number of states."""
        return 0

    def state_names(self, plant: Plant) -> Sequence[str]:
        """Names of the states."""
        return ()

    def begun(self, start: Array, after: Array, terms: Terms) -> Array:
        """States of a block that has been at work for a while; see `Controller.begun`."""
        return start


class SensorBlock(Block):
    """Base class of sensors: blocks left of a sampled law that change the positions and velocities it gets."""

    rough = False  # whether readings have steps or noise, so that a law with it has no linear model
    _remedy = "sensors stand left of a law: write Encoder(...) | law"

    def measured(self, t: float, q: Array, v: Array, state: Array) -> tuple[Array, Array]:
        """Positions and velocities (q, v) that the block hands on."""
        raise NotImplementedError

    def update(self, t: float, q: Array, v: Array, state: Array) -> Array:
        """States at the next sample."""
        return state

    def _after(self, t: float, before: tuple[Array, Array], after: tuple[Array, Array], state: Array) -> Array:
        """States at the next sample, from (q, v) before the block and after it at t; by default as `update` gives."""
        return self.update(t, *before, state)


class EffortBlock(Block):
    """Base class of blocks right of the law, which change its efforts.

    Attributes
    ----------
    place : {"controller", "machine", "either"}
        In the controller, sampled with the law, or in the machine, in continuous time behind the held efforts. A block
        for either place belongs to the machine where it follows a block of the machine. Under a law in continuous time
        all are continuous.
    """

    place = "either"
    winds_up = False  # whether it has states that go on growing while later limits cut its efforts off
    _remedy = "it stands right of a law: write law | Saturation(...)"

    def effort(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        """Efforts (nu,) that the block hands on."""
        raise NotImplementedError

    def cut(self, t: float, terms: Terms, u: Array, state: Array | None) -> Array | None:
        """Efforts that are let through less those that come in (nu,); None for a block without limits.

        Exactly zero where nothing is cut off. The law holds its integrals by it, see `Controller.anti_windup`. For a
        block of the machine, behind the held efforts, the controller computes it without the states (None).
        """
        return None

    def anti_windup(self, t: float, terms: Terms, state: Array, after: Array, cut: Cut, at_once: Array) -> Array:
        """Rates or next values of the states where later blocks cut efforts off; see `Controller.anti_windup`.

        `cut.lost` is told by the gains at rest of the blocks between, `at_once` (nu,) the same by their larger gains.
        """
        return after

    def efforts_before(self, u: Array, at_once: bool = False) -> Array:
        """Efforts (nu,) before the block that give efforts behind it, where it cuts nothing off and has settled.

        With `at_once` those by its larger gain, at rest or at once: a state of a filter that is changed by more in an
        instant would swing.
        """
        return u

    def at_rest(self, u: Array) -> Array:
        """Efforts (nu,) behind the block, where it rests, before what it cuts off."""
        return u

    def derivative(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        """Rate of the states, in continuous time."""
        return np.zeros(state.size)

    def update(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        """States at the next sample, in sampled time."""
        return state


class _OwnDrive(EffortBlock):
    """Block made from the drive that a law has itself (`Controller.drive`)."""

    def __init__(self, drive: Drive) -> None:
        self.drive = drive

    def start(self, plant: Plant) -> Array:
        return start_of(self.drive, plant)

    def count(self, terms: Terms) -> None:  # type: ignore[override]  # the rest
        return None

    def state_names(self, plant: Plant) -> Sequence[str]:
        return names_of_states(self.drive, plant, "drive")

    def effort(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        return numbers_of(self.drive.evaluate(t, terms, u, state).effort)

    def derivative(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        return moved(self.drive.evaluate(t, terms, u, state), state, False)


class Series(Drive):
    """Effort blocks one after the other; in the machine, the drive of a chain."""

    def __init__(self, blocks: Sequence[EffortBlock]) -> None:
        self.blocks = tuple(blocks)

    def start(self, plant: Plant) -> Array:
        """Initial states of all blocks."""
        return np.concatenate([np.zeros(0), *(block.start(plant) for block in self.blocks)])

    def state_names(self, plant: Plant) -> list[str]:
        """Names of the states of all blocks."""
        return different([name for block in self.blocks for name in block.state_names(plant)])

    def stages(self, t: float, terms: Terms, u: Array, states: Sequence[Array]) -> list[Array]:
        """Efforts before the first block and after each for which there are states."""
        efforts = [u]
        for block, state in zip(self.blocks, states, strict=False):
            efforts.append(numbers_of(block.effort(t, terms, efforts[-1], state)))
        return efforts

    def evaluate(self, t: float, terms: Terms, command: Array, state: Array) -> Evaluation:
        """Efforts (nu,) at the joints, and the rate of the states of all blocks."""
        states = _split(state, self.blocks, terms)
        efforts = self.stages(t, terms, command, states)
        return Evaluation(efforts[-1], np.concatenate([np.zeros(0), *self.rates(t, terms, efforts, states)]))

    def rates(self, t: float, terms: Terms, efforts: Sequence[Array], states: Sequence[Array]) -> list[Array]:
        """Rates of the states of each block, from the efforts before it."""
        blocks = zip(self.blocks, efforts, states, strict=False)
        return [numbers_of(block.derivative(t, terms, u, c)) for block, u, c in blocks]


class Chain(AroundLaw):
    """Sensors, a law and effort blocks in a row, which together are a controller.

    Written with ``|``, from left to right: ``Encoder(...) | FilteredDifference(...) | law | Saturation() | Delay(...) |
    FirstOrderActuator(...) | DriveFriction(...)``. The law may be any controller: an object, a function, numbers.

    Parameters
    ----------
    *parts : Block, Chain or Controller
        One of them, or of the parts of chains, is the law. Blocks alone are a piece of a chain, to be completed later.

    Attributes
    ----------
    law : Controller
    sensors, blocks : tuple of Block
        Blocks left of the law, and blocks right of it in the controller (in continuous time: all).
    plant : Plant or None
        The machine as the controller knows it: that of the law, or one that a block was given (``plant=``).
    period : float or None
        Sample time of the law, s.
    delay : ndarray or None
        Time from a sample to when the motors feel the effort, s: the sum of all `Delay` blocks.
    drive : object or None
        The blocks of the machine behind a sampled law.

    Raises
    ------
    TypeError
        For a second law, or none.
    ValueError
        For a block on the wrong side of the law, or at a place where it cannot work.

    Notes
    -----
    Blocks of the controller (`Saturation`, `RateLimit`, `FrictionCompensation`, `Delay`) are computed at the samples of
    the law, also where they stand behind a `Delay`. Blocks of the machine (`FirstOrderActuator`, `DriveFriction`, and
    what follows them) come after the hold, in continuous time. Blocks of the controller get the state as the sensors
    measure it, those of the machine the true one. With a law in continuous time all blocks are continuous.

    States are those of the sensors, the law and the blocks, in their order. The report has the numbers of the law, and
    what each block of the controller adds: ``saturation_left`` to an effort (N, N m), ``encoder_left`` to a position
    (rad, m), ``filtered_difference_left`` to a velocity.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.controllers import Delay, ProjectedInverseDynamics, Saturation
    >>> plant = plants.five_bar(effort=40.0)
    >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.0, 1.2]), bandwidth=8.0, period=1e-3)
    >>> chain = law | Saturation() | Delay(1e-3)
    >>> chain(0.0, plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4), chain.start(plant))
    array([-40.,  40.])
    >>> print(chain)
    ProjectedInverseDynamics | Saturation | Delay
    """

    law: Any  # a Controller; None of a chain of blocks alone
    parts: tuple[Any, ...]
    drive: Drive | None = None  # a chain has blocks of its own there
    untraced = ("parts",)  # what it evaluates are copies of them, at their places
    _waits = _winds_up = False  # whether the law, or a block, does something where limits act

    def __init__(self, *parts: Any) -> None:
        parts = tuple(x for part in parts for x in (part.parts if isinstance(part, Chain) else (_as_part(part),)))
        laws = [part for part in parts if not isinstance(part, Block)]
        if len(laws) > 1:
            raise InputTypeError(f"a chain has one law, got {' and '.join(_title(law) for law in laws)}")
        self.parts = parts
        self.law = laws[0] if laws else None
        if laws:
            self._bind(parts.index(self.law))

    def _bind(self, at: int) -> None:
        """Set up each block for its place, in the controller or in the machine; refuse those on a wrong side."""
        law, left, right = self.law, self.parts[:at], self.parts[at + 1 :]
        for side, wrong, kind in (("right", right, SensorBlock), ("left", left, EffortBlock)):
            for block in wrong:
                if isinstance(block, kind):
                    raise InputError(
                        f"{block!r} stands {side} of the law {_title(law)}: sensors come before the law, and what "
                        "changes efforts after it, Encoder(...) | law | Saturation(...)"
                    )
        self.plant = _plant_of(law, self.parts)
        setting, own = Setting(law, self.plant, law.period), law.drive
        self.sensors = tuple(block.bound(setting) for block in left)
        blocks: list[EffortBlock] = []
        machine: list[EffortBlock] = [_OwnDrive(own)] if own is not None else []
        for block in right:
            behind = setting.period is not None and (block.place == "machine" or bool(machine))
            if behind and block.place == "controller":
                first = "the drive of the law" if isinstance(machine[0], _OwnDrive) else repr(machine[0])
                raise InputError(
                    f"{block!r} belongs to the controller and cannot follow {first}, which is part of the machine; "
                    "write it further left"
                )
            (machine if behind else blocks).append(block.bound(setting._replace(machine=behind)))
        given = [x for x in (law, *blocks) if x.initial_effort is not None]
        if len(given) > 1:
            raise InputError(
                f"{given[0]!r} and {given[1]!r} both say what acts before the first effort arrives; delays add up, so "
                "give initial= to one of them"
            )
        self.blocks = tuple(blocks)
        self._winds_up = any(block.winds_up for block in blocks)
        self._waits = type(law).anti_windup is not Controller.anti_windup
        self._series = Series(blocks)
        self._order = (*self.sensors, law, *blocks)
        self.drive = Series(machine) if machine else None

    def __or__(self, other: Any) -> Chain:
        return Chain(self, other)

    def __ror__(self, other: Any) -> Chain:
        return Chain(other, self)

    __array_ufunc__ = None

    # -- what a controller has ----------------------------------------------------------------------

    @property
    def name(self) -> str:  # type: ignore[override]
        return " | ".join(_title(part) for part in self.parts)

    @property
    def period(self) -> float | None:  # type: ignore[override]
        """Sample time of the law, s; None in continuous time."""
        return None if self.law is None else self.law.period

    @property
    def measures_force(self) -> bool:  # type: ignore[override]
        """Whether the law measures the constraint force."""
        return self.law is not None and self.law.measures_force

    @property
    def rough(self) -> bool:  # type: ignore[override]
        """Whether a sensor reads in steps or with noise, so that there is no linear model."""
        return any(part.rough for part in self.sensors) or self.law.rough

    @property
    def delay(self) -> Array | None:  # type: ignore[override]
        """Delay from a sample to when the motors feel the effort, s: of all blocks, and of the law itself."""
        added = [self.law.delay, *(block.latency for block in self.blocks)]
        delays = [x for x in added if x is not None]
        return np.asarray(sum(np.asarray(x, dtype=np.float64) for x in delays)) if delays else None

    @property
    def initial_effort(self) -> ArrayLike | None:  # type: ignore[override]
        """Efforts until the first one of the law arrives, N or N m; None for that of the first sample."""
        given = [part.initial_effort for part in (self.law, *self.blocks)]
        return next((x for x in given if x is not None), None)

    def _around(self, law: Controller) -> Chain:
        return Chain(*(law if part is self.law else part for part in self.parts))

    def with_model(self, model: Plant) -> Chain:
        """Copy of the chain whose law and blocks compute with another model; see `WithModel`."""
        parts: list[Any] = []
        for part in self.parts:
            if part is self.law:
                part = part.with_model(model)
            elif part.plant is not None:
                part = copy.copy(part)
                object.__setattr__(part, "plant", model)
            parts.append(part)
        return Chain(*parts)

    def without(self, *kinds: type) -> Chain:
        """Copy of the chain without blocks of some kinds, such as an `Encoder`, which no linear model can have.

        Examples
        --------
        >>> from cmbcontrol.controllers import Delay, Saturation
        >>> print((Saturation(5.0) | Delay(1e-3)).without(Saturation))
        Delay
        """
        if not kinds or not all(isinstance(kind, type) and issubclass(kind, Block) for kind in kinds):
            raise InputTypeError(f"without(...) takes kinds of blocks, such as Encoder, got {kinds}")
        return Chain(*(part for part in self.parts if not isinstance(part, kinds)))

    def start(self, plant: Plant) -> Array:
        """Initial states; refuses a plant with other coordinates or motors than that of the law."""
        _check.plant(plant)
        self.require_complete()
        if self.plant is not None:
            require_same_signals(self.plant, plant)
        if self.drive is not None:
            self.drive.start(plant)  # what does not fit the plant is refused here
        return np.concatenate([np.zeros(0), *(start_of(part, plant) for part in self._order)])

    def state_names(self, plant: Plant) -> list[str]:
        """Names of the states."""
        return different([n for part in self._order for n in names_of_states(part, plant)])

    def begun(self, start: Array, after: Array, terms: Terms) -> Array:
        states = zip(self._order, *(_split(c, self._order, terms) for c in (start, after)), strict=True)
        return np.concatenate([np.zeros(0), *(part.begun(*both, terms) for part, *both in states)])

    # -- what goes through ----------------------------------------------------------------------------

    def require_complete(self) -> None:
        if self.law is None:
            raise InputTypeError(f"the chain {self} has no law: write Encoder(...) | law | Saturation(...)")

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        """Efforts asked for, before the drive; next values or rates of the states of all parts; and the report."""
        self.require_complete()
        states = _split(numbers_of(state), self._order, terms)
        k = len(self.sensors)
        readings = [(terms.q, terms.v)]  # before the first sensor and after each
        for sensor, c in zip(self.sensors, states, strict=False):
            q, v = sensor.measured(t, *readings[-1], c)
            readings.append((numbers_of(q), numbers_of(v)))
        measured = terms
        if self.sensors:
            measured = self.plant.as_at(terms).terms(*readings[-1], terms.t, cap=terms.rank).of_independent_rows()
            measured = measured if terms.force is None else measured.with_force(terms.force)
        of_law = evaluated(self.law, t, measured, states[k])
        u = numbers_of(of_law.effort)
        efforts = self._series.stages(t, measured, u, states[k + 1 :])  # of the law, and after each block
        passing = zip(self.sensors, readings, readings[1:], states, strict=False)
        parts = [numbers_of(sensor._after(t, before, after, c)) for sensor, before, after, c in passing]
        after = [moved(of_law, states[k], self.period is not None), *self._moved(t, measured, efforts, states[k + 1 :])]
        if self._winds_up or (self._waits and len(states[k])):
            after = self._held(t, measured, states[k:], after, self._cuts(t, measured, efforts, states[k + 1 :]))
        parts += after

        def report() -> Mapping[str, float]:
            return self._report(of_law, readings, efforts, terms.B.shape[1])

        return Evaluation(efforts[-1], np.concatenate(parts), report, efforts[self._drives])

    def _cuts(self, t: float, terms: Terms, efforts: Sequence[Array], states: Sequence[Array]) -> list[_Told]:
        """What limits cut off of the efforts of the law and of each block, told as a change of these efforts.

        Blocks of the machine count as if efforts came to them without lag. None without limits behind.
        """
        drives = self.drive.blocks if isinstance(self.drive, Series) else ()
        passing = zip(self.blocks, efforts, states, strict=False)
        own, u = [block.cut(t, terms, before, c) for block, before, c in passing], efforts[-1]
        for block in drives:
            u, part = block.at_rest(u), block.cut(t, terms, u, None)
            u = u if part is None else u + part
            own.append(part)
        parts = list(zip((*self.blocks, *drives), own, strict=True))
        at_rest = _lost(parts, False)
        at_once = _lost(parts, True) if self._winds_up else at_rest  # which the law does not ask for
        told = zip(efforts, at_rest, at_once, strict=False)
        return [None if x is None or y is None else (Cut(x, u + x), y) for u, x, y in told]

    def _held(
        self, t: float, terms: Terms, states: Sequence[Array], after: Sequence[Array], cuts: Sequence[_Told]
    ) -> list[Array]:
        """Rates or next values of the states of the law and of the blocks, held where limits behind them act."""
        held = list(after)
        for i, (part, state, told) in enumerate(zip((self.law, *self.blocks), states, cuts, strict=False)):
            if told is not None and len(state) and (not i or part.winds_up):
                changed = part.anti_windup(t, terms, state, after[i], *(told if i else told[:1]))
                held[i] = numbers_of(changed)
        return held

    def anti_windup(self, t: float, terms: Terms, state: Array, after: Array, cut: Cut) -> Array:
        k = len(self.sensors)
        before, parts = (_split(x, self._order, terms) for x in (state, after))
        cuts: list[_Told] = [(cut, cut.lost)]
        for block in reversed(self.blocks):
            behind, lost = cuts[-1]  # type: ignore[misc]
            cuts.append((Cut(*(block.efforts_before(u) for u in behind)), block.efforts_before(lost, True)))
        return np.concatenate([*parts[:k], *self._held(t, terms, before[k:], parts[k:], cuts[::-1])])

    @property
    def _limits(self) -> list[EffortBlock]:
        """Blocks behind the law that may cut efforts off."""
        blocks = [*self.blocks, *(self.drive.blocks if isinstance(self.drive, Series) else ())]
        return [block for block in blocks if type(block).cut is not EffortBlock.cut]

    def _moved(self, t: float, terms: Terms, efforts: Sequence[Array], states: Sequence[Array]) -> list[Array]:
        """Rates, or next values, of the states of the effort blocks."""
        if self.period is None:
            return self._series.rates(t, terms, efforts, states)
        blocks = zip(self.blocks, efforts, states, strict=False)
        return [numbers_of(block.update(t, terms, u, c)) for block, u, c in blocks]

    @property
    def _drives(self) -> int:
        """Index of the first block of the machine among `blocks`, in continuous time; their number without one."""
        of_controller = [block.place != "machine" for block in self.blocks]
        return of_controller.index(False) if False in of_controller else len(of_controller)

    def _report(
        self, of_law: Evaluation, readings: Sequence[tuple[Array, Array]], efforts: Sequence[Array], nu: int
    ) -> dict[str, Any]:
        """Report of the law, with what each block adds to positions, velocities or efforts."""
        report, plant = of_law.numbers(), self.plant
        titles = different([snake_case(block) for block in (*self.sensors, *self.blocks)])
        for title, (q0, v0), (q1, v1) in zip(titles, readings, readings[1:], strict=False):
            names = plant.velocity_names  # type: ignore[union-attr]
            change = v1 - v0 if q1 is q0 else plant.difference(q0, q1)  # type: ignore[union-attr]
            report |= {f"{title}_{n}": x for n, x in zip(names, change, strict=True)}
        motors = [str(i + 1) for i in range(nu)] if plant is None else plant.actuator_names
        pairs = zip(titles[len(self.sensors) :], self.blocks, efforts, efforts[1:], strict=False)
        for title, block, before, after in pairs:
            if block.latency is None:
                report |= {f"{title}_{n}": x for n, x in zip(motors, after - before, strict=True)}
        return report

    def report_units(self) -> Mapping[str, str]:
        units, plant = {} if self.law is None else dict(self.law.report_units()), self.plant
        titles = different([snake_case(block) for block in (*self.sensors, *self.blocks)])
        if plant is not None:
            rates = zip(plant.velocity_names, plant.velocity_units, strict=True)
            ways = {name: unit.removesuffix("/s") for name, unit in rates}
            efforts = dict(zip(plant.actuator_names, effort_units(plant), strict=True))
            for k, title in enumerate(titles):
                units |= {f"{title}_{n}": u for n, u in (ways if k < len(self.sensors) else efforts).items()}
        return units

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        told = ""
        if self.law is not None and self.law.integrates:
            limits = ", ".join(dict.fromkeys(_title(block) for block in self._limits))
            told = f"; integrals wait at the limits of {limits}" if limits else ""
        return f"<Chain {self}{told}>"


# -- helpers of the blocks --------------------------------------------------------------------------------


def of_motors(given: ArrayLike | Mapping[str, float], setting: Setting, block: Block, what: str) -> Array:
    """Values of the motors: (nu,), or () for one that serves all; 0 for motors that a mapping does not name."""
    if isinstance(given, Mapping):
        names = setting.known(block, "for names of motors").actuator_names
        for name, value in given.items():
            _check.number(value, f"{what}, {_check.one_of(name, names, 'motor', what)!r},", infinite=True)
        given = [given.get(name, 0.0) for name in names]
    x = _check.numbers(given, what, "a number, or one for each motor")
    if setting.plant is not None:
        require_one_each(x, setting.plant, what)
    return x


def per_motor(given: ArrayLike | Mapping[str, float], setting: Setting, block: Block, what: str) -> Array:
    """Values >= 0 of the motors, (nu,) or (); see `of_motors`."""
    x = of_motors(given, setting, block, what)
    require_not_negative(x, what)
    return x


def require_values(given: ArrayLike | Mapping[str, float], what: str, negative: bool = False) -> None:
    """Refuse values that no motor can have, when a block is made; their count and names are checked in its chain."""
    if isinstance(given, Mapping):
        for name, value in given.items():
            require_values(_check.number(value, f"{what} of {name!r}", infinite=True), f"{what} of {name!r}", negative)
        return
    x = _check.numbers(given, what, "a number, or one for each motor")
    if not negative:
        require_not_negative(x, what)


def require_not_negative(x: Array, what: str) -> None:
    """Refuse values that are not a number >= 0, or one for each motor."""
    if x.ndim > 1 or np.isnan(x).any() or (x < 0.0).any():
        raise InputError(f"{what} must be a number >= 0 or one for each motor, got {x.tolist()}")


def require_one_each(x: Array, plant: Plant, what: str) -> None:
    """Refuse values that are not one for each motor of the plant."""
    if x.ndim and x.shape != (plant.nu,):
        raise InputError(
            f"{what} must have one entry for each motor ({', '.join(plant.actuator_names)}), got shape {x.shape}"
        )


def _lost(parts: Sequence[tuple[EffortBlock, Array | None]], at_once: bool) -> list[Array | None]:
    """What blocks cut off, as changes of the efforts before each of them and behind the last; None for nothing."""
    lost: list[Array | None] = [None]
    for block, own in reversed(parts):
        behind = None if lost[-1] is None else block.efforts_before(lost[-1], at_once)
        found = [numbers_of(x) for x in (behind, own) if x is not None]
        lost.append(sum(found[1:], found[0]) if found else None)
    return lost[::-1]


def names_of_states(part: Any, plant: Plant, otherwise: str = "law") -> list[str]:
    """Names of the states of a part, numbered unless it names them."""
    count, names = start_of(part, plant).size, list(part.state_names(plant))
    return names if len(names) == count else [f"{otherwise}_{i + 1}" for i in range(count)]


def different(names: Sequence[str]) -> list[str]:
    """Names made different: one that comes again gets a number, ``left_2``."""
    return [n if n not in names[:i] else f"{n}_{names[:i].count(n) + 1}" for i, n in enumerate(names)]


def _split(state: Array, parts: Sequence[Any], terms: Terms) -> list[Array]:
    """States of each part; those that no block has belong to the law."""
    if not len(state):
        return [state] * len(parts)
    counts = [part.count(terms) if isinstance(part, Block) else None for part in parts]
    rest, states, end = len(state) - sum(n for n in counts if n is not None), [], 0
    for n in counts:
        begin, end = end, end + (rest if n is None else n)
        states.append(state[begin:end])
    return states


def _as_part(part: Any) -> Block | Controller:
    """Block or law of a chain from what the user gave; numbers are constant efforts."""
    if isinstance(part, Block):
        return part
    if callable(part):
        return as_controller(part)
    try:
        return ConstantEffort(part)
    except (TypeError, ValueError):
        raise InputTypeError(f"a part of a chain is a block, a controller or numbers, got {part!r}") from None


def _plant_of(law: Any, parts: Sequence[Any]) -> Plant | None:
    """Plant as the controller knows it: of the first block that has one, else of the law; None without any."""
    given = [part.plant for part in parts if isinstance(part, Block) and part.plant is not None]
    for plant in given:
        if not isinstance(plant, Plant):
            raise InputTypeError(f"the plant of a block must be a plant, such as a Mechanism, got {plant!r}")
    plants = given if law.plant is None else [*given, law.plant]
    for plant in plants:
        require_same_signals(plants[-1], plant)
    return plants[0] if plants else None


def _title(part: Block | Controller) -> str:
    """Name of a part in the text of a chain: of a controller its name, of a block its class."""
    return part.name if isinstance(part, Controller) else type(part).__name__


def snake_case(block: Block) -> str:
    """The name of a block in reports: FirstOrderActuator becomes first_order_actuator."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(block).__name__).lower()
