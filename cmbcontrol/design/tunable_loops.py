"""Laws of the library with free gains, as gains of generalized plants: loops of many machines for `design.structured`.

The linear model of a law is a matrix: from states of the plant, states of the law and its reference to efforts and to
rates (or next values) of its states. A closed loop is the plant, with its hold, delays and drives, and this matrix
around it; gains are in nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..controllers.closed_loop import linearize_closed_loop
from ..controllers.controller import Controller
from ..controllers.law_gains import FrozenLaw, Gains, Ways, law_gains, unit_efforts
from ..controllers.references import Constant
from ..errors import InputError, InputTypeError
from ..linear.generalized_plant import GeneralizedPlant
from ..model.plant import Plant
from .tune import Range
from .uncertain_loop import Uncertainty

__all__ = ["LoopCase", "TunableLoops"]

Array = NDArray[np.float64]

_AFFINE = 1e-9  # of the largest entries: gains that are affine in a parameter are so to the accuracy of differences
_STEP = 1e-3  # of a range, for derivatives by parameters in which a law is not affine: differences of order 4


class LoopCase(NamedTuple):
    """One machine at rest at one configuration, with the loop open where the law stands.

    Attributes
    ----------
    label : str
    plant : Plant
    q : ndarray, shape (nq,)
    A, entry : ndarray
        Open loop: plant with hold, delays and drives, and the law's states; columns of efforts and of these states.
    states : int
        Of the plant, which the law reads: the first ones.
    law_states : int
    disturbances : ndarray, shape (n, nu)
        Columns of efforts that act at the motors.
    outputs : dict of str to ndarray
        Rows of what is followed.
    unit_efforts, unit_outputs : ndarray
        Large efforts and changes, by which signals of different units count alike.
    dt : float
    """

    label: str
    plant: Plant
    q: Array
    A: Array
    entry: Array
    states: int
    law_states: int
    disturbances: Array
    outputs: Mapping[str, Array]
    unit_efforts: Array
    unit_outputs: Array
    dt: float
    ways: Ways
    rest: Array
    free: NDArray[np.int64]


class TunableLoops:
    """Loops of one law with free gains on several machines, each at several configurations.

    Parameters
    ----------
    machines : mapping of str to (Plant, configuration)
    law : callable
        ``law(**gains)``: a law, or a chain, with a reference and coordinates.
    gains : mapping of str to Range
    delay : float
        Of the efforts of a sampled law, s.

    Raises
    ------
    InputError, InputTypeError
        For a law without reference or coordinates, one that measures forces, and gains that change its states.
    """

    def __init__(
        self,
        machines: Mapping[str, tuple[Plant, Array]],
        law: Callable[..., Any],
        gains: Mapping[str, Range],
        delay: float = 0.0,
    ) -> None:
        self.law, self.ranges, self.names = law, dict(gains), tuple(gains)
        middle = self.law(**self.values(np.zeros(len(self.names))))
        if not isinstance(middle, Controller) or middle.reference is None or middle.coordinates is None:
            raise InputTypeError(
                "law(**gains) must return a controller with coordinates and a reference, which say what configuration "
                f"to hold, got {middle!r}"
            )
        if middle.measures_force:
            raise InputError(f"{middle.name} measures the constraint force, which tuning of structures does not know")
        self.coordinates = tuple(middle.coordinates)
        for plant, _ in machines.values():
            for name in self.coordinates:
                _check.one_of(name, plant.position_names, "coordinate of the machine", f"{middle.name} follows")
        self.delay = delay
        begun = [self._case(label, plant, q) for label, (plant, q) in machines.items()]
        self.cases, self._begun = [case for case, _ in begun], [K for _, K in begun]
        self._look()

    def _look(self) -> None:
        """Find out how the matrices of the law depend on its gains, in all cases."""
        self._shared = False
        self._shared = len(self.cases) > 1 and self._is_shared()
        self._constant, self._slopes, self._anew = self._affine()

    def with_machines(self, machines: Mapping[str, tuple[Plant, Array]]) -> TunableLoops:
        """The same with further machines behind the others."""
        made = copy(self)
        begun = [self._case(label, plant, q) for label, (plant, q) in machines.items()]
        made.cases = [*self.cases, *(case for case, _ in begun)]
        made._begun = [*self._begun, *(K for _, K in begun)]
        made._look()
        return made

    # -- parameters ----------------------------------------------------------------------------------------------

    def values(self, theta: Array) -> dict[str, float]:
        """Gains by name: theta, of any size, is mapped into the ranges."""
        shares = 1.0 / (1.0 + np.exp(-np.clip(theta, -40.0, 40.0)))
        return {name: r.value(float(x)) for (name, r), x in zip(self.ranges.items(), shares, strict=True)}

    def theta(self, values: Mapping[str, float]) -> Array:
        """Parameters of gains, within their ranges."""
        shares = [min(max(r.share(values[name]), 1e-6), 1.0 - 1e-6) for name, r in self.ranges.items()]
        return np.log(np.array(shares) / (1.0 - np.array(shares)))

    @property
    def start(self) -> Array:
        return self.theta({n: r.value(0.5) if r.start is None else r.start for n, r in self.ranges.items()})

    def drawn(self, rng: np.random.Generator) -> Array:
        return self.theta({name: r.value(float(rng.uniform(0.05, 0.95))) for name, r in self.ranges.items()})

    def _rates(self, theta: Array) -> Array:
        """Derivatives of the gains by theta."""
        share = 1.0 / (1.0 + np.exp(-np.clip(theta, -40.0, 40.0)))
        values = self.values(theta)
        found = [values[n] * np.log(r.high / r.low) if r.log else r.high - r.low for n, r in self.ranges.items()]
        return np.array(found) * share * (1.0 - share)

    # -- the loop, open ------------------------------------------------------------------------------------------

    def held(self, plant: Plant, q: Array, values: Mapping[str, float]) -> Any:
        goal = Constant([q[plant.position_names.index(name)] for name in self.coordinates])
        return self.law(**values).with_reference(goal)

    def _case(self, label: str, plant: Plant, q: Array) -> tuple[LoopCase, Array]:
        """A machine with the loop open, and the matrix of the law at the start."""
        law = self.held(plant, q, self.values(self.start))
        dof = plant.terms(q, np.zeros(plant.nv)).dof
        coordinates = self.coordinates if len(self.coordinates) == dof else None
        loop = linearize_closed_loop(plant, law, q, coordinates=coordinates, delay=self.delay or None, trace_at=q)
        parts = loop._parts
        inner, n, nu = parts.inner, len(loop.A), plant.nu
        moved = np.zeros((inner.c_c.shape[0], n))
        states = inner.u_x.shape[1]
        moved[:, :states], moved[:, states : states + len(moved)] = inner.c_x, inner.c_c
        frozen, ways = FrozenLaw(plant, law, 0.0, trace_at=q).without_drive(q), Ways.of(loop.plant)
        g = law_gains(frozen, ways, loop.rest.state)
        changing = np.flatnonzero(g.changing(frozen))
        rows = {name: loop.C[loop.outputs.index(name)] for name in self.coordinates if name in loop.outputs}
        if len(rows) < len(self.coordinates):
            raise InputError(
                f"{law.name} follows {', '.join(self.coordinates)}, which are no outputs of the linear model"
            )
        units = dict(zip(plant.position_names, plant.position_units, strict=True))
        case = LoopCase(
            label=label,
            plant=plant,
            q=loop.point.q,
            A=loop.A - parts.entry @ parts.effort - parts.law @ moved,
            entry=np.hstack([parts.entry, parts.law]),
            states=states,
            law_states=len(moved),
            disturbances=loop.B[:, :nu],
            outputs=rows,
            unit_efforts=unit_efforts(plant.terms(loop.point.q, np.zeros(plant.nv))),
            unit_outputs=np.array([plant.size if units[name] == "m" else 1.0 for name in self.coordinates]),
            dt=loop.dt,
            ways=ways,
            rest=loop.rest.state,
            free=changing,
        )
        return case, _as_matrix(g.of_states(np.isin(np.arange(g.c_c.shape[0]), changing)), case)

    # -- gains ---------------------------------------------------------------------------------------------------

    def _matrix(self, case: LoopCase, values: Mapping[str, float]) -> Array:
        """Linear model of the law: rows are efforts, then its states; columns x, its states, reference."""
        held = self.held(case.plant, case.q, values)
        law = FrozenLaw(case.plant, held, 0.0, trace_at=case.q).without_drive(case.q)
        g = law_gains(law, case.ways, case.rest)
        some = case.free
        if g.c_c.shape[0] <= (some.max() if some.size else -1):
            raise InputError(f"{law.name} has other states with the gains {dict(values)}")
        g = g.of_states(np.isin(np.arange(g.c_c.shape[0]), some))
        return _as_matrix(g, case)

    def _is_shared(self) -> bool:
        """Whether the law has one matrix in all cases: at the start, and at random gains in the first and the last."""
        drawn = self.values(self.drawn(np.random.default_rng(0)))
        for first, *others in (self._begun, [self._matrix(case, drawn) for case in (self.cases[0], self.cases[-1])]):
            size = np.abs(first).max(initial=0.0)
            if any(x.shape != first.shape or np.abs(x - first).max() > _AFFINE * size for x in others):
                return False
        return True

    @property
    def _looked_at(self) -> list[LoopCase]:
        return self.cases[:1] if self._shared else self.cases

    def _affine(self) -> tuple[list[Array], list[Array], bool]:
        """Matrices K0 and slopes of laws that are affine in all gains together, and whether they are not.

        Slopes are mostly those of the first case: what machines and poses differ in is the feedforward.
        """
        base, tried = self.values(self.start), self.values(self.drawn(np.random.default_rng(1)))
        x = np.array(list(base.values()))
        step = np.array(list(tried.values())) - x
        constant: list[Array] = []
        slopes: list[Array] = []
        for case, K in zip(self._looked_at, self._begun, strict=False):
            there = self._matrix(case, tried)
            for own in (False, True):
                if not own and not slopes:
                    continue
                dK = self._slopes_of(case, K, base) if own else slopes[0]
                fits = K.shape == dK.shape[1:] and np.abs(K + np.tensordot(step, dK, 1) - there).max() <= (
                    1e-6 * np.abs(there).max()
                )
                if fits:
                    break
            else:
                return [], [], True
            constant.append(K - np.tensordot(x, dK, 1))
            slopes.append(dK)
        return constant, slopes, False

    def _slopes_of(self, case: LoopCase, K: Array, base: dict[str, float]) -> Array:
        """Change of the matrix by each gain, from its matrix K at the gains `base`."""
        made = []
        for name, r in self.ranges.items():
            far = r.high if r.high - base[name] >= base[name] - r.low else r.low
            made.append((self._matrix(case, base | {name: far}) - K) / (far - base[name]))
        return np.array(made)

    def gains(self, theta: Array) -> list[Array]:
        """Matrices of the law, one for each case."""
        values = self.values(theta)
        if self._anew:
            found = [self._matrix(case, values) for case in self._looked_at]
        else:
            x = np.array(list(values.values()))
            moved = _each(self._slopes, lambda dK: np.tensordot(x, dK, 1))
            found = [K0 + K for K0, K in zip(self._constant, moved, strict=True)]
        return found * len(self.cases) if self._shared else found

    def derivatives(self, theta: Array) -> list[Array]:
        """Their derivatives by theta."""
        rates, values = self._rates(theta), self.values(theta)
        slopes = [self._differences(case, values) for case in self._looked_at] if self._anew else self._slopes
        found = _each(slopes, lambda dK: dK * rates[:, None, None])
        return found * len(self.cases) if self._shared else found

    def _differences(self, case: LoopCase, values: dict[str, float]) -> Array:
        made = []
        for name, r in self.ranges.items():
            at = values[name]
            h = min(_STEP * (at if r.log else r.high - r.low), 0.49 * (at - r.low), 0.49 * (r.high - at))
            if h <= 1e-9 * (r.high - r.low):  # at a bound, where theta moves the gain no more
                made.append(np.zeros_like(self._matrix(case, values)))
                continue
            near, far = (
                self._matrix(case, values | {name: at + k * h}) - self._matrix(case, values | {name: at - k * h})
                for k in (1, 2)
            )
            made.append((8.0 * near - far) / (12.0 * h))
        return np.array(made)

    # -- generalized plants --------------------------------------------------------------------------------------

    def generalized(
        self, case: LoopCase, inputs: Sequence[str], outputs: Sequence[str], uncertainty: Uncertainty | None = None
    ) -> GeneralizedPlant:
        """Plant from command, effort, reference, reading (some) to output, error, effort, load, disk (some).

        With an uncertainty of the machine its signals w come before other inputs, and z before other outputs.

        Each signal in its units: efforts over `unit_efforts`, coordinates over `unit_outputs`. A command is added to
        what the law asks for, before delays and drives; an effort acts at the motors. As outputs, ``effort`` is what
        the law asks for, ``load`` is that and the command, and ``disk`` is their middle, whose inverse norm is the disk
        margin.
        """
        n, nu, k = len(case.A), case.plant.nu, len(self.coordinates)
        read = case.states + case.law_states + 3 * k
        of_law = nu + case.law_states
        B1: list[Array] = []
        D21: list[Array] = []
        into: dict[str, slice] = {}
        if uncertainty is not None:
            into["uncertainty"] = slice(0, uncertainty.B_w.shape[1])
            B1.append(uncertainty.B_w)
            D21.append(np.zeros((read, uncertainty.B_w.shape[1])))
        for name in inputs:
            wide = {"command": nu, "effort": nu, "reference": k, "reading": case.states}[name]
            B, D = np.zeros((n, wide)), np.zeros((read, wide))
            if name in ("command", "effort"):
                B[:] = (case.entry[:, :nu] if name == "command" else case.disturbances) * case.unit_efforts
            elif name == "reference":
                D[case.states + case.law_states :][:k] = np.diag(case.unit_outputs)
            else:
                D[: case.states] = np.eye(case.states)
            into[name] = slice(sum(x.shape[1] for x in B1), sum(x.shape[1] for x in B1) + wide)
            B1.append(B)
            D21.append(D)
        rows = np.array([case.outputs[name] for name in self.coordinates]) / case.unit_outputs[:, None]
        C1: list[Array] = []
        D12: list[Array] = []
        D11: list[Array] = []
        m = sum(x.shape[1] for x in B1)
        if uncertainty is not None:
            felt = np.zeros((len(uncertainty.C), m))
            felt[:, into["uncertainty"]] = uncertainty.D_w
            for name, D in (("command", uncertainty.D_u), ("effort", uncertainty.D_d)):
                if name in into:
                    felt[:, into[name]] = D * case.unit_efforts
            C1.append(uncertainty.C)
            D12.append(np.pad(uncertainty.D_u, [(0, 0), (0, case.law_states)]))
            D11.append(felt)
        for name in outputs:
            high = k if name in ("output", "error") else nu
            C, D, F = np.zeros((high, n)), np.zeros((high, of_law)), np.zeros((high, m))
            if name in ("output", "error"):
                C[:] = rows if name == "output" else -rows
                if name == "error" and "reference" in into:
                    F[:, into["reference"]] = np.eye(k)
            else:
                D[:, :nu] = np.diag(1.0 / case.unit_efforts)
                if name != "effort" and "command" in into:
                    F[:, into["command"]] = np.eye(nu) * (1.0 if name == "load" else 0.5)
            C1.append(C)
            D12.append(D)
            D11.append(F)
        C2 = np.zeros((read, n))
        C2[: case.states + case.law_states, : case.states + case.law_states] = np.eye(case.states + case.law_states)
        return GeneralizedPlant(
            case.A,
            np.hstack(B1),
            case.entry,
            np.vstack(C1),
            C2,
            np.vstack(D11),
            np.vstack(D12),
            np.hstack(D21),
            dt=case.dt,
        )


def _each(slopes: list[Array], function: Callable[[Array], Array]) -> list[Array]:
    """Results of a function, one for all slopes that are the first ones."""
    first = function(slopes[0])
    return [first if dK is slopes[0] else function(dK) for dK in slopes]


def _as_matrix(g: Gains, case: LoopCase) -> Array:
    """Matrix of a law, with zero columns for states of drives, which it does not read, and for a reference it lacks."""
    nu, m, x = len(g.u_x), len(g.c_c), g.u_x.shape[1]
    wide = np.zeros((nu + m, case.states + m))
    wide[:nu, :x], wide[nu:, :x] = g.u_x, g.c_x
    wide[:nu, case.states :], wide[nu:, case.states :] = g.u_c, g.c_c
    return np.hstack([wide, np.vstack([g.u_r, g.c_r])])
