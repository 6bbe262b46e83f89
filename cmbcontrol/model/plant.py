"""Base of all plants, with the methods that follow from their functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._notebook import Shown
from .._tolerance import metres
from ..errors import AssemblyError, InputTypeError, ModelError
from . import assembly, consistency, diagnosis, evaluation
from .closing import Closing, not_closed, require_closed
from .contract import OF_ROWS, Contract
from .elements import Constraint, CoordinateConstraint, Coupling, Joint
from .gears import gears_of
from .generic_rank import generic_rank
from .near_singular import refined
from .terms import Terms

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..linear.iosystem import PlantSystem
    from ..linear.operating import OperatingPoint
    from ..linear.signals import FrameMotion

__all__ = ["Plant"]

Array = NDArray[np.float64]


class Plant(Contract, Shown):
    """Constrained machine: `Mechanism`, `FunctionPlant`, or a class of your own.

    M(q) dv/dt + h(q, v) = B(q) u - A(q)' lam with Phi(q) = 0. A class of your own defines five methods: ``M(q)``,
    ``h(q, v)``, ``Phi(q)``, ``A(q)`` and ``Adot_v(q, v)``, as `FunctionPlant` has them as functions. It may define
    ``B(q)`` and ``potential(q)``. All else follows: assembly, diagnosis, simulation, control laws, operating points,
    linear models. Its coordinates are plain numbers: nq = nv, v = dq/dt, and q moves by addition.

    Parameters
    ----------
    name : str
    coordinates : sequence of str
        Names of the nv coordinates.
    actuators : sequence of str
        Names of the nu actuators. Without ``B(q)``, they are names of coordinates, on which they act.
    rows : sequence of str, or mapping of constraint name to names of its rows, optional
        A sequence names the rows of a single constraint, ``"loop"``.
    neutral : array_like, shape (nv,), optional
        A configuration at which all is defined; defaults to zero. Assembly starts here.
    units : sequence of str, optional
        Units of the coordinates: ``"rad"``, ``"m"`` or ``"1"`` (the default).
    row_units : sequence of str, optional
        Units of the rows; defaults to ``"m"``.
    limits : mapping of coordinate name to (float, float), optional
        Ranges used in assembly.
    effort : array_like, shape (nu,), optional
        Largest motor efforts.
    size : float
        Characteristic length, metres: how far a coordinate that is no angle may be from the closed configuration.
    source : str
        Reference from which the plant is taken.

    Attributes
    ----------
    name, source : str
    size : float
        Characteristic length, metres: a radian counts as `size` metres.
    position_names, velocity_names, actuator_names, row_names : tuple of str
    position_units, velocity_units, row_units : tuple of str
    row_slices : mapping of constraint name to slice
    row_scale : ndarray, shape (rows,)
        Factors that bring the rows to metres.
    reach : ndarray, shape (nv,)
        Metres that one unit of each velocity coordinate counts as: `size` for angles, 1 for lengths.
    force_scale : float
        N; weight and spring forces of the machine. Joint forces that cancel leave rounding of this size.
    effort : ndarray, shape (nu,)
        Largest motor efforts.
    limits : ndarray, shape (nq, 2)
        Range of the position coordinates.
    paired : tuple of (int, int)
        (position, velocity) indices of coordinates that are plain numbers.
    loops : tuple
        The constraints as parts; empty where functions describe them.
    absent : frozenset of str
        Constraints that `without` has left out.

    Raises
    ------
    ModelError
        If a method returns what it should not; the message names it.
    TypeError
        If a method is missing.

    Notes
    -----
    Sign convention of Aghili, eq. (19). Rank is decided in the metric of M; rows should be in metres (or radians times
    `size`), so that they compare. Attributes of your own are set before ``super().__init__``, which checks the plant at
    its neutral configuration and freezes it.

    Examples
    --------
    A bead on the parabola y = x2, pushed along x.

    >>> import cmbcontrol as cmb
    >>> class Bead(cmb.Plant):
    ...     def __init__(self, mass):
    ...         self.mass = mass
    ...         super().__init__("bead", ("x", "y"), units=("m", "m"), rows=("wire",), actuators=("x",))
    ...
    ...     def M(self, q):
    ...         return self.mass * np.eye(2)
    ...
    ...     def h(self, q, v):
    ...         return [0.0, 9.81 * self.mass]
    ...
    ...     def Phi(self, q):
    ...         return [q[1] - q[0] ** 2]
    ...
    ...     def A(self, q):
    ...         return [[-2.0 * q[0], 1.0]]
    ...
    ...     def Adot_v(self, q, v):
    ...         return [-2.0 * v[0] ** 2]
    >>> bead = Bead(2.0)
    >>> bead.assemble(x=0.5)
    array([0.5 , 0.25])
    >>> cmb.linearize(bead, cmb.trim(bead, bead.assemble(x=0.0))).poles().round(4)
    array([0.-4.4294j, 0.+4.4294j])
    """

    def check_derivatives(self, q: ArrayLike, v: ArrayLike, *, tolerance: float = 1e-6) -> None:
        """Check the plant's functions against each other, through finite differences.

        It compares A with the gradient of Phi, Adot_v with the rate of A, the part of h that is even in v with the
        Coriolis forces that follow from M, and h at rest with the gradient of the potential. For plain coordinates,
        with v = dq/dt.

        Parameters
        ----------
        q, v : array_like, shape (nv,)
            A generic state, near which all functions are smooth.
        tolerance : float
            Largest relative error: for A and Adot_v relative to the largest entry, and at least to one that moves a row
            by the size of the plant a radian; for forces to the kinetic and the potential energy a radian (or size,
            for a coordinate in metres).

        Raises
        ------
        ModelError
            Where a function disagrees; the message has its name and the error.
        """
        consistency.check_derivatives(self, q, v, tolerance)

    # -- coordinates ------------------------------------------------------------------------------

    def integrate(self, q: ArrayLike, dq: ArrayLike) -> Array:
        """Configuration q [+] dq after a displacement dq (nv,)."""
        return self._position(q) + _check.vector(dq, self.nv, "dq", self.velocity_names)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """Displacement dq (nv,) with ``integrate(q0, dq)`` equal to q1."""
        q0 = self._position(q0, "q0")
        return self._position(q1, "q1") - q0

    def position_rate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Rate of the positions dq/dt (nq,) at velocity v (nv,)."""
        self._position(q)
        return _check.vector(v, self.nv, "v", self.velocity_names).copy()

    # -- loops ----------------------------------------------------------------------------------

    def without(self, *constraints: str) -> Plant:
        """Plant with fewer constraints, and the same coordinates, bodies, motors and size.

        Nothing is compiled or checked again; it takes some 50 microseconds.

        Parameters
        ----------
        *constraints : str
            Names of the constraints to leave out.

        Raises
        ------
        ValueError
            Where there is no such constraint, or where a motor drives the cut joint that is to go.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.five_bar()
        >>> open_tree = plant.without("tip")
        >>> len(open_tree.row_names), open_tree.nv
        (0, 4)
        """
        for name in constraints:
            _check.one_of(name, self.row_slices, "constraint")
        if not constraints:
            return self
        kept = [name for name in self.row_slices if name not in constraints]
        spans = [np.arange(s.start, s.stop) for s in (self.row_slices[name] for name in kept)]
        rows = np.concatenate([np.zeros(0, np.int64), *spans])
        ends = np.cumsum([0, *(span.size for span in spans)]).tolist()
        scale = self.row_scale[rows]
        scale.setflags(write=False)
        return self._of_rows(
            kept,
            rows,
            row_names=tuple(self.row_names[i] for i in rows),
            row_units=tuple(self.row_units[i] for i in rows),
            row_slices={name: slice(*ends[i : i + 2]) for i, name in enumerate(kept)},
            row_scale=scale,
            absent=self.absent | set(constraints),
        )

    def _of_rows(self, kept: Sequence[str], rows: NDArray[np.int64], **changed: Any) -> Plant:
        """Plant with only these constraints and their rows; `changed` are the attributes that change."""
        return _Rows(self, rows, **changed)

    def with_loops(self, *loops: Joint | Constraint | CoordinateConstraint) -> Plant:
        """Plant with more constraints; one with the name of a present one replaces it.

        A plant without bodies takes couplings of its coordinates.

        Examples
        --------
        >>> from cmbcontrol import Coupling, plants
        >>> plants.particle_on_circle().with_loops(Coupling("level", {"q2": 1.0}, offset=0.5)).row_names
        ('circle', 'level')
        """
        plant: Plant = self.without(*(x.name for x in loops if getattr(x, "name", None) in self.row_slices))
        for constraint in loops:
            plant = plant._coupled(constraint)
        return plant

    @property
    def _positional(self) -> Plant:
        """Plant without rows that bind velocities only, with which its configurations are found."""
        return self

    @property
    def row_rates(self) -> Array:
        """Rates (rows,) that A v has to have: zero, but for prescribed motions."""
        return np.zeros(len(self.row_names))

    def standing(self, q: ArrayLike) -> Plant:
        """Plant with its prescribed motions held at rest as they are at q, for studies of its geometry."""
        return self

    @property
    def target_rows(self) -> NDArray[np.bool_]:
        """Mask (rows,) of the rows of prescribed motions."""
        return np.zeros(len(self.row_names), dtype=bool)

    @property
    def moving(self) -> bool:
        """Whether a prescribed motion has a velocity or an acceleration."""
        return False

    def as_at(self, terms: Terms | Plant) -> Plant:
        """Plant without the constraints that are absent in the terms, or in another plant; kept for the next call."""
        if not hasattr(terms, "absent") or isinstance(terms, type):
            raise InputTypeError(f"terms must be Terms, from plant.terms(q, v), or a plant, got {_check.shown(terms)}")
        if not terms.absent:
            return self
        gone = terms.absent.intersection(self.row_slices)
        modes = vars(self).setdefault("_modes", {})
        if gone not in modes:
            modes[gone] = self.without(*gone)
        return modes[gone]

    def rolling_rows(self, q: ArrayLike) -> tuple[str, ...]:
        """Names of rows that bind velocities and no positions: rows of A that are no gradient of the residual near q.

        Rolling wheels, blades, knife edges: they hold A(q) v = 0 and no more. The machine then has more positions than
        2 dof states determine. `simulate` takes such rows, and `underlying_ode` linearizes them.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plants.slider_crank().rolling_rows([1.2, -2.4])
        ()
        """
        return consistency.rolling_rows(self, self._position(q))

    def loop_residuals(self, q: ArrayLike) -> dict[str, float]:
        """Closure error of each constraint by name, metres (radians times the size of the machine)."""
        phi = np.abs(self.residual(q)) * self.row_scale
        return {name: float(phi[rows].max(initial=0.0)) for name, rows in self.row_slices.items()}

    def closure_error(self, q: ArrayLike) -> float:
        """Largest of `loop_residuals`, metres."""
        return float(np.abs(self.residual(q) * self.row_scale).max(initial=0.0))

    def close(self, q: ArrayLike, *, metric: str = "mass", accuracy: float | None = None) -> Array:
        """Nearest configuration with closed loops, in the metric of M or the Euclidean one, to first order.

        Rotors that couplings alone move follow, and do not count.

        Parameters
        ----------
        q : array_like, shape (nq,)
        metric : str
            ``"mass"`` or ``"euclidean"``.
        accuracy : float, optional
            Loops count as closed if they are open by less, as a part of the size of the machine. By default they are
            closed as far as rounding allows; near a singular configuration, where small residuals hide large errors,
            by measuring from that configuration.

        Raises
        ------
        AssemblyError
            If the loops stay open by more than 1e-9 of the largest length in play.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.five_bar()
        >>> plant.closure_error(plant.close([2.1, -1.3, 1.0, 1.3])) < 1e-14
        True
        """
        start = q = self._position(q).copy()
        accuracy = None if accuracy is None else _check.positive(accuracy, "accuracy")
        gears = gears_of(self)
        if gears is not None and not self.closure_error(q) <= 2e-15 * self.length_scale(q):
            try:
                return gears.full(gears.twin.close(gears.reduced(q), metric=metric, accuracy=accuracy))
            except AssemblyError as error:
                raise gears.of_whole(error) from None
        euclidean = _check.one_of(metric, ("mass", "euclidean"), "metric") == "euclidean"
        left = self.closure_error(q) if accuracy is None else np.inf
        if accuracy is not None or left > 2e-15 * self.length_scale(q):  # less is rounding
            q, left = self._closed_to(q, euclidean, 1e-15 if accuracy is None else accuracy)
        if not left < 1e-9 * self.size and not left < 1e-9 * self.length_scale(q):
            raise not_closed(self, q)
        return q if accuracy is not None else refined(Closing(self, [], limited=False), q, start)

    def reclosed(self, q: Array) -> Array:
        """Configuration q (nq,) with closed loops, from states of a law, closed again; code only checks that it is."""
        return self.close(q)

    def closed_with(self, q: Array, v: Array, columns: Sequence[int]) -> tuple[Array, Array]:
        """Nearest closed configuration and velocity with some plain coordinates as they are, in q (nq,) and v (nv,).

        Parameters
        ----------
        columns : sequence of int
            Velocity coordinates, which determine the motion.

        Raises
        ------
        AssemblyError
            Where the loops do not close with these positions.
        ActuationError
            Where these coordinates do not determine the motion.
        """
        return assembly.closed_with(self, q, v, columns)

    def _closed_to(self, q: Array, euclidean: bool, accuracy: float) -> tuple[Array, float]:
        """Configuration with the loops closed by damped steps, as far as possible, and the closure error, metres."""
        closing = Closing(self, [], limited=False)
        step = closing.metric_step(lambda q: np.eye(self.nv) if euclidean else self.mass_matrix(q))
        try:
            q = closing.close(q, step, accuracy)
        except np.linalg.LinAlgError:
            raise self._bad_mass(q) from None
        return q, self.closure_error(q)

    def _bad_mass(self, q: Array) -> ModelError:
        return ModelError(f"the mass matrix of {self.name!r} is not positive definite at q = {q.tolist()}")

    def length_scale(self, q: ArrayLike) -> float:
        """Largest length in play at q, metres: the rounding of the residual of the loops is some 1e-16 of it.

        That is the size of the machine, times the largest angle where that is above one, or the distance of its parts
        from the world's origin.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plants.five_bar().length_scale([0.0, 0.0, 3.0, 0.0])
        4.5
        """
        units = metres(self.position_units, self.size)
        return max(self.size, float(np.abs(units * self._position(q)).max(initial=0.0)))

    def assemble(self, *, guess: ArrayLike | Mapping[str, float] | None = None, **joint_values: float) -> Array:
        """Find a configuration (nq,) with closed loops and the given joint values.

        Damped Gauss-Newton steps within the joint limits, from the guess first: the configuration found is, to first
        order, the nearest one (in radians, and sizes of the machine). Only where there is none, from starts that wander
        further off. The joint values are held exactly, also those of a singular configuration, which is met to
        rounding. Rotors that couplings alone move follow from the others, so that gears change no answer.

        Parameters
        ----------
        guess : array_like or mapping, optional
            Configuration near the branch that is wanted; defaults to the neutral one. Coordinates that a mapping does
            not name are not known: they are first put where the loops close best with those that it names.
        **joint_values : float
            Position coordinates by name, rad or m; also the place of a floating base, but no entries of quaternions.

        Returns
        -------
        q : ndarray, shape (nq,)

        Raises
        ------
        AssemblyError
            If the loops stay open; it carries the residual of each constraint.

        Warns
        -----
        BranchWarning
            If a guess was given, and the configuration found is more than three times as far from it (and 0.1) as
            first order predicts: perhaps on another branch.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.five_bar()
        >>> q = plant.assemble(left=2.1, right=1.0)
        >>> plant.closure_error(q) < 1e-12
        True
        """
        q = assembly.assemble(self, joint_values, guess)
        evaluation.require_motions_followed(self, q)
        return q

    @cached_property
    def _placed(self) -> dict[str, Array]:
        """Configurations by name, with closed loops, as far as they were asked for."""
        return {}

    def _named(self, name: str, what: str) -> Array:
        """Configuration of a name, with closed loops; found once."""
        if not self.configurations:
            raise InputTypeError(
                f"{what} must be {self.nq} numbers, got {name!r}, and no configuration of {self.name!r} has a name"
            )
        _check.one_of(name, self.configurations, f"configuration of {self.name!r}")
        if name not in self._placed:
            values = self.configurations[name]
            q = self.pack(values)
            if len(values) < self.nq:
                q = self.assemble(**values)
            elif not self.closure_error(q) <= 1e-9 * self.length_scale(q):  # written with fewer digits than there are
                q = self.assemble(guess=q)
            q.setflags(write=False)
            self._placed[name] = q
        return self._placed[name].copy()

    def _coupled(self, constraint: Any) -> Plant:
        """Plant with one more coupling."""
        if not isinstance(constraint, Coupling):
            raise InputTypeError(
                f"plant {self.name!r} is given by functions and has no bodies: only a Coupling of its coordinates can "
                f"be added, got {constraint!r}"
            )
        if constraint.name in self.row_names:
            raise ModelError(f"plant {self.name!r} has a row called {constraint.name!r} already; rename the coupling")
        row = np.zeros(self.nq)
        for coordinate, c in constraint.coefficients.items():
            row[self.index(coordinate)] = c
        last, count = next(iter(constraint.coefficients)), len(self.row_names)
        scale = np.append(self.row_scale, 1.0 / np.linalg.norm(row / self.unit_lengths))
        scale.setflags(write=False)
        return _Rows(
            self,
            np.arange(count),
            (row, constraint.offset),
            row_names=(*self.row_names, constraint.name),
            row_units=(*self.row_units, self.position_units[self.index(last)]),
            row_slices={**self.row_slices, constraint.name: slice(count, count + 1)},
            row_scale=scale,
        )

    def generic_rank(self, q: ArrayLike) -> int:
        """Rank of A at configurations near q on the manifold: above the rank at q where q is singular."""
        return generic_rank(self, self.terms(q, np.zeros(self.nv)))

    def diagnose(self, q: ArrayLike | Mapping[str, float]) -> diagnosis.Diagnosis:
        """Diagnosis at a configuration: degrees of freedom, redundant rows, conditioning, unique forces, actuation.

        Raises
        ------
        AssemblyError
            If q does not close the loops.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.five_bar()
        >>> plant.diagnose(plant.assemble(left=2.1, right=1.0)).dof
        2
        """
        closed = self.configuration(q)
        require_closed(self, closed, given=q)
        return diagnosis.diagnose(self, closed)

    # -- python-control -------------------------------------------------------------------------

    def to_iosystem(
        self,
        point: OperatingPoint,
        *,
        coordinates: Sequence[str] | ArrayLike | None = None,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str | FrameMotion] | None = None,
        absolute: bool = False,
        name: str | None = None,
    ) -> PlantSystem:
        """Plant as a nonlinear system of python-control, in independent coordinates.

        It goes wherever a ``control.nlsys`` goes: ``interconnect``, ``input_output_response``,
        ``find_operating_point``, ``create_statefbk_iosystem``. ``control.linearize`` of it is analytic. The loops are
        closed inside, so that 2 dof states are all there are, and none of them leaves the manifold.

        Parameters
        ----------
        point : OperatingPoint
            From `trim`, or any state, ``OperatingPoint.at(plant, q, u, v)``: the deviations are zero there, and the
            machine moves on its branch of closed configurations.
        coordinates : sequence of str, or array_like, shape (dof, nv), optional
            Independent coordinates, as in `linearize`.
        inputs : sequence of str, optional
            Actuators, and loads or their components; defaults to all actuators. The others keep the efforts of the
            operating point, loads theirs.
        outputs : sequence of str or FrameMotion, optional
            As in `linearize`; defaults to the states, as state feedback needs them.
        absolute : bool
            Inputs are the motor efforts themselves, rather than deviations from those of the operating point.
        name : str, optional
            Name of the system; defaults to that of the plant.

        Returns
        -------
        PlantSystem
            Inputs ``<actuator>_effort``, N or N m. States ``<coordinate>`` and ``<coordinate>_rate``, and outputs, are
            deviations from the operating point. Its `to_plant` and `from_plant` convert states.

        Raises
        ------
        SingularConfigurationError
            At singular configurations.
        AssemblyError
            In a call, where the branch ends before the state asked for.

        Notes
        -----
        On joints with several axes `<coordinate>` is a component of R (q [-] q0) and `<coordinate>_rate` one of
        R v, body-fixed; its derivative is R J_r^-1 v with the right Jacobian J_r of q [-] q0. Cut joints as
        coordinates have their own angle or travel.

        Examples
        --------
        >>> import control as ct
        >>> from cmbcontrol import plants, trim
        >>> plant = plants.five_bar()
        >>> point = trim(plant, plant.assemble(left=2.1, right=1.0))
        >>> system = plant.to_iosystem(point, coordinates=("left", "right"))
        >>> system.input_labels, system.state_labels
        (['left_effort', 'right_effort'], ['left', 'right', 'left_rate', 'right_rate'])
        >>> np.sort(ct.linearize(system, 0.0).poles().real).round(3)
        array([-2.773, -2.37 ,  2.37 ,  2.773])
        """
        from ..linear.iosystem import to_iosystem  # a door: python-control is imported when it is used

        return to_iosystem(
            self, point, coordinates=coordinates, inputs=inputs, outputs=outputs, absolute=absolute, name=name
        )

    def project_velocity(self, q: ArrayLike, v: ArrayLike, *, metric: str = "mass") -> Array:
        """Velocity nearest to v that the loops allow, in the metric of M or the Euclidean one.

        Within rounding of a singular configuration (1e-8), gradients that nearly vanish do not count.
        """
        q = self._position(q)
        v = _check.moderate(_check.vector(v, self.nv, "v", self.velocity_names), "v", self.velocity_names)
        return evaluation.admissible_velocity(self, q, v, _check.one_of(metric, ("mass", "euclidean"), "metric"))

    # -- equations of motion ----------------------------------------------------------------------

    def terms(
        self,
        q: ArrayLike,
        v: ArrayLike,
        t: float = 0.0,
        *,
        project: bool = False,
        close: bool = False,
        cap: int | None = None,
        check: bool = True,
    ) -> Terms:
        """All terms of the equations of motion at one state, in one record.

        Parameters
        ----------
        q, v : array_like, shape (nq,) and (nv,)
        t : float
            Time, s; handed on in the record.
        project : bool
            Project v first onto the velocities that the constraints allow.
        close : bool
            Bring q first to the constraints by one Newton step in the Euclidean metric, as stages of an integrator are.
        cap : int, optional
            Largest rank that A can have on the manifold; see `generic_rank`.
        check : bool
            Refuse a mass matrix that is not positive definite; else the rank in the record is negative.

        Raises
        ------
        ModelError
            Where the mass matrix is not positive definite, or a function fails.
        """
        t = _check.number(t, "t")
        project, close = _check.flag(project, "project"), _check.flag(close, "close")
        if cap is not None:
            cap = _check.count(cap, "cap", 0)
        q = self._position(q)
        v = _check.vector(v, self.nv, "v", self.velocity_names)
        return self._terms(q, v, t, project, close, cap, check)

    @property
    def _looped(self) -> NDArray[np.bool_]:
        """Mask (nv,) of the coordinates on which constraint rows depend; all where functions describe them."""
        return np.ones(self.nv, dtype=bool)

    def _terms(self, q: Array, v: Array, t: float, project: bool, close: bool, cap: int | None, check: bool) -> Terms:
        """Terms of the equations of motion for checked arguments; see `terms`."""
        return evaluation.terms(self, q, v, t, project, close, cap, check)

    # -- pictures and printing --------------------------------------------------------------------

    def plot(self, q: ArrayLike | Mapping[str, float] | str | None = None, ax: Any = None) -> Figure:
        """Draw the plant at a configuration; see `cmbcontrol.plot.mechanism`.

        Parameters
        ----------
        q : array_like, shape (nq,), mapping of position name to value, or name of a configuration, optional
            By default ``"start"``, if the plant has it, or all joints at zero, with closed loops if they close.
        ax : matplotlib axes, optional
            A new figure unless given.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.five_bar()
        >>> plant.plot(plant.assemble(left=2.1, right=1.0)).axes[0].get_title()
        'five-bar'
        """
        from ..plot import mechanism  # a door: matplotlib is imported when it is used

        return mechanism(self, q, ax)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: {self.nv} coordinates, {len(self.row_names)} rows>"

    def __str__(self) -> str:
        return diagnosis.table(self)

    def part_lines(self, result: diagnosis.Diagnosis | None) -> list[str]:
        """Lines for the parts of the plant in the mobility table."""
        return diagnosis.function_lines(self, result)


class _Rows(Plant):
    """Plant with some of the rows of another plant, and possibly a coupling as its last row."""

    _of: Plant
    _kept: NDArray[np.int64]
    _coupling: tuple[Array, float] | None

    def __init__(self, of: Plant, kept: NDArray[np.int64], coupling: tuple | None = None, **changed: Any) -> None:
        # what it is made of comes first: it says best why it cannot be pickled
        own = {"_of": of, "_kept": kept, "_coupling": coupling, "sketch": of.sketch, "_neutral": of.neutral()}
        shown = {name: x for name, x in vars(of).items() if not name.startswith("_") and name not in own}
        vars(self).update(own | shown | changed, _frozen=True)
        self._freeze_arrays()

    def _knows(self, key: str) -> bool:
        return self._of._knows(key)

    def _value(self, key: str, *state: Array) -> Array:
        value = self._of._value(key, *state)
        if key not in OF_ROWS:
            return value
        value = value[self._kept]
        if self._coupling is None:
            return value
        row, offset = self._coupling
        if key == "A":
            return np.vstack([value, row])
        return np.append(value, row @ state[0] - offset if key == "Phi" else 0.0)
