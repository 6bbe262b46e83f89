"""Equilibrium of a plant under a law."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import ROUNDING
from ..errors import CmbError, EquilibriumError, InputError, InputTypeError
from ..linear.operating import OperatingPoint
from ..linear.reduced import Reduced, reduced_model
from ..linear.statics import (
    list_forces,
    multipliers,
    relative_force,
    require_closed,
    static_derivatives,
    unbalanced_force,
)
from ..model.plant import Plant
from ..model.terms import Terms
from .law_gains import FrozenLaw, Gains, Ways, law_gains, state_sizes, unit_efforts

__all__ = ["Guess", "RestingLoop", "closed_loop_equilibrium", "equilibrium_of", "given_state"]

Array = NDArray[np.float64]

_SMALLEST = 1e-13  # step of Newton's method that changes nothing, in the same units
_CLOSED = 1e-15  # sizes of the machine: as far as rounding allows
_LONGEST = 0.3  # step of Newton's method, in radians or sizes of the machine
_TRIES, _DIFFERENCE, _SETTLED = 20, 1e-4, 1e-10  # of states of a drive: steps, and parts of a large change


class RestingLoop(NamedTuple):
    """A state of the plant and of the law in which both are at rest.

    Attributes
    ----------
    point : OperatingPoint
        Operating point of the plant, with the efforts of the law.
    state : ndarray, shape (n,)
        States of the law.
    drive : ndarray, shape (m,)
        States of the drive behind the held efforts of a sampled law, where it has one.
    """

    point: OperatingPoint
    state: Array
    drive: Array = np.zeros(0)

    def __repr__(self) -> str:
        name = "" if self.point.plant is None else f" of {self.point.plant.name!r}"
        states = f", states of the law {self.state.round(6).tolist()}" if self.state.size else ""
        return (
            f"<RestingLoop{name}: q = {self.point.q.round(6).tolist()}, u = {self.point.u.round(6).tolist()}{states}>"
        )


Guess = OperatingPoint | RestingLoop | ArrayLike | Mapping[str, float] | None


def closed_loop_equilibrium(
    plant: Plant,
    law: Any,
    guess: Guess = None,
    *,
    state: ArrayLike | None = None,
    t: float = 0.0,
    tolerance: float = 1e-9,
    trace_at: ArrayLike | None = None,
) -> RestingLoop:
    """Equilibrium of a plant under a law: with a wrong model, a load or weak gains, not quite the desired one.

    Newton's method on the manifold for Z'(h - B u(q, 0, c)) = 0 and dc/dt = 0 (or c(k+1) = c(k)), with u by the law.

    Parameters
    ----------
    plant : Plant
    law : Controller
        Continuous or sampled; numbers count as constant efforts.
    guess : OperatingPoint, RestingLoop, array_like (nq,) or mapping, optional
        Closed configuration to start from. By default, the machine is assembled at the position of the law's
        reference, where it has one with coordinates.
    state : array_like, optional
        States of the law to start from; defaults to those of ``law.start(plant)``.
    t : float
        Time at which the law and its reference are frozen, s.
    tolerance : float
        Largest force left, relative to weights, springs, motor forces and stiffness.
    trace_at : array_like, shape (nq,), optional
        As in `linearize_closed_loop`.

    Returns
    -------
    RestingLoop

    Raises
    ------
    EquilibriumError
        Where no rest is found (it lists the generalized force that is left), or the reference moves at t.
    AssemblyError
        Where the guess does not close the loops.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.controllers import ProjectedInverseDynamics
    >>> plant = plants.five_bar()
    >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
    >>> closed_loop_equilibrium(plant, law).point.u.round(2)
    array([-31.49,  32.91])
    """
    _check.plant(plant)
    _check.positive(tolerance, "tolerance")
    sample = None if trace_at is None else _check.vector(trace_at, plant.nq, "trace_at", plant.position_names)
    return equilibrium_of(FrozenLaw(plant, law, _check.number(t, "t"), trace_at=sample), guess, state, tolerance)


def equilibrium_of(law: FrozenLaw, guess: Guess, state: ArrayLike | None, tolerance: float = 1e-9) -> RestingLoop:
    """Equilibrium of a plant under a frozen law; see `closed_loop_equilibrium`."""
    _require_standing(law)
    rest = _Rest(law, *_begin(law, guess, state, np.zeros(law.plant.nv)))
    part = 1.0  # of Newton's step; it has to bring the next step down (Deuflhard's natural test)
    for _ in range(100):
        step = rest.newton()
        if rest.size(step) <= _SMALLEST:
            break
        part = min(part, rest.longest(step))
        next_rest = rest.moved(part * step)
        left = np.inf if next_rest is None else rest.size(rest.newton(next_rest))
        if next_rest is not None and left <= (1.0 - 0.25 * part) * rest.size(step):
            rest, part = next_rest, min(1.0, 4.0 * part)
            if left <= _SMALLEST:
                break  # with the derivatives before; those here say the same
        elif rest.relative <= tolerance or part < 1e-5:
            break  # rounding, or no way on
        else:
            part *= 0.5
    rest.require(tolerance)
    state, _, drive = law.split(rest.state)
    return RestingLoop(OperatingPoint.at(law.plant, rest.q, rest.u), state, drive)


class _Rest:
    """State of a plant and a law with its residuals from rest, and their derivatives."""

    def __init__(self, law: FrozenLaw, q: Array, state: Array) -> None:
        plant = law.plant
        self.plant, self.law, self.q, self.state = plant, law, q, state
        self.terms = terms = plant.terms(q, np.zeros(plant.nv), law.t)
        self.Z = terms.Z
        self.u, moved = law(terms, state)
        self.still = law.still(state, moved)
        self.a = self.Z @ np.linalg.solve(self.Z.T @ terms.M @ self.Z, self.Z.T @ (terms.B @ self.u - terms.h))

    @cached_property
    def left(self) -> Array:
        """Generalized force (nv,) that is not balanced."""
        return unbalanced_force(self.terms, self.u)

    @cached_property
    def relative(self) -> float:
        """Residual relative to all forces here; or that of the law's states, where that is more.

        A rate (or a step to the next value) counts relative to its changes by large changes of the states, and by a
        motion of a radian or the size of the machine.
        """
        lam = multipliers(self.terms, self.u)
        local = static_derivatives(self.plant, self.q, lam, self.u)
        force = relative_force(self.plant, local, self.left, lam, self.u)
        if not self.still.size:
            return force
        state = np.abs(self.state[self.law.free])
        rows = np.abs(self._jacobian[self.Z.shape[1] :])
        felt = (
            rows[:, : self.Z.shape[1]] @ (self.Z.T**2 @ self.plant.displacement_scale)
            + rows[:, self.Z.shape[1] :] @ self._sizes
        )
        still = np.maximum(np.abs(self.still) - ROUNDING * (1.0 + state), 0.0)
        return max(force, float((still / np.maximum(felt, 1e-300)).max()))

    @cached_property
    def _reduced(self) -> Reduced:
        """Linear model of the plant in y = Z' (q' [-] q)."""
        return reduced_model(self.plant, self.q, np.zeros(self.plant.nv), self.u, np.ascontiguousarray(self.Z.T))

    @cached_property
    def _ways(self) -> Ways:
        names = tuple(f"{what}{i + 1}" for what in ("y", "y_rate") for i in range(self.Z.shape[1]))
        return Ways(self.q, np.zeros(self.plant.nv), self._reduced.K, self._reduced.N, names)

    @cached_property
    def _gains(self) -> Gains:
        """Derivatives of the law by y and its states."""
        return law_gains(self.law, self._ways, self.state, whole=False)

    @cached_property
    def _changing(self) -> NDArray[np.bool_]:
        """Which states of the law change with anything; an integral of a velocity does so in motion only."""
        found = self._gains.changing(self.law) | (self.still != 0.0)
        return found if found.all() else found | law_gains(self.law, self._ways, self.state).changing(self.law)

    @cached_property
    def _jacobian(self) -> Array:
        """Jacobian d(Z'a, still)/d(y, c), in y = Z' (q' [-] q)."""
        n, reduced, g = self.Z.shape[1], self._reduced, self._gains
        B, c_c = reduced.B[n:], g.c_c + g.c_u @ g.u_c - np.diag(self.law.sampled.astype(float))
        return np.block([[reduced.A[n:, :n] + B @ g.u_x, B @ g.u_c], [g.c_x + g.c_u @ g.u_x, c_c]])

    @cached_property
    def _sizes(self) -> Array:
        """Large changes of the law's states."""
        return state_sizes(self.law, self.terms, self.state, self.u, unit_efforts(self.terms))

    def _solved(self, left: Array) -> Array:
        """Newton's step for the residuals, the smallest one where there are several, in large changes of all unknowns.

        Rows and columns are brought to one size first: accelerations, rates, and next values of any unit.
        """
        columns = np.concatenate([self.Z.T**2 @ self.plant.displacement_scale, self._sizes])
        # States that nothing changes, as an integral without a gain, are no unknowns: they stay what they are.
        columns[self.Z.shape[1] :] *= self._changing
        J = self._jacobian * columns
        rows = np.maximum(np.abs(J).max(axis=1, initial=0.0), 1e-300)
        return -columns * (np.linalg.pinv(J / rows[:, None], rcond=1e-12) @ (left / rows))

    def newton(self, other: _Rest | None = None) -> Array:
        """Newton's step towards rest; from another state, with the derivatives and in the directions of this one."""
        other = self if other is None else other
        return self._solved(np.concatenate([self.Z.T @ other.a, other.still]))

    def size(self, step: Array) -> float:
        """Largest entry of a step, in radians or sizes of the machine; of the law's states, relative to large ones."""
        n = self.Z.shape[1]
        motion = np.abs(self.Z @ step[:n] / self.plant.displacement_scale).max(initial=0.0)
        return max(float(motion), self._largest_state(step[n:]))

    def _largest_state(self, change: Array) -> float:
        """Largest change of a state of the law, as a part of a large one; 0 for a law whose states never change."""
        return float(np.abs(change / self._sizes).max(initial=0.0))

    def longest(self, step: Array) -> float:
        """Part of a step that moves no coordinate too far at once."""
        motion = step * (np.arange(step.size) < self.Z.shape[1])
        return min(1.0, _LONGEST / max(self.size(motion), 1e-300))

    def moved(self, step: Array) -> _Rest | None:
        """State after a step, with the loops closed again; None where they do not close, or the law fails."""
        n = self.Z.shape[1]
        try:
            q = self.plant.close(self.plant.integrate(self.q, self.Z @ step[:n]), accuracy=_CLOSED)
            state = self.state.copy()
            state[self.law.free] += step[n:]
            return _Rest(self.law, q, state)
        except (InputError, InputTypeError):  # a mistake in a call, which another try does not mend
            raise
        except CmbError:
            return None

    def require(self, tolerance: float) -> None:
        """Refuse a state that is not at rest, with the force that is left."""
        if self.relative <= tolerance:
            return
        where = (
            f"at q = {np.round(self.q, 6).tolist()} the generalized force left is {list_forces(self.plant, self.left)}"
        )
        if self.law.moves:
            where += f", and the states of the law still change by {np.round(self.still, 9).tolist()}"
        raise EquilibriumError(
            f"{self.plant.name!r} comes to no rest under {self.law.name} near the guess: {where}. Start nearer."
        )


def _require_standing(law: FrozenLaw) -> None:
    """Refuse a reference that moves."""
    if law.reference is not None and any(np.any(x) for x in law.reference[1:]):
        rate, acceleration = (np.round(x, 6).tolist() for x in law.reference[1:])
        moves = "moves" if np.any(law.reference[1]) else "is accelerating"
        raise EquilibriumError(
            f"the reference of {law.name} {moves} at t = {law.t:.6g} s (velocity {rate}, acceleration {acceleration}), "
            "so that the loop does not rest. Give another t, a Constant reference, or a state and "
            "find_equilibrium=False."
        )


def _begin(law: FrozenLaw, guess: Guess, state: ArrayLike | None, v: Array) -> tuple[Array, Array]:
    """Closed configuration to start from, and states of the law there, from the guess of the user."""
    plant = law.plant
    drive = law.split(law.start)[2]
    if isinstance(guess, RestingLoop):
        state = guess.state if state is None else state
        drive = guess.drive if guess.drive.size == drive.size else drive
        guess = guess.point
    if isinstance(guess, OperatingPoint):
        guess = guess.q
    if guess is None:
        names = law.coordinates
        at = {} if names is None or law.reference is None else dict(zip(names, law.reference[0], strict=True))
        guess = plant.assemble(**at)
    guess = plant.pack(guess) if isinstance(guess, Mapping) else guess
    q = _check.vector(guess, plant.nq, "q (the guess, or the point)", plant.position_names).copy()
    require_closed(plant, q)
    own, before, _ = law.split(law.start)
    if state is not None:
        return q, np.concatenate([_check.vector(state, own.size, f"state of {law.name}"), before, drive])
    if law.period is not None and own.size:
        # one sample earlier on the same way, so that what is special about a first sample is over
        earlier = plant.close(plant.integrate(q, -law.period * v)) if v.any() else q
        terms = plant.terms(earlier, v, law.t)
        own = law.law.begun(own, law.split(law(terms, law.start)[1])[0], terms)
    return q, np.concatenate([own, before, drive])


def given_state(law: FrozenLaw, point: Guess, state: ArrayLike | None) -> RestingLoop:
    """State that the user gives, at rest or not, with the efforts of the law there.

    States that are not given are those of a loop that has been at work before: filters have read, and drives give the
    efforts that they are asked for, where they can.
    """
    plant = law.plant
    at = point.point if isinstance(point, RestingLoop) else point
    v = at.v if isinstance(at, OperatingPoint) else np.zeros(plant.nv)
    q, c = _begin(law, point, state, v)
    terms = plant.terms(q, v, law.t)
    if law.drive is not None and not isinstance(point, RestingLoop):
        c = _driven(law, terms, c)
    u = law(terms, c)[0]
    own, _, drive = law.split(c)
    return RestingLoop(OperatingPoint.at(plant, q, u, v), own, drive)


def _driven(law: FrozenLaw, terms: Terms, state: Array) -> Array:
    """States with those of the drive at rest under the law's command; unchanged where Newton's method fails."""
    n, found = law.split(state)[2].size, state
    first = state.size - n
    sizes = state_sizes(law, terms, state, law(terms, state)[0], unit_efforts(terms))[first:]

    def rate(c: Array) -> Array:
        return law(terms, c)[1][first:]

    with contextlib.suppress(CmbError, np.linalg.LinAlgError):
        for _ in range(_TRIES):
            steps = _DIFFERENCE * np.maximum(sizes, np.abs(found[first:]))
            J = np.empty((n, n))
            for k, h in enumerate(steps):
                e = h * np.eye(state.size)[first + k]
                J[:, k] = (rate(found + e) - rate(found - e)) / 2.0
            step = np.linalg.solve(J, -rate(found)) * steps
            found = found + np.concatenate([np.zeros(first), step])
            if (np.abs(step) <= _SETTLED * (sizes + np.abs(found[first:]))).all():
                return found
    return state
