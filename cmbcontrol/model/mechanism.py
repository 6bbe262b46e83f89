"""Machines of rigid bodies: built once, checked, then never changed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import BLURRED, ROUNDING, metres
from ..errors import InputError, InputTypeError, ModelError, PrecisionWarning
from ..kernels import centroidal, constrained, constraint_rows, forces, frames, layout, tree
from ..kernels.layout import LOADED, PLAIN, RESTING
from . import diagnosis, prescribed
from .compile import compile_parts, renewed_rows
from .elements import (
    GROUND,
    Actuator,
    Body,
    Cylinder,
    ForceElement,
    Frame,
    Joint,
    Load,
    LoopPart,
    Motion,
    Spring,
    Wheel,
)
from .plant import Plant
from .prescribed import Prescribed
from .terms import FAILED, RANK_TOLERANCE, LoadFriction, Terms

if TYPE_CHECKING:
    from .agreement import Agreement

__all__ = ["Mechanism"]

_PARTS: tuple[str, ...] = ("name", "bodies", "joints", "loops", "springs", "actuators", "loads", "forces", "gravity")
_PARTS += ("source", "configurations", "precision")

Array = NDArray[np.float64]

_SLIDES = 3.0  # times the rate within which friction is smooth: from there on it is dry but for 0.5 %
_DIGITS = 30.0  # changes may be so many roundings: rows add up rounded numbers, times their levers

_works: WeakKeyDictionary[Mechanism, list[constrained.Work]] = WeakKeyDictionary()  # scratch, no part of a machine


class Mechanism(Plant):
    """Machine of bodies joined to a tree, closed by loops, with springs, actuators and gravity.

    Parameters
    ----------
    name : str
    bodies : sequence of Body
        Moving bodies; the ground is there already, as ``"ground"``.
    joints : sequence of Joint
        The tree: one joint carries each body. Their order is the order of the coordinates.
    loops : sequence of Joint, Constraint, Coupling or Motion
        Closures, and prescribed motions. A joint here is a cut joint: it adds constraint rows in place of coordinates.
    springs : sequence of JointSpring or PointSpring
    actuators : sequence of Actuator
    loads : sequence of Load
        External forces and moments.
    forces : sequence of ForceElement
        Springs and dampers of any characteristic, ropes, friction, bushings.
    cylinders : sequence of Cylinder
        Bodies, joints, closures and motors in one; they come last, in this order.
    configurations : mapping of str to mapping, optional
        Configurations by name, each by values of position coordinates, rad or m. A name stands wherever a configuration
        may, as in ``simulate(plant, q0="home")``. Coordinates that are not named close the loops; where all are,
        the loops are closed nearest to them. Where there is a ``"start"``, the command line begins there.
    gravity : array_like, shape (3,)
        m/s2, world axes.
    source : str
        Reference from which the machine is taken.
    precision : float, optional
        Precision of its places, m; that of its angles is this over its size. Where redundant rows agree no better than
        that, places and axes change by so little that they do, see `agreement`. Unless it is given, changes above 1e-9
        of the size are reported by a warning, and those above 1e-3 are not made; 0 leaves all numbers as they are.

    Attributes
    ----------
    agreement : Agreement or None
        Change by which redundant rows agree that agreed only to the digits of the numbers; see
        `cmbcontrol.model.agreement.Agreement`. None where they agree by themselves.

    Raises
    ------
    ModelError
        Where the parts contradict each other or physics; the message names the part.

    Warns
    -----
    PrecisionWarning
        Where redundant rows agree to a few digits only.

    Notes
    -----
    A frame on a body that has a name of its own, such as a tool or a sensor, is a `Body` without mass and a `Fixed`
    joint.

    Sign convention (Aghili, eq. 19): ``M dv/dt + h = B u - A' lam``. Positions are ``q (nq,)``,
    velocities ``v (nv,)``; they differ in length where a joint has a quaternion (w, x, y, z).

    Examples
    --------
    >>> from cmbcontrol import Actuator, Body, Mechanism, Revolute
    >>> rod = Body.rod("rod", mass=1.0, length=1.0)
    >>> pivot = Revolute("pivot", "ground", "rod", axis=(0, 0, 1))
    >>> plant = Mechanism("pendulum", [rod], [pivot], actuators=[Actuator("pivot")], gravity=(0, -9.81, 0))
    >>> plant.terms([0.0], [0.0]).h.round(3)
    array([4.905])
    """

    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    loops: tuple[LoopPart, ...]
    springs: tuple[Spring, ...]
    actuators: tuple[Actuator, ...]
    loads: tuple[Load, ...]
    forces: tuple[ForceElement, ...]
    cylinders: tuple[Cylinder, ...]
    gravity: Array
    agreement: Agreement | None

    if TYPE_CHECKING:  # what these make of a mechanism is one

        def without(self, *constraints: str) -> Mechanism: ...
        def as_at(self, terms: Terms | Plant) -> Mechanism: ...

    _whole: tuple[Mechanism, tuple[str, ...]] | None = None  # what `without` took which constraints from

    @_check.knows_its_keywords
    def __init__(
        self,
        name: str,
        bodies: Sequence[Body],
        joints: Sequence[Joint],
        loops: Sequence[LoopPart] = (),
        springs: Sequence[Spring] = (),
        actuators: Sequence[Actuator] = (),
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        source: str = "",
        *,
        loads: Sequence[Load] = (),
        forces: Sequence[ForceElement] = (),
        cylinders: Sequence[Cylinder] = (),
        configurations: Mapping[str, Mapping[str, float]] | None = None,
        precision: float | None = None,
    ) -> None:
        self.name = _check.name(name, "mechanism")
        parts: dict[str, Any] = {"bodies": bodies, "joints": joints, "loops": loops, "springs": springs}
        parts |= {"actuators": actuators, "loads": loads, "forces": forces}
        self.cylinders = _check.sequence(cylinders, f"mechanism {self.name!r}: cylinders", "cylinders")
        for part in self.cylinders:
            if not isinstance(part, Cylinder):
                raise InputTypeError(f"mechanism {self.name!r}: {_check.shown(part)} is not a cylinder")
        for key, given in parts.items():
            setattr(self, key, _check.sequence(given, f"mechanism {self.name!r}: {key}", key))
        for key in ("bodies", "joints", "loops", "actuators"):
            made = [x for cylinder in self.cylinders for x in getattr(cylinder, key)]
            setattr(self, key, (*getattr(self, key), *made))
        self.source = _check.text(source, f"mechanism {self.name!r}: source")
        self.gravity = _check.vector(gravity, 3, "gravity").copy()
        self.gravity.setflags(write=False)
        self.precision = None if precision is None else _check.positive(precision, "precision", zero=True)
        self._check_parts()
        self._compiled = compile_parts(
            self.bodies, self.joints, self.loops, self.springs, self.actuators, self.loads, self.forces, self.gravity
        )
        self.arrays = self._compiled.arrays
        self.size = self._compiled.size
        self.position_names = tuple(n for j in self.joints for n in j.position_names)
        self.velocity_names = tuple(n for j in self.joints for n in j.velocity_names)
        self.position_units = tuple(u for j in self.joints for u in j.position_units)
        self.velocity_units = tuple(u for j in self.joints for u in j.velocity_units)
        self.actuator_names = tuple(a.name for a in self.actuators)
        self.load_names = tuple(n for load in self.loads for n in load.component_names)
        self.motions = tuple(loop for loop in self.loops if loop.component_names)  # type: ignore[misc]
        self.motion_names = tuple(n for motion in self.motions for n in motion.component_names)
        self._require_distinct_motions()
        self.row_names, self.row_units = self._compiled.row_names, self._compiled.row_units
        self.row_slices = self._compiled.row_slice
        self.motion_units = self._motion_units()
        self.row_scale, self.unit_lengths = self.arrays.scale, self.arrays.unit_lengths
        self.effort = np.array([a.effort for a in self.actuators], dtype=np.float64)
        self.limits = np.concatenate([np.empty((0, 2)), *(j.limits for j in self.joints)])
        # (position, velocity) indices of coordinates that are plain numbers
        velocity = {n: i for i, n in enumerate(self.velocity_names)}
        velocity |= {f"{j.name}_{q}": velocity[f"{j.name}_{v}"] for j in self.joints for q, v in j.rates.items()}
        self.paired = tuple((i, velocity[n]) for i, n in enumerate(self.position_names) if n in velocity)
        starts = {j.name: self._compiled.position_slice[j.name].start for j in self.joints}
        self.quaternions = tuple((j.name, starts[j.name]) for j in self.joints if j.has_quaternion)
        for array in (self.row_scale, self.effort, self.limits):
            array.setflags(write=False)
        self.force_scale = self._force_scale()
        self._require_distinct_signals()
        self.configurations = self._checked_configurations(configurations or {})
        self._frozen = True
        with np.errstate(all="ignore"):  # forces need not have a value at zero, where points may coincide
            self._check_mass()
            self._agree()

    @classmethod
    def from_graph(
        cls,
        name: str,
        bodies: Sequence[Body],
        joints: Sequence[Joint],
        *,
        cuts: Sequence[str] | None = None,
        **parts: Any,
    ) -> Mechanism:
        """Machine from joints that form loops, which are cut where it is best.

        Parameters
        ----------
        name, bodies
            As in `Mechanism`.
        joints : sequence of Joint
            All joints: a body may be the child of several.
        cuts : sequence of str, optional
            Joints to cut; None leaves the choice to `cmbcontrol.model.cutting.cut_loops`, which gives its reasons.
        **parts
            Other arguments of `Mechanism`.

        Raises
        ------
        ModelError
            Where bodies are not connected to the ground, or the named cuts leave no tree.

        Examples
        --------
        >>> from cmbcontrol import Body, Frame, Mechanism, Revolute
        >>> rods = [Body.rod(name, mass=1.0, length=1.0) for name in ("crank", "coupler", "rocker")]
        >>> ends = [("ground", "crank", 0), ("crank", "coupler", 1), ("coupler", "rocker", 1), ("ground", "rocker", 0)]
        >>> pins = [Revolute(f"pin{i}", a, b, frame=Frame((x, 0, 0))) for i, (a, b, x) in enumerate(ends)]
        >>> four_bar = Mechanism.from_graph("four-bar", rods, pins)
        >>> [joint.name for joint in four_bar.loops]
        ['pin2']
        """
        from .cutting import cut_loops

        given = {key: parts.get(key, ()) for key in ("loops", "actuators", "springs", "forces")}
        made = cut_loops(bodies, joints, cuts=cuts, **given)
        return cls(name, bodies, made.joints, **parts | {"loops": made.loops})

    # -- checks ---------------------------------------------------------------------------------

    def _check_parts(self) -> None:
        """Check the types and names of the parts."""
        kinds = (
            ("body", self.bodies, Body),
            ("joint", self.joints, Joint),
            ("constraint", self.loops, LoopPart),
            ("spring", self.springs, Spring),
            ("actuator", self.actuators, Actuator),
            ("load", self.loads, Load),
            ("force element", self.forces, ForceElement),
        )
        for what, parts, types in kinds:
            for part in parts:
                if not isinstance(part, types):
                    order = isinstance(part, Actuator) and "; the fifth argument is springs, write actuators=..."
                    raise InputTypeError(
                        f"mechanism {self.name!r}: {_check.shown(part)} is not {_check.with_article(what)}{order or ''}"
                    )
        for what, parts in (
            ("bodies", self.bodies),
            ("joints or constraints", self.joints + self.loops),
            ("springs", self.springs),
            ("actuators", self.actuators),
            ("loads", self.loads),
            ("force elements", self.forces),
        ):
            names = [p.name for p in parts]
            for n in names:
                if names.count(n) > 1:
                    raise ModelError(f"mechanism {self.name!r}: {names.count(n)} {what} are called {n!r}; rename one")
        self._check_cut_joints()
        if any(b.name == GROUND for b in self.bodies):
            raise ModelError(f"mechanism {self.name!r}: the name 'ground' belongs to the world; rename the body")
        names = [n for j in self.joints for n in set(j.position_names) | set(j.velocity_names)]
        for n in names:
            if names.count(n) > 1:
                raise ModelError(f"mechanism {self.name!r}: two coordinates are called {n!r}; rename a joint")

    def _check_cut_joints(self) -> None:
        """Raise an error for damping, armature or limits of a cut joint: it has no coordinate on which they act."""
        for joint in self.loops:
            if not isinstance(joint, Joint):
                continue
            given_options = {"damping": joint.damping.any(), "armature": joint.armature.any()}
            for option, given in (given_options | {"limits": np.isfinite(joint.limits).any()}).items():
                if given:
                    raise ModelError(
                        f"mechanism {self.name!r}: {option} has no effect on the cut joint {joint.name!r}; leave it "
                        f"out, or put {joint.name!r} into joints and cut another joint of its loop"
                    )

    def _checked_configurations(self, given: Mapping[str, Mapping[str, float]]) -> Mapping[str, Mapping[str, float]]:
        """Read-only copies of named configurations, checked to have known coordinates."""
        found = {}
        for name, values in _check.mapping(given, "configurations", "names to values of coordinates").items():
            what = f"configuration {_check.name(name, 'configuration')!r} of {self.name!r}"
            for key in _check.mapping(values, what, "coordinates to numbers"):
                _check.one_of(key, self.position_names, f"coordinate of {what}")
            found[name] = MappingProxyType({n: _check.number(x, f"{n!r} of {what}") for n, x in values.items()})
        return MappingProxyType(found)

    def _force_scale(self) -> float:
        """Weight, and forces of springs when stretched by the size of the machine or turned by a radian, N."""
        scale = sum(body.mass for body in self.bodies) * float(np.linalg.norm(self.gravity))
        for spring in self.springs:
            metres = 1.0 if spring.ends else self.unit_lengths[self.index(*spring.coordinates)]
            scale += spring.stiffness * self.size / metres**2
        return scale

    def _check_mass(self) -> None:
        """Raise an error for joints that have no inertia to move.

        Each coordinate is measured by itself, against the rounding of its own inertia: a pinion on an excavator is
        light, not massless. Then M scaled to a diagonal of ones shows combinations of coordinates without inertia.
        """
        if not self.nv:
            return
        rng = np.random.default_rng(0)
        away = self.displacement_scale * rng.uniform(-1.0, 1.0, self.nv)
        for q in (self.neutral(), self.integrate(self.neutral(), away)):
            M, rounding = self.terms(q, np.zeros(self.nv), check=False).M, ROUNDING * self._carried(q)
            own = M.diagonal()
            weak, least = int(np.argmin(own / np.maximum(rounding, 1e-300))), 0.0
            if own[weak] > rounding[weak]:
                unit = np.sqrt(own)
                values, vectors = np.linalg.eigh(M / unit[:, None] / unit)
                weak, least = int(np.abs(vectors[:, 0]).argmax()), float(values[0])
            if least <= ROUNDING:
                raise ModelError(
                    f"mechanism {self.name!r}: coordinate {self.velocity_names[weak]!r} has no inertia to move (its "
                    f"own in M is {own[weak]:.3g}, and combined with others {least:.3g} of it is left); give the "
                    "bodies that it carries mass or inertia"
                )

    def _agree(self) -> None:
        """Change numbers of redundant rows that do not agree, by no more than the precision allows."""
        from .agreement import FINE, agreed

        vars(self)["agreement"] = None
        found = None if self.precision == 0.0 else agreed(self)
        if found is None:
            return
        told, made = found
        changed = max(told.shift / self.size, told.turn)
        if told.changes and (self.precision is None or changed <= _DIGITS * self.precision / self.size):
            cylinders = self.cylinders
            vars(self).clear()  # what is known of the other numbers, too
            vars(self).update(vars(made) | {"cylinders": cylinders})
            vars(self).pop("_positional", None)  # it may be the other object
        else:
            told = replace(told, changes={})
        vars(self)["agreement"] = told
        if told.changes and (self.precision is not None or changed <= FINE):
            return
        remedy = (
            "precision= (m) says that this is meant, and precision=0 that the numbers are"
            if told.changes
            else "With precision= (m) they are changed, where singular values tell which rows are redundant"
        )
        warnings.warn(f"mechanism {self.name!r}: {told}. {remedy}", PrecisionWarning, stacklevel=3)

    def _carried(self, q: Array) -> Array:
        """Largest inertia (nv,) that the links behind a coordinate could have: mass times distance squared."""
        links, p = self.arrays.links, self.link_poses(q)[1]
        mass = links["mass"].copy()
        for i in range(len(links) - 1, -1, -1):
            if links["parent"][i] >= 0:
                mass[links["parent"][i]] += mass[i]
        far = self.size + float(np.abs(p).max(initial=0.0))
        of_link = np.repeat(np.arange(len(links)), links["nv"])
        turning = np.array([unit == "rad/s" for unit in self.velocity_units])
        return mass[of_link] * np.where(turning, far**2, 1.0)

    # -- geometry -------------------------------------------------------------------------------

    def _position(self, q: ArrayLike, what: str = "q") -> Array:
        """Configuration as a checked vector with quaternions of length one, from the argument of any method.

        This is the only place where they are normalised. A quaternion of length one to 5e-15 is unchanged, so that
        states of a run keep their digits.
        """
        q = super()._position(q, what)
        if self.quaternions and tree.off_unit(self.arrays.links, q) > 1e-14:
            q = q.copy()
            for joint, i in self.quaternions:
                length = math.hypot(*q[i : i + 4])
                if length < 1e-8:  # beside entries of size one, what is smaller may be their rounding
                    raise InputError(
                        f"{what} of {self.name!r} has a quaternion of length zero at joint {joint!r}, "
                        f"{q[i : i + 4].tolist()}: that is no attitude. (w, x, y, z) = (1, 0, 0, 0) is no rotation"
                    )
                q[i : i + 4] /= length
        return q

    def neutral(self) -> Array:
        """Configuration with all joints at zero (unit quaternions)."""
        q = np.zeros(self.nq)
        for i, n in enumerate(self.position_names):
            if n.endswith("_qw") and self.position_units[i] == "1":
                q[i] = 1.0
        return q

    def integrate(self, q: ArrayLike, dq: ArrayLike) -> Array:
        """Configuration q [+] dq: each joint moved by its own velocity coordinates dq (nv,) for a unit of time."""
        q = self._position(q)
        out = np.empty(self.nq)
        tree.retract(self.arrays.links, q, _check.vector(dq, self.nv, "dq", self.velocity_names), out)
        return out

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """Displacement dq (nv,) with ``integrate(q0, dq)`` equal to q1."""
        q0 = self._position(q0, "q0")
        q1 = self._position(q1, "q1")
        out = np.empty(self.nv)
        tree.local_difference(self.arrays.links, q0, q1, out)
        return out

    def position_rate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Rate of the positions dq/dt (nq,) at velocity v (nv,)."""
        out = np.empty(self.nq)
        q = self._position(q)
        tree.position_rates(self.arrays.links, q, _check.vector(v, self.nv, "v", self.velocity_names), out)
        return out

    def link_poses(self, q: ArrayLike) -> tuple[Array, Array]:
        """Rotations (links, 3, 3) and origins (links, 3) of the kernel links in the world."""
        n = self.arrays.links.shape[0]
        R, p = np.empty((n, 3, 3)), np.empty((n, 3))
        tree.link_poses(self.arrays.links, self._position(q), R, p)
        return R, p

    def frame_motion(
        self, q: ArrayLike, v: ArrayLike, side: Array, frame: Sequence, other: Sequence
    ) -> tuple[Any, ...]:
        """Origin, axes, Jacobian (6, nv) and bias (6,) of a frame, as seen from another one and in its axes.

        Frames are given by a kernel link (see `link_index`), axes (3, 3) and origin (3,) on it. `side` (nv,) is 1 for
        coordinates that move the first link, -1 for those that move the second one, 0 for both or none.
        """
        return frames.frame_motion(self.arrays.links, *self.link_poses(q), v, side, *frame, *other)

    def centroidal_motion(self, q: ArrayLike, v: ArrayLike, links: NDArray[np.void]) -> tuple[Any, ...]:
        """Mass, centre (3,), Jacobian (6, nv) and bias (6,) of the momentum about it, of kernel links with masses."""
        return centroidal.centroidal_motion(links, *self.link_poses(q), v)

    def row_wrenches(self, q: ArrayLike) -> tuple[Array, Array]:
        """Moment and force (rows, 6) of a unit of each row about the origin of the world, and places (rows, 3)."""
        with self._scratch() as work:
            constrained.update_position(self.arrays, self._position(q), work, RANK_TOLERANCE, self.nv)
            return work.wrenches.copy(), work.E[:, 4].copy()

    def link_index(self, body: str) -> int:
        """Index of the kernel link that a body is part of; -1 is the ground.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plants.five_bar().link_index("right_upper")
        3
        """
        _check.one_of(body, self._compiled.link_of, "body")
        return self._compiled.link_of[body]

    def path_mask(self, link: int) -> NDArray[np.bool_]:
        """Mask (nv,) of the coordinates between the ground and a kernel link, see `link_index`: those that move it.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.five_bar()
        >>> plant.path_mask(plant.link_index("right_upper")).tolist()
        [False, False, True, True]
        """
        links, mask = self.arrays.links, np.zeros(self.nv, dtype=bool)
        link = _check.count(link, "link", -1)
        while link >= 0:
            mask[links[link]["iv"] : links[link]["iv"] + links[link]["nv"]] = True
            link = int(links[link]["parent"])
        return mask

    @cached_property
    def _looped(self) -> NDArray[np.bool_]:
        rows, mask = self.arrays.rows, np.zeros(self.nv, dtype=bool)
        for a, b in {(int(row["a"]), int(row["b"])) for row in rows if row["kind"] != layout.ROW_COUPLING}:
            mask |= self.path_mask(a) != self.path_mask(b)
        return mask | (self.arrays.couplings_v != 0.0).any(axis=0)

    def pose(self, q: ArrayLike, body: str) -> Frame:
        """Frame of a body in the world.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.pendulum()
        >>> plant.pose(plant.assemble(angle=0.0), "rod").R.diagonal()
        array([1., 1., 1.])
        """
        link = self.link_index(body)
        if link < 0:
            return Frame()
        R, p = self.link_poses(q)
        inside = self._compiled.frame_of[body]
        rotation = R[link] @ inside.R.T
        return Frame(p[link] - rotation @ inside.p, rotation)

    def point(self, q: ArrayLike, body: str, point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """World position (3,) of a point given in a body's axes."""
        frame = self.pose(q, body)
        return frame.p + frame.R @ _check.point(point, "point")

    def length_scale(self, q: ArrayLike) -> float:
        far = metres(self.position_units, self.size) * self._position(q)
        for _, i in self.quaternions:  # no lengths: in a machine of micrometres they would be a million times its size
            far[i : i + 4] = 0.0
        return max(self.size, *(float(np.abs(x).max(initial=0.0)) for x in (far, self.link_poses(q)[1])))

    # -- loops ----------------------------------------------------------------------------------

    def residual(self, q: ArrayLike) -> Array:
        q = self._position(q)
        R, p = self.link_poses(q)
        phi = np.empty(len(self.row_names))
        constraint_rows.constraint_residual(self.arrays, q, R, p, phi)
        return phi

    def jacobian(self, q: ArrayLike) -> Array:
        q = self._position(q)
        A, has_mass = constrained.jacobian(self.arrays, q)
        self._require_evaluated(q, A, 0 if has_mass else FAILED)
        return A

    @contextmanager
    def _scratch(self) -> Iterator[constrained.Work]:
        """Context with scratch arrays of the kernels, kept from call to call, since making them takes time.

        For a large machine, it takes as long as an evaluation.

        Kernels run side by side in threads, so each call takes one, or makes one where none is left.
        """
        works = _works.setdefault(self, [])
        try:
            work = works.pop()
        except IndexError:
            work = constrained.new_work(self.arrays)
        yield work
        works.append(work)

    def _closed_to(self, q: Array, euclidean: bool, accuracy: float) -> tuple[Array, float]:
        """Configuration near q with closed loops, and the closure error, m: by full steps, or damped ones where needed.

        Full steps run in the compiled kernel; damped ones take over where these do not close the loops, or lead far.
        """
        if self._rolling:
            return self._positional._closed_to(q, euclidean, accuracy)
        trial, moved = q.copy(), np.empty(self.nv)
        with self._scratch() as work:
            left = constrained.close_loops(
                self.arrays, trial, work, RANK_TOLERANCE, self.nv, euclidean, accuracy * self.size, -1, moved
            )
        closed = 0.0 <= left < 1e-9 * self.size or 0.0 <= left < 1e-9 * self.length_scale(trial)
        if (
            closed and np.abs(moved * self.unit_lengths).max(initial=0.0) < 0.5 * self.size
        ):  # so near, full steps are right
            return trial, left
        damped, open_by = super()._closed_to(q, euclidean, accuracy)
        if closed and not open_by < 1e-9 * self.length_scale(damped):
            return trial, left
        M = np.eye(self.nv) if euclidean else self.mass_matrix(q)
        ways = [self.difference(q, end) for end in (trial, damped)]
        first = closed and ways[0] @ M @ ways[0] <= ways[1] @ M @ ways[1]
        return (trial, left) if first else (damped, open_by)

    def project_velocity(self, q: ArrayLike, v: ArrayLike, *, metric: str = "mass") -> Array:
        """Velocity nearest to v that the loops allow, in the metric of M or the Euclidean one.

        Where motions are prescribed it is one that follows them.

        Within rounding of a singular configuration (1e-8), gradients that nearly vanish do not count.
        """
        q = self._position(q)
        v = _check.moderate(_check.vector(v, self.nv, "v", self.velocity_names), "v", self.velocity_names).copy()
        euclidean = _check.one_of(metric, ("mass", "euclidean"), "metric") == "euclidean"
        with self._scratch() as work:
            with np.errstate(all="ignore"):  # a formula need not have a value here, as of a wheel that lies flat
                rank = constrained.update_position(self.arrays, q, work, BLURRED, self.nv)
            if self.arrays.formulas.size:
                self._require_defined(q, work.A)
            if euclidean:
                rank = constrained.euclidean_split(self.arrays, work, BLURRED, self.nv)
            constrained.project_velocity(self.arrays, work, rank, v)
        return v

    def lying_flat(self, q: ArrayLike) -> tuple[str, ...]:
        """Names of wheels whose axle is along the normal of their plane, to 1e-3 rad: they touch it everywhere at once.

        Examples
        --------
        >>> from cmbcontrol import Body, Free, Mechanism, Wheel
        >>> rim, disc = Wheel("rim", "ground", "disc", axis=(0, 1, 0), radius=0.3), Body("disc", 1.0, inertia=(1, 1, 1))
        >>> plant = Mechanism("disc", [disc], [Free("disc", "ground", "disc")], [rim])
        >>> plant.lying_flat(plant.neutral()), plant.lying_flat([0.5**0.5, 0.5**0.5, 0, 0, 0, 0, 0])
        ((), ('rim',))
        """
        q, found = self._position(q), []
        for wheel in (loop for loop in self.loops if isinstance(loop, Wheel)):
            normal = self.pose(q, wheel.a).R @ wheel.normal
            axle = self.pose(q, wheel.b).R @ wheel.axis
            if np.linalg.norm(np.cross(normal, axle)) < 1e-3 * np.linalg.norm(axle):
                found.append(wheel.name)
        return tuple(found)

    def _require_defined(self, q: Array, A: Array) -> None:
        """Raise an error for configurations at which the formula of a row has no value.

        Raises
        ------
        ModelError
        """
        if np.isfinite(A).all():
            return
        flat = self.lying_flat(q)
        if flat:
            raise ModelError(
                f"wheel {flat[0]!r} of {self.name!r} lies flat on its plane at q = {np.round(q, 6).tolist()}: its axle "
                "is along the normal, and no point of the rim touches more than the others. Start with a tilt"
            )
        bad = ", ".join(self.row_names[i] for i in np.flatnonzero(~np.isfinite(A).all(axis=1)))
        raise ModelError(
            f"the rows {bad} of {self.name!r} have no value at q = {np.round(q, 6).tolist()}; look at their formulas"
        )

    def with_loops(self, *loops: LoopPart) -> Mechanism:
        """Machine with more constraints; one with the name of a present constraint replaces it.

        The machine is built again, in a few milliseconds; no kernel is compiled again.

        Examples
        --------
        >>> from cmbcontrol import Coupling, plants
        >>> plants.five_bar().with_loops(Coupling("belt", {"left": 1.0, "right": 1.0}, offset=3.1)).row_names
        ('tip_x', 'tip_y', 'belt')
        """
        new = {getattr(constraint, "name", None): constraint for constraint in loops}
        placed = [new.pop(constraint.name, constraint) for constraint in self.loops]
        made = self.with_parts(loops=[*placed, *new.values()])
        same = self.motions == made.motions  # then their targets are those of this machine, which may follow functions
        return made.with_records(self.arrays.loads, self.arrays.targets if same else None)

    def with_places(self, *loops: LoopPart) -> Mechanism:
        """Machine with some of its own constraints held at other places, as `capture` makes them.

        It shares all that is compiled, where a constraint has the rows that it had; else the machine is built again.
        """
        own = {constraint.name: constraint for constraint in self.loops}
        rows = self.arrays.rows.copy()
        for constraint in loops:
            before = own.get(constraint.name)
            found = None
            if type(before) is type(constraint) and _levers(before) == _levers(constraint):
                found = renewed_rows(self._compiled, rows[self.row_slices[constraint.name]], constraint)
            if found is None or self._whole is not None:
                return self.with_loops(*loops)
            rows[self.row_slices[constraint.name]] = found
            own[constraint.name] = constraint
        rows.setflags(write=False)
        return self._with_arrays(self.arrays._replace(rows=rows), lambda whole: whole, loops=tuple(own.values()))

    def with_parts(self, **parts: Any) -> Mechanism:
        """Machine with other parts, by the names of the arguments of `Mechanism`.

        The machine is built again, in a few milliseconds; no kernel is compiled again.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> free = plants.five_bar().with_parts(gravity=(0.0, 0.0, 0.0))
        >>> free.terms([2.1, -1.3, 1.0, 1.3], [0.0] * 4).h.round(9) + 0.0
        array([0., 0., 0., 0.])
        """
        for key in parts:
            _check.one_of(key, _PARTS, "part of a mechanism")
        made = Mechanism(**{key: getattr(self, key) for key in _PARTS} | parts)
        names = {body.name for body in made.bodies}
        known = [x for x in self.cylinders if {body.name for body in x.bodies} <= names]
        made._take_cylinders((*known, *made.cylinders))
        return made

    def _take_cylinders(self, cylinders: tuple[Cylinder, ...]) -> None:
        """Set the cylinders whose parts are among those of the machine."""
        object.__setattr__(self, "cylinders", cylinders)

    def without_dry_friction(self) -> Mechanism:
        """Machine without dry friction, of joints and in proportion to loads; viscous friction stays.

        For linear models: dry friction has no slope at rest, and that of its smooth form is as steep as the form.

        Examples
        --------
        >>> from cmbcontrol import JointForce, characteristics, plants
        >>> rubbing = JointForce("rub", "angle", characteristics.Friction(0.3, viscous=0.1))
        >>> plant = plants.pendulum().with_parts(forces=[rubbing])
        >>> plant.without_dry_friction().forces[0].characteristic
        SpringDamper(stiffness=0.0, rest=0.0, damping=0.1)
        """
        plain = [force.without_dry_friction() for force in self.forces]
        return self.with_parts(forces=[force for force in plain if force is not None])

    def smoothed_friction(self, v: ArrayLike) -> tuple[str, ...]:
        """Names of force elements with dry friction near rest at velocities (nv,), where its smooth form is steep.

        Examples
        --------
        >>> from cmbcontrol import JointForce, characteristics, plants
        >>> rubbing = JointForce("rub", "angle", characteristics.Friction(0.3))
        >>> plant = plants.pendulum().with_parts(forces=[rubbing])
        >>> plant.smoothed_friction([0.0, 0.0, 0.0]), plant.smoothed_friction([0.0, 0.0, 1.0])
        (('rub',), ())
        """
        v = _check.vector(v, self.nv, "v", self.velocity_names)
        found = []
        for force in self.forces:
            at = getattr(force, "joint", None)
            # of what turns or slides between points, the rate is not a coordinate's
            rate = abs(v[self.index(at)]) if at in self.velocity_names else float(np.abs(v).max(initial=0.0))
            if rate < _SLIDES * force.dry_rate:
                found.append(force.name)
        return tuple(found)

    def with_configurations(self, values: Mapping[str, ArrayLike | Mapping[str, float]]) -> Mechanism:
        """Machine with more named configurations, or other ones of the same names.

        Parameters
        ----------
        values : mapping of str to array_like or mapping
            Names to configurations (nq,), or to values of coordinates by name, rad or m.

        Raises
        ------
        ValueError
            For unknown coordinates, and values that are no numbers.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.five_bar().with_configurations({"home": {"left": 2.1, "right": 1.0}})
        >>> plant.configuration("home").round(3)
        array([ 2.1 , -1.29, 1. , 1.31])
        """
        named = {name: dict(given) for name, given in self.configurations.items()}
        for name, given in _check.mapping(values, "values", "names to configurations").items():
            if not isinstance(given, Mapping):
                q = self._position(given, f"configuration {name!r}")
                given = dict(zip(self.position_names, q.tolist(), strict=True))
            named[name] = dict(given)
        other = object.__new__(type(self))
        vars(other).update(vars(self), configurations=self._checked_configurations(named))
        if self._whole is not None:
            vars(other)["_whole"] = self._whole[0].with_configurations(values), self._whole[1]
        for known in ("_modes", "_positional", "_placed"):
            vars(other).pop(known, None)
        return other

    def with_loads(self, values: Mapping[str, float | ArrayLike]) -> Mechanism:
        """Machine under other loads; it shares all compiled data.

        Parameters
        ----------
        values : mapping of str to float or array_like
            By the name of a load its force (3,), or its force and moment (6,), N and N m; by that of a component one
            number. Other loads are unchanged.

        Raises
        ------
        ValueError
            For unknown names of loads.

        Examples
        --------
        >>> from cmbcontrol import Body, Load, Mechanism, Revolute
        >>> rod = Body.rod("rod", mass=1.0, length=1.0)
        >>> wind = Load("wind", "rod")
        >>> plant = Mechanism("pendulum", [rod], [Revolute("pivot", "ground", "rod", axis=(0, 1, 0))], loads=[wind])
        >>> plant.with_loads({"wind": (0, 0, 9.81), "wind_my": 0.5}).terms([0.0], [0.0]).h.round(3)
        array([-5.405])
        """
        loads = self.arrays.loads.copy()
        loads["value"] = self.load_values(_check.mapping(values, "loads", "names to forces"))
        loads.setflags(write=False)
        return self.with_records(loads=loads)

    def with_records(self, loads: NDArray[np.void] | None = None, targets: Array | None = None) -> Mechanism:
        """Machine whose kernels read loads and the targets of motions from these arrays; None leaves them as they are.

        Loads are records as those of `layout.LOAD_DTYPE`. Writing into them changes the loads of all machines that
        read them; and so with targets.
        """
        parts, arrays = {}, self.arrays
        if loads is not None:
            pairs = zip(self.loads, loads["value"], strict=True)
            parts["loads"] = tuple(replace(load, force=x[:3].copy(), moment=x[3:].copy()) for load, x in pairs)
            arrays = arrays._replace(loads=loads)
        if targets is not None:
            arrays = arrays._replace(targets=targets)
        return self._with_arrays(arrays, lambda whole: whole.with_records(loads, targets), **parts)

    def with_force_numbers(self, *forces: ForceElement, resting: Collection[str] = ()) -> Mechanism:
        """Machine with other numbers in some force elements, by their names, and with others that do not act.

        It shares all compiled data. Only elements that are `resting` do not act.
        """
        new = {force.name: force for force in forces}
        elements, numbers = self.arrays.elements.copy(), self.arrays.numbers.copy()
        for record, force in zip(elements, self.forces, strict=True):
            if force.name in new:
                values = new[force.name].numbers
                numbers[record["number"] : record["number"] + len(values)] = values
            acts = LOADED if force.loaded_by else PLAIN
            gone = acts == LOADED and record["row"] < 0  # its load
            record["kind"] = RESTING if gone or force.name in resting else acts
        for array in (elements, numbers):
            array.setflags(write=False)
        arrays = self.arrays._replace(elements=elements, numbers=numbers)
        parts = tuple(new.get(force.name, force) for force in self.forces)
        return self._with_arrays(arrays, lambda whole: whole.with_force_numbers(*forces, resting=resting), forces=parts)

    def with_parameters(self, values: Mapping[str, float]) -> Mechanism:
        """Machine with other numbers: masses, places, stiffnesses, by their names.

        It is built again, in a few milliseconds; generated code, whose inputs these numbers are, serves both.
        Shapes that are given to its bodies stay as they are; those drawn by default follow the joints.

        Parameters
        ----------
        values : mapping of str to float
            By the names of `cmbcontrol.dynamics.parameters`; a turn is an angle by which it is turned.

        Raises
        ------
        ValueError
            For unknown names, or numbers that cannot be set by name (those of prescribed motions).

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.five_bar()
        >>> heavy = plant.with_parameters({"left_lower_mass": 3.0, "gravity_y": -1.62})
        >>> heavy.bodies[0].mass, heavy.gravity.tolist()
        (3.0, [0.0, -1.62, 0.0])
        """
        from .renumbered import with_parameters

        return with_parameters(self, values)

    def with_pin_forces(self, *joints: str) -> Mechanism:
        """Machine in which the radial forces of some pins are multipliers, as those of cut joints are.

        A pin of the tree is held by its coordinates, so nothing in the equations of motion is its force. Here two
        coordinates ``<joint>_pin_x`` and ``<joint>_pin_y`` across its axis come last, and two rows
        ``<joint>_pin_x_held`` and ``..._y_held`` hold them at zero, whose multipliers are the force, N. `PinFriction`
        needs them.

        Parameters
        ----------
        *joints : str
            Revolute joints of the tree.

        Raises
        ------
        ModelError
            For joints of other kinds.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.five_bar().with_pin_forces("left")
        >>> plant.position_names[-2:], plant.row_names
        (('left_pin_x', 'left_pin_y'), ('tip_x', 'tip_y', 'left_pin_x_held', 'left_pin_y_held'))
        """
        from .pins import with_pin_forces

        return with_pin_forces(self, *joints)

    def with_friction(self, states: Mapping[str, str | int], q: ArrayLike | None = None) -> Mechanism:
        """Machine with exact dry friction in given states, for linear models about them.

        It replaces the smooth `Friction` of a `JointForce` or `PointForce`, whose linear model at rest is a stiff
        damper.

        Parameters
        ----------
        states : mapping of str to {"sticks", 1, -1}
            By the name of a force element: it sticks at q, where a constraint ``<name>_sticking`` then holds, or it
            slides to the side of positive or negative rates, with the slopes of its Stribeck and viscous parts. Others
            are unchanged.
        q : array_like, shape (nq,), optional
            Configuration at which it sticks.

        Raises
        ------
        ValueError
            For unknown names of friction, and unknown states.

        Examples
        --------
        >>> from cmbcontrol import Body, JointForce, Mechanism, Prismatic
        >>> from cmbcontrol.characteristics import Friction
        >>> rail, grip = Prismatic("x", "ground", "block", axis=(1, 0, 0)), JointForce("grip", "x", Friction(2.0))
        >>> plant = Mechanism("block", [Body("block", 1.0)], [rail], forces=[grip])
        >>> stuck, sliding = plant.with_friction({"grip": "sticks"}, [0.3]), plant.with_friction({"grip": -1})
        >>> stuck.row_names, sliding.terms([0], [0]).h
        (('grip_sticking',), array([-2.]))
        """
        from .dry_friction import with_friction

        return with_friction(self, states, q)

    def _with_arrays(self, arrays: layout.Model, of_whole: Callable[[Mechanism], Mechanism], **parts: Any) -> Mechanism:
        """Machine with other numbers in its arrays."""
        other = object.__new__(type(self))
        vars(other).update(vars(self), arrays=arrays, _compiled=replace(self._compiled, arrays=arrays), **parts)
        if self._whole is not None:
            vars(other)["_whole"] = of_whole(self._whole[0]), self._whole[1]
        for known in (
            "_modes",
            "_generated",
            "_parameters",
            "_regular_terms",
            "_end_stops",
            "_rubbing",
            "_positional",
            "_loaded",
            "_placed",
            "_gears",
        ):
            vars(other).pop(known, None)
        return other

    def load_matrix(self, q: ArrayLike) -> Array:
        """Matrix W (nv, 6 loads): joint forces of a unit of each component of the loads, in the order of `load_names`.

        Examples
        --------
        >>> from cmbcontrol import Body, Frame, Load, Mechanism, Revolute
        >>> rod, pivot = Body.rod("rod", mass=1.0, length=1.0), Revolute("pivot", "ground", "rod", axis=(0, 1, 0))
        >>> plant = Mechanism("pendulum", [rod], [pivot], loads=[Load("tip", "rod", Frame((1, 0, 0)))])
        >>> plant.load_matrix([0.0])
        array([[ 0.,  0., -1.,  0.,  1.,  0.]])
        """
        q, arrays = self._position(q), self.arrays
        R, p = self.link_poses(q)
        S, W = np.zeros((self.nv, 6)), np.zeros((self.nv, 6 * len(self.loads)))
        tree.joint_screws(arrays.links, R, p, S)
        forces.load_matrix(arrays, R, p, S, W, np.zeros(self.nv))
        return W

    def load_values(
        self, values: Mapping[str, float | ArrayLike] | None = None, present: ArrayLike | None = None
    ) -> Array:
        """Forces and moments (loads, 6) of all loads, N and N m, with some of them replaced; see `with_loads`.

        `present` are all of them, in place of those of the machine.
        """
        found = np.array([load.value for load in self.loads] if present is None else present).reshape(-1, 6)
        names = [load.name for load in self.loads]
        for name, value in ({} if values is None else _check.mapping(values, "loads", "names to forces")).items():
            if name in names:
                given = _check.numbers(value, f"load {name!r}", "a force (3,), or force and moment (6,)")
                size = 6 if np.size(given) == 6 else 3
                found[names.index(name), :size] = _check.vector(given, size, f"load {name!r}")
            else:
                _check.one_of(name, [*names, *self.load_names], "load")
                found.flat[self.load_names.index(name)] = _check.number(value, f"load {name!r}")
        return found

    def with_motions(self, values: Mapping[str, Prescribed], t: float = 0.0) -> Mechanism:
        """Machine with other prescribed motions; it shares all compiled data.

        Parameters
        ----------
        values : mapping of str to (number, array_like, callable or (position, velocity, acceleration))
            By the name of a motion, or of a component: a position, at which it stands still; position, velocity and
            acceleration, a tuple of three; or a function of time that returns these, or a position as a formula, of
            which they are derived. Other motions are unchanged.
        t : float
            Time at which functions are taken, s. The motion goes on from there with constant acceleration; in a run,
            ``simulate(motions=...)`` follows functions.

        Raises
        ------
        ValueError
            For unknown names of motions, and values of other kinds.

        Examples
        --------
        >>> from cmbcontrol import Body, JointMotion, Mechanism, Revolute
        >>> rod, pivot = Body.rod("rod", mass=1.0, length=1.0), Revolute("pivot", "ground", "rod", axis=(0, 1, 0))
        >>> plant = Mechanism("pendulum", [rod], [pivot], [JointMotion("drive", "pivot")])
        >>> plant.with_motions({"drive": lambda t: 0.5 * np.sin(2.0 * t)}).motion_values() + 0.0
        array([[0., 1., 0.]])
        """
        values = _check.mapping(values, "motions", "names to numbers or functions of time")
        return self.with_motion_values(self.motion_values(values, t))

    def with_motion_values(self, values: ArrayLike) -> Mechanism:
        """Machine with positions, velocities and accelerations (motions, 3) of all components of its motions."""
        values = _check.matrix(values, (len(self.motion_names), 3), "the values of motions")
        targets = self._motion_targets(values)
        targets.setflags(write=False)
        made = self.with_records(targets=targets)
        at, motions = 0, {}
        for motion in self.motions:
            own = values[at : at + len(motion.component_names)]
            at += len(own)
            x, v, a = (float(column[0]) if motion.suffixes == ("",) else column.copy() for column in own.T)
            motions[motion.name] = replace(motion, position=x, velocity=v, acceleration=a)
        return made._with_motion_parts(motions)

    def _with_motion_parts(self, motions: Mapping[str, Motion]) -> Mechanism:
        vars(self)["loops"] = tuple(motions.get(loop.name, loop) for loop in self.loops)
        vars(self)["motions"] = tuple(motions.get(motion.name, motion) for motion in self.motions)
        if self._whole is not None:
            self._whole[0]._with_motion_parts(motions)
        return self

    def _motion_targets(self, values: Array) -> Array:
        """Targets of the rows of motions, with first and second rates, at values (motions, 3) of the components.

        Raises
        ------
        ModelError
            Where a motion is impossible.
        """
        found, at = [np.zeros((0, 3))], 0
        for motion in self.motions:
            own = values[at : at + len(motion.component_names)]
            motion.require_possible(own)
            found.append(motion.targets(own))
            at += len(own)
        return np.ascontiguousarray(np.vstack(found))

    def motion_values(self, values: Mapping[str, Prescribed] | None = None, t: float = 0.0) -> Array:
        """Positions, velocities and accelerations (motions, 3) of all components; see `with_motions`."""
        found = np.vstack([np.zeros((0, 3)), *(motion.value for motion in self.motions)])
        t = _check.number(t, "t")
        for name, value in _check.mapping({} if values is None else values, "motions", "names to functions").items():
            entries = self.motion_entries(name)
            found[entries] = prescribed.motion_of(name, value, len(entries))(t)
        return found

    def motion_entries(self, name: str) -> NDArray[np.int64]:
        """Indices of the components that the name of a motion, or of a component, stands for."""
        if name in self.motion_names:
            return np.array([self.motion_names.index(name)])
        names = [motion.name for motion in self.motions]
        if not names:
            raise InputError(
                f"mechanism {self.name!r} has no prescribed motion, so nothing is called {name!r}: put a JointMotion, "
                "DistanceMotion, PointMotion or PoseMotion among its loops"
            )
        _check.one_of(name, dict.fromkeys([*names, *self.motion_names]), "motion")
        first = self.motion_names.index(self.motions[names.index(name)].component_names[0])
        return np.arange(first, first + len(self.motions[names.index(name)].component_names))

    def motion_efforts(self, multipliers: ArrayLike, values: ArrayLike | None = None) -> Array:
        """Efforts (motions,) of the prescribed motions, from the multipliers (rows,) that hold them, N or N m.

        Their products with the velocities of the motions are their power. Zero for those that do not hold. `values`
        (motions, 3) are those of the components, in place of the machine's own.
        """
        lam = _check.vector(multipliers, len(self.row_names), "multipliers", self.row_names)
        shape = len(self.motion_names), 3
        values = self.motion_values() if values is None else _check.matrix(values, shape, "the values of motions")
        found, at = np.zeros(len(self.motion_names)), 0
        for motion in self.motions:
            own = slice(at, at + len(motion.component_names))
            at = own.stop
            if motion.name in self.row_slices:
                found[own] = motion.efforts(lam[self.row_slices[motion.name]], values[own])
        return found

    @property
    def row_rates(self) -> Array:
        target = self.arrays.rows["target"]
        rates = np.append(self.arrays.targets[:, 1], 0.0)
        return rates[target]

    def standing(self, q: ArrayLike) -> Mechanism:
        if not self.motions:
            return self
        rows, targets = self.arrays.rows["target"], np.zeros_like(self.arrays.targets)
        held = rows >= 0
        targets[:, 0] = self.arrays.targets[:, 0]
        targets[rows[held], 0] += self.residual(q)[held]
        targets.setflags(write=False)
        return self.with_records(targets=targets)

    @property
    def target_rows(self) -> NDArray[np.bool_]:
        return self.arrays.rows["target"] >= 0

    @property
    def moving(self) -> bool:
        """Whether a prescribed motion has a velocity or an acceleration."""
        return bool(self.arrays.targets[:, 1:].any())

    def _motion_units(self) -> tuple[str, ...]:
        """Units, m or rad, of each component of the motions."""
        units: list[str] = []
        for motion in self.motions:
            own = self.row_units[self.row_slices[motion.name]]
            units += own if len(own) == len(motion.component_names) else own[:6]
        return tuple(units)

    def _require_distinct_motions(self) -> None:
        """Raise an error for two motions of one coordinate: they would share its effort, or contradict."""
        driven: dict[str, str] = {}
        for motion in self.motions:
            joint = getattr(motion, "joint", None)
            if joint is not None and joint in driven:
                raise ModelError(
                    f"mechanism {self.name!r}: motions {driven[joint]!r} and {motion.name!r} both prescribe coordinate "
                    f"{joint!r}; leave one of them out"
                )
            if joint is not None:
                driven[joint] = motion.name
        for name in self.motion_names:
            if self.motion_names.count(name) > 1:
                raise ModelError(f"mechanism {self.name!r}: two components of motions are called {name!r}; rename one")

    def rolling_rows(self, q: ArrayLike) -> tuple[str, ...]:
        """Names of rows that bind velocities and no positions: of wheels, balls and blades."""
        self._position(q)
        return self._rolling

    @cached_property
    def _rolling(self) -> tuple[str, ...]:
        return tuple(n for n, level in zip(self.row_names, self.arrays.rows["level"], strict=True) if level > 0)

    @cached_property
    def _positional(self) -> Mechanism:
        """Machine without the rows that bind velocities only, with which its configurations are found."""
        if not self._rolling:
            return self
        kept = self.arrays.rows["level"] == 0
        rows, before = np.flatnonzero(kept), np.concatenate([[0], np.cumsum(kept)])
        slices = {name: slice(int(before[s.start]), int(before[s.stop])) for name, s in self.row_slices.items()}
        scale = self.row_scale[rows]
        scale.setflags(write=False)
        return self._of_rows(
            list(self.row_slices),
            rows,
            row_names=tuple(self.row_names[i] for i in rows),
            row_units=tuple(self.row_units[i] for i in rows),
            row_slices=slices,
            row_scale=scale,
        )

    def assemble(self, *, guess: ArrayLike | Mapping[str, float] | None = None, **joint_values: float) -> Array:
        if self._rolling:
            return self._positional.assemble(guess=guess, **joint_values)
        return super().assemble(guess=guess, **joint_values)

    def _of_rows(self, kept: Sequence[str], rows: NDArray[np.int64], **changed: Any) -> Mechanism:
        gone = [constraint for constraint in self.loops if constraint.name not in kept]
        for motor in self.actuators:
            if motor.bodies is None and any(constraint.name == motor.joint for constraint in gone):
                raise InputError(
                    f"mechanism {self.name!r}: the motor {motor.name!r} drives the cut joint {motor.joint!r}, which "
                    "can therefore not be taken away; put the motor between two bodies, or cut another joint"
                )
        parts: dict[str, Any] = {
            "rows": self.arrays.rows[rows],
            "scale": self.arrays.scale[rows],
            "spans": self.arrays.spans[rows],
            "elements": _in_rows(self.arrays.elements, rows),
        }
        for array in parts.values():
            array.setflags(write=False)
        mode = object.__new__(type(self))
        vars(mode).update(vars(self), arrays=self.arrays._replace(**parts), **changed)
        vars(mode)["loops"] = tuple(constraint for constraint in self.loops if constraint.name in kept)
        vars(mode)["_whole"] = self, tuple(constraint.name for constraint in gone)
        for known in (
            "_modes",
            "_generated",
            "_parameters",
            "_regular_terms",
            "_moves",
            "_looped",
            "_end_stops",
            "_rubbing",
            "_rolling",
            "_positional",
            "_loaded",
            "_placed",
            "_gears",
        ):
            vars(mode).pop(known, None)
        return mode

    # -- equations of motion --------------------------------------------------------------------

    @cached_property
    def _loaded(self) -> LoadFriction | None:
        """Names and rows of friction in proportion to loads, for all states; None where there is none."""
        elements = self.arrays.elements
        places = np.flatnonzero(elements["kind"] == LOADED)
        if not places.size:
            return None
        names = tuple(self.forces[i].name for i in places)
        rows = (np.ascontiguousarray(elements[key][places]) for key in ("row", "rows", "side"))
        return LoadFriction(names, np.zeros((places.size, self.nv)), *rows)

    def _value(self, key: str, *state: Array) -> Array:
        terms = self.terms(*state, *((np.zeros(self.nv),) if len(state) == 1 else ()))
        return {"Phi": terms.phi, "Adot_v": terms.b}[key] if key in ("Phi", "Adot_v") else getattr(terms, key)

    def _knows(self, key: str) -> bool:
        return True

    def _terms(self, q: Array, v: Array, t: float, project: bool, close: bool, cap: int | None, check: bool) -> Terms:
        if project:
            v = v.copy()
        if close:
            q = q.copy()
        accuracy = 8e-15 * self.size if close else np.inf
        M, h, phi, A, b, B, potential, pivots, D, rank = constrained.state_terms(
            self.arrays, q, v, RANK_TOLERANCE, self.nv if cap is None else cap, project, accuracy
        )
        if check:
            self._require_evaluated(q, A, rank)
        rows = self.row_scale, self.unit_lengths, self.force_scale, None, self.row_names, self.absent
        rates = self.row_rates if self.motions else None
        rubs = self._loaded
        friction = None if rubs is None else rubs._replace(D=D)
        return Terms(t, q.copy(), v.copy(), M, h, phi, A, b, B, potential, pivots, rank, *rows, rates, friction)

    # -- files ------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write the machine into a YAML file, from which `load` makes an equal one, to the last digit.

        The file has every part by its type, its name and its arguments, in SI units; it may be edited by hand.
        Functions in it (profiles of cams, forces) are written as formulas.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        Path

        Raises
        ------
        ModelError
            Where a function cannot be written as a formula, or a part is of a class of the user.
        FileError
            Where the file cannot be written; its former content is kept.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from cmbcontrol import Mechanism, plants
        >>> with TemporaryDirectory() as folder:
        ...     Mechanism.load(plants.five_bar().save(f"{folder}/five-bar.yaml"))
        <Mechanism 'five-bar': 4 bodies, 4 coordinates, 2 rows>
        """
        from .machine_file import write_machine

        return write_machine(self, path)

    @staticmethod
    def load(path: str | Path) -> Mechanism:
        """Machine from a file that `save` or a person has written; `cmbcontrol.formats.read` reads other formats.

        Parameters
        ----------
        path : str or Path

        Raises
        ------
        FileError
            Where it cannot be read, or is no YAML, as URDF, SDF and MJCF are not.
        ModelError, ValueError, TypeError
            Where it is no machine; messages name file and line.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from pathlib import Path
        >>> text = '''format: cmbcontrol machine 1
        ... name: pendulum
        ... bodies: {rod: {mass: 1.0, com: [0.5, 0, 0], inertia: [0, 0.1, 0.1]}}
        ... joints: {pivot: {type: Revolute, parent: ground, child: rod, axis: [0, 1, 0]}}
        ... '''
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "pendulum.yaml")
        ...     _ = file.write_text(text)
        ...     Mechanism.load(file)
        <Mechanism 'pendulum': 1 bodies, 1 coordinates, 0 rows>
        """
        from .machine_file import read_machine

        return read_machine(path)

    def _require_evaluated(self, q: Array, A: Array, rank: int) -> None:
        """Raise an error for configurations at which rows or masses have no value; closing keeps away from these."""
        if rank == FAILED or self.arrays.formulas.size:
            self._require_defined(q, A)
        if rank == FAILED:
            raise self._bad_mass(q)

    def __reduce__(self) -> tuple:
        """Pickle the machine as its parts, to be built again: unpickled arrays would not be read-only.

        Kernels are compiled for read-only arrays.
        """
        if self._whole is not None:
            whole, gone = self._whole
            return Mechanism.without, (whole, *gone)
        parts = {key: getattr(self, key) for key in _PARTS}
        parts["configurations"] = {name: dict(values) for name, values in self.configurations.items()}
        return _built, (parts, self.cylinders)

    def __repr__(self) -> str:
        return (
            f"<Mechanism {self.name!r}: {len(self.bodies)} bodies, {self.nv} coordinates, {len(self.row_names)} rows>"
        )

    def part_lines(self, result: diagnosis.Diagnosis | None) -> list[str]:
        return diagnosis.mechanism_lines(self, result)


def _in_rows(elements: NDArray[np.void], rows: NDArray[np.int64]) -> NDArray[np.void]:
    """Records of force elements where only some rows are left; friction whose load is gone rests."""
    found = elements.copy()
    for element in found:
        if element["kind"] == LOADED:
            kept = np.flatnonzero(rows == element["row"])
            element["kind"], element["row"] = (LOADED, kept[0]) if kept.size else (RESTING, -1)
    return found


def _built(parts: dict[str, Any], cylinders: tuple[Cylinder, ...]) -> Mechanism:
    made = Mechanism(**parts)
    made._take_cylinders(cylinders)
    return made


def _levers(constraint: Any) -> dict[str, float] | None:
    """Coefficient of each coordinate in a coupling; None for other constraints."""
    coefficients = getattr(constraint, "coefficients", None)
    return None if coefficients is None else dict(coefficients)
