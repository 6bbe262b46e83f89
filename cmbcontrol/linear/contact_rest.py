"""Rest on contacts and end stops: finds those that carry, by the complementarity of gap and push.

In a set of closed contacts the search is that without contacts. What it runs into closes; at an equilibrium a contact
that would have to pull opens, and one that needs more friction than it has slides. Each opening or sliding leaves a set
that the search must not come back to: so it ends, with forces that keep all limits, or with the contact that cannot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import EquilibriumError, InputError
from ..model.plant import Plant
from ..model.terms import Terms
from ..model.units import in_unit, row_force_units
from .contact_modes import OPEN, SLIDES, STICKS, ContactModes
from .contact_statics import BORDER, EXACT, ClosedContact, ContactStatics, Loads
from .equilibrium_solver import (
    Balance,
    close_with,
    nearest_equilibrium,
    require_balance,
    require_joint_limits,
    search,
)
from .static_efforts import Efforts, smallest_efforts, static_efforts
from .statics import multipliers, require_holonomic

__all__ = ["ContactForce", "Rest", "rest_on_contacts"]

Array = NDArray[np.float64]

PUSHES, SHARES, BORDERS = "pushes", "shares", "border"  # and open


class ContactForce(NamedTuple):
    """State and forces of a contact or end stop at an operating point.

    Attributes
    ----------
    name : str
        End stops are called ``<coordinate>_lower_stop`` and ``<coordinate>_upper_stop``.
    state : {"pushes", "shares", "border", "open"}
        ``shares``: it could push, and does not in the smallest multipliers, of which redundant contacts have a choice.
        ``border``: it touches, and cannot push: the least motion opens it.
    push : float
        N; N m of the stop of a joint that turns.
    friction : float
        N.
    use : float
        Ratio of the friction to its limit, 1 at the border of the cone; nan without friction.
    gap : float
        m, or rad.
    unit : str
        Unit of the push.
    """

    name: str
    state: str
    push: float
    friction: float
    use: float
    gap: float
    unit: str

    @property
    def acts(self) -> bool:
        """Whether the contact is a constraint of the plant of the operating point."""
        return self.state in (PUSHES, SHARES)

    @property
    def on_border(self) -> bool:
        """Whether the least change may open the contact or make it slide: no linear model holds on both sides."""
        return self.state == BORDERS or self.use > 1.0 - BORDER

    def __str__(self) -> str:
        if self.state == OPEN:
            return f"{self.name} is open by {self.gap:.4g} {'rad' if self.unit == 'N m' else 'm'}"
        if self.state == BORDERS:
            return f"{self.name} touches and carries nothing"
        use = "" if np.isnan(self.use) else f" ({100.0 * self.use:.0f} % of its cone)"
        friction = f", friction {in_unit(self.friction, 'N')}{use}" if self.friction or use else ""
        return f"{self.name} pushes with {in_unit(self.push, self.unit)}{friction}"


class Rest(NamedTuple):
    """Equilibrium on contacts.

    Attributes
    ----------
    plant : Plant
        Plant with the contacts that act.
    terms : Terms
        Equations of the plant at the equilibrium.
    u, lam : ndarray
    contacts : tuple of ContactForce
    solution : Balance or None
        End of the search, where coordinates were free.
    """

    plant: Plant
    terms: Terms
    u: Array
    lam: Array
    contacts: tuple[ContactForce, ...]
    solution: Balance | None


def rest_on_contacts(
    modes: ContactModes,
    q: Array,
    efforts: Efforts,
    free: NDArray[np.bool_],
    *,
    stable: bool,
    tolerance: float,
    within: bool,
) -> Rest:
    """Equilibrium on contacts at q, or near it where coordinates are free.

    Parameters
    ----------
    modes : ContactModes
    q : ndarray, shape (nq,)
        Configuration at which contacts that touch are closed.
    efforts : Efforts
        Efforts, with rows of ``modes.given``.
    free : ndarray of bool, shape (nv,)
    stable, tolerance
        As in `trim`.
    within : bool
        Whether joints must be within their limits, where these are no end stops.

    Raises
    ------
    EquilibriumError
        Where there is no equilibrium; it names the contact that would have to pull, and by how much.
    """
    return _Search(modes, q, efforts, free, tolerance, within).run(stable)


class _Search:
    """Search from one set of closed contacts to the next."""

    def __init__(
        self,
        modes: ContactModes,
        q: Array,
        efforts: Efforts,
        free: NDArray[np.bool_],
        tolerance: float,
        within: bool,
    ) -> None:
        self.modes, self.start, self.given, self.free = modes, q, efforts, free
        self.efforts = replace(efforts, rows=(), row_low=np.zeros(0), row_high=np.zeros(0))
        self.tolerance, self.within = tolerance, within

    def run(self, stable: bool) -> Rest:
        """Find the rest; by descent from the start where Newton's method finds none, or repeats itself."""
        try:
            rest = self._from_start(stable)
        except EquilibriumError:
            if stable or not self.free.any():
                raise
            rest = self._from_start(True)
        if stable:
            self._require_stable(rest)
        return rest

    def _from_start(self, stable: bool) -> Rest:
        modes, q, seen, solution = self.modes, self.start, set[frozenset[tuple[str, str]]](), None
        modes.begun(q)
        states = modes.touching(q)
        while True:
            if self.free.any():
                solution = self._equilibrium(states, q, stable)
                q = solution.q
                if solution.hit:
                    hit = solution.hit
                    states[hit] = SLIDES if modes.can_slide(hit) else modes.closed(hit)
                    if states[hit] == STICKS:
                        modes.stick(hit, q)
                    continue
            loads, statics, held = self._statics(states, q)
            if loads.missing == 0.0:
                return self._rest(loads, statics, held, q, solution)
            key = frozenset(states.items())
            touch, pulls = self._worst(states, q, loads, statics)
            slides = touch is not None and states[touch.name] == STICKS and modes.can_slide(touch.name)
            if not self.free.any() or key in seen or touch is None or not (pulls or slides):
                raise EquilibriumError(self._refusal(statics, loads))
            seen.add(key)
            states[touch.name] = OPEN if pulls else SLIDES

    def _worst(
        self, states: Mapping[str, str], q: Array, loads: Loads, statics: ContactStatics
    ) -> tuple[ClosedContact | None, bool]:
        """Contact that has to open (True) or to slide (False); contacts that slide are taken without friction here."""
        if SLIDES in states.values():
            plant = self.modes.plant_of(states)
            terms = plant.terms(q, np.zeros(plant.nv))
            searched = ContactStatics(plant, terms, self.efforts, self.modes.touches(plant, terms, states))
            touch, pulls = searched.worst(searched.smallest().lam)
        else:
            touch, pulls = statics.worst(statics.smallest().lam)
        return (touch, pulls) if touch is not None else statics.worst(loads.lam)

    def _equilibrium(self, states: Mapping[str, str], q: Array, stable: bool) -> Balance:
        """Equilibrium near q with these contacts, or the point on the way where another contact closes."""
        plant, tolerance = self.modes.plant_of(states), self.tolerance
        require_holonomic(plant, q)
        start = Balance(plant, close_with(plant, q, self.free), self.efforts, self.free, self.modes.guard(states))
        if start.motions.shape[1] == 0:
            return start
        end = search(start, stable, tolerance)
        if not end.hit:
            other = nearest_equilibrium(start, end, tolerance)
            if not self.modes.guard(states)(lambda _: other.q)[1]:
                end = other
        if not end.hit and end.relative <= tolerance and self.within:
            require_joint_limits(end, stable)
        return end

    def _statics(self, states: Mapping[str, str], q: Array) -> tuple[Loads, ContactStatics, dict[str, str]]:
        """Efforts and multipliers at q, with all closed contacts held where they are, and the states of contacts."""
        modes = self.modes
        held = {name: state if state == OPEN else modes.closed(name) for name, state in states.items()}
        for name, state in held.items():
            if state == STICKS:
                modes.stick(name, q)
        plant = modes.plant_of(held)
        terms = plant.terms(q, np.zeros(plant.nv))
        u = smallest_efforts(terms, self.efforts)
        require_balance(plant, terms, u, multipliers(terms, u), self.efforts, self.tolerance, bool(self.free.any()))
        statics = ContactStatics(plant, terms, self._prescribing(plant), modes.touches(plant, terms, held))
        if not statics.touches and not self.given.rows:
            u = static_efforts(plant, terms, self.efforts)
            return Loads(u, multipliers(terms, u), 0.0), statics, held
        return statics.solve(), statics, held

    def _prescribing(self, plant: Plant) -> Efforts:
        """Efforts whose prescribed multipliers are numbered by the rows of the plant that acts."""
        names = [self.modes.given.row_names[row] for row in self.given.rows]
        for name in names:
            if name not in plant.row_names:
                raise InputError(f"preload prescribes the multiplier of {name!r}, and its contact is open")
        return replace(self.given, rows=tuple(plant.row_names.index(name) for name in names))

    def _rest(
        self, loads: Loads, statics: ContactStatics, held: Mapping[str, str], q: Array, solution: Balance | None
    ) -> Rest:
        """Rest with the forces of all contacts, and a plant without contacts that touch but cannot push."""
        modes, gaps, terms = self.modes, self.modes.gaps(q), statics.terms
        units, states, told = row_force_units(statics.plant), dict(held), dict[str, ContactForce]()
        given = zip(statics.touches, statics.pushes(loads.lam), statics.frictions(loads.lam), strict=True)
        for touch, push, friction in given:
            row = int(np.abs(touch.normal).argmax())
            friction = friction if friction > EXACT * statics.force else 0.0
            nothing = BORDER * statics.force * float(terms.row_scale[row])
            state = PUSHES
            if push <= nothing:
                can = statics.can_push(touch, loads) > BORDER * statics.force
                # a point without friction sticks though it does not push
                state = SHARES if can or friction > nothing else BORDERS
            if state == BORDERS:
                states[touch.name] = OPEN
            mu = touch.friction
            use = friction / (mu * push) if np.isfinite(mu) and len(touch.tangents) and push > nothing else np.nan
            told[touch.name] = ContactForce(touch.name, state, push, friction, use, gaps[touch.name], units[row])
        whole = dict(zip(modes.whole.row_names, row_force_units(modes.whole), strict=True))
        for name, state in held.items():
            if state == OPEN:
                unit = whole[modes.whole.row_names[modes.whole.row_slices[name].start]]
                told[name] = ContactForce(name, OPEN, 0.0, 0.0, np.nan, gaps[name], unit)
        plant = modes.plant_of(states)
        acting = terms if plant.row_names == terms.row_names else plant.terms(q, np.zeros(plant.nv))
        kept = [statics.plant.row_names.index(name) for name in plant.row_names]
        return Rest(plant, acting, loads.u, loads.lam[kept], tuple(told[name] for name in modes.contacts), solution)

    def _require_stable(self, rest: Rest) -> None:
        if rest.solution is None or Balance(rest.plant, rest.terms.q, self.efforts, self.free).is_stable():
            return
        raise EquilibriumError(
            f"no stable equilibrium was found near q: the one at q = {np.round(rest.terms.q, 6).tolist()} is unstable. "
            "Start from another configuration."
        )

    def _refusal(self, statics: ContactStatics, loads: Loads) -> str:
        q = statics.terms.q
        at = f"at q = {np.round(q, 6).tolist()}" if self.free.any() else "at q"
        closed = ", ".join(repr(touch.name) for touch in statics.touches)
        return (
            f"{statics.plant.name!r} cannot rest {at} on {closed or 'nothing'}: with the forces that come nearest to "
            f"it, {statics.reason(loads)}. Choose another configuration, or name coordinates that may move with free=."
        )
