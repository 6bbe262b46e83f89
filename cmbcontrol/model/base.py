"""What all plants share: names, configurations by name, closing the loops, diagnosis, frozenness."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import rank
from ..errors import AssemblyError, ModelError
from . import assembly, diagnosis
from .closing import Closing
from .elements import Coupling, Joint, Loop
from .near_singular import refined
from .terms import Terms

if TYPE_CHECKING:
    from ..linear.iosystem import PlantSystem
    from ..linear.operating import OperatingPoint
    from ..linear.signals import FrameMotion

__all__ = ["PlantBase"]

_FOLLOWED = 0.1  # of a step: closing undoes less of one that leads to other poses, its square
_SHUT = 1e-14  # of the largest length: loops that are open by less are closed for sure
_REGAINED = 2e-6  # of the largest gradient: rows that are back at poses near a singular one

Array = NDArray[np.float64]


class PlantBase(ABC):
    """Base of `Mechanism` and `FunctionPlant`.

    Attributes
    ----------
    name, source : str
    size : float
        Characteristic length, metres: a radian counts as `size` metres.
    position_names, velocity_names, actuator_names, row_names : tuple of str
    position_units, velocity_units, row_units : tuple of str
    row_slices : mapping of loop name to slice
    row_scale : ndarray, shape (rows,)
        Factors that bring the rows to metres.
    reach : ndarray, shape (nv,)
        Metres that a unit of each velocity coordinate counts as: `size` for angles, 1 for lengths.
    force_scale : float
        N; weight and spring forces of the machine. Joint forces that cancel leave rounding of this size.
    effort : ndarray, shape (nu,)
        Largest motor efforts.
    limits : ndarray, shape (nq, 2)
        Range of the position coordinates.
    paired : tuple of (int, int)
        (position, velocity) indices of coordinates that are plain numbers.
    loops : tuple
        The closures as parts; empty where functions describe them.
    absent : frozenset of str
        Loops that `without` has left out.
    """

    name: str
    source: str
    size: float
    position_names: tuple[str, ...]
    velocity_names: tuple[str, ...]
    actuator_names: tuple[str, ...]
    row_names: tuple[str, ...]
    position_units: tuple[str, ...]
    velocity_units: tuple[str, ...]
    row_units: tuple[str, ...]
    row_slices: Mapping[str, slice]
    row_scale: Array
    reach: Array
    force_scale: float
    effort: Array
    limits: Array
    paired: tuple[tuple[int, int], ...]
    loops: tuple = ()
    absent: frozenset[str] = frozenset()

    def __setattr__(self, key: str, value: object) -> None:
        if getattr(self, "_frozen", False):
            raise AttributeError(f"plant {self.name!r} is frozen; build a new one to change {key!r}")
        super().__setattr__(key, value)

    def __copy__(self) -> Self:
        """A frozen plant is its own copy."""
        return self

    def __deepcopy__(self, memo: dict) -> Self:
        return self

    # -- names ----------------------------------------------------------------------------------

    @property
    def nq(self) -> int:
        """Number of position coordinates."""
        return len(self.position_names)

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return len(self.velocity_names)

    @property
    def nu(self) -> int:
        """Number of actuators."""
        return len(self.actuator_names)

    def index(self, coordinate: str) -> int:
        """Index of a velocity coordinate by name.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plants.five_bar().index("right")
        2
        """
        _check.one_of(coordinate, self.velocity_names, "coordinate")
        return self.velocity_names.index(coordinate)

    def _require_distinct_signals(self) -> None:
        """Refuse names that fall together once suffixes are added: a loop "a" with a row "a_x", and a loop "a_x"."""
        cut = [j.name for j in self.loops if isinstance(j, Joint) and len(j.velocity_units) == 1]
        signals = [(n, f"the coordinate {n!r}") for n in dict.fromkeys((*self.velocity_names, *cut))]
        signals += [(f"{n}_rate", f"the rate of {what}") for n, what in signals]
        loop_of = {i: loop for loop, rows in self.row_slices.items() for i in range(*rows.indices(len(self.row_names)))}
        signals += [(n, f"a row of the loop {loop_of[i]!r}") for i, n in enumerate(self.row_names)]
        owner: dict[str, str] = {}
        for signal, what in signals:
            if signal in owner:
                raise ModelError(f"{self.name!r}: {owner[signal]} and {what} are both called {signal!r}; rename one")
            owner[signal] = what

    def velocity_of(self, positions: Sequence[int]) -> list[int]:
        """Velocity coordinates that belong to position coordinates (one-to-one ones only)."""
        pairs = dict(self.paired)
        positions = [_check.count(i, "positions", 0) for i in _check.sequence(positions, "positions", "numbers")]
        for i in positions:
            if i >= self.nq:
                raise ValueError(f"positions must be below {self.nq}, got {i}")
            if i not in pairs:
                raise ValueError(
                    f"coordinate {self.position_names[i]!r} is part of a joint with several axes and has no rate "
                    "of its own; fix a one-axis joint instead"
                )
        return [pairs[int(i)] for i in positions]

    def pack(self, values: Mapping[str, float], base: ArrayLike | None = None) -> Array:
        """Configuration vector from joint values by name; the others from `base` (default: neutral).

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plants.five_bar().pack({"right": 0.5})
        array([0. , 0. , 0.5, 0. ])
        """
        q = self.neutral() if base is None else self._position(base, "base").copy()
        for key, value in _check.mapping(values, "values", "coordinates to numbers").items():
            if key not in self.position_names:
                raise ValueError(_check.unknown(key, self.position_names, "joint coordinate"))
            q[self.position_names.index(key)] = _check.number(value, f"the value of {key!r}")
        return self._position(q)

    def configuration(self, q: ArrayLike | Mapping[str, float]) -> Array:
        """`q` as a checked vector, from an array or from values by name.

        Quaternions of any length but zero are brought to length one: only their direction is an attitude.

        Raises
        ------
        ValueError
            Where `q` has a wrong shape or name, is not finite, or has a quaternion of length zero.

        Examples
        --------
        >>> from cmbcontrol import Body, Mechanism, Spherical
        >>> top = Mechanism("top", [Body("top", 1.0, inertia=(1, 1, 1))], [Spherical("tip", "ground", "top")])
        >>> top.configuration([3.0, 0.0, 0.0, 4.0])
        array([0.6, 0. , 0. , 0.8])
        """
        if not isinstance(q, Mapping):
            return self._position(q)
        try:
            return self.pack(q)
        except ValueError as error:
            raise ValueError(f"q: {error}") from None

    def _position(self, q: ArrayLike, what: str = "q") -> Array:
        """A configuration as it is given to any method: a checked vector."""
        return _check.vector(q, self.nq, what, self.position_names)

    # -- what each kind of plant says in its own way ----------------------------------------------

    @abstractmethod
    def neutral(self) -> Array:
        """The configuration from which assembly starts unless told otherwise."""

    @abstractmethod
    def integrate(self, q: ArrayLike, dq: ArrayLike) -> Array:
        """q [+] dq: move by dq (nv,)."""

    @abstractmethod
    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """dq (nv,) such that ``integrate(q0, dq)`` is q1."""

    @abstractmethod
    def residual(self, q: ArrayLike) -> Array:
        """Residual phi (rows,) of the loops, metres and radians."""

    @abstractmethod
    def terms(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Terms:
        """Everything the equations of motion say at one state, in one record."""

    @abstractmethod
    def with_loops(self, *loops: Joint | Loop | Coupling) -> PlantBase:
        """The same plant with more loops; one that has the name of a present loop takes its place."""

    @abstractmethod
    def _of_rows(self, kept: Sequence[str], rows: NDArray[np.int64]) -> dict[str, Any]:
        """The attributes that change where only some loops, with these rows, are kept."""

    @abstractmethod
    def part_lines(self, found: diagnosis.Diagnosis | None) -> list[str]:
        """The parts of the plant, a line each, for the mobility table."""

    # -- loops ----------------------------------------------------------------------------------

    def without(self, *loops: str) -> Self:
        """The same plant with fewer loops: same coordinates, bodies, motors and size.

        Nothing is compiled or checked again; it takes some 50 microseconds.

        Parameters
        ----------
        *loops : str
            Names of the loops to leave out.

        Raises
        ------
        ValueError
            Where there is no such loop, or where a motor drives the cut joint that is to go.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.five_bar()
        >>> open_tree = plant.without("tip")
        >>> len(open_tree.row_names), open_tree.nv
        (0, 4)
        """
        for name in loops:
            _check.one_of(name, self.row_slices, "loop")
        if not loops:
            return self
        kept = [name for name in self.row_slices if name not in loops]
        spans = [np.arange(s.start, s.stop) for s in (self.row_slices[name] for name in kept)]
        rows = np.concatenate([np.zeros(0, np.int64), *spans])
        ends = np.cumsum([0, *(span.size for span in spans)]).tolist()
        scale = self.row_scale[rows]
        scale.setflags(write=False)
        mode = object.__new__(type(self))
        vars(mode).update(
            vars(self),
            row_names=tuple(self.row_names[i] for i in rows),
            row_units=tuple(self.row_units[i] for i in rows),
            row_slices={name: slice(*ends[i : i + 2]) for i, name in enumerate(kept)},
            row_scale=scale,
            absent=self.absent | set(loops),
            **self._of_rows(kept, rows),
        )
        vars(mode).pop("_modes", None)
        return mode

    def as_at(self, terms: Terms | PlantBase) -> Self:
        """The plant without the loops that do not hold where the terms were made, or in another plant; it is kept."""
        if not hasattr(terms, "absent") or isinstance(terms, type):
            raise TypeError(f"terms must be Terms, from plant.terms(q, v), or a plant, got {_check.shown(terms)}")
        if not terms.absent:
            return self
        gone = terms.absent.intersection(self.row_slices)
        modes = vars(self).setdefault("_modes", {})
        if gone not in modes:
            modes[gone] = self.without(*gone)
        return modes[gone]

    def rolling_rows(self, q: ArrayLike) -> tuple[str, ...]:
        """Rows that bind velocities and no positions (nonholonomic ones); none unless functions say so."""
        _check.vector(q, self.nq, "q", self.position_names)
        return ()

    def jacobian(self, q: ArrayLike) -> Array:
        """Constraint Jacobian A (rows, nv)."""
        return self.terms(q, np.zeros(self.nv)).A

    def loop_residuals(self, q: ArrayLike) -> dict[str, float]:
        """How far each loop is open, metres (radians times the size of the machine)."""
        phi = np.abs(self.residual(q)) * self.row_scale
        return {name: float(phi[rows].max(initial=0.0)) for name, rows in self.row_slices.items()}

    def closure_error(self, q: ArrayLike) -> float:
        """The largest of `loop_residuals`, metres."""
        return float(np.abs(self.residual(q) * self.row_scale).max(initial=0.0))

    def close(self, q: ArrayLike, *, metric: str = "mass", accuracy: float | None = None) -> Array:
        """The nearest configuration with closed loops, in the metric of M or the Euclidean one, to first order.

        Parameters
        ----------
        q : array_like, shape (nq,)
        metric : str
            ``"mass"`` or ``"euclidean"``.
        accuracy : float, optional
            Where the loops are open by less, as a part of the size of the machine, they are closed. Unless given, they
            are closed as far as rounding allows; near a singular configuration, where small residuals hide large
            errors, by measuring from that pose.

        Raises
        ------
        AssemblyError
            Where the loops stay open by more than 1e-9 of the largest length in play.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.five_bar()
        >>> plant.closure_error(plant.close([2.1, -1.3, 1.0, 1.3])) < 1e-14
        True
        """
        start = q = self._position(q).copy()
        accuracy = None if accuracy is None else _check.positive(accuracy, "accuracy")
        euclidean = _check.one_of(metric, ("mass", "euclidean"), "metric") == "euclidean"
        left = self.closure_error(q) if accuracy is None else np.inf
        if accuracy is not None or left > 2e-15 * self.extent(q):  # less is rounding
            q, left = self._closed_to(q, euclidean, 1e-15 if accuracy is None else accuracy)
        if not left < 1e-9 * self.size and not left < 1e-9 * self.extent(q):
            raise self._not_closed(q)
        return q if accuracy is not None else refined(Closing(self, [], limited=False), q, start)

    def _closed_to(self, q: Array, euclidean: bool, accuracy: float) -> tuple[Array, float]:
        """The loops closed by damped steps, as far as possible, and what is left, metres."""
        closing = Closing(self, [], limited=False)
        step = closing.metric_step(lambda q: np.eye(self.nv) if euclidean else self._mass(q))
        try:
            q = closing.close(q, step, accuracy)
        except np.linalg.LinAlgError:
            raise self._bad_mass(q) from None
        return q, self.closure_error(q)

    def _mass(self, q: Array) -> Array:
        """Mass matrix (nv, nv)."""
        return self.terms(q, np.zeros(self.nv)).M

    def _bad_mass(self, q: Array) -> ModelError:
        return ModelError(f"the mass matrix of {self.name!r} is not positive definite at q = {q.tolist()}")

    def extent(self, q: ArrayLike) -> float:
        """The largest length in play at q, metres: rounding leaves some 1e-16 of it in the residual of the loops.

        That is the size of the machine, times the largest angle where that is above one, or the distance of its parts
        from the world's origin.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plants.five_bar().extent([0.0, 0.0, 3.0, 0.0])
        4.5
        """
        units = np.array([self.size if unit == "rad" else 1.0 for unit in self.position_units])
        return max(self.size, float(np.abs(units * self._position(q)).max(initial=0.0)))

    def _not_closed(self, q: Array) -> AssemblyError:
        """The error of `close`."""
        residuals = self.loop_residuals(q)
        worst = max(residuals, key=residuals.__getitem__)
        return AssemblyError(
            f"the loops of {self.name!r} cannot be closed near this pose: {worst!r} stays open by "
            f"{residuals[worst]:.3e} m. Start nearer, or use assemble().",
            residuals,
            q,
        )

    def assemble(self, guess: ArrayLike | Mapping[str, float] | None = None, **joint_values: float) -> Array:
        """Close the loops with the given joint values held.

        Damped Gauss-Newton steps within the joint limits, from the guess first: the pose found is, to first order, the
        nearest one (in radians, and sizes of the machine). Only where there is none, from starts that wander further
        off. The joint values are held exactly, also those of a singular configuration, which is met to rounding.

        Parameters
        ----------
        guess : array_like or mapping, optional
            Configuration near the branch that is wanted; the neutral one unless told.
        **joint_values : float
            Position coordinates by name, rad or m.

        Returns
        -------
        q : ndarray, shape (nq,)

        Raises
        ------
        AssemblyError
            Where the loops stay open; it carries the residual of each loop.

        Warns
        -----
        BranchWarning
            Where a guess was given, and the pose found is more than three times as far from it (and 0.1) as first order
            predicts: perhaps on another branch.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.five_bar()
        >>> q = plant.assemble(left=2.1, right=1.0)
        >>> plant.closure_error(q) < 1e-12
        True
        """
        return assembly.assemble(self, joint_values, guess)

    def generic_rank(self, q: ArrayLike) -> int:
        """Rank of A at poses near q on the manifold: above the rank at q where q is singular.

        Nearby poses are found by moving 1e-3 (rad, or sizes of the machine) along admissible velocities and closing
        the loops again. At a singular configuration most of these are tangent to no branch, and closing leads part of
        the way back; then a coordinate is held off its value while the others close the loops.
        """
        q = self._position(q)
        here = self.terms(q, np.zeros(self.nv))
        if here.rank == min(here.A.shape):
            return here.rank
        step = 1e-3 * self.size / self.reach
        basis = np.linalg.qr(here.Z / step[:, None])[0]  # of the freedoms, in steps
        rng = np.random.default_rng(0)
        ranks, free = [], True
        for _ in range(6):
            away = basis @ rng.standard_normal(here.dof)
            away /= np.abs(away).max(initial=1e-300)
            try:
                near = self.close(self.integrate(q, away * step), accuracy=1e-14)
            except AssemblyError:
                free = False
                continue
            free = free and bool(np.abs(self.difference(q, near) / step - away).max() < _FOLLOWED)
            ranks += self._rank_nearby(q, near, step)
        if not free and max(ranks, default=0) < min(here.A.shape):
            pairs = sorted(self.paired, key=lambda pair: -float(np.linalg.norm(basis[pair[1]])))
            for i, k in pairs[:6]:
                away = basis @ basis[k]
                if away[k] > 1e-6:
                    near = self.integrate(q, away * step / away[k])
                    near = assembly.close_holding(self, near, np.array([i]), near[[i]])
                    ranks += self._rank_nearby(q, near, step)
        return max([here.rank, *ranks])

    def _rank_nearby(self, q: Array, near: Array, step: Array) -> list[int]:
        """The rank at a closed pose that is near q, but not at it; else none.

        Loops that are closed to 1e-14 hold a part that is locked at a singular configuration to its root, 1e-7:
        gradients of that size are none. Those that the motion brings back are as large as its 1e-3, less the
        conditioning. Loops that are open by more may be open for good: some singular configurations open by the fourth
        power of the step.
        """
        distance = np.abs(self.difference(q, near) / step).max()
        if not 0.1 < distance < 100.0 or not self.closure_error(near) < _SHUT * self.extent(near):
            return []
        terms = self.terms(near, np.zeros(self.nv))
        return [min(terms.rank, rank(terms.pivots, float(terms.pivots.max(initial=0.0)), _REGAINED))]

    def diagnose(self, q: ArrayLike) -> diagnosis.Diagnosis:
        """True freedom, redundant rows, conditioning, unique forces and actuation at a pose.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.five_bar()
        >>> plant.diagnose(plant.assemble(left=2.1, right=1.0)).dof
        2
        """
        return diagnosis.diagnose(self, self._position(q))

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
        """The plant as a nonlinear system of python-control, in independent coordinates.

        It goes wherever a ``control.nlsys`` goes: ``interconnect``, ``input_output_response``,
        ``find_operating_point``, ``create_statefbk_iosystem``. ``control.linearize`` of it is analytic. The loops are
        closed inside, so that 2 dof states are all there are, and none of them leaves the manifold.

        Parameters
        ----------
        point : OperatingPoint
            From `trim`, or any state, ``OperatingPoint.at(plant, q, u, v)``: where the deviations are zero, and the
            branch of closed configurations on which the machine moves.
        coordinates : sequence of str, or array_like, shape (dof, nv), optional
            Independent coordinates, as in `linearize`.
        inputs : sequence of str, optional
            Actuators; all unless given. The others keep the efforts of the operating point.
        outputs : sequence of str or FrameMotion, optional
            As in `linearize`; the states unless given, as state feedback needs them.
        absolute : bool
            Inputs are the motor efforts themselves, rather than deviations from those of the operating point.
        name : str, optional
            Of the system; that of the plant unless given.

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

    def __str__(self) -> str:
        return diagnosis.table(self)
