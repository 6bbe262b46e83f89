"""Operating points: equilibria on the manifold of the closed loops."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._notebook import Shown
from .._tolerance import UNREACHED, null_space
from ..dynamics.derivatives import Derivatives
from ..errors import EquilibriumError, InputError, InputTypeError
from ..model.contacts import Contact
from ..model.evaluation import require_motions_followed
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import Terms
from ..model.units import effort_units
from .contact_modes import ContactModes, listed_contacts
from .contact_rest import ContactForce, Rest, rest_on_contacts
from .equilibrium_solver import Balance, chosen_names, named_coordinates, require_balance, solve_equilibrium
from .static_efforts import Efforts, EffortValues, motor_reach, static_efforts
from .statics import constraint_curvatures, multipliers, require_closed, unbalanced_force

if TYPE_CHECKING:
    import control
    import xarray

__all__ = ["OperatingPoint", "Residuals", "TrimReport", "point_of", "starting_configuration", "trim", "turning_axes"]

Array = NDArray[np.float64]
_SHOWN = 4  # open contacts by name


class Residuals(NamedTuple):
    """Errors of an operating point: how far loops are open, and which force is not balanced.

    Attributes
    ----------
    position : float
        Largest opening of a loop, m.
    velocity : float
        Largest rate at which a loop opens, m/s.
    balance : float
        Largest generalized force P(h - B u) that nothing balances, N or N m.
    """

    position: float
    velocity: float
    balance: float


class TrimReport(NamedTuple):
    """Report of `trim`: how it solved for an operating point, and which choices it had.

    Attributes
    ----------
    free : tuple of str
        Velocity coordinates that were free to move.
    given : tuple of str
        Actuators whose efforts were given.
    weight : ndarray, shape (nu, nu), or None
        Metric W of the efforts; None is the unit matrix.
    effort_norm : float
        sqrt(u' W^-1 u), the least of an equilibrium at q unless limits or a preload require more.
    at_limit : tuple of str
        Actuators that give all they can.
    family : int
        Dimension of the family of equilibria of which the point is the one nearest to the start; 0 where it is alone.
    preload : int
        Number of independent combinations of the unknown efforts that move nothing (see `preload_directions`).
    singular : bool
        Whether the constraints lose rank at q, so that no linear model exists there.
    contacts : tuple of ContactForce
        Forces of each contact and end stop, in the order in which they were given, end stops last.
    """

    free: tuple[str, ...]
    given: tuple[str, ...]
    weight: Array | None
    effort_norm: float
    at_limit: tuple[str, ...]
    family: int
    preload: int
    singular: bool
    contacts: tuple[ContactForce, ...] = ()

    @property
    def carrying(self) -> tuple[str, ...]:
        """Names of the contacts and end stops that act."""
        return tuple(contact.name for contact in self.contacts if contact.acts)


@dataclass(frozen=True, eq=False)
class OperatingPoint(Shown):
    """State with its motor efforts and multipliers.

    Attributes
    ----------
    plant : Plant, or None
        Plant; with contacts, the one with those that act. None where the point was loaded from a file.
    q, v : ndarray, shape (nq,) and (nv,)
        rad or m; rad/s or m/s.
    u : ndarray, shape (nu,)
        Motor efforts, N or N m.
    lam : ndarray, shape (rows,)
        The smallest multipliers that carry the rest: ``A' lam`` nearest to ``B u - h``, N or N m.
    residuals : Residuals
    report : TrimReport or None
        Report of `trim`; None for other points.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> falling = OperatingPoint.at(plant, plant.assemble(left=2.1, right=1.0))
    >>> falling.residuals.balance > 1.0
    True
    """

    plant: Any  # a Plant, of whatever class; None of a file that does not hold it
    q: Array
    v: Array
    u: Array
    lam: Array
    residuals: Residuals
    report: TrimReport | None = None

    @classmethod
    def at(
        cls,
        plant: Plant,
        q: ArrayLike | Mapping[str, float],
        u: ArrayLike | float = 0.0,
        v: ArrayLike | None = None,
    ) -> OperatingPoint:
        """Make the point at given q, u and v (defaults to zero), at equilibrium or not."""
        _check.plant(plant)
        q = plant.configuration(q).copy()
        v = np.zeros(plant.nv) if v is None else _check.vector(v, plant.nv, "v", plant.velocity_names).copy()
        return point_of(plant, plant.terms(q, v), _efforts(plant, u))

    @property
    def on_border(self) -> tuple[str, ...]:
        """Names of contacts that carry nothing while they touch, or whose friction is used up.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.five_bar()
        >>> trim(plant, plant.assemble(left=2.1, right=1.0)).on_border
        ()
        """
        return () if self.report is None else tuple(c.name for c in self.report.contacts if c.on_border)

    def reactions(self, *, axes: str = "joint") -> xarray.Dataset:
        """Forces and moments that joints and constraints carry here; see `cmbcontrol.reactions`.

        Examples
        --------
        >>> from cmbcontrol import plants, trim
        >>> plant = plants.five_bar()
        >>> point = trim(plant, plant.assemble(left=2.1, right=1.0))
        >>> point.reactions().joint.values.tolist()
        ['left', 'elbow_left', 'right', 'elbow_right', 'tip']
        """
        from ..dynamics.reactions import reactions

        return reactions(self.plant, self.q, self.v, self.u, axes=axes)  # type: ignore[arg-type]

    def __str__(self) -> str:
        q, u = tuple(map(str, range(self.q.size))), tuple(map(str, range(self.u.size)))
        title, units, forces = "operating point", ("",) * self.q.size, ("",) * self.u.size
        if self.plant is not None:
            title += f" of {self.plant.name}"
            q, u = self.plant.position_names, self.plant.actuator_names
            units, forces = self.plant.position_units, effort_units(self.plant)
        lines = [title]
        wide = max(16, *map(len, q), *(len(f"motor {n}") for n in u))
        lines += [f"  {n:<{wide}} {x: .6g} {unit}".rstrip() for n, x, unit in zip(q, self.q, units, strict=True)]
        limits = np.full(self.u.size, np.inf) if self.plant is None else self.plant.effort
        for n, x, unit, limit in zip(u, self.u, forces, limits, strict=True):
            share = "" if np.isinf(limit) else f", {100.0 * abs(x) / limit:.0f} % of its limit"
            lines.append(f"  {f'motor {n}':<{wide}} {x: .6g} {unit}".rstrip() + share)
        r = self.residuals
        lines.append(f"  loops open by {r.position:.1e} m, forces unbalanced by {r.balance:.1e} N or N m")
        return "\n".join(lines + ([] if self.report is None else _report_lines(self.report, forces)))

    def to_control(self, model: Any = None) -> control.OperatingPoint:
        """Convert the point for python-control, in the form that `control.find_operating_point` returns.

        Parameters
        ----------
        model : LinearModel or PlantSystem, optional
            From ``linearize(plant, point)``: its signals are deviations from this point, so that all are zero. Or from
            ``plant.to_iosystem(...)``: its states at this point, which may be another than the system's own.

        Returns
        -------
        point : control.OperatingPoint
            Without a model, states are all positions and velocities (q, v) and inputs the motor efforts u.

        Raises
        ------
        ValueError
            Where the linear model belongs to another point.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.five_bar()
        >>> states, inputs = trim(plant, plant.assemble(left=2.1, right=1.0)).to_control()
        >>> states.shape, inputs.round(2)
        ((8,), array([-31.49,  32.91]))
        """
        import control  # imported where used: it takes 1.1 s

        if model is None:
            return control.OperatingPoint(np.concatenate([self.q, self.v]), self.u.copy())
        if isinstance(model, control.InputOutputSystem) and hasattr(model, "from_plant"):
            motors = [model.plant.actuator_names.index(n.removesuffix("_effort")) for n in model.input_labels]
            states = np.asarray(model.from_plant(self.q, self.v))
            inputs = self.u[motors] - (0.0 if model.absolute else model.point.u[motors])
            return control.OperatingPoint(states, inputs, model.output(0.0, states, inputs))
        self._require_same(model)
        return control.OperatingPoint(*(np.zeros(len(x)) for x in (model.states, model.inputs, model.outputs)))

    def _require_same(self, model: Any) -> None:
        """Raise an error for a model of another operating point."""
        other = getattr(model, "point", None)
        if other is None:
            raise InputTypeError(
                f"model must be from linearize(plant, point) or plant.to_iosystem(point), got {type(model).__name__}"
            )
        if not all(np.array_equal(getattr(self, k), getattr(other, k)) for k in ("q", "v", "u")):
            raise InputError(
                f"the model deviates from another operating point, q = {np.round(other.q, 6).tolist()}; "
                "use model.point.to_control(model)"
            )


def _report_lines(report: TrimReport, units: tuple[str, ...]) -> list[str]:
    """Lines of text of a report."""

    def names(x: tuple[str, ...]) -> str:
        return ", ".join(x)

    unit = "" if report.weight is not None else " and ".join(dict.fromkeys(filter(None, units)))
    metric = "" if report.weight is None else ", weighted"
    lines = [f"  efforts: norm {report.effort_norm:.6g} {unit}".rstrip() + metric]
    if report.given:
        lines[0] += f"; given: {names(report.given)}"
    if report.at_limit:
        lines[0] += f"; at their limits: {names(report.at_limit)}"
    if report.preload:
        lines.append(f"  motors can preload the machine in {report.preload} direction(s)")
    if report.free:
        one_of = f", one of a family of {report.family} dimension(s)" if report.family else ""
        lines.append(f"  free to move: {names(report.free)}{one_of}")
    if report.singular:
        lines.append("  singular configuration: the constraints lose rank")
    lines += [f"  contact {contact}" for contact in report.contacts if contact.state != "open"]
    if report.contacts:
        apart = tuple(c.name for c in report.contacts if c.state == "open")
        more = f" and {len(apart) - _SHOWN} more" if len(apart) > _SHOWN else ""
        lines.append(f"  open: {names(apart[:_SHOWN]) or 'none'}{more}")
    return lines


def trim(
    plant: Plant,
    q: ArrayLike | Mapping[str, float],
    *,
    u: EffortValues | float | None = None,
    preload: EffortValues | float | None = None,
    weight: ArrayLike | None = None,
    free: str | Collection[str] = (),
    hold: Collection[str] | Mapping[str, float] | None = None,
    stable: bool = False,
    tolerance: float = 1e-9,
    contacts: Contact | Sequence[Contact] = (),
    limits: str = "stop",
) -> OperatingPoint:
    """Equilibrium on the manifold of closed loops: at the configuration q, or near it.

    At rest the equations of motion are ``h + A' lam = B u``, so that ``Z'(h - B u) = 0`` on the admissible
    velocities Z. The efforts are the smallest static equilibrium efforts within the limits of the actuators.

    Parameters
    ----------
    plant : Plant
    q : array_like, shape (nq,), or mapping of position name to value
        Configuration with closed loops, from ``plant.assemble(...)``.
    u : array_like, shape (nu,), a number for all motors, or mapping of actuator name to value, optional
        Motor efforts, N or N m, where they are given: 0 for motors that are off. A mapping gives those that it
        names; all others are computed.
    preload : array_like, shape (nu,), a number, or mapping of actuator or constraint row to value, optional
        The internal force of a machine with more motors than it needs. Values are desired efforts: of all equilibrium
        efforts, the nearest to them are taken. In a mapping, an actuator has a desired effort too, or a range
        (low, high) that its effort must lie in. Names of constraint rows (of loops, where they have one row) prescribe
        their multiplier lam, N or N m, by a value or by (low, high).
    weight : array_like, shape (nu,) or (nu, nu), optional
        Metric W of the efforts: u' W^-1 u is minimised, as in `inverse_dynamics` (Aghili, eq. 49); with a
        preload, the square of the distance to it.
    free : "all", or names of velocity coordinates or joints, optional
        Coordinates that may move from q to an equilibrium under the given efforts and any values of the others; all
        other coordinates are held. Without it none moves. The solution is the nearest equilibrium, stable or not.
        Where Newton's method has no direction to start in (a level pendulum), the potential energy is reduced first.
        Where there is a family of equilibria, one within the limits of joints and actuators is taken.
    hold : names of coordinates, or mapping of position coordinate to value, optional
        In place of `free`: all coordinates are free except these. With values the loops are first
        closed with the coordinates there, starting from q, which need not close them.
    stable : bool
        Where coordinates are free, solve for a stable equilibrium, a minimum of the potential energy.
    tolerance : float
        Largest unbalanced force, relative to weights, springs, motor forces and stiffness.
    contacts : Contact or sequence of Contact, optional
        Constraints that push and never pull, as `simulate` takes them in `switches`; each of them is closed where it
        touches at q. Of all efforts with which closed contacts push, within their friction cones, the least are taken;
        of the multipliers that go with them, the smallest. Where coordinates are free, contacts close that the search
        runs into, and those open that would have to pull; one that needs more friction than it has slides.
    limits : {"stop", "hold"}
        Meaning of joint limits. ``stop``: an equilibrium is within them, and they carry nothing. ``hold``: end stops,
        which push and never pull, as in `simulate`.

    Returns
    -------
    OperatingPoint
        With a `TrimReport`. With contacts or end stops, its plant has those that act: linear models are those of
        ``point.plant``.

    Raises
    ------
    AssemblyError
        Where q does not close the loops.
    EquilibriumError
        Where there is no equilibrium: too few actuators (the message lists the unbalanced generalized force by
        coordinate), or too weak ones (it names the actuator, the required effort and its limit); where a preload is
        not possible (it lists the possible values); where a contact would have to pull, or to hold more than its
        friction (it names the contact and the force).
    ValueError
        For a q beyond a contact or an end stop, unknown names, arguments that contradict each other, a prescribed
        multiplier that is not unique.

    Notes
    -----
    At a singular configuration the equilibrium is stable where with some choice of the multipliers (they are not unique
    there) the stiffness is positive: the potential energy then has a minimum on each branch.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> trim(plant, plant.assemble(left=2.1, right=1.0)).u.round(2)
    array([-31.49,  32.91])

    The left motor is off, the right arm stays where it is:

    >>> point = trim(plant, plant.assemble(left=2.1, right=1.0), u={"left": 0.0}, hold=("right",))
    >>> point.u.round(2)
    array([ 0.  , 29.16])

    A rod falls on the stop of its joint:

    >>> from cmbcontrol import Body, Mechanism, Revolute
    >>> joint = Revolute("angle", "ground", "rod", axis=(0, -1, 0), limits=(-0.5, 1.0))
    >>> rod = Mechanism("rod", [Body.rod("rod", 2.0, 1.0)], [joint])
    >>> fallen = trim(rod, [0.2], free="all", stable=True, limits="hold")
    >>> fallen.q, fallen.report.carrying, fallen.plant.row_names
    (array([-0.5]), ('angle_lower_stop',), ('angle_lower_stop',))
    """
    _check.plant(plant)
    stable = _check.flag(stable, "stable")
    _check.positive(tolerance, "tolerance")
    given, contacts = q, listed_contacts(contacts)
    modes, closed = None, plant
    if _check.option(limits, ("stop", "hold"), "limits") == "hold" or contacts:
        modes, q = ContactModes(plant, contacts, stops=limits == "hold"), plant.configuration(q)
        closed = modes.begun(q)
    q, free_mask = starting_configuration(closed, q, free, hold)
    require_closed(closed, q, given)
    require_motions_followed(plant, q)
    require_still(plant)
    efforts = Efforts.of(plant, u, preload, weight)
    if modes is not None:
        rest = rest_on_contacts(
            modes, q, efforts, free_mask, stable=stable, tolerance=tolerance, within=limits == "stop"
        )
        return _resting(rest, efforts, weight, free_mask, tolerance)
    solution = None
    if free_mask.any():
        solution = solve_equilibrium(plant, q, efforts, free_mask, stable=stable, tolerance=tolerance)
        q = solution.q
    terms = plant.terms(q, np.zeros(plant.nv))
    point = point_of(plant, terms, static_efforts(plant, terms, efforts))
    local = require_balance(plant, terms, point.u, point.lam, efforts, tolerance, bool(free_mask.any()))
    return replace(point, report=_report(plant, point, local, efforts, weight, free_mask, solution))


def _resting(
    rest: Rest, efforts: Efforts, weight: ArrayLike | None, free_mask: NDArray[np.bool_], tolerance: float
) -> OperatingPoint:
    """Operating point of a rest on contacts."""
    point = replace(point_of(rest.plant, rest.terms, rest.u), lam=rest.lam)
    local = require_balance(rest.plant, rest.terms, rest.u, rest.lam, efforts, tolerance, bool(free_mask.any()))
    report = _report(rest.plant, point, local, efforts, weight, free_mask, rest.solution)
    return replace(point, report=report._replace(contacts=rest.contacts))


def require_still(plant: Plant) -> None:
    """Raise an error for prescribed motions that move: a machine that follows them has no equilibrium.

    Raises
    ------
    EquilibriumError
    """
    if plant.moving:
        values = plant.motion_values()  # type: ignore[attr-defined]
        k = int(np.flatnonzero(values[:, 1:].any(axis=1))[0])
        name, unit, (position, velocity, acceleration) = plant.motion_names[k], plant.motion_units[k], values[k]
        raise EquilibriumError(
            f"motion {name!r} of {plant.name!r} moves, with {velocity:.6g} {unit}/s and {acceleration:.6g} {unit}/s2, "
            f"and an equilibrium stands still: hold it, with plant.with_motions({{{name!r}: {position:.6g}}})"
        )


def turning_axes(plant: Plant, v: Array) -> str:
    """Text that explains why velocities in the axes of a turning body cannot be constant; "" if no such joint turns."""
    for joint in plant.joints if isinstance(plant, Mechanism) else ():
        if joint.floats:
            turn, line = np.split(v[plant._compiled.velocity_slice[joint.name]], 2)
            if np.linalg.norm(np.cross(turn, line)) > 1e-3 * np.linalg.norm(turn) * np.linalg.norm(line) > 0.0:
                return (
                    f". The velocities of {joint.name!r} are those in the axes of {joint.child!r}, which turn with it: "
                    "put what spins, such as a wheel, on a Revolute joint of a body that does not, and that one on the "
                    "Free joint"
                )
    return ""


def starting_configuration(
    plant: Plant,
    q: ArrayLike | Mapping[str, float],
    free: str | Collection[str],
    hold: Collection[str] | Mapping[str, float] | None,
) -> tuple[Array, NDArray[np.bool_]]:
    """Configuration from which to search, and the mask of the free coordinates."""
    q = plant.configuration(q).copy()
    if not isinstance(free, str):
        free = _check.sequence(free, "free", "names of coordinates")
    if hold is None:
        return q, named_coordinates(plant, free, "free")
    if len(free):
        raise InputError("free= names the coordinates that move, hold= those that do not; give one of them")
    hold = (
        hold
        if isinstance(hold, Mapping)
        else _check.sequence((hold,) if isinstance(hold, str) else hold, "hold", "names")
    )
    if isinstance(hold, Mapping):
        q = plant.assemble(guess=q, **hold)
        hold = [plant.velocity_names[plant.velocity_of([plant.position_names.index(n)])[0]] for n in hold]
    return q, ~named_coordinates(plant, hold, "hold")


def _report(
    plant: Plant,
    point: OperatingPoint,
    local: Derivatives,
    efforts: Efforts,
    weight: ArrayLike | None,
    free_mask: NDArray[np.bool_],
    solution: Balance | None,
) -> TrimReport:
    """Make the report of `trim`."""
    W = None if weight is None else np.asarray(weight, dtype=np.float64)
    W = np.diag(W) if W is not None and W.ndim == 1 else W
    norm = np.linalg.norm(point.u) if W is None else np.sqrt(point.u @ np.linalg.solve(W, point.u))
    at_limit = np.minimum(np.abs(point.u - efforts.low), np.abs(efforts.high - point.u)) <= 1e-9 * plant.effort
    X, _, scale = motor_reach(local.Z, local.B[:, efforts.unknown], plant.unit_lengths)
    return TrimReport(
        free=chosen_names(plant.velocity_names, free_mask),
        given=chosen_names(plant.actuator_names, ~efforts.unknown),
        weight=W,
        effort_norm=float(norm),
        at_limit=chosen_names(plant.actuator_names, at_limit & np.isfinite(plant.effort)),
        family=0 if solution is None else solution.family,
        preload=null_space(X, scale, UNREACHED).shape[1],
        singular=bool(constraint_curvatures(plant, point.q, local)),
    )


def _efforts(plant: Plant, u: ArrayLike | float) -> Array:
    """Motor efforts as a vector; a number counts for all."""
    if _check.single(u):
        return np.full(plant.nu, _check.number(u, "u"))
    return _check.vector(u, plant.nu, "u", plant.actuator_names).copy()


def point_of(plant: Plant, terms: Terms, u: Array) -> OperatingPoint:
    """Operating point of a state."""
    position, velocity = np.abs(terms.row_scale * [terms.phi, terms.row_rate]).max(axis=1, initial=0.0)
    balance = np.abs(unbalanced_force(terms, u)).max(initial=0.0)
    residuals = Residuals(float(position), float(velocity), float(balance))
    return OperatingPoint(plant, terms.q, terms.v, u, multipliers(terms, u), residuals)
